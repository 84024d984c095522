//! The TextMate grammar for `.fw`: its expressions are sound, and what it says of every word of the
//! language and of the corpus is what the language means.
//!
//! A grammar is a list of rules; at each place of a line the rule that matches first wins, and
//! among those the first in the list. That is all an editor does, so a few lines do it here.

use program::KEYWORDS;
use regex::Regex;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// A rule: what it matches, and how its groups are called (group 0 is all of it).
struct Rule {
    begin: Regex,
    /// Set if it goes on until this.
    end: Option<Regex>,
    scopes: Vec<(usize, String)>,
}

/// Words that mean something only in their place, as the language's parser knows them.
const IN_PLACE: [&str; 10] =
    ["store", "stop", "fail", "lock", "unlock", "locked", "together", "do", "include", "membarrier"];

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

fn json(path: &str) -> Value {
    let text = std::fs::read_to_string(root().join(path)).unwrap_or_else(|e| panic!("{path}: {e}"));
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{path}: {e}"))
}

fn rules() -> Vec<Rule> {
    let grammar = json("editors/textmate/fencewright.tmLanguage.json");
    let mut rules = Vec::new();
    flatten(&grammar, &grammar, &mut rules);
    assert!(rules.len() > 20, "the rules were not found");
    rules
}

fn flatten(grammar: &Value, rule: &Value, out: &mut Vec<Rule>) {
    if let Some(name) = rule["include"].as_str() {
        let name = name.strip_prefix('#').expect("only our own rules are included");
        let included = &grammar["repository"][name];
        assert!(included.is_object(), "there is no rule {name}");
        return flatten(grammar, included, out);
    }
    for inner in rule["patterns"].as_array().into_iter().flatten() {
        flatten(grammar, inner, out);
    }
    let regex = |key: &str| rule[key].as_str().map(|text| Regex::new(text).unwrap_or_else(|e| panic!("{e}")));
    let Some(begin) = regex("match").or_else(|| regex("begin")) else { return };
    let mut scopes: Vec<(usize, String)> = Vec::new();
    scopes.extend(rule["name"].as_str().map(|name| (0, name.to_string())));
    for (group, capture) in rule["captures"].as_object().into_iter().flatten() {
        let group: usize = group.parse().expect("a number");
        assert!(group < begin.captures_len(), "{begin} has no group {group}");
        scopes.push((group, capture["name"].as_str().expect("a name").to_string()));
    }
    assert!(scopes.iter().all(|(_, name)| name.ends_with(".fencewright")), "{scopes:?}");
    out.push(Rule { begin, end: regex("end"), scopes });
}

/// The scope of every byte of a text.
fn scopes(rules: &[Rule], text: &str) -> Vec<String> {
    let mut scopes = vec![String::new(); text.len()];
    let mut open: Option<&Rule> = None;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches('\n');
        let mut at = 0;
        while at <= body.len() {
            if let Some(rule) = open {
                let end = rule.end.as_ref().expect("only such rules stay open").find_at(body, at);
                let until = end.map_or(body.len(), |found| found.end());
                scopes[start + at..start + until].fill(rule.scopes[0].1.clone());
                at = until;
                if end.is_none() {
                    break;
                }
                open = None;
                continue;
            }
            let found = rules.iter().filter_map(|rule| Some((rule.begin.captures_at(body, at)?, rule)));
            let first = found.min_by_key(|(found, _)| found.get(0).map_or(usize::MAX, |m| m.start()));
            let Some((found, rule)) = first else { break };
            for (group, scope) in &rule.scopes {
                if let Some(piece) = found.get(*group) {
                    scopes[start + piece.start()..start + piece.end()].fill(scope.clone());
                }
            }
            let whole = found.get(0).expect("it matched");
            assert!(whole.end() > at, "{} matches nothing at all", rule.begin);
            at = whole.end();
            open = rule.end.is_some().then_some(rule);
        }
        start += line.len();
    }
    scopes
}

fn check(text: &str, word: &str, scope: &str) {
    let rules = rules();
    let at = text.find(word).expect("the word is there");
    let found = &scopes(&rules, text)[at..at + word.len()];
    assert!(found.iter().all(|f| f.starts_with(scope)), "{word} in {text}: {found:?} instead of {scope}");
}

fn is_reserved(scope: &str) -> bool {
    ["keyword.control", "keyword.other", "storage.type", "support.function", "constant.language"]
        .iter()
        .any(|start| scope.starts_with(start))
}

