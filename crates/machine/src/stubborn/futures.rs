//! What threads may still touch, by their values.
//!
//! A text says of a thread that computes which cell of an array it takes next that it may take any. Here every
//! thread runs *alone*: what only it writes has the values that it wrote, and what others write too has, whenever
//! it is loaded, any value that anybody may write there. Who writes what is found by going on until nothing is new.
//! So a thread's part of every state that can be reached (its control, its own slots, what only it writes)
//! is one of a finite graph, and what it does from there goes along the graph's edges, whatever others do: what it
//! may still touch is what stands on them [C. Flanagan and S. Qadeer, Thread-modular model checking, 2003].
//!
//! Threads that meet in a variable would each see there whatever the other may ever write, go on from that, and
//! meet everywhere. So few threads that meet are one *group* and run together, with the same said of groups
//! instead of threads. Which groups there are follows from the program up to the names of its threads: a
//! renaming that preserves the program takes groups to groups, and heights to heights.
//!
//! States that come from anywhere need not be like that. Those of which every group's part is in its graph, and every
//! variable's value among those that may be written, stay so with every step; of others nothing is said.

mod together;

use crate::persistent::{Standing, Touched};
use crate::{Buffered, Local, Machine};
use indexmap::{IndexMap, IndexSet};
use program::ThreadId;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use together::{GroupRun, WrittenValues};

/// Groups with more states are not looked at, nor those with longer queues: they may grow without end.
const MOST_STATES: usize = 1 << 12;
const LONGEST_QUEUE: usize = 8;

/// And no more steps than this are taken, by all groups and until nothing is new.
const MOST_STEPS: usize = 1 << 16;

/// What all threads may still do.
pub(super) struct Futures {
    groups: Vec<GroupFutures>,
    /// By thread: its controls, by number.
    locals: Vec<IndexSet<Local, FxBuildHasher>>,
    /// By variable: the values it may have.
    values: Vec<Vec<i64>>,
}

/// The graph of a group.
struct GroupFutures {
    threads: Vec<ThreadId>,
    /// The variables that are part of its states.
    own: Vec<usize>,
    /// By state: what each thread may still do.
    states: IndexMap<Vec<i64>, Box<[Future]>, FxBuildHasher>,
}

/// What a thread may still do in one of its group's states.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Future {
    later: Touched,
    until_wait: Touched,
    /// How many steps its group can still take, said of the group's first thread; of all that may go round for ever the same.
    pub(super) height: u32,
}

/// What values say of threads in a state, by thread.
pub(super) type KnownFutures<'a> = SmallVec<[&'a Future; 16]>;

impl Future {
    /// A thread that stands there, as its values say.
    pub(super) fn narrows(&self, mut standing: Standing) -> Standing {
        standing.here.later = self.later;
        standing.here.until_wait = self.until_wait;
        standing
    }
}

/// Threads that run together, in their order.
type ThreadGroup = Vec<ThreadId>;

impl Futures {
    /// Of all threads; nothing if a group has too many states, or values do not tell.
    pub(super) fn of(machine: &Buffered<'_>) -> Option<Futures> {
        let alone: Vec<ThreadGroup> = machine.program().thread_ids().map(|thread| vec![thread]).collect();
        let together = groups(machine, alone.clone()).filter(|groups| *groups != alone);
        together
            .and_then(|groups| Futures::of_groups(machine, &groups))
            .or_else(|| Futures::of_groups(machine, &alone))
    }

