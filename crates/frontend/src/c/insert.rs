//! Fences written into a C text: a call behind a statement's semicolon or in front of the statement.
//! A statement that is the whole body of an `if` or a loop gets braces. Where an exchange is cheaper, the
//! store itself gets a stronger order. Only what is written in the text itself can be edited; whether the new
//! text means what it should is seen by reading it.

use super::lexer::{Kind, Token, tokens};
use super::remove::{StoreOrder, with_order};
use crate::edit::{Edits, Insertion, cannot_write};
use crate::{Diagnostic, Options};
use program::{Fence, Strength};

/// The text with the fences in it.
pub(super) fn insert(text: &str, insertions: &[Insertion], options: &Options) -> Result<String, Diagnostic> {
    let list = tokens(text, 0, None).map_err(|(span, why)| Diagnostic::error(span, why))?;
    let mut edits = Edits::default();
    let mut sorted: Vec<&Insertion> = insertions.iter().collect();
    sorted.sort_by_key(|insertion| (insertion.span, !insertion.before, insertion.strength));
    for group in sorted.chunk_by(|a, b| a.span == b.span) {
        statement(&list, group, &mut edits, text, options)?;
    }
    edits.apply(text)
}

/// All fences of one statement.
fn statement(
    list: &[Token],
    group: &[&Insertion],
    edits: &mut Edits,
    text: &str,
    options: &Options,
) -> Result<(), Diagnostic> {
    let Some(insertion) = group.first() else { return Ok(()) };
    let span = insertion.span;
    let first = list.partition_point(|token| token.span.start < span.start);
    let behind = list.partition_point(|token| token.span.start < span.end);
    if list.get(first).is_none_or(|token| token.span.start != span.start) {
        return Err(cannot_write(insertion, "this is no statement of the text itself"));
    }
    let Some(semicolon) = list.get(behind).filter(|token| token.is(";")) else {
        return Err(cannot_write(insertion, "the statement does not end with a `;`"));
    };
    if in_for_head(list, first) {
        return Err(cannot_write(insertion, "it stands in the head of a loop"));
    }
    let mut before = String::new();
    let mut after = String::new();
    for insertion in group {
        let call = match insertion.strength {
            Strength::Fence(fence) => fence_call(text, fence, options),
            Strength::Exchange => {
                let store = list.get(first..behind).unwrap_or_default();
                let refused = || cannot_write(insertion, "this store cannot get a stronger order");
                with_order(text, store, StoreOrder::SeqCst, edits).ok_or_else(refused)?;
                continue;
            }
        };
        if insertion.before {
            before += &format!("{call} ");
        } else {
            after += &format!(" {call}");
        }
    }
    let body = first.checked_sub(1).map(|at| &list[at]).is_some_and(is_head);
    if body && !(before.is_empty() && after.is_empty()) {
        before = format!("{{ {before}");
        after += " }";
    }
    if !before.is_empty() {
        edits.insert(span.start, before);
    }
    if !after.is_empty() {
        edits.insert(semicolon.span.end, after);
    }
    Ok(())
}

/// Whether a token ends the head of a statement whose body comes next.
pub(super) fn is_head(token: &Token) -> bool {
    token.is(")") || token.kind == Kind::Name && matches!(&*token.text, "else" | "do")
}

/// Whether a token stands between the parentheses of a `for`.
fn in_for_head(list: &[Token], at: usize) -> bool {
    let mut open = 0i32;
    for index in (0..at).rev() {
        let token = &list[index];
        if token.is(")") {
            open += 1;
        } else if token.is("(") {
            open -= 1;
            if open < 0 {
                return true;
            }
        } else if (token.is("{") || token.is("}")) && open == 0 {
            return false;
        }
    }
    false
}

/// How the text itself writes fences, or would.
fn fence_call(text: &str, fence: Fence, options: &Options) -> String {
    if let (Some(own), Fence::Full) = (&options.c.fence_text, fence) {
        let own = own.trim();
        return if own.ends_with(';') { own.to_string() } else { format!("{own};") };
    }
    let order = match fence {
        Fence::Full => "seq_cst",
        Fence::Store => "release",
    };
    let standard = text.contains("stdatomic.h") || text.contains("atomic_thread_fence");
    match (standard, text.contains("__sync_synchronize"), fence) {
        (_, true, Fence::Full) | (false, _, Fence::Full) => "__sync_synchronize();".to_string(),
        (true, ..) => format!("atomic_thread_fence(memory_order_{order});"),
        (false, _, Fence::Store) => "__atomic_thread_fence(__ATOMIC_RELEASE);".to_string(),
    }
}
