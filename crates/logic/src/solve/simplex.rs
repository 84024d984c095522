//! Exact simplex for bounds on linear expressions, with incremental retraction.
//!
//! Columns are variables and *slacks*, names for linear expressions. Each row
//! is an equation `d·b = Σ aⱼ·xⱼ` with integer coefficients that defines a basic
//! column by the others. Bounds sit on columns. The current values satisfy all
//! rows always, and all bounds of non-basic columns; `check` repairs the basic
//! ones by pivoting (least index first, which cannot cycle) or finds a row that
//! cannot be repaired: its bounds, weighted by its coefficients, are a Farkas
//! combination. Retracting bounds keeps the rows, since rows are only names.

use std::cmp::Ordering;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::rational::Rational;
use crate::int::Int;
use crate::terms::linear::{Linear, Var, merge_scaled};

type ColumnId = u32;

/// What the caller calls the fact behind a bound.
pub(crate) type BoundReason = u32;

/// A non-negative combination of facts that sums up to a contradiction.
pub(crate) type Farkas = Vec<(BoundReason, Int)>;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Lower,
    Upper,
}

#[derive(Clone)]
struct Bound {
    value: Int,
    reason: BoundReason,
}

/// `scale · basic = Σ terms`.
#[derive(Clone)]
struct TableauRow {
    basic: ColumnId,
    scale: Int,
    terms: Vec<(ColumnId, Int)>,
}

#[derive(Clone, Default)]
pub(crate) struct Simplex {
    columns: HashMap<Var, ColumnId, FxBuildHasher>,
    slacks: HashMap<Vec<(Var, Int)>, ColumnId, FxBuildHasher>,
    vars: Vec<Option<Var>>,
    values: Vec<Rational>,
    bounds: Vec<[Option<Bound>; 2]>,
    row_of: Vec<Option<u32>>,
    rows: Vec<TableauRow>,
    trail: Vec<(ColumnId, Side, Option<Bound>)>,
    unused: Vec<ColumnId>,
    scratch: Vec<(ColumnId, Int)>,
}

impl Simplex {
    /// Where the trail of bounds stands, for [`Simplex::retract`].
    pub(crate) fn mark(&self) -> usize {
        self.trail.len()
    }

    /// Undoes all bounds asserted since the mark.
    pub(crate) fn retract(&mut self, mark: usize) {
        while self.trail.len() > mark {
            if let Some((column, side, old)) = self.trail.pop() {
                self.bounds[column as usize][side as usize] = old;
            }
        }
    }

    /// Asserts `expr ≤ 0` for an expression with variables and coprime coefficients.
    pub(crate) fn assert_le(&mut self, expr: &Linear, reason: BoundReason) -> Result<(), Farkas> {
        let (column, flipped) = self.column_for(expr);
        if flipped {
            self.assert_bound(column, Side::Lower, expr.constant().clone(), reason)
        } else {
            self.assert_bound(column, Side::Upper, -expr.constant(), reason)
        }
    }

    /// The column of an expression without its constant, and whether it stands for the negation.
    fn column_for(&mut self, expr: &Linear) -> (ColumnId, bool) {
        let flipped = expr.terms()[0].1.signum() < 0;
        let Some(key) = slack_key(expr) else {
            return (self.column_of(expr.terms()[0].0), flipped);
        };
        if let Some(column) = self.slacks.get(&key) {
            return (*column, flipped);
        }
        let column = self.add_slack(&key);
        self.slacks.insert(key, column);
        (column, flipped)
    }

    fn column_of(&mut self, var: Var) -> ColumnId {
        if let Some(column) = self.columns.get(&var) {
            return *column;
        }
        let column = self.new_column(Some(var));
        self.columns.insert(var, column);
        column
    }

    fn new_column(&mut self, var: Option<Var>) -> ColumnId {
        if let Some(column) = self.unused.pop() {
            self.vars[column as usize] = var;
            return column;
        }
        self.vars.push(var);
        self.values.push(Rational::ZERO);
        self.bounds.push([None, None]);
        self.row_of.push(None);
        (self.vars.len() - 1) as ColumnId
    }

