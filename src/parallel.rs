//! Work on several things at once, results in order.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

/// Room for the recursion that the front ends' limits allow, with plenty to spare.
pub const STACK: usize = 64 << 20;

/// Calls `work` on 0, 1, … below `count` from several threads, and `consume` on the results in
/// order, from this one. After an error of `consume`, nothing new is begun.
pub fn in_order<T: Send, E>(
    count: usize,
    threads: usize,
    work: impl Fn(usize) -> T + Sync,
    mut consume: impl FnMut(T) -> Result<(), E>,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let (send, receive) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..threads.min(count) {
            let (send, next, work) = (send.clone(), &next, &work);
            let worker = move || {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    if at >= count || send.send((at, work(at))).is_err() {
                        return;
                    }
                }
            };
            // Where no thread can be had, the others do its share; the last resort is this one.
            let spawned = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, worker.clone());
            if spawned.is_err() && next.load(Ordering::Relaxed) == 0 {
                worker();
            }
        }
        drop(send);
        let mut waiting = BTreeMap::new();
        let mut due = 0;
        for (at, result) in receive {
            waiting.insert(at, result);
            while let Some(result) = waiting.remove(&due) {
                due += 1;
                if let Err(error) = consume(result) {
                    next.store(count, Ordering::Relaxed);
                    return Err(error);
                }
            }
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_whatever_the_number_of_threads() {
        for threads in [1, 2, 7, 50] {
            let mut seen = Vec::new();
            let ended: Result<(), ()> = in_order(
                20,
                threads,
                |at| at * at,
                |square| {
                    seen.push(square);
                    Ok(())
                },
            );
            assert_eq!(ended, Ok(()));
            assert_eq!(seen, (0..20).map(|at| at * at).collect::<Vec<_>>());
        }
    }

    #[test]
    fn an_error_ends_it() {
        let mut seen = 0;
        let ended = in_order(
            1000,
            3,
            |at| at,
            |at| {
                seen += 1;
                if at == 2 { Err("enough") } else { Ok(()) }
            },
        );
        assert_eq!((ended, seen), (Err("enough"), 3));
    }
}
