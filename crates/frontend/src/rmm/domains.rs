//! Ranges of expressions, to see where a value cannot leave its domain.

use program::{Arith, Cond, Domain, Expr, RegId, Relation};

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

/// What must hold for a value to belong to a domain, beyond what its range says already.
pub(super) fn must_hold(value: &Expr<RegId>, range: &Domain, domain: &Domain) -> Option<Cond<RegId>> {
    let Domain::Range(low, high) = domain else { return None };
    let (below, above) = match range {
        Domain::All => (true, true),
        Domain::Range(least, most) => (least < low, most > high),
    };
    let at_least = below.then(|| Cond::compare(Relation::Ge, value.clone(), low.clone()));
    let at_most = above.then(|| Cond::compare(Relation::Le, value.clone(), high.clone()));
    (below || above).then(|| Cond::and(at_least.into_iter().chain(at_most)))
}
