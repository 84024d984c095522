//! Which values registers and variables may have, in all threads together.
//!
//! Registers are followed along the steps of their thread, place by place, and narrowed by
//! conditions; shared variables have one set of values for the whole run, whoever stores them and
//! whatever the memory model. Where that shows that a sum fits into its type or that a pointer has few
//! targets, nothing has to be assumed or tried.

use super::graph::{At, CStep, Graph};
use super::values::{CKnown, CValues, refine};
use program::{Cond, Domain, Expr, Op, RegId, VarId};
use std::collections::BTreeSet;

/// Rounds after which bounds that still grow jump to the next constant of the program.
const PATIENCE: usize = 2;
/// Places times registers beyond which nothing is computed.
const LARGEST: usize = 4_000_000;

/// A thread to look at.
pub(super) struct CSubject<'g> {
    pub graph: &'g Graph,
    pub entry: At,
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
    let size: usize = subjects.iter().map(|s| s.graph.places() * s.graph.registers.len().max(1)).sum();
    if size > LARGEST {
        let variables = types.iter().map(|(low, high)| CValues::Range(*low, *high)).collect();
        let registers = subjects.iter().map(|s| vec![None; s.graph.places()]).collect();
        return CAnalysis { registers, variables, skipped: true };
    }
    let thresholds = thresholds(subjects, types);
    let reads: Vec<BTreeSet<VarId>> = subjects.iter().map(read_by).collect();
    let mut variables = initial.to_vec();
    let mut changed: BTreeSet<VarId> = (0..initial.len()).map(VarId::new).collect();
    let mut registers: Vec<Vec<Option<CKnown>>> = subjects.iter().map(|_| Vec::new()).collect();
    let mut round = 0;
    loop {
        let mut stored = variables.clone();
        for (at, subject) in subjects.iter().enumerate() {
            // What a thread does depends on the variables it reads.
            if round == 0 || !reads[at].is_disjoint(&changed) {
                let walk = CWalk {
                    subject,
                    variables: &variables,
                    stored: &mut stored,
                    arguments,
                    thresholds: &thresholds,
                };
                registers[at] = walk.run();
            }
        }
        changed = (0..stored.len()).filter(|at| stored[*at] != variables[*at]).map(VarId::new).collect();
        if changed.is_empty() {
            return CAnalysis { registers, variables, skipped: false };
        }
        round += 1;
        for (at, new) in stored.into_iter().enumerate() {
            // What still grows after a while may be anything.
            let steps: &[i128] = if round > 3 * PATIENCE { &[] } else { &thresholds };
            variables[at] = match round > PATIENCE {
                true => variables[at].widen(&new, steps),
                false => new,
            };
        }
    }
}

/// The variables that a thread reads.
fn read_by(subject: &CSubject<'_>) -> BTreeSet<VarId> {
    let mut found = BTreeSet::new();
    let mut note = |op: &Op| {
        if let Op::Load(_, variable) = op {
            found.insert(*variable);
        }
    };
    for arrow in &subject.graph.arrows {
        match &arrow.step {
            CStep::Op(op) => op.for_each_part(&mut note),
            CStep::Checked(parts, ..) => parts.iter().for_each(&mut note),
            CStep::Begin(Some(_)) => note(&Op::Load(RegId::new(0), subject.argument)),
            _ => {}
        }
    }
    found
}

