//! Successors put together from what was seen before against those that the domain lists: the same, in the same order, on
//! random programs, of all states and of states in which threads have gone ahead.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use super::reductions::waiting;
use machine::{
    Buffered, DataDomain, Doubt, Event, InitialStates, MODELS, Model, Numbering, OnDomain, Remembered, Rules,
    State, StateSet, Stepper, TakenUp, on_reduced,
};
use program::{Int, Program, Source, ThreadId};
use std::cell::Cell;
use support::random::{seeds, sketch};

const MOST_STATES: usize = 2_000;

/// How many states were compared, and of how many something was remembered; and how long the longest of these is.
#[derive(Default)]
struct Compared {
    states: usize,
    listed: usize,
    longest: usize,
}

/// Compares state by state; what differs is an error.
struct Comparison<'a>(&'a mut Compared);

/// Numbers that controls other than the first get later.
struct Later<'a>(&'a Cell<bool>);

impl Numbering for Later<'_> {
    fn own_global(&self, number: u32) -> Option<u32> {
        Some(number)
    }

    fn own_local(&self, _: usize, number: u32) -> Option<u32> {
        Some(number)
    }

    fn global(&self, own: u32) -> Option<u32> {
        Some(own)
    }

    fn local(&self, _: usize, own: u32) -> Option<u32> {
        (self.0.get() || own == 0).then_some(own)
    }
}

impl OnDomain for Comparison<'_> {
    type Done = Result<(), String>;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done {
        compare(domain, self.0)
    }
}

fn compare<'m>(mut domain: impl DataDomain<'m>, compared: &mut Compared) -> Result<(), String> {
    let mut remembered = Remembered::new(&domain);
    let is_numbered = Cell::new(false);
    let numbers = Later(&is_numbered);
    let mut states = StateSet::new();
    let packed = |state: &State| {
        let mut bytes = Vec::new();
        state.pack(&mut bytes);
        bytes
    };
    let mut work: Vec<State> = domain.initial().0.collect();
    let mut next = State::default();
    while let Some(state) = work.pop() {
        let bytes = packed(&state);
        let queue = domain.stepper().longest_queue(&state);
        if queue > 4 || states.len() > MOST_STATES || !states.insert(&bytes, None).expect("room").1 {
            continue;
        }
        domain.prepare(&state);
        let (mut listed, mut doubted) = (Vec::new(), false);
        domain.successors(&state, &mut next, |_| doubted = true, |_, _, next| listed.push(next.clone()));
        compared.states += 1;
        // What is met before its control has a number is put together once it has.
        is_numbered.set(false);
        remembered.take_up(&mut domain, &numbers, &bytes, queue);
        is_numbered.set(true);
        remembered.renumber(&numbers);
        let heavy =
            remembered.take_up(&mut domain, &numbers, &bytes, queue.saturating_sub(1)) == TakenUp::Heavy;
        let taken_up = remembered.take_up(&mut domain, &numbers, &bytes, queue);
        if taken_up == TakenUp::Listed {
            compared.listed += 1;
            compared.longest = compared.longest.max(bytes.len());
            let known = remembered.state();
            known.unpack(&mut next);
            let violates = domain.violation(&state) != Ok(None);
            if doubted || next != state || known.longest_queue() != queue || heavy != (queue > 0) {
                return Err(format!("{state:?} is taken for {next:?}"));
            }
            if violates && !known.may_violate() {
                return Err(format!("{state:?} violates something"));
            }
            let mut put_together = Vec::new();
            remembered.each_successor(|successor| {
                let mut bytes = vec![7; 3];
                let end = successor.pack_behind(3, &mut bytes);
                put_together.push(bytes[3..end].to_vec());
            });
            if put_together != listed.iter().map(packed).collect::<Vec<_>>() {
                return Err(format!("{state:?} has other successors: {listed:?}"));
            }
        }
        work.extend(listed);
    }
    Ok(())
}

fn compare_all(program: &Program, model: Model, compared: &mut Compared) -> Result<(), String> {
    let machine = Buffered::exact(program, model);
    for settled in [false, true] {
        let rules = Rules { settled, ..Rules::default() };
        on_reduced(&machine, rules, &[], Comparison(compared)).unwrap_or(Ok(()))?;
    }
    Ok(())
}

#[test]
fn what_is_remembered_is_what_the_domain_lists() {
    let mut compared = Compared::default();
    for seed in 0..seeds() {
        for program in [sketch(seed).build(), waiting(seed).build()] {
            for model in MODELS {
                if let Err(why) = compare_all(&program, *model, &mut compared) {
                    panic!("seed {seed}, {}: {why}\n{}", model.name(), program::print(&program));
                }
            }
        }
    }
    let Compared { states, listed, .. } = compared;
    assert!(listed * 10 > states * 9, "of {states} states only {listed} were put together");
}

/// Lamport's fast mutex for so many threads.
fn lamport(threads: i64) -> Program {
    let path = support::root().join("corpus/lamport_fast_fenced.fw");
    let text = std::fs::read_to_string(path).expect("part of the corpus");
    let frontend = frontend::choose(Some("fw"), "lamport", &text).expect("known");
    let defines = [("N".to_string(), Int::from(threads))].into_iter().collect();
    let options = frontend::Options { defines, ..Default::default() };
    (frontend.read)(Source::new("lamport", text), &options).expect("a program").program
}

/// States of few threads fit into words; those of many do not.
#[test]
fn what_is_remembered_of_long_states_is_what_the_domain_lists() {
    let mut longest = Vec::new();
    for threads in [3, 5, 7, 9, 12] {
        let program = lamport(threads);
        for model in MODELS {
            let mut compared = Compared::default();
            if let Err(why) = compare_all(&program, *model, &mut compared) {
                panic!("{threads} threads, {}: {why}", model.name());
            }
            let Compared { states, listed, .. } = compared;
            assert!(listed * 10 > states * 9, "of {states} states only {listed} were put together");
            longest.push(compared.longest);
        }
    }
    // Two words have 32 bytes.
    assert!(
        longest.iter().any(|bytes| *bytes < 16) && longest.iter().any(|bytes| *bytes > 32),
        "{longest:?}"
    );
}

/// A domain that says that threads depend on nothing but themselves, where one waits for another to stand where it started.
struct Peeking<'m, 'p>(Stepper<'m, Buffered<'p>>);

impl<'m, 'p: 'm> DataDomain<'m> for Peeking<'m, 'p> {
    type Machine = Buffered<'p>;

    fn is_threadwise(&self) -> bool {
        true
    }

    fn stepper(&self) -> &Stepper<'m, Buffered<'p>> {
        &self.0
    }

    fn stepper_mut(&mut self) -> &mut Stepper<'m, Buffered<'p>> {
        &mut self.0
    }

    fn initial(&mut self) -> (InitialStates, Vec<Doubt>) {
        self.0.initial()
    }

    fn successors(
        &self,
        state: &State,
        next: &mut State,
        doubt: impl FnMut(Doubt),
        mut visit: impl FnMut(Event, Option<i64>, &State),
    ) {
        let waits = state.locals.last() != Some(&0);
        self.0.successors(state, next, doubt, |event, choice, next| {
            if !(waits && event.thread() == ThreadId::new(0)) {
                visit(event, choice, next);
            }
        });
    }
}

#[test]
fn a_thread_that_depends_on_another_is_noticed() {
    let noticed = (0..50).any(|seed| {
        let program = sketch(seed).build();
        let machine = Buffered::exact(&program, MODELS[0]);
        compare(Peeking(Stepper::new(&machine)), &mut Compared::default()).is_err()
    });
    assert!(noticed);
}
