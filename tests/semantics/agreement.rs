//! The machines against the independent reference interpreter, on random programs: the same
//! states, the same violations, the same final states, for every model and every reduction.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use support::random;

use engine::{Answer, Engine, Explicit, FinalStates, GapProofs, Order, Reduction, Run};
use evidence::{Ignore, Task, Verdict, check};
use machine::{Buffered, Configuration, Entry, Machine, Model, State, StateSet, Stepper, TSO, Violation};
use program::{Cond, Int, Loc, Place, Program, Quantifier, Question, RegId, Span, ThreadId, VarId};
use random::{Sketch, minimise, seeds, sketch};
use reference::{Config, Reached, ReferenceLimits};
use std::collections::BTreeSet;
use support::models::models;

const CAP: usize = 2;
const MOST_CONFIGS: usize = 3_000;

/// Checks a law on many programs and shows the smallest that breaks it. A law says nothing
/// where exploring would take too long.
fn for_all(law: impl Fn(&Sketch) -> Option<Result<(), String>>) {
    let (mut judged, count) = (0, seeds());
    for seed in 0..count {
        match law(&sketch(seed)) {
            None => {}
            Some(Ok(())) => judged += 1,
            Some(Err(_)) => {
                let small = minimise(sketch(seed), &mut |sketch| matches!(law(sketch), Some(Err(_))));
                let why = law(&small).and_then(Result::err).unwrap_or_default();
                panic!("broken by seed {seed}: {why}\n{}", program::print(&small.build()));
            }
        }
    }
    assert!(judged * 2 > count, "only {judged} of {count} programs were judged");
}

fn reach(program: &Program, model: reference::ReferenceModel) -> Option<Reached> {
    let limits = ReferenceLimits { queue: CAP, configs: MOST_CONFIGS, candidates: Vec::new() };
    let reached = reference::explore(program, model, &limits);
    (!reached.truncated).then_some(reached)
}

/// A configuration in a form both sides can be brought into: locations, registers, memory, the
/// lock's holder, and every thread's buffer with `None` for a store fence.
type View = (Vec<Loc>, Vec<Vec<Int>>, Vec<Int>, Option<ThreadId>, Vec<Vec<Option<(VarId, Int)>>>);

fn view_of_reference(config: &Config) -> View {
    let buffer = |buffers: &reference::ReferenceBuffers| {
        let mut pending: Vec<_> = buffers.queues.iter().flatten().collect();
        // Stable: entries of one variable stay in order; a TSO queue is one epoch and unsorted.
        if buffers.queues.len() > 1 {
            pending.sort_by_key(|p| (p.epoch, p.variable));
        }
        let mut entries = Vec::new();
        let mut epoch = pending.first().map_or(0, |p| p.epoch);
        for store in &pending {
            if store.epoch != epoch {
                entries.push(None);
                epoch = store.epoch;
            }
            entries.push(Some((store.variable, store.value.clone())));
        }
        if !pending.is_empty() && buffers.epoch > epoch {
            entries.push(None);
        }
        entries
    };
    let buffers = config.buffers.iter().map(buffer).collect();
    (config.locs.clone(), config.registers.clone(), config.memory.clone(), config.holder, buffers)
}

fn view_of_machine(program: &Program, config: &Configuration) -> View {
    let threads = || program.thread_ids();
    let registers = |t: ThreadId| {
        (0..program.thread(t).registers.len()).map(|r| config.register(t, RegId::new(r))).collect()
    };
    let buffer = |t: ThreadId| {
        let entry = |(entry, value): (Entry, Option<Int>)| match entry {
            Entry::Store(variable) => Some((variable, value.unwrap_or_default())),
            Entry::Barrier => None,
        };
        config.buffer(t).into_iter().map(entry).collect()
    };
    (
        threads().map(|t| config.local(t).loc).collect(),
        threads().map(registers).collect(),
        program.variable_ids().map(|v| config.memory(v)).collect(),
        config.holder(),
        threads().map(buffer).collect(),
    )
}

/// All configurations by the slow execution of moves.
fn walk_configurations(program: &Program, model: Model) -> BTreeSet<View> {
    let machine = Buffered::exact(program, model).capped(CAP).with_dead_registers();
    let mut seen = BTreeSet::new();
    let mut stack: Vec<Configuration> = initial_configurations(program, &machine);
    while let Some(config) = stack.pop() {
        if !seen.insert(view_of_machine(program, &config)) {
            continue;
        }
        for step in config.enabled(&machine) {
            let choices: Vec<Option<Int>> = match &step.choice {
                None => vec![None],
                Some(domain) => (-1..8).map(Int::from).filter(|v| domain.contains(v)).map(Some).collect(),
            };
            stack.extend(choices.iter().filter_map(|c| config.take(&machine, step.event, c.as_ref())));
        }
    }
    seen
}

