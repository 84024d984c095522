//! Fences for robustness: as few as the predecessor, and as few as trying all sets finds.

use super::programs::{answer, answer_against, corpus, read, task};
use super::random::{chain_sketch, overtaking_sketch, sketch};
use engine::{Costs, ENGINES, FenceAnswer, FenceOptions, FencePoint, Placed, Points, Run, place_fences};
use evidence::{MostStates, Task, Verdict};
use machine::PSO;
use program::{EdgeId, Fence, FenceSet, Op, Placement, Point, Program, Strength};
use std::collections::BTreeSet;

fn made_robust(program: &Program, points: Points) -> Option<Box<Placed>> {
    let costs = Costs { full: 1, ..Costs::default() };
    let options = FenceOptions { costs, points, all: false, prices: &[] };
    let run = Run { monitor: &MostStates(1 << 21), ..Run::default() };
    match place_fences(&task(program), ENGINES[0], &options, &run).expect("no bug").answer {
        FenceAnswer::Placed(placed) => {
            assert!(matches!(placed.proof.verdict(), Verdict::Robust(_)), "{}: {placed:?}", program.name);
            Some(placed)
        }
        FenceAnswer::Unknown(_) => None,
        other => panic!("{}: {other:?}", program.name),
    }
}

#[test]
fn as_few_fences_as_the_predecessor() {
    let Some(folder) = support::corpora("trencher") else { return };
    let table = std::fs::read_to_string(folder.join("expected.tsv")).expect("readable");
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
        if places.len() > 6 || answer(&program) != "not robust" {
            continue;
        }
        let fewest = fewest_fences(&program, &places).map(u64::from);
        let placed = made_robust(&program, Points::Stores).map(|placed| placed.cost);
        assert_eq!(placed, fewest, "seed {seed}\n{}", program::print(&program));
        judged += 1;
    }
    assert!(judged > 50, "only {judged} programs were judged");
}

/// All places where a step may read memory next, outside atomic sections.
fn before_loads(program: &Program) -> Vec<Placement> {
    let reads = |op: &Op| match op {
        Op::Load(..) => true,
        Op::Block { locked: false, parts } => parts.iter().any(|part| matches!(part, Op::Load(..))),
        _ => false,
    };
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        let automaton = program.thread(thread);
        for loc in automaton.locs().filter(|loc| !automaton.in_atomic(*loc)) {
            if automaton.outgoing(loc).any(|(_, edge)| reads(&edge.op)) {
                let strength = Strength::Fence(Fence::Full);
                found.push(Placement { thread, point: Point::At(loc), strength });
            }
        }
    }
    found
}

/// All sets of fences of this size that make the program robust, by trying all sets.
fn all_of_size(program: &Program, places: &[Placement], size: u32) -> BTreeSet<BTreeSet<Placement>> {
    let subset = |set: u32| {
        let chosen = places.iter().enumerate().filter(|(at, _)| set >> at & 1 == 1);
        chosen.map(|(_, placement)| *placement).collect::<BTreeSet<Placement>>()
    };
    let makes_robust = |set: &BTreeSet<Placement>| {
        let mut fences = FenceSet::new();
        for placement in set {
            fences.insert(*placement);
        }
        answer(&fences.apply(program)) == "robust"
    };
    let sets = (0..1u32 << places.len()).filter(|set| set.count_ones() == size).map(subset);
    sets.filter(makes_robust).collect()
}

