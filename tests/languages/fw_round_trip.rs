//! Printing and reading back gives the same automata.

use crate::common::{check_round_trip, corpus, effort, read, rendered};
use program::{
    Arith, Cond, Domain, Expr, Failure, FailureKind, Fence, FenceSet, Int, Loc, Op, Place, Placement, Point,
    Program, Property, PropertyKind, RegId, Relation, Source, Span, Strength, ThreadBuilder, ThreadId, VarId,
    Variable,
};

#[test]
fn the_corpus_reads_without_a_word_and_reads_back() {
    for (name, text) in corpus() {
        match read(&text) {
            Ok(parsed) => {
                assert_eq!(rendered(&text, &parsed.warnings), "", "in {name}");
                check_round_trip(&parsed.program);
                check_round_trip(&fenced(&parsed.program));
            }
            Err(errors) => panic!("{name}:\n{}", rendered(&text, &errors)),
        }
    }
}

/// The program with a fence after every edge of its first thread.
fn fenced(program: &Program) -> Program {
    let thread = ThreadId::new(0);
    let mut fences = FenceSet::new();
    for edge in 0..program.thread(thread).edges().len() {
        let point = Point::After(program::EdgeId::new(edge));
        fences.insert(Placement { thread, point, strength: Strength::Fence(Fence::Full) });
    }
    fences.apply(program)
}

const VARIABLES: usize = 3;
const REGISTERS: usize = 3;

struct Maker(fastrand::Rng);

impl Maker {
    fn int(&mut self) -> Int {
        match self.0.usize(..8) {
            0 => Int::from(i64::MAX) * Int::from(self.0.i64(..)),
            _ => Int::from(self.0.i64(-3..4)),
        }
    }

    fn expr<L>(&mut self, depth: usize, leaf: &mut impl FnMut(&mut Self) -> Expr<L>) -> Expr<L> {
        match if depth == 0 { self.0.usize(..2) } else { self.0.usize(..5) } {
            0 => self.int().into(),
            1 => leaf(self),
            _ => {
                use Arith::{Add, And, Div, Mul, Or, Rem, Sub, Xor};
                let op = [Add, Sub, Mul, Div, Rem, And, Or, Xor][self.0.usize(..8)];
                let divides = matches!(op, Div | Rem);
                let a = self.expr(depth - 1, leaf);
                let b = self.expr(depth - 1, leaf);
                let b = if divides && b.as_const() == Some(&Int::from(0)) { leaf(self) } else { b };
                Expr::binary(op, a, b)
            }
        }
    }

    fn cond<L>(&mut self, depth: usize, leaf: &mut impl FnMut(&mut Self) -> Expr<L>) -> Cond<L> {
        match if depth == 0 { 0 } else { self.0.usize(..4) } {
            0 | 1 => {
                use Relation::{Eq, Ge, Gt, Le, Lt, Ne};
                let relation = [Eq, Ne, Lt, Le, Gt, Ge][self.0.usize(..6)];
                Cond::compare(relation, self.expr(2, leaf), self.expr(2, leaf))
            }
            2 => Cond::and((0..3).map(|_| self.cond(depth - 1, leaf)).collect::<Vec<_>>()),
            _ => Cond::or((0..3).map(|_| self.cond(depth - 1, leaf)).collect::<Vec<_>>()),
        }
    }

    fn register(&mut self) -> RegId {
        RegId::new(self.0.usize(..REGISTERS))
    }

    fn variable(&mut self) -> VarId {
        VarId::new(self.0.usize(..VARIABLES))
    }

    fn value(&mut self) -> Expr<RegId> {
        self.expr(3, &mut |maker| Expr::Leaf(maker.register()))
    }

    fn domain(&mut self) -> Domain {
        let low = self.0.i64(-3..4);
        match self.0.bool() {
            true => Domain::All,
            false => Domain::Range(Int::from(low), Int::from(low + self.0.i64(0..3))),
        }
    }

    fn plain(&mut self) -> Op {
        match self.0.usize(..4) {
            0 => Op::Assign(self.register(), self.value()),
            1 => Op::Assume(self.cond(2, &mut |maker| Expr::Leaf(maker.register()))),
            2 => Op::Load(self.register(), self.variable()),
            _ => Op::Store(self.variable(), self.value()),
        }
    }

