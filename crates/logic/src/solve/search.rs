//! The search for an integer solution of a conjunction.
//!
//! Equations are solved first, what remains are inequalities for the simplex
//! tableau. A rational solution that is not integral is handed to [`omega`], one
//! that violates a disequality is split there. Branches that did not need the
//! split they are in close the whole split at once.

use super::dive;
use super::equations::{Assignment, Equations};
use super::ledger::{Ledger, LedgerFact, ProofId};
use super::omega;
use super::simplex::{Farkas, Simplex};
use crate::certificate::{Combination, FactId, ProofStep, UnsatProof};
use crate::int::Int;
use crate::terms::atom::{Atom, Relation};
use crate::terms::linear::{Linear, Var};

struct IntegerSearch<'a> {
    atoms: &'a [Atom],
    ledger: Ledger,
    equations: Equations,
    facts: Vec<LedgerFact>,
    simplex: Simplex,
    quotients: Vec<(FactId, Var, FactId)>,
    frames: Vec<OpenSplit>,
}

/// A split we are inside of.
struct OpenSplit {
    id: FactId,
    hypothesis: FactId,
    facts: usize,
    mark: usize,
    high: Linear,
    low_proof: Option<ProofId>,
}

/// What a node of the search tree came to.
enum SearchNode {
    Solved(Assignment),
    Refuted(ProofId),
    /// At the disequality `e ≠ 0` with this number.
    Split(FactId),
}

/// Decides the conjunction: values of all variables, or a certificate. Variables from
/// `fresh` on are free for use in the certificate.
pub(crate) fn solve(atoms: &[Atom], fresh: u32) -> Result<Assignment, UnsatProof> {
    let mut search = IntegerSearch {
        atoms,
        ledger: Ledger::new(atoms.len(), fresh),
        equations: Equations::default(),
        facts: Vec::new(),
        simplex: Simplex::default(),
        quotients: Vec::new(),
        frames: Vec::new(),
    };
    let answer = search.load().and_then(|()| search.run());
    answer.map_err(|proof| search.finish(proof))
}