/// Constants of the program and their neighbours, in order.
fn thresholds(subjects: &[CSubject<'_>], types: &[(i128, i128)]) -> Vec<i128> {
    let mut found = BTreeSet::from([0, 1]);
    let mut note = |expr: &Expr<RegId>| constants(expr, &mut found);
    for arrow in subjects.iter().flat_map(|subject| &subject.graph.arrows) {
        match &arrow.step {
            CStep::Op(op) => op.for_each_part(&mut |part| expressions(part, &mut note)),
            CStep::Checked(parts, _, _) => parts.iter().for_each(|part| expressions(part, &mut note)),
            CStep::Start(_, Some(argument)) => note(argument),
            CStep::End(result) => note(result),
            _ => {}
        }
    }
    for (low, high) in types {
        found.extend([*low, *high]);
    }
    found.extend([i128::from(i32::MIN), i128::from(i32::MAX), i128::from(u32::MAX), i128::from(i64::MIN)]);
    found.extend([i128::from(i64::MAX), i128::from(u64::MAX)]);
    let near: Vec<i128> = found.iter().flat_map(|c| [c.saturating_sub(1), *c, c.saturating_add(1)]).collect();
    let all: BTreeSet<i128> = near.into_iter().collect();
    all.into_iter().collect()
}

fn constants(expr: &Expr<RegId>, found: &mut BTreeSet<i128>) {
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

/// One thread, with variables as they are known so far.
struct CWalk<'w, 'g> {
    subject: &'w CSubject<'g>,
    variables: &'w [CValues],
    stored: &'w mut [CValues],
    arguments: &'w [VarId],
    thresholds: &'w [i128],
}

impl CWalk<'_, '_> {
    fn run(mut self) -> Vec<Option<CKnown>> {
        let graph = self.subject.graph;
        let leaving = graph.leaving();
        let mut at: Vec<Option<CKnown>> = vec![None; graph.places()];
        let mut visits = vec![0usize; graph.places()];
        at[self.subject.entry] = Some(vec![CValues::only(0); graph.registers.len()]);
        let order = order(graph, &leaving, self.subject.entry);
        let mut waiting = BTreeSet::from([(order[self.subject.entry], self.subject.entry)]);
        while let Some((_, place)) = waiting.pop_first() {
            let Some(known) = at[place].clone() else { continue };
            for &index in &leaving[place] {
                let arrow = &graph.arrows[index];
                let Some(after) = self.step(&known, &arrow.step) else { continue };
                // Only loops make values grow without end.
                let back = order[arrow.to] <= order[place];
                visits[arrow.to] += usize::from(back);
                let next = match &at[arrow.to] {
                    None => after,
                    Some(before) => {
                        let wide = back && visits[arrow.to] > PATIENCE;
                        let steps = if visits[arrow.to] > PATIENCE * 6 { &[] } else { self.thresholds };
                        let pairs = before.iter().zip(&after);
                        pairs.map(|(a, b)| if wide { a.widen(b, steps) } else { a.join(b) }).collect()
                    }
                };
                if at[arrow.to].as_ref() != Some(&next) {
                    at[arrow.to] = Some(next);
                    waiting.insert((order[arrow.to], arrow.to));
                }
            }
        }
        at
    }

    fn store(&mut self, variable: VarId, values: &CValues) {
        let stored = &mut self.stored[variable.index()];
        *stored = stored.join(values);
    }

    fn step(&mut self, known: &CKnown, step: &CStep) -> Option<CKnown> {
        match step {
            CStep::Op(op) => self.op(known, op),
            CStep::Fits(fits) => refine(known, &fits.cond()),
            CStep::Checked(parts, at, fits) => {
                let mut known = known.clone();
                for (index, part) in parts.iter().enumerate() {
                    if index == *at {
                        known = refine(&known, &fits.cond())?;
                    }
                    known = self.op(&known, part)?;
                }
                Some(known)
            }
            CStep::Start(instance, argument) => {
                if let Some(argument) = argument {
                    self.store(self.arguments[*instance], &value(known, argument));
                }
                Some(known.clone())
            }
            CStep::Join(_) | CStep::Begin(None) => Some(known.clone()),
            CStep::Begin(Some(register)) => self.op(known, &Op::Load(*register, self.subject.argument)),
            CStep::End(result) => self.op(known, &Op::Store(self.subject.result, result.clone())),
        }
    }

    fn op(&mut self, known: &CKnown, op: &Op) -> Option<CKnown> {
        let mut after = known.clone();
        match op {
            Op::Assign(register, expr) => after[register.index()] = value(known, expr),
            Op::Havoc(register, domain) => after[register.index()] = domain_values(domain),
            Op::Load(register, variable) => {
                after[register.index()] = self.variables[variable.index()].clone()
            }
            Op::Store(variable, expr) => self.store(*variable, &value(known, expr)),
            Op::Assume(cond) => return refine(known, cond),
            Op::Block { parts, .. } => {
                for part in parts {
                    after = self.op(&after, part)?;
                }
            }
            Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => {}
        }
        Some(after)
    }
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
    CValues::of(expr, &|register| known[register.index()].clone())
}

/// Whether a step's check always passes.
pub(super) fn passes(known: Option<&CKnown>, step: &CStep, variables: &[CValues]) -> bool {
    let Some(known) = known else { return true };
    match step {
        CStep::Fits(fits) => value(known, &fits.value).within(fits.low, fits.high),
        CStep::Checked(parts, at, fits) => {
            let mut after = known.clone();
            for part in &parts[..*at] {
                match part {
                    Op::Load(register, variable) => {
                        after[register.index()] = variables[variable.index()].clone()
                    }
                    Op::Assign(register, expr) => after[register.index()] = value(&after, expr),
                    Op::Assume(cond) => match refine(&after, cond) {
                        Some(refined) => after = refined,
                        None => return true,
                    },
                    _ => {}
                }
            }
            value(&after, &fits.value).within(fits.low, fits.high)
        }
        _ => false,
    }
}
