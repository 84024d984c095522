//! Lines that a user types. On a terminal they can be edited, and earlier ones come back with the arrow keys; from a pipe
//! they are read as they are.

use crate::console::Console;
use crate::exit::CommandError;
use editing::LineEditor;
use std::io::{self, BufRead, Read};

/// Lines longer than this are no commands.
const MAX_LINE: u64 = 1 << 16;

/// Where lines come from.
pub struct CommandLines<'a> {
    console: &'a Console,
    /// Only on a terminal.
    editor: Option<LineEditor>,
}

impl<'a> CommandLines<'a> {
    /// Standard input.
    pub fn new(console: &'a Console) -> CommandLines<'a> {
        CommandLines { console, editor: LineEditor::new() }
    }

    /// The next line without its blanks, behind this prompt; `None` at the end of input, or if the user
    /// interrupts.
    pub fn next(&mut self, prompt: &str) -> Result<Option<String>, CommandError> {
        let line = match &mut self.editor {
            Some(editor) => editor.line(prompt),
            None => {
                self.console.print_text(prompt)?;
                plain_line()
            }
        };
        let line = line.map_err(|error| CommandError::Message(format!("standard input: {error}")))?;
        Ok(line.map(|line| line.trim().to_string()))
    }
}

fn plain_line() -> io::Result<Option<String>> {
    let mut bytes = Vec::new();
    let count = io::stdin().lock().take(MAX_LINE).read_until(b'\n', &mut bytes)?;
    Ok((count > 0).then(|| String::from_utf8_lossy(&bytes).into_owned()))
}

#[cfg(not(target_family = "wasm"))]
mod editing {
    use rustyline::error::ReadlineError;
    use rustyline::history::MemHistory;
    use rustyline::{Config, Editor};
    use std::io::{self, IsTerminal};

    pub struct LineEditor(Editor<(), MemHistory>);

    impl LineEditor {
        /// Only on a terminal.
        pub fn new() -> Option<LineEditor> {
            let typed = io::stdin().is_terminal() && io::stdout().is_terminal();
            let config = Config::builder().auto_add_history(true).build();
            let history = MemHistory::with_config(&config);
            Editor::with_history(config, history).ok().filter(|_| typed).map(LineEditor)
        }

        pub fn line(&mut self, prompt: &str) -> io::Result<Option<String>> {
            match self.0.readline(prompt) {
                Ok(line) => Ok(Some(line)),
                Err(ReadlineError::Eof | ReadlineError::Interrupted) => Ok(None),
                Err(error) => Err(io::Error::other(error)),
            }
        }
    }
}

/// Pages have no terminals.
#[cfg(target_family = "wasm")]
mod editing {
    use std::io;

    pub enum LineEditor {}

    impl LineEditor {
        pub fn new() -> Option<LineEditor> {
            None
        }

        pub fn line(&mut self, _: &str) -> io::Result<Option<String>> {
            match *self {}
        }
    }
}
