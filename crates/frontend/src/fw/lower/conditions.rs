//! Conditions.
//!
//! A condition over registers alone (a *pure* one) is one `Assume` edge and one for its
//! negation. Where `&&` or `||` stands before a load, it decides whether the load happens at
//! all, so it becomes a branch.

use super::layout::FwCell;
use super::thread::{FwLowering, NameMeaning};
use crate::fw::ast::{ExprKind, FwExpr, Shift};
use crate::fw::sink::OrReported;
use program::{Arith, Cond, Expr, Loc, Op, RegId, Relation};

/// A part of a conjunction or disjunction.
enum ConditionPart<'a> {
    /// Neighbours over registers alone, taken together.
    Pure(Vec<Cond<RegId>>),
    Other(&'a FwExpr<'a>),
}

/// What it takes to evaluate an expression.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Purity {
    /// Nothing; it is known.
    Constant,
    /// The registers it mentions.
    Pure,
    /// Loads or branches.
    Stepped,
}

impl<'a> FwLowering<'a, '_> {
    /// Whether an expression takes no step to evaluate.
    pub fn is_pure(&mut self, expr: &'a FwExpr<'a>, as_value: bool) -> OrReported<bool> {
        Ok(self.purity(expr, as_value)? != Purity::Stepped)
    }

    fn purity(&mut self, expr: &'a FwExpr<'a>, as_value: bool) -> OrReported<Purity> {
        self.spend(1)?;
        let purity = match &expr.kind {
            ExprKind::Broken | ExprKind::Int(_) | ExprKind::Bool(_) => return Ok(Purity::Constant),
            ExprKind::Name(name) => {
                return Ok(match self.meaning(name) {
                    NameMeaning::Constant(_) => Purity::Constant,
                    NameMeaning::Number(FwCell::Shared(_)) | NameMeaning::Stored(_) => Purity::Stepped,
                    _ => Purity::Pure,
                });
            }
            ExprKind::Negative(inner) => return self.purity(inner, true),
            ExprKind::Binary(op, a, b) => {
                let (a, b) = (self.purity(a, true)?, self.purity(b, true)?);
                let guarded = matches!(op, Arith::Div | Arith::Rem) && !self.unchecked;
                return Ok(if guarded && b == Purity::Pure { Purity::Stepped } else { a.max(b) });
            }
            ExprKind::Shift(shift, a, b) => {
                let (value, places) = (self.purity(a, true)?, self.purity(b, true)?);
                // By a value there is one case per number of places; `>>` of more than a name takes a step first.
                let single = matches!(a.kind, ExprKind::Name(_) | ExprKind::Int(_) | ExprKind::Cell(_));
                let known = value == Purity::Constant || *shift == Shift::Left || single;
                return Ok(if places == Purity::Constant && known { value } else { Purity::Stepped });
            }
            ExprKind::Cell(target) if self.register_cell(target).is_some() => return Ok(Purity::Pure),
            ExprKind::Not(inner) => self.purity(inner, false)?,
            ExprKind::Compare(_, a, b) => self.purity(a, true)?.max(self.purity(b, true)?),
            ExprKind::All(parts) | ExprKind::Some(parts) => {
                let mut most = Purity::Constant;
                for part in parts {
                    most = most.max(self.purity(part, false)?);
                }
                most
            }
            _ => return Ok(Purity::Stepped),
        };
        // As a value, a condition becomes 0 or 1 by branching.
        Ok(if as_value && purity == Purity::Pure { Purity::Stepped } else { purity })
    }

    /// A pure condition.
    pub fn cond(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Cond<RegId>> {
        self.nested(|l| match &expr.kind {
            ExprKind::Not(inner) => Ok(l.cond(inner)?.negate()),
            ExprKind::Compare(relation, a, b) => Ok(Cond::compare(*relation, l.value(a)?, l.value(b)?)),
            ExprKind::All(parts) => Ok(Cond::and(l.conds(parts)?)),
            ExprKind::Some(parts) => Ok(Cond::or(l.conds(parts)?)),
            _ => Ok(Cond::compare(Relation::Ne, l.value(expr)?, 0)),
        })
    }

    fn conds(&mut self, parts: &'a [FwExpr<'a>]) -> OrReported<Vec<Cond<RegId>>> {
        parts.iter().map(|part| self.cond(part)).collect()
    }

    /// Evaluates a condition and goes one of two ways; `None` is a way that cannot be gone.
    /// What "here" is afterwards is up to the caller. The result is the condition's value if
    /// constants decide it.
    pub fn branch(
        &mut self,
        expr: &'a FwExpr<'a>,
        yes: Option<Loc>,
        no: Option<Loc>,
    ) -> OrReported<Option<bool>> {
        if self.is_pure(expr, false)? {
            let cond = self.cond(expr)?;
            return Ok(self.fork(cond, yes, no));
        }
        self.nested(|l| match &expr.kind {
            ExprKind::Not(inner) => Ok(l.branch(inner, no, yes)?.map(|value| !value)),
            ExprKind::All(parts) => l.junction(parts, true, yes, no),
            ExprKind::Some(parts) => l.junction(parts, false, yes, no),
            ExprKind::Atomic(atomic) => l.atomic_branch(atomic, yes, no).map(|()| None),
            ExprKind::Call(name, arguments) => {
                let inner = |l: &mut Self, value| l.branch(value, yes, no);
                match l.as_expression(*name, arguments, inner)? {
                    Some(value) => Ok(value),
                    None => l.branch_on_value(expr, yes, no),
                }
            }
            ExprKind::Compare(relation, a, b) => {
                let (a, b) = l.with_temporaries(|l| Ok((l.value(a)?, l.value(b)?)))?;
                Ok(l.fork(Cond::compare(*relation, a, b), yes, no))
            }
            _ => l.branch_on_value(expr, yes, no),
        })
    }

    /// A number as a condition.
    fn branch_on_value(
        &mut self,
        expr: &'a FwExpr<'a>,
        yes: Option<Loc>,
        no: Option<Loc>,
    ) -> OrReported<Option<bool>> {
        let value = self.with_temporaries(|l| l.value(expr))?;
        Ok(self.fork(Cond::compare(Relation::Ne, value, 0), yes, no))
    }

    /// Goes one of two ways by a condition over registers; its value if it is constant.
    pub fn fork(&mut self, cond: Cond<RegId>, yes: Option<Loc>, no: Option<Loc>) -> Option<bool> {
        if let Cond::Const(value) = cond {
            match if value { yes } else { no } {
                Some(way) => self.join(way),
                // Stuck, which is not the same as having ended.
                None => self.edge(Op::Assume(Cond::FALSE), self.at),
            }
            return Some(value);
        }
        let negated = cond.clone().negate();
        for (cond, way) in [(cond, yes), (negated, no)] {
            way.into_iter().for_each(|way| self.edge(Op::Assume(cond.clone()), way));
        }
        None
    }

    fn junction(
        &mut self,
        parts: &'a [FwExpr<'a>],
        conjunction: bool,
        yes: Option<Loc>,
        no: Option<Loc>,
    ) -> OrReported<Option<bool>> {
        let parts = self.grouped(parts)?;
        let last = parts.len().saturating_sub(1);
        // What all parts so far come to, if that is known.
        let mut known = Some(conjunction);
        for (at, part) in parts.into_iter().enumerate() {
            let next = self.location();
            let (yes, no) = match (at == last, conjunction) {
                (true, _) => (yes, no),
                (false, true) => (Some(next), no),
                (false, false) => (yes, Some(next)),
            };
            let decided = known == Some(!conjunction);
            let value = self.only_if(!decided, |l| match part {
                ConditionPart::Pure(conds) if conjunction => Ok(l.fork(Cond::and(conds), yes, no)),
                ConditionPart::Pure(conds) => Ok(l.fork(Cond::or(conds), yes, no)),
                ConditionPart::Other(expr) => l.branch(expr, yes, no),
            });
            if !decided {
                known = match value? {
                    Some(value) if value != conjunction => Some(value),
                    Some(_) => known,
                    None => None,
                };
            }
            self.at = next;
        }
        Ok(known)
    }

    fn grouped(&mut self, parts: &'a [FwExpr<'a>]) -> OrReported<Vec<ConditionPart<'a>>> {
        let mut groups = Vec::new();
        for part in parts {
            if !self.is_pure(part, false)? {
                groups.push(ConditionPart::Other(part));
                continue;
            }
            let cond = self.cond(part)?;
            match groups.last_mut() {
                Some(ConditionPart::Pure(conds)) => conds.push(cond),
                _ => groups.push(ConditionPart::Pure(vec![cond])),
            }
        }
        Ok(groups)
    }

    /// Gives a register 1 or 0 by a condition.
    pub fn truth_into(&mut self, expr: &'a FwExpr<'a>, register: RegId) -> OrReported<()> {
        let (yes, no, end) = (self.location(), self.location(), self.location());
        self.branch(expr, Some(yes), Some(no))?;
        self.at = yes;
        self.edge(Op::Assign(register, Expr::from(1)), end);
        self.at = no;
        self.edge(Op::Assign(register, Expr::from(0)), end);
        self.at = end;
        Ok(())
    }
}
