//! The tree of a process to a thread.
//!
//! An instruction whose value would leave its domain waits. For a value computed from
//! registers that is an `assume` in front (registers are local, so nothing can change between
//! the two); for a value read from memory it is part of the reading step. A pointer is a
//! choice between the variables it may point to, each behind an `assume`. A jump at the start
//! of a branch, or at a label, is a step of its own; elsewhere it joins two places.

use super::domains::{must_hold, range};
use super::syntax::{Declaration, Labelled, MemoryOperand, Process, RmmStatement, WriteStrength};
use crate::Diagnostic;
use num_traits::ToPrimitive;
use program::{Cond, Domain, Expr, Fence, Loc, Op, RegId, Relation, Span, Thread, ThreadBuilder, VarId};
use std::collections::HashMap;

/// A locked block with more ways through it than this is refused.
const MAX_WAYS: usize = 1024;

/// The shared variables: their domains, and where to find them.
#[derive(Debug, Default)]
pub(super) struct Variables {
    pub(super) domains: Vec<Domain>,
    /// Global variables come first, in the order of their declaration.
    pub(super) globals: HashMap<String, VarId>,
    /// Variables of processes, by name and owner.
    pub(super) owned: HashMap<(String, usize), VarId>,
}

/// Lowers one process. Registers in `skipped` start at 0 though they may start anywhere:
/// the caller has seen that nobody looks.
pub(super) fn lower(
    index: usize,
    process: &Process,
    variables: &Variables,
    skipped: &[RegId],
    max_size: usize,
) -> Result<Thread, Vec<Diagnostic>> {
    let mut builder = ThreadBuilder::new(format!("P{index}"));
    for register in &process.registers {
        builder.register(register.name.clone());
    }
    let start = presets(&mut builder, &process.registers, skipped);
    let mut lowering = RmmLowering {
        index,
        max_size,
        variables,
        domains: process.registers.iter().map(|register| register.domain.clone()).collect(),
        seen_name: unused_name(&process.registers),
        seen: None,
        labels: HashMap::new(),
        errors: Vec::new(),
        builder,
    };
    lowering.list(start, &process.text, false);
    lowering.check_labels();
    if !lowering.errors.is_empty() {
        return Err(lowering.errors);
    }
    lowering.builder.finish().map_err(|invalid| vec![invalid.into()])
}

/// Steps that give registers their first values; where they lead.
fn presets(builder: &mut ThreadBuilder, registers: &[Declaration], skipped: &[RegId]) -> Loc {
    let mut at = builder.entry();
    for (number, register) in registers.iter().enumerate() {
        let id = RegId::new(number);
        let op = match &register.initial {
            None if skipped.contains(&id) => continue,
            None => Op::Havoc(id, register.domain.clone()),
            Some(value) if *value == 0.into() => continue,
            Some(value) => Op::Assign(id, Expr::Const(value.clone())),
        };
        at = builder.step(at, op, register.span);
    }
    at
}

fn unused_name(registers: &[Declaration]) -> String {
    let mut name = "seen".to_string();
    while registers.iter().any(|register| register.name == name) {
        name.push('_');
    }
    name
}

struct JumpLabel {
    loc: Loc,
    defined: Option<Span>,
    used: Span,
}

struct RmmLowering<'a> {
    index: usize,
    max_size: usize,
    variables: &'a Variables,
    domains: Vec<Domain>,
    seen_name: String,
    seen: Option<RegId>,
    labels: HashMap<String, JumpLabel>,
    errors: Vec<Diagnostic>,
    builder: ThreadBuilder,
}

/// A variable a statement may mean, and when it means it.
type Choice = (Option<Cond<RegId>>, VarId);

