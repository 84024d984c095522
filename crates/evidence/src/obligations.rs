//! The obligations of a closed set, state by state: no violation, and every successor in the set.
//!
//! The successors are those of a machine, on what a domain knows of its slots: values as they are,
//! or normal forms of the gap abstraction. A set in memory answers whether it holds a state; one in
//! a file can only be read from the beginning, again and again.
//!
//! Every state is unpacked and its successors are those that the domain lists: what search remembers of steps
//! ([`machine::Remembered`]) is not believed here.

use crate::{Controls, ControlsOf, Rejected};
use machine::{DataDomain, Doubt, Full, Lookup, Machine, SHARDS, State, StateSet, shard_of_hash, state_hash};
use std::hint::black_box;
use std::ops::Range;

/// Whether states may violate something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looking {
    /// They may not.
    ForViolations,
    /// It does not matter.
    Away,
}

/// The obligations of a closed set.
pub(crate) struct Obligations<'a, D, G, L> {
    domain: D,
    looking: Looking,
    controls: &'a Controls<G, L>,
    state: State,
    next: State,
    packed: Vec<u8>,
}

impl<'a, 'm, D, G: Clone, L: Clone> Obligations<'a, D, G, L>
where
    D: DataDomain<'m, Machine: Machine<Global = G, Local = L>>,
{
    pub(crate) fn new(
        mut domain: D,
        looking: Looking,
        controls: &'a Controls<G, L>,
    ) -> Result<Obligations<'a, D, G, L>, Rejected> {
        controls.number(domain.stepper_mut())?;
        let (state, next) = (State::default(), State::default());
        Ok(Obligations { domain, looking, controls, state, next, packed: Vec::new() })
    }

    /// The initial states, packed.
    pub(crate) fn initial(&mut self) -> Result<Vec<Vec<u8>>, Rejected> {
        let pack = |state: State| {
            let mut packed = Vec::new();
            state.pack(&mut packed);
            packed
        };
        let (states, doubts) = self.domain.initial();
        doubts.first().map_or(Ok(states.map(pack).collect()), |doubt| Err(Rejected::Doubt(0, *doubt)))
    }

    /// Checks one state and hands its successors, packed, to `visit`.
    pub(crate) fn visit(
        &mut self,
        at: usize,
        state: &[u8],
        visit: &mut dyn FnMut(&[u8]),
    ) -> Result<(), Rejected> {
        let unpacked = self.state.unpack(self.domain.stepper().thread_count(), state);
        if unpacked.is_none() || !self.controls.name(&self.state) || !self.domain.has(&self.state) {
            return Err(Rejected::Malformed(at));
        }
        match self.domain.violation(&self.state) {
            _ if self.looking == Looking::Away => {}
            Ok(None) => {}
            Ok(Some(violation)) => return Err(Rejected::Violated(at, violation)),
            Err(doubt) => return Err(Rejected::Doubt(at, doubt)),
        }
        self.domain.prepare(&self.state);
        let mut found = None;
        let doubt = |doubt: Doubt| found = Some(doubt);
        let packed = &mut self.packed;
        self.domain.successors(&self.state, &mut self.next, doubt, |_, _, next| {
            visit(packed_into(packed, next));
        });
        found.map_or(Ok(()), |doubt| Err(Rejected::Doubt(at, doubt)))
    }
}

/// States that must be in a set, by shard: so that what is looked up together lies together, and waits for memory
/// together.
pub(crate) struct NeededStates {
    /// Each state behind its length and the upper half of its hash; the shard says what else has to be known of that.
    shards: Vec<Vec<u8>>,
}

/// So many states are looked up at a time.
const TOGETHER: usize = 32;

impl NeededStates {
    pub(crate) fn new() -> NeededStates {
        NeededStates { shards: vec![Vec::new(); SHARDS] }
    }

    #[inline]
    pub(crate) fn add(&mut self, state: &[u8]) {
        self.add_hashed(state, state_hash(state));
    }

    /// The same for a state with this hash.
    #[inline]
    pub(crate) fn add_hashed(&mut self, state: &[u8], hash: u64) {
        let shard = &mut self.shards[shard_of_hash(hash)];
        shard.extend_from_slice(&(hash >> 32 << 32 | state.len() as u64).to_le_bytes());
        shard.extend_from_slice(state);
    }

