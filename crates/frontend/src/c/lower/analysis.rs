//! Which values registers and variables may have, in all threads together.
//!
//! Registers are followed along the steps of their thread, place by place, and narrowed by
//! conditions; shared variables have one set of values for the whole run, whoever stores them and
//! whatever the memory model. Where that shows that a sum fits into its type or that a pointer has few
//! targets, nothing has to be assumed or tried. If no thread stores in a loop, a run has only so many stores:
//! what they can store is then found after as many rounds, however values grow.

use super::choice::{CChoice, CChosen};
use super::clean::{LiveRegisters, liveness};
use super::graph::{ArrowsAt, At, CArrow, CStep, Graph};
use super::values::{CBehind, CKnown, CValues, refine, refine_in_place, refined, register_and_shift};
use program::{Arith, Cond, Domain, Expr, Op, RegId, Relation, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};

/// Rounds after which bounds that still grow jump to the next constant of the program.
const PATIENCE: usize = 2;
/// The same for variables whose values are listed: which elements of an array are linked shows late.
const PATIENCE_WITH_LISTS: usize = 8;
/// Stores beyond which they are not counted.
const FEW_STORES: usize = 60;
/// Places and steps beyond which nothing is computed.
const LARGEST: usize = 300_000;

/// A thread to look at.
pub(super) struct CSubject<'g> {
    pub graph: &'g Graph,
    pub entry: At,
    /// What is asked about registers besides.
    pub asked: &'g [(At, Expr<RegId>)],
    /// Where its argument and its result are kept.
    pub argument: VarId,
    pub result: VarId,
}

/// What was found.
pub(super) struct CAnalysis {
    /// Registers' values, by thread and place; nothing where nobody gets.
    pub registers: Vec<Vec<Option<CKnown>>>,
    /// Values of variables.
    pub variables: Vec<CValues>,
    /// Whether it was too much to compute.
    pub skipped: bool,
}

