//! Proofs without the numbers that grow.
//!
//! Where numbers grow for ever they often say who goes first and not whether anything goes wrong. So we forget them, with all that
//! is computed from them, and compare them no more ([`Program::without_values`]). What is left is finite, and is
//! explored over concrete values with everything that can be left out there. If it is safe, so is the program. If it is not, nothing is
//! known: the comparisons matter.

use crate::Run;
use crate::ranges::{growing, growing_variables};
use crate::reduce::LeftOut;
use crate::search::{Ended, Limits, search};
use crate::stepping::Stepping;
use evidence::{ClosedSet, Statistics, Task, Verdict};
use machine::{Buffered, DataDomain, OnDomain};
use program::{Program, VarId};

/// No more states than this are explored.
const MOST: usize = 1 << 22;

/// A proof without the numbers that grow, if there are such numbers and it succeeds.
pub(crate) fn without_growth(task: &Task<'_>, run: &Run<'_>) -> Option<(Verdict, Statistics)> {
    let (forgotten, program) = without_growing_numbers(task.program)?;
    run.monitor.note(&format!("tries without the values of {}", names(task.program, &forgotten)));
    let task = Task { program: &program, ..*task };
    let left_out = LeftOut::usual(&task, run.reduction);
    let (set, statistics) = left_out.on(&task.machine(), Finite { run })??;
    let statistics = Statistics { method: Some(left_out.method_with_forgetting()), ..statistics };
    Some((Verdict::Safe(left_out.proof(forgotten, None, set)), statistics))
}

/// What to forget so that nothing grows any more, and the program without it.
fn without_growing_numbers(program: &Program) -> Option<(Vec<VarId>, Program)> {
    let grow = growing_variables(program);
    if grow.is_empty() {
        return None;
    }
    let forgotten = program.computed_from(&grow);
    let without = program.without_values(&forgotten).filter(|program| growing(program).is_none())?;
    Some((forgotten, without))
}

fn names(program: &Program, variables: &[VarId]) -> String {
    let names: Vec<&str> = variables.iter().map(|v| program.variable(*v).name.as_str()).collect();
    names.join(", ")
}

/// Explores what is left: all of it, if nothing is violated and it has an end.
struct Finite<'a> {
    run: &'a Run<'a>,
}

impl OnDomain for Finite<'_> {
    type Done = Option<(ClosedSet, Statistics)>;

    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done {
        let mut system = Stepping::hunting(domain);
        let limits = Limits { states: Some(MOST), ..self.run.limits() };
        let found = search(&mut system, &limits);
        let statistics =
            Statistics { states: found.states.len(), k: Some(found.bound), ..Statistics::default() };
        let whole = matches!(found.ended, Ended::Complete | Ended::Deep) && system.doubts.take().is_empty();
        whole.then(|| (system.closed_set(found.states), statistics))
    }
}
