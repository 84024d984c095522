//! All final states by dynamic partial-order reduction with source sets and sleep sets.
//!
//! Executions that differ only in the order of unrelated happenings end alike; one of each
//! class is enough. The search runs one execution to its end, then looks at every *race*: two
//! related happenings of different agents with nothing in between that orders them. To see
//! the other order, some agent that can start the reversed continuation must be tried where
//! the first of the two was taken, unless one is already (a source set). What was tried at a
//! place sleeps in its siblings until something related happens.
//!
//! Stateless: only the current execution is kept. It ends only where executions are finite,
//! so threads must not loop; no thread may wait for memory to change (a blocked agent would
//! have to be counted as racing with everything that could release it); and where a thread
//! has several ways to go on, all must wait for the same and read the same, so that the one
//! taken races with all that decides which ways there are. Otherwise [`reduced`] says so and
//! the caller explores all states instead.

use super::bits::Bits;
use super::happening::{Agents, Happening, Issued, MAX_VARIABLES, Relation, describe};
use evidence::{Monitor, Progress, Stop};
use machine::{Doubt, Event, Exact, Local, Machine, State, Statement, Stepper};
use program::{Fence, Loc, Op, Program, Thread, ThreadId};
use std::collections::BTreeSet;

/// How a reduced search ended.
#[derive(Debug)]
pub(super) enum Reduced {
    /// Every final state was reported.
    Complete { steps: usize },
    /// The budget of steps was used up.
    TooMany,
    /// The program is not of the kind this search can handle.
    Unsuited,
    /// The monitor stopped it.
    Stopped(Stop),
}

/// A label of a step: what happens, and the value chosen.
pub(super) type Label = (Event, Option<i64>);

/// What is told of a final state: where the run started, where it ended, and its steps.
pub(super) type Visit<'v, 'm, 'p> =
    dyn FnMut(&Stepper<'m, Exact<'p>>, &State, &State, &mut dyn Iterator<Item = Label>) + 'v;

/// Reports the final states, each with its execution, until all were seen or `budget` steps done.
pub(super) fn reduced<'m, 'p>(
    stepper: &mut Stepper<'m, Exact<'p>>,
    budget: usize,
    monitor: &dyn Monitor,
    doubts: &mut BTreeSet<Doubt>,
    visit: &mut Visit<'_, 'm, 'p>,
) -> Reduced {
    let machine = stepper.machine();
    let agents = Agents::new(machine.program(), machine.model());
    if !suited(machine.program()) || agents.count() > Bits::SIZE {
        return Reduced::Unsuited;
    }
    let (initial, initial_doubts) = stepper.initial();
    doubts.extend(initial_doubts);
    let mut steps = 0;
    for state in initial {
        let issued = vec![Issued::default(); state.locals.len()];
        let mut run = Execution { agents, frames: Vec::new(), issued, steps, doubts };
        match run.explore(stepper, state, budget, monitor, visit) {
            Ok(()) => steps = run.steps,
            Err(ended) => return ended,
        }
    }
    Reduced::Complete { steps }
}

/// No loops, no sections of several steps, alike alternatives, few enough variables.
fn suited(program: &Program) -> bool {
    let no_sections = |thread: &Thread| !thread.edges().iter().any(|edge| edge.op == Op::Lock);
    let alike = |thread: &Thread| thread.locs().all(|loc| alternatives_are_alike(thread, loc));
    let suits = |thread: &Thread| no_sections(thread) && alike(thread) && is_acyclic(thread);
    program.variables.len() <= MAX_VARIABLES && program.threads.iter().all(suits)
}

/// Whether all edges that leave a location wait for the same and read the same variables.
fn alternatives_are_alike(thread: &Thread, loc: Loc) -> bool {
    let needs = |op: &Op| {
        let waits = matches!(op, Op::Fence(Fence::Full) | Op::Block { locked: true, .. });
        let mut loads = BTreeSet::new();
        if matches!(op, Op::Block { .. }) {
            op.for_each_part(&mut |part| {
                if let Op::Load(_, variable) = part {
                    loads.insert(*variable);
                }
            });
        }
        (waits, loads)
    };
    let mut all = thread.outgoing(loc).map(|(_, edge)| needs(&edge.op));
    all.next().is_none_or(|first| all.all(|other| other == first))
}

