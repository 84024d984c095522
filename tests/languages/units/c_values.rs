//! What lowering C knows of values.

use frontend::inside::{CKnown, CValues, exact, refine};
use program::{Arith, Cond, Expr, Int, RegId, Relation};

#[test]
fn ranges_cover_what_operations_give() {
    let sets =
        [CValues::range(-3, 9), CValues::only(4), CValues::range(2, 30), CValues::listed(vec![-7, 0, 5])];
    let ops = [Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem, Arith::And, Arith::Or, Arith::Xor];
    for a in &sets {
        for b in &sets {
            for op in ops {
                let all = CValues::combine(op, a, b);
                for x in (-10..40).filter(|x| a.contains(*x)) {
                    for y in (-10..40).filter(|y| b.contains(*y)) {
                        let value = exact(op, x, y).flatten();
                        assert!(value.is_none_or(|v| all.contains(v)), "{op:?} {x} {y} not in {all:?}");
                    }
                }
            }
        }
    }
}

#[test]
fn several_values_are_taken_out_at_once() {
    let r = RegId::new(0);
    let none_of = |values: &[i128]| {
        let unlike = |value: &i128| Cond::compare(Relation::Ne, r, Expr::Const(Int::from(*value)));
        Cond::And(values.iter().map(unlike).collect())
    };
    let known = |values: CValues| CKnown::all([r].into_iter(), &values);
    let list = known(CValues::listed(vec![1, 4, 6, 9]));
    let left = refine(&list, &none_of(&[9, 4, 7])).expect("possible");
    assert_eq!(left.get(r), CValues::listed(vec![1, 6]));
    assert!(refine(&list, &none_of(&[6, 1, 9, 4])).is_none());
    let range = refine(&known(CValues::range(0, 50)), &none_of(&[1, 0, 49, 50, 20])).expect("possible");
    assert_eq!(range.get(r).bounds(), Some((2, 48)));
}

#[test]
fn conditions_narrow() {
    let r = RegId::new(0);
    let known = CKnown::all([r].into_iter(), &CValues::range(0, 100));
    let below = refine(&known, &Cond::compare(Relation::Lt, r, 10)).expect("possible");
    assert_eq!(below.get(r).bounds(), Some((0, 9)));
    let sum = Expr::binary(Arith::Add, r, 5);
    let above = refine(&known, &Cond::compare(Relation::Ge, sum, 50)).expect("possible");
    assert_eq!(above.get(r).bounds(), Some((45, 100)));
    assert!(refine(&known, &Cond::compare(Relation::Gt, r, 100)).is_none());
}
