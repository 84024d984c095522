//! Sketches of programs: structured statements that any edit leaves well-formed.
//!
//! The random generator makes sketches, [`Sketch::build`] lowers them to automata, and
//! [`minimise`] takes statements away for as long as a failure stays, so that what a failing
//! test prints is short.

use program::{
    Cond, Expr, Failure, FailureKind, Loc, Op, Place, Program, Property, PropertyKind, RegId, Source, Span,
    StartCondition, ThreadBuilder, ThreadId, Variable,
};
use std::collections::BTreeMap;

/// A statement. Labels are numbers; a thread places each at most once.
#[derive(Clone, Debug)]
pub enum SketchStmt {
    /// One step.
    Do(Op),
    /// Two ways, on a condition and on its opposite.
    If(Cond<RegId>, Vec<SketchStmt>, Vec<SketchStmt>),
    /// Around and around while the condition holds.
    While(Cond<RegId>, Vec<SketchStmt>),
    /// Around and around.
    Forever(Vec<SketchStmt>),
    /// Any of the ways; their first steps leave from the same location.
    Choose(Vec<Vec<SketchStmt>>),
    /// A locked section of several steps. Holds no `Label`, `Goto` or `Atomic`.
    Atomic(Vec<SketchStmt>),
    /// A failure where the condition does not hold.
    Assert(Cond<RegId>),
    /// Names the place.
    Label(usize),
    /// Goes to a label where the condition holds.
    Goto(usize, Cond<RegId>),
}

/// A thread with registers `r0`, `r1`, …
#[derive(Clone, Debug, Default)]
pub struct ThreadDraft {
    /// How many registers it has.
    pub registers: usize,
    /// What it does.
    pub body: Vec<SketchStmt>,
}

/// Part of a property.
#[derive(Clone, Debug)]
pub enum ClaimAtom {
    /// Whether the thread stands at the label.
    At(usize, usize, bool),
    /// A condition without locations.
    Holds(Cond<Place>),
}

/// A property: all of its parts, or any of them.
#[derive(Clone, Debug)]
pub struct RandomClaim {
    /// `never` or `finally`.
    pub kind: PropertyKind,
    /// Whether one part is enough.
    pub any: bool,
    /// The parts.
    pub atoms: Vec<ClaimAtom>,
}

/// A program before it is lowered.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// What it is called in reports.
    pub name: String,
    /// Its shared variables.
    pub variables: Vec<Variable>,
    /// What is assumed of their initial values.
    pub starts: Vec<Cond<Place>>,
    /// Its threads.
    pub threads: Vec<ThreadDraft>,
    /// Its properties.
    pub claims: Vec<RandomClaim>,
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
        let start = |cond: &Cond<Place>| StartCondition { cond: cond.clone(), span: Span::NONE };
        program.starts = self.starts.iter().map(start).collect();
        program.narrow_starts();
        program.properties = self.claims.iter().map(|claim| claim.build(&program)).collect();
        program
    }

    /// This sketch with every expression over registers replaced.
    pub fn map_values(&self, replace: &dyn Fn(&Expr<RegId>) -> Expr<RegId>) -> Sketch {
        self.map_stmts(&|stmt| match stmt {
            SketchStmt::Do(op) => *op = map_op(op, replace),
            SketchStmt::If(cond, ..)
            | SketchStmt::While(cond, _)
            | SketchStmt::Assert(cond)
            | SketchStmt::Goto(_, cond) => *cond = map_cond(cond, replace),
            SketchStmt::Forever(_) | SketchStmt::Choose(_) | SketchStmt::Atomic(_) | SketchStmt::Label(_) => {
            }
        })
    }

    /// This sketch with every single step replaced.
    pub fn map_ops(&self, replace: &dyn Fn(&Op) -> Op) -> Sketch {
        self.map_stmts(&|stmt| {
            if let SketchStmt::Do(op) = stmt {
                *op = replace(op);
            }
        })
    }

    /// This sketch with a change to every statement, also to those inside others.
    fn map_stmts(&self, change: &dyn Fn(&mut SketchStmt)) -> Sketch {
        let mut copy = self.clone();
        copy.threads.iter_mut().for_each(|draft| change_all(&mut draft.body, change));
        copy
    }
}

