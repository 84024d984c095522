//! The Boolean program, made as it is needed.
//!
//! The source computes, for every step and predicate, all cubes of up to four predicates from which
//! the predicate follows after the step, before anything is explored. Here exploration asks what it
//! needs: does this follow from what is known of the slots that it is connected with? A *yes* comes
//! with the part of the known that the proof used, and that is a cube of the Boolean program.
//!
//! A question is about atoms, not about steps, and what its slots are called is of no importance.
//! So the answer is kept under names in an order that depends on the atoms alone. Most of what is asked
//! with store buffers was asked under SC already, of other slots: there it needs no prover.
//!
//! *Cube extrapolation* [003, sec. 4.3] asks less: whether something follows from a single literal, or
//! from one of the cubes that the proof under SC used (lifted), together with what the step requires.

use super::names::{Renamed, renamed};
use super::needed::Reasons;
use crate::cegar::{Judge, Predicates};
use logic::{Atom, Truth, Var, quick_core};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// The number of an atom.
type Id = u32;

/// What a question takes that the solver is asked, an atom that gets other names, and one that might be connected
/// with a question, in the unit of [`Judge::effort`].
const PROVED: u64 = 200;
const RENAMED: u64 = 40;
const LOOKED_AT: u64 = 4;

/// Answers questions, and keeps the answers.
#[derive(Default)]
pub(super) struct Prover {
    list: Vec<Atom>,
    ids: FxHashMap<Atom, Id>,
    /// The conjunction; whether each is required by the step.
    conjunction: Vec<(Id, bool)>,
    /// What of it is known, as a set.
    known: Vec<u64>,
    levels: Vec<usize>,
    /// Answers by the atoms themselves: what is known, and the goal.
    answers: FxHashMap<(Box<[Id]>, Option<Id>), Proved>,
    /// Answers by the atoms under other names.
    shapes: FxHashMap<(Vec<Atom>, Option<Atom>), Proved>,
    /// The cubes that questions may begin from; all that is known if there are none.
    cubes: Option<Vec<Box<[Id]>>>,
    /// By goal and what is required: what follows from parts.
    parts: FxHashMap<(Option<Id>, Box<[Id]>), Parts>,
    /// The cubes of two or more literals from which something followed.
    used: FxHashSet<Box<[Id]>>,
    /// Why predicates were decided as they were, if somebody wants to know.
    reasons: Option<Reasons>,
    questions: usize,
    /// What was computed so far, in the unit of [`Judge::effort`].
    effort: u64,
    bytes: usize,
}

/// An answer, with the atoms that the proof used: of a question under other names their positions, of one
/// about the atoms themselves those that are known.
#[derive(Clone)]
struct Proved {
    truth: Truth,
    core: Rc<[u32]>,
}

impl Prover {
    /// Begins another Boolean program. With cubes, questions begin from those and from single literals.
    pub(super) fn begin(&mut self, cubes: Option<&BTreeSet<Vec<Atom>>>) {
        self.used.clear();
        self.answers.clear();
        self.parts.clear();
        self.bytes = 256 * self.list.len() + 1024 * self.shapes.len();
        self.cubes = cubes.map(|cubes| {
            let several = cubes.iter().filter(|cube| cube.len() > 1);
            several.map(|cube| sorted(cube.iter().map(|atom| self.id(atom)).collect())).collect()
        });
    }

    /// The cubes of two or more literals that were used.
    pub(super) fn used(&self) -> BTreeSet<Vec<Atom>> {
        let atoms = |cube: &[Id]| {
            let mut atoms: Vec<Atom> = cube.iter().map(|id| self.list[*id as usize].clone()).collect();
            atoms.sort();
            atoms
        };
        self.used.iter().map(|cube| atoms(cube)).collect()
    }

    /// Keeps in mind from now on why predicates were decided as they were, or not any more.
    pub(super) fn keep_reasons(&mut self, keep: bool) {
        self.reasons = keep.then(Reasons::default);
    }

    /// The predicates without which some step or violation would no longer be seen to be impossible.
    pub(super) fn needed(&self, predicates: &Predicates) -> BTreeSet<u32> {
        let number = |id: Id| predicates.find(self.atom(id)).map(|(predicate, _)| predicate);
        self.reasons.as_ref().map(|reasons| reasons.needed(&number)).unwrap_or_default()
    }

    fn id(&mut self, atom: &Atom) -> Id {
        if let Some(id) = self.ids.get(atom) {
            return *id;
        }
        let id = self.list.len() as Id;
        self.list.push(atom.clone());
        self.ids.insert(atom.clone(), id);
        self.bytes += 256;
        id
    }

    fn atom(&self, id: Id) -> &Atom {
        &self.list[id as usize]
    }

