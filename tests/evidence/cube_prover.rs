//! A small prover by predicate abstraction, to have proofs by cubes to test with: no refinement, no
//! reductions worth the name, no caches. It also judges whether a proof is inductive, in the
//! most obvious way and with code of its own.

#![allow(dead_code)]

use evidence::symbolic::{self, Name, Step, Value, Vocabulary, WhichMember};
use evidence::{Cube, CubeProof, Task};
use logic::{Atom, Context, Formula, Linear, Truth, Var, entails_formula};
use machine::{Buffered, Event, Local, LocalFirst, Machine, Recall, Slot};
use program::ThreadId;
use std::collections::HashMap;

/// Makes predicates about the slots of a control.
pub type Instances<'a> = &'a dyn Fn(&mut Vocabulary, &[Slot]) -> Vec<Atom>;

type Control = (Option<ThreadId>, Vec<Local>);
type Literals = Vec<(u32, bool)>;

/// What slots become, and what joins pools.
#[derive(Default)]
struct Changes {
    plain: HashMap<Var, Linear>,
    joined: HashMap<Var, Linear>,
    /// Which of those that something joins stand for newer stores.
    newer: Vec<Var>,
}

impl Changes {
    /// What must hold before the step: for old members of a pool, and for the new one; and for every old member with
    /// the newest store.
    fn instances(&self, atom: &Atom) -> Vec<Atom> {
        let old = atom.substitute_all(|var| self.plain.get(&var).cloned());
        let new = atom.substitute_all(|var| self.joined.get(&var).or(self.plain.get(&var)).cloned());
        let newest = |var: Var| self.joined.get(&var).filter(|_| self.newer.contains(&var));
        let with_newest = atom.substitute_all(|var| newest(var).or(self.plain.get(&var)).cloned());
        vec![old, new, with_newest]
    }
}

pub struct Prover<'p> {
    pub task: Task<'p>,
    machine: Buffered<'p>,
    first: LocalFirst,
    pub proof: CubeProof,
}

