//! Which operations of C are about a mutex.

use frontend::inside::{MutexStep, mutex_op};
use program::{Cond, Expr, Int, Op, RegId, Relation, VarId};

fn locked(relation: Relation, expected: i64, stored: Option<i64>) -> Op {
    let (register, variable) = (RegId::new(0), VarId::new(0));
    let mut parts =
        vec![Op::Load(register, variable), Op::Assume(Cond::compare(relation, register, expected))];
    parts.extend(stored.map(|value| Op::Store(variable, Expr::Const(Int::from(value)))));
    Op::locked(parts)
}

#[test]
fn taking_and_releasing_are_told_apart_from_other_steps() {
    let step =
        |relation, expected, stored| mutex_op(&locked(relation, expected, stored)).map(|step| step.does);
    assert!(step(Relation::Eq, 0, Some(2)) == Some(MutexStep::Take));
    assert!(step(Relation::Eq, 2, Some(0)) == Some(MutexStep::Release));
    assert!(step(Relation::Ne, 2, None) == Some(MutexStep::Refuse));
    assert!(step(Relation::Ne, 0, None).is_none(), "somebody looks whether it is free");
    assert!(step(Relation::Eq, 1, Some(2)).is_none(), "there are more than two states");
}
