//! States from which nothing can go wrong any more are not left.
//!
//! Where a program claims nothing but assertions, a violation is a thread at a location of failure. If the text of no thread
//! leads there from where it stands, by edges that are not impossible as they are written, no run from this state is a
//! violation, whatever all threads do. So a set of states without violations is a proof if from each of its states
//! that is in reach of a failure all steps stay in it. Front ends that compute which values there can be write impossible
//! edges; often that leaves nothing in reach at the start, and one state is the proof, however many others there are.

use crate::reduced_domain::ReducedDomain;
use crate::successor_list::SuccessorList;
use crate::{Buffered, DataDomain, Machine, State};
use program::{Program, Thread, ThreadId};

/// The states of a domain; those out of reach of every failure have no successors.
pub struct InReach<D> {
    inner: D,
    /// By thread and location: whether its text leads to a failure.
    may_fail: Vec<Vec<bool>>,
    /// The steps of the state that was prepared last.
    listed: SuccessorList,
    spare: State,
}

impl<'m, 'p: 'm, D> InReach<D>
where
    D: DataDomain<'m, Machine = Buffered<'p>>,
{
    /// Leaves out steps of a domain; `None` if more is claimed than that threads do not fail.
    pub fn new(inner: D) -> Option<InReach<D>> {
        let program = inner.stepper().machine().program();
        let may_fail = program.threads.iter().map(may_fail).collect();
        let only_failures = program.properties.is_empty();
        only_failures.then(|| InReach {
            inner,
            may_fail,
            listed: SuccessorList::default(),
            spare: State::default(),
        })
    }

    fn is_in_reach(&self, state: &State) -> bool {
        let stands = |thread: usize| self.inner.stepper().local(ThreadId::new(thread), state).loc;
        self.may_fail.iter().enumerate().any(|(thread, may_fail)| may_fail[stands(thread).index()])
    }
}

/// Whether nothing can go wrong in any run, as the texts of threads are written.
pub fn is_out_of_reach(program: &Program) -> bool {
    let fails = |thread: &Thread| may_fail(thread)[thread.entry().index()];
    program.properties.is_empty() && !program.threads.iter().any(fails)
}

/// By location, whether a failure can be reached by edges that are not impossible as they are written.
fn may_fail(thread: &Thread) -> Vec<bool> {
    let mut fails: Vec<bool> = thread.locs().map(|loc| thread.location(loc).failure.is_some()).collect();
    let mut changed = true;
    while std::mem::take(&mut changed) {
        for edge in thread.edges().iter().rev() {
            if fails[edge.to.index()] && !fails[edge.from.index()] && !edge.op.is_impossible() {
                fails[edge.from.index()] = true;
                changed = true;
            }
        }
    }
    fails
}

impl<'m, 'p: 'm, D> ReducedDomain<'m> for InReach<D>
where
    D: DataDomain<'m, Machine = Buffered<'p>>,
{
    type Machine = Buffered<'p>;

    fn inner(&self) -> &dyn DataDomain<'m, Machine = Buffered<'p>> {
        &self.inner
    }

    fn inner_mut(&mut self) -> &mut dyn DataDomain<'m, Machine = Buffered<'p>> {
        &mut self.inner
    }

    fn list(&mut self, state: &State) {
        self.inner.prepare(state);
        if self.is_in_reach(state) {
            self.listed.fill(&self.inner, state, &mut self.spare);
        } else {
            self.listed.clear();
        }
    }

    fn listed(&self) -> &SuccessorList {
        &self.listed
    }
}
