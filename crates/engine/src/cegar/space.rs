//! The control of an abstract machine, numbered, with its symbolic steps worked out once.
//!
//! A thread's steps depend on its own control and on what threads share; a whole
//! control is one number per thread beside that. Where a thread may go first ([`LocalFirst`]), only its edges
//! are listed; where it may wait for its stores, its edges are not.

use super::classes::{Class, Classes};
use crate::growth::Doubling;
use evidence::symbolic::{AtomCases, Step, Vocabulary, start_cases, steps, violations};
use logic::Atom;
use machine::{Buffered, Event, LocalFirst, Machine, Model, Recall, Slot, Statement, Violation};
use program::{Loc, Program, Property, Renaming, Span, ThreadId};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::hash::Hash;
use std::ops::Range;
use std::rc::Rc;

/// The abstract machine's control as numbers.
pub(crate) struct Space<'p, M: Machine = Buffered<'p>> {
    pub(crate) program: &'p Program,
    machine: M,
    first: LocalFirst,
    locals: Vec<Locals<M::Local>>,
    steps: Vec<Numbered<M>>,
    of_local: FxHashMap<(ThreadId, M::Global, u32), Rc<[u32]>>,
    controls: Vec<Control<M::Global>>,
    numbers: FxHashMap<Control<M::Global>, u32>,
    /// Steps, each with the control it leads to: those from one control lie behind each other.
    listed: Vec<(u32, u32)>,
    /// Where those of a control lie.
    successors: Vec<Option<Range<usize>>>,
    wrong: Vec<Option<Wrong>>,
    /// What is violated in most controls.
    nothing: Wrong,
    classes: Option<Classes<'p, M>>,
}

/// What is violated in a control, and under which constraints.
pub(crate) type Wrong = Rc<[(Violation, Vec<Atom>)]>;

