//! A thread that holds a mutex may release it.
//!
//! Releasing a mutex is two ways: the thread finds its own number there, or it does not, which is a violation. Between taking
//! and releasing a mutex the number is there: others take it only when it is 0, and release it only when they
//! find their own numbers, all in locked steps, whatever the memory model. So where a thread is sure to hold the mutex the way to the violation
//! goes. Which of many mutexes it is may depend on a value (`lock(&m[h]) … unlock(&m[h])`): then what is known is a
//! table, "this expression has one of these values, and the mutex beside it is held", until a register in it changes.

use super::analysis::order;
use super::critical::{MutexStep, OfMutex, mutex_step};
use super::finish::tidy;
use super::graph::{CStep, Graph};
use super::world::Threaded;
use program::{Cond, Expr, Int, Op, RegId, Relation, VarId};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Takes out ways on which a thread does not hold what it is sure to hold.
pub(super) fn drop_refusals(threads: &mut [&mut Threaded]) {
    let mutexes = mutexes(threads);
    if mutexes.is_empty() {
        return;
    }
    for threaded in threads {
        let refuses = |step: OfMutex| step.does == MutexStep::Refuse && mutexes.contains(&step.mutex);
        if !threaded.graph.arrows.iter().filter_map(|arrow| mutex_step(&arrow.step)).any(refuses) {
            continue;
        }
        let (held, before) =
            (held_at(&threaded.graph, threaded.entry, &mutexes), threaded.graph.arrows.len());
        threaded.graph.arrows.retain(|arrow| {
            let refused = mutex_step(&arrow.step).filter(|step| step.does == MutexStep::Refuse);
            let held = held[arrow.from].as_ref();
            !refused.zip(held).is_some_and(|(step, held)| held.sure.contains(&step.mutex))
        });
        if threaded.graph.arrows.len() < before {
            tidy(threaded);
        }
    }
}

/// Variables that are only taken and released, every thread with numbers of its own.
fn mutexes(threads: &[&mut Threaded]) -> BTreeSet<VarId> {
    let (mut found, mut others) = (BTreeSet::new(), BTreeSet::new());
    let mut whose: BTreeMap<(VarId, Int), usize> = BTreeMap::new();
    for (at, threaded) in threads.iter().enumerate() {
        for arrow in &threaded.graph.arrows {
            match mutex_step(&arrow.step) {
                Some(step) => {
                    found.insert(step.mutex);
                    if *whose.entry((step.mutex, step.number)).or_insert(at) != at {
                        others.insert(step.mutex);
                    }
                }
                None => arrow.step.for_each_stored(&mut |variable| others.extend([variable])),
            }
        }
    }
    found.retain(|mutex| !others.contains(mutex));
    found
}

/// What a thread knows of the mutexes that it holds.
#[derive(Clone, Default, PartialEq, Eq)]
struct HeldMutexes {
    sure: BTreeSet<VarId>,
    /// Registers that hold what another one does.
    copies: Vec<(RegId, RegId)>,
    /// Values that expressions have, where a mutex is taken next: so it is chosen.
    equal: Vec<(Expr<RegId>, Int)>,
    /// Expressions whose value says which mutex is held.
    chosen: Vec<(Expr<RegId>, HeldBy)>,
}

/// The mutex that is held for each value, in order of values. There are few tables at many places.
type HeldBy = Rc<[(Int, VarId)]>;

/// What is in one of two tables; nothing if they do not agree on a value.
fn united(a: &HeldBy, b: &HeldBy) -> Option<HeldBy> {
    if a == b {
        return Some(Rc::clone(a));
    }
    let mut all: Vec<(Int, VarId)> = a.iter().chain(b.iter()).cloned().collect();
    all.sort_unstable();
    all.dedup();
    let agree = all.windows(2).all(|pair| pair[0].0 != pair[1].0);
    agree.then(|| all.into())
}

impl HeldMutexes {
    /// What is known behind a step, unless it is not possible.
    fn after(
        &self,
        step: &CStep,
        mutexes: &BTreeSet<VarId>,
        (chooses, takes_next): (bool, bool),
    ) -> Option<HeldMutexes> {
        let mut after = self.clone();
        match (mutex_step(step).filter(|step| mutexes.contains(&step.mutex)), step) {
            (Some(step), _) if step.does == MutexStep::Refuse => {
                return Some(after).filter(|held| !held.sure.contains(&step.mutex));
            }
            (Some(step), _) => {
                after.written(step.register);
                after.changed(step.mutex, step.does);
            }
            (None, CStep::Op(op)) => {
                let mut possible = true;
                op.for_each_part(&mut |part| possible &= after.part(part, (chooses, takes_next)).is_some());
                return possible.then_some(after);
            }
            (None, CStep::Begin(Some(register)) | CStep::Unwritten(register, ..)) => after.written(*register),
            (None, CStep::Start(..) | CStep::Join(_) | CStep::Begin(None) | CStep::End(_)) => {}
            // These are written out by now.
            (None, CStep::Choice(_) | CStep::Fits(_) | CStep::Checked(..)) => after = HeldMutexes::default(),
        }
        Some(after)
    }

