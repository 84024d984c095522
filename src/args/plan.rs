//! Showing what would be done.

use clap::Args;

/// Showing the plan.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Show which engines would be asked, in which order and why, and do nothing else
    #[arg(long)]
    pub explain_plan: bool,
}
