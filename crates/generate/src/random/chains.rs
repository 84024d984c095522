//! Random programs for robustness: a store and a load behind it, and two or three other threads
//! that may or may not lead from what is loaded back to what is stored.
//!
//! Each of the others takes the chain over at one variable and hands it on at the next; how it
//! does that (in order or not, on a condition, in an atomic section, under a lock, with something
//! in between) is left to chance, and so is whether reads and writes conflict at all. So about
//! half of these programs are robust, and the chains of the others pass through several threads.

use super::{Random, Sketch, SketchStmt, ThreadDraft};
use program::{Cond, Fence, Op, RegId, Relation, Span, VarId, Variable};

/// The stored variable, the loaded one, those that hand the chain on, and a lock.
const STORED: usize = 0;
const LOADED: usize = 1;
const NAMES: [&str; 5] = ["x", "y", "z", "w", "lock"];
const LOCK: usize = 4;

/// The random program of a seed, before it is lowered.
pub fn chain_sketch(seed: u64) -> Sketch {
    let mut random = Random::new(seed);
    random.variables = LOCK;
    let helpers = random.pick(&[1, 2, 2, 2, 2, 3]);
    let mut threads = vec![attacker(&mut random)];
    // From the loaded variable over others to the stored one.
    let handed: Vec<usize> = [vec![LOADED], (2..=helpers).collect(), vec![STORED]].concat();
    threads.extend(handed.windows(2).map(|pair| helper(&mut random, pair[0], pair[1])));
    random.rng.shuffle(&mut threads);
    let variables = NAMES.iter().map(|name| Variable::new(*name, Span::NONE)).collect();
    Sketch { name: format!("chain, seed {seed}"), variables, starts: Vec::new(), threads, claims: Vec::new() }
}

pub(super) fn write(variable: usize, value: i64) -> SketchStmt {
    SketchStmt::Do(Op::Store(VarId::new(variable), value.into()))
}

pub(super) fn read(register: usize, variable: usize) -> SketchStmt {
    SketchStmt::Do(Op::Load(RegId::new(register), VarId::new(variable)))
}

pub(super) fn is(register: usize, value: i64) -> Cond<RegId> {
    Cond::compare(Relation::Eq, RegId::new(register), value)
}

/// A locked step that is only possible when it finds a value, in the place of which it stores another one.
pub(super) fn arw(register: usize, variable: usize, found: i64, stored: i64) -> SketchStmt {
    let (into, variable) = (RegId::new(register), VarId::new(variable));
    let load = Op::Load(into, variable);
    SketchStmt::Do(Op::locked(vec![
        load,
        Op::Assume(is(register, found)),
        Op::Store(variable, stored.into()),
    ]))
}

fn attacker(random: &mut Random) -> ThreadDraft {
    let mut body = vec![write(STORED, 1)];
    match random.below(12) {
        0 => body.push(SketchStmt::Do(Op::Fence(Fence::Full))),
        1 => body.push(SketchStmt::Do(Op::locked(vec![Op::Load(RegId::new(1), VarId::new(LOCK))]))),
        2 => body.push(write(LOADED, 2)),
        3 => body.push(read(1, STORED)),
        4 => body.push(write(2, 1)),
        _ => {}
    }
    body.push(read(0, LOADED));
    if random.chance(15) {
        // The load that matters comes after one that others must have answered.
        body.push(SketchStmt::If(is(0, 1), vec![read(1, 2)], Vec::new()));
    }
    ThreadDraft { registers: 3, body: under_lock(random, body, 10) }
}

/// A thread that takes the chain over at one variable and hands it on at another.
fn helper(random: &mut Random, from: usize, to: usize) -> ThreadDraft {
    // What was loaded can only be overwritten; what a helper wrote can also be read.
    let takes_by_writing = random.chance(if from == LOADED { 90 } else { 35 });
    let hands_by_writing = random.chance(if to == STORED { 30 } else { 85 });
    let first = if takes_by_writing { write(from, 1) } else { read(0, from) };
    let second = if hands_by_writing { write(to, 2) } else { read(1, to) };
    let body = match random.below(10) {
        0 => vec![second, first],
        1 => vec![SketchStmt::Atomic(vec![first, second])],
        2 => vec![SketchStmt::Atomic(vec![second, first])],
        3 | 4 if !takes_by_writing => {
            let value = random.pick(&[0, 1, 1]);
            vec![first, SketchStmt::If(is(0, value), vec![second], Vec::new())]
        }
        5 => {
            let between = random.any_variable().index();
            vec![first, read(2, between), second]
        }
        6 => vec![first, SketchStmt::Do(Op::Fence(Fence::Full)), second],
        _ => vec![first, second],
    };
    ThreadDraft { registers: 3, body: under_lock(random, body, 15) }
}

/// Sometimes the whole body under the lock, given back by an ordinary store.
fn under_lock(random: &mut Random, mut body: Vec<SketchStmt>, percent: usize) -> Vec<SketchStmt> {
    if random.chance(percent) {
        body.insert(0, arw(2, LOCK, 0, 1));
        body.push(write(LOCK, 0));
    }
    body
}
