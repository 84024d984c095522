//! The arguments of `lsp`.

use clap::Args;

/// Examples for its help.
pub const EXAMPLES: &str = "\
Examples:
  fencewright lsp                  speak the Language Server Protocol on standard input and output
  nvim --cmd 'lua vim.lsp.start { cmd = { \"fencewright\", \"lsp\" }, name = \"fencewright\" }' peterson.fw

The client sets `model`, `timeout` (seconds), `define`, `memory` (MB), `states`, `pause` (milliseconds of
quiet before verifying) and `verify` in its initializationOptions.

Exit codes: 0 the client said `shutdown` and `exit`, 1 it left without `shutdown`.";

/// `lsp`
#[derive(Debug, Args)]
pub struct Lsp {
    /// Speak on standard input and output; always so, but some editors say it
    #[arg(long)]
    pub stdio: bool,
}