/// Computes it, from the initial values of variables and what their types hold.
pub(super) fn analyse(
    subjects: &[CSubject<'_>],
    arguments: &[VarId],
    initial: &[CValues],
    types: &[(i128, i128)],
) -> CAnalysis {
    let size: usize = subjects.iter().map(|s| s.graph.size()).sum();
    if size > LARGEST {
        let variables = types.iter().map(|(low, high)| CValues::Range(*low, *high)).collect();
        let registers = subjects.iter().map(|s| vec![None; s.graph.places()]).collect();
        return CAnalysis { registers, variables, skipped: true };
    }
    let thresholds = Thresholds::of(subjects, types);
    let mut walks: Vec<CWalk<'_, '_>> = subjects.iter().map(|s| CWalk::new(s, &thresholds)).collect();
    let mut memory = CMemory { variables: initial.to_vec(), stored: BTreeMap::new(), arguments };
    let mut changed = Vec::new();
    let (mut changing, mut most) = (BTreeSet::new(), Some(0));
    let mut round = 0;
    loop {
        for walk in &mut walks {
            walk.run(&mut memory, &changed);
        }
        let known = changing.len();
        changing.extend(memory.stored.keys().copied());
        if most.is_some() && changing.len() > known {
            most = stores_at_most(&walks, arguments, &changing);
        }
        if memory.stored.is_empty() || most.is_some_and(|most| round >= most) {
            let registers = walks.into_iter().map(|walk| walk.at).collect();
            return CAnalysis { registers, variables: memory.variables, skipped: false };
        }
        round += 1;
        changed.clear();
        for (variable, new) in std::mem::take(&mut memory.stored) {
            changed.push(variable);
            let patience = if new.is_listed() { PATIENCE_WITH_LISTS } else { PATIENCE };
            let before = &mut memory.variables[variable.index()];
            *before = match round > patience && most.is_none() {
                // All threads have been looked at, so this counts twice.
                true => before.widen(&new, thresholds.after(2 * round)),
                false => new,
            };
        }
    }
}

/// How many stores a run can have to variables that change, if no thread does that in a loop and they are few.
///
/// What a run with so many of these stores has in memory is among what as many rounds have found: stores to
/// variables that never had new values in any round store what is known already.
fn stores_at_most(walks: &[CWalk<'_, '_>], arguments: &[VarId], changing: &BTreeSet<VarId>) -> Option<usize> {
    let mut count = 0;
    for walk in walks {
        count += walk.stores_on_a_way(arguments, changing)?;
    }
    (count <= FEW_STORES).then_some(count)
}

/// The variables that a step reads.
fn read_by(subject: &CSubject<'_>, step: &CStep, note: &mut dyn FnMut(VarId)) {
    if let CStep::Begin(Some(_)) = step {
        note(subject.argument);
    }
    step.for_each_access(&mut |variable, stores| {
        if !stores {
            note(variable);
        }
    });
}

/// Numbers at which bounds that grow stop for a while: constants of the program and their neighbours, in order.
struct Thresholds {
    /// All of them: by these, bounds of values that are told apart one by one grow one by one.
    fine: Vec<i128>,
    /// Those by which values are bounded: compared by order, divided by, or what types hold.
    coarse: Vec<i128>,
}

impl Thresholds {
    fn of(subjects: &[CSubject<'_>], types: &[(i128, i128)]) -> Thresholds {
        let mut found = ProgramConstants::default();
        for arrow in subjects.iter().flat_map(|subject| &subject.graph.arrows) {
            found.step(&arrow.step);
        }
        let types: FxHashSet<(i128, i128)> = types.iter().copied().collect();
        let mut coarse = found.bounds;
        coarse.extend(types.iter().flat_map(|(low, high)| [*low, *high]));
        coarse.extend([i128::from(i32::MIN), i128::from(i32::MAX), i128::from(u32::MAX)]);
        coarse.extend([i128::from(i64::MIN), i128::from(i64::MAX), i128::from(u64::MAX), 0, 1]);
        found.all.extend(&coarse);
        Thresholds { fine: with_neighbours(found.all), coarse: with_neighbours(coarse) }
    }

    /// Those for something that has grown so often. What still grows after a while may be anything.
    fn after(&self, often: usize) -> &[i128] {
        match often / PATIENCE {
            ..6 => &self.fine,
            6..12 => &self.coarse,
            _ => &[],
        }
    }
}

fn with_neighbours(mut numbers: Vec<i128>) -> Vec<i128> {
    numbers.sort_unstable();
    numbers.dedup();
    let mut near: Vec<i128> =
        numbers.into_iter().flat_map(|c| [c.saturating_sub(1), c, c.saturating_add(1)]).collect();
    near.sort_unstable();
    near.dedup();
    near
}

/// Constants of the program.
#[derive(Default)]
struct ProgramConstants {
    all: Vec<i128>,
    /// Those by which values are bounded.
    bounds: Vec<i128>,
}

impl ProgramConstants {
    fn step(&mut self, step: &CStep) {
        match step {
            CStep::Op(op) => op.for_each_part(&mut |part| self.op(part)),
            CStep::Checked(parts, _, _) => parts.iter().for_each(|part| self.op(part)),
            CStep::Choice(choice) => {
                self.expr(&choice.key);
                if let CChosen::Store { value, .. } = &choice.access {
                    self.expr(value);
                }
                self.all.extend(choice.cells.iter().map(|(value, _)| *value));
            }
            CStep::Start(_, Some(argument)) => self.expr(argument),
            CStep::End(result) => self.expr(result),
            _ => {}
        }
    }

    fn op(&mut self, op: &Op) {
        match op {
            Op::Assign(_, value) | Op::Store(_, value) => self.expr(value),
            Op::Assume(cond) => self.cond(cond),
            _ => {}
        }
    }

    fn cond(&mut self, cond: &Cond<RegId>) {
        match cond {
            Cond::Const(_) => {}
            Cond::Compare(relation, a, b) => {
                for side in [a, b] {
                    self.expr(side);
                    if !matches!(relation, Relation::Eq | Relation::Ne) {
                        self.bounds.extend(constant(side));
                    }
                }
            }
            Cond::And(parts) | Cond::Or(parts) => parts.iter().for_each(|part| self.cond(part)),
        }
    }

    fn expr(&mut self, expr: &Expr<RegId>) {
        match expr {
            Expr::Const(_) => self.all.extend(constant(expr)),
            Expr::Leaf(_) => {}
            Expr::Binary(op, a, b) => {
                if matches!(op, Arith::Rem | Arith::And | Arith::Div) {
                    self.bounds.extend(constant(b));
                }
                self.expr(a);
                self.expr(b);
            }
        }
    }
}

fn constant(expr: &Expr<RegId>) -> Option<i128> {
    i128::try_from(expr.as_const()?).ok()
}

/// What all threads share.
struct CMemory<'m> {
    variables: Vec<CValues>,
    /// What variables may be from the next round on, where that is more than now. Most of them never change, so a
    /// round costs what it changes and not what there is.
    stored: BTreeMap<VarId, CValues>,
    arguments: &'m [VarId],
}

impl CMemory<'_> {
    fn store(&mut self, variable: VarId, values: &CValues) {
        let before = self.stored.get(&variable).unwrap_or(&self.variables[variable.index()]);
        let joined = before.join(values);
        if joined != *before {
            self.stored.insert(variable, joined);
        }
    }
}

