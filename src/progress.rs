//! Progress: one line per running engine on the terminal's error stream, redrawn in place.
//!
//! It appears only if that stream is a terminal and nobody asked for quiet, at most ten times
//! a second, and is wiped before anything else is printed. Several tasks and several engines for
//! one task may report at once; a line stands where it first appeared and vanishes with the first
//! redraw after its engine is done. A redraw is: up to the first line, clear all below, write.

use crate::limits::allocated;
use crate::numbers::{counted, grouped, megabytes, short};
use crate::report::cut;
use evidence::Progress;
use std::io::{IsTerminal, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

const PAUSE: Duration = Duration::from_millis(100);

/// Where progress is shown.
pub struct ProgressDisplay {
    enabled: bool,
    tasks: AtomicUsize,
    screen: Mutex<Screen>,
}

/// A task that reports progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskId(usize);

/// What an engine says about itself, with what it cannot know.
pub struct ProgressReport<'a> {
    /// What it works on.
    pub label: &'a str,
    /// How far it is.
    pub progress: &'a Progress,
    /// Time since the task began.
    pub elapsed: Duration,
    /// The limit on that.
    pub limit: Option<Duration>,
}

#[derive(Default)]
struct Screen {
    lines: Vec<EngineLine>,
    /// How many lines stand on the terminal now.
    drawn: usize,
    last: Option<Instant>,
}

/// The line of one engine.
struct EngineLine {
    task: TaskId,
    engine: &'static str,
    started: Instant,
    updated: Option<Instant>,
    text: String,
    done: bool,
}

impl ProgressDisplay {
    /// Shows progress if standard error is a terminal.
    pub fn new(quiet: bool) -> ProgressDisplay {
        let enabled = !quiet && std::io::stderr().is_terminal();
        ProgressDisplay { enabled, tasks: AtomicUsize::new(0), screen: Mutex::default() }
    }

    /// A number for a task that begins.
    pub fn begin(&self) -> TaskId {
        TaskId(self.tasks.fetch_add(1, Ordering::Relaxed))
    }

    /// Tells how far a task is.
    pub fn update(&self, task: TaskId, report: &ProgressReport<'_>) {
        if !self.enabled || report.elapsed < PAUSE {
            return;
        }
        let mut screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if screen.update(task, report, now) {
            let size = terminal_size::terminal_size();
            let (width, height) = size.map_or((80, 24), |(width, height)| (width.0.into(), height.0.into()));
            let _ = std::io::stderr().write_all(screen.frame(width, height).as_bytes());
        }
    }

    /// An engine has ended; without a name, all of the task have.
    pub fn end(&self, task: TaskId, engine: Option<&'static str>) {
        let mut screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        let ended =
            |line: &&mut EngineLine| line.task == task && engine.is_none_or(|engine| line.engine == engine);
        screen.lines.iter_mut().filter(ended).for_each(|line| line.done = true);
    }

    /// Runs what prints, with the lines wiped.
    pub fn pause<T>(&self, print: impl FnOnce() -> T) -> T {
        let mut screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
        let drawn = std::mem::take(&mut screen.drawn);
        let _ = std::io::stderr().write_all(wipe(drawn).as_bytes());
        print()
    }
}

impl Screen {
    /// Takes up a report; whether it is time to draw.
    fn update(&mut self, task: TaskId, report: &ProgressReport<'_>, now: Instant) -> bool {
        let engine = report.progress.engine;
        let mine = |line: &&mut EngineLine| line.task == task && line.engine == engine && !line.done;
        let known = self.lines.iter_mut().find(mine);
        let line = match known {
            Some(line) => line,
            None => {
                self.lines.retain(|line| !line.done);
                let (started, text) = (now, String::new());
                self.lines.push(EngineLine { task, engine, started, updated: None, text, done: false });
                let last = self.lines.len() - 1;
                &mut self.lines[last]
            }
        };
        let fresh = |at: Instant| now.duration_since(at) < PAUSE;
        if line.updated.is_some_and(fresh) {
            return false;
        }
        line.updated = Some(now);
        line.text = text(report, now.duration_since(line.started));
        if self.last.is_some_and(fresh) {
            return false;
        }
        self.last = Some(now);
        true
    }

    /// What draws all lines over those that stand there.
    fn frame(&mut self, width: usize, height: usize) -> String {
        self.lines.retain(|line| !line.done);
        let most = height.saturating_sub(1).max(1);
        // The last column stays free, so that no terminal wraps.
        let room = width.saturating_sub(1).max(1);
        let mut shown: Vec<String> = self.lines.iter().map(|line| cut(&line.text, room)).collect();
        if shown.len() > most {
            let left = shown.len() - most + 1;
            shown.truncate(most - 1);
            shown.push(cut(&format!("and {left} more"), room));
        }
        let frame = wipe(self.drawn) + &shown.join("\n");
        self.drawn = shown.len();
        frame
    }
}

/// What clears so many lines; the cursor stands on the last of them.
fn wipe(drawn: usize) -> String {
    match drawn {
        0 => String::new(),
        1 => "\r\x1b[J".to_string(),
        _ => format!("\r\x1b[{}A\x1b[J", drawn - 1),
    }
}

