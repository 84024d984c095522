//! The command line as scripts and people use it: the binary, run from outside.

#[path = "cli/evidence.rs"]
mod evidence;
#[path = "cli/fence.rs"]
mod fence;
#[path = "cli/golden.rs"]
mod golden;
#[path = "cli/hostile.rs"]
mod hostile;
#[path = "cli/robust.rs"]
mod robust;
#[path = "cli/session.rs"]
mod session;
#[path = "cli/tool.rs"]
mod tool;
