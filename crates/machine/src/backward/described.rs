//! Elements in the program's own terms: for evidence files, and for whoever reads them.

use super::behaviour::{ActKind, Behaviour, Fact, LocalState};
use super::element::Layout;
use super::{Backward, Basis, Element, StoreFlow};
use program::{ThreadId, VarId};
use std::collections::BTreeSet;

/// What a thread finds next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DemandedView {
    /// Whether it is a store of its own; otherwise what memory held.
    pub own: bool,
    /// The variables and their values.
    pub facts: Vec<(VarId, i64)>,
}

/// What an element demands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Demanded {
    /// By thread: the state it is in; none means any.
    pub states: Vec<Option<LocalState>>,
    /// Variables and their values in memory.
    pub memory: Vec<(VarId, i64)>,
    /// Who is inside an atomic section, if that matters.
    pub holder: Option<Option<ThreadId>>,
    /// Queues of which something is demanded: that they are empty, or these stores, oldest first.
    pub queues: Vec<(ThreadId, VarId, Vec<i64>)>,
    /// What threads find next, oldest first.
    pub views: Vec<(ThreadId, Vec<DemandedView>)>,
}

impl Backward<'_> {
    /// What an element demands.
    pub fn describe(&self, element: &Element) -> Demanded {
        let demand = self.layout.open(element);
        let states = demand.states.iter().zip(&self.behaviours.threads);
        let mut described = Demanded {
            states: states.map(|(state, thread)| thread.state(*state).cloned()).collect(),
            ..Demanded::default()
        };
        for (variable, value) in demand.memory.iter().enumerate().filter(|(_, value)| **value != 0) {
            match self.told(&(variable as u16, *value)) {
                Some(fact) => described.memory.push(fact),
                None => described.holder = Some(value.checked_sub(2).map(|t| ThreadId::new(usize::from(t)))),
            }
        }
        for thread in self.program.thread_ids() {
            let queues = self.queues[thread.index()].iter().zip(&self.queue_channels[thread.index()]);
            for (variable, channel) in queues.filter(|(_, channel)| !demand.channels[**channel].is_empty()) {
                let stores = demand.channels[*channel].iter().filter(|value| **value != 0);
                let values = stores.filter_map(|value| Some(self.told(&(*variable, *value))?.1));
                described.queues.push((thread, VarId::new(usize::from(*variable)), values.collect()));
            }
            let view = self.view_channels[thread.index()].map(|view| &demand.channels[view]);
            if let Some(word) = view.filter(|word| !word.is_empty()) {
                described.views.push((thread, word.iter().map(|letter| self.letter_told(*letter)).collect()));
            }
        }
        described
    }

    /// By variable: every value that it may have in memory or on its way there, in any run under the model.
    pub fn values(&self) -> Vec<Vec<i64>> {
        self.behaviours.values.listed()
    }

    /// By variable: the value of every store to it that may be delayed, in any run under the model.
    pub fn delayed_values(&self) -> Vec<BTreeSet<i64>> {
        let mut found = vec![BTreeSet::new(); self.program.variables.len()];
        for act in self.behaviours.threads.iter().flat_map(|thread| &thread.acts) {
            if let ActKind::Write(fact) = &act.kind
                && let Some((variable, value)) = self.told(fact)
                && let Some(values) = found.get_mut(variable.index())
            {
                values.insert(value);
            }
        }
        found
    }

    /// Every state that a thread may be in, in any run under the model.
    pub fn states_of(&self, thread: ThreadId) -> impl Iterator<Item = &LocalState> {
        self.behaviours.threads.get(thread.index()).into_iter().flat_map(Behaviour::real)
    }

    fn told(&self, fact: &Fact) -> Option<(VarId, i64)> {
        Some((VarId::new(usize::from(fact.0)), self.behaviours.values.value(*fact)?))
    }

    fn letter_told(&self, letter: u16) -> DemandedView {
        let own = self.letters.store(letter);
        let facts = own.as_slice().iter().chain(self.letters.seen(letter).unwrap_or_default());
        DemandedView { own: own.is_some(), facts: facts.filter_map(|fact| self.told(fact)).collect() }
    }

    /// What a state that a thread may be in is called in elements.
    pub fn named_by(&self, thread: ThreadId, state: &LocalState) -> Option<&LocalState> {
        let behaviour = self.behaviours.threads.get(thread.index())?;
        behaviour.state(behaviour.named_by(state)?)
    }

    /// The variables to which a thread's stores wait in queues.
    pub fn queues_of(&self, thread: ThreadId) -> impl Iterator<Item = VarId> {
        self.queues[thread.index()].iter().map(|variable| VarId::new(usize::from(*variable)))
    }

    /// Whether states of the view are states of the model at the same times, perhaps with the order of stores
    /// forgotten. Otherwise they are once everything is drained.
    pub fn has_times_of_model(&self) -> bool {
        self.flow != StoreFlow::InOrder && !self.lags.contains(&true)
    }

    /// Whether there are atomic sections, in which a thread stays for several steps.
    pub fn has_sections(&self) -> bool {
        self.behaviours.values.free().is_some()
    }

    /// Demands nothing.
    pub fn anything(&self) -> Demanded {
        Demanded { states: vec![None; self.layout.threads], ..Demanded::default() }
    }

    /// Whether no run of the view reaches a state that has what is demanded, given a basis that is a proof.
    pub fn excludes(&self, basis: &Basis, demanded: &Demanded) -> bool {
        let Some(element) = self.element(demanded) else { return false };
        let sensible = self.sensible(&mut self.layout.open(&element));
        sensible.is_none_or(|element| basis.covering(self, &element).is_some())
    }

    /// Whether an element, which may come from anywhere, is one of this program.
    pub fn has(&self, element: &Element) -> bool {
        let Layout { threads, variables, channels, .. } = &self.layout;
        let Some((head, rest)) = element.0.split_at_checked(threads + variables) else { return false };
        let Some((lengths, words)) = rest.split_at_checked(channels.len()) else { return false };
        let length: usize = lengths.iter().map(|length| usize::from(*length)).sum();
        let states = head.iter().zip(&self.behaviours.threads);
        states.into_iter().all(|(state, thread)| usize::from(*state) < thread.into.len())
            && length == words.len()
            && self.element(&self.describe(element)).as_ref() == Some(element)
    }

    /// The element that demands this; `None` if there is no such thing in the program.
    pub fn element(&self, demanded: &Demanded) -> Option<Element> {
        let mut demand = self.layout.anything();
        if demanded.states.len() != self.layout.threads {
            return None;
        }
        for (thread, state) in demanded.states.iter().enumerate() {
            if let Some(state) = state {
                demand.states[thread] = self.behaviours.threads[thread].number(state)?;
            }
        }
        for (variable, value) in &demanded.memory {
            demand.memory_is(self.behaviours.values.fact(*variable, *value)?)?;
        }
        if let Some(holder) = demanded.holder {
            let threads = self.layout.threads;
            let fact = match holder {
                Some(thread) if thread.index() >= threads => None,
                Some(thread) => self.behaviours.values.held_by(thread),
                None => self.behaviours.values.free(),
            };
            demand.memory_is(fact?)?;
        }
        for (thread, variable, stores) in &demanded.queues {
            let queue =
                self.queues.get(thread.index())?.iter().position(|v| usize::from(*v) == variable.index())?;
            let word = &mut demand.channels[self.queue_channels[thread.index()][queue]];
            let number = |value: &i64| Some(self.behaviours.values.fact(*variable, *value)?.1);
            *word = stores.iter().map(number).collect::<Option<_>>()?;
            if word.is_empty() {
                word.push(0);
            }
        }
        for (thread, letters) in &demanded.views {
            let view = (*self.view_channels.get(thread.index())?)?;
            demand.channels[view] =
                letters.iter().map(|letter| self.letter_of(letter)).collect::<Option<_>>()?;
        }
        Some(self.layout.close(&demand))
    }

    fn letter_of(&self, letter: &DemandedView) -> Option<u16> {
        let fact = |(variable, value): &(VarId, i64)| self.behaviours.values.fact(*variable, *value);
        let mut facts = letter.facts.iter().map(fact).collect::<Option<Vec<Fact>>>()?;
        facts.sort_unstable();
        match (letter.own, &facts[..]) {
            (true, [store]) => self.letters.own(*store),
            (true, _) => None,
            (false, facts) => self.letters.glimpse(facts),
        }
    }
}
