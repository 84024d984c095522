//! Abstract reachability: breadth first, an antichain of cubes in every control.
//!
//! A cube that another one in the same control covers need not be looked at: whatever can happen
//! from it can happen from the other. Where controls count up to the names of threads, cubes are compared under the names
//! of their class ([`super::classes`]). What is left when nothing new comes is inductive.

use super::classes::Class;
use super::cube::BitCube;
use super::judge::Judge;
use super::post::Post;
use super::predicates::Predicates;
use super::space::{NotLinearAt, Space};
use crate::growth::Doubling;
use evidence::symbolic::Vocabulary;
use evidence::{Monitor, Progress, Stop};
use logic::Atom;
use machine::{Machine, Violation};
use smallvec::SmallVec;
use std::collections::VecDeque;

/// How many nodes are expanded between two looks at the monitor.
const PATIENCE: usize = 16;

/// How a search ended.
pub(crate) enum CubeSearchEnded {
    /// Nothing violating is reachable: the cubes left, by control.
    Closed(Vec<(u32, BitCube)>),
    /// A path of steps, each with the control it leads to, to a violation under constraints.
    Path(Vec<(u32, u32)>, Violation, Vec<Atom>),
    /// There are more cubes than there should be.
    Large,
    /// A path to where a store is forgotten, if that is to be told.
    Overflow(Vec<(u32, u32)>),
    Stopped(Stop),
    NotLinearAt(NotLinearAt),
}

/// The work of a search.
#[derive(Clone, Copy, Default)]
pub(crate) struct Effort {
    pub(crate) states: usize,
    pub(crate) questions: usize,
}

/// What the monitor is told besides the size of the search.
#[derive(Clone, Copy)]
pub(crate) struct CubeRound<'a> {
    pub(crate) monitor: &'a dyn Monitor,
    pub(crate) k: usize,
    /// States of earlier rounds.
    pub(crate) before: usize,
    /// How many rounds there were.
    pub(crate) refinements: usize,
    /// Whether the search ends where a store is forgotten.
    pub(crate) bounded: bool,
    /// No more cubes than this.
    pub(crate) most: Option<usize>,
}

impl CubeRound<'_> {
    /// What is known without looking at the search.
    fn progress(&self, predicates: &Predicates) -> Progress {
        Progress {
            phase: "proving",
            bound: Some(self.k),
            states: self.before,
            predicates: Some(predicates.templates()),
            refinements: Some(self.refinements),
            ..Progress::default()
        }
    }
}

struct Node {
    cube: BitCube,
    control: u32,
    /// The node it came from, and by which step.
    parent: Option<(u32, u32)>,
    covered: bool,
}

/// Explores the abstraction.
pub(crate) fn reach<M: Machine>(
    space: &mut Space<'_, M>,
    predicates: &Predicates,
    (vocabulary, judge): (&mut Vocabulary, &mut dyn Judge),
    round: CubeRound<'_>,
) -> (CubeSearchEnded, Effort) {
    let go_on = || round.monitor.observe(&round.progress(predicates));
    let (asked, before) = (judge.questions(), judge.effort());
    let mut search = CubeSearch {
        predicates,
        post: Post::new(predicates, judge, &go_on),
        nodes: Vec::new(),
        shown: Vec::new(),
        kept: Vec::new(),
        waiting: VecDeque::new(),
        bytes: 0,
        reported: before,
        controls: space.len(),
        bounded: round.bounded,
    };
    let ended = search.run(space, vocabulary, round).unwrap_or_else(CubeSearchEnded::NotLinearAt);
    let questions = search.post.judge.questions() - asked;
    (ended, Effort { states: search.nodes.len(), questions })
}

/// The nodes of a control that nothing covers: few.
type KeptNodes = SmallVec<[u32; 4]>;

struct CubeSearch<'a> {
    predicates: &'a Predicates,
    post: Post<'a>,
    nodes: Vec<Node>,
    /// The cubes of nodes under the names of their class, if controls count up to names.
    shown: Vec<BitCube>,
    /// The nodes that nothing covers, by control or class.
    kept: Vec<KeptNodes>,
    waiting: VecDeque<u32>,
    bytes: usize,
    /// The effort that the monitor knows of.
    reported: u64,
    /// Controls that were known before.
    controls: usize,
    bounded: bool,
}

/// What a cube takes that nothing covers, and a control met for the first time, in the unit of
/// [`Judge::effort`](super::Judge::effort).
const CUBE: u64 = 20;
const CONTROL: u64 = 50;
/// So much effort is a unit of [`Progress::work`].
const EFFORT: u64 = 5;

