//! From what matters under SC to what matters with store buffers [003, sec. 5 and app. B].
//!
//! Under SC a variable has one value. With buffers, a store of it may be on its way as well, as the
//! n-th of a thread's stores to it. So whatever was worth knowing of the variable is worth knowing
//! of each such store. A predicate, or a whole cube, is *lifted* by putting stores in place of variables:
//!
//! * it stays itself (rules 2, 9), and all ways to put stores in place of some variables are added
//!   (3, 10), the same store wherever a variable is mentioned (6, 13);
//! * only stores of threads that store to the variable (5, 12);
//! * if a thread never has two stores on their way, at most one variable is replaced (7, 14);
//! * on request, that a store equals the one before it, or memory (4, 11).
//!
//! How many stores there are and of which variables is control for us, exactly. The source has
//! predicates for that (1, 8), and one for the overflow; they are counted, so that our numbers
//! can be laid beside the published ones, and are nowhere else. Under TSO the source names a store by
//! its place in the queue of all variables, so lifted predicates that differ only in the variable
//! count once there.

use evidence::symbolic::{Name, Vocabulary};
use logic::{Atom, Linear, Relation, Var};
use machine::{Model, Slot};
use program::{Loc, Program, Thread, ThreadId, VarId};
use std::collections::BTreeSet;

/// What has more copies than this keeps those with one store only.
const MOST_COPIES: usize = 512;

/// The rules for a program, a model and a bound on buffers.
pub struct Lifting<'p> {
    program: &'p Program,
    model: Model,
    k: u32,
    /// By variable: the threads whose stores to it are delayed.
    writers: Vec<Vec<ThreadId>>,
    /// Whether a fence stands between any two stores of a thread.
    fenced: bool,
}

/// What became of predicates.
#[derive(Clone, Debug, Default)]
pub struct Lifted {
    /// Those of before, then the others.
    pub predicates: Vec<Atom>,
    /// How many the source counts.
    pub counted: usize,
}

