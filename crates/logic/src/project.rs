//! Projection: eliminating variables exactly over the integers.
//!
//! `∃x. C` for a conjunction `C` is a disjunction of conjunctions without `x`, in
//! which divisibility may appear:
//!
//! * an equation `a·x = r` replaces `a·x` everywhere and leaves `a | r`;
//! * a variable bounded on one side only takes its bounds and disequalities along;
//! * a disequality is two cases;
//! * divisibility of expressions in `x` is a case for each residue of `x`;
//! * between bounds, the dark shadow and the splinters of [`omega`](crate::solve::omega)
//!   are the cases, a single one if the elimination is exact.
//!
//! The number of cases can explode, hence the limit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use crate::context::Context;
use crate::int::Int;
use crate::solve::decide;
use crate::solve::omega::room;
use crate::terms::atom::{Atom, Relation};
use crate::terms::formula::Formula;
use crate::terms::linear::{Linear, Var};

/// A disjunction of conjunctions; without cases it is false.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Projection {
    /// The conjunctions, each with a solution.
    pub cases: Vec<Vec<Atom>>,
}

impl Projection {
    /// The projection as a formula.
    pub fn formula(&self) -> Formula {
        Formula::or(self.cases.iter().map(Formula::conjunction))
    }
}

/// The projection needs more cases than were allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyCases;

impl fmt::Display for TooManyCases {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the projection needs more cases than allowed")
    }
}

impl std::error::Error for TooManyCases {}

type CaseAtoms = Vec<Atom>;

/// Eliminates all variables that are not kept.
///
/// ```
/// use logic::{project, Atom, Linear, Terms};
/// let mut terms = Terms::new();
/// let (x, y) = (terms.var("x"), terms.var("y"));
/// let double = [Atom::eq(Linear::from(x) * 2, y), Atom::ge(x, 3)];
/// let even = project(&double, |var| var == y, 100)?;
/// assert_eq!(terms.show(&even.formula()).to_string(), "(y >= 6 & 2 | y)");
/// # Ok::<(), logic::TooManyCases>(())
/// ```
pub fn project(atoms: &[Atom], keep: impl Fn(Var) -> bool, limit: usize) -> Result<Projection, TooManyCases> {
    let mut open: Vec<CaseAtoms> = vec![atoms.to_vec()];
    let mut done: Vec<CaseAtoms> = Vec::new();
    let mut tried = 0;
    while let Some(case) = open.pop() {
        tried += 1;
        if tried > limit {
            return Err(TooManyCases);
        }
        let Some(case) = tidy(case) else { continue };
        match cheapest(&case, &keep) {
            Some(var) => eliminate(&case, var, limit, &mut open)?,
            None => done.extend(finish(case)),
        }
        if open.len() > limit {
            return Err(TooManyCases);
        }
    }
    done.sort();
    done.dedup();
    Ok(Projection { cases: done })
}

/// Drops trivial and weaker parallel atoms and joins opposite ones; `None` if contradictory.
fn tidy(case: CaseAtoms) -> Option<CaseAtoms> {
    let mut tightest: BTreeMap<Linear, Int> = BTreeMap::new();
    let mut kept: CaseAtoms = Vec::new();
    for atom in case {
        if atom.is_false() {
            return None;
        }
        if *atom.relation() != Relation::Le {
            kept.push(atom);
        } else if !atom.is_true() {
            let constant = atom.expr().constant().clone();
            let slot = tightest.entry(atom.expr().with_constant(0i64)).or_insert_with(|| constant.clone());
            *slot = (&*slot).max(&constant).clone();
        }
    }
    for (expr, constant) in &tightest {
        let sum = tightest.get(&-expr.clone()).map(|opposite| (opposite + constant).signum());
        match sum {
            Some(1) => return None,
            Some(0) => kept.push(Atom::new(Relation::Eq, expr.with_constant(constant.clone()))),
            _ => kept.push(Atom::new(Relation::Le, expr.with_constant(constant.clone()))),
        }
    }
    kept.sort();
    kept.dedup();
    Some(kept)
}

/// A finished case without atoms that follow from the others, if it has a solution.
fn finish(case: CaseAtoms) -> Option<CaseAtoms> {
    if !decide(&case).is_sat() {
        return None;
    }
    let mut needed: CaseAtoms = case;
    let mut at = 0;
    while at < needed.len() {
        let mut others = Context::new();
        needed.iter().enumerate().filter(|(n, _)| *n != at).for_each(|(_, atom)| others.assume(atom));
        match others.entails(&needed[at]) {
            true => drop(needed.remove(at)),
            false => at += 1,
        }
    }
    Some(needed)
}

/// The atoms of a case, sorted by how a variable occurs in them.
#[derive(Default)]
struct Occurrences {
    equations: CaseAtoms,
    lowers: Vec<(Int, Linear)>,
    uppers: Vec<(Int, Linear)>,
    disequalities: CaseAtoms,
    divisibilities: CaseAtoms,
    rest: CaseAtoms,
}

impl Occurrences {
    /// A lower bound `b ≤ β·x` is the pair `(β, b)`, an upper bound `α·x ≤ a` the pair `(α, a)`.
    fn new(case: &[Atom], var: Var) -> Occurrences {
        let mut found = Occurrences::default();
        for atom in case {
            let a = atom.expr().coefficient(var);
            let others = || atom.expr().substitute(var, &Linear::default());
            match (atom.relation(), a.signum()) {
                (_, 0) => found.rest.push(atom.clone()),
                (Relation::Eq, _) => found.equations.push(atom.clone()),
                (Relation::Ne, _) => found.disequalities.push(atom.clone()),
                (Relation::Le, 1) => found.uppers.push((a, -others())),
                (Relation::Le, _) => found.lowers.push((-a, others())),
                _ => found.divisibilities.push(atom.clone()),
            }
        }
        found
    }

