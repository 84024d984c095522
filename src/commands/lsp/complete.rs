//! Completion: what may be written at a place of a text in our own language.
//!
//! Behind `@` stand labels, behind `.` registers of threads and fields of structs, anywhere else the words of
//! the language, what is declared outside threads, and what is declared in the thread or function around.

use super::document::DocumentVersion;
use super::help::{IN_PLACE, keyword};
use frontend::{Symbol, SymbolKind};
use program::KEYWORDS;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// What can be written at a byte.
pub fn completion(reading: &DocumentVersion, byte: usize) -> Value {
    let Some(index) = reading.index() else { return json!([]) };
    let text = reading.text.as_str();
    let before = &text.as_bytes()[..byte.min(text.len())];
    let word = before.iter().rev().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count();
    let (start, sign) = (before.len() - word, before[..before.len() - word].last().copied());
    let ranges = |at: usize| at > 1 && before.get(at - 2) == Some(&b'.');
    let symbols = index.symbols.iter();
    let around = |symbol: &Symbol| {
        let parent = symbol.parent.and_then(|parent| index.symbols.get(parent));
        parent.is_none_or(|parent| (parent.whole.start as usize..=parent.whole.end as usize).contains(&byte))
    };
    let fits = |symbol: &&Symbol| match sign {
        Some(b'@') => symbol.kind == SymbolKind::Label,
        Some(b'.') if !ranges(start) => matches!(symbol.kind, SymbolKind::Register | SymbolKind::Field),
        _ => symbol.kind != SymbolKind::Field && around(symbol),
    };
    let mut seen = BTreeSet::new();
    let named = symbols.filter(fits).filter(|symbol| seen.insert(symbol.name.clone()));
    let mut items: Vec<Value> = named.map(item).collect();
    if !matches!(sign, Some(b'@' | b'.')) || ranges(start) {
        items.extend(KEYWORDS.iter().chain(IN_PLACE).map(|word| {
            let detail = keyword(word).unwrap_or_default();
            json!({"label": word, "kind": KEYWORD, "documentation": detail})
        }));
    }
    Value::Array(items)
}

/// The protocol's number of keywords.
const KEYWORD: u8 = 14;

fn item(symbol: &Symbol) -> Value {
    let kind = match symbol.kind {
        SymbolKind::Function => 3,
        SymbolKind::Field => 5,
        SymbolKind::Variable | SymbolKind::Register | SymbolKind::Parameter => 6,
        SymbolKind::Thread => 7,
        SymbolKind::Label => 18,
        SymbolKind::Constant | SymbolKind::Counter => 21,
        SymbolKind::Struct => 22,
    };
    json!({"label": symbol.name, "kind": kind, "detail": symbol.detail})
}
