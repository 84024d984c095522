//! The difference part of a context as a closed matrix.
//!
//! Entry `(x, y)` is the least known bound on `x − y`; node zero stands for the
//! constant zero. The matrix is kept closed under the triangle inequality, so a
//! question is one lookup, without allocation. A new bound `x − y ≤ c` improves
//! `(a, b)` to `(a, x) + c + (y, b)` where that is less, which touches only nodes
//! that already have a bound towards `x` or from `y`. All changes go to a trail.
//!
//! Constants are limited to 2⁵⁰ in size and nodes to 255, so a shortest path is
//! less than 2⁵⁸ and sums of three entries cannot overflow.

use crate::terms::linear::Var;

const INFINITE: i64 = i64::MAX;
const MAX_BOUND: i64 = 1 << 50;
const MAX_NODES: usize = 255;
const NO_NODE: u16 = u16::MAX;

/// A state of the matrix to return to.
#[derive(Clone, Copy, Default)]
pub(crate) struct Mark {
    trail: usize,
    vars: usize,
}

#[derive(Clone, Default)]
pub(crate) struct Zone {
    /// The node of each variable, by index of the variable.
    nodes: Vec<u16>,
    vars: Vec<Var>,
    matrix: Vec<i64>,
    /// The width of the matrix, a power of two beyond the number of nodes.
    shift: u32,
    trail: Vec<(u32, i64)>,
    /// The trail's length when the bounds became contradictory.
    contradiction: Option<usize>,
    sources: Vec<(u32, i64)>,
    targets: Vec<(u32, i64)>,
    /// Entries looked at so far.
    looked_at: u64,
}

impl Zone {
    /// Forgets everything but keeps the memory.
    pub(crate) fn clear(&mut self) {
        // The trail knows all entries ever written; a large matrix stays mostly untouched.
        self.retract(Mark::default());
    }

    /// What was computed so far, in the unit of [`Context::effort`](super::Context::effort).
    pub(crate) fn effort(&self) -> u64 {
        self.looked_at / 12
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { trail: self.trail.len(), vars: self.vars.len() }
    }

    /// Undoes all bounds since the mark and gives back the nodes made for them.
    pub(crate) fn retract(&mut self, mark: Mark) {
        while self.trail.len() > mark.trail {
            if let Some((at, old)) = self.trail.pop() {
                self.matrix[at as usize] = old;
            }
        }
        if self.contradiction.is_some_and(|since| since > mark.trail) {
            self.contradiction = None;
        }
        for var in self.vars.drain(mark.vars.min(self.vars.len())..) {
            self.nodes[var.index()] = NO_NODE;
        }
    }

    pub(crate) fn is_contradictory(&self) -> bool {
        self.contradiction.is_some()
    }

    #[inline]
    fn find(&self, var: Option<Var>) -> Option<usize> {
        match var {
            None => Some(0),
            Some(var) => match self.nodes.get(var.index()) {
                Some(node) if *node != NO_NODE => Some(*node as usize),
                _ => None,
            },
        }
    }

    /// The node of a variable, made if there is room.
    fn node(&mut self, var: Option<Var>) -> Option<usize> {
        if let Some(node) = self.find(var) {
            return Some(node);
        }
        let var = var?;
        if self.vars.len() >= MAX_NODES {
            return None;
        }
        if self.nodes.len() <= var.index() {
            self.nodes.resize(var.index() + 1, NO_NODE);
        }
        self.vars.push(var);
        let node = self.vars.len();
        self.nodes[var.index()] = node as u16;
        self.grow();
        Some(node)
    }

    fn grow(&mut self) {
        let needed = self.vars.len() + 1;
        if !self.matrix.is_empty() && needed <= 1 << self.shift {
            return;
        }
        let (old_shift, old) = (self.shift, std::mem::take(&mut self.matrix));
        self.shift = needed.next_power_of_two().trailing_zeros().max(4);
        self.matrix = vec![INFINITE; 1 << (2 * self.shift)];
        for (at, value) in old.into_iter().enumerate() {
            let (row, column) = (at >> old_shift, at & ((1 << old_shift) - 1));
            self.matrix[(row << self.shift) + column] = value;
        }
        for (at, _) in &mut self.trail {
            let (row, column) = (*at >> old_shift, *at & ((1 << old_shift) - 1));
            *at = (row << self.shift) + column;
        }
    }

    /// The least known bound on `x − y`; `None` if there is none.
    #[inline]
    pub(crate) fn bound(&self, x: Option<Var>, y: Option<Var>) -> Option<i64> {
        let (x, y) = (self.find(x)?, self.find(y)?);
        match self.matrix.get((x << self.shift) + y) {
            Some(bound) if *bound != INFINITE => Some(*bound),
            _ => None,
        }
    }

    /// Adds `x − y ≤ bound`. Returns whether the matrix can represent that.
    pub(crate) fn add(&mut self, x: Option<Var>, y: Option<Var>, bound: i64) -> bool {
        if !(-MAX_BOUND..=MAX_BOUND).contains(&bound) {
            return false;
        }
        let (Some(x), Some(y)) = (self.node(x), self.node(y)) else {
            return false;
        };
        if self.contradiction.is_none() && bound < self.matrix[(x << self.shift) + y] {
            let back = self.matrix[(y << self.shift) + x];
            if back != INFINITE && back + bound < 0 {
                self.contradict((x << self.shift) + y);
            } else {
                self.improve(x, y, bound);
            }
        }
        true
    }

    /// Leaves an entry on the trail, so that retraction knows when it became contradictory.
    fn contradict(&mut self, at: usize) {
        self.trail.push((at as u32, self.matrix[at]));
        self.contradiction = Some(self.trail.len());
    }

    fn improve(&mut self, x: usize, y: usize, bound: i64) {
        let (shift, count) = (self.shift, self.vars.len() + 1);
        self.sources.clear();
        self.targets.clear();
        for node in 0..count {
            let before = if node == x { 0 } else { self.matrix[(node << shift) + x] };
            if before != INFINITE {
                self.sources.push((node as u32, before));
            }
            let after = if node == y { 0 } else { self.matrix[(y << shift) + node] };
            if after != INFINITE {
                self.targets.push((node as u32, after));
            }
        }
        self.looked_at += (count + self.sources.len() * self.targets.len()) as u64;
        for (from, before) in &self.sources {
            let start = before + bound;
            for (to, after) in &self.targets {
                let at = ((*from as usize) << shift) + *to as usize;
                let (new, old) = (start + after, self.matrix[at]);
                if new < old && from != to {
                    self.matrix[at] = new;
                    self.trail.push((at as u32, old));
                }
            }
        }
    }
}
