//! The engine `lazy` and certificates of robustness.
//!
//! On random programs, with and without loops, `lazy` must come to the answer of `explicit`, and
//! its evidence must pass the checker, in memory and from files. Certificates are tampered
//! with: whatever is left out or put in another place must be noticed. And there are programs
//! whose properties robustness does not decide; nobody may conclude anything for them.
//!
//! `FENCEWRIGHT_SEEDS=n` looks at n seeds instead of the usual number.

use support::random;

use engine::{Engine, Explicit, Lazy, Robust, Run};
use evidence::{
    Certificate, Checked, Claim, ClosedSet, FileError, Form, Ignore, Listed, MostStates, Pass, Reason,
    Rejected, RobustProof, Stop, Task, Verdict, Via, carries_over, check, check_file, write_evidence,
};
use machine::{Event, PSO, SC, StateSet, TSO, Trace, TraceStep, Violation, model_named};
use program::{Delay, EdgeId, Op, Program, Source, ThreadId, UnrolledProgram};
use random::{Shape, Sketch, minimise, seeds, sketch, sketch_shape};
use std::io::{BufRead, Cursor};

const MOST: usize = 20_000;

fn tso(program: &Program) -> Task<'_> {
    Task::safe(program, TSO)
}

fn asked(program: &Program) -> Task<'_> {
    Task::robust(program, TSO)
}

fn checked(engine: &dyn Engine, program: &Program, most: usize) -> Result<Checked, Rejected> {
    let limit = MostStates(most);
    let answer = engine.verify(&tso(program), &Run { monitor: &limit, ..Run::default() });
    check(&tso(program), answer.verdict, &Ignore)
}

/// What a random program tells: the two verdicts and how many delays it took; or what is wrong.
fn compared(sketch: &Sketch) -> Result<(&'static str, &'static str, usize), String> {
    let program = sketch.build();
    let expected = checked(&Explicit, &program, MOST).map_err(|why| format!("explicit: {why}"))?;
    let found = checked(&Lazy, &program, MOST).map_err(|why| format!("lazy is rejected: {why}"))?;
    let (expected, verdict) = (expected.verdict().word(), found.verdict());
    let delays = match verdict {
        Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(delays), .. })) => delays.len(),
        _ => 0,
    };
    match (expected, verdict.word()) {
        ("safe", "unsafe") | ("unsafe", "safe") => {
            Err(format!("explicit says {expected}, lazy says {}", verdict.word()))
        }
        (expected, found) => Ok((expected, found, delays)),
    }
}

#[test]
fn agrees_with_explicit_on_random_programs() {
    let seeds = seeds();
    let (mut safe, mut violated, mut delayed, mut open) = (0, 0, 0, 0);
    for seed in 0..seeds {
        match compared(&sketch(seed)) {
            Ok(("unsafe", "unsafe", _)) => violated += 1,
            Ok((_, "safe", delays)) => {
                safe += 1;
                delayed += u64::from(delays > 0);
            }
            Ok(("unknown", _, _)) => {}
            Ok(_) => open += 1,
            Err(_) => {
                let small = minimise(sketch(seed), &mut |sketch| compared(sketch).is_err());
                let why = compared(&small).err().unwrap_or_default();
                panic!("broken by seed {seed}: {why}\n{}", program::print(&small.build()));
            }
        }
    }
    println!("{violated} unsafe, {safe} safe, {delayed} of them with delays, {open} only explicit decides");
    assert!(violated * 8 > seeds && safe * 10 > seeds, "{violated} unsafe, {safe} safe of {seeds}");
    assert!(delayed * 200 > seeds, "{delayed} programs took delays");
}

fn has_loop(program: &Program) -> bool {
    program.threads.iter().any(|thread| {
        let mut left: Vec<_> = thread.locs().collect();
        loop {
            let (before, kept) = (left.len(), left.clone());
            left.retain(|loc| thread.outgoing(*loc).any(|(_, edge)| kept.contains(&edge.to)));
            if left.len() == before {
                return before > 0;
            }
        }
    })
}

