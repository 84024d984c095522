//! Live registers: those whose value may still be read.
//!
//! The usual backward data flow: a register is live before an edge if the edge reads it, or
//! if it is live after the edge and the edge does not write it. A failure keeps the
//! registers of the index it reports; a register that a property speaks of is always live.
//! Two states that differ in dead registers only behave alike, so machines forget those.

use crate::{FailureKind, Loc, Op, Place, Program, RegId, Thread, ThreadId};

/// For every thread and location, the live registers in increasing order.
#[derive(Clone, Debug)]
pub struct Liveness {
    threads: Vec<Vec<Vec<RegId>>>,
}

impl Liveness {
    /// Computes the live registers of all threads.
    pub fn of(program: &Program) -> Liveness {
        let mut observed = vec![Vec::new(); program.threads.len()];
        for place in program.observed() {
            if let Place::Register(thread, register) = place {
                observed[thread.index()].push(register);
            }
        }
        let threads = program.threads.iter().zip(&observed).map(|(t, o)| live_in(t, o)).collect();
        Liveness { threads }
    }

    /// Calls every register live everywhere: the unreduced view, for comparison.
    pub fn all(program: &Program) -> Liveness {
        let everything = |t: &Thread| (0..t.registers.len()).map(RegId::new).collect::<Vec<_>>();
        let threads = program.threads.iter().map(|t| vec![everything(t); t.locs().count()]).collect();
        Liveness { threads }
    }

    /// The live registers at a location, in increasing order.
    pub fn at(&self, thread: ThreadId, loc: Loc) -> &[RegId] {
        &self.threads[thread.index()][loc.index()]
    }
}

fn live_in(thread: &Thread, observed: &[RegId]) -> Vec<Vec<RegId>> {
    let entering = thread.entering();
    let mut live = vec![vec![false; thread.registers.len()]; entering.len()];
    for (loc, live) in live.iter_mut().enumerate() {
        observed.iter().for_each(|r| live[r.index()] = true);
        if let Some(failure) = &thread.location(Loc::new(loc)).failure
            && let FailureKind::Bounds { index, .. } = &failure.kind
        {
            index.for_each_leaf(&mut |r| live[r.index()] = true);
        }
    }
    let mut work: Vec<Loc> = thread.locs().collect();
    while let Some(loc) = work.pop() {
        for edge in entering[loc.index()].iter().map(|id| thread.edge(*id)) {
            let mut before = live[loc.index()].clone();
            flow_back(&edge.op, &mut before);
            let known = &mut live[edge.from.index()];
            let grown = known.iter().zip(&before).any(|(known, new)| *new && !known);
            if grown {
                known.iter_mut().zip(&before).for_each(|(known, new)| *known |= new);
                work.push(edge.from);
            }
        }
    }
    let members = |set: &Vec<bool>| (0..set.len()).filter(|&r| set[r]).map(RegId::new).collect();
    live.iter().map(members).collect()
}

fn flow_back(op: &Op, live: &mut [bool]) {
    for part in op.parts().iter().rev() {
        if let Some(written) = part.writes() {
            live[written.index()] = false;
        }
        part.for_each_read(&mut |read| live[read.index()] = true);
    }
}
