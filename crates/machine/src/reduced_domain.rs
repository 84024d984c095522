//! Domains that leave out steps of another one.
//!
//! A reduction lists what is left of a state's successors when the state is prepared, and another state may *stand in* for one that was
//! reached. All other questions are those of the domain inside; here they are passed on, for all reductions.
//!
//! What is listed is the same for all. So whoever walks states need not be compiled for each: to know that it is a box with one of them
//! ([`AnyReduced`]) costs two calls per state.

use crate::domain::unfolded;
use crate::successor_list::{ExactStep, SuccessorList};
use crate::{DataDomain, Doubt, Event, InitialStates, Machine, State, Stepper, Violation};
use program::{Loc, ThreadId};

/// A domain with fewer steps than the one inside.
pub trait ReducedDomain<'m> {
    /// The machine.
    type Machine: Machine + 'm;

    /// The domain inside.
    fn inner(&self) -> &dyn DataDomain<'m, Machine = Self::Machine>;

    /// The same, to number and compile more.
    fn inner_mut(&mut self) -> &mut dyn DataDomain<'m, Machine = Self::Machine>;

    /// As [`DataDomain::is_threadwise`].
    fn is_threadwise(&self) -> bool {
        false
    }

    /// As [`DataDomain::notices`].
    fn notices(&self) -> bool {
        false
    }

    /// Lists what is left of a state's successors.
    fn list(&mut self, state: &State);

    /// What was listed last.
    fn listed(&self) -> &SuccessorList;

    /// Changes a state that was reached to the one that stands in for it; calls `note` on the steps of the machine that
    /// lead there.
    fn stand_in(&mut self, _state: &mut State, _note: &mut dyn FnMut(Event)) {}

    /// Lists what one thread can do before others notice anything; steps of others do not count.
    fn list_alone(&mut self, _thread: ThreadId, state: &State) {
        self.list(state);
    }

    /// As [`DataDomain::notice`].
    fn notice(&mut self, _thread: ThreadId, _state: &mut State) {}

    /// As [`DataDomain::waiting_together`].
    fn waiting_together(&self) -> Vec<(ThreadId, Vec<Loc>)> {
        self.inner().waiting_together()
    }

    /// As [`DataDomain::steps`].
    fn steps(&mut self, from: &State, step: ExactStep, to: &State) -> Vec<ExactStep> {
        self.inner_mut().steps(from, step, to)
    }

    /// As [`DataDomain::start`].
    fn start(&mut self, first: &State) -> Vec<ExactStep> {
        for mut state in self.inner_mut().initial().0 {
            let mut steps = self.inner_mut().start(&state);
            self.stand_in(&mut state, &mut |event| steps.push((event, None)));
            if state == *first {
                return steps;
            }
        }
        Vec::new()
    }

    /// As [`DataDomain::unfold`].
    fn unfold(
        &mut self,
        first: &State,
        path: &[(ExactStep, State)],
        violation: Violation,
    ) -> (Vec<ExactStep>, Violation) {
        let start = self.start(first);
        (unfolded(start, first, path, |from, step, to| self.steps(from, step, to)), violation)
    }
}

/// One of the reduced domains over a machine.
pub(crate) type AnyReduced<'m, M> = Box<dyn ReducedDomain<'m, Machine = M> + 'm>;

impl<'m, R: ReducedDomain<'m> + ?Sized> DataDomain<'m> for Box<R> {
    type Machine = R::Machine;

    /// All steps are taken before some are left out, or states are changed.
    fn work(&self) -> usize {
        2 * self.inner().work()
    }

    fn is_threadwise(&self) -> bool {
        (**self).is_threadwise()
    }

    fn notices(&self) -> bool {
        (**self).notices()
    }

    fn stepper(&self) -> &Stepper<'m, Self::Machine> {
        self.inner().stepper()
    }

    fn stepper_mut(&mut self) -> &mut Stepper<'m, Self::Machine> {
        self.inner_mut().stepper_mut()
    }

    fn initial(&mut self) -> (InitialStates, Vec<Doubt>) {
        let (states, doubts) = self.inner_mut().initial();
        let stand_in = |mut state: State| {
            self.stand_in(&mut state, &mut |_| {});
            state
        };
        (states.map(stand_in).collect::<Vec<State>>().into(), doubts)
    }

    #[inline]
    fn prepare(&mut self, state: &State) {
        self.list(state);
    }

    #[inline]
    fn successors(
        &self,
        _: &State,
        _: &mut State,
        doubt: impl FnMut(Doubt),
        visit: impl FnMut(Event, Option<i64>, &State),
    ) {
        self.listed().tell(doubt, visit);
    }

    fn steps_alone(
        &mut self,
        thread: ThreadId,
        state: &State,
        _: &mut State,
        doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(&State),
    ) {
        self.list_alone(thread, state);
        self.listed().tell(doubt, |event, _, next| {
            if event.thread() == thread {
                visit(next);
            }
        });
    }

    fn notice(&mut self, thread: ThreadId, state: &mut State) {
        (**self).notice(thread, state);
    }

    fn has(&self, state: &State) -> bool {
        self.inner().has(state)
    }

    fn tells(&self, value: i64) -> bool {
        self.inner().tells(value)
    }

    fn waiting_together(&self) -> Vec<(ThreadId, Vec<Loc>)> {
        (**self).waiting_together()
    }

    fn start(&mut self, first: &State) -> Vec<ExactStep> {
        (**self).start(first)
    }

    fn steps(&mut self, from: &State, step: ExactStep, to: &State) -> Vec<ExactStep> {
        (**self).steps(from, step, to)
    }

    fn unfold(
        &mut self,
        first: &State,
        path: &[(ExactStep, State)],
        violation: Violation,
    ) -> (Vec<ExactStep>, Violation) {
        (**self).unfold(first, path, violation)
    }

    #[inline]
    fn violation(&self, state: &State) -> Result<Option<Violation>, Doubt> {
        self.inner().violation(state)
    }
}
