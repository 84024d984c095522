//! Elements up to the names of threads.
//!
//! A [`Renaming`] that preserves the program takes states of threads to states, facts to facts, acts to acts, and
//! so steps of the view to steps of the view and starts to starts. Let a basis be a proof up to the renamings of a
//! group if every violation, and every element demanded one step before, is covered once *some* of them has renamed
//! it. Then all that the renamings make of its elements are a proof as it stands: whoever steps into what a
//! renamed element demands steps, under the old names, into what the element itself demands; that is
//! in the set under some names, and the set is the same under all.
//!
//! What a renaming does to numbers is looked up in tables that are made once. A renaming is refused unless it preserves
//! the program and everything that the view has, down to the acts, has its image: nothing is believed.

use super::behaviour::{ActKind, Behaviour, Fact};
use super::element::{Channel, Layout};
use super::{Backward, Element, LocalState};
use crate::symmetric::{closure, renamed_value};
use program::{Liveness, Renaming, ThreadId, VarId};
use std::collections::HashSet;

/// A thread and its state: the least of all that renamings make of it.
pub(super) type StateOrbit = (usize, u16);

/// What a renaming makes of the numbers in elements. What is not demanded (0) stays so.
pub(super) struct ElementNames {
    /// By thread: its new number, and those of its states.
    threads: Vec<(usize, Vec<u16>)>,
    /// By variable, the lock included: its new number, and those of its values.
    memory: Vec<(usize, Vec<u16>)>,
    /// By channel: its new number.
    channels: Vec<usize>,
    /// By letter of views.
    letters: Vec<u16>,
}

/// The renamings up to which elements count, and what is the same under all of them.
#[derive(Default)]
pub(super) struct NameGroup {
    /// All but the one that changes nothing.
    all: Vec<ElementNames>,
    /// By thread and state: the least of its images, which is the same for all of them.
    orbits: Vec<Vec<StateOrbit>>,
    /// By variable and value, and by channel and letter: a bit that all images have.
    memory_bits: Vec<Vec<u64>>,
    letter_bits: Vec<Vec<u64>>,
}

