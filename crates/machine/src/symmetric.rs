//! States up to the names of threads: one of all that differ in names only is enough.
//!
//! A [`Renaming`] that preserves a program takes states to states and steps to steps, and a
//! violation to a violation. So of the states that the renamings of a group take to each other, one stands
//! for all, and a set of such representatives is a proof if for every successor of a state in it *some*
//! renaming of the group takes that to a state in it. Which one stands for the others does not
//! matter for that; here it is the least, by the threads' controls, then by values. Controls are ordered by what they
//! are and not by their numbers, which depend on who met what first: so all who share a search choose the same.
//!
//! Whether renamings preserve the program is checked where a [`Symmetric`] is made: nothing is believed.

use crate::reduced_domain::ReducedDomain;
use crate::successor_list::{ExactStep, SuccessorList};
use crate::{Buffered, DataDomain, Entry, Event, Local, Machine, Slot, State, Violation};
use num_traits::ToPrimitive;
use program::{Int, Op, Program, RegisterNames, Renaming, ThreadId, ValueNames};
use smallvec::SmallVec;

/// Groups of more renamings than this are not used as a whole.
const MOST_RENAMINGS: usize = 720;
/// Up to so many threads they are; a state of more has more successors, and each takes longer to compare under all names.
const FEW_THREADS: usize = 8;

/// The states of a domain up to the renamings of a group.
pub struct Symmetric<D> {
    inner: D,
    group: Vec<GroupElement>,
    /// By the new number of a thread and by renaming, the old one.
    old_threads: Vec<Vec<usize>>,
    /// By thread and the number of its control: what each renaming makes of it.
    images: Vec<Vec<Option<LocalImages>>>,
    /// By the number of a shared control, if it was met: what each renaming makes of it, and who is inside then.
    globals: Vec<Option<GlobalImages>>,
    /// The renamings of values that occur; the first changes nothing.
    names: Vec<Vec<(i64, i64)>>,
    listed: SuccessorList,
    /// The renamings that make a state least.
    best: Vec<usize>,
    image: State,
    least: State,
}

struct GroupElement {
    renaming: Renaming,
    /// By variable: its new number, and how its values are renamed.
    memory: Vec<(u32, u32)>,
}

/// For each renaming a shared control, and who is inside.
type GlobalImages = Box<[(u32, Option<ThreadId>)]>;

/// What each renaming makes of a thread's control.
struct LocalImages {
    images: Box<[Option<LocalImage>]>,
    /// The places of the images in the order of controls, as far as a word tells.
    keys: Box<[u64]>,
    /// Whether words tell all.
    exact: bool,
    /// Whether every renaming can be used.
    complete: bool,
}

/// A thread's control under new names.
struct LocalImage {
    id: u32,
    /// Says where it comes in the order of controls.
    local: Local,
    /// For each slot the old slot, and how its values are renamed; none if nothing changes.
    slots: Option<Box<[(u32, u32)]>>,
}

