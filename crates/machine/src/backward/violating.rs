//! What violates something, as elements.
//!
//! A property is looked at for every combination of what it sees: states of the threads that it speaks
//! of, values of the variables that it speaks of. Of all others nothing is demanded.

use super::behaviour::register_value;
use super::{Backward, Element, Unbounded};
use crate::Violation;
use program::{Int, Place, Property, PropertyKind, ThreadId};
use std::collections::{BTreeMap, BTreeSet};

/// More combinations than this are not looked at.
const MOST: usize = 4_000_000;

/// The states of a thread that look the same to a property, by what they look like.
type Looks = BTreeMap<Vec<i64>, Vec<u16>>;

impl Backward<'_> {
    /// The least elements that violate something, each with what.
    pub fn violations(&self) -> Result<Vec<(Element, Violation)>, Unbounded> {
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
            let elements = Looking::at(self, property).all()?;
            found.extend(elements.into_iter().map(|element| (element, Violation::Property(at))));
        }
        Ok(found)
    }
}

/// A property that is being looked at.
struct Looking<'a, 'p> {
    view: &'a Backward<'p>,
    property: &'a Property,
    /// What it sees of each thread that counts.
    places: Vec<(ThreadId, Vec<Place>)>,
    looks: Vec<Looks>,
    variables: Vec<u16>,
}

impl<'a, 'p> Looking<'a, 'p> {
    fn at(view: &'a Backward<'p>, property: &'a Property) -> Looking<'a, 'p> {
        let mut seen: BTreeMap<ThreadId, BTreeSet<Place>> = BTreeMap::new();
        let mut variables = BTreeSet::new();
        property.cond.for_each_leaf(&mut |place| match *place {
            Place::At(thread, _) | Place::Register(thread, _) => {
                seen.entry(thread).or_default().insert(*place);
            }
            Place::Memory(variable) => drop(variables.insert(variable.index() as u16)),
        });
        if property.kind == PropertyKind::Finally {
            for thread in view.program.thread_ids() {
                seen.entry(thread).or_default();
            }
        }
        let places: Vec<(ThreadId, Vec<Place>)> =
            seen.into_iter().map(|(thread, places)| (thread, places.into_iter().collect())).collect();
        let mut looking =
            Looking { view, property, places, looks: Vec::new(), variables: variables.into_iter().collect() };
        looking.looks =
            looking.places.iter().map(|(thread, places)| looking.looks_of(*thread, places)).collect();
        looking
    }

    /// The states of a thread by what the property sees of them; where it looks at ends, only ends.
    fn looks_of(&self, thread: ThreadId, places: &[Place]) -> Looks {
        let view = self.view;
        let behaviour = &view.behaviours.threads[thread.index()];
        let mut looks = Looks::new();
        for number in behaviour.named() {
            let Some(state) = behaviour.state(number) else { continue };
            if self.property.kind == PropertyKind::Finally && !view.program.thread(thread).is_end(state.loc) {
                continue;
            }
            let seen = places.iter().map(|place| match *place {
                Place::At(_, loc) => i64::from(state.loc == loc),
                Place::Register(_, register) => register_value(&view.liveness, thread, state, register),
                Place::Memory(_) => 0,
            });
            looks.entry(seen.collect()).or_default().push(number);
        }
        looks
    }

    fn all(&self) -> Result<Vec<Element>, Unbounded> {
        let counts = self.looks.iter().map(BTreeMap::len);
        let values = self.variables.iter().map(|v| self.view.behaviours.values.numbers(*v).count());
        let combinations = counts.chain(values).try_fold(1_usize, usize::checked_mul);
        if combinations.is_none_or(|count| count > MOST) {
            return Err(Unbounded { span: self.property.span });
        }
        let mut out = Vec::new();
        self.choose_looks(&mut Vec::new(), &mut out)?;
        Ok(out)
    }

    fn choose_looks<'s>(
        &'s self,
        chosen: &mut Vec<(&'s Vec<i64>, &'s Vec<u16>)>,
        out: &mut Vec<Element>,
    ) -> Result<(), Unbounded> {
        match self.looks.get(chosen.len()) {
            None => self.choose_values(chosen, &mut Vec::new(), out),
            Some(looks) => looks.iter().try_for_each(|look| {
                chosen.push(look);
                let done = self.choose_looks(chosen, out);
                chosen.pop();
                done
            }),
        }
    }

    fn choose_values(
        &self,
        chosen: &[(&Vec<i64>, &Vec<u16>)],
        values: &mut Vec<u16>,
        out: &mut Vec<Element>,
    ) -> Result<(), Unbounded> {
        if let Some(variable) = self.variables.get(values.len()) {
            return self.view.behaviours.values.numbers(*variable).try_for_each(|value| {
                values.push(value);
                let done = self.choose_values(chosen, values, out);
                values.pop();
                done
            });
        }
        if self.violated(chosen, values)? {
            let mut demand = self.view.layout.anything();
            for (variable, value) in self.variables.iter().zip(values) {
                demand.memory[usize::from(*variable)] = *value;
            }
            if self.property.kind == PropertyKind::Finally {
                self.view.queue_channels.iter().flatten().for_each(|queue| demand.channels[*queue] = vec![0]);
            }
            self.demand_states(chosen, &mut demand, 0, out);
            if out.len() > MOST {
                return Err(Unbounded { span: self.property.span });
            }
        }
        Ok(())
    }

    fn violated(&self, chosen: &[(&Vec<i64>, &Vec<u16>)], values: &[u16]) -> Result<bool, Unbounded> {
        let value = |place: &Place| {
            let known = match *place {
                Place::Memory(variable) => {
                    let variable = variable.index() as u16;
                    let at = self.variables.iter().position(|v| *v == variable);
                    at.and_then(|at| self.view.behaviours.values.value((variable, values[at])))
                }
                Place::At(thread, _) | Place::Register(thread, _) => {
                    let of = self.places.iter().position(|(t, _)| *t == thread);
                    of.and_then(|of| {
                        let at = self.places[of].1.iter().position(|p| p == place)?;
                        Some(chosen[of].0[at])
                    })
                }
            };
            Int::from(known.unwrap_or(0))
        };
        let holds = self.property.cond.eval(&value).map_err(|_| Unbounded { span: self.property.span })?;
        Ok(holds == (self.property.kind == PropertyKind::Never))
    }

    /// Every combination of states with the chosen looks.
    fn demand_states(
        &self,
        chosen: &[(&Vec<i64>, &Vec<u16>)],
        demand: &mut super::Demand,
        at: usize,
        out: &mut Vec<Element>,
    ) {
        let Some((_, states)) = chosen.get(at) else {
            out.extend(self.view.sensible(&mut demand.clone()));
            return;
        };
        for state in states.iter() {
            demand.states[self.places[at].0.index()] = *state;
            if out.len() <= MOST {
                self.demand_states(chosen, demand, at + 1, out);
            }
        }
    }
}
