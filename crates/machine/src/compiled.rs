//! Moves compiled to code over 64-bit values: what [`crate::Stepper`] runs.
//!
//! A symbolic move names slots; here a slot is a position in memory or in the thread's own
//! segment, and everything that does not depend on values is worked out in advance. Most moves
//! change one slot of the segment: a load sets a register, a store adds an entry, a drain takes
//! one away. So a compiled move says how many slots stay as they are at the front and at the
//! back, and computes only what stands between them.

use crate::code::{CompiledCond, CompiledExpr};
use crate::{Doubt, Event, Machine, Move, Slot, ValueSource};
use num_traits::ToPrimitive;
use program::{Cond, Domain, Expr, Int, Loc, Op, Place, Program, Property, PropertyKind, ThreadId};
use rustc_hash::FxHashMap;

/// A choice from more values than this is tried with a few of them only.
const MAX_CHOICES: i64 = 4096;

/// What code reads.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CodeInput {
    Memory(u32),
    Own(u32),
    Choice,
}

/// What the inputs of a move are worth.
#[derive(Clone, Copy)]
pub(crate) struct InputValues<'a> {
    pub(crate) memory: &'a [i64],
    pub(crate) own: &'a [i64],
    pub(crate) choice: i64,
}

impl InputValues<'_> {
    #[inline]
    pub(crate) fn value(&self, input: CodeInput) -> i64 {
        match input {
            CodeInput::Memory(at) => self.memory[at as usize],
            CodeInput::Own(at) => self.own[at as usize],
            CodeInput::Choice => self.choice,
        }
    }
}

/// A compiled move.
pub(crate) struct Compiled {
    pub(crate) event: Event,
    pub(crate) guard: CompiledCond<CodeInput>,
    pub(crate) memory: Box<[(u32, CompiledExpr<CodeInput>)]>,
    /// How many slots at the front of the segment stay.
    pub(crate) front: usize,
    /// What comes between front and back.
    pub(crate) middle: Box<[CompiledExpr<CodeInput>]>,
    /// How many slots at the back of the segment stay.
    pub(crate) back: usize,
    pub(crate) choices: Option<Box<[i64]>>,
    pub(crate) global: u32,
    pub(crate) local: u32,
}

impl Compiled {
    /// Compiles a move of a thread that has these slots before and after it; the controls it
    /// leads to have these numbers. Calls `unsure` if not all values of a choice are tried. `None` if
    /// a slot becomes what has no single value.
    pub(crate) fn new<G, L>(
        step: &Move<G, L>,
        (global, local): (u32, u32),
        (before, after): (&[Slot], &[Slot]),
        samples: &Samples,
        unsure: &mut dyn FnMut(),
    ) -> Option<Compiled> {
        let places: FxHashMap<Slot, usize> = before.iter().copied().zip(0..).collect();
        let from = |slot: &Slot| match slot {
            Slot::Memory(variable) => CodeInput::Memory(variable.index() as u32),
            own => CodeInput::Own(*places.get(own).expect("a move reads its own slots") as u32),
        };
        let mut choices = None;
        let mut code = |source: &ValueSource| match source {
            ValueSource::Is(value) => Some(CompiledExpr::compile(value, &from)),
            ValueSource::Any(domain) => {
                let (values, exact) = samples.choices(domain);
                if !exact {
                    unsure();
                }
                choices = Some(values.into());
                Some(CompiledExpr::Leaf(CodeInput::Choice))
            }
            ValueSource::OneOf(_)
            | ValueSource::OldestOf(_)
            | ValueSource::OnlyOf(_)
            | ValueSource::Joins(_) => None,
        };
        let set: FxHashMap<Slot, &ValueSource> =
            step.set.iter().map(|(slot, source)| (*slot, source)).collect();
        let own = after.iter().map(|slot| match set.get(slot) {
            Some(source) => code(source),
            None => Some(CompiledExpr::Leaf(from(slot))),
        });
        let own: Vec<CompiledExpr<CodeInput>> = own.collect::<Option<_>>()?;
        let memory = step.set.iter().filter_map(|(slot, source)| match slot {
            Slot::Memory(variable) => Some(code(source).map(|code| (variable.index() as u32, code))),
            _ => None,
        });
        let memory = memory.collect::<Option<_>>()?;
        let guard = CompiledCond::compile(&step.guard, &from);
        let (front, back) = kept(&own, before.len());
        let middle = own[front..own.len() - back].into();
        Some(Compiled { event: step.event, guard, memory, front, middle, back, choices, global, local })
    }
}

impl Compiled {
    /// About how many bytes of memory it holds.
    pub(crate) fn bytes(&self) -> usize {
        let codes = self.middle.len() + self.memory.len();
        size_of::<Compiled>()
            + codes * size_of::<(u32, CompiledExpr<CodeInput>)>()
            + self.choices.as_ref().map_or(0, |values| values.len() * size_of::<i64>())
    }
}

