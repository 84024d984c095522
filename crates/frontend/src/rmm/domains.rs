//! Ranges of expressions, to see where a value cannot leave its domain.

use program::{Arith, Cond, Domain, Expr, Int, RegId, Relation};

/// The smallest domain known to hold all values of an expression, from the registers' domains.
pub(super) fn range(expr: &Expr<RegId>, registers: &[Domain]) -> Domain {
    match expr {
        Expr::Const(value) => Domain::only(value.clone()),
        Expr::Leaf(register) => registers.get(register.index()).cloned().unwrap_or(Domain::All),
        Expr::Binary(op, a, b) => match (op, range(a, registers), range(b, registers)) {
            (Arith::Add, Domain::Range(a, b), Domain::Range(c, d)) => Domain::Range(a + c, b + d),
            (Arith::Sub, Domain::Range(a, b), Domain::Range(c, d)) => Domain::Range(a - d, b - c),
            _ => Domain::All,
        },
    }
}

/// Whether every value of the first belongs to the second.
pub(super) fn within(inner: &Domain, outer: &Domain) -> bool {
    match (inner, outer) {
        (_, Domain::All) => true,
        (Domain::All, _) => false,
        (Domain::Range(low, high), outer) => outer.contains(low) && outer.contains(high),
    }
}

/// What must hold for a value to belong to a domain, beyond what its range says already.
pub(super) fn must_hold(value: &Expr<RegId>, range: &Domain, domain: &Domain) -> Option<Cond<RegId>> {
    let Domain::Range(low, high) = domain else { return None };
    let below: &dyn Fn(&Int) -> bool = match range {
        Domain::All => &|_| true,
        Domain::Range(least, _) => &move |low| least < low,
    };
    let above: &dyn Fn(&Int) -> bool = match range {
        Domain::All => &|_| true,
        Domain::Range(_, most) => &move |high| most > high,
    };
    let mut parts = Vec::new();
    if below(low) {
        parts.push(Cond::compare(Relation::Ge, value.clone(), low.clone()));
    }
    if above(high) {
        parts.push(Cond::compare(Relation::Le, value.clone(), high.clone()));
    }
    if parts.is_empty() { None } else { Some(Cond::and(parts)) }
}
