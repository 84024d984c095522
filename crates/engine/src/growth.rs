//! What tables are about to take: a list or map that is full doubles when something is added, and
//! a limit on memory has to know that before.

use std::collections::HashMap;
use std::collections::VecDeque;

/// Something that doubles when it is full.
pub trait Doubling {
    /// Bytes that it will take besides those it has if so many are added.
    fn growth(&self, more: usize) -> usize;
}

fn doubled(length: usize, capacity: usize, more: usize, size: usize) -> usize {
    if length + more > capacity { 2 * capacity * size } else { 0 }
}

impl<T> Doubling for Vec<T> {
    fn growth(&self, more: usize) -> usize {
        doubled(self.len(), self.capacity(), more, size_of::<T>())
    }
}

impl<T> Doubling for VecDeque<T> {
    fn growth(&self, more: usize) -> usize {
        doubled(self.len(), self.capacity(), more, size_of::<T>())
    }
}

impl<K, V, S> Doubling for HashMap<K, V, S> {
    fn growth(&self, more: usize) -> usize {
        // Of every eight places, seven are used.
        doubled(self.len(), self.capacity(), more, size_of::<(K, V)>() + 1) / 7 * 8
    }
}
