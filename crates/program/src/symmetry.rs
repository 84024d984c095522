//! Finding threads that are the same up to their names.
//!
//! For two threads we try to find a [`Renaming`] that swaps them. Both automata are walked side by
//! side from their entries, and what stands at the same place must be the same or have another name: two
//! variables (each thread's own cell of an array), or two constants (the thread's own number)
//! where values are only copied and compared for equality. Every such pair is a name for the whole program, so
//! later places have to agree. Where several edges could be meant (one per cell of an array), we wait for what is
//! learnt elsewhere; if nothing is, what looks the same is taken for the same. The other threads are then
//! walked beside themselves. All of this is guessing: only [`Renaming::preserves`] decides.

mod kinds;

use crate::renaming::ValueNames;
use crate::{Edge, Int, Loc, Program, RegId, Renaming, Thread, ThreadId, VarId};
use kinds::{Skeleton, ValueKinds};
use std::collections::{BTreeMap, VecDeque};

/// Swaps of two threads that change nothing; all others of this kind are made of them.
pub fn thread_swaps(program: &Program) -> Vec<Renaming> {
    swaps(program, Renaming::preserves)
}

/// Those that change nothing but, perhaps, what variables start with.
pub fn thread_swaps_but_for_starts(program: &Program) -> Vec<Renaming> {
    swaps(program, Renaming::preserves_steps)
}

fn swaps(program: &Program, preserves: fn(&Renaming, &Program) -> bool) -> Vec<Renaming> {
    let kinds = ValueKinds::of(program);
    let mut leader: Vec<usize> = (0..program.threads.len()).collect();
    let mut found = Vec::new();
    for a in 0..program.threads.len() {
        for b in a + 1..program.threads.len() {
            // Swaps with one member of a group give swaps with all.
            if leader[a] == leader[b] || !alike(&program.threads[a], &program.threads[b]) {
                continue;
            }
            let swap = Pairing::new(program, &kinds, ThreadId::new(a), ThreadId::new(b)).renaming();
            if let Some(swap) = swap.filter(|swap| preserves(swap, program)) {
                let (from, to) = (leader[b], leader[a]);
                leader.iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
                found.push(swap);
            }
        }
    }
    found
}

fn alike(a: &Thread, b: &Thread) -> bool {
    a.locs().count() == b.locs().count()
        && a.edges().len() == b.edges().len()
        && a.registers.len() == b.registers.len()
}

/// Two threads being paired.
struct Pairing<'a> {
    program: &'a Program,
    kinds: &'a ValueKinds,
    swapped: (ThreadId, ThreadId),
    variables: BTreeMap<VarId, VarId>,
    /// By kind.
    values: BTreeMap<(usize, Int), Int>,
    locs: Vec<BTreeMap<Loc, Loc>>,
    work: VecDeque<(ThreadId, Loc)>,
}

/// An edge, and its skeleton.
type Described<'a> = (&'a Edge, Skeleton);

