//! The playground: questions of a page in a browser and their answers, both as JSON.
//!
//! A page has texts instead of files and one thread; its clock and its memory belong to the browser. So a
//! question comes with its text and its limits, [`PageHost`] says what time it is, and engines are run without threads.
//! Everything else is what the command line does: the same front ends, the same `ask`, answers that were
//! checked, and the parts of HTML reports. `crates/playground` hands this to JavaScript.

mod asking;
mod reading;
mod stepping;
mod watch;

use serde::Deserialize;
use serde_json::{Value, json};

/// What a page does for us.
#[derive(Clone, Copy)]
pub struct PageHost {
    /// Seconds since some moment.
    pub now: fn() -> f64,
    /// Shows how far the work is, an object of JSON.
    pub tell: fn(&str),
}

/// What a page asks for.
#[derive(Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
enum PageRequest {
    /// The words of our language and what they mean, models, and who we are.
    Words,
    /// What is wrong with a text, and which names it has.
    Read(PageText),
    /// Is it safe? Of a litmus test: which final states are there?
    Verify(PageQuestion),
    /// Which fences make it safe?
    Fence(PageQuestion),
    /// Does it behave as under SC?
    Robust(PageQuestion),
    /// A run, step by step.
    Run(stepping::PageRun),
}

/// A program as it stands in the editor.
#[derive(Deserialize)]
struct PageText {
    /// Its file name, which tells the language.
    name: String,
    text: String,
}

/// A question about a program.
#[derive(Deserialize)]
struct PageQuestion {
    name: String,
    text: String,
    model: String,
    /// How long it may take.
    seconds: f64,
    /// How much memory everything together may take.
    megabytes: u64,
}

/// The answer to a request. Whatever the request, there is one; `error` in it says what was wrong.
pub fn answer(request: &str, host: PageHost) -> String {
    let answer = match serde_json::from_str(request) {
        Ok(request) => answered(&request, host).unwrap_or_else(|why| json!({"error": why})),
        Err(why) => json!({"error": format!("the page asked for something else: {why}")}),
    };
    answer.to_string()
}

fn answered(request: &PageRequest, host: PageHost) -> Result<Value, String> {
    match request {
        PageRequest::Words => Ok(reading::words()),
        PageRequest::Read(text) => Ok(reading::read(text)),
        PageRequest::Verify(question) => asking::verify(question, host),
        PageRequest::Fence(question) => asking::fence(question, host),
        PageRequest::Robust(question) => asking::robust(question, host),
        PageRequest::Run(run) => stepping::run(run),
    }
}

fn model_of(name: &str) -> Result<machine::Model, String> {
    machine::model_named(name).ok_or_else(|| format!("there is no model {name}"))
}
