//! `verify --outcomes` and `run --replay`: runs to final states, and runs of evidence.

use super::tool::{Folder, MP, SB, run};

const LITMUS: &str = "X86 SB
{ x=0; y=0; }
 P0          | P1          ;
 MOV [x],$1  | MOV [y],$1  ;
 MOV EAX,[y] | MOV EAX,[x] ;
exists (0:EAX=0 /\\ 1:EAX=0)
";

#[test]
fn every_final_state_has_its_run() {
    let folder = Folder::new();
    folder.write("sb.litmus", LITMUS);
    let ran = folder
        .run(&["verify", "--outcomes", "--evidence", "ev", "--report", "sb.html", "sb.litmus"])
        .exits(0);
    for state in ["0:EAX=0; 1:EAX=0;", "0:EAX=0; 1:EAX=1;", "0:EAX=1; 1:EAX=0;", "0:EAX=1; 1:EAX=1;"] {
        assert!(ran.out.contains(&format!("\n{state} under TSO\n")), "{}", ran.out);
    }
    assert_eq!(ran.out.matches("SC has this outcome, too.").count(), 3, "{}", ran.out);
    assert_eq!(ran.out.matches("SC does not have this outcome.").count(), 1, "{}", ran.out);
    assert_eq!(ran.out.matches("◀ not under SC").count(), 1, "{}", ran.out);
    let drawn = folder.list("ev").iter().filter(|name| name.ends_with(".svg")).count();
    assert_eq!(drawn, 4, "{:?}", folder.list("ev"));
    let page = folder.read("sb.html");
    assert_eq!(page.matches("<section class=\"answer\"").count(), 5);
    // That the outcome can be observed is not painted green.
    assert!(page.contains("<p class=\"verdict open\">holds under TSO</p>"), "{page}");
    let plain = folder.run(&["verify", "sb.litmus"]).exits(0);
    assert!(!plain.out.contains("SC has"), "{}", plain.out);
    let json = folder.run(&["verify", "--format", "json", "--outcomes", "sb.litmus"]).exits(0).json();
    let runs: Vec<_> = json.iter().filter(|line| line["command"] == "outcome").collect();
    assert_eq!((json.len(), runs.len()), (5, 4), "the answer, and a run for each");
    let weak = runs.iter().filter(|run| run["under_sc"] == false).collect::<Vec<_>>();
    assert_eq!(weak.len(), 1);
    assert_eq!(weak[0]["outcome"], "0:EAX=0; 1:EAX=0;");
    assert!(weak[0]["trace"].as_array().is_some_and(|steps| steps.len() >= 4));
}

#[test]
fn the_run_of_evidence_is_shown_and_can_be_followed() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP);
    folder.run(&["verify", "--evidence", "ev", "sb.fw", "mp.fw"]).exits(1);
    let trace = "ev/sb.tso.trace.txt";
    let ran = folder.run(&["run", "--replay", trace, "sb.fw"]).exits(1);
    ran.says("sb.fw: violated under TSO: ").says("by the evidence: ").says("│");
    let json = folder.run(&["run", "--format", "json", "--replay", trace, "sb.fw"]).exits(1).json();
    assert_eq!((&json[0]["outcome"], &json[0]["seed"]), (&"violated".into(), &serde_json::Value::Null));
    folder.run(&["robust", "--evidence", "ev", "sb.fw"]).exits(1);
    let witness = folder.run(&["run", "--replay", "ev/sb.tso.witness.txt", "sb.fw"]).exits(0);
    witness.says("the run of the evidence, ").says("nothing violated");
    let proof = folder.list("ev").into_iter().find(|name| name.starts_with("mp.tso")).expect("a proof");
    let ran = folder.run(&["run", "--replay", &format!("ev/{proof}"), "mp.fw"]).exits(2);
    ran.complains("the evidence is a proof and records no run");
    folder.run(&["run", "--replay", trace, "mp.fw"]).exits(2).complains("rejected");
    let follow = |commands: &str| {
        run(folder.path(), &["run", "--interactive", "--replay", trace, "sb.fw"], commands.as_bytes())
    };
    follow("n\nn\n").exits(0).says("after 2 steps");
    follow("e\n").exits(1).says("violated: ");
    follow("e\nn\n").exits(1).says("this is the end of the evidence");
    follow("2\nn\n").exits(0).says("not the way of the evidence any more");
    follow("2\nu\ne\n").exits(1).says("violated: ");
    let free = run(folder.path(), &["run", "--interactive", "sb.fw"], b"n\n").exits(0);
    free.says("there is no run to follow");
}

#[test]
fn registers_of_lowering_are_not_shown() {
    let folder = Folder::new();
    folder.write("sum.fw", "shared x, y; thread P { let r; r = x + y; y = x; } never y > 1;");
    let ran = run(folder.path(), &["run", "--interactive", "sum.fw"], b"1\n1\n1\n").exits(0);
    assert!(!ran.out.contains("t1") && ran.out.contains("r=0"), "{}", ran.out);
    ran.says("r = x + y (reads x)").says("r = x + y (reads y)");
}
