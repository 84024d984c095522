//! What threads do where data are finite: automata over values.
//!
//! The values of every variable are found as a fixed point. A variable has its initial values and whatever
//! is stored to it; a thread's states (location and live registers) are those that it reaches when a load
//! may return any value its variable has. Both sets grow together until nothing is new. They contain
//! whatever happens under any memory model, and with them a thread becomes a finite automaton whose
//! [`Act`]s say what they read and write with values: no expression is left. If the sets grow beyond all
//! bounds, what is loaded is not just any value: an exploration may tell which there are ([`super::reached`]). If
//! it does not either, data are not finite as far as this can be seen.
//!
//! A step that only its thread notices and that is the only way to go on needs no state of its own: states
//! are named by the last of such a chain, unless a property tells the two apart.

use super::NoView;
use super::finite::{LoadedStep, Part, ValueTable};
use super::reached::ReachedForwards;
use crate::{GoOn, Model};
use indexmap::IndexSet;
use program::{Edge, EdgeId, Fence, Liveness, Loc, Op, Place, Program, RegId, Thread, ThreadId};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// More states of a thread than this are not taken to be finite data.
const MOST_STATES: usize = 40_000;

/// How many states pass before it is asked again whether to go on.
const PATIENCE: usize = 256;

/// A variable or the lock, by number, and the number of one of its values (from 1).
pub type Fact = (u16, u16);

/// A state of a thread: a location and the values of the registers that are live there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LocalState {
    /// The location.
    pub loc: Loc,
    /// The values of its live registers, in order.
    pub registers: Box<[i64]>,
}

/// What an act does to memory and buffers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum ActKind {
    /// Nothing that anybody else notices.
    Silent,
    /// Finds these values, all at once, as the thread sees variables.
    Read(Box<[Fact]>),
    /// A store that may be delayed.
    Write(Fact),
    /// Waits until nothing of the thread is on its way.
    Fence,
    /// Later stores come after earlier ones.
    StoreFence,
    /// With nothing on its way: finds memory so, and leaves it so.
    Atomic {
        /// What it finds.
        reads: Box<[Fact]>,
        /// What it leaves, if that is different.
        writes: Box<[Fact]>,
    },
}

/// A step of a thread between two of its states.
#[derive(Clone, Debug)]
pub(super) struct Act {
    pub(super) from: u16,
    pub(super) to: u16,
    /// The edge of the program that it takes; an observer takes none.
    pub(super) edge: Option<EdgeId>,
    pub(super) choice: Option<i64>,
    pub(super) kind: ActKind,
}

/// A thread as an automaton. States are numbered from 1; 0 stands for any.
pub(super) struct Behaviour {
    states: IndexSet<LocalState, FxBuildHasher>,
    /// How many of them are states of the program.
    real: u16,
    /// The acts between named states.
    pub(super) acts: Vec<Act>,
    /// The acts that lead to a state, and those that leave it.
    pub(super) into: Vec<Vec<u32>>,
    pub(super) out_of: Vec<Vec<u32>>,
    /// The step after which a state that has no name of its own goes on, and where.
    silent: FxHashMap<u16, (EdgeId, Option<i64>, u16)>,
    pub(super) in_section: Vec<bool>,
    pub(super) first: u16,
}

impl Behaviour {
    /// With one state and nothing to do.
    pub(super) fn new(first: LocalState) -> Behaviour {
        Behaviour {
            states: std::iter::once(first).collect(),
            real: 0,
            acts: Vec::new(),
            into: vec![Vec::new(); 2],
            out_of: vec![Vec::new(); 2],
            silent: FxHashMap::default(),
            in_section: vec![false; 2],
            first: 1,
        }
    }

    /// How many states there are.
    pub(super) fn len(&self) -> usize {
        self.states.len()
    }

    /// Adds a state that is none of the program; its location has this number. `None` if there are too many.
    pub(super) fn add(&mut self, loc: usize, in_section: bool) -> Option<u16> {
        let number = u16::try_from(self.states.len() + 1).ok()?;
        let state = LocalState { loc: Loc::new(loc), registers: Box::default() };
        self.states.insert(state);
        self.into.push(Vec::new());
        self.out_of.push(Vec::new());
        self.in_section.push(in_section);
        Some(number)
    }

