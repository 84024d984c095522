//! Configurations over unbounded integers, run move by move.
//!
//! This is the plain way to execute moves: values are big integers in a map by slot, and
//! every expression is evaluated as it stands. Replay and interactive walks use it; nothing
//! here is compiled or cached.

use crate::{Entry, Event, Local, MoveOf, Slot, ValueSource, Violation, WithBuffers, initial_value};
use program::{Domain, Int, Place, Program, PropertyKind, RegId, ThreadId, VarId};
use std::collections::BTreeMap;

/// A configuration of a machine with store buffers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Configuration {
    holder: Option<ThreadId>,
    locals: Vec<Local>,
    data: BTreeMap<Slot, Int>,
}

/// A step that can be taken now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enabled {
    /// What would happen.
    pub event: Event,
    /// What a value may be chosen from, if the step chooses one.
    pub choice: Option<Domain>,
}

impl Configuration {
    /// The configuration a machine starts in. Variables that may start with more than one value
    /// take the one given here; `None` if that is not one of them, or is missing.
    pub fn initial(machine: &impl WithBuffers, chosen: &[(VarId, Int)]) -> Option<Configuration> {
        let program = machine.program();
        let (holder, locals) = machine.initial();
        let mut data = BTreeMap::new();
        for variable in program.variable_ids() {
            let domain = initial_value(program, Slot::Memory(variable));
            let given = chosen.iter().find(|(v, _)| *v == variable).map(|(_, value)| value);
            let value = given.or(domain.single())?;
            if !domain.contains(value) {
                return None;
            }
            data.insert(Slot::Memory(variable), value.clone());
        }
        if !program.may_start(&|variable| data[&Slot::Memory(variable)].clone()) {
            return None;
        }
        let mut slots = Vec::new();
        for (thread, local) in program.thread_ids().zip(&locals) {
            machine.slots(thread, local, &mut slots);
        }
        data.extend(slots.into_iter().map(|slot| (slot, Int::ZERO)));
        Some(Configuration { holder, locals, data })
    }

    /// The thread inside an atomic section.
    pub fn holder(&self) -> Option<ThreadId> {
        self.holder
    }

    /// A thread's control.
    pub fn local(&self, thread: ThreadId) -> &Local {
        &self.locals[thread.index()]
    }

    /// A variable's value in memory.
    pub fn memory(&self, variable: VarId) -> Int {
        self.value(Slot::Memory(variable))
    }

    /// A register's value; 0 if the machine forgot it because it is dead.
    pub fn register(&self, thread: ThreadId, register: RegId) -> Int {
        self.value(Slot::Register(thread, register))
    }

    /// A thread's buffer, oldest first; a barrier has no value.
    pub fn buffer(&self, thread: ThreadId) -> Vec<(Entry, Option<Int>)> {
        let mut slots = self.local(thread).queued(thread).into_iter();
        let with_value = |entry: &Entry| match entry {
            Entry::Barrier => (*entry, None),
            Entry::Store(_) => (*entry, slots.next().map(|slot| self.value(slot))),
        };
        self.local(thread).kept.iter().map(with_value).collect()
    }

    fn value(&self, slot: Slot) -> Int {
        self.data.get(&slot).cloned().unwrap_or_default()
    }

    /// The steps that can be taken now, in a fixed order.
    pub fn enabled(&self, machine: &impl WithBuffers) -> Vec<Enabled> {
        let moves = self.moves(machine);
        moves.iter().map(|step| Enabled { event: step.event, choice: choice(step).cloned() }).collect()
    }