/// Where each thread delays stores to one variable only, PSO is TSO: for `lazy`, and for the checker.
#[test]
fn one_variable_per_thread_makes_pso_like_tso() {
    let pso = PSO;
    let mut answers = std::collections::BTreeMap::new();
    for seed in 0..seeds() {
        let program = sketch(seed).build();
        let task = Task::safe(&program, pso);
        let limit = MostStates(MOST);
        let run = Run { monitor: &limit, ..Run::default() };
        let lazy = Lazy.verify(&task, &run).verdict;
        if !pso.like_tso(&program) {
            assert!(matches!(lazy, Verdict::Unknown(reasons) if reasons == [Reason::OnlyTso]), "seed {seed}");
            continue;
        }
        let found = check(&task, lazy, &Ignore).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        let expected = Explicit.verify(&task, &run).verdict.word();
        let found = found.verdict().word();
        assert!(found == expected || found == "unknown" || expected == "unknown", "seed {seed}: {found}");
        *answers.entry(found).or_insert(0) += 1;
    }
    assert!(answers["safe"] > 5 && answers["unsafe"] > 5, "{answers:?}");
}

#[test]
fn decides_programs_without_loops() {
    let (mut decided, mut undecided) = (0, Vec::new());
    for seed in 0..seeds() {
        let program = sketch(seed).build();
        if has_loop(&program) || !carries_over(&program) {
            continue;
        }
        let answer = Lazy.verify(&tso(&program), &Run { monitor: &MostStates(MOST), ..Run::default() });
        match answer.verdict {
            Verdict::Unknown(reasons) => {
                let honest =
                    |reason: &Reason| matches!(reason, Reason::Doubt(_) | Reason::Stopped(Stop::States));
                if !reasons.iter().all(honest) {
                    undecided.push((seed, reasons));
                }
            }
            _ => decided += 1,
        }
    }
    assert!(undecided.is_empty(), "{undecided:?}");
    assert!(decided * 3 > seeds(), "{decided} decided");
}

fn parse(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", text).expect("our language");
    let parsed = (frontend.read)(Source::new("test.fw", text), &frontend::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}")).program
}

fn corpus(name: &str) -> Program {
    let path = support::root().join("corpus").join(name);
    let text = std::fs::read_to_string(path).expect("readable");
    let frontend = frontend::choose(None, name, &text).expect("a known language");
    let parsed = (frontend.read)(Source::new(name, text), &Default::default());
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:#?}")).program
}

/// Robust and safe under SC, and violated under TSO all the same: memory lags behind a thread,
/// and an atomic section keeps a buffer from draining.
#[test]
fn robustness_does_not_decide_every_property() {
    let lagging = "shared x; thread P { x = 1; l: skip; } never P@l && x == 0;";
    let program = parse(lagging);
    let robust = Robust::default().verify(&asked(&program), &Run::default()).verdict;
    let Verdict::Robust(proof) = robust else { panic!("{robust:?}") };
    assert!(!carries_over(&program));
    let found = checked(&Explicit, &program, MOST).expect("evidence");
    assert_eq!(found.verdict().word(), "unsafe");
    let answer = Lazy.verify(&tso(&program), &Run::default()).verdict;
    assert_ne!(answer.word(), "safe");
    // A certificate that claims it nevertheless is refused.
    let set = proof.under_sc.unwrap_or_else(|| under_sc(&program));
    let verdict = Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(Vec::new()), gaps: None, set }));
    assert_eq!(check(&tso(&program), verdict, &Ignore).err(), Some(Rejected::CarriesNotOver));
    assert!(carries_over(&parse("shared x, y; thread P { x = 1; y = 1; } never y == 1 && x == 0;")));
    assert!(carries_over(&parse(
        "shared x; thread P { x = 1; l: skip; } thread Q { m: skip; } never P@l && Q@m;"
    )));
}

