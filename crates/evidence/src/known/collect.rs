//! One walk over all states of a certificate, collecting what each place has in common.

use super::facts::{Content, Contents, Order, Values, listed};
use crate::{ClosedSet, Monitor, Progress, Stop, Task};
use machine::{Entry, Exact, Gaps, Local, Machine, Slot, State};
use program::{Loc, ThreadId, VarId};
use std::collections::BTreeMap;

/// With more labels than this, nothing is said about where other threads stand.
const LABELS: usize = 64;
/// Among more values than this, no pairs are compared.
const COMPARED: usize = 12;

/// What the states seen with a thread at a location have in common.
struct Facts {
    memory: Vec<Values>,
    registers: BTreeMap<usize, Values>,
    buffer: Contents,
    /// Which labels other threads have stood at.
    met: Vec<bool>,
    orders: Vec<Order>,
}

/// A label of a thread that some execution reaches.
struct Label {
    thread: usize,
    name: String,
    locs: Vec<Loc>,
}

/// What a thread's control number means, worked out once.
struct Shape {
    loc: Loc,
    /// The thread's values, in order.
    slots: Vec<Slot>,
    /// The labels it stands at.
    labels: Vec<usize>,
}

pub(super) struct Collector<'a> {
    task: &'a Task<'a>,
    gaps: Option<Gaps>,
    labels: Vec<Label>,
    shapes: Vec<Vec<Shape>>,
    locals: &'a [Vec<Local>],
    /// For each thread, the slots whose order is looked at: variables and registers.
    compared: Vec<Vec<Slot>>,
    places: Vec<Vec<Option<Box<Facts>>>>,
}

