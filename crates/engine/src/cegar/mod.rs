//! Proofs by counterexample-guided abstraction of buffers and values [000].
//!
//! The program runs on a machine that forgets the order of all but k stores of a queue
//! ([`machine::Buffered`]), and of the values only predicates are known. Both are finite, so
//! everything reachable is explored. If nothing is violated, the cubes reached are a proof. A
//! path to a violation is one of four things, tried in this order:
//!
//! 1. it can be taken under SC: a violation that no fence prevents;
//! 2. it can be taken under the memory model: a violation;
//! 3. it can be taken by the machine that keeps k stores: k is raised to the least number with
//!    which that is no longer so;
//! 4. only the predicates allow it: interpolants of the path give new ones.
//!
//! Predicates are templates that hold the place of every slot of the same kind, so a lesson about
//! one entry of a buffer is a lesson about all. No path comes twice: what was learned excludes
//! it, first by new predicates, then by deciding them by cases. Where a template keeps returning with
//! growing constants, slots of that kind are compared with each other instead. Where k keeps growing because a
//! thread stores on and on, what counts is the order of what was forgotten: then older ones are compared with newer
//! ones ([`Forgotten::Pairs`]), and k starts again.

mod classes;
pub(crate) mod cube;
mod hints;
mod judge;
mod kinds;
mod learn;
mod loops;
mod path;
mod post;
mod predicates;
mod reach;
mod space;

pub(crate) use cube::BitCube;
pub use hints::hinted;
pub(crate) use judge::{Judge, Solver};
pub(crate) use kinds::{all_slots, unbuffered_slots};
pub(crate) use learn::{Learned, exclude};
pub(crate) use path::{Taken, execute};
pub(crate) use predicates::Predicates;
pub(crate) use reach::{CubeRound, CubeSearchEnded, Effort, reach};
pub(crate) use space::{Space, StepOf};

use crate::reduce::renamings_among;
use crate::{Answer, Engine, Reduction, Run};
use evidence::symbolic::{Step, Vocabulary};
use evidence::{
    Certificate, Cube, CubeProof, Progress, Reason, Refinements, Statistics, Stop, Task, Verdict,
};
use kinds::recalled_slots;
use logic::Atom;
use machine::{
    Buffered, Event, Forgotten, Keep, LocalFirst, Machine, Recall, SC, Slot, Trace, Violation, WithBuffers,
    renaming_group,
};
use program::{Renaming, Span, thread_swaps_but_for_starts};
use space::NotLinearAt;

/// How the abstraction is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abstraction {
    /// Which stores are kept in order.
    pub keep: Keep,
    /// What is known of the others.
    pub forgotten: Forgotten,
    /// Whether a thread goes first where that loses nothing.
    pub reduce: bool,
}

impl Default for Abstraction {
    fn default() -> Self {
        Abstraction { keep: Keep::Newest, forgotten: Forgotten::Pools, reduce: true }
    }
}

/// The engine.
pub struct Cegar;

impl Engine for Cegar {
    fn name(&self) -> &'static str {
        "cegar"
    }

    fn about(&self) -> &'static str {
        "proves programs with unbounded integers and buffers by predicates and the newest k stores"
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let Refined { verdict, statistics, .. } = refine(task, run, Vocabulary::default(), (&[], &[]));
        Answer { verdict, statistics, engine: self.name() }
    }
}

/// How a search for a proof ended.
pub(crate) struct Refined {
    pub(crate) verdict: Verdict,
    pub(crate) statistics: Statistics,
    pub(crate) vocabulary: Vocabulary,
    /// The predicates that were decided by cases at last.
    pub(crate) by_cases: Vec<Atom>,
}

/// Searches for a proof, beginning with the author's predicates and these, the latter of them decided
/// by cases.
pub(crate) fn refine(
    task: &Task<'_>,
    run: &Run<'_>,
    mut vocabulary: Vocabulary,
    (first, by_cases): (&[Atom], &[Atom]),
) -> Refined {
    let offered = hinted(task.program, &mut vocabulary);
    let mut proof = ProofSearch::new(*task, *run, vocabulary);
    for atom in offered.iter().chain(first) {
        proof.predicates.learn(atom, &mut proof.vocabulary);
    }
    for atom in by_cases {
        proof.predicates.split(atom, &proof.vocabulary);
    }
    proof.compare_pairs();
    if proof.predicates.len() > 0 {
        let (templates, predicates) = (proof.predicates.templates(), proof.predicates.len());
        proof.note(format!("begins with {templates} templates, {predicates} predicates"));
    }
    let verdict = proof.find().unwrap_or_else(|halt| Verdict::Unknown(vec![halt.into()]));
    let by_cases = proof.predicates.by_cases().cloned().collect();
    Refined { verdict, statistics: proof.statistics, vocabulary: proof.vocabulary, by_cases }
}

