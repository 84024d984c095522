//! Fences written into a litmus test: a new row under the instruction's, with `MFENCE` or
//! `SFENCE` in its column.

use super::header;
use super::lexer::{self, LitmusToken};
use crate::edit::{Edits, Insertion, cannot_write, line_end};
use crate::{Diagnostic, Options};
use program::{Fence, Span, Strength};
use std::collections::BTreeMap;

/// A row of the table: where its cells start and end, and where its `;` ends.
struct TableRow {
    cells: Vec<(u32, u32)>,
    end: u32,
}

/// The text with the fences in it.
pub(super) fn insert(text: &str, insertions: &[Insertion], _: &Options) -> Result<String, Diagnostic> {
    let (.., start) = header::header(text)?;
    let tokens = lexer::tokens(text, start)?;
    let mut added: BTreeMap<u32, (TableRow, Vec<Vec<&str>>)> = BTreeMap::new();
    for insertion in insertions {
        let word = match insertion.strength {
            _ if insertion.before => {
                return Err(cannot_write(insertion, "in this format fences go behind stores only"));
            }
            Strength::Fence(Fence::Full) => ["MFENCE", "mfence"],
            Strength::Fence(Fence::Store) => ["SFENCE", "sfence"],
            Strength::Exchange => {
                return Err(cannot_write(insertion, "an exchange needs a register that is free"));
            }
        };
        let row = row_of(&tokens, insertion)?;
        let column = row.cells.iter().position(|(_, end)| insertion.span.start < *end).unwrap_or(0);
        let (_, fences) = added.entry(row.end).or_insert_with(|| {
            let fences = vec![Vec::new(); row.cells.len()];
            (row, fences)
        });
        // As the instruction is written.
        let instruction = text.get(insertion.span.start as usize..insertion.span.end as usize);
        let is_lower = instruction.is_some_and(|i| i.starts_with(|c: char| c.is_ascii_lowercase()));
        fences[column].push(word[usize::from(is_lower)]);
    }
    let mut edits = Edits::default();
    for (end, (row, fences)) in &added {
        let place = line_end(text, *end, |rest| rest.starts_with("(*") && rest.ends_with("*)"));
        edits.insert(place, rows(text, row, fences));
    }
    edits.apply(text)
}

/// The row that an instruction stands in.
fn row_of(tokens: &[(LitmusToken<'_>, Span)], insertion: &Insertion) -> Result<TableRow, Diagnostic> {
    let here = tokens.partition_point(|(_, span)| span.start < insertion.span.start);
    let is_end = |(token, _): &(LitmusToken<'_>, Span)| *token == LitmusToken::Sign(";");
    let before = tokens[..here].iter().rposition(is_end);
    let behind = tokens[here..].iter().position(is_end).map(|at| here + at);
    let (Some(before), Some(behind)) = (before, behind) else {
        return Err(cannot_write(insertion, "this is not in the table of threads"));
    };
    let mut row = TableRow { cells: Vec::new(), end: tokens[behind].1.end };
    let mut start = tokens[before].1.end;
    for (token, span) in &tokens[before + 1..=behind] {
        if matches!(token, LitmusToken::Sign("|" | ";")) {
            row.cells.push((start, span.start));
            start = span.end;
        }
    }
    Ok(row)
}

/// New rows with these fences in their columns, laid out like the row above them.
fn rows(text: &str, row: &TableRow, fences: &[Vec<&str>]) -> String {
    let count = fences.iter().map(Vec::len).max().unwrap_or(0);
    let line = |number: usize| {
        let pairs = row.cells.iter().zip(fences);
        let cells = pairs.map(|(place, words)| cell(text, *place, words.get(number).copied()));
        format!("\n{};", cells.collect::<Vec<_>>().join("|"))
    };
    (0..count).map(line).collect()
}

/// A cell as wide as the one above it, if the word fits.
fn cell(text: &str, (start, end): (u32, u32), word: Option<&str>) -> String {
    let above = text.get(start as usize..end as usize).unwrap_or_default();
    let above = above.rsplit('\n').next().unwrap_or_default();
    let (width, margin) = (above.chars().count(), above.len() - above.trim_start().len());
    let word = word.map(|word| format!("{:margin$}{word} ", "")).unwrap_or_default();
    format!("{word:width$}")
}
