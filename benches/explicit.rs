//! How fast exact exploration is, and how small its states are.
//!
//! `cargo bench --bench explicit` measures Lamport's fast mutex with 3 threads under TSO, nothing reduced, by one
//! worker, against the requirement (3 million states per second on one core, 25 bytes per stored state), in one loop and in
//! rounds, and lists other programs of the corpus. `-- --strict` fails if the requirement is not met,
//! `-- --quick` takes smaller instances, `-- --instructions` counts instructions a state, for which Valgrind must be there.

mod support;

use engine::{Answer, Engine, Explicit, LARGE, Reduction, Run};
use evidence::{Certificate, Ignore, Listed, Statistics, Task, Verdict, check};
use machine::{MODELS, Model, TSO};
use program::Program;
use std::process::{Command, ExitCode};
use support::{Clock, Flags, Requirements, corpus, peak_memory};

/// So many states take long enough to be measured.
const VISIBLE: usize = 200_000;

/// One exploration and the check of its evidence.
struct Measured {
    verdict: &'static str,
    states: usize,
    seconds: f64,
    /// Memory of the state set, for a closed one.
    bytes: Option<usize>,
    check_seconds: f64,
}

impl Measured {
    fn rate(&self) -> f64 {
        self.states as f64 / self.seconds
    }

    fn check_rate(&self) -> f64 {
        self.states as f64 / self.check_seconds
    }

    fn bytes_a_state(&self) -> Option<f64> {
        self.bytes.map(|bytes| bytes as f64 / self.states as f64)
    }
}

/// Explores, in rounds beyond so many states.
fn explored(task: &Task<'_>, large: usize) -> Answer {
    let reduction = Reduction::None;
    Explicit.verify(task, &Run { max_buffer: Some(8), reduction, large, ..Run::default() })
}

/// Explores and checks as often as it takes for the clock to see something.
fn measure(program: &Program, model: Model, large: usize) -> Measured {
    let task = Task::safe(program, model);
    let explore = || explored(&task, large);
    let Answer { verdict, statistics: Statistics { states, .. }, .. } = explore();
    let bytes = match &verdict {
        Verdict::Safe(Certificate::Listed(Listed { gaps: None, set })) => Some(set.states.bytes()),
        _ => None,
    };
    let rounds = (VISIBLE / states.max(1)).clamp(1, 500);
    let clock = Clock::start();
    let answers: Vec<Answer> = (0..rounds).map(|_| explore()).collect();
    let seconds = clock.seconds() / rounds as f64;
    let verdict = verdict.word();
    let clock = Clock::start();
    for answer in answers {
        check(&task, answer.verdict, &Ignore).expect("the engine's evidence is accepted");
    }
    let check_seconds = clock.seconds() / rounds as f64;
    Measured { verdict, states, seconds, bytes, check_seconds }
}

/// The best of several runs: what disturbs a measurement only ever makes it slower.
fn best(program: &Program, model: Model, large: usize, runs: usize) -> Measured {
    let measured = (0..runs).map(|_| measure(program, model, large));
    measured.min_by(|a, b| a.seconds.total_cmp(&b.seconds)).expect("at least one run")
}

/// The program that is measured against the requirement.
fn lamport(flags: &Flags) -> (Program, Model) {
    let threads = if flags.quick { 2 } else { 3 };
    let program = corpus("lamport_fast_fenced", &[("N", threads)]);
    (program, TSO)
}

fn requirement(flags: &Flags) -> Requirements {
    let (program, model) = lamport(flags);
    let mut requirements = Requirements::default();
    for (how, large) in [("in one loop", usize::MAX), ("in rounds by one worker", LARGE)] {
        let measured = best(&program, model, large, 3);
        println!("Lamport's fast mutex, {} threads, TSO, {how}: {}", program.threads.len(), measured.verdict);
        show(&measured);
        if flags.instructions {
            instructions(flags, large, measured.states);
        }
        let bytes = measured.bytes_a_state().unwrap_or(f64::INFINITY);
        if !flags.quick {
            requirements.demand("at least 3,000,000 states per second", measured.rate() >= 3e6);
            requirements.demand("at most 25 bytes per stored state", bytes <= 25.0);
        }
    }
    requirements
}

