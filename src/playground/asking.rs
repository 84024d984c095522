//! Questions about programs: verify, fence, robust.

use super::reading::loaded;
use super::watch::PageWatch;
use super::{PageHost, PageQuestion, model_of};
use crate::args::bytes;
use crate::commands::{fence_edits, warned, with_fences};
use crate::input::Loaded;
use crate::report::{
    Answered, Failed, Fenced, JSON, Look, Said, ShownRun, TEXT, ToldWitness, drawing, page, plain, sentence,
    shown_answer, svg,
};
use crate::session::side_warnings;
use engine::{ENGINES, FenceAnswer, FenceOptions, Finding, Run, ask, place_fences};
use evidence::{Form, Task, write_evidence};
use serde_json::{Value, json};
use std::io::{self, Write};

/// Larger evidence is not kept: who wants it asks the command line.
const MOST_EVIDENCE: usize = 16 << 20;

/// How text reports look.
const LOOK: Look = Look { width: 100, quiet: false, verbose: false };

/// Is it safe? Of a litmus test: which final states are there?
pub fn verify(question: &PageQuestion, host: PageHost) -> Result<Value, String> {
    let model = model_of(&question.model)?;
    asked(question, "verify", |loaded| {
        let loaded = warned(loaded);
        answer(&loaded, &Task::asked(&loaded.program, model), &watch(question, host))
    })
}

/// Does it behave as under SC?
pub fn robust(question: &PageQuestion, host: PageHost) -> Result<Value, String> {
    let model = model_of(&question.model)?;
    asked(question, "robust", |loaded| {
        answer(&loaded, &Task::robust(&loaded.program, model), &watch(question, host))
    })
}

/// Which fences make it safe?
pub fn fence(question: &PageQuestion, host: PageHost) -> Result<Value, String> {
    let model = model_of(&question.model)?;
    asked(question, "fence", |loaded| {
        let loaded = warned(loaded);
        let program = loaded.program.clone().with_question_as_property();
        fences(&loaded, &Task::safe(&program, model), &watch(question, host))
    })
}

fn watch(question: &PageQuestion, host: PageHost) -> PageWatch {
    PageWatch::new(host, question.seconds, bytes(question.megabytes))
}

/// Asks about the program of a question; if there is none, that is the answer.
fn asked(
    question: &PageQuestion,
    command: &'static str,
    about: impl FnOnce(Loaded) -> Result<Value, String>,
) -> Result<Value, String> {
    match loaded(&question.name, &question.text) {
        Ok(loaded) => about(loaded),
        Err(why) => Ok(told(&Said::Failure(&Failed::unreadable(command, &why)))),
    }
}

fn run(watch: &PageWatch) -> Run<'_> {
    Run { monitor: watch, threads: 0, ..Run::default() }
}

fn answer(loaded: &Loaded, task: &Task<'_>, watch: &PageWatch) -> Result<Value, String> {
    let found = ask(task, ENGINES[0], &run(watch)).map_err(|bug| bug.to_string())?;
    let seconds = watch.elapsed();
    let answered = Answered {
        seconds,
        peak: watch.peak(),
        warnings: &[loaded.warnings.clone(), side_warnings(&found, task.model)].concat(),
        ..Answered::about(loaded, *task, &found)
    };
    let mut answer = told(&Said::Answer(&answered));
    answer["evidence"] = evidence(task, &found).into();
    answer["drawing"] = picture(loaded, task, &found).into();
    // Where fences could help: SC is safe, or that is not known.
    let helps = found.checked.violated().is_some() && found.why.sc_violation != Some(true);
    answer["fences_may_help"] = (helps && !task.model.is_sc()).into();
    Ok(answer)
}

fn fences(loaded: &Loaded, task: &Task<'_>, watch: &PageWatch) -> Result<Value, String> {
    let run = run(watch);
    let found =
        place_fences(task, ENGINES[0], &FenceOptions::default(), &run).map_err(|bug| bug.to_string())?;
    let placed = match &found.answer {
        FenceAnswer::Placed(placed) => Some(placed),
        _ => None,
    };
    let text = placed.map(|placed| with_fences(loaded, placed));
    let fenced = Fenced {
        seconds: watch.elapsed(),
        peak: watch.peak(),
        edits: &placed.map(|placed| fence_edits(loaded, placed)).unwrap_or_default(),
        text: text.as_ref(),
        ..Fenced::about(loaded, *task, &found)
    };
    let mut answer = told(&Said::Fences(&fenced));
    let needed = placed.is_some_and(|placed| !placed.fences.is_empty());
    answer["fenced"] = text.filter(|_| needed).and_then(Result::ok).into();
    Ok(answer)
}

/// What is said, in every form a page wants.
fn told(said: &Said<'_>) -> Value {
    let Some(piece) = shown_answer(said) else { return Value::Null };
    let whole: Value = serde_json::from_str(&(JSON.print)(said, &LOOK).out).unwrap_or_default();
    let text = (TEXT.print)(said, &LOOK);
    json!({
        "word": piece.word,
        "tone": piece.tone.class(),
        "html": piece.body,
        "report": page(&[piece]),
        "text": plain(&(text.err + &text.out)),
        "json": whole,
    })
}

/// The evidence as `check` reads it, unless there is none or too much of it.
fn evidence(task: &Task<'_>, found: &Finding) -> Option<String> {
    found.checked.verdict().file_word()?;
    let mut kept = BoundedBytes(Vec::new());
    write_evidence(task, found.checked.verdict(), Form::Text, &mut kept).ok()?;
    String::from_utf8(kept.0).ok()
}

/// Happens-before as a picture, if there is a run to draw.
fn picture(loaded: &Loaded, task: &Task<'_>, found: &Finding) -> Option<String> {
    if let Some(witness) = found.checked.witness() {
        let told = ToldWitness::new(task.program, witness);
        return Some(svg(&told.picture(), &format!("{}: {}", loaded.name, sentence(&told))));
    }
    let run = ShownRun::of(task, found.checked.violated()?);
    drawing(&run, &format!("{}: a violation under {}", loaded.name, task.model.name().to_uppercase()))
}

/// Bytes that may not become too many.
struct BoundedBytes(Vec<u8>);

impl Write for BoundedBytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.0.len() + bytes.len() > MOST_EVIDENCE {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
