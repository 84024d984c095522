//! Random statements and expressions.

use super::tree::{CELLS, E, REGISTERS, S, Target, VARIABLES};
use fastrand::Rng;
use program::{Arith, Relation};

/// Where chance comes from, and what may be used.
pub struct Maker {
    pub random: Rng,
    /// How deep the expressions of a statement are.
    pub depth: usize,
    /// Whether there is the array.
    pub cells: bool,
    /// How many functions there are.
    pub functions: usize,
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

    pub fn target(&mut self, depth: usize) -> Target {
        if self.cells && self.random.bool() {
            return Target::Cell(Box::new(self.index(depth)));
        }
        Target::Variable(self.variable())
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
        match if depth == 0 { self.random.usize(..3) } else { self.random.usize(..16) } {
            0 => E::Const(self.random.i64(-2..4)),
            1 => E::Register(self.register()),
            2 => E::Variable(self.variable()),
            3 if self.cells => E::Cell(Box::new(self.index(d - 1))),
            4 => E::Negative(self.boxed(d)),
            3 | 5..=7 => {
                let all = [Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem, Arith::And, Arith::Or];
                let op = self.pick(&all);
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
            14 => E::FetchAdd(self.target(d - 1), self.boxed(d)),
            _ => {
                let first = self.function.map_or(0, |function| function + 1);
                if first < self.functions {
                    return E::Call(self.random.usize(first..self.functions), self.boxed(d), self.boxed(d));
                }
                E::Const(7)
            }
        }
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
        match self.random.usize(if depth == 0 { 7 } else { 0 }..22) {
            0 | 1 => {
                let (cond, yes) = (self.expr(shallow), self.block(d));
                S::If(cond, yes, if self.random.bool() { self.block(d) } else { vec![] })
            }
            2 | 3 => S::While(self.expr(shallow), self.looped(d)),
            4 => S::For(self.name(), self.small(), self.looped(d)),
            5 | 6 => S::Atomic(self.block(d)),
            7..=10 => S::Register(self.register(), self.expr(deep)),
            11..=13 => S::Store(self.target(1), self.expr(shallow)),
            14 => S::Await(self.expr(shallow)),
            15 => S::Assume(self.expr(shallow)),
            16 => S::Assert(self.expr(shallow)),
            17 => S::Arw(self.target(1), self.expr(1), self.expr(1)),
            18 => S::Evaluate(E::Cas(self.target(1), self.boxed(1), self.boxed(1))),
            19 if self.loops > 0 && self.random.bool() => S::Break,
            19 if self.loops > 0 => S::Continue,
            20 if self.function.is_some() => S::Return(self.expr(shallow)),
            20 if self.small() == 0 => S::Stop,
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
}
