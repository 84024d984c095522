//! Would the random programs notice? Each mutant is the reference interpreter with one bug that
//! tools of this kind had more than once. The shape aimed at it must tell it from the original
//! often, and the usual mix of programs must do so sometimes: a comparison that runs over
//! `generate(0)`, `generate(1)`, … then cannot miss such a bug for long.

use support::random;

use program::{Fence, Int, Loc, Op, Program, ThreadId, VarId};
use random::{Shape, Sketch, sketch, sketch_shape};
use reference::{
    Config, Reached, ReferenceLimits, ReferenceModel, ReferenceStep, ReferenceViolation, explore, initial,
    successors, violations,
};
use std::collections::{BTreeSet, VecDeque};

const QUEUE: usize = 2;
const CONFIGS: usize = 1_500;

/// All of a configuration but its buffers and its lock.
type View = (Vec<Loc>, Vec<Vec<Int>>, Vec<Int>);

/// What a comparison of two explorations looks at.
#[derive(Debug, PartialEq)]
struct Seen {
    views: BTreeSet<View>,
    violations: BTreeSet<ReferenceViolation>,
}

impl Seen {
    fn of<'a>(configs: impl Iterator<Item = &'a Config>, violations: BTreeSet<ReferenceViolation>) -> Seen {
        let view = |c: &Config| (c.locs.clone(), c.registers.clone(), c.memory.clone());
        Seen { views: configs.map(view).collect(), violations }
    }
}

/// What the original says, unless it takes too long.
fn original(program: &Program, model: ReferenceModel) -> Option<Seen> {
    let limits = ReferenceLimits { queue: QUEUE, configs: CONFIGS, candidates: Vec::new() };
    let Reached { configs, truncated, violations, .. } = explore(program, model, &limits);
    (!truncated).then(|| Seen::of(configs.iter(), violations))
}

/// Explores with other successors. The number beside a configuration is the mutant's to use.
fn explore_by(
    program: &Program,
    model: ReferenceModel,
    next: impl Fn(&Config, usize) -> Vec<(Config, usize)>,
) -> Option<Seen> {
    let start = initial(program, model, &[]).into_iter().map(|config| (config, 0));
    let mut waiting: VecDeque<(Config, usize)> = start.collect();
    let mut met: BTreeSet<(Config, usize)> = waiting.iter().cloned().collect();
    while let Some((config, extra)) = waiting.pop_front() {
        for found in next(&config, extra) {
            if found.0.longest_queue() <= QUEUE && met.insert(found.clone()) {
                waiting.push_back(found);
            }
        }
        if met.len() > 4 * CONFIGS {
            return None;
        }
    }
    let wrong = met.iter().flat_map(|(config, _)| violations(program, config)).collect();
    Some(Seen::of(met.iter().map(|(config, _)| config), wrong))
}

/// Explores with successors that the mutant makes of the right ones.
fn explore_steps(
    program: &Program,
    model: ReferenceModel,
    change: impl Fn(&Config, Vec<(ReferenceStep, Config)>) -> Vec<(ReferenceStep, Config)>,
) -> Option<Seen> {
    explore_by(program, model, |config, _| {
        let steps = change(config, successors(program, model, config, &[]));
        steps.into_iter().map(|(_, after)| (after, 0)).collect()
    })
}

fn thread_of(step: &ReferenceStep) -> ThreadId {
    match step {
        ReferenceStep::Edge { thread, .. } | ReferenceStep::Drain { thread, .. } => *thread,
    }
}

fn op_of<'a>(program: &'a Program, step: &ReferenceStep) -> Option<&'a Op> {
    match step {
        ReferenceStep::Edge { thread, edge, .. } => Some(&program.thread(*thread).edge(*edge).op),
        ReferenceStep::Drain { .. } => None,
    }
}

/// A locked operation works on memory, whatever its thread has buffered.
fn locked_operations_do_not_wait(sketch: &Sketch, model: ReferenceModel) -> Option<Seen> {
    let program = sketch.build();
    explore_steps(&program, model, |config, mut steps| {
        for thread in program.thread_ids() {
            let mut emptied = config.clone();
            emptied.buffers[thread.index()].queues.iter_mut().for_each(VecDeque::clear);
            for (step, mut after) in successors(&program, model, &emptied, &[]) {
                let locked = matches!(op_of(&program, &step), Some(Op::Block { locked: true, .. }));
                if thread_of(&step) == thread && locked {
                    after.buffers = config.buffers.clone();
                    steps.push((step, after));
                }
            }
        }
        steps
    })
}

