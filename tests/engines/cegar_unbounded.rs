//! The engine `cegar` on programs whose integers grow without bound. There is nobody to compare
//! every answer with, so programs are changed in ways that must not change the answer, and
//! models are compared with each other, and with the other engines where those answer.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use crate::unbounded;
use support::random;

use engine::{Abstraction, Cegar, Engine, Explicit, GapProofs, Run};
use evidence::{Certificate, Ignore, MostStates, Task, Verdict, check};
use fastrand::Rng;
use machine::{Forgotten, Keep, MODELS, Model};
use program::{
    Arith, Cond, Domain, Expr, Fence, Op, Place, Program, RegId, Relation, Span, ThreadId, VarId, Variable,
};
use random::{Atom, Sketch, Stmt, minimise, seeds};

/// Predicates, or numbers of stores kept, that never suffice end here.
const MOST_ABSTRACT: usize = 1_000;
const MOST_EXACT: usize = 2_000;

/// The verdict of an engine, after its evidence was checked.
fn verdict(
    engine: &dyn Engine,
    program: &Program,
    model: Model,
    run: &Run<'_>,
) -> Result<&'static str, String> {
    let task = Task::safe(program, model);
    let name = model.name();
    let answer = engine.verify(&task, run).verdict;
    let checked = check(&task, answer, &Ignore).map_err(|why| format!("rejected under {name}: {why}"))?;
    Ok(checked.verdict().word())
}

/// Half of the programs with the usual abstraction, the others with every other one.
fn abstraction(seed: u64) -> Abstraction {
    if seed.is_multiple_of(2) {
        return Abstraction::default();
    }
    Abstraction {
        keep: if seed & 2 == 0 { Keep::Newest } else { Keep::Oldest },
        forgotten: [Forgotten::Pools, Forgotten::Pairs, Forgotten::Anything][seed as usize / 4 % 3],
        reduce: seed & 8 == 0,
    }
}

fn contradict(a: &str, b: &str) -> bool {
    a != b && a != "unknown" && b != "unknown"
}

/// How often what was found.
#[derive(Debug, Default)]
struct Tally {
    verdicts: usize,
    safe: usize,
    unsafe_: usize,
    /// Safe, where the exact engine does not end.
    only_proved: usize,
    /// Different under different models.
    models_differ: usize,
    /// Comparisons of a program with a changed one.
    pairs: usize,
    both_decided: usize,
}

/// Something true, said of registers: nothing, a fact of parity, a split into cases.
fn truth(rng: &mut Rng, registers: usize) -> Cond<RegId> {
    let r = RegId::new(rng.usize(..registers));
    let s = RegId::new(rng.usize(..registers));
    match rng.u8(..3) {
        0 => Cond::compare(Relation::Le, r, Expr::binary(Arith::Add, r, 1)),
        1 => Cond::compare(Relation::Ne, Expr::binary(Arith::Mul, r, 2), 1),
        _ => Cond::or([Cond::compare(Relation::Le, r, s), Cond::compare(Relation::Gt, r, s)]),
    }
}

/// Puts a statement somewhere, into loops as well.
fn insert(body: &mut Vec<Stmt>, stmt: Stmt, rng: &mut Rng) {
    let at = rng.usize(..=body.len());
    match body.get_mut(at) {
        Some(Stmt::Forever(inner) | Stmt::While(_, inner)) => insert(inner, stmt, rng),
        _ => body.insert(at, stmt),
    }
}

fn with_true_assertion(sketch: &Sketch, rng: &mut Rng) -> Program {
    let mut copy = sketch.clone();
    let draft = &mut copy.threads[rng.usize(..sketch.threads.len())];
    let stmt = Stmt::Assert(truth(rng, draft.registers));
    insert(&mut draft.body, stmt, rng);
    copy.build()
}

/// One more variable and register that nobody uses.
fn with_unused(sketch: &Sketch, rng: &mut Rng) -> Program {
    let mut copy = sketch.clone();
    copy.variables.push(unused(rng));
    copy.threads.iter_mut().for_each(|draft| draft.registers += 1);
    copy.build()
}

fn unused(rng: &mut Rng) -> Variable {
    let mut variable = Variable::new("unused", Span::NONE);
    variable.initial = if rng.bool() { Domain::All } else { Domain::only(7) };
    variable
}