    /// What follows for the goal, or whether there is a contradiction (which is *no*), from these
    /// members of the conjunction as far as they are connected with it.
    fn ask(&mut self, from: &[(Id, bool)], goal: Option<Id>) -> Truth {
        let start: Vec<Var> = match goal {
            Some(goal) => self.atom(goal).vars().collect(),
            None => {
                from.iter().filter(|(_, needed)| *needed).flat_map(|(id, _)| self.atom(*id).vars()).collect()
            }
        };
        self.effort += LOOKED_AT * from.len() as u64;
        let near = self.connected(from, start);
        if near.is_empty() {
            return Truth::Open;
        }
        let key = (sorted(near.iter().map(|(id, _)| *id).collect()), goal);
        if let Some(known) = self.answers.get(&key) {
            if let Some(reasons) = &mut self.reasons {
                reasons.proved(known.core.iter().copied());
            }
            return known.truth;
        }
        let shaped = self.shaped(&key.0, goal);
        let needed = |id: &Id| near.contains(&(*id, true));
        let core: Rc<[Id]> =
            shaped.core.iter().map(|at| key.0[*at as usize]).filter(|id| !needed(id)).collect();
        if core.len() > 1 {
            self.used.insert(sorted(core.to_vec()));
        }
        if let Some(reasons) = &mut self.reasons {
            reasons.proved(core.iter().copied());
        }
        self.bytes += 96 + 4 * key.0.len();
        self.answers.insert(key, Proved { truth: shaped.truth, core });
        shaped.truth
    }

    /// The answer, from an equal question about other slots if there was one.
    fn shaped(&mut self, known: &[Id], goal: Option<Id>) -> Proved {
        self.effort += RENAMED * known.len() as u64;
        let atoms: Vec<&Atom> = known.iter().map(|id| self.atom(*id)).collect();
        let Renamed { atoms, goal, order } = renamed(&atoms, goal.map(|goal| self.atom(goal)));
        let key = (atoms, goal);
        let answered = match self.shapes.get(&key) {
            Some(known) => known.clone(),
            None => {
                let answered = self.prove(&key.0, key.1.as_ref());
                self.bytes += 1024;
                self.shapes.insert(key, answered.clone());
                answered
            }
        };
        let core = answered.core.iter().map(|at| order[*at as usize]).collect();
        Proved { core, ..answered }
    }

    /// Asks the solver.
    fn prove(&mut self, known: &[Atom], goal: Option<&Atom>) -> Proved {
        let wrong: Vec<(Truth, Option<Atom>)> = match goal {
            Some(goal) => vec![(Truth::Yes, Some(goal.negate())), (Truth::No, Some(goal.clone()))],
            None => vec![(Truth::No, None)],
        };
        for (truth, extra) in wrong {
            self.questions += 1;
            self.effort += PROVED;
            let atoms: Vec<Atom> = known.iter().cloned().chain(extra).collect();
            if let Some(core) = quick_core(&atoms) {
                let core = core.into_iter().filter(|at| *at < known.len()).map(|at| at as u32).collect();
                return Proved { truth, core };
            }
        }
        Proved { truth: Truth::Open, core: Rc::from([]) }
    }

    /// Those that a chain of common slots connects with these.
    fn connected(&self, from: &[(Id, bool)], start: Vec<Var>) -> Vec<(Id, bool)> {
        let mut vars: FxHashSet<Var> = start.into_iter().collect();
        let (mut near, mut far): (Vec<_>, Vec<_>) = (Vec::new(), from.to_vec());
        loop {
            let before = near.len();
            far.retain(|member| {
                let atom = self.atom(member.0);
                let touches = atom.vars().any(|var| vars.contains(&var));
                if touches {
                    vars.extend(atom.vars());
                    near.push(*member);
                }
                !touches
            });
            if near.len() == before {
                return near;
            }
        }
    }

    /// Asks from all that is known, or from one literal or cube after the other.
    fn conclude(&mut self, goal: Option<Id>) -> Truth {
        let Some(cubes) = self.cubes.take() else {
            let conjunction = std::mem::take(&mut self.conjunction);
            let truth = self.ask(&conjunction, goal);
            self.conjunction = conjunction;
            return truth;
        };
        let required: Vec<(Id, bool)> =
            self.conjunction.iter().copied().filter(|(_, needed)| *needed).collect();
        let key = (goal, sorted(required.iter().map(|(id, _)| *id).collect()));
        let mut parts = self.parts.remove(&key).unwrap_or_else(|| self.untried(&cubes, &key, &required));
        let truth = self.part_by_part(&cubes, &mut parts, goal, &required);
        self.parts.insert(key, parts);
        self.cubes = Some(cubes);
        truth
    }

    /// What is known at the outset of what follows from single literals and cubes.
    fn untried(
        &mut self,
        cubes: &[Box<[Id]>],
        key: &(Option<Id>, Box<[Id]>),
        required: &[(Id, bool)],
    ) -> Parts {
        let about: FxHashSet<Var> =
            key.0.iter().chain(&key.1).flat_map(|id| self.atom(*id).vars().collect::<Vec<_>>()).collect();
        let near = |cube: &[Id]| cube.iter().any(|id| self.atom(*id).vars().any(|var| about.contains(&var)));
        let untried = (0..cubes.len() as u32).filter(|at| near(&cubes[*at as usize])).collect();
        self.bytes += 256 + 4 * cubes.len();
        let alone = if required.is_empty() { Truth::Open } else { self.ask(required, key.0) };
        Parts { alone, tried: Vec::new(), singles: Vec::new(), untried, cubes: Vec::new() }
    }

