//! Total store order, as on x86: one first-in first-out buffer per thread. Stores of a thread
//! reach memory in the order they were issued, so a store fence orders nothing new.

use crate::{Entry, MemoryModel};
use program::VarId;

/// Total store order.
#[derive(Debug)]
pub struct Tso;

impl MemoryModel for Tso {
    fn name(&self) -> &'static str {
        "tso"
    }

    fn about(&self) -> &'static str {
        "total store order, as on x86: one FIFO store buffer per thread"
    }

    fn place(&self, buffer: &[Entry], _: VarId) -> Option<usize> {
        Some(buffer.len())
    }

    fn may_drain(&self, _: &[Entry], at: usize) -> bool {
        at == 0
    }

    fn one_queue(&self) -> bool {
        true
    }
}
