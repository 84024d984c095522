//! An open text, and what one version of it says.

use super::lines::{IndexedText, LspRange};
use super::settings::Settings;
use super::verdict::TextVerdict;
use crate::commands::warned;
use crate::input::{Loaded, understood};
use frontend::{
    DefinedNames, Diagnostic, FRONTENDS, Frontend, Index, Loader, MAX_TEXT, Options, Severity, SymbolKind,
};
use program::{Int, Span};
use serde_json::{Value, json};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

/// A text that the client has opened.
pub struct Document {
    /// Its version, as the client counts.
    pub version: i64,
    /// The text.
    pub text: IndexedText,
    /// What the client calls its language.
    pub language: String,
    /// What the text says, if somebody has read this version.
    pub reading: Option<Arc<DocumentVersion>>,
    /// Whether the client knows what is wrong with this version.
    pub published: bool,
    /// When to verify it.
    pub due: Option<Instant>,
    /// What verifying this version found.
    pub outcome: Option<TextVerdict>,
}

impl Document {
    /// A text that was just opened.
    pub fn new(version: i64, text: String, language: String) -> Document {
        let text = IndexedText::new(text);
        Document { version, text, language, reading: None, published: false, due: None, outcome: None }
    }

    /// Forgets what was known of its text, so that it is read and verified anew.
    pub fn forget(&mut self) {
        (self.reading, self.outcome, self.published, self.due) = (None, None, false, None);
    }

    /// What this version says.
    pub fn read(&mut self, uri: &str, settings: &Settings) -> Arc<DocumentVersion> {
        let read = || Arc::new(DocumentVersion::new(uri, self.version, &self.text, &self.language, settings));
        Arc::clone(self.reading.get_or_insert_with(read))
    }
}

/// What one version of a text says.
pub struct DocumentVersion {
    /// Whose text it is.
    pub uri: String,
    /// Which version.
    pub version: i64,
    /// The text.
    pub text: IndexedText,
    /// The program, if it is one.
    pub loaded: Option<Loaded>,
    /// What is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
    /// Its language, if that is clear.
    pub frontend: Option<&'static Frontend>,
    options: Options,
    index: OnceLock<Index>,
}

impl DocumentVersion {
    fn new(
        uri: &str,
        version: i64,
        text: &IndexedText,
        language: &str,
        settings: &Settings,
    ) -> DocumentVersion {
        let name = file_name(uri);
        let language = if language == "fencewright" { "fw" } else { language };
        let language = FRONTENDS.iter().map(|frontend| frontend.name).find(|name| *name == language);
        let mut reading = DocumentVersion {
            uri: uri.to_string(),
            version,
            text: text.clone(),
            loaded: None,
            diagnostics: Vec::new(),
            frontend: frontend::choose(language, &name, text.as_str()),
            options: Options::default(),
            index: OnceLock::new(),
        };
        reading.load(name, settings);
        reading
    }

    fn load(&mut self, name: String, settings: &Settings) {
        let Some(frontend) = self.frontend else {
            let message = "the language is not clear from the file's ending or its content";
            self.diagnostics = vec![Diagnostic::warning(Span::NONE, message)];
            return;
        };
        if self.text.as_str().len() > MAX_TEXT {
            let message = format!("the text is larger than {} MB", MAX_TEXT >> 20);
            self.diagnostics = vec![Diagnostic::error(Span::NONE, message)];
            return;
        }
        self.options.c.folders = folder(&self.uri).into_iter().collect();
        self.options.c.loader = Loader::new(crate::input::header);
        if frontend.definitions == DefinedNames::Macros {
            let text = |(name, value): &(String, Int)| (name.clone(), value.to_string());
            self.options.c.defines = settings.defines.iter().map(text).collect();
        }
        if let Some(index) = frontend.index.filter(|_| !settings.defines.is_empty()) {
            // Settings are for all files, and not every file has all the constants.
            let index = index(self.text.as_str(), &Options::default());
            let constant =
                |name: &str| index.symbols.iter().any(|s| s.kind == SymbolKind::Constant && s.name == name);
            let defines = settings.defines.iter().filter(|(name, _)| constant(name)).cloned();
            self.options.defines = defines.collect();
        }
        match understood(&name, self.text.as_str(), frontend, self.options.clone()).map(warned) {
            Err(unreadable) => self.diagnostics = unreadable.diagnostics,
            Ok(loaded) => {
                self.diagnostics = loaded.warnings.clone();
                self.loaded = Some(loaded);
            }
        }
    }

