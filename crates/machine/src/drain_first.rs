//! Where a thread may wait until its stores have drained, without loss.
//!
//! A thread that stores and never looks at what others write cannot tell when its stores drain; and nobody
//! can tell when it issued them. So take a run and let such a thread act *later*: each step right after the
//! drains of all stores before it. Drains stay where they are, so memory and all other threads are at all
//! times as they were. That a thread which stores on and on had ever longer buffers was of no use: one in
//! which it waits has the same violations, and short buffers. What counts, for waiting at a location:
//!
//! * from there on, up to the next operation that waits anyway, it loads only variables that no other thread
//!   writes: those it finds as it left them, buffered or not;
//! * what it stores from there on drains after all that it waits for: the model keeps all stores in
//!   order, or these to one variable, or a store fence stands between the two;
//! * no property speaks of the thread. (If it fails itself: after the last step that it could not take later it
//!   may as well act alone, before anybody else starts an atomic section, and then all drains are possible.)
//!
//! Threads whose buffers are bounded are left as they are: they need none of this.

use crate::Model;
use crate::settled::stored_by_others;
use program::{Edge, Fence, Loc, Op, Place, Program, Thread, ThreadId, VarId};
use std::collections::BTreeSet;

/// By location of a thread: whether it may wait there until all its stores have drained.
pub(crate) fn waiting_locations(program: &Program, model: Model, id: ThreadId) -> Vec<bool> {
    let thread = program.thread(id);
    let nowhere = vec![false; thread.locs().count()];
    let of_thread = |place: &Place| matches!(place, Place::At(t, _) | Place::Register(t, _) if *t == id);
    if !model.buffers() || thread.piling_up().is_none() || program.observed().iter().any(of_thread) {
        return nowhere;
    }
    let looks = looks_around(program, id);
    let (from, to) = (|edge: &Edge| edge.from, |edge: &Edge| edge.to);
    let (behind, ahead) = (stores_beside(thread, from, to), stores_beside(thread, to, from));
    let in_order = |loc: Loc| {
        let pairs = |a: &VarId| ahead[loc.index()].iter().all(|b| model.share_a_queue(*a, *b));
        behind[loc.index()].iter().all(pairs)
    };
    // Whoever has ended waits for nothing.
    let goes_on = |loc: Loc| thread.outgoing(loc).next().is_some();
    thread.locs().map(|loc| goes_on(loc) && !looks[loc.index()] && in_order(loc)).collect()
}

/// By location: whether a load of what others write can come before the next operation that waits.
fn looks_around(program: &Program, id: ThreadId) -> Vec<bool> {
    let others = stored_by_others(program, id);
    let thread = program.thread(id);
    let loads = |edge: &Edge| {
        let mut found = false;
        edge.op.for_each_part(&mut |part| {
            found |= matches!(part, Op::Load(_, variable) if others.contains(variable));
        });
        found
    };
    let mut looks = vec![false; thread.locs().count()];
    until_nothing_changes(thread, |edge| {
        let does = !edge.op.waits() && (loads(edge) || looks[edge.to.index()]);
        does && !std::mem::replace(&mut looks[edge.from.index()], true)
    });
    looks
}

/// By location: what a thread may have stored since it waited or passed a store fence, or may store before it
/// does, as `from` and `to` say in which direction edges are followed.
fn stores_beside(thread: &Thread, from: fn(&Edge) -> Loc, to: fn(&Edge) -> Loc) -> Vec<BTreeSet<VarId>> {
    let mut beside = vec![BTreeSet::new(); thread.locs().count()];
    until_nothing_changes(thread, |edge| {
        if separates(&edge.op) {
            return false;
        }
        let more: Vec<VarId> =
            beside[from(edge).index()].iter().copied().chain(thread.delayed_store(edge)).collect();
        let there = &mut beside[to(edge).index()];
        more.into_iter().filter(|variable| there.insert(*variable)).count() > 0
    });
    beside
}

/// Whether all stores before it drain before all stores behind it.
fn separates(op: &Op) -> bool {
    op.waits() || matches!(op, Op::Fence(Fence::Store))
}

/// Looks at all edges again and again until none says that it changed something.
fn until_nothing_changes(thread: &Thread, mut changes: impl FnMut(&Edge) -> bool) {
    while thread.edges().iter().filter(|edge| changes(edge)).count() > 0 {}
}
