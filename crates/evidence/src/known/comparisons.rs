//! Linear constraints as facts that people read.
//!
//! Bounds of one value become a range, or a list if it is short. Other constraints are compared
//! term by term: what is counted positively stands left, the rest right. Of two that bound the
//! same sum from both sides an equation is made, and what follows from the others is left out.

use super::say::{SaidFact, SlotKind, VerbPhrase, listed};
use logic::{Atom, Context, Int, Linear, Relation, Show, Var};
use std::collections::BTreeMap;

/// So many values of a range are listed one by one.
const LISTED: i64 = 4;
/// Of more constraints than this only those that repeat others word by word are left out.
const THOUGHT_OVER: usize = 64;

/// What is known of one value.
#[derive(Clone, Debug, Default)]
struct Bounds {
    low: Option<Int>,
    high: Option<Int>,
    /// Values it does not have.
    not: Vec<Int>,
}

/// The facts that constraints amount to. `name` says how a variable is called, `order` in which
/// order they come.
pub fn facts<O: Ord>(
    atoms: &[Atom],
    name: &dyn Fn(Var) -> (SlotKind, String),
    order: &dyn Fn(Var) -> O,
) -> Vec<SaidFact> {
    let atoms = without_repetition(&equations(atoms));
    let mut bounds: BTreeMap<O, (Var, Bounds)> = BTreeMap::new();
    let mut others = Vec::new();
    for atom in &atoms {
        match atom.expr().terms() {
            [(var, factor)] if factor.is_unit() && !divides(atom) => {
                let negative = factor.signum() < 0;
                let constant = atom.expr().constant().clone();
                let value = if negative { constant } else { -constant };
                let entry = bounds.entry(order(*var)).or_insert_with(|| (*var, Bounds::default()));
                entry.1.add(atom.relation(), negative, value);
            }
            _ => others.push(comparison(atom, &|var| name(var).1)),
        }
    }
    let mut facts = Vec::new();
    for (var, bounds) in bounds.values() {
        let (kind, name) = name(*var);
        facts.extend(bounds.predicates().into_iter().map(|p| SaidFact::Of(kind, name.clone(), p)));
    }
    facts.extend(others.into_iter().map(SaidFact::That));
    facts
}

fn divides(atom: &Atom) -> bool {
    matches!(atom.relation(), Relation::Divides(_) | Relation::NotDivides(_))
}

impl Bounds {
    fn add(&mut self, relation: &Relation, negative: bool, value: Int) {
        match relation {
            Relation::Le if negative => self.raise(value),
            Relation::Le => self.lower(value),
            Relation::Eq => {
                self.raise(value.clone());
                self.lower(value);
            }
            _ => self.not.push(value),
        }
    }

    fn raise(&mut self, value: Int) {
        self.low = Some(self.low.take().map_or(value.clone(), |low| low.max(value)));
    }

    fn lower(&mut self, value: Int) {
        self.high = Some(self.high.take().map_or(value.clone(), |high| high.min(value)));
    }

    fn predicates(&self) -> Vec<VerbPhrase> {
        let range = match (&self.low, &self.high) {
            (Some(low), Some(high)) => match self.values(low, high) {
                Some(words) => return vec![VerbPhrase::is(listed(&words, "or"))],
                None => Some(VerbPhrase::between(low, high)),
            },
            (Some(low), None) => Some(VerbPhrase::at_least(low)),
            (None, Some(high)) => Some(VerbPhrase::at_most(high)),
            (None, None) => None,
        };
        let inside = |value: &&Int| {
            self.low.as_ref().is_none_or(|low| low <= *value)
                && self.high.as_ref().is_none_or(|high| *value <= high)
        };
        let not = self.not.iter().filter(inside).map(|value| VerbPhrase::is(format_args!("not {value}")));
        range.into_iter().chain(not).collect()
    }