    fn add_slack(&mut self, terms: &[(Var, Int)]) -> ColumnId {
        let mut scale = Int::ONE;
        let mut sum: Vec<(ColumnId, Int)> = Vec::new();
        for (var, coefficient) in terms {
            let column = self.column_of(*var);
            let mut out = Vec::with_capacity(sum.len() + 4);
            match self.row_of[column as usize] {
                None => {
                    merge_scaled(&sum, &(coefficient * &scale), &[(column, Int::ONE)], &mut out);
                }
                Some(row) => {
                    let row = &self.rows[row as usize];
                    let common = scale.lcm(&row.scale);
                    scale_terms(&mut sum, &common.exact_div(&scale));
                    let factor = coefficient * &common.exact_div(&row.scale);
                    merge_scaled(&sum, &factor, &row.terms, &mut out);
                    scale = common;
                }
            }
            sum = out;
        }
        let slack = self.new_column(None);
        let mut row = TableauRow { basic: slack, scale, terms: sum };
        row.normalise();
        self.values[slack as usize] = self.value_of_row(&row);
        self.row_of[slack as usize] = Some(self.rows.len() as u32);
        self.rows.push(row);
        slack
    }

    /// Forgets the slack of an expression that carries no bounds any more.
    pub(crate) fn forget(&mut self, expr: &Linear) {
        let Some(key) = slack_key(expr) else { return };
        let Some(column) = self.slacks.get(&key).copied() else { return };
        if self.bounds[column as usize].iter().any(Option::is_some) {
            return;
        }
        self.slacks.remove(&key);
        if self.row_of[column as usize].is_none()
            && let Some(row) = (0..self.rows.len()).find(|row| self.rows[*row].find(column).is_some())
        {
            let leaving = self.rows[row].basic;
            self.pivot(row, column);
            self.clamp(leaving);
        }
        if let Some(row) = self.row_of[column as usize].take() {
            self.rows.swap_remove(row as usize);
            if let Some(moved) = self.rows.get(row as usize) {
                self.row_of[moved.basic as usize] = Some(row);
            }
        }
        self.values[column as usize] = Rational::ZERO;
        self.unused.push(column);
    }

    /// Moves a column that ceased to be basic back between its bounds.
    fn clamp(&mut self, column: ColumnId) {
        let [lower, upper] = &self.bounds[column as usize];
        let value = &self.values[column as usize];
        let beyond = |bound: &&Bound, order| value.cmp_int(&bound.value) == order;
        let violated = lower.as_ref().filter(|bound| beyond(bound, Ordering::Less));
        let violated = violated.or(upper.as_ref().filter(|bound| beyond(bound, Ordering::Greater)));
        if let Some(bound) = violated {
            let delta = value.gap_to(&bound.value, &Int::ONE, &Int::ONE);
            self.shift(column, &delta);
        }
    }

    fn value_of_row(&self, row: &TableauRow) -> Rational {
        row.terms
            .iter()
            .fold(Rational::ZERO, |sum, (column, a)| sum.plus(a, &self.values[*column as usize], &row.scale))
    }

    fn assert_bound(
        &mut self,
        column: ColumnId,
        side: Side,
        value: Int,
        reason: BoundReason,
    ) -> Result<(), Farkas> {
        let at = column as usize;
        let [lower, upper] = &self.bounds[at];
        let (own, other) = if side == Side::Lower { (lower, upper) } else { (upper, lower) };
        let tighter = |than: &Int| {
            if side == Side::Lower { value > *than } else { value < *than }
        };
        if own.as_ref().is_some_and(|bound| !tighter(&bound.value)) {
            return Ok(());
        }
        if let Some(bound) = other
            && tighter(&bound.value)
        {
            return Err(vec![(reason, Int::ONE), (bound.reason, Int::ONE)]);
        }
        let violated = match self.values[at].cmp_int(&value) {
            Ordering::Less => side == Side::Lower,
            Ordering::Greater => side == Side::Upper,
            Ordering::Equal => false,
        };
        if violated && self.row_of[at].is_none() {
            let delta = self.values[at].gap_to(&value, &Int::ONE, &Int::ONE);
            self.shift(column, &delta);
        }
        let old = self.bounds[at][side as usize].replace(Bound { value, reason });
        self.trail.push((column, side, old));
        Ok(())
    }

