//! The machines that forget cover the exact ones, and are exact where they forget nothing.
//!
//! Beside random walks of exact machines on random programs goes a forgetful configuration: it
//! must be able to do every step and stand for the exact configuration afterwards. (That is
//! asked of every configuration related so far, which is more than that some run exists.)
//! Controls are explored exhaustively, and there every move must be one that the exact machine
//! has for some order of what was forgotten. Planted mistakes must be noticed.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

mod blurred;
mod mistakes;
use support::random;

use blurred::{Blurred, BlurredMove, Memory, Runner, Tamper, untouched};
use evidence::{Certificate, ClosedSet, Controls, Ignore, Listed, Rejected, Task, Verdict, check};
use fastrand::Rng;
use machine::{
    Buffered, Configuration, Doubt, Entry, Event, Forgotten, Keep, Local, MODELS, Machine, Model, Recall, SC,
    Slot, State, StateSet, Stepper, TSO, ValueSource,
};
use mistakes::{MISTAKES, NoticedBy};
use program::{Arith, Domain, Expr, Fence, Int, Op, Program, ThreadId, VarId};
use random::{Sketch, Stmt, minimise, seeds};
use std::cell::Cell;
use std::collections::BTreeSet;

const STEPS: usize = 40;

fn recalls() -> impl Iterator<Item = Recall> {
    let keeps = [Keep::Newest, Keep::Oldest];
    let ways = [Forgotten::Pools, Forgotten::Pairs, Forgotten::Anything];
    let kinds = keeps.into_iter().flat_map(move |keep| ways.map(|forgotten| (keep, forgotten)));
    kinds.flat_map(|(keep, forgotten)| (0..=3).map(move |k| Recall { k, keep, forgotten }))
}

/// The random program of a seed; in two thirds every store site has values of its own, in one
/// third threads never end.
fn varied(seed: u64) -> Sketch {
    let mut sketch = random::sketch(seed);
    if !seed.is_multiple_of(3) {
        let sites = Cell::new(0);
        sketch = sketch.map_ops(&|op| match op {
            Op::Store(variable, value) => {
                sites.set(sites.get() + 10);
                Op::Store(*variable, Expr::binary(Arith::Add, value.clone(), sites.get()))
            }
            other => other.clone(),
        });
    }
    if seed % 3 == 2 {
        for draft in &mut sketch.threads {
            draft.body = vec![Stmt::Forever(std::mem::take(&mut draft.body))];
        }
    }
    sketch
}

/// An exact run: what happened, and the configuration afterwards.
type Walk = (Configuration, Vec<(Event, Configuration)>);

fn pick(domain: &Domain, rng: &mut Rng) -> Option<Int> {
    let values: Vec<Int> = (-8..8).map(Int::from).filter(|value| domain.contains(value)).collect();
    rng.choice(values)
}

fn start(machine: &Buffered<'_>, rng: &mut Rng) -> Option<Configuration> {
    let variables = machine.program().variable_ids();
    let domain = |v: VarId| &machine.program().variable(v).initial;
    let chosen: Vec<_> = variables.filter_map(|v| Some((v, pick(domain(v), rng)?))).collect();
    Configuration::initial(machine, &chosen)
}

/// A random run. Drains are rare in some, so that buffers grow.
fn walk(machine: &Buffered<'_>, rng: &mut Rng) -> Option<Walk> {
    let first = start(machine, rng)?;
    let (mut at, mut steps) = (first.clone(), Vec::new());
    let drains_of_100 = rng.choice([3, 15, 40])?;
    while steps.len() < STEPS {
        let enabled = at.enabled(machine);
        let (drains, edges): (Vec<_>, Vec<_>) =
            enabled.into_iter().partition(|step| matches!(step.event, Event::Drain { .. }));
        let drain = edges.is_empty() || rng.usize(..100) < drains_of_100 && !drains.is_empty();
        let Some(step) = rng.choice(if drain { drains } else { edges }) else { break };
        let value = step.choice.as_ref().and_then(|domain| pick(domain, rng));
        at = at.take(machine, step.event, value.as_ref())?;
        steps.push((step.event, at.clone()));
    }
    Some((first, steps))
}

