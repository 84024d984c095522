//! A thread's buffer while a move changes it.
//!
//! Kept stores are named by their variables and numbered from the oldest, so a store that leaves or
//! comes between gives later ones of its variable new names. Values are therefore handled as a list
//! beside the entries, and afterwards every slot whose value is another one is set.

use super::{Buffered, Keep, Local, Recall};
use crate::{Entry, Event, Forgotten, Move, MoveOf, Slot, ValueSource};
use program::{Cond, Expr, ThreadId, VarId};

/// A move in the making.
pub(super) struct Change<'a, 'p> {
    pub(super) machine: &'a Buffered<'p>,
    pub(super) thread: ThreadId,
    /// The control afterwards.
    pub(super) local: Local,
    pub(super) set: Vec<(Slot, ValueSource)>,
}

impl<'p> Change<'_, 'p> {
    pub(super) fn finish(
        mut self,
        event: Event,
        guard: Cond<Slot>,
        global: Option<ThreadId>,
    ) -> MoveOf<Buffered<'p>> {
        self.set.sort_by_key(|(slot, _)| *slot);
        Move { event, guard, set: self.set, global, local: self.local }
    }

    /// The values of the kept stores before the move.
    fn values(&self) -> Vec<Expr<Slot>> {
        self.local.queued(self.thread).into_iter().map(Expr::Leaf).collect()
    }

    fn set_values(&mut self, values: Vec<Expr<Slot>>) {
        let slots = self.local.queued(self.thread);
        let changed = slots.into_iter().zip(values).filter(|(slot, value)| *value != Expr::Leaf(*slot));
        self.set.extend(changed.map(|(slot, value)| (slot, ValueSource::Is(value))));
    }

    /// Remembers a store fence behind the newest store, if that means anything.
    pub(super) fn fence(&mut self) {
        let Local { kept, forgotten, .. } = &mut self.local;
        let behind_something = match self.machine.recall.keep {
            // What was forgotten stands behind the new barrier's place: it orders nothing surely.
            Keep::Oldest if !forgotten.is_empty() => false,
            Keep::Newest if kept.is_empty() => !forgotten.is_empty(),
            _ => kept.last().is_some_and(|last| *last != Entry::Barrier),
        };
        if behind_something && self.machine.model.reorders_stores() {
            kept.push(Entry::Barrier);
        }
    }

    pub(super) fn store(&mut self, variable: VarId, place: usize, value: Expr<Slot>) {
        let Recall { k, keep, .. } = self.machine.recall;
        let model = self.machine.model;
        let queued = model.queued(&self.local.kept, variable);
        let behind_forgotten = |(v, _): &(VarId, bool)| model.share_a_queue(*v, variable);
        let full = queued >= k || self.local.forgotten.iter().any(behind_forgotten);
        if keep == Keep::Oldest && full {
            return self.forget(variable, value);
        }
        let mut values = self.values();
        values.insert(self.local.stores_before(place), value);
        self.local.kept.insert(place, Entry::Store(variable));
        if queued >= k {
            let shares =
                |entry: &Entry| matches!(entry, Entry::Store(v) if model.share_a_queue(*v, variable));
            let first = self.local.kept.iter().position(shares).unwrap_or(place);
            let evicted = values.remove(self.local.stores_before(first));
            if let Entry::Store(variable) = self.local.kept.remove(first) {
                self.forget(variable, evicted);
            }
            self.drop_barriers(first, &mut values);
        }
        self.set_values(values);
    }

    /// Drops the barriers before a position. Stores that no barrier separates any more are put in
    /// the model's order: buffers that behave alike look alike.
    fn drop_barriers(&mut self, before: usize, values: &mut Vec<Expr<Slot>>) {
        let entries = std::mem::take(&mut self.local.kept);
        let mut old = std::mem::take(values).into_iter();
        for (at, entry) in entries.into_iter().enumerate() {
            match entry {
                Entry::Barrier if at < before => {}
                Entry::Barrier => self.local.kept.push(entry),
                Entry::Store(variable) => {
                    let end = self.local.kept.len();
                    let place = self.machine.model.place(&self.local.kept, variable).unwrap_or(end);
                    let number = self.local.stores_before(place);
                    values.splice(number..number, old.next());
                    self.local.kept.insert(place, entry);
                }
            }
        }
    }

    /// Forgets a store that is newer than all forgotten ones of its variable.
    fn forget(&mut self, variable: VarId, value: Expr<Slot>) {
        let forgotten = self.machine.recall.forgotten;
        let last = Slot::Last(self.thread, variable);
        match self.local.forgotten.binary_search_by_key(&variable, |(v, _)| *v) {
            Err(at) => self.local.forgotten.insert(at, (variable, !forgotten.has_pools())),
            Ok(at) => {
                let several = std::mem::replace(&mut self.local.forgotten[at].1, true);
                let becomes = if several { ValueSource::Joins } else { ValueSource::Is };
                if forgotten.has_pools() {
                    self.set.push((Slot::Pool(self.thread, variable), becomes(last.into())));
                }
                if forgotten == Forgotten::Pairs {
                    self.set.push((Slot::Newer(self.thread, variable), becomes(value.clone())));
                }
            }
        }
        self.set.push((last, ValueSource::Is(value)));
    }

    /// Takes the kept store at this position to memory.
    pub(super) fn drain(&mut self, at: usize, variable: VarId) {
        let mut values = self.values();
        let value = values.remove(self.local.stores_before(at));
        self.local.kept.remove(at);
        if self.machine.recall.keep == Keep::Oldest || self.local.forgotten.is_empty() {
            self.local.strip_barriers();
        }
        self.set.push((Slot::Memory(variable), ValueSource::Is(value)));
        self.set_values(values);
    }
}
