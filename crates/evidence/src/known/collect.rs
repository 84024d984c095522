//! One walk over all states of a certificate, collecting what each place has in common.

use super::Places;
use super::cubes::EVERY;
use super::facts::{Contents, Exactly, SeenValues, ValueOrder};
use super::labels::{ReachedLabel, absent, labels};
use super::say::{PlaceFacts, SaidFact, SlotKind, buffer_holds, sentences};

use crate::{ClosedSet, Monitor, Progress, Stop, Task};
use machine::{Gaps, Local, Machine, Pooled, Slot, State};
use program::{AuthoredRegisters, Loc, RegId, ThreadId, VarId, Variable};
use std::collections::{BTreeMap, HashSet};

/// Among more values than this, no pairs are compared.
const COMPARED: usize = 12;

/// What the states seen with a thread at a location, or all states, have in common.
#[derive(Clone, Default)]
struct CommonFacts {
    memory: Vec<SeenValues>,
    registers: BTreeMap<usize, SeenValues>,
    buffer: Contents,
    /// Of buffers as sets: the values on their way, by variable, and whether there may be none.
    stores: BTreeMap<usize, SeenValues>,
    drained: bool,
    /// Which labels other threads have stood at.
    met: Vec<bool>,
    orders: Vec<ValueOrder>,
}

/// What a thread's control number means, worked out once.
struct ControlShape<'a> {
    local: &'a Local,
    /// The thread's values, in order.
    slots: Vec<Slot>,
    /// The labels it stands at.
    labels: Vec<usize>,
}

pub(super) struct Collector<'a> {
    task: &'a Task<'a>,
    gaps: Option<Gaps>,
    /// Set if stores are sets of values.
    pools: Option<&'a Pooled<'a>>,
    exactly: Exactly,
    named: AuthoredRegisters,
    labels: Vec<ReachedLabel>,
    shapes: Vec<Vec<ControlShape<'a>>>,
    /// For each thread, the slots whose order is looked at: variables and registers.
    compared: Vec<Vec<Slot>>,
    places: Vec<Vec<Option<Box<CommonFacts>>>>,
    /// The variables whose order is looked at in all states.
    compared_everywhere: Vec<Slot>,
    everywhere: CommonFacts,
    buffered: bool,
}

