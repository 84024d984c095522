//! Small random programs from a seed: those that our tests compare engines on.
//!
//! A third of the programs are arbitrary; the others start from a [`ProgramShape`] that one recurring
//! bug of this field would get wrong, with random details and some noise. Data stay finite
//! (sums are taken modulo 3, and every other operation maps small values to small values),
//! buffers need not: stores stand in loops too, so explorations must notice their caps.
//!
//! `generate(seed)` always gives the same program. After a failure, `minimise(sketch(seed), …)`
//! makes it small and `program::print` shows it.

mod chains;
mod overtaking;
mod replicas;
mod shapes;
mod sketch;

pub use chains::chain_sketch;
pub use overtaking::overtaking_sketch;
pub use replicas::replicas;
pub use shapes::ProgramShape;
pub use sketch::{ClaimAtom, RandomClaim, Sketch, SketchStmt, ThreadDraft, minimise};

use fastrand::Rng;
use program::{
    Arith, Cond, Domain, Expr, Fence, Int, Op, Place, Program, PropertyKind, RegId, Relation, Span, ThreadId,
    VarId, Variable,
};

/// The random program of a seed.
pub fn generate(seed: u64) -> Program {
    sketch(seed).build()
}

/// The program of a seed before it is lowered.
pub fn sketch(seed: u64) -> Sketch {
    let mut random = Random::new(seed);
    let shape = if random.chance(35) { ProgramShape::Mixed } else { random.pick(&ProgramShape::ALL) };
    random.sketch(shape, seed)
}

/// A random program of one shape, before it is lowered.
pub fn sketch_shape(shape: ProgramShape, seed: u64) -> Sketch {
    Random::new(seed).sketch(shape, seed)
}

/// The source of chance, and what the thread in work may use.
pub struct Random {
    rng: Rng,
    /// How many shared variables there are.
    variables: usize,
    /// How many registers the thread in work has.
    registers: usize,
    /// The first label not used yet.
    next_label: usize,
    /// Labels of the thread in work that may still be placed or jumped to.
    labels: Vec<usize>,
}

impl Random {
    fn new(seed: u64) -> Random {
        Random { rng: Rng::with_seed(seed), variables: 0, registers: 0, next_label: 0, labels: Vec::new() }
    }

    fn sketch(&mut self, shape: ProgramShape, seed: u64) -> Sketch {
        self.variables = shape.variables(self);
        let arrays = shape == ProgramShape::ArrayCells || self.chance(20);
        let mut variables: Vec<Variable> = (0..self.variables).map(|at| self.variable(at, arrays)).collect();
        let mut threads = shape.threads(self);
        if shape != ProgramShape::Mixed && self.chance(40) {
            self.add_noise(&mut threads);
        }
        let ends: Vec<usize> = threads.iter().map(|_| self.fresh_label()).collect();
        for (draft, &end) in threads.iter_mut().zip(&ends) {
            draft.body.push(SketchStmt::Label(end));
        }
        let mut claims: Vec<RandomClaim> = (0..self.below(4)).map(|_| self.claim(&threads)).collect();
        for _ in 0..self.pick(&[0, 1, 1, 2]) {
            claims.push(self.outcome(&threads, &ends));
        }
        let starts = self.assumed(&mut variables);
        Sketch { name: format!("{shape:?}, seed {seed}"), variables, starts, threads, claims }
    }

    /// What is assumed of initial values, if something is; the variables that it is about are opened. One of the
    /// conditions cannot hold.
    fn assumed(&mut self, variables: &mut [Variable]) -> Vec<Cond<Place>> {
        if variables.len() < 2 || !self.chance(12) {
            return Vec::new();
        }
        let low = self.pick(&[-1, 0]);
        variables[..2].iter_mut().for_each(|variable| variable.initial = Domain::Range(low.into(), 1.into()));
        let [a, b] = [0, 1].map(|at| Expr::Leaf(Place::Memory(VarId::new(at))));
        let sum = Expr::binary(Arith::Add, a.clone(), b.clone());
        let any = [
            Cond::compare(Relation::Le, a.clone(), b.clone()),
            Cond::compare(Relation::Ne, a.clone(), b),
            Cond::compare(Relation::Eq, sum.clone(), 1),
            Cond::compare(Relation::Gt, sum, 2),
            Cond::compare(Relation::Gt, a, 0),
        ];
        (0..self.pick(&[1, 1, 2])).map(|_| self.pick(&any)).collect()
    }

    /// Whether something of so many per cent happens.
    fn chance(&mut self, percent: usize) -> bool {
        self.rng.usize(..100) < percent
    }

    /// A number below the bound.
    fn below(&mut self, bound: usize) -> usize {
        self.rng.usize(..bound)
    }