/// Places to look at again, by their numbers in the order of the thread: as bits, for numbers are small.
struct WaitingPlaces {
    words: Vec<u64>,
    /// Words before this one are empty.
    from: usize,
}

impl WaitingPlaces {
    fn new(count: usize) -> WaitingPlaces {
        WaitingPlaces { words: vec![0; count.div_ceil(64)], from: 0 }
    }

    fn insert(&mut self, number: usize) {
        self.words[number / 64] |= 1 << (number % 64);
        self.from = self.from.min(number / 64);
    }

    /// Takes out the smallest.
    fn pop_first(&mut self) -> Option<usize> {
        let skipped = self.words[self.from..].iter().position(|word| *word != 0)?;
        self.from += skipped;
        let word = &mut self.words[self.from];
        let bit = word.trailing_zeros() as usize;
        *word &= *word - 1;
        Some(64 * self.from + bit)
    }
}

/// One thread, and what is known of it so far.
struct CWalk<'w, 'g> {
    subject: &'w CSubject<'g>,
    thresholds: &'w Thresholds,
    live: LiveRegisters,
    leaving: ArrowsAt,
    /// Which places are in loops, once somebody asks.
    in_loops: OnceCell<Vec<bool>>,
    order: Vec<usize>,
    /// The place of each number.
    by_order: Vec<At>,
    /// The places that a variable is read at.
    readers: FxHashMap<VarId, Vec<At>>,
    at: Vec<Option<CKnown>>,
    /// What is known behind the step that is looked at: one memory for all of them.
    behind: CKnown,
}

impl<'w, 'g> CWalk<'w, 'g> {
    fn new(subject: &'w CSubject<'g>, thresholds: &'w Thresholds) -> CWalk<'w, 'g> {
        let graph = subject.graph;
        let leaving = graph.leaving();
        let order = order(graph, &leaving, subject.entry);
        let mut by_order = vec![subject.entry; graph.places()];
        order.iter().enumerate().filter(|(_, n)| **n < graph.places()).for_each(|(at, n)| by_order[*n] = at);
        let mut readers: FxHashMap<VarId, Vec<At>> = FxHashMap::default();
        for arrow in &graph.arrows {
            read_by(subject, &arrow.step, &mut |variable| {
                readers.entry(variable).or_default().push(arrow.from);
            });
        }
        let live = liveness(graph, subject.asked);
        CWalk {
            subject,
            thresholds,
            live,
            leaving,
            in_loops: OnceCell::new(),
            by_order,
            order,
            readers,
            at: vec![None; graph.places()],
            behind: CKnown::default(),
        }
    }

