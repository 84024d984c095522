//! Whose steps are enough to see every final state.
//!
//! An *agent* acts on its own: the program of a thread, or its buffer. A set of agents is
//! *persistent* in a state if nothing that the others do, alone and for as long as they like,
//! makes a difference to the next steps of the set: which there are, what they do, and what is
//! left for the others afterwards. If besides an agent of the set is not at its end, every run to
//! a final state takes a step of the set; its first one could as well be taken at once, and the
//! run ends alike. So in every state the steps of such a set are enough, with loops and without
//! [P. Godefroid, Partial-Order Methods, LNCS 1032, sec. 4.1]. What is asked of a set:
//!
//! * a program in it does not wait for its own buffer; what its next steps load no other thread
//!   may still write, and what they write in memory no other thread may still load or write. A
//!   load that the buffer answers is free of that if the buffer is in the set: it stays as it is;
//! * a buffer in it is not empty, and what it may drain next no other thread may still load or
//!   write. Where stores overtake each other, a new one could be drained first, so the program
//!   stores nothing before it waits for the buffer, or is in the set as well.
//!
//! What a thread may *still* do with those of its agents that are not in the set is read off its
//! text, from where it stands; with its buffer in the set, up to where it waits for that. Program
//! and buffer of one thread do not disturb each other: a store joins one end and a drain takes
//! from the other, and what a thread loads changes with its own drains only if others write, too.

use crate::var_set::VarSet;
use crate::{Doubt, Entry, Event, Local, Machine, Model, State, Stepper};
use program::{Loc, Op, Program, Thread, ThreadId, VarId};
use smallvec::SmallVec;

/// A set of agents; threads are bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Agents {
    /// Threads whose programs are in it.
    pub programs: u64,
    /// Threads whose buffers are in it.
    pub buffers: u64,
}

impl Agents {
    /// Everybody, however many threads there are.
    pub const ALL: Agents = Agents { programs: u64::MAX, buffers: u64::MAX };

    /// Nobody.
    pub(crate) const NOBODY: Agents = Agents { programs: 0, buffers: 0 };

    /// Sets are of threads with smaller numbers.
    pub const MOST_THREADS: usize = u64::BITS as usize;

    /// Calls `visit` on every successor of a prepared state by a step of the set, as
    /// [`Stepper::successors`] does for all.
    pub fn successors<M: Machine>(
        self,
        stepper: &Stepper<'_, M>,
        state: &State,
        next: &mut State,
        mut doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(Event, Option<i64>, &State),
    ) {
        if self == Agents::ALL {
            return stepper.successors(state, next, doubt, visit);
        }
        for thread in bits(self.programs | self.buffers).take_while(|t| *t < stepper.thread_count()) {
            stepper.successors_of(ThreadId::new(thread), state, next, &mut doubt, |event, choice, next| {
                if self.has(event) {
                    visit(event, choice, next);
                }
            });
        }
    }

    /// Whether the step is one of the set.
    pub(crate) fn has(self, event: Event) -> bool {
        let one = Agents::of(event);
        self.programs & one.programs | self.buffers & one.buffers != 0
    }

    /// The agent whose step it is.
    pub(crate) fn of(event: Event) -> Agents {
        let thread = event.thread().index();
        match event {
            Event::Step { .. } => Agents::NOBODY.with_program(thread),
            Event::Drain { .. } => Agents::NOBODY.with_buffer(thread),
        }
    }

    /// The agents of two sets.
    pub(crate) fn and(self, other: Agents) -> Agents {
        Agents { programs: self.programs | other.programs, buffers: self.buffers | other.buffers }
    }

    /// Whether all of another set are in this one.
    pub(crate) fn include(self, other: Agents) -> bool {
        self.and(other) == self
    }

    pub(crate) fn has_program(self, thread: usize) -> bool {
        self.programs & bit(thread) != 0
    }

    pub(crate) fn has_buffer(self, thread: usize) -> bool {
        self.buffers & bit(thread) != 0
    }

    pub(crate) fn with_program(self, thread: usize) -> Agents {
        Agents { programs: self.programs | bit(thread), ..self }
    }

    pub(crate) fn with_buffer(self, thread: usize) -> Agents {
        Agents { buffers: self.buffers | bit(thread), ..self }
    }

    pub(crate) fn len(self) -> u32 {
        self.programs.count_ones() + self.buffers.count_ones()
    }
}

fn bit(index: usize) -> u64 {
    1 << index
}

fn bits(mut set: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let first = (set != 0).then(|| set.trailing_zeros() as usize)?;
        set &= set - 1;
        Some(first)
    })
}

/// Variables that are touched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Touched {
    pub(crate) loads: VarSet,
    pub(crate) stores: VarSet,
}

impl Touched {
    pub(crate) const NOTHING: Touched = Touched { loads: VarSet::EMPTY, stores: VarSet::EMPTY };

    pub(crate) fn and(self, other: Touched) -> Touched {
        Touched { loads: self.loads | other.loads, stores: self.stores | other.stores }
    }

    /// Whether the order of the two can make a difference.
    pub(crate) fn clashes(self, other: Touched) -> bool {
        self.stores.meets(other.loads | other.stores) || self.loads.meets(other.stores)
    }
}

