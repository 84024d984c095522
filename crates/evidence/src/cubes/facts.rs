//! What is known at a point, and what follows from it.
//!
//! Most questions are answered without a solver: the goal is among the facts, or follows from a
//! few of them that it followed from before. Else a [`Context`] says whether the goal follows,
//! quickly and without being believed: if so, the facts connected with the goal are refuted
//! together with its negation, the certificate is checked by [`logic::check`], and the few
//! facts it needs are remembered for the next time.

use super::atoms::{AtomId, Atoms, TRUE};
use logic::{Atom, Context, Decided, Formula, FormulaOutcome};
use logic::{check, check_formulas, decide, decide_formulas, small_core};
use std::collections::BTreeSet;

/// Cores up to this size are made minimal.
const SHORT: usize = 24;

/// Facts in two levels: those of a cube, and those of a step from it.
#[derive(Default)]
pub(super) struct CubeFacts {
    /// Whether an atom is a fact, by number.
    known: Vec<bool>,
    listed: Vec<AtomId>,
    /// How many of them belong to the cube.
    cube: usize,
    context: Context,
    cube_loaded: bool,
    step_loaded: bool,
    /// By goal: sets of atoms that it was proved from.
    cores: Vec<Vec<Box<[AtomId]>>>,
    core_bytes: usize,
}

impl CubeFacts {
    /// Forgets everything and begins with the facts of a cube.
    pub(super) fn begin(&mut self, atoms: &Atoms, facts: impl IntoIterator<Item = AtomId>) {
        self.retract(0);
        self.cube_loaded = false;
        self.assume(atoms, facts);
        self.cube = self.listed.len();
    }

    /// All facts.
    pub(super) fn listed(&self) -> &[AtomId] {
        &self.listed
    }

    /// Adds the facts of a step.
    pub(super) fn assume(&mut self, atoms: &Atoms, facts: impl IntoIterator<Item = AtomId>) {
        self.known.resize(atoms.len().max(self.known.len()), false);
        for fact in facts {
            if fact != TRUE && !std::mem::replace(&mut self.known[fact as usize], true) {
                self.listed.push(fact);
            }
        }
    }

    /// Returns to the facts of the cube.
    pub(super) fn leave_step(&mut self) {
        self.retract(self.cube);
    }

    fn retract(&mut self, count: usize) {
        if std::mem::take(&mut self.step_loaded) {
            self.context.pop();
        }
        for fact in self.listed.drain(count..) {
            self.known[fact as usize] = false;
        }
    }

    /// Whether the goal follows, as far as that is known without thinking.
    pub(super) fn obvious(&self, goal: AtomId) -> bool {
        goal == TRUE || self.is_fact(goal) || {
            let cores = self.cores.get(goal as usize).map_or(&[][..], Vec::as_slice);
            cores.iter().any(|core| core.iter().all(|atom| self.is_fact(*atom)))
        }
    }

    /// Bytes, roughly.
    pub(super) fn bytes(&self) -> usize {
        24 * self.cores.len() + self.core_bytes
    }

    fn is_fact(&self, atom: AtomId) -> bool {
        self.known.get(atom as usize).is_some_and(|known| *known)
    }

    /// Whether the goal follows. The facts must not be contradictory.
    pub(super) fn entail(&mut self, atoms: &Atoms, goal: AtomId) -> bool {
        self.obvious(goal) || (self.load(atoms).entails(atoms.atom(goal)) && self.prove(atoms, goal))
    }

    /// Whether no values satisfy all facts; `guard` are the ones to blame, if any.
    pub(super) fn contradictory(&mut self, atoms: &Atoms, guard: &[AtomId]) -> bool {
        let falsehood = atoms.negation(TRUE);
        let blamed = guard.iter().map(|atom| atoms.negation(*atom)).chain([falsehood]);
        if blamed.clone().any(|goal| self.obvious(goal)) {
            return true;
        }
        if self.load(atoms).is_consistent() {
            return false;
        }
        blamed.into_iter().any(|goal| self.prove(atoms, goal))
    }