    /// Adds an act.
    pub(super) fn connect(&mut self, act: Act) {
        let number = self.acts.len() as u32;
        let name = self.silently(act.to, |_, _| {});
        self.into[usize::from(name)].push(number);
        self.out_of[usize::from(act.from)].push(number);
        self.acts.push(act);
    }

    /// The states that have names.
    pub(super) fn named(&self) -> impl Iterator<Item = u16> {
        (1..=self.real).filter(|state| !self.silent.contains_key(state))
    }

    /// What a number stands for.
    pub(super) fn state(&self, number: u16) -> Option<&LocalState> {
        self.states.get_index(usize::from(number).checked_sub(1)?)
    }

    /// The number of a state that has a name.
    pub(super) fn number(&self, state: &LocalState) -> Option<u16> {
        let number = self.states.get_index_of(state)? as u16 + 1;
        (!self.silent.contains_key(&number)).then_some(number)
    }

    /// The number by which a state of the program is named.
    pub(super) fn named_by(&self, state: &LocalState) -> Option<u16> {
        let number = self.states.get_index_of(state)? as u16 + 1;
        Some(self.silently(number, |_, _| {}))
    }

    /// All states of the program, whether they have names of their own or not.
    pub(super) fn real(&self) -> impl Iterator<Item = &LocalState> {
        self.states.iter().take(usize::from(self.real))
    }

    /// Whether a state is one of the program.
    pub(super) fn is_real(&self, number: u16) -> bool {
        number <= self.real
    }

    /// The number of the state that a thread starts in.
    pub(super) fn entry(&self) -> u16 {
        1
    }

    /// The steps by which a state reaches the one it is named by.
    pub(super) fn silently(&self, mut state: u16, mut visit: impl FnMut(EdgeId, Option<i64>)) -> u16 {
        while let Some((edge, choice, next)) = self.silent.get(&state) {
            visit(*edge, *choice);
            state = *next;
        }
        state
    }
}

/// The automata of all threads, and the values of variables.
pub(super) struct Behaviours {
    pub(super) threads: Vec<Behaviour>,
    pub(super) values: ValueTable,
    /// What is reached, if that was found out.
    pub(super) reached: Option<ReachedForwards>,
}

impl Behaviours {
    /// What threads do under a model; what is reached is found out if there is no other way, or if `explored`
    /// asks for it and it does not take too long.
    pub(super) fn of(
        program: &Program,
        model: Model,
        explored: bool,
        go_on: &mut GoOn<'_>,
    ) -> Result<Behaviours, NoView> {
        let found = Behaviours::with(program, ValueTable::of(program)?, None, go_on);
        let most = match &found {
            Err(NoView::Unbounded(_)) => ReachedForwards::MOST,
            Ok(_) if explored => ReachedForwards::MOST / 4,
            _ => return found,
        };
        let Some(reached) = ReachedForwards::of(program, model, most, go_on)? else { return found };
        let values = ValueTable::of(program)?.exactly(&reached.values);
        let behaviours = Behaviours::with(program, values, Some(&reached), go_on)?;
        Ok(Behaviours { reached: Some(reached), ..behaviours })
    }

    /// What threads do with values, in states that are reached.
    pub(super) fn with(
        program: &Program,
        mut values: ValueTable,
        reached: Option<&ReachedForwards>,
        go_on: &mut GoOn<'_>,
    ) -> Result<Behaviours, NoView> {
        let liveness = Liveness::of(program);
        let draft = |id: ThreadId| BehaviourDraft::new(program, &liveness, id, reached);
        let mut drafts: Vec<BehaviourDraft<'_>> = program.thread_ids().map(draft).collect();
        loop {
            let known = values.count();
            let mut changed = false;
            for draft in &mut drafts {
                changed |= draft.grow(&mut values, go_on)?;
            }
            if !changed && values.count() == known {
                break;
            }
        }
        let threads = drafts.into_iter().map(|draft| draft.finish(program)).collect();
        Ok(Behaviours { threads, values, reached: None })
    }
}