impl Backward<'_> {
    /// From now on elements count up to the names that these renamings change; false, and nothing changes, if
    /// they are not of that kind or too many.
    pub fn up_to(&mut self, renamings: &[Renaming]) -> bool {
        if renamings.is_empty() {
            return true;
        }
        // What observers and those who end for them do has no names.
        let preserved = self.watches.is_empty() && renamings.iter().all(|r| r.preserves(self.program));
        let group = preserved.then(|| closure(self.program, renamings)).flatten();
        let live = Liveness::of(self.program);
        let names = |renaming: &Renaming| self.element_names(&live, renaming);
        // What two renamings keep they keep one after the other.
        let kept = |renaming: &Renaming| names(renaming).is_some_and(|names| self.keeps_acts(&names));
        let group = group.filter(|_| renamings.iter().all(kept));
        let all = group.and_then(|group| group[1..].iter().map(names).collect::<Option<Vec<_>>>());
        all.map(|all| self.count_up_to(all)).is_some()
    }

    /// Up to how many renamings elements count, the one that changes nothing included.
    pub fn order(&self) -> usize {
        1 + self.names.all.len()
    }

    /// What a renaming makes of everything that elements speak of, if it makes something of each.
    fn element_names(&self, live: &Liveness, renaming: &Renaming) -> Option<ElementNames> {
        let thread = |id: ThreadId| {
            let new = renaming.thread(id);
            let (behaviour, other) =
                (&self.behaviours.threads[id.index()], &self.behaviours.threads[new.index()]);
            let mut states = vec![0; behaviour.into.len()];
            for number in behaviour.named() {
                let image = renamed_state(live, renaming, id, behaviour.state(number)?)?;
                states[usize::from(number)] = other.number(&image)?;
            }
            let kept = states[usize::from(behaviour.first)] == other.first
                && behaviour.named().count() == other.named().count();
            kept.then_some((new.index(), states))
        };
        let threads = self.program.thread_ids().map(thread).collect::<Option<Vec<_>>>()?;
        let values = &self.behaviours.values;
        let variable = |id: VarId| {
            let (new, names) = (renaming.variable(id), &renaming.in_memory[id.index()]);
            let image = |number: u16| {
                let value = values.value((id.index() as u16, number))?;
                Some(values.fact(new, renamed_value(names, value)?)?.1)
            };
            let numbers = std::iter::once(Some(0)).chain(values.numbers(id.index() as u16).map(image));
            Some((new.index(), numbers.collect::<Option<Vec<u16>>>()?))
        };
        let mut memory = self.program.variable_ids().map(variable).collect::<Option<Vec<_>>>()?;
        if let Some((lock, free)) = values.free() {
            let holder = |id: ThreadId| values.held_by(renaming.thread(id)).map(|fact| fact.1);
            let holders = [Some(0), Some(free)].into_iter().chain(self.program.thread_ids().map(holder));
            memory.push((usize::from(lock), holders.collect::<Option<_>>()?));
        }
        let mut names = ElementNames { threads, memory, channels: Vec::new(), letters: Vec::new() };
        names.letters = self.letters.renamed(&|facts| names.facts(facts))?;
        let channel = |channel: &Channel| {
            let image = names.channel(channel);
            self.layout.channels.iter().position(|other| *other == image)
        };
        names.channels = self.layout.channels.iter().map(channel).collect::<Option<_>>()?;
        Some(names)
    }

    /// Whether acts become acts.
    fn keeps_acts(&self, names: &ElementNames) -> bool {
        let all = |thread: usize| {
            let behaviour = &self.behaviours.threads[thread];
            behaviour.acts.iter().map(|act| (act.from, behaviour.silently(act.to, |_, _| {}), &act.kind))
        };
        names.threads.iter().enumerate().all(|(thread, (new, states))| {
            let known: HashSet<_> = all(*new).map(|(from, to, kind)| (from, to, kind.clone())).collect();
            let old: HashSet<_> = all(thread).collect();
            let image = |state: u16| states[usize::from(state)];
            old.len() == known.len()
                && old
                    .iter()
                    .all(|(from, to, kind)| known.contains(&(image(*from), image(*to), names.act(kind))))
        })
    }

    /// Lets elements count up to all of these renamings.
    pub(super) fn count_up_to(&mut self, all: Vec<ElementNames>) {
        let images = |thread: usize, state: u16| all.iter().map(move |names| names.state(thread, state));
        let orbits = |(thread, behaviour): (usize, &Behaviour)| {
            let orbit = |state: u16| images(thread, state).fold((thread, state), Ord::min);
            (0..behaviour.into.len() as u16).map(orbit).collect()
        };
        let orbits = self.behaviours.threads.iter().enumerate().map(orbits).collect();
        let memory_bits = |variable: usize| {
            let of = |value: u16| {
                let images = all.iter().map(|names| names.fact((variable as u16, value)));
                bit(images.fold((variable as u16, value), Ord::min))
            };
            (0..=self.behaviours.values.largest(variable)).map(of).collect()
        };
        let memory_bits = (0..self.layout.variables).map(memory_bits).collect();
        let letter_bits = |(at, channel): (usize, &Channel)| {
            let numbers = match channel {
                Channel::Queue { variable, .. } => self.behaviours.values.largest(usize::from(*variable)),
                Channel::View { .. } => self.letters.largest(),
            };
            let marked =
                |at: usize, letter: u16| ((self.layout.variables + at) as u16, letter.wrapping_add(1));
            let of = |letter: u16| {
                let images =
                    all.iter().map(|names| marked(names.channels[at], names.letter(channel, letter)));
                bit(images.fold(marked(at, letter), Ord::min))
            };
            (0..=numbers).map(of).collect()
        };
        let letter_bits = self.layout.channels.iter().enumerate().map(letter_bits).collect();
        self.names = NameGroup { all, orbits, memory_bits, letter_bits };
    }

    /// What an element demands of threads, the same for all that renamings make of it.
    pub(super) fn orbits(&self, element: &Element) -> Vec<StateOrbit> {
        let states = self.layout.states(element).iter().enumerate().filter(|(_, state)| **state != 0);
        let mut orbits: Vec<StateOrbit> =
            states.map(|(thread, state)| self.names.orbits[thread][usize::from(*state)]).collect();
        orbits.sort_unstable();
        orbits
    }

    /// A few bits that an element has whenever one that covers it under some names has them.
    pub(super) fn signature(&self, element: &Element) -> u64 {
        let demanded = |(_, value): &(usize, &u16)| **value != 0;
        let memory = self.layout.memory(element).iter().enumerate().filter(demanded);
        let mut bits =
            memory.fold(0, |bits, (at, value)| bits | self.names.memory_bits[at][usize::from(*value)]);
        for (at, word) in self.layout.words(element).enumerate() {
            // An empty queue is marked like a value of its own.
            bits = word
                .iter()
                .fold(bits, |bits, letter| bits | self.names.letter_bits[at][usize::from(*letter)]);
        }
        bits
    }

    /// Whether whatever has all that `more` demands has, under some names, all that `less` demands.
    pub(super) fn covers_renamed(&self, less: &Element, more: &Element) -> bool {
        let fits = |names: &&ElementNames| names.head_fits(&self.layout, less, more);
        self.covers(less, more)
            || self.names.all.iter().filter(fits).any(|names| self.covers(less, &self.renamed(names, more)))
    }

    /// All that renamings make of an element, itself first.
    pub fn images(&self, element: &Element) -> Vec<Element> {
        let mut images = vec![element.clone()];
        for names in &self.names.all {
            let image = self.renamed(names, element);
            if !images.contains(&image) {
                images.push(image);
            }
        }
        images
    }

    fn renamed(&self, names: &ElementNames, element: &Element) -> Element {
        let (old, mut new) = (self.layout.open(element), self.layout.anything());
        for (thread, state) in old.states.iter().enumerate() {
            let (thread, state) = names.state(thread, *state);
            new.states[thread] = state;
        }
        for (variable, value) in old.memory.iter().enumerate() {
            let (variable, value) = names.fact((variable as u16, *value));
            new.memory[usize::from(variable)] = value;
        }
        for (at, channel) in self.layout.channels.iter().enumerate() {
            let word = old.channels[at].iter().map(|letter| names.letter(channel, *letter));
            new.channels[names.channels[at]] = word.collect();
        }
        self.forget_order(&mut new);
        self.layout.close(&new)
    }
}

