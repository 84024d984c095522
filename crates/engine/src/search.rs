//! Search: walks a transition system and keeps what it reached.
//!
//! The walk knows nothing of programs or memory: a [`TransitionSystem`] has initial states,
//! successors, goals, and packs states into bytes. Breadth first, the queue is the state set
//! itself (states lie there in the order they were found), and the first goal found is a
//! nearest one. Each state links to the one it was found from; labels are not stored but
//! found again when a path is wanted.
//!
//! States may be *heavy* (long buffers). Those heavier than a bound are kept but postponed;
//! when nothing else is left, the bound is doubled: 1, 2, 4, …. So a system that is infinite in
//! weight only is explored in slices, and nothing is ever explored twice.

use crate::batch::Batch;
use crate::growth::Doubling;
use evidence::{Monitor, Progress, Stop};
use machine::{Full, Lookup, StateRef, StateSet, state_hash};
use std::hint::black_box;

/// In which order states are expanded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Oldest first: the first goal found is a nearest one.
    Breadth,
    /// Newest first: often finds deep goals sooner.
    Depth,
}

/// A system of states and steps that a search can walk.
pub trait TransitionSystem {
    /// A state, unpacked.
    type State: Default;
    /// What a step is called.
    type Label;
    /// Why a state is a goal.
    type Goal;

    /// Does what has to be done before the initial states can be listed.
    fn begin(&mut self) {}
    /// The states to start from, one after the other.
    fn initial(&self) -> Box<dyn Iterator<Item = Self::State> + '_>;
    /// Does what has to be done before a state's successors can be listed.
    fn prepare(&mut self, state: &Self::State);
    /// Lists successors in a fixed order; `next` is working memory.
    fn successors(
        &self,
        state: &Self::State,
        next: &mut Self::State,
        visit: impl FnMut(Self::Label, &Self::State),
    );
    /// The work of taking up a state, and of looking at a successor, in the unit of [`Progress::work`].
    fn work(&self) -> usize {
        1
    }

    /// Bytes of memory it holds by itself.
    fn bytes(&self) -> usize {
        0
    }
    /// How heavy a state is.
    fn weight(&self, _: &Self::State) -> usize {
        0
    }
    /// Whether a state is what we look for.
    fn goal(&self, state: &Self::State) -> Option<Self::Goal>;
    /// Appends a state's bytes; equal states have equal bytes.
    fn pack(&self, state: &Self::State, out: &mut Vec<u8>);
    /// Reads a state back.
    fn unpack(&self, bytes: &[u8], state: &mut Self::State);

    /// Adds the successors of a packed state to a batch, in a fixed order, unless it is heavier than a bound; whether it
    /// did. The states are working memory.
    fn expand(
        &mut self,
        packed: &[u8],
        bound: usize,
        spare: &mut (Self::State, Self::State),
        found: &mut Batch<Self::Goal>,
    ) -> bool {
        expand_unpacked(self, packed, bound, spare, found)
    }
}

/// What [`TransitionSystem::expand`] does, by unpacking the state.
pub(crate) fn expand_unpacked<T: TransitionSystem + ?Sized>(
    system: &mut T,
    packed: &[u8],
    bound: usize,
    (state, next): &mut (T::State, T::State),
    found: &mut Batch<T::Goal>,
) -> bool {
    system.unpack(packed, state);
    if system.weight(state) > bound {
        return false;
    }
    system.prepare(state);
    system.successors(state, next, |_, successor| found.push(system, successor));
    true
}

/// How a search ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended<G> {
    /// Everything reachable was expanded, and nothing is a goal.
    Complete,
    /// This state is a goal.
    Goal(StateRef, G),
    /// The depth limit was reached without a goal.
    Deep,
    /// Only states heavier than the largest bound allowed are left.
    Heavy,
    /// The monitor stopped it.
    Stopped(Stop),
    /// The state set is full.
    Full,
}

/// What a search found.
pub struct Search<G> {
    /// The states reached.
    pub states: StateSet,
    /// How it ended.
    pub ended: Ended<G>,
    /// The last bound on weight.
    pub bound: usize,
    /// Whether a state was ever postponed: the goal found need not be a nearest one then.
    pub postponed: bool,
    /// What is left to do.
    pub(crate) rest: Unexplored,
}