    /// The configuration after a step; `None` if it cannot be taken, or not with this value, or takes a
    /// member of a pool, which has no single value.
    pub fn take(
        &self,
        machine: &impl WithBuffers,
        event: Event,
        chosen: Option<&Int>,
    ) -> Option<Configuration> {
        let (thread, mut moves) = (event.thread(), Vec::new());
        machine.moves(thread, &self.holder, self.locals.get(thread.index())?, &mut moves);
        let step = moves.into_iter().find(|step| step.event == event)?;
        if step.guard.eval(&|slot| self.value(*slot)) != Ok(true) {
            return None;
        }
        let allowed = match (choice(&step), chosen) {
            (None, None) => true,
            (Some(domain), Some(value)) => domain.contains(value),
            _ => false,
        };
        if !allowed {
            return None;
        }
        let mut next = self.clone();
        next.holder = step.global;
        next.locals[event.thread().index()] = step.local;
        for (slot, source) in &step.set {
            let value = match source {
                ValueSource::Is(value) => value.eval(&|slot| self.value(*slot)).ok()?,
                ValueSource::Any(_) => chosen?.clone(),
                // These have no single value.
                ValueSource::OneOf(_)
                | ValueSource::OldestOf(_)
                | ValueSource::OnlyOf(_)
                | ValueSource::Joins(_) => return None,
            };
            next.data.insert(*slot, value);
        }
        next.forget_gone_slots(machine, thread);
        Some(next)
    }

    /// Forgets what a thread does not have any more.
    fn forget_gone_slots(&mut self, machine: &impl WithBuffers, of: ThreadId) {
        let mut kept = Vec::new();
        machine.slots(of, &self.locals[of.index()], &mut kept);
        kept.sort_unstable();
        self.data.retain(|slot, _| slot.thread() != Some(of) || kept.binary_search(slot).is_ok());
    }

    fn moves<M: WithBuffers>(&self, machine: &M) -> Vec<MoveOf<M>> {
        let mut moves = Vec::new();
        for (thread, local) in machine.program().thread_ids().zip(&self.locals) {
            machine.moves(thread, &self.holder, local, &mut moves);
        }
        moves.retain(|step| step.guard.eval(&|slot| self.value(*slot)) == Ok(true));
        moves
    }

    /// What is violated here: the first failure, else the first property.
    pub fn violation(&self, program: &Program) -> Option<Violation> {
        self.violations(program).next()
    }

    /// Everything that is violated here.
    pub fn violations<'a>(&'a self, program: &'a Program) -> impl Iterator<Item = Violation> + 'a {
        let locs = program.thread_ids().map(|t| (t, self.local(t).loc));
        let failures = locs
            .filter(|(t, loc)| program.thread(*t).location(*loc).failure.is_some())
            .map(|(t, loc)| Violation::Failure(t, loc));
        let properties = (0..program.properties.len()).map(Violation::Property);
        failures.chain(properties.filter(|violation| self.violates(program, *violation)))
    }

    /// Whether this is violated here; nothing that does not exist is.
    pub fn violates(&self, program: &Program, violation: Violation) -> bool {
        match violation {
            Violation::Failure(thread, loc) => {
                self.locals.get(thread.index()).is_some_and(|local| local.loc == loc)
                    && program.thread(thread).location(loc).failure.is_some()
            }
            Violation::Property(at) => {
                let Some(property) = program.properties.get(at) else { return false };
                let holds = || property.cond.eval(&|place| self.place(*place)) == Ok(true);
                match property.kind {
                    PropertyKind::Never => self.is_outside_sections(program) && holds(),
                    PropertyKind::Finally => self.is_final(program) && !holds(),
                }
            }
        }
    }

    /// Whether no thread is inside an atomic section.
    fn is_outside_sections(&self, program: &Program) -> bool {
        program.thread_ids().all(|t| !program.thread(t).in_atomic(self.local(t).loc))
    }

    /// Whether all threads have ended and all buffers are empty.
    pub fn is_final(&self, program: &Program) -> bool {
        let done = |t: ThreadId| {
            let local = self.local(t);
            local.drained() && program.thread(t).is_end(local.loc)
        };
        program.thread_ids().all(done)
    }

    /// The value of what a property speaks of.
    pub fn place(&self, place: Place) -> Int {
        match place {
            Place::At(thread, loc) => Int::from(i32::from(self.local(thread).loc == loc)),
            Place::Register(thread, register) => self.register(thread, register),
            Place::Memory(variable) => self.memory(variable),
            Place::Drained(thread) => Int::from(i32::from(self.local(thread).drained())),
        }
    }
}

/// The domain a move chooses from, if it does.
fn choice<G, L>(step: &crate::Move<G, L>) -> Option<&Domain> {
    step.set.iter().find_map(|(_, source)| match source {
        ValueSource::Any(domain) => Some(domain),
        _ => None,
    })
}
