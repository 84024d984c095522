//! The engine against enumeration, on random programs.

use super::looks::{has_loop, is_robust};
use super::programs::robust;
use super::random::{Sketch, chain_sketch, minimise, seeds, sketch};
use evidence::{Ignore, Verdict, Witness};
use std::collections::BTreeSet;

/// How many programs got which answer, from the engine and from enumeration alike.
#[derive(Debug, Default)]
struct Tally {
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

/// Whether the engine answers as enumeration does, with the threads of the chain where a
/// program is not robust; nothing for programs that are too large.
fn agrees(sketch: &Sketch) -> Option<Result<Option<usize>, String>> {
    let program = sketch.build();
    if program.threads.iter().any(|thread| has_loop(thread) || thread.edges().len() > 12) {
        return None;
    }
    let expected = is_robust(&program)?;
    Some(match robust(&program, &Ignore).checked.verdict() {
        Verdict::Robust(_) if expected => Ok(None),
        Verdict::NotRobust(witness) if !expected => Ok(Some(helpers(witness))),
        other => Err(format!("robust by enumeration: {expected}, by the engine: {other:?}")),
    })
}

fn helpers(witness: &Witness) -> usize {
    let threads = witness.chain().map(|at| witness.steps[at].event.thread());
    threads.collect::<BTreeSet<_>>().len()
}

fn compare(seeds: u64, sketch: fn(u64) -> Sketch) -> Tally {
    let mut tally = Tally::default();
    for seed in 0..seeds {
        match agrees(&sketch(seed)) {
            None => tally.skipped += 1,
            Some(Ok(None)) => tally.robust += 1,
            Some(Ok(Some(helpers))) => tally.not[helpers.min(3) - 1] += 1,
            Some(Err(_)) => {
                let small = minimise(sketch(seed), &mut |sketch| matches!(agrees(sketch), Some(Err(_))));
                let why = agrees(&small).and_then(Result::err).unwrap_or_default();
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
    let tally = compare(seeds, sketch);
    let share = |part: usize, of: usize| part as u64 * of as u64 > seeds;
    assert!(share(tally.robust, 5) && share(tally.not(), 20), "{tally:?} of {seeds}");
}

#[test]
fn agrees_on_chains_through_several_threads() {
    let tally = compare(seeds(), chain_sketch);
    assert!(tally.judged() > tally.skipped * 4, "too many are too large: {tally:?}");
    assert!(tally.robust * 4 > tally.judged() && tally.not() * 4 > tally.judged(), "{tally:?}");
    let several = tally.not[1] + tally.not[2];
    assert!(several * 10 > tally.judged(), "chains through several threads: {tally:?}");
}
