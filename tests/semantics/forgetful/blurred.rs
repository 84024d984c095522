//! A concrete executor of the forgetful machines, and what ties it to an exact configuration.
//!
//! A [`Blurred`] is a control of [`Buffered`] with a value for every slot; a pool's value is
//! the *set* of what joined it, or with pairs the *list* of what joined it and was not taken; beside it is the list of
//! what is newer than its first. [`Memory`] says independently which buffered stores of an exact
//! configuration a machine still keeps: a count a queue, from the definition of k-newest and
//! k-oldest alone. [`Memory::relates`] is then the simulation relation: every exact step from
//! related configurations must have a step with the same event to related ones.

use machine::{
    Buffered, Configuration, Entry, Event, Forgotten, Keep, Local, Machine, Model, Move, Recall, Slot,
    ValueSource,
};
use program::{Expr, Int, Program, ThreadId, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// A move of a machine with buffers.
pub type BlurredMove = Move<Option<ThreadId>, Local>;

/// Changes the moves of a thread: how tests plant mistakes.
pub type Tamper = fn(&Runner<'_>, ThreadId, &Local, &mut Vec<BlurredMove>);

/// The machine that is as it should be.
pub fn untouched(_: &Runner<'_>, _: ThreadId, _: &Local, _: &mut Vec<BlurredMove>) {}

/// A forgetful machine, perhaps with a mistake.
pub struct Runner<'p> {
    pub machine: Buffered<'p>,
    pub model: Model,
    pub recall: Recall,
    tamper: Tamper,
}

/// A configuration of a forgetful machine.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Blurred {
    pub holder: Option<ThreadId>,
    pub shapes: Vec<Local>,
    data: BTreeMap<Slot, Int>,
    /// What slots stand for that stand for any of several.
    pools: BTreeMap<Slot, Vec<Int>>,
}

impl<'p> Runner<'p> {
    pub fn new(program: &'p Program, model: Model, recall: Recall, tamper: Tamper) -> Runner<'p> {
        Runner { machine: Buffered::recalling(program, model, recall), model, recall, tamper }
    }

    /// The start that belongs to an exact one.
    pub fn initial(&self, exact: &Configuration) -> Blurred {
        let (holder, shapes) = self.machine.initial();
        let variables = self.machine.program().variable_ids();
        let mut data: BTreeMap<Slot, Int> = variables.map(|v| (Slot::Memory(v), exact.memory(v))).collect();
        data.extend(self.slots(&shapes).into_iter().map(|slot| (slot, Int::ZERO)));
        Blurred { holder, shapes, data, pools: BTreeMap::new() }
    }

    fn slots(&self, shapes: &[Local]) -> Vec<Slot> {
        let mut slots = Vec::new();
        for (thread, shape) in self.machine.program().thread_ids().zip(shapes) {
            self.machine.slots(thread, shape, &mut slots);
        }
        slots
    }

    /// The moves of a thread.
    pub fn moves(&self, thread: ThreadId, holder: Option<ThreadId>, shape: &Local) -> Vec<BlurredMove> {
        let mut moves = listed(&self.machine, thread, holder, shape);
        (self.tamper)(self, thread, shape, &mut moves);
        moves
    }

    /// The moves of all threads whose guards hold.
    pub fn enabled(&self, at: &Blurred) -> Result<Vec<BlurredMove>, String> {
        let mut enabled = Vec::new();
        for (thread, shape) in self.machine.program().thread_ids().zip(&at.shapes) {
            for step in self.moves(thread, at.holder, shape) {
                if at.allows(&step)? {
                    enabled.push(step);
                }
            }
        }
        Ok(enabled)
    }

    /// All configurations after an event. What a move leaves open (any value of a domain) is
    /// what the exact machine chose.
    pub fn follow(&self, at: &Blurred, event: Event, exact: &Configuration) -> Result<Vec<Blurred>, String> {
        let mut all = Vec::new();
        let thread = event.thread();
        for step in self.moves(thread, at.holder, &at.shapes[thread.index()]) {
            if step.event == event && at.allows(&step)? {
                all.extend(self.perform(at, &step, exact)?);
            }
        }
        Ok(all)
    }

    fn perform(
        &self,
        at: &Blurred,
        step: &BlurredMove,
        exact: &Configuration,
    ) -> Result<Vec<Blurred>, String> {
        let mut next = at.clone();
        next.holder = step.global;
        next.shapes[step.event.thread().index()] = step.local.clone();
        let mut ways = vec![next];
        for (slot, blur) in &step.set {
            let values: Vec<Int> = match blur {
                ValueSource::Is(value) | ValueSource::Joins(value) => vec![at.eval(value)?],
                ValueSource::Any(domain) => {
                    vec![chosen(exact, *slot)].into_iter().filter(|v| domain.contains(v)).collect()
                }
                ValueSource::OneOf(pool) | ValueSource::OldestOf(pool) | ValueSource::OnlyOf(pool) => {
                    let members = at.pools.get(pool).ok_or_else(|| format!("no {pool:?} to take from"))?;
                    match blur {
                        ValueSource::OneOf(_) => members.clone(),
                        ValueSource::OldestOf(_) if members.len() > 1 => {
                            ways.iter_mut().for_each(|way| way.take_oldest(*pool));
                            members[..1].to_vec()
                        }
                        ValueSource::OnlyOf(_) if members.len() == 1 => members.clone(),
                        _ => Vec::new(),
                    }
                }
            };
            let joins = matches!(blur, ValueSource::Joins(_));
            let with = |way: &Blurred| values.iter().map(|v| way.with(*slot, v, joins)).collect::<Vec<_>>();
            ways = ways.iter().flat_map(with).collect();
        }
        let slots: BTreeSet<Slot> = self.slots(&ways.first().unwrap_or(at).shapes).into_iter().collect();
        ways.iter_mut().try_for_each(|way| way.keep_only(&slots))?;
        Ok(ways)
    }
}

/// The moves of a thread.
pub fn listed(
    machine: &Buffered<'_>,
    thread: ThreadId,
    holder: Option<ThreadId>,
    local: &Local,
) -> Vec<BlurredMove> {
    let mut moves = Vec::new();
    machine.moves(thread, &holder, local, &mut moves);
    moves
}

/// The value an exact configuration has where a machine may choose any.
fn chosen(exact: &Configuration, slot: Slot) -> Int {
    match slot {
        Slot::Memory(variable) => exact.memory(variable),
        Slot::Register(thread, register) => exact.register(thread, register),
        other => panic!("{other:?} is never chosen freely"),
    }
}

impl Blurred {
    fn with(&self, slot: Slot, value: &Int, joins: bool) -> Blurred {
        let mut next = self.clone();
        if slot.is_any() {
            let pool = next.pools.entry(slot).or_default();
            if !joins {
                pool.clear();
            }
            pool.push(value.clone());
        } else {
            next.data.insert(slot, value.clone());
        }
        next
    }

    /// Takes the oldest member out of a pool; then its successor is newer than no member.
    fn take_oldest(&mut self, pool: Slot) {
        let Slot::Pool(thread, variable) = pool else { return };
        for slot in [pool, Slot::Newer(thread, variable)] {
            if let Some(members) = self.pools.get_mut(&slot).filter(|members| !members.is_empty()) {
                members.remove(0);
            }
        }
    }

    fn keep_only(&mut self, slots: &BTreeSet<Slot>) -> Result<(), String> {
        self.data.retain(|slot, _| matches!(slot, Slot::Memory(_)) || slots.contains(slot));
        self.pools.retain(|slot, _| slots.contains(slot));
        let has = |slot: &&Slot| self.data.contains_key(slot) || self.pools.contains_key(slot);
        slots.iter().find(|slot| !has(slot)).map_or(Ok(()), |slot| Err(format!("{slot:?} has no value")))
    }

    fn allows(&self, step: &BlurredMove) -> Result<bool, String> {
        let mut missing = None;
        step.guard.for_each_leaf(&mut |slot| {
            missing = missing.or((!self.data.contains_key(slot)).then_some(*slot))
        });
        match missing {
            Some(slot) => Err(format!("the guard of {:?} asks {slot:?}", step.event)),
            None => Ok(step.guard.eval(&|slot| self.data[slot].clone()) == Ok(true)),
        }
    }

    fn eval(&self, value: &Expr<Slot>) -> Result<Int, String> {
        let mut missing = None;
        value.for_each_leaf(&mut |slot| {
            missing = missing.or((!self.data.contains_key(slot)).then_some(*slot))
        });
        match missing {
            Some(slot) => Err(format!("{slot:?} is read but does not exist")),
            None => value.eval(&|slot| self.data[slot].clone()).map_err(|why| format!("{why:?}")),
        }
    }

    /// A slot's value, if the slot exists.
    pub fn value(&self, slot: Slot) -> Option<&Int> {
        self.data.get(&slot)
    }

    /// The kept stores of a thread with their values, and how many barriers stand before each.
    fn kept(&self, thread: ThreadId) -> Vec<Stored> {
        let kept = &self.shapes[thread.index()].kept;
        let mut seen: BTreeMap<VarId, u32> = BTreeMap::new();
        let mut values = kept.iter().filter_map(|entry| match entry {
            Entry::Barrier => None,
            Entry::Store(variable) => {
                let number = seen.entry(*variable).or_default();
                *number += 1;
                Some(self.data[&Slot::Queued(thread, *variable, *number - 1)].clone())
            }
        });
        stored(kept, || values.next().expect("a value for every store"))
    }
}

/// A buffered store.
#[derive(Clone, Debug, PartialEq)]
struct Stored {
    variable: VarId,
    value: Int,
    /// How many store fences stand before it.
    epoch: usize,
}

fn stored(entries: &[Entry], mut value: impl FnMut() -> Int) -> Vec<Stored> {
    let (mut epoch, mut stores) = (0, Vec::new());
    for entry in entries {
        match entry {
            Entry::Barrier => epoch += 1,
            Entry::Store(variable) => stores.push(Stored { variable: *variable, value: value(), epoch }),
        }
    }
    stores
}

fn exact_stores(exact: &Configuration, thread: ThreadId) -> Vec<Stored> {
    let mut values = exact.buffer(thread).into_iter().filter_map(|(_, value)| value);
    stored(&exact.local(thread).kept, || values.next().expect("a value a store"))
}

/// What a machine keeps of an exact configuration's buffers.
#[derive(Clone)]
pub struct Memory {
    model: Model,
    recall: Recall,
    /// How many stores of a thread's queue are kept.
    kept: BTreeMap<(ThreadId, VarId), usize>,
    /// The threads of which something was forgotten since their buffers were empty.
    blurred: BTreeSet<ThreadId>,
}

impl Memory {
    pub fn new(model: Model, recall: Recall) -> Memory {
        Memory { model, recall, kept: BTreeMap::new(), blurred: BTreeSet::new() }
    }

    /// A queue is named by the first variable in it.
    fn queue(&self, variable: VarId) -> VarId {
        let mut variables = (0..=variable.index()).map(VarId::new);
        variables.find(|v| self.model.share_a_queue(*v, variable)).unwrap_or(variable)
    }

    fn length(&self, exact: &Configuration, thread: ThreadId, queue: VarId) -> usize {
        exact.local(thread).stores().filter(|v| self.queue(*v) == queue).count()
    }

    /// Takes note of an exact step of a thread.
    pub fn step(&mut self, thread: ThreadId, before: &Configuration, after: &Configuration) {
        let buffered = before.local(thread).stores().chain(after.local(thread).stores());
        let queues: BTreeSet<VarId> = buffered.map(|v| self.queue(v)).collect();
        for queue in queues {
            let (old, new) = (self.length(before, thread, queue), self.length(after, thread, queue));
            let kept = self.kept.entry((thread, queue)).or_default();
            *kept = match self.recall.keep {
                Keep::Newest => new.min(self.recall.k),
                // Once something is forgotten, all that follows is.
                Keep::Oldest if new > old => *kept + usize::from(*kept == old && old < self.recall.k),
                Keep::Oldest if new < old => kept.saturating_sub(1),
                Keep::Oldest => *kept,
            };
            if *kept < new {
                self.blurred.insert(thread);
            }
        }
        if after.local(thread).drained() {
            self.blurred.remove(&thread);
        }
    }

    /// The stores of a thread that are kept, and those that are forgotten.
    fn split(&self, exact: &Configuration, thread: ThreadId) -> (Vec<Stored>, Vec<Stored>) {
        let stores = exact_stores(exact, thread);
        let mut seen: BTreeMap<VarId, usize> = BTreeMap::new();
        let is_kept = |store: &Stored| {
            let queue = self.queue(store.variable);
            let kept = self.kept.get(&(thread, queue)).copied().unwrap_or(0);
            let at = seen.entry(queue).or_default();
            *at += 1;
            match self.recall.keep {
                Keep::Newest => *at + kept > self.length(exact, thread, queue),
                Keep::Oldest => *at <= kept,
            }
        };
        stores.into_iter().partition(is_kept)
    }

    /// Whether a forgetful configuration stands for an exact one; if not, why.
    pub fn relates(&self, exact: &Configuration, blurred: &Blurred, program: &Program) -> Result<(), String> {
        let same = |what: &str, same: bool| if same { Ok(()) } else { Err(format!("{what} differs")) };
        same("the holder", exact.holder() == blurred.holder)?;
        for (slot, value) in &blurred.data {
            match *slot {
                Slot::Memory(v) => same("memory", exact.memory(v) == *value)?,
                Slot::Register(t, r) => same("a register", exact.register(t, r) == *value)?,
                _ => {}
            }
        }
        for thread in program.thread_ids() {
            let shape = &blurred.shapes[thread.index()];
            let local = exact.local(thread);
            same("a location", local.loc == shape.loc)?;
            let nothing_lost = shape.forgotten.is_empty() && shape.kept == local.kept;
            same("a buffer of which nothing was forgotten", self.blurred.contains(&thread) || nothing_lost)?;
            let (kept, forgotten) = self.split(exact, thread);
            same("what is kept", self.by_queue(&kept) == self.by_queue(&blurred.kept(thread)))?;
            self.forgotten_agrees(&forgotten, blurred, thread)?;
            self.fences_are_real(&kept, &forgotten, blurred, thread)?;
            let ends = shape.kept.last() == Some(&Entry::Barrier);
            let behind = self.recall.keep == Keep::Oldest && !forgotten.is_empty();
            same("the last fence", !ends || behind || local.kept.last() == Some(&Entry::Barrier))?;
        }
        Ok(())
    }

    /// Variables and values, queue by queue.
    fn by_queue(&self, stores: &[Stored]) -> BTreeMap<VarId, Vec<(VarId, Int)>> {
        let mut queues: BTreeMap<VarId, Vec<(VarId, Int)>> = BTreeMap::new();
        for store in stores {
            queues.entry(self.queue(store.variable)).or_default().push((store.variable, store.value.clone()));
        }
        queues
    }

    fn forgotten_agrees(&self, forgotten: &[Stored], at: &Blurred, thread: ThreadId) -> Result<(), String> {
        let mut values: BTreeMap<VarId, Vec<&Int>> = BTreeMap::new();
        forgotten.iter().for_each(|store| values.entry(store.variable).or_default().push(&store.value));
        let shape = &at.shapes[thread.index()];
        if !shape.forgotten.iter().map(|(v, _)| v).eq(values.keys()) {
            return Err(format!("forgotten are {values:?}, not {:?}", shape.forgotten));
        }
        for (variable, several) in &shape.forgotten {
            let (last, older) = values[variable].split_last().expect("not empty");
            if at.value(Slot::Last(thread, *variable)) != Some(*last) {
                return Err(format!("the newest forgotten value is {last}"));
            }
            let pool = at.pools.get(&Slot::Pool(thread, *variable));
            let pooled = |value: &&Int| pool.is_some_and(|pool| pool.contains(value));
            let newer = at.pools.get(&Slot::Newer(thread, *variable));
            let is = |found: Option<&Vec<Int>>, expected: &[&Int]| {
                found.map_or(&[][..], Vec::as_slice).iter().eq(expected.iter().copied())
            };
            let covered = match self.recall.forgotten {
                Forgotten::Anything => true,
                Forgotten::Pools => older.iter().all(pooled),
                Forgotten::Pairs => is(pool, older) && is(newer, &values[variable][1..]),
            };
            if !covered || (!several && !older.is_empty()) {
                return Err(format!(
                    "{older:?} were forgotten as well, the pool has {pool:?}, newer are {newer:?}"
                ));
            }
        }
        Ok(())
    }

    /// Where the machine says that a fence stands between two stores, one does.
    fn fences_are_real(
        &self,
        kept: &[Stored],
        forgotten: &[Stored],
        at: &Blurred,
        thread: ThreadId,
    ) -> Result<(), String> {
        let mut left = kept.to_vec();
        let claimed = at.kept(thread);
        let epochs: Vec<(usize, usize)> = claimed
            .iter()
            .map(|store| {
                let real = left.iter().position(|s| s.variable == store.variable).expect("the same stores");
                (store.epoch, left.remove(real).epoch)
            })
            .collect();
        let fences = at.shapes[thread.index()].kept.iter().filter(|e| **e == Entry::Barrier).count();
        let oldest = self.recall.keep == Keep::Oldest;
        let real = |(claimed, real): &(usize, usize)| {
            let ordered = epochs.iter().all(|(c, r)| c <= claimed || r > real);
            let behind_forgotten = oldest || *claimed == 0 || forgotten.iter().all(|f| f.epoch < *real);
            let ahead = !oldest || *claimed == fences || forgotten.iter().all(|f| f.epoch > *real);
            ordered && behind_forgotten && ahead
        };
        if epochs.iter().all(real) { Ok(()) } else { Err("a fence stands where there is none".to_string()) }
    }
}
