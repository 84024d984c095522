//! Running a program as it is written.

use super::FUEL;
use crate::support::texts::{CELLS, E, REGISTERS, S, Target, VARIABLES, Whole};
use program::Int;

#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    Load(usize),
    Store(usize, Int),
    Lock,
    Unlock,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Outcome {
    Ended,
    Assertion,
    Bounds,
    Division,
    /// Stuck, or still running.
    NoEnd,
}

enum Flow {
    Next,
    Break,
    Continue,
    Goto(usize),
    Return(Int),
}

struct Direct<'p> {
    whole: &'p Whole,
    memory: Vec<Int>,
    events: Vec<Event>,
    fuel: usize,
    atomic: bool,
}

fn truth(value: bool) -> Int {
    Int::from(u8::from(value))
}

fn is_true(value: &Int) -> bool {
    *value != Int::from(0)
}

impl Direct<'_> {
    fn load(&mut self, variable: usize) -> Int {
        self.events.push(Event::Load(variable));
        self.memory[variable].clone()
    }

    fn store(&mut self, variable: usize, value: Int) {
        self.events.push(Event::Store(variable, value.clone()));
        self.memory[variable] = value;
    }

    fn locked<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        if self.atomic {
            return inner(self);
        }
        self.events.push(Event::Lock);
        let result = inner(self);
        self.events.push(Event::Unlock);
        result
    }

    fn spend(&mut self) -> Result<(), Outcome> {
        self.fuel = self.fuel.checked_sub(1).ok_or(Outcome::NoEnd)?;
        Ok(())
    }

    /// The value of a target's index; where it leads is looked up when it is used.
    fn index(&mut self, target: &Target, registers: &[Int]) -> Result<Option<Int>, Outcome> {
        match target {
            Target::Variable(_) => Ok(None),
            Target::Cell(index) => Ok(Some(self.eval(index, registers)?)),
        }
    }

    fn resolve(&self, target: &Target, index: Option<Int>) -> Result<usize, Outcome> {
        match (target, index) {
            (Target::Variable(v), _) => Ok(*v),
            (_, Some(index)) => cell(&index),
            _ => unreachable!("cells have an index"),
        }
    }

    fn eval(&mut self, e: &E, registers: &[Int]) -> Result<Int, Outcome> {
        Ok(match e {
            E::Const(value) => Int::from(*value),
            E::Huge => unreachable!("not generated"),
            E::Register(r) => registers[*r].clone(),
            E::Variable(v) => self.load(*v),
            E::Cell(index) => {
                let at = cell(&self.eval(index, registers)?)?;
                self.load(at)
            }
            E::Negative(e) => -self.eval(e, registers)?,
            E::Binary(op, a, b) => {
                let (a, b) = (self.eval(a, registers)?, self.eval(b, registers)?);
                let value = op.apply(&a, &b).ok_or(Outcome::Division)?;
                if value.bits() > 500 { return Err(Outcome::NoEnd) } else { value }
            }
            E::Compare(relation, a, b) => {
                let (a, b) = (self.eval(a, registers)?, self.eval(b, registers)?);
                truth(relation.holds(&a, &b))
            }
            E::Not(e) => truth(!is_true(&self.eval(e, registers)?)),
            E::And(a, b) => {
                let both = is_true(&self.eval(a, registers)?) && is_true(&self.eval(b, registers)?);
                truth(both)
            }
            E::Or(a, b) => {
                let one = is_true(&self.eval(a, registers)?) || is_true(&self.eval(b, registers)?);
                truth(one)
            }
            E::Cas(target, old, new) => {
                let index = self.index(target, registers)?;
                let (old, new) = (self.eval(old, registers)?, self.eval(new, registers)?);
                let at = self.resolve(target, index)?;
                self.locked(|d| {
                    let equal = d.load(at) == old;
                    if equal {
                        d.store(at, new);
                    }
                    truth(equal)
                })
            }
            E::Swap(target, value) => self.update(target, value, registers, |_, value| value)?,
            E::FetchAdd(target, value) => self.update(target, value, registers, |old, value| old + value)?,
            E::Call(f, a, b) => {
                let registers = vec![self.eval(a, registers)?, self.eval(b, registers)?, Int::from(0)];
                self.call(*f, registers)?
            }
        })
    }

    fn update(
        &mut self,
        target: &Target,
        value: &E,
        registers: &[Int],
        new: impl FnOnce(&Int, Int) -> Int,
    ) -> Result<Int, Outcome> {
        let index = self.index(target, registers)?;
        let value = self.eval(value, registers)?;
        let at = self.resolve(target, index)?;
        Ok(self.locked(|d| {
            let old = d.load(at);
            d.store(at, new(&old, value));
            old
        }))
    }

    fn call(&mut self, f: usize, mut registers: Vec<Int>) -> Result<Int, Outcome> {
        let whole = self.whole;
        match self.block(&whole.functions[f], &mut registers)? {
            Flow::Return(value) => Ok(value),
            _ => Ok(Int::from(0)),
        }
    }

    fn block(&mut self, block: &[S], registers: &mut Vec<Int>) -> Result<Flow, Outcome> {
        self.run(block, None, registers)
    }

    /// Runs a block from its start, or from a label in it.
    fn run(
        &mut self,
        block: &[S],
        mut from: Option<usize>,
        registers: &mut Vec<Int>,
    ) -> Result<Flow, Outcome> {
        let position = |label: usize| block.iter().position(|s| has_label(s, label));
        let mut at = from.and_then(position).unwrap_or(0);
        while let Some(statement) = block.get(at) {
            let flow = match from.take() {
                Some(label) => self.enter(statement, label, registers)?,
                None => self.statement(statement, registers)?,
            };
            match flow {
                Flow::Next => at += 1,
                Flow::Goto(label) if position(label).is_some() => {
                    at = position(label).unwrap_or(0);
                    from = Some(label);
                }
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    /// Goes on at a label inside a statement, or at one that is the statement.
    fn enter(&mut self, s: &S, label: usize, registers: &mut Vec<Int>) -> Result<Flow, Outcome> {
        match s {
            S::If(_, yes, no) => {
                let inside = if yes.iter().any(|s| has_label(s, label)) { yes } else { no };
                self.run(inside, Some(label), registers)
            }
            S::While(c, body) => self.looped(Some(c), body, Some(label), registers),
            S::Loop(body) => self.looped(None, body, Some(label), registers),
            _ => Ok(Flow::Next),
        }
    }

    /// A loop, from its start or from a label in its body.
    fn looped(
        &mut self,
        condition: Option<&E>,
        body: &[S],
        mut from: Option<usize>,
        registers: &mut Vec<Int>,
    ) -> Result<Flow, Outcome> {
        loop {
            if from.is_none()
                && let Some(c) = condition
                && !is_true(&self.eval(c, registers)?)
            {
                return Ok(Flow::Next);
            }
            self.spend()?;
            match self.run(body, from.take(), registers)? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Next | Flow::Continue => {}
                away => return Ok(away),
            }
        }
    }

    fn statement(&mut self, s: &S, registers: &mut Vec<Int>) -> Result<Flow, Outcome> {
        self.spend()?;
        match s {
            S::Skip => {}
            S::Register(r, e) => registers[*r] = self.eval(e, registers)?,
            S::Store(target, e) => {
                let index = self.index(target, registers)?;
                let value = self.eval(e, registers)?;
                let at = self.resolve(target, index)?;
                self.store(at, value);
            }
            S::If(c, yes, no) => {
                let taken = if is_true(&self.eval(c, registers)?) { yes } else { no };
                return self.block(taken, registers);
            }
            S::While(c, body) => return self.looped(Some(c), body, None, registers),
            S::Loop(body) => return self.looped(None, body, None, registers),
            S::For(_, count, body) => {
                for _ in 0..*count {
                    match self.block(body, registers)? {
                        Flow::Break => break,
                        Flow::Next | Flow::Continue => {}
                        away => return Ok(away),
                    }
                }
            }
            S::Atomic(body) => return self.atomic(body, registers),
            S::Await(c) => {
                while !is_true(&self.eval(c, registers)?) {
                    self.spend()?;
                }
            }
            S::Assume(c) if !is_true(&self.eval(c, registers)?) => return Err(Outcome::NoEnd),
            S::Assert(c) if !is_true(&self.eval(c, registers)?) => return Err(Outcome::Assertion),
            S::Assume(_) | S::Assert(_) => {}
            S::Arw(target, old, new) => {
                let index = self.index(target, registers)?;
                let (old, new) = (self.eval(old, registers)?, self.eval(new, registers)?);
                let at = self.resolve(target, index)?;
                // A step that is not possible leaves nothing behind; in a section, the load is a step.
                if self.memory[at] != old && !self.atomic {
                    return Err(Outcome::NoEnd);
                }
                self.locked(|d| {
                    if d.load(at) != old {
                        return Err(Outcome::NoEnd);
                    }
                    d.store(at, new);
                    Ok(())
                })?;
            }
            S::Evaluate(e) => drop(self.eval(e, registers)?),
            S::Locked(parts) => return self.at_once(parts, true, registers),
            S::Together(parts) => return self.at_once(parts, false, registers),
            S::Label(_) => {}
            S::Goto(label) => return Ok(Flow::Goto(*label)),
            S::Break => return Ok(Flow::Break),
            S::Continue => return Ok(Flow::Continue),
            S::Stop => return Err(Outcome::Ended),
            S::Return(e) => return Ok(Flow::Return(self.eval(e, registers)?)),
            _ => unreachable!("not generated"),
        }
        Ok(Flow::Next)
    }

    /// Several statements as one step; if one of them is not possible, nothing has happened.
    fn at_once(&mut self, parts: &[S], locked: bool, registers: &mut Vec<Int>) -> Result<Flow, Outcome> {
        let before = self.events.len();
        let done = match locked {
            true => self.locked(|direct| direct.block(parts, registers)),
            false => self.block(parts, registers),
        };
        if done.is_err() {
            self.events.truncate(before);
        }
        done
    }

    fn atomic(&mut self, body: &[S], registers: &mut Vec<Int>) -> Result<Flow, Outcome> {
        if self.atomic {
            return self.block(body, registers);
        }
        self.atomic = true;
        self.events.push(Event::Lock);
        let result = self.block(body, registers);
        if matches!(result, Ok(_) | Err(Outcome::Ended)) {
            self.events.push(Event::Unlock);
        }
        self.atomic = false;
        result
    }
}

/// Whether a label is the statement or stands in it.
fn has_label(s: &S, label: usize) -> bool {
    matches!(s, S::Label(l) if *l == label) || s.bodies().into_iter().flatten().any(|s| has_label(s, label))
}

fn cell(index: &Int) -> Result<usize, Outcome> {
    let inside = (0..CELLS).find(|at| Int::from(*at) == *index);
    inside.map(|at| VARIABLES + at).ok_or(Outcome::Bounds)
}

pub fn initial() -> Vec<Int> {
    [0, 1, 2, 0, 1].map(Int::from).to_vec()
}

pub fn run_directly(whole: &Whole) -> (Vec<Event>, Outcome) {
    let mut direct = Direct { whole, memory: initial(), events: Vec::new(), fuel: FUEL, atomic: false };
    let mut registers = vec![Int::from(0); REGISTERS];
    let outcome = match direct.block(&whole.threads[0], &mut registers) {
        Ok(_) => Outcome::Ended,
        Err(outcome) => outcome,
    };
    (direct.events, outcome)
}
