//! The classic litmus shapes with their textbook outcomes under the three models.
//!
//! Names are the usual ones. Variables are `x`, `y`, `z` (0, 1, 2); an outcome is written as
//! in litmus files, `0:r1=0` for register `r1` of thread 0 and `x=2` for memory in the end.

use program::{
    Arith, Cond, Expr, Fence, Int, Op, Place, Program, RegId, Relation, Source, Span, ThreadBuilder,
    ThreadId, VarId, Variable,
};
use reference::{ReferenceLimits, ReferenceModel, explore};

pub(super) const X: VarIndex = 0;
pub(super) const Y: VarIndex = 1;
pub(super) const Z: VarIndex = 2;
pub(super) type VarIndex = usize;

/// The ways one step of a thread can go.
pub(super) type StepChoices = Vec<Op>;

pub(super) fn reg(index: usize) -> RegId {
    RegId::new(index)
}

pub(super) fn write(variable: VarIndex, value: i64) -> StepChoices {
    vec![Op::Store(VarId::new(variable), Expr::from(value))]
}

pub(super) fn read(register: usize, variable: VarIndex) -> StepChoices {
    vec![Op::Load(reg(register), VarId::new(variable))]
}

pub(super) fn fence() -> StepChoices {
    vec![Op::Fence(Fence::Full)]
}

pub(super) fn store_fence() -> StepChoices {
    vec![Op::Fence(Fence::Store)]
}

pub(super) fn swap(register: usize, variable: VarIndex, value: i64) -> StepChoices {
    vec![Op::locked([read(register, variable), write(variable, value)].concat())]
}

/// Success leaves 1 in the register, failure 0.
pub(super) fn cas(register: usize, variable: VarIndex, old: i64, new: i64) -> StepChoices {
    let (r, x) = (reg(register), VarId::new(variable));
    let is_old = Cond::compare(Relation::Eq, r, old);
    let success = vec![
        Op::Load(r, x),
        Op::Assume(is_old.clone()),
        Op::Store(x, new.into()),
        Op::Assign(r, Expr::from(1)),
    ];
    let failure = vec![Op::Load(r, x), Op::Assume(is_old.negate()), Op::Assign(r, Expr::from(0))];
    vec![Op::locked(success), Op::locked(failure)]
}

/// Straight threads over `x`, `y`, `z`, each with registers `r0` to `r3`.
pub(super) fn straight(threads: &[Vec<StepChoices>]) -> Program {
    let mut program = Program::new("litmus", Source::default());
    for name in ["x", "y", "z"] {
        program.add_variable(Variable::new(name, Span::NONE));
    }
    for (at, lines) in threads.iter().enumerate() {
        let mut builder = ThreadBuilder::new(format!("P{at}"));
        for r in 0..4 {
            builder.register(format!("r{r}"));
        }
        let mut here = builder.entry();
        for line in lines {
            let next = builder.location(Span::NONE);
            line.iter().for_each(|op| builder.edge(here, op.clone(), next, Span::NONE));
            here = next;
        }
        program.threads.push(builder.finish().expect("well-formed"));
    }
    program.validate().expect("valid");
    program
}

fn place(text: &str) -> Place {
    if let Some((thread, register)) = text.split_once(":r") {
        let thread = ThreadId::new(thread.parse().expect("a thread"));
        Place::Register(thread, reg(register.parse().expect("a register")))
    } else {
        let variable = ["x", "y", "z"].iter().position(|name| *name == text).expect("a variable");
        Place::Memory(VarId::new(variable))
    }
}

fn outcome(text: &str) -> Vec<(Place, Int)> {
    let part = |part: &str| {
        let (left, value) = part.split_once('=').expect("an equation");
        (place(left), value.parse().expect("a number"))
    };
    text.split_whitespace().map(part).collect()
}

/// Asserts under which models an outcome is possible in the end.
fn check(threads: &[Vec<StepChoices>], wanted: &str, possible: &[ReferenceModel]) {
    let program = straight(threads);
    let wanted = outcome(wanted);
    for model in ReferenceModel::ALL {
        let limits = ReferenceLimits { queue: 8, configs: 100_000, candidates: Vec::new() };
        let reached = explore(&program, model, &limits);
        assert!(!reached.cap_hit && !reached.truncated);
        let mut ends = reached.configs.iter().filter(|config| config.is_final(&program));
        let seen = ends.any(|config| wanted.iter().all(|(place, value)| config.place(place) == *value));
        assert_eq!(seen, possible.contains(&model), "{model:?}: {wanted:?}\n{}", program::print(&program));
    }
}

