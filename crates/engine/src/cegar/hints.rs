//! The predicates that the author offers in `predicates { … }`, as atoms over slots.
//!
//! Each comparison is a predicate of its own, whatever `&&`, `||` and `!` join them to: cubes put them
//! together again. Where a thread stands is part of the control and need not be asked. What is
//! not linear is left out; a remainder by a constant is a divisibility.

use evidence::symbolic::Vocabulary;
use logic::{Atom, Linear};
use machine::Slot;
use program::{Arith, Cond, Expr, Place, Program, Relation};

/// The comparisons of all predicates offered, in the order of the text.
pub fn hinted(program: &Program, vocabulary: &mut Vocabulary) -> Vec<Atom> {
    let mut found = Vec::new();
    for hint in &program.hints {
        collect(&hint.cond, vocabulary, &mut found);
    }
    found
}

fn collect(cond: &Cond<Place>, vocabulary: &mut Vocabulary, found: &mut Vec<Atom>) {
    match cond {
        Cond::Const(_) => {}
        Cond::And(parts) | Cond::Or(parts) => {
            parts.iter().for_each(|part| collect(part, vocabulary, found));
        }
        Cond::Compare(relation, a, b) => {
            let atom = comparison(*relation, a, b, vocabulary);
            let new = |atom: &Atom| !atom.is_true() && !atom.is_false() && !found.contains(atom);
            found.extend(atom.filter(new));
        }
    }
}

fn comparison(
    relation: Relation,
    a: &Expr<Place>,
    b: &Expr<Place>,
    vocabulary: &mut Vocabulary,
) -> Option<Atom> {
    if let (Expr::Binary(Arith::Rem, of, by), Relation::Eq | Relation::Ne) = (a, relation) {
        let by = logic::Int::from(by.as_const()?.clone());
        return Some(Atom::divides(by, linear(of, vocabulary)? - linear(b, vocabulary)?));
    }
    let (a, b) = (linear(a, vocabulary)?, linear(b, vocabulary)?);
    Some(match relation {
        // A predicate and its negation tell the same.
        Relation::Eq | Relation::Ne => Atom::eq(a, b),
        Relation::Lt => Atom::lt(a, b),
        Relation::Le => Atom::le(a, b),
        Relation::Gt => Atom::gt(a, b),
        Relation::Ge => Atom::ge(a, b),
    })
}

fn linear(value: &Expr<Place>, vocabulary: &mut Vocabulary) -> Option<Linear> {
    let value = value.linear()?;
    let mut terms = Vec::new();
    for (place, factor) in value.terms {
        let slot = match place {
            Place::At(..) | Place::Drained(_) => return None,
            Place::Register(thread, register) => Slot::Register(thread, register),
            Place::Memory(variable) => Slot::Memory(variable),
        };
        terms.push((vocabulary.slot(slot), logic::Int::from(factor)));
    }
    Some(Linear::new(terms, logic::Int::from(value.constant)))
}
