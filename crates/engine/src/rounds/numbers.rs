//! Numbers of controls that all workers agree on.
//!
//! Every worker numbers controls as it meets them, so its own numbers mean nothing to others. With every round the
//! controls that have no number yet are told to all, put into the order of what they are, and get the
//! next numbers when that arrives. Which controls those are depends on the states of the round only; so the numbers are the same
//! however states are spread over workers. States that name a control before it has a number wait for it.

use evidence::Controls;
use machine::{Buffered, Entry, Local, Machine, Numbering, State, Stepper};
use program::{Loc, ThreadId, VarId};
use std::collections::BTreeSet;

/// Stands for none.
const NO_NUMBER: u32 = u32::MAX;

/// What numbers mean.
pub(super) struct Numbers {
    /// To all.
    pub(super) agreed: Controls,
    /// By the worker's own number, that of all.
    shared: NumberTables,
    /// By that of all, the worker's own.
    own: NumberTables,
    packing: Vec<u32>,
}

#[derive(Default)]
struct NumberTables {
    globals: Vec<u32>,
    locals: Vec<Vec<u32>>,
}

impl Numbers {
    /// Agreed are these.
    pub(super) fn new(controls: &Controls, stepper: &mut Stepper<'_, Buffered<'_>>) -> Numbers {
        let threads = controls.locals.len();
        let empty = || NumberTables { globals: Vec::new(), locals: vec![Vec::new(); threads] };
        let agreed = Controls { globals: Vec::new(), locals: vec![Vec::new(); threads] };
        let mut numbers = Numbers { agreed, shared: empty(), own: empty(), packing: Vec::new() };
        for global in &controls.globals {
            numbers.agree_on_global(*global, stepper);
        }
        for (thread, locals) in controls.locals.iter().enumerate() {
            locals.iter().for_each(|local| numbers.agree_on_local(thread, local.clone(), stepper));
        }
        numbers
    }

    fn agree_on_global(&mut self, global: Option<ThreadId>, stepper: &mut Stepper<'_, Buffered<'_>>) {
        let own = stepper.global_id(&global);
        let Numbers { agreed, shared, own: owns, .. } = self;
        agree_on(&mut agreed.globals, &mut shared.globals, &mut owns.globals, global, own);
    }

    fn agree_on_local(&mut self, thread: usize, local: Local, stepper: &mut Stepper<'_, Buffered<'_>>) {
        let own = stepper.local_id(ThreadId::new(thread), &local);
        let Numbers { agreed, shared, own: owns, .. } = self;
        let (agreed, owns) = (&mut agreed.locals[thread], &mut owns.locals[thread]);
        agree_on(agreed, &mut shared.locals[thread], owns, local, own);
    }

    /// Appends a state's bytes, the same for all workers; not if a control has no number yet.
    #[inline]
    pub(super) fn pack(&mut self, state: &State, out: &mut Vec<u8>) -> bool {
        let Some(global) = number_of(&self.shared.globals, state.global) else { return false };
        self.packing.clear();
        for (own, shared) in state.locals.iter().zip(&self.shared.locals) {
            let Some(number) = number_of(shared, *own) else { return false };
            self.packing.push(number);
        }
        state.pack_as(global, &self.packing, out);
        true
    }

    /// Reads a state back, in the worker's own numbers; whether that could be.
    #[inline]
    pub(super) fn unpack(&self, bytes: &[u8], state: &mut State) -> bool {
        if state.unpack(self.own.locals.len(), bytes).is_none() {
            return false;
        }
        let Some(global) = self.own.globals.get(state.global as usize) else { return false };
        state.global = *global;
        for (number, own) in state.locals.iter_mut().zip(&self.own.locals) {
            let Some(own) = own.get(*number as usize) else { return false };
            *number = *own;
        }
        true
    }

    /// The controls that the worker met and that have no number yet.
    pub(super) fn tell_new(&self, stepper: &Stepper<'_, Buffered<'_>>, out: &mut Vec<u8>) {
        for global in stepper.globals().skip(self.shared.globals.len()) {
            put_number(out, 0);
            put_number(out, global.map_or(0, |thread| thread.index() as u64 + 1));
        }
        for (thread, known) in self.shared.locals.iter().enumerate() {
            for local in stepper.locals(ThreadId::new(thread)).skip(known.len()) {
                put_number(out, thread as u64 + 1);
                put_local(local, out);
            }
        }
    }

