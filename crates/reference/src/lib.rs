//! The independent reference interpreter: slow, obvious, for tests only.
//!
//! There is one definition of each memory model that the tools run on, and this second one,
//! written from the rules alone, to compare it with. It keeps whole configurations with
//! explicit queues and shares no code with the machines.
//!
//! The rules are those of the operational semantics with a global lock (thesis 2.3.1 and its
//! appendix C: RB, RM, LS, WM, LF, LA, LC, Lock, Unlock), read for three models. They differ
//! only in where a store goes: to memory at once (SC, rule LSWM), to the thread's one FIFO
//! queue (TSO), or to the FIFO queue of the thread and the variable (PSO).
//!
//! * A load takes the newest buffered value of its thread, else memory (RB, RM).
//! * The lock is taken with empty queues only, and its holder works straight on memory.
//!   While somebody holds it, nobody else loads, drains, writes to memory or locks; local
//!   steps, buffered stores and fences over empty queues go on.
//! * A locked block is `Lock`, its parts and `Unlock` with nothing seen in between. An
//!   unlocked block is its parts with nothing seen in between.
//! * A full fence waits for empty queues. A store fence never waits; under PSO it starts a
//!   new *epoch*. Every buffered store carries the epoch it was made in, and may leave only
//!   when no store of a smaller epoch of its thread is buffered any more.
//!
//! **Normal form.** Only the order of epochs matters, so after every step they are renumbered:
//! the epochs that are buffered become 0, 1, 2, … in their order, and the epoch of the next
//! store either equals the largest of them (no store fence came since) or is one more (one or
//! several came). With empty queues the next epoch is 0: there is nothing to be ordered after.
//!
//! An expression without a value (division by zero, which front ends guard) blocks its step.

use program::{Cond, Domain, EdgeId, Expr, Fence, Int, Loc, Op, Place, Program, PropertyKind};
use program::{RegId, ThreadId, VarId};
use std::collections::{BTreeSet, VecDeque};

mod contexts;

pub use contexts::explore_contexts;

/// Where stores wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceModel {
    /// Nowhere.
    Sc,
    /// In one queue per thread.
    Tso,
    /// In one queue per thread and variable.
    Pso,
}

impl ReferenceModel {
    /// All models, the strictest first.
    pub const ALL: [ReferenceModel; 3] = [ReferenceModel::Sc, ReferenceModel::Tso, ReferenceModel::Pso];

    /// The model of this name.
    pub fn named(name: &str) -> Option<ReferenceModel> {
        ReferenceModel::ALL
            .into_iter()
            .zip(["sc", "tso", "pso"])
            .find(|(_, n)| *n == name)
            .map(|(model, _)| model)
    }

    fn queues(self, program: &Program) -> usize {
        match self {
            ReferenceModel::Sc => 0,
            ReferenceModel::Tso => 1,
            ReferenceModel::Pso => program.variables.len(),
        }
    }

    /// The queue of a thread that takes stores to the variable.
    fn queue_of(self, variable: VarId) -> usize {
        if self == ReferenceModel::Pso { variable.index() } else { 0 }
    }
}

/// A store on its way to memory.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pending {
    /// What it writes to.
    pub variable: VarId,
    /// What it writes.
    pub value: Int,
    /// How many kept store fences came before it (always 0 but under PSO).
    pub epoch: usize,
}

/// The store buffers of one thread.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ReferenceBuffers {
    /// None (SC), one (TSO) or one per variable (PSO); the oldest store stands first.
    pub queues: Vec<VecDeque<Pending>>,
    /// The epoch of the thread's next store.
    pub epoch: usize,
}

/// Everything that determines what can happen next.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Config {
    /// Where each thread stands.
    pub locs: Vec<Loc>,
    /// The registers of each thread.
    pub registers: Vec<Vec<Int>>,
    /// The value of each shared variable in memory.
    pub memory: Vec<Int>,
    /// The store buffers of each thread.
    pub buffers: Vec<ReferenceBuffers>,
    /// Who holds the lock.
    pub holder: Option<ThreadId>,
}

