//! A thread while it is being lowered: steps between places.
//!
//! What is not known before all threads are lowered (does somebody wait for this thread, can this
//! sum leave its type) stays a step of its own until then; [`Graph::finish`] writes the rest with the
//! builder that all front ends use.

use super::choice::{CChoice, CChosen};
use super::clean::liveness;
use program::{
    Arith, CallSite, Cond, Expr, Failure, Int, Invalid, Loc, Op, RegId, Relation, Span, Thread,
    ThreadBuilder, VarId,
};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::ops::Index;
use std::sync::Arc;

/// A place in a thread.
pub(super) type At = usize;

/// "This value fits into its type", which may have to be assumed.
#[derive(Clone, Debug)]
pub(super) struct Fits {
    pub value: Expr<RegId>,
    pub low: i128,
    pub high: i128,
    pub site: CSite,
}

/// An operation whose result may not fit: its token, and whether it is a conversion. Those have a meaning
/// whatever the value, so none is ever assumed to fit.
pub(super) type CSite = (u32, bool);

impl Fits {
    pub fn cond(&self) -> Cond<RegId> {
        let low = Cond::compare(Relation::Ge, self.value.clone(), Expr::Const(self.low.into()));
        // Engines that compute with 64 bits do not know the largest numbers, but their halves.
        let (value, high) = match self.high > i128::from(i64::MAX) {
            true => (Expr::binary(Arith::Div, self.value.clone(), 2), self.high / 2),
            false => (self.value.clone(), self.high),
        };
        Cond::and([low, Cond::compare(Relation::Le, value, Expr::Const(high.into()))])
    }
}

/// A step.
#[derive(Clone, Debug)]
pub(super) enum CStep {
    Op(Op),
    /// An access to a cell that a value chooses.
    Choice(Box<CChoice>),
    Fits(Fits),
    /// A locked step whose part at this index must be preceded by a check.
    Checked(Vec<Op>, usize, Fits),
    /// A register was declared without a value, from these. If somebody may read that, it is assumed that
    /// nobody does.
    Unwritten(RegId, i128, i128),
    /// Lets an instance begin; its argument, if that is not known.
    Start(usize, Option<Expr<RegId>>),
    /// Waits until an instance has ended.
    Join(usize),
    /// The beginning of this thread; the register takes the argument.
    Begin(Option<RegId>),
    /// The end of this thread, with its result.
    End(Expr<RegId>),
}

impl CStep {
    /// The variables that it loads (`false`), and those that it stores to.
    pub fn for_each_access(&self, note: &mut dyn FnMut(VarId, bool)) {
        let mut look = |op: &Op| match op {
            Op::Load(_, variable) => note(*variable, false),
            Op::Store(variable, _) => note(*variable, true),
            _ => {}
        };
        match self {
            CStep::Op(op) => op.for_each_part(&mut look),
            CStep::Checked(parts, ..) => parts.iter().for_each(look),
            CStep::Choice(choice) => {
                let stores = match choice.access {
                    CChosen::Load(_) => false,
                    CChosen::Store { .. } => true,
                    CChosen::Nothing => return,
                };
                choice.cells.iter().for_each(|(_, variable)| note(*variable, stores));
            }
            _ => {}
        }
    }

    /// The variables that it stores to.
    pub fn for_each_stored(&self, note: &mut dyn FnMut(VarId)) {
        self.for_each_access(&mut |variable, stores| {
            if stores {
                note(variable);
            }
        });
    }
}

/// A step between places.
#[derive(Clone, Debug)]
pub(super) struct CArrow {
    pub from: At,
    pub to: At,
    pub step: CStep,
    pub span: Span,
    pub call: Option<Arc<CallSite>>,
}

/// Arrows by place, in order. There are many places with few of them, so all lie one behind the other.
pub(super) struct ArrowsAt {
    /// By place, where its arrows begin; those of the next one follow.
    first: Vec<usize>,
    arrows: Vec<usize>,
}

impl ArrowsAt {
    /// From the place that each arrow is at.
    fn new(places: usize, at: impl Iterator<Item = At> + Clone) -> ArrowsAt {
        let mut first = vec![0; places + 1];
        at.clone().for_each(|place| first[place] += 1);
        let mut end = 0;
        for count in &mut first {
            end += *count;
            *count = end;
        }
        let mut arrows = vec![0; end];
        // From behind, so that each list ends up in order and every end becomes a beginning.
        let at: Vec<At> = at.collect();
        for (index, place) in at.into_iter().enumerate().rev() {
            first[place] -= 1;
            arrows[first[place]] = index;
        }
        ArrowsAt { first, arrows }
    }
}