/// Where a search stopped.
pub(crate) struct Unexplored {
    /// States that are to be expanded before all others.
    pub(crate) first: Vec<StateRef>,
    /// The last state, in the order of the set, that was expanded or is one of the first.
    pub(crate) last: Option<StateRef>,
    /// The last state that is as near as the first one behind that.
    pub(crate) level_end: Option<StateRef>,
    /// States that are too heavy yet.
    pub(crate) heavy: Vec<StateRef>,
}

/// How far and how to search.
#[derive(Clone, Copy)]
pub struct Limits<'a> {
    /// In which order.
    pub order: Order,
    /// Breadth first only: expand nothing at this distance or beyond.
    pub depth: Option<usize>,
    /// No more states than this.
    pub states: Option<usize>,
    /// Shows progress and enforces limits.
    pub monitor: &'a dyn Monitor,
    /// Whether to take light states first, and up to which bound.
    pub weight: Weight,
}

impl<'a> Limits<'a> {
    /// Nearest states first, whatever they weigh, and all of them.
    pub(crate) fn none(monitor: &'a dyn Monitor) -> Limits<'a> {
        Limits { order: Order::Breadth, depth: None, states: None, monitor, weight: Weight::Ignore }
    }
}

/// What to do about heavy states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Weight {
    /// Weight does not matter.
    Ignore,
    /// Light states first, with bounds 1, 2, 4, … up to this one.
    LightFirst(Option<usize>),
}

/// How many expansions pass between two looks at the monitor.
const PATIENCE: usize = 1024;

/// So many successors are looked for at a time: they wait for memory together.
const TOGETHER: usize = 32;

/// And how many successors, where there are many.
const LARGE_BATCHES: usize = 16 * PATIENCE;

/// Walks a system until a goal, the end or a limit.
pub fn search<T: TransitionSystem>(system: &mut T, limits: &Limits<'_>) -> Search<T::Goal> {
    let mut walk = Walk::new(limits);
    let ended = walk.run(system, limits).unwrap_or_else(|ended| ended);
    // Many searches are too short for a report: the work of all is to be counted. They have ended,
    // so whoever wants to stop has to say so next time.
    let _ = limits.monitor.observe(&walk.progress(system));
    let Walk { states, mut stack, current, frontier, postponed, postponed_any, bound, .. } = walk;
    // A state whose expansion was broken off is expanded again.
    stack.extend(current.into_iter().map(|(at, _)| at));
    let Frontier { last, level_end, .. } = frontier;
    let rest = Unexplored { first: stack, last, level_end, heavy: postponed };
    Search { states, ended, bound, postponed: postponed_any, rest }
}

struct Walk<G> {
    states: StateSet,
    order: Order,
    /// Depth first: what is to be expanded. Breadth first: what is taken up again after waiting.
    stack: Vec<StateRef>,
    frontier: Frontier,
    /// What is being expanded, and where its successors begin among those found.
    current: Vec<(StateRef, usize)>,
    postponed: Vec<StateRef>,
    postponed_any: bool,
    bound: usize,
    expanded: usize,
    /// How many of them the monitor knows of.
    reported: usize,
    /// How many successors were found since the last look at the monitor.
    looked_at: usize,
    /// The successors of the states that are being expanded.
    found: Batch<G>,
    hashes: Vec<u64>,
    lookups: Vec<Lookup>,
}

impl<G> Walk<G> {
    fn new(limits: &Limits<'_>) -> Walk<G> {
        let bound = if limits.weight == Weight::Ignore { usize::MAX } else { 1 };
        Walk {
            states: StateSet::new(),
            order: limits.order,
            stack: Vec::new(),
            frontier: Frontier { last: None, level_end: None, depth: 0 },
            current: Vec::new(),
            postponed: Vec::new(),
            postponed_any: false,
            bound,
            expanded: 0,
            reported: 0,
            looked_at: 0,
            found: Batch::default(),
            hashes: Vec::new(),
            lookups: Vec::new(),
        }
    }

