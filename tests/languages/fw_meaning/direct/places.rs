//! Where numbers are: in memory and in the registers of whoever runs.
//!
//! Memory is `x0`, `x1`, `a`, `g`, `s` and `p`, one after the other; a thread has `r0`, `r1`, `r2`, `m` and `k`.

use super::{Direct, Outcome};
use program::Int;
use support::texts::{CELLS, E, PAIR_SIZE, REGISTERS, Root, SMALL, Step, Target, VARIABLES};

/// What one call has for itself.
#[derive(Clone)]
pub struct Frame {
    pub registers: Vec<Int>,
    /// The places of its caller that `u` and `v` stand for.
    pub lent: Vec<Place>,
}

/// Where a number is. An index outside its array is a violation when somebody looks there.
#[derive(Clone, Copy)]
pub enum Place {
    Memory(Option<usize>),
    /// Of the frame with this number.
    Register(usize, Option<usize>),
}

impl Place {
    /// The shared variable that this is.
    pub fn variable(self) -> Result<usize, Outcome> {
        match self {
            Place::Memory(at) => at.ok_or(Outcome::Bounds),
            Place::Register(..) => unreachable!("atomic operations work on memory"),
        }
    }
}

pub fn whole_thread() -> Frame {
    let registers = [vec![0; REGISTERS], vec![0, 1], vec![1, 0, 0]].concat();
    Frame { registers: registers.into_iter().map(Int::from).collect(), lent: Vec::new() }
}

pub fn initial() -> Vec<Int> {
    let (scalars, cells, grid) = (vec![0, 1], vec![2, 0, 1], vec![0, 0, 1, 2]);
    let (record, records) = (vec![1, 0, 0], vec![0, 1, 0, 2, 1, 1]);
    [scalars, cells, grid, record, records].concat().into_iter().map(Int::from).collect()
}

/// The cell of the array `a` with this index.
pub fn cell(index: &Int) -> Option<usize> {
    within(index, CELLS).map(|at| VARIABLES + at)
}

fn within(index: &Int, length: usize) -> Option<usize> {
    (0..length).find(|at| Int::from(*at) == *index)
}

/// What is inside something that a path enters.
#[derive(Clone, Copy)]
enum Shape {
    Number,
    /// So many numbers.
    Cells,
    Grid,
    Pair,
    Pairs,
}

impl Direct<'_> {
    pub fn register(&self, r: usize) -> Int {
        self.frames[self.frames.len() - 1].registers[r].clone()
    }

    pub fn set_register(&mut self, r: usize, value: Int) {
        let top = self.frames.len() - 1;
        self.frames[top].registers[r] = value;
    }

    /// The place that is meant, after its indices were evaluated.
    pub fn place(&mut self, target: &Target) -> Result<Place, Outcome> {
        Ok(match target {
            Target::Variable(v) => Place::Memory(Some(*v)),
            Target::Cell(index) => Place::Memory(cell(&self.eval(index)?)),
            Target::Register(r) => Place::Register(self.frames.len() - 1, Some(*r)),
            Target::Part(root, path) => self.inside(*root, path)?,
        })
    }

    pub fn inside(&mut self, root: Root, path: &[Step]) -> Result<Place, Outcome> {
        let array = VARIABLES + CELLS;
        let (base, shape) = match root {
            Root::Grid => (array, Shape::Grid),
            Root::Record => (array + SMALL * SMALL, Shape::Pair),
            Root::Records => (array + SMALL * SMALL + PAIR_SIZE, Shape::Pairs),
            Root::OwnCells => (REGISTERS, Shape::Cells),
            Root::OwnRecord => (REGISTERS + SMALL, Shape::Pair),
            Root::Lent(which) => return Ok(self.frames[self.frames.len() - 1].lent[which]),
        };
        let skipped = self.skipped(shape, path)?;
        let at = skipped.map(|skipped| base + skipped);
        Ok(match Root::OWN.contains(&root) {
            true => Place::Register(self.frames.len() - 1, at),
            false => Place::Memory(at),
        })
    }

    /// How many numbers lie before the one that the path leads to.
    fn skipped(&mut self, mut shape: Shape, path: &[Step]) -> Result<Option<usize>, Outcome> {
        let mut skipped = Some(0);
        for step in path {
            let (inner, before) = match (shape, step) {
                (Shape::Pair, Step::One) => (Shape::Number, Some(0)),
                (Shape::Pair, Step::Two) => (Shape::Cells, Some(1)),
                (Shape::Cells, Step::Index(e)) => (Shape::Number, self.entered(e, 1)?),
                (Shape::Grid, Step::Index(e)) => (Shape::Cells, self.entered(e, SMALL)?),
                (Shape::Pairs, Step::Index(e)) => (Shape::Pair, self.entered(e, PAIR_SIZE)?),
                _ => unreachable!("paths fit"),
            };
            shape = inner;
            skipped = skipped.zip(before).map(|(a, b)| a + b);
        }
        Ok(skipped)
    }

    fn entered(&mut self, index: &E, size: usize) -> Result<Option<usize>, Outcome> {
        Ok(within(&self.eval(index)?, SMALL).map(|at| at * size))
    }

    pub fn read(&mut self, place: Place) -> Result<Int, Outcome> {
        match place {
            Place::Memory(at) => Ok(self.load(at.ok_or(Outcome::Bounds)?)),
            Place::Register(frame, at) => {
                Ok(self.frames[frame].registers[at.ok_or(Outcome::Bounds)?].clone())
            }
        }
    }

    pub fn write(&mut self, place: Place, value: Int) -> Result<(), Outcome> {
        match place {
            Place::Memory(at) => self.store(at.ok_or(Outcome::Bounds)?, value),
            Place::Register(frame, at) => {
                self.frames[frame].registers[at.ok_or(Outcome::Bounds)?] = value;
            }
        }
        Ok(())
    }
}
