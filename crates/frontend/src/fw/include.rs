//! `include "locks.fw";`: the declarations of another text as if they stood here.
//!
//! Included texts are put behind the main one ([`Source::include`]), so every place has a span of its own, and their tokens
//! behind the statement that includes them; whoever parses sees one text. A text that was included before
//! is not included again, one that includes itself is an error.

use super::lexer::{FwToken, TokenKind, tokens_from};
use super::limits;
use super::sink::Sink;
use crate::{Diagnostic, MAX_TEXT, Options};
use program::{Source, Span};
use std::collections::HashSet;

/// The tokens of a text and of all that it includes, which are put behind it.
pub(super) fn gather(source: &mut Source, options: &Options, sink: &mut Sink) -> Vec<FwToken> {
    let name = source.name().to_string();
    let mut gathered =
        IncludedTokens { source, options, sink, seen: HashSet::new(), open: vec![name], tokens: Vec::new() };
    gathered.file(0);
    let end = gathered.source.text().len();
    let mut tokens = gathered.tokens;
    tokens.push(FwToken { kind: TokenKind::End, span: Span::new(end, end) });
    tokens
}

struct IncludedTokens<'a> {
    source: &'a mut Source,
    options: &'a Options,
    sink: &'a mut Sink,
    seen: HashSet<String>,
    /// The texts that we are in, the main one first.
    open: Vec<String>,
    tokens: Vec<FwToken>,
}

impl IncludedTokens<'_> {
    /// Takes the tokens of the last text, which starts here.
    fn file(&mut self, start: usize) {
        let mut tokens = tokens_from(self.source.text(), start, self.sink);
        let end = tokens.pop();
        let mut braces = 0usize;
        for at in 0..tokens.len() {
            self.tokens.push(tokens[at]);
            match tokens[at].kind {
                TokenKind::OpenBrace => braces += 1,
                TokenKind::CloseBrace => braces = braces.saturating_sub(1),
                TokenKind::Semicolon if braces == 0 && at > 1 => {
                    let (word, path) = (tokens[at - 2], tokens[at - 1]);
                    if path.kind == TokenKind::Quoted && self.text(word.span) == "include" {
                        self.include(path.span);
                    }
                }
                _ => {}
            }
        }
        if self.tokens.len() > limits::TOKENS
            && let Some(end) = end
        {
            let message = format!("the text has more than {} tokens", limits::TOKENS);
            self.sink.error(Diagnostic::error(end.span, message).hint("split the program"));
            self.tokens.clear();
        }
    }

    fn text(&self, span: Span) -> &str {
        self.source.text().get(span.start as usize..span.end as usize).unwrap_or_default()
    }

    fn include(&mut self, place: Span) {
        let name = self.text(place).trim_matches('"').to_string();
        let (path, text) = match self.find(&name, place) {
            Ok(found) => found,
            Err(error) => {
                self.sink.error(error);
                return self.sink.text_is_incomplete();
            }
        };
        let file = same_file(&path);
        if self.open.iter().any(|open| same_file(open) == file) {
            let error = Diagnostic::error(place, format!("`{path}` includes itself"));
            self.sink.error(error.hint("put what both need into a text of its own"));
        } else if self.seen.insert(file) {
            let start = self.source.include(path.clone(), &text, place);
            self.open.push(path);
            self.file(start);
            self.open.pop();
        }
    }

    /// The path and the text of what is included: beside the text that includes it, or in the folders given.
    fn find(&self, name: &str, place: Span) -> Result<(String, String), Diagnostic> {
        let including = self.open.last().map_or("", String::as_str);
        match self.options.c.find(Some(including), name) {
            Some((path, Ok(text))) => return self.checked(place, path, text),
            Some((path, Err(why))) => return Err(Diagnostic::error(place, format!("{path}: {why}"))),
            None => {}
        }
        let hint = match self.options.c.loader.reads() {
            true => "it is looked for beside the text that includes it, and in the folders of -I DIR",
            false => "there are no files here: write what it says into this text",
        };
        Err(Diagnostic::error(place, format!("the text `{name}` was not found")).hint(hint))
    }

    fn checked(&self, place: Span, path: String, text: String) -> Result<(String, String), Diagnostic> {
        let wrong = |why: &str, hint: &str| Err(Diagnostic::error(place, why).hint(hint));
        if self.open.len() > limits::INCLUDES {
            return wrong("texts include each other too deeply", "include what is needed from one place");
        }
        if self.source.text().len() + text.len() > MAX_TEXT {
            return wrong(
                &format!("with `{path}` the text has more than {MAX_TEXT} bytes"),
                "split the program",
            );
        }
        match text.contains('\0') {
            true => wrong(&format!("`{path}` holds a NUL byte"), "this looks like a binary file"),
            false => Ok((path, text)),
        }
    }
}

/// The path without detours like `lib/../`.
fn same_file(path: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match (part, parts.last()) {
            (".", _) => {}
            ("..", Some(last)) if !matches!(*last, "" | "..") => drop(parts.pop()),
            _ => parts.push(part),
        }
    }
    parts.join("/")
}
