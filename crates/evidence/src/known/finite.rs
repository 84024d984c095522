//! What a proof that goes backwards knows: which values there are.
//!
//! Its elements speak of a view of the memory model ([`machine::Backward`]) in which stores and loads have other times,
//! so they are no sentences about states of the program. But the view rests on all values that any run stores and on
//! all states that a thread may be in, which hold under the model itself: from these come the values of
//! variables, of buffered stores and, place by place, of registers.

use super::Places;
use super::cubes::EVERY;
use super::facts::{Exactly, SeenValues};
use super::say::{PlaceFacts, SaidFact, SlotKind, VerbPhrase, sentences};
use crate::Task;
use machine::Backward;
use program::{AuthoredRegisters, Liveness, ThreadId};
use std::collections::{BTreeMap, HashSet};

/// By location: by register, the values that it may have there.
type RegistersAt = BTreeMap<usize, BTreeMap<usize, SeenValues>>;

/// What holds at all times, and place by place, in sentences.
pub(super) fn finite_sentences(task: &Task<'_>, view: &Backward<'_>) -> (Vec<String>, Places) {
    let everywhere = everywhere(task, view);
    let known: HashSet<SaidFact> = everywhere.iter().cloned().collect();
    let (liveness, named) = (Liveness::of(task.program), AuthoredRegisters::of(task.program));
    let thread = |id: ThreadId| {
        let found = registers(id, &liveness, view);
        let place = |registers: &BTreeMap<usize, SeenValues>| {
            let facts = registers.iter().filter_map(|(register, values)| {
                let mentioned = named.mentions(task.program, id, program::RegId::new(*register));
                let name = task.program.thread(id).registers[*register].clone();
                let phrase = predicate(values).filter(|_| mentioned)?;
                Some(SaidFact::Of(SlotKind::Register, name, phrase))
            });
            let all: Vec<SaidFact> = everywhere.iter().cloned().chain(facts).collect();
            PlaceFacts::new(&all, &known)
        };
        task.program.thread(id).locs().map(|loc| found.get(&loc.index()).map(place)).collect()
    };
    (sentences(&everywhere), task.program.thread_ids().map(thread).collect())
}

fn everywhere(task: &Task<'_>, view: &Backward<'_>) -> Vec<SaidFact> {
    let names = || task.program.variables.iter().map(|variable| &variable.name);
    let fact = |kind: SlotKind, name: String, values: &mut dyn Iterator<Item = i64>| {
        Some(SaidFact::Of(kind, name, predicate(&seen(values))?))
    };
    let memory = names().zip(view.values());
    let memory =
        memory.filter_map(|(name, values)| fact(SlotKind::Variable, name.clone(), &mut values.into_iter()));
    let delayed = names().zip(view.delayed_values()).filter(|_| task.buffers());
    let delayed = delayed.filter_map(|(name, values)| {
        fact(SlotKind::Buffered, format!("{EVERY}{name}"), &mut values.into_iter())
    });
    memory.chain(delayed).collect()
}

fn registers(thread: ThreadId, liveness: &Liveness, view: &Backward<'_>) -> RegistersAt {
    let mut found = RegistersAt::new();
    for state in view.states_of(thread) {
        let here = found.entry(state.loc.index()).or_default();
        for (register, value) in liveness.at(thread, state.loc).iter().zip(&state.registers) {
            here.entry(register.index()).or_default().add(*value, Exactly::of(None));
        }
    }
    found
}

fn seen(values: &mut dyn Iterator<Item = i64>) -> SeenValues {
    let mut seen = SeenValues::default();
    values.for_each(|value| seen.add(value, Exactly::of(None)));
    seen
}

fn predicate(values: &SeenValues) -> Option<VerbPhrase> {
    values.predicate(Exactly::of(None))
}
