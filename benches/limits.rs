//! Whether `--timeout` is held on programs that are long rather than hard.
//!
//! What is read off a program before a search begins has to cost time linear in its length, or look at the clock. So every
//! engine and command is given programs of thousands of lines, a limit of 2 seconds, and may take a
//! tenth or half a second longer, whichever is more. Time is measured on the wall, as users do: run it on a
//! quiet machine. `-- --strict` fails if a limit is not held, `-- --quick` takes short programs.

mod support;

use std::io::Write;
use std::process::{Command, ExitCode, Stdio};
use std::time::Instant;
use support::{Flags, Requirements};

const LIMIT: f64 = 2.0;

/// Two threads whose texts are a line repeated; `own` and `other` in it are their variables, `#` is how often it was
/// repeated before.
fn pair(line: &str, times: usize, claim: &str) -> String {
    let thread = |name: &str, own: &str, other: &str| {
        let line = line.replace("own", own).replace("other", other);
        let lines: String = (0..times).map(|at| line.replace('#', &at.to_string()) + "\n").collect();
        format!("thread {name} {{ let r;\n{lines} }}\n")
    };
    format!("shared x, y;\n{}{}{claim}\n", thread("P", "x", "y"), thread("Q", "y", "x"))
}

fn programs(quick: bool) -> Vec<(&'static str, String)> {
    let times = |count: usize| if quick { count / 100 } else { count };
    let zeros = "finally !(P.r == 0 && Q.r == 0);";
    vec![
        ("store buffering", pair("own = 1; r = other;", times(20_000), zeros)),
        ("rising values", pair("own = # + 1; r = other;", times(20_000), zeros)),
        ("waiting", pair("own = # + 1; await other >= #; fence;", times(10_000), "finally x > 3;")),
        ("assertions", pair("own = #; r = other; assert r < 100000;", times(10_000), "")),
        ("swaps", pair("r = cas(own, #, # + 1); if (r == 0) { own = #; }", times(10_000), "finally x > 3;")),
        ("loops", pair("own = #; while (other == #) { r = r + 1; own = r; }", times(5_000), "never x < 0;")),
    ]
}

fn commands() -> Vec<Vec<&'static str>> {
    let engines = engine::ENGINES.iter().map(|engine| vec!["verify", "--engine", engine.name()]);
    let others = [vec!["verify"], vec!["robust"], vec!["fence"], vec!["fence", "--goal", "robust"]];
    others.into_iter().chain(engines).collect()
}

/// Seconds that a command takes on a program, and its exit code.
fn measure(command: &[&str], program: &str) -> std::io::Result<(f64, Option<i32>)> {
    let start = Instant::now();
    let mut child = Command::new(env!("CARGO_BIN_EXE_fencewright"))
        .args(command)
        .args(["--timeout", &LIMIT.to_string(), "--quiet", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    // Dropping the pipe ends the text.
    child.stdin.take().map(|mut input| input.write_all(program.as_bytes())).transpose()?;
    let code = child.wait()?.code();
    Ok((start.elapsed().as_secs_f64(), code))
}

fn main() -> ExitCode {
    let flags = Flags::read();
    let mut requirements = Requirements::default();
    for (name, program) in programs(flags.quick) {
        println!("{name}, {} lines, limit {LIMIT} s:", program.lines().count());
        for command in commands() {
            let (seconds, code) = measure(&command, &program).expect("our own program starts");
            let what = format!("{:<28} {seconds:>6.2} s", command.join(" "));
            let answered = matches!(code, Some(0 | 1 | 3));
            requirements.demand(&what, answered && seconds <= LIMIT + f64::max(LIMIT / 10.0, 0.5));
        }
    }
    requirements.conclude(&flags)
}
