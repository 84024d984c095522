//! What the program text alone dismisses, against searching for it all the same.

use super::programs::{corpus, parse};
use super::random::{chain_sketch, sketch};
use engine::{Cuts, Engine, Robust, Run};
use evidence::{Ignore, MostStates, Task};
use machine::{Model, PSO, TSO};
use program::Program;

/// The verdict, and how many delays were searched for.
fn answer(program: &Program, model: Model, cuts: Cuts) -> (&'static str, usize) {
    let run = Run { monitor: &MostStates(1 << 17), ..Run::default() };
    let task = Task::robust(program, model);
    let answer = Robust { cuts }.verify(&task, &run);
    let (verdict, suspects) = (answer.verdict.word(), answer.statistics.suspects);
    // What the text dismisses is for the checker to say again; runs speak for themselves.
    if verdict == "not robust" {
        evidence::check(&task, answer.verdict, &Ignore)
            .unwrap_or_else(|why| panic!("{}: {why}\n{}", program.name, program::print(program)));
    }
    (verdict, suspects.unwrap_or_default())
}

/// With all cuts but some the answers are the same, and there was something to cut.
fn check(without: Cuts) {
    let (mut more, mut verdicts) = (0, [0, 0]);
    let sketches = (0..400).flat_map(|seed| [sketch(seed), chain_sketch(seed)]);
    // Every kind of program under each model.
    let models = [TSO, TSO, PSO, PSO].into_iter().cycle();
    for (program, model) in sketches.map(|sketch| sketch.build()).zip(models) {
        let ((all, few), (some, many)) =
            (answer(&program, model, Cuts::ALL), answer(&program, model, without));
        if all == "unknown" || some == "unknown" {
            continue;
        }
        assert_eq!(all, some, "{}\n{}", program.name, program::print(&program));
        assert!(few <= many);
        more += usize::from(few < many);
        verdicts[usize::from(all == "robust")] += 1;
    }
    println!("{more} of {verdicts:?} had something to cut");
    assert!(more > 50 && verdicts.iter().all(|count| *count > 100), "{more} of {verdicts:?}");
}

#[test]
fn loads_behind_fences_are_rightly_dismissed() {
    check(Cuts { fenced: false, ..Cuts::ALL });
}

#[test]
fn loads_of_the_stored_variable_are_rightly_dismissed() {
    check(Cuts { same_variable: false, ..Cuts::ALL });
}

#[test]
fn loads_that_no_chain_leads_back_from_are_rightly_dismissed() {
    check(Cuts { unconnected: false, ..Cuts::ALL });
}

#[test]
fn without_any_cut_the_answers_are_the_same() {
    check(Cuts::NONE);
    for name in ["peterson_fenced.fw", "sb_fenced.fw", "iriw.fw", "dekker.fw", "lamport_fast_fenced.fw"] {
        let program = corpus(name);
        assert_eq!(answer(&program, TSO, Cuts::ALL).0, answer(&program, TSO, Cuts::NONE).0, "{name}");
    }
}

/// Each cut alone: how many delays are left to be searched for.
#[test]
fn each_cut_dismisses_what_it_is_for() {
    let suspects = |text: &str, cuts: Cuts| answer(&parse(text), TSO, cuts).1;
    let none = Cuts::NONE;
    let fenced =
        "shared x, y; thread P { let a; x = 1; fence; a = y; } thread Q { let b; y = 1; fence; b = x; }";
    assert_eq!((suspects(fenced, none), suspects(fenced, Cuts { fenced: true, ..none })), (2, 0));
    let same = "shared x, y; thread P { let a; x = 1; a = x; } thread Q { let b; x = 2; b = x; }";
    assert_eq!((suspects(same, none), suspects(same, Cuts { same_variable: true, ..none })), (2, 0));
    // Two pairs of threads that have nothing to do with each other.
    let apart =
        "shared x, y; thread P { let a; x = 1; a = y; } thread Q { let b; b = x; } thread R { y = 1; }";
    assert_eq!((suspects(apart, none), suspects(apart, Cuts { unconnected: true, ..none })), (1, 0));
    let together = "shared x, y; thread P { let a; x = 1; a = y; } thread Q { let b; y = 1; b = x; }";
    assert_eq!((suspects(together, none), suspects(together, Cuts::ALL)), (2, 2));
}
