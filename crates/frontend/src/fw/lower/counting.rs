//! Words for claims about several threads: `ended(P)`, `count(P@cs, Q@cs)` and `empty(P)`.
//!
//! A place is 1 while its thread stands there and 0 otherwise, so that both are sums of places: a thread has
//! ended at each location that nothing leaves, and of a family all members are counted.

use super::properties::Claims;
use crate::Diagnostic;
use crate::fw::ast::{Accessor, ExprKind, FwExpr, Ident};
use crate::fw::limits;
use crate::fw::sink::{OrReported, Reported};
use program::{Arith, Cond, Expr, Loc, Place, Span, ThreadId};

/// Locations of threads.
type CountedPlaces = Vec<(ThreadId, Loc)>;

impl<'a> Claims<'a, '_> {
    /// What a call in a claim stands for: how many of these places threads stand at.
    pub(super) fn counted_places(&mut self, expr: &'a FwExpr<'a>) -> OrReported<CountedPlaces> {
        let ExprKind::Call(name, arguments) = &expr.kind else { return Err(self.not_a_place(expr.span)) };
        match (name.text, arguments.as_slice()) {
            ("ended", [thread]) => self.ends(thread),
            ("count", [_, ..]) => {
                let counted: Vec<_> = arguments.iter().map(|place| self.place(place)).collect();
                Ok(counted.into_iter().collect::<OrReported<Vec<CountedPlaces>>>()?.concat())
            }
            ("ended" | "count", _) => {
                let hint = "write `ended(P)` for one thread, `count(P@cs, Q@cs)` for one place or more";
                Err(self.error(expr.span, format!("`{}` needs something to look at", name.text), hint))
            }
            _ => {
                let message = "a property only looks; it cannot call functions or change memory";
                Err(self.error(expr.span, message, "write the condition out"))
            }
        }
    }

    /// The number of places that threads stand at.
    pub(super) fn count(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Expr<Place>> {
        let places = self.counted_places(expr)?;
        self.work.spend(10 * places.len(), expr.span)?;
        let places = places.into_iter().map(|(thread, loc)| Expr::Leaf(Place::At(thread, loc)));
        self.sum(places.collect(), expr.span)
    }

    /// Adds places up.
    pub(super) fn sum(&mut self, places: Vec<Expr<Place>>, span: Span) -> OrReported<Expr<Place>> {
        if places.len() > usize::from(limits::HEIGHT) {
            let message = format!("this stands for {} places", places.len());
            return Err(self.error(span, message, "use it as a condition, or compare fewer copies"));
        }
        let sum = places.into_iter().reduce(|a, b| Expr::binary(Arith::Add, a, b));
        Ok(sum.unwrap_or_else(|| Expr::from(0)))
    }

    /// One of the places that are counted; of a family those of all members.
    fn place(&mut self, expr: &'a FwExpr<'a>) -> OrReported<CountedPlaces> {
        match &expr.kind {
            ExprKind::At(thread, label) => {
                let mut places = Vec::new();
                for member in self.members(thread.name, thread.index.as_deref())? {
                    let locs = self.labelled_in(member, *label)?;
                    places.extend(locs.into_iter().map(|loc| (member, loc)));
                }
                Ok(places)
            }
            ExprKind::Call(..) => self.counted_places(expr),
            _ => Err(self.not_a_place(expr.span)),
        }
    }

    /// Where a thread, or each member of a family, has ended.
    fn ends(&mut self, thread: &'a FwExpr<'a>) -> OrReported<CountedPlaces> {
        let (name, index) = self.thread_name(thread)?;
        let mut places = Vec::new();
        for member in self.members(name, index)? {
            let automaton = self.program.thread(member);
            let ending = &self.threads.finished[member.index()].ending;
            places.extend(ending.iter().map(|loc| (member, *loc)));
            if ending.is_empty() {
                let message = format!("`{}` has no end, so it never ends", automaton.name);
                let hint = "a thread ends behind its last statement; a `loop` without `break` has none";
                self.work.sink.warning(Diagnostic::warning(thread.span, message).hint(hint));
            }
        }
        Ok(places)
    }

    /// The name of a thread, or of a family, and which member is meant.
    fn thread_name(&mut self, thread: &'a FwExpr<'a>) -> OrReported<(Ident<'a>, Option<&'a FwExpr<'a>>)> {
        match &thread.kind {
            ExprKind::Name(text) => Ok((Ident { text, span: thread.span }, None)),
            ExprKind::Cell(target) if matches!(target.path.as_slice(), [Accessor::Index(_)]) => {
                Ok((target.name, target.path.first().and_then(Accessor::index)))
            }
            _ => Err(self.error(thread.span, "this is no thread", "name one, like `P0` or `P[i]`")),
        }
    }

    /// That nothing of a thread, or of any member of a family, is on its way to memory.
    pub(super) fn empty(&mut self, threads: &'a [FwExpr<'a>], span: Span) -> OrReported<Cond<Place>> {
        if threads.is_empty() {
            let hint = "write `empty(P)`: nothing of `P` is on its way to memory";
            return Err(self.error(span, "`empty` needs something to look at", hint));
        }
        let mut members = Vec::new();
        for thread in threads {
            let (name, index) = self.thread_name(thread)?;
            members.extend(self.members(name, index)?);
        }
        Ok(Cond::and(members.into_iter().map(Cond::drained)))
    }

    /// The thread, or all members of the family.
    fn members(&mut self, name: Ident<'a>, index: Option<&'a FwExpr<'a>>) -> OrReported<Vec<ThreadId>> {
        let family = self.threads.families.get(name.text).filter(|family| family.low.is_some());
        match (family, index) {
            (Some(family), None) if !self.threads.by_name.contains_key(name.text) => {
                let first = family.first.index();
                Ok((first..first + family.count).map(ThreadId::new).collect())
            }
            _ => Ok(vec![self.thread_named(name, index)?]),
        }
    }

    fn not_a_place(&mut self, span: Span) -> Reported {
        let hint = "count places, like `count(P@cs) <= 1` for all members of a family `P`, or `ended(P)`";
        self.error(span, "only places of threads can be counted", hint)
    }
}