    fn op(&mut self) -> Op {
        match self.0.usize(..12) {
            0 => Op::Skip,
            1 => Op::Havoc(self.register(), self.domain()),
            2 => Op::Fence(Fence::Full),
            3 => Op::Fence(Fence::Store),
            4 => Op::Lock,
            5 => Op::Unlock,
            6 => Op::locked((0..self.0.usize(..4)).map(|_| self.plain()).collect()),
            7 => {
                let parts = (0..self.0.usize(..4)).map(|_| self.plain());
                let parts = parts.filter(|part| !matches!(part, Op::Store(..))).collect();
                Op::Block { locked: false, parts }
            }
            _ => self.plain(),
        }
    }

    fn failure(&mut self) -> Failure {
        let kind = match self.0.usize(..3) {
            0 => FailureKind::Assertion,
            1 => FailureKind::Division,
            _ => FailureKind::Bounds { array: "a".into(), length: 2, index: self.value() },
        };
        Failure { kind, span: Span::NONE }
    }

    /// A thread with random edges, or none if sections do not fit.
    fn thread(&mut self, name: &str) -> Option<program::Thread> {
        let mut builder = ThreadBuilder::new(name);
        // Names that the printer must mend or keep apart.
        for name in ["x", "if", "locked"] {
            builder.register(name);
        }
        let locs = 1 + self.0.usize(..6);
        for _ in 1..locs {
            builder.location(Span::NONE);
        }
        for from in 0..locs {
            let from = Loc::new(from);
            if self.0.usize(..4) == 0 {
                builder.label(from, ["x", "cs", "stop", "a"][self.0.usize(..4)]);
            }
            if self.0.usize(..8) == 0 {
                builder.fail(from, self.failure());
                continue;
            }
            for _ in 0..self.0.usize(..4) {
                builder.edge(from, self.op(), Loc::new(self.0.usize(..locs)), Span::NONE);
            }
        }
        builder.finish().ok()
    }

    fn place(&mut self, program: &Program) -> Place {
        let thread = ThreadId::new(self.0.usize(..program.threads.len()));
        let locs = program.thread(thread).locs().count();
        match self.0.usize(..3) {
            0 => Place::At(thread, Loc::new(self.0.usize(..locs))),
            1 => Place::Register(thread, self.register()),
            _ => Place::Memory(self.variable()),
        }
    }

    fn program(&mut self) -> Option<Program> {
        let mut program = Program::new("random", Source::default());
        for name in ["x", "a[0]", "a[1]"] {
            let initial = self.domain();
            program.add_variable(Variable { initial, ..Variable::new(name, Span::NONE) });
        }
        for name in ["P", "x", "lock"].iter().take(1 + self.0.usize(..3)) {
            program.threads.push(self.thread(name)?);
        }
        for kind in [PropertyKind::Never, PropertyKind::Finally] {
            let cond = self.cond(2, &mut |maker| Expr::Leaf(maker.place(&program)));
            if !divides_by_place(&cond) {
                program.properties.push(Property { kind, cond, span: Span::NONE, text: None });
            }
        }
        Some(program)
    }
}

/// Properties divide by constants only.
fn divides_by_place(cond: &Cond<Place>) -> bool {
    fn expr(e: &Expr<Place>) -> bool {
        match e {
            Expr::Binary(Arith::Div | Arith::Rem, _, b) if b.as_const().is_none() => true,
            Expr::Binary(_, a, b) => expr(a) || expr(b),
            _ => false,
        }
    }
    match cond {
        Cond::Const(_) => false,
        Cond::Compare(_, a, b) => expr(a) || expr(b),
        Cond::And(parts) | Cond::Or(parts) => parts.iter().any(divides_by_place),
    }
}

#[test]
fn random_automata_read_back() {
    let mut checked = 0;
    for seed in 0..6000 * effort() {
        let Some(program) = Maker(fastrand::Rng::with_seed(seed)).program() else { continue };
        program.validate().expect("random programs are valid");
        check_round_trip(&program);
        checked += 1;
    }
    assert!(checked > 1000 * effort(), "most random sections fit: {checked}");
}
