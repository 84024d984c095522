//! Runs of at most k contexts: threads take turns, and buffers need no queues [002, sec. 6.2, AB(k)].
//!
//! A *context* is a part of a run in which one thread, the active one, takes all steps and drains. Nobody
//! else looks while it is active, so whatever it drains in a context may as well leave at the beginning
//! of the context, or, if it was stored in the same one, at once. So when a thread stores, it is guessed in which of its own
//! *turns* (the contexts in which it is active) the store leaves: in this one, and memory changes at once; in
//! its n-th next one; or never. Of the stores to a variable that leave in the same turn only the newest
//! can be seen, so one slot per variable and turn is enough for buffers of any length, and a load takes the slot
//! with the latest turn, else memory. A thread whose stores leave in its next turn begins that by draining them all.
//!
//! Stores that share a queue leave in order: the guess is no earlier than that of any store before it, under
//! PSO of the same variable or before a store fence. Whatever waits for an empty buffer happens when nothing
//! is left for later turns. Threads *owe* the turns that they guessed, and no guess and no turn of another thread may leave
//! fewer contexts than are owed, and a turn does not begin after which too few are left: whoever would not keep its word guesses never. The source has no such guess, and without it its Lemma 2 is wrong: store buffering needs two contexts, in which the first
//! thread's store does not leave.
//!
//! Locations, registers and memory are exactly those of runs of the memory model with at most k
//! contexts; [`Contexts::unfold`] gives the run.

mod plan;
mod unfold;

pub use plan::{NEVER, Planned};
pub use unfold::ContextStep;

use crate::buffered::Rule;
use crate::effect::Effect;
use crate::{Event, Machine, Model, MoveOf, Moves, Slot, ValueSource};
use plan::Deferred;
use program::{Cond, Edge, EdgeId, Expr, Fence, Liveness, Loc, Op, Program, ThreadId, VarId};

/// The machine of a memory model that is run for at most so many contexts.
pub struct Contexts<'p> {
    program: &'p Program,
    model: Model,
    most: u8,
    liveness: Liveness,
}

/// What threads share: whose turn it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Turns {
    /// How many contexts have begun.
    pub context: u8,
    /// The active thread; nobody before the first step.
    pub active: Option<ThreadId>,
    /// Who is inside an atomic section.
    pub holder: Option<ThreadId>,
    /// How many turns all threads together still need, so that their stores leave as guessed.
    pub owed: u8,
}

impl<'p> Contexts<'p> {
    /// More contexts than this are not counted.
    pub const MOST: u8 = 200;

    /// The machine for runs of at most so many contexts.
    pub fn new(program: &'p Program, model: Model, most: u8) -> Contexts<'p> {
        Contexts { program, model, most: most.min(Contexts::MOST), liveness: Liveness::of(program) }
    }

    /// Keeps dead registers as slots: the unreduced view, for comparison.
    pub fn with_dead_registers(mut self) -> Contexts<'p> {
        self.liveness = Liveness::all(self.program);
        self
    }

    /// The bound on contexts.
    pub fn most(&self) -> u8 {
        self.most
    }

    /// The numbers of the stores to a variable that a thread may have on their way: one for each of its turns, and
    /// one that never leaves.
    pub fn entries(&self) -> std::ops::Range<u32> {
        if self.model.buffers() { 0..u32::from(self.latest(self.most.min(1))) + 1 } else { 0..0 }
    }

    /// The latest of its turns that the active thread can still have after this context: another comes
    /// between any two.
    fn latest(&self, context: u8) -> u8 {
        if self.program.threads.len() > 1 { (self.most - context) / 2 } else { 0 }
    }

    /// The steps along an edge: one for each turn in which a store may leave.
    fn edge_moves(
        &self,
        thread: ThreadId,
        running: Turns,
        deferred: &Deferred,
        (id, edge): (EdgeId, &Edge),
        out: &mut Vec<MoveOf<Self>>,
    ) {
        let delayed = self.program.thread(thread).delayed_store(edge).filter(|_| self.model.buffers());
        let Some(variable) = delayed else {
            return out.extend(self.edge_move(thread, running, deferred.clone(), (id, edge), None));
        };
        let earliest = deferred.earliest(self.model, variable);
        let turns = (earliest..=self.latest(running.context)).chain([NEVER]);
        for turn in turns {
            let leaves = (turn > 0).then_some((variable, turn));
            out.extend(self.edge_move(thread, running, deferred.clone(), (id, edge), leaves));
        }
    }

