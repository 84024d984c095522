//! The states that a reduced search explores, which its proof lists: one choice for search and checker alike.

use crate::{Buffered, DataDomain, Settled, Stepper, Symmetric};
use program::Renaming;

/// Something to do with a domain over the exact machine, whichever it is.
pub trait OnDomain {
    /// What comes of it.
    type Done;
    /// Does it.
    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done;
}

/// Does something with states over concrete values, settled or not, up to renamings of threads; nothing if the
/// machine is not the exact one or a renaming does not preserve the program.
pub fn on_reduced<W: OnDomain>(
    machine: &Buffered<'_>,
    settled: bool,
    renamings: &[Renaming],
    work: W,
) -> Option<W::Done> {
    Some(match (settled, renamings.is_empty()) {
        (false, true) => work.run(Stepper::new(machine)),
        (true, true) => work.run(Settled::new(machine)?),
        (false, false) => work.run(Symmetric::new(Stepper::new(machine), renamings)?),
        (true, false) => work.run(Symmetric::new(Settled::new(machine)?, renamings)?),
    })
}
