//! Broken evidence is rejected, and nothing that was accepted is broken.
//!
//! Evidence of corpus programs and random programs is tampered with in every way we could think
//! of, for all models and both forms of files. What is left is judged by other code
//! ([`truth`]: the reference interpreter on explicit queues; for cubes a small prover); the checker must come to the same
//! answer from the text file, from the JSON file and in memory, with a large budget of memory
//! and with a tiny one.

mod basis;
mod contexts;
mod cubes;
mod facts;
mod final_states;
mod headers;
mod mutations;
use support::random;
mod subjects;
mod truth;

use engine::{Engine, Explicit, Run};
use evidence::{
    Certificate, ClosedSet, Controls, FileError, Form, Ignore, Listed, Task, Verdict, check, check_file,
};
use facts::{Fact, parse};
use fastrand::Rng;
use machine::{Buffered, Doubt, MODELS, Model, State, StateSet, Stepper, TSO};
use mutations::MUTATIONS;
use program::Program;
use std::cell::Cell;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor};
use subjects::{
    CORPUS, LARGE, Subject, accepts, all, check_bytes, corpus_program, in_memory, shown, written,
};
use truth::Judge;

/// The law of this file. Returns whether the facts were accepted.
fn obeys_the_law(judge: &Judge<'_>, program: &Program, facts: &[Fact], what: &str) -> bool {
    let accepted = accepts(program, facts, what);
    let judgement = judge.judge(facts);
    let wrong = match judgement.by_the_rules {
        Some(right) => accepted != right,
        None => false,
    };
    let unsound = accepted && !judgement.sound;
    assert!(
        !wrong && !unsound,
        "{what}: accepted {accepted}, but {judgement:?}\n{}\n{}",
        shown(facts),
        program::print(program)
    );
    accepted
}

#[test]
fn evidence_is_accepted_as_it_was_written() {
    let (mut traces, mut sets) = (0, 0);
    for subject in all() {
        let judge = Judge::new(&subject.program);
        assert!(obeys_the_law(&judge, &subject.program, &subject.facts, &subject.name), "{}", subject.name);
        let is_trace = matches!(&subject.facts[0], Fact::Head { kind, .. } if kind == "trace");
        *(if is_trace { &mut traces } else { &mut sets }) += 1;
    }
    assert!(traces > 100 && sets > 100, "{traces} traces and {sets} closed sets");
}

#[test]
fn both_forms_say_the_same() {
    for subject in all().step_by(5) {
        let task = Task::safe(&subject.program, subject.model);
        let verdict = || in_memory(&subject.program, &subject.facts).expect("untouched").1;
        for form in [Form::Text, Form::Json] {
            let file = written(&task, &verdict(), form);
            assert_eq!(parse(&file).as_ref(), Some(&subject.facts), "{} {form:?}", subject.name);
        }
    }
}

#[test]
fn tampered_evidence_is_accepted_only_if_it_is_evidence_still() {
    let mut rng = Rng::with_seed(1);
    let mut rejected: BTreeMap<&str, usize> = BTreeMap::new();
    for subject in all() {
        let judge = Judge::new(&subject.program);
        for (name, mutate) in MUTATIONS {
            for _ in 0..2 {
                let Some(facts) = mutate(&subject.program, subject.facts.clone(), &mut rng) else { continue };
                let what = format!("{}, {name}", subject.name);
                let accepted = obeys_the_law(&judge, &subject.program, &facts, &what);
                *rejected.entry(name).or_default() += usize::from(!accepted);
            }
        }
    }
    for (name, _) in MUTATIONS {
        // Order and repetition of states mean nothing; everything else must have bitten.
        let harmless = ["doubled state", "swapped states"].contains(name);
        let count = rejected.get(name).copied().unwrap_or(0);
        assert_eq!(count == 0, harmless, "{name}: {count} rejected of all {rejected:?}");
    }
}

#[test]
fn every_state_of_a_closed_set_is_needed() {
    let is_state = |fact: &Fact| matches!(fact, Fact::State(_));
    let mut dropped = 0;
    for subject in all().filter(|subject| subject.facts.len() < 60) {
        for at in (0..subject.facts.len()).filter(|at| is_state(&subject.facts[*at])) {
            let mut facts = subject.facts.clone();
            facts.remove(at);
            assert!(!accepts(&subject.program, &facts, &subject.name), "{} without {at}", subject.name);
            dropped += 1;
        }
    }
    assert!(dropped > 500, "only {dropped} states dropped");
}

