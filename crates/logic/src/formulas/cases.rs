//! A tree of cases that refutes formulas with the help of lemmas.
//!
//! Each formula is taken apart into its conjuncts. Conjuncts that are atoms are
//! simply true. The others are examined under the atoms assumed so far: if one is
//! false, or a lemma's atoms are all true, the case is closed; otherwise an
//! undecided atom is split on, one of a conjunct or lemma with few undecided
//! atoms, which makes forced choices first. A branch that did not need the
//! atom it assumed closes both branches.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use rustc_hash::FxBuildHasher;

use super::Lemma;
use crate::terms::atom::Atom;
use crate::terms::formula::{Formula, FormulaNode};

/// Nodes after which we give up; the tree may be exponential.
const MAX_NODES: usize = 100_000;

/// A conjunct of one of the formulas.
#[derive(Clone, Debug)]
pub(crate) struct Conjunct {
    /// Which formula it belongs to.
    pub(crate) step: usize,
    pub(crate) formula: Formula,
}

/// A node of the tree; children are positions of earlier nodes.
#[derive(Clone, Debug)]
pub(crate) enum CaseNode {
    /// The conjunct is false, given these atoms that hold here.
    Part { part: usize, given: Vec<Atom> },
    /// All atoms of the lemma hold here.
    Lemma(usize),
    /// The atom holds, or it does not.
    Split { atom: Atom, yes: usize, no: usize },
}

/// The cases that refute formulas.
#[derive(Clone, Debug)]
pub(crate) struct CaseTree {
    /// Atoms that are conjuncts, with the first formula they stand in.
    pub(crate) facts: HashMap<Atom, usize, FxBuildHasher>,
    pub(crate) parts: Vec<Conjunct>,
    /// The last node is the root.
    pub(crate) nodes: Vec<CaseNode>,
}

impl CaseTree {
    /// Goes through the cases; `None` if one stays open or there are too many.
    pub(crate) fn build(formulas: &[Formula], lemmas: &[Lemma]) -> Option<CaseTree> {
        let mut tree = CaseTree { facts: HashMap::default(), parts: Vec::new(), nodes: Vec::new() };
        for (step, formula) in formulas.iter().enumerate() {
            formula.conjuncts().iter().for_each(|part| tree.take(step, part));
        }
        let truth =
            tree.facts.keys().flat_map(|atom| [(atom.clone(), true), (atom.negate(), false)]).collect();
        let walk = CaseWalk { tree, lemmas, truth, frames: Vec::new(), used: Vec::new() };
        walk.run()
    }

    fn take(&mut self, step: usize, part: &Formula) {
        match part.node() {
            // The negation of a fact stays a part, one that is false at once.
            FormulaNode::Atom(atom) if !self.facts.contains_key(&atom.negate()) => {
                self.facts.entry(atom.clone()).or_insert(step);
            }
            _ => self.parts.push(Conjunct { step, formula: part.clone() }),
        }
    }
}

struct CaseFrame {
    atom: Atom,
    yes: Option<usize>,
}

struct CaseWalk<'a> {
    tree: CaseTree,
    lemmas: &'a [Lemma],
    truth: HashMap<Atom, bool, FxBuildHasher>,
    frames: Vec<CaseFrame>,
    /// For each node the assumed atoms that it needs.
    used: Vec<BTreeSet<Atom>>,
}

enum CaseStatus {
    Closed(CaseNode, BTreeSet<Atom>),
    Undecided(Atom),
    Open,
}

