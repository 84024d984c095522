//! Which demands cover which.

use machine::inside::{Channel, Demand, Layout, queue_covers};

const OWN: u16 = 10;

fn view(less: &[u16], more: &[u16]) -> bool {
    let layout = Layout { threads: 0, variables: 0, channels: Vec::new(), own_from: OWN };
    layout.view_covers(less, more)
}

#[test]
fn a_queue_may_hold_more_than_demanded_but_not_behind_its_newest() {
    assert!(queue_covers(&[], &[3, 1]) && queue_covers(&[], &[0]));
    assert!(queue_covers(&[1], &[3, 1]) && queue_covers(&[3, 1], &[2, 3, 2, 1]));
    assert!(!queue_covers(&[3], &[3, 1]) && !queue_covers(&[2, 3, 1], &[3, 2, 1]));
    assert!(queue_covers(&[0], &[0]) && !queue_covers(&[0], &[1]) && !queue_covers(&[1], &[0]));
    assert!(!queue_covers(&[0], &[]) && !queue_covers(&[1], &[]));
}

#[test]
fn of_words_without_end_less_is_demanded() {
    let channels = vec![Channel::Queue { thread: 0, variable: 0 }, Channel::View { thread: 0 }];
    let layout = Layout { threads: 1, variables: 1, channels, own_from: OWN };
    let long = |count: usize| (0..count).map(|at| 1 + (at % 7) as u16).collect::<Vec<_>>();
    for count in [3, usize::from(u16::MAX), usize::from(u16::MAX) + 5] {
        let exact = Demand { states: vec![1], memory: vec![2], channels: vec![long(count), long(count)] };
        let kept = layout.open(&layout.close(&exact));
        assert_eq!((&kept.states, &kept.memory), (&exact.states, &exact.memory));
        for (kept, exact) in kept.channels.iter().zip(&exact.channels) {
            assert_eq!(kept.len(), count.min(usize::from(u16::MAX)));
            assert!(queue_covers(kept, exact) && layout.view_covers(kept, exact));
        }
    }
}

#[test]
fn a_view_may_hold_more_between_and_anything_before() {
    assert!(view(&[], &[OWN, 1]) && view(&[1], &[OWN, 1, 2]) && view(&[1, OWN], &[3, 1, 2, OWN]));
    assert!(!view(&[1], &[1, OWN]), "an own store stands behind it");
    assert!(!view(&[OWN], &[1, 2]) && !view(&[OWN, 11], &[11, OWN]));
    assert!(view(&[11], &[OWN, 11]), "older own stores are passed over");
    assert!(!view(&[1, 2], &[2, 1]));
}
