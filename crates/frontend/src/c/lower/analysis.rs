//! Which values registers and variables may have, in all threads together.
//!
//! Registers are followed along the steps of their thread, place by place, and narrowed by
//! conditions; shared variables have one set of values for the whole run, whoever stores them and
//! whatever the memory model. Where that shows that a sum fits into its type or that a pointer has few
//! targets, nothing has to be assumed or tried. If no thread stores in a loop, a run has only so many stores:
//! what they can store is then found after as many rounds, however values grow.

use super::choice::{CChoice, CChosen};
use super::clean::{LiveRegisters, liveness};
use super::graph::{At, CStep, Graph};
use super::values::{CKnown, CValues, refine, refine_in_place, refine_into, register_and_shift};
use program::{Cond, Domain, Expr, Op, RegId, VarId};
use rustc_hash::FxHashMap;
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
    let thresholds = thresholds(subjects, types);
    let mut walks: Vec<CWalk<'_, '_>> = subjects.iter().map(|s| CWalk::new(s, &thresholds)).collect();
    let mut memory = CMemory { variables: initial.to_vec(), stored: BTreeMap::new(), arguments };
    let mut changed = Vec::new();
    let most = stores_at_most(subjects);
    let mut round = 0;
    loop {
        for walk in &mut walks {
            walk.run(&mut memory, &changed);
        }
        if memory.stored.is_empty() || most.is_some_and(|most| round >= most) {
            let registers = walks.into_iter().map(|walk| walk.at).collect();
            return CAnalysis { registers, variables: memory.variables, skipped: false };
        }
        round += 1;
        changed.clear();
        for (variable, new) in std::mem::take(&mut memory.stored) {
            changed.push(variable);
            // What still grows after a while may be anything.
            let steps: &[i128] = if round > 3 * PATIENCE { &[] } else { &thresholds };
            let patience = if new.is_listed() { PATIENCE_WITH_LISTS } else { PATIENCE };
            let before = &mut memory.variables[variable.index()];
            *before = match round > patience && most.is_none() {
                true => before.widen(&new, steps),
                false => new,
            };
        }
    }
}

