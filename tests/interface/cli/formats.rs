//! Runs whose output the tests of every machine format look at: all golden cases, the corpus,
//! and input that is no program.

use super::golden::cases;
use super::robust::COUNTING;
use super::tool::{ENDLESS, Folder, MP, Ran, SB, run};
use std::path::Path;

const ANSWERING: [&str; 8] = ["verify", "robust", "fence", "check", "run", "list", "bench", "ci"];

/// Every golden case that answers in some format, answered in this one.
pub fn golden_runs(format: &str) -> Vec<(String, Ran)> {
    let mut runs = Vec::new();
    for case in cases() {
        let command = std::fs::read_to_string(case.join("cmd")).expect("every case has a command");
        let mut args: Vec<&str> = command.split_whitespace().collect();
        let other = ["--out", "-o", "--help", "-h", "--interactive", "--update"];
        if !ANSWERING.contains(&args[0]) || args.iter().any(|arg| other.contains(arg)) {
            continue;
        }
        if let Some(at) = args.iter().position(|arg| *arg == "--format" || *arg == "-f") {
            args.drain(at..at + 2);
        }
        args.extend(["--format", format]);
        let stdin = std::fs::read(case.join("stdin")).unwrap_or_default();
        runs.push((command.clone(), run(&case, &args, &stdin)));
    }
    assert!(runs.len() > 25, "the cases were not found");
    runs
}

/// The whole corpus under all models, with so few states that some answers are unknown.
pub fn corpus_run(format: &str) -> Ran {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let args = ["verify", "--model", "all", "--states", "300", "--format", format, "corpus"];
    run(root, &args, b"")
}

/// A folder with a program for every kind of answer, evidence, and files that are no programs.
pub fn varied() -> Folder {
    let folder = Folder::new();
    folder.write("sb.fw", SB).write("mp.fw", MP).write("endless.fw", ENDLESS);
    folder.write("counting.fw", COUNTING);
    folder.write("race.fw", "shared x; thread P(i in 0..2) { let r = x; x = r + 1; } finally x == 2;");
    folder.write("open.fw", "shared x = any, a[2]; thread P { let r = x; assert r < 99; a[r] = 1 / r; }");
    folder.write(
        "big.fw",
        "shared x = 99999999999999999999; thread P { x = x * 9; } never x > 99999999999999999999;",
    );
    folder.write("claims_nothing.fw", "shared x; thread P { x = 1; }");
    folder.write(
        "sb.litmus",
        "X86 SB\n{ }\n P0         | P1         ;\n MOV [x],$1 | MOV [y],$1 ;\n MOV EAX,[y] | MOV EAX,[x] ;\n\
         exists (0:EAX=0 /\\ 1:EAX=0)\n",
    );
    folder.write("empty.fw", "").write("broken.fw", "shared x;\nthread P { y = 1; x = ; }\n");
    folder.write("binary.fw", b"\xff\xfe\x00").write("control.fw", "\u{0}\u{1}<&\">\u{1b}[31m");
    folder.write("a <b> & \"c\" [d](e).fw", SB);
    folder.run(&["verify", "--evidence", "proofs", "sb.fw", "mp.fw"]).exits(1);
    folder.run(&["robust", "--evidence", "proofs", "sb.fw", "mp.fw"]).exits(1);
    folder.run(&["verify", "--evidence", "proofs", "--model", "all", "sb.litmus"]).exits(1);
    // Certificates of every other kind: cubes, gaps, and safe because robust.
    folder.write("fenced.fw", ENDLESS.replace("x + 1;", "x + 1; fence;"));
    for engine in ["cegar", "gaps", "lazy"] {
        folder.run(&["verify", "--evidence", "proofs", "--engine", engine, "fenced.fw"]).exits(0);
    }
    // And a bound that is no proof.
    let contexts = ["--engine", "context", "--contexts", "2"];
    folder.run(&[&["verify", "--evidence", "proofs"][..], &contexts, &["fenced.fw"]].concat()).exits(3);
    folder
}

