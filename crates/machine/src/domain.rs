//! What is known of slots.
//!
//! A machine's moves are symbolic; a domain says what a state knows of every slot and which states a
//! move leads to. A state gives every slot one number, which means what the domain says: the value
//! itself ([`crate::Stepper`]), or a number whose order and distance to others count
//! ([`crate::GapStepper`]). Whatever walks states (search, the checker of closed sets) asks these
//! questions only, so it serves every domain over every machine. All domains number controls and
//! compile moves with a stepper; a new one is one file that opens a state into values, steps on them
//! and closes what it gets.

use crate::{Doubt, Event, InitialStates, Machine, State, Stepper, Violation};

/// A way of knowing the slots of a machine that lives for `'m`.
pub trait DataDomain<'m> {
    /// The machine.
    type Machine: Machine + 'm;

    /// The work of exploring a state, in units of a quarter of a microsecond or so; concrete values take two.
    const WORK: usize = 2;

    /// What numbers controls and runs single concrete steps.
    fn stepper(&self) -> &Stepper<'m, Self::Machine>;

    /// The same, to number and compile more.
    fn stepper_mut(&mut self) -> &mut Stepper<'m, Self::Machine>;

    /// The states a run may start in, and doubts if not all are listed.
    fn initial(&mut self) -> (InitialStates, Vec<Doubt>);

    /// Calls `visit` on every successor of a prepared state, with the event and the chosen value, in
    /// a fixed order; on some perhaps several times. `next` is working memory. Doubts go to `doubt`.
    fn successors(
        &self,
        state: &State,
        next: &mut State,
        doubt: impl FnMut(Doubt),
        visit: impl FnMut(Event, Option<i64>, &State),
    );

    /// Whether a state, which may come from anywhere, is one of the domain.
    fn has(&self, state: &State) -> bool {
        self.stepper().is_well_formed(state)
    }

    /// What a state violates: the same as all that it stands for.
    fn violation(&self, state: &State) -> Result<Option<Violation>, Doubt> {
        self.stepper().violation(state)
    }
}
