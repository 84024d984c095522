//! The random programs must stay worth their time: valid, varied, and with behaviours that
//! tell the models apart. The bounds are loose; they are there to notice a broken generator.

#[path = "generator/texts.rs"]
mod of_texts;
use support::random;
use support::texts;

use program::{Domain, FailureKind, Fence, Op, Place, Program, PropertyKind};
use random::{Shape, generate};
use reference::{Reached, ReferenceLimits, ReferenceModel, ReferenceViolation, explore};
use std::collections::{BTreeMap, BTreeSet};

const SEEDS: u64 = 2_000;
const EXPLORED: u64 = 500;

fn reach(program: &Program, model: ReferenceModel) -> Reached {
    explore(program, model, &ReferenceLimits { queue: 2, configs: 4_000, candidates: Vec::new() })
}

#[test]
fn every_program_is_valid_and_a_seed_always_gives_the_same() {
    for seed in 0..SEEDS {
        let program = generate(seed);
        if let Err(faults) = program.validate() {
            panic!("{}: {faults:?}\n{}", program.name, program::print(&program));
        }
        assert_eq!(program::print(&program), program::print(&generate(seed)));
    }
}

fn count_op(op: &Op, counts: &mut BTreeMap<&'static str, usize>) {
    let name = match op {
        Op::Skip => "skip",
        Op::Assign(..) => "assign",
        Op::Havoc(..) => "havoc",
        Op::Assume(_) => "assume",
        Op::Load(..) => "load",
        Op::Store(..) => "store",
        Op::Fence(Fence::Full) => "fence",
        Op::Fence(Fence::Store) => "store fence",
        Op::Lock => "lock",
        Op::Unlock => "unlock",
        Op::Block { locked: true, .. } => "locked block",
        Op::Block { locked: false, .. } => "unlocked block",
    };
    *counts.entry(name).or_default() += 1;
}

fn count_features(program: &Program, counts: &mut BTreeMap<&'static str, usize>) {
    let mut count = |name: &'static str, how_many: usize| *counts.entry(name).or_default() += how_many;
    count("three threads", usize::from(program.threads.len() == 3));
    count("array cells", usize::from(program.variables[0].name == "a[0]"));
    let initial = |wanted: &dyn Fn(&Domain) -> bool| {
        program.variables.iter().filter(|variable| wanted(&variable.initial)).count()
    };
    count("initial value not 0", initial(&|d| d.single().is_some_and(|value| *value != 0.into())));
    count("initial range", initial(&|d| d.single().is_none()));
    count("assumed of initial values", program.starts.len());
    count("several properties", usize::from(program.properties.len() > 1));
    for property in &program.properties {
        let (of_memory, of_register, of_place) = match property.kind {
            PropertyKind::Never => ("never of memory", "never of a register", "never of a place"),
            PropertyKind::Finally => ("finally of memory", "finally of a register", "finally of a place"),
        };
        property.cond.for_each_leaf(&mut |place| match place {
            Place::Memory(_) => count(of_memory, 1),
            Place::Register(..) => count(of_register, 1),
            Place::At(..) | Place::Drained(_) => count(of_place, 1),
        });
    }
    for thread in &program.threads {
        count("no registers", usize::from(thread.registers.is_empty()));
        count("back edge", thread.edges().iter().filter(|edge| edge.to <= edge.from).count());
        let failures = thread.locs().filter_map(|loc| thread.location(loc).failure.as_ref());
        count("assertion", failures.filter(|failure| failure.kind == FailureKind::Assertion).count());
        let inside = thread.locs().filter(|loc| thread.in_atomic(*loc)).count();
        count("section of several steps", usize::from(inside > 2));
    }
}