impl<'a> Collector<'a> {
    pub(super) fn new(
        task: &'a Task<'a>,
        (gaps, pools): (Option<Gaps>, Option<&'a Pooled<'a>>),
        set: &'a ClosedSet,
    ) -> Collector<'a> {
        let program = task.program;
        let machine = task.machine();
        let stands = |at: usize, loc: Loc| {
            set.controls.locals.get(at).is_some_and(|locals| locals.iter().any(|local| local.loc == loc))
        };
        let labels = labels(program, stands);
        let shape = |thread: usize, local: &'a Local| {
            let mut slots = Vec::new();
            let known = local.loc.index() < program.threads[thread].locs().count();
            if known {
                machine.slots(ThreadId::new(thread), local, &mut slots);
            }
            let here = |label: &ReachedLabel| label.thread == thread && label.locs.contains(&local.loc);
            let labels = labels.iter().enumerate().filter(|(_, label)| here(label)).map(|(at, _)| at);
            ControlShape { local, slots, labels: labels.collect() }
        };
        let threads = set.controls.locals.iter().take(program.threads.len()).enumerate();
        let shapes = threads.map(|(t, locals)| locals.iter().map(|l| shape(t, l)).collect()).collect();
        Collector {
            task,
            gaps,
            pools,
            exactly: Exactly::of(gaps),
            named: AuthoredRegisters::of(program),
            labels,
            shapes,
            compared: vec![Vec::new(); program.threads.len()],
            places: program.threads.iter().map(|t| t.locs().map(|_| None).collect()).collect(),
            compared_everywhere: Vec::new(),
            everywhere: CommonFacts::new(program.variables.len(), 0),
            buffered: false,
        }
    }

    /// Looks at all states; for gap certificates twice, because only values that leave the window
    /// are worth comparing, and which do is known afterwards.
    pub(super) fn collect(&mut self, set: &ClosedSet, monitor: &dyn Monitor) -> Result<(), Stop> {
        self.walk(set, monitor, Collector::add)?;
        if self.gaps.is_some() {
            self.choose_compared();
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
        let exactly = self.exactly;
        self.everywhere.add_memory(&state.values, exactly);
        let mut base = variables;
        for thread in 0..self.shapes.len() {
            let shape = &self.shapes[thread][state.locals[thread] as usize];
            let own = &state.values[base..base + shape.slots.len()];
            base += own.len();
            let Some(place) = self.places[thread].get_mut(shape.local.loc.index()) else { continue };
            let facts = place.get_or_insert_with(|| Box::new(CommonFacts::new(variables, self.labels.len())));
            facts.add_memory(&state.values, exactly);
            for (slot, value) in shape.slots.iter().zip(own) {
                if let Slot::Register(_, register) = slot {
                    facts.registers.entry(register.index()).or_default().add(*value, exactly);
                }
            }
            let buffered = shape.slots.iter().zip(own).filter(|(slot, _)| slot.buffered().is_some());
            self.buffered |= !shape.local.drained();
            facts.drained |= shape.local.drained();
            match self.pools {
                Some(pools) => facts.add_stores(pools, buffered, exactly),
                None => facts.buffer.add(&shape.local.kept, buffered.map(|(_, value)| *value), exactly),
            }
            for other in (0..self.shapes.len()).filter(|other| *other != thread) {
                let stands = &self.shapes[other][state.locals[other] as usize];
                stands.labels.iter().for_each(|label| facts.met[*label] = true);
            }
        }
    }

    /// The slots of each thread that leave the window somewhere.
    fn choose_compared(&mut self) {
        let exactly = self.exactly;
        let variables = self.task.program.variables.len();
        for (thread, places) in self.places.iter_mut().enumerate() {
            let id = ThreadId::new(thread);
            let facts = || places.iter().flatten();
            let variables = (0..variables)
                .filter(|v| facts().any(|f| f.memory[*v].leave(exactly)))
                .map(|v| Slot::Memory(VarId::new(v)));
            let registers = (0..self.task.program.threads[thread].registers.len())
                .filter(|r| facts().any(|f| f.registers.get(r).is_some_and(|values| values.leave(exactly))))
                .filter(|r| self.named.mentions(self.task.program, id, RegId::new(*r)))
                .map(|r| Slot::Register(id, RegId::new(r)));
            let slots = few(variables.chain(registers).collect());
            places.iter_mut().flatten().for_each(|facts| facts.compare(slots.len()));
            self.compared[thread] = slots;
        }
        let leave = |v: &usize| self.everywhere.memory[*v].leave(exactly);
        self.compared_everywhere =
            few((0..variables).filter(leave).map(|v| Slot::Memory(VarId::new(v))).collect());
        self.everywhere.compare(self.compared_everywhere.len());
    }

    fn compare(&mut self, state: &State) {
        let precision = self.gaps.map_or(0, |gaps| gaps.precision);
        let in_memory = |slot: &Slot| match slot {
            Slot::Memory(variable) => Some(state.values[variable.index()]),
            _ => None,
        };
        self.everywhere.add_orders(self.compared_everywhere.iter().map(in_memory).collect(), precision);
        let mut base = self.task.program.variables.len();
        for thread in 0..self.shapes.len() {
            let shape = &self.shapes[thread][state.locals[thread] as usize];
            let own = &state.values[base..base + shape.slots.len()];
            base += own.len();
            let value = |slot: &Slot| match slot {
                Slot::Memory(_) => in_memory(slot),
                _ => shape.slots.iter().position(|s| s == slot).map(|at| own[at]),
            };
            let values: Vec<Option<i64>> = self.compared[thread].iter().map(value).collect();
            let place = self.places[thread].get_mut(shape.local.loc.index());
            if let Some(facts) = place.and_then(Option::as_mut) {
                facts.add_orders(values, precision);
            }
        }
    }

    /// What holds in all states, and what was found place by place, in sentences.
    pub(super) fn sentences(&self) -> (Vec<String>, Places) {
        let everywhere = self.everywhere();
        let known: HashSet<SaidFact> = everywhere.iter().cloned().collect();
        let place = |thread: usize, facts: &CommonFacts| PlaceFacts::new(&self.place(thread, facts), &known);
        let thread = |(thread, places): (usize, &Vec<Option<Box<CommonFacts>>>)| {
            places.iter().map(|facts| facts.as_ref().map(|facts| place(thread, facts))).collect()
        };
        (sentences(&everywhere), self.places.iter().enumerate().map(thread).collect())
    }

    fn everywhere(&self) -> Vec<SaidFact> {
        let mut known = self.memory(&self.everywhere);
        known.extend(self.orders(&self.everywhere, &self.compared_everywhere));
        if self.task.buffers() && !self.buffered {
            known.push(SaidFact::That("all buffers are empty".to_string()));
        }
        known
    }

    fn place(&self, thread: usize, facts: &CommonFacts) -> Vec<SaidFact> {
        let program = self.task.program;
        let id = ThreadId::new(thread);
        let mut known = self.memory(facts);
        for (register, values) in &facts.registers {
            if self.named.mentions(program, id, RegId::new(*register)) {
                let name = program.threads[thread].registers[*register].clone();
                known.extend(values.fact(SlotKind::Register, name, self.exactly));
            }
        }
        known.extend(self.orders(facts, &self.compared[thread]));
        let name = |variable: usize| program.variables[variable].name.clone();
        match self.pools {
            Some(_) => known.extend(facts.of_stores(&name, self.exactly)),
            None if self.task.buffers() => {
                known.push(SaidFact::That(facts.buffer.sentence(&name, self.exactly)));
            }
            None => {}
        }
        known.extend(absent(program, thread, &self.labels, &facts.met));
        known
    }

    fn memory(&self, facts: &CommonFacts) -> Vec<SaidFact> {
        let variables = self.task.program.variables.iter().zip(&facts.memory);
        let fact = |(variable, values): (&Variable, &SeenValues)| {
            values.fact(SlotKind::Variable, variable.name.clone(), self.exactly)
        };
        variables.filter_map(fact).collect()
    }

    /// How values compare, as far as that does not follow from the values alone.
    fn orders(&self, facts: &CommonFacts, slots: &[Slot]) -> Vec<SaidFact> {
        let program = self.task.program;
        let name = |slot: &Slot| match slot {
            Slot::Memory(variable) => program.variable(*variable).name.clone(),
            Slot::Register(thread, register) => program.thread(*thread).registers[register.index()].clone(),
            _ => String::new(),
        };
        let new = |order: &ValueOrder, a: &Slot, b: &Slot| {
            let values = facts.values(a).zip(facts.values(b));
            values.is_some_and(|(a, b)| !order.follows(a, b, self.exactly))
        };
        let orders = facts.orders.iter().zip(pairs(slots.len()));
        let told = orders.filter_map(|(order, (a, b))| {
            let (a, b) = (&slots[a], &slots[b]);
            order.sentence(&name(a), &name(b)).filter(|_| new(order, a, b))
        });
        told.map(SaidFact::That).collect()
    }
}

