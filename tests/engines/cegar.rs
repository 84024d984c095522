//! The engine `cegar` against `explicit` on random programs with finite data: whenever both
//! answer they agree, with every way to make the abstraction, and all evidence is checked.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use support::random;

use engine::{Abstraction, Cegar, Engine, Explicit, Run};
use evidence::{Ignore, MostStates, Task, check};
use machine::{Forgotten, Keep, MODELS, Model};
use random::{Sketch, linear, minimise, seeds};
use std::collections::BTreeMap;

/// Predicates that never suffice end here.
const MOST_ABSTRACT: usize = 2_000;
const MOST_EXACT: usize = 20_000;
/// Longer buffers are taken to grow without end by `explicit`.
const CAP: usize = 3;

fn program(seed: u64) -> Sketch {
    random::sketch(seed).map_values(&linear)
}

/// All ways to make the abstraction, by number.
fn abstraction(number: u64) -> Abstraction {
    Abstraction {
        keep: if number & 1 == 0 { Keep::Newest } else { Keep::Oldest },
        reduce: number & 2 == 0,
        forgotten: [Forgotten::Pools, Forgotten::Pairs, Forgotten::Anything][number as usize / 4 % 3],
    }
}

/// What `cegar` and `explicit` say; an error if evidence does not hold or they contradict.
fn compare(
    sketch: &Sketch,
    model: Model,
    abstraction: Abstraction,
) -> Result<(&'static str, &'static str), String> {
    let program = sketch.build();
    let task = Task::safe(&program, model);
    let run = Run { monitor: &MostStates(MOST_ABSTRACT), abstraction, ..Run::default() };
    let proved = check(&task, Cegar.verify(&task, &run).verdict, &Ignore).map_err(|why| why.to_string())?;
    let run = Run { monitor: &MostStates(MOST_EXACT), max_buffer: Some(CAP), ..Run::default() };
    let explored =
        check(&task, Explicit.verify(&task, &run).verdict, &Ignore).map_err(|why| why.to_string())?;
    let both = (proved.verdict().word(), explored.verdict().word());
    match both {
        ("safe", "unsafe") | ("unsafe", "safe") => Err(format!("{both:?}")),
        _ => Ok(both),
    }
}

#[test]
fn cegar_never_contradicts_explicit_and_nearly_always_answers() {
    let mut counts: BTreeMap<(&str, &str), u64> = BTreeMap::new();
    for seed in 0..seeds() {
        for (at, model) in MODELS.iter().copied().enumerate() {
            // Every model meets every abstraction.
            let how = abstraction((seed + at as u64) % 12);
            match compare(&program(seed), model, how) {
                Ok(both) => *counts.entry(both).or_default() += 1,
                Err(_) => {
                    let fails = &mut |sketch: &Sketch| compare(sketch, model, how).is_err();
                    let small = minimise(program(seed), fails);
                    let why = compare(&small, model, how).err().unwrap_or_default();
                    let name = model.name();
                    panic!("seed {seed} {name} {how:?}: {why}\n{}", program::print(&small.build()));
                }
            }
        }
    }
    let count = |which: &dyn Fn(&str, &str) -> bool| -> u64 {
        counts.iter().filter(|((a, b), _)| which(a, b)).map(|(_, count)| count).sum()
    };
    let all = count(&|_, _| true);
    assert!(count(&|cegar, _| cegar == "unknown") * 50 < all, "cegar does not answer: {counts:?}");
    assert!(count(&|cegar, exact| cegar == "safe" && exact == "safe") * 8 > all, "{counts:?}");
    assert!(count(&|cegar, exact| cegar == "unsafe" && exact == "unsafe") * 2 > all, "{counts:?}");
    // Buffers that grow without end are where the abstraction earns its keep.
    assert!(count(&|cegar, exact| cegar == "safe" && exact == "unknown") * 50 > all, "{counts:?}");
    println!("{counts:?}");
}
