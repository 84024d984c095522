//! Deciding formulas: a SAT solver proposes, the integer procedure disposes.
//!
//! Atoms become propositions, formulas clauses. From each propositional model
//! only the literals that make the formulas true are handed to the decision
//! procedure for conjunctions. If they contradict each other, the negation of
//! a minimal contradictory part is a *lemma*, which the SAT solver learns; when
//! it has no model left, lemmas and formulas are propositionally
//! contradictory. The lemmas with their certificates are the evidence, and
//! [`check_formulas`] retraces it without the SAT solver.

pub(crate) mod cases;
mod encode;

use crate::certificate::{Flaw, UnsatProof};
use crate::check::check;
use crate::core::small_core;
use crate::solve::{Decided, Model, Outcome, decide};
use crate::terms::atom::Atom;
use crate::terms::formula::Formula;
use cases::{CaseTree, explain};
use encode::Propositions;

/// Contradictory atoms, and the proof that they are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lemma {
    /// Atoms that cannot hold together.
    pub atoms: Vec<Atom>,
    /// The proof, with the atoms as hypotheses.
    pub certificate: UnsatProof,
}

/// Lemmas that leave no propositional model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FormulaCertificate {
    /// The lemmas.
    pub lemmas: Vec<Lemma>,
}

/// The answer to a question about formulas.
pub type FormulaOutcome = Outcome<FormulaCertificate>;

/// Decides whether formulas have a common integer solution.
///
/// ```
/// use logic::{check_formulas, decide_formulas, Atom, Formula, FormulaOutcome, Terms};
/// let mut terms = Terms::new();
/// let x = terms.var("x");
/// let either = Formula::or([Atom::le(x, 0).into(), Atom::ge(x, 10).into()]);
/// let middle = Formula::and([Atom::ge(x, 3).into(), Atom::le(x, 7).into()]);
/// match decide_formulas(&[either.clone(), middle.clone()]) {
///     FormulaOutcome::Unsat(proof) => assert!(check_formulas(&[either, middle], &proof).is_ok()),
///     FormulaOutcome::Sat(_) => unreachable!(),
/// }
/// ```
pub fn decide_formulas(formulas: &[Formula]) -> FormulaOutcome {
    let mut search = CaseSearch::new(formulas);
    loop {
        if let Some(outcome) = search.step() {
            return outcome;
        }
    }
}

/// The same, giving up after a number of lemmas.
pub(crate) fn decide_within(formulas: &[Formula], lemmas: usize) -> Option<FormulaOutcome> {
    let mut search = CaseSearch::new(formulas);
    (0..=lemmas).find_map(|_| search.step())
}

struct CaseSearch<'a> {
    formulas: &'a [Formula],
    /// Conjuncts that are atoms; they hold in every case.
    facts: Vec<Atom>,
    propositions: Option<Propositions>,
    proof: FormulaCertificate,
}

