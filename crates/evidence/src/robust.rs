//! Checking that a program is robust, and what follows from it.
//!
//! The certificate is the set of all states under SC, and nothing else, of the program in which values that decide nothing
//! are 0 ([`Program::deciding_part`]). The checker
//!
//! 1. checks that the set is closed under SC, as any closed set;
//! 2. lists the attacks that can matter itself, from the program text ([`machine::attacks`]), one of all that
//!    differ in the names of threads only ([`machine::attack_classes`]);
//! 3. for each, closes the set of states of the attacker machine ([`machine::AttackAhead`]) that
//!    starts in the states of the certificate, and demands that none of them is a witness.
//!
//! The states of the attacks are not written down: to read them would take longer than to find
//! them again, and they would say nothing that the states under SC do not. Where step 2 leaves
//! no attack, no states are needed either, whatever the data.
//!
//! A robust program has the same *complete* runs under both models, up to their look, and that
//! decides most properties, but not all: see [`carries_over`].

use crate::check::check_set;
use crate::obligations::Looking;
use crate::{ClosedSet, Controls, Monitor, Patience, Progress, Rejected, Stop, Task, each};
use machine::{
    Accesses, Attack, AttackAhead, Attacked, Buffered, Delaying, Doubt, Full, Model, SC, State, StateSet,
    attack_classes, attacks,
};
use program::{Delay, Place, Program, PropertyKind, Thread, VarId};
use std::collections::BTreeSet;
use std::ops::ControlFlow;

/// A certificate with more delays than this is none of ours.
const MOST_DELAYS: usize = 1 << 12;

/// A proof that a program is robust: all its states under SC; nothing where the text says it.
#[derive(Debug, Default)]
pub struct RobustProof {
    /// The states.
    pub under_sc: Option<ClosedSet>,
}

impl RobustProof {
    /// How many states it lists.
    pub fn states(&self) -> usize {
        self.under_sc.as_ref().map_or(0, |set| set.states.len())
    }
}

/// Checks a proof that a program is robust. Under SC there is nothing to prove.
pub(crate) fn check_robust(
    task: &Task<'_>,
    proof: &RobustProof,
    monitor: &dyn Monitor,
) -> Result<(), Rejected> {
    if task.model.is_sc() {
        return Ok(());
    }
    let deciding = task.program.deciding_part();
    let attacks = Attacks::of(&deciding, task.model, monitor)?;
    match &proof.under_sc {
        None if attacks.is_empty() => Ok(()),
        None => Err(Rejected::Attack),
        Some(set) => {
            check_set(&Task { model: SC, program: &deciding, ..*task }, None, Looking::Away, set, monitor)?;
            attacks.fail_from(set, monitor)
        }
    }
}

/// The program that a certificate of robustness speaks of, if it may speak at all.
pub(crate) fn extended(
    task: &Task<'_>,
    delays: &[Delay],
    monitor: &dyn Monitor,
) -> Result<Program, Rejected> {
    if !task.model.like_tso(task.program) {
        return Err(Rejected::NotForModel);
    }
    if delays.len() > MOST_DELAYS {
        return Err(Rejected::Delay);
    }
    let mut program = task.program.clone();
    for delay in delays {
        monitor.observe(&Progress { phase: "checking", ..Progress::default() }).map_err(Rejected::Stopped)?;
        program = delay.apply(&program).map_err(|_| Rejected::Delay)?.program;
    }
    if carries_over(&program) { Ok(program) } else { Err(Rejected::CarriesNotOver) }
}

