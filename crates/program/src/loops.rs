//! Loops of a thread: the strongly connected components of its automaton.
//!
//! Two locations lie in one component if each can be reached from the other. Which edges may be taken
//! is up to the caller, so that loops without their heads, or loops that never wait, are seen by the same walk
//! (Kosaraju's, without recursion: programs may have many thousand lines).

use crate::{Edge, Loc, Thread};

impl Thread {
    /// The number of every location's component, along these edges only.
    pub fn components(&self, takes: impl Fn(&Edge) -> bool) -> Vec<usize> {
        let (mut leaving, mut entering) =
            (vec![Vec::new(); self.first.len()], vec![Vec::new(); self.first.len()]);
        for edge in self.edges.iter().filter(|edge| takes(edge)) {
            leaving[edge.from.index()].push(edge.to);
            entering[edge.to.index()].push(edge.from);
        }
        let (mut order, mut seen) = (Vec::new(), vec![false; self.locations.len()]);
        for root in self.locs() {
            post_order(root, &mut seen, &leaving, &mut order);
        }
        let (mut numbers, mut seen) = (vec![0; self.locations.len()], vec![false; self.locations.len()]);
        let mut component = Vec::new();
        for (number, root) in order.into_iter().rev().enumerate() {
            post_order(root, &mut seen, &entering, &mut component);
            component.drain(..).for_each(|loc| numbers[loc.index()] = number);
        }
        numbers
    }

    /// A store that can be issued again and again without waiting for the buffer.
    pub fn piling_up(&self) -> Option<&Edge> {
        let component = self.components(|edge| !edge.op.waits());
        let goes_round = |edge: &Edge| component[edge.from.index()] == component[edge.to.index()];
        self.edges.iter().find(|edge| self.delayed_store(edge).is_some() && goes_round(edge))
    }
}

fn post_order(root: Loc, seen: &mut [bool], next: &[Vec<Loc>], out: &mut Vec<Loc>) {
    if std::mem::replace(&mut seen[root.index()], true) {
        return;
    }
    let mut stack = vec![(root, 0)];
    while let Some((loc, tried)) = stack.last_mut() {
        match next[loc.index()].get(*tried) {
            Some(to) => {
                *tried += 1;
                if !std::mem::replace(&mut seen[to.index()], true) {
                    stack.push((*to, 0));
                }
            }
            None => {
                out.push(*loc);
                stack.pop();
            }
        }
    }
}
