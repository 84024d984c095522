//! The machine with store buffers: what programs do under a memory model.
//!
//! A thread's control is its location and the shape of its buffer; the shared control is who is
//! inside an atomic section. In the words of the store-buffer semantics [004, Fig. 2.19 and C.1]: a
//! load takes the newest entry of its own buffer for that variable, else memory; a store joins
//! the buffer; draining moves an entry that may leave to memory; a full fence and the start of an
//! atomic section wait for an empty buffer. While somebody is inside an atomic section, others
//! neither load nor drain nor write memory. Inside, loads and stores go straight to memory (the
//! buffer is empty, and nobody could see a difference). Registers that nothing reads any more are
//! no slots: states differing there are one.
//!
//! A machine that *recalls* everything ([`Recall::ALL`]) is exact. Others keep the k newest (or the
//! k oldest) stores of every queue in order [000, sec. 4]. Of the rest they *forget* the order: per
//! variable they remember that there are some, the value of the newest of them ([`Slot::Last`]: what
//! the last drain, and perhaps a load, will see) and a *pool* for all older ones. The pool is a set
//! that only grows; its slot stands for any member, and what is known of the slot holds for every
//! member. A value that is forgotten *joins* the pool; a drain takes *one of* it, or, if it is the
//! last of its variable, the newest value. With [`Forgotten::Anything`] there are no pools, and a
//! drain brings any value (the plain rule of the source, for comparison).
//!
//! With [`Forgotten::Pairs`] stores leave the pool in the order in which they joined it, and there is one where
//! the control says so. [`Slot::Newer`] stands for any forgotten store that is newer than the one that the
//! pool's slot stands for, so what is known of the two holds for every two in order. A drain takes the
//! *oldest of* the pool, to which all others are newer, or the *only* one that is left.
//!
//! Every step of the exact machine has a step of every other with the same event, so what cannot
//! happen there cannot happen here. Controls are then finite. A store fence is remembered where it
//! orders stores that are kept; where an entry behind it is forgotten before one ahead of it, so is
//! the fence: dropping it only adds behaviour.

mod change;
mod local;
mod over;
mod recall;
mod rules;

pub use local::{Local, WithBuffers};
pub(crate) use over::OverBuffered;
pub use recall::{Forgotten, Keep, Recall};

use crate::effect::Effect;
use crate::{Entry, Event, Machine, Model, MoveOf, Moves, Slot, ValueSource};
use change::Change;
use program::{Cond, Domain, Edge, EdgeId, Fence, Liveness, Loc, Op, Program, ThreadId, VarId};
pub(crate) use rules::Rule;

/// The machine of a memory model.
#[derive(Clone)]
pub struct Buffered<'p> {
    program: &'p Program,
    model: Model,
    recall: Recall,
    cap: Option<usize>,
    liveness: Liveness,
}

impl<'p> Buffered<'p> {
    /// The exact machine, with unbounded buffers.
    pub fn exact(program: &'p Program, model: Model) -> Buffered<'p> {
        Buffered::recalling(program, model, Recall::ALL)
    }

    /// The machine that recalls this much of its buffers.
    pub fn recalling(program: &'p Program, model: Model, recall: Recall) -> Buffered<'p> {
        Buffered { program, model, recall, cap: None, liveness: Liveness::of(program) }
    }

    /// Lets no queue grow beyond `cap` stores; what that leaves out is said by [`Moves::Withheld`].
    pub fn capped(mut self, cap: usize) -> Buffered<'p> {
        self.cap = Some(cap);
        self
    }

    /// Keeps dead registers as slots: the unreduced view, for replay and comparison.
    pub fn with_dead_registers(mut self) -> Buffered<'p> {
        self.liveness = Liveness::all(self.program);
        self
    }

    /// Whether nothing is forgotten and buffers have no bound.
    pub fn is_exact(&self) -> bool {
        self.recall == Recall::ALL && self.cap.is_none()
    }

    /// The memory model.
    pub fn model(&self) -> Model {
        self.model
    }

    fn edge_move(
        &self,
        thread: ThreadId,
        holder: Option<ThreadId>,
        local: &Local,
        (id, edge): (EdgeId, &Edge),
    ) -> Result<Option<MoveOf<Self>>, Withheld> {
        let delayed = self.program.thread(thread).delayed_store(edge);
        let place = delayed.and_then(|variable| self.model.place(&local.kept, variable));
        let rule = Rule { thread, holder, drained: local.drained(), buffers: place.is_some() };
        let Some(global) = rule.holder_after(&edge.op) else { return Ok(None) };
        let newest = |variable| self.newest(thread, local, variable);
        let mut effect = Effect::new(thread, place.is_some(), &newest);
        effect.perform(&edge.op);
        let outcome = effect.finish(self.liveness.at(thread, edge.to));
        let mut change = Change { machine: self, thread, local: local.clone(), set: outcome.set };
        change.local.loc = edge.to;
        match (&edge.op, place, outcome.buffered) {
            (Op::Fence(Fence::Store), ..) => change.fence(),
            (Op::Store(variable, _), Some(place), Some(value)) => {
                let queued = || self.model.queued(&local.kept, *variable);
                if self.cap.is_some_and(|cap| queued() >= cap) {
                    return Err(Withheld);
                }
                change.store(*variable, place, value);
            }
            _ => {}
        }
        Ok(Some(change.finish(Event::Step { thread, edge: id }, outcome.guard, global)))
    }

