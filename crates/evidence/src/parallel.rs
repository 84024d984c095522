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
