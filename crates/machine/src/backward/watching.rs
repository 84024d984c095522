//! Properties that look at memory and threads at once, where the view changes times.
//!
//! In the view a store may be in memory before its thread would have drained it, so memory and threads at one
//! time of the view need not be so at one time of the model. An *observer* puts that right. It looks at
//! memory once and says so in a variable of its own that is 0 before and 1 afterwards. A thread that
//! the property speaks of may end where it stands, and on its way out it loads that variable, like any other,
//! and finds 0: so all that it did before happened before the observer looked. Afterwards nothing of it
//! matters. The property is violated if what the observer saw and where threads ended does it.

use super::behaviour::{Act, ActKind, Behaviour, Behaviours, Fact, LocalState};
use super::violating::ViolationSearch;
use super::{Backward, NoView};
use program::{Op, Place, Program, Property, PropertyKind};
use std::collections::BTreeMap;

/// The variable before the observer has looked, and afterwards.
const NOT_YET: u16 = 1;
const LOOKED: u16 = 2;

/// How one property is watched.
pub(super) struct PropertyObserver {
    pub(super) property: usize,
    /// By thread that counts and by what it looks like: the states in which it has ended.
    pub(super) ended: Vec<BTreeMap<Vec<i64>, Vec<u16>>>,
    /// By values of the variables that count: the observer's state.
    pub(super) saw: BTreeMap<Vec<u16>, u16>,
}

/// Whether a property is about one time of threads and memory, or of several threads of which some may be
/// inside atomic sections.
pub(super) fn needs_watching(program: &Program, property: &Property) -> bool {
    let (mut threads, mut memory) = (Vec::new(), false);
    property.cond.for_each_leaf(&mut |place| match place {
        Place::At(thread, _) | Place::Register(thread, _) | Place::Drained(thread) => threads.push(*thread),
        Place::Memory(_) => memory = true,
    });
    threads.sort_unstable();
    threads.dedup();
    let locks = |op: &Op| matches!(op, Op::Lock);
    let sections = || program.threads.iter().any(|thread| thread.edges().iter().any(|edge| locks(&edge.op)));
    let at_once = (memory && !threads.is_empty()) || (threads.len() > 1 && sections());
    property.kind == PropertyKind::Never && at_once
}

/// Adds an observer for the properties that need one, and ways to end for the threads that they speak of.
pub(super) fn watch(program: &Program, behaviours: &mut Behaviours) -> Result<Vec<PropertyObserver>, NoView> {
    let mut observer = Behaviour::new(LocalState { loc: program::Loc::new(0), registers: Box::default() });
    let mut watches = Vec::new();
    for (at, property) in program.properties.iter().enumerate() {
        if !needs_watching(program, property) {
            continue;
        }
        let variable = behaviours.values.watched();
        let looking = ViolationSearch::at(program, behaviours, property);
        let (looks, places, variables) =
            (looking.looks.clone(), looking.places.clone(), looking.variables.clone());
        let combinations = looking.values_seen()?;
        let too_many = NoView::Unbounded(property.span);
        let mut ended = Vec::new();
        for ((thread, _), looks) in places.iter().zip(&looks) {
            let locs = program.thread(*thread).locs().count();
            let behaviour = &mut behaviours.threads[thread.index()];
            let ends = looks.iter().map(|(look, states)| {
                let ended = end(behaviour, locs, states, (variable, NOT_YET)).ok_or(too_many)?;
                Ok((look.clone(), vec![ended]))
            });
            ended.push(ends.collect::<Result<_, NoView>>()?);
        }
        let mut saw = BTreeMap::new();
        for values in combinations {
            let to = observer.add(1 + observer.len(), false).ok_or(too_many)?;
            let facts = variables.iter().copied().zip(values.iter().copied());
            let reads = facts.chain([(variable, NOT_YET)]).chain(behaviours.values.free()).collect();
            let writes = Box::new([(variable, LOOKED)]);
            let kind = ActKind::Atomic { reads, writes };
            observer.connect(Act { from: 1, to, edge: None, choice: None, kind });
            saw.insert(values, to);
        }
        watches.push(PropertyObserver { property: at, ended, saw });
    }
    if !watches.is_empty() {
        behaviours.threads.push(observer);
    }
    Ok(watches)
}

/// Lets a thread end in states that look alike; the state in which it has. None of them is inside a section.
/// `None` if there are too many.
fn end(behaviour: &mut Behaviour, locs: usize, states: &[u16], not_yet: Fact) -> Option<u16> {
    let to = behaviour.add(locs + behaviour.len(), false)?;
    for from in states {
        let kind = ActKind::Read(Box::new([not_yet]));
        behaviour.connect(Act { from: *from, to, edge: None, choice: None, kind });
    }
    Some(to)
}

impl Backward<'_> {
    /// How a property is watched, if it is.
    pub(super) fn watch_of(&self, property: usize) -> Option<&PropertyObserver> {
        self.watches.iter().find(|watch| watch.property == property)
    }
}