fn initial_configurations(program: &Program, machine: &Buffered<'_>) -> Vec<Configuration> {
    let mut chosen: Vec<Vec<(VarId, Int)>> = vec![Vec::new()];
    for variable in program.variable_ids() {
        let domain = &program.variable(variable).initial;
        let values: Vec<Int> = (-8..8).map(Int::from).filter(|v| domain.contains(v)).collect();
        let with = |start: &Vec<(VarId, Int)>, value: &Int| {
            start.iter().cloned().chain([(variable, value.clone())]).collect::<Vec<_>>()
        };
        chosen = chosen.iter().flat_map(|start| values.iter().map(move |v| with(start, v))).collect();
    }
    chosen.iter().filter_map(|start| Configuration::initial(machine, start)).collect()
}

#[test]
fn machine_and_reference_reach_the_same_configurations() {
    for_all(|sketch| {
        let program = sketch.build();
        for (model, independent) in models() {
            let expected: BTreeSet<View> =
                reach(&program, independent)?.configs.iter().map(view_of_reference).collect();
            let found = walk_configurations(&program, model);
            if found != expected {
                let name = model.name();
                return Some(Err(format!(
                    "{} configurations, {} expected, {name}",
                    found.len(),
                    expected.len()
                )));
            }
        }
        Some(Ok(()))
    });
}

/// All states by the fast execution of compiled moves: how many, which violations, whether the
/// cap stopped something.
fn walk_states(machine: &Buffered<'_>) -> (usize, BTreeSet<Violation>, bool) {
    let mut stepper = Stepper::new(machine);
    let (mut set, mut violations, mut capped) = (StateSet::new(), BTreeSet::new(), false);
    let mut stack: Vec<_> = stepper.initial().0.collect();
    let mut packed = Vec::new();
    while let Some(state) = stack.pop() {
        packed.clear();
        state.pack(&mut packed);
        if !set.insert(&packed, None).expect("small").1 {
            continue;
        }
        stepper.prepare(&state);
        violations.extend(stepper.violation(&state).expect("small values"));
        let mut next = State::default();
        stepper.successors(&state, &mut next, |_| capped = true, |_, _, next| stack.push(next.clone()));
    }
    (set.len(), violations, capped)
}

#[test]
fn compiled_moves_reach_as_many_states_and_stop_at_the_same_caps() {
    for_all(|sketch| {
        let program = sketch.build();
        for (model, independent) in models() {
            let expected = reach(&program, independent)?;
            let machine = Buffered::exact(&program, model).capped(CAP).with_dead_registers();
            let (states, _, capped) = walk_states(&machine);
            if (states, capped) != (expected.configs.len(), expected.cap_hit) {
                let found = format!("{states} states, cap hit {capped}");
                return Some(Err(format!("{found}; {} and {}", expected.configs.len(), expected.cap_hit)));
            }
            let (live, ..) = walk_states(&Buffered::exact(&program, model).capped(CAP));
            if live > states {
                return Some(Err("forgetting dead registers must not add states".to_string()));
            }
        }
        Some(Ok(()))
    });
}

fn verdict_agrees(
    engine: &dyn Engine,
    program: &Program,
    model: Model,
    expected: &Reached,
    order: Order,
) -> Result<(), String> {
    let task = Task::safe(program, model);
    // Proofs that need no search know no cap.
    let run = Run { order, max_buffer: Some(CAP), reduction: Reduction::None, ..Run::default() };
    let answer = engine.verify(&task, &run);
    let checked = check(&task, answer.verdict, &Ignore).map_err(|why| format!("rejected: {why}"))?;
    let (bad, capped) = (!expected.violations.is_empty(), expected.cap_hit);
    match checked.verdict() {
        // With a cap reached, the engine may have looked one store further than the reference.
        Verdict::Unsafe(_) if bad || capped => Ok(()),
        Verdict::Safe(_) if !bad && !capped => Ok(()),
        Verdict::Unknown(_) if !bad && capped => Ok(()),
        other => Err(format!("{other:?} under {}, violations {:?}", model.name(), expected.violations)),
    }
}

#[test]
fn explicit_finds_violations_exactly_where_the_reference_does() {
    for_all(|sketch| {
        let program = sketch.build();
        for (model, independent) in models() {
            let expected = reach(&program, independent)?;
            for order in [Order::Breadth, Order::Depth] {
                if let Err(why) = verdict_agrees(&Explicit, &program, model, &expected, order) {
                    return Some(Err(why));
                }
            }
        }
        Some(Ok(()))
    });
}

