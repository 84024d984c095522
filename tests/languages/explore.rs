//! A slow and obvious explorer for tests: memory, one queue per thread, every interleaving.
//!
//! It knows nothing of the engines and shares no code with them. A queue holds stores and
//! marks left by store fences; under TSO its first store may drain, under PSO the first store
//! of each variable before the first mark. Values are 64-bit and checked.

#![allow(dead_code)]

use program::{Arith, Cond, Domain, Expr, Fence, Loc, Op, Place, Program, RegId, ThreadId};
use std::collections::{BTreeSet, HashSet};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    Sc,
    Tso,
    Pso,
}

impl Model {
    pub const ALL: [Model; 3] = [Model::Sc, Model::Tso, Model::Pso];

    pub fn name(self) -> &'static str {
        match self {
            Model::Sc => "sc",
            Model::Tso => "tso",
            Model::Pso => "pso",
        }
    }
}

/// A store that has not reached memory, or the mark of a store fence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Entry {
    Mark,
    Store(u32, i64),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct State {
    at: Vec<u32>,
    registers: Vec<i64>,
    memory: Vec<i64>,
    queues: Vec<Vec<Entry>>,
    holder: Option<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct Limits {
    pub states: usize,
    /// Longest queue; longer ones are cut off and reported.
    pub queue: usize,
    /// Take local steps first. Keeps final states, not the places threads stand at meanwhile.
    pub eager: bool,
}

#[derive(Debug, Default)]
pub struct Explored {
    pub finals: Vec<State>,
    pub states: usize,
    /// Whether some state satisfied the goal.
    pub found: bool,
    /// Whether a queue was cut off.
    pub capped: bool,
    /// Whether the number of states was too large.
    pub out_of_budget: bool,
}

pub struct Explorer<'a> {
    program: &'a Program,
    model: Model,
    /// Where each thread's registers start in a state.
    base: Vec<usize>,
    limits: Limits,
}

