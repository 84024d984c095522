//! Single rules: what is possible in one configuration, step by step.

use super::litmus::{X, Y, fence, read, reg, store_fence, straight, swap, write};
use program::{
    Cond, Domain, Int, Loc, Op, Place, Program, PropertyKind, Relation, Source, Span, ThreadBuilder,
    ThreadId, VarId, Variable,
};
use reference::*;
use std::collections::BTreeSet;

/// Walks the program along the one way that `wanted` picks at each configuration.
fn follow(program: &Program, model: ReferenceModel, wanted: &[&str]) -> Config {
    let mut config = initial(program, model, &[]).remove(0);
    for &step in wanted {
        let next = successors(program, model, &config, &[]);
        let found = next.into_iter().find(|(s, _)| short(s) == step);
        config = found.unwrap_or_else(|| panic!("{model:?}: {step} must be possible")).1;
    }
    config
}

/// `0` where thread 0 takes an edge, `0x` where its store to `x` drains.
fn short(step: &ReferenceStep) -> String {
    match step {
        ReferenceStep::Edge { thread, .. } => thread.index().to_string(),
        ReferenceStep::Drain { thread, variable } => {
            format!("{}{}", thread.index(), ["x", "y", "z"][variable.index()])
        }
    }
}

#[track_caller]
fn check(program: &Program, model: ReferenceModel, done: &[&str], possible: &[&str]) {
    let config = follow(program, model, done);
    let next: Vec<String> = successors(program, model, &config, &[]).iter().map(|(s, _)| short(s)).collect();
    assert_eq!(next, possible, "{model:?} after {done:?}");
}

#[test]
fn only_local_steps_buffered_stores_and_idle_fences_go_on_beside_a_held_lock() {
    let holder = vec![vec![Op::Lock], read(0, X), write(X, 1), vec![Op::Unlock]];
    let beside = |line: Vec<Op>| straight(&[holder.clone(), vec![line]]);
    let pass = Op::Assume(Cond::TRUE);
    for model in ReferenceModel::ALL {
        for line in [vec![Op::Skip], vec![Op::Assign(reg(0), 1.into())], vec![pass.clone()], fence()] {
            check(&beside(line), model, &["0"], &["0", "1"]);
        }
        let unlocked = Op::Block { locked: false, parts: read(0, X) };
        for line in [read(0, X), swap(0, Y, 1), vec![Op::Lock], vec![unlocked]] {
            check(&beside(line.clone()), model, &["0"], &["0"]);
            check(&beside(line), model, &["0", "0", "0", "0"], &["1"]);
        }
        let store: &[&str] = if model == ReferenceModel::Sc { &["0"] } else { &["0", "1"] };
        check(&beside(write(Y, 1)), model, &["0"], store);
    }
}

#[test]
fn a_held_lock_stops_the_drains_and_the_forwarding_of_others() {
    let holder = vec![vec![Op::Lock], vec![Op::Unlock]];
    let other = vec![write(X, 1), read(0, X)];
    let program = straight(&[holder, other]);
    for model in [ReferenceModel::Tso, ReferenceModel::Pso] {
        check(&program, model, &["1"], &["0", "1", "1x"]);
        check(&program, model, &["1", "0"], &["0"]);
        check(&program, model, &["1", "0", "0"], &["1", "1x"]);
    }
}

#[test]
fn locks_locked_blocks_and_full_fences_wait_for_the_own_buffer_only() {
    for line in [vec![Op::Lock], swap(0, Y, 1), fence()] {
        let program = straight(&[vec![write(X, 1), line], vec![write(X, 2)]]);
        for model in [ReferenceModel::Tso, ReferenceModel::Pso] {
            check(&program, model, &["0", "1"], &["0x", "1x"]);
            check(&program, model, &["0", "1", "0x"], &["0", "1x"]);
        }
    }
}

#[test]
fn a_locked_block_inside_a_section_works_and_keeps_the_lock() {
    let program = straight(&[vec![vec![Op::Lock], swap(0, X, 3), vec![Op::Unlock]], vec![read(0, X)]]);
    for model in ReferenceModel::ALL {
        let config = follow(&program, model, &["0", "0"]);
        assert_eq!((config.holder, &config.memory[0]), (Some(ThreadId::new(0)), &Int::from(3)));
        check(&program, model, &["0", "0"], &["0"]);
    }
}

#[test]
fn a_block_passes_only_if_every_assumption_does() {
    let parts = vec![
        Op::Load(reg(0), VarId::new(X)),
        Op::Assume(Cond::compare(Relation::Eq, reg(0), 1)),
        Op::Load(reg(1), VarId::new(Y)),
    ];
    for locked in [false, true] {
        let program = straight(&[vec![vec![Op::Block { locked, parts: parts.clone() }]], vec![write(X, 1)]]);
        check(&program, ReferenceModel::Sc, &[], &["1"]);
        check(&program, ReferenceModel::Sc, &["1"], &["0"]);
    }
}

#[test]
fn an_unlocked_block_sees_the_own_buffer() {
    let block = Op::Block { locked: false, parts: [read(0, X), read(1, Y)].concat() };
    let program = straight(&[vec![write(X, 4), vec![block]]]);
    for model in ReferenceModel::ALL {
        let registers = &follow(&program, model, &["0", "0"]).registers[0];
        assert_eq!(registers[..2], [Int::from(4), Int::from(0)]);
    }
}

