//! Fences: optimal against trying all sets on small random programs, and the known counts for
//! published algorithms.
//!
//! `FENCEWRIGHT_SEEDS=n` draws n random programs instead of the usual number.

use support::random;

use engine::{
    Costs, ENGINES, Engine, Explicit, FenceAnswer, FenceOptions, FencePoint, Placed, Points, Run,
    place_fences,
};
use evidence::{Monitor, MostStates, Task, Verdict};
use machine::{Model, SC, model_named};
use program::{
    EdgeId, Fence, FenceSet, Loc, Op, Placement, Point, Program, Source, Strength, ThreadId, print,
};
use random::sketch;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Random programs are small; those that are not are left out.
const MOST_STATES: usize = 5_000;
const MOST_SETS: usize = 800;

fn small() -> Run<'static> {
    Run { monitor: &MostStates(MOST_STATES), max_buffer: Some(4), ..Run::default() }
}

fn model(name: &str) -> Model {
    model_named(name).expect("known")
}

/// What can be done at each point: nothing, or one of these at their cost.
type Choices = Vec<Vec<(Placement, u64)>>;

/// The choices, worked out from their definition: behind stores, and before loads.
fn choices(program: &Program, weak: Model, options: &FenceOptions) -> Choices {
    let mut all = Vec::new();
    let costs = &options.costs;
    let mut kinds = vec![(Strength::Fence(Fence::Full), costs.full)];
    kinds.extend(weak.reorders_stores().then_some((Strength::Fence(Fence::Store), costs.store)));
    for thread in program.thread_ids() {
        let automaton = program.thread(thread);
        let mut add = |point: Point, kinds: &[(Strength, u64)]| {
            let placed = |(strength, cost): &(Strength, u64)| {
                (Placement { thread, point, strength: *strength }, *cost)
            };
            all.push(kinds.iter().map(placed).collect());
        };
        for (at, edge) in automaton.edges().iter().enumerate() {
            if matches!(edge.op, Op::Store(..)) && !automaton.in_atomic(edge.from) {
                let exchange = costs.exchange.map(|cost| (Strength::Exchange, cost));
                let kinds: Vec<_> = kinds.iter().copied().chain(exchange).collect();
                add(Point::After(EdgeId::new(at)), &kinds);
            }
        }
        let loads = |op: &Op| match op {
            Op::Block { locked, parts } => !locked && parts.iter().any(|part| matches!(part, Op::Load(..))),
            op => matches!(op, Op::Load(..)),
        };
        let reads = |loc: &Loc| automaton.outgoing(*loc).any(|(_, edge)| loads(&edge.op));
        if options.points == Points::All {
            let locs = automaton.locs().filter(|loc| !automaton.in_atomic(*loc) && reads(loc));
            locs.for_each(|loc| add(Point::At(loc), &kinds));
        }
    }
    all
}

/// Every set of fences, with its cost.
fn sets(choices: &Choices) -> Vec<(BTreeSet<Placement>, u64)> {
    let mut sets = vec![(BTreeSet::new(), 0)];
    for point in choices {
        let mut more = Vec::new();
        for (set, cost) in &sets {
            for (placement, price) in point {
                let mut set = set.clone();
                set.insert(*placement);
                more.push((set, cost + price));
            }
        }
        sets.extend(more);
    }
    sets
}

/// Whether a program is safe; `None` if that takes too long.
fn is_safe(program: &Program, model: Model) -> Option<bool> {
    match Explicit.verify(&Task::safe(program, model), &small()).verdict {
        Verdict::Safe(_) => Some(true),
        Verdict::Unsafe(_) => Some(false),
        _ => None,
    }
}

fn fenced(program: &Program, set: &BTreeSet<Placement>) -> Program {
    let mut fences = FenceSet::new();
    set.iter().for_each(|placement| {
        fences.insert(*placement);
    });
    fences.apply(program)
}

/// The least cost of a set that makes the program safe, and all sets of that cost.
fn brute_force(
    program: &Program,
    model: Model,
    choices: &Choices,
) -> Option<(u64, BTreeSet<BTreeSet<Placement>>)> {
    let mut sets = sets(choices);
    sets.sort_by_key(|(_, cost)| *cost);
    let (mut best, mut optima) = (None, BTreeSet::new());
    for (set, cost) in sets {
        if best.is_some_and(|best| cost > best) {
            break;
        }
        if is_safe(&fenced(program, &set), model)? {
            best = Some(cost);
            optima.insert(set);
        }
    }
    best.map(|best| (best, optima))
}

fn placements<'a>(points: impl IntoIterator<Item = &'a FencePoint>) -> BTreeSet<Placement> {
    points.into_iter().flat_map(|point| point.placements.iter().copied()).collect()
}