/// What the text says of a thread at a location.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Here {
    /// Nothing is left to do.
    ended: bool,
    /// One of the next steps waits until the buffer is empty.
    pub(crate) waits: bool,
    /// One of them does not.
    goes: bool,
    /// What the next steps load, and write straight to memory.
    pub(crate) next: Touched,
    /// All that may be loaded and stored from here on.
    pub(crate) later: Touched,
    /// The same up to a step that waits.
    pub(crate) until_wait: Touched,
}

/// Decides which sets of agents are persistent.
pub struct Persistent {
    threads: Vec<Vec<Here>>,
    model: Model,
    /// Whether stores of a thread stay in order.
    pub(crate) in_order: bool,
}

/// A thread in a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    pub(crate) here: Here,
    /// Variables in its buffer, and those among them that may be drained now.
    pub(crate) buffered: VarSet,
    drains: VarSet,
}

pub(crate) type StandingThreads = SmallVec<[Standing; 8]>;

impl Persistent {
    /// Looks at a program under a memory model; `None` if only everybody together is known to be
    /// persistent: with too many threads or variables, or with atomic sections of several steps.
    pub fn new(program: &Program, model: Model) -> Option<Persistent> {
        let small = program.threads.len() <= Agents::MOST_THREADS && program.variables.len() <= VarSet::MOST;
        let mut edges = program.threads.iter().flat_map(Thread::edges);
        if !small || edges.any(|edge| edge.op == Op::Lock) {
            return None;
        }
        let in_order = program.variable_ids().all(|v| model.share_a_queue(VarId::new(0), v));
        let threads = program.threads.iter().map(|thread| described(thread, model)).collect();
        Some(Persistent { threads, model, in_order })
    }

    /// Whether the steps of these agents are enough where threads are in these controls.
    pub fn allows<'l>(&self, locals: impl IntoIterator<Item = &'l Local>, agents: Agents) -> bool {
        let threads = self.standing(locals);
        let beyond = (agents.programs | agents.buffers).checked_shr(threads.len() as u32).unwrap_or(0);
        let fits = |(at, thread): (usize, &Standing)| {
            (!agents.has_program(at) || thread.may_go())
                && (!agents.has_buffer(at) || !thread.drains.is_empty())
                && self.keeps_its_drains(thread, at, agents)
        };
        let unfinished = |(at, thread): (usize, &Standing)| {
            agents.has_buffer(at) || agents.has_program(at) && !thread.here.ended
        };
        beyond == 0
            && threads.iter().enumerate().all(fits)
            && threads.iter().enumerate().any(unfinished)
            && self.disturbed(&threads, agents).is_none()
    }

    /// A small set whose steps are enough where threads are in these controls.
    pub fn choose<'l>(&self, locals: impl IntoIterator<Item = &'l Local>) -> Agents {
        let threads = self.standing(locals);
        let goes = |at: &usize| threads[*at].may_go() && !threads[*at].here.ended;
        let programs = (0..threads.len()).filter(goes).map(|at| Agents::NOBODY.with_program(at));
        let drains = (0..threads.len())
            .filter(|at| !threads[*at].drains.is_empty())
            .map(|at| Agents::NOBODY.with_buffer(at));
        let mut best = Agents::ALL;
        for seed in programs.chain(drains) {
            if best.len() == 1 {
                break;
            }
            best = self.grown(&threads, seed).filter(|set| set.len() < best.len()).unwrap_or(best);
        }
        best
    }

    fn standing<'l>(&self, locals: impl IntoIterator<Item = &'l Local>) -> StandingThreads {
        (0..self.threads.len()).zip(locals).map(|(thread, local)| self.standing_at(thread, local)).collect()
    }

    /// A thread in a control.
    pub(crate) fn standing_at(&self, thread: usize, local: &Local) -> Standing {
        let here = self.threads[thread][local.loc.index()];
        let mut thread = Standing { here, buffered: VarSet::default(), drains: VarSet::default() };
        for (at, entry) in local.kept.iter().enumerate() {
            let Entry::Store(variable) = entry else { continue };
            thread.buffered.insert(*variable);
            if self.model.may_drain(&local.kept, at) {
                thread.drains.insert(*variable);
            }
        }
        thread
    }

    /// What the text says of a thread at a location.
    pub(crate) fn here(&self, thread: ThreadId, loc: Loc) -> &Here {
        &self.threads[thread.index()][loc.index()]
    }

    /// Takes a thread's next steps from these locations to load all that any of them does.
    pub(crate) fn look_together(&mut self, thread: usize, locs: &[Loc]) {
        let here = &mut self.threads[thread];
        let loads = locs.iter().fold(VarSet::default(), |all, loc| all | here[loc.index()].next.loads);
        locs.iter().for_each(|loc| here[loc.index()].next.loads |= loads);
    }

    /// The set with all that it takes to make it persistent.
    pub(crate) fn grown(&self, threads: &StandingThreads, mut set: Agents) -> Option<Agents> {
        while let Some(by) = self.disturbed(threads, set) {
            let thread = &threads[by];
            let program = thread.may_go().then(|| set.with_program(by));
            let buffer = (!thread.drains.is_empty()).then(|| set.with_buffer(by));
            let both = program.filter(|_| buffer.is_some()).map(|set| set.with_buffer(by));
            let helps = |wider: &Agents| *wider != set && !self.disturbs(threads, *wider, by);
            set = [program, buffer, both].into_iter().flatten().find(helps)?;
        }
        Some(set)
    }

    /// A thread that disturbs the set.
    fn disturbed(&self, threads: &StandingThreads, set: Agents) -> Option<usize> {
        let next = |at: usize| threads[at].next(set.has_program(at), set.has_buffer(at));
        // What clashes with one of several clashes with all of them together: so threads are not compared two by two.
        let mut behind: SmallVec<[Touched; 8]> = SmallVec::from_elem(Touched::NOTHING, threads.len() + 1);
        (0..threads.len()).rev().for_each(|at| behind[at] = behind[at + 1].and(next(at)));
        let mut before = Touched::NOTHING;
        (0..threads.len()).find(|by| {
            let others = before.and(behind[by + 1]);
            before = before.and(next(*by));
            let rest = threads[*by].rest(set.has_program(*by), set.has_buffer(*by));
            others.clashes(rest) || !self.keeps_its_drains(&threads[*by], *by, set)
        })
    }

    /// Whether what a thread may do outside of the set makes a difference to it.
    fn disturbs(&self, threads: &StandingThreads, set: Agents, by: usize) -> bool {
        let rest = threads[by].rest(set.has_program(by), set.has_buffer(by));
        let others = bits(set.programs | set.buffers).filter(|at| *at != by);
        let mut nexts = others.map(|at| threads[at].next(set.has_program(at), set.has_buffer(at)));
        nexts.any(|next| next.clashes(rest)) || !self.keeps_its_drains(&threads[by], by, set)
    }

    /// Whether no new store of the thread can be the next that its buffer, in the set, drains.
    fn keeps_its_drains(&self, thread: &Standing, at: usize, set: Agents) -> bool {
        let quiet = self.in_order || set.has_program(at) || thread.here.until_wait.stores.is_empty();
        quiet || !set.has_buffer(at)
    }
}

