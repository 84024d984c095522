//! Workers on timely dataflow: threads of this process, or processes on several machines.
//!
//! The dataflow is one exchange of parcels, and a round is a timestamp: a worker puts what it posts into the
//! dataflow, advances its input to the next time, and waits until nothing with an earlier time is on its way
//! to anybody. What the workers compute is none of the dataflow's business; so what they work on may live on the
//! stack of whoever asks, while timely's threads carry the parcels.

mod connect;
mod dataflow;
mod lost;
mod parcel;

use connect::connect;
use dataflow::{RunningDataflow, start};
use evidence::{Crew, Ignore, Lost, Monitor, Progress, Rounds, STACK};
use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// Where processes find each other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hosts {
    /// `host:port` of every process, in the same order for all.
    pub addresses: Vec<String>,
    /// Which of them this process is.
    pub process: usize,
}

/// Workers that share work; they start when there is some.
pub struct Workers {
    /// In this process.
    threads: usize,
    hosts: Option<Hosts>,
    running: Mutex<Option<RunningDataflow>>,
}

impl Workers {
    /// So many threads of this process.
    pub fn threads(threads: usize) -> Workers {
        Workers { threads: threads.max(1), hosts: None, running: Mutex::default() }
    }

    /// So many threads of every process.
    pub fn on_hosts(threads: usize, hosts: Hosts) -> Workers {
        Workers { hosts: Some(hosts), ..Workers::threads(threads) }
    }

    /// Waits until all processes are there, as long as the monitor lets it.
    pub fn connect(&self, monitor: &dyn Monitor) -> Result<(), String> {
        let others = match &self.hosts {
            None => Vec::new(),
            Some(hosts) => connect(hosts, self.threads, &|| {
                let progress = Progress { phase: "waiting for other processes", ..Progress::default() };
                let stopped = |stop| format!("{stop} while waiting for other processes");
                monitor.observe(&progress).map_err(stopped)
            })?,
        };
        let process = self.hosts.as_ref().map_or(0, |hosts| hosts.process);
        *self.running() = Some(start(self.threads, process, others)?);
        Ok(())
    }

    fn running(&self) -> MutexGuard<'_, Option<RunningDataflow>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Crew for Workers {
    fn workers(&self) -> usize {
        self.threads * self.hosts.as_ref().map_or(1, |hosts| hosts.addresses.len())
    }

    fn here(&self) -> Range<usize> {
        let first = self.threads * self.hosts.as_ref().map_or(0, |hosts| hosts.process);
        first..first + self.threads
    }

    fn work(&self, part: &(dyn Fn(&mut dyn Rounds) + Sync)) -> Result<(), Lost> {
        if self.running().is_none() {
            self.connect(&Ignore).map_err(Lost)?;
        }
        let mut running = self.running();
        let Some(running) = &mut *running else { return Err(Lost("the workers ended".to_string())) };
        thread::scope(|scope| {
            for worker in &mut running.ends {
                let spawned =
                    thread::Builder::new().stack_size(STACK).spawn_scoped(scope, move || part(worker));
                spawned.map_err(|error| Lost(format!("no thread can be had for a worker: {error}")))?;
            }
            Ok(())
        })
    }
}

/// What tests look at and nobody else should.
#[doc(hidden)]
pub mod inside {
    pub use crate::parcel::{Content, Parcel, sorted};
}
