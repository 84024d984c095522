//! The program's own text with the fences in it.
//!
//! The front end edits the text; then it is read again, and only if it means what the answer is
//! about it is handed out.

use crate::input::Loaded;
use crate::report::SpanEdit;
use engine::{FencePoint, Placed};
use frontend::{Diagnostic, Insertion};
use program::{Program, Source, Span, same};

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
    read_back(loaded, text, |program| same(program, &placed.program)).ok_or_else(|| {
        format!(
            "{}: these fences cannot be written between its statements so that the text means just that",
            loaded.name
        )
    })
}

/// An edited text, if it means what it should.
pub fn read_back(loaded: &Loaded, text: String, means: impl Fn(&Program) -> bool) -> Option<String> {
    let source = Source::new(loaded.program.source.name(), text.clone());
    let read = (loaded.frontend.read)(source, &loaded.options).ok()?;
    means(&read.program.with_question_as_property()).then_some(text)
}

/// How each fence is written into the text; nothing unless all of them together can be.
pub fn edits(loaded: &Loaded, placed: &Placed) -> Vec<SpanEdit> {
    if with_fences(loaded, placed).is_err() {
        return Vec::new();
    }
    let old = loaded.program.source.main();
    let alone = |point| {
        (loaded.frontend.insert)(old, &[insertion(point)], &loaded.options).map(|new| difference(old, &new))
    };
    placed.fences.iter().map(|fence| alone(&fence.point)).collect::<Result<_, _>>().unwrap_or_default()
}

fn insertion(point: &FencePoint) -> Insertion {
    Insertion { span: point.span, before: point.before, strength: point.strength }
}

/// The one place in which two texts differ.
pub fn difference(old: &str, new: &str) -> SpanEdit {
    let same = |pairs: &mut dyn Iterator<Item = (char, char)>| -> usize {
        pairs.take_while(|(a, b)| a == b).map(|(a, _)| a.len_utf8()).sum()
    };
    let front = same(&mut old.chars().zip(new.chars()));
    let back = same(&mut old[front..].chars().rev().zip(new[front..].chars().rev()));
    SpanEdit { span: Span::new(front, old.len() - back), text: new[front..new.len() - back].to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_place_where_texts_differ_is_found() {
        let check = |old, new, start, end, text: &str| {
            assert_eq!(
                difference(old, new),
                SpanEdit { span: Span::new(start, end), text: text.to_string() }
            );
        };
        check("x = 1;\n", "x = 1; fence;\n", 6, 6, " fence;");
        check("ä; a; a;", "ä; a; a; a;", 9, 9, " a;");
        check("x = 1;", "swap(x, 1);", 0, 5, "swap(x, 1)");
        check("", "new", 0, 0, "new");
        check("same", "same", 4, 4, "");
    }
}
