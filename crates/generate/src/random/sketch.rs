//! Sketches of programs: structured statements that any edit leaves well-formed.
//!
//! The random generator makes sketches, [`Sketch::build`] lowers them to automata, and
//! [`minimise`] takes statements away for as long as a failure stays, so that what a failing
//! test prints is short.

use program::{
    Cond, Expr, Failure, FailureKind, Loc, Op, Place, Program, Property, PropertyKind, RegId, Source, Span,
    ThreadBuilder, ThreadId, Variable,
};
use std::collections::BTreeMap;

/// A statement. Labels are numbers; a thread places each at most once.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// One step.
    Do(Op),
    /// Two ways, on a condition and on its opposite.
    If(Cond<RegId>, Vec<Stmt>, Vec<Stmt>),
    /// Around and around while the condition holds.
    While(Cond<RegId>, Vec<Stmt>),
    /// Around and around.
    Forever(Vec<Stmt>),
    /// Any of the ways; their first steps leave from the same location.
    Choose(Vec<Vec<Stmt>>),
    /// A locked section of several steps. Holds no `Label`, `Goto` or `Atomic`.
    Atomic(Vec<Stmt>),
    /// A failure where the condition does not hold.
    Assert(Cond<RegId>),
    /// Names the place.
    Label(usize),
    /// Goes to a label where the condition holds.
    Goto(usize, Cond<RegId>),
}

/// A thread with registers `r0`, `r1`, …
#[derive(Clone, Debug, Default)]
pub struct Draft {
    /// How many registers it has.
    pub registers: usize,
    /// What it does.
    pub body: Vec<Stmt>,
}

/// Part of a property.
#[derive(Clone, Debug)]
pub enum Atom {
    /// Whether the thread stands at the label.
    At(usize, usize, bool),
    /// A condition without locations.
    Holds(Cond<Place>),
}

/// A property: all of its parts, or any of them.
#[derive(Clone, Debug)]
pub struct Claim {
    /// `never` or `finally`.
    pub kind: PropertyKind,
    /// Whether one part is enough.
    pub any: bool,
    /// The parts.
    pub atoms: Vec<Atom>,
}

/// A program before it is lowered.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// What it is called in reports.
    pub name: String,
    /// Its shared variables.
    pub variables: Vec<Variable>,
    /// Its threads.
    pub threads: Vec<Draft>,
    /// Its properties.
    pub claims: Vec<Claim>,
}

impl Sketch {
    /// The program.
    pub fn build(&self) -> Program {
        let mut program = Program::new(self.name.clone(), Source::default());
        program.variables = self.variables.clone();
        for (at, draft) in self.threads.iter().enumerate() {
            let mut lowering =
                Lowering { builder: ThreadBuilder::new(format!("P{at}")), labels: BTreeMap::new() };
            for register in 0..draft.registers {
                lowering.builder.register(format!("r{register}"));
            }
            lowering.body(&draft.body, lowering.builder.entry());
            program.threads.push(lowering.builder.finish().expect("sketches are well-formed"));
        }
        program.properties = self.claims.iter().map(|claim| claim.build(&program)).collect();
        program
    }

    /// This sketch with every expression over registers replaced.
    pub fn map_values(&self, replace: &dyn Fn(&Expr<RegId>) -> Expr<RegId>) -> Sketch {
        let mut copy = self.map_ops(&|op| map_op(op, replace));
        for draft in &mut copy.threads {
            map_conditions(&mut draft.body, replace);
        }
        copy
    }

    /// This sketch with every single step replaced.
    pub fn map_ops(&self, replace: &dyn Fn(&Op) -> Op) -> Sketch {
        let mut copy = self.clone();
        for draft in &mut copy.threads {
            draft.body = map_body(&draft.body, replace);
        }
        copy
    }
}

fn map_body(body: &[Stmt], replace: &dyn Fn(&Op) -> Op) -> Vec<Stmt> {
    let map = |stmt: &Stmt| {
        let mut copy = if let Stmt::Do(op) = stmt { Stmt::Do(replace(op)) } else { stmt.clone() };
        for (which, inner) in stmt.bodies().into_iter().enumerate() {
            copy = copy.with_body(which, map_body(inner, replace));
        }
        copy
    };
    body.iter().map(map).collect()
}