impl<'a> Explorer<'a> {
    pub fn new(program: &'a Program, model: Model, limits: Limits) -> Explorer<'a> {
        let mut base = vec![0];
        for thread in &program.threads {
            base.push(base[base.len() - 1] + thread.registers.len());
        }
        Explorer { program, model, base, limits }
    }

    fn initial(&self) -> Vec<State> {
        let threads = self.program.threads.len();
        let mut states = vec![State {
            at: vec![0; threads],
            registers: vec![0; self.base[threads]],
            memory: Vec::new(),
            queues: vec![Vec::new(); threads],
            holder: None,
        }];
        for variable in &self.program.variables {
            let choices = values(&variable.initial);
            states = states
                .iter()
                .flat_map(|state| {
                    choices.iter().map(|value| {
                        let mut next = state.clone();
                        next.memory.push(*value);
                        next
                    })
                })
                .collect();
        }
        states
    }

    /// Visits everything; stops early when `goal` holds somewhere.
    pub fn run(&self, goal: &dyn Fn(&State) -> bool) -> Explored {
        let mut explored = Explored::default();
        let mut seen: HashSet<State> = self.initial().into_iter().collect();
        let mut work: Vec<State> = seen.iter().cloned().collect();
        let mut next = Vec::new();
        while let Some(state) = work.pop() {
            if goal(&state) {
                explored.found = true;
                break;
            }
            if seen.len() > self.limits.states {
                explored.out_of_budget = true;
                break;
            }
            next.clear();
            self.successors(&state, &mut next, &mut explored.capped);
            let ended = |(t, at): (usize, &u32)| self.program.threads[t].is_end(Loc::new(*at as usize));
            if state.at.iter().enumerate().all(ended) && state.queues.iter().all(Vec::is_empty) {
                explored.finals.push(state);
            }
            for state in next.drain(..) {
                if seen.insert(state.clone()) {
                    work.push(state);
                }
            }
        }
        explored.states = seen.len();
        explored
    }

    /// All states with empty queues and a free lock; `None` if there are too many states.
    pub fn calm_states(&self) -> Option<HashSet<State>> {
        let calm = std::cell::RefCell::new(HashSet::new());
        let explored = self.run(&|state| {
            if state.queues.iter().all(Vec::is_empty) && state.holder.is_none() {
                calm.borrow_mut().insert(state.clone());
            }
            false
        });
        (!explored.out_of_budget).then(|| calm.into_inner())
    }

    fn successors(&self, state: &State, out: &mut Vec<State>, capped: &mut bool) {
        if self.limits.eager {
            for thread in 0..state.at.len() {
                if self.only_local_steps(state, thread) {
                    return self.thread_steps(state, thread, out, capped);
                }
            }
        }
        for thread in 0..state.at.len() {
            self.thread_steps(state, thread, out, capped);
            if state.holder.is_none_or(|holder| holder == thread as u32) {
                self.drains(state, thread, out);
            }
        }
    }

    fn only_local_steps(&self, state: &State, thread: usize) -> bool {
        let mut edges = self.program.threads[thread].outgoing(Loc::new(state.at[thread] as usize)).peekable();
        let buffered =
            |op: &Op| matches!(op, Op::Store(..)) && self.model != Model::Sc && state.holder.is_none();
        edges.peek().is_some() && edges.all(|(_, edge)| edge.op.is_local() || buffered(&edge.op))
    }

    fn drains(&self, state: &State, thread: usize, out: &mut Vec<State>) {
        let mut met = HashSet::new();
        for (at, entry) in state.queues[thread].iter().enumerate() {
            let Entry::Store(variable, value) = *entry else { break };
            if met.insert(variable) {
                let mut next = state.clone();
                next.queues[thread].remove(at);
                while next.queues[thread].first() == Some(&Entry::Mark) {
                    next.queues[thread].remove(0);
                }
                next.memory[variable as usize] = value;
                out.push(next);
            }
            if self.model != Model::Pso {
                break;
            }
        }
    }

    fn thread_steps(&self, state: &State, thread: usize, out: &mut Vec<State>, capped: &mut bool) {
        for (_, edge) in self.program.threads[thread].outgoing(Loc::new(state.at[thread] as usize)) {
            let from = out.len();
            self.op(state, thread, &edge.op, out, capped);
            for next in &mut out[from..] {
                next.at[thread] = edge.to.index() as u32;
            }
        }
    }

    fn op(&self, state: &State, thread: usize, op: &Op, out: &mut Vec<State>, capped: &mut bool) {
        let me = Some(thread as u32);
        let others_hold = state.holder.is_some() && state.holder != me;
        let empty = state.queues[thread].is_empty();
        match op {
            Op::Havoc(register, domain) => {
                for value in values(domain) {
                    let mut next = state.clone();
                    next.registers[self.base[thread] + register.index()] = value;
                    out.push(next);
                }
            }
            Op::Fence(Fence::Full) if !empty => {}
            Op::Fence(Fence::Store) if !empty => {
                let mut next = state.clone();
                if next.queues[thread].last() != Some(&Entry::Mark) {
                    next.queues[thread].push(Entry::Mark);
                }
                out.push(next);
            }
            Op::Lock if !empty || state.holder.is_some() => {}
            Op::Lock => out.push(State { holder: me, ..state.clone() }),
            Op::Unlock => out.push(State { holder: None, ..state.clone() }),
            Op::Block { locked, parts } => {
                if others_hold || (*locked && (!empty || state.holder.is_some())) {
                    return;
                }
                let mut next = state.clone();
                if parts.iter().all(|part| self.simple(&mut next, thread, part, *locked)) {
                    out.push(next);
                }
            }
            Op::Load(..) if others_hold => {}
            Op::Store(..) if others_hold && self.model == Model::Sc => {}
            Op::Store(..) if state.queues[thread].len() >= self.limits.queue => *capped = true,
            plain => {
                let mut next = state.clone();
                if self.simple(&mut next, thread, plain, state.holder == me) {
                    out.push(next);
                }
            }
        }
    }

    /// Does one operation in place; whether it was possible. `direct` stores skip the queue.
    fn simple(&self, state: &mut State, thread: usize, op: &Op, direct: bool) -> bool {
        let base = self.base[thread];
        let eval = |state: &State, e: &Expr<RegId>| number(e, &|r| state.registers[base + r.index()]);
        match op {
            Op::Skip | Op::Fence(_) => {}
            Op::Assign(register, value) => state.registers[base + register.index()] = eval(state, value),
            Op::Assume(cond) => return truth(cond, &|r| state.registers[base + r.index()]),
            Op::Load(register, variable) => {
                let own = state.queues[thread].iter().rev().find_map(|entry| match entry {
                    Entry::Store(v, value) if *v as usize == variable.index() => Some(*value),
                    _ => None,
                });
                state.registers[base + register.index()] = own.unwrap_or(state.memory[variable.index()]);
            }
            Op::Store(variable, value) => {
                let value = eval(state, value);
                if direct || self.model == Model::Sc {
                    state.memory[variable.index()] = value;
                } else {
                    self.enqueue(&mut state.queues[thread], variable.index() as u32, value);
                }
            }
            other => panic!("not part of a block: {other:?}"),
        }
        true
    }

    /// Under PSO the order between variables means nothing, so stores are kept sorted by it.
    fn enqueue(&self, queue: &mut Vec<Entry>, variable: u32, value: i64) {
        let mut at = queue.len();
        if self.model == Model::Pso {
            while at > 0 && matches!(queue[at - 1], Entry::Store(v, _) if v > variable) {
                at -= 1;
            }
        }
        queue.insert(at, Entry::Store(variable, value));
    }

    /// What a property sees of a place.
    pub fn place(&self, state: &State, place: &Place) -> i64 {
        match *place {
            Place::At(thread, loc) => i64::from(state.at[thread.index()] as usize == loc.index()),
            Place::Register(thread, register) => self.register(state, thread, register),
            Place::Memory(variable) => state.memory[variable.index()],
            Place::Drained(thread) => i64::from(state.queues[thread.index()].is_empty()),
        }
    }

    fn register(&self, state: &State, thread: ThreadId, register: RegId) -> i64 {
        state.registers[self.base[thread.index()] + register.index()]
    }

    /// The final states over the observed places, as `name=value;` items.
    pub fn outcomes(&self, explored: &Explored) -> BTreeSet<Vec<String>> {
        let Some(question) = &self.program.question else { return BTreeSet::new() };
        let item =
            |state: &State, (name, place): &(String, Place)| format!("{name}={};", self.place(state, place));
        let listed = |state: &State| -> Vec<String> {
            let mut items: Vec<String> = question.observed.iter().map(|o| item(state, o)).collect();
            items.sort();
            items
        };
        explored.finals.iter().map(listed).collect()
    }
}

/// Whether a condition holds.
pub fn truth<L>(cond: &Cond<L>, leaf: &dyn Fn(&L) -> i64) -> bool {
    match cond {
        Cond::Const(value) => *value,
        Cond::Compare(relation, a, b) => relation.holds(&number(a, leaf), &number(b, leaf)),
        Cond::And(parts) => parts.iter().all(|part| truth(part, leaf)),
        Cond::Or(parts) => parts.iter().any(|part| truth(part, leaf)),
    }
}

fn number<L>(expr: &Expr<L>, leaf: &dyn Fn(&L) -> i64) -> i64 {
    match expr {
        Expr::Const(value) => i64::try_from(value).expect("tests use 64-bit values"),
        Expr::Leaf(l) => leaf(l),
        Expr::Binary(op, a, b) => {
            let (a, b) = (number(a, leaf), number(b, leaf));
            let result = match op {
                Arith::Add => a.checked_add(b),
                Arith::Sub => a.checked_sub(b),
                Arith::Mul => a.checked_mul(b),
                Arith::Div => a.checked_div(b),
                Arith::Rem => a.checked_rem(b),
                Arith::And => Some(a & b),
                Arith::Or => Some(a | b),
                Arith::Xor => Some(a ^ b),
            };
            result.expect("tests use 64-bit values")
        }
    }
}

fn values(domain: &Domain) -> Vec<i64> {
    match domain {
        Domain::All => panic!("the explorer needs finite choices"),
        Domain::Range(low, high) => {
            let end = |value| i64::try_from(value).expect("tests use 64-bit values");
            (end(low)..=end(high)).collect()
        }
    }
}
