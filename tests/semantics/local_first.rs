//! Letting a thread go first where its steps are local loses no violation, on random programs
//! with many local steps. A second, obvious version of the conditions says the same, and each
//! of them is needed: without any one of them, violations are lost.
//!
//! `FENCEWRIGHT_SEEDS=n` checks n programs instead of the usual number.

use support::random;

use fastrand::Rng;
use machine::{Buffered, Event, LocalFirst, MODELS, Model, State, StateSet, Stepper};
use program::{
    Arith, Cond, Domain, Expr, Fence, Int, Loc, Op, Place, Program, PropertyKind, RegId, Relation, Thread,
    ThreadId, VarId,
};
use random::{Atom, Claim, Draft, Sketch, Stmt, minimise, seeds};

/// Longer queues are cut off, in both explorations.
const CAP: usize = 2;
const MOST_STATES: usize = 3_000;

/// Something only the thread itself can see.
fn local_stmt(rng: &mut Rng, registers: usize) -> Stmt {
    if registers == 0 {
        return if rng.u8(..4) == 0 { Stmt::Forever(vec![Stmt::Do(Op::Skip)]) } else { Stmt::Do(Op::Skip) };
    }
    let register = RegId::new(rng.usize(..registers));
    let other = RegId::new(rng.usize(..registers));
    let assign = Stmt::Do(Op::Assign(register, Expr::from(rng.i64(0..3))));
    let flip = Stmt::Do(Op::Assign(register, Expr::binary(Arith::Sub, 1, other)));
    let is = Cond::compare(Relation::Eq, other, rng.i64(0..2));
    match rng.u8(..10) {
        0 => Stmt::Do(Op::Skip),
        1 => Stmt::Do(Op::Havoc(register, Domain::Range(0.into(), 1.into()))),
        2 => Stmt::Do(Op::Assume(is)),
        3 => Stmt::If(is, vec![assign], vec![flip]),
        4 => Stmt::While(is, vec![flip]),
        5 => Stmt::Forever(vec![assign, flip]),
        6 => Stmt::Choose(vec![vec![assign], vec![flip], vec![Stmt::Do(Op::Assume(is))]]),
        7 => Stmt::Assert(is),
        8 => flip,
        _ => assign,
    }
}

/// The random program of a seed with local steps here and there, and at most one property.
pub(crate) fn varied(seed: u64) -> Sketch {
    let mut sketch = random::sketch(seed);
    let mut rng = Rng::with_seed(seed);
    for draft in &mut sketch.threads {
        for _ in 0..rng.usize(..3) {
            let at = rng.usize(..=draft.body.len());
            draft.body.insert(at, local_stmt(&mut rng, draft.registers));
        }
    }
    let claims = std::mem::take(&mut sketch.claims);
    if rng.bool() {
        let claim = place_and_value(&mut sketch, &mut rng);
        sketch.claims.push(claim);
    } else {
        sketch.claims.extend(rng.choice(claims));
    }
    sketch
}

/// A property of where a thread is, or what it knows, while memory has some value.
pub(crate) fn place_and_value(sketch: &mut Sketch, rng: &mut Rng) -> Claim {
    const LABEL: usize = 100;
    let thread = rng.usize(..sketch.threads.len());
    let Draft { registers, body } = &mut sketch.threads[thread];
    if rng.u8(..3) == 0 {
        // A thread that does nothing but reach the place.
        *body = (0..rng.usize(1..3)).map(|_| local_stmt(rng, *registers)).collect();
        body.push(Stmt::Label(LABEL));
    } else {
        let at = rng.usize(..=body.len());
        body.insert(at, Stmt::Label(LABEL));
    }
    let variable = Place::Memory(VarId::new(rng.usize(..sketch.variables.len())));
    let value = Cond::compare(Relation::Eq, variable, Int::from(rng.i64(0..3)));
    let there = match *registers {
        count if count > 0 && rng.bool() => {
            let register = Place::Register(ThreadId::new(thread), RegId::new(rng.usize(..count)));
            Atom::Holds(Cond::compare(Relation::Eq, register, Int::from(rng.i64(0..2))))
        }
        _ => Atom::At(thread, LABEL, rng.bool()),
    };
    let atoms = vec![there, Atom::Holds(value)];
    Claim { kind: PropertyKind::Never, any: false, atoms }
}

/// Who goes first where threads stand at these locations, drained or not.
pub(crate) type First<'a> = &'a dyn Fn(&[(Loc, bool)]) -> Option<ThreadId>;
/// Whether a thread waits at a location while something of it is on its way.
pub(crate) type Waits<'a> = &'a dyn Fn(ThreadId, Loc) -> bool;

