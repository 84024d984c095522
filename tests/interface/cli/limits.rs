//! Limits that every command holds: what was stopped says so and ends with 3, and none is rounded.

use super::tool::{ENDLESS, Folder, MP, SB};

/// Thousands of stores and loads a thread: pairs of them cannot be listed.
fn long_store_buffering(lines: usize) -> String {
    let half = |name: &str, mine: &str, other: &str| {
        let body = format!("{mine} = 1;\nr = {other};\n").repeat(lines / 2);
        format!("thread {name} {{\nlet r;\n{body}}}\n")
    };
    let threads = half("P", "x", "y") + &half("Q", "y", "x");
    format!("shared x, y;\n{threads}finally !(P.r == 0 && Q.r == 0);\n")
}

#[test]
fn long_texts_end_at_the_limit_of_every_engine_and_command() {
    let folder = Folder::new();
    folder.write("long.fw", long_store_buffering(4000));
    let stopped = |args: &[&str]| {
        folder
            .run(&[args, &["--timeout", "0", "long.fw"]].concat())
            .exits(3)
            .says("the time limit was reached");
    };
    for engine in ["portfolio", "explicit", "gaps", "cegar", "lazy"] {
        stopped(&["verify", "--engine", engine]);
        stopped(&["fence", "--engine", engine]);
    }
    stopped(&["robust"]);
    stopped(&["fence", "--goal", "robust"]);
    stopped(&["run", "--runs", "10"]);
}

#[test]
fn a_check_that_is_stopped_is_no_rejection() {
    let folder = Folder::new();
    folder.write("mp.fw", MP).write("sb.fw", SB).write("counting.fw", ENDLESS);
    folder.run(&["verify", "--evidence", "proofs", "mp.fw", "sb.fw", "counting.fw"]).exits(1);
    folder.run(&["robust", "--evidence", "proofs", "mp.fw"]).exits(0);
    let files = folder.list("proofs");
    assert!(files.len() >= 4, "{files:?}");
    for file in files.iter().filter(|file| file.ends_with(".txt")) {
        let program = format!("{}.fw", file.split('.').next().expect("a name"));
        let evidence = format!("proofs/{file}");
        folder.run(&["check", &program, &evidence]).exits(0);
        let ran = folder.run(&["check", "--timeout", "0", &program, &evidence]).exits(3);
        let ran = ran.says("unknown: the time limit was reached while checking");
        assert!(!ran.err.contains("rejected"), "{ran:?}");
        let json =
            folder.run(&["check", "--timeout", "0", "--format", "json", &program, &evidence]).exits(3).json();
        assert_eq!((&json[0]["verdict"], &json[0]["checked"]), (&"unknown".into(), &false.into()));
    }
}

#[test]
fn a_run_that_is_stopped_says_after_how_many_walks() {
    let folder = Folder::new();
    folder.write("endless.fw", ENDLESS);
    let run = ["run", "--steps", "1000000000", "endless.fw"];
    let stopped = |args: &[&str]| folder.run(&[&run, args].concat()).exits(3);
    stopped(&["--timeout", "0"]).says("unknown under TSO: the time limit was reached; 0 walks before that");
    stopped(&["--memory", "8"]).says("the memory limit was reached");
    let json = stopped(&["--timeout", "0", "--format", "json"]).json();
    assert_eq!((&json[0]["command"], &json[0]["verdict"]), (&"run".into(), &"unknown".into()));
}

#[test]
fn the_largest_bound_on_buffers_is_the_one_asked_for() {
    let folder = Folder::new();
    folder.write("flood.fw", "shared x; thread P { loop { x = 1; } } never x == 2;");
    for bound in ["1", "2", "3", "5"] {
        let ran = folder.run(&["verify", "--engine", "explicit", "--buffer", bound, "flood.fw"]).exits(3);
        ran.says(&format!("store buffers can grow beyond {bound} entries"));
    }
    // Three stores wait at once, so three entries are enough to see all of it.
    folder.write("three.fw", "shared x; thread P { x = 1; x = 2; x = 3; } never x == 4;");
    let verify = |bound| folder.run(&["verify", "--engine", "explicit", "--buffer", bound, "three.fw"]);
    verify("2").exits(3);
    verify("3").exits(0);
}

/// A choice among a thousand million values is not listed, and this one needs no list: the loop
/// keeps `s == 2 * i` and `i <= n`.
#[test]
fn a_wide_choice_is_proved_and_not_listed() {
    let folder = Folder::new();
    let text = "shared x;
thread P {
let n = any in 0..1000000000;
let i = 0, s = 0;
while (i < n) { i = i + 1; s = s + 2; }
assert s == 2 * n;
}";
    folder.write("wide.fw", text);
    let verify = |args: &[&str]| folder.run(&[&["verify", "wide.fw"], args].concat());
    verify(&["--engine", "cegar"]).exits(0);
    for engine in ["explicit", "gaps", "lazy"] {
        let ran = verify(&["--engine", engine, "--states", "50000"]).exits(3);
        assert!(ran.out.contains("any in 0..1000000000") || ran.out.contains("limit on states"), "{ran:?}");
    }
    folder.write(
        "starts.fw",
        "shared x = any in 0..1000000000, y = any; thread P { let r; r = x; assert r >= 0; }",
    );
    for engine in ["explicit", "gaps", "lazy"] {
        folder.run(&["verify", "--engine", engine, "starts.fw"]).exits(3).says("`any`");
    }
    folder.run(&["verify", "starts.fw"]).exits(0);
}