/// How often the interesting things happened.
#[derive(Debug, Default)]
struct Seen {
    steps: usize,
    blurred: usize,
    pool_drains: usize,
    oldest_drains: usize,
    loads_of_forgotten: usize,
    loads_of_kept: usize,
    blocks: usize,
    locked_blocks: usize,
    fences_over_forgotten: usize,
    kept_behind_fence: usize,
    sections: usize,
}

impl Seen {
    fn count(&mut self, program: &Program, before: &Blurred, event: Event, moves: &[BlurredMove]) {
        let thread = event.thread();
        let shape = &before.shapes[thread.index()];
        let mut count =
            |counter: fn(&mut Seen) -> &mut usize, there: bool| *counter(self) += usize::from(there);
        count(|s| &mut s.steps, true);
        count(|s| &mut s.blurred, !shape.forgotten.is_empty());
        count(
            |s| &mut s.kept_behind_fence,
            shape.kept.contains(&Entry::Barrier) && !shape.forgotten.is_empty(),
        );
        count(|s| &mut s.sections, before.holder.is_some());
        let mut sources = moves.iter().filter(|m| m.event == event).flat_map(|m| &m.set);
        let taken = |from: fn(&ValueSource) -> bool| sources.clone().any(|(_, blur)| from(blur));
        count(|s| &mut s.pool_drains, taken(|blur| matches!(blur, ValueSource::OneOf(_))));
        count(|s| &mut s.oldest_drains, taken(|blur| matches!(blur, ValueSource::OldestOf(_))));
        if let Event::Step { edge, .. } = event {
            let op = &program.thread(thread).edge(edge).op;
            let loads = |from: fn(&Slot) -> bool| {
                move |(slot, blur): &(Slot, ValueSource)| {
                    let register = matches!(slot, Slot::Register(..));
                    register && matches!(blur, ValueSource::Is(Expr::Leaf(source)) if from(source))
                }
            };
            let forgotten = loads(|slot| matches!(slot, Slot::Last(..)));
            count(|s| &mut s.loads_of_forgotten, sources.clone().any(forgotten));
            count(|s| &mut s.loads_of_kept, sources.any(loads(|slot| matches!(slot, Slot::Queued(..)))));
            count(|s| &mut s.blocks, matches!(op, Op::Block { locked: false, .. }));
            count(|s| &mut s.locked_blocks, matches!(op, Op::Block { locked: true, .. }));
            let fence = *op == Op::Fence(Fence::Store) && !shape.forgotten.is_empty();
            count(|s| &mut s.fences_over_forgotten, fence);
        }
    }
}

/// Whether the forgetful machine can do what the exact one did.
fn simulate(runner: &Runner<'_>, (first, steps): &Walk, seen: &mut Seen) -> Result<(), String> {
    let program = runner.machine.program();
    let mut memory = Memory::new(runner.model, runner.recall);
    let mut related = BTreeSet::from([runner.initial(first)]);
    let mut before = first;
    for (number, (event, after)) in steps.iter().enumerate() {
        let thread = event.thread();
        memory.step(thread, before, after);
        let mut next = BTreeSet::new();
        for at in &related {
            let moves = runner.moves(thread, at.holder, &at.shapes[thread.index()]);
            seen.count(program, at, *event, &moves);
            let ways = runner.follow(at, *event, after)?;
            let judged: Vec<_> = ways.iter().map(|way| memory.relates(after, way, program)).collect();
            if !judged.contains(&Ok(())) {
                return Err(format!("step {number}, {event:?} of {at:?}: {judged:?}"));
            }
            next.extend(ways.into_iter().zip(judged).filter_map(|(way, fits)| fits.ok().map(|()| way)));
        }
        (related, before) = (next, after);
    }
    Ok(())
}

