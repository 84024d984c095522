//! Statements: control flow and declarations.
//!
//! A jump adds no step: the place we are at *is* the place we jump to. Loops are in `loops`.

use super::assigned;
use super::graph::{At, CStep};
use super::thread::{KnownCells, Lowerer, agree};
use super::value::{CPlace, CValue, Typed, number};
use super::world::CLowered;
use crate::c::ast::{CExpr, CStmt, CStmtKind};
use program::{Cond, Fence, Op, Relation};
use rustc_hash::FxHashMap;
use std::rc::Rc;

impl Lowerer<'_, '_> {
    /// The statements of a function.
    pub fn body(&mut self, statements: &[CStmt]) -> CLowered<()> {
        self.scopes.push(FxHashMap::default());
        statements.iter().try_for_each(|statement| self.statement(statement))?;
        self.leave_scope();
        Ok(())
    }

    pub fn statement(&mut self, statement: &CStmt) -> CLowered<()> {
        let mark = self.in_use;
        self.span = statement.span;
        self.nested(statement.token, |l| l.dispatch(statement))?;
        self.in_use = mark;
        Ok(())
    }

    fn dispatch(&mut self, statement: &CStmt) -> CLowered<()> {
        match &statement.kind {
            CStmtKind::Expr(expr) => {
                self.span = expr.span;
                self.value(expr).map(|_| ())
            }
            CStmtKind::Empty => Ok(()),
            CStmtKind::Block(statements) => self.body(statements),
            CStmtKind::If(cond, yes, no) => self.if_else(cond, yes, no.as_deref()),
            CStmtKind::While(..) | CStmtKind::DoWhile(..) | CStmtKind::For(_) => self.any_loop(statement),
            CStmtKind::Switch(value, body) => self.switch(value, body),
            CStmtKind::Case(_, _, inner) | CStmtKind::Default(inner) => {
                let key = std::ptr::from_ref(statement) as usize;
                let Some(place) = self.frame.cases.last().and_then(|cases| cases.get(&key)).copied() else {
                    return Err(self.error(statement.token, "this `case` is in no `switch`"));
                };
                self.join(place);
                self.known = KnownCells::default();
                self.statement(inner)
            }
            CStmtKind::Label(name, inner) => {
                let place = self.label(name);
                self.join(place);
                self.graph.labels.push((place, name.to_string()));
                self.known = KnownCells::default();
                self.statement(inner)
            }
            CStmtKind::Goto(name) => {
                if self.section > 0 {
                    return Err(self.error(statement.token, "`goto` in an atomic section is not read"));
                }
                let place = self.label(name);
                self.join(place);
                self.unreachable();
                Ok(())
            }
            CStmtKind::Break | CStmtKind::Continue => {
                let leaves = matches!(statement.kind, CStmtKind::Break);
                let exits = if leaves { &self.frame.breaks } else { &self.frame.continues };
                let Some(exit) = exits.last().copied() else {
                    return Err(self.error(statement.token, "there is no loop around this"));
                };
                self.leave_to(exit);
                Ok(())
            }
            CStmtKind::Return(value) => self.return_value(value.as_ref(), statement.token),
            CStmtKind::Declare(list) => {
                let mark = self.in_use;
                for declared in list {
                    self.declaration(declared)?;
                    self.in_use = mark;
                }
                Ok(())
            }
            CStmtKind::Asm(text) => self.asm(text, statement.token),
        }
    }

    fn label(&mut self, name: &Rc<str>) -> At {
        *self.frame.labels.entry(Rc::clone(name)).or_insert_with(|| self.graph.place())
    }

    /// `asm` that does nothing, or that is a fence.
    fn asm(&mut self, text: &str, token: u32) -> CLowered<()> {
        let words: String = text.replace("\\n", " ").replace("\\t", " ").to_ascii_lowercase();
        let words = words.split([' ', ';']).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        match words.as_str() {
            "" | "nop" | "pause" | "rep nop" | "lfence" => {}
            "sfence" => self.fence(Fence::Store),
            full if full == "mfence" || adds_nothing(full) => self.fence(Fence::Full),
            _ => {
                let error = self.error(token, "this `asm` is not read");
                return Err(Box::new(error.hint(
                    "empty ones, `pause`, `mfence`, `sfence`, `lfence` and `lock; addl $0,0(%%rsp)` are; \
                     what `xchg`, `lock; xadd` and `lock; cmpxchg` do can be written as `__atomic_exchange_n`, \
                     `__atomic_fetch_add` and `__atomic_compare_exchange_n`",
                )));
            }
        }
        Ok(())
    }

    /// A fence; inside an atomic section all buffers are empty anyway.
    pub fn fence(&mut self, fence: Fence) {
        if self.section == 0 {
            self.step(Op::Fence(fence));
        }
    }

