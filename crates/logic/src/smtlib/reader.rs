//! A reader for scripts of the kind we write: declarations of integer constants
//! and assertions of linear formulas. Whatever else a script may contain is an
//! error with its line, never a guess.

use std::fmt;
use std::iter::Peekable;
use std::str::Chars;

use crate::int::Int;
use crate::terms::atom::Atom;
use crate::terms::formula::Formula;
use crate::terms::linear::Linear;
use crate::terms::table::Terms;

/// Nesting beyond this is refused, so that reading needs bounded stack.
const MAX_DEPTH: usize = 256;

/// What a script declares and asserts.
#[derive(Clone, Default)]
pub struct Script {
    /// The declared variables.
    pub terms: Terms,
    /// The asserted formulas, in order.
    pub assertions: Vec<Formula>,
}

/// What is wrong with a script, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// The line, counted from one.
    pub line: usize,
    /// What is wrong.
    pub message: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.message)
    }
}

impl std::error::Error for ReadError {}

type Read<T> = Result<T, ReadError>;

/// Reads a script.
///
/// ```
/// use logic::{read_smtlib, smtlib_script};
/// let text = "(declare-const x Int)\n(assert (or (< (* 2 x) 5) (= (mod x 3) 1)))";
/// let script = read_smtlib(text)?;
/// let written = smtlib_script(&script.terms, &script.assertions);
/// assert_eq!(read_smtlib(&written)?.assertions, script.assertions);
/// assert_eq!(read_smtlib("(push 1)").err().map(|e| e.line), Some(1));
/// # Ok::<(), logic::ReadError>(())
/// ```
pub fn read_smtlib(text: &str) -> Read<Script> {
    let mut script = Script::default();
    for command in parse(text)? {
        script.command(&command)?;
    }
    Ok(script)
}

enum Tree {
    Word { text: String, quoted: bool, line: usize },
    List { parts: Vec<Tree>, line: usize },
}

impl Tree {
    fn line(&self) -> usize {
        match self {
            Tree::Word { line, .. } | Tree::List { line, .. } => *line,
        }
    }

    fn word(&self) -> Option<&str> {
        match self {
            Tree::Word { text, .. } => Some(text),
            Tree::List { .. } => None,
        }
    }

    /// The unquoted head and the arguments of a list.
    fn call(&self) -> Option<(&str, &[Tree])> {
        match self {
            Tree::List { parts, .. } => match parts.split_first()? {
                (Tree::Word { text, quoted: false, .. }, rest) => Some((text, rest)),
                _ => None,
            },
            Tree::Word { .. } => None,
        }
    }

    fn error<T>(&self, message: impl Into<String>) -> Read<T> {
        Err(ReadError { line: self.line(), message: message.into() })
    }
}

/// Reads all trees of a text, without recursion.
fn parse(text: &str) -> Read<Vec<Tree>> {
    let mut open: Vec<(Vec<Tree>, usize)> = Vec::new();
    let mut done = Vec::new();
    let mut line = 1;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let tree = match c {
            '\n' => {
                line += 1;
                continue;
            }
            ';' => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                continue;
            }
            c if c.is_whitespace() => continue,
            '(' if open.len() >= MAX_DEPTH => return error(line, "nested too deeply"),
            '(' => {
                open.push((Vec::new(), line));
                continue;
            }
            ')' => match open.pop() {
                Some((parts, line)) => Tree::List { parts, line },
                None => return error(line, "unmatched `)`"),
            },
            first => word(first, &mut chars, &mut line)?,
        };
        match open.last_mut() {
            Some((parts, _)) => parts.push(tree),
            None => done.push(tree),
        }
    }
    match open.pop() {
        Some((_, line)) => error(line, "unmatched `(`"),
        None => Ok(done),
    }
}

fn error<T>(line: usize, message: &str) -> Read<T> {
    Err(ReadError { line, message: message.into() })
}

