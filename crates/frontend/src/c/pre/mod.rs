//! The preprocessor: a text and what it includes as one list of tokens.
//!
//! Macros are expanded with a set of hidden names in every token (the algorithm that the standard's
//! wording was made from), so the result is what a compiler sees, token by token. Every token keeps
//! where it is written and which macros it came from; all of them stand for a place in the main
//! text. Whatever input can ask for is bounded: tokens, includes, arguments inside arguments.

mod condition;
mod directives;
mod macros;

use super::lexer::{Kind, Token, Written, tokens};
use super::{COptions, headers, limits};
use crate::Diagnostic;
use macros::CMacro;
use program::{Source, Span};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// The texts that were read, the main one first.
#[derive(Debug, Default)]
pub struct CFiles {
    list: Vec<Rc<Source>>,
}

/// What came out.
pub struct Preprocessed {
    pub tokens: Vec<Token>,
    pub files: CFiles,
    pub warnings: Vec<Diagnostic>,
}

/// A file that is being read.
struct CReading {
    tokens: Rc<Vec<Token>>,
    at: usize,
    /// The conditional sections around us.
    sections: Vec<CSection>,
}

/// An `#if … #endif`.
struct CSection {
    start: Token,
    /// Whether some branch was taken.
    taken: bool,
    /// Whether the `#else` has come.
    last: bool,
}

pub(super) struct Preprocessor<'o> {
    options: &'o COptions,
    files: CFiles,
    macros: HashMap<Rc<str>, Rc<CMacro>>,
    reading: Vec<CReading>,
    /// Tokens that come before the rest of the file, last first.
    pending: Vec<Token>,
    once: HashSet<String>,
    warnings: Vec<Diagnostic>,
    counter: usize,
    /// Tokens that were looked at.
    spent: usize,
    /// Arguments inside arguments.
    depth: usize,
}

impl CFiles {
    /// Line and column (from 1) of a place in a file.
    fn position(&self, written: Written) -> (&str, usize, usize) {
        let Some(source) = self.list.get(written.file as usize) else { return ("?", 0, 0) };
        let line = source.line(written.span).unwrap_or(0);
        let start = (written.span.start as usize).min(source.text().len());
        let before = source.text().get(..start).unwrap_or_default();
        let column = before[before.rfind('\n').map_or(0, |at| at + 1)..].chars().count() + 1;
        (source.name(), line, column)
    }

    /// An error about a token: at its place in the main text, with the file that it is written in
    /// and the macros that it came from.
    pub fn error(&self, token: &Token, message: impl Into<String>) -> Diagnostic {
        let mut message = message.into();
        let place = |written| {
            let (name, line, column) = self.position(written);
            format!("{name}:{line}:{column}")
        };
        if token.written.file != 0 || token.trail.is_some() {
            message += &format!(" ({}", place(token.written));
            for trail in token.trails().take(5) {
                message += &format!(", in the macro `{}` called at {}", trail.name, place(trail.called));
            }
            let count = token.trails().count();
            if count > 5 {
                message += &format!(", in {} more macros", count - 5);
            }
            message += ")";
        }
        Diagnostic::error(token.span, message)
    }
}

/// Preprocesses a text.
pub fn preprocess(source: &Source, options: &COptions) -> Result<Preprocessed, Diagnostic> {
    let mut preprocessor = Preprocessor {
        options,
        files: CFiles::default(),
        macros: HashMap::new(),
        reading: Vec::new(),
        pending: Vec::new(),
        once: HashSet::new(),
        warnings: Vec::new(),
        counter: 0,
        spent: 0,
        depth: 0,
    };
    preprocessor.predefine()?;
    preprocessor.open(Rc::new(source.clone()), None)?;
    let tokens = preprocessor.all()?;
    Ok(Preprocessed { tokens, files: preprocessor.files, warnings: preprocessor.warnings })
}

