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
//!
//! Whoever could miss a store at its second overtaking could at its first, so only the first of
//! every store is remembered, and the run is read once.

use crate::Patience;
use machine::{Account, Action, ReplayedStep, Violation};
use program::{EdgeId, Int, Place, Program, Span, ThreadId, VarId};
use std::collections::VecDeque;

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
        let issued = program.source.line_behind(program.thread(self.thread).edge(self.store).span);
        let moment = match (self.is_claim, self.is_load) {
            (true, _) => "at the end, where the violated property looks at memory".to_string(),
            (_, true) => format!("when {thread} read {over}{}", program.source.line_behind(self.span)),
            _ => format!(
                "when its later store to {over}{} reached memory",
                program.source.line_behind(self.span)
            ),
        };
        let missed = self.missed.as_ref().map(|missed| missed.text(program, delayed)).unwrap_or_default();
        format!("{thread}'s store to {delayed}{issued} was still in its buffer {moment}{missed}")
    }
}

impl Missed {
    fn text(&self, program: &Program, variable: &str) -> String {
        let thread = &program.thread(self.thread).name;
        let place = program.source.line_behind(self.span);
        match &self.read {
            Some(value) => format!(": {thread} then read {variable} = {value}{place} and missed it"),
            None => format!(": {thread}'s store to {variable}{place} reached memory before it"),
        }
    }
}

/// How many steps are read between two looks at the clock.
const LOOK: usize = 1024;

/// The cause of a replayed violation; `None` if nothing overtakes, or if patience ended.
pub(crate) fn cause(
    program: &Program,
    violation: Violation,
    account: &Account,
    patience: &mut Patience<'_>,
) -> Option<Cause> {
    let threads = program.threads.len();
    let mut watch = OvertakingWatch {
        program,
        account,
        waiting: vec![VecDeque::new(); threads],
        unmissed: vec![vec![VecDeque::new(); threads]; program.variables.len()],
        overtakings: Vec::new(),
    };
    for at in 0..account.steps().len() {
        if at % LOOK == 0 && !patience.lasts() {
            return None;
        }
        watch.step(at);
    }
    let missed = watch.overtakings.iter().find(|overtaking| overtaking.missed.is_some());
    let overtakes = |overtaking| watch.cause(overtaking);
    missed.map(overtakes).or_else(|| watch.claim(violation)).or(watch.overtakings.first().map(overtakes))
}

/// The first time that something overtook a store.
struct Overtaking {
    /// The step that overtook it.
    step: usize,
    /// The step that issued it.
    issued: usize,
    missed: Option<Missed>,
}

/// What is on its way to memory, and what overtook it, as a run goes on.
struct OvertakingWatch<'a> {
    program: &'a Program,
    account: &'a Account,
    /// For every thread, the buffered stores that nothing overtook yet, oldest first.
    waiting: Vec<VecDeque<usize>>,
    /// For every variable and thread, the buffered stores that were overtaken and that nobody
    /// missed yet, oldest first, by their numbers among the overtakings.
    unmissed: Vec<Vec<VecDeque<usize>>>,
    overtakings: Vec<Overtaking>,
}

