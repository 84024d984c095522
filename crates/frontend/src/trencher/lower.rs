//! Transitions to edges.
//!
//! A state becomes a location, or two where control can be there both with and without the
//! lock: the format lets a thread jump out of its locked section and keep the lock. A `lock`
//! that is held already, and an `unlock` of what is not held, never happen and are left out.

use super::cases::{Cases, ValueCase};
use super::parser::{Expression, Transition, TrencherInstruction, TrencherThread};
use super::values::KnownValues;
use crate::Diagnostic;
use program::{
    Cond, Expr, Failure, FailureKind, Fence, Int, Loc, Op, RegId, Relation, Span, ThreadBuilder, VarId,
};
use std::collections::{BTreeMap, BTreeSet};

/// The variable of each address.
pub(super) type Addresses = BTreeMap<Int, VarId>;

/// What is lowered: a thread among all, and what is known of it.
pub(super) struct TrencherContext<'a> {
    pub(super) thread: &'a TrencherThread,
    /// For each transition, the addresses it may use; `None` for one that cannot happen.
    pub(super) uses: &'a [Option<BTreeSet<Int>>],
    pub(super) addresses: &'a Addresses,
    /// How many locations and edges it may have.
    pub(super) max_size: usize,
}

/// The addresses each transition of a thread may use. An address that cannot be bounded is an
/// error; a transition that no run reaches is kept only if its address is plain.
pub(super) fn uses(
    index: usize,
    thread: &TrencherThread,
    known: &mut KnownValues,
    errors: &mut Vec<Diagnostic>,
) -> Vec<Option<BTreeSet<Int>>> {
    let addresses = |transition: &Transition| {
        let address = match &transition.instruction {
            TrencherInstruction::Read { address, .. } | TrencherInstruction::Write { address, .. } => address,
            _ => return Some(BTreeSet::new()),
        };
        match (known.values(index, transition.from, address), address) {
            (_, Expression::Number(address)) => Some(BTreeSet::from([address.clone()])),
            (None, _) => None,
            (Some(Some(addresses)), _) => Some(addresses),
            (Some(None), _) => {
                let message = "the addresses this uses cannot be bounded";
                let hint =
                    "an address must come from finitely many values; counters that grow without end are none";
                errors.push(Diagnostic::error(transition.span, message).hint(hint));
                None
            }
        }
    };
    thread.transitions.iter().map(addresses).collect()
}

/// Lowers a thread.
pub(super) fn lower(context: &TrencherContext) -> Result<program::Thread, Vec<Diagnostic>> {
    let thread = context.thread;
    let mut builder = ThreadBuilder::new(thread.name.clone());
    let registers = registers(context, &mut builder);
    let mut lowering = TrencherLowering {
        context,
        registers,
        leaving: vec![Vec::new(); thread.states.len()],
        places: vec![[None; 2]; thread.states.len()],
        work: Vec::new(),
        errors: Vec::new(),
        builder,
    };
    for (at, transition) in thread.transitions.iter().enumerate() {
        lowering.leaving[transition.from].push(at);
    }
    let entry = lowering.builder.entry();
    lowering.builder.label(entry, thread.states[thread.initial].clone());
    lowering.places[thread.initial][0] = Some(entry);
    lowering.work.push((thread.initial, false));
    lowering.walk();
    // States that no run reaches are kept as long as something can be said about them.
    for state in 0..thread.states.len() {
        let leaves = lowering.leaving[state].iter().any(|at| context.uses[*at].is_some());
        let is_final = thread.finals.iter().any(|(last, _)| *last == state);
        if (leaves || is_final) && lowering.places[state] == [None; 2] {
            lowering.place(state, false);
            lowering.walk();
        }
    }
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    lowering.builder.finish().map_err(|invalid| vec![invalid.into()])
}

/// Declares the registers that are used, by name: the order of transitions does not matter.
fn registers(context: &TrencherContext, builder: &mut ThreadBuilder) -> Vec<Option<RegId>> {
    let thread = context.thread;
    let mut used = BTreeSet::new();
    let possible = thread.transitions.iter().zip(context.uses).filter(|(_, uses)| uses.is_some());
    for (transition, uses) in possible {
        let chosen = uses.as_ref().is_some_and(|uses| uses.len() > 1);
        match &transition.instruction {
            TrencherInstruction::Read { register, address } => {
                used.insert(*register);
                chosen.then(|| address.mention(&mut used));
            }
            TrencherInstruction::Write { value, address } => {
                value.mention(&mut used);
                chosen.then(|| address.mention(&mut used));
            }
            TrencherInstruction::Local { register, value } => {
                used.insert(*register);
                value.mention(&mut used);
            }
            TrencherInstruction::Check(condition) => condition.mention(&mut used),
            _ => {}
        }
    }
    let mut order: Vec<usize> = used.into_iter().collect();
    order.sort_by_key(|at| &thread.registers[*at]);
    let mut ids = vec![None; thread.registers.len()];
    for at in order {
        ids[at] = Some(builder.register(thread.registers[at].clone()));
    }
    ids
}

struct TrencherLowering<'a> {
    context: &'a TrencherContext<'a>,
    registers: Vec<Option<RegId>>,
    /// The transitions that leave each state.
    leaving: Vec<Vec<usize>>,
    /// For each state, its location without and with the lock.
    places: Vec<[Option<Loc>; 2]>,
    work: Vec<(usize, bool)>,
    errors: Vec<Diagnostic>,
    builder: ThreadBuilder,
}