    /// Moves a non-basic column and all basic ones that depend on it.
    fn shift(&mut self, column: ColumnId, delta: &Rational) {
        let at = column as usize;
        self.values[at] = self.values[at].plus(&Int::ONE, delta, &Int::ONE);
        for row in &self.rows {
            if let Some(coefficient) = row.find(column) {
                let basic = row.basic as usize;
                self.values[basic] = self.values[basic].plus(coefficient, delta, &row.scale);
            }
        }
    }

    /// Finds values within all bounds, or a contradiction among them.
    pub(crate) fn check(&mut self) -> Result<(), Farkas> {
        while let Some((row, side)) = self.violated_row() {
            match self.entering(row, side) {
                Some(column) => self.repair(row, side, column),
                None => return Err(self.explain(row, side)),
            }
        }
        Ok(())
    }

    fn violated_row(&self) -> Option<(usize, Side)> {
        let mut best: Option<(usize, Side)> = None;
        for (at, row) in self.rows.iter().enumerate() {
            if best.is_some_and(|(found, _)| self.rows[found].basic < row.basic) {
                continue;
            }
            let basic = row.basic as usize;
            let [lower, upper] = &self.bounds[basic];
            let value = &self.values[basic];
            if lower.as_ref().is_some_and(|bound| value.cmp_int(&bound.value) == Ordering::Less) {
                best = Some((at, Side::Lower));
            } else if upper.as_ref().is_some_and(|bound| value.cmp_int(&bound.value) == Ordering::Greater) {
                best = Some((at, Side::Upper));
            }
        }
        best
    }

    /// The least non-basic column whose move would repair the row.
    fn entering(&self, row: usize, side: Side) -> Option<ColumnId> {
        let movable = |(column, coefficient): &&(ColumnId, Int)| {
            let at = *column as usize;
            let up = (coefficient.signum() > 0) == (side == Side::Lower);
            match (&self.bounds[at], up) {
                ([_, Some(upper)], true) => self.values[at].cmp_int(&upper.value) == Ordering::Less,
                ([Some(lower), _], false) => self.values[at].cmp_int(&lower.value) == Ordering::Greater,
                _ => true,
            }
        };
        self.rows[row].terms.iter().find(movable).map(|term| term.0)
    }

    fn repair(&mut self, row: usize, side: Side, column: ColumnId) {
        let basic = self.rows[row].basic as usize;
        let target = match &self.bounds[basic][side as usize] {
            Some(bound) => bound.value.clone(),
            None => return,
        };
        let Some(coefficient) = self.rows[row].find(column).cloned() else {
            return;
        };
        let delta = self.values[basic].gap_to(&target, &self.rows[row].scale, &coefficient);
        self.shift(column, &delta);
        self.pivot(row, column);
    }

    /// Makes `column` basic in `row` instead of the present one.
    fn pivot(&mut self, row: usize, column: ColumnId) {
        let Some(coefficient) = self.rows[row].find(column).cloned() else {
            return;
        };
        let leaving = self.rows[row].basic;
        self.rows[row].solve_for(column, &coefficient);
        self.row_of[leaving as usize] = None;
        self.row_of[column as usize] = Some(row as u32);
        let pivot = std::mem::replace(
            &mut self.rows[row],
            TableauRow { basic: column, scale: Int::ONE, terms: Vec::new() },
        );
        for other in &mut self.rows {
            other.substitute(&pivot, &mut self.scratch);
        }
        self.rows[row] = pivot;
    }

