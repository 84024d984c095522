//! The machine of an attack: one thread delays its stores, the others run under SC.
//!
//! The attacker starts with the store of the attack and drains nothing any more. So nobody
//! else sees its stores, and it sees of each variable the last it stored; the order and the
//! number of its stores play no part until the attack is over. Its control therefore forgets them
//! and holds just the *set* of variables it has stored, one slot each: finitely many controls,
//! however often it stores. Its moves are those of SC with memory redirected to these slots.

use super::attacks::Attack;
use crate::{Buffered, Entry, Event, Local, Machine, Move, MoveOf, Moves, Slot, ValueSource};
use program::{Expr, Loc, Program, ThreadId, VarId};

/// The machine.
pub struct Delaying<'a> {
    under_sc: &'a Buffered<'a>,
    attack: &'a Attack,
}

impl<'a> Delaying<'a> {
    /// The machine of an attack; the first machine is that of SC.
    pub fn new(under_sc: &'a Buffered<'a>, attack: &'a Attack) -> Delaying<'a> {
        Delaying { under_sc, attack }
    }

    /// The machine of SC.
    pub(super) fn under_sc(&self) -> &'a Buffered<'a> {
        self.under_sc
    }

    /// The attack it is for.
    pub fn attack(&self) -> &'a Attack {
        self.attack
    }

    /// The attacker's control when it has done its part: it takes no more steps, and nothing
    /// about it matters.
    pub(super) fn resting(&self) -> Local {
        let mut local = Local::at(Loc::new(0));
        local.kept.push(Entry::Barrier);
        local
    }

    /// A move of SC as the attacker takes it; `None` if it would have to drain first.
    fn delayed(&self, local: &Local, step: MoveOf<Self>) -> Option<MoveOf<Self>> {
        let thread = self.attack.thread;
        let Event::Step { edge, .. } = step.event else { return None };
        let starts = local.drained();
        if starts && edge != self.attack.store {
            return None;
        }
        if self.under_sc.program().thread(thread).edge(edge).op.waits() {
            return None;
        }
        let mut next = Local { loc: step.local.loc, ..local.clone() };
        let read = |slot: &Slot| Expr::Leaf(redirected(thread, local, *slot));
        let guard = step.guard.map(&mut |slot| read(slot));
        let mut set = Vec::with_capacity(step.set.len());
        for (slot, source) in step.set {
            let source = match source {
                ValueSource::Is(value) => ValueSource::Is(value.map(&mut |slot| read(slot))),
                other => other,
            };
            match slot {
                Slot::Memory(variable) => {
                    insert(&mut next, variable);
                    set.push((own_slot(thread, variable), source));
                }
                other => set.push((other, source)),
            }
        }
        Some(Move { event: step.event, guard, set, global: step.global, local: next })
    }
}

/// The attacker's slot for what it last stored to a variable.
fn own_slot(thread: ThreadId, variable: VarId) -> Slot {
    Slot::Last(thread, variable)
}

/// Where the attacker finds what SC finds in a slot.
fn redirected(thread: ThreadId, local: &Local, slot: Slot) -> Slot {
    match slot {
        Slot::Memory(variable) if has_stored(local, variable) => own_slot(thread, variable),
        other => other,
    }
}

/// Whether the attacker has stored to a variable.
pub(super) fn has_stored(local: &Local, variable: VarId) -> bool {
    local.forgotten.iter().any(|(stored, _)| *stored == variable)
}

fn insert(local: &mut Local, variable: VarId) {
    if let Err(at) = local.forgotten.binary_search_by_key(&variable, |(stored, _)| *stored) {
        local.forgotten.insert(at, (variable, true));
    }
}

impl Machine for Delaying<'_> {
    type Global = Option<ThreadId>;
    type Local = Local;

    fn program(&self) -> &Program {
        self.under_sc.program()
    }

    fn initial(&self) -> (Option<ThreadId>, Vec<Local>) {
        self.under_sc.initial()
    }

    fn slots(&self, thread: ThreadId, local: &Local, out: &mut Vec<Slot>) {
        if *local == self.resting() {
            return;
        }
        self.under_sc.slots(thread, &Local::at(local.loc), out);
        out.extend(local.forgotten.iter().map(|(variable, _)| own_slot(thread, *variable)));
    }

    fn location(&self, local: &Local) -> Loc {
        local.loc
    }

    fn drained(&self, local: &Local) -> bool {
        local.drained()
    }

    fn longest_queue(&self, local: &Local) -> usize {
        local.forgotten.len()
    }

    fn may_have(&self, thread: ThreadId, local: &Local) -> bool {
        self.under_sc.may_have(thread, &Local::at(local.loc))
    }

    fn may_share(&self, holder: &Option<ThreadId>) -> bool {
        self.under_sc.may_share(holder)
    }

    fn moves(
        &self,
        thread: ThreadId,
        global: &Option<ThreadId>,
        local: &Local,
        out: &mut Vec<MoveOf<Self>>,
    ) -> Moves {
        if thread != self.attack.thread {
            return self.under_sc.moves(thread, global, local, out);
        }
        if *local == self.resting() {
            return Moves::All;
        }
        let mut moves = Vec::new();
        let complete = self.under_sc.moves(thread, global, &Local::at(local.loc), &mut moves);
        out.extend(moves.into_iter().filter_map(|step| self.delayed(local, step)));
        complete
    }
}
