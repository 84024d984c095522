//! Programs without the values of some variables have all violations that the program has, and perhaps more; what forgets values that matter
//! to claims or to others is refused; and the obvious mistakes would be noticed.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use super::local_first::place_and_value;
use super::reductions::waiting;
use support::random;

use engine::{Engine, Explicit, GapProofs, Reduction, Run};
use evidence::{
    Certificate, Form, Ignore, MostStates, Rejected, Task, Verdict, check, check_file, read_certificate,
    write_evidence,
};
use fastrand::Rng;
use machine::{MODELS, Model, TSO};
use program::{Cond, Domain, Op, Program, PropertyKind, Source, VarId};
use random::{Atom, replicas, seeds};
use std::io::{self, BufRead, Cursor};

fn verdict(program: &Program, model: Model) -> &'static str {
    let run = Run { monitor: &MostStates(4_000), max_buffer: Some(4), ..Run::default() };
    Explicit.verify(&Task::safe(program, model), &run).verdict.word()
}

/// A random program whose claims are about places, and some of its variables with all that is computed from them.
fn unimportant(seed: u64) -> (Program, Vec<VarId>) {
    let mut sketch = match seed % 4 {
        0 => random::sketch(seed),
        1 => replicas(seed),
        _ => waiting(seed),
    };
    if !sketch.claims.iter().flat_map(|claim| &claim.atoms).any(|atom| matches!(atom, Atom::At(..))) {
        let claimed = place_and_value(&mut sketch, &mut Rng::with_seed(seed));
        sketch.claims = vec![claimed];
    }
    for claim in &mut sketch.claims {
        claim.kind = PropertyKind::Never;
        claim.atoms.retain(|atom| matches!(atom, Atom::At(..)));
    }
    sketch.claims.retain(|claim| !claim.atoms.is_empty());
    let program = sketch.build();
    let some = VarId::new(seed as usize / 4 % program.variables.len());
    let all = program.computed_from(&[some]);
    (program, all)
}

/// How often violations were kept, and lost, by a way to forget.
fn compared(without: &dyn Fn(&Program, &[VarId]) -> Option<Program>) -> (usize, usize) {
    let (mut kept, mut lost) = (0, 0);
    for seed in 0..2 * seeds() {
        let (program, forgotten) = unimportant(seed);
        let model = MODELS[seed as usize % MODELS.len()];
        let Some(other) = without(&program, &forgotten).filter(|_| !forgotten.is_empty()) else { continue };
        if verdict(&program, model) == "unsafe" {
            match verdict(&other, model) {
                "safe" => lost += 1,
                "unsafe" => kept += 1,
                _ => {}
            }
        }
    }
    (kept, lost)
}

#[test]
fn no_violation_is_lost() {
    let (kept, lost) = compared(&|program, forgotten| program.without_values(forgotten));
    assert_eq!(lost, 0);
    assert!(kept > 10, "{kept}");
}

/// Planted mistakes: values are forgotten, but comparisons stay; or variables are that claims or others depend on.
#[test]
fn mistakes_would_be_noticed() {
    let still_compared = |program: &Program, forgotten: &[VarId]| {
        let mut other = program.without_values(forgotten)?;
        for (thread, old) in other.threads.iter_mut().zip(&program.threads) {
            let ops = old.edges().iter().map(|edge| edge.op.clone()).collect::<Vec<_>>();
            let changed = thread.edges().iter().zip(&ops).map(|(edge, op)| match op {
                Op::Assume(_) => op.clone(),
                _ => edge.op.clone(),
            });
            let changed: Vec<Op> = changed.collect();
            *thread = with_ops(old, &changed);
        }
        Some(other)
    };
    let (_, lost) = compared(&still_compared);
    assert!(lost > 0, "comparisons that stay");
    let only_initially = |program: &Program, _: &[VarId]| {
        let mut other = program.clone();
        for variable in &mut other.variables {
            variable.initial = Domain::only(0);
        }
        for thread in &mut other.threads {
            let zero = |op: &Op| match op {
                Op::Store(variable, _) => Op::Store(*variable, 0.into()),
                other => other.clone(),
            };
            let ops: Vec<Op> = thread.edges().iter().map(|edge| zero(&edge.op)).collect();
            *thread = with_ops(thread, &ops);
        }
        Some(other)
    };
    let (_, lost) = compared(&only_initially);
    assert!(lost > 0, "variables that matter");
}