    fn if_else(&mut self, cond: &CExpr, yes: &CStmt, no: Option<&CStmt>) -> CLowered<()> {
        self.span = cond.span;
        let mark = self.in_use;
        let (then, otherwise) = (self.place(), self.place());
        let decided = self.branch(cond, then, otherwise)?;
        self.in_use = mark;
        let before = self.known.clone();
        let skip = |wanted: bool, branch: &CStmt| decided == Some(!wanted) && !assigned::holds_label(branch);
        self.at = then;
        if !skip(true, yes) {
            self.statement(yes)?;
        }
        let (then_end, then_known) = (self.at, std::mem::replace(&mut self.known, before));
        self.at = otherwise;
        if let Some(no) = no.filter(|no| !skip(false, no)) {
            self.statement(no)?;
        }
        self.span = cond.span;
        match decided {
            Some(true) => (self.at, self.known) = (then_end, then_known),
            Some(false) => {}
            None => {
                self.join(then_end);
                self.known = agree(&self.known, &then_known);
            }
        }
        Ok(())
    }

    fn switch(&mut self, value: &CExpr, body: &CStmt) -> CLowered<()> {
        self.span = value.span;
        let chosen = self.number_of(value, value.token)?;
        let chosen = self.kept(chosen)?;
        let (mut cases, mut default) = (Vec::new(), None);
        collect_cases(body, &mut cases, &mut default);
        let exit = self.new_exit();
        let from = self.at;
        let (mut places, mut others) = (FxHashMap::default(), Vec::new());
        for (key, low, high) in cases {
            let place = self.place();
            places.insert(key, place);
            let within = match low == high {
                true => Cond::compare(Relation::Eq, chosen.clone(), number(low)),
                false => Cond::and([
                    Cond::compare(Relation::Ge, chosen.clone(), number(low)),
                    Cond::compare(Relation::Le, chosen.clone(), number(high)),
                ]),
            };
            others.push(within.clone().negate());
            if within != Cond::FALSE {
                self.graph.arrow(from, CStep::Op(Op::Assume(within)), place, self.span);
            }
        }
        let others = Cond::and(others);
        let otherwise = self.place();
        if others != Cond::FALSE {
            self.graph.arrow(from, CStep::Op(Op::Assume(others)), otherwise, self.span);
        }
        match default {
            Some(key) => drop(places.insert(key, otherwise)),
            None => {
                self.at = otherwise;
                self.leave_to(exit);
            }
        }
        self.frame.cases.push(places);
        self.frame.breaks.push(exit);
        self.unreachable();
        self.statement(body)?;
        self.frame.breaks.pop();
        self.frame.cases.pop();
        self.leave_to(exit);
        self.arrive(exit);
        self.known = KnownCells::default();
        Ok(())
    }

    fn return_value(&mut self, value: Option<&CExpr>, token: u32) -> CLowered<()> {
        if let Some(expr) = value {
            self.span = expr.span;
            let value = self.value(expr)?;
            if let Some(object) = self.frame.result
                && !value.ty.is_void()
            {
                let ty = if self.calls.len() > 1 || self.thread == 0 {
                    self.frame.function.result.clone()
                } else {
                    self.world.objects[object].types[0].clone()
                };
                let value = match &value.value {
                    CValue::Object(_) => value,
                    other => {
                        let number = self.as_number(other, token)?;
                        Typed { value: CValue::Number(number), ..value }
                    }
                };
                self.assign_value(&CPlace::whole(object, ty, token), value, token)?;
            }
        }
        let exit = self.frame.exit;
        self.leave_to(exit);
        Ok(())
    }
}

/// The cases of a `switch`, without those of inner ones.
fn collect_cases(statement: &CStmt, cases: &mut Vec<(usize, i128, i128)>, default: &mut Option<usize>) {
    let mut stack = vec![statement];
    while let Some(statement) = stack.pop() {
        let key = std::ptr::from_ref(statement) as usize;
        match &statement.kind {
            CStmtKind::Switch(..) => continue,
            CStmtKind::Case(low, high, _) => cases.push((key, *low, *high)),
            CStmtKind::Default(_) => *default = Some(key),
            _ => {}
        }
        statement.for_each_part(&mut |_| {}, &mut |inner| stack.push(inner));
    }
    cases.sort_by_key(|(_, low, _)| *low);
}

/// Whether an instruction is a locked one that changes nothing, which is what it is written for.
fn adds_nothing(words: &str) -> bool {
    let mut words = words.split(' ');
    let locked = words.next() == Some("lock");
    let adds =
        words.next().is_some_and(|word| matches!(word.trim_end_matches(['b', 'w', 'l', 'q']), "add" | "or"));
    locked && adds && words.next().is_some_and(|word| word.starts_with("$0,") || word.starts_with("$0x0,"))
}
