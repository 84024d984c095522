//! What the benchmarks share: flags, a clock, requirements, reading programs.

// Every benchmark includes this file and uses its own part of it.
#![allow(dead_code)]

use frontend::Options;
use program::{Int, Program, Source};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// What the command line asks for. Everything else is ignored: `cargo bench` adds flags of its own.
pub struct Flags {
    /// Small instances only, to see that the benchmark works.
    pub quick: bool,
    /// Exit with an error if a requirement is not met.
    pub strict: bool,
    /// Count instructions.
    pub instructions: bool,
}

impl Flags {
    pub fn read() -> Flags {
        let given = |flag: &str| std::env::args().skip(1).any(|arg| arg == flag);
        Flags { quick: given("--quick"), strict: given("--strict"), instructions: given("--instructions") }
    }

    /// The number behind an argument that begins so.
    pub fn number(&self, begin: &str) -> Option<usize> {
        std::env::args().find_map(|arg| arg.strip_prefix(begin)?.parse().ok())
    }
}

/// Measures processor time where the system tells it, so that a busy machine does not spoil
/// the numbers; else the time on the wall.
pub struct Clock {
    wall: Instant,
    processor: Option<Duration>,
}

impl Clock {
    pub fn start() -> Clock {
        Clock { wall: Instant::now(), processor: processor_time() }
    }

    /// Seconds since the start.
    pub fn seconds(&self) -> f64 {
        let processor = self.processor.zip(processor_time()).map(|(then, now)| now - then);
        processor.unwrap_or_else(|| self.wall.elapsed()).as_secs_f64()
    }
}

/// The first number of `schedstat` is the main thread's time on a processor, in nanoseconds.
fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

/// The most memory the process ever held, in bytes.
pub fn peak_memory() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok().map(|kib| kib * 1024)
}

/// Requirements, said as they are met or not.
#[derive(Default)]
pub struct Requirements {
    missed: usize,
}

impl Requirements {
    pub fn demand(&mut self, what: &str, met: bool) {
        println!("  {} {what}", if met { "ok     " } else { "NOT MET" });
        self.missed += usize::from(!met);
    }

    /// Ends the benchmark; with an error only if the flags want that.
    pub fn conclude(self, flags: &Flags) -> std::process::ExitCode {
        if self.missed > 0 {
            println!("\n{} requirement(s) not met", self.missed);
        }
        std::process::ExitCode::from(u8::from(flags.strict && self.missed > 0))
    }
}

/// A path below the root of the repository.
pub fn in_repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

/// A program of the corpus, with constants set.
pub fn corpus(name: &str, defines: &[(&str, i64)]) -> Program {
    let path = in_repository("corpus").join(format!("{name}.fw"));
    let text = std::fs::read_to_string(&path).expect("the corpus is part of the repository");
    let defines = defines.iter().map(|(name, value)| (name.to_string(), Int::from(*value))).collect();
    read(&format!("{name}.fw"), text, &Options { defines, ..Options::default() }).expect("a corpus program")
}

/// A program from its text; the language is told from the name.
pub fn read(name: &str, text: String, options: &Options) -> Result<Program, String> {
    let frontend = frontend::choose(None, name, &text).ok_or("an unknown language")?;
    let parsed = (frontend.read)(Source::new(name, text), options);
    parsed.map(|parsed| parsed.program).map_err(|errors| format!("{errors:?}"))
}
