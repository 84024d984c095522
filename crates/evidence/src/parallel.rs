//! Several pieces of work at once, results in order: the one loop that engines and checkers share.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// Calls `work` on 0, 1, … below `count` from this thread and as many others as make up `threads`;
/// the results in order. Where work says [`ControlFlow::Break`] nothing more is begun, and what
/// comes behind the first such result is left out.
pub fn each<T: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> ControlFlow<T, T> + Sync,
) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results: Mutex<Vec<(usize, ControlFlow<T, T>)>> = Mutex::default();
    let worker = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if at >= count {
            return;
        }
        let result = work(at);
        if result.is_break() {
            next.store(count, Ordering::Relaxed);
        }
        results.lock().unwrap_or_else(PoisonError::into_inner).push((at, result));
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            // Where no thread can be had, the others do its share.
            let _ = thread::Builder::new().spawn_scoped(scope, worker);
        }
        worker();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(at, _)| *at);
    let mut ended = false;
    let mut kept = Vec::with_capacity(results.len());
    for (_, result) in results {
        if ended {
            break;
        }
        ended = result.is_break();
        kept.push(match result {
            ControlFlow::Break(result) | ControlFlow::Continue(result) => result,
        });
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;
    use std::thread::ThreadId;

    /// The results, and how many pieces of work each thread did.
    fn ran(threads: usize, last: usize) -> (Vec<usize>, BTreeMap<String, usize>) {
        let name = |id: ThreadId| format!("{id:?}");
        let seen: Mutex<BTreeMap<String, usize>> = Mutex::default();
        let results = each(threads, 100, |at| {
            *seen.lock().expect("nobody panics").entry(name(thread::current().id())).or_default() += 1;
            thread::yield_now();
            if at == last { ControlFlow::Break(at) } else { ControlFlow::Continue(at) }
        });
        (results, seen.into_inner().expect("nobody panics"))
    }

    #[test]
    fn one_thread_means_this_thread() {
        let (results, seen) = ran(1, usize::MAX);
        assert_eq!(results, (0..100).collect::<Vec<_>>());
        assert_eq!(seen, BTreeMap::from([(format!("{:?}", thread::current().id()), 100)]));
    }

    #[test]
    fn no_more_threads_work_than_are_allowed_and_results_come_in_order() {
        for threads in [2, 3, 7] {
            let (results, seen) = ran(threads, usize::MAX);
            assert_eq!(results, (0..100).collect::<Vec<_>>());
            assert!(seen.len() <= threads, "{seen:?}");
            assert_eq!(seen.values().sum::<usize>(), 100);
        }
    }

    #[test]
    fn nothing_behind_a_break_is_kept() {
        for threads in [1, 4] {
            assert_eq!(ran(threads, 40).0, (0..=40).collect::<Vec<_>>());
        }
        assert_eq!(ran(1, 40).1.values().sum::<usize>(), 41);
    }
}
