//! A machine written down as a program under SC: *flattening*.
//!
//! A thread's control becomes a location, a slot becomes a register (memory stays memory), and a
//! move becomes one indivisible step, made from the move's guard and its changes alone. So no
//! memory model is written a second time here, and whatever can be said of programs under SC,
//! by our engines or by any other tool, can be said of the machine. A move that the machine
//! withholds because a bound is reached leads to a place called `overflow`, which is a
//! violation: if the flattened program is safe, so is the program, without any bound.
//!
//! Who is inside an atomic section stays as it is, for SC has atomic sections too. Whether a step
//! has to wait while somebody else is inside one is seen from the machine's moves: those that it
//! offers all the same touch nothing shared.

use crate::{
    Buffered, Event, Machine, Model, MoveOf, Moves, Slot, Statement, Trace, TraceStep, ValueSource, Violation,
};
use program::{
    Cond, Edge, Expr, Failure, FailureKind, Loc, Location, Op, Program, RegId, Rewriting, Span, ThreadId,
};
use std::collections::{HashMap, HashSet};
use std::fmt;

/// No thread gets more locations than this.
const MOST_LOCATIONS: usize = 1 << 16;

/// A program that stands for another one under a weaker model.
pub struct Flattened {
    /// The program, to be asked about under SC.
    pub program: Program,
    /// What each edge of each thread does in the machine; nothing where it overflows.
    events: Vec<Vec<Option<Event>>>,
    /// The location that each location of each thread stands for.
    stands_for: Vec<Vec<Option<Loc>>>,
}

/// Why a machine cannot be flattened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotFlat {
    /// A thread has too many controls.
    TooLarge,
    /// A move does what no step of a program can do.
    Inexpressible,
}

impl fmt::Display for NotFlat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NotFlat::TooLarge => write!(f, "a thread's buffers can have more than {MOST_LOCATIONS} shapes"),
            NotFlat::Inexpressible => write!(f, "the machine does what no step of a program can do"),
        }
    }
}

impl std::error::Error for NotFlat {}

impl Flattened {
    /// The program under SC that does what a program does under a model, with this many stores per
    /// queue at most.
    pub fn bounded(program: &Program, model: Model, buffer: usize) -> Result<Flattened, NotFlat> {
        Flattened::of(&Buffered::exact(program, model).with_dead_registers().capped(buffer))
    }

    /// The program under SC that does what a machine does.
    pub fn of<M: Machine<Global = Option<ThreadId>>>(machine: &M) -> Result<Flattened, NotFlat> {
        let old = machine.program();
        if old.speaks_of_buffers().is_some() {
            return Err(NotFlat::Inexpressible);
        }
        let mut flat = Flattened { program: old.clone(), events: Vec::new(), stands_for: Vec::new() };
        for thread in old.thread_ids() {
            let mut flattening = Flattening::new(machine, thread);
            flattening.walk()?;
            let new = flattening.thread.finish();
            flat.program = flat.program.with_thread(thread, new.thread, &new.stands_for);
            flat.events.push(new.origins);
            flat.stands_for.push(new.stands_for);
        }
        Ok(flat)
    }

    /// A violation of the flattened program under SC as one of the program itself; `None` if it is
    /// an overflow, which says nothing about the program.
    pub fn backward(&self, trace: &Trace) -> Option<Trace> {
        let original = |step: &TraceStep| {
            let Event::Step { thread, edge } = step.event else { return None };
            let event = self.events[thread.index()][edge.index()]?;
            Some(TraceStep { event, choice: step.choice.clone() })
        };
        let violation = match trace.violation {
            Violation::Failure(thread, loc) => {
                Violation::Failure(thread, self.stands_for[thread.index()][loc.index()]?)
            }
            property => property,
        };
        let steps = trace.steps.iter().map(original).collect::<Option<Vec<TraceStep>>>()?;
        Some(Trace { initial: trace.initial.clone(), steps, violation })
    }
}

/// A control of a thread: whether it is inside an atomic section, and the machine's part.
type FlatControl<M> = (bool, <M as Machine>::Local);

/// One thread on its way to be flat.
struct Flattening<'m, M: Machine> {
    machine: &'m M,
    id: ThreadId,
    thread: Rewriting<'m, Option<Event>>,
    locations: HashMap<FlatControl<M>, Loc>,
    /// Controls whose moves are not yet written.
    waiting: Vec<FlatControl<M>>,
    overflow: Option<Loc>,
    registers: HashMap<Slot, RegId>,
}

