//! Proofs by cubes up to the names of threads.
//!
//! A [`Renaming`] that preserves the steps of a program takes exact states to exact states, steps to steps and violations to violations; where
//! runs start it need not preserve, because the start itself has to be covered. It also takes
//! what a control and a cube stand for to what the renamed control and the renamed cube stand for: how much of a buffer is kept and which
//! stores are forgotten does not depend on names. Let the *closure* of a proof be all that its renamings, one after the other, make of its cubes.
//! If the start is in the closure, no cube of the proof allows a violation, and what a step makes of a cube of the proof is
//! in the closure, then what the closure stands for is never left: a step from a renamed state is, under the old names, one
//! from a cube of the proof, and the closure is the same under all names.
//!
//! Where a thread goes first or waits for its stores, so does the renamed thread in the renamed state. That must be where it
//! may, so renamings have to keep the places of both. Values that are names have no linear constraints, so renamings must change none.
//!
//! The closure is written out here, as far as the start and single steps from controls of the proof lead into it. The checker looks at steps from the cubes of the
//! proof alone, which stand first.

use super::{CubeFlaw, forgetful_proof};
use crate::file::slot_exists;
use crate::symbolic::Vocabulary;
use crate::{Cube, CubeProof, Monitor, Progress, Rejected, Task};
use indexmap::IndexSet;
use logic::{Atom, Linear};
use machine::{Buffered, Local, Machine, renamed_local, renaming_group};
use program::{Renaming, ThreadId};
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};

/// The control of a machine with store buffers.
type BufferedControl = (Option<ThreadId>, Vec<Local>);

/// The proof with its closure written out, its own cubes first.
pub(super) fn written_out(
    task: &Task<'_>,
    proof: &CubeProof,
    monitor: &dyn Monitor,
) -> Result<CubeProof, Rejected> {
    let valid = forgetful_proof(task, proof)?;
    let (machine, first) = (&valid.machine, &valid.first);
    let keeps = |renaming: &Renaming| {
        renaming.preserves_steps(task.program) && renaming.keeps_values() && first.is_kept_by(renaming)
    };
    if !proof.renamings.iter().all(keeps) {
        return Err(Rejected::Renaming);
    }
    let known = |var| proof.vocabulary.slot_of(var).is_some_and(|slot| slot_exists(task.program, slot));
    if let Some(at) = proof.predicates.iter().position(|atom| !atom.vars().all(known)) {
        return Err(CubeFlaw::Predicate(at).into());
    }
    let group = renaming_group(task.program, &proof.renamings).ok_or(Rejected::Renaming)?;
    let mut closure = Closure { needed: next_controls(machine, proof), ..Closure::of(proof) };
    for renaming in &group[1..] {
        let progress = Progress { phase: "renaming", bytes: closure.bytes, ..Progress::default() };
        monitor.observe(&progress).map_err(Rejected::Stopped)?;
        closure.add(proof, machine, renaming).ok_or(Rejected::Renaming)?;
    }
    Ok(closure.into_proof())
}

/// Where a run starts, and where single steps from the controls of a proof lead.
fn next_controls(machine: &Buffered<'_>, proof: &CubeProof) -> FxHashSet<BufferedControl> {
    let (holder, locals) = machine.initial();
    let mut found = FxHashSet::from_iter([(holder, locals.to_vec())]);
    let mut known: FxHashMap<_, Vec<_>> = FxHashMap::default();
    for (holder, locals) in &proof.controls {
        for (thread, local) in machine.program().thread_ids().zip(locals) {
            let after = known.entry((thread, *holder, local)).or_insert_with(|| {
                let mut moves = Vec::new();
                machine.moves(thread, holder, local, &mut moves);
                moves.into_iter().map(|step| (step.global, step.local)).collect()
            });
            for (holder, local) in after {
                let mut next = locals.clone();
                next[thread.index()] = local.clone();
                found.insert((*holder, next));
            }
        }
    }
    found
}

/// A proof that grows.
struct Closure {
    /// All but its cubes.
    proof: CubeProof,
    predicates: FxHashMap<Atom, u32>,
    controls: FxHashMap<BufferedControl, u32>,
    cubes: IndexSet<Cube, FxBuildHasher>,
    /// The controls whose cubes are asked for.
    needed: FxHashSet<BufferedControl>,
    /// Bytes that were added, roughly.
    bytes: usize,
}

