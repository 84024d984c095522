//! Simplified violations: still violations, of the same claim, never longer, the same each time;
//! and simple where we know what simple is.
//!
//! `FENCEWRIGHT_SEEDS=n` draws n random programs instead of the usual number.

use support::{models, random};

use engine::{Engine, Explicit, Order, Run, prevented_by};
use evidence::{Checked, Ignore, MostStates, Task, Verdict, check, happens_under_sc, simplify};
use machine::{Account, Action, Event, MODELS, Model, ReadFrom, TSO, Trace, TraceStep, model_named, replay};
use program::{Fence, Op, Placement, Point, Program, Source, Strength};
use random::{generate, seeds};
use std::collections::BTreeSet;

fn read(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", "").expect("there is such a language");
    let parsed = (frontend.read)(Source::new("test.fw", text), &frontend::Options::default());
    parsed.expect("it is a program").program
}

fn found(task: &Task<'_>, order: Order) -> Option<Trace> {
    let run = Run { monitor: &MostStates(50_000), order, max_buffer: Some(4), ..Run::default() };
    match Explicit.verify(task, &run).verdict {
        Verdict::Unsafe(trace) => Some(trace),
        _ => None,
    }
}

fn simplified(task: &Task<'_>, trace: &Trace) -> Checked {
    let checked = check(task, Verdict::Unsafe(trace.clone()), &Ignore).expect("engines give evidence");
    let mut simple = simplify(task, checked, &Ignore);
    simple.explain(task, &Ignore);
    let run = replay(task.program, task.model, trace_of(&simple)).expect("it is a run");
    let account = simple.violated().expect("a violation stays one").account;
    assert_eq!(&run, account, "the account is that of the trace");
    check_account(task.program, account);
    simple
}

fn simpler(task: &Task<'_>, trace: &Trace) -> Trace {
    trace_of(&simplified(task, trace)).clone()
}

/// Every load reads what its store wrote, every drain brings what its store wrote, and memory is
/// what the last of them left there.
fn check_account(program: &Program, account: &Account) {
    let steps = account.steps();
    let stored = |step: usize, variable| {
        let stores = steps[step].actions.iter().rev();
        let mut values = stores.filter_map(|action| match action {
            Action::Store(v, value, _) if *v == variable => Some(value.clone()),
            _ => None,
        });
        values.next().expect("it stores that")
    };
    let mut memory: Vec<_> = program.variable_ids().map(|v| account.passed()[0].memory(v)).collect();
    for (at, step) in steps.iter().enumerate() {
        for action in &step.actions {
            match action {
                Action::Load(v, value, ReadFrom::Initial) => {
                    assert_eq!((value, value), (&memory[v.index()], &account.passed()[0].memory(*v)));
                }
                Action::Load(v, value, ReadFrom::Memory(store)) => {
                    assert_eq!((value, value), (&memory[v.index()], &stored(*store, *v)));
                }
                Action::Load(v, value, ReadFrom::OwnBuffer(store)) => {
                    assert_eq!(*value, stored(*store, *v));
                    assert_eq!(steps[*store].thread(), step.thread());
                    assert!(*store < at && steps[*store].drain.is_none_or(|drain| drain > at));
                }
                Action::Drain(v, value, store) => {
                    assert_eq!((steps[*store].drain, value), (Some(at), &stored(*store, *v)));
                    memory[v.index()] = value.clone();
                }
                Action::Store(v, value, false) => memory[v.index()] = value.clone(),
                Action::Store(..) | Action::Assign(..) | Action::Choose(..) => {}
            }
        }
        let after: Vec<_> = program.variable_ids().map(|v| account.passed()[at + 1].memory(v)).collect();
        assert_eq!(memory, after, "step {at}");
    }
}

fn trace_of(checked: &Checked) -> &Trace {
    match checked.verdict() {
        Verdict::Unsafe(trace) => trace,
        other => panic!("a violation stays one: {other:?}"),
    }
}