impl<'m, 'p: 'm, D> Symmetric<D>
where
    D: DataDomain<'m, Machine = Buffered<'p>>,
{
    /// The states of a domain up to the renamings that these generate; `None` if one does not preserve the
    /// program, or there are too many.
    pub fn new(inner: D, renamings: &[Renaming]) -> Option<Symmetric<D>> {
        let machine = inner.stepper().machine();
        let program = machine.program();
        if !machine.is_exact() || !renamings.iter().all(|renaming| renaming.preserves(program)) {
            return None;
        }
        let mut names = vec![Vec::new()];
        let all = closure(program, renamings)?;
        let group = all.into_iter().map(|renaming| GroupElement::new(renaming, &mut names));
        let group = group.collect::<Option<Vec<GroupElement>>>()?;
        if !names.iter().flatten().all(|(from, to)| inner.tells(*from) && inner.tells(*to)) {
            return None;
        }
        let mut old_threads = vec![vec![0; group.len()]; program.threads.len()];
        for (element, GroupElement { renaming, .. }) in group.iter().enumerate() {
            for thread in program.thread_ids() {
                old_threads[renaming.thread(thread).index()][element] = thread.index();
            }
        }
        let images = program.threads.iter().map(|_| Vec::new()).collect();
        let (listed, best) = (SuccessorList::default(), Vec::new());
        let (image, least) = (State::default(), State::default());
        let globals = Vec::new();
        Some(Symmetric { inner, group, old_threads, images, globals, names, listed, best, image, least })
    }

    /// Renames a state to the least one; the number of the renaming.
    fn minimise(&mut self, state: &mut State) -> usize {
        self.describe(state);
        let mut best = std::mem::take(&mut self.best);
        self.least_controls(state, &mut best);
        let mut chosen = best[0];
        if best.len() > 1 || chosen != 0 {
            let (mut image, mut least) = (std::mem::take(&mut self.image), std::mem::take(&mut self.least));
            self.rename(state, chosen, &mut least);
            for candidate in &best[1..] {
                self.rename(state, *candidate, &mut image);
                if image.values < least.values {
                    std::mem::swap(&mut image, &mut least);
                    chosen = *candidate;
                }
            }
            std::mem::swap(state, &mut least);
            (self.image, self.least) = (image, least);
        }
        self.best = best;
        chosen
    }

    /// The renamings that make a state's controls least, thread by thread. The first changes nothing, so there is one.
    fn least_controls(&self, state: &State, best: &mut Vec<usize>) {
        let rows = self.images.iter().zip(&state.locals);
        let rows: SmallVec<[&LocalImages; 8]> =
            rows.filter_map(|(images, local)| images[*local as usize].as_ref()).collect();
        let exact = rows.iter().all(|row| row.exact);
        best.clear();
        best.extend(0..self.group.len());
        for row in rows.iter().filter(|row| !row.complete) {
            best.retain(|element| row.images[*element].is_some());
        }
        for old in &self.old_threads {
            keep_least(best, |element| rows[old[element]].keys[element]);
            if !exact {
                keep_least(best, |element| {
                    rows[old[element]].images[element].as_ref().map(|image| &image.local)
                });
            }
        }
        keep_least(best, |element| self.global_image(state, element).map(|(_, inside)| inside));
    }

    #[inline]
    fn image_of(&self, thread: usize, state: &State, element: usize) -> Option<&LocalImage> {
        self.images[thread][state.locals[thread] as usize].as_ref()?.images[element].as_ref()
    }

    #[inline]
    fn global_image(&self, state: &State, element: usize) -> Option<(u32, Option<ThreadId>)> {
        self.globals[state.global as usize].as_ref().map(|images| images[element])
    }

    /// Writes a state under new names.
    fn rename(&self, state: &State, element: usize, out: &mut State) {
        let memory = &self.group[element].memory;
        out.global = self.global_image(state, element).map_or(state.global, |(id, _)| id);
        out.locals.clear();
        out.values.clear();
        out.values.resize(state.values.len(), 0);
        for (value, (to, names)) in state.values.iter().zip(memory) {
            out.values[*to as usize] = self.value(*names, *value);
        }
        let mut end = memory.len();
        for old in &self.old_threads {
            let old = old[element];
            let (base, count) = self.inner.stepper().segment(old, state);
            let from = &state.values[base..base + count];
            let to = &mut out.values[end..end + count];
            end += count;
            let Some(image) = self.image_of(old, state, element) else { continue };
            out.locals.push(image.id);
            match &image.slots {
                None => to.copy_from_slice(from),
                Some(slots) => {
                    for (value, (slot, names)) in to.iter_mut().zip(slots) {
                        *value = self.value(*names, from[*slot as usize]);
                    }
                }
            }
        }
    }

    fn value(&self, names: u32, value: i64) -> i64 {
        let names = &self.names[names as usize];
        names.iter().find(|(from, _)| *from == value).map_or(value, |(_, to)| *to)
    }

    /// Works out what the renamings make of a state's controls.
    fn describe(&mut self, state: &State) {
        let global = state.global as usize;
        if self.globals.len() <= global {
            self.globals.resize(global + 1, None);
        }
        if self.globals[global].is_none() {
            let inside = self.inner.stepper().globals().nth(global).copied().flatten();
            let image = |element: &GroupElement| {
                let new = inside.map(|thread| element.renaming.thread(thread));
                (self.inner.stepper_mut().global_id(&new), new)
            };
            self.globals[global] = Some(self.group.iter().map(image).collect());
        }
        for thread in 0..self.images.len() {
            let id = state.locals[thread] as usize;
            if self.images[thread].len() <= id {
                self.images[thread].resize_with(id + 1, || None);
            }
            if self.images[thread][id].is_none() {
                self.images[thread][id] = Some(self.row(ThreadId::new(thread), id));
            }
        }
    }

    fn row(&mut self, thread: ThreadId, id: usize) -> LocalImages {
        let local = self.inner.stepper().locals(thread).nth(id).cloned();
        let local = local.unwrap_or_else(|| Local::at(program::Loc::new(0)));
        let images: Box<[Option<LocalImage>]> =
            (0..self.group.len()).map(|element| self.local_image(thread, &local, element)).collect();
        // A renaming that cannot be used has no place.
        let place =
            |image: &Option<LocalImage>| image.as_ref().map_or((u64::MAX, true), |image| key(&image.local));
        let (keys, exact): (Vec<u64>, Vec<bool>) = images.iter().map(place).unzip();
        let (exact, complete) = (!exact.contains(&false), images.iter().all(Option::is_some));
        LocalImages { images, keys: keys.into(), exact, complete }
    }

    fn local_image(&mut self, thread: ThreadId, local: &Local, element: usize) -> Option<LocalImage> {
        let machine = self.inner.stepper().machine();
        let renaming = &self.group[element].renaming;
        let new_thread = renaming.thread(thread);
        let new = renamed_local(machine, renaming, thread, local)?;
        let (mut before, mut after) = (Vec::new(), Vec::new());
        machine.slots(thread, local, &mut before);
        machine.slots(new_thread, &new, &mut after);
        let names = |slot: &Slot| match *slot {
            Slot::Register(_, register) => renaming.register(thread, local.loc, register),
            Slot::Queued(_, variable, _) => &renaming.in_memory[variable.index()],
            _ => &renaming.in_memory[0],
        };
        let slot = |to: &Slot| {
            let from = before.iter().position(|slot| slot.renamed(renaming) == *to)?;
            Some((from as u32, number(names(&before[from]), &self.names)?))
        };
        let slots: Box<[(u32, u32)]> = after.iter().map(slot).collect::<Option<_>>()?;
        if slots.len() != before.len() {
            return None;
        }
        let plain = slots.iter().enumerate().all(|(at, (from, names))| *from as usize == at && *names == 0);
        let id = self.inner.stepper_mut().local_id(new_thread, &new);
        Some(LocalImage { id, local: new, slots: (!plain).then_some(slots) })
    }

    /// What a step is called under new names.
    fn renamed_step(&self, element: usize, (event, choice): ExactStep) -> ExactStep {
        let renaming = &self.group[element].renaming;
        let program = self.inner.stepper().machine().program();
        match event {
            Event::Drain { thread, variable } => {
                let (thread, variable) = (renaming.thread(thread), renaming.variable(variable));
                (Event::Drain { thread, variable }, choice)
            }
            Event::Step { thread, edge } => {
                let taken = program.thread(thread).edge(edge);
                let chosen = match taken.op {
                    Op::Havoc(register, _) => {
                        let names = renaming.register(thread, taken.to, register);
                        choice.map(|value| renamed_value(names, value).unwrap_or(value))
                    }
                    _ => choice,
                };
                // A renaming that preserves the program has an edge for every edge.
                let new = renaming.edge(program, thread, edge).unwrap_or(edge);
                (Event::Step { thread: renaming.thread(thread), edge: new }, chosen)
            }
        }
    }

    /// The successor by a step that becomes this state, and the renaming by which it does.
    fn before_renaming(&mut self, from: &State, step: ExactStep, to: &State) -> (State, usize) {
        for next in SuccessorList::by(&mut self.inner, from, step) {
            let mut least = next.clone();
            let element = self.minimise(&mut least);
            if least == *to {
                return (next, element);
            }
        }
        // A step of a path was listed, so it is found.
        (to.clone(), 0)
    }

    /// The renaming that undoes the first and then does the second.
    fn undone_then(&self, undone: usize, then: usize) -> usize {
        let composed = |element: &GroupElement| self.group[undone].renaming.then(&element.renaming);
        let wanted = &self.group[then].renaming;
        self.group.iter().position(|element| composed(element) == *wanted).unwrap_or(0)
    }
}

