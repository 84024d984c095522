//! Runs of bounded contexts: the machine that guesses when stores leave against an interpreter with queues.
//!
//! On random programs, for every model and up to four contexts, both have the same locations, registers,
//! memory and holder of the lock in all configurations, not only in final ones. The engine finds a violation within k contexts
//! exactly where the interpreter does, and its runs are runs of the exact machine.

use engine::{BoundedContexts, ContextBound, ContextData, Engine, Run};
use evidence::{Ignore, MostStates, Reason, Task, Verdict, check};
use machine::{Contexts, Machine, Model, NEVER, PSO, SC, State, StateSet, Stepper, TSO};
use program::{
    Expr, Fence, Int, Loc, Op, Place, Program, RegId, Source, Span, ThreadBuilder, ThreadId, Variable,
};
use reference::{Reached, ReferenceLimits, ReferenceModel, explore_contexts};
use std::cell::Cell;
use std::collections::BTreeSet;
use support::models::models;
use support::random::{self, Sketch, minimise, seeds};
use support::texts::read;

const MOST_CONTEXTS: u8 = 4;
const CAP: usize = 4;
const MOST_CONFIGS: usize = 800;
const MOST_CUBES: usize = 4_000;

/// What both sides have: locations, registers, memory and who holds the lock.
type Seen = BTreeSet<(Vec<Loc>, Vec<Vec<Int>>, Vec<Int>, Option<ThreadId>)>;

fn seen_by_reference(reached: &Reached) -> Seen {
    let configs = reached.configs.iter();
    configs.map(|c| (c.locs.clone(), c.registers.clone(), c.memory.clone(), c.holder)).collect()
}

/// All states of the machine, or of those that `keep` lets pass.
fn seen_by_machine(
    machine: &Contexts<'_>,
    keep: impl Fn(&Stepper<'_, Contexts<'_>>, &State) -> bool,
) -> Seen {
    let program = machine.program();
    let mut stepper = Stepper::new(machine);
    let (mut states, mut packed, mut seen) = (StateSet::new(), Vec::new(), Seen::new());
    let mut waiting: Vec<State> = stepper.initial().0.collect();
    while let Some(state) = waiting.pop() {
        packed.clear();
        state.pack(&mut packed);
        if !keep(&stepper, &state) || !states.insert(&packed, None).expect("few").1 {
            continue;
        }
        let value = |place| Int::from(stepper.place(&state, &place));
        let registers = |t: ThreadId| {
            let all = 0..program.thread(t).registers.len();
            all.map(|r| value(Place::Register(t, RegId::new(r)))).collect()
        };
        seen.insert((
            program.thread_ids().map(|t| machine.location(stepper.local(t, &state))).collect(),
            program.thread_ids().map(registers).collect(),
            program.variable_ids().map(|v| value(Place::Memory(v))).collect(),
            stepper.globals().nth(state.global as usize).expect("numbered").holder,
        ));
        stepper.prepare(&state);
        stepper.successors(&state, &mut State::default(), |_| {}, |_, _, next| waiting.push(next.clone()));
    }
    seen
}

fn limits() -> ReferenceLimits {
    ReferenceLimits { queue: CAP, configs: MOST_CONFIGS, candidates: Vec::new() }
}

/// Compares one program with one bound; `None` where the interpreter would take too long.
fn agrees(program: &Program, (model, other): (Model, ReferenceModel), k: u8) -> Option<Result<(), String>> {
    let reached = explore_contexts(program, other, usize::from(k), &limits());
    if reached.truncated {
        return None;
    }
    let expected = seen_by_reference(&reached);
    let machine = Contexts::new(program, model, k).with_dead_registers();
    let found = seen_by_machine(&machine, |_, _| true);
    let missing = expected.difference(&found).next();
    // Where a queue was cut there is more on the other side.
    let wrong = found.difference(&expected).next().filter(|_| !reached.cap_hit);
    Some(match (missing, wrong) {
        (None, None) => Ok(()),
        _ => Err(format!("{} with {k} contexts: missing {missing:?}, wrong {wrong:?}", model.name())),
    })
}

/// Checks a law on many programs and shows the smallest that breaks it.
fn for_all(count: u64, law: impl Fn(&Program) -> (usize, Result<(), String>)) -> usize {
    let mut judged = 0;
    for seed in 0..count {
        let sketch = random::sketch(seed);
        let (compared, result) = law(&sketch.build());
        judged += compared;
        if result.is_err() {
            let breaks = &mut |sketch: &Sketch| law(&sketch.build()).1.is_err();
            let small = minimise(sketch, breaks).build();
            panic!("broken by seed {seed}: {:?}\n{}", law(&small).1, program::print(&small));
        }
    }
    judged
}

