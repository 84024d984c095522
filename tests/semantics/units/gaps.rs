//! Normal forms, and gaps that are opened.

use machine::Gaps;

const GAPS: Gaps = Gaps { low: 0, high: 2, precision: 1, modulus: 1 };

fn normal(values: &[i64]) -> Vec<i64> {
    let mut values = values.to_vec();
    GAPS.normalise(&mut values);
    values
}

#[test]
fn the_window_and_narrow_gaps_stay_and_wide_ones_shrink() {
    assert_eq!(normal(&[0, 1, 2, 3]), [0, 1, 2, 3]);
    assert_eq!(normal(&[100, 101, 100, 250, 1]), [4, 5, 4, 7, 1]);
    assert_eq!(normal(&[-1, -50, 0]), [-1, -3, 0]);
}

#[test]
fn normalising_twice_changes_nothing() {
    for a in -6..9 {
        for b in -6..9 {
            let once = normal(&[a, b, 3 * a - b]);
            assert_eq!(normal(&once), once);
        }
    }
}

/// Steps of the kind the abstraction is for: every concrete step is covered by a step from
/// an opened normal form.
#[test]
fn opening_gaps_covers_all_concrete_steps() {
    type Step = fn(&[i64]) -> Option<Vec<i64>>;
    // With what each of them reads.
    let steps: [(i64, &[usize], Step); 8] = [
        (0, &[1], |v| Some(vec![v[1], v[1], v[2]])),
        (1, &[1], |v| Some(vec![v[1] + 1, v[1], v[2]])),
        (2, &[2], |v| Some(vec![v[0], v[2] - 2, v[2]])),
        (2, &[2], |v| Some(vec![v[0], v[2] + 2, v[2] + 1])),
        (2, &[0, 1], |v| (v[0] + 2 < v[1]).then(|| vec![0, v[1], v[2]])),
        (1, &[0, 1], |v| (v[0] == v[1] - 1).then(|| vec![v[0] + 1, v[1], v[2]])),
        (5, &[0, 1], |v| (v[0] < v[1] + 5).then(|| vec![v[1] + 3, v[0], v[2]])),
        (4, &[0], |v| Some(vec![v[0] + 3, v[1], v[2]])),
    ];
    let mut noticed = 0;
    for (precision, modulus) in [(0, 1), (1, 1), (2, 1), (0, 2), (1, 2), (1, 3)] {
        let gaps = Gaps { precision, modulus, ..GAPS };
        for a in -7..13 {
            for b in -7..13 {
                for c in -7..13 {
                    for (offset, reads, step) in &steps {
                        let covered = |reads: &[usize]| covers_step(&gaps, [a, b, c], *offset, reads, step);
                        assert!(covered(reads), "{:?} by {offset}, {gaps:?}", [a, b, c]);
                        noticed += usize::from(!covered(&[]));
                    }
                }
            }
        }
    }
    assert!(noticed > 1_000, "nothing has to be opened");
}

/// Whether opening gaps near what is read is enough.
fn covers_step(
    gaps: &Gaps,
    values: [i64; 3],
    offset: i64,
    reads: &[usize],
    step: &fn(&[i64]) -> Option<Vec<i64>>,
) -> bool {
    let Some(mut expected) = step(&values) else { return true };
    gaps.normalise(&mut expected);
    let mut start = values.to_vec();
    gaps.normalise(&mut start);
    let near: Vec<i64> = reads.iter().map(|at| start[*at]).collect();
    let mut found = false;
    gaps.open_near(&start, &near, offset, |opened| {
        if let Some(mut next) = step(opened) {
            gaps.normalise(&mut next);
            found |= next == expected;
        }
    });
    found
}

#[test]
fn opening_for_a_choice_covers_every_value() {
    for modulus in 1..4 {
        let gaps = Gaps { modulus, ..GAPS };
        for (a, choice) in (-9..14).flat_map(|a| (-14..20).map(move |choice| (a, choice))) {
            let mut expected = vec![a, 2, choice];
            gaps.normalise(&mut expected);
            let mut start = vec![a, 2];
            gaps.normalise(&mut start);
            let mut found = false;
            let few = gaps.choose(&start, &(i64::MIN..=i64::MAX), |opened, value| {
                let mut next = vec![opened[0], opened[1], value];
                gaps.normalise(&mut next);
                found |= next == expected;
            });
            assert!(few);
            assert!(found, "{a} and {choice}, {gaps:?}");
        }
    }
}

#[test]
fn remainders_survive() {
    let gaps = Gaps { modulus: 6, ..GAPS };
    for (a, b) in (-40..40).flat_map(|a| (-40..40).map(move |b| (a, b))) {
        let mut values = vec![a, b];
        gaps.normalise(&mut values);
        assert_eq!((values[0] % 2, values[1] % 3), (a % 2, b % 3), "{a} and {b}");
    }
}
