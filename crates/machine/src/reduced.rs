//! The states that a reduced search explores, which its proof lists: one choice for search and checker alike.

use crate::{
    Acting, Buffered, Cartesian, DataDomain, GapStepper, Gaps, GoingAhead, InReach, Settled, Stepper,
    Stubborn, Symmetric,
};
use program::Renaming;

/// By which rules steps are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rules {
    /// Threads go as far as they can alone ([`Settled`]).
    pub settled: bool,
    /// Who acts in a state ([`Stubborn`]).
    pub acting: Acting,
    /// Those who act take several steps at once ([`Cartesian`]).
    pub runs: bool,
    /// Registers that nothing reads any more are part of states, which shows how many states it saves that otherwise they are not.
    pub dead_registers: bool,
}

impl Rules {
    /// Whether nothing is left out.
    pub fn is_none(self) -> bool {
        self == Rules::default()
    }

    /// The machine whose states are listed.
    pub fn on<'p>(self, machine: Buffered<'p>) -> Buffered<'p> {
        if self.dead_registers { machine.with_dead_registers() } else { machine }
    }
}

/// Something to do with a domain over the exact machine, whichever it is.
pub trait OnDomain {
    /// What comes of it.
    type Done;
    /// Does it.
    fn run<'m, 'p: 'm>(self, domain: impl DataDomain<'m, Machine = Buffered<'p>>) -> Self::Done;
}

/// Does something with states over concrete values, by these rules and up to renamings of threads; nothing if a
/// rule is not for the program or a renaming does not preserve it.
pub fn on_reduced<W: OnDomain>(
    machine: &Buffered<'_>,
    rules: Rules,
    renamings: &[Renaming],
    work: W,
) -> Option<W::Done> {
    let machine = &rules.on(machine.clone());
    match (rules.settled, rules.acting, rules.runs) {
        (false, Acting::Everybody, false) => renamed(Stepper::new(machine), renamings, work),
        (true, Acting::Everybody, false) => renamed(Settled::new(machine)?, renamings, work),
        (false, Acting::InReach, false) => renamed(InReach::new(Stepper::new(machine))?, renamings, work),
        (true, Acting::InReach, false) => renamed(InReach::new(Settled::new(machine)?)?, renamings, work),
        (false, few, false) => renamed(Stubborn::new(Stepper::new(machine), few)?, renamings, work),
        (true, few, false) => renamed(Stubborn::new(Settled::new(machine)?, few)?, renamings, work),
        (false, few, true) => renamed(Cartesian::new(machine, few)?, renamings, work),
        (true, _, true) => None,
    }
}

/// The same for normal forms of values: threads go ahead ([`GoingAhead`]) or do not, everybody acts, and dead registers are left out. Nothing if the forms are too
/// coarse for the program or another rule is asked for; nothing inside if the rule is not for the program or a renaming
/// does not preserve it.
pub fn on_kinds<W: OnDomain>(
    machine: &Buffered<'_>,
    gaps: Gaps,
    rules: Rules,
    renamings: &[Renaming],
    work: W,
) -> Option<Option<W::Done>> {
    let kinds = GapStepper::with(machine, gaps).filter(|_| !rules.dead_registers)?;
    match (rules.settled, rules.acting, rules.runs) {
        (false, Acting::Everybody, false) => Some(renamed(kinds, renamings, work)),
        (true, Acting::Everybody, false) => {
            Some(GoingAhead::new(kinds).and_then(|kinds| renamed(kinds, renamings, work)))
        }
        _ => None,
    }
}

fn renamed<'m, 'p: 'm, W: OnDomain>(
    domain: impl DataDomain<'m, Machine = Buffered<'p>>,
    renamings: &[Renaming],
    work: W,
) -> Option<W::Done> {
    if renamings.is_empty() {
        return Some(work.run(domain));
    }
    Some(work.run(Symmetric::new(domain, renamings)?))
}
