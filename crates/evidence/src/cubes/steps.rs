//! Symbolic steps, worked out once for every control of a thread.
//!
//! What a literal needs to hold after a step is the literal with every changed slot replaced by
//! what it becomes. If a value *joins* a pool, a literal about the pool must hold for what the pool gave and for
//! what is new ([`symbolic::Step::new_choices`]): an instance for each. If a *member* of a pool is taken, what the cube
//! says of the pool is said once more of that member ([`symbolic::Step::choices_taken`]).

use super::atoms::{AtomId, Atoms};
use crate::symbolic::{self, NotLinear, PoolChoice, Value, Vocabulary};
use logic::{Atom, Linear, Var};
use machine::{Event, Machine};
use program::ThreadId;
use rustc_hash::FxHashMap;

/// What literals become under a replacement of variables.
#[derive(Default)]
pub(super) struct Image {
    by: FxHashMap<Var, Linear>,
    /// What else is put in instead, for further instances.
    further: Vec<PoolChoice>,
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

    /// What is put in for pools, for every further instance.
    pub(super) fn further(&self) -> &[PoolChoice] {
        &self.further
    }

    fn bytes(&self) -> usize {
        8 * self.table.len() + 4 * self.atoms.len()
    }

    /// Whether a predicate changes.
    pub(super) fn touches(&self, predicate: &Atom) -> bool {
        predicate.vars().any(|var| self.by.contains_key(&var))
    }

    fn instances(&self, predicate: &Atom) -> Vec<Atom> {
        let instance = |further: &[(Var, Linear)]| {
            let put_in = |var| further.iter().find(|(v, _)| *v == var).map(|(_, value)| value);
            predicate.substitute_all(|var| put_in(var).or(self.by.get(&var)).cloned())
        };
        let about =
            |further: &&PoolChoice| further.iter().any(|(v, _)| predicate.vars().any(|var| var == *v));
        let further = self.further.iter().filter(about).map(|further| instance(further));
        [instance(&[])].into_iter().chain(further).collect()
    }
}

/// One case of a move.
pub(super) struct CubeStep<M: Machine> {
    pub(super) event: Event,
    pub(super) guard: Vec<AtomId>,
    /// What literals of the target need.
    pub(super) after: Image,
    /// What literals of the cube say of the member that is taken.
    pub(super) taken: Vec<Image>,
    pub(super) global: M::Global,
    pub(super) local: M::Local,
    known_bytes: usize,
}

/// A thread, what threads share and its own control.
type ThreadControl<M> = (ThreadId, <M as Machine>::Global, <M as Machine>::Local);

/// The steps of the controls met so far.
pub(super) struct Steps<'a, M: Machine> {
    machine: &'a M,
    list: Vec<CubeStep<M>>,
    by_control: FxHashMap<ThreadControl<M>, std::ops::Range<usize>>,
    /// Bytes, roughly.
    pub(super) bytes: usize,
}

impl<'a, M: Machine> Steps<'a, M> {
    pub(super) fn new(machine: &'a M) -> Steps<'a, M> {
        Steps { machine, list: Vec::new(), by_control: FxHashMap::default(), bytes: 0 }
    }

    pub(super) fn machine(&self) -> &'a M {
        self.machine
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
        let mut after = Image { further: case.new_choices(vocabulary), ..Image::default() };
        let taken = case.choices_taken(vocabulary).into_iter();
        let taken = taken.map(|choice| Image { by: choice.into_iter().collect(), ..Image::default() });
        let taken = taken.collect();
        for (slot, value) in case.set {
            if let Value::Is(value) = value {
                after.by.insert(vocabulary.slot(slot), value);
            }
        }
        let guard = case.guard.iter().map(|atom| atoms.id(vocabulary, atom)).collect();
        CubeStep {
            event: case.event,
            guard,
            after,
            taken,
            global: case.global,
            local: case.local,
            known_bytes: 0,
        }
    }
}
