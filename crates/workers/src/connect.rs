//! How processes find each other.
//!
//! A process listens for those behind it in the list and calls those before it, again and again until they are there.
//! The first thing that a caller says is who it is and what it takes the others for; whoever expects something else
//! hangs up.

use crate::Hosts;
use std::io::{ErrorKind, Read, Write};
use std::net::{TcpListener, TcpStream, ToSocketAddrs};
use std::time::Duration;

/// How long to wait between two attempts.
const PAUSE: Duration = Duration::from_millis(20);

/// How long to wait for somebody who may not answer.
const ANSWER: Duration = Duration::from_secs(2);

/// Connections to all other processes, in order, as long as `go_on` says so.
pub(crate) fn connect(
    hosts: &Hosts,
    threads: usize,
    go_on: &dyn Fn() -> Result<(), String>,
) -> Result<Vec<Option<TcpStream>>, String> {
    let me = &hosts.addresses[hosts.process];
    let cannot_listen = |error| format!("process {} cannot listen on {me}: {error}", hosts.process);
    let listener = TcpListener::bind(me).map_err(cannot_listen)?;
    listener.set_nonblocking(true).map_err(cannot_listen)?;
    let count = hosts.addresses.len();
    let mut found: Vec<Option<TcpStream>> = (0..count).map(|_| None).collect();
    let is_there = |found: &[Option<TcpStream>], at: usize| at == hosts.process || found[at].is_some();
    while !(0..count).all(|at| is_there(&found, at)) {
        go_on()?;
        match listener.accept() {
            Ok((stream, _)) => {
                if let Some((at, stream)) = greeted(stream, hosts, threads) {
                    found[at] = Some(stream);
                }
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => std::thread::sleep(PAUSE),
            Err(error) => return Err(cannot_listen(error)),
        }
        for (at, stream) in found.iter_mut().enumerate().take(hosts.process) {
            if stream.is_none() {
                *stream = call(hosts, threads, at)?;
            }
        }
    }
    Ok(found)
}

/// What a caller says first: that it is one of us, and as what.
fn greeting(hosts: &Hosts, process: usize, threads: usize) -> [u8; 32] {
    let mut said = [0; 32];
    let version = concat!("fencewright ", env!("CARGO_PKG_VERSION"), "       ").as_bytes();
    said[..18].copy_from_slice(&version[..18]);
    for (at, number) in [process, hosts.addresses.len(), threads].into_iter().enumerate() {
        said[20 + 4 * at..24 + 4 * at].copy_from_slice(&(number as u32).to_le_bytes());
    }
    said
}

/// Calls a process; nothing if it is not there yet.
fn call(hosts: &Hosts, threads: usize, at: usize) -> Result<Option<TcpStream>, String> {
    let address = &hosts.addresses[at];
    let resolved = address.to_socket_addrs().map_err(|error| format!("process {at}, {address}: {error}"))?;
    let mut reached = resolved.filter_map(|address| TcpStream::connect_timeout(&address, ANSWER).ok());
    Ok(reached.next().and_then(|mut stream| {
        stream.set_nodelay(true).ok()?;
        stream.write_all(&greeting(hosts, hosts.process, threads)).ok()?;
        Some(stream)
    }))
}

/// Who calls, if it is one of the processes behind this one.
fn greeted(mut stream: TcpStream, hosts: &Hosts, threads: usize) -> Option<(usize, TcpStream)> {
    stream.set_nonblocking(false).ok()?;
    stream.set_nodelay(true).ok()?;
    stream.set_read_timeout(Some(ANSWER)).ok()?;
    let mut said = [0; 32];
    stream.read_exact(&mut said).ok()?;
    stream.set_read_timeout(None).ok()?;
    let expected = |process: &usize| said == greeting(hosts, *process, threads);
    let process = (hosts.process + 1..hosts.addresses.len()).find(expected)?;
    Some((process, stream))
}