fn map_op(op: &Op, replace: &dyn Fn(&Expr<RegId>) -> Expr<RegId>) -> Op {
    match op {
        Op::Assign(register, value) => Op::Assign(*register, replace(value)),
        Op::Store(variable, value) => Op::Store(*variable, replace(value)),
        Op::Assume(cond) => Op::Assume(map_cond(cond, replace)),
        Op::Block { locked, parts } => {
            Op::Block { locked: *locked, parts: parts.iter().map(|part| map_op(part, replace)).collect() }
        }
        other => other.clone(),
    }
}

fn map_cond(cond: &Cond<RegId>, replace: &dyn Fn(&Expr<RegId>) -> Expr<RegId>) -> Cond<RegId> {
    let all = |parts: &[Cond<RegId>]| parts.iter().map(|part| map_cond(part, replace)).collect::<Vec<_>>();
    match cond {
        Cond::Const(value) => Cond::Const(*value),
        Cond::Compare(relation, a, b) => Cond::compare(*relation, replace(a), replace(b)),
        Cond::And(parts) => Cond::and(all(parts)),
        Cond::Or(parts) => Cond::or(all(parts)),
    }
}

fn map_conditions(body: &mut [Stmt], replace: &dyn Fn(&Expr<RegId>) -> Expr<RegId>) {
    for stmt in body {
        match stmt {
            Stmt::If(cond, ..) | Stmt::While(cond, _) | Stmt::Assert(cond) | Stmt::Goto(_, cond) => {
                *cond = map_cond(cond, replace);
            }
            Stmt::Do(_) | Stmt::Forever(_) | Stmt::Choose(_) | Stmt::Atomic(_) | Stmt::Label(_) => {}
        }
        match stmt {
            Stmt::If(_, yes, no) => {
                map_conditions(yes, replace);
                map_conditions(no, replace);
            }
            Stmt::While(_, body) | Stmt::Forever(body) | Stmt::Atomic(body) => map_conditions(body, replace),
            Stmt::Choose(ways) => ways.iter_mut().for_each(|way| map_conditions(way, replace)),
            Stmt::Do(_) | Stmt::Assert(_) | Stmt::Label(_) | Stmt::Goto(..) => {}
        }
    }
}

impl Claim {
    fn build(&self, program: &Program) -> Property {
        let atom = |atom: &Atom| match atom {
            Atom::Holds(cond) => cond.clone(),
            Atom::At(thread, label, wanted) => {
                let id = ThreadId::new(*thread);
                let places = program.threads[*thread].labelled(&format!("l{label}"));
                let there = Cond::or(places.into_iter().map(|loc| Cond::at(id, loc)));
                if *wanted { there } else { there.negate() }
            }
        };
        let atoms = self.atoms.iter().map(atom);
        let cond = if self.any { Cond::or(atoms) } else { Cond::and(atoms) };
        Property { kind: self.kind, cond, span: Span::NONE, text: None }
    }
}

struct Lowering {
    builder: ThreadBuilder,
    labels: BTreeMap<usize, Loc>,
}

impl Lowering {
    fn body(&mut self, body: &[Stmt], start: Loc) -> Loc {
        body.iter().fold(start, |at, stmt| self.stmt(stmt, at))
    }

    fn step(&mut self, from: Loc, op: Op) -> Loc {
        self.builder.step(from, op, Span::NONE)
    }

    fn place_of(&mut self, label: usize) -> Loc {
        let builder = &mut self.builder;
        *self.labels.entry(label).or_insert_with(|| builder.location(Span::NONE))
    }

