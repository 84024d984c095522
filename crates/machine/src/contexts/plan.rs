//! A thread's control: where it stands, and in which of its turns its stores leave.

use super::{Contexts, Turns};
use crate::{Event, Model, Move, MoveOf, Slot, ValueSource};
use program::{Cond, Expr, Loc, ThreadId, VarId};
use smallvec::SmallVec;

/// The turn of a store that does not leave.
pub const NEVER: u8 = u8::MAX;

/// A thread's control in runs of bounded contexts.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Planned {
    /// Where it stands.
    pub loc: Loc,
    /// The variables of stores on their way, each with the turns in which some leave, counted from the
    /// thread's next one, which is 1; in increasing order.
    pub leaving: SmallVec<[(VarId, u8); 4]>,
    /// No store issued from now on leaves in an earlier turn: what the last store fence orders. 0 is this turn.
    pub after: u8,
}

impl Planned {
    /// A thread standing at a location, with nothing buffered.
    pub fn at(loc: Loc) -> Planned {
        Planned { loc, leaving: SmallVec::new(), after: 0 }
    }

    /// The slots of the stores on their way: those of a variable are numbered by their turns.
    pub(super) fn slots(&self, thread: ThreadId) -> impl Iterator<Item = Slot> + '_ {
        self.leaving.iter().enumerate().map(move |(at, (variable, _))| {
            let before = self.leaving[..at].iter().rev().take_while(|(v, _)| v == variable).count();
            Slot::Queued(thread, *variable, before as u32)
        })
    }
}

/// A store on its way, while a move changes what there is: its variable, its turn and its value.
type OnItsWay = (VarId, u8, Expr<Slot>);

/// The stores of a thread on their way, while a move changes them. They are named by their number among
/// those of their variable, so values are handled beside the turns, and afterwards every slot
/// whose value is another one is set.
#[derive(Clone)]
pub(super) struct Deferred {
    thread: ThreadId,
    stores: SmallVec<[OnItsWay; 4]>,
    after: u8,
}

impl Deferred {
    /// The stores on their way in a control.
    pub(super) fn of(thread: ThreadId, local: &Planned) -> Deferred {
        let stores = local.leaving.iter().zip(local.slots(thread));
        let stores = stores.map(|((variable, turn), slot)| (*variable, *turn, Expr::Leaf(slot)));
        Deferred { thread, stores: stores.collect(), after: local.after }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.stores.is_empty()
    }

    /// The next turn begins, after which at most `latest` can come. Gives the stores that leave in it, each with its value;
    /// nothing if a guess can no longer be kept.
    pub(super) fn begin_turn(&mut self, latest: u8) -> Option<Vec<(VarId, Slot)>> {
        let sooner = |turn: u8| if turn == NEVER { NEVER } else { turn.saturating_sub(1) };
        let kept = |turn: u8| turn == NEVER || turn <= latest;
        if !self.stores.iter().all(|(_, turn, _)| kept(sooner(*turn))) {
            return None;
        }
        self.after = sooner(self.after);
        self.stores.iter_mut().for_each(|(_, turn, _)| *turn = sooner(*turn));
        let mut leaving = Vec::new();
        self.stores.retain(|(variable, turn, value)| {
            if let (0, Expr::Leaf(slot)) = (*turn, value) {
                leaving.push((*variable, *slot));
            }
            *turn > 0
        });
        Some(leaving)
    }

    /// Of the stores to a variable that leave in the same turn, the newest is kept: it stands last.
    fn forget_hidden(&mut self) {
        let hidden = |at: usize, stores: &[OnItsWay]| {
            stores.get(at + 1).is_some_and(|next| (next.0, next.1) == (stores[at].0, stores[at].1))
        };
        for at in (0..self.stores.len()).rev() {
            if hidden(at, &self.stores) {
                self.stores.remove(at);
            }
        }
    }

    /// How many turns the thread still needs, so that its stores leave as guessed.
    pub(super) fn owes(&self) -> u8 {
        self.stores.iter().map(|(_, turn, _)| *turn).filter(|turn| *turn != NEVER).max().unwrap_or(0)
    }

    /// Where a load finds a variable that is on its way.
    pub(super) fn newest(&self, variable: VarId) -> Option<Slot> {
        let newest = self.stores.iter().rev().find(|(v, ..)| *v == variable);
        newest.and_then(|(_, _, value)| if let Expr::Leaf(slot) = value { Some(*slot) } else { None })
    }

    /// The earliest turn in which a new store may leave.
    pub(super) fn earliest(&self, model: Model, variable: VarId) -> u8 {
        let before = self.stores.iter().filter(|(v, ..)| model.share_a_queue(*v, variable));
        before.map(|(_, turn, _)| *turn).max().unwrap_or(0).max(self.after)
    }

    /// A store fence: what is issued from now on leaves no earlier than what is there.
    pub(super) fn order_stores(&mut self) {
        self.after = self.stores.iter().map(|(_, turn, _)| *turn).fold(self.after, u8::max);
    }

    /// A new store.
    pub(super) fn store(&mut self, variable: VarId, turn: u8, value: Expr<Slot>) {
        let at = self.stores.partition_point(|(v, t, _)| (*v, *t) <= (variable, turn));
        self.stores.insert(at, (variable, turn, value));
        self.forget_hidden();
    }

    /// The move that ends with these stores on their way.
    pub(super) fn finish<'p>(
        self,
        event: Event,
        guard: Cond<Slot>,
        mut set: Vec<(Slot, ValueSource)>,
        global: Turns,
        loc: Loc,
    ) -> MoveOf<Contexts<'p>> {
        let leaving = self.stores.iter().map(|(variable, turn, _)| (*variable, *turn)).collect();
        let local = Planned { loc, leaving, after: self.after };
        let named = local.slots(self.thread).zip(self.stores.into_iter().map(|(_, _, value)| value));
        let changed = named.filter(|(slot, value)| *value != Expr::Leaf(*slot));
        set.extend(changed.map(|(slot, value)| (slot, ValueSource::Is(value))));
        set.sort_by_key(|(slot, _)| *slot);
        Move { event, guard, set, global, local }
    }
}
