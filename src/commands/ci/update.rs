//! `--update`: today's answers become what is expected.
//!
//! Only values that differ are written; comments, order and layout of the file stay. What is
//! unknown today is not written: an expectation is not given up because a limit was reached.

use super::Update;
use super::config::written::Expected;
use super::config::{CiConfig, ExpectedFence};
use crate::limits::Interrupt;
use crate::numbers::counted;
use crate::report::{Compared, Status, Subject};
use crate::whole_file::write_text;
use machine::Model;
use std::path::Path;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, TableLike, Value};

/// Whether writing what was found makes a comparison come out as expected.
pub fn settles(compared: &Compared, config: &CiConfig, found: &[Update]) -> bool {
    match (compared.subject, compared.status) {
        (Subject::Verdict, Status::Changed | Status::Missing) => true,
        (Subject::Robustness, Status::Changed) => true,
        (Subject::Fences, Status::Missing | Status::Redundant | Status::Error) => found.iter().any(|one| {
            matches!(one, Update::Fences { entry, .. } if config.fences[*entry].line == compared.config.1)
        }),
        _ => false,
    }
}

/// Writes what was found into the file, and says in words what was done.
pub fn write(
    path: &Path,
    config: &CiConfig,
    found: &[Update],
    interrupt: &Interrupt,
) -> Result<String, String> {
    let trouble = |what: &str| format!("{}: {what}; nothing was written", config.name);
    let mut document: DocumentMut =
        config.source.text().parse().map_err(|_| trouble("the file cannot be edited"))?;
    let mut changes = 0;
    for (number, entry) in config.programs.iter().enumerate() {
        let mut verdicts = Vec::new();
        for (model, expected) in &entry.expect {
            let agreed = agreed(found, number, *model).map_err(|files| {
                trouble(&format!(
                    "the entry in line {} is about files with different verdicts under {} ({files}): \
                     give them entries of their own",
                    entry.line,
                    model.name().to_uppercase()
                ))
            })?;
            verdicts.push((*model, agreed.unwrap_or(*expected)));
        }
        let differing = verdicts.iter().zip(&entry.expect).filter(|(new, old)| new.1 != old.1).count();
        if differing > 0 {
            let table = entry_of(&mut document, "program", number)
                .ok_or_else(|| trouble("its programs are not written as [[program]]"))?;
            expect(table, &verdicts);
            changes += differing;
        }
    }
    changes += robustness(&mut document, config, found).map_err(|what| trouble(&what))?;
    for one in found {
        if let Update::Fences { entry, places } = one
            && !alike(places, &config.fences[*entry].places)
        {
            let table = entry_of(&mut document, "fences", *entry)
                .ok_or_else(|| trouble("its fences are not written as [[fences]]"))?;
            keep_decor(table, "places", Value::Array(places.iter().map(place).collect::<Array>()));
            changes += 1;
        }
    }
    if changes == 0 {
        return Ok("nothing to change".to_string());
    }
    write_text(path, true, interrupt, &document.to_string())?;
    Ok(format!("{} changed", counted(changes, "expectation")))
}

/// Writes whether programs are robust, and says how many expectations that changes.
fn robustness(document: &mut DocumentMut, config: &CiConfig, found: &[Update]) -> Result<usize, String> {
    let mut changes = 0;
    for (number, entry) in config.programs.iter().enumerate() {
        for (against, expected) in &entry.robust {
            let one = |one: &Update| match one {
                Update::Robustness { entry, model, robust } if *entry == number && model == against => {
                    *robust
                }
                _ => None,
            };
            let mut all = found.iter().filter_map(one);
            let Some(first) = all.next() else { continue };
            if all.any(|other| other != first) {
                let message = format!("of the files in line {} only some are robust", entry.line);
                return Err(message + ": give them entries of their own");
            }
            if first != *expected {
                let table = entry_of(document, "program", number)
                    .ok_or_else(|| "its programs are not written as [[program]]".to_string())?;
                match table.get_mut("robust").and_then(Item::as_table_like_mut) {
                    Some(each) => keep_decor(each, against.name(), Value::from(first)),
                    None => keep_decor(table, "robust", Value::from(first)),
                }
                changes += 1;
            }
        }
    }
    Ok(changes)
}

/// The verdict about all files of an entry under a model, if there is one; two files that differ
/// are an error.
fn agreed(found: &[Update], number: usize, model: Model) -> Result<Option<Expected>, String> {
    let mut agreed: Option<(Expected, &str)> = None;
    for one in found {
        let Update::Verdict { entry, file, model: under, verdict } = one else { continue };
        if *entry != number || *under != model || *verdict == Expected::Unknown {
            continue;
        }
        match agreed {
            Some((known, other)) if known != *verdict => return Err(format!("{other}, {file}")),
            _ => agreed = Some((*verdict, file)),
        }
    }
    Ok(agreed.map(|(verdict, _)| verdict))
}

fn entry_of<'a>(document: &'a mut DocumentMut, kind: &str, number: usize) -> Option<&'a mut Table> {
    document.get_mut(kind)?.as_array_of_tables_mut()?.get_mut(number)
}

/// Writes verdicts: a word if all models had one and still agree, else one for each model.
fn expect(entry: &mut Table, verdicts: &[(Model, Expected)]) {
    if let Some(each) = entry.get_mut("expect").and_then(Item::as_table_like_mut) {
        for (model, verdict) in verdicts {
            if each.get(model.name()).and_then(Item::as_str) != Some(verdict.name()) {
                keep_decor(each, model.name(), Value::from(verdict.name()));
            }
        }
        return;
    }
    let first = verdicts.first().map(|(_, verdict)| *verdict);
    if let Some(same) = first.filter(|first| verdicts.iter().all(|(_, verdict)| verdict == first)) {
        keep_decor(entry, "expect", Value::from(same.name()));
        return;
    }
    let each: InlineTable = verdicts.iter().map(|(model, verdict)| (model.name(), verdict.name())).collect();
    keep_decor(entry, "expect", Value::InlineTable(each));
    // The table names them.
    entry.remove("models");
}

/// Sets a value; what stands around the old one and around its key stays.
fn keep_decor(table: &mut dyn TableLike, key: &str, mut new: Value) {
    if let Some(old) = table.get(key).and_then(Item::as_value) {
        *new.decor_mut() = old.decor().clone();
    }
    match table.get_mut(key) {
        Some(item) => *item = Item::Value(new),
        None => {
            table.insert(key, Item::Value(new));
        }
    }
}

fn alike(new: &[ExpectedFence], old: &[ExpectedFence]) -> bool {
    let key = |place: &ExpectedFence| (place.statement.clone(), place.before, place.kind);
    let matches = |(new, old): (&ExpectedFence, &ExpectedFence)| {
        key(new) == key(old) && (new.line.is_none() || new.line == old.line)
    };
    new.len() == old.len() && new.iter().zip(old).all(matches)
}

fn place(place: &ExpectedFence) -> Value {
    let mut table = InlineTable::new();
    let side = if place.before { "before" } else { "after" };
    table.insert(side, place.statement.as_str().into());
    if let Some(line) = place.line {
        table.insert("line", i64::try_from(line).unwrap_or(i64::MAX).into());
    }
    table.insert("kind", place.kind.into());
    Value::InlineTable(table)
}
