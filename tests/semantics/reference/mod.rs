//! The reference interpreter itself: single rules, the classic shapes, and laws that hold for all programs.

mod laws;
mod litmus;
mod rules;
