//! What a proof by cubes knows: the predicates that hold in every cube of every control with a
//! thread at a place.
//!
//! Cubes speak of a machine that forgets the order of old stores, so a buffered store has
//! different names in different controls. Here each has one of two: the *newest* of a thread's
//! to a variable, or one of the *older* ones; a fact about the latter must hold of every slot that
//! stands for some. Where a control has no such store the fact holds of nothing; it is told
//! only if some control has one. Proofs with pairs compare an older store with every *newer* one; such a
//! fact must hold of every two stores in their order. Only controls count in which no thread may go first, and of
//! them only what does not change on the way ahead (see [`super::ahead`]).
//!
//! Whether a predicate holds in a cube is looked up, else asked; after so many questions it is
//! only looked up, which tells less and nothing wrong.

use super::Places;
use super::ahead::Ahead;
use super::comparisons::facts;
use super::labels::{ReachedLabel, absent, labels};
use super::say::{PlaceFacts, SaidFact, SlotKind, buffer_holds, sentences};
use crate::symbolic::Vocabulary;
use crate::{Cube, CubeProof, Monitor, Progress, Stop, Task};
use logic::{Atom, Context, Linear, Var};
use machine::{Entry, Keep, Local, LocalFirst, Slot};
use program::{AuthoredRegisters, Loc, ThreadId, VarId};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// The most questions asked to the solver.
const QUESTIONS: usize = 400_000;
/// More predicates of a thread's places are not looked at.
const CANDIDATES: usize = 4_000;

/// How buffered stores are called, with the variable behind it.
const NEWEST: &str = "its newest buffered store to ";
const OLDER: &str = "every older buffered store to ";
pub(super) const EVERY: &str = "every buffered store to ";
const NEWER: &str = "every newer one";

/// What the controls with a thread at a location have in common.
#[derive(Clone, Default)]
struct Gathered {
    /// The candidates that hold in all of them, by number; whether they hold of something.
    holding: BTreeMap<usize, bool>,
    /// The variables it may have buffered stores to.
    buffered: BTreeSet<VarId>,
    /// Whether it may have none.
    drained: bool,
    /// By thread: where others stand meanwhile.
    others: Vec<BTreeSet<Loc>>,
}

/// An atom about the slots of a control, with its literal if it is one.
type Instance = (Option<(u32, bool)>, Atom);

/// What may be known of a thread's places.
struct Candidates {
    atoms: Vec<Atom>,
    /// By shape of the buffer: what each candidate means there.
    instances: HashMap<Local, Vec<Vec<Instance>>>,
}

pub(super) struct Cubes<'a> {
    task: &'a Task<'a>,
    proof: &'a CubeProof,
    vocabulary: Vocabulary,
    literals: HashMap<Atom, (u32, bool)>,
    ahead: Ahead,
    /// By thread: whether it waits for its stores, so that the proof sees it later than it may act: of where it
    /// stands and what its registers hold nothing is said.
    late: Vec<bool>,
    /// By control: whether no thread may go first.
    settled: Vec<bool>,
    candidates: Vec<Candidates>,
    gathered: Vec<Vec<Option<Gathered>>>,
    /// By thread and location: the variables buffered in any control, settled or not.
    reached: Vec<Vec<Option<BTreeSet<VarId>>>>,
    questions: usize,
}

