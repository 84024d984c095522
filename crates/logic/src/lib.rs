//! Exact linear integer reasoning.
mod int;
mod terms;

pub use int::{Int, NotAnInteger};
pub use terms::atom::{Atom, Difference, Relation};
pub use terms::formula::{Formula, Node};
pub use terms::linear::{Linear, Var};
pub use terms::print::{Display, Naming, Show};
pub use terms::table::Terms;
pub use terms::template::Template;
