//! Where results are: files as URIs, places as regions, runs as flows.

use crate::report::TextRegion;
use crate::report::steps::{ShownStep, describe_all};
use machine::{Account, Action, ReadFrom};
use program::{Program, VarId};
use serde_json::{Value, json};
use std::fmt::Write;
use std::path::{Component, Path};

/// A file as a URI: relative if it stands in or below the current folder.
pub fn uri(file: &str) -> String {
    if file == "<stdin>" {
        return "stdin".to_string();
    }
    let path = Path::new(file);
    let here = std::env::current_dir().ok();
    let below = here.and_then(|here| path.strip_prefix(here).ok().map(Path::to_path_buf));
    let path = below.as_deref().unwrap_or(path);
    let mut parts = Vec::new();
    for component in path.components() {
        match component {
            Component::CurDir | Component::RootDir => {}
            Component::ParentDir => parts.push("..".to_string()),
            Component::Prefix(drive) => parts.push(encoded(&drive.as_os_str().to_string_lossy())),
            Component::Normal(name) => parts.push(encoded(&name.to_string_lossy())),
        }
    }
    let root = if path.is_absolute() { "file:///" } else { "" };
    format!("{root}{}", parts.join("/"))
}

/// A name with everything but letters, digits and `-._~` percent-encoded.
fn encoded(name: &str) -> String {
    let mut out = String::new();
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            let _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A place in a file, or its first line.
pub fn physical(file: &str, place: Option<TextRegion>) -> Value {
    json!({
        "artifactLocation": artifact(file),
        "region": place.map_or(json!({"startLine": 1}), region),
    })
}

/// A file; one below the current folder is meant relative to wherever the sources are.
pub fn artifact(file: &str) -> Value {
    let uri = uri(file);
    if uri.starts_with("file:") {
        return json!({"uri": uri});
    }
    json!({"uri": uri, "uriBaseId": "%SRCROOT%"})
}

/// A place as a region.
pub fn region(place: TextRegion) -> Value {
    json!({
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    })
}

/// A place with a remark.
pub fn remark(file: &str, place: Option<TextRegion>, text: &str) -> Value {
    json!({"physicalLocation": physical(file, place), "message": message(text)})
}

/// A message. What looks like a link in a program's text stays text.
pub fn message(text: &str) -> Value {
    json!({"text": text.replace("](", "\\](")})
}

/// A run, step by step. All threads in one flow, because their interleaving is what matters.
pub struct CodeFlow<'a> {
    /// The file.
    pub file: &'a str,
    /// The program.
    pub program: &'a Program,
    steps: Vec<ShownStep<'a>>,
}

impl<'a> CodeFlow<'a> {
    /// The flow of a run.
    pub fn new(file: &'a str, program: &'a Program, account: &'a Account) -> CodeFlow<'a> {
        CodeFlow { file, program, steps: describe_all(program, account) }
    }

    /// Where a step stands; a drain stands where the store that drains does.
    pub fn place(&self, step: usize) -> Option<TextRegion> {
        let step = self.steps.get(step)?;
        let span = step.drained.map_or(step.span, |store| self.steps[store].span);
        TextRegion::of(&self.program.source, span)
    }

    /// As SARIF wants it; `cause` is the step that SC would not allow.
    pub fn json(&self, cause: Option<usize>) -> Value {
        let location = |(at, step): (usize, &ShownStep<'_>)| {
            let text = step_text(self.program, step);
            let last = at + 1 == self.steps.len();
            json!({
                "location": remark(self.file, self.place(at), &text),
                "executionOrder": at + 1,
                "importance": if last || cause == Some(at) { "essential" } else { "important" },
            })
        };
        let locations: Vec<Value> = self.steps.iter().enumerate().map(location).collect();
        json!([{"threadFlows": [{"locations": locations}]}])
    }
}

/// A step in a line: who, what, and with which values.
fn step_text(program: &Program, step: &ShownStep<'_>) -> String {
    let variable = |v: &VarId| &program.variable(*v).name;
    let thread = program.thread(step.thread);
    let effects = step.actions.iter().map(|effect| match effect {
        Action::Load(v, value, ReadFrom::OwnBuffer(_)) => {
            format!("{} read {value} from its own buffer", variable(v))
        }
        Action::Load(v, value, _) => format!("{} read {value}", variable(v)),
        Action::Store(v, value, false) => format!("{} = {value} in memory", variable(v)),
        Action::Store(v, value, true) => format!("{} = {value} goes to its buffer", variable(v)),
        Action::Drain(v, value, _) => format!("{} = {value} reaches memory", variable(v)),
        Action::Assign(r, value) | Action::Choose(r, value) => {
            format!("{} = {value}", thread.registers[r.index()])
        }
    });
    let effects = effects.collect::<Vec<_>>().join(", ");
    let parts: Vec<&str> = [step.text.as_str(), &effects].into_iter().filter(|p| !p.is_empty()).collect();
    format!("{}: {}", thread.name, parts.join(": "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_become_uris() {
        for (file, expected) in [
            ("peterson.fw", "peterson.fw"),
            ("./locks/a b.fw", "locks/a%20b.fw"),
            ("../ä:1.fw", "../%C3%A4%3A1.fw"),
            ("<stdin>", "stdin"),
            ("/nowhere/x.fw", "file:///nowhere/x.fw"),
            ("a\u{1}<b>\".fw", "a%01%3Cb%3E%22.fw"),
        ] {
            assert_eq!(uri(file), expected);
        }
        let here = std::env::current_dir().expect("there is one");
        assert_eq!(uri(&here.join("x.fw").to_string_lossy()), "x.fw");
    }

    #[test]
    fn what_looks_like_a_link_stays_text() {
        assert_eq!(message("never a[0](1)")["text"], "never a[0\\](1)");
        assert_eq!(message("never a[0] == 1")["text"], "never a[0] == 1");
    }
}
