//! Mistakes that a forgetful machine could make, planted by changing its moves.

// All of them have the type `Tamper`, also those that add and remove no move.
#![allow(clippy::ptr_arg)]

use super::blurred::{BlurredMove, Runner, Tamper, listed};
use machine::{Entry, Event, Keep, Local, Machine, Slot, ValueSource};
use program::{Cond, Expr, Fence, Op, ThreadId, VarId};

/// Which test must notice a mistake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticedBy {
    /// An exact step that cannot be followed.
    Simulation,
    /// A machine that forgets nothing and is not exact.
    Exactness,
    /// The look at all controls.
    Controls,
}

/// All mistakes.
pub const MISTAKES: &[(&str, Tamper, NoticedBy)] = &[
    ("a load prefers memory to what was forgotten", loads_miss_the_last, NoticedBy::Simulation),
    ("a load prefers an older store that is kept", loads_prefer_kept, NoticedBy::Simulation),
    ("the last drain does not remove the variable", last_drain_stays, NoticedBy::Simulation),
    ("no drain but the last", only_last_drains, NoticedBy::Simulation),
    ("the only one in a pool is none", only_one_stays, NoticedBy::Simulation),
    ("the only one in a pool stays there", only_one_stays_pooled, NoticedBy::Controls),
    ("no store is newer than what joined before", newer_do_not_grow, NoticedBy::Simulation),
    ("what joins a pool is its own newer one", newer_is_older, NoticedBy::Simulation),
    ("a pool does not grow", pools_do_not_grow, NoticedBy::Simulation),
    ("a pool forgets what it had", pools_are_replaced, NoticedBy::Simulation),
    ("a pool forgets what it had", pools_are_replaced, NoticedBy::Controls),
    ("the first forgotten value stays the last", last_is_first, NoticedBy::Simulation),
    ("kept values do not move up", values_stay, NoticedBy::Simulation),
    ("a fence is remembered behind forgotten stores", fence_behind_forgotten, NoticedBy::Simulation),
    ("a fence outlives a forgotten store behind it", fence_outlives, NoticedBy::Simulation),
    ("a store fence means nothing", fence_is_lost, NoticedBy::Exactness),
    ("fences pile up", fences_pile_up, NoticedBy::Controls),
    ("a new pool has no value", pools_start_empty, NoticedBy::Controls),
    ("a kept store overtakes forgotten ones", kept_overtakes, NoticedBy::Controls),
    ("a fence does not wait for forgotten stores", fence_does_not_wait, NoticedBy::Controls),
];

fn edit_reads(moves: &mut [BlurredMove], replace: impl Fn(Slot) -> Slot) {
    let registers = |(slot, _): &&mut (Slot, ValueSource)| matches!(slot, Slot::Register(..));
    for (_, blur) in moves.iter_mut().flat_map(|step| &mut step.set).filter(registers) {
        if let ValueSource::Is(value) = blur {
            *value = value.map(&mut |slot| Expr::Leaf(replace(*slot)));
        }
    }
}

fn loads_miss_the_last(_: &Runner<'_>, _: ThreadId, _: &Local, moves: &mut Vec<BlurredMove>) {
    edit_reads(moves, |slot| match slot {
        Slot::Last(_, variable) => Slot::Memory(variable),
        other => other,
    });
}

fn loads_prefer_kept(_: &Runner<'_>, _: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    let kept = |variable: VarId| shape.kept.iter().filter(|entry| entry.stores_to(variable)).count();
    edit_reads(moves, |slot| match slot {
        Slot::Last(thread, variable) => {
            let newest = kept(variable).checked_sub(1);
            newest.map_or(slot, |at| Slot::Queued(thread, variable, at as u32))
        }
        other => other,
    });
}

fn last_drain_stays(_: &Runner<'_>, _: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    let last = |(_, blur): &(Slot, ValueSource)| matches!(blur, ValueSource::Is(Expr::Leaf(Slot::Last(..))));
    for step in moves.iter_mut().filter(|step| is_drain(step) && step.set.iter().any(last)) {
        step.local = shape.clone();
    }
}

fn is_drain(step: &BlurredMove) -> bool {
    matches!(step.event, Event::Drain { .. })
}

fn only_last_drains(_: &Runner<'_>, _: ThreadId, _: &Local, moves: &mut Vec<BlurredMove>) {
    let open = |(_, blur): &(Slot, ValueSource)| {
        matches!(blur, ValueSource::OneOf(_) | ValueSource::OldestOf(_) | ValueSource::Any(_))
    };
    moves.retain(|step| !is_drain(step) || !step.set.iter().any(open));
}

fn takes_the_only(step: &BlurredMove) -> bool {
    step.set.iter().any(|(_, blur)| matches!(blur, ValueSource::OnlyOf(_)))
}

fn only_one_stays(_: &Runner<'_>, _: ThreadId, _: &Local, moves: &mut Vec<BlurredMove>) {
    moves.retain(|step| !takes_the_only(step));
}

fn only_one_stays_pooled(_: &Runner<'_>, _: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    moves.iter_mut().filter(|step| takes_the_only(step)).for_each(|step| step.local = shape.clone());
}

