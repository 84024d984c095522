//! `verify --outcomes`: a run to every final state of a litmus test.
//!
//! That a final state is impossible is a claim like any other, so the run that shows that it is possible is
//! a violation of it: found by an engine, replayed, made simple and explained as all violations are.

use crate::input::Loaded;
use crate::report::{Answered, Said};
use crate::session::{Session, Told};
use engine::{Explicit, Finding, Run, decide};
use evidence::Task;
use program::{Cond, Int, Program, Property, PropertyKind, Question, Relation};

/// Says a run to every final state that was found.
pub fn show_runs(
    session: &Session<'_>,
    told: &mut Told,
    (loaded, stem): (&Loaded, &str),
    task: &Task<'_>,
    found: &Finding,
    run: &Run<'_>,
) {
    let (Some(outcomes), Some(question)) = (found.checked.outcomes(), &task.program.question) else { return };
    for (at, values) in outcomes.finals().iter().enumerate() {
        let (program, words) = impossible(task.program, question, values);
        let task = Task::safe(&program, task.model);
        let Ok(mut found) = decide(&task, &Explicit, run) else { continue };
        found.explain(&task, &Explicit, run);
        let answered = Answered { warnings: &[], ..Answered::about(loaded, task, &found) };
        session.say(told, &Said::Outcome(&words, &answered));
        if let (Some(store), Some(violated)) = (&session.store, found.checked.violated()) {
            let name = format!("{stem}.{}.outcome-{}", task.model.name(), at + 1);
            let title = format!("{}: {words}", loaded.name);
            if let Err(why) = store.draw(&name, &title, &task, violated) {
                session.fail(told, &loaded.name, Some(task.model), why);
            }
        }
    }
}

/// The program with the claim that it never ends like this, and the final state in words.
fn impossible(program: &Program, question: &Question, values: &[i64]) -> (Program, String) {
    let mut claiming = program.clone();
    claiming.question = None;
    let pairs = || question.observed.iter().zip(values);
    let words = pairs().map(|((name, _), value)| format!("{name}={value};")).collect::<Vec<_>>().join(" ");
    let differs = pairs().map(|((_, place), value)| Cond::compare(Relation::Ne, *place, Int::from(*value)));
    let cond = Cond::or(differs.chain([question.filter.clone().negate()]).collect::<Vec<_>>());
    let text = Some(words.clone());
    claiming.properties = vec![Property { kind: PropertyKind::Finally, cond, span: question.span, text }];
    (claiming, words)
}
