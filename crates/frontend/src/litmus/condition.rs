//! What a litmus test asks: `locations`, `filter` and the quantified proposition.

use super::header::{LitmusValue, register_place, value};
use super::lexer::{Cursor, LitmusToken};
use super::registers::RegisterFamily;
use crate::{Diagnostic, check_nesting};
use program::{Quantifier, Span};

/// A register of a thread, or a location.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Observable {
    /// A thread, a register, and the bits that the name covers.
    Register(usize, RegisterFamily, u32),
    /// A location and, for an array, the cell.
    Location(String, Option<usize>),
}

/// A proposition about final states.
#[derive(Clone, Debug)]
pub(super) enum Prop {
    Const(bool),
    /// The value of the first is the second.
    Is(Observable, LitmusValue, Span),
    /// Both have the same value.
    Same(Observable, Observable, Span),
    Not(Box<Prop>),
    And(Vec<Prop>),
    Or(Vec<Prop>),
}

/// The end of a test.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    pub(super) listed: Vec<(Observable, Span)>,
    pub(super) filter: Prop,
    pub(super) quantifier: Quantifier,
    pub(super) prop: Prop,
    pub(super) span: Span,
}

/// Reads what follows the table.
pub(super) fn tail(cursor: &mut Cursor) -> Result<Tail, Diagnostic> {
    let mut tail = Tail {
        listed: Vec::new(),
        filter: Prop::Const(true),
        quantifier: Quantifier::ForAll,
        prop: Prop::Const(true),
        span: cursor.span(),
    };
    loop {
        if cursor.keyword("locations") {
            listed(cursor, &mut tail.listed)?;
        } else if cursor.keyword("filter") {
            tail.filter = implication(cursor, 0)?;
        } else {
            break;
        }
    }
    let start = cursor.span();
    if let Some(quantifier) = quantifier(cursor)? {
        tail.quantifier = quantifier;
        tail.prop = implication(cursor, 0)?;
    }
    tail.span = cursor.since(start);
    skip_remarks(cursor)?;
    Ok(tail)
}

fn quantifier(cursor: &mut Cursor) -> Result<Option<Quantifier>, Diagnostic> {
    let negated = cursor.sign("~") || cursor.keyword("not");
    Ok(if cursor.keyword("exists") {
        Some(if negated { Quantifier::NotExists } else { Quantifier::Exists })
    } else if !negated && cursor.keyword("forall") {
        Some(Quantifier::ForAll)
    } else if !negated && matches!(cursor.peek(), None | Some(LitmusToken::Sign("<<"))) {
        None
    } else {
        return Err(cursor.unexpected("`exists`, `~exists` or `forall`"));
    })
}

/// Blocks `<< … >>` at the end are remarks of other tools.
fn skip_remarks(cursor: &mut Cursor) -> Result<(), Diagnostic> {
    while cursor.sign("<<") {
        while !cursor.sign(">>") {
            if cursor.done() {
                return Err(cursor.unexpected("`>>`"));
            }
            cursor.skip();
        }
    }
    if cursor.done() { Ok(()) } else { Err(cursor.unexpected("the end of the test")) }
}

/// `[x; 0:EAX; …]`, each with an optional type behind it.
fn listed(cursor: &mut Cursor, spots: &mut Vec<(Observable, Span)>) -> Result<(), Diagnostic> {
    cursor.expect("[")?;
    cursor.list("]", |cursor| {
        let start = cursor.span();
        let spot = spot(cursor)?;
        spots.push((spot, cursor.since(start)));
        while matches!(cursor.peek(), Some(LitmusToken::Word(_) | LitmusToken::Sign("*"))) {
            cursor.skip();
        }
        Ok(())
    })
}

fn spot(cursor: &mut Cursor) -> Result<Observable, Diagnostic> {
    if let Some((thread, family, bits)) = register_place(cursor)? {
        return Ok(Observable::Register(thread, family, bits));
    }
    let bracketed = cursor.sign("[");
    let (name, _) = cursor.word("a location or a register like `0:EAX`")?;
    let cell = if cursor.sign("[") {
        let span = cursor.span();
        let cell = cursor.integer()?;
        cursor.expect("]")?;
        let negative = |_| Diagnostic::error(span, "a cell's number is not negative");
        Some(usize::try_from(&cell).map_err(negative)?)
    } else {
        None
    };
    if bracketed {
        cursor.expect("]")?;
    }
    Ok(Observable::Location(name.to_string(), cell))
}

/// `p => q`, to the right.
fn implication(cursor: &mut Cursor, depth: usize) -> Result<Prop, Diagnostic> {
    check_nesting(depth, cursor.span())?;
    let left = junction(cursor, depth, "\\/")?;
    if !cursor.sign("=>") {
        return Ok(left);
    }
    let right = implication(cursor, depth + 1)?;
    Ok(Prop::Or(vec![Prop::Not(Box::new(left)), right]))
}

/// `p \/ q \/ …`, whose parts are `p /\ q /\ …`, whose parts are atoms.
fn junction(cursor: &mut Cursor, depth: usize, sign: &str) -> Result<Prop, Diagnostic> {
    let part = |cursor: &mut Cursor| match sign {
        "\\/" => junction(cursor, depth, "/\\"),
        _ => atom(cursor, depth),
    };
    let mut parts = vec![part(cursor)?];
    while cursor.sign(sign) {
        parts.push(part(cursor)?);
    }
    Ok(match (parts.len(), sign) {
        (1, _) => parts.swap_remove(0),
        (_, "\\/") => Prop::Or(parts),
        _ => Prop::And(parts),
    })
}

fn atom(cursor: &mut Cursor, depth: usize) -> Result<Prop, Diagnostic> {
    check_nesting(depth, cursor.span())?;
    if cursor.sign("(") {
        let inner = implication(cursor, depth + 1)?;
        cursor.expect(")")?;
        return Ok(inner);
    }
    if cursor.sign("~") || cursor.keyword("not") {
        return Ok(Prop::Not(Box::new(atom(cursor, depth + 1)?)));
    }
    if cursor.peek_at(1) != Some(&LitmusToken::Sign(":")) {
        if cursor.keyword("true") {
            return Ok(Prop::Const(true));
        }
        if cursor.keyword("false") {
            return Ok(Prop::Const(false));
        }
    }
    comparison(cursor)
}

/// `x=1` or `0:EAX=y`.
fn comparison(cursor: &mut Cursor) -> Result<Prop, Diagnostic> {
    let start = cursor.span();
    let left = spot(cursor)?;
    cursor.expect("=")?;
    let is_place =
        cursor.peek() == Some(&LitmusToken::Sign("[")) || cursor.peek_at(1) == Some(&LitmusToken::Sign(":"));
    if is_place {
        let right = spot(cursor)?;
        return Ok(Prop::Same(left, right, cursor.since(start)));
    }
    let value = value(cursor)?;
    Ok(Prop::Is(left, value, cursor.since(start)))
}
