//! Expressions that are linear.

use program::{Arith, Expr, Int, RegId};
use std::collections::BTreeMap;

#[test]
fn recognises_linear_expressions_and_cancels() {
    let (r, s) = (RegId::new(0), RegId::new(1));
    let doubled = Expr::binary(Arith::Mul, 2, Expr::binary(Arith::Add, r, s));
    let difference = Expr::binary(Arith::Sub, doubled, Expr::binary(Arith::Add, s, s));
    let linear = difference.linear().expect("linear");
    assert_eq!(linear.terms, BTreeMap::from([(r, Int::from(2))]));
    assert_eq!(Expr::binary(Arith::Mul, r, s).linear(), None);
    assert_eq!(Expr::binary(Arith::Div, r, 2).linear(), None);
}