    fn run<T: TransitionSystem<Goal = G>>(
        &mut self,
        system: &mut T,
        limits: &Limits<'_>,
    ) -> Result<Ended<G>, Ended<G>> {
        let mut spare = Default::default();
        self.start(system, limits)?;
        self.frontier.level_end = self.states.last();
        loop {
            while let Some(at) = self.take() {
                if limits.depth.is_some_and(|depth| self.frontier.depth >= depth) {
                    return Ok(Ended::Deep);
                }
                self.current.push((at, self.found.ends.len()));
                if self.expanded.is_multiple_of(PATIENCE) {
                    self.report(limits, system, 0).map_err(Ended::Stopped)?;
                }
                if system.expand(self.states.get(at), self.bound, &mut spare, &mut self.found) {
                    self.expanded += 1;
                } else {
                    self.postpone(at, limits, system).map_err(Ended::Stopped)?;
                    self.current.pop();
                }
                if self.found.ends.len() >= TOGETHER || !self.may_go_on() {
                    self.add_found(system, limits)?;
                }
            }
            if self.postponed.is_empty() {
                return Ok(Ended::Complete);
            }
            self.raise_bound(limits)?;
        }
    }

    fn postpone<T: TransitionSystem>(
        &mut self,
        at: StateRef,
        limits: &Limits<'_>,
        system: &T,
    ) -> Result<(), Stop> {
        let coming = self.postponed.growth(1);
        if coming > 0 {
            self.report(limits, system, coming)?;
        }
        self.postponed.push(at);
        self.postponed_any = true;
        Ok(())
    }

    /// Adds the initial states.
    fn start<T: TransitionSystem<Goal = G>>(
        &mut self,
        system: &mut T,
        limits: &Limits<'_>,
    ) -> Result<(), Ended<G>> {
        system.begin();
        let mut initial = system.initial();
        loop {
            initial.by_ref().take(PATIENCE).for_each(|state| self.found.push(system, &state));
            if self.found.ends.is_empty() {
                return Ok(());
            }
            self.add_found(system, limits)?;
        }
    }

    /// Takes up what was postponed, with twice the bound, or the largest that is allowed.
    fn raise_bound(&mut self, limits: &Limits<'_>) -> Result<(), Ended<G>> {
        let most = match limits.weight {
            Weight::LightFirst(Some(most)) => most,
            _ => usize::MAX,
        };
        if self.bound >= most {
            return Err(Ended::Heavy);
        }
        self.bound = self.bound.saturating_mul(2).min(most);
        // Nothing waits but what was postponed.
        self.stack = std::mem::take(&mut self.postponed);
        Ok(())
    }

    /// Whether the next state can be taken before what was found is added: it is there, as near as the last one, and no
    /// look at the monitor is due.
    fn may_go_on(&self) -> bool {
        let Frontier { last, level_end, .. } = self.frontier;
        let next =
            !self.stack.is_empty() || (last.is_some() && last != level_end && last != self.states.last());
        self.order == Order::Breadth && next && !self.expanded.is_multiple_of(PATIENCE)
    }

    /// Adds what was found; the first goal among it ends the walk.
    fn add_found<T: TransitionSystem>(&mut self, system: &T, limits: &Limits<'_>) -> Result<(), Ended<G>> {
        self.looked_at += self.found.ends.len();
        let coming = self.coming();
        if coming > 0 || self.looked_at > LARGE_BATCHES {
            self.report(limits, system, coming).map_err(Ended::Stopped)?;
        }
        let stopped = self.insert_found();
        match (stopped, self.found.goal.take()) {
            (Err(NotInserted::Full), _) => return Err(Ended::Full),
            (Err(NotInserted::Goal(at)), Some((_, goal))) => return Err(Ended::Goal(at, goal)),
            _ => {}
        }
        self.found.clear();
        self.current.clear();
        Ok(())
    }

    /// Adds what was found, up to the first goal.
    fn insert_found(&mut self) -> Result<(), NotInserted> {
        let Walk { states, found, hashes, lookups, current, .. } = self;
        hashes.clear();
        hashes.extend(found.states().map(state_hash));
        black_box(hashes.iter().fold(0, |sum, hash| sum ^ states.touch_table(*hash)));
        lookups.clear();
        lookups.extend(hashes.iter().map(|hash| states.look_by_hash(*hash)));
        black_box(lookups.iter().fold(0, |sum, lookup| sum ^ states.touch(lookup)));
        let goal = found.goal.as_ref().map(|(first, _)| *first);
        let mut packed = found.states().zip(lookups.iter()).enumerate();
        let mut add = |from: Option<StateRef>, count: usize| {
            for (number, (packed, lookup)) in packed.by_ref().take(count) {
                // A goal is never known before: it would have ended the walk.
                if states.is_first(lookup, packed) && goal != Some(number) {
                    continue;
                }
                let (at, new) = states.insert_at(*lookup, packed, from).map_err(|Full| NotInserted::Full)?;
                if new && self.order == Order::Depth {
                    self.stack.push(at);
                }
                if goal == Some(number) {
                    return Err(NotInserted::Goal(at));
                }
            }
            Ok(())
        };
        // Initial states come from nowhere; otherwise the first state has the first successors.
        let all = found.ends.len();
        add(None, current.first().map_or(all, |(_, start)| *start))?;
        let ends = current.iter().skip(1).map(|(_, start)| *start).chain([all]);
        current.iter().zip(ends).try_for_each(|((at, start), end)| add(Some(*at), end - start))
    }

