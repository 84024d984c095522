//! What violates something, as elements.
//!
//! A property is looked at for every combination of what it sees: states of the threads that it speaks
//! of, values of the variables that it speaks of. Of all others nothing is demanded.

use super::behaviour::{Behaviours, register_value};
use super::watching::PropertyObserver;
use super::{Backward, Demand, Element, NoView};
use crate::{GoOn, Violation};
use program::{Int, Liveness, Place, Program, Property, PropertyKind, ThreadId};
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

/// More combinations than this are not looked at.
const MOST: usize = 4_000_000;

/// How many pass before it is asked again whether to go on.
const PATIENCE: usize = 1024;

/// The states of a thread that look the same to a property, by what they look like.
pub(super) type Looks = BTreeMap<Vec<i64>, Vec<u16>>;

impl Backward<'_> {
    /// The least elements that violate something, each with what.
    pub fn violations(&self, go_on: &mut GoOn<'_>) -> Result<Vec<(Element, Violation)>, NoView> {
        let mut found = Vec::new();
        for thread in self.program.thread_ids() {
            let behaviour = &self.behaviours.threads[thread.index()];
            for number in behaviour.named() {
                let Some(state) = behaviour.state(number) else { continue };
                if self.program.thread(thread).location(state.loc).failure.is_some() {
                    let mut demand = self.layout.anything();
                    demand.states[thread.index()] = number;
                    let element = self.sensible(&mut demand);
                    found.extend(element.map(|element| (element, Violation::Failure(thread, state.loc))));
                }
            }
        }
        for (at, property) in self.program.properties.iter().enumerate() {
            let looking = ViolationSearch::at(self.program, &self.behaviours, property);
            let demanding = Demanding { view: self, looking, watch: self.watch_of(at), asked: Cell::new(0) };
            let elements = demanding.all(go_on)?;
            found.extend(elements.into_iter().map(|element| (element, Violation::Property(at))));
        }
        Ok(found)
    }
}

/// A property, and what it sees.
pub(super) struct ViolationSearch<'a> {
    program: &'a Program,
    behaviours: &'a Behaviours,
    property: &'a Property,
    /// What it sees of each thread that counts.
    pub(super) places: Vec<(ThreadId, Vec<Place>)>,
    /// The states of those threads.
    pub(super) looks: Vec<Looks>,
    /// The variables that it sees.
    pub(super) variables: Vec<u16>,
}

impl<'a> ViolationSearch<'a> {
    pub(super) fn at(
        program: &'a Program,
        behaviours: &'a Behaviours,
        property: &'a Property,
    ) -> ViolationSearch<'a> {
        let mut seen: BTreeMap<ThreadId, BTreeSet<Place>> = BTreeMap::new();
        let mut variables = BTreeSet::new();
        property.cond.for_each_leaf(&mut |place| match *place {
            Place::At(thread, _) | Place::Register(thread, _) | Place::Drained(thread) => {
                seen.entry(thread).or_default().insert(*place);
            }
            Place::Memory(variable) => drop(variables.insert(variable.index() as u16)),
        });
        if property.kind == PropertyKind::Finally {
            for thread in program.thread_ids() {
                seen.entry(thread).or_default();
            }
        }
        let places: Vec<(ThreadId, Vec<Place>)> =
            seen.into_iter().map(|(thread, places)| (thread, places.into_iter().collect())).collect();
        let variables = variables.into_iter().collect();
        let mut looking =
            ViolationSearch { program, behaviours, property, places, looks: Vec::new(), variables };
        let liveness = Liveness::of(program);
        let looks =
            looking.places.iter().map(|(thread, places)| looking.looks_of(&liveness, *thread, places));
        looking.looks = looks.collect();
        looking
    }

    /// The states of a thread by what the property sees of them; where it looks at ends, only ends; else only
    /// those outside of atomic sections.
    fn looks_of(&self, liveness: &Liveness, thread: ThreadId, places: &[Place]) -> Looks {
        let behaviour = &self.behaviours.threads[thread.index()];
        let mut looks = Looks::new();
        for number in behaviour.named() {
            let Some(state) = behaviour.state(number) else { continue };
            let automaton = self.program.thread(thread);
            let counts = match self.property.kind {
                PropertyKind::Never => !automaton.in_atomic(state.loc),
                PropertyKind::Finally => automaton.is_end(state.loc),
            };
            if !counts {
                continue;
            }
            let seen = places.iter().map(|place| match *place {
                Place::At(_, loc) => i64::from(state.loc == loc),
                Place::Register(_, register) => register_value(liveness, thread, state, register),
                // Of properties that speak of buffers there is no view.
                Place::Memory(_) | Place::Drained(_) => 0,
            });
            looks.entry(seen.collect()).or_default().push(number);
        }
        looks
    }

    /// All values of the variables that it sees.
    pub(super) fn values_seen(&self) -> Result<Vec<Vec<u16>>, NoView> {
        let mut all = vec![Vec::new()];
        for variable in &self.variables {
            let numbers = self.behaviours.values.numbers(*variable);
            let with = |values: &Vec<u16>| {
                let values = values.clone();
                numbers.clone().map(move |value| values.iter().copied().chain([value]).collect())
            };
            all = all.iter().flat_map(with).collect();
            if all.len() > MOST {
                return Err(NoView::Unbounded(self.property.span));
            }
        }
        Ok(all)
    }

    fn violated(&self, chosen: &[&Vec<i64>], values: &[u16]) -> Result<bool, NoView> {
        let value = |place: &Place| {
            let known = match *place {
                Place::Memory(variable) => {
                    let variable = variable.index() as u16;
                    let at = self.variables.iter().position(|v| *v == variable);
                    at.and_then(|at| self.behaviours.values.value((variable, values[at])))
                }
                Place::At(thread, _) | Place::Register(thread, _) | Place::Drained(thread) => {
                    let of = self.places.iter().position(|(t, _)| *t == thread);
                    of.and_then(|of| {
                        let at = self.places[of].1.iter().position(|p| p == place)?;
                        Some(chosen[of][at])
                    })
                }
            };
            Int::from(known.unwrap_or(0))
        };
        let holds = self.property.cond.eval(&value).map_err(|_| NoView::Unbounded(self.property.span))?;
        Ok(holds == (self.property.kind == PropertyKind::Never))
    }
}

