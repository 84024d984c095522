//! `predicates { … }` and the engine `extrapolate` from outside: what is saved can be pasted, what cannot be saved
//! is said, and fences at a bound stand beside those that safety needs.

use super::tool::{Folder, SB};
use fencewright::MODELS;

const TICKETS: &str = "const N = 2; shared next, owner;\n\
    thread P(i in 0..N) { let ticket; loop { ticket = fetch_add(next, 1); await owner == ticket; cs: skip;\n\
    owner = owner + 1; } }\nnever P0@cs && P1@cs;\n";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("tickets.fw", TICKETS).write("sb.fw", SB);
    folder
}

#[test]
fn what_is_saved_can_be_pasted() {
    let folder = folder();
    for (engine, model) in [("cegar", "sc"), ("extrapolate", "sc"), ("extrapolate", "pso")] {
        let save = ["verify", "--model", model, "--engine", engine, "--save-predicates", "p.txt", "--force"];
        folder.run(&[&save[..], &["tickets.fw"]].concat()).exits(0);
        let saved = folder.read("p.txt");
        assert!(saved.starts_with("predicates {") && saved.contains("P0.ticket"), "{saved}");
        folder.write("with.fw", format!("{TICKETS}{saved}"));
        for model in MODELS.iter().map(|model| model.name()) {
            folder.run(&["verify", "--model", model, "--engine", "extrapolate", "with.fw"]).exits(0);
        }
        let plain = folder.run(&["verify", "--verbose", "--engine", "cegar", "tickets.fw"]).exits(0);
        let with = folder.run(&["verify", "--verbose", "--engine", "cegar", "with.fw"]).exits(0);
        let paths = |text: &str| text.matches("path of").count();
        assert!(paths(&with.err) < paths(&plain.err), "{with:?} {plain:?}");
    }
}

#[test]
fn what_cannot_be_saved_is_said() {
    let folder = folder();
    let save =
        |args: &[&str]| folder.run(&[&["verify", "--save-predicates", "p.txt"], args].concat()).exits(2);
    save(&["--model", "sc", "--engine", "explicit", "sb.fw"])
        .complains("no predicates to save")
        .says("safe under SC");
    save(&["--engine", "cegar", "--model", "all", "sb.fw"]).complains("one file and one model");
    save(&["--engine", "cegar", "sb.fw", "tickets.fw"]).complains("one file and one model");
    folder.write("p.txt", "mine");
    save(&["--engine", "cegar", "tickets.fw"]).complains("p.txt exists");
    assert_eq!(folder.read("p.txt"), "mine");
}

#[test]
fn a_predicate_that_says_nothing_is_refused_with_its_place() {
    let folder = folder();
    folder.write("nothing.fw", format!("{TICKETS}predicates {{ 1 < 2; }}\n"));
    folder.run(&["verify", "nothing.fw"]).exits(2).complains("nothing.fw:5:14").complains("says nothing");
}

#[test]
fn the_phases_are_told_and_the_reasons_of_an_unknown_named() {
    let folder = folder();
    let told = folder.run(&["verify", "--verbose", "--engine", "extrapolate", "tickets.fw"]).exits(0);
    told.complains("predicates")
        .complains("prover calls")
        .complains("cube extrapolation, k = 1")
        .says("at most 1");
    let way = ["verify", "--verbose", "--engine", "extrapolate", "--extrapolate", "predicates", "tickets.fw"];
    folder.run(&way).exits(0).complains("predicate extrapolation, k = 1");
    let none = ["verify", "--engine", "extrapolate", "--timeout", "0", "tickets.fw"];
    folder.run(&none).exits(3).says("the time limit was reached");
}

#[test]
fn fences_at_a_bound_stand_beside_those_that_safety_needs() {
    let folder = folder();
    folder.write("twice.fw", "shared x; thread P { x = 1; x = 2; let r = x; assert r == 2; }");
    let fence = ["fence", "--engine", "extrapolate", "--buffer"];
    let ran = folder.run(&[&fence[..], &["1", "twice.fw"]].concat()).exits(0);
    ran.says("no fence is needed").says("no store buffer holds more than 1 store: 1 fence in P (cost 3)");
    let ran = folder.run(&[&fence[..], &["2", "twice.fw"]].concat()).exits(0);
    ran.says("holds more than 2 stores: no fence is needed");
    let ran = folder.run(&[&fence[..], &["1", "--format", "json", "twice.fw"]].concat()).exits(0);
    assert_eq!(ran.json()[0]["within"]["cost"], 3, "{ran:?}");
}
