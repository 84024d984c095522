//! Inputs: finding files, reading them, handing them to a front end.

use crate::args::{InputArgs, definition};
use crate::numbers::counted;
use frontend::{DefinedNames, Diagnostic, FRONTENDS, Frontend, MAX_TEXT, Options, Parsed};
use program::{Program, Source};
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A program that was read.
pub struct Loaded {
    /// The file, as the user named it.
    pub name: String,
    /// The program.
    pub program: Program,
    /// Warnings about it.
    pub warnings: Vec<Diagnostic>,
    /// What is said once for all programs.
    pub remark: Option<&'static str>,
    /// Whether claims were left out because they hold, as reading it has shown.
    pub settled: bool,
    /// Its language.
    pub frontend: &'static Frontend,
    /// How it was read.
    pub options: Options,
}

/// A file that was found, or why it was not.
pub type FoundFile = Result<PathBuf, Box<Unreadable>>;

/// Why a program was not read.
pub struct Unreadable {
    /// The file, as the user named it.
    pub name: String,
    /// What is wrong, in a sentence without a full stop.
    pub reason: String,
    /// What is wrong with its text.
    pub diagnostics: Vec<Diagnostic>,
    /// Its text, if it is text.
    pub source: Option<Source>,
}

impl Unreadable {
    /// Nothing but a sentence is known.
    pub fn new(name: impl Into<String>, reason: impl Into<String>) -> Box<Unreadable> {
        Box::new(Unreadable {
            name: name.into(),
            reason: reason.into(),
            diagnostics: Vec::new(),
            source: None,
        })
    }
}

/// Whether a path means standard input.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// How reports name a path.
pub fn name(path: &Path) -> String {
    if is_stdin(path) { "<stdin>".to_string() } else { path.display().to_string() }
}

/// Reads a program.
pub fn load(path: &Path, input: &InputArgs) -> Result<Loaded, Box<Unreadable>> {
    let name = name(path);
    let text = text_of(path).map_err(|reason| Unreadable::new(&name, reason))?;
    let Some(frontend) = frontend::choose(input.input_format.as_deref(), &name, &text) else {
        let known: Vec<&str> = FRONTENDS.iter().map(|frontend| frontend.name).collect();
        let reason = format!("the language is not clear; name it with --input-format ({})", known.join(", "));
        return Err(Unreadable::new(name, reason));
    };
    let options = options(frontend, input).map_err(|reason| Unreadable::new(&name, reason))?;
    understood(&name, &text, frontend, options)
}

/// The program of a text in this language.
pub fn understood(
    name: &str,
    text: &str,
    frontend: &'static Frontend,
    options: Options,
) -> Result<Loaded, Box<Unreadable>> {
    match (frontend.read)(Source::new(name, text), &options) {
        Ok(Parsed { program, warnings, remark, settled }) => {
            Ok(Loaded { name: name.to_string(), program, warnings, remark, settled, frontend, options })
        }
        Err(diagnostics) => {
            let reason = counted(diagnostics.len(), "error");
            let source = Some(Source::new(name, text));
            Err(Box::new(Unreadable { name: name.to_string(), reason, diagnostics, source }))
        }
    }
}

/// How a text is to be read.
fn options(frontend: &Frontend, input: &InputArgs) -> Result<Options, String> {
    let observe_all = input.observe_all;
    match frontend.definitions {
        DefinedNames::Macros => {
            Ok(Options { observe_all, c: input.c.options(&input.define), ..Options::default() })
        }
        DefinedNames::Numbers => {
            let number = |text: &String| definition(text).map_err(|why| format!("-D {text}: {why}"));
            let defines = input.define.iter().map(number).collect::<Result<_, _>>()?;
            // Where included texts are looked for.
            Ok(Options { defines, observe_all, c: input.c.options(&[]) })
        }
    }
}

/// The text of a header, why it cannot be read, or nothing if there is none.
pub fn header(path: &str) -> Option<Result<String, String>> {
    let path = Path::new(path);
    path.is_file().then(|| text_of(path))
}

/// The text of a file or of standard input.
pub fn text_of(path: &Path) -> Result<String, String> {
    if is_stdin(path) { text(io::stdin().lock()) } else { read_file(path) }
}

/// The text of a file.
pub fn read_file(path: &Path) -> Result<String, String> {
    let file = File::open(path).map_err(|error| cannot_read(&error))?;
    if file.metadata().is_ok_and(|metadata| metadata.is_dir()) {
        return Err(cannot_read(&io::ErrorKind::IsADirectory.into()));
    }
    text(file)
}

/// What can be read, if it is text and not too large.
fn text(from: impl Read) -> Result<String, String> {
    let mut bytes = Vec::new();
    let read = from.take(MAX_TEXT as u64 + 1).read_to_end(&mut bytes);
    read.map_err(|error| cannot_read(&error))?;
    if bytes.len() > MAX_TEXT {
        return Err(format!("the file is larger than {} MB", MAX_TEXT >> 20));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        format!("this is not a text: byte {} is not UTF-8", at + 1)
    })
}

/// An error of the operating system, in our words where they are clearer.
pub fn cannot_read(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_string(),
        io::ErrorKind::PermissionDenied => "reading is not permitted".to_string(),
        io::ErrorKind::IsADirectory => "this is a folder; a file is needed here".to_string(),
        _ => format!("cannot be read: {error}"),
    }
}

/// The files that paths stand for: folders are walked for files with endings we know, in
/// order of their names. What cannot be walked is an error in its place.
pub fn expand(paths: &[PathBuf]) -> Vec<FoundFile> {
    let mut files = Vec::new();
    for path in paths {
        if is_stdin(path) || !path.is_dir() {
            files.push(Ok(path.clone()));
            continue;
        }
        let before = files.len();
        walk(path, &mut files);
        if files.len() == before {
            files.push(Err(Unreadable::new(name(path), "there is no program in this folder")));
        }
    }
    files
}

fn walk(folder: &Path, files: &mut Vec<FoundFile>) {
    let mut stack = vec![folder.to_path_buf()];
    while let Some(path) = stack.pop() {
        // Links to folders are not followed: they may lead back.
        let is_folder = path == folder || fs::symlink_metadata(&path).is_ok_and(|data| data.is_dir());
        if !is_folder {
            if path.is_file() && is_program(&path) {
                files.push(Ok(path));
            }
            continue;
        }
        let entries = fs::read_dir(&path).and_then(|entries| entries.collect::<Result<Vec<_>, _>>());
        match entries {
            Err(error) => files.push(Err(Unreadable::new(name(&path), cannot_read(&error)))),
            Ok(entries) => {
                let mut inside: Vec<PathBuf> = entries.iter().map(|entry| entry.path()).collect();
                inside.sort_unstable_by(|a, b| b.cmp(a));
                stack.extend(inside);
            }
        }
    }
}

/// Whether a file in a folder is meant for us: its ending is a language's name, or the language
/// shares its ending with other things (`.txt`) and recognises the content.
fn is_program(path: &Path) -> bool {
    let ending = path.extension().and_then(OsStr::to_str).unwrap_or("");
    let claims = |frontend: &&Frontend| frontend.extensions.contains(&ending);
    FRONTENDS.iter().filter(claims).any(|frontend| {
        frontend.name == ending || text_of(path).is_ok_and(|text| (frontend.recognises)(&text))
    })
}
