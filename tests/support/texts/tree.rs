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
    /// `<<`, or with `false` `>>`.
    Shift(bool, Box<E>, Box<E>),
    /// `c ? a : b`
    Conditional(Box<[E; 3]>),
    Not(Box<E>),
    And(Box<E>, Box<E>),
    Or(Box<E>, Box<E>),
    Cas(Target, Box<E>, Box<E>),
    /// A `cas` that is the value before.
    Cmpxchg(Target, Box<E>, Box<E>),
    Swap(Target, Box<E>),
    Fetch(Arith, Target, Box<E>),
    Call(usize, Box<E>, Box<E>),
    /// What is there.
    Part(Root, Vec<Step>),
}

/// What is assigned to.
#[derive(Clone, Debug)]
pub enum Target {
    Variable(usize),
    Cell(Box<E>),
    /// A register; in few places.
    Register(usize),
    Part(Root, Vec<Step>),
}

/// What arrays and structs there are beside `a`, and the parameters that stand for places of the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Root {
    /// `g[2][2]`
    Grid,
    /// `Pair s`
    Record,
    /// `Pair p[2]`
    Records,
    /// `m[2]`, registers of a thread
    OwnCells,
    /// `Pair k`, registers of a thread
    OwnRecord,
    /// `&u` or `&v`
    Lent(usize),
}

/// One part of the way from a [`Root`] to a number.
#[derive(Clone, Debug)]
pub enum Step {
    Index(E),
    /// The field `one`, a number.
    One,
    /// The field `two`, an array.
    Two,
}

/// Length of every array but `a`.
pub const SMALL: usize = 2;
/// The struct that roots are made of, and how many numbers it has.
pub const PAIR: &str = "struct Pair { one = 1, two[2] }";
pub const PAIR_SIZE: usize = 3;

impl Root {
    /// Those that are shared.
    pub const SHARED: [Root; 3] = [Root::Grid, Root::Record, Root::Records];
    pub const OWN: [Root; 2] = [Root::OwnCells, Root::OwnRecord];

    fn name(self) -> &'static str {
        match self {
            Root::Grid => "g",
            Root::Record => "s",
            Root::Records => "p",
            Root::OwnCells => "m",
            Root::OwnRecord => "k",
            Root::Lent(0) => "u",
            Root::Lent(_) => "v",
        }
    }

    /// How it is declared, after `shared` or `let`.
    pub fn declared(self) -> &'static str {
        match self {
            Root::Grid => "g[2][2] = {0, {1, 2}}",
            Root::Record => "Pair s",
            Root::Records => "Pair p[2] = {{0, {1, 0}}, {2, 1}}",
            Root::OwnCells => "m[2] = {0, 1}",
            Root::OwnRecord => "Pair k",
            Root::Lent(_) => "",
        }
    }

    pub fn text(self, path: &[Step]) -> String {
        let step = |step: &Step| match step {
            Step::Index(index) => format!("[{}]", index.text()),
            Step::One => ".one".to_string(),
            Step::Two => ".two".to_string(),
        };
        self.name().to_string() + &path.iter().map(step).collect::<String>()
    }
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
    Membarrier,
    /// `x += e;` and its like; `None` for `x++;` and `x--;`, which are of `+` and `-`.
    Update(Target, Updating, Option<E>),
    DoWhile(Vec<S>, E),
    Switch(E, Vec<Case>),
    /// A call of `h0`, … that lends two places and gives a value.
    Lend(usize, Target, Target, E),
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

/// The operator of `x += e;` and its like.
#[derive(Clone, Copy, Debug)]
pub enum Updating {
    Arith(Arith),
    Shift(bool),
}

/// `case 1, 2: …` or, without values, `default: …`
#[derive(Clone, Debug)]
pub struct Case {
    pub values: Vec<i64>,
    pub body: Vec<S>,
}