/// A property, and what is demanded of states that violate it.
struct Demanding<'a, 'p> {
    view: &'a Backward<'p>,
    looking: ViolationSearch<'a>,
    watch: Option<&'a PropertyObserver>,
    /// How many combinations were looked at.
    asked: Cell<usize>,
}

impl Demanding<'_, '_> {
    fn all(&self, go_on: &mut GoOn<'_>) -> Result<Vec<Element>, NoView> {
        let unbounded = NoView::Unbounded(self.looking.property.span);
        let values = self.looking.values_seen()?;
        let counts = self.looking.looks.iter().map(BTreeMap::len);
        let combinations = counts.chain([values.len()]).try_fold(1_usize, usize::checked_mul);
        if combinations.is_none_or(|count| count > MOST) {
            return Err(unbounded);
        }
        let mut out = Vec::new();
        self.choose(&values, &mut Vec::new(), &mut out, go_on)?;
        Ok(out)
    }

    /// Every way that threads can look, and every value that variables can have.
    fn choose<'s>(
        &'s self,
        values: &[Vec<u16>],
        chosen: &mut Vec<&'s Vec<i64>>,
        out: &mut Vec<Element>,
        go_on: &mut GoOn<'_>,
    ) -> Result<(), NoView> {
        if let Some(looks) = self.looking.looks.get(chosen.len()) {
            return looks.keys().try_for_each(|look| {
                chosen.push(look);
                let done = self.choose(values, chosen, out, go_on);
                chosen.pop();
                done
            });
        }
        for values in values {
            self.asked.set(self.asked.get() + 1);
            if self.asked.get().is_multiple_of(PATIENCE) && !go_on() {
                return Err(NoView::Stopped);
            }
            if self.looking.violated(chosen, values)? {
                let mut demand = self.demanded(values);
                self.demand_states(chosen, &mut demand, 0, out);
            }
            if out.len() > MOST {
                return Err(NoView::Unbounded(self.looking.property.span));
            }
        }
        Ok(())
    }

    /// What is demanded of memory, of the observer and of what is on its way.
    fn demanded(&self, values: &[u16]) -> Demand {
        let mut demand = self.view.layout.anything();
        match self.watch {
            Some(watch) => {
                let saw = watch.saw.get(values).copied().unwrap_or(0);
                demand.states[self.view.program.threads.len()] = saw;
            }
            None => {
                for (variable, value) in self.looking.variables.iter().zip(values) {
                    demand.memory[usize::from(*variable)] = *value;
                }
                let free = self.view.behaviours.values.free();
                if let (PropertyKind::Never, Some((lock, nobody))) = (self.looking.property.kind, free) {
                    demand.memory[usize::from(lock)] = nobody;
                }
            }
        }
        if self.looking.property.kind == PropertyKind::Finally {
            self.view.queue_channels.iter().flatten().for_each(|queue| demand.channels[*queue] = vec![0]);
        }
        demand
    }

    /// Every combination of states with the chosen looks; where the property is watched, of states in which
    /// threads that looked so have ended.
    fn demand_states(&self, chosen: &[&Vec<i64>], demand: &mut Demand, at: usize, out: &mut Vec<Element>) {
        let Some(look) = chosen.get(at) else {
            out.extend(self.view.sensible(&mut demand.clone()));
            return;
        };
        let looks = self.watch.map_or(&self.looking.looks[at], |watch| &watch.ended[at]);
        for state in looks.get(*look).into_iter().flatten() {
            demand.states[self.looking.places[at].0.index()] = *state;
            if out.len() <= MOST {
                self.demand_states(chosen, demand, at + 1, out);
            }
        }
    }
}