    /// Gives numbers to controls that workers told of; `None` if that makes no sense.
    pub(super) fn agree<'t>(
        &mut self,
        told: impl Iterator<Item = &'t [u8]>,
        stepper: &mut Stepper<'_, Buffered<'_>>,
    ) -> Option<()> {
        let machine = stepper.machine();
        let (mut globals, mut locals) = (BTreeSet::new(), BTreeSet::new());
        for mut bytes in told {
            while !bytes.is_empty() {
                match take_number(&mut bytes)? {
                    0 => {
                        let holder = take_number(&mut bytes)?.checked_sub(1);
                        globals.insert(holder.map(|thread| ThreadId::new(thread as usize)));
                    }
                    thread => {
                        let thread = usize::try_from(thread - 1).ok()?;
                        let local = take_local(&mut bytes)?;
                        let exists = thread < self.agreed.locals.len()
                            && machine.may_have(ThreadId::new(thread), &local);
                        locals.insert((thread, exists.then_some(local)?));
                    }
                }
            }
        }
        if !globals.iter().all(|global| machine.may_share(global)) {
            return None;
        }
        globals.into_iter().for_each(|global| self.agree_on_global(global, stepper));
        locals.into_iter().for_each(|(thread, local)| self.agree_on_local(thread, local, stepper));
        Some(())
    }
}

impl Numbering for Numbers {
    #[inline]
    fn own_global(&self, number: u32) -> Option<u32> {
        self.own.globals.get(number as usize).copied()
    }

    #[inline]
    fn own_local(&self, thread: usize, number: u32) -> Option<u32> {
        self.own.locals[thread].get(number as usize).copied()
    }

    fn global(&self, own: u32) -> Option<u32> {
        number_of(&self.shared.globals, own)
    }

    fn local(&self, thread: usize, own: u32) -> Option<u32> {
        number_of(&self.shared.locals[thread], own)
    }
}

/// The number that all gave to one of the worker's own.
#[inline]
fn number_of(numbers: &[u32], own: u32) -> Option<u32> {
    numbers.get(own as usize).copied().filter(|number| *number != NO_NUMBER)
}

/// Gives the next number of all to a control that has this number of the worker's own, unless it has one.
fn agree_on<T>(agreed: &mut Vec<T>, shared: &mut Vec<u32>, owns: &mut Vec<u32>, control: T, own: u32) {
    if number_of(shared, own).is_none() {
        put(shared, own, agreed.len() as u32);
        owns.push(own);
        agreed.push(control);
    }
}

/// Own numbers come in any order; those in between are on their way to all.
fn put(numbers: &mut Vec<u32>, at: u32, number: u32) {
    let at = at as usize;
    if numbers.len() <= at {
        numbers.resize(at + 1, NO_NUMBER);
    }
    numbers[at] = number;
}

fn put_local(local: &Local, out: &mut Vec<u8>) {
    put_number(out, local.loc.index() as u64);
    put_number(out, local.kept.len() as u64);
    for entry in &local.kept {
        put_number(
            out,
            match entry {
                Entry::Store(variable) => variable.index() as u64 + 1,
                Entry::Barrier => 0,
            },
        );
    }
}

/// The exact machine forgets nothing, so there is nothing else to read.
fn take_local(bytes: &mut &[u8]) -> Option<Local> {
    let mut local = Local::at(Loc::new(usize::try_from(take_number(bytes)?).ok()?));
    for _ in 0..take_number(bytes)? {
        local.kept.push(match take_number(bytes)? {
            0 => Entry::Barrier,
            variable => Entry::Store(VarId::new(usize::try_from(variable - 1).ok()?)),
        });
    }
    Some(local)
}

/// Writes a number in base 128, low digits first.
#[inline]
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// Reads a number that [`put_number`] wrote.
#[inline]
pub(super) fn take_number(bytes: &mut &[u8]) -> Option<u64> {
    let (mut number, mut shift) = (0, 0);
    loop {
        let (digit, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u64::from(digit & 0x7f) << shift;
        if *digit < 0x80 {
            return Some(number);
        }
        shift += 7;
        if shift > 56 {
            return None;
        }
    }
}