#[test]
fn the_machine_has_what_queues_have() {
    let count = seeds();
    let judged = for_all(count, |program| {
        let mut judged = 0;
        for pair in models() {
            for k in 1..=MOST_CONTEXTS {
                match agrees(program, pair, k) {
                    None => break,
                    Some(Err(why)) => return (judged, Err(why)),
                    Some(Ok(())) => judged += 1,
                }
            }
        }
        (judged, Ok(()))
    });
    assert!(judged as u64 > 6 * count, "only {judged} comparisons for {count} programs");
}

/// The first number of contexts with a violation, by the interpreter.
fn least_by_reference(program: &Program, model: ReferenceModel) -> Option<Option<u8>> {
    for k in 1..=MOST_CONTEXTS {
        let reached = explore_contexts(program, model, usize::from(k), &limits());
        if !reached.violations.is_empty() {
            return Some(Some(k));
        }
        if reached.truncated || reached.cap_hit {
            return None;
        }
    }
    Some(None)
}

fn ask(program: &Program, model: Model, data: ContextData) -> (Option<usize>, Result<Verdict, String>) {
    let task = Task::safe(program, model);
    let contexts = ContextBound { contexts: Some(MOST_CONTEXTS), data };
    // There may be no end to predicates.
    let limit = MostStates(if data == ContextData::Predicates { MOST_CUBES } else { usize::MAX });
    let answer = BoundedContexts.verify(&task, &Run { contexts, monitor: &limit, ..Run::default() });
    let within = match &answer.verdict {
        Verdict::Within(within, _) => Some(within.contexts()),
        _ => answer.statistics.contexts,
    };
    let replayed = |trace: &machine::Trace| machine::replay(program, model, trace).map(|_| ());
    let verdict = match &answer.verdict {
        Verdict::Unsafe(trace) => replayed(trace).map_err(|why| why.to_string()),
        _ => Ok(()),
    };
    (within, verdict.map(|()| answer.verdict))
}

fn may_end_early(data: ContextData) -> bool {
    matches!(data, ContextData::Order | ContextData::Predicates)
}

/// Whether the engine answers all that the interpreter does; an error if it answers something else.
fn answers(program: &Program, model: Model, expected: Option<u8>, data: ContextData) -> Result<bool, String> {
    let (contexts, verdict) = ask(program, model, data);
    let verdict = verdict?;
    let all = match (&verdict, expected) {
        (Verdict::Unsafe(_), _) => true,
        (Verdict::Within(_, reasons), _) => reasons.len() == 1,
        _ => false,
    };
    let right = match (&verdict, expected) {
        (Verdict::Unsafe(_), Some(k)) => contexts == Some(usize::from(k)),
        (Verdict::Within(_, reasons), None) => reasons[0] == Reason::ContextsBeyond(contexts.unwrap_or(0)),
        // What is not of the kind that order or predicates are known of, or takes too long.
        (Verdict::Unknown(_), _) => may_end_early(data),
        (Verdict::Within(_, reasons), Some(k)) => {
            may_end_early(data) && reasons.len() > 1 && contexts < Some(usize::from(k))
        }
        _ => false,
    };
    if !right {
        return Err(format!("{} {data:?}: {verdict:?} in {contexts:?}, not {expected:?}", model.name()));
    }
    check(&Task::safe(program, model), verdict, &Ignore).map(|_| all).map_err(|why| why.to_string())
}

#[test]
fn the_engine_finds_what_queues_find_with_as_few_contexts() {
    let count = seeds();
    let judged = for_all(count, |program| {
        let mut judged = 0;
        for (model, other) in models() {
            let Some(expected) = least_by_reference(program, other) else { continue };
            judged += 1;
            for data in [ContextData::Concrete, ContextData::Order, ContextData::Auto] {
                if let Err(why) = answers(program, model, expected, data) {
                    return (judged, Err(why));
                }
            }
        }
        (judged, Ok(()))
    });
    assert!(judged as u64 > count, "only {judged} comparisons for {count} programs");
}

/// By predicates, on fewer programs: each is proved from nothing.
#[test]
fn predicates_find_what_queues_find() {
    let judged = Cell::new(0);
    let decided = for_all(seeds() / 8, |program| {
        let mut decided = 0;
        for (model, other) in models() {
            let Some(expected) = least_by_reference(program, other) else { continue };
            judged.set(judged.get() + 1);
            match answers(program, model, expected, ContextData::Predicates) {
                Ok(all) => decided += usize::from(all),
                Err(why) => return (decided, Err(why)),
            }
        }
        (decided, Ok(()))
    });
    let judged = judged.get();
    println!("{decided} of {judged} were decided");
    assert!(decided * 2 > judged && judged > 0, "{decided} of {judged} were decided");
}

