//! What is known of slots.
//!
//! A machine's moves are symbolic; a domain says what a state knows of every slot and which states a
//! move leads to. A state gives every slot one number, which means what the domain says: the value
//! itself ([`crate::Stepper`]), or a number whose order and distance to others count
//! ([`crate::GapStepper`]). Whatever walks states (search, the checker of closed sets) asks these
//! questions only, so it serves every domain over every machine. All domains number controls and
//! compile moves with a stepper; a new one is one file that opens a state into values, steps on them
//! and closes what it gets. Whoever does not ask for steps need not know which domain it is (`dyn`).

use crate::successor_list::ExactStep;
use crate::{Doubt, Event, InitialStates, Machine, State, Stepper, Violation};
use program::{Loc, ThreadId};

/// A way of knowing the slots of a machine that lives for `'m`.
pub trait DataDomain<'m> {
    /// The machine.
    type Machine: Machine + 'm;

    /// The work of taking up a state, and of looking at a successor, in units of a fifth of a microsecond or so;
    /// concrete values take one.
    fn work(&self) -> usize {
        1
    }

    /// Whether what a thread can do depends on what is shared and on its own control and slots only, and changes
    /// nothing else; but for others that notice that what is shared has changed ([`DataDomain::notice`]). Successors are then
    /// listed thread by thread.
    fn is_threadwise(&self) -> bool {
        false
    }

    /// Whether threads notice that.
    fn notices(&self) -> bool {
        false
    }

    /// What numbers controls and runs single concrete steps.
    fn stepper(&self) -> &Stepper<'m, Self::Machine>;

    /// The same, to number and compile more.
    fn stepper_mut(&mut self) -> &mut Stepper<'m, Self::Machine>;

    /// The states a run may start in, and doubts if not all are listed.
    fn initial(&mut self) -> (InitialStates, Vec<Doubt>);

    /// Does what has to be done before a state's successors can be listed.
    fn prepare(&mut self, state: &State) {
        self.stepper_mut().prepare(state);
    }

    /// Calls `visit` on every successor of the state that was prepared last, with the event and the chosen value, in
    /// a fixed order; on some perhaps several times. `next` is working memory. Doubts go to `doubt`.
    fn successors(
        &self,
        state: &State,
        next: &mut State,
        doubt: impl FnMut(Doubt),
        visit: impl FnMut(Event, Option<i64>, &State),
    ) where
        Self: Sized;

    /// The same for the steps of one thread.
    fn successors_of(
        &self,
        thread: ThreadId,
        state: &State,
        next: &mut State,
        doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(Event, Option<i64>, &State),
    ) where
        Self: Sized,
    {
        let visit = |event: Event, choice, next: &State| {
            if event.thread() == thread {
                visit(event, choice, next);
            }
        };
        self.successors(state, next, doubt, visit);
    }

    /// The states after the steps of one thread, before others notice anything. The state need not be prepared.
    fn steps_alone(
        &mut self,
        thread: ThreadId,
        state: &State,
        next: &mut State,
        doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(&State),
    ) where
        Self: Sized,
    {
        self.prepare(state);
        self.successors_of(thread, state, next, doubt, |_, _, next| visit(next));
    }

    /// Lets a thread notice that what is shared has changed. Where that takes it depends on what is shared and on its own
    /// control and slots only, and changes nothing else.
    fn notice(&mut self, _thread: ThreadId, _state: &mut State) {}

    /// Whether a state, which may come from anywhere, is one of the domain.
    fn has(&self, state: &State) -> bool {
        self.stepper().is_well_formed(state)
    }

    /// Whether a slot with this value has it, and is never told like that of another: only then the value may be a
    /// name that is renamed.
    fn tells(&self, _value: i64) -> bool {
        true
    }

    /// Locations at any of which a thread waits for the same, and where it need not look before that comes:
    /// what it loads at any of them it may load at all of them.
    fn waiting_together(&self) -> Vec<(ThreadId, Vec<Loc>)> {
        Vec::new()
    }

    /// The steps of the machine from where it starts to a state that the domain starts in.
    fn start(&mut self, _first: &State) -> Vec<ExactStep> {
        Vec::new()
    }

    /// The steps of the machine that a step of the domain, between these states, stands for.
    fn steps(&mut self, _from: &State, step: ExactStep, _to: &State) -> Vec<ExactStep> {
        vec![step]
    }

    /// The steps of the machine that a path of the domain to a violation stands for; and what is violated then.
    fn unfold(
        &mut self,
        first: &State,
        path: &[(ExactStep, State)],
        violation: Violation,
    ) -> (Vec<ExactStep>, Violation) {
        let start = self.start(first);
        (unfolded(start, first, path, |from, step, to| self.steps(from, step, to)), violation)
    }

    /// What a state violates: the same as all that it stands for.
    fn violation(&self, state: &State) -> Result<Option<Violation>, Doubt> {
        self.stepper().violation(state)
    }
}

/// The steps to where a path begins, and those of the machine that each of its steps stands for.
pub(crate) fn unfolded(
    mut all: Vec<ExactStep>,
    first: &State,
    path: &[(ExactStep, State)],
    mut steps: impl FnMut(&State, ExactStep, &State) -> Vec<ExactStep>,
) -> Vec<ExactStep> {
    let mut from = first;
    for (step, to) in path {
        all.extend(steps(from, *step, to));
        from = to;
    }
    all
}

/// The values themselves.
impl<'m, M: Machine> DataDomain<'m> for Stepper<'m, M> {
    type Machine = M;

    fn is_threadwise(&self) -> bool {
        true
    }

    fn stepper(&self) -> &Stepper<'m, M> {
        self
    }

    fn stepper_mut(&mut self) -> &mut Stepper<'m, M> {
        self
    }

    fn initial(&mut self) -> (InitialStates, Vec<Doubt>) {
        self.initial()
    }

    #[inline]
    fn successors(
        &self,
        state: &State,
        next: &mut State,
        doubt: impl FnMut(Doubt),
        visit: impl FnMut(Event, Option<i64>, &State),
    ) {
        self.successors(state, next, doubt, visit);
    }

    fn steps_alone(
        &mut self,
        thread: ThreadId,
        state: &State,
        next: &mut State,
        doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(&State),
    ) {
        self.prepare_thread(thread.index(), state);
        self.successors_of(thread, state, next, doubt, |_, _, next| visit(next));
    }
}
