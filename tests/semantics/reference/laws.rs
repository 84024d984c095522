//! Laws that relate the three models, checked on the reference interpreter over random
//! programs. They need no expected results, so they catch what table tests do not think of.

use support::random;

use fastrand::Rng;
use program::{EdgeId, Fence, FenceSet, Int, Loc, Op, Placement, Point, Program, Strength, ThreadId, VarId};
use random::{Sketch, generate, minimise, sketch};
use reference::{
    Config, Pending, Reached, ReferenceBuffers, ReferenceLimits, ReferenceModel, ReferenceStep,
    ReferenceViolation, explore, initial, successors,
};
use std::collections::BTreeSet;

const SEEDS: u64 = 400;

/// All of a configuration but its buffers.
type View = (Vec<Loc>, Vec<Vec<Int>>, Vec<Int>, Option<ThreadId>);

fn view(config: &Config) -> View {
    (config.locs.clone(), config.registers.clone(), config.memory.clone(), config.holder)
}

fn views<'a>(reached: &'a Reached, wanted: impl Fn(&Config) -> bool + 'a) -> BTreeSet<View> {
    reached.configs.iter().filter(|config| wanted(config)).map(view).collect()
}

fn reach(program: &Program, model: ReferenceModel, queue: usize) -> Reached {
    explore(program, model, &ReferenceLimits { queue, configs: 3_000, candidates: Vec::new() })
}

/// What a law says of one program: whether it holds, or nothing where exploring took too long.
type Law = fn(&Sketch) -> Option<bool>;

/// Checks a law on many programs and shows the smallest that breaks it.
fn check(law: Law) {
    let mut judged = 0;
    for seed in 0..SEEDS {
        match law(&sketch(seed)) {
            None => {}
            Some(true) => judged += 1,
            Some(false) => {
                let small = minimise(sketch(seed), &mut |sketch| law(sketch) == Some(false)).build();
                panic!("broken by seed {seed}, in short:\n{}", program::print(&small));
            }
        }
    }
    assert!(judged >= SEEDS * 3 / 4, "only {judged} programs were judged");
}

fn all_within(reached: &[&Reached]) -> Option<()> {
    reached.iter().all(|reached| !reached.truncated).then_some(())
}

/// A weaker model can do what a stricter one does: keep a store for just one step, or drain in
/// the order of the stores. Caps do not matter as long as one store fits.
fn weaker_models_can_do_more(sketch: &Sketch) -> Option<bool> {
    let program = sketch.build();
    let [sc, tso, pso] = ReferenceModel::ALL.map(|model| reach(&program, model, 2));
    all_within(&[&sc, &tso, &pso])?;
    let within = |strict: &Reached, weak: &Reached| {
        views(strict, |_| true).is_subset(&views(weak, |_| true))
            && views(strict, Config::is_drained).is_subset(&views(weak, Config::is_drained))
            && strict.violations.is_subset(&weak.violations)
    };
    Some(!sc.cap_hit && within(&sc, &tso) && within(&tso, &pso))
}

#[test]
fn sc_within_tso_within_pso() {
    check(weaker_models_can_do_more);
}

/// The program with a fence right behind every plain store.
fn fenced(program: &Program, kind: Fence) -> Program {
    let mut fences = FenceSet::new();
    for thread in program.thread_ids() {
        for (at, edge) in program.thread(thread).edges().iter().enumerate() {
            if matches!(edge.op, Op::Store(..)) {
                let strength = Strength::Fence(kind);
                fences.insert(Placement { thread, point: Point::After(EdgeId::new(at)), strength });
            }
        }
    }
    fences.apply(program)
}

