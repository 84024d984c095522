//! Programs made to order have the answers that they should have.

use engine::{BoundedContexts, ContextBound, ContextData, Engine, Portfolio, Run};
use evidence::{Ignore, MostStates, Task, Verdict, check};
use generate::{Automata, Family, FencedThreads, Generated, KnownAnswer, LossyChannel, MUTEXES, Mutex, Ring};
use machine::{Event, TSO, model_named};
use program::{Op, Program, Source};
use support::corpus;

/// Enough for all that is asked here.
const MOST_STATES: usize = 1_000_000;

fn read(made: &Generated) -> Program {
    let text = made.with_remarks();
    let frontend = frontend::choose(Some("fw"), "made.fw", &text).expect("a language");
    let parsed = (frontend.read)(Source::new("made.fw", text.clone()), &Default::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}\n{text}")).program
}

/// What bounded contexts say of a program: the least number of contexts of a violation, if there is one.
fn least(program: &Program, expected: &KnownAnswer, most: u8) -> Option<usize> {
    let task = Task::safe(program, model_named(expected.model).expect("a model"));
    let contexts = ContextBound { contexts: Some(most), data: ContextData::Auto };
    let answer = BoundedContexts.verify(&task, &Run { contexts, ..Run::default() });
    let violated = matches!(answer.verdict, Verdict::Unsafe(_));
    check(&task, answer.verdict, &Ignore).expect("checked");
    answer.statistics.contexts.filter(|_| violated)
}

/// The portfolio answers as expected, and bounded contexts need as many contexts as expected.
#[track_caller]
fn as_expected(family: &dyn Family, most: u8) {
    let made = family.generate().expect("of this size");
    let program = read(&made);
    for expected in &made.expected {
        let task = Task::safe(&program, model_named(expected.model).expect("a model"));
        let run = Run { monitor: &MostStates(MOST_STATES), ..Run::default() };
        let found = Portfolio.verify(&task, &run).verdict.word();
        assert_eq!(found, expected.verdict(), "{} under {}", made.name, expected.model);
        let contexts = least(&program, expected, most);
        assert_eq!(contexts.is_some(), !expected.safe, "{} under {}", made.name, expected.model);
        assert!(expected.contexts.is_none() || contexts == expected.contexts, "{}: {contexts:?}", made.name);
    }
}

#[test]
fn rings_are_violated_in_as_many_contexts_as_threads() {
    for fenced in [FencedThreads::None, FencedThreads::AllButOne, FencedThreads::All] {
        as_expected(&Ring { threads: 2, fenced }, 4);
        as_expected(&Ring { threads: 3, fenced }, 4);
    }
    assert!(Ring { threads: 1, fenced: FencedThreads::None }.generate().is_err());
}

#[test]
fn channels_keep_their_order() {
    as_expected(&LossyChannel { messages: 1, letters: 1, reversed: false }, 6);
    let two = |reversed| LossyChannel { messages: 2, letters: 2, reversed }.generate().expect("of this size");
    let answers = |made: &Generated| made.expected.iter().map(|e| e.safe).collect::<Vec<_>>();
    assert_eq!(answers(&two(false)), [true, false, false]);
    assert_eq!(answers(&two(true)), [true, true, false]);
    let (in_order, reversed) = (read(&two(false)), read(&two(true)));
    let tso = KnownAnswer { model: "tso", safe: false, contexts: None };
    assert_eq!(least(&in_order, &tso, 8), Some(8));
    assert_eq!(least(&reversed, &tso, 6), None);
    assert!(LossyChannel { messages: 1, letters: 1, reversed: true }.generate().is_err());
    assert!(LossyChannel { messages: 2, letters: 3, reversed: false }.generate().is_err());
}

/// How often a thread of a violation goes round: each round ends with a step of the last automaton.
fn rounds(moduli: &[usize]) -> usize {
    let made = Automata { moduli: moduli.to_vec(), disjoint: false }.generate().expect("of this size");
    let program = read(&made);
    let task = Task::safe(&program, TSO);
    let Verdict::Unsafe(trace) = BoundedContexts.verify(&task, &Run::default()).verdict else {
        panic!("there is a word")
    };
    let thread = &program.threads[0];
    let current = thread.registers.iter().position(|name| name.starts_with("at_")).expect("a register");
    let moves = |event: &Event| match event {
        Event::Step { edge, .. } => {
            matches!(&thread.edge(*edge).op, Op::Assign(register, _) if register.index() == current)
        }
        Event::Drain { .. } => false,
    };
    // The first assignment is no round.
    trace.steps.iter().filter(|step| moves(&step.event)).count() - 1
}

#[test]
fn the_shortest_word_is_the_least_common_multiple() {
    assert_eq!(rounds(&[2]), 2);
    assert_eq!(rounds(&[3]), 3);
    assert_eq!(rounds(&[2, 2]), 2);
    assert_eq!(rounds(&[2, 3]), 6);
    as_expected(&Automata { moduli: vec![2], disjoint: true }, 2);
    assert!(Automata { moduli: vec![1], disjoint: false }.generate().is_err());
    assert!(Automata { moduli: vec![], disjoint: false }.generate().is_err());
}

/// The answers are those that the corpus has, and sizes can be set.
#[test]
fn mutexes_are_those_of_the_corpus() {
    for name in MUTEXES {
        let constants = vec![("N".to_string(), "3".to_string())];
        let made = Mutex { name: name.to_string(), constants }.generate().expect("it has this constant");
        assert_eq!(read(&made).threads.len(), 3, "{name}");
        let path = corpus::corpus().into_iter().find(|path| path.ends_with(format!("{name}.fw")));
        let cases = corpus::expected(&path.expect("part of the corpus")).case;
        for expected in &made.expected {
            let truths = cases.iter().filter(|case| case.model == expected.model).map(|case| case.truth());
            let truths: Vec<&str> = truths.filter(|truth| *truth != "unknown").collect();
            assert!(!truths.is_empty() && truths.iter().all(|truth| *truth == expected.verdict()), "{name}");
        }
    }
    let wrong = vec![("M".to_string(), "3".to_string())];
    assert!(Mutex { name: "bakery".to_string(), constants: wrong }.generate().is_err());
    assert!(Mutex { name: "nothing".to_string(), constants: Vec::new() }.generate().is_err());
}
