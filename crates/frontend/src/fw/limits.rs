//! How much a text may ask for. Input decides nothing else about how long reading takes, how
//! much memory it needs or how deep our recursion goes. The language reference lists these.

/// Tokens in a text.
pub(super) const TOKENS: usize = 4_000_000;
/// Digits of a number, written or computed from constants.
pub(super) const DIGITS: usize = 1000;
/// Binary digits of a computed constant: what a number of [`DIGITS`] digits needs.
pub(super) const BITS: u64 = 3322;
/// Blocks inside blocks, and parentheses, indices and signs inside each other.
pub(super) use crate::NESTING;
/// Height of an expression's tree, which operators in a row make grow.
pub(super) const HEIGHT: u16 = 400;
/// Shared variables, every array cell counted.
pub(super) const VARIABLES: usize = 4096;
/// Threads.
pub(super) const THREADS: usize = 64;
/// Properties and predicates.
pub(super) const PROPERTIES: usize = 10_000;
/// Registers of one thread, temporaries included.
pub(super) const REGISTERS: usize = 4096;
/// Locations and edges of all threads together.
pub(super) use crate::MAX_SIZE as SIZE;
/// Statements, operands and cells visited while unrolling and inlining.
pub(super) const WORK: usize = 10_000_000;
/// Statements and operands inside each other, once functions are inlined.
pub(super) const DEPTH: usize = 600;
/// Errors reported for one text.
pub(super) const ERRORS: usize = 50;

/// Texts that are included in each other.
pub(super) const INCLUDES: usize = 32;