impl OvertakingWatch<'_> {
    fn step(&mut self, at: usize) {
        let account = self.account;
        let step = &account.steps()[at];
        let thread = step.thread();
        for action in &step.actions {
            match action {
                Action::Load(variable, value, from) if !from.is_own_buffer() => {
                    self.overtake(at, thread, usize::MAX);
                    self.touch(at, *variable, Some(value));
                }
                Action::Store(_, _, true) => self.waiting[thread.index()].push_back(at),
                Action::Store(variable, _, false) => self.touch(at, *variable, None),
                Action::Drain(variable, _, store) => {
                    self.overtake(at, thread, *store);
                    self.touch(at, *variable, None);
                    self.arrive(thread, *variable, *store);
                }
                Action::Load(..) | Action::Assign(..) | Action::Choose(..) => {}
            }
        }
    }

    /// A step overtakes the buffered stores of its thread that were issued before this one.
    fn overtake(&mut self, step: usize, thread: ThreadId, before: usize) {
        while let Some(issued) = pop_if(&mut self.waiting[thread.index()], |store| store < before) {
            if let Some(delayed) = self.account.steps()[issued].buffered() {
                self.unmissed[delayed.index()][thread.index()].push_back(self.overtakings.len());
            }
            self.overtakings.push(Overtaking { step, issued, missed: None });
        }
    }

    /// Memory of a variable was read or written: stores of others to it that are late are missed.
    fn touch(&mut self, step: usize, variable: VarId, read: Option<&Int>) {
        let thread = self.account.steps()[step].thread();
        for (at, late) in self.unmissed[variable.index()].iter_mut().enumerate() {
            if at != thread.index() {
                for overtaking in late.drain(..) {
                    let span = statement(self.program, self.account, step).1;
                    let missed = Missed { thread, step, read: read.cloned(), span };
                    self.overtakings[overtaking].missed = Some(missed);
                }
            }
        }
    }

    /// A store is in memory: from now on nobody overtakes or misses it.
    fn arrive(&mut self, thread: ThreadId, variable: VarId, store: usize) {
        pop_if(&mut self.waiting[thread.index()], |waiting| waiting == store);
        let late = &mut self.unmissed[variable.index()][thread.index()];
        pop_if(late, |overtaking| self.overtakings[overtaking].issued == store);
    }

    fn cause(&self, overtaking: &Overtaking) -> Cause {
        let steps = self.account.steps();
        let Overtaking { step, issued, .. } = *overtaking;
        let accessed = |step: &ReplayedStep| {
            step.actions.iter().find_map(|action| match action {
                Action::Load(variable, _, from) if !from.is_own_buffer() => Some(*variable),
                Action::Drain(variable, ..) => Some(*variable),
                _ => None,
            })
        };
        let delayed = steps[issued].buffered().unwrap_or(VarId::new(0));
        Cause {
            thread: steps[step].thread(),
            step,
            overtaking: accessed(&steps[step]).unwrap_or(delayed),
            is_load: steps[step].drained().is_none(),
            is_claim: false,
            span: statement(self.program, self.account, step).1,
            delayed,
            store: statement(self.program, self.account, issued).0,
            issued,
            missed: overtaking.missed.clone(),
        }
    }

    /// The first store still buffered at the end to a variable that the violated property reads.
    fn claim(&self, violation: Violation) -> Option<Cause> {
        let Violation::Property(property) = violation else { return None };
        let mut asked = Vec::new();
        self.program.properties[property].cond.for_each_leaf(&mut |place| {
            if let Place::Memory(variable) = place {
                asked.push(*variable);
            }
        });
        let steps = self.account.steps();
        let missed = |step: &ReplayedStep| {
            step.buffered().filter(|variable| step.drain.is_none() && asked.contains(variable))
        };
        let (issued, delayed) = steps.iter().enumerate().find_map(|(at, step)| Some((at, missed(step)?)))?;
        Some(Cause {
            thread: steps[issued].thread(),
            step: steps.len() - 1,
            overtaking: delayed,
            is_load: false,
            is_claim: true,
            span: Span::NONE,
            delayed,
            store: statement(self.program, self.account, issued).0,
            issued,
            missed: None,
        })
    }
}

/// Takes the first of a queue, if it is one of those wanted.
fn pop_if(queue: &mut VecDeque<usize>, wanted: impl Fn(usize) -> bool) -> Option<usize> {
    let first = queue.front().copied().filter(|first| wanted(*first))?;
    queue.pop_front();
    Some(first)
}

/// The edge and the statement of a step; for a drain, those of its store.
fn statement(program: &Program, account: &Account, step: usize) -> (EdgeId, Span) {
    let steps = account.steps();
    let step = steps[step].drained().map_or(&steps[step], |store| &steps[store]);
    let edge = step.edge().unwrap_or(EdgeId::new(0));
    (edge, program.thread(step.thread()).edge(edge).span)
}
