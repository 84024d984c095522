//! Conjunctions that are known to break integer solvers, with known answers.

use logic::{Atom, Decided, Int, Linear, Var, check, decide};

fn v(n: usize) -> Linear {
    Linear::from(Var::at(n))
}

/// Decides, and has either answer checked.
#[track_caller]
fn expect(atoms: &[Atom], sat: bool) {
    match decide(atoms) {
        Decided::Sat(model) => {
            assert!(sat, "expected unsat: {atoms:?}");
            assert!(atoms.iter().all(|atom| model.satisfies(atom)));
        }
        Decided::Unsat(certificate) => {
            assert!(!sat, "expected sat: {atoms:?}");
            assert_eq!(check(atoms, &certificate), Ok(()), "{atoms:?} {certificate:?}");
        }
    }
}

fn big(power: u32) -> Int {
    (0..power).fold(Int::ONE, |n, _| n * Int::from(2))
}

#[test]
fn parity() {
    expect(&[Atom::eq(v(0) * 2, v(1) * 2 + 1)], false);
    expect(&[Atom::eq(v(0) * 2, v(1)), Atom::eq(v(2) * 2 + 1, v(1))], false);
    expect(&[Atom::eq(v(0) * 2, v(1)), Atom::divides(2, v(1) + 1)], false);
    expect(&[Atom::divides(6, v(0)), Atom::divides(4, v(0)), Atom::divides(12, v(0)).negate()], false);
    expect(&[Atom::divides(6, v(0)), Atom::divides(4, v(0)), Atom::divides(24, v(0)).negate()], true);
}

#[test]
fn thin_triangles_without_integer_points() {
    // 27 ≤ 11x + 13y ≤ 45, −10 ≤ 7x − 9y ≤ 4 is Pugh's example.
    let strip = [
        Atom::ge(v(0) * 11 + v(1) * 13, 27),
        Atom::le(v(0) * 11 + v(1) * 13, 45),
        Atom::ge(v(0) * 7 - v(1) * 9, -10),
        Atom::le(v(0) * 7 - v(1) * 9, 4),
    ];
    expect(&strip, false);
    for k in [1i64, 2, 5, 20, 100] {
        // The triangle (0,0), (1,0), (1/2, k) without its base.
        let triangle =
            [Atom::ge(v(1), 1), Atom::le(v(1), v(0) * (2 * k)), Atom::le(v(1), v(0) * (-2 * k) + 2 * k)];
        expect(&triangle, false);
    }
    // 3x − 7y strictly between two multiples, unbounded in both directions.
    expect(&[Atom::ge(v(0) * 6 - v(1) * 14, 1), Atom::le(v(0) * 6 - v(1) * 14, 1)], false);
    expect(
        &[Atom::ge(v(0) * 3 + v(1) * 6 - v(2) * 2 * 3, 1), Atom::le(v(0) * 3 + v(1) * 6 - v(2) * 6, 2)],
        false,
    );
}

#[test]
fn unbounded_wedges() {
    // Unbounded problems on which splitting at fractions alone runs forever.
    let wedge = |offset: i64| {
        [
            Atom::le(v(0) * 3 - v(1) * 3 + v(2), offset),
            Atom::ge(v(0) * 3 - v(1) * 3 + v(2), offset),
            Atom::eq(v(2), v(3) * 3 + 1),
        ]
    };
    expect(&wedge(3), false);
    expect(&wedge(4), true);
    expect(
        &[
            Atom::ge(v(0) * 4 - v(1) * 2 + v(2) * 6, 1),
            Atom::le(v(0) * 4 - v(1) * 2 + v(3) * 6, 1),
            Atom::le(v(2), v(3)),
        ],
        false,
    );
}

#[test]
fn long_chains() {
    let length = 3000;
    let mut chain: Vec<Atom> = (0..length).map(|n| Atom::le(v(n) + 1, v(n + 1))).collect();
    chain.push(Atom::le(v(length), v(0) + (length as i64)));
    expect(&chain, true);
    chain.push(Atom::lt(v(length), v(0) + (length as i64)));
    expect(&chain, false);
    let mut copies: Vec<Atom> = (0..length).map(|n| Atom::eq(v(n + 1), v(n) + 1)).collect();
    copies.push(Atom::eq(v(length) * 2, v(0) * 2 + (2 * length as i64)));
    expect(&copies, true);
    copies.push(Atom::le(v(length) + v(0), v(0) * 2 + (length as i64 - 1)));
    expect(&copies, false);
}