    /// Its names, if its language lists them.
    pub fn index(&self) -> Option<&Index> {
        let index = self.frontend?.index.filter(|_| self.text.as_str().len() <= MAX_TEXT)?;
        Some(self.index.get_or_init(|| index(self.text.as_str(), &self.options)))
    }

    /// Where a place is in this text; for what stands in an included text, where that is included.
    pub fn place(&self, span: Span) -> LspRange {
        let source = self.loaded.as_ref().map(|loaded| &loaded.program.source);
        self.text.range(source.map_or(span, |source| source.in_main(span)))
    }

    /// What is wrong with it, as the protocol wants it.
    pub fn problems(&self, related: bool) -> Vec<Value> {
        self.diagnostics.iter().map(|diagnostic| self.problem(diagnostic, related)).collect()
    }

    fn problem(&self, diagnostic: &Diagnostic, related: bool) -> Value {
        let severity = match diagnostic.severity {
            Severity::Error => 1,
            Severity::Warning => 2,
        };
        let mut message = diagnostic.message.clone();
        if !diagnostic.label.is_empty() && !message.contains(&diagnostic.label) {
            message += &format!(": {}", diagnostic.label);
        }
        if let Some(hint) = &diagnostic.hint {
            message += &format!("\nhelp: {hint}");
        }
        let source = diagnostic.source.as_ref();
        if let Some(line) =
            source.and_then(|source| source.place(diagnostic.span)).filter(|l| l.file.is_some())
        {
            message = format!("line {line}: {message}");
        }
        let range = |span| self.text.range(source.map_or(span, |source| source.in_main(span)));
        let mut problem = json!({"range": range(diagnostic.span), "severity": severity, "source": "fencewright", "message": message});
        if related && !diagnostic.related.is_empty() {
            let place = |(span, remark): &(Span, String)| self.related(range(*span), remark);
            problem["relatedInformation"] = diagnostic.related.iter().map(place).collect();
        }
        problem
    }

    /// A remark about another place.
    pub fn related(&self, range: LspRange, remark: &str) -> Value {
        json!({"location": {"uri": self.uri, "range": range}, "message": remark})
    }
}

/// The file name at the end of an address.
fn file_name(uri: &str) -> String {
    let path = uri.split(['?', '#']).next().unwrap_or_default();
    decoded(path.rsplit('/').next().unwrap_or_default())
}

/// The folder of a file, where its headers may be.
fn folder(uri: &str) -> Option<String> {
    let path = uri.split(['?', '#']).next().unwrap_or_default().strip_prefix("file://")?;
    path.rsplit_once('/').map(|(folder, _)| decoded(folder))
}

/// A part of an address with `%20` and the like decoded.
fn decoded(part: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = part.as_bytes();
    while let Some((first, tail)) = rest.split_first() {
        let digits = tail.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        match digits.and_then(|two| u8::from_str_radix(two, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            None => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_files_are_decoded() {
        assert_eq!(file_name("file:///a/my%20lock.fw"), "my lock.fw");
        assert_eq!(file_name("untitled:Untitled-1"), "untitled:Untitled-1");
        assert_eq!(file_name("file:///a/%C3%A4.fw?x#y"), "ä.fw");
        assert_eq!(file_name("file:///a/%zz%4"), "%zz%4");
        assert_eq!(file_name(""), "");
        assert_eq!(folder("file:///a/my%20locks/x.c").as_deref(), Some("/a/my locks"));
        assert_eq!(folder("untitled:Untitled-1"), None);
    }
}