impl CommonFacts {
    fn new(variables: usize, labels: usize) -> CommonFacts {
        CommonFacts {
            memory: vec![SeenValues::default(); variables],
            met: vec![false; labels],
            ..CommonFacts::default()
        }
    }

    fn add_memory(&mut self, values: &[i64], exactly: Exactly) {
        self.memory.iter_mut().zip(values).for_each(|(known, value)| known.add(*value, exactly));
    }

    /// Adds what is on its way where older stores are sets.
    fn add_stores<'s>(
        &mut self,
        pools: &Pooled<'_>,
        stores: impl Iterator<Item = (&'s Slot, &'s i64)>,
        exactly: Exactly,
    ) {
        for (slot, value) in stores {
            let Some(variable) = slot.buffered().map(VarId::index) else { continue };
            let known = self.stores.entry(variable).or_default();
            match slot {
                Slot::Pool(..) => pools.members(variable, *value).for_each(|value| known.add(value, exactly)),
                _ => known.add(*value, exactly),
            }
        }
    }

    /// What is on its way, in sentences.
    fn of_stores(&self, name: &dyn Fn(usize) -> String, exactly: Exactly) -> Vec<SaidFact> {
        let names: Vec<String> = self.stores.keys().map(|variable| name(*variable)).collect();
        let values = self.stores.iter().filter_map(|(variable, values)| {
            values.fact(SlotKind::Buffered, format!("{EVERY}{}", name(*variable)), exactly)
        });
        std::iter::once(buffer_holds(&names, !self.drained)).chain(values).collect()
    }

    /// Prepares for comparing so many values.
    fn compare(&mut self, count: usize) {
        self.orders = vec![ValueOrder::default(); pairs(count).count()];
    }

    fn add_orders(&mut self, values: Vec<Option<i64>>, precision: i64) {
        for (order, (a, b)) in self.orders.iter_mut().zip(pairs(values.len())) {
            if let (Some(a), Some(b)) = (values[a], values[b]) {
                order.add(a, b, precision);
            }
        }
    }

    fn values(&self, slot: &Slot) -> Option<&SeenValues> {
        match slot {
            Slot::Memory(variable) => self.memory.get(variable.index()),
            Slot::Register(_, register) => self.registers.get(&register.index()),
            _ => None,
        }
    }
}

fn few(slots: Vec<Slot>) -> Vec<Slot> {
    if slots.len() > COMPARED { Vec::new() } else { slots }
}

fn pairs(count: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..count).flat_map(move |a| (a + 1..count).map(move |b| (a, b)))
}