    /// Where a load of the thread finds a variable.
    fn newest(&self, thread: ThreadId, local: &Local, variable: VarId) -> Slot {
        let newest = local.stores().filter(|v| *v == variable).count().checked_sub(1);
        let kept = newest.map(|entry| Slot::Queued(thread, variable, entry as u32));
        let forgets = local.forgotten.iter().any(|(v, _)| *v == variable);
        let forgotten = forgets.then_some(Slot::Last(thread, variable));
        let found = match self.recall.keep {
            Keep::Newest => kept.or(forgotten),
            Keep::Oldest => forgotten.or(kept),
        };
        found.unwrap_or(Slot::Memory(variable))
    }

    fn kept_drains(&self, thread: ThreadId, local: &Local, out: &mut Vec<MoveOf<Self>>) {
        for (at, entry) in local.kept.iter().enumerate() {
            let Entry::Store(variable) = *entry else { continue };
            let older = |(v, _): &(VarId, bool)| self.model.share_a_queue(*v, variable);
            let waits = self.recall.keep == Keep::Newest && local.forgotten.iter().any(older);
            if !waits && self.model.may_drain(&local.kept, at) {
                let mut change = Change { machine: self, thread, local: local.clone(), set: Vec::new() };
                change.drain(at, variable);
                out.push(change.finish(Event::Drain { thread, variable }, Cond::TRUE, None));
            }
        }
    }

    fn forgotten_drains(&self, thread: ThreadId, local: &Local, out: &mut Vec<MoveOf<Self>>) {
        for (variable, several) in local.forgotten.iter().copied() {
            let ahead = |entry: &Entry| match entry {
                Entry::Barrier => true,
                Entry::Store(v) => self.model.share_a_queue(*v, variable),
            };
            if self.recall.keep == Keep::Oldest && local.kept.iter().any(ahead) {
                continue;
            }
            let drain = |local: Local, value: ValueSource| {
                let set = vec![(Slot::Memory(variable), value)];
                let change = Change { machine: self, thread, local, set };
                change.finish(Event::Drain { thread, variable }, Cond::TRUE, None)
            };
            let pool = Slot::Pool(thread, variable);
            if several {
                let value = match self.recall.forgotten {
                    Forgotten::Pools => ValueSource::OneOf(pool),
                    Forgotten::Pairs => ValueSource::OldestOf(pool),
                    Forgotten::Anything => ValueSource::Any(Domain::All),
                };
                out.push(drain(local.clone(), value));
            }
            let mut last = local.clone();
            if several && self.recall.forgotten == Forgotten::Pairs {
                last.forgotten
                    .iter_mut()
                    .filter(|(v, _)| *v == variable)
                    .for_each(|(_, several)| *several = false);
                out.push(drain(last, ValueSource::OnlyOf(pool)));
                continue;
            }
            last.forgotten.retain(|(v, _)| *v != variable);
            if last.forgotten.is_empty() {
                last.strip_barriers();
            }
            out.push(drain(last, ValueSource::Is(Slot::Last(thread, variable).into())));
        }
    }
}

/// A move was left out because a buffer is at its cap.
struct Withheld;

impl Machine for Buffered<'_> {
    type Global = Option<ThreadId>;
    type Local = Local;

    fn program(&self) -> &Program {
        self.program
    }

    fn initial(&self) -> (Option<ThreadId>, Vec<Local>) {
        (None, self.program.threads.iter().map(|thread| Local::at(thread.entry())).collect())
    }

    fn slots(&self, thread: ThreadId, local: &Local, out: &mut Vec<Slot>) {
        let registers = self.liveness.at(thread, local.loc);
        out.extend(registers.iter().map(|register| Slot::Register(thread, *register)));
        out.extend(local.queued(thread));
        for (variable, several) in &local.forgotten {
            out.push(Slot::Last(thread, *variable));
            if *several && self.recall.forgotten.has_pools() {
                out.push(Slot::Pool(thread, *variable));
            }
            if *several && self.recall.forgotten == Forgotten::Pairs {
                out.push(Slot::Newer(thread, *variable));
            }
        }
    }

    fn location(&self, local: &Local) -> Loc {
        local.loc
    }

    fn drained(&self, local: &Local) -> bool {
        local.drained()
    }

    fn longest_queue(&self, local: &Local) -> usize {
        local.stores().map(|variable| self.model.queued(&local.kept, variable)).max().unwrap_or(0)
    }

    fn may_have(&self, thread: ThreadId, local: &Local) -> bool {
        let buffered = |v: VarId| v.index() < self.program.variables.len() && self.model.buffers();
        let kept = |entry: &Entry| match *entry {
            Entry::Store(variable) => buffered(variable),
            Entry::Barrier => self.model.reorders_stores(),
        };
        let Recall { k, forgotten, .. } = self.recall;
        let pools = forgotten.has_pools();
        local.loc.index() < self.program.thread(thread).locs().count()
            && local.kept.iter().all(kept)
            && (local.kept.len() <= k || local.stores().all(|v| self.model.queued(&local.kept, v) <= k))
            && (k < usize::MAX || local.forgotten.is_empty())
            && local.forgotten.iter().all(|(variable, several)| buffered(*variable) && (pools || *several))
            && local.forgotten.windows(2).all(|pair| pair[0].0 < pair[1].0)
    }

    fn may_share(&self, holder: &Option<ThreadId>) -> bool {
        holder.is_none_or(|thread| thread.index() < self.program.threads.len())
    }

    fn moves(
        &self,
        thread: ThreadId,
        global: &Option<ThreadId>,
        local: &Local,
        out: &mut Vec<MoveOf<Self>>,
    ) -> Moves {
        let mut complete = Moves::All;
        for edge in self.program.thread(thread).outgoing(local.loc) {
            match self.edge_move(thread, *global, local, edge) {
                Ok(step) => out.extend(step),
                Err(Withheld) => complete = Moves::Withheld,
            }
        }
        if global.is_none() {
            self.kept_drains(thread, local, out);
            self.forgotten_drains(thread, local, out);
        }
        complete
    }
}
