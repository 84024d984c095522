//! The engine `extrapolate`: how it lifts predicates, that it agrees with `explicit` on random programs with
//! any predicates offered, useless and wrong ones too, that its evidence cannot be changed unnoticed, and
//! what it does where buffers overflow.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

#[path = "extrapolate/lifting.rs"]
mod lifting;

use support::corpus as data;
use support::{models, random};

pub use data::program as text;
use data::{corpus, expected, read};
use engine::{
    Cegar, Costs, Engine, Explicit, Extrapolate, Extrapolation, FenceAnswer, FenceOptions, Points, Run,
    extrapolate, fences_within, place_fences,
};
use evidence::{
    Certificate, CubeProof, Ignore, Monitor, MostStates, Progress, Reason, Stop, Task, Verdict, check,
};
use fastrand::Rng;
use machine::{MODELS, Model, model_named};
use program::{Cond, Expr, Hint, Place, Program, RegId, Relation, Span};
use random::{Sketch, linear, minimise, seeds_or};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};

const MOST_ABSTRACT: usize = 2_000;
const MOST_EXACT: usize = 20_000;
/// Longer buffers are taken to grow without end by `explicit`.
const CAP: usize = 3;

/// Each program comes with several sets of predicates.
fn seeds() -> u64 {
    seeds_or(300)
}

fn from_corpus(name: &str) -> Program {
    let path = support::root().join(format!("corpus/{name}.fw"));
    text(&std::fs::read_to_string(path).expect("part of the corpus"))
}

fn model(name: &str) -> Model {
    model_named(name).expect("known")
}

/// Predicates that need not have anything to do with the program's business.
fn offer(program: &mut Program, rng: &mut Rng) {
    let mut places: Vec<Place> = program.variable_ids().map(Place::Memory).collect();
    for thread in program.thread_ids() {
        let registers = 0..program.thread(thread).registers.len();
        places.extend(registers.map(|register| Place::Register(thread, RegId::new(register))));
    }
    for _ in 0..rng.usize(..5) {
        let [a, b] = [0, 1].map(|_| Expr::Leaf(places[rng.usize(..places.len())]));
        let b = if rng.bool() { Expr::from(rng.i64(-1..4)) } else { b };
        let relation = [Relation::Eq, Relation::Le, Relation::Lt][rng.usize(..3)];
        let cond = Cond::compare(relation, a, b);
        program.hints.extend(Some(Hint { cond, span: Span::NONE }).filter(Hint::speaks));
    }
}

/// What an engine and `explicit` say; an error if evidence does not hold or they contradict.
fn compare(
    engine: &dyn Engine,
    sketch: &Sketch,
    model: Model,
    seed: u64,
) -> Result<(&'static str, &'static str), String> {
    let mut program = sketch.build();
    let mut rng = Rng::with_seed(seed);
    if !seed.is_multiple_of(3) {
        offer(&mut program, &mut rng);
    }
    let task = Task::safe(&program, model);
    let extrapolation = if rng.bool() { Extrapolation::Cubes } else { Extrapolation::Predicates };
    let run = Run { monitor: &MostStates(MOST_ABSTRACT), extrapolation, ..Run::default() };
    let proved = check(&task, engine.verify(&task, &run).verdict, &Ignore).map_err(|why| why.to_string())?;
    let run = Run { monitor: &MostStates(MOST_EXACT), max_buffer: Some(CAP), ..Run::default() };
    let explored =
        check(&task, Explicit.verify(&task, &run).verdict, &Ignore).map_err(|why| why.to_string())?;
    match (proved.verdict().word(), explored.verdict().word()) {
        both @ (("safe", "unsafe") | ("unsafe", "safe")) => Err(format!("{both:?}")),
        both => Ok(both),
    }
}

#[test]
fn whatever_is_offered_no_answer_is_wrong() {
    for engine in [&Extrapolate as &dyn Engine, &Cegar] {
        let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
        for seed in 0..seeds() {
            for model in MODELS.iter().copied() {
                let sketch = random::sketch(seed).map_values(&linear);
                match compare(engine, &sketch, model, seed) {
                    Ok(both) => *counts.entry(both).or_default() += 1,
                    Err(_) => {
                        let fails = &mut |sketch: &Sketch| compare(engine, sketch, model, seed).is_err();
                        let small = minimise(sketch, fails);
                        let why = compare(engine, &small, model, seed).err().unwrap_or_default();
                        let name = model.name();
                        panic!("seed {seed} {name}: {why}\n{}", program::print(&small.build()));
                    }
                }
            }
        }
        let count = |which: &dyn Fn(&str, &str) -> bool| -> u64 {
            counts.iter().filter(|((a, b), _)| which(a, b)).map(|(_, count)| count).sum()
        };
        let all = count(&|_, _| true);
        assert!(count(&|proved, _| proved == "unknown") * 20 < all, "{}: {counts:?}", engine.name());
        assert!(count(&|proved, exact| proved == "safe" && exact == "safe") * 8 > all, "{counts:?}");
        assert!(count(&|proved, exact| proved == "unsafe" && exact == "unsafe") * 3 > all, "{counts:?}");
        println!("{}: {counts:?}", engine.name());
    }
}

