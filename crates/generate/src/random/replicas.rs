//! Random programs of threads that are the same up to their names.
//!
//! Every thread has a cell of its own, a number of its own that it may leave in `turn`, and a register that
//! holds such numbers only; besides, it does what random threads do with its cell and a variable that all
//! share. Some programs are spoilt: one thread does something else, or a claim is about one thread only.

use super::{ClaimAtom, Random, RandomClaim, Sketch, SketchStmt, ThreadDraft};
use fastrand::Rng;
use program::{
    Cond, Domain, Expr, Int, Op, Place, PropertyKind, RegId, Relation, Span, ThreadId, VarId, Variable,
};

/// Stands for the thread's number while a thread is made.
const OWN_NUMBER: i64 = 1_000;
/// Stands for `turn`.
const TURN: usize = 1_000;
/// Stands for the cell of the first thread, and so on.
const CELLS: usize = 2_000;
const LABEL: usize = 500;

/// The random program of replicated threads of a seed.
pub fn replicas(seed: u64) -> Sketch {
    let mut random = Random::new(seed);
    random.rng = Rng::with_seed(seed ^ 0x5ca1_ab1e);
    let count = random.pick(&[2, 2, 3, 3, 3]);
    random.variables = 2;
    let length = random.between(1, 3);
    let mut draft = random.draft(length);
    let name = RegId::new(draft.registers);
    draft.registers += 1;
    for _ in 0..random.between(1, 3) {
        random.insert(&mut draft.body, |random| random.with_names(name, count));
    }
    random.insert(&mut draft.body, |_| SketchStmt::Label(LABEL));
    let mut variables: Vec<Variable> =
        (0..count).map(|at| Variable::new(format!("a[{at}]"), Span::NONE)).collect();
    variables.push(Variable::new("x", Span::NONE));
    variables.push(Variable::new("turn", Span::NONE));
    if random.chance(15) {
        variables[count + 1].initial = Domain::Range(1.into(), (count as i64).into());
    }
    let mut threads: Vec<ThreadDraft> = (0..count).map(|at| replica(&draft, at, count)).collect();
    if random.chance(10) {
        random.registers = draft.registers;
        let at = random.below(count);
        threads[at].body.push(SketchStmt::Do(Op::Store(VarId::new(count), Expr::from(2))));
    }
    let claims = random.claims_of_all(count, draft.registers);
    Sketch { name: format!("replicas, seed {seed}"), variables, starts: Vec::new(), threads, claims }
}

impl Random {
    /// Something that only uses numbers as names of threads.
    fn with_names(&mut self, name: RegId, count: usize) -> SketchStmt {
        let (own, turn) = (Expr::from(OWN_NUMBER), VarId::new(TURN));
        let is = |relation, value: Expr<RegId>| Cond::compare(relation, name, value);
        let load = SketchStmt::Do(Op::Load(name, turn));
        match self.below(9) {
            0 | 1 => SketchStmt::Do(Op::Store(turn, own)),
            2 => SketchStmt::Do(Op::Store(turn, Expr::from(0))),
            3 => {
                let parts = vec![Op::Load(name, turn), Op::Store(turn, own)];
                SketchStmt::Do(Op::locked(parts))
            }
            4 => {
                let parts =
                    vec![Op::Load(name, turn), Op::Assume(is(Relation::Eq, 0.into())), Op::Store(turn, own)];
                SketchStmt::Do(Op::locked(parts))
            }
            5 => {
                let inside = vec![self.plain()];
                SketchStmt::Choose(vec![
                    vec![load, SketchStmt::If(is(Relation::Eq, own), inside, Vec::new())],
                    vec![SketchStmt::Do(Op::Skip)],
                ])
            }
            6 => SketchStmt::Choose(vec![vec![load, SketchStmt::Assert(is(Relation::Ne, own))], Vec::new()]),
            7 => {
                // Wait until it is somebody else's turn.
                let label = self.fresh_label();
                let looks = vec![load, SketchStmt::Goto(label, is(Relation::Ne, own))];
                SketchStmt::If(
                    Cond::TRUE,
                    vec![SketchStmt::Forever(looks), SketchStmt::Label(label)],
                    Vec::new(),
                )
            }
            _ => {
                // The cell of whoever's turn it is.
                let way = |at: usize| {
                    let here = SketchStmt::Do(Op::Assume(is(Relation::Eq, Expr::from(at as i64 + 1))));
                    vec![here, SketchStmt::Do(Op::Store(VarId::new(CELLS + at), Expr::from(1)))]
                };
                let mut ways: Vec<Vec<SketchStmt>> = (0..count).map(way).collect();
                ways.push(vec![SketchStmt::Do(Op::Assume(is(Relation::Eq, 0.into())))]);
                SketchStmt::If(Cond::TRUE, vec![load, SketchStmt::Choose(ways)], Vec::new())
            }
        }
    }

    /// Claims about every thread, or every two; sometimes about the first only.
    fn claims_of_all(&mut self, count: usize, registers: usize) -> Vec<RandomClaim> {
        let kind = if self.chance(75) { PropertyKind::Never } else { PropertyKind::Finally };
        let value = Int::from(self.constant());
        let register = RegId::new(self.below(registers.max(2) - 1));
        let form = self.below(4);
        let about = |thread: usize| {
            let here = ClaimAtom::At(thread, LABEL, true);
            let holds = |place: Place| ClaimAtom::Holds(Cond::compare(Relation::Eq, place, value.clone()));
            let id = ThreadId::new(thread);
            match form {
                0 => vec![vec![here, holds(Place::Memory(VarId::new(thread)))]],
                1 if registers > 1 => {
                    vec![vec![holds(Place::Register(id, register)), holds(Place::Memory(VarId::new(count)))]]
                }
                2 => {
                    let own =
                        Cond::compare(Relation::Eq, Place::Memory(VarId::new(count + 1)), thread as i64 + 1);
                    vec![vec![here, ClaimAtom::Holds(own)]]
                }
                _ => {
                    let pair = |other: usize| vec![here.clone(), ClaimAtom::At(other, LABEL, true)];
                    (thread + 1..count).map(pair).collect()
                }
            }
        };
        let threads = if self.chance(10) { 1 } else { count };
        let claims = (0..threads).flat_map(about);
        claims.map(|atoms| RandomClaim { kind, any: false, atoms }).collect()
    }
}

/// The thread with this number.
fn replica(draft: &ThreadDraft, at: usize, count: usize) -> ThreadDraft {
    let variable = |v: VarId| match v.index() {
        0 => VarId::new(at),
        1 => VarId::new(count),
        TURN => VarId::new(count + 1),
        cell => VarId::new(cell - CELLS),
    };
    let sketch = Sketch {
        name: String::new(),
        variables: Vec::new(),
        starts: Vec::new(),
        threads: vec![draft.clone()],
        claims: Vec::new(),
    };
    let own = Expr::from(OWN_NUMBER);
    let sketch = sketch.map_ops(&|op| with_variables(op, &variable));
    let mut sketch =
        sketch.map_values(&|value| if *value == own { Expr::from(at as i64 + 1) } else { value.clone() });
    sketch.threads.remove(0)
}

fn with_variables(op: &Op, variable: &dyn Fn(VarId) -> VarId) -> Op {
    match op {
        Op::Load(register, v) => Op::Load(*register, variable(*v)),
        Op::Store(v, value) => Op::Store(variable(*v), value.clone()),
        Op::Block { locked, parts } => Op::Block {
            locked: *locked,
            parts: parts.iter().map(|part| with_variables(part, variable)).collect(),
        },
        other => other.clone(),
    }
}
