//! An exact machine on concrete values, as something to walk.

use crate::search::TransitionSystem;
use evidence::ClosedSet;
use machine::{Doubt, Event, Exact, InitialStates, Machine, State, StateSet, Stepper, Violation};
use program::{Int, Program, VarId};
use std::cell::RefCell;
use std::collections::BTreeSet;

/// An exact machine on concrete values.
pub(crate) struct Concrete<'m, 'p> {
    pub(crate) stepper: Stepper<'m, Exact<'p>>,
    /// Why not everything was seen, collected on the way.
    pub(crate) doubts: RefCell<BTreeSet<Doubt>>,
    /// Whether violations are goals; otherwise nothing is.
    violations: bool,
    /// Where to start, if not where the program does.
    pub(crate) start: Option<State>,
    initial: Option<InitialStates>,
}

impl<'m, 'p> Concrete<'m, 'p> {
    /// The machine, looking for violations.
    pub(crate) fn hunting(machine: &'m Exact<'p>) -> Concrete<'m, 'p> {
        let stepper = Stepper::new(machine);
        Concrete { stepper, doubts: RefCell::default(), violations: true, start: None, initial: None }
    }

    /// The machine, looking for nothing in particular.
    pub(crate) fn wandering(machine: &'m Exact<'p>) -> Concrete<'m, 'p> {
        Concrete { violations: false, ..Concrete::hunting(machine) }
    }

    pub(crate) fn doubt(&self, doubt: Doubt) {
        self.doubts.borrow_mut().insert(doubt);
    }
}

impl TransitionSystem for Concrete<'_, '_> {
    type State = State;
    type Label = (Event, Option<i64>);
    type Goal = Violation;

    fn begin(&mut self) {
        if self.start.is_none() {
            let (states, doubts) = self.stepper.initial();
            self.doubts.borrow_mut().extend(doubts);
            self.initial = Some(states);
        }
    }

    fn initial(&self) -> Box<dyn Iterator<Item = State> + '_> {
        Box::new(self.start.iter().cloned().chain(self.initial.iter().cloned().flatten()))
    }

    fn prepare(&mut self, state: &State) {
        self.stepper.prepare(state);
    }

    fn successors(&self, state: &State, next: &mut State, mut visit: impl FnMut(Self::Label, &State)) {
        let doubt = |doubt| self.doubt(doubt);
        self.stepper.successors(state, next, doubt, |event, choice, next| visit((event, choice), next));
    }

    fn goal(&self, state: &State) -> Option<Violation> {
        if !self.violations {
            return None;
        }
        self.stepper.violation(state).unwrap_or_else(|doubt| {
            self.doubt(doubt);
            None
        })
    }

    fn bytes(&self) -> usize {
        self.stepper.bytes()
    }

    fn weight(&self, state: &State) -> usize {
        self.stepper.longest_queue(state)
    }

    fn pack(&self, state: &State, out: &mut Vec<u8>) {
        state.pack(out);
    }

    fn unpack(&self, bytes: &[u8], state: &mut State) {
        let read = state.unpack(self.stepper.thread_count(), bytes);
        debug_assert!(read.is_some(), "the set holds what pack wrote");
    }
}

/// What a trace must say about the state a run started in: the values that were not fixed.
pub(crate) fn chosen_initially(program: &Program, first: &State) -> Vec<(VarId, Int)> {
    let several = |v: &VarId| program.variable(*v).initial.single().is_none();
    let value = |v: VarId| (v, Int::from(first.values[v.index()]));
    program.variable_ids().filter(several).map(value).collect()
}

/// States as a certificate, with the dictionary of their control.
pub(crate) fn closed_set(stepper: &Stepper<'_, Exact<'_>>, states: StateSet) -> ClosedSet {
    let threads = stepper.machine().program().thread_ids();
    ClosedSet {
        globals: stepper.globals().copied().collect(),
        locals: threads.map(|thread| stepper.locals(thread).cloned().collect()).collect(),
        states,
    }
}

#[cfg(test)]
mod tests {
    use crate::{Engine, Explicit, Run};
    use evidence::{Monitor, Progress, Reason, Stop, Task, Verdict};
    use machine::model_named;
    use program::{Expr, Op, Program, Source, Span, ThreadBuilder, Variable};

    /// Stops at 8 MiB, or at more states than fit; by themselves so many take 3 MiB.
    struct EightMegabytes;

    impl Monitor for EightMegabytes {
        fn observe(&self, progress: &Progress) -> Result<(), Stop> {
            match (progress.bytes > 8 << 20, progress.states > 2_500) {
                (true, _) => Err(Stop::Memory),
                (_, true) => Err(Stop::States),
                _ => Ok(()),
            }
        }
    }

    /// A thread that only stores has few states, but ever longer buffers to tell apart.
    #[test]
    fn memory_of_long_buffers_counts() {
        let mut program = Program::new("stores", Source::default());
        let x = program.add_variable(Variable::new("x", Span::NONE));
        let mut thread = ThreadBuilder::new("P");
        thread.edge(thread.entry(), Op::Store(x, Expr::from(1)), thread.entry(), Span::NONE);
        program.threads.push(thread.finish().expect("valid"));
        let task = Task::safe(&program, model_named("tso").expect("a model"));
        let answer =
            Explicit.verify(&task, &Run { monitor: &EightMegabytes, max_buffer: None, ..Run::default() });
        let Verdict::Unknown(reasons) = answer.verdict else { panic!("there is no end to it") };
        assert_eq!(reasons, [Reason::Stopped(Stop::Memory)]);
    }
}
