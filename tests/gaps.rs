//! The gap abstraction covers every concrete run. Random programs start with *any* values; the
//! normal forms reached are collected, and then concrete runs from random values far apart
//! must never leave them.

#[path = "support/random.rs"]
mod random;

use fastrand::Rng;
use machine::{Exact, GapStepper, MODELS, Model, State, StateSet};
use program::{Arith, Domain, Expr, Op, Program, RegId};

const MOST_STATES: usize = 4_000;

/// All normal forms reached; `None` if there are too many, or a step is not of the right kind.
fn normal_forms(steps: &mut GapStepper<'_, '_>) -> Option<StateSet> {
    let mut set = StateSet::new();
    let mut stack = steps.initial();
    let mut packed = Vec::new();
    let mut doubted = false;
    while let Some(state) = stack.pop() {
        packed.clear();
        state.pack(&mut packed);
        // Buffers may grow without end; three stores a thread are enough to see something.
        let long = steps.stepper.longest_queue(&state) > 3;
        if !set.insert(&packed, None).ok()?.1 || long {
            continue;
        }
        steps.prepare(&state);
        steps.successors(&state, |_| doubted = true, |_, _, next| stack.push(next.clone()));
        if doubted || set.len() > MOST_STATES {
            return None;
        }
    }
    Some(set)
}

/// Walks at random from random values; the first state outside the set, if there is one.
fn escape(steps: &mut GapStepper<'_, '_>, set: &StateSet, rng: &mut Rng) -> Option<State> {
    let gaps = steps.gaps();
    let mut state = steps.stepper.initial().0.into_iter().next()?;
    let variables = state.values.len().min(program_variables(steps));
    for value in &mut state.values[..variables] {
        *value = if rng.bool() { rng.i64(-4..5) } else { rng.i64(-1000..1000) };
    }
    for _ in 0..60 {
        let mut normal = state.clone();
        gaps.normalise(&mut normal.values);
        let mut packed = Vec::new();
        normal.pack(&mut packed);
        if !set.contains(&packed) {
            return Some(state);
        }
        if steps.stepper.longest_queue(&state) > 3 {
            return None;
        }
        steps.prepare(&state);
        let mut next = Vec::new();
        let visit = |_, _, state: &State| next.push(state.clone());
        steps.stepper.successors(&state, &mut State::default(), |_| {}, visit);
        state = rng.choice(next)?;
    }
    None
}

fn program_variables(steps: &GapStepper<'_, '_>) -> usize {
    machine::Machine::program(steps.stepper.machine()).variables.len()
}

/// Whether the abstraction could be judged on a program, and if so that nothing escapes.
fn check(program: &Program, model: Model, precision: i64, rng: &mut Rng) -> bool {
    let machine = Exact::new(program, model);
    let Ok(mut steps) = GapStepper::new(&machine, precision) else { return false };
    let Some(set) = normal_forms(&mut steps) else { return false };
    for _ in 0..20 {
        if let Some(state) = escape(&mut steps, &set, rng) {
            panic!("{state:?} is not covered under {}:\n{}", model.name(), program::print(program));
        }
    }
    true
}

fn without_remainders(op: &Op) -> Op {
    let mend = |value: &Expr<RegId>| match value {
        Expr::Binary(Arith::Rem, of, _) => (**of).clone(),
        other => other.clone(),
    };
    match op {
        Op::Assign(register, value) => Op::Assign(*register, mend(value)),
        Op::Store(variable, value) => Op::Store(*variable, mend(value)),
        Op::Block { locked, parts } => {
            Op::Block { locked: *locked, parts: parts.iter().map(without_remainders).collect() }
        }
        other => other.clone(),
    }
}

#[test]
fn concrete_runs_stay_within_the_normal_forms() {
    let mut rng = Rng::with_seed(11);
    let (mut judged, mut wide) = (0, 0);
    for seed in 0..1200 {
        let sketch = random::sketch(seed);
        // Half of them count without end instead of modulo something.
        let sketch = if seed % 2 == 0 { sketch } else { sketch.map_ops(&without_remainders) };
        let mut program = sketch.build();
        program.variables.iter_mut().for_each(|variable| variable.initial = Domain::All);
        let model = MODELS[rng.usize(0..MODELS.len())];
        let precision = rng.i64(0..3);
        if check(&program, model, precision, &mut rng) {
            judged += 1;
            wide += usize::from(program.variables.len() > 1);
        }
    }
    assert!(judged > 200 && wide > 100, "{judged} programs were judged, {wide} with several variables");
}