    /// Whether a set has them all. None are needed afterwards.
    pub(crate) fn all_in(&mut self, set: &StateSet) -> bool {
        let mut together: Vec<(u64, Range<usize>)> = Vec::with_capacity(TOGETHER);
        let mut lookups: Vec<Lookup> = Vec::with_capacity(TOGETHER);
        let mut all = true;
        for (number, shard) in self.shards.iter_mut().enumerate() {
            let mut at = 0;
            while let Some(head) = shard[at..].first_chunk().map(|head| u64::from_le_bytes(*head)) {
                let state = at + 8..at + 8 + head as u32 as usize;
                at = state.end;
                together.push((head >> 32 << 32 | number as u64, state));
                if together.len() == TOGETHER || at == shard.len() {
                    black_box(together.iter().fold(0, |sum, (hash, _)| sum ^ set.touch_table(*hash)));
                    lookups.clear();
                    lookups.extend(together.iter().map(|(hash, _)| set.look_by_hash(*hash)));
                    black_box(lookups.iter().fold(0, |sum, lookup| sum ^ set.touch(lookup)));
                    let has = |((_, state), lookup): ((u64, Range<usize>), &Lookup)| {
                        set.is_first(lookup, &shard[state.clone()]) || set.contains_at(*lookup, &shard[state])
                    };
                    // Every one is looked up: what is left would not be of the next batch.
                    all &= together.drain(..).zip(&lookups).map(has).fold(true, |all, has| all & has);
                }
            }
            shard.clear();
        }
        all
    }
}

/// Checks a closed set that can only be read from the beginning, again and again. Successors
/// are collected up to a budget of bytes, then one pass over the set must find them all.
pub(crate) fn check_stream<'m, D: DataDomain<'m>, E: From<Rejected>>(
    domain: D,
    looking: Looking,
    controls: &ControlsOf<D::Machine>,
    budget: usize,
    mut scan: impl FnMut(&mut dyn FnMut(usize, &State) -> Result<(), E>) -> Result<(), E>,
) -> Result<(), E> {
    let mut obligations = Obligations::new(domain, looking, controls)?;
    let initial = obligations.initial()?;
    let mut needed = StateSet::new();
    for state in &initial {
        needed.insert(state, None).map_err(|Full| Rejected::TooLarge)?;
    }
    let mut checked = 0;
    let mut packed = Vec::new();
    loop {
        // Collect what the next states need, as far as the budget goes, but of one state at least.
        let start = checked;
        let mut room = true;
        scan(&mut |at, state| {
            room &= at <= start || needed.bytes() + needed.growth(1) <= budget;
            if at < start || !room {
                return Ok(());
            }
            checked = at + 1;
            let mut full = false;
            let mut need = |next: &[u8]| full |= needed.insert(next, None).is_err();
            obligations.visit(at, packed_into(&mut packed, state), &mut need)?;
            if full { Err(Rejected::TooLarge.into()) } else { Ok(()) }
        })?;
        let mut found = StateSet::new();
        scan(&mut |_, state| {
            let state = packed_into(&mut packed, state);
            if needed.contains(state) {
                found.insert(state, None).map_err(|Full| Rejected::TooLarge)?;
            }
            Ok(())
        })?;
        if initial.iter().any(|state| needed.contains(state) && !found.contains(state)) {
            return Err(Rejected::InitialMissing.into());
        }
        if found.len() < needed.len() {
            // Which state was it? Look once more.
            scan(&mut |at, state| {
                let mut missing = false;
                if at >= start && at < checked {
                    let mut look = |next: &[u8]| missing |= !found.contains(next);
                    obligations.visit(at, packed_into(&mut packed, state), &mut look)?;
                }
                if missing { Err(Rejected::SuccessorMissing(at).into()) } else { Ok(()) }
            })?;
            return Err(Rejected::SuccessorMissing(start).into());
        }
        if room {
            return Ok(());
        }
        needed = StateSet::new();
    }
}

/// A state, packed; what was in `packed` before is gone.
pub(crate) fn packed_into<'a>(packed: &'a mut Vec<u8>, state: &State) -> &'a [u8] {
    packed.clear();
    state.pack(packed);
    packed
}