/// Simulates random runs of a program under all models with all machines.
fn simulate_all(sketch: &Sketch, seed: u64, tamper: Tamper, seen: &mut Seen) -> Result<(), String> {
    let program = sketch.build();
    let mut rng = Rng::with_seed(seed);
    for model in MODELS.iter().copied() {
        let Some(walk) = walk(&Buffered::exact(&program, model), &mut rng) else { continue };
        for recall in recalls() {
            let runner = Runner::new(&program, model, recall, tamper);
            simulate(&runner, &walk, seen).map_err(|why| format!("{} {recall:?}: {why}", model.name()))?;
        }
    }
    Ok(())
}

/// Checks a law on many programs and shows the smallest that breaks it.
fn for_all(count: u64, mut law: impl FnMut(&Sketch, u64) -> Result<(), String>) {
    for seed in 0..count {
        if law(&varied(seed), seed).is_err() {
            let small = minimise(varied(seed), &mut |sketch| law(sketch, seed).is_err());
            let why = law(&small, seed).err().unwrap_or_default();
            panic!("broken by seed {seed}: {why}\n{}", program::print(&small.build()));
        }
    }
}

#[test]
fn every_exact_step_has_a_forgetful_one() {
    let mut seen = Seen::default();
    for_all(seeds(), |sketch, seed| simulate_all(sketch, seed, untouched, &mut seen));
    let rarest = [
        seen.pool_drains,
        seen.oldest_drains,
        seen.loads_of_forgotten,
        seen.loads_of_kept,
        seen.blocks,
        seen.locked_blocks,
        seen.fences_over_forgotten,
        seen.kept_behind_fence,
        seen.sections,
    ];
    assert!(seen.blurred * 20 > seen.steps && rarest.iter().all(|n| n * 2000 > seen.steps), "{seen:?}");
}

/// Whether a machine that forgets nothing has the exact machine's steps, all and only those.
fn exact_both_ways(sketch: &Sketch, seed: u64, tamper: Tamper) -> Result<(), String> {
    let program = sketch.build();
    let mut rng = Rng::with_seed(seed);
    let beyond = recalls().filter(|recall| recall.k == 0).map(|recall| Recall { k: STEPS + 1, ..recall });
    for recall in beyond.chain([Recall::ALL]) {
        for model in MODELS.iter().copied() {
            let machine = Buffered::exact(&program, model);
            let Some(walk) = walk(&machine, &mut rng) else { continue };
            let runner = Runner::new(&program, model, recall, tamper);
            let same = same_along(&runner, &machine, &walk, &mut rng);
            same.map_err(|why| format!("{} {recall:?}: {why}", model.name()))?;
        }
    }
    Ok(())
}

fn same_along(
    runner: &Runner<'_>,
    machine: &Buffered<'_>,
    (first, steps): &Walk,
    rng: &mut Rng,
) -> Result<(), String> {
    let mut pair = (first.clone(), runner.initial(first), Memory::new(runner.model, runner.recall));
    for (event, after) in steps {
        let (exact, blurred, _) = &pair;
        let enabled = exact.enabled(machine);
        let found: Vec<Event> = runner.enabled(blurred)?.iter().map(|step| step.event).collect();
        if !enabled.iter().map(|step| step.event).eq(found.iter().copied()) {
            return Err(format!("{found:?} instead of {enabled:?}"));
        }
        for step in enabled {
            let value = step.choice.as_ref().and_then(|domain| pick(domain, rng));
            let next = exact.take(machine, step.event, value.as_ref()).ok_or("not taken")?;
            same_after(runner, &pair, step.event, next)?;
        }
        pair = same_after(runner, &pair, *event, after.clone())?;
    }
    Ok(())
}

/// An exact configuration, the forgetful one beside it, and what is kept.
type Pair = (Configuration, Blurred, Memory);

