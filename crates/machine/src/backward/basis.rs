//! A finite basis of an upward-closed set: elements of which none covers another, found fast.
//!
//! An element that covers another agrees with it in the states of all threads of which it demands one. So
//! elements are kept by the states they demand, and looking for one that covers another asks for every
//! choice of threads of which nothing is demanded. Among those found so, a few bits tell most apart. Where elements
//! count up to the names of threads ([`Backward::up_to`]), states and bits are those that all names have in common.

use super::up_to_names::StateOrbit;
use super::{Backward, Element};
use rustc_hash::FxHashMap;

/// Names an element of a basis.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ElementId(pub u32);

/// An element with a few bits that tell most apart.
type SignedElement = (u64, ElementId);

/// Elements in the order they were added; those that a later one covers are passed over.
#[derive(Default)]
pub struct Basis {
    elements: Vec<(Element, bool)>,
    by_states: FxHashMap<Box<[StateOrbit]>, Vec<SignedElement>>,
    bytes: usize,
    covered: usize,
}

impl Basis {
    /// The empty set.
    pub fn new() -> Basis {
        Basis::default()
    }

    /// How many elements there are that no other one covers.
    pub fn len(&self) -> usize {
        self.elements.len() - self.covered
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// About how many bytes it holds.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// An element.
    pub fn get(&self, id: ElementId) -> &Element {
        &self.elements[id.0 as usize].0
    }

    /// Whether a later element covers this one.
    pub fn is_covered(&self, id: ElementId) -> bool {
        self.elements[id.0 as usize].1
    }

    /// The elements that no other one covers, in the order they were added.
    pub fn iter(&self) -> impl Iterator<Item = &Element> {
        self.elements.iter().filter(|(_, covered)| !covered).map(|(element, _)| element)
    }

    /// An element that covers this one under some names, if there is one.
    pub fn covering(&self, view: &Backward<'_>, element: &Element) -> Option<ElementId> {
        let bits = view.signature(element);
        self.covering_among(view, element, bits, &mut view.orbits(element), 0)
    }

    fn covering_among(
        &self,
        view: &Backward<'_>,
        element: &Element,
        bits: u64,
        states: &mut Vec<StateOrbit>,
        from: usize,
    ) -> Option<ElementId> {
        if let Some(list) = self.by_states.get(&states[..]) {
            let covers = |(other, id): &&SignedElement| {
                other & !bits == 0 && view.covers_renamed(self.get(*id), element)
            };
            if let Some((_, id)) = list.iter().find(covers) {
                return Some(*id);
            }
        }
        for at in from..states.len() {
            // Of threads that stand alike one is as good as the other.
            if at > from && states[at] == states[at - 1] {
                continue;
            }
            let state = states.remove(at);
            let found = self.covering_among(view, element, bits, states, at);
            states.insert(at, state);
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// Adds an element that none covers; those with the same states that it covers are passed over from
    /// now on.
    pub fn add(&mut self, view: &Backward<'_>, element: Element) -> ElementId {
        let bits = view.signature(&element);
        let id = ElementId(self.elements.len() as u32);
        let list = self.by_states.entry(view.orbits(&element).into()).or_default();
        let elements = &mut self.elements;
        let before = list.len();
        list.retain(|(other, at)| {
            let covered = bits & !other == 0 && view.covers_renamed(&element, &elements[at.0 as usize].0);
            elements[at.0 as usize].1 |= covered;
            !covered
        });
        self.covered += before - list.len();
        list.push((bits, id));
        self.bytes += element.0.len() * size_of::<u16>() + 64;
        self.elements.push((element, false));
        id
    }
}