impl RmmLowering<'_> {
    /// A sequence of statements. `fresh` says that `from` may be joined with another place.
    fn list(&mut self, mut from: Loc, statements: &[Labelled], mut fresh: bool) -> Loc {
        for statement in statements {
            if self.builder.size() > self.max_size {
                if self.errors.len() < 20 {
                    self.errors.push(Diagnostic::error(statement.span, "this process is too large"));
                }
                return from;
            }
            from = self.labelled(from, statement, fresh);
            fresh = true;
        }
        from
    }

    fn labelled(&mut self, from: Loc, statement: &Labelled, fresh: bool) -> Loc {
        self.builder.describe(from, statement.span);
        if let Some((name, span)) = &statement.label {
            self.define(name, *span, from);
        }
        let fresh = fresh && statement.label.is_none();
        self.statement(from, &statement.statement, statement.span, fresh)
    }

    fn define(&mut self, name: &str, span: Span, here: Loc) {
        match self.labels.get_mut(name) {
            Some(JumpLabel { defined: Some(first), .. }) => {
                let error =
                    Diagnostic::error(span, format!("the label `{name}` is set twice in this process"));
                self.errors.push(error.related(*first, "first set here"));
            }
            Some(label) => {
                label.defined = Some(span);
                self.builder.merge(label.loc, here, span);
                self.builder.label(here, name);
            }
            None => {
                self.labels
                    .insert(name.to_string(), JumpLabel { loc: here, defined: Some(span), used: span });
                self.builder.label(here, name);
            }
        }
    }

    fn target(&mut self, name: &str, span: Span) -> Loc {
        if let Some(label) = self.labels.get(name) {
            return label.loc;
        }
        let loc = self.builder.location(Span::NONE);
        self.labels.insert(name.to_string(), JumpLabel { loc, defined: None, used: span });
        loc
    }

    fn check_labels(&mut self) {
        let mut missing: Vec<(&String, Span)> =
            self.labels.iter().filter(|(_, l)| l.defined.is_none()).map(|(name, l)| (name, l.used)).collect();
        missing.sort();
        for (name, span) in missing {
            self.errors.push(Diagnostic::error(span, format!("there is no label `{name}` in this process")));
        }
    }

    fn statement(&mut self, from: Loc, statement: &RmmStatement, span: Span, fresh: bool) -> Loc {
        match statement {
            RmmStatement::Goto(label) => {
                let target = self.target(label, span);
                if fresh {
                    self.builder.merge(from, target, span);
                } else {
                    self.builder.edge(from, Op::Skip, target, span);
                }
                self.builder.location(Span::NONE)
            }
            RmmStatement::Sequence(inner) => self.list(from, inner, fresh),
            RmmStatement::If(cond, yes, no) => {
                let start = self.builder.step(from, Op::Assume(cond.clone()), span);
                let end = self.labelled(start, yes, true);
                let other = self.builder.step(from, Op::Assume(cond.clone().negate()), span);
                let other = match no {
                    Some(no) => self.labelled(other, no, true),
                    None => other,
                };
                self.builder.merge(end, other, span);
                end
            }
            RmmStatement::While(cond, body) => {
                let start = self.builder.step(from, Op::Assume(cond.clone()), span);
                let end = self.labelled(start, body, true);
                self.builder.merge(end, from, span);
                self.builder.step(from, Op::Assume(cond.clone().negate()), span)
            }
            RmmStatement::Either(alternatives) => {
                let after = self.builder.location(Span::NONE);
                for alternative in alternatives {
                    let end = self.list(from, alternative, false);
                    self.builder.merge(after, end, span);
                }
                after
            }
            RmmStatement::Locked(alternatives) => self.locked(from, alternatives, span),
            plain => {
                let after = self.builder.location(Span::NONE);
                for way in self.instruction(plain, span) {
                    self.builder.way(from, way, after, span);
                }
                after
            }
        }
    }

    /// The ways through an instruction that is neither control nor a locked block.
    fn instruction(&mut self, statement: &RmmStatement, span: Span) -> Vec<Vec<Op>> {
        let memory = match statement {
            RmmStatement::Read(_, memory)
            | RmmStatement::Await(memory, _)
            | RmmStatement::Write(memory, ..)
            | RmmStatement::Cas(memory, ..) => memory,
            RmmStatement::Fence => return vec![vec![Op::Fence(Fence::Full)]],
            RmmStatement::StoreFence => return vec![vec![Op::Fence(Fence::Store)]],
            RmmStatement::Assign(register, value) => return vec![self.assign(*register, value)],
            RmmStatement::Assume(cond) => return vec![vec![Op::Assume(cond.clone())]],
            _ => return vec![vec![Op::Skip]],
        };
        let choices = self.choices(memory, span);
        let way = |(cond, variable): Choice| {
            let guard = cond.map(Op::Assume);
            guard.into_iter().chain(self.access(statement, variable)).collect()
        };
        choices.into_iter().map(way).collect()
    }

    /// What an instruction does with the variable it means.
    fn access(&mut self, statement: &RmmStatement, variable: VarId) -> Vec<Op> {
        match statement {
            RmmStatement::Read(register, _) => vec![Op::together(self.read(*register, variable))],
            RmmStatement::Await(_, value) => vec![Op::together(wait(self.seen(), variable, value))],
            RmmStatement::Write(_, value, WriteStrength::Plain) => self.write(variable, value),
            RmmStatement::Write(_, value, WriteStrength::Locked) => {
                vec![Op::locked(self.write(variable, value))]
            }
            RmmStatement::Write(_, value, WriteStrength::StoreLocked) => {
                [self.write(variable, value), vec![Op::Fence(Fence::Store)]].concat()
            }
            RmmStatement::Cas(_, old, new) => {
                let found = wait(self.seen(), variable, old);
                vec![Op::locked([found, self.write(variable, new)].concat())]
            }
            _ => Vec::new(),
        }
    }

    fn seen(&mut self) -> RegId {
        *self.seen.get_or_insert_with(|| self.builder.register(self.seen_name.clone()))
    }

    fn assign(&self, register: RegId, value: &Expr<RegId>) -> Vec<Op> {
        let guard = must_hold(value, &range(value, &self.domains), &self.domains[register.index()]);
        guard.map(Op::Assume).into_iter().chain([Op::Assign(register, value.clone())]).collect()
    }

    fn write(&self, variable: VarId, value: &Expr<RegId>) -> Vec<Op> {
        let guard = must_hold(value, &range(value, &self.domains), &self.variables.domains[variable.index()]);
        guard.map(Op::Assume).into_iter().chain([Op::Store(variable, value.clone())]).collect()
    }

    fn read(&self, register: RegId, variable: VarId) -> Vec<Op> {
        let (from, to) = (&self.variables.domains[variable.index()], &self.domains[register.index()]);
        let guard = must_hold(&register.into(), from, to);
        [Op::Load(register, variable)].into_iter().chain(guard.map(Op::Assume)).collect()
    }

    /// A block of alternatives, each one step. It waits for empty buffers if any of them writes.
    fn locked(&mut self, from: Loc, alternatives: &[Vec<Labelled>], span: Span) -> Loc {
        let mut ways = Vec::new();
        for alternative in alternatives {
            ways.extend(self.block(alternative));
        }
        if ways.len() > MAX_WAYS {
            self.errors.push(Diagnostic::error(span, "there are too many ways through this locked block"));
            ways.clear();
        }
        let locked = ways.iter().flatten().any(|op| matches!(op, Op::Store(..)));
        let after = self.builder.location(Span::NONE);
        for parts in ways {
            let op = if locked { Op::locked(parts) } else { Op::together(parts) };
            self.builder.edge(from, op, after, span);
        }
        after
    }

    /// The ways through statements inside a locked block, as operations in order.
    fn block(&mut self, statements: &[Labelled]) -> Vec<Vec<Op>> {
        let mut ways = vec![Vec::new()];
        for statement in statements {
            if let Some((_, span)) = &statement.label {
                self.errors.push(Diagnostic::error(*span, "there are no labels inside a locked block"));
            }
            let steps: Vec<Vec<Op>> = match &statement.statement {
                RmmStatement::Nop => vec![Vec::new()],
                RmmStatement::Sequence(inner) => self.block(inner),
                RmmStatement::Either(inner) | RmmStatement::Locked(inner) => {
                    inner.iter().flat_map(|alternative| self.block(alternative)).collect()
                }
                RmmStatement::Goto(_)
                | RmmStatement::If(..)
                | RmmStatement::While(..)
                | RmmStatement::Fence
                | RmmStatement::StoreFence
                | RmmStatement::Write(_, _, WriteStrength::StoreLocked) => {
                    let message = "a locked block holds reads, writes, assignments and assumptions only";
                    self.errors.push(Diagnostic::error(statement.span, message));
                    Vec::new()
                }
                plain => self.instruction(plain, statement.span),
            };
            if ways.len() * steps.len() > MAX_WAYS {
                self.errors.push(Diagnostic::error(
                    statement.span,
                    "there are too many ways through this locked block",
                ));
                return Vec::new();
            }
            let extend = |way: &[Op], step: &[Op]| {
                way.iter().chain(step.iter().flat_map(Op::parts)).cloned().collect()
            };
            ways = ways.iter().flat_map(|way| steps.iter().map(|step| extend(way, step))).collect();
        }
        ways
    }

    fn choices(&mut self, memory: &MemoryOperand, span: Span) -> Vec<Choice> {
        let owned = |name: &str, owner| self.variables.owned.get(&(name.to_string(), owner));
        let found = match memory {
            MemoryOperand::Pointer(pointer) => return self.pointed_at(pointer, span),
            MemoryOperand::Global(name) => {
                let found = self.variables.globals.get(name);
                found.ok_or_else(|| format!("there is no global variable `{name}`"))
            }
            MemoryOperand::Mine(name) => {
                owned(name, self.index).ok_or_else(|| format!("this process has no variable `{name}`"))
            }
            MemoryOperand::Other(name, number) => {
                let found = owned(name, number.saturating_add(usize::from(*number >= self.index)));
                found.ok_or_else(|| format!("the other process of number {number} has no variable `{name}`"))
            }
        };
        let message = match found {
            Ok(variable) => return vec![(None, *variable)],
            Err(message) => message,
        };
        let mut error = Diagnostic::error(span, message);
        if let MemoryOperand::Global(name) = memory
            && self.variables.owned.keys().any(|(other, _)| other == name)
        {
            error = error.hint(format!("write `{name}[my]` or `{name}[0]`"));
        }
        self.errors.push(error);
        Vec::new()
    }

    /// The global variables a pointer may mean.
    fn pointed_at(&mut self, pointer: &Expr<RegId>, span: Span) -> Vec<Choice> {
        let count = self.variables.globals.len();
        let values = range(pointer, &self.domains);
        let may = |at: &usize| values.contains(&(*at).into());
        let found: Vec<usize> = (0..count).filter(may).collect();
        if found.is_empty() {
            self.errors.push(Diagnostic::error(span, "this pointer can point to no global variable"));
        }
        let sure = values.single().and_then(|value| value.to_usize());
        let choice = |at: usize| {
            let cond = Cond::compare(Relation::Eq, pointer.clone(), Expr::Const(at.into()));
            (if sure == Some(at) { None } else { Some(cond) }, VarId::new(at))
        };
        found.into_iter().map(choice).collect()
    }
}

/// Loads a variable and passes only if it has the value.
fn wait(seen: RegId, variable: VarId, value: &Expr<RegId>) -> Vec<Op> {
    vec![Op::Load(seen, variable), Op::Assume(Cond::compare(Relation::Eq, seen, value.clone()))]
}
