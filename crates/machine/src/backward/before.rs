//! What must be demanded one step before.
//!
//! For every step of the view: the least that a state must have so that the step leads to a state with
//! what is demanded now. What is demanded of nobody is demanded of nobody before, so only steps that
//! bring about something count for threads that may be anywhere.

use super::behaviour::{Act, ActKind, Fact};
use super::element::{Demand, Element};
use super::{Backward, Before, StoreFlow};
use program::ThreadId;

impl Backward<'_> {
    /// Calls `visit` on the elements that are demanded one step before, in a fixed order, on some perhaps
    /// several times: a state from which one step leads to what is demanded now has what is demanded now
    /// or what one of them demands.
    pub fn predecessors(&self, element: &Element, visit: &mut dyn FnMut(Before, Element)) {
        let now = self.layout.open(element);
        for thread in 0..self.layout.threads {
            let id = ThreadId::new(thread);
            let behaviour = &self.behaviours.threads[thread];
            let state = now.states[thread];
            let mut take = |number: u32| {
                let act = &behaviour.acts[number as usize];
                let mut before = Vec::new();
                self.before_act(thread, act, &now, &mut before);
                for mut demand in before {
                    demand.states[thread] = act.from;
                    if let Some(element) = self.sensible(&mut demand) {
                        visit(Before::Act { thread: id, act: number }, element);
                    }
                }
            };
            match state {
                0 => (0..behaviour.acts.len() as u32)
                    .filter(|act| self.matters(thread, &behaviour.acts[*act as usize], &now))
                    .for_each(&mut take),
                _ => behaviour.into[usize::from(state)].iter().copied().for_each(&mut take),
            }
            self.before_glimpse(thread, &now, visit);
            self.before_drains(thread, &now, visit);
        }
    }

    /// Whether an act of a thread that may be anywhere brings about something that is demanded.
    fn matters(&self, thread: usize, act: &Act, now: &Demand) -> bool {
        let demanded = |fact: &Fact| now.memory[usize::from(fact.0)] == fact.1;
        match &act.kind {
            ActKind::Silent | ActKind::Read(_) | ActKind::Fence | ActKind::StoreFence => false,
            ActKind::Atomic { writes, .. } => writes.iter().any(demanded),
            ActKind::Write(fact) => match self.queue(thread, fact.0) {
                Some(queue) => !now.channels[self.queue_channels[thread][queue]].is_empty(),
                None => demanded(fact),
            },
        }
    }

    /// What is demanded before an act, but for the state of its thread.
    fn before_act(&self, thread: usize, act: &Act, now: &Demand, out: &mut Vec<Demand>) {
        match &act.kind {
            ActKind::Silent => out.push(now.clone()),
            ActKind::Read(reads) => self.before_read(thread, act.from, reads, now, out),
            ActKind::Write(fact) => self.before_write(thread, act.from, *fact, now, out),
            ActKind::StoreFence if self.flow != StoreFlow::PerVariable || !self.ordered => {
                out.push(now.clone())
            }
            ActKind::StoreFence => {
                let mut before = now.clone();
                out.extend(self.queues_empty(thread, &mut before).map(|()| before));
            }
            ActKind::Fence => {
                let mut before = now.clone();
                out.extend(self.nothing_on_its_way(thread, &mut before).map(|()| before));
            }
            ActKind::Atomic { reads, writes } => {
                let mut before = now.clone();
                let done = self.nothing_on_its_way(thread, &mut before);
                let done =
                    done.and_then(|()| writes.iter().try_for_each(|fact| before.memory_was_set(*fact)));
                let done = done.and_then(|()| reads.iter().try_for_each(|fact| before.memory_is(*fact)));
                out.extend(done.map(|()| before));
            }
        }
    }

    /// Demands that the queues of a thread are empty.
    fn queues_empty(&self, thread: usize, demand: &mut Demand) -> Option<()> {
        self.queue_channels[thread].iter().try_for_each(|queue| {
            let word = &mut demand.channels[*queue];
            let fits = word.is_empty() || **word == [0];
            *word = vec![0];
            fits.then_some(())
        })
    }

    fn nothing_on_its_way(&self, thread: usize, demand: &mut Demand) -> Option<()> {
        self.queues_empty(thread, demand)?;
        let in_view = self.view_channels[thread].is_some_and(|view| !demand.channels[view].is_empty());
        (!in_view).then_some(())
    }

    /// What a thread finds is the newest of its queue, else its own store in the view, else a glimpse or,
    /// if loads do not lag, memory. Every variable is one of these cases.
    fn before_read(&self, thread: usize, from: u16, reads: &[Fact], now: &Demand, out: &mut Vec<Demand>) {
        let mut cases = vec![(now.clone(), Vec::new())];
        for fact in reads {
            let Some(queue) = self.queue(thread, fact.0) else {
                cases.iter_mut().for_each(|(_, rest)| rest.push(*fact));
                continue;
            };
            let channel = self.queue_channels[thread][queue];
            let mut found = Vec::new();
            for (demand, mut rest) in cases {
                let word = demand.channels[channel].clone();
                if word.is_empty() || word.last() == Some(&fact.1) {
                    let mut queued = demand.clone();
                    if word.is_empty() {
                        queued.channels[channel] = vec![fact.1];
                    }
                    found.push((queued, rest.clone()));
                }
                if word.is_empty() || *word == [0] {
                    let mut empty = demand;
                    empty.channels[channel] = vec![0];
                    rest.push(*fact);
                    found.push((empty, rest));
                }
            }
            cases = found;
        }
        for (demand, rest) in cases {
            match self.view_channels[thread] {
                Some(view) => self.before_finding(thread, view, from, &rest, &demand, out),
                None => {
                    let mut before = demand;
                    let free = self.free_for(reads);
                    let done = rest.iter().chain(&free).try_for_each(|fact| before.memory_is(*fact));
                    out.extend(done.map(|()| before));
                }
            }
        }
    }

    /// Loads wait for others' atomic sections, but what observers say can be seen at any time.
    fn free_for(&self, facts: &[Fact]) -> Option<Fact> {
        let watching = facts.iter().any(|(variable, _)| self.behaviours.values.is_watch(*variable));
        self.behaviours.values.free().filter(|_| !watching)
    }

    /// What the view must be so that a thread finds these values at once.
    fn before_finding(
        &self,
        thread: usize,
        view: usize,
        from: u16,
        facts: &[Fact],
        now: &Demand,
        out: &mut Vec<Demand>,
    ) {
        for chosen in 0_u32..1 << facts.len() {
            // Those that are found as own stores, and those that are seen in memory.
            let is_own = |at: usize| chosen >> at & 1 == 1;
            let part = |own: bool| {
                let facts = facts.iter().enumerate().filter(move |(at, _)| is_own(*at) == own);
                facts.map(|(_, fact)| *fact).collect::<Vec<Fact>>()
            };
            let (own, seen) = (part(true), part(false));
            // Own stores alone ask nobody.
            let glimpse = match seen.is_empty() && !facts.is_empty() {
                true => None,
                false => self.letters.glimpse(&seen),
            };
            for (mut word, as_demanded) in self.with_own(thread, from, &own, glimpse, &now.channels[view]) {
                if seen.iter().any(|(variable, _)| self.letters.own_value(&word, *variable).is_some()) {
                    continue;
                }
                if let Some(letter) = glimpse
                    && !(as_demanded && word.first() == Some(&letter))
                {
                    word.insert(0, letter);
                }
                let mut before = now.clone();
                before.channels[view] = word;
                out.push(before);
            }
        }
    }

    /// The least views that contain these own stores and, as their newest part, a view; whether each is just
    /// that. If a glimpse stands in front, own stores between it and the view may be any; otherwise
    /// those before the first that is needed are passed over anyway.
    fn with_own(
        &self,
        thread: usize,
        from: u16,
        own: &[Fact],
        glimpse: Option<u16>,
        view: &[u16],
    ) -> Vec<(Vec<u16>, bool)> {
        let has = |word: &[u16]| {
            own.iter().all(|(variable, value)| self.letters.own_value(word, *variable) == Some(*value))
        };
        let mut words: Vec<(Vec<u16>, bool)> = Vec::new();
        if has(view) {
            words.push((view.to_vec(), true));
            if glimpse.is_none() {
                return words;
            }
        }
        let stores = self.letters.stores(view);
        for pending in self.pending[thread].at(from) {
            let Some(older) = pending.own.strip_suffix(&stores[..]) else { continue };
            let needed = |letter: &u16| self.letters.store(*letter).is_some_and(|fact| own.contains(&fact));
            let least = older.first().is_some_and(|letter| glimpse.is_some() || needed(letter));
            if least && has(&pending.own) {
                let word: Vec<u16> = older.iter().chain(view).copied().collect();
                if !words.iter().any(|(other, _)| *other == word) {
                    words.push((word, false));
                }
            }
        }
        words
    }

    fn before_write(&self, thread: usize, from: u16, fact: Fact, now: &Demand, out: &mut Vec<Demand>) {
        let Some(queue) = self.queue(thread, fact.0) else {
            return self.before_reaching_memory(thread, from, fact, now, out);
        };
        let channel = self.queue_channels[thread][queue];
        let word = &now.channels[channel];
        let mut push = |word: Vec<u16>| {
            let mut before = now.clone();
            before.channels[channel] = word;
            out.push(before);
        };
        match word.split_last() {
            None => push(Vec::new()),
            Some((newest, _)) if *newest != fact.1 => {}
            Some((_, [])) => push(Vec::new()),
            Some((_, older)) => {
                for value in self.behaviours.values.numbers(fact.0) {
                    // It was the newest before; perhaps it is demanded among the older ones now.
                    let mut word = older.to_vec();
                    let known = match self.ordered {
                        true => older.len().checked_sub(1).filter(|last| older[*last] == value),
                        false => older.iter().position(|older| *older == value),
                    };
                    if let Some(at) = known {
                        word.remove(at);
                    }
                    word.push(value);
                    push(word);
                }
            }
        }
    }

    /// What is demanded before a store of a thread reaches memory and, where loads lag, the view.
    fn before_reaching_memory(
        &self,
        thread: usize,
        state: u16,
        fact: Fact,
        now: &Demand,
        out: &mut Vec<Demand>,
    ) {
        let mut before = now.clone();
        let free = self.behaviours.values.free();
        let done = before.memory_was_set(fact);
        let done = done.and_then(|()| free.map_or(Some(()), |free| before.memory_is(free)));
        if done.is_none() {
            return;
        }
        let Some(view) = self.view_channels[thread] else {
            out.push(before);
            return;
        };
        for word in self.before_own_store(thread, state, fact, &now.channels[view]) {
            let mut before = before.clone();
            before.channels[view] = word;
            out.push(before);
        }
    }

    /// The views to which an own store can be added so that the newest part of it is `view`. An older own
    /// store to the variable may have stood anywhere in it.
    fn before_own_store(&self, thread: usize, state: u16, fact: Fact, view: &[u16]) -> Vec<Vec<u16>> {
        let Some((newest, rest)) = view.split_last() else { return vec![Vec::new()] };
        if self.letters.own(fact) != Some(*newest) {
            return Vec::new();
        }
        let mut words = vec![rest.to_vec()];
        let stores = self.letters.stores(rest);
        let possible = |own: &[u16]| match state {
            0 => true,
            state => self.pending[thread].at(state).iter().any(|pending| pending.own[..] == *own),
        };
        for value in self.behaviours.values.numbers(fact.0) {
            let Some(older) = self.letters.own((fact.0, value)) else { continue };
            // At the very front it would be passed over anyway.
            for at in 1..=rest.len() {
                let before = self.letters.stores(&rest[..at]).len();
                let mut own = stores.clone();
                own.insert(before, older);
                if possible(&own) {
                    let mut word = rest.to_vec();
                    word.insert(at, older);
                    words.push(word);
                }
            }
        }
        words
    }

    fn before_glimpse(&self, thread: usize, now: &Demand, visit: &mut dyn FnMut(Before, Element)) {
        let Some(view) = self.view_channels[thread] else { return };
        let Some(letter) = now.channels[view].last().copied() else { return };
        let Some(facts) = self.letters.seen(letter) else { return };
        let mut before = now.clone();
        before.channels[view].pop();
        let free = self.free_for(facts);
        let done = facts.iter().chain(&free).try_for_each(|fact| before.memory_is(*fact));
        if let Some(element) = done.and_then(|()| self.sensible(&mut before)) {
            visit(Before::Glimpse { thread: ThreadId::new(thread), letter }, element);
        }
    }

    fn before_drains(&self, thread: usize, now: &Demand, visit: &mut dyn FnMut(Before, Element)) {
        for (variable, channel) in self.queues[thread].iter().zip(&self.queue_channels[thread]) {
            let word = &now.channels[*channel];
            let demanded = now.memory[usize::from(*variable)];
            let in_view = self.view_channels[thread].and_then(|view| now.channels[view].last());
            let seen = in_view.and_then(|letter| self.letters.store(*letter));
            let seen = seen.is_some_and(|(v, _)| v == *variable);
            let empty = **word == [0];
            if demanded == 0 && !empty && !seen {
                continue;
            }
            for value in self.behaviours.values.numbers(*variable) {
                if demanded != 0 && demanded != value {
                    continue;
                }
                let mut words = Vec::new();
                match word.first() {
                    Some(0) => words.push((vec![value], true)),
                    Some(_) => {
                        words.push((std::iter::once(value).chain(word.iter().copied()).collect(), false))
                    }
                    None => {
                        words.push((vec![value], true));
                        let others = self.behaviours.values.numbers(*variable).filter(|v| *v != value);
                        words.extend(others.map(|newest| (vec![value, newest], false)));
                    }
                }
                let fact = (*variable, value);
                let mut before = Vec::new();
                self.before_reaching_memory(thread, now.states[thread], fact, now, &mut before);
                for demand in before {
                    for (word, last) in &words {
                        let mut demand = demand.clone();
                        demand.channels[*channel].clone_from(word);
                        if let Some(element) = self.sensible(&mut demand) {
                            let step = Before::Drain { thread: ThreadId::new(thread), fact, last: *last };
                            visit(step, element);
                        }
                    }
                }
            }
        }
    }
}
