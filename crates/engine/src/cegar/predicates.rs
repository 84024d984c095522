//! Predicates: templates, and their instances over all slots of the right kinds [000, sec. 8].
//!
//! A predicate is an inequality `e ≤ 0` (or a divisibility). Equations are two inequalities, and
//! of an inequality and its negation only one is kept: the one whose constant is positive. So
//! every literal of a cube is an inequality again, which a matrix of bounds decides.
//!
//! A sum of many slots has more instances than anybody can list: of such a template only the
//! atoms that were learned are predicates.

use super::cube::words;
use super::kinds::{Kinds, Together, unbuffered_slots};
use super::loops::suggested;
use evidence::renamed_atom;
use evidence::symbolic::{Name, Step, Vocabulary};
use logic::{Atom, Int, Linear, Relation, Template, Var};
use machine::Slot;
use program::{Program, Renaming};
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// A template with more instances than this is not instantiated.
const MOST_INSTANCES: usize = 1 << 14;

/// A shape with so many constants is taken to grow without end.
const MANY: usize = 5;
/// One with so many more of them is not seen through by the order of values alone.
const STILL: usize = 3;
/// How far apart values are compared then.
const LARGEST_GAP: i64 = 3;
/// So many remainders of a divisor are looked at.
const MOST_RESTS: i64 = 8;

/// The shape of a predicate, with the kinds of slots it is about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Shape {
    template: Template,
    kinds: Vec<usize>,
}

/// All predicates of a round.
pub(crate) struct Predicates {
    kinds: Kinds,
    together: Together,
    shapes: Vec<Shape>,
    /// How many predicates were learned as they are.
    single: usize,
    atoms: Vec<Atom>,
    numbers: FxHashMap<Atom, u32>,
    /// The predicates that speak of a variable, by its index.
    about: Vec<Vec<u32>>,
    /// The negation of every predicate.
    negated: Vec<Atom>,
    /// The predicates that are decided by cases where they are open.
    split: BTreeSet<Atom>,
    /// By renaming: what every predicate becomes, and whether as it stands or negated.
    renamed: Vec<Vec<(u32, bool)>>,
}

impl Predicates {
    /// No predicates yet, of these slots.
    pub(crate) fn new(program: &Program, slots: &[Slot]) -> Predicates {
        Predicates {
            kinds: Kinds::new(program, slots),
            together: Together::new(program),
            shapes: Vec::new(),
            single: 0,
            atoms: Vec::new(),
            numbers: FxHashMap::default(),
            about: Vec::new(),
            negated: Vec::new(),
            split: BTreeSet::new(),
            renamed: Vec::new(),
        }
    }

    /// Exactly these predicates, about the slots that they name and no others, some of them decided
    /// by cases.
    pub(crate) fn exactly(
        program: &Program,
        atoms: &[Atom],
        by_cases: &[Atom],
        vocabulary: &Vocabulary,
    ) -> Predicates {
        let mut all = Predicates::new(program, &unbuffered_slots(program));
        for half in atoms.iter().flat_map(halves) {
            all.single += usize::from(all.add_atom(canonical(half).0, vocabulary));
        }
        for atom in by_cases {
            all.split(atom, vocabulary);
        }
        all
    }

    /// The predicates that are decided by cases.
    pub(crate) fn by_cases(&self) -> impl Iterator<Item = &Atom> {
        self.split.iter()
    }

    /// The same shapes over the slots of another abstraction.
    pub(crate) fn over(&self, program: &Program, slots: &[Slot], vocabulary: &mut Vocabulary) -> Predicates {
        let mut all = Predicates::new(program, slots);
        let (few, many): (Vec<_>, Vec<_>) = self.shapes.iter().partition(|shape| all.has_few(shape));
        for shape in few {
            all.add_shape(shape.clone(), vocabulary);
        }
        if self.single > 0 || !many.is_empty() {
            let atoms = self.atoms.iter().filter(|atom| all.add_atom((*atom).clone(), vocabulary));
            all.single = atoms.count();
        }
        all.split = self.split.clone();
        all
    }

    /// How many templates there are.
    pub(crate) fn templates(&self) -> usize {
        self.shapes.len() + self.single
    }

    /// How many predicates there are.
    pub(crate) fn len(&self) -> usize {
        self.atoms.len()
    }

    /// A predicate.
    pub(super) fn atom(&self, number: usize) -> &Atom {
        &self.atoms[number]
    }

    /// A predicate as it stands, or negated.
    pub(crate) fn literal(&self, (number, positive): (usize, bool)) -> &Atom {
        if positive { &self.atoms[number] } else { &self.negated[number] }
    }

    /// All of them.
    pub(crate) fn atoms(&self) -> &[Atom] {
        &self.atoms
    }

    /// The predicates that speak of a variable.
    pub(super) fn about(&self, var: Var) -> &[u32] {
        self.about.get(var.index()).map_or(&[], Vec::as_slice)
    }

