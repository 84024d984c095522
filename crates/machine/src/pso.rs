//! Partial store order: one first-in first-out buffer per thread *and* variable.
//!
//! Barriers cut a thread's stores into epochs; only the first epoch drains. Between
//! barriers the order of stores to different variables means nothing, so entries are kept
//! sorted by variable: buffers that behave alike look alike.

use crate::{Entry, MemoryModel};
use program::VarId;

/// Partial store order.
#[derive(Debug)]
pub struct Pso;

impl MemoryModel for Pso {
    fn name(&self) -> &'static str {
        "pso"
    }

    fn about(&self) -> &'static str {
        "partial store order: one FIFO store buffer per thread and variable"
    }

    fn place(&self, buffer: &[Entry], variable: VarId) -> Option<usize> {
        let later = |entry: &Entry| matches!(entry, Entry::Store(v) if *v > variable);
        let tail = buffer.iter().rev().take_while(|entry| later(entry)).count();
        Some(buffer.len() - tail)
    }

    fn may_drain(&self, buffer: &[Entry], at: usize) -> bool {
        let before = &buffer[..at];
        !before.contains(&Entry::Barrier) && !before.contains(&buffer[at])
    }

    fn one_queue(&self) -> bool {
        false
    }
}
