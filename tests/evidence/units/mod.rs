//! Parts of the checker and of what it reads and says, one by one.

mod comparisons;
mod facts;
mod numbers;
mod parallel;
mod record;
mod say;
mod spill;
