//! Successors of packed states, put together from what was seen before.
//!
//! A thread's step depends on the shared part of a state and on the thread's own part ([`crate::parts`]), and changes no other part.
//! So where steps lead to is worked out once per pair of parts, by the domain, and remembered. There are far fewer pairs than states;
//! the successors of most states are found by looking up one pair per thread, and are packed by copying parts. What comes out, and in
//! which order, is what the domain itself would list.
//!
//! In some domains other threads go ahead when what is shared has changed. Each does so by itself: where it gets
//! depends on the new shared part and on its own, so that is remembered in the same way ([`DataDomain::notice`]).
//!
//! Nothing is remembered of steps that leave a doubt or lead to a state that has no parts: then there is no answer here, and the domain
//! has to be asked. The same holds for good once most pairs turn out to be new. Memory is bounded: when there are too many pairs all are
//! forgotten.

use crate::parts::{Numbering, PartedState, PartedSuccessor, StateParts, SuccessorsOf};
use crate::{DataDomain, Machine, State};
use program::ThreadId;
use rustc_hash::FxHashMap;

/// So many pairs are remembered at most.
const MOST_PAIRS: usize = 1 << 20;

/// After so many pairs were looked up it is time to see whether that is of use.
const TRIAL: usize = 1 << 16;

/// What threads do, as far as it was seen.
pub struct Remembered {
    parts: StateParts,
    threads: Vec<ThreadSteps>,
    /// The shared part and the own part that steps lead to.
    targets: Vec<(u32, u32)>,
    /// The state that was taken up last.
    row: Vec<u32>,
    /// Where the targets of its threads' steps begin and end.
    listed: Vec<(u32, u32)>,
    /// Whether threads notice that what is shared has changed.
    notices: bool,
    /// The rows of those among its successors where threads had something to notice.
    noticed: Vec<u32>,
    looked_up: usize,
    new: usize,
    /// Whether remembering was found to be of no use.
    useless: bool,
    spare: (State, State),
}

/// By a thread's own part and the shared part.
#[derive(Default)]
struct ThreadSteps {
    /// Where its targets begin and end.
    steps: FxHashMap<(u32, u32), (u32, u32)>,
    /// Its own part after it has noticed what is shared.
    noticed: FxHashMap<(u32, u32), u32>,
}

/// What is known of a state that was to be taken up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenUp {
    /// Its successors.
    Listed,
    /// It is too heavy.
    Heavy,
    /// Nothing: the domain has to be asked.
    Unknown,
}

impl Remembered {
    /// Nothing yet, for the states of a domain.
    pub fn new<'m, D: DataDomain<'m>>(domain: &D) -> Remembered {
        let program = domain.stepper().machine().program();
        let (variables, threads) = (program.variables.len(), program.threads.len());
        Remembered {
            parts: StateParts::new(variables, threads),
            threads: (0..threads).map(|_| ThreadSteps::default()).collect(),
            targets: Vec::new(),
            row: Vec::new(),
            listed: Vec::new(),
            notices: domain.notices(),
            noticed: Vec::new(),
            looked_up: 0,
            new: 0,
            useless: !domain.is_threadwise(),
            spare: Default::default(),
        }
    }

    /// About how many bytes of memory it holds.
    pub fn bytes(&self) -> usize {
        let pair = 2 * size_of::<((u32, u32), (u32, u32))>();
        self.parts.len() * StateParts::part_size()
            + self.pairs() * pair
            + self.targets.len() * size_of::<(u32, u32)>()
    }

    /// Looks for numbers of controls that had none when they were met. Whoever gives numbers to controls has to say so here before
    /// states are taken up.
    pub fn renumber(&mut self, numbering: &impl Numbering) {
        self.parts.renumber(numbering);
    }

    fn pairs(&self) -> usize {
        self.threads.iter().map(|thread| thread.steps.len() + thread.noticed.len()).sum()
    }

    /// Lists the successors of a packed state, unless it has a longer queue than this.
    pub fn take_up<'m, D: DataDomain<'m>>(
        &mut self,
        domain: &mut D,
        numbering: &impl Numbering,
        packed: &[u8],
        longest: usize,
    ) -> TakenUp {
        if self.useless {
            return TakenUp::Unknown;
        }
        self.make_room();
        let mut row = std::mem::take(&mut self.row);
        let read = self.parts.read(packed, numbering, domain.stepper(), &mut row);
        self.row = row;
        if read.is_none() {
            return TakenUp::Unknown;
        }
        if self.state().longest_queue() > longest {
            return TakenUp::Heavy;
        }
        match self.list(domain, numbering) {
            Some(()) => TakenUp::Listed,
            None => TakenUp::Unknown,
        }
    }

    /// Forgets everything if it is too much, and stops to remember what does not come again.
    fn make_room(&mut self) {
        if self.looked_up < TRIAL {
            return;
        }
        self.useless = 2 * self.new > self.looked_up;
        (self.looked_up, self.new) = (0, 0);
        if self.useless || self.pairs() + self.targets.len() > MOST_PAIRS {
            self.parts = self.parts.none();
            self.threads.iter_mut().for_each(|thread| *thread = ThreadSteps::default());
            self.targets = Vec::new();
        }
    }

