//! `cas`, `cmpxchg`, `swap`, `fetch_add` and its like, and `arw`: whole atomic sections in one step. A `cas` that fails
//! is one, too. Inside `atomic { … }` they are plain loads and stores, because everything
//! there is atomic already.

use super::layout::{FwCell, StoredCells};
use super::thread::FwLowering;
use crate::fw::ast::{Atomic, AtomicKind, FwExpr, Target};
use crate::fw::sink::OrReported;
use program::{Arith, Cond, Expr, Loc, Op, RegId, Relation};

/// Where a compare-and-swap goes and what it leaves behind, by its outcome.
struct SwapTargets {
    stored: Option<Loc>,
    kept: Option<Loc>,
    /// Gets 1 or 0.
    result: Option<RegId>,
}

/// Where the value before an update goes.
struct Old {
    /// It is read into this.
    register: RegId,
    /// And copied to this afterwards.
    copy_to: Option<RegId>,
}

fn equal(register: RegId, value: &Expr<RegId>) -> Cond<RegId> {
    Cond::compare(Relation::Eq, register, value.clone())
}

impl<'a> FwLowering<'a, '_> {
    /// Waits until the variable has the old value and then stores the new one, at once.
    pub fn arw(&mut self, (target, old, new): &'a (Target<'a>, FwExpr<'a>, FwExpr<'a>)) -> OrReported<()> {
        let cells = self.cells(target)?;
        let (old, new) = (self.value(old)?, self.value(new)?);
        let read = self.temporary()?;
        if self.section.is_some() {
            self.load(read, &cells)?;
            self.step(Op::Assume(equal(read, &old)));
            return self.store(&cells, &new);
        }
        self.step_on(&cells, &[&old, &new], &|x: FwCell| {
            Op::locked(vec![x.load(read), Op::Assume(equal(read, &old)), x.store(new.clone())])
        })
    }

    /// An atomic expression; its value goes into a register or is not wanted.
    pub fn atomic(&mut self, atomic: &'a Atomic<'a>, result: Option<RegId>) -> OrReported<()> {
        let cells = self.cells(&atomic.target)?;
        match &atomic.kind {
            AtomicKind::Cas(old, new) => {
                let (old, new, read) = (self.value(old)?, self.value(new)?, self.temporary()?);
                self.cas_anyway(&cells, read, &old, &new, result)
            }
            AtomicKind::CasOld(old, new) => {
                let (old, new) = (self.value(old)?, self.value(new)?);
                let result = result.map_or_else(|| self.temporary(), Ok)?;
                let both = Expr::binary(Arith::Add, old.clone(), new.clone());
                let read = self.old_value(result, &both, &cells)?;
                self.cas_anyway(&cells, read.register, &old, &new, None)?;
                read.copy_to.into_iter().for_each(|to| self.step(Op::Assign(to, Expr::Leaf(read.register))));
                Ok(())
            }
            AtomicKind::Swap(value) => {
                let value = self.value(value)?;
                let old = result.map(|result| self.old_value(result, &value, &cells)).transpose()?;
                self.update(&cells, old, &value)
            }
            AtomicKind::Fetch(op, expr) => {
                let added = self.value(expr)?;
                let result = result.map_or_else(|| self.temporary(), Ok)?;
                let old = self.old_value(result, &added, &cells)?;
                let read = Expr::Leaf(old.register);
                let sum = self.combine(*op, (read, expr.span), (added, expr.span))?;
                self.update(&cells, Some(old), &sum)
            }
        }
    }

    /// An atomic expression as a condition.
    pub fn atomic_branch(
        &mut self,
        atomic: &'a Atomic<'a>,
        yes: Option<Loc>,
        no: Option<Loc>,
    ) -> OrReported<()> {
        self.with_temporaries(|l| {
            if let AtomicKind::Cas(old, new) = &atomic.kind {
                let cells = l.cells(&atomic.target)?;
                let (old, new, read) = (l.value(old)?, l.value(new)?, l.temporary()?);
                let outcomes = SwapTargets { stored: yes, kept: no, result: None };
                return l.cas(&cells, read, (&old, &new), &outcomes);
            }
            let result = l.temporary()?;
            l.atomic(atomic, Some(result))?;
            l.fork(Cond::compare(Relation::Ne, result, 0), yes, no);
            Ok(())
        })
    }

    /// A compare-and-swap that goes on at one place, whether it stored or not.
    fn cas_anyway(
        &mut self,
        cells: &StoredCells<'a>,
        read: RegId,
        old: &Expr<RegId>,
        new: &Expr<RegId>,
        result: Option<RegId>,
    ) -> OrReported<()> {
        let next = self.location();
        let outcomes = SwapTargets { stored: Some(next), kept: Some(next), result };
        self.cas(cells, read, (old, new), &outcomes)?;
        self.at = next;
        Ok(())
    }

    /// A compare-and-swap; what was there before is read into `read`.
    fn cas(
        &mut self,
        cells: &StoredCells<'a>,
        read: RegId,
        (old, new): (&Expr<RegId>, &Expr<RegId>),
        outcomes: &SwapTargets,
    ) -> OrReported<()> {
        if self.section.is_some() {
            return self.plain_cas(cells, read, old, new, outcomes);
        }
        self.access(cells, &[old, new], &|x| {
            let succeed = vec![x.load(read), Op::Assume(equal(read, old)), x.store(new.clone())];
            let fail = vec![x.load(read), Op::Assume(equal(read, old).negate())];
            let edge = |mut parts: Vec<Op>, to: Option<Loc>, value| {
                parts.extend(outcomes.result.map(|result| Op::Assign(result, Expr::from(value))));
                to.map(|to| (Op::locked(parts), to))
            };
            edge(succeed, outcomes.stored, 1).into_iter().chain(edge(fail, outcomes.kept, 0)).collect()
        })
    }

    /// A compare-and-swap in a section that is atomic already.
    fn plain_cas(
        &mut self,
        cells: &StoredCells<'a>,
        read: RegId,
        old: &Expr<RegId>,
        new: &Expr<RegId>,
        outcomes: &SwapTargets,
    ) -> OrReported<()> {
        self.load(read, cells)?;
        let (yes, no) = (self.location(), self.location());
        self.fork(equal(read, old), outcomes.stored.map(|_| yes), outcomes.kept.map(|_| no));
        self.at = yes;
        self.store(cells, new)?;
        for (from, to, value) in [(self.at, outcomes.stored, 1), (no, outcomes.kept, 0)] {
            let Some(to) = to else { continue };
            self.at = from;
            match outcomes.result {
                Some(result) => self.edge(Op::Assign(result, Expr::from(value)), to),
                None => self.join(to),
            }
        }
        Ok(())
    }

    /// Where the old value goes, when the operation also uses `used`: straight into the result,
    /// unless something still needs what is there. In a section, the store picks its cell anew.
    fn old_value(&mut self, result: RegId, used: &Expr<RegId>, cells: &StoredCells<'a>) -> OrReported<Old> {
        let mentions = |value: &Expr<RegId>| value.any_leaf(|register| *register == result);
        let chooses = self.section.is_some() && cells.indices.iter().any(|index| mentions(&index.value));
        if !mentions(used) && !chooses {
            return Ok(Old { register: result, copy_to: None });
        }
        Ok(Old { register: self.temporary()?, copy_to: Some(result) })
    }

    /// Reads the old value, if wanted, and stores the new one, at once.
    fn update(&mut self, cells: &StoredCells<'a>, old: Option<Old>, new: &Expr<RegId>) -> OrReported<()> {
        let copy = old
            .as_ref()
            .and_then(|old| old.copy_to.map(|result| Op::Assign(result, Expr::Leaf(old.register))));
        if self.section.is_some() {
            if let Some(old) = &old {
                self.load(old.register, cells)?;
            }
            self.store(cells, new)?;
            copy.into_iter().for_each(|copy| self.step(copy));
            return Ok(());
        }
        self.step_on(cells, &[new], &|x: FwCell| {
            let load = old.as_ref().map(|old| x.load(old.register));
            let parts = load.into_iter().chain([x.store(new.clone())]).chain(copy.clone());
            Op::locked(parts.collect())
        })
    }
}