impl IntegerSearch<'_> {
    fn load(&mut self) -> Result<(), ProofId> {
        let mut inequalities = Vec::new();
        for (position, atom) in self.atoms.iter().enumerate() {
            let hypothesis = position as FactId;
            let fact = LedgerFact { expr: atom.expr().clone(), why: Combination::one(hypothesis) };
            match atom.relation() {
                Relation::Le => inequalities.push(fact),
                Relation::Eq => self.equations.add(&mut self.ledger, fact)?,
                Relation::Ne => {}
                Relation::Divides(d) => {
                    let (upper, lower) = self.quotient(hypothesis, atom, d, [Int::ZERO, Int::ZERO]);
                    let equation = self.ledger.squeeze(&upper, &lower);
                    self.equations.add(&mut self.ledger, equation)?;
                }
                Relation::NotDivides(d) => {
                    let (upper, lower) = self.quotient(hypothesis, atom, d, [Int::ONE, d - &Int::ONE]);
                    inequalities.extend([upper, lower]);
                }
            }
        }
        inequalities.into_iter().try_for_each(|fact| self.assert(fact))
    }

    /// The facts `expr − d·q ≤ hi` and `lo ≤ expr − d·q` for a fresh quotient `q`.
    fn quotient(
        &mut self,
        hypothesis: FactId,
        atom: &Atom,
        d: &Int,
        [lo, hi]: [Int; 2],
    ) -> (LedgerFact, LedgerFact) {
        let quotient = self.ledger.fresh_var();
        let (id, second) = (self.ledger.assumption(), self.ledger.assumption());
        self.quotients.push((hypothesis, quotient, id));
        let rest = atom.expr().plus(&-d, &Linear::from(quotient));
        let upper = LedgerFact { expr: rest.clone() - hi, why: Combination::one(id) };
        let lower = LedgerFact { expr: -rest + lo, why: Combination::one(second) };
        (upper, lower)
    }

    fn finish(self, mut proof: ProofId) -> UnsatProof {
        let mut ledger = self.ledger;
        for (hypothesis, quotient, id) in self.quotients {
            proof = ledger.quotient(hypothesis, quotient, id, proof);
        }
        ledger.finish(proof)
    }

    fn assert(&mut self, fact: LedgerFact) -> Result<(), ProofId> {
        let fact = self.ledger.tighten(self.equations.reduce(fact));
        if fact.expr.is_constant() {
            return match fact.expr.constant().signum() > 0 {
                true => Err(self.ledger.close(fact.why)),
                false => Ok(()),
            };
        }
        self.facts.push(fact);
        let at = self.facts.len() - 1;
        let step = self.simplex.assert_le(&self.facts[at].expr, at as u32);
        step.map_err(|farkas| self.refute(&farkas))
    }

    fn refute(&mut self, farkas: &Farkas) -> ProofId {
        self.ledger.close(dive::combination(farkas, &self.facts))
    }

    fn run(&mut self) -> Result<Assignment, ProofId> {
        let mut node = self.examine();
        loop {
            node = match node {
                SearchNode::Solved(values) => return Ok(values),
                SearchNode::Split(hypothesis) => self.descend(hypothesis),
                SearchNode::Refuted(proof) => self.unwind(proof)?,
            };
        }
    }

    fn descend(&mut self, hypothesis: FactId) -> SearchNode {
        let id = self.ledger.assumption();
        let (facts, mark) = (self.facts.len(), self.simplex.mark());
        let expr = self.atoms[hypothesis as usize].expr().clone();
        let high = -expr.clone() + 1;
        self.frames.push(OpenSplit { id, hypothesis, facts, mark, high, low_proof: None });
        self.enter(expr + 1, id)
    }

    fn enter(&mut self, expr: Linear, id: FactId) -> SearchNode {
        match self.assert(LedgerFact { expr, why: Combination::one(id) }) {
            Ok(()) => self.examine(),
            Err(proof) => SearchNode::Refuted(proof),
        }
    }

    /// Leaves refuted branches up to the next one that is still open.
    fn unwind(&mut self, mut proof: ProofId) -> Result<SearchNode, ProofId> {
        while let Some(mut frame) = self.frames.pop() {
            self.facts.truncate(frame.facts);
            self.simplex.retract(frame.mark);
            if !self.ledger.uses(proof, frame.id) {
                continue;
            }
            match frame.low_proof {
                None => {
                    frame.low_proof = Some(proof);
                    let (high, id) = (frame.high.clone(), frame.id);
                    self.frames.push(frame);
                    return Ok(self.enter(high, id));
                }
                Some(low) => {
                    let (id, hypothesis) = (frame.id, frame.hypothesis);
                    let step = ProofStep::Disequality { hypothesis, id, low, high: proof };
                    proof = self.ledger.join(id, low, proof, step);
                }
            }
        }
        Err(proof)
    }

    fn examine(&mut self) -> SearchNode {
        if let Err(farkas) = self.simplex.check() {
            return SearchNode::Refuted(self.refute(&farkas));
        }
        if self.simplex.fractional().is_some() {
            return match omega::solve(&mut self.ledger, &self.equations, &self.facts) {
                Ok(values) => self.accept(values),
                Err(proof) => SearchNode::Refuted(proof),
            };
        }
        let values = self.simplex.rounded().collect();
        self.accept(values)
    }

    /// An integer solution of all but the disequalities: done, or split at one.
    fn accept(&mut self, mut values: Assignment) -> SearchNode {
        self.equations.extend(0, &mut values);
        let holds = |atom: &Atom| atom.holds(|var| values.get(&var).unwrap_or(&Int::ZERO));
        let violated = |atom: &&Atom| *atom.relation() == Relation::Ne && !holds(atom);
        match self.atoms.iter().position(|atom| violated(&atom)) {
            Some(position) => SearchNode::Split(position as FactId),
            None => SearchNode::Solved(values),
        }
    }
}
