//! Parameters that stand for places of the caller: `fn lock(&word) { … }`, called as `lock(&locks[i])`.
//!
//! Inside the function the name *is* the place, so loads, stores and atomic operations work on it. Indices are
//! evaluated at the call. A register can only be lent by a call that is a statement: elsewhere, a value that
//! was read from it before the call may still be in use.

use super::layout::FwCell;
use super::thread::{FwLowering, LocalName, NameMeaning};
use crate::Diagnostic;
use crate::fw::ast::{ExprKind, FwExpr, FwParameter};
use crate::fw::sink::{OrReported, Reported};
use program::{Expr, Op, RegId, Span};

/// Registers that hold indices, to give back after the call.
type HeldIndices = Vec<(u32, RegId)>;

impl<'a> FwLowering<'a, '_> {
    /// Whether an argument lends a register.
    pub fn lends_register(&mut self, argument: &'a FwExpr<'a>) -> bool {
        let ExprKind::Reference(target) = &argument.kind else { return false };
        match self.meaning(target.name.text) {
            NameMeaning::Number(cell) => matches!(cell, FwCell::Local(_)),
            NameMeaning::Stored(storage) => !storage.is_shared(),
            _ => false,
        }
    }

    /// What a parameter `&name` stands for.
    pub fn reference(
        &mut self,
        parameter: &FwParameter<'a>,
        argument: &'a FwExpr<'a>,
        statement: bool,
    ) -> OrReported<(LocalName<'a>, HeldIndices)> {
        let ExprKind::Reference(target) = &argument.kind else {
            let message = format!("`{}` stands for a place of the caller", parameter.name.text);
            let error =
                Diagnostic::error(argument.span, message).related(parameter.name.span, "declared here");
            return Err(self.error(error.hint("write `&` in front of a variable, a cell or a register")));
        };
        if !statement && self.lends_register(argument) {
            let message = "only a call that is a statement can change a register of its caller";
            let error = Diagnostic::error(argument.span, message);
            return Err(self.error(error.hint("call it by itself, or `return` the value")));
        }
        let mut stored = self.stored(target)?;
        let mut held = Vec::new();
        for index in &mut stored.indices {
            let (register, _) = self.acquire_unscoped(parameter.name, true)?;
            self.step(Op::Assign(register, index.value.clone()));
            index.value = Expr::Leaf(register);
            held.push((parameter.name.span.start, register));
        }
        Ok((LocalName::Stored(stored), held))
    }

    pub fn no_reference(&mut self, span: Span) -> Reported {
        let message = "`&` lends a place to a parameter that was declared with `&`";
        self.error(Diagnostic::error(span, message).hint("leave it out: a value is wanted here"))
    }
}
