//! Robustness against what it means: every run under TSO looks like one under SC.
//!
//! On small random programs without loops, all runs are enumerated under both models and what
//! they look like is compared: the steps of every thread, the store every load reads, the order
//! of the stores to every variable. This knows nothing of attacks, of cycles or of the checker's
//! happens-before. Besides: programs with known answers, and the checker on broken witnesses.
//!
//! `FENCEWRIGHT_SEEDS=n` looks at n seeds instead of the usual number.

#[path = "support/random.rs"]
mod random;

use engine::{
    Costs, FenceOptions, MadeRobust, Points, RobustFences, Robustness, Run, fences_for_robustness, robust,
};
use evidence::{MostStates, Witness, WitnessRejected, check_witness};
use machine::{Configuration, Event, Exact, Model, model_named};
use program::{
    Domain, EdgeId, Fence, FenceSet, Int, Loc, Op, Placement, Point, Program, Source, Strength, Thread, VarId,
};
use random::{Sketch, minimise, sketch};
use std::collections::{HashSet, VecDeque};
use std::path::Path;

/// Programs with more looks than this are not judged.
const MOST_LOOKS: usize = 20_000;

/// A store or load: thread, number of the step within it, number of the access within that.
type Id = (usize, usize, usize);

/// What a run looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Look {
    steps: Vec<Vec<(EdgeId, Option<Int>)>>,
    /// The stores in memory, by variable.
    stores: Vec<Vec<Id>>,
    /// The store each load read, by thread.
    read: Vec<Vec<Option<Id>>>,
}

/// A run on the way.
#[derive(Clone)]
struct OnTheWay {
    config: Configuration,
    look: Look,
    buffers: Vec<VecDeque<(VarId, Id)>>,
}

impl OnTheWay {
    fn start(program: &Program, config: Configuration) -> OnTheWay {
        let threads = program.threads.len();
        let look = Look {
            steps: vec![Vec::new(); threads],
            stores: vec![Vec::new(); program.variables.len()],
            read: vec![Vec::new(); threads],
        };
        OnTheWay { config, look, buffers: vec![VecDeque::new(); threads] }
    }

    fn take(&self, program: &Program, machine: &Exact<'_>, event: Event, choice: Option<Int>) -> OnTheWay {
        let config = self.config.take(machine, event, choice.as_ref()).expect("it is enabled");
        let mut next = OnTheWay { config, ..self.clone() };
        let thread = event.thread();
        match event {
            Event::Drain { .. } => {
                let (variable, store) = next.buffers[thread.index()].pop_front().expect("drained");
                next.look.stores[variable.index()].push(store);
            }
            Event::Step { edge, .. } => {
                let step = next.look.steps[thread.index()].len();
                next.look.steps[thread.index()].push((edge, choice));
                let entries = next.config.local(thread).buffer.len();
                let mut access = 0;
                program.thread(thread).edge(edge).op.for_each_part(&mut |part| {
                    access += 1;
                    next.access(thread.index(), (thread.index(), step, access), part, entries);
                });
            }
        }
        next
    }

    fn access(&mut self, thread: usize, id: Id, part: &Op, entries: usize) {
        match part {
            Op::Load(_, variable) => {
                let own = self.buffers[thread].iter().rev().find(|(v, _)| v == variable).map(|(_, id)| *id);
                let read = own.or(self.look.stores[variable.index()].last().copied());
                self.look.read[thread].push(read);
            }
            Op::Store(variable, _) if entries > self.buffers[thread].len() => {
                self.buffers[thread].push_back((*variable, id));
            }
            Op::Store(variable, _) => self.look.stores[variable.index()].push(id),
            _ => {}
        }
    }

    fn is_complete(&self) -> bool {
        self.config.holder().is_none() && self.buffers.iter().all(VecDeque::is_empty)
    }
}

fn values(domain: &Domain) -> Option<Vec<Int>> {
    let Domain::Range(low, high) = domain else { return None };
    let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
    (high - low < 4).then(|| (low..=high).map(Int::from).collect())
}

/// What all runs look like from a choice of initial values; `None` if there are too many.
fn looks(program: &Program, model: Model, initial: &[(VarId, Int)]) -> Option<HashSet<Look>> {
    let machine = Exact::new(program, model).with_dead_registers();
    let first = OnTheWay::start(program, Configuration::initial(&machine, initial)?);
    let mut seen = HashSet::from([first.look.clone()]);
    let mut complete = HashSet::new();
    let mut stack = vec![first];
    while let Some(run) = stack.pop() {
        if run.is_complete() {
            complete.insert(run.look.clone());
        }
        for step in run.config.enabled(&machine) {
            let choices = match &step.choice {
                None => vec![None],
                Some(domain) => values(domain)?.into_iter().map(Some).collect(),
            };
            for choice in choices {
                let next = run.take(program, &machine, step.event, choice);
                if seen.insert(next.look.clone()) {
                    stack.push(next);
                }
            }
        }
        if seen.len() > MOST_LOOKS {
            return None;
        }
    }
    Some(complete)
}