impl<'a> Collector<'a> {
    pub(super) fn new(task: &'a Task<'a>, gaps: Option<Gaps>, set: &'a ClosedSet) -> Collector<'a> {
        let program = task.program;
        let machine = Exact::new(program, task.model);
        let labels = labels(task, set);
        let shape = |thread: usize, local: &Local| {
            let mut slots = Vec::new();
            let known = local.loc.index() < program.threads[thread].locs().count();
            if known {
                machine.slots(ThreadId::new(thread), local, &mut slots);
            }
            let here = |label: &Label| label.thread == thread && label.locs.contains(&local.loc);
            let labels = labels.iter().enumerate().filter(|(_, label)| here(label)).map(|(at, _)| at);
            Shape { loc: local.loc, slots, labels: labels.collect() }
        };
        let threads = set.locals.iter().take(program.threads.len()).enumerate();
        let shapes = threads.map(|(t, locals)| locals.iter().map(|l| shape(t, l)).collect()).collect();
        let places = program.threads.iter().map(|t| t.locs().map(|_| None).collect()).collect();
        let compared = vec![Vec::new(); program.threads.len()];
        Collector { task, gaps, labels, shapes, locals: &set.locals, compared, places }
    }

    /// Looks at all states; for gap certificates twice, because only values that leave the window
    /// are worth comparing, and which do is known afterwards.
    pub(super) fn collect(&mut self, set: &ClosedSet, monitor: &dyn Monitor) -> Result<(), Stop> {
        self.walk(set, monitor, Collector::add)?;
        if let Some(gaps) = self.gaps {
            self.choose_compared(&gaps);
            self.walk(set, monitor, Collector::compare)?;
        }
        Ok(())
    }

    fn walk(
        &mut self,
        set: &ClosedSet,
        monitor: &dyn Monitor,
        visit: fn(&mut Collector<'a>, &State),
    ) -> Result<(), Stop> {
        let mut state = State::default();
        for (at, packed) in set.states.iter().enumerate() {
            if at % 4096 == 0 {
                let progress = Progress { phase: "explaining", states: at, ..Progress::default() };
                monitor.observe(&progress)?;
            }
            if state.unpack(self.shapes.len(), packed).is_some() && self.fits(&state) {
                visit(self, &state);
            }
        }
        Ok(())
    }

    /// Whether a state has the values its control asks for; a checked certificate holds no other.
    fn fits(&self, state: &State) -> bool {
        let shapes = self.shapes.iter().zip(&state.locals).map(|(all, id)| all.get(*id as usize));
        let own: Option<usize> = shapes.map(|shape| shape.map(|shape| shape.slots.len())).sum();
        own.is_some_and(|own| self.task.program.variables.len() + own == state.values.len())
            && self.shapes.len() == self.places.len()
    }

    fn add(&mut self, state: &State) {
        let variables = self.task.program.variables.len();
        let mut base = variables;
        for thread in 0..self.shapes.len() {
            let id = state.locals[thread] as usize;
            let shape = &self.shapes[thread][id];
            let own = &state.values[base..base + shape.slots.len()];
            base += own.len();
            let Some(place) = self.places[thread].get_mut(shape.loc.index()) else { continue };
            let facts = place.get_or_insert_with(|| Box::new(Facts::new(variables, self.labels.len())));
            facts.memory.iter_mut().zip(&state.values).for_each(|(values, value)| values.add(*value));
            for (slot, value) in shape.slots.iter().zip(own) {
                if let Slot::Register(_, register) = slot {
                    facts.registers.entry(register.index()).or_insert_with(Values::none).add(*value);
                }
            }
            facts.buffer.add(&content(&self.locals[thread][id], shape, own, self.gaps.as_ref()));
            for other in (0..self.shapes.len()).filter(|other| *other != thread) {
                let stands = &self.shapes[other][state.locals[other] as usize];
                stands.labels.iter().for_each(|label| facts.met[*label] = true);
            }
        }
    }

    /// The slots of each thread that leave the window somewhere.
    fn choose_compared(&mut self, gaps: &Gaps) {
        let leaves = |values: &Values| values.leave(gaps);
        for (thread, places) in self.places.iter_mut().enumerate() {
            let facts = || places.iter().flatten();
            let variables = (0..self.task.program.variables.len())
                .filter(|v| facts().any(|f| leaves(&f.memory[*v])))
                .map(|v| Slot::Memory(VarId::new(v)));
            let registers = (0..self.task.program.threads[thread].registers.len())
                .filter(|r| facts().any(|f| f.registers.get(r).is_some_and(leaves)))
                .map(|r| Slot::Register(ThreadId::new(thread), program::RegId::new(r)));
            let slots: Vec<Slot> = variables.chain(registers).collect();
            let slots = if slots.len() > COMPARED { Vec::new() } else { slots };
            let pairs = slots.len() * slots.len().saturating_sub(1) / 2;
            places.iter_mut().flatten().for_each(|f| f.orders = vec![Order::none(); pairs]);
            self.compared[thread] = slots;
        }
    }

    fn compare(&mut self, state: &State) {
        let precision = self.gaps.map_or(0, |gaps| gaps.precision);
        let mut base = self.task.program.variables.len();
        for thread in 0..self.shapes.len() {
            let shape = &self.shapes[thread][state.locals[thread] as usize];
            let own = &state.values[base..base + shape.slots.len()];
            base += own.len();
            let value = |slot: &Slot| match slot {
                Slot::Memory(variable) => Some(state.values[variable.index()]),
                _ => shape.slots.iter().position(|s| s == slot).map(|at| own[at]),
            };
            let values: Vec<Option<i64>> = self.compared[thread].iter().map(value).collect();
            let place = self.places[thread].get_mut(shape.loc.index());
            let Some(facts) = place.and_then(Option::as_mut) else { continue };
            for (order, (a, b)) in facts.orders.iter_mut().zip(pairs(values.len())) {
                if let (Some(a), Some(b)) = (values[a], values[b]) {
                    order.add(a, b, precision);
                }
            }
        }
    }

    /// What was found, in sentences.
    pub(super) fn sentences(&self) -> Vec<Vec<Option<Vec<String>>>> {
        let thread = |(thread, places): (usize, &Vec<Option<Box<Facts>>>)| {
            places.iter().map(|facts| facts.as_ref().map(|facts| self.place(thread, facts))).collect()
        };
        self.places.iter().enumerate().map(thread).collect()
    }

    fn place(&self, thread: usize, facts: &Facts) -> Vec<String> {
        let program = self.task.program;
        let variables = program.variables.iter().map(|variable| &variable.name).zip(&facts.memory);
        let registers = &program.threads[thread].registers;
        let registers = facts.registers.iter().map(|(register, values)| (&registers[*register], values));
        let mut sentences = self.grouped(variables.collect());
        sentences.extend(self.grouped(registers.collect()));
        let name = |slot: &Slot| match slot {
            Slot::Memory(variable) => program.variable(*variable).name.clone(),
            Slot::Register(thread, register) => program.thread(*thread).registers[register.index()].clone(),
            _ => String::new(),
        };
        let slots = &self.compared[thread];
        let new = |order: &Order, a: &Slot, b: &Slot| {
            let values = facts.values(a).zip(facts.values(b)).zip(self.gaps);
            values.is_some_and(|((a, b), gaps)| !order.follows(a, b, &gaps))
        };
        for (order, (a, b)) in facts.orders.iter().zip(pairs(slots.len())) {
            let (a, b) = (&slots[a], &slots[b]);
            sentences.extend(order.sentence(&name(a), &name(b)).filter(|_| new(order, a, b)));
        }
        let buffers = !program.variables.is_empty() && self.task.model.place(&[], VarId::new(0)).is_some();
        if buffers {
            sentences.push(facts.buffer.sentence(&|variable| program.variables[variable].name.clone()));
        }
        sentences.extend(self.absent(thread, facts));
        sentences
    }

    /// Names with the same values share a sentence.
    fn grouped(&self, named: Vec<(&String, &Values)>) -> Vec<String> {
        let mut groups: Vec<(String, Vec<String>, &Values)> = Vec::new();
        for (name, values) in named {
            let Some(fact) = values.predicate(self.gaps.as_ref(), false) else { continue };
            match groups.iter_mut().find(|(known, ..)| *known == fact) {
                Some((_, names, _)) => names.push(name.clone()),
                None => groups.push((fact, vec![name.clone()], values)),
            }
        }
        let sentence = |(fact, names, values): &(String, Vec<String>, &Values)| {
            let plural = names.len() > 1;
            let fact = values.predicate(self.gaps.as_ref(), plural).unwrap_or_else(|| fact.clone());
            format!("{} {fact}", listed(names, "and"))
        };
        groups.iter().map(sentence).collect()
    }

    /// The labels that no other thread stands at meanwhile.
    fn absent(&self, thread: usize, facts: &Facts) -> Vec<String> {
        let mut names: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for (label, met) in self.labels.iter().zip(&facts.met) {
            if label.thread != thread && !met {
                names.entry(label.thread).or_default().push(label.name.clone());
            }
        }
        let threads = &self.task.program.threads;
        let sentence = |(other, labels): (&usize, &Vec<String>)| {
            format!("{} is never at {}", threads[*other].name, listed(labels, "or"))
        };
        names.iter().map(sentence).collect()
    }
}

impl Facts {
    fn new(variables: usize, labels: usize) -> Facts {
        Facts {
            memory: vec![Values::none(); variables],
            registers: BTreeMap::new(),
            buffer: Contents::none(),
            met: vec![false; labels],
            orders: Vec::new(),
        }
    }

    fn values(&self, slot: &Slot) -> Option<&Values> {
        match slot {
            Slot::Memory(variable) => self.memory.get(variable.index()),
            Slot::Register(_, register) => self.registers.get(&register.index()),
            _ => None,
        }
    }
}

/// The labels that some state has a thread at.
fn labels(task: &Task<'_>, set: &ClosedSet) -> Vec<Label> {
    let mut labels: Vec<Label> = Vec::new();
    for (at, thread) in task.program.threads.iter().enumerate() {
        let stands = |loc: Loc| set.locals.get(at).is_some_and(|locals| locals.iter().any(|l| l.loc == loc));
        let named = |loc: &Loc| !thread.location(*loc).labels.is_empty();
        for loc in thread.locs().filter(named).filter(|loc| stands(*loc)) {
            if labels.len() > LABELS {
                return Vec::new();
            }
            for name in &thread.location(loc).labels {
                match labels.iter_mut().find(|label| label.thread == at && label.name == *name) {
                    Some(label) => label.locs.push(loc),
                    None => labels.push(Label { thread: at, name: name.clone(), locs: vec![loc] }),
                }
            }
        }
    }
    labels
}

/// What a buffer holds, with the values that are known exactly.
fn content(local: &Local, shape: &Shape, own: &[i64], gaps: Option<&Gaps>) -> Vec<Content> {
    let entries = shape.slots.iter().zip(own).filter(|(slot, _)| matches!(slot, Slot::Buffer(..)));
    let mut values = entries.map(|(_, value)| *value);
    let exact = |value: &i64| gaps.is_none_or(|gaps| gaps.in_window(*value));
    let entry = |entry: &Entry| match entry {
        Entry::Store(variable) => Some((variable.index(), values.next().filter(exact))),
        Entry::Barrier => None,
    };
    local.buffer.iter().map(entry).collect()
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}
