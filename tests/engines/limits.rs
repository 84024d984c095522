//! Limits of exact searches: what counts towards them.

use engine::{Engine, Explicit, Reduction, Run};
use evidence::{Monitor, Progress, Reason, Stop, Task, Verdict};
use machine::TSO;
use program::{Expr, Op, Program, Source, Span, ThreadBuilder, Variable};

/// Stops at 8 MiB, or at more states than fit; by themselves so many take 3 MiB.
struct EightMegabytes;

impl Monitor for EightMegabytes {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        match (progress.bytes > 8 << 20, progress.states > 2_500) {
            (true, _) => Err(Stop::Memory),
            (_, true) => Err(Stop::States),
            _ => Ok(()),
        }
    }
}

/// A thread that only stores has few states, but ever longer buffers to tell apart.
#[test]
fn memory_of_long_buffers_counts() {
    let mut program = Program::new("stores", Source::default());
    let x = program.add_variable(Variable::new("x", Span::NONE));
    let mut thread = ThreadBuilder::new("P");
    thread.edge(thread.entry(), Op::Store(x, Expr::from(1)), thread.entry(), Span::NONE);
    program.threads.push(thread.finish().expect("valid"));
    let task = Task::safe(&program, TSO);
    let answer = Explicit.verify(
        &task,
        &Run { monitor: &EightMegabytes, max_buffer: None, reduction: Reduction::None, ..Run::default() },
    );
    let Verdict::Unknown(reasons) = answer.verdict else { panic!("there is no end to it") };
    assert_eq!(reasons, [Reason::Stopped(Stop::Memory)]);
}
