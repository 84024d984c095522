//! Trencher's text to threads, states and transitions. The format is words between blanks.

use crate::{Diagnostic, check_nesting};
use program::{Arith, Int, Relation, Span};
use std::collections::{BTreeSet, HashMap};

const MAX_DIGITS: usize = 400;
const MAX_THREADS: usize = 256;
const MAX_TRANSITIONS: usize = 20_000;
/// States times registers of all threads, which is what the search for addresses keeps.
const MAX_KNOWLEDGE: usize = 2_000_000;

/// An expression; registers are numbers into the thread's list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Expression {
    Number(Int),
    Register(usize),
    Not(Box<Expression>),
    Apply(TrencherOperator, Box<Expression>, Box<Expression>),
}

impl Expression {
    /// Adds the registers it mentions.
    pub(super) fn mention(&self, found: &mut BTreeSet<usize>) {
        match self {
            Expression::Number(_) => {}
            Expression::Register(register) => {
                found.insert(*register);
            }
            Expression::Not(inner) => inner.mention(found),
            Expression::Apply(_, a, b) => {
                a.mention(found);
                b.mention(found);
            }
        }
    }
}

/// What a transition does.
#[derive(Clone, Debug)]
pub(super) enum TrencherInstruction {
    Read { register: usize, address: Expression },
    Write { value: Expression, address: Expression },
    Local { register: usize, value: Expression },
    Check(Expression),
    Fence,
    Noop,
    Lock,
    Unlock,
}

/// A transition between two states, which are numbers into the thread's list.
#[derive(Clone, Debug)]
pub(super) struct Transition {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) instruction: TrencherInstruction,
    pub(super) span: Span,
}

/// A thread.
#[derive(Clone, Debug, Default)]
pub(super) struct TrencherThread {
    pub(super) name: String,
    pub(super) initial: usize,
    /// The states of the goal, with their places in the text.
    pub(super) finals: Vec<(usize, Span)>,
    pub(super) states: Vec<String>,
    pub(super) registers: Vec<String>,
    pub(super) transitions: Vec<Transition>,
}

type Word<'a> = (&'a str, Span);

/// The words of a text without its comments, which run from `#` to the end of the line.
pub(super) fn words(text: &str) -> Vec<Word<'_>> {
    let mut found = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let code = line.split_once('#').map_or(line, |(code, _)| code);
        let mut at = 0;
        while let Some(skip) = code[at..].find(|c: char| !c.is_whitespace()) {
            let first = at + skip;
            let length = code[first..].find(char::is_whitespace).unwrap_or(code.len() - first);
            at = first + length;
            found.push((&code[first..at], Span::new(start + first, start + at)));
        }
        start += line.len();
    }
    found
}

/// Reads all threads.
pub(super) fn parse(text: &str) -> Result<Vec<TrencherThread>, Diagnostic> {
    let end = text.trim_end().len();
    let mut parser = TrencherParser {
        words: words(text),
        at: 0,
        end: Span::new(end, end),
        thread: TrencherThread::default(),
        states: HashMap::new(),
        registers: HashMap::new(),
        knowledge: 0,
    };
    let mut threads: Vec<TrencherThread> = Vec::new();
    while parser.at < parser.words.len() {
        let name = parser.words.get(parser.at + 1).map_or(parser.end, |(_, span)| *span);
        let thread = parser.thread()?;
        if threads.iter().any(|other| other.name == thread.name) {
            return Err(Diagnostic::error(name, format!("there are two threads named `{}`", thread.name)));
        }
        if threads.len() >= MAX_THREADS {
            return Err(Diagnostic::error(name, format!("there are more than {MAX_THREADS} threads")));
        }
        parser.knowledge += thread.states.len() * thread.registers.len();
        threads.push(thread);
    }
    if threads.is_empty() {
        return Err(Diagnostic::error(parser.end, "there are no threads in this text"));
    }
    Ok(threads)
}

struct TrencherParser<'a> {
    words: Vec<Word<'a>>,
    at: usize,
    end: Span,
    thread: TrencherThread,
    states: HashMap<&'a str, usize>,
    registers: HashMap<&'a str, usize>,
    /// States times registers of the threads before this one.
    knowledge: usize,
}

