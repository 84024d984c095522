//! Whose steps are enough to see every violation, state by state.
//!
//! In every state a set of agents is chosen that is *persistent* ([`crate::persistent`]), and only its steps are
//! taken. A set of states without violations is a proof if these steps stay in it and every goal (a failure of a
//! thread, a condition that is never to hold) is *served* by the set of every state, in one of two ways:
//!
//! * on every way to the goal one of the set acts. The first step of the set on a shortest way may as well come
//!   first, and what is left of the way is shorter;
//! * or the set has a step that does not undo the goal and lowers the rank of the state. If nobody of the set acts on a shortest
//!   way, that step may be put before it, and the way, as long as before, begins where the rank is lower.
//!
//! So there is no state in the set from which a goal can be reached: take one with a shortest way and, of those,
//! with the lowest rank. The *rank* is how far threads can go without going back in their text, then how much is in
//! their buffers: steps that go on lower it, drains do, and what goes round a loop does not for ever. A state in which all
//! have ended, for `finally`, is reached by a way on which whoever can act now does; so whoever it is serves it.
//!
//! No step need be hidden from properties, and nobody looks for cycles. [A. Valmari, Stubborn sets for reduced state space
//! generation, 1989; K. Schmidt, Stubborn sets for standard properties, 1999.] States may be settled, too: what covers
//! a state has no longer way to a goal. A thread that waits in a loop without looking is in a set as one that loads all that
//! the loop looks at. What others may still touch is read off their texts, or off their values ([`futures`]), which also
//! say how many steps are left where there is an end to them; that then is the first part of the rank. Programs with
//! atomic sections of several steps have all agents in every set.

mod futures;
mod rank;

use crate::goals::Goals;
use crate::persistent::{Standing, StandingThreads, Touched};
use crate::reduced_domain::ReducedDomain;
use crate::successor_list::SuccessorList;
use crate::{Agents, Buffered, DataDomain, Event, Local, Machine, Persistent, State};
use futures::{Futures, KnownFutures};
use program::{Loc, ThreadId};
use rank::ranks;
use smallvec::SmallVec;

/// Who acts in a state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Acting {
    /// Everybody.
    #[default]
    Everybody,
    /// Everybody, until nothing can go wrong any more ([`crate::InReach`]).
    InReach,
    /// Agents that are enough by what texts say of others.
    ByText,
    /// Agents that are enough by what values say of others.
    ByValues,
}

impl Acting {
    /// The same, or what comes next to it, as far as it is possible on a machine.
    pub fn possible(self, machine: &Buffered<'_>) -> Acting {
        let few = || Persistent::new(machine.program(), machine.model()).is_some();
        match self {
            Acting::ByValues if few() && Futures::of(machine).is_some() => Acting::ByValues,
            Acting::ByText | Acting::ByValues if few() => Acting::ByText,
            Acting::InReach if machine.program().properties.is_empty() => Acting::InReach,
            _ => Acting::Everybody,
        }
    }
}

/// The states of a domain, of which every one is left by the steps of a few agents only.
pub struct Stubborn<D> {
    inner: D,
    pub(crate) persistent: Persistent,
    goals: Goals,
    /// What threads may still touch, if values say it.
    futures: Option<Futures>,
    /// By thread and location.
    ranks: Vec<Vec<u32>>,
    /// By thread and the number of its control.
    controls: Vec<Vec<KnownControl>>,
    /// How many variables there are.
    memory: usize,
    /// The steps of the state that was prepared last.
    listed: SuccessorList,
    /// Who acts in it.
    pub(crate) acting: Agents,
    spare: State,
}

/// What a thread's control says.
struct KnownControl {
    standing: Standing,
    /// How far its text goes on, and how much is in its buffer.
    rank: (u32, usize),
    slots: usize,
    /// Its number among those of which values say more.
    number: Option<usize>,
}

/// How many steps threads can still take, how far their texts go on, and how much is in their buffers.
type Rank = (u32, u32, usize);

/// Threads with more locations than this are not looked at.
const MOST_LOCATIONS: usize = 8_192;

/// An agent that can act in a state, and how many steps it can take.
type Offer = (Agents, usize);

