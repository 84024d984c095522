//! The command line as scripts and people use it: the binary, run from outside.

mod bench;
mod calls;
mod ci;
mod ci_config;
mod evidence;
mod fence;
mod formats;
mod formatting;
mod golden;
mod hostile;
mod hosts;
mod junit;
mod limits;
mod outcomes;
mod predicates;
mod progress;
mod report;
mod robust;
mod sarif;
mod schema;
mod session;
mod spill;
mod terminal;
pub mod tool;
