//! Which of the fences that a program has are needed?
//!
//! All of them are taken out, and each may come back just where it was; so the search for the cheapest
//! fences finds the cheapest part of them. What a store fence does, only models that reorder
//! stores can tell.

use super::candidates::{FencePoint, grouped};
use super::{Costs, FenceSearch, FencesFound, found_by};
use crate::ask::Bug;
use crate::{Engine, FenceOptions, Run};
use evidence::Task;
use machine::Model;
use program::{Fence, Op, Point, Program, Span, Strength};
use std::collections::BTreeSet;

/// A program without some of its fences, and those.
#[derive(Debug)]
pub struct RelaxedProgram {
    /// The program with nothing in their places.
    pub program: Program,
    /// The fences that were taken out.
    pub fences: Vec<FencePoint>,
}

impl RelaxedProgram {
    /// Takes the fences out that are written in these places, as far as the model knows them.
    pub fn of(program: &Program, places: &BTreeSet<Span>, model: Model, costs: &Costs) -> RelaxedProgram {
        let mut relaxed = program.clone();
        let mut fences = Vec::new();
        for (fence, cost) in [(Fence::Full, costs.full), (Fence::Store, costs.store)] {
            if fence == Fence::Store && !model.reorders_stores() {
                continue;
            }
            let here = |op: &Op, span: Span| *op == Op::Fence(fence) && places.contains(&span);
            // A store that is ordered itself has a full fence besides; as much stays of it.
            let alone = |span: Span| fence == Fence::Full || !stores(program, span);
            let wanted = |op: &Op, span: Span| here(op, span) && alone(span);
            fences.extend(grouped(program, Strength::Fence(fence), cost, (costs, &[]), &|thread| {
                let edges = thread.edges().iter().enumerate();
                let fences = edges.filter(|(_, edge)| wanted(&edge.op, edge.span));
                fences
                    .map(|(at, edge)| (Point::After(program::EdgeId::new(at)), edge.span, edge.from))
                    .collect()
            }));
            relaxed = relaxed.without_steps(&wanted);
        }
        fences.sort_by_key(|point| (point.span, point.strength));
        RelaxedProgram { program: relaxed, fences }
    }
}

/// Whether a statement stores something.
fn stores(program: &Program, span: Span) -> bool {
    let mut edges = program.threads.iter().flat_map(|thread| thread.edges());
    edges.any(|edge| edge.span == span && matches!(edge.op, Op::Store(..)))
}

/// The cheapest part of a program's fences that makes it safe under a model; `task` is about the program
/// without them.
pub fn keep_fences(
    task: &Task<'_>,
    fences: Vec<FencePoint>,
    engine: &dyn Engine,
    options: &FenceOptions<'_>,
    run: &Run<'_>,
) -> Result<FencesFound, Bug> {
    found_by(FenceSearch::among(task, fences, engine, options, run))
}
