//! What is declared outside threads: constants, shared variables, functions.

use super::LoweringState;
use super::layout::{CellLayout, FwCell, RecordField, RecordLayout, StoredCells};
use super::starting::{CellStart, counter, spread};
use crate::Diagnostic;
use crate::fw::ast::{
    Block, ExprKind, Function, FwDeclaration, FwExpr, FwStruct, Ident, Item, Rvalue, StmtKind,
};
use crate::fw::constants::{ConstantLookup, evaluate};
use crate::fw::limits;
use crate::fw::sink::{OrReported, Reported};
use num_traits::ToPrimitive;
use program::{Domain, Int, Program, Span, Variable};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What a name outside threads stands for.
pub(super) enum Global<'a> {
    Constant(Int),
    /// A variable, an array or a struct.
    Shared(StoredCells<'a>),
    /// A kind of struct.
    Record(Rc<RecordLayout<'a>>),
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
            if let Item::Struct(record) = item {
                globals.record(record, work);
            }
        }
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
                None => self.constant(expr, work),
            };
            self.declare(*name, value.map_or(Global::Broken, Global::Constant), work);
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
            Some(Global::Shared(_)) => ConstantLookup::Other("a shared variable"),
            Some(Global::Record(_)) => ConstantLookup::Other("a struct"),
            Some(Global::Function(_)) => ConstantLookup::Other("a function"),
            Some(Global::Broken) => ConstantLookup::Broken,
            None => ConstantLookup::Unknown,
        }
    }

    /// The value of an expression that must be constant.
    pub fn constant(&self, expr: &'a FwExpr<'a>, work: &mut LoweringState<'a>) -> OrReported<Int> {
        evaluate(expr, &|name| self.known(name)).map_err(|fault| work.report(fault))
    }

    fn shared(&mut self, shared: &'a FwDeclaration<'a>, work: &mut LoweringState<'a>, program: &mut Program) {
        let what = self.shared_cells(shared, work, program).map_or(Global::Broken, Global::Shared);
        self.declare(shared.name, what, work);
    }

    fn shared_cells(
        &self,
        shared: &'a FwDeclaration<'a>,
        work: &mut LoweringState<'a>,
        program: &mut Program,
    ) -> OrReported<StoredCells<'a>> {
        let room = limits::VARIABLES.saturating_sub(program.variables.len());
        let layout = self.layout(shared, room, work)?;
        let initial = self.initial(shared, &layout, work)?;
        let name = shared.name.text;
        let mut cells = Vec::new();
        if !self.names.contains_key(name) {
            for (name, initial) in layout.names(name).into_iter().zip(initial) {
                let variable = program.add_variable(Variable { name, initial, span: shared.name.span });
                cells.push(FwCell::Shared(variable));
            }
        }
        Ok(StoredCells::whole(name, cells.into(), layout))
    }

    fn record(&mut self, record: &'a FwStruct<'a>, work: &mut LoweringState<'a>) {
        let what =
            self.record_layout(record, work).map_or(Global::Broken, |layout| Global::Record(Rc::new(layout)));
        self.declare(record.name, what, work);
        // Whether anything is a struct of this kind does not matter.
        work.mentioned.insert(record.name.text);
    }

    fn record_layout(
        &self,
        record: &'a FwStruct<'a>,
        work: &mut LoweringState<'a>,
    ) -> OrReported<RecordLayout<'a>> {
        let (mut fields, mut initial) = (Vec::<RecordField<'a>>::new(), Vec::new());
        for field in &record.fields {
            if let Some(first) = fields.iter().find(|other| other.name.text == field.name.text) {
                let message = format!("the field `{}` stands twice", field.name.text);
                let error =
                    Diagnostic::error(field.name.span, message).related(first.name.span, "first here");
                return Err(work.sink.error(error.hint("choose another name")));
            }
            let layout = self.layout(field, limits::VARIABLES.saturating_sub(initial.len()), work)?;
            let offset = initial.len();
            initial.extend(self.initial(field, &layout, work)?);
            fields.push(RecordField { name: field.name, offset, layout });
        }
        if fields.is_empty() {
            let error = Diagnostic::error(record.name.span, format!("`{}` has no fields", record.name.text));
            return Err(work.sink.error(error.hint("name what it holds: `struct Node { value, next }`")));
        }
        Ok(RecordLayout { name: record.name.text, fields, initial })
    }

    /// What a declaration consists of, with at most so many numbers.
    fn layout(
        &self,
        declared: &'a FwDeclaration<'a>,
        room: usize,
        work: &mut LoweringState<'a>,
    ) -> OrReported<CellLayout<'a>> {
        let whole = self.element(declared, room, work)?;
        declared.lengths.iter().rev().try_fold(whole, |layout, length| {
            let value = self.constant(length, work)?;
            self.array(layout, &value, length.span, room, work)
        })
    }

    /// What a declaration, or each cell of an array, consists of.
    pub fn element(
        &self,
        declared: &'a FwDeclaration<'a>,
        room: usize,
        work: &mut LoweringState<'a>,
    ) -> OrReported<CellLayout<'a>> {
        let layout = match declared.record {
            None => CellLayout::Number,
            Some(record) => match self.names.get(record.text) {
                Some((Global::Record(layout), _)) => CellLayout::Record(Rc::clone(layout)),
                Some((Global::Broken, _)) => return Err(Reported),
                _ => {
                    let error =
                        Diagnostic::error(record.span, format!("there is no struct `{}`", record.text));
                    let hint = "declare it before, like `struct Node { value, next }`";
                    return Err(work.sink.missing(error.hint(hint)));
                }
            },
        };
        if layout.size() > room {
            return Err(too_many_cells(declared.name.span, work));
        }
        Ok(layout)
    }

    /// So many of these, with at most so many numbers.
    pub fn array(
        &self,
        layout: CellLayout<'a>,
        length: &Int,
        span: Span,
        room: usize,
        work: &mut LoweringState<'a>,
    ) -> OrReported<CellLayout<'a>> {
        if *length < Int::from(1) {
            let message = format!("an array needs at least one cell, not {length}");
            return Err(work.sink.error(Diagnostic::error(span, message).hint("use a positive length")));
        }
        match length.to_usize() {
            Some(length) if length <= room / layout.size() => Ok(CellLayout::Array(length, Rc::new(layout))),
            _ => Err(too_many_cells(span, work)),
        }
    }

    /// What the numbers of a declaration start with.
    fn initial(
        &self,
        declared: &'a FwDeclaration<'a>,
        layout: &CellLayout<'a>,
        work: &mut LoweringState<'a>,
    ) -> OrReported<Vec<Domain>> {
        let known = |name: &str| self.known(name);
        let starts = spread(declared, layout, &known, work)?;
        let usual = layout.initial();
        let domains = starts.into_iter().zip(usual).map(|(start, usual)| match start {
            Some(start) => self.domain(&start, work),
            None => Ok(usual),
        });
        domains.collect()
    }

    fn domain(&self, start: &CellStart<'a>, work: &mut LoweringState<'a>) -> OrReported<Domain> {
        let known = |name: &str| counter(&start.counters, name).unwrap_or_else(|| self.known(name));
        let mut constant = |expr: &'a FwExpr<'a>| evaluate(expr, &known).map_err(|fault| work.report(fault));
        match start.source {
            Rvalue::Any => Ok(Domain::All),
            Rvalue::Value(expr) => Ok(Domain::only(constant(expr)?)),
            Rvalue::AnyIn(bounds, span) => {
                let (low, high) = (constant(&bounds.0)?, constant(&bounds.1)?);
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
        let assigned = function.parameters.iter().map(|p| facts.assigned.contains(p.name.text)).collect();
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

fn too_many_cells(span: Span, work: &mut LoweringState<'_>) -> Reported {
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
                StmtKind::Assign(target, _) | StmtKind::Update(target, ..) => {
                    self.assigned.insert(target.name.text);
                }
                // What is lent may be assigned to by whoever borrows it.
                StmtKind::Evaluate(FwExpr { kind: ExprKind::Call(_, arguments), .. }) => {
                    self.assigned.extend(arguments.iter().filter_map(lent));
                }
                StmtKind::Return(Some(_)) => self.returns_value = Some(statement.span),
                StmtKind::Return(None) => self.returns_nothing = Some(statement.span),
                StmtKind::Unchecked(inner) => {
                    if let StmtKind::Assign(target, _) | StmtKind::Update(target, ..) = &inner.kind {
                        self.assigned.insert(target.name.text);
                    }
                }
                other => other.for_each_block(&mut |inner| self.visit(inner)),
            }
        }
    }
}

/// The name that an argument `&name` lends.
fn lent<'a>(argument: &'a FwExpr<'a>) -> Option<&'a str> {
    match &argument.kind {
        ExprKind::Reference(target) => Some(target.name.text),
        _ => None,
    }
}