impl Standing {
    /// Whether no next step of the program has to wait for the buffer.
    pub(crate) fn may_go(&self) -> bool {
        !self.here.waits || self.buffered.is_empty()
    }

    /// Who acts before the program takes a step, or is the program itself; nothing if that depends, and the
    /// program may not be in a set.
    pub(crate) fn before_program(&self, at: usize) -> Option<Agents> {
        match (self.here.ended, self.may_go()) {
            (true, _) => Some(Agents::NOBODY),
            (false, true) => Some(Agents::NOBODY.with_program(at)),
            (false, false) => (!self.here.goes).then_some(Agents::NOBODY.with_buffer(at)),
        }
    }

    /// What may happen without the agents that are in a set.
    pub(crate) fn rest(&self, program: bool, buffer: bool) -> Touched {
        let steps = match (program, buffer) {
            (true, _) => Touched::default(),
            (false, true) => self.here.until_wait,
            (false, false) => self.here.later,
        };
        let stores = if buffer { VarSet::default() } else { self.buffered | steps.stores };
        Touched { loads: steps.loads, stores }
    }

    /// What the agents in a set touch in memory with their next steps.
    fn next(&self, program: bool, buffer: bool) -> Touched {
        let mut next = if program { self.here.next } else { Touched::default() };
        if buffer {
            next.loads = next.loads & !self.buffered;
            next.stores |= self.drains;
        }
        next
    }
}

/// What the text says of a thread at all its locations.
fn described(thread: &Thread, model: Model) -> Vec<Here> {
    let mut all = vec![Here::default(); thread.locs().count()];
    for loc in thread.locs() {
        let here = &mut all[loc.index()];
        here.ended = thread.is_end(loc);
        for (_, edge) in thread.outgoing(loc) {
            let direct = edge.op.waits() || !model.buffers();
            here.waits |= edge.op.waits();
            here.goes |= !edge.op.waits();
            let step = touched(&edge.op);
            here.next.loads |= step.loads;
            if direct {
                here.next.stores |= step.stores;
            }
        }
    }
    let mut changed = true;
    while changed {
        changed = false;
        for edge in thread.edges().iter().rev() {
            let (after, mut here) = (all[edge.to.index()], all[edge.from.index()]);
            let step = touched(&edge.op);
            here.later = here.later.and(step).and(after.later);
            if !edge.op.waits() {
                here.until_wait = here.until_wait.and(step).and(after.until_wait);
            }
            let before = &mut all[edge.from.index()];
            changed |= (before.later, before.until_wait) != (here.later, here.until_wait);
            *before = here;
        }
    }
    all
}

pub(crate) fn touched(op: &Op) -> Touched {
    let mut touched = Touched::default();
    op.for_each_part(&mut |part| match part {
        Op::Load(_, variable) => touched.loads.insert(*variable),
        Op::Store(variable, _) => touched.stores.insert(*variable),
        _ => {}
    });
    touched
}
