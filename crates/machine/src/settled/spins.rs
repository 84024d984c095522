//! Loops in which a thread only looks and waits.
//!
//! A *node* is a location with one edge that loads, followed by computations with registers alone
//! up to the next location of another kind. A *spin* is a cycle of nodes from each of which
//! the thread gets to the next or to the one *exit*; at nodes and at the exit nobody reads any
//! more what was loaded on the way, and it never gets stuck between them. So it does not matter at
//! which node the thread waits, nor how often it has looked. What a thread knows of its registers because an
//! assumption stands before a node (which cell of an array it waits for) is used to leave out ways that it cannot go.

use program::{Cond, Edge, Expr, Int, Loc, Op, RegId, Thread};
use std::collections::{BTreeMap, BTreeSet};

/// A loop in which a thread waits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Spin {
    /// Where it loads, in the order of the loop, the least location first.
    pub(super) nodes: Vec<Loc>,
    /// Where it goes on.
    pub(super) exit: Loc,
}

/// From a node, more locations than this are not looked at; nor is a loop of more nodes.
const MOST_BETWEEN: usize = 256;

/// All spins of a thread. `local` says where the next step computes with registers alone, unseen; `unseen` of an
/// edge whether nobody notices it as such; `live` which registers may still be read.
pub(super) fn spins(
    thread: &Thread,
    local: &[bool],
    unseen: &dyn Fn(Loc, &Edge) -> bool,
    live: &dyn Fn(Loc) -> Vec<RegId>,
) -> Vec<Spin> {
    let mut outcomes: BTreeMap<Loc, BTreeSet<Loc>> = BTreeMap::new();
    let looking = NodeSearch { thread, local, live, only_way: only_ways(thread) };
    for loc in thread.locs() {
        let unseen = thread.outgoing(loc).all(|(_, edge)| unseen(loc, edge));
        if let Some(found) = looking.outcomes(loc).filter(|_| unseen) {
            outcomes.insert(loc, found);
        }
    }
    let mut found = BTreeSet::new();
    for (node, next) in &outcomes {
        found.extend(next.iter().filter_map(|exit| cycle(&outcomes, *node, *exit)));
    }
    // If it is not clear which way leads out, none does.
    let mut spins_through: BTreeMap<Loc, usize> = BTreeMap::new();
    for node in found.iter().flat_map(|spin| &spin.nodes) {
        *spins_through.entry(*node).or_default() += 1;
    }
    found.retain(|spin| spin.nodes.iter().all(|node| spins_through[node] == 1));
    found.into_iter().collect()
}

/// By location, the edge that leads to it where there is just one.
fn only_ways(thread: &Thread) -> Vec<Option<&Edge>> {
    let locs = thread.locs().count();
    let (mut ways, mut entered) = (vec![None; locs], vec![false; locs]);
    for edge in thread.edges() {
        let at = edge.to.index();
        ways[at] = (!entered[at]).then_some(edge);
        entered[at] = true;
    }
    ways
}

/// The spin through a node with this exit, if there is one.
fn cycle(outcomes: &BTreeMap<Loc, BTreeSet<Loc>>, node: Loc, exit: Loc) -> Option<Spin> {
    let mut nodes = vec![node];
    loop {
        let mut next = outcomes.get(nodes.last()?)?.iter().filter(|to| **to != exit);
        let (to, None) = (*next.next()?, next.next()) else { return None };
        if to == node {
            break;
        }
        if nodes.contains(&to) || nodes.len() == MOST_BETWEEN {
            return None;
        }
        nodes.push(to);
    }
    if nodes.contains(&exit) {
        return None;
    }
    let least = (0..nodes.len()).min_by_key(|at| nodes[*at])?;
    nodes.rotate_left(least);
    Some(Spin { nodes, exit })
}

struct NodeSearch<'a> {
    thread: &'a Thread,
    local: &'a [bool],
    live: &'a dyn Fn(Loc) -> Vec<RegId>,
    only_way: Vec<Option<&'a Edge>>,
}

type KnownRegisters = BTreeMap<RegId, Int>;

impl NodeSearch<'_> {
    /// Where the thread may get to from a node by one look; `None` if the location is no node.
    fn outcomes(&self, node: Loc) -> Option<BTreeSet<Loc>> {
        let mut edges = self.thread.outgoing(node).map(|(_, edge)| edge);
        let (edge, None) = (edges.next()?, edges.next()) else { return None };
        if !looks(&edge.op) {
            return None;
        }
        let (mut written, mut known) = (BTreeSet::new(), self.known_at(node));
        forget_written(&edge.op, &mut known, &mut written);
        let (mut found, mut seen) = (BTreeSet::new(), 0);
        let mut work = vec![(edge.to, known)];
        while let Some((loc, known)) = work.pop() {
            seen += 1;
            if seen > MOST_BETWEEN {
                return None;
            }
            if !self.local[loc.index()] {
                found.insert(loc);
                continue;
            }
            let ways = self.ways(loc, &known)?;
            for way in ways {
                let mut known = known.clone();
                forget_written(&way.op, &mut known, &mut written);
                work.push((way.to, known));
            }
        }
        let unread = |loc: &Loc| (self.live)(*loc).iter().all(|register| !written.contains(register));
        found.iter().all(unread).then_some(found)
    }

    /// The ways that can be gone from a location; `None` if perhaps there is none.
    fn ways(&self, loc: Loc, known: &KnownRegisters) -> Option<Vec<&Edge>> {
        let mut open: Vec<(&Edge, Cond<RegId>)> = Vec::new();
        for (_, edge) in self.thread.outgoing(loc) {
            // By a division by zero the thread would get stuck.
            if edge.op.may_divide_by_zero() {
                return None;
            }
            let cond = match &edge.op {
                Op::Assume(cond) => cond.map(&mut |register| match known.get(register) {
                    Some(value) => Expr::Const(value.clone()),
                    None => Expr::Leaf(*register),
                }),
                _ => Cond::TRUE,
            };
            if cond != Cond::FALSE {
                open.push((edge, cond));
            }
        }
        let opposite = |cond: &Cond<RegId>| open.iter().any(|(_, other)| other.clone().negate() == *cond);
        let sure = open.iter().any(|(_, cond)| *cond == Cond::TRUE || opposite(cond));
        sure.then(|| open.into_iter().map(|(edge, _)| edge).collect())
    }

    /// What registers hold at a location, where the only way to it assumes that.
    fn known_at(&self, node: Loc) -> KnownRegisters {
        match self.only_way[node.index()].map(|edge| &edge.op) {
            Some(Op::Assume(Cond::Compare(
                program::Relation::Eq,
                Expr::Leaf(register),
                Expr::Const(value),
            ))) if node != self.thread.entry() => KnownRegisters::from([(*register, value.clone())]),
            _ => KnownRegisters::new(),
        }
    }
}

/// Whether an operation loads and is never stuck, but for what others do in atomic sections.
fn looks(op: &Op) -> bool {
    match op {
        Op::Load(..) => true,
        Op::Block { locked: false, parts } => parts
            .iter()
            .all(|part| matches!(part, Op::Load(..) | Op::Assign(..)) && !part.may_divide_by_zero()),
        _ => false,
    }
}

fn forget_written(op: &Op, known: &mut KnownRegisters, written: &mut BTreeSet<RegId>) {
    op.for_each_part(&mut |part| {
        if let Some(register) = part.writes() {
            known.remove(&register);
            written.insert(register);
        }
    });
}
