//! How much a C text may ask for. Nothing else about it decides how long reading takes, how much
//! memory it needs or how deep our recursion goes. The page on C lists these.

/// Tokens after preprocessing, and tokens that macros make on the way.
pub(super) const TOKENS: usize = 1_000_000;
/// Files included inside each other.
pub(super) const INCLUDES: usize = 100;
/// Macro calls inside arguments of macro calls.
pub(super) const ARGUMENTS: usize = 100;
/// Conditional sections inside each other.
pub(super) const CONDITIONALS: usize = 200;
/// Parentheses, blocks and declarators inside each other.
pub(super) const NESTING: usize = 120;
/// Height of an expression's tree, which operators in a row make grow.
pub(super) const HEIGHT: u16 = 400;
/// Blocks, operands and inlined calls inside each other.
pub(super) const DEPTH: usize = 300;
/// Calls of one function inside each other.
pub(super) const RECURSION: usize = 8;
/// Cells of one object, and of all objects together.
pub(super) const CELLS: usize = 8192;
/// Threads.
pub(super) const THREADS: usize = 64;
/// Registers of one thread.
pub(super) const REGISTERS: usize = 4096;
/// Locations and edges of all threads together.
pub(super) const SIZE: usize = 200_000;
/// Rounds of a loop that starts or awaits threads, and those of them whose condition is not known.
pub(super) const ROUNDS: usize = 1000;
pub(super) const UNKNOWN_ROUNDS: usize = 40;
/// Rounds that are written out of other loops, and how much they may add.
pub(super) const KNOWN_ROUNDS: usize = 256;
pub(super) const KNOWN_SIZE: usize = 20_000;
/// The same for loops that count, in threads.
pub(super) const COUNTED_ROUNDS: usize = 24;
pub(super) const COUNTED_SIZE: usize = 1500;
/// Blocks of memory that one call of `malloc` in a loop hands out, unless the caller says otherwise.
pub(super) const HEAP: usize = 8;
/// Errors reported for one text.
pub(super) const ERRORS: usize = 20;
