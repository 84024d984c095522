//! The language server as editors use it: the binary, spoken to over pipes.

#[path = "lsp/client.rs"]
mod client;
#[path = "lsp/conversations.rs"]
mod conversations;
#[path = "lsp/hostile.rs"]
mod hostile;
#[path = "lsp/languages.rs"]
mod languages;
