//! What is declared outside threads: constants, shared variables, functions.

use super::LoweringState;
use crate::Diagnostic;
use crate::fw::ast::{Block, Function, FwExpr, Ident, Initial, Item, Rvalue, Shared, StmtKind};
use crate::fw::constants::{ConstantLookup, evaluate};
use crate::fw::limits;
use crate::fw::sink::{OrReported, Reported};
use num_traits::ToPrimitive;
use program::{Domain, Int, Program, Span, VarId, Variable};
use std::collections::{HashMap, HashSet};

/// What a name outside threads stands for.
pub(super) enum Global<'a> {
    Constant(Int),
    Scalar(VarId),
    /// The first cell and how many there are.
    Array(VarId, usize),
    Function(Inlined<'a>),
    /// Declared, but wrongly; reported.
    Broken,
}

/// A function and what its callers must know.
pub(super) struct Inlined<'a> {
    pub function: &'a Function<'a>,
    /// Whether it returns values.
    pub gives_value: bool,
    /// For each parameter, whether the body assigns to it.
    pub assigned: Vec<bool>,
}

/// All names outside threads, with where they were declared.
#[derive(Default)]
pub(super) struct Globals<'a> {
    pub names: HashMap<&'a str, (Global<'a>, Span)>,
}

impl<'a> Globals<'a> {
    /// Reads all declarations and adds the shared variables to the program.
    pub fn collect(
        items: &'a [Item<'a>],
        defines: &[(String, Int)],
        work: &mut LoweringState<'a>,
        program: &mut Program,
    ) -> Globals<'a> {
        let mut globals = Globals::default();
        globals.constants(items, defines, work);
        for item in items {
            match item {
                Item::Shared(list) => list.iter().for_each(|s| globals.shared(s, work, program)),
                Item::Function(function) => globals.function(function, work),
                _ => {}
            }
        }
        globals
    }

    fn declare(&mut self, name: Ident<'a>, what: Global<'a>, work: &mut LoweringState<'a>) {
        if let Some((_, first)) = self.names.get(name.text) {
            let error = Diagnostic::error(name.span, format!("`{}` is declared twice", name.text));
            work.sink.error(error.related(*first, "first declared here").hint("choose another name"));
            return;
        }
        self.names.insert(name.text, (what, name.span));
    }

    fn constants(&mut self, items: &'a [Item<'a>], defines: &[(String, Int)], work: &mut LoweringState<'a>) {
        let lists = items.iter().filter_map(|item| match item {
            Item::Constants(list) => Some(list),
            _ => None,
        });
        for (name, expr) in lists.flatten() {
            let given = defines.iter().rev().find(|(define, _)| define == name.text);
            let value = match given {
                Some((_, value)) => Ok(value.clone()),
                None => evaluate(expr, &|name| self.known(name)),
            };
            let what = match value {
                Ok(value) => Global::Constant(value),
                Err(fault) => {
                    work.report(fault);
                    Global::Broken
                }
            };
            self.declare(*name, what, work);
        }
        for (define, _) in defines {
            if !self.names.contains_key(define.as_str()) {
                self.unknown_define(define, work);
            }
        }
    }

    /// Constants are collected first, so whatever is named now is one.
    fn unknown_define(&self, define: &str, work: &mut LoweringState<'a>) {
        let mut names: Vec<String> = self.names.keys().map(|name| format!("`{name}`")).collect();
        names.sort();
        let hint = match names.as_slice() {
            [] => "the program declares no constants".to_string(),
            names => format!("the program's constants are {}", names.join(", ")),
        };
        let message = format!("the program has no constant `{define}` to give a value to");
        work.sink.error(Diagnostic::error(Span::NONE, message).hint(hint));
    }

    /// What a name means where a constant is wanted.
    pub fn known(&self, name: &str) -> ConstantLookup {
        match self.names.get(name).map(|(what, _)| what) {
            Some(Global::Constant(value)) => ConstantLookup::Constant(value.clone()),
            Some(Global::Scalar(_) | Global::Array(..)) => ConstantLookup::Other("a shared variable"),
            Some(Global::Function(_)) => ConstantLookup::Other("a function"),
            Some(Global::Broken) => ConstantLookup::Broken,
            None => ConstantLookup::Unknown,
        }
    }

    fn constant(&self, expr: &'a FwExpr<'a>, work: &mut LoweringState<'a>) -> OrReported<Int> {
        evaluate(expr, &|name| self.known(name)).map_err(|fault| work.report(fault))
    }

    fn shared(&mut self, shared: &'a Shared<'a>, work: &mut LoweringState<'a>, program: &mut Program) {
        let what = self.shared_cells(shared, work, program).unwrap_or(Global::Broken);
        self.declare(shared.name, what, work);
    }

    fn shared_cells(
        &self,
        shared: &'a Shared<'a>,
        work: &mut LoweringState<'a>,
        program: &mut Program,
    ) -> OrReported<Global<'a>> {
        let length = match &shared.length {
            Some(expr) => Some(self.length(expr, program.variables.len(), work)?),
            None if program.variables.len() >= limits::VARIABLES => {
                return Err(too_many_variables(shared.name.span, work));
            }
            None => None,
        };
        let initial = self.initial(shared, length, work)?;
        let first = VarId::new(program.variables.len());
        let duplicate = self.names.contains_key(shared.name.text);
        for (at, initial) in initial.into_iter().enumerate().filter(|_| !duplicate) {
            let name = match length {
                Some(_) => format!("{}[{at}]", shared.name.text),
                None => shared.name.text.to_string(),
            };
            program.add_variable(Variable { name, initial, span: shared.name.span });
        }
        Ok(match length {
            Some(length) => Global::Array(first, length),
            None => Global::Scalar(first),
        })
    }

    fn length(&self, expr: &'a FwExpr<'a>, others: usize, work: &mut LoweringState<'a>) -> OrReported<usize> {
        let value = self.constant(expr, work)?;
        if value < Int::from(1) {
            let message = format!("an array needs at least one cell, not {value}");
            return Err(work.sink.error(Diagnostic::error(expr.span, message).hint("use a positive length")));
        }
        match value.to_usize() {
            Some(length) if length <= limits::VARIABLES - others.min(limits::VARIABLES) => Ok(length),
            _ => Err(too_many_variables(expr.span, work)),
        }
    }

    fn initial(
        &self,
        shared: &'a Shared<'a>,
        length: Option<usize>,
        work: &mut LoweringState<'a>,
    ) -> OrReported<Vec<Domain>> {
        let cells = length.unwrap_or(1);
        match &shared.initial {
            Initial::Zero => Ok(vec![Domain::only(0); cells]),
            Initial::Same(source) => Ok(vec![self.domain(source, work)?; cells]),
            Initial::List(_, span) if length.is_none() => {
                let message = format!("`{}` is not an array and starts with one value", shared.name.text);
                Err(work.sink.error(Diagnostic::error(*span, message).hint("leave out the braces")))
            }
            Initial::List(list, span) if list.len() != cells => {
                let found = list.len();
                let message = format!("the array has {cells} cells, but {found} values are given");
                let hint = "give one value per cell, or one value without braces for all";
                Err(work.sink.error(Diagnostic::error(*span, message).hint(hint)))
            }
            Initial::List(list, _) => list.iter().map(|source| self.domain(source, work)).collect(),
        }
    }

    fn domain(&self, source: &'a Rvalue<'a>, work: &mut LoweringState<'a>) -> OrReported<Domain> {
        match source {
            Rvalue::Any => Ok(Domain::All),
            Rvalue::Value(expr) => Ok(Domain::only(self.constant(expr, work)?)),
            Rvalue::AnyIn(bounds, span) => {
                let (low, high) = (self.constant(&bounds.0, work)?, self.constant(&bounds.1, work)?);
                half_open(low, high, *span, work)
            }
        }
    }

    fn function(&mut self, function: &'a Function<'a>, work: &mut LoweringState<'a>) {
        super::check_labels(&function.body, work);
        let mut facts = FunctionFacts::default();
        facts.visit(&function.body);
        if let (Some(with), Some(without)) = (facts.returns_value, facts.returns_nothing) {
            let message = format!("`{}` returns a value in one place and none here", function.name.text);
            let error = Diagnostic::error(without, message).related(with, "a value is returned here");
            work.sink.error(error.hint("return a value everywhere or nowhere"));
        }
        let assigned = function.parameters.iter().map(|p| facts.assigned.contains(p.text)).collect();
        let gives_value = facts.returns_value.is_some();
        self.declare(function.name, Global::Function(Inlined { function, gives_value, assigned }), work);
    }
}