    fn load(&mut self, atoms: &Atoms) -> &mut Context {
        if !std::mem::replace(&mut self.cube_loaded, true) {
            self.context.clear();
            self.listed[..self.cube].iter().for_each(|fact| self.context.assume(atoms.atom(*fact)));
        }
        if self.listed.len() > self.cube && !std::mem::replace(&mut self.step_loaded, true) {
            self.context.push();
            self.listed[self.cube..].iter().for_each(|fact| self.context.assume(atoms.atom(*fact)));
        }
        &mut self.context
    }

    /// Proves the goal with a certificate from the facts connected with it (falsehood: from all).
    fn prove(&mut self, atoms: &Atoms, goal: AtomId) -> bool {
        let refuted = atoms.negation(goal);
        let mut used = if refuted == TRUE { self.listed.clone() } else { self.connected(atoms, goal) };
        used.push(refuted);
        let Some(core) = checked_core(&used.iter().map(|id| atoms.atom(*id).clone()).collect::<Vec<_>>())
        else {
            return false;
        };
        let core: Box<[AtomId]> = core.into_iter().map(|at| used[at]).filter(|id| *id != refuted).collect();
        self.core_bytes += 32 + 4 * core.len();
        self.cores.resize_with(atoms.len().max(self.cores.len()), Vec::new);
        self.cores[goal as usize].push(core);
        true
    }

    /// The facts that share variables with the goal, or with such facts, and so on.
    fn connected(&self, atoms: &Atoms, goal: AtomId) -> Vec<AtomId> {
        let mut variables: BTreeSet<_> = atoms.atom(goal).vars().collect();
        let (mut found, mut rest) = (Vec::new(), self.listed.clone());
        loop {
            let before = found.len();
            rest.retain(|id| {
                let atom = atoms.atom(*id);
                // A false fact is connected with everything.
                let touches = atom.is_false() || atom.vars().any(|var| variables.contains(&var));
                if touches {
                    variables.extend(atom.vars());
                    found.push(*id);
                }
                !touches
            });
            if found.len() == before {
                return found;
            }
        }
    }

    /// Whether one of several conjunctions holds, each given by those of its parts that are open.
    /// If it fails for some members of pools, these need not be the members for which another one
    /// fails: each conjunction has its own, of which the same is known.
    pub(super) fn entail_one_of(&self, atoms: &Atoms, conjunctions: &[Vec<AtomId>]) -> bool {
        let mut formulas: Vec<Formula> =
            self.listed.iter().map(|id| Formula::from(atoms.atom(*id))).collect();
        let about_pool = |id: &&AtomId| atoms.about_pool(**id);
        for (number, open) in conjunctions.iter().enumerate() {
            let own = |id: AtomId| Formula::from(atoms.of_members(id, number));
            if open.iter().any(|id| atoms.about_pool(*id)) {
                formulas.extend(self.listed.iter().filter(about_pool).map(|id| own(*id)));
            }
            formulas.push(Formula::or(open.iter().map(|id| own(atoms.negation(*id)))));
        }
        match decide_formulas(&formulas) {
            FormulaOutcome::Sat(_) => false,
            FormulaOutcome::Unsat(proof) => check_formulas(&formulas, &proof).is_ok(),
        }
    }
}

/// Positions of atoms that contradict each other, by a certificate that was checked.
fn checked_core(atoms: &[Atom]) -> Option<Vec<usize>> {
    let core = small_core(atoms, SHORT)?;
    let chosen: Vec<Atom> = core.iter().map(|at| atoms[*at].clone()).collect();
    match decide(&chosen) {
        Decided::Unsat(certificate) if check(&chosen, &certificate).is_ok() => Some(core),
        _ => None,
    }
}
