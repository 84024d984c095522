//! Exact linear integer reasoning.
mod certificate;
mod int;
mod solve;
mod terms;

pub use certificate::{Certificate, Combination, FactId, Flaw, Step, check};
pub use int::{Int, NotAnInteger};
pub use solve::{Model, Outcome, decide};
pub use terms::atom::{Atom, Difference, Relation};
pub use terms::formula::{Formula, Node};
pub use terms::linear::{Linear, Var};
pub use terms::print::{Display, Naming, Show};
pub use terms::table::Terms;
pub use terms::template::Template;
