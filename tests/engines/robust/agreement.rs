//! The engine against enumeration, on random programs.

use super::looks::{has_loop, is_robust};
use super::programs::robust;
use super::random::{Sketch, chain_sketch, minimise, overtaking_sketch, seeds, sketch};
use evidence::{Ignore, Verdict, Witness};
use machine::{Event, Model, PSO, TSO};
use std::collections::BTreeSet;

/// How many programs got which answer, from the engine and from enumeration alike.
#[derive(Debug, Default)]
struct Tally {
    /// How many witnesses have a store that overtakes, and several threads that delay.
    overtaking: usize,
    several: usize,
    robust: usize,
    /// Not robust, by how many threads the chain passes through.
    not: [usize; 3],
    /// Too large to be judged.
    skipped: usize,
}

impl Tally {
    fn not(&self) -> usize {
        self.not.iter().sum()
    }

    fn judged(&self) -> usize {
        self.robust + self.not()
    }
}

/// Whether the engine answers as enumeration does, with the witness where a
/// program is not robust; nothing for programs that are too large.
fn agrees(sketch: &Sketch, model: Model) -> Option<Result<Option<Witness>, String>> {
    let program = sketch.build();
    if program.threads.iter().any(|thread| has_loop(thread) || thread.edges().len() > 12) {
        return None;
    }
    let expected = is_robust(&program, model)?;
    Some(match robust(&program, model, &Ignore).checked.verdict() {
        Verdict::Robust(_) if expected => Ok(None),
        Verdict::NotRobust(witness) if !expected => Ok(Some(witness.clone())),
        other => Err(format!("robust by enumeration: {expected}, by the engine: {other:?}")),
    })
}

fn helpers(witness: &Witness) -> usize {
    let threads = witness.chain().map(|at| witness.steps[at].event.thread());
    threads.collect::<BTreeSet<_>>().len()
}

/// The threads whose stores are still buffered when the delayed one is drained.
fn delaying(witness: &Witness) -> usize {
    let drains = witness.steps[witness.drain..].iter().map(|step| step.event.thread());
    drains.collect::<BTreeSet<_>>().len()
}

fn compare(seeds: u64, model: Model, sketch: fn(u64) -> Sketch) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..seeds {
        match agrees(&sketch(seed), model) {
            None => tally.skipped += 1,
            Some(Ok(None)) => tally.robust += 1,
            Some(Ok(Some(witness))) => {
                tally.not[helpers(&witness).min(3) - 1] += 1;
                let behind = witness.steps.get(witness.overtaker + 1).map(|step| step.event);
                tally.overtaking += usize::from(matches!(behind, Some(Event::Drain { .. })));
                tally.several += usize::from(delaying(&witness) > 1);
            }
            Some(Err(_)) => {
                let small =
                    minimise(sketch(seed), &mut |sketch| matches!(agrees(sketch, model), Some(Err(_))));
                let why = agrees(&small, model).and_then(Result::err).unwrap_or_default();
                panic!("broken by seed {seed}: {why}\n{}", program::print(&small.build()));
            }
        }
    }
    println!("{tally:?}");
    tally
}

#[test]
fn agrees_with_enumerating_all_runs() {
    let seeds = seeds();
    let tally = compare(seeds, TSO, sketch);
    let share = |part: usize, of: usize| part as u64 * of as u64 > seeds;
    assert!(share(tally.robust, 5) && share(tally.not(), 20), "{tally:?} of {seeds}");
}

#[test]
fn agrees_on_chains_through_several_threads() {
    let tally = compare(seeds(), TSO, chain_sketch);
    assert!(tally.judged() > tally.skipped * 4, "too many are too large: {tally:?}");
    assert!(tally.robust * 4 > tally.judged() && tally.not() * 4 > tally.judged(), "{tally:?}");
    let several = tally.not[1] + tally.not[2];
    assert!(several * 10 > tally.judged(), "chains through several threads: {tally:?}");
}

#[test]
fn agrees_with_enumerating_all_runs_against_pso() {
    let seeds = seeds();
    let tally = compare(seeds, PSO, sketch);
    let share = |part: usize, of: usize| part as u64 * of as u64 > seeds;
    assert!(share(tally.robust, 10) && share(tally.not(), 10), "{tally:?} of {seeds}");
    assert!(tally.overtaking * 10 > tally.not(), "stores that overtake: {tally:?}");
}

#[test]
fn agrees_on_chains_against_pso() {
    let tally = compare(seeds(), PSO, chain_sketch);
    assert!(tally.robust * 4 > tally.judged() && tally.not() * 4 > tally.judged(), "{tally:?}");
}

#[test]
fn agrees_where_several_threads_have_to_delay() {
    let tally = compare(seeds(), PSO, overtaking_sketch);
    assert!(tally.judged() > tally.skipped * 4, "too many are too large: {tally:?}");
    assert!(tally.robust * 5 > tally.judged() && tally.not() * 5 > tally.judged(), "{tally:?}");
    assert!(tally.several * 20 > tally.judged(), "several delay: {tally:?}");
}
