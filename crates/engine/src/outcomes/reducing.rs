//! A machine of which only the steps are taken that final states need.

use crate::search::TransitionSystem;
use crate::stepping::Stepping;
use machine::{Agents, Event, Model, Persistent, State, Stepper, Violation, WithBuffers};
use program::{Op, Program, Thread, ThreadId};
use rustc_hash::FxHashMap;

/// A machine on concrete values, reduced to persistent sets of agents.
pub(super) struct Reducing<'m, M: WithBuffers> {
    pub(super) stepping: Stepping<Stepper<'m, M>>,
    persistent: Option<Persistent>,
    /// The sets chosen so far, by the numbers of the threads' controls.
    chosen: FxHashMap<Vec<u32>, Agents>,
    /// The set chosen for the state that was prepared last.
    now: Agents,
}

impl<'m, M: WithBuffers> Reducing<'m, M> {
    /// Reduced where buffers cannot grow without end. Elsewhere a set may well be that of a thread
    /// that goes on storing, and the light states that the search is to take first would not come.
    pub(super) fn new(machine: &'m M, model: Model) -> Reducing<'m, M> {
        let program = machine.program();
        let persistent = buffers_are_bounded(program).then(|| Persistent::new(program, model));
        Reducing {
            stepping: Stepping::wandering(Stepper::new(machine)),
            persistent: persistent.flatten(),
            chosen: FxHashMap::default(),
            now: Agents::ALL,
        }
    }

    /// Whether anything is left out.
    pub(super) fn reduces(&self) -> bool {
        self.persistent.is_some()
    }

    /// Whose steps were taken, by control, wherever that was not everybody.
    pub(super) fn sets(self) -> Vec<(Vec<u32>, Agents)> {
        let mut sets: Vec<_> = self.chosen.into_iter().filter(|(_, agents)| *agents != Agents::ALL).collect();
        sets.sort();
        sets
    }

    fn choose(&self, persistent: &Persistent, state: &State) -> Agents {
        let stepper = &self.stepping.domain;
        persistent.choose((0..state.locals.len()).map(|thread| stepper.local(ThreadId::new(thread), state)))
    }
}

impl<M: WithBuffers> TransitionSystem for Reducing<'_, M> {
    type State = State;
    type Label = (Event, Option<i64>);
    type Goal = Violation;

    fn begin(&mut self) {
        self.stepping.begin();
    }

    fn initial(&self) -> Box<dyn Iterator<Item = State> + '_> {
        self.stepping.initial()
    }

    fn prepare(&mut self, state: &State) {
        self.stepping.prepare(state);
        let Some(persistent) = &self.persistent else { return };
        self.now = match self.chosen.get(&state.locals) {
            Some(agents) => *agents,
            None => {
                let agents = self.choose(persistent, state);
                self.chosen.insert(state.locals.clone(), agents);
                agents
            }
        };
    }

    fn successors(&self, state: &State, next: &mut State, mut visit: impl FnMut(Self::Label, &State)) {
        let doubt = |doubt| self.stepping.doubt(doubt);
        self.now.successors(&self.stepping.domain, state, next, doubt, |event, choice, next| {
            visit((event, choice), next);
        });
    }

    fn goal(&self, _: &State) -> Option<Violation> {
        None
    }

    fn bytes(&self) -> usize {
        let threads = self.stepping.domain.thread_count();
        let entry = size_of::<(Vec<u32>, Agents)>() + threads * size_of::<u32>();
        self.stepping.bytes() + 2 * self.chosen.len() * entry
    }

    fn weight(&self, state: &State) -> usize {
        self.stepping.weight(state)
    }

    fn pack(&self, state: &State, out: &mut Vec<u8>) {
        self.stepping.pack(state, out);
    }

    fn unpack(&self, bytes: &[u8], state: &mut State) {
        self.stepping.unpack(bytes, state);
    }
}

/// Whether no thread can store again and again.
fn buffers_are_bounded(program: &Program) -> bool {
    program.threads.iter().all(|thread| {
        let repeats = between_loops(thread);
        let again = |edge: &program::Edge| repeats[edge.from.index()] && repeats[edge.to.index()];
        !thread.edges().iter().any(|edge| matches!(edge.op, Op::Store(..)) && again(edge))
    })
}

/// The locations on loops, and on ways from one loop to another.
fn between_loops(thread: &Thread) -> Vec<bool> {
    let ways: Vec<(usize, usize)> =
        thread.edges().iter().map(|edge| (edge.from.index(), edge.to.index())).collect();
    let backwards: Vec<(usize, usize)> = ways.iter().map(|(from, to)| (*to, *from)).collect();
    let (behind, ahead) = (behind_loops(&ways, thread), behind_loops(&backwards, thread));
    behind.iter().zip(ahead).map(|(behind, ahead)| *behind && ahead).collect()
}

/// The locations on loops and behind them: what is left when those without a way in are taken away,
/// one after the other.
fn behind_loops(ways: &[(usize, usize)], thread: &Thread) -> Vec<bool> {
    let count = thread.locs().count();
    let (mut entering, mut leaving) = (vec![0; count], vec![Vec::new(); count]);
    for (from, to) in ways {
        entering[*to] += 1;
        leaving[*from].push(*to);
    }
    let mut left = vec![true; count];
    let mut ready: Vec<usize> = (0..count).filter(|loc| entering[*loc] == 0).collect();
    while let Some(loc) = ready.pop() {
        left[loc] = false;
        for to in &leaving[loc] {
            entering[*to] -= 1;
            if entering[*to] == 0 {
                ready.push(*to);
            }
        }
    }
    left
}
