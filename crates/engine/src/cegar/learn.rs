//! Predicates from a path that cannot be taken: sequence interpolants [000, sec. 7, case 4].
//!
//! The path is written down with a new variable for every value a slot takes; a plain copy is
//! the same variable, unless nothing is learned that way: that a copy equals what it was copied
//! from would go unsaid. Its interpolants say, before every step, what must be known of the slots
//! for the path to be seen through. If all of them are conjunctions, cubes over their atoms
//! exclude the path; otherwise their atoms have to be decided by cases.

use super::kinds::unbuffered_slots;
use super::path::{leave, takes};
use super::predicates::Predicates;
use evidence::symbolic::{Name, Step, Value, Vocabulary, initially, start_cases};
use logic::{Atom, Context, Formula, Linear, Style, Var, interpolate, interpolate_as};
use machine::Slot;
use program::{Arith, BitSum, Expr, Op, Program, RegId};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// At most this many ways to take members out of pools are looked at.
const MOST_CHOICES: usize = 16;

/// What was learned from a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Learned {
    /// New templates.
    Templates,
    /// Predicates that are decided by cases from now on.
    Cases,
    /// Nothing.
    Nothing,
}

/// Learns what excludes a path that cannot be taken and ends with these constraints. Where constants keep growing, predicates of
/// a more general kind join.
pub(crate) fn exclude<G, L>(
    program: &Program,
    (path, wrong): (&[&Step<G, L>], &[Atom]),
    (predicates, vocabulary): (&mut Predicates, &mut Vocabulary),
    note: &dyn Fn(&str),
) -> Learned {
    let learned = learn(program, path, wrong, predicates, vocabulary);
    if predicates.generalise(&divisors(program), vocabulary) {
        note("constants keep growing: order, small gaps and remainders join");
    }
    if predicates.follow_loops(path, vocabulary) {
        note("constants still grow: conditions and rates of the path join");
    }
    learned
}

fn learn<G, L>(
    program: &Program,
    path: &[&Step<G, L>],
    wrong: &[Atom],
    predicates: &mut Predicates,
    vocabulary: &mut Vocabulary,
) -> Learned {
    let ways = [true, false].into_iter();
    let mut learned = ways.map(|shared| learn_with(shared, program, path, wrong, predicates, vocabulary));
    learned.find(|learned| *learned != Learned::Nothing).unwrap_or(Learned::Nothing)
}

/// Learns from the path in which copies share a variable, or do not.
fn learn_with<G, L>(
    shared: bool,
    program: &Program,
    path: &[&Step<G, L>],
    wrong: &[Atom],
    predicates: &mut Predicates,
    vocabulary: &mut Vocabulary,
) -> Learned {
    let mut seen = Vec::new();
    for choice in 0..MOST_CHOICES {
        let values = Values::new(shared, choice);
        let Some(unrolled) = Unrolled::new(program, path, wrong, values, vocabulary) else { break };
        if let Some(interpolants) = unrolled.interpolants(None) {
            seen.push((unrolled, interpolants));
        }
    }
    let mut new = false;
    for (unrolled, interpolants) in &seen {
        for atom in unrolled.over_slots(interpolants, vocabulary) {
            new |= predicates.learn(&atom, vocabulary);
        }
    }
    if new {
        return Learned::Templates;
    }
    for (unrolled, interpolants) in &seen {
        for atom in unrolled.over_slots(interpolants, vocabulary) {
            new |= predicates.split(&atom, vocabulary);
        }
    }
    if new {
        return Learned::Cases;
    }
    for style in Style::ALL {
        for (unrolled, _) in &seen {
            let Some(interpolants) = unrolled.interpolants(Some(style)) else { continue };
            for atom in unrolled.over_slots(&interpolants, vocabulary) {
                new |= predicates.learn(&atom, vocabulary) || predicates.split(&atom, vocabulary);
            }
        }
        if new {
            return Learned::Templates;
        }
    }
    Learned::Nothing
}

/// Which slot holds a variable, and how many members of a pool are older if it is one.
type Cut = FxHashMap<Var, (Slot, usize)>;

/// A path with a variable for every value.
struct Unrolled {
    /// The constraints of the start, of every step, and at the end.
    constraints: Vec<Vec<Atom>>,
    /// Which slots hold which variable before every step (after the constraints so far).
    cuts: Vec<Cut>,
    /// Whether two members of a pool are told apart.
    pairs: bool,
}

