//! Witnesses: runs under a weaker model that no run under SC looks like, and their checker.
//!
//! A run under SC is a linear extension of its happens-before ([`HappensBefore`]); so a run whose
//! happens-before has a cycle looks like none under SC.
//!
//! A witness has the shape of [004, Fig. 3.4]: everything is drained at once, except that one
//! thread delays a store while it goes on up to an access that overtakes the store; then the others take steps that
//! all depend on that access; then the store is drained, which depends on one of these steps:
//! the store happens before the overtaker and the overtaker before the store. Under TSO the overtaker is a load and all
//! later stores of the thread wait behind the first; under PSO it may be a store to another variable, and others may be
//! drained at once. What else is still buffered is drained behind the store. The checker believes
//! nothing: it replays the run on the exact machine, builds happens-before from what it sees
//! there, and looks for the cycle and every condition of the shape.

use crate::happens_before::{HappensBefore, Link, Linked, Waiting};
use machine::{Account, Event, Model, ReplayedStep, TraceStep, replay_steps};
use program::{Int, Program, ThreadId, VarId};
use std::fmt;

/// A run under a weaker model with a delayed store and the access it is delayed past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Witness {
    /// What variables without a fixed initial value start with.
    pub initial: Vec<(VarId, Int)>,
    /// The whole run, up to the last drain.
    pub steps: Vec<TraceStep>,
    /// The step that issues the delayed store.
    pub store: usize,
    /// The step that loads, or that stores and drains at once, while the store is buffered.
    pub overtaker: usize,
    /// The step in which the delayed store reaches memory.
    pub drain: usize,
}

impl Witness {
    /// The thread that delays its store, if the witness names one.
    pub fn attacker(&self) -> Option<ThreadId> {
        self.steps.get(self.store).map(|step| step.event.thread())
    }

    /// The steps of the other threads that lead from the overtaker to the drain.
    pub fn chain(&self) -> impl Iterator<Item = usize> + '_ {
        (self.overtaker + 1..self.drain.min(self.steps.len())).filter(|at| is_step(self.steps[*at].event))
    }
}

/// What the checker saw of a witness. Only [`crate::check`] makes one.
#[derive(Clone, Debug)]
pub struct CheckedWitness {
    witness: Witness,
    account: Account,
    graph: HappensBefore,
    cycle: Vec<Linked>,
}

impl CheckedWitness {
    /// The witness.
    pub fn witness(&self) -> &Witness {
        &self.witness
    }

    /// What happens in it.
    pub fn account(&self) -> &Account {
        &self.account
    }

    /// The happens-before of the run.
    pub fn graph(&self) -> &HappensBefore {
        &self.graph
    }

    /// A cycle in happens-before: steps, each with how it is linked to the next; the last is
    /// linked to the first. It starts with the delayed store. An atomic section is named by its
    /// first step.
    pub fn cycle(&self) -> &[Linked] {
        &self.cycle
    }
}

/// Why a witness is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WitnessRejected {
    /// The run cannot be replayed.
    Trace(machine::TraceRejected),
    /// At the end a store is buffered or an atomic section is open.
    Unfinished,
    /// The steps named are not a store, what overtakes it and the drain of that store, in this order.
    Roles,
    /// This step is a store that is drained neither at once nor at the end.
    Delays(usize),
    /// The delaying thread drains or steps here, where it must not.
    NotResting(usize),
    /// This step comes after the drain, and is none of the drains that are still to come.
    After(usize),
    /// This step does not depend on the overtaker.
    Independent(usize),
}

impl fmt::Display for WitnessRejected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WitnessRejected::Trace(why) => why.fmt(f),
            WitnessRejected::Unfinished => write!(f, "the run ends before everything is drained"),
            WitnessRejected::Roles => write!(f, "the run has no such store, overtaker and drain"),
            WitnessRejected::Delays(at) => {
                write!(f, "the store in step {} is drained neither at once nor at the end", at + 1)
            }
            WitnessRejected::NotResting(at) => write!(f, "the delaying thread acts in step {}", at + 1),
            WitnessRejected::After(at) => write!(f, "step {} comes after the delayed store", at + 1),
            WitnessRejected::Independent(at) => write!(f, "step {} does not depend on the overtaker", at + 1),
        }
    }
}

impl std::error::Error for WitnessRejected {}

