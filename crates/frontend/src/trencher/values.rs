//! Which values registers and memory may hold, so that computed addresses become choices.
//!
//! An abstract interpretation of all threads at once: for every state of a thread each
//! register has a finite set of values or "anything"; every address of memory has one set for
//! the whole run (0 and everything any thread writes there). Threads are stepped until
//! nothing grows. A set that grows beyond a limit becomes "anything", so counters end quickly.
//! Registers and addresses that cannot end up in an address (see `relevance`) are not followed.
//! A `check` on one register keeps only the values that pass it. The sets are always supersets
//! of what can happen under any memory model, since a load only ever sees values that were
//! written to its address.

use super::parser::{Expression, Transition, TrencherInstruction, TrencherOperator, TrencherThread};
use super::relevance::Relevance;
use num_traits::Zero;
use program::Int;
use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

/// A set with more values than this becomes "anything".
const MAX_VALUES: usize = 64;
/// After this much work, everything that still grows becomes "anything".
const BUDGET: usize = 1_000_000;

/// A set of values; `None` is every integer.
pub(super) type ValueSet = Option<BTreeSet<Int>>;

/// What a step made grow.
#[derive(Clone, Copy, Default)]
struct Changed {
    state: bool,
    memory: bool,
}

/// What is known: per thread and state (if it can be reached) the registers, and memory.
#[derive(Debug, Default)]
pub(super) struct KnownValues {
    states: Vec<Vec<Option<Vec<ValueSet>>>>,
    memory: BTreeMap<Int, ValueSet>,
    /// What may have been written to an address that is not known.
    anywhere: Option<ValueSet>,
    relevance: Relevance,
    spent: usize,
}

impl KnownValues {
    /// Runs the interpretation to its end.
    pub(super) fn of(threads: &[TrencherThread]) -> KnownValues {
        let mut known = KnownValues { relevance: Relevance::of(threads), ..KnownValues::default() };
        let mut work = VecDeque::new();
        let mut leaving: Vec<Vec<Vec<&Transition>>> = Vec::new();
        for (index, thread) in threads.iter().enumerate() {
            let mut states = vec![None; thread.states.len()];
            let relevant = &known.relevance.registers[index];
            let start = relevant.iter().map(|relevant| if *relevant { only(0) } else { None }).collect();
            states[thread.initial] = Some(start);
            known.states.push(states);
            work.push_back((index, thread.initial));
            let mut from = vec![Vec::new(); thread.states.len()];
            thread.transitions.iter().for_each(|transition| from[transition.from].push(transition));
            leaving.push(from);
        }
        let reads = |transitions: &Vec<&Transition>| {
            transitions.iter().any(|t| matches!(t.instruction, TrencherInstruction::Read { .. }))
        };
        let loading: Vec<(usize, usize)> = (0..threads.len())
            .flat_map(|thread| (0..leaving[thread].len()).map(move |state| (thread, state)))
            .filter(|(thread, state)| reads(&leaving[*thread][*state]))
            .collect();
        let mut waiting: HashSet<(usize, usize)> = work.iter().copied().collect();
        while let Some((thread, state)) = work.pop_front() {
            waiting.remove(&(thread, state));
            for transition in &leaving[thread][state] {
                let changed = known.step(thread, transition);
                let to = (thread, transition.to);
                let woken = loading.iter().copied().filter(|_| changed.memory);
                for next in woken.chain(changed.state.then_some(to)) {
                    if waiting.insert(next) {
                        work.push_back(next);
                    }
                }
            }
        }
        known
    }

    /// The values an expression may have in a state; `None` in front if the state is not reached.
    pub(super) fn values(
        &mut self,
        thread: usize,
        state: usize,
        expression: &Expression,
    ) -> Option<ValueSet> {
        let registers = self.states[thread][state].clone()?;
        Some(self.evaluate(expression, &registers))
    }

    fn step(&mut self, thread: usize, transition: &Transition) -> Changed {
        let mut changed = Changed::default();
        let Some(mut registers) = self.states[thread][transition.from].clone() else { return changed };
        self.spent += 1 + registers.len();
        match &transition.instruction {
            TrencherInstruction::Read { register, address }
                if self.relevance.registers[thread][*register] =>
            {
                let address = self.evaluate(address, &registers);
                registers[*register] = self.load(&address);
            }
            TrencherInstruction::Write { value, address } => {
                let address = self.evaluate(address, &registers);
                let value = self.evaluate(value, &registers);
                changed.memory = self.store(&address, &value);
            }
            TrencherInstruction::Local { register, value } if self.relevance.registers[thread][*register] => {
                registers[*register] = self.evaluate(value, &registers);
            }
            TrencherInstruction::Check(condition) if !self.assume(condition, &mut registers) => {
                return changed;
            }
            _ => {}
        }
        let wide = self.spent > BUDGET;
        let Some(known) = &mut self.states[thread][transition.to] else {
            self.states[thread][transition.to] = Some(registers);
            changed.state = true;
            return changed;
        };
        for (old, new) in known.iter_mut().zip(&registers) {
            changed.state |= join(old, new);
        }
        if wide && changed.state {
            known.fill(None);
        }
        changed
    }

