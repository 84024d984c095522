//! From a run of the view to a run of the memory model.
//!
//! In the view a store may reach memory when it is issued while loads lag behind. In the model it is the
//! other way round: a load happens when memory holds what it finds, and a store waits. So every step gets
//! the time at which the model takes it. A load that found a glimpse happens when the glimpse was taken; a
//! store drains when it reached memory in the view; what waits for nothing on its way happens where it
//! stands. All other steps of a thread happen as late as the next step of the thread allows, and not
//! after the store that they issue or find drains. Within a thread times never decrease, so the run in the
//! order of time is one of the model. The replay that follows is the judge of that.

use super::behaviour::{ActKind, Fact};
use super::{Backward, Before, Element, StoreFlow};
use crate::{Event, Trace, TraceStep, Violation};
use program::{EdgeId, Int, ThreadId, VarId};

/// A time: the number of a step of the view, and whether it is this step or right before it.
type Time = (usize, bool);

/// A step of a thread that waits for its time.
struct Timed {
    /// None for what is no step of the program.
    step: Option<TraceStep>,
    time: Option<Time>,
    /// It happens before the drains of these stores, by number.
    stores: Vec<usize>,
}

/// A run of the view while it is followed.
struct Following<'a, 'p> {
    view: &'a Backward<'p>,
    states: Vec<u16>,
    /// By thread: letters, and the time or the number of the store.
    views: Vec<Vec<(u16, usize)>>,
    /// By thread and queue: values and numbers of stores, oldest first.
    queues: Vec<Vec<Vec<(u16, usize)>>>,
    steps: Vec<Vec<Timed>>,
    /// By number of a store: when it drains.
    drained: Vec<Option<usize>>,
    drains: Vec<(Time, TraceStep)>,
    /// When an observer looked: what happens later does not count.
    looked: Option<Time>,
}

impl Backward<'_> {
    /// The run of the model that follows from steps of the view, the first one first, which lead from a
    /// start in `first` to a violation; `None` if the steps do not follow each other.
    pub fn trace(&self, first: &Element, steps: &[Before], violation: Violation) -> Option<Trace> {
        let threads = self.layout.threads;
        let mut following = Following {
            view: self,
            states: Vec::new(),
            views: vec![Vec::new(); threads],
            queues: self.queues.iter().map(|queues| vec![Vec::new(); queues.len()]).collect(),
            steps: (0..threads).map(|_| Vec::new()).collect(),
            drained: Vec::new(),
            drains: Vec::new(),
            looked: None,
        };
        for thread in (0..threads).map(ThreadId::new) {
            let entry = self.behaviours.threads[thread.index()].entry();
            let state = following.pass_silently(thread, entry, 0);
            following.states.push(state);
        }
        for (at, step) in steps.iter().enumerate() {
            following.take(at + 1, *step)?;
        }
        let steps = following.in_order(steps.len() + 1);
        Some(Trace { initial: self.chosen_first(first), steps, violation })
    }

    /// What variables without a fixed initial value start with.
    fn chosen_first(&self, first: &Element) -> Vec<(VarId, Int)> {
        let open = |variable: &VarId| self.program.variable(*variable).initial.single().is_none();
        let values = self.first_values(&self.layout.open(first)).unwrap_or_default();
        self.program.variable_ids().zip(values).filter(|(variable, _)| open(variable)).collect()
    }
}

impl Following<'_, '_> {
    /// Notes a step of a thread. Where loads do not lag it happens when it stands in the view's run.
    fn note(&mut self, thread: ThreadId, edge: Option<EdgeId>, choice: Option<i64>, at: usize) {
        let event = edge.map(|edge| Event::Step { thread, edge });
        let step = event.map(|event| TraceStep::of(self.view.program, event, choice));
        let time = (!self.view.lags[thread.index()]).then_some((at, true));
        let steps = &mut self.steps[thread.index()];
        steps.push(Timed { step, time, stores: Vec::new() });
    }

    fn pass_silently(&mut self, thread: ThreadId, state: u16, at: usize) -> u16 {
        let mut passed = Vec::new();
        let behaviour = &self.view.behaviours.threads[thread.index()];
        let state = behaviour.silently(state, |edge, choice| passed.push((edge, choice)));
        for (edge, choice) in passed {
            self.note(thread, Some(edge), choice, at);
        }
        state
    }

    fn take(&mut self, at: usize, step: Before) -> Option<()> {
        match step {
            Before::Glimpse { thread, letter } => self.views[thread.index()].push((letter, at)),
            Before::Drain { thread, fact, last } => self.drain(at, thread, fact, last)?,
            Before::Act { thread, act } => {
                let behaviour = &self.view.behaviours.threads[thread.index()];
                let act = behaviour.acts.get(act as usize)?;
                if self.states[thread.index()] != act.from {
                    return None;
                }
                self.note(thread, act.edge, act.choice, at);
                self.act(at, thread, &act.kind)?;
                if thread.index() >= self.view.program.threads.len() {
                    self.looked = Some((at, true));
                }
                self.states[thread.index()] = self.pass_silently(thread, act.to, at);
            }
        }
        Some(())
    }

