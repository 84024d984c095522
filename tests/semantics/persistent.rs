//! Whatever agents are allowed to act alone, no final state is lost: on random programs, with sets
//! of agents chosen at random among those allowed. A second, obvious version of the conditions
//! says the same, and each of them is needed: without any one of them, final states are lost.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use support::random;

use fastrand::Rng;
use frontend::Options;
use machine::{Agents, Buffered, Entry, Local, MODELS, Model, Persistent, State, StateSet, Stepper};
use program::{Fence, Loc, Op, Place, Program, RegId, Source, Thread, ThreadId, VarId};
use random::{Sketch, minimise, seeds};
use std::collections::{BTreeMap, BTreeSet, VecDeque};

const MOST_STATES: usize = 3_000;

/// The values of all registers and variables in a final state.
type Final = Vec<i64>;

/// The final states that are reached if only the agents picked in a control act there, and how
/// many states that takes; `None` if there are too many, or some cannot be known.
fn finals(
    program: &Program,
    model: Model,
    pick: &mut dyn FnMut(&[&Local]) -> Agents,
) -> Option<(BTreeSet<Final>, usize)> {
    let machine = Buffered::exact(program, model).with_dead_registers();
    let mut stepper = Stepper::new(&machine);
    let mut places: Vec<Place> = program.variable_ids().map(Place::Memory).collect();
    for t in program.thread_ids() {
        places.extend((0..program.thread(t).registers.len()).map(|r| Place::Register(t, RegId::new(r))));
    }
    let (initial, doubts) = stepper.initial();
    // Nearest first: where buffers grow without end, deep states have very long ones.
    let mut waiting = VecDeque::from_iter(initial);
    let (mut states, mut picked, mut found) = (StateSet::new(), BTreeMap::new(), BTreeSet::new());
    let mut doubted = !doubts.is_empty();
    while let Some(state) = waiting.pop_front() {
        let mut packed = Vec::new();
        state.pack(&mut packed);
        if !states.insert(&packed, None).ok()?.1 {
            continue;
        }
        if doubted || states.len() > MOST_STATES {
            return None;
        }
        stepper.prepare(&state);
        if stepper.is_final(&state) {
            found.insert(places.iter().map(|place| stepper.place(&state, place)).collect());
        }
        let locals: Vec<&Local> = program.thread_ids().map(|t| stepper.local(t, &state)).collect();
        let agents = *picked.entry(state.locals.clone()).or_insert_with(|| pick(&locals));
        let mut next = State::default();
        agents.successors(
            &stepper,
            &state,
            &mut next,
            |_| doubted = true,
            |_, _, s| {
                waiting.push_back(s.clone());
            },
        );
    }
    Some((found, states.len()))
}

/// A set of few agents.
fn few(threads: usize, rng: &mut Rng) -> Agents {
    let mut agents = Agents { programs: 0, buffers: 0 };
    for _ in 0..rng.usize(1..4) {
        let thread = 1 << rng.usize(..threads);
        *(if rng.bool() { &mut agents.programs } else { &mut agents.buffers }) |= thread;
    }
    agents
}

/// Few agents that are allowed, at random; everybody if none are found.
fn allowed(threads: usize, rng: &mut Rng, allows: &dyn Fn(Agents) -> bool) -> Agents {
    (0..16).map(|_| few(threads, rng)).find(|agents| allows(*agents)).unwrap_or(Agents::ALL)
}

/// A condition left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    SomethingToDo,
    Waiting,
    Loading,
    Writing,
    Draining,
    Overtaking,
    StoresToCome,
}

const LEFT_OUT: [Without; 8] = [
    Without::Nothing,
    Without::SomethingToDo,
    Without::Waiting,
    Without::Loading,
    Without::Writing,
    Without::Draining,
    Without::Overtaking,
    Without::StoresToCome,
];

fn waits(op: &Op) -> bool {
    matches!(op, Op::Fence(Fence::Full) | Op::Block { locked: true, .. })
}

/// What the operations of a thread load and store, from a location on, perhaps up to a wait.
fn ahead(thread: &Thread, from: Loc, stop_at_waits: bool) -> (BTreeSet<VarId>, BTreeSet<VarId>) {
    let (mut loads, mut stores) = (BTreeSet::new(), BTreeSet::new());
    let (mut seen, mut stack) = (BTreeSet::new(), vec![from]);
    while let Some(loc) = stack.pop() {
        if !seen.insert(loc) {
            continue;
        }
        for (_, edge) in thread.outgoing(loc) {
            if stop_at_waits && waits(&edge.op) {
                continue;
            }
            touch(&edge.op, &mut loads, &mut stores);
            stack.push(edge.to);
        }
    }
    (loads, stores)
}

