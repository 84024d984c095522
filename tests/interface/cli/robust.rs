//! `robust` and `fence --goal robust`: exit codes, witnesses as evidence, and what is refused.

use super::tool::{ENDLESS, Folder, MP, SB, run};

/// Not robust, but safe: nobody minds.
const HARMLESS: &str = "\
shared x, y;
thread P0 { let a; x = 1; a = y; }
thread P1 { let b; y = 1; b = x; }
finally x == 1;
";

/// Counts for ever, looks at the number, and has a store and a load that might matter, and do not.
pub const COUNTING: &str = "\
shared x, y;
thread P { let n, a; loop { n = n + 1; if (n == 0) { skip; } x = 1; a = y; } }
thread Q { let b; b = x; if (b == 2) { y = 1; b = x; } }
";

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP).write("endless.fw", ENDLESS);
    folder.write("harmless.fw", HARMLESS).write("counting.fw", COUNTING);
    folder
}

#[test]
fn exit_codes_tell_the_answer_and_the_worst_wins() {
    let folder = folder();
    folder.run(&["robust", "mp.fw"]).exits(0).says("mp.fw: robust against TSO");
    folder.run(&["robust", "sb.fw"]).exits(1).says("sb.fw: not robust against TSO: P0 can delay `x = 1`");
    folder
        .run(&["robust", "--states", "1000", "counting.fw"])
        .exits(3)
        .says("the limit on states was reached");
    folder.run(&["robust", "no.fw"]).exits(2).complains("there is no such file");
    let all = folder.run(&["robust", "-q", "--states", "1000", "mp.fw", "counting.fw", "sb.fw"]).exits(1);
    assert_eq!(all.out.lines().count(), 3, "{all:?}");
    folder.run(&["robust", "-q", "--states", "1000", "mp.fw", "counting.fw"]).exits(3);
    folder.run(&["robust", "-q", "mp.fw", "no.fw", "sb.fw"]).exits(2).says("not robust");
    let walked = folder.run(&["robust", "-q", "--states", "1000", "."]).exits(1);
    assert_eq!(walked.out.lines().count(), 5, "{walked:?}");
    let piped = run(folder.path(), &["robust", "-q", "-"], SB.as_bytes()).exits(1);
    piped.says("<stdin>: not robust");
}

#[test]
fn whatever_the_data_a_text_without_a_cycle_is_robust() {
    let folder = folder();
    // Nothing bounds the counter, and the first step would already be too much.
    let ran = folder.run(&["robust", "--states", "1", "endless.fw"]).exits(0);
    ran.says("endless.fw: robust against TSO").says("whatever the data");
    // A witness is found although the states have no end.
    let text = "shared x, y; thread P { let n, a; loop { n = n + 1; x = n; a = y; } }
                thread Q { let b; y = 1; b = x; }";
    folder.write("found.fw", text);
    folder.run(&["robust", "-q", "--states", "1000", "found.fw"]).exits(1);
}