impl<'a> TrencherParser<'a> {
    fn next(&mut self, wanted: &str) -> Result<Word<'a>, Diagnostic> {
        let word = self.words.get(self.at).copied();
        self.at += usize::from(word.is_some());
        word.ok_or_else(|| Diagnostic::error(self.end, format!("expected {wanted}, found the end")))
    }

    fn last(&self) -> Span {
        self.at.checked_sub(1).and_then(|at| self.words.get(at)).map_or(self.end, |(_, span)| *span)
    }

    fn thread(&mut self) -> Result<TrencherThread, Diagnostic> {
        let (word, start) = self.next("`thread`")?;
        if word != "thread" {
            return Err(Diagnostic::error(start, format!("expected `thread`, found `{word}`")));
        }
        self.thread =
            TrencherThread { name: self.next("a name")?.0.to_string(), ..TrencherThread::default() };
        self.states.clear();
        self.registers.clear();
        let mut initial = None;
        loop {
            let wanted = "`initial`, `transition`, `final` or `end`";
            let (word, span) = self.next(wanted)?;
            match word {
                "initial" => initial = Some(self.state()?),
                "final" => {
                    let state = self.state()?;
                    self.thread.finals.push((state, span.to(self.last())));
                }
                "transition" => self.transition(span)?,
                "end" => break,
                _ => return Err(Diagnostic::error(span, format!("expected {wanted}, found `{word}`"))),
            }
        }
        let Some(initial) = initial else {
            let message = format!("the thread `{}` has no initial state", self.thread.name);
            return Err(Diagnostic::error(start, message).hint("add a line like `initial q0`"));
        };
        self.thread.initial = initial;
        Ok(std::mem::take(&mut self.thread))
    }

    fn state(&mut self) -> Result<usize, Diagnostic> {
        let (name, _) = self.next("a state")?;
        Ok(number_of(&mut self.states, &mut self.thread.states, name))
    }

    fn transition(&mut self, start: Span) -> Result<(), Diagnostic> {
        let (from, to) = (self.state()?, self.state()?);
        let (word, span) = self.next("an instruction")?;
        let instruction = match word {
            "read" => TrencherInstruction::Read { register: self.register()?, address: self.expression(0)? },
            "write" => {
                TrencherInstruction::Write { value: self.expression(0)?, address: self.expression(0)? }
            }
            "local" => TrencherInstruction::Local { register: self.register()?, value: self.expression(0)? },
            "check" => TrencherInstruction::Check(self.expression(0)?),
            "mfence" => TrencherInstruction::Fence,
            "noop" => TrencherInstruction::Noop,
            "lock" => TrencherInstruction::Lock,
            "unlock" => TrencherInstruction::Unlock,
            _ => return Err(Diagnostic::error(span, format!("there is no instruction `{word}`"))),
        };
        let knowledge = self.knowledge + self.thread.states.len() * self.thread.registers.len();
        if self.thread.transitions.len() >= MAX_TRANSITIONS || knowledge > MAX_KNOWLEDGE {
            return Err(Diagnostic::error(span, "this thread is too large"));
        }
        let span = start.to(self.last());
        self.thread.transitions.push(Transition { from, to, instruction, span });
        Ok(())
    }

    fn register(&mut self) -> Result<usize, Diagnostic> {
        let (name, span) = self.next("a register")?;
        if !is_register(name) {
            return Err(Diagnostic::error(span, format!("expected a register, found `{name}`")));
        }
        Ok(number_of(&mut self.registers, &mut self.thread.registers, name))
    }

    fn expression(&mut self, depth: usize) -> Result<Expression, Diagnostic> {
        let (word, span) = self.next("an expression")?;
        check_nesting(depth, span)?;
        if word == "!" {
            return Ok(Expression::Not(Box::new(self.expression(depth + 1)?)));
        }
        if let Some(operator) = operator(word) {
            let left = Box::new(self.expression(depth + 1)?);
            let right = Box::new(self.expression(depth + 1)?);
            return Ok(Expression::Apply(operator, left, right));
        }
        if !is_register(word) {
            let value = Int::parse_bytes(word.as_bytes(), 10).filter(|_| word.len() <= MAX_DIGITS);
            let error = || Diagnostic::error(span, format!("`{word}` is neither a number nor a register"));
            return value.map(Expression::Number).ok_or_else(error);
        }
        let register = number_of(&mut self.registers, &mut self.thread.registers, word);
        Ok(Expression::Register(register))
    }
}

fn number_of<'a>(known: &mut HashMap<&'a str, usize>, names: &mut Vec<String>, name: &'a str) -> usize {
    *known.entry(name).or_insert_with(|| {
        names.push(name.to_string());
        names.len() - 1
    })
}

/// A register is a word that does not start like a number and is no operator.
fn is_register(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$' || c == '%' && word.len() > 1)
}

/// A two-place operator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TrencherOperator {
    And,
    Or,
    Compare(Relation),
    Compute(Arith),
}

fn operator(word: &str) -> Option<TrencherOperator> {
    Some(match word {
        "&&" => TrencherOperator::And,
        "||" => TrencherOperator::Or,
        "==" => TrencherOperator::Compare(Relation::Eq),
        "!=" => TrencherOperator::Compare(Relation::Ne),
        "<" => TrencherOperator::Compare(Relation::Lt),
        "<=" => TrencherOperator::Compare(Relation::Le),
        ">" => TrencherOperator::Compare(Relation::Gt),
        ">=" => TrencherOperator::Compare(Relation::Ge),
        "+" => TrencherOperator::Compute(Arith::Add),
        "-" => TrencherOperator::Compute(Arith::Sub),
        "*" => TrencherOperator::Compute(Arith::Mul),
        "/" => TrencherOperator::Compute(Arith::Div),
        "%" => TrencherOperator::Compute(Arith::Rem),
        "&" => TrencherOperator::Compute(Arith::And),
        _ => return None,
    })
}
