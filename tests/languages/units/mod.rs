//! Parts of the front ends, one by one.

mod c_critical;
mod c_insert;
mod c_lexer;
mod c_literals;
mod c_preprocessor;
mod c_remove;
mod c_tagged;
mod c_values;
mod edit;
mod litmus_lexer;
mod litmus_registers;
mod rmm_lexer;
mod suggest;