/// All ways to choose the initial values.
fn initials(program: &Program) -> Option<Vec<Vec<(VarId, Int)>>> {
    let mut all = vec![Vec::new()];
    for variable in program.variable_ids() {
        let values = values(&program.variable(variable).initial)?;
        let with = |chosen: &Vec<(VarId, Int)>, value: &Int| {
            let mut chosen = chosen.clone();
            chosen.push((variable, value.clone()));
            chosen
        };
        all = all.iter().flat_map(|chosen| values.iter().map(move |value| with(chosen, value))).collect();
    }
    Some(all)
}

/// Whether every run under TSO looks like one under SC, by enumeration.
fn is_robust(program: &Program) -> Option<bool> {
    let (sc, tso) = (model_named("sc")?, model_named("tso")?);
    for initial in initials(program)? {
        if !looks(program, tso, &initial)?.is_subset(&looks(program, sc, &initial)?) {
            return Some(false);
        }
    }
    Some(true)
}

fn has_loop(thread: &Thread) -> bool {
    let mut left: Vec<Loc> = thread.locs().collect();
    loop {
        let before = left.len();
        let kept = left.clone();
        left.retain(|loc| thread.outgoing(*loc).any(|(_, edge)| kept.contains(&edge.to)));
        if left.len() == before {
            return before > 0;
        }
    }
}

/// Whether the engine answers as enumeration does; nothing for programs that are too large.
fn agrees(sketch: &Sketch) -> Option<Result<bool, String>> {
    let program = sketch.build();
    if program.threads.iter().any(|thread| has_loop(thread) || thread.edges().len() > 12) {
        return None;
    }
    let expected = is_robust(&program)?;
    Some(match robust(&program, &Run::default()) {
        Robustness::Robust if expected => Ok(true),
        Robustness::NotRobust(_) if !expected => Ok(false),
        other => Err(format!("robust by enumeration: {expected}, by the engine: {other:?}")),
    })
}

#[test]
fn agrees_with_enumerating_all_runs() {
    let seeds = std::env::var("FENCEWRIGHT_SEEDS").ok().and_then(|n| n.parse().ok()).unwrap_or(1500);
    let (mut robust, mut not) = (0, 0);
    for seed in 0..seeds {
        match agrees(&sketch(seed)) {
            None => {}
            Some(Ok(true)) => robust += 1,
            Some(Ok(false)) => not += 1,
            Some(Err(_)) => {
                let small = minimise(sketch(seed), &mut |sketch| matches!(agrees(sketch), Some(Err(_))));
                let why = agrees(&small).and_then(Result::err).unwrap_or_default();
                panic!("broken by seed {seed}: {why}\n{}", program::print(&small.build()));
            }
        }
    }
    println!("{robust} robust, {not} not robust");
    assert!(robust * 5 > seeds && not * 20 > seeds, "{robust} robust and {not} not, of {seeds}");
}

fn read(path: &Path) -> Program {
    let text = std::fs::read_to_string(path).expect("readable");
    let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
    let frontend = frontend::choose(None, name, &text).expect("a known language");
    let parsed = (frontend.read)(Source::new(name, text.clone()), &frontend::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:?}")).program
}

fn parse(text: &str) -> Program {
    let frontend = frontend::choose(Some("fw"), "", text).expect("our language");
    let parsed = (frontend.read)(Source::new("test.fw", text), &frontend::Options::default());
    parsed.unwrap_or_else(|errors| panic!("{errors:?}")).program
}

fn answer(program: &Program) -> &'static str {
    let run = Run { monitor: &MostStates(1 << 21), ..Run::default() };
    match robust(program, &run) {
        Robustness::Robust => "robust",
        Robustness::NotRobust(_) => "not_robust",
        Robustness::Unknown(_) => "unknown",
        Robustness::Rejected(why) => panic!("{}: {why}", program.name),
    }
}

#[test]
fn the_predecessors_programs_get_its_answers() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora/trencher");
    let Ok(table) = std::fs::read_to_string(folder.join("expected.tsv")) else { return };
    let mut different = Vec::new();
    for row in table.lines().skip(1) {
        let mut cells = row.split('\t');
        let (file, expected) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let started = std::time::Instant::now();
        let found = answer(&read(&folder.join(file)));
        println!("{file}: {found}, expected {expected}, {:?}", started.elapsed());
        if found != expected && !expected.starts_with("unknown") {
            different.push(format!("{file}: {found}, expected {expected}"));
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

fn corpus(name: &str) -> Program {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name))
}

