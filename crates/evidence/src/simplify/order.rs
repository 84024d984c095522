//! The same steps in an order that is easier to follow.
//!
//! A store whose drain follows at once is as good as one under SC. So stores and their drains are
//! glued together, one after the other, as long as the order that must be kept ([`OrderGraph`]) has no
//! cycle; what cannot be glued is a delay that matters. If all can, the run is one under SC. Then
//! the pieces are put in a row: a thread goes on as long as it can; before another one takes over,
//! late drains that are due happen; and the one that can go on to its end, or else longest, takes
//! over.

use super::graph::OrderGraph;
use crate::Task;
use machine::{Configuration, ReplayedStep, TraceStep};
use program::ThreadId;
use std::cmp::Reverse;

/// Longer runs stay in their order.
pub(super) const MOST_STEPS: usize = 2_000;

/// The steps in another order; delays that could be in one or another thread are put into `lazy`.
/// `None` if there are too many.
pub(super) fn reordered(
    task: &Task<'_>,
    steps: &[TraceStep],
    (replayed, end): (&[ReplayedStep], &Configuration),
    lazy: ThreadId,
) -> Option<Vec<TraceStep>> {
    if steps.len() > MOST_STEPS {
        return None;
    }
    let graph = OrderGraph::of(task, replayed, end);
    let mut pieces = Pieces { graph: &graph, head: graph.section.clone() };
    let stores = (0..steps.len()).filter_map(|store| Some((store, replayed[store].drain?)));
    let mut stores: Vec<(usize, usize)> = stores.collect();
    stores.sort_by_key(|(store, drain)| (graph.thread(*store) == lazy, *drain != store + 1, *store));
    for (store, drain) in stores {
        pieces.head[drain] = store;
        if !pieces.is_acyclic() {
            pieces.head[drain] = drain;
        }
    }
    let order = pieces.row(task.program.threads.len());
    // A cycle would leave something out; then the run stays as it is.
    (order.len() == steps.len()).then(|| order.into_iter().map(|at| steps[at].clone()).collect())
}

/// Steps, some glued to one before them.
struct Pieces<'g> {
    graph: &'g OrderGraph<'g>,
    /// The step that a step is glued to; itself if to none.
    head: Vec<usize>,
}

impl Pieces<'_> {
    /// How many links lead to every piece.
    fn waiting(&self) -> Vec<usize> {
        let mut waiting = vec![0; self.head.len()];
        for at in 0..self.head.len() {
            self.behind(at).for_each(|next| waiting[next] += 1);
        }
        waiting
    }

    /// The pieces that links of a step lead to.
    fn behind(&self, at: usize) -> impl Iterator<Item = usize> + '_ {
        let links = self.graph.after[at].iter().map(|next| self.head[*next]);
        links.filter(move |next| *next != self.head[at])
    }

    /// The steps of every piece, its head first.
    fn members(&self) -> Vec<Vec<usize>> {
        let mut members = vec![Vec::new(); self.head.len()];
        for (at, head) in self.head.iter().enumerate() {
            members[*head].push(at);
        }
        members
    }

    fn is_acyclic(&self) -> bool {
        let (mut waiting, members) = (self.waiting(), self.members());
        let heads = || (0..self.head.len()).filter(|at| self.head[*at] == *at);
        let mut ready: Vec<usize> = heads().filter(|at| waiting[*at] == 0).collect();
        let mut done = 0;
        while let Some(piece) = ready.pop() {
            done += 1;
            for next in members[piece].iter().flat_map(|at| self.behind(*at)) {
                waiting[next] -= 1;
                if waiting[next] == 0 {
                    ready.push(next);
                }
            }
        }
        done == heads().count()
    }

    /// All steps in a row.
    fn row(&self, threads: usize) -> Vec<usize> {
        let members = self.members();
        let mut row = Sequencing {
            pieces: self,
            members: &members,
            waiting: self.waiting(),
            next: vec![Vec::new(); threads],
            late: Vec::new(),
            out: Vec::new(),
        };
        for at in (0..self.head.len()).rev().filter(|at| self.head[*at] == *at) {
            match self.graph.steps[at].drained() {
                Some(_) => row.late.push(at),
                None => row.next[self.graph.thread(at).index()].push(at),
            }
        }
        loop {
            // Who comes to its end need not be asked again.
            let outlook = |thread: usize| {
                let mut row = row.clone();
                let length = row.go_on(thread);
                (length > 0 && row.next[thread].is_empty(), length, Reverse(thread))
            };
            let longest = (0..threads).map(outlook).max();
            match longest {
                Some((_, 1.., Reverse(thread))) => row.go_on(thread),
                _ => return row.out,
            };
        }
    }
}

/// A row of pieces while it is made.
#[derive(Clone)]
struct Sequencing<'p, 'g> {
    pieces: &'p Pieces<'g>,
    members: &'p [Vec<usize>],
    waiting: Vec<usize>,
    /// What every thread does next, the last first.
    next: Vec<Vec<usize>>,
    /// Drains that are on their own, the last first.
    late: Vec<usize>,
    out: Vec<usize>,
}

impl Sequencing<'_, '_> {
    /// Lets a thread go on as long as it can, and then drains what is due; how many steps it took.
    fn go_on(&mut self, thread: usize) -> usize {
        let mut taken = 0;
        loop {
            while let Some(piece) = self.next[thread].last().copied().filter(|at| self.waiting[*at] == 0) {
                self.next[thread].pop();
                self.take(piece);
                taken += 1;
            }
            let Some(due) = self.late.iter().rposition(|at| self.waiting[*at] == 0) else { return taken };
            let drain = self.late.remove(due);
            self.take(drain);
        }
    }

    fn take(&mut self, piece: usize) {
        for at in &self.members[piece] {
            self.out.push(*at);
            for next in self.pieces.behind(*at) {
                self.waiting[next] -= 1;
            }
        }
    }
}
