//! What a page knows of a text while somebody types: what is wrong with it, and its names.

use super::PageText;
use crate::commands::{keyword_help, warned};
use crate::input::{Loaded, Unreadable, understood};
use crate::report::{MARKERS, text_range};
use frontend::{Diagnostic, FRONTENDS, Index, MAX_TEXT, Options, Severity, SymbolKind};
use machine::MODELS;
use program::{KEYWORDS, Program, Source};
use serde_json::{Value, json};

/// More names than this are not offered.
const MOST_NAMES: usize = 1000;

/// The program of a text, or why there is none.
pub fn loaded(name: &str, text: &str) -> Result<Loaded, Box<Unreadable>> {
    if text.len() > MAX_TEXT {
        return Err(Unreadable::new(name, format!("the text is larger than {} MB", MAX_TEXT >> 20)));
    }
    match frontend::choose(None, name, text) {
        Some(frontend) => understood(name, text, frontend, Options::default()),
        None => Err(Unreadable::new(name, "the language is not clear; give the file one of its endings")),
    }
}

/// What is wrong with a text, and which names it has.
pub fn read(text: &PageText) -> Value {
    let language = frontend::choose(None, &text.name, &text.text);
    let index = language.and_then(|language| language.index);
    let source = Source::new(&*text.name, &*text.text);
    let mut answer = match loaded(&text.name, &text.text).map(warned) {
        Ok(loaded) => json!({
            "readable": true,
            "litmus": loaded.program.question.is_some(),
            "diagnostics": diagnostics(&source, &loaded.warnings),
            "names": names_of_program(&loaded.program),
        }),
        Err(unreadable) => json!({
            "readable": false,
            "reason": unreadable.reason,
            "diagnostics": diagnostics(&source, &unreadable.diagnostics),
            "names": [],
        }),
    };
    if let Some(index) = index {
        answer["names"] = names_of_index(&index(&text.text, &Options::default()));
    }
    answer["language"] = language.map(|language| language.name).into();
    answer
}

/// Places are counted as JavaScript counts characters.
fn diagnostics(source: &Source, all: &[Diagnostic]) -> Value {
    let units = |byte: usize| source.text()[..byte].encode_utf16().count();
    let one = |diagnostic: &Diagnostic| {
        let place = text_range(source, diagnostic.span).unwrap_or(0..0);
        json!({
            "severity": if diagnostic.severity == Severity::Error { "error" } else { "warning" },
            "from": units(place.start),
            "to": units(place.end),
            "message": diagnostic.message,
            "hint": diagnostic.hint,
        })
    };
    all.iter().map(one).collect()
}

fn names_of_index(index: &Index) -> Value {
    let kind = |kind| match kind {
        SymbolKind::Constant => "constant",
        SymbolKind::Variable => "variable",
        SymbolKind::Function => "function",
        SymbolKind::Thread | SymbolKind::Struct => "class",
        SymbolKind::Label => "text",
        SymbolKind::Parameter | SymbolKind::Register | SymbolKind::Counter | SymbolKind::Field => "property",
    };
    let symbols = index.symbols.iter().take(MOST_NAMES);
    symbols.map(|s| json!({"label": s.name, "type": kind(s.kind), "detail": s.detail})).collect()
}

fn names_of_program(program: &Program) -> Value {
    let variables = program.variables.iter().map(|v| (v.name.as_str(), "variable", "shared"));
    let threads = program.threads.iter().map(|t| (t.name.as_str(), "class", "thread"));
    let all = variables.chain(threads).take(MOST_NAMES);
    all.map(|(name, kind, detail)| json!({"label": name, "type": kind, "detail": detail})).collect()
}

/// The words of our language, languages, models, who we are, and the arrow heads of pictures.
pub fn words() -> Value {
    let help = |word: &&str| json!({"label": word, "type": "keyword", "info": keyword_help(word)});
    let languages = FRONTENDS.iter().map(|f| json!({"name": f.name, "endings": f.extensions}));
    json!({
        "version": env!("CARGO_PKG_VERSION"),
        "keywords": KEYWORDS.iter().map(help).collect::<Vec<_>>(),
        "languages": languages.collect::<Vec<_>>(),
        "markers": MARKERS,
        "models": MODELS.iter().map(|model| model.name()).collect::<Vec<_>>(),
    })
}
