//! Words that order controls.

use machine::inside::key;
use machine::{Entry, Local};
use program::{Loc, VarId};

#[test]
fn words_order_controls_as_far_as_they_tell() {
    let store = |variable: usize| Entry::Store(VarId::new(variable));
    let entries = [store(0), store(1), store(252), store(253), store(254), Entry::Barrier];
    let mut queues: Vec<Vec<Entry>> = vec![Vec::new()];
    for first in entries {
        queues.push(vec![first]);
        for last in entries {
            queues.extend([vec![first, last], vec![store(1), first, first, last]]);
            queues.extend([vec![store(1), first, first, first, last], vec![first, last, store(0), store(1)]]);
        }
    }
    let at = |loc: usize| {
        let local = move |queue: &Vec<Entry>| Local {
            kept: queue.iter().copied().collect(),
            ..Local::at(Loc::new(loc))
        };
        queues.iter().map(local)
    };
    let locals: Vec<Local> = at(3).chain(at(70_000)).collect();
    for a in &locals {
        for b in &locals {
            let ((word, exact), (other, too)) = (key(a), key(b));
            assert!(word == other || word.cmp(&other) == a.cmp(b), "{a:?} and {b:?}");
            assert!(word != other || a == b || !(exact && too), "{a:?} and {b:?}");
        }
    }
    assert!(locals.iter().any(|local| key(local).1) && locals.iter().any(|local| !key(local).1));
}
