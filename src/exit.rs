//! Exit codes, all of them.

use std::fmt;
use std::io;
use std::process::ExitCode;

/// How the program ends. Scripts rely on the numbers; they never change.
/// They stand from the best to the worst.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// 0: what was asked holds.
    #[default]
    Holds,
    /// 3: a limit or bound was reached before an answer.
    Unknown,
    /// 1: it is violated.
    Violated,
    /// 2: usage, input, or evidence that does not hold.
    Error,
}

/// What a shell expects of a program that was interrupted.
#[cfg(not(target_family = "wasm"))]
pub const INTERRUPTED: i32 = 130;

impl Exit {
    /// Whether what was asked holds, if that is known.
    pub fn of(holds: Option<bool>) -> Exit {
        match holds {
            Some(true) => Exit::Holds,
            Some(false) => Exit::Violated,
            None => Exit::Unknown,
        }
    }

    /// The number a script sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Holds => 0,
            Exit::Violated => 1,
            Exit::Error => 2,
            Exit::Unknown => 3,
        }
    }

    /// The worse of two: errors, then violations, then unknowns, then what holds.
    pub fn worst(self, other: Exit) -> Exit {
        self.max(other)
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command ended without having done its work.
#[derive(Debug)]
pub enum CommandError {
    /// Nothing can be printed, most often because nobody reads it any more.
    Output(io::Error),
    /// Something else, in a sentence without a full stop.
    Message(String),
}

impl CommandError {
    /// Whether to end without a word: whoever closed the pipe has seen enough.
    pub fn is_silent(&self) -> bool {
        matches!(self, CommandError::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}

impl fmt::Display for CommandError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CommandError::Output(error) => write!(f, "cannot print: {error}"),
            CommandError::Message(message) => f.write_str(message),
        }
    }
}

impl From<io::Error> for CommandError {
    fn from(error: io::Error) -> CommandError {
        CommandError::Output(error)
    }
}

impl From<String> for CommandError {
    fn from(message: String) -> CommandError {
        CommandError::Message(message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_wins_in_the_order_2_1_3_0() {
        let order = [Exit::Error, Exit::Violated, Exit::Unknown, Exit::Holds];
        for (at, worse) in order.into_iter().enumerate() {
            for better in &order[at..] {
                assert_eq!(worse.worst(*better), worse);
                assert_eq!(better.worst(worse), worse);
            }
        }
        assert_eq!(order.map(Exit::code), [2, 1, 3, 0]);
    }
}