fn thread_steps(trace: &Trace) -> usize {
    trace.steps.iter().filter(|step| matches!(step.event, Event::Step { .. })).count()
}

/// The places in the text of the stores that do not drain at once.
fn delayed(program: &Program, model: Model, trace: &Trace) -> Vec<String> {
    let run = replay(program, model, trace).expect("it is a run");
    let run = run.passed();
    let stored = |(at, step): (usize, &TraceStep)| match step.event {
        Event::Step { thread, edge } => {
            let edge = program.thread(thread).edge(edge);
            let entries = |at: usize| run[at].local(thread).stores().count();
            let waits = entries(at + 1) > entries(at)
                && !trace.steps.get(at + 1).is_some_and(|next| {
                    matches!((next.event, &edge.op),
                        (Event::Drain { thread: t, variable }, Op::Store(v, _)) if t == thread && variable == *v)
                });
            waits.then(|| program.source.snippet(edge.span))
        }
        Event::Drain { .. } => None,
    };
    trace.steps.iter().enumerate().filter_map(stored).collect()
}

#[test]
fn random_violations_stay_violations_and_become_simpler() {
    let (mut judged, mut under_sc) = (0, 0);
    for seed in 0..seeds() {
        let program = generate(seed);
        for (model, order) in MODELS.iter().flat_map(|m| [(*m, Order::Breadth), (*m, Order::Depth)]) {
            let task = Task::safe(&program, model);
            let Some(trace) = found(&task, order) else { continue };
            let simple = simpler(&task, &trace);
            let text = || format!("seed {seed}, {}, {order:?}\n{}", model.name(), program::print(&program));
            assert_eq!(simple.violation, trace.violation, "{}", text());
            assert!(thread_steps(&simple) <= thread_steps(&trace), "{}", text());
            assert_eq!(simpler(&task, &trace), simple, "twice the same: {}", text());
            let late = delayed(&program, model, &simple);
            assert!(late.len() <= delayed(&program, model, &trace).len(), "{}", text());
            // Without delays it is a run under SC; so where SC is safe, a delay must be left.
            assert!(!late.is_empty() || happens_under_sc(&program, &simple), "{}", text());
            judged += 1;
            under_sc += usize::from(late.is_empty());
        }
    }
    assert!(judged > seeds() as usize / 2, "only {judged} violations");
    assert!(under_sc > 10 && judged - under_sc > 10, "both kinds: {under_sc} of {judged}");
}

#[test]
fn a_violation_of_sc_that_was_found_under_tso_needs_no_delay_in_the_end() {
    // Whatever is delayed here, the assertion fails: SC has the run as well.
    let program = read(
        "shared x, y;
thread P { let a; x = 1; a = y; assert a == 0; }
thread Q { let b; y = 1; b = x; }",
    );
    for model in models::buffered() {
        let task = Task::safe(&program, model_named(model).expect("known"));
        let trace = found(&task, Order::Depth).expect("unsafe");
        assert_eq!(delayed(&program, task.model, &simpler(&task, &trace)), [""; 0]);
    }
}

/// The delayed stores of the simplified violation, its threads' steps and its changes of thread.
fn check_simple(text: &str, model: &str, order: Order, expected: (&[&str], usize, usize)) {
    let program = read(text);
    let task = Task::safe(&program, model_named(model).expect("known"));
    let simple = simpler(&task, &found(&task, order).expect("unsafe"));
    let steps = simple.steps.iter().filter(|step| matches!(step.event, Event::Step { .. }));
    let threads: Vec<_> = steps.map(|step| step.event.thread()).collect();
    let switches = threads.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let late = delayed(&program, task.model, &simple);
    let late: Vec<&str> = late.iter().map(String::as_str).collect();
    assert_eq!((late.as_slice(), threads.len(), switches), expected, "{text}");
}