    fn of_groups(machine: &Buffered<'_>, groups: &[ThreadGroup]) -> Option<Futures> {
        let program = machine.program();
        let mut written = WrittenValues::new(program);
        let mut left = MOST_STEPS;
        loop {
            let before = written.clone();
            let explored = |group: &ThreadGroup| GroupRun::explored(machine, group, &mut written, &mut left);
            let graphs = groups.iter().map(explored).collect::<Option<Vec<_>>>()?;
            if written == before {
                let values = written.all(program, machine)?;
                let mut locals = vec![IndexSet::default(); program.threads.len()];
                let group = |graph: GroupRun| {
                    graph
                        .controls()
                        .for_each(|(thread, own)| locals[thread.index()] = own.cloned().collect());
                    graph.futures(machine, &values)
                };
                return Some(Futures { groups: graphs.into_iter().map(group).collect(), locals, values });
            }
        }
    }

    /// Whether every variable has a value that is known of.
    pub(super) fn know(&self, memory: &[i64]) -> bool {
        memory.iter().zip(&self.values).all(|(value, known)| known.contains(value))
    }

    /// The number of a thread's control.
    pub(super) fn control(&self, thread: usize, local: &Local) -> Option<usize> {
        self.locals[thread].get_index_of(local)
    }

    /// What threads may still do that have these controls and slots and this memory; nothing if that is not known.
    pub(super) fn at(&self, memory: &[i64], threads: &[(usize, &[i64])]) -> Option<KnownFutures<'_>> {
        const NOTHING: &Future = &Future { later: Touched::NOTHING, until_wait: Touched::NOTHING, height: 0 };
        let mut known: KnownFutures<'_> = threads.iter().map(|_| NOTHING).collect();
        let mut key = Vec::new();
        for GroupFutures { threads: members, own, states } in &self.groups {
            key.clear();
            key.extend(members.iter().map(|thread| threads[thread.index()].0 as i64));
            key.extend(own.iter().map(|variable| memory[*variable]));
            members.iter().for_each(|thread| key.extend_from_slice(threads[thread.index()].1));
            let futures = states.get(&key)?;
            members.iter().zip(futures).for_each(|(thread, future)| known[thread.index()] = future);
        }
        Some(known)
    }
}

/// Threads that meet, as long as they have few states together. Whether they meet is asked as if nobody outside their
/// groups wrote anything, of all groups at once.
fn groups(machine: &Buffered<'_>, mut groups: Vec<ThreadGroup>) -> Option<Vec<ThreadGroup>> {
    let mut left = MOST_STEPS;
    loop {
        let explored = |group: &ThreadGroup| {
            GroupRun::explored(machine, group, &mut WrittenValues::new(machine.program()), &mut left)
        };
        let graphs = groups.iter().map(explored).collect::<Option<Vec<_>>>()?;
        let sizes: Vec<usize> = graphs.iter().map(GroupRun::len).collect();
        let touched: Vec<Touched> = graphs.iter().map(|graph| graph.touched(machine.program())).collect();
        let mut merged: Vec<ThreadGroup> = Vec::new();
        let mut any = false;
        for meeting in meeting(&touched) {
            let size = meeting.iter().fold(1, |size: usize, at| size.saturating_mul(sizes[*at]));
            if meeting.len() == 1 || size > MOST_STATES {
                merged.extend(meeting.iter().map(|at| groups[*at].clone()));
                continue;
            }
            any = true;
            let mut group: ThreadGroup = meeting.iter().flat_map(|at| groups[*at].iter().copied()).collect();
            group.sort_unstable();
            merged.push(group);
        }
        merged.sort_unstable();
        if !any {
            return Some(merged);
        }
        groups = merged;
    }
}

/// Those that meet, directly or by way of others.
fn meeting(touched: &[Touched]) -> Vec<Vec<usize>> {
    let mut found: Vec<Vec<usize>> = Vec::new();
    for at in 0..touched.len() {
        let meets = |others: &Vec<usize>| others.iter().any(|other| touched[*other].clashes(touched[at]));
        let (meeting, apart) = std::mem::take(&mut found).into_iter().partition::<Vec<_>, _>(meets);
        found = apart;
        let mut all: Vec<usize> = meeting.into_iter().flatten().collect();
        all.push(at);
        found.push(all);
    }
    found
}
