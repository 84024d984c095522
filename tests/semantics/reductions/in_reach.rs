//! States from which nothing can go wrong any more need not be left: against plain searches.

use super::{explore, hold, waiting};
use engine::Reduction;
use evidence::{Certificate, Ignore, Task, Verdict, check};
use fastrand::Rng;
use machine::{Acting, MODELS};
use program::{Cond, RegId, Relation};
use support::random::{Sketch, Stmt, seeds};

/// The random program of a seed that claims nothing but assertions, one of them near the beginning of a thread, or one that always
/// holds.
fn asserting(seed: u64) -> Sketch {
    let mut sketch = waiting(seed);
    sketch.claims.clear();
    let mut rng = Rng::with_seed(seed);
    let at = rng.usize(..sketch.threads.len());
    let body = &mut sketch.threads[at].body;
    let claim = match rng.u8(..3) {
        0 => Cond::TRUE,
        _ => Cond::compare(Relation::Ne, RegId::new(0), rng.i64(1..4)),
    };
    body.insert(rng.usize(..=body.len().min(3)), Stmt::Assert(claim));
    sketch
}

#[test]
fn nothing_is_lost_beyond_the_reach_of_failures() {
    let count = 3 * seeds();
    let (judged, fewer) = hold(asserting, Reduction::Reach, count);
    assert!(judged * 2 > count as usize && fewer * 4 > judged, "{judged} of {count} judged, {fewer} reduced");
}

/// What is left out of a proof must be out of reach: no other rule accepts the list, and nor does this one where more is claimed.
#[test]
fn a_proof_says_that_it_stops() {
    let (mut refused, mut judged) = (0, 0);
    for seed in 0..seeds() {
        let program = asserting(seed).build();
        let model = MODELS[seed as usize % MODELS.len()];
        let Verdict::Safe(Certificate::Reduced(mut proof)) =
            explore(&program, model, Reduction::Reach).verdict
        else {
            continue;
        };
        judged += 1;
        let plain = explore(&program, model, Reduction::None);
        let same = plain.statistics.states == proof.set.states.len();
        proof.rules.acting = Acting::Everybody;
        let accepted = |proof, program| {
            check(&Task::safe(program, model), Verdict::Safe(Certificate::Reduced(proof)), &Ignore).is_ok()
        };
        let everybody = accepted(proof, &program);
        assert!(!everybody || same, "seed {seed}");
        refused += usize::from(!everybody);
    }
    assert!(refused * 4 > judged && judged > 10, "{refused} of {judged}");
}

/// Where states matter that threads do not fail in, this rule does not apply.
#[test]
fn other_claims_are_not_out_of_reach() {
    for seed in 0..20 {
        let mut program = asserting(seed).build();
        let cond = program.deadlock();
        let kind = program::PropertyKind::Never;
        program.properties.push(program::Property { kind, cond, span: program::Span::NONE, text: None });
        let answer = explore(&program, MODELS[seed as usize % MODELS.len()], Reduction::Reach);
        assert!(!matches!(answer.verdict, Verdict::Safe(Certificate::Reduced(_))), "seed {seed}");
    }
}
