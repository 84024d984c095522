//! Loops.
//!
//! A loop is a loop, unless its rounds are worth knowing: while main is alone (what it does then is
//! computed anyway), where it starts or awaits threads or allocates memory, or where it counts up to
//! a small number. Then it is written out
//! round by round for as long as its condition is known, and a loop follows for what may be left. Threads
//! cannot be started in that, so those rounds go on for a while and then end in a *limit*.

use super::assigned;
use super::graph::At;
use super::thread::{CLocal, Lowerer, further};
use super::world::{CCell, CLowered};
use crate::c::ast::{Binary, CExpr, CExprKind, CStmt, CStmtKind, Unary};
use crate::c::constant::{CConstant, binary, fold};
use crate::c::limits;
use crate::c::types::Type;
use rustc_hash::{FxHashMap, FxHashSet};

/// A loop: its parts, where the condition is tested.
#[derive(Clone, Copy)]
struct Loop<'t> {
    cond: Option<&'t CExpr>,
    step: Option<&'t CExpr>,
    body: &'t CStmt,
    /// `do … while`.
    last: bool,
    whole: &'t CStmt,
}

impl Lowerer<'_, '_> {
    /// `while`, `do` and `for`.
    pub fn any_loop(&mut self, whole: &CStmt) -> CLowered<()> {
        self.scopes.push(FxHashMap::default());
        self.any_loop_inside(whole)?;
        self.leave_scope();
        Ok(())
    }

    fn any_loop_inside(&mut self, whole: &CStmt) -> CLowered<()> {
        let parts = match &whole.kind {
            CStmtKind::While(cond, body) => Loop { cond: Some(cond), step: None, body, last: false, whole },
            CStmtKind::DoWhile(body, cond) => Loop { cond: Some(cond), step: None, body, last: true, whole },
            CStmtKind::For(parts) => {
                if let Some(init) = &parts.init {
                    self.statement(init)?;
                }
                let (cond, step) = (parts.cond.as_ref(), parts.step.as_ref());
                Loop { cond, step, body: &parts.body, last: false, whole }
            }
            _ => return Ok(()),
        };
        let unit = self.world.unit;
        let starts = self.section == 0 && assigned::handles_threads(unit, whole);
        let known = starts || !self.shared || assigned::allocates(unit, whole);
        let counted = self.counted(&parts).is_some_and(|rounds| rounds <= limits::COUNTED_ROUNDS);
        if (known || counted) && !self.jumped_into(parts.body) {
            let (exit, path) = (self.new_exit(), self.path);
            let most = if known { limits::KNOWN_SIZE } else { limits::COUNTED_SIZE };
            let rest = self.round_by_round(&parts, exit, starts, most)?;
            self.path = path;
            if let Some(rest) = rest {
                self.endless(&rest)?;
                self.leave_to(exit);
            }
            self.arrive(exit);
            return Ok(());
        }
        self.endless(&parts)
    }

    /// How many rounds a loop has that counts, if nothing in it changes the counter or the bound.
    fn counted(&self, parts: &Loop<'_>) -> Option<usize> {
        let (cond, step) = (parts.cond?, parts.step?);
        let CExprKind::Binary(op, counter, bound) = &cond.kind else { return None };
        let CExprKind::Name(name) = &counter.kind else { return None };
        let counts = |target: &CExpr| matches!(&target.kind, CExprKind::Name(other) if other == name);
        let by = match &step.kind {
            CExprKind::Step(by, _, target) if counts(target) => i128::from(*by),
            CExprKind::Assign(Some(Binary::Add), target, by) if counts(target) => fold(by)?.value,
            CExprKind::Assign(Some(Binary::Sub), target, by) if counts(target) => -fold(by)?.value,
            _ => return None,
        };
        let changes = |expr: &CExpr| match &expr.kind {
            CExprKind::Name(name) => assigned::changes(parts.body, name),
            _ => fold(expr).is_none(),
        };
        let local = matches!(self.local(name), Some(CLocal::Object(object, _))
            if matches!(self.world.objects[object].cells[..], [CCell::Register(_)]));
        if !local || changes(counter) || changes(bound) {
            return None;
        }
        let (start, bound) = (self.foreseen(counter)?.value, self.foreseen(bound)?.value);
        let distance = match (op, by.signum()) {
            (Binary::Lt | Binary::Ne, 1) => bound - start,
            (Binary::Le, 1) => bound - start + 1,
            (Binary::Gt | Binary::Ne, -1) => start - bound,
            (Binary::Ge, -1) => start - bound + 1,
            _ => return None,
        };
        usize::try_from((distance.max(0) + by.abs() - 1) / by.abs()).ok()
    }