fn check_needed(program: &Program, model: Model, placed: &Placed) -> Result<(), String> {
    if is_safe(&placed.program, model) != Some(true) {
        return Err("the fenced program is not safe".to_string());
    }
    for fence in &placed.fences {
        let others =
            placed.fences.iter().map(|other| &other.point).filter(|p| p.placements != fence.point.placements);
        if is_safe(&fenced(program, &placements(others)), model) == Some(true) {
            return Err(format!("{:?} is not needed", fence.point));
        }
        if fence.without.is_none() {
            return Err(format!("there is no violation without {:?}", fence.point));
        }
    }
    Ok(())
}

/// How a program was judged.
#[derive(Default, Debug)]
struct Judged {
    all: usize,
    fenced: usize,
    several: usize,
}

/// Compares the answer with trying all sets. Says nothing where either takes too long.
fn judge(
    program: &Program,
    model: Model,
    options: &FenceOptions,
    judged: &mut Judged,
) -> Option<Result<(), String>> {
    let choices = choices(program, model, options);
    if choices.iter().map(|kinds| kinds.len() + 1).product::<usize>() > MOST_SETS {
        return None;
    }
    let sc_safe = is_safe(program, SC)?;
    let answer =
        place_fences(&Task::safe(program, model), &Explicit, options, &small()).expect("no bug").answer;
    let placed = match answer {
        FenceAnswer::UnsafeUnderSc(_) if !sc_safe => return None,
        FenceAnswer::Placed(placed) if sc_safe => placed,
        FenceAnswer::Unknown(_) => return None,
        other => return Some(Err(format!("{other:?}, safe under SC: {sc_safe}"))),
    };
    let (cost, optima) = brute_force(program, model, &choices)?;
    if let Err(why) = check_needed(program, model, &placed) {
        return Some(Err(why));
    }
    let mut found = BTreeSet::from([placements(placed.fences.iter().map(|fence| &fence.point))]);
    found.extend(placed.alternatives.iter().flatten().map(placements));
    if placed.cost != cost || found != optima {
        return Some(Err(format!("cost {} and {found:#?}\ninstead of {cost} and {optima:#?}", placed.cost)));
    }
    judged.all += 1;
    judged.fenced += usize::from(cost > 0);
    judged.several += usize::from(optima.len() > 1);
    Some(Ok(()))
}

/// Draws programs until enough of them were judged to need fences.
fn optimal(model_name: &str, points: Points, wanted: usize) {
    let seeds = std::env::var("FENCEWRIGHT_SEEDS").ok().and_then(|n| n.parse().ok());
    let mut judged = Judged::default();
    for seed in 0..seeds.unwrap_or(20_000) {
        if seeds.is_none() && judged.fenced >= wanted {
            break;
        }
        let costs = Costs {
            full: 1 + seed % 4,
            store: 1 + seed % 3,
            exchange: (seed % 5 == 0).then_some(1 + seed % 2),
            in_loop: 1,
        };
        let options = FenceOptions { costs, points, all: true, prices: &[] };
        let program = sketch(seed).build();
        if let Some(Err(why)) = judge(&program, model(model_name), &options, &mut judged) {
            panic!("seed {seed}, {model_name}, {options:?}: {why}\n{}", print(&program));
        }
    }
    eprintln!("{model_name} {points:?}: {judged:?}");
    assert!(seeds.is_some() || judged.fenced >= wanted, "{judged:?}");
    assert!(seeds.is_some() || judged.several * 10 > wanted, "{judged:?}");
}

#[test]
fn no_set_is_cheaper_under_tso() {
    optimal("tso", Points::Stores, 70);
}

#[test]
fn no_set_is_cheaper_under_pso() {
    optimal("pso", Points::Stores, 70);
}

#[test]
fn no_set_is_cheaper_with_points_before_loads() {
    optimal("tso", Points::All, 40);
    optimal("pso", Points::All, 20);
}

fn read(path: &Path) -> Program {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let frontend = frontend::choose(None, name, &text).expect("a known language");
    match (frontend.read)(Source::new(name, text), &Default::default()) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{name}: {errors:#?}"),
    }
}

fn corpus(name: &str) -> Program {
    read(&support::root().join("corpus").join(format!("{name}.fw")))
}

const BEHIND_STORES: FenceOptions = FenceOptions {
    costs: Costs { full: 3, store: 1, exchange: None, in_loop: 1 },
    points: Points::Stores,
    all: false,
    prices: &[],
};

fn place(program: &Program, model_name: &str, monitor: &dyn Monitor) -> FenceAnswer {
    let task = Task::safe(program, model(model_name));
    place_fences(&task, ENGINES[0], &BEHIND_STORES, &Run { monitor, ..Run::default() })
        .expect("no bug")
        .answer
}

