//! Large searches that workers share: whoever shares them, verdict, run, number of states and evidence are the same,
//! and what a search without rounds answers is answered in rounds. Processes are played by threads of the test that
//! know each other by address only. So that small programs count as large, a search is large here after a few states.

use support::corpus::{corpus, expected, read};
use support::random::{generate, replicas, seeds_or};

use engine::{Answer, Engine, Explicit, Reduction, Run};
use evidence::{Alone, Crew, Form, Ignore, Rounds, Task, Verdict, check_file, check_with, write_evidence};
use machine::{MODELS, model_named};
use program::Program;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Cursor};
use std::net::TcpListener;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use workers::{Hosts, Workers};

/// Searches are large from here on.
const LARGE: usize = 10;

/// What must not depend on who shares the work.
#[derive(Debug, PartialEq, Eq)]
struct Said {
    word: &'static str,
    states: usize,
    why: String,
    evidence: Vec<u8>,
}

fn explored(task: &Task<'_>, reduction: Reduction, crew: &dyn Crew, large: usize) -> Answer {
    Explicit.verify(task, &Run { reduction, crew, large, max_buffer: Some(4), ..Run::default() })
}

/// The answer, checked; of several processes, the evidence is this one's part.
fn said(task: &Task<'_>, reduction: Reduction, crew: &dyn Crew) -> Said {
    let Answer { verdict, statistics, .. } = explored(task, reduction, crew, LARGE);
    let checked = check_with(task, verdict, &Ignore, crew).expect("the evidence holds");
    let verdict = checked.verdict();
    let mut evidence = Vec::new();
    write_evidence(task, verdict, Form::Text, &mut evidence).expect("writable");
    let why = if let Verdict::Unknown(reasons) = verdict { format!("{reasons:?}") } else { String::new() };
    Said { word: verdict.word(), states: statistics.states, why, evidence }
}

/// Random programs of two kinds, with a model and a reduction.
fn programs(count: u64) -> impl Iterator<Item = (u64, Program, Reduction)> {
    (0..count).map(|seed| {
        let program = if seed % 2 == 0 { generate(seed) } else { replicas(seed).build() };
        let reductions =
            [Reduction::None, Reduction::Local, Reduction::Symmetry, Reduction::All, Reduction::Auto];
        (seed, program, reductions[seed as usize / 2 % reductions.len()])
    })
}

#[test]
fn what_is_posted_arrives_in_the_next_round_and_in_order() {
    for threads in [1, 2, 3] {
        let workers = Workers::threads(threads);
        let worked = AtomicUsize::new(0);
        let part = |rounds: &mut dyn Rounds| {
            let me = rounds.index() as u8;
            for round in 0..50u8 {
                let posts = (0..threads).flat_map(|to| [(to, vec![round, me, 0]), (to, vec![round, me, 1])]);
                let mail = rounds.exchange(posts.rev().collect()).expect("nobody is lost");
                let from_all = (0..threads).flat_map(|from| {
                    [(from, vec![round, from as u8, 1]), (from, vec![round, from as u8, 0])]
                });
                assert_eq!(mail, from_all.collect::<Vec<_>>());
            }
            worked.fetch_add(1, Ordering::Relaxed);
        };
        // Work can be shared again and again.
        (0..3).for_each(|_| workers.work(&part).expect("nobody is lost"));
        assert_eq!(worked.into_inner(), 3 * threads);
    }
}

#[test]
fn the_answer_is_the_same_for_any_number_of_threads() {
    let crews = [Workers::threads(2), Workers::threads(3)];
    let mut words = BTreeMap::new();
    for (seed, program, reduction) in programs(seeds_or(200)) {
        let task = Task::safe(&program, MODELS[seed as usize % MODELS.len()]);
        let alone = said(&task, reduction, &Alone);
        for crew in &crews {
            assert_eq!(said(&task, reduction, crew), alone, "seed {seed} on {} threads", crew.workers());
        }
        if alone.states > 3 * LARGE {
            *words.entry(alone.word).or_insert(0) += 1;
        }
    }
    assert!(
        ["safe", "unsafe"].iter().all(|word| words.get(word).is_some_and(|count| *count >= 10)),
        "{words:?}"
    );
}

/// Rounds find what a search without them does: the same verdict, as many states, and as near a violation.
#[test]
fn rounds_answer_like_one_search() {
    let (mut complete, mut near) = (0, 0);
    for (seed, program, reduction) in programs(seeds_or(300)) {
        if reduction == Reduction::Auto {
            continue;
        }
        let task = Task::safe(&program, MODELS[seed as usize % MODELS.len()]);
        let one = explored(&task, reduction, &Alone, usize::MAX);
        let rounds = explored(&task, reduction, &Alone, LARGE);
        match (&one.verdict, &rounds.verdict) {
            (Verdict::Safe(_), Verdict::Safe(_)) => {
                assert_eq!(one.statistics.states, rounds.statistics.states, "seed {seed}");
                complete += usize::from(rounds.statistics.states > 3 * LARGE);
            }
            (Verdict::Unsafe(a), Verdict::Unsafe(b)) => {
                near += 1;
                if reduction == Reduction::None {
                    assert_eq!(a.steps.len(), b.steps.len(), "seed {seed}");
                }
            }
            (Verdict::Unknown(a), Verdict::Unknown(b)) => assert_eq!(a, b, "seed {seed}"),
            (a, b) => panic!("seed {seed}: {} and {} in rounds", a.word(), b.word()),
        }
    }
    assert!(complete > 20 && near > 20, "{complete} complete, {near} violated");
}