    /// A loop with any number of rounds.
    fn endless(&mut self, parts: &Loop<'_>) -> CLowered<()> {
        self.loops += 1;
        self.forget_assigned(parts.whole);
        let head = self.place();
        self.join(head);
        let known = self.known.clone();
        let exit = self.new_exit();
        let body = self.place();
        if !parts.last {
            self.test(parts, body, exit)?;
            self.at = body;
            self.known.clone_from(&known);
        }
        self.one_round(parts, exit)?;
        if parts.last {
            let again = self.place();
            self.test(parts, again, exit)?;
            self.at = again;
        }
        self.span = parts.cond.map_or(parts.whole.span, |cond| cond.span);
        self.graph.merge(self.at, head, self.span);
        self.arrive(exit);
        self.known = known;
        self.loops -= 1;
        Ok(())
    }

    /// Tests a loop's condition: on to `body`, or to the exit.
    fn test(&mut self, parts: &Loop<'_>, body: At, exit: usize) -> CLowered<Option<bool>> {
        let Some(cond) = parts.cond else {
            self.join(body);
            return Ok(Some(true));
        };
        self.span = cond.span;
        let mark = self.in_use;
        let out = self.place();
        let decided = self.branch(cond, body, out)?;
        self.in_use = mark;
        if decided != Some(true) {
            self.at = out;
            self.leave_to(exit);
        }
        Ok(decided)
    }

    /// The body of a loop and its step.
    fn one_round(&mut self, parts: &Loop<'_>, exit: usize) -> CLowered<()> {
        let next = self.new_exit();
        self.frame.breaks.push(exit);
        self.frame.continues.push(next);
        self.statement(parts.body)?;
        self.frame.breaks.pop();
        self.frame.continues.pop();
        self.leave_to(next);
        self.arrive(next);
        if let Some(step) = parts.step {
            self.span = step.span;
            let mark = self.in_use;
            self.value(step)?;
            self.in_use = mark;
        }
        Ok(())
    }

