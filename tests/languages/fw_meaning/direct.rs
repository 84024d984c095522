//! Running a program as it is written.

mod places;

pub use places::initial;

use super::FUEL;
use places::{Frame, cell, whole_thread};
use program::Int;
use support::texts::{Case, E, S, Target, Updating, Whole};

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
    Shift,
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
    /// Of the thread, and of every function that is being called.
    frames: Vec<Frame>,
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

    fn eval(&mut self, e: &E) -> Result<Int, Outcome> {
        Ok(match e {
            E::Const(value) => Int::from(*value),
            E::Huge => unreachable!("not generated"),
            E::Register(r) => self.register(*r),
            E::Variable(v) => self.load(*v),
            E::Cell(index) => {
                let at = cell(&self.eval(index)?).ok_or(Outcome::Bounds)?;
                self.load(at)
            }
            E::Negative(e) => -self.eval(e)?,
            E::Binary(op, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                small(op.apply(&a, &b).ok_or(Outcome::Division)?)?
            }
            E::Shift(left, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                shifted(*left, &a, &b)?
            }
            E::Conditional(parts) => {
                let [c, a, b] = parts.as_ref();
                let chosen = if is_true(&self.eval(c)?) { a } else { b };
                self.eval(chosen)?
            }
            E::Part(root, path) => {
                let place = self.inside(*root, path)?;
                self.read(place)?
            }
            E::Compare(relation, a, b) => {
                let (a, b) = (self.eval(a)?, self.eval(b)?);
                truth(relation.holds(&a, &b))
            }
            E::Not(e) => truth(!is_true(&self.eval(e)?)),
            E::And(a, b) => {
                let both = is_true(&self.eval(a)?) && is_true(&self.eval(b)?);
                truth(both)
            }
            E::Or(a, b) => {
                let one = is_true(&self.eval(a)?) || is_true(&self.eval(b)?);
                truth(one)
            }
            E::Cas(target, old, new) => {
                let place = self.place(target)?;
                let (old, new) = (self.eval(old)?, self.eval(new)?);
                let at = place.variable()?;
                self.locked(|d| {
                    let equal = d.load(at) == old;
                    if equal {
                        d.store(at, new);
                    }
                    truth(equal)
                })
            }
            E::Swap(target, value) => self.update(target, value, |_, value| Some(value))?,
            E::Fetch(op, target, value) => self.update(target, value, |old, value| op.apply(old, &value))?,
            E::Cmpxchg(target, old, new) => {
                let place = self.place(target)?;
                let (old, new) = (self.eval(old)?, self.eval(new)?);
                let at = place.variable()?;
                self.locked(|d| {
                    let before = d.load(at);
                    if before == old {
                        d.store(at, new);
                    }
                    before
                })
            }
            E::Call(f, a, b) => {
                let registers = vec![self.eval(a)?, self.eval(b)?, Int::from(0)];
                let whole = self.whole;
                self.call(&whole.functions[*f], Frame { registers, lent: Vec::new() })?
            }
        })
    }

    /// An atomic operation that stores; it is the value before.
    fn update(
        &mut self,
        target: &Target,
        value: &E,
        new: impl FnOnce(&Int, Int) -> Option<Int>,
    ) -> Result<Int, Outcome> {
        let place = self.place(target)?;
        let value = self.eval(value)?;
        let at = place.variable()?;
        let updated = self.locked(|d| {
            let old = d.load(at);
            d.store(at, new(&old, value)?);
            Some(old)
        });
        updated.ok_or(Outcome::Division)
    }

    fn call(&mut self, body: &[S], frame: Frame) -> Result<Int, Outcome> {
        self.frames.push(frame);
        let flow = self.block(body)?;
        self.frames.pop();
        match flow {
            Flow::Return(value) => Ok(value),
            _ => Ok(Int::from(0)),
        }
    }

    fn block(&mut self, block: &[S]) -> Result<Flow, Outcome> {
        self.run(block, None)
    }

    /// Runs a block from its start, or from a label in it.
    fn run(&mut self, block: &[S], mut from: Option<usize>) -> Result<Flow, Outcome> {
        let position = |label: usize| block.iter().position(|s| has_label(s, label));
        let mut at = from.and_then(position).unwrap_or(0);
        while let Some(statement) = block.get(at) {
            let flow = match from.take() {
                Some(label) => self.enter(statement, label)?,
                None => self.statement(statement)?,
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
    fn enter(&mut self, s: &S, label: usize) -> Result<Flow, Outcome> {
        match s {
            S::If(_, yes, no) => {
                let inside = if yes.iter().any(|s| has_label(s, label)) { yes } else { no };
                self.run(inside, Some(label))
            }
            S::While(c, body) => self.looped(Some(c), body, Some(label)),
            S::DoWhile(body, c) => self.do_while(body, c, Some(label)),
            S::Switch(_, cases) => {
                let inside = |case: &Case| case.body.iter().any(|s| has_label(s, label));
                self.switched(&cases[cases.iter().position(inside).unwrap_or(0)..], Some(label))
            }
            S::Loop(body) => self.looped(None, body, Some(label)),
            _ => Ok(Flow::Next),
        }
    }

    /// A loop, from its start or from a label in its body.
    fn looped(
        &mut self,
        condition: Option<&E>,
        body: &[S],
        mut from: Option<usize>,
    ) -> Result<Flow, Outcome> {
        loop {
            if from.is_none()
                && let Some(c) = condition
                && !is_true(&self.eval(c)?)
            {
                return Ok(Flow::Next);
            }
            self.spend()?;
            match self.run(body, from.take())? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Next | Flow::Continue => {}
                away => return Ok(away),
            }
        }
    }

    /// A loop that tests behind its body, where `continue` goes, too.
    fn do_while(&mut self, body: &[S], c: &E, mut from: Option<usize>) -> Result<Flow, Outcome> {
        loop {
            self.spend()?;
            match self.run(body, from.take())? {
                Flow::Break => return Ok(Flow::Next),
                Flow::Next | Flow::Continue => {}
                away => return Ok(away),
            }
            if !is_true(&self.eval(c)?) {
                return Ok(Flow::Next);
            }
        }
    }

    /// All cases from one on, which may be entered at a label.
    fn switched(&mut self, cases: &[Case], mut from: Option<usize>) -> Result<Flow, Outcome> {
        for case in cases {
            match self.run(&case.body, from.take())? {
                Flow::Next => {}
                Flow::Break => return Ok(Flow::Next),
                away => return Ok(away),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, s: &S) -> Result<Flow, Outcome> {
        self.spend()?;
        match s {
            S::Skip => {}
            S::Register(r, e) => {
                let value = self.eval(e)?;
                self.set_register(*r, value);
            }
            S::Store(target, e) => {
                let place = self.place(target)?;
                let value = self.eval(e)?;
                self.write(place, value)?;
            }
            S::If(c, yes, no) => {
                let taken = if is_true(&self.eval(c)?) { yes } else { no };
                return self.block(taken);
            }
            S::While(c, body) => return self.looped(Some(c), body, None),
            S::DoWhile(body, c) => return self.do_while(body, c, None),
            S::Switch(value, cases) => {
                let value = self.eval(value)?;
                let here = |case: &Case| case.values.iter().any(|v| Int::from(*v) == value);
                let other = || cases.iter().position(|case| case.values.is_empty());
                let first = cases.iter().position(here).or_else(other).unwrap_or(cases.len());
                return self.switched(&cases[first..], None);
            }
            S::Update(target, op, value) => {
                let place = self.place(target)?;
                let now = self.read(place)?;
                let value = value.as_ref().map_or(Ok(Int::from(1)), |value| self.eval(value))?;
                let value = match op {
                    Updating::Arith(op) => small(op.apply(&now, &value).ok_or(Outcome::Division)?)?,
                    Updating::Shift(left) => shifted(*left, &now, &value)?,
                };
                self.write(place, value)?;
            }
            S::Lend(h, u, v, e) => {
                let lent = vec![self.place(u)?, self.place(v)?];
                let registers = vec![self.eval(e)?, Int::from(0), Int::from(0)];
                let whole = self.whole;
                self.call(&whole.borrowers[*h], Frame { registers, lent })?;
            }
            S::Loop(body) => return self.looped(None, body, None),
            S::For(_, count, body) => {
                for _ in 0..*count {
                    match self.block(body)? {
                        Flow::Break => break,
                        Flow::Next | Flow::Continue => {}
                        away => return Ok(away),
                    }
                }
            }
            S::Atomic(body) => return self.atomic(body),
            S::Await(c) => {
                while !is_true(&self.eval(c)?) {
                    self.spend()?;
                }
            }
            S::Assume(c) if !is_true(&self.eval(c)?) => return Err(Outcome::NoEnd),
            S::Assert(c) if !is_true(&self.eval(c)?) => return Err(Outcome::Assertion),
            S::Assume(_) | S::Assert(_) => {}
            S::Arw(target, old, new) => {
                let place = self.place(target)?;
                let (old, new) = (self.eval(old)?, self.eval(new)?);
                let at = place.variable()?;
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
            S::Evaluate(e) => drop(self.eval(e)?),
            S::Locked(parts) => return self.at_once(parts, true),
            S::Together(parts) => return self.at_once(parts, false),
            S::Label(_) => {}
            S::Goto(label) => return Ok(Flow::Goto(*label)),
            S::Break => return Ok(Flow::Break),
            S::Continue => return Ok(Flow::Continue),
            S::Stop => return Err(Outcome::Ended),
            S::Return(e) => return Ok(Flow::Return(self.eval(e)?)),
            _ => unreachable!("not generated"),
        }
        Ok(Flow::Next)
    }

    /// Several statements as one step; if one of them is not possible, nothing has happened.
    fn at_once(&mut self, parts: &[S], locked: bool) -> Result<Flow, Outcome> {
        let before = self.events.len();
        let done = match locked {
            true => self.locked(|direct| direct.block(parts)),
            false => self.block(parts),
        };
        if done.is_err() {
            self.events.truncate(before);
        }
        done
    }

    fn atomic(&mut self, body: &[S]) -> Result<Flow, Outcome> {
        if self.atomic {
            return self.block(body);
        }
        self.atomic = true;
        self.events.push(Event::Lock);
        let result = self.block(body);
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

/// Where numbers grow without end, it is not followed.
fn small(value: Int) -> Result<Int, Outcome> {
    if value.bits() > 500 { Err(Outcome::NoEnd) } else { Ok(value) }
}

fn shifted(left: bool, value: &Int, places: &Int) -> Result<Int, Outcome> {
    let places = (0..64usize).find(|count| Int::from(*count) == *places).ok_or(Outcome::Shift)?;
    // Of integers, `>>` rounds down.
    small(if left { value << places } else { value >> places })
}

pub fn run_directly(whole: &Whole) -> (Vec<Event>, Outcome) {
    let (memory, frames) = (initial(), vec![whole_thread()]);
    let mut direct = Direct { whole, memory, frames, events: Vec::new(), fuel: FUEL, atomic: false };
    let outcome = match direct.block(&whole.threads[0]) {
        Ok(_) => Outcome::Ended,
        Err(outcome) => outcome,
    };
    (direct.events, outcome)
}
