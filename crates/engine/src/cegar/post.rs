//! What a step makes of a cube.
//!
//! A predicate holds after a step if its weakest precondition holds before: the predicate with
//! every slot replaced by what the step puts there. Most preconditions are predicates again, so
//! that bits are copied; some are constants; and a step that touches none of a predicate's slots
//! leaves it as it is. Only the rest is asked of the solver, as is what a guard adds, and the
//! answers are kept by (step, what the cube says about the slots concerned).
//!
//! What a cube says about a pool's slot it says of every member. So a predicate about a pool that
//! a value joins holds afterwards if it held before and holds of the value; and a member taken
//! out of the pool is a variable of its own, of which all is known that is known of the pool.

use super::MayGoOn;
use super::cube::{BitCube, insert, members_of, remove};
use super::judge::Judge;
use super::predicates::Predicates;
use super::space::{NotLinearAt, Space, start_cases_of};
use evidence::Stop;
use evidence::symbolic::{Name, PoolChoice, Step, Value, Vocabulary, initially};
use logic::{Atom, Linear, Truth, Var};
use machine::{Machine, Slot};
use program::ThreadId;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::rc::Rc;

/// The solver's part of a post: alternatives, each a list of literals. None: impossible.
type PostAnswer = Rc<[Vec<(u32, bool)>]>;

/// Computes posts for one set of predicates.
pub(super) struct Post<'a> {
    predicates: &'a Predicates,
    /// Who decides what bits alone do not.
    pub(super) judge: &'a mut dyn Judge,
    /// The predicates that speak of a variable, by its index.
    about: Vec<Vec<u64>>,
    plans: FxHashMap<u32, Rc<PostPlan>>,
    answers: FxHashMap<(u32, BitCube), PostAnswer>,
    exists: FxHashMap<(u32, u32), Rc<[u64]>>,
    go_on: MayGoOn<'a>,
    /// Why nothing is computed any more.
    pub(super) stopped: Option<Stop>,
    /// What posts and plans took so far, in the unit of [`Judge::effort`].
    effort: u64,
    bytes: usize,
}

/// What a post takes besides its questions, and more for every word of a cube.
const POST: u64 = 7;
const WORD: u64 = 3;
/// What a plan takes, and more for every predicate that the step touches.
const PLAN: u64 = 50;
const TOUCHED: u64 = 40;

/// How to compute the post under a step.
#[derive(Default)]
struct PostPlan {
    /// Predicates whose bits stay as they are.
    stays: Vec<u64>,
    /// Predicates that become what another one was, or its opposite.
    copies: Vec<(u32, u32, bool)>,
    /// Predicates that hold afterwards whatever was before, or never do.
    constants: Vec<(u32, bool)>,
    /// Predicates about slots that change, where bits alone do not tell.
    asks: Vec<Ask>,
    /// Predicates that do not change but that the guard may decide.
    guarded: Vec<u64>,
    /// Predicates about the slots that guard and questions are connected with.
    relevant: Vec<u64>,
    guard: Vec<Atom>,
    /// What else is known of what the step takes out of a pool.
    taken: Vec<PoolChoice>,
    /// How many predicates speak of slots that change.
    touched: usize,
}

struct Ask {
    predicate: u32,
    /// What must hold before.
    before: Atom,
    /// For a pool that a value joins: what must hold as well.
    also: Vec<Atom>,
    /// Whether it may be decided by cases.
    splits: bool,
}

impl Ask {
    /// What a predicate is where it has not changed.
    fn as_it_stands(predicates: &Predicates, predicate: usize) -> Ask {
        Ask {
            predicate: predicate as u32,
            before: predicates.atom(predicate).clone(),
            also: Vec::new(),
            splits: predicates.is_split(predicate),
        }
    }
}