#[test]
fn everything_a_program_can_hold_occurs() {
    let mut counts = BTreeMap::new();
    let mut names = BTreeSet::new();
    for seed in 0..SEEDS {
        let program = generate(seed);
        names.extend(program.name.split(',').next().map(str::to_string));
        count_features(&program, &mut counts);
        for edge in program.threads.iter().flat_map(|thread| thread.edges()) {
            count_op(&edge.op, &mut counts);
        }
    }
    assert_eq!(names.len(), Shape::ALL.len() + 1, "{names:?}");
    assert_eq!(counts.len(), 12 + 16, "{counts:?}");
    for (name, count) in &counts {
        assert!(*count as u64 >= SEEDS / 40, "{name} occurs only {count} times");
    }
}

/// What the reference says about many programs.
#[derive(Debug, Default)]
struct Statistics {
    truncated: usize,
    capped: usize,
    weaker_tso: usize,
    weaker_pso: usize,
    failures: usize,
    nevers: usize,
    finallys: usize,
    several_violations: usize,
    only_weak_violations: usize,
    ending: usize,
}

impl Statistics {
    fn add(&mut self, program: &Program) {
        let [sc, tso, pso] = ReferenceModel::ALL.map(|model| reach(program, model));
        let mut count = |counter: fn(&mut Statistics) -> &mut usize, condition: bool| {
            *counter(self) += usize::from(condition);
        };
        count(|s| &mut s.truncated, pso.truncated || tso.truncated || sc.truncated);
        count(|s| &mut s.capped, tso.cap_hit);
        count(|s| &mut s.weaker_tso, drained(&tso).len() > drained(&sc).len());
        count(|s| &mut s.weaker_pso, drained(&pso).len() > drained(&tso).len());
        let found = |wanted: fn(&ReferenceViolation) -> bool| pso.violations.iter().any(wanted);
        count(|s| &mut s.failures, found(|v| matches!(v, ReferenceViolation::Failure(..))));
        count(|s| &mut s.nevers, found(|v| matches!(v, ReferenceViolation::Never(_))));
        count(|s| &mut s.finallys, found(|v| matches!(v, ReferenceViolation::Finally(_))));
        count(|s| &mut s.several_violations, pso.violations.len() > 1);
        count(|s| &mut s.only_weak_violations, pso.violations.len() > sc.violations.len());
        count(|s| &mut s.ending, sc.configs.iter().any(|config| config.is_final(program)));
    }
}

/// What can be seen of the configurations with nothing buffered.
fn drained(reached: &Reached) -> BTreeSet<impl Ord> {
    let drained = reached.configs.iter().filter(|config| config.is_drained());
    drained.map(|c| (c.locs.clone(), c.registers.clone(), c.memory.clone())).collect()
}

#[test]
fn the_programs_tell_the_models_apart() {
    let mut statistics = Statistics::default();
    (0..EXPLORED).for_each(|seed| statistics.add(&generate(seed)));
    let percent = |count: usize| count * 100 / EXPLORED as usize;
    let s = &statistics;
    assert!(percent(s.truncated) <= 10, "{s:?}");
    assert!(percent(s.capped) >= 5 && percent(s.capped) <= 50, "{s:?}");
    assert!(percent(s.weaker_tso) >= 10 && percent(s.weaker_pso) >= 7, "{s:?}");
    assert!(percent(s.failures) >= 10 && percent(s.nevers) >= 20 && percent(s.finallys) >= 10, "{s:?}");
    assert!(percent(s.several_violations) >= 15 && percent(s.only_weak_violations) >= 1, "{s:?}");
    assert!(percent(s.ending) >= 50, "{s:?}");
}

#[test]
fn minimising_keeps_the_failure_and_drops_the_rest() {
    let has_fence = |program: &Program| {
        let mut ops = program.threads.iter().flat_map(|thread| thread.edges()).map(|edge| &edge.op);
        ops.any(|op| *op == Op::Fence(Fence::Full))
    };
    let seed = (0..SEEDS).find(|&seed| has_fence(&generate(seed))).expect("fences occur");
    let small = random::minimise(random::sketch(seed), &mut |sketch| has_fence(&sketch.build())).build();
    assert!(has_fence(&small) && small.properties.is_empty());
    assert_eq!(small.threads.iter().map(|thread| thread.edges().len()).sum::<usize>(), 1);
}
