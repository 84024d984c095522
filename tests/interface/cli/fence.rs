//! `fence`: exit codes, the program it writes, its evidence, and what it refuses.

use super::tool::{ENDLESS, Folder, MP, SB};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP).write("endless.fw", ENDLESS);
    folder.write("race.fw", "shared x; thread P(i in 0..2) { let r = x; x = r + 1; } finally x == 2;");
    folder
}

#[test]
fn exit_codes_tell_the_answer() {
    let folder = folder();
    folder.run(&["fence", "sb.fw"]).exits(0).says("1 fence in each of 2 threads makes it safe under TSO");
    folder.run(&["fence", "mp.fw"]).exits(0).says("no fence is needed: safe under TSO");
    folder.run(&["fence", "--model", "pso", "mp.fw"]).exits(0).says("1 store fence in W makes it safe");
    folder.run(&["fence", "--model", "sc", "sb.fw"]).exits(0).says("no fence is needed: safe under SC");
    folder.run(&["fence", "race.fw"]).exits(1).says("no fence helps: unsafe under SC: finally x == 2");
    folder.run(&["fence", "--model", "sc", "race.fw"]).exits(1).says("no fence helps");
    let tight = ["fence", "--engine", "explicit", "--states", "50", "endless.fw"];
    folder.run(&tight).exits(3).says("the limit on states was reached");
    folder.run(&["fence", "no.fw"]).exits(2).complains("there is no such file");
}

#[test]
fn what_is_written_is_the_program_with_the_fences() {
    let folder = folder();
    folder.run(&["fence", "--out", "out.fw", "sb.fw"]).exits(0);
    assert_eq!(
        folder.read("out.fw"),
        SB.replace("x = 1;", "x = 1; fence;").replace("y = 1;", "y = 1; fence;")
    );
    folder.run(&["verify", "out.fw"]).exits(0);
    folder.run(&["fence", "--quiet", "out.fw"]).exits(0).says("no fence is needed");
    folder.run(&["fence", "--out", "same.fw", "mp.fw"]).exits(0);
    assert_eq!(folder.read("same.fw"), MP);
    let ran = folder.run(&["fence", "--out", "-", "sb.fw"]).exits(0);
    assert_eq!(ran.out, folder.read("out.fw"));
    ran.complains("makes it safe under TSO");
}

#[test]
fn costs_decide_between_kinds() {
    let folder = folder();
    let fence = |cost: &str| folder.run(&["fence", "-q", "--model", "pso", "--cost", cost, "mp.fw"]).exits(0);
    fence("full=3,store=1").says("1 store fence in W").says("(cost 1, optimal)");
    fence("full=1,store=2").says("1 fence in W").says("(cost 1, optimal)");
    fence("full=3,store=3,swap=2").says("1 locked exchange in W").says("(cost 2, optimal)");
    for (wrong, message) in [
        ("full", "expected KIND=COST"),
        ("full=", "is not a cost"),
        ("full=0", "is not a cost"),
        ("full=99999999999999999999", "is not a cost"),
        ("full=1,full=2", "given twice"),
        ("lock=1", "there are full, store, swap and loop"),
    ] {
        folder.run(&["fence", "--cost", wrong, "mp.fw"]).exits(2).complains(message);
    }
}

#[test]
fn prices_of_threads_and_lines_decide_where_fences_go() {
    let folder = Folder::new();
    // One side has its fence; the other may have it after either store.
    let text = "shared flag[2], data;\nthread writer {\n  flag[0] = 1;\n  data = 1;\n  if (flag[1] == 0) { cs: skip; }\n}\n\
                thread reader { flag[1] = 1; fence; if (flag[0] == 0) { cs: skip; } }\n\
                never writer@cs && reader@cs;\n";
    folder.write("sides.fw", text);
    let fence = |price: &[&str]| {
        let prices = price.iter().flat_map(|price| ["--price", price]);
        folder.run(&["fence", "-q", "sides.fw"].into_iter().chain(prices).collect::<Vec<_>>())
    };
    fence(&[]).exits(0).says("line 3, after `flag[0] = 1`: fence (writer)");
    fence(&["3=2"]).exits(0).says("line 4, after `data = 1`: fence (writer)").says("(cost 3, optimal)");
    fence(&["3=2", "writer=5"]).exits(0).says("line 4").says("(cost 15, optimal)");
    fence(&["3=never"]).exits(0).says("line 4, after `data = 1`");
    fence(&["reader=never"]).exits(0).says("line 3");
    fence(&["writer=never"]).exits(1).says("no fence helps at these points under TSO");
    fence(&["nobody=2"]).exits(2).complains("--price: there is no thread `nobody`");
    fence(&["1=2"]).exits(2).complains("--price: no statement begins in line 1");
    fence(&["writer"]).exits(2).complains("expected WHERE=TIMES");
}

