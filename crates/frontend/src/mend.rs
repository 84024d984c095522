//! Names for writers: identifiers that the other format accepts, each used once.

pub(crate) use program::take_name;
use std::collections::HashSet;

/// A name like `wanted` that is an identifier, not reserved and not taken; it is taken now.
pub(crate) fn mend(wanted: &str, reserved: &[&str], taken: &mut HashSet<String>) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let mut name: String = wanted.chars().map(word).collect();
    while name.len() > 1 && name.ends_with('_') && !wanted.ends_with('_') {
        name.pop();
    }
    if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name.insert(0, '_');
    }
    take_name(&name, reserved, taken)
}
