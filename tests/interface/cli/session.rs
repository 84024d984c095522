//! Sessions: interactive walks through a pipe, interrupts, several threads, generated texts.

use super::golden::normal;
use super::tool::{ENDLESS, Folder, MP, SB, command, run};

fn folder() -> Folder {
    let folder = Folder::new();
    folder.write("sb.fw", SB);
    folder
}

#[test]
fn a_violation_can_be_reached_step_by_step_and_undone() {
    let folder = folder();
    let session = |input: &str| run(folder.path(), &["run", "-i", "sb.fw"], input.as_bytes());
    // P0 stores and loads, P1 stores and loads, then both buffers drain.
    let ran = session("1\n1\n2\n2\n1\n1\nq\n").exits(1);
    ran.says("buffer: x=1").says("violated: finally").says("all threads have ended");
    session("1\n1\n2\n2\n1\n1\nu\nq\n").exits(0);
    session("1\n1\n2\n2\n1\n1\nr\n").exits(0).says("after 6 steps");
}

#[test]
fn the_end_of_input_and_nonsense_end_nothing_badly() {
    let folder = folder();
    let session = |input: &[u8]| run(folder.path(), &["run", "-i", "sb.fw"], input);
    session(b"").exits(0).says("after 0 steps");
    session(b"u\n").exits(0).says("nothing to undo");
    session(b"0\n99\n-1\n1 2 3\nwhat\n\xff\xfe\n")
        .exits(0)
        .says("there is no step 99")
        .says("not understood");
    session("9".repeat(200_000).as_bytes()).exits(0);
    session(b"?\nt\n").exits(0).says("undo the last step").says("start");
}

#[test]
fn values_are_chosen_at_the_start_and_on_the_way() {
    let folder = Folder::new();
    folder.write("any.fw", "shared x = any in 3..6; thread P { let r; r = any; x = r; } never x == 77;");
    let session =
        |input: &str| run(folder.path(), &["run", "-i", "--model", "sc", "any.fw"], input.as_bytes());
    session("9\n4\n")
        .exits(0)
        .says("x starts at (3 to 5) [3]?")
        .says("not one of these values: 9")
        .says("x=4");
    session("\n1 77\n1\n").exits(1).says("violated: never x == 77");
    session("\n1\n78\n1\n").exits(0).says("choose (any integer)").says("x=78");
    session("\n1\n").exits(0);
}

#[test]
fn the_same_seed_walks_the_same_way() {
    let folder = folder();
    let walk = |seed: &str| folder.run(&["run", "--seed", seed, "--format", "json", "sb.fw"]);
    assert_eq!(walk("3"), walk("3"));
    let different = (0..20).map(|seed| walk(&seed.to_string()).out).collect::<std::collections::HashSet<_>>();
    assert!(different.len() > 5);
    let found = folder.run(&["run", "--runs", "1000", "--format", "json", "sb.fw"]).exits(1);
    assert_eq!(found.json()[0]["outcome"], "violated");
    folder
        .run(&["run", "--runs", "100", "--model", "sc", "sb.fw"])
        .exits(0)
        .says("100 walks under SC, nothing violated");
}

#[test]
fn answers_do_not_depend_on_the_number_of_threads() {
    let folder = Folder::new();
    for number in 0..12 {
        let text = [SB, MP, "shared x;\nthread P { y = 1; }\n"][number % 3];
        folder.write(&format!("programs/{number:02}.fw"), text);
    }
    for format in ["text", "json"] {
        let verify = |threads| {
            let args = ["verify", "--model", "all", "--format", format, "--threads", threads, "programs"];
            let ran = folder.run(&args).exits(2);
            (normal(&ran.out), normal(&ran.err))
        };
        assert_eq!(verify("1"), verify("4"));
    }
}