impl ElementNames {
    fn state(&self, thread: usize, state: u16) -> (usize, u16) {
        let (new, states) = &self.threads[thread];
        (*new, states[usize::from(state)])
    }

    fn fact(&self, (variable, value): Fact) -> Fact {
        let (new, values) = &self.memory[usize::from(variable)];
        (*new as u16, values[usize::from(value)])
    }

    fn facts(&self, facts: &[Fact]) -> Box<[Fact]> {
        let mut facts: Box<[Fact]> = facts.iter().map(|fact| self.fact(*fact)).collect();
        facts.sort_unstable();
        facts
    }

    fn channel(&self, channel: &Channel) -> Channel {
        let thread = |thread: u16| self.threads[usize::from(thread)].0 as u16;
        match *channel {
            Channel::Queue { thread: of, variable } => {
                Channel::Queue { thread: thread(of), variable: self.fact((variable, 0)).0 }
            }
            Channel::View { thread: of } => Channel::View { thread: thread(of) },
        }
    }

    fn letter(&self, channel: &Channel, letter: u16) -> u16 {
        match channel {
            Channel::Queue { variable, .. } => self.fact((*variable, letter)).1,
            Channel::View { .. } => self.letters[usize::from(letter)],
        }
    }

    fn act(&self, kind: &ActKind) -> ActKind {
        match kind {
            ActKind::Silent | ActKind::Fence | ActKind::StoreFence => kind.clone(),
            ActKind::Read(reads) => ActKind::Read(self.facts(reads)),
            ActKind::Write(fact) => ActKind::Write(self.fact(*fact)),
            ActKind::Atomic { reads, writes } => {
                ActKind::Atomic { reads: self.facts(reads), writes: self.facts(writes) }
            }
        }
    }

    /// Whether what is demanded of threads and memory is, under these names, what `less` demands or more.
    fn head_fits(&self, layout: &Layout, less: &Element, more: &Element) -> bool {
        let (states, memory) = (layout.states(less), layout.memory(less));
        let threads = layout.states(more).iter().enumerate().all(|(thread, state)| {
            let (thread, state) = self.state(thread, *state);
            states[thread] == 0 || states[thread] == state
        });
        threads
            && layout.memory(more).iter().enumerate().all(|(variable, value)| {
                let (variable, value) = self.fact((variable as u16, *value));
                let wanted = memory[usize::from(variable)];
                wanted == 0 || wanted == value
            })
    }
}

/// One of a few bits; any that tell most kinds apart will do.
fn bit((kind, value): (u16, u16)) -> u64 {
    1 << ((usize::from(kind) * 11 + usize::from(value) * 5) % 64)
}

/// A thread's state under new names; `None` if other registers count there.
fn renamed_state(
    live: &Liveness,
    renaming: &Renaming,
    thread: ThreadId,
    state: &LocalState,
) -> Option<LocalState> {
    let loc = renaming.location(thread, state.loc);
    let registers = live.at(thread, state.loc);
    let renamed = registers
        .iter()
        .zip(&state.registers)
        .map(|(register, value)| renamed_value(renaming.register(thread, state.loc, *register), *value));
    let alike = registers == live.at(renaming.thread(thread), loc);
    let registers = renamed.collect::<Option<_>>()?;
    alike.then_some(LocalState { loc, registers })
}
