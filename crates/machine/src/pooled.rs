//! Pools as finite sets of values: the set abstraction of store buffers, and partial coherence.
//!
//! Of every queue the k oldest stores are kept in order and the others are a set, per variable, beside
//! the newest of them [004, sec. 3.2.1 and 3.2.3; k = 0 is the set abstraction]. The machine that forgets so is
//! [`Buffered`]; here the pool of what it forgets is a number whose bits say which of the variable's values
//! are in it. The values of a variable are those that [`Backward`](crate::Backward) finds: whatever any run
//! stores is among them. A store that joins a pool, and a drain that takes one of it, become one move for
//! each value; so moves are exact over numbers, and whatever walks concrete states walks these.
//!
//! A pool keeps what was drained from it (it stands for a set of which any part may have left): the states
//! with smaller pools that destructive drains add [WM-D] allow nothing new.

use crate::backward::stored_values;
use crate::buffered::OverBuffered;
use crate::{
    Buffered, Forgotten, GoOn, Keep, Local, Machine, Model, MoveOf, Moves, NoView, Recall, Slot, ValueSource,
};
use program::{Arith, Cond, Expr, Int, Program, Relation, ThreadId};

/// A set has a bit for each value, and one bit is the sign.
pub(crate) const MOST_VALUES: usize = 62;

/// The machine of a memory model that forgets the order of all but the oldest stores of a queue.
pub struct Pooled<'p> {
    program: &'p Program,
    inner: Buffered<'p>,
    /// By variable.
    values: Vec<Vec<i64>>,
}

impl<'p> Pooled<'p> {
    /// Keeps the k oldest stores of a queue in order, unless `go_on` says no.
    pub fn new(
        program: &'p Program,
        model: Model,
        k: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Pooled<'p>, NoView> {
        if let Some(span) = program.speaks_of_buffers() {
            return Err(NoView::Unbounded(span));
        }
        let values = stored_values(program, model, go_on)?;
        let large = program.variables.iter().zip(&values).find(|(_, values)| values.len() > MOST_VALUES);
        if let Some((variable, _)) = large {
            return Err(NoView::Unbounded(variable.span));
        }
        Ok(Pooled { program, inner: forgetful(program, model, k), values })
    }

    /// Has numbers for these values. If another one joins a pool, whoever takes the step is in doubt. `None`
    /// if there are too many.
    pub(crate) fn over(
        program: &'p Program,
        model: Model,
        k: usize,
        values: Vec<Vec<i64>>,
    ) -> Option<Pooled<'p>> {
        let few =
            values.iter().all(|values| values.len() <= MOST_VALUES) && program.speaks_of_buffers().is_none();
        few.then(|| Pooled { program, inner: forgetful(program, model, k), values })
    }

    /// The same with another k; values need not be found again.
    pub fn keeping(&self, k: usize) -> Pooled<'p> {
        let inner = forgetful(self.program, self.inner.model(), k);
        Pooled { program: self.program, inner, values: self.values.clone() }
    }

    /// The members of a pool of a variable.
    pub fn members(&self, variable: usize, pool: i64) -> impl Iterator<Item = i64> + '_ {
        let values = self.values.get(variable).into_iter().flatten().enumerate();
        values.filter(move |(bit, _)| pool >> bit & 1 == 1).map(|(_, value)| *value)
    }

    /// A move that touches a pool as one move for each value; others as they are.
    fn split(&self, step: MoveOf<Buffered<'p>>, out: &mut Vec<MoveOf<Buffered<'p>>>) {
        let touches = |(slot, source): &(Slot, ValueSource)| {
            matches!(slot, Slot::Pool(..)) || matches!(source, ValueSource::OneOf(_))
        };
        let Some(at) = step.set.iter().position(touches) else { return out.push(step) };
        let (slot, source) = step.set[at].clone();
        let mut push = |cond: Cond<Slot>, value: Expr<Slot>| {
            let mut step = step.clone();
            step.guard = Cond::and([step.guard, cond]);
            step.set[at].1 = ValueSource::Is(value);
            out.push(step);
        };
        let values = |slot: Slot| {
            let values = slot.buffered().and_then(|variable| self.values.get(variable.index()));
            values.into_iter().flatten().enumerate().map(|(bit, value)| (Int::from(1_i64 << bit), *value))
        };
        match source {
            ValueSource::OneOf(pool) => {
                for (bit, value) in values(pool) {
                    let member = Expr::binary(Arith::And, pool, bit);
                    push(Cond::compare(Relation::Ne, member, 0), Expr::from(value));
                }
            }
            ValueSource::Is(new) | ValueSource::Joins(new) => {
                let joins = matches!(step.set[at].1, ValueSource::Joins(_));
                let mut other = Vec::new();
                for (bit, value) in values(slot) {
                    let before = if joins { Expr::from(slot) } else { Expr::from(0) };
                    let is = |relation| Cond::compare(relation, new.clone(), value);
                    push(is(Relation::Eq), Expr::binary(Arith::Or, before, bit));
                    other.push(is(Relation::Ne));
                }
                // For any other value no number is large enough, and whoever takes the step says so.
                push(Cond::and(other), Expr::from(Int::from(1) << 80_u32));
            }
            // There are no pairs here.
            ValueSource::Any(_) | ValueSource::OldestOf(_) | ValueSource::OnlyOf(_) => out.push(step),
        }
    }
}

fn forgetful(program: &Program, model: Model, k: usize) -> Buffered<'_> {
    Buffered::recalling(program, model, Recall { k, keep: Keep::Oldest, forgotten: Forgotten::Pools })
}

impl OverBuffered for Pooled<'_> {
    fn inside(&self) -> &Buffered<'_> {
        &self.inner
    }

    fn moves(
        &self,
        thread: ThreadId,
        holder: Option<ThreadId>,
        local: &Local,
        out: &mut Vec<MoveOf<Buffered<'_>>>,
    ) -> Moves {
        let mut moves = Vec::new();
        let complete = self.inner.moves(thread, &holder, local, &mut moves);
        for step in moves {
            self.split(step, out);
        }
        complete
    }
}
