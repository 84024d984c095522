//! The language server as editors use it: the binary, spoken to over pipes.

mod client;
mod conversations;
mod hostile;
mod languages;