impl<'a> Pairing<'a> {
    fn new(program: &'a Program, kinds: &'a ValueKinds, a: ThreadId, b: ThreadId) -> Pairing<'a> {
        Pairing {
            program,
            kinds,
            swapped: (a, b),
            variables: BTreeMap::new(),
            values: BTreeMap::new(),
            locs: vec![BTreeMap::new(); program.threads.len()],
            work: VecDeque::new(),
        }
    }

    fn other(&self, thread: ThreadId) -> ThreadId {
        match self.swapped {
            (a, b) if thread == a => b,
            (a, b) if thread == b => a,
            _ => thread,
        }
    }

    fn renaming(mut self) -> Option<Renaming> {
        let (a, b) = self.swapped;
        let others = self.program.thread_ids().filter(|t| *t != a && *t != b);
        for thread in [a, b].into_iter().chain(others) {
            let entry = self.program.thread(thread).entry();
            let new = self.program.thread(self.other(thread)).entry();
            self.place(thread, entry, new);
            self.walk()?;
        }
        let by_kind = self.names();
        let mut renaming = Renaming::identity(self.program);
        for thread in self.program.thread_ids() {
            renaming.threads[thread.index()].0 = self.other(thread);
            for (loc, new) in &self.locs[thread.index()] {
                renaming.threads[thread.index()].1[loc.index()] = *new;
            }
            for (loc, names) in renaming.in_registers[thread.index()].iter_mut().enumerate() {
                let registers = (0..self.program.thread(thread).registers.len()).map(RegId::new);
                for register in registers {
                    let kind = self.kinds.register(thread, Loc::new(loc), register);
                    let renamed = kind.and_then(|kind| by_kind.get(&kind));
                    names.extend(renamed.map(|renamed| (register, renamed.clone())));
                }
            }
        }
        for (variable, new) in &self.variables {
            renaming.variables[variable.index()] = *new;
        }
        for (at, names) in renaming.in_memory.iter_mut().enumerate() {
            *names = by_kind.get(&self.kinds.variable(VarId::new(at))).cloned().unwrap_or_default();
        }
        Some(renaming)
    }

    /// By kind: the values that get other names, if there are some.
    fn names(&self) -> BTreeMap<usize, ValueNames> {
        let mut names: BTreeMap<usize, ValueNames> = BTreeMap::new();
        for ((kind, from), to) in self.values.iter().filter(|((_, from), to)| from != *to) {
            names.entry(*kind).or_default().insert(from.clone(), to.clone());
        }
        names
    }

    fn place(&mut self, thread: ThreadId, loc: Loc, new: Loc) {
        if self.locs[thread.index()].insert(loc, new).is_none() {
            self.work.push_back((thread, loc));
        }
    }

    /// Pairs edges as long as there are any; `None` if some have no partner.
    fn walk(&mut self) -> Option<()> {
        let mut unclear = 0;
        while let Some((thread, loc)) = self.work.pop_front() {
            if self.pair_edges(thread, loc, unclear > self.work.len())? {
                unclear = 0;
            } else {
                self.work.push_back((thread, loc));
                unclear += 1;
            }
        }
        Some(())
    }

    fn described(&self, thread: ThreadId, loc: Loc) -> Vec<Described<'a>> {
        let edges = self.program.thread(thread).outgoing(loc);
        edges.map(|(_, edge)| (edge, self.kinds.skeleton(thread, edge))).collect()
    }

    /// Pairs the edges that leave a location; false if it is not clear yet which belong together.
    fn pair_edges(&mut self, thread: ThreadId, loc: Loc, guess: bool) -> Option<bool> {
        let new_loc = *self.locs[thread.index()].get(&loc)?;
        let mut left = self.described(thread, loc);
        let mut new = self.described(self.other(thread), new_loc);
        if left.len() != new.len() {
            return None;
        }
        while !left.is_empty() {
            let mut sure = None;
            for (at, edge) in left.iter().enumerate() {
                let fits = |other: &usize| self.fits(thread, edge, &new[*other]);
                let fitting: Vec<usize> = (0..new.len()).filter(fits).collect();
                match fitting[..] {
                    [] => return None,
                    [only] => sure = sure.or(Some((at, only))),
                    [first, ..] if guess => {
                        let same = fitting.iter().find(|other| new[**other].0.op == edge.0.op);
                        sure = sure.or(Some((at, *same.unwrap_or(&first))));
                    }
                    _ => {}
                }
            }
            let Some((at, other)) = sure else { return Some(false) };
            let (edge, other) = (left.remove(at), new.remove(other));
            self.learn(&edge.1, &other.1)?;
            self.place(thread, edge.0.to, other.0.to);
        }
        Some(true)
    }

    /// Whether two edges may be the same under other names.
    fn fits(&self, thread: ThreadId, (edge, skeleton): &Described<'_>, (other, new): &Described<'_>) -> bool {
        let known = self.locs[thread.index()].get(&edge.to);
        let mut variables = skeleton.variables.iter().zip(&new.variables);
        let mut constants = skeleton.constants.iter().zip(&new.constants);
        known.is_none_or(|to| *to == other.to)
            && skeleton.op == new.op
            && skeleton.constants.len() == new.constants.len()
            && variables.all(|(v, w)| self.known_variable(*v, *w).unwrap_or(true))
            && constants.all(|(a, b)| self.known_value(a, b).unwrap_or(true))
    }

    /// Whether a variable becomes the other one, if that is known.
    fn known_variable(&self, v: VarId, w: VarId) -> Option<bool> {
        let (from, to) = (self.variables.get(&v), self.variables.get(&w));
        (from.is_some() || to.is_some()).then(|| from == Some(&w))
    }

    fn known_value(&self, a: &(usize, Int), b: &(usize, Int)) -> Option<bool> {
        let (from, to) = (self.values.get(a), self.values.get(b));
        (from.is_some() || to.is_some()).then(|| from == Some(&b.1))
    }

    /// Takes up that two edges are the same; `None` if they disagree with themselves.
    fn learn(&mut self, edge: &Skeleton, other: &Skeleton) -> Option<()> {
        for (v, w) in edge.variables.iter().zip(&other.variables) {
            if !self.known_variable(*v, *w).unwrap_or(true) {
                return None;
            }
            self.variables.insert(*v, *w);
            self.variables.insert(*w, *v);
        }
        for (a, b) in edge.constants.iter().zip(&other.constants) {
            if !self.known_value(a, b).unwrap_or(true) {
                return None;
            }
            self.values.insert(a.clone(), b.1.clone());
            self.values.insert(b.clone(), a.1.clone());
        }
        Some(())
    }
}
