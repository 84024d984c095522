//! SMT-LIB 2 in the logic QF_LIA: writing our terms.

use std::fmt::Write;

use crate::int::Int;
use crate::terms::atom::{Atom, Relation};
use crate::terms::formula::{Formula, FormulaNode};
use crate::terms::linear::{Linear, Var};
use crate::terms::table::Terms;

/// The declaration of a variable.
pub fn smtlib_declaration(terms: &Terms, var: Var) -> String {
    format!("(declare-const {} Int)", symbol(terms, var))
}

/// A formula as an SMT-LIB term.
///
/// ```
/// use logic::{smtlib_formula, Atom, Formula, Terms};
/// let mut terms = Terms::new();
/// let x = terms.var("x");
/// assert_eq!(smtlib_formula(&terms, &Formula::from(Atom::le(x, -1))), "(<= x (- 1))");
/// ```
pub fn smtlib_formula(terms: &Terms, formula: &Formula) -> String {
    let (word, parts) = match formula.node() {
        FormulaNode::Atom(atom) => return written_atom(terms, atom),
        FormulaNode::Not(inner) => return format!("(not {})", smtlib_formula(terms, inner)),
        FormulaNode::And(parts) => ("and", parts),
        FormulaNode::Or(parts) => ("or", parts),
    };
    if parts.is_empty() {
        return (word == "and").to_string();
    }
    let parts: Vec<String> = parts.iter().map(|part| smtlib_formula(terms, part)).collect();
    format!("({word} {})", parts.join(" "))
}

fn written_atom(terms: &Terms, atom: &Atom) -> String {
    if atom.is_true() || atom.is_false() {
        return atom.is_true().to_string();
    }
    let sum = |expr: &Linear| smtlib_sum(expr, &|var| symbol(terms, var));
    let compared = |sign: &str| {
        let left = sum(&atom.expr().with_constant(0i64));
        format!("({sign} {left} {})", number(&-atom.expr().constant()))
    };
    let divided = |by: &Int| format!("(= (mod {} {}) 0)", sum(atom.expr()), number(by));
    match atom.relation() {
        Relation::Le => compared("<="),
        Relation::Eq => compared("="),
        Relation::Ne => format!("(not {})", compared("=")),
        Relation::Divides(by) => divided(by),
        Relation::NotDivides(by) => format!("(not {})", divided(by)),
    }
}

/// A linear expression as an SMT-LIB term, with these names.
pub fn smtlib_sum(expr: &Linear, name: &dyn Fn(Var) -> String) -> String {
    let summand = |(var, coefficient): &(Var, Int)| match coefficient.is_one() {
        true => name(*var),
        false => format!("(* {} {})", number(coefficient), name(*var)),
    };
    let constant = Some(expr.constant()).filter(|constant| !constant.is_zero());
    let parts: Vec<String> = expr.terms().iter().map(summand).chain(constant.map(number)).collect();
    match parts.as_slice() {
        [] => "0".to_string(),
        [one] => one.clone(),
        several => format!("(+ {})", several.join(" ")),
    }
}

fn number(number: &Int) -> String {
    match number.signum() < 0 {
        true => format!("(- {})", number.abs()),
        false => number.to_string(),
    }
}

const RESERVED: &str = "and or not true false mod div abs let forall exists match par as assert distinct ite xor Int \
                        Bool BINARY DECIMAL HEXADECIMAL NUMERAL";

/// A variable's name as a symbol, quoted where the standard wants it.
///
/// Bars and backslashes cannot be quoted; they are written as percent escapes.
fn symbol(terms: &Terms, var: Var) -> String {
    let Some(name) = terms.name(var) else {
        return format!("|#{}|", var.index());
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.$@!?~^&*+-/<>=".contains(c);
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well && name.chars().all(plain) && !RESERVED.split(' ').any(|word| word == name) {
        return name.to_string();
    }
    let mut quoted = String::from("|");
    for c in name.chars() {
        match c {
            '|' | '\\' | '%' => {
                let _ = write!(quoted, "%{:02x}", c as u32);
            }
            _ => quoted.push(c),
        }
    }
    quoted.push('|');
    quoted
}
