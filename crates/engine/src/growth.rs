//! What tables are about to take: a list or map that is full doubles when something is added, and
//! a limit on memory has to know that before.

use std::collections::HashMap;
use std::collections::VecDeque;

/// Something that doubles when it is full.
pub(crate) trait Doubling {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_about_to_double_when_it_is_full() {
        let mut list: Vec<u64> = Vec::with_capacity(64);
        list.extend(0..60);
        assert_eq!((list.growth(4), list.growth(5)), (0, 2 * 64 * 8));
        let map: HashMap<u32, u32> = (0..100).map(|at| (at, at)).collect();
        let room = map.capacity() - map.len();
        assert_eq!(map.growth(room), 0);
        assert!(map.growth(room + 1) > 2 * 100 * 8);
    }
}