fn is_acyclic(thread: &Thread) -> bool {
    let mut entering = vec![0; thread.locs().count()];
    thread.edges().iter().for_each(|edge| entering[edge.to.index()] += 1);
    let mut ready: Vec<_> = thread.locs().filter(|loc| entering[loc.index()] == 0).collect();
    let mut removed = 0;
    while let Some(loc) = ready.pop() {
        removed += 1;
        for (_, edge) in thread.outgoing(loc) {
            entering[edge.to.index()] -= 1;
            if entering[edge.to.index()] == 0 {
                ready.push(edge.to);
            }
        }
    }
    removed == entering.len()
}

/// A way to go on from a place of the execution.
struct Way {
    label: Label,
    happening: Happening,
}

/// A place of the current execution.
struct Frame {
    state: State,
    ways: Vec<Way>,
    /// Agents to be tried here.
    backtrack: Bits,
    /// Agents that need not be tried (again).
    sleep: Bits,
    /// The agent being tried, and which of its ways is next: an agent may have several.
    agent: usize,
    way: usize,
    /// The way taken from here, and the positions that happened before it.
    taken: Option<usize>,
    past: Bits,
    /// What the thread had issued before that way, to go back to.
    before: Option<Issued>,
}

struct Execution<'a> {
    agents: Agents,
    frames: Vec<Frame>,
    /// What every thread has issued at the last place.
    issued: Vec<Issued>,
    steps: usize,
    doubts: &'a mut BTreeSet<Doubt>,
}