    fn edge_move(
        &self,
        thread: ThreadId,
        running: Turns,
        mut deferred: Deferred,
        (id, edge): (EdgeId, &Edge),
        leaves: Option<(VarId, u8)>,
    ) -> Option<MoveOf<Self>> {
        let rule =
            Rule { thread, holder: running.holder, drained: deferred.is_empty(), buffers: leaves.is_some() };
        let holder = rule.holder_after(&edge.op)?;
        let newest = |variable| deferred.newest(variable).unwrap_or(Slot::Memory(variable));
        let mut effect = Effect::new(thread, leaves.is_some(), &newest);
        effect.perform(&edge.op);
        let outcome = effect.finish(self.liveness.at(thread, edge.to));
        if edge.op == Op::Fence(Fence::Store) && self.model.reorders_stores() {
            deferred.order_stores();
        }
        let before = deferred.owes();
        if let (Some((variable, turn)), Some(value)) = (leaves, outcome.buffered) {
            deferred.store(variable, turn, value);
        }
        let event = Event::Step { thread, edge: id };
        let running = self.owing(Turns { holder, ..running }, before, deferred.owes())?;
        Some(deferred.finish(event, outcome.guard, outcome.set, running, edge.to))
    }

    /// What is shared when a thread owes another number of turns than before, if there are so many contexts left.
    fn owing(&self, running: Turns, before: u8, after: u8) -> Option<Turns> {
        let owed = running.owed.saturating_sub(before).saturating_add(after);
        (owed <= self.most - running.context).then_some(Turns { owed, ..running })
    }
}

impl Machine for Contexts<'_> {
    type Global = Turns;
    type Local = Planned;

    fn program(&self) -> &Program {
        self.program
    }

    fn initial(&self) -> (Turns, Vec<Planned>) {
        let running = Turns { context: 0, active: None, holder: None, owed: 0 };
        (running, self.program.threads.iter().map(|thread| Planned::at(thread.entry())).collect())
    }

    fn slots(&self, thread: ThreadId, local: &Planned, out: &mut Vec<Slot>) {
        let registers = self.liveness.at(thread, local.loc);
        out.extend(registers.iter().map(|register| Slot::Register(thread, *register)));
        out.extend(local.slots(thread));
    }

    fn location(&self, local: &Planned) -> Loc {
        local.loc
    }

    fn drained(&self, local: &Planned) -> bool {
        local.leaving.is_empty()
    }

    fn longest_queue(&self, local: &Planned) -> usize {
        local.leaving.len()
    }

    fn may_have(&self, thread: ThreadId, local: &Planned) -> bool {
        let turn = |turn: u8| turn == NEVER || turn <= self.most;
        let variable = |v: VarId| v.index() < self.program.variables.len() && self.model.buffers();
        local.loc.index() < self.program.thread(thread).locs().count()
            && local.leaving.iter().all(|(v, t)| variable(*v) && *t > 0 && turn(*t))
            && local.leaving.windows(2).all(|pair| pair[0] < pair[1])
            && turn(local.after)
    }

    fn may_share(&self, global: &Turns) -> bool {
        let exists = |thread: Option<ThreadId>| thread.is_none_or(|t| t.index() < self.program.threads.len());
        global.context <= self.most && exists(global.active) && exists(global.holder)
    }

    fn moves(&self, thread: ThreadId, global: &Turns, local: &Planned, out: &mut Vec<MoveOf<Self>>) -> Moves {
        let mut running = *global;
        let mut deferred = Deferred::of(thread, local);
        if global.active != Some(thread) {
            if global.context >= self.most {
                return Moves::All;
            }
            running = Turns { context: global.context + 1, active: Some(thread), ..running };
            let before = deferred.owes();
            let Some(leaving) = deferred.begin_turn(self.latest(running.context)) else { return Moves::All };
            match self.owing(running, before, deferred.owes()) {
                Some(kept) => running = kept,
                None => return Moves::All,
            }
            if let Some((variable, _)) = leaving.first() {
                // A held lock stops the drains of others.
                if running.holder.is_none_or(|holder| holder == thread) {
                    let event = Event::Drain { thread, variable: *variable };
                    let drain = |(v, value)| (Slot::Memory(v), ValueSource::Is(Expr::Leaf(value)));
                    let set = leaving.into_iter().map(drain).collect();
                    out.push(deferred.finish(event, Cond::TRUE, set, running, local.loc));
                }
                return Moves::All;
            }
        }
        for edge in self.program.thread(thread).outgoing(local.loc) {
            self.edge_moves(thread, running, &deferred, edge, out);
        }
        Moves::All
    }
}
