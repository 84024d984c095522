//! When a few agents are enough, once more in the obvious way, with sets chosen at random among those that are; a
//! mistake leaves one condition out. Each is needed: without any one of them, violations are lost.

use super::stubborn::scattered;
use super::{MOST_STATES, read};
use fastrand::Rng;
use machine::{Agents, Buffered, Event, Local, MODELS, Model, Persistent, State, StateSet, Stepper};
use program::{Cond, Expr, Loc, Place, Program, PropertyKind, Relation, Thread, ThreadId};
use support::random::seeds;

/// A condition left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Without {
    Nothing,
    /// What others have on their way to memory counts.
    BuffersOfOthers,
    /// The step that serves a goal does not undo it.
    Keeping,
    /// It does not go round a loop.
    GoingOn,
    /// Goals that no step serves have somebody in the set who is needed.
    Serving,
}

const LEFT_OUT: [Without; 4] =
    [Without::BuffersOfOthers, Without::Keeping, Without::GoingOn, Without::Serving];

pub(super) struct Obvious<'p> {
    pub(super) program: &'p Program,
    persistent: Persistent,
    pub(super) goals: Vec<Cond<Place>>,
    without: Without,
}

pub(super) type Successor = (Event, State);

impl<'p> Obvious<'p> {
    /// With every condition; nothing if there are no sets of few agents.
    pub(super) fn new(program: &'p Program, model: Model) -> Option<Obvious<'p>> {
        let persistent = Persistent::new(program, model)?;
        Some(Obvious { program, persistent, goals: goals(program), without: Without::Nothing })
    }

    fn or(&self, condition: Without, holds: bool) -> bool {
        holds || self.without == condition
    }

    /// Whether the steps of these agents are enough.
    fn enough(
        &self,
        stepper: &Stepper<'_, Buffered<'_>>,
        state: &State,
        next: &[Successor],
        set: Agents,
    ) -> bool {
        let in_set = |thread: ThreadId| (set.programs | set.buffers) >> thread.index() & 1 == 1;
        let local = |thread: ThreadId| {
            let local = stepper.local(thread, state);
            let forgotten = self.without == Without::BuffersOfOthers && !in_set(thread);
            if forgotten { Local::at(local.loc) } else { local.clone() }
        };
        let locals: Vec<Local> = self.program.thread_ids().map(local).collect();
        let steps: Vec<&Successor> = next.iter().filter(|(event, _)| acts(set, *event)).collect();
        !steps.is_empty()
            && self.persistent.allows(&locals, set)
            && self.goals.iter().all(|goal| {
                steps.iter().any(|step| self.serves(stepper, state, step, goal))
                    || self.or(Without::Serving, needed(stepper, state, goal, set))
            })
    }

    fn serves(
        &self,
        stepper: &Stepper<'_, Buffered<'_>>,
        state: &State,
        (event, next): &Successor,
        goal: &Cond<Place>,
    ) -> bool {
        let on = match event {
            Event::Drain { .. } => true,
            Event::Step { thread, edge } => {
                let automaton = self.program.thread(*thread);
                let edge = automaton.edge(*edge);
                !reaches(automaton, edge.to, edge.from)
            }
        };
        let value = |state: &State, place: &Place| stepper.place(state, place);
        let kept = parts(goal).into_iter().all(|part| {
            let mut same = true;
            part.for_each_leaf(&mut |place| same &= value(state, place) == value(next, place));
            same || matches!(part, Cond::Compare(Relation::Ne, Expr::Leaf(place @ Place::At(..)), Expr::Const(_))
                if value(next, place) == 1)
        });
        self.or(Without::GoingOn, on) && self.or(Without::Keeping, kept)
    }
}

/// Whether a part of the goal does not hold that only programs in the set can change.
fn needed(stepper: &Stepper<'_, Buffered<'_>>, state: &State, goal: &Cond<Place>, set: Agents) -> bool {
    let Cond::And(parts) = goal else { return false };
    parts.iter().any(|part| {
        let mut own = true;
        part.for_each_leaf(&mut |place| {
            own &= match place {
                Place::At(thread, _) | Place::Register(thread, _) => set.programs >> thread.index() & 1 == 1,
                _ => false,
            }
        });
        let value = |place: &Place| Some(program::Int::from(stepper.place(state, place)));
        own && holds(part, &value) == Some(false)
    })
}

fn holds(cond: &Cond<Place>, value: &dyn Fn(&Place) -> Option<program::Int>) -> Option<bool> {
    match cond {
        Cond::Const(value) => Some(*value),
        Cond::Compare(relation, Expr::Leaf(place), Expr::Const(constant)) => {
            Some(relation.holds(&value(place)?, constant))
        }
        _ => None,
    }
}

/// The comparisons of a condition.
pub(super) fn parts(cond: &Cond<Place>) -> Vec<&Cond<Place>> {
    match cond {
        Cond::And(all) | Cond::Or(all) => all.iter().flat_map(parts).collect(),
        one => vec![one],
    }
}

fn reaches(thread: &Thread, from: Loc, to: Loc) -> bool {
    let (mut seen, mut work) = (vec![from], vec![from]);
    while let Some(loc) = work.pop() {
        for (_, edge) in thread.outgoing(loc) {
            if !seen.contains(&edge.to) {
                seen.push(edge.to);
                work.push(edge.to);
            }
        }
    }
    seen.contains(&to)
}

pub(super) fn acts(set: Agents, event: Event) -> bool {
    let agents = if matches!(event, Event::Step { .. }) { set.programs } else { set.buffers };
    agents >> event.thread().index() & 1 == 1
}

/// All that is never to be: what properties say, and failures.
fn goals(program: &Program) -> Vec<Cond<Place>> {
    let never = program.properties.iter().filter(|property| property.kind == PropertyKind::Never);
    let failures = program.thread_ids().flat_map(|thread| {
        let automaton = program.thread(thread);
        let failed = automaton.locs().filter(|loc| automaton.location(*loc).failure.is_some());
        failed.map(|loc| Cond::at(thread, loc)).collect::<Vec<_>>()
    });
    never.map(|property| property.cond.clone()).chain(failures).collect()
}

/// What a search goes on with, of a state and all its successors.
type Follow<'a> = dyn FnMut(&mut Stepper<'_, Buffered<'_>>, &State, Vec<Successor>) -> Vec<State> + 'a;

/// Whether something violating is found among the states that `follow` lists, of a state with all its successors; `None` if
/// that is not known.
fn violated(program: &Program, model: Model, follow: &mut Follow<'_>) -> Option<bool> {
    let machine = Buffered::exact(program, model);
    let mut stepper = Stepper::new(&machine);
    let (mut set, mut doubted) = (StateSet::new(), false);
    let mut work: Vec<State> = stepper.initial().0.collect();
    while let Some(state) = work.pop() {
        let mut packed = Vec::new();
        state.pack(&mut packed);
        if !set.insert(&packed, None).ok()?.1 {
            continue;
        }
        if doubted || set.len() > MOST_STATES || stepper.longest_queue(&state) > 6 {
            return None;
        }
        stepper.prepare(&state);
        if stepper.violation(&state).ok()?.is_some() {
            return Some(true);
        }
        let mut next = Vec::new();
        let visit = |event, _: Option<i64>, state: &State| next.push((event, state.clone()));
        stepper.successors(&state, &mut State::default(), |_| doubted = true, visit);
        work.extend(follow(&mut stepper, &state, next));
    }
    Some(false)
}

/// Whether a search that follows fewer steps than all finds something else.
pub(super) fn misses(program: &Program, model: Model, follow: &mut Follow<'_>) -> bool {
    let all = |next: Vec<Successor>| next.into_iter().map(|(_, state)| state).collect();
    let plain = violated(program, model, &mut |_, _, next| all(next));
    plain.is_some_and(|plain| violated(program, model, follow).is_some_and(|found| found != plain))
}

impl Obvious<'_> {
    /// Few agents whose steps are enough, found at random, or all.
    pub(super) fn acting(
        &self,
        stepper: &Stepper<'_, Buffered<'_>>,
        state: &State,
        next: &[Successor],
        rng: &mut Rng,
    ) -> Agents {
        let mut tries = (0..12).map(|_| few(self.program.threads.len(), rng));
        tries.find(|agents| self.enough(stepper, state, next, *agents)).unwrap_or(Agents::ALL)
    }
}

