//! The arguments of `lsp`.

use clap::Args;

/// Examples for its help.
pub const EXAMPLES: &str = "\
Examples:
  fencewright lsp             an editor starts it and speaks with it over standard input and output
  fencewright lsp --stdio     the same, for editors that say how

The client sets `model`, `timeout` (seconds), `define`, `memory` (MB), `states`, `pause`
(milliseconds) and `verify` in its initializationOptions; the book's page on editors has more.

Exit codes: 0 the client said `shutdown` and `exit`, 1 it left without `shutdown`.";

/// `lsp`
#[derive(Debug, Args)]
pub struct LspArgs {
    /// Speak on standard input and output; always so, but some editors say it
    #[arg(long)]
    pub stdio: bool,
}