/// With a full fence behind every store, nothing but the drain can follow a store in its thread,
/// so delaying the store until its drain gives a run under SC. It meets the same configurations
/// with empty buffers, hence the same ends, and the same failures. A `never` may see the thread
/// behind its store while memory lacks it, so those are left out.
fn full_fences_restore_sc(sketch: &Sketch) -> Option<bool> {
    let program = fenced(&sketch.build(), Fence::Full);
    let [sc, tso, pso] = ReferenceModel::ALL.map(|model| reach(&program, model, 1));
    all_within(&[&sc, &tso, &pso])?;
    let lasting = |reached: &Reached| -> Vec<ReferenceViolation> {
        let lasting = |v: &&ReferenceViolation| !matches!(v, ReferenceViolation::Never(_));
        reached.violations.iter().filter(lasting).copied().collect()
    };
    let same = |weak: &Reached| {
        !weak.cap_hit
            && views(weak, Config::is_drained) == views(&sc, |_| true)
            && lasting(weak) == lasting(&sc)
    };
    Some(same(&tso) && same(&pso))
}

#[test]
fn full_fences_behind_all_stores_restore_sc() {
    check(full_fences_restore_sc);
}

/// The stores of a thread as one queue, if their epochs leave only one order.
fn in_line(buffers: &ReferenceBuffers) -> Option<Vec<(VarId, Int)>> {
    let mut stores: Vec<&Pending> = buffers.queues.iter().flatten().collect();
    stores.sort_by_key(|store| store.epoch);
    let distinct = stores.windows(2).all(|pair| pair[0].epoch < pair[1].epoch);
    distinct.then(|| stores.into_iter().map(|s| (s.variable, s.value.clone())).collect())
}

/// With a store fence behind every store each store has its own epoch. Configurations between a
/// store and its fence have it too, so PSO and TSO agree configuration by configuration.
fn store_fences_restore_tso(sketch: &Sketch) -> Option<bool> {
    let program = fenced(&sketch.build(), Fence::Store);
    let queue = 2;
    let pso = reach(&program, ReferenceModel::Pso, queue);
    let tso = reach(&program, ReferenceModel::Tso, queue);
    let roomy = reach(&program, ReferenceModel::Tso, queue * program.variables.len());
    all_within(&[&pso, &tso])?;
    let in_tso = |config: &Config| {
        let queues: Vec<_> = config.buffers.iter().map(|buffers| buffers.queues[0].clone()).collect();
        let plain = |queue: &std::collections::VecDeque<Pending>| {
            queue.iter().map(|s| (s.variable, s.value.clone())).collect::<Vec<_>>()
        };
        (view(config), queues.iter().map(plain).collect::<Vec<_>>())
    };
    let in_pso = |config: &Config| {
        let lines: Option<Vec<_>> = config.buffers.iter().map(in_line).collect();
        lines.map(|lines| (view(config), lines))
    };
    let Some(from_pso) = pso.configs.iter().map(in_pso).collect::<Option<BTreeSet<_>>>() else {
        return Some(false);
    };
    let exactly: BTreeSet<_> = tso.configs.iter().map(in_tso).collect();
    if !exactly.is_subset(&from_pso) {
        return Some(false);
    }
    // PSO caps each variable, TSO their sum: with all the room PSO has, TSO reaches all of it.
    let room: BTreeSet<_> = roomy.configs.iter().map(in_tso).collect();
    Some(roomy.truncated || from_pso.is_subset(&room) && (pso.cap_hit || from_pso == room))
}

#[test]
fn store_fences_behind_all_stores_restore_tso() {
    check(store_fences_restore_tso);
}

/// A locked step without parts waits like a full fence. It also waits for others to leave their
/// sections, which changes nothing in the end, where everybody has left.
fn locked_steps_fence(sketch: &Sketch) -> Option<bool> {
    let with = |instead: Op| {
        let replace = |op: &Op| if matches!(op, Op::Fence(_)) { instead.clone() } else { op.clone() };
        sketch.map_ops(&replace).build()
    };
    let (fenced, locked) = (with(Op::Fence(Fence::Full)), with(Op::locked(Vec::new())));
    let same = |model| {
        let reached = [&fenced, &locked].map(|program| reach(program, model, 2));
        all_within(&[&reached[0], &reached[1]])?;
        Some(views(&reached[0], |c| c.is_final(&fenced)) == views(&reached[1], |c| c.is_final(&locked)))
    };
    Some(same(ReferenceModel::Tso)? && same(ReferenceModel::Pso)?)
}

