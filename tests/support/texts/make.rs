//! Random statements and expressions.

use super::tree::{CELLS, Case, E, REGISTERS, Root, S, SMALL, Step, Target, Updating, VARIABLES};
use fastrand::Rng;
use program::{Arith, Relation};

/// All that two numbers can be combined by; the first two count.
const OPERATIONS: [Arith; 8] =
    [Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem, Arith::And, Arith::Or, Arith::Xor];

/// Where chance comes from, and what may be used.
pub struct Maker {
    pub random: Rng,
    /// How deep the expressions of a statement are.
    pub depth: usize,
    /// Whether there is the array.
    pub cells: bool,
    /// How many functions there are.
    pub functions: usize,
    /// Arrays and structs beside the array, and those of registers.
    pub shared_roots: Vec<Root>,
    pub own_roots: Vec<Root>,
    /// How many functions there are that places are lent to.
    pub borrowers: usize,
    /// The one being made; they call only later ones.
    pub borrower: Option<usize>,
    /// The function being made; functions call only later ones.
    pub function: Option<usize>,
    /// Registers that may be used.
    registers: usize,
    /// Loops around what is being made.
    loops: usize,
    /// Names of counters and labels given so far.
    names: usize,
}

impl Maker {
    pub fn new(seed: u64, depth: usize) -> Maker {
        let random = Rng::with_seed(seed);
        Maker {
            random,
            depth,
            cells: false,
            functions: 0,
            shared_roots: Vec::new(),
            own_roots: Vec::new(),
            borrowers: 0,
            borrower: None,
            function: None,
            registers: REGISTERS,
            loops: 0,
            names: 0,
        }
    }

