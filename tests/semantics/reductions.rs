//! Reduced searches against plain ones, on random programs: with loops that wait, with local steps, and with
//! threads that differ in their names only. Whatever a reduction answers, the plain search does, the
//! checker agrees (in memory and from a file), and violations are replayed.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use support::random;

use super::local_first::{place_and_value, varied};
use engine::{Answer, Engine, Explicit, GapProofs, Reduction, Run};
use evidence::{
    Certificate, Form, Ignore, MostStates, Reason, ReducedProof, Stop, Task, Verdict, check, check_file,
    write_evidence,
};
use fastrand::Rng;
use machine::{MODELS, Model};
use program::{Cond, Expr, Op, Program, RegId, Relation, VarId, thread_swaps};
use random::{Sketch, Stmt, minimise, replicas, seeds};
use std::io::{self, BufRead, Cursor};

mod cartesian;
mod dead_registers;
mod in_reach;
mod obvious;
mod serving;
mod stubborn;

const MOST_STATES: usize = 4_000;

fn explore(program: &Program, model: Model, reduction: Reduction) -> Answer {
    explore_by(&Explicit, program, model, reduction)
}

fn explore_by(engine: &dyn Engine, program: &Program, model: Model, reduction: Reduction) -> Answer {
    let run = Run { monitor: &MostStates(MOST_STATES), reduction, max_buffer: Some(8), ..Run::default() };
    engine.verify(&Task::safe(program, model), &run)
}

/// The random program of a seed with local steps, loops that wait, and a claim about a place.
pub(super) fn waiting(seed: u64) -> Sketch {
    let mut sketch = varied(seed);
    let mut rng = Rng::with_seed(seed);
    let variables = sketch.variables.len();
    for draft in &mut sketch.threads {
        let register = RegId::new(draft.registers);
        draft.registers += 1;
        for number in 0..rng.usize(..3) {
            let label = 200 + number;
            let mut looks = Vec::new();
            let conjunction = rng.u8(..4) == 0;
            for _ in 0..rng.usize(1..3) {
                let relation = if rng.bool() { Relation::Eq } else { Relation::Ne };
                let passes = Cond::compare(relation, register, rng.i64(0..2));
                looks.push(Stmt::Do(Op::Load(register, VarId::new(rng.usize(..variables)))));
                match conjunction {
                    true => looks.push(Stmt::Goto(label + 50, passes.negate())),
                    false => looks.push(Stmt::Goto(label, passes)),
                }
            }
            if conjunction {
                looks.push(Stmt::Goto(label, Cond::TRUE));
                looks.push(Stmt::Label(label + 50));
            }
            let at = rng.usize(..=draft.body.len());
            draft.body.splice(at..at, [Stmt::Forever(looks), Stmt::Label(label)]);
            if rng.u8(..3) == 0 {
                // Somebody still reads what was loaded.
                let seen = Stmt::Do(Op::Store(VarId::new(rng.usize(..variables)), Expr::Leaf(register)));
                draft.body.insert(at + 2, seen);
            }
        }
    }
    if rng.bool() {
        let claim = place_and_value(&mut sketch, &mut rng);
        sketch.claims = vec![claim];
    }
    sketch
}

/// What a comparison came to.
#[derive(Debug, PartialEq, Eq)]
enum Law {
    /// Somebody does not know.
    Open,
    /// Both say the same; how many states each has seen.
    Holds {
        all: usize,
        left: usize,
    },
    Broken(String),
}

fn compare(program: &Program, model: Model, reduction: Reduction) -> Law {
    compare_by(&Explicit, program, model, reduction)
}

fn compare_by(engine: &dyn Engine, program: &Program, model: Model, reduction: Reduction) -> Law {
    let searched = |reduction| explore_by(engine, program, model, reduction);
    let (plain, reduced) = (searched(Reduction::None), searched(reduction));
    let broken = |why: &str| Law::Broken(format!("{why} under {}", model.name()));
    let law = match (&plain.verdict, &reduced.verdict) {
        (Verdict::Unknown(_), _) | (_, Verdict::Unknown(_)) => Law::Open,
        (Verdict::Safe(_), Verdict::Safe(_)) | (Verdict::Unsafe(_), Verdict::Unsafe(_)) => {
            Law::Holds { all: plain.statistics.states, left: reduced.statistics.states }
        }
        (Verdict::Safe(_), _) => return broken("a violation that is none"),
        _ => return broken("a violation was lost"),
    };
    match check(&Task::safe(program, model), reduced.verdict, &Ignore) {
        Ok(_) => law,
        Err(why) => broken(&format!("rejected: {why}")),
    }
}

