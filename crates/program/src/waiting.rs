//! Where a thread waits, and for what.
//!
//! A thread *waits* at a location if, as long as memory stays as it is, all it can do is to look again: every way
//! on comes back to the location with nothing of its own changed, or gets stuck. Whether that is so depends on
//! memory and on the thread's registers, and is said as a condition over both: no way that stores, ends, fails,
//! chooses a value or changes a register can be gone. (`await`, `assume`, `arw` and loops that only look wait like
//! this; a thread that counts its looks does not.) Buffers are taken to be empty, so that fences pass and loads
//! see memory.
//!
//! A program is *deadlocked* if not all threads have ended, those that have not all wait, and nothing is on its way
//! to memory: then nothing will ever change.

use crate::{Cond, Edge, Expr, Liveness, Loc, Op, Place, Program, RegId, Span, ThreadId, VarId};
use std::collections::{BTreeSet, HashMap};

/// More steps than this are not followed from one location: it then does not count as a place to wait.
const MOST_STEPS: usize = 2_000;

/// Values of registers and of memory along a way, as they were where it began.
#[derive(Clone, Default)]
struct ValuesOnTheWay {
    registers: HashMap<RegId, Expr<Place>>,
    memory: HashMap<VarId, Expr<Place>>,
}

/// The ways on from a location.
struct Ways<'a> {
    program: &'a Program,
    thread: ThreadId,
    live: &'a [RegId],
    start: Loc,
    /// When the thread gets away: all of one of these hold.
    away: Vec<Vec<Cond<Place>>>,
    /// Where it stands then.
    exits: BTreeSet<Loc>,
    steps: usize,
}

/// A location is none to wait at.
struct NoWaiting;

impl Program {
    /// That nothing will ever change, though not all threads have ended.
    pub fn deadlock(&self) -> Cond<Place> {
        let liveness = Liveness::of(self);
        let ended = |thread: ThreadId| {
            let automaton = self.thread(thread);
            Cond::or(automaton.locs().filter(|loc| automaton.is_end(*loc)).map(|loc| Cond::at(thread, loc)))
        };
        let stuck = |thread: ThreadId| {
            let waits = self.thread(thread).locs().filter_map(|loc| {
                let cond = self.waits(thread, loc, &liveness)?;
                Some(Cond::and([Cond::at(thread, loc), cond]))
            });
            Cond::or(waits.collect::<Vec<_>>())
        };
        let all = self.thread_ids().map(|thread| Cond::or([ended(thread), stuck(thread)]));
        let some = Cond::or(self.thread_ids().map(stuck).collect::<Vec<_>>());
        let drained = self.thread_ids().map(Cond::drained);
        Cond::and(all.chain([some]).chain(drained).collect::<Vec<_>>())
    }

    /// Where a thread may wait, each with where it stands once it goes on.
    pub fn waiting_places(&self, thread: ThreadId) -> Vec<(Loc, BTreeSet<Loc>)> {
        let liveness = Liveness::of(self);
        let waits = |loc| Some((loc, self.ways(thread, loc, &liveness)?.exits));
        self.thread(thread).locs().filter_map(waits).collect()
    }

    /// When a thread that stands at a location waits there; nothing if it never does.
    fn waits(&self, thread: ThreadId, loc: Loc, liveness: &Liveness) -> Option<Cond<Place>> {
        Some(Cond::or(self.ways(thread, loc, liveness)?.away.into_iter().map(Cond::and)).negate())
    }

    /// The ways on from a location; nothing if a thread never waits there.
    fn ways<'a>(&'a self, thread: ThreadId, loc: Loc, liveness: &'a Liveness) -> Option<Ways<'a>> {
        let automaton = self.thread(thread);
        let done = automaton.is_end(loc) || automaton.location(loc).failure.is_some();
        if done || automaton.in_atomic(loc) { None } else { self.ways_from(thread, loc, liveness) }
    }

    /// An atomic section that may get stuck when it has stored something, or in a loop. Nobody looks at states inside of
    /// sections, so whether threads are deadlocked then is not told by [`Program::deadlock`].
    pub fn may_get_stuck_inside(&self) -> Option<Span> {
        let liveness = Liveness::of(self);
        self.thread_ids().find_map(|thread| {
            let automaton = self.thread(thread);
            let changes = |edge: &&Edge| matches!(edge.op, Op::Store(..) | Op::Havoc(..));
            let inside = |edge: &&Edge| automaton.in_atomic(edge.from) && automaton.in_atomic(edge.to);
            let changed: Vec<Loc> =
                automaton.edges().iter().filter(inside).filter(changes).map(|edge| edge.to).collect();
            let behind = self.behind_in_section(thread, changed);
            let in_loop = |loc: Loc| {
                let next = automaton.outgoing(loc).map(|(_, edge)| edge).filter(inside);
                self.behind_in_section(thread, next.map(|edge| edge.to).collect()).contains(&loc)
            };
            let stuck = automaton.locs().filter(|loc| automaton.in_atomic(*loc)).find(|loc| {
                self.ways_from(thread, *loc, &liveness).is_some() && (behind.contains(loc) || in_loop(*loc))
            })?;
            automaton.outgoing(stuck).map(|(_, edge)| edge.span).next()
        })
    }