    /// All values, if they are few.
    fn values(&self, low: &Int, high: &Int) -> Option<Vec<String>> {
        let width = (high - low).to_i64().filter(|width| (0..LISTED).contains(width))?;
        let all = (0..=width).map(|step| low + &Int::from(step));
        Some(all.filter(|value| !self.not.contains(value)).map(|value| value.to_string()).collect())
    }
}

/// Bounds of the same sum from both sides become equations, weaker bounds go.
fn equations(atoms: &[Atom]) -> Vec<Atom> {
    let mut kept: Vec<Atom> = Vec::new();
    for atom in atoms {
        let stronger = |other: &Atom| {
            let same = *other.relation() == Relation::Le && other.expr().terms() == atom.expr().terms();
            same && *atom.relation() == Relation::Le && other.expr().constant() > atom.expr().constant()
        };
        if atoms.iter().any(stronger) || kept.contains(atom) {
            continue;
        }
        let opposite = Atom::new(Relation::Le, -atom.expr().clone());
        let equal = *atom.relation() == Relation::Le && atoms.contains(&opposite);
        let atom = if equal { Atom::new(Relation::Eq, atom.expr().clone()) } else { atom.clone() };
        if !kept.contains(&atom) {
            kept.push(atom);
        }
    }
    kept
}

/// Leaves out what follows from the rest: first what relates most values, and of a value only a
/// bound that is not met by one from the other side.
fn without_repetition(atoms: &[Atom]) -> Vec<Atom> {
    let mut kept = atoms.to_vec();
    let mut context = Context::new();
    kept.iter().for_each(|atom| context.assume(atom));
    if kept.len() > THOUGHT_OVER || !context.is_consistent() {
        return kept;
    }
    let mut order: Vec<Atom> = kept.clone();
    order.sort_by_key(|atom| std::cmp::Reverse(atom.expr().terms().len()));
    for atom in order {
        let one_sided = *atom.relation() == Relation::Le && !is_bounded_too(&atom, &kept);
        if atom.expr().terms().len() == 1 && !one_sided && *atom.relation() != Relation::Ne {
            continue;
        }
        context.clear();
        kept.iter().filter(|other| **other != atom).for_each(|other| context.assume(other));
        if context.entails(&atom) {
            kept.retain(|other| *other != atom);
        }
    }
    kept
}

/// Whether a value has a bound from the other side.
fn is_bounded_too(atom: &Atom, atoms: &[Atom]) -> bool {
    let [(var, factor)] = atom.expr().terms() else { return false };
    atoms.iter().any(|other| match (other.relation(), other.expr().terms()) {
        (Relation::Le, [(v, f)]) => v == var && f.signum() != factor.signum(),
        _ => false,
    })
}

/// A constraint as a comparison, like `a < b + 2`.
fn comparison(atom: &Atom, name: &dyn Fn(Var) -> String) -> String {
    let expr = atom.expr();
    let sum = |expr: &Linear| Show::new(expr, name).to_string();
    let (sign, constant) = match atom.relation() {
        Relation::Le if expr.constant().is_one() => ("<", Int::from(0)),
        Relation::Le => ("<=", expr.constant().clone()),
        Relation::Eq => ("==", expr.constant().clone()),
        Relation::Ne => ("!=", expr.constant().clone()),
        Relation::Divides(by) => return format!("{by} divides {}", sum(expr)),
        Relation::NotDivides(by) => return format!("{by} does not divide {}", sum(expr)),
    };
    let part = |positive: bool| {
        let terms = expr.terms().iter().filter(|(_, factor)| (factor.signum() > 0) == positive);
        Linear::new(terms.map(|(var, factor)| (*var, factor.abs())), 0)
    };
    let (left, right) = (part(true), part(false));
    // With nothing on one side the constant stands there; else on the right, where it belongs.
    let (left, right) = match left.terms().is_empty() {
        true => (left.with_constant(constant), right),
        false => (left, right.with_constant(-constant)),
    };
    format!("{} {sign} {}", sum(&left), sum(&right))
}