/// Stores to a variable that nobody reads.
fn with_useless_store(sketch: &Sketch, rng: &mut Rng) -> Program {
    let mut copy = sketch.clone();
    copy.variables.push(unused(rng));
    let draft = &mut copy.threads[rng.usize(..sketch.threads.len())];
    let value = if rng.bool() { RegId::new(0).into() } else { Expr::from(3) };
    insert(&mut draft.body, Stmt::Do(Op::Store(VarId::new(sketch.variables.len()), value)), rng);
    copy.build()
}

/// Other names: kinds of slots are found by name.
fn renamed(sketch: &Sketch, rng: &mut Rng) -> Program {
    let mut program = sketch.build();
    let array = rng.bool();
    for (at, variable) in program.variables.iter_mut().enumerate() {
        variable.name = if array { format!("cell[{at}]") } else { format!("variable{}", 9 - at) };
    }
    for (at, thread) in program.threads.iter_mut().enumerate() {
        thread.name = format!("Thread{}", 9 - at);
        let names = thread.registers.iter_mut().enumerate();
        names.for_each(|(register, name)| *name = format!("t{at}_{}", 9 - register));
    }
    program
}

fn with_threads_reversed(sketch: &Sketch) -> Program {
    let last = sketch.threads.len() - 1;
    let mut copy = sketch.clone();
    copy.threads.reverse();
    let moved = |place: &Place| match *place {
        Place::Register(t, r) => Place::Register(ThreadId::new(last - t.index()), r).into(),
        other => other.into(),
    };
    for atom in copy.claims.iter_mut().flat_map(|claim| &mut claim.atoms) {
        match atom {
            Atom::Holds(cond) => *cond = cond.map(&mut |place| moved(place)),
            Atom::At(thread, ..) => *thread = last - *thread,
        }
    }
    copy.build()
}

fn fenced(body: &[Stmt]) -> Vec<Stmt> {
    let mut all = Vec::new();
    for stmt in body {
        match stmt {
            Stmt::Do(Op::Store(..)) => all.extend([stmt.clone(), Stmt::Do(Op::Fence(Fence::Full))]),
            Stmt::If(cond, yes, no) => all.push(Stmt::If(cond.clone(), fenced(yes), fenced(no))),
            Stmt::While(cond, inner) => all.push(Stmt::While(cond.clone(), fenced(inner))),
            Stmt::Forever(inner) => all.push(Stmt::Forever(fenced(inner))),
            other => all.push(other.clone()),
        }
    }
    all
}

fn with_fences(sketch: &Sketch) -> Program {
    let mut copy = sketch.clone();
    copy.threads.iter_mut().for_each(|draft| draft.body = fenced(&draft.body));
    copy.build()
}

/// Everything that must hold of a program.
fn laws(sketch: &Sketch, seed: u64, tally: &mut Tally) -> Result<(), String> {
    let run = Run { monitor: &MostStates(MOST_ABSTRACT), abstraction: abstraction(seed), ..Run::default() };
    let cegar = |program: &Program, model: Model| verdict(&Cegar, program, model, &run);
    let program = sketch.build();
    let mut base = Vec::new();
    for model in MODELS {
        let found = cegar(&program, *model)?;
        tally.verdicts += 1;
        tally.safe += usize::from(found == "safe");
        tally.unsafe_ += usize::from(found == "unsafe");
        base.push(found);
        let exact = Run { monitor: &MostStates(MOST_EXACT), max_buffer: Some(3), ..Run::default() };
        for other in [&Explicit as &dyn Engine, &GapProofs] {
            let theirs = verdict(other, &program, *model, &exact)?;
            if contradict(found, theirs) {
                return Err(format!("{found}, {} says {theirs}, {}", other.name(), model.name()));
            }
            let gain = other.name() == "explicit" && found == "safe" && theirs == "unknown";
            tally.only_proved += usize::from(gain);
        }
    }
    if base.windows(2).any(|pair| pair == ["unsafe", "safe"]) || base[0] == "unsafe" && base[2] == "safe" {
        return Err(format!("a weaker model has less behaviour: {base:?}"));
    }
    tally.models_differ += usize::from(base.contains(&"safe") && base.contains(&"unsafe"));
    let rng = &mut Rng::with_seed(seed);
    let at = seed as usize % MODELS.len();
    let changed = [
        ("a true assertion", with_true_assertion(sketch, rng), at, at),
        ("something unused", with_unused(sketch, rng), at, at),
        ("a useless store", with_useless_store(sketch, rng), at, at),
        ("other names", renamed(sketch, rng), at, at),
        ("threads reversed", with_threads_reversed(sketch), at, at),
        ("fences", with_fences(sketch), 1, 0),
        ("fences", with_fences(sketch), 2, 0),
    ];
    for (what, changed, model, like) in changed {
        let found = cegar(&changed, MODELS[model])?;
        tally.pairs += 1;
        tally.both_decided += usize::from(found != "unknown" && base[like] != "unknown");
        if contradict(found, base[like]) {
            let name = MODELS[model].name();
            return Err(format!("{} becomes {found} with {what}, {name}", base[like]));
        }
    }
    Ok(())
}