/// A property is looked at while nobody is inside an atomic section, so threads that have some are as good as others.
#[test]
fn threads_with_atomic_sections_are_decided() {
    let with = |never: &str| {
        parse(&format!(
            "shared x; thread T {{ x = 1; l: skip; }}
             thread H {{ let r; atomic {{ r = x; m: assume r == 0; }} n: skip; o: skip; }} never {never};"
        ))
    };
    for never in ["T@l && H@n", "T@l && (H@n || H@o)", "T@l && H@m", "T@l && !H@n", "T@l && H.r == 0"] {
        let program = with(never);
        assert!(carries_over(&program), "{never}");
        let [lazy, exact] = [&Lazy as &dyn Engine, &Explicit]
            .map(|engine| checked(engine, &program, MOST).expect("evidence").verdict().word());
        assert_eq!(lazy, exact, "{never}");
    }
    let excluded = parse(
        "shared lock, c; thread P(i in 0..2) {
             let l = 1;
             while (l != 0) { atomic { l = lock; lock = 1; } }
             cs: c = i; lock = 0;
         }
         never P0@cs && P1@cs;",
    );
    let found = checked(&Lazy, &excluded, MOST).expect("evidence");
    assert!(matches!(found.verdict(), Verdict::Safe(Certificate::Via(_))), "{:?}", found.verdict());
    assert_eq!(checked(&Explicit, &excluded, MOST).expect("evidence").verdict().word(), "safe");
    // Delays split places into several, and the property is about all of them.
    let delayed = parse(
        "shared x, y;
         thread P { let r; lock; unlock; x = 1; r = y; l: skip; }
         thread Q { let r; y = 1; r = x; m: skip; }
         never P@l && P.r == 2 && Q@m;",
    );
    let found = checked(&Lazy, &delayed, MOST).expect("evidence");
    let Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(delays), .. })) = found.verdict() else {
        panic!("{:?}", found.verdict())
    };
    assert!(!delays.is_empty());
}

fn under_sc(program: &Program) -> ClosedSet {
    let task = Task::safe(program, SC);
    match Explicit.verify(&task, &Run::default()).verdict {
        Verdict::Safe(Certificate::Listed(Listed { gaps: None, set })) => set,
        other => panic!("{}: {other:?}", program.name),
    }
}

#[test]
fn known_programs() {
    let known = [
        ("sb.fw", "unsafe"),
        ("sb_fenced.fw", "safe"),
        ("mp.fw", "safe"),
        ("iriw.fw", "safe"),
        ("peterson.fw", "unsafe"),
        ("peterson_fenced.fw", "safe"),
        ("dekker.fw", "unsafe"),
        ("lamport_fast.fw", "unsafe"),
        ("lamport_fast_fenced.fw", "safe"),
        ("dekker_branching.fw", "unsafe"),
        ("dekker_unwinding.fw", "unsafe"),
        ("thesis_2_17.fw", "unsafe"),
        ("parker.fw", "unsafe"),
        ("clh_lock.fw", "safe"),
        ("ticket_lock.fw", "safe"),
    ];
    for (name, expected) in known {
        let found = checked(&Lazy, &corpus(name), 1 << 20);
        assert_eq!(found.map(|found| found.verdict().word()), Ok(expected), "{name}");
    }
}

#[test]
fn other_models_are_answered_honestly() {
    let ask = |name: &str, model: &str| {
        let program = corpus(name);
        let task = Task::safe(&program, model_named(model).expect("a model"));
        Lazy.verify(&task, &Run::default()).verdict
    };
    assert_eq!(ask("sb.fw", "sc").word(), "safe");
    assert_eq!(ask("sb.fw", "pso").word(), "unsafe");
    assert!(matches!(ask("mp.fw", "pso"), Verdict::Unknown(reasons) if reasons == [Reason::OnlyTso]));
}

