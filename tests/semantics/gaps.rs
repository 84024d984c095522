//! The gap abstraction covers every concrete run. Random programs start with *any* values; the
//! normal forms reached are collected, and then concrete runs from random values far apart
//! must never leave them.

use support::random;

use engine::{Engine, GapProofs, Run};
use evidence::{Certificate, ClosedSet, Form, Ignore, Listed, Task, Verdict, check_file, write_evidence};
use fastrand::Rng;
use machine::{Buffered, DataDomain, GapStepper, Gaps, MODELS, Model, PSO, SC, State, StateSet, TSO};
use program::{Arith, Domain, Expr, Op, Program, RegId, Source};
use std::io::{BufRead, Cursor};

const MOST_STATES: usize = 4_000;

/// All normal forms reached; `None` if there are too many, or a step is not of the right kind.
fn normal_forms(steps: &mut GapStepper<'_, Buffered<'_>>) -> Option<StateSet> {
    let mut set = StateSet::new();
    let (initial, doubts) = steps.initial();
    let (mut stack, mut next) = (initial.collect::<Vec<State>>(), State::default());
    let (mut packed, mut doubted) = (Vec::new(), !doubts.is_empty());
    while let Some(state) = stack.pop().filter(|_| !doubted) {
        packed.clear();
        state.pack(&mut packed);
        // Buffers may grow without end; three stores a thread are enough to see something.
        let long = steps.stepper().longest_queue(&state) > 3;
        if !set.insert(&packed, None).ok()?.1 || long {
            continue;
        }
        steps.stepper_mut().prepare(&state);
        steps.successors(&state, &mut next, |_| doubted = true, |_, _, next| stack.push(next.clone()));
        if doubted || set.len() > MOST_STATES {
            return None;
        }
    }
    (!doubted).then_some(set)
}

/// Walks at random from random values; the first state outside the set, if there is one.
fn escape(steps: &mut GapStepper<'_, Buffered<'_>>, set: &StateSet, rng: &mut Rng) -> Option<State> {
    let gaps = steps.gaps();
    let mut state = steps.stepper_mut().initial().0.next()?;
    let variables = state.values.len().min(program_variables(steps));
    for value in &mut state.values[..variables] {
        *value = if rng.bool() { rng.i64(-4..5) } else { rng.i64(-1000..1000) };
    }
    if !machine::Machine::program(steps.stepper().machine()).may_start(&|v| state.values[v.index()].into()) {
        return None;
    }
    for _ in 0..60 {
        let mut normal = state.clone();
        gaps.normalise(&mut normal.values);
        let mut packed = Vec::new();
        normal.pack(&mut packed);
        if !set.contains(&packed) {
            return Some(state);
        }
        if steps.stepper().longest_queue(&state) > 3 {
            return None;
        }
        steps.stepper_mut().prepare(&state);
        let mut next = Vec::new();
        let visit = |_, _, state: &State| next.push(state.clone());
        steps.stepper().successors(&state, &mut State::default(), |_| {}, visit);
        state = rng.choice(next)?;
    }
    None
}

fn program_variables(steps: &GapStepper<'_, Buffered<'_>>) -> usize {
    machine::Machine::program(steps.stepper().machine()).variables.len()
}

