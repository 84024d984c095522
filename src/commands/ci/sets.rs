//! `[[fences]]`: does a set of fences suffice, and is each of them needed?

use super::ask::named;
use super::config::written::Expected;
use super::config::{ExpectedFence, FencesEntry};
use super::{AskedEntry, Comparing, JobResult, Update};
use crate::report::{Compared, Status, Subject, TextRegion, fence_name, kind, statement_of};
use engine::{FenceOptions, FencePoint, Points, fence_points};
use evidence::Task;
use program::{FenceSet, Program};
use std::path::Path;
use std::time::Instant;

impl Comparing<'_> {
    /// Everything about one set.
    pub fn fences(&self, entry_number: usize, path: &Path, done: &mut JobResult) {
        let entry = &self.config.fences[entry_number];
        let Some(loaded) = self.load(path, entry.line, &entry.how.input, done) else { return };
        let program = loaded.program.clone().with_question_as_property();
        let asked = AskedEntry { file: &loaded.name, line: entry.line, model: Some(entry.model) };
        let compared = self.set(&asked, &program, entry).unwrap_or_else(|reason| {
            self.compared(&asked, Subject::Fences, "", Status::Error, "error", reason)
        });
        // A set that will do is kept, even if others would as well.
        let keep = matches!(compared.status, Status::Ok | Status::Unknown);
        self.add(done, compared, None);
        if keep || !self.update {
            return;
        }
        let task = Task::safe(&program, entry.model);
        let watch = self.watch(&loaded.name, entry.model, &entry.how);
        if let Some(placed) = self.cheapest(&task, &entry.how, &watch, entry.costs, entry.points) {
            let points: Vec<&FencePoint> = placed.fences.iter().map(|fence| &fence.point).collect();
            let places = written(&program, entry, &points);
            done.found.push(Update::Fences { entry: entry_number, places });
        }
    }

    fn set(
        &self,
        asked: &AskedEntry<'_>,
        program: &Program,
        entry: &FencesEntry,
    ) -> Result<Compared, String> {
        let started = Instant::now();
        let chosen = chosen(program, entry)?;
        let under = entry.model.name().to_uppercase();
        let all: Vec<&FencePoint> = chosen.iter().collect();
        let expected = match all.len() {
            0 => "none needed".to_string(),
            count => format!("{count} needed"),
        };
        let ask =
            |points: &[&FencePoint]| self.ask(asked.file, &with(program, points), entry.model, &entry.how);
        let mut compared = match ask(&all)? {
            (Expected::Unsafe, _) => self.too_few(asked, program, entry, &expected),
            (Expected::Unknown, reason) => {
                let message = format!("whether these fences suffice under {under} is not known: {reason}");
                self.compared(asked, Subject::Fences, &expected, Status::Unknown, "unknown", message)
            }
            (Expected::Safe, _) => {
                let (mut redundant, mut unknown) = (Vec::new(), None);
                for at in 0..all.len() {
                    let mut others = all.clone();
                    let point = others.remove(at);
                    match ask(&others)? {
                        (Expected::Safe, _) => redundant.push(point),
                        (Expected::Unknown, reason) => unknown = Some(reason),
                        (Expected::Unsafe, _) => {}
                    }
                }
                self.enough(asked, program, &expected, &redundant, unknown)
            }
        };
        compared.seconds = started.elapsed().as_secs_f64();
        Ok(compared)
    }

    /// With all fences something is violated.
    fn too_few(
        &self,
        asked: &AskedEntry<'_>,
        program: &Program,
        entry: &FencesEntry,
        expected: &str,
    ) -> Compared {
        let task = Task::safe(program, entry.model);
        let watch = self.watch(asked.file, entry.model, &entry.how);
        let placed = self.cheapest(&task, &entry.how, &watch, entry.costs, entry.points);
        let named = placed.map(|placed| named(program, &placed));
        let under = entry.model.name().to_uppercase();
        let message = match &named {
            Some((fences, _)) => format!("these fences do not suffice under {under}; these do: {fences}"),
            None => format!("these fences do not suffice under {under}; which do was not found"),
        };
        let compared = self.compared(asked, Subject::Fences, expected, Status::Missing, "unsafe", message);
        Compared { place: named.and_then(|(_, place)| place), ..compared }
    }

    /// With all fences nothing is violated.
    fn enough(
        &self,
        asked: &AskedEntry<'_>,
        program: &Program,
        expected: &str,
        redundant: &[&FencePoint],
        unknown: Option<String>,
    ) -> Compared {
        let under = asked.model.map(|model| model.name().to_uppercase()).unwrap_or_default();
        let (status, found, message) = match (redundant, unknown) {
            ([], None) => {
                (Status::Ok, expected.to_string(), format!("these fences are needed under {under}"))
            }
            ([], Some(reason)) => (
                Status::Unknown,
                "unknown".to_string(),
                format!("whether each of these fences is needed under {under} is not known: {reason}"),
            ),
            (some, _) => {
                let names: Vec<String> = some.iter().map(|point| fence_name(program, point)).collect();
                let message = format!("not needed under {under}: {}", names.join(", "));
                (Status::Redundant, format!("{} not needed", some.len()), message)
            }
        };
        let place = redundant.first().and_then(|point| TextRegion::of(&program.source, point.span));
        Compared { place, ..self.compared(asked, Subject::Fences, expected, status, &found, message) }
    }
}

