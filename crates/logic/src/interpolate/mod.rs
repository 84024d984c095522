//! Sequence interpolants: why a path is infeasible, step by step.
//!
//! For formulas `F₁ … Fₙ` without common solution, interpolants `I₀ … Iₙ` satisfy:
//! `I₀` is true, `Iₙ` is false, `Iₖ ∧ Fₖ₊₁` entails `Iₖ₊₁`, and `Iₖ` speaks only of
//! variables that occur both before and after the cut. They are read off a proof
//! ([`proof`]) or computed by projection ([`projected`]), and in either case
//! checked before they are handed out.

pub(crate) mod merge;
mod projected;
mod proof;
mod spread;

use std::fmt;

use hashbrown::HashMap;

use crate::core::minimal_core;
use crate::formulas::cases::CaseTree;
use crate::formulas::{FormulaOutcome, decide_within, entails_formula};
use crate::int::Int;
use crate::solve::{Decided, Model, decide};
use crate::terms::atom::{Atom, Relation};
use crate::terms::formula::Formula;
use proof::{Ranges, Sequence};

/// Lemmas after which the case analysis of a proof is given up in favour of projection.
const MAX_LEMMAS: usize = 300;

/// Which of the many interpolants to compute.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Hash, PartialOrd, Ord)]
pub enum Style {
    /// From the proof: what the steps so far contribute to the contradiction.
    Forward,
    /// From the proof: what just contradicts the contribution of the steps to come.
    Backward,
    /// From the proof of a minimal contradictory part of the steps.
    Minimal,
    /// All that the steps so far say, by projection.
    Strongest,
    /// The negation of all that the steps to come say, by projection.
    Weakest,
}

impl Style {
    /// All styles.
    pub const ALL: [Style; 5] =
        [Style::Forward, Style::Backward, Style::Minimal, Style::Strongest, Style::Weakest];
}

/// Why there are no interpolants.
#[derive(Clone, Debug)]
pub enum NoInterpolants {
    /// The formulas have a common solution.
    Satisfiable(Box<Model>),
    /// Their computation exceeded its limits.
    TooHard,
    /// What was computed is wrong at this cut: a bug of ours, caught by the check.
    Rejected(usize),
}

impl fmt::Display for NoInterpolants {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NoInterpolants::Satisfiable(_) => f.write_str("the formulas have a common solution"),
            NoInterpolants::TooHard => f.write_str("the interpolants exceed the limits"),
            NoInterpolants::Rejected(cut) => write!(f, "the interpolants computed are wrong at cut {cut}"),
        }
    }
}

impl std::error::Error for NoInterpolants {}

/// The cheaper of forward and backward interpolants, one for each cut `0..=steps.len()`,
/// or those of a minimal part if the proof cannot be taken apart.
///
/// Interpolants of few atoms, over few variables, of difference shape and with
/// small constants are cheap.
///
/// ```
/// use logic::{interpolate, Atom, Formula, Linear, Terms};
/// let mut terms = Terms::new();
/// let (x0, x1, x2) = (terms.var("x0"), terms.var("x1"), terms.var("x2"));
/// let path: Vec<Formula> = vec![
///     Atom::ge(x0, 0).into(),
///     Atom::eq(x1, Linear::from(x0) + 1).into(),
///     Atom::eq(x2, Linear::from(x1) + 1).into(),
///     Atom::lt(x2, 0).into(),
/// ];
/// let interpolants = interpolate(&path).map_err(|failure| failure.to_string())?;
/// assert!(interpolants[0].is_true() && interpolants[4].is_false());
/// assert_eq!(terms.show(&interpolants[1]).to_string(), "x0 >= 0");
/// assert_eq!(terms.show(&interpolants[2]).to_string(), "x1 >= 1");
/// # Ok::<(), String>(())
/// ```
pub fn interpolate(steps: &[Formula]) -> Result<Vec<Formula>, NoInterpolants> {
    let proof = match InfeasibilityProof::find(steps) {
        Err(NoInterpolants::TooHard) => return interpolate_as(steps, Style::Strongest),
        proof => proof?,
    };
    let both = [false, true].into_iter().filter_map(|weak| proof.interpolants(steps, weak));
    let mut found: Vec<Vec<Formula>> = both.collect();
    found.dedup();
    found.sort_by_key(|interpolants| cost(interpolants));
    let good = found.into_iter().find(|interpolants| check_interpolants(steps, interpolants).is_ok());
    match good {
        Some(interpolants) => Ok(interpolants),
        None => interpolate_as(steps, Style::Minimal),
    }
}

