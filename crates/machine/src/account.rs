//! The account of a run: what every step did, and who wrote what it read.
//!
//! A trace names events and chosen values only. Its account is made once, when it is replayed, by
//! reading the run from the first step to the last. For every step it has the *actions* in
//! order, each with its value: a load with the store that it reads, a store with whether it went
//! to the buffer, a drain with the store that it brings to memory. A load reads the newest store
//! of its thread to the variable that is still buffered (*forwarding*), else what is in memory:
//! the last store that arrived there, or the initial value. Stores of one thread to one variable
//! arrive in the order they were issued under every model, so a drain brings the oldest of them.
//! Whoever explains, simplifies, checks or draws a run reads the account and works out none of
//! this again.

use crate::{Configuration, Event, TraceStep};
use program::{EdgeId, Int, Op, Program, RegId, ThreadId, VarId};
use std::collections::{BTreeMap, VecDeque};

/// What happened in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    steps: Vec<ReplayedStep>,
    passed: Vec<Configuration>,
}

/// What happened in one step. Steps are named by their positions in the run, from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReplayedStep {
    /// The event.
    pub event: Event,
    /// What it did, in order.
    pub actions: Vec<Action>,
    /// The first step of the atomic section that it lies in; itself if it is a locked block.
    pub section: Option<usize>,
    /// Whether it had to wait until its thread's buffer was empty.
    pub waited: bool,
    /// The drain of the store that it put into the buffer, if that reaches memory in the run.
    pub drain: Option<usize>,
}

/// Something a step did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Read a variable: its value, and where that came from.
    Load(VarId, Int, ReadFrom),
    /// Wrote a variable: its value, and whether the store went to the buffer.
    Store(VarId, Int, bool),
    /// A buffered store reached memory: its value, and the step that issued it.
    Drain(VarId, Int, usize),
    /// Computed a register.
    Assign(RegId, Int),
    /// Chose a value for a register.
    Choose(RegId, Int),
}

/// Where a load found its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadFrom {
    /// In memory, where nobody had written.
    Initial,
    /// In memory, which this step's store was the last to reach.
    Memory(usize),
    /// In the buffer of its own thread, where this step put it.
    OwnBuffer(usize),
}

impl ReadFrom {
    /// Whether the value came from the thread's own buffer.
    pub fn is_own_buffer(self) -> bool {
        matches!(self, ReadFrom::OwnBuffer(_))
    }
}

impl ReplayedStep {
    /// Who took the step.
    pub fn thread(&self) -> ThreadId {
        self.event.thread()
    }

    /// The edge taken; `None` for a drain.
    pub fn edge(&self) -> Option<EdgeId> {
        match self.event {
            Event::Step { edge, .. } => Some(edge),
            Event::Drain { .. } => None,
        }
    }

    /// The variable whose store it put into the buffer.
    pub fn buffered(&self) -> Option<VarId> {
        self.actions.iter().find_map(|action| match action {
            Action::Store(variable, _, true) => Some(*variable),
            _ => None,
        })
    }

    /// The step that issued the store that it drains.
    pub fn drained(&self) -> Option<usize> {
        self.actions.iter().find_map(|action| match action {
            Action::Drain(.., store) => Some(*store),
            _ => None,
        })
    }

    /// The variables that it read from memory.
    pub fn memory_reads(&self) -> impl Iterator<Item = VarId> + '_ {
        self.actions.iter().filter_map(|action| match action {
            Action::Load(variable, _, from) if !from.is_own_buffer() => Some(*variable),
            _ => None,
        })
    }
}

impl Account {
    /// Reads a run; `passed` are the configurations before every step and at the end.
    pub fn of(program: &Program, steps: &[TraceStep], passed: Vec<Configuration>) -> Account {
        Account { steps: replayed_steps(program, steps, |at| &passed[at]), passed }
    }

    /// What happened, step by step.
    pub fn steps(&self) -> &[ReplayedStep] {
        &self.steps
    }

    /// The configurations before every step and at the end.
    pub fn passed(&self) -> &[Configuration] {
        &self.passed
    }
}

/// What happened in a run whose configuration before step `i` is `passed(i)`.
pub fn replayed_steps<'c>(
    program: &Program,
    steps: &[TraceStep],
    passed: impl Fn(usize) -> &'c Configuration,
) -> Vec<ReplayedStep> {
    let threads = program.threads.len();
    let mut reader = RunReader {
        steps: Vec::with_capacity(steps.len()),
        memory: vec![None; program.variables.len()],
        buffers: vec![BTreeMap::new(); threads],
        last: vec![None; threads],
    };
    for (at, step) in steps.iter().enumerate() {
        let (before, after) = (passed(at), passed(at + 1));
        let read = match step.event {
            Event::Drain { thread, variable } => reader.drain(step.event, thread, variable, after),
            Event::Step { thread, edge } => {
                reader.step(step, before, after, &program.thread(thread).edge(edge).op)
            }
        };
        reader.steps.push(read);
    }
    reader.steps
}

