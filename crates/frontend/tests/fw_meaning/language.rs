//! The test's own little language: trees, random ones, and their text as `.fw`.

use crate::{CELLS, FUNCTIONS, REGISTERS, VARIABLES};
use program::{Arith, Relation};

/// An expression of the test's own little language.
pub enum E {
    Const(i64),
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

pub enum Target {
    Variable(usize),
    Cell(Box<E>),
}

pub enum S {
    Skip,
    Register(usize, E),
    Store(Target, E),
    If(E, Vec<S>, Vec<S>),
    While(E, Vec<S>),
    /// The name of the counter, and how often.
    For(usize, usize, Vec<S>),
    Atomic(Vec<S>),
    Await(E),
    Assume(E),
    Assert(E),
    Arw(Target, E, E),
    Evaluate(E),
    Break,
    Continue,
    Stop,
    Return(E),
}

struct Maker {
    random: fastrand::Rng,
    loops: usize,
    counters: usize,
    registers: usize,
    /// The function being made; functions call only later ones.
    function: Option<usize>,
}

impl Maker {
    fn small(&mut self) -> usize {
        self.random.usize(..3)
    }

    fn target(&mut self, depth: usize) -> Target {
        match self.random.bool() {
            true => Target::Variable(self.random.usize(..VARIABLES)),
            false => Target::Cell(Box::new(self.index(depth))),
        }
    }

    /// Mostly inside the array.
    fn index(&mut self, depth: usize) -> E {
        match self.random.usize(..4) {
            0 => self.expr(depth),
            1 => E::Register(self.random.usize(..self.registers)),
            _ => E::Const(self.random.i64(0..CELLS as i64)),
        }
    }

    fn boxed(&mut self, depth: usize) -> Box<E> {
        Box::new(self.expr(depth.saturating_sub(1)))
    }

    fn expr(&mut self, depth: usize) -> E {
        let d = depth;
        match if depth == 0 { self.random.usize(..3) } else { self.random.usize(..16) } {
            0 => E::Const(self.random.i64(-2..4)),
            1 => E::Register(self.random.usize(..self.registers)),
            2 => E::Variable(self.random.usize(..VARIABLES)),
            3 => E::Cell(Box::new(self.index(d - 1))),
            4 => E::Negative(self.boxed(d)),
            5..=7 => {
                let all = [Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem, Arith::And, Arith::Or];
                let op = all[self.random.usize(..all.len())];
                let divisor_zero = matches!(op, Arith::Div | Arith::Rem);
                let b = if divisor_zero { Box::new(self.divisor(d)) } else { self.boxed(d) };
                E::Binary(op, self.boxed(d), b)
            }
            8 | 9 => {
                let all =
                    [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];
                E::Compare(all[self.random.usize(..6)], self.boxed(d), self.boxed(d))
            }
            10 => E::Not(self.boxed(d)),
            11 => E::And(self.boxed(d), self.boxed(d)),
            12 => E::Or(self.boxed(d), self.boxed(d)),
            13 => E::Cas(self.target(d - 1), self.boxed(d), self.boxed(d)),
            14 if self.random.bool() => E::Swap(self.target(d - 1), self.boxed(d)),
            14 => E::FetchAdd(self.target(d - 1), self.boxed(d)),
            _ => {
                let first = self.function.map_or(0, |function| function + 1);
                if first < FUNCTIONS {
                    return E::Call(self.random.usize(first..FUNCTIONS), self.boxed(d), self.boxed(d));
                }
                E::Const(7)
            }
        }
    }

    /// Never the constant 0, which is refused while reading.
    fn divisor(&mut self, _depth: usize) -> E {
        match self.random.usize(..3) {
            0 => E::Const(2),
            1 => E::Register(self.random.usize(..self.registers)),
            _ => E::Variable(self.random.usize(..VARIABLES)),
        }
    }

    fn block(&mut self, depth: usize) -> Vec<S> {
        (0..1 + self.small()).map(|_| self.statement(depth)).collect()
    }

    fn looped(&mut self, depth: usize) -> Vec<S> {
        self.loops += 1;
        let body = self.block(depth);
        self.loops -= 1;
        body
    }

