//! Bad input and tight limits: a clear message and the right exit code, never a panic.

use super::tool::{ENDLESS, Folder, MP, Ran, SB, run};

/// An input that is refused with a message that holds this text.
fn refused(text: impl AsRef<[u8]>, message: &str) -> Ran {
    let folder = Folder::new();
    folder.write("in.fw", text);
    for format in ["text", "json"] {
        for args in [&["verify", "--format", format, "in.fw"][..], &["run", "--format", format, "in.fw"]] {
            let ran = folder.run(args).exits(2);
            let said = format!("{}{}", ran.out, ran.err);
            assert!(said.contains(message), "`{message}` is missing: {ran:?}");
            assert!(!said.contains("bug"), "{ran:?}");
            if format == "json" {
                assert_eq!(ran.json().len(), 1, "{ran:?}");
                assert_eq!(ran.json()[0]["verdict"], "error", "{ran:?}");
                assert_eq!(ran.err, "");
            }
        }
    }
    folder.run(&["show", "in.fw"]).exits(2).complains(message)
}

#[test]
fn texts_that_are_no_programs_are_refused_with_the_place() {
    refused("", "the text is empty").complains("in.fw");
    refused(b"\xff\xfe\x00garbage", "byte 1 is not UTF-8");
    refused("\u{0}\u{1}\u{2}", "error").complains("in.fw:1:1");
    refused("shared x, x; thread P { skip; }", "declared twice").complains("in.fw:1:11");
    refused("shared x; thread P { skip; } never P@cs;", "cs").complains("in.fw:1:");
    refused("shared a[2]; thread P { a[2] = 1; }", "index 2 is outside").complains("in.fw:1:");
    refused("thread P { }", "no statements").complains("in.fw:1:8");
    refused(format!("thread P {{ let r; r = {}; }}", "9".repeat(100_000)), "digits");
    refused(format!("thread P {{ let r; r = {}1; }}", "(".repeat(100_000)), "nested");
    refused("{".repeat(1_000_000), "error");
}

#[test]
fn large_files_are_refused_before_reading_them() {
    refused(vec![b' '; (16 << 20) + 1], "larger than 16 MB");
}

#[test]
fn files_that_are_not_there_are_named() {
    let folder = Folder::new();
    folder.run(&["verify", "no.fw"]).exits(2).complains("no.fw: there is no such file");
    std::fs::create_dir(folder.path().join("empty")).expect("a folder can be made");
    folder.run(&["verify", "empty"]).exits(2).complains("empty: there is no program in this folder");
    for command in ["show", "run"] {
        folder.run(&[command, "empty"]).exits(2).complains("empty: this is a folder");
        folder.run(&[command, "no.fw"]).exits(2).complains("no.fw: there is no such file");
    }
}

#[test]
fn other_files_still_get_their_answers_and_the_worst_code_wins() {
    let folder = Folder::new();
    folder.write("mp.fw", MP).write("sb.fw", SB).write("endless.fw", ENDLESS);
    let tight = ["verify", "--quiet", "--engine", "explicit", "--states", "100"];
    let verify = |files: &[&str]| folder.run(&[&tight[..], files].concat());
    verify(&["mp.fw"]).exits(0);
    verify(&["mp.fw", "endless.fw"]).exits(3);
    verify(&["mp.fw", "endless.fw", "sb.fw"]).exits(1);
    let all = verify(&["mp.fw", "endless.fw", "no.fw", "sb.fw"]).exits(2);
    assert_eq!(all.out.lines().count(), 3, "{all:?}");
}

#[test]
fn a_language_that_nobody_knows_is_asked_for() {
    let folder = Folder::new();
    folder.write("program.xyz", "?");
    folder.run(&["verify", "program.xyz"]).exits(2).complains("--input-format");
    folder.write("program.xyz", MP);
    folder.run(&["verify", "--input-format", "fw", "program.xyz"]).exits(0);
}

#[test]
fn wrong_options_say_what_is_possible() {
    let folder = Folder::new();
    folder.write("mp.fw", MP);
    let verify = |args: &[&str]| folder.run(&[&["verify", "mp.fw"], args].concat()).exits(2);
    verify(&["--model", "arm"]).complains("possible values: sc, tso, pso, all");
    verify(&["--engine", "magic"]).complains("explicit");
    verify(&["--timeout", "-1"]);
    verify(&["--timeout", "soon"]).complains("not a number of seconds");
    verify(&["--memory", "0"]);
    verify(&["--threads", "0"]);
    verify(&["-D", "N"]).complains("NAME=VALUE");
    verify(&["-D", "NOPE=1"]).complains("NOPE");
    verify(&["--force"]).complains("--evidence");
    folder.run(&[]).exits(2).complains("Usage");
    folder.run(&["robust"]).exits(2);
}

#[test]
fn limits_end_in_unknown_with_the_reason_and_what_was_explored() {
    let folder = Folder::new();
    folder.write("endless.fw", ENDLESS);
    let verify = |args: &[&str]| {
        folder.run(&[&["verify", "--engine", "explicit", "endless.fw"], args].concat()).exits(3)
    };
    verify(&["--timeout", "0"]).says("the time limit was reached").says("explored so far: ");
    verify(&["--memory", "1"]).says("the memory limit was reached").says("explored so far: ");
    verify(&["--states", "5000"]).says("the limit on states was reached").says("explored so far: ");
    let ran = verify(&["--states", "5000", "--format", "json", "--evidence", "proofs"]);
    assert_eq!(ran.json()[0]["verdict"], "unknown");
    assert_eq!(ran.json()[0]["reason"], "the limit on states was reached");
    assert_eq!(folder.list("proofs"), [""; 0]);
}

#[test]
fn a_bound_on_buffers_that_is_reached_is_said() {
    let folder = Folder::new();
    folder.write("flood.fw", "shared x; thread P { loop { x = 1; } } never x == 2;");
    let ran = folder.run(&["verify", "--engine", "explicit", "--buffer", "4", "flood.fw"]).exits(3);
    ran.says("store buffers can grow beyond 4 entries");
}

#[test]
fn values_beyond_64_bits_are_unknown_and_never_wrap() {
    let folder = Folder::new();
    let text = "shared x = 9223372036854775807; thread P { x = x + 1; } never x < 0;";
    folder.write("big.fw", text);
    folder
        .run(&["verify", "--engine", "explicit", "big.fw"])
        .exits(3)
        .says("a value left the 64-bit range")
        .says("line 1");
}

#[test]
fn whoever_stops_reading_is_left_in_peace() {
    use std::io::Read;
    let folder = Folder::new();
    folder.write("sb.fw", SB);
    let mut child = super::tool::command(folder.path())
        .args(["run", "--steps", "100000", "--format", "json", "sb.fw"])
        .args(["--model", "tso"])
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary starts");
    drop(child.stdout.take());
    let mut said = String::new();
    child.stderr.take().expect("piped").read_to_string(&mut said).expect("text");
    child.wait().expect("it ends");
    assert_eq!(said, "");
}

#[test]
fn standard_input_is_read_once_and_named() {
    let folder = Folder::new();
    let ran = run(folder.path(), &["verify", "-"], MP.as_bytes()).exits(0);
    assert!(ran.out.starts_with("<stdin>: safe under TSO"), "{ran:?}");
    run(folder.path(), &["verify", "-", "--input-format", "fw"], b"shared").exits(2).complains("<stdin>:1:");
    run(folder.path(), &["run", "--interactive", "-"], b"").exits(2).complains("name a file");
}