impl<'a> Cubes<'a> {
    pub(super) fn new(task: &'a Task<'a>, proof: &'a CubeProof) -> Cubes<'a> {
        let program = task.program;
        let first = LocalFirst::new(program, task.model);
        let settled = |(_, shapes): &(Option<ThreadId>, Vec<Local>)| {
            first.thread(shapes.iter().map(|shape| (shape.loc, shape.drained()))).is_none()
        };
        let signed =
            proof.predicates.iter().enumerate().flat_map(|(at, atom)| {
                [(atom.clone(), (at as u32, true)), (atom.negate(), (at as u32, false))]
            });
        let mut cubes = Cubes {
            task,
            proof,
            vocabulary: proof.vocabulary.clone(),
            literals: signed.collect(),
            ahead: Ahead::new(program, &first),
            late: program.thread_ids().map(|thread| first.ever_waits(thread)).collect(),
            settled: proof.controls.iter().map(settled).collect(),
            candidates: Vec::new(),
            gathered: program.threads.iter().map(|t| t.locs().map(|_| None).collect()).collect(),
            reached: program.threads.iter().map(|t| t.locs().map(|_| None).collect()).collect(),
            questions: 0,
        };
        cubes.candidates = program.thread_ids().map(|thread| cubes.candidates_of(thread)).collect();
        cubes
    }

    /// Predicates as they stand and negated, in terms of one thread.
    fn candidates_of(&mut self, thread: ThreadId) -> Candidates {
        let named = AuthoredRegisters::of(self.task.program);
        let mut atoms: Vec<Atom> = Vec::new();
        let mut known = HashSet::new();
        for predicate in &self.proof.predicates {
            for atom in self.renamed(thread, predicate, &named) {
                for atom in [atom.clone(), atom.negate()] {
                    if known.insert(atom.clone()) {
                        atoms.push(atom);
                    }
                }
            }
        }
        atoms.truncate(CANDIDATES);
        Candidates { atoms, instances: HashMap::new() }
    }

    /// A predicate with a thread's buffered stores under their new names, in all ways; none if it
    /// speaks of another thread's stores or of a register without a name. One about pairs has the right names.
    fn renamed(&mut self, thread: ThreadId, predicate: &Atom, named: &AuthoredRegisters) -> Vec<Atom> {
        let mut all = vec![predicate.clone()];
        let compared = self.compared(predicate);
        for var in predicate.vars() {
            match self.vocabulary.slot_of(var) {
                Some(Slot::Memory(_)) => {}
                Some(Slot::Register(t, register)) => {
                    if !named.mentions(self.task.program, t, register) {
                        return Vec::new();
                    }
                }
                Some(Slot::Pool(t, v) | Slot::Newer(t, v)) if compared == Some((t, v)) => {
                    if t != thread {
                        return Vec::new();
                    }
                }
                Some(Slot::Queued(t, v, _) | Slot::Last(t, v) | Slot::Pool(t, v)) if t == thread => {
                    let names = [Slot::Last(t, v), Slot::Pool(t, v)].map(|slot| self.vocabulary.slot(slot));
                    let rename = |atom: &Atom| names.map(|name| atom.substitute(var, &Linear::from(name)));
                    all = all.iter().flat_map(rename).collect();
                }
                _ => return Vec::new(),
            }
        }
        all.retain(|atom| !atom.is_true() && !atom.is_false());
        all
    }

    /// Whose stores to which variable an atom compares pair by pair.
    fn compared(&self, atom: &Atom) -> Option<(ThreadId, VarId)> {
        let slots: Vec<Slot> = atom.vars().filter_map(|var| self.vocabulary.slot_of(var)).collect();
        slots.iter().find_map(|slot| match *slot {
            Slot::Newer(thread, variable) if slots.contains(&Slot::Pool(thread, variable)) => {
                Some((thread, variable))
            }
            _ => None,
        })
    }

    /// Looks at all cubes.
    pub(super) fn collect(&mut self, monitor: &dyn Monitor) -> Result<(), Stop> {
        let proof = self.proof;
        let mut context = Context::new();
        for (at, cube) in proof.cubes.iter().enumerate() {
            if at % 64 == 0 {
                let progress = Progress { phase: "explaining", states: at, ..Progress::default() };
                monitor.observe(&progress)?;
            }
            let Some((_, shapes)) = proof.controls.get(cube.control as usize) else { continue };
            for (reached, shape) in self.reached.iter_mut().zip(shapes) {
                reached[shape.loc.index()].get_or_insert_default().extend(variables(shape));
            }
            if self.settled[cube.control as usize] {
                context.clear();
                for thread in self.task.program.thread_ids() {
                    self.add(thread, cube, shapes, &mut context);
                }
            }
        }
        Ok(())
    }

    fn add(&mut self, thread: ThreadId, cube: &Cube, shapes: &[Local], context: &mut Context) {
        let shape = &shapes[thread.index()];
        self.prepare(thread, shape);
        let buffer = Local { loc: Loc::new(0), ..shape.clone() };
        let Candidates { atoms, instances } = &self.candidates[thread.index()];
        let instances = &instances[&buffer];
        let place = &mut self.gathered[thread.index()][shape.loc.index()];
        let new = place.is_none();
        let gathered = place.get_or_insert_default();
        if new {
            gathered.others = vec![BTreeSet::new(); shapes.len()];
            gathered.holding = (0..atoms.len()).map(|candidate| (candidate, false)).collect();
        }
        gathered.buffered.extend(variables(shape));
        gathered.drained |= shape.drained();
        gathered.others.iter_mut().zip(shapes).for_each(|(seen, shape)| seen.extend([shape.loc]));
        let (predicates, questions) = (&self.proof.predicates, &mut self.questions);
        let mut holds = |(literal, atom): &Instance| {
            if literal.is_some_and(|literal| cube.literals.binary_search(&literal).is_ok()) {
                return true;
            }
            *questions += 1;
            if *questions > QUESTIONS {
                return false;
            }
            if context.atoms().is_empty() {
                let signed = |(p, sign): &(u32, bool)| match sign {
                    true => predicates[*p as usize].clone(),
                    false => predicates[*p as usize].negate(),
                };
                cube.literals.iter().for_each(|literal| context.assume(&signed(literal)));
            }
            context.entails(atom)
        };
        gathered.holding.retain(|candidate, of_something| {
            let instances = &instances[*candidate];
            *of_something |= !instances.is_empty();
            instances.iter().all(&mut holds)
        });
    }

    /// Works out what a thread's candidates mean with a buffer of this shape.
    fn prepare(&mut self, thread: ThreadId, shape: &Local) {
        let buffer = Local { loc: Loc::new(0), ..shape.clone() };
        if self.candidates[thread.index()].instances.contains_key(&buffer) {
            return;
        }
        let atoms = self.candidates[thread.index()].atoms.clone();
        let instances = atoms.iter().map(|atom| self.instances(atom, shape)).collect();
        self.candidates[thread.index()].instances.insert(buffer, instances);
    }

    /// What a candidate means with a buffer of this shape: it is to hold with any of the stores put in that its
    /// names stand for.
    fn instances(&mut self, candidate: &Atom, shape: &Local) -> Vec<Instance> {
        let compared = self.compared(candidate);
        let mut ways: Vec<Vec<(Var, Var)>> = vec![Vec::new()];
        let mut also = |put_in: Vec<Vec<(Var, Var)>>| {
            let with =
                |way: &Vec<(Var, Var)>| put_in.iter().map(|more| [way.as_slice(), more].concat()).collect();
            ways = ways.iter().flat_map::<Vec<_>, _>(with).collect();
        };
        if let Some((thread, variable)) = compared {
            let names = [Slot::Pool(thread, variable), Slot::Newer(thread, variable)];
            let names = names.map(|name| self.vocabulary.slot(name));
            let pairs = self.pairs(thread, shape, variable).into_iter();
            let stores = pairs.map(|pair| pair.map(|slot| self.vocabulary.slot(slot)));
            also(stores.map(|stores| names.into_iter().zip(stores).collect()).collect());
        }
        for var in candidate.vars() {
            let slots = match self.vocabulary.slot_of(var) {
                Some(Slot::Last(thread, variable)) => self.newest(thread, shape, variable),
                Some(Slot::Pool(thread, variable)) if compared != Some((thread, variable)) => {
                    self.older(thread, shape, variable)
                }
                _ => continue,
            };
            also(slots.into_iter().map(|slot| vec![(var, self.vocabulary.slot(slot))]).collect());
        }
        // All at once: a slot put in for one name may be another name.
        let instance = |way: &Vec<(Var, Var)>| {
            let by = |var: Var| way.iter().find(|(v, _)| *v == var).map(|(_, slot)| Linear::from(*slot));
            candidate.substitute_all(by)
        };
        let all = ways.iter().map(instance);
        all.map(|atom| (self.literals.get(&atom).copied(), atom)).collect()
    }

    /// All slots of a thread's stores to a variable, oldest first.
    fn stores(&self, thread: ThreadId, shape: &Local, variable: VarId) -> Vec<Slot> {
        let kept = shape.kept.iter().filter(|entry| **entry == Entry::Store(variable)).count();
        let kept = (0..kept as u32).map(|number| Slot::Queued(thread, variable, number));
        let several = shape.forgotten.iter().find(|(v, _)| *v == variable).map(|(_, several)| *several);
        let pool = several.filter(|several| *several).map(|_| Slot::Pool(thread, variable));
        let last = several.map(|_| Slot::Last(thread, variable));
        let forgotten = pool.into_iter().chain(last);
        match self.proof.recall.keep {
            Keep::Newest => forgotten.chain(kept).collect(),
            Keep::Oldest => kept.chain(forgotten).collect(),
        }
    }

    fn newest(&self, thread: ThreadId, shape: &Local, variable: VarId) -> Vec<Slot> {
        self.stores(thread, shape, variable).pop().into_iter().collect()
    }

    fn older(&self, thread: ThreadId, shape: &Local, variable: VarId) -> Vec<Slot> {
        let mut stores = self.stores(thread, shape, variable);
        stores.pop();
        stores
    }

    /// All pairs of an older and a newer store. Where two are forgotten, the newer slot stands for the newest, too.
    fn pairs(&self, thread: ThreadId, shape: &Local, variable: VarId) -> Vec<[Slot; 2]> {
        let (pool, last) = (Slot::Pool(thread, variable), Slot::Last(thread, variable));
        let stores = self.stores(thread, shape, variable);
        let behind = |(at, older): (usize, &Slot)| {
            let pair = |newer: &Slot| match [*older, *newer] == [pool, last] {
                true => [pool, Slot::Newer(thread, variable)],
                false => [*older, *newer],
            };
            stores[at + 1..].iter().map(pair).collect::<Vec<_>>()
        };
        stores.iter().enumerate().flat_map(behind).collect()
    }

    /// What holds in all cubes, and what was found place by place, in sentences.
    pub(super) fn sentences(&self) -> (Vec<String>, Places) {
        let program = self.task.program;
        let everywhere = self.everywhere();
        let known: HashSet<SaidFact> = everywhere.iter().cloned().collect();
        let stands = |at: usize, loc: Loc| self.reached[at][loc.index()].is_some();
        let labels = labels(program, stands);
        let place = |thread: ThreadId, loc: Loc| {
            let buffered = self.reached[thread.index()][loc.index()].as_ref()?;
            if self.late[thread.index()] {
                return Some(PlaceFacts::new(&[], &known));
            }
            let ahead = self.joined(thread, self.ahead.from(thread, loc).ends.iter().copied())?;
            Some(PlaceFacts::new(&self.place(thread, loc, buffered, &ahead, &labels), &known))
        };
        let places =
            program.thread_ids().map(|id| program.thread(id).locs().map(|loc| place(id, loc)).collect());
        (sentences(&everywhere), places.collect())
    }

    /// What all these locations of a thread have in common.
    fn joined(&self, thread: ThreadId, locs: impl Iterator<Item = Loc>) -> Option<Gathered> {
        let mut found = locs.filter_map(|loc| self.gathered[thread.index()][loc.index()].as_ref());
        let mut all = found.next()?.clone();
        for next in found {
            all.holding.retain(|candidate, of_something| {
                next.holding.get(candidate).map(|other| *of_something |= other).is_some()
            });
            all.buffered.extend(&next.buffered);
            all.drained |= next.drained;
            all.others.iter_mut().zip(&next.others).for_each(|(seen, others)| seen.extend(others));
        }
        Some(all)
    }

    fn everywhere(&self) -> Vec<SaidFact> {
        let Some((thread, places)) = self.task.program.thread_ids().zip(&self.gathered).next() else {
            return Vec::new();
        };
        let Some(all) = self.joined(thread, (0..places.len()).map(Loc::new)) else { return Vec::new() };
        let memory = |var| matches!(self.vocabulary.slot_of(var), Some(Slot::Memory(_)));
        let atoms = self.candidates[thread.index()].atoms.iter().enumerate();
        let atoms = atoms.filter(|(at, atom)| all.holding.contains_key(at) && atom.vars().all(memory));
        let atoms: Vec<Atom> = atoms.map(|(_, atom)| atom.clone()).collect();
        let mut known = self.facts(thread, &atoms);
        let buffered = |places: &Vec<Option<BTreeSet<VarId>>>| places.iter().flatten().any(|v| !v.is_empty());
        if self.task.buffers() && !self.reached.iter().any(buffered) {
            known.push(SaidFact::That("all buffers are empty".to_string()));
        }
        known
    }

    fn place(
        &self,
        thread: ThreadId,
        loc: Loc,
        here: &BTreeSet<VarId>,
        ahead: &Gathered,
        labels: &[ReachedLabel],
    ) -> Vec<SaidFact> {
        let buffered: Vec<VarId> = here.intersection(&ahead.buffered).copied().collect();
        let stays = |atom: &Atom| atom.vars().all(|var| self.stays(thread, loc, &buffered, var));
        let atoms = self.candidates[thread.index()].atoms.iter().enumerate();
        let held = atoms.filter(|(at, atom)| ahead.holding.get(at) == Some(&true) && stays(atom));
        let mut held: Vec<Atom> = held.map(|(_, atom)| atom.clone()).collect();
        let repeated: Vec<Atom> = held.iter().filter_map(|atom| self.with_the_newest(atom)).collect();
        held.retain(|atom| !repeated.contains(atom));
        let about_buffer = |fact: &SaidFact| match fact {
            SaidFact::Of(kind, ..) => *kind == SlotKind::Buffered,
            SaidFact::That(sentence) => sentence.contains(NEWEST) || sentence.contains(OLDER),
        };
        let (of_buffer, mut known): (Vec<SaidFact>, Vec<SaidFact>) =
            self.facts(thread, &held).into_iter().partition(about_buffer);
        if self.task.buffers() {
            known.push(self.buffer(thread, loc, &buffered, ahead));
        }
        known.extend(of_buffer);
        merge_stores(&mut known);
        let met = |label: &ReachedLabel| {
            let others = &ahead.others[label.thread];
            let ends = |loc: &Loc| &self.ahead.from(ThreadId::new(label.thread), *loc).ends;
            self.late[label.thread] || label.locs.iter().any(|loc| !ends(loc).is_disjoint(others))
        };
        let met: Vec<bool> = labels.iter().map(met).collect();
        known.extend(absent(self.task.program, thread.index(), labels, &met));
        known
    }

    /// What a comparison of older stores with newer ones says of the newest.
    fn with_the_newest(&self, atom: &Atom) -> Option<Atom> {
        let (thread, variable) = self.compared(atom)?;
        let newest = Linear::from(self.vocabulary.find(Slot::Last(thread, variable))?);
        Some(atom.substitute(self.vocabulary.find(Slot::Newer(thread, variable))?, &newest))
    }

    /// Whether what is known of a slot ahead of a place is known at the place.
    fn stays(&self, thread: ThreadId, loc: Loc, buffered: &[VarId], var: Var) -> bool {
        let way = self.ahead.from(thread, loc);
        match self.vocabulary.slot_of(var) {
            Some(Slot::Memory(_)) => true,
            Some(Slot::Register(t, register)) if t == thread => !way.registers.contains(&register),
            Some(Slot::Register(t, register)) => !self.late[t.index()] && !self.ahead.writes(t, register),
            Some(Slot::Last(_, variable) | Slot::Pool(_, variable) | Slot::Newer(_, variable)) => {
                buffered.contains(&variable) && !way.variables.contains(&variable)
            }
            Some(Slot::Queued(..)) | None => false,
        }
    }

    fn buffer(&self, thread: ThreadId, loc: Loc, buffered: &[VarId], ahead: &Gathered) -> SaidFact {
        let name = |variable: &VarId| self.task.program.variable(*variable).name.clone();
        let names: Vec<String> = buffered.iter().map(name).collect();
        // What is stored on the way ahead may be all there is.
        let surely = !ahead.drained && self.ahead.from(thread, loc).variables.is_empty();
        buffer_holds(&names, surely)
    }

    /// Atoms as facts, seen from a thread.
    fn facts(&self, thread: ThreadId, atoms: &[Atom]) -> Vec<SaidFact> {
        let program = self.task.program;
        let name = |var: Var| match self.vocabulary.slot_of(var) {
            Some(Slot::Memory(variable)) => (SlotKind::Variable, program.variable(variable).name.clone()),
            Some(Slot::Register(t, register)) => {
                let register = &program.thread(t).registers[register.index()];
                let own = if t == thread { String::new() } else { format!("{}.", program.thread(t).name) };
                (SlotKind::Register, own + register)
            }
            Some(Slot::Last(_, variable)) => {
                (SlotKind::Buffered, format!("{NEWEST}{}", program.variable(variable).name))
            }
            Some(Slot::Pool(_, variable)) => {
                (SlotKind::Buffered, format!("{OLDER}{}", program.variable(variable).name))
            }
            Some(Slot::Newer(..)) => (SlotKind::Buffered, NEWER.to_string()),
            Some(Slot::Queued(..)) | None => (SlotKind::Variable, String::new()),
        };
        facts(atoms, &name, &|var| self.vocabulary.name(var))
    }
}

/// What is known of the newest store and of all older ones is known of every store.
fn merge_stores(facts: &mut Vec<SaidFact>) {
    for at in (0..facts.len()).rev() {
        let SaidFact::Of(kind, name, predicate) = &facts[at] else { continue };
        let Some(variable) = name.strip_prefix(OLDER) else { continue };
        let newest = SaidFact::Of(*kind, format!("{NEWEST}{variable}"), predicate.clone());
        let every = SaidFact::Of(*kind, format!("{EVERY}{variable}"), predicate.clone());
        if let Some(other) = facts.iter().position(|fact| *fact == newest) {
            facts[other] = every;
            facts.remove(at);
        }
    }
}

/// The variables of a buffer's stores.
fn variables(shape: &Local) -> impl Iterator<Item = VarId> + '_ {
    shape.stores().chain(shape.forgotten.iter().map(|(variable, _)| *variable))
}
