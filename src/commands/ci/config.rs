//! `fencewright.toml`: what is expected of which programs.
//!
//! The file is read as it is written ([`written`]) and then resolved: defaults are filled in,
//! names of models and engines are known, and every entry has its line. What is wrong with it
//! is a diagnostic with a place, like what is wrong with a program.

mod error;
pub mod written;

use crate::args::{CInput, Exploring, InputArgs, bytes};
use crate::input::{Unreadable, name, read_file};
use crate::limits::Budget;
use crate::numbers::counted;
use clap::Parser;
use engine::{Costs, ENGINES, Points, USUAL_BUFFER};
use frontend::Diagnostic;
use machine::{MODELS, Model, TSO, model_named};
use program::{Source, Span};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;
use written::{Expect, ExpectRobust, Expected, WrittenConfig, WrittenFences, WrittenProgram};

/// Everything that is expected.
pub struct CiConfig {
    /// The file, as the user named it.
    pub name: String,
    /// Its text.
    pub source: Source,
    /// The folder it stands in.
    pub folder: PathBuf,
    /// Expectations of programs.
    pub programs: Vec<ProgramEntry>,
    /// Expectations of sets of fences.
    pub fences: Vec<FencesEntry>,
}

/// `[[program]]`
pub struct ProgramEntry {
    /// Files or patterns, as they are written.
    pub files: Vec<String>,
    /// Files or patterns that are not meant.
    pub except: Vec<String>,
    /// The line of the entry.
    pub line: usize,
    /// What is expected under which model.
    pub expect: Vec<(Model, Expected)>,
    /// Whether every fence of the program must be needed.
    pub fences_needed: bool,
    /// Whether it must only behave as under SC, for each model for which that is asked.
    pub robust: Vec<(Model, bool)>,
    /// How to ask.
    pub how: How,
}

/// `[[fences]]`
pub struct FencesEntry {
    /// The file, as it is written.
    pub file: String,
    /// The line of the entry.
    pub line: usize,
    /// Under which model.
    pub model: Model,
    /// The fences.
    pub places: Vec<ExpectedFence>,
    /// Where `--update` may put fences, and at which price.
    pub points: Points,
    /// What fences cost.
    pub costs: Costs,
    /// How to ask.
    pub how: How,
}

/// Where a fence is expected.
#[derive(Clone, Debug)]
pub struct ExpectedFence {
    /// The statement.
    pub statement: String,
    /// Whether the fence stands before it.
    pub before: bool,
    /// Its line, where the text alone does not tell.
    pub line: Option<usize>,
    /// `full`, `store` or `swap`.
    pub kind: &'static str,
}

/// How to ask about a program.
pub struct How {
    /// How it is read.
    pub input: InputArgs,
    /// The engine and its bounds.
    pub exploring: Exploring,
    /// How far to go.
    pub budget: Budget,
}

impl CiConfig {
    /// Reads a configuration.
    pub fn read(path: &Path) -> Result<CiConfig, Box<Unreadable>> {
        let hint = if path.exists() {
            ""
        } else {
            "; `fencewright ci --init` writes one, `fencewright ci --help` shows how to do it"
        };
        let text = read_file(path).map_err(|why| Unreadable::new(name(path), format!("{why}{hint}")))?;
        CiConfig::of_text(path, text)
    }

    /// The configuration of a text that stands in this file.
    pub fn of_text(path: &Path, text: String) -> Result<CiConfig, Box<Unreadable>> {
        let name = name(path);
        let source = Source::new(&*name, text);
        let (written, mut wrong) = error::read(source.text());
        let entries =
            written.and_then(|written| resolve(&written, &source).map_err(|more| wrong.extend(more)).ok());
        wrong.sort_by_key(|diagnostic| diagnostic.span);
        let (Some((programs, fences)), true) = (entries, wrong.is_empty()) else {
            let reason = counted(wrong.len(), "error");
            return Err(Box::new(Unreadable { name, reason, diagnostics: wrong, source: Some(source) }));
        };
        let folder = path.parent().unwrap_or(Path::new("")).to_path_buf();
        Ok(CiConfig { name, source, folder, programs, fences })
    }
}

/// The limits of an entry on time, states and store buffers.
type WrittenLimits<'a> = (&'a Option<Spanned<f64>>, &'a Option<Spanned<i64>>, &'a Option<Spanned<i64>>);

type Entries = (Vec<ProgramEntry>, Vec<FencesEntry>);

