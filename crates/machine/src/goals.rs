//! What a search looks for, and who can bring it about.

use crate::code::CompiledCond;
use crate::persistent::StandingThreads;
use crate::{Agents, Event, Model, State, Stepper};
use program::{Cond, Edge, Expr, Loc, Op, Place, Program, PropertyKind, Relation, Thread, ThreadId, VarId};

/// Sets of goals are bits: those beyond the last but one are one goal together.
const MOST_GOALS: usize = u64::BITS as usize;

/// The violations of a program, as conditions: failures of threads, and what is never to be. Where all have ended
/// nobody is left to act, so `finally` is no goal of its own: see [`crate::Stubborn`].
pub(crate) struct Goals {
    goals: Vec<GoalPart>,
    /// By thread and edge: the goals that, once reached, are not lost by it.
    kept_by_edge: Vec<Vec<u64>>,
    /// By thread and variable: the same for drains.
    kept_by_drain: Vec<Vec<u64>>,
    /// By thread and location: the locations that are still to come.
    ahead: Vec<Vec<LocSet>>,
}

/// A condition, or a part of one.
enum GoalPart {
    All(Vec<GoalPart>),
    Any(Vec<GoalPart>),
    Test(CompiledCond<Place>, Vec<Place>),
    /// A thread is at a location.
    At(ThreadId, Loc),
}

/// Locations of a thread, as bits.
pub(crate) type LocSet = Vec<u64>;

impl Goals {
    pub(crate) fn of(program: &Program, model: Model) -> Goals {
        let failures = program.thread_ids().map(|thread| {
            let automaton = program.thread(thread);
            let failed = automaton.locs().filter(|loc| automaton.location(*loc).failure.is_some());
            Cond::or(failed.map(|loc| Cond::at(thread, loc)).collect::<Vec<_>>())
        });
        let never = program.properties.iter().filter(|property| property.kind == PropertyKind::Never);
        let mut conds: Vec<Cond<Place>> =
            failures.chain(never.map(|property| property.cond.clone())).collect();
        conds.retain(|cond| *cond != Cond::FALSE);
        if conds.len() > MOST_GOALS {
            let rest = conds.split_off(MOST_GOALS - 1);
            conds.push(Cond::or(rest));
        }
        let kept = |step: &dyn Fn(&Cond<Place>) -> bool| {
            conds.iter().enumerate().filter(|(_, cond)| step(cond)).fold(0, |all, (at, _)| all | 1 << at)
        };
        let edges = |thread: ThreadId| {
            let automaton = program.thread(thread);
            let steps = automaton.edges().iter();
            steps
                .map(|edge| kept(&|cond| keeps(cond, &PlacesChanged::by(automaton, thread, edge, model))))
                .collect()
        };
        let drains = |thread: ThreadId| {
            let drains = program.variable_ids().map(|v| PlacesChanged::by_drain(thread, v));
            drains.map(|change| kept(&|cond| keeps(cond, &change))).collect()
        };
        Goals {
            kept_by_edge: program.thread_ids().map(edges).collect(),
            kept_by_drain: program.thread_ids().map(drains).collect(),
            ahead: program.threads.iter().map(|thread| locations_ahead(thread, &|_| true)).collect(),
            goals: conds.iter().map(GoalPart::of).collect(),
        }
    }

    /// All of them.
    pub(crate) fn all(&self) -> u64 {
        (0..self.goals.len()).fold(0, |all, at| all | 1 << at)
    }

    /// The goals that, once reached, are not lost by a step.
    pub(crate) fn kept_by(&self, event: Event) -> u64 {
        match event {
            Event::Step { thread, edge } => self.kept_by_edge[thread.index()][edge.index()],
            Event::Drain { thread, variable } => self.kept_by_drain[thread.index()][variable.index()],
        }
    }

    /// Agents of whom one acts on every way from a state, where a goal is not reached, to that goal; nothing if
    /// none are known.
    pub(crate) fn needs<M: crate::WithBuffers>(
        &self,
        goal: usize,
        stepper: &Stepper<'_, M>,
        state: &State,
        threads: &StandingThreads,
    ) -> Option<Agents> {
        let ahead = |thread: ThreadId, loc: Loc| {
            let from = stepper.local(thread, state).loc;
            has(&self.ahead[thread.index()][from.index()], loc)
        };
        let value = |place: &Place| stepper.place(state, place);
        needs(&self.goals[goal], &value, &ahead, threads)
    }
}

impl GoalPart {
    fn of(cond: &Cond<Place>) -> GoalPart {
        let parts = |parts: &[Cond<Place>]| parts.iter().map(GoalPart::of).collect();
        match cond {
            Cond::And(all) => GoalPart::All(parts(all)),
            Cond::Or(any) => GoalPart::Any(parts(any)),
            other => match positive(other) {
                Some(Place::At(thread, loc)) => GoalPart::At(thread, loc),
                _ => GoalPart::Test(CompiledCond::compile(other, &|place| *place), places(other)),
            },
        }
    }
}