#[test]
fn evidence_for_another_model_is_judged_by_that_model() {
    let (mut stronger, mut weaker) = (0, 0);
    for subject in all() {
        let judge = Judge::new(&subject.program);
        for (at, model) in MODELS.iter().enumerate() {
            let mut facts = subject.facts.clone();
            let Fact::Head { kind, model: claimed, .. } = &mut facts[0] else { panic!("a head") };
            let set = kind == "closed-set";
            let own = MODELS.iter().position(|m| m.name() == claimed).expect("a model");
            *claimed = model.name().to_string();
            let what = format!("{} as {}", subject.name, model.name());
            let accepted = obeys_the_law(&judge, &subject.program, &facts, &what);
            // SC states that claim to be all TSO states, and TSO runs that claim to be SC runs.
            weaker += usize::from(set && at > own && !accepted);
            stronger += usize::from(!set && at < own && !accepted);
        }
    }
    assert!(weaker > 20 && stronger > 20, "{weaker} sets and {stronger} traces rejected");
}

#[test]
fn evidence_for_another_program_is_refused_even_if_it_is_relabelled() {
    let subjects: Vec<&Subject> = all().collect();
    let mut rejected = 0;
    for pair in subjects.windows(4) {
        let (subject, other) = (pair[0], &pair[3].program);
        let judge = Judge::new(other);
        if evidence::fingerprint(other) == evidence::fingerprint(&subject.program) {
            continue;
        }
        assert!(!obeys_the_law(&judge, other, &subject.facts, &subject.name));
        let mut facts = subject.facts.clone();
        let Fact::Head { program, .. } = &mut facts[0] else { panic!("a head") };
        *program = evidence::fingerprint(other);
        rejected += usize::from(!obeys_the_law(&judge, other, &facts, &subject.name));
    }
    assert!(rejected > 100, "only {rejected} rejected");
}

#[test]
fn a_cut_file_is_rejected_wherever_it_was_cut() {
    let mut files = 0;
    for subject in all().filter(|subject| subject.facts.len() < 30).take(60) {
        for file in [facts::text(&subject.facts), facts::json(&subject.facts)] {
            files += 1;
            for length in 0..file.len() - 1 {
                let cut = check_bytes(&subject.program, &file[..length], LARGE);
                assert!(cut.is_err(), "{} cut to {length} bytes", subject.name);
            }
            check_bytes(&subject.program, &file[..file.len() - 1], LARGE)
                .expect("only a line end is missing");
        }
    }
    assert!(files > 50, "only {files} files");
}

#[test]
fn the_closing_line_must_be_right() {
    for subject in all().step_by(7) {
        let file = shown(&subject.facts);
        let lines: Vec<&str> = file.lines().collect();
        let count = lines.len() - 1;
        let body = lines[..count].join("\n");
        let ends = [
            String::new(),
            format!("end {}", count - 1),
            format!("end {}", count + 1),
            "end 0".to_string(),
            "end".to_string(),
            format!("end -{count}"),
            format!("end {}", usize::MAX),
            format!("end {count} {count}"),
            "end 99999999999999999999999".to_string(),
            "{\"end\":18446744073709551615}".to_string(),
            "{\"end\":-1}".to_string(),
            format!("end {count}\nend {}", count + 1),
            format!("end {count}\nstate 0"),
            format!("end {count}\n\u{0}"),
        ];
        for end in ends {
            let changed = format!("{body}\n{end}\n");
            let found = check_bytes(&subject.program, changed.as_bytes(), LARGE);
            assert!(found.is_err(), "{} with {end:?}", subject.name);
        }
        // An early end that counts right hides the lines behind it.
        for at in 1..count.min(20) {
            let early = format!("{}\nend {at}\n{}\n", lines[..at].join("\n"), lines[at..].join("\n"));
            let found = check_bytes(&subject.program, early.as_bytes(), LARGE);
            assert!(found.is_err(), "{} ending at {at}", subject.name);
        }
    }
}