impl CaseSearch<'_> {
    fn new(formulas: &[Formula]) -> CaseSearch<'_> {
        let facts = formulas.iter().flat_map(Formula::conjuncts).filter_map(Formula::as_atom).collect();
        CaseSearch { formulas, facts, propositions: None, proof: FormulaCertificate::default() }
    }

    /// Looks at one propositional model: an outcome, or one lemma more.
    fn step(&mut self) -> Option<FormulaOutcome> {
        let Some(propositions) = &mut self.propositions else {
            return self.first_step();
        };
        let Some(truth) = propositions.model() else {
            return Some(FormulaOutcome::Unsat(std::mem::take(&mut self.proof)));
        };
        let mut chosen = Vec::new();
        self.formulas.iter().for_each(|formula| explain(formula, true, &truth, &mut chosen));
        chosen.sort();
        chosen.dedup();
        // Cores are made by leaving out early atoms first, and facts come for free.
        chosen.sort_by_cached_key(|atom| self.facts.contains(atom));
        match decide(&chosen) {
            Decided::Sat(model) => Some(self.accept(model)),
            Decided::Unsat(_) => {
                let lemma = lemma(&chosen);
                propositions.exclude(&lemma.atoms);
                self.proof.lemmas.push(lemma);
                None
            }
        }
    }

    /// Often the facts alone are contradictory, or all there is.
    fn first_step(&mut self) -> Option<FormulaOutcome> {
        match decide(&self.facts) {
            Decided::Unsat(_) => {
                let lemmas = vec![lemma(&self.facts)];
                return Some(FormulaOutcome::Unsat(FormulaCertificate { lemmas }));
            }
            Decided::Sat(model) => {
                if self.formulas.iter().all(|formula| model.satisfies_formula(formula)) {
                    return Some(FormulaOutcome::Sat(model));
                }
            }
        }
        self.propositions = Some(Propositions::new(self.formulas));
        None
    }

    fn accept(&self, model: Model) -> FormulaOutcome {
        let fits = self.formulas.iter().all(|formula| model.satisfies_formula(formula));
        // A wrong answer would be worse than none.
        assert!(fits, "a model of our own violates a formula");
        FormulaOutcome::Sat(model)
    }
}

/// The lemma that excludes contradictory atoms.
fn lemma(atoms: &[Atom]) -> Lemma {
    // Minimising pays for itself in cases excluded, unless the core is long.
    let core: Vec<Atom> = match small_core(atoms, 16) {
        Some(core) => core.iter().map(|at| atoms[*at].clone()).collect(),
        None => atoms.to_vec(),
    };
    match decide(&core) {
        Decided::Unsat(certificate) => Lemma { atoms: core, certificate },
        Decided::Sat(_) => unreachable!("a core of contradictory atoms has no solution"),
    }
}

/// Why the evidence against formulas was rejected.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FormulaFlaw {
    /// The certificate of this lemma is wrong.
    Lemma(usize, Flaw),
    /// Formulas and lemmas have a propositional model, or too many cases to go through.
    NotClosed,
}

impl std::fmt::Display for FormulaFlaw {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FormulaFlaw::Lemma(number, flaw) => write!(f, "lemma {number}: {flaw}"),
            FormulaFlaw::NotClosed => f.write_str("the lemmas do not refute the formulas"),
        }
    }
}

impl std::error::Error for FormulaFlaw {}

/// Checks evidence that formulas have no common solution: every lemma by its
/// certificate, the rest by going through the cases.
pub fn check_formulas(formulas: &[Formula], proof: &FormulaCertificate) -> Result<(), FormulaFlaw> {
    for (number, lemma) in proof.lemmas.iter().enumerate() {
        check(&lemma.atoms, &lemma.certificate).map_err(|flaw| FormulaFlaw::Lemma(number, flaw))?;
    }
    CaseTree::build(formulas, &proof.lemmas).map(drop).ok_or(FormulaFlaw::NotClosed)
}

/// Whether the formulas entail the goal.
///
/// ```
/// use logic::{entails_formula, Atom, Formula, Terms};
/// let mut terms = Terms::new();
/// let (x, y) = (terms.var("x"), terms.var("y"));
/// let invariant = Formula::or([Atom::lt(x, y).into(), Atom::eq(x, 0).into()]);
/// assert!(entails_formula(&[invariant, Atom::ge(x, y).into()], &Atom::le(y, 0).into()));
/// ```
pub fn entails_formula(formulas: &[Formula], goal: &Formula) -> bool {
    let all: Vec<Formula> = formulas.iter().cloned().chain([goal.negate()]).collect();
    let conjunctions: Option<Vec<Vec<Atom>>> = all.iter().map(Formula::as_conjunction).collect();
    match conjunctions {
        // No evidence is asked for, so the lemma can be spared.
        Some(atoms) => !decide(&atoms.concat()).is_sat(),
        None => !decide_formulas(&all).is_sat(),
    }
}
