//! What runs look like, by enumerating them all: the specification that robustness is judged by.
//!
//! It knows nothing of attacks, of cycles or of the checker's happens-before.

use machine::{Buffered, Configuration, Event, Model, model_named};
use program::{Domain, EdgeId, Int, Loc, Op, Program, Thread, VarId};
use std::collections::HashSet;

/// Programs with more looks than this are not judged.
const MOST_LOOKS: usize = 20_000;

/// A store or load: thread, number of the step within it, number of the access within that.
type Id = (usize, usize, usize);

/// What a run looks like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
struct Look {
    steps: Vec<Vec<(EdgeId, Option<Int>)>>,
    /// The stores in memory, by variable.
    stores: Vec<Vec<Id>>,
    /// The store each load read, by thread.
    read: Vec<Vec<Option<Id>>>,
}

/// A run on the way.
#[derive(Clone)]
struct OnTheWay {
    config: Configuration,
    look: Look,
    /// The stores on their way, by thread, as they were issued.
    buffers: Vec<Vec<(VarId, Id)>>,
}

impl OnTheWay {
    fn start(program: &Program, config: Configuration) -> OnTheWay {
        let threads = program.threads.len();
        let look = Look {
            steps: vec![Vec::new(); threads],
            stores: vec![Vec::new(); program.variables.len()],
            read: vec![Vec::new(); threads],
        };
        OnTheWay { config, look, buffers: vec![Vec::new(); threads] }
    }

    fn take(&self, program: &Program, machine: &Buffered<'_>, event: Event, choice: Option<Int>) -> OnTheWay {
        let config = self.config.take(machine, event, choice.as_ref()).expect("it is enabled");
        let mut next = OnTheWay { config, ..self.clone() };
        let thread = event.thread();
        match event {
            Event::Drain { variable, .. } => {
                let buffer = &mut next.buffers[thread.index()];
                let oldest = buffer.iter().position(|(stored, _)| *stored == variable).expect("drained");
                let (_, store) = buffer.remove(oldest);
                next.look.stores[variable.index()].push(store);
            }
            Event::Step { edge, .. } => {
                let step = next.look.steps[thread.index()].len();
                next.look.steps[thread.index()].push((edge, choice));
                let entries = next.config.local(thread).stores().count();
                let mut access = 0;
                program.thread(thread).edge(edge).op.for_each_part(&mut |part| {
                    access += 1;
                    next.access(thread.index(), (thread.index(), step, access), part, entries);
                });
            }
        }
        next
    }

    fn access(&mut self, thread: usize, id: Id, part: &Op, entries: usize) {
        match part {
            Op::Load(_, variable) => {
                let own = self.buffers[thread].iter().rev().find(|(v, _)| v == variable).map(|(_, id)| *id);
                let read = own.or(self.look.stores[variable.index()].last().copied());
                self.look.read[thread].push(read);
            }
            Op::Store(variable, _) if entries > self.buffers[thread].len() => {
                self.buffers[thread].push((*variable, id));
            }
            Op::Store(variable, _) => self.look.stores[variable.index()].push(id),
            _ => {}
        }
    }

    fn is_complete(&self) -> bool {
        self.config.holder().is_none() && self.buffers.iter().all(Vec::is_empty)
    }
}

fn values(domain: &Domain) -> Option<Vec<Int>> {
    let Domain::Range(low, high) = domain else { return None };
    let (low, high) = (i64::try_from(low).ok()?, i64::try_from(high).ok()?);
    (high - low < 4).then(|| (low..=high).map(Int::from).collect())
}

/// What all runs look like from a choice of initial values; `None` if there are too many.
fn looks(program: &Program, model: Model, initial: &[(VarId, Int)]) -> Option<HashSet<Look>> {
    let machine = Buffered::exact(program, model).with_dead_registers();
    let first = OnTheWay::start(program, Configuration::initial(&machine, initial)?);
    let mut seen = HashSet::from([first.look.clone()]);
    let mut complete = HashSet::new();
    let mut stack = vec![first];
    while let Some(run) = stack.pop() {
        if run.is_complete() {
            complete.insert(run.look.clone());
        }
        for step in run.config.enabled(&machine) {
            let choices = match &step.choice {
                None => vec![None],
                Some(domain) => values(domain)?.into_iter().map(Some).collect(),
            };
            for choice in choices {
                let next = run.take(program, &machine, step.event, choice);
                if seen.insert(next.look.clone()) {
                    stack.push(next);
                }
            }
        }
        if seen.len() > MOST_LOOKS {
            return None;
        }
    }
    Some(complete)
}

/// All ways to choose the initial values.
fn initials(program: &Program) -> Option<Vec<Vec<(VarId, Int)>>> {
    let mut all = vec![Vec::new()];
    for variable in program.variable_ids() {
        let values = values(&program.variable(variable).initial)?;
        let with = |chosen: &Vec<(VarId, Int)>, value: &Int| {
            let mut chosen = chosen.clone();
            chosen.push((variable, value.clone()));
            chosen
        };
        all = all.iter().flat_map(|chosen| values.iter().map(move |value| with(chosen, value))).collect();
    }
    Some(all)
}

/// Whether every run under a model looks like one under SC, by enumeration.
pub fn is_robust(program: &Program, model: Model) -> Option<bool> {
    let sc = model_named("sc")?;
    for initial in initials(program)? {
        if !looks(program, model, &initial)?.is_subset(&looks(program, sc, &initial)?) {
            return Some(false);
        }
    }
    Some(true)
}

pub fn has_loop(thread: &Thread) -> bool {
    let mut left: Vec<Loc> = thread.locs().collect();
    loop {
        let before = left.len();
        let kept = left.clone();
        left.retain(|loc| thread.outgoing(*loc).any(|(_, edge)| kept.contains(&edge.to)));
        if left.len() == before {
            return before > 0;
        }
    }
}