    fn take(&mut self) -> Option<StateRef> {
        let waited = self.stack.pop();
        if self.order == Order::Depth {
            waited
        } else {
            waited.or_else(|| self.frontier.advance(&self.states))
        }
    }

    /// Bytes that adding what was found will take at once.
    fn coming(&self) -> usize {
        let found = self.found.ends.len();
        let stacked = if self.order == Order::Depth { found } else { 0 };
        self.states.growth(found) + self.stack.growth(stacked)
    }

    fn report<T: TransitionSystem>(
        &mut self,
        limits: &Limits<'_>,
        system: &T,
        coming: usize,
    ) -> Result<(), Stop> {
        if limits.states.is_some_and(|most| self.states.len() > most) {
            return Err(Stop::States);
        }
        limits.monitor.observe(&Progress { coming, ..self.progress(system) })
    }

    fn progress<T: TransitionSystem>(&mut self, system: &T) -> Progress {
        let new = self.expanded - std::mem::replace(&mut self.reported, self.expanded);
        let looked_at = std::mem::take(&mut self.looked_at);
        let done = self.expanded.saturating_sub(self.current.len());
        Progress {
            phase: "exploring",
            bound: (self.bound != usize::MAX).then_some(self.bound),
            states: self.states.len(),
            work: (new + looked_at) * system.work(),
            waiting: self.states.len() - done.min(self.states.len()),
            bytes: self.states.bytes() + system.bytes(),
            ..Progress::default()
        }
    }
}

/// Why no more of what was found is added.
enum NotInserted {
    Goal(StateRef),
    Full,
}

/// The breadth-first frontier: a place in the state set, and how deep it lies.
struct Frontier {
    last: Option<StateRef>,
    /// The last state of the current depth.
    level_end: Option<StateRef>,
    depth: usize,
}

impl Frontier {
    fn advance(&mut self, states: &StateSet) -> Option<StateRef> {
        if self.last.is_some() && self.last == self.level_end {
            self.depth += 1;
            self.level_end = states.last();
        }
        self.last = match self.last {
            None => states.first(),
            Some(at) => Some(states.next(at)?),
        };
        self.last
    }
}

/// The first state of the path to a state, and the labels along it.
pub fn path<T: TransitionSystem>(
    system: &mut T,
    states: &StateSet,
    goal: StateRef,
) -> (T::State, Vec<T::Label>) {
    let mut labels = Vec::new();
    let first = retrace(system, states, goal, |_, label, _| labels.push(label));
    (first, labels)
}

/// The first state of the path to a state. Calls `visit` with the label and the state after every step.
pub(crate) fn retrace<T: TransitionSystem>(
    system: &mut T,
    states: &StateSet,
    goal: StateRef,
    mut visit: impl FnMut(&T, T::Label, &T::State),
) -> T::State {
    let mut chain: Vec<StateRef> = std::iter::successors(Some(goal), |at| states.link(*at)).collect();
    chain.reverse();
    let (mut state, mut next) = (T::State::default(), T::State::default());
    let mut packed = Vec::new();
    for pair in chain.windows(2) {
        system.unpack(states.get(pair[0]), &mut state);
        system.prepare(&state);
        let wanted = states.get(pair[1]);
        let mut found = None;
        system.successors(&state, &mut next, |label, successor| {
            packed.clear();
            system.pack(successor, &mut packed);
            if found.is_none() && packed == wanted {
                found = Some(label);
            }
        });
        if let Some(label) = found {
            system.unpack(wanted, &mut state);
            visit(system, label, &state);
        }
    }
    system.unpack(states.get(chain[0]), &mut state);
    state
}
