//! Several steps of one agent as one step, where nobody else makes a difference in between.
//!
//! [`Stubborn`] says who acts in a state. Each of those gets a *run*: steps that it takes alone, each the only one it has. Together
//! they are a *cartesian vector* if no step of a run, but the last, clashes with any step of another thread's run
//! [G. Gueta, C. Flanagan, E. Yahav and M. Sagiv, Cartesian partial-order reduction, SPIN 2007]. Then only the states at their ends count.
//!
//! For let w be a shortest way to a goal on which one of those acts. Until the first of them has come to the end of its run the others
//! have taken none of their last steps, and nothing that was done clashes with that run. So it may as well come
//! first, and what is left of w is shorter. If nobody comes to the end, take one who acts on w: the rest of its run is still possible
//! and does not undo the goal, as is asked of every step of a run but the first. So again the run may come first, and w has
//! at least one step fewer. (Where all have ended, runs have.) If nobody acts on w, a run serves the goal as its first step
//! does ([`Stubborn`]): its other steps keep the goal and lower the rank.
//!
//! What a step *touches* is all that any step from that location would: what is not possible alone must stay so, and who cannot act
//! has a run of one step that it does not take. A store that joins the buffer may be drained before the run is at its end, so it is a write
//! unless it is the last step. A thread's program and buffer do not clash: a run of the program ends where a step would wait for the buffer, and only
//! the last of a run of drains can empty it. Where stores overtake each other, such a run is one drain, as it may be
//! what lets another one behind a fence go. Whoever does not act never touches what a run writes, nor writes what it touches.

use crate::persistent::{Touched, touched};
use crate::reduced_domain::ReducedDomain;
use crate::successor_list::{ExactStep, SuccessorList};
use crate::{Acting, Buffered, DataDomain, Entry, Event, Machine, State, Stepper, Stubborn};
use program::{Thread, ThreadId, VarId};

/// The states of the exact machine at the ends of runs.
pub struct Cartesian<'m, 'p> {
    few: Box<Stubborn<Stepper<'m, Buffered<'p>>>>,
    /// By thread and location: what steps from there touch, stores that join the buffer among it.
    touched: Vec<Vec<Touched>>,
    runs: Vec<AgentRun>,
    /// By thread: what those of it may still touch who do not act.
    rest: Vec<Touched>,
    listed: SuccessorList,
    spare: State,
}

/// Steps that an agent takes alone.
struct AgentRun {
    thread: ThreadId,
    /// Empty if the agent cannot act.
    steps: Vec<ExactStep>,
    end: State,
    /// What all steps but the last touch.
    before: Touched,
    /// What the last one touches, at once and later.
    last: LastTouched,
    /// Whether it may have one more step.
    open: bool,
}

/// What a step touches that is the last of a run, and what it does if it is not.
#[derive(Clone, Copy)]
struct LastTouched {
    at_once: Touched,
    with_stores: Touched,
}

impl LastTouched {
    fn drain(variable: VarId) -> LastTouched {
        let mut at_once = Touched::NOTHING;
        at_once.stores.insert(variable);
        LastTouched { at_once, with_stores: at_once }
    }
}

impl<'m, 'p> Cartesian<'m, 'p> {
    /// Takes runs of those who act; `None` if nobody is known to be enough ([`Stubborn::new`]).
    pub fn new(machine: &'m Buffered<'p>, acting: Acting) -> Option<Cartesian<'m, 'p>> {
        let few = Stubborn::new(Stepper::new(machine), acting)?;
        Some(Cartesian {
            few: Box::new(few),
            touched: machine.program().threads.iter().map(touched_from).collect(),
            runs: Vec::new(),
            rest: Vec::new(),
            listed: SuccessorList::default(),
            spare: State::default(),
        })
    }

    /// Runs of one step: those of all who act, and of programs that could if they were not stopped.
    fn begin(&mut self, state: &State) {
        self.runs.clear();
        self.rest = self.few.rest(state);
        for (step, next) in self.few.listed().iter() {
            let thread = step.0.thread();
            let last = match step.0 {
                Event::Step { .. } => self.last_touched(thread, state),
                Event::Drain { variable, .. } => LastTouched::drain(variable),
            };
            let (steps, end) = (vec![step], next.clone());
            self.runs.push(AgentRun { thread, steps, end, before: Touched::NOTHING, last, open: true });
        }
        let threads = self.few.stepper().machine().program().thread_ids();
        let stopped = |thread: &ThreadId| {
            let mut events = self.few.listed().iter().map(|((event, _), _)| event);
            self.few.acting.has_program(thread.index())
                && !events.any(|event| event.thread() == *thread && matches!(event, Event::Step { .. }))
        };
        for thread in threads.filter(stopped) {
            let last = self.last_touched(thread, state);
            let (steps, end) = (Vec::new(), State::default());
            self.runs.push(AgentRun { thread, steps, end, before: Touched::NOTHING, last, open: false });
        }
    }

    /// What the steps of a program touch.
    fn last_touched(&self, thread: ThreadId, state: &State) -> LastTouched {
        let loc = self.few.stepper().local(thread, state).loc;
        let with_stores = self.touched[thread.index()][loc.index()];
        LastTouched { at_once: self.few.persistent.here(thread, loc).next, with_stores }
    }

