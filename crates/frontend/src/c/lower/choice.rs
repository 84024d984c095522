//! An access whose cell is chosen by a value, as one step.
//!
//! A pointer may have hundreds of targets, and most of them turn out to be impossible. So the ways are
//! not written out while rounds go on: the analysis takes the access as a whole, which gives what all ways
//! together would, for behind them only the key's values are left of what each knew. Once everything is known the
//! ways that are possible become steps ([`Graph::write_out_choices`]). The places between are kept free from the
//! beginning.

use super::graph::{At, CArrow, CStep, Graph};
use super::value::number;
use super::values::{CKnown, refine};
use program::{Cond, Expr, Op, RegId, Relation, VarId};
use std::rc::Rc;

/// An access to one of some variables.
#[derive(Clone, Debug)]
pub(super) struct CChoice {
    pub key: Expr<RegId>,
    /// The variable for each value of the key.
    pub cells: Rc<[(i128, VarId)]>,
    pub access: CChosen,
    /// The first of as many places as there are cells.
    pub places: At,
}

/// What is done with the variable that was chosen.
#[derive(Clone, Debug)]
pub(super) enum CChosen {
    Load(RegId),
    Store {
        value: Expr<RegId>,
        locked: bool,
    },
    /// What was loaded is not needed.
    Nothing,
}

impl CChoice {
    /// "The key has this value."
    pub fn chosen(&self, value: i128) -> Cond<RegId> {
        Cond::compare(Relation::Eq, self.key.clone(), number(value))
    }

    fn op(&self, variable: VarId) -> Option<Op> {
        match &self.access {
            CChosen::Load(register) => Some(Op::Load(*register, variable)),
            CChosen::Store { value, locked: false } => Some(Op::Store(variable, value.clone())),
            CChosen::Store { value, locked: true } => {
                Some(Op::locked(vec![Op::Store(variable, value.clone())]))
            }
            CChosen::Nothing => None,
        }
    }
}

impl Graph {
    /// Writes out the ways of all choices.
    pub fn write_out_all_choices(&mut self) {
        self.write_out(&mut |_, _, _| true);
    }

    /// Writes out the ways that registers' values leave, and notes these for the places between.
    pub fn write_out_choices(&mut self, known: &mut [Option<CKnown>]) {
        self.write_out(&mut |from, cond, between| {
            let left = known[from].as_ref().and_then(|known| refine(known, cond));
            let possible = left.is_some();
            known[between] = left;
            possible
        });
    }

    fn write_out(&mut self, wanted: &mut dyn FnMut(At, &Cond<RegId>, At) -> bool) {
        if !self.arrows.iter().any(|arrow| matches!(arrow.step, CStep::Choice(_))) {
            return;
        }
        self.unwritten = 0;
        for arrow in std::mem::take(&mut self.arrows) {
            let CStep::Choice(choice) = &arrow.step else {
                self.arrows.push(arrow);
                continue;
            };
            let before = self.arrows.len();
            for (at, (value, variable)) in choice.cells.iter().enumerate() {
                let (cond, between) = (choice.chosen(*value), choice.places + at);
                if wanted(arrow.from, &cond, between) {
                    self.way(&arrow, choice, (cond, *variable, between));
                }
            }
            // A thread that is stuck here has not ended.
            if let (true, Some((value, variable))) = (self.arrows.len() == before, choice.cells.first()) {
                self.way(&arrow, choice, (choice.chosen(*value), *variable, choice.places));
            }
        }
    }

    fn way(&mut self, arrow: &CArrow, choice: &CChoice, (cond, variable, between): (Cond<RegId>, VarId, At)) {
        let chosen = CStep::Op(Op::Assume(cond));
        match choice.op(variable) {
            Some(op) => {
                self.arrow(arrow.from, chosen, between, arrow.span);
                self.arrow(between, CStep::Op(op), arrow.to, arrow.span);
            }
            None => self.arrow(arrow.from, chosen, arrow.to, arrow.span),
        }
    }
}
