//! Exact linear integer reasoning, small and independently checked.
//!
//! The crate knows nothing of programs or machines. It decides conjunctions and
//! formulas of linear integer atoms, answers many questions about a conjunction
//! loaded once, eliminates variables, and interpolates along infeasible paths.
//! Numbers have no bounds: machine arithmetic is checked and falls back to big
//! integers. What it claims it can show: a solution is tried on every atom before it
//! is handed out, and unsatisfiability comes with a certificate that [`check`],
//! a function of its own, verifies.
//!
//! | to | use |
//! |---|---|
//! | build terms | [`Terms`], [`Linear`], [`Atom`], [`Formula`], [`Template`] |
//! | ask whether a predicate or its negation follows from a cube | [`Context`] |
//! | decide once, with a model or a certificate | [`decide`], [`decide_formulas`] |
//! | verify inductive invariants | [`entails_formula`], [`check`], [`check_formulas`] |
//! | find out which atoms matter | [`minimal_core`], [`quick_core`], [`small_core`] |
//! | eliminate variables | [`project`] |
//! | learn predicates from a path | [`interpolate`], [`interpolate_as`] |
//! | ask another solver | [`smtlib_formula`] |
//!
//! Predicate abstraction in a nutshell: the literals of a cube are assumed, and
//! for each predicate the weakest precondition under the step is looked up.
//!
//! ```
//! use logic::{Atom, Context, Linear, Terms, Truth};
//! let mut terms = Terms::new();
//! let (x, y) = (terms.var("x"), terms.var("y"));
//! let predicates = [Atom::lt(x, y), Atom::ge(x, 0), Atom::eq(y, 7)];
//! // The cube `x < y, x >= 0` under the step `x := x + 1`.
//! let mut cube = Context::new();
//! cube.assume(&predicates[0]);
//! cube.assume(&predicates[1]);
//! let step = Linear::from(x) + 1;
//! let after: Vec<Truth> = predicates.iter().map(|p| cube.truth(&p.substitute(x, &step))).collect();
//! assert_eq!(after, [Truth::Open, Truth::Yes, Truth::Open]);
//! ```
//!
//! What is deliberately absent: rationals, quantifiers, non-linear terms, timeouts
//! and global state. The decision procedures terminate on every input, but
//! integer programming is hard, and adversarial input can make them slow.

mod certificate;
mod check;
mod context;
mod core;
mod formulas;
mod int;
mod interpolate;
mod project;
mod smtlib;
mod solve;
mod terms;

pub use self::core::{minimal_core, quick_core, small_core};
pub use certificate::{Combination, FactId, Flaw, ProofStep, UnsatProof};
pub use check::check;
pub use context::{Context, Truth};
pub use formulas::{
    FormulaCertificate, FormulaFlaw, FormulaOutcome, Lemma, check_formulas, decide_formulas, entails_formula,
};
pub use int::{Int, NotAnInteger};
pub use interpolate::{NoInterpolants, Style, check_interpolants, interpolate, interpolate_as};
pub use project::{Projection, TooManyCases, project};
pub use smtlib::{smtlib_declaration, smtlib_formula, smtlib_sum};
pub use solve::{Decided, Model, Outcome, decide};
pub use terms::atom::{Atom, Difference, Relation};
pub use terms::formula::{Formula, FormulaNode};
pub use terms::linear::{Linear, Var};
pub use terms::print::{NamedDisplay, Show};
pub use terms::table::Terms;
pub use terms::template::Template;

/// What tests look at and nobody else should.
#[doc(hidden)]
pub mod inside {
    pub use crate::interpolate::merge::merged;
}
