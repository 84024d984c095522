//! The terminal: colours or not, and how wide; and answers that are printed together at the end.

use crate::args::Color;
use crate::report::{Assemble, Ending, Look, Printed, Report, Said};
use anstream::{AutoStream, ColorChoice};
use std::io::{IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

/// How wide reports are if standard output is no terminal.
const WIDTH: usize = 120;

/// Standard output and error, with colours as wanted.
pub struct Console {
    look: Look,
    /// Makes one document of all answers, where the report is of that kind.
    assemble: Option<Assemble>,
    answers: Mutex<Answers>,
}

/// Answers that wait for their document.
#[derive(Default)]
struct Answers {
    text: String,
    /// Whether the document goes to standard error, because something else has the output.
    beside: bool,
}

impl Console {
    /// Sets colours for the whole program. Answers are printed as `report` wants it.
    pub fn new(color: Color, quiet: bool, verbose: bool, report: Option<&Report>) -> Console {
        let choice = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        choice.write_global();
        let terminal = std::io::stdout().is_terminal();
        let width = terminal_size::terminal_size().filter(|_| terminal);
        let width = width.map_or(WIDTH, |(width, _)| usize::from(width.0));
        let assemble = report.and_then(|report| report.document);
        Console { look: Look { width, quiet, verbose }, assemble, answers: Mutex::default() }
    }

    /// How reports may look.
    pub fn look(&self) -> &Look {
        &self.look
    }

    /// Says something in a report.
    pub fn say(&self, report: &Report, said: &Said<'_>) -> std::io::Result<()> {
        self.print(&(report.print)(said, &self.look), false)
    }

    /// Prints a report, or keeps it for the document; on standard error if standard output is for something else. Fails
    /// if standard output does, for example because nobody reads it.
    pub fn print(&self, Printed { out, err }: &Printed, beside: bool) -> std::io::Result<()> {
        write_errors(err);
        if self.assemble.is_some() {
            let mut answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
            answers.text += out;
            answers.beside |= beside;
            return Ok(());
        }
        write(out, beside)
    }

    /// Prints text that is no report on standard output.
    pub fn print_text(&self, text: &str) -> std::io::Result<()> {
        write_out(text)
    }

    /// Prints the document that all answers make together, if they do.
    pub fn finish(&self, ending: &Ending<'_>) -> std::io::Result<()> {
        let Some(assemble) = self.assemble else { return Ok(()) };
        let answers = self.answers.lock().unwrap_or_else(PoisonError::into_inner);
        write(&assemble(&answers.text, ending), answers.beside)
    }
}

/// Writes to standard output, or beside it to standard error.
fn write(text: &str, beside: bool) -> std::io::Result<()> {
    if beside {
        write_errors(text);
        return Ok(());
    }
    write_out(text)
}

fn write_errors(text: &str) {
    let _ = AutoStream::auto(std::io::stderr()).write_all(text.as_bytes());
}

fn write_out(text: &str) -> std::io::Result<()> {
    let mut out = AutoStream::auto(std::io::stdout().lock());
    out.write_all(text.as_bytes())?;
    out.flush()
}