    /// How many of some variables a step stores to, at most.
    fn stores(&self, step: &CStep, arguments: &[VarId], variables: &BTreeSet<VarId>) -> usize {
        let mut count = 0;
        let mut note = |variable| count += usize::from(variables.contains(&variable));
        match step {
            CStep::Start(instance, Some(_)) => note(arguments[*instance]),
            CStep::End(_) => note(self.subject.result),
            other => other.for_each_stored(&mut note),
        }
        // Of those that a value chooses among, one is stored to.
        if matches!(step, CStep::Choice(_)) { count.min(1) } else { count }
    }

    /// The most stores to some variables on any way through the thread; nothing if there are many.
    fn stores_on_a_way(&self, arguments: &[VarId], variables: &BTreeSet<VarId>) -> Option<usize> {
        let (graph, entry) = (self.subject.graph, self.subject.entry);
        let stores: Vec<usize> =
            graph.arrows.iter().map(|arrow| self.stores(&arrow.step, arguments, variables)).collect();
        if stores.iter().all(|count| *count == 0) {
            return Some(0);
        }
        let in_loop = self.in_loops.get_or_init(|| graph.in_loops());
        let repeated =
            |(arrow, count): (&CArrow, &usize)| *count > 0 && in_loop[arrow.from] && in_loop[arrow.to];
        if graph.arrows.iter().zip(&stores).any(repeated) {
            return None;
        }
        let mut before: Vec<Option<usize>> = vec![None; graph.places()];
        before[entry] = Some(0);
        let mut waiting = BTreeSet::from([(self.order[entry], entry)]);
        while let Some((_, place)) = waiting.pop_first() {
            for &index in &self.leaving[place] {
                let to = graph.arrows[index].to;
                let count = before[place].map(|count| count + stores[index]);
                if count > Some(FEW_STORES) {
                    return None;
                }
                if count > before[to] {
                    before[to] = count;
                    waiting.insert((self.order[to], to));
                }
            }
        }
        before.into_iter().max().flatten()
    }

    /// Goes on with variables that have changed; at first from the beginning.
    fn run(&mut self, memory: &mut CMemory<'_>, changed: &[VarId]) {
        let (graph, entry) = (self.subject.graph, self.subject.entry);
        let mut waiting = WaitingPlaces::new(graph.places());
        if self.at[entry].is_none() {
            let live = (0..graph.registers.len()).map(RegId::new);
            let live = live.filter(|register| self.live.has(entry, *register));
            self.at[entry] = Some(CKnown::all(live, &CValues::only(0)));
            waiting.insert(self.order[entry]);
        }
        let places = changed.iter().filter_map(|variable| self.readers.get(variable)).flatten();
        // What is not reached from the beginning has no number.
        places
            .filter(|place| self.order[**place] < graph.places())
            .for_each(|place| waiting.insert(self.order[*place]));
        let mut visits = vec![0usize; graph.places()];
        let mut behind = std::mem::take(&mut self.behind);
        while let Some(first) = waiting.pop_first() {
            let place = self.by_order[first];
            let Some(known) = self.at[place].take() else { continue };
            let mut again = false;
            for index in 0..self.leaving[place].len() {
                let arrow = &graph.arrows[self.leaving[place][index]];
                let Some(after) = self.step(memory, &known, &arrow.step, &mut behind) else { continue };
                // Only loops make values grow without end.
                let back = self.order[arrow.to] <= self.order[place];
                let wide = back && visits[arrow.to] >= PATIENCE;
                let steps = self.thresholds.after(visits[arrow.to]);
                let join = |a: &CValues, b: &CValues| if wide { a.widen(b, steps) } else { a.join(b) };
                let alone = arrow.to == place && !again;
                let before = &mut self.at[arrow.to];
                if alone {
                    *before = Some(known.clone());
                }
                let new = match before {
                    Some(before) => before.absorb(&after, join),
                    None => {
                        *before = Some(after.only(|register| self.live.has(arrow.to, register)));
                        true
                    }
                };
                if new {
                    visits[arrow.to] += usize::from(back);
                    again |= arrow.to == place;
                    waiting.insert(self.order[arrow.to]);
                }
            }
            if !again {
                self.at[place] = Some(known);
            }
        }
        self.behind = behind;
    }

