//! The state of lowering one thread: where we are, what names mean, what is known.

use super::graph::{At, CStep, Graph};
use super::library::WRITTEN_FIRST;
use super::value::{Typed, number};
use super::values::CValues;
use super::world::{CCell, CCells, CKey, CLowered, Object, Probe, Threaded, World};
use crate::Diagnostic;
use crate::c::ast::CFunction;
use crate::c::limits;
use crate::c::types::Type;
use program::{Cond, Domain, Expr, Failure, FailureKind, Int, Op, RegId, Relation, Span, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

/// What a local name stands for.
#[derive(Clone)]
pub(super) enum CLocal {
    Object(usize, Type),
    /// A value that does not change while the name is seen.
    Same(Typed),
}

/// What is known of cells at a place.
pub(super) type KnownCells = FxHashMap<CCell, i128>;

/// A place that jumps lead to; what is known there is what all of them agree on.
pub(super) struct CExit {
    pub at: At,
    known: Option<KnownCells>,
    pub section: usize,
}

/// The function we are in.
pub(super) struct CFrame {
    pub function: Rc<CFunction>,
    /// Where `return` leads and the cells that take the value.
    pub exit: usize,
    pub result: Option<usize>,
    pub labels: FxHashMap<Rc<str>, At>,
    /// Where `break` and `continue` lead, innermost last.
    pub breaks: Vec<usize>,
    pub continues: Vec<usize>,
    /// The cases of the innermost `switch`.
    pub cases: Vec<FxHashMap<usize, At>>,
    pub assigned: Rc<FxHashSet<Rc<str>>>,
}

impl CFrame {
    /// The beginning of a function.
    pub fn of(
        function: Rc<CFunction>,
        exit: usize,
        result: Option<usize>,
        assigned: Rc<FxHashSet<Rc<str>>>,
    ) -> CFrame {
        CFrame {
            function,
            exit,
            result,
            labels: FxHashMap::default(),
            breaks: Vec::new(),
            continues: Vec::new(),
            cases: Vec::new(),
            assigned,
        }
    }
}

pub(super) struct Lowerer<'w, 'u> {
    pub world: &'w mut World<'u>,
    pub graph: Graph,
    pub at: At,
    pub span: Span,
    pub thread: usize,
    pub known: KnownCells,
    pub scopes: Vec<FxHashMap<Rc<str>, CLocal>>,
    pub frame: CFrame,
    pub exits: Vec<CExit>,
    /// How many atomic sections we are in.
    pub section: usize,
    /// The calls and rounds of unrolled loops that lead here.
    pub path: u64,
    pub calls: Vec<Rc<str>>,
    /// Whether other threads may run already, so that memory may change under us.
    pub shared: bool,
    pub depth: usize,
    /// Loops around us that are not unrolled.
    pub loops: usize,
    /// What allocated memory is for, if that is known.
    pub wanted: Option<Type>,
    temporaries: Vec<RegId>,
    pub in_use: usize,
    names: FxHashMap<String, usize>,
    /// How many blocks of pools were handed out.
    pools: FxHashMap<CKey, RegId>,
    /// Registers of local objects that are free again.
    pub free: FxHashMap<u32, Vec<Vec<RegId>>>,
    /// Main's second argument.
    pub argv: Option<RegId>,
}

/// A path with one more step.
pub(super) fn further(path: u64, by: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    (path, by).hash(&mut hasher);
    hasher.finish()
}

impl<'w, 'u> Lowerer<'w, 'u> {
    pub fn new(world: &'w mut World<'u>, thread: usize, function: Rc<CFunction>, shared: bool) -> Self {
        let mut graph = Graph::default();
        let (at, end) = (graph.place(), graph.place());
        let assigned = super::assigned::of(world, &function);
        let exits = vec![CExit { at: end, known: None, section: 0 }];
        let frame = CFrame::of(function, 0, None, assigned);
        Lowerer {
            world,
            graph,
            at,
            span: Span::NONE,
            thread,
            known: FxHashMap::default(),
            scopes: vec![FxHashMap::default()],
            frame,
            exits,
            section: 0,
            path: further(thread as u64, "thread"),
            calls: Vec::new(),
            shared,
            depth: 0,
            loops: 0,
            wanted: None,
            temporaries: Vec::new(),
            in_use: 0,
            names: FxHashMap::default(),
            pools: FxHashMap::default(),
            free: FxHashMap::default(),
            argv: None,
        }
    }

    /// Lowers the whole thread.
    pub fn whole(mut self) -> CLowered<Threaded> {
        let function = Rc::clone(&self.frame.function);
        let entry = self.at;
        let result = self.temporary()?;
        let kind = Type::integer(64, true);
        let key = further(self.path, "result");
        let object = Object {
            key: (key, 0, 0),
            name: "result".to_string(),
            cells: vec![CCell::Register(result)],
            types: vec![kind],
            bytes: vec![Some(0)],
            base: None,
            pointed: false,
        };
        self.frame.result = Some(self.world.object(object)).filter(|_| self.thread > 0);
        self.calls.push(Rc::clone(&function.name));
        self.thread_parameters(&function)?;
        if self.thread == 0 {
            self.initialise_memory();
        }
        self.body(&function.body)?;
        let exit = self.frame.exit;
        self.leave_to(exit);
        self.arrive(exit);
        if self.thread > 0 {
            if self.world.has_keys {
                self.inline(&Rc::from("__fw_thread_ends"), Vec::new(), function.token)?;
            }
            self.step_raw(CStep::End(Expr::Leaf(result)));
        }
        self.graph.settle();
        let settled = (0..self.graph.places()).map(|at| self.graph.find(at)).collect();
        let entry = self.graph.find(entry);
        Ok(Threaded { graph: self.graph, entry, settled })
    }

    /// Before other threads run, main knows what is in memory.
    fn initialise_memory(&mut self) {
        for object in &self.world.objects {
            for cell in &object.cells {
                if let CCell::Memory(variable) = cell {
                    self.known.insert(*cell, self.world.variables[variable.index()].initial);
                }
            }
        }
    }

    pub fn error(&self, token: u32, message: impl Into<String>) -> Box<Diagnostic> {
        self.world.error(token, message)
    }

    /// Runs `inner` one level deeper, or says that this is too deep or too much.
    pub fn nested<T>(&mut self, token: u32, inner: impl FnOnce(&mut Self) -> CLowered<T>) -> CLowered<T> {
        if self.depth >= limits::DEPTH {
            return Err(self.error(token, "this is nested too deeply once functions are inlined"));
        }
        if self.world.size + self.graph.size() > limits::SIZE {
            let error =
                self.error(token, "the program is too large once loops and functions are written out");
            return Err(Box::new(error.hint("use fewer threads or smaller arrays")));
        }
        self.depth += 1;
        let result = inner(self);
        self.depth -= 1;
        result
    }

    pub fn place(&mut self) -> At {
        self.graph.place()
    }

    pub fn arrow(&mut self, step: CStep, to: At) {
        self.graph.arrow(self.at, step, to, self.span);
    }

    pub fn step_raw(&mut self, step: CStep) {
        let to = self.place();
        self.arrow(step, to);
        self.at = to;
    }

    pub fn step(&mut self, op: Op) {
        self.step_raw(CStep::Op(op));
    }

    /// Makes the place where we are one with another.
    pub fn join(&mut self, place: At) {
        self.graph.merge(self.at, place, self.span);
        self.at = place;
    }

    /// Goes on where nothing leads to.
    pub fn unreachable(&mut self) {
        self.at = self.place();
    }

    /// Never goes on: blocked, which is not the same as having ended.
    pub fn block_here(&mut self) {
        self.arrow(CStep::Op(Op::Assume(Cond::FALSE)), self.at);
        self.unreachable();
    }

    pub fn new_exit(&mut self) -> usize {
        let at = self.place();
        self.exits.push(CExit { at, known: None, section: self.section });
        self.exits.len() - 1
    }

    /// Jumps to an exit; what follows in the text is not reached from here.
    pub fn leave_to(&mut self, exit: usize) {
        if self.section > self.exits[exit].section && self.exits[exit].section == 0 {
            self.step(Op::Unlock);
        }
        let at = self.exits[exit].at;
        self.join(at);
        let merged = match self.exits[exit].known.take() {
            None => self.known.clone(),
            Some(before) => agree(&before, &self.known),
        };
        self.exits[exit].known = Some(merged);
        self.unreachable();
    }

    /// Goes on at an exit, once all jumps to it are there.
    pub fn arrive(&mut self, exit: usize) {
        self.at = self.exits[exit].at;
        self.section = self.exits[exit].section;
        self.known = self.exits[exit].known.take().unwrap_or_default();
    }

    /// Goes one of two ways by a condition over registers; the way it goes if that is clear.
    pub fn fork(&mut self, cond: Cond<RegId>, yes: At, no: At) -> Option<bool> {
        if let Cond::Const(value) = cond {
            self.join(if value { yes } else { no });
            return Some(value);
        }
        let negated = cond.clone().negate();
        self.arrow(CStep::Op(Op::Assume(cond)), yes);
        self.arrow(CStep::Op(Op::Assume(negated)), no);
        None
    }

    /// A place that whoever gets to has violated something.
    pub fn violation(&mut self, kind: FailureKind) -> At {
        let bad = self.place();
        self.graph.failures.insert(bad, Failure { kind, span: self.span });
        bad
    }

    /// The same of a violation that is told in words.
    pub fn mistake(&mut self, what: &str) -> At {
        self.violation(FailureKind::Error(what.to_string()))
    }

    /// A way from a place on which a condition holds; we are on it from now on.
    pub fn way(&mut self, from: At, cond: Cond<RegId>) {
        let here = self.place();
        self.at = from;
        self.arrow(CStep::Op(Op::Assume(cond)), here);
        self.at = here;
    }

    /// The same where an expression has this value.
    pub fn way_if(&mut self, from: At, expr: &Expr<RegId>, value: i128) {
        self.way(from, Cond::compare(Relation::Eq, expr.clone(), number(value)));
    }

    /// As [`Lowerer::way`]; a condition that is clear takes no step.
    pub fn way_unless_clear(&mut self, from: At, cond: Cond<RegId>) {
        if let Cond::Const(_) = cond {
            let here = self.place();
            self.at = from;
            self.join(here);
        } else {
            self.way(from, cond);
        }
    }

    /// Ways that come together at `end`, each with its value for a register.
    pub fn meet(&mut self, ways: impl IntoIterator<Item = (At, Expr<RegId>)>, register: RegId, end: At) {
        for (from, value) in ways {
            self.at = from;
            self.arrow(CStep::Op(Op::Assign(register, value)), end);
        }
        self.at = end;
    }

    /// The values that an expression was found to have here in earlier rounds; later ones will know more.
    pub fn found(&mut self, expr: &Expr<RegId>, site: (u64, u32)) -> CValues {
        self.world.probes.push(Probe { thread: self.thread, at: self.at, expr: expr.clone(), site });
        self.world.facts.targets.get(&site).cloned().unwrap_or(CValues::NONE)
    }

    /// A violation unless the condition holds.
    pub fn claim(&mut self, cond: Cond<RegId>, kind: FailureKind) {
        if cond == Cond::TRUE {
            return;
        }
        let (good, bad) = (self.place(), self.violation(kind));
        self.fork(cond, good, bad);
        self.at = good;
    }

    /// A violation here.
    pub fn fail(&mut self, kind: FailureKind) {
        let bad = self.violation(kind);
        self.arrow(CStep::Op(Op::Skip), bad);
        self.unreachable();
    }

    /// What would come next is not read; runs that get here say nothing.
    pub fn limit(&mut self, what: String) {
        self.fail(FailureKind::Limit(what));
    }

    fn register(&mut self, name: &str) -> CLowered<RegId> {
        if self.graph.registers.len() >= limits::REGISTERS {
            return Err(self.error(self.frame.function.token, "a thread needs too many registers"));
        }
        let count = self.names.entry(name.to_string()).or_default();
        *count += 1;
        let name = if *count == 1 { name.to_string() } else { format!("{name}_{count}") };
        self.graph.registers.push(name);
        Ok(RegId::new(self.graph.registers.len() - 1))
    }

    /// How many blocks of a pool were handed out so far.
    pub fn pool_counter(&mut self, pool: CKey) -> CLowered<RegId> {
        if !self.pools.contains_key(&pool) {
            let register = self.register("allocated")?;
            self.pools.insert(pool, register);
        }
        Ok(self.pools[&pool])
    }

    /// A register until the end of the statement.
    pub fn temporary(&mut self) -> CLowered<RegId> {
        if self.in_use == self.temporaries.len() {
            let register = self.register("tmp")?;
            self.temporaries.push(register);
        }
        let register = self.temporaries[self.in_use];
        self.in_use += 1;
        self.known.remove(&CCell::Register(register));
        Ok(register)
    }

    /// Puts a value into a register that keeps it until the end of the statement.
    pub fn kept(&mut self, expr: Expr<RegId>) -> CLowered<Expr<RegId>> {
        if expr.as_const().is_some() {
            return Ok(expr);
        }
        let register = self.temporary()?;
        self.step(Op::Assign(register, expr));
        Ok(Expr::Leaf(register))
    }

    /// Notes what a cell holds now.
    pub fn note(&mut self, cell: CCell, value: Option<i128>) {
        match value {
            Some(value) if !self.shared || self.is_own(cell) => self.known.insert(cell, value),
            _ => self.known.remove(&cell),
        };
    }

    /// Whether nobody else changes a cell. A thread sees what it stored last in a variable that only it stores,
    /// be that in memory or not.
    fn is_own(&self, cell: CCell) -> bool {
        let CCell::Memory(variable) = cell else { return true };
        let address = self.world.variables[variable.index()].address;
        let others = &self.world.facts.stored_by_others;
        self.thread == 0 && address.is_some_and(|address| !others.contains(&address))
    }

    /// What a register holds, if that is known.
    pub fn read_register(&self, register: RegId) -> Expr<RegId> {
        match self.known.get(&CCell::Register(register)) {
            Some(value) => number(*value),
            None => Expr::Leaf(register),
        }
    }

    /// Other threads may run from now on. What main leaves in memory stays there unless somebody stores it.
    pub fn becomes_shared(&mut self) {
        if !self.shared {
            self.graph.shared_from = self.graph.arrows.len();
            for (at, variable) in self.world.variables.iter().enumerate() {
                let Some(address) = variable.address else { continue };
                let known = self.known.get(&CCell::Memory(VarId::new(at))).copied();
                let facts = &mut *self.world.facts;
                let before = known.and_then(|value| facts.settled.insert(address, value));
                let same = known.is_some() && (before.is_none() || before == known);
                if !same && facts.unsettled.insert(address) && before.is_some() {
                    self.world.again = true;
                }
            }
        }
        self.shared = true;
        let mut known = std::mem::take(&mut self.known);
        known.retain(|cell, _| self.is_own(*cell));
        self.known = known;
    }

    /// A local object: in registers, or in memory if somebody needs its address.
    pub fn local_object(&mut self, name: &str, ty: &Type, token: u32) -> CLowered<usize> {
        let key: CKey = (self.path, token, 0);
        if self.world.facts.in_memory.contains(&key) {
            let full = format!("{}.{name}", self.thread_name());
            return self.world.memory_object(key, &full, ty, self.span, token);
        }
        let CCells { types, names, bytes } = self.world.layout(key, ty, name, token)?;
        let reused = self.free.get_mut(&token).and_then(Vec::pop).filter(|free| free.len() == types.len());
        let registers = match reused {
            Some(registers) => registers,
            None => names.iter().map(|name| self.register(name)).collect::<CLowered<Vec<_>>>()?,
        };
        for register in &registers {
            self.known.remove(&CCell::Register(*register));
        }
        let cells = registers.into_iter().map(CCell::Register).collect();
        let object = Object { key, name: name.to_string(), cells, types, bytes, base: None, pointed: false };
        Ok(self.world.object(object))
    }

    /// Lets an object in registers hold anything.
    pub fn choose_any(&mut self, object: usize) {
        let any = |low, high| Domain::Range(Int::from(low), Int::from(high));
        self.begin_with(object, &|register, low, high| CStep::Op(Op::Havoc(register, any(low, high))));
    }

    /// An object that was just declared without a value.
    pub fn leave_open(&mut self, object: usize) {
        if self.world.objects[object].cells.iter().any(|cell| matches!(cell, CCell::Memory(_))) {
            self.world.assumed.insert(self.span, WRITTEN_FIRST);
        }
        self.begin_with(object, &CStep::Unwritten);
    }

    /// Takes a step for each register of an object, with what its type holds; nothing is known of it then.
    fn begin_with(&mut self, object: usize, step: &dyn Fn(RegId, i128, i128) -> CStep) {
        let object = &self.world.objects[object];
        let cells: Vec<(CCell, Option<(i128, i128)>)> =
            object.cells.iter().copied().zip(object.types.iter().map(Type::range)).collect();
        for (cell, range) in cells {
            if let (CCell::Register(register), Some((low, high))) = (cell, range) {
                self.step_raw(step(register, low, high));
            }
            self.note(cell, None);
        }
    }

    pub fn thread_name(&self) -> String {
        match self.thread {
            0 => "main".to_string(),
            thread => self.world.instance_name(thread - 1),
        }
    }

    pub fn leave_scope(&mut self) {
        let Some(scope) = self.scopes.pop() else { return };
        for local in scope.into_values() {
            let CLocal::Object(object, _) = local else { continue };
            let object = &self.world.objects[object];
            let registers: Vec<RegId> = object
                .cells
                .iter()
                .filter_map(|cell| match cell {
                    CCell::Register(register) => Some(*register),
                    CCell::Memory(_) => None,
                })
                .collect();
            if !registers.is_empty() && object.key.1 > 0 {
                self.free.entry(object.key.1).or_default().push(registers);
            }
        }
    }
}

/// What two places agree on.
pub(super) fn agree(a: &KnownCells, b: &KnownCells) -> KnownCells {
    a.iter().filter(|(cell, value)| b.get(cell) == Some(value)).map(|(cell, value)| (*cell, *value)).collect()
}
