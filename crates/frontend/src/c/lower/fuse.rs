//! Steps that nobody else can tell apart become one.
//!
//! What a thread does with its registers may wait for the access before or behind it in its statement: a
//! load with the branch on what it read, a locked step with what is made of its result. One access stays one
//! step, so no interleaving is lost, and there are fewer places to stop at. At last steps take in what follows
//! them with registers, whatever statement it comes from; nothing is taken in across a store or a fence, so
//! a text with one more fence in it still has its other steps as they were.
//!
//! A thread that is stuck behind a step which stored something has stored it. So such a step only takes in
//! branches of which one can always be taken.

use super::graph::{At, CArrow, CStep, Graph};
use program::{Op, Span};
use std::cell::OnceCell;
use std::collections::{BTreeSet, VecDeque};

/// A place with more ways to go than this stays.
const MOST_WAYS: usize = 8;
/// By how many a place that goes may make the steps more.
const MORE_STEPS: usize = 2;
/// A step with more parts than this takes in nothing.
const MOST_PARTS: usize = 40;

/// Makes steps one, as long as some can be; `across` statements if that is wanted.
pub(super) fn fuse(graph: &mut Graph, entry: At, across: bool) {
    // What follows an access belongs to it rather than to the next one.
    for pass in [FusingPass::Behind, FusingPass::Statement] {
        Fusing::new(graph, entry, pass).run();
    }
    if across {
        Fusing::new(graph, entry, FusingPass::Across).run();
    }
}

/// Which steps become one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FusingPass {
    /// A step and what follows it in its statement with registers.
    Behind,
    /// Steps of one statement.
    Statement,
    /// As the first, across statements.
    Across,
}

struct Fusing<'g> {
    graph: &'g mut Graph,
    pass: FusingPass,
    entering: Vec<Vec<usize>>,
    leaving: Vec<Vec<usize>>,
    /// By place, whether it stays.
    fixed: Vec<bool>,
    gone: Vec<bool>,
}

impl Fusing<'_> {
    fn new(graph: &mut Graph, entry: At, pass: FusingPass) -> Fusing<'_> {
        graph.settle();
        let (mut entering, mut leaving) =
            (vec![Vec::new(); graph.places()], vec![Vec::new(); graph.places()]);
        for (index, arrow) in graph.arrows.iter().enumerate() {
            entering[arrow.to].push(index);
            leaving[arrow.from].push(index);
        }
        let labels = graph.labels.clone();
        let mut fixed = vec![false; graph.places()];
        labels.into_iter().for_each(|(at, _)| fixed[graph.find(at)] = true);
        graph.failures.keys().chain([&entry]).for_each(|at| fixed[*at] = true);
        let gone = vec![false; graph.arrows.len()];
        Fusing { graph, pass, entering, leaving, fixed, gone }
    }

    fn run(mut self) {
        let mut waiting: VecDeque<At> = (0..self.graph.places()).collect();
        while let Some(place) = waiting.pop_front() {
            if let Some(fused) = self.without(place) {
                waiting.extend(self.replace(place, fused));
            }
        }
        let mut gone = self.gone.into_iter();
        self.graph.arrows.retain(|_| gone.next() != Some(true));
    }

    /// The steps that do without a place, each in one, if that is what they are to everybody else.
    fn without(&self, place: At) -> Option<Vec<CArrow>> {
        let (before, behind) = (&self.entering[place], &self.leaving[place]);
        let (many, more) = (before.len() * behind.len(), before.len() + behind.len() + MORE_STEPS);
        if many == 0 || self.fixed[place] || behind.len() > MOST_WAYS || many > more {
            return None;
        }
        let arrow = |index: &usize| &self.graph.arrows[*index];
        if before.iter().any(|index| arrow(index).from == place) {
            return None;
        }
        let known = OnceCell::new();
        let goes_on = || *known.get_or_init(|| always_goes_on(behind.iter().map(arrow)));
        let pairs = before.iter().flat_map(|first| behind.iter().map(move |second| (first, second)));
        pairs.map(|(first, second)| self.together(arrow(first), arrow(second), &goes_on)).collect()
    }

    /// Puts steps in place of those that enter and leave a place; gives the places that have changed.
    fn replace(&mut self, place: At, fused: Vec<CArrow>) -> BTreeSet<At> {
        let old: Vec<usize> = self.entering[place].iter().chain(&self.leaving[place]).copied().collect();
        let mut changed = BTreeSet::new();
        for index in old {
            let (from, to) = (self.graph.arrows[index].from, self.graph.arrows[index].to);
            self.gone[index] = true;
            self.entering[to].retain(|other| *other != index);
            self.leaving[from].retain(|other| *other != index);
        }
        for arrow in fused {
            let index = self.graph.arrows.len();
            changed.extend([arrow.from, arrow.to]);
            self.entering[arrow.to].push(index);
            self.leaving[arrow.from].push(index);
            self.graph.arrows.push(arrow);
            self.gone.push(false);
        }
        changed
    }

    /// Two steps in a row as one, if they can be; `goes_on` says that no thread gets stuck between them.
    fn together(&self, first: &CArrow, second: &CArrow, goes_on: &dyn Fn() -> bool) -> Option<CArrow> {
        let (CStep::Op(a), CStep::Op(b)) = (&first.step, &second.step) else { return None };
        let (one_statement, behind) = (first.span == second.span, takes_in(a) && is_own(b));
        let allowed = match self.pass {
            FusingPass::Behind => one_statement && behind,
            FusingPass::Statement => one_statement && fits(a, b),
            FusingPass::Across => behind,
        };
        if !allowed || stores(a) && !goes_on() {
            return None;
        }
        let mut parts = Vec::new();
        for op in [a, b] {
            op.for_each_part(&mut |part| parts.extend(Some(part).filter(|part| **part != Op::Skip).cloned()));
        }
        if parts.len() > MOST_PARTS {
            return None;
        }
        let op = if is_locked(a) || is_locked(b) { Op::locked(parts) } else { Op::together(parts) };
        let shown = if first.span == Span::NONE { second } else { first };
        let (span, call) = (shown.span, shown.call.clone());
        Some(CArrow { from: first.from, to: second.to, step: CStep::Op(op), span, call })
    }
}

