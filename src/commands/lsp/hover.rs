//! Hovering: what a name or a word is, and what the last proof knows where it stands.

use super::document::DocumentVersion;
use super::help;
use super::lines::LspRange;
use super::verdict::TextVerdict;
use evidence::KnownFacts;
use frontend::{Symbol, SymbolKind};
use program::{Loc, Program, Span, Thread, ThreadId};

/// Of a statement with more copies than this, made by unrolling, only so many are told.
const COPIES: usize = 4;

/// What to say, and about which piece of the text.
pub struct Hover {
    /// In Markdown.
    pub text: String,
    /// About this.
    pub range: Option<LspRange>,
}

/// What is to be said about a byte.
pub fn hover(reading: &DocumentVersion, outcome: Option<&TextVerdict>, byte: usize) -> Option<Hover> {
    let mut parts = Vec::new();
    let mut range = None;
    if let Some(index) = reading.index() {
        if let Some((symbol, span)) = index.at(byte) {
            parts.push(symbol_text(&index.symbols[symbol]));
            range = Some(span);
        } else if let Some(span) = index.keyword_at(byte) {
            let word = reading.text.as_str().get(span.start as usize..span.end as usize);
            parts.extend(word.and_then(help::keyword).map(str::to_string));
            range = Some(span);
        }
    }
    if let (Some(loaded), Some((known, model))) =
        (&reading.loaded, outcome.and_then(|outcome| outcome.known.as_ref()))
    {
        let here = statement_at(reading, &loaded.program, byte);
        let told = here.map(|span| places(&loaded.program, span)).unwrap_or_default();
        let told: Vec<Group> = groups(&loaded.program, &told, known);
        if !told.is_empty() {
            parts.push(known_text(&told, model.name()));
        }
    }
    let text = parts.join("\n\n---\n\n");
    (!text.is_empty()).then(|| Hover { text, range: range.map(|span| reading.text.range(span)) })
}

fn symbol_text(symbol: &Symbol) -> String {
    let what = match symbol.kind {
        SymbolKind::Constant => "a constant",
        SymbolKind::Variable => "a shared variable",
        SymbolKind::Function => "a function, inlined where it is called",
        SymbolKind::Parameter => "a parameter",
        SymbolKind::Thread => "a thread, or a family of threads",
        SymbolKind::Register => "a register, local to its thread",
        SymbolKind::Counter => "a counter: a constant in each copy",
        SymbolKind::Label => "a label",
        SymbolKind::Struct => "a struct: numbers that have a name together",
        SymbolKind::Field => "a field of a struct",
    };
    let value = symbol.value.as_ref().map(|value| format!(", value {value}")).unwrap_or_default();
    format!("```fencewright\n{}\n```\n{what}{value}", symbol.detail)
}

/// The statement at a byte: the smallest around it, else the nearest that starts on its line.
fn statement_at(reading: &DocumentVersion, program: &Program, byte: usize) -> Option<Span> {
    let line = reading.text.line_around(byte);
    let edges = program.threads.iter().flat_map(Thread::edges);
    let spans = edges.map(|edge| edge.span).filter(|span| !span.is_none() && span.start < span.end);
    let rank = |span: &Span| {
        let (start, end) = (span.start as usize, span.end as usize);
        if start <= byte && byte <= end {
            return Some((0, end - start));
        }
        line.contains(&start).then(|| (1, start.abs_diff(byte)))
    };
    spans.filter_map(|span| Some((rank(&span)?, span))).min().map(|(_, span)| span)
}

/// Where threads stand just before a statement.
fn places(program: &Program, span: Span) -> Vec<(ThreadId, Loc)> {
    let mut places = Vec::new();
    for id in program.thread_ids() {
        let thread = program.thread(id);
        let mut entered = vec![false; thread.locs().count()];
        entered[thread.entry().index()] = true;
        for edge in thread.edges().iter().filter(|edge| edge.span != span) {
            entered[edge.to.index()] = true;
        }
        let starts =
            |loc: &Loc| entered[loc.index()] && thread.outgoing(*loc).any(|(_, edge)| edge.span == span);
        places.extend(thread.locs().filter(starts).map(|loc| (id, loc)));
    }
    places
}

/// Threads of which the same is known.
struct Group {
    threads: Vec<String>,
    sentences: Vec<String>,
}

fn groups(program: &Program, places: &[(ThreadId, Loc)], known: &KnownFacts) -> Vec<Group> {
    let mut groups: Vec<Group> = Vec::new();
    for (thread, loc) in places {
        let name = &program.thread(*thread).name;
        let never = || vec!["no execution comes here".to_string()];
        let sentences = known.at(*thread, *loc).map_or_else(never, <[String]>::to_vec);
        match groups.iter_mut().find(|group| group.sentences == sentences) {
            Some(group) if group.threads.contains(name) => {}
            Some(group) => group.threads.push(name.clone()),
            None => groups.push(Group { threads: vec![name.clone()], sentences }),
        }
    }
    groups
}

fn known_text(groups: &[Group], model: &str) -> String {
    let mut text = format!("Proved under {model}, whenever a thread stands before this:");
    for group in groups.iter().take(COPIES) {
        text += &format!("\n\n**{}**", escaped(&group.threads.join(", ")));
        for sentence in &group.sentences {
            text += &format!("\n- {}", escaped(sentence));
        }
    }
    if groups.len() > COPIES {
        text += &format!("\n\n… and {} more", groups.len() - COPIES);
    }
    text
}

/// A text in which Markdown sees nothing of its own.
fn escaped(text: &str) -> String {
    let special = |c: char| "\\`*_[]<>#|&!".contains(c);
    text.chars().flat_map(|c| special(c).then_some('\\').into_iter().chain([c])).collect()
}

/// Markdown as plain text, for clients that want that.
pub fn plain(markdown: &str) -> String {
    let lines = markdown.lines().filter(|line| !line.starts_with("```") && *line != "---");
    let mut out = String::new();
    let mut blank = false;
    for line in lines {
        if line.is_empty() {
            blank = !out.is_empty();
            continue;
        }
        if std::mem::take(&mut blank) {
            out.push('\n');
        }
        let mut characters = line.chars();
        while let Some(c) = characters.next() {
            match c {
                '\\' => out.extend(characters.next()),
                '*' | '`' => {}
                c => out.push(c),
            }
        }
        out.push('\n');
    }
    out.trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_do_not_become_markup() {
        assert_eq!(escaped("a[0] is *b*"), "a\\[0\\] is \\*b\\*");
        assert_eq!(
            plain("```fencewright\nconst N\n```\na *b*\n\n---\n\n- a\\[0\\]"),
            "const N\na b\n\n- a[0]"
        );
    }
}