impl Index<At> for ArrowsAt {
    type Output = [usize];

    fn index(&self, place: At) -> &[usize] {
        &self.arrows[self.first[place]..self.first[place + 1]]
    }
}

/// A thread's steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Graph {
    pub registers: Vec<String>,
    pub arrows: Vec<CArrow>,
    parent: Vec<At>,
    /// How many more steps there will be once the ways of choices are written out.
    pub unwritten: usize,
    pub failures: BTreeMap<At, Failure>,
    pub labels: Vec<(At, String)>,
    /// The first arrow that was made when other threads might already run.
    pub shared_from: usize,
    /// The call that new arrows stand in.
    pub call: Option<Arc<CallSite>>,
}

impl Graph {
    /// A new place.
    pub fn place(&mut self) -> At {
        self.parent.push(self.parent.len());
        self.parent.len() - 1
    }

    /// The first of so many new places, for the ways of a choice.
    pub fn places_for(&mut self, count: usize) -> At {
        let first = self.parent.len();
        self.parent.extend(first..first + count);
        self.unwritten += (2 * count).saturating_sub(1);
        first
    }

    pub fn places(&self) -> usize {
        self.parent.len()
    }

    pub fn size(&self) -> usize {
        self.parent.len() + self.arrows.len() + self.unwritten
    }

    pub fn arrow(&mut self, from: At, step: CStep, to: At, span: Span) {
        self.arrows.push(CArrow { from, to, step, span, call: self.call.clone() });
    }

    /// The threads that its steps start.
    pub fn started(&self) -> impl Iterator<Item = usize> {
        self.arrows.iter().filter_map(|arrow| match arrow.step {
            CStep::Start(instance, _) => Some(instance),
            _ => None,
        })
    }

    /// Gives registers values before what begins at a place, where that matters; the place where that begins then.
    pub fn preset(&mut self, entry: At, mut values: Vec<(RegId, Int)>) -> At {
        let live = liveness(self, &[]);
        values.retain(|(register, value)| *value != Int::ZERO && live.has(entry, *register));
        values.into_iter().fold(entry, |at, (register, value)| {
            let before = self.place();
            self.arrow(before, CStep::Op(Op::Assign(register, Expr::Const(value))), at, Span::NONE);
            before
        })
    }

    /// The place that a place was made one with.
    pub fn find(&mut self, mut at: At) -> At {
        while self.parent[at] != at {
            self.parent[at] = self.parent[self.parent[at]];
            at = self.parent[at];
        }
        at
    }

    /// Makes two places one. An empty loop gets a step, so that it does not look like an end.
    pub fn merge(&mut self, a: At, b: At, span: Span) {
        let (a, b) = (self.find(a), self.find(b));
        if a == b {
            self.arrow(a, CStep::Op(Op::Skip), a, span);
            return;
        }
        let (kept, gone) = (a.min(b), a.max(b));
        self.parent[gone] = kept;
        if let Some(failure) = self.failures.remove(&gone) {
            self.failures.entry(kept).or_insert(failure);
        }
    }

    /// Writes the final places into all arrows.
    pub fn settle(&mut self) {
        for index in 0..self.arrows.len() {
            let (from, to) = (self.arrows[index].from, self.arrows[index].to);
            (self.arrows[index].from, self.arrows[index].to) = (self.find(from), self.find(to));
        }
        let failures = std::mem::take(&mut self.failures);
        for (at, failure) in failures {
            let at = self.find(at);
            self.failures.insert(at, failure);
        }
    }

    /// The arrows that leave each place; the graph is settled.
    pub fn leaving(&self) -> ArrowsAt {
        ArrowsAt::new(self.places(), self.arrows.iter().map(|arrow| arrow.from))
    }

    /// The arrows that enter each place; the graph is settled.
    pub fn entering(&self) -> ArrowsAt {
        ArrowsAt::new(self.places(), self.arrows.iter().map(|arrow| arrow.to))
    }