/// Safe under TSO, though not robust: both stores show late, and the property does not mind.
const DELAYS: &str = "shared x, y;
    thread P { let a; x = 1; a = y; p: skip; }
    thread Q { let b; y = 1; b = x; q: skip; }
    never P@p && Q@q && (P.a == 2 || Q.b == 2);";

fn with_delays() -> (Program, Vec<Delay>, ClosedSet) {
    let program = parse(DELAYS);
    match Lazy.verify(&tso(&program), &Run::default()).verdict {
        Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(delays), gaps: None, set })) => {
            (program, delays, set)
        }
        other => panic!("{other:?}"),
    }
}

fn file(program: &Program, verdict: &Verdict, form: Form) -> Vec<u8> {
    let mut file = Vec::new();
    write_evidence(&tso(program), verdict, form, &mut file).expect("memory takes everything");
    file
}

fn check_bytes(program: &Program, file: &[u8]) -> Result<Claim, FileError> {
    let open = || Ok(Box::new(Cursor::new(file.to_vec())) as Box<dyn BufRead>);
    check_file(program, &open, 1 << 28, &Ignore)
}

#[test]
fn every_state_and_every_delay_of_a_robust_set_is_needed() {
    let (program, delays, set) = with_delays();
    assert!(!delays.is_empty());
    let states = set.states.len();
    let verdict = Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(delays), gaps: None, set }));
    for form in [Form::Text, Form::Json] {
        let good = file(&program, &verdict, form);
        assert!(matches!(check_bytes(&program, &good), Ok(Claim::Safe(_, count)) if count == states));
        let text = String::from_utf8(good).expect("text");
        let lines: Vec<&str> = text.lines().collect();
        // The dictionary may name controls that no state has.
        let told = |at: &usize| lines[*at].contains("state") || lines[*at].contains("extend");
        for left_out in (1..lines.len() - 1).filter(told) {
            let mut kept: Vec<String> = lines.iter().map(|line| line.to_string()).collect();
            kept.remove(left_out);
            let last = kept.len() - 1;
            kept[last] =
                if form == Form::Text { format!("end {last}") } else { format!("{{\"end\":{last}}}") };
            let broken = check_bytes(&program, kept.join("\n").as_bytes());
            assert!(broken.is_err(), "without {}", lines[left_out]);
        }
    }
    assert!(check(&tso(&program), verdict, &Ignore).is_ok());
}

#[test]
fn tampered_delays_are_rejected() {
    let (program, delays, _) = with_delays();
    let judged = |delays: Vec<Delay>| {
        let (_, _, set) = with_delays();
        check(
            &tso(&program),
            Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(delays), gaps: None, set })),
            &Ignore,
        )
        .err()
    };
    assert_eq!(judged(delays.clone()), None);
    assert!(judged(Vec::new()).is_some());
    for at in 0..delays.len() {
        let change = |change: &dyn Fn(&mut Delay)| {
            let mut tampered = delays.clone();
            change(&mut tampered[at]);
            judged(tampered)
        };
        assert!(change(&|delay| delay.complete = false).is_some());
        assert!(change(&|delay| delay.path.truncate(1)).is_some());
        assert!(change(&|delay| delay.path.reverse()).is_some());
        assert!(change(&|delay| delay.path[0] = EdgeId::new(999)).is_some());
        assert!(change(&|delay| delay.thread = ThreadId::new(7)).is_some());
    }
    let mut twice = delays.clone();
    twice.push(delays[0].clone());
    assert!(judged(twice).is_some());
    // Another model, and a program that is not robust.
    let (_, _, set) = with_delays();
    let verdict = Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(delays), gaps: None, set }));
    let sc = Task::safe(&program, SC);
    assert_eq!(check(&sc, verdict, &Ignore).err(), Some(Rejected::NotForModel));
    let mp = corpus("mp.fw");
    let Verdict::Safe(robust) = Lazy.verify(&tso(&mp), &Run::default()).verdict else { panic!("it is safe") };
    let pso = Task::safe(&mp, PSO);
    assert_eq!(check(&pso, Verdict::Safe(robust), &Ignore).err(), Some(Rejected::NotForModel));
    let sb = corpus("sb.fw");
    let verdict = Verdict::Safe(Certificate::Via(Via {
        pass: Pass::Delays(Vec::new()),
        gaps: None,
        set: under_sc(&sb),
    }));
    assert_eq!(check(&tso(&sb), verdict, &Ignore).err(), Some(Rejected::Attack));
}

