//! What lies ahead of a thread that may go first.
//!
//! A proof by cubes looks only at one thread's edges where that thread may go first
//! ([`LocalFirst`]), so its controls are not all that can be reached. But let every thread run on
//! from where it may go first until it stands where it may not: the state *ahead*. Such steps
//! commute with all others, so the proof covers the state ahead of every reachable state. The two
//! have the same memory; they differ only in registers that the threads write and in stores
//! that they issue on the way, and what a thread stores first it stores before these. So
//! what is known ahead, of slots that do not change on the way, is known at once.

use machine::LocalFirst;
use program::{Loc, Op, Program, RegId, ThreadId, VarId};
use std::collections::BTreeSet;

/// The way ahead from a location.
#[derive(Clone, Debug, Default)]
pub(super) struct WayAhead {
    /// Where it can end.
    pub(super) ends: BTreeSet<Loc>,
    /// What is written on it.
    pub(super) registers: BTreeSet<RegId>,
    /// What is stored to on it.
    pub(super) variables: BTreeSet<VarId>,
}

/// The ways from all locations of all threads.
pub(super) struct Ahead {
    ways: Vec<Vec<WayAhead>>,
    /// By thread: the registers written on any way.
    written: Vec<BTreeSet<RegId>>,
}

impl Ahead {
    pub(super) fn new(program: &Program, first: &LocalFirst) -> Ahead {
        let thread =
            |id: ThreadId| program.thread(id).locs().map(|loc| way(program, first, id, loc)).collect();
        let ways: Vec<Vec<WayAhead>> = program.thread_ids().map(thread).collect();
        let written =
            |ways: &Vec<WayAhead>| ways.iter().flat_map(|way| way.registers.iter().copied()).collect();
        Ahead { written: ways.iter().map(written).collect(), ways }
    }

    pub(super) fn from(&self, thread: ThreadId, loc: Loc) -> &WayAhead {
        &self.ways[thread.index()][loc.index()]
    }

    /// Whether a thread may write a register on some way ahead.
    pub(super) fn writes(&self, thread: ThreadId, register: RegId) -> bool {
        self.written[thread.index()].contains(&register)
    }
}

fn way(program: &Program, first: &LocalFirst, id: ThreadId, start: Loc) -> WayAhead {
    let mut way = WayAhead::default();
    let mut seen = BTreeSet::from([start]);
    let mut work = vec![start];
    while let Some(loc) = work.pop() {
        if !first.at(id, loc) {
            way.ends.insert(loc);
            continue;
        }
        for (_, edge) in program.thread(id).outgoing(loc) {
            way.registers.extend(edge.op.writes());
            if let Op::Store(variable, _) = &edge.op {
                way.variables.insert(*variable);
            }
            if seen.insert(edge.to) {
                work.push(edge.to);
            }
        }
    }
    way
}
