//! Several pieces of work at once, results in order: the one loop that commands, engines and checkers
//! share.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;

/// How large the stack of a thread is: room for the recursion that the front ends' limits allow, with
/// plenty to spare.
pub const STACK: usize = 64 << 20;

/// Calls `work` on 0, 1, … below `count` from this thread and as many others as make up `threads`;
/// the results in order. Where work says [`ControlFlow::Break`] nothing more is begun, and what
/// comes behind the first such result is left out.
pub fn each<T: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> ControlFlow<T, T> + Sync,
) -> Vec<T> {
    let mut results = Vec::new();
    each_in_order(threads, count, work, |result| {
        results.push(result);
        ControlFlow::Continue(())
    });
    results
}

/// As [`each`], but hands every result to `consume` as soon as it and all before it are there, one at
/// a time and from whichever thread. After a break of `consume`, too, nothing more is begun.
pub fn each_in_order<T: Send>(
    threads: usize,
    count: usize,
    work: impl Fn(usize) -> ControlFlow<T, T> + Sync,
    consume: impl FnMut(T) -> ControlFlow<()> + Send,
) {
    let next = AtomicUsize::new(0);
    let queue = Mutex::new(Queue { due: 0, waiting: BTreeMap::new(), consume });
    let worker = || loop {
        let at = next.fetch_add(1, Ordering::Relaxed);
        if at >= count {
            return;
        }
        let result = work(at);
        let ends = result.is_break();
        let consumed = queue.lock().unwrap_or_else(PoisonError::into_inner).put(at, result);
        if ends || consumed.is_break() {
            next.store(count, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 1..threads.min(count) {
            // Where no thread can be had, the others do its share.
            let _ = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker);
        }
        worker();
    });
}

/// Results that wait for those before them.
struct Queue<T, C> {
    /// The number of the next result to be consumed; there is none after a break.
    due: usize,
    waiting: BTreeMap<usize, ControlFlow<T, T>>,
    consume: C,
}

impl<T, C: FnMut(T) -> ControlFlow<()>> Queue<T, C> {
    fn put(&mut self, at: usize, result: ControlFlow<T, T>) -> ControlFlow<()> {
        self.waiting.insert(at, result);
        while let Some(result) = self.waiting.remove(&self.due) {
            self.due += 1;
            let consumed = match result {
                ControlFlow::Continue(result) => (self.consume)(result),
                ControlFlow::Break(result) => {
                    let _ = (self.consume)(result);
                    ControlFlow::Break(())
                }
            };
            if consumed.is_break() {
                self.due = usize::MAX;
                return consumed;
            }
        }
        ControlFlow::Continue(())
    }
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
    fn nothing_is_consumed_after_a_break() {
        for threads in [1, 3] {
            let mut seen = Vec::new();
            each_in_order(threads, 1000, ControlFlow::Continue, |at| {
                seen.push(at);
                if at == 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
            });
            assert_eq!(seen, [0, 1, 2]);
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