    /// What is known behind a step, written to `behind` if that is more than one register; nothing if the step is not
    /// possible.
    fn step<'k>(
        &self,
        memory: &mut CMemory<'_>,
        known: &'k CKnown,
        step: &CStep,
        behind: &'k mut CKnown,
    ) -> Option<CBehind<'k>> {
        match step {
            CStep::Op(op) => return op_after(memory, known, op, behind),
            CStep::Choice(choice) => chosen(memory, known, choice, behind)?,
            // Most results fit, and then nothing is learned.
            CStep::Fits(fits) if value(known, &fits.value).within(fits.low, fits.high) => {
                return Some(CBehind::same(known));
            }
            CStep::Fits(fits) => return refined(known, &fits.cond(), behind),
            CStep::Checked(parts, at, fits) => {
                behind.clone_from(known);
                for (index, part) in parts.iter().enumerate() {
                    if index == *at {
                        refine_in_place(behind, &fits.cond())?;
                    }
                    apply(memory, behind, part)?;
                }
            }
            CStep::Start(instance, argument) => {
                if let Some(argument) = argument {
                    let given = memory.arguments[*instance];
                    memory.store(given, &value(known, argument));
                }
                return Some(CBehind::same(known));
            }
            CStep::Unwritten(register, low, high) => {
                return Some(CBehind::with(known, *register, CValues::range(*low, *high)));
            }
            CStep::Join(_) | CStep::Begin(None) => return Some(CBehind::same(known)),
            CStep::Begin(Some(register)) => {
                return op_after(memory, known, &Op::Load(*register, self.subject.argument), behind);
            }
            CStep::End(result) => {
                memory.store(self.subject.result, &value(known, result));
                return Some(CBehind::same(known));
            }
        }
        Some(CBehind::same(behind))
    }
}

/// What is known behind an operation, written to `behind` if that is more than one register; nothing if it is not
/// possible.
fn op_after<'k>(
    memory: &mut CMemory<'_>,
    known: &'k CKnown,
    op: &Op,
    behind: &'k mut CKnown,
) -> Option<CBehind<'k>> {
    if let Some((register, values)) = written(&memory.variables, known, op) {
        return Some(CBehind::with(known, register, values));
    }
    match op {
        Op::Assume(cond) => refined(known, cond, behind),
        Op::Block { .. } => {
            behind.clone_from(known);
            apply(memory, behind, op)?;
            Some(CBehind::same(behind))
        }
        Op::Store(variable, expr) => {
            memory.store(*variable, &value(known, expr));
            Some(CBehind::same(known))
        }
        _ => Some(CBehind::same(known)),
    }
}

/// The register that an operation writes, and its values then.
fn written(variables: &[CValues], known: &CKnown, op: &Op) -> Option<(RegId, CValues)> {
    match op {
        Op::Assign(register, expr) => Some((*register, value(known, expr))),
        Op::Havoc(register, domain) => Some((*register, domain_values(domain))),
        Op::Load(register, variable) => Some((*register, variables[variable.index()].clone())),
        _ => None,
    }
}

