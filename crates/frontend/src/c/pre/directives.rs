//! Directives: `#include`, `#define`, `#if` and the rest.

use super::{CSection, Preprocessor, limits};
use crate::Diagnostic;
use crate::c::headers;
use crate::c::lexer::{Kind, Token};
use program::Source;
use std::rc::Rc;

impl Preprocessor<'_> {
    /// Obeys the directive behind a `#`.
    pub(super) fn directive(&mut self, sign: &Token) -> Result<(), Diagnostic> {
        let line = self.rest_of_line();
        self.spend(sign)?;
        let Some((word, rest)) = line.split_first() else { return Ok(()) };
        match &*word.text {
            "define" => self.define(word, rest),
            "undef" => {
                let name = self.name_of(rest.first(), word)?;
                self.macros.remove(&name.text);
                Ok(())
            }
            "include" | "include_next" | "import" => self.include(word, rest),
            "if" => {
                let value = self.condition(word, rest)?;
                self.section(word, value)
            }
            "ifdef" | "ifndef" => {
                let name = self.name_of(rest.first(), word)?;
                let defined = self.is_defined(&name.text);
                self.section(word, defined == (&*word.text == "ifdef"))
            }
            "elif" | "elifdef" | "elifndef" | "else" | "endif" => self.section_goes_on(word),
            "error" => {
                let error = self.files.error(word, format!("#error {}", spelled(rest)));
                Err(error.hint("-D NAME defines a macro, -I DIR adds a folder for headers"))
            }
            "warning" => {
                let warning = self.files.error(word, format!("#warning {}", spelled(rest)));
                self.warnings.push(Diagnostic::warning(warning.span, warning.message));
                Ok(())
            }
            "pragma" => {
                if rest.first().is_some_and(|token| token.is_name("once")) {
                    let name = self.files.list[word.written.file as usize].name().to_string();
                    self.once.insert(name);
                }
                Ok(())
            }
            "line" | "ident" | "sccs" | "assert" | "unassert" => Ok(()),
            // `# 12 "file.c"`, as preprocessors write it.
            _ if word.kind == Kind::Number => Ok(()),
            _ => Err(self.files.error(word, format!("`#{}` is no directive we know", word.text))),
        }
    }

    /// Starts an `#if` whose condition is known.
    fn section(&mut self, start: &Token, value: bool) -> Result<(), Diagnostic> {
        let section = CSection { start: start.clone(), taken: value, last: false };
        let Some(reading) = self.reading.last_mut() else { return Ok(()) };
        reading.sections.push(section);
        if reading.sections.len() > limits::CONDITIONALS {
            let message = format!("more than {} `#if` inside each other", limits::CONDITIONALS);
            return Err(self.files.error(start, message));
        }
        if value { Ok(()) } else { self.skip() }
    }

    /// An `#else`, `#elif` or `#endif` after a branch that was taken.
    fn section_goes_on(&mut self, word: &Token) -> Result<(), Diagnostic> {
        let no_if = self.files.error(word, format!("`#{}` without an `#if`", word.text));
        let Some(reading) = self.reading.last_mut() else { return Err(no_if) };
        if &*word.text == "endif" {
            return reading.sections.pop().map(|_| ()).ok_or(no_if);
        }
        let Some(section) = reading.sections.last_mut() else { return Err(no_if) };
        if section.last {
            return Err(self.files.error(word, format!("`#{}` behind an `#else`", word.text)));
        }
        section.last = &*word.text == "else";
        self.skip()
    }

    /// Steps over lines until a branch of the innermost section is taken or the section ends.
    fn skip(&mut self) -> Result<(), Diagnostic> {
        let mut inner = 0usize;
        loop {
            let Some(reading) = self.reading.last_mut() else { return Ok(()) };
            let rest = &reading.tokens[reading.at..];
            let Some(offset) = rest.iter().position(|token| token.first && token.is("#")) else {
                reading.at = reading.tokens.len();
                return Ok(());
            };
            reading.at += offset + 1;
            let line = self.rest_of_line();
            let Some((word, rest)) = line.split_first() else { continue };
            self.spend(word)?;
            match &*word.text {
                "if" | "ifdef" | "ifndef" => inner += 1,
                "endif" if inner > 0 => inner -= 1,
                _ if inner > 0 => {}
                "endif" => {
                    self.reading.last_mut().map(|reading| reading.sections.pop());
                    return Ok(());
                }
                "else" | "elif" | "elifdef" | "elifndef" if self.takes(word, rest)? => return Ok(()),
                _ => {}
            }
        }
    }

    /// Whether a further branch of the innermost section is the one that is taken.
    fn takes(&mut self, word: &Token, rest: &[Token]) -> Result<bool, Diagnostic> {
        let misplaced = self.files.error(word, format!("`#{}` behind an `#else`", word.text));
        let section = self.reading.last_mut().and_then(|reading| reading.sections.last_mut());
        let Some(section) = section else { return Ok(true) };
        if section.last {
            return Err(misplaced);
        }
        if &*word.text == "else" {
            section.last = true;
        }
        if section.taken {
            return Ok(false);
        }
        let value = match &*word.text {
            "else" => true,
            "elif" => self.condition(word, rest)?,
            name => {
                let tested = self.name_of(rest.first(), word)?;
                self.is_defined(&tested.text) == (name == "elifdef")
            }
        };
        let section = self.reading.last_mut().and_then(|reading| reading.sections.last_mut());
        section.into_iter().for_each(|section| section.taken = value);
        Ok(value)
    }

    fn include(&mut self, word: &Token, rest: &[Token]) -> Result<(), Diagnostic> {
        let expanded;
        let named = match rest.first() {
            Some(token) if token.kind == Kind::Text || token.is("<") => rest,
            _ => {
                expanded = self.expand_all(rest.to_vec())?;
                &expanded
            }
        };
        let (name, quoted) = match named.first() {
            Some(token) if token.kind == Kind::Text => (token.text.trim_matches('"').to_string(), true),
            Some(token) if token.is("<") => {
                let inside = named[1..].iter().take_while(|token| !token.is(">"));
                (inside.map(|token| &*token.text).collect::<String>(), false)
            }
            _ => return Err(self.files.error(word, "a file is missing: `#include \"file.h\"`")),
        };
        self.include_named(word, &name, quoted)
    }

    fn include_named(&mut self, word: &Token, name: &str, quoted: bool) -> Result<(), Diagnostic> {
        let mut token = word.clone();
        // The place in the main text is the whole directive.
        if word.written.file == 0
            && let Some(reading) = self.reading.last()
            && let Some(last) = reading.tokens.get(reading.at.saturating_sub(1))
        {
            token.span = token.span.to(last.span);
        }
        match self.find(word, name, quoted)? {
            Some(source) if self.once.contains(source.name()) => Ok(()),
            Some(source) => self.open(Rc::new(source), Some(&token)),
            None => {
                let known = headers::BUNDLED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
                let error = self.files.error(&token, format!("the header `{name}` was not found"));
                Err(error.hint(format!("-I DIR adds a folder; these come with the program: {known}")))
            }
        }
    }

    /// The text of a header: beside the file that includes it, in the folders given, or our own.
    pub(super) fn find(&self, word: &Token, name: &str, quoted: bool) -> Result<Option<Source>, Diagnostic> {
        let including = self.files.list.get(word.written.file as usize).map_or("", |source| source.name());
        match self.options.find(Some(including).filter(|_| quoted), name) {
            Some((path, Ok(text))) => Ok(Some(Source::new(path, text))),
            Some((path, Err(why))) => Err(self.files.error(word, format!("{path}: {why}"))),
            None => Ok(headers::bundled(name).map(|text| Source::new(format!("<{name}>"), text))),
        }
    }
}

/// Tokens as they would be written.
pub(super) fn spelled(tokens: &[Token]) -> String {
    let mut out = String::new();
    for token in tokens {
        if token.blank && !out.is_empty() {
            out.push(' ');
        }
        out += &token.text;
    }
    out
}
