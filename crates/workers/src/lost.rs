//! Noticing that another process ended.
//!
//! Timely's threads that read and write sockets panic when a connection breaks, and so do those that share queues
//! with them; nobody else hears of it, and workers would wait for ever. A hook notes such a panic, without printing
//! it, and whoever waits looks at the note.

use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

static BROKEN: AtomicBool = AtomicBool::new(false);
static LISTENING: Once = Once::new();

/// Begins to note broken connections.
pub(crate) fn listen() {
    LISTENING.call_once(|| {
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if is_connection(thread::current().name()) {
                BROKEN.store(true, Ordering::SeqCst);
            } else {
                usual(info);
            }
        }));
    });
}

/// Whether a connection broke.
pub(crate) fn is_broken() -> bool {
    BROKEN.load(Ordering::SeqCst)
}

/// Whether a thread of this name is one of timely's.
fn is_connection(name: Option<&str>) -> bool {
    name.is_some_and(|name| name.starts_with("timely:"))
}