/// Whether two steps of one statement are one to everybody else.
fn fits(a: &Op, b: &Op) -> bool {
    if is_locked(a) || is_locked(b) {
        return is_locked(a) && is_own(b) || is_own(a) && is_locked(b);
    }
    takes_in(a) && takes_in(b) && loads(a) + loads(b) <= 1
}

/// Whether a step can take in what follows with registers.
fn takes_in(op: &Op) -> bool {
    is_own(op) || matches!(op, Op::Load(..) | Op::Block { .. })
}

/// Whether a step only touches registers, and can be part of another.
fn is_own(op: &Op) -> bool {
    match op {
        // A check stands before such a division, and stays a step of its own.
        Op::Assign(..) | Op::Assume(_) => !op.may_divide_by_zero(),
        Op::Skip => true,
        op => !is_locked(op) && matches!(op, Op::Block { .. }) && loads(op) == 0,
    }
}

fn is_locked(op: &Op) -> bool {
    matches!(op, Op::Block { locked: true, .. })
}

fn loads(op: &Op) -> usize {
    let mut count = 0;
    op.for_each_part(&mut |part| count += usize::from(matches!(part, Op::Load(..))));
    count
}

fn stores(op: &Op) -> bool {
    let mut found = false;
    op.for_each_part(&mut |part| found |= matches!(part, Op::Store(..)));
    found
}

/// Whether one of these steps can be taken whatever the registers hold, as far as conditions show.
fn always_goes_on<'a>(arrows: impl Iterator<Item = &'a CArrow>) -> bool {
    let mut ways: Vec<Vec<&Op>> = Vec::new();
    for arrow in arrows {
        let CStep::Op(op) = &arrow.step else { return false };
        let mut parts = Vec::new();
        op.for_each_part(&mut |part| parts.push(part));
        ways.push(parts);
    }
    covers(&ways.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

/// Whether of these sequences one has no condition that fails.
fn covers(ways: &[&[&Op]]) -> bool {
    let free = |way: &&[&Op]| way.iter().all(|op| !matches!(op, Op::Assume(_)));
    if ways.iter().any(free) {
        return true;
    }
    let Some(Some((first, _))) = ways.first().map(|way| way.split_first()) else { return false };
    let behind = |op: &Op| -> Vec<&[&Op]> {
        let split = ways.iter().filter_map(|way| way.split_first());
        split.filter(|(other, _)| ***other == *op).map(|(_, rest)| rest).collect()
    };
    match first {
        Op::Assume(cond) => covers(&behind(first)) && covers(&behind(&Op::Assume(cond.clone().negate()))),
        _ => covers(&behind(first)),
    }
}
