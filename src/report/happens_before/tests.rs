//! Graphs of violations: which links they have, and when they have a cycle.

use super::*;
use engine::{Engine, Explicit};
use evidence::{Ignore, MostStates, Task, check};
use machine::{MODELS, model_named};

fn read(text: &str) -> Program {
    crate::read("test.fw", text).expect("it is a program")
}

/// Looks at the graph of the shortest violation and its cycle, if one is found soon.
fn violation<T>(program: &Program, model: &str, look: impl Fn(&Related<'_>) -> T) -> Option<T> {
    let task = Task::safe(program, model_named(model).expect("a model"));
    let run = engine::Run { monitor: &MostStates(20_000), ..engine::Run::default() };
    let answer = Explicit.verify(&task, &run);
    let checked = check(&task, answer.verdict, &Ignore).expect("the evidence holds");
    let account = checked.violated()?.account;
    let (graph, cycle, _) = completed(program, account, None);
    Some(look(&Related::new(program, account, &graph, &cycle, &[])))
}

/// The links and the cycle, as short texts.
fn drawn(text: &str, model: &str) -> (Vec<String>, Vec<String>) {
    let program = read(text);
    let look = |related: &Related<'_>| {
        let picture = related.picture(usize::MAX, &|_| None);
        let short = |arrow: &Arrow| {
            let [from, to] = [arrow.from, arrow.to].map(|node| picture.nodes[node].accesses.join(", "));
            format!("{from} {} {to}", abbreviation(arrow.link))
        };
        let mut arrows: Vec<String> = picture.arrows.iter().map(short).collect();
        arrows.sort();
        (arrows, picture.arrows.iter().filter(|arrow| arrow.cycle).map(short).collect())
    };
    violation(&program, model, look).expect("it is unsafe")
}

#[test]
fn stores_that_never_drain_still_close_the_cycle() {
    let text = "shared x, y;
thread P { let a; x = 1; a = y; p: skip; }
thread Q { let b; y = 1; b = x; q: skip; }
never P@p && Q@q && P.a == 0 && Q.b == 0;";
    let (arrows, cycle) = drawn(text, "tso");
    let expected = [
        "reads x = 0 fr stores x = 1",
        "reads y = 0 fr stores y = 1",
        "stores x = 1 po reads y = 0",
        "stores y = 1 po reads x = 0",
    ];
    assert_eq!(arrows, expected);
    assert_eq!(cycle.len(), 4, "{cycle:?}");
}

#[test]
fn message_passing_under_pso_has_a_cycle_through_reads_from() {
    let text = "shared d, f;
thread W { d = 1; f = 1; }
thread R { let a, b; a = f; b = d; r: skip; }
never R@r && R.a == 1 && R.b == 0;";
    let (arrows, cycle) = drawn(text, "pso");
    let expected = [
        "reads d = 0 fr stores d = 1",
        "reads f = 1 po reads d = 0",
        "stores d = 1 po stores f = 1",
        "stores f = 1 rf reads f = 1",
    ];
    assert_eq!(arrows, expected);
    assert_eq!(cycle.len(), 4, "{cycle:?}");
}

#[test]
fn cycles_are_found_in_large_graphs_too_and_drawn_alone() {
    let text = "shared x, y, z;
thread P { let a, n; while (n < 320) { z = n; n = n + 1; } x = 1; a = y; p: skip; }
thread Q { let b; y = 1; b = x; q: skip; }
never P@p && Q@q && P.a == 0 && Q.b == 0;";
    let program = read(text);
    let picture = violation(&program, "tso", |related| related.picture(40, &|_| None));
    let picture = picture.expect("it is unsafe");
    assert!(picture.all > 320, "{}", picture.all);
    assert_eq!((picture.nodes.len(), picture.arrows.len()), (4, 4));
}

#[test]
fn what_sc_allows_has_no_cycle() {
    let text = "shared x;
thread P { let a; x = 1; x = 2; a = x; p: skip; }
thread Q { x = 3; }
never P@p && P.a == 3;";
    for model in ["sc", "tso"] {
        let (arrows, cycle) = drawn(text, model);
        assert!(arrows.iter().any(|arrow| arrow == "stores x = 3 rf reads x = 3"), "{arrows:?}");
        assert!(arrows.iter().any(|arrow| arrow == "stores x = 1 co stores x = 2"), "{arrows:?}");
        assert!(cycle.is_empty(), "{cycle:?}");
    }
}

#[test]
fn atomic_sections_are_one_node() {
    let text = "shared x, y;
thread P { let a; atomic { x = 1; y = 1; a = x; } p: skip; }
never P@p && P.a == 1;";
    let look = |related: &Related<'_>| related.picture(usize::MAX, &|_| None).nodes.len();
    assert_eq!(violation(&read(text), "tso", look), Some(1));
}

#[test]
fn violations_have_a_cycle_just_if_they_need_a_weak_memory() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
    let (mut weak, mut strong) = (0, 0);
    let has_cycle = |related: &Related<'_>| !related.cycle.is_empty();
    for entry in std::fs::read_dir(folder).expect("the corpus is there") {
        let path = entry.expect("readable").path();
        if path.extension().is_none_or(|ending| ending != "fw") {
            continue;
        }
        let program = read(&std::fs::read_to_string(&path).expect("readable"));
        let under_sc = violation(&program, "sc", has_cycle);
        if let Some(cycle) = under_sc {
            assert!(!cycle, "{path:?} under SC");
            strong += 1;
        }
        for model in MODELS.iter().filter(|model| model.buffers() && under_sc.is_none()) {
            if let Some(cycle) = violation(&program, model.name(), has_cycle) {
                assert!(cycle, "{path:?} under {}", model.name());
                weak += 1;
            }
        }
    }
    assert!(weak > 40 && strong > 1, "{weak} and {strong}");
}
