//! Why a violating trace is not an SC one, in a sentence.
//!
//! Under a store buffer, what SC forbids comes from two kinds of overtaking: a load reads
//! memory while an older store of its own thread to another variable is still buffered
//! (TSO, PSO), or a store reaches memory before an older one of its thread (PSO). A trace may
//! show several; the telling one is where another thread touches the delayed variable before
//! the delayed store arrives, for then the others have seen the wrong order.

use machine::{Configuration, Event, Trace};
use program::{EdgeId, Op, Program, ThreadId, VarId};

/// An overtaking in a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cause {
    /// The thread.
    pub thread: ThreadId,
    /// The step that overtakes: the load, or the drain of the younger store.
    pub step: usize,
    /// What the step reads or writes.
    pub overtaking: VarId,
    /// Whether it is a load.
    pub is_load: bool,
    /// The variable whose store is overtaken.
    pub delayed: VarId,
    /// The edge that issued the overtaken store.
    pub store: EdgeId,
}

impl Cause {
    /// The sentence, without a full stop.
    pub fn text(&self, program: &Program) -> String {
        let thread = &program.thread(self.thread).name;
        let (over, delayed) = (&program.variable(self.overtaking).name, &program.variable(self.delayed).name);
        if self.is_load {
            format!("{thread} read {over} while its own store to {delayed} was still in its buffer")
        } else {
            format!("{thread}'s store to {over} reached memory before its earlier store to {delayed}")
        }
    }
}

/// A store on its way to memory.
#[derive(Clone, Copy)]
struct Pending {
    variable: VarId,
    store: EdgeId,
    issued: usize,
}

/// An overtaking, and what became of the delayed store.
struct Delay {
    cause: Cause,
    issued: usize,
    arrived: bool,
    seen: bool,
}

/// The most telling overtaking of a replayed trace; `None` if there is none.
pub fn cause(program: &Program, trace: &Trace, run: &[Configuration]) -> Option<Cause> {
    let mut watch = Watch { pending: vec![Vec::new(); program.threads.len()], delays: Vec::new() };
    for (at, step) in trace.steps.iter().enumerate() {
        let thread = step.event.thread();
        match step.event {
            Event::Drain { variable, .. } => watch.drain(at, thread, variable),
            Event::Step { edge, .. } => {
                let entries = |at: usize| run[at].local(thread).stores().count();
                let buffers = entries(at + 1) > entries(at);
                program.thread(thread).edge(edge).op.for_each_part(&mut |part| match part {
                    Op::Load(_, variable) => watch.load(at, thread, *variable),
                    Op::Store(variable, _) if buffers => {
                        watch.pending[thread.index()].push(Pending {
                            variable: *variable,
                            store: edge,
                            issued: at,
                        });
                    }
                    Op::Store(variable, _) => watch.touch(thread, *variable),
                    _ => {}
                });
            }
        }
    }
    let telling = watch.delays.iter().position(|delay| delay.seen).unwrap_or(0);
    watch.delays.into_iter().nth(telling).map(|delay| delay.cause)
}

/// What is on its way, and what overtook it, as a trace goes on.
struct Watch {
    pending: Vec<Vec<Pending>>,
    delays: Vec<Delay>,
}

impl Watch {
    fn load(&mut self, step: usize, thread: ThreadId, variable: VarId) {
        let queue = self.pending[thread.index()].clone();
        if queue.iter().any(|store| store.variable == variable) {
            return;
        }
        queue.iter().for_each(|older| self.delay(step, thread, variable, true, older));
        self.touch(thread, variable);
    }

    fn drain(&mut self, step: usize, thread: ThreadId, variable: VarId) {
        let queue = self.pending[thread.index()].clone();
        let Some(place) = queue.iter().position(|store| store.variable == variable) else { return };
        queue[..place].iter().for_each(|older| self.delay(step, thread, variable, false, older));
        self.touch(thread, variable);
        let arrived = self.pending[thread.index()].remove(place);
        let mine = |delay: &&mut Delay| delay.cause.thread == thread && delay.issued == arrived.issued;
        self.delays.iter_mut().filter(mine).for_each(|delay| delay.arrived = true);
    }

    fn delay(&mut self, step: usize, thread: ThreadId, overtaking: VarId, is_load: bool, older: &Pending) {
        let cause = Cause { thread, step, overtaking, is_load, delayed: older.variable, store: older.store };
        self.delays.push(Delay { cause, issued: older.issued, arrived: false, seen: false });
    }

    /// Memory of a variable was read or written by a thread: others' delays of it have been seen.
    fn touch(&mut self, thread: ThreadId, variable: VarId) {
        for delay in &mut self.delays {
            let open = !delay.arrived && delay.cause.thread != thread && delay.cause.delayed == variable;
            delay.seen |= open;
        }
    }
}