    fn act(&mut self, at: usize, thread: ThreadId, kind: &ActKind) -> Option<()> {
        let of = thread.index();
        let noted = self.steps[of].len() - 1;
        match kind {
            ActKind::Silent | ActKind::StoreFence => {}
            ActKind::Read(reads) => {
                let queued = |fact: &Fact| {
                    let queue = self.view.queue(of, fact.0)?;
                    self.queues[of][queue].last().map(|(_, number)| *number)
                };
                let (mut stores, mut rest) = (Vec::new(), Vec::new());
                for fact in reads {
                    match queued(fact) {
                        Some(number) => stores.push(number),
                        None => rest.push(*fact),
                    }
                }
                let mut time = None;
                if self.view.lags[of] && (!rest.is_empty() || reads.is_empty()) {
                    time = self.find(of, &rest, &mut stores)?;
                }
                let step = &mut self.steps[of][noted];
                step.time = step.time.or(time);
                step.stores = stores;
            }
            ActKind::Write(fact) => {
                let number = self.drained.len();
                self.steps[of][noted].stores.push(number);
                match self.view.queue(of, fact.0) {
                    Some(queue) => {
                        self.drained.push(None);
                        self.queues[of][queue].push((fact.1, number));
                    }
                    None => {
                        self.drained.push(Some(at));
                        if self.view.flow == StoreFlow::InOrder {
                            self.reach_memory(at, thread, *fact, number);
                        }
                    }
                }
            }
            ActKind::Fence | ActKind::Atomic { .. } => {
                self.views[of].clear();
                self.steps[of][noted].time = Some((at, true));
            }
        }
        Some(())
    }

    /// Passes over as little as possible of a view until these facts are found, and says when they were so.
    /// Own stores among them are added to `stores`.
    fn find(&mut self, of: usize, facts: &[Fact], stores: &mut Vec<usize>) -> Option<Option<Time>> {
        let letters = &self.view.letters;
        let word = &mut self.views[of];
        for start in 0..=word.len() {
            let rest = &word[start..];
            let own = |fact: &Fact| {
                let newest =
                    rest.iter().filter_map(|(letter, number)| Some((letters.store(*letter)?, *number)));
                newest.into_iter().find(|((variable, _), _)| *variable == fact.0)
            };
            let seen: Vec<Fact> = facts.iter().copied().filter(|fact| own(fact).is_none()).collect();
            let fits = facts.iter().all(|fact| own(fact).is_none_or(|(store, _)| store == *fact));
            let first = rest.first().copied();
            let glimpse = first.filter(|(letter, _)| letters.seen(*letter) == Some(&seen[..]));
            let asks = !seen.is_empty() || facts.is_empty();
            if fits && (!asks || glimpse.is_some()) {
                stores.extend(facts.iter().filter_map(|fact| own(fact).map(|(_, number)| number)));
                word.drain(..start);
                return Some(if asks { glimpse.map(|(_, time)| (time, true)) } else { None });
            }
        }
        None
    }

    /// A store reaches memory now.
    fn reach_memory(&mut self, at: usize, thread: ThreadId, fact: Fact, number: usize) {
        let of = thread.index();
        let event = Event::Drain { thread, variable: VarId::new(usize::from(fact.0)) };
        self.drains.push(((at, true), TraceStep { event, choice: None }));
        self.drained[number] = Some(at);
        if self.view.lags[of] {
            let letters = &self.view.letters;
            self.views[of].retain(|(letter, _)| letters.store(*letter).is_none_or(|(v, _)| v != fact.0));
            self.views[of].extend(letters.own(fact).map(|letter| (letter, number)));
        }
    }

    fn drain(&mut self, at: usize, thread: ThreadId, fact: Fact, last: bool) -> Option<()> {
        let queue = self.view.queue(thread.index(), fact.0)?;
        let stores = &self.queues[thread.index()][queue];
        let count = match last {
            true => stores.len(),
            false => {
                let older = stores.split_last()?.1;
                older.iter().position(|(value, _)| *value == fact.1)? + 1
            }
        };
        // Where order does not count, this one alone leaves.
        let start = if self.view.ordered || last { 0 } else { count - 1 };
        let leaving: Vec<(u16, usize)> = self.queues[thread.index()][queue].drain(start..count).collect();
        if leaving.last().is_none_or(|(value, _)| *value != fact.1) {
            return None;
        }
        for (value, number) in leaving {
            self.reach_memory(at, thread, (fact.0, value), number);
        }
        Some(())
    }

    /// All steps in the order of their times.
    fn in_order(mut self, end: usize) -> Vec<TraceStep> {
        let mut all: Vec<(Time, usize, TraceStep)> = Vec::new();
        for (thread, steps) in self.steps.into_iter().enumerate() {
            let mut next = (end, true);
            let mut timed = Vec::new();
            for Timed { step, time, stores } in steps.into_iter().rev() {
                let drains = stores.iter().filter_map(|number| self.drained[*number]);
                let latest = drains.map(|at| (at, false)).fold(next, Time::min);
                next = time.unwrap_or(latest);
                timed.extend(step.map(|step| (next, thread, step)));
            }
            all.extend(timed.into_iter().rev());
        }
        let last = self.drained.len() + all.len();
        all.extend(self.drains.drain(..).map(|(time, step)| (time, last, step)));
        if let Some(looked) = self.looked {
            all.retain(|(time, ..)| *time < looked);
        }
        // What happens at one time keeps the order of its thread; drains come behind.
        all.sort_by_key(|(time, thread, _)| (*time, *thread));
        all.into_iter().map(|(_, _, step)| step).collect()
    }
}