    /// Lowers a statement that starts at a location; returns where it ends.
    fn stmt(&mut self, stmt: &Stmt, at: Loc) -> Loc {
        match stmt {
            Stmt::Do(op) => self.step(at, op.clone()),
            Stmt::If(cond, yes, no) => {
                let yes_start = self.step(at, Op::Assume(cond.clone()));
                let no_start = self.step(at, Op::Assume(cond.clone().negate()));
                let (yes, no) = (self.body(yes, yes_start), self.body(no, no_start));
                self.builder.merge(yes, no, Span::NONE);
                yes
            }
            Stmt::While(cond, body) => {
                let start = self.step(at, Op::Assume(cond.clone()));
                let end = self.body(body, start);
                self.builder.merge(end, at, Span::NONE);
                self.step(at, Op::Assume(cond.clone().negate()))
            }
            Stmt::Forever(body) => {
                let end = self.body(body, at);
                self.builder.merge(end, at, Span::NONE);
                self.builder.location(Span::NONE)
            }
            Stmt::Choose(ways) => self.choose(ways, at),
            Stmt::Atomic(body) => {
                let inside = self.step(at, Op::Lock);
                let end = self.body(body, inside);
                self.step(end, Op::Unlock)
            }
            Stmt::Assert(cond) => {
                let failed = self.step(at, Op::Assume(cond.clone().negate()));
                self.builder.fail(failed, Failure { kind: FailureKind::Assertion, span: Span::NONE });
                self.step(at, Op::Assume(cond.clone()))
            }
            Stmt::Label(label) => {
                let place = self.place_of(*label);
                self.builder.merge(at, place, Span::NONE);
                self.builder.label(place, format!("l{label}"));
                at
            }
            Stmt::Goto(label, cond) => {
                let place = self.place_of(*label);
                self.builder.edge(at, Op::Assume(cond.clone()), place, Span::NONE);
                self.step(at, Op::Assume(cond.clone().negate()))
            }
        }
    }

    fn choose(&mut self, ways: &[Vec<Stmt>], at: Loc) -> Loc {
        let join = self.builder.location(Span::NONE);
        for way in ways {
            let end = self.body(way, at);
            // A way without a step must not make the choice and its end one place.
            let end = if end == at { self.step(at, Op::Skip) } else { end };
            self.builder.merge(end, join, Span::NONE);
        }
        join
    }
}

/// The smallest sketch that greedy removal finds for which `fails` still says yes.
pub fn minimise(mut sketch: Sketch, fails: &mut dyn FnMut(&Sketch) -> bool) -> Sketch {
    while let Some(smaller) = smaller_sketches(&sketch).into_iter().find(|smaller| fails(smaller)) {
        sketch = smaller;
    }
    sketch
}

fn smaller_sketches(sketch: &Sketch) -> Vec<Sketch> {
    let mut smaller = Vec::new();
    for (at, draft) in sketch.threads.iter().enumerate() {
        for body in smaller_bodies(&draft.body) {
            let mut copy = sketch.clone();
            copy.threads[at].body = body;
            smaller.push(copy);
        }
    }
    for at in 0..sketch.claims.len() {
        let mut copy = sketch.clone();
        copy.claims.remove(at);
        smaller.push(copy);
    }
    smaller
}

/// Every body that lacks one statement, or has one replaced by what stands inside it.
fn smaller_bodies(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut smaller = Vec::new();
    for (at, stmt) in body.iter().enumerate() {
        let mut with = |instead: Vec<Stmt>| {
            smaller.push([&body[..at], instead.as_slice(), &body[at + 1..]].concat());
        };
        with(Vec::new());
        let inner = stmt.bodies();
        inner.iter().for_each(|inner| with(inner.to_vec()));
        for (which, inner) in inner.iter().enumerate() {
            smaller_bodies(inner).into_iter().for_each(|less| with(vec![stmt.with_body(which, less)]));
        }
    }
    smaller
}

impl Stmt {
    /// The statement lists inside this one.
    pub fn bodies(&self) -> Vec<&[Stmt]> {
        match self {
            Stmt::If(_, yes, no) => vec![yes, no],
            Stmt::While(_, body) | Stmt::Forever(body) | Stmt::Atomic(body) => vec![body],
            Stmt::Choose(ways) => ways.iter().map(Vec::as_slice).collect(),
            Stmt::Do(_) | Stmt::Assert(_) | Stmt::Label(_) | Stmt::Goto(..) => Vec::new(),
        }
    }

    fn with_body(&self, which: usize, new: Vec<Stmt>) -> Stmt {
        let mut copy = self.clone();
        match &mut copy {
            Stmt::If(_, yes, no) => *(if which == 0 { yes } else { no }) = new,
            Stmt::While(_, body) | Stmt::Forever(body) | Stmt::Atomic(body) => *body = new,
            Stmt::Choose(ways) => ways[which] = new,
            Stmt::Do(_) | Stmt::Assert(_) | Stmt::Label(_) | Stmt::Goto(..) => {}
        }
        copy
    }
}
