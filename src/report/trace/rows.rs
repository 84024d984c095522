//! Which steps of a run share a row.
//!
//! Neighbouring steps of one thread make a *statement* if they come from one; the drain of a store
//! that reaches memory at once belongs to it. Statements of one thread that follow each other and
//! touch neither memory nor buffers share a row, every other statement has one of its own.

use crate::report::steps::{ShownStep, grouped};
use program::Program;
use std::ops::Range;

/// A row of the table: steps of one thread, as statements.
pub struct TraceRow {
    /// All its steps.
    pub steps: Range<usize>,
    /// The steps of each statement.
    pub statements: Vec<Range<usize>>,
}

impl TraceRow {
    /// The numbers of its steps, from 1.
    pub fn number(&self) -> String {
        match self.steps.len() {
            1 => format!("{}", self.steps.end),
            _ => format!("{}-{}", self.steps.start + 1, self.steps.end),
        }
    }
}

/// The rows of a run.
pub fn rows(program: &Program, steps: &[ShownStep<'_>]) -> Vec<TraceRow> {
    let mut rows: Vec<TraceRow> = Vec::new();
    for statement in statements(program, steps) {
        let local = |range: &Range<usize>| steps[range.clone()].iter().all(|step| is_local(program, step));
        let thread = |range: &Range<usize>| steps[range.start].thread;
        match rows.last_mut() {
            Some(row)
                if thread(&row.steps) == thread(&statement) && local(&row.steps) && local(&statement) =>
            {
                row.steps.end = statement.end;
                row.statements.push(statement);
            }
            _ => rows.push(TraceRow { steps: statement.clone(), statements: vec![statement] }),
        }
    }
    rows
}

fn is_local(program: &Program, step: &ShownStep<'_>) -> bool {
    step.edge.is_some_and(|edge| program.thread(step.thread).edges()[edge].op.is_local())
}

/// Neighbouring steps of one thread and one statement, unless they start it anew.
fn statements(program: &Program, steps: &[ShownStep<'_>]) -> Vec<Range<usize>> {
    let from = |at: usize| {
        let step = &steps[at];
        step.edge.map(|edge| program.thread(step.thread).edges()[edge].from)
    };
    grouped(0..steps.len(), |group, at| {
        let again = group.clone().any(|earlier| from(earlier) == from(at));
        steps[at].continues(&steps[group.start]) && !again || steps[at].drained == Some(at - 1)
    })
}
