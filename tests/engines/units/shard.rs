//! What is sent to a shard.

use engine::inside::{NotAdded, STATES, Shard, StateMessage, StatePlace};
use machine::Full;

#[test]
fn messages_read_back() {
    let sent: Vec<(StatePlace, Vec<u8>)> = [(3, 7), (3, 7), (3, 900), (3, 2), (4, 0), (63, (1 << 26) - 2)]
        .iter()
        .enumerate()
        .map(|(at, (shard, number))| {
            (StatePlace { shard: *shard, number: *number }, vec![at as u8; at * 50 + 1])
        })
        .collect();
    let mut message = StateMessage::to(9);
    sent.iter().for_each(|(parent, state)| message.add(*parent, state));
    let bytes = message.take();
    let [STATES, 9, states @ ..] = bytes.as_slice() else { panic!("{bytes:?}") };
    let mut shard = Shard::default();
    assert_eq!(shard.add(states), Ok(()));
    shard.begin_level();
    let mut numbers = Vec::new();
    while let Some(at) = shard.take(&mut Vec::new()).expect("readable") {
        numbers.push(at.number());
    }
    assert_eq!(numbers.len(), sent.len());
    for (number, (parent, state)) in numbers.into_iter().zip(&sent) {
        assert_eq!(shard.step_back(number).expect("readable"), (state.as_slice(), Some(*parent)));
    }
    assert_eq!(shard.add(&states[..states.len() - 1]), Err(NotAdded::Garbled));
    let behind = StatePlace { shard: 63, number: (1 << 26) - 1 };
    assert_eq!(behind.link(), Err(Full));
}
