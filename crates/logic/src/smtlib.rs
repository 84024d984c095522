//! SMT-LIB 2 in the logic QF_LIA: writing our terms.

use std::fmt::Write;

use crate::int::Int;
use crate::terms::atom::{Atom, Relation};
use crate::terms::formula::{Formula, FormulaNode};
use crate::terms::linear::{Linear, Var};
use crate::terms::table::Terms;

/// A complete script that asks whether the formulas have a common solution.
///
/// ```
/// use logic::{smtlib_script, Atom, Formula, Terms};
/// let mut terms = Terms::new();
/// let x = terms.var("x");
/// let script = smtlib_script(&terms, &[Formula::from(Atom::le(x, -1))]);
/// assert!(script.contains("(assert (<= x (- 1)))"));
/// ```
pub fn smtlib_script(terms: &Terms, formulas: &[Formula]) -> String {
    let mut script = String::from("(set-logic QF_LIA)\n");
    let mut vars: Vec<Var> = formulas.iter().flat_map(Formula::vars).collect();
    vars.sort_unstable();
    vars.dedup();
    for var in vars {
        script.push_str(&smtlib_declaration(terms, var));
        script.push('\n');
    }
    for formula in formulas {
        script.push_str("(assert ");
        write_formula(&mut script, terms, formula);
        script.push_str(")\n");
    }
    script.push_str("(check-sat)\n");
    script
}

/// The declaration of a variable.
pub fn smtlib_declaration(terms: &Terms, var: Var) -> String {
    format!("(declare-const {} Int)", symbol(terms, var))
}

/// A formula as an SMT-LIB term.
pub fn smtlib_formula(terms: &Terms, formula: &Formula) -> String {
    let mut out = String::new();
    write_formula(&mut out, terms, formula);
    out
}

fn write_formula(out: &mut String, terms: &Terms, formula: &Formula) {
    let (parts, symbol) = match formula.node() {
        FormulaNode::Atom(atom) => return write_atom(out, terms, atom),
        FormulaNode::Not(inner) => {
            out.push_str("(not ");
            write_formula(out, terms, inner);
            return out.push(')');
        }
        FormulaNode::And(parts) if parts.is_empty() => return out.push_str("true"),
        FormulaNode::Or(parts) if parts.is_empty() => return out.push_str("false"),
        FormulaNode::And(parts) => (parts, "and"),
        FormulaNode::Or(parts) => (parts, "or"),
    };
    out.push('(');
    out.push_str(symbol);
    for part in parts {
        out.push(' ');
        write_formula(out, terms, part);
    }
    out.push(')');
}

fn write_atom(out: &mut String, terms: &Terms, atom: &Atom) {
    if atom.is_true() || atom.is_false() {
        return out.push_str(if atom.is_true() { "true" } else { "false" });
    }
    let (open, close) = match atom.relation() {
        Relation::Le => ("(<= ", ")"),
        Relation::Eq => ("(= ", ")"),
        Relation::Ne => ("(not (= ", "))"),
        Relation::Divides(d) => return write_divides(out, terms, d, atom.expr(), true),
        Relation::NotDivides(d) => return write_divides(out, terms, d, atom.expr(), false),
    };
    out.push_str(open);
    write_linear(out, terms, &atom.expr().with_constant(0i64));
    out.push(' ');
    write_number(out, &-atom.expr().constant());
    out.push_str(close);
}

fn write_divides(out: &mut String, terms: &Terms, divisor: &Int, expr: &Linear, positive: bool) {
    out.push_str(if positive { "(= (mod " } else { "(not (= (mod " });
    write_linear(out, terms, expr);
    out.push(' ');
    write_number(out, divisor);
    out.push_str(if positive { ") 0)" } else { ") 0))" });
}

fn write_linear(out: &mut String, terms: &Terms, expr: &Linear) {
    let constant = !expr.constant().is_zero();
    let summands = expr.terms().len() + usize::from(constant);
    if summands == 0 {
        return out.push('0');
    }
    if summands > 1 {
        out.push_str("(+");
    }
    for (var, coefficient) in expr.terms() {
        if summands > 1 {
            out.push(' ');
        }
        if coefficient.is_one() {
            out.push_str(&symbol(terms, *var));
            continue;
        }
        out.push_str("(* ");
        write_number(out, coefficient);
        let _ = write!(out, " {})", symbol(terms, *var));
    }
    if constant {
        if summands > 1 {
            out.push(' ');
        }
        write_number(out, expr.constant());
    }
    if summands > 1 {
        out.push(')');
    }
}

fn write_number(out: &mut String, number: &Int) {
    // Writing to a string cannot fail.
    let _ = match number.signum() < 0 {
        true => write!(out, "(- {})", number.abs()),
        false => write!(out, "{number}"),
    };
}

const RESERVED: [&str; 24] = [
    "and",
    "or",
    "not",
    "true",
    "false",
    "mod",
    "div",
    "abs",
    "let",
    "forall",
    "exists",
    "match",
    "par",
    "as",
    "assert",
    "distinct",
    "ite",
    "xor",
    "Int",
    "Bool",
    "BINARY",
    "DECIMAL",
    "HEXADECIMAL",
    "NUMERAL",
];

/// A variable's name as a symbol, quoted where the standard wants it.
///
/// Bars and backslashes cannot be quoted; they are written as percent escapes.
fn symbol(terms: &Terms, var: Var) -> String {
    let Some(name) = terms.name(var) else {
        return format!("|#{}|", var.index());
    };
    let plain = |c: char| c.is_ascii_alphanumeric() || "_.$@!?~^&*+-/<>=".contains(c);
    let starts_well = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if starts_well && name.chars().all(plain) && !RESERVED.contains(&name) {
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