impl<'m, M: Machine<Global = Option<ThreadId>>> Flattening<'m, M> {
    fn new(machine: &'m M, id: ThreadId) -> Flattening<'m, M> {
        let thread = Rewriting::of(machine.program().thread(id));
        let (locations, registers) = (HashMap::new(), HashMap::new());
        Flattening { machine, id, thread, locations, waiting: Vec::new(), overflow: None, registers }
    }

    fn walk(&mut self) -> Result<(), NotFlat> {
        let (_, locals) = self.machine.initial();
        self.location((false, locals[self.id.index()].clone()));
        while let Some((inside, local)) = self.waiting.pop() {
            self.moves_of(inside, local)?;
            if self.locations.len() > MOST_LOCATIONS {
                return Err(NotFlat::TooLarge);
            }
        }
        Ok(())
    }

    /// The location of a control; its moves are written later.
    fn location(&mut self, control: FlatControl<M>) -> Loc {
        if let Some(known) = self.locations.get(&control) {
            return *known;
        }
        let loc = self.thread.copy(self.machine.location(&control.1));
        self.locations.insert(control.clone(), loc);
        self.waiting.push(control);
        loc
    }

    /// Writes the moves from a control.
    fn moves_of(&mut self, inside: bool, local: M::Local) -> Result<(), NotFlat> {
        let at = self.machine.location(&local);
        if self.thread.old().location(at).failure.is_some() {
            return Ok(());
        }
        let from = self.locations[&(inside, local.clone())];
        let mut moves = Vec::new();
        let holder = inside.then_some(self.id);
        let listed = self.machine.moves(self.id, &holder, &local, &mut moves);
        let free = self.free(inside, &local);
        for step in moves {
            let op = self.op(holder, &step, free.contains(&step.event))?;
            let to = self.location((step.global.is_some(), step.local));
            let span = Statement::of(self.machine.program(), step.event).span;
            self.thread.edge(Edge { from, to, op, span, call: None }, Some(step.event));
        }
        if listed == Moves::Withheld {
            let to = self.overflow();
            self.thread.edge(Edge { from, to, op: Op::Skip, span: Span::NONE, call: None }, None);
        }
        Ok(())
    }

    fn overflow(&mut self) -> Loc {
        let failure = Some(Failure { kind: FailureKind::Assertion, span: Span::NONE });
        let labels = vec!["overflow".to_string()];
        let thread = &mut self.thread;
        *self
            .overflow
            .get_or_insert_with(|| thread.location(None, Location { labels, failure, span: Span::NONE }))
    }

    /// The events that can happen although somebody else is inside an atomic section.
    fn free(&self, inside: bool, local: &M::Local) -> Vec<Event> {
        let other = self.machine.program().thread_ids().find(|id| *id != self.id);
        let (Some(other), false) = (other, inside) else { return Vec::new() };
        let mut moves = Vec::new();
        self.machine.moves(self.id, &Some(other), local, &mut moves);
        moves.into_iter().map(|step| step.event).collect()
    }

    /// What a move does, as an operation under SC.
    fn op(&mut self, holder: Option<ThreadId>, step: &MoveOf<M>, free: bool) -> Result<Op, NotFlat> {
        match (holder, step.global) {
            (None, Some(_)) => return Ok(Op::Lock),
            (Some(_), None) => return Ok(Op::Unlock),
            _ => {}
        }
        if let [(slot, ValueSource::Any(domain))] = &step.set[..] {
            return Ok(Op::Havoc(self.register(*slot)?, domain.clone()));
        }
        let mut parts = self.parts(step)?;
        let stores = parts.iter().any(|part| matches!(part, Op::Store(..)));
        let loads = parts.iter().any(|part| matches!(part, Op::Load(..)));
        Ok(match parts.len() {
            0 if free => Op::Skip,
            1 if free || loads || stores => parts.remove(0),
            _ => Op::Block { locked: stores, parts },
        })
    }

    /// The parts of a move, in an order in which they may be done one after the other: memory is
    /// read, the guard tested, memory written, and registers last.
    fn parts(&mut self, step: &MoveOf<M>) -> Result<Vec<Op>, NotFlat> {
        let mut changes = Vec::new();
        for (slot, source) in &step.set {
            let ValueSource::Is(value) = source else { return Err(NotFlat::Inexpressible) };
            changes.push((*slot, value));
        }
        let (mut parts, mut names) = (Vec::new(), HashMap::new());
        for slot in mentioned(&step.guard, &changes) {
            let register = match slot {
                Slot::Memory(variable) => {
                    let into = self.load_target(slot, &step.guard, &changes)?;
                    parts.push(Op::Load(into, variable));
                    into
                }
                own => self.register(own)?,
            };
            names.insert(slot, register);
        }
        if step.guard != Cond::TRUE {
            parts.push(Op::Assume(step.guard.map(&mut |slot| Expr::Leaf(names[slot]))));
        }
        let mut assignments = Vec::new();
        for (slot, value) in changes {
            let value = value.map(&mut |slot| Expr::Leaf(names[slot]));
            match slot {
                Slot::Memory(variable) => parts.push(Op::Store(variable, value)),
                own => assignments.push((self.register(own)?, value)),
            }
        }
        // What was loaded to where it belongs is there already.
        assignments.retain(|(register, value)| *value != Expr::Leaf(*register));
        self.in_order(assignments, &mut parts);
        Ok(parts)
    }

    /// Where a variable's value is loaded to: the register that the move gives it to, if nothing
    /// else in the move needs what was there before; else a register of its own.
    fn load_target(
        &mut self,
        memory: Slot,
        guard: &Cond<Slot>,
        changes: &[(Slot, &Expr<Slot>)],
    ) -> Result<RegId, NotFlat> {
        let given = changes
            .iter()
            .find(|(slot, value)| **value == Expr::Leaf(memory) && !matches!(slot, Slot::Memory(_)));
        match given {
            Some((target, _)) if !mentioned(guard, changes).contains(target) => self.register(*target),
            _ => self.register(memory),
        }
    }

    /// Emits assignments that are meant to happen at once: whoever is still read waits.
    fn in_order(&mut self, mut pending: Vec<(RegId, Expr<RegId>)>, parts: &mut Vec<Op>) {
        while !pending.is_empty() {
            let reads = |value: &Expr<RegId>, register: RegId| {
                let mut found = false;
                value.for_each_leaf(&mut |leaf| found |= *leaf == register);
                found
            };
            let unread = |at: &usize| {
                let mut others = pending.iter().enumerate().filter(|(other, _)| other != at);
                others.all(|(_, (_, value))| !reads(value, pending[*at].0))
            };
            match (0..pending.len()).find(unread) {
                Some(at) => {
                    let (register, value) = pending.remove(at);
                    parts.push(Op::Assign(register, value));
                }
                None => {
                    // Each is read by another: one of them is put aside first.
                    let aside = self.thread.register(format!("aside{}", self.thread.registers()));
                    let register = pending[0].0;
                    parts.push(Op::Assign(aside, Expr::Leaf(register)));
                    let other = |leaf: &RegId| Expr::Leaf(if *leaf == register { aside } else { *leaf });
                    for (_, value) in &mut pending {
                        *value = value.map(&mut |leaf| other(leaf));
                    }
                }
            }
        }
    }

    /// The register that a slot becomes. For memory it is where a step keeps what it read.
    fn register(&mut self, slot: Slot) -> Result<RegId, NotFlat> {
        if let Slot::Register(thread, register) = slot
            && thread == self.id
        {
            return Ok(register);
        }
        if let Some(known) = self.registers.get(&slot) {
            return Ok(*known);
        }
        let program = self.machine.program();
        let name = match slot {
            Slot::Memory(variable) => format!("read_{}", program.variable(variable).name),
            Slot::Queued(thread, variable, entry) if thread == self.id => {
                format!("{}_{entry}", program.variable(variable).name)
            }
            _ => return Err(NotFlat::Inexpressible),
        };
        let register = self.thread.register(name);
        self.registers.insert(slot, register);
        Ok(register)
    }
}

/// The slots that a move reads, each once.
fn mentioned(guard: &Cond<Slot>, changes: &[(Slot, &Expr<Slot>)]) -> Vec<Slot> {
    let mut slots = Vec::new();
    guard.for_each_leaf(&mut |slot| slots.push(*slot));
    changes.iter().for_each(|(_, value)| value.for_each_leaf(&mut |slot| slots.push(*slot)));
    let mut seen = HashSet::new();
    slots.retain(|slot| seen.insert(*slot));
    slots
}
