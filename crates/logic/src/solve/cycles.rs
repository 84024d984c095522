//! Difference constraints as a graph: `x − y ≤ c` is an edge from `y` to `x` of
//! length `c`, bounds are edges from or to a node for zero. The constraints have
//! no solution iff some cycle is negative, and the sum of the constraints on
//! that cycle is the contradiction. Otherwise shortest distances are a solution.
//!
//! Distances are computed in 128 bits: a path has fewer than 2³² edges of less
//! than 2⁶⁴ each, so no sum overflows.

use std::collections::VecDeque;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use crate::certificate::{Combination, FactId};
use crate::int::Int;
use crate::terms::atom::{Atom, Relation};
use crate::terms::linear::Var;

/// What the difference constraints among some atoms say.
pub(crate) enum Cycles {
    /// A contradiction.
    Negative(Combination),
    /// A solution of the difference constraints.
    Solution(Vec<(Var, Int)>),
}

struct DifferenceEdge {
    from: u32,
    to: u32,
    length: i128,
    fact: FactId,
    sign: i64,
}

#[derive(Default)]
struct DifferenceGraph {
    nodes: HashMap<Var, u32, FxBuildHasher>,
    vars: Vec<Var>,
    edges: Vec<DifferenceEdge>,
}

const ZERO: u32 = 0;

/// Looks for a negative cycle among the difference constraints; other atoms are ignored.
pub(crate) fn examine(atoms: &[Atom]) -> Cycles {
    let mut graph = DifferenceGraph::default();
    for (position, atom) in atoms.iter().enumerate() {
        graph.add(position as FactId, atom);
    }
    graph.search()
}

impl DifferenceGraph {
    fn node(&mut self, var: Option<Var>) -> u32 {
        let Some(var) = var else { return ZERO };
        let (next, vars) = (self.vars.len() as u32 + 1, &mut self.vars);
        *self.nodes.entry(var).or_insert_with(|| {
            vars.push(var);
            next
        })
    }

    fn add(&mut self, fact: FactId, atom: &Atom) {
        let equation = match atom.relation() {
            Relation::Le => false,
            Relation::Eq => true,
            _ => return,
        };
        let Some(shape) = atom.difference() else {
            return;
        };
        let (to, from) = (self.node(shape.plus), self.node(shape.minus));
        let length = i128::from(shape.bound);
        // An equation is normalised with its first coefficient positive, the
        // difference view keeps that orientation, so its factor is its sign.
        self.edges.push(DifferenceEdge { from, to, length, fact, sign: 1 });
        if equation {
            self.edges.push(DifferenceEdge { from: to, to: from, length: -length, fact, sign: -1 });
        }
    }

    /// Queue-based shortest paths from everywhere at once.
    fn search(&self) -> Cycles {
        let count = self.vars.len() + 1;
        let outgoing = self.outgoing(count);
        let mut distance = vec![0i128; count];
        let mut parent: Vec<Option<u32>> = vec![None; count];
        let mut queue: VecDeque<u32> = (0..count as u32).collect();
        let mut queued = vec![true; count];
        let mut relaxed = 0usize;
        while let Some(node) = queue.pop_front() {
            queued[node as usize] = false;
            for edge in &outgoing[node as usize] {
                let DifferenceEdge { to, length, .. } = self.edges[*edge as usize];
                let candidate = distance[node as usize] + length;
                if candidate >= distance[to as usize] {
                    continue;
                }
                distance[to as usize] = candidate;
                parent[to as usize] = Some(*edge);
                relaxed += 1;
                // Looking for a cycle costs a walk over all nodes; do it once per round.
                if relaxed.is_multiple_of(count)
                    && let Some(cycle) = self.cycle(&parent)
                {
                    return Cycles::Negative(self.combination(&cycle));
                }
                if !std::mem::replace(&mut queued[to as usize], true) {
                    queue.push_back(to);
                }
            }
        }
        let zero = distance[ZERO as usize];
        let value = |at: usize| Int::from(distance[at + 1] - zero);
        Cycles::Solution(self.vars.iter().enumerate().map(|(at, var)| (*var, value(at))).collect())
    }

    fn outgoing(&self, count: usize) -> Vec<Vec<u32>> {
        let mut outgoing = vec![Vec::new(); count];
        for (at, edge) in self.edges.iter().enumerate() {
            outgoing[edge.from as usize].push(at as u32);
        }
        outgoing
    }

    /// A cycle in the graph of parents; such a cycle is negative.
    fn cycle(&self, parent: &[Option<u32>]) -> Option<Vec<u32>> {
        let mut seen = vec![0u32; parent.len()];
        for start in 0..parent.len() {
            let mark = start as u32 + 1;
            let mut node = start;
            while seen[node] == 0 {
                seen[node] = mark;
                match parent[node] {
                    Some(edge) => node = self.edges[edge as usize].from as usize,
                    None => break,
                }
            }
            if seen[node] == mark && parent[node].is_some() {
                return Some(self.walk(parent, node)).filter(|cycle| !cycle.is_empty());
            }
        }
        None
    }

    /// The edges from a node on a cycle of parents back to itself.
    fn walk(&self, parent: &[Option<u32>], start: usize) -> Vec<u32> {
        let (mut cycle, mut node) = (Vec::new(), start);
        while let Some(edge) = parent[node] {
            cycle.push(edge);
            node = self.edges[edge as usize].from as usize;
            if node == start {
                return cycle;
            }
        }
        Vec::new()
    }

    fn combination(&self, cycle: &[u32]) -> Combination {
        let mut sum = Combination::none();
        for edge in cycle {
            let edge = &self.edges[*edge as usize];
            sum = sum.plus(&Int::from(edge.sign), &Combination::one(edge.fact));
        }
        sum
    }
}
