//! The state of lowering one thread: where we are, what names mean, where jumps go.

use super::globals::{Global, Globals};
use super::layout::{CellLayout, FwCell, StoredCells};
use super::registers::RegisterPool;
use super::{Finished, LoweringState};
use crate::Diagnostic;
use crate::fw::ast::{Block, FwDeclaration, FwExpr, FwThread, Ident};
use crate::fw::constants::{ConstantFault, ConstantLookup, evaluate};
use crate::fw::limits;
use crate::fw::sink::{OrReported, Reported};
use crate::fw::suggest::did_you_mean;
use program::{Int, Loc, Op, RegId, Span, ThreadBuilder};
use std::collections::{HashMap, HashSet};

/// What a local name stands for.
#[derive(Clone)]
pub(super) enum LocalName<'a> {
    Constant(Int),
    Register(RegId),
    /// An array or struct of registers, or what a reference stands for.
    Stored(StoredCells<'a>),
}

/// Names declared in one block, and the registers to give back at its end.
#[derive(Default)]
pub(super) struct Scope<'a> {
    pub names: HashMap<&'a str, (LocalName<'a>, Span)>,
    held: Vec<(u32, RegId)>,
}

impl<'a> Scope<'a> {
    /// The constants among its names.
    pub fn constants(&self) -> impl Iterator<Item = (&'a str, Int)> {
        self.names.iter().filter_map(|(name, (local, _))| match local {
            LocalName::Constant(value) => Some((*name, value.clone())),
            _ => None,
        })
    }
}

/// What a name means inside a thread.
pub(super) enum NameMeaning<'a> {
    Constant(Int),
    /// A variable or a register.
    Number(FwCell),
    /// An array, a struct, or a cell that a reference stands for.
    Stored(StoredCells<'a>),
    Function,
    Broken,
    Unknown,
}

/// A place to jump to and the atomic section it lies in.
#[derive(Clone, Copy)]
pub(super) struct JumpTarget {
    pub loc: Loc,
    pub section: Option<u32>,
}

/// What jumps may refer to; a function's body starts afresh.
#[derive(Default)]
pub(super) struct JumpScope<'a> {
    /// Labels, one map for the body and one for each unrolled loop around us.
    pub labels: Vec<HashMap<&'a str, JumpTarget>>,
    /// Where `break` and `continue` lead, innermost last.
    /// A `switch` is left by `break`, too; without a loop around it there is no `continue`.
    pub loops: Vec<(JumpTarget, Option<JumpTarget>)>,
    /// Where `return` leads and the register that takes the value, inside a function.
    pub exit: Option<(JumpTarget, Option<RegId>)>,
}

pub(super) struct FwLowering<'a, 'w> {
    pub globals: &'w Globals<'a>,
    pub work: &'w mut LoweringState<'a>,
    pub builder: ThreadBuilder,
    /// Where the next step starts.
    pub at: Loc,
    /// The statement being lowered.
    pub span: Span,
    /// Whether divisions go without a guard.
    pub unchecked: bool,
    pub registers: RegisterPool<'a>,
    pub scopes: Vec<Scope<'a>>,
    pub frame: JumpScope<'a>,
    /// The atomic section we are in: where it starts in the text.
    pub section: Option<u32>,
    /// Loops around us that are not unrolled.
    pub repeats: usize,
    /// Whether a label came before, so that control may come back here.
    pub labelled: bool,
    /// Whether constants rule out that control comes here; then a constant index may be wrong.
    pub dead: bool,
    /// Functions being inlined, outermost first.
    pub calls: Vec<Ident<'a>>,
    /// Registers of parameters to give back at the end of the statement.
    pub pending: Vec<(u32, RegId)>,
    depth: usize,
    /// Names reported as unknown, each once.
    unknown: HashSet<&'a str>,
}

/// Lowers a thread or one member of a family, given its counter.
pub(super) fn lower<'a>(
    name: &str,
    thread: &'a FwThread<'a>,
    counter: Option<(Ident<'a>, Int)>,
    globals: &Globals<'a>,
    declared: &'a HashSet<&'a str>,
    work: &mut LoweringState<'a>,
) -> OrReported<(program::Thread, Finished<'a>)> {
    let builder = ThreadBuilder::new(name);
    let mut lowering = FwLowering {
        at: builder.entry(),
        builder,
        globals,
        work,
        span: thread.name.span,
        unchecked: false,
        registers: RegisterPool::new(declared),
        scopes: vec![Scope::default()],
        frame: JumpScope::default(),
        section: None,
        repeats: 0,
        labelled: false,
        dead: false,
        calls: Vec::new(),
        pending: Vec::new(),
        depth: 0,
        unknown: HashSet::new(),
    };
    if let Some((name, value)) = counter {
        lowering.declare(name, LocalName::Constant(value));
    }
    lowering.body(&thread.body);
    lowering.finish()
}

