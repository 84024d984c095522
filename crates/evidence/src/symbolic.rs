//! Moves and properties of an abstract machine as linear constraints.
//!
//! Slots become variables of the logic. A guard is split into *cases*, conjunctions of atoms, a
//! disequality into less and greater: every constraint is then an inequality or an equation,
//! which the solver is fast with and an interpolant speaks of. A chosen value and a member of a
//! pool are variables of their own; so are quotients and remainders by a constant,
//! which bits are as well.

use logic::{Atom, Context, Linear, Var};
use machine::{Event, Local, Move, Slot, ValueSource, Violation};
use program::{
    Arith, BitSum, Cond, Domain, Expr, Int, Loc, Place, Program, PropertyKind, Relation, ThreadId, VarId,
};
use std::collections::HashMap;

/// A guard with more cases than this is not taken apart.
const MOST_CASES: usize = 256;

/// What a variable of the logic stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Name {
    /// A slot.
    Slot(Slot),
    /// The member that a step takes out of a pool.
    Member(Slot),
    /// The value a move chooses.
    Chosen,
    /// A quotient or remainder.
    Part(u32),
}

/// The variables in use.
#[derive(Clone, Debug, Default)]
pub struct Vocabulary {
    names: Vec<Name>,
    by_name: HashMap<Name, Var>,
}

impl Vocabulary {
    /// The variable of a name, made on first use.
    pub fn var(&mut self, name: Name) -> Var {
        let next = Var::at(self.names.len());
        *self.by_name.entry(name).or_insert_with(|| {
            self.names.push(name);
            next
        })
    }

    /// The variable of a slot.
    pub fn slot(&mut self, slot: Slot) -> Var {
        self.var(Name::Slot(slot))
    }

    /// The variable of a slot, if it has one already.
    pub fn find(&self, slot: Slot) -> Option<Var> {
        self.by_name.get(&Name::Slot(slot)).copied()
    }

    /// The name of a variable.
    pub fn name(&self, var: Var) -> Option<Name> {
        self.names.get(var.index()).copied()
    }

    /// The slot that a variable stands for, if it is one.
    pub fn slot_of(&self, var: Var) -> Option<Slot> {
        match self.name(var)? {
            Name::Slot(slot) => Some(slot),
            Name::Member(_) | Name::Chosen | Name::Part(_) => None,
        }
    }

    /// How many variables there are.
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// What a slot becomes.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// The value of an expression over the variables before the move.
    Is(Linear),
    /// For a slot that stands for any of several: any of those, or this value.
    Joins(Linear),
}

/// Which member of a pool is taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichMember {
    /// Any, and it stays as well.
    Any,
    /// The oldest; newer ones stay.
    Oldest,
    /// The only one.
    Only,
}

/// One case of a move of a machine with these controls.
#[derive(Clone, Debug)]
pub struct Step<G = Option<ThreadId>, L = Local> {
    /// What happens.
    pub event: Event,
    /// When it may happen, and what is known of the variables that are no slots.
    pub guard: Vec<Atom>,
    /// What changes, by slot in increasing order.
    pub set: Vec<(Slot, Value)>,
    /// The pool of which a member is taken, and which.
    pub taken: Option<(Slot, WhichMember)>,
    /// What threads share afterwards.
    pub global: G,
    /// The thread's control afterwards.
    pub local: L,
}

/// What is put in for slots that stand for any of several, all at once.
pub type PoolChoice = Vec<(Var, Linear)>;

impl<G, L> Step<G, L> {
    /// What pools may give after the step but did not before: a literal holds afterwards if it does as it is and
    /// with each of these put in. A store that joins a pool comes with the newest one, and so does every older one.
    pub fn new_choices(&self, vocabulary: &mut Vocabulary) -> Vec<PoolChoice> {
        let mut joined = |wanted: Slot| {
            self.set.iter().find_map(|(slot, value)| match value {
                Value::Joins(value) if *slot == wanted => Some((vocabulary.slot(wanted), value.clone())),
                _ => None,
            })
        };
        let mut all = vec![PoolChoice::new()];
        for (slot, _) in &self.set {
            let Slot::Pool(thread, variable) = *slot else { continue };
            let Some(older) = joined(*slot) else { continue };
            let newer = joined(Slot::Newer(thread, variable));
            let both: PoolChoice = [older].into_iter().chain(newer.clone()).collect();
            let ways: Vec<PoolChoice> = newer.into_iter().map(|newer| vec![newer]).chain([both]).collect();
            let with = |way: &PoolChoice| {
                all.iter().map(|choice| [choice.as_slice(), way].concat()).collect::<Vec<_>>()
            };
            let more: Vec<PoolChoice> = ways.iter().flat_map(with).collect();
            all.extend(more);
        }
        all.split_off(1)
    }