impl<'p> Lifting<'p> {
    /// The rules when every queue keeps `k` stores.
    pub fn new(program: &'p Program, model: Model, k: usize) -> Lifting<'p> {
        let stores_to = |thread: &Thread, variable: VarId| {
            thread.edges().iter().any(|edge| thread.delayed_store(edge) == Some(variable))
        };
        let of = |variable: VarId| {
            program.thread_ids().filter(|t| stores_to(program.thread(*t), variable)).collect::<Vec<_>>()
        };
        let buffers = model.buffers();
        Lifting {
            program,
            model,
            k: u32::try_from(k).unwrap_or(u32::MAX),
            writers: program.variable_ids().map(|v| if buffers { of(v) } else { Vec::new() }).collect(),
            fenced: program.threads.iter().all(fenced),
        }
    }

    /// The predicates, and their copies about stores on their way.
    pub fn predicates(&self, given: &[Atom], vocabulary: &mut Vocabulary) -> Lifted {
        let mut predicates: Vec<Atom> = Vec::new();
        let mut seen = BTreeSet::new();
        for atom in given {
            predicates.extend(seen.insert(atom.clone()).then(|| atom.clone()));
        }
        let before = predicates.len();
        for atom in given {
            for copy in self.copies(std::slice::from_ref(atom), vocabulary) {
                predicates.extend(copy.into_iter().filter(|atom| seen.insert(atom.clone())));
            }
        }
        let lifts = &predicates[before..];
        let stored: usize = self.writers.iter().map(Vec::len).sum();
        let (k, threads) = (self.k as usize, self.program.threads.len());
        let counted = match (self.model.buffers(), self.model.one_queue()) {
            (false, _) => before,
            (true, false) => before + stored * (k + 1) + lifts.len() + 1,
            (true, true) => {
                let places: BTreeSet<Atom> = lifts.iter().map(|atom| by_place(atom, vocabulary)).collect();
                before + threads * (k + 1) + k * stored + places.len() + 1
            }
        };
        Lifted { predicates, counted }
    }

    /// Cubes, and their copies about stores on their way.
    pub fn cubes(&self, given: &BTreeSet<Vec<Atom>>, vocabulary: &mut Vocabulary) -> BTreeSet<Vec<Atom>> {
        let mut all = given.clone();
        for cube in given {
            for mut copy in self.copies(cube, vocabulary) {
                copy.sort();
                all.insert(copy);
            }
        }
        all
    }

    /// That a store on its way equals the one before it, or what is in memory.
    pub fn agreements(&self, vocabulary: &mut Vocabulary) -> Vec<Atom> {
        let mut found = Vec::new();
        for (variable, writers) in self.program.variable_ids().zip(&self.writers) {
            let memory = vocabulary.slot(Slot::Memory(variable));
            for thread in writers {
                let mut before: Option<Var> = None;
                for entry in 0..self.k {
                    let queued = vocabulary.slot(Slot::Queued(*thread, variable, entry));
                    found.push(Atom::eq(queued, memory));
                    found.extend(before.map(|before| Atom::eq(before, queued)));
                    before = Some(queued);
                }
            }
        }
        found
    }

    /// All ways to put stores in place of variables, but the one that changes nothing.
    fn copies(&self, atoms: &[Atom], vocabulary: &mut Vocabulary) -> Vec<Vec<Atom>> {
        let mut places: Vec<(Var, Vec<Var>)> = Vec::new();
        let vars: BTreeSet<Var> = atoms.iter().flat_map(Atom::vars).collect();
        for var in vars {
            if let Some(Name::Slot(Slot::Memory(variable))) = vocabulary.name(var) {
                let mut stores = Vec::new();
                for thread in &self.writers[variable.index()] {
                    let queued = (0..self.k).map(|entry| Slot::Queued(*thread, variable, entry));
                    stores.extend(queued.map(|slot| vocabulary.slot(slot)));
                }
                places.push((var, stores));
            }
        }
        let ways = places.iter().fold(1usize, |ways, (_, stores)| ways.saturating_mul(1 + stores.len()));
        let most_replaced = if self.fenced || ways > MOST_COPIES { 1 } else { usize::MAX };
        let mut replacements: Vec<Vec<(Var, Var)>> = vec![Vec::new()];
        for (var, stores) in &places {
            let more: Vec<_> = replacements
                .iter()
                .filter(|so_far| so_far.len() < most_replaced)
                .flat_map(|so_far| stores.iter().map(|store| [so_far.as_slice(), &[(*var, *store)]].concat()))
                .collect();
            replacements.extend(more);
        }
        let copy = |replaced: &Vec<(Var, Var)>| {
            let by = |var| replaced.iter().find(|(from, _)| *from == var).map(|(_, to)| Linear::from(*to));
            atoms.iter().map(|atom| atom.substitute_all(by)).collect()
        };
        replacements.iter().filter(|replaced| !replaced.is_empty()).map(copy).collect()
    }
}

/// Whether a thread waits for its buffer between any two delayed stores.
fn fenced(thread: &Thread) -> bool {
    thread.edges().iter().filter(|edge| thread.delayed_store(edge).is_some()).all(|store| {
        let mut seen = vec![false; thread.locs().count()];
        let mut work: Vec<Loc> = vec![store.to];
        while let Some(loc) = work.pop() {
            if std::mem::replace(&mut seen[loc.index()], true) {
                continue;
            }
            for (_, edge) in thread.outgoing(loc) {
                if thread.delayed_store(edge).is_some() {
                    return false;
                }
                if !edge.op.waits() {
                    work.push(edge.to);
                }
            }
        }
        true
    })
}

/// The predicate as the source writes it under TSO: a store is named by its place in the queue.
fn by_place(atom: &Atom, vocabulary: &mut Vocabulary) -> Atom {
    let renamed = atom.substitute_all(|var| match vocabulary.name(var) {
        Some(Name::Slot(Slot::Queued(thread, _, entry))) => {
            Some(Linear::from(vocabulary.slot(Slot::Queued(thread, VarId::new(0), entry))))
        }
        _ => None,
    });
    // An inequality and its negation are one predicate.
    match renamed.relation() {
        Relation::Le => renamed.clone().min(renamed.negate()),
        _ => renamed,
    }
}

/// The predicates that the author's say of registers which they do not mention: one that only ever
/// carries what was loaded from a variable has a name of its own only if the author gave it one.
pub(super) fn with_loaded(program: &Program, given: &[Atom], vocabulary: &mut Vocabulary) -> Vec<Atom> {
    let mut all = given.to_vec();
    let mentioned: BTreeSet<Var> = given.iter().flat_map(Atom::vars).collect();
    for (thread, automaton) in program.thread_ids().zip(&program.threads) {
        for edge in automaton.edges() {
            edge.op.for_each_part(&mut |op| {
                let program::Op::Load(register, variable) = op else { return };
                let register = vocabulary.slot(Slot::Register(thread, *register));
                let memory = vocabulary.slot(Slot::Memory(*variable));
                if mentioned.contains(&register) {
                    return;
                }
                for atom in given.iter().filter(|atom| atom.vars().any(|var| var == memory)) {
                    let loaded = atom.substitute(memory, &Linear::from(register));
                    if !all.contains(&loaded) {
                        all.push(loaded);
                    }
                }
            });
        }
    }
    all
}