fn touch(op: &Op, loads: &mut BTreeSet<VarId>, stores: &mut BTreeSet<VarId>) {
    op.for_each_part(&mut |part| match part {
        Op::Load(_, variable) => drop(loads.insert(*variable)),
        Op::Store(variable, _) => drop(stores.insert(*variable)),
        _ => {}
    });
}

/// The conditions once more, in plain sets.
struct Obvious<'a> {
    program: &'a Program,
    model: Model,
    locals: &'a [&'a Local],
    agents: Agents,
    without: Without,
}

impl Obvious<'_> {
    fn program_in(&self, thread: usize) -> bool {
        self.agents.programs >> thread & 1 == 1
    }

    fn buffer_in(&self, thread: usize) -> bool {
        self.agents.buffers >> thread & 1 == 1
    }

    fn buffered(&self, thread: usize) -> BTreeSet<VarId> {
        self.locals[thread].stores().collect()
    }

    fn drains(&self, thread: usize) -> BTreeSet<VarId> {
        let buffer = &self.locals[thread].kept;
        let may = |(at, entry): (usize, &Entry)| match entry {
            Entry::Store(variable) if self.model.may_drain(buffer, at) => Some(*variable),
            _ => None,
        };
        buffer.iter().enumerate().filter_map(may).collect()
    }

    /// What a thread may load and write as long as the set rests.
    fn rest(&self, thread: usize) -> (BTreeSet<VarId>, BTreeSet<VarId>) {
        let (mut loads, mut stores) = (BTreeSet::new(), BTreeSet::new());
        if !self.program_in(thread) {
            let text = self.program.thread(ThreadId::new(thread));
            (loads, stores) = ahead(text, self.locals[thread].loc, self.buffer_in(thread));
        }
        if self.without == Without::StoresToCome {
            stores.clear();
        }
        if self.buffer_in(thread) {
            stores.clear();
        } else {
            stores.extend(self.buffered(thread));
        }
        (loads, stores)
    }

    fn program_fits(&self, thread: usize) -> bool {
        let text = self.program.thread(ThreadId::new(thread));
        let mut fits = true;
        for (_, edge) in text.outgoing(self.locals[thread].loc) {
            let (mut loads, mut stores) = (BTreeSet::new(), BTreeSet::new());
            touch(&edge.op, &mut loads, &mut stores);
            if self.buffer_in(thread) {
                loads.retain(|variable| !self.buffered(thread).contains(variable));
            }
            if !waits(&edge.op) && self.model.buffers() {
                stores.clear();
            }
            let blocked = waits(&edge.op) && !self.buffered(thread).is_empty();
            fits &= !blocked || self.without == Without::Waiting;
            for other in (0..self.locals.len()).filter(|other| *other != thread) {
                let (reads, writes) = self.rest(other);
                fits &= loads.is_disjoint(&writes) || self.without == Without::Loading;
                let writing = stores.is_disjoint(&writes) && stores.is_disjoint(&reads);
                fits &= writing || self.without == Without::Writing;
            }
        }
        fits
    }

    fn buffer_fits(&self, thread: usize) -> bool {
        let drains = self.drains(thread);
        let text = self.program.thread(ThreadId::new(thread));
        let (_, stores) = ahead(text, self.locals[thread].loc, true);
        let overtakes = self.model.reorders_stores()
            && self.program.variables.len() > 1
            && !stores.is_empty()
            && !self.program_in(thread);
        let mut fits = !drains.is_empty() && (!overtakes || self.without == Without::Overtaking);
        for other in (0..self.locals.len()).filter(|other| *other != thread) {
            let (reads, writes) = self.rest(other);
            let alone = drains.is_disjoint(&reads) && drains.is_disjoint(&writes);
            fits &= alone || self.without == Without::Draining;
        }
        fits
    }

    fn allows(&self) -> bool {
        let sections = |thread: &Thread| thread.edges().iter().any(|edge| edge.op == Op::Lock);
        if self.program.threads.iter().any(sections) {
            return false;
        }
        let ended =
            |thread: usize| self.program.thread(ThreadId::new(thread)).is_end(self.locals[thread].loc);
        let mut threads = 0..self.locals.len();
        let busy = threads.clone().any(|t| self.buffer_in(t) || self.program_in(t) && !ended(t));
        (busy || self.without == Without::SomethingToDo)
            && threads.all(|t| {
                (!self.program_in(t) || self.program_fits(t)) && (!self.buffer_in(t) || self.buffer_fits(t))
            })
    }
}

