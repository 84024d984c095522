//! Whether a path of events can be taken, by symbolic execution.
//!
//! Every slot holds a linear expression over the values that were chosen freely; guards are
//! constraints on those. An event may have several moves in an abstraction (a drain takes the
//! last of the forgotten stores or one before it) and a move several cases: all are tried, depth
//! first, and given up as soon as the constraints contradict each other.

use super::space::{NotLinearAt, start_cases_of};
use super::{Halt, MayGoOn};
use evidence::symbolic::{Name, Step, Value, Vocabulary, WhichMember, steps, violations};
use logic::{Atom, Context, Linear, Model, Var};
use machine::{Event, Local, Slot, Statement, Trace, TraceStep, Violation, WithBuffers};
use program::{Domain, Int, Op, Program, Span, ThreadId, VarId};
use rustc_hash::FxHashMap;

/// A run in which events happen, with the values chosen.
pub(crate) struct Taken {
    pub(crate) initial: Vec<(VarId, Int)>,
    pub(crate) steps: Vec<TraceStep>,
}

impl Taken {
    /// The run as a trace of what it violates.
    pub(crate) fn violating(self, violation: Violation) -> Trace {
        Trace { initial: self.initial, steps: self.steps, violation }
    }
}

/// Follows events on a machine, on these very steps if they are given, to what was claimed to be
/// violated, if something was.
pub(crate) fn execute(
    machine: &impl WithBuffers,
    events: &[Event],
    only: Option<&[&Step]>,
    violation: Option<Violation>,
    (vocabulary, go_on): (&mut Vocabulary, MayGoOn<'_>),
) -> Result<Option<Taken>, Halt> {
    let program = machine.program();
    for case in start_cases_of(program, vocabulary)? {
        let mut inputs = Inputs::default();
        let first = PathState::initial(machine, &mut inputs);
        inputs.assume(&first, &case, vocabulary);
        let mut execution = Execution {
            machine,
            events,
            only,
            violation,
            vocabulary: &mut *vocabulary,
            go_on,
            inputs,
            context: Context::new(),
            frames: Vec::new(),
        };
        if let Some(taken) = execution.run(first)? {
            return Ok(Some(taken));
        }
    }
    Ok(None)
}

/// The values that are chosen freely, as variables.
#[derive(Default)]
struct Inputs {
    count: usize,
    initial: Vec<(VarId, Var)>,
    atoms: Vec<Atom>,
}

impl Inputs {
    fn fresh(&mut self) -> Var {
        self.count += 1;
        Var::at(self.count - 1)
    }
}

#[derive(Clone)]
struct PathState {
    holder: Option<ThreadId>,
    locals: Vec<Local>,
    values: FxHashMap<Slot, Linear>,
    pools: FxHashMap<Slot, Vec<Linear>>,
}

impl PathState {
    fn initial(machine: &impl WithBuffers, inputs: &mut Inputs) -> PathState {
        let program = machine.program();
        let (holder, locals) = machine.initial();
        let mut values = FxHashMap::default();
        for variable in program.variable_ids() {
            let value = match &program.variable(variable).initial {
                Domain::All => inputs.choose(variable, None),
                Domain::Range(low, high) if low == high => number(low),
                Domain::Range(low, high) => inputs.choose(variable, Some((low, high))),
            };
            values.insert(Slot::Memory(variable), value);
        }
        PathState { holder, locals, values, pools: FxHashMap::default() }
    }

    fn value(&self, slot: Slot) -> Linear {
        self.values.get(&slot).cloned().unwrap_or_else(|| Linear::constant_of(0i64))
    }
}

impl Inputs {
    /// Only what satisfies these constraints on the first state.
    fn assume(&mut self, first: &PathState, case: &[Atom], vocabulary: &Vocabulary) {
        let atoms = self.in_state(first, case, vocabulary);
        self.atoms.extend(atoms);
    }

    /// Atoms about a state, as constraints on what was chosen; whatever else they name is chosen now.
    fn in_state(&mut self, state: &PathState, atoms: &[Atom], vocabulary: &Vocabulary) -> Vec<Atom> {
        let mut fresh: FxHashMap<Name, Var> = FxHashMap::default();
        let mut replace = |var: Var| match vocabulary.name(var)? {
            Name::Slot(slot) => Some(state.value(slot)),
            name => Some(Linear::from(*fresh.entry(name).or_insert_with(|| self.fresh()))),
        };
        atoms.iter().map(|atom| atom.substitute_all(&mut replace)).collect()
    }

    fn choose(&mut self, variable: VarId, range: Option<(&Int, &Int)>) -> Linear {
        let var = self.fresh();
        self.initial.push((variable, var));
        if let Some((low, high)) = range {
            self.atoms.extend([Atom::ge(var, number(low)), Atom::le(var, number(high))]);
        }
        Linear::from(var)
    }
}

fn number(value: &Int) -> Linear {
    Linear::constant_of(logic::Int::from(value.clone()))
}

/// A step that could be next, with the number of the pool's member that it takes.
struct Alternative {
    step: Step,
    member: usize,
}

/// The members of a pool that may be taken, of so many, the oldest being 0. How many there are no control tells: the
/// only one may be any, and the oldest may stay, if it has to be that there are others.
pub(super) fn takes(which: WhichMember, count: usize) -> std::ops::Range<usize> {
    match which {
        WhichMember::Any | WhichMember::Only => 0..count,
        WhichMember::Oldest => 0..count.min(1),
    }
}

/// Leaves the members in a pool that stay when one was taken.
pub(super) fn leave<T>(which: WhichMember, members: &mut Vec<T>) {
    match which {
        WhichMember::Any => {}
        WhichMember::Oldest => drop(members.drain(..usize::from(members.len() > 1))),
        WhichMember::Only => members.clear(),
    }
}

/// A state on the path, and what is still to be tried from there.
struct Frame {
    state: PathState,
    alternatives: Vec<Alternative>,
    /// The value that the step to this state chose.
    chosen: Option<Var>,
    inputs: usize,
}

struct Execution<'a, M> {
    machine: &'a M,
    events: &'a [Event],
    only: Option<&'a [&'a Step]>,
    violation: Option<Violation>,
    vocabulary: &'a mut Vocabulary,
    go_on: MayGoOn<'a>,
    inputs: Inputs,
    context: Context,
    frames: Vec<Frame>,
}