    fn explain(&self, row: usize, side: Side) -> Farkas {
        let row = &self.rows[row];
        let mut farkas = Vec::with_capacity(row.terms.len() + 1);
        let mut blame = |column: ColumnId, side: Side, factor: Int| {
            if let Some(bound) = &self.bounds[column as usize][side as usize] {
                farkas.push((bound.reason, factor));
            }
        };
        blame(row.basic, side, row.scale.clone());
        for (column, coefficient) in &row.terms {
            let up = (coefficient.signum() > 0) == (side == Side::Lower);
            blame(*column, if up { Side::Upper } else { Side::Lower }, coefficient.abs());
        }
        farkas
    }

    /// The variable of least index whose value is no integer.
    pub(crate) fn fractional(&self) -> Option<(Var, &Rational)> {
        let vars = self.vars.iter().zip(&self.values);
        vars.filter_map(|(var, value)| Some(((*var)?, value))).find(|(_, value)| !value.is_int())
    }

    /// The values of all variables, rounded where they are no integers.
    pub(crate) fn rounded(&self) -> impl Iterator<Item = (Var, Int)> + '_ {
        self.columns.iter().map(|(var, column)| (*var, self.values[*column as usize].round()))
    }
}

/// The terms by which the slack of an expression is known, the first counted positively; none for a variable, which
/// has a column of its own.
fn slack_key(expr: &Linear) -> Option<Vec<(Var, Int)>> {
    match expr.terms() {
        [(_, factor)] if factor.is_unit() => None,
        terms if terms[0].1.signum() < 0 => Some(terms.iter().map(|(var, a)| (*var, -a)).collect()),
        terms => Some(terms.to_vec()),
    }
}

fn scale_terms(terms: &mut [(ColumnId, Int)], factor: &Int) {
    if !factor.is_one() {
        terms.iter_mut().for_each(|term| term.1 = &term.1 * factor);
    }
}

impl TableauRow {
    #[inline]
    fn find(&self, column: ColumnId) -> Option<&Int> {
        let at = self.terms.binary_search_by_key(&column, |term| term.0).ok()?;
        Some(&self.terms[at].1)
    }

    /// Divides scale and coefficients by their common divisor.
    fn normalise(&mut self) {
        let mut gcd = self.scale.clone();
        for (_, coefficient) in &self.terms {
            if gcd.is_one() {
                return;
            }
            gcd = gcd.gcd(coefficient);
        }
        if !gcd.is_one() {
            self.scale = self.scale.exact_div(&gcd);
            self.terms.iter_mut().for_each(|term| term.1 = term.1.exact_div(&gcd));
        }
    }

    /// Turns `scale·basic = coefficient·column + rest` into a definition of the column.
    fn solve_for(&mut self, column: ColumnId, coefficient: &Int) {
        let negative = coefficient.signum() < 0;
        let old = std::mem::replace(&mut self.scale, coefficient.abs());
        self.terms.retain(|term| term.0 != column);
        if !negative {
            self.terms.iter_mut().for_each(|term| term.1 = -&term.1);
        }
        let entry = (self.basic, if negative { -old } else { old });
        let at = self.terms.partition_point(|term| term.0 < entry.0);
        self.terms.insert(at, entry);
        self.basic = column;
        self.normalise();
    }

    /// Replaces the basic column of another row by its definition.
    fn substitute(&mut self, definition: &TableauRow, scratch: &mut Vec<(ColumnId, Int)>) {
        let Ok(at) = self.terms.binary_search_by_key(&definition.basic, |term| term.0) else {
            return;
        };
        let factor = self.terms.remove(at).1;
        scale_terms(&mut self.terms, &definition.scale);
        self.scale = &self.scale * &definition.scale;
        scratch.clear();
        merge_scaled(&self.terms, &factor, &definition.terms, scratch);
        std::mem::swap(&mut self.terms, scratch);
        self.normalise();
    }
}
