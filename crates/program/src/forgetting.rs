//! Programs that forget what some variables hold: what is safe without these values is safe.
//!
//! Numbers that grow for ever often decide who goes first, and not whether anything goes wrong. In the program without them
//! the forgotten variables always hold 0, and so does every register while it holds something computed from them; a comparison
//! that speaks of such a register may come out either way, so it is left out. Locations, the numbers of edges and all accesses
//! stay as they are.
//!
//! So take a run of the program, under any memory model, and put 0 for what is forgotten: conditions without some of their
//! comparisons still hold (there is no negation above a comparison), what is not forgotten is computed from nothing that is, and
//! claims speak of nothing that is. That is a run of the other program with the same violation. The opposite is not so.

use crate::{Cond, Domain, Expr, Op, Place, Program, RegId, Thread, VarId};

/// Which variables are forgotten, and which registers hold something computed from them.
struct Forgetting {
    variables: Vec<bool>,
    /// By thread, location and register.
    registers: Vec<Vec<Vec<bool>>>,
}

impl Program {
    /// These variables and all that hold what is computed from them.
    pub fn computed_from(&self, variables: &[VarId]) -> Vec<VarId> {
        let mut all = variables.to_vec();
        loop {
            let forgetting = Forgetting::of(self, &all);
            let more: Vec<VarId> = forgetting.leaks(self);
            if more.is_empty() {
                all.sort_unstable();
                return all;
            }
            all.extend(more);
        }
    }

    /// The program without the values of these variables. `None` if a claim speaks of something forgotten, if another variable
    /// is computed from it, or if a step could be undefined because of it.
    pub fn without_values(&self, variables: &[VarId]) -> Option<Program> {
        let known = variables.iter().all(|variable| variable.index() < self.variables.len());
        if !known || self.question.is_some() {
            return None;
        }
        let forgetting = Forgetting::of(self, variables);
        if !forgetting.leaks(self).is_empty() || self.observed().iter().any(|place| forgetting.holds(*place))
        {
            return None;
        }
        let mut program = Program { hints: Vec::new(), ..self.clone() };
        for (variable, forgotten) in program.variables.iter_mut().zip(&forgetting.variables) {
            if *forgotten {
                variable.initial = Domain::only(0);
            }
        }
        for start in &mut program.starts {
            start.cond = weaker(&start.cond, &|place| forgetting.holds(*place));
        }
        for (thread, registers) in program.threads.iter_mut().zip(&forgetting.registers) {
            for edge in &mut thread.edges {
                let mut now = registers[edge.from.index()].clone();
                edge.op = forgetting.without(&edge.op, &mut now)?;
            }
        }
        Some(program)
    }
}

impl Forgetting {
    fn of(program: &Program, variables: &[VarId]) -> Forgetting {
        let mut forgotten = vec![false; program.variables.len()];
        for variable in variables {
            forgotten[variable.index()] = true;
        }
        let registers = program.threads.iter().map(|thread| through_thread(thread, &forgotten)).collect();
        Forgetting { variables: forgotten, registers }
    }

    /// Whether a place may hold something forgotten.
    fn holds(&self, place: Place) -> bool {
        match place {
            Place::Memory(variable) => self.variables[variable.index()],
            Place::Register(thread, register) => {
                self.registers[thread.index()].iter().any(|here| here[register.index()])
            }
            Place::At(..) | Place::Drained(_) => false,
        }
    }

    /// The variables that are not forgotten but to which something is stored that is.
    fn leaks(&self, program: &Program) -> Vec<VarId> {
        let mut found = Vec::new();
        for (thread, registers) in program.threads.iter().zip(&self.registers) {
            for edge in thread.edges() {
                let mut now = registers[edge.from.index()].clone();
                for part in edge.op.parts() {
                    if let Op::Store(variable, value) = part
                        && speaks_of(value, &now)
                        && !self.variables[variable.index()]
                        && !found.contains(variable)
                    {
                        found.push(*variable);
                    }
                    follow(part, &self.variables, &mut now);
                }
            }
        }
        found
    }

    /// An operation without forgotten values; `now` says which registers hold some before it, and after it.
    fn without(&self, op: &Op, now: &mut [bool]) -> Option<Op> {
        if let Op::Block { locked, parts } = op {
            let parts = parts.iter().map(|part| self.without(part, now)).collect::<Option<_>>()?;
            return Some(Op::Block { locked: *locked, parts });
        }
        let new = match op {
            Op::Assign(register, value) if speaks_of(value, now) => Op::Assign(*register, 0.into()),
            Op::Store(variable, _) if self.variables[variable.index()] => Op::Store(*variable, 0.into()),
            Op::Assume(cond) => match weaker(cond, &|register| now[register.index()]) {
                Cond::Const(true) => Op::Skip,
                cond => Op::Assume(cond),
            },
            other => other.clone(),
        };
        follow(op, &self.variables, now);
        (new == *op || !op.may_divide_by_zero()).then_some(new)
    }
}

/// By location and register of a thread: whether it may hold something forgotten there.
fn through_thread(thread: &Thread, variables: &[bool]) -> Vec<Vec<bool>> {
    let mut found = vec![vec![false; thread.registers.len()]; thread.locs().count()];
    let mut grown = true;
    while std::mem::take(&mut grown) {
        for edge in thread.edges() {
            let mut now = found[edge.from.index()].clone();
            edge.op.parts().iter().for_each(|part| follow(part, variables, &mut now));
            for (known, forgotten) in found[edge.to.index()].iter_mut().zip(now) {
                grown |= forgotten && !std::mem::replace(known, true);
            }
        }
    }
    found
}

/// Which registers hold something forgotten after a part of an operation.
fn follow(part: &Op, variables: &[bool], now: &mut [bool]) {
    match part {
        Op::Load(register, variable) => now[register.index()] = variables[variable.index()],
        Op::Assign(register, value) => now[register.index()] = speaks_of(value, now),
        Op::Havoc(register, _) => now[register.index()] = false,
        _ => {}
    }
}

fn speaks_of(value: &Expr<RegId>, now: &[bool]) -> bool {
    value.any_leaf(|register| now[register.index()])
}

/// A condition without the comparisons that speak of something forgotten.
fn weaker<L: Clone>(cond: &Cond<L>, forgotten: &dyn Fn(&L) -> bool) -> Cond<L> {
    match cond {
        Cond::And(parts) => Cond::and(parts.iter().map(|part| weaker(part, forgotten))),
        Cond::Or(parts) => Cond::or(parts.iter().map(|part| weaker(part, forgotten))),
        Cond::Compare(..) if cond.any_leaf(forgotten) => Cond::TRUE,
        Cond::Compare(..) | Cond::Const(_) => cond.clone(),
    }
}
