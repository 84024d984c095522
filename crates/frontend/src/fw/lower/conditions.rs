//! Conditions.
//!
//! A condition over registers alone (a *pure* one) is one `Assume` edge and one for its
//! negation. Where `&&` or `||` stands before a load, it decides whether the load happens at
//! all, so it becomes a branch.

use super::thread::{Lowering, Meaning};
use crate::fw::ast::{Expr, ExprKind};
use crate::fw::sink::Checked;
use program::{Arith, Cond, Expr as Value, Loc, Op, RegId, Relation};

/// A part of a conjunction or disjunction.
enum Part<'a> {
    /// Neighbours over registers alone, taken together.
    Pure(Vec<Cond<RegId>>),
    Other(&'a Expr<'a>),
}

impl<'a> Lowering<'a, '_> {
    /// Whether an expression takes no step to evaluate. As a value, a comparison does: it
    /// becomes 0 or 1 by branching.
    pub fn is_pure(&mut self, expr: &'a Expr<'a>, as_value: bool) -> Checked<bool> {
        self.spend(1)?;
        Ok(match &expr.kind {
            ExprKind::Broken | ExprKind::Int(_) | ExprKind::Bool(_) => true,
            ExprKind::Name(name) => !matches!(self.meaning(name), Meaning::Scalar(_)),
            ExprKind::Negative(inner) => self.is_pure(inner, true)?,
            ExprKind::Binary(op, a, b) => {
                let guarded = matches!(op, Arith::Div | Arith::Rem) && !self.unchecked;
                self.is_pure(a, true)? && self.is_pure(b, true)? && (!guarded || self.is_constant(b))
            }
            _ if as_value => false,
            ExprKind::Not(inner) => self.is_pure(inner, false)?,
            ExprKind::Compare(_, a, b) => self.is_pure(a, true)? && self.is_pure(b, true)?,
            ExprKind::All(parts) | ExprKind::Some(parts) => {
                for part in parts {
                    if !self.is_pure(part, false)? {
                        return Ok(false);
                    }
                }
                true
            }
            _ => false,
        })
    }

    /// A pure condition.
    pub fn cond(&mut self, expr: &'a Expr<'a>) -> Checked<Cond<RegId>> {
        self.nested(|l| match &expr.kind {
            ExprKind::Not(inner) => Ok(l.cond(inner)?.negate()),
            ExprKind::Compare(relation, a, b) => Ok(Cond::compare(*relation, l.value(a)?, l.value(b)?)),
            ExprKind::All(parts) => Ok(Cond::and(l.conds(parts)?)),
            ExprKind::Some(parts) => Ok(Cond::or(l.conds(parts)?)),
            _ => Ok(Cond::compare(Relation::Ne, l.value(expr)?, 0)),
        })
    }

    fn conds(&mut self, parts: &'a [Expr<'a>]) -> Checked<Vec<Cond<RegId>>> {
        parts.iter().map(|part| self.cond(part)).collect()
    }

    /// Evaluates a condition and goes one of two ways; `None` is a way that cannot be gone.
    /// What "here" is afterwards is up to the caller.
    pub fn branch(&mut self, expr: &'a Expr<'a>, yes: Option<Loc>, no: Option<Loc>) -> Checked<()> {
        if self.is_pure(expr, false)? {
            let cond = self.cond(expr)?;
            self.fork(cond, yes, no);
            return Ok(());
        }
        self.nested(|l| match &expr.kind {
            ExprKind::Not(inner) => l.branch(inner, no, yes),
            ExprKind::All(parts) => l.junction(parts, true, yes, no),
            ExprKind::Some(parts) => l.junction(parts, false, yes, no),
            ExprKind::Atomic(atomic) => l.atomic_branch(atomic, yes, no),
            ExprKind::Compare(relation, a, b) => {
                let mark = l.registers.mark();
                let (a, b) = (l.value(a)?, l.value(b)?);
                l.registers.release_temporaries(mark);
                l.fork(Cond::compare(*relation, a, b), yes, no);
                Ok(())
            }
            _ => {
                let mark = l.registers.mark();
                let value = l.value(expr)?;
                l.registers.release_temporaries(mark);
                l.fork(Cond::compare(Relation::Ne, value, 0), yes, no);
                Ok(())
            }
        })
    }

    /// Goes one of two ways by a condition over registers.
    pub fn fork(&mut self, cond: Cond<RegId>, yes: Option<Loc>, no: Option<Loc>) {
        if let Cond::Const(value) = cond {
            match if value { yes } else { no } {
                Some(way) => self.join(way),
                // Stuck, which is not the same as having ended.
                None => self.edge(Op::Assume(Cond::FALSE), self.at),
            }
            return;
        }
        if let Some(no) = no {
            let negated = cond.clone().negate();
            if let Some(yes) = yes {
                self.edge(Op::Assume(cond), yes);
            }
            self.edge(Op::Assume(negated), no);
        } else if let Some(yes) = yes {
            self.edge(Op::Assume(cond), yes);
        }
    }

    fn junction(
        &mut self,
        parts: &'a [Expr<'a>],
        conjunction: bool,
        yes: Option<Loc>,
        no: Option<Loc>,
    ) -> Checked<()> {
        let parts = self.grouped(parts)?;
        let last = parts.len().saturating_sub(1);
        for (at, part) in parts.into_iter().enumerate() {
            let next = self.location();
            let (yes, no) = match (at == last, conjunction) {
                (true, _) => (yes, no),
                (false, true) => (Some(next), no),
                (false, false) => (yes, Some(next)),
            };
            match part {
                Part::Pure(conds) if conjunction => self.fork(Cond::and(conds), yes, no),
                Part::Pure(conds) => self.fork(Cond::or(conds), yes, no),
                Part::Other(expr) => self.branch(expr, yes, no)?,
            }
            self.at = next;
        }
        Ok(())
    }

    fn grouped(&mut self, parts: &'a [Expr<'a>]) -> Checked<Vec<Part<'a>>> {
        let mut groups = Vec::new();
        for part in parts {
            if !self.is_pure(part, false)? {
                groups.push(Part::Other(part));
                continue;
            }
            let cond = self.cond(part)?;
            match groups.last_mut() {
                Some(Part::Pure(conds)) => conds.push(cond),
                _ => groups.push(Part::Pure(vec![cond])),
            }
        }
        Ok(groups)
    }

    /// Gives a register 1 or 0 by a condition.
    pub fn truth_into(&mut self, expr: &'a Expr<'a>, register: RegId) -> Checked<()> {
        let (yes, no, end) = (self.location(), self.location(), self.location());
        self.branch(expr, Some(yes), Some(no))?;
        self.at = yes;
        self.edge(Op::Assign(register, Value::from(1)), end);
        self.at = no;
        self.edge(Op::Assign(register, Value::from(0)), end);
        self.at = end;
        Ok(())
    }
}