#[test]
fn numbers_out_of_range_are_rejected_or_harmless() {
    let digits = "9".repeat(5000);
    let strange = [
        "-1",
        "4294967295",
        "4294967296",
        "4294967297",
        "9223372036854775807",
        "-9223372036854775808",
        "9223372036854775808",
        "18446744073709551615",
        "1e3",
        "0x1",
        "-",
        "NaN",
        &digits,
    ];
    let (mut tried, mut accepted) = (0, 0);
    for subject in all().step_by(3) {
        let judge = Judge::new(&subject.program);
        let file = shown(&subject.facts);
        let lines: Vec<&str> = file.lines().collect();
        let mut rng = Rng::with_seed(tried);
        for number in strange {
            for _ in 0..4 {
                let at = rng.usize(..lines.len());
                let words: Vec<&str> = lines[at].split(' ').collect();
                let which = rng.usize(1..words.len());
                let changed = [&words[..which], &[number], &words[which + 1..]].concat().join(" ");
                let file = [&lines[..at], &[&changed], &lines[at + 1..]].concat().join("\n");
                tried += 1;
                accepted += u64::from(is_rejected_or_true(&judge, &subject.program, file.as_bytes()));
            }
        }
    }
    assert!(accepted * 10 < tried, "{accepted} of {tried} accepted");
}

/// Whether a file was accepted; fails if that was wrong. Large values may be refused for no
/// other reason than their size, so nothing is said about rejected files.
fn is_rejected_or_true(judge: &Judge<'_>, program: &Program, file: &[u8]) -> bool {
    let accepted = check_bytes(program, file, LARGE).is_ok();
    if accepted {
        let read = String::from_utf8_lossy(file);
        let facts = parse(file).unwrap_or_else(|| panic!("accepted, but it cannot be read:\n{read}"));
        let judgement = judge.judge(&facts);
        let true_evidence = judgement.sound && judgement.by_the_rules != Some(false);
        assert!(true_evidence, "{judgement:?}\n{read}\n{}", program::print(program));
    }
    accepted
}

#[test]
fn flipped_bytes_are_rejected_or_harmless() {
    let mut rng = Rng::with_seed(2);
    let (mut tried, mut rejected) = (0, 0);
    for subject in all().filter(|subject| subject.facts.len() < 120) {
        let judge = Judge::new(&subject.program);
        let task = Task::safe(&subject.program, subject.model);
        for form in [Form::Text, Form::Json] {
            let verdict = in_memory(&subject.program, &subject.facts).expect("untouched").1;
            let file = written(&task, &verdict, form);
            for round in 0..12 {
                let mut flipped = file.clone();
                for _ in 0..1 + round / 9 {
                    let at = rng.usize(..flipped.len());
                    match rng.usize(..4) {
                        0 => flipped[at] ^= 1 << rng.u8(..8),
                        1 => flipped[at] = rng.u8(..),
                        2 => flipped[at] = b"0123456789- \n#{}"[rng.usize(..16)],
                        _ => drop(flipped.remove(at)),
                    }
                }
                tried += 1;
                rejected += usize::from(!is_rejected_or_true(&judge, &subject.program, &flipped));
            }
        }
    }
    assert!(tried > 4000 && rejected * 2 > tried, "{rejected} of {tried} rejected");
}

#[test]
fn garbage_is_rejected() {
    let mut rng = Rng::with_seed(3);
    let program = &CORPUS[0].program;
    let head = shown(&CORPUS[0].facts[..1]);
    let head = head.lines().next().expect("a line");
    let opens = ["{", "[", "state ", "local 0 ", "{\"state\":[", "{\"step\":{\"thread\":0,\"edge\":"];
    let mut hostile: Vec<Vec<u8>> = vec![
        Vec::new(),
        b"\n\n\n".to_vec(),
        b"end 0\n".to_vec(),
        vec![0; 4096],
        "{".repeat(100_000).into_bytes(),
        "[".repeat(100_000).into_bytes(),
        format!("{head}\n{}", "{\"state\":".repeat(50_000)).into_bytes(),
        format!("{head}\nstate {}", "0 ".repeat(500_000)).into_bytes(),
        format!("{head}\nlocal 0 0 {}", "- ".repeat(500_000)).into_bytes(),
        format!("{head}\nstep 0 0 {}\n", "7".repeat(500_000)).into_bytes(),
        format!("\u{feff}{}", shown(&CORPUS[0].facts)).into_bytes(),
    ];
    for open in opens {
        for _ in 0..200 {
            let length = rng.usize(..200);
            let mut bytes = format!("{head}\n{open}").into_bytes();
            bytes.extend((0..length).map(|_| rng.u8(..)));
            hostile.push(bytes);
        }
    }
    for bytes in hostile {
        assert!(check_bytes(program, &bytes, LARGE).is_err(), "{:?}", String::from_utf8_lossy(&bytes));
    }
}