#[test]
fn only_delays_that_matter_remain() {
    let sb = "shared x, y;
thread P { let a; x = 1; a = y; }
thread Q { let b; y = 1; b = x; }
finally !(P.a == 0 && Q.b == 0);";
    for order in [Order::Breadth, Order::Depth] {
        check_simple(sb, "tso", order, (&["x = 1"], 4, 1));
    }
    // Under TSO what is behind the delayed store has to wait as well, under PSO not.
    let peterson = "shared flag[2], turn;
thread P(i in 0..2) { flag[i] = 1; turn = 1 - i; await flag[1 - i] == 0 || turn == i; cs: skip; }
never P0@cs && P1@cs;";
    check_simple(peterson, "tso", Order::Depth, (&["flag[i] = 1", "turn = 1 - i"], 8, 1));
    check_simple(peterson, "pso", Order::Depth, (&["flag[i] = 1"], 8, 1));
    let mp = "shared data, flag;
thread W { data = 1; flag = 1; }
thread R { let f, d; f = flag; d = data; }
finally !(R.f == 1 && R.d == 0);";
    check_simple(mp, "pso", Order::Depth, (&["data = 1"], 4, 1));
}

#[test]
fn loops_and_threads_that_do_not_matter_are_left_out() {
    let text = "shared x, y, z;
thread P { let a, i; loop { if (i < 5) { i = i + 1; z = i; } else { x = 1; a = y; l: skip; } } }
thread Q { let b; loop { y = 1; b = x; m: skip; y = 0; } }
thread R { loop { z = z + 1; if (z > 3) { z = 0; } } }
never P@l && Q@m && P.a == 0 && Q.b == 0;";
    let program = read(text);
    let task = Task::safe(&program, TSO);
    let trace = found(&task, Order::Depth).expect("unsafe");
    let simple = simpler(&task, &trace);
    let threads: BTreeSet<&str> =
        simple.steps.iter().map(|step| program.thread(step.event.thread()).name.as_str()).collect();
    assert_eq!(threads, BTreeSet::from(["P", "Q"]), "{simple:?}");
    assert!(simple.steps.len() < 60, "{} steps", simple.steps.len());
}

#[test]
fn a_long_run_is_made_shorter_and_ends() {
    // A walk of thousands of steps: nothing but the last few matter.
    let program = read(
        "shared x, y;
thread P { let a; loop { x = 1; a = y; l: skip; x = 0; } }
thread Q { let b; loop { y = 1; b = x; m: skip; y = 0; } }
never P@l && Q@m && P.a == 0 && Q.b == 0;",
    );
    let task = Task::safe(&program, TSO);
    let last = found(&task, Order::Breadth).expect("unsafe");
    let (p, q) = (program.threads[0].clone(), program.thread_ids().next().expect("a thread"));
    let mut steps = Vec::new();
    let mut loc = p.entry();
    for _ in 0..2_500 {
        loop {
            let (edge, taken) = p.outgoing(loc).next().expect("a loop never ends");
            steps.push(TraceStep { event: Event::Step { thread: q, edge }, choice: None });
            if let Op::Store(variable, _) = taken.op {
                steps.push(TraceStep { event: Event::Drain { thread: q, variable }, choice: None });
            }
            loc = taken.to;
            if loc == p.entry() {
                break;
            }
        }
    }
    steps.extend(last.steps.iter().cloned());
    let long = Trace { steps, ..last.clone() };
    assert!(long.steps.len() > 10_000);
    assert_eq!(thread_steps(&simpler(&task, &long)), thread_steps(&last));
}