fn without(set: &ClosedSet, left_out: usize) -> ClosedSet {
    let mut states = StateSet::new();
    for (_, state) in set.states.iter().enumerate().filter(|(at, _)| *at != left_out) {
        states.insert(state, None).expect("room");
    }
    ClosedSet { controls: set.controls.clone(), states }
}

#[test]
fn proofs_of_robustness_are_checked() {
    for name in ["peterson_fenced.fw", "sb_swap.fw", "lb.fw", "mp.fw"] {
        let program = corpus(name);
        let verdict = Robust::default().verify(&asked(&program), &Run::default()).verdict;
        let mut good = Vec::new();
        write_evidence(&asked(&program), &verdict, Form::Text, &mut good).expect("memory takes everything");
        let Verdict::Robust(proof) = verdict else { panic!("{name}: {verdict:?}") };
        let expected = proof.states();
        assert!(matches!(check_bytes(&program, &good), Ok(Claim::Robust(_, states)) if states == expected));
        for at in 0..expected {
            let broken = proof.under_sc.as_ref().map(|set| without(set, at));
            let broken = Verdict::Robust(RobustProof { under_sc: broken });
            assert!(check(&asked(&program), broken, &Ignore).is_err(), "{name} without state {at}");
        }
        assert!(check(&asked(&program), Verdict::Robust(proof), &Ignore).is_ok(), "{name}");
    }
    // The states under SC of a program that is not robust prove nothing, and no states even less.
    let program = corpus("peterson.fw");
    let task = asked(&program);
    let claim = Verdict::Robust(RobustProof { under_sc: Some(under_sc(&program)) });
    let mut bad = Vec::new();
    write_evidence(&task, &claim, Form::Json, &mut bad).expect("memory takes everything");
    assert!(matches!(check_bytes(&program, &bad), Err(FileError::Rejected(Rejected::Attack))));
    assert_eq!(check(&task, claim, &Ignore).err(), Some(Rejected::Attack));
    let nothing = || Verdict::Robust(RobustProof::default());
    assert_eq!(check(&task, nothing(), &Ignore).err(), Some(Rejected::Attack));
    // That a program is robust does not say that it is safe.
    assert_eq!(check(&tso(&program), nothing(), &Ignore).err(), Some(Rejected::OtherQuestion));
}

/// A counter without end that no delay can matter to: proved over unbounded integers under SC,
/// with the text as the proof that TSO is the same.
#[test]
fn unbounded_data_and_no_attack() {
    let program = parse(
        "shared x; thread P { let a; loop { a = a + 1; x = a; } }
         thread Q { let b, c; loop { b = x; c = x; assert c >= b; } }",
    );
    let answer = Lazy.verify(&tso(&program), &Run::default());
    let Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(delays), gaps, .. })) = &answer.verdict
    else {
        panic!("{:?} by {}", answer.verdict, answer.engine)
    };
    assert!(delays.is_empty() && gaps.is_some());
    let written = file(&program, &answer.verdict, Form::Text);
    assert!(matches!(check_bytes(&program, &written), Ok(Claim::Safe(..))));
    assert!(check(&tso(&program), answer.verdict, &Ignore).is_ok());
}

