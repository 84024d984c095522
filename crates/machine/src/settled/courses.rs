//! Where a thread may go on by itself, read off its text.

use super::spins::{Spin, spins};
use crate::Model;
use program::{
    Cond, Edge, Expr, Fence, Loc, Op, Place, Program, PropertyKind, RegId, Relation, Thread, ThreadId, VarId,
};
use std::collections::BTreeSet;

/// What a thread does at a location as far as others are concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Course {
    /// Others may notice its next step, or the step notices others.
    Stays,
    /// Whatever it does next is its own affair.
    Goes,
    /// The same, once its stores have drained.
    GoesDrained,
    /// It waits in this loop for somebody else.
    Spins(usize),
}

/// What the text of one thread says.
pub(crate) struct Courses {
    by_loc: Vec<Course>,
    /// By location: whether a step from there computes with registers alone.
    pub(super) local: Vec<bool>,
    /// By edge: whether it leads back. There is no cycle without such an edge.
    pub(crate) back: Vec<bool>,
    pub(super) spins: Vec<Spin>,
}

impl Courses {
    /// Looks at a thread; `live` says which registers may still be read at a location.
    pub(super) fn new(
        program: &Program,
        model: Model,
        thread: ThreadId,
        live: &dyn Fn(Loc) -> Vec<RegId>,
    ) -> Courses {
        let automaton = program.thread(thread);
        let seen = SeenByClaims::of(program, thread);
        let alone = |edge: &Edge| seen.misses(automaton, edge);
        let every = |loc: Loc, fits: &dyn Fn(&Edge) -> bool| {
            let mut edges = automaton.outgoing(loc).map(|(_, edge)| edge).peekable();
            edges.peek().is_some() && edges.all(|edge| alone(edge) && fits(edge))
        };
        let local: Vec<bool> = automaton.locs().map(|loc| every(loc, &|edge| computes(&edge.op))).collect();
        let spins = spins(automaton, &local, &|loc, edge| alone(edge) && !automaton.in_atomic(loc), live);
        let theirs = stored_by_others(program, thread);
        // What commutes with all that others do, and with drains.
        let own = |edge: &Edge| match &edge.op {
            Op::Store(..) => model.buffers() && automaton.delayed_store(edge).is_some(),
            Op::Load(_, variable) => !theirs.contains(variable),
            Op::Fence(_) => true,
            op => computes(op),
        };
        // While somebody is inside an atomic section a load waits, and another edge would be the only one.
        let chooses = |loc: Loc| {
            let loads = automaton.outgoing(loc).any(|(_, edge)| matches!(edge.op, Op::Load(..)));
            loads && automaton.outgoing(loc).count() > 1
        };
        let mut waiting = vec![None; local.len()];
        for (at, spin) in spins.iter().enumerate() {
            spin.nodes.iter().for_each(|node| waiting[node.index()] = Some(at));
        }
        let course = |loc: Loc| {
            let waits = automaton.outgoing(loc).any(|(_, edge)| edge.op == Op::Fence(Fence::Full));
            match waiting[loc.index()] {
                Some(spin) => Course::Spins(spin),
                None if !every(loc, &own) || chooses(loc) => Course::Stays,
                None if waits => Course::GoesDrained,
                None => Course::Goes,
            }
        };
        let by_loc = automaton.locs().map(course).collect();
        Courses { by_loc, local, back: back_edges(automaton), spins }
    }

    pub(crate) fn at(&self, loc: Loc, drained: bool) -> Course {
        match self.by_loc[loc.index()] {
            Course::GoesDrained if drained => Course::Goes,
            Course::GoesDrained => Course::Stays,
            course => course,
        }
    }
}

/// What properties see of a thread at any time.
#[derive(Default)]
struct SeenByClaims {
    /// Locations that it makes a difference to leave.
    locs: BTreeSet<Loc>,
    /// Locations at which to arrive could make a violated property hold.
    unwelcome: BTreeSet<Loc>,
    registers: BTreeSet<RegId>,
}

impl SeenByClaims {
    /// `finally` is asked where all threads have ended, and nobody goes on from there.
    fn of(program: &Program, thread: ThreadId) -> SeenByClaims {
        let mut seen = SeenByClaims::default();
        let never = program.properties.iter().filter(|property| property.kind == PropertyKind::Never);
        never.for_each(|property| seen.look(&property.cond, thread));
        seen
    }

    fn look(&mut self, cond: &Cond<Place>, thread: ThreadId) {
        match cond {
            Cond::And(parts) | Cond::Or(parts) => parts.iter().for_each(|part| self.look(part, thread)),
            Cond::Compare(Relation::Ne, Expr::Leaf(Place::At(t, loc)), Expr::Const(zero))
                if *zero == 0.into() =>
            {
                if *t == thread {
                    self.locs.insert(*loc);
                }
            }
            other => other.for_each_leaf(&mut |place| match *place {
                Place::At(t, loc) if t == thread => {
                    self.locs.insert(loc);
                    self.unwelcome.insert(loc);
                }
                Place::Register(t, register) if t == thread => {
                    self.registers.insert(register);
                }
                _ => {}
            }),
        }
    }

    /// Whether no property that is violated before an edge holds after it, as far as the thread itself goes.
    fn misses(&self, thread: &Thread, edge: &Edge) -> bool {
        let mut written = false;
        edge.op.for_each_part(&mut |part| {
            written |= part.writes().is_some_and(|register| self.registers.contains(&register));
        });
        !written
            && !self.locs.contains(&edge.from)
            && !self.unwelcome.contains(&edge.to)
            && thread.in_atomic(edge.from) == thread.in_atomic(edge.to)
    }
}

/// Whether an operation computes with registers alone and leaves no choice.
fn computes(op: &Op) -> bool {
    matches!(op, Op::Skip | Op::Assign(..) | Op::Assume(_))
}

/// The variables that other threads store to.
pub(crate) fn stored_by_others(program: &Program, thread: ThreadId) -> BTreeSet<VarId> {
    let mut stored = BTreeSet::new();
    for other in program.thread_ids().filter(|other| *other != thread) {
        for edge in program.thread(other).edges() {
            edge.op.for_each_part(&mut |part| {
                if let Op::Store(variable, _) = part {
                    stored.insert(*variable);
                }
            });
        }
    }
    stored
}

/// The edges that lead back to a location that is being visited: without them there is no cycle.
pub(crate) fn back_edges(thread: &Thread) -> Vec<bool> {
    let count = thread.locs().count();
    let (mut entered, mut left) = (vec![false; count], vec![false; count]);
    let mut back = vec![false; thread.edges().len()];
    for root in thread.locs() {
        if entered[root.index()] {
            continue;
        }
        entered[root.index()] = true;
        let mut stack = vec![(root, 0)];
        while let Some((loc, edge)) = stack.pop() {
            let Some((id, out)) = thread.outgoing(loc).nth(edge) else {
                left[loc.index()] = true;
                continue;
            };
            stack.push((loc, edge + 1));
            let to = out.to.index();
            if !entered[to] {
                entered[to] = true;
                stack.push((out.to, 0));
            } else if !left[to] {
                back[id.index()] = true;
            }
        }
    }
    back
}