/// Compares on many programs; how many were judged, and on how many there was less to explore.
fn hold(sketch: fn(u64) -> Sketch, reduction: Reduction, count: u64) -> (usize, usize) {
    hold_by(&Explicit, sketch, reduction, count)
}

fn hold_by(
    engine: &dyn Engine,
    sketch: fn(u64) -> Sketch,
    reduction: Reduction,
    count: u64,
) -> (usize, usize) {
    let (mut judged, mut fewer) = (0, 0);
    for seed in 0..count {
        let model = MODELS[seed as usize % MODELS.len()];
        let law = |sketch: &Sketch| compare_by(engine, &sketch.build(), model, reduction);
        match law(&sketch(seed)) {
            Law::Open => {}
            Law::Holds { all, left } => {
                judged += 1;
                fewer += usize::from(left < all);
            }
            Law::Broken(_) => {
                let small = minimise(sketch(seed), &mut |sketch| matches!(law(sketch), Law::Broken(_)));
                panic!("{reduction:?}, seed {seed}: {:?}\n{}", law(&small), program::print(&small.build()));
            }
        }
    }
    (judged, fewer)
}

#[test]
fn threads_may_go_ahead() {
    let count = 3 * seeds();
    let (judged, fewer) = hold(waiting, Reduction::Local, count);
    assert!(judged * 2 > count as usize && fewer * 2 > judged, "{judged} of {count} judged, {fewer} reduced");
}

#[test]
fn names_of_threads_do_not_matter() {
    let count = 2 * seeds();
    let (judged, fewer) = hold(replicas, Reduction::Symmetry, count);
    assert!(judged * 2 > count as usize && fewer * 4 > judged, "{judged} of {count} judged, {fewer} reduced");
}

#[test]
fn both_together() {
    let count = 2 * seeds();
    let (judged, fewer) = hold(replicas, Reduction::All, count);
    assert!(judged * 2 > count as usize && fewer * 2 > judged, "{judged} of {count} judged, {fewer} reduced");
}

/// The random program of a seed in which, besides, threads count on.
fn counting(seed: u64) -> Sketch {
    let mut sketch = waiting(seed);
    let mut rng = Rng::with_seed(seed);
    let variables = sketch.variables.len();
    for draft in &mut sketch.threads {
        let register = RegId::new(draft.registers);
        draft.registers += 1;
        let more = Expr::binary(program::Arith::Add, Expr::Leaf(register), 1);
        let variable = VarId::new(rng.usize(..variables));
        let counts = [
            Op::Load(register, variable),
            Op::Assign(register, more),
            Op::Store(variable, Expr::Leaf(register)),
        ];
        let at = rng.usize(..=draft.body.len());
        draft.body.splice(at..at, counts.map(Stmt::Do));
    }
    sketch
}

/// Threads may go ahead where only the order of values is known, too.
#[test]
fn kinds_of_states_may_go_ahead() {
    for (sketch, reduction) in [(counting as fn(u64) -> Sketch, Reduction::Local), (replicas, Reduction::All)]
    {
        let count = seeds();
        let (judged, fewer) = hold_by(&GapProofs, sketch, reduction, count);
        println!("{judged} of {count} judged, {fewer} reduced");
        assert!(judged * 4 > count as usize && fewer * 2 > judged, "{judged} of {count}, {fewer} reduced");
    }
}

/// Swaps are found where threads are replicas, values that are names among them.
#[test]
fn replicas_are_found() {
    let (mut swapped, mut named) = (0, 0);
    for seed in 0..seeds() {
        let program = replicas(seed).build();
        let swaps = thread_swaps(&program);
        swapped += usize::from(!swaps.is_empty());
        named += usize::from(swaps.iter().any(|swap| swap.in_memory.iter().any(|names| !names.is_empty())));
    }
    let all = seeds() as usize;
    assert!(swapped * 2 > all && named * 6 > all, "of {all}, {swapped} have swaps, {named} of names");
}

/// Every part of a renaming counts: with one changed, it does not preserve the program, or it is the identity again.
#[test]
fn a_changed_renaming_is_refused() {
    let mut refused = 0;
    for seed in 0..seeds() {
        let program = replicas(seed).build();
        for swap in thread_swaps(&program) {
            let mut rng = Rng::with_seed(seed);
            let mut changed = swap.clone();
            match rng.u8(..4) {
                0 => changed.threads.swap(0, 1),
                1 => {
                    let (a, b) = (rng.usize(..changed.variables.len()), rng.usize(..changed.variables.len()));
                    changed.variables.swap(a, b);
                }
                2 => {
                    let locs = &mut changed.threads[0].1;
                    let (a, b) = (rng.usize(..locs.len()), rng.usize(..locs.len()));
                    locs.swap(a, b);
                }
                _ => {
                    let at = rng.usize(..changed.in_memory.len());
                    changed.in_memory[at].insert(1.into(), 7.into());
                }
            }
            if changed != swap && !changed.preserves(&program) {
                refused += 1;
            }
        }
    }
    assert!(refused > seeds() as usize / 2, "{refused}");
}