#[test]
fn own_fences_that_are_not_needed_any_more_are_named() {
    let folder = Folder::new();
    let text = SB.replace("x = 1;", "x = 1; let q = 0;\n  fence store;\n");
    folder.write("sb.fw", &text);
    folder.run(&["fence", "-q", "sb.fw"]).exits(0).says("with these, the fence in line 3 is not needed\n");
    let json = folder.run(&["fence", "--format", "json", "sb.fw"]).exits(0).json();
    assert_eq!(json[0]["not_needed_lines"], serde_json::json!([3]));
}

#[test]
fn many_files_and_models_are_answered_in_order() {
    let folder = folder();
    let ran = folder.run(&["fence", "-q", "--model", "all", "mp.fw", "sb.fw"]).exits(0);
    let heads: Vec<&str> = ran.out.lines().filter(|line| !line.starts_with(' ')).collect();
    assert_eq!(heads.len(), 6, "{heads:?}");
    assert!(heads[0].starts_with("mp.fw: no fence is needed: safe under SC"), "{heads:?}");
    assert!(heads[5].starts_with("sb.fw: 1 fence in each of 2 threads makes it safe under PSO"), "{heads:?}");
    let ran = folder.run(&["fence", "mp.fw", "sb.fw", "race.fw"]).exits(1);
    ran.says("3 answers: 1 no fence needed, 1 fences found, 1 no fence helps\n");
    folder.run(&["fence", "--out", "o.fw", "mp.fw", "sb.fw"]).exits(2).complains("one file and one model");
    folder
        .run(&["fence", "--out", "o.fw", "--model", "all", "sb.fw"])
        .exits(2)
        .complains("one file and one model");
    folder.run(&["fence", "--evidence", "ev", "--model", "all", "mp.fw", "sb.fw"]).exits(0);
    assert!(folder.read("ev/sb.pso.fenced.fw").contains("fence;"));
}

#[test]
fn files_that_exist_are_not_replaced_unless_forced() {
    let folder = folder();
    folder.write("out.fw", "something else");
    folder.run(&["fence", "--out", "out.fw", "sb.fw"]).exits(2).complains("out.fw exists; --force");
    assert_eq!(folder.read("out.fw"), "something else");
    folder.run(&["fence", "--out", "sb.fw", "sb.fw"]).exits(2).complains("--force");
    assert_eq!(folder.read("sb.fw"), SB);
    folder.run(&["fence", "--force", "--out", "sb.fw", "sb.fw"]).exits(0);
    folder.run(&["verify", "sb.fw"]).exits(0);
    folder.run(&["fence", "--force", "mp.fw"]).exits(2);
}

#[test]
fn where_nothing_can_be_written_the_answer_is_given_all_the_same() {
    let folder = folder();
    for path in ["no/folder.fw", "sb.fw/inside.fw"] {
        let ran = folder.run(&["fence", "--out", path, "sb.fw"]).exits(2).complains("cannot write");
        ran.says("makes it safe under TSO");
    }
    folder.run(&["fence", "--evidence", "sb.fw", "sb.fw"]).exits(2).complains("cannot write");
    for answer in ["race.fw", "endless.fw"] {
        let args = ["fence", "--engine", "explicit", "--states", "500", "--out", "none.fw", answer];
        assert_ne!(folder.run(&args).code, 0);
    }
    assert!(!folder.list(".").contains(&"none.fw".to_string()), "no answer, no program");
}

#[test]
fn what_a_text_cannot_say_is_refused_and_not_written() {
    let folder = folder();
    // Behind the store it stands in a loop, before the load inside a list of declarations.
    folder.write(
        "list.fw",
        "shared x, y; thread P { let n = 0; while (n < 2) { n = n + 1; x = 1; } let a = 0, b = y; }
         thread Q { let r; y = 1; fence; r = x; } finally !(P.b == 0 && Q.r == 0);",
    );
    let args = ["fence", "--points", "all", "--cost", "loop=10", "--out", "out.fw", "list.fw"];
    let ran = folder.run(&args).exits(2).says("before `b = y`: fence (P)");
    ran.complains("cannot be written between its statements");
    assert!(!folder.list(".").contains(&"out.fw".to_string()));
    folder.write(
        "sb.txt",
        "\
thread a initial q0 final q2 transition q0 q1 write 1 0 transition q1 q2 write 1 1 end
thread b initial q0 final q2 transition q0 q1 read r 1 transition q1 s read p 0
transition s q2 check && == r 1 == p 0 end",
    );
    let args = ["fence", "--model", "pso", "--out", "out.txt", "sb.txt"];
    folder
        .run(&args)
        .exits(2)
        .complains("sb.txt, line 1: a fence cannot be written here")
        .complains("store fences");
    assert!(!folder.list(".").contains(&"out.txt".to_string()));
}