impl CaseWalk<'_> {
    fn run(mut self) -> Option<CaseTree> {
        loop {
            match self.look() {
                CaseStatus::Open => return None,
                CaseStatus::Undecided(atom) => {
                    self.assume(&atom, true);
                    self.frames.push(CaseFrame { atom, yes: None });
                }
                CaseStatus::Closed(node, used) => {
                    let closed = self.push(node, used);
                    if self.unwind(closed) {
                        return Some(self.tree);
                    }
                }
            }
            if self.tree.nodes.len() > MAX_NODES {
                return None;
            }
        }
    }

    fn assume(&mut self, atom: &Atom, value: bool) {
        self.truth.insert(atom.clone(), value);
        self.truth.insert(atom.negate(), !value);
    }

    fn push(&mut self, node: CaseNode, used: BTreeSet<Atom>) -> usize {
        self.tree.nodes.push(node);
        self.used.push(used);
        self.tree.nodes.len() - 1
    }

    /// Leaves closed branches up to one that is still to be looked at; true if none is.
    fn unwind(&mut self, mut closed: usize) -> bool {
        while let Some(mut frame) = self.frames.pop() {
            let (atom, negation) = (frame.atom.clone(), frame.atom.negate());
            self.truth.remove(&atom);
            self.truth.remove(&negation);
            let assumed = if frame.yes.is_none() { &atom } else { &negation };
            if !self.used[closed].contains(assumed) {
                continue;
            }
            match frame.yes {
                None => {
                    frame.yes = Some(closed);
                    self.assume(&atom, false);
                    self.frames.push(frame);
                    return false;
                }
                Some(yes) => {
                    let mut used: BTreeSet<Atom> =
                        self.used[yes].union(&self.used[closed]).cloned().collect();
                    used.remove(&atom);
                    used.remove(&negation);
                    closed = self.push(CaseNode::Split { atom, yes, no: closed }, used);
                }
            }
        }
        // An abandoned branch may have left nodes behind the root.
        self.tree.nodes.truncate(closed + 1);
        true
    }

    fn look(&self) -> CaseStatus {
        let mut best: Option<(usize, Atom)> = None;
        for (number, lemma) in self.lemmas.iter().enumerate() {
            let mut undecided = lemma.atoms.iter().filter(|atom| !self.truth.contains_key(*atom));
            if lemma.atoms.iter().any(|atom| self.truth.get(atom) == Some(&false)) {
                continue;
            }
            match undecided.next() {
                None => return CaseStatus::Closed(CaseNode::Lemma(number), self.assumed(&lemma.atoms)),
                Some(atom) => offer(&mut best, 1 + undecided.count(), atom),
            }
        }
        for (number, part) in self.tree.parts.iter().enumerate() {
            match self.evaluate(&part.formula) {
                Some(true) => continue,
                Some(false) => {
                    let mut given = Vec::new();
                    explain(&part.formula, false, &|atom| self.truth.get(atom).copied(), &mut given);
                    given.sort();
                    given.dedup();
                    let used = self.assumed(&given);
                    return CaseStatus::Closed(CaseNode::Part { part: number, given }, used);
                }
                None => {
                    let mut undecided = Vec::new();
                    self.undecided(&part.formula, &mut undecided);
                    if let Some(atom) = undecided.first() {
                        offer(&mut best, undecided.len(), atom);
                    }
                }
            }
        }
        best.map_or(CaseStatus::Open, |(_, atom)| CaseStatus::Undecided(atom))
    }

    /// The atoms among these that are assumptions rather than facts.
    fn assumed(&self, atoms: &[Atom]) -> BTreeSet<Atom> {
        atoms.iter().filter(|atom| !self.tree.facts.contains_key(*atom)).cloned().collect()
    }

    fn evaluate(&self, formula: &Formula) -> Option<bool> {
        evaluate(formula, &|atom| self.truth.get(atom).copied())
    }

    fn undecided(&self, formula: &Formula, out: &mut Vec<Atom>) {
        match formula.node() {
            FormulaNode::Atom(atom) if !self.truth.contains_key(atom) => out.push(atom.clone()),
            FormulaNode::Atom(_) => {}
            FormulaNode::Not(inner) => self.undecided(inner, out),
            FormulaNode::And(parts) | FormulaNode::Or(parts) if self.evaluate(formula).is_none() => {
                parts.iter().for_each(|part| self.undecided(part, out));
            }
            FormulaNode::And(_) | FormulaNode::Or(_) => {}
        }
    }
}

/// The value of a formula, if what is known of its atoms decides it.
fn evaluate(formula: &Formula, truth: &impl Fn(&Atom) -> Option<bool>) -> Option<bool> {
    let (parts, neutral) = match formula.node() {
        FormulaNode::Atom(atom) => return truth(atom),
        FormulaNode::Not(inner) => return evaluate(inner, truth).map(|value| !value),
        FormulaNode::And(parts) => (parts, true),
        FormulaNode::Or(parts) => (parts, false),
    };
    let mut result = Some(neutral);
    for part in parts {
        match evaluate(part, truth) {
            Some(value) if value == neutral => {}
            Some(_) => return Some(!neutral),
            None => result = None,
        }
    }
    result
}

/// Collects atoms that hold and suffice for the formula to have the value it has.
pub(super) fn explain(
    formula: &Formula,
    value: bool,
    truth: &impl Fn(&Atom) -> Option<bool>,
    given: &mut Vec<Atom>,
) {
    match (formula.node(), value) {
        (FormulaNode::Atom(atom), true) => given.push(atom.clone()),
        (FormulaNode::Atom(atom), false) => given.push(atom.negate()),
        (FormulaNode::Not(inner), _) => explain(inner, !value, truth, given),
        (FormulaNode::And(parts), true) | (FormulaNode::Or(parts), false) => {
            parts.iter().for_each(|part| explain(part, value, truth, given));
        }
        (FormulaNode::And(parts), false) | (FormulaNode::Or(parts), true) => {
            if let Some(part) = parts.iter().find(|part| evaluate(part, truth) == Some(value)) {
                explain(part, value, truth, given);
            }
        }
    }
}

fn offer(best: &mut Option<(usize, Atom)>, count: usize, atom: &Atom) {
    if best.as_ref().is_none_or(|(least, _)| count < *least) {
        *best = Some((count, atom.clone()));
    }
}