impl<'p> Prover<'p> {
    pub fn new(task: Task<'p>, recall: Recall) -> Prover<'p> {
        let machine = Buffered::recalling(task.program, task.model, recall);
        let vocabulary = Vocabulary::default();
        let (predicates, controls, cubes) = (Vec::new(), Vec::new(), Vec::new());
        let proof = CubeProof { recall, renamings: Box::default(), vocabulary, predicates, controls, cubes };
        Prover { first: LocalFirst::new(task.program, task.model), machine, task, proof }
    }

    /// Starts from a proof that exists already.
    pub fn with(task: Task<'p>, proof: CubeProof) -> Prover<'p> {
        let prover = Prover::new(task, proof.recall);
        Prover { proof, ..prover }
    }

    pub fn slots(&self, shapes: &[Local]) -> Vec<Slot> {
        let mut slots: Vec<Slot> = self.task.program.variable_ids().map(Slot::Memory).collect();
        for (thread, shape) in self.task.program.thread_ids().zip(shapes) {
            self.machine.slots(thread, shape, &mut slots);
        }
        slots
    }

    /// All cubes reached; false if there are more than `most`, or if a step is not linear.
    pub fn explore(&mut self, instances: Instances<'_>, most: usize) -> bool {
        let initial = self.machine.initial();
        let number = self.number(&initial, instances);
        let cube = self.initial_cube(number);
        self.proof.cubes.push(cube);
        let mut at = 0;
        while at < self.proof.cubes.len() {
            if self.proof.cubes.len() > most {
                return false;
            }
            let Some(steps) = self.linear_steps(self.proof.cubes[at].control) else { return false };
            for step in steps {
                let next = self.target(self.proof.cubes[at].control, &step);
                let number = self.number(&next, instances);
                let cube = self.proof.cubes[at].clone();
                let Some(literals) = self.post(&cube, &step, number) else { continue };
                if !self.covered(number, &literals) {
                    self.proof.cubes.push(Cube { control: number, literals });
                }
            }
            at += 1;
        }
        true
    }

    /// One cube for every control: all instances hold. Whether that is true is another matter.
    pub fn claim_everywhere(&mut self, instances: Instances<'_>) {
        let initial = self.machine.initial();
        self.number(&initial, instances);
        let mut at = 0;
        while at < self.proof.controls.len() {
            let slots = self.slots(&self.proof.controls[at].1);
            let all = instances(&mut self.proof.vocabulary, &slots);
            let claimed = |p: &u32| all.contains(&self.proof.predicates[*p as usize]);
            let numbers = (0..self.proof.predicates.len() as u32).filter(claimed);
            let cube = Cube { control: at as u32, literals: numbers.map(|p| (p, true)).collect() };
            self.proof.cubes.push(cube.clone());
            for step in self.steps(at as u32) {
                if self.possible(&cube, &step) {
                    let next = self.target(at as u32, &step);
                    self.number(&next, instances);
                }
            }
            at += 1;
        }
    }

    /// Whether no cube allows a violation.
    pub fn is_safe(&mut self) -> bool {
        (0..self.proof.cubes.len()).all(|at| !self.allows_a_violation(at))
    }

    fn allows_a_violation(&mut self, at: usize) -> bool {
        let cube = self.proof.cubes[at].clone();
        let shapes = &self.proof.controls[cube.control as usize].1;
        let standing: Vec<_> = shapes.iter().map(|shape| (shape.loc, shape.drained())).collect();
        let program = self.task.program;
        let cases = symbolic::violations(&mut self.proof.vocabulary, program, &standing).expect("linear");
        cases.iter().any(|(_, case)| {
            let mut context = self.assumed(&cube, None);
            case.iter().for_each(|atom| context.assume(atom));
            context.is_consistent()
        })
    }

    /// Whether the cubes are a proof, in the sense of the checker.
    pub fn is_inductive(&mut self) -> bool {
        let initial = self.machine.initial();
        let Some(control) = self.find(&initial) else { return false };
        let start = self.initial_cube(control);
        let stays = |prover: &mut Prover<'_>, at: usize| {
            let cube = prover.proof.cubes[at].clone();
            prover.steps(cube.control).iter().all(|step| {
                let next = prover.target(cube.control, step);
                match prover.find(&next) {
                    Some(next) => {
                        let literals = prover.post(&cube, step, next);
                        literals.is_none_or(|literals| {
                            prover.covered(next, &literals)
                                || prover.covered_together(&cube, step, next, &literals)
                        })
                    }
                    None => !prover.possible(&cube, step),
                }
            })
        };
        self.covered(control, &start.literals)
            && self.is_safe()
            && (0..self.proof.cubes.len()).all(|at| stays(self, at))
    }

    /// Whether one of several cubes surely holds after a step, though none does for sure. What
    /// they say of pools must hold for sure.
    fn covered_together(
        &mut self,
        cube: &Cube,
        (_, step): &(ThreadId, Step),
        target: u32,
        literals: &[(u32, bool)],
    ) -> bool {
        let facts: Vec<Formula> = self.assumed(cube, Some(step)).atoms().iter().map(Formula::from).collect();
        let changes = self.changes(step);
        let proof = &self.proof;
        let pool = |atom: &Atom| {
            let any = |var| matches!(proof.vocabulary.name(var), Some(Name::Slot(slot)) if slot.is_any());
            atom.vars().any(any)
        };
        let ways = proof.cubes.iter().filter(|cube| cube.control == target).filter_map(|cube| {
            let open = cube.literals.iter().filter(|literal| !literals.contains(literal));
            let mut needed = Vec::new();
            for (p, sign) in open {
                for atom in changes.instances(&proof.predicates[*p as usize]) {
                    needed.push(if *sign { atom } else { atom.negate() });
                }
            }
            (!needed.iter().any(pool)).then(|| Formula::conjunction(&needed))
        });
        let ways: Vec<Formula> = ways.collect();
        ways.len() > 1 && entails_formula(&facts, &Formula::or(ways))
    }

    fn changes(&mut self, step: &Step) -> Changes {
        let mut changes = Changes::default();
        for (slot, value) in &step.set {
            let var = self.proof.vocabulary.slot(*slot);
            match value {
                Value::Is(value) => drop(changes.plain.insert(var, value.clone())),
                Value::Joins(value) => drop(changes.joined.insert(var, value.clone())),
            }
            if matches!(slot, Slot::Newer(..)) {
                changes.newer.push(var);
            }
        }
        changes
    }

    fn find(&self, control: &Control) -> Option<u32> {
        self.proof.controls.iter().position(|known| known == control).map(|at| at as u32)
    }

    fn number(&mut self, control: &Control, instances: Instances<'_>) -> u32 {
        if let Some(known) = self.find(control) {
            return known;
        }
        let slots = self.slots(&control.1);
        for atom in instances(&mut self.proof.vocabulary, &slots) {
            if !self.proof.predicates.contains(&atom) {
                self.proof.predicates.push(atom);
            }
        }
        self.proof.controls.push(control.clone());
        self.proof.controls.len() as u32 - 1
    }

    fn initial_cube(&mut self, control: u32) -> Cube {
        let shapes = self.proof.controls[control as usize].1.clone();
        let mut context = Context::new();
        for slot in self.slots(&shapes) {
            for atom in symbolic::initially(&mut self.proof.vocabulary, self.task.program, slot) {
                context.assume(&atom);
            }
        }
        let literals = self.truths(&shapes, &mut context, &|atom| vec![atom.clone()]);
        Cube { control, literals }
    }

    fn steps(&mut self, control: u32) -> Vec<(ThreadId, Step)> {
        self.linear_steps(control).expect("linear")
    }

    fn linear_steps(&mut self, control: u32) -> Option<Vec<(ThreadId, Step)>> {
        let (holder, shapes) = self.proof.controls[control as usize].clone();
        let first = self.first.thread(shapes.iter().map(|shape| (shape.loc, shape.drained())));
        let mut steps = Vec::new();
        for thread in self.task.program.thread_ids().filter(|t| first.is_none_or(|first| first == *t)) {
            let mut moves = Vec::new();
            let shape = &shapes[thread.index()];
            let waits = self.first.waits(thread, shape.loc, shape.drained());
            self.machine.moves(thread, &holder, shape, &mut moves);
            for step in moves {
                let drains = matches!(step.event, Event::Drain { .. });
                if if drains { first.is_none() } else { !waits } {
                    let cases = symbolic::steps(&mut self.proof.vocabulary, &step).ok()?;
                    steps.extend(cases.into_iter().map(|case| (thread, case)));
                }
            }
        }
        Some(steps)
    }

    fn target(&self, control: u32, (thread, step): &(ThreadId, Step)) -> Control {
        let mut shapes = self.proof.controls[control as usize].1.clone();
        shapes[thread.index()] = step.local.clone();
        (step.global, shapes)
    }

    /// What a cube says, once more for the member that a step takes.
    fn assumed(&mut self, cube: &Cube, step: Option<&Step>) -> Context {
        let mut context = Context::new();
        let literal = |(p, sign): &(u32, bool)| {
            let atom = &self.proof.predicates[*p as usize];
            if *sign { atom.clone() } else { atom.negate() }
        };
        let atoms: Vec<Atom> = cube.literals.iter().map(literal).collect();
        atoms.iter().for_each(|atom| context.assume(atom));
        let Some(step) = step else { return context };
        step.guard.iter().for_each(|atom| context.assume(atom));
        if let Some((slot, which)) = step.taken {
            let member = Linear::from(self.proof.vocabulary.var(Name::Member(slot)));
            let pool = self.proof.vocabulary.slot(slot);
            atoms.iter().for_each(|atom| context.assume(&atom.substitute(pool, &member)));
            if let (Slot::Pool(thread, variable), WhichMember::Oldest) = (slot, which) {
                let newer = self.proof.vocabulary.slot(Slot::Newer(thread, variable));
                // What stays in the pool is newer. All at once: the pool's slot is put in itself.
                let before = |atom: &Atom| {
                    atom.substitute_all(|var| match var {
                        _ if var == pool => Some(member.clone()),
                        _ if var == newer => Some(Linear::from(pool)),
                        _ => None,
                    })
                };
                atoms.iter().for_each(|atom| context.assume(&before(atom)));
            }
        }
        context
    }

    fn possible(&mut self, cube: &Cube, (_, step): &(ThreadId, Step)) -> bool {
        self.assumed(cube, Some(step)).is_consistent()
    }

    /// The literals that hold after a step; `None` if it is impossible.
    fn post(&mut self, cube: &Cube, (_, step): &(ThreadId, Step), target: u32) -> Option<Literals> {
        let mut context = self.assumed(cube, Some(step));
        if !context.is_consistent() {
            return None;
        }
        let changes = self.changes(step);
        let shapes = self.proof.controls[target as usize].1.clone();
        let needs = |atom: &Atom| changes.instances(atom);
        Some(self.truths(&shapes, &mut context, &needs))
    }

    fn truths(
        &mut self,
        shapes: &[Local],
        context: &mut Context,
        needs: &dyn Fn(&Atom) -> Vec<Atom>,
    ) -> Literals {
        let slots = self.slots(shapes);
        let known: Vec<Var> = slots.iter().map(|slot| self.proof.vocabulary.slot(*slot)).collect();
        let mut literals = Vec::new();
        for (at, predicate) in self.proof.predicates.iter().enumerate() {
            if !predicate.vars().all(|var| known.contains(&var)) {
                continue;
            }
            let truths: Vec<Truth> = needs(predicate).iter().map(|atom| context.truth(atom)).collect();
            for (truth, sign) in [(Truth::Yes, true), (Truth::No, false)] {
                if truths.iter().all(|t| *t == truth) {
                    literals.push((at as u32, sign));
                }
            }
        }
        literals
    }

    /// Whether a cube of the control says no more than these literals.
    fn covered(&self, control: u32, literals: &[(u32, bool)]) -> bool {
        let weaker = |cube: &Cube| {
            cube.control == control && cube.literals.iter().all(|literal| literals.contains(literal))
        };
        self.proof.cubes.iter().any(weaker)
    }
}
