//! Running a machine on normal forms of the gap abstraction (see [`Gaps`]).

use crate::gap_plan::{Plans, StepPlan, Unsupported};
use crate::{DataDomain, Doubt, Event, Gaps, InitialStates, Machine, State, Statement, Stepper};
use num_traits::ToPrimitive;
use program::{Domain, EdgeId, Op, Place, Program, ThreadId, VarId};
use smallvec::{SmallVec, smallvec};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::RangeInclusive;

/// No more normal forms than this are listed to start in.
const MAX_INITIAL: usize = 1 << 16;

/// A machine over normal forms.
pub struct GapStepper<'m, M: Machine> {
    /// Runs single concrete steps.
    stepper: Stepper<'m, M>,
    gaps: Gaps,
    plans: Plans,
    /// Memory for states between others.
    spare: RefCell<Vec<State>>,
}

impl<'m, M: Machine> GapStepper<'m, M> {
    /// The machine with gaps exact up to a precision; more, if properties need it.
    pub fn new(machine: &'m M, precision: i64) -> Result<GapStepper<'m, M>, Unsupported> {
        let plans = Plans::of(machine.program())?;
        let precision = precision.max(plans.precision);
        let (low, high) = (plans.low - precision, plans.high + precision);
        let gaps = Gaps { low, high, precision, modulus: plans.modulus };
        Ok(GapStepper { stepper: Stepper::new(machine), gaps, plans, spare: RefCell::default() })
    }

    /// The machine with a given window and precision; `None` if they are too small to be sound.
    pub fn with(machine: &'m M, gaps: Gaps) -> Option<GapStepper<'m, M>> {
        let plans = Plans::of(machine.program()).ok()?;
        let sane = |v: i64| (-(1 << 41)..1 << 41).contains(&v);
        let enough = gaps.low <= plans.low
            && gaps.high >= plans.high
            && gaps.precision >= plans.precision
            && gaps.modulus > 0
            && gaps.modulus % plans.modulus == 0
            && sane(gaps.modulus)
            && sane(gaps.low)
            && sane(gaps.high)
            && sane(gaps.precision);
        enough.then(|| GapStepper { stepper: Stepper::new(machine), gaps, plans, spare: RefCell::default() })
    }

    /// The window and the precision.
    pub fn gaps(&self) -> Gaps {
        self.gaps
    }

    fn program(&self) -> &'m Program {
        self.stepper.machine().program()
    }

    /// Lets a variable take any value of its domain; false if there are too many.
    fn with_any_value(
        &self,
        values: &[i64],
        variable: VarId,
        domain: &Domain,
        found: &mut BTreeSet<Vec<i64>>,
    ) -> bool {
        // Nothing is chosen yet where this variable is, so it must not count as a value.
        let mut values = values.to_vec();
        values[variable.index()] = self.gaps.low;
        self.gaps.choose(&values, &bounds(domain), |opened, value| {
            let mut values = opened.to_vec();
            values[variable.index()] = value;
            self.gaps.normalise(&mut values);
            found.insert(values);
        })
    }

    fn normal(&self, mut state: State) -> State {
        self.gaps.normalise(&mut state.values);
        state
    }

    fn steps_with_offset(
        &self,
        thread: ThreadId,
        (state, normal): (&State, &mut State),
        offset: i64,
        doubt: &mut impl FnMut(Doubt),
        visit: &mut impl FnMut(Event, Option<i64>, &State),
    ) {
        let mut next = self.take_spare();
        let mut step = |state: &State| {
            // What a free choice leaves out is looked at elsewhere.
            let doubt = |d| {
                if !matches!(d, Doubt::Choice(_)) {
                    doubt(d)
                }
            };
            self.stepper.successors_of(thread, state, &mut next, doubt, |event, choice, next| {
                if self.plan_offset(event) == Some(offset) {
                    normal.clone_from(next);
                    self.gaps.normalise(&mut normal.values);
                    visit(event, choice, normal);
                }
            });
        };
        if offset == 0 {
            step(state);
            return self.spare.borrow_mut().push(next);
        }
        let near = self.read_with_offset(thread, state, offset);
        let mut opened = self.take_spare();
        opened.clone_from(state);
        let done = self.gaps.open_near(&state.values, &near, offset, |values| {
            opened.values.clear();
            opened.values.extend_from_slice(values);
            step(&opened);
        });
        self.spare.borrow_mut().extend([next, opened]);
        if !done {
            doubt(Doubt::Bound);
        }
    }

    fn take_spare(&self) -> State {
        self.spare.borrow_mut().pop().unwrap_or_default()
    }

    /// What the steps of a thread that are run with an offset may read.
    fn read_with_offset(&self, thread: ThreadId, state: &State, offset: i64) -> SmallVec<[i64; 16]> {
        let loc = self.stepper.machine().location(self.stepper.local(thread, state));
        let mut near = SmallVec::new();
        for (edge, _) in self.program().thread(thread).outgoing(loc) {
            if *self.plans.at(thread, edge) != StepPlan::Offset(offset) {
                continue;
            }
            near.extend(self.values_read(thread, edge, state));
        }
        near
    }

    /// What a step along an edge may read: registers, variables, and stores to those in the thread's buffer.
    fn values_read(&self, thread: ThreadId, edge: EdgeId, state: &State) -> impl Iterator<Item = i64> {
        let (registers, variables) = self.plans.reads(thread, edge);
        let registers = registers.iter().map(move |r| Place::Register(thread, *r));
        let places = registers.chain(variables.iter().map(|v| Place::Memory(*v)));
        let buffered = self.stepper.buffered(thread, state).filter(|(v, _)| variables.contains(v));
        places.map(|place| self.stepper.place(state, &place)).chain(buffered.map(|(_, value)| value))
    }

    /// The offset with which an event's step is run; `None` for free choices.
    fn plan_offset(&self, event: Event) -> Option<i64> {
        let Event::Step { thread, edge } = event else { return Some(0) };
        match self.plans.at(thread, edge) {
            StepPlan::Offset(offset) => Some(*offset),
            StepPlan::Exact => Some(0),
            StepPlan::Choice => None,
        }
    }

    /// Says so if a step computes with values that are not known exactly.
    fn doubt_inexact(&self, state: &State, thread: ThreadId, edge: EdgeId, doubt: &mut impl FnMut(Doubt)) {
        if !self.values_read(thread, edge, state).all(|value| self.gaps.in_window(value)) {
            doubt(Doubt::Fragment(Statement::of(self.program(), Event::Step { thread, edge })));
        }
    }

    fn steps_with_choice(
        &self,
        state: &State,
        event: Event,
        doubt: &mut impl FnMut(Doubt),
        visit: &mut impl FnMut(Event, Option<i64>, &State),
    ) {
        let Event::Step { thread, edge } = event else { return };
        let Op::Havoc(_, domain) = &self.program().thread(thread).edge(edge).op else { return };
        let mut from = state.clone();
        let done = self.gaps.choose(&state.values, &bounds(domain), |opened, value| {
            from.values.clear();
            from.values.extend_from_slice(opened);
            if let Some(next) = self.stepper.choose(&from, event, value) {
                visit(event, Some(value), &self.normal(next));
            }
        });
        if !done {
            doubt(Doubt::Choice(Statement::of(self.program(), event)));
        }
    }
}

impl<'m, M: Machine> DataDomain<'m> for GapStepper<'m, M> {
    type Machine = M;

