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
//! the loop looks at. Programs with atomic sections of several steps have all agents in every set.

mod goals;
mod rank;

use crate::persistent::{Standing, StandingThreads};
use crate::successor_list::{ExactStep, SuccessorList};
use crate::{
    Agents, Buffered, DataDomain, Doubt, Event, InitialStates, Local, Persistent, State, Stepper, Violation,
};
use goals::Goals;
use program::{Loc, ThreadId};
use rank::ranks;
use smallvec::SmallVec;

/// The states of a domain, of which every one is left by the steps of a few agents only.
pub struct Stubborn<D> {
    inner: D,
    persistent: Persistent,
    goals: Goals,
    /// By thread and location.
    ranks: Vec<Vec<u32>>,
    /// By thread and the number of its control.
    controls: Vec<Vec<KnownControl>>,
    /// The steps of the state that was prepared last.
    listed: SuccessorList,
    spare: State,
}

/// What a thread's control says.
struct KnownControl {
    standing: Standing,
    rank: Rank,
}

/// How far threads can go, and how much is in their buffers.
type Rank = (u32, usize);

/// What an agent can do in a state.
#[derive(Clone, Copy, Debug)]
struct Offer {
    agent: Agents,
    steps: usize,
    /// The goals that are served by a step which keeps them and lowers the rank.
    serves: u64,
}

type Offers = SmallVec<[Offer; 8]>;

impl<'m, 'p: 'm, D> Stubborn<D>
where
    D: DataDomain<'m, Machine = Buffered<'p>>,
{
    /// Leaves out steps of a domain; `None` if the machine is not the exact one, or it is known that everybody is in
    /// every set.
    pub fn new(inner: D) -> Option<Stubborn<D>> {
        let machine = inner.stepper().machine();
        let program = crate::Machine::program(machine);
        let mut persistent = Persistent::new(program, machine.model()).filter(|_| machine.is_exact())?;
        for (thread, locs) in inner.waiting_together() {
            persistent.look_together(thread.index(), &locs);
        }
        Some(Stubborn {
            persistent,
            goals: Goals::of(program, machine.model()),
            ranks: program.threads.iter().map(ranks).collect(),
            controls: program.threads.iter().map(|_| Vec::new()).collect(),
            listed: SuccessorList::default(),
            spare: State::default(),
            inner,
        })
    }

    /// Looks at the controls that were met since the last time.
    fn describe(&mut self) {
        let stepper = self.inner.stepper();
        for (thread, known) in self.controls.iter_mut().enumerate() {
            let described = |local: &Local| KnownControl {
                standing: self.persistent.standing_at(thread, local),
                rank: (self.ranks[thread][local.loc.index()], local.kept.len()),
            };
            known.extend(stepper.locals(ThreadId::new(thread)).skip(known.len()).map(described));
        }
    }

    fn controls<'a>(&'a self, state: &'a State) -> impl Iterator<Item = &'a KnownControl> {
        self.controls.iter().zip(&state.locals).map(|(known, id)| &known[*id as usize])
    }

    fn rank(&self, state: &State) -> Rank {
        let add = |sum: Rank, control: &KnownControl| (sum.0 + control.rank.0, sum.1 + control.rank.1);
        self.controls(state).fold((0, 0), add)
    }

    /// What agents can do.
    fn offers(&self, state: &State, threads: &StandingThreads) -> Offers {
        let rank = self.rank(state);
        let mut offers = Offers::new();
        for (event, next) in self.listed.iter() {
            let agent = Agents::of(event);
            let serves = if self.rank(next) < rank { self.goals.kept_by(event) } else { 0 };
            match offers.iter_mut().find(|offer| offer.agent == agent) {
                Some(offer) => {
                    offer.steps += 1;
                    offer.serves |= serves;
                }
                None => offers.push(Offer { agent, steps: 1, serves }),
            }
        }
        debug_assert!(offers.len() <= 2 * threads.len());
        offers
    }

    /// Few agents whose steps are enough.
    fn choose(&self, state: &State) -> Agents {
        let threads: StandingThreads = self.controls(state).map(|control| control.standing).collect();
        let offers = self.offers(state, &threads);
        let steps = |set: Agents| {
            let acting = offers.iter().filter(|offer| set.include(offer.agent));
            acting.map(|offer| offer.steps).sum::<usize>()
        };
        let (mut best, mut fewest) = (Agents::ALL, steps(Agents::ALL));
        for offer in &offers {
            if fewest <= 1 {
                break;
            }
            let set = self.enough(state, &threads, &offers, offer.agent);
            if let Some((set, count)) = set.map(|set| (set, steps(set))).filter(|(_, count)| *count < fewest)
            {
                (best, fewest) = (set, count);
            }
        }
        best
    }

    /// A set with this agent that serves every goal.
    fn enough(
        &self,
        state: &State,
        threads: &StandingThreads,
        offers: &Offers,
        seed: Agents,
    ) -> Option<Agents> {
        let waits = |(at, thread): (usize, &Standing)| seed.programs >> at & 1 != 0 && !thread.may_go();
        if threads.iter().enumerate().any(waits) {
            return None;
        }
        let mut set = self.persistent.grown(threads, seed)?;
        let mut asked = 0;
        loop {
            let acting = offers.iter().filter(|offer| set.include(offer.agent));
            let served = acting.fold(asked, |all, offer| all | offer.serves);
            let open = self.goals.all() & !served;
            if open == 0 {
                return Some(set);
            }
            let goal = open.trailing_zeros();
            let needed = self.goals.needs(goal as usize, self.inner.stepper(), state, threads)?;
            set = self.persistent.grown(threads, set.and(needed))?;
            asked |= 1 << goal;
        }
    }
}