impl<M: WithBuffers> Execution<'_, M> {
    fn run(&mut self, first: PathState) -> Result<Option<Taken>, Halt> {
        self.inputs.atoms.iter().for_each(|atom| self.context.assume(atom));
        self.enter(first, None)?;
        while !self.frames.is_empty() {
            if self.frames.len() == self.events.len() + 1
                && let Some(model) = self.violated()?
            {
                return Ok(Some(self.finish(&model)));
            }
            let Some(frame) = self.frames.last_mut() else { return Ok(None) };
            match frame.alternatives.pop() {
                None => {
                    self.frames.pop();
                    self.context.pop();
                }
                Some(alternative) => {
                    (self.go_on)()?;
                    self.try_step(&alternative)?;
                }
            }
        }
        Ok(None)
    }

    /// Goes on from a state; the context has its level already, or it is the first.
    fn enter(&mut self, state: PathState, chosen: Option<Var>) -> Result<(), NotLinearAt> {
        if self.frames.is_empty() {
            self.context.push();
        }
        let alternatives = match self.events.get(self.frames.len()) {
            Some(event) => self.alternatives(&state, *event)?,
            None => Vec::new(),
        };
        let inputs = self.inputs.count;
        self.frames.push(Frame { state, alternatives, chosen, inputs });
        Ok(())
    }

    /// What can be tried for an event, the most likely last.
    fn alternatives(&mut self, state: &PathState, event: Event) -> Result<Vec<Alternative>, NotLinearAt> {
        let thread = event.thread();
        let mut all: Vec<Step> = Vec::new();
        if let Some(only) = self.only {
            all.push(only[self.frames.len()].clone());
        } else {
            let mut moves = Vec::new();
            self.machine.moves(thread, &state.holder, &state.locals[thread.index()], &mut moves);
            for step in moves.iter().filter(|step| step.event == event) {
                let span = Statement::of(self.machine.program(), event).span;
                all.extend(steps(self.vocabulary, step).map_err(|_| NotLinearAt(span))?);
            }
        }
        let mut found = Vec::new();
        for step in all.into_iter().rev() {
            let members = step
                .taken
                .map_or(0..1, |(pool, which)| takes(which, state.pools.get(&pool).map_or(0, Vec::len)));
            found.extend(members.map(|member| Alternative { step: step.clone(), member }));
        }
        Ok(found)
    }

    fn try_step(&mut self, alternative: &Alternative) -> Result<(), NotLinearAt> {
        let Some(frame) = self.frames.last() else { return Ok(()) };
        self.inputs.count = frame.inputs;
        let mut next = frame.state.clone();
        let mut fresh: FxHashMap<Name, Var> = FxHashMap::default();
        let step = &alternative.step;
        let before = &frame.state;
        let inputs = &mut self.inputs;
        let vocabulary = &*self.vocabulary;
        let mut replace = |var: Var| match vocabulary.name(var) {
            Some(Name::Slot(slot)) => Some(before.value(slot)),
            Some(Name::Member(pool)) => before.pools.get(&pool).map(|all| all[alternative.member].clone()),
            Some(name) => Some(Linear::from(*fresh.entry(name).or_insert_with(|| inputs.fresh()))),
            None => None,
        };
        let guard: Vec<Atom> = step.guard.iter().map(|atom| atom.substitute_all(&mut replace)).collect();
        for (slot, value) in &step.set {
            let expr = value.linear().substitute_all(&mut replace);
            match (value, slot) {
                (_, Slot::Newer(..)) => {}
                (Value::Joins(_), _) => next.pools.entry(*slot).or_default().push(expr),
                (Value::Is(_), Slot::Pool(..)) => drop(next.pools.insert(*slot, vec![expr])),
                _ => drop(next.values.insert(*slot, expr)),
            }
        }
        if let Some((pool, which)) = step.taken
            && let Some(members) = next.pools.get_mut(&pool)
        {
            leave(which, members);
        }
        next.holder = step.global;
        next.locals[step.event.thread().index()] = step.local.clone();
        let chosen = fresh.get(&Name::Chosen).copied();
        self.context.push();
        guard.iter().for_each(|atom| self.context.assume(atom));
        if self.context.is_consistent() {
            return self.enter(next, chosen);
        }
        self.context.pop();
        Ok(())
    }

    /// Values under which the last state violates what was claimed.
    fn violated(&mut self) -> Result<Option<Model>, NotLinearAt> {
        let Some(frame) = self.frames.last() else { return Ok(None) };
        let Some(claimed) = self.violation else {
            return Ok(if self.context.is_consistent() { self.context.model() } else { None });
        };
        let program = self.machine.program();
        let standing = self.machine.standing(&frame.state.locals);
        let span = program.properties.first().map_or(Span::NONE, |property| property.span);
        let wrong = violations(self.vocabulary, program, &standing).map_err(|_| NotLinearAt(span))?;
        for (_, atoms) in wrong.iter().filter(|(violation, _)| *violation == claimed) {
            let atoms = self.inputs.in_state(&frame.state, atoms, self.vocabulary);
            self.context.push();
            atoms.iter().for_each(|atom| self.context.assume(atom));
            let model = if self.context.is_consistent() { self.context.model() } else { None };
            self.context.pop();
            if model.is_some() {
                return Ok(model);
            }
        }
        Ok(None)
    }

    fn finish(&self, model: &Model) -> Taken {
        let value = |var: Var| model.value(var).to_big();
        let program = self.machine.program();
        let step = |(event, frame): (&Event, &Frame)| TraceStep {
            event: *event,
            choice: choice(program, *event, frame.chosen.map(value)),
        };
        Taken {
            initial: self.inputs.initial.iter().map(|(variable, var)| (*variable, value(*var))).collect(),
            steps: self.events.iter().zip(&self.frames[1..]).map(step).collect(),
        }
    }
}

/// What a trace says about the value a step chose; a value for a dead register is forgotten.
fn choice(program: &Program, event: Event, chosen: Option<Int>) -> Option<Int> {
    let Event::Step { thread, edge } = event else { return None };
    match &program.thread(thread).edge(edge).op {
        Op::Havoc(_, domain) => Some(chosen.unwrap_or_else(|| domain.example())),
        _ => None,
    }
}
