//! The lines of bounded contexts, in text: `running CONTEXT ACTIVE HOLDER OWED`, and `planned THREAD LOCATION AFTER` with
//! a word `VARIABLE:TURN` for stores on their way. `-` is nobody, and never.

use super::{Record, bad, number, option, optional, word};

/// The line of a record.
pub(super) fn words(record: &Record) -> String {
    match record {
        Record::Contexts(contexts) => format!("contexts {contexts}"),
        Record::Running { context, active, holder, owed } => {
            format!("running {context} {} {} {owed}", option(active), option(holder))
        }
        Record::Planned { thread, location, after, leaving } => {
            let leaving = leaving.iter().map(|(variable, t)| format!(" {variable}:{}", option(t)));
            format!("planned {thread} {location} {}{}", option(after), leaving.collect::<String>())
        }
        _ => String::new(),
    }
}

/// Reads a line of this kind.
pub(super) fn read<'a>(kind: &str, words: &mut impl Iterator<Item = &'a str>) -> Result<Record, String> {
    match kind {
        "contexts" => Ok(Record::Contexts(number(words)?)),
        "running" => Ok(Record::Running {
            context: number(words)?,
            active: optional(word(words)?)?,
            holder: optional(word(words)?)?,
            owed: number(words)?,
        }),
        _ => Ok(Record::Planned {
            thread: number(words)?,
            location: number(words)?,
            after: optional(word(words)?)?,
            leaving: words.map(leaving).collect::<Result<_, _>>()?,
        }),
    }
}

fn leaving(text: &str) -> Result<(usize, Option<u8>), String> {
    let (variable, leaves) = text.split_once(':').ok_or_else(|| bad(text))?;
    Ok((variable.parse().map_err(|_| bad(text))?, optional(leaves)?))
}
