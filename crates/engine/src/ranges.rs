//! Which values numbers may have: an interval per register and location, and one per variable.
//!
//! Intervals only grow, from the initial values, by what every edge can make of them; a condition
//! makes them smaller on its edge. All stores to a variable share one interval, whatever the order
//! of threads and drains. A bound that keeps growing jumps to the next constant of the program,
//! and at last to infinity, so that this ends; a few passes more then make intervals smaller
//! that jumped too far. Nothing is proved by it: it is a guess whether
//! exploration can end, made in the time of a few passes over the program.

use program::{
    Arith, Cond, Domain, Expr, Int, Liveness, Loc, Op, Program, RegId, Relation, Span, Thread, ThreadId,
    VarId,
};
use std::collections::BTreeSet;

/// Passes before bounds begin to jump, and at all.
const PATIENCE: usize = 6;
const MOST_PASSES: usize = 64;
/// A number with more values than this is taken to grow.
const MANY: i128 = 1 << 16;

/// A statement by which a number may get very many values; `None` if all have few.
pub fn growing(program: &Program) -> Option<Span> {
    let many = |domain: &Domain| Range::of(domain).is_wide();
    let open = program.variables.iter().find(|variable| many(&variable.initial));
    open.map(|variable| variable.span).or_else(|| Analysis::of(program).growing())
}

/// The variables that may get very many values.
pub(crate) fn growing_variables(program: &Program) -> Vec<VarId> {
    let known = Analysis::of(program).known.memory;
    program.variable_ids().filter(|variable| known[variable.index()].is_wide()).collect()
}

/// The values between two bounds; the smallest and the largest word stand for infinity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Range {
    low: i64,
    high: i64,
}

const ALL: Range = Range { low: i64::MIN, high: i64::MAX };

impl Range {
    fn only(value: &Int) -> Range {
        i64::try_from(value).map_or(ALL, |value| Range { low: value, high: value })
    }

    fn of(domain: &Domain) -> Range {
        match domain {
            Domain::All => ALL,
            Domain::Range(low, high) => Range {
                low: i64::try_from(low).unwrap_or(i64::MIN),
                high: i64::try_from(high).unwrap_or(i64::MAX),
            },
        }
    }

    fn is_wide(self) -> bool {
        i128::from(self.high) - i128::from(self.low) > MANY
    }

    fn is_finite(self) -> bool {
        self.low != i64::MIN && self.high != i64::MAX
    }

    fn join(self, other: Range) -> Range {
        Range { low: self.low.min(other.low), high: self.high.max(other.high) }
    }

    /// What both allow; `None` if that is nothing.
    fn meet(self, other: Range) -> Option<Range> {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        (low <= high).then_some(Range { low, high })
    }

    /// From the smallest to the largest of these values; beyond words is infinity.
    fn around(values: &[i128]) -> Range {
        let low = values.iter().min().copied().unwrap_or_default();
        let high = values.iter().max().copied().unwrap_or_default();
        Range { low: i64::try_from(low).unwrap_or(i64::MIN), high: i64::try_from(high).unwrap_or(i64::MAX) }
    }

    fn add(self, other: Range) -> Range {
        let low = if self.low == i64::MIN { None } else { self.low.checked_add(other.low) };
        let high = if self.high == i64::MAX { None } else { self.high.checked_add(other.high) };
        Range {
            low: low.filter(|_| other.low != i64::MIN).unwrap_or(i64::MIN),
            high: high.filter(|_| other.high != i64::MAX).unwrap_or(i64::MAX),
        }
    }

    fn negative(self) -> Range {
        let flip = |bound: i64| match bound {
            i64::MIN => i64::MAX,
            i64::MAX => i64::MIN,
            bound => -bound,
        };
        Range { low: flip(self.high), high: flip(self.low) }
    }

    fn binary(op: Arith, a: Range, b: Range) -> Range {
        let corners = |combine: &dyn Fn(i128, i128) -> i128| {
            let pairs = [(a.low, b.low), (a.low, b.high), (a.high, b.low), (a.high, b.high)];
            Range::around(&pairs.map(|(a, b)| combine(a.into(), b.into())))
        };
        match op {
            Arith::Add => a.add(b),
            Arith::Sub => a.add(b.negative()),
            Arith::Mul if a.is_finite() && b.is_finite() => corners(&|a, b| a * b),
            Arith::Div if a.is_finite() && b.is_finite() && b.low > 0 => corners(&|a, b| a / b),
            // A remainder has the sign of the dividend and is smaller than the divisor.
            Arith::Rem if b.is_finite() && b.low > 0 => {
                let most = b.high - 1;
                let low = if a.low >= 0 { 0 } else { -most };
                let high = if a.high <= 0 { 0 } else { most };
                Range { low: low.max(a.low.min(0)), high: high.min(a.high.max(0)) }
            }
            // No bits are set that neither had, if neither is negative.
            Arith::And | Arith::Or | Arith::Xor
                if a.is_finite() && b.is_finite() && a.low >= 0 && b.low >= 0 =>
            {
                let bits = (a.high | b.high) as u64;
                let most = u64::MAX.checked_shr(bits.leading_zeros()).unwrap_or(0);
                Range { low: 0, high: i64::try_from(most).unwrap_or(i64::MAX) }
            }
            _ => ALL,
        }
    }
}

