//! Low-level statements: what the pretty printer writes for automata that no statement of the
//! language stands for.

use super::layout::StoredCells;
use super::thread::FwLowering;
use crate::Diagnostic;
use crate::fw::ast::{
    Accessor, Block, ExprKind, Fail, FwExpr, Ident, Rvalue, Stmt, StmtKind, Target, UpdateOperator,
};
use crate::fw::sink::{OrReported, Reported};
use num_traits::ToPrimitive;
use program::{Arith, Expr, Failure, FailureKind, Op, RegId, Span};

impl<'a> FwLowering<'a, '_> {
    /// Standing here is a violation.
    pub fn fail(&mut self, fail: &'a Fail<'a>) -> OrReported<()> {
        let kind = match fail {
            Fail::Assertion => FailureKind::Assertion,
            Fail::Division => FailureKind::Division,
            Fail::Error(words) => FailureKind::Error(words.clone()),
            Fail::Limit(words) => FailureKind::Limit(words.clone()),
            Fail::Bounds(array, operands) => {
                let (length, index) = &**operands;
                let cells = self.constant(length)?.to_u32().map(|cells| cells as usize);
                let Some(length) = cells else { return Err(self.bad_length(length.span)) };
                let index = self.without_guard(|l| l.pure_value(index))?;
                FailureKind::Bounds { array: array.text.to_string(), length, index }
            }
        };
        self.builder.fail(self.at, Failure { kind, span: self.span });
        self.unreachable();
        Ok(())
    }

    fn bad_length(&mut self, span: Span) -> Reported {
        let error = Diagnostic::error(span, "an array cannot have this many cells");
        self.error(error.hint("give the length that the array was declared with"))
    }

    /// A statement whose divisions are not guarded.
    pub fn without_guards(&mut self, inner: &'a Stmt<'a>) -> OrReported<()> {
        if !matches!(inner.kind, StmtKind::Assign(..) | StmtKind::Update(..) | StmtKind::Assume(_)) {
            let error =
                Diagnostic::error(inner.span, "`unchecked` stands before an assignment or an `assume`");
            return Err(self.error(error.hint("leave it out here")));
        }
        self.without_guard(|l| l.nested(|l| l.dispatch(inner)))
    }

    fn without_guard<T>(&mut self, inner: impl FnOnce(&mut Self) -> OrReported<T>) -> OrReported<T> {
        let before = std::mem::replace(&mut self.unchecked, true);
        let result = inner(self);
        self.unchecked = before;
        result
    }

    /// Several operations as one indivisible step.
    pub fn together(&mut self, locked: bool, block: &'a Block<'a>) -> OrReported<()> {
        let mut parts = Vec::new();
        for statement in &block.statements {
            self.spend(1)?;
            parts.push(self.part(locked, statement)?);
        }
        self.step(Op::Block { locked, parts });
        Ok(())
    }

    fn part(&mut self, locked: bool, statement: &'a Stmt<'a>) -> OrReported<Op> {
        match &statement.kind {
            StmtKind::Assign(target, Rvalue::Value(value)) => {
                self.assignment_part(locked, target, value, statement.span)
            }
            StmtKind::Update(target, op, other) => match self.register_cell(target) {
                Some(register) => self.update_part(register, target.span, *op, other),
                None => Err(self.no_part(statement.span)),
            },
            StmtKind::Assume(cond) if self.is_pure(cond, false)? => Ok(Op::Assume(self.cond(cond)?)),
            StmtKind::Unchecked(inner) => self.without_guard(|l| l.nested(|l| l.part(locked, inner))),
            StmtKind::Broken => Err(Reported),
            _ => Err(self.no_part(statement.span)),
        }
    }

    fn assignment_part(
        &mut self,
        locked: bool,
        target: &'a Target<'a>,
        value: &'a FwExpr<'a>,
        span: Span,
    ) -> OrReported<Op> {
        if let Some(register) = self.register_cell(target) {
            let Some(cells) = self.plain_cell(value)? else {
                return Ok(Op::Assign(register, self.pure_value(value)?));
            };
            return cells.single().map(|cell| cell.load(register)).ok_or_else(|| self.no_part(span));
        }
        match self.cells(target)?.single() {
            Some(cell) if locked => Ok(cell.store(self.pure_value(value)?)),
            _ => Err(self.no_part(span)),
        }
    }

    /// `r += e;` and its like, unless computing it takes steps.
    fn update_part(
        &mut self,
        register: RegId,
        span: Span,
        op: UpdateOperator,
        other: &'a FwExpr<'a>,
    ) -> OrReported<Op> {
        let value = self.pure_value(other)?;
        let divides = matches!(op, UpdateOperator::Arith(Arith::Div | Arith::Rem));
        let stepped = divides && !self.unchecked || matches!(op, UpdateOperator::Shift(_));
        if stepped && value.as_const().is_none() {
            return Err(self.no_part(other.span));
        }
        Ok(Op::Assign(register, self.updated(op, (Expr::Leaf(register), span), (value, other.span))?))
    }

    /// The variable that an expression names, if it does nothing else.
    fn plain_cell(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Option<StoredCells<'a>>> {
        let place = match &expr.kind {
            ExprKind::Name(name) if self.is_stepped(name) => {
                self.named(Ident { text: name, span: expr.span })?
            }
            ExprKind::Cell(target)
                if self.register_cell(target).is_none() && self.has_pure_path(target)? =>
            {
                self.located(target)?
            }
            _ => return Ok(None),
        };
        if place.is_shared() { Ok(Some(place)) } else { Err(self.no_part(expr.span)) }
    }

    fn has_pure_path(&mut self, target: &'a Target<'a>) -> OrReported<bool> {
        for part in &target.path {
            if let Accessor::Index(index) = part
                && !self.is_pure(index, true)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn pure_value(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Expr<RegId>> {
        if self.is_pure(expr, true)? { self.value(expr) } else { Err(self.no_part(expr.span)) }
    }

    fn no_part(&mut self, span: Span) -> Reported {
        let message = "this is more than one operation on registers and one variable";
        let hint =
            "here, write `r = x;`, `r = e;`, `assume e;` and (if locked) `x = e;` with `e` over registers";
        self.error(Diagnostic::error(span, message).hint(hint))
    }
}
