//! `schema`: the form of JSON reports, for those who read them with a program.

use crate::console::Console;
use crate::exit::{CommandError, Exit};

/// The schema, as it is published.
const SCHEMA: &str = include_str!("../../docs/schema/fencewright-1.json");

/// Runs the command.
pub fn schema(console: &Console) -> Result<Exit, CommandError> {
    console.print_text(SCHEMA)?;
    Ok(Exit::Holds)
}
