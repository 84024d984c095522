//! The checker of proofs by cubes [000, sec. 5].
//!
//! The proof claims: whenever the machine that forgets is in a control, its data satisfy one of the
//! control's cubes. Three things are worked out again for that, on a machine of our own:
//!
//! * the initial values satisfy a cube of the initial control;
//! * a cube and a violation have no common values;
//! * for a cube and a case of a move: cube and guard have no common values, or what the move makes
//!   of them satisfies a cube of the control it leads to. Where a thread may go first
//!   ([`LocalFirst`]), its edges are enough; where it may wait for its stores, its drains are.
//!
//! A literal about a pool is meant *for every member*, and a pool has members. As a hypothesis it
//! is used with the pool's variable as some member, and with the member that a drain takes. As
//! a goal it is proved for a member of which nothing else is known, and for one that joins.
//! "One of these cubes holds" then means "for all members the first, or for all members the
//! second"; that is not "for each member the first or the second". So where several cubes are needed to
//! cover what a step leads to, each may fail for a member of its own, of which all is known that is
//! known of the pool; it is to be shown that they cannot all fail.
//!
//! With pairs ([`machine::Forgotten::Pairs`]) all of this is said of *choices*: a member p and a forgotten store n
//! newer than p, both of one variable. Let l be the newest forgotten store. It is in no pool and newer than all members, so where there is a
//! pool there is a choice, (p, l). When l joins as y becomes the newest, the choices are the old ones, (p, y) for every old p,
//! and (l, y). When the oldest member d leaves and others stay, the choices afterwards are those of before without d, and
//! for each of them (d, n) and (d, p) are choices of before. When d leaves and was alone, (d, l) was the only choice.
//!
//! A proof may list cubes up to the names of threads; what that means is said in `renamed.rs`.
//!
//! Nothing of the solver is believed but certificates, which [`logic::check`] verifies.

mod atoms;
mod cover;
mod facts;
mod renamed;
mod smtlib;
mod steps;
mod valid;

pub use renamed::renamed_atom;
pub(crate) use smtlib::write_obligations;
pub(crate) use valid::control_slots;

use crate::parallel::each;
use crate::symbolic::{self, AtomCases, Vocabulary};
use crate::{CubeProof, Monitor, Progress, Rejected, Task};
use atoms::{AtomId, Atoms};
use cover::Landing;
use facts::CubeFacts;
use logic::Atom;
use machine::{Buffered, Event, Local, LocalFirst, Machine, Recall, Violation};
use program::Program;
use std::fmt;
use std::ops::ControlFlow;
use steps::{Image, Steps};
use valid::{CubeProofOf, ValidProof};

/// No proof of ours keeps more stores of a thread; a file that says so only wants to take time.
const MOST_KEPT: usize = 256;

/// Proofs of fewer cubes are checked by one thread.
const WORTH_PIECES: usize = 512;

/// Unions of more cubes than this are not tried.
const MOST_TOGETHER: usize = 64;

/// What is wrong with a proof by cubes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CubeFlaw {
    /// This control is none of the machine's, or stands there twice.
    Control(usize),
    /// This predicate speaks of something else than slots, or of nothing.
    Predicate(usize),
    /// This cube's control or literals do not exist, or are not in order.
    Cube(usize),
    /// The moves or the properties in this control are not linear.
    NotLinear(usize),
    /// The initial values satisfy no cube.
    Initial,
    /// This cube allows a violation.
    Violated(usize, Violation),
    /// What this event makes of the cube satisfies no cube.
    Uncovered(usize, Event),
}

impl fmt::Display for CubeFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CubeFlaw::Control(at) => write!(f, "control {} does not exist, or exists already", at + 1),
            CubeFlaw::Predicate(at) => write!(f, "predicate {} does not speak of slots", at + 1),
            CubeFlaw::Cube(at) => write!(f, "cube {} does not fit its control", at + 1),
            CubeFlaw::NotLinear(at) => write!(f, "a step or a property in control {} is not linear", at + 1),
            CubeFlaw::Initial => write!(f, "the initial values satisfy no cube"),
            CubeFlaw::Violated(at, _) => write!(f, "cube {} allows a violation", at + 1),
            CubeFlaw::Uncovered(at, _) => write!(f, "a step from cube {} satisfies no cube", at + 1),
        }
    }
}

impl From<CubeFlaw> for Rejected {
    fn from(flaw: CubeFlaw) -> Rejected {
        Rejected::Cubes(flaw)
    }
}

/// Checks a proof by cubes.
pub(crate) fn check_cubes(task: &Task<'_>, proof: &CubeProof, monitor: &dyn Monitor) -> Result<(), Rejected> {
    if proof.renamings.is_empty() {
        return forgetful_proof(task, proof)?.check(monitor);
    }
    let whole = renamed::written_out(task, proof, monitor)?;
    ValidProof { listed: proof.cubes.len() as u32, ..forgetful_proof(task, &whole)? }.check(monitor)
}

