//! What sets of states know: one pass over all of them gathers, for every location of every
//! thread, the values of variables and of the thread's registers, what its buffer holds, and
//! where the others stand meanwhile.
//!
//! In a gap certificate a state is a normal form: values near the program's constants are exact,
//! others are known by their order. Normal forms keep the order of all values, so how two
//! values compare in all of them is how they compare in all states.

use super::order::Orders;
use super::values::{Exactly, Values, either};
use super::{Known, KnownAt, Named};
use crate::numbers::counted;
use evidence::{ClosedSet, Task};
use machine::{Entry, Exact, Gaps, Local, Machine, Slot, State};
use program::{Loc, Program, RegId, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// Up to so many shapes of a buffer are listed, and so many labels where a thread is not.
const FEW_BUFFERS: usize = 4;
const FEW_LABELS: usize = 6;

/// What a set of states knows; of concrete states, or of normal forms.
pub fn known(task: &Task<'_>, gaps: Option<Gaps>, set: &ClosedSet) -> Known {
    let mut survey = Survey::new(task, gaps, set);
    let mut state = State::default();
    for packed in set.states.iter() {
        if state.unpack(task.program.threads.len(), packed).is_some() {
            survey.state(&state);
        }
    }
    Known { about: about(gaps, set), everywhere: survey.everywhere(), places: survey.places() }
}

fn about(gaps: Option<Gaps>, set: &ClosedSet) -> String {
    let count = set.states.len();
    match gaps {
        None => format!(
            "The proof lists all {} that can be reached; this is what they have in common.",
            counted(count, "state")
        ),
        Some(gaps) => format!(
            "The proof lists {} of states. Values from {} to {} are told apart; of others only the order and \
             gaps up to {} are, so it holds for integers of any size. This is what the kinds have in common.",
            counted(count, "kind"),
            gaps.low,
            gaps.high,
            gaps.precision
        ),
    }
}

/// What is gathered about a location, or about all of them.
#[derive(Clone, Default)]
struct Seen {
    memory: Vec<Values>,
    registers: BTreeMap<RegId, Values>,
    /// The shapes of the buffer, oldest store first, with the values; one more than a few means many.
    buffers: BTreeMap<Vec<Entry>, Vec<Values>>,
    longest: usize,
    /// For each thread, the locations where it stood meanwhile.
    others: Vec<BTreeSet<Loc>>,
    /// Of variables and the thread's named registers.
    orders: Orders,
}

struct Survey<'a> {
    program: &'a Program,
    set: &'a ClosedSet,
    exactly: Exactly,
    ordered: bool,
    named: Named,
    /// For each thread's controls, the slots of its values.
    slots: Vec<Vec<Vec<Slot>>>,
    all: Seen,
    at: Vec<BTreeMap<Loc, Seen>>,
}

