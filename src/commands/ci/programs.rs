//! `[[program]]`: verdicts, and whether every fence is needed.

use super::ask::{held, named, short};
use super::config::ProgramEntry;
use super::config::written::Expected;
use super::{Asked, Done, Found, Session};
use crate::commands::fence::goal;
use crate::commands::verify::{prevented_by, sc_violation};
use crate::input::{Loaded, load};
use crate::limits::Watch;
use crate::report::{Answered, Compared, LitmusAnswered, Place, Status, Subject};
use engine::{Costs, Points};
use evidence::{Task, Verdict, check_outcomes};
use machine::Model;
use program::{Quantifier, Question, Span};
use std::path::Path;
use std::time::Instant;

/// An answer, and what is to be said if it is not the expected one.
struct Answer {
    found: Expected,
    /// Why nothing is known.
    reason: String,
    /// What the report says.
    detail: String,
    /// The fences that are missing, and where the first goes.
    missing: Option<(String, Option<Place>)>,
}

impl Session<'_> {
    /// Everything about one file.
    pub fn program(&self, entry_number: usize, path: &Path, done: &mut Done) {
        let entry = &self.config.programs[entry_number];
        let Some(loaded) = self.load(path, entry.line, &entry.how.input, done) else { return };
        let mut safe = Vec::new();
        for (model, expected) in &entry.expect {
            let asked = Asked { file: &loaded.name, line: entry.line, model: Some(*model) };
            match self.verdict(&asked, &loaded, *model, *expected, entry) {
                Err(reason) => self.failed(&loaded.name, entry.line, Some(*model), &reason, done),
                Ok((compared, found)) => {
                    if found == Expected::Safe && compared.status == Status::Ok {
                        safe.push(*model);
                    }
                    self.add(done, compared);
                    let file = loaded.name.clone();
                    done.found.push(Found::Verdict {
                        entry: entry_number,
                        file,
                        model: *model,
                        verdict: found,
                    });
                }
            }
        }
        if entry.fences_needed {
            self.written_fences(&loaded, &safe, entry, done);
        }
    }

    /// Reads a program, or reports why it cannot be read.
    pub fn load(
        &self,
        path: &Path,
        line: usize,
        input: &crate::args::Input,
        done: &mut Done,
    ) -> Option<Loaded> {
        match load(path, input) {
            Ok(loaded) => {
                let loaded = crate::commands::warned(loaded);
                if !self.look.quiet {
                    let printed = self.report.warnings(&loaded.program.source, &loaded.warnings);
                    done.printed.out += &printed.out;
                    done.printed.err += &printed.err;
                }
                Some(loaded)
            }
            Err(unreadable) => {
                let printed = crate::commands::unreadable_report("ci", &unreadable, self.report);
                done.printed.out += &printed.out;
                done.printed.err += &printed.err;
                // It has been reported with its places; here it is for the overview.
                let asked = Asked { file: &unreadable.name, line, model: None };
                done.compared.push(self.compared(&asked, Subject::Verdict, "", Status::Error, "error"));
                None
            }
        }
    }

    fn verdict(
        &self,
        asked: &Asked<'_>,
        loaded: &Loaded,
        model: Model,
        expected: Expected,
        entry: &ProgramEntry,
    ) -> Result<(Compared, Expected), String> {
        let watch = self.watch(&loaded.name, model, &entry.how);
        let task = Task { program: &loaded.program, model };
        let answer = match &loaded.program.question {
            Some(question) => self.litmus(loaded, &task, question, expected, &watch, entry)?,
            None => self.safety(loaded, &task, expected, &watch, entry)?,
        };
        let under = model.name().to_uppercase();
        let (wanted, found) = (expected.name(), answer.found.name());
        let (status, message) = match (&answer.missing, answer.found) {
            (_, found) if found == expected => (Status::Ok, format!("{wanted} under {under}, as expected")),
            (Some((fences, _)), _) => {
                (Status::Missing, format!("a fence is missing under {under}: {fences}"))
            }
            (None, Expected::Unknown) => (
                Status::Unknown,
                format!("expected {wanted} under {under}, found nothing: {}", answer.reason),
            ),
            (None, _) => (Status::Changed, format!("expected {wanted} under {under}, found {found}")),
        };
        let mut compared = self.compared(asked, Subject::Verdict, wanted, status, found);
        compared.message = message;
        compared.place = answer.missing.and_then(|(_, place)| place);
        compared.seconds = watch.elapsed().as_secs_f64();
        compared.detail = answer.detail;
        Ok((compared, answer.found))
    }

    fn safety(
        &self,
        loaded: &Loaded,
        task: &Task<'_>,
        expected: Expected,
        watch: &Watch<'_>,
        entry: &ProgramEntry,
    ) -> Result<Answer, String> {
        let exploring = &entry.how.exploring;
        let (checked, statistics, engine) =
            crate::commands::answer(exploring.engine(), task, &exploring.run(watch))?;
        let (found, reason) = short(&loaded.program, checked.verdict());
        let mut answer = Answer { found, reason, detail: String::new(), missing: None };
        if found == expected {
            return Ok(answer);
        }
        let sc_violation = match checked.verdict() {
            Verdict::Unsafe(_) => sc_violation(exploring.engine(), exploring, task, watch, &statistics)?,
            _ => None,
        };
        if sc_violation == Some(false) {
            answer.missing = self.missing(task, watch, entry);
        }
        let prevented_by = prevented_by(task, &checked, sc_violation, watch);
        let answered = Answered {
            file: &loaded.name,
            task: *task,
            checked: &checked,
            sc_violation,
            prevented_by: prevented_by.as_ref(),
            engine,
            statistics,
            seconds: watch.elapsed().as_secs_f64(),
            peak: watch.peak(),
            evidence: None,
            warnings: &loaded.warnings,
        };
        answer.detail = match found {
            Expected::Unsafe => self.report.answer(&answered, self.look).out,
            _ => String::new(),
        };
        Ok(answer)
    }

    /// Which fences would prevent a violation that SC does not have.
    fn missing(
        &self,
        task: &Task<'_>,
        watch: &Watch<'_>,
        entry: &ProgramEntry,
    ) -> Option<(String, Option<Place>)> {
        let program = goal(task.program.clone());
        let task = Task { program: &program, ..*task };
        let placed = self.cheapest(&task, &entry.how, watch, Costs::default(), Points::Stores);
        let placed =
            placed.or_else(|| self.cheapest(&task, &entry.how, watch, Costs::default(), Points::All));
        Some(placed.map_or_else(
            || ("SC is safe, but which would help was not found".to_string(), None),
            |placed| named(&program, &placed),
        ))
    }

    fn litmus(
        &self,
        loaded: &Loaded,
        task: &Task<'_>,
        question: &Question,
        expected: Expected,
        watch: &Watch<'_>,
        entry: &ProgramEntry,
    ) -> Result<Answer, String> {
        let run = entry.how.exploring.run(watch);
        let (outcomes, statistics) = engine::outcomes(task, question, &run);
        let checked = check_outcomes(task, question, &outcomes, watch)
            .map_err(|why| crate::commands::bug("outcomes", &why))?;
        let (found, reason) = held(checked.holds(), &loaded.program, checked.missing());
        let answered = LitmusAnswered {
            file: &loaded.name,
            task: *task,
            question,
            found: &checked,
            evidence: None,
            engine: "outcomes",
            statistics,
            seconds: watch.elapsed().as_secs_f64(),
            peak: watch.peak(),
            warnings: &loaded.warnings,
        };
        let detail = match found {
            Expected::Unsafe if found != expected => self.report.litmus(&answered, self.look).out,
            _ => String::new(),
        };
        Ok(Answer { found, reason, detail, missing: None })
    }

    /// Whether each fence of a program is needed under one of the models that it is safe under.
    fn written_fences(&self, loaded: &Loaded, safe: &[Model], entry: &ProgramEntry, done: &mut Done) {
        let program = &loaded.program;
        // SC needs no fence, and with fewer fences an outcome that must be possible stays so.
        let models: Vec<Model> = safe.iter().copied().filter(|m| !m.is_sc()).collect();
        let possible = |question: &Question| question.quantifier == Quantifier::Exists;
        if models.is_empty() || program.question.as_ref().is_some_and(possible) {
            return;
        }
        for span in program.written_fences() {
            let asked = Asked { file: &loaded.name, line: entry.line, model: None };
            match self.written_fence(&asked, loaded, span, &models, entry) {
                Ok(compared) => self.add(done, compared),
                Err(reason) => self.failed(&loaded.name, entry.line, None, &reason, done),
            }
        }
    }

    fn written_fence(
        &self,
        asked: &Asked<'_>,
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
        let place = Place::of(&loaded.program.source, span);
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
        let mut compared = self.compared(asked, Subject::Fence, "needed", status, found);
        compared.message = message;
        compared.place = place;
        compared.seconds = started.elapsed().as_secs_f64();
        Ok(compared)
    }
}