impl Preprocessor<'_> {
    /// The macros that are there from the start, and those of the command line.
    fn predefine(&mut self) -> Result<(), Diagnostic> {
        let mut text = String::from(headers::PREDEFINED);
        for (name, value) in &self.options.defines {
            text += &format!("#define {name} {value}\n");
        }
        for name in &self.options.undefines {
            text += &format!("#undef {name}\n");
        }
        // File 0 is the main text; this one goes nowhere.
        let list = tokens(&text, 0, Some(Span::NONE)).map_err(|(span, why)| Diagnostic::error(span, why))?;
        self.reading.push(CReading { tokens: Rc::new(list), at: 0, sections: Vec::new() });
        let rest = self.all().map_err(|error| {
            Diagnostic::error(
                Span::NONE,
                format!("a definition of the command line cannot be read: {}", error.message),
            )
        })?;
        match rest.first() {
            None => Ok(()),
            Some(_) => Err(Diagnostic::error(Span::NONE, "a definition of the command line is no macro")),
        }
    }

    /// Goes on in a file.
    fn open(&mut self, source: Rc<Source>, included: Option<&Token>) -> Result<(), Diagnostic> {
        let file = u16::try_from(self.files.list.len());
        let (Ok(file), true) = (file, self.reading.len() < limits::INCLUDES) else {
            let message =
                format!("files are included more than {} deep, or too many of them", limits::INCLUDES);
            let hint = "does a file include itself? `#pragma once` or an include guard helps";
            return Err(match included {
                Some(token) => self.files.error(token, message).hint(hint),
                None => Diagnostic::error(Span::NONE, message),
            });
        };
        self.files.list.push(Rc::clone(&source));
        let list = tokens(source.text(), file, included.map(|token| token.span)).map_err(|(span, why)| {
            match included {
                Some(token) => self.files.error(token, format!("{}: {why}", source.name())),
                None => Diagnostic::error(span, why),
            }
        })?;
        self.reading.push(CReading { tokens: Rc::new(list), at: 0, sections: Vec::new() });
        Ok(())
    }

    fn all(&mut self) -> Result<Vec<Token>, Diagnostic> {
        let mut out = Vec::new();
        while let Some(token) = self.next_raw()? {
            if let Some(token) = self.expand(token)? {
                if out.len() >= limits::TOKENS {
                    return Err(self.too_much(&token));
                }
                out.push(token);
            }
        }
        Ok(out)
    }

    fn too_much(&self, token: &Token) -> Diagnostic {
        let message = format!("the text has more than {} tokens once macros are expanded", limits::TOKENS);
        self.files.error(token, message).hint("does a macro double what it is given again and again?")
    }

    /// Counts a token that was looked at.
    fn spend(&mut self, token: &Token) -> Result<(), Diagnostic> {
        self.spent += 1;
        if self.spent > 2 * limits::TOKENS { Err(self.too_much(token)) } else { Ok(()) }
    }

    /// The next token, macros not yet expanded; directives on the way are obeyed.
    fn next_raw(&mut self) -> Result<Option<Token>, Diagnostic> {
        loop {
            if let Some(token) = self.pending.pop() {
                self.spend(&token)?;
                return Ok(Some(token));
            }
            let Some(reading) = self.reading.last_mut() else { return Ok(None) };
            let Some(token) = reading.tokens.get(reading.at).cloned() else {
                if let Some(section) = reading.sections.last() {
                    return Err(self.files.error(&section.start, "this `#if` has no `#endif`"));
                }
                self.reading.pop();
                continue;
            };
            reading.at += 1;
            if token.first && token.is("#") {
                self.directive(&token)?;
                continue;
            }
            self.spend(&token)?;
            return Ok(Some(token));
        }
    }

    /// The rest of the line, of the file that is being read.
    fn rest_of_line(&mut self) -> Vec<Token> {
        let Some(reading) = self.reading.last_mut() else { return Vec::new() };
        let rest = &reading.tokens[reading.at..];
        let line: Vec<Token> = rest.iter().take_while(|token| !token.first).cloned().collect();
        reading.at += line.len();
        line
    }

    fn name_of<'t>(&self, token: Option<&'t Token>, directive: &Token) -> Result<&'t Token, Diagnostic> {
        match token {
            Some(token) if token.kind == Kind::Name => Ok(token),
            Some(token) => Err(self.files.error(token, "a macro name is expected here")),
            None => Err(self.files.error(directive, "a macro name is missing behind this")),
        }
    }
}