/// Whether something violating is reachable, and how many states were looked at; `None` if there
/// are too many.
fn explore(program: &Program, model: Model, (first, waits): (First<'_>, Waits<'_>)) -> Option<(bool, usize)> {
    let machine = Buffered::exact(program, model).capped(CAP);
    let mut stepper = Stepper::new(&machine);
    let mut set = StateSet::new();
    let mut stack: Vec<_> = stepper.initial().0.collect();
    let (mut packed, mut next) = (Vec::new(), State::default());
    let mut violated = false;
    while let Some(state) = stack.pop() {
        packed.clear();
        state.pack(&mut packed);
        if !set.insert(&packed, None).ok()?.1 {
            continue;
        }
        if set.len() > MOST_STATES {
            return None;
        }
        stepper.prepare(&state);
        if stepper.violation(&state).ok()?.is_some() {
            violated = true;
            continue;
        }
        let standing = |t| stepper.local(t, &state);
        let standing: Vec<(Loc, bool)> =
            program.thread_ids().map(standing).map(|local| (local.loc, local.drained())).collect();
        // A store that the cap withholds has to wait, and so nobody goes first.
        let full = |t: &ThreadId| {
            let stores = |op: &Op| matches!(op, Op::Store(..));
            let mut edges = program.thread(*t).outgoing(standing[t.index()].0);
            stepper.longest_queue(&state) >= CAP && edges.any(|(_, edge)| stores(&edge.op))
        };
        let alone = first(&standing).filter(|t| !full(t));
        let waiting = |t: ThreadId| !standing[t.index()].1 && waits(t, standing[t.index()].0);
        let wanted = |event: Event| match event {
            Event::Step { thread, .. } => alone.is_none_or(|only| only == thread) && !waiting(thread),
            Event::Drain { .. } => alone.is_none(),
        };
        let visit = |event, _, next: &State| {
            if wanted(event) {
                stack.push(next.clone());
            }
        };
        stepper.successors(&state, &mut next, |_| {}, visit);
    }
    Some((violated, set.len()))
}

/// The conditions for going first; a mistake leaves one out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    AlwaysEnabled,
    NoCycle,
    UnseenLocation,
    UnseenTarget,
    UnseenRegister,
    LocalSteps,
}

/// Where a thread may go first, in the obvious way.
fn first_locations(program: &Program, model: Model, thread: ThreadId, without: Without) -> Vec<bool> {
    let automaton = program.thread(thread);
    let seen = |place: Place| program.observed().contains(&place);
    let mut first = vec![false; automaton.locs().count()];
    for loc in automaton.locs() {
        let edges: Vec<_> = automaton.outgoing(loc).map(|(_, edge)| edge).collect();
        let written = |op: &Op| op.writes().is_some_and(|r| seen(Place::Register(thread, r)));
        let or = |condition: Without, holds: bool| holds || without == condition;
        first[loc.index()] = !edges.is_empty()
            && or(Without::LocalSteps, edges.iter().all(|edge| own(automaton, model, loc, &edge.op)))
            && or(Without::UnseenLocation, !seen(Place::At(thread, loc)))
            && or(Without::UnseenTarget, !edges.iter().any(|edge| seen(Place::At(thread, edge.to))))
            && or(Without::UnseenRegister, !edges.iter().any(|edge| written(&edge.op)))
            && or(Without::AlwaysEnabled, never_stuck(&edges.iter().map(|e| &e.op).collect::<Vec<_>>()));
        if or(Without::NoCycle, !cyclic(automaton, &first)) {
            continue;
        }
        first[loc.index()] = false;
    }
    first
}

/// Whether an operation is on registers, or on the thread's own end of its buffer.
fn own(automaton: &Thread, model: Model, loc: Loc, op: &Op) -> bool {
    let buffers = model.buffers() && !automaton.in_atomic(loc);
    match op {
        Op::Store(..) => buffers,
        Op::Fence(Fence::Store) => true,
        _ => op.is_local(),
    }
}

/// Whether one of the operations can be done, by trying small values.
fn never_stuck(ops: &[&Op]) -> bool {
    let possible = |op: &&Op, values: &[i64]| match op {
        Op::Assume(cond) => cond.eval(&|r| values[r.index() % values.len()].into()).unwrap_or(false),
        Op::Havoc(_, Domain::Range(low, high)) => low <= high,
        _ => true,
    };
    let small = -5..6;
    small.clone().all(|a| {
        small.clone().all(|b| [0, 1, a].iter().all(|c| ops.iter().any(|op| possible(op, &[a, b, *c]))))
    })
}