impl CubeSearch<'_> {
    fn run<M: Machine>(
        &mut self,
        space: &mut Space<'_, M>,
        vocabulary: &mut Vocabulary,
        round: CubeRound<'_>,
    ) -> Result<CubeSearchEnded, NotLinearAt> {
        let initial = self.post.initial(space, vocabulary)?;
        if let Some(stop) = self.post.stopped {
            return Ok(CubeSearchEnded::Stopped(stop));
        }
        for cube in initial {
            if let Some(path) = self.add(cube, 0, None, space, vocabulary)? {
                return Ok(path);
            }
        }
        let mut expanded = 0usize;
        while let Some(at) = self.waiting.pop_front() {
            if expanded.is_multiple_of(PATIENCE)
                && let Err(stop) = round.monitor.observe(&self.progress(space, round))
            {
                return Ok(CubeSearchEnded::Stopped(stop));
            }
            expanded += 1;
            if round.most.is_some_and(|most| self.nodes.len() > most) {
                return Ok(CubeSearchEnded::Large);
            }
            if self.nodes[at as usize].covered {
                continue;
            }
            let (cube, control) = (self.nodes[at as usize].cube.clone(), self.nodes[at as usize].control);
            for number in space.successors(control, vocabulary)? {
                let (step, to) = space.successor(number);
                let after = self.post.after(&cube, step, to, space, vocabulary);
                if let Some(stop) = self.post.stopped {
                    return Ok(CubeSearchEnded::Stopped(stop));
                }
                for next in after {
                    if let Some(path) = self.add(next, to, Some((at, step)), space, vocabulary)? {
                        return Ok(path);
                    }
                }
            }
        }
        let left = self.nodes.iter().filter(|node| !node.covered);
        Ok(CubeSearchEnded::Closed(left.map(|node| (node.control, node.cube.clone())).collect()))
    }

    fn progress<M: Machine>(&mut self, space: &Space<'_, M>, round: CubeRound<'_>) -> Progress {
        let more = 8 * PATIENCE;
        let lists = self.nodes.growth(more) + self.kept.growth(more) + self.waiting.growth(more);
        let effort = self.effort(space);
        let new = effort - std::mem::replace(&mut self.reported, effort);
        Progress {
            work: (new / EFFORT) as usize,
            coming: lists + space.growth(more),
            states: round.before + self.nodes.len(),
            waiting: self.waiting.len(),
            bytes: self.bytes + self.post.bytes(),
            ..round.progress(self.predicates)
        }
    }

    /// What was computed so far, counted: what one thing takes was measured once, for all machines.
    fn effort<M: Machine>(&self, space: &Space<'_, M>) -> u64 {
        let controls = (space.len() - self.controls) as u64;
        CUBE * self.nodes.len() as u64 + CONTROL * controls + self.post.effort()
    }

    /// Adds a cube unless it is covered; the path to it if it violates something.
    fn add<M: Machine>(
        &mut self,
        cube: BitCube,
        control: u32,
        parent: Option<(u32, u32)>,
        space: &mut Space<'_, M>,
        vocabulary: &mut Vocabulary,
    ) -> Result<Option<CubeSearchEnded>, NotLinearAt> {
        let kept = match space.class(control) {
            None => self.keep(&cube, control),
            Some(class) => self.keep_class(&cube, &class),
        };
        if !kept {
            return Ok(None);
        }
        let number = self.nodes.len() as u32;
        self.bytes += cube.bytes() + size_of::<Node>();
        self.nodes.push(Node { cube, control, parent, covered: false });
        self.waiting.push_back(number);
        if self.bounded && space.forgets(control) {
            return Ok(Some(CubeSearchEnded::Overflow(self.path(number))));
        }
        for (violation, atoms) in space.wrong(control, vocabulary)?.iter() {
            if self.allows(number, atoms) {
                return Ok(Some(CubeSearchEnded::Path(self.path(number), *violation, atoms.clone())));
            }
        }
        Ok(None)
    }

    /// Takes note of a cube that will be the next node, unless another one of its control covers it.
    fn keep(&mut self, cube: &BitCube, control: u32) -> bool {
        let here = self.take_kept(control);
        if here.iter().any(|other| self.nodes[*other as usize].cube.covers(cube)) {
            self.kept[control as usize] = here;
            return false;
        }
        let mut left = KeptNodes::with_capacity(here.len() + 1);
        for other in here {
            let node = &mut self.nodes[other as usize];
            node.covered = cube.covers(&node.cube);
            if !node.covered {
                left.push(other);
            }
        }
        left.push(self.nodes.len() as u32);
        self.kept[control as usize] = left;
        true
    }

    /// The same up to names: cubes of a class are compared under the names of its least control.
    fn keep_class(&mut self, cube: &BitCube, (class, by): &Class) -> bool {
        let image = |renaming: &u32| cube.renamed(self.predicates.renamed(*renaming));
        let images: SmallVec<[BitCube; 2]> = by.iter().map(image).collect();
        let mut here = self.take_kept(*class);
        let covers = |other: &u32| images.iter().any(|image| self.shown[*other as usize].covers(image));
        if here.iter().any(covers) {
            self.kept[*class as usize] = here;
            return false;
        }
        here.retain(|other| {
            let covered = images.iter().any(|image| image.covers(&self.shown[*other as usize]));
            self.nodes[*other as usize].covered = covered;
            !covered
        });
        here.push(self.nodes.len() as u32);
        self.kept[*class as usize] = here;
        self.bytes += cube.bytes();
        self.shown.extend(images.into_iter().next());
        true
    }

    fn take_kept(&mut self, number: u32) -> KeptNodes {
        if self.kept.len() <= number as usize {
            self.kept.resize(number as usize + 1, KeptNodes::new());
        }
        std::mem::take(&mut self.kept[number as usize])
    }

    /// Whether a cube has a state that satisfies the atoms.
    fn allows(&mut self, number: u32, atoms: &[Atom]) -> bool {
        if atoms.is_empty() {
            return true;
        }
        let judge = &mut *self.post.judge;
        judge.clear();
        for literal in self.nodes[number as usize].cube.literals() {
            judge.know(self.predicates.literal(literal));
        }
        atoms.iter().for_each(|atom| judge.require(atom));
        judge.is_consistent()
    }

    fn path(&self, number: u32) -> Vec<(u32, u32)> {
        let mut steps = Vec::new();
        let mut at = number;
        while let Some((parent, step)) = self.nodes[at as usize].parent {
            steps.push((step, self.nodes[at as usize].control));
            at = parent;
        }
        steps.reverse();
        steps
    }
}
