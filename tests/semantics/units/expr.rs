//! Expressions and conditions.

use program::{Arith, Cond, EvalError, Expr, Int, RegId, Relation};

fn reg(index: usize) -> Expr<RegId> {
    RegId::new(index).into()
}

#[test]
fn constants_fold_and_division_by_zero_does_not() {
    let folded: Expr<RegId> = Expr::binary(Arith::Div, -7, 2);
    assert_eq!(folded, Expr::from(-3), "division truncates");
    let kept: Expr<RegId> = Expr::binary(Arith::Rem, 7, 0);
    assert_eq!(kept.eval(&|_| Int::from(0)), Err(EvalError::DivisionByZero));
}

#[test]
fn negation_is_an_involution_and_flips_the_value() {
    let cond = Cond::or([
        Cond::compare(Relation::Lt, reg(0), 3),
        Cond::and([Cond::compare(Relation::Eq, reg(1), 0), Cond::compare(Relation::Ge, reg(0), reg(1))]),
    ]);
    assert_eq!(cond.clone().negate().negate(), cond);
    for (a, b) in [(0, 0), (3, 0), (3, 1), (5, -1)] {
        let leaf = |r: &RegId| Int::from([a, b][r.index()]);
        assert_ne!(cond.eval(&leaf), cond.clone().negate().eval(&leaf));
    }
}

#[test]
fn conjunctions_flatten_and_drop_what_is_trivial() {
    let a = || Cond::compare(Relation::Lt, reg(0), 3);
    let nested = Cond::and([Cond::TRUE, Cond::and([a(), a()]), a()]);
    assert_eq!(nested, Cond::And(vec![a(), a(), a()]));
    assert_eq!(Cond::and([a(), Cond::FALSE]), Cond::FALSE);
    assert_eq!(Cond::<RegId>::or([]), Cond::FALSE);
}
