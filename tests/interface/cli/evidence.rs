//! Evidence: written, checked from its file, and rejected once anything in it is changed.

use super::tool::{ENDLESS, Folder, MP, SB};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP);
    folder
}

#[test]
fn evidence_is_written_in_the_form_of_the_report_and_holds() {
    let folder = folder();
    for (format, ending) in [("text", "txt"), ("json", "json")] {
        let verify =
            ["verify", "--evidence", "proofs", "--model", "all", "--format", format, "sb.fw", "mp.fw"];
        folder.run(&verify).exits(1).says("proofs");
        for (file, proves) in [
            ("sb.sc.closed", "safe"),
            ("sb.tso.trace", "unsafe"),
            ("sb.pso.trace", "unsafe"),
            ("mp.tso.closed", "safe"),
        ] {
            let program = format!("{}.fw", &file[..2]);
            let evidence = format!("proofs/{file}.{ending}");
            folder
                .run(&["check", &program, &evidence])
                .exits(0)
                .says(&format!("the evidence holds: {proves}"));
            let ran = folder.run(&["check", "--format", "json", &program, &evidence]).exits(0);
            assert_eq!(ran.json()[0]["verdict"], proves);
        }
    }
    assert_eq!(folder.list("proofs").len(), 12, "nothing else was left behind");
    let ran = folder.run(&["check", "sb.fw", "proofs/sb.tso.trace.txt"]).exits(0);
    ran.says("still in its buffer")
        .says("P0's store to x (line 2) was still in its buffer when P0 read y (line 2)");
}

/// That no final state of a litmus test is missing is evidence like any other.
#[test]
fn all_final_states_of_a_litmus_test_are_evidence() {
    let folder = Folder::new();
    let test = "X86 SB\n{ }\n P0 | P1 ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
                exists (0:EAX=0 /\\ 1:EAX=0)\n";
    folder.write("sb.litmus", test);
    for (format, ending) in [("text", "txt"), ("json", "json")] {
        let verify = ["verify", "--evidence", "proofs", "--model", "all", "--format", format, "sb.litmus"];
        folder.run(&verify).exits(1).says(&format!("proofs/sb.tso.outcomes.{ending}"));
        for (model, proves, verdict) in
            [("sc", "does not hold", "unsafe"), ("tso", "holds", "safe"), ("pso", "holds", "safe")]
        {
            let evidence = format!("proofs/sb.{model}.outcomes.{ending}");
            let ran = folder.run(&["check", "sb.litmus", &evidence]).exits(0);
            ran.says(&format!("the evidence holds: the condition {proves} under {}", model.to_uppercase()))
                .says("none that a final state needs is missing");
            let json = folder.run(&["check", "--format", "json", "sb.litmus", &evidence]).exits(0).json();
            assert_eq!((&json[0]["verdict"], &json[0]["model"]), (&verdict.into(), &model.into()));
            let count = if model == "sc" { 3 } else { 4 };
            assert_eq!(json[0]["outcomes"].as_array().map(Vec::len), Some(count), "{json:?}");
            assert_eq!(json[0]["complete"], true);
        }
    }
    // A final state less, and one more.
    let whole = folder.read("proofs/sb.tso.outcomes.txt");
    let lines = whole.lines().count() - 1;
    let end = |count: usize| format!("end {count}");
    let check = |text: String| {
        folder.write("broken.txt", text);
        let ran = folder.run(&["check", "sb.litmus", "broken.txt"]).exits(2);
        ran.complains("the final states listed are not those of the set");
    };
    let first = whole.lines().find(|line| line.starts_with("final 0 0")).expect("a final state");
    check(whole.replace(&format!("{first}\n"), "").replace(&end(lines), &end(lines - 1)));
    check(whole.replace(first, &format!("{first}\nfinal 0 7")).replace(&end(lines), &end(lines + 1)));
    // One that is cut short proves nothing about all of them.
    folder.write("loop.litmus", "X86 L\n{ }\n P0 ;\n L: ;\n INC EAX ;\n JMP L ;\nexists (0:EAX=0)\n");
    let ran = folder.run(&["verify", "--evidence", "more", "--states", "50", "loop.litmus"]).exits(3);
    ran.says("Incomplete: the limit on states was reached");
    assert_eq!(folder.list("more").len(), 0);
    let json = folder.run(&["verify", "--format", "json", "--states", "50", "loop.litmus"]).exits(3).json();
    assert_eq!((&json[0]["complete"], &json[0]["holds"]), (&false.into(), &serde_json::Value::Null));
}

#[test]
fn evidence_for_another_program_or_none_at_all_is_rejected() {
    let folder = folder();
    folder.run(&["verify", "--evidence", "proofs", "sb.fw"]).exits(1);
    let check = |program, evidence| folder.run(&["check", program, evidence]).exits(2);
    check("mp.fw", "proofs/sb.tso.trace.txt").complains("evidence for another program");
    check("sb.fw", "proofs").complains("this is a folder");
    check("sb.fw", "no.txt").complains("there is no such file");
    check("sb.fw", "sb.fw").complains("rejected");
    folder.write("empty.txt", "");
    check("sb.fw", "empty.txt").complains("rejected");
    folder.write("garbage.txt", b"\xff\xfe\x00");
    check("sb.fw", "garbage.txt").complains("rejected");
}