#[test]
fn every_model_is_decided() {
    let folder = folder();
    folder
        .run(&["robust", "--model", "sc", "sb.fw"])
        .exits(0)
        .says("robust against SC: nothing is ever delayed");
    folder.run(&["robust", "--model", "pso", "sb.fw"]).exits(1).says("not robust against PSO");
    // Stores overtake stores under PSO only.
    folder.write("mp.fw", super::tool::MP);
    let ran = folder.run(&["robust", "--model", "all", "--evidence", "proofs", "mp.fw"]).exits(1);
    ran.says("mp.fw: robust against TSO").says("mp.fw: not robust against PSO: W can delay");
    for (kind, says) in [("tso.robust", "robust against TSO"), ("pso.witness", "not robust against PSO")] {
        folder.run(&["check", "mp.fw", &format!("proofs/mp.{kind}.txt")]).exits(0).says(says);
    }
    assert!(folder.read("proofs/mp.pso.witness.svg").contains("store it is delayed past"));
    // Neither holds of the other model.
    for (kind, from, to) in [("tso.robust", " tso ", " pso "), ("pso.witness", " pso ", " tso ")] {
        folder.write("other.txt", folder.read(&format!("proofs/mp.{kind}.txt")).replacen(from, to, 1));
        folder.run(&["check", "mp.fw", "other.txt"]).exits(2).complains("rejected");
    }
    let ran = folder.run(&["fence", "-q", "--goal", "robust", "--model", "pso", "mp.fw"]).exits(0);
    ran.says("1 store fence in W makes it robust against PSO (cost 1, optimal)");
    let ran = folder.run(&["fence", "--goal", "robust", "--model", "sc", "sb.fw"]).exits(0);
    ran.says("no fence is needed: robust against SC");
    // Against SC there is nothing to check.
    for (model, checked) in [("sc", false), ("tso", true), ("pso", true)] {
        let fence = ["fence", "--goal", "robust", "--format", "json", "--model", model, "mp.fw"];
        let json = folder.run(&fence).exits(0).json().remove(0);
        assert_eq!((&json["verdict"], &json["checked"]), (&"robust".into(), &checked.into()), "{model}");
    }
}

#[test]
fn litmus_tests_are_programs_too() {
    let folder = folder();
    let test = "X86 SB\n{ }\n P0         | P1          ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
                exists (0:EAX=0 /\\ 1:EAX=0)\n";
    folder.write("sb.litmus", test);
    let ran = folder.run(&["robust", "--evidence", "proofs", "sb.litmus"]).exits(1);
    ran.says("P0 can delay `MOV [x],$1` (line 4) past `MOV EAX,[y]` (line 5)");
    folder.run(&["check", "sb.litmus", "proofs/sb.tso.witness.txt"]).exits(0).says("not robust");
    let ran = folder.run(&["fence", "--goal", "robust", "--out", "out.litmus", "sb.litmus"]).exits(0);
    ran.says("Robustness needs 2 fences, your condition needs 2.");
    folder.run(&["robust", "out.litmus"]).exits(0);
}

#[test]
fn json_has_the_promised_fields() {
    let folder = folder();
    let answer = |args: &[&str]| {
        let ran = folder.run(&[&["robust", "--format", "json"], args].concat());
        assert_eq!((ran.json().len(), ran.err.as_str()), (1, ""), "{ran:?}");
        ran.json().remove(0)
    };
    let sb = answer(&["sb.fw"]);
    assert_eq!(
        (&sb["command"], &sb["verdict"], &sb["model"]),
        (&"robust".into(), &"not_robust".into(), &"tso".into())
    );
    assert_eq!((&sb["checked"], &sb["cause_step"]), (&true.into(), &1.into()));
    assert_eq!(sb["trace"].as_array().map(Vec::len), Some(6), "{sb}");
    let witness = &sb["witness"];
    assert_eq!((&witness["thread"], &witness["store"]), (&"P0".into(), &0.into()));
    assert_eq!((&witness["load"], &witness["drain"]), (&1.into(), &5.into()));
    assert_eq!(witness["chain"], serde_json::json!([2, 4]));
    let links: Vec<&str> = witness["cycle"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|entry| entry["link"].as_str())
        .collect();
    assert_eq!(links, ["po", "fr", "po", "fr"]);
    let mp = answer(&["mp.fw"]);
    assert_eq!((&mp["verdict"], &mp["witness"]), (&"robust".into(), &serde_json::Value::Null));
    assert_eq!((&mp["delays"], &mp["suspects"]), (&0.into(), &0.into()));
    let unknown = answer(&["--states", "500", "counting.fw"]);
    assert_eq!((&unknown["verdict"], &unknown["checked"]), (&"unknown".into(), &false.into()));
    assert_eq!(unknown["reason"], "the limit on states was reached");
    assert_eq!(answer(&["no.fw"])["verdict"], "error");
}