impl<'m, 'p: 'm, D> DataDomain<'m> for Stubborn<D>
where
    D: DataDomain<'m, Machine = Buffered<'p>>,
{
    type Machine = Buffered<'p>;

    /// All steps are listed before some are left out.
    const WORK: usize = 2 * D::WORK;

    fn stepper(&self) -> &Stepper<'m, Buffered<'p>> {
        self.inner.stepper()
    }

    fn stepper_mut(&mut self) -> &mut Stepper<'m, Buffered<'p>> {
        self.inner.stepper_mut()
    }

    fn initial(&mut self) -> (InitialStates, Vec<Doubt>) {
        self.inner.initial()
    }

    fn prepare(&mut self, state: &State) {
        self.inner.prepare(state);
        let Stubborn { inner, listed, spare, .. } = self;
        listed.clear();
        let mut doubts = std::mem::take(&mut listed.doubts);
        inner.successors(
            state,
            spare,
            |doubt| doubts.push(doubt),
            |event, choice, next| {
                listed.push((event, choice), next);
            },
        );
        listed.doubts = doubts;
        self.describe();
        let agents = self.choose(state);
        self.listed.keep(|event| agents.has(event));
    }

    fn successors(
        &self,
        _: &State,
        _: &mut State,
        doubt: impl FnMut(Doubt),
        visit: impl FnMut(Event, Option<i64>, &State),
    ) {
        self.listed.tell(doubt, visit);
    }

    fn has(&self, state: &State) -> bool {
        self.inner.has(state)
    }

    fn tells(&self, value: i64) -> bool {
        self.inner.tells(value)
    }

    fn waiting_together(&self) -> Vec<(ThreadId, Vec<Loc>)> {
        self.inner.waiting_together()
    }

    fn start(&mut self, first: &State) -> Vec<ExactStep> {
        self.inner.start(first)
    }

    fn steps(&mut self, from: &State, step: ExactStep, to: &State) -> Vec<ExactStep> {
        self.inner.steps(from, step, to)
    }

    fn violation(&self, state: &State) -> Result<Option<Violation>, Doubt> {
        self.inner.violation(state)
    }
}