/// The only pair after an event.
fn same_after(
    runner: &Runner<'_>,
    (exact, blurred, memory): &Pair,
    event: Event,
    next: Configuration,
) -> Result<Pair, String> {
    let mut memory = memory.clone();
    memory.step(event.thread(), exact, &next);
    let mut ways = runner.follow(blurred, event, &next)?;
    let way = ways.pop().filter(|_| ways.is_empty()).ok_or(format!("not one way for {event:?}"))?;
    memory.relates(&next, &way, runner.machine.program())?;
    Ok((next, way, memory))
}

#[test]
fn a_machine_that_forgets_nothing_is_exact() {
    for_all(seeds(), |sketch, seed| exact_both_ways(sketch, seed, untouched));
}

fn corpus(name: &str) -> Program {
    let path = support::root().join(format!("corpus/{name}.fw"));
    let text = std::fs::read_to_string(path).expect("part of the corpus");
    let frontend = frontend::choose(Some("fw"), name, &text).expect("known");
    (frontend.read)(program::Source::new(name, text), &Default::default()).expect("valid").program
}

/// A thread's control and who is inside an atomic section, as far as the thread can tell.
type View = (Option<ThreadId>, Local);

/// All controls of a thread, whatever guards and other threads say; each is given to `visit`
/// with its moves. Moves depend on nothing else, so finitely many here are finitely many in all.
fn controls(
    runner: &Runner<'_>,
    thread: ThreadId,
    mut visit: impl FnMut(&View, &[BlurredMove]) -> Result<(), String>,
) -> Result<usize, String> {
    const FAR_TOO_MANY: usize = 100_000;
    let other = runner.machine.program().thread_ids().find(|t| *t != thread);
    let mut reached = BTreeSet::new();
    let mut stack = vec![(None, runner.machine.initial().1[thread.index()].clone())];
    while let Some(view) = stack.pop() {
        if !reached.insert(view.clone()) {
            continue;
        }
        if reached.len() > FAR_TOO_MANY {
            return Err("controls without end".to_string());
        }
        let (holder, shape) = &view;
        let moves = runner.moves(thread, *holder, shape);
        visit(&view, &moves)?;
        stack.extend(moves.iter().map(|step| (step.global, step.local.clone())));
        if *holder != Some(thread) {
            stack.extend([None, other].map(|holder| (holder, shape.clone())));
        }
    }
    Ok(reached.len())
}

