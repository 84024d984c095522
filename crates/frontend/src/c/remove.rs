//! Fences taken out of a C text: a fence statement goes, a seq_cst store becomes a release store. Only
//! what is written in the text itself can be edited; whether the new text means what it should is seen by
//! reading it.

use super::insert::is_head;
use super::lexer::{Kind, Token, tokens};
use crate::Diagnostic;
use crate::edit::{Edits, with_line};
use program::Span;

/// The text without the fences in these places.
pub(super) fn remove(text: &str, places: &[Span]) -> Result<String, Diagnostic> {
    let list = tokens(text, 0, None).map_err(|(span, why)| Diagnostic::error(span, why))?;
    let mut edits = Edits::default();
    for place in places {
        let first = list.partition_point(|token| token.span.start < place.start);
        let behind = list.partition_point(|token| token.span.start < place.end);
        let inside = list.get(first..behind).unwrap_or_default();
        let refused = || Diagnostic::error(*place, refusal(text, inside));
        let (Some(start), Some(next)) = (inside.first(), list.get(behind)) else { return Err(refused()) };
        if start.span.start != place.start {
            return Err(refused());
        }
        if is_fence(inside) {
            fence(text, &list, (first, behind), &mut edits).ok_or_else(refused)?;
        } else {
            let weaker = with_order(text, inside, StoreOrder::Release, &mut edits);
            weaker.filter(|()| next.span.start >= place.end).ok_or_else(refused)?;
        }
    }
    edits.apply(text)
}

/// Why the fence at a place stays.
fn refusal(text: &str, statement: &[Token]) -> String {
    let mut trail: Vec<(&str, usize)> = Vec::new();
    let named = statement.first().filter(|token| token.kind == Kind::Name);
    let mut next = named.and_then(|token| definition(text, &token.text));
    while let Some((name, line, body)) = next {
        trail.push((name, line));
        let words = body.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        let mut inner = words.filter_map(|word| definition(text, word));
        next = inner.find(|(name, ..)| !trail.iter().any(|(seen, _)| seen == name));
    }
    let said = |(name, line): &(&str, usize)| format!("the macro `{name}` (line {line})");
    match trail.iter().map(said).reduce(|outer, inner| format!("{outer}, by {inner}")) {
        Some(macros) => format!("it stands in {macros}; macros are not edited"),
        None => "it is no statement of its own in this text; others are not edited".to_string(),
    }
}

/// The macro of a name: as the text has it, its line, and what stands for it.
fn definition<'t>(text: &'t str, name: &str) -> Option<(&'t str, usize, &'t str)> {
    let mut start = 0;
    for (at, line) in text.split_inclusive('\n').enumerate() {
        let rest = line.trim_start().strip_prefix('#').map(str::trim_start);
        let rest = rest.and_then(|rest| rest.strip_prefix("define")).map(str::trim_start);
        if let Some(body) = rest.and_then(|rest| rest.strip_prefix(name))
            && !name.is_empty()
            && !body.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        {
            let from = start + line.len() - body.len();
            let ends = |(at, _): &(usize, char)| !text[..*at].trim_end_matches('\r').ends_with('\\');
            let mut breaks = text[from..].char_indices().filter(|(_, c)| *c == '\n');
            let end = breaks.find(|(at, c)| ends(&(from + at, *c))).map_or(text.len(), |(at, _)| from + at);
            return Some((&text[from - name.len()..from], at + 1, &text[from..end]));
        }
        start += line.len();
    }
    None
}

/// Whether a statement is a fence.
fn is_fence(statement: &[Token]) -> bool {
    let name = &*statement[0].text;
    let call = matches!(name, "atomic_thread_fence" | "__atomic_thread_fence" | "__sync_synchronize");
    let assembly = matches!(name, "asm" | "__asm__" | "__asm");
    call || assembly
        && statement.iter().any(|token| token.text.contains("fence") || token.text.contains("lock"))
}