#[test]
fn known_programs() {
    let known = [
        ("sb.fw", "not_robust"),
        ("sb_fenced.fw", "robust"),
        ("sb_half_fenced.fw", "not_robust"),
        ("sb_swap.fw", "robust"),
        ("sb_store_fence.fw", "not_robust"),
        ("mp.fw", "robust"),
        ("lb.fw", "robust"),
        ("corr.fw", "robust"),
        ("cowr.fw", "robust"),
        ("iriw.fw", "robust"),
        ("wrc.fw", "robust"),
        ("s.fw", "robust"),
        ("r.fw", "not_robust"),
        ("r_fenced.fw", "robust"),
        ("two_plus_two_w.fw", "robust"),
        ("peterson.fw", "not_robust"),
        ("peterson_fenced.fw", "robust"),
        ("dekker.fw", "not_robust"),
        // Its one fence a thread makes it safe; giving way and handing over may still be seen late.
        ("dekker_fenced.fw", "not_robust"),
    ];
    for (name, expected) in known {
        assert_eq!(answer(&corpus(name)), expected, "{name}");
    }
}

#[test]
fn no_critical_cycle_means_robust_for_whatever_data() {
    // A counter without end, but nothing is ever loaded behind a store that others see.
    let text = "shared x; thread P { let a; loop { a = a + 1; x = a; } } thread Q { let b; loop { b = x; } }";
    let program = parse(text);
    assert!(matches!(robust(&program, &Run::default()), Robustness::Robust));
}

fn witness(program: &Program) -> Witness {
    match robust(program, &Run::default()) {
        Robustness::NotRobust(checked) => checked.witness().clone(),
        other => panic!("expected a witness, found {other:?}"),
    }
}

#[test]
fn store_buffering_has_the_witness_of_the_books() {
    let program = corpus("sb.fw");
    let found = witness(&program);
    assert_eq!((found.store, found.load, found.drain), (0, 1, 5));
    assert_eq!(found.chain().collect::<Vec<_>>(), [2, 4]);
    let checked = check_witness(&program, found).expect("a witness");
    let cycle: Vec<usize> = checked.cycle().iter().map(|(step, _)| *step).collect();
    assert_eq!(cycle, [0, 1, 2, 4]);
}

/// Everything that can be done to a witness in one place, and that must not go unnoticed.
#[test]
fn broken_witnesses_are_rejected() {
    let program = corpus("peterson.fw");
    let good = witness(&program);
    let reject = |change: &dyn Fn(&mut Witness)| {
        let mut bad = good.clone();
        change(&mut bad);
        check_witness(&program, bad).err()
    };
    for at in 0..good.steps.len() {
        assert!(reject(&|bad| drop(bad.steps.remove(at))).is_some(), "without step {at}");
    }
    for role in 0..good.steps.len() + 2 {
        if role != good.store {
            assert_eq!(reject(&|bad| bad.store = role), Some(WitnessRejected::Roles), "store {role}");
        }
        if role != good.drain {
            assert_eq!(reject(&|bad| bad.drain = role), Some(WitnessRejected::Roles), "drain {role}");
        }
        if role != good.load {
            assert!(reject(&|bad| bad.load = role).is_some(), "load {role}");
        }
    }
    assert!(reject(&|bad| bad.steps.clear()).is_some());
}

#[test]
fn the_same_witness_every_time() {
    for name in ["peterson.fw", "dekker.fw", "lamport_fast.fw"] {
        let program = corpus(name);
        let first = witness(&program);
        for _ in 0..10 {
            assert_eq!(witness(&program), first, "{name}");
        }
    }
}

/// A run that SC allows is no witness, even if stores are delayed in it.
#[test]
fn a_delay_that_nobody_notices_is_no_witness() {
    let program = corpus("sb.fw");
    let mut quiet = witness(&program);
    // The other thread stays away: the store, the load, the drain.
    quiet.steps.drain(2..5);
    quiet.drain = 2;
    assert_eq!(check_witness(&program, quiet).err(), Some(WitnessRejected::Independent(2)));
}