fn few(threads: usize, rng: &mut Rng) -> Agents {
    let mut agents = Agents { programs: 0, buffers: 0 };
    for _ in 0..rng.usize(1..3) {
        let thread = 1 << rng.usize(..threads);
        *(if rng.bool() { &mut agents.programs } else { &mut agents.buffers }) |= thread;
    }
    agents
}

fn differs(program: &Program, model: Model, without: Without, rng: &mut Rng) -> bool {
    let Some(rules) = Obvious::new(program, model) else { return false };
    let rules = Obvious { without, ..rules };
    misses(program, model, &mut |stepper, state, next| {
        let agents = rules.acting(stepper, state, &next, rng);
        next.into_iter().filter(|(event, _)| acts(agents, *event)).map(|(_, state)| state).collect()
    })
}

fn random_differs(seed: u64, without: Without) -> bool {
    let (program, model) = (scattered(seed).build(), MODELS[seed as usize % MODELS.len()]);
    differs(&program, model, without, &mut Rng::with_seed(seed))
}

/// Programs that random ones rarely look like: a thread that goes round for ever beside another, and one that has ended
/// with a store on its way.
const RARE: [&str; 2] = [
    "shared x, y; thread P { loop { x = 1; x = 0; } } thread Q { y = 1; } never y == 1;",
    "shared x; thread P { x = 1; } thread Q { let r; r = x; if (r == 1) { bad: skip; } } never Q@bad;",
];

#[test]
fn every_condition_is_needed() {
    let wrong = (0..2 * seeds()).find(|seed| random_differs(*seed, Without::Nothing));
    assert_eq!(wrong, None, "the obvious version is wrong");
    for mistake in LEFT_OUT {
        let rare = || {
            let programs = RARE.map(read);
            let lost = |seed: u64| {
                let at = seed as usize;
                let model = MODELS[at / programs.len() % MODELS.len()];
                differs(&programs[at % programs.len()], model, mistake, &mut Rng::with_seed(seed))
            };
            (0..100).any(lost)
        };
        assert!((0..2 * seeds()).any(|seed| random_differs(seed, mistake)) || rare(), "{mistake:?}");
    }
}