#[test]
fn gap_proofs_decide_as_the_reference_does() {
    for_all(|sketch| {
        let program = sketch.build();
        for (model, independent) in models() {
            let expected = reach(&program, independent)?;
            if let Err(why) = verdict_agrees(&GapProofs, &program, model, &expected, Order::Breadth) {
                return Some(Err(why));
            }
        }
        Some(Ok(()))
    });
}

#[test]
fn one_property_does_not_change_the_verdict_of_another() {
    for_all(|sketch| {
        let program = sketch.build();
        for (model, independent) in models() {
            let all = reach(&program, independent)?;
            let mut violated = BTreeSet::new();
            for at in 0..program.properties.len() {
                let mut alone = program.clone();
                alone.properties = vec![program.properties[at].clone()];
                let expected = reach(&alone, independent)?;
                if let Err(why) = verdict_agrees(&Explicit, &alone, model, &expected, Order::Breadth) {
                    return Some(Err(why));
                }
                violated.extend(expected.violations.iter().any(|v| !is_failure(v)).then_some(at));
            }
            let together = all.violations.iter().filter(|v| !is_failure(v)).count();
            if violated.len() != together {
                return Some(Err(format!("{violated:?} alone, {:?} together", all.violations)));
            }
        }
        Some(Ok(()))
    });
}

fn is_failure(violation: &reference::ReferenceViolation) -> bool {
    matches!(violation, reference::ReferenceViolation::Failure { .. })
}

/// Asks for all final values of all registers and variables.
fn observe_everything(program: &mut Program) {
    let mut places: Vec<Place> = program.variable_ids().map(Place::Memory).collect();
    for t in program.thread_ids() {
        let registers = 0..program.thread(t).registers.len();
        places.extend(registers.map(|r| Place::Register(t, RegId::new(r))));
    }
    program.question = Some(Question {
        quantifier: Quantifier::Exists,
        cond: Cond::TRUE,
        filter: Cond::TRUE,
        observed: places.into_iter().map(|place| (String::new(), place)).collect(),
        span: Span::NONE,
    });
}

#[test]
fn reduction_and_exploration_find_all_final_states() {
    let (reduced, explored) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
    for_all(|sketch| {
        let mut program = sketch.build();
        observe_everything(&mut program);
        let question = program.question.clone().expect("just set");
        for (model, independent) in models() {
            let reached = reach(&program, independent)?;
            let finals = reached.configs.iter().filter(|config| config.is_final(&program));
            let values = |config: &Config| {
                question.observed.iter().map(|(_, place)| config.place(place)).collect::<Vec<_>>()
            };
            let expected: BTreeSet<Vec<Int>> = finals.map(values).collect();
            let task = Task::asked(&program, model);
            let run = Run { max_buffer: Some(CAP), ..Run::default() };
            let Answer { verdict, statistics, .. } = FinalStates.verify(&task, &run);
            let by = if statistics.method == Some("reduction") { &reduced } else { &explored };
            by.set(by.get() + 1);
            let checked = match check(&task, verdict, &Ignore) {
                Ok(checked) => checked,
                Err(why) => return Some(Err(format!("rejected: {why}"))),
            };
            let outcomes = checked.outcomes().expect("final states");
            let found: BTreeSet<Vec<Int>> =
                outcomes.finals().iter().map(|f| f.iter().map(|v| Int::from(*v)).collect()).collect();
            // The reduction needs no cap, so it may see more than a reference that hit one.
            let right = if reached.cap_hit { found.is_superset(&expected) } else { found == expected };
            if !right {
                let name = model.name();
                let method = statistics.method;
                return Some(Err(format!("{name} by {method:?}: {found:?}, expected {expected:?}")));
            }
        }
        Some(Ok(()))
    });
    let (reduced, explored) = (reduced.get(), explored.get());
    assert!(reduced > 100 && explored > 100, "{reduced} by reduction, {explored} by exploration");
}

#[test]
fn the_machine_has_no_slots_for_dead_registers() {
    let mut fewer = 0;
    for seed in 0..200 {
        let program = random::generate(seed);
        let count = |machine: &Buffered<'_>| {
            let mut slots = Vec::new();
            let (_, locals) = machine.initial();
            program.thread_ids().zip(&locals).for_each(|(t, local)| machine.slots(t, local, &mut slots));
            slots.len()
        };
        let (live, all) =
            (Buffered::exact(&program, TSO), Buffered::exact(&program, TSO).with_dead_registers());
        assert!(count(&live) <= count(&all));
        fewer += usize::from(count(&live) < count(&all));
    }
    assert!(fewer > 50, "the reduction must bite: {fewer}");
}