impl<'a> Post<'a> {
    pub(super) fn new(predicates: &'a Predicates, judge: &'a mut dyn Judge, go_on: MayGoOn<'a>) -> Post<'a> {
        let about = (0..predicates.vars()).map(|var| {
            let mut set = predicates.none();
            predicates.about(Var::at(var)).iter().for_each(|p| insert(&mut set, *p as usize));
            set
        });
        Post {
            predicates,
            judge,
            about: about.collect(),
            plans: FxHashMap::default(),
            answers: FxHashMap::default(),
            exists: FxHashMap::default(),
            go_on,
            stopped: None,
            effort: 0,
            bytes: 0,
        }
    }

    /// What was computed so far, in the unit of [`Judge::effort`].
    pub(super) fn effort(&self) -> u64 {
        self.effort + self.judge.effort()
    }

    /// About how much memory the answers take.
    pub(super) fn bytes(&self) -> usize {
        self.bytes + self.judge.bytes()
    }

    /// The cubes at the start.
    pub(super) fn initial<M: Machine>(
        &mut self,
        space: &Space<'_, M>,
        vocabulary: &mut Vocabulary,
    ) -> Result<Vec<BitCube>, NotLinearAt> {
        let cases = start_cases_of(space.program, vocabulary)?;
        Ok(cases.iter().flat_map(|case| self.initial_in(case, space, vocabulary)).collect())
    }

    /// The cubes of the start in one case of what is assumed of initial values.
    fn initial_in<M: Machine>(
        &mut self,
        case: &[Atom],
        space: &Space<'_, M>,
        vocabulary: &mut Vocabulary,
    ) -> Vec<BitCube> {
        let program = space.program;
        let mut slots: Vec<Slot> = program.variable_ids().map(Slot::Memory).collect();
        for thread in program.thread_ids() {
            slots.extend(space.slots(thread, space.control(0).locals[thread.index()]));
        }
        let within = slots.iter().flat_map(|slot| initially(vocabulary, program, *slot));
        let guard = within.chain(case.iter().cloned()).collect();
        let known: BTreeSet<Var> = slots.iter().map(|slot| vocabulary.slot(*slot)).collect();
        let asks = (0..self.predicates.len())
            .filter(|p| self.predicates.atom(*p).vars().all(|v| known.contains(&v)));
        let asks = asks.map(|p| Ask::as_it_stands(self.predicates, p)).collect();
        let plan = PostPlan { asks, guard, guarded: self.predicates.none(), ..PostPlan::default() };
        let open = BitCube::open(self.predicates.len());
        let answer = self.answer(&plan, &open);
        answer.iter().map(|literals| with(&open, literals)).collect()
    }

    /// The cubes after a step that leads to this control.
    pub(super) fn after<M: Machine>(
        &mut self,
        cube: &BitCube,
        step: u32,
        to: u32,
        space: &Space<'_, M>,
        vocabulary: &mut Vocabulary,
    ) -> Vec<BitCube> {
        let plan = self.plan(step, space, vocabulary);
        self.effort += POST + WORD * plan.stays.len() as u64;
        let answer = match plan.asks.is_empty() && plan.guard.is_empty() {
            // Bits alone tell, and there is one way to go on.
            true => Rc::from([Vec::new()]),
            false => self.cached(&plan, step, cube),
        };
        if answer.is_empty() {
            return Vec::new();
        }
        let mut next = cube.within(&plan.stays);
        for (predicate, value) in &plan.constants {
            next.set(*predicate as usize, *value);
        }
        for (predicate, from, same) in &plan.copies {
            if let Some(value) = cube.get(*from as usize) {
                next.set(*predicate as usize, value == *same);
            }
        }
        let finish = |literals: &Vec<(u32, bool)>| {
            let mut cube = with(&next, literals);
            self.keep_existing(&mut cube, to, space, vocabulary);
            cube
        };
        answer.iter().map(finish).collect()
    }

    fn cached(&mut self, plan: &PostPlan, step: u32, cube: &BitCube) -> PostAnswer {
        let key = (step, cube.within(&plan.relevant));
        if let Some(known) = self.answers.get(&key) {
            return known.clone();
        }
        let answer = self.answer(plan, &key.1);
        self.bytes +=
            key.1.bytes() + 64 + answer.iter().map(|literals| 24 + 8 * literals.len()).sum::<usize>();
        self.answers.insert(key, answer.clone());
        answer
    }

    /// Asks the solver.
    fn answer(&mut self, plan: &PostPlan, known: &BitCube) -> PostAnswer {
        self.judge.clear();
        for (predicate, value) in known.literals() {
            let literal = self.predicates.literal((predicate, value));
            self.judge.know(literal);
            for choice in plan.taken.iter().filter(|choice| concerns(choice, literal)) {
                self.judge.know(&literal.substitute_all(|var| put_in(choice, var)));
            }
        }
        plan.guard.iter().for_each(|atom| self.judge.require(atom));
        if !self.judge.is_consistent() {
            return Rc::from([]);
        }
        let guarded = self.undecided(plan, known);
        let asks: Vec<&Ask> = plan.asks.iter().chain(&guarded).collect();
        let mut found = Vec::new();
        self.decide(&asks, Vec::new(), &mut found);
        found.into()
    }

    /// The open predicates that the guard may decide: nothing is known of the others' slots.
    fn undecided(&self, plan: &PostPlan, known: &BitCube) -> Vec<Ask> {
        let mut candidates = plan.guarded.clone();
        let mut constrained = vec![false; self.predicates.vars()];
        for (predicate, _) in known.literals() {
            remove(&mut candidates, predicate);
            self.predicates.atom(predicate).vars().for_each(|var| constrained[var.index()] = true);
        }
        for var in plan.guard.iter().flat_map(Atom::vars) {
            if let Some(seen) = constrained.get_mut(var.index()) {
                *seen = true;
            }
        }
        for (about, _) in self.about.iter().zip(&constrained).filter(|(_, seen)| !**seen) {
            about.iter().zip(&mut candidates).for_each(|(about, left)| *left &= !about);
        }
        members_of(&candidates).map(|predicate| Ask::as_it_stands(self.predicates, predicate)).collect()
    }

    /// Decides what follows from the context; the first open predicate that may be split, both ways.
    fn decide(&mut self, asks: &[&Ask], mut literals: Vec<(u32, bool)>, found: &mut Vec<Vec<(u32, bool)>>) {
        let mut open = Vec::new();
        for ask in asks {
            let first = self.judge.truth(&ask.before);
            let same = first == Truth::Open || ask.also.iter().all(|also| self.judge.truth(also) == first);
            let truth = if same { first } else { Truth::Open };
            match truth {
                Truth::Open => open.push(*ask),
                known => {
                    self.judge.decided(ask.predicate);
                    literals.push((ask.predicate, known == Truth::Yes));
                }
            }
        }
        let Some(at) = open.iter().position(|ask| ask.splits) else {
            found.push(literals);
            return;
        };
        let split = open.remove(at);
        for value in [true, false] {
            self.stopped = self.stopped.or((self.go_on)().err());
            if self.stopped.is_some() {
                return;
            }
            self.judge.push();
            let atom = if value { split.before.clone() } else { split.before.negate() };
            self.judge.know(&atom);
            if self.judge.is_consistent() {
                let mut more = literals.clone();
                more.push((split.predicate, value));
                self.decide(&open, more, found);
            }
            self.judge.pop();
        }
    }

    /// Forgets what is said of slots that do not exist in a control.
    fn keep_existing<M: Machine>(
        &mut self,
        cube: &mut BitCube,
        to: u32,
        space: &Space<'_, M>,
        vocabulary: &mut Vocabulary,
    ) {
        for (thread, local) in space.control(to).locals.iter().enumerate() {
            let key = (thread as u32, *local);
            let mask = match self.exists.get(&key) {
                Some(mask) => mask.clone(),
                None => {
                    let mask: Rc<[u64]> = self.existing(key, space, vocabulary).into();
                    self.exists.insert(key, mask.clone());
                    mask
                }
            };
            cube.keep(&mask);
        }
    }

    fn existing<M: Machine>(
        &self,
        (thread, local): (u32, u32),
        space: &Space<'_, M>,
        vocabulary: &mut Vocabulary,
    ) -> Vec<u64> {
        let mut mask = vec![u64::MAX; self.predicates.none().len()];
        let thread = ThreadId::new(thread as usize);
        let slots = space.slots(thread, local);
        for var in (0..vocabulary.len()).map(Var::at) {
            let Some(Name::Slot(slot)) = vocabulary.name(var) else { continue };
            if slot.thread() == Some(thread) && !slots.contains(&slot) {
                self.predicates.about(var).iter().for_each(|p| remove(&mut mask, *p as usize));
            }
        }
        mask
    }

    fn plan<M: Machine>(
        &mut self,
        number: u32,
        space: &Space<'_, M>,
        vocabulary: &mut Vocabulary,
    ) -> Rc<PostPlan> {
        if let Some(plan) = self.plans.get(&number) {
            return plan.clone();
        }
        let plan = Rc::new(Planning::new(self.predicates, space.step(number), vocabulary).plan());
        self.effort += PLAN + TOUCHED * plan.touched as u64;
        plan.copies.iter().for_each(|(predicate, from, _)| self.judge.copied(*predicate, *from));
        self.plans.insert(number, plan.clone());
        plan
    }
}

fn with(cube: &BitCube, literals: &[(u32, bool)]) -> BitCube {
    let mut cube = cube.clone();
    literals.iter().for_each(|(predicate, value)| cube.set(*predicate as usize, *value));
    cube
}

/// Whether something is put in for what an atom speaks of.
fn concerns(choice: &PoolChoice, atom: &Atom) -> bool {
    choice.iter().any(|(var, _)| atom.vars().any(|v| v == *var))
}

/// What is put in for a variable.
fn put_in(choice: &PoolChoice, var: Var) -> Option<Linear> {
    choice.iter().find(|(v, _)| *v == var).map(|(_, value)| value.clone())
}

/// Works out the plan of a step.
struct Planning<'a> {
    predicates: &'a Predicates,
    guard: Vec<Atom>,
    /// What slots become.
    set: FxHashMap<Var, Linear>,
    /// What pools may give that they did not before.
    new: Vec<PoolChoice>,
    /// What is known of the member that is taken.
    taken: Vec<PoolChoice>,
    /// The slots that the guard may tell something about.
    guarded: BTreeSet<Var>,
}

