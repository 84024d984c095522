//! Bitwise operations as sums of rests.

use program::{Arith, BitSum, Int};

#[test]
fn sums_of_rests_are_the_operations() {
    for op in [Arith::And, Arith::Or, Arith::Xor] {
        for by in -70i64..70 {
            let by = Int::from(by);
            let sum = BitSum::of(op, &by).expect("few runs");
            for x in (-200i64..200).map(Int::from) {
                let rest = |(factor, size): &(Int, Int)| factor * (((&x % size) + size) % size);
                let value = &sum.times * &x + &sum.plus + sum.rests.iter().map(rest).sum::<Int>();
                assert_eq!(Some(value), op.apply(&x, &by), "{x} {op:?} {by}");
            }
        }
    }
    assert_eq!(BitSum::of(Arith::And, &Int::from(0b1_0101_0101)), None);
    assert_eq!(BitSum::of(Arith::Add, &Int::from(1)), None);
}
