//! The lines of evidence files in both forms.

use evidence::inside::Record;
use std::collections::BTreeMap;

#[test]
fn both_forms_read_back() {
    let records = [
        Record::Evidence { version: 1, kind: "closed-set".into(), model: "tso".into(), program: "ab".into() },
        Record::Gaps { low: -1, high: 7, precision: 2, modulus: 6 },
        Record::Extend { thread: 1, complete: true, path: vec![3, 4, 7] },
        Record::Extend { thread: 0, complete: false, path: vec![] },
        Record::Flatten { buffer: 2 },
        Record::Forget(vec![]),
        Record::Forget(vec![0, 4]),
        Record::Settled {},
        Record::InReach {},
        Record::Persistent {},
        Record::Dynamic {},
        Record::Cartesian {},
        Record::DeadRegisters {},
        Record::Renaming {
            threads: vec![1, 0],
            locations: vec![vec![0, 2, 1], vec![]],
            variables: vec![0],
            values: BTreeMap::from([
                ("m0".into(), vec![("1".into(), "-2".into()), ("-2".into(), "1".into())]),
                ("r1.0@2".into(), vec![]),
            ]),
        },
        Record::Contexts(3),
        Record::Running { context: 0, active: None, holder: None, owed: 0 },
        Record::Running { context: 2, active: Some(1), holder: Some(0), owed: 3 },
        Record::Planned { thread: 1, location: 7, after: Some(0), leaving: vec![] },
        Record::Planned { thread: 0, location: 0, after: None, leaving: vec![(0, Some(2)), (3, None)] },
        Record::Global { holder: None },
        Record::Global { holder: Some(1) },
        Record::Local { thread: 0, location: 3, buffer: vec![Some(1), None, Some(0)] },
        Record::State(vec![0, 1, -5, i64::MAX]),
        Record::Recall { k: 1, keep: "newest".into(), forgotten: "pools".into() },
        Record::Predicate { relation: "le".into(), constant: "-3".into(), terms: vec![] },
        Record::Predicate {
            relation: "divides:2".into(),
            constant: "99999999999999999999".into(),
            terms: vec![("1".into(), "m0".into()), ("-1".into(), "r0.1".into())],
        },
        Record::Shape { thread: 0, location: 3, kept: vec![], forgotten: vec![] },
        Record::Shape {
            thread: 1,
            location: 0,
            kept: vec![Some(1), None],
            forgotten: vec![(0, false), (2, true)],
        },
        Record::Control { holder: Some(1), shapes: vec![0, 2] },
        Record::Cube { control: 7, holds: vec![], fails: vec![] },
        Record::Cube { control: 7, holds: vec![1, 4], fails: vec![0] },
        Record::Demand {
            states: vec![None, Some((3, vec![])), Some((0, vec![1, -2]))],
            memory: vec![(0, -1)],
            holder: Some(2),
            queues: vec![(0, 1, vec![]), (2, 0, vec![7, -7])],
            views: vec![(1, vec![(false, vec![(0, 1), (1, -1)]), (true, vec![(0, 2)]), (false, vec![])])],
        },
        Record::Demand { states: vec![None], memory: vec![], holder: None, queues: vec![], views: vec![] },
        Record::Initial { variable: 2, value: "-7".into() },
        Record::Step { thread: 1, edge: 2, choice: None },
        Record::Step { thread: 1, edge: 2, choice: Some("99999999999999999999".into()) },
        Record::Drain { thread: 0, variable: 4 },
        Record::Property(0),
        Record::Failure { thread: 1, location: 9 },
        Record::Delay { store: 0, load: 3, drain: 7 },
        Record::Evidence { version: 1, kind: "witness".into(), model: "tso".into(), program: "ab".into() },
        Record::Final(vec![]),
        Record::Final(vec![-1, 7]),
        Record::First { controls: vec![0, 3], programs: vec![1], buffers: vec![] },
        Record::First { controls: vec![], programs: vec![], buffers: vec![0, 2] },
        Record::End(11),
    ];
    for record in records {
        for remark in ["", "a remark # with \"signs\"\n"] {
            assert_eq!(Record::from_text(&record.to_text(remark)), Ok(record.clone()));
            assert_eq!(Record::from_json(&record.to_json(remark)), Ok(record.clone()));
        }
    }
}

#[test]
fn nonsense_is_refused() {
    let version = "fencewright-evidence 4294967297 trace sc 0";
    let plain = [
        "",
        "sta 1",
        "step 1",
        "step 1 x",
        "end 1 2",
        "delay 1 2",
        "delay 1 2 -3",
        "state 1 99999999999999999999",
        "final x",
        "first 0 1 : 0",
        "first 0 : 0 : 1 : 2",
        "first -1 : 0 : 1",
        "renaming 0 1 : 0",
        "renaming 0 : 0 : 0 : m0 1",
        "forget -1",
        "forget x",
        "settled 1",
        "persistent 0",
        "{",
    ];
    let cubes = [
        "recall 1 newest",
        "demand x",
        "demand 0 m1",
        "demand 0 q1=2",
        "demand 0 v0=x1=1",
        "predicate le 0 1",
        "shape 0 0 x",
        "shape 0 0 : 1*",
        "cube 0 !",
        "control",
    ];
    for line in [version].into_iter().chain(plain).chain(cubes) {
        assert!(Record::from_text(line).is_err(), "{line}");
        assert!(Record::from_json(line).is_err(), "{line}");
    }
}