struct Locals<L> {
    shapes: Vec<L>,
    numbers: FxHashMap<L, u32>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Control<G> {
    pub(crate) global: G,
    pub(crate) locals: SmallVec<[u32; 4]>,
}

/// A step of a machine.
pub(crate) type StepOf<M> = Step<<M as Machine>::Global, <M as Machine>::Local>;

struct Numbered<M: Machine> {
    step: StepOf<M>,
    local: u32,
}

/// What is written here is not linear.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NotLinearAt(pub(crate) Span);

/// The cases of what is assumed of initial values.
pub(crate) fn start_cases_of(
    program: &Program,
    vocabulary: &mut Vocabulary,
) -> Result<AtomCases, NotLinearAt> {
    let span = program.starts.first().map_or(Span::NONE, |start| start.span);
    start_cases(vocabulary, program).map_err(|_| NotLinearAt(span))
}

impl<'p> Space<'p> {
    /// Of the machine that recalls so much of its buffers.
    pub(crate) fn new(program: &'p Program, model: Model, recall: Recall, reduce: bool) -> Space<'p> {
        let machine = Buffered::recalling(program, model, recall);
        let first = if reduce { LocalFirst::new(program, model) } else { LocalFirst::nobody(program) };
        Space::over(program, machine, first)
    }

    /// The same, where controls count up to the names of threads; none of these renamings changes what a step or a claim means.
    pub(crate) fn up_to(self, group: Vec<Renaming>) -> Space<'p> {
        let classes = Some(Classes::new(self.machine.clone(), group));
        Space { classes, ..self }
    }
}

impl<'p, M: Machine> Space<'p, M> {
    /// Of a machine of this program.
    pub(crate) fn over(program: &'p Program, machine: M, first: LocalFirst) -> Space<'p, M> {
        let nothing = || Locals { shapes: Vec::new(), numbers: FxHashMap::default() };
        let locals = program.threads.iter().map(|_| nothing()).collect();
        let mut space = Space {
            program,
            machine,
            first,
            locals,
            steps: Vec::new(),
            of_local: FxHashMap::default(),
            controls: Vec::new(),
            numbers: FxHashMap::default(),
            listed: Vec::new(),
            successors: Vec::new(),
            wrong: Vec::new(),
            nothing: Rc::new([]),
            classes: None,
        };
        let (global, shapes) = space.machine.initial();
        let local = |(t, shape): (usize, &M::Local)| space.locals[t].number(shape);
        let locals = shapes.iter().enumerate().map(local).collect();
        space.number(Control { global, locals });
        space
    }

    /// Bytes that numbering so many more controls may take at once.
    pub(crate) fn growth(&self, more: usize) -> usize {
        self.controls.growth(more)
            + self.listed.growth(more)
            + self.successors.growth(more)
            + self.wrong.growth(more)
            + self.numbers.growth(more)
    }

    /// How many controls are known.
    pub(super) fn len(&self) -> usize {
        self.controls.len()
    }

    /// The number of a control; the initial one is 0.
    fn number(&mut self, control: Control<M::Global>) -> u32 {
        if let Some(known) = self.numbers.get(&control) {
            return *known;
        }
        let next = self.controls.len() as u32;
        self.numbers.insert(control.clone(), next);
        self.controls.push(control);
        self.successors.push(None);
        self.wrong.push(None);
        next
    }

    pub(crate) fn control(&self, number: u32) -> &Control<M::Global> {
        &self.controls[number as usize]
    }

    /// The renamings up to which controls count; none if they do not.
    pub(crate) fn group(&self) -> &[Renaming] {
        self.classes.as_ref().map_or(&[], Classes::group)
    }

    /// The class of a control, if controls count up to names.
    pub(crate) fn class(&mut self, number: u32) -> Option<Class> {
        if let Some(known) = self.classes.as_ref()?.known(number) {
            return Some(known);
        }
        let shapes = self.shapes(number);
        let locals = &mut self.locals;
        let mut numbered = |thread: ThreadId, local: &M::Local| locals[thread.index()].number(local);
        let control = &self.controls[number as usize];
        Some(self.classes.as_mut()?.class(number, control, &shapes, &mut numbered))
    }

    pub(crate) fn shapes(&self, number: u32) -> Vec<M::Local> {
        let locals = &self.control(number).locals;
        locals.iter().zip(&self.locals).map(|(local, all)| all.shapes[*local as usize].clone()).collect()
    }

    /// Whether some store of a control was forgotten.
    pub(crate) fn forgets(&self, number: u32) -> bool {
        let mut threads = self.program.thread_ids().zip(&self.control(number).locals);
        threads.any(|(thread, local)| {
            self.slots(thread, *local).iter().any(|slot| matches!(slot, Slot::Last(..)))
        })
    }

    /// The machine.
    pub(crate) fn machine(&self) -> &M {
        &self.machine
    }

    pub(crate) fn step(&self, number: u32) -> &StepOf<M> {
        &self.steps[number as usize].step
    }

    /// The slots of a thread in one of its controls.
    pub(crate) fn slots(&self, thread: ThreadId, local: u32) -> Vec<Slot> {
        let mut slots = Vec::new();
        self.machine.slots(thread, &self.locals[thread.index()].shapes[local as usize], &mut slots);
        slots
    }

    /// What is violated in a control.
    pub(crate) fn wrong(&mut self, number: u32, vocabulary: &mut Vocabulary) -> Result<Wrong, NotLinearAt> {
        if let Some(wrong) = &self.wrong[number as usize] {
            return Ok(wrong.clone());
        }
        let standing = self.machine.standing(&self.shapes(number));
        let program = self.program;
        let wrong = violations(vocabulary, program, &standing)
            .map_err(|_| NotLinearAt(property_at_fault(program, &standing, vocabulary)))?;
        let wrong = if wrong.is_empty() { self.nothing.clone() } else { wrong.into() };
        self.wrong[number as usize] = Some(wrong.clone());
        Ok(wrong)
    }

    /// A step by its number, and the control it leads to.
    #[inline]
    pub(crate) fn successor(&self, number: usize) -> (u32, u32) {
        self.listed[number]
    }

    /// Numbers of the steps from a control.
    pub(crate) fn successors(
        &mut self,
        number: u32,
        vocabulary: &mut Vocabulary,
    ) -> Result<Range<usize>, NotLinearAt> {
        if let Some(known) = &self.successors[number as usize] {
            return Ok(known.clone());
        }
        let control = self.control(number).clone();
        let standing = self.machine.standing(&self.shapes(number));
        let alone = self.first.thread(standing.iter().copied());
        let from = self.listed.len();
        for thread in self.program.thread_ids().filter(|t| alone.is_none_or(|only| only == *t)) {
            let local = control.locals[thread.index()];
            let (loc, drained) = standing[thread.index()];
            let waits = self.first.waits(thread, loc, drained);
            for step in self.local_steps(thread, &control.global, local, vocabulary)?.iter() {
                let numbered = &self.steps[*step as usize];
                let drains = matches!(numbered.step.event, Event::Drain { .. });
                if if drains { alone.is_some() } else { waits } {
                    continue;
                }
                let mut next =
                    Control { global: numbered.step.global.clone(), locals: control.locals.clone() };
                next.locals[thread.index()] = numbered.local;
                let to = self.number(next);
                self.listed.push((*step, to));
            }
        }
        let found = from..self.listed.len();
        self.successors[number as usize] = Some(found.clone());
        Ok(found)
    }

    fn local_steps(
        &mut self,
        thread: ThreadId,
        global: &M::Global,
        local: u32,
        vocabulary: &mut Vocabulary,
    ) -> Result<Rc<[u32]>, NotLinearAt> {
        let key = (thread, global.clone(), local);
        if let Some(known) = self.of_local.get(&key) {
            return Ok(known.clone());
        }
        let shape = self.locals[thread.index()].shapes[local as usize].clone();
        let (mut found, mut moves) = (Vec::new(), Vec::new());
        self.machine.moves(thread, global, &shape, &mut moves);
        for step in moves {
            let span = Statement::of(self.program, step.event).span;
            let cases = steps(vocabulary, &step).map_err(|_| NotLinearAt(span))?;
            for step in cases {
                let local = self.locals[thread.index()].number(&step.local);
                found.push(self.steps.len() as u32);
                self.steps.push(Numbered { step, local });
            }
        }
        let found: Rc<[u32]> = found.into();
        self.of_local.insert(key, found.clone());
        Ok(found)
    }
}

impl<L: Clone + Eq + Hash> Locals<L> {
    fn number(&mut self, shape: &L) -> u32 {
        if let Some(known) = self.numbers.get(shape) {
            return *known;
        }
        let number = self.shapes.len() as u32;
        self.shapes.push(shape.clone());
        self.numbers.insert(shape.clone(), number);
        number
    }
}

/// Where the first property stands that is not linear in a control.
fn property_at_fault(program: &Program, standing: &[(Loc, bool)], vocabulary: &mut Vocabulary) -> Span {
    let mut alone = program.clone();
    let mut faulty = |property: &&Property| {
        alone.properties = vec![(*property).clone()];
        violations(vocabulary, &alone, standing).is_err()
    };
    program.properties.iter().find(&mut faulty).map_or(Span::NONE, |property| property.span)
}
