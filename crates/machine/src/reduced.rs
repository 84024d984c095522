//! The states that a reduced search explores, which its proof lists: one choice for search and checker alike.

use crate::reduced_domain::AnyReduced;
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
    /// The result.
    type Done;
    /// Does it on this domain.
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
    match (rules.settled, rules.acting, rules.runs, renamings) {
        (false, Acting::Everybody, false, []) => Some(work.run(Stepper::new(machine))),
        _ => Some(work.run(reduced(machine, rules, renamings)?)),
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
    match (rules.settled, rules.acting, rules.runs, renamings) {
        (false, Acting::Everybody, false, []) => Some(Some(work.run(kinds))),
        (settled, Acting::Everybody, false, _) => {
            Some(reduced_kinds(kinds, settled, renamings).map(|kinds| work.run(kinds)))
        }
        _ => None,
    }
}

type AnyExact<'m, 'p> = AnyReduced<'m, Buffered<'p>>;

/// Concrete values by some rules, up to renamings.
fn reduced<'m, 'p: 'm>(
    machine: &'m Buffered<'p>,
    rules: Rules,
    renamings: &[Renaming],
) -> Option<AnyExact<'m, 'p>> {
    let domain: AnyExact<'m, 'p> = match (rules.settled, rules.acting, rules.runs) {
        (false, Acting::Everybody, false) => return renamed(Stepper::new(machine), renamings),
        (true, Acting::Everybody, false) => Box::new(Settled::new(machine)?),
        (false, Acting::InReach, false) => Box::new(InReach::new(Stepper::new(machine))?),
        (true, Acting::InReach, false) => Box::new(InReach::new(Box::new(Settled::new(machine)?))?),
        (false, few, false) => Box::new(Stubborn::new(Stepper::new(machine), few)?),
        (true, few, false) => Box::new(Stubborn::new(Box::new(Settled::new(machine)?), few)?),
        (false, few, true) => Box::new(Cartesian::new(machine, few)?),
        (true, _, true) => return None,
    };
    if renamings.is_empty() { Some(domain) } else { renamed(domain, renamings) }
}

/// Normal forms, settled or not, up to renamings.
fn reduced_kinds<'m, 'p: 'm>(
    kinds: GapStepper<'m, Buffered<'p>>,
    settled: bool,
    renamings: &[Renaming],
) -> Option<AnyExact<'m, 'p>> {
    if !settled {
        return renamed(kinds, renamings);
    }
    let domain: AnyExact<'m, 'p> = Box::new(GoingAhead::new(kinds)?);
    if renamings.is_empty() { Some(domain) } else { renamed(domain, renamings) }
}

fn renamed<'m, 'p: 'm>(
    domain: impl DataDomain<'m, Machine = Buffered<'p>> + 'm,
    renamings: &[Renaming],
) -> Option<AnyExact<'m, 'p>> {
    Some(Box::new(Symmetric::new(domain, renamings)?))
}