/// Interpolants of a certain style.
///
/// Where a proof cannot be taken apart step by step because it relates variables of
/// distant steps, projection of a minimal contradictory part takes its place.
pub fn interpolate_as(steps: &[Formula], style: Style) -> Result<Vec<Formula>, NoInterpolants> {
    let interpolants = match style {
        Style::Forward | Style::Backward => {
            let weak = style == Style::Backward;
            match InfeasibilityProof::find(steps)?.interpolants(steps, weak) {
                Some(interpolants) => interpolants,
                None => from_minimal(steps, weak)?,
            }
        }
        Style::Minimal => from_minimal(steps, false)?,
        Style::Strongest => by_projection(steps, false)?,
        Style::Weakest => by_projection(steps, true)?,
    };
    check_interpolants(steps, &interpolants).map_err(NoInterpolants::Rejected)?;
    Ok(interpolants)
}

/// The strongest or weakest interpolants; if there are none, the reason.
fn by_projection(steps: &[Formula], weak: bool) -> Result<Vec<Formula>, NoInterpolants> {
    if let Ok(interpolants) = projected::interpolants(steps, weak)
        && interpolants[0].is_true()
        && interpolants[steps.len()].is_false()
    {
        return Ok(interpolants);
    }
    match decide_within(steps, MAX_LEMMAS) {
        Some(FormulaOutcome::Sat(model)) => Err(NoInterpolants::Satisfiable(Box::new(model))),
        _ => Err(NoInterpolants::TooHard),
    }
}

/// Interpolants of a minimal contradictory part, from its proof or else by projection.
fn from_minimal(steps: &[Formula], weak: bool) -> Result<Vec<Formula>, NoInterpolants> {
    let few = minimal_steps(steps);
    match InfeasibilityProof::find(&few)?.interpolants(&few, weak) {
        Some(interpolants) => Ok(interpolants),
        None => projected::interpolants(&few, weak),
    }
}

/// Checks interpolants by themselves; the error is the first cut that is wrong.
pub fn check_interpolants(steps: &[Formula], interpolants: &[Formula]) -> Result<(), usize> {
    if interpolants.len() != steps.len() + 1 || !interpolants[0].is_true() {
        return Err(0);
    }
    if !interpolants[steps.len()].is_false() {
        return Err(steps.len());
    }
    let ranges = ranges(steps);
    for (cut, interpolant) in interpolants.iter().enumerate() {
        let shared = |var| ranges.get(&var).is_some_and(|(first, last)| *first < cut && cut <= *last);
        if !interpolant.vars().into_iter().all(shared) {
            return Err(cut);
        }
    }
    for (at, step) in steps.iter().enumerate() {
        let (before, after) = (&interpolants[at], &interpolants[at + 1]);
        if before != after && !entails_formula(&[before.clone(), step.clone()], after) {
            return Err(at + 1);
        }
    }
    Ok(())
}

fn ranges(steps: &[Formula]) -> Ranges {
    let mut ranges: Ranges = HashMap::default();
    for (number, step) in steps.iter().enumerate() {
        step.visit_atoms(&mut |atom| {
            atom.vars().for_each(|var| ranges.entry(var).or_insert((number, number)).1 = number);
        });
    }
    ranges
}

/// A proof that steps have no common solution.
enum InfeasibilityProof {
    /// All steps are conjunctions; the atoms with their steps.
    Conjunction(Vec<(Atom, usize)>, crate::certificate::UnsatProof),
    Cases(CaseTree, Vec<crate::formulas::Lemma>),
}

