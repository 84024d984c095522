//! Programs whose loops are unrolled, one number of times after the other.

use engine::Run;
use engine::inside::{DelaySearch, DelaysEnded, Extended};
use evidence::Verdict;
use machine::{TSO, Violation, replay};
use program::{
    Arith, Cond, Expr, Failure, FailureKind, Op, Program, RegId, Relation, Source, Span, ThreadBuilder,
    VarId, Variable,
};

fn compare(register: RegId, relation: Relation, with: i64) -> Op {
    Op::Assume(Cond::compare(relation, Expr::Leaf(register), with))
}

/// Stores to its own variable and loads the other's; where it goes on if it finds 0 there.
fn store_and_load(thread: &mut ThreadBuilder, (own, other): (VarId, VarId)) -> (RegId, program::Loc) {
    let found = thread.register("found");
    let stored = thread.step(thread.entry(), Op::Store(own, Expr::from(1)), Span::NONE);
    let loaded = thread.step(stored, Op::Load(found, other), Span::NONE);
    (found, thread.step(loaded, compare(found, Relation::Eq, 0), Span::NONE))
}

/// Store buffering, of which the second thread has to find nothing three times before it fails.
fn third_time() -> Program {
    let mut program = Program::new("third time", Source::default());
    let [x, y, done] = ["x", "y", "done"].map(|name| program.add_variable(Variable::new(name, Span::NONE)));
    let mut first = ThreadBuilder::new("P");
    let (_, nothing) = store_and_load(&mut first, (x, y));
    first.step(nothing, Op::Store(done, Expr::from(1)), Span::NONE);
    let mut second = ThreadBuilder::new("Q");
    let times = second.register("times");
    let (found, nothing) = store_and_load(&mut second, (y, x));
    let early = second.step(nothing, compare(times, Relation::Lt, 2), Span::NONE);
    let more = Expr::binary(Arith::Add, Expr::Leaf(times), 1);
    second.edge(early, Op::Assign(times, more), second.entry(), Span::NONE);
    let late = second.step(nothing, compare(times, Relation::Eq, 2), Span::NONE);
    let loaded = second.step(late, Op::Load(found, done), Span::NONE);
    let failed = second.step(loaded, compare(found, Relation::Eq, 1), Span::NONE);
    second.fail(failed, Failure { kind: FailureKind::Assertion, span: Span::NONE });
    program.threads.extend([first, second].map(|thread| thread.finish().expect("valid")));
    program
}

#[test]
fn a_violation_that_goes_back_twice_is_found_when_loops_are_unrolled_twice() {
    let program = third_time();
    let mut search = DelaySearch::new(Run::default());
    for times in 0..4 {
        let unrolled = Extended::unrolled(&program, times).expect("it is small");
        match search.decide(unrolled, usize::MAX) {
            DelaysEnded::Robust(..) => assert!(times < 2, "no violation in {times}"),
            DelaysEnded::Violated(trace) => {
                assert!(times >= 2, "a violation in {times}");
                assert!(matches!(trace.violation, Violation::Failure(..)));
                assert!(replay(&program, TSO, &trace).is_ok());
            }
            _ => panic!("it is decided"),
        }
    }
    assert!(matches!(search.raise_bounds(&program, 1), Verdict::Unsafe(_)));
}
