//! What the independent reference interpreter knows of a program without bounds.

use program::{Domain, Int, Op, Program};
use reference::{Config, ReferenceModel, initial, successors, violations};
use std::collections::{BTreeSet, VecDeque};

/// How many configurations are looked at.
const MOST_CONFIGS: usize = 600;
/// Longer queues are not followed.
const LONGEST_QUEUE: usize = 3;
/// Larger numbers are not followed: squares in a loop would fill the memory.
const MOST_BITS: u64 = 200;
/// What is tried where any integer may be chosen.
const CANDIDATES: [i64; 5] = [-1, 0, 1, 2, 7];

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Known {
    /// There is a violation.
    Violated,
    /// There is none: everything was explored.
    Safe,
    /// Something was left out, and no violation was met.
    Open,
}

/// Explores a program breadth first.
pub fn known(program: &Program, model: ReferenceModel) -> Known {
    let candidates = CANDIDATES.map(Int::from);
    let mut complete = !chooses_any_integer(program);
    let mut waiting = VecDeque::from(initial(program, model, &candidates));
    let mut seen: BTreeSet<Config> = waiting.iter().cloned().collect();
    while let Some(config) = waiting.pop_front() {
        if !violations(program, &config).is_empty() {
            return Known::Violated;
        }
        for (_, next) in successors(program, model, &config, &candidates) {
            if seen.contains(&next) {
                continue;
            }
            if seen.len() == MOST_CONFIGS || next.longest_queue() > LONGEST_QUEUE || is_large(&next) {
                complete = false;
                continue;
            }
            seen.insert(next.clone());
            waiting.push_back(next);
        }
    }
    if complete { Known::Safe } else { Known::Open }
}

fn chooses_any_integer(program: &Program) -> bool {
    let mut found = program.variables.iter().any(|variable| variable.initial == Domain::All);
    for edge in program.threads.iter().flat_map(|thread| thread.edges()) {
        edge.op.for_each_part(&mut |part| found |= matches!(part, Op::Havoc(_, Domain::All)));
    }
    found
}

fn is_large(config: &Config) -> bool {
    let buffered = config.buffers.iter().flat_map(|buffers| buffers.queues.iter().flatten());
    let mut values = config
        .memory
        .iter()
        .chain(config.registers.iter().flatten())
        .chain(buffered.map(|store| &store.value));
    values.any(|value| value.bits() > MOST_BITS)
}