/// How many stores a run can have, if no thread stores in a loop and they are few.
fn stores_at_most(subjects: &[CSubject<'_>]) -> Option<usize> {
    let mut count = 0;
    for subject in subjects {
        count += stores_on_a_way(subject)?;
    }
    (count <= FEW_STORES).then_some(count)
}

/// The most stores on any way through a thread.
fn stores_on_a_way(subject: &CSubject<'_>) -> Option<usize> {
    let (graph, in_loop) = (subject.graph, subject.graph.in_loops());
    if graph.arrows.iter().any(|arrow| arrow.step.stores() > 0 && in_loop[arrow.from] && in_loop[arrow.to]) {
        return None;
    }
    let leaving = graph.leaving();
    let order = order(graph, &leaving, subject.entry);
    let mut before: Vec<Option<usize>> = vec![None; graph.places()];
    before[subject.entry] = Some(0);
    let mut waiting = BTreeSet::from([(order[subject.entry], subject.entry)]);
    while let Some((_, place)) = waiting.pop_first() {
        for &index in &leaving[place] {
            let arrow = &graph.arrows[index];
            let count = before[place].map(|count| count + arrow.step.stores());
            if count > Some(FEW_STORES) {
                return None;
            }
            if count > before[arrow.to] {
                before[arrow.to] = count;
                waiting.insert((order[arrow.to], arrow.to));
            }
        }
    }
    before.into_iter().max().flatten()
}

/// The variables that a step reads.
fn read_by(subject: &CSubject<'_>, step: &CStep, note: &mut dyn FnMut(VarId)) {
    let mut load = |op: &Op| {
        if let Op::Load(_, variable) = op {
            note(*variable);
        }
    };
    match step {
        CStep::Op(op) => op.for_each_part(&mut load),
        CStep::Checked(parts, ..) => parts.iter().for_each(&mut load),
        CStep::Choice(choice) if matches!(choice.access, CChosen::Load(_)) => {
            choice.variables().for_each(note);
        }
        CStep::Begin(Some(_)) => note(subject.argument),
        _ => {}
    }
}

/// Constants of the program and their neighbours, in order.
fn thresholds(subjects: &[CSubject<'_>], types: &[(i128, i128)]) -> Vec<i128> {
    let mut found = vec![0, 1];
    for arrow in subjects.iter().flat_map(|subject| &subject.graph.arrows) {
        let mut note = |expr: &Expr<RegId>| constants(expr, &mut found);
        match &arrow.step {
            CStep::Op(op) => op.for_each_part(&mut |part| expressions(part, &mut note)),
            CStep::Checked(parts, _, _) => parts.iter().for_each(|part| expressions(part, &mut note)),
            CStep::Choice(choice) => {
                note(&choice.key);
                if let CChosen::Store { value, .. } = &choice.access {
                    note(value);
                }
                found.extend(choice.cells.iter().map(|(value, _)| *value));
            }
            CStep::Start(_, Some(argument)) => note(argument),
            CStep::End(result) => note(result),
            _ => {}
        }
    }
    found.extend(types.iter().flat_map(|(low, high)| [*low, *high]));
    found.extend([i128::from(i32::MIN), i128::from(i32::MAX), i128::from(u32::MAX), i128::from(i64::MIN)]);
    found.extend([i128::from(i64::MAX), i128::from(u64::MAX)]);
    found.sort_unstable();
    found.dedup();
    let mut near: Vec<i128> =
        found.iter().flat_map(|c| [c.saturating_sub(1), *c, c.saturating_add(1)]).collect();
    near.sort_unstable();
    near.dedup();
    near
}

fn constants(expr: &Expr<RegId>, found: &mut Vec<i128>) {
    match expr {
        Expr::Const(value) => found.extend(i128::try_from(value).ok()),
        Expr::Leaf(_) => {}
        Expr::Binary(_, a, b) => {
            constants(a, found);
            constants(b, found);
        }
    }
}

fn expressions(op: &Op, note: &mut dyn FnMut(&Expr<RegId>)) {
    match op {
        Op::Assign(_, value) | Op::Store(_, value) => note(value),
        Op::Assume(cond) => compared(cond, note),
        _ => {}
    }
}

fn compared(cond: &Cond<RegId>, note: &mut dyn FnMut(&Expr<RegId>)) {
    match cond {
        Cond::Const(_) => {}
        Cond::Compare(_, a, b) => {
            note(a);
            note(b);
        }
        Cond::And(parts) | Cond::Or(parts) => parts.iter().for_each(|part| compared(part, note)),
    }
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

/// One thread, and what is known of it so far.
struct CWalk<'w, 'g> {
    subject: &'w CSubject<'g>,
    thresholds: &'w [i128],
    live: LiveRegisters,
    leaving: Vec<Vec<usize>>,
    order: Vec<usize>,
    /// The places that a variable is read at.
    readers: FxHashMap<VarId, Vec<At>>,
    at: Vec<Option<CKnown>>,
    /// What is known behind the step that is looked at: one memory for all of them.
    behind: CKnown,
}

impl<'w, 'g> CWalk<'w, 'g> {
    fn new(subject: &'w CSubject<'g>, thresholds: &'w [i128]) -> CWalk<'w, 'g> {
        let graph = subject.graph;
        let leaving = graph.leaving();
        let order = order(graph, &leaving, subject.entry);
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
            order,
            readers,
            at: vec![None; graph.places()],
            behind: CKnown::default(),
        }
    }

    /// Goes on with variables that have changed; at first from the beginning.
    fn run(&mut self, memory: &mut CMemory<'_>, changed: &[VarId]) {
        let (graph, entry) = (self.subject.graph, self.subject.entry);
        let mut waiting: BTreeSet<(usize, At)> = BTreeSet::new();
        if self.at[entry].is_none() {
            let live = (0..graph.registers.len()).map(RegId::new);
            let live = live.filter(|register| self.live.has(entry, *register));
            self.at[entry] = Some(CKnown::all(live, &CValues::only(0)));
            waiting.insert((self.order[entry], entry));
        }
        let places = changed.iter().filter_map(|variable| self.readers.get(variable)).flatten();
        waiting.extend(places.map(|place| (self.order[*place], *place)));
        let mut visits = vec![0usize; graph.places()];
        let mut behind = std::mem::take(&mut self.behind);
        while let Some((_, place)) = waiting.pop_first() {
            let Some(known) = self.at[place].take() else { continue };
            let mut again = false;
            for index in 0..self.leaving[place].len() {
                let arrow = &graph.arrows[self.leaving[place][index]];
                let Some(after) = self.step(memory, &known, &arrow.step, &mut behind) else { continue };
                // Only loops make values grow without end.
                let back = self.order[arrow.to] <= self.order[place];
                visits[arrow.to] += usize::from(back);
                let wide = back && visits[arrow.to] > PATIENCE;
                let steps = if visits[arrow.to] > PATIENCE * 6 { &[] } else { self.thresholds };
                let join = |a: &CValues, b: &CValues| if wide { a.widen(b, steps) } else { a.join(b) };
                let alone = arrow.to == place && !again;
                let before = &mut self.at[arrow.to];
                if alone {
                    *before = Some(known.clone());
                }
                let new = match before {
                    Some(before) => before.absorb(after, join),
                    None => {
                        *before = Some(after.only(|register| self.live.has(arrow.to, register)));
                        true
                    }
                };
                if new {
                    again |= arrow.to == place;
                    waiting.insert((self.order[arrow.to], arrow.to));
                }
            }
            if !again {
                self.at[place] = Some(known);
            }
        }
        self.behind = behind;
    }

    /// What is known behind a step, written to `behind` unless it is what was known before; nothing if the step
    /// is not possible.
    fn step<'k>(
        &self,
        memory: &mut CMemory<'_>,
        known: &'k CKnown,
        step: &CStep,
        behind: &'k mut CKnown,
    ) -> Option<&'k CKnown> {
        match step {
            CStep::Op(op) => return op_after(memory, known, op, behind),
            CStep::Choice(choice) => chosen(memory, known, choice, behind)?,
            CStep::Fits(fits) => refine_into(known, &fits.cond(), behind)?,
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
                return Some(known);
            }
            CStep::Unwritten(register, low, high) => {
                behind.clone_from(known);
                behind.set(*register, CValues::range(*low, *high));
            }
            CStep::Join(_) | CStep::Begin(None) => return Some(known),
            CStep::Begin(Some(register)) => {
                return op_after(memory, known, &Op::Load(*register, self.subject.argument), behind);
            }
            CStep::End(result) => {
                memory.store(self.subject.result, &value(known, result));
                return Some(known);
            }
        }
        Some(behind)
    }
}