/// All entries, or what is wrong with each that is wrong.
fn resolve(written: &WrittenConfig, source: &Source) -> Result<Entries, Vec<Diagnostic>> {
    let resolver = Resolver { written, source };
    let mut wrong = Vec::new();
    let programs = written.program.iter().map(|entry| resolver.program(entry));
    let programs: Vec<_> = programs.filter_map(|entry| entry.map_err(|why| wrong.push(why)).ok()).collect();
    let fences = written.fences.iter().map(|entry| resolver.fences(entry));
    let fences: Vec<_> = fences.filter_map(|entry| entry.map_err(|why| wrong.push(why)).ok()).collect();
    if programs.is_empty() && fences.is_empty() && wrong.is_empty() {
        let nothing = Diagnostic::error(Span::NONE, "nothing is expected here");
        wrong.push(nothing.hint("add a [[program]] with `file = \"…\"`, or let `ci --init` write the file"));
    }
    if wrong.is_empty() { Ok((programs, fences)) } else { Err(wrong) }
}

struct Resolver<'a> {
    written: &'a WrittenConfig,
    source: &'a Source,
}

fn span(range: Range<usize>) -> Span {
    Span::new(range.start, range.end)
}

impl Resolver<'_> {
    fn line<T>(&self, of: &Spanned<T>) -> usize {
        self.source.line(span(of.span())).unwrap_or(1)
    }

    fn program(&self, entry: &WrittenProgram) -> Result<ProgramEntry, Diagnostic> {
        let files = &entry.file.get_ref().0;
        if files.is_empty() {
            return Err(Diagnostic::error(span(entry.file.span()), "there is no file in this list"));
        }
        let models = entry.models.as_ref().or(self.written.defaults.models.as_ref());
        let models = models.map(|models| self.models(models)).transpose()?;
        let models = models.unwrap_or_else(|| vec![TSO]);
        let all = |expected: Expected| models.iter().map(|model| (*model, expected)).collect();
        let expect = match entry.expect.as_ref().map(|expect| (expect.get_ref(), expect.span())) {
            None => all(Expected::Safe),
            Some((Expect::All(expected), _)) => all(*expected),
            Some((Expect::Each(each), place)) => {
                if entry.models.is_some() {
                    let message = "the models stand here already; `models` would say them again";
                    return Err(Diagnostic::error(span(place), message).hint("remove `models`"));
                }
                let known = each.iter().map(|(model, expected)| Ok((self.model(model)?, *expected)));
                let mut known = known.collect::<Result<Vec<_>, Diagnostic>>()?;
                known.sort_by_key(|(model, _)| MODELS.iter().position(|m| m == model));
                known
            }
        };
        if expect.is_empty() {
            return Err(Diagnostic::error(span(entry.file.span()), "nothing is expected of this program")
                .hint("name a model, as in `expect = { tso = \"safe\" }`"));
        }
        Ok(ProgramEntry {
            files: files.clone(),
            except: entry.except.as_ref().map(|except| except.0.clone()).unwrap_or_default(),
            line: self.line(&entry.file),
            expect,
            robust: self.robust(entry.robust.as_ref())?,
            fences_needed: entry.fences.unwrap_or_default() == written::FenceCheck::Needed,
            how: self.how(&entry.engine, (&entry.timeout, &entry.states, &entry.buffer), &entry.define)?,
        })
    }

    fn fences(&self, entry: &WrittenFences) -> Result<FencesEntry, Diagnostic> {
        let places = entry.places.iter().map(|place| self.place(place)).collect::<Result<_, _>>()?;
        let costs = match &entry.cost {
            None => Costs::default(),
            Some(text) => crate::args::fence_costs(text.get_ref())
                .map_err(|why| Diagnostic::error(span(text.span()), why))?,
        };
        Ok(FencesEntry {
            file: entry.file.get_ref().clone(),
            line: self.line(&entry.file),
            model: self.model(&entry.model)?,
            places,
            points: entry.points.unwrap_or_default().into(),
            costs,
            how: self.how(&entry.engine, (&entry.timeout, &entry.states, &entry.buffer), &entry.define)?,
        })
    }

    fn robust(&self, expected: Option<&ExpectRobust>) -> Result<Vec<(Model, bool)>, Diagnostic> {
        match expected {
            None => Ok(Vec::new()),
            Some(ExpectRobust::Tso(robust)) => Ok(vec![(TSO, *robust)]),
            Some(ExpectRobust::Each(each)) => {
                each.iter().map(|(model, robust)| Ok((self.model(model)?, *robust))).collect()
            }
        }
    }

    fn place(&self, place: &Spanned<written::WrittenFencePlace>) -> Result<ExpectedFence, Diagnostic> {
        let (at, place) = (span(place.span()), place.get_ref());
        let (statement, before) = match (&place.after, &place.before) {
            (Some(statement), None) => (statement, false),
            (None, Some(statement)) => (statement, true),
            _ => {
                return Err(Diagnostic::error(at, "a fence stands either `after` or `before` a statement")
                    .hint("write it as { after = \"x = 1\" }"));
            }
        };
        let kind = place.kind.unwrap_or_default().name();
        Ok(ExpectedFence { statement: folded(statement), before, line: place.line, kind })
    }

    fn models(&self, names: &[Spanned<String>]) -> Result<Vec<Model>, Diagnostic> {
        let mut models = Vec::new();
        for name in names {
            let model = self.model(name)?;
            if !models.contains(&model) {
                models.push(model);
            }
        }
        Ok(models)
    }

    fn model(&self, name: &Spanned<String>) -> Result<Model, Diagnostic> {
        let names: Vec<&str> = MODELS.iter().map(|model| model.name()).collect();
        model_named(name.get_ref()).ok_or_else(|| error::unknown_name("model", name, &names))
    }

    fn how(
        &self,
        engine: &Option<Spanned<String>>,
        (timeout, states, buffer): WrittenLimits<'_>,
        define: &written::Definitions,
    ) -> Result<How, Diagnostic> {
        let defaults = &self.written.defaults;
        let engine = engine.as_ref().or(defaults.engine.as_ref());
        if let Some(name) = engine.filter(|name| engine::engine_named(name.get_ref()).is_none()) {
            let names: Vec<&str> = ENGINES.iter().map(|engine| engine.name()).collect();
            return Err(error::unknown_name("engine", name, &names));
        }
        let engine = engine.map_or(ENGINES[0].name(), |name| name.get_ref());
        let define = define.iter().map(|(name, value)| format!("{name}={}", value.0)).collect();
        let time = timeout.as_ref().or(defaults.timeout.as_ref()).map(seconds).transpose()?;
        let memory = bytes(positive(defaults.memory.as_ref())?.unwrap_or(4096));
        let states = positive(states.as_ref().or(defaults.states.as_ref()))?;
        let states = states.map(|states| usize::try_from(states).unwrap_or(usize::MAX));
        let buffer = positive(buffer.as_ref().or(defaults.buffer.as_ref()))?;
        let options = DefaultOptions::new(engine, buffer.unwrap_or(USUAL_BUFFER as u64))?;
        Ok(How {
            input: InputArgs { input_format: None, define, observe_all: false, c: CInput::default() },
            exploring: options.exploring,
            budget: Budget { time, memory, states },
        })
    }
}