/// What happened between two configurations.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceStep {
    /// A thread followed an edge.
    Edge {
        /// The thread.
        thread: ThreadId,
        /// The edge it followed.
        edge: EdgeId,
        /// The value a `Havoc` chose.
        choice: Option<Int>,
    },
    /// A buffered store reached memory.
    Drain {
        /// Whose store.
        thread: ThreadId,
        /// The variable it wrote to.
        variable: VarId,
    },
}

/// What is wrong with a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ReferenceViolation {
    /// The thread stands at a failure location.
    Failure(ThreadId, Loc),
    /// Nobody is inside an atomic section, and the `never` at this position of the program's properties holds.
    Never(usize),
    /// Everything ended, and the `finally` at this position does not hold.
    Finally(usize),
}

/// How far to explore.
#[derive(Clone, Debug)]
pub struct ReferenceLimits {
    /// A store that would make a queue longer than this is not made.
    pub queue: usize,
    /// How many configurations are kept at most.
    pub configs: usize,
    /// The values tried where a program says `any` without a range.
    pub candidates: Vec<Int>,
}

/// What an exploration found.
#[derive(Clone, Debug, Default)]
pub struct Reached {
    /// The configurations met.
    pub configs: BTreeSet<Config>,
    /// Whether a store was left out because its queue was full.
    pub cap_hit: bool,
    /// Whether a configuration was left out because there were too many.
    pub truncated: bool,
    /// The violations in the configurations met.
    pub violations: BTreeSet<ReferenceViolation>,
}

/// Where a program may start: one configuration for every choice of initial values that satisfies what is assumed
/// of them.
pub fn initial(program: &Program, model: ReferenceModel, candidates: &[Int]) -> Vec<Config> {
    let mut memories = vec![Vec::new()];
    for variable in &program.variables {
        let values = values(&variable.initial, candidates);
        let extended = |memory: &Vec<Int>| {
            let extend = |value: &Int| memory.iter().chain([value]).cloned().collect::<Vec<Int>>();
            values.iter().map(extend).collect::<Vec<_>>()
        };
        memories = memories.iter().flat_map(extended).collect();
    }
    let buffers = ReferenceBuffers { queues: vec![VecDeque::new(); model.queues(program)], epoch: 0 };
    let start = |memory| Config {
        locs: program.threads.iter().map(|thread| thread.entry()).collect(),
        registers: program.threads.iter().map(|t| vec![Int::from(0); t.registers.len()]).collect(),
        memory,
        buffers: vec![buffers.clone(); program.threads.len()],
        holder: None,
    };
    let place = |memory: &[Int], place: &Place| match *place {
        Place::Memory(variable) => memory[variable.index()].clone(),
        _ => Int::from(0),
    };
    let assumed = |memory: &Vec<Int>| {
        program.starts.iter().all(|start| start.cond.eval(&|p| place(memory, p)) == Ok(true))
    };
    memories.into_iter().filter(assumed).map(start).collect()
}

/// Everything that can happen next. A choice from all integers tries the candidates only.
pub fn successors(
    program: &Program,
    model: ReferenceModel,
    config: &Config,
    candidates: &[Int],
) -> Vec<(ReferenceStep, Config)> {
    let mut next = Vec::new();
    for thread in program.thread_ids() {
        for (id, edge) in program.thread(thread).outgoing(config.locs[thread.index()]) {
            for (choice, mut after) in config.after(model, thread, &edge.op, candidates) {
                after.locs[thread.index()] = edge.to;
                next.push((ReferenceStep::Edge { thread, edge: id, choice }, after));
            }
        }
        for queue in 0..model.queues(program) {
            if let Some((variable, after)) = config.drained(thread, queue) {
                next.push((ReferenceStep::Drain { thread, variable }, after));
            }
        }
    }
    next
}

/// What is wrong with a configuration.
pub fn violations(program: &Program, config: &Config) -> Vec<ReferenceViolation> {
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        let loc = config.locs[thread.index()];
        if program.thread(thread).location(loc).failure.is_some() {
            found.push(ReferenceViolation::Failure(thread, loc));
        }
    }
    for (at, property) in program.properties.iter().enumerate() {
        let holds = property.cond.eval(&|place| config.place(place)).ok();
        match property.kind {
            PropertyKind::Never if holds == Some(true) && config.holder.is_none() => {
                found.push(ReferenceViolation::Never(at));
            }
            PropertyKind::Finally if holds == Some(false) && config.is_final(program) => {
                found.push(ReferenceViolation::Finally(at));
            }
            _ => {}
        }
    }
    found
}

