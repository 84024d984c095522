//! What of a thread's own stores can be on its way where.
//!
//! The newest value of every queue and the own stores in the view, as far as the thread alone decides
//! them: all combinations that it reaches when other threads may write what they like. Elements that
//! demand something else of a thread stand for no reachable state and are left out.

use super::behaviour::{Act, ActKind, Fact};
use super::letters::Letters;
use super::{Backward, NoView, StoreFlow};
use crate::GoOn;
use rustc_hash::FxHashSet;
use smallvec::SmallVec;

/// More combinations than this are not listed.
const MOST: usize = 400_000;

/// How many pass before it is asked again whether to go on.
const PATIENCE: usize = 1024;

/// The newest value per queue (0: empty) and the own stores of the view, oldest first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct OnTheWay {
    pub(super) newest: SmallVec<[u16; 4]>,
    pub(super) own: SmallVec<[u16; 4]>,
}

/// By state of the thread.
pub(super) struct PendingStores(Vec<Vec<OnTheWay>>);

impl PendingStores {
    /// `None` if there are too many.
    pub(super) fn of(
        view: &Backward<'_>,
        thread: usize,
        go_on: &mut GoOn<'_>,
    ) -> Result<Option<PendingStores>, NoView> {
        let behaviour = &view.behaviours.threads[thread];
        let queues = view.queues[thread].len();
        let nothing = OnTheWay { newest: SmallVec::from_elem(0, queues), own: SmallVec::new() };
        let mut seen = FxHashSet::default();
        let mut work = vec![(behaviour.first, nothing)];
        let mut states = vec![Vec::new(); behaviour.into.len()];
        while let Some((state, pending)) = work.pop() {
            if !seen.insert((state, pending.clone())) {
                continue;
            }
            if seen.len() > MOST {
                return Ok(None);
            }
            if seen.len().is_multiple_of(PATIENCE) && !go_on() {
                return Err(NoView::Stopped);
            }
            states[usize::from(state)].push(pending.clone());
            for act in &behaviour.out_of[usize::from(state)] {
                let act = &behaviour.acts[*act as usize];
                let to = behaviour.silently(act.to, |_, _| {});
                work.extend(view.carry(thread, act, &pending).map(|after| (to, after)));
            }
            work.extend(view.on_its_own(thread, &pending).into_iter().map(|after| (state, after)));
        }
        states.iter_mut().for_each(|list| list.sort_by(|a, b| (&a.newest, &a.own).cmp(&(&b.newest, &b.own))));
        Ok(Some(PendingStores(states)))
    }

    /// The combinations in a state of the thread.
    pub(super) fn at(&self, state: u16) -> &[OnTheWay] {
        &self.0[usize::from(state)]
    }
}

impl Backward<'_> {
    /// What is on its way after an act, if the act is possible.
    fn carry(&self, thread: usize, act: &Act, before: &OnTheWay) -> Option<OnTheWay> {
        let nothing = before.own.is_empty() && before.newest.iter().all(|value| *value == 0);
        let drained = before.newest.iter().all(|value| *value == 0);
        let mut after = before.clone();
        let possible = match &act.kind {
            ActKind::Silent => true,
            ActKind::Read(reads) => reads.iter().all(|(variable, value)| {
                let queue = self.queue(thread, *variable).map_or(0, |queue| before.newest[queue]);
                let own = self.letters.own_value(&before.own, *variable).unwrap_or(0);
                let found = if queue != 0 { queue } else { own };
                found == 0 || found == *value
            }),
            ActKind::Write(fact) => {
                match self.flow {
                    StoreFlow::InOrder if self.lags[thread] => note(&self.letters, &mut after.own, *fact),
                    StoreFlow::Direct | StoreFlow::InOrder => {}
                    StoreFlow::PerVariable => {
                        if let Some(queue) = self.queue(thread, fact.0) {
                            after.newest[queue] = fact.1;
                        }
                    }
                }
                true
            }
            ActKind::StoreFence => self.flow != StoreFlow::PerVariable || !self.ordered || drained,
            ActKind::Fence | ActKind::Atomic { .. } => nothing,
        };
        possible.then_some(after)
    }

    /// What can become of it without an act: the oldest letter is passed over, or a store drains.
    fn on_its_own(&self, thread: usize, before: &OnTheWay) -> Vec<OnTheWay> {
        let mut all = Vec::new();
        if !before.own.is_empty() {
            let mut after = before.clone();
            after.own.remove(0);
            all.push(after);
        }
        for (queue, variable) in self.queues[thread].iter().enumerate() {
            let newest = before.newest[queue];
            if newest == 0 {
                continue;
            }
            let mut after = before.clone();
            after.newest[queue] = 0;
            if self.lags[thread] {
                note(&self.letters, &mut after.own, (*variable, newest));
                for value in self.behaviours.values.numbers(*variable) {
                    if self.letters.own((*variable, value)).is_some() {
                        let mut older = before.clone();
                        note(&self.letters, &mut older.own, (*variable, value));
                        all.push(older);
                    }
                }
            }
            all.push(after);
        }
        all
    }

    /// The number of a thread's queue for a variable, if it has one.
    pub(super) fn queue(&self, thread: usize, variable: u16) -> Option<usize> {
        self.queues[thread].iter().position(|v| *v == variable)
    }
}

/// Adds an own store to a view; an older one to its variable is never found again.
fn note(letters: &Letters, own: &mut SmallVec<[u16; 4]>, fact: Fact) {
    own.retain(|letter| letters.store(*letter).is_none_or(|(variable, _)| variable != fact.0));
    own.extend(letters.own(fact));
}
