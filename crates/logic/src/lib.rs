//! Exact linear integer reasoning.
mod certificate;
mod context;
mod core;
mod formulas;
mod int;
mod interpolate;
mod project;
mod smtlib;
mod solve;
mod terms;

pub use certificate::{Certificate, Combination, FactId, Flaw, Step, check};
pub use context::{Context, Refutation, Truth};
pub use self::core::{minimal_core, quick_core};
pub use formulas::{
    FormulaCertificate, FormulaFlaw, FormulaOutcome, Lemma, check_formulas, decide_formulas, entails_formula,
};
pub use int::{Int, NotAnInteger};
pub use interpolate::{
    Failure, Style, check_interpolants, interpolant_cost, interpolate, interpolate_all, interpolate_as,
};
pub use project::{Projection, TooManyCases, project};
pub use smtlib::reader::{ReadError, Script, read_smtlib};
pub use smtlib::{smtlib_declaration, smtlib_formula, smtlib_script};
pub use solve::{Model, Outcome, decide};
pub use terms::atom::{Atom, Difference, Relation};
pub use terms::formula::{Formula, Node};
pub use terms::linear::{Linear, Var};
pub use terms::print::{Display, Naming, Show};
pub use terms::table::Terms;
pub use terms::template::Template;