/// How many slots keep their values at the front and at the back of a segment of this length.
fn kept(own: &[CompiledExpr<CodeInput>], length: usize) -> (usize, usize) {
    let is = |code: &CompiledExpr<CodeInput>, at: usize| matches!(code, CompiledExpr::Leaf(CodeInput::Own(from)) if *from as usize == at);
    let front = own.iter().zip(0..length).take_while(|(code, at)| is(code, *at)).count();
    let rest = own[front..].iter().rev().zip((front..length).rev());
    (front, rest.take_while(|(code, at)| is(code, *at)).count())
}

/// The moves of a thread in one control.
pub(crate) struct ListedMoves {
    pub(crate) moves: Box<[Compiled]>,
    pub(crate) doubts: Box<[Doubt]>,
}

/// What a thread's control means.
pub(crate) struct LocalInfo {
    pub(crate) loc: Loc,
    /// Whether nothing of it is on its way to memory.
    pub(crate) drained: bool,
    pub(crate) slots: Box<[Slot]>,
    pub(crate) failed: bool,
    pub(crate) finished: bool,
    pub(crate) longest_queue: usize,
    /// Bit i is set unless property i cannot be violated while the thread is here, whatever the
    /// others do. Properties from 63 on share the last bit.
    pub(crate) may_violate: u64,
    /// By global; `None` until prepared.
    pub(crate) moves: Vec<Option<ListedMoves>>,
}

impl LocalInfo {
    pub(crate) fn new<M: Machine>(machine: &M, thread: ThreadId, local: &M::Local) -> LocalInfo {
        let loc = machine.location(local);
        let automaton = machine.program().thread(thread);
        let mut slots = Vec::new();
        machine.slots(thread, local, &mut slots);
        let finished = machine.drained(local) && automaton.is_end(loc);
        let possible = |property: &Property| match property.kind {
            PropertyKind::Never => !automaton.in_atomic(loc) && may_hold(&property.cond, thread, loc),
            PropertyKind::Finally => finished,
        };
        let bits = machine.program().properties.iter().zip(0..);
        let bits = bits.map(|(property, at)| u64::from(possible(property)) << property_bit(at));
        LocalInfo {
            loc,
            slots: slots.into(),
            failed: automaton.location(loc).failure.is_some(),
            finished,
            drained: machine.drained(local),
            longest_queue: machine.longest_queue(local),
            may_violate: bits.fold(0, |all, bit| all | bit),
            moves: Vec::new(),
        }
    }

    /// About how many bytes of memory it holds, without moves but with the control it stands for:
    /// that has a buffer entry for most slots.
    pub(crate) fn bytes(&self) -> usize {
        2 * size_of::<LocalInfo>() + 2 * self.slots.len() * size_of::<Slot>()
    }
}

/// The bit of [`LocalInfo::may_violate`] that stands for a property.
pub(crate) fn property_bit(property: usize) -> usize {
    property.min(63)
}

/// Whether a condition can hold while a thread stands at a location.
fn may_hold(cond: &Cond<Place>, thread: ThreadId, loc: Loc) -> bool {
    match cond {
        Cond::Const(value) => *value,
        Cond::And(parts) => parts.iter().all(|part| may_hold(part, thread, loc)),
        Cond::Or(parts) => parts.iter().any(|part| may_hold(part, thread, loc)),
        Cond::Compare(relation, Expr::Leaf(Place::At(t, l)), Expr::Const(value)) if *t == thread => {
            relation.holds(&Int::from(i32::from(*l == loc)), value)
        }
        Cond::Compare(..) => true,
    }
}

/// Values worth trying where any value may be chosen.
pub(crate) struct Samples(Vec<i64>);

impl Samples {
    /// Values around 0 and around the program's constants.
    pub(crate) fn of(program: &Program) -> Samples {
        let mut values = vec![-1, 0, 1, 2];
        let mut note = |constant: Option<&Int>| {
            if let Some(value) = constant.and_then(ToPrimitive::to_i64) {
                values.extend([value.saturating_sub(1), value, value.saturating_add(1)]);
            }
        };
        for edge in program.threads.iter().flat_map(|thread| thread.edges()) {
            edge.op.for_each_part(&mut |part| match part {
                Op::Assume(cond) => cond.for_each_expr(&mut |expr| note(expr.as_const())),
                Op::Assign(_, value) | Op::Store(_, value) => note(value.as_const()),
                _ => {}
            });
        }
        for start in &program.starts {
            start.cond.for_each_expr(&mut |expr: &Expr<_>| note(expr.as_const()));
        }
        values.sort_unstable();
        values.dedup();
        values.truncate(64);
        Samples(values)
    }

    /// The values to try for a choice, and whether those are all.
    pub(crate) fn choices(&self, domain: &Domain) -> (Vec<i64>, bool) {
        if let Domain::Range(low, high) = domain
            && let (Some(low), Some(high)) = (low.to_i64(), high.to_i64())
            && high.checked_sub(low).is_some_and(|size| size < MAX_CHOICES)
        {
            return ((low..=high).collect(), true);
        }
        let mut values = self.0.clone();
        if let Domain::Range(low, high) = domain {
            // Something is tried, whatever the constants are.
            values.extend([low, high].into_iter().filter_map(ToPrimitive::to_i64));
            values.sort_unstable();
            values.dedup();
        }
        values.retain(|value| domain.contains(&Int::from(*value)));
        (values, false)
    }
}
