//! What several test files share: random problems, and other solvers behind pipes.
#![allow(dead_code)]

use std::io::{Read, Write};
use std::process::{Command, Stdio};

use fastrand::Rng;
use logic::{Atom, Formula, Int, Linear, Terms, Var, smtlib_declaration, smtlib_formula};

/// A table with the variables `x0`, `x1`, ….
pub fn terms(count: usize) -> Terms {
    let mut terms = Terms::new();
    (0..count).for_each(|n| {
        terms.var(&format!("x{n}"));
    });
    terms
}

/// How random atoms look.
#[derive(Clone, Copy)]
pub struct Shape {
    pub vars: usize,
    pub atoms: usize,
    pub coefficient: i64,
    pub constant: i64,
    /// Percentage of difference constraints.
    pub differences: u8,
    /// Percentages of equations, disequalities and divisibility among the atoms.
    pub equations: u8,
    pub disequalities: u8,
    pub divisibilities: u8,
}

impl Shape {
    pub const SMALL: Shape = Shape {
        vars: 3,
        atoms: 5,
        coefficient: 3,
        constant: 6,
        differences: 30,
        equations: 20,
        disequalities: 15,
        divisibilities: 5,
    };
}

pub fn linear(rng: &mut Rng, shape: &Shape) -> Linear {
    let constant = rng.i64(-shape.constant..=shape.constant);
    if rng.u8(0..100) < shape.differences {
        let (x, y) = (rng.usize(0..shape.vars), rng.usize(0..=shape.vars));
        let mut terms = vec![(Var::at(x), Int::ONE)];
        if y < shape.vars {
            terms.push((Var::at(y), Int::MINUS_ONE));
        }
        let expr = Linear::new(terms, constant);
        return if rng.bool() { expr } else { -expr };
    }
    let count = rng.usize(1..=shape.vars.min(4));
    let terms = (0..count).map(|_| {
        let coefficient = rng.i64(-shape.coefficient..=shape.coefficient);
        (Var::at(rng.usize(0..shape.vars)), Int::from(coefficient))
    });
    Linear::new(terms.collect::<Vec<_>>(), constant)
}

pub fn atom(rng: &mut Rng, shape: &Shape) -> Atom {
    let expr = linear(rng, shape);
    let dice = rng.u8(0..100);
    let (a, b) = (shape.equations, shape.equations + shape.disequalities);
    match dice {
        _ if dice < a => Atom::eq(expr, 0),
        _ if dice < b => Atom::ne(expr, 0),
        _ if dice < b + shape.divisibilities => {
            let atom = Atom::divides(rng.i64(2..6), expr);
            if rng.bool() { atom } else { atom.negate() }
        }
        _ => Atom::le(expr, 0),
    }
}

pub fn conjunction(rng: &mut Rng, shape: &Shape) -> Vec<Atom> {
    (0..rng.usize(1..=shape.atoms)).map(|_| atom(rng, shape)).collect()
}

pub fn formula(rng: &mut Rng, shape: &Shape, depth: usize) -> Formula {
    if depth == 0 || rng.u8(0..4) == 0 {
        return Formula::from(atom(rng, shape));
    }
    let parts: Vec<Formula> = (0..rng.usize(2..4)).map(|_| formula(rng, shape, depth - 1)).collect();
    match rng.u8(0..5) {
        0 | 1 => Formula::and(parts),
        2 | 3 => Formula::or(parts),
        _ => Formula::or(parts).negate(),
    }
}

/// What another solver says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Sat,
    Unsat,
    Unknown,
}

/// Another solver, asked through a pipe.
struct Solver {
    name: &'static str,
    arguments: &'static [&'static str],
}

const SOLVERS: [Solver; 2] = [
    Solver { name: "z3", arguments: &["-in", "-t:100"] },
    Solver { name: "cvc5", arguments: &["--incremental", "--lang=smt2", "--tlimit-per=100", "-q"] },
];

/// What the solvers on this machine, each with its name, say of many formulas; all are asked at the same time.
pub fn others(terms: &Terms, questions: &[Formula]) -> Vec<(&'static str, Vec<Answer>)> {
    std::thread::scope(|scope| {
        let ask = |solver: &'static Solver| scope.spawn(move || (solver.name, solver.ask(terms, questions)));
        let asked: Vec<_> = solvers().into_iter().map(ask).collect();
        asked.into_iter().map(|answers| answers.join().expect("it answers")).collect()
    })
}

/// The solvers on this machine. Complains about missing ones, and fails the test if
/// the environment demands them.
fn solvers() -> Vec<&'static Solver> {
    let (present, missing): (Vec<_>, Vec<_>) = SOLVERS.iter().partition(|solver| solver.is_installed());
    for solver in &missing {
        let demanded = std::env::var_os("FENCEWRIGHT_REQUIRE_SOLVERS").is_some();
        assert!(!demanded, "{} is required but not installed", solver.name);
        eprintln!("skipping the comparison with {}: not installed", solver.name);
    }
    present
}

impl Solver {
    fn is_installed(&self) -> bool {
        let run =
            Command::new(self.name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        run.is_ok_and(|status| status.success())
    }

    /// Asks for the satisfiability of many formulas in one session.
    fn ask(&self, terms: &Terms, questions: &[Formula]) -> Vec<Answer> {
        let mut script = String::from("(set-logic QF_LIA)\n");
        for n in 0..terms.len() {
            script.push_str(&smtlib_declaration(terms, Var::at(n)));
        }
        for question in questions {
            let text = smtlib_formula(terms, question);
            script.push_str(&format!("(push 1)(assert {text})(check-sat)(pop 1)\n"));
        }
        script.push_str("(exit)\n");
        let output = self.run(script);
        let answers: Vec<Answer> = output.lines().filter_map(read_answer).collect();
        assert_eq!(answers.len(), questions.len(), "{} did not answer everything: {output}", self.name);
        answers
    }

    fn run(&self, script: String) -> String {
        let mut child = Command::new(self.name)
            .args(self.arguments)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap_or_else(|error| panic!("cannot start {}: {error}", self.name));
        let mut stdin = child.stdin.take().expect("the pipe was asked for");
        let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
        let mut output = String::new();
        let mut stdout = child.stdout.take().expect("the pipe was asked for");
        stdout.read_to_string(&mut output).expect("the solver writes text");
        let _ = writer.join();
        child.wait().expect("the solver ends");
        output
    }
}

fn read_answer(line: &str) -> Option<Answer> {
    match line.trim() {
        "sat" => Some(Answer::Sat),
        "unsat" => Some(Answer::Unsat),
        "unknown" | "timeout" => Some(Answer::Unknown),
        other => panic!("unexpected answer: {other}"),
    }
}
