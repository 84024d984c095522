//! The terminal: colours or not, and how wide.

use crate::args::Color;
use crate::report::{Look, Printed};
use anstream::{AutoStream, ColorChoice};
use std::io::{IsTerminal, Write};

/// Where reports go if standard output is no terminal, and how wide they are then.
const WIDTH: usize = 120;

/// Standard output and error, with colours as wanted.
pub struct Console {
    look: Look,
}

impl Console {
    /// Sets colours for the whole program.
    pub fn new(color: Color, quiet: bool, verbose: bool) -> Console {
        let choice = match color {
            Color::Auto => ColorChoice::Auto,
            Color::Always => ColorChoice::Always,
            Color::Never => ColorChoice::Never,
        };
        choice.write_global();
        let terminal = std::io::stdout().is_terminal();
        let width = terminal_size::terminal_size().filter(|_| terminal);
        let width = width.map_or(WIDTH, |(width, _)| usize::from(width.0));
        Console { look: Look { width, quiet, verbose } }
    }

    /// How reports may look.
    pub fn look(&self) -> &Look {
        &self.look
    }

    /// Prints a report. Fails if standard output does, for example because nobody reads it.
    pub fn print(&self, printed: &Printed) -> std::io::Result<()> {
        let _ = AutoStream::auto(std::io::stderr()).write_all(printed.err.as_bytes());
        let mut out = AutoStream::auto(std::io::stdout().lock());
        out.write_all(printed.out.as_bytes())?;
        out.flush()
    }

    /// Prints text on standard output.
    pub fn print_text(&self, text: &str) -> std::io::Result<()> {
        self.print(&Printed { out: text.to_string(), err: String::new() })
    }
}
