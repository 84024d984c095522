//! Diagnostics with the piece of source they speak of underlined.

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use frontend::{Diagnostic, Severity};
use program::{Source, Span};
use std::ops::Range;

/// Texts longer than this are shown to the renderer only around the places that matter.
const LARGE: usize = 1 << 16;

/// Diagnostics as people read them, one after the other.
pub fn render(source: &Source, diagnostics: &[Diagnostic]) -> String {
    diagnostics.iter().map(|diagnostic| render_one(source, diagnostic) + "\n\n").collect()
}

fn render_one(source: &Source, diagnostic: &Diagnostic) -> String {
    let source = diagnostic.source.as_deref().unwrap_or(source);
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(diagnostic.message.as_str());
    let places = places(source, diagnostic);
    let mut group = match places.first() {
        None => Group::with_title(title).element(annotate_snippets::Origin::path(source.name())),
        Some(_) => title.element(snippet(source, diagnostic, &places)),
    };
    if let Some(hint) = &diagnostic.hint {
        group = group.element(Level::HELP.message(hint.as_str()));
    }
    Renderer::styled().render(&[group])
}

/// The primary place and the related ones, as far as they stand in the text.
fn places<'a>(source: &Source, diagnostic: &'a Diagnostic) -> Vec<(Range<usize>, &'a str)> {
    let primary = (diagnostic.span, diagnostic.label.as_str());
    let related = diagnostic.related.iter().map(|(span, remark)| (*span, remark.as_str()));
    // Other texts are not shown.
    let (_, file) = source.file(diagnostic.span);
    let inside = |(span, text)| {
        let range = range(source, span).filter(|range| file.start <= range.start && range.end <= file.end);
        range.map(|range| (range, text))
    };
    let Some(primary) = inside(primary) else { return Vec::new() };
    std::iter::once(primary).chain(related.filter_map(inside)).collect()
}

fn snippet<'a>(
    source: &'a Source,
    diagnostic: &'a Diagnostic,
    places: &[(Range<usize>, &'a str)],
) -> Snippet<'a, annotate_snippets::Annotation<'a>> {
    let (name, file) = source.file(diagnostic.span);
    let window = window(source.text(), file.clone(), places);
    let line = source.text()[file.start..window.start].bytes().filter(|byte| *byte == b'\n').count() + 1;
    let mut snippet = Snippet::source(&source.text()[window.clone()]).line_start(line).path(name);
    for (at, (range, label)) in places.iter().enumerate() {
        let kind = if at == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
        let annotation = kind.span(range.start - window.start..range.end - window.start);
        let label = if *label == diagnostic.message { "" } else { *label };
        snippet = snippet.annotation(if label.is_empty() { annotation } else { annotation.label(label) });
    }
    snippet
}

/// The whole file if it is small, else the lines from the first place to the last.
fn window(text: &str, file: Range<usize>, places: &[(Range<usize>, &str)]) -> Range<usize> {
    if file.len() <= LARGE {
        return file;
    }
    let start = places.iter().map(|(range, _)| range.start).min().unwrap_or(0);
    let end = places.iter().map(|(range, _)| range.end).max().unwrap_or(0);
    let start = text[file.start..start].rfind('\n').map_or(file.start, |at| file.start + at + 1);
    let end = text[end..file.end].find('\n').map_or(file.end, |at| end + at);
    start..end
}

/// A span as a range of whole characters of the text.
pub fn range(source: &Source, span: Span) -> Option<Range<usize>> {
    let text = source.text();
    let (mut start, mut end) = (span.start as usize, (span.end as usize).min(text.len()));
    if span.is_none() || start > end {
        return None;
    }
    while !text.is_char_boundary(start) {
        start -= 1;
    }
    while !text.is_char_boundary(end) {
        end += 1;
    }
    Some(start..end)
}

/// The line and column, both from 1 and in characters, on which a span starts.
pub fn position(source: &Source, span: Span) -> Option<(usize, usize)> {
    let start = range(source, span)?.start;
    let line = source.line(span)?;
    let before = &source.text()[..start];
    let column = before[before.rfind('\n').map_or(0, |at| at + 1)..].chars().count() + 1;
    Some((line, column))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(source: &Source, diagnostic: Diagnostic) -> String {
        anstream::adapter::strip_str(&render(source, &[diagnostic])).to_string()
    }

    #[test]
    fn the_place_is_underlined_with_its_label_and_the_hint() {
        let source = Source::new("a.fw", "shared x;\nthread P { y = 1; }\n");
        let error = Diagnostic::error(Span::new(21, 22), "there is no variable `y`")
            .label("not declared")
            .related(Span::new(7, 8), "did you mean this")
            .hint("declare it");
        let shown = plain(&source, error);
        for part in [
            "error: there is no variable `y`",
            "a.fw:2:12",
            "^ not declared",
            "- did you mean",
            "help: declare it",
        ] {
            assert!(shown.contains(part), "{part} in:\n{shown}");
        }
    }

    #[test]
    fn strange_spans_do_no_harm() {
        let source = Source::new("a.fw", "ä = ö\n");
        for span in [Span::NONE, Span::new(1, 2), Span::new(7, 900), Span::new(8, 8), Span::new(900, 901)] {
            assert!(plain(&source, Diagnostic::error(span, "odd")).contains("error: odd"));
        }
        let large = Source::new("b.fw", "x\n".repeat(LARGE));
        assert!(
            plain(&large, Diagnostic::error(Span::new(100_000, 100_001), "odd")).contains("b.fw:50001:1")
        );
    }

    #[test]
    fn columns_count_characters() {
        let source = Source::new("a.fw", "x\nä = ö\n");
        assert_eq!(position(&source, Span::new(7, 9)), Some((2, 5)));
        assert_eq!(position(&source, Span::NONE), None);
    }
}
