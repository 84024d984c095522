//! How much to do at once, and showing what would be done.

use super::values::positive;
use crate::session::usual_threads;
use clap::Args;

/// Showing the plan.
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// Show which engines would be asked, in which order and why, and do nothing else
    #[arg(long)]
    pub explain_plan: bool,
}

/// The same for commands that work on one file, whose threads all go to engines.
#[derive(Debug, Args)]
pub struct PlanAloneArgs {
    #[command(flatten)]
    pub plan: PlanArgs,

    /// How many engines to run at once; answers do not depend on it [default: the number of processors]
    #[arg(long, short = 'j', value_name = "N", value_parser = positive())]
    pub threads: Option<usize>,
}

impl PlanAloneArgs {
    /// The number of threads.
    pub fn threads(&self) -> usize {
        self.threads.unwrap_or_else(usual_threads)
    }
}