/// How engines work, as the command line has it where nothing else is said.
#[derive(Parser)]
#[command(no_binary_name = true)]
struct DefaultOptions {
    #[command(flatten)]
    exploring: Exploring,
}

impl DefaultOptions {
    fn new(engine: &str, buffer: u64) -> Result<DefaultOptions, Diagnostic> {
        let buffer = buffer.min(u64::from(u32::MAX)).to_string();
        DefaultOptions::try_parse_from(["--engine", engine, "--buffer", &buffer])
            .map_err(|error| Diagnostic::error(Span::NONE, error.to_string()))
    }
}

fn seconds(value: &Spanned<f64>) -> Result<Duration, Diagnostic> {
    let wrong = |_| Diagnostic::error(span(value.span()), "not a time that can pass");
    Duration::try_from_secs_f64(*value.get_ref()).map_err(wrong)
}

fn positive(value: Option<&Spanned<i64>>) -> Result<Option<u64>, Diagnostic> {
    let Some(value) = value else { return Ok(None) };
    let number = u64::try_from(*value.get_ref()).ok().filter(|number| *number > 0);
    number.map(Some).ok_or_else(|| Diagnostic::error(span(value.span()), "not a number from 1 on"))
}

/// A statement as reports name it: blanks folded, without what closes it.
fn folded(statement: &str) -> String {
    let words = statement.split_whitespace().collect::<Vec<_>>().join(" ");
    words.trim_end_matches(['{', ';', ' ']).to_string()
}
