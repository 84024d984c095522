//! The rules for going ahead once more, in the obvious way; a mistake leaves one condition out. Each is needed:
//! without any one of them, violations are lost.

use super::{MOST_STATES, read, waiting};
use machine::{Buffered, Event, MODELS, Machine, Model, Slot, State, StateSet, Stepper};
use program::{Cond, Edge, Expr, Fence, Loc, Op, Place, Program, PropertyKind, Relation, ThreadId, VarId};
use support::random::seeds;

/// A condition left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// Nobody sees that the thread leaves its location.
    UnseenLocation,
    /// To arrive can only violate a property.
    WelcomeTarget,
    /// Nobody sees the registers that are written.
    UnseenRegister,
    /// There is one step only.
    OneStep,
    /// A load is of what no other thread stores.
    OwnLoad,
    /// Nobody reads later what a loop has loaded.
    UnreadAfterLoop,
    /// Who can leave a loop does.
    WaitsOnlyIfItMust,
}

const LEFT_OUT: [Without; 7] = [
    Without::UnseenLocation,
    Without::WelcomeTarget,
    Without::UnseenRegister,
    Without::OneStep,
    Without::OwnLoad,
    Without::UnreadAfterLoop,
    Without::WaitsOnlyIfItMust,
];

struct Obvious<'p> {
    program: &'p Program,
    model: Model,
    without: Without,
}

impl Obvious<'_> {
    fn or(&self, condition: Without, holds: bool) -> bool {
        holds || self.without == condition
    }

    /// What properties that are judged at any time say: the places, and whether each is a thread at a location.
    fn mentions(&self, wanted: &dyn Fn(&Place, bool) -> bool) -> bool {
        fn look(cond: &Cond<Place>, wanted: &dyn Fn(&Place, bool) -> bool) -> bool {
            match cond {
                Cond::And(parts) | Cond::Or(parts) => parts.iter().any(|part| look(part, wanted)),
                Cond::Compare(Relation::Ne, Expr::Leaf(place @ Place::At(..)), Expr::Const(zero)) => {
                    wanted(place, *zero == 0.into())
                }
                other => {
                    let mut found = false;
                    other.for_each_leaf(&mut |place| found |= wanted(place, false));
                    found
                }
            }
        }
        let never = self.program.properties.iter().filter(|property| property.kind == PropertyKind::Never);
        never.into_iter().any(|property| look(&property.cond, wanted))
    }

    fn unseen(&self, thread: ThreadId, edge: &Edge) -> bool {
        let is_at = |place: &Place, loc: Loc| *place == Place::At(thread, loc);
        let written = |place: &Place| {
            let mut written = false;
            edge.op.for_each_part(&mut |part| {
                written |= part.writes().is_some_and(|r| *place == Place::Register(thread, r));
            });
            written
        };
        self.or(Without::UnseenLocation, !self.mentions(&|place, _| is_at(place, edge.from)))
            && self.or(
                Without::WelcomeTarget,
                !self.mentions(&|place, positive| is_at(place, edge.to) && !positive),
            )
            && self.or(Without::UnseenRegister, !self.mentions(&|place, _| written(place)))
    }

    fn own(&self, thread: ThreadId, edge: &Edge, drained: bool) -> bool {
        let stored_by_others = |variable: VarId| {
            self.program.thread_ids().filter(|other| *other != thread).any(|other| {
                let mut stores = false;
                for edge in self.program.thread(other).edges() {
                    edge.op.for_each_part(&mut |part| {
                        stores |= matches!(part, Op::Store(v, _) if *v == variable);
                    });
                }
                stores
            })
        };
        match &edge.op {
            Op::Skip | Op::Assign(..) | Op::Assume(_) | Op::Fence(Fence::Store) => true,
            Op::Fence(Fence::Full) => drained,
            Op::Store(..) => self.model.buffers() && !self.program.thread(thread).in_atomic(edge.from),
            Op::Load(_, variable) => self.or(Without::OwnLoad, !stored_by_others(*variable)),
            _ => false,
        }
    }

    /// The simplest loop that waits, if a location is one: where it leads.
    fn waits_for(&self, machine: &Buffered<'_>, thread: ThreadId, loc: Loc) -> Option<Loc> {
        let automaton = self.program.thread(thread);
        let edges = |loc: Loc| automaton.outgoing(loc).map(|(_, edge)| edge).collect::<Vec<_>>();
        let [Edge { op: Op::Load(register, _), to: test, .. }] = edges(loc)[..] else { return None };
        let (a, b) = match edges(*test)[..] {
            [a, b] => (a, b),
            _ => return None,
        };
        let (Op::Assume(c), Op::Assume(d)) = (&a.op, &b.op) else { return None };
        let exit = match (a.to == loc, b.to == loc) {
            (true, false) => b.to,
            (false, true) => a.to,
            _ => return None,
        };
        let live = |at: Loc| {
            let mut slots = Vec::new();
            machine.slots(thread, &machine::Local::at(at), &mut slots);
            slots.contains(&Slot::Register(thread, *register))
        };
        let unseen = edges(loc).into_iter().chain([a, b]).all(|edge| self.unseen(thread, edge));
        let unread = self.or(Without::UnreadAfterLoop, !live(loc) && !live(exit));
        let decides = c.clone().negate() == *d && !automaton.in_atomic(loc);
        (unseen && unread && decides && exit != *test).then_some(exit)
    }
}

