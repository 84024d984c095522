//! Programs of the `.fw` language as trees, and their text: a statement per line, so that a failing
//! test can take lines away.

use program::{Arith, Relation};

/// Shared variables `x0`, `x1` beside the array `a`.
pub const VARIABLES: usize = 2;
/// Cells of the array.
pub const CELLS: usize = 3;
/// Registers `r0`, … of a thread; functions have as many, the first two are parameters.
pub const REGISTERS: usize = 3;

/// An expression.
#[derive(Clone, Debug)]
pub enum E {
    Const(i64),
    /// A constant that fits no machine word.
    Huge,
    Register(usize),
    Variable(usize),
    Cell(Box<E>),
    Negative(Box<E>),
    Binary(Arith, Box<E>, Box<E>),
    Compare(Relation, Box<E>, Box<E>),
    Not(Box<E>),
    And(Box<E>, Box<E>),
    Or(Box<E>, Box<E>),
    Cas(Target, Box<E>, Box<E>),
    Swap(Target, Box<E>),
    FetchAdd(Target, Box<E>),
    Call(usize, Box<E>, Box<E>),
}

/// What is assigned to.
#[derive(Clone, Debug)]
pub enum Target {
    Variable(usize),
    Cell(Box<E>),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum S {
    Skip,
    Register(usize, E),
    Store(Target, E),
    /// A register becomes any integer, or one of a range.
    AnyRegister(usize, Option<(i64, i64)>),
    /// The same for a variable.
    AnyStore(Target, Option<(i64, i64)>),
    If(E, Vec<S>, Vec<S>),
    While(E, Vec<S>),
    Loop(Vec<S>),
    /// The name of the counter, and how often.
    For(usize, usize, Vec<S>),
    Choose(Vec<Vec<S>>),
    Atomic(Vec<S>),
    /// One step that is an atomic section.
    Locked(Vec<S>),
    /// One step that sees the thread's own stores.
    Together(Vec<S>),
    Lock,
    Unlock,
    /// `true` for a fence of stores only.
    Fence(bool),
    Await(E),
    Assume(E),
    Assert(E),
    Arw(Target, E, E),
    Evaluate(E),
    Label(usize),
    Goto(usize),
    Break,
    Continue,
    Stop,
    Return(E),
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    /// Shared variables as they are declared.
    pub shared: Vec<String>,
    /// Functions `f0`, … of two parameters.
    pub functions: Vec<Vec<S>>,
    /// Threads `P0`, …
    pub threads: Vec<Vec<S>>,
    /// Properties.
    pub claims: Vec<String>,
}

impl E {
    pub fn text(&self) -> String {
        match self {
            E::Const(value) => format!("({value})"),
            E::Huge => "18446744073709551617".to_string(),
            E::Register(r) => format!("r{r}"),
            E::Variable(v) => format!("x{v}"),
            E::Cell(index) => format!("a[{}]", index.text()),
            E::Negative(e) => format!("(-{})", e.text()),
            E::Binary(op, a, b) => format!("({} {} {})", a.text(), sign(*op), b.text()),
            E::Compare(relation, a, b) => format!("({} {} {})", a.text(), relation.sign(), b.text()),
            E::Not(e) => format!("!{}", e.text()),
            E::And(a, b) => format!("({} && {})", a.text(), b.text()),
            E::Or(a, b) => format!("({} || {})", a.text(), b.text()),
            E::Cas(target, old, new) => format!("cas({}, {}, {})", target.text(), old.text(), new.text()),
            E::Swap(target, value) => format!("swap({}, {})", target.text(), value.text()),
            E::FetchAdd(target, value) => format!("fetch_add({}, {})", target.text(), value.text()),
            E::Call(f, a, b) => format!("f{f}({}, {})", a.text(), b.text()),
        }
    }
}

fn sign(op: Arith) -> &'static str {
    match op {
        Arith::Add => "+",
        Arith::Sub => "-",
        Arith::Mul => "*",
        Arith::Div => "/",
        Arith::Rem => "%",
        Arith::And => "&",
        Arith::Or => "|",
        Arith::Xor => "^",
    }
}