    /// What is known of the member that the step takes: a literal that holds of what pools give holds with each of
    /// these put in. If others stay, all of them are newer, the one that the pool's slot stands for included.
    pub fn choices_taken(&self, vocabulary: &mut Vocabulary) -> Vec<PoolChoice> {
        let Some((pool @ Slot::Pool(thread, variable), which)) = self.taken else { return Vec::new() };
        let member = Linear::from(vocabulary.var(Name::Member(pool)));
        let (older, newer) = (vocabulary.slot(pool), Slot::Newer(thread, variable));
        let alone = vec![(older, member.clone())];
        if which != WhichMember::Oldest {
            return vec![alone];
        }
        vec![alone, vec![(older, member), (vocabulary.slot(newer), Linear::from(older))]]
    }
}

impl Value {
    /// The value that a slot is, or that joins it.
    pub fn linear(&self) -> &Linear {
        let (Value::Is(value) | Value::Joins(value)) = self;
        value
    }
}

/// An expression is not linear, or a condition has too many cases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotLinear;

/// The cases of a move.
pub fn steps<G: Clone, L: Clone>(
    vocabulary: &mut Vocabulary,
    step: &Move<G, L>,
) -> Result<Vec<Step<G, L>>, NotLinear> {
    let mut translation = Translation { vocabulary, parts: 0 };
    let guards = translation.cases(&step.guard)?.into_iter();
    let mut cases: Vec<_> = guards.map(|guard| (guard, Vec::<(Slot, Value)>::new())).collect();
    let mut taken = None;
    for (slot, source) in &step.set {
        let (alternatives, joins) = match source {
            ValueSource::Is(value) => (translation.linear(value)?, false),
            ValueSource::Joins(value) => (translation.linear(value)?, true),
            ValueSource::Any(domain) => (vec![translation.chosen(domain)], false),
            ValueSource::OneOf(pool) | ValueSource::OldestOf(pool) | ValueSource::OnlyOf(pool) => {
                let which = match source {
                    ValueSource::OldestOf(_) => WhichMember::Oldest,
                    ValueSource::OnlyOf(_) => WhichMember::Only,
                    _ => WhichMember::Any,
                };
                taken = Some((*pool, which));
                let member = translation.vocabulary.var(Name::Member(*pool));
                (vec![(Linear::from(member), Vec::new())], false)
            }
        };
        if cases.len() * alternatives.len() > MOST_CASES {
            return Err(NotLinear);
        }
        let make = if joins { Value::Joins } else { Value::Is };
        let mut all = Vec::new();
        for (guard, set) in &cases {
            for (value, atoms) in &alternatives {
                let entry = (*slot, make(value.clone()));
                all.push(([guard.as_slice(), atoms].concat(), [set.as_slice(), &[entry]].concat()));
            }
        }
        cases = all;
    }
    let (event, global) = (step.event, &step.global);
    let finish = |(guard, set)| {
        let (global, local) = (global.clone(), step.local.clone());
        Step { event, guard, set, taken, global, local }
    };
    cases.retain(|(guard, _)| !guard.iter().any(Atom::is_false));
    Ok(cases.into_iter().map(finish).collect())
}

/// A disjunction of conjunctions.
pub type AtomCases = Vec<Vec<Atom>>;

/// What is violated where threads stand at these locations, with nothing on its way to memory or something: each
/// violation with the constraints under which it is one.
pub fn violations(
    vocabulary: &mut Vocabulary,
    program: &Program,
    standing: &[(Loc, bool)],
) -> Result<Vec<(Violation, Vec<Atom>)>, NotLinear> {
    let mut found = Vec::new();
    for (thread, (loc, _)) in program.thread_ids().zip(standing) {
        if program.thread(thread).location(*loc).failure.is_some() {
            found.push((Violation::Failure(thread, *loc), Vec::new()));
        }
    }
    let threads = || program.thread_ids().zip(standing);
    let in_section = threads().any(|(t, (loc, _))| program.thread(t).in_atomic(*loc));
    let final_here = threads().all(|(t, (loc, drained))| *drained && program.thread(t).is_end(*loc));
    let mut leaf = |place: &Place| match *place {
        Place::At(thread, loc) => Expr::from(i64::from(standing[thread.index()].0 == loc)),
        Place::Memory(variable) => Slot::Memory(variable).into(),
        Place::Register(thread, register) => Slot::Register(thread, register).into(),
        Place::Drained(thread) => Expr::from(i64::from(standing[thread.index()].1)),
    };
    for (number, property) in program.properties.iter().enumerate() {
        let cond = property.cond.map(&mut leaf);
        let wrong = match property.kind {
            PropertyKind::Never if !in_section => cond,
            PropertyKind::Finally if final_here => cond.negate(),
            PropertyKind::Never | PropertyKind::Finally => continue,
        };
        let cases = Translation { vocabulary, parts: 0 }.cases(&wrong)?;
        found.extend(cases.into_iter().map(|case| (Violation::Property(number), case)));
    }
    Ok(found)
}