    /// Variables of a larger index are in no predicate.
    pub(super) fn vars(&self) -> usize {
        self.about.len()
    }

    /// Whether a predicate is decided by cases where it is open.
    pub(super) fn is_split(&self, number: usize) -> bool {
        !self.split.is_empty() && self.split.contains(&self.atoms[number])
    }

    /// The predicate that an atom is, and whether as it stands or negated.
    pub(crate) fn find(&self, atom: &Atom) -> Option<(u32, bool)> {
        let (atom, positive) = canonical(atom.clone());
        self.numbers.get(&atom).map(|number| (*number, positive))
    }

    /// Adds what renamings make of predicates, so that a cube under new names is a cube; false if one has no place.
    pub(crate) fn close_under(&mut self, group: &[Renaming], vocabulary: &mut Vocabulary) -> bool {
        if group.is_empty() {
            return true;
        }
        let mut at = 0;
        while at < self.atoms.len() {
            for renaming in group {
                let image = renamed_atom(vocabulary, &self.atoms[at], renaming);
                let split = self.split.contains(&self.atoms[at]);
                let (image, _) = canonical(image);
                if !self.numbers.contains_key(&image) {
                    if !self.add_atom(image.clone(), vocabulary) {
                        return false;
                    }
                    self.single += 1;
                }
                if split {
                    self.split.insert(image);
                }
            }
            at += 1;
        }
        let atoms = self.atoms.clone();
        let mut image =
            |atom: &Atom, renaming: &Renaming| self.find(&renamed_atom(vocabulary, atom, renaming));
        let table =
            |renaming: &Renaming| atoms.iter().map(|atom| image(atom, renaming)).collect::<Option<_>>();
        let tables: Option<Vec<_>> = group.iter().map(table).collect();
        self.renamed = tables.unwrap_or_default();
        self.renamed.len() == group.len()
    }

    /// What a renaming makes of every predicate.
    pub(super) fn renamed(&self, renaming: u32) -> &[(u32, bool)] {
        &self.renamed[renaming as usize]
    }

    /// An empty set of predicates.
    pub(super) fn none(&self) -> Vec<u64> {
        vec![0; words(self.len())]
    }

    /// Learns the shapes of an atom over slots; whether any of them is new.
    pub(crate) fn learn(&mut self, atom: &Atom, vocabulary: &mut Vocabulary) -> bool {
        let mut new = false;
        for (half, shape) in self.shapes_of(atom, vocabulary) {
            if !self.has_few(&shape) {
                if self.add_atom(half, vocabulary) {
                    self.single += 1;
                    new = true;
                }
            } else if !self.shapes.contains(&shape) {
                self.add_shape(shape, vocabulary);
                new = true;
            }
        }
        new
    }

    /// Where the same shape keeps coming back with other constants, the path is being unrolled and
    /// there will be no end of it. What is wanted then is how slots of that kind compare with each
    /// other, and their remainders by the program's divisors; whether that is new. Their order comes first: small
    /// gaps tell more states apart, which is worth it only where order is not enough.
    pub(super) fn generalise(&mut self, divisors: &[Int], vocabulary: &mut Vocabulary) -> bool {
        let mut new = false;
        let still = self.growing(MANY + STILL);
        for kind in self.growing(MANY) {
            let (x, y) = (Linear::from(Var::at(0)), Linear::from(Var::at(1)));
            let largest = if still.contains(&kind) { LARGEST_GAP } else { 1 };
            let order = (1..=largest).map(|gap| Atom::lt(x.clone() + gap - 1, y.clone()));
            let rests = divisors.iter().flat_map(|by| {
                let all = 0..by.to_i64().unwrap_or(0).min(MOST_RESTS);
                all.map(|rest| Atom::divides(by.clone(), x.clone() + rest))
            });
            for atom in order.chain(rests) {
                let (template, vars) = Template::abstracting(&canonical(atom).0);
                let shape = Shape { template, kinds: vec![kind; vars.len()] };
                if self.has_few(&shape) && !self.shapes.contains(&shape) {
                    self.add_shape(shape, vocabulary);
                    new = true;
                }
            }
        }
        new
    }

    /// If that did not help, learns what the path suggests of such slots (see [`super::loops`]).
    pub(super) fn follow_loops<G, L>(&mut self, path: &[&Step<G, L>], vocabulary: &mut Vocabulary) -> bool {
        let growing = self.growing(2 * MANY);
        if growing.is_empty() {
            return false;
        }
        let grows = |var| match vocabulary.name(var) {
            Some(Name::Slot(slot)) => growing.contains(&self.kinds.of(slot)),
            _ => false,
        };
        let about = |atom: &Atom| atom.vars().any(grows);
        let wanted: Vec<Atom> = suggested(path, vocabulary).into_iter().filter(about).collect();
        wanted.iter().filter(|atom| self.learn(atom, vocabulary)).count() > 0
    }

