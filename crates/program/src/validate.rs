//! Well-formedness of programs, for front ends and for hand-made programs alike.
//! What passes here cannot make anything below fail.

use crate::{Cond, Domain, FailureKind, Op, Place, Program, RegId, Relation, Span, Thread, ThreadId, VarId};
use std::collections::HashSet;
use std::fmt;

/// What is wrong with a program, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Invalid {
    /// The offending place in the source.
    pub span: Span,
    /// What is wrong.
    pub message: String,
}

impl Invalid {
    pub(crate) fn new(span: Span, message: impl Into<String>) -> Invalid {
        Invalid { span, message: message.into() }
    }
}

impl fmt::Display for Invalid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Invalid {}

impl Program {
    /// Checks that names are distinct, ids exist, domains are not empty and atomic steps hold
    /// only what they may. Returns every fault found.
    pub fn validate(&self) -> Result<(), Vec<Invalid>> {
        let mut faults = Vec::new();
        if self.threads.is_empty() {
            faults.push(Invalid::new(Span::NONE, "a program needs at least one thread"));
        }
        self.check_names(&mut faults);
        for variable in &self.variables {
            check_domain(&variable.initial, variable.span, &mut faults);
        }
        for thread in &self.threads {
            self.check_thread(thread, &mut faults);
        }
        let properties = self.properties.iter().map(|p| (&p.cond, p.span));
        for (cond, span) in properties.chain(self.hints.iter().map(|h| (&h.cond, h.span))) {
            self.check_places(cond, span, &mut faults);
        }
        for start in &self.starts {
            self.check_places(&start.cond, start.span, &mut faults);
            start.cond.for_each_leaf(&mut |place| {
                if !matches!(place, Place::Memory(_)) {
                    faults.push(Invalid::new(start.span, "initial values are those of shared variables"));
                }
            });
        }
        self.check_question(&mut faults);
        if faults.is_empty() { Ok(()) } else { Err(faults) }
    }

    fn check_question(&self, faults: &mut Vec<Invalid>) {
        let Some(question) = &self.question else { return };
        self.check_places(&question.cond, question.span, faults);
        self.check_places(&question.filter, question.span, faults);
        let listed = question.places().into_iter().map(|place| Cond::compare(Relation::Eq, place, 0));
        self.check_places(&Cond::and(listed.collect::<Vec<_>>()), question.span, faults);
    }

    fn check_names(&self, faults: &mut Vec<Invalid>) {
        let mut names = HashSet::new();
        for variable in &self.variables {
            if !names.insert(&variable.name) {
                let message = format!("the variable `{}` is declared twice", variable.name);
                faults.push(Invalid::new(variable.span, message));
            }
        }
        let mut names = HashSet::new();
        for thread in &self.threads {
            if !names.insert(&thread.name) {
                let message = format!("there are two threads named `{}`", thread.name);
                faults.push(Invalid::new(thread.location(thread.entry()).span, message));
            }
        }
    }

    fn check_thread(&self, thread: &Thread, faults: &mut Vec<Invalid>) {
        let mut names = HashSet::new();
        for register in &thread.registers {
            if !names.insert(register) {
                let message = format!("thread `{}` has two registers named `{register}`", thread.name);
                faults.push(Invalid::new(thread.location(thread.entry()).span, message));
            }
        }
        for edge in thread.edges() {
            self.check_op(thread, &edge.op, edge.span, faults);
        }
        for loc in thread.locs() {
            if let Some(failure) = &thread.location(loc).failure
                && let FailureKind::Bounds { index, .. } = &failure.kind
                && index.any_leaf(|r| r.index() >= thread.registers.len())
            {
                faults.push(Invalid::new(failure.span, "unknown register"));
            }
        }
    }

    fn check_op(&self, thread: &Thread, op: &Op, span: Span, faults: &mut Vec<Invalid>) {
        match op {
            Op::Block { locked, parts } => {
                for part in parts {
                    let allowed = match part {
                        Op::Assign(..) | Op::Assume(_) | Op::Load(..) => true,
                        Op::Store(..) => *locked,
                        _ => false,
                    };
                    if !allowed {
                        faults.push(Invalid::new(span, "this cannot be part of one atomic step"));
                    }
                    self.check_op(thread, part, span, faults);
                }
            }
            Op::Havoc(_, domain) => check_domain(domain, span, faults),
            Op::Load(_, variable) | Op::Store(variable, _) => self.check_variable(*variable, span, faults),
            _ => {}
        }
        let known = |r: RegId| r.index() < thread.registers.len();
        let mut unknown = op.writes().is_some_and(|r| !known(r));
        op.for_each_read(&mut |r| unknown |= !known(*r));
        if unknown {
            faults.push(Invalid::new(span, "unknown register"));
        }
    }

    fn check_variable(&self, variable: VarId, span: Span, faults: &mut Vec<Invalid>) {
        if variable.index() >= self.variables.len() {
            faults.push(Invalid::new(span, "unknown variable"));
        }
    }

    fn check_places(&self, cond: &Cond<Place>, span: Span, faults: &mut Vec<Invalid>) {
        if cond.may_divide_by_zero() {
            faults.push(Invalid::new(span, "a property may only divide by constants other than 0"));
        }
        let thread = |id: ThreadId| self.threads.get(id.index());
        let unknown = |place: &Place| match *place {
            Place::Memory(v) => v.index() >= self.variables.len(),
            Place::Register(t, r) => thread(t).is_none_or(|t| r.index() >= t.registers.len()),
            Place::At(t, l) => thread(t).is_none_or(|t| l.index() >= t.locations.len()),
            Place::Drained(t) => thread(t).is_none(),
        };
        if cond.any_leaf(unknown) {
            faults.push(Invalid::new(span, "a property speaks of something that does not exist"));
        }
    }
}

fn check_domain(domain: &Domain, span: Span, faults: &mut Vec<Invalid>) {
    if let Domain::Range(low, high) = domain
        && low > high
    {
        faults.push(Invalid::new(span, format!("the range {low}..={high} holds no value")));
    }
}