/// What is known behind an operation, written to `behind` unless it is what was known before; nothing if it is not
/// possible.
fn op_after<'k>(
    memory: &mut CMemory<'_>,
    known: &'k CKnown,
    op: &Op,
    behind: &'k mut CKnown,
) -> Option<&'k CKnown> {
    match op {
        Op::Assume(cond) => refine_into(known, cond, behind)?,
        Op::Store(variable, expr) => {
            memory.store(*variable, &value(known, expr));
            return Some(known);
        }
        Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => return Some(known),
        _ => {
            behind.clone_from(known);
            apply(memory, behind, op)?;
        }
    }
    Some(behind)
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
    match op {
        Op::Assign(register, expr) => known.set(*register, value(known, expr)),
        Op::Havoc(register, domain) => known.set(*register, domain_values(domain)),
        Op::Load(register, variable) => known.set(*register, memory.variables[variable.index()].clone()),
        Op::Store(variable, expr) => memory.store(*variable, &value(known, expr)),
        Op::Assume(cond) => refine_in_place(known, cond)?,
        Op::Block { parts, .. } => parts.iter().try_for_each(|part| apply(memory, known, part))?,
        Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => {}
    }
    Some(())
}

/// Numbers for places so that, loops aside, a step leads to a larger one.
fn order(graph: &Graph, leaving: &[Vec<usize>], entry: At) -> Vec<usize> {
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
                match part {
                    Op::Load(register, variable) => after.set(*register, variables[variable.index()].clone()),
                    Op::Assign(register, expr) => after.set(*register, value(&after, expr)),
                    Op::Assume(cond) => match refine(&after, cond) {
                        Some(refined) => after = refined,
                        None => return CValues::NONE,
                    },
                    _ => {}
                }
            }
            value(&after, &fits.value)
        }
        _ => CValues::NONE,
    }
}
