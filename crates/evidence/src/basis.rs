//! Checks a proof that goes backwards: a finite basis of a set that holds every violation.
//!
//! The set consists of all states that have what some element of the basis demands
//! ([`machine::Backward`]). The obligations: every violation is in it; whoever can step into it is in it
//! already, as far as a state can be reached at all; no run starts in it. Then no run ever enters it. What
//! violates, what leads there and where runs start are found anew from the program; of the certificate
//! only the elements are believed to be there. If they are listed up to the names of threads, what is missing may be
//! there under other names, provided that the renamings preserve the program ([`Backward::up_to`]).

use crate::{BasisProof, Monitor, Patience, Progress, Rejected, Stop, Stores, Task};
use machine::{Backward, Basis, GoOn, NoView};
use program::Renaming;
use std::fmt;

/// How many elements pass between two looks at the monitor.
const PATIENCE: usize = 256;

/// Why a basis proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BasisFlaw {
    /// The program's data cannot be seen to be finite.
    NotFinite,
    /// This element does not fit the program.
    Malformed(usize),
    /// A violation is missing.
    ViolationMissing,
    /// What can step into what this element demands is missing.
    PredecessorMissing(usize),
    /// A run may start with what this element demands.
    Starts(usize),
}

impl fmt::Display for BasisFlaw {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            BasisFlaw::NotFinite => write!(f, "the program's data are not seen to be finite"),
            BasisFlaw::Malformed(at) => write!(f, "element {} does not fit the program", at + 1),
            BasisFlaw::ViolationMissing => write!(f, "a violation is in none of the elements"),
            BasisFlaw::PredecessorMissing(at) => write!(f, "a step to element {} comes from outside", at + 1),
            BasisFlaw::Starts(at) => write!(f, "a run may start in element {}", at + 1),
        }
    }
}

impl From<BasisFlaw> for Rejected {
    fn from(flaw: BasisFlaw) -> Rejected {
        Rejected::Basis(flaw)
    }
}

/// The program as the proof sees it, up to these names, if it can be seen so.
pub(crate) fn backward<'p>(
    task: &Task<'p>,
    stores: Stores,
    renamings: &[Renaming],
    monitor: &dyn Monitor,
) -> Result<Backward<'p>, Rejected> {
    let mut view = seen(monitor, |go_on| match stores {
        Stores::InOrder => Backward::new(task.program, task.model, go_on),
        Stores::Explored => Backward::explored(task.program, task.model, go_on),
        Stores::Counted => Backward::multisets(task.program, task.model, go_on),
    })?;
    if view.up_to(renamings) { Ok(view) } else { Err(Rejected::Renaming) }
}

/// What a view that is for finite data gives, unless the monitor stops it.
pub(crate) fn seen<T>(
    monitor: &dyn Monitor,
    see: impl FnOnce(&mut GoOn<'_>) -> Result<T, NoView>,
) -> Result<T, Rejected> {
    let mut patience = Patience::new(monitor, "finding all values");
    let found = see(&mut || patience.lasts());
    match found {
        Ok(seen) => Ok(seen),
        Err(NoView::Unbounded(_)) => Err(BasisFlaw::NotFinite.into()),
        Err(NoView::Stopped) => patience.found(None).map_err(Rejected::Stopped),
    }
}

/// Checks a basis.
pub(crate) fn check_basis(
    task: &Task<'_>,
    BasisProof { stores, renamings, elements }: &BasisProof,
    monitor: &dyn Monitor,
) -> Result<(), Rejected> {
    let view = backward(task, *stores, renamings, monitor)?;
    let mut basis = Basis::new();
    for (at, element) in elements.iter().enumerate() {
        if !view.has(element) {
            return Err(BasisFlaw::Malformed(at).into());
        }
        if view.may_start(element) {
            return Err(BasisFlaw::Starts(at).into());
        }
        observe(at, &basis, monitor).map_err(Rejected::Stopped)?;
        if basis.covering(&view, element).is_none() {
            basis.add(&view, element.clone());
        }
    }
    for (element, _) in seen(monitor, |go_on| view.violations(go_on))? {
        if basis.covering(&view, &element).is_none() {
            return Err(BasisFlaw::ViolationMissing.into());
        }
    }
    for (at, element) in elements.iter().enumerate() {
        observe(at, &basis, monitor).map_err(Rejected::Stopped)?;
        let mut missing = false;
        view.predecessors(element, &mut |_, before| {
            missing = missing || (!view.covers(element, &before) && basis.covering(&view, &before).is_none());
        });
        if missing {
            return Err(BasisFlaw::PredecessorMissing(at).into());
        }
    }
    Ok(())
}

fn observe(at: usize, basis: &Basis, monitor: &dyn Monitor) -> Result<(), Stop> {
    if at.is_multiple_of(PATIENCE) {
        let progress =
            Progress { phase: "checking", states: at, bytes: 2 * basis.bytes(), ..Progress::default() };
        monitor.observe(&progress)?;
    }
    Ok(())
}