/// All configurations within the limits, breadth first.
pub fn explore(program: &Program, model: ReferenceModel, limits: &ReferenceLimits) -> Reached {
    let mut reached = Reached::default();
    let mut waiting = VecDeque::new();
    for config in initial(program, model, &limits.candidates) {
        reached.add(program, config, limits, &mut waiting);
    }
    while let Some(config) = waiting.pop_front() {
        for (_, next) in successors(program, model, &config, &limits.candidates) {
            reached.add(program, next, limits, &mut waiting);
        }
    }
    reached
}

impl Reached {
    fn add(
        &mut self,
        program: &Program,
        config: Config,
        limits: &ReferenceLimits,
        waiting: &mut VecDeque<Config>,
    ) {
        if config.longest_queue() > limits.queue {
            self.cap_hit = true;
        } else if self.configs.contains(&config) {
            // Met before.
        } else if self.configs.len() >= limits.configs {
            self.truncated = true;
        } else {
            self.violations.extend(violations(program, &config));
            self.configs.insert(config.clone());
            waiting.push_back(config);
        }
    }
}

impl ReferenceBuffers {
    /// Whether nothing is on its way to memory.
    pub fn is_empty(&self) -> bool {
        self.queues.iter().all(VecDeque::is_empty)
    }

    fn newest(&self, variable: VarId) -> Option<&Int> {
        let mut newest_first = self.queues.iter().flat_map(|queue| queue.iter().rev());
        newest_first.find(|store| store.variable == variable).map(|store| &store.value)
    }

    fn buffered_epochs(&self) -> BTreeSet<usize> {
        self.queues.iter().flatten().map(|store| store.epoch).collect()
    }

    /// Renumbers epochs as the top of this file says.
    fn normalise(&mut self) {
        let kept = self.buffered_epochs();
        let rank = |epoch: usize| kept.iter().filter(|&&smaller| smaller < epoch).count();
        self.queues.iter_mut().flatten().for_each(|store| store.epoch = rank(store.epoch));
        self.epoch = rank(self.epoch);
    }
}

impl Config {
    /// Whether all buffers of all threads are empty.
    pub fn is_drained(&self) -> bool {
        self.buffers.iter().all(ReferenceBuffers::is_empty)
    }

    /// Whether all threads ended and all buffers are empty.
    pub fn is_final(&self, program: &Program) -> bool {
        let ended = |thread: ThreadId| program.thread(thread).is_end(self.locs[thread.index()]);
        self.is_drained() && program.thread_ids().all(ended)
    }

    /// The length of the longest queue.
    pub fn longest_queue(&self) -> usize {
        self.buffers.iter().flat_map(|b| b.queues.iter().map(VecDeque::len)).max().unwrap_or(0)
    }

    /// The value of what a property may speak of.
    pub fn place(&self, place: &Place) -> Int {
        match *place {
            Place::At(thread, loc) => Int::from(u8::from(self.locs[thread.index()] == loc)),
            Place::Register(thread, register) => self.registers[thread.index()][register.index()].clone(),
            Place::Memory(variable) => self.memory[variable.index()].clone(),
            Place::Drained(thread) => Int::from(u8::from(self.buffers[thread.index()].is_empty())),
        }
    }

    /// The configurations an operation may lead to, all but the thread's new location.
    fn after(
        &self,
        model: ReferenceModel,
        thread: ThreadId,
        op: &Op,
        candidates: &[Int],
    ) -> Vec<(Option<Int>, Config)> {
        if let Op::Havoc(register, domain) = op {
            let choose = |value: Int| {
                let mut after = self.clone();
                after.registers[thread.index()][register.index()] = value.clone();
                (Some(value), after)
            };
            return values(domain, candidates).into_iter().map(choose).collect();
        }
        let mut after = self.clone();
        after.perform(model, thread, op).map(|()| (None, after)).into_iter().collect()
    }