#[test]
fn witnesses_are_written_with_pictures_and_hold() {
    let folder = folder();
    for (format, ending) in [("text", "txt"), ("json", "json")] {
        let args = ["robust", "--evidence", "proofs", "--format", format, "sb.fw", "mp.fw"];
        folder.run(&args).exits(1).says("proofs/sb.tso.witness.svg");
        let evidence = format!("proofs/sb.tso.witness.{ending}");
        let ran = folder.run(&["check", "sb.fw", &evidence]).exits(0);
        ran.says("sb.fw: the evidence holds: not robust against TSO").says("happens-before has a cycle");
        let json = folder.run(&["check", "--format", "json", "sb.fw", &evidence]).exits(0).json();
        assert_eq!((&json[0]["verdict"], &json[0]["witness"]["drain"]), (&"not_robust".into(), &5.into()));
    }
    let files = [
        "mp.tso.robust.json",
        "mp.tso.robust.txt",
        "sb.tso.witness.dot",
        "sb.tso.witness.json",
        "sb.tso.witness.svg",
        "sb.tso.witness.txt",
    ];
    assert_eq!(folder.list("proofs"), files, "and a proof for a program that is robust");
    let svg = folder.read("proofs/sb.tso.witness.svg");
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("<rect").count(), 5, "a box a node, and the background: {svg}");
    assert_eq!(svg.matches(" on-cycle\"><path").count(), 4, "{svg}");
    assert!(!svg.contains("href") && !svg.contains("<script"), "it needs nothing else: {svg}");
    let dot = folder.read("proofs/sb.tso.witness.dot");
    assert_eq!(dot.matches("color=red, fontcolor=red").count(), 4, "{dot}");
    folder.run(&["check", "sb.fw", "proofs/sb.tso.witness.txt", "--smtlib", "out.smt2"]).exits(2);
}

#[test]
fn a_tampered_witness_is_rejected() {
    let folder = folder();
    folder.run(&["robust", "--evidence", "proofs", "sb.fw"]).exits(1);
    let whole = folder.read("proofs/sb.tso.witness.txt");
    let lines: Vec<&str> = whole.lines().collect();
    let check = |text: &str, what: &str| {
        folder.write("broken.txt", text);
        let ran = folder.run(&["check", "sb.fw", "broken.txt"]);
        assert_eq!(ran.code, 2, "{what} was accepted: {ran:?}\n{text}");
        assert!(ran.err.contains("rejected"), "{ran:?}");
    };
    // A line less, with the count made right; two lines exchanged.
    for at in 0..lines.len() - 1 {
        let mut kept: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
        kept.remove(at);
        check(&kept.join("\n"), "a line less");
        let last = kept.len() - 1;
        kept[last] = format!("end {last}");
        check(&kept.join("\n"), &format!("a file without `{}`", lines[at]));
        // The two stores may be issued in either order before the drains, but then nothing is delayed.
        let mut swapped = lines.clone();
        swapped.swap(at, at + 1);
        check(&swapped.join("\n"), &format!("`{}` one line later", lines[at]));
    }
    for (from, to) in [
        ("delay 0 1 5", "delay 0 1 3"),
        ("delay 0 1 5", "delay 2 1 5"),
        ("delay 0 1 5", "delay 0 4 5"),
        ("delay 0 1 5", "delay 0 1 99999999999999999999"),
        ("delay 0 1 5", "delay 0 1 18446744073709551615"),
        (" witness tso ", " witness sc "),
        (" witness tso ", " trace tso "),
        (" witness tso ", " closed-set tso "),
        ("drain 1 1", "drain 1 0"),
        ("drain 1 1", "drain 0 0"),
        ("step 1 0", "step 1 1"),
        ("step 1 0", "step 9 0"),
        ("step 1 0", "step 1 99"),
        ("step 1 0", "step 1 0 7"),
        ("step 0 0", "initial 0 1\nstep 0 0"),
    ] {
        assert!(whole.contains(from), "`{from}` is not in it:\n{whole}");
        let text = whole.replacen(from, to, 1);
        let count = text.lines().count() - 1;
        let text = text.replace(&format!("end {}", lines.len() - 1), &format!("end {count}"));
        check(&text, &format!("`{to}` for `{from}`"));
    }
    folder.run(&["check", "mp.fw", "proofs/sb.tso.witness.txt"]).exits(2).complains("for another program");
    // The same steps are no witness where a fence stands between, whatever the fingerprint says.
    folder.write("fenced.fw", SB.replace("x = 1;", "x = 1; fence;"));
    folder.run(&["robust", "--evidence", "proofs", "fenced.fw"]).exits(1);
    let head = folder.read("proofs/fenced.tso.witness.txt").lines().take(1).collect::<String>();
    let claimed = whole.replace(lines[0], &head);
    folder.write("claimed.txt", claimed);
    folder.run(&["check", "fenced.fw", "claimed.txt"]).exits(2).complains("rejected");
}

