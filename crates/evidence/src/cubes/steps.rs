//! Symbolic steps, worked out once for every control of a thread.
//!
//! What a literal needs to hold after a step is the literal with every changed slot replaced by
//! what it becomes. If a value *joins* a pool, a literal about the pool must hold for the old
//! members and for the new one: two instances. If a *member* of a pool is taken, what the cube
//! says of the pool is said once more of that member.

use super::atoms::{AtomId, Atoms};
use crate::symbolic::{self, Name, NotLinear, Value, Vocabulary};
use logic::{Atom, Linear, Var};
use machine::{Event, Machine};
use program::ThreadId;
use std::collections::HashMap;

/// What literals become under a replacement of variables.
#[derive(Default)]
pub(super) struct Image {
    by: HashMap<Var, Linear>,
    joins: Vec<(Var, Linear)>,
    /// By predicate: where its atoms begin in `atoms`, and how many they are; none if they were not
    /// worked out yet.
    table: Vec<(u32, u32)>,
    atoms: Vec<AtomId>,
}

impl Image {
    /// The atoms that must all hold (or all fail) for a predicate to hold (or fail) afterwards.
    pub(super) fn of(
        &mut self,
        (vocabulary, atoms): (&Vocabulary, &mut Atoms),
        predicates: &[Atom],
        at: usize,
    ) -> &[AtomId] {
        self.table.resize(predicates.len(), (0, 0));
        if self.table[at].1 == 0 {
            let instances = self.instances(&predicates[at]);
            self.table[at] = (self.atoms.len() as u32, instances.len() as u32);
            self.atoms.extend(instances.iter().map(|atom| atoms.id(vocabulary, atom)));
        }
        let (start, count) = self.table[at];
        &self.atoms[start as usize..(start + count) as usize]
    }

    /// What a variable becomes, if it changes.
    pub(super) fn value(&self, var: Var) -> Option<&Linear> {
        self.by.get(&var)
    }

    /// What joins which pool.
    pub(super) fn joins(&self) -> &[(Var, Linear)] {
        &self.joins
    }

    fn bytes(&self) -> usize {
        8 * self.table.len() + 4 * self.atoms.len()
    }

    /// Whether a predicate changes.
    pub(super) fn touches(&self, predicate: &Atom) -> bool {
        predicate.vars().any(|var| self.by.contains_key(&var))
    }

    fn instances(&self, predicate: &Atom) -> Vec<Atom> {
        let mut instances = vec![self.by.clone()];
        for (pool, value) in &self.joins {
            if predicate.vars().any(|var| var == *pool) {
                let joined = instances.iter().cloned().map(|mut by| {
                    by.insert(*pool, value.clone());
                    by
                });
                instances = joined.collect::<Vec<_>>().into_iter().chain(instances).collect();
            }
        }
        instances.iter().map(|by| predicate.substitute_all(|var| by.get(&var).cloned())).collect()
    }
}

/// One case of a move.
pub(super) struct CubeStep<M: Machine> {
    pub(super) event: Event,
    pub(super) guard: Vec<AtomId>,
    /// What literals of the target need.
    pub(super) after: Image,
    /// What literals of the cube say of the member that is taken.
    pub(super) member: Option<Image>,
    pub(super) global: M::Global,
    pub(super) local: M::Local,
    known_bytes: usize,
}

/// A thread, what threads share and its own control.
type ThreadControl<M> = (ThreadId, <M as Machine>::Global, <M as Machine>::Local);

/// The steps of the controls met so far.
pub(super) struct Steps<M: Machine> {
    machine: M,
    list: Vec<CubeStep<M>>,
    by_control: HashMap<ThreadControl<M>, std::ops::Range<usize>>,
    /// Bytes, roughly.
    pub(super) bytes: usize,
}

impl<M: Machine> Steps<M> {
    pub(super) fn new(machine: M) -> Steps<M> {
        Steps { machine, list: Vec::new(), by_control: HashMap::new(), bytes: 0 }
    }

    pub(super) fn machine(&self) -> &M {
        &self.machine
    }

    /// The numbers of a thread's steps.
    pub(super) fn of(
        &mut self,
        (vocabulary, atoms): (&mut Vocabulary, &mut Atoms),
        (thread, global, local): (ThreadId, &M::Global, &M::Local),
    ) -> Result<std::ops::Range<usize>, NotLinear> {
        let key = (thread, global.clone(), local.clone());
        if let Some(known) = self.by_control.get(&key) {
            return Ok(known.clone());
        }
        let start = self.list.len();
        let mut moves = Vec::new();
        self.machine.moves(thread, global, local, &mut moves);
        for step in moves {
            for case in symbolic::steps(vocabulary, &step)? {
                self.bytes += 1024
                    + 128 * (case.set.len() + case.guard.len() + self.machine.longest_queue(&case.local));
                let step = CubeStep::new(vocabulary, atoms, case);
                self.list.push(step);
            }
        }
        let range = start..self.list.len();
        self.by_control.insert(key, range.clone());
        Ok(range)
    }

    pub(super) fn step(&self, at: usize) -> &CubeStep<M> {
        &self.list[at]
    }

    /// Gives a step its image back, which may have grown.
    pub(super) fn put_back(&mut self, at: usize, after: Image) {
        self.bytes += after.bytes() - std::mem::replace(&mut self.list[at].known_bytes, after.bytes());
        self.list[at].after = after;
    }

    pub(super) fn step_mut(&mut self, at: usize) -> &mut CubeStep<M> {
        &mut self.list[at]
    }
}

impl<M: Machine> CubeStep<M> {
    fn new(
        vocabulary: &mut Vocabulary,
        atoms: &mut Atoms,
        case: symbolic::Step<M::Global, M::Local>,
    ) -> CubeStep<M> {
        let mut after = Image::default();
        for (slot, value) in case.set {
            let var = vocabulary.slot(slot);
            match value {
                Value::Is(value) => drop(after.by.insert(var, value)),
                Value::Joins(value) => after.joins.push((var, value)),
            }
        }
        let member = case.member_of.map(|pool| {
            let member = Linear::from(vocabulary.var(Name::Member(pool)));
            Image { by: HashMap::from([(vocabulary.slot(pool), member)]), ..Image::default() }
        });
        let guard = case.guard.iter().map(|atom| atoms.id(vocabulary, atom)).collect();
        CubeStep {
            event: case.event,
            guard,
            after,
            member,
            global: case.global,
            local: case.local,
            known_bytes: 0,
        }
    }
}
