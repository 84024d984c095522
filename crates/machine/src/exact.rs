//! The exact machines: what programs do under a memory model, unbounded or with a cap on
//! buffers.
//!
//! A thread's control is its location and the shape of its buffer; the shared control is who
//! is inside an atomic section. In the words of the store-buffer semantics [004, Fig. 2.19
//! and C.1]: a load takes the newest entry of its own buffer for that variable, else memory;
//! a store joins the buffer; draining moves an entry that may leave to memory; a full fence
//! and the start of an atomic section wait for an empty buffer. While somebody is inside an
//! atomic section, others neither load nor drain nor write memory. Inside, loads and stores
//! go straight to memory (the buffer is empty, and nobody could see a difference). What does
//! not depend on the buffer's contents stands in `rules.rs`, for abstractions to share.
//! Registers that nothing reads any more are no slots: states differing there are one.

use crate::effect::Effect;
use crate::rules::{Rule, push_barrier};
use crate::{Entry, Event, Machine, Model, Move, MoveOf, Moves, Slot, Source};
use program::{Edge, EdgeId, Fence, Liveness, Loc, Op, Program, ThreadId, VarId};
use smallvec::SmallVec;

/// A thread's control in an exact machine.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Local {
    /// Where it stands.
    pub loc: Loc,
    /// The shape of its buffer, oldest first.
    pub buffer: SmallVec<[Entry; 4]>,
}

impl Local {
    /// A thread standing at a location, with nothing buffered.
    pub fn at(loc: Loc) -> Local {
        Local { loc, buffer: SmallVec::new() }
    }

    /// The variables of the buffered stores, oldest first: the i-th is the slot `Buffer(_, i)`.
    pub fn stores(&self) -> impl Iterator<Item = VarId> + '_ {
        self.buffer.iter().filter_map(|entry| match entry {
            Entry::Store(variable) => Some(*variable),
            Entry::Barrier => None,
        })
    }

    /// The slot number of the entry at this position.
    fn slot(&self, at: usize) -> u32 {
        self.buffer[..at].iter().filter(|entry| **entry != Entry::Barrier).count() as u32
    }

    /// Where a load finds the variable: the newest buffered store, else memory.
    fn newest(&self, thread: ThreadId, variable: VarId) -> Slot {
        let newest = self.stores().enumerate().filter(|(_, v)| *v == variable).last();
        newest.map_or(Slot::Memory(variable), |(entry, _)| Slot::Buffer(thread, entry as u32))
    }
}

/// The exact machine of a memory model.
pub struct Exact<'p> {
    program: &'p Program,
    model: Model,
    cap: Option<usize>,
    liveness: Liveness,
}

impl<'p> Exact<'p> {
    /// The machine with unbounded buffers.
    pub fn new(program: &'p Program, model: Model) -> Exact<'p> {
        Exact { program, model, cap: None, liveness: Liveness::of(program) }
    }

    /// Lets no queue grow beyond `cap` stores; what that leaves out is said by [`Moves::Withheld`].
    pub fn capped(mut self, cap: usize) -> Exact<'p> {
        self.cap = Some(cap);
        self
    }

    /// Keeps dead registers as slots: the unreduced view, for replay and comparison.
    pub fn with_dead_registers(mut self) -> Exact<'p> {
        self.liveness = Liveness::all(self.program);
        self
    }

    /// The program it runs, for as long as that lives.
    pub fn program_ref(&self) -> &'p Program {
        self.program
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
        let place = match &edge.op {
            Op::Store(variable, _) if holder != Some(thread) => self.model.place(&local.buffer, *variable),
            _ => None,
        };
        let rule = Rule { thread, holder, drained: local.buffer.is_empty(), buffers: place.is_some() };
        let Some(global) = rule.holder_after(&edge.op) else { return Ok(None) };
        let mut next = Local { loc: edge.to, buffer: local.buffer.clone() };
        match (&edge.op, place) {
            (Op::Fence(Fence::Store), _) => push_barrier(self.model, &mut next.buffer),
            (Op::Store(variable, _), Some(place)) => {
                let queued = self.model.queued(&local.buffer, *variable);
                if self.cap.is_some_and(|cap| queued >= cap) {
                    return Err(Withheld);
                }
                next.buffer.insert(place, Entry::Store(*variable));
            }
            _ => {}
        }
        let newest = |variable| local.newest(thread, variable);
        let mut effect = Effect::new(thread, place.is_some(), &newest);
        effect.perform(&edge.op);
        let mut outcome = effect.finish(self.liveness.at(thread, edge.to));
        if let (Some(place), Some(value)) = (place, outcome.buffered) {
            let entry = next.slot(place);
            outcome.set.push((Slot::Buffer(thread, entry), Source::Is(value)));
            let shifted = entry..local.stores().count() as u32;
            outcome.set.extend(shifted.map(|e| moved(Slot::Buffer(thread, e), Slot::Buffer(thread, e + 1))));
        }
        outcome.set.sort_by_key(|(slot, _)| *slot);
        let event = Event::Step { thread, edge: id };
        Ok(Some(Move { event, guard: outcome.guard, set: outcome.set, global, local: next }))
    }

    fn drain(&self, thread: ThreadId, local: &Local, at: usize, variable: VarId) -> MoveOf<Self> {
        let from = local.slot(at);
        let count = local.stores().count() as u32;
        let mut set = vec![(Slot::Memory(variable), Source::Is(Slot::Buffer(thread, from).into()))];
        set.extend((from + 1..count).map(|e| moved(Slot::Buffer(thread, e), Slot::Buffer(thread, e - 1))));
        let mut next = local.clone();
        next.buffer.remove(at);
        // A barrier with nothing before it orders nothing.
        while next.buffer.first() == Some(&Entry::Barrier) {
            next.buffer.remove(0);
        }
        Move {
            event: Event::Drain { thread, variable },
            guard: program::Cond::TRUE,
            set,
            global: None,
            local: next,
        }
    }
}

/// One slot's value goes to another.
fn moved(from: Slot, to: Slot) -> (Slot, Source) {
    (to, Source::Is(from.into()))
}

/// A move was left out because a buffer is at its cap.
struct Withheld;

impl Machine for Exact<'_> {
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
        out.extend((0..local.stores().count() as u32).map(|entry| Slot::Buffer(thread, entry)));
    }

    fn location(&self, local: &Local) -> Loc {
        local.loc
    }

    fn drained(&self, local: &Local) -> bool {
        local.buffer.is_empty()
    }

    fn longest_queue(&self, local: &Local) -> usize {
        local.stores().map(|variable| self.model.queued(&local.buffer, variable)).max().unwrap_or(0)
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
            for (at, entry) in local.buffer.iter().enumerate() {
                if let Entry::Store(variable) = entry
                    && self.model.may_drain(&local.buffer, at)
                {
                    out.push(self.drain(thread, local, at, *variable));
                }
            }
        }
        complete
    }
}