/// `running` is the time that the engine has had.
fn text(report: &ProgressReport<'_>, running: Duration) -> String {
    let ProgressReport { label, progress, elapsed, limit } = report;
    let engine = if progress.engine.is_empty() { String::new() } else { format!(" {}", progress.engine) };
    let mut parts = vec![progress.phase.to_string()];
    parts.extend(progress.bound.map(|bound| format!("k {bound}")));
    parts.push(format!("{} states", short(progress.states)));
    // In the first moments a speed would be a guess.
    if running >= PAUSE {
        parts.push(format!("{}/s", short((progress.states as f64 / running.as_secs_f64()) as usize)));
    }
    parts.extend(progress.predicates.map(|count| counted(count, "predicate")));
    parts.extend(progress.refinements.map(|count| counted(count, "refinement")));
    parts.push(format!("{} MB", grouped(megabytes(allocated()))));
    let limit = limit.map(|limit| format!(" of {}", limit.as_secs_f64())).unwrap_or_default();
    parts.push(format!("{:.1}{limit} s", elapsed.as_secs_f64()));
    format!("{label}{engine}: {}", parts.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use unicode_width::UnicodeWidthStr;

    const EXPLORING: Progress = Progress {
        engine: "explicit",
        phase: "exploring",
        bound: Some(2),
        states: 2_000_000,
        work: 0,
        waiting: 0,
        bytes: 0,
        coming: 0,
        predicates: None,
        refinements: None,
    };

    fn report(progress: &Progress) -> ProgressReport<'_> {
        let (elapsed, limit) = (Duration::from_secs(3), Some(Duration::from_secs(60)));
        ProgressReport { label: "a.fw (tso)", progress, elapsed, limit }
    }

    #[test]
    fn a_line_says_engine_phase_bound_speed_and_time() {
        let line = text(&report(&EXPLORING), Duration::from_secs(2));
        let start = "a.fw (tso) explicit: exploring, k 2, 2.00M states, 1.00M/s, ";
        assert!(line.starts_with(start), "{line}");
        assert!(line.ends_with(" MB, 3.0 of 60 s"), "{line}");
        let proving = Progress {
            engine: "cegar",
            phase: "refining",
            predicates: Some(12),
            refinements: Some(1),
            bound: None,
            ..EXPLORING
        };
        let line = text(&report(&proving), Duration::from_secs(2));
        assert!(
            line.contains("cegar: refining, 2.00M states, 1.00M/s, 12 predicates, 1 refinement, "),
            "{line}"
        );
    }

    /// Each report is a task, an engine and when it comes, in milliseconds.
    fn screen(reports: &[(usize, &'static str, u64)]) -> (Screen, Vec<bool>) {
        let start = Instant::now();
        let mut screen = Screen::default();
        let mut update = |(task, engine, at): &(usize, &'static str, u64)| {
            let progress = Progress { engine, ..EXPLORING };
            screen.update(TaskId(*task), &report(&progress), start + Duration::from_millis(*at))
        };
        let drawn = reports.iter().map(&mut update).collect();
        (screen, drawn)
    }

    fn engines(screen: &Screen) -> Vec<&str> {
        screen.lines.iter().map(|line| line.engine).collect()
    }

    #[test]
    fn every_engine_of_every_task_has_a_line_and_keeps_it() {
        let reports = [(0, "a", 0), (1, "a", 1), (0, "b", 2), (0, "a", 150), (1, "a", 160)];
        let (mut screen, drawn) = screen(&reports);
        assert_eq!(drawn, [true, false, false, true, false], "ten times a second");
        assert_eq!(engines(&screen), ["a", "a", "b"]);
        let frame = screen.frame(200, 24);
        assert_eq!(frame.lines().count(), 3);
        assert!(!frame.contains('\x1b'), "there was nothing to wipe: {frame:?}");
        assert!(screen.frame(200, 24).starts_with("\r\x1b[2A\x1b[J"));
    }

    #[test]
    fn lines_vanish_when_their_engine_is_done() {
        let (mut screen, _) = screen(&[(0, "a", 0), (0, "b", 0)]);
        screen.lines[0].done = true;
        assert_eq!(screen.frame(200, 24).lines().count(), 1);
        assert_eq!(engines(&screen), ["b"]);
        screen.lines[0].done = true;
        assert_eq!(screen.frame(200, 24), "\r\x1b[J");
    }

    #[test]
    fn nothing_is_wider_or_higher_than_the_terminal() {
        let names = ["a", "b", "c", "d", "e"];
        let (mut screen, _) = screen(&names.map(|name| (0, name, 0)));
        for (width, height) in [(1, 1), (10, 2), (40, 4), (200, 24)] {
            let frame = screen.frame(width, height);
            let lines: Vec<&str> = frame.split("\x1b[J").last().unwrap_or_default().split('\n').collect();
            assert!(lines.len() < height.max(2), "{frame:?}");
            assert!(lines.iter().all(|line| line.width() < width.max(2)), "{frame:?}");
        }
        assert_eq!(cut("変数名", 5), "変数…");
        assert!(screen.frame(40, 4).ends_with("and 3 more"));
    }
}
