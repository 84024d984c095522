//! `--report`: the file, and what it may replace. What is in it, `tests/interface/html.rs` looks at.

use super::tool::{Folder, MP, SB};

const BEGINNING: &str = "<!DOCTYPE html>\n<!-- A report by fencewright -->\n";

#[test]
fn a_report_is_written_beside_the_answers() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP);
    let ran = folder.run(&["verify", "--format", "json", "--report", "out.html", "sb.fw", "mp.fw"]).exits(1);
    assert_eq!(ran.json().len(), 2, "standard output holds nothing else: {ran:?}");
    assert_eq!(ran.err, "report: out.html\n");
    let report = folder.read("out.html");
    assert!(report.starts_with(BEGINNING));
    assert_eq!(report.matches("<section class=\"answer\"").count(), 2);
    let ran = folder.run(&["fence", "--quiet", "--report", "fence.html", "sb.fw"]).exits(0);
    assert_eq!(ran.err, "");
    assert!(folder.read("fence.html").contains("x = 1; fence;"), "the change is shown");
    folder.run(&["fence", "--out", "-", "--report", "fence.html", "sb.fw"]).exits(0).says("fence;");
}

#[test]
fn proofs_of_every_kind_tell_what_they_know() {
    let folder = Folder::new();
    folder.write("ticket.fw", include_str!("../../../corpus/ticket_lock.fw"));
    folder.write("peterson.fw", include_str!("../../../corpus/peterson_fenced.fw"));
    let told = [
        ("ticket.fw", "cegar", "<li>owner &lt; next</li>"),
        ("ticket.fw", "gaps", "<li>P1 is never at cs</li>"),
        (
            "peterson.fw",
            "explicit",
            "<h4>At all times</h4>\n<ul class=\"facts\"><li>flag[0], flag[1] and turn are 0 or 1</li></ul>",
        ),
        ("peterson.fw", "lazy", "says nothing about single places"),
    ];
    for (file, engine, expected) in told {
        folder.run(&["verify", "--engine", engine, "--report", "out.html", file]).exits(0);
        let report = folder.read("out.html");
        assert!(report.contains(expected), "{engine} of {file} says `{expected}`");
        let table = report.contains("<table class=\"known\">");
        assert_eq!(table, engine != "lazy", "{engine} of {file}");
    }
}

#[test]
fn our_reports_are_replaced_and_other_files_only_by_force() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mine.html", "<!DOCTYPE html>\n<p>mine</p>").write("short", "<");
    for command in ["verify", "fence"] {
        folder.run(&[command, "--report", "new.html", "sb.fw"]);
        folder.run(&[command, "--report", "new.html", "sb.fw"]).complains("report: new.html");
        for name in ["mine.html", "short", "sb.fw"] {
            let before = folder.read(name);
            let ran = folder.run(&[command, "--report", name, "sb.fw"]).exits(2);
            assert_eq!(ran.out, "", "it is said before the work begins");
            ran.complains(&format!("{name} exists and is no report of ours; --force replaces it"));
            assert_eq!(folder.read(name), before);
        }
    }
    folder.run(&["verify", "--force", "--report", "mine.html", "sb.fw"]).exits(1);
    assert!(folder.read("mine.html").starts_with(BEGINNING));
    assert_eq!(folder.list(""), ["mine.html", "new.html", "sb.fw", "short"], "nothing else is left behind");
}

#[test]
fn places_where_no_report_can_be_are_named_before_the_work_begins() {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("folder/x", "");
    let cases = [
        ("nowhere/out.html", "cannot write nowhere/out.html: there is no such folder"),
        ("folder", "cannot write folder: this is a folder"),
        ("-", "a report needs the name of a file"),
    ];
    for (name, message) in cases {
        let ran = folder.run(&["verify", "--report", name, "sb.fw"]).exits(2).complains(message);
        assert_eq!(ran.out, "");
    }
    folder.run(&["verify", "--force", "sb.fw"]).exits(2).complains("--report");
}

#[test]
fn programs_without_an_answer_are_in_the_report_too() {
    let folder = Folder::new();
    folder.write("bad.fw", "shared x, x; thread P { skip; }").write("sb.fw", SB);
    folder.run(&["verify", "--report", "out.html", "bad.fw", "sb.fw", "gone.fw"]).exits(2);
    let report = folder.read("out.html");
    assert_eq!(report.matches("<section class=\"answer\"").count(), 3);
    for part in ["There is no such file.", "1 error.", "declared twice", "unsafe under TSO"] {
        assert!(report.contains(part), "{part}");
    }
    folder.run(&["fence", "--report", "bad.html", "bad.fw"]).exits(2);
    assert!(folder.read("bad.html").contains("declared twice"));
}
