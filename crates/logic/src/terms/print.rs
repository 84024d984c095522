//! Printing for people: `x - y <= 3`, `(x = 1 | y != 2)`, `3 | x + 1`.
//!
//! An atom is printed with its positive terms on the left of the relation when
//! that saves a minus sign, which is how people write comparisons.

use std::fmt;

use super::atom::{Atom, Relation};
use super::formula::{Formula, FormulaNode};
use super::linear::{Linear, Var};
use crate::int::Int;

/// A value together with the names to print it with.
pub struct Show<'a, T> {
    name: Box<dyn Fn(Var) -> String + 'a>,
    value: &'a T,
}

impl<'a, T> Show<'a, T> {
    /// Prints variables by these names.
    pub fn new(value: &'a T, name: impl Fn(Var) -> String + 'a) -> Show<'a, T> {
        Show { name: Box::new(name), value }
    }

    /// Prints variables by number.
    pub(crate) fn anonymous(value: &'a T) -> Show<'a, T> {
        Show::new(value, number)
    }
}

/// What stands for a variable without a name.
pub(super) fn number(var: Var) -> String {
    format!("#{}", var.index())
}

/// Values that can be printed once variable names are known.
pub trait NamedDisplay {
    /// Writes the value, naming variables through `name`.
    fn write(&self, f: &mut fmt::Formatter<'_>, name: &dyn Fn(Var) -> String) -> fmt::Result;
}

impl<T: NamedDisplay> fmt::Display for Show<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.write(f, &self.name)
    }
}

impl NamedDisplay for Linear {
    fn write(&self, f: &mut fmt::Formatter<'_>, name: &dyn Fn(Var) -> String) -> fmt::Result {
        for (position, (var, coefficient)) in self.terms().iter().enumerate() {
            write_sign(f, coefficient, position == 0)?;
            if !coefficient.is_unit() {
                write!(f, "{}*", coefficient.abs())?;
            }
            f.write_str(&name(*var))?;
        }
        if self.is_constant() {
            return write!(f, "{}", self.constant());
        }
        if !self.constant().is_zero() {
            write_sign(f, self.constant(), false)?;
            write!(f, "{}", self.constant().abs())?;
        }
        Ok(())
    }
}

fn write_sign(f: &mut fmt::Formatter<'_>, number: &Int, first: bool) -> fmt::Result {
    match (number.signum() < 0, first) {
        (true, true) => f.write_str("-"),
        (true, false) => f.write_str(" - "),
        (false, true) => Ok(()),
        (false, false) => f.write_str(" + "),
    }
}

impl NamedDisplay for Atom {
    fn write(&self, f: &mut fmt::Formatter<'_>, name: &dyn Fn(Var) -> String) -> fmt::Result {
        if self.is_true() || self.is_false() {
            return write!(f, "{}", self.is_true());
        }
        let expr = self.expr();
        let (symbol, turned) = match self.relation() {
            Relation::Le => ("<=", ">="),
            Relation::Eq => ("=", "="),
            Relation::Ne => ("!=", "!="),
            Relation::Divides(divisor) => {
                write!(f, "{divisor} | ")?;
                return expr.write(f, name);
            }
            Relation::NotDivides(divisor) => {
                write!(f, "!({divisor} | ")?;
                expr.write(f, name)?;
                return f.write_str(")");
            }
        };
        let flip = expr.terms()[0].1.signum() < 0;
        let shown = if flip { -expr.clone() } else { expr.clone() };
        shown.with_constant(0i64).write(f, name)?;
        write!(f, " {} {}", if flip { turned } else { symbol }, -shown.constant())
    }
}

impl NamedDisplay for Formula {
    fn write(&self, f: &mut fmt::Formatter<'_>, name: &dyn Fn(Var) -> String) -> fmt::Result {
        let (parts, symbol) = match self.node() {
            FormulaNode::Atom(atom) => return atom.write(f, name),
            FormulaNode::Not(inner) => {
                f.write_str("!")?;
                return inner.write(f, name);
            }
            FormulaNode::And(parts) if parts.is_empty() => return f.write_str("true"),
            FormulaNode::Or(parts) if parts.is_empty() => return f.write_str("false"),
            FormulaNode::And(parts) => (parts, " & "),
            FormulaNode::Or(parts) => (parts, " | "),
        };
        f.write_str("(")?;
        for (position, part) in parts.iter().enumerate() {
            if position > 0 {
                f.write_str(symbol)?;
            }
            part.write(f, name)?;
        }
        f.write_str(")")
    }
}