type Offers = SmallVec<[Offer; 8]>;

impl<'m, 'p: 'm, D> Stubborn<D>
where
    D: DataDomain<'m, Machine = Buffered<'p>>,
{
    /// Leaves out steps of a domain; `None` if the machine is not the exact one, or it is known that everybody is in
    /// every set, values say nothing, or a thread has very many locations: which of them lie ahead of which
    /// is a table of all pairs.
    pub fn new(inner: D, acting: Acting) -> Option<Stubborn<D>> {
        let machine = inner.stepper().machine();
        let program = machine.program();
        if program.threads.iter().any(|thread| thread.locs().count() > MOST_LOCATIONS) {
            return None;
        }
        let mut persistent = Persistent::new(program, machine.model()).filter(|_| machine.is_exact())?;
        for (thread, locs) in inner.waiting_together() {
            persistent.look_together(thread.index(), &locs);
        }
        let futures = match acting {
            Acting::ByText => None,
            Acting::ByValues => Some(Futures::of(machine)?),
            Acting::Everybody | Acting::InReach => return None,
        };
        Some(Stubborn {
            persistent,
            futures,
            goals: Goals::of(program, machine.model()),
            ranks: program.threads.iter().map(ranks).collect(),
            controls: program.threads.iter().map(|_| Vec::new()).collect(),
            memory: program.variables.len(),
            listed: SuccessorList::default(),
            acting: Agents::ALL,
            spare: State::default(),
            inner,
        })
    }

    /// By thread: what those of it may still touch who do not act in that state. Nothing if all act.
    pub(crate) fn rest(&self, state: &State) -> Vec<Touched> {
        let known = self.known_futures(state).filter(|_| self.acting != Agents::ALL);
        let standing = known.map(|known| self.standing(state, &known)).unwrap_or_default();
        let rest = |(at, thread): (usize, &Standing)| {
            thread.rest(self.acting.has_program(at), self.acting.has_buffer(at))
        };
        standing.iter().enumerate().map(rest).collect()
    }

    /// Whether a step undoes no goal.
    pub(crate) fn keeps_goals(&self, event: Event) -> bool {
        self.goals.kept_by(event) & self.goals.all() == self.goals.all()
    }

    /// How far a thread can go on from a location.
    pub(crate) fn rank_of(&self, thread: ThreadId, loc: Loc) -> u32 {
        self.ranks[thread.index()][loc.index()]
    }

    /// Looks at the controls that were met since the last time.
    fn describe(&mut self) {
        let stepper = self.inner.stepper();
        for (thread, known) in self.controls.iter_mut().enumerate() {
            let described = |local: &Local| KnownControl {
                standing: self.persistent.standing_at(thread, local),
                rank: (self.ranks[thread][local.loc.index()], local.kept.len()),
                slots: slot_count(stepper.machine(), ThreadId::new(thread), local),
                number: self.futures.as_ref().and_then(|futures| futures.control(thread, local)),
            };
            known.extend(stepper.locals(ThreadId::new(thread)).skip(known.len()).map(described));
        }
    }

    fn controls<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a KnownControl> {
        self.controls.iter().zip(&state.locals).map(|(known, id)| &known[*id as usize])
    }

    /// What values say of all threads; of nobody if they are not used. `None` if they do not know the state.
    fn known_futures(&self, state: &State) -> Option<KnownFutures<'_>> {
        let Some(futures) = &self.futures else { return Some(KnownFutures::new()) };
        let (memory, mut slots) = state.values.split_at(self.memory);
        if !futures.know(memory) {
            return None;
        }
        let threads = self.controls(state).map(|control| {
            let (own, rest) = slots.split_at(control.slots);
            slots = rest;
            Some((control.number?, own))
        });
        futures.at(memory, &threads.collect::<Option<SmallVec<[_; 16]>>>()?)
    }

    fn rank(&self, state: &State, known: &KnownFutures<'_>) -> Rank {
        let steps = known.iter().map(|future| future.height).sum();
        let add = |sum: Rank, control: &KnownControl| (sum.0, sum.1 + control.rank.0, sum.2 + control.rank.1);
        self.controls(state).fold((steps, 0, 0), add)
    }

    /// Who can act.
    fn offers(&self) -> Offers {
        let mut offers = Offers::new();
        for ((event, _), _) in self.listed.iter() {
            let agent = Agents::of(event);
            match offers.iter_mut().find(|(known, _)| *known == agent) {
                Some((_, steps)) => *steps += 1,
                None => offers.push((agent, 1)),
            }
        }
        offers
    }

    /// The goals that are served by a step of a set which keeps them and lowers the rank.
    fn served(&self, set: Agents, rank: Rank) -> u64 {
        let lower =
            |next: &State| self.known_futures(next).is_some_and(|known| self.rank(next, &known) < rank);
        let steps = self.listed.iter().filter(|((event, _), _)| set.has(*event));
        steps.fold(0, |all, ((event, _), next)| {
            let kept = self.goals.kept_by(event);
            // To work out a rank takes longer.
            if kept & !all != 0 && lower(next) { all | kept } else { all }
        })
    }

    /// Few agents whose steps are enough.
    fn choose(&self, state: &State) -> Agents {
        let offers = self.offers();
        let steps = |set: Agents| {
            let acting = offers.iter().filter(|(agent, _)| set.include(*agent));
            acting.map(|(_, steps)| *steps).sum::<usize>()
        };
        let (mut best, mut fewest) = (Agents::ALL, steps(Agents::ALL));
        if fewest <= 1 {
            return best;
        }
        let Some(known) = self.known_futures(state) else { return best };
        let threads = self.standing(state, &known);
        let rank = self.rank(state, &known);
        for (agent, _) in &offers {
            let fewer = |set: &Agents| steps(*set) < fewest;
            if let Some(set) = self.enough(state, &threads, rank, *agent, &fewer) {
                (best, fewest) = (set, steps(set));
            }
            if fewest <= 1 {
                break;
            }
        }
        best
    }

    /// Threads in a state, as far as values say more than texts.
    fn standing(&self, state: &State, known: &KnownFutures<'_>) -> StandingThreads {
        let mut threads: StandingThreads = self.controls(state).map(|control| control.standing).collect();
        for (thread, future) in threads.iter_mut().zip(known) {
            *thread = future.narrows(*thread);
        }
        threads
    }

    /// A set with this agent that serves every goal, if it is one of few.
    fn enough(
        &self,
        state: &State,
        threads: &StandingThreads,
        rank: Rank,
        seed: Agents,
        few: &dyn Fn(&Agents) -> bool,
    ) -> Option<Agents> {
        let waits = |(at, thread): (usize, &Standing)| seed.programs >> at & 1 != 0 && !thread.may_go();
        if threads.iter().enumerate().any(waits) {
            return None;
        }
        let mut set = self.persistent.grown(threads, seed).filter(few)?;
        let mut needed = 0;
        loop {
            let open = self.goals.all() & !(self.served(set, rank) | needed);
            if open == 0 {
                return Some(set);
            }
            let goal = open.trailing_zeros();
            let agents = self.goals.needs(goal as usize, self.inner.stepper(), state, threads)?;
            set = self.persistent.grown(threads, set.and(agents)).filter(few)?;
            needed |= 1 << goal;
        }
    }
}

impl<'m, 'p: 'm, D> ReducedDomain<'m> for Stubborn<D>
where
    D: DataDomain<'m, Machine = Buffered<'p>>,
{
    type Machine = Buffered<'p>;

    fn inner(&self) -> &dyn DataDomain<'m, Machine = Buffered<'p>> {
        &self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn DataDomain<'m, Machine = Buffered<'p>> {
        &mut self.inner
    }

    fn list(&mut self, state: &State) {
        self.inner.prepare(state);
        self.listed.fill(&self.inner, state, &mut self.spare);
        self.describe();
        self.acting = self.choose(state);
        self.listed.keep(|event| self.acting.has(event));
    }

    fn listed(&self) -> &SuccessorList {
        &self.listed
    }
}

fn slot_count(machine: &Buffered<'_>, thread: ThreadId, local: &Local) -> usize {
    let mut slots = Vec::new();
    machine.slots(thread, local, &mut slots);
    slots.len()
}