impl<'m, 'p: 'm, D> ReducedDomain<'m> for Symmetric<D>
where
    D: DataDomain<'m, Machine = Buffered<'p>>,
{
    type Machine = Buffered<'p>;

    fn inner(&self) -> &dyn DataDomain<'m, Machine = Buffered<'p>> {
        &self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn DataDomain<'m, Machine = Buffered<'p>> {
        &mut self.inner
    }

    fn list(&mut self, state: &State) {
        self.inner.prepare(state);
        let mut listed = std::mem::take(&mut self.listed);
        listed.fill(&self.inner, state, &mut self.image);
        for state in listed.states_from(0) {
            self.minimise(state);
        }
        self.listed = listed;
    }

    fn listed(&self) -> &SuccessorList {
        &self.listed
    }

    fn stand_in(&mut self, state: &mut State, _: &mut dyn FnMut(Event)) {
        self.minimise(state);
    }

    fn unfold(
        &mut self,
        first: &State,
        path: &[(ExactStep, State)],
        violation: Violation,
    ) -> (Vec<ExactStep>, Violation) {
        let mut all = Vec::new();
        for start in self.inner.initial().0 {
            let mut state = start.clone();
            let element = self.minimise(&mut state);
            if state == *first {
                let begun = self.inner.start(&start);
                all = begun.into_iter().map(|step| self.renamed_step(element, step)).collect();
                break;
            }
        }
        // What takes the states of the path to those of the run.
        let (mut from, mut back) = (first, 0);
        for (step, to) in path {
            let (next, element) = self.before_renaming(from, *step, to);
            let taken = self.inner.steps(from, *step, &next);
            all.extend(taken.into_iter().map(|step| self.renamed_step(back, step)));
            back = self.undone_then(element, back);
            from = to;
        }
        let renaming = &self.group[back].renaming;
        let violation = match violation {
            Violation::Failure(thread, loc) => {
                Violation::Failure(renaming.thread(thread), renaming.location(thread, loc))
            }
            Violation::Property(at) => {
                let program = self.inner.stepper().machine().program();
                Violation::Property(renaming.property(program, at).unwrap_or(at))
            }
        };
        (all, violation)
    }
}

/// Keeps those of which this is least.
fn keep_least<K: Ord>(all: &mut Vec<usize>, of: impl Fn(usize) -> K) {
    if all.len() > 1
        && let Some(least) = all.iter().map(|element| of(*element)).min()
    {
        all.retain(|element| of(*element) == least);
    }
}

/// The place of a thread's control in their order, as far as a word tells, and whether it tells all: the location, and of each
/// of the first four entries of the buffer a byte.
pub fn key(local: &Local) -> (u64, bool) {
    /// The byte of variables that are not told apart. What comes behind one must not count.
    const INDISTINCT: u64 = 0xfe;
    let mut key = (local.loc.index() as u64) << 32;
    let mut exact = local.kept.len() <= 4 && local.forgotten.is_empty();
    for (at, entry) in local.kept.iter().take(4).enumerate() {
        let byte = match entry {
            Entry::Store(variable) => (1 + variable.index() as u64).min(INDISTINCT),
            Entry::Barrier => 0xff,
        };
        key |= byte << (24 - 8 * at);
        if byte == INDISTINCT {
            exact = false;
            break;
        }
    }
    (key, exact)
}

impl GroupElement {
    /// `None` if a value does not fit 64 bits.
    fn new(renaming: Renaming, names: &mut Vec<Vec<(i64, i64)>>) -> Option<GroupElement> {
        let registers = renaming.in_registers.iter().flatten().flat_map(RegisterNames::values);
        for renamed in renaming.in_memory.iter().chain(registers) {
            let pairs = small(renamed)?;
            if !names.contains(&pairs) {
                names.push(pairs);
            }
        }
        let memory = renaming.variables.iter().zip(&renaming.in_memory);
        let memory = memory.map(|(v, renamed)| Some((v.index() as u32, number(renamed, names)?)));
        let memory = memory.collect::<Option<Vec<_>>>()?;
        Some(GroupElement { memory, renaming })
    }
}

/// All that renamings come to, one after the other, the identity first; `None` if there are too many.
pub fn closure(program: &Program, generators: &[Renaming]) -> Option<Vec<Renaming>> {
    let mut all = vec![Renaming::identity(program)];
    let mut at = 0;
    while at < all.len() {
        for generator in generators {
            let next = all[at].then(generator);
            if !all.contains(&next) {
                all.push(next);
            }
        }
        if all.len() > MOST_RENAMINGS {
            return None;
        }
        at += 1;
    }
    Some(all)
}

/// The renamings to use of those found: as many as make no group that is too large.
pub fn usable_renamings(program: &Program, mut found: Vec<Renaming>) -> Vec<Renaming> {
    let threads = program.threads.len().max(FEW_THREADS);
    let small = |all: Vec<Renaming>| all.len() * threads.pow(2) <= MOST_RENAMINGS * FEW_THREADS.pow(2);
    // With more to begin with, groups only grow.
    let usable = (1..=found.len()).take_while(|count| closure(program, &found[..*count]).is_some_and(small));
    found.truncate(usable.count());
    found
}

fn small(names: &ValueNames) -> Option<Vec<(i64, i64)>> {
    names.iter().map(|(from, to)| Some((from.to_i64()?, to.to_i64()?))).collect()
}

fn number(renamed: &ValueNames, names: &[Vec<(i64, i64)>]) -> Option<u32> {
    let pairs = small(renamed)?;
    names.iter().position(|known| *known == pairs).map(|at| at as u32)
}

/// A value under new names, if that fits 64 bits.
pub(crate) fn renamed_value(names: &ValueNames, value: i64) -> Option<i64> {
    names.get(&Int::from(value)).map_or(Some(value), ToPrimitive::to_i64)
}

/// A thread's control under new names. Stores queue as the model wants it.
pub fn renamed_local(
    machine: &Buffered<'_>,
    renaming: &Renaming,
    thread: ThreadId,
    local: &Local,
) -> Option<Local> {
    let mut new = Local::at(renaming.location(thread, local.loc));
    for entry in &local.kept {
        match *entry {
            Entry::Barrier => new.kept.push(Entry::Barrier),
            Entry::Store(variable) => {
                let variable = renaming.variable(variable);
                let place = machine.model().place(&new.kept, variable)?;
                new.kept.insert(place, Entry::Store(variable));
            }
        }
    }
    new.forgotten = local.forgotten.iter().map(|(v, several)| (renaming.variable(*v), *several)).collect();
    new.forgotten.sort_unstable();
    Some(new)
}

impl Slot {
    /// The slot under new names.
    pub fn renamed(self, renaming: &Renaming) -> Slot {
        let (thread, variable) = (|thread| renaming.thread(thread), |variable| renaming.variable(variable));
        match self {
            Slot::Memory(v) => Slot::Memory(variable(v)),
            Slot::Register(t, register) => Slot::Register(thread(t), register),
            Slot::Queued(t, v, n) => Slot::Queued(thread(t), variable(v), n),
            Slot::Last(t, v) => Slot::Last(thread(t), variable(v)),
            Slot::Pool(t, v) => Slot::Pool(thread(t), variable(v)),
            Slot::Newer(t, v) => Slot::Newer(thread(t), variable(v)),
        }
    }
}
