//! Which numbers grow without end.

use engine::inside::growing;
use program::{
    Arith, Cond, Domain, Expr, Op, Program, RegId, Relation, Source, Span, ThreadBuilder, VarId, Variable,
};

/// One thread that goes round a loop of these operations, with one register and one variable.
fn grows(ops: Vec<Op>) -> bool {
    let mut program = Program::new("loop", Source::default());
    program.add_variable(Variable::new("x", Span::NONE));
    let mut thread = ThreadBuilder::new("P");
    thread.register("r");
    let mut at = thread.entry();
    let count = ops.len();
    for (number, op) in ops.into_iter().enumerate() {
        let to = if number + 1 == count { thread.entry() } else { thread.location(Span::NONE) };
        thread.edge(at, op, to, Span::NONE);
        at = to;
    }
    program.threads.push(thread.finish().expect("valid"));
    growing(&program).is_some()
}

fn r() -> Expr<RegId> {
    Expr::Leaf(RegId::new(0))
}

fn x() -> VarId {
    VarId::new(0)
}

fn plus(number: i64) -> Op {
    Op::Assign(RegId::new(0), Expr::binary(Arith::Add, r(), Expr::from(number)))
}

fn below(number: i64) -> Op {
    Op::Assume(Cond::compare(Relation::Lt, r(), Expr::from(number)))
}

#[test]
fn counters_grow_unless_a_condition_holds_them() {
    let load = Op::Load(RegId::new(0), x());
    let store = Op::Store(x(), r());
    assert!(grows(vec![load.clone(), plus(1), store.clone()]));
    assert!(!grows(vec![load.clone(), plus(1), below(50), store.clone()]));
    assert!(!grows(vec![load.clone(), below(50), plus(3), store.clone()]));
    assert!(grows(vec![load.clone(), below(1 << 40), plus(1), store.clone()]));
    assert!(grows(vec![load, plus(-1), below(50), store]));
}

#[test]
fn a_value_and_its_mirror_stay_small() {
    let mirror = Op::Assign(RegId::new(0), Expr::binary(Arith::Sub, Expr::from(1), r()));
    assert!(!grows(vec![mirror, Op::Store(x(), r())]));
    let modulo = Expr::binary(Arith::Rem, Expr::binary(Arith::Mul, r(), Expr::from(7)), Expr::from(128));
    assert!(!grows(vec![plus(1), Op::Assign(RegId::new(0), modulo), Op::Store(x(), r())]));
}

#[test]
fn what_nobody_reads_does_not_count() {
    let any = Op::Havoc(RegId::new(0), Domain::All);
    assert!(!grows(vec![any.clone(), Op::Skip]));
    assert!(grows(vec![any, Op::Store(x(), r())]));
}

/// The number is loaded and stored in one step.
#[test]
fn parts_of_a_step_count() {
    let next = Expr::binary(Arith::Add, r(), Expr::from(1));
    let add = Op::locked(vec![Op::Load(RegId::new(0), x()), Op::Store(x(), next)]);
    assert!(grows(vec![add]));
}