#[test]
fn it_never_contradicts_the_data_of_the_corpus() {
    let (mut decided, mut cases) = (0, 0);
    for path in corpus() {
        for case in expected(&path).case.iter().filter(|case| case.engine == "explicit") {
            let program = read(&path, &case.define);
            let task = Task::safe(&program, model(&case.model));
            let answer = Extrapolate.verify(&task, &Run { monitor: &MostStates(1_000), ..Run::default() });
            let checked = check(&task, answer.verdict, &Ignore).expect("evidence holds");
            let verdict = checked.verdict().word();
            cases += 1;
            decided += usize::from(verdict != "unknown");
            assert!(
                verdict == "unknown" || verdict == case.truth(),
                "{} {}: {verdict}",
                path.display(),
                case.model
            );
        }
    }
    println!("{decided} of {cases} were decided");
    assert!(decided * 5 > cases * 2, "{decided} of {cases} were decided");
}

/// Programs with unbounded numbers, and what they are proved by.
#[test]
fn proofs_are_carried_over_without_refinement() {
    for (name, on) in [
        ("dekker_fenced", "tso"),
        ("dekker_fenced", "pso"),
        ("peterson_fenced", "tso"),
        ("peterson_pso", "pso"),
        ("alternating_bit", "tso"),
        ("alternating_bit", "pso"),
        ("szymanski_fenced", "pso"),
        ("bakery_fenced", "tso"),
        ("bakery_fenced", "pso"),
        ("ticket_andrews", "pso"),
    ] {
        let program = from_corpus(name);
        let task = Task::safe(&program, model(on));
        for extrapolation in [Extrapolation::Cubes, Extrapolation::Predicates] {
            let found = extrapolate(&task, &Run { extrapolation, ..Run::default() });
            let last = found.phases.last().expect("something was done");
            assert_eq!(last.ended, "proved", "{name} {on} {extrapolation:?}: {:?}", found.phases);
            assert!(last.k.is_some(), "{name} {on}");
            check(&task, found.verdict, &Ignore).expect("evidence holds");
        }
    }
}

fn proof_of(task: &Task<'_>) -> CubeProof {
    match Extrapolate.verify(task, &Run::default()).verdict {
        Verdict::Safe(Certificate::Cubes(proof)) => proof,
        other => panic!("{other:?}"),
    }
}

/// Evidence is an ordinary proof by cubes, so whatever breaks it is noticed.
#[test]
fn broken_proofs_are_rejected() {
    let program = from_corpus("alternating_bit");
    for on in models::buffered() {
        let task = Task::safe(&program, model(on));
        let proof = proof_of(&task);
        let holds =
            |proof: CubeProof| check(&task, Verdict::Safe(Certificate::Cubes(proof)), &Ignore).is_ok();
        assert!(holds(proof.clone()));
        assert!(proof.controls.iter().all(|(_, shapes)| shapes.iter().all(|s| s.forgotten.is_empty())));
        for at in 0..proof.cubes.len() {
            let mut fewer = proof.clone();
            fewer.cubes.remove(at);
            assert!(!holds(fewer), "without cube {at}");
            let mut weaker = proof.clone();
            weaker.cubes[at].literals.clear();
            assert!(!holds(weaker), "cube {at} that knows nothing");
            for literal in 0..proof.cubes[at].literals.len() {
                let mut wrong = proof.clone();
                wrong.cubes[at].literals[literal].1 ^= true;
                assert!(!holds(wrong), "cube {at} with literal {literal} turned round");
            }
        }
        let mut shorter = proof.clone();
        shorter.recall.k = 0;
        assert!(!holds(shorter), "a machine that keeps nothing");
    }
}

const TWO_STORES: &str = "shared x, y; thread P { x = 1; x = 2; y = 1; fence; } thread Q { let a = y; let b = x; \
                          assert a == 0 || b == 2; }";

#[test]
fn an_overflow_raises_the_bound() {
    let program = text(TWO_STORES);
    let task = Task::safe(&program, model("tso"));
    let found = extrapolate(&task, &Run::default());
    let bounds: Vec<_> = found.phases.iter().filter_map(|phase| phase.k.map(|k| (k, phase.ended))).collect();
    assert_eq!(bounds, [(1, "overflow"), (2, "overflow"), (3, "proved")]);
    check(&task, found.verdict, &Ignore).expect("evidence holds");
}

