//! What a proof that goes backwards knows.
//!
//! No run reaches a state that has what an element of its basis demands. So we ask of many things whether the basis
//! covers them: this thread here and x being 3, another thread at a label, a store of 3 to x being buffered. What it
//! covers never happens, and a sentence says what is left. Besides, all values that any run stores and all states
//! that a thread may be in are known, on which the view rests.
//!
//! The elements speak of a view of the memory model ([`machine::Backward`]). Under SC, under PSO without store fences and
//! where stores are counted, its states are those of the model. Elsewhere stores and loads have other times, but
//! with everything drained the view and the model reach the same. Draining moves no thread, so what is said of threads
//! alone holds at all times; what is said of memory holds while all buffers are empty. Where there are atomic
//! sections, which make others wait before they drain, nothing is asked then.

use super::Places;
use super::cubes::EVERY;
use super::facts::{Exactly, SeenValues};
use super::labels::{ReachedLabel, absent, labels};
use super::say::{PlaceFacts, SaidFact, SlotKind, buffer_holds, listed, sentences};
use crate::{Monitor, Patience, Stop, Task};
use machine::{Backward, Basis, Demanded, LocalState};
use program::{AuthoredRegisters, Liveness, Loc, RegId, ThreadId, VarId};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeSet, HashSet};

/// After so many questions everything is taken to be possible.
const MOST_ASKED: usize = 100_000;

/// How many questions pass between two looks at the monitor.
const PATIENCE: usize = 256;

/// What holds at all times, and place by place, in sentences.
pub(super) fn backwards_sentences(
    task: &Task<'_>,
    view: &Backward<'_>,
    basis: &Basis,
    monitor: &dyn Monitor,
) -> Result<(Vec<String>, Places), Stop> {
    let patience = RefCell::new(Patience::new(monitor, "explaining"));
    let times = match (view.has_times_of_model(), view.has_sections()) {
        (true, _) => ViewTimes::OfModel,
        (false, false) => ViewTimes::Drained,
        (false, true) => ViewTimes::Other,
    };
    let liveness = Liveness::of(task.program);
    let asking = BasisQuestions { task, view, basis, times, liveness, asked: Cell::new(0), patience };
    let everywhere = asking.everywhere();
    let known: HashSet<SaidFact> = everywhere.iter().cloned().collect();
    let standing: Vec<Vec<Vec<NamedState<'_>>>> =
        task.program.thread_ids().map(|id| asking.standing(id)).collect();
    let labels = labels(task.program, |thread, loc| !standing[thread][loc.index()].is_empty());
    let named = AuthoredRegisters::of(task.program);
    let place = |thread: usize, loc: usize| {
        let here = &standing[thread][loc];
        let facts = || {
            let mut facts = asking.memory_and_stores(ThreadId::new(thread), here, &everywhere);
            facts.extend(asking.registers(ThreadId::new(thread), Loc::new(loc), here, &named));
            facts.extend(asking.others(thread, here, &labels, &standing));
            PlaceFacts::new(&facts, &known)
        };
        (!here.is_empty()).then(facts)
    };
    let places = |thread: usize| (0..standing[thread].len()).map(|loc| place(thread, loc)).collect();
    let places = (0..standing.len()).map(places).collect();
    let lasted = asking.patience.borrow_mut().lasts().then_some(());
    asking.patience.borrow().found(lasted)?;
    Ok((sentences(&everywhere), places))
}

/// When the view has what the model has.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ViewTimes {
    /// Always.
    OfModel,
    /// When everything is drained.
    Drained,
    /// Nothing is said of that.
    Other,
}

/// A state of a thread, and what it is called in elements.
type NamedState<'a> = (&'a LocalState, &'a LocalState);

/// Demands something more.
type MoreDemanded<'a> = dyn Fn(&mut Demanded) + 'a;

struct BasisQuestions<'a, 'p> {
    task: &'a Task<'p>,
    view: &'a Backward<'p>,
    basis: &'a Basis,
    times: ViewTimes,
    liveness: Liveness,
    asked: Cell<usize>,
    patience: RefCell<Patience<'a>>,
}