impl<'a> Survey<'a> {
    fn new(task: &Task<'a>, gaps: Option<Gaps>, set: &'a ClosedSet) -> Survey<'a> {
        let program = task.program;
        let machine = Exact::new(program, task.model);
        let slots_of = |thread: ThreadId, local: &Local| {
            let mut slots = Vec::new();
            machine.slots(thread, local, &mut slots);
            slots
        };
        let of_thread = |(thread, locals): (ThreadId, &Vec<Local>)| {
            locals.iter().map(|local| slots_of(thread, local)).collect()
        };
        Survey {
            program,
            set,
            exactly: Exactly::of(gaps),
            ordered: gaps.is_some(),
            named: Named::of(program),
            slots: program.thread_ids().zip(&set.locals).map(of_thread).collect(),
            all: Seen::default(),
            at: vec![BTreeMap::new(); program.threads.len()],
        }
    }

    /// Takes a state into account. One that does not fit the dictionary is passed over: there
    /// is none, for the certificate was checked.
    fn state(&mut self, state: &State) {
        let variables = self.program.variables.len();
        let Some((memory, mut rest)) = state.values.split_at_checked(variables) else { return };
        let mut locals = Vec::new();
        for (thread, id) in state.locals.iter().enumerate() {
            let Some(local) = self.set.locals[thread].get(*id as usize) else { return };
            let slots = &self.slots[thread][*id as usize];
            let Some((own, after)) = rest.split_at_checked(slots.len()) else { return };
            locals.push((local, slots.as_slice(), own));
            rest = after;
        }
        self.all.look_at_memory(memory, self.exactly);
        if self.ordered {
            self.all.orders.look(memory);
        }
        let locs: Vec<Loc> = locals.iter().map(|(local, ..)| local.loc).collect();
        for (thread, (local, slots, own)) in locals.into_iter().enumerate() {
            let id = ThreadId::new(thread);
            self.all.longest = self.all.longest.max(local.buffer.len());
            let seen = self.at[thread].entry(local.loc).or_default();
            seen.look_at_memory(memory, self.exactly);
            seen.look_at_buffer(local, slots, own, self.exactly);
            seen.others.resize(locs.len(), BTreeSet::new());
            seen.others.iter_mut().zip(&locs).for_each(|(seen, loc)| {
                seen.insert(*loc);
            });
            let mut compared = memory.to_vec();
            for (slot, value) in slots.iter().zip(own) {
                if let Slot::Register(_, register) = slot
                    && self.named.mentions(self.program, id, *register)
                {
                    seen.registers.entry(*register).or_default().insert(self.exactly.clamp(*value));
                    compared.push(*value);
                }
            }
            if self.ordered {
                seen.orders.look(&compared);
            }
        }
    }

    fn everywhere(&self) -> Vec<String> {
        let mut sentences = self.memory_sentences(&self.all);
        if self.all.longest == 0 {
            sentences.push("all buffers are empty".to_string());
        }
        sentences.extend(self.all.orders.sentences(&self.names(), &self.all.memory, self.exactly));
        sentences
    }

    fn places(&self) -> Vec<KnownAt> {
        let everywhere: BTreeSet<String> = self.everywhere().into_iter().collect();
        let mut places = Vec::new();
        for thread in self.program.thread_ids() {
            for loc in self.program.thread(thread).locs() {
                let seen = self.at[thread.index()].get(&loc);
                let mut sentences = seen.map(|seen| self.sentences(thread, seen)).unwrap_or_default();
                sentences.retain(|sentence| !everywhere.contains(sentence));
                places.push(KnownAt { thread, loc, reached: seen.is_some(), sentences });
            }
        }
        places
    }

    fn sentences(&self, thread: ThreadId, seen: &Seen) -> Vec<String> {
        let registers = &self.program.thread(thread).registers;
        let mut sentences: Vec<String> = Vec::new();
        sentences.extend(self.absences(thread, seen));
        sentences.extend((self.all.longest > 0).then(|| self.buffer_sentence(thread, seen)));
        let (mut names, mut values) = (self.names(), seen.memory.clone());
        for (register, found) in &seen.registers {
            let name = &registers[register.index()];
            sentences.extend(found.sentence(name, self.exactly));
            names.push(name.clone());
            values.push(found.clone());
        }
        sentences.extend(self.memory_sentences(seen));
        sentences.extend(seen.orders.sentences(&names, &values, self.exactly));
        sentences
    }

    fn names(&self) -> Vec<String> {
        self.program.variables.iter().map(|variable| variable.name.clone()).collect()
    }

    fn memory_sentences(&self, seen: &Seen) -> Vec<String> {
        let each = self.program.variables.iter().zip(&seen.memory);
        each.filter_map(|(variable, values)| values.sentence(&variable.name, self.exactly)).collect()
    }

    fn buffer_sentence(&self, thread: ThreadId, seen: &Seen) -> String {
        let name = &self.program.thread(thread).name;
        if seen.buffers.len() > FEW_BUFFERS {
            return format!("{name}'s buffer holds up to {}", counted(seen.longest, "store"));
        }
        let entry = |(entry, values): (&Entry, &Values)| match entry {
            Entry::Store(variable) => values.short(&self.program.variable(*variable).name, self.exactly),
            Entry::Barrier => "fence".to_string(),
        };
        let content = |(shape, values): (&Vec<Entry>, &Vec<Values>)| match shape.is_empty() {
            true => "is empty".to_string(),
            false => {
                format!("holds {}", shape.iter().zip(values).map(entry).collect::<Vec<_>>().join(" then "))
            }
        };
        let contents: Vec<String> = seen.buffers.iter().map(content).collect();
        format!("{name}'s buffer {}", either(&contents))
    }

    /// The labels at which other threads never are meanwhile, though they get there.
    fn absences(&self, thread: ThreadId, seen: &Seen) -> Vec<String> {
        let mut sentences = Vec::new();
        for other in self.program.thread_ids().filter(|other| *other != thread) {
            let automaton = self.program.thread(other);
            let label = |loc: &Loc| automaton.location(*loc).labels.first().map(String::as_str);
            let met: BTreeSet<&str> = seen.others[other.index()].iter().filter_map(label).collect();
            let reached = self.at[other.index()].keys().filter_map(label);
            let labels: BTreeSet<&str> = reached.filter(|label| !met.contains(label)).collect();
            let mut words: Vec<String> = labels.iter().take(FEW_LABELS).map(|l| l.to_string()).collect();
            if labels.len() > FEW_LABELS {
                words.push(format!("{} more labels", labels.len() - FEW_LABELS));
            }
            if !words.is_empty() {
                sentences.push(format!("{} is not at {}", automaton.name, either(&words)));
            }
        }
        sentences
    }
}

impl Seen {
    fn look_at_memory(&mut self, memory: &[i64], exactly: Exactly) {
        self.memory.resize(memory.len(), Values::default());
        let each = self.memory.iter_mut().zip(memory);
        each.for_each(|(values, value)| values.insert(exactly.clamp(*value)));
    }

    fn look_at_buffer(&mut self, local: &Local, slots: &[Slot], own: &[i64], exactly: Exactly) {
        self.longest = self.longest.max(local.stores().count());
        let shape = local.buffer.as_slice();
        if !self.buffers.contains_key(shape) {
            if self.buffers.len() > FEW_BUFFERS {
                return;
            }
            self.buffers.insert(shape.to_vec(), vec![Values::default(); shape.len()]);
        }
        let Some(values) = self.buffers.get_mut(shape) else { return };
        let mut buffered = slots.iter().zip(own).filter(|(slot, _)| matches!(slot, Slot::Buffer(..)));
        for (entry, values) in shape.iter().zip(values) {
            if matches!(entry, Entry::Store(_))
                && let Some((_, value)) = buffered.next()
            {
                values.insert(exactly.clamp(*value));
            }
        }
    }
}