#[test]
fn a_file_that_cannot_be_read_again_is_an_error() {
    let set =
        |subject: &&Subject| matches!(&subject.facts[0], Fact::Head { kind, .. } if kind == "closed-set");
    let subject = CORPUS.iter().find(set).expect("a closed set");
    let file = facts::text(&subject.facts);
    for good in 0..3 {
        let opened = Cell::new(0);
        let open = || {
            opened.set(opened.get() + 1);
            if opened.get() > good {
                return Err(io::Error::other("gone"));
            }
            Ok(Box::new(Cursor::new(file.clone())) as Box<dyn BufRead>)
        };
        let found = check_file(&subject.program, &open, LARGE, &Ignore);
        assert!(matches!(found, Err(FileError::Io(_))), "{found:?}");
    }
}

/// How often a file is opened to check it, and whether it is accepted.
fn passes(program: &Program, file: &[u8], budget: usize) -> (usize, bool) {
    let opened = Cell::new(0);
    let open = || {
        opened.set(opened.get() + 1);
        Ok(Box::new(Cursor::new(file.to_vec())) as Box<dyn BufRead>)
    };
    let accepted = check_file(program, &open, budget, &Ignore).is_ok();
    (opened.get(), accepted)
}

#[test]
fn a_smaller_budget_takes_more_passes_and_no_more_memory() {
    let path = support::root().join("corpus/chase_lev_fenced.fw");
    let program = corpus_program(&path);
    let task = Task::safe(&program, TSO);
    let verdict = Explicit.verify(&task, &Run::default()).verdict;
    let Verdict::Safe(Certificate::Listed(Listed { gaps: None, set })) = &verdict else { panic!("safe") };
    // A round stops collecting at the budget, give or take a chunk of the state set and of its
    // table; so all states together take at least so many rounds, each of two passes.
    let (all_bytes, chunk) = (set.states.bytes(), 1 << 16);
    let file = written(&task, &verdict, Form::Text);
    let mut facts = parse(&file).expect("ours");
    facts.remove(facts.len() / 2);
    let broken = facts::text(&facts);
    let mut before = 0;
    for budget in [LARGE, 256 << 10, 128 << 10, 96 << 10] {
        let (opened, accepted) = passes(&program, &file, budget);
        let rounds = (opened - 1) / 2;
        assert!(accepted && opened >= before, "{opened} passes within {budget} bytes");
        assert!(rounds * (budget.min(LARGE) + 2 * chunk) >= all_bytes, "{rounds} rounds of {budget} bytes");
        assert!(!passes(&program, &broken, budget).1);
        before = opened;
    }
    assert_eq!(passes(&program, &file, LARGE), (3, true));
    assert!(before > 3, "a small budget takes several rounds, not {before} passes");
}

/// All states that a machine with short buffers reaches; `None` if its bound stopped nothing.
fn states_within(program: &Program, model: Model, cap: usize) -> Option<ClosedSet> {
    let machine = Buffered::exact(program, model).capped(cap);
    let mut stepper = Stepper::new(&machine);
    let mut stack: Vec<_> = stepper.initial().0.collect();
    let (mut states, mut stopped) = (StateSet::new(), false);
    let (mut packed, mut next) = (Vec::new(), State::default());
    while let Some(state) = stack.pop() {
        packed.clear();
        state.pack(&mut packed);
        if states.insert(&packed, None).ok()?.1 {
            stepper.prepare(&state);
            stepper.successors(
                &state,
                &mut next,
                |doubt| stopped |= doubt == Doubt::Bound,
                |_, _, next| stack.push(next.clone()),
            );
        }
        if states.len() > 5000 {
            return None;
        }
    }
    stopped.then_some(ClosedSet { controls: Controls::of(&stepper), states })
}

#[test]
fn the_states_of_a_bounded_machine_are_no_certificate() {
    let mut rejected = 0;
    let programs = (0..200).map(random::generate).chain(CORPUS.iter().map(|subject| subject.program.clone()));
    for program in programs {
        for model in MODELS.iter().filter(|model| model.buffers()) {
            for cap in [0, 1, 2] {
                let Some(set) = states_within(&program, *model, cap) else { continue };
                let task = Task::safe(&program, *model);
                let verdict = Verdict::Safe(Certificate::Listed(Listed { gaps: None, set }));
                let file = written(&task, &verdict, Form::Text);
                assert!(check_bytes(&program, &file, LARGE).is_err(), "{} {}", program.name, model.name());
                assert!(check(&task, verdict, &Ignore).is_err(), "{} {}", program.name, model.name());
                rejected += 1;
            }
        }
    }
    assert!(rejected > 200, "only {rejected} sets");
}