/// The states after the steps of a thread's program.
fn program_steps(stepper: &mut Stepper<'_, Buffered<'_>>, thread: ThreadId, state: &State) -> Vec<State> {
    let mut found = Vec::new();
    stepper.prepare(state);
    stepper.successors_of(
        thread,
        state,
        &mut State::default(),
        |_| {},
        |event, _, next| {
            if matches!(event, Event::Step { .. }) {
                found.push(next.clone());
            }
        },
    );
    found
}

/// Takes a thread ahead; going round a loop once is enough.
fn ahead(rules: &Obvious<'_>, stepper: &mut Stepper<'_, Buffered<'_>>, thread: ThreadId, state: &mut State) {
    let automaton = rules.program.thread(thread);
    let mut been = Vec::new();
    loop {
        let local = stepper.local(thread, state).clone();
        if been.contains(&local.loc) {
            return;
        }
        been.push(local.loc);
        if let Some(exit) = rules.waits_for(stepper.machine(), thread, local.loc) {
            let stays = rules.without == Without::WaitsOnlyIfItMust;
            match leaves(stepper, thread, state, exit).filter(|_| !stays) {
                Some(left) => *state = left,
                None => return,
            }
            continue;
        }
        let mut edges = automaton.outgoing(local.loc).map(|(_, edge)| edge);
        let goes = edges.all(|edge| rules.unseen(thread, edge) && rules.own(thread, edge, local.drained()));
        let mut next = program_steps(stepper, thread, state);
        let loads = automaton.outgoing(local.loc).any(|(_, edge)| matches!(edge.op, Op::Load(..)));
        let alone = next.len() == 1 && (!loads || automaton.outgoing(local.loc).count() == 1);
        if !goes || next.is_empty() || !rules.or(Without::OneStep, alone) {
            return;
        }
        *state = next.swap_remove(0);
    }
}

/// The state outside of the loop, if the thread gets there by one look.
fn leaves(
    stepper: &mut Stepper<'_, Buffered<'_>>,
    thread: ThreadId,
    state: &State,
    exit: Loc,
) -> Option<State> {
    let looked = program_steps(stepper, thread, state).pop()?;
    let tested = program_steps(stepper, thread, &looked).pop()?;
    (stepper.local(thread, &tested).loc == exit).then_some(tested)
}

/// Whether something violating is found, if threads go ahead by the rules; `None` if that takes too long.
fn violated(program: &Program, model: Model, rules: Option<&Obvious<'_>>) -> Option<bool> {
    let machine = Buffered::exact(program, model);
    let mut stepper = Stepper::new(&machine);
    let mut set = StateSet::new();
    let mut work: Vec<State> = stepper.initial().0.collect();
    while let Some(mut state) = work.pop() {
        for thread in program.thread_ids().filter(|_| rules.is_some()) {
            rules.into_iter().for_each(|rules| ahead(rules, &mut stepper, thread, &mut state));
        }
        let mut packed = Vec::new();
        state.pack(&mut packed);
        if !set.insert(&packed, None).ok()?.1 {
            continue;
        }
        if set.len() > MOST_STATES || stepper.longest_queue(&state) > 6 {
            return None;
        }
        stepper.prepare(&state);
        if stepper.violation(&state).ok()?.is_some() {
            return Some(true);
        }
        for thread in program.thread_ids() {
            let loc = stepper.local(thread, &state).loc;
            let exit = rules.and_then(|rules| rules.waits_for(&machine, thread, loc));
            let waits = exit.is_some_and(|exit| {
                rules.is_some_and(|rules| rules.without == Without::WaitsOnlyIfItMust)
                    || leaves(&mut stepper, thread, &state, exit).is_none()
            });
            stepper.successors_of(
                thread,
                &state,
                &mut State::default(),
                |_| {},
                |event, _, next| {
                    if !(waits && matches!(event, Event::Step { .. })) {
                        work.push(next.clone());
                    }
                },
            );
        }
    }
    Some(false)
}

/// Programs that random ones rarely look like: two ways to go on, and a value that is read after waiting for it.
const RARE: [&str; 2] = [
    "shared x; thread P { let r; choose { r = 1; } or { r = 2; } x = r; } never x == 2;",
    "shared x, y; thread P { let r; again: r = x; if (r == 0) { goto again; } y = r; }
     thread Q { x = 1; x = 2; } never y == 2;",
];

fn differs(program: &Program, model: Model, without: Without) -> bool {
    let rules = Obvious { program, model, without };
    let plain = violated(program, model, None);
    plain.is_some_and(|plain| violated(program, model, Some(&rules)).is_some_and(|found| found != plain))
}

fn random_differs(seed: u64, without: Without) -> bool {
    differs(&waiting(seed).build(), MODELS[seed as usize % MODELS.len()], without)
}

#[test]
fn every_condition_is_needed() {
    let right = (0..2 * seeds()).find(|seed| random_differs(*seed, Without::Nothing));
    assert_eq!(right, None, "the obvious version is wrong");
    for mistake in LEFT_OUT {
        let rare = RARE.iter().any(|text| differs(&read(text), MODELS[1], mistake));
        let noticed = rare || (0..2 * seeds()).any(|seed| random_differs(seed, mistake));
        assert!(noticed, "nobody noticed that a condition is missing: {mistake:?}");
    }
}
