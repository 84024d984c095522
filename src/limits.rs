//! Limits: who stops an engine, and when.
//!
//! Engines have no clock and count no bytes; they report to a [`Watch`] now and then, and it
//! says stop: out of time, out of memory (all that the process has allocated, counted by the
//! allocator, and what an engine is about to allocate), too many states, or the user asked. The
//! limit on memory is looked at between steps and never makes an allocation fail, so a run always
//! ends with a report.

use crate::progress::{ProgressDisplay, ProgressReport, TaskId};
use cap::Cap;
use evidence::{Monitor, Progress, Stop};
use std::alloc::System;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Counts what the process has allocated. The one global there is: Rust wants it so.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// Bytes allocated now.
pub fn allocated() -> usize {
    ALLOCATOR.allocated()
}

/// How far an engine may go.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Time from the start of the work on a task.
    pub time: Option<Duration>,
    /// Bytes, for the whole process.
    pub memory: usize,
    /// States.
    pub states: Option<usize>,
}

/// Watches one task.
pub struct Watch<'a> {
    budget: Budget,
    started: Instant,
    interrupt: &'a Interrupt,
    display: &'a ProgressDisplay,
    task: TaskId,
    label: String,
    /// Whether to print what engines decide.
    verbose: bool,
    /// How many threads may work at once.
    threads: usize,
    peak: AtomicUsize,
}

impl<'a> Watch<'a> {
    /// Starts the clock for a task of this name.
    pub fn new(
        budget: Budget,
        interrupt: &'a Interrupt,
        display: &'a ProgressDisplay,
        label: String,
    ) -> Watch<'a> {
        let peak = AtomicUsize::new(allocated());
        Watch {
            budget,
            started: Instant::now(),
            interrupt,
            display,
            task: display.begin(),
            label,
            verbose: false,
            threads: 1,
            peak,
        }
    }

    /// Tells on standard error what engines decide on their way, if wanted.
    pub fn verbose(mut self, verbose: bool) -> Watch<'a> {
        self.verbose = verbose;
        self
    }

    /// Lets so many threads work at once.
    pub fn on_threads(mut self, threads: usize) -> Watch<'a> {
        self.threads = threads;
        self
    }

    /// Time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The most bytes seen allocated.
    pub fn peak(&self) -> usize {
        self.peak.fetch_max(allocated(), Ordering::Relaxed).max(allocated())
    }

    fn stop(&self, progress: &Progress) -> Option<Stop> {
        let memory = allocated();
        self.peak.fetch_max(memory, Ordering::Relaxed);
        if self.interrupt.is_raised() {
            return Some(Stop::Interrupt);
        }
        if self.budget.time.is_some_and(|time| self.elapsed() >= time) {
            return Some(Stop::Time);
        }
        if memory.saturating_add(progress.coming) > self.budget.memory {
            return Some(Stop::Memory);
        }
        self.budget.states.is_some_and(|most| progress.states > most).then_some(Stop::States)
    }
}

impl Monitor for Watch<'_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        if let Some(stop) = self.stop(progress) {
            return Err(stop);
        }
        let (elapsed, limit) = (self.elapsed(), self.budget.time);
        self.display.update(self.task, &ProgressReport { label: &self.label, progress, elapsed, limit });
        Ok(())
    }

    fn threads(&self) -> usize {
        self.threads
    }

    fn note(&self, text: &str) {
        if self.verbose {
            self.display.pause(|| anstream::eprintln!("{}: {text}", self.label));
        }
    }

    fn leave(&self, engine: &'static str) {
        self.display.end(self.task, Some(engine));
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.display.end(self.task, None);
    }
}

/// Signals so soon after the first are the same request.
#[cfg(not(target_family = "wasm"))]
const ONE_REQUEST: Duration = Duration::from_millis(300);

/// Remembers that the user asked to stop, and what must not be left behind.
#[derive(Clone, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    unfinished: Arc<Mutex<Vec<PathBuf>>>,
}

impl Interrupt {
    /// Listens to Ctrl-C (and requests to terminate) from now on. The first lets everybody end
    /// their work and report; the second ends the process, unless it belongs to the first (`timeout`
    /// asks the process and its group at once).
    pub fn listen() -> Interrupt {
        let interrupt = Interrupt::default();
        #[cfg(not(target_family = "wasm"))]
        interrupt.hear();
        interrupt
    }

    #[cfg(not(target_family = "wasm"))]
    fn hear(&self) {
        let heard = self.clone();
        let mut first: Option<Instant> = None;
        // Without a handler Ctrl-C simply ends the process: worse, but no reason to give up.
        let _ = ctrlc::set_handler(move || {
            heard.raise();
            if first.get_or_insert_with(Instant::now).elapsed() > ONE_REQUEST {
                heard.remove_unfinished();
                std::process::exit(crate::exit::INTERRUPTED);
            }
        });
    }

    /// Whether somebody asked to stop.
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::SeqCst)
    }

    /// A file that must not survive if the process ends now.
    pub fn begin(&self, file: &Path) {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).push(file.to_path_buf());
    }

    /// The file is finished, or gone.
    pub fn finish(&self, file: &Path) {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).retain(|kept| kept != file);
    }

    #[cfg(not(target_family = "wasm"))]
    fn remove_unfinished(&self) {
        for file in self.unfinished.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            let _ = std::fs::remove_file(file);
        }
    }

    /// As if the user had asked.
    pub fn raise(&self) {
        self.raised.store(true, Ordering::SeqCst);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNLIMITED: Budget = Budget { time: None, memory: usize::MAX, states: None };

    fn check(budget: Budget, states: usize, expected: Result<(), Stop>) {
        let (interrupt, display) = (Interrupt::default(), ProgressDisplay::new(true));
        let watch = Watch::new(budget, &interrupt, &display, String::new());
        let progress = Progress { states, ..Progress::default() };
        assert_eq!(watch.observe(&progress), expected);
        interrupt.raise();
        assert_eq!(watch.observe(&progress), Err(Stop::Interrupt));
    }

    #[test]
    fn each_limit_stops() {
        check(UNLIMITED, 1000, Ok(()));
        check(Budget { time: Some(Duration::ZERO), ..UNLIMITED }, 0, Err(Stop::Time));
        check(Budget { memory: 1, ..UNLIMITED }, 0, Err(Stop::Memory));
        let (interrupt, display) = (Interrupt::default(), ProgressDisplay::new(true));
        let roomy = Budget { memory: 1 << 40, ..UNLIMITED };
        let watch = Watch::new(roomy, &interrupt, &display, String::new());
        let growing = |coming| watch.observe(&Progress { coming, ..Progress::default() });
        assert_eq!((growing(0), growing(1 << 40)), (Ok(()), Err(Stop::Memory)));
        check(Budget { states: Some(10), ..UNLIMITED }, 10, Ok(()));
        check(Budget { states: Some(10), ..UNLIMITED }, 11, Err(Stop::States));
    }
}