/// Buffers without end: only `cegar` can help, and where it cannot, the reasons name the bound.
#[test]
fn an_unknown_names_the_bound_that_overflows() {
    let program = from_corpus("thesis_3_3");
    let task = Task::safe(&program, model("tso"));
    let found = extrapolate(&task, &Run::default());
    assert!(found.phases.last().is_some_and(|phase| phase.ended == "overflow"), "{:?}", found.phases);
    assert_eq!(found.verdict.word(), "safe");
    let monitor = UntilOverflow(AtomicBool::new(false));
    let found = extrapolate(&task, &Run { monitor: &monitor, max_buffer: Some(2), ..Run::default() });
    let Verdict::Unknown(reasons) = &found.verdict else { panic!("{:?}", found.verdict) };
    assert_eq!(reasons, &[Reason::Stopped(Stop::Time), Reason::Overflow(2)]);
    assert!(reasons[1].text(&program).contains("more than 2 stores"));
}

/// Says that the time is up once it has heard of an overflow of buffers of two stores.
struct UntilOverflow(AtomicBool);

impl Monitor for UntilOverflow {
    fn observe(&self, _: &Progress) -> Result<(), Stop> {
        if self.0.load(Ordering::Relaxed) { Err(Stop::Time) } else { Ok(()) }
    }

    fn note(&self, text: &str) {
        if text.contains("k = 2") && text.contains("overflow") {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

#[test]
fn offered_predicates_are_enough_without_cegar() {
    let source = format!(
        "{}\npredicates {{ Msg == 0; Ack == 0; Sender.bit == 0; Sender.ack == 0; Receiver.msg == 0; \
         Receiver.bit == 0; Receiver.received == Sender.sent; Receiver.received + 1 == Sender.sent; }}",
        std::fs::read_to_string(support::root().join("corpus/alternating_bit.fw"))
            .expect("part of the corpus")
    );
    let program = text(&source);
    for (on, counted) in [("pso", 15), ("tso", 17)] {
        let task = Task::safe(&program, model(on));
        let found = extrapolate(&task, &Run::default());
        let counts: Vec<usize> = found.phases.iter().map(|phase| phase.predicates).collect();
        assert_eq!(counts, [8, counted], "{:?}", found.phases);
        assert_eq!(found.statistics.refinements, None, "cegar was not asked");
        check(&task, found.verdict, &Ignore).expect("evidence holds");
    }
}

/// The author's predicates are where `cegar` begins.
#[test]
fn cegar_begins_with_what_is_offered() {
    let plain = from_corpus("ticket_lock");
    let task = Task::safe(&plain, model("tso"));
    let answer = Cegar.verify(&task, &Run::default());
    let refinements = answer.statistics.refinements.expect("counted").total();
    assert!(refinements > 0);
    let Verdict::Safe(Certificate::Cubes(proof)) = answer.verdict else { panic!("safe") };
    let mut hinted = plain.clone();
    hinted.hints = proof.offers().into_iter().map(|cond| Hint { cond, span: Span::NONE }).collect();
    assert!(!hinted.hints.is_empty());
    let task = Task::safe(&hinted, model("tso"));
    let answer = Cegar.verify(&task, &Run::default());
    assert!(answer.statistics.refinements.expect("counted").total() < refinements);
    check(&task, answer.verdict, &Ignore).expect("evidence holds");
}

/// The bound makes fences necessary that safety does not need; the program with them overflows nowhere.
#[test]
fn fences_at_a_bound_are_at_least_those_that_safety_needs() {
    let options = FenceOptions { costs: Costs::default(), points: Points::Stores, all: false, prices: &[] };
    for (name, on) in [("dekker", "tso"), ("peterson", "tso"), ("mp", "pso"), ("alternating_bit", "tso")] {
        let program = from_corpus(name);
        let task = Task::safe(&program, model(on));
        let found = place_fences(&task, &Extrapolate, &options, &Run::default()).expect("no bug");
        let FenceAnswer::Placed(placed) = found.answer else { panic!("{name} {on}") };
        let mut before = u64::MAX;
        for k in 1..=3 {
            let within = fences_within(&task, k, &options, &Run::default()).expect("no bug").expect("found");
            assert!(within.cost >= placed.cost, "{name} {on} {k}");
            assert!(within.cost <= before, "{name} {on} {k}: a larger bound needs no more");
            before = within.cost;
        }
    }
    let program = from_corpus("own_store");
    let task = Task::safe(&program, model("tso"));
    let at = |k| fences_within(&task, k, &options, &Run::default()).expect("no bug").expect("found");
    assert_eq!((at(1).fences.len(), at(2).fences.len()), (1, 0));
}

/// A register that no predicate mentions gets those of the variables that are loaded into it.
#[test]
fn what_is_loaded_needs_no_name() {
    let program = text(
        "shared flag[2]; thread P(i in 0..2) { flag[i] = 1; fence; if (flag[1 - i] == 0) { cs: skip; } } \
         never P0@cs && P1@cs; predicates { flag[0] == 0; flag[1] == 0; }",
    );
    let task = Task::safe(&program, model("tso"));
    let found = extrapolate(&task, &Run::default());
    assert_eq!(found.statistics.refinements, None, "{:?}", found.phases);
    assert_eq!(found.verdict.word(), "safe");
}