    /// These locations and all that follow them before their atomic section ends.
    fn behind_in_section(&self, thread: ThreadId, from: Vec<Loc>) -> BTreeSet<Loc> {
        let automaton = self.thread(thread);
        let (mut found, mut waiting) = (BTreeSet::new(), from);
        while let Some(loc) = waiting.pop() {
            if automaton.in_atomic(loc) && found.insert(loc) {
                waiting.extend(automaton.outgoing(loc).map(|(_, edge)| edge.to));
            }
        }
        found
    }

    /// The ways on from a location, which may lie inside an atomic section.
    fn ways_from<'a>(&'a self, thread: ThreadId, loc: Loc, liveness: &'a Liveness) -> Option<Ways<'a>> {
        let live = liveness.at(thread, loc);
        let (away, exits) = (Vec::new(), BTreeSet::new());
        let mut ways = Ways { program: self, thread, live, start: loc, away, exits, steps: 0 };
        ways.follow(loc, &ValuesOnTheWay::default(), &[], &mut vec![loc]).ok()?;
        join_branches(&mut ways.away);
        (!ways.away.contains(&Vec::new())).then_some(ways)
    }
}

/// Where a thread gets away whether or not something holds, it does not depend on that.
fn join_branches(away: &mut Vec<Vec<Cond<Place>>>) {
    let mut literals = Literals::default();
    let numbered = away.iter().map(|conds| {
        let conds = conds.iter().filter(|cond| **cond != Cond::TRUE);
        conds.map(|cond| literals.number(cond)).collect::<BTreeSet<usize>>()
    });
    let mut ways: BTreeSet<BTreeSet<usize>> = numbered.collect();
    let mut open: Vec<BTreeSet<usize>> = ways.iter().cloned().collect();
    while let Some(way) = open.pop() {
        if !ways.contains(&way) {
            continue;
        }
        let without = |literal: usize| {
            let mut rest = way.clone();
            rest.remove(&literal);
            rest
        };
        let branch = |literal: &usize| {
            let mut other = without(*literal);
            other.insert(literal ^ 1);
            ways.contains(&other).then_some((other, without(*literal)))
        };
        if let Some((other, joined)) = way.iter().find_map(branch) {
            ways.remove(&way);
            ways.remove(&other);
            open.push(joined.clone());
            ways.insert(joined);
        }
    }
    let conds = |way: &BTreeSet<usize>| way.iter().map(|number| literals.conds[*number].clone()).collect();
    *away = ways.iter().map(conds).collect();
}

/// Conditions and their negations, next to each other.
#[derive(Default)]
struct Literals {
    conds: Vec<Cond<Place>>,
    numbers: HashMap<Cond<Place>, usize>,
}

impl Literals {
    fn number(&mut self, cond: &Cond<Place>) -> usize {
        if let Some(number) = self.numbers.get(cond) {
            return *number;
        }
        let number = self.conds.len();
        for (cond, number) in [(cond.clone(), number), (cond.clone().negate(), number + 1)] {
            self.conds.push(cond.clone());
            self.numbers.insert(cond, number);
        }
        number
    }
}

impl Ways<'_> {
    fn follow(
        &mut self,
        loc: Loc,
        values: &ValuesOnTheWay,
        conds: &[Cond<Place>],
        passed: &mut Vec<Loc>,
    ) -> Result<(), NoWaiting> {
        let automaton = self.program.thread(self.thread);
        for (_, Edge { op, to, .. }) in automaton.outgoing(loc) {
            let to = *to;
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(NoWaiting);
            }
            let (mut values, mut conds) = (values.clone(), conds.to_vec());
            let inside = automaton.in_atomic(self.start);
            let acts = self.take(op, &mut values, &mut conds) || inside && *op == Op::Unlock;
            if conds.contains(&Cond::FALSE) {
                continue;
            }
            let ends = automaton.is_end(to) || automaton.location(to).failure.is_some();
            let same = |register: &RegId| {
                values.registers.get(register).is_none_or(|value| *value == self.leaf(*register))
            };
            let is_back = to == self.start;
            // With something of its own changed it goes on, too.
            let changed = is_back && !self.live.iter().all(same);
            if acts || ends || changed || !is_back && passed.contains(&to) {
                self.away.push(conds);
                self.exits.insert(to);
            } else if !is_back {
                passed.push(to);
                self.follow(to, &values, &conds, passed)?;
                passed.pop();
            }
        }
        Ok(())
    }

    fn leaf(&self, register: RegId) -> Expr<Place> {
        Expr::Leaf(Place::Register(self.thread, register))
    }

    /// What an operation does to values, and when it can be done; whether somebody may notice it.
    fn take(&self, op: &Op, values: &mut ValuesOnTheWay, conds: &mut Vec<Cond<Place>>) -> bool {
        let mut known = {
            let registers = values.registers.clone();
            move |register: &RegId| registers.get(register).cloned().unwrap_or_else(|| self.leaf(*register))
        };
        match op {
            Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => false,
            Op::Assume(cond) => {
                conds.push(cond.map(&mut known));
                false
            }
            Op::Assign(register, value) => {
                values.registers.insert(*register, value.map(&mut known));
                false
            }
            Op::Load(register, variable) => {
                let value = values.memory.get(variable).cloned();
                values.registers.insert(*register, value.unwrap_or(Expr::Leaf(Place::Memory(*variable))));
                false
            }
            Op::Store(variable, value) => {
                values.memory.insert(*variable, value.map(&mut known));
                true
            }
            Op::Havoc(..) => true,
            Op::Block { parts, .. } => {
                // All of them are done, whether or not the first is noticed.
                parts.iter().filter(|part| self.take(part, values, conds)).count() > 0
            }
        }
    }
}
