//! Which registers have names that mean something.

use crate::{Program, RegId, ThreadId};
use std::collections::HashSet;

/// The registers that the author of a program named. Those a front end made up mean nothing to
/// a reader, and their names do not occur in the text.
#[derive(Clone, Debug)]
pub struct AuthoredRegisters {
    words: HashSet<String>,
}

impl AuthoredRegisters {
    /// Reads the program's text.
    pub fn of(program: &Program) -> AuthoredRegisters {
        let text = program.source.text();
        let words = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
        AuthoredRegisters { words: words.map(str::to_string).collect() }
    }

    /// Whether the text mentions a register.
    pub fn mentions(&self, program: &Program, thread: ThreadId, register: RegId) -> bool {
        let name = &program.thread(thread).registers[register.index()];
        // Of `a[0]` and `n.next`, the text mentions the array or struct.
        let declared = name.split(['[', '.']).next().unwrap_or_default();
        self.words.is_empty() || self.words.contains(declared)
    }
}