const NOWHERE: &[ReferenceModel] = &[];
const PSO: &[ReferenceModel] = &[ReferenceModel::Pso];
const TSO_AND_PSO: &[ReferenceModel] = &[ReferenceModel::Tso, ReferenceModel::Pso];
const EVERYWHERE: &[ReferenceModel] = &ReferenceModel::ALL;

fn sb(between_0: Vec<StepChoices>, between_1: Vec<StepChoices>, possible: &[ReferenceModel]) {
    let first = [vec![write(X, 1)], between_0, vec![read(0, Y)]].concat();
    let second = [vec![write(Y, 1)], between_1, vec![read(0, X)]].concat();
    check(&[first, second], "0:r0=0 1:r0=0", possible);
}

#[test]
fn store_buffering() {
    sb(vec![], vec![], TSO_AND_PSO);
    sb(vec![fence()], vec![], TSO_AND_PSO);
    sb(vec![fence()], vec![fence()], NOWHERE);
    sb(vec![store_fence()], vec![store_fence()], TSO_AND_PSO);
}

#[test]
fn locked_operations_order_like_fences_even_when_they_fail() {
    sb(vec![swap(1, Z, 1)], vec![swap(1, Z, 2)], NOWHERE);
    sb(vec![cas(1, Z, 7, 1)], vec![cas(1, Z, 7, 2)], NOWHERE);
    sb(vec![cas(1, Z, 7, 1)], vec![fence()], NOWHERE);
    sb(vec![vec![Op::Lock], vec![Op::Unlock]], vec![fence()], NOWHERE);
    sb(vec![cas(1, Z, 7, 1)], vec![], TSO_AND_PSO);
    let swapped = |mine, other| vec![swap(1, mine, 1), read(0, other)];
    check(&[swapped(X, Y), swapped(Y, X)], "0:r0=0 1:r0=0", NOWHERE);
}

#[test]
fn store_buffering_with_early_own_reads() {
    let thread = |mine, other| vec![write(mine, 1), read(0, mine), read(1, other)];
    check(&[thread(X, Y), thread(Y, X)], "0:r0=1 0:r1=0 1:r0=1 1:r1=0", TSO_AND_PSO);
    check(&[thread(X, Y), thread(Y, X)], "0:r0=0", NOWHERE);
}

#[test]
fn message_passing() {
    let mp = |between: Vec<StepChoices>, possible| {
        let writer = [vec![write(X, 1)], between, vec![write(Y, 1)]].concat();
        check(&[writer, vec![read(0, Y), read(1, X)]], "1:r0=1 1:r1=0", possible);
    };
    mp(vec![], PSO);
    mp(vec![store_fence()], NOWHERE);
    mp(vec![fence()], NOWHERE);
    mp(vec![swap(0, Z, 1)], NOWHERE);
    mp(vec![cas(0, Z, 7, 1)], NOWHERE);
    mp(vec![write(Z, 1)], PSO);
}

#[test]
fn a_store_fence_orders_all_before_it_with_all_after_it() {
    let writer = vec![write(X, 1), write(Y, 1), store_fence(), write(Z, 1)];
    check(&[writer.clone(), vec![read(0, Z), read(1, X)]], "1:r0=1 1:r1=0", NOWHERE);
    check(&[writer.clone(), vec![read(0, Z), read(1, Y)]], "1:r0=1 1:r1=0", NOWHERE);
    check(&[writer, vec![read(0, Y), read(1, X)]], "1:r0=1 1:r1=0", PSO);
    let later = vec![write(X, 1), store_fence(), write(Y, 1), write(Z, 1)];
    check(&[later.clone(), vec![read(0, Z), read(1, Y)]], "1:r0=1 1:r1=0", PSO);
    check(&[later, vec![read(0, Z), read(1, X)]], "1:r0=1 1:r1=0", NOWHERE);
    let early = vec![store_fence(), write(X, 1), write(Y, 1)];
    check(&[early, vec![read(0, Y), read(1, X)]], "1:r0=1 1:r1=0", PSO);
}

#[test]
fn load_buffering() {
    let thread = |from, to| vec![read(0, from), write(to, 1)];
    check(&[thread(X, Y), thread(Y, X)], "0:r0=1 1:r0=1", NOWHERE);
    check(&[thread(X, Y), thread(Y, X)], "0:r0=1 1:r0=0", EVERYWHERE);
}

#[test]
fn independent_reads_of_independent_writes() {
    let reader = |first, second| vec![read(0, first), read(1, second)];
    let threads = [vec![write(X, 1)], vec![write(Y, 1)], reader(X, Y), reader(Y, X)];
    check(&threads, "2:r0=1 2:r1=0 3:r0=1 3:r1=0", NOWHERE);
}