/// Commands to run in that folder; each must answer whatever the input.
pub fn varied_commands() -> Vec<Vec<&'static str>> {
    let mut commands = vec![
        vec!["verify", "--model", "all", "--states", "2000", "."],
        vec!["verify", "no.fw", "proofs", "a <b> & \"c\" [d](e).fw"],
        vec!["verify", "--engine", "explicit", "--timeout", "0", "endless.fw"],
        vec!["check", "sb.fw", "proofs/sb.tso.trace.txt"],
        vec!["check", "mp.fw", "proofs/mp.tso.closed.txt"],
        vec!["check", "sb.fw", "proofs/sb.tso.witness.txt"],
        vec!["check", "mp.fw", "proofs/mp.tso.robust.txt"],
        vec!["check", "sb.litmus", "proofs/sb.sc.outcomes.txt"],
        vec!["check", "sb.litmus", "proofs/sb.tso.outcomes.txt"],
        vec!["check", "fenced.fw", "proofs/fenced.tso.cubes.txt"],
        vec!["check", "fenced.fw", "proofs/fenced.tso.gaps.txt"],
        vec!["check", "fenced.fw", "proofs/fenced.tso.robust-set.txt"],
        vec!["check", "fenced.fw", "proofs/fenced.tso.contexts.txt"],
        vec!["verify", "--engine", "context", "--contexts", "1", "sb.fw"],
        vec!["verify", "--engine", "context", "sb.fw"],
        vec!["check", "mp.fw", "proofs/sb.tso.trace.txt"],
        vec!["check", "mp.fw", "proofs/sb.tso.witness.txt"],
        vec!["check", "broken.fw", "no.txt"],
        vec!["verify", "--outcomes", "sb.litmus"],
        vec!["run", "--runs", "200", "sb.fw"],
        vec!["run", "--steps", "3", "endless.fw"],
        vec!["fence", "--all", "--model", "pso", "sb.fw"],
        vec!["fence", "--points", "all", "sb.fw"],
        vec!["fence", "--engine", "extrapolate", "--buffer", "1", "sb.fw"],
        vec!["robust", "--states", "500", "."],
        vec!["robust", "--model", "sc", "sb.fw", "no.fw"],
        vec!["fence", "--goal", "robust", "--model", "sc", "sb.fw"],
        vec!["fence", "--goal", "robust", "--all", "--points", "all", "sb.fw"],
        vec!["fence", "--goal", "robust", "--states", "500", "counting.fw"],
        vec!["verify", "--explain-plan", "--model", "all", "."],
        vec!["verify", "--explain-plan", "--engine", "lazy", "sb.fw"],
        vec!["fence", "--explain-plan", "sb.fw"],
        vec!["fence", "--explain-plan", "sb.litmus"],
        vec!["bench"],
        // Out of time at once: rows without answers, quickly.
        vec!["bench", "--timeout", "0", "--corpora", "none", "fences"],
        vec!["bench", "--timeout", "0", "--corpora", "none", "lazy"],
        // A second, with answers.
        vec!["bench", "--corpora", "none", "--runs", "2", "robust"],
        vec!["list"],
        vec!["list", "models"],
        vec!["list", "formats"],
    ];
    for file in [
        "mp.fw",
        "race.fw",
        "open.fw",
        "sb.litmus",
        "empty.fw",
        "broken.fw",
        "binary.fw",
        "control.fw",
        "no.fw",
    ] {
        commands.push(vec!["fence", file]);
        commands.push(vec!["fence", "--goal", "robust", file]);
        commands.push(vec!["run", file]);
    }
    commands
}

/// Every run of all these.
pub fn all_runs(format: &'static str) -> Vec<(String, Ran)> {
    let folder = varied();
    let mut runs = golden_runs(format);
    for command in varied_commands() {
        let args = [&command[..], &["--format", format]].concat();
        runs.push((command.join(" "), folder.run(&args)));
    }
    runs.push(("corpus".to_string(), corpus_run(format)));
    runs
}
