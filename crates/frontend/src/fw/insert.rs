//! Fences written into a `.fw` text: `fence;` behind a statement's semicolon or in front of the
//! statement, and `swap(x, e)` for `x = e`.

use super::lexer::{self, FwToken, TokenKind};
use super::sink::Sink;
use crate::edit::{Edits, Insertion, cannot_write, with_line};
use crate::{Diagnostic, Options};
use program::{Fence, Span, Strength};

/// The text with the fences in it.
pub(super) fn insert(text: &str, insertions: &[Insertion], _: &Options) -> Result<String, Diagnostic> {
    let tokens = lexer::tokens(text, &mut Sink::default());
    let mut edits = Edits::default();
    for insertion in insertions {
        let word = match insertion.strength {
            Strength::Fence(Fence::Full) => "fence;",
            Strength::Fence(Fence::Store) => "fence store;",
            Strength::Exchange => {
                exchange(text, &tokens, insertion, &mut edits)?;
                continue;
            }
        };
        if insertion.span.end as usize > text.len() {
            return Err(cannot_write(insertion, "it belongs into a text that is included"));
        }
        if insertion.before {
            edits.insert(insertion.span.start, format!("{word} "));
            continue;
        }
        let behind = tokens.partition_point(|token| token.span.start < insertion.span.end);
        match tokens.get(behind) {
            Some(FwToken { kind: TokenKind::Semicolon, span }) => edits.insert(span.end, format!(" {word}")),
            _ => return Err(cannot_write(insertion, "the statement does not end with a `;`")),
        }
    }
    edits.apply(text)
}

/// The text without the fences in these places.
pub(super) fn remove(text: &str, places: &[Span]) -> Result<String, Diagnostic> {
    let tokens = lexer::tokens(text, &mut Sink::default());
    let mut edits = Edits::default();
    for place in places {
        let behind = tokens.partition_point(|token| token.span.start < place.end);
        let written = text.get(place.start as usize..place.end as usize).unwrap_or_default();
        match tokens.get(behind) {
            Some(FwToken { kind: TokenKind::Semicolon, span }) if written.starts_with("fence") => {
                edits.replace(with_line(text, Span { start: place.start, end: span.end }), "");
            }
            _ => return Err(Diagnostic::error(*place, "this is no fence that can be taken out")),
        }
    }
    edits.apply(text)
}

/// `x = e` becomes `swap(x, e)`.
fn exchange(
    text: &str,
    tokens: &[FwToken],
    insertion: &Insertion,
    edits: &mut Edits,
) -> Result<(), Diagnostic> {
    let Span { start, end } = insertion.span;
    let first = tokens.partition_point(|token| token.span.start < start);
    let is_assignment = |token: &&FwToken| {
        token.kind == TokenKind::Assign && token.span.start > start && token.span.end < end
    };
    let Some(sign) = tokens[first..].iter().find(is_assignment) else {
        return Err(cannot_write(insertion, "only an assignment can become an exchange"));
    };
    // The blanks before `=`, but no remark, go with it.
    let before = text.get(start as usize..sign.span.start as usize).unwrap_or_default();
    let blanks = before.len() - before.trim_end().len();
    edits.insert(start, "swap(");
    edits.replace(Span { start: sign.span.start - blanks as u32, end: sign.span.end }, ",");
    edits.insert(end, ")");
    Ok(())
}
