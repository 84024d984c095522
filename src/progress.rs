//! The progress line: one line on the terminal's error stream, rewritten in place.
//!
//! It appears only if that stream is a terminal and nobody asked for quiet, at most ten times
//! a second, and is wiped before anything else is printed.

use crate::limits::allocated;
use crate::numbers::{grouped, megabytes, short};
use evidence::Progress;
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(100);

/// Where progress is shown.
pub struct Display {
    enabled: bool,
    shown: Mutex<Shown>,
}

#[derive(Default)]
struct Shown {
    last: Option<Instant>,
    dirty: bool,
}

impl Display {
    /// Shows progress if standard error is a terminal.
    pub fn new(quiet: bool) -> Display {
        let enabled = !quiet && std::io::stderr().is_terminal();
        Display { enabled, shown: Mutex::default() }
    }

    /// Shows nothing.
    #[cfg(test)]
    pub fn off() -> Display {
        Display { enabled: false, shown: Mutex::default() }
    }

    /// Tells how far a task is.
    pub fn update(&self, label: &str, progress: &Progress, elapsed: Duration, limit: Option<Duration>) {
        if !self.enabled {
            return;
        }
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if elapsed < PAUSE || shown.last.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        shown.last = Some(Instant::now());
        shown.dirty = true;
        let width = terminal_size::terminal_size().map_or(80, |(width, _)| usize::from(width.0));
        let line: String = text(label, progress, elapsed, limit).chars().take(width.max(2) - 1).collect();
        let _ = write!(std::io::stderr(), "\r\x1b[K{line}");
    }

    /// Runs what prints, with the line wiped.
    pub fn pause<T>(&self, print: impl FnOnce() -> T) -> T {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::take(&mut shown.dirty) {
            let _ = write!(std::io::stderr(), "\r\x1b[K");
        }
        print()
    }
}

fn text(label: &str, progress: &Progress, elapsed: Duration, limit: Option<Duration>) -> String {
    let bound = progress.bound.map(|bound| format!(", buffers up to {bound}")).unwrap_or_default();
    let seconds = elapsed.as_secs_f64();
    let speed = (progress.states as f64 / seconds.max(0.001)) as usize;
    let limit = limit.map(|limit| format!(" of {}", limit.as_secs_f64())).unwrap_or_default();
    format!(
        "{label}: {}{bound}: {} states, {}/s, {} MB, {seconds:.1}{limit} s",
        progress.phase,
        short(progress.states),
        short(speed),
        grouped(megabytes(allocated())),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_says_phase_bound_speed_and_time() {
        let progress =
            Progress { phase: "exploring", bound: Some(2), states: 2_000_000, ..Progress::default() };
        let line = text("a.fw", &progress, Duration::from_secs(2), Some(Duration::from_secs(60)));
        assert!(line.starts_with("a.fw: exploring, buffers up to 2: 2.00M states, 1.00M/s, "));
        assert!(line.ends_with("2.0 of 60 s"), "{line}");
    }
}
