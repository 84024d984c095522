//! A few agents are enough in every state: against plain searches, for claims of every kind.

use super::{Law, compare, explore, hold, read, text, waiting};
use engine::{Engine, Explicit, Reduction, Run};
use evidence::{Certificate, Ignore, Task, Verdict, check};
use fastrand::Rng;
use machine::{Acting, MODELS};
use program::{Op, Program, Property, PropertyKind, Span, VarId, Variable};
use std::cell::RefCell;
use support::random::{Sketch, seeds};

/// The random program of a seed in which threads have variables of their own, and use some of all as well.
pub(super) fn scattered(seed: u64) -> Sketch {
    let mut sketch = waiting(seed);
    let shared = sketch.variables.len();
    let own = ["o0", "o1", "o2", "o3"];
    sketch.variables.extend(own.map(|name| Variable::new(name, Span::NONE)));
    let rng = RefCell::new(Rng::with_seed(seed));
    for thread in 0..sketch.threads.len() {
        let moved = |variable: &VarId| match rng.borrow_mut().u8(..3) {
            0 => *variable,
            _ => VarId::new(shared + thread % own.len()),
        };
        let mapped = sketch.map_ops(&|op| match op {
            Op::Load(register, variable) => Op::Load(*register, moved(variable)),
            Op::Store(variable, value) => Op::Store(moved(variable), value.clone()),
            other => other.clone(),
        });
        sketch.threads[thread] = mapped.threads[thread].clone();
    }
    sketch
}

#[test]
fn few_agents_are_enough() {
    for reduction in [Reduction::Persistent, Reduction::Dynamic, Reduction::All] {
        let count = 2 * seeds();
        let (judged, fewer) = hold(scattered, reduction, count);
        let enough = judged * 2 > count as usize && fewer * 2 > judged;
        assert!(enough, "{reduction:?}: {judged} of {count} judged, {fewer} reduced");
    }
}

/// A program that is never to be deadlocked, besides what else it claims.
pub(super) fn deadlocking(seed: u64) -> Program {
    let mut program = scattered(seed).build();
    let cond = program.deadlock();
    program.properties.push(Property { kind: PropertyKind::Never, cond, span: Span::NONE, text: None });
    program
}

#[test]
fn no_deadlock_is_lost() {
    let (mut judged, mut fewer) = (0, 0);
    for seed in 0..2 * seeds() {
        let program = deadlocking(seed);
        let model = MODELS[seed as usize % MODELS.len()];
        let reduction = if seed % 2 == 0 { Reduction::Persistent } else { Reduction::Dynamic };
        match compare(&program, model, reduction) {
            Law::Open => {}
            Law::Holds { all, left } => {
                judged += 1;
                fewer += usize::from(left < all);
            }
            Law::Broken(why) => panic!("seed {seed}: {why}\n{}", program::print(&program)),
        }
    }
    assert!(judged > 100 && fewer * 4 > judged, "{judged} judged, {fewer} reduced");
}

/// Who claims that everybody has acted where only a few have is refused, unless that makes no difference.
#[test]
fn a_proof_says_who_acts() {
    let (mut refused, mut judged) = (0, 0);
    for seed in 0..seeds() {
        let program = scattered(seed).build();
        let model = MODELS[seed as usize % MODELS.len()];
        let Verdict::Safe(Certificate::Reduced(mut proof)) =
            explore(&program, model, Reduction::Dynamic).verdict
        else {
            continue;
        };
        judged += 1;
        let plain = explore(&program, model, Reduction::None);
        let same = plain.statistics.states == proof.set.states.len();
        proof.rules.acting = Acting::Everybody;
        let verdict = Verdict::Safe(Certificate::Reduced(proof));
        let accepted = check(&Task::safe(&program, model), verdict, &Ignore).is_ok();
        assert!(!accepted || same, "seed {seed}");
        refused += usize::from(!accepted);
    }
    assert!(refused * 4 > judged && judged > 20, "{refused} of {judged}");
}