/// Why a search for a proof cannot go on.
pub(crate) enum Halt {
    /// What is written here is not linear.
    NotLinearAt(Span),
    Stopped(Stop),
}

impl From<Halt> for Reason {
    fn from(halt: Halt) -> Reason {
        match halt {
            Halt::NotLinearAt(span) => Reason::NotLinear(span),
            Halt::Stopped(stop) => Reason::Stopped(stop),
        }
    }
}

impl From<NotLinearAt> for Halt {
    fn from(NotLinearAt(span): NotLinearAt) -> Halt {
        Halt::NotLinearAt(span)
    }
}

impl From<Stop> for Halt {
    fn from(stop: Stop) -> Halt {
        Halt::Stopped(stop)
    }
}

/// Whether work may go on; asked in everything that may take long.
pub(crate) type MayGoOn<'a> = &'a dyn Fn() -> Result<(), Stop>;

/// Where more stores than this would have to be kept in order, forgotten ones are compared with each other first.
const KEPT_WITHOUT_PAIRS: usize = 2;

/// With more cubes than this, one of those that differ in the names of threads has to do, unless it was said otherwise.
const FEW: usize = 1 << 12;

/// The work of following a path by one step, in the unit of [`Progress::work`].
const FOLLOWED: usize = 4;

/// The search for a proof.
struct ProofSearch<'a> {
    task: Task<'a>,
    run: Run<'a>,
    vocabulary: Vocabulary,
    recall: Recall,
    predicates: Predicates,
    /// Up to which names of threads cubes may be listed, and whether they are.
    renamings: Vec<Renaming>,
    up_to_names: bool,
    statistics: Statistics,
    refinements: Refinements,
    questions: usize,
    states: usize,
}