#[test]
fn all_cheapest_sets_are_found() {
    let costs = Costs { full: 1, ..Costs::default() };
    let options = FenceOptions { costs, points: Points::All, all: true, prices: &[] };
    let placements = |points: Vec<&FencePoint>| -> BTreeSet<Placement> {
        points.into_iter().flat_map(|point| point.placements.clone()).collect()
    };
    let (mut judged, mut several) = (0, 0);
    for seed in 0..150 {
        for program in [sketch(seed).build(), chain_sketch(seed).build()] {
            let places = [behind_stores(&program), before_loads(&program)].concat();
            if places.len() > 9 || answer(&program) != "not robust" {
                continue;
            }
            let run = Run { monitor: &MostStates(1 << 21), ..Run::default() };
            let found = place_fences(&task(&program), ENGINES[0], &options, &run).expect("no bug");
            let FenceAnswer::Placed(placed) = found.answer else {
                panic!("{}: no answer", program.name);
            };
            assert!(placed.missing.is_empty(), "{:?}", placed.missing);
            let others = placed.alternatives.iter().flatten().map(|set| placements(set.iter().collect()));
            let first = placements(placed.fences.iter().map(|fence| &fence.point).collect());
            let found: Vec<BTreeSet<Placement>> = std::iter::once(first).chain(others).collect();
            let size = u32::try_from(placed.cost).expect("small");
            let expected = all_of_size(&program, &places, size);
            assert_eq!(found.len(), expected.len(), "{}\n{}", program.name, program::print(&program));
            assert_eq!(found.into_iter().collect::<BTreeSet<_>>(), expected);
            judged += 1;
            several += usize::from(expected.len() > 1);
        }
    }
    println!("{several} of {judged} programs have several cheapest sets");
    assert!(judged > 50 && several > 20, "{several} of {judged}");
}

/// The cost of the cheapest full and store fences at these places against PSO, by trying all ways.
fn cheapest_against_pso(program: &Program, places: &[Placement], costs: Costs) -> Option<u64> {
    let ways = 3usize.pow(u32::try_from(places.len()).expect("few"));
    let price = |way: usize| {
        let (mut fences, mut cost, mut rest) = (FenceSet::new(), 0, way);
        for place in places {
            let fence = [None, Some((Fence::Store, costs.store)), Some((Fence::Full, costs.full))][rest % 3];
            if let Some((kind, price)) = fence {
                fences.insert(Placement { strength: Strength::Fence(kind), ..*place });
                cost += price;
            }
            rest /= 3;
        }
        (answer_against(&fences.apply(program), PSO) == "robust").then_some(cost)
    };
    (0..ways).filter_map(price).min()
}

#[test]
fn no_cheaper_full_and_store_fences_will_do_against_pso() {
    let costs = Costs { full: 3, store: 1, ..Costs::default() };
    let options = FenceOptions { costs, points: Points::Stores, all: false, prices: &[] };
    let (mut judged, mut stores, mut fulls) = (0, 0, 0);
    let sketches = (0..60).flat_map(|seed| [sketch(seed), chain_sketch(seed), overtaking_sketch(seed)]);
    for program in sketches.map(|sketch| sketch.build()) {
        let places = behind_stores(&program);
        if places.len() > 4 || answer_against(&program, PSO) != "not robust" {
            continue;
        }
        let run = Run { monitor: &MostStates(1 << 21), ..Run::default() };
        let found = place_fences(&Task::robust(&program, PSO), ENGINES[0], &options, &run).expect("no bug");
        let FenceAnswer::Placed(placed) = found.answer else {
            panic!("{}: no answer\n{}", program.name, program::print(&program));
        };
        let expected = cheapest_against_pso(&program, &places, costs);
        assert_eq!(Some(placed.cost), expected, "{}\n{}", program.name, program::print(&program));
        let kinds = placed.fences.iter().flat_map(|fence| &fence.point.placements);
        for placement in kinds {
            stores += usize::from(placement.strength == Strength::Fence(Fence::Store));
            fulls += usize::from(placement.strength == Strength::Fence(Fence::Full));
        }
        judged += 1;
    }
    println!("{judged} programs, {stores} store fences, {fulls} full fences");
    assert!(judged > 30 && stores > 10 && fulls > 10, "{judged} programs, {stores} and {fulls} fences");
}

#[test]
fn robustness_asks_for_more_fences_than_safety() {
    for (name, expected) in [("sb.fw", 2), ("peterson.fw", 2), ("dekker.fw", 4), ("sb_fenced.fw", 0)] {
        let placed = made_robust(&corpus(name), Points::Stores).expect("finite data");
        assert_eq!(placed.cost, expected, "{name}");
        assert_eq!(answer(&placed.program), "robust", "{name}");
    }
}
