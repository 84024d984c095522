//! The names a text uses for what ids stand for.
//!
//! Reports use the names of the source. The printer must give a text that reads back, so it
//! mends names that are no identifiers, that are taken, or that clash across kinds.

use crate::{Loc, Place, Program, RegId, ThreadId, VarId};
use std::collections::HashSet;

/// Words that mean something in `.fw` and therefore cannot name anything.
pub const KEYWORDS: &[&str] = &[
    "any",
    "arw",
    "assert",
    "assume",
    "atomic",
    "await",
    "break",
    "cas",
    "choose",
    "const",
    "continue",
    "else",
    "false",
    "fence",
    "fetch_add",
    "finally",
    "fn",
    "for",
    "goto",
    "if",
    "in",
    "let",
    "loop",
    "never",
    "or",
    "predicates",
    "return",
    "shared",
    "skip",
    "swap",
    "thread",
    "true",
    "while",
];

/// Whether a word is reserved in `.fw`.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.contains(&word)
}

/// One name for every variable, thread, register and location.
#[derive(Clone, Debug)]
pub struct Names {
    variables: Vec<String>,
    threads: Vec<String>,
    registers: Vec<Vec<String>>,
    labels: Vec<Vec<String>>,
}

impl Names {
    /// The names as the source has them; a location without a label is called `L` and its number.
    pub fn original(program: &Program) -> Names {
        Names {
            variables: program.variables.iter().map(|v| v.name.clone()).collect(),
            threads: program.threads.iter().map(|t| t.name.clone()).collect(),
            registers: program.threads.iter().map(|t| t.registers.clone()).collect(),
            labels: program.thread_ids().map(|t| labels(program, t, &mut HashSet::new())).collect(),
        }
    }

    /// Names that read back: identifiers, distinct wherever the language wants them distinct.
    pub fn printable(program: &Program) -> Names {
        let mut taken = HashSet::new();
        let variables = variables(program, &mut taken);
        let threads = program.threads.iter().map(|t| fresh(&t.name, &mut taken)).collect();
        let mut registers = Vec::new();
        let mut all_labels = Vec::new();
        for id in program.thread_ids() {
            let mut local = taken.clone();
            let names = &program.thread(id).registers;
            registers.push(names.iter().map(|r| fresh(r, &mut local)).collect());
            all_labels.push(labels(program, id, &mut local));
        }
        Names { variables, threads, registers, labels: all_labels }
    }

    /// The name of a variable.
    pub fn variable(&self, id: VarId) -> &str {
        &self.variables[id.index()]
    }

    /// The name of a thread.
    pub fn thread(&self, id: ThreadId) -> &str {
        &self.threads[id.index()]
    }

    /// The name of a register.
    pub fn register(&self, thread: ThreadId, id: RegId) -> &str {
        &self.registers[thread.index()][id.index()]
    }

    /// The label of a location.
    pub fn label(&self, thread: ThreadId, loc: Loc) -> &str {
        &self.labels[thread.index()][loc.index()]
    }

    /// How a property names a place.
    pub fn place(&self, place: &Place) -> String {
        match *place {
            Place::At(t, l) => format!("{}@{}", self.thread(t), self.label(t, l)),
            Place::Register(t, r) => format!("{}.{}", self.thread(t), self.register(t, r)),
            Place::Memory(v) => self.variable(v).to_string(),
            Place::Drained(t) => format!("empty({})", self.thread(t)),
        }
    }
}

/// Cells of an array keep their names if the whole array stands together in order.
fn variables(program: &Program, taken: &mut HashSet<String>) -> Vec<String> {
    let mut names = Vec::new();
    while names.len() < program.variables.len() {
        let rest = &program.variables[names.len()..];
        match split_cell(&rest[0].name) {
            Some((array, 0)) if is_identifier(array) && !taken.contains(array) => {
                let cells = rest.iter().enumerate();
                let cells = cells.take_while(|(at, v)| split_cell(&v.name) == Some((array, *at))).count();
                let array = fresh(array, taken);
                names.extend((0..cells).map(|at| format!("{array}[{at}]")));
            }
            _ => names.push(fresh(&rest[0].name, taken)),
        }
    }
    names
}

/// `("flag", 1)` for `flag[1]`.
pub(crate) fn split_cell(name: &str) -> Option<(&str, usize)> {
    let (array, index) = name.strip_suffix(']')?.split_once('[')?;
    Some((array, index.parse().ok()?))
}

fn labels(program: &Program, id: ThreadId, taken: &mut HashSet<String>) -> Vec<String> {
    let thread = program.thread(id);
    // Labels of the source come first, so that made-up ones give way to them.
    let mut names: Vec<Option<String>> = thread
        .locs()
        .map(|loc| thread.location(loc).labels.first().map(|label| fresh(label, taken)))
        .collect();
    for (at, name) in names.iter_mut().enumerate() {
        name.get_or_insert_with(|| fresh(&format!("L{at}"), taken));
    }
    names.into_iter().flatten().collect()
}

fn is_identifier(name: &str) -> bool {
    let mut bytes = name.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic() || b == b'_')
        && bytes.all(|b| b.is_ascii_alphanumeric() || b == b'_')
        && !is_keyword(name)
}

fn fresh(wanted: &str, taken: &mut HashSet<String>) -> String {
    let word = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let mut name: String = wanted.chars().map(word).collect();
    while name.ends_with('_') && name.len() > 1 && wanted.ends_with(']') {
        name.pop();
    }
    if !is_identifier(&name) {
        name.insert(0, '_');
    }
    take_name(&name, &[], taken)
}

/// A name that is not reserved and not taken: `wanted`, or that with a number; it is taken now.
pub fn take_name(wanted: &str, reserved: &[&str], taken: &mut HashSet<String>) -> String {
    let mut tried = wanted.to_string();
    let mut count = 1;
    while reserved.contains(&&*tried) || !taken.insert(tried.clone()) {
        count += 1;
        tried = format!("{wanted}_{count}");
    }
    tried
}
