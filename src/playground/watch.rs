//! Limits in a page: its clock, and what the allocator has counted.

use super::PageHost;
use crate::limits::allocated;
use evidence::{Monitor, Progress, Stop};
use serde_json::json;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

/// Seconds between two reports of progress.
const PAUSE: f64 = 0.1;

/// Watches one question of a page.
pub struct PageWatch {
    host: PageHost,
    started: f64,
    seconds: f64,
    bytes: usize,
    peak: AtomicUsize,
    /// When progress was last told: the bits of seconds since the start.
    told: AtomicU64,
}

impl PageWatch {
    /// Starts the clock.
    pub fn new(host: PageHost, seconds: f64, bytes: usize) -> PageWatch {
        PageWatch {
            host,
            started: (host.now)(),
            seconds,
            bytes,
            peak: AtomicUsize::new(allocated()),
            told: AtomicU64::new(0),
        }
    }

    /// Seconds since the start.
    pub fn elapsed(&self) -> f64 {
        (self.host.now)() - self.started
    }

    /// The most bytes seen allocated.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed).max(allocated())
    }

    fn tell(&self, progress: &Progress, elapsed: f64, memory: usize) {
        if elapsed - f64::from_bits(self.told.load(Ordering::Relaxed)) < PAUSE {
            return;
        }
        self.told.store(elapsed.to_bits(), Ordering::Relaxed);
        let told = json!({
            "engine": progress.engine,
            "phase": progress.phase,
            "states": progress.states,
            "bytes": memory,
            "seconds": elapsed,
        });
        (self.host.tell)(&told.to_string());
    }
}

impl Monitor for PageWatch {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        let (memory, elapsed) = (allocated(), self.elapsed());
        self.peak.fetch_max(memory, Ordering::Relaxed);
        if elapsed >= self.seconds {
            return Err(Stop::Time);
        }
        if memory.saturating_add(progress.coming) > self.bytes {
            return Err(Stop::Memory);
        }
        self.tell(progress, elapsed, memory);
        Ok(())
    }
}
