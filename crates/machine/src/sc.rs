//! Sequential consistency: a store reaches memory at once.

use crate::{Entry, MemoryModel};
use program::VarId;

/// Sequential consistency.
#[derive(Debug)]
pub struct Sc;

impl MemoryModel for Sc {
    fn name(&self) -> &'static str {
        "sc"
    }

    fn about(&self) -> &'static str {
        "sequential consistency: stores reach memory at once"
    }

    fn place(&self, _: &[Entry], _: VarId) -> Option<usize> {
        None
    }

    fn may_drain(&self, _: &[Entry], _: usize) -> bool {
        false
    }

    fn one_queue(&self) -> bool {
        true
    }
}