    /// Whether something of so many per cent happens.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.random.usize(..100) < percent
    }

    pub fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.random.usize(..from.len())].clone()
    }

    fn small(&mut self) -> usize {
        self.random.usize(..3)
    }

    /// A number that names a counter or a label, and nothing else yet.
    pub fn name(&mut self) -> usize {
        self.names += 1;
        self.names
    }

    pub fn register(&mut self) -> usize {
        self.random.usize(..self.registers)
    }

    pub fn variable(&mut self) -> usize {
        self.random.usize(..VARIABLES)
    }

    /// What an atomic operation works on.
    pub fn target(&mut self, depth: usize) -> Target {
        if !self.shared_roots.is_empty() && self.chance(30) {
            let root = self.pick(&self.shared_roots.clone());
            return Target::Part(root, self.path(root, depth));
        }
        if self.cells && self.random.bool() {
            return Target::Cell(Box::new(self.index(depth)));
        }
        Target::Variable(self.variable())
    }

    /// What an assignment may store to, other than a plain register.
    pub fn place(&mut self, depth: usize) -> Target {
        let roots = self.local_roots();
        if !roots.is_empty() && self.chance(50) {
            let root = self.pick(&roots);
            return Target::Part(root, self.path(root, depth));
        }
        self.target(depth)
    }

    /// Arrays, structs and parameters that only this body sees.
    fn local_roots(&self) -> Vec<Root> {
        match (self.borrower, self.function) {
            (Some(_), _) => vec![Root::Lent(0), Root::Lent(1)],
            (None, Some(_)) => Vec::new(),
            (None, None) => self.own_roots.clone(),
        }
    }

    /// A way to a number.
    pub fn path(&mut self, root: Root, depth: usize) -> Vec<Step> {
        match root {
            Root::Grid => vec![self.step(depth), self.step(depth)],
            Root::OwnCells => vec![self.step(depth)],
            Root::Records => [vec![self.step(depth)], self.field(depth)].concat(),
            Root::Record | Root::OwnRecord => self.field(depth),
            Root::Lent(_) => Vec::new(),
        }
    }

    fn field(&mut self, depth: usize) -> Vec<Step> {
        if self.random.bool() { vec![Step::One] } else { vec![Step::Two, self.step(depth)] }
    }

    /// Mostly inside an array of two.
    fn step(&mut self, depth: usize) -> Step {
        Step::Index(match self.random.usize(..5) {
            0 => self.expr(depth),
            1 | 2 => E::Register(self.register()),
            _ => E::Const(self.random.i64(0..SMALL as i64)),
        })
    }

    /// What a call may lend.
    pub fn lent(&mut self) -> Target {
        if self.random.bool() { Target::Register(self.register()) } else { self.place(1) }
    }

    /// A call that lends, where there is something to call.
    pub fn lend(&mut self) -> Option<S> {
        let first = self.borrower.map_or(0, |borrower| borrower + 1);
        let called = (first < self.borrowers).then(|| self.random.usize(first..self.borrowers))?;
        Some(S::Lend(called, self.lent(), self.lent(), self.expr(1)))
    }

    pub fn update(&mut self) -> S {
        let target = if self.random.bool() { Target::Register(self.register()) } else { self.place(1) };
        match self.random.usize(..5) {
            0 => S::Update(target, Updating::Arith(self.pick(&OPERATIONS[..2])), None),
            1 => S::Update(target, Updating::Shift(self.random.bool()), Some(self.places())),
            _ => {
                let op = self.pick(&OPERATIONS);
                let divides = matches!(op, Arith::Div | Arith::Rem);
                let value = if divides { self.divisor() } else { self.expr(1) };
                S::Update(target, Updating::Arith(op), Some(value))
            }
        }
    }

    /// By how much something is shifted.
    pub fn places(&mut self) -> E {
        match self.random.usize(..4) {
            0 => E::Register(self.register()),
            1 => E::Variable(self.variable()),
            _ => E::Const(self.random.i64(0..3)),
        }
    }

    pub fn switch(&mut self, depth: usize) -> S {
        let value = self.expr(self.depth.saturating_sub(1));
        let mut numbers: Vec<i64> = (-1..4).collect();
        self.random.shuffle(&mut numbers);
        let mut cases: Vec<Case> = Vec::new();
        for _ in 0..1 + self.small() {
            let count = self.pick(&[1, 1, 2]).min(numbers.len());
            let values = numbers.split_off(numbers.len() - count);
            if values.is_empty() {
                break;
            }
            cases.push(Case { values, body: self.case_body(depth) });
        }
        if self.random.bool() {
            let at = self.random.usize(..=cases.len());
            cases.insert(at, Case { values: Vec::new(), body: self.case_body(depth) });
        }
        S::Switch(value, cases)
    }

    fn case_body(&mut self, depth: usize) -> Vec<S> {
        let mut body = if self.small() == 0 { Vec::new() } else { self.block(depth) };
        if self.random.bool() {
            body.push(S::Break);
        }
        body
    }

    /// Mostly inside the array.
    pub fn index(&mut self, depth: usize) -> E {
        match self.random.usize(..4) {
            0 => self.expr(depth),
            1 => E::Register(self.register()),
            _ => E::Const(self.random.i64(0..CELLS as i64)),
        }
    }

    fn boxed(&mut self, depth: usize) -> Box<E> {
        Box::new(self.expr(depth.saturating_sub(1)))
    }

    pub fn relation(&mut self) -> Relation {
        self.pick(&[Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge])
    }

    pub fn expr(&mut self, depth: usize) -> E {
        let d = depth;
        match if depth == 0 { self.random.usize(..3) } else { self.random.usize(..21) } {
            0 => E::Const(self.random.i64(-2..4)),
            1 => E::Register(self.register()),
            2 => E::Variable(self.variable()),
            3 if self.cells => E::Cell(Box::new(self.index(d - 1))),
            4 => E::Negative(self.boxed(d)),
            3 | 5..=7 => {
                let op = self.pick(&OPERATIONS);
                let divisor_zero = matches!(op, Arith::Div | Arith::Rem);
                let b = if divisor_zero { Box::new(self.divisor()) } else { self.boxed(d) };
                E::Binary(op, self.boxed(d), b)
            }
            8 | 9 => E::Compare(self.relation(), self.boxed(d), self.boxed(d)),
            10 => E::Not(self.boxed(d)),
            11 => E::And(self.boxed(d), self.boxed(d)),
            12 => E::Or(self.boxed(d), self.boxed(d)),
            13 => E::Cas(self.target(d - 1), self.boxed(d), self.boxed(d)),
            14 if self.random.bool() => E::Swap(self.target(d - 1), self.boxed(d)),
            14 => E::Fetch(self.fetched(), self.target(d - 1), self.boxed(d)),
            16 => E::Cmpxchg(self.target(d - 1), self.boxed(d), self.boxed(d)),
            17 => E::Shift(self.random.bool(), self.boxed(d), Box::new(self.places())),
            18 => E::Conditional(Box::new([self.expr(d - 1), self.expr(d - 1), self.expr(d - 1)])),
            19 | 20 => match self.place(d - 1) {
                Target::Part(root, path) => E::Part(root, path),
                _ => E::Variable(self.variable()),
            },
            _ => {
                let first = self.function.map_or(0, |function| function + 1);
                if first < self.functions {
                    return E::Call(self.random.usize(first..self.functions), self.boxed(d), self.boxed(d));
                }
                E::Const(7)
            }
        }
    }

    /// What a `fetch_…` does.
    pub fn fetched(&mut self) -> Arith {
        self.pick(&[Arith::Add, Arith::Add, Arith::Sub, Arith::And, Arith::Or, Arith::Xor])
    }

    /// Never the constant 0, which is refused while reading.
    pub fn divisor(&mut self) -> E {
        match self.random.usize(..3) {
            0 => E::Const(2),
            1 => E::Register(self.register()),
            _ => E::Variable(self.variable()),
        }
    }

    pub fn block(&mut self, depth: usize) -> Vec<S> {
        (0..1 + self.small()).map(|_| self.statement(depth)).collect()
    }

    fn looped(&mut self, depth: usize) -> Vec<S> {
        self.loops += 1;
        let body = self.block(depth);
        self.loops -= 1;
        body
    }

    /// A statement; with depth 0, one without others in it.
    pub fn statement(&mut self, depth: usize) -> S {
        let d = depth.saturating_sub(1);
        let (shallow, deep) = (self.depth.saturating_sub(1), self.depth);
        match self.random.usize(if depth == 0 { 7 } else { 0 }..27) {
            0 | 1 => {
                let (cond, yes) = (self.expr(shallow), self.block(d));
                S::If(cond, yes, if self.random.bool() { self.block(d) } else { vec![] })
            }
            2 | 3 => S::While(self.expr(shallow), self.looped(d)),
            4 => S::For(self.name(), self.small(), self.looped(d)),
            5 | 6 => S::Atomic(self.block(d)),
            7..=10 => S::Register(self.register(), self.expr(deep)),
            11..=13 => S::Store(self.place(1), self.expr(shallow)),
            14 => S::Await(self.expr(shallow)),
            15 => S::Assume(self.expr(shallow)),
            16 => S::Assert(self.expr(shallow)),
            17 => S::Arw(self.target(1), self.expr(1), self.expr(1)),
            18 => S::Evaluate(E::Cas(self.target(1), self.boxed(1), self.boxed(1))),
            19 if self.loops > 0 && self.random.bool() => S::Break,
            19 if self.loops > 0 => S::Continue,
            20 if self.function.is_some() => S::Return(self.expr(shallow)),
            20 if self.small() == 0 => S::Stop,
            22 | 23 => self.update(),
            24 => self.lend().unwrap_or(S::Skip),
            25 if depth > 0 => self.switch(d),
            26 if depth > 0 => S::DoWhile(self.looped(d), self.expr(shallow)),
            _ => S::Skip,
        }
    }

    /// The bodies of `self.functions` functions; half of them are just an expression.
    pub fn functions(&mut self) -> Vec<Vec<S>> {
        let depth = self.depth.saturating_sub(1);
        let mut bodies = Vec::new();
        for f in 0..self.functions {
            self.function = Some(f);
            bodies.push(if self.random.bool() {
                // Such a function has its parameters only.
                self.registers = 2;
                let value = self.expr(depth);
                self.registers = REGISTERS;
                vec![S::Return(value)]
            } else {
                self.block(1).into_iter().chain([S::Return(self.expr(depth))]).collect()
            });
        }
        self.function = None;
        bodies
    }

    /// The bodies of `self.borrowers` functions, which call no others.
    pub fn borrowers(&mut self) -> Vec<Vec<S>> {
        let functions = std::mem::take(&mut self.functions);
        let mut bodies = Vec::new();
        for h in 0..self.borrowers {
            self.borrower = Some(h);
            bodies.push(self.block(1));
        }
        self.borrower = None;
        self.functions = functions;
        bodies
    }
}
