//! Proofs by cubes as SMT-LIB.
//!
//! Every cube is a function of the slots it speaks of. For a cube `A`, a case of a move with guard
//! `g` that makes `f(s)` of the slots, and a cube `B` that covers it, the script states `A(s)`, `g`
//! and not `B(f(s))`. Which cube that is our checker says; where it finds none, all cubes of the
//! target are tried, so that a broken proof gets the answer `sat`.
//!
//! A pool's variable is one member. Not to satisfy `B` takes one member that does not; where
//! several cubes may cover, each has a member of its own for that, of which `A` holds too. So it is with a member and a
//! store that is newer.

use super::atoms::AtomId;
use super::steps::{CubeStep, Image};
use super::{CubeChecker, CubeFlaw, CubeObligations, forgetful_proof};
use crate::smtlib::{junction, name_of, unwritten, write_question};
use crate::symbolic::Name;
use crate::{CubeProof, Task};
use logic::{Atom, Formula, Terms, Var, smtlib_declaration, smtlib_formula, smtlib_sum};
use machine::{Buffered, Recall};
use std::collections::BTreeSet;
use std::io::{self, Write};

type ForgetfulChecker<'a> = CubeChecker<'a, Buffered<'a>, Recall>;

/// Writes the obligations of a proof by cubes and returns how many there are.
pub(crate) fn write_obligations(
    task: &Task<'_>,
    proof: &CubeProof,
    out: &mut dyn Write,
) -> io::Result<usize> {
    let invalid = |flaw: CubeFlaw| unwritten(&flaw.to_string());
    let valid = forgetful_proof(task, proof).map_err(invalid)?;
    let mut checker = CubeChecker::new(&valid);
    let works = (0..proof.controls.len()).map(|control| checker.work(control));
    let works = works.collect::<Result<Vec<CubeObligations>, _>>().map_err(invalid)?;
    let cases = checker.start_cases();
    let starts: Vec<StartQuestion> = cases.iter().map(|case| StartQuestion::of(&mut checker, case)).collect();
    let parameters = proof.cubes.iter().map(|cube| {
        let atoms = cube.literals.iter().map(|literal| &proof.predicates[literal.0 as usize]);
        atoms.flat_map(Atom::vars).collect::<BTreeSet<Var>>().into_iter().collect()
    });
    let parameters = parameters.collect();
    let terms = names(&checker);
    let mut script = CubeScript { terms, parameters, checker, out, count: 0 };
    script.head(task)?;
    for start in &starts {
        script.initial(start)?;
    }
    for (control, work) in works.iter().enumerate() {
        for cube in &valid.cubes_of[control] {
            script.cube(*cube, work)?;
        }
    }
    Ok(script.count)
}

/// The names of all variables, at their numbers.
fn names(checker: &ForgetfulChecker<'_>) -> Terms {
    let mut terms = Terms::new();
    for index in 0..checker.vocabulary.len() {
        terms.var(&match checker.vocabulary.name(Var::at(index)) {
            Some(Name::Slot(slot)) => name_of(&slot),
            Some(Name::Member(slot)) => format!("taken_{}", name_of(&slot)),
            Some(Name::Chosen) => "chosen".to_string(),
            Some(Name::Part(number)) => format!("part{number}"),
            None => format!("unknown{index}"),
        });
    }
    terms
}

/// What a run may start with in one case, and the cubes that are said to cover it.
struct StartQuestion {
    known: Vec<AtomId>,
    cover: Vec<u32>,
}

impl StartQuestion {
    fn of(checker: &mut ForgetfulChecker<'_>, case: &[Atom]) -> StartQuestion {
        let covered = checker.covers_start(case);
        let cover = cover(checker, covered, checker.start());
        StartQuestion { known: checker.facts.listed().to_vec(), cover }
    }
}

/// The cubes that cover the landing of the checker; all of the target if it found none.
fn cover(checker: &ForgetfulChecker<'_>, covered: bool, target: Option<u32>) -> Vec<u32> {
    match (covered, target) {
        (true, _) => checker.landing.cover.clone(),
        (false, Some(target)) => checker.valid.cubes_of[target as usize].to_vec(),
        (false, None) => Vec::new(),
    }
}

struct CubeScript<'a> {
    checker: ForgetfulChecker<'a>,
    terms: Terms,
    /// The variables each cube speaks of.
    parameters: Vec<Vec<Var>>,
    out: &'a mut dyn Write,
    count: usize,
}

