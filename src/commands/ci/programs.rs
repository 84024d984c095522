//! `[[program]]`: verdicts, and whether every fence is needed.

use super::ask::{named, short};
use super::config::ProgramEntry;
use super::config::written::Expected;
use super::{AskedEntry, Comparing, JobResult, Update};
use crate::input::Loaded;
use crate::limits::Watch;
use crate::report::{Answered, Compared, Status, Subject, TextRegion};
use engine::{Costs, Points, decide};
use evidence::Task;
use machine::Model;
use program::{Quantifier, Question, Span};
use std::path::Path;
use std::time::Instant;

impl Comparing<'_> {
    /// Everything about one file.
    pub fn program(&self, entry_number: usize, path: &Path, done: &mut JobResult) {
        let entry = &self.config.programs[entry_number];
        let Some(loaded) = self.load(path, entry.line, &entry.how.input, done) else { return };
        let asked = |model| AskedEntry { file: &loaded.name, line: entry.line, model };
        let mut safe = Vec::new();
        for (model, expected) in &entry.expect {
            match self.verdict(&loaded, (Subject::Verdict, *model, *expected), entry, done) {
                Err(reason) => self.failed(&asked(Some(*model)), reason, done),
                Ok(verdict) => {
                    if verdict == Expected::Safe && *expected == verdict {
                        safe.push(*model);
                    }
                    let (file, model) = (loaded.name.clone(), *model);
                    done.found.push(Update::Verdict { entry: entry_number, file, model, verdict });
                }
            }
        }
        if entry.fences_needed {
            self.written_fences(&loaded, &safe, entry, done);
        }
        for (model, expected) in &entry.robust {
            let expected = if *expected { Expected::Safe } else { Expected::Unsafe };
            match self.verdict(&loaded, (Subject::Robustness, *model, expected), entry, done) {
                Err(reason) => self.failed(&asked(Some(*model)), reason, done),
                Ok(found) => {
                    let robust = (found != Expected::Unknown).then_some(found == Expected::Safe);
                    done.found.push(Update::Robustness { entry: entry_number, model: *model, robust });
                }
            }
        }
    }

    /// Reads a program, or reports why it cannot be read.
    pub fn load(
        &self,
        path: &Path,
        line: usize,
        input: &crate::args::InputArgs,
        done: &mut JobResult,
    ) -> Option<Loaded> {
        let loaded = self.session.load_claiming(&mut done.told, &Ok(path.to_path_buf()), input);
        if loaded.is_none() {
            // It has been reported with its places; here it is for the overview.
            let asked = AskedEntry { file: &crate::input::name(path), line, model: None };
            let message = "error".to_string();
            done.compared.push(self.compared(&asked, Subject::Verdict, "", Status::Error, "error", message));
        }
        loaded
    }

    /// Compares a verdict with the expected one, and says what was found. Of robustness, *safe* means robust.
    fn verdict(
        &self,
        loaded: &Loaded,
        (subject, model, expected): (Subject, Model, Expected),
        entry: &ProgramEntry,
        done: &mut JobResult,
    ) -> Result<Expected, String> {
        let watch = self.watch(&loaded.name, model, &entry.how);
        let (task, relation, word): (_, _, fn(Expected) -> &'static str) = match subject {
            Subject::Robustness => (Task::robust(&loaded.program, model), "against", robust_word),
            _ => (Task::asked(&loaded.program, model), "under", Expected::name),
        };
        let (engine, run) = (entry.how.exploring.engine(), entry.how.exploring.run(&watch));
        let mut finding = decide(&task, engine, &run).map_err(|bug| bug.to_string())?;
        let (found, reason) = short(&loaded.program, &finding.checked);
        let mut missing = None;
        if found != expected {
            finding.explain(&task, engine, &run);
            if finding.why.sc_violation == Some(false) {
                missing = Some(self.missing(&task, &watch, entry));
            }
        }
        if let Some(bug) = finding.bugs.first() {
            return Err(bug.to_string());
        }
        let under = format!("{relation} {}", model.name().to_uppercase());
        let (wanted, seen) = (word(expected), word(found));
        let (status, message) = match (&missing, found) {
            (_, found) if found == expected => (Status::Ok, format!("{wanted} {under}, as expected")),
            (Some((fences, _)), _) => (Status::Missing, format!("a fence is missing {under}: {fences}")),
            (None, Expected::Unknown) => {
                (Status::Unknown, format!("expected {wanted} {under}, found nothing: {reason}"))
            }
            (None, _) => (Status::Changed, format!("expected {wanted} {under}, found {seen}")),
        };
        let asked = AskedEntry { file: &loaded.name, line: entry.line, model: Some(model) };
        let seconds = watch.elapsed().as_secs_f64();
        let compared = Compared {
            place: missing.and_then(|(_, place)| place),
            seconds,
            ..self.compared(&asked, subject, wanted, status, seen, message)
        };
        let answered = Answered { seconds, peak: watch.peak(), ..Answered::about(loaded, task, &finding) };
        let shown = found == Expected::Unsafe && found != expected;
        self.add(done, compared, shown.then_some(&answered));
        Ok(found)
    }

    /// Which fences would prevent a violation that SC does not have.
    fn missing(
        &self,
        task: &Task<'_>,
        watch: &Watch<'_>,
        entry: &ProgramEntry,
    ) -> (String, Option<TextRegion>) {
        let program = task.program.clone().with_question_as_property();
        let task = Task { program: &program, ..*task };
        let cheapest = |points| self.cheapest(&task, &entry.how, watch, Costs::default(), points);
        [Points::Stores, Points::All].into_iter().find_map(cheapest).map_or_else(
            || ("SC is safe, but which would help was not found".to_string(), None),
            |placed| named(&program, &placed),
        )
    }

    /// Whether each fence of a program is needed under one of the models that it is safe under.
    fn written_fences(&self, loaded: &Loaded, safe: &[Model], entry: &ProgramEntry, done: &mut JobResult) {
        let program = &loaded.program;
        // SC needs no fence, and with fewer fences an outcome that must be possible stays so.
        let models: Vec<Model> = safe.iter().copied().filter(|m| !m.is_sc()).collect();
        let possible = |question: &Question| question.quantifier == Quantifier::Exists;
        if models.is_empty() || program.question.as_ref().is_some_and(possible) {
            return;
        }
        for span in program.written_fences() {
            let asked = AskedEntry { file: &loaded.name, line: entry.line, model: None };
            match self.written_fence(&asked, loaded, span, &models, entry) {
                Ok(compared) => self.add(done, compared, None),
                Err(reason) => self.failed(&asked, reason, done),
            }
        }
    }

    fn written_fence(
        &self,
        asked: &AskedEntry<'_>,
        loaded: &Loaded,
        span: Span,
        models: &[Model],
        entry: &ProgramEntry,
    ) -> Result<Compared, String> {
        let started = Instant::now();
        let without = loaded.program.without_fence(span);
        let mut unknown = None;
        let mut status = Status::Redundant;
        // The weakest model is the most likely to need it.
        for model in models.iter().rev() {
            match self.ask(asked.file, &without, *model, &entry.how)? {
                (Expected::Unsafe, _) => {
                    (status, unknown) = (Status::Ok, None);
                    break;
                }
                (Expected::Unknown, reason) => unknown = Some(reason),
                (Expected::Safe, _) => {}
            }
        }
        let place = TextRegion::of(&loaded.program.source, span);
        let line = place.map(|place| format!(" in line {}", place.line)).unwrap_or_default();
        let names: Vec<String> = models.iter().map(|model| model.name().to_uppercase()).collect();
        let names = names.join(" and ");
        let (status, found, message) = match (status, unknown) {
            (_, Some(reason)) => (
                Status::Unknown,
                "unknown",
                format!("whether the fence{line} is needed is not known: {reason}"),
            ),
            (Status::Ok, _) => (Status::Ok, "needed", format!("the fence{line} is needed")),
            (status, _) => (
                status,
                "not needed",
                format!("the fence{line} is not needed: without it, safe under {names}"),
            ),
        };
        Ok(Compared {
            place,
            seconds: started.elapsed().as_secs_f64(),
            ..self.compared(asked, Subject::Fence, "needed", status, found, message)
        })
    }
}

/// What is said of robustness.
fn robust_word(verdict: Expected) -> &'static str {
    match verdict {
        Expected::Safe => "robust",
        Expected::Unsafe => "not robust",
        Expected::Unknown => "unknown",
    }
}
