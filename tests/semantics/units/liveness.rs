//! Registers that are read later.

use program::{
    Cond, Expr, Liveness, Loc, Op, Program, Relation, Source, Span, ThreadBuilder, ThreadId, VarId, Variable,
};

#[test]
fn a_register_is_live_between_its_load_and_its_last_use() {
    let mut program = Program::new("p", Source::default());
    program.add_variable(Variable::new("x", Span::NONE));
    let mut builder = ThreadBuilder::new("P");
    let (r, s) = (builder.register("r"), builder.register("s"));
    let loaded = builder.step(builder.entry(), Op::Load(r, VarId::new(0)), Span::NONE);
    let cond = Cond::compare(Relation::Eq, r, 1);
    let tested = builder.step(loaded, Op::Assume(cond), Span::NONE);
    builder.step(tested, Op::Assign(s, Expr::from(1)), Span::NONE);
    program.threads.push(builder.finish().expect("valid"));
    let live = Liveness::of(&program);
    let at = |loc| live.at(ThreadId::new(0), Loc::new(loc)).to_vec();
    assert_eq!([at(0), at(1), at(2), at(3)], [vec![], vec![r], vec![], vec![]]);
}
