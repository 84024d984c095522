//! Why a violating run is not one under SC, in a sentence: the step that SC forbids.
//!
//! Under SC a store is in memory before its thread does anything else. A run that needs a weak
//! memory *overtakes*: a load reads memory while an older store of its own thread to another
//! variable is still buffered (TSO, PSO), or a store reaches memory before an older one of its
//! thread (PSO). **The step that overtakes is the one that SC forbids**: there, the older store would
//! have been in memory. An overtaking matters if somebody could tell, that is, if another thread
//! reads or writes the delayed variable in memory before the delayed store arrives: it *missed*
//! the store. The cause of a run is its first overtaking that was missed by somebody; in a
//! simplified run ([`crate::simplify`]) all delays that are left matter, and this is where the
//! first one does. Where the violated property itself looks at memory, it may be the property that
//! misses a store; then there is no step to blame, and the last one is named.

use crate::stores::Stores;
use machine::{Configuration, Event, Trace, Violation};
use program::{EdgeId, Int, Op, Place, Program, Span, ThreadId, VarId};

/// An overtaking in a run.
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
    /// Whether it is the violated property that looks at memory too early, and not a step.
    pub is_claim: bool,
    /// The statement that loads, or stored what overtakes.
    pub span: Span,
    /// The variable whose store is overtaken.
    pub delayed: VarId,
    /// The edge that issued the overtaken store.
    pub store: EdgeId,
    /// The step that issued it.
    pub issued: usize,
    /// Who missed the store first.
    pub missed: Option<Missed>,
}

/// A step of another thread that reads or writes a variable before a delayed store to it arrives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missed {
    /// The thread.
    pub thread: ThreadId,
    /// The step.
    pub step: usize,
    /// The value it read; `None` if it wrote.
    pub read: Option<Int>,
    /// The statement that reads, or that stored what is written.
    pub span: Span,
}

impl Cause {
    /// The sentence, without a full stop.
    pub fn text(&self, program: &Program) -> String {
        let thread = &program.thread(self.thread).name;
        let (over, delayed) = (&program.variable(self.overtaking).name, &program.variable(self.delayed).name);
        let issued = line(program, program.thread(self.thread).edge(self.store).span);
        let moment = match (self.is_claim, self.is_load) {
            (true, _) => "at the end, where the violated property looks at memory".to_string(),
            (_, true) => format!("when {thread} read {over}{}", line(program, self.span)),
            _ => format!("when its later store to {over}{} reached memory", line(program, self.span)),
        };
        let missed = self.missed.as_ref().map(|missed| missed.text(program, delayed)).unwrap_or_default();
        format!("{thread}'s store to {delayed}{issued} was still in its buffer {moment}{missed}")
    }
}

impl Missed {
    fn text(&self, program: &Program, variable: &str) -> String {
        let thread = &program.thread(self.thread).name;
        let place = line(program, self.span);
        match &self.read {
            Some(value) => format!(": {thread} then read {variable} = {value}{place} and missed it"),
            None => format!(": {thread}'s store to {variable}{place} reached memory before it"),
        }
    }
}

/// ` (line 9)`, if the text has lines.
fn line(program: &Program, span: Span) -> String {
    program.source.line(span).map(|line| format!(" (line {line})")).unwrap_or_default()
}

/// The cause of a replayed violation; `None` if nothing overtakes.
pub fn cause(program: &Program, trace: &Trace, run: &[Configuration]) -> Option<Cause> {
    let stores = Stores::of(program, &trace.steps, |at| &run[at]);
    let pending = vec![Vec::new(); program.threads.len()];
    let mut watch = Watch { program, trace, run, stores, pending, causes: Vec::new() };
    (0..trace.steps.len()).for_each(|at| watch.step(at));
    let telling = watch.causes.iter().position(|cause| cause.missed.is_some());
    match telling {
        Some(at) => Some(watch.causes.swap_remove(at)),
        None => watch.claim().or_else(|| watch.causes.into_iter().next()),
    }
}

/// What is on its way to memory, and what overtook it, as a run goes on.
struct Watch<'a> {
    program: &'a Program,
    trace: &'a Trace,
    run: &'a [Configuration],
    stores: Stores,
    /// The steps that issued what is still buffered, for every thread.
    pending: Vec<Vec<usize>>,
    causes: Vec<Cause>,
}

