//! `fence --goal robust`: which fences make it behave as under SC?
//!
//! The answer is compared with what safety needs, which is usually less. That is a question of
//! its own, asked of the engine within what is left of the time and within a number of states.

use super::record::{printed, stem};
use super::{Done, Session, goal};
use crate::commands::robust::delays_nothing;
use crate::commands::witness_files::write_witness;
use crate::commands::{bug, claims_something};
use crate::evidence_files::Store;
use crate::exit::Exit;
use crate::input::Loaded;
use crate::limits::Watch;
use crate::report::{RobustFenced, Safety};
use engine::{
    Cuts, FenceAnswer, FenceOptions, FencePoint, MadeRobust, RobustFences, Robustness, Run,
    fences_for_robustness, place_fences, robust, robust_checked,
};
use evidence::{Monitor, Task};
use machine::Model;
use program::Program;
use std::path::PathBuf;

/// Every question about safety may look at this many states. Counting states keeps the answer
/// the same on every machine.
const SIDE_STATES: usize = 1_000_000;

impl Session<'_> {
    /// The answer for a program.
    pub(super) fn robust(&self, loaded: &Loaded, model: Model) -> Result<Done, String> {
        let program = goal(loaded.program.clone());
        let task = Task { program: &program, model };
        let watch = self.watch(loaded, model);
        let run = Run { monitor: &watch, threads: watch.threads(), ..Run::default() };
        let found = if delays_nothing(model) {
            RobustFences::Placed(Box::new(nothing_needed(&program, self.args.all)))
        } else {
            fences_for_robustness(&program, &self.options(), &run)
        };
        let exit = match &found {
            RobustFences::Placed(_) => Exit::Holds,
            RobustFences::NoCandidate(_) => Exit::Violated,
            RobustFences::Unknown(_) => Exit::Unknown,
            RobustFences::Rejected(why) => return Err(bug("robust", why)),
        };
        let safety = match &found {
            RobustFences::Placed(_) => self.safety(&task, &watch)?,
            _ => Safety::NotAsked,
        };
        let (seconds, peak) = (watch.elapsed().as_secs_f64(), watch.peak());
        let mut recorder = Recorder { stem: stem(loaded), model, run, files: Vec::new() };
        let mut trouble = self.store.as_ref().and_then(|store| recorder.answer(store, &found).err());
        let fenced = match &found {
            RobustFences::Placed(placed) => {
                let points = placed.fences.iter().map(|fence| &fence.point);
                self.fenced(loaded, points, &placed.program, &mut trouble)
            }
            _ => None,
        };
        let report = RobustFenced {
            file: &loaded.name,
            task,
            found: &found,
            safety: &safety,
            seconds,
            peak,
            evidence: &recorder.files,
            warnings: &loaded.warnings,
        };
        let printed = self.report.robust_fences(&report, self.look);
        Ok(Done { printed, exit: Some(exit), fenced, trouble, ..Done::default() })
    }

    /// What safety needs.
    fn safety(&self, task: &Task<'_>, watch: &Watch<'_>) -> Result<Safety, String> {
        if !claims_something(task.program) {
            return Ok(Safety::NothingClaimed);
        }
        let exploring = &self.args.exploring;
        let options = FenceOptions { all: false, ..self.options() };
        let watch = watch.with_states(SIDE_STATES);
        let found = place_fences(task, exploring.engine(), &options, &exploring.run(&watch));
        Ok(match found.answer {
            FenceAnswer::Placed(placed) => {
                let count = |point: &FencePoint| point.threads().len();
                let count = placed.fences.iter().map(|fence| count(&fence.point)).sum();
                Safety::Needs { count, cost: placed.cost }
            }
            FenceAnswer::UnsafeUnderSc(_) => Safety::UnsafeUnderSc,
            FenceAnswer::NoCandidate(_) => Safety::NoCandidate,
            FenceAnswer::Unknown(reasons) => Safety::Unknown(reasons),
            FenceAnswer::Rejected(why) => return Err(bug(found.engine, &why)),
        })
    }
}

/// The answer where every program is robust.
fn nothing_needed(program: &Program, all: bool) -> MadeRobust {
    MadeRobust {
        fences: Vec::new(),
        cost: 0,
        program: program.clone(),
        proof: None,
        alternatives: all.then(Vec::new),
        missing: Vec::new(),
        questions: 0,
    }
}

/// Writes programs as `.fw`, each with the proof or the witness that belongs to it. Evidence names
/// places by number, and reading a program back may number them anew, so each is asked about once
/// more.
struct Recorder<'a> {
    stem: String,
    model: Model,
    run: Run<'a>,
    files: Vec<PathBuf>,
}

impl Recorder<'_> {
    fn answer(&mut self, store: &Store, found: &RobustFences) -> Result<(), String> {
        let name = |what: &str| format!("{}.{}.{what}", self.stem, self.model.name());
        match found {
            RobustFences::Placed(placed) => {
                let with = name("robust");
                let without: Vec<(String, &Program)> = placed
                    .fences
                    .iter()
                    .enumerate()
                    .filter_map(|(at, fence)| {
                        let (program, _) = fence.without.as_ref()?;
                        Some((name(&format!("robust-without-{}", at + 1)), program))
                    })
                    .collect();
                self.robust(store, &with, &placed.program)?;
                without.into_iter().try_for_each(|(name, program)| self.not_robust(store, &name, program))
            }
            RobustFences::NoCandidate(found) => {
                let name = name("robust-without");
                self.not_robust(store, &name, &found.0)
            }
            RobustFences::Unknown(_) | RobustFences::Rejected(_) => Ok(()),
        }
    }

    /// A program that is robust; against SC there is nothing to prove.
    fn robust(&mut self, store: &Store, name: &str, program: &Program) -> Result<(), String> {
        let (text, program) = printed(name, program)?;
        if delays_nothing(self.model) {
            self.files.push(store.write_program(name, &text)?);
            return Ok(());
        }
        let answer = robust_checked(&program, &self.run, Cuts::ALL).map_err(|why| bug("robust", &why))?;
        let (Robustness::Robust, _, Some(checked)) = answer else {
            return Err(format!("no evidence was written for {name}: no proof was found within the limits"));
        };
        self.files.push(store.write_program(name, &text)?);
        self.files.push(store.write_robust(name, &program, checked.proof())?);
        Ok(())
    }

    /// A program that is not robust.
    fn not_robust(&mut self, store: &Store, name: &str, program: &Program) -> Result<(), String> {
        let (text, program) = printed(name, program)?;
        let Robustness::NotRobust(checked) = robust(&program, &self.run) else {
            return Err(format!(
                "no evidence was written for {name}: no witness was found within the limits"
            ));
        };
        self.files.push(store.write_program(name, &text)?);
        self.files.extend(write_witness(store, name, &format!("{name}.fw"), &program, &checked)?);
        Ok(())
    }
}
