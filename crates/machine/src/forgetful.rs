//! Abstractions of the exact machines that remember only k entries of a queue [000, sec. 4].
//!
//! A thread keeps the k newest (or the k oldest) stores of every queue in order. Of the others
//! it *forgets* the order: per variable it remembers that there are some, the value of the
//! newest of them ([`Slot::Last`]: what the last drain, and perhaps a load, will see) and a
//! *pool* for all older ones. The pool is a set that only grows; its slot stands for any member,
//! and what is known of the slot holds for every member. A value that is forgotten *joins* the
//! pool; a drain takes *one of* it, or, if it is the last of its variable, the newest value.
//! With [`Forgotten::Anything`] there are no pools, and a drain brings any value (the plain rule
//! of the source, for comparison).
//!
//! Every step of the exact machine has a step here with the same event, so what cannot happen
//! here cannot happen there. Controls are finite. A store fence is remembered where it orders
//! stores that are kept; where an entry behind it is forgotten before one ahead of it, so is
//! the fence: dropping it only adds behaviour. With k beyond all stores nothing is forgotten.

use crate::effect::Effect;
use crate::rules::{Rule, push_barrier};
use crate::{Entry, Event, Model, Move, Slot, Source};
use program::{Cond, Domain, Edge, EdgeId, Expr, Fence, Liveness, Loc, Op, Program, ThreadId, VarId};
use smallvec::SmallVec;

/// Which stores are kept in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Keep {
    /// Those issued last.
    Newest,
    /// Those that reach memory next.
    Oldest,
}

/// What is known about the values of forgotten stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Forgotten {
    /// What holds for all of a variable's.
    Pools,
    /// Nothing.
    Anything,
}

/// What is remembered of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Recall {
    /// How many stores of a queue are kept in order.
    pub k: usize,
    /// Which.
    pub keep: Keep,
    /// What is known of the others.
    pub forgotten: Forgotten,
}

impl Recall {
    /// Everything is kept: the exact machine.
    pub const ALL: Recall = Recall { k: usize::MAX, keep: Keep::Newest, forgotten: Forgotten::Pools };
}

/// A thread's control.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Shape {
    /// Where it stands.
    pub loc: Loc,
    /// The stores that are kept, oldest first.
    pub kept: SmallVec<[Entry; 4]>,
    /// The variables of forgotten stores, in increasing order; whether there may be several.
    pub forgotten: SmallVec<[(VarId, bool); 2]>,
}

impl Shape {
    /// A thread standing at a location, with nothing buffered.
    pub fn at(loc: Loc) -> Shape {
        Shape { loc, kept: SmallVec::new(), forgotten: SmallVec::new() }
    }

    /// Whether nothing of the thread is on its way to memory.
    pub fn drained(&self) -> bool {
        self.kept.is_empty() && self.forgotten.is_empty()
    }

    fn stores(&self) -> impl Iterator<Item = VarId> + '_ {
        self.kept.iter().filter_map(|entry| match entry {
            Entry::Store(variable) => Some(*variable),
            Entry::Barrier => None,
        })
    }

    /// The slots of the kept stores, oldest first.
    fn queued(&self, thread: ThreadId) -> Vec<Slot> {
        let number = |at: usize, variable: VarId| self.stores().take(at).filter(|v| *v == variable).count();
        let slot = |(at, variable)| Slot::Queued(thread, variable, number(at, variable) as u32);
        self.stores().enumerate().map(slot).collect()
    }

    /// How many stores stand before this position.
    fn stores_before(&self, at: usize) -> usize {
        self.kept[..at].iter().filter(|entry| **entry != Entry::Barrier).count()
    }

    fn forgets(&self, variable: VarId) -> bool {
        self.forgotten.iter().any(|(v, _)| *v == variable)
    }

    /// A barrier with nothing before it orders nothing.
    fn strip_barriers(&mut self) {
        let leading = self.kept.iter().take_while(|entry| **entry == Entry::Barrier).count();
        self.kept.drain(..leading);
    }
}

/// What a slot becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Blur {
    /// The value of an expression over the slots before the move.
    Is(Expr<Slot>),
    /// Any value of a domain.
    Any(Domain),
    /// A member of this pool.
    OneOf(Slot),
    /// For a pool: what it was, and this value as well.
    Joins(Expr<Slot>),
}

impl From<Source> for Blur {
    fn from(source: Source) -> Blur {
        match source {
            Source::Is(value) => Blur::Is(value),
            Source::Any(domain) => Blur::Any(domain),
        }
    }
}

/// A move of the abstraction.
pub type BlurredMove = Move<Option<ThreadId>, Shape, Blur>;

/// The abstraction of a memory model's machine.
pub struct Forgetful<'p> {
    program: &'p Program,
    model: Model,
    recall: Recall,
    liveness: Liveness,
}