/// There is no end to the delays of a fenced lock that is never left for good: bounds are raised until the work of
/// all searches together is too much.
#[test]
fn many_delays_are_no_reason_to_give_up() {
    let program = corpus("burns_fenced.fw");
    let answer = Lazy.verify(&tso(&program), &Run { monitor: &MostStates(5_000), ..Run::default() });
    let Verdict::Unknown(reasons) = answer.verdict else { panic!("{:?}", answer.verdict) };
    assert!(reasons.contains(&Reason::Stopped(Stop::States)), "{reasons:?}");
    assert!(reasons.iter().any(|reason| matches!(reason, Reason::Delays(48..))), "{reasons:?}");
}

/// A violation of the unrolled program as one of the program itself.
fn rolled_up(unrolled: &UnrolledProgram, trace: &Trace) -> Trace {
    let step = |step: &TraceStep| match step.event {
        Event::Drain { .. } => step.clone(),
        Event::Step { thread, edge } => {
            let edge = unrolled.edges[thread.index()][edge.index()].expect("an edge of the program");
            TraceStep { event: Event::Step { thread, edge }, ..step.clone() }
        }
    };
    let violation = match trace.violation {
        Violation::Failure(thread, loc) => {
            let loc = unrolled.locations[thread.index()][loc.index()].expect("a location of the program");
            Violation::Failure(thread, loc)
        }
        property => property,
    };
    Trace { initial: trace.initial.clone(), steps: trace.steps.iter().map(step).collect(), violation }
}

/// [004, Theorem 9]: unrolled often enough a program without loops has the violations of one with loops, and never others.
#[test]
fn unrolled_programs_do_what_the_program_does() {
    let (mut violated, mut with_loops) = (0, 0);
    for seed in 0..seeds() {
        let program = sketch(seed).build();
        let found = Explicit.verify(&tso(&program), &Run { monitor: &MostStates(2_000), ..Run::default() });
        with_loops += usize::from(has_loop(&program));
        let often = match &found.verdict {
            Verdict::Unsafe(trace) => trace.steps.len().min(20),
            _ => 1,
        };
        for times in [0, often] {
            let unrolled = program.unrolled(times).expect("it is small");
            assert!(!has_loop(&unrolled.program), "{}", program::print(&program));
            let task = tso(&unrolled.program);
            let run = Run { monitor: &MostStates(20_000), ..Run::default() };
            match (Explicit.verify(&task, &run).verdict, &found.verdict) {
                (Verdict::Unsafe(trace), _) => {
                    let trace = rolled_up(&unrolled, &trace);
                    let replayed = machine::replay(&program, task.model, &trace);
                    assert!(replayed.is_ok(), "seed {seed}: {replayed:?}\n{}", program::print(&program));
                    violated += 1;
                }
                (Verdict::Safe(_), Verdict::Unsafe(trace)) => {
                    let lost = times >= trace.steps.len();
                    assert!(!lost, "seed {seed}: a violation is lost\n{}", program::print(&program));
                }
                _ => {}
            }
        }
    }
    assert!(violated > 100 && with_loops > 50, "{violated} violations, {with_loops} programs with loops");
}

/// Programs as deep as input can make them: nothing may recurse along them.
#[test]
fn long_programs_do_not_overflow_the_stack() {
    let mut program = parse("shared x, y; thread Q { let b; y = 1; b = x; q: skip; } never Q@q && Q.b == 2;");
    let x = program.variable_ids().next().expect("x");
    let y = program.variable_ids().nth(1).expect("y");
    let mut long = program::ThreadBuilder::new("P");
    let r = long.register("r");
    let mut at = long.step(long.entry(), Op::Store(x, 1.into()), program::Span::NONE);
    for _ in 0..5_000 {
        at = long.step(at, Op::Skip, program::Span::NONE);
    }
    long.step(at, Op::Load(r, y), program::Span::NONE);
    program.threads.push(long.finish().expect("valid"));
    let run = || {
        let answer = Lazy.verify(&tso(&program), &Run { monitor: &MostStates(1 << 21), ..Run::default() });
        check(&tso(&program), answer.verdict, &Ignore).map(|checked| checked.verdict().word())
    };
    let small_stack = std::thread::Builder::new().stack_size(256 << 10);
    let found = std::thread::scope(|scope| {
        small_stack.spawn_scoped(scope, run).expect("a thread").join().expect("no overflow")
    });
    assert_eq!(found, Ok("safe"));
}

