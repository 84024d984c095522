//! Who waits, and for what.

use program::{Cond, Expr, Loc, Names, Op, Program, Relation, Source, Span, ThreadBuilder, VarId, Variable};

/// A thread that looks at `x` until it is 1, and one that has nothing to do.
fn waiting() -> Program {
    let mut program = Program::new("waiting", Source::default());
    let x = program.add_variable(Variable::new("x", Span::NONE));
    let mut thread = ThreadBuilder::new("P");
    let seen = thread.register("seen");
    let looked = thread.step(thread.entry(), Op::Load(seen, x), Span::NONE);
    let cond = Cond::compare(Relation::Eq, seen, 1);
    thread.edge(looked, Op::Assume(cond.clone().negate()), Loc::new(0), Span::NONE);
    thread.step(looked, Op::Assume(cond), Span::NONE);
    program.threads.push(thread.finish().expect("valid"));
    program.threads.push(ThreadBuilder::new("Q").finish().expect("valid"));
    program
}

#[test]
fn who_only_looks_waits_for_what_would_let_it_go() {
    let program = waiting();
    let names = Names::original(&program);
    assert_eq!(
        names.cond(&program.deadlock()),
        "(P@L2 || (P@L0 && x != 1)) && Q@L0 && P@L0 && x != 1 && empty(P) && empty(Q)"
    );
}

#[test]
fn who_stores_or_counts_does_not_wait() {
    let mut program = waiting();
    let mut thread = ThreadBuilder::new("P");
    let entry = thread.entry();
    thread.edge(entry, Op::Store(VarId::new(0), Expr::from(1)), entry, Span::NONE);
    program.threads[0] = thread.finish().expect("valid");
    assert_eq!(program.deadlock(), Cond::FALSE);
    let mut thread = ThreadBuilder::new("P");
    let (entry, looks) = (thread.entry(), thread.register("looks"));
    let next = Expr::binary(program::Arith::Add, looks, 1);
    let asked = thread.step(entry, Op::Assign(looks, next), Span::NONE);
    let enough = Cond::compare(Relation::Eq, looks, 5);
    thread.edge(asked, Op::Assume(enough.clone().negate()), entry, Span::NONE);
    thread.step(asked, Op::Assume(enough), Span::NONE);
    program.threads[0] = thread.finish().expect("valid");
    assert_eq!(program.deadlock(), Cond::FALSE);
}