/// Agents of whom one acts before the condition, which does not hold, does; nothing if it holds or none are known.
fn needs(
    goal: &GoalPart,
    value: &impl Fn(&Place) -> i64,
    ahead: &impl Fn(ThreadId, Loc) -> bool,
    threads: &StandingThreads,
) -> Option<Agents> {
    match goal {
        GoalPart::All(parts) => parts
            .iter()
            .filter_map(|part| needs(part, value, ahead, threads))
            .min_by_key(|agents| agents.len()),
        GoalPart::Any(parts) => parts.iter().try_fold(Agents::NOBODY, |all, part| {
            needs(part, value, ahead, threads).map(|agents| all.and(agents))
        }),
        GoalPart::At(thread, loc) => match value(&Place::At(*thread, *loc)) {
            0 if ahead(*thread, *loc) => threads[thread.index()].before_program(thread.index()),
            0 => Some(Agents::NOBODY),
            _ => None,
        },
        GoalPart::Test(cond, places) if cond.eval(value) == Some(false) => {
            places.iter().try_fold(Agents::NOBODY, |all, place| {
                changing(*place, value, threads).map(|agents| all.and(agents))
            })
        }
        GoalPart::Test(..) => None,
    }
}

/// Agents of whom one acts before a place changes.
fn changing(place: Place, value: &impl Fn(&Place) -> i64, threads: &StandingThreads) -> Option<Agents> {
    match place {
        Place::At(thread, _) | Place::Register(thread, _) => {
            threads[thread.index()].before_program(thread.index())
        }
        Place::Drained(thread) if value(&place) == 0 => Some(Agents::NOBODY.with_buffer(thread.index())),
        Place::Drained(thread) => threads[thread.index()].before_program(thread.index()),
        // Whoever has a store to it on its way writes nothing to it in memory before that has drained.
        Place::Memory(variable) => {
            threads.iter().enumerate().try_fold(Agents::NOBODY, |all, (at, thread)| {
                if thread.buffered.contains(variable) {
                    Some(all.with_buffer(at))
                } else if thread.here.later.stores.contains(variable) {
                    thread.before_program(at).map(|agents| all.and(agents))
                } else {
                    Some(all)
                }
            })
        }
    }
}

/// What a step changes.
struct PlacesChanged {
    /// The places that change, or may do.
    places: Vec<Place>,
    /// Where a thread is no longer, and whose buffer is no longer empty.
    ended: Vec<Place>,
}

impl PlacesChanged {
    fn by(automaton: &Thread, thread: ThreadId, edge: &Edge, model: Model) -> PlacesChanged {
        let mut change = PlacesChanged { places: Vec::new(), ended: Vec::new() };
        if edge.from != edge.to {
            change.places.extend([edge.from, edge.to].map(|loc| Place::At(thread, loc)));
            change.ended.push(Place::At(thread, edge.from));
        }
        if model.buffers() && automaton.delayed_store(edge).is_some() {
            change.places.push(Place::Drained(thread));
            change.ended.push(Place::Drained(thread));
        }
        edge.op.for_each_part(&mut |part| match part {
            Op::Store(variable, _) => change.places.push(Place::Memory(*variable)),
            other => change.places.extend(other.writes().map(|register| Place::Register(thread, register))),
        });
        change
    }

    fn by_drain(thread: ThreadId, variable: VarId) -> PlacesChanged {
        PlacesChanged { places: vec![Place::Memory(variable), Place::Drained(thread)], ended: Vec::new() }
    }
}

/// Whether a condition that holds does so after a step.
fn keeps(cond: &Cond<Place>, change: &PlacesChanged) -> bool {
    match cond {
        Cond::And(parts) | Cond::Or(parts) => parts.iter().all(|part| keeps(part, change)),
        other => match positive(other) {
            Some(place) => !change.ended.contains(&place),
            None => places(other).iter().all(|place| !change.places.contains(place)),
        },
    }
}

/// Where the thread must be, or whose buffer must be empty, if a condition says just that.
fn positive(cond: &Cond<Place>) -> Option<Place> {
    match cond {
        Cond::Compare(
            Relation::Ne,
            Expr::Leaf(place @ (Place::At(..) | Place::Drained(_))),
            Expr::Const(zero),
        ) if *zero == 0.into() => Some(*place),
        _ => None,
    }
}

fn places(cond: &Cond<Place>) -> Vec<Place> {
    let mut places = Vec::new();
    cond.for_each_leaf(&mut |place| places.push(*place));
    places
}

/// By location, those that can be reached by these edges, itself among them.
pub(crate) fn locations_ahead(thread: &Thread, edges: &dyn Fn(&Edge) -> bool) -> Vec<LocSet> {
    let count = thread.locs().count();
    let mut ahead: Vec<LocSet> = thread.locs().map(|loc| only(loc, count)).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for edge in thread.edges().iter().rev().filter(|edge| edge.from != edge.to && edges(edge)) {
            let after = std::mem::take(&mut ahead[edge.to.index()]);
            for (here, after) in ahead[edge.from.index()].iter_mut().zip(&after) {
                changed |= *after & !*here != 0;
                *here |= after;
            }
            ahead[edge.to.index()] = after;
        }
    }
    ahead
}

/// One of so many locations.
pub(crate) fn only(loc: Loc, count: usize) -> LocSet {
    let mut set = vec![0; count.div_ceil(64)];
    set[loc.index() / 64] = 1 << (loc.index() % 64);
    set
}

pub(crate) fn has(set: &LocSet, loc: Loc) -> bool {
    set[loc.index() / 64] >> (loc.index() % 64) & 1 != 0
}