/// Whether a full fence behind a step that the run takes stands in its way: the buffer is not
/// empty at any moment until the thread's next step.
fn waits_for_ever(trace: &Trace, account: &Account, fence: &Placement) -> bool {
    let own =
        |at: &usize| matches!(trace.steps[*at].event, Event::Step { thread, .. } if thread == fence.thread);
    let steps: Vec<usize> = (0..trace.steps.len()).filter(own).collect();
    steps.iter().enumerate().any(|(number, at)| {
        let Event::Step { edge, .. } = trace.steps[*at].event else { return false };
        let next = steps.get(number + 1).copied().unwrap_or(trace.steps.len());
        let empty = |at: usize| account.passed()[at].local(fence.thread).drained();
        fence.point == Point::After(edge) && !(at + 1..=next).any(empty)
    })
}

/// Random programs and those of the corpus, by name.
fn programs() -> Vec<(String, Program)> {
    let random = (0..seeds()).map(|seed| (format!("seed {seed}"), generate(seed)));
    let corpus = support::corpus::corpus().into_iter().map(|path| {
        let text = std::fs::read_to_string(&path).expect("readable");
        (path.display().to_string(), read(&text))
    });
    random.chain(corpus).collect()
}

#[test]
fn a_fence_that_is_said_to_prevent_a_run_does_and_there_is_one_for_every_weak_run() {
    let (mut full, mut store) = (0, 0);
    for (name, program) in programs() {
        for model in MODELS {
            let task = Task::safe(&program, *model);
            let Some(simple) = found(&task, Order::Breadth).map(|trace| simplified(&task, &trace)) else {
                continue;
            };
            let violated = simple.violated().expect("a violation stays one");
            let trace = violated.trace;
            let text = || format!("{name}, {}\n{}", model.name(), program::print(&program));
            if happens_under_sc(&program, trace) {
                continue;
            }
            let cause = violated.cause.unwrap_or_else(|| panic!("a cause: {}", text()));
            let point =
                prevented_by(&task, violated, &Ignore).unwrap_or_else(|| panic!("a fence: {}", text()));
            match point.strength {
                Strength::Fence(Fence::Full) => {
                    let stops =
                        point.placements.iter().any(|fence| waits_for_ever(trace, violated.account, fence));
                    assert!(stops, "{}", text());
                    full += 1;
                }
                // Only what overtakes a store is ordered by a store fence.
                _ => {
                    assert!(!cause.is_load, "{}", text());
                    store += 1;
                }
            }
        }
    }
    assert!(full > 30 && store > 10, "{full} full fences, {store} store fences");
}

/// The sentence about the simplified violation, and the lines of the fence that prevents it.
fn check_cause(text: &str, model: &str, sentence: &str, fence: Option<usize>) {
    let program = read(text);
    let task = Task::safe(&program, model_named(model).expect("known"));
    let simple = simplified(&task, &found(&task, Order::Breadth).expect("unsafe"));
    let violated = simple.violated().expect("a violation stays one");
    assert_eq!(violated.cause.expect("a cause").text(&program), sentence);
    let point = prevented_by(&task, violated, &Ignore);
    assert_eq!(point.and_then(|point| program.source.line(point.span)), fence, "{text}");
}

#[test]
fn causes_say_who_was_late_and_who_missed_it() {
    check_cause(
        "shared x, y;
thread P { let a; x = 1;
  a = y; }
thread Q { let b; y = 1;
  b = x; }
finally !(P.a == 0 && Q.b == 0);",
        "tso",
        "P's store to x (line 2) was still in its buffer when P read y (line 3): Q then read x = 0 (line 5) and missed it",
        Some(2),
    );
    check_cause(
        "shared x, y;
thread P { x = 1;
  y = 2; }
thread Q { y = 1;
  x = 2; }
finally !(x == 1 && y == 1);",
        "pso",
        "P's store to x (line 2) was still in its buffer when its later store to y (line 3) reached memory: \
         Q's store to x (line 5) reached memory before it",
        Some(2),
    );
    // Nobody but the property looks at memory.
    check_cause(
        "shared x;
thread P { x = 1;
  l: skip; }
never P@l && x == 0;",
        "tso",
        "P's store to x (line 2) was still in its buffer at the end, where the violated property looks at memory",
        Some(2),
    );
}