/// A path from a store to a load that waits for nothing, at random.
fn random_path(program: &Program, rng: &mut fastrand::Rng) -> Option<Delay> {
    let thread = ThreadId::new(rng.usize(..program.threads.len()));
    let automaton = program.thread(thread);
    let is_store = |at: &usize| matches!(automaton.edges()[*at].op, Op::Store(..));
    let stores: Vec<usize> = (0..automaton.edges().len()).filter(is_store).collect();
    let mut path = vec![EdgeId::new(*stores.get(rng.usize(..stores.len().max(1)))?)];
    for _ in 0..12 {
        let last = automaton.edge(path[path.len() - 1]);
        let loads = matches!(last.op, Op::Load(..) | Op::Block { locked: false, .. });
        if loads && rng.bool() {
            break;
        }
        let next: Vec<EdgeId> = automaton.outgoing(last.to).map(|(id, _)| id).collect();
        path.push(*next.get(rng.usize(..next.len().max(1)))?);
    }
    Some(Delay { thread, path, complete: rng.bool() })
}

/// Whatever delays are written into a program that is unsafe under TSO, either the result is
/// unsafe under SC, or it is not robust: no delay loses a violation.
#[test]
fn no_delays_prove_an_unsafe_program_safe() {
    let mut rng = fastrand::Rng::with_seed(7);
    let (mut rejected, mut complete, mut seen) = (0, 0, 0);
    let shapes = [Shape::LockedOrders, Shape::Litmus, Shape::FailingCas, Shape::ArrayCells];
    for (seed, shape) in (0..3 * seeds()).flat_map(|seed| shapes.map(|shape| (seed, shape))) {
        let program = sketch_shape(shape, seed).build();
        let violated = checked(&Explicit, &program, MOST).is_ok_and(|c| c.verdict().word() == "unsafe");
        let sc = Task::safe(&program, SC);
        let weak = || matches!(Explicit.verify(&sc, &Run::default()).verdict, Verdict::Safe(_));
        if !violated || !carries_over(&program) || !weak() {
            continue;
        }
        for _ in 0..8 {
            let (mut extended, mut delays) = (program.clone(), Vec::new());
            for _ in 0..rng.usize(..4) {
                let delay = random_path(&extended, &mut rng);
                let applied = delay.and_then(|delay| Some((delay.apply(&extended).ok()?.program, delay)));
                let Some((next, delay)) = applied else { continue };
                extended = next;
                delays.push(delay);
            }
            let task = Task::safe(&extended, SC);
            let run = Run { monitor: &MostStates(MOST), ..Run::default() };
            match Explicit.verify(&task, &run).verdict {
                Verdict::Safe(Certificate::Listed(Listed { gaps: None, set })) => {
                    complete += usize::from(delays.iter().any(|delay| delay.complete));
                    let verdict =
                        Verdict::Safe(Certificate::Via(Via { pass: Pass::Delays(delays), gaps: None, set }));
                    let found = check(&tso(&program), verdict, &Ignore).err();
                    assert_eq!(found, Some(Rejected::Attack), "seed {seed}\n{}", program::print(&program));
                    rejected += 1;
                }
                Verdict::Unsafe(_) => seen += usize::from(!delays.is_empty()),
                _ => {}
            }
        }
    }
    println!("{rejected} rejected, {complete} with complete delays; {seen} violations under SC");
    assert!(rejected > 60 && complete > 5, "{rejected} rejected, {complete} with complete delays");
}