#[test]
fn the_corpus_is_answered_by_any_number_of_threads() {
    let crew = Workers::threads(2);
    for path in corpus() {
        for case in expected(&path).case {
            let large = case.states.is_some_and(|states| (1_000..60_000).contains(&states));
            if !(large && case.engine == "explicit") {
                continue;
            }
            let program = read(&path, &case.define);
            let task = Task::safe(&program, model_named(&case.model).expect("there is such a model"));
            let alone = said(&task, Reduction::None, &Alone);
            if alone.word == "safe" {
                assert_eq!(Some(alone.states), case.states, "{}", path.display());
            }
            assert_eq!(said(&task, Reduction::None, &crew), alone, "{}", path.display());
        }
    }
}

/// So many processes with so many threads each, that know each other's addresses.
fn processes(count: usize, threads: usize) -> Vec<Workers> {
    let listeners: Vec<TcpListener> =
        (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
    let address = |listener: &TcpListener| listener.local_addr().expect("an address").to_string();
    let addresses: Vec<String> = listeners.iter().map(address).collect();
    let hosts = |process| Hosts { addresses: addresses.clone(), process };
    (0..count).map(|process| Workers::on_hosts(threads, hosts(process))).collect()
}

/// What every process says.
fn said_by_all(all: &[Workers], task: &Task<'_>, reduction: Reduction) -> Vec<Said> {
    thread::scope(|scope| {
        let asked: Vec<_> = all.iter().map(|crew| scope.spawn(move || said(task, reduction, crew))).collect();
        asked.into_iter().map(|asked| asked.join().expect("it says something")).collect()
    })
}

/// Parts of evidence, one behind the other, are the evidence of one process; and a part alone is none.
#[test]
fn processes_answer_like_one() {
    for (count, threads) in [(2, 1), (3, 2)] {
        let all = processes(count, threads);
        let mut parts = 0;
        for (seed, program, reduction) in programs(seeds_or(60)) {
            let task = Task::safe(&program, MODELS[seed as usize % MODELS.len()]);
            let alone = said(&task, reduction, &Alone);
            let mut together = said_by_all(&all, &task, reduction);
            let mut evidence = together[0].evidence.clone();
            if together[1].evidence != evidence {
                parts += 1;
                evidence = together.iter().flat_map(|said| said.evidence.clone()).collect();
                for said in &together {
                    let file = said.evidence.clone();
                    let open = || -> io::Result<Box<dyn BufRead>> { Ok(Box::new(Cursor::new(file.clone()))) };
                    assert!(check_file(&program, &open, 1 << 20, &Ignore).is_err(), "seed {seed}");
                }
            }
            assert!(evidence == alone.evidence, "seed {seed}: other evidence by {count} processes");
            together.iter_mut().for_each(|said| said.evidence.clone_from(&alone.evidence));
            assert!(together.iter().all(|said| *said == alone), "seed {seed}: {alone:?} {together:?}");
        }
        assert!(parts > 5, "{parts}");
        // All hang up at the same time.
        thread::scope(|scope| all.into_iter().for_each(|workers| drop(scope.spawn(move || drop(workers)))));
    }
}

/// A part from which a state is missing is rejected by all, and so are parts that do not belong together.
#[test]
fn a_missing_state_of_a_part_is_noticed() {
    let all = processes(2, 1);
    let mut noticed = 0;
    for (seed, program, reduction) in programs(seeds_or(60)) {
        let task = Task::safe(&program, MODELS[seed as usize % MODELS.len()]);
        let check = |crew: &Workers, gone: bool| {
            let mut verdict = explored(&task, reduction, crew, LARGE).verdict;
            if let Verdict::Safe(evidence::Certificate::Shared(proof)) = &mut verdict {
                let mut states = machine::StateSet::new();
                let left_out = proof.part.states.len() / 2;
                for (at, state) in proof.part.states.iter().enumerate() {
                    if !(gone && at == left_out) {
                        states.insert(state, None).expect("room");
                    }
                }
                proof.part.states = states;
                return Some(check_with(&task, verdict, &Ignore, crew).is_err());
            }
            None
        };
        let found = thread::scope(|scope| {
            let other = scope.spawn(|| check(&all[1], false));
            (check(&all[0], true), other.join().expect("it says something"))
        });
        assert!(matches!(found, (None, None) | (Some(true), Some(true))), "seed {seed}: {found:?}");
        noticed += usize::from(found.0 == Some(true));
    }
    assert!(noticed > 5, "{noticed}");
    thread::scope(|scope| all.into_iter().for_each(|workers| drop(scope.spawn(move || drop(workers)))));
}
