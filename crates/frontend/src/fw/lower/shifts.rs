//! `<<` and `>>`.
//!
//! A shift by a constant is a product or a division, so whoever knows those knows shifts. A shift by a value
//! is one case per number of places, up to those of a machine word; what lies outside is a violation, as an
//! index outside an array is.

use super::memory::{out_of, weight};
use super::thread::FwLowering;
use crate::fw::ast::Shift;
use crate::fw::constants::{power_of_two, shifted};
use crate::fw::sink::OrReported;
use num_traits::One;
use program::{Cond, Expr, Failure, FailureKind, Int, Op, RegId, Relation, Span};

/// A value may shift by 0 up to, but not including, this many places.
const MOST_PLACES: usize = 64;

impl FwLowering<'_, '_> {
    /// A shifted value.
    pub fn shift(
        &mut self,
        shift: Shift,
        (value, value_span): (Expr<RegId>, Span),
        (places, places_span): (Expr<RegId>, Span),
    ) -> OrReported<Expr<RegId>> {
        // What is mentioned several times is computed once.
        let several = shift == Shift::Right || places.as_const().is_none();
        let value = if several && weight(&value) > 1 { self.in_register(value)? } else { value };
        match places.as_const() {
            Some(places) => {
                let power = power_of_two(places, places_span).map_err(|fault| self.wrong(fault))?;
                Ok(shifted(shift, value, power))
            }
            None => self.shift_by_value(shift, &value, &places, value_span.to(places_span)),
        }
    }

    fn shift_by_value(
        &mut self,
        shift: Shift,
        value: &Expr<RegId>,
        places: &Expr<RegId>,
        span: Span,
    ) -> OrReported<Expr<RegId>> {
        let (result, next, outside) = (self.temporary()?, self.location(), self.location());
        let kind =
            FailureKind::Error(format!("a shift by fewer than 0 or more than {} places", MOST_PLACES - 1));
        self.builder.fail(outside, Failure { kind, span });
        for at in 0..MOST_PLACES {
            self.spend(weight(value) + weight(places))?;
            let chosen = Op::Assume(Cond::compare(Relation::Eq, places.clone(), Int::from(at)));
            let assigned = Op::Assign(result, shifted(shift, value.clone(), Int::one() << at));
            self.edge(Op::together(vec![chosen, assigned]), next);
        }
        self.edge(Op::Assume(out_of(places, MOST_PLACES)), outside);
        self.at = next;
        Ok(Expr::Leaf(result))
    }
}
