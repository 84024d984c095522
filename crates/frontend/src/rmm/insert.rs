//! Fences written into an `.rmm` text: `fence` or `ssfence` as statements of their own, and
//! `locked` in front of a `write`. The branch of an `if` or `while` is one statement, so there
//! braces are added.

use super::lexer::{self, RmmToken, RmmTokenKind};
use super::parser::is_keyword;
use crate::edit::{Edits, Insertion, cannot_write};
use crate::{Diagnostic, Options};
use program::{Fence, Span, Strength};
use std::collections::BTreeMap;

/// What is written around one statement.
#[derive(Default)]
struct Around {
    before: String,
    locked: bool,
    behind: String,
}

/// The text with the fences in it.
pub(super) fn insert(text: &str, insertions: &[Insertion], _: &Options) -> Result<String, Diagnostic> {
    let tokens = lexer::scan(text)?;
    let mut statements: BTreeMap<Span, Around> = BTreeMap::new();
    for insertion in insertions {
        let first = tokens.partition_point(|token| token.span.start < insertion.span.start);
        let around = statements.entry(insertion.span).or_default();
        let word = match insertion.strength {
            Strength::Fence(Fence::Full) => "fence",
            Strength::Fence(Fence::Store) => "ssfence",
            Strength::Exchange => {
                if tokens.get(first).is_none_or(|token| token.kind != RmmTokenKind::Word("write")) {
                    return Err(cannot_write(insertion, "only a plain `write` can be locked"));
                }
                around.locked = true;
                continue;
            }
        };
        match insertion.before {
            true => around.before += &format!("{word}; "),
            false => around.behind += &format!("; {word}"),
        }
    }
    let mut edits = Edits::default();
    for (span, Around { before, locked, behind }) in statements {
        let fenced = !before.is_empty() || !behind.is_empty();
        let (open, close) = if fenced && is_branch(&tokens, span) { ("{ ", " }") } else { ("", "") };
        let locked = if locked { "locked " } else { "" };
        edits.insert(span.start, format!("{open}{before}{locked}"));
        edits.insert(span.end, format!("{behind}{close}"));
    }
    edits.apply(text)
}

/// Whether a statement stands alone behind `then`, `else` or `do`.
fn is_branch(tokens: &[RmmToken<'_>], span: Span) -> bool {
    let mut before = tokens[..tokens.partition_point(|token| token.span.start < span.start)].iter().rev();
    let mut last = before.next();
    if last.is_some_and(|token| token.kind == RmmTokenKind::Sign(":")) {
        let label = before.next();
        last = match label {
            Some(RmmToken { kind: RmmTokenKind::Word(word), .. }) if !is_keyword(word) => before.next(),
            _ => last,
        };
    }
    last.is_some_and(|token| matches!(token.kind, RmmTokenKind::Word("then" | "else" | "do")))
}
