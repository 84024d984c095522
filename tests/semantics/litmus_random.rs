//! Random litmus tests, as text for the front end, against a small independent x86: the same
//! final states and the same answer under SC, TSO and PSO, or one of the documented refusals.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n tests instead of the usual number.

mod sample;
mod step;
mod text;
mod words;
mod writer;
mod x86;

use engine::{Engine, FinalStates, Run};
use evidence::{Ignore, Task, check};
use machine::model_named;
use program::{Program, Source};
use sample::Sample;
use std::collections::{BTreeMap, BTreeSet};
use support::random::{seeds, seeds_or};
use writer::sample;
use x86::{Final, Mistake, Model};

const MODELS: [(&str, Model); 3] = [("sc", Model::Sc), ("tso", Model::Tso), ("pso", Model::Pso)];

type States = BTreeSet<BTreeMap<String, i128>>;

/// The program, or what the front end says against it.
fn read(sample: &Sample) -> Result<Program, Vec<String>> {
    let text = sample.text();
    let frontend = frontend::choose(None, "random.litmus", &text).expect("a litmus test");
    match (frontend.read)(Source::new("random.litmus", text), &frontend::Options::default()) {
        Ok(parsed) => Ok(parsed.program),
        Err(errors) => Err(errors.into_iter().map(|error| error.message).collect()),
    }
}

/// Whether the condition holds, by its quantifier.
fn answer(sample: &Sample, finals: &BTreeSet<Final>) -> bool {
    let mut holding = finals.iter().map(|state| sample.claim.holds(&sample.test, state));
    match sample.quantifier {
        "exists" => holding.any(|holds| holds),
        "~exists" => !holding.any(|holds| holds),
        _ => holding.all(|holds| holds),
    }
}

fn compare(sample: &Sample, program: &Program, name: &str, model: Model) -> Result<(), String> {
    let finals = match sample.test.finals(model, Mistake::None) {
        None => return Ok(()),
        Some(Ok(finals)) => finals,
        Some(Err(_)) => return Err("accepted, but an access leaves its location".to_string()),
    };
    let question = program.question.as_ref().ok_or("no question")?;
    // A register that holds an address is not listed.
    let is_listed = |name: &str| !sample.tricks || question.observed.iter().any(|(listed, _)| listed == name);
    let shown = |state: &Final| {
        let named = sample.observed().into_iter().map(|spot| (sample.name(spot), spot));
        let listed = named.filter(|(name, _)| is_listed(name));
        listed.map(|(name, spot)| (name, sample.test.shown(state, spot))).collect()
    };
    let expected: States = finals.iter().map(shown).collect();
    let task = Task::asked(program, model_named(name).ok_or("no such model")?);
    let found = FinalStates.verify(&task, &Run::default()).verdict;
    let checked = check(&task, found, &Ignore).map_err(|why| why.to_string())?;
    let checked = checked.outcomes().ok_or("no final states")?;
    let names = || question.observed.iter().map(|(name, _)| name.clone());
    let named = |values: &Vec<i64>| names().zip(values.iter().map(|v| i128::from(*v))).collect();
    let states: States = checked.finals().iter().map(named).collect();
    if states != expected {
        return Err(format!("{name}: {states:?}, expected {expected:?}"));
    }
    let expected = answer(sample, &finals);
    if checked.holds() != Some(expected) {
        return Err(format!("{name}: holds {:?}, expected {expected}", checked.holds()));
    }
    Ok(())
}

/// Whether the sample was accepted; an error where the front end is wrong.
fn judge(sample: &Sample) -> Result<bool, String> {
    match read(sample) {
        Ok(program) => {
            MODELS.iter().try_for_each(|(name, model)| compare(sample, &program, name, *model)).map(|()| true)
        }
        Err(messages) => {
            let reasons = sample.refusals();
            let known = |message: &String| reasons.iter().any(|reason| message.contains(reason));
            match messages.iter().find(|message| !known(message)) {
                None => Ok(false),
                Some(message) => Err(format!("refused: {message}; documented here: {reasons:?}")),
            }
        }
    }
}

/// Leaves out instructions as long as the front end stays wrong in the same way.
fn minimise(mut sample: Sample) -> Sample {
    let wrong = |sample: &Sample| judge(sample).err().map(|why| why.starts_with("refused"));
    let kind = wrong(&sample);
    loop {
        let places = sample.test.threads.iter().enumerate();
        let places: Vec<_> = places.flat_map(|(t, code)| (0..code.len()).map(move |at| (t, at))).collect();
        let smaller = places.into_iter().map(|(thread, at)| sample.without(thread, at));
        match smaller.into_iter().find(|sample| wrong(sample) == kind) {
            Some(found) => sample = found,
            None => return sample,
        }
    }
}

#[test]
fn the_front_end_and_an_independent_x86_agree() {
    let (mut accepted, mut refused) = (0, 0);
    let mut wrong = Vec::new();
    for seed in 0..seeds() {
        let Some(sample) = sample(seed) else { continue };
        match judge(&sample) {
            Ok(true) => accepted += 1,
            Ok(false) => refused += 1,
            Err(_) => {
                let small = minimise(sample);
                let why = judge(&small).err().unwrap_or_default();
                wrong.push(format!("seed {seed}: {why}\n{}", small.text()));
            }
        }
    }
    let counts = format!("{accepted} accepted, {refused} refused, {} wrong", wrong.len());
    wrong.truncate(3);
    assert!(wrong.is_empty(), "{counts}\n{}", wrong.join("\n"));
    assert!(accepted > 2 * refused, "{counts}");
}

/// How many of the tests tell the mistaken interpreter from the right one.
fn noticed(mistake: Mistake, samples: impl Iterator<Item = Sample>) -> usize {
    let shown = |sample: &Sample, mistake| {
        let finals = sample.test.finals(Model::Tso, mistake)?;
        let spots = sample.observed();
        let shown = |state: &Final| spots.iter().map(|spot| sample.test.shown(state, *spot)).collect();
        Some(finals.map(|finals| finals.iter().map(shown).collect::<BTreeSet<Vec<i128>>>()))
    };
    let notices = |sample: &Sample| shown(sample, Mistake::None) != shown(sample, mistake);
    samples.filter(notices).count()
}

#[test]
fn tests_that_are_written_notice_mistakes_about_widths_and_locks() {
    let mistakes = [
        (Mistake::WideAccessIsOneCell, 16),
        (Mistake::NarrowStoreFillsCell, 3),
        (Mistake::PartOfRegisterIsAll, 1),
        (Mistake::DwordExtendsSign, 6),
        (Mistake::ForwardingIsExact, 12),
        (Mistake::LockIsNothing, 12),
        (Mistake::NoBuffer, 6),
    ];
    for (mistake, least) in mistakes {
        let found = noticed(mistake, (0..seeds_or(600)).filter_map(sample));
        assert!(found >= least, "{mistake:?}: {found} notice");
    }
}