fn with(program: &Program, points: &[&FencePoint]) -> Program {
    let mut set = FenceSet::new();
    for placement in points.iter().flat_map(|point| &point.placements) {
        set.insert(*placement);
    }
    set.apply(program)
}

/// Every place where a fence may go, whatever `points` says, and locked exchanges as well.
fn candidates(program: &Program, entry: &FencesEntry) -> Vec<FencePoint> {
    let mut costs = entry.costs;
    costs.exchange.get_or_insert(1);
    let options = FenceOptions { costs, points: Points::All, ..FenceOptions::default() };
    fence_points(program, entry.model, &options)
}

/// The places that an entry names.
fn chosen(program: &Program, entry: &FencesEntry) -> Result<Vec<FencePoint>, String> {
    let candidates = candidates(program, entry);
    entry.places.iter().map(|place| find(program, &candidates, place)).collect()
}

fn find(program: &Program, candidates: &[FencePoint], place: &ExpectedFence) -> Result<FencePoint, String> {
    let line = |point: &FencePoint| program.source.line(point.span);
    let side = if place.before { "before" } else { "after" };
    let alike = candidates.iter().filter(|point| is_at(program, point, place));
    let alike: Vec<&FencePoint> =
        alike.filter(|point| place.line.is_none() || line(point) == place.line).collect();
    let at = place.line.map(|line| format!(" in line {line}")).unwrap_or_default();
    match alike[..] {
        [point] => Ok(point.clone()),
        [] => Err(format!(
            "no {} fence can stand {side} `{}`{at}; is it a statement of the program that {}?",
            place.kind,
            place.statement,
            if place.before { "reads a variable" } else { "stores to a variable" },
        )),
        _ => {
            let lines: Vec<String> =
                alike.iter().filter_map(|point| line(point)).map(|line| line.to_string()).collect();
            Err(format!(
                "`{}` stands in lines {}: say which with `line`",
                place.statement,
                lines.join(" and ")
            ))
        }
    }
}

fn is_at(program: &Program, point: &FencePoint, place: &ExpectedFence) -> bool {
    point.before == place.before
        && kind(point.strength) == place.kind
        && statement_of(program, point) == place.statement
}

/// Points as an entry names them, with lines only where statements are alike.
fn written(program: &Program, entry: &FencesEntry, points: &[&FencePoint]) -> Vec<ExpectedFence> {
    let candidates = candidates(program, entry);
    let place = |point: &&FencePoint| {
        let place = ExpectedFence {
            statement: statement_of(program, point),
            before: point.before,
            line: None,
            kind: kind(point.strength),
        };
        let alike = candidates.iter().filter(|other| is_at(program, other, &place)).count();
        let line = program.source.line(point.span).filter(|_| alike > 1);
        ExpectedFence { line, ..place }
    };
    points.iter().map(place).collect()
}
