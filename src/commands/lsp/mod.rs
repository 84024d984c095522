//! `lsp`: the Language Server Protocol, for editors.
//!
//! One thread reads messages, this one answers them, and tasks in the background verify. All meet
//! in one queue of [`ServerEvent`]s, so nothing here needs a lock. Texts are read when somebody asks about
//! them or when the queue is empty: fast typing does not pile up work. The protocol is small enough
//! to speak it without a library, and that way no message, however broken, ends the conversation.

mod complete;
mod document;
mod help;
mod hover;
mod lines;
mod message;
mod names;
mod repair;
mod requests;
mod server;
mod settings;
mod story;
mod tasks;
mod verdict;
mod wire;

pub use help::keyword as keyword_help;

use crate::exit::{CommandError, Exit};
use evidence::STACK;
use server::{Next, Server};
use std::io::{self, BufReader};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread;
use std::time::{Duration, Instant};
use tasks::TaskResult;
use wire::Incoming;

/// Something that happened.
pub enum ServerEvent {
    /// A message, or something that is none.
    Frame(Incoming),
    /// The client is gone.
    Closed,
    /// How far a task is.
    Progress(u64, String),
    /// A task has ended.
    Done(u64, TaskResult),
}

/// Longer than this nobody waits at a time.
const LONG: Duration = Duration::from_secs(3600);

/// Runs the command.
pub fn lsp() -> Result<Exit, CommandError> {
    // A bug must end one answer, not the conversation; standard output is for the protocol alone.
    std::panic::set_hook(Box::new(|panic| {
        anstream::eprintln!("this is a bug in fencewright, please report it: {panic}");
    }));
    // A thread of its own, because that has the stack that deep programs need.
    let served = thread::Builder::new().stack_size(STACK).spawn(serve)?;
    served.join().unwrap_or_else(|_| Err(CommandError::Message("the server ended by a bug".to_string())))
}

fn serve() -> Result<Exit, CommandError> {
    let (send, events) = mpsc::channel();
    let reader = send.clone();
    thread::Builder::new().spawn(move || read_all(&reader))?;
    let mut server = Server::new(send, io::stdout());
    loop {
        let Some(event) = next_event(&mut server, &events)? else { continue };
        if let Next::Exit(clean) = server.handle(event)? {
            // The protocol wants 1 if nobody said `shutdown`.
            return Ok(if clean { Exit::Holds } else { Exit::Violated });
        }
    }
}

/// A whole conversation for fuzz targets: every message is answered before the next is read, and
/// what goes on in the background is not waited for.
pub fn conversation(mut input: &[u8]) -> io::Result<Vec<u8>> {
    let mut output = Vec::new();
    let mut server = Server::new(mpsc::channel().0, &mut output);
    while let Some(frame) = wire::read(&mut input)? {
        if let Next::Exit(_) = server.handle(ServerEvent::Frame(frame))? {
            break;
        }
        server.idle()?;
    }
    Ok(output)
}

/// The next event; before waiting for one, what is due is done. `None` if something else is due.
fn next_event(
    server: &mut Server<io::Stdout>,
    events: &Receiver<ServerEvent>,
) -> io::Result<Option<ServerEvent>> {
    match events.try_recv() {
        Ok(event) => return Ok(Some(event)),
        Err(TryRecvError::Disconnected) => return Ok(Some(ServerEvent::Closed)),
        Err(TryRecvError::Empty) => {}
    }
    server.idle()?;
    let wait = server.due().map_or(LONG, |due| due.saturating_duration_since(Instant::now()));
    match events.recv_timeout(wait) {
        Ok(event) => Ok(Some(event)),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Ok(Some(ServerEvent::Closed)),
    }
}

fn read_all(events: &Sender<ServerEvent>) {
    let mut input = BufReader::new(io::stdin());
    while let Ok(Some(frame)) = wire::read(&mut input) {
        if events.send(ServerEvent::Frame(frame)).is_err() {
            return;
        }
    }
    let _ = events.send(ServerEvent::Closed);
}