    fn statement(&mut self, depth: usize) -> S {
        let d = depth.saturating_sub(1);
        match self.random.usize(if depth == 0 { 7 } else { 0 }..22) {
            0 | 1 => {
                S::If(self.expr(2), self.block(d), if self.random.bool() { self.block(d) } else { vec![] })
            }
            2 | 3 => S::While(self.expr(2), self.looped(d)),
            4 => {
                self.counters += 1;
                S::For(self.counters, self.small(), self.looped(d))
            }
            5 | 6 => S::Atomic(self.block(d)),
            7..=10 => S::Register(self.random.usize(..self.registers), self.expr(3)),
            11..=13 => S::Store(self.target(1), self.expr(2)),
            14 => S::Await(self.expr(2)),
            15 => S::Assume(self.expr(2)),
            16 => S::Assert(self.expr(2)),
            17 => S::Arw(self.target(1), self.expr(1), self.expr(1)),
            18 => S::Evaluate(E::Cas(self.target(1), self.boxed(1), self.boxed(1))),
            19 if self.loops > 0 && self.random.bool() => S::Break,
            19 if self.loops > 0 => S::Continue,
            20 if self.function.is_some() => S::Return(self.expr(2)),
            20 if self.small() == 0 => S::Stop,
            _ => S::Skip,
        }
    }
}

impl E {
    fn text(&self) -> String {
        match self {
            E::Const(value) => format!("({value})"),
            E::Register(r) => format!("r{r}"),
            E::Variable(v) => format!("x{v}"),
            E::Cell(index) => format!("a[{}]", index.text()),
            E::Negative(e) => format!("(-{})", e.text()),
            E::Binary(op, a, b) => {
                let sign = match op {
                    Arith::Add => "+",
                    Arith::Sub => "-",
                    Arith::Mul => "*",
                    Arith::Div => "/",
                    Arith::Rem => "%",
                    Arith::And => "&",
                    Arith::Or => "|",
                    Arith::Xor => "^",
                };
                format!("({} {sign} {})", a.text(), b.text())
            }
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

impl Target {
    fn text(&self) -> String {
        match self {
            Target::Variable(v) => format!("x{v}"),
            Target::Cell(index) => format!("a[{}]", index.text()),
        }
    }
}

fn block_text(block: &[S]) -> String {
    block.iter().map(S::text).collect::<Vec<_>>().join(" ")
}

impl S {
    fn text(&self) -> String {
        match self {
            S::Skip => "skip;".to_string(),
            S::Register(r, e) => format!("r{r} = {};", e.text()),
            S::Store(target, e) => format!("{} = {};", target.text(), e.text()),
            S::If(c, yes, no) => {
                format!("if ({}) {{ {} }} else {{ {} }}", c.text(), block_text(yes), block_text(no))
            }
            S::While(c, body) => format!("while ({}) {{ {} }}", c.text(), block_text(body)),
            S::For(name, count, body) => format!("for i{name} in 0..{count} {{ {} }}", block_text(body)),
            S::Atomic(body) => format!("atomic {{ {} }}", block_text(body)),
            S::Await(c) => format!("await {};", c.text()),
            S::Assume(c) => format!("assume {};", c.text()),
            S::Assert(c) => format!("assert {};", c.text()),
            S::Arw(target, old, new) => format!("arw({}, {}, {});", target.text(), old.text(), new.text()),
            S::Evaluate(e) => format!("{};", e.text()),
            S::Break => "break;".to_string(),
            S::Continue => "continue;".to_string(),
            S::Stop => "stop;".to_string(),
            S::Return(e) => format!("return {};", e.text()),
        }
    }
}

/// A program: functions with registers `r0` and `r1` for parameters, and one thread.
pub struct Whole {
    pub functions: Vec<Vec<S>>,
    pub thread: Vec<S>,
}

impl Whole {
    pub fn random(seed: u64) -> Whole {
        let random = fastrand::Rng::with_seed(seed);
        let mut maker = Maker { random, loops: 0, counters: 0, registers: REGISTERS, function: None };
        let functions = (0..FUNCTIONS).map(|f| {
            maker.function = Some(f);
            match maker.random.bool() {
                // Just an expression, which is used like one.
                true => {
                    maker.registers = 2;
                    let body = vec![S::Return(maker.expr(2))];
                    maker.registers = REGISTERS;
                    body
                }
                false => maker.block(1).into_iter().chain([S::Return(maker.expr(2))]).collect(),
            }
        });
        let functions = functions.collect();
        maker.function = None;
        let thread = (0..6).map(|_| maker.statement(2)).collect();
        Whole { functions, thread }
    }

    pub fn text(&self) -> String {
        let mut text = format!("shared x0, x1 = 1, a[{CELLS}] = {{2, 0, 1}};\n");
        for (at, body) in self.functions.iter().enumerate() {
            let local = if body.len() > 1 { "let r2; " } else { "" };
            text += &format!("fn f{at}(r0, r1) {{ {local}{} }}\n", block_text(body));
        }
        text + &format!("thread P {{ let r0, r1, r2; {} }}\n", block_text(&self.thread))
    }
}