fn change_all(body: &mut [SketchStmt], change: &dyn Fn(&mut SketchStmt)) {
    for stmt in body {
        change(stmt);
        stmt.bodies_mut().into_iter().for_each(|inner| change_all(inner, change));
    }
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

impl RandomClaim {
    fn build(&self, program: &Program) -> Property {
        let atom = |atom: &ClaimAtom| match atom {
            ClaimAtom::Holds(cond) => cond.clone(),
            ClaimAtom::At(thread, label, wanted) => {
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
    fn body(&mut self, body: &[SketchStmt], start: Loc) -> Loc {
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
    fn stmt(&mut self, stmt: &SketchStmt, at: Loc) -> Loc {
        match stmt {
            SketchStmt::Do(op) => self.step(at, op.clone()),
            SketchStmt::If(cond, yes, no) => {
                let yes_start = self.step(at, Op::Assume(cond.clone()));
                let no_start = self.step(at, Op::Assume(cond.clone().negate()));
                let (yes, no) = (self.body(yes, yes_start), self.body(no, no_start));
                self.builder.merge(yes, no, Span::NONE);
                yes
            }
            SketchStmt::While(cond, body) => {
                let start = self.step(at, Op::Assume(cond.clone()));
                let end = self.body(body, start);
                self.builder.merge(end, at, Span::NONE);
                self.step(at, Op::Assume(cond.clone().negate()))
            }
            SketchStmt::Forever(body) => {
                let end = self.body(body, at);
                self.builder.merge(end, at, Span::NONE);
                self.builder.location(Span::NONE)
            }
            SketchStmt::Choose(ways) => self.choose(ways, at),
            SketchStmt::Atomic(body) => {
                let inside = self.step(at, Op::Lock);
                let end = self.body(body, inside);
                self.step(end, Op::Unlock)
            }
            SketchStmt::Assert(cond) => {
                let failed = self.step(at, Op::Assume(cond.clone().negate()));
                self.builder.fail(failed, Failure { kind: FailureKind::Assertion, span: Span::NONE });
                self.step(at, Op::Assume(cond.clone()))
            }
            SketchStmt::Label(label) => {
                let place = self.place_of(*label);
                self.builder.merge(at, place, Span::NONE);
                self.builder.label(place, format!("l{label}"));
                at
            }
            SketchStmt::Goto(label, cond) => {
                let place = self.place_of(*label);
                self.builder.edge(at, Op::Assume(cond.clone()), place, Span::NONE);
                self.step(at, Op::Assume(cond.clone().negate()))
            }
        }
    }

    fn choose(&mut self, ways: &[Vec<SketchStmt>], at: Loc) -> Loc {
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
    for at in 0..sketch.starts.len() {
        let mut copy = sketch.clone();
        copy.starts.remove(at);
        smaller.push(copy);
    }
    for at in 0..sketch.claims.len() {
        let mut copy = sketch.clone();
        copy.claims.remove(at);
        smaller.push(copy);
    }
    smaller
}

/// Every body that lacks one statement, or has one replaced by what stands inside it.
fn smaller_bodies(body: &[SketchStmt]) -> Vec<Vec<SketchStmt>> {
    let mut smaller = Vec::new();
    for (at, stmt) in body.iter().enumerate() {
        let mut with = |instead: Vec<SketchStmt>| {
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

impl SketchStmt {
    /// The statement lists inside this one.
    pub fn bodies(&self) -> Vec<&[SketchStmt]> {
        match self {
            SketchStmt::If(_, yes, no) => vec![yes, no],
            SketchStmt::While(_, body) | SketchStmt::Forever(body) | SketchStmt::Atomic(body) => vec![body],
            SketchStmt::Choose(ways) => ways.iter().map(Vec::as_slice).collect(),
            SketchStmt::Do(_) | SketchStmt::Assert(_) | SketchStmt::Label(_) | SketchStmt::Goto(..) => {
                Vec::new()
            }
        }
    }

    fn bodies_mut(&mut self) -> Vec<&mut Vec<SketchStmt>> {
        match self {
            SketchStmt::If(_, yes, no) => vec![yes, no],
            SketchStmt::While(_, body) | SketchStmt::Forever(body) | SketchStmt::Atomic(body) => vec![body],
            SketchStmt::Choose(ways) => ways.iter_mut().collect(),
            SketchStmt::Do(_) | SketchStmt::Assert(_) | SketchStmt::Label(_) | SketchStmt::Goto(..) => {
                Vec::new()
            }
        }
    }

    fn with_body(&self, which: usize, new: Vec<SketchStmt>) -> SketchStmt {
        let mut copy = self.clone();
        *copy.bodies_mut()[which] = new;
        copy
    }
}
