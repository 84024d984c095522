//! Who shares large searches: threads of this process, or processes on several machines.

use crate::args::Sharing;
use crate::input::cannot_read;
use engine::Engine;
use evidence::{Alone, Crew, Monitor};
use std::fs;
use std::path::Path;

/// So many threads, for the engine that can use them.
pub fn threads(threads: usize, engine: &dyn Engine) -> Box<dyn Crew> {
    match threads > 1 && engine.name() == "explicit" {
        true => on_threads(threads),
        false => Box::new(Alone),
    }
}

/// The processes that are asked for, with so many threads each, once they are there; none if there is only this one.
pub fn processes(
    sharing: &Sharing,
    threads: Option<usize>,
    monitor: &dyn Monitor,
) -> Result<Option<Box<dyn Crew>>, String> {
    let (Some(file), Some(process)) = (&sharing.hosts, sharing.process) else { return Ok(None) };
    let addresses = addresses(file)?;
    if process >= addresses.len() {
        let (file, count) = (file.display(), addresses.len());
        return Err(format!("{file} names {count} processes, so the last is --process {}", count - 1));
    }
    on_hosts(threads.unwrap_or(1), addresses, process, monitor).map(Some)
}

/// The lines of a file of hosts.
fn addresses(file: &Path) -> Result<Vec<String>, String> {
    let text =
        fs::read_to_string(file).map_err(|error| format!("{}: {}", file.display(), cannot_read(&error)))?;
    let mut addresses = Vec::new();
    for (at, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let port = line.rsplit_once(':').and_then(|(host, port)| (!host.is_empty()).then_some(port));
        if port.is_none_or(|port| port.parse::<u16>().is_err()) {
            return Err(format!("{}, line {}: this is not HOST:PORT", file.display(), at + 1));
        }
        if addresses.iter().any(|known| known == line) {
            return Err(format!("{}, line {}: two processes cannot share a port", file.display(), at + 1));
        }
        addresses.push(line.to_string());
    }
    if addresses.is_empty() {
        return Err(format!("{} names no process", file.display()));
    }
    Ok(addresses)
}

#[cfg(feature = "workers")]
fn on_threads(threads: usize) -> Box<dyn Crew> {
    Box::new(workers::Workers::threads(threads))
}

#[cfg(feature = "workers")]
fn on_hosts(
    threads: usize,
    addresses: Vec<String>,
    process: usize,
    monitor: &dyn Monitor,
) -> Result<Box<dyn Crew>, String> {
    let workers = workers::Workers::on_hosts(threads, workers::Hosts { addresses, process });
    workers.connect(monitor)?;
    Ok(Box::new(workers))
}

#[cfg(not(feature = "workers"))]
fn on_threads(_: usize) -> Box<dyn Crew> {
    Box::new(Alone)
}

#[cfg(not(feature = "workers"))]
fn on_hosts(_: usize, _: Vec<String>, _: usize, _: &dyn Monitor) -> Result<Box<dyn Crew>, String> {
    Err("this build knows no other processes".to_string())
}
