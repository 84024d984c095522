//! Programs with known answers, and the checker on broken witnesses.

use super::looks::is_robust;
use super::programs::{answer, answer_against, corpus, parse, read, robust, task, witness};
use evidence::{Checked, Ignore, MostStates, Rejected, Verdict, Witness, WitnessRejected, check};
use machine::{PSO, TSO};
use program::Program;

#[test]
fn the_predecessors_programs_get_its_answers() {
    let Some(folder) = support::corpora("trencher") else { return };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("readable");
    let mut different = Vec::new();
    for row in table.lines().skip(1) {
        let mut cells = row.split('\t');
        let (file, expected) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let started = std::time::Instant::now();
        let found = answer(&read(&folder.join(file))).replace(' ', "_");
        println!("{file}: {found}, expected {expected}, {:?}", started.elapsed());
        if found != expected && !expected.starts_with("unknown") {
            different.push(format!("{file}: {found}, expected {expected}"));
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn known_programs() {
    let known = [
        ("sb.fw", "not robust"),
        ("sb_fenced.fw", "robust"),
        ("sb_half_fenced.fw", "not robust"),
        ("sb_swap.fw", "robust"),
        ("sb_store_fence.fw", "not robust"),
        ("mp.fw", "robust"),
        ("lb.fw", "robust"),
        ("corr.fw", "robust"),
        ("cowr.fw", "robust"),
        ("iriw.fw", "robust"),
        ("wrc.fw", "robust"),
        ("s.fw", "robust"),
        ("r.fw", "not robust"),
        ("r_fenced.fw", "robust"),
        ("two_plus_two_w.fw", "robust"),
        ("peterson.fw", "not robust"),
        ("peterson_fenced.fw", "robust"),
        ("dekker.fw", "not robust"),
        // Its one fence a thread makes it safe; giving way and handing over may still be seen late.
        ("dekker_fenced.fw", "not robust"),
    ];
    for (name, expected) in known {
        assert_eq!(answer(&corpus(name)), expected, "{name}");
    }
}

#[test]
fn no_critical_cycle_means_robust_for_whatever_data() {
    // A counter without end, but nothing is ever loaded behind a store that others see.
    let text = "shared x; thread P { let a; loop { a = a + 1; x = a; } } thread Q { let b; loop { b = x; } }";
    let program = parse(text);
    assert_eq!(answer(&program), "robust");
}

fn check_witness(program: &Program, witness: Witness) -> Result<Checked, Rejected> {
    check(&task(program), Verdict::NotRobust(witness), &Ignore)
}

#[test]
fn store_buffering_has_the_witness_of_the_books() {
    let program = corpus("sb.fw");
    let found = witness(&program);
    assert_eq!((found.store, found.overtaker, found.drain), (0, 1, 5));
    assert_eq!(found.chain().collect::<Vec<_>>(), [2, 4]);
    let checked = check_witness(&program, found).expect("a witness");
    let cycle: Vec<usize> =
        checked.witness().expect("it is one").cycle().iter().map(|(step, _)| *step).collect();
    assert_eq!(cycle, [0, 1, 2, 4]);
}

/// Everything that can be done to a witness in one place, and that must not go unnoticed.
#[test]
fn broken_witnesses_are_rejected() {
    let program = corpus("peterson.fw");
    let good = witness(&program);
    let roles = Some(Rejected::Witness(WitnessRejected::Roles));
    let reject = |change: &dyn Fn(&mut Witness)| {
        let mut bad = good.clone();
        change(&mut bad);
        check_witness(&program, bad).err()
    };
    for at in 0..good.steps.len() {
        assert!(reject(&|bad| drop(bad.steps.remove(at))).is_some(), "without step {at}");
    }
    for role in 0..good.steps.len() + 2 {
        if role != good.store {
            assert_eq!(reject(&|bad| bad.store = role), roles, "store {role}");
        }
        if role != good.drain {
            assert_eq!(reject(&|bad| bad.drain = role), roles, "drain {role}");
        }
        if role != good.overtaker {
            assert!(reject(&|bad| bad.overtaker = role).is_some(), "load {role}");
        }
    }
    assert!(reject(&|bad| bad.steps.clear()).is_some());
}

#[test]
fn the_same_witness_every_time() {
    for name in ["peterson.fw", "dekker.fw", "lamport_fast.fw"] {
        let program = corpus(name);
        let first = witness(&program);
        for _ in 0..10 {
            assert_eq!(witness(&program), first, "{name}");
        }
    }
}

/// A run that SC allows is no witness, even if stores are delayed in it.
#[test]
fn a_delay_that_nobody_notices_is_no_witness() {
    let program = corpus("sb.fw");
    let mut quiet = witness(&program);
    // The other thread stays away: the store, the load, the drain.
    quiet.steps.drain(2..5);
    quiet.drain = 2;
    assert_eq!(
        check_witness(&program, quiet).err(),
        Some(Rejected::Witness(WitnessRejected::Independent(2)))
    );
}

/// Where a simpler search would go wrong; each is also judged by enumeration.
#[test]
fn programs_that_need_care() {
    let known = [
        // The others must act while the store is delayed, before the load that matters.
        (
            "shared x, y, z; thread T { let a, b, c; x = 1; a = y;
             if (a == 0) { b = y; if (b == 1) { c = z; } } }
             thread H { y = 1; } thread K { let d; z = 1; fence; d = x; }",
            false,
        ),
        // The section depends on the load by its last step, and touches the store's variable first.
        (
            "shared x, y; thread T { let a; x = 1; a = y; }
             thread S { let b; atomic { b = x; if (b == 0) { y = 1; } } }",
            false,
        ),
        // The same steps one by one are in an order that SC knows.
        (
            "shared x, y; thread T { let a; x = 1; a = y; } thread S { let b; b = x; if (b == 0) { y = 1; } }",
            true,
        ),
        // What is loaded is the thread's own store.
        ("shared x; thread T { let a; x = 1; a = x; } thread S { let b; x = 2; b = x; }", true),
        // The chain passes through two helpers.
        (
            "shared x, y, z; thread T { let a; x = 1; a = y; }
             thread H { y = 1; z = 1; } thread K { let b, c; b = z; if (b == 1) { c = x; } }",
            false,
        ),
        // A section whose steps all come before the load depends on nothing.
        (
            "shared x, y, z; thread T { let a; x = 1; a = y; }
             thread H { y = 1; } thread S { let b; atomic { b = x; if (b == 0) { z = 1; } } }",
            true,
        ),
    ];
    for (text, expected) in known {
        let program = parse(text);
        assert_eq!(is_robust(&program, TSO), Some(expected), "by enumeration: {text}");
        assert_eq!(answer(&program) == "robust", expected, "by the engine: {text}");
    }
}

/// Choices and counters without end, as long as no condition depends on them.
#[test]
fn values_that_only_flow_need_no_bounds() {
    let text = |fence: &str, looks: &str| {
        format!(
            "shared x, y, z = any; thread P {{ let a, n, v; loop {{ v = any; n = n + v; x = n; {fence} a = y; z = a * v; {fence} {looks} }} }}
             thread Q {{ let b; y = 1; {fence} b = x; z = b + 1; }}"
        )
    };
    for model in [TSO, PSO] {
        let check = |text: &str, expected: &str| {
            let found = robust(&parse(text), model, &MostStates(1 << 12));
            assert_eq!(found.checked.verdict().word(), expected, "{text}");
        };
        check(&text("fence;", ""), "robust");
        check(&text("", ""), "not robust");
        // A sum that has no end, and decides whether there is a delay.
        check(&text("fence;", "if (n == 7 && n == 8) { x = 1; a = y; }"), "unknown");
        // A choice that decides is fine within a range.
        check(&text("fence;", "v = any in 0..5; if (v == 3) { x = 1; fence; a = y; }"), "robust");
    }
}

/// Against PSO stores overtake stores; each is also judged by enumeration.
#[test]
fn programs_against_pso() {
    let known = [
        (
            "message passing",
            "shared x, y; thread P { x = 1; y = 1; } thread Q { let a, b; a = y; b = x; }",
            false,
        ),
        (
            "a store fence between the stores",
            "shared x, y; thread P { x = 1; fence store; y = 1; } thread Q { let a, b; a = y; b = x; }",
            true,
        ),
        (
            "behind a store fence a store waits for those in front of it, and a load overtakes both",
            "shared x, y, z; thread P { let a; x = 1; fence store; y = 1; a = z; }
             thread Q { let b, c; z = 1; fence; b = y; if (b == 0) { c = x; } }",
            false,
        ),
        ("two and two writes", "shared x, y; thread P { x = 1; y = 2; } thread Q { y = 1; x = 2; }", false),
        (
            "stores to one variable",
            "shared x; thread P { x = 1; x = 2; } thread Q { let a, b; a = x; b = x; }",
            true,
        ),
        (
            "the store between must have arrived, or the load is not reached",
            "shared x, y, z; thread P { let a, b; x = 1; y = 1; a = z; if (a == 1) { b = y; } }
             thread Q { let c; c = y; if (c == 1) { z = 1; } } thread R { let d; y = 2; fence; d = x; }",
            false,
        ),
        (
            "two threads have to delay, for the section looks at both variables",
            "shared x, y, flag, z; thread V { y = 1; flag = 1; }
             thread U { let r, a; x = 1; r = flag; if (r == 1) { a = z; } }
             thread H { let b, c; atomic { b = x; if (b == 0) { c = y; if (c == 0) { z = 1; } } } }",
            false,
        ),
        (
            "the same where a locked step waits for the value that is still in memory",
            "shared x, flag, z; thread V { x = 2; flag = 1; }
             thread U { let r, a; x = 1; r = flag; if (r == 1) { a = z; } }
             thread H { z = 1; fence; arw(x, 0, 0); }",
            false,
        ),
    ];
    for (what, text, expected) in known {
        let program = parse(text);
        assert_eq!(is_robust(&program, PSO), Some(expected), "{what}, by enumeration");
        assert_eq!(answer_against(&program, PSO) == "robust", expected, "{what}, by the engine");
    }
}