#[test]
fn json_is_one_object_a_line_with_the_documented_fields() {
    let folder = folder();
    folder.write("mp.fw", MP).write("endless.fw", ENDLESS).write("bad.fw", "shared");
    let args = [
        "verify",
        "--engine",
        "explicit",
        "--format",
        "json",
        "--states",
        "1000",
        "sb.fw",
        "mp.fw",
        "endless.fw",
        "bad.fw",
    ];
    let ran = folder.run(&args).exits(2);
    assert_eq!(ran.err, "");
    let objects = ran.json();
    let verdicts: Vec<_> = objects.iter().map(|object| object["verdict"].clone()).collect();
    assert_eq!(verdicts, ["unsafe", "safe", "unknown", "error"]);
    let fields = ["schema", "command", "file", "model", "verdict", "engine", "reason", "checked"];
    for object in &objects {
        for field in fields.iter().chain(&["violation", "sc_violation", "trace", "stats"]) {
            assert!(object.get(*field).is_some(), "{field} is missing in {object}");
        }
        assert_eq!(object["schema"], "fencewright/1");
    }
    assert_eq!(objects[0]["sc_violation"], false);
    let fields = ["seconds", "states", "peak_mb", "k", "predicates", "refinements", "contexts"];
    assert!(fields.iter().all(|field| objects[0]["stats"].get(*field).is_some()));
    let step = &objects[0]["trace"][0];
    assert_eq!((&step["thread"], &step["event"]), (&"P0".into(), &"store".into()));
    assert_eq!((&step["variable"], &step["value"], &step["line"]), (&"x".into(), &1.into(), &2.into()));
    assert_eq!(objects[3]["diagnostics"][0]["line"], 1);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_work_and_still_reports() {
    interrupted_by("kill -INT $0");
}

/// As `timeout` does: it asks the process and then its group.
#[cfg(unix)]
#[test]
fn two_requests_at_once_are_one() {
    interrupted_by("kill -TERM $0; sleep 0.02; kill -TERM $0");
}

#[cfg(unix)]
fn interrupted_by(signals: &str) {
    use std::io::Read;
    use std::process::{Command, Stdio};
    let folder = Folder::new();
    folder.write("endless.fw", ENDLESS);
    let mut child = command(folder.path())
        .args(["verify", "--engine", "explicit", "--evidence", "proofs", "endless.fw"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("the binary starts");
    // The folder is made after the handler is set: from then on an interrupt is heard.
    while !folder.path().join("proofs").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // The second request may come when the process has ended.
    let sent = Command::new("sh").args(["-c", &format!("{signals}; true"), &child.id().to_string()]).status();
    assert!(sent.is_ok_and(|status| status.success()));
    let mut out = String::new();
    child.stdout.take().expect("piped").read_to_string(&mut out).expect("text");
    assert_eq!(child.wait().expect("it ends").code(), Some(3), "{out}");
    assert!(out.is_empty() || out.contains("unknown under TSO: interrupted"), "{out}");
    assert_eq!(folder.list("proofs"), [""; 0]);
}

#[test]
fn completions_and_man_pages_come_from_the_definitions() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        folder.run(&["completions", shell]).exits(0).says("verify").says("input-format");
    }
    folder.run(&["man"]).exits(0).says(".TH fencewright 1");
    folder.run(&["man", "--out", "pages"]).exits(0);
    assert!(folder.list("pages").contains(&"fencewright-verify.1".to_string()));
}

#[test]
fn what_show_prints_can_be_read_again() {
    let folder = folder();
    let shown = folder.run(&["show", "sb.fw"]).exits(0).out;
    let again = run(folder.path(), &["show", "-"], shown.as_bytes()).exits(0).out;
    assert_eq!(shown, again);
    run(folder.path(), &["verify", "-"], shown.as_bytes()).exits(1);
    folder.run(&["show", "--as", "dot", "sb.fw"]).exits(0).says("digraph");
    let json = folder.run(&["show", "--as", "json", "sb.fw"]).exits(0).json();
    assert_eq!(json[0]["threads"][1]["edges"][0]["event"], "store");
}

#[test]
fn colours_come_when_asked_for() {
    let folder = folder();
    let verify = |color: &str| folder.run(&["verify", "--color", color, "sb.fw"]).exits(1).out;
    assert!(verify("always").contains("\u{1b}["));
    assert!(!verify("auto").contains("\u{1b}["));
    assert!(!verify("never").contains("\u{1b}["));
}