/// Which cell of a table a thread takes is known by its values only: threads that meet in no cell go one after the other.
#[test]
fn values_tell_cells_apart() {
    let states = |file: &str, n: i64, reduction| {
        let program = text(file, n);
        let task = Task::safe(&program, MODELS[0]);
        let answer = Explicit.verify(&task, &Run { reduction, ..Run::default() });
        let states = answer.statistics.states;
        check(&task, answer.verdict, &Ignore).expect("it holds").holds().expect("it is known");
        states
    };
    assert_eq!(states("indexer.fw", 2, Reduction::None), 35 * 35);
    assert_eq!([2, 4, 8].map(|n| states("indexer.fw", n, Reduction::Dynamic)), [69, 137, 273]);
    assert_eq!([2, 4, 8].map(|n| states("indexer.fw", n, Reduction::All)), [9, 17, 33]);
    assert_eq!([2, 4, 8].map(|n| states("indexer.fw", n, Reduction::Cartesian)), [11, 21, 41]);
    // From twelve on some threads meet, and pairs of those are looked at together.
    assert_eq!([12, 15].map(|n| states("indexer.fw", n, Reduction::All)), [58, 97]);
}

/// A small table, in which threads meet often, one of them before it runs full.
fn crowded(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    let [size, step, offset, most] = [rng.usize(3..7), rng.usize(1..4), rng.usize(1..3), rng.usize(1..3)];
    let threads = rng.usize(2..4);
    read(&format!(
        "const N = {threads}; const SIZE = {size};
        shared table[SIZE];
        thread P(i in 0..N) {{
            let m, h, tries;
            while (m < {most}) {{
                m = m + 1;
                h = (m * {step} + i * {offset}) % SIZE;
                tries = 0;
                while (cas(table[h], 0, i + 1) == 0) {{
                    h = (h + 1) % SIZE;
                    tries = tries + 1;
                    if (tries == {tries}) {{ goto full; }}
                }}
            }}
            goto end;
            full: skip;
            end: skip;
        }}
        for i in 0..N {{ never P[i]@full; }}",
        tries = rng.usize(1..4),
    ))
}

/// Threads that meet in cells which only their values tell.
#[test]
fn those_who_meet_are_looked_at_together() {
    let (mut safe, mut violated, mut fewer) = (0, 0, 0u64);
    for seed in 0..seeds() / 4 {
        let program = crowded(seed);
        let model = MODELS[seed as usize % MODELS.len()];
        match compare(&program, model, Reduction::Dynamic) {
            Law::Open => {}
            Law::Holds { all, left } => {
                let is_safe = matches!(explore(&program, model, Reduction::None).verdict, Verdict::Safe(_));
                safe += u64::from(is_safe);
                violated += u64::from(!is_safe);
                fewer += u64::from(left < all);
            }
            Law::Broken(why) => panic!("seed {seed}: {why}\n{}", program::print(&program)),
        }
    }
    println!("{safe} safe, {violated} violated, {fewer} with fewer states");
    let judged = safe + violated;
    assert!(judged * 8 > seeds() && safe * 4 > judged && violated * 8 > judged && fewer * 2 > judged);
}

/// What is lost if a thread that waits without looking counts as one that looks at one variable of its loop only; and if
/// what a thread does after it has seen a value of another does not count.
#[test]
fn who_waits_and_who_sees_later_count() {
    let texts = [
        "shared a, b, z;
         thread T { let r; loop { r = a; if (r == 1) { break; } r = b; if (r == 1) { break; } }
             r = z; if (r == 0) { bad: skip; } }
         thread S { z = 1; } thread W { b = 1; } never T@bad;",
        "shared x, y;
         thread P { x = 1; }
         thread Q { let r; r = x; if (r == 1) { y = 1; } }
         thread R { let s; s = y; if (s == 1) { bad: skip; } } never R@bad;",
    ];
    for (program, model) in texts.iter().flat_map(|text| MODELS.iter().map(|model| (read(text), *model))) {
        for (reduction, name, _) in Reduction::ALL {
            let answer = explore(&program, model, *reduction);
            assert_eq!(answer.verdict.word(), "unsafe", "{name} under {}", model.name());
        }
    }
}