impl Execution<'_> {
    fn explore<'m, 'p>(
        &mut self,
        stepper: &mut Stepper<'m, Exact<'p>>,
        state: State,
        budget: usize,
        monitor: &dyn Monitor,
        visit: &mut Visit<'_, 'm, 'p>,
    ) -> Result<(), Reduced> {
        self.push(stepper, state, Bits::default())?;
        while let Some(top) = self.frames.last() {
            if top.ways.is_empty() && stepper.is_final(&top.state) {
                let (first, last) = (&self.frames[0].state, &self.frames[self.frames.len() - 1].state);
                visit(stepper, first, last, &mut self.frames.iter().filter_map(Frame::label));
            }
            if !self.choose() {
                self.frames.pop();
                self.go_back();
                continue;
            }
            self.steps += 1;
            if self.steps > budget {
                return Err(Reduced::TooMany);
            }
            if self.steps.is_multiple_of(1024) {
                let progress = Progress { phase: "reducing", states: self.steps, ..Progress::default() };
                monitor.observe(&progress).map_err(Reduced::Stopped)?;
            }
            self.find_races();
            self.advance(stepper)?;
        }
        Ok(())
    }

    /// Picks what to try next at the last place; false if nothing is left there.
    fn choose(&mut self) -> bool {
        let Some(top) = self.frames.last_mut() else { return false };
        loop {
            let of_agent = |way: &Way| way.happening.agent == top.agent;
            if let Some(way) = (top.way..top.ways.len()).find(|at| of_agent(&top.ways[*at])) {
                top.way = way + 1;
                top.taken = Some(way);
                return true;
            }
            // All ways of the agent are done: it sleeps from now on.
            if top.agent != usize::MAX {
                top.sleep.insert(top.agent);
            }
            match top.backtrack.minus(&top.sleep).first() {
                Some(agent) => (top.agent, top.way) = (agent, 0),
                None => return false,
            }
        }
    }

    /// Orders the happening just chosen among those before it, and plans the reversal of races.
    fn find_races(&mut self) {
        let last = self.frames.len() - 1;
        let Some(happening) = self.frames[last].happening() else { return };
        let mut past = Bits::default();
        let mut races = Vec::new();
        for at in (0..last).rev() {
            let Some(earlier) = self.frames[at].happening() else { continue };
            let relation = earlier.before(&happening);
            if relation == Relation::None {
                continue;
            }
            if relation == Relation::Race && !past.contains(at) {
                races.push(at);
            }
            past.insert(at);
            past.union(&self.frames[at].past);
        }
        self.frames[last].past = past;
        for at in races {
            self.plan_reversal(at, last);
        }
    }

    /// Sees to it that, where the happening at `first` was taken, an agent is tried that can
    /// start with what does not depend on it and leads to `second`.
    fn plan_reversal(&mut self, first: usize, second: usize) {
        let mut kept = Bits::default();
        let mut starters = Bits::default();
        for at in first + 1..=second {
            let frame = &self.frames[at];
            if at != second && frame.past.contains(first) {
                continue;
            }
            if let (false, Some(happening)) = (frame.past.meets(&kept), frame.happening()) {
                starters.insert(happening.agent);
            }
            kept.insert(at);
        }
        let goal = self.frames[second].happening().map_or(0, |happening| happening.agent);
        let place = &mut self.frames[first];
        if !place.backtrack.meets(&starters) {
            let preferred = if starters.contains(goal) { Some(goal) } else { starters.first() };
            preferred.into_iter().for_each(|agent| place.backtrack.insert(agent));
        }
    }

    /// Goes the chosen way.
    fn advance(&mut self, stepper: &mut Stepper<'_, Exact<'_>>) -> Result<(), Reduced> {
        let Some(top) = self.frames.last() else { return Ok(()) };
        let Some(way) = top.taken.map(|at| &top.ways[at]) else { return Ok(()) };
        let keeps_sleeping = |agent: &usize| {
            let mut ways = top.ways.iter().filter(|way| way.happening.agent == *agent);
            ways.all(|other| other.happening.independent(&way.happening))
        };
        let mut sleep = Bits::default();
        top.sleep.iter().filter(keeps_sleeping).for_each(|agent| sleep.insert(agent));
        let (event, choice) = way.label;
        let Some(next) = stepper.take(&top.state, event, choice) else {
            self.doubts.insert(Doubt::Overflow(Statement::of(stepper.machine().program(), event)));
            return Ok(());
        };
        let issued = &mut self.issued[event.thread().index()];
        let before = issued.clone();
        issued.record(stepper.machine().program(), event, &way.happening);
        if let Some(top) = self.frames.last_mut() {
            top.before = Some(before);
        }
        self.push(stepper, next, sleep)
    }

    /// Undoes what the way just left had issued.
    fn go_back(&mut self) {
        if let Some(top) = self.frames.last_mut()
            && let (Some(at), Some(before)) = (top.taken, top.before.take())
        {
            self.issued[top.ways[at].label.0.thread().index()] = before;
        }
    }

    fn push(
        &mut self,
        stepper: &mut Stepper<'_, Exact<'_>>,
        state: State,
        sleep: Bits,
    ) -> Result<(), Reduced> {
        if self.frames.len() >= Bits::SIZE {
            return Err(Reduced::Unsuited);
        }
        stepper.prepare(&state);
        let ways = self.ways(stepper, &state);
        if waits_for_memory(stepper, &state, &ways) {
            return Err(Reduced::Unsuited);
        }
        let mut enabled = Bits::default();
        ways.iter().for_each(|way| enabled.insert(way.happening.agent));
        let backtrack = enabled.minus(&sleep).first().map(Bits::only).unwrap_or_default();
        self.frames.push(Frame {
            state,
            ways,
            backtrack,
            sleep,
            agent: usize::MAX,
            way: 0,
            taken: None,
            past: Bits::default(),
            before: None,
        });
        Ok(())
    }

    fn ways(&mut self, stepper: &Stepper<'_, Exact<'_>>, state: &State) -> Vec<Way> {
        let machine = stepper.machine();
        let mut ways = Vec::new();
        let doubts = &mut *self.doubts;
        let doubt = |doubt| {
            doubts.insert(doubt);
        };
        stepper.enabled(state, doubt, |event, choice| {
            let thread = event.thread();
            let local = stepper.local(thread, state);
            let issued = &self.issued[thread.index()];
            let happening = describe(machine.program(), machine.model(), &self.agents, event, local, issued);
            ways.push(Way { label: (event, choice), happening });
        });
        ways
    }
}

impl Frame {
    fn happening(&self) -> Option<Happening> {
        self.taken.map(|at| self.ways[at].happening)
    }

    fn label(&self) -> Option<Label> {
        self.taken.map(|at| self.ways[at].label)
    }
}

/// Whether a thread stands still for a reason that other threads could remove.
fn waits_for_memory(stepper: &Stepper<'_, Exact<'_>>, state: &State, ways: &[Way]) -> bool {
    let program = stepper.machine().program();
    let waits = |thread: ThreadId| {
        let local: &Local = stepper.local(thread, state);
        let moves =
            ways.iter().any(|way| matches!(way.label.0, Event::Step { thread: t, .. } if t == thread));
        let on_memory = |op: &Op| matches!(op, Op::Block { .. });
        let mut edges = program.thread(thread).outgoing(local.loc);
        !moves && local.buffer.is_empty() && edges.any(|(_, edge)| on_memory(&edge.op))
    };
    program.thread_ids().any(waits)
}
