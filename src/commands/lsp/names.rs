//! Going to definitions, references, renaming, and the outline of a text.
//!
//! Our own language has an index of its names. Of the others we know what their programs know:
//! where variables are declared, where labels stand, and which statements a thread has.

use super::document::DocumentVersion;
use super::lines::{LspRange, TextEdit};
use super::message::ResponseError;
use frontend::{Index, SymbolKind};
use program::{Program, Source, Span, Thread, is_keyword};
use serde_json::{Value, json};

/// More symbols than this no outline shows.
const MOST: usize = 10_000;

/// Where the name at a byte is declared.
pub fn definition(reading: &DocumentVersion, byte: usize) -> Option<LspRange> {
    let span = match reading.index() {
        Some(index) => index.at(byte).map(|(symbol, _)| index.symbols[symbol].span),
        None => definition_elsewhere(reading, byte),
    };
    span.map(|span| reading.text.range(span))
}

/// The declaration of a word in a language without an index.
fn definition_elsewhere(reading: &DocumentVersion, byte: usize) -> Option<Span> {
    let program = &reading.loaded.as_ref()?.program;
    let text = reading.text.as_str();
    let word = word_at(text, byte)?;
    let bare = |name: &str| name.split('[').next() == Some(word);
    let variables = program.variables.iter().filter(|v| v.name == word || bare(&v.name)).map(|v| v.span);
    let labels = program.threads.iter().flat_map(|thread| labels(thread).filter(|(name, _)| *name == word));
    // A label of the thread one stands in comes first: the nearest before or behind.
    let mut labels: Vec<Span> = labels.map(|(_, span)| span).filter(|span| !span.is_none()).collect();
    labels.sort_by_key(|span| (span.start as usize).abs_diff(byte));
    variables.filter(|span| !span.is_none()).chain(labels).next()
}

/// The word at a byte.
fn word_at(text: &str, byte: usize) -> Option<&str> {
    let is_word = |b: &u8| b.is_ascii_alphanumeric() || *b == b'_';
    let bytes = text.as_bytes();
    let byte = byte.min(bytes.len());
    let start = byte - bytes[..byte].iter().rev().take_while(|b| is_word(b)).count();
    let end = byte + bytes[byte..].iter().take_while(|b| is_word(b)).count();
    (start < end).then(|| &text[start..end])
}

fn labels(thread: &Thread) -> impl Iterator<Item = (&str, Span)> {
    thread.locs().flat_map(move |loc| {
        let location = thread.location(loc);
        let next = thread.outgoing(loc).next().map_or(Span::NONE, |(_, edge)| edge.span);
        let span = if location.span.is_none() { next } else { location.span };
        location.labels.iter().map(move |label| (label.as_str(), span))
    })
}

/// Where the name at a byte is declared and used.
pub fn references(reading: &DocumentVersion, byte: usize, declaration: bool) -> Vec<LspRange> {
    let Some((index, symbol)) = indexed(reading, byte) else { return Vec::new() };
    let declared = index.symbols[symbol].span;
    let places = index.places(symbol).into_iter().filter(|span| declaration || *span != declared);
    places.map(|span| reading.text.range(span)).collect()
}

fn indexed(reading: &DocumentVersion, byte: usize) -> Option<(&Index, usize)> {
    let index = reading.index()?;
    index.at(byte).map(|(symbol, _)| (index, symbol))
}

/// The name at a byte that can be renamed: where, and what it is now.
pub fn renamable(reading: &DocumentVersion, byte: usize) -> Option<(LspRange, String)> {
    let index = reading.index()?;
    let (symbol, span) = index.at(byte)?;
    Some((reading.text.range(span), index.symbols[symbol].name.clone()))
}

/// The edits that rename what stands at a byte.
pub fn rename(reading: &DocumentVersion, byte: usize, new: &str) -> Result<Vec<TextEdit>, ResponseError> {
    let (index, symbol) =
        indexed(reading, byte).ok_or_else(|| ResponseError::failed("there is nothing to rename here"))?;
    let first = new.chars().next().is_some_and(|c| c.is_ascii_alphabetic() || c == '_');
    if !first || !new.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') || is_keyword(new) {
        return Err(ResponseError::failed(format!("`{new}` cannot be a name")));
    }
    if index.symbols.iter().any(|symbol| symbol.name == new) {
        return Err(ResponseError::failed(format!("`{new}` is taken")));
    }
    let places = index.places(symbol);
    let renamed = renamed(reading.text.as_str(), &places, new);
    if let (Some(loaded), Some(frontend)) = (&reading.loaded, reading.frontend) {
        let mut options = loaded.options.clone();
        let old = &index.symbols[symbol].name;
        options.defines.iter_mut().filter(|(name, _)| name == old).for_each(|(name, _)| *name = new.into());
        let source = Source::new(loaded.name.clone(), renamed);
        if (frontend.read)(source, &options).is_err() {
            return Err(ResponseError::failed(format!("with `{new}` it would be no program any more")));
        }
    }
    let edit = |span: Span| TextEdit { range: reading.text.range(span), text: new.to_string() };
    Ok(places.into_iter().map(edit).collect())
}