/// A program.
#[derive(Clone, Debug, Default)]
pub struct Whole {
    /// Shared variables as they are declared.
    pub shared: Vec<String>,
    /// Structs, and shared variables that are some.
    pub declarations: Vec<String>,
    /// What threads declare beside their registers `r0`, …
    pub locals: Vec<String>,
    /// Functions `f0`, … of two parameters.
    pub functions: Vec<Vec<S>>,
    /// Functions `h0`, … that two places are lent to, and that have a parameter.
    pub borrowers: Vec<Vec<S>>,
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
            E::Shift(left, a, b) => format!("({} {} {})", a.text(), shift_sign(*left), b.text()),
            E::Conditional(parts) => {
                let [c, a, b] = parts.as_ref();
                format!("({} ? {} : {})", c.text(), a.text(), b.text())
            }
            E::Not(e) => format!("!{}", e.text()),
            E::And(a, b) => format!("({} && {})", a.text(), b.text()),
            E::Or(a, b) => format!("({} || {})", a.text(), b.text()),
            E::Cas(target, old, new) => format!("cas({}, {}, {})", target.text(), old.text(), new.text()),
            E::Swap(target, value) => format!("swap({}, {})", target.text(), value.text()),
            E::Cmpxchg(target, old, new) => {
                format!("cmpxchg({}, {}, {})", target.text(), old.text(), new.text())
            }
            E::Fetch(op, target, value) => {
                format!("fetch_{}({}, {})", fetched(*op), target.text(), value.text())
            }
            E::Part(root, path) => root.text(path),
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

fn shift_sign(left: bool) -> &'static str {
    if left { "<<" } else { ">>" }
}

fn fetched(op: Arith) -> &'static str {
    match op {
        Arith::Sub => "sub",
        Arith::And => "and",
        Arith::Or => "or",
        Arith::Xor => "xor",
        _ => "add",
    }
}

impl Target {
    pub fn text(&self) -> String {
        match self {
            Target::Variable(v) => format!("x{v}"),
            Target::Cell(index) => format!("a[{}]", index.text()),
            Target::Register(r) => format!("r{r}"),
            Target::Part(root, path) => root.text(path),
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
            S::While(_, body) | S::DoWhile(body, _) | S::Loop(body) | S::For(.., body) => vec![body],
            S::Switch(_, cases) => cases.iter().map(|case| case.body.as_slice()).collect(),
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
            S::DoWhile(..) => word("do"),
            S::Switch(_, cases) => cases.iter().map(Case::head).collect(),
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
            S::Update(target, op, value) => update(target, *op, value.as_ref()),
            S::Lend(f, u, v, e) => format!("h{f}(&{}, &{}, {});", u.text(), v.text(), e.text()),
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
            S::Membarrier => "membarrier;".to_string(),
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
        if let S::Switch(value, _) = self {
            out.push(format!("switch ({}) {{", value.text()));
            for (head, body) in self.heads().into_iter().zip(bodies) {
                out.push(head);
                body.iter().for_each(|s| s.lines(out));
            }
            return out.push("}".to_string());
        }
        for (head, body) in self.heads().iter().zip(bodies) {
            enclosed(head, &[], body, out);
        }
        if let (S::DoWhile(_, c), Some(last)) = (self, out.last_mut()) {
            *last = format!("}} while ({});", c.text());
        }
    }
}

fn update(target: &Target, op: Updating, value: Option<&E>) -> String {
    let sign = match op {
        Updating::Arith(op) => sign(op),
        Updating::Shift(left) => shift_sign(left),
    };
    match value {
        Some(value) => format!("{} {sign}= {};", target.text(), value.text()),
        None => format!("{}{sign}{sign};", target.text()),
    }
}

impl Case {
    fn head(&self) -> String {
        match self.values.as_slice() {
            [] => "default:".to_string(),
            values => format!("case {}:", values.iter().map(i64::to_string).collect::<Vec<_>>().join(", ")),
        }
    }
}

fn enclosed(head: &str, declared: &[String], body: &[S], out: &mut Vec<String>) {
    out.push(format!("{head} {{"));
    out.extend_from_slice(declared);
    body.iter().for_each(|s| s.lines(out));
    out.push("}".to_string());
}

impl Whole {
    /// The program, a statement or brace a line.
    pub fn text(&self) -> String {
        let mut lines = vec![format!("shared {};", self.shared.join(", "))];
        lines.extend_from_slice(&self.declarations);
        for (at, body) in self.functions.iter().enumerate() {
            // Just an expression is used like one.
            let simple = matches!(body.as_slice(), [S::Return(_)]);
            let local = if simple { vec![] } else { vec!["let r2;".to_string()] };
            enclosed(&format!("fn f{at}(r0, r1)"), &local, body, &mut lines);
        }
        for (at, body) in self.borrowers.iter().enumerate() {
            enclosed(&format!("fn h{at}(&u, &v, r0)"), &["let r1, r2;".to_string()], body, &mut lines);
        }
        for (at, body) in self.threads.iter().enumerate() {
            let mut local = vec!["let r0, r1, r2;".to_string()];
            local.extend_from_slice(&self.locals);
            enclosed(&format!("thread P{at}"), &local, body, &mut lines);
        }
        lines.extend(self.claims.iter().cloned());
        lines.join("\n") + "\n"
    }
}