impl Unrolled {
    /// The path in which pools give the members that the number says; `None` if there are fewer ways.
    fn new<G, L>(
        program: &Program,
        path: &[&Step<G, L>],
        wrong: &[Atom],
        mut values: Values,
        vocabulary: &mut Vocabulary,
    ) -> Option<Unrolled> {
        let mut start = Vec::new();
        for slot in unbuffered_slots(program) {
            let var = values.fresh();
            values.slots.insert(slot, var);
            let before = vocabulary.slot(slot);
            let atoms = initially(vocabulary, program, slot);
            start.extend(atoms.iter().map(|atom| atom.substitute(before, &Linear::from(var))));
        }
        // Of several ways to start, which one it is belongs to the number.
        let cases = start_cases(vocabulary, program).ok()?;
        if let Some(case) = cases.get(values.choice % cases.len().max(1)) {
            values.choice /= cases.len();
            let mut fresh = FxHashMap::default();
            let now = |atom: &Atom| atom.substitute_all(|v| values.current(v, 0, &mut fresh, vocabulary));
            start.extend(case.iter().map(now));
        }
        let mut unrolled =
            Unrolled { constraints: vec![start], cuts: vec![values.by_variable()], pairs: false };
        for step in path {
            let constraints = values.take(step, vocabulary);
            unrolled.constraints.push(constraints);
            unrolled.cuts.push(values.by_variable());
        }
        let mut fresh = FxHashMap::default();
        let mut end = Vec::new();
        for atom in wrong {
            end.push(atom.substitute_all(|var| values.current(var, 0, &mut fresh, vocabulary)));
        }
        unrolled.constraints.push(end);
        unrolled.cuts.push(FxHashMap::default());
        unrolled.pairs = values.pairs;
        (values.choice == 0).then_some(unrolled)
    }

    /// Interpolants of the shortest part that is contradictory; `None` if there are none.
    fn interpolants(&self, style: Option<Style>) -> Option<Vec<Formula>> {
        let mut context = Context::new();
        let contradicts = |constraints: &Vec<Atom>| {
            constraints.iter().for_each(|atom| context.assume(atom));
            !context.is_consistent()
        };
        let end = self.constraints.iter().position(contradicts)?;
        let parts: Vec<Formula> = self.constraints[..=end].iter().map(Formula::conjunction).collect();
        let found = match style {
            None => interpolate(&parts),
            Some(style) => interpolate_as(&parts, style),
        };
        found.ok()
    }

    /// The atoms of interpolants, each over the slots that hold its variables there.
    fn over_slots(&self, interpolants: &[Formula], vocabulary: &mut Vocabulary) -> Vec<Atom> {
        let mut found = Vec::new();
        for (cut, interpolant) in self.cuts.iter().zip(interpolants.iter().skip(1)) {
            for atom in interpolant.atoms() {
                if atom.vars().all(|var| cut.contains_key(&var)) {
                    let slots: FxHashMap<Var, Slot> =
                        atom.vars().map(|var| (var, self.slot(cut, var, &atom))).collect();
                    found.push(atom.substitute_all(|var| Some(Linear::from(vocabulary.slot(slots[&var])))));
                }
            }
        }
        found
    }

    /// The slot of a variable in an atom: of two members of a pool, the newer one is in no pool.
    fn slot(&self, cut: &Cut, var: Var, atom: &Atom) -> Slot {
        let (slot, at) = cut[&var];
        let older = |other: Var| cut[&other].0 == slot && cut[&other].1 < at;
        match slot {
            Slot::Pool(thread, variable) if self.pairs && atom.vars().any(older) => {
                Slot::Newer(thread, variable)
            }
            _ => slot,
        }
    }
}

/// The variables that stand for the slots' values now.
struct Values {
    count: usize,
    slots: FxHashMap<Slot, Var>,
    pools: FxHashMap<Slot, Vec<Var>>,
    /// Whether there are pairs.
    pairs: bool,
    /// Whether a copy is the same variable.
    shared: bool,
    /// What is left of the number that says which members are taken.
    choice: usize,
}

impl Values {
    fn new(shared: bool, choice: usize) -> Values {
        let (slots, pools) = (FxHashMap::default(), FxHashMap::default());
        Values { count: 0, slots, pools, pairs: false, shared, choice }
    }

