//! Commands that work on several files: folders are walked, files worked on at once, answers
//! printed in order, and the worst exit code wins.

use crate::console::Console;
use crate::evidence_files::stems;
use crate::exit::{Exit, Failure};
use crate::input::Unreadable;
use crate::limits::Interrupt;
use crate::numbers::counted;
use crate::parallel::in_order;
use crate::progress::Display;
use crate::report::Printed;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::available_parallelism;

/// A file that was found, or why it was not.
pub type Found = Result<PathBuf, Box<Unreadable>>;

/// What the work on a file came to: what to print, how it ended, and something more.
pub struct Done<T> {
    /// What to print.
    pub printed: Printed,
    /// How it ended.
    pub exit: Exit,
    /// What is wanted besides.
    pub more: T,
}

/// Calls `work` on every file, with a name for its evidence; the worst exit code, and of every file
/// what was wanted besides.
pub fn each_file<T: Send>(
    files: Vec<Found>,
    threads: usize,
    (interrupt, display, console): (&Interrupt, &Display, &Console),
    work: impl Fn(&Found, &str) -> Done<T> + Sync,
) -> Result<(Exit, Vec<T>), Failure> {
    let named: Vec<&Path> = files.iter().map(|file| file.as_deref().unwrap_or(Path::new(""))).collect();
    let stems = stems(&named);
    // Files that were not begun because the user asked to stop.
    let skipped = AtomicUsize::new(0);
    let begin = |at: usize| {
        if interrupt.is_raised() {
            skipped.fetch_add(1, Ordering::Relaxed);
            return None;
        }
        Some(work(&files[at], &stems[at]))
    };
    let mut worst = Exit::Holds;
    let mut wanted = Vec::new();
    let ended = in_order(files.len(), threads, begin, |done| {
        let Some(Done { printed, exit, more }) = done else { return Ok(()) };
        worst = worst.worst(exit);
        wanted.push(more);
        display.pause(|| console.print(&printed)).inspect_err(|_| interrupt.raise())
    });
    display.pause(|| ());
    ended?;
    match skipped.load(Ordering::Relaxed) {
        0 => Ok((worst, wanted)),
        skipped => {
            anstream::eprintln!("interrupted: {} not looked at", counted(skipped, "file"));
            Ok((worst.worst(Exit::Unknown), wanted))
        }
    }
}

/// How many files to work on at once, unless the user says otherwise.
pub fn usual_threads() -> usize {
    available_parallelism().map_or(1, usize::from)
}