/// Takes a statement out; a body that consists of it stays as an empty statement.
fn fence(text: &str, list: &[Token], (first, behind): (usize, usize), edits: &mut Edits) -> Option<()> {
    // The span of `asm` holds its semicolon.
    let ends = |at: usize| list.get(at).is_some_and(|token| token.is(";"));
    let semicolon = if ends(behind) { behind } else { behind.checked_sub(1).filter(|at| ends(*at))? };
    let (start, end) = (list[first].span.start, list[semicolon].span);
    let body = first.checked_sub(1).map(|at| &list[at]).is_some_and(is_head);
    if body {
        edits.replace(Span { start, end: end.start }, "");
    } else {
        edits.replace(with_line(text, Span { start, end: end.end }), "");
    }
    Some(())
}

/// The order that a store gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum StoreOrder {
    Release,
    SeqCst,
}

/// Gives a store another order: a seq_cst store becomes a release store, or the other way round.
pub(super) fn with_order(
    text: &str,
    statement: &[Token],
    order: StoreOrder,
    edits: &mut Edits,
) -> Option<()> {
    let (name, last) = (statement.first()?, statement.last()?);
    let (standard, gnu) = match order {
        StoreOrder::Release => ("memory_order_release", "__ATOMIC_RELEASE"),
        StoreOrder::SeqCst => ("memory_order_seq_cst", "__ATOMIC_SEQ_CST"),
    };
    let word = match &*name.text {
        "atomic_store" if order == StoreOrder::Release => {
            edits.insert(name.span.end, "_explicit");
            edits.insert(last.span.start, ", memory_order_release");
            return last.is(")").then_some(());
        }
        "atomic_store_explicit" => standard,
        "__atomic_store_n" | "__atomic_store" => gnu,
        _ => return assignment(text, statement, order, edits),
    };
    let comma = top_level(statement, |token| token.is(","), 1).last()?;
    let written = Span { start: statement.get(comma + 1)?.span.start, end: last.span.start };
    edits.replace(written, word);
    last.is(")").then_some(())
}

/// `x = e`: of an atomic object it is seq_cst already, of another it has no order yet.
fn assignment(text: &str, statement: &[Token], order: StoreOrder, edits: &mut Edits) -> Option<()> {
    let sign = top_level(statement, |token| token.is("="), 0).next()?;
    let place = statement.get(..sign)?;
    let simple = |token: &Token| {
        matches!(token.kind, Kind::Name | Kind::Number) || [".", "->", "[", "]"].iter().any(|s| token.is(s))
    };
    let value = statement.get(sign + 1)?;
    let several = top_level(statement, |token| token.is(",") || token.is("="), 0).count() > 1;
    if several || !place.iter().all(simple) {
        return None;
    }
    let (call, order) = match order {
        StoreOrder::Release if text.contains("stdatomic.h") => {
            ("atomic_store_explicit", "memory_order_release")
        }
        StoreOrder::Release => return None,
        StoreOrder::SeqCst => ("__atomic_store_n", "__ATOMIC_SEQ_CST"),
    };
    edits.insert(place.first()?.span.start, format!("{call}(&"));
    edits.replace(Span { start: place.last()?.span.end, end: value.span.start }, ", ");
    edits.insert(statement.last()?.span.end, format!(", {order})"));
    Some(())
}

/// The tokens that are wanted, so many parentheses deep.
fn top_level<'t>(
    statement: &'t [Token],
    wanted: impl Fn(&Token) -> bool + 't,
    depth: i32,
) -> impl Iterator<Item = usize> + 't {
    let mut open = 0;
    statement.iter().enumerate().filter_map(move |(at, token)| {
        open -= i32::from(token.is(")") || token.is("]") || token.is("}"));
        let found = open == depth && wanted(token);
        open += i32::from(token.is("(") || token.is("[") || token.is("{"));
        found.then_some(at)
    })
}