/// Reads a run, step by step.
struct RunReader {
    steps: Vec<ReplayedStep>,
    /// For every variable, who wrote what is in memory.
    memory: Vec<Option<usize>>,
    /// For every thread and variable, who issued the stores that are still buffered, oldest first.
    buffers: Vec<BTreeMap<VarId, VecDeque<usize>>>,
    /// For every thread, its last step.
    last: Vec<Option<usize>>,
}

impl RunReader {
    fn drain(
        &mut self,
        event: Event,
        thread: ThreadId,
        variable: VarId,
        after: &Configuration,
    ) -> ReplayedStep {
        let at = self.steps.len();
        let issued = self.buffers[thread.index()].get_mut(&variable).and_then(VecDeque::pop_front);
        let mut actions = Vec::new();
        if let Some(store) = issued {
            self.memory[variable.index()] = Some(store);
            self.steps[store].drain = Some(at);
            actions.push(Action::Drain(variable, after.memory(variable), store));
        }
        ReplayedStep { event, actions, section: None, waited: false, drain: None }
    }

    fn step(
        &mut self,
        step: &TraceStep,
        before: &Configuration,
        after: &Configuration,
        op: &Op,
    ) -> ReplayedStep {
        let (at, thread) = (self.steps.len(), step.event.thread());
        let entries = |at: &Configuration| at.local(thread).stores().count();
        let mut scene = Scene {
            reader: self,
            thread,
            before,
            choice: step.choice.as_ref(),
            buffered: entries(after) > entries(before),
            registers: BTreeMap::new(),
            written: BTreeMap::new(),
            actions: Vec::new(),
        };
        op.for_each_part(&mut |part| scene.perform(part));
        let actions = scene.actions;
        let inside = before.holder() == Some(thread);
        let locks = matches!(op, Op::Lock | Op::Block { locked: true, .. });
        let section = match inside {
            true => self.last[thread.index()].and_then(|last| self.steps[last].section),
            false => locks.then_some(at),
        };
        self.last[thread.index()] = Some(at);
        let waited = !inside && op.waits();
        ReplayedStep { event: step.event, actions, section, waited, drain: None }
    }

    /// Where a load of a thread finds a variable, and the value there.
    fn load(&self, thread: ThreadId, variable: VarId, before: &Configuration) -> (Int, ReadFrom) {
        let newest = self.buffers[thread.index()].get(&variable).and_then(VecDeque::back);
        if let Some(store) = newest
            && let Some(Action::Store(_, value, _)) = self.steps[*store].actions.first()
        {
            return (value.clone(), ReadFrom::OwnBuffer(*store));
        }
        let from = self.memory[variable.index()].map_or(ReadFrom::Initial, ReadFrom::Memory);
        (before.memory(variable), from)
    }
}

/// A step while its parts are performed one after the other on values.
struct Scene<'a> {
    reader: &'a mut RunReader,
    thread: ThreadId,
    before: &'a Configuration,
    choice: Option<&'a Int>,
    buffered: bool,
    registers: BTreeMap<RegId, Int>,
    /// What the step itself wrote to memory.
    written: BTreeMap<VarId, Int>,
    actions: Vec<Action>,
}

impl Scene<'_> {
    fn perform(&mut self, op: &Op) {
        match op {
            Op::Assign(register, value) => {
                if let Ok(value) = value.eval(&|r| self.register(*r)) {
                    self.actions.push(Action::Assign(*register, value.clone()));
                    self.registers.insert(*register, value);
                }
            }
            Op::Havoc(register, _) => {
                let value = self.choice.cloned().unwrap_or_default();
                self.actions.push(Action::Choose(*register, value.clone()));
                self.registers.insert(*register, value);
            }
            Op::Load(register, variable) => {
                let (value, from) = match self.written.get(variable) {
                    Some(value) => (value.clone(), ReadFrom::Memory(self.reader.steps.len())),
                    None => self.reader.load(self.thread, *variable, self.before),
                };
                self.actions.push(Action::Load(*variable, value.clone(), from));
                self.registers.insert(*register, value);
            }
            Op::Store(variable, value) => {
                if let Ok(value) = value.eval(&|r| self.register(*r)) {
                    self.store(*variable, value);
                }
            }
            _ => {}
        }
    }

    fn store(&mut self, variable: VarId, value: Int) {
        let at = self.reader.steps.len();
        self.actions.push(Action::Store(variable, value.clone(), self.buffered));
        if self.buffered {
            let buffer = &mut self.reader.buffers[self.thread.index()];
            buffer.entry(variable).or_default().push_back(at);
        } else {
            self.reader.memory[variable.index()] = Some(at);
            self.written.insert(variable, value);
        }
    }

    fn register(&self, register: RegId) -> Int {
        let now = self.registers.get(&register).cloned();
        now.unwrap_or_else(|| self.before.register(self.thread, register))
    }
}