    /// Does one operation; `None` if it cannot happen now.
    fn perform(&mut self, model: ReferenceModel, thread: ThreadId, op: &Op) -> Option<()> {
        let t = thread.index();
        match op {
            Op::Skip => {}
            Op::Assign(register, value) => {
                self.registers[t][register.index()] = self.eval(thread, value)?;
            }
            // A choice has many outcomes, so it is no part of a block, and `after` has seen to it.
            Op::Havoc(..) => return None,
            Op::Assume(cond) => require(self.holds(thread, cond)?)?,
            Op::Load(register, variable) => {
                require(!self.locked_out(thread))?;
                let memory = &self.memory[variable.index()];
                let value = self.buffers[t].newest(*variable).unwrap_or(memory).clone();
                self.registers[t][register.index()] = value;
            }
            Op::Store(variable, value) => {
                let value = self.eval(thread, value)?;
                self.store(model, thread, *variable, value)?;
            }
            Op::Fence(Fence::Full) => require(self.buffers[t].is_empty())?,
            Op::Fence(Fence::Store) => {
                if model == ReferenceModel::Pso {
                    self.buffers[t].epoch += 1;
                    self.buffers[t].normalise();
                }
            }
            Op::Lock => {
                require(self.buffers[t].is_empty() && self.holder.is_none())?;
                self.holder = Some(thread);
            }
            Op::Unlock => {
                require(self.holder == Some(thread))?;
                self.holder = None;
            }
            Op::Block { locked, parts } => {
                require(!self.locked_out(thread))?;
                let takes_lock = *locked && self.holder.is_none();
                if takes_lock {
                    self.perform(model, thread, &Op::Lock)?;
                }
                parts.iter().try_for_each(|part| self.perform(model, thread, part))?;
                if takes_lock {
                    self.perform(model, thread, &Op::Unlock)?;
                }
            }
        }
        Some(())
    }

    fn store(&mut self, model: ReferenceModel, thread: ThreadId, variable: VarId, value: Int) -> Option<()> {
        if model == ReferenceModel::Sc || self.holder == Some(thread) {
            require(!self.locked_out(thread))?;
            self.memory[variable.index()] = value;
        } else {
            let buffers = &mut self.buffers[thread.index()];
            let epoch = buffers.epoch;
            buffers.queues[model.queue_of(variable)].push_back(Pending { variable, value, epoch });
        }
        Some(())
    }

    /// The oldest store of a queue reaches memory, if it may.
    fn drained(&self, thread: ThreadId, queue: usize) -> Option<(VarId, Config)> {
        require(!self.locked_out(thread))?;
        let smallest = self.buffers[thread.index()].buffered_epochs().first().copied()?;
        let mut after = self.clone();
        let oldest = after.buffers[thread.index()].queues[queue].pop_front()?;
        require(oldest.epoch == smallest)?;
        after.memory[oldest.variable.index()] = oldest.value;
        after.buffers[thread.index()].normalise();
        Some((oldest.variable, after))
    }

    /// Whether another thread holds the lock.
    fn locked_out(&self, thread: ThreadId) -> bool {
        self.holder.is_some_and(|holder| holder != thread)
    }

    fn eval(&self, thread: ThreadId, expr: &Expr<RegId>) -> Option<Int> {
        expr.eval(&|register| self.registers[thread.index()][register.index()].clone()).ok()
    }

    fn holds(&self, thread: ThreadId, cond: &Cond<RegId>) -> Option<bool> {
        cond.eval(&|register| self.registers[thread.index()][register.index()].clone()).ok()
    }
}

fn require(condition: bool) -> Option<()> {
    condition.then_some(())
}

/// The values to try for a choice.
fn values(domain: &Domain, candidates: &[Int]) -> Vec<Int> {
    match domain {
        Domain::All => candidates.to_vec(),
        Domain::Range(low, high) => {
            let up = |value: &Int| Some(value + 1);
            std::iter::successors(Some(low.clone()), up).take_while(|value| value <= high).collect()
        }
    }
}
