//! The command line as scripts and people use it: the binary, run from outside.

#[path = "cli/bench.rs"]
mod bench;
#[path = "cli/ci.rs"]
mod ci;
#[path = "cli/ci_config.rs"]
mod ci_config;
#[path = "cli/evidence.rs"]
mod evidence;
#[path = "cli/fence.rs"]
mod fence;
#[path = "cli/formats.rs"]
mod formats;
#[path = "cli/golden.rs"]
mod golden;
#[path = "cli/hostile.rs"]
mod hostile;
#[path = "cli/junit.rs"]
mod junit;
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/progress.rs"]
mod progress;
#[path = "cli/report.rs"]
mod report;
#[path = "cli/robust.rs"]
mod robust;
#[path = "cli/sarif.rs"]
mod sarif;
#[path = "cli/schema.rs"]
mod schema;
#[path = "cli/session.rs"]
mod session;
#[path = "cli/tool.rs"]
mod tool;
