//! Cubes over predicates.

use engine::inside::{BitCube, insert, words};

#[test]
fn a_cube_that_knows_less_covers_more() {
    let mut some = BitCube::open(100);
    some.set(3, true);
    some.set(77, false);
    assert_eq!((some.get(3), some.get(77), some.get(4)), (Some(true), Some(false), None));
    let mut more = some.clone();
    more.set(64, true);
    assert!(some.covers(&more) && !more.covers(&some) && some.covers(&some));
    assert_eq!(more.literals().collect::<Vec<_>>(), [(3, true), (64, true), (77, false)]);
    let mut kept = vec![0; words(100)];
    insert(&mut kept, 64);
    assert_eq!(more.within(&kept).literals().collect::<Vec<_>>(), [(64, true)]);
}