fn newer_do_not_grow(_: &Runner<'_>, _: ThreadId, _: &Local, moves: &mut Vec<BlurredMove>) {
    let newer =
        |(slot, blur): &(Slot, ValueSource)| matches!((slot, blur), (Slot::Newer(..), ValueSource::Joins(_)));
    moves.iter_mut().for_each(|step| step.set.retain(|change| !newer(change)));
}

fn newer_is_older(_: &Runner<'_>, _: ThreadId, _: &Local, moves: &mut Vec<BlurredMove>) {
    for step in moves {
        let pool =
            step.set.iter().find(|(slot, _)| matches!(slot, Slot::Pool(..))).map(|(_, blur)| blur.clone());
        let newer = step.set.iter_mut().find(|(slot, _)| matches!(slot, Slot::Newer(..)));
        if let (Some(pool), Some((_, newer))) = (pool, newer) {
            *newer = pool;
        }
    }
}

fn pools_do_not_grow(_: &Runner<'_>, _: ThreadId, _: &Local, moves: &mut Vec<BlurredMove>) {
    moves.iter_mut().for_each(|step| step.set.retain(|(_, blur)| !matches!(blur, ValueSource::Joins(_))));
}

fn pools_are_replaced(_: &Runner<'_>, _: ThreadId, _: &Local, moves: &mut Vec<BlurredMove>) {
    for (_, blur) in moves.iter_mut().flat_map(|step| &mut step.set) {
        if let ValueSource::Joins(value) = blur {
            *blur = ValueSource::Is(value.clone());
        }
    }
}

fn last_is_first(_: &Runner<'_>, _: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    let old = |slot: &Slot| matches!(slot, Slot::Last(_, v) if shape.forgotten.iter().any(|(w, _)| w == v));
    moves.iter_mut().for_each(|step| step.set.retain(|(slot, _)| !old(slot)));
}

fn values_stay(_: &Runner<'_>, _: ThreadId, _: &Local, moves: &mut Vec<BlurredMove>) {
    for step in moves.iter_mut().filter(|step| is_drain(step)) {
        step.set.retain(|(slot, _)| !matches!(slot, Slot::Queued(..)));
    }
}

fn fences<'a>(
    runner: &'a Runner<'_>,
    fence: Fence,
    moves: &'a mut [BlurredMove],
) -> impl Iterator<Item = &'a mut BlurredMove> {
    let program = runner.machine.program();
    moves.iter_mut().filter(move |step| match step.event {
        Event::Step { thread, edge } => program.thread(thread).edge(edge).op == Op::Fence(fence),
        Event::Drain { .. } => false,
    })
}

fn fence_behind_forgotten(runner: &Runner<'_>, _: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    let orders = runner.model.reorders_stores() && runner.recall.keep == Keep::Oldest;
    if orders && shape.kept.last().is_some_and(|last| *last != Entry::Barrier) && !shape.forgotten.is_empty()
    {
        fences(runner, Fence::Store, moves).for_each(|step| step.local.kept.push(Entry::Barrier));
    }
}

fn fence_outlives(runner: &Runner<'_>, _: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    let count = |shape: &Local| shape.kept.iter().filter(|entry| **entry == Entry::Barrier).count();
    for step in moves.iter_mut().filter(|step| !is_drain(step) && count(&step.local) < count(shape)) {
        if runner.recall.k > 0 {
            step.local.kept.insert(0, Entry::Barrier);
        }
    }
}

fn fence_is_lost(runner: &Runner<'_>, _: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    fences(runner, Fence::Store, moves).for_each(|step| step.local.kept = shape.kept.clone());
}

fn fences_pile_up(runner: &Runner<'_>, _: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    if runner.model.reorders_stores() && !shape.kept.is_empty() {
        fences(runner, Fence::Store, moves).for_each(|step| step.local.kept.push(Entry::Barrier));
    }
}

fn pools_start_empty(_: &Runner<'_>, _: ThreadId, _: &Local, moves: &mut Vec<BlurredMove>) {
    let starts =
        |(slot, blur): &(Slot, ValueSource)| matches!((slot, blur), (Slot::Pool(..), ValueSource::Is(_)));
    moves.iter_mut().for_each(|step| step.set.retain(|change| !starts(change)));
}

fn kept_overtakes(runner: &Runner<'_>, thread: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    let without = Local { forgotten: Default::default(), ..shape.clone() };
    let free = moves.iter().any(is_drain);
    for mut step in listed(&runner.machine, thread, None, &without) {
        if free && is_drain(&step) && !shape.forgotten.is_empty() {
            step.local.forgotten = shape.forgotten.clone();
            moves.push(step);
        }
    }
}

fn fence_does_not_wait(runner: &Runner<'_>, thread: ThreadId, shape: &Local, moves: &mut Vec<BlurredMove>) {
    let mut drained = listed(&runner.machine, thread, None, &Local::at(shape.loc));
    let waiting = shape.kept.is_empty() && !shape.forgotten.is_empty();
    for step in fences(runner, Fence::Full, &mut drained).filter(|_| waiting) {
        let local = Local { loc: step.local.loc, ..shape.clone() };
        moves.push(BlurredMove {
            event: step.event,
            guard: Cond::TRUE,
            set: Vec::new(),
            global: None,
            local,
        });
    }
}
