//! The machine of an attack: one thread delays its stores, the others run under SC.
//!
//! The attacker delays the store of the attack, which stays in its buffer to the end. A later store is
//! drained at once where the model lets it overtake all that stay; otherwise it has to stay, too. What stays
//! is seen by nobody else, and the attacker sees of each variable the last it stored; the order and the
//! number of its stores play no part until the attack is over. Its control therefore forgets them
//! and holds just the *set* of variables it keeps back, one slot each, and whether a store fence stands behind
//! one of them: finitely many controls, however often it stores. Its moves are those of SC with memory redirected to these slots.
//!
//! The attack may name stores that may stay *besides* ([`super::besides`]); those are drained at once
//! or stay, and other threads may then have buffers of the same kind.

use super::attacks::Attack;
use crate::buffered::OverBuffered;
use crate::{Buffered, Entry, Event, Local, Machine, Model, Move, MoveOf, Moves, Slot, ValueSource};
use program::{EdgeId, Expr, Fence, Loc, Op, ThreadId, VarId};

/// The machine.
pub struct Delaying<'a> {
    under_sc: &'a Buffered<'a>,
    model: Model,
    attack: &'a Attack,
}

/// What becomes of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Drained {
    AtOnce,
    AtTheEnd,
}

impl<'a> Delaying<'a> {
    /// The machine of an attack that a model allows; the first machine is that of SC.
    pub fn new(under_sc: &'a Buffered<'a>, model: Model, attack: &'a Attack) -> Delaying<'a> {
        Delaying { under_sc, model, attack }
    }

    /// The machine of SC.
    pub(super) fn under_sc(&self) -> &'a Buffered<'a> {
        self.under_sc
    }

    /// The model that allows the attack.
    pub(super) fn model(&self) -> Model {
        self.model
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

    /// The ways in which a thread may take an edge.
    fn ways(&self, thread: ThreadId, local: &Local, edge: EdgeId) -> Vec<Drained> {
        let automaton = self.under_sc.program().thread(thread);
        let begins = thread == self.attack.thread && local.drained();
        let Some(variable) = automaton.delayed_store(automaton.edge(edge)) else {
            let waits = !local.drained() && automaton.edge(edge).op.waits();
            let too_early = begins && self.attack.is_alone();
            return if waits || too_early { Vec::new() } else { vec![Drained::AtOnce] };
        };
        let may_stay = if begins { edge == self.attack.store } else { self.attack.may_wait(thread, edge) };
        let at_once = self.may_overtake(local, variable);
        let mut ways = Vec::new();
        if at_once && !(begins && self.attack.is_alone()) {
            ways.push(Drained::AtOnce);
        }
        if may_stay || !at_once {
            ways.push(Drained::AtTheEnd);
        }
        ways
    }

    /// Whether a new store may be drained before all that its thread keeps back.
    fn may_overtake(&self, local: &Local, variable: VarId) -> bool {
        let kept_back = local.forgotten.iter().map(|(stored, _)| Entry::Store(*stored));
        let mut buffer: Vec<Entry> = kept_back.chain(local.kept.iter().copied()).collect();
        self.model.place(&buffer, variable).is_none_or(|place| {
            buffer.insert(place, Entry::Store(variable));
            self.model.may_drain(&buffer, place)
        })
    }

    /// A move of SC by a thread that keeps stores back.
    fn taken(&self, thread: ThreadId, local: &Local, step: MoveOf<Self>, drained: Drained) -> MoveOf<Self> {
        let mut next = Local { loc: step.local.loc, ..local.clone() };
        if !local.drained() && self.model.reorders_stores() && self.is_store_fence(step.event) {
            next.kept = [Entry::Barrier].into_iter().collect();
        }
        let read = |slot: &Slot| Expr::Leaf(redirected(thread, local, *slot));
        let guard = step.guard.map(&mut |slot| read(slot));
        let mut set = Vec::with_capacity(step.set.len());
        for (slot, source) in step.set {
            let source = match source {
                ValueSource::Is(value) => ValueSource::Is(value.map(&mut |slot| read(slot))),
                other => other,
            };
            match (slot, drained) {
                (Slot::Memory(variable), Drained::AtTheEnd) => {
                    insert(&mut next, variable);
                    set.push((own_slot(thread, variable), source));
                }
                (other, _) => set.push((other, source)),
            }
        }
        Move { event: step.event, guard, set, global: step.global, local: next }
    }

    fn is_store_fence(&self, event: Event) -> bool {
        let Event::Step { thread, edge } = event else { return false };
        self.under_sc.program().thread(thread).edge(edge).op == Op::Fence(Fence::Store)
    }
}

/// A thread's slot for what it last stored to a variable and keeps back.
fn own_slot(thread: ThreadId, variable: VarId) -> Slot {
    Slot::Last(thread, variable)
}

/// Where a thread finds what SC finds in a slot.
fn redirected(thread: ThreadId, local: &Local, slot: Slot) -> Slot {
    match slot {
        Slot::Memory(variable) if keeps_back(local, variable) => own_slot(thread, variable),
        other => other,
    }
}

/// Whether a thread keeps a store to a variable back.
pub(super) fn keeps_back(local: &Local, variable: VarId) -> bool {
    local.forgotten.iter().any(|(stored, _)| *stored == variable)
}

fn insert(local: &mut Local, variable: VarId) {
    if let Err(at) = local.forgotten.binary_search_by_key(&variable, |(stored, _)| *stored) {
        local.forgotten.insert(at, (variable, true));
    }
}

impl OverBuffered for Delaying<'_> {
    fn inside(&self) -> &Buffered<'_> {
        self.under_sc
    }

    fn slots(&self, thread: ThreadId, local: &Local, out: &mut Vec<Slot>) {
        if *local == self.resting() {
            return;
        }
        self.under_sc.slots(thread, &Local::at(local.loc), out);
        out.extend(local.forgotten.iter().map(|(variable, _)| own_slot(thread, *variable)));
    }

    fn longest_queue(&self, local: &Local) -> usize {
        local.forgotten.len()
    }

    fn may_have(&self, thread: ThreadId, local: &Local) -> bool {
        self.under_sc.may_have(thread, &Local::at(local.loc))
    }

    fn moves(
        &self,
        thread: ThreadId,
        holder: Option<ThreadId>,
        local: &Local,
        out: &mut Vec<MoveOf<Buffered<'_>>>,
    ) -> Moves {
        if *local == self.resting() {
            return Moves::All;
        }
        let mut moves = Vec::new();
        let complete = self.under_sc.moves(thread, &holder, &Local::at(local.loc), &mut moves);
        for step in moves {
            let Event::Step { edge, .. } = step.event else { continue };
            for way in self.ways(thread, local, edge) {
                out.push(self.taken(thread, local, step.clone(), way));
            }
        }
        complete
    }
}