/// A text with another name in some places, which follow each other.
fn renamed(text: &str, places: &[Span], name: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for place in places {
        out += text.get(at..place.start as usize).unwrap_or_default();
        out += name;
        at = place.end as usize;
    }
    out + text.get(at..).unwrap_or_default()
}

/// An entry of the outline.
struct OutlineEntry {
    name: String,
    detail: String,
    /// A number from the protocol.
    kind: u8,
    whole: LspRange,
    name_range: LspRange,
    parent: Option<usize>,
}

const FUNCTION: u8 = 12;
const VARIABLE: u8 = 13;
const CONSTANT: u8 = 14;
const KEY: u8 = 20;
const CLASS: u8 = 5;
const FIELD: u8 = 8;
const STRUCT: u8 = 23;

/// The outline of a text, as a tree if the client can show one.
pub fn symbols(reading: &DocumentVersion, tree: bool) -> Value {
    let entries = match (reading.index(), &reading.loaded) {
        (Some(index), _) => entries_of_index(reading, index),
        (None, Some(loaded)) => entries_of_program(reading, &loaded.program),
        (None, None) => Vec::new(),
    };
    let flat = |entry: &OutlineEntry| {
        let container = entry.parent.map(|parent| entries[parent].name.clone());
        json!({
            "name": entry.name, "kind": entry.kind, "containerName": container,
            "location": {"uri": reading.uri, "range": entry.name_range},
        })
    };
    if !tree {
        return entries.iter().map(flat).collect();
    }
    let node = |entry: &OutlineEntry, children: Vec<Value>| {
        json!({
            "name": entry.name, "detail": entry.detail, "kind": entry.kind, "range": entry.whole,
            "selectionRange": entry.name_range, "children": children,
        })
    };
    // There are two levels only: what threads and functions hold has nothing below it.
    let mut children: Vec<Vec<Value>> = entries.iter().map(|_| Vec::new()).collect();
    for entry in &entries {
        if let Some(parent) = entry.parent {
            children[parent].push(node(entry, Vec::new()));
        }
    }
    let tops = entries.iter().zip(children).filter(|(entry, _)| entry.parent.is_none());
    tops.map(|(entry, children)| node(entry, children)).collect()
}

fn entries_of_index(reading: &DocumentVersion, index: &Index) -> Vec<OutlineEntry> {
    let mut numbers = vec![None; index.symbols.len()];
    let mut entries = Vec::new();
    for (at, symbol) in index.symbols.iter().enumerate().take(MOST) {
        let kind = match symbol.kind {
            SymbolKind::Constant => CONSTANT,
            SymbolKind::Variable | SymbolKind::Register => VARIABLE,
            SymbolKind::Function => FUNCTION,
            SymbolKind::Thread => CLASS,
            SymbolKind::Struct => STRUCT,
            SymbolKind::Field => FIELD,
            SymbolKind::Label => KEY,
            SymbolKind::Parameter | SymbolKind::Counter => continue,
        };
        numbers[at] = Some(entries.len());
        entries.push(OutlineEntry {
            name: symbol.name.clone(),
            detail: symbol.detail.clone(),
            kind,
            whole: reading.text.range(symbol.whole),
            name_range: reading.text.range(symbol.span),
            parent: symbol.parent.and_then(|parent| numbers[parent]),
        });
    }
    entries
}

fn entries_of_program(reading: &DocumentVersion, program: &Program) -> Vec<OutlineEntry> {
    let mut entries = Vec::new();
    let mut put = |name: &str, detail: &str, kind: u8, span: Span, parent: Option<usize>| {
        let range = reading.text.range(span);
        let name = if name.is_empty() { "?" } else { name };
        let entry = OutlineEntry {
            name: name.to_string(),
            detail: detail.to_string(),
            kind,
            whole: range,
            name_range: range,
            parent,
        };
        if entries.len() < MOST {
            entries.push(entry);
        }
        entries.len() - 1
    };
    for variable in program.variables.iter().filter(|variable| !variable.span.is_none()) {
        put(&variable.name, "shared", VARIABLE, variable.span, None);
    }
    for thread in &program.threads {
        let spans = thread.edges().iter().map(|edge| edge.span).filter(|span| !span.is_none());
        let whole = spans.min().unwrap_or(Span::NONE);
        let parent = put(&thread.name, "thread", CLASS, whole, None);
        for (label, span) in labels(thread).filter(|(_, span)| !span.is_none()) {
            put(label, "label", KEY, span, Some(parent));
        }
    }
    entries
}