impl BasisQuestions<'_, '_> {
    /// Whether what is demanded may be, as far as is known.
    fn may(&self, demanded: &Demanded) -> bool {
        let asked = self.asked.replace(self.asked.get() + 1);
        let tired =
            asked > MOST_ASKED || (asked.is_multiple_of(PATIENCE) && !self.patience.borrow_mut().lasts());
        tired || self.times == ViewTimes::Other || !self.view.excludes(self.basis, demanded)
    }

    /// Threads that stand somewhere.
    fn with(&self, threads: &[(usize, &LocalState)]) -> Demanded {
        let mut demanded = self.view.anything();
        for (thread, state) in threads {
            demanded.states[*thread] = Some((*state).clone());
        }
        demanded
    }

    /// Whether this may be while a thread stands in one of these states.
    fn may_here(&self, thread: ThreadId, here: &[NamedState<'_>], add: &MoreDemanded<'_>) -> bool {
        here.iter().any(|(_, state)| {
            let mut demanded = self.with(&[(thread.index(), state)]);
            add(&mut demanded);
            self.may(&demanded)
        })
    }

    /// By location: the states in which a thread may stand there.
    fn standing(&self, thread: ThreadId) -> Vec<Vec<NamedState<'_>>> {
        let mut found = vec![Vec::new(); self.task.program.thread(thread).locs().count()];
        for state in self.view.states_of(thread) {
            let Some(named) = self.view.named_by(thread, state) else { continue };
            if self.may(&self.with(&[(thread.index(), named)])) {
                found[state.loc.index()].push((state, named));
            }
        }
        found
    }

    fn name(&self, variable: VarId) -> String {
        self.task.program.variable(variable).name.clone()
    }

    /// Of what may be stored to a variable, what may be on its way from a thread under a condition.
    fn queued(
        &self,
        (thread, variable): (ThreadId, VarId),
        delayed: &BTreeSet<i64>,
        may: &dyn Fn(&MoreDemanded<'_>) -> bool,
    ) -> BTreeSet<i64> {
        let stores = |word: Vec<i64>| may(&|demanded| demanded.queues.push((thread, variable, word.clone())));
        let has_queue = self.view.queues_of(thread).any(|queue| queue == variable);
        let anywhere =
            |value: &i64| stores(vec![*value]) || delayed.iter().any(|newest| stores(vec![*value, *newest]));
        delayed.iter().copied().filter(|value| has_queue && anywhere(value)).collect()
    }

    /// What variables may have, and what may be on its way to them, at any time.
    fn everywhere(&self) -> Vec<SaidFact> {
        let variables = || self.task.program.variable_ids();
        let may = |add: &MoreDemanded<'_>| {
            let mut demanded = self.view.anything();
            add(&mut demanded);
            self.may(&demanded)
        };
        let memory = variables().zip(self.view.values()).filter_map(|(variable, values)| {
            let possible = |value: &i64| {
                self.times != ViewTimes::OfModel || may(&|demanded| demanded.memory.push((variable, *value)))
            };
            of_values(SlotKind::Variable, self.name(variable), values.into_iter().filter(possible))
        });
        let delayed = self.view.delayed_values();
        let delayed = variables().zip(&delayed).filter(|_| self.task.buffers());
        let delayed = delayed.filter_map(|(variable, delayed)| {
            let from = |thread: ThreadId| match self.times {
                ViewTimes::OfModel => self.queued((thread, variable), delayed, &may),
                _ => delayed.clone(),
            };
            let values: BTreeSet<i64> = self.task.program.thread_ids().flat_map(from).collect();
            of_values(SlotKind::Buffered, format!("{EVERY}{}", self.name(variable)), values.into_iter())
        });
        memory.chain(delayed).collect()
    }

