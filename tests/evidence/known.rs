//! What certificates know, place by place: exact sentences for programs where one can see them, and
//! random walks that never leave what is claimed.

mod said;

use engine::{Run, engine_named};
use evidence::{Certificate, KnownFacts, Listed, MostStates, Task, Verdict, check, known, known_within};
use machine::{Buffered, Configuration, model_named};
use program::{Loc, Program, Source, ThreadId};
use said::Seen;
use support::models;

fn read(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", "").expect("there is such a language");
    (frontend.read)(Source::new("test.fw", text), &frontend::Options::default()).expect("it reads").program
}

/// Calls `then` with a proof that was checked.
fn with_proof<T>(
    program: &Program,
    model: &str,
    engine: &str,
    then: impl Fn(&Task<'_>, &Certificate) -> T,
) -> T {
    let task = Task::safe(program, model_named(model).expect("there is such a model"));
    let answer = engine_named(engine).expect("there is such an engine").verify(&task, &Run::default());
    let checked = check(&task, answer.verdict, &evidence::Ignore).expect("the evidence holds");
    let Verdict::Safe(certificate) = checked.verdict() else { panic!("{:?}", checked.verdict()) };
    let kind = match certificate {
        Certificate::Listed(Listed { gaps: None, .. }) => "explicit",
        Certificate::Listed(Listed { gaps: Some(_), .. }) => "gaps",
        Certificate::Cubes(_) => "cegar",
        Certificate::Via(_) => "lazy",
        Certificate::Pools(_) => "buffers",
        Certificate::Reduced(_) => "explicit, reduced",
        Certificate::Basis(_) => "complete",
        Certificate::Shared(_) => "explicit, in parts",
        Certificate::Spilled(_) => "explicit, in files",
    };
    assert_eq!(kind, engine);
    then(&task, certificate)
}

fn proved(program: &Program, model: &str, engine: &str) -> KnownFacts {
    with_proof(program, model, engine, known)
}

fn corpus(name: &str) -> Program {
    let path = support::root().join("corpus").join(name);
    read(&std::fs::read_to_string(path).expect("the corpus has it"))
}

/// The sentences where a thread stands at a label.
fn at_label(program: &Program, known: &KnownFacts, thread: usize, label: &str) -> Vec<String> {
    let loc = program.threads[thread].labelled(label)[0];
    known.at(ThreadId::new(thread), loc).expect("it is reached").to_vec()
}

const TICKET: &str = "shared next, serving;
thread T(i in 0..2) { let mine; loop {
    mine = fetch_add(next, 1); await serving == mine; cs: skip; serving = mine + 1; } }
never T0@cs && T1@cs;";

#[test]
fn a_closed_set_knows_values_buffers_and_who_is_elsewhere() {
    let program = corpus("peterson_fenced.fw");
    let known = proved(&program, "tso", "explicit");
    assert_eq!(
        at_label(&program, &known, 0, "cs"),
        ["flag[0] is 1", "flag[1] and turn are 0 or 1", "its buffer is empty", "P1 is never at cs"]
    );
    assert_eq!(known.everywhere(), ["flag[0], flag[1] and turn are 0 or 1"]);
    let cs = program.threads[0].labelled("cs")[0];
    let besides = known.besides_at(ThreadId::new(0), cs).expect("it is reached");
    assert_eq!(besides, ["flag[0] is 1", "its buffer is empty", "P1 is never at cs"]);
    assert!(known.about().contains("lists all"), "{}", known.about());
}

#[test]
fn values_and_buffers_of_a_location_are_told() {
    let text = "shared x, y;
        thread P { let a; x = 1; fence; a = y; here: a = a + 1; }
        thread Q { y = 2; there: skip; }
        never P.a == 7;";
    let program = read(text);
    let tso = proved(&program, "tso", "explicit");
    let here = at_label(&program, &tso, 0, "here");
    assert_eq!(here[..4], ["x is 1", "y is 0 or 2", "a is 0 or 2", "its buffer is empty"].map(String::from));
    let there = at_label(&program, &tso, 1, "there");
    assert!(there.contains(&"its buffer is empty or holds y=2".to_string()), "{there:?}");
    let sc = proved(&program, "sc", "explicit");
    assert!(!at_label(&program, &sc, 1, "there").iter().any(|sentence| sentence.contains("buffer")));
}

#[test]
fn what_nobody_reaches_is_not_known() {
    let program = read("shared x; thread P { x = 1; await x == 2; here: x = 3; } never x == 3;");
    for engine in ["explicit", "cegar"] {
        let known = proved(&program, "sc", engine);
        let here = program.threads[0].labelled("here")[0];
        assert_eq!(known.at(ThreadId::new(0), here), None);
        assert_eq!(known.at(ThreadId::new(7), here), None);
        assert_eq!(known.at(ThreadId::new(0), Loc::new(99)), None);
    }
    let known = proved(&program, "sc", "explicit");
    assert_eq!(known.at(ThreadId::new(0), Loc::new(0)), Some(&["x is 0".to_string()][..]));
}

#[test]
fn a_gap_certificate_knows_bounds_and_order() {
    let program = read(TICKET);
    let known = proved(&program, "tso", "gaps");
    assert_eq!(
        at_label(&program, &known, 0, "cs"),
        [
            "next is at least 1",
            "serving is at least 0",
            "mine is at least 0",
            "serving < next",
            "mine < next",
            "serving == mine",
            "its buffer is empty",
            "T1 is never at cs"
        ]
    );
}

#[test]
fn cubes_know_comparisons() {
    let program = corpus("bakery_fenced.fw");
    let bakery = proved(&program, "tso", "cegar");
    assert_eq!(
        at_label(&program, &bakery, 0, "cs"),
        [
            "number[0] is at least 1",
            "number[1] is at least 0",
            "its buffer may hold stores to choosing[0]",
            "its newest buffered store to choosing[0] is at most 0",
            "P1 is never at cs"
        ]
    );
    let program = corpus("ticket_lock.fw");
    let ticket = proved(&program, "tso", "cegar");
    assert_eq!(
        at_label(&program, &ticket, 1, "cs"),
        ["owner < next", "its buffer is empty", "P0 is never at cs"]
    );
    assert_eq!(ticket, proved(&program, "tso", "cegar"), "it is the same each time");
}

#[test]
fn cubes_know_of_other_threads_registers() {
    let text = "shared x; thread P { let r; loop { r = fetch_add(x, 1); } }
        thread Q { let a; a = x; here: skip; } never P.r > x;";
    let program = read(text);
    let known = proved(&program, "tso", "cegar");
    assert_eq!(at_label(&program, &known, 1, "here"), ["P.r <= x", "its buffer is empty"]);
}

#[test]
fn cubes_know_of_buffered_stores() {
    let text = "shared x; thread P { x = 1; x = 2; here: skip; } thread Q { let a; a = x; }
        never P@here && x > 2;";
    let program = read(text);
    let known = proved(&program, "pso", "cegar");
    assert_eq!(
        at_label(&program, &known, 0, "here"),
        [
            "x is at most 2",
            "its buffer may hold stores to x",
            "its newest buffered store to x is 2",
            "every older buffered store to x is 1"
        ]
    );
}

/// Where stores pile up for ever and what others see must not go back, older stores are compared with newer ones.
#[test]
fn cubes_know_the_order_of_buffered_stores() {
    let program = corpus("progress.fw");
    for model in ["tso", "pso"] {
        let known = proved(&program, model, "cegar");
        let before_the_loop = known.at(ThreadId::new(0), program.threads[0].entry());
        assert_eq!(
            before_the_loop.expect("it is reached"),
            [
                "done and stop are at least 0",
                "its buffer may hold stores to done",
                "done < every older buffered store to done",
                "count == its newest buffered store to done",
                "every older buffered store to done < count",
                "every older buffered store to done < every newer one",
            ],
            "{model}"
        );
        check_on_walks(&program, model, "cegar");
    }
}

#[test]
fn a_proof_of_robustness_says_nothing_about_places() {
    let program = corpus("peterson_fenced.fw");
    let known = proved(&program, "tso", "lazy");
    assert!(known.is_empty() && known.everywhere().is_empty());
    assert!(known.about().contains("nothing about single places"), "{}", known.about());
}

#[test]
fn a_monitor_can_stop_it() {
    for (program, engine) in [(corpus("bakery_fenced.fw"), "cegar"), (corpus("bakery_fenced.fw"), "gaps")] {
        let stopped = with_proof(&program, "tso", engine, |task, certificate| {
            known_within(task, certificate, &MostStates(63)).is_err()
        });
        assert!(stopped, "{engine}");
    }
}

#[test]
fn a_proof_that_goes_backwards_knows_which_values_there_are() {
    let text = "shared x, y;
        thread P { let a; loop { x = 1; x = 2; a = y; here: skip; x = a; } }
        thread Q { y = 4; await x == 2; there: skip; await x == 7; elsewhere: skip; }
        never x == 3; never P.a == 2;";
    let program = read(text);
    let values = ["x is 0, 1, 2 or 4", "y is 0 or 4"];
    for (model, stores) in [
        ("tso", &["every buffered store to x is 0, 1, 2 or 4", "every buffered store to y is 4"][..]),
        ("pso", &["its buffer may hold stores to x", "every buffered store to x is 0, 1, 2 or 4"]),
    ] {
        let known = proved(&program, model, "complete");
        assert_eq!(at_label(&program, &known, 0, "here"), [&values[..], stores, &["a is 0 or 4"]].concat());
        let elsewhere = program.threads[1].labelled("elsewhere")[0];
        assert_eq!(known.at(ThreadId::new(1), elsewhere), None);
        assert!(known.about().contains("goes backwards"), "{}", known.about());
        check_on_walks(&program, model, "complete");
    }
}

/// What the basis covers is left out: under SC and PSO at all times, under TSO of memory once everything is drained.
#[test]
fn a_proof_that_goes_backwards_knows_what_never_comes_together() {
    let text = "shared x, y, ack;
        thread P { x = 1; fence; y = 1; await ack == 1; x = 3; }
        thread Q { await y == 1; here: assert x == 1; ack = 1; }";
    let program = read(text);
    let expected: [(&str, &[&str]); 3] = [
        ("sc", &["x is 1", "y and ack are 0 or 1"]),
        (
            "tso",
            &[
                "x is 0, 1 or 3",
                "y and ack are 0 or 1",
                "every buffered store to x is 1 or 3",
                "every buffered store to y and every buffered store to ack are 1",
                "while all buffers are empty, x is 1",
            ],
        ),
        (
            "pso",
            &[
                "x is 1",
                "y and ack are 0 or 1",
                "its buffer is empty",
                "no buffered store to x is 3",
                "no store to ack is buffered",
            ],
        ),
    ];
    for (model, expected) in expected {
        let known = proved(&program, model, "complete");
        assert_eq!(at_label(&program, &known, 1, "here"), expected, "{model}");
        check_on_walks(&program, model, "complete");
    }
}

#[test]
fn no_walk_leaves_what_a_basis_knows() {
    for (name, models) in [
        ("peterson_fenced.fw", &["sc", "tso"][..]),
        ("dekker_fenced.fw", &["pso"]),
        ("mcs_lock.fw", &["tso"]),
        ("thesis_3_3.fw", &["pso"]),
    ] {
        for model in models {
            check_on_walks(&corpus(name), model, "complete");
        }
    }
}

/// Walks concretely and judges every sentence.
#[test]
fn no_walk_leaves_what_lists_of_states_know() {
    check_on_walks(&corpus("peterson_fenced.fw"), "tso", "explicit");
    check_on_walks(&corpus("sb_fenced.fw"), "tso", "explicit");
    check_on_walks(&corpus("sb_fenced.fw"), "pso", "explicit");
    check_on_walks(&corpus("dekker_fenced.fw"), "tso", "explicit");
    check_on_walks(&corpus("burns_fenced.fw"), "tso", "explicit");
    check_on_walks(&read(TICKET), "tso", "gaps");
    check_on_walks(&read(TICKET), "pso", "gaps");
    check_on_walks(&corpus("ticket_lock.fw"), "sc", "gaps");
    check_on_walks(&corpus("bakery_fenced.fw"), "tso", "gaps");
}

#[test]
fn no_walk_leaves_what_cubes_know() {
    check_on_walks(&corpus("bakery_fenced.fw"), "tso", "cegar");
    check_on_walks(&corpus("ticket_lock.fw"), "tso", "cegar");
    check_on_walks(&corpus("ticket_lock.fw"), "pso", "cegar");
    check_on_walks(&corpus("peterson_fenced.fw"), "tso", "cegar");
    check_on_walks(&corpus("peterson_fenced.fw"), "sc", "cegar");
    check_on_walks(&corpus("sb_fenced.fw"), "pso", "cegar");
}

/// Threads that go first, keep registers while others look, and leave stores in their buffers.
const BUFFERED: [&str; 3] = [
    "shared x, y; thread P { let r; loop { x = 1; x = 2; r = r + 1; y = r; here: skip; } }
     thread Q { let a; loop { a = x; there: skip; } } never x > 2; never x < 0;",
    "shared data, flag; thread P { let n; loop { n = n + 1; data = n; flag = n; } }
     thread Q { let f, d; loop { f = flag; seen: skip; d = data; read: skip; } } never flag < 0; never data < 0;",
    "shared x; thread P { x = 3; x = 4; here: skip; x = 5; fence; done: skip; }
     thread Q { let a; a = x; there: skip; } never Q.a == 2; never P@done && x != 5;",
];

#[test]
fn no_walk_leaves_what_cubes_know_of_buffers() {
    for text in BUFFERED {
        let program = read(text);
        for model in models::names() {
            check_on_walks(&program, model, "cegar");
        }
    }
}

fn check_on_walks(program: &Program, model: &str, engine: &str) {
    let known = proved(program, model, engine);
    let judged: usize = (0..40).map(|seed| walk(program, model, &known, seed)).sum();
    assert!(judged > 500, "{} under {model} by {engine}: only {judged} sentences", program.name);
}

fn walk(program: &Program, model: &str, known: &KnownFacts, seed: u64) -> usize {
    let machine = Buffered::exact(program, model_named(model).expect("a model")).with_dead_registers();
    let mut chance = fastrand::Rng::with_seed(seed);
    let start: Vec<_> = program.variable_ids().map(|v| (v, program.variable(v).initial.example())).collect();
    let mut at = Configuration::initial(&machine, &start).expect("allowed");
    let mut judged = 0;
    for _ in 0..200 {
        for thread in program.thread_ids() {
            let loc = at.local(thread).loc;
            let here =
                known.at(thread, loc).unwrap_or_else(|| panic!("a walk comes to {loc:?} of {thread:?}"));
            let seen = Seen { program, at: &at, thread };
            for sentence in known.everywhere().iter().chain(here) {
                assert!(seen.holds(sentence), "`{sentence}` at {loc:?} of {thread:?} under {model}: {at:?}");
                judged += 1;
            }
        }
        // Drains are rare, so that buffers fill.
        let steps = at.enabled(&machine);
        let edges: Vec<_> =
            steps.iter().filter(|step| matches!(step.event, machine::Event::Step { .. })).collect();
        let patient = chance.u8(..4) > 0 && !edges.is_empty();
        let step = if patient { chance.choice(edges) } else { chance.choice(&steps) };
        let Some(step) = step else { break };
        let value = step.choice.as_ref().map(|domain| domain.example());
        at = at.take(&machine, step.event, value.as_ref()).expect("it was enabled");
    }
    judged
}
