//! Random programs as texts of the `.fw` language, from a seed.
//!
//! A program starts as two threads that store and load. On top of that, each of the [`FEATURES`]
//! is added to its share of the programs: a few statements that use it, somewhere in a thread. So
//! every feature meets every other, programs stay small, and `tests/semantics/generator.rs` can count. Nothing
//! keeps numbers or store buffers small: counters and stores stand in endless loops.
//!
//! `generate(seed)` always gives the same program; [`shrink`] makes the text of a failing one short.

// Every test binary includes this file and uses its own part of it.
#![allow(dead_code, unused_imports)]

mod features;
mod make;
mod shrink;
mod tree;

pub use features::FEATURES;
pub use make::Maker;
pub use shrink::shrink;
pub use tree::{CELLS, E, REGISTERS, S, Target, VARIABLES, Whole};

use features::Addition::{Initial, Statements};
use features::{ARRAY, FUNCTION, Feature, constant, deterministic, load, simple};
use frontend::{Diagnostic, FRONTENDS, Options};
use program::{Program, Source};

/// The program of a seed.
pub fn generate(seed: u64) -> Whole {
    let maker = &mut Maker::new(seed, 2);
    // Half of the programs have three times as much as the others: shares are as they are stated, and
    // there are many with one or two features, which engines decide.
    let halves = if maker.random.bool() { 3 } else { 1 };
    let chosen: Vec<&Feature> =
        FEATURES.iter().filter(|feature| maker.chance((feature.share * halves).div_ceil(2))).collect();
    let has = |name: &str| chosen.iter().any(|feature| feature.name == name);
    maker.cells = has(ARRAY);
    maker.functions = if has(FUNCTION) { 2 } else { 0 };
    let functions = maker.functions();
    let count = maker.pick(&[1, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
    let mut threads: Vec<Vec<S>> = (0..count).map(|at| basic_thread(maker, at)).collect();
    let crossing = if maker.chance(60) { crossing(&threads) } else { None };
    let mut shared: Vec<String> = (0..VARIABLES).map(|v| format!("x{v}")).collect();
    if maker.cells {
        shared.push(format!("a[{CELLS}] = {{2, 0, 1}}"));
    }
    for feature in &chosen {
        match feature.add {
            Statements(make) => {
                let statements = make(maker);
                let thread = maker.random.usize(..count);
                insert(maker, &mut threads[thread], statements);
            }
            Initial(make) => {
                // The first of a random order that does not start somewhere else already.
                let first = maker.variable();
                let free =
                    (0..VARIABLES).map(|at| (first + at) % VARIABLES).find(|at| !shared[*at].contains('='));
                if let Some(at) = free {
                    shared[at] = format!("x{at} = {}", make(maker));
                }
            }
        }
    }
    let mut claims = claims(maker, &threads);
    claims.extend(crossing);
    Whole { shared, functions, threads, claims }
}

/// What the front end makes of a text.
pub fn read(text: &str) -> Result<Program, Vec<Diagnostic>> {
    let fw = FRONTENDS.iter().find(|frontend| frontend.name == "fw").expect("registered");
    (fw.read)(Source::new("random.fw", text), &Options::default()).map(|parsed| parsed.program)
}

/// Whether all that is wrong with a text is what random texts may get wrong: constants that are
/// refused while reading.
pub fn is_refused_for_constants(errors: &[Diagnostic]) -> bool {
    let known = ["outside the array", "divides by zero"];
    errors.iter().all(|error| known.iter().any(|message| error.message.contains(message)))
}

/// Mostly what tells the models apart: a store, and a load of something else behind it.
fn basic_thread(maker: &mut Maker, at: usize) -> Vec<S> {
    let mine = if maker.chance(75) { at % VARIABLES } else { maker.variable() };
    let mut body = vec![S::Store(Target::Variable(mine), constant(maker))];
    if maker.chance(70) {
        body.push(load(maker.register(), (mine + 1) % VARIABLES));
    }
    for _ in 0..maker.pick(&[0, 0, 1, 1, 2]) {
        let statement = simple(maker);
        let place = maker.random.usize(..=body.len());
        body.insert(place, statement);
    }
    body
}

/// What weak memory breaks: that one of the first two threads saw the other's store. Says nothing
/// where they do not load.
fn crossing(threads: &[Vec<S>]) -> Option<String> {
    let seen = |at: usize| {
        let load = |s: &S| if let S::Register(register, E::Variable(_)) = s { Some(*register) } else { None };
        let register = threads.get(at)?.iter().find_map(load)?;
        Some(format!("P{at}.r{register} == 0"))
    };
    Some(format!("finally !({} && {});", seen(0)?, seen(1)?))
}

/// Puts statements somewhere, into branches and loops as well, but not into sections: they might be
/// one themselves.
fn insert(maker: &mut Maker, body: &mut Vec<S>, statements: Vec<S>) {
    let count = |wanted: fn(&S) -> bool, before: usize| body[..before].iter().filter(|s| wanted(s)).count();
    let outside = |at: &usize| count(|s| matches!(s, S::Lock), *at) == count(|s| matches!(s, S::Unlock), *at);
    let places: Vec<usize> = (0..=body.len()).filter(outside).collect();
    let at = maker.pick(&places);
    match body.get_mut(at) {
        Some(S::If(_, inner, _) | S::While(_, inner) | S::Loop(inner)) if maker.chance(50) => {
            insert(maker, inner, statements);
        }
        _ => drop(body.splice(at..at, statements)),
    }
}

/// Puts a feature somewhere that leaves a thread with one run.
pub fn insert_deterministic(maker: &mut Maker, body: &mut Vec<S>) {
    let statements = deterministic(maker);
    insert(maker, body, statements);
}

/// Up to two properties of memory, registers and places.
fn claims(maker: &mut Maker, threads: &[Vec<S>]) -> Vec<String> {
    let one = |maker: &mut Maker| {
        let parts: Vec<String> = (0..maker.pick(&[1, 2, 2, 3, 3])).map(|_| part(maker, threads)).collect();
        match maker.chance(60) {
            true => format!("never {};", parts.join(" && ")),
            false => format!("finally !({});", parts.join(" && ")),
        }
    };
    (0..maker.pick(&[0, 1, 1, 2])).map(|_| one(maker)).collect()
}

fn part(maker: &mut Maker, threads: &[Vec<S>]) -> String {
    let thread = maker.random.usize(..threads.len());
    let mut labels = Vec::new();
    collect_labels(&threads[thread], &mut labels);
    let left = match maker.random.usize(..3) {
        0 if !labels.is_empty() => return format!("P{thread}@l{}", maker.pick(&labels)),
        1 => format!("P{thread}.r{}", maker.register()),
        _ => format!("x{}", maker.variable()),
    };
    let right = if maker.chance(80) { constant(maker).text() } else { format!("x{}", maker.variable()) };
    format!("{left} {} {right}", maker.relation().sign())
}

fn collect_labels(body: &[S], found: &mut Vec<usize>) {
    for statement in body {
        if let S::Label(label) = statement {
            found.push(*label);
        }
        statement.bodies().into_iter().for_each(|inner| collect_labels(inner, found));
    }
}