/// The values of `any in low..high`.
pub(super) fn half_open(low: Int, high: Int, span: Span, work: &mut LoweringState<'_>) -> OrReported<Domain> {
    if low >= high {
        let error = Diagnostic::error(span, format!("the range {low}..{high} holds no value"));
        return Err(work.sink.error(error.hint("the upper bound does not belong to the range")));
    }
    Ok(Domain::Range(low, high - 1))
}

fn too_many_variables(span: Span, work: &mut LoweringState<'_>) -> Reported {
    let message = format!("there are more than {} shared variables and array cells", limits::VARIABLES);
    work.sink.error(Diagnostic::error(span, message).hint("use shorter arrays"))
}

/// What a function's body does, as far as its callers care.
#[derive(Default)]
struct FunctionFacts<'a> {
    assigned: HashSet<&'a str>,
    returns_value: Option<Span>,
    returns_nothing: Option<Span>,
}

impl<'a> FunctionFacts<'a> {
    fn visit(&mut self, block: &'a Block<'a>) {
        for statement in &block.statements {
            match &statement.kind {
                StmtKind::Assign(target, _) => {
                    self.assigned.insert(target.name.text);
                }
                StmtKind::Return(Some(_)) => self.returns_value = Some(statement.span),
                StmtKind::Return(None) => self.returns_nothing = Some(statement.span),
                StmtKind::Unchecked(inner) => {
                    if let StmtKind::Assign(target, _) = &inner.kind {
                        self.assigned.insert(target.name.text);
                    }
                }
                other => other.for_each_block(&mut |inner| self.visit(inner)),
            }
        }
    }
}