type Registers = Vec<Range>;

fn value(expr: &Expr<RegId>, registers: &Registers) -> Range {
    match expr {
        Expr::Const(value) => Range::only(value),
        Expr::Leaf(register) => registers[register.index()],
        Expr::Binary(op, a, b) => Range::binary(*op, value(a, registers), value(b, registers)),
    }
}

/// The registers where a condition holds; `None` if it cannot.
fn assume(cond: &Cond<RegId>, mut registers: Registers) -> Option<Registers> {
    match cond {
        Cond::Const(holds) => holds.then_some(registers),
        Cond::And(parts) => parts.iter().try_fold(registers, |registers, part| assume(part, registers)),
        Cond::Or(parts) => {
            let cases = parts.iter().filter_map(|part| assume(part, registers.clone()));
            cases.reduce(|a, b| a.iter().zip(&b).map(|(a, b)| a.join(*b)).collect())
        }
        Cond::Compare(relation, a, b) => {
            let (left, right) = (value(a, &registers), value(b, &registers));
            for (side, mine, other, relation) in
                [(a, left, right, *relation), (b, right, left, relation.mirrored())]
            {
                let within = mine.meet(allowed(relation, other))?;
                if let Expr::Leaf(register) = side {
                    registers[register.index()] = within;
                }
            }
            Some(registers)
        }
    }
}

/// The values that stand in a relation to one of these.
fn allowed(relation: Relation, to: Range) -> Range {
    let finite =
        |bound: i64, step: i64| if bound == i64::MIN || bound == i64::MAX { bound } else { bound + step };
    match relation {
        Relation::Eq => to,
        Relation::Ne => ALL,
        Relation::Lt => Range { low: i64::MIN, high: finite(to.high, -1) },
        Relation::Le => Range { low: i64::MIN, high: to.high },
        Relation::Gt => Range { low: finite(to.low, 1), high: i64::MAX },
        Relation::Ge => Range { low: to.low, high: i64::MAX },
    }
}

struct Analysis<'p> {
    program: &'p Program,
    known: Known,
    /// The constants of the program and their neighbours.
    constants: Vec<i64>,
}

/// What is known so far.
struct Known {
    memory: Vec<Range>,
    /// By thread and location; nothing where it was not reached.
    registers: Vec<Vec<Option<Registers>>>,
}

impl Known {
    /// What holds at the start.
    fn initially(program: &Program) -> Known {
        let at_entry = |thread: &Thread| {
            let mut registers = vec![None; thread.locs().count()];
            registers[thread.entry().index()] = Some(vec![Range { low: 0, high: 0 }; thread.registers.len()]);
            registers
        };
        Known {
            memory: program.variables.iter().map(|variable| Range::of(&variable.initial)).collect(),
            registers: program.threads.iter().map(at_entry).collect(),
        }
    }

    fn at(&self, thread: ThreadId, loc: Loc) -> Option<Registers> {
        self.registers[thread.index()][loc.index()].clone()
    }

    /// The registers after an operation, `None` if it cannot be done; and what it stores.
    fn perform(
        &self,
        op: &Op,
        mut registers: Registers,
        stores: &mut Vec<(VarId, Range)>,
    ) -> Option<Registers> {
        match op {
            Op::Assign(register, expr) => registers[register.index()] = value(expr, &registers),
            Op::Havoc(register, domain) => registers[register.index()] = Range::of(domain),
            Op::Load(register, variable) => registers[register.index()] = self.memory[variable.index()],
            Op::Store(variable, expr) => stores.push((*variable, value(expr, &registers))),
            Op::Assume(cond) => return assume(cond, registers),
            Op::Block { parts, .. } => {
                return parts.iter().try_fold(registers, |before, part| self.perform(part, before, stores));
            }
            Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => {}
        }
        Some(registers)
    }

    /// Takes up what an edge leads to; whether that is new. Bounds that grow go where `grown` says.
    fn add(
        &mut self,
        (thread, loc): (ThreadId, Loc),
        after: Option<Registers>,
        stores: &[(VarId, Range)],
        grown: &dyn Fn(Range, Range) -> Range,
    ) -> bool {
        let mut new = false;
        let mut join = |known: &mut Range, more: Range| {
            let joined = grown(*known, known.join(more));
            new |= std::mem::replace(known, joined) != joined;
        };
        stores.iter().for_each(|(variable, value)| join(&mut self.memory[variable.index()], *value));
        let Some(after) = after else { return new };
        match &mut self.registers[thread.index()][loc.index()] {
            Some(known) => known.iter_mut().zip(after).for_each(|(known, more)| join(known, more)),
            nothing => {
                *nothing = Some(after);
                new = true;
            }
        }
        new
    }
}