impl Target {
    pub fn text(&self) -> String {
        match self {
            Target::Variable(v) => format!("x{v}"),
            Target::Cell(index) => format!("a[{}]", index.text()),
        }
    }
}

/// `any`, or one of a range.
pub fn any(range: Option<(i64, i64)>) -> String {
    range.map_or("any".to_string(), |(low, high)| format!("any in {low}..{high}"))
}

impl S {
    /// The statement lists inside this one.
    pub fn bodies(&self) -> Vec<&[S]> {
        match self {
            S::If(_, yes, no) => vec![yes, no],
            S::While(_, body) | S::Loop(body) | S::For(.., body) => vec![body],
            S::Atomic(body) | S::Locked(body) | S::Together(body) => vec![body],
            S::Choose(ways) => ways.iter().map(Vec::as_slice).collect(),
            _ => Vec::new(),
        }
    }

    /// What stands before each of its bodies; nothing before one that is not written.
    fn heads(&self) -> Vec<String> {
        let word = |word: &str| vec![word.to_string()];
        match self {
            S::If(c, _, no) if no.is_empty() => vec![format!("if ({})", c.text())],
            S::If(c, ..) => vec![format!("if ({})", c.text()), "else".to_string()],
            S::While(c, _) => vec![format!("while ({})", c.text())],
            S::Loop(_) => word("loop"),
            S::For(name, count, _) => vec![format!("for i{name} in 0..{count}")],
            S::Choose(ways) => {
                let head = |at: usize| if at == 0 { "choose" } else { "or" };
                (0..ways.len()).map(|at| head(at).to_string()).collect()
            }
            S::Atomic(_) => word("atomic"),
            S::Locked(_) => word("locked"),
            S::Together(_) => word("together"),
            _ => Vec::new(),
        }
    }

    /// A statement without others in it.
    fn plain(&self) -> String {
        match self {
            S::Register(r, e) => format!("r{r} = {};", e.text()),
            S::Store(target, e) => format!("{} = {};", target.text(), e.text()),
            S::AnyRegister(r, range) => format!("r{r} = {};", any(*range)),
            S::AnyStore(target, range) => format!("{} = {};", target.text(), any(*range)),
            S::Await(c) => format!("await {};", c.text()),
            S::Assume(c) => format!("assume {};", c.text()),
            S::Assert(c) => format!("assert {};", c.text()),
            S::Arw(target, old, new) => format!("arw({}, {}, {});", target.text(), old.text(), new.text()),
            S::Evaluate(e) => format!("{};", e.text()),
            S::Return(e) => format!("return {};", e.text()),
            S::Label(label) => format!("l{label}:"),
            S::Goto(label) => format!("goto l{label};"),
            S::Lock => "lock;".to_string(),
            S::Unlock => "unlock;".to_string(),
            S::Fence(false) => "fence;".to_string(),
            S::Fence(true) => "fence store;".to_string(),
            S::Break => "break;".to_string(),
            S::Continue => "continue;".to_string(),
            S::Stop => "stop;".to_string(),
            _ => "skip;".to_string(),
        }
    }

    fn lines(&self, out: &mut Vec<String>) {
        let bodies = self.bodies();
        if bodies.is_empty() {
            return out.push(self.plain());
        }
        for (head, body) in self.heads().iter().zip(bodies) {
            enclosed(head, None, body, out);
        }
    }
}

fn enclosed(head: &str, declared: Option<&str>, body: &[S], out: &mut Vec<String>) {
    out.push(format!("{head} {{"));
    out.extend(declared.map(str::to_string));
    body.iter().for_each(|s| s.lines(out));
    out.push("}".to_string());
}

impl Whole {
    /// The program, a statement or brace a line.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("shared {};", self.shared.join(", "))];
        for (at, body) in self.functions.iter().enumerate() {
            // Just an expression is used like one.
            let local = if matches!(body.as_slice(), [S::Return(_)]) { None } else { Some("let r2;") };
            enclosed(&format!("fn f{at}(r0, r1)"), local, body, &mut lines);
        }
        for (at, body) in self.threads.iter().enumerate() {
            enclosed(&format!("thread P{at}"), Some("let r0, r1, r2;"), body, &mut lines);
        }
        lines.extend(self.claims.iter().cloned());
        lines.join("\n") + "\n"
    }
}