fn word(first: char, chars: &mut Peekable<Chars<'_>>, line: &mut usize) -> Read<Tree> {
    let start = *line;
    if first == '|' || first == '"' {
        let text = quoted(chars, first, line)?;
        return Ok(Tree::Word { text, quoted: true, line: start });
    }
    let mut text = String::from(first);
    while let Some(c) = chars.next_if(|c| !c.is_whitespace() && !"()|\";".contains(*c)) {
        text.push(c);
    }
    Ok(Tree::Word { text, quoted: false, line: start })
}

fn quoted(chars: &mut impl Iterator<Item = char>, quote: char, line: &mut usize) -> Read<String> {
    let (start, mut text) = (*line, String::new());
    let unclosed = || ReadError { line: start, message: "unclosed quotation".into() };
    loop {
        match chars.next().ok_or_else(unclosed)? {
            c if c == quote => return Ok(text),
            '%' => {
                let digits: String = chars.by_ref().take(2).collect();
                let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                let error = || ReadError { line: start, message: "`%` needs two hexadecimal digits".into() };
                text.push(code.ok_or_else(error)?);
            }
            c => {
                *line += usize::from(c == '\n');
                text.push(c);
            }
        }
    }
}

impl Script {
    fn command(&mut self, tree: &Tree) -> Read<()> {
        let Some((name, arguments)) = tree.call() else {
            return tree.error("expected a command");
        };
        match (name, arguments) {
            ("set-logic" | "set-info" | "set-option", _) | ("check-sat" | "exit" | "get-model", []) => Ok(()),
            ("declare-const", [name, sort]) => self.declare(name, sort),
            ("declare-fun", [name, Tree::List { parts, .. }, sort]) if parts.is_empty() => {
                self.declare(name, sort)
            }
            ("assert", [formula]) => {
                let formula = self.formula(formula)?;
                self.assertions.push(formula);
                Ok(())
            }
            _ => tree.error(format!("unknown command `{name}`")),
        }
    }

    fn declare(&mut self, name: &Tree, sort: &Tree) -> Read<()> {
        match (name.word(), sort.word()) {
            (Some(name), Some("Int")) => {
                self.terms.var(name);
                Ok(())
            }
            _ => name.error("expected an integer constant"),
        }
    }

    fn formula(&self, tree: &Tree) -> Read<Formula> {
        match tree.word() {
            Some("true") => return Ok(Formula::truth(true)),
            Some("false") => return Ok(Formula::truth(false)),
            _ => {}
        }
        let Some((name, arguments)) = tree.call() else {
            return tree.error("expected a formula");
        };
        let parts = || arguments.iter().map(|part| self.formula(part)).collect::<Read<Vec<Formula>>>();
        match (name, arguments) {
            ("and", _) => Ok(Formula::and(parts()?)),
            ("or", _) => Ok(Formula::or(parts()?)),
            ("not", [inner]) => Ok(self.formula(inner)?.negate()),
            ("=>", [left, right]) => Ok(self.formula(left)?.implies(&self.formula(right)?)),
            ("<=" | "<" | ">=" | ">" | "=" | "distinct", [left, right]) => {
                Ok(Formula::from(self.atom(name, left, right)?))
            }
            _ => tree.error(format!("unknown formula `{name}`")),
        }
    }

    fn atom(&self, relation: &str, left: &Tree, right: &Tree) -> Read<Atom> {
        if let Some(("mod", [expr, divisor])) = left.call() {
            return self.residue(relation, expr, divisor, right);
        }
        let (left, right) = (self.linear(left)?, self.linear(right)?);
        Ok(match relation {
            "<=" => Atom::le(left, right),
            "<" => Atom::lt(left, right),
            ">=" => Atom::ge(left, right),
            ">" => Atom::gt(left, right),
            "=" => Atom::eq(left, right),
            _ => Atom::ne(left, right),
        })
    }

    /// `(= (mod e d) r)` is divisibility of `e − r`, if `r` is a possible remainder.
    fn residue(&self, relation: &str, expr: &Tree, divisor: &Tree, rest: &Tree) -> Read<Atom> {
        let (expr, rest_value) = (self.linear(expr)?, self.number(rest)?);
        let modulus = self.number(divisor)?;
        if modulus.is_zero() || !matches!(relation, "=" | "distinct") {
            return divisor.error("expected an equation of a remainder by a number other than zero");
        }
        let possible = rest_value.signum() >= 0 && rest_value < modulus.abs();
        let atom = match possible {
            true => Atom::divides(modulus, expr - rest_value),
            false => Atom::truth(false),
        };
        Ok(if relation == "=" { atom } else { atom.negate() })
    }