/// Where a simpler search would go wrong; each is also judged by enumeration.
#[test]
fn programs_that_need_care() {
    let known = [
        // The others must act while the store is delayed, before the load that matters.
        (
            "shared x, y, z; thread T { let a, b, c; x = 1; a = y;
             if (a == 0) { b = y; if (b == 1) { c = z; } } }
             thread H { y = 1; } thread K { let d; z = 1; fence; d = x; }",
            false,
        ),
        // The section depends on the load by its last step, and touches the store's variable first.
        (
            "shared x, y; thread T { let a; x = 1; a = y; }
             thread S { let b; atomic { b = x; if (b == 0) { y = 1; } } }",
            false,
        ),
        // The same steps one by one are in an order that SC knows.
        (
            "shared x, y; thread T { let a; x = 1; a = y; } thread S { let b; b = x; if (b == 0) { y = 1; } }",
            true,
        ),
        // What is loaded is the thread's own store.
        ("shared x; thread T { let a; x = 1; a = x; } thread S { let b; x = 2; b = x; }", true),
        // The chain passes through two helpers.
        (
            "shared x, y, z; thread T { let a; x = 1; a = y; }
             thread H { y = 1; z = 1; } thread K { let b, c; b = z; if (b == 1) { c = x; } }",
            false,
        ),
        // A section whose steps all come before the load depends on nothing.
        (
            "shared x, y, z; thread T { let a; x = 1; a = y; }
             thread H { y = 1; } thread S { let b; atomic { b = x; if (b == 0) { z = 1; } } }",
            true,
        ),
    ];
    for (text, expected) in known {
        let program = parse(text);
        assert_eq!(is_robust(&program), Some(expected), "by enumeration: {text}");
        assert_eq!(answer(&program) == "robust", expected, "by the engine: {text}");
    }
}

fn made_robust(program: &Program, points: Points) -> Option<Box<MadeRobust>> {
    let costs = Costs { full: 1, ..Costs::default() };
    let options = FenceOptions { costs, points, all: false };
    let run = Run { monitor: &MostStates(1 << 21), ..Run::default() };
    match fences_for_robustness(program, &options, &run) {
        RobustFences::Placed(placed) => Some(placed),
        RobustFences::Unknown(_) => None,
        other => panic!("{}: {other:?}", program.name),
    }
}

#[test]
fn as_few_fences_as_the_predecessor() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpora/trencher");
    let Ok(table) = std::fs::read_to_string(folder.join("expected.tsv")) else { return };
    let mut different = Vec::new();
    for row in table.lines().skip(1) {
        let cells: Vec<&str> = row.split('\t').collect();
        let started = std::time::Instant::now();
        let placed = made_robust(&read(&folder.join(cells[0])), Points::All);
        let found = placed.map(|placed| {
            assert!(
                placed.fences.iter().all(|fence| fence.without.is_some()),
                "{}: a fence too many",
                cells[0]
            );
            placed.cost.to_string()
        });
        println!("{}: {found:?}, expected {}, {:?}", cells[0], cells[2], started.elapsed());
        if found.as_deref() != Some(cells[2]) && !cells[2].starts_with("unknown") {
            different.push(format!("{}: {found:?}, expected {}", cells[0], cells[2]));
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

/// All places behind stores, outside atomic sections.
fn behind_stores(program: &Program) -> Vec<Placement> {
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        let automaton = program.thread(thread);
        for (at, edge) in automaton.edges().iter().enumerate() {
            if matches!(edge.op, Op::Store(..)) && !automaton.in_atomic(edge.from) {
                let point = Point::After(EdgeId::new(at));
                found.push(Placement { thread, point, strength: Strength::Fence(Fence::Full) });
            }
        }
    }
    found
}

/// The size of a smallest set of fences that makes the program robust, by trying all sets.
fn fewest_fences(program: &Program, places: &[Placement]) -> Option<u32> {
    let makes_robust = |set: &u32| {
        let mut fences = FenceSet::new();
        for (_, placement) in places.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1) {
            fences.insert(*placement);
        }
        answer(&fences.apply(program)) == "robust"
    };
    (0..1u32 << places.len()).filter(makes_robust).map(u32::count_ones).min()
}

#[test]
fn no_smaller_set_of_fences_will_do() {
    let mut judged = 0;
    for seed in 0..400 {
        let program = sketch(seed).build();
        let places = behind_stores(&program);
        if places.len() > 6 || answer(&program) != "not_robust" {
            continue;
        }
        let fewest = fewest_fences(&program, &places).map(u64::from);
        let placed = made_robust(&program, Points::Stores).map(|placed| placed.cost);
        assert_eq!(placed, fewest, "seed {seed}\n{}", program::print(&program));
        judged += 1;
    }
    assert!(judged > 50, "only {judged} programs were judged");
}

#[test]
fn robustness_asks_for_more_fences_than_safety() {
    for (name, expected) in [("sb.fw", 2), ("peterson.fw", 2), ("dekker.fw", 4), ("sb_fenced.fw", 0)] {
        let placed = made_robust(&corpus(name), Points::Stores).expect("finite data");
        assert_eq!(placed.cost, expected, "{name}");
        assert_eq!(answer(&placed.program), "robust", "{name}");
    }
}