impl<'a> Planning<'a> {
    fn new<G, L>(predicates: &'a Predicates, step: &Step<G, L>, vocabulary: &mut Vocabulary) -> Planning<'a> {
        let mut set = FxHashMap::default();
        for (slot, value) in &step.set {
            if let Value::Is(value) = value {
                set.insert(vocabulary.slot(*slot), value.clone());
            }
        }
        let (new, taken) = (step.new_choices(vocabulary), step.choices_taken(vocabulary));
        let guarded =
            predicates.connected(step.guard.iter().flat_map(|atom| atom.vars().collect::<Vec<_>>()));
        Planning { predicates, guard: step.guard.clone(), set, new, taken, guarded }
    }

    fn plan(self) -> PostPlan {
        let joined = self.new.iter().flatten().map(|(var, _)| *var);
        let touched_vars = self.set.keys().copied().chain(joined);
        let touched: BTreeSet<u32> =
            touched_vars.flat_map(|var| self.predicates.about(var).to_vec()).collect();
        let mut plan = PostPlan {
            stays: vec![u64::MAX; self.predicates.none().len()],
            guarded: self.predicates.none(),
            relevant: self.predicates.none(),
            guard: self.guard.clone(),
            taken: self.taken.clone(),
            touched: touched.len(),
            ..PostPlan::default()
        };
        for predicate in &touched {
            remove(&mut plan.stays, *predicate as usize);
            self.touched(*predicate, &mut plan);
        }
        let mut concerned: BTreeSet<u32> = BTreeSet::new();
        for var in &self.guarded {
            concerned.extend(self.predicates.about(*var));
        }
        for predicate in concerned.difference(&touched) {
            insert(&mut plan.guarded, *predicate as usize);
        }
        let mut vars: BTreeSet<Var> = self.guarded.clone();
        for ask in &plan.asks {
            vars.extend(ask.before.vars());
            vars.extend(ask.also.iter().flat_map(|atom| atom.vars().collect::<Vec<_>>()));
        }
        for (var, value) in self.taken.iter().flatten() {
            if value.vars().any(|member| vars.contains(&member)) {
                vars.insert(*var);
            }
        }
        for var in self.predicates.connected(vars) {
            self.predicates.about(var).iter().for_each(|p| insert(&mut plan.relevant, *p as usize));
        }
        plan
    }

    /// A predicate about a slot that changes.
    fn touched(&self, predicate: u32, plan: &mut PostPlan) {
        let atom = self.predicates.atom(predicate as usize);
        let before = atom.substitute_all(|var| self.set.get(&var).cloned());
        let new = self.new.iter().filter(|choice| concerns(choice, atom));
        let also: Vec<Atom> = new
            .map(|choice| atom.substitute_all(|var| put_in(choice, var).or(self.set.get(&var).cloned())))
            .collect();
        if !also.is_empty() {
            return self.ask(predicate, before, also, plan);
        }
        if before.is_true() || before.is_false() {
            plan.constants.push((predicate, before.is_true()));
            return;
        }
        let known = self.said_of_pools(&before);
        match self.predicates.find(&known) {
            Some((from, same)) if !known.vars().any(|var| self.guarded.contains(&var)) => {
                plan.copies.push((predicate, from, same));
            }
            _ => self.ask(predicate, before, Vec::new(), plan),
        }
    }

    /// What a cube must say of pools for it to say this of the member that is taken.
    fn said_of_pools(&self, atom: &Atom) -> Atom {
        for choice in &self.taken {
            let back = |var: Var| {
                let of = choice.iter().find(|(_, value)| *value == Linear::from(var));
                of.map(|(slot, _)| Linear::from(*slot))
            };
            let said = atom.substitute_all(back);
            if said.substitute_all(|var| put_in(choice, var)) == *atom {
                return said;
            }
        }
        atom.clone()
    }

    fn ask(&self, predicate: u32, before: Atom, also: Vec<Atom>, plan: &mut PostPlan) {
        let splits = also.is_empty() && self.predicates.is_split(predicate as usize);
        plan.asks.push(Ask { predicate, before, also, splits });
    }
}