/// A proof about the machine that forgets.
fn forgetful_proof<'a>(
    task: &Task<'a>,
    proof: &'a CubeProof,
) -> Result<ValidProof<'a, Buffered<'a>, Recall>, CubeFlaw> {
    keeps_few(proof)?;
    let machine = Buffered::recalling(task.program, task.model, proof.recall);
    ValidProof::new(task.program, machine, LocalFirst::new(task.program, task.model), proof)
}

/// Whether no control keeps more stores than those of our proofs.
fn keeps_few(proof: &CubeProof) -> Result<(), CubeFlaw> {
    let too_long = |(_, shapes): &(_, Vec<Local>)| shapes.iter().any(|shape| shape.kept.len() > MOST_KEPT);
    proof.controls.iter().position(too_long).map_or(Ok(()), |at| Err(CubeFlaw::Control(at)))
}

/// Checks a proof about a machine in which nobody goes first.
pub(crate) fn check_cubes_on<M: Machine, R: Sync>(
    program: &Program,
    machine: M,
    proof: &CubeProofOf<M, R>,
    monitor: &dyn Monitor,
) -> Result<(), Rejected> {
    if !proof.renamings.is_empty() {
        return Err(Rejected::Renaming);
    }
    ValidProof::new(program, machine, LocalFirst::nobody(program), proof)?.check(monitor)
}

impl<M: Machine, R: Sync> ValidProof<'_, M, R> {
    /// Shows everything that has to be shown. On several threads every one takes some of the controls; of those that show
    /// something wrong the first counts, as it would on one.
    fn check(&self, monitor: &dyn Monitor) -> Result<(), Rejected> {
        CubeChecker::new(self).initial()?;
        let few = self.proof.cubes.len() < WORTH_PIECES;
        let threads = if few { 1 } else { monitor.threads().max(1) };
        let pieces = each(threads, threads, |piece| {
            let controls = (piece..self.proof.controls.len()).step_by(threads);
            ControlFlow::Continue(CubeChecker::new(self).controls(controls, monitor))
        });
        let wrong = pieces.into_iter().filter_map(Result::err).min_by_key(|(control, _)| *control);
        wrong.map_or(Ok(()), |(_, rejected)| Err(rejected))
    }
}

/// What has to be shown of every cube of a control.
struct CubeObligations {
    violations: Vec<(Violation, Vec<AtomId>)>,
    /// Numbers of steps, with the control they lead to, if it is part of the proof.
    steps: Vec<(usize, Option<u32>)>,
}

/// What one thread knows while it checks.
struct CubeChecker<'a, M: Machine, R> {
    valid: &'a ValidProof<'a, M, R>,
    vocabulary: Vocabulary,
    atoms: Atoms,
    /// The predicates as atoms.
    predicates: Vec<AtomId>,
    steps: Steps<'a, M>,
    facts: CubeFacts,
    landing: Landing,
}