impl CubeScript<'_> {
    fn head(&mut self, task: &Task<'_>) -> io::Result<()> {
        let (name, model) = (task.program.name.replace('\n', " "), task.model.name());
        writeln!(self.out, "; {name} is safe under {model}: every answer below must be unsat")?;
        writeln!(self.out, "; m is memory, r a register, q a buffered store, l the newest forgotten store;")?;
        writeln!(self.out, "; p is one of the older ones, taken_p the one that reaches memory: what a cube")?;
        writeln!(
            self.out,
            "; says of p holds for all of them, so it is stated of p and of taken_p, and to be"
        )?;
        writeln!(self.out, "; shown of p and of a value that joins them; n is any that is newer than p")?;
        writeln!(self.out, "(set-logic QF_LIA)")?;
        for index in 0..self.terms.len() {
            writeln!(self.out, "{}", smtlib_declaration(&self.terms, Var::at(index)))?;
        }
        for (at, cube) in self.checker.valid.proof.cubes.iter().enumerate() {
            let parameters = self.parameters[at].iter().map(|var| format!("({} Int)", self.name(*var)));
            let parameters = parameters.collect::<Vec<_>>().join(" ");
            let literal = |(p, sign): &(u32, bool)| {
                let atom = &self.checker.valid.proof.predicates[*p as usize];
                self.atom(&if *sign { atom.clone() } else { atom.negate() })
            };
            let body = junction("and", cube.literals.iter().map(literal));
            writeln!(self.out, "(define-fun cube{at} ({parameters}) Bool {body})")?;
        }
        Ok(())
    }

    fn name(&self, var: Var) -> String {
        self.terms.name(var).unwrap_or("unknown").to_string()
    }

    fn atom(&self, atom: &Atom) -> String {
        smtlib_formula(&self.terms, &Formula::from(atom))
    }

    fn atoms(&self, ids: &[AtomId]) -> Vec<String> {
        ids.iter().map(|id| self.atom(self.checker.atoms.atom(*id))).collect()
    }

    /// That a cube holds, its variables being named so.
    fn holds(&self, cube: u32, name: &dyn Fn(Var) -> String) -> String {
        match self.parameters[cube as usize].as_slice() {
            [] => format!("cube{cube}"),
            parameters => {
                let named = parameters.iter().map(|var| format!(" {}", name(*var)));
                format!("(cube{cube}{})", named.collect::<String>())
            }
        }
    }

    fn ask(&mut self, declared: &[String], asserts: &[String]) -> io::Result<()> {
        self.count += 1;
        write_question(self.out, declared, asserts)
    }

    fn initial(&mut self, start: &StartQuestion) -> io::Result<()> {
        let mut asserts = self.atoms(&start.known);
        for cube in &start.cover {
            asserts.push(format!("(not {})", self.holds(*cube, &|var| self.name(var))));
        }
        self.ask(&[], &asserts)
    }

    fn cube(&mut self, cube: u32, work: &CubeObligations) -> io::Result<()> {
        let here = self.holds(cube, &|var| self.name(var));
        for (_, case) in &work.violations {
            let asserts = [vec![here.clone()], self.atoms(case)].concat();
            self.ask(&[], &asserts)?;
        }
        self.checker.begin(cube as usize);
        for (step, target) in &work.steps {
            let covered = self.checker.step(cube as usize, *step, *target);
            let cover = cover(&self.checker, covered, *target);
            let (declared, asserts) = self.step(cube, self.checker.steps.step(*step), &cover);
            self.ask(&declared, &asserts)?;
        }
        Ok(())
    }

    /// That the step is possible and leads to none of the covering cubes, with further members.
    fn step(&self, cube: u32, step: &CubeStep<Buffered<'_>>, cover: &[u32]) -> (Vec<String>, Vec<String>) {
        let mut asserts = vec![self.holds(cube, &|var| self.name(var))];
        for taken in &step.taken {
            asserts.push(self.holds(cube, &|var| self.value(taken, var, &|var| self.name(var))));
        }
        asserts.extend(self.atoms(&step.guard));
        let mut declared = BTreeSet::new();
        for (number, covering) in cover.iter().enumerate() {
            // The first has the pools' own variables, the others further members.
            let fresh =
                |var: Var| if number > 0 { format!("{}_{number}", self.name(var)) } else { self.name(var) };
            let own = |var: Var| if self.is_pool(var) { fresh(var) } else { self.name(var) };
            let speaks_of =
                |cube: u32| self.parameters[cube as usize].iter().filter(|var| self.is_pool(**var));
            if number > 0 && speaks_of(*covering).any(|var| step.after.value(*var).is_none()) {
                declared.extend(speaks_of(cube).chain(speaks_of(*covering)).map(|var| fresh(*var)));
                asserts.push(self.holds(cube, &own));
                for taken in &step.taken {
                    asserts.push(self.holds(cube, &|var| self.value(taken, var, &own)));
                }
            }
            let after = |var: Var| self.value(&step.after, var, &own);
            asserts.push(format!("(not {})", self.covered(*covering, step, &after)));
        }
        (declared.into_iter().collect(), asserts)
    }

    /// That a cube holds after a step, for old members of pools and for the one that joins (a move
    /// forgets one store at most).
    fn covered(&self, cube: u32, step: &CubeStep<Buffered<'_>>, after: &dyn Fn(Var) -> String) -> String {
        let mut ways = vec![self.holds(cube, after)];
        for choice in step.after.further() {
            if choice.iter().any(|(var, _)| self.parameters[cube as usize].contains(var)) {
                let put_in = |var: Var| choice.iter().find(|(v, _)| *v == var);
                ways.push(self.holds(cube, &|var| match put_in(var) {
                    Some((_, value)) => smtlib_sum(value, &|var| self.name(var)),
                    None => after(var),
                }));
            }
        }
        junction("and", ways.into_iter())
    }

    fn is_pool(&self, var: Var) -> bool {
        self.checker.vocabulary.slot_of(var).is_some_and(|slot| slot.is_any())
    }

    /// What a variable becomes, or its name.
    fn value(&self, image: &Image, var: Var, name: &dyn Fn(Var) -> String) -> String {
        image.value(var).map_or_else(|| name(var), |value| smtlib_sum(value, name))
    }
}