#[test]
fn a_locked_step_orders_like_a_full_fence() {
    check(locked_steps_fence);
}

/// A store of the past that has not reached memory, with the number of store fences its thread
/// had passed by then: the whole history, where the interpreter keeps a normal form.
#[derive(Clone, Debug, PartialEq)]
struct Outstanding {
    variable: VarId,
    value: Int,
    fences: usize,
}

/// What an onlooker knows of a thread who only counts its stores, store fences and drains.
#[derive(Clone, Debug, Default)]
struct History {
    stores: Vec<Outstanding>,
    fences: usize,
}

impl History {
    fn oldest(&self, variable: VarId) -> Option<usize> {
        self.stores.iter().position(|store| store.variable == variable)
    }

    /// The specification of draining.
    fn may_drain(&self, model: ReferenceModel, variable: VarId) -> bool {
        self.oldest(variable).is_some_and(|at| match model {
            ReferenceModel::Sc => false,
            ReferenceModel::Tso => at == 0,
            ReferenceModel::Pso => self.stores.iter().all(|store| store.fences >= self.stores[at].fences),
        })
    }

    /// Sees an operation of the thread that starts from this configuration.
    fn see(&mut self, model: ReferenceModel, thread: ThreadId, op: &Op, before: &Config) {
        let buffered = model != ReferenceModel::Sc && before.holder != Some(thread);
        match op {
            Op::Store(variable, value) if buffered => {
                let registers = &before.registers[thread.index()];
                let value = value.eval(&|r| registers[r.index()].clone()).expect("no divisions by registers");
                self.stores.push(Outstanding { variable: *variable, value, fences: self.fences });
            }
            Op::Fence(Fence::Store) => self.fences += 1,
            _ => {}
        }
    }
}

/// Compares what can drain, what drains and what is loaded along one random run.
fn walk(program: &Program, model: ReferenceModel, rng: &mut Rng) {
    // Some assume what no initial values satisfy.
    let Some(mut config) = initial(program, model, &[]).into_iter().next() else { return };
    let mut histories = vec![History::default(); program.threads.len()];
    for _ in 0..30 {
        let next = successors(program, model, &config, &[]);
        for thread in program.thread_ids() {
            for variable in program.variable_ids() {
                let possible =
                    next.iter().any(|(step, _)| *step == ReferenceStep::Drain { thread, variable });
                let free = config.holder.is_none_or(|holder| holder == thread);
                let wanted = free && histories[thread.index()].may_drain(model, variable);
                assert_eq!(possible, wanted, "{model:?} {config:?}\n{}", program::print(program));
            }
        }
        let Some((step, after)) = (!next.is_empty()).then(|| next[rng.usize(..next.len())].clone()) else {
            return;
        };
        match step {
            ReferenceStep::Edge { thread, edge, .. } => {
                let op = &program.thread(thread).edge(edge).op;
                histories[thread.index()].see(model, thread, op, &config);
                if let Op::Load(register, variable) = op {
                    let own = histories[thread.index()].stores.iter().rfind(|s| s.variable == *variable);
                    let wanted = own.map_or(&config.memory[variable.index()], |store| &store.value);
                    assert_eq!(after.registers[thread.index()][register.index()], *wanted);
                }
            }
            ReferenceStep::Drain { thread, variable } => {
                let history = &mut histories[thread.index()];
                let at = history.oldest(variable).expect("checked above");
                assert_eq!(after.memory[variable.index()], history.stores.remove(at).value);
            }
        }
        config = after;
    }
}

#[test]
fn drains_and_loads_follow_the_history() {
    let mut rng = Rng::with_seed(7);
    for seed in 0..SEEDS {
        let program = generate(seed);
        for model in ReferenceModel::ALL {
            (0..5).for_each(|_| walk(&program, model, &mut rng));
        }
    }
}
