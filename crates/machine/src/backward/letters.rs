//! What a thread finds: the letters of views.
//!
//! Where stores of a thread reach memory in order (TSO; PSO between store fences), we let a store reach
//! memory when it is issued and let loads lag behind instead: a load may find what memory held some time
//! ago [the dual view of TSO: Abdulla, Atig, Bouajjani, Ngo, CONCUR 2016]. A thread's *view* is what it
//! will find next, oldest first. It takes in a *glimpse* of memory at any time, finds the oldest glimpse
//! when it loads, and may pass over the oldest letter whenever it likes. A store of its own is a letter
//! too: as long as it is in the view, the store would still be buffered, and loads find its value.

use super::behaviour::{ActKind, Behaviours, Fact};
use indexmap::IndexSet;
use rustc_hash::FxBuildHasher;

/// All letters of a program, numbered from 1: glimpses first, then own stores.
#[derive(Default)]
pub(super) struct Letters {
    glimpses: IndexSet<Box<[Fact]>, FxBuildHasher>,
    own: IndexSet<Fact, FxBuildHasher>,
}

/// Loads that happen at once are seen in so many ways as they have subsets.
const MOST_AT_ONCE: usize = 12;

impl Letters {
    /// Those that acts can need; `None` if an act loads too many variables at once.
    pub(super) fn of(behaviours: &Behaviours) -> Option<Letters> {
        let mut letters = Letters::default();
        for act in behaviours.threads.iter().flat_map(|thread| &thread.acts) {
            match &act.kind {
                ActKind::Read(reads) if reads.len() > MOST_AT_ONCE => return None,
                ActKind::Read(reads) => {
                    for chosen in 0_u32..1 << reads.len() {
                        let part = reads.iter().enumerate().filter(|(at, _)| chosen >> at & 1 == 1);
                        letters.glimpses.insert(part.map(|(_, fact)| *fact).collect());
                    }
                }
                ActKind::Write(fact) => drop(letters.own.insert(*fact)),
                _ => {}
            }
        }
        (letters.glimpses.len() + letters.own.len() < usize::from(u16::MAX)).then_some(letters)
    }

    /// The letter of a glimpse.
    pub(super) fn glimpse(&self, facts: &[Fact]) -> Option<u16> {
        Some(self.glimpses.get_index_of(facts)? as u16 + 1)
    }

    /// The letter of a thread's own store.
    pub(super) fn own(&self, fact: Fact) -> Option<u16> {
        Some(self.own.get_index_of(&fact)? as u16 + self.own_from())
    }

    /// Letters from this one on are own stores.
    pub(super) fn own_from(&self) -> u16 {
        self.glimpses.len() as u16 + 1
    }

    /// What an own store wrote; nothing if the letter is none.
    pub(super) fn store(&self, letter: u16) -> Option<Fact> {
        self.own.get_index(usize::from(letter.checked_sub(self.own_from())?)).copied()
    }

    /// What a glimpse saw; nothing if the letter is none.
    pub(super) fn seen(&self, letter: u16) -> Option<&[Fact]> {
        self.glimpses.get_index(usize::from(letter).checked_sub(1)?).map(|facts| &**facts)
    }

    /// The last letter.
    pub(super) fn largest(&self) -> u16 {
        (self.glimpses.len() + self.own.len()) as u16
    }

    /// By letter, the one that renamed facts are; `None` if there is none.
    pub(super) fn renamed(&self, facts: &dyn Fn(&[Fact]) -> Box<[Fact]>) -> Option<Vec<u16>> {
        let glimpses = self.glimpses.iter().map(|seen| self.glimpse(&facts(seen)));
        let own = self.own.iter().map(|store| self.own(*facts(&[*store]).first()?));
        std::iter::once(Some(0)).chain(glimpses).chain(own).collect()
    }

    /// The value of the own store to a variable in a view.
    pub(super) fn own_value(&self, view: &[u16], variable: u16) -> Option<u16> {
        view.iter().filter_map(|letter| self.store(*letter)).find(|(v, _)| *v == variable).map(|(_, v)| v)
    }

    /// The own stores of a view, in order.
    pub(super) fn stores(&self, view: &[u16]) -> Vec<u16> {
        view.iter().copied().filter(|letter| *letter >= self.own_from()).collect()
    }
}