    /// The state that was taken up last.
    pub fn state(&self) -> PartedState<'_> {
        self.parts.state(&self.row)
    }

    /// Calls `visit` on its successors, in the order of the domain. Controls of some may have no numbers yet.
    #[inline]
    pub fn each_successor(&self, mut visit: impl FnMut(PartedSuccessor<'_, '_>)) {
        if self.listed.is_empty() {
            return;
        }
        let mut noticed = self.noticed.chunks_exact(self.row.len());
        let mut successors = SuccessorsOf::new(&self.parts, &self.row);
        for (start, end) in &self.listed {
            for (shared, own) in &self.targets[*start as usize..*end as usize] {
                if !self.notices || *shared == self.row[0] {
                    visit(successors.step(*shared, *own));
                } else if let Some(row) = noticed.next() {
                    visit(SuccessorsOf::new(&self.parts, row).step(row[0], row[1]));
                }
            }
            successors.next_thread();
        }
    }

    fn list<'m, D: DataDomain<'m>>(&mut self, domain: &mut D, numbering: &impl Numbering) -> Option<()> {
        self.listed.clear();
        self.noticed.clear();
        self.looked_up += self.threads.len();
        let notices = self.notices;
        for thread in 0..self.threads.len() {
            let pair = (self.row[1 + thread], self.row[0]);
            let (start, end) = match self.threads[thread].steps.get(&pair) {
                Some(known) => *known,
                None => self.learn(thread, domain, numbering)?,
            };
            self.listed.push((start, end));
            for target in (start..end).filter(|_| notices) {
                let (shared, own) = self.targets[target as usize];
                if shared != self.row[0] {
                    let start = self.noticed.len();
                    self.noticed.extend_from_slice(&self.row);
                    self.noticed[start] = shared;
                    self.noticed[start + 1 + thread] = own;
                    self.notice(start, domain, numbering)?;
                }
            }
        }
        Some(())
    }

    /// Works out what a thread can do in the state that was taken up.
    #[cold]
    fn learn<'m, D: DataDomain<'m>>(
        &mut self,
        thread: usize,
        domain: &mut D,
        numbering: &impl Numbering,
    ) -> Option<(u32, u32)> {
        self.new += 1;
        let (mut state, mut next) = std::mem::take(&mut self.spare);
        self.state().unpack(&mut state);
        let mut reached: Vec<State> = Vec::new();
        let mut doubted = false;
        domain.steps_alone(
            ThreadId::new(thread),
            &state,
            &mut next,
            |_| doubted = true,
            |next| reached.push(next.clone()),
        );
        let start = self.targets.len();
        let learnt = reached.iter().filter(|_| !doubted).all(|next| {
            let target = self.target(thread, &state, next, domain, numbering);
            self.targets.extend(target);
            target.is_some()
        });
        self.spare = (state, next);
        if doubted || !learnt {
            self.targets.truncate(start);
            return None;
        }
        let known = (u32::try_from(start).ok()?, u32::try_from(self.targets.len()).ok()?);
        self.threads[thread].steps.insert((self.row[1 + thread], self.row[0]), known);
        Some(known)
    }

    /// The parts that a step of a thread changes. Others must be as they were.
    fn target<'m, D: DataDomain<'m>>(
        &mut self,
        thread: usize,
        state: &State,
        next: &State,
        domain: &D,
        numbering: &impl Numbering,
    ) -> Option<(u32, u32)> {
        let stepper = domain.stepper();
        let variables = stepper.machine().program().variables.len();
        let (base, before) = stepper.segment(thread, state);
        let (_, after) = stepper.segment(thread, next);
        let others = |locals: &[u32]| (locals[..thread].to_vec(), locals[thread + 1..].to_vec());
        let same = others(&state.locals) == others(&next.locals)
            && state.values[variables..base] == next.values[variables..base]
            && state.values[base + before..] == next.values[base + after..];
        let shared = self.parts.shared_part_of(next, numbering)?;
        let own = self.parts.thread_part_of(thread, base, next, numbering, stepper)?;
        same.then_some((shared, own))
    }

    /// Lets all threads of a state found notice that what is shared has changed.
    fn notice<'m, D: DataDomain<'m>>(
        &mut self,
        start: usize,
        domain: &mut D,
        numbering: &impl Numbering,
    ) -> Option<()> {
        let shared = self.noticed[start];
        self.looked_up += self.threads.len();
        for thread in 0..self.threads.len() {
            let own = self.noticed[start + 1 + thread];
            let noticed = match self.threads[thread].noticed.get(&(own, shared)) {
                Some(known) => *known,
                None => self.learn_notice(start, thread, domain, numbering)?,
            };
            self.noticed[start + 1 + thread] = noticed;
        }
        Some(())
    }

    #[cold]
    fn learn_notice<'m, D: DataDomain<'m>>(
        &mut self,
        start: usize,
        thread: usize,
        domain: &mut D,
        numbering: &impl Numbering,
    ) -> Option<u32> {
        self.new += 1;
        let (mut state, mut next) = std::mem::take(&mut self.spare);
        let row = &self.noticed[start..start + self.row.len()];
        let (shared, own) = (row[0], row[1 + thread]);
        self.parts.state(row).unpack(&mut state);
        next.clone_from(&state);
        domain.notice(ThreadId::new(thread), &mut next);
        let target = self.target(thread, &state, &next, domain, numbering);
        self.spare = (state, next);
        let (_, noticed) = target.filter(|target| target.0 == shared)?;
        self.threads[thread].noticed.insert((own, shared), noticed);
        Some(noticed)
    }
}
