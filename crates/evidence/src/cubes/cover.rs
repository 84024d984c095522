//! Whether what a step leads to satisfies a cube.
//!
//! First without thinking: all literals of a cube are facts already. Then, unless the step is
//! impossible, cube by cube with the solver, beginning with those of which least is missing.
//! At last several cubes together.

use super::atoms::AtomId;
use super::steps::Image;
use super::{CubeChecker, MOST_TOGETHER};
use machine::Machine;

/// What was found out about a literal after a step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LiteralFinding {
    Holds,
    NotObvious,
    Open,
}

/// What was found out about literals after the step at hand.
#[derive(Default)]
pub(super) struct Landing {
    round: u32,
    findings: Vec<(u32, LiteralFinding)>,
    /// By control: the cube that was the right one last time, by position.
    last: Vec<usize>,
    /// The cubes that cover what the step at hand leads to; none if it is impossible.
    pub(super) cover: Vec<u32>,
}

impl Landing {
    fn begin(&mut self, predicates: usize, controls: usize) {
        self.last.resize(controls, 0);
        self.findings.resize(2 * predicates, (0, LiteralFinding::Open));
        self.round = self.round.checked_add(1).unwrap_or_else(|| {
            self.findings.iter_mut().for_each(|finding| finding.0 = 0);
            1
        });
    }

    fn finding(&self, literal: (u32, bool)) -> Option<LiteralFinding> {
        let (round, finding) = self.findings[place(literal)];
        (round == self.round).then_some(finding)
    }

    fn set(&mut self, literal: (u32, bool), finding: LiteralFinding) {
        self.findings[place(literal)] = (self.round, finding);
    }
}

fn place((predicate, positive): (u32, bool)) -> usize {
    2 * predicate as usize + usize::from(positive)
}

impl<M: Machine, R> CubeChecker<'_, M, R> {
    /// Whether the facts are contradictory, for which the guard is to blame, or the target has a
    /// cube that holds after the step.
    pub(super) fn lands(&mut self, image: &mut Image, guard: &[AtomId], target: Option<u32>) -> bool {
        let proof = self.valid.proof;
        self.landing.begin(proof.predicates.len(), proof.controls.len());
        self.landing.cover.clear();
        let Some(target) = target.map(|target| target as usize) else {
            return self.facts.contradictory(&self.atoms, guard);
        };
        let cubes = &self.valid.cubes_of[target];
        let literals = |at: usize| proof.cubes[cubes[at] as usize].literals.as_slice();
        let last = self.landing.last[target];
        let order = (last..cubes.len()).chain(0..last.min(cubes.len()));
        for at in order {
            if literals(at).iter().all(|literal| self.holds(image, *literal, false)) {
                self.landing.last[target] = at;
                self.landing.cover.push(cubes[at]);
                return true;
            }
        }
        self.facts.contradictory(&self.atoms, guard)
            || self.covered_by_one(image, cubes)
            || self.covered_by_several(image, cubes)
    }

    /// Whether a literal holds after the step.
    fn holds(&mut self, image: &mut Image, literal: (u32, bool), think: bool) -> bool {
        match self.landing.finding(literal) {
            Some(LiteralFinding::NotObvious) if think => {}
            Some(finding) => return finding == LiteralFinding::Holds,
            None => {}
        }
        let (predicate, sign) = literal;
        let terms = (&self.vocabulary, &mut self.atoms);
        let needed = image.of(terms, &self.valid.proof.predicates, predicate as usize);
        let (atoms, facts) = (&self.atoms, &mut self.facts);
        let holds = needed.iter().all(|atom| {
            let goal = atoms.signed(*atom, sign);
            if think { facts.entail(atoms, goal) } else { facts.obvious(goal) }
        });
        let finding = match (holds, think) {
            (true, _) => LiteralFinding::Holds,
            (false, true) => LiteralFinding::Open,
            (false, false) => LiteralFinding::NotObvious,
        };
        self.landing.set(literal, finding);
        holds
    }

    fn covered_by_one(&mut self, image: &mut Image, cubes: &[u32]) -> bool {
        let proof = self.valid.proof;
        let literals = |cube: &u32| proof.cubes[*cube as usize].literals.as_slice();
        let missing = |cube: &&u32| {
            literals(cube).iter().filter(|literal| !self.holds(image, **literal, false)).count()
        };
        let mut order: Vec<&u32> = cubes.iter().collect();
        order.sort_by_cached_key(missing);
        let found = order.into_iter().find(|cube| literals(cube).iter().all(|l| self.holds(image, *l, true)));
        self.landing.cover.extend(found);
        found.is_some()
    }

    fn covered_by_several(&mut self, image: &mut Image, cubes: &[u32]) -> bool {
        let mut together = Vec::new();
        for cube in cubes {
            if let Some(open) = self.open_parts(image, *cube) {
                together.push(open);
                self.landing.cover.push(*cube);
            }
        }
        (2..=MOST_TOGETHER).contains(&together.len()) && self.facts.entail_one_of(&self.atoms, &together)
    }

    /// What is missing of a cube for it to hold. `None` if some of it surely fails.
    fn open_parts(&mut self, image: &mut Image, cube: u32) -> Option<Vec<AtomId>> {
        let proof = self.valid.proof;
        let mut open = Vec::new();
        for literal in &proof.cubes[cube as usize].literals {
            if self.holds(image, *literal, true) {
                continue;
            }
            let terms = (&self.vocabulary, &mut self.atoms);
            for atom in image.of(terms, &proof.predicates, literal.0 as usize) {
                let goal = self.atoms.signed(*atom, literal.1);
                if self.facts.obvious(self.atoms.negation(goal)) {
                    return None;
                }
                open.push(goal);
            }
        }
        Some(open)
    }
}