    /// What follows from a part of what is known, together with what is required.
    fn part_by_part(
        &mut self,
        cubes: &[Box<[Id]>],
        parts: &mut Parts,
        goal: Option<Id>,
        required: &[(Id, bool)],
    ) -> Truth {
        if parts.alone != Truth::Open {
            return parts.alone;
        }
        for at in 0..self.conjunction.len() {
            let (id, needed) = self.conjunction[at];
            if !needed && !contains(&parts.tried, id) {
                include(&mut parts.tried, id);
                let truth = self.ask(&[&[(id, false)], required].concat(), goal);
                parts.singles.extend((truth != Truth::Open).then_some((id, truth)));
            }
        }
        let known = std::mem::take(&mut self.known);
        let single = parts.singles.iter().find(|(id, _)| contains(&known, *id)).map(|(_, truth)| *truth);
        let holds = |cube: &u32| cubes[*cube as usize].iter().all(|id| contains(&known, *id));
        let cube = || parts.cubes.iter().find(|(cube, _)| holds(cube)).map(|(_, truth)| *truth);
        let mut found = single.or_else(cube);
        if found.is_none() {
            let now: Vec<u32> = parts.untried.iter().copied().filter(holds).collect();
            parts.untried.retain(|cube| !now.contains(cube));
            for cube in now {
                let members = cubes[cube as usize].iter().map(|id| (*id, false));
                let from: Vec<(Id, bool)> = members.chain(required.iter().copied()).collect();
                let truth = self.ask(&from, goal);
                parts.cubes.extend((truth != Truth::Open).then_some((cube, truth)));
                found = found.or((truth != Truth::Open).then_some(truth));
            }
        }
        self.known = known;
        found.unwrap_or(Truth::Open)
    }
}

/// What follows for a goal from single literals and cubes, each together with what a step requires:
/// the answers do not depend on what else is known.
struct Parts {
    /// From what is required alone.
    alone: Truth,
    /// The literals that were tried, as a set, and those that decide.
    tried: Vec<u64>,
    singles: Vec<(Id, Truth)>,
    /// The cubes that were not tried yet, and those that decide.
    untried: Vec<u32>,
    cubes: Vec<(u32, Truth)>,
}

fn contains(set: &[u64], id: Id) -> bool {
    set.get(id as usize / 64).is_some_and(|word| word >> (id % 64) & 1 == 1)
}

fn include(set: &mut Vec<u64>, id: Id) {
    let word = id as usize / 64;
    if set.len() <= word {
        set.resize(word + 1, 0);
    }
    set[word] |= 1 << (id % 64);
}

fn sorted(mut ids: Vec<Id>) -> Box<[Id]> {
    ids.sort_unstable();
    ids.dedup();
    ids.into()
}

impl Judge for Prover {
    fn clear(&mut self) {
        self.conjunction.clear();
        self.known.clear();
        self.levels.clear();
    }

    fn know(&mut self, atom: &Atom) {
        let id = self.id(atom);
        include(&mut self.known, id);
        self.conjunction.push((id, false));
    }

    fn require(&mut self, atom: &Atom) {
        let id = self.id(atom);
        self.conjunction.push((id, true));
    }

    fn is_consistent(&mut self) -> bool {
        // What is known is known of something, so only what a step adds can contradict it.
        let nothing_new = !self.conjunction.iter().any(|(_, needed)| *needed);
        let consistent = nothing_new || self.conclude(None) == Truth::Open;
        if let Some(reasons) = self.reasons.as_mut().filter(|_| !consistent) {
            reasons.impossible();
        }
        consistent
    }

    fn truth(&mut self, atom: &Atom) -> Truth {
        let negated = atom.negate();
        for (id, _) in &self.conjunction {
            let found = &self.list[*id as usize];
            if *found == *atom || *found == negated {
                if let Some(reasons) = &mut self.reasons {
                    reasons.proved([*id]);
                }
                return if *found == *atom { Truth::Yes } else { Truth::No };
            }
        }
        let goal = self.id(atom);
        self.conclude(Some(goal))
    }

    fn push(&mut self) {
        self.levels.push(self.conjunction.len());
    }

    fn pop(&mut self) {
        let length = self.levels.pop().unwrap_or(0);
        self.conjunction.truncate(length);
        self.known.clear();
        let left = self.conjunction.iter().filter(|(_, needed)| !needed);
        left.for_each(|(id, _)| include(&mut self.known, *id));
    }

    fn questions(&self) -> usize {
        self.questions
    }

    fn effort(&self) -> u64 {
        self.effort
    }

    fn decided(&mut self, predicate: u32) {
        if let Some(reasons) = &mut self.reasons {
            reasons.decided(predicate);
        }
    }

    fn copied(&mut self, predicate: u32, from: u32) {
        if let Some(reasons) = &mut self.reasons {
            reasons.copied(predicate, from);
        }
    }

    fn bytes(&self) -> usize {
        self.bytes
    }
}