/// What the initial values of several variables have in common at the start, as cases.
pub fn start_cases(vocabulary: &mut Vocabulary, program: &Program) -> Result<AtomCases, NotLinear> {
    let all = Cond::and(program.starts.iter().map(|start| start.cond.clone()));
    let slots = all.map(&mut |place| match *place {
        Place::Memory(variable) => Slot::Memory(variable).into(),
        _ => Expr::from(0),
    });
    Translation { vocabulary, parts: 0 }.cases(&slots)
}

/// Values that all variables may start with; `None` if there are none.
pub fn example_start(program: &Program) -> Result<Option<Vec<(VarId, Int)>>, NotLinear> {
    let mut vocabulary = Vocabulary::default();
    for case in start_cases(&mut vocabulary, program)? {
        let mut context = Context::new();
        case.iter().for_each(|atom| context.assume(atom));
        for variable in program.variable_ids() {
            let atoms = initially(&mut vocabulary, program, Slot::Memory(variable));
            atoms.iter().for_each(|atom| context.assume(atom));
        }
        if context.is_consistent()
            && let Some(model) = context.model()
        {
            let value = |v: VarId| (v, model.value(vocabulary.slot(Slot::Memory(v))).to_big());
            return Ok(Some(program.variable_ids().map(value).collect()));
        }
    }
    Ok(None)
}

/// What is known of a slot at the start.
pub fn initially(vocabulary: &mut Vocabulary, program: &Program, slot: Slot) -> Vec<Atom> {
    let var = vocabulary.slot(slot);
    within(var, &machine::initial_value(program, slot))
}

fn within(var: Var, domain: &Domain) -> Vec<Atom> {
    match domain {
        Domain::All => Vec::new(),
        Domain::Range(low, high) if low == high => vec![Atom::eq(var, number(low))],
        Domain::Range(low, high) => vec![Atom::ge(var, number(low)), Atom::le(var, number(high))],
    }
}

fn number(value: &Int) -> logic::Int {
    logic::Int::from(value.clone())
}

struct Translation<'a> {
    vocabulary: &'a mut Vocabulary,
    parts: u32,
}

