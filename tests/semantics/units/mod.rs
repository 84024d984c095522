//! Parts of programs and machines, one by one.

mod bits;
mod build;
mod delay;
mod element;
mod expr;
mod gaps;
mod linear;
mod liveness;
mod pack;
mod parts;
mod records;
mod shards;
mod source;
mod state_set;
mod symmetric;
mod table;
mod validate;
mod waiting;