/// Replays a witness and checks its shape and the cycle.
pub(crate) fn check_witness(
    program: &Program,
    model: Model,
    witness: Witness,
) -> Result<CheckedWitness, WitnessRejected> {
    let account = replayed(program, model, &witness)?;
    let graph = HappensBefore::of(program, &account, Waiting::Unordered);
    let shape = WitnessShape { witness: &witness, steps: account.steps(), graph: &graph };
    let attacker = shape.roles()?;
    shape.drained_at_once_or_at_the_end(attacker)?;
    shape.attacker_rests(attacker)?;
    shape.only_drains_after(attacker)?;
    let cycle = shape.cycle()?;
    Ok(CheckedWitness { witness, account, graph, cycle })
}

fn replayed(program: &Program, model: Model, witness: &Witness) -> Result<Account, WitnessRejected> {
    let account = replay_steps(program, model, &witness.initial, &witness.steps, &mut || true)
        .map_err(WitnessRejected::Trace)?;
    let finished = account.passed().last().is_some_and(|end| {
        end.holder().is_none() && program.thread_ids().all(|thread| end.local(thread).drained())
    });
    if finished { Ok(account) } else { Err(WitnessRejected::Unfinished) }
}

struct WitnessShape<'a> {
    witness: &'a Witness,
    steps: &'a [ReplayedStep],
    graph: &'a HappensBefore,
}

impl WitnessShape<'_> {
    fn event(&self, at: usize) -> Event {
        self.steps[at].event
    }

    /// The store, the overtaker and the drain are what they are called; the delaying thread.
    fn roles(&self) -> Result<ThreadId, WitnessRejected> {
        let Witness { store, overtaker, drain, .. } = *self.witness;
        if !(store < overtaker && overtaker < drain && drain < self.steps.len()) {
            return Err(WitnessRejected::Roles);
        }
        let (thread, step) = (self.event(store).thread(), &self.steps[overtaker]);
        let accesses = step.memory_reads().next().is_some() || step.drain == Some(overtaker + 1);
        let ok = self.steps[store].drain == Some(drain) && step.thread() == thread && accesses;
        if ok { Ok(thread) } else { Err(WitnessRejected::Roles) }
    }

    /// Stores are drained at once, or when the delayed one is, or later. The attacker delays none before that.
    fn drained_at_once_or_at_the_end(&self, attacker: ThreadId) -> Result<(), WitnessRejected> {
        let Witness { store, drain, .. } = *self.witness;
        for (at, step) in self.steps.iter().enumerate().filter(|(_, step)| step.buffered().is_some()) {
            let too_early = step.thread() == attacker && at < store;
            let stays = !too_early && step.drain >= Some(drain);
            if !stays && step.drain != Some(at + 1) {
                return Err(WitnessRejected::Delays(at));
            }
        }
        Ok(())
    }

    /// Behind the overtaker the delaying thread takes no step.
    fn attacker_rests(&self, attacker: ThreadId) -> Result<(), WitnessRejected> {
        let Witness { overtaker, drain, .. } = *self.witness;
        let acts = |at: &usize| is_step(self.event(*at)) && self.event(*at).thread() == attacker;
        (overtaker + 1..drain).find(acts).map_or(Ok(()), |at| Err(WitnessRejected::NotResting(at)))
    }

    /// After the delayed store there are only drains, none of the delaying thread to what was loaded.
    fn only_drains_after(&self, attacker: ThreadId) -> Result<(), WitnessRejected> {
        let Witness { overtaker, drain, .. } = *self.witness;
        let is_loaded = |variable| self.steps[overtaker].memory_reads().any(|loaded| loaded == variable);
        for (at, step) in self.steps.iter().enumerate().skip(drain + 1) {
            match step.event {
                Event::Drain { thread, variable } if thread != attacker || !is_loaded(variable) => {}
                _ => return Err(WitnessRejected::After(at)),
            }
        }
        Ok(())
    }

    /// Everything between the overtaker and the drain depends on the overtaker, and so does the drain.
    fn cycle(&self) -> Result<Vec<Linked>, WitnessRejected> {
        let Witness { store, overtaker, drain, .. } = *self.witness;
        let start = self.graph.node(overtaker);
        let reached = self.graph.reached_from(start);
        let depends = |at: usize| self.graph.node(at) == start || reached[self.graph.node(at)].is_some();
        if let Some(at) = (overtaker + 1..=drain).find(|at| !depends(*at)) {
            return Err(WitnessRejected::Independent(at));
        }
        let mut cycle = Vec::new();
        let mut node = self.graph.node(store);
        while node != start {
            let (before, link) = reached[node].ok_or(WitnessRejected::Independent(drain))?;
            cycle.push((before, link));
            node = before;
        }
        cycle.push((self.graph.node(store), Link::Program));
        cycle.reverse();
        Ok(cycle)
    }
}

fn is_step(event: Event) -> bool {
    matches!(event, Event::Step { .. })
}
