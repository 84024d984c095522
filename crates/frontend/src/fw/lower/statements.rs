//! Statements that do not change where control goes.

use super::globals::half_open;
use super::thread::{FwLowering, LocalName, NameMeaning, Scope};
use crate::Diagnostic;
use crate::fw::ast::{Block, ExprKind, FwExpr, Ident, Rvalue, Stmt, StmtKind, Target};
use crate::fw::sink::OrReported;
use num_traits::Zero;
use program::{Domain, Expr, Failure, FailureKind, Op, RegId, Span};

impl<'a> FwLowering<'a, '_> {
    /// Statements in a scope of their own.
    pub fn block(&mut self, block: &'a Block<'a>) {
        self.scopes.push(Scope::default());
        for statement in &block.statements {
            if self.statement(statement).is_err() && self.work.fuel == 0 {
                break;
            }
        }
        self.leave_scope();
    }

    fn statement(&mut self, statement: &'a Stmt<'a>) -> OrReported<()> {
        self.span = statement.span;
        if !matches!(statement.kind, StmtKind::Label(_)) {
            self.builder.describe(self.at, statement.span);
        }
        let (mark, pending) = (self.registers.mark(), self.pending.len());
        let result = self.nested(|l| l.dispatch(statement));
        self.registers.release_temporaries(mark);
        for (declaration, register) in self.pending.split_off(pending) {
            self.registers.release(declaration, register);
        }
        result
    }

    pub fn dispatch(&mut self, statement: &'a Stmt<'a>) -> OrReported<()> {
        match &statement.kind {
            StmtKind::Broken => {}
            StmtKind::Skip => self.step(Op::Skip),
            StmtKind::Fence(fence) => self.step(Op::Fence(*fence)),
            StmtKind::Let(list) => return self.let_registers(list, statement.span),
            StmtKind::Assign(target, source) => return self.assign(target, source),
            StmtKind::Await(cond) => return self.await_cond(cond),
            StmtKind::Assume(cond) => return self.assume_cond(cond),
            StmtKind::Assert(cond) => return self.assert_cond(cond),
            StmtKind::Arw(operands) => return self.arw(operands),
            StmtKind::Evaluate(expr) => return self.evaluate_only(expr),
            StmtKind::Lock => self.step(Op::Lock),
            StmtKind::Unlock => self.step(Op::Unlock),
            StmtKind::Fail(fail) => return self.fail(fail),
            StmtKind::Together { locked, parts } => return self.together(*locked, parts),
            StmtKind::Unchecked(inner) => return self.without_guards(inner),
            _ => return self.control(statement),
        }
        Ok(())
    }

    fn let_registers(
        &mut self,
        list: &'a [(Ident<'a>, Option<Rvalue<'a>>, Span)],
        whole: Span,
    ) -> OrReported<()> {
        for (name, source, span) in list {
            self.span = if list.len() == 1 { whole } else { *span };
            let (register, zero) = self.acquire(*name)?;
            let result = match source {
                None if zero => Ok(()),
                None => {
                    self.step(Op::Assign(register, Expr::from(0)));
                    Ok(())
                }
                Some(Rvalue::Value(expr)) if zero && self.is_zero(expr) => Ok(()),
                Some(source) => self.source_into(source, register),
            };
            self.declare(*name, LocalName::Register(register));
            result?;
        }
        Ok(())
    }

    fn is_zero(&self, expr: &'a FwExpr<'a>) -> bool {
        matches!(&expr.kind, ExprKind::Int(value) if value.is_zero())
    }

    fn assign(&mut self, target: &'a Target<'a>, source: &'a Rvalue<'a>) -> OrReported<()> {
        match self.meaning(target.name.text) {
            NameMeaning::Register(register) if target.index.is_none() => self.source_into(source, register),
            NameMeaning::Register(_) => {
                let message = format!("`{}` is a register, not an array", target.name.text);
                Err(self.error(Diagnostic::error(target.span, message).hint("leave out the index")))
            }
            NameMeaning::Constant(_) => {
                let message = format!("`{}` is a constant and cannot be assigned to", target.name.text);
                let hint = "declare a register with `let` and assign to that";
                Err(self.error(Diagnostic::error(target.span, message).hint(hint)))
            }
            _ => {
                let cells = self.cells(target)?;
                let value = self.source_value(source)?;
                self.store(&cells, &value)
            }
        }
    }

    /// Gives a register the value of a right-hand side.
    pub fn source_into(&mut self, source: &'a Rvalue<'a>, register: RegId) -> OrReported<()> {
        match source {
            Rvalue::Value(expr) => self.value_into(expr, register),
            Rvalue::Any => {
                self.step(Op::Havoc(register, Domain::All));
                Ok(())
            }
            Rvalue::AnyIn(bounds, span) => {
                let (low, high) = (self.constant(&bounds.0)?, self.constant(&bounds.1)?);
                let domain = half_open(low, high, *span, self.work)?;
                self.step(Op::Havoc(register, domain));
                Ok(())
            }
        }
    }

    /// The value of a right-hand side.
    pub fn source_value(&mut self, source: &'a Rvalue<'a>) -> OrReported<Expr<RegId>> {
        if let Rvalue::Value(expr) = source {
            return self.value(expr);
        }
        let chosen = self.temporary()?;
        self.source_into(source, chosen)?;
        Ok(Expr::Leaf(chosen))
    }

    /// Passes only if the condition holds, in one step, if that is enough to evaluate it; whether it is.
    fn assumed_at_once(&mut self, cond: &'a FwExpr<'a>) -> OrReported<bool> {
        let pure = self.is_pure(cond, false)?;
        if pure {
            let cond = self.cond(cond)?;
            self.assume(cond);
        }
        Ok(pure)
    }

    /// Spins: where the condition is false, everything is evaluated again.
    fn await_cond(&mut self, cond: &'a FwExpr<'a>) -> OrReported<()> {
        if self.assumed_at_once(cond)? {
            return Ok(());
        }
        let (start, next) = (self.at, self.location());
        self.repeats += 1;
        let done = self.branch(cond, Some(next), Some(start));
        self.repeats -= 1;
        self.at = next;
        done.map(|_| ())
    }

    /// Evaluates once; where the condition is false, the thread is stuck.
    fn assume_cond(&mut self, cond: &'a FwExpr<'a>) -> OrReported<()> {
        if self.assumed_at_once(cond)? {
            return Ok(());
        }
        let next = self.location();
        self.branch(cond, Some(next), None)?;
        self.at = next;
        Ok(())
    }

    fn assert_cond(&mut self, cond: &'a FwExpr<'a>) -> OrReported<()> {
        let (next, failed) = (self.location(), self.location());
        self.builder.fail(failed, Failure { kind: FailureKind::Assertion, span: self.span });
        self.branch(cond, Some(next), Some(failed))?;
        self.at = next;
        Ok(())
    }

    fn evaluate_only(&mut self, expr: &'a FwExpr<'a>) -> OrReported<()> {
        match &expr.kind {
            ExprKind::Call(name, arguments) => self.call(*name, arguments, None),
            ExprKind::Atomic(atomic) => self.atomic(atomic, None),
            _ => self.value(expr).map(|_| ()),
        }
    }
}
