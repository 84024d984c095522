//! Fences written into Trencher's format: the transition leads to a fresh state, and an `mfence`
//! from there to where it led.

use super::parser::words;
use crate::edit::{Edits, Insertion, cannot_write, indentation, line_end};
use crate::{Diagnostic, Options};
use program::{Fence, Strength};
use std::collections::HashSet;

/// The text with the fences in it.
pub(super) fn insert(text: &str, insertions: &[Insertion], _: &Options) -> Result<String, Diagnostic> {
    let words = words(text);
    let mut used: HashSet<String> = words.iter().map(|(word, _)| word.to_string()).collect();
    let mut edits = Edits::default();
    for insertion in insertions {
        match insertion.strength {
            _ if insertion.before => {
                return Err(cannot_write(insertion, "in this format fences go behind stores only"));
            }
            Strength::Fence(Fence::Full) => {}
            Strength::Fence(Fence::Store) => {
                return Err(cannot_write(insertion, "this format has no store fences"));
            }
            Strength::Exchange => return Err(cannot_write(insertion, "this format has no exchange")),
        }
        let first = words.partition_point(|(_, span)| span.start < insertion.span.start);
        let (Some((word, start)), Some((state, place))) = (words.get(first), words.get(first + 2)) else {
            return Err(cannot_write(insertion, "this is no transition"));
        };
        let fresh = fresh_state(state, &mut used);
        edits.replace(*place, fresh.clone());
        let line = format!("{word} {fresh} {state} mfence");
        let end = line_end(text, insertion.span.end, |rest| rest.starts_with('#'));
        let alone = end > insertion.span.end || text[end as usize..].starts_with(['\r', '\n']);
        match alone {
            true => edits.insert(end, format!("\n{}{line}", indentation(text, start.start))),
            false => edits.insert(end, format!(" {line}")),
        }
    }
    edits.apply(text)
}

/// A name for the state before a fence that leads to `state`.
fn fresh_state(state: &str, used: &mut HashSet<String>) -> String {
    let mut name = format!("{state}_fence");
    while !used.insert(name.clone()) {
        name.push('_');
    }
    name
}