/// Whether a robust program that violates nothing under SC violates nothing under TSO.
///
/// Robustness is about complete runs: at their end nothing is buffered and nobody is inside an
/// atomic section. A property may look earlier. In a run under TSO up to a violation, buffers
/// can be emptied in two ways. *Draining* them: that keeps what threads know and where they
/// stand, and changes memory. *Taking back* the steps of each thread from its first buffered
/// store on, which nobody has seen yet: that keeps memory and who never buffers anything.
///
/// Failures and `finally` are about one thread, or about complete runs. (A thread that is inside an atomic
/// section stands in the way of draining, but nobody has seen what it did there: it may be taken back to
/// where that began, or do it again at the very end.) A `never` is looked at while nobody is inside one. It
/// is fine if it does not speak of memory (drain), or if it speaks only of memory and of threads that never
/// buffer (take back).
pub fn carries_over(program: &Program) -> bool {
    let nevers = program.properties.iter().filter(|property| property.kind == PropertyKind::Never);
    let mut fine = true;
    for property in nevers {
        let mut threads = BTreeSet::new();
        let mut memory: BTreeSet<VarId> = BTreeSet::new();
        property.cond.for_each_leaf(&mut |place| match *place {
            Place::At(thread, _) | Place::Register(thread, _) => drop(threads.insert(thread)),
            Place::Memory(variable) => drop(memory.insert(variable)),
            // Robust or not, under SC nothing is ever buffered.
            Place::Drained(_) => fine = false,
        });
        let drain = memory.is_empty();
        let buffers = |thread: &Thread| thread.edges().iter().any(|e| thread.delayed_store(e).is_some());
        let take_back = !threads.iter().any(|id| buffers(program.thread(*id)));
        fine &= drain || take_back;
    }
    fine
}

/// One pass over states under SC: calls the visitor on every state, with its number.
pub(crate) type Scan<'s, E> = dyn FnMut(&mut dyn FnMut(usize, &State) -> Result<(), E>) -> Result<(), E> + 's;

/// A state with controls numbered as by [`machine::number_controls`], not as by a dictionary.
fn renumbered(controls: &Controls, at: usize, state: &State) -> Result<State, Rejected> {
    let malformed = || Rejected::Malformed(at);
    let holder = controls.globals.get(state.global as usize).ok_or_else(malformed)?;
    let mut locals = Vec::with_capacity(state.locals.len());
    for (id, all) in state.locals.iter().zip(&controls.locals) {
        let local = all.get(*id as usize).filter(|local| local.drained()).ok_or_else(malformed)?;
        locals.push(local.loc.index() as u32);
    }
    let global = holder.map_or(0, |thread| thread.index() as u32 + 1);
    Ok(State { global, locals, values: state.values.clone() })
}

/// All attacks of a program that can matter, listed under a monitor's eyes.
pub fn attacks_of(
    program: &Program,
    model: Model,
    accesses: &Accesses,
    monitor: &dyn Monitor,
) -> Result<Vec<Attack>, Stop> {
    let mut patience = Patience::new(monitor, "looking for cycles");
    let found = attacks(program, model, accesses, &mut || patience.lasts());
    patience.found(found)
}

/// The attacks of a program that can matter, up to the names of threads.
pub(crate) struct Attacks<'p> {
    program: &'p Program,
    model: Model,
    accesses: Accesses,
    list: Vec<Attack>,
}

impl<'p> Attacks<'p> {
    pub(crate) fn of(
        program: &'p Program,
        model: Model,
        monitor: &dyn Monitor,
    ) -> Result<Attacks<'p>, Rejected> {
        let accesses = Accesses::of(program);
        let list = attacks_of(program, model, &accesses, monitor).map_err(Rejected::Stopped)?;
        let list = attack_classes(program, list).into_iter().map(|class| class.attack).collect();
        Ok(Attacks { program, model, accesses, list })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Checks that no attack from the states of a set has a witness, several attacks at a time.
    pub(crate) fn fail_from(&self, set: &ClosedSet, monitor: &dyn Monitor) -> Result<(), Rejected> {
        let threads = self.program.threads.len();
        let machine = Buffered::exact(self.program, SC);
        let failures = each(monitor.threads(), self.list.len(), |at| {
            let mut scan = |visit: &mut dyn FnMut(usize, &State) -> Result<(), Rejected>| {
                let mut state = State::default();
                for (at, packed) in set.states.iter().enumerate() {
                    if at % 4096 == 0 {
                        let progress = Progress { phase: "checking attacks", ..Progress::default() };
                        monitor.observe(&progress).map_err(Rejected::Stopped)?;
                    }
                    state.unpack(threads, packed).ok_or(Rejected::Malformed(at))?;
                    visit(at, &state)?;
                }
                Ok(())
            };
            match self.fails(&machine, &self.list[at], &set.controls, usize::MAX, &mut scan, monitor) {
                Ok(()) => ControlFlow::Continue(None),
                Err(why) => ControlFlow::Break(Some(why)),
            }
        });
        failures.into_iter().flatten().next().map_or(Ok(()), Err)
    }