impl Watch<'_> {
    fn step(&mut self, at: usize) {
        let thread = self.trace.steps[at].event.thread();
        match self.trace.steps[at].event {
            Event::Drain { variable, .. } => self.drain(at, thread, variable),
            Event::Step { edge, .. } => {
                let program = self.program;
                let edge = program.thread(thread).edge(edge);
                edge.op.for_each_part(&mut |part| match part {
                    Op::Load(_, variable) => self.load(at, thread, *variable, edge.span),
                    Op::Store(..) if self.stores.buffered[at].is_some() => {
                        self.pending[thread.index()].push(at);
                    }
                    Op::Store(variable, _) => self.touch(at, thread, *variable, None, edge.span),
                    _ => {}
                });
            }
        }
    }

    fn load(&mut self, step: usize, thread: ThreadId, variable: VarId, span: Span) {
        let queue = self.pending[thread.index()].clone();
        if queue.iter().any(|store| self.stores.buffered[*store] == Some(variable)) {
            return;
        }
        queue.iter().for_each(|older| self.overtake(step, thread, variable, true, span, *older));
        self.touch(step, thread, variable, Some(self.run[step].memory(variable)), span);
    }

    fn drain(&mut self, step: usize, thread: ThreadId, variable: VarId) {
        let queue = self.pending[thread.index()].clone();
        let Some(place) = queue.iter().position(|store| self.stores.drain_of[*store] == Some(step)) else {
            return;
        };
        let span = self.issuing(queue[place]).1;
        queue[..place].iter().for_each(|older| self.overtake(step, thread, variable, false, span, *older));
        self.touch(step, thread, variable, None, span);
        self.pending[thread.index()].remove(place);
    }

    /// The edge that issued a store, and its statement.
    fn issuing(&self, store: usize) -> (EdgeId, Span) {
        match self.trace.steps[store].event {
            Event::Step { thread, edge } => (edge, self.program.thread(thread).edge(edge).span),
            Event::Drain { .. } => (EdgeId::new(0), Span::NONE),
        }
    }

    fn overtake(
        &mut self,
        step: usize,
        thread: ThreadId,
        overtaking: VarId,
        is_load: bool,
        span: Span,
        older: usize,
    ) {
        let Some(delayed) = self.stores.buffered[older] else { return };
        let store = self.issuing(older).0;
        let (is_claim, missed) = (false, None);
        let cause = Cause {
            thread,
            step,
            overtaking,
            is_load,
            is_claim,
            span,
            delayed,
            store,
            issued: older,
            missed,
        };
        self.causes.push(cause);
    }

    /// Memory of a variable was read or written: stores of others to it that are late are missed.
    fn touch(&mut self, step: usize, thread: ThreadId, variable: VarId, read: Option<Int>, span: Span) {
        for cause in &mut self.causes {
            let late = self.stores.drain_of[cause.issued].is_none_or(|drain| drain > step);
            if late && cause.thread != thread && cause.delayed == variable && cause.missed.is_none() {
                cause.missed = Some(Missed { thread, step, read: read.clone(), span });
            }
        }
    }

    /// The first store still buffered at the end to a variable that the violated property reads.
    fn claim(&self) -> Option<Cause> {
        let Violation::Property(property) = self.trace.violation else { return None };
        let step = self.trace.steps.len().checked_sub(1)?;
        let mut asked = Vec::new();
        self.program.properties[property].cond.for_each_leaf(&mut |place| {
            if let Place::Memory(variable) = place {
                asked.push(*variable);
            }
        });
        let mut pending: Vec<usize> = self.pending.concat();
        pending.sort_unstable();
        let missed = |at: &usize| self.stores.buffered[*at].filter(|variable| asked.contains(variable));
        let (issued, delayed) = pending.iter().find_map(|at| Some((*at, missed(at)?)))?;
        Some(Cause {
            thread: self.trace.steps[issued].event.thread(),
            step,
            overtaking: delayed,
            is_load: false,
            is_claim: true,
            span: Span::NONE,
            delayed,
            store: self.issuing(issued).0,
            issued,
            missed: None,
        })
    }
}
