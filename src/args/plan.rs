//! How much to do at once, and showing what would be done.

use super::values::positive;
use clap::Args;

/// Showing the plan.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Show which engines would be asked, in which order and why, and do nothing else
    #[arg(long)]
    pub explain_plan: bool,
}

/// The same with how much to do at once.
#[derive(Debug, Args)]
pub struct PlanAloneArgs {
    #[command(flatten)]
    pub plan: PlanArgs,

    /// How much to do at once: files, and engines for one file; answers do not depend on it [default: the
    /// number of processors]
    #[arg(long, short = 'j', value_name = "N", value_parser = positive())]
    pub threads: Option<usize>,
}