#[test]
fn no_final_state_is_lost_whoever_is_allowed_to_act() {
    let (mut judged, mut reduced, mut chosen_fewer) = (0, 0, 0);
    for seed in 0..seeds() {
        let model = MODELS[seed as usize % MODELS.len()];
        let law = |sketch: &Sketch| -> Option<Result<(usize, usize, usize), String>> {
            let program = sketch.build();
            let persistent = Persistent::new(&program, model)?;
            let (all, states) = finals(&program, model, &mut |_| Agents::ALL)?;
            let mut rng = Rng::with_seed(seed);
            let threads = program.threads.len();
            let mut pick = |locals: &[&Local]| {
                allowed(threads, &mut rng, &|agents| persistent.allows(locals.iter().copied(), agents))
            };
            let (some, fewer) = finals(&program, model, &mut pick)?;
            let mut choose = |locals: &[&Local]| persistent.choose(locals.iter().copied());
            let (chosen, fewest) = finals(&program, model, &mut choose)?;
            let right = some == all && chosen == all;
            let lost = || format!("{}: {some:?} and {chosen:?} of {all:?}", model.name());
            Some(if right { Ok((states, fewer, fewest)) } else { Err(lost()) })
        };
        match law(&random::sketch(seed)) {
            None => {}
            Some(Ok((states, fewer, fewest))) => {
                judged += 1;
                reduced += usize::from(fewer < states);
                chosen_fewer += usize::from(fewest < states);
            }
            Some(Err(_)) => {
                let broken = |sketch: &Sketch| matches!(law(sketch), Some(Err(_)));
                let small = minimise(random::sketch(seed), &mut |sketch| broken(sketch));
                let why = law(&small).and_then(Result::err).unwrap_or_default();
                panic!("broken by seed {seed}: {why}\n{}", program::print(&small.build()));
            }
        }
    }
    let all = seeds() as usize;
    assert!(
        judged * 3 > all && reduced * 3 > judged && chosen_fewer * 2 > judged,
        "{judged} of {all} judged, {reduced} reduced, {chosen_fewer} by choice"
    );
}

#[test]
fn the_conditions_are_those_of_the_obvious_version() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..seeds() / 6 {
        let model = MODELS[seed as usize % MODELS.len()];
        let program = random::generate(seed);
        let Some(persistent) = Persistent::new(&program, model) else { continue };
        let mut rng = Rng::with_seed(seed);
        let mut pick = |locals: &[&Local]| {
            for _ in 0..4 {
                let agents = few(program.threads.len(), &mut rng);
                let obvious = Obvious { program: &program, model, locals, agents, without: Without::Nothing };
                let (ours, theirs) = (persistent.allows(locals.iter().copied(), agents), obvious.allows());
                assert_eq!(
                    ours,
                    theirs,
                    "{} {agents:?} {locals:?}\n{}",
                    model.name(),
                    program::print(&program)
                );
                *(if ours { &mut yes } else { &mut no }) += 1;
            }
            let chosen = persistent.choose(locals.iter().copied());
            let allowed = chosen == Agents::ALL || persistent.allows(locals.iter().copied(), chosen);
            assert!(allowed, "chosen, but not allowed: {chosen:?} {locals:?}\n{}", program::print(&program));
            Agents::ALL
        };
        let _ = finals(&program, model, &mut pick);
    }
    assert!(yes > 1_000 && no > 10_000, "{yes} allowed, {no} not");
}

/// Small programs in which every order counts.
const CLASSICS: [&str; 5] = [
    "shared x, y; thread P { let a; x = 1; a = y; } thread Q { let b; y = 1; b = x; }",
    "shared x, y; thread P { x = 1; y = 1; } thread Q { let a, b; a = y; b = x; }",
    "shared x, y; thread P { x = 1; y = 1; } thread Q { let a; y = 2; a = x; }",
    "shared x, y; thread P { let a; x = 1; fence; a = y; x = a + 2; } thread Q { let b; y = 1; b = x; }",
    "shared x, y; thread P { let a; a = fetch_add(x, 1); y = a; } thread Q { let b; b = fetch_add(x, 2); b = y; }",
];

fn parse(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", "").expect("our language");
    (frontend.read)(Source::new("classic.fw", text), &Options::default()).expect("a program").program
}

#[test]
fn every_condition_is_needed() {
    let programs = CLASSICS.map(parse);
    for without in LEFT_OUT {
        let loses = |(program, model): (&Program, Model)| {
            let all = finals(program, model, &mut |_| Agents::ALL).expect("few states").0;
            (0..300).any(|seed| {
                let mut rng = Rng::with_seed(seed);
                let mut pick = |locals: &[&Local]| {
                    allowed(program.threads.len(), &mut rng, &|agents| {
                        Obvious { program, model, locals, agents, without }.allows()
                    })
                };
                finals(program, model, &mut pick).expect("few states").0 != all
            })
        };
        let mut tasks = programs.iter().flat_map(|program| MODELS.iter().map(move |model| (program, *model)));
        let lost = tasks.any(loses);
        assert_eq!(lost, without != Without::Nothing, "without {without:?}");
    }
}
