//! What an exploration says of threads and memory at one time ([`super::reached`]).
//!
//! Going backwards asks for states that no run reaches, and for whatever leads to them, and so on: most of the work,
//! unless a state that asks for two things that never come together is left out at once. States that the view
//! reaches are, with what is on its way drained, states that the model reaches. So two threads stand where they
//! do at one time only if they do so in a state in which nothing is buffered, or somebody is inside an atomic
//! section and drains have to wait. Where the view has no queues, the same goes for a thread and memory; where it
//! has, memory is that of any state.

use super::StoreFlow;
use super::behaviour::Behaviours;
use super::element::Demand;
use super::reached::ReachedForwards;
use program::VarId;
use rustc_hash::FxHashSet;

/// Pairs that come together.
pub(super) struct Joint {
    threads: usize,
    variables: usize,
    /// By two threads: their states.
    states: Vec<FxHashSet<(u16, u16)>>,
    /// By thread and variable: a state and a value.
    memory: Vec<FxHashSet<(u16, u16)>>,
}

impl Joint {
    /// What was reached, in numbers.
    pub(super) fn of(reached: &ReachedForwards, behaviours: &Behaviours, flow: StoreFlow) -> Option<Joint> {
        let (threads, variables) = (reached.states.len(), reached.values.len());
        let numbers = |thread: usize| -> Option<Vec<u16>> {
            let states = reached.states[thread].iter();
            states.map(|state| behaviours.threads[thread].named_by(state)).collect()
        };
        let numbers: Vec<Vec<u16>> = (0..threads).map(numbers).collect::<Option<_>>()?;
        let mut joint = Joint { threads, variables, states: Vec::new(), memory: Vec::new() };
        for (at, pairs) in reached.together.iter().enumerate() {
            let (first, second) = (&numbers[at / threads], &numbers[at % threads]);
            let pair = |(a, b): &(u32, u32)| (first[*a as usize], second[*b as usize]);
            joint.states.push(pairs.iter().map(pair).collect());
        }
        let memory = if flow == StoreFlow::PerVariable { &reached.memory } else { &reached.settled };
        for (at, pairs) in memory.iter().enumerate() {
            let (thread, variable) = (at / variables, VarId::new(at % variables));
            let pair = |(state, value): &(u32, i64)| {
                Some((numbers[thread][*state as usize], behaviours.values.fact(variable, *value)?.1))
            };
            joint.memory.push(pairs.iter().map(pair).collect::<Option<_>>()?);
        }
        Some(joint)
    }

    /// Whether what is demanded of threads of the program and of memory may be at one time.
    pub(super) fn allows(&self, behaviours: &Behaviours, demand: &Demand) -> bool {
        let demanded = |thread: &usize| {
            let state = demand.states[*thread];
            state != 0 && behaviours.threads[*thread].is_real(state)
        };
        (0..self.threads).filter(demanded).all(|first| {
            let state = demand.states[first];
            let fits = |second: usize| {
                self.states[first * self.threads + second].contains(&(state, demand.states[second]))
            };
            let holds = |variable: usize| {
                let value = demand.memory[variable];
                value == 0 || self.memory[first * self.variables + variable].contains(&(state, value))
            };
            (first + 1..self.threads).filter(demanded).all(fits) && (0..self.variables).all(holds)
        })
    }
}