/// Writes what is known behind an access to a cell that a value chooses: what all the ways together give.
fn chosen(memory: &mut CMemory<'_>, known: &CKnown, choice: &CChoice, after: &mut CKnown) -> Option<()> {
    let keys = value(known, &choice.key);
    let possible = || choice.cells.iter().filter(|(value, _)| keys.contains(*value));
    possible().next()?;
    match &choice.access {
        CChosen::Store { value: stored, .. } => {
            let by_key = mentions_any(stored, &choice.key);
            let same = value(known, stored);
            for (key, variable) in possible() {
                match by_key.then(|| refine(known, &choice.chosen(*key))).flatten() {
                    Some(known) => memory.store(*variable, &value(&known, stored)),
                    None => memory.store(*variable, &same),
                }
            }
        }
        CChosen::Load(_) | CChosen::Nothing => {}
    }
    after.clone_from(known);
    if let Some((register, shift)) = register_and_shift(&choice.key) {
        let left = possible().map(|(value, _)| value - shift).collect();
        after.set(register, CValues::listed(left));
    }
    if let CChosen::Load(register) = choice.access {
        let values = possible().map(|(_, variable)| &memory.variables[variable.index()]);
        after.set(register, values.fold(CValues::NONE, |all, values| all.join(values)));
    }
    Some(())
}

/// Whether an expression is made of a register of another.
fn mentions_any(expr: &Expr<RegId>, other: &Expr<RegId>) -> bool {
    let mut found = false;
    expr.for_each_leaf(&mut |a: &RegId| other.for_each_leaf(&mut |b: &RegId| found |= a == b));
    found
}

/// Makes of what is known what is known behind an operation.
fn apply(memory: &mut CMemory<'_>, known: &mut CKnown, op: &Op) -> Option<()> {
    if let Some((register, values)) = written(&memory.variables, known, op) {
        known.set(register, values);
    }
    match op {
        Op::Store(variable, expr) => memory.store(*variable, &value(known, expr)),
        Op::Assume(cond) => refine_in_place(known, cond)?,
        Op::Block { parts, .. } => parts.iter().try_for_each(|part| apply(memory, known, part))?,
        _ => {}
    }
    Some(())
}

/// Numbers for places so that, loops aside, a step leads to a larger one.
pub(super) fn order(graph: &Graph, leaving: &ArrowsAt, entry: At) -> Vec<usize> {
    let mut order = vec![usize::MAX; graph.places()];
    let mut next = graph.places();
    let (mut seen, mut stack) = (vec![false; graph.places()], vec![(entry, 0usize)]);
    seen[entry] = true;
    while let Some((at, done)) = stack.pop() {
        match leaving[at].get(done) {
            Some(&arrow) => {
                stack.push((at, done + 1));
                let to = graph.arrows[arrow].to;
                if !std::mem::replace(&mut seen[to], true) {
                    stack.push((to, 0));
                }
            }
            None => {
                next -= 1;
                order[at] = next;
            }
        }
    }
    order
}

fn domain_values(domain: &Domain) -> CValues {
    match domain {
        Domain::Range(low, high) => match (i128::try_from(low), i128::try_from(high)) {
            (Ok(low), Ok(high)) => CValues::range(low, high),
            _ => CValues::ALL,
        },
        Domain::All => CValues::ALL,
    }
}

/// What an expression may be at a place.
pub(super) fn value(known: &CKnown, expr: &Expr<RegId>) -> CValues {
    CValues::of(expr, &|register| known.get(register))
}

/// Whether a step's check always passes.
pub(super) fn passes(known: Option<&CKnown>, step: &CStep, variables: &[CValues]) -> bool {
    match (known, step) {
        (None, _) => true,
        (Some(known), CStep::Fits(fits) | CStep::Checked(_, _, fits)) => {
            checked(known, step, variables).within(fits.low, fits.high)
        }
        _ => false,
    }
}

/// The values that a step checks; none if it gets there with none, or checks nothing.
pub(super) fn checked(known: &CKnown, step: &CStep, variables: &[CValues]) -> CValues {
    match step {
        CStep::Fits(fits) => value(known, &fits.value),
        CStep::Checked(parts, at, fits) => {
            let mut after = known.clone();
            for part in &parts[..*at] {
                if let Some((register, values)) = written(variables, &after, part) {
                    after.set(register, values);
                }
                if let Op::Assume(cond) = part
                    && refine_in_place(&mut after, cond).is_none()
                {
                    return CValues::NONE;
                }
            }
            value(&after, &fits.value)
        }
        _ => CValues::NONE,
    }
}