    /// Normal forms are worked out anew after every step.
    fn work(&self) -> usize {
        2
    }

    fn stepper(&self) -> &Stepper<'m, M> {
        &self.stepper
    }

    fn stepper_mut(&mut self) -> &mut Stepper<'m, M> {
        &mut self.stepper
    }

    fn initial(&mut self) -> (InitialStates, Vec<Doubt>) {
        let program = self.program();
        let (mut states, doubts) = self.stepper.with_initial_values();
        // What conditions on initial values compare is told by normal forms, as it is for properties.
        let possible = |state: &State| self.stepper.may_start(state);
        if doubts.is_empty() {
            let normal: Vec<State> = states.filter(possible).map(|state| self.normal(state)).collect();
            return (normal.into(), doubts);
        }
        let Some(first) = states.next() else { return (Vec::new().into(), doubts) };
        let mut found = BTreeSet::from([first.values.clone()]);
        for variable in program.variable_ids() {
            let domain = &program.variable(variable).initial;
            let mut next = BTreeSet::new();
            for values in &found {
                // Of too many, one has to do; also where normal forms do not tell which are possible.
                if !self.plans.tells_starts
                    || !self.with_any_value(values, variable, domain, &mut next)
                    || next.len() > MAX_INITIAL
                {
                    let one = possible(&first).then(|| self.normal(first));
                    return (Vec::from_iter(one).into(), vec![Doubt::InitialChoice]);
                }
            }
            found = next;
        }
        let state = |values| State { values, ..first.clone() };
        (found.into_iter().map(state).filter(possible).collect::<Vec<_>>().into(), Vec::new())
    }

    fn successors(
        &self,
        state: &State,
        next: &mut State,
        mut doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(Event, Option<i64>, &State),
    ) {
        for thread in self.program().thread_ids() {
            self.successors_of(thread, state, next, &mut doubt, &mut visit);
        }
    }

    fn successors_of(
        &self,
        thread: ThreadId,
        state: &State,
        next: &mut State,
        mut doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(Event, Option<i64>, &State),
    ) {
        let loc = self.stepper.machine().location(self.stepper.local(thread, state));
        let mut choosing = Vec::new();
        // Drains, and steps that compute exactly, need no opening.
        let mut offsets: SmallVec<[i64; 4]> = smallvec![0];
        for (edge, _) in self.program().thread(thread).outgoing(loc) {
            match self.plans.at(thread, edge) {
                StepPlan::Offset(offset) => offsets.push(*offset),
                StepPlan::Choice => choosing.push(Event::Step { thread, edge }),
                StepPlan::Exact => self.doubt_inexact(state, thread, edge, &mut doubt),
            }
        }
        offsets.sort_unstable();
        offsets.dedup();
        for offset in offsets {
            self.steps_with_offset(thread, (state, next), offset, &mut doubt, &mut visit);
        }
        for event in choosing {
            self.steps_with_choice(state, event, &mut doubt, &mut visit);
        }
    }

    fn tells(&self, value: i64) -> bool {
        self.gaps.in_window(value)
    }

    fn has(&self, state: &State) -> bool {
        // Normal forms stay far from the ends of 64 bits, so nothing overflows after this.
        if !self.stepper.is_well_formed(state)
            || !state.values.iter().all(|value| (-(1 << 60)..1 << 60).contains(value))
        {
            return false;
        }
        let mut values = state.values.clone();
        self.gaps.normalise(&mut values);
        values == state.values
    }
}

/// The values of a domain, as far as 64 bits go.
fn bounds(domain: &Domain) -> RangeInclusive<i64> {
    match domain {
        Domain::All => i64::MIN..=i64::MAX,
        Domain::Range(low, high) => low.to_i64().unwrap_or(i64::MIN)..=high.to_i64().unwrap_or(i64::MAX),
    }
}