impl Translation<'_> {
    fn chosen(&mut self, domain: &Domain) -> (Linear, Vec<Atom>) {
        let chosen = self.vocabulary.var(Name::Chosen);
        (Linear::from(chosen), within(chosen, domain))
    }

    /// The condition as a disjunction of conjunctions.
    fn cases(&mut self, cond: &Cond<Slot>) -> Result<AtomCases, NotLinear> {
        match cond {
            Cond::Const(true) => Ok(vec![Vec::new()]),
            Cond::Const(false) => Ok(Vec::new()),
            Cond::Compare(relation, a, b) => self.comparison(*relation, a, b),
            Cond::Or(parts) => {
                let mut all = Vec::new();
                for part in parts {
                    all.extend(self.cases(part)?);
                }
                if all.len() > MOST_CASES { Err(NotLinear) } else { Ok(all) }
            }
            Cond::And(parts) => {
                let mut all: AtomCases = vec![Vec::new()];
                for part in parts {
                    let more = self.cases(part)?;
                    if all.len() * more.len() > MOST_CASES {
                        return Err(NotLinear);
                    }
                    let both =
                        |a: &Vec<Atom>| more.iter().map(|b| [a.as_slice(), b].concat()).collect::<Vec<_>>();
                    all = all.iter().flat_map(both).collect();
                }
                Ok(all)
            }
        }
    }

    fn comparison(
        &mut self,
        relation: Relation,
        a: &Expr<Slot>,
        b: &Expr<Slot>,
    ) -> Result<AtomCases, NotLinear> {
        let difference = Expr::binary(Arith::Sub, a.clone(), b.clone());
        let mut cases = Vec::new();
        for (value, atoms) in self.linear(&difference)? {
            let outcomes = match relation {
                Relation::Eq => vec![Atom::eq(value, 0)],
                Relation::Ne => vec![Atom::lt(value.clone(), 0), Atom::gt(value, 0)],
                Relation::Lt => vec![Atom::lt(value, 0)],
                Relation::Le => vec![Atom::le(value, 0)],
                Relation::Gt => vec![Atom::gt(value, 0)],
                Relation::Ge => vec![Atom::ge(value, 0)],
            };
            let possible = outcomes.into_iter().filter(|outcome| !outcome.is_false());
            cases.extend(possible.map(|outcome| atoms.iter().cloned().chain([outcome]).collect()));
        }
        Ok(cases)
    }

    /// The expression as alternatives, each under constraints on the parts it uses.
    fn linear(&mut self, expr: &Expr<Slot>) -> Result<Vec<(Linear, Vec<Atom>)>, NotLinear> {
        match expr {
            Expr::Const(value) => Ok(vec![(Linear::constant_of(number(value)), Vec::new())]),
            Expr::Leaf(slot) => Ok(vec![(Linear::from(self.vocabulary.slot(*slot)), Vec::new())]),
            Expr::Binary(op, a, b) => {
                let (left, right) = (self.linear(a)?, self.linear(b)?);
                if left.len() * right.len() > MOST_CASES {
                    return Err(NotLinear);
                }
                let mut all = Vec::new();
                for (a, a_atoms) in &left {
                    for (b, b_atoms) in &right {
                        for (value, atoms) in self.binary(*op, a, b)? {
                            all.push((value, [a_atoms.as_slice(), b_atoms, &atoms].concat()));
                        }
                    }
                }
                if all.len() > MOST_CASES { Err(NotLinear) } else { Ok(all) }
            }
        }
    }

    fn binary(&mut self, op: Arith, a: &Linear, b: &Linear) -> Result<Vec<(Linear, Vec<Atom>)>, NotLinear> {
        let plain = |value: Linear| Ok(vec![(value, Vec::new())]);
        match op {
            Arith::Add => plain(a.clone() + b),
            Arith::Sub => plain(a.clone() - b),
            Arith::Mul if b.is_constant() => plain(a.times(b.constant())),
            Arith::Mul if a.is_constant() => plain(b.times(a.constant())),
            Arith::Div | Arith::Rem if b.is_constant() && !b.constant().is_zero() => {
                Ok(self.division(op, a, b.constant()))
            }
            Arith::And | Arith::Or | Arith::Xor if b.is_constant() => self.bits(op, a, b.constant()),
            Arith::And | Arith::Or | Arith::Xor if a.is_constant() => self.bits(op, b, a.constant()),
            _ => Err(NotLinear),
        }
    }

    /// Division truncates: the quotient of sizes, with the sign of the dividend.
    fn division(&mut self, op: Arith, a: &Linear, by: &logic::Int) -> Vec<(Linear, Vec<Atom>)> {
        let size = by.abs();
        let (quotient, rest) = (self.part(), self.part());
        let case = |negative: bool| {
            let dividend = if negative { -a.clone() } else { a.clone() };
            let whole = Linear::from(quotient).times(&size) + rest;
            let sign = if negative { Atom::lt(a.clone(), 0) } else { Atom::ge(a.clone(), 0) };
            let atoms =
                vec![sign, Atom::eq(dividend, whole), Atom::ge(rest, 0), Atom::lt(rest, size.clone())];
            let value = Linear::from(if op == Arith::Div { quotient } else { rest });
            let flipped = negative != (op == Arith::Div && by.signum() < 0);
            (if flipped { -value } else { value }, atoms)
        };
        vec![case(false), case(true)]
    }

    /// A bit operation with a constant: a sum of rests, which round down.
    fn bits(
        &mut self,
        op: Arith,
        a: &Linear,
        by: &logic::Int,
    ) -> Result<Vec<(Linear, Vec<Atom>)>, NotLinear> {
        let sum = BitSum::of(op, &by.to_big()).ok_or(NotLinear)?;
        let (mut value, mut atoms) = (a.times(&number(&sum.times)) + number(&sum.plus), Vec::new());
        for (factor, size) in &sum.rests {
            let (quotient, rest, size) = (self.part(), self.part(), number(size));
            let whole = Linear::from(quotient).times(&size) + rest;
            atoms.extend([Atom::eq(a.clone(), whole), Atom::ge(rest, 0), Atom::lt(rest, size)]);
            value = value + Linear::from(rest).times(&number(factor));
        }
        Ok(vec![(value, atoms)])
    }

    fn part(&mut self) -> Var {
        self.parts += 1;
        self.vocabulary.var(Name::Part(self.parts - 1))
    }
}