impl<'p> Forgetful<'p> {
    /// The abstraction that remembers this much.
    pub fn new(program: &'p Program, model: Model, recall: Recall) -> Forgetful<'p> {
        Forgetful { program, model, recall, liveness: Liveness::of(program) }
    }

    /// The program it runs.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// The control at the start; data starts at what [`crate::initial_value`] says.
    pub fn initial(&self) -> (Option<ThreadId>, Vec<Shape>) {
        (None, self.program.threads.iter().map(|thread| Shape::at(thread.entry())).collect())
    }

    /// The slots that belong to a thread in this control, in a fixed order.
    pub fn slots(&self, thread: ThreadId, shape: &Shape, out: &mut Vec<Slot>) {
        let registers = self.liveness.at(thread, shape.loc);
        out.extend(registers.iter().map(|register| Slot::Register(thread, *register)));
        out.extend(shape.queued(thread));
        for (variable, several) in &shape.forgotten {
            out.push(Slot::Last(thread, *variable));
            if *several && self.recall.forgotten == Forgotten::Pools {
                out.push(Slot::Pool(thread, *variable));
            }
        }
    }

    /// The moves of a thread: its edges in order, then its drains.
    pub fn moves(&self, thread: ThreadId, holder: Option<ThreadId>, shape: &Shape) -> Vec<BlurredMove> {
        let edges = self.program.thread(thread).outgoing(shape.loc);
        let mut moves: Vec<BlurredMove> =
            edges.filter_map(|edge| self.edge_move(thread, holder, shape, edge)).collect();
        if holder.is_none() {
            self.kept_drains(thread, shape, &mut moves);
            self.forgotten_drains(thread, shape, &mut moves);
        }
        moves
    }

    fn edge_move(
        &self,
        thread: ThreadId,
        holder: Option<ThreadId>,
        shape: &Shape,
        (id, edge): (EdgeId, &Edge),
    ) -> Option<BlurredMove> {
        let place = match &edge.op {
            Op::Store(variable, _) if holder != Some(thread) => self.model.place(&shape.kept, *variable),
            _ => None,
        };
        let rule = Rule { thread, holder, drained: shape.drained(), buffers: place.is_some() };
        let global = rule.holder_after(&edge.op)?;
        let newest = |variable| self.newest(thread, shape, variable);
        let mut effect = Effect::new(thread, place.is_some(), &newest);
        effect.perform(&edge.op);
        let outcome = effect.finish(self.liveness.at(thread, edge.to));
        let set = outcome.set.into_iter().map(|(slot, source)| (slot, source.into())).collect();
        let mut buffer = Buffer { machine: self, thread, shape: shape.clone(), set };
        buffer.shape.loc = edge.to;
        match (&edge.op, place, outcome.buffered) {
            (Op::Fence(Fence::Store), ..) => buffer.fence(),
            (Op::Store(variable, _), Some(place), Some(value)) => buffer.store(*variable, place, value),
            _ => {}
        }
        Some(buffer.finish(Event::Step { thread, edge: id }, outcome.guard, global))
    }

    /// Where a load of the thread finds a variable.
    fn newest(&self, thread: ThreadId, shape: &Shape, variable: VarId) -> Slot {
        let newest = shape.stores().filter(|v| *v == variable).count().checked_sub(1);
        let kept = newest.map(|entry| Slot::Queued(thread, variable, entry as u32));
        let forgotten = shape.forgets(variable).then_some(Slot::Last(thread, variable));
        let found = match self.recall.keep {
            Keep::Newest => kept.or(forgotten),
            Keep::Oldest => forgotten.or(kept),
        };
        found.unwrap_or(Slot::Memory(variable))
    }

    fn kept_drains(&self, thread: ThreadId, shape: &Shape, out: &mut Vec<BlurredMove>) {
        for (at, entry) in shape.kept.iter().enumerate() {
            let Entry::Store(variable) = *entry else { continue };
            let older = |(v, _): &(VarId, bool)| self.model.share_a_queue(*v, variable);
            let waits = self.recall.keep == Keep::Newest && shape.forgotten.iter().any(older);
            if !waits && self.model.may_drain(&shape.kept, at) {
                let mut buffer = Buffer { machine: self, thread, shape: shape.clone(), set: Vec::new() };
                buffer.drain_kept(at, variable);
                out.push(buffer.finish(Event::Drain { thread, variable }, Cond::TRUE, None));
            }
        }
    }

    fn forgotten_drains(&self, thread: ThreadId, shape: &Shape, out: &mut Vec<BlurredMove>) {
        for (variable, several) in shape.forgotten.iter().copied() {
            let ahead = |entry: &Entry| match entry {
                Entry::Barrier => true,
                Entry::Store(v) => self.model.share_a_queue(*v, variable),
            };
            if self.recall.keep == Keep::Oldest && shape.kept.iter().any(ahead) {
                continue;
            }
            let drain = |shape: Shape, value: Blur| {
                let set = vec![(Slot::Memory(variable), value)];
                let buffer = Buffer { machine: self, thread, shape, set };
                buffer.finish(Event::Drain { thread, variable }, Cond::TRUE, None)
            };
            if several {
                let value = match self.recall.forgotten {
                    Forgotten::Pools => Blur::OneOf(Slot::Pool(thread, variable)),
                    Forgotten::Anything => Blur::Any(Domain::All),
                };
                out.push(drain(shape.clone(), value));
            }
            let mut last = shape.clone();
            last.forgotten.retain(|(v, _)| *v != variable);
            if last.forgotten.is_empty() {
                last.strip_barriers();
            }
            out.push(drain(last, Blur::Is(Slot::Last(thread, variable).into())));
        }
    }
}

/// A thread's buffer while a move changes it.
struct Buffer<'a, 'p> {
    machine: &'a Forgetful<'p>,
    thread: ThreadId,
    shape: Shape,
    set: Vec<(Slot, Blur)>,
}

impl Buffer<'_, '_> {
    fn finish(mut self, event: Event, guard: Cond<Slot>, global: Option<ThreadId>) -> BlurredMove {
        self.set.sort_by_key(|(slot, _)| *slot);
        Move { event, guard, set: self.set, global, local: self.shape }
    }