    /// Writes a loop out while its condition is known and it stays below a size, or, if it starts threads, for
    /// a while longer. Gives the loop that is left.
    fn round_by_round<'t>(
        &mut self,
        parts: &Loop<'t>,
        exit: usize,
        starts: bool,
        most: usize,
    ) -> CLowered<Option<Loop<'t>>> {
        let (path, labels) = (self.path, assigned::labels(parts.body));
        let (mut unknown, size) = (0, self.graph.size());
        for round in 0usize.. {
            self.path = further(path, ("round", round));
            let first = parts.last && round == 0;
            let enough = round >= limits::KNOWN_ROUNDS || self.graph.size() - size > most;
            if !starts && (enough || !first && !self.is_foreseen(parts.cond)) {
                return Ok(Some(Loop { last: first, ..*parts }));
            }
            if !first {
                let body = self.place();
                let decided = self.test(parts, body, exit)?;
                if decided == Some(false) {
                    return Ok(None);
                }
                unknown += usize::from(decided.is_none());
                self.at = body;
            }
            if round >= limits::ROUNDS || unknown > limits::UNKNOWN_ROUNDS {
                self.span = parts.whole.span;
                let most = if round >= limits::ROUNDS { limits::ROUNDS } else { limits::UNKNOWN_ROUNDS };
                self.limit(format!("a loop that handles threads is read for {most} rounds only"));
                return Ok(None);
            }
            // Every round has its own labels: jumps do not lead from one into another.
            self.frame.labels.retain(|name, _| !labels.contains(name));
            self.one_round(parts, exit)?;
            self.frame.labels.retain(|name, _| !labels.contains(name));
        }
        Ok(None)
    }

    /// Whether the value of a condition is known here, and is not always the same.
    fn is_foreseen(&self, cond: Option<&CExpr>) -> bool {
        let varying = cond.filter(|cond| fold(cond).is_none());
        varying.is_some_and(|cond| self.foreseen(cond).is_some())
    }

    /// The value of an expression without calls or pointers, if it is known here.
    pub fn foreseen(&self, expr: &CExpr) -> Option<CConstant> {
        match &expr.kind {
            CExprKind::Name(name) => {
                let (cell, ty) = match self.local(name) {
                    Some(CLocal::Same(value)) => {
                        return Some(CConstant { value: value.as_constant()?, ty: value.ty });
                    }
                    Some(CLocal::Object(object, ty)) => (self.world.only_cell(object)?, ty),
                    None => {
                        let object = *self.world.globals.get(name)?;
                        (self.world.only_cell(object)?, self.world.global_types[name].clone())
                    }
                };
                let value = self.constant_cell(cell).filter(|_| ty.is_scalar())?;
                Some(CConstant { value, ty })
            }
            CExprKind::Binary(op, a, b) => binary(*op, &self.foreseen(a)?, &self.foreseen(b)?),
            CExprKind::Lazy(and, a, b) => {
                let left = self.foreseen(a)?.value != 0;
                let value = if left == *and { self.foreseen(b)?.value != 0 } else { left };
                Some(CConstant { value: i128::from(value), ty: Type::int() })
            }
            CExprKind::Unary(Unary::Not, inner) => {
                Some(CConstant { value: i128::from(self.foreseen(inner)?.value == 0), ty: Type::int() })
            }
            CExprKind::Cast(ty, inner) if ty.is_integer() => {
                Some(self.foreseen(inner)?.converted(&ty.plain()))
            }
            _ => fold(expr),
        }
    }

    /// Whether something before a loop jumps into it.
    fn jumped_into(&self, body: &CStmt) -> bool {
        assigned::labels(body).iter().any(|label| self.frame.labels.contains_key(label))
    }

    /// Forgets what a loop may change: what it assigns to by name, and what pointers lead to.
    fn forget_assigned(&mut self, whole: &CStmt) {
        let (names, mentioned) = assigned::by(self.world, whole);
        let pointed = self.world.objects.iter().filter(|object| object.pointed);
        let mut changed: FxHashSet<CCell> = pointed.flat_map(|object| object.cells.iter().copied()).collect();
        // An array that is only mentioned may become a pointer there.
        let whole = |ty: &Type| !ty.is_scalar();
        for name in &mentioned {
            let may_change = names.contains(name);
            if let Some(CLocal::Object(object, ty)) = self.local(name)
                && (may_change || whole(&ty))
            {
                changed.extend(self.world.objects[object].cells.iter().copied());
            }
            if let Some(object) = self.world.globals.get(name)
                && (may_change || whole(&self.world.global_types[name]))
            {
                changed.extend(self.world.objects[*object].cells.iter().copied());
            }
        }
        let local = |cell: &CCell| match cell {
            CCell::Register(_) => true,
            // Statics of functions are not known by name here.
            CCell::Memory(variable) => !self.world.variables[variable.index()].name.contains('.'),
        };
        self.known.retain(|cell, _| !changed.contains(cell) && local(cell));
    }
}