    /// Gives every run one more step in turn, until nobody can have one.
    fn grow(&mut self) {
        let mut any = true;
        while std::mem::take(&mut any) {
            for at in 0..self.runs.len() {
                // Others only grow, so what clashes once always will.
                if self.runs[at].open {
                    self.runs[at].open = self.lengthen(at).is_some();
                    any |= self.runs[at].open;
                }
            }
        }
    }

    /// Gives a run one more step if that is possible.
    fn lengthen(&mut self, at: usize) -> Option<()> {
        let AgentRun { thread, steps, end, .. } = &self.runs[at];
        let thread = *thread;
        let last = match steps.last()?.0 {
            Event::Step { .. } => self.last_touched(thread, end),
            Event::Drain { .. } => LastTouched::drain(self.next_drain(thread, end)?),
        };
        if self.clashes(at, last) {
            return None;
        }
        let event = match steps.last()?.0 {
            Event::Step { .. } => self.step_on(at)?,
            Event::Drain { .. } => self.drain_on(at)?,
        };
        if !self.few.keeps_goals(event) {
            return None;
        }
        let run = &mut self.runs[at];
        run.before = run.before.and(run.last.with_stores);
        run.last = last;
        run.steps.push((event, None));
        std::mem::swap(&mut run.end, &mut self.spare);
        Some(())
    }

    /// Whether the vector, with one more step of a run that touches this, is none.
    fn clashes(&self, at: usize, last: LastTouched) -> bool {
        let run = &self.runs[at];
        let before = run.before.and(run.last.with_stores);
        let with_run = |other: &AgentRun| {
            before.clashes(other.before.and(other.last.at_once)) || last.at_once.clashes(other.before)
        };
        let touches = before.and(last.at_once);
        let own = run.thread.index();
        let mut rest = self.rest.iter().enumerate().filter(|(at, _)| *at != own);
        self.runs.iter().filter(|other| other.thread != run.thread).any(with_run)
            || rest.any(|(_, rest)| rest.clashes(touches))
    }

    /// Takes the next step of a program, into `spare`, if there is just one, it need not wait, and it goes on.
    fn step_on(&mut self, at: usize) -> Option<Event> {
        let AgentRun { thread, end, .. } = &self.runs[at];
        let local = self.few.stepper().local(*thread, end);
        let (from, waits) =
            (local.loc, !local.drained() && self.few.persistent.here(*thread, local.loc).waits);
        if waits {
            return None;
        }
        let event = self.few.stepper_mut().only_step(thread.index(), end, &mut self.spare)?;
        let to = self.few.stepper().local(*thread, &self.spare).loc;
        (self.few.rank_of(*thread, to) < self.few.rank_of(*thread, from)).then_some(event)
    }

    /// Drains the next store of a buffer, into `spare`.
    fn drain_on(&mut self, at: usize) -> Option<Event> {
        let AgentRun { thread, end, .. } = &self.runs[at];
        let event = Event::Drain { thread: *thread, variable: self.next_drain(*thread, end)? };
        self.few.stepper_mut().prepare(end);
        self.spare = self.few.stepper().take(end, event, None)?;
        Some(event)
    }

    /// What a buffer drains next where stores stay in order.
    fn next_drain(&self, thread: ThreadId, state: &State) -> Option<VarId> {
        let first =
            self.few.stepper().local(thread, state).kept.first().filter(|_| self.few.persistent.in_order);
        first.and_then(|entry| if let Entry::Store(variable) = entry { Some(*variable) } else { None })
    }
}

/// By location: what steps from there touch.
fn touched_from(thread: &Thread) -> Vec<Touched> {
    let from = |loc| thread.outgoing(loc).fold(Touched::NOTHING, |all, (_, edge)| all.and(touched(&edge.op)));
    thread.locs().map(from).collect()
}

impl<'m, 'p: 'm> ReducedDomain<'m> for Cartesian<'m, 'p> {
    type Machine = Buffered<'p>;

    fn inner(&self) -> &dyn DataDomain<'m, Machine = Buffered<'p>> {
        &self.few
    }

    fn inner_mut(&mut self) -> &mut dyn DataDomain<'m, Machine = Buffered<'p>> {
        &mut self.few
    }

    fn list(&mut self, state: &State) {
        self.few.list(state);
        self.begin(state);
        self.grow();
        self.listed.clear();
        self.listed.doubts.extend_from_slice(&self.few.listed().doubts);
        for AgentRun { steps, end, .. } in &self.runs {
            if let Some(first) = steps.first() {
                self.listed.push(*first, end);
            }
        }
    }

    fn listed(&self) -> &SuccessorList {
        &self.listed
    }

    fn steps(&mut self, from: &State, step: ExactStep, to: &State) -> Vec<ExactStep> {
        self.list(from);
        let taken = self.runs.iter().find(|run| run.steps.first() == Some(&step) && run.end == *to);
        // A step of a path was listed, so it is found.
        taken.map_or_else(|| vec![step], |run| run.steps.clone())
    }
}