/// A thread that waits at a fence drains the variables one after the other.
fn fences_drain_in_one_order(sketch: &Sketch, model: ReferenceModel) -> Option<Seen> {
    let program = sketch.build();
    explore_steps(&program, model, |config, mut steps| {
        let all = steps.clone();
        let waits = |thread: ThreadId| {
            let mut edges = program.thread(thread).outgoing(config.locs[thread.index()]);
            edges.any(|(_, edge)| {
                matches!(edge.op, Op::Fence(Fence::Full) | Op::Lock | Op::Block { locked: true, .. })
            })
        };
        let comes_first = |thread, variable| {
            let drains = all.iter().filter_map(|(step, _)| match step {
                ReferenceStep::Drain { thread: t, variable } if *t == thread => Some(*variable),
                _ => None,
            });
            drains.min() == Some(variable)
        };
        steps.retain(|(step, _)| match step {
            ReferenceStep::Drain { thread, variable } => !waits(*thread) || comes_first(*thread, *variable),
            ReferenceStep::Edge { .. } => true,
        });
        steps
    })
}

/// A load finds what other threads have buffered.
fn buffers_are_shared(sketch: &Sketch, model: ReferenceModel) -> Option<Seen> {
    let program = sketch.build();
    explore_steps(&program, model, |config, mut steps| {
        for (step, after) in &mut steps {
            let thread = thread_of(step).index();
            if let Some(Op::Load(register, variable)) = op_of(&program, step) {
                let mut stores = config.buffers.iter().flat_map(|buffers| buffers.queues.iter().flatten());
                if let Some(newest) = stores.rfind(|store| store.variable == *variable) {
                    after.registers[thread][register.index()] = newest.value.clone();
                }
            }
        }
        steps
    })
}

/// A compare-and-swap waits until it succeeds.
fn failing_cas_is_forgotten(sketch: &Sketch, model: ReferenceModel) -> Option<Seen> {
    let program = sketch.build();
    let fails = |op: &Op| {
        let Op::Block { locked: true, parts } = op else { return false };
        let mut assumes = parts.iter().filter(|part| matches!(part, Op::Assume(_)));
        assumes.next().is_some() && !parts.iter().any(|part| matches!(part, Op::Store(..)))
    };
    explore_steps(&program, model, |_, mut steps| {
        steps.retain(|(step, _)| !op_of(&program, step).is_some_and(fails));
        steps
    })
}

fn in_cell_0(op: &Op) -> Op {
    let cell = |variable: VarId| if variable.index() == 1 { VarId::new(0) } else { variable };
    match op {
        Op::Load(register, variable) => Op::Load(*register, cell(*variable)),
        Op::Store(variable, value) => Op::Store(cell(*variable), value.clone()),
        Op::Block { locked, parts } => {
            Op::Block { locked: *locked, parts: parts.iter().map(in_cell_0).collect() }
        }
        other => other.clone(),
    }
}

/// All cells of an array are one variable.
fn arrays_are_one_variable(sketch: &Sketch, model: ReferenceModel) -> Option<Seen> {
    if sketch.variables[0].name != "a[0]" {
        return original(&sketch.build(), model);
    }
    original(&sketch.map_ops(&in_cell_0).build(), model)
}

/// No run goes back more than twice.
fn loops_are_cut_off(sketch: &Sketch, model: ReferenceModel) -> Option<Seen> {
    let program = sketch.build();
    explore_by(&program, model, |config, rounds| {
        let mut next = Vec::new();
        for (step, after) in successors(&program, model, config, &[]) {
            let thread = thread_of(&step).index();
            let back =
                matches!(step, ReferenceStep::Edge { .. }) && after.locs[thread] <= config.locs[thread];
            let rounds = rounds + usize::from(back);
            if rounds <= 2 {
                next.push((after, rounds));
            }
        }
        next
    })
}