/// A proof from which a state is missing is none.
#[test]
fn a_missing_state_is_noticed() {
    let mut noticed = 0;
    for seed in 0..seeds() / 2 {
        let program = replicas(seed).build();
        let model = MODELS[seed as usize % MODELS.len()];
        let reduction = [
            Reduction::Local,
            Reduction::Persistent,
            Reduction::Dynamic,
            Reduction::Cartesian,
            Reduction::All,
        ];
        let engine: &dyn Engine = if seed % 6 == 0 { &GapProofs } else { &Explicit };
        let answer = explore_by(engine, &program, model, reduction[seed as usize % reduction.len()]);
        let Verdict::Safe(Certificate::Reduced(proof)) = answer.verdict else { continue };
        let ReducedProof { forgotten, gaps, rules, renamings, set } = *proof;
        let left_out = Rng::with_seed(seed).usize(..set.states.len());
        let mut states = machine::StateSet::new();
        for (at, state) in set.states.iter().enumerate() {
            if at != left_out {
                states.insert(state, None).expect("room");
            }
        }
        let set = evidence::ClosedSet { controls: set.controls, states };
        let proof = Certificate::Reduced(Box::new(ReducedProof { forgotten, gaps, rules, renamings, set }));
        assert!(check(&Task::safe(&program, model), Verdict::Safe(proof), &Ignore).is_err(), "seed {seed}");
        noticed += 1;
    }
    assert!(noticed > 10, "{noticed}");
}

/// A proof of another claim does not prove this one: what claims look at must not be left out, and renamings must
/// keep them. Written to a file and read back, a proof is what it was.
#[test]
fn a_proof_is_about_the_claims() {
    let (mut refused, mut kept) = (0, 0);
    for seed in 0..2 * seeds() {
        let model = MODELS[seed as usize % MODELS.len()];
        let sketch = if seed % 2 == 0 { replicas(seed) } else { waiting(seed) };
        let program = sketch.build();
        let mut unclaimed = program.clone();
        unclaimed.properties.clear();
        let reduction = if seed % 4 < 2 { Reduction::All } else { Reduction::Cartesian };
        let answer = explore(&unclaimed, model, reduction);
        let Verdict::Safe(certificate @ Certificate::Reduced(_)) = answer.verdict else { continue };
        let verdict = Verdict::Safe(certificate);
        for form in [Form::Text, Form::Json] {
            let mut file = Vec::new();
            write_evidence(&Task::safe(&unclaimed, model), &verdict, form, &mut file).expect("writable");
            let open = || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(Cursor::new(file.clone()))) };
            let found = check_file(&unclaimed, &open, 1 << 24, &Ignore);
            assert!(
                found.is_ok(),
                "seed {seed}: {}",
                found.err().map(|why| why.to_string()).unwrap_or_default()
            );
        }
        let safe = match explore(&program, model, Reduction::None).verdict {
            Verdict::Safe(_) => true,
            Verdict::Unsafe(_) => false,
            _ => continue,
        };
        let accepted = check(&Task::safe(&program, model), verdict, &Ignore).is_ok();
        assert!(safe || !accepted, "seed {seed}: {}", program::print(&program));
        refused += usize::from(!safe);
        kept += usize::from(accepted);
    }
    assert!(refused > 20 && kept > 20, "{refused} refused, {kept} accepted");
}

/// A random program whose threads have variables of their own, or one of replicas.
fn scattered_or_replicas(seed: u64) -> Sketch {
    if seed.is_multiple_of(2) { stubborn::scattered(seed) } else { replicas(seed) }
}

fn text(file: &str, n: i64) -> Program {
    let path = support::root().join("corpus").join(file);
    let source = program::Source::new(file, std::fs::read_to_string(path).expect("the corpus has it"));
    let options = frontend::Options { defines: vec![("N".to_string(), n.into())], ..Default::default() };
    (frontend::choose(None, file, "").expect("a language").read)(source, &options).expect("right").program
}

