//! What is claimed from outside threads. Conditions here speak of threads' places and
//! registers and of memory, and take no steps: indices and divisors must be constants.

use super::globals::{Global, Globals};
use super::{LoweringState, Threads};
use crate::Diagnostic;
use crate::fw::ast::{ExprKind, FwExpr, Ident, IndexRange, Item, ThreadRef};
use crate::fw::constants::{ConstantLookup, combine, evaluate, power_of_two, shifted};
use crate::fw::limits;
use crate::fw::sink::{OrReported, Reported};
use crate::fw::suggest::did_you_mean;
use num_traits::ToPrimitive;
use program::{
    Arith, Cond, Expr, Hint, Int, Loc, Names, Place, Program, Property, PropertyKind, Relation, Span,
    StartCondition, ThreadId,
};

/// Adds all properties and predicates to the program.
pub(super) fn lower<'a>(
    items: &'a [Item<'a>],
    globals: &Globals<'a>,
    threads: &Threads<'a>,
    work: &mut LoweringState<'a>,
    program: &mut Program,
) {
    let mut claims = Claims { globals, threads, work, program, counters: Vec::new() };
    claims.items(items);
    program.narrow_starts();
}

pub(super) struct Claims<'a, 'w> {
    pub(super) globals: &'w Globals<'a>,
    pub(super) threads: &'w Threads<'a>,
    pub(super) work: &'w mut LoweringState<'a>,
    pub(super) program: &'w mut Program,
    /// Counters of the loops around, innermost last.
    counters: Vec<(Ident<'a>, Int)>,
}

impl<'a> Claims<'a, '_> {
    fn items(&mut self, items: &'a [Item<'a>]) {
        for item in items {
            match item {
                Item::Property { kind, name, cond, span } => {
                    if let Some(cond) = self.claimed(cond, *span) {
                        self.warn_of_sections(*kind, &cond, *span);
                        let text = self.words(*kind, *name, &cond, *span);
                        self.program.properties.push(Property { kind: *kind, cond, span: *span, text });
                    }
                }
                Item::Assume { cond, span } => {
                    if let Some(cond) = self.claimed(cond, *span) {
                        self.assume(StartCondition { cond, span: *span });
                    }
                }
                Item::Predicates(list) => {
                    for expr in list {
                        if let Some(cond) = self.claimed(expr, expr.span) {
                            self.offer(Hint { cond, span: expr.span });
                        }
                    }
                }
                Item::For(range, items) => drop(self.repeat(range, items)),
                _ => {}
            }
        }
    }

    /// How a claim is shown: in the words of the source, or, of a copy that was given a name, with that.
    fn words(
        &self,
        kind: PropertyKind,
        name: Option<Ident<'a>>,
        cond: &Cond<Place>,
        span: Span,
    ) -> Option<String> {
        if self.counters.is_empty() {
            return Some(self.program.source.snippet(span));
        }
        let named = |name: Ident<'_>| {
            format!("{} {}: {}", kind.word(), name.text, Names::original(self.program).cond(cond))
        };
        name.map(named)
    }

    /// Warns of a `never` that speaks of a place where it is not judged.
    fn warn_of_sections(&mut self, kind: PropertyKind, cond: &Cond<Place>, span: Span) {
        let mut inside = None;
        cond.for_each_leaf(&mut |place| {
            if let Place::At(thread, loc) = *place
                && self.program.thread(thread).in_atomic(loc)
            {
                inside = inside.or(Some((thread, loc)));
            }
        });
        if let (PropertyKind::Never, Some((thread, loc))) = (kind, inside) {
            let thread = self.program.thread(thread);
            let label = thread.location(loc).labels.first().map_or("", String::as_str);
            let message = format!(
                "`{}@{label}` lies inside an atomic section, and `never` is judged while nobody is inside one",
                thread.name
            );
            let hint = "use `assert` inside the section, or put the label in front of it or behind it";
            self.work.sink.warning(Diagnostic::warning(span, message).hint(hint));
        }
    }

    /// Adds a condition on initial values.
    fn assume(&mut self, start: StartCondition) {
        if start.cond.any_leaf(|place| !matches!(place, Place::Memory(_))) {
            let message = "outside threads, `assume` is about the initial values of shared variables";
            let hint =
                "registers start at 0 and threads at their first statement: only name shared variables";
            self.error(start.span, message, hint);
        } else {
            self.program.starts.push(start);
        }
    }

    /// Adds a predicate for proof engines.
    fn offer(&mut self, hint: Hint) {
        if hint.speaks() {
            self.program.hints.push(hint);
        } else {
            let message = "this predicate says nothing of the program";
            self.error(hint.span, message, "name a shared variable, a register `P.r` or a place `P@label`");
        }
    }

    /// The condition of a claim, an assumption or a predicate, if there may be one more.
    fn claimed(&mut self, expr: &'a FwExpr<'a>, span: Span) -> Option<Cond<Place>> {
        let cond = self.cond(expr).ok()?;
        let program = &self.program;
        let count = program.properties.len() + program.hints.len() + program.starts.len();
        let fits = count < limits::PROPERTIES;
        if !fits && self.work.fuel > 0 {
            let message =
                format!("there are more than {} properties, assumptions and predicates", limits::PROPERTIES);
            self.error(span, message, "use smaller constants, or join them with `||`");
            self.work.fuel = 0;
        }
        fits.then_some(cond)
    }

    fn repeat(&mut self, range: &'a IndexRange<'a>, items: &'a [Item<'a>]) -> OrReported<()> {
        let (low, high) = (self.constant(&range.low)?, self.constant(&range.high)?);
        self.check_counter(range.name)?;
        let mut value = low;
        while value < high {
            self.work.spend(1, range.name.span)?;
            self.counters.push((range.name, value.clone()));
            self.items(items);
            self.counters.pop();
            value += 1;
        }
        Ok(())
    }

    fn check_counter(&mut self, name: Ident<'a>) -> OrReported<()> {
        let outer = self.counters.iter().find(|(other, _)| other.text == name.text).map(|(n, _)| n.span);
        let global = self.globals.names.get(name.text).map(|(_, span)| *span);
        let Some(first) = outer.or(global) else { return Ok(()) };
        let error = Diagnostic::error(name.span, format!("`{}` is already declared", name.text));
        Err(self.work.sink.error(error.related(first, "first declared here").hint("choose another name")))
    }

    pub(super) fn error(
        &mut self,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) -> Reported {
        self.work.sink.error(Diagnostic::error(span, message).hint(hint))
    }

    pub(super) fn constant(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Int> {
        let known = |name: &str| match self.counters.iter().rev().find(|(n, _)| n.text == name) {
            Some((_, value)) => ConstantLookup::Constant(value.clone()),
            None => self.globals.known(name),
        };
        evaluate(expr, &known).map_err(|fault| self.work.report(fault))
    }

    fn cond(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Cond<Place>> {
        self.work.spend(1, expr.span)?;
        match &expr.kind {
            ExprKind::Not(inner) => Ok(self.cond(inner)?.negate()),
            ExprKind::All(parts) => Ok(Cond::and(self.conds(parts)?)),
            ExprKind::Some(parts) => Ok(Cond::or(self.conds(parts)?)),
            ExprKind::Compare(relation, a, b) => Ok(Cond::compare(*relation, self.value(a)?, self.value(b)?)),
            ExprKind::At(thread, label) => {
                let (thread, locs) = self.labelled(thread, *label)?;
                Ok(Cond::or(locs.into_iter().map(|loc| Cond::at(thread, loc))))
            }
            ExprKind::Call(name, arguments) if name.text == "empty" => self.empty(arguments, expr.span),
            ExprKind::Name("deadlock") if !self.globals.names.contains_key("deadlock") => {
                if let Some(place) = self.program.may_get_stuck_inside() {
                    let message = "an atomic section may get stuck here";
                    let error = Diagnostic::error(place, message);
                    return Err(self.work.sink.error(error.hint(
                        "`never deadlock` looks at states outside of sections: wait before the first store, and not in a loop",
                    )));
                }
                let deadlock = self.program.deadlock();
                if deadlock.may_divide_by_zero() {
                    let message = "a thread waits for something that it computes by dividing by a variable";
                    let hint = "`never deadlock` only knows of divisions by constants: multiply instead";
                    return Err(self.error(expr.span, message, hint));
                }
                Ok(deadlock)
            }
            ExprKind::Call(..) => {
                let places = self.counted_places(expr)?;
                Ok(Cond::or(places.into_iter().map(|(thread, loc)| Cond::at(thread, loc))))
            }
            _ => Ok(Cond::compare(Relation::Ne, self.value(expr)?, 0)),
        }
    }

    fn conds(&mut self, parts: &'a [FwExpr<'a>]) -> OrReported<Vec<Cond<Place>>> {
        // All of them, so that every mistake is found.
        let parts: Vec<_> = parts.iter().map(|part| self.cond(part)).collect();
        parts.into_iter().collect()
    }

    fn value(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Expr<Place>> {
        self.work.spend(1, expr.span)?;
        match &expr.kind {
            ExprKind::Broken => Err(Reported),
            ExprKind::Int(value) => Ok(value.clone().into()),
            ExprKind::Bool(value) => Ok(Expr::from(i64::from(*value))),
            ExprKind::Name(name) => self.named(Ident { text: name, span: expr.span }),
            ExprKind::Cell(target) => self.cell(target),
            ExprKind::Reference(_) => {
                Err(self.error(expr.span, "a property takes no `&`", "name the variable itself"))
            }
            ExprKind::Shift(shift, a, b) => {
                let (value, places) = (self.value(a)?, self.constant(b)?);
                let power = power_of_two(&places, b.span).map_err(|fault| self.work.report(fault))?;
                Ok(shifted(*shift, value, power))
            }
            ExprKind::Negative(inner) => {
                let value = self.value(inner)?;
                self.combine(Arith::Sub, (Expr::from(0), expr.span), (value, inner.span))
            }
            ExprKind::Binary(op, a, b) => {
                let (x, y) = (self.value(a)?, self.value(b)?);
                self.combine(*op, (x, a.span), (y, b.span))
            }
            ExprKind::At(thread, label) => {
                let (thread, locs) = self.labelled(thread, *label)?;
                let places = locs.into_iter().map(|loc| Expr::Leaf(Place::At(thread, loc)));
                self.sum(places.collect(), expr.span)
            }
            ExprKind::Conditional(_) => {
                let message = "a property cannot choose between values";
                Err(self.error(expr.span, message, "write both cases, like `c && x == 1 || !c && x == 2`"))
            }
            ExprKind::Call(..) => self.count(expr),
            ExprKind::Atomic(_) => {
                let message = "a property only looks; it cannot call functions or change memory";
                Err(self.error(expr.span, message, "write the condition out"))
            }
            ExprKind::Not(_) | ExprKind::Compare(..) | ExprKind::All(_) | ExprKind::Some(_) => {
                match self.cond(expr)? {
                    Cond::Const(value) => Ok(Expr::from(i64::from(value))),
                    _ => Err(self.error(
                        expr.span,
                        "a property cannot use a condition as a number",
                        "split it into cases with `&&` and `||`",
                    )),
                }
            }
        }
    }

    fn combine(
        &mut self,
        op: Arith,
        a: (Expr<Place>, Span),
        b: (Expr<Place>, Span),
    ) -> OrReported<Expr<Place>> {
        if matches!(op, Arith::Div | Arith::Rem) && b.0.as_const().is_none() {
            let message = "in a property, the divisor must be a constant";
            return Err(self.error(b.1, message, "multiply the other side instead"));
        }
        combine(op, a, b).map_err(|fault| self.work.report(fault))
    }

    fn named(&mut self, name: Ident<'a>) -> OrReported<Expr<Place>> {
        if let Some((_, value)) = self.counters.iter().rev().find(|(n, _)| n.text == name.text) {
            return Ok(value.clone().into());
        }
        self.work.mentioned.insert(name.text);
        let Some((what, _)) = self.globals.names.get(name.text) else { return Err(self.unknown_name(name)) };
        match what {
            Global::Constant(value) => Ok(value.clone().into()),
            Global::Shared(storage) => self.memory(storage.clone(), name.span),
            Global::Record(_) => {
                let hint = "name a variable that is one";
                Err(self.error(name.span, format!("`{}` is a kind of struct", name.text), hint))
            }
            Global::Function(_) => {
                Err(self.error(name.span, format!("`{}` is a function", name.text), "properties only look"))
            }
            Global::Broken => Err(Reported),
        }
    }

    pub(super) fn unknown_name(&mut self, name: Ident<'a>) -> Reported {
        if !self.work.sink.wants_missing() {
            return Reported;
        }
        let owner = self
            .threads
            .by_name
            .iter()
            .filter(|(_, (id, _))| self.threads.finished[id.index()].registers.contains_key(name.text));
        let hint = match owner.map(|(thread, _)| thread).min() {
            Some(thread) => Some(format!("the register is called `{thread}.{}` here", name.text)),
            None => did_you_mean(name.text, self.globals.names.keys().copied()),
        };
        let error = Diagnostic::error(name.span, format!("`{}` is not declared", name.text));
        let hint = hint.unwrap_or_else(|| "properties speak of shared variables, `P@label` and `P.r`".into());
        self.work.sink.missing(error.hint(hint))
    }

    pub(super) fn thread_named(
        &mut self,
        name: Ident<'a>,
        index: Option<&'a FwExpr<'a>>,
    ) -> OrReported<ThreadId> {
        let Some(index) = index else {
            return match self.threads.by_name.get(name.text) {
                Some((id, _)) => Ok(*id),
                None => Err(self.unknown_thread(name)),
            };
        };
        let at = self.constant(index)?;
        let Some(family) = self.threads.families.get(name.text) else {
            return Err(self.unknown_thread(name));
        };
        let Some(low) = &family.low else {
            let message = format!("`{}` is one thread, not a family", name.text);
            return Err(self.error(name.span, message, "leave out the index"));
        };
        match (&at - low).to_usize() {
            Some(offset) if offset < family.count => Ok(ThreadId::new(family.first.index() + offset)),
            _ if self.threads.broken => Err(Reported),
            _ => {
                let message = format!("there is no thread `{}[{at}]`", name.text);
                let hint = format!("its members are {low} to {}", low + family.count - 1);
                Err(self.error(index.span, message, hint))
            }
        }
    }

    fn unknown_thread(&mut self, name: Ident<'a>) -> Reported {
        if self.threads.broken || !self.work.sink.wants_missing() {
            return Reported;
        }
        let families = self.threads.families.get(name.text).is_some_and(|family| family.low.is_some());
        let hint = if families {
            Some(format!("`{0}` is a family of threads: write `{0}0` or `{0}[i]`", name.text))
        } else {
            did_you_mean(name.text, self.threads.by_name.keys().map(String::as_str))
        };
        let names = sorted(self.threads.by_name.keys().map(String::as_str));
        let hint = hint.unwrap_or_else(|| format!("the threads are {}", listed(&names)));
        let error = Diagnostic::error(name.span, format!("there is no thread `{}`", name.text));
        self.work.sink.missing(error.hint(hint))
    }

    /// The thread and all its places of this label.
    fn labelled(&mut self, thread: &'a ThreadRef<'a>, label: Ident<'a>) -> OrReported<(ThreadId, Vec<Loc>)> {
        let id = self.thread_named(thread.name, thread.index.as_deref())?;
        Ok((id, self.labelled_in(id, label)?))
    }

    /// All places of this label in a thread.
    pub(super) fn labelled_in(&mut self, id: ThreadId, label: Ident<'a>) -> OrReported<Vec<Loc>> {
        let labels = &self.threads.finished[id.index()].labels;
        if let Some(locs) = labels.get(label.text) {
            self.work.spend(10 * locs.len(), label.span)?;
            return Ok(locs.clone());
        }
        if !self.work.sink.wants_missing() {
            return Err(Reported);
        }
        let names = sorted(labels.keys().map(String::as_str));
        let hint =
            did_you_mean(label.text, names.iter().copied()).unwrap_or_else(|| match names.as_slice() {
                [] => "the thread has no labels; write `name: statement` to make one".to_string(),
                names => format!("its labels are {}", listed(names)),
            });
        let owner = &self.program.thread(id).name;
        let message = format!("the thread `{owner}` has no label `{}`", label.text);
        Err(self.work.sink.missing(Diagnostic::error(label.span, message).hint(hint)))
    }
}

pub(super) fn sorted<'n>(names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let mut names: Vec<&str> = names.collect();
    names.sort_unstable();
    names
}

pub(super) fn listed(names: &[&str]) -> String {
    const SHOWN: usize = 10;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|name| format!("`{name}`")).collect();
    let more = if names.len() > SHOWN { ", …" } else { "" };
    shown.join(", ") + more
}