    fn load(&mut self, address: &ValueSet) -> ValueSet {
        let mut found: ValueSet = Some(BTreeSet::new());
        for address in address.as_ref()? {
            let here = self.memory.get(address).cloned().unwrap_or_else(|| only(0));
            join(&mut found, &here);
        }
        if let Some(anywhere) = &self.anywhere {
            join(&mut found, anywhere);
        }
        found
    }

    fn store(&mut self, address: &ValueSet, value: &ValueSet) -> bool {
        let mut changed = false;
        match address {
            None => changed = join(self.anywhere.get_or_insert_with(|| Some(BTreeSet::new())), value),
            Some(addresses) => {
                for address in addresses.iter().filter(|address| self.relevance.of_address(address)) {
                    changed |= join(self.memory.entry(address.clone()).or_insert_with(|| only(0)), value);
                }
            }
        }
        if changed && self.spent > BUDGET {
            // Any address may hold anything from now on, so this happens once.
            changed = self.anywhere != Some(None);
            self.anywhere = Some(None);
        }
        changed
    }

    /// Keeps the register values that can pass; whether any can.
    fn assume(&mut self, condition: &Expression, registers: &mut [ValueSet]) -> bool {
        if let Expression::Apply(TrencherOperator::And, a, b) = condition {
            return self.assume(a, registers) && self.assume(b, registers);
        }
        let mut mentioned = BTreeSet::new();
        condition.mention(&mut mentioned);
        if mentioned.len() == 1
            && let Some(register) = mentioned.first().copied()
            && let Some(values) = registers[register].clone()
        {
            let passes = |this: &mut KnownValues, value: &Int| {
                let mut alone = registers.to_vec();
                alone[register] = Some(BTreeSet::from([value.clone()]));
                may_be_true(&this.evaluate(condition, &alone))
            };
            let kept: BTreeSet<Int> = values.into_iter().filter(|value| passes(self, value)).collect();
            let possible = !kept.is_empty();
            registers[register] = Some(kept);
            return possible;
        }
        may_be_true(&self.evaluate(condition, registers))
    }

    fn evaluate(&mut self, expression: &Expression, registers: &[ValueSet]) -> ValueSet {
        self.spent += 1;
        let truth = |value: bool| Int::from(u8::from(value));
        match expression {
            Expression::Number(value) => Some(BTreeSet::from([value.clone()])),
            Expression::Register(register) => registers[*register].clone(),
            Expression::Not(inner) => {
                let inner = self.evaluate(inner, registers);
                boolean(inner.map(|values| values.iter().map(|v| truth(v.is_zero())).collect()))
            }
            Expression::Apply(operator, a, b) => {
                let values = self.combine(a, b, registers, &|a, b| match operator {
                    TrencherOperator::And => Some(truth(!a.is_zero() && !b.is_zero())),
                    TrencherOperator::Or => Some(truth(!a.is_zero() || !b.is_zero())),
                    TrencherOperator::Compare(relation) => Some(truth(relation.holds(a, b))),
                    TrencherOperator::Compute(arith) => arith.apply(a, b),
                });
                if let TrencherOperator::Compute(_) = operator { values } else { boolean(values) }
            }
        }
    }

    fn combine(
        &mut self,
        a: &Expression,
        b: &Expression,
        registers: &[ValueSet],
        apply: &dyn Fn(&Int, &Int) -> Option<Int>,
    ) -> ValueSet {
        let (a, b) = (self.evaluate(a, registers)?, self.evaluate(b, registers)?);
        self.spent += a.len() * b.len();
        let all: BTreeSet<Int> = a.iter().flat_map(|a| b.iter().filter_map(move |b| apply(a, b))).collect();
        let small = all.len() <= MAX_VALUES && all.iter().all(|value| value.bits() < 4096);
        small.then_some(all)
    }
}

/// A truth value is 0 or 1 even if its operands can be anything.
fn boolean(values: ValueSet) -> ValueSet {
    values.or_else(|| Some(BTreeSet::from([Int::from(0), Int::from(1)])))
}

fn only(value: i64) -> ValueSet {
    Some(BTreeSet::from([Int::from(value)]))
}

fn may_be_true(values: &ValueSet) -> bool {
    values.as_ref().is_none_or(|values| values.iter().any(|value| !value.is_zero()))
}

/// Adds values to a set; whether it grew.
fn join(known: &mut ValueSet, new: &ValueSet) -> bool {
    let Some(set) = known else { return false };
    let before = set.len();
    if let Some(new) = new {
        set.extend(new.iter().cloned());
    }
    let grown = new.is_none() || set.len() > before;
    if new.is_none() || set.len() > MAX_VALUES {
        *known = None;
    }
    grown
}