    /// What variables may have, and what may be on its way, while a thread stands here.
    fn memory_and_stores(
        &self,
        thread: ThreadId,
        here: &[NamedState<'_>],
        everywhere: &[SaidFact],
    ) -> Vec<SaidFact> {
        let all = self.task.program.variable_ids().zip(self.view.values());
        let left = all.map(|(variable, values)| {
            let possible = |value: &i64| {
                self.may_here(thread, here, &|demanded| demanded.memory.push((variable, *value)))
            };
            let known = values.len();
            let left: Vec<i64> = values.into_iter().filter(possible).collect();
            (variable, left.len() < known, left)
        });
        let fact = |variable: VarId, left: Vec<i64>| {
            of_values(SlotKind::Variable, self.name(variable), left.into_iter())
        };
        if self.times == ViewTimes::OfModel {
            let mut facts: Vec<SaidFact> =
                left.filter_map(|(variable, _, left)| fact(variable, left)).collect();
            if self.task.buffers() {
                facts.extend(self.stores(thread, here));
            }
            return facts;
        }
        let fewer: Vec<SaidFact> = left
            .filter(|(_, fewer, _)| *fewer)
            .filter_map(|(variable, _, left)| fact(variable, left))
            .collect();
        let drained = sentences(&fewer).into_iter();
        let drained =
            drained.map(|sentence| SaidFact::That(format!("while all buffers are empty, {sentence}")));
        everywhere.iter().cloned().chain(drained).collect()
    }

    /// What is on its way from a thread that stands here, and what is not on its way from anybody.
    fn stores(&self, thread: ThreadId, here: &[NamedState<'_>]) -> Vec<SaidFact> {
        let may = |add: &MoreDemanded<'_>| self.may_here(thread, here, add);
        let (mut names, mut own, mut nobody) = (Vec::new(), Vec::new(), Vec::new());
        for (variable, delayed) in self.task.program.variable_ids().zip(&self.view.delayed_values()) {
            let from = |of: ThreadId| self.queued((of, variable), delayed, &may);
            let (name, mine) = (self.name(variable), from(thread));
            if !mine.is_empty() {
                own.extend(of_values(SlotKind::Buffered, format!("{EVERY}{name}"), mine.iter().copied()));
                names.push(name.clone());
            }
            let others = self.task.program.thread_ids().filter(|other| *other != thread);
            let left: BTreeSet<i64> = others.flat_map(from).chain(mine).collect();
            let missing: Vec<String> = delayed.difference(&left).map(i64::to_string).collect();
            if !delayed.is_empty() && left.is_empty() {
                nobody.push(SaidFact::That(format!("no store to {name} is buffered")));
            } else if !missing.is_empty() {
                let missing = listed(&missing, "or");
                nobody.push(SaidFact::That(format!("no buffered store to {name} is {missing}")));
            }
        }
        std::iter::once(buffer_holds(&names, false)).chain(own).chain(nobody).collect()
    }

    fn registers(
        &self,
        thread: ThreadId,
        loc: Loc,
        here: &[NamedState<'_>],
        named: &AuthoredRegisters,
    ) -> Vec<SaidFact> {
        let live = self.liveness.at(thread, loc).iter().enumerate();
        let mentioned = live.filter(|(_, register)| named.mentions(self.task.program, thread, **register));
        let fact = |(at, register): (usize, &RegId)| {
            let name = self.task.program.thread(thread).registers[register.index()].clone();
            of_values(SlotKind::Register, name, here.iter().map(|(state, _)| state.registers[at]))
        };
        mentioned.filter_map(fact).collect()
    }

    /// Where others are not.
    fn others(
        &self,
        thread: usize,
        here: &[NamedState<'_>],
        labels: &[ReachedLabel],
        standing: &[Vec<Vec<NamedState<'_>>>],
    ) -> Vec<SaidFact> {
        let meets = |label: &ReachedLabel| {
            let mut there = label.locs.iter().flat_map(|loc| &standing[label.thread][loc.index()]);
            label.thread == thread
                || there.any(|(_, there)| {
                    here.iter()
                        .any(|(_, state)| self.may(&self.with(&[(thread, state), (label.thread, there)])))
                })
        };
        let met: Vec<bool> = labels.iter().map(meets).collect();
        absent(self.task.program, thread, labels, &met)
    }
}

fn of_values(kind: SlotKind, name: String, values: impl Iterator<Item = i64>) -> Option<SaidFact> {
    let mut seen = SeenValues::default();
    values.for_each(|value| seen.add(value, Exactly::of(None)));
    seen.fact(kind, name, Exactly::of(None))
}