fn show(measured: &Measured) {
    let bytes = measured.bytes_a_state().unwrap_or(f64::INFINITY);
    println!("  {:>12} states", measured.states);
    println!("  {:>12.3} seconds", measured.seconds);
    println!("  {:>12.0} states per second", measured.rate());
    println!("  {bytes:>12.1} bytes a stored state");
    println!("  {:>12.0} states per second checked", measured.check_rate());
    if let Some(peak) = peak_memory() {
        println!("  {:>12.1} MiB of memory at most", peak as f64 / f64::from(1 << 20));
    }
}

/// Has Valgrind count what this program does with and without an exploration, and says what that makes a state.
fn instructions(flags: &Flags, large: usize, states: usize) {
    let count = |explorations: usize| {
        let mut command = Command::new("valgrind");
        command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
        command.arg(std::env::current_exe().ok()?);
        command.args([format!("--explore={explorations}"), format!("--large={large}")]);
        command.args(flags.quick.then_some("--quick"));
        let said = String::from_utf8(command.output().ok()?.stderr).ok()?;
        said.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse::<usize>().ok())
    };
    match count(0).zip(count(1)) {
        Some((without, with)) => println!("  {:>12} instructions a state", (with - without) / states),
        None => println!("  {:>12} instructions a state: is Valgrind there?", "?"),
    }
}

/// What [`instructions`] asks for: explores so often.
fn explore(flags: &Flags, explorations: usize) {
    let (program, model) = lamport(flags);
    let task = Task::safe(&program, model);
    let large = flags.number("--large=").unwrap_or(LARGE);
    (0..explorations).for_each(|_| assert!(explored(&task, large).statistics.states > 0));
}

const PROGRAMS: &[(&str, &[(&str, i64)])] = &[
    ("peterson_fenced", &[]),
    ("burns_fenced", &[("N", 3)]),
    ("szymanski_fenced", &[("N", 3)]),
    ("bakery_bounded_fenced", &[("MAX", 3)]),
    ("lamport_fast_pso", &[("N", 3)]),
    ("mcs_lock", &[("N", 3)]),
    ("clh_lock", &[("N", 3)]),
    ("treiber_stack", &[("N", 3)]),
    ("chase_lev_fenced", &[]),
    ("seqlock_pso", &[]),
];

fn table(flags: &Flags) {
    println!(
        "\n{:<24} {:<5} {:<8} {:>10} {:>9} {:>12} {:>8} {:>12}",
        "program", "model", "verdict", "states", "seconds", "states/s", "bytes", "checked/s"
    );
    for (name, defines) in PROGRAMS {
        let program = corpus(name, if flags.quick { &[] } else { defines });
        for model in MODELS {
            let measured = best(&program, *model, LARGE, 1);
            let dash = || "-".to_string();
            let bytes = measured.bytes_a_state().map_or_else(dash, |bytes| format!("{bytes:.1}"));
            let checked = measured.bytes.map_or_else(dash, |_| format!("{:.0}", measured.check_rate()));
            println!(
                "{name:<24} {:<5} {:<8} {:>10} {:>9.4} {:>12.0} {bytes:>8} {checked:>12}",
                model.name(),
                measured.verdict,
                measured.states,
                measured.seconds,
                measured.rate(),
            );
        }
    }
}

fn main() -> ExitCode {
    let flags = Flags::read();
    if let Some(explorations) = flags.number("--explore=") {
        explore(&flags, explorations);
        return ExitCode::SUCCESS;
    }
    let requirements = requirement(&flags);
    table(&flags);
    requirements.conclude(&flags)
}
