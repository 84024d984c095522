//! Claims about what is on its way to memory (`empty(P)`), and `deadlock`: engines against the reference interpreter,
//! and what a deadlock is against what runs do.

use support::models::models;
use support::random::{seeds, sketch};

use engine::{ENGINES, Run};
use evidence::{Ignore, MostStates, Task, Verdict, check};
use program::{Cond, Int, Place, Program, Property, PropertyKind, Relation, Span, ThreadId};
use reference::{Config, Reached, ReferenceLimits, ReferenceModel};
use std::collections::BTreeSet;

const CAP: usize = 2;
const MOST_CONFIGS: usize = 2_000;

fn reach(program: &Program, model: ReferenceModel) -> Option<Reached> {
    let limits = ReferenceLimits { queue: CAP, configs: MOST_CONFIGS, candidates: Vec::new() };
    let reached = reference::explore(program, model, &limits);
    (!reached.truncated).then_some(reached)
}

fn never(cond: Cond<Place>) -> Property {
    Property { kind: PropertyKind::Never, cond, span: Span::NONE, text: None }
}

/// A random program with a claim about buffers instead of its own, of one form after the other.
fn claiming(seed: u64) -> Program {
    let mut program = sketch(seed).build();
    let last = ThreadId::new(program.threads.len() - 1);
    let (first, value) = (ThreadId::new(0), Int::from(seed / 5 % 3));
    let own = program.properties.first().map_or(Cond::TRUE, |property| property.cond.clone());
    let memory = || {
        let variable = program.variable_ids().next().map(Place::Memory);
        variable.map_or(Cond::TRUE, |place| Cond::compare(Relation::Eq, place, value.clone()))
    };
    let cond = match seed % 5 {
        0 => Cond::and([Cond::drained(first).negate(), Cond::drained(last)]),
        1 => Cond::and([Cond::drained(last).negate(), memory()]),
        2 => Cond::and(program.thread_ids().map(Cond::drained).chain([memory(), own]).collect::<Vec<_>>()),
        3 => Cond::and([Cond::drained(first).negate(), own]),
        _ => program.deadlock(),
    };
    program.properties = vec![never(cond)];
    program
}

#[test]
fn engines_agree_with_the_reference_about_buffers() {
    let (mut decided, mut asked, count) = (0, 0, seeds() / 3);
    for seed in 0..count {
        let program = claiming(seed);
        for (model, independent) in models() {
            let Some(expected) = reach(&program, independent) else { continue };
            let (bad, capped) = (!expected.violations.is_empty(), expected.cap_hit);
            for engine in ENGINES {
                let task = Task::safe(&program, model);
                let run = Run { monitor: &MostStates(20_000), max_buffer: Some(CAP), ..Run::default() };
                let answer = engine.verify(&task, &run);
                let checked = check(&task, answer.verdict, &Ignore);
                let at = format!("{} by seed {seed} under {}", engine.name(), model.name());
                let checked =
                    checked.unwrap_or_else(|why| panic!("{at}: {why}\n{}", program::print(&program)));
                let right = match checked.verdict() {
                    Verdict::Unsafe(_) => bad || capped,
                    Verdict::Safe(_) => !bad,
                    _ => true,
                };
                assert!(right, "{at}: {}\n{}", checked.verdict().word(), program::print(&program));
                asked += usize::from(engine.name() == "portfolio");
                decided += usize::from(engine.name() == "portfolio" && checked.holds().is_some());
            }
        }
    }
    assert!(decided * 4 > asked * 3 && asked > count as usize, "{decided} of {asked} were decided");
}

/// Everything that follows a configuration, unless that is much.
fn following(program: &Program, model: ReferenceModel, config: &Config) -> Option<BTreeSet<Config>> {
    let mut found = BTreeSet::from([config.clone()]);
    let mut work = vec![config.clone()];
    while let Some(now) = work.pop() {
        for (_, next) in reference::successors(program, model, &now, &[]) {
            if found.len() > 100 {
                return None;
            }
            if found.insert(next.clone()) {
                work.push(next);
            }
        }
    }
    Some(found)
}

/// Which threads have ended.
fn ended(program: &Program, config: &Config) -> Vec<bool> {
    program.thread_ids().map(|t| program.thread(t).is_end(config.locs[t.index()])).collect()
}

fn failed(program: &Program, config: &Config) -> bool {
    let fails = |t: ThreadId| program.thread(t).location(config.locs[t.index()]).failure.is_some();
    program.thread_ids().any(fails)
}

#[test]
fn a_deadlock_is_what_nothing_ever_leaves() {
    let (mut deadlocks, mut stuck) = (0, 0);
    for seed in 0..seeds() {
        let program = sketch(seed).build();
        let deadlock = program.deadlock();
        for (model, independent) in models() {
            let Some(reached) = reach(&program, independent) else { continue };
            for config in reached.configs.iter().filter(|config| config.holder.is_none()) {
                let shown = || format!("seed {seed} under {}\n{}", model.name(), program::print(&program));
                let holds = deadlock.eval(&|place| config.place(place)) == Ok(true);
                if holds && let Some(after) = following(&program, independent, config) {
                    deadlocks += 1;
                    let still = |later: &Config| {
                        let same = later.memory == config.memory && later.is_drained();
                        same && ended(&program, later) == ended(&program, config) && !failed(&program, later)
                    };
                    assert!(after.iter().all(still), "it goes on: {}", shown());
                }
                // Who cannot take a step at all is deadlocked, unless it is done or has failed.
                let done = config.is_final(&program) || failed(&program, config);
                if !done && reference::successors(&program, independent, config, &[]).is_empty() {
                    stuck += 1;
                    assert!(holds, "it is stuck: {}", shown());
                }
            }
        }
    }
    assert!(deadlocks > 20 && stuck > 10, "{deadlocks} deadlocks, {stuck} stuck");
}
