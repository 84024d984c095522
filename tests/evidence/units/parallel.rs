//! Work that several threads share.

use evidence::{each, each_in_order};
use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::Mutex;
use std::thread::{self, ThreadId};

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