#[test]
fn hostile_names_and_texts_stay_texts() {
    let folder = Folder::new();
    let name = "a&b <i>\"q\" 'x'.fw";
    // What a statement says goes into the pictures, with the comments in it.
    let text = "shared x, y;
thread P { let a; x = /* <script>\"&'\\ */ 1; a = /* ]]> --> </svg> \u{202e}ä\u{1b}[2J */ y; }
thread Q { let b; y = 1; while (x < 1 && x > 0 - 1) { b = b & 1; } }
";
    folder.write(name, text);
    folder.run(&["robust", "--evidence", "proofs", name]).exits(1);
    let stem = "a&b <i>\"q\" 'x'";
    let svg = folder.read(&format!("proofs/{stem}.tso.witness.svg"));
    assert!(svg.contains("a&amp;b &lt;i&gt;&quot;q&quot; &#39;x&#39;.fw is not robust"), "{svg}");
    assert!(svg.contains("&lt;script&gt;&quot;&amp;&#39;\\"), "{svg}");
    for raw in ["<i>", "<script", "]]>", "-->", "\u{1b}"] {
        assert!(!svg.contains(raw), "`{raw}` in {svg}");
    }
    assert_eq!(svg.matches("</svg>").count(), 1);
    let dot = folder.read(&format!("proofs/{stem}.tso.witness.dot"));
    assert!(dot.contains("a&b <i>\\\"q\\\" 'x'.fw"), "{dot}");
    folder.run(&["check", name, &format!("proofs/{stem}.tso.witness.txt")]).exits(0);
}

#[test]
fn fences_for_robustness_are_compared_with_those_for_safety() {
    let folder = folder();
    let fence = |args: &[&str]| folder.run(&[&["fence", "-q", "--goal", "robust"], args].concat());
    let ran = fence(&["harmless.fw"]).exits(0);
    ran.says("1 fence in each of 2 threads makes it robust against TSO (cost 6, optimal)")
        .says("Robustness needs 2 fences, your property needs none.");
    fence(&["sb.fw"]).exits(0).says("Robustness needs 2 fences, your property needs 2.");
    fence(&["mp.fw"]).exits(0).says("no fence is needed: robust against TSO");
    fence(&["--states", "1000", "counting.fw"]).exits(3).says("the limit on states was reached");
    folder.write("silent.fw", SB.lines().take(3).collect::<Vec<_>>().join("\n"));
    fence(&["silent.fw"]).exits(0).says("nothing is claimed of the program, so safety needs none");
    folder.write("race.fw", HARMLESS.replace("x == 1", "x == 2"));
    fence(&["race.fw"])
        .exits(0)
        .says("no fence makes the program safe, for your property fails under SC too");
    // The text shows that it is robust, but safety is a question about a counter without end.
    folder.write("text.fw", "shared x, y; thread P { let n; loop { n = n + 1; x = n; } } never x == 0 - 1;");
    let ran = fence(&["--engine", "explicit", "--states", "500", "text.fw"]).exits(0);
    ran.says("how many your property needs is not known: the limit on states was reached");
}