/// Whether some locations of a set lie on a cycle within it.
fn cyclic(thread: &Thread, set: &[bool]) -> bool {
    let mut left = set.to_vec();
    loop {
        let leads_on = |loc: &Loc| thread.outgoing(*loc).any(|(_, edge)| left[edge.to.index()]);
        let Some(end) = thread.locs().find(|loc| left[loc.index()] && !leads_on(loc)) else {
            return left.contains(&true);
        };
        left[end.index()] = false;
    }
}

fn nobody_waits(_: ThreadId, _: Loc) -> bool {
    false
}

/// Whether both explorations find a violation or both do not; `None` if that takes too long.
/// Otherwise how many states each looked at.
pub(crate) fn compare(
    program: &Program,
    model: Model,
    reduced: (First<'_>, Waits<'_>),
) -> Option<Result<(usize, usize), String>> {
    let (expected, all) = explore(program, model, (&|_| None, &nobody_waits))?;
    let (found, fewer) = explore(program, model, reduced)?;
    let why = || format!("violated: {found}, expected {expected}, {}", model.name());
    Some(if found == expected { Ok((fewer, all)) } else { Err(why()) })
}

/// Who goes first according to the obvious version.
fn obvious(
    program: &Program,
    model: Model,
    without: Without,
) -> impl Fn(&[(Loc, bool)]) -> Option<ThreadId> + use<> {
    let first: Vec<Vec<bool>> =
        program.thread_ids().map(|thread| first_locations(program, model, thread, without)).collect();
    move |standing: &[(Loc, bool)]| {
        let mut standing = standing.iter().zip(&first);
        standing.position(|((loc, _), first)| first[loc.index()]).map(ThreadId::new)
    }
}

#[test]
fn nothing_is_lost_where_a_thread_goes_first() {
    let (mut judged, mut reduced) = (0, 0);
    for seed in 0..3 * seeds() {
        let model = MODELS[seed as usize % MODELS.len()];
        let law = |sketch: &Sketch| {
            let program = sketch.build();
            let ours = LocalFirst::new(&program, model);
            let first = |standing: &[(Loc, bool)]| ours.thread(standing.iter().copied());
            let waits = |thread, loc| ours.waits(thread, loc, false);
            match compare(&program, model, (&first, &waits))? {
                Ok(found) => {
                    let first = obvious(&program, model, Without::Nothing);
                    compare(&program, model, (&first, &nobody_waits))?.map(|_| found)
                }
                wrong => wrong,
            }
            .into()
        };
        match law(&varied(seed)) {
            None => {}
            Some(Ok((fewer, all))) => {
                judged += 1;
                reduced += usize::from(fewer < all);
            }
            Some(Err(_)) => {
                let small = minimise(varied(seed), &mut |sketch| matches!(law(sketch), Some(Err(_))));
                let why = law(&small).and_then(Result::err).unwrap_or_default();
                panic!("broken by seed {seed}: {why}\n{}", program::print(&small.build()));
            }
        }
    }
    let all = 3 * seeds() as usize;
    assert!(judged * 2 > all && reduced * 4 > judged, "{judged} of {all} judged, {reduced} reduced");
}

#[test]
fn every_condition_is_needed() {
    let mistakes = [
        Without::AlwaysEnabled,
        Without::NoCycle,
        Without::UnseenLocation,
        Without::UnseenTarget,
        Without::UnseenRegister,
        Without::LocalSteps,
    ];
    for mistake in mistakes {
        let noticed = |seed: &u64| {
            let program = varied(*seed).build();
            let model = MODELS[*seed as usize % MODELS.len()];
            let first = obvious(&program, model, mistake);
            matches!(compare(&program, model, (&first, &nobody_waits)), Some(Err(_)))
        };
        let seed = (0..3 * seeds()).find(noticed);
        assert!(seed.is_some(), "nobody noticed that a condition is missing: {mistake:?}");
        println!("{mistake:?}: seed {seed:?}");
    }
}

#[test]
fn where_nobody_goes_first_everything_is_explored() {
    for seed in 0..50 {
        let program = varied(seed).build();
        let nobody = LocalFirst::nobody(&program);
        let standing = program.threads.iter().map(|thread| (thread.entry(), true));
        assert_eq!(nobody.thread(standing), None);
        let waits = |id: ThreadId| program.thread(id).locs().any(|loc| nobody.waits(id, loc, false));
        assert!(!program.thread_ids().any(|id| waits(id) || nobody.ever_waits(id)));
    }
}
