//! Fences that are written in a program, and the program without one of them.

use program::{Expr, Fence, Op, Program, Source, Span, ThreadBuilder, Variable};

/// Two threads from one text: a store, a full fence, a store, a store fence; and a fence of no text.
fn program() -> Program {
    let mut program = Program::new("p", Source::new("p.fw", "x = 1; fence; x = 2; sfence;"));
    let x = program.add_variable(Variable::new("x", Span::NONE));
    for name in ["P0", "P1"] {
        let mut thread = ThreadBuilder::new(name);
        let mut at = thread.entry();
        for (op, span) in [
            (Op::Store(x, Expr::from(1)), Span::new(0, 5)),
            (Op::Fence(Fence::Full), Span::new(7, 12)),
            (Op::Store(x, Expr::from(2)), Span::new(14, 19)),
            (Op::Fence(Fence::Store), Span::new(21, 27)),
            (Op::Fence(Fence::Full), Span::NONE),
        ] {
            at = thread.step(at, op, span);
        }
        program.threads.push(thread.finish().expect("a thread"));
    }
    program
}

fn ops(program: &Program, thread: usize) -> Vec<Op> {
    program.threads[thread].edges().iter().map(|edge| edge.op.clone()).collect()
}

#[test]
fn places_are_listed_once_and_in_order() {
    let places: Vec<Span> = program().written_fences().into_iter().collect();
    assert_eq!(places, [Span::new(7, 12), Span::new(21, 27)]);
}

#[test]
fn a_fence_goes_in_every_thread_and_nothing_else_does() {
    let (before, after) = (program(), program().without_fence(Span::new(7, 12)));
    for thread in 0..2 {
        let mut expected = ops(&before, thread);
        expected[1] = Op::Skip;
        assert_eq!(ops(&after, thread), expected);
    }
    assert!(after.validate().is_ok());
    assert_eq!(after.written_fences().into_iter().collect::<Vec<_>>(), [Span::new(21, 27)]);
    // Where no fence is written, nothing changes.
    assert_eq!(ops(&before.without_fence(Span::new(0, 5)), 0), ops(&before, 0));
}
