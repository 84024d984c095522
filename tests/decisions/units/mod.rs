//! Parts of the solver, one by one.

mod int;
mod merge;
mod template;