#[test]
fn coefficients_near_the_machine_word() {
    let (a, b) = (big(62), big(62) - Int::ONE);
    let pair = || v(0).times(&a) - v(1).times(&b);
    expect(&[Atom::eq(pair(), 1)], true);
    expect(&[Atom::eq(pair(), 1), Atom::ge(v(0), 0), Atom::lt(v(0), 1)], false);
    expect(&[Atom::ge(pair(), 1), Atom::le(pair(), 5), Atom::ge(v(0), 10)], true);
    expect(&[Atom::eq(v(0).times(&a) * 2, v(1).times(&a) * 4 + Int::from(2) * a.clone() + 1)], false);
    let huge = big(200);
    expect(&[Atom::le(v(0), v(1)), Atom::le(v(1) + huge.clone(), v(0))], false);
    expect(&[Atom::le(v(0), v(1) - huge.clone()), Atom::ge(v(0), huge)], true);
    let edge = Linear::from(i64::MAX);
    expect(&[Atom::ge(v(0), edge.clone()), Atom::ge(v(1), edge.clone() + v(0)), Atom::le(v(1), edge)], false);
    expect(&[Atom::le(v(0), i64::MIN), Atom::le(v(1), v(0) + i64::MIN), Atom::ge(v(1), i64::MIN)], false);
}

#[test]
fn equalities_with_large_common_divisors() {
    let g = big(40) * Int::from(3);
    let sum = || (v(0) * 4 + v(1) * 6 - v(2) * 10).times(&g);
    expect(&[Atom::eq(sum(), Linear::constant_of(g.clone() * Int::from(3)))], false);
    expect(&[Atom::eq(sum(), Linear::constant_of(g.clone() * Int::from(2)))], true);
    expect(&[Atom::eq(v(0) * 12 + v(1) * 21, 3), Atom::eq(v(0) * 4 + v(1) * 7 + v(2) * 5, 3)], false);
    expect(&[Atom::eq(v(0) * 6 + v(1) * 10 + v(2) * 15, 1)], true);
}

#[test]
fn a_needle_in_two_dimensions() {
    // Two equations with large coefficients leave a long thin region with few points.
    let (a, b, c) = (650_313_089_572i64, 291_065_178_270i64, 1_052_065_299_239i64);
    let (d, e, f) = (1_086_567_722_095i64, 90_202_855_765i64, 138_808_477_793i64);
    let (g, h) = (436_721_925_457i64, 303_581_121_360i64);
    let needle = [
        Atom::ge(v(2) - v(3), -18_077_760_640_232i64),
        Atom::eq(v(0) * a + v(2) * b - v(3) * c, 12_193_501_769_699i64),
        Atom::ge(v(0) * d + v(1) * e - v(3) * f, -20_471_577_794_442i64),
        Atom::eq(v(0) * g + v(1) * h, -18_705_720_533_132i64),
        Atom::ge(v(1) - v(3), -1_886_261_612_406i64),
    ];
    expect(&needle, true);
}

#[test]
fn disequalities() {
    let pigeons = |holes: i64| {
        let mut atoms: Vec<Atom> = Vec::new();
        for i in 0..4 {
            atoms.extend([Atom::ge(v(i), 1), Atom::le(v(i), holes)]);
            atoms.extend((0..i).map(|j| Atom::ne(v(i), v(j))));
        }
        atoms
    };
    expect(&pigeons(3), false);
    expect(&pigeons(4), true);
    expect(&[Atom::le(v(0), v(1)), Atom::le(v(1), v(0)), Atom::ne(v(0), v(1))], false);
    expect(&[Atom::ne(v(0) * 2 + v(1), 3), Atom::eq(v(0), 1), Atom::eq(v(1), 1)], false);
}

#[test]
fn trivial_inputs() {
    expect(&[], true);
    expect(&[Atom::truth(true)], true);
    expect(&[Atom::ge(v(0), 0), Atom::truth(false)], false);
}
