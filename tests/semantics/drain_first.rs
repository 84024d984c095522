//! Letting a thread wait until its stores have drained loses no violation, on random programs with a thread
//! that stores on and on. A second version of the conditions, by following paths, says the same of every
//! location, and each of them is needed: without any one of them, violations are lost.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use crate::local_first::{compare, place_and_value};
use support::{random, texts};

use fastrand::Rng;
use machine::{LocalFirst, MODELS, Model, model_named};
use program::{
    Arith, Cond, Edge, Expr, Fence, Loc, Op, Place, Program, RegId, Relation, Thread, ThreadId, VarId,
};
use random::{Sketch, Stmt, minimise, seeds};
use std::collections::BTreeSet;

/// The random program of a seed, with a thread that stores on and on.
fn storing(seed: u64) -> Sketch {
    let mut sketch = random::sketch(seed);
    let mut rng = Rng::with_seed(seed ^ 0x5707e);
    let variables = sketch.variables.len();
    let draft = &mut sketch.threads[0];
    draft.registers = draft.registers.max(1);
    let body: Vec<Stmt> =
        (0..rng.usize(2..6)).map(|_| statement(&mut rng, draft.registers, variables)).collect();
    let before = (0..rng.usize(..2)).map(|_| statement(&mut rng, draft.registers, variables));
    draft.body = before.chain([Stmt::Forever(body)]).collect();
    let speaks_of_it = |atom: &random::Atom| matches!(atom, random::Atom::At(0, ..));
    sketch.claims.retain(|claim| !claim.atoms.iter().any(speaks_of_it));
    if rng.u8(..4) == 0 {
        let claim = place_and_value(&mut sketch, &mut rng);
        sketch.claims = vec![claim];
    }
    sketch
}

fn statement(rng: &mut Rng, registers: usize, variables: usize) -> Stmt {
    let register = RegId::new(rng.usize(..registers));
    let variable = VarId::new(rng.usize(..variables));
    let value = Expr::from(rng.i64(0..3));
    Stmt::Do(match rng.u8(..16) {
        0..=6 => Op::Store(variable, value),
        7 => Op::Store(variable, Expr::Leaf(register)),
        8 | 9 => Op::Load(register, variable),
        10 => Op::Assign(register, Expr::binary(Arith::Sub, 1, register)),
        11 | 12 => Op::Fence(Fence::Store),
        13 => Op::locked(vec![Op::Store(variable, value)]),
        14 => return Stmt::Atomic(vec![Stmt::Do(Op::Load(register, variable)), Stmt::Do(Op::Skip)]),
        _ => return Stmt::Assert(Cond::compare(Relation::Ne, register, rng.i64(0..3))),
    })
}

/// A condition that is left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Missing {
    Nothing,
    LooksAtNothing,
    Order,
    Unseen,
}

/// Whether a thread may wait at a location, by following paths.
fn may_wait(program: &Program, model: Model, id: ThreadId, loc: Loc, missing: Missing) -> bool {
    let thread = program.thread(id);
    let seen = program
        .observed()
        .iter()
        .any(|place| matches!(place, Place::At(t, _) | Place::Register(t, _) if *t == id));
    let fence = |edge: &Edge| edge.op.waits() || matches!(edge.op, Op::Fence(Fence::Store));
    let ahead = edges_from(thread, loc, &|edge| edge.op.waits());
    let looks = ahead.iter().any(|edge| {
        let mut loads = false;
        edge.op.for_each_part(&mut |part| {
            loads |= matches!(part, Op::Load(_, variable) if written_by_others(program, id, *variable));
        });
        loads && !edge.op.waits()
    });
    let stores = |edges: Vec<&Edge>| -> BTreeSet<VarId> {
        edges.into_iter().filter_map(|edge| thread.delayed_store(edge)).collect()
    };
    let after = stores(edges_from(thread, loc, &fence));
    let leads_here = |edge: &&Edge| {
        edge.to == loc
            || edges_from(thread, edge.to, &fence).iter().any(|next| next.to == loc && !fence(next))
    };
    let before = stores(thread.edges().iter().filter(leads_here).collect());
    let in_order = before.iter().all(|a| after.iter().all(|b| model.one_queue() || a == b));
    (!seen || missing == Missing::Unseen)
        && (!looks || missing == Missing::LooksAtNothing)
        && (in_order || missing == Missing::Order)
}