    /// The kinds of slots that are compared with ever more constants.
    fn growing(&self, many: usize) -> BTreeSet<usize> {
        let mut seen: FxHashMap<(Template, &[usize]), usize> = FxHashMap::default();
        for shape in &self.shapes {
            *seen.entry((shape.template.with_constant(0i64), &shape.kinds)).or_default() += 1;
        }
        seen.iter()
            .filter(|(_, count)| **count >= many)
            .flat_map(|((_, kinds), _)| kinds.iter().copied())
            .collect()
    }

    /// Decides an atom by cases from now on, where it is open; whether that is new. Never one about
    /// a pool: it need neither hold for all members nor fail for all.
    pub(crate) fn split(&mut self, atom: &Atom, vocabulary: &Vocabulary) -> bool {
        let pool = |var| matches!(vocabulary.name(var), Some(Name::Slot(slot)) if slot.is_any());
        if atom.vars().any(pool) {
            return false;
        }
        let mut new = false;
        for half in halves(atom) {
            let (half, _) = canonical(half);
            new |= self.numbers.contains_key(&half) && self.split.insert(half);
        }
        new
    }

    /// An atom as predicates, each with its shape.
    fn shapes_of(&self, atom: &Atom, vocabulary: &Vocabulary) -> Vec<(Atom, Shape)> {
        let kind = |var: &Var| match vocabulary.name(*var) {
            Some(Name::Slot(slot)) => Some(self.kinds.of(slot)),
            _ => None,
        };
        let shape = |half: Atom| {
            let (template, vars) = Template::abstracting(&half);
            let kinds = vars.iter().map(kind).collect::<Option<Vec<_>>>()?;
            (!kinds.is_empty()).then_some((half, Shape { template, kinds }))
        };
        halves(atom).into_iter().map(|half| canonical(half).0).filter_map(shape).collect()
    }

    /// Whether the instances of a shape can be listed.
    fn has_few(&self, shape: &Shape) -> bool {
        let sizes = shape.kinds.iter().map(|kind| self.kinds.slots(*kind).len());
        sizes.fold(1usize, usize::saturating_mul) <= MOST_INSTANCES
    }

    fn add_shape(&mut self, shape: Shape, vocabulary: &mut Vocabulary) {
        let mut candidates: Vec<Vec<Var>> = Vec::new();
        for kind in &shape.kinds {
            candidates.push(self.kinds.slots(*kind).iter().map(|slot| vocabulary.slot(*slot)).collect());
        }
        for atom in shape.template.instances(&candidates) {
            self.add_atom(canonical(atom).0, vocabulary);
        }
        self.shapes.push(shape);
    }

    /// Adds a predicate; whether it is new, and of slots that can exist together.
    fn add_atom(&mut self, atom: Atom, vocabulary: &Vocabulary) -> bool {
        let name = |var| match vocabulary.name(var) {
            Some(Name::Slot(slot)) => Some(slot),
            _ => None,
        };
        let slots: Vec<Slot> = atom.vars().filter_map(name).collect();
        if !self.together.all(&slots) || self.numbers.contains_key(&atom) {
            return false;
        }
        let at = self.atoms.len() as u32;
        for var in atom.vars() {
            if self.about.len() <= var.index() {
                self.about.resize(var.index() + 1, Vec::new());
            }
            self.about[var.index()].push(at);
        }
        self.numbers.insert(atom.clone(), at);
        self.negated.push(atom.negate());
        self.atoms.push(atom);
        true
    }

    /// The variables that some chain of predicates connects with these.
    pub(super) fn connected(&self, vars: impl IntoIterator<Item = Var>) -> BTreeSet<Var> {
        let mut found: BTreeSet<Var> = vars.into_iter().collect();
        let mut work: Vec<Var> = found.iter().copied().collect();
        while let Some(var) = work.pop() {
            for number in self.about(var) {
                work.extend(self.atoms[*number as usize].vars().filter(|v| found.insert(*v)));
            }
        }
        found
    }
}

/// An atom as inequalities, where it is an equation or a disequality.
fn halves(atom: &Atom) -> Vec<Atom> {
    match atom.relation() {
        Relation::Eq | Relation::Ne => {
            let (up, down) = (atom.expr().clone(), -atom.expr().clone());
            vec![Atom::new(Relation::Le, up), Atom::new(Relation::Le, down)]
        }
        _ => vec![atom.clone()],
    }
}

/// The one kept of an atom and its negation, and whether that is the atom itself.
fn canonical(atom: Atom) -> (Atom, bool) {
    let kept = match atom.relation() {
        Relation::Le => *atom.expr().constant() >= Int::from(1i64),
        Relation::Eq | Relation::Divides(_) => true,
        Relation::Ne | Relation::NotDivides(_) => false,
    };
    if kept { (atom, true) } else { (atom.negate(), false) }
}