#[test]
fn litmus_tests_have_an_outcome_to_forbid() {
    let folder = folder();
    let test = |quantifier: &str| {
        format!(
            "X86 MP\n{{ }}\n P0         | P1          ;\n MOV [x],$1 | MOV EAX,[y] ;\n MOV [y],$1 | MOV EBX,[x] ;\n\
             {quantifier}\n"
        )
    };
    for quantifier in
        ["exists (1:EAX=1 /\\ 1:EBX=0)", "~exists (1:EAX=1 /\\ 1:EBX=0)", "forall (1:EAX=0 \\/ 1:EBX=1)"]
    {
        folder.write("mp.litmus", test(quantifier));
        folder.run(&["fence", "mp.litmus"]).exits(0).says("no fence is needed");
        folder.run(&["fence", "--force", "--model", "pso", "--out", "out.litmus", "mp.litmus"]).exits(0);
        let row = " MOV [x],$1 | MOV EAX,[y] ;\n";
        let fenced = test(quantifier).replace(row, &format!("{row} SFENCE     |             ;\n"));
        assert_eq!(folder.read("out.litmus"), fenced);
    }
    folder.write("sc.litmus", test("exists (1:EAX=1 /\\ 1:EBX=1)"));
    let ran = folder.run(&["fence", "--evidence", "proofs", "sc.litmus"]).exits(1);
    ran.says("no fence helps: unsafe under SC: ~exists (1:EAX=1 /\\ 1:EBX=1)");
    folder.run(&["check", "proofs/sc.sc.asked.fw", "proofs/sc.sc.asked.trace.txt"]).exits(0);
}

#[test]
fn evidence_holds_of_the_programs_beside_it() {
    let folder = folder();
    for (format, ending) in [("text", "txt"), ("json", "json")] {
        let args = ["fence", "--format", format, "--evidence", "proofs", "sb.fw", "--force"];
        folder.run(&args).exits(0).says("proofs/sb.tso.fenced.fw");
        for (name, kind, proves) in
            [("fenced", "closed", "safe"), ("without-1", "trace", "unsafe"), ("without-2", "trace", "unsafe")]
        {
            let program = format!("proofs/sb.tso.{name}.fw");
            let evidence = format!("proofs/sb.tso.{name}.{kind}.{ending}");
            let ran = folder.run(&["check", &program, &evidence]).exits(0);
            ran.says(&format!("the evidence holds: {proves}"));
        }
    }
    assert_eq!(folder.list("proofs").len(), 9);
    folder.run(&["fence", "--evidence", "other", "race.fw"]).exits(1);
    folder.run(&["check", "race.fw", "other/race.sc.trace.txt"]).exits(0).says("unsafe under SC");
}

#[test]
fn json_has_the_promised_fields() {
    let folder = folder();
    let answer = |args: &[&str]| {
        let ran = folder.run(&[&["fence", "--format", "json"], args].concat());
        assert_eq!(ran.json().len(), 1, "{ran:?}");
        ran.json().remove(0)
    };
    let sb = answer(&["sb.fw"]);
    assert_eq!((&sb["command"], &sb["verdict"], &sb["cost"]), (&"fence".into(), &"safe".into(), &6.into()));
    assert_eq!((&sb["optimal"], &sb["checked"]), (&true.into(), &true.into()));
    assert!(sb["alternatives"].is_null());
    let fence = &sb["fences"][1];
    assert_eq!((&fence["thread"], &fence["line"]), (&"P1".into(), &3.into()));
    assert_eq!((&fence["after"], &fence["kind"]), (&"y = 1".into(), &"full".into()));
    assert!(fence["needed_because"].as_array().is_some_and(|steps| steps.len() > 5), "{fence}");
    let none = answer(&["mp.fw", "--all"]);
    assert_eq!((&none["fences"], &none["alternatives"]), (&serde_json::json!([]), &serde_json::json!([])));
    let race = answer(&["race.fw"]);
    assert_eq!((&race["verdict"], &race["sc_violation"]), (&"unsafe".into(), &true.into()));
    assert!(race["fences"].is_null() && race["trace"].is_array());
    let endless = answer(&["--engine", "explicit", "--states", "50", "endless.fw"]);
    assert_eq!(endless["verdict"], "unknown");
    assert_eq!(endless["reason"], "the limit on states was reached");
    assert_eq!(answer(&["no.fw"])["verdict"], "error");
}

#[test]
fn options_that_do_not_exist_are_named() {
    let folder = folder();
    folder.run(&["fence", "--goal", "fast", "sb.fw"]).exits(2).complains("safe, robust");
    folder.run(&["fence", "--points", "loads", "sb.fw"]).exits(2).complains("stores, all");
    folder.run(&["fence", "--model", "x86", "sb.fw"]).exits(2).complains("sc, tso, pso");
}