/// Whether a move reads what exists before it and sets what exists after it, and all that is new.
fn slots_fit(
    machine: &Buffered<'_>,
    thread: ThreadId,
    shape: &Local,
    step: &BlurredMove,
) -> Result<(), String> {
    let slots = |shape: &Local| {
        let mut slots = Vec::new();
        machine.slots(thread, shape, &mut slots);
        slots.into_iter().collect::<BTreeSet<Slot>>()
    };
    let (before, after) = (slots(shape), slots(&step.local));
    let is_pool = |slot: &Slot| slot.is_any();
    let is_memory = |slot: &Slot| matches!(slot, Slot::Memory(_));
    let mut wrong = Vec::new();
    let mut read = |slot: &Slot| {
        if is_pool(slot) || !(is_memory(slot) || before.contains(slot)) {
            wrong.push(format!("reads {slot:?}"));
        }
    };
    step.guard.for_each_leaf(&mut read);
    for (_, blur) in &step.set {
        if let ValueSource::Is(value) | ValueSource::Joins(value) = blur {
            value.for_each_leaf(&mut read);
        }
    }
    for (slot, blur) in &step.set {
        let fits = match blur {
            // Replacing a pool would lose what is in it.
            ValueSource::Is(_) => !is_pool(slot) || !before.contains(slot),
            ValueSource::Any(_) => !is_pool(slot),
            ValueSource::OneOf(pool) | ValueSource::OldestOf(pool) => {
                !is_pool(slot) && matches!(pool, Slot::Pool(..)) && before.contains(pool)
            }
            ValueSource::OnlyOf(pool) => !is_pool(slot) && before.contains(pool) && !after.contains(pool),
            ValueSource::Joins(_) => is_pool(slot) && before.contains(slot),
        };
        if !fits || !(is_memory(slot) || after.contains(slot)) {
            wrong.push(format!("sets {slot:?} to {blur:?}"));
        }
    }
    let set: BTreeSet<Slot> = step.set.iter().map(|(slot, _)| *slot).collect();
    wrong.extend(after.difference(&before).filter(|s| !set.contains(s)).map(|s| format!("{s:?} is not set")));
    if !step.set.is_sorted_by(|a, b| a.0 < b.0) {
        wrong.push("not in order".to_string());
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{step:?} of {shape:?}: {wrong:?}")) }
}

/// The exact buffers a control stands for, as far as the next event goes: every forgotten
/// variable comes first among the forgotten once.
fn buffers(recall: Recall, shape: &Local) -> Vec<Local> {
    let variables: Vec<VarId> = shape.forgotten.iter().map(|(v, _)| *v).collect();
    let rotation = |first: usize| {
        let (end, start) = variables.split_at(first);
        let forgotten = start.iter().chain(end).map(|v| Entry::Store(*v));
        let kept = shape.kept.iter().copied();
        let kept = match recall.keep {
            Keep::Newest => forgotten.chain(kept).collect(),
            Keep::Oldest => kept.chain(forgotten).collect(),
        };
        Local { kept, ..Local::at(shape.loc) }
    };
    (0..variables.len().max(1)).map(rotation).collect()
}

/// Whether the events of a control are those of the exact buffers it stands for.
fn nothing_needless(
    runner: &Runner<'_>,
    exact: &Buffered<'_>,
    thread: ThreadId,
    (holder, shape): &View,
    moves: &[BlurredMove],
) -> Result<(), String> {
    let mut expected = Vec::new();
    for local in buffers(runner.recall, shape) {
        exact.moves(thread, holder, &local, &mut expected);
    }
    let expected: BTreeSet<Event> = expected.iter().map(|step| step.event).collect();
    let found: BTreeSet<Event> = moves.iter().map(|step| step.event).collect();
    if found == expected { Ok(()) } else { Err(format!("{shape:?}: {found:?} instead of {expected:?}")) }
}

/// Whether a control keeps at most k stores a queue, and no fence that the one before makes idle.
fn kept_is_bounded(model: Model, recall: Recall, shape: &Local) -> Result<(), String> {
    let queued = shape.kept.iter().map(|entry| match entry {
        Entry::Store(variable) => model.queued(&shape.kept, *variable),
        Entry::Barrier => 0,
    });
    let fences = shape.kept.windows(2).any(|pair| pair == [Entry::Barrier, Entry::Barrier]);
    let idle = shape.forgotten.is_empty() && shape.kept.first() == Some(&Entry::Barrier);
    if queued.max().unwrap_or(0) > recall.k || fences || idle {
        return Err(format!("{shape:?} keeps too much"));
    }
    Ok(())
}

/// How many controls the threads of a program have; all of them are checked.
fn check_controls(program: &Program, model: Model, recall: Recall, tamper: Tamper) -> Result<usize, String> {
    let runner = Runner::new(program, model, recall, tamper);
    let exact = Buffered::exact(program, model);
    let mut count = 0;
    for thread in program.thread_ids() {
        count += controls(&runner, thread, |view, moves| {
            let shape = &view.1;
            kept_is_bounded(model, recall, shape)?;
            moves.iter().try_for_each(|step| slots_fit(&runner.machine, thread, shape, step))?;
            nothing_needless(&runner, &exact, thread, view, moves)
        })?;
    }
    Ok(count)
}

#[test]
fn controls_are_finite_and_every_move_fits_its_slots() {
    let names =
        ["nonblocking_write", "nonblocking_write_pso", "thesis_3_3", "seqlock_pso", "array_queue_pso"];
    for name in names {
        let program = corpus(name);
        for model in MODELS.iter().copied() {
            // The number of controls of three stores a variable is not worth the wait.
            for recall in recalls().filter(|recall| recall.k < 3) {
                let count = check_controls(&program, model, recall, untouched);
                let count = count.unwrap_or_else(|why| panic!("{name}, {} {recall:?}: {why}", model.name()));
                let blurred = model.is_sc() || count > check_sc(&program);
                assert!(blurred, "{name}: buffers must show in the controls");
            }
        }
    }
}

/// How many controls there are without buffers.
fn check_sc(program: &Program) -> usize {
    let nothing = Recall { k: 0, ..Recall::ALL };
    check_controls(program, SC, nothing, untouched).expect("no buffers")
}

/// A pool has no one value: whoever runs such a machine on values is told what was left out, and what
/// it reached is no closed set.
#[test]
fn concrete_values_of_pools_are_doubted() {
    let program = corpus("thesis_3_3");
    let task = Task::safe(&program, TSO);
    for recall in recalls().filter(|recall| recall.k < 2) {
        let machine = Buffered::recalling(&program, TSO, recall);
        let mut stepper = Stepper::new(&machine);
        let (mut states, mut doubts) = (StateSet::new(), BTreeSet::new());
        let mut stack: Vec<State> = stepper.initial().0.collect();
        let mut packed = Vec::new();
        while let Some(state) = stack.pop().filter(|_| states.len() < 5_000) {
            packed.clear();
            state.pack(&mut packed);
            if states.insert(&packed, None).expect("room").1 {
                stepper.prepare(&state);
                let doubt = |doubt| {
                    doubts.insert(doubt);
                };
                let visit = |_, _, next: &State| stack.push(next.clone());
                stepper.successors(&state, &mut State::default(), doubt, visit);
            }
        }
        assert!(doubts.iter().any(|doubt| matches!(doubt, Doubt::Fragment(_))), "{recall:?}: {doubts:?}");
        let set = ClosedSet { controls: Controls::of(&stepper), states };
        let checked = check(&task, Verdict::Safe(Certificate::Listed(Listed { gaps: None, set })), &Ignore);
        assert_eq!(checked.err(), Some(Rejected::Dictionary), "{recall:?}");
    }
}

#[test]
fn one_queue_has_as_many_shapes_as_one_can_count() {
    // Each thread stores to one variable, over and over, at any time.
    let program = corpus("thesis_3_3");
    let places = check_sc(&program);
    for recall in recalls() {
        let k = recall.k;
        // Nothing forgotten; one; or several, which without pools is the same as one.
        let ways = if recall.forgotten == Forgotten::Anything { 1 } else { 2 };
        let shapes = match recall.keep {
            Keep::Newest => (k + 1) + ways,
            Keep::Oldest => (k + 1) * (1 + ways),
        };
        for model in MODELS.iter().filter(|model| model.buffers()) {
            let count = check_controls(&program, *model, recall, untouched).expect("fits");
            assert_eq!(count, places * shapes, "{} {recall:?}", model.name());
        }
    }
}

fn controls_fit(sketch: &Sketch, tamper: Tamper) -> Result<(), String> {
    let program = sketch.build();
    for model in MODELS.iter().copied() {
        for recall in recalls().filter(|recall| recall.k < 3) {
            check_controls(&program, model, recall, tamper)
                .map_err(|why| format!("{} {recall:?}: {why}", model.name()))?;
        }
    }
    Ok(())
}

#[test]
fn controls_of_random_programs_are_finite_too() {
    for_all(seeds() / 2, |sketch, _| controls_fit(sketch, untouched));
}

#[test]
fn planted_mistakes_are_noticed() {
    for (name, tamper, noticed) in MISTAKES {
        let wrong = |seed: u64| match noticed {
            NoticedBy::Simulation => simulate_all(&varied(seed), seed, *tamper, &mut Seen::default()),
            NoticedBy::Exactness => exact_both_ways(&varied(seed), seed, *tamper),
            NoticedBy::Controls => controls_fit(&varied(seed), *tamper),
        };
        let noticed_by = (0..300).find(|seed| wrong(*seed).is_err());
        assert!(noticed_by.is_some(), "not noticed: {name}");
    }
}
