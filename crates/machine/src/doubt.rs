//! Why a walk did not see everything.

use crate::Event;
use program::{Program, Span, ThreadId};

/// A statement of a thread, named by its text: it means the same in every program made from that
/// text, with fences or delays written into it. The number of an edge does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Statement {
    /// The thread.
    pub thread: ThreadId,
    /// Where it is written; nowhere for steps that no text stands for.
    pub span: Span,
}

impl Statement {
    /// The statement that a step of a program comes from.
    pub fn of(program: &Program, event: Event) -> Statement {
        let span = match event {
            Event::Step { thread, edge } => program.thread(thread).edge(edge).span,
            Event::Drain { .. } => Span::NONE,
        };
        Statement { thread: event.thread(), span }
    }
}

/// Why not everything was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Doubt {
    /// A bound of the machine was reached.
    Bound,
    /// A value left 64 bits in this statement.
    Overflow(Statement),
    /// A value left 64 bits while looking at the property that is written here.
    PropertyOverflow(Span),
    /// This statement may choose any value; only some were tried.
    Choice(Statement),
    /// This statement computes with values that the abstraction does not know exactly.
    Fragment(Statement),
    /// A variable may start with any value; only some were tried.
    InitialChoice,
    /// The variable that is declared here starts with a value beyond 64 bits.
    InitialOverflow(Span),
}