/// The edges on paths from a location, up to and including those behind which nobody looks.
fn edges_from<'t>(thread: &'t Thread, loc: Loc, stop: &dyn Fn(&Edge) -> bool) -> Vec<&'t Edge> {
    let (mut found, mut seen, mut work) = (Vec::new(), BTreeSet::from([loc]), vec![loc]);
    while let Some(at) = work.pop() {
        for (_, edge) in thread.outgoing(at) {
            found.push(edge);
            if !stop(edge) && seen.insert(edge.to) {
                work.push(edge.to);
            }
        }
    }
    found
}

fn written_by_others(program: &Program, id: ThreadId, variable: VarId) -> bool {
    program.thread_ids().filter(|thread| *thread != id).any(|thread| {
        program.thread(thread).edges().iter().any(|edge| {
            let mut stores = false;
            edge.op.for_each_part(&mut |part| stores |= matches!(part, Op::Store(v, _) if *v == variable));
            stores
        })
    })
}

fn model_of(seed: u64) -> Model {
    let weak: Vec<Model> = MODELS.iter().copied().filter(|model| model.buffers()).collect();
    weak[seed as usize % weak.len()]
}

#[test]
fn nothing_is_lost_where_a_thread_waits_for_its_stores() {
    let (mut judged, mut reduced, mut waiting) = (0, 0, 0);
    for seed in 0..2 * seeds() {
        let model = model_of(seed);
        let law = |sketch: &Sketch| {
            let program = sketch.build();
            let ours = LocalFirst::new(&program, model);
            for (id, loc) in
                program.thread_ids().flat_map(|id| program.thread(id).locs().map(move |l| (id, l)))
            {
                if ours.waits(id, loc, false) && !may_wait(&program, model, id, loc, Missing::Nothing) {
                    return Some(Err(format!("{id:?} waits at {loc:?}, {}", model.name())));
                }
            }
            compare(&program, model, (&|_| None, &|thread, loc| ours.waits(thread, loc, false)))
        };
        let program = storing(seed).build();
        let ours = LocalFirst::new(&program, model);
        waiting += usize::from(program.thread_ids().any(|thread| ours.ever_waits(thread)));
        match law(&storing(seed)) {
            None => {}
            Some(Ok((fewer, all))) => {
                judged += 1;
                reduced += usize::from(fewer < all);
            }
            Some(Err(_)) => {
                let small = minimise(storing(seed), &mut |sketch| matches!(law(sketch), Some(Err(_))));
                let why = law(&small).and_then(Result::err).unwrap_or_default();
                panic!("broken by seed {seed}: {why}\n{}", program::print(&small.build()));
            }
        }
    }
    let all = 2 * seeds() as usize;
    println!("{judged} of {all} judged, {waiting} wait, {reduced} reduced");
    assert!(judged * 2 > all && waiting * 8 > all && reduced * 12 > judged);
}

/// Programs that have a violation only as long as nobody waits where it may not.
const LOST: &[(Missing, &str, &str)] = &[
    (
        Missing::LooksAtNothing,
        "tso",
        "shared x, y, z; thread P { let a; loop { x = 1; a = y; if (a == 0) { z = 1; } } } \
         thread Q { let b, c; y = 1; fence; b = x; c = z; assert b == 1 || c == 0; }",
    ),
    (
        Missing::Order,
        "pso",
        "shared x, y; thread P { loop { x = 1; y = 1; } } thread Q { await y == 1; assert x == 1; }",
    ),
    (
        Missing::Unseen,
        "tso",
        "shared x; thread P { loop { x = 1; skip; l: skip; x = 0; } } never P@l && x == 0;",
    ),
];

#[test]
fn every_condition_for_waiting_is_needed() {
    for (missing, model, text) in LOST {
        let program = texts::read(text).expect("a program");
        let model = model_named(model).expect("known");
        let ours = LocalFirst::new(&program, model);
        let right = compare(&program, model, (&|_| None, &|thread, loc| ours.waits(thread, loc, false)));
        assert!(matches!(right, Some(Ok(_))), "{missing:?}: {right:?}");
        let waits = |id, loc| may_wait(&program, model, id, loc, *missing);
        let wrong = compare(&program, model, (&|_| None, &waits));
        assert!(matches!(wrong, Some(Err(_))), "nobody noticed that a condition is missing: {missing:?}");
    }
}
