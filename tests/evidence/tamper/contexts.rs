//! That nothing is violated within some contexts: what is left out or changed is noticed, and what is accepted is true
//! by the interpreter with queues.

use engine::{BoundedContexts, ContextBound, ContextData, Engine, Run};
use evidence::{
    Claim, ClosedSet, ContextProof, ContextStates, Form, Ignore, Rejected, Task, Verdict, WithinContexts,
    check, check_file, write_evidence,
};
use fastrand::Rng;
use machine::{Model, SC, StateSet, model_named};
use program::{Program, Source};
use reference::{ReferenceLimits, ReferenceModel, explore_contexts};
use std::io::{self, BufRead, Cursor};

/// Programs that are violated in the first number of contexts that is not claimed, and what is known of values.
const SUBJECTS: &[(&str, u8, ContextData, &str)] = &[
    (
        "tso",
        1,
        ContextData::Concrete,
        "shared x, y; thread P { let r; x = 1; r = y; end: skip; } thread Q { let r; y = 1; r = x; end: skip; } \
         never P@end && Q@end && P.r == 0 && Q.r == 0;",
    ),
    (
        "pso",
        2,
        ContextData::Concrete,
        "shared x, y, z; thread P { x = 1; y = 1; } thread Q { await y == 1; z = 1; } \
         thread R { await z == 1; assert x == 1; }",
    ),
    (
        "tso",
        2,
        ContextData::Order,
        "shared x; thread P { let a; a = any; assume a > 7; x = a; a = x; assert a > 5; } \
         thread Q { let b; b = x; assume b > 7; x = b - 3; }",
    ),
    (
        "tso",
        2,
        ContextData::Predicates,
        "shared x, y; thread P { let a, b; x = 1; a = y; b = x; b = b + a + a; assert b < 3; } \
         thread Q { let c; c = x; y = c + c; }",
    ),
];

fn program(text: &str) -> Option<Program> {
    let frontend = frontend::choose(Some("fw"), "test.fw", text)?;
    (frontend.read)(Source::new("test.fw", text.to_string()), &Default::default()).ok().map(|p| p.program)
}

fn within(task: &Task<'_>, contexts: u8, data: ContextData) -> WithinContexts {
    let contexts = ContextBound { contexts: Some(contexts), data };
    match BoundedContexts.verify(task, &Run { contexts, ..Run::default() }).verdict {
        Verdict::Within(within, _) => *within,
        other => panic!("{other:?}\n{}", program::print(task.program)),
    }
}

/// What a file claims, if it is accepted.
fn claimed(program: &Program, file: &str) -> Option<(Model, usize)> {
    let open = || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(Cursor::new(file.as_bytes().to_vec()))) };
    match check_file(program, &open, 1 << 20, &Ignore) {
        Ok(Claim::Within(model, contexts, _)) => Some((model, contexts)),
        Ok(other) => panic!("{other:?}"),
        Err(_) => None,
    }
}

/// Whether nothing is violated within so many contexts.
fn is_true(program: &Program, (model, contexts): (Model, usize)) -> bool {
    let candidates = (0..12).map(Into::into).collect();
    let limits = ReferenceLimits { queue: 6, configs: 100_000, candidates };
    let model = ReferenceModel::named(model.name()).expect("a model");
    let reached = explore_contexts(program, model, contexts, &limits);
    assert!(!reached.truncated && !reached.cap_hit);
    reached.violations.is_empty()
}

/// A number somewhere in a line, changed.
fn changed(line: &str, rng: &mut Rng) -> String {
    let mut words: Vec<String> = line.split(' ').map(str::to_string).collect();
    let at = rng.usize(..words.len());
    words[at] = match words[at].parse::<i64>() {
        Ok(number) => (number + rng.i64(-2..3)).to_string(),
        Err(_) if words[at] == "-" => rng.i64(0..3).to_string(),
        Err(_) => words[at].clone(),
    };
    words.join(" ")
}