    /// The values of the kept stores before the move.
    fn values(&self) -> Vec<Expr<Slot>> {
        self.shape.queued(self.thread).into_iter().map(Expr::Leaf).collect()
    }

    fn set_values(&mut self, values: Vec<Expr<Slot>>) {
        let slots = self.shape.queued(self.thread);
        let changed = slots.into_iter().zip(values).filter(|(slot, value)| *value != Expr::Leaf(*slot));
        self.set.extend(changed.map(|(slot, value)| (slot, Blur::Is(value))));
    }

    fn fence(&mut self) {
        match self.machine.recall.keep {
            // What was forgotten stands behind the new barrier's place: it orders nothing surely.
            Keep::Oldest if !self.shape.forgotten.is_empty() => {}
            Keep::Newest if self.shape.kept.is_empty() && !self.shape.forgotten.is_empty() => {
                if self.machine.model.needs_barriers() {
                    self.shape.kept.push(Entry::Barrier);
                }
            }
            _ => push_barrier(self.machine.model, &mut self.shape.kept),
        }
    }

    fn store(&mut self, variable: VarId, place: usize, value: Expr<Slot>) {
        let Recall { k, keep, .. } = self.machine.recall;
        let model = self.machine.model;
        let queued = model.queued(&self.shape.kept, variable);
        let behind_forgotten = |(v, _): &(VarId, bool)| model.share_a_queue(*v, variable);
        let full = queued >= k || self.shape.forgotten.iter().any(behind_forgotten);
        if keep == Keep::Oldest && full {
            return self.forget(variable, value);
        }
        let mut values = self.values();
        values.insert(self.shape.stores_before(place), value);
        self.shape.kept.insert(place, Entry::Store(variable));
        if queued >= k {
            let shares =
                |entry: &Entry| matches!(entry, Entry::Store(v) if model.share_a_queue(*v, variable));
            let first = self.shape.kept.iter().position(shares).unwrap_or(place);
            let evicted = values.remove(self.shape.stores_before(first));
            if let Entry::Store(variable) = self.shape.kept.remove(first) {
                self.forget(variable, evicted);
            }
            self.drop_barriers(first, &mut values);
        }
        self.set_values(values);
    }

    /// Drops the barriers before a position. Stores that no barrier separates any more are put in
    /// the model's order: buffers that behave alike look alike.
    fn drop_barriers(&mut self, before: usize, values: &mut Vec<Expr<Slot>>) {
        let entries = std::mem::take(&mut self.shape.kept);
        let mut old = std::mem::take(values).into_iter();
        for (at, entry) in entries.into_iter().enumerate() {
            match entry {
                Entry::Barrier if at < before => {}
                Entry::Barrier => self.shape.kept.push(entry),
                Entry::Store(variable) => {
                    let end = self.shape.kept.len();
                    let place = self.machine.model.place(&self.shape.kept, variable).unwrap_or(end);
                    values
                        .splice(self.shape.stores_before(place)..self.shape.stores_before(place), old.next());
                    self.shape.kept.insert(place, entry);
                }
            }
        }
    }

    /// Forgets a store that is newer than all forgotten ones of its variable.
    fn forget(&mut self, variable: VarId, value: Expr<Slot>) {
        let pools = self.machine.recall.forgotten == Forgotten::Pools;
        let last = Slot::Last(self.thread, variable);
        match self.shape.forgotten.binary_search_by_key(&variable, |(v, _)| *v) {
            Err(at) => self.shape.forgotten.insert(at, (variable, !pools)),
            Ok(at) => {
                let pool = Slot::Pool(self.thread, variable);
                let several = std::mem::replace(&mut self.shape.forgotten[at].1, true);
                match (pools, several) {
                    (true, true) => self.set.push((pool, Blur::Joins(last.into()))),
                    (true, false) => self.set.push((pool, Blur::Is(last.into()))),
                    (false, _) => {}
                }
            }
        }
        self.set.push((last, Blur::Is(value)));
    }

    fn drain_kept(&mut self, at: usize, variable: VarId) {
        let mut values = self.values();
        let value = values.remove(self.shape.stores_before(at));
        self.shape.kept.remove(at);
        if self.machine.recall.keep == Keep::Oldest || self.shape.forgotten.is_empty() {
            self.shape.strip_barriers();
        }
        self.set.push((Slot::Memory(variable), Blur::Is(value)));
        self.set_values(values);
    }
}