/// An automaton in the making.
struct BehaviourDraft<'p> {
    id: ThreadId,
    thread: &'p Thread,
    liveness: &'p Liveness,
    states: IndexSet<LocalState, FxBuildHasher>,
    /// The operations of edges, compiled.
    parts: FxHashMap<EdgeId, Box<[Part]>>,
    /// By state and edge: how many values its loads had when it was taken last, and what came of it.
    taken: FxHashMap<(u16, EdgeId), (usize, Vec<Act>)>,
    /// There are no other states, if that is known.
    reached: Option<&'p IndexSet<LocalState, FxBuildHasher>>,
}

impl<'p> BehaviourDraft<'p> {
    fn new(
        program: &'p Program,
        liveness: &'p Liveness,
        id: ThreadId,
        reached: Option<&'p ReachedForwards>,
    ) -> BehaviourDraft<'p> {
        let thread = program.thread(id);
        let mut states = IndexSet::default();
        let registers = liveness.at(id, thread.entry()).iter().map(|_| 0).collect();
        states.insert(LocalState { loc: thread.entry(), registers });
        BehaviourDraft {
            id,
            thread,
            liveness,
            states,
            parts: FxHashMap::default(),
            taken: FxHashMap::default(),
            reached: reached.map(|reached| &reached.states[id.index()]),
        }
    }

    /// Takes every edge that may lead to something new; whether anything was taken.
    fn grow(&mut self, values: &mut ValueTable, go_on: &mut GoOn<'_>) -> Result<bool, NoView> {
        let mut changed = false;
        let mut at = 0;
        while at < self.states.len() {
            if at % PATIENCE == PATIENCE - 1 && !go_on() {
                return Err(NoView::Stopped);
            }
            let number = at as u16 + 1;
            let loc = self.states[at].loc;
            for (id, edge) in self.thread.outgoing(loc) {
                let known = values.known_to(&edge.op);
                if self.taken.get(&(number, id)).is_some_and(|(seen, _)| *seen == known) {
                    continue;
                }
                changed = true;
                let acts = self.take(number, id, values)?;
                self.taken.insert((number, id), (known, acts));
            }
            at += 1;
        }
        Ok(changed)
    }

    /// All that an edge can do in a state.
    fn take(&mut self, from: u16, id: EdgeId, values: &mut ValueTable) -> Result<Vec<Act>, NoView> {
        let edge = self.thread.edge(id);
        let state = &self.states[usize::from(from) - 1];
        let mut registers = vec![0; self.thread.registers.len()];
        for (register, value) in self.liveness.at(self.id, state.loc).iter().zip(&state.registers) {
            registers[register.index()] = *value;
        }
        let live = self.liveness.at(self.id, edge.to);
        let unread = |register: RegId| live.binary_search(&register).is_err();
        let parts = self.parts.entry(id).or_insert_with(|| Part::of(edge));
        let steps = values.perform(edge, parts, registers, &unread)?;
        let mut acts = Vec::new();
        for step in steps {
            let registers = live.iter().map(|register| step.registers[register.index()]).collect();
            let to = LocalState { loc: edge.to, registers };
            if self.reached.is_some_and(|reached| !reached.contains(&to)) {
                continue;
            }
            let Some(kind) = self.kind(edge, &step, values)? else { continue };
            let to = self.states.insert_full(to).0;
            if self.states.len() > MOST_STATES {
                return Err(NoView::Unbounded(edge.span));
            }
            let act = Act { from, to: to as u16 + 1, edge: Some(id), choice: step.choice, kind };
            if !acts.iter().any(|other: &Act| other.to == act.to && other.kind == act.kind) {
                acts.push(act);
            }
        }
        Ok(acts)
    }

    /// What a step does to memory and buffers; `None` if nobody takes it.
    fn kind(
        &self,
        edge: &Edge,
        step: &LoadedStep,
        values: &mut ValueTable,
    ) -> Result<Option<ActKind>, NoView> {
        let Some(mut reads) = values.facts(&step.reads, edge.span)? else { return Ok(None) };
        let Some(mut writes) = values.facts(&step.writes, edge.span)? else { return Ok(None) };
        let inside = self.thread.in_atomic(edge.from);
        let (mine, free) = (values.held_by(self.id), values.free());
        Ok(Some(match &edge.op {
            Op::Skip | Op::Assign(..) | Op::Assume(_) | Op::Havoc(..) => ActKind::Silent,
            Op::Fence(Fence::Full) => ActKind::Fence,
            Op::Fence(Fence::Store) => ActKind::StoreFence,
            Op::Lock => {
                ActKind::Atomic { reads: free.into_iter().collect(), writes: mine.into_iter().collect() }
            }
            Op::Unlock => {
                ActKind::Atomic { reads: mine.into_iter().collect(), writes: free.into_iter().collect() }
            }
            Op::Load(..) | Op::Block { locked: false, .. } if !inside => {
                if reads.is_empty() && free.is_none() { ActKind::Silent } else { ActKind::Read(reads.into()) }
            }
            Op::Store(..) if !inside => match writes.pop() {
                Some(write) => ActKind::Write(write),
                None => ActKind::Silent,
            },
            Op::Load(..) | Op::Store(..) | Op::Block { .. } => {
                reads.extend(if inside { mine } else { free });
                ActKind::Atomic { reads: reads.into(), writes: writes.into() }
            }
        }))
    }

    fn finish(self, program: &Program) -> Behaviour {
        let mut taken: Vec<((u16, EdgeId), Vec<Act>)> =
            self.taken.into_iter().map(|(key, (_, acts))| (key, acts)).collect();
        taken.sort_by_key(|(key, _)| *key);
        let acts: Vec<Act> = taken.into_iter().flat_map(|(_, acts)| acts).collect();
        let looked_at = |state: &LocalState| looked_at(program, self.id, self.liveness, state);
        let observed: Vec<Vec<i64>> = self.states.iter().map(looked_at).collect();
        let count = self.states.len();
        let mut leaving = vec![0_u32; count + 1];
        acts.iter().for_each(|act| leaving[usize::from(act.from)] += 1);
        let mut silent = FxHashMap::default();
        for act in &acts {
            let (from, to) = (usize::from(act.from), usize::from(act.to));
            let alone = leaving[from] == 1 && act.kind == ActKind::Silent;
            // Nothing that goes round and round is passed over.
            if alone && observed[from - 1] == observed[to - 1] && !reaches(&silent, act.to, act.from) {
                silent.extend(act.edge.map(|edge| (act.from, (edge, act.choice, act.to))));
            }
        }
        let in_section = std::iter::once(false)
            .chain(self.states.iter().map(|state| self.thread.in_atomic(state.loc)))
            .collect();
        let mut behaviour = Behaviour {
            real: count as u16,
            states: self.states,
            acts: Vec::new(),
            into: vec![Vec::new(); count + 1],
            out_of: vec![Vec::new(); count + 1],
            silent,
            in_section,
            first: 0,
        };
        behaviour.first = behaviour.silently(behaviour.entry(), |_, _| {});
        for act in acts {
            if behaviour.silent.contains_key(&act.from) {
                continue;
            }
            behaviour.connect(act);
        }
        behaviour
    }
}

/// Whether following silent steps from one state leads to another.
fn reaches(silent: &FxHashMap<u16, (EdgeId, Option<i64>, u16)>, mut at: u16, goal: u16) -> bool {
    loop {
        if at == goal {
            return true;
        }
        match silent.get(&at) {
            Some((_, _, next)) => at = *next,
            None => return false,
        }
    }
}

/// What properties see of a thread's state.
fn looked_at(program: &Program, thread: ThreadId, liveness: &Liveness, state: &LocalState) -> Vec<i64> {
    let mut seen = Vec::new();
    for place in program.observed() {
        match place {
            Place::At(t, loc) if t == thread => seen.push(i64::from(state.loc == loc)),
            Place::Register(t, register) if t == thread => {
                seen.push(register_value(liveness, thread, state, register));
            }
            _ => {}
        }
    }
    seen
}

/// The value of a register in a state; one that is not live has none that matters.
pub(super) fn register_value(
    liveness: &Liveness,
    thread: ThreadId,
    state: &LocalState,
    register: RegId,
) -> i64 {
    let at = liveness.at(thread, state.loc).binary_search(&register);
    at.map_or(0, |at| state.registers[at])
}
