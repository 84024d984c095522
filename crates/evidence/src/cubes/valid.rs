//! Whether a proof by cubes speaks of things that exist.

use super::CubeFlaw;
use crate::symbolic::Name;
use crate::{CubeProof, Task};
use machine::{Entry, Forgetful, Forgotten, Recall, Shape, Slot};
use program::{ThreadId, VarId};
use std::collections::{HashMap, HashSet};

/// The numbers of controls.
pub(super) type Controls<'a> = HashMap<(Option<ThreadId>, &'a [Shape]), u32>;

/// Checks controls, predicates and literals; numbers the controls.
pub(super) fn validate<'a>(
    task: &Task<'_>,
    machine: &Forgetful<'_>,
    proof: &'a CubeProof,
) -> Result<Controls<'a>, CubeFlaw> {
    let mut controls = HashMap::new();
    for (at, (holder, shapes)) in proof.controls.iter().enumerate() {
        let new = controls.insert((*holder, shapes.as_slice()), at as u32).is_none();
        if !new || !control_exists(task, proof.recall, *holder, shapes) {
            return Err(CubeFlaw::Control(at));
        }
    }
    let slots = predicate_slots(proof)?;
    check_literals(task, machine, proof, &slots)?;
    Ok(controls)
}

fn control_exists(task: &Task<'_>, recall: Recall, holder: Option<ThreadId>, shapes: &[Shape]) -> bool {
    let program = task.program;
    shapes.len() == program.threads.len()
        && holder.is_none_or(|thread| thread.index() < shapes.len())
        && program.thread_ids().zip(shapes).all(|(thread, shape)| {
            shape.loc.index() < program.thread(thread).locs().count() && shape_exists(task, recall, shape)
        })
}

/// Whether the machine can have a buffer of this shape, as far as a glance tells.
fn shape_exists(task: &Task<'_>, recall: Recall, shape: &Shape) -> bool {
    let model = task.model;
    // A queue that takes nothing has no place for a store.
    let exists = |v: VarId| v.index() < task.program.variables.len() && model.place(&[], v).is_some();
    let kept = |entry: &Entry| match *entry {
        Entry::Store(variable) => exists(variable) && model.queued(&shape.kept, variable) <= recall.k,
        Entry::Barrier => model.needs_barriers(),
    };
    let pools = recall.forgotten == Forgotten::Pools;
    shape.kept.iter().all(kept)
        && shape.forgotten.iter().all(|(variable, several)| exists(*variable) && (pools || *several))
        && shape.forgotten.windows(2).all(|pair| pair[0].0 < pair[1].0)
}

/// The slots every predicate speaks of.
fn predicate_slots(proof: &CubeProof) -> Result<Vec<Vec<Slot>>, CubeFlaw> {
    let slots = |(at, predicate): (usize, &logic::Atom)| {
        let slot = |var| match proof.vocabulary.name(var) {
            Some(Name::Slot(slot)) => Some(slot),
            _ => None,
        };
        let constant = predicate.is_true() || predicate.is_false();
        let slots = predicate.vars().map(slot).collect::<Option<Vec<Slot>>>();
        slots.filter(|_| !constant).ok_or(CubeFlaw::Predicate(at))
    };
    proof.predicates.iter().enumerate().map(slots).collect()
}

/// Literals must be numbers of predicates, in increasing order, about slots of the control.
fn check_literals(
    task: &Task<'_>,
    machine: &Forgetful<'_>,
    proof: &CubeProof,
    slots: &[Vec<Slot>],
) -> Result<(), CubeFlaw> {
    let mut allowed: HashMap<u32, Vec<bool>> = HashMap::new();
    for (at, cube) in proof.cubes.iter().enumerate() {
        let (_, shapes) = proof.controls.get(cube.control as usize).ok_or(CubeFlaw::Cube(at))?;
        let allowed = allowed.entry(cube.control).or_insert_with(|| {
            let existing = control_slots(task, machine, shapes);
            slots.iter().map(|slots| slots.iter().all(|slot| existing.contains(slot))).collect()
        });
        let fits = |literal: &(u32, bool)| allowed.get(literal.0 as usize) == Some(&true);
        let increasing = cube.literals.windows(2).all(|pair| pair[0].0 < pair[1].0);
        if !increasing || !cube.literals.iter().all(fits) {
            return Err(CubeFlaw::Cube(at));
        }
    }
    Ok(())
}

fn control_slots(task: &Task<'_>, machine: &Forgetful<'_>, shapes: &[Shape]) -> HashSet<Slot> {
    let mut slots: Vec<Slot> = task.program.variable_ids().map(Slot::Memory).collect();
    for (thread, shape) in task.program.thread_ids().zip(shapes) {
        machine.slots(thread, shape, &mut slots);
    }
    slots.into_iter().collect()
}
