//! Flags: what was compared is kept, and jumps ask about it.

use super::instructions::{Instruction, InstructionKind, Operand, When};
use super::lower::{AsmSite, LitmusLowering};
use super::operands::Read;
use crate::Diagnostic;
use program::{Arith, Cond, Expr, Op, RegId, Relation};

impl LitmusLowering<'_> {
    /// Keeps what was compared, if a jump will look at it.
    pub(super) fn set_flags(&mut self, at: usize, a: Expr<RegId>, b: Expr<RegId>) -> Vec<Op> {
        if !self.context.flow.flags_used[at] {
            return Vec::new();
        }
        let (left, right) = self.flag_registers();
        vec![Op::Assign(left, a), Op::Assign(right, b)]
    }

    pub(super) fn jump_condition(
        &mut self,
        at: usize,
        jump: &Instruction,
        when: When,
    ) -> Result<Cond<RegId>, Diagnostic> {
        let origins = self.context.flow.origins[at];
        if origins.unset {
            let message = format!("`{}` looks at flags that no instruction has set", jump.name);
            return Err(Diagnostic::error(jump.span, message));
        }
        let unsigned = matches!(when, When::Below | When::BelowEqual | When::Above | When::AboveEqual);
        if unsigned && origins.result {
            let message = format!("`{}` looks at the carry of an addition, which is not modelled", jump.name);
            return Err(Diagnostic::error(jump.span, message));
        }
        let (a, b) = if self.context.flow.direct[at] {
            self.left_behind(at - 1)?
        } else {
            let (a, b) = self.flag_registers();
            (a.into(), b.into())
        };
        Ok(holds(when, a, b, self.context.sizes.negative))
    }

    /// What the instruction before a jump compared, as it can be seen after it.
    pub(super) fn left_behind(&mut self, at: usize) -> Result<(Expr<RegId>, Expr<RegId>), Diagnostic> {
        let instruction = &self.context.code.instructions[at];
        let mut values = Vec::new();
        for operand in &instruction.operands {
            values.push(match self.read(AsmSite { at, instruction }, operand)? {
                Read::Value(value) => value,
                Read::Memory(_) => self.scratch().into(),
            });
        }
        let one = || Expr::from(1);
        let to_register = matches!(instruction.operands.first(), Some(Operand::Register(_)));
        let mut values = values.into_iter();
        let (first, second) = (values.next().unwrap_or_else(one), values.next().unwrap_or_else(one));
        Ok(match instruction.kind {
            InstructionKind::Cmp | InstructionKind::Test => compared(instruction.kind, first, second),
            InstructionKind::Arithmetic(Arith::Sub) => (first, second),
            _ if to_register => (first, Expr::from(0)),
            InstructionKind::Arithmetic(operation) => (compute(operation, first, second), Expr::from(0)),
            InstructionKind::Inc => (compute(Arith::Add, first, second), Expr::from(0)),
            _ => (compute(Arith::Sub, first, second), Expr::from(0)),
        })
    }
}

/// The result of two-operand arithmetic.
pub(super) fn compute(operation: Arith, a: Expr<RegId>, b: Expr<RegId>) -> Expr<RegId> {
    match operation {
        Arith::Sub | Arith::Xor if a == b => Expr::from(0),
        Arith::And | Arith::Or if a == b => a,
        _ => Expr::binary(operation, a, b),
    }
}

/// The two values whose comparison `CMP` and `TEST` leave in the flags.
pub(super) fn compared(kind: InstructionKind, a: Expr<RegId>, b: Expr<RegId>) -> (Expr<RegId>, Expr<RegId>) {
    match kind {
        InstructionKind::Test => (compute(Arith::And, a, b), Expr::from(0)),
        _ => (a, b),
    }
}

/// When a jump after comparing `a` with `b` is taken.
fn holds(when: When, a: Expr<RegId>, b: Expr<RegId>, negative: bool) -> Cond<RegId> {
    let (relation, unsigned) = match when {
        When::Equal => (Relation::Eq, false),
        When::NotEqual => (Relation::Ne, false),
        When::Less | When::Negative => (Relation::Lt, false),
        When::LessEqual => (Relation::Le, false),
        When::Greater => (Relation::Gt, false),
        When::GreaterEqual | When::NotNegative => (Relation::Ge, false),
        When::Below => (Relation::Lt, true),
        When::BelowEqual => (Relation::Le, true),
        When::Above => (Relation::Gt, true),
        When::AboveEqual => (Relation::Ge, true),
    };
    let plain = Cond::compare(relation, a.clone(), b.clone());
    if !unsigned || !negative {
        return plain;
    }
    // Read without a sign, a negative number is larger than every other.
    let is_negative = |e: &Expr<RegId>| Cond::compare(Relation::Lt, e.clone(), 0);
    let upward = matches!(relation, Relation::Lt | Relation::Le);
    let (small, large) = if upward { (&a, &b) } else { (&b, &a) };
    Cond::or([
        Cond::and([is_negative(small).negate(), is_negative(large)]),
        Cond::and([plain.clone(), is_negative(small), is_negative(large)]),
        Cond::and([plain, is_negative(small).negate(), is_negative(large).negate()]),
    ])
}