    /// The places in loops, or between two of them: what is left when ends and beginnings are taken off
    /// again and again.
    pub fn in_loops(&self) -> Vec<bool> {
        let mut left = vec![true; self.places()];
        for forwards in [true, false] {
            let next = if forwards { self.leaving() } else { self.entering() };
            let end = |arrow: &CArrow| if forwards { arrow.to } else { arrow.from };
            let mut before = vec![0usize; self.places()];
            let inside = self.arrows.iter().filter(|arrow| left[arrow.from] && left[arrow.to]);
            inside.for_each(|arrow| before[end(arrow)] += 1);
            let mut waiting: Vec<At> =
                (0..self.places()).filter(|at| left[*at] && before[*at] == 0).collect();
            while let Some(at) = waiting.pop() {
                left[at] = false;
                for to in next[at].iter().map(|&index| end(&self.arrows[index])).filter(|to| left[*to]) {
                    before[to] -= 1;
                    if before[to] == 0 {
                        waiting.push(to);
                    }
                }
            }
        }
        left
    }

    /// The places that can be reached from some; the graph is settled.
    pub fn reachable(&self, from: Vec<At>) -> Vec<bool> {
        let leaving = self.leaving();
        let (mut seen, mut stack) = (vec![false; self.places()], from);
        while let Some(at) = stack.pop() {
            if !std::mem::replace(&mut seen[at], true) {
                stack.extend(leaving[at].iter().map(|&arrow| self.arrows[arrow].to));
            }
        }
        seen
    }

    /// Drops what cannot be reached from a place.
    pub fn keep_reachable(&mut self, entry: At) {
        let seen = self.reachable(vec![entry]);
        self.arrows.retain(|arrow| seen[arrow.from]);
    }

    /// The steps that may be taken when other threads run: those made since, and those that a jump leads
    /// back to.
    pub fn shared_steps(&self) -> impl Iterator<Item = &CStep> {
        let starts = self.arrows.iter().filter(|arrow| matches!(arrow.step, CStep::Start(..)));
        let seen = self.reachable(starts.map(|arrow| arrow.to).collect());
        let arrows = self.arrows.iter().enumerate();
        let shared = arrows.filter(move |(at, arrow)| *at >= self.shared_from || seen[arrow.from]);
        shared.map(|(_, arrow)| &arrow.step)
    }

    /// Takes out arrows that do nothing more: their ends become one place. Where another arrow
    /// leaves the same place, that would change what can be chosen there, so a step stays. One stays
    /// before a failure too: a thread does not begin with one.
    pub fn contract(&mut self, gone: &dyn Fn(&CArrow) -> bool) {
        self.settle();
        let mut leaving = vec![0usize; self.places()];
        for arrow in &self.arrows {
            leaving[arrow.from] += 1;
        }
        self.arrows.iter_mut().filter(|arrow| gone(arrow)).for_each(|arrow| arrow.step = CStep::Op(Op::Skip));
        let failures = &self.failures;
        let alone = |arrow: &CArrow| {
            let skips = matches!(arrow.step, CStep::Op(Op::Skip));
            let leads_on = arrow.from != arrow.to && !failures.contains_key(&arrow.to);
            skips && leads_on && leaving[arrow.from] == 1
        };
        let merged = self.arrows.iter().filter(|arrow| alone(arrow)).map(|arrow| (arrow.from, arrow.to));
        let merged: Vec<(At, At)> = merged.collect();
        self.arrows.retain(|arrow| !alone(arrow));
        for (from, to) in merged {
            self.merge(from, to, Span::NONE);
        }
        self.settle();
    }

    /// The thread, if every step is one that threads have.
    pub fn finish(&self, name: &str, entry: At) -> Result<Thread, Invalid> {
        let mut builder = ThreadBuilder::new(name);
        for register in &self.registers {
            builder.register(register.clone());
        }
        let mut locations: FxHashMap<At, Loc> = [(entry, builder.entry())].into_iter().collect();
        let mut order: Vec<At> = self.arrows.iter().flat_map(|arrow| [arrow.from, arrow.to]).collect();
        order.sort_unstable();
        order.dedup();
        for at in order {
            locations.entry(at).or_insert_with(|| builder.location(Span::NONE));
        }
        for arrow in &self.arrows {
            if let CStep::Op(op) = &arrow.step {
                let (from, to) = (locations[&arrow.from], locations[&arrow.to]);
                builder.call.clone_from(&arrow.call);
                builder.edge(from, op.clone(), to, arrow.span);
                builder.describe(from, arrow.span);
            }
        }
        for (at, failure) in &self.failures {
            if let Some(loc) = locations.get(at) {
                builder.fail(*loc, failure.clone());
            }
        }
        for (at, label) in &self.labels {
            if let Some(loc) = locations.get(at) {
                builder.label(*loc, label.clone());
            }
        }
        builder.finish()
    }
}
