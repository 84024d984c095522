//! `--save-predicates`: what a proof used, in a form that can be pasted into the program.
//!
//! The front end has the last word: a predicate is kept if the text with it still reads. Registers
//! that lowering made up have no name there.

use crate::input::Loaded;
use evidence::{Certificate, Checked, Verdict};
use program::{Names, Source};

/// Only texts of our own language can offer predicates that we print.
const LANGUAGE: &str = "fw";

/// The text, or why there is none.
pub fn predicates_text(loaded: &Loaded, checked: &Checked) -> Result<String, String> {
    let Verdict::Safe(Certificate::Cubes(proof)) = checked.verdict() else {
        return Err(format!(
            "{}: no predicates to save: the answer is no proof by predicates (try --engine cegar or extrapolate)",
            loaded.name
        ));
    };
    if loaded.frontend.name != LANGUAGE {
        return Err(format!("{}: predicates are saved for programs in .fw only", loaded.name));
    }
    let names = Names::original(&loaded.program);
    let all: Vec<String> = proof.offers().iter().map(|cond| names.cond(cond)).collect();
    let (named, unnamed): (Vec<_>, Vec<_>) = all.into_iter().partition(|text| reads(loaded, text));
    let mut text = "predicates {\n".to_string();
    named.iter().for_each(|predicate| text += &format!("    {predicate};\n"));
    text += "}\n";
    if !unnamed.is_empty() {
        let about = "about values that are loaded and have no name in the text";
        text += &format!("// {} more {about} are found again from these.\n", unnamed.len());
    }
    Ok(text)
}

/// Whether the program may offer this predicate.
fn reads(loaded: &Loaded, predicate: &str) -> bool {
    let source = &loaded.program.source;
    let text = format!("{}\npredicates {{ {predicate}; }}\n", source.main());
    (loaded.frontend.read)(Source::new(source.name(), text), &loaded.options).is_ok()
}