#[test]
fn every_keyword_is_one() {
    let rules = rules();
    for keyword in KEYWORDS {
        for text in
            [keyword.to_string(), format!("{keyword} x"), format!("  {keyword}(x)"), format!("{keyword}{{")]
        {
            let at = text.find(keyword).expect("it is there");
            let found = &scopes(&rules, &text)[at..at + keyword.len()];
            assert!(found.iter().all(|scope| is_reserved(scope)), "{keyword} in `{text}`: {found:?}");
        }
        // Names that only contain it are none.
        for name in
            [format!("{keyword}s"), format!("x{keyword}"), format!("{keyword}_2"), format!("_{keyword}")]
        {
            if !KEYWORDS.contains(&name.as_str()) {
                check(&format!("{name} = 1;"), &name, "variable.other");
            }
        }
    }
}

#[test]
fn words_have_the_scope_of_what_they_are() {
    check("thread P(i in 0..2) {", "P", "entity.name.type.thread");
    check("fn other(k) {", "other", "entity.name.function");
    check("x = other(1);", "other", "entity.name.function");
    check("r = cmpxchg(x, 0, 1);", "cmpxchg", "support.function.atomic");
    check("do { skip; } while (r == 0);", "do", "keyword.control");
    check("r = 0x1F;", "0x1F", "constant.numeric");
    check("const N = 2;", "N", "variable.other.constant");
    check("cs: skip;", "cs", "entity.name.label");
    check("goto again;", "again", "entity.name.label");
    check("never P0@cs && x == 1;", "P0", "entity.name.type.thread");
    check("never P0@cs && x == 1;", "cs", "entity.name.label");
    check("never P[i]@here;", "here", "entity.name.label");
    check("x = 12;", "12", "constant.numeric");
    check("x = any;", "any", "constant.language");
    check("fence store;", "store", "keyword.other.fence");
    check("store = 1;", "store", "variable.other");
    check("if (r == 7) { stop; }", "stop", "keyword.control");
    check("stop = 1;", "stop", "variable.other");
    check("include \"locks.fw\";", "include", "keyword.control");
    check("include = 1;", "include", "variable.other");
    check("membarrier;", "membarrier", "keyword.control");
    check("x = 1; // never mind", "never", "comment.line");
    check("x = 1; /* never\n mind */ y = 2;", "mind", "comment.block");
    check("x = 1; /* never\n mind */ y = 2;", "y", "variable.other");
    check("if (a && b) {", "&&", "keyword.operator.logical");
}

/// Blanks instead of comments.
fn without_comments(text: &str) -> String {
    let comment = Regex::new(r"//[^\n]*|/\*(?s:.*?)\*/").expect("an expression");
    comment.replace_all(text, |found: &regex::Captures<'_>| " ".repeat(found[0].len())).into_owned()
}

#[test]
fn the_corpus_is_coloured_as_it_is_meant() {
    let rules = rules();
    let word = Regex::new(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+|\S").expect("an expression");
    let (mut files, mut reserved) = (0, 0);
    let entries = std::fs::read_dir(root().join("corpus")).expect("the corpus is there");
    for path in entries.map(|entry| entry.expect("readable").path()).filter(|path| is_fw(path)) {
        let text = std::fs::read_to_string(&path).expect("a text");
        let found = scopes(&rules, &text);
        files += 1;
        for piece in word.find_iter(&without_comments(&text)) {
            let scope = &found[piece.start()];
            let place = || format!("`{}` at byte {} of {}", piece.as_str(), piece.start(), path.display());
            assert!(found[piece.range()].iter().all(|s| s == scope), "{} is cut", place());
            assert!(!scope.is_empty() && !scope.starts_with("comment"), "{}: {scope}", place());
            let expected = KEYWORDS.contains(&piece.as_str());
            if !IN_PLACE.contains(&piece.as_str()) {
                assert_eq!(is_reserved(scope), expected, "{}: {scope}", place());
            }
            reserved += usize::from(expected);
        }
        for (at, _) in text.match_indices("//") {
            assert!(found[at].starts_with("comment"), "{}: {}", path.display(), found[at]);
        }
    }
    assert!(files > 50 && reserved > 1000, "{files} files, {reserved} keywords");
}

fn is_fw(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "fw")
}

#[test]
fn the_extension_names_what_exists() {
    let package = json("editors/vscode/package.json");
    for file in ["main", "/contributes/languages/0/configuration"] {
        let path = package.pointer(file).or(package.get(file)).and_then(Value::as_str).expect("a path");
        assert!(root().join("editors/vscode").join(path).is_file(), "{path}");
    }
    json("editors/vscode/language-configuration.json");
    let grammar = json("editors/textmate/fencewright.tmLanguage.json");
    assert_eq!(package["contributes"]["grammars"][0]["scopeName"], grammar["scopeName"]);
    let languages = package["contributes"]["languages"].as_array().expect("a list");
    let known: Vec<&str> = frontend::FRONTENDS.iter().map(|frontend| frontend.name).collect();
    for id in languages.iter().filter_map(|language| language["id"].as_str()) {
        assert!(id == "fencewright" || known.contains(&id), "{id}");
    }
    assert_eq!(package["version"].as_str(), Some(env!("CARGO_PKG_VERSION")));
}