    fn part(&mut self, part: &Op, (chooses, takes_next): (bool, bool)) -> Option<()> {
        match part {
            Op::Assume(Cond::Compare(Relation::Eq, expr, Expr::Const(value))) => {
                let expr = &expr.map(&mut |register| Expr::Leaf(self.original(*register)));
                if let Some((_, table)) = self.chosen.iter_mut().find(|(key, _)| key == expr) {
                    let at = table.binary_search_by(|(other, _)| other.cmp(value)).ok()?;
                    let mutex = table[at].1;
                    *table = Rc::from([(value.clone(), mutex)]);
                    self.sure.insert(mutex);
                }
                if takes_next {
                    self.equal.push((expr.clone(), value.clone()));
                }
            }
            Op::Assign(copy, Expr::Leaf(register)) if chooses && copy != register => {
                let original = self.original(*register);
                self.written(*copy);
                if original != *copy {
                    self.copies.push((*copy, original));
                }
            }
            other => other.writes().into_iter().for_each(|register| self.written(register)),
        }
        Some(())
    }

    /// The register that one is a copy of, or itself.
    fn original(&self, register: RegId) -> RegId {
        self.copies.iter().find(|(copy, _)| *copy == register).map_or(register, |(_, original)| *original)
    }

    /// A register has changed.
    fn written(&mut self, register: RegId) {
        let mentions = |expr: &Expr<RegId>| {
            let mut found = false;
            expr.for_each_leaf(&mut |leaf| found |= *leaf == register);
            found
        };
        self.copies.retain(|(copy, original)| *copy != register && *original != register);
        self.equal.retain(|(expr, _)| !mentions(expr));
        self.chosen.retain(|(expr, _)| !mentions(expr));
    }

    /// A mutex was taken or released.
    fn changed(&mut self, mutex: VarId, does: MutexStep) {
        if does != MutexStep::Take {
            self.sure.remove(&mutex);
            self.chosen.retain(|(_, table)| !table.iter().any(|(_, held)| *held == mutex));
            return;
        }
        self.sure.insert(mutex);
        for (expr, value) in &self.equal {
            self.chosen.retain(|(other, _)| other != expr);
            self.chosen.push((expr.clone(), Rc::from([(value.clone(), mutex)])));
        }
    }

    /// Knows only what another knows too; says whether that is less than before.
    fn forget_beyond(&mut self, other: &HeldMutexes) -> bool {
        let count =
            |held: &HeldMutexes| held.sure.len() + held.copies.len() + held.equal.len() + held.chosen.len();
        let before = count(self);
        self.sure.retain(|mutex| other.sure.contains(mutex));
        self.copies.retain(|known| other.copies.contains(known));
        self.equal.retain(|known| other.equal.contains(known));
        let mut grew = false;
        self.chosen.retain_mut(|(expr, table)| {
            let theirs = other.chosen.iter().find(|(key, _)| key == expr);
            let Some(both) = theirs.and_then(|(_, theirs)| united(table, theirs)) else { return false };
            grew |= both.len() > table.len();
            *table = both;
            true
        });
        grew || count(self) < before
    }
}

/// What the thread knows, by place; nothing where nobody gets.
fn held_at(graph: &Graph, entry: usize, mutexes: &BTreeSet<VarId>) -> Vec<Option<HeldMutexes>> {
    let leaving = graph.leaving();
    let order = order(graph, &leaving, entry);
    let mut held: Vec<Option<HeldMutexes>> = vec![None; graph.places()];
    held[entry] = Some(HeldMutexes::default());
    let taken = |index: usize| mutex_step(&graph.arrows[index].step).map(|step| step.mutex);
    let all: BTreeSet<VarId> = (0..graph.arrows.len()).filter_map(taken).collect();
    // Values choose among several only.
    let chooses = all.len() > 1;
    let takes = |&index: &usize| chooses && taken(index).is_some();
    let mut waiting = BTreeSet::from([(order[entry], entry)]);
    while let Some((_, place)) = waiting.pop_first() {
        let Some(known) = held[place].clone() else { continue };
        for &index in &leaving[place] {
            let arrow = &graph.arrows[index];
            let takes_next = leaving[arrow.to].iter().any(takes);
            let Some(mut after) = known.after(&arrow.step, mutexes, (chooses, takes_next)) else { continue };
            if !takes_next {
                after.equal.clear();
            }
            let new = match &mut held[arrow.to] {
                Some(before) => before.forget_beyond(&after),
                unknown => {
                    *unknown = Some(after);
                    true
                }
            };
            if new {
                waiting.insert((order[arrow.to], arrow.to));
            }
        }
    }
    held
}
