//! The program's own text with the fences in it.
//!
//! The front end edits the text; then it is read again, and only if it means what the answer is
//! about it is handed out.

use crate::input::Loaded;
use crate::report::SpanEdit;
use engine::{FencePoint, Placed};
use frontend::{Diagnostic, Insertion};
use program::{Source, Span, same};

/// The text, or why there is none.
pub fn with_fences(loaded: &Loaded, placed: &Placed) -> Result<String, String> {
    let source = &loaded.program.source;
    let insertions: Vec<Insertion> = placed.fences.iter().map(|fence| insertion(&fence.point)).collect();
    let refused = |error: &Diagnostic| {
        let line = source.line(error.span).map(|line| format!(", line {line}")).unwrap_or_default();
        format!("{}{line}: {}", loaded.name, error.message)
    };
    let text = (loaded.frontend.insert)(source.main(), &insertions, &loaded.options)
        .map_err(|error| refused(&error))?;
    let read = (loaded.frontend.read)(Source::new(source.name(), text.clone()), &loaded.options);
    match read.map(|parsed| parsed.program.with_question_as_property()) {
        Ok(program) if same(&program, &placed.program) => Ok(text),
        _ => Err(format!(
            "{}: these fences cannot be written between its statements so that the text means just that",
            loaded.name
        )),
    }
}

/// How each fence is written into the text; nothing unless all of them together can be.
pub fn edits(loaded: &Loaded, placed: &Placed) -> Vec<SpanEdit> {
    if with_fences(loaded, placed).is_err() {
        return Vec::new();
    }
    let old = loaded.program.source.main();
    let alone = |point| {
        (loaded.frontend.insert)(old, &[insertion(point)], &loaded.options).map(|new| edit(old, &new))
    };
    placed.fences.iter().map(|fence| alone(&fence.point)).collect::<Result<_, _>>().unwrap_or_default()
}

fn insertion(point: &FencePoint) -> Insertion {
    Insertion { span: point.span, before: point.before, strength: point.strength }
}

/// The one place in which two texts differ.
fn edit(old: &str, new: &str) -> SpanEdit {
    let pairs = old.char_indices().zip(new.chars());
    let start = pairs.take_while(|((_, a), b)| a == b).map(|((at, a), _)| at + a.len_utf8()).last();
    let start = start.unwrap_or(0);
    let (old_rest, new_rest) = (&old[start..], &new[start..]);
    let pairs = old_rest.chars().rev().zip(new_rest.chars().rev());
    let same: usize = pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum();
    SpanEdit { span: Span::new(start, old.len() - same), text: new_rest[..new_rest.len() - same].to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_where_texts_differ_is_found() {
        let check = |old, new, start, end, text: &str| {
            assert_eq!(edit(old, new), SpanEdit { span: Span::new(start, end), text: text.to_string() });
        };
        check("x = 1;\n", "x = 1; fence;\n", 6, 6, " fence;");
        check("ä; a; a;", "ä; a; a; a;", 9, 9, " a;");
        check("x = 1;", "swap(x, 1);", 0, 5, "swap(x, 1)");
        check("", "new", 0, 0, "new");
        check("same", "same", 4, 4, "");
    }
}