impl<'a> ProofSearch<'a> {
    fn new(task: Task<'a>, run: Run<'a>, vocabulary: Vocabulary) -> ProofSearch<'a> {
        let abstraction = run.abstraction;
        let recall = Recall { k: 0, keep: abstraction.keep, forgotten: abstraction.forgotten };
        ProofSearch {
            task,
            run,
            vocabulary,
            recall,
            predicates: Predicates::new(task.program, &recalled_slots(task.program, recall, task.buffers())),
            renamings: names_of_threads(&task, run.reduction),
            up_to_names: run.reduction != Reduction::Auto,
            statistics: Statistics::default(),
            refinements: Refinements::default(),
            questions: 0,
            states: 0,
        }
    }

    fn find(&mut self) -> Result<Verdict, Halt> {
        loop {
            let program = self.task.program;
            let mut space = self.space();
            let (recall, names) = (self.recall, self.uses_names());
            while self.recall == recall && self.uses_names() == names {
                if let Some(verdict) = self.round(&mut space)? {
                    return Ok(verdict);
                }
            }
            if self.recall == recall {
                continue;
            }
            let buffers = self.task.buffers();
            let slots = recalled_slots(program, self.recall, buffers);
            self.predicates = self.predicates.over(program, &slots, &mut self.vocabulary);
            self.compare_pairs();
        }
    }

    /// Whether cubes count up to the names of threads.
    fn uses_names(&self) -> bool {
        self.up_to_names && !self.renamings.is_empty()
    }

    fn space(&mut self) -> Space<'a> {
        let (program, model) = (self.task.program, self.task.model);
        let space = Space::new(program, model, self.recall, self.run.abstraction.reduce);
        match renaming_group(program, &self.renamings).filter(|_| self.uses_names()) {
            Some(group) => space.up_to(group),
            None => space,
        }
    }

    /// Where there are pairs, the order of an older and a newer store is worth knowing.
    fn compare_pairs(&mut self) {
        if self.recall.forgotten != Forgotten::Pairs {
            return;
        }
        for slot in recalled_slots(self.task.program, self.recall, self.task.buffers()) {
            let Slot::Newer(thread, variable) = slot else { continue };
            let older = self.vocabulary.slot(Slot::Pool(thread, variable));
            let atom = Atom::lt(older, self.vocabulary.slot(slot));
            self.predicates.learn(&atom, &mut self.vocabulary);
        }
    }

    /// One exploration, and what its result means.
    fn round(&mut self, space: &mut Space<'a>) -> Result<Option<Verdict>, Halt> {
        if !self.predicates.close_under(space.group(), &mut self.vocabulary) {
            self.renamings.clear();
            return Ok(None);
        }
        let round = CubeRound {
            monitor: self.run.monitor,
            k: self.recall.k,
            before: self.states,
            refinements: self.refinements.total(),
            bounded: false,
            most: (!self.up_to_names && !self.renamings.is_empty()).then_some(FEW),
        };
        let mut solver = Solver::default();
        let (ended, effort) = reach(space, &self.predicates, (&mut self.vocabulary, &mut solver), round);
        self.states += effort.states;
        self.questions += effort.questions;
        self.statistics = Statistics {
            states: self.states,
            k: Some(self.recall.k),
            predicates: Some(self.predicates.templates()),
            refinements: Some(self.refinements),
            questions: Some(self.questions),
            method: self.uses_names().then_some("symmetry"),
            ..Statistics::default()
        };
        let verdict = match ended {
            CubeSearchEnded::NotLinearAt(unsupported) => return Err(unsupported.into()),
            CubeSearchEnded::Stopped(stop) => Verdict::Unknown(vec![Reason::Stopped(stop)]),
            CubeSearchEnded::Large => {
                self.note("many cubes: goes on up to the names of threads".to_string());
                self.up_to_names = true;
                return Ok(None);
            }
            CubeSearchEnded::Closed(cubes) => {
                let known = (&self.predicates, &self.vocabulary);
                let proof = certificate(space, self.recall, known, &cubes, self.run.monitor)?;
                let renamings =
                    if self.uses_names() { self.renamings.as_slice().into() } else { Box::default() };
                Verdict::Safe(Certificate::Cubes(CubeProof { renamings, ..proof }))
            }
            // Only a search that is bounded ends so.
            CubeSearchEnded::Overflow(_) => Verdict::Unknown(vec![Reason::BuffersBeyond(self.recall.k)]),
            CubeSearchEnded::Path(path, violation, wrong) => {
                let steps: Vec<&Step> = path.iter().map(|(step, _)| space.step(*step)).collect();
                let Some(verdict) = self.meaning(&steps, violation, &wrong)? else { return Ok(None) };
                verdict
            }
        };
        self.statistics.refinements = Some(self.refinements);
        Ok(Some(verdict))
    }

    /// The four cases of what a path to a violation means; nothing yet if something was learned that excludes it.
    fn meaning(
        &mut self,
        steps: &[&Step],
        violation: Violation,
        wrong: &[Atom],
    ) -> Result<Option<Verdict>, Halt> {
        let events: Vec<Event> = steps.iter().map(|step| step.event).collect();
        let length = events.len();
        if let Some(trace) = self.under_sc(&events, violation)? {
            self.refinements.sc += 1;
            self.note(format!("path of {length} steps: possible under SC"));
            return Ok(Some(Verdict::Unsafe(trace)));
        }
        let exact = self.task.machine();
        // Where nothing is buffered, that is what SC was just asked.
        if self.task.buffers()
            && let Some(trace) = self.execute(&exact, &events, None, violation)?
        {
            self.refinements.model += 1;
            self.note(format!("path of {length} steps: possible under {}", self.task.model.name()));
            return Ok(Some(Verdict::Unsafe(trace)));
        }
        let machine = self.machine(self.recall);
        if self.execute(&machine, &events, Some(steps), violation)?.is_some() {
            return self.raise_k(&events, violation);
        }
        let known = (&mut self.predicates, &mut self.vocabulary);
        let learned = exclude(self.task.program, (steps, wrong), known, &|text| self.run.monitor.note(text));
        self.refinements.predicates += 1;
        let templates = self.predicates.templates();
        let what = match learned {
            Learned::Templates => format!("{templates} templates, {} predicates", self.predicates.len()),
            Learned::Cases => "predicates decided by cases".to_string(),
            Learned::Nothing => {
                let reason = Reason::Indistinct { templates, k: Some(self.recall.k) };
                return Ok(Some(Verdict::Unknown(vec![reason])));
            }
        };
        self.note(format!("path of {length} steps: impossible with k = {}: now {what}", self.recall.k));
        Ok(None)
    }

    fn execute(
        &mut self,
        machine: &impl WithBuffers,
        events: &[Event],
        only: Option<&[&Step]>,
        violation: Violation,
    ) -> Result<Option<Trace>, Halt> {
        let progress = Progress {
            phase: "following a path",
            bound: Some(self.recall.k),
            states: self.states,
            work: FOLLOWED,
            predicates: Some(self.predicates.templates()),
            refinements: Some(self.refinements.total()),
            ..Progress::default()
        };
        let monitor = self.run.monitor;
        let go_on = || monitor.observe(&progress);
        let taken = execute(machine, events, only, Some(violation), (&mut self.vocabulary, &go_on))?;
        Ok(taken.map(|taken| taken.violating(violation)))
    }

    fn machine(&self, recall: Recall) -> Buffered<'a> {
        Buffered::recalling(self.task.program, self.task.model, recall)
    }

    /// The path without its delays, as a trace of the memory model, if SC can take it.
    fn under_sc(&mut self, events: &[Event], violation: Violation) -> Result<Option<Trace>, Halt> {
        let program = self.task.program;
        let steps: Vec<Event> =
            events.iter().copied().filter(|event| matches!(event, Event::Step { .. })).collect();
        let sc = Buffered::exact(program, SC);
        let trace = self.execute(&sc, &steps, None, violation)?;
        Ok(trace.map(|trace| trace.under(program, self.task.model)))
    }

    /// The least k with which the events can no longer happen.
    fn raise_k(&mut self, events: &[Event], violation: Violation) -> Result<Option<Verdict>, Halt> {
        let most = self.run.max_buffer.unwrap_or(usize::MAX);
        let mut k = self.recall.k + 1;
        while self.can_happen(events, violation, Recall { k, ..self.recall })? {
            k += 1;
            if k > most {
                return Ok(Some(Verdict::Unknown(vec![Reason::BuffersBeyond(most)])));
            }
        }
        self.refinements.k += 1;
        if k > KEPT_WITHOUT_PAIRS && self.use_pairs(events, violation)? {
            return Ok(None);
        }
        self.note(format!("path of {} steps: possible with k = {}: now {k}", events.len(), self.recall.k));
        self.recall.k = k;
        Ok(None)
    }

    /// Tells older forgotten stores from newer ones from now on, if there may be ever more of them, and if with
    /// that the events can no longer happen.
    fn use_pairs(&mut self, events: &[Event], violation: Violation) -> Result<bool, Halt> {
        let ever_more = self.task.program.threads.iter().any(|thread| thread.piling_up().is_some());
        if self.recall.forgotten != Forgotten::Pools || !ever_more {
            return Ok(false);
        }
        for k in 0..=self.recall.k {
            let pairs = Recall { k, forgotten: Forgotten::Pairs, ..self.recall };
            if !self.can_happen(events, violation, pairs)? {
                let length = events.len();
                self.note(format!(
                    "path of {length} steps: possible with k = {}: now pairs, k = {k}",
                    self.recall.k
                ));
                self.recall = pairs;
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether events can happen on the machine that recalls so much.
    fn can_happen(&mut self, events: &[Event], violation: Violation, recall: Recall) -> Result<bool, Halt> {
        Ok(self.execute(&self.machine(recall), events, None, violation)?.is_some())
    }

    fn note(&self, text: String) {
        self.run.monitor.note(&text);
    }
}

/// The names of threads that do not matter to a proof by cubes: those of values have no linear constraints, and where a thread goes first or waits
/// it must do so under all names. Where runs start is of no matter: paths begin there, whatever covers what.
fn names_of_threads(task: &Task<'_>, reduction: Reduction) -> Vec<Renaming> {
    let first = LocalFirst::new(task.program, task.model);
    let mut found = renamings_among(thread_swaps_but_for_starts, task.program, reduction);
    found.retain(|renaming| renaming.keeps_values() && first.is_kept_by(renaming));
    found
}

/// The cubes reached, as a proof, if there is room for that.
pub(crate) fn certificate<M: Machine, R>(
    space: &Space<'_, M>,
    recall: R,
    (predicates, vocabulary): (&Predicates, &Vocabulary),
    cubes: &[(u32, BitCube)],
    monitor: &dyn evidence::Monitor,
) -> Result<CubeProof<R, M::Global, M::Local>, Stop> {
    let literals: usize = cubes.iter().map(|(_, cube)| cube.literals().count()).sum();
    let shape = size_of::<M::Local>() + 64;
    let coming = cubes.len() * (size_of::<Cube>() + shape * space.program.threads.len())
        + literals * size_of::<(u32, bool)>();
    monitor.observe(&Progress { phase: "writing down the proof", coming, ..Progress::default() })?;
    let mut controls: Vec<u32> = cubes.iter().map(|(control, _)| *control).collect();
    controls.sort_unstable();
    controls.dedup();
    let number = |control: u32| controls.binary_search(&control).unwrap_or_default() as u32;
    let literal = |(predicate, value): (usize, bool)| (predicate as u32, value);
    let cube = |(control, cube): &(u32, BitCube)| Cube {
        control: number(*control),
        literals: cube.literals().map(literal).collect(),
    };
    Ok(CubeProof {
        recall,
        renamings: Box::default(),
        vocabulary: vocabulary.clone(),
        predicates: predicates.atoms().to_vec(),
        cubes: cubes.iter().map(cube).collect(),
        controls: controls.iter().map(|c| (space.control(*c).global.clone(), space.shapes(*c))).collect(),
    })
}
