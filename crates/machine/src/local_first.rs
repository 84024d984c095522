//! Which thread may go first, alone, without loss.
//!
//! Where everything a thread can do next touches only its own registers or joins its own buffer,
//! is seen by no property and is always possible, its steps commute with all others and never
//! disable anything: it is enough to explore that thread's edges there and leave the rest for
//! later. (A store joins one end of the buffer and a drain takes from the other: they commute.)
//! "For later" must come, so on every cycle of a thread there is a location where this is not
//! done. This is said of the exact machine; an abstraction that follows it step by step, and goes
//! first where it does, may go first as well. What counts:
//!
//! * every edge is a register operation or a buffered store, and whatever the registers hold, one
//!   can be taken (an assumption stands beside its opposite; a thread that blocks must not block
//!   the others);
//! * no property speaks of the location, of where the edges lead, or of a register they write, nor any of buffers;
//! * no edge leads back within the thread.
//!
//! A thread that waits for its stores ([`crate::drain_first`]) does not go first. The steps that are left commute
//! as they did: what a thread waits for is its own buffer alone.

use crate::Model;
use crate::drain_first::waiting_locations;
use crate::settled::back_edges;
use program::{Cond, Domain, Edge, Fence, Loc, Op, Place, Program, RegId, Renaming, Thread, ThreadId};

/// The locations of all threads where the thread may go first, and where it may wait for its stores.
#[derive(Clone, Debug)]
pub struct LocalFirst {
    threads: Vec<Vec<bool>>,
    waiting: Vec<Vec<bool>>,
}

impl LocalFirst {
    /// Looks at all threads of a program under a memory model.
    pub fn new(program: &Program, model: Model) -> LocalFirst {
        // Who sees buffers sees stores join them and drain.
        if program.speaks_of_buffers().is_some() {
            return LocalFirst::nobody(program);
        }
        let observed = program.observed();
        let thread = |t: ThreadId| first_locations(program, model, t, &observed);
        let waiting = |t: ThreadId| waiting_locations(program, model, t);
        LocalFirst {
            threads: program.thread_ids().map(thread).collect(),
            waiting: program.thread_ids().map(waiting).collect(),
        }
    }

    /// Nobody goes first or waits: the unreduced view, for comparison.
    pub fn nobody(program: &Program) -> LocalFirst {
        let nowhere: Vec<Vec<bool>> = program.threads.iter().map(|t| vec![false; t.locs().count()]).collect();
        LocalFirst { threads: nowhere.clone(), waiting: nowhere }
    }

    /// Whether a thread may go first from a location.
    pub fn at(&self, thread: ThreadId, loc: Loc) -> bool {
        self.threads.get(thread.index()).and_then(|first| first.get(loc.index())).is_some_and(|first| *first)
    }

    /// Whether a thread that stands here with stores on their way may wait until all have drained: its
    /// edges need not be looked at before.
    pub fn waits(&self, thread: ThreadId, loc: Loc, drained: bool) -> bool {
        let waiting = || self.waiting.get(thread.index()).and_then(|waiting| waiting.get(loc.index()));
        !drained && waiting().is_some_and(|waits| *waits)
    }

    /// Whether a thread waits for its stores anywhere, so that it is seen later than it may act.
    pub fn ever_waits(&self, thread: ThreadId) -> bool {
        self.waiting.get(thread.index()).is_some_and(|waiting| waiting.contains(&true))
    }

    /// Whether a renaming of threads takes places where a thread goes first, or waits, to such places.
    pub fn is_kept_by(&self, renaming: &Renaming) -> bool {
        let keeps = |places: &[Vec<bool>]| {
            places.iter().enumerate().all(|(thread, here)| {
                let new = &places[renaming.threads[thread].0.index()];
                here.iter()
                    .enumerate()
                    .all(|(loc, is)| new.get(renaming.threads[thread].1[loc].index()) == Some(is))
            })
        };
        keeps(&self.threads) && keeps(&self.waiting)
    }

    /// The thread whose edges are enough where threads stand at these locations, with stores on their way or
    /// drained, if there is one.
    pub fn thread(&self, standing: impl IntoIterator<Item = (Loc, bool)>) -> Option<ThreadId> {
        let mut threads =
            standing.into_iter().enumerate().map(|(at, standing)| (ThreadId::new(at), standing));
        let goes = |(thread, (loc, drained)): &(ThreadId, (Loc, bool))| {
            self.at(*thread, *loc) && !self.waits(*thread, *loc, *drained)
        };
        threads.find(goes).map(|(thread, _)| thread)
    }
}

fn first_locations(program: &Program, model: Model, id: ThreadId, observed: &[Place]) -> Vec<bool> {
    let thread = program.thread(id);
    let seen = |place: Place| observed.binary_search(&place).is_ok();
    let turns_back = sources_of_back_edges(thread);
    let quiet = |loc: Loc| {
        let mut edges = thread.outgoing(loc).map(|(_, edge)| edge);
        let hidden = |edge: &Edge| {
            !seen(Place::At(id, edge.to)) && edge.op.writes().is_none_or(|r| !seen(Place::Register(id, r)))
        };
        !seen(Place::At(id, loc))
            && !turns_back[loc.index()]
            && edges.all(|edge| own(thread, model, edge) && hidden(edge))
            && always_enabled(thread, loc)
    };
    thread.locs().map(quiet).collect()
}

/// Whether an edge touches nothing but the thread's registers and buffer.
fn own(thread: &Thread, model: Model, edge: &Edge) -> bool {
    match edge.op {
        Op::Store(..) => model.buffers() && thread.delayed_store(edge).is_some(),
        Op::Fence(Fence::Store) => true,
        _ => edge.op.is_local(),
    }
}

/// Whether some edge can be taken whatever the registers hold.
pub(crate) fn always_enabled(thread: &Thread, loc: Loc) -> bool {
    let ops: Vec<&Op> = thread.outgoing(loc).map(|(_, edge)| &edge.op).collect();
    let assumed: Vec<&Cond<RegId>> =
        ops.iter().filter_map(|op| if let Op::Assume(c) = op { Some(c) } else { None }).collect();
    let free = |op: &&Op| match op {
        Op::Skip | Op::Assign(..) | Op::Store(..) | Op::Fence(Fence::Store) => true,
        Op::Havoc(_, Domain::Range(low, high)) => low <= high,
        Op::Havoc(_, Domain::All) => true,
        _ => false,
    };
    let opposite = |c: &&Cond<RegId>| assumed.iter().any(|d| (*d).clone().negate() == **c);
    ops.iter().any(free) || assumed.iter().any(opposite)
}

/// The locations from which an edge leads back: removing them leaves no cycle.
fn sources_of_back_edges(thread: &Thread) -> Vec<bool> {
    let back = back_edges(thread);
    let turns_back = |loc| thread.outgoing(loc).any(|(edge, _)| back[edge.index()]);
    thread.locs().map(turns_back).collect()
}
