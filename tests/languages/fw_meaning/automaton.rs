//! Running the automaton that the front end made of a program.

use super::FUEL;
use super::direct::{Event, Outcome, initial};
use program::{Cond, FailureKind, Int, Op, Program, RegId, Thread};

#[derive(Clone)]
struct Machine {
    memory: Vec<Int>,
    registers: Vec<Int>,
}

impl Machine {
    fn value(&self, e: &program::Expr<RegId>) -> Option<Int> {
        let value = e.eval(&|r: &RegId| self.registers[r.index()].clone()).expect("divisors are guarded");
        (value.bits() <= 1000).then_some(value)
    }

    fn holds(&self, cond: &Cond<RegId>) -> bool {
        cond.eval(&|r: &RegId| self.registers[r.index()].clone()).expect("divisors are guarded")
    }

    /// The machine after a step, and what it did to memory; `None` if the step is not possible.
    fn after(&self, op: &Op) -> Option<(Machine, Vec<Event>)> {
        let mut next = self.clone();
        let mut events = Vec::new();
        match op {
            Op::Skip => {}
            Op::Assign(r, e) => next.registers[r.index()] = self.value(e)?,
            Op::Assume(cond) => return self.holds(cond).then_some((next, events)),
            Op::Load(r, v) => {
                next.registers[r.index()] = self.memory[v.index()].clone();
                events.push(Event::Load(v.index()));
            }
            Op::Store(v, e) => {
                next.memory[v.index()] = self.value(e)?;
                events.push(Event::Store(v.index(), self.value(e)?));
            }
            Op::Lock => events.push(Event::Lock),
            Op::Unlock => events.push(Event::Unlock),
            Op::Block { locked, parts } => {
                events.extend(locked.then_some(Event::Lock));
                for part in parts {
                    let (after, done) = next.after(part)?;
                    events.extend(done);
                    next = after;
                }
                events.extend(locked.then_some(Event::Unlock));
            }
            Op::Havoc(..) | Op::Fence(_) => unreachable!("not generated"),
        }
        Some((next, events))
    }
}

pub fn run_automaton(program: &Program) -> (Vec<Event>, Outcome) {
    let thread: &Thread = &program.threads[0];
    let registers = vec![Int::from(0); thread.registers.len()];
    let mut machine = Machine { memory: initial(), registers };
    let (mut at, mut events) = (thread.entry(), Vec::new());
    for _ in 0..20 * FUEL {
        if let Some(failure) = &thread.location(at).failure {
            let outcome = match failure.kind {
                FailureKind::Assertion | FailureKind::Limit(_) => Outcome::Assertion,
                FailureKind::Error(_) => Outcome::Shift,
                FailureKind::Bounds { .. } => Outcome::Bounds,
                FailureKind::Division => Outcome::Division,
            };
            return (events, outcome);
        }
        if thread.is_end(at) {
            return (events, Outcome::Ended);
        }
        let after = thread.outgoing(at).filter_map(|(_, edge)| Some((machine.after(&edge.op)?, edge.to)));
        let possible: Vec<_> = after.collect();
        assert!(possible.len() < 2, "these programs are deterministic");
        let Some(((next, done), to)) = possible.into_iter().next() else { break };
        events.extend(done);
        (machine, at) = (next, to);
    }
    (events, Outcome::NoEnd)
}