/// Queue locks are symmetric, and so are tickets of any size; a fixed order of looking around is not.
#[test]
fn locks_of_the_corpus() {
    let swaps = [
        ("mcs_lock.fw", 2),
        ("clh_lock.fw", 2),
        ("sense_barrier.fw", 2),
        ("ticket_lock.fw", 2),
        ("lamport_fast_fenced.fw", 0),
        ("bakery_bounded_fenced.fw", 0),
    ];
    for (file, expected) in swaps {
        assert_eq!(thread_swaps(&text(file, 3)).len(), expected, "{file}");
    }
    let program = text("ticket_lock.fw", 3);
    let task = Task::safe(&program, MODELS[1]);
    let kinds = |reduction| {
        let answer = GapProofs.verify(&task, &Run { reduction, ..Run::default() });
        check(&task, answer.verdict, &Ignore).expect("it holds").holds().expect("it is known");
        answer.statistics.states
    };
    let (all, left) = (kinds(Reduction::None), kinds(Reduction::Symmetry));
    assert!(left * 3 < all, "{left} of {all}");
}

/// Up to names of threads, too, all states of a proof by order are normal forms: what is not may be too large to compute with.
#[test]
fn kinds_up_to_names_are_normal_forms() {
    let program = text("ticket_lock.fw", 2);
    let task = Task::safe(&program, MODELS[1]);
    let checked = |value: Option<i64>| {
        let answer = GapProofs.verify(&task, &Run { reduction: Reduction::Symmetry, ..Run::default() });
        let Verdict::Safe(Certificate::Reduced(mut proof)) = answer.verdict else {
            panic!("a reduced proof")
        };
        assert!(!proof.renamings.is_empty());
        let mut state = machine::State::default();
        let first = proof.set.states.iter().next().expect("a state").to_vec();
        state.unpack(program.threads.len(), &first).expect("packed");
        if let Some(value) = value {
            let mut packed = Vec::new();
            state.values[0] = value;
            state.pack(&mut packed);
            proof.set.states.insert(&packed, None).expect("room");
        }
        check(&task, Verdict::Safe(Certificate::Reduced(proof)), &Ignore).is_ok()
    };
    assert!(checked(None));
    assert!([1 << 40, i64::MAX - 1, i64::MIN].iter().all(|value| !checked(Some(*value))));
}

/// A thread that waits may get stuck at one of its looks, by dividing by zero, and then it does matter at which
/// it waits.
#[test]
fn who_may_get_stuck_while_waiting_does_not_settle() {
    let text = "shared x = 1, y;
        thread P { let r, q; loop {
            r = x; unchecked r = 5 / r; if (r == 99) { break; }
            q = y; if (q == 1) { break; }
        } out: skip; }
        thread Q { atomic { x = 0; y = 1; } }
        never P@out;";
    let program = read(text);
    for model in MODELS {
        let task = Task::safe(&program, *model);
        let run = Run { reduction: Reduction::All, ..Run::default() };
        assert_eq!(Explicit.verify(&task, &run).verdict.word(), "unsafe", "{}", model.name());
    }
}

/// What a reduced proof calls vacuous a plain one does.
#[test]
fn nothing_is_called_vacuous_because_it_was_left_out() {
    let text = "shared x, y;
        thread P(i in 0..2) { let r = 1; r = r + 1; assert r == 2; x = 1; r = 3; assert r == 3; y = r; }
        finally x != 5;";
    let program = read(text);
    for model in MODELS {
        let vacuous = |reduction| {
            let Verdict::Safe(certificate) = explore(&program, *model, reduction).verdict else {
                panic!("safe")
            };
            evidence::vacuous(&Task::safe(&program, *model), &certificate, &Ignore).expect("not stopped")
        };
        let plain = vacuous(Reduction::None);
        let reductions = Reduction::ALL.iter().map(|(reduction, ..)| *reduction);
        for reduction in reductions {
            assert!(vacuous(reduction).iter().all(|claim| plain.contains(claim)), "{reduction:?}");
        }
    }
}

/// A thread that goes ahead fills its buffer at once; by itself that must not end a search that has time.
#[test]
fn buffers_that_fill_sooner_do_not_end_the_search() {
    let program = read("shared x; thread P { loop { x = x + 1; } } never x == 0 - 1;");
    let task = Task::safe(&program, MODELS[1]);
    let reasons = |reduction| {
        let run = Run { monitor: &MostStates(300_000), reduction, ..Run::default() };
        match Explicit.verify(&task, &run).verdict {
            Verdict::Unknown(reasons) => reasons,
            other => panic!("{other:?}"),
        }
    };
    assert!(matches!(reasons(Reduction::Local)[..], [Reason::BuffersBeyond(_)]));
    assert_eq!(reasons(Reduction::Auto), [Reason::Stopped(Stop::States)]);
}

fn read(text: &str) -> Program {
    let source = program::Source::new("test.fw", text);
    let language = frontend::choose(None, "test.fw", text).expect("a language");
    (language.read)(source, &frontend::Options::default()).expect("right").program
}