impl Closure {
    fn of(proof: &CubeProof) -> Closure {
        let numbered = |at: usize| at as u32;
        let predicates = proof.predicates.iter().enumerate().map(|(at, atom)| (atom.clone(), numbered(at)));
        let controls = proof.controls.iter().enumerate().map(|(at, control)| (control.clone(), numbered(at)));
        Closure {
            predicates: predicates.collect(),
            controls: controls.collect(),
            cubes: proof.cubes.iter().cloned().collect(),
            needed: FxHashSet::default(),
            bytes: 0,
            proof: CubeProof {
                renamings: Box::default(),
                cubes: Vec::new(),
                recall: proof.recall,
                vocabulary: proof.vocabulary.clone(),
                predicates: proof.predicates.clone(),
                controls: proof.controls.clone(),
            },
        }
    }

    fn into_proof(self) -> CubeProof {
        CubeProof { cubes: self.cubes.into_iter().collect(), ..self.proof }
    }

    /// Adds what a renaming makes of all cubes; `None` if something has no image.
    fn add(&mut self, proof: &CubeProof, machine: &Buffered<'_>, renaming: &Renaming) -> Option<()> {
        let predicates: Vec<(u32, bool)> =
            proof.predicates.iter().map(|atom| self.predicate(atom, renaming)).collect();
        let controls = proof.controls.iter().map(|control| self.control(control, machine, renaming));
        let controls: Vec<Option<u32>> = controls.collect::<Option<_>>()?;
        for cube in &proof.cubes {
            let Some(control) = *controls.get(cube.control as usize)? else { continue };
            let mut literals = Vec::with_capacity(cube.literals.len());
            for (predicate, sign) in &cube.literals {
                let (new, same) = *predicates.get(*predicate as usize)?;
                literals.push((new, *sign == same));
            }
            literals.sort_unstable();
            literals.dedup();
            // A cube that says something and its opposite holds nowhere.
            let possible = literals.windows(2).all(|pair| pair[0].0 != pair[1].0);
            let bytes = 128 + 16 * literals.len();
            if possible && self.cubes.insert(Cube { control, literals }) {
                self.bytes += bytes;
            }
        }
        Some(())
    }

    /// The number of a predicate under new names, and whether that is as it stands or negated.
    fn predicate(&mut self, atom: &Atom, renaming: &Renaming) -> (u32, bool) {
        let new = renamed_atom(&mut self.proof.vocabulary, atom, renaming);
        if let Some(known) = self.predicates.get(&new) {
            return (*known, true);
        }
        if let Some(known) = self.predicates.get(&new.negate()) {
            return (*known, false);
        }
        let number = self.proof.predicates.len() as u32;
        self.proof.predicates.push(new.clone());
        self.predicates.insert(new, number);
        (number, true)
    }

    /// The number of a control under new names, if it is needed; `None` if there is no such control.
    fn control(
        &mut self,
        (holder, locals): &BufferedControl,
        machine: &Buffered<'_>,
        renaming: &Renaming,
    ) -> Option<Option<u32>> {
        if locals.len() != renaming.threads.len() {
            return None;
        }
        let mut new: Vec<Option<Local>> = vec![None; locals.len()];
        for (thread, local) in locals.iter().enumerate().map(|(at, local)| (ThreadId::new(at), local)) {
            *new.get_mut(renaming.thread(thread).index())? =
                Some(renamed_local(machine, renaming, thread, local)?);
        }
        let new = new.into_iter().collect::<Option<Vec<Local>>>()?;
        let new = (holder.map(|thread| renaming.thread(thread)), new);
        if !self.needed.contains(&new) {
            return Some(None);
        }
        let next = self.controls.len() as u32;
        let number = *self.controls.entry(new.clone()).or_insert(next);
        if number == next {
            self.bytes += 256 + 256 * new.1.len();
            self.proof.controls.push(new);
        }
        Some(Some(number))
    }
}

/// An atom over slots under new names.
pub fn renamed_atom(vocabulary: &mut Vocabulary, atom: &Atom, renaming: &Renaming) -> Atom {
    atom.substitute_all(|var| {
        let slot = vocabulary.slot_of(var)?;
        Some(Linear::from(vocabulary.slot(slot.renamed(renaming))))
    })
}