/// Where a thread stands at its labels.
pub(super) fn labels(thread: &program::Thread) -> HashMap<String, Vec<Loc>> {
    let mut labels: HashMap<String, Vec<Loc>> = HashMap::new();
    for loc in thread.locs() {
        for label in &thread.location(loc).labels {
            labels.entry(label.clone()).or_default().push(loc);
        }
    }
    labels
}

impl<'a> FwLowering<'a, '_> {
    fn finish(self) -> OrReported<(program::Thread, Finished<'a>)> {
        if self.work.fuel == 0 {
            return Err(Reported);
        }
        self.work.size += self.builder.size();
        let thread = self.builder.finish().map_err(|invalid| self.work.sink.error(invalid.into()))?;
        let (labels, registers) = (labels(&thread), self.registers.named);
        let ending = thread.locs().filter(|loc| thread.is_end(*loc)).collect();
        Ok((thread, Finished { labels, ending, registers }))
    }

    /// The statements of a thread or function, with its labels.
    pub fn body(&mut self, block: &'a Block<'a>) {
        let labels = self.labels_of(block);
        self.frame.labels.push(labels);
        self.block(block);
        self.frame.labels.pop();
    }

    /// Counts something visited, and checks that the automaton does not grow too large.
    pub fn spend(&mut self, amount: usize) -> OrReported<()> {
        self.work.spend(amount, self.span)?;
        if self.work.size + self.builder.size() > limits::SIZE {
            return Err(self.work.too_large(self.span));
        }
        Ok(())
    }

    /// Runs `inner` one level deeper, or reports that this is too deep.
    pub fn nested<T>(&mut self, inner: impl FnOnce(&mut Self) -> OrReported<T>) -> OrReported<T> {
        self.spend(1)?;
        if self.depth >= limits::DEPTH {
            let message = "this is nested too deeply once functions are inlined";
            self.work.fuel = 0;
            return Err(self.error(Diagnostic::error(self.span, message).hint("compute it in several steps")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    pub fn error(&mut self, error: Diagnostic) -> Reported {
        self.work.sink.error(error)
    }

    /// Runs `inner` as something that happens only if `possible`.
    pub fn only_if<T>(&mut self, possible: bool, inner: impl FnOnce(&mut Self) -> T) -> T {
        let before = self.dead;
        self.dead |= !possible;
        let result = inner(self);
        self.dead = before;
        result
    }

    /// Reports what is wrong with a constant, unless control cannot come here.
    pub fn wrong(&mut self, fault: ConstantFault) -> Reported {
        if self.dead { Reported } else { self.work.report(fault) }
    }

    /// Runs `inner` and gives back the temporaries it took: what it leaves in them is used at once.
    pub fn with_temporaries<T>(&mut self, inner: impl FnOnce(&mut Self) -> T) -> T {
        let mark = self.registers.mark();
        let result = inner(self);
        self.registers.release_temporaries(mark);
        result
    }

    /// A new place that nothing leads to yet.
    pub fn location(&mut self) -> Loc {
        self.builder.location(Span::NONE)
    }

    /// A step from here to a given place.
    pub fn edge(&mut self, op: Op, to: Loc) {
        self.builder.edge(self.at, op, to, self.span);
    }

    /// A step from here to a new place, which is "here" from now on.
    pub fn step(&mut self, op: Op) {
        self.at = self.builder.step(self.at, op, self.span);
    }

    /// Says that here is that place.
    pub fn join(&mut self, place: Loc) {
        self.builder.merge(self.at, place, self.span);
        self.at = place;
    }

    /// Goes on where nothing leads to.
    pub fn unreachable(&mut self) {
        self.at = self.location();
    }

    pub fn temporary(&mut self) -> OrReported<RegId> {
        self.check_register_count()?;
        Ok(self.registers.temporary(&mut self.builder))
    }

    /// A register for a declaration in the innermost scope, and whether it still holds its
    /// initial 0 for sure.
    pub fn acquire(&mut self, name: Ident<'a>) -> OrReported<(RegId, bool)> {
        let inlined = !self.calls.is_empty();
        let (register, new) = self.acquire_unscoped(name, inlined)?;
        self.hold((name.span.start, register));
        Ok((register, new && self.repeats == 0 && !self.labelled))
    }

    /// Registers for the cells of an array or the fields of a struct, and which of them still hold their
    /// initial 0 for sure.
    pub fn acquire_cells(&mut self, name: Ident<'a>, cells: &[String]) -> OrReported<Vec<(RegId, bool)>> {
        let inlined = !self.calls.is_empty();
        let mut registers = Vec::new();
        for cell in cells {
            self.check_register_count()?;
            let found =
                self.registers.acquire(&mut self.builder, name.span.start, name.text, Some(cell), inlined);
            registers.push((found.0, found.1 && self.repeats == 0 && !self.labelled));
        }
        registers.iter().for_each(|(register, _)| self.hold((name.span.start, *register)));
        Ok(registers)
    }

    /// A register for a declaration, and whether nothing used it before.
    pub fn acquire_unscoped(&mut self, name: Ident<'a>, inlined: bool) -> OrReported<(RegId, bool)> {
        self.check_register_count()?;
        Ok(self.registers.acquire(&mut self.builder, name.span.start, name.text, None, inlined))
    }

    /// Has the innermost scope give a register back at its end.
    pub fn hold(&mut self, register: (u32, RegId)) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.held.push(register);
        }
    }

    /// What an array or a struct of registers consists of. Lengths may use constants of the thread.
    pub fn local_layout(
        &mut self,
        declared: &'a FwDeclaration<'a>,
        room: usize,
    ) -> OrReported<CellLayout<'a>> {
        let globals = self.globals;
        let whole = globals.element(declared, room, self.work)?;
        declared.lengths.iter().rev().try_fold(whole, |layout, length| {
            let value = self.constant(length)?;
            globals.array(layout, &value, length.span, room, self.work)
        })
    }

    fn check_register_count(&mut self) -> OrReported<()> {
        if self.registers.count < limits::REGISTERS {
            return Ok(());
        }
        self.work.fuel = 0;
        let message = format!("the thread needs more than {} registers", limits::REGISTERS);
        Err(self.error(Diagnostic::error(self.span, message).hint("use fewer registers")))
    }

    pub fn leave_scope(&mut self) {
        for (declaration, register) in self.scopes.pop().unwrap_or_default().held {
            self.registers.release(declaration, register);
        }
    }

    /// Gives a name a meaning in the innermost scope. Nothing may be hidden by it.
    pub fn declare(&mut self, name: Ident<'a>, local: LocalName<'a>) {
        let outer = self.scopes.iter().find_map(|scope| scope.names.get(name.text)).map(|(_, span)| *span);
        let global = self.globals.names.get(name.text).and_then(|(what, span)| match what {
            Global::Function(_) => None,
            _ => Some(*span),
        });
        if let Some(first) = outer.or(global) {
            let error = Diagnostic::error(name.span, format!("`{}` is already declared", name.text));
            self.error(error.related(first, "first declared here").hint("choose another name"));
        } else if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.text, (local, name.span));
        }
    }

    /// What a name means here.
    pub fn meaning(&mut self, name: &'a str) -> NameMeaning<'a> {
        if let Some((local, _)) = self.scopes.iter().rev().find_map(|scope| scope.names.get(name)) {
            return match local {
                LocalName::Constant(value) => NameMeaning::Constant(value.clone()),
                LocalName::Register(register) => NameMeaning::Number(FwCell::Local(*register)),
                LocalName::Stored(stored) => stored_meaning(stored),
            };
        }
        let Some((what, _)) = self.globals.names.get(name) else { return NameMeaning::Unknown };
        self.work.mentioned.insert(name);
        match what {
            Global::Constant(value) => NameMeaning::Constant(value.clone()),
            Global::Shared(storage) => stored_meaning(storage),
            Global::Record(_) => NameMeaning::Unknown,
            Global::Function(_) => NameMeaning::Function,
            Global::Broken => NameMeaning::Broken,
        }
    }

    /// The value of an expression that must be constant.
    pub fn constant(&mut self, expr: &'a FwExpr<'a>) -> OrReported<Int> {
        self.spend(1)?;
        evaluate(expr, &|name| self.known(name)).map_err(|fault| self.work.report(fault))
    }

    pub fn known(&self, name: &str) -> ConstantLookup {
        match self.scopes.iter().rev().find_map(|scope| scope.names.get(name)) {
            Some((LocalName::Constant(value), _)) => ConstantLookup::Constant(value.clone()),
            Some((LocalName::Stored(storage), _)) if storage.is_shared() => {
                ConstantLookup::Other("a shared variable")
            }
            Some((LocalName::Register(_) | LocalName::Stored(_), _)) => ConstantLookup::Other("a register"),
            None => self.globals.known(name),
        }
    }

    /// Reports a name that means nothing, once.
    pub fn unknown(&mut self, name: Ident<'a>) -> Reported {
        if !self.unknown.insert(name.text) || !self.work.sink.wants_missing() {
            return Reported;
        }
        let locals = self.scopes.iter().flat_map(|scope| scope.names.keys().copied());
        let hint = did_you_mean(name.text, locals.chain(self.globals.names.keys().copied()));
        let hint = hint.unwrap_or_else(|| {
            format!("declare a register with `let {0};` or a shared variable with `shared {0};`", name.text)
        });
        let error = Diagnostic::error(name.span, format!("`{}` is not declared", name.text));
        self.work.sink.missing(error.hint(hint))
    }
}

/// A name for one number is a register or a variable, however it came about.
fn stored_meaning<'a>(stored: &StoredCells<'a>) -> NameMeaning<'a> {
    stored.single().map_or_else(|| NameMeaning::Stored(stored.clone()), NameMeaning::Number)
}