/// Lines left out, changed or doubled, with the right count at the end.
fn tampered(lines: &[&str], rng: &mut Rng) -> String {
    let mut lines: Vec<String> = lines[..lines.len() - 1].iter().map(|line| line.to_string()).collect();
    let at = rng.usize(1..lines.len());
    match rng.usize(..4) {
        0 => drop(lines.remove(at)),
        1 => lines.push(lines[at].clone()),
        _ => lines[at] = changed(&lines[at], rng),
    }
    let end = format!("end {}", lines.len());
    lines.push(end);
    lines.join("\n") + "\n"
}

#[test]
fn a_bound_is_accepted_only_if_it_is_true() {
    let mut rng = Rng::with_seed(15);
    let (mut accepted, mut rejected) = (0, 0);
    for (model, contexts, data, text) in SUBJECTS {
        let Some(program) = program(text) else { panic!("{text}") };
        let task = Task::safe(&program, model_named(model).expect("a model"));
        let verdict = Verdict::Within(Box::new(within(&task, *contexts, *data)), Vec::new());
        let mut file = Vec::new();
        write_evidence(&task, &verdict, Form::Text, &mut file).expect("written");
        let file = String::from_utf8(file).expect("text");
        let claim = (task.model, usize::from(*contexts));
        assert_eq!(claimed(&program, &file), Some(claim), "{text}");
        assert!(is_true(&program, claim) && !is_true(&program, (task.model, claim.1 + 1)), "{text}");
        let lines: Vec<&str> = file.lines().collect();
        for _ in 0..400 {
            let tampered = tampered(&lines, &mut rng);
            match claimed(&program, &tampered) {
                None => rejected += 1,
                Some(claim) => {
                    accepted += 1;
                    assert!(is_true(&program, claim), "{claim:?} is accepted by\n{tampered}");
                }
            }
        }
        let more = file.replacen(&format!("contexts {contexts}"), &format!("contexts {}", contexts + 1), 1);
        assert_eq!(claimed(&program, &more), None, "{text}");
    }
    assert!(rejected > accepted && accepted > 10, "{accepted} accepted, {rejected} rejected");
}

/// All but one of the states or cubes.
fn without(reached: &ContextStates, left_out: usize) -> ContextStates {
    match reached {
        ContextStates::Listed { gaps, set } => {
            let mut states = StateSet::new();
            let kept = set.states.iter().enumerate().filter(|(at, _)| *at != left_out);
            kept.for_each(|(_, state)| assert!(states.insert(state, None).is_ok()));
            let set = ClosedSet { controls: set.controls.clone(), states };
            ContextStates::Listed { gaps: *gaps, set }
        }
        ContextStates::Cubes(cubes) => {
            let mut cubes = cubes.clone();
            cubes.cubes.remove(left_out);
            ContextStates::Cubes(cubes)
        }
    }
}

#[test]
fn every_state_is_needed_and_a_bound_is_for_its_program() {
    for (model, contexts, data, text) in SUBJECTS {
        let Some(program) = program(text) else { panic!("{text}") };
        let task = Task::safe(&program, model_named(model).expect("a model"));
        let whole = within(&task, *contexts, *data);
        let ContextProof { contexts, reached } = whole.proof();
        for left_out in 0..whole.proof().len() {
            let proof = ContextProof { contexts: *contexts, reached: without(reached, left_out) };
            let found = proof.check(&task, &Ignore);
            assert!(
                matches!(
                    found,
                    Err(Rejected::InitialMissing | Rejected::SuccessorMissing(_) | Rejected::Cubes(_))
                ),
                "{found:?}"
            );
        }
        let other = Task { model: SC, ..task };
        let verdict = Verdict::Within(Box::new(within(&task, *contexts, *data)), Vec::new());
        assert!(matches!(check(&other, verdict, &Ignore), Err(Rejected::OtherQuestion)), "{text}");
    }
}
