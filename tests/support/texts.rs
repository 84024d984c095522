//! Random programs as texts of the `.fw` language, from a seed.
//!
//! A program starts as two threads that store and load. On top of that, each of the [`FEATURES`]
//! is added to its share of the programs: a few statements that use it, somewhere in a thread. So
//! every feature meets every other, programs stay small, and `tests/semantics/generator.rs` can count. Nothing
//! keeps numbers or store buffers small: counters and stores stand in endless loops.
//!
//! `generate(seed)` always gives the same program; [`shrink`] makes the text of a failing one short.

mod claimed;
mod features;
mod make;
mod shrink;
mod tree;

pub use features::FEATURES;
pub use make::Maker;
pub use shrink::shrink;
pub use tree::{
    CELLS, Case, E, PAIR, PAIR_SIZE, REGISTERS, Root, S, SMALL, Step, Target, Updating, VARIABLES, Whole,
};

use claimed::claims;
use features::Addition::{Assumed, Initial, Statements};
use features::{
    ARRAY, FUNCTION, Feature, GRID, OWN, REFERENCE, STRUCT, constant, deterministic, load, simple,
};
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
    maker.shared_roots.extend(has(GRID).then_some(Root::Grid));
    if has(STRUCT) {
        let root = maker.pick(&Root::SHARED[1..]);
        maker.shared_roots.push(root);
    }
    if has(OWN) {
        maker.own_roots.push(maker.random.choice(Root::OWN).unwrap_or(Root::OwnCells));
    }
    maker.borrowers = if has(REFERENCE) { 2 } else { 0 };
    let (borrowers, functions) = (maker.borrowers(), maker.functions());
    let count = maker.pick(&[1, 2, 2, 2, 2, 2, 2, 2, 2, 3]);
    let mut threads: Vec<Vec<S>> = (0..count).map(|at| basic_thread(maker, at)).collect();
    let crossing = if maker.chance(60) { crossing(&threads) } else { None };
    let mut shared: Vec<String> = (0..VARIABLES).map(|v| format!("x{v}")).collect();
    if maker.cells {
        shared.push(format!("a[{CELLS}] = {{2, 0, 1}}"));
    }
    let mut assumed = Vec::new();
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
            Assumed(make) => {
                assumed.push(make(maker));
                for (at, variable) in shared[..VARIABLES].iter_mut().enumerate() {
                    if !variable.contains('=') {
                        *variable =
                            format!("x{at} = {}", maker.pick(&["any in 0..2", "any in -1..2", "any"]));
                    }
                }
            }
        }
    }
    let mut claims = claims(maker, &threads);
    claims.extend(assumed);
    claims.extend(crossing);
    let (declarations, locals) = declared(maker);
    Whole { shared, declarations, locals, functions, borrowers, threads, claims }
}

/// What the arrays and structs are declared as, outside threads and inside of each.
fn declared(maker: &Maker) -> (Vec<String>, Vec<String>) {
    let mut roots = maker.shared_roots.iter().chain(&maker.own_roots);
    let pair = roots.any(|root| root.declared().starts_with("Pair"));
    let shared = maker.shared_roots.iter().map(|root| format!("shared {};", root.declared()));
    let locals = maker.own_roots.iter().map(|root| format!("let {};", root.declared())).collect();
    (pair.then(|| PAIR.to_string()).into_iter().chain(shared).collect(), locals)
}

/// What the front end makes of a text.
pub fn read(text: &str) -> Result<Program, Vec<Diagnostic>> {
    let fw = FRONTENDS.iter().find(|frontend| frontend.name == "fw").expect("registered");
    (fw.read)(Source::new("random.fw", text), &Options::default()).map(|parsed| parsed.program)
}

/// Whether all that is wrong with a text is what random texts may get wrong: constants that are
/// refused while reading, and sections that `never deadlock` cannot look into.
pub fn is_refused_for_constants(errors: &[Diagnostic]) -> bool {
    let known = [
        "outside the array",
        "divides by zero",
        "places has no meaning",
        "may get stuck here",
        "dividing by a variable",
        "inside an atomic section never ends",
    ];
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