/// Whether the abstraction could be judged on a program, and if so that nothing escapes.
fn check(program: &Program, model: Model, precision: i64, rng: &mut Rng) -> bool {
    let machine = Buffered::exact(program, model);
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
    for seed in 0..random::seeds() {
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
    assert!(judged > 100 && wide > 50, "{judged} programs were judged, {wide} with several variables");
}

/// A corpus program with its gap certificate.
fn proved(name: &str, model: Model) -> (Program, Gaps, ClosedSet) {
    let path = support::root().join(format!("corpus/{name}.fw"));
    let text = std::fs::read_to_string(path).expect("part of the corpus");
    let frontend = frontend::choose(Some("fw"), name, &text).expect("known");
    let program = (frontend.read)(Source::new(name, text), &Default::default()).expect("valid").program;
    match GapProofs.verify(&Task::safe(&program, model), &Run::default()).verdict {
        Verdict::Safe(Certificate::Listed(Listed { gaps: Some(gaps), set })) => (program, gaps, set),
        other => panic!("{name}: {other:?}"),
    }
}

fn copy(set: &ClosedSet, keep: impl Fn(usize) -> bool) -> ClosedSet {
    let mut states = StateSet::new();
    for (at, state) in set.states.iter().enumerate().filter(|(at, _)| keep(*at)) {
        states.insert(state, None).unwrap_or_else(|_| panic!("no room for state {at}"));
    }
    ClosedSet { controls: set.controls.clone(), states }
}

fn accepted(task: &Task<'_>, gaps: Gaps, set: ClosedSet) -> bool {
    evidence::check(task, Verdict::Safe(Certificate::Listed(Listed { gaps: Some(gaps), set })), &Ignore)
        .is_ok()
}

#[test]
fn a_certificate_without_any_one_of_its_states_is_rejected() {
    for (name, model) in [("ticket_lock", TSO), ("alternating_bit", PSO)] {
        let (program, gaps, set) = proved(name, model);
        let task = Task::safe(&program, model);
        assert!(accepted(&task, gaps, copy(&set, |_| true)));
        for gone in 0..set.states.len() {
            assert!(!accepted(&task, gaps, copy(&set, |at| at != gone)), "{name} without state {gone}");
        }
    }
}

#[test]
fn states_that_are_no_normal_forms_are_rejected() {
    let (program, gaps, set) = proved("ticket_lock", TSO);
    let task = Task::safe(&program, TSO);
    for value in [1000, -1000, i64::MAX, i64::MIN] {
        let mut more = copy(&set, |_| true);
        let mut state = State::default();
        let first = set.states.iter().next().expect("not empty");
        state.unpack(program.threads.len(), first).expect("packed");
        state.values[0] = value;
        let mut packed = Vec::new();
        state.pack(&mut packed);
        more.states.insert(&packed, None).expect("room");
        assert!(!accepted(&task, gaps, more), "{value}");
    }
}

#[test]
fn a_window_precision_or_modulus_that_is_too_small_is_rejected() {
    let (program, gaps, set) = proved("nonblocking_write", SC);
    let task = Task::safe(&program, SC);
    assert!(gaps.modulus == 2 && accepted(&task, gaps, copy(&set, |_| true)));
    let wrong = [
        Gaps { modulus: 1, ..gaps },
        Gaps { modulus: 0, ..gaps },
        Gaps { modulus: -2, ..gaps },
        Gaps { precision: -1, ..gaps },
        Gaps { low: 1, ..gaps },
        Gaps { high: -1, ..gaps },
        Gaps { low: i64::MIN, high: i64::MAX, ..gaps },
    ];
    for gaps in wrong {
        assert!(!accepted(&task, gaps, copy(&set, |_| true)), "{gaps:?}");
    }
}

#[test]
fn gap_certificates_survive_files_and_not_tampering() {
    let (program, gaps, set) = proved("ticket_lock", TSO);
    let task = Task::safe(&program, TSO);
    let verdict = Verdict::Safe(Certificate::Listed(Listed { gaps: Some(gaps), set }));
    for form in [Form::Text, Form::Json] {
        let mut file = Vec::new();
        write_evidence(&task, &verdict, form, &mut file).expect("writable");
        let text = String::from_utf8(file).expect("text");
        let check = |text: &str| {
            let text = text.to_string();
            let open = move || Ok(Box::new(Cursor::new(text.clone())) as Box<dyn BufRead>);
            check_file(&program, &open, 1 << 16, &Ignore).is_ok()
        };
        assert!(check(&text));
        let lines: Vec<&str> = text.lines().collect();
        // Every line of the head, which differ in kind, and some of the states, which do not.
        let states = (20..lines.len() - 1).step_by(lines.len().div_ceil(40));
        for gone in (0..20).chain(states) {
            let end = lines.len() - 2;
            let kept = lines.iter().enumerate().filter(|(at, _)| *at != gone && *at != lines.len() - 1);
            let mut cut: Vec<String> = kept.map(|(_, line)| line.to_string()).collect();
            cut.push(if form == Form::Text { format!("end {end}") } else { format!("{{\"end\":{end}}}") });
            assert!(!check(&cut.join("\n")), "without line {gone}: {}", lines[gone]);
        }
    }
}