impl InfeasibilityProof {
    fn find(steps: &[Formula]) -> Result<InfeasibilityProof, NoInterpolants> {
        let atoms: Option<Vec<Vec<Atom>>> = steps.iter().map(Formula::as_conjunction).collect();
        if let Some(atoms) = atoms {
            let placed: Vec<(Atom, usize)> = atoms
                .into_iter()
                .enumerate()
                .flat_map(|(step, atoms)| atoms.into_iter().map(move |atom| (atom, step)))
                .collect();
            let plain: Vec<Atom> = placed.iter().map(|(atom, _)| atom.clone()).collect();
            return match decide(&plain) {
                Decided::Unsat(certificate) => Ok(InfeasibilityProof::Conjunction(placed, certificate)),
                Decided::Sat(model) => Err(NoInterpolants::Satisfiable(Box::new(model))),
            };
        }
        match decide_within(steps, MAX_LEMMAS).ok_or(NoInterpolants::TooHard)? {
            FormulaOutcome::Sat(model) => Err(NoInterpolants::Satisfiable(Box::new(model))),
            FormulaOutcome::Unsat(proof) => {
                let tree = CaseTree::build(steps, &proof.lemmas).ok_or(NoInterpolants::TooHard)?;
                Ok(InfeasibilityProof::Cases(tree, proof.lemmas))
            }
        }
    }

    /// The interpolants of the proof, unless it relates variables of distant steps.
    fn interpolants(&self, steps: &[Formula], weak: bool) -> Option<Vec<Formula>> {
        let sequence = Sequence { steps: steps.len(), ranges: ranges(steps), weak };
        match self {
            InfeasibilityProof::Conjunction(placed, certificate) => {
                sequence.by_certificate(placed, certificate).ok()
            }
            InfeasibilityProof::Cases(tree, lemmas) => sequence.by_cases(tree, lemmas).ok(),
        }
    }
}

/// The steps with as many conjuncts left out as possible.
fn minimal_steps(steps: &[Formula]) -> Vec<Formula> {
    let conjuncts = |(number, step): (usize, &Formula)| {
        step.conjuncts().iter().map(|part| (number, part.clone())).collect::<Vec<_>>()
    };
    let parts: Vec<(usize, Formula)> = steps.iter().enumerate().flat_map(conjuncts).collect();
    let atoms: Option<Vec<Atom>> = parts.iter().map(|(_, part)| part.as_atom()).collect();
    let kept: Vec<usize> = match atoms {
        Some(atoms) => minimal_core(&atoms).unwrap_or_else(|| (0..atoms.len()).collect()),
        None => minimal_parts(&parts),
    };
    let chosen = |number: usize| kept.iter().map(|at| &parts[*at]).filter(move |part| part.0 == number);
    (0..steps.len()).map(|number| Formula::and(chosen(number).map(|part| part.1.clone()))).collect()
}

/// Leaves out parts one by one as long as the rest has no solution.
fn minimal_parts(parts: &[(usize, Formula)]) -> Vec<usize> {
    let mut kept: Vec<usize> = (0..parts.len()).collect();
    let mut at = 0;
    while at < kept.len() {
        let without: Vec<usize> = kept.iter().copied().filter(|part| *part != kept[at]).collect();
        let formulas: Vec<Formula> = without.iter().map(|part| parts[*part].1.clone()).collect();
        match decide_within(&formulas, MAX_LEMMAS) {
            Some(FormulaOutcome::Unsat(_)) => kept = without,
            _ => at += 1,
        }
    }
    kept
}

/// A price for interpolants, by which alternatives are compared: every distinct one
/// pays for each atom, more if it is no difference constraint, has many variables,
/// is a divisibility or has a large constant.
fn cost(interpolants: &[Formula]) -> u64 {
    let mut total = 0;
    let mut last: Option<&Formula> = None;
    for interpolant in interpolants {
        if last != Some(interpolant) {
            interpolant.visit_atoms(&mut |atom| total += atom_cost(atom));
        }
        last = Some(interpolant);
    }
    total
}

fn atom_cost(atom: &Atom) -> u64 {
    let shape = match (atom.difference(), atom.relation()) {
        (Some(_), _) => 0,
        (None, Relation::Divides(_) | Relation::NotDivides(_)) => 30,
        (None, _) => 20,
    };
    10 + shape + 4 * atom.expr().terms().len() as u64 + digits(atom.expr().constant())
}

fn digits(number: &Int) -> u64 {
    number.abs().to_string().len() as u64
}