    fn number(&self, tree: &Tree) -> Read<Int> {
        let expr = self.linear(tree)?;
        if !expr.is_constant() {
            return tree.error("expected a number");
        }
        Ok(expr.constant().clone())
    }

    fn linear(&self, tree: &Tree) -> Read<Linear> {
        if let Tree::Word { text, quoted, .. } = tree {
            let numeral = !quoted && text.starts_with(|c: char| c.is_ascii_digit());
            return match (numeral, text.parse::<Int>(), self.terms.find(text)) {
                (true, Ok(number), _) => Ok(Linear::from(number)),
                (false, _, Some(var)) => Ok(Linear::from(var)),
                _ => tree.error(format!("unknown constant `{text}`")),
            };
        }
        let Some((name, arguments)) = tree.call() else {
            return tree.error("expected a sum");
        };
        let parts = arguments.iter().map(|part| self.linear(part)).collect::<Read<Vec<Linear>>>()?;
        match (name, parts.as_slice()) {
            ("+", _) => Ok(parts.into_iter().fold(Linear::default(), |sum, part| sum + part)),
            ("-", [only]) => Ok(-only.clone()),
            ("-", [first, rest @ ..]) => Ok(rest.iter().fold(first.clone(), |sum, part| sum - part)),
            ("*", [factor, expr]) | ("*", [expr, factor]) if factor.is_constant() => {
                Ok(expr.times(factor.constant()))
            }
            _ => tree.error(format!("`{name}` is not linear arithmetic")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::smtlib::smtlib_script;

    #[track_caller]
    fn round_trip(text: &str) {
        let first = read_smtlib(text).unwrap_or_else(|e| panic!("{text}: {e}"));
        let written = smtlib_script(&first.terms, &first.assertions);
        let second = read_smtlib(&written).unwrap_or_else(|e| panic!("{written}: {e}"));
        let again = smtlib_script(&second.terms, &second.assertions);
        assert_eq!(written, again);
    }

    #[test]
    fn what_we_write_we_read() {
        let declare = "(declare-const x Int)(declare-fun |a b| () Int)(declare-const |p%7cq| Int)(declare-const mod! Int)";
        for formula in [
            "true",
            "(<= x 3)",
            "(not (= (+ x (* (- 2) |a b|)) (- 99999999999999999999)))",
            "(or (= (mod (+ x 1) 3) 0) (and (< x |p%7cq|) (distinct x mod!)))",
            "(=> (>= x 0) (not (and (> x 1) (or (= x 5) (= x 7)))))",
            "(not (= (mod (* 2 x) 5) 4))",
            "(= (mod x 3) 7)",
        ] {
            round_trip(&format!("{declare}\n(assert {formula}) ; comment\n(check-sat)"));
        }
    }

    #[test]
    fn bad_scripts_are_errors_with_a_line() {
        for (text, line) in [
            ("(assert (<= x 3))", 1),
            ("(declare-const x Int)\n(assert (<= (* x x) 3))", 2),
            ("(declare-const x Real)", 1),
            ("\n\n(assert", 3),
            (")", 1),
            ("(declare-const |x", 1),
            ("(declare-const |%zz| Int)", 1),
            ("x", 1),
            ("(declare-const x Int)(assert (= (mod x 0) 0))", 1),
            ("(assert ())", 1),
            ("(assert (- ))", 1),
            ("(assert (< 1 (-)))", 1),
        ] {
            assert_eq!(read_smtlib(text).err().map(|e| e.line), Some(line), "{text}");
        }
        let deep = "(".repeat(100_000);
        assert!(read_smtlib(&deep).is_err());
        let deep = format!("(assert {}true{})", "(not ".repeat(5000), ")".repeat(5000));
        assert!(read_smtlib(&deep).is_err());
    }
}
