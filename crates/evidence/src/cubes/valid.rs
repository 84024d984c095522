//! Whether a proof by cubes speaks of things that exist.

use super::CubeFlaw;
use crate::CubeProof;
use logic::{Atom, Var};
use machine::{LocalFirst, Machine, Slot};
use program::Program;
use rustc_hash::FxHashMap;

/// The numbers of controls.
pub(super) type ControlNumbers<'a, M> = FxHashMap<(<M as Machine>::Global, &'a [<M as Machine>::Local]), u32>;

/// A proof about a machine.
pub(super) type CubeProofOf<M, R> = CubeProof<R, <M as Machine>::Global, <M as Machine>::Local>;

/// A proof that speaks of things that exist, and what it is about.
pub(super) struct ValidProof<'a, M: Machine, R> {
    pub(super) program: &'a Program,
    pub(super) machine: M,
    pub(super) first: LocalFirst,
    pub(super) proof: &'a CubeProofOf<M, R>,
    pub(super) controls: ControlNumbers<'a, M>,
    /// By control: its cubes.
    pub(super) cubes_of: Vec<Vec<u32>>,
    /// Steps are looked at from the cubes before this one; others are there under other names.
    pub(super) listed: u32,
}

impl<'a, M: Machine, R> ValidProof<'a, M, R> {
    /// Checks controls, predicates and literals; numbers the controls and sorts cubes by them.
    pub(super) fn new(
        program: &'a Program,
        machine: M,
        first: LocalFirst,
        proof: &'a CubeProofOf<M, R>,
    ) -> Result<ValidProof<'a, M, R>, CubeFlaw> {
        let mut controls = FxHashMap::default();
        for (at, (global, shapes)) in proof.controls.iter().enumerate() {
            let new = controls.insert((global.clone(), shapes.as_slice()), at as u32).is_none();
            if !new || !control_exists(&machine, global, shapes) {
                return Err(CubeFlaw::Control(at));
            }
        }
        check_predicates(proof)?;
        let mut cubes_of: Vec<Vec<u32>> = vec![Vec::new(); proof.controls.len()];
        for (at, cube) in proof.cubes.iter().enumerate() {
            cubes_of.get_mut(cube.control as usize).ok_or(CubeFlaw::Cube(at))?.push(at as u32);
        }
        check_literals(&machine, proof, &cubes_of)?;
        Ok(ValidProof { program, machine, first, proof, controls, cubes_of, listed: u32::MAX })
    }

    /// The cubes of a control from which steps are looked at.
    pub(super) fn listed_of(&self, control: usize) -> impl Iterator<Item = u32> + use<'_, M, R> {
        self.cubes_of[control].iter().copied().filter(|cube| *cube < self.listed)
    }
}

fn control_exists<M: Machine>(machine: &M, global: &M::Global, locals: &[M::Local]) -> bool {
    let mut threads = machine.program().thread_ids().zip(locals);
    locals.len() == machine.program().threads.len()
        && machine.may_share(global)
        && threads.all(|(thread, local)| machine.may_have(thread, local))
}

/// Predicates must speak of slots, and of some.
fn check_predicates<R, G, L>(proof: &CubeProof<R, G, L>) -> Result<(), CubeFlaw> {
    let slot = |var| proof.vocabulary.slot_of(var).is_some();
    let fits = |atom: &Atom| !atom.is_true() && !atom.is_false() && atom.vars().all(slot);
    let wrong = proof.predicates.iter().position(|predicate| !fits(predicate));
    wrong.map_or(Ok(()), |at| Err(CubeFlaw::Predicate(at)))
}

/// Literals must be numbers of predicates, in increasing order, about slots of the control.
fn check_literals<M: Machine, R>(
    machine: &M,
    proof: &CubeProofOf<M, R>,
    cubes_of: &[Vec<u32>],
) -> Result<(), CubeFlaw> {
    let vars = (0..proof.vocabulary.len()).map(Var::at);
    let named = |var: Var| Some((proof.vocabulary.slot_of(var)?, var.index()));
    let numbers: FxHashMap<Slot, usize> = vars.filter_map(named).collect();
    // By variable: the last control that has it.
    let mut seen = vec![usize::MAX; proof.vocabulary.len()];
    for (control, cubes) in cubes_of.iter().enumerate().filter(|(_, cubes)| !cubes.is_empty()) {
        for slot in control_slots(machine, &proof.controls[control].1) {
            if let Some(var) = numbers.get(&slot) {
                seen[*var] = control;
            }
        }
        for cube in cubes.iter() {
            let literals = &proof.cubes[*cube as usize].literals;
            let known = |atom: &Atom| atom.vars().all(|var| seen[var.index()] == control);
            let fits = |literal: &(u32, bool)| proof.predicates.get(literal.0 as usize).is_some_and(known);
            let increasing = literals.windows(2).all(|pair| pair[0].0 < pair[1].0);
            if !increasing || !literals.iter().all(fits) {
                return Err(CubeFlaw::Cube(*cube as usize));
            }
        }
    }
    Ok(())
}

/// The slots of a control; memory always exists.
pub(crate) fn control_slots<M: Machine>(machine: &M, shapes: &[M::Local]) -> Vec<Slot> {
    let mut slots: Vec<Slot> = machine.program().variable_ids().map(Slot::Memory).collect();
    for (thread, shape) in machine.program().thread_ids().zip(shapes) {
        machine.slots(thread, shape, &mut slots);
    }
    slots
}