    fn fresh(&mut self) -> Var {
        self.count += 1;
        Var::at(self.count - 1)
    }

    /// What a variable of a step stands for.
    fn current(
        &mut self,
        var: Var,
        member: usize,
        fresh: &mut FxHashMap<Var, Var>,
        vocabulary: &Vocabulary,
    ) -> Option<Linear> {
        match vocabulary.name(var)? {
            Name::Slot(slot) => self.slots.get(&slot).map(|var| Linear::from(*var)),
            Name::Member(pool) => {
                self.pools.get(&pool).and_then(|all| all.get(member)).map(|var| Linear::from(*var))
            }
            _ => Some(Linear::from(*fresh.entry(var).or_insert_with(|| self.fresh()))),
        }
    }

    /// Takes a step and returns its constraints.
    fn take<G, L>(&mut self, step: &Step<G, L>, vocabulary: &Vocabulary) -> Vec<Atom> {
        let members = step.taken.and_then(|(pool, which)| Some(takes(which, self.pools.get(&pool)?.len())));
        let members = members.map_or(1, |members| members.len().max(1));
        let member = self.choice % members;
        self.choice /= members;
        let mut fresh = FxHashMap::default();
        let mut constraints = Vec::new();
        for atom in &step.guard {
            constraints.push(atom.substitute_all(|var| self.current(var, member, &mut fresh, vocabulary)));
        }
        let mut changes = Vec::new();
        for (slot, value) in &step.set {
            if matches!(slot, Slot::Newer(..)) {
                self.pairs = true;
                continue;
            }
            let expr = value.linear().substitute_all(|var| self.current(var, member, &mut fresh, vocabulary));
            let var = match expr.terms() {
                [(var, factor)] if self.shared && factor.is_one() && expr.constant().is_zero() => *var,
                _ => {
                    let var = self.fresh();
                    constraints.push(Atom::eq(var, expr));
                    var
                }
            };
            changes.push((*slot, var, matches!(value, Value::Joins(_))));
        }
        if let Some((pool, which)) = step.taken
            && let Some(members) = self.pools.get_mut(&pool)
        {
            leave(which, members);
        }
        for (slot, var, joins) in changes {
            match (slot, joins) {
                (_, true) => self.pools.entry(slot).or_default().push(var),
                (Slot::Pool(..), false) => drop(self.pools.insert(slot, vec![var])),
                _ => drop(self.slots.insert(slot, var)),
            }
        }
        constraints
    }

    fn by_variable(&self) -> Cut {
        let numbered = |(pool, all): (&Slot, &Vec<Var>)| {
            let pool = *pool;
            all.iter().enumerate().map(move |(at, var)| (*var, (pool, at))).collect::<Vec<_>>()
        };
        let members = self.pools.iter().flat_map(numbered);
        let mut holders: Vec<(Var, (Slot, usize))> =
            members.chain(self.slots.iter().map(|(slot, var)| (*var, (*slot, 0)))).collect();
        // Memory before registers before buffers, whichever map iterates first.
        holders.sort_by(|a, b| b.cmp(a));
        holders.into_iter().collect()
    }
}

/// The constants that the program divides by.
fn divisors(program: &Program) -> Vec<logic::Int> {
    let mut found = BTreeSet::new();
    for edge in program.threads.iter().flat_map(|thread| thread.edges()) {
        edge.op.for_each_part(&mut |op| match op {
            Op::Assign(_, value) | Op::Store(_, value) => divisors_in(value, &mut found),
            Op::Assume(cond) => cond.for_each_expr(&mut |value| divisors_in(value, &mut found)),
            _ => {}
        });
    }
    found.into_iter().collect()
}

fn divisors_in(value: &Expr<RegId>, found: &mut BTreeSet<logic::Int>) {
    if let Expr::Binary(op, a, b) = value {
        divisors_in(a, found);
        divisors_in(b, found);
        if let (Arith::Rem | Arith::Div, Expr::Const(by)) = (op, &**b) {
            found.insert(logic::Int::from(by.clone()).abs());
        }
        let constant = b.as_const().or(a.as_const());
        let bits = constant.and_then(|by| BitSum::of(*op, by));
        let sizes = bits.iter().flat_map(|sum| &sum.rests).map(|(_, size)| logic::Int::from(size.clone()));
        found.extend(sizes);
    }
}
