//! Which values decide what threads do.
//!
//! A value *decides* if a condition speaks of it, or if one that decides is computed from it. All others only flow: they
//! are loaded, computed with and stored, but whatever they are, threads take the same steps and loads read from the same
//! stores. For a question about nothing else (robustness) they may all be 0: then a choice among infinitely many numbers or a counter
//! that nobody looks at has no part in states. Accesses stay as they are, and so do locations and the numbers of edges,
//! so a run of one program is a run of the other with other values. What may be undefined (division) stays too, and what it is computed from decides.

use crate::{Domain, Op, Program, RegId, VarId};

/// The variables and the registers of each thread whose values decide.
struct Deciding {
    variables: Vec<bool>,
    registers: Vec<Vec<bool>>,
    changed: bool,
}

impl Program {
    /// The program with 0 for every value that decides nothing.
    pub fn deciding_part(&self) -> Program {
        let deciding = Deciding::of(self);
        let mut program = self.clone();
        for (variable, decides) in program.variables.iter_mut().zip(&deciding.variables) {
            if !decides && is_inhabited(&variable.initial) {
                variable.initial = Domain::only(variable.initial.example());
            }
        }
        for (thread, registers) in program.threads.iter_mut().zip(&deciding.registers) {
            thread.edges.iter_mut().for_each(|edge| deciding.forget(registers, &mut edge.op));
        }
        program
    }
}

impl Deciding {
    fn of(program: &Program) -> Deciding {
        let mut deciding = Deciding {
            variables: vec![false; program.variables.len()],
            registers: program.threads.iter().map(|thread| vec![false; thread.registers.len()]).collect(),
            changed: true,
        };
        for variable in program.assumed() {
            deciding.variables[variable.index()] = true;
        }
        while std::mem::take(&mut deciding.changed) {
            for (at, thread) in program.threads.iter().enumerate() {
                let parts = thread.edges().iter().flat_map(|edge| edge.op.parts());
                parts.for_each(|part| deciding.look(at, part));
            }
        }
        deciding
    }

    /// What decides because of one operation of a thread.
    fn look(&mut self, thread: usize, part: &Op) {
        let decides = match part {
            Op::Assume(_) => true,
            Op::Assign(register, value) => {
                self.registers[thread][register.index()] || value.may_divide_by_zero()
            }
            Op::Store(variable, value) => self.variables[variable.index()] || value.may_divide_by_zero(),
            Op::Load(register, variable) => {
                if self.registers[thread][register.index()] {
                    self.variable(*variable);
                }
                false
            }
            _ => false,
        };
        if decides {
            part.for_each_read(&mut |register| self.register(thread, *register));
        }
    }

    fn register(&mut self, thread: usize, register: RegId) {
        self.changed |= !std::mem::replace(&mut self.registers[thread][register.index()], true);
    }

    fn variable(&mut self, variable: VarId) {
        self.changed |= !std::mem::replace(&mut self.variables[variable.index()], true);
    }

    /// Makes an operation forget values that decide nothing.
    fn forget(&self, registers: &[bool], op: &mut Op) {
        match op {
            Op::Block { parts, .. } => parts.iter_mut().for_each(|part| self.forget(registers, part)),
            Op::Assign(register, value) if !registers[register.index()] && !value.may_divide_by_zero() => {
                *value = 0.into();
            }
            Op::Havoc(register, domain) if !registers[register.index()] && is_inhabited(domain) => {
                *op = Op::Assign(*register, 0.into());
            }
            Op::Store(variable, value)
                if !self.variables[variable.index()] && !value.may_divide_by_zero() =>
            {
                *value = 0.into();
            }
            _ => {}
        }
    }
}

fn is_inhabited(domain: &Domain) -> bool {
    !matches!(domain, Domain::Range(low, high) if low > high)
}
