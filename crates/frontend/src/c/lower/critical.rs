//! Critical sections of a mutex become atomic where nobody can tell.
//!
//! While a thread holds a mutex, nobody else touches what is only ever touched by whoever holds it. If a
//! thread does nothing else to memory in between, its steps commute with those of all others (Lipton): it
//! may as well take them all at once, when it gets the mutex. Its stores have reached memory when it
//! releases it, and nobody looks before. A thread that never gets out again has done nothing that others
//! can see, so it makes no difference that it keeps them waiting: they may also go first.
//!
//! A mutex is a variable that is only taken (0 becomes a number) and released (that number becomes 0). All of
//! its critical sections become atomic, or none: so it is free whenever nobody is in one.

use super::graph::{CStep, Graph};
use super::world::Threaded;
use num_traits::Zero;
use program::{Cond, Expr, Int, Op, RegId, Relation, VarId};
use std::collections::BTreeSet;

/// What a step does to a mutex.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum MutexStep {
    /// Takes it.
    Take,
    /// Releases it.
    Release,
    /// Finds that the thread does not hold it.
    Refuse,
}

/// A step that is about a mutex.
pub struct OfMutex {
    pub mutex: VarId,
    pub does: MutexStep,
    /// The number that stands for "taken".
    pub number: Int,
    /// The register that its value is loaded to.
    pub register: RegId,
}

/// The mutex that a step is about, if that is all it does to memory.
pub(super) fn mutex_step(step: &CStep) -> Option<OfMutex> {
    let CStep::Op(op) = step else { return None };
    mutex_op(op)
}

/// What a step does to a mutex, if it is about that one.
fn does_to(step: &CStep, mutex: VarId) -> Option<MutexStep> {
    mutex_step(step).filter(|step| step.mutex == mutex).map(|step| step.does)
}

/// The mutex that an operation is about, if that is all it does to memory.
pub fn mutex_op(op: &Op) -> Option<OfMutex> {
    let Op::Block { locked: true, parts } = op else { return None };
    let [Op::Load(register, variable), Op::Assume(Cond::Compare(relation, left, right)), rest @ ..] =
        &parts[..]
    else {
        return None;
    };
    let (Expr::Leaf(compared), Some(expected)) = (left, right.as_const()) else { return None };
    let stored = match rest {
        [] => None,
        [Op::Store(to, value)] if to == variable => Some(value.as_const()?),
        _ => return None,
    };
    if compared != register {
        return None;
    }
    let (does, number) = match (relation, expected.is_zero(), stored) {
        (Relation::Eq, true, Some(stored)) if !stored.is_zero() => (MutexStep::Take, stored),
        (Relation::Eq, false, Some(stored)) if stored.is_zero() => (MutexStep::Release, expected),
        (Relation::Ne, false, None) => (MutexStep::Refuse, expected),
        _ => return None,
    };
    Some(OfMutex { mutex: *variable, does, number: number.clone(), register: *register })
}

/// Makes critical sections atomic, of variables that start with 0 and that nothing is claimed of.
pub(super) fn make_atomic(threads: &mut [&mut Threaded], free: &dyn Fn(VarId) -> bool) {
    let (mut mutexes, mut others) = (BTreeSet::new(), BTreeSet::new());
    for arrow in threads.iter().flat_map(|threaded| &threaded.graph.arrows) {
        match mutex_step(&arrow.step) {
            Some(step) => mutexes.extend([step.mutex]),
            None => arrow.step.for_each_access(&mut |variable, _| others.extend([variable])),
        }
    }
    for mutex in mutexes.into_iter().filter(|mutex| !others.contains(mutex) && free(*mutex)) {
        let held = threads.iter().map(|threaded| held_at(&threaded.graph, threaded.entry, mutex));
        let Some(held) = held.collect::<Option<Vec<Vec<Option<bool>>>>>() else { continue };
        if commutes(threads, &held, mutex) {
            threads.iter_mut().for_each(|threaded| write_sections(&mut threaded.graph, mutex));
        }
    }
}

/// Whether a thread holds a mutex, by place (nothing where nobody gets); nothing at all if that is not
/// clear everywhere, if it is not released for certain, or is taken inside an atomic section.
fn held_at(graph: &Graph, entry: usize, mutex: VarId) -> Option<Vec<Option<bool>>> {
    let leaving = graph.leaving();
    let mut held: Vec<Option<(bool, bool)>> = vec![None; graph.places()];
    held[entry] = Some((false, false));
    let mut waiting = vec![entry];
    while let Some(place) = waiting.pop() {
        let Some((holds, inside)) = held[place] else { continue };
        if holds && leaving[place].is_empty() && !graph.failures.contains_key(&place) {
            return None;
        }
        for &index in &leaving[place] {
            let arrow = &graph.arrows[index];
            let after = match (does_to(&arrow.step, mutex), holds) {
                (Some(MutexStep::Take), false) if !inside => (true, false),
                (Some(MutexStep::Release), true) => (false, false),
                (Some(MutexStep::Refuse), true) => continue,
                (Some(_), _) => return None,
                (None, _) => match &arrow.step {
                    CStep::Op(Op::Lock) if !holds => (false, true),
                    CStep::Op(Op::Unlock) if !holds => (false, false),
                    CStep::Op(Op::Lock | Op::Unlock) => return None,
                    CStep::Op(_) => (holds, inside),
                    _ if holds => return None,
                    _ => (holds, inside),
                },
            };
            match held[arrow.to] {
                None => {
                    held[arrow.to] = Some(after);
                    waiting.push(arrow.to);
                }
                Some(known) if known != after => return None,
                Some(_) => {}
            }
        }
    }
    Some(held.into_iter().map(|known| known.map(|(holds, _)| holds)).collect())
}

/// Whether whoever holds the mutex only touches what nobody touches without it.
fn commutes(threads: &[&mut Threaded], held: &[Vec<Option<bool>>], mutex: VarId) -> bool {
    let (mut with, mut without) = (BTreeSet::new(), BTreeSet::new());
    for (threaded, held) in threads.iter().zip(held) {
        for arrow in &threaded.graph.arrows {
            let found = match held[arrow.from] {
                Some(true) => &mut with,
                Some(false) => &mut without,
                None => continue,
            };
            arrow.step.for_each_access(&mut |variable, _| found.extend([variable]));
        }
    }
    with.remove(&mutex);
    with.is_disjoint(&without)
}

/// Writes taking and releasing a mutex as the beginning and the end of an atomic section.
fn write_sections(graph: &mut Graph, mutex: VarId) {
    graph.arrows.retain_mut(|arrow| {
        match does_to(&arrow.step, mutex) {
            Some(MutexStep::Take) => arrow.step = CStep::Op(Op::Lock),
            Some(MutexStep::Release) => arrow.step = CStep::Op(Op::Unlock),
            Some(MutexStep::Refuse) => return false,
            None => {}
        }
        true
    });
}