#[test]
fn epochs_order_drains_and_are_forgotten_when_nothing_is_left_to_order() {
    let lines = vec![write(X, 1), store_fence(), store_fence(), write(Y, 1), write(X, 2), write(Y, 2)];
    let program = straight(&[lines]);
    check(&program, ReferenceModel::Pso, &["0", "0", "0", "0", "0"], &["0", "0x"]);
    check(&program, ReferenceModel::Pso, &["0", "0", "0", "0", "0", "0x"], &["0", "0x", "0y"]);
    check(&program, ReferenceModel::Tso, &["0", "0", "0", "0", "0", "0x"], &["0", "0y"]);
    let drained_first = follow(&program, ReferenceModel::Pso, &["0", "0x", "0", "0", "0"]);
    let drained_last = follow(&program, ReferenceModel::Pso, &["0", "0", "0", "0", "0x"]);
    assert_eq!(drained_first, drained_last);
    assert_eq!(drained_first.buffers[0].epoch, 0);
    let once = follow(&program, ReferenceModel::Pso, &["0", "0"]);
    let twice = follow(&program, ReferenceModel::Pso, &["0", "0", "0"]);
    assert_eq!(once.buffers, twice.buffers, "a second fence in a row adds nothing");
    assert_ne!(once.buffers, follow(&program, ReferenceModel::Pso, &["0"]).buffers, "a fence is remembered");
}

#[test]
fn choices_try_every_value_and_the_candidates_where_there_is_no_range() {
    let range = Op::Havoc(reg(0), Domain::Range((-1).into(), 2.into()));
    let program = straight(&[vec![vec![range]]]);
    let config = initial(&program, ReferenceModel::Tso, &[]).remove(0);
    let steps = successors(&program, ReferenceModel::Tso, &config, &[]);
    let chosen: Vec<Int> = steps.iter().map(|(_, after)| after.registers[0][0].clone()).collect();
    assert_eq!(chosen, [-1, 0, 1, 2].map(Int::from));
    assert!(
        matches!(&steps[0].0, ReferenceStep::Edge { choice: Some(value), .. } if *value == Int::from(-1)),
        "the step says what was chosen"
    );

    let program = straight(&[vec![vec![Op::Havoc(reg(0), Domain::All)]]]);
    let seven = [Int::from(7)];
    let steps =
        successors(&program, ReferenceModel::Tso, &initial(&program, ReferenceModel::Tso, &seven)[0], &seven);
    assert_eq!(steps.len(), 1);
    assert_eq!(steps[0].1.registers[0][0], seven[0]);
}

#[test]
fn initial_values_multiply() {
    let mut program = straight(&[vec![]]);
    program.variables[0].initial = Domain::Range(0.into(), 2.into());
    program.variables[1].initial = Domain::All;
    let found = initial(&program, ReferenceModel::Pso, &[Int::from(5), Int::from(6)]);
    assert_eq!(found.iter().map(|config| config.memory.clone()).collect::<BTreeSet<_>>().len(), 6);
}

#[test]
fn a_full_queue_is_reported_and_so_is_a_full_table() {
    let mut program = Program::new("loop", Source::default());
    let x = program.add_variable(Variable::new("x", Span::NONE));
    let mut builder = ThreadBuilder::new("P");
    let entry = builder.entry();
    builder.edge(entry, Op::Store(x, 1.into()), entry, Span::NONE);
    program.threads.push(builder.finish().expect("well-formed"));
    let explore = |model, configs| {
        let limits = ReferenceLimits { queue: 3, configs, candidates: Vec::new() };
        let reached = explore(&program, model, &limits);
        (reached.configs.len(), reached.cap_hit, reached.truncated)
    };
    assert_eq!(explore(ReferenceModel::Sc, 100), (2, false, false));
    assert_eq!(
        explore(ReferenceModel::Tso, 100),
        (8, true, false),
        "queues of 0 to 3 before and after a drain"
    );
    assert!(explore(ReferenceModel::Tso, 5).2);
}

#[test]
fn violations_are_found_one_by_one() {
    let mut program = straight(&[vec![write(X, 1), write(Y, 1)]]);
    let memory = |v| Place::Memory(VarId::new(v));
    let property = |kind, cond| program::Property { kind, cond, span: Span::NONE, text: None };
    program.properties = vec![
        property(
            PropertyKind::Never,
            Cond::and([
                Cond::compare(Relation::Eq, memory(X), Int::from(0)),
                Cond::compare(Relation::Eq, memory(Y), Int::from(1)),
            ]),
        ),
        property(PropertyKind::Never, Cond::compare(Relation::Eq, memory(X), Int::from(2))),
        property(PropertyKind::Finally, Cond::compare(Relation::Eq, memory(X), Int::from(0))),
        property(PropertyKind::Finally, Cond::compare(Relation::Eq, memory(X), Int::from(1))),
        property(PropertyKind::Never, Cond::at(ThreadId::new(0), Loc::new(1))),
    ];
    let found = |model| {
        let limits = ReferenceLimits { queue: 8, configs: 100, candidates: Vec::new() };
        explore(&program, model, &limits).violations.into_iter().collect::<Vec<_>>()
    };
    use ReferenceViolation::{Finally, Never};
    assert_eq!(found(ReferenceModel::Sc), [Never(4), Finally(2)]);
    assert_eq!(found(ReferenceModel::Tso), [Never(4), Finally(2)]);
    assert_eq!(found(ReferenceModel::Pso), [Never(0), Never(4), Finally(2)]);
}
