//! Statements that do not change where control goes.

use super::globals::half_open;
use super::thread::{Local, Lowering, Meaning, Scope};
use crate::Diagnostic;
use crate::fw::ast::{Block, Expr, ExprKind, Name, Source, Stmt, StmtKind, Target};
use crate::fw::sink::Checked;
use num_traits::Zero;
use program::{Domain, Expr as Value, Failure, FailureKind, Op, RegId, Span};

impl<'a> Lowering<'a, '_> {
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

    fn statement(&mut self, statement: &'a Stmt<'a>) -> Checked<()> {
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

    pub fn dispatch(&mut self, statement: &'a Stmt<'a>) -> Checked<()> {
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
        list: &'a [(Name<'a>, Option<Source<'a>>, Span)],
        whole: Span,
    ) -> Checked<()> {
        for (name, source, span) in list {
            self.span = if list.len() == 1 { whole } else { *span };
            let (register, zero) = self.acquire(*name)?;
            let result = match source {
                None if zero => Ok(()),
                None => {
                    self.step(Op::Assign(register, Value::from(0)));
                    Ok(())
                }
                Some(Source::Value(expr)) if zero && self.is_zero(expr) => Ok(()),
                Some(source) => self.source_into(source, register),
            };
            self.declare(*name, Local::Register(register));
            result?;
        }
        Ok(())
    }

    fn is_zero(&self, expr: &'a Expr<'a>) -> bool {
        matches!(&expr.kind, ExprKind::Int(value) if value.is_zero())
    }

    fn assign(&mut self, target: &'a Target<'a>, source: &'a Source<'a>) -> Checked<()> {
        match self.meaning(target.name.text) {
            Meaning::Register(register) if target.index.is_none() => self.source_into(source, register),
            Meaning::Register(_) => {
                let message = format!("`{}` is a register, not an array", target.name.text);
                Err(self.error(Diagnostic::error(target.span, message).hint("leave out the index")))
            }
            Meaning::Constant(_) => {
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
    pub fn source_into(&mut self, source: &'a Source<'a>, register: RegId) -> Checked<()> {
        match source {
            Source::Value(expr) => self.value_into(expr, register),
            Source::Any => {
                self.step(Op::Havoc(register, Domain::All));
                Ok(())
            }
            Source::AnyIn(bounds, span) => {
                let (low, high) = (self.constant(&bounds.0)?, self.constant(&bounds.1)?);
                let domain = half_open(low, high, *span, self.work)?;
                self.step(Op::Havoc(register, domain));
                Ok(())
            }
        }
    }

    /// The value of a right-hand side.
    pub fn source_value(&mut self, source: &'a Source<'a>) -> Checked<Value<RegId>> {
        if let Source::Value(expr) = source {
            return self.value(expr);
        }
        let chosen = self.temporary()?;
        self.source_into(source, chosen)?;
        Ok(Value::Leaf(chosen))
    }

    /// Spins: where the condition is false, everything is evaluated again.
    fn await_cond(&mut self, cond: &'a Expr<'a>) -> Checked<()> {
        if self.is_pure(cond, false)? {
            let cond = self.cond(cond)?;
            self.assume(cond);
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
    fn assume_cond(&mut self, cond: &'a Expr<'a>) -> Checked<()> {
        if self.is_pure(cond, false)? {
            let cond = self.cond(cond)?;
            self.assume(cond);
            return Ok(());
        }
        let next = self.location();
        self.branch(cond, Some(next), None)?;
        self.at = next;
        Ok(())
    }

    fn assert_cond(&mut self, cond: &'a Expr<'a>) -> Checked<()> {
        let (next, failed) = (self.location(), self.location());
        self.builder.fail(failed, Failure { kind: FailureKind::Assertion, span: self.span });
        self.branch(cond, Some(next), Some(failed))?;
        self.at = next;
        Ok(())
    }

    fn evaluate_only(&mut self, expr: &'a Expr<'a>) -> Checked<()> {
        match &expr.kind {
            ExprKind::Call(name, arguments) => self.call(*name, arguments, None),
            ExprKind::Atomic(atomic) => self.atomic(atomic, None),
            _ => self.value(expr).map(|_| ()),
        }
    }
}