    /// Checks that no attack from the states that a scan gives has a witness, in so many bytes.
    pub(crate) fn fail<E: From<Rejected>>(
        &self,
        controls: &Controls,
        budget: usize,
        scan: &mut Scan<'_, E>,
        monitor: &dyn Monitor,
    ) -> Result<(), E> {
        let machine = Buffered::exact(self.program, SC);
        let mut attacks = self.list.iter();
        attacks.try_for_each(|attack| self.fails(&machine, attack, controls, budget, scan, monitor))
    }

    fn fails<E: From<Rejected>>(
        &self,
        machine: &Buffered<'_>,
        attack: &Attack,
        controls: &Controls,
        budget: usize,
        scan: &mut Scan<'_, E>,
        monitor: &dyn Monitor,
    ) -> Result<(), E> {
        let delaying = Delaying::new(machine, self.model, attack);
        let attacking = AttackAhead::new(&delaying, &self.accesses);
        let mut closing = Closing { attacking, states: StateSet::new(), budget, packed: Vec::new() };
        scan(&mut |at, state| Ok(closing.begin(at, &renumbered(controls, at, state)?)?))?;
        Ok(closing.close(monitor)?)
    }
}

/// Closes the set of states of one attack.
struct Closing<'m, 'a> {
    attacking: AttackAhead<'m, 'a>,
    states: StateSet,
    budget: usize,
    packed: Vec<u8>,
}

impl Closing<'_, '_> {
    fn begin(&mut self, at: usize, under_sc: &State) -> Result<(), Rejected> {
        if !self.attacking.fits(under_sc) {
            return Err(Rejected::Malformed(at));
        }
        self.attacking.begin(under_sc).map_or(Ok(()), |state| self.add(&state))
    }

    fn add(&mut self, state: &Attacked) -> Result<(), Rejected> {
        self.packed.clear();
        self.attacking.pack(state, &mut self.packed);
        self.states.insert(&self.packed, None).map_err(|Full| Rejected::TooLarge)?;
        self.within_budget()
    }

    fn within_budget(&self) -> Result<(), Rejected> {
        let fits = self.states.bytes() + self.states.growth(1) <= self.budget;
        if fits { Ok(()) } else { Err(Rejected::Stopped(Stop::Memory)) }
    }

    fn close(&mut self, monitor: &dyn Monitor) -> Result<(), Rejected> {
        let mut state = Attacked::default();
        let mut at = self.states.first();
        let mut done = 0;
        while let Some(current) = at {
            let coming = self.states.growth(1);
            if done % 4096 == 0 || coming > 0 {
                let bytes = self.states.bytes();
                let progress =
                    Progress { phase: "checking attacks", states: done, bytes, coming, ..Default::default() };
                monitor.observe(&progress).map_err(Rejected::Stopped)?;
            }
            done += 1;
            self.attacking.unpack(self.states.get(current), &mut state);
            if self.attacking.is_witness(&state) {
                return Err(Rejected::Attack);
            }
            self.attacking.prepare(&state);
            let mut doubted: Option<Doubt> = None;
            let mut packed = Vec::new();
            let (attacking, states) = (&self.attacking, &mut self.states);
            let mut full = false;
            attacking.successors(
                |doubt| doubted = Some(doubt),
                |_, next| {
                    packed.clear();
                    attacking.pack(next, &mut packed);
                    full |= states.insert(&packed, None).is_err();
                },
            );
            if let Some(doubt) = doubted {
                return Err(Rejected::Doubt(done - 1, doubt));
            }
            if full {
                return Err(Rejected::TooLarge);
            }
            self.within_budget()?;
            at = self.states.next(current);
        }
        Ok(())
    }
}