/// Every line of an evidence file, left out, is missed; and so is the wrong model.
fn tampered(program: &str, model: &str, file: &str) {
    let folder = folder();
    folder.run(&["verify", "--evidence", "proofs", "--model", model, program]);
    let file = format!("proofs/{file}");
    let whole = folder.read(&file);
    let lines: Vec<&str> = whole.lines().collect();
    let check = |text: &str, what: &str| {
        folder.write("broken.txt", text);
        let ran = folder.run(&["check", program, "broken.txt"]);
        assert_eq!(ran.code, 2, "{what} was accepted: {ran:?}\n{text}");
        let json = folder.run(&["check", "--format", "json", program, "broken.txt"]).exits(2).json();
        assert_eq!(json[0]["verdict"], "error");
    };
    for gone in 0..lines.len() {
        let mut kept: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
        kept.remove(gone);
        check(&kept.join("\n"), "a file with a line less");
        // A dictionary with less in it may still do: what is missing is found on the way.
        let dictionary = ["global", "local"].iter().any(|word| lines[gone].starts_with(word));
        if gone + 1 < lines.len() && !dictionary {
            // The same with the count in the last line made right.
            let last = kept.len() - 1;
            kept[last] = format!("end {last}");
            check(&kept.join("\n"), &format!("a file without `{}`", lines[gone]));
        }
    }
    for (at, cut) in whole.char_indices().filter(|(at, _)| at % 37 == 0) {
        check(&whole[..at], &format!("a file cut at {at} ({cut:?})"));
    }
}

#[test]
fn a_tampered_trace_is_rejected() {
    tampered("sb.fw", "tso", "sb.tso.trace.txt");
    tampered("mp.fw", "pso", "mp.pso.trace.txt");
}

#[test]
fn a_tampered_certificate_is_rejected() {
    tampered("mp.fw", "sc", "mp.sc.closed.txt");
}

#[test]
fn a_trace_of_a_weaker_model_does_not_hold_under_a_stronger_one() {
    let folder = folder();
    folder.run(&["verify", "--evidence", "proofs", "--model", "pso", "mp.fw"]).exits(1);
    let claimed = folder.read("proofs/mp.pso.trace.txt").replacen(" pso ", " tso ", 1);
    folder.write("claimed.txt", claimed);
    folder.run(&["check", "mp.fw", "claimed.txt"]).exits(2).complains("rejected");
}

#[test]
fn certificates_are_checked_in_little_memory_too() {
    let folder = folder();
    folder.run(&["verify", "--evidence", "proofs", "mp.fw"]).exits(0);
    folder.run(&["check", "--memory", "1", "mp.fw", "proofs/mp.tso.closed.txt"]).exits(0);
}

#[test]
fn evidence_that_says_something_else_is_not_replaced_unless_forced() {
    let folder = folder();
    let verify = ["verify", "--evidence", "proofs", "mp.fw"];
    folder.run(&verify).exits(0);
    folder.run(&verify).exits(0);
    let file = "proofs/mp.tso.closed.txt";
    folder.write(file, "something else");
    folder.run(&verify).exits(2).complains("--force");
    assert_eq!(folder.read(file), "something else");
    folder.run(&[&verify[..], &["--force"]].concat()).exits(0);
    folder.run(&["check", "mp.fw", file]).exits(0);
    assert_eq!(folder.list("proofs").len(), 1);
}

#[test]
fn a_folder_that_cannot_be_written_is_an_error() {
    let folder = folder();
    folder.write("file", "not a folder");
    for path in ["file", "file/inside"] {
        folder.run(&["verify", "--evidence", path, "mp.fw"]).exits(2).complains("cannot write");
    }
}

#[test]
fn inputs_of_the_same_name_do_not_overwrite_each_other() {
    let folder = folder();
    folder.write("a/p.fw", SB).write("b/p.fw", MP);
    folder.run(&["verify", "--evidence", "proofs", "a", "b"]).exits(1);
    assert_eq!(folder.list("proofs"), ["a_p.fw.tso.trace.txt", "b_p.fw.tso.closed.txt"]);
}

#[test]
fn nothing_is_written_without_an_answer() {
    let folder = folder();
    folder.write("endless.fw", ENDLESS);
    folder
        .run(&["verify", "--evidence", "proofs", "--engine", "explicit", "--states", "50", "endless.fw"])
        .exits(3);
    assert_eq!(folder.list("proofs"), [""; 0]);
}

#[test]
fn evidence_of_robustness_is_written_and_checked() {
    let folder = folder();
    let verify = ["verify", "--evidence", "proofs", "--engine", "lazy", "--model", "tso", "mp.fw"];
    folder.run(&verify).exits(0).says("weak memory does not matter");
    let file = "proofs/mp.tso.robust-set.txt";
    folder.run(&["check", "mp.fw", file]).exits(0).says("the evidence holds: safe");
    // The same states do not make a program robust that is not, and other claims are not shown by them.
    let whole = folder.read(file);
    folder.write("claim.txt", whole.replacen("robust-set", "closed-set", 1).as_bytes());
    folder.run(&["check", "mp.fw", "claim.txt"]).exits(2).complains("rejected");
    folder.write("model.txt", whole.replacen(" tso ", " pso ", 1).as_bytes());
    folder
        .run(&["check", "mp.fw", "model.txt"])
        .exits(2)
        .complains("robustness says nothing about this memory model");
    // Robustness itself is shown by states in which values that decide nothing are 0.
    folder.write("robust.txt", whole.replacen("robust-set", "robust", 1).as_bytes());
    folder.run(&["check", "mp.fw", "robust.txt"]).exits(2).complains("rejected");
    folder.run(&["check", "mp.fw", file, "--smtlib", "out.smt2"]).exits(2).complains("SMT-LIB");
    folder.run(&["robust", "--evidence", "proofs", "mp.fw"]).exits(0).says("mp.tso.robust.txt");
    folder.run(&["check", "mp.fw", "proofs/mp.tso.robust.txt"]).exits(0).says("robust against TSO");
}
