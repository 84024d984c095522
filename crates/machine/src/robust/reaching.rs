//! Which accesses can be reached from behind which stores, in texts of any length.
//!
//! There are as many pairs as stores times accesses, so they are never listed: 64 accesses at a time
//! are the bits of one word at every location, and flow back against the edges until nothing
//! changes. In postorder, that takes two passes over a text without loops and few more with
//! them; a hundred thousand lines need seconds, and memory for one word per location.

use super::attacks::GoOn;
use program::{EdgeId, Fence, Loc, Op, Thread, VarId};

/// A set of edges of one thread.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeSet(Vec<u64>);

impl EdgeSet {
    /// Whether it holds an edge.
    pub fn contains(&self, edge: EdgeId) -> bool {
        self.word(edge.index() / 64) >> (edge.index() % 64) & 1 == 1
    }

    /// Adds an edge.
    pub fn insert(&mut self, edge: EdgeId) {
        let word = edge.index() / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (edge.index() % 64);
    }

    /// Whether it holds no edge.
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// Adds all edges of another set.
    pub(super) fn extend(&mut self, other: &EdgeSet) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(word, more)| *word |= more);
    }

    fn word(&self, at: usize) -> u64 {
        self.0.get(at).copied().unwrap_or(0)
    }
}

impl FromIterator<EdgeId> for EdgeSet {
    fn from_iter<I: IntoIterator<Item = EdgeId>>(edges: I) -> EdgeSet {
        let mut set = EdgeSet::default();
        edges.into_iter().for_each(|edge| set.insert(edge));
        set
    }
}

/// What keeps accesses from being reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Barriers {
    /// Nothing.
    None,
    /// Whatever waits for the buffer.
    Full,
    /// Whatever waits for the buffer, and store fences.
    FullAndStore,
}

impl Barriers {
    fn lets_pass(self, op: &Op) -> bool {
        match self {
            Barriers::None => true,
            Barriers::Full => !op.waits(),
            Barriers::FullAndStore => !op.waits() && *op != Op::Fence(Fence::Store),
        }
    }
}

/// For every store, how many of the accesses that matter to its variable can be reached from behind
/// it; `None` if it was stopped.
pub(super) fn accesses_behind<'s>(
    thread: &Thread,
    stores: &[(EdgeId, VarId)],
    wanted: impl Fn(VarId) -> &'s EdgeSet,
    barriers: Barriers,
    go_on: &mut GoOn<'_>,
) -> Option<Vec<usize>> {
    let mut reaching = Reaching::of(thread, barriers);
    let mut counts = vec![0; stores.len()];
    for word in 0..thread.edges().len().div_ceil(64) {
        if !go_on() {
            return None;
        }
        let all = stores.iter().fold(0, |all, (_, variable)| all | wanted(*variable).word(word));
        if all == 0 {
            continue;
        }
        reaching.flow_back(word, all);
        for ((store, variable), count) in stores.iter().zip(&mut counts) {
            let behind = reaching.masks[thread.edge(*store).to.index()];
            *count += (behind & wanted(*variable).word(word)).count_ones() as usize;
        }
    }
    Some(counts)
}

/// The accesses of one word that can be reached from each location.
struct Reaching {
    /// Every edge that may be passed with something in the buffer: from, to, number; in postorder.
    edges: Vec<(u32, u32, u32)>,
    masks: Vec<u64>,
}

impl Reaching {
    fn of(thread: &Thread, barriers: Barriers) -> Reaching {
        let mut edges = Vec::with_capacity(thread.edges().len());
        for loc in postorder(thread) {
            let passed = thread.outgoing(loc).filter(|(_, edge)| barriers.lets_pass(&edge.op));
            edges.extend(
                passed.map(|(id, edge)| (loc.index() as u32, edge.to.index() as u32, id.index() as u32)),
            );
        }
        Reaching { edges, masks: vec![0; thread.locs().count()] }
    }

    fn flow_back(&mut self, word: usize, wanted: u64) {
        self.masks.fill(0);
        let mut changed = true;
        while changed {
            changed = false;
            for (from, to, id) in &self.edges {
                let own = if *id as usize / 64 == word { wanted & 1 << (id % 64) } else { 0 };
                let more = own | self.masks[*to as usize];
                let mask = &mut self.masks[*from as usize];
                changed |= *mask | more != *mask;
                *mask |= more;
            }
        }
    }
}

/// All locations, each behind those that its edges lead to, but for the edges that close a loop.
fn postorder(thread: &Thread) -> Vec<Loc> {
    let mut seen = vec![false; thread.locs().count()];
    let mut order = Vec::with_capacity(seen.len());
    for root in thread.locs() {
        let mut stack = vec![(root, false)];
        while let Some((loc, left)) = stack.pop() {
            if left {
                order.push(loc);
            } else if !std::mem::replace(&mut seen[loc.index()], true) {
                stack.push((loc, true));
                stack.extend(thread.outgoing(loc).map(|(_, edge)| (edge.to, false)));
            }
        }
    }
    order
}