impl TrencherLowering<'_> {
    fn place(&mut self, state: usize, held: bool) -> Loc {
        if let Some(loc) = self.places[state][usize::from(held)] {
            return loc;
        }
        let loc = self.builder.location(Span::NONE);
        self.builder.label(loc, self.context.thread.states[state].clone());
        self.places[state][usize::from(held)] = Some(loc);
        self.work.push((state, held));
        loc
    }

    fn walk(&mut self) {
        let thread = self.context.thread;
        while let Some((state, held)) = self.work.pop() {
            for at in self.leaving[state].clone() {
                if let Some(uses) = &self.context.uses[at] {
                    self.transition(&thread.transitions[at], uses, held);
                }
            }
        }
    }

    /// The edges of a transition that may use these addresses.
    fn transition(&mut self, transition: &Transition, uses: &BTreeSet<Int>, held: bool) {
        let span = transition.span;
        if self.builder.size() > self.context.max_size {
            if self.errors.is_empty() {
                self.errors.push(Diagnostic::error(span, "this thread is too large"));
            }
            return;
        }
        let after = match (&transition.instruction, held) {
            (TrencherInstruction::Lock, true) | (TrencherInstruction::Unlock, false) => return,
            (TrencherInstruction::Lock, false) => true,
            (TrencherInstruction::Unlock, true) => false,
            _ => held,
        };
        let (from, to) = (self.place(transition.from, held), self.place(transition.to, after));
        self.builder.describe(from, span);
        let mut cases = Cases { registers: &self.registers, divisors: Vec::new() };
        let ways = match &transition.instruction {
            TrencherInstruction::Read { register, address } => {
                let register = self.registers[*register];
                located(&mut cases, address, uses, self.context.addresses)
                    .zip(register)
                    .map(|(places, r)| places.into_iter().map(|(cond, v)| (cond, Op::Load(r, v))).collect())
            }
            TrencherInstruction::Write { value, address } => {
                stores(&mut cases, value, address, uses, self.context.addresses)
            }
            TrencherInstruction::Local { register, value } => {
                cases.value(value).zip(self.registers[*register]).map(|(values, r)| {
                    values.into_iter().map(|(cond, value)| (cond, Op::Assign(r, value))).collect()
                })
            }
            TrencherInstruction::Check(condition) => {
                cases.truth(condition).map(|cond| vec![(Cond::TRUE, Op::Assume(cond))])
            }
            TrencherInstruction::Fence => Some(vec![(Cond::TRUE, Op::Fence(Fence::Full))]),
            TrencherInstruction::Noop => Some(vec![(Cond::TRUE, Op::Skip)]),
            TrencherInstruction::Lock => Some(vec![(Cond::TRUE, Op::Lock)]),
            TrencherInstruction::Unlock => Some(vec![(Cond::TRUE, Op::Unlock)]),
        };
        let divisors = cases.divisors;
        let Some(ways) = ways else {
            let message = "this expression mixes too many truth values and numbers";
            self.errors.push(Diagnostic::error(span, message));
            return;
        };
        let from = self.guard_divisors(from, &divisors, span);
        for (cond, op) in ways {
            let guard = (cond != Cond::TRUE).then_some(Op::Assume(cond));
            self.builder.way(from, guard.into_iter().chain([op]), to, span);
        }
    }

    /// Dividing by zero is a failure; where to go on if nothing divides by zero.
    fn guard_divisors(&mut self, from: Loc, divisors: &[ValueCase], span: Span) -> Loc {
        let zero = divisors.iter().map(|(cond, divisor)| {
            Cond::and([cond.clone(), Cond::compare(Relation::Eq, divisor.clone(), 0)])
        });
        let zero = Cond::or(zero.collect::<Vec<_>>());
        if zero == Cond::FALSE {
            return from;
        }
        let failed = self.builder.step(from, Op::Assume(zero.clone()), span);
        self.builder.fail(failed, Failure { kind: FailureKind::Division, span });
        self.builder.step(from, Op::Assume(zero.negate()), span)
    }
}

/// The variables an address may mean, each with its condition.
fn located(
    cases: &mut Cases,
    address: &Expression,
    uses: &BTreeSet<Int>,
    addresses: &Addresses,
) -> Option<Vec<(Cond<RegId>, VarId)>> {
    if uses.len() == 1 {
        return Some(uses.iter().map(|address| (Cond::TRUE, addresses[address])).collect());
    }
    let values = cases.value(address)?;
    let mut found = Vec::new();
    for address in uses {
        for (cond, value) in &values {
            let here = Cond::compare(Relation::Eq, value.clone(), Expr::Const(address.clone()));
            let cond = Cond::and([cond.clone(), here]);
            if cond != Cond::FALSE {
                found.push((cond, addresses[address]));
            }
        }
    }
    Some(found)
}

fn stores(
    cases: &mut Cases,
    value: &Expression,
    address: &Expression,
    uses: &BTreeSet<Int>,
    addresses: &Addresses,
) -> Option<Vec<(Cond<RegId>, Op)>> {
    let values = cases.value(value)?;
    let places = located(cases, address, uses, addresses)?;
    let mut found = Vec::new();
    for (here, variable) in &places {
        for (cond, value) in &values {
            let cond = Cond::and([here.clone(), cond.clone()]);
            if cond != Cond::FALSE {
                found.push((cond, Op::Store(*variable, value.clone())));
            }
        }
    }
    Some(found)
}