#[test]
fn what_changes_nothing_changes_no_verdict() {
    let mut tally = Tally::default();
    for seed in 0..seeds() {
        let sketch = unbounded::sketch(seed);
        if let Err(first) = laws(&sketch, seed, &mut tally) {
            let fails = &mut |sketch: &Sketch| laws(sketch, seed, &mut Tally::default()).is_err();
            let small = minimise(sketch, fails);
            let why = laws(&small, seed, &mut Tally::default()).err().unwrap_or(first);
            panic!("broken by seed {seed}: {why}\n{}", program::print(&small.build()));
        }
    }
    println!("{tally:?}");
    let t = &tally;
    assert!(t.safe * 4 > t.verdicts && t.unsafe_ * 4 > t.verdicts, "{t:?}");
    assert!((t.safe + t.unsafe_) * 10 > t.verdicts * 8, "cegar does not answer: {t:?}");
    assert!(t.only_proved * 10 > t.verdicts && t.models_differ * 50 > t.verdicts, "{t:?}");
    assert!(t.both_decided * 10 > t.pairs * 8, "{t:?}");
}

/// Stores pile up in an order that counts, and the writer looks at what others write (but in the first).
const IN_ORDER: &[&str] = &[
    "shared v; thread W { let k; loop { k = k + 1; v = k; } }
     thread R { let a, b; loop { a = v; b = v; assert a <= b; } }",
    "shared v, stop; thread W { let k; while (stop == 0) { k = k - 2; v = k; } }
     thread R { let a, b; loop { a = v; b = v; assert a >= b; stop = any in 0..2; } }",
    "shared v, stop; thread W { let k; while (stop == 0) { k = k + 1; v = k; } }
     thread R { let a, b, c; loop { a = v; b = v; c = v; if (a != b) { assert a != c; } stop = any in 0..2; } }",
    "shared v, w, stop; thread W { let k; while (stop == 0) { k = k + 1; v = k; w = k; } }
     thread R { let a, b; a = v; b = v; assert a <= b; stop = w; }",
];

/// What the engine proves a program by.
fn forgotten(text: &str, model: Model, abstraction: Abstraction) -> Option<Forgotten> {
    let program = support::corpus::program(text);
    let task = Task::safe(&program, model);
    let run = Run { monitor: &MostStates(50_000), abstraction, ..Run::default() };
    let checked = check(&task, Cegar.verify(&task, &run).verdict, &Ignore).expect("evidence holds");
    match checked.verdict() {
        Verdict::Safe(Certificate::Cubes(proof)) => Some(proof.recall.forgotten),
        _ => None,
    }
}

#[test]
fn what_needs_the_order_of_forgotten_stores_is_proved_by_pairs() {
    for text in IN_ORDER {
        for model in MODELS.iter().filter(|model| model.buffers()) {
            for keep in [Keep::Newest, Keep::Oldest] {
                let how = Abstraction { keep, reduce: false, ..Abstraction::default() };
                assert_eq!(forgotten(text, *model, how), Some(Forgotten::Pairs), "{}: {text}", model.name());
            }
        }
        // What goes down is not taken to go up.
        for (here, there) in [("a <= b", "a >= b + 1"), ("a >= b;", "a <= b;"), ("a != c", "a == c")] {
            if text.contains(here) {
                let wrong = text.replace(here, there);
                assert_eq!(forgotten(&wrong, MODELS[1], Abstraction::default()), None, "{wrong}");
            }
        }
    }
}

#[test]
fn what_needs_no_order_is_proved_without_pairs() {
    for name in ["thesis_3_3", "ticket_lock", "alternating_bit", "array_queue", "nonblocking_write"] {
        let path = support::root().join(format!("corpus/{name}.fw"));
        let text = std::fs::read_to_string(path).expect("part of the corpus");
        let found = forgotten(&text, MODELS[1], Abstraction::default());
        assert_eq!(found, Some(Forgotten::Pools), "{name}");
    }
}
