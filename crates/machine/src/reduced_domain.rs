//! Domains that leave out steps of another one.
//!
//! A reduction lists what is left of a state's successors when the state is prepared, and another state may *stand in* for one that was
//! reached. All other questions are those of the domain inside; here they are passed on, for all reductions.

use crate::domain::unfolded;
use crate::successor_list::{ExactStep, SuccessorList};
use crate::{DataDomain, Doubt, Event, InitialStates, State, Stepper, Violation};
use program::{Loc, ThreadId};

/// A domain with fewer steps than the one inside.
pub trait ReducedDomain<'m>: Sized {
    /// The domain inside.
    type Inner: DataDomain<'m>;

    /// As [`DataDomain::THREADWISE`].
    const THREADWISE: bool = false;

    /// As [`DataDomain::NOTICES`].
    const NOTICES: bool = false;

    /// The domain inside.
    fn inner(&self) -> &Self::Inner;

    /// The same, to number and compile more.
    fn inner_mut(&mut self) -> &mut Self::Inner;

    /// Lists what is left of a state's successors.
    fn list(&mut self, state: &State);

    /// What was listed last.
    fn listed(&self) -> &SuccessorList;

    /// Changes a state that was reached to the one that stands in for it; calls `note` on the steps of the machine that
    /// lead there.
    fn stand_in(&mut self, _state: &mut State, _note: &mut impl FnMut(Event)) {}

    /// As [`DataDomain::steps_alone`].
    fn steps_alone(
        &mut self,
        thread: ThreadId,
        state: &State,
        _next: &mut State,
        doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(&State),
    ) {
        self.list(state);
        self.listed().tell(doubt, |event, _, next| {
            if event.thread() == thread {
                visit(next);
            }
        });
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

    /// As [`DataDomain::unfold`].
    fn unfold(
        &mut self,
        first: &State,
        path: &[(ExactStep, State)],
        violation: Violation,
    ) -> (Vec<ExactStep>, Violation) {
        unfolded(self, first, path, violation)
    }
}

impl<'m, R: ReducedDomain<'m>> DataDomain<'m> for R {
    type Machine = <R::Inner as DataDomain<'m>>::Machine;

    /// All steps are taken before some are left out, or states are changed.
    const WORK: usize = 2 * R::Inner::WORK;

    const THREADWISE: bool = R::THREADWISE;

    const NOTICES: bool = R::NOTICES;

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
        next: &mut State,
        doubt: impl FnMut(Doubt),
        visit: impl FnMut(&State),
    ) {
        ReducedDomain::steps_alone(self, thread, state, next, doubt, visit);
    }

    fn notice(&mut self, thread: ThreadId, state: &mut State) {
        ReducedDomain::notice(self, thread, state);
    }

    fn has(&self, state: &State) -> bool {
        self.inner().has(state)
    }

    fn tells(&self, value: i64) -> bool {
        self.inner().tells(value)
    }

    fn waiting_together(&self) -> Vec<(ThreadId, Vec<Loc>)> {
        ReducedDomain::waiting_together(self)
    }

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

    fn steps(&mut self, from: &State, step: ExactStep, to: &State) -> Vec<ExactStep> {
        ReducedDomain::steps(self, from, step, to)
    }

    fn unfold(
        &mut self,
        first: &State,
        path: &[(ExactStep, State)],
        violation: Violation,
    ) -> (Vec<ExactStep>, Violation) {
        ReducedDomain::unfold(self, first, path, violation)
    }

    #[inline]
    fn violation(&self, state: &State) -> Result<Option<Violation>, Doubt> {
        self.inner().violation(state)
    }
}