#[test]
fn the_options_of_fence_work_for_robustness() {
    let folder = folder();
    let fence = |args: &[&str]| folder.run(&[&["fence", "--goal", "robust"], args].concat());
    fence(&["--out", "out.fw", "harmless.fw"]).exits(0);
    let fenced = HARMLESS.replace("x = 1; a", "x = 1; fence; a").replace("y = 1;", "y = 1; fence;");
    assert_eq!(folder.read("out.fw"), fenced);
    folder.run(&["robust", "out.fw"]).exits(0);
    fence(&["--out", "out.fw", "harmless.fw"]).exits(2).complains("--force");
    let printed = fence(&["--out", "-", "harmless.fw"]).exits(0);
    assert_eq!(printed.out, fenced);
    let all = fence(&["-q", "--all", "--points", "all", "harmless.fw"]).exits(0);
    assert_eq!(all.out.matches("or, at the same cost:").count(), 3, "{all:?}");
    let swaps = fence(&["-q", "--cost", "full=5,swap=2", "harmless.fw"]).exits(0);
    swaps.says("1 locked exchange in each of 2 threads makes it robust").says("(cost 4, optimal)");
    let ran = fence(&["--evidence", "proofs", "harmless.fw"]).exits(0);
    ran.says("proofs/harmless.tso.robust.fw").says("checked: with the fences, ");
    folder.run(&["robust", "proofs/harmless.tso.robust.fw"]).exits(0);
    let (program, proof) = ("proofs/harmless.tso.robust.fw", "proofs/harmless.tso.robust.robust.txt");
    folder.run(&["check", program, proof]).exits(0).says("the evidence holds: robust against TSO");
    folder.run(&["check", "harmless.fw", proof]).exits(2).complains("for another program");
    let other = folder.read(proof).replace(" robust tso ", " robust pso ");
    folder.write("other.txt", other);
    // That is another claim, which is true as well.
    folder.run(&["check", program, "other.txt"]).exits(0).says("the evidence holds: robust against PSO");
    for without in ["robust-without-1", "robust-without-2"] {
        let file = |ending: &str| format!("proofs/harmless.tso.{without}.{ending}");
        folder.run(&["check", &file("fw"), &file("witness.txt")]).exits(0).says("not robust");
        assert!(folder.read(&file("witness.svg")).contains("robust-without"));
    }
    assert_eq!(folder.list("proofs").len(), 10);
    let json = fence(&["--format", "json", "--all", "harmless.fw"]).exits(0).json().remove(0);
    assert_eq!((&json["command"], &json["goal"]), (&"fence".into(), &"robust".into()));
    assert_eq!((&json["verdict"], &json["cost"]), (&"robust".into(), &6.into()));
    assert_eq!(json["checked"], true);
    let needless = fence(&["--format", "json", "mp.fw"]).exits(0).json().remove(0);
    assert_eq!((&needless["verdict"], &needless["checked"]), (&"robust".into(), &true.into()));
    let unknown = fence(&["--format", "json", "--states", "1000", "counting.fw"]).exits(3).json().remove(0);
    assert_eq!((&unknown["verdict"], &unknown["checked"]), (&"unknown".into(), &false.into()));
    fence(&["--explain-plan", "mp.fw"]).exits(2).complains("robustness is decided without them");
    assert_eq!((&json["alternatives"], &json["optimal"]), (&serde_json::json!([]), &true.into()));
    assert_eq!((&json["safety"]["verdict"], &json["safety"]["fences"]), (&"safe".into(), &0.into()));
    let first = &json["fences"][0];
    assert_eq!((&first["thread"], &first["after"]), (&"P0".into(), &"x = 1".into()));
    assert!(first["needed_because"].as_array().is_some_and(|steps| steps.len() == 7), "{first}");
    assert_eq!(first["witness"]["thread"], "P0");
}
