//! The language: variables, linear expressions, atoms, formulas, templates.

pub(crate) mod atom;
pub(crate) mod formula;
pub(crate) mod linear;
pub(crate) mod print;
pub(crate) mod table;
pub(crate) mod template;