    fn one_sided(&self) -> bool {
        self.lowers.is_empty() || self.uppers.is_empty()
    }

    /// The room each lower bound must leave for the shadow to be sure.
    fn rooms(&self) -> Vec<Int> {
        let steepest = self.uppers.iter().map(|upper| upper.0.clone()).max().unwrap_or(Int::ONE);
        self.lowers.iter().map(|(factor, _)| room(&steepest, factor)).collect()
    }

    /// A rough price of elimination: first the cases, then the number of atoms.
    fn price(&self, var: Var) -> (Int, usize) {
        let pairs = self.lowers.len() * self.uppers.len();
        if let Some(least) = self.equations.iter().map(|e| e.expr().coefficient(var).abs()).min() {
            return (if least.is_one() { Int::ZERO } else { Int::ONE }, 0);
        }
        let modulus = self.modulus();
        if self.one_sided() {
            return (modulus, 0);
        }
        let splinters: Int = self.rooms().into_iter().sum();
        let halves = (0..self.disequalities.len()).fold(Int::ONE, |n, _| n * Int::from(2));
        ((splinters + Int::ONE) * modulus * halves, pairs)
    }

    fn modulus(&self) -> Int {
        let divisors = self.divisibilities.iter().filter_map(|atom| match atom.relation() {
            Relation::Divides(d) | Relation::NotDivides(d) => Some(d),
            _ => None,
        });
        divisors.fold(Int::ONE, |lcm, d| lcm.lcm(d))
    }
}

fn cheapest(case: &[Atom], keep: &impl Fn(Var) -> bool) -> Option<Var> {
    let vars: BTreeSet<Var> = case.iter().flat_map(Atom::vars).filter(|var| !keep(*var)).collect();
    vars.into_iter().min_by_key(|var| Occurrences::new(case, *var).price(*var))
}

fn eliminate(case: &[Atom], var: Var, limit: usize, out: &mut Vec<CaseAtoms>) -> Result<(), TooManyCases> {
    let found = Occurrences::new(case, var);
    let least = found.equations.iter().min_by_key(|atom| atom.expr().coefficient(var).abs());
    if let Some(equation) = least {
        out.push(replace(case, var, equation));
        return Ok(());
    }
    if !found.divisibilities.is_empty() {
        return residues(case, var, &found.modulus(), limit, out);
    }
    if found.one_sided() {
        out.push(found.rest);
        return Ok(());
    }
    if let Some(disequality) = found.disequalities.first() {
        for expr in [disequality.expr().clone() + 1, -disequality.expr().clone() + 1] {
            let others = case.iter().filter(|atom| *atom != disequality).cloned();
            out.push(others.chain([Atom::new(Relation::Le, expr)]).collect());
        }
        return Ok(());
    }
    shadows(case, var, &found, limit, out)
}

/// Uses the equation `a·x + r = 0` to replace `a·x` by `−r` in atoms multiplied by `|a|`.
fn replace(case: &[Atom], var: Var, equation: &Atom) -> CaseAtoms {
    let a = equation.expr().coefficient(var);
    let size = a.abs();
    let mut result = vec![Atom::divides(size.clone(), equation.expr().substitute(var, &Linear::default()))];
    for atom in case.iter().filter(|atom| *atom != equation) {
        let k = atom.expr().coefficient(var);
        if k.is_zero() {
            result.push(atom.clone());
            continue;
        }
        // |a|·(k·x + s) − sign(a)·k·(a·x + r) no longer contains x.
        let factor = if a.signum() > 0 { -k } else { k };
        let expr = atom.expr().times(&size).plus(&factor, equation.expr());
        let relation = match atom.relation() {
            Relation::Divides(d) => Relation::Divides(d * &size),
            Relation::NotDivides(d) => Relation::NotDivides(d * &size),
            other => other.clone(),
        };
        result.push(Atom::new(relation, expr));
    }
    result
}

/// A number of cases, if it is within the limit.
fn within(limit: usize, cases: &Int) -> Result<usize, TooManyCases> {
    let count = cases.to_i64().and_then(|count| usize::try_from(count).ok());
    count.filter(|count| *count <= limit).ok_or(TooManyCases)
}

/// One case for each residue of the variable.
fn residues(
    case: &[Atom],
    var: Var,
    modulus: &Int,
    limit: usize,
    out: &mut Vec<CaseAtoms>,
) -> Result<(), TooManyCases> {
    for residue in 0..within(limit, modulus)? {
        let by = Linear::new([(var, modulus.clone())], Int::from(residue));
        let next: CaseAtoms = case.iter().map(|atom| atom.substitute(var, &by)).collect();
        if !next.iter().any(Atom::is_false) {
            out.push(next);
        }
    }
    Ok(())
}

fn shadows(
    case: &[Atom],
    var: Var,
    found: &Occurrences,
    limit: usize,
    out: &mut Vec<CaseAtoms>,
) -> Result<(), TooManyCases> {
    let rooms = found.rooms();
    let mut dark = found.rest.clone();
    for ((b, lower), room) in found.lowers.iter().zip(&rooms) {
        for (a, upper) in &found.uppers {
            // α·(b + s) ≤ β·a
            let left = (lower.clone() + room.clone()).times(a);
            dark.push(Atom::le(left, upper.times(b)));
        }
    }
    for ((b, lower), room) in found.lowers.iter().zip(&rooms) {
        for step in 0..within(limit, room)? {
            let splinter = Atom::eq(Linear::from(var).times(b), lower.clone() + Int::from(step));
            out.push(case.iter().cloned().chain([splinter]).collect());
        }
    }
    out.push(dark);
    Ok(())
}