impl<'a, M: Machine, R> CubeChecker<'a, M, R> {
    fn new(valid: &'a ValidProof<'a, M, R>) -> CubeChecker<'a, M, R> {
        let (vocabulary, mut atoms) = (valid.proof.vocabulary.clone(), Atoms::new());
        let predicates = valid.proof.predicates.iter().map(|atom| atoms.id(&vocabulary, atom)).collect();
        CubeChecker {
            valid,
            vocabulary,
            atoms,
            predicates,
            steps: Steps::new(&valid.machine),
            facts: CubeFacts::default(),
            landing: Landing::default(),
        }
    }

    /// Shows what has to be shown of some controls, or says of which it cannot.
    fn controls(
        &mut self,
        controls: impl Iterator<Item = usize>,
        monitor: &dyn Monitor,
    ) -> Result<(), (usize, Rejected)> {
        let (mut checked, mut observed) = (0, 0);
        for control in controls {
            let mut listed = self.valid.listed_of(control).peekable();
            if listed.peek().is_none() {
                continue;
            }
            let work = self.work(control).map_err(|flaw| (control, flaw.into()))?;
            for cube in listed {
                let bytes = self.bytes();
                if checked % 256 == 0 || bytes > observed + (1 << 20) {
                    observed = bytes;
                    let progress =
                        Progress { phase: "checking", states: checked, bytes, ..Default::default() };
                    monitor.observe(&progress).map_err(|stop| (control, Rejected::Stopped(stop)))?;
                }
                checked += 1;
                self.cube(cube as usize, &work).map_err(|flaw| (control, flaw.into()))?;
            }
        }
        Ok(())
    }

    /// Bytes of the tables, roughly.
    fn bytes(&self) -> usize {
        self.atoms.bytes() + self.steps.bytes + self.facts.bytes()
    }

    /// The number of the control at the start.
    fn start(&self) -> Option<u32> {
        let (global, shapes) = self.steps.machine().initial();
        self.valid.controls.get(&(global, shapes.as_slice())).copied()
    }

    fn initial(&mut self) -> Result<(), CubeFlaw> {
        let cases = self.start_cases();
        let covered = cases.iter().all(|case| self.covers_start(case));
        if covered { Ok(()) } else { Err(CubeFlaw::Initial) }
    }

    /// The cases in which a run may start. Where conditions on initial values are not linear, all starts that the
    /// variables' domains allow have to be covered, which are no fewer.
    fn start_cases(&mut self) -> AtomCases {
        symbolic::start_cases(&mut self.vocabulary, self.valid.program).unwrap_or_else(|_| vec![Vec::new()])
    }

    /// Whether cubes cover what a run may start with in this case.
    fn covers_start(&mut self, case: &[Atom]) -> bool {
        let (_, shapes) = self.steps.machine().initial();
        let mut known: Vec<AtomId> = case.iter().map(|atom| self.atoms.id(&self.vocabulary, atom)).collect();
        for slot in control_slots(self.steps.machine(), &shapes) {
            let atoms = symbolic::initially(&mut self.vocabulary, self.valid.program, slot);
            known.extend(atoms.iter().map(|atom| self.atoms.id(&self.vocabulary, atom)));
        }
        self.facts.begin(&self.atoms, known);
        let target = self.start();
        self.lands(&mut Image::default(), &[], target)
    }

    /// What has to be shown of the cubes of a control.
    fn work(&mut self, control: usize) -> Result<CubeObligations, CubeFlaw> {
        let (global, shapes) = &self.valid.proof.controls[control];
        let not_linear = |_| CubeFlaw::NotLinear(control);
        let standing = self.steps.machine().standing(shapes);
        let cases =
            symbolic::violations(&mut self.vocabulary, self.valid.program, &standing).map_err(not_linear)?;
        let mut numbers =
            |case: &[Atom]| case.iter().map(|atom| self.atoms.id(&self.vocabulary, atom)).collect();
        let violations = cases.iter().map(|(violation, case)| (*violation, numbers(case))).collect();
        let first = self.valid.first.thread(standing.iter().copied());
        let mut steps = Vec::new();
        for thread in self.valid.program.thread_ids().filter(|t| first.is_none_or(|first| first == *t)) {
            let (loc, drained) = standing[thread.index()];
            let waits = self.valid.first.waits(thread, loc, drained);
            let terms = (&mut self.vocabulary, &mut self.atoms);
            let shape = &shapes[thread.index()];
            for at in self.steps.of(terms, (thread, global, shape)).map_err(not_linear)? {
                let step = self.steps.step(at);
                let drains = matches!(step.event, Event::Drain { .. });
                if if drains { first.is_some() } else { waits } {
                    continue;
                }
                let mut next = shapes.clone();
                next[thread.index()] = step.local.clone();
                steps.push((at, self.valid.controls.get(&(step.global.clone(), next.as_slice())).copied()));
            }
        }
        Ok(CubeObligations { violations, steps })
    }

    /// Turns to a cube.
    fn begin(&mut self, at: usize) {
        let literals = &self.valid.proof.cubes[at].literals;
        let literal = |(p, sign): &(u32, bool)| self.atoms.signed(self.predicates[*p as usize], *sign);
        self.facts.begin(&self.atoms, literals.iter().map(literal));
    }

    fn cube(&mut self, at: usize, work: &CubeObligations) -> Result<(), CubeFlaw> {
        self.begin(at);
        for (violation, case) in &work.violations {
            self.facts.assume(&self.atoms, case.iter().copied());
            let impossible = self.facts.contradictory(&self.atoms, case);
            self.facts.leave_step();
            if !impossible {
                return Err(CubeFlaw::Violated(at, *violation));
            }
        }
        for (step, target) in &work.steps {
            if !self.step(at, *step, *target) {
                return Err(CubeFlaw::Uncovered(at, self.steps.step(*step).event));
            }
        }
        Ok(())
    }

    /// Whether a step from a cube is impossible or leads into a cube.
    fn step(&mut self, cube: usize, step: usize, target: Option<u32>) -> bool {
        let known = self.step_facts(cube, step);
        let guard = self.steps.step(step).guard.clone();
        self.facts.assume(&self.atoms, guard.iter().copied().chain(known));
        let mut after = std::mem::take(&mut self.steps.step_mut(step).after);
        let lands = self.lands(&mut after, &guard, target);
        self.steps.put_back(step, after);
        self.facts.leave_step();
        lands
    }

    /// What the cube says of the member that a step takes from a pool.
    fn step_facts(&mut self, cube: usize, step: usize) -> Vec<AtomId> {
        let predicates = &self.valid.proof.predicates;
        let mut known = Vec::new();
        for taken in &mut self.steps.step_mut(step).taken {
            for (p, sign) in &self.valid.proof.cubes[cube].literals {
                if taken.touches(&predicates[*p as usize]) {
                    let instances = taken.of((&self.vocabulary, &mut self.atoms), predicates, *p as usize);
                    known.extend(instances.iter().map(|id| self.atoms.signed(*id, *sign)));
                }
            }
        }
        known
    }
}
