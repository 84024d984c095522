//! What values, orders and buffers have in common.

use evidence::inside::{Contents, Exactly, SeenValues, ValueOrder};
use machine::{Entry, Gaps};
use program::VarId;

const GAPS: Gaps = Gaps { low: 0, high: 10, precision: 2, modulus: 1 };

fn values(list: &[i64], exactly: Exactly) -> SeenValues {
    let mut values = SeenValues::default();
    list.iter().for_each(|value| values.add(*value, exactly));
    values
}

fn check_values(list: &[i64], gaps: Option<Gaps>, expected: Option<&str>) {
    let exactly = Exactly::of(gaps);
    let predicate = values(list, exactly).predicate(exactly).map(|predicate| predicate.one);
    assert_eq!(predicate.as_deref(), expected, "{list:?}");
}

#[test]
fn few_values_are_listed_and_many_are_a_range() {
    check_values(&[], None, None);
    check_values(&[3, 3], None, Some("is 3"));
    check_values(&[1, 0, 1], None, Some("is 0 or 1"));
    check_values(&[5, 0, 1], None, Some("is 0, 1 or 5"));
    check_values(&[4, 1, 2, 3], None, Some("lies between 1 and 4"));
    check_values(&[5, 0, 1, -2, 9, 11, 13], None, Some("lies between -2 and 13"));
    let far = "is -9223372036854775808 or 9223372036854775807";
    check_values(&[i64::MIN, i64::MAX], None, Some(far));
}

#[test]
fn what_lies_beyond_the_window_is_only_more_or_less() {
    check_values(&[0, 10], Some(GAPS), Some("is 0 or 10"));
    check_values(&[1, 12], Some(GAPS), Some("is 1 or 12"));
    check_values(&[1, 13], Some(GAPS), Some("is 1 or more than 12"));
    check_values(&[11, 12, 15], Some(GAPS), Some("is at least 11"));
    check_values(&[13], Some(GAPS), Some("is at least 13"));
    check_values(&[-7], Some(GAPS), Some("is at most -3"));
    check_values(&[-4, 4], Some(GAPS), Some("is less than -2 or 4"));
    check_values(&[-4, 14], Some(GAPS), None);
    check_values(&[-4, 3, 14], Some(GAPS), Some("is less than -2, 3 or more than 12"));
    check_values(&[1, 2, 3, 4, 13], Some(GAPS), Some("is at least 1"));
}

#[test]
fn short_forms_say_the_same() {
    let gaps = Some(Gaps { low: 0, high: 1, precision: 1, modulus: 1 });
    let cases: [(Option<Gaps>, &[i64], &str); 6] = [
        (None, &[3], "x=3"),
        (None, &[3, 1], "x in {1,3}"),
        (None, &[1, 2, 3, 4, 5, 6, 7, 9], "1<=x<=9"),
        (gaps, &[1, 3], "x>=1"),
        (gaps, &[-2, 1], "x<=1"),
        (gaps, &[-2, 3], "x"),
    ];
    for (gaps, list, expected) in cases {
        let exactly = Exactly::of(gaps);
        assert_eq!(values(list, exactly).short("x", exactly), expected, "{list:?}");
    }
}

fn check_order(pairs: &[(i64, i64)], expected: Option<&str>) {
    let mut order = ValueOrder::default();
    pairs.iter().for_each(|(a, b)| order.add(*a, *b, 2));
    assert_eq!(order.sentence("a", "b").as_deref(), expected, "{pairs:?}");
}

#[test]
fn order_facts_hold_in_all_states() {
    check_order(&[(1, 1), (7, 7)], Some("a == b"));
    check_order(&[(1, 3), (7, 9)], Some("b == a + 2"));
    check_order(&[(4, 3)], Some("b == a - 1"));
    check_order(&[(1, 4), (2, 5)], Some("a < b"));
    check_order(&[(1, 2), (2, 4)], Some("a < b"));
    check_order(&[(1, 2), (2, 4), (3, 4)], Some("a < b"));
    check_order(&[(1, 2), (2, 2)], Some("a <= b"));
    check_order(&[(1, 2), (2, 1)], Some("a != b"));
    check_order(&[(1, 2), (2, 1), (1, 1)], None);
}

#[test]
fn what_follows_from_the_values_is_not_said_again() {
    let exactly = Exactly::of(Some(GAPS));
    let check = |a: &[i64], b: &[i64], expected: bool| {
        let mut order = ValueOrder::default();
        a.iter().zip(b).for_each(|(a, b)| order.add(*a, *b, 2));
        let follows = order.follows(&values(a, exactly), &values(b, exactly), exactly);
        assert_eq!(follows, expected, "{a:?} {b:?}");
    };
    check(&[0, 0], &[0, 14], true);
    check(&[3, 14], &[1, 2], true);
    check(&[0, 0], &[0, 0], true);
    check(&[0, 14], &[1, 15], false);
    check(&[0, 5], &[5, 14], false);
    check(&[13, 13], &[15, 15], false);
}

#[test]
fn buffers_are_told_in_as_much_detail_as_fits() {
    let name = |variable: usize| ["x", "y"][variable].to_string();
    let exactly = Exactly::of(None);
    let [x, y] = [0, 1].map(|variable| Entry::Store(VarId::new(variable)));
    let mut contents = Contents::default();
    contents.add(&[], [], exactly);
    assert_eq!(contents.sentence(&name, exactly), "its buffer is empty");
    contents.add(&[x, Entry::Barrier, y], [1, 2], exactly);
    let told = "its buffer is empty or holds x=1 then fence then y=2";
    assert_eq!(contents.sentence(&name, exactly), told);
    contents.add(&[x, Entry::Barrier, y], [1, 3], exactly);
    let told = "its buffer is empty or holds x=1 then fence then y in {2,3}";
    assert_eq!(contents.sentence(&name, exactly), told);
    (1..6).for_each(|length| contents.add(&vec![x; length], vec![0; length], exactly));
    assert_eq!(contents.sentence(&name, exactly), "its buffer may hold up to 5 stores, to x and y");
}
