//! Statements that do not change where control goes.

use super::globals::half_open;
use super::layout::{CellLayout, FwCell, StoredCells};
use super::starting::spread;
use super::thread::{FwLowering, LocalName, NameMeaning, Scope};
use crate::Diagnostic;
use crate::fw::ast::{
    Block, ExprKind, FwDeclaration, FwExpr, Ident, Initial, Rvalue, Stmt, StmtKind, Target, UpdateOperator,
};
use crate::fw::constants::ConstantLookup;
use crate::fw::limits;
use crate::fw::sink::OrReported;
use num_traits::Zero;
use program::{Domain, Expr, Failure, FailureKind, Fence, Int, Op, RegId, Span};
use std::collections::HashMap;

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
        let pending = self.pending.len();
        let result = self.with_temporaries(|l| l.nested(|l| l.dispatch(statement)));
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
            StmtKind::Membarrier => {
                self.work.membarriers.insert(self.span);
                self.step(Op::Fence(Fence::Full));
            }
            StmtKind::Let(list) => return self.let_registers(list, statement.span),
            StmtKind::Assign(target, source) => return self.assign(target, source),
            StmtKind::Update(target, op, value) => return self.update_place(target, *op, value),
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

    fn let_registers(&mut self, list: &'a [FwDeclaration<'a>], whole: Span) -> OrReported<()> {
        for declared in list {
            self.span = if list.len() == 1 { whole } else { declared.span };
            if declared.record.is_some() || !declared.lengths.is_empty() {
                self.let_cells(declared)?;
                continue;
            }
            let (register, zero) = self.acquire(declared.name)?;
            let result = match &declared.initial {
                Initial::Zero if zero => Ok(()),
                Initial::Zero => {
                    self.step(Op::Assign(register, Expr::from(0)));
                    Ok(())
                }
                Initial::Same(Rvalue::Value(expr)) if zero && self.is_zero(expr) => Ok(()),
                Initial::Same(source) => self.source_into(source, register),
                // Reports that braces are for arrays.
                _ => self.starts(declared, &CellLayout::Number).map(drop),
            };
            self.declare(declared.name, LocalName::Register(register));
            result?;
        }
        Ok(())
    }

    fn starts(
        &mut self,
        declared: &'a FwDeclaration<'a>,
        layout: &CellLayout<'a>,
    ) -> OrReported<Vec<Option<super::starting::CellStart<'a>>>> {
        let constants: HashMap<&'a str, Int> =
            self.scopes.iter().flat_map(|scope| scope.constants()).collect();
        let globals = self.globals;
        let known = |name: &str| match constants.get(name) {
            Some(value) => ConstantLookup::Constant(value.clone()),
            None => globals.known(name),
        };
        spread(declared, layout, &known, self.work)
    }

    /// An array or a struct of registers.
    fn let_cells(&mut self, declared: &'a FwDeclaration<'a>) -> OrReported<()> {
        let room = limits::REGISTERS.saturating_sub(self.registers.count);
        let layout = self.local_layout(declared, room)?;
        let names = layout.names(declared.name.text);
        let registers = self.acquire_cells(declared.name, &names)?;
        let starts = self.starts(declared, &layout)?;
        let usual = layout.initial();
        for (((register, zero), start), usual) in registers.iter().zip(starts).zip(usual) {
            match start {
                Some(start) => {
                    self.scopes.push(Scope::default());
                    for (name, value) in &start.counters {
                        let name = Ident { text: name, span: declared.span };
                        self.declare(name, LocalName::Constant(value.clone()));
                    }
                    let result = self.source_into(start.source, *register);
                    self.leave_scope();
                    result?;
                }
                None if *zero && usual == Domain::only(0) => {}
                None => match usual.single() {
                    Some(value) => self.step(Op::Assign(*register, Expr::from(value.clone()))),
                    None => self.step(Op::Havoc(*register, usual)),
                },
            }
        }
        let cells = registers.iter().map(|(register, _)| FwCell::Local(*register)).collect();
        let storage = StoredCells::whole(declared.name.text, cells, layout);
        self.declare(declared.name, LocalName::Stored(storage));
        Ok(())
    }

    fn is_zero(&self, expr: &'a FwExpr<'a>) -> bool {
        matches!(&expr.kind, ExprKind::Int(value) if value.is_zero())
    }

    fn assign(&mut self, target: &'a Target<'a>, source: &'a Rvalue<'a>) -> OrReported<()> {
        let place = self.assigned_place(target)?;
        if let Some(FwCell::Local(register)) = place.single() {
            return self.source_into(source, register);
        }
        let value = self.source_value(source)?;
        self.store(&place, &value)
    }

    /// `x += e;` and its like: the place is found once, then read, then written.
    fn update_place(
        &mut self,
        target: &'a Target<'a>,
        op: UpdateOperator,
        other: &'a FwExpr<'a>,
    ) -> OrReported<()> {
        let place = self.assigned_place(target)?;
        let now = match place.single() {
            Some(FwCell::Local(register)) => register,
            _ => {
                let now = self.temporary()?;
                self.load(now, &place)?;
                now
            }
        };
        let value = self.value(other)?;
        let value = self.updated(op, (Expr::Leaf(now), target.span), (value, other.span))?;
        self.store(&place, &value)
    }

    /// What `x += e;` and its like make of the value that is there.
    pub fn updated(
        &mut self,
        op: UpdateOperator,
        now: (Expr<RegId>, Span),
        other: (Expr<RegId>, Span),
    ) -> OrReported<Expr<RegId>> {
        match op {
            UpdateOperator::Arith(op) => self.combine(op, now, other),
            UpdateOperator::Shift(shift) => self.shift(shift, now, other),
        }
    }

    /// Where an assignment stores; evaluates indices.
    fn assigned_place(&mut self, target: &'a Target<'a>) -> OrReported<StoredCells<'a>> {
        if let NameMeaning::Constant(_) = self.meaning(target.name.text) {
            let message = format!("`{}` is a constant and cannot be assigned to", target.name.text);
            let hint = "declare a register with `let` and assign to that";
            return Err(self.error(Diagnostic::error(target.span, message).hint(hint)));
        }
        self.located(target)
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
            self.step(Op::Assume(cond));
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
            ExprKind::Call(name, arguments) => self.call(*name, arguments, None, true),
            ExprKind::Atomic(atomic) => self.atomic(atomic, None),
            _ => self.value(expr).map(|_| ()),
        }
    }
}
