//! Random programs for robustness where stores overtake stores: a writer and a second delaying thread that goes on only
//! when it has seen the writer's flag, and one that looks at what both have stored, mostly in one indivisible step.
//!
//! In some of them both threads have to delay a store; fences, the order of accesses and what the indivisible step
//! waits for are left to chance.

use super::chains::{arw, is, read, write};
use super::{Random, Sketch, SketchStmt, ThreadDraft};
use program::{Cond, Fence, Op, RegId, Span, VarId, Variable};

/// What the two threads store, the flag, and what hands the chain on.
const WRITERS: usize = 0;
const SECONDS: usize = 1;
const FLAG: usize = 2;
const HANDED: usize = 3;
const NAMES: [&str; 4] = ["x", "y", "flag", "z"];

/// The random program of a seed, before it is lowered.
pub fn overtaking_sketch(seed: u64) -> Sketch {
    let mut random = Random::new(seed);
    random.variables = NAMES.len();
    // Sometimes both store the same variable.
    let seconds = if random.chance(25) { WRITERS } else { SECONDS };
    let mut threads = vec![writer(&mut random), second(&mut random, seconds), looker(&mut random, seconds)];
    random.rng.shuffle(&mut threads);
    let variables = NAMES.iter().map(|name| Variable::new(*name, Span::NONE)).collect();
    let name = format!("overtaking, seed {seed}");
    Sketch { name, variables, starts: Vec::new(), threads, claims: Vec::new() }
}

/// Perhaps a fence, perhaps some other statement.
fn between(random: &mut Random, body: &mut Vec<SketchStmt>) {
    match random.below(12) {
        0 => body.push(SketchStmt::Do(Op::Fence(Fence::Full))),
        1 => body.push(SketchStmt::Do(Op::Fence(Fence::Store))),
        2 => {
            let variable = random.any_variable().index();
            body.push(write(variable, 2));
        }
        3 => {
            let variable = random.any_variable().index();
            body.push(read(2, variable));
        }
        _ => {}
    }
}

fn writer(random: &mut Random) -> ThreadDraft {
    let mut body = vec![write(WRITERS, 2)];
    between(random, &mut body);
    body.push(write(FLAG, 1));
    ThreadDraft { registers: 3, body }
}

fn second(random: &mut Random, stored: usize) -> ThreadDraft {
    let mut body = vec![write(stored, 1), read(0, FLAG)];
    let mut goes_on = Vec::new();
    between(random, &mut goes_on);
    goes_on.push(if random.chance(60) { read(1, HANDED) } else { write(HANDED, 3) });
    body.push(SketchStmt::If(is(0, 1), goes_on, Vec::new()));
    ThreadDraft { registers: 3, body }
}

fn looker(random: &mut Random, seconds: usize) -> ThreadDraft {
    let value = i64::from(random.chance(30));
    let hands = if random.chance(75) { write(HANDED, 1) } else { read(2, HANDED) };
    let looks = |at: usize| vec![read(0, seconds), read(1, WRITERS)].swap_remove(at);
    let found = |register| is(register, 0);
    let body = match random.below(5) {
        // Only if nothing has arrived.
        0 => {
            let both = Cond::and([found(0), found(1)]);
            let hands = SketchStmt::If(both, vec![hands], Vec::new());
            vec![SketchStmt::Atomic(vec![looks(0), looks(1), hands])]
        }
        1 => {
            let deeper = SketchStmt::If(found(1), vec![hands], Vec::new());
            let nested = SketchStmt::If(found(0), vec![looks(1), deeper], Vec::new());
            vec![SketchStmt::Atomic(vec![looks(0), nested])]
        }
        // Waits for a value that may never come again.
        2 => vec![hands, SketchStmt::Do(Op::Fence(Fence::Full)), arw(0, seconds, value, 3)],
        3 => {
            let loads = [WRITERS, seconds]
                .map(|variable| Op::Load(RegId::new(usize::from(variable == seconds)), VarId::new(variable)));
            let parts = [loads.to_vec(), vec![Op::Assume(Cond::and([found(0), found(1)]))]].concat();
            vec![hands, SketchStmt::Do(Op::together(parts))]
        }
        _ => vec![hands, looks(0), looks(1)],
    };
    ThreadDraft { registers: 3, body }
}
