//! The `fencewright` binary.
fn main() {}
