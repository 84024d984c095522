//! Statements that decide where control goes.
//!
//! A jump adds no step: the place we are at *is* the place we jump to (`join`), and what
//! follows in the text starts at a place that nothing leads to. Only leaving an atomic
//! section takes a step, the `Unlock`.

use super::thread::{FwLowering, JumpTarget, LocalName, Scope};
use crate::Diagnostic;
use crate::fw::ast::{Block, FwExpr, Ident, IndexRange, Rvalue, Stmt, StmtKind, SwitchCase};
use crate::fw::sink::{OrReported, Reported};
use crate::fw::suggest::did_you_mean;
use program::{Cond, Expr, Loc, Op, RegId, Relation, Span};
use std::collections::HashMap;

impl<'a> FwLowering<'a, '_> {
    pub fn control(&mut self, statement: &'a Stmt<'a>) -> OrReported<()> {
        match &statement.kind {
            StmtKind::Label(name) => self.label(*name),
            StmtKind::If(arms, otherwise) => return self.if_else(arms, otherwise.as_ref()),
            StmtKind::While(cond, body) => return self.while_loop(cond, body),
            StmtKind::DoWhile(body, cond) => return self.do_while(body, cond),
            StmtKind::Loop(body) => self.endless_loop(body),
            StmtKind::For(range, body) => return self.unroll(range, body),
            StmtKind::Switch(value, cases) => return self.switch(value, cases),
            StmtKind::Choose(branches) => self.choose(branches),
            StmtKind::Atomic(body) => self.atomic_section(statement.span, body),
            StmtKind::Break => return self.leave_loop("break", |(exit, _)| Some(exit)),
            StmtKind::Continue => return self.leave_loop("continue", |(_, next)| next),
            StmtKind::Goto(label) => return self.goto(*label),
            StmtKind::Return(value) => return self.return_value(value.as_ref()),
            StmtKind::Stop => self.stop(),
            _ => {}
        }
        Ok(())
    }

    fn target(&mut self) -> JumpTarget {
        JumpTarget { loc: self.location(), section: self.section }
    }

    /// The labels of a body, each with a place; those in unrolled loops belong to the copies.
    pub fn labels_of(&mut self, block: &'a Block<'a>) -> HashMap<&'a str, JumpTarget> {
        let mut labels = HashMap::new();
        self.collect_labels(block, self.section, &mut labels);
        labels
    }

    fn collect_labels(
        &mut self,
        block: &'a Block<'a>,
        section: Option<u32>,
        labels: &mut HashMap<&'a str, JumpTarget>,
    ) {
        for statement in &block.statements {
            if self.spend(1).is_err() {
                return;
            }
            match &statement.kind {
                StmtKind::Label(name) => {
                    let loc = self.location();
                    labels.insert(name.text, JumpTarget { loc, section });
                }
                StmtKind::For(..) => {}
                StmtKind::Atomic(body) => {
                    self.collect_labels(body, section.or(Some(statement.span.start)), labels);
                }
                other => other.for_each_block(&mut |inner| self.collect_labels(inner, section, labels)),
            }
        }
    }

    fn label(&mut self, name: Ident<'a>) {
        let Some(target) = self.frame.labels.last().and_then(|labels| labels.get(name.text)) else { return };
        self.join(target.loc);
        self.builder.label(self.at, name.text);
        self.labelled = true;
    }

    /// Goes to a place outside our atomic section, or in the same one.
    fn jump(&mut self, to: JumpTarget) {
        if self.section != to.section {
            self.step(Op::Unlock);
        }
        self.join(to.loc);
        self.unreachable();
    }

    fn goto(&mut self, label: Ident<'a>) -> OrReported<()> {
        let found = self.frame.labels.iter().rev().find_map(|labels| labels.get(label.text)).copied();
        let Some(target) = found else { return self.unknown_label(label) };
        if target.section.is_some() && target.section != self.section {
            let message = format!("this jumps into the atomic section around `{}`", label.text);
            let hint = "put the label before the `atomic`, or everything into one section";
            return Err(self.error(Diagnostic::error(self.span, message).hint(hint)));
        }
        self.jump(target);
        Ok(())
    }

    fn unknown_label(&mut self, label: Ident<'a>) -> OrReported<()> {
        if !self.work.sink.wants_missing() {
            self.unreachable();
            return Err(Reported);
        }
        let visible = self.frame.labels.iter().flat_map(|labels| labels.keys().copied());
        let hint = did_you_mean(label.text, visible).unwrap_or_else(|| {
            "`goto` cannot lead into a `for` loop, which is unrolled, nor into or out of a function".into()
        });
        let error = Diagnostic::error(label.span, format!("there is no label `{}` here", label.text));
        let reported = self.work.sink.missing(error.hint(hint));
        self.unreachable();
        Err(reported)
    }

    fn leave_loop(
        &mut self,
        word: &str,
        which: fn((JumpTarget, Option<JumpTarget>)) -> Option<JumpTarget>,
    ) -> OrReported<()> {
        let Some(target) = self.frame.loops.last().copied().and_then(which) else {
            let error = Diagnostic::error(self.span, format!("there is no loop around this `{word}`"));
            return Err(self.error(error.hint("`stop;` ends a thread, `return;` a function")));
        };
        self.jump(target);
        Ok(())
    }

    fn return_value(&mut self, value: Option<&'a Rvalue<'a>>) -> OrReported<()> {
        let Some((exit, result)) = self.frame.exit else {
            let error = Diagnostic::error(self.span, "`return` outside a function");
            return Err(self.error(error.hint("`stop;` ends the thread")));
        };
        match (value, result) {
            (Some(value), Some(register)) => self.source_into(value, register)?,
            (Some(value), None) => drop(self.source_value(value)?),
            (None, _) => {}
        }
        self.jump(exit);
        Ok(())
    }

    fn stop(&mut self) {
        if self.section.is_some() {
            self.step(Op::Unlock);
        }
        self.unreachable();
    }

    fn if_else(
        &mut self,
        arms: &'a [(FwExpr<'a>, Block<'a>)],
        otherwise: Option<&'a Block<'a>>,
    ) -> OrReported<()> {
        let (end, dead) = (self.location(), self.dead);
        for (at, (cond, body)) in arms.iter().enumerate() {
            if at > 0 {
                self.span = cond.span;
                self.builder.describe(self.at, cond.span);
            }
            let (yes, no) = (self.location(), self.location());
            let known = self.with_temporaries(|l| l.branch(cond, Some(yes), Some(no))).unwrap_or(None);
            self.at = yes;
            self.only_if(known != Some(false), |l| l.block(body));
            self.join(end);
            self.at = no;
            self.dead |= known == Some(true);
        }
        if let Some(body) = otherwise {
            self.block(body);
        }
        self.dead = dead;
        self.join(end);
        Ok(())
    }

    fn while_loop(&mut self, cond: &'a FwExpr<'a>, body: &'a Block<'a>) -> OrReported<()> {
        let (head, yes, exit) = (self.at, self.location(), self.target());
        self.repeats += 1;
        let known = self.with_temporaries(|l| l.branch(cond, Some(yes), Some(exit.loc))).unwrap_or(None);
        self.at = yes;
        let head = JumpTarget { loc: head, section: self.section };
        self.only_if(known != Some(false), |l| l.loop_body(head, exit, body));
        Ok(())
    }

    fn do_while(&mut self, body: &'a Block<'a>, cond: &'a FwExpr<'a>) -> OrReported<()> {
        let (head, test, exit) = (self.at, self.target(), self.target());
        self.repeats += 1;
        self.frame.loops.push((exit, Some(test)));
        self.block(body);
        self.frame.loops.pop();
        self.join(test.loc);
        self.span = cond.span;
        self.builder.describe(self.at, cond.span);
        let tested = self.with_temporaries(|l| l.branch(cond, Some(head), Some(exit.loc)));
        self.repeats -= 1;
        self.at = exit.loc;
        tested.map(drop)
    }

    fn endless_loop(&mut self, body: &'a Block<'a>) {
        let (head, exit) = (JumpTarget { loc: self.at, section: self.section }, self.target());
        self.repeats += 1;
        self.loop_body(head, exit, body);
    }

    /// A body that goes back to its head; the caller has counted the loop.
    fn loop_body(&mut self, head: JumpTarget, exit: JumpTarget, body: &'a Block<'a>) {
        self.frame.loops.push((exit, Some(head)));
        self.block(body);
        self.frame.loops.pop();
        self.repeats -= 1;
        self.join(head.loc);
        self.at = exit.loc;
    }

    fn unroll(&mut self, range: &'a IndexRange<'a>, body: &'a Block<'a>) -> OrReported<()> {
        let (low, high) = (self.constant(&range.low)?, self.constant(&range.high)?);
        let exit = self.target();
        let span = self.span;
        let mut value = low;
        while value < high {
            self.span = span;
            self.spend(1)?;
            self.scopes.push(Scope::default());
            self.declare(range.name, LocalName::Constant(value.clone()));
            let labels = self.labels_of(body);
            self.frame.labels.push(labels);
            let next = self.target();
            self.frame.loops.push((exit, Some(next)));
            self.block(body);
            self.frame.loops.pop();
            self.frame.labels.pop();
            self.scopes.pop();
            self.join(next.loc);
            value += 1;
        }
        self.join(exit.loc);
        Ok(())
    }

    /// One step decides where to begin; from there all cases follow each other, as in C.
    fn switch(&mut self, value: &'a FwExpr<'a>, cases: &'a [SwitchCase<'a>]) -> OrReported<()> {
        let mark = self.registers.mark();
        let value = self.value(value)?;
        let (exit, next) = (self.target(), self.frame.loops.last().and_then(|(_, next)| *next));
        let places: Vec<Loc> = cases.iter().map(|_| self.location()).collect();
        let chosen = self.choose_case(&value, cases, &places, exit.loc)?;
        self.registers.release_temporaries(mark);
        self.frame.loops.push((exit, next));
        self.unreachable();
        for (at, (case, place)) in cases.iter().zip(places).enumerate() {
            self.join(place);
            self.only_if(chosen.is_none_or(|chosen| chosen <= at), |l| l.block(&case.body));
        }
        self.frame.loops.pop();
        self.join(exit.loc);
        Ok(())
    }

    /// The steps into the cases; which one is taken, if that is known (behind all of them: none).
    fn choose_case(
        &mut self,
        value: &Expr<RegId>,
        cases: &'a [SwitchCase<'a>],
        places: &[Loc],
        exit: Loc,
    ) -> OrReported<Option<usize>> {
        let (mut seen, mut others, mut default) = (HashMap::new(), Vec::new(), None);
        let mut taken = None;
        for (at, case) in cases.iter().enumerate() {
            let mut here = Vec::new();
            for expr in &case.values {
                let constant = self.constant(expr)?;
                if let Some(first) = seen.insert(constant.clone(), expr.span) {
                    let error = Diagnostic::error(expr.span, format!("there are two cases for {constant}"));
                    return Err(self.error(error.related(first, "first here").hint("remove one of them")));
                }
                here.push(Cond::compare(Relation::Eq, value.clone(), constant.clone()));
                others.push(Cond::compare(Relation::Ne, value.clone(), constant));
            }
            if case.default && default.replace(at).is_some() {
                let error = Diagnostic::error(case.span, "there are two cases for all other values");
                return Err(self.error(error.hint("remove one `default`")));
            }
            match Cond::or(here) {
                Cond::Const(true) => taken = Some(at),
                Cond::Const(false) => {}
                cond => self.edge(Op::Assume(cond), places[at]),
            }
        }
        let rest = default.map_or(exit, |at| places[at]);
        if value.as_const().is_some() {
            let to = taken.map_or(rest, |at| places[at]);
            self.join(to);
            return Ok(Some(taken.or(default).unwrap_or(cases.len())));
        }
        match Cond::and(others) {
            Cond::Const(_) => self.join(rest),
            cond => self.edge(Op::Assume(cond), rest),
        }
        Ok(None)
    }

    fn choose(&mut self, branches: &'a [Block<'a>]) {
        let (from, end, span) = (self.at, self.location(), self.span);
        for body in branches {
            let (start, mark) = (self.location(), self.builder.mark());
            self.at = start;
            self.block(body);
            self.span = span;
            self.join(end);
            self.builder.splice(from, start, mark, span);
        }
        self.at = end;
    }

    /// Sections inside sections are part of the outermost.
    fn atomic_section(&mut self, span: Span, body: &'a Block<'a>) {
        if self.section.is_some() {
            self.block(body);
            return;
        }
        self.step(Op::Lock);
        self.section = Some(span.start);
        self.block(body);
        self.section = None;
        self.span = body.close;
        self.step(Op::Unlock);
    }
}
