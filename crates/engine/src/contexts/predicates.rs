//! Bounded contexts by predicates, for programs whose numbers grow in ways that their order says too little about.
//!
//! The search of [`crate::cegar`] over cubes, on the machine of runs with at most k contexts. That machine forgets nothing of
//! buffers, so there are two cases only: a path to a violation is unfolded into a run with queues and followed on the
//! exact machine; if no values take it there, its interpolants give new predicates. What was learned within k
//! contexts is kept for k + 1. As with all predicates, there may be no end of it.

use super::{ContextHunt, ContextsExplored, Holding};
use crate::cegar::{
    CubeRound, CubeSearchEnded, Halt, Learned, Predicates, Solver, Space, StepOf, all_slots, certificate,
    exclude, hinted, reach, unbuffered_slots,
};
use evidence::symbolic::Vocabulary;
use evidence::{ContextProof, ContextStates, Reason, Refinements, Statistics};
use machine::{ContextStep, Contexts, Event, LocalFirst, Slot};
use program::Program;

/// What was learned so far.
pub(super) struct ContextPredicates {
    predicates: Predicates,
    vocabulary: Vocabulary,
    refinements: Refinements,
    questions: usize,
    states: usize,
}

impl ContextPredicates {
    /// Begins with what the author offers.
    fn new(program: &Program) -> ContextPredicates {
        let mut vocabulary = Vocabulary::default();
        let mut predicates = Predicates::new(program, &unbuffered_slots(program));
        for atom in hinted(program, &mut vocabulary) {
            predicates.learn(&atom, &mut vocabulary);
        }
        let refinements = Refinements::default();
        ContextPredicates { predicates, vocabulary, refinements, questions: 0, states: 0 }
    }

    fn statistics(&self, contexts: u8) -> Statistics {
        Statistics {
            states: self.states,
            contexts: Some(usize::from(contexts)),
            method: Some("predicates"),
            predicates: Some(self.predicates.templates()),
            refinements: Some(self.refinements),
            questions: Some(self.questions),
            ..Statistics::default()
        }
    }
}

impl ContextHunt<'_> {
    pub(super) fn explore_predicates(&mut self, contexts: u8) -> ContextsExplored {
        let program = self.task.program;
        let machine = Contexts::new(program, self.task.model, contexts);
        let mut learned = self.learned.take().unwrap_or_else(|| ContextPredicates::new(program));
        let slots = all_slots(program, &|thread, variable| {
            machine.entries().map(|entry| Slot::Queued(thread, variable, entry)).collect()
        });
        learned.predicates = learned.predicates.over(program, &slots, &mut learned.vocabulary);
        let mut space = Space::over(program, machine, LocalFirst::nobody(program));
        let found = loop {
            let round = self.predicate_round(&mut space, &mut learned);
            self.statistics = learned.statistics(contexts);
            match round {
                Ok(None) => {}
                Ok(Some(found)) => break found,
                Err(halt) => break ContextsExplored::Stopped(halt.into()),
            }
        };
        self.learned = Some(learned);
        found
    }

    /// One exploration, and what its result means; nothing yet if something was learned that excludes a path.
    fn predicate_round(
        &self,
        space: &mut Space<'_, Contexts<'_>>,
        learned: &mut ContextPredicates,
    ) -> Result<Option<ContextsExplored>, Halt> {
        let contexts = space.machine().most();
        let monitor = Holding { hunt: self, contexts, work: 0 };
        let round = CubeRound {
            monitor: &monitor,
            k: usize::from(contexts),
            before: learned.states,
            refinements: learned.refinements.total(),
            bounded: false,
            most: None,
        };
        let ContextPredicates { predicates, vocabulary, .. } = learned;
        let (ended, effort) = reach(space, predicates, (vocabulary, &mut Solver::default()), round);
        learned.states += effort.states;
        learned.questions += effort.questions;
        Ok(Some(match ended {
            CubeSearchEnded::NotLinearAt(unsupported) => return Err(unsupported.into()),
            CubeSearchEnded::Stopped(stop) => return Err(stop.into()),
            // Nothing is forgotten here.
            CubeSearchEnded::Overflow(_) | CubeSearchEnded::Large => ContextsExplored::Beyond,
            CubeSearchEnded::Closed(cubes) => {
                let known = (&learned.predicates, &learned.vocabulary);
                let cubes = certificate(space, (), known, &cubes, &monitor)?;
                let proof = ContextProof { contexts, reached: ContextStates::Cubes(cubes) };
                ContextsExplored::Closed(proof, Vec::new())
            }
            CubeSearchEnded::Path(path, violation, wrong) => {
                let steps: Vec<&StepOf<Contexts<'_>>> =
                    path.iter().map(|(step, _)| space.step(*step)).collect();
                let events = events_of(space.machine(), &steps);
                match self.follow(&events, violation) {
                    Ok(Some(trace)) => ContextsExplored::Violated(trace),
                    Ok(None) => return Ok(self.exclude(&steps, &wrong, learned)),
                    Err(reason) => ContextsExplored::Stopped(reason),
                }
            }
        }))
    }

    /// Learns what excludes a path; if there is nothing to learn, that is how it ends.
    fn exclude(
        &self,
        steps: &[&StepOf<Contexts<'_>>],
        wrong: &[logic::Atom],
        learned: &mut ContextPredicates,
    ) -> Option<ContextsExplored> {
        let note = |text: &str| self.run.monitor.note(text);
        let known = (&mut learned.predicates, &mut learned.vocabulary);
        let lesson = exclude(self.task.program, (steps, wrong), known, &note);
        learned.refinements.predicates += 1;
        let templates = learned.predicates.templates();
        if lesson == Learned::Nothing {
            let reason = Reason::Indistinct { templates, k: None };
            return Some(ContextsExplored::Stopped(reason));
        }
        note(&format!("path of {} steps: impossible: now {templates} templates", steps.len()));
        None
    }
}

/// The run with queues that a path stands for.
fn events_of(machine: &Contexts<'_>, steps: &[&StepOf<Contexts<'_>>]) -> Vec<Event> {
    let taken = steps.iter().map(|step| ContextStep { event: step.event, choice: None, local: &step.local });
    machine.unfold(taken).into_iter().map(|step| step.event).collect()
}