    fn between(&mut self, low: usize, high: usize) -> usize {
        self.rng.usize(low..=high)
    }

    fn pick<T: Clone>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())].clone()
    }

    fn variable(&mut self, at: usize, arrays: bool) -> Variable {
        let name = if arrays { ["a[0]", "a[1]", "x"][at] } else { ["x", "y", "z"][at] };
        let mut variable = Variable::new(name, Span::NONE);
        if self.chance(25) {
            variable.initial = Domain::only(self.pick(&[-1, 1, 1, 2]));
        } else if self.chance(10) {
            variable.initial = Domain::Range(0.into(), 1.into());
        }
        variable
    }

    fn any_variable(&mut self) -> VarId {
        VarId::new(self.below(self.variables))
    }

    fn any_register(&mut self) -> RegId {
        RegId::new(self.below(self.registers))
    }

    fn fresh_label(&mut self) -> usize {
        self.next_label += 1;
        self.next_label - 1
    }

    fn constant(&mut self) -> i64 {
        self.pick(&[0, 1, 1, 1, 2, 2, -1])
    }

    /// A value out of few, whatever the registers hold.
    fn value(&mut self) -> Expr<RegId> {
        if self.registers == 0 || self.chance(55) {
            return Expr::from(self.constant());
        }
        let register = self.any_register();
        match self.below(8) {
            0..=2 => register.into(),
            3 => self.modulo_3(Arith::Add, register, 1),
            4 => {
                let other = self.any_register();
                let op = self.pick(&[Arith::Add, Arith::Sub, Arith::Mul]);
                self.modulo_3(op, register, other)
            }
            5 => Expr::binary(Arith::Sub, 1, register),
            6 => Expr::binary(Arith::Div, register, 2),
            _ => Expr::binary(self.pick(&[Arith::Xor, Arith::And]), register, 1),
        }
    }

    fn modulo_3(&mut self, op: Arith, a: impl Into<Expr<RegId>>, b: impl Into<Expr<RegId>>) -> Expr<RegId> {
        Expr::binary(Arith::Rem, Expr::binary(op, a, b), 3)
    }

    fn relation(&mut self) -> Relation {
        use Relation::{Eq, Ge, Gt, Le, Lt, Ne};
        self.pick(&[Eq, Eq, Eq, Ne, Ne, Lt, Le, Gt, Ge])
    }

    /// A condition over the registers; trivial if there are none.
    fn cond(&mut self) -> Cond<RegId> {
        if self.registers == 0 {
            return Cond::TRUE;
        }
        let simple = |random: &mut Random| {
            let register = random.any_register();
            let bound = if random.chance(80) { random.constant().into() } else { random.value() };
            Cond::compare(random.relation(), register, bound)
        };
        match self.below(10) {
            0 => Cond::and([simple(self), simple(self)]),
            1 => Cond::or([simple(self), simple(self)]),
            _ => simple(self),
        }
    }

    fn load(&mut self) -> Op {
        Op::Load(self.any_register(), self.any_variable())
    }

    fn store(&mut self) -> Op {
        Op::Store(self.any_variable(), self.value())
    }

    /// A body of so many statements, nested at most twice.
    fn body(&mut self, length: usize, depth: usize, atomic: bool) -> Vec<SketchStmt> {
        (0..length).map(|_| self.stmt(depth, atomic)).collect()
    }

    fn stmt(&mut self, depth: usize, atomic: bool) -> SketchStmt {
        let kind = self.below(100);
        match kind {
            60..78 => self.plain_or(depth > 0, |random| random.compound(depth - 1, atomic)),
            78..86 => self.plain_or(!atomic, Random::jump_or_label),
            _ => self.plain(),
        }
    }

    fn plain_or(&mut self, possible: bool, other: impl FnOnce(&mut Random) -> SketchStmt) -> SketchStmt {
        if possible { other(self) } else { self.plain() }
    }

    /// A statement without others in it.
    fn plain(&mut self) -> SketchStmt {
        let with_register = self.registers > 0;
        match self.below(40) {
            0..10 => SketchStmt::Do(self.store()),
            10..20 if with_register => SketchStmt::Do(self.load()),
            20 if with_register => SketchStmt::Do(Op::Assign(self.any_register(), self.value())),
            21 if with_register => SketchStmt::Do(self.havoc()),
            22..24 if with_register => SketchStmt::Assert(self.cond()),
            24 if with_register => SketchStmt::Do(Op::Assume(self.cond())),
            25 if with_register => SketchStmt::Do(self.snapshot()),
            26..30 => self.locked_operation(),
            30..32 => SketchStmt::Do(Op::Fence(Fence::Full)),
            32..34 => SketchStmt::Do(Op::Fence(Fence::Store)),
            34 => SketchStmt::Do(Op::Skip),
            _ => SketchStmt::Do(self.store()),
        }
    }

    fn havoc(&mut self) -> Op {
        let low = self.pick(&[-1, 0, 0, 1]);
        let high = low + self.pick(&[0, 1, 1, 2]);
        Op::Havoc(self.any_register(), Domain::Range(low.into(), high.into()))
    }

    /// Several loads at once, and sometimes what is made of them.
    fn snapshot(&mut self) -> Op {
        let mut parts = vec![self.load()];
        for _ in 0..self.between(1, 2) {
            parts.push(match self.below(4) {
                0 => Op::Assign(self.any_register(), self.value()),
                1 => Op::Assume(self.cond()),
                _ => self.load(),
            });
        }
        Op::Block { locked: false, parts }
    }

    /// `cas`, `swap`, `fetch_add`, `arw` or several locked accesses, as one step.
    fn locked_operation(&mut self) -> SketchStmt {
        if self.registers == 0 {
            let parts = (0..self.between(1, 2)).map(|_| self.store()).collect();
            return SketchStmt::Do(Op::locked(parts));
        }
        let (register, variable) = (self.any_register(), self.any_variable());
        match self.below(6) {
            0 | 1 => {
                let (old, new) = (self.constant(), self.constant());
                self.cas(register, variable, old, new)
            }
            2 => {
                let new = self.constant();
                SketchStmt::Do(Op::locked(vec![
                    Op::Load(register, variable),
                    Op::Store(variable, new.into()),
                ]))
            }
            3 => {
                let sum = self.modulo_3(Arith::Add, register, 1);
                SketchStmt::Do(Op::locked(vec![Op::Load(register, variable), Op::Store(variable, sum)]))
            }
            4 => chains::arw(register.index(), variable.index(), self.constant(), self.constant()),
            _ => SketchStmt::Do(Op::locked(vec![self.load(), self.store(), self.load()])),
        }
    }

    /// Both ways of a compare-and-swap; the register says which it was.
    fn cas(&mut self, register: RegId, variable: VarId, old: i64, new: i64) -> SketchStmt {
        let load = || Op::Load(register, variable);
        let is_old = Cond::compare(Relation::Eq, register, old);
        let answer = |value: i64| Op::Assign(register, value.into());
        let success = vec![load(), Op::Assume(is_old.clone()), Op::Store(variable, new.into()), answer(1)];
        let failure = vec![load(), Op::Assume(is_old.negate()), answer(0)];
        let way = |parts| vec![SketchStmt::Do(Op::locked(parts))];
        SketchStmt::Choose(vec![way(success), way(failure)])
    }

    /// A statement with others in it.
    fn compound(&mut self, depth: usize, atomic: bool) -> SketchStmt {
        let length = self.between(1, 2);
        match self.below(if atomic { 5 } else { 10 }) {
            0..3 => {
                let otherwise = self.below(2);
                SketchStmt::If(
                    self.cond(),
                    self.body(length, depth, atomic),
                    self.body(otherwise, depth, atomic),
                )
            }
            3 | 4 => {
                let other = self.below(3);
                SketchStmt::Choose(vec![self.body(length, depth, atomic), self.body(other, depth, atomic)])
            }
            5 if self.registers > 0 => {
                let inside = self.body(length, depth, atomic);
                let (counter, rounds) = (self.any_register(), self.between(1, 2));
                self.counted(counter, rounds, inside)
            }
            6 if self.registers > 0 => SketchStmt::While(self.cond(), self.body(length, depth, atomic)),
            7 => SketchStmt::Forever(self.body(length, depth, atomic)),
            _ => {
                let steps = self.between(0, 3);
                SketchStmt::Atomic(self.body(steps, depth, true))
            }
        }
    }

    /// A loop that counts in a register, unless its body interferes.
    fn counted(&mut self, counter: RegId, rounds: usize, mut body: Vec<SketchStmt>) -> SketchStmt {
        let rounds = rounds as i64;
        let next = Expr::binary(Arith::Rem, Expr::binary(Arith::Add, counter, 1), rounds + 1);
        body.push(SketchStmt::Do(Op::Assign(counter, next)));
        SketchStmt::While(Cond::compare(Relation::Lt, counter, rounds), body)
    }

    /// Places a label that is waiting for it, or goes to one, placed already or still to come.
    fn jump_or_label(&mut self) -> SketchStmt {
        if !self.labels.is_empty() && self.chance(50) {
            let at = self.below(self.labels.len());
            return SketchStmt::Label(self.labels.swap_remove(at));
        }
        let label = self.fresh_label();
        self.labels.push(label);
        let cond = if self.chance(30) { Cond::TRUE } else { self.cond() };
        SketchStmt::Goto(label, cond)
    }

    /// A thread of arbitrary statements.
    fn draft(&mut self, length: usize) -> ThreadDraft {
        self.registers = self.pick(&[0, 1, 1, 2, 2, 2, 2, 3, 3]);
        self.labels.clear();
        let mut body = self.body(length, 2, false);
        if self.registers > 0 && self.chance(60) {
            // What tells the models apart: a store, and a load of something else behind it.
            let stored = self.below(self.variables);
            let loaded = VarId::new((stored + 1) % self.variables);
            let store = Op::Store(VarId::new(stored), self.value());
            let load = Op::Load(self.any_register(), loaded);
            body.splice(0..1, [SketchStmt::Do(store), SketchStmt::Do(load)]);
        }
        self.place_labels(&mut body);
        ThreadDraft { registers: self.registers, body }
    }

    /// Puts a statement somewhere into a body.
    fn insert(&mut self, body: &mut Vec<SketchStmt>, stmt: impl FnOnce(&mut Random) -> SketchStmt) {
        let at = self.between(0, body.len());
        body.insert(at, stmt(self));
    }

    /// What was jumped to but not placed goes somewhere, often before the jump: a back edge.
    fn place_labels(&mut self, body: &mut Vec<SketchStmt>) {
        for label in std::mem::take(&mut self.labels) {
            let inner = body.iter().position(|s| {
                matches!(s, SketchStmt::If(..) | SketchStmt::While(..) | SketchStmt::Forever(_))
            });
            match inner.map(|at| &mut body[at]) {
                Some(
                    SketchStmt::If(_, inside, _) | SketchStmt::While(_, inside) | SketchStmt::Forever(inside),
                ) if self.chance(50) => self.insert(inside, |_| SketchStmt::Label(label)),
                _ => self.insert(body, |_| SketchStmt::Label(label)),
            }
        }
    }

    /// Puts one or two arbitrary statements somewhere.
    fn add_noise(&mut self, threads: &mut [ThreadDraft]) {
        for _ in 0..self.between(1, 2) {
            let draft = {
                let at = self.below(threads.len());
                &mut threads[at]
            };
            self.registers = draft.registers;
            self.insert(&mut draft.body, Random::plain);
        }
    }

    /// A property out of one to three comparisons of memory, registers and labels.
    fn claim(&mut self, threads: &[ThreadDraft]) -> RandomClaim {
        let kind = if self.chance(65) { PropertyKind::Never } else { PropertyKind::Finally };
        let atoms = (0..self.between(1, 3)).map(|_| self.atom(threads)).collect();
        RandomClaim { kind, any: self.chance(25), atoms }
    }

    /// A property as litmus tests have it: all threads are at their ends with these values.
    fn outcome(&mut self, threads: &[ThreadDraft], ends: &[usize]) -> RandomClaim {
        let mut atoms = Vec::new();
        for (at, draft) in threads.iter().enumerate() {
            atoms.push(ClaimAtom::At(at, ends[at], true));
            if draft.registers > 0 {
                let register = RegId::new(self.pick(&[0, 0, 0, 1, 2]) % draft.registers);
                let place = Place::Register(ThreadId::new(at), register);
                let value = Int::from(self.pick(&[0, 0, 1]));
                atoms.push(ClaimAtom::Holds(Cond::compare(Relation::Eq, place, value)));
            }
        }
        RandomClaim { kind: PropertyKind::Never, any: false, atoms }
    }

    fn atom(&mut self, threads: &[ThreadDraft]) -> ClaimAtom {
        let thread = self.below(threads.len());
        let registers = threads[thread].registers;
        let mut labels = Vec::new();
        collect_labels(&threads[thread].body, &mut labels);
        let place = match self.below(3) {
            0 if !labels.is_empty() => {
                return ClaimAtom::At(thread, self.pick(&labels), self.chance(85));
            }
            1 if registers > 0 => Place::Register(ThreadId::new(thread), RegId::new(self.below(registers))),
            _ => Place::Memory(self.any_variable()),
        };
        let bound = match self.chance(80) {
            true => Expr::Const(Int::from(self.constant())),
            false => Expr::Leaf(Place::Memory(self.any_variable())),
        };
        ClaimAtom::Holds(Cond::compare(self.relation(), place, bound))
    }
}

fn collect_labels(body: &[SketchStmt], found: &mut Vec<usize>) {
    for stmt in body {
        if let SketchStmt::Label(label) = stmt {
            found.push(*label);
        }
        stmt.bodies().into_iter().for_each(|inner| collect_labels(inner, found));
    }
}
