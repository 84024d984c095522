//! How far a thread can still go without going back.

use crate::goals::{LocSet, has, locations_ahead, only};
use program::Thread;

/// By location: how many locations can be reached without an edge that goes back. An edge on which the number does not
/// fall goes back, or is part of a loop that has several ways in. An edge *goes back* if there is no way from the
/// entry to where it begins that misses where it leads. So the numbers depend on the graph alone, and a renaming
/// that preserves the program keeps them.
pub(super) fn ranks(thread: &Thread) -> Vec<u32> {
    let dominators = dominators(thread);
    let goes_on = |edge: &program::Edge| !has(&dominators[edge.from.index()], edge.to);
    let ahead = locations_ahead(thread, &goes_on);
    ahead.iter().map(|ahead| ahead.iter().map(|word| word.count_ones()).sum()).collect()
}

/// By location: those that every way to it from the entry meets, itself among them; all if there is no way.
fn dominators(thread: &Thread) -> Vec<LocSet> {
    let count = thread.locs().count();
    let mut all = vec![vec![u64::MAX; count.div_ceil(64)]; count];
    all[thread.entry().index()] = only(thread.entry(), count);
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for edge in thread.edges().iter().filter(|edge| edge.to != thread.entry() && edge.from != edge.to) {
            let mut met = all[edge.from.index()].clone();
            met.iter_mut().zip(only(edge.to, count)).for_each(|(met, own)| *met |= own);
            for (here, met) in all[edge.to.index()].iter_mut().zip(met) {
                changed |= *here & !met != 0;
                *here &= met;
            }
        }
    }
    all
}