#[test]
fn two_and_two_writes() {
    let thread = |first, between: Vec<StepChoices>, second| {
        [vec![write(first, 1)], between, vec![write(second, 2)]].concat()
    };
    check(&[thread(X, vec![], Y), thread(Y, vec![], X)], "x=1 y=1", PSO);
    check(&[thread(X, vec![store_fence()], Y), thread(Y, vec![], X)], "x=1 y=1", PSO);
    let both = |kind: fn() -> StepChoices| [thread(X, vec![kind()], Y), thread(Y, vec![kind()], X)];
    check(&both(store_fence), "x=1 y=1", NOWHERE);
    check(&both(fence), "x=1 y=1", NOWHERE);
}

#[test]
fn coherence() {
    check(&[vec![write(X, 1)], vec![read(0, X), read(1, X)]], "1:r0=1 1:r1=0", NOWHERE);
    check(&[vec![write(X, 1), write(X, 2)]], "x=1", NOWHERE);
    check(&[vec![write(X, 1), write(X, 2)], vec![read(0, X), read(1, X)]], "1:r0=2 1:r1=1", NOWHERE);
    check(&[vec![write(X, 1), write(X, 2)], vec![read(0, X), read(1, X)]], "1:r0=1 1:r1=2", EVERYWHERE);
    let own = vec![write(X, 1), read(0, X)];
    check(&[own.clone(), vec![write(X, 2), read(0, X)]], "0:r0=2 1:r0=1", NOWHERE);
    check(&[own, vec![write(X, 2), read(0, X)]], "0:r0=1 1:r0=2 x=1", EVERYWHERE);
}

#[test]
fn r() {
    let threads = |between_0: Vec<StepChoices>, between_1: Vec<StepChoices>| {
        let first = [vec![write(X, 1)], between_0, vec![write(Y, 1)]].concat();
        [first, [vec![write(Y, 2)], between_1, vec![read(0, X)]].concat()]
    };
    check(&threads(vec![], vec![]), "y=2 1:r0=0", TSO_AND_PSO);
    check(&threads(vec![], vec![fence()]), "y=2 1:r0=0", PSO);
    check(&threads(vec![store_fence()], vec![fence()]), "y=2 1:r0=0", NOWHERE);
    check(&threads(vec![store_fence()], vec![cas(1, Z, 7, 7)]), "y=2 1:r0=0", NOWHERE);
    check(&threads(vec![store_fence()], vec![store_fence()]), "y=2 1:r0=0", TSO_AND_PSO);
}

#[test]
fn s() {
    let threads = |between: Vec<StepChoices>| {
        let first = [vec![write(X, 2)], between, vec![write(Y, 1)]].concat();
        [first, vec![read(0, Y), write(X, 1)]]
    };
    check(&threads(vec![]), "1:r0=1 x=2", PSO);
    check(&threads(vec![store_fence()]), "1:r0=1 x=2", NOWHERE);
}

#[test]
fn write_to_read_causality() {
    let threads = [vec![write(X, 1)], vec![read(0, X), write(Y, 1)], vec![read(0, Y), read(1, X)]];
    check(&threads, "1:r0=1 2:r0=1 2:r1=0", NOWHERE);
}

#[test]
fn read_to_write_causality() {
    let threads = |between: Vec<StepChoices>| {
        let last = [vec![write(Y, 1)], between, vec![read(0, X)]].concat();
        [vec![write(X, 1)], vec![read(0, X), read(1, Y)], last]
    };
    check(&threads(vec![]), "1:r0=1 1:r1=0 2:r0=0", TSO_AND_PSO);
    check(&threads(vec![fence()]), "1:r0=1 1:r1=0 2:r0=0", NOWHERE);
}

#[test]
fn compare_and_swap_succeeds_once() {
    let thread = |new| vec![cas(0, X, 0, new)];
    check(&[thread(1), thread(2)], "0:r0=1 1:r0=1", NOWHERE);
    check(&[thread(1), thread(2)], "0:r0=0 1:r0=0", NOWHERE);
    check(&[thread(1), thread(2)], "0:r0=1 1:r0=0 x=1", EVERYWHERE);
    check(&[thread(1), thread(2)], "0:r0=0 1:r0=1 x=2", EVERYWHERE);
}

#[test]
fn a_plain_store_overtakes_no_locked_increment() {
    let locked = vec![
        vec![Op::Lock],
        read(0, X),
        vec![Op::Store(VarId::new(X), Expr::binary(Arith::Add, reg(0), 1))],
        vec![Op::Unlock],
    ];
    check(&[locked.clone(), locked.clone()], "x=1", NOWHERE);
    check(&[locked.clone(), locked.clone()], "x=2", EVERYWHERE);
    check(&[locked.clone(), vec![write(X, 5)]], "0:r0=0 x=1", NOWHERE);
    check(&[locked, vec![write(X, 5)]], "0:r0=5 x=6", EVERYWHERE);
}