/// Nothing happens after a failed assertion.
fn a_failure_hides_others(sketch: &Sketch, model: ReferenceModel) -> Option<Seen> {
    let program = sketch.build();
    explore_steps(&program, model, |config, steps| {
        let failed =
            violations(&program, config).iter().any(|v| matches!(v, ReferenceViolation::Failure(..)));
        if failed { Vec::new() } else { steps }
    })
}

/// A store fence does nothing.
fn store_fences_do_nothing(sketch: &Sketch, model: ReferenceModel) -> Option<Seen> {
    let skip = |op: &Op| if *op == Op::Fence(Fence::Store) { Op::Skip } else { op.clone() };
    original(&sketch.map_ops(&skip).build(), model)
}

/// A locked section keeps out other sections only.
fn sections_are_not_exclusive(sketch: &Sketch, model: ReferenceModel) -> Option<Seen> {
    let program = sketch.build();
    explore_steps(&program, model, |config, mut steps| {
        let Some(holder) = config.holder else { return steps };
        let mut open = config.clone();
        open.holder = None;
        for (step, mut after) in successors(&program, model, &open, &[]) {
            if thread_of(&step) != holder && after.holder.is_none() {
                after.holder = Some(holder);
                steps.push((step, after));
            }
        }
        steps
    })
}

type Mutant = fn(&Sketch, ReferenceModel) -> Option<Seen>;

/// How many of the sketches tell the mutant from the original.
fn noticed(mutant: Mutant, model: ReferenceModel, sketches: impl Iterator<Item = Sketch>) -> usize {
    let notices = |sketch: &Sketch| match (original(&sketch.build(), model), mutant(sketch, model)) {
        (Some(right), Some(wrong)) => right != wrong,
        _ => false,
    };
    sketches.filter(notices).count()
}

/// Asserts that of 30 programs of the shape at least `often` notice, and some of 250 usual ones.
fn check(mutant: Mutant, model: ReferenceModel, shape: Shape, often: usize) {
    let aimed = noticed(mutant, model, (0..30).map(|seed| sketch_shape(shape, seed)));
    let usual = noticed(mutant, model, (0..250).map(sketch));
    assert!(aimed >= often, "{aimed} of the aimed and {usual} of the usual programs notice");
    assert!(usual >= 3, "{aimed} of the aimed and {usual} of the usual programs notice");
}

#[test]
fn a_locked_operation_that_does_not_wait_is_noticed() {
    check(locked_operations_do_not_wait, ReferenceModel::Tso, Shape::LockedOrders, 8);
}

#[test]
fn a_failing_cas_that_does_not_wait_is_noticed() {
    check(locked_operations_do_not_wait, ReferenceModel::Tso, Shape::FailingCas, 15);
}

#[test]
fn a_fixed_order_of_draining_is_noticed() {
    check(fences_drain_in_one_order, ReferenceModel::Pso, Shape::FenceDrains, 5);
}

#[test]
fn a_buffer_without_its_thread_is_noticed() {
    check(buffers_are_shared, ReferenceModel::Pso, Shape::BufferKeys, 10);
}

#[test]
fn a_forgotten_failing_cas_is_noticed() {
    check(failing_cas_is_forgotten, ReferenceModel::Sc, Shape::FailingCas, 20);
}

#[test]
fn an_array_as_one_variable_is_noticed() {
    check(arrays_are_one_variable, ReferenceModel::Sc, Shape::ArrayCells, 20);
}

#[test]
fn a_loop_that_is_cut_off_is_noticed() {
    check(loops_are_cut_off, ReferenceModel::Sc, Shape::LongLoops, 5);
}

#[test]
fn a_failure_that_hides_others_is_noticed() {
    check(a_failure_hides_others, ReferenceModel::Sc, Shape::Assertions, 6);
}

#[test]
fn a_store_fence_without_effect_is_noticed() {
    check(store_fences_do_nothing, ReferenceModel::Pso, Shape::Epochs, 10);
}

#[test]
fn a_section_that_lets_others_in_is_noticed() {
    check(sections_are_not_exclusive, ReferenceModel::Tso, Shape::Sections, 12);
}
