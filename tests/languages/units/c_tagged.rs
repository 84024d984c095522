//! What lowering C knows of numbers with two parts.

use fastrand::Rng;
use frontend::inside::{CValues, exact};
use program::Arith;

const OPS: [Arith; 8] =
    [Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem, Arith::And, Arith::Or, Arith::Xor];

fn pointers(versions: &CValues, indices: &[i128]) -> CValues {
    let shifted = CValues::combine(Arith::Mul, versions, &CValues::only(1 << 32));
    CValues::combine(Arith::Or, &shifted, &CValues::listed(indices.to_vec()))
}

#[test]
fn a_version_beside_an_index_does_not_hide_it() {
    let all = pointers(&CValues::range(0, 1 << 20), &[1, 5, 9]);
    let index = CValues::combine(Arith::And, &all, &CValues::only(0xffff_ffff));
    assert_eq!(index, CValues::listed(vec![1, 5, 9]));
    let next = CValues::combine(Arith::Add, &all, &CValues::only((1 << 32) + 1));
    let index = CValues::combine(Arith::And, &next, &CValues::only(0xff));
    assert_eq!(index, CValues::listed(vec![2, 6, 10]));
    assert!(all.contains((7 << 32) + 5) && !all.contains((7 << 32) + 6));
}

#[test]
fn what_operations_give_is_covered() {
    let sets = [
        pointers(&CValues::range(0, 40), &[0, 3, 700]),
        pointers(&CValues::range(-9, 12), &[8]),
        CValues::combine(Arith::Sub, &CValues::only(77), &pointers(&CValues::range(1, 50), &[2, 4])),
        CValues::combine(Arith::Mul, &CValues::range(-20, 20), &CValues::only(1 << 16)),
        CValues::listed(vec![-65_537, -1, 0, 6, 1 << 40]),
        CValues::range(-70_000, 70_000),
        CValues::only(0xffff),
    ];
    let near = |block: i128| [-1, 0, 2, 3, 4, 6, 8, 73, 75, 77, 700].map(|end| (block << 32) + end);
    let mut samples: Vec<i128> = (-12..45).flat_map(near).collect();
    samples.extend([-65_536, -65_537, 65_536, 131_072, 70_000, 0xffff, 1 << 40]);
    let samples = |set: &CValues| -> Vec<i128> {
        samples.iter().copied().filter(|value| set.contains(*value)).collect()
    };
    for (a, b) in sets.iter().flat_map(|a| sets.iter().map(move |b| (a, b))) {
        let (left, right) = (samples(a), samples(b));
        assert!(left.len() * right.len() > 0);
        let widened = a.widen(b, &[]);
        let joined = a.join(b);
        assert!(left.iter().chain(&right).all(|x| joined.contains(*x) && widened.contains(*x)));
        for op in OPS {
            let all = CValues::combine(op, a, b);
            for (x, y) in left.iter().flat_map(|x| right.iter().map(move |y| (*x, *y))) {
                let value = exact(op, x, y).flatten();
                assert!(value.is_none_or(|v| all.contains(v)), "{op:?} {x} {y} not in {all:?}");
            }
        }
    }
}

/// A number from a program's point of view: some that it can be, and what is known of it.
struct Number {
    samples: Vec<i128>,
    known: CValues,
}

impl Number {
    fn version_and_index(random: &mut Rng) -> Number {
        let first = random.i128(-3..60);
        let versions: Vec<i128> = (0..random.i128(1..50)).map(|more| first + more).collect();
        let indices: Vec<i128> = (0..random.usize(1..4)).map(|_| random.i128(0..300)).collect();
        let shift = *random.choice(&[16u32, 32]).expect("there are two");
        let known =
            CValues::combine(Arith::Mul, &CValues::listed(versions.clone()), &CValues::only(1 << shift));
        let known = CValues::combine(Arith::Or, &known, &CValues::listed(indices.clone()));
        let mut one =
            || (versions[random.usize(..versions.len())] << shift) | indices[random.usize(..indices.len())];
        Number { samples: (0..12).map(|_| one()).collect(), known }
    }

    fn constant(random: &mut Rng) -> Number {
        let value = match random.u8(..4) {
            0 => (1 << *random.choice(&[8, 16, 32, 40]).expect("some")) + random.i128(-1..2),
            1 => random.i128(-5..6),
            2 => 1 << random.u32(0..36),
            _ => random.i128(-70_000..70_000),
        };
        Number { samples: vec![value], known: CValues::only(value) }
    }

    fn then(&self, random: &mut Rng, other: &Number) -> Number {
        let chosen = |random: &mut Rng, number: &Number| number.samples[random.usize(..number.samples.len())];
        if random.u8(..4) == 0 {
            let mut one = || {
                let either = if random.bool() { self } else { other };
                chosen(random, either)
            };
            let samples = (0..12).map(|_| one()).collect();
            let known = match random.bool() {
                true => self.known.join(&other.known),
                false => self.known.widen(&other.known, &[]),
            };
            return Number { samples, known };
        }
        let op = OPS[random.usize(..OPS.len())];
        let pairs = (0..12).map(|_| (chosen(random, self), chosen(random, other)));
        let results = pairs.filter_map(|(x, y)| exact(op, x, y).flatten());
        Number { samples: results.collect(), known: CValues::combine(op, &self.known, &other.known) }
    }
}

/// Random ways to compute with versions and indices: what the numbers are is covered by what is known of them.
#[test]
fn random_computations_are_covered() {
    let mut random = Rng::with_seed(3217);
    let mut of_two_parts = 0;
    for _ in 0..20_000 {
        let mut number = Number::version_and_index(&mut random);
        for _ in 0..random.usize(1..6) {
            let other = match random.bool() {
                true => Number::version_and_index(&mut random),
                false => Number::constant(&mut random),
            };
            number = number.then(&mut random, &other);
            let Number { samples, known } = &number;
            assert!(samples.iter().all(|value| known.contains(*value)), "{samples:?} not in {known:?}");
            of_two_parts += usize::from(matches!(known, CValues::Tagged(_)));
            if samples.is_empty() {
                break;
            }
        }
    }
    assert!(of_two_parts > 5_000, "only {of_two_parts} numbers had ends");
}

#[test]
fn widening_comes_to_an_end() {
    for by in [1i128 << 32, (1 << 32) + 1, 65_537, 3] {
        let mut values = CValues::listed(vec![0, 1, 2]);
        let grows = |values: &mut CValues| {
            let more = CValues::combine(Arith::Add, values, &CValues::only(by));
            let wider = values.widen(&more, &[]);
            std::mem::replace(values, wider.clone()) != wider
        };
        assert!((0..200).any(|_| !grows(&mut values)), "{by}: {values:?}");
    }
}
