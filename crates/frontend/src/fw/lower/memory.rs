//! Loads and stores of shared variables and array cells.
//!
//! Nothing below the front end knows arrays: a computed index becomes a case split with one
//! edge a cell, and one edge for all indices outside, which leads to a failure.

use super::thread::{FwLowering, NameMeaning};
use crate::Diagnostic;
use crate::fw::ast::{FwExpr, Ident, Target};
use crate::fw::sink::OrReported;
use num_traits::ToPrimitive;
use program::{Cond, Expr, Failure, FailureKind, Int, Loc, Op, RegId, Relation, Span, VarId};

/// What an access may touch.
pub(super) enum Cells<'a> {
    One(VarId),
    /// One cell of an array, chosen by a value.
    Indexed {
        array: &'a str,
        first: VarId,
        length: usize,
        index: Expr<RegId>,
        span: Span,
    },
}

impl<'a> FwLowering<'a, '_> {
    /// What an assignment or an atomic expression works on; evaluates its index.
    pub fn cells(&mut self, target: &'a Target<'a>) -> OrReported<Cells<'a>> {
        self.named_cells(target.name, target.index.as_deref(), target.span)
    }

    pub fn named_cells(
        &mut self,
        name: Ident<'a>,
        index: Option<&'a FwExpr<'a>>,
        span: Span,
    ) -> OrReported<Cells<'a>> {
        let text = name.text;
        let (message, hint) = match (self.meaning(text), index) {
            (NameMeaning::Scalar(variable), None) => return Ok(Cells::One(variable)),
            (NameMeaning::Array(first, length), Some(index)) => {
                return self.cell(name, first, length, index, span);
            }
            (NameMeaning::Unknown, _) => return Err(self.unknown(name)),
            (NameMeaning::Broken, _) => return Err(crate::fw::sink::Reported),
            (NameMeaning::Array(..), None) => {
                (format!("`{text}` is an array"), format!("name a cell, like `{text}[0]`"))
            }
            (NameMeaning::Function, _) => {
                (format!("`{text}` is a function"), format!("call it, like `{text}(…)`"))
            }
            (NameMeaning::Register(_) | NameMeaning::Constant(_), None) => (
                format!("`{text}` is not a shared variable"),
                "atomic operations work on shared variables".to_string(),
            ),
            (_, Some(_)) => (format!("`{text}` is not an array"), "leave out the index".to_string()),
        };
        Err(self.error(Diagnostic::error(span, message).hint(hint)))
    }

    fn cell(
        &mut self,
        name: Ident<'a>,
        first: VarId,
        length: usize,
        index: &'a FwExpr<'a>,
        span: Span,
    ) -> OrReported<Cells<'a>> {
        let value = self.value(index)?;
        let Some(constant) = value.as_const() else {
            return Ok(Cells::Indexed { array: name.text, first, length, index: value, span });
        };
        match constant.to_usize() {
            Some(at) if at < length => Ok(Cells::One(VarId::new(first.index() + at))),
            _ if self.dead => Err(crate::fw::sink::Reported),
            _ => Err(self.error(out_of_range(name.text, length, constant, index.span))),
        }
    }

    /// From here, the edges that `edges` gives for the variable touched, whichever it is. They
    /// hold copies of `values`.
    pub fn access(
        &mut self,
        cells: &Cells<'a>,
        values: &[&Expr<RegId>],
        edges: &dyn Fn(VarId) -> Vec<(Op, Loc)>,
    ) -> OrReported<()> {
        let (array, first, length, index, span) = match cells {
            Cells::One(variable) => {
                edges(*variable).into_iter().for_each(|(op, to)| self.edge(op, to));
                return Ok(());
            }
            Cells::Indexed { array, first, length, index, span } => (array, first, *length, index, *span),
        };
        let from = self.at;
        let weight = weight(index) + values.iter().map(|value| weight(value)).sum::<usize>();
        for at in 0..length {
            self.spend(weight)?;
            let here = self.location();
            // Where a label names this access, the thread stands there until the access is made.
            self.builder.stays(here, from);
            self.at = from;
            self.edge(Op::Assume(Cond::compare(Relation::Eq, index.clone(), Int::from(at))), here);
            self.at = here;
            let variable = VarId::new(first.index() + at);
            edges(variable).into_iter().for_each(|(op, to)| self.edge(op, to));
        }
        self.at = from;
        let outside = self.location();
        let kind = FailureKind::Bounds { array: array.to_string(), length, index: index.clone() };
        self.builder.fail(outside, Failure { kind, span });
        let below = Cond::compare(Relation::Lt, index.clone(), 0);
        let above = Cond::compare(Relation::Ge, index.clone(), Int::from(length));
        self.edge(Op::Assume(Cond::or([below, above])), outside);
        Ok(())
    }

    pub fn load(&mut self, register: RegId, cells: &Cells<'a>) -> OrReported<()> {
        let next = self.location();
        self.access(cells, &[], &|variable| vec![(Op::Load(register, variable), next)])?;
        self.at = next;
        Ok(())
    }

    pub fn store(&mut self, cells: &Cells<'a>, value: &Expr<RegId>) -> OrReported<()> {
        let next = self.location();
        self.access(cells, &[value], &|variable| vec![(Op::Store(variable, value.clone()), next)])?;
        self.at = next;
        Ok(())
    }
}

/// How many nodes an expression has.
pub(super) fn weight(value: &Expr<RegId>) -> usize {
    match value {
        Expr::Binary(_, a, b) => 1 + weight(a) + weight(b),
        _ => 1,
    }
}

/// The error for a constant index that no cell has.
pub(super) fn out_of_range(array: &str, length: usize, index: &Int, span: Span) -> Diagnostic {
    let message = format!("the index {index} is outside the array `{array}`, which has {length} cells");
    Diagnostic::error(span, message).hint(format!("its cells are 0 to {}", length - 1))
}
