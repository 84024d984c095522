//! Programs made to order: families that scale, with known answers, and random ones.
//!
//! A [`Family`] member is a text of our own language. What it should come to is known from how it is made, not
//! from running it, so members test engines and show how they scale. [`random`] are the programs that our
//! tests compare engines on.

mod dlcs;
mod intersection;
mod mutex;
pub mod random;
mod ring;

pub use dlcs::LossyChannel;
pub use intersection::Automata;
pub use mutex::{MUTEXES, Mutex};
pub use ring::{FencedThreads, Ring};

use std::fmt::Write;

/// A text with what is known of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Generated {
    /// A name for it.
    pub name: String,
    /// What it is, line by line.
    pub about: Vec<String>,
    /// What it should come to.
    pub expected: Vec<KnownAnswer>,
    /// The program, without remarks.
    pub text: String,
}

/// What a program should come to under a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownAnswer {
    /// The name of the memory model.
    pub model: &'static str,
    /// Whether it is safe.
    pub safe: bool,
    /// The contexts that a violation needs, if that is known.
    pub contexts: Option<usize>,
}

impl KnownAnswer {
    fn new(model: &'static str, safe: bool) -> KnownAnswer {
        KnownAnswer { model, safe, contexts: None }
    }

    /// The answer in a word.
    pub fn verdict(&self) -> &'static str {
        if self.safe { "safe" } else { "unsafe" }
    }
}

/// Something that makes programs.
pub trait Family {
    /// The program, or why there is none of that size.
    fn generate(&self) -> Result<Generated, String>;
}

impl Generated {
    /// The text below what is known of it.
    pub fn with_remarks(&self) -> String {
        let mut out = String::new();
        for line in &self.about {
            let _ = writeln!(out, "// {line}");
        }
        for expected in &self.expected {
            let model = expected.model.to_uppercase();
            let contexts = match expected.contexts {
                Some(1) => " within 1 context".to_string(),
                Some(contexts) => format!(" within {contexts} contexts"),
                None => String::new(),
            };
            let _ = writeln!(out, "// Expected under {model}: {}{contexts}.", expected.verdict());
        }
        out + &self.text
    }
}

/// A number of something, within bounds that keep texts readable.
fn sized(what: &str, size: usize, least: usize, most: usize) -> Result<usize, String> {
    match (least..=most).contains(&size) {
        true => Ok(size),
        false => Err(format!("{what}: {size} is not between {least} and {most}")),
    }
}
