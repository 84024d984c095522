//! Who shares large searches, and where their states go.

use clap::Args;
use std::path::PathBuf;

/// Several processes, or a disk.
#[derive(Debug, Args)]
pub struct Sharing {
    /// Share large searches of explicit among processes, which may run on several machines: a file with `HOST:PORT`
    /// of each, one per line. All are started with the same arguments but for --process; process 0 prints the answer
    #[arg(long, value_name = "FILE", requires = "process")]
    pub hosts: Option<PathBuf>,

    /// Which line of --hosts this process is, from 0
    #[arg(long, value_name = "I", requires = "hosts")]
    pub process: Option<usize>,

    /// Let large searches of explicit, breadth first, have more states than fit into --memory: the others go to files
    /// in this folder, which are gone when the search ends
    #[arg(long, value_name = "DIR", conflicts_with = "hosts")]
    pub spill: Option<PathBuf>,
}