/// The thread with other operations on its edges.
fn with_ops(thread: &program::Thread, ops: &[Op]) -> program::Thread {
    let mut rewriting = program::Rewriting::of(thread);
    for loc in thread.locs() {
        rewriting.copy(loc);
    }
    for (edge, op) in thread.edges().iter().zip(ops) {
        rewriting.edge(program::Edge { op: op.clone(), ..edge.clone() }, ());
    }
    rewriting.finish().thread
}

/// A turn that grows for ever decides who goes next, and `busy` keeps threads apart.
const TURNS: &str = "const N = 2; shared turn, busy, other;
    thread P(i in 0..N) { let mine; loop {
        mine = fetch_add(turn, 1);
        if (mine % 2 == 0) { other = turn; }
        await cas(busy, 0, 1);
        cs: skip;
        busy = 0;
    } }
    never P[0]@cs && P[1]@cs;";

fn read(text: &str) -> Program {
    let source = Source::new("forgetting.fw", text.to_string());
    (frontend::choose(None, "forgetting.fw", "").expect("a language").read)(
        source,
        &frontend::Options::default(),
    )
    .expect("right")
    .program
}

#[test]
fn what_is_forgotten_is_checked() {
    let program = read(TURNS);
    let task = Task::safe(&program, TSO);
    let forgetting = || {
        let run = Run { reduction: Reduction::All, ..Run::default() };
        let Verdict::Safe(Certificate::Reduced(proof)) = GapProofs.verify(&task, &run).verdict else {
            panic!("a proof without turns")
        };
        assert_eq!(proof.forgotten.len(), 2, "turn, and what is computed from it");
        proof
    };
    let checked =
        |proof| check(&task, Verdict::Safe(Certificate::Reduced(Box::new(proof))), &Ignore).map(drop);
    assert!(checked(*forgetting()).is_ok());
    let leaking = evidence::ReducedProof { forgotten: vec![VarId::new(0)], ..*forgetting() };
    assert_eq!(checked(leaking), Err(Rejected::Forgotten));
    let missing = evidence::ReducedProof { forgotten: vec![VarId::new(9)], ..*forgetting() };
    assert_eq!(checked(missing), Err(Rejected::Forgotten));
    let nothing = evidence::ReducedProof { forgotten: Vec::new(), ..*forgetting() };
    assert!(checked(nothing).is_err());
    let mut claimed = program.clone();
    claimed.properties[0].cond = Cond::compare(
        program::Relation::Lt,
        program::Expr::Leaf(program::Place::Memory(VarId::new(0))),
        program::Expr::from(0),
    );
    let proof = Verdict::Safe(Certificate::Reduced(forgetting()));
    assert_eq!(check(&Task::safe(&claimed, TSO), proof, &Ignore).map(drop), Err(Rejected::Forgotten));
}

#[test]
fn a_file_says_what_is_forgotten() {
    let program = read(TURNS);
    let task = Task::safe(&program, TSO);
    let run = Run { reduction: Reduction::All, ..Run::default() };
    let verdict = GapProofs.verify(&task, &run).verdict;
    for form in [Form::Text, Form::Json] {
        let mut file = Vec::new();
        write_evidence(&task, &verdict, form, &mut file).expect("writable");
        let text = String::from_utf8(file).expect("text");
        assert!(text.contains("forget"), "{text}");
        let open = |text: String| {
            move || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(Cursor::new(text.clone()))) }
        };
        assert!(check_file(&program, &open(text.clone()), 1 << 24, &Ignore).is_ok());
        let read =
            read_certificate(&program, &open(text.clone()), &Ignore).expect("readable").expect("a proof");
        assert!(check(&task, Verdict::Safe(read.1), &Ignore).is_ok());
        let other = text.replace("forget 0 2", "forget 0").replace("\"forget\":[0,2]", "\"forget\":[0]");
        assert_ne!(other, text);
        assert!(check_file(&program, &open(other), 1 << 24, &Ignore).is_err());
    }
}
