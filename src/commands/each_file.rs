//! Commands that work on several files: folders are walked, files worked on at once, answers
//! printed in order, and the worst exit code wins.

use crate::console::Console;
use crate::evidence_files::stems;
use crate::exit::{Exit, Failure};
use crate::input::{Unreadable, expand};
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

/// Calls `work` on every file, with a name for its evidence.
pub fn each_file(
    paths: &[PathBuf],
    threads: Option<usize>,
    (interrupt, display, console): (&Interrupt, &Display, &Console),
    work: impl Fn(&Found, &str) -> (Printed, Exit) + Sync,
) -> Result<Exit, Failure> {
    let files = expand(paths);
    let named: Vec<&Path> = files.iter().map(|file| file.as_deref().unwrap_or(Path::new(""))).collect();
    let stems = stems(&named);
    let threads = threads.unwrap_or_else(|| available_parallelism().map_or(1, usize::from));
    // Files that were not begun because the user asked to stop.
    let skipped = AtomicUsize::new(0);
    let begin = |at: usize| {
        if interrupt.is_raised() {
            skipped.fetch_add(1, Ordering::Relaxed);
            return (Printed::default(), Exit::Holds);
        }
        work(&files[at], &stems[at])
    };
    let mut worst = Exit::Holds;
    let ended = in_order(files.len(), threads, begin, |(printed, exit)| {
        worst = worst.worst(exit);
        display.pause(|| console.print(&printed)).inspect_err(|_| interrupt.raise())
    });
    display.pause(|| ());
    ended?;
    match skipped.load(Ordering::Relaxed) {
        0 => Ok(worst),
        skipped => {
            anstream::eprintln!("interrupted: {} not looked at", counted(skipped, "file"));
            Ok(worst.worst(Exit::Unknown))
        }
    }
}