/// Numbers that grow and are doubled: values have no end, and order says too little.
#[test]
fn predicates_serve_where_order_does_not() {
    let text = "shared x, y; thread P { let a; loop { a = a + 1; x = a; y = 2 * a; } } \
                thread Q { let s, r; s = y; r = x; assert s <= 2 * r; }";
    let program = read(text).expect("a program");
    let pso = PSO;
    let ask = |model: Model, data: ContextData| {
        let run = Run { contexts: ContextBound { contexts: Some(2), data }, ..Run::default() };
        BoundedContexts.verify(&Task::safe(&program, model), &run)
    };
    assert!(matches!(ask(TSO, ContextData::Order).verdict, Verdict::Unknown(_)));
    for data in [ContextData::Predicates, ContextData::Auto] {
        let verdict = ask(TSO, data).verdict;
        assert!(matches!(&verdict, Verdict::Within(within, _) if within.contexts() == 2), "{verdict:?}");
        assert!(check(&Task::safe(&program, TSO), verdict, &Ignore).is_ok());
        let violated = ask(pso, data);
        assert!(matches!(violated.verdict, Verdict::Unsafe(_)), "{:?}", violated.verdict);
        assert_eq!(violated.statistics.contexts, Some(2));
    }
}

/// Store buffering: each thread stores to its own variable and loads the other's.
fn store_buffering() -> Program {
    let mut program = Program::new("store buffering", Source::default());
    let variables = ["x", "y"].map(|name| program.add_variable(Variable::new(name, Span::NONE)));
    for (own, other) in [(0, 1), (1, 0)] {
        let mut thread = ThreadBuilder::new(["P", "Q"][own]);
        let register = thread.register("r");
        let stored = thread.step(thread.entry(), Op::Store(variables[own], Expr::from(1)), Span::NONE);
        thread.step(stored, Op::Load(register, variables[other]), Span::NONE);
        program.threads.push(thread.finish().expect("valid"));
    }
    program
}

/// Whether both loads may find 0 within so many contexts; stores that never leave are guessed only if they may be.
fn both_zero(model: Model, k: u8, never: bool) -> bool {
    let program = store_buffering();
    let machine = Contexts::new(&program, model, k).with_dead_registers();
    let ended = |locs: &[Loc]| program.thread_ids().zip(locs).all(|(t, loc)| program.thread(t).is_end(*loc));
    let keep = |stepper: &Stepper<'_, Contexts<'_>>, state: &State| {
        let leaves = |t: ThreadId| stepper.local(t, state).leaving.iter().all(|(_, turn)| *turn != NEVER);
        never || program.thread_ids().all(leaves)
    };
    let seen = seen_by_machine(&machine, keep);
    seen.iter().any(|(locs, registers, ..)| ended(locs) && registers.iter().all(|r| r[0] == Int::from(0)))
}

/// [002, Lemma 2] as printed has no store that never leaves, and is wrong.
#[test]
fn store_buffering_needs_two_contexts_and_a_store_that_never_leaves() {
    assert!(!both_zero(TSO, 1, true) && !both_zero(SC, 4, true));
    assert!(both_zero(TSO, 2, true));
    assert!(!both_zero(TSO, 2, false), "the lemma as printed would be right");
    assert!(both_zero(TSO, 3, false), "the first thread's second turn is the third context");
}

/// A store fence under PSO lets nothing overtake, in whichever turn it leaves.
#[test]
fn a_store_fence_orders_turns() {
    let mut program = Program::new("fenced", Source::default());
    let [x, y] = ["x", "y"].map(|name| program.add_variable(Variable::new(name, Span::NONE)));
    let mut writer = ThreadBuilder::new("P");
    let stores = [Op::Store(x, Expr::from(1)), Op::Fence(Fence::Store), Op::Store(y, Expr::from(1))];
    stores.into_iter().fold(writer.entry(), |at, op| writer.step(at, op, Span::NONE));
    program.threads.push(writer.finish().expect("valid"));
    let mut reader = ThreadBuilder::new("Q");
    reader.step(reader.entry(), Op::Skip, Span::NONE);
    program.threads.push(reader.finish().expect("valid"));
    for (model, _) in models() {
        let machine = Contexts::new(&program, model, 4);
        let overtakes = |memory: &[Int]| memory == [Int::from(0), Int::from(1)];
        assert!(!seen_by_machine(&machine, |_, _| true).iter().any(|(_, _, memory, _)| overtakes(memory)));
    }
}