/// Fences of each kind in each thread.
fn counts(program: &Program, placed: &Placed) -> BTreeMap<ThreadId, BTreeMap<Strength, usize>> {
    let mut counts: BTreeMap<_, BTreeMap<_, _>> =
        program.thread_ids().map(|thread| (thread, BTreeMap::new())).collect();
    for fence in &placed.fences {
        assert!(fence.without.is_some(), "{:?} has no violation without it", fence.point);
        for thread in fence.point.threads() {
            *counts.entry(thread).or_default().entry(fence.point.strength).or_default() += 1;
        }
    }
    counts
}

/// So many full and store fences make a corpus program safe, in each of its threads.
fn each_thread_gets(name: &str, model_name: &str, full: usize, store: usize) {
    let program = corpus(name);
    let placed = match place(&program, model_name, &evidence::Ignore) {
        FenceAnswer::Placed(placed) => placed,
        other => panic!("{name} under {model_name}: {other:?}"),
    };
    for (thread, kinds) in counts(&program, &placed) {
        let count = |fence| kinds.get(&Strength::Fence(fence)).copied().unwrap_or(0);
        let found = (count(Fence::Full), count(Fence::Store));
        assert_eq!(found, (full, store), "{name}, {thread:?}, {model_name}: {:?}", placed.fences);
    }
}

#[test]
fn the_published_algorithms_need_as_many_fences_as_published() {
    for (name, fences) in [
        ("burns", 1),
        ("dekker_simple", 1),
        ("dekker", 1),
        ("dijkstra", 1),
        ("bakery", 2),
        ("lamport_fast", 2),
        ("peterson", 1),
        ("ticket_lock", 0),
    ] {
        each_thread_gets(name, "tso", fences, 0);
    }
}

#[test]
fn peterson_needs_a_full_and_a_store_fence_a_thread_under_pso() {
    each_thread_gets("peterson", "pso", 1, 1);
}

#[test]
fn no_fence_helps_where_sc_fails() {
    let answer = place(&corpus("treiber_stack_aba"), "tso", &evidence::Ignore);
    assert!(matches!(answer, FenceAnswer::UnsafeUnderSc(_)), "{answer:?}");
}

#[test]
fn loops_make_fences_dearer() {
    let text = "
        shared x, y; thread P { let n = 0; while (n < 2) { n = n + 1; x = 1; } let r = y; }
        thread Q { let r; y = 1; fence; r = x; } finally !(P.r == 0 && Q.r == 0);";
    let frontend = frontend::choose(Some("fw"), "", "").expect("known");
    let parsed = (frontend.read)(Source::new("loop.fw", text), &Default::default());
    let program = parsed.expect("a program").program;
    let cost = |in_loop, points| {
        let costs = Costs { in_loop, ..BEHIND_STORES.costs };
        let options = FenceOptions { costs, points, all: false, prices: &[] };
        let task = Task::safe(&program, model("tso"));
        match place_fences(&task, &Explicit, &options, &Run::default()).expect("no bug").answer {
            FenceAnswer::Placed(placed) => (placed.cost, placed.fences[0].point.before),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(cost(10, Points::Stores), (30, false));
    assert_eq!(cost(1, Points::Stores), (3, false));
    assert_eq!(cost(10, Points::All), (3, true));
}

/// How many places a recorded set of locked writes has: a write is listed once a value.
fn places(recorded: &str) -> Option<usize> {
    if recorded.starts_with("unknown") {
        return None;
    }
    let (_, set) = recorded.split_once('{')?;
    let place = |write: &str| {
        let (_, from_line) = write.split_once("write: L")?;
        from_line.split_once(" := ").map(|(place, _)| place.to_string())
    };
    Some(set.trim_end_matches('}').split(" , ").filter_map(place).collect::<BTreeSet<_>>().len())
}

/// Places that Memorax locks, against ours; its programs are read where they are.
#[test]
fn we_never_need_more_places_than_memorax() {
    let Some(folder) = support::corpora("memorax") else {
        eprintln!("skipped: the programs of Memorax are not here");
        return;
    };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("readable");
    let mut compared = 0;
    for line in table.lines().skip(1) {
        let fields: Vec<&str> = line.split('\t').collect();
        for (model_name, recorded) in [("tso", fields[3]), ("pso", fields[4])] {
            let Some(theirs) = places(recorded) else { continue };
            let program = read(&folder.join(fields[0]));
            let placed = match place(&program, model_name, &MostStates(300_000)) {
                FenceAnswer::Placed(placed) => placed,
                other => panic!("{} under {model_name}: {other:?}", fields[0]),
            };
            let ours = placed.fences.len();
            assert!(ours <= theirs, "{} under {model_name}: {ours} places, theirs {theirs}", fields[0]);
            eprintln!("{} under {model_name}: {ours} places, theirs {theirs}", fields[0]);
            compared += 1;
        }
    }
    assert!(compared >= 15, "only {compared} were compared");
}
