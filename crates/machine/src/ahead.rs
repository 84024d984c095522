//! States of any domain in which threads have gone ahead, as far as one step after the other leaves no choice.
//!
//! [`crate::Settled`] says why a thread may go ahead over values, and when. Here values need not be known: a state stands for
//! many, and a step may lead to several. If at a place where a thread can always go on all that it can do is one step to one
//! state, then each state that is meant takes just that step and is meant afterwards. So what was said of states over values
//! holds of each of them: a set of states that violate nothing is a proof if the successors of all, threads gone ahead, are in it.
//! Loops that wait are left as they are, and no step that leads back is taken ahead, so going ahead has an end.

use crate::local_first::always_enabled;
use crate::reduced_domain::ReducedDomain;
use crate::settled::{Course, Courses, courses};
use crate::successor_list::{ExactStep, SuccessorList};
use crate::{Buffered, DataDomain, Event, Machine, State};
use program::{Loc, Op, Thread, ThreadId};

/// The states of a domain in which threads have gone ahead.
pub struct GoingAhead<D> {
    inner: D,
    threads: Vec<ThreadAhead>,
    listed: SuccessorList,
    spare: State,
    /// Where the step leads that was looked at last.
    ahead: State,
}

/// What is known of a thread.
struct ThreadAhead {
    courses: Courses,
    /// By location: whether the thread can always go on.
    sure: Vec<bool>,
    /// By the number of its control: whether it may go ahead.
    controls: Vec<bool>,
}

impl<'m, 'p: 'm, D> GoingAhead<D>
where
    D: DataDomain<'m, Machine = Buffered<'p>>,
{
    /// Lets threads of a domain go ahead; `None` if the machine is not the exact one, or a property sees buffers.
    pub fn new(inner: D) -> Option<GoingAhead<D>> {
        let machine = inner.stepper().machine();
        let program = machine.program();
        let thread = |thread: ThreadId| {
            let automaton = program.thread(thread);
            let sure = automaton.locs().map(|loc| is_sure(automaton, loc)).collect();
            ThreadAhead { courses: courses(machine, thread), sure, controls: Vec::new() }
        };
        let possible = machine.is_exact() && program.speaks_of_buffers().is_none();
        possible.then(|| GoingAhead {
            threads: program.thread_ids().map(thread).collect(),
            listed: SuccessorList::default(),
            spare: State::default(),
            ahead: State::default(),
            inner,
        })
    }

    /// Takes the only step of a thread, if it goes ahead by that.
    fn step_ahead(&mut self, thread: ThreadId, state: &mut State) -> Option<Event> {
        if !self.may_go(thread, state) {
            return None;
        }
        self.inner.prepare(state);
        let (mut only, mut sole, mut doubted) = (None, true, false);
        let GoingAhead { inner, threads, spare, ahead, .. } = self;
        let visit = |event, _, next: &State| {
            if !matches!(event, Event::Step { .. }) {
                return;
            }
            match only {
                None => {
                    only = Some(event);
                    ahead.clone_from(next);
                }
                Some(known) => sole &= known == event && *ahead == *next,
            }
        };
        inner.successors_of(thread, state, spare, |_| doubted = true, visit);
        let event = only.filter(|_| sole && !doubted)?;
        let Event::Step { edge, .. } = event else { return None };
        if threads[thread.index()].courses.back[edge.index()] {
            return None;
        }
        std::mem::swap(state, ahead);
        Some(event)
    }

    fn may_go(&mut self, thread: ThreadId, state: &State) -> bool {
        let ThreadAhead { courses, sure, controls } = &mut self.threads[thread.index()];
        let id = state.locals[thread.index()] as usize;
        if controls.len() <= id {
            let new = self.inner.stepper().locals(thread).skip(controls.len());
            let goes =
                |loc: Loc, drained: bool| sure[loc.index()] && courses.at(loc, drained) == Course::Goes;
            controls.extend(new.map(|local| goes(local.loc, local.drained())));
        }
        controls[id]
    }
}

/// Whether a thread can go on at a location, whatever its registers hold.
fn is_sure(thread: &Thread, loc: Loc) -> bool {
    let ops: Vec<&Op> = thread.outgoing(loc).map(|(_, edge)| &edge.op).collect();
    let whole = ops.iter().all(|op| !op.may_divide_by_zero());
    let single = matches!(ops[..], [Op::Load(..) | Op::Fence(_)]);
    whole && (single || always_enabled(thread, loc))
}

impl<'m, 'p: 'm, D> ReducedDomain<'m> for GoingAhead<D>
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
        let mut listed = std::mem::take(&mut self.listed);
        listed.fill(&self.inner, state, &mut self.spare);
        for state in listed.states_from(0) {
            self.stand_in(state, &mut |_| {});
        }
        self.listed = listed;
    }

    fn listed(&self) -> &SuccessorList {
        &self.listed
    }

    /// Takes all threads ahead.
    fn stand_in(&mut self, state: &mut State, note: &mut dyn FnMut(Event)) {
        for thread in 0..self.threads.len() {
            while let Some(event) = self.step_ahead(ThreadId::new(thread), state) {
                note(event);
            }
        }
    }

    fn steps(&mut self, from: &State, step: ExactStep, to: &State) -> Vec<ExactStep> {
        for mut next in SuccessorList::by(&mut self.inner, from, step) {
            let mut steps = self.inner.steps(from, step, &next);
            self.stand_in(&mut next, &mut |event| steps.push((event, None)));
            if next == *to {
                return steps;
            }
        }
        // A step of a path was listed, so it is found.
        vec![step]
    }
}
