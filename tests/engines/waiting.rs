//! Proofs for unbounded numbers and stores without end, where the storing thread may wait for its stores; and
//! for sequence locks with several writers.

use support::corpus::{corpus, read};
use support::{models, texts};

use engine::{Cegar, Engine, Run};
use evidence::{Ignore, MostStates, Task, Verdict, check};
use machine::model_named;
use program::Program;
use std::collections::BTreeMap;

/// What the engine answers within so many states, with its evidence checked.
fn asked(program: &Program, model: &str, most: usize) -> &'static str {
    let task = Task::safe(program, model_named(model).expect("known"));
    let answer = Cegar.verify(&task, &Run { monitor: &MostStates(most), ..Run::default() });
    let checked = check(&task, answer.verdict, &Ignore).expect("the evidence holds");
    if let Verdict::Unknown(reasons) = checked.verdict() {
        println!("{model}: {reasons:?}");
    }
    checked.verdict().word()
}

/// Numbers that only grow, and a claim about two of them.
fn growing(step: &str, claim: &str) -> Program {
    let text = format!(
        "shared v; thread W {{ let k; loop {{ k = k + {step}; v = k; }} }} \
         thread R {{ let a, b; loop {{ a = v; b = v; assert {claim}; }} }}"
    );
    texts::read(&text).expect("a program")
}

#[test]
fn what_a_thread_stores_on_and_on_stays_in_order() {
    for model in models::buffered() {
        assert_eq!(asked(&growing("1", "a <= b"), model, 20_000), "safe", "{model}");
        assert_eq!(asked(&growing("1", "a < b"), model, 20_000), "unsafe", "{model}");
        assert_eq!(asked(&growing("-1", "a <= b"), model, 20_000), "unsafe", "{model}");
    }
}

#[test]
fn the_non_blocking_write_is_proved() {
    let program = |name: &str| {
        let path = corpus().into_iter().find(|path| path.ends_with(name)).expect("part of the corpus");
        read(&path, &BTreeMap::new())
    };
    assert_eq!(asked(&program("nonblocking_write.fw"), "tso", 50_000), "safe");
    assert_eq!(asked(&program("nonblocking_write.fw"), "pso", 50_000), "unsafe");
    assert_eq!(asked(&program("nonblocking_write_pso.fw"), "tso", 50_000), "safe");
    assert_eq!(asked(&program("nonblocking_write_pso.fw"), "pso", 50_000), "safe");
}