impl<'p> Analysis<'p> {
    fn of(program: &'p Program) -> Analysis<'p> {
        let known = Known::initially(program);
        let mut analysis = Analysis { program, known, constants: constants(program) };
        let mut passes = 0..MOST_PASSES;
        while passes.next().is_some_and(|pass| analysis.grow(pass >= PATIENCE)) {}
        for _ in 0..PATIENCE {
            analysis.shrink();
        }
        analysis
    }

    /// Follows every edge once; whether anything was new.
    fn grow(&mut self, jumps: bool) -> bool {
        let constants = &self.constants;
        let grown = |known: Range, joined: Range| if jumps { jump(constants, known, joined) } else { joined };
        let (mut new, mut stores) = (false, Vec::new());
        for thread in self.program.thread_ids() {
            for edge in self.program.thread(thread).edges() {
                let Some(before) = self.known.at(thread, edge.from) else { continue };
                stores.clear();
                let after = self.known.perform(&edge.op, before, &mut stores);
                new |= self.known.add((thread, edge.to), after, &stores, &grown);
            }
        }
        new
    }

    /// Works everything out anew from what is known: jumps that went too far are taken back.
    fn shrink(&mut self) {
        let mut known = Known::initially(self.program);
        let mut stores = Vec::new();
        for thread in self.program.thread_ids() {
            for edge in self.program.thread(thread).edges() {
                let Some(before) = self.known.at(thread, edge.from) else { continue };
                stores.clear();
                let after = self.known.perform(&edge.op, before, &mut stores);
                known.add((thread, edge.to), after, &stores, &|_, joined| joined);
            }
        }
        self.known = known;
    }

    /// The first edge that gives a register that is read later, or a variable, very many values:
    /// by a choice, or again and again in a loop.
    fn growing(&self) -> Option<Span> {
        let liveness = Liveness::of(self.program);
        for thread in self.program.thread_ids() {
            let component = self.program.thread(thread).components(|_| true);
            for edge in self.program.thread(thread).edges() {
                let again = component[edge.from.index()] == component[edge.to.index()];
                if !again && !matches!(edge.op, Op::Havoc(..)) {
                    continue;
                }
                let before = self.known.at(thread, edge.from);
                if before.is_some_and(|before| self.widens(&edge.op, before, liveness.at(thread, edge.to))) {
                    return Some(edge.span);
                }
            }
        }
        None
    }

    fn widens(&self, op: &Op, before: Registers, live: &[RegId]) -> bool {
        match op {
            Op::Havoc(register, domain) => live.contains(register) && Range::of(domain).is_wide(),
            Op::Assign(register, expr) => live.contains(register) && computes_much(expr, &before),
            Op::Store(_, expr) => computes_much(expr, &before),
            Op::Block { parts, .. } => {
                let mut registers = Some(before);
                parts.iter().any(|part| {
                    let Some(before) = registers.take() else { return false };
                    registers = self.known.perform(part, before.clone(), &mut Vec::new());
                    self.widens(part, before, live)
                })
            }
            _ => false,
        }
    }
}

/// Whether an expression is more than a copy and has very many values.
fn computes_much(expr: &Expr<RegId>, before: &Registers) -> bool {
    matches!(expr, Expr::Binary(..)) && value(expr, before).is_wide()
}

/// Bounds that grow go on to the next constant.
fn jump(constants: &[i64], known: Range, mut joined: Range) -> Range {
    if joined.low < known.low {
        let next = constants.partition_point(|constant| *constant <= joined.low);
        joined.low = next.checked_sub(1).map_or(i64::MIN, |at| constants[at]);
    }
    if joined.high > known.high {
        let next = constants.partition_point(|constant| *constant < joined.high);
        joined.high = constants.get(next).copied().unwrap_or(i64::MAX);
    }
    joined
}

/// The constants of a program with their neighbours, in increasing order.
fn constants(program: &Program) -> Vec<i64> {
    let mut found = BTreeSet::new();
    let mut collect = |value: &Int| {
        if let Ok(value) = i64::try_from(value) {
            found.extend([value.saturating_sub(1), value, value.saturating_add(1)]);
        }
    };
    for edge in program.threads.iter().flat_map(|thread| thread.edges()) {
        edge.op.for_each_part(&mut |op| match op {
            Op::Assign(_, value) | Op::Store(_, value) => constants_in(value, &mut collect),
            Op::Assume(cond) => cond.for_each_expr(&mut |value| constants_in(value, &mut collect)),
            _ => {}
        });
    }
    found.into_iter().collect()
}

fn constants_in(expr: &Expr<RegId>, collect: &mut impl FnMut(&Int)) {
    match expr {
        Expr::Const(value) => collect(value),
        Expr::Leaf(_) => {}
        Expr::Binary(_, a, b) => {
            constants_in(a, collect);
            constants_in(b, collect);
        }
    }
}
