//! Which attacks can matter, seen from the program text alone.
//!
//! An attack is a store and the loads that it may be delayed past: those that the thread can
//! reach from the store without waiting for its buffer. It matters only if a chain of other
//! threads' steps can lead from the load back to the variable of the store: a step that writes
//! what was loaded, then steps behind it in its thread, or steps that conflict with one of the
//! chain, until one touches the variable. Control flow is followed, data are not; so where no
//! attack is left the program is robust for whatever data.

use super::reaching::{EdgeSet, FencePolicy, loads_behind};
use program::{Edge, EdgeId, Op, Program, Thread, ThreadId, VarId};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What an edge does to a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// The variable.
    pub variable: VarId,
    /// Whether it is written.
    pub writes: bool,
}

/// The accesses of every edge, by thread and edge.
pub struct Accesses(Vec<Vec<Vec<Access>>>);

impl Accesses {
    /// The accesses of a program.
    pub fn of(program: &Program) -> Accesses {
        let of_edge = |op: &Op| {
            let mut found = Vec::new();
            op.for_each_part(&mut |part| match part {
                Op::Load(_, variable) => found.push(Access { variable: *variable, writes: false }),
                Op::Store(variable, _) => found.push(Access { variable: *variable, writes: true }),
                _ => {}
            });
            found
        };
        let of_thread = |thread: &Thread| thread.edges().iter().map(|edge| of_edge(&edge.op)).collect();
        Accesses(program.threads.iter().map(of_thread).collect())
    }

    /// The accesses of an edge.
    pub fn at(&self, thread: ThreadId, edge: EdgeId) -> &[Access] {
        &self.0[thread.index()][edge.index()]
    }
}

/// A store, and the loads it may be delayed past.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack {
    /// The thread that delays.
    pub thread: ThreadId,
    /// The store.
    pub store: EdgeId,
    /// The variable it writes.
    pub variable: VarId,
    /// The loads of the thread that a store to this variable may be delayed past with an effect.
    /// Which of them can be reached from this store is another matter.
    pub loads: Arc<EdgeSet>,
    /// How many of them can be reached.
    pub reached: usize,
}

/// Which attacks are dismissed by the program text alone: all kinds, unless one wants to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuts {
    /// Loads that a fence always keeps behind the store.
    pub fenced: bool,
    /// Loads of nothing but the stored variable: they see the store in the buffer.
    pub same_variable: bool,
    /// Loads from which no chain of other threads' steps leads to the stored variable.
    pub unconnected: bool,
}

impl Cuts {
    /// Everything is searched.
    pub const NONE: Cuts = Cuts { fenced: false, same_variable: false, unconnected: false };
    /// What cannot matter is not searched.
    pub const ALL: Cuts = Cuts { fenced: true, same_variable: true, unconnected: true };
}

/// Asked now and then: whether to go on. Long texts have very many stores and loads.
pub type GoOn<'a> = dyn FnMut() -> bool + 'a;

/// All attacks that can matter, in the order of threads and edges; `None` if it was stopped.
pub fn attacks(program: &Program, accesses: &Accesses, go_on: &mut GoOn<'_>) -> Option<Vec<Attack>> {
    attacks_within(program, accesses, Cuts::ALL, go_on)
}

/// As [`attacks`], with some cut-offs only.
pub fn attacks_within(
    program: &Program,
    accesses: &Accesses,
    cuts: Cuts,
    go_on: &mut GoOn<'_>,
) -> Option<Vec<Attack>> {
    let users = Users::of(program, accesses);
    let fences = if cuts.fenced { FencePolicy::Wait } else { FencePolicy::DoNotWait };
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        let stores = delayable_stores(program.thread(thread));
        let matter = loads_that_matter(&users, thread, &stores, cuts, go_on)?;
        let counts =
            loads_behind(program.thread(thread), &stores, |variable| &matter[&variable], fences, go_on)?;
        let hit = stores.into_iter().zip(counts).filter(|(_, reached)| *reached > 0);
        found.extend(hit.map(|((store, variable), reached)| Attack {
            thread,
            store,
            variable,
            loads: matter[&variable].clone(),
            reached,
        }));
    }
    Some(found)
}

/// For every variable that a thread stores to, the thread's loads that it can matter to delay a
/// store to it past.
fn loads_that_matter(
    users: &Users<'_>,
    thread: ThreadId,
    stores: &[(EdgeId, VarId)],
    cuts: Cuts,
    go_on: &mut GoOn<'_>,
) -> Option<BTreeMap<VarId, Arc<EdgeSet>>> {
    let mut found: BTreeMap<VarId, EdgeSet> =
        stores.iter().map(|(_, variable)| (*variable, EdgeSet::default())).collect();
    let mut chains = Chains::of(users, thread);
    for load in delayable_loads(users.program.thread(thread)) {
        if !go_on() {
            return None;
        }
        let accesses = users.accesses.at(thread, load);
        let touched = chains.touched_from(load);
        for (variable, loads) in &mut found {
            let elsewhere = accesses.iter().any(|access| access.variable != *variable);
            let may_matter = elsewhere || !cuts.same_variable;
            if may_matter && (!cuts.unconnected || touched[variable.index()]) {
                loads.insert(load);
            }
        }
    }
    Some(found.into_iter().map(|(variable, loads)| (variable, Arc::new(loads))).collect())
}

/// How many pairs of a store and a load behind it there are; `None` if it was stopped.
pub fn delays(program: &Program, go_on: &mut GoOn<'_>) -> Option<usize> {
    let mut count = 0;
    for thread in &program.threads {
        let loads = delayable_loads(thread).collect::<EdgeSet>();
        let stores = delayable_stores(thread);
        let counts = loads_behind(thread, &stores, |_| &loads, FencePolicy::DoNotWait, go_on)?;
        count += counts.iter().sum::<usize>();
    }
    Some(count)
}

/// The stores that go to the buffer, with their variables.
fn delayable_stores(thread: &Thread) -> Vec<(EdgeId, VarId)> {
    let edges = thread.edges().iter().enumerate();
    edges.filter_map(|(index, edge)| Some((EdgeId::new(index), thread.delayed_store(edge)?))).collect()
}

/// The loads that may see the thread's own buffer.
fn delayable_loads(thread: &Thread) -> impl Iterator<Item = EdgeId> + '_ {
    let is_load = |edge: &Edge| {
        let loads = matches!(edge.op, Op::Load(..) | Op::Block { locked: false, .. });
        loads && !thread.in_atomic(edge.from)
    };
    let edges = thread.edges().iter().enumerate();
    edges.filter(move |(_, edge)| is_load(edge)).map(|(index, _)| EdgeId::new(index))
}

impl Attack {
    /// One attack for every load that can be reached from the store without waiting.
    pub fn by_load(&self, program: &Program) -> Vec<(EdgeId, Attack)> {
        let thread = program.thread(self.thread);
        let mut seen = vec![false; thread.locs().count()];
        let mut work = vec![thread.edge(self.store).to];
        let mut found = EdgeSet::default();
        while let Some(loc) = work.pop() {
            if std::mem::replace(&mut seen[loc.index()], true) {
                continue;
            }
            for (id, edge) in thread.outgoing(loc).filter(|(_, edge)| !edge.op.waits()) {
                if self.loads.contains(id) {
                    found.insert(id);
                }
                work.push(edge.to);
            }
        }
        let single = |load: EdgeId| {
            let loads = Arc::new(EdgeSet::from_iter([load]));
            (load, Attack { loads, reached: 1, ..self.clone() })
        };
        (0..thread.edges().len()).map(EdgeId::new).filter(|id| found.contains(*id)).map(single).collect()
    }
}

/// The variables that chains from the loads of a thread may touch. Loads of the same variables
/// have the same chains, which are followed once.
struct Chains<'a> {
    users: &'a Users<'a>,
    attacker: ThreadId,
    known: BTreeMap<Vec<(VarId, bool)>, Vec<bool>>,
}

impl<'a> Chains<'a> {
    fn of(users: &'a Users<'a>, attacker: ThreadId) -> Chains<'a> {
        Chains { users, attacker, known: BTreeMap::new() }
    }

    /// By variable, whether a chain from the load may touch it.
    fn touched_from(&mut self, load: EdgeId) -> &[bool] {
        let accesses = self.users.accesses.at(self.attacker, load);
        let key = accesses.iter().map(|access| (access.variable, access.writes)).collect();
        self.known.entry(key).or_insert_with(|| self.users.chain(self.attacker, load))
    }
}

/// Who uses a variable: thread, edge, and whether it writes.
struct Users<'a> {
    program: &'a Program,
    accesses: &'a Accesses,
    by_variable: Vec<Vec<(ThreadId, EdgeId, bool)>>,
}

impl<'a> Users<'a> {
    fn of(program: &'a Program, accesses: &'a Accesses) -> Users<'a> {
        let mut by_variable = vec![Vec::new(); program.variables.len()];
        for thread in program.thread_ids() {
            for edge in (0..program.thread(thread).edges().len()).map(EdgeId::new) {
                for access in accesses.at(thread, edge) {
                    by_variable[access.variable.index()].push((thread, edge, access.writes));
                }
            }
        }
        Users { program, accesses, by_variable }
    }

    /// The variables that a chain from a load of this thread may touch.
    fn chain(&self, attacker: ThreadId, load: EdgeId) -> Vec<bool> {
        let mut chain = Chain {
            users: self,
            attacker,
            seen: self.program.threads.iter().map(|t| vec![false; t.edges().len()]).collect(),
            sections: vec![false; self.program.threads.len()],
            entered: vec![[false; 2]; self.program.variables.len()],
            work: Vec::new(),
            touched: vec![false; self.program.variables.len()],
        };
        chain.conflicts(self.accesses.at(attacker, load));
        while let Some((thread, edge)) = chain.work.pop() {
            chain.follow(thread, edge);
        }
        chain.touched
    }
}

struct Chain<'a> {
    users: &'a Users<'a>,
    attacker: ThreadId,
    seen: Vec<Vec<bool>>,
    /// By thread: whether its atomic sections have joined.
    sections: Vec<bool>,
    /// By variable: whether its writers and its readers have joined.
    entered: Vec<[bool; 2]>,
    work: Vec<(ThreadId, EdgeId)>,
    touched: Vec<bool>,
}

impl Chain<'_> {
    fn follow(&mut self, thread: ThreadId, edge: EdgeId) {
        let accesses = self.users.accesses.at(thread, edge);
        accesses.iter().for_each(|access| self.touched[access.variable.index()] = true);
        self.conflicts(accesses);
        let automaton = self.users.program.thread(thread);
        for (next, _) in automaton.outgoing(automaton.edge(edge).to) {
            self.push(thread, next);
        }
    }

    /// Everybody who writes what the chain used, or reads what it wrote, joins.
    fn conflicts(&mut self, accesses: &[Access]) {
        for access in accesses {
            let at = access.variable.index();
            let before = self.entered[at];
            let [writers, readers] = before;
            self.entered[at] = [true, readers || access.writes];
            if self.entered[at] == before {
                continue;
            }
            for (thread, edge, writes) in &self.users.by_variable[at] {
                let joins = if *writes { !writers } else { access.writes && !readers };
                if joins && *thread != self.attacker {
                    self.join(*thread, *edge);
                }
            }
        }
    }

    /// Atomic sections join as a whole: what stands before the conflict belongs to them.
    fn join(&mut self, thread: ThreadId, edge: EdgeId) {
        let automaton = self.users.program.thread(thread);
        let inside = automaton.in_atomic(automaton.edge(edge).from);
        if inside && !std::mem::replace(&mut self.sections[thread.index()], true) {
            for (index, other) in automaton.edges().iter().enumerate() {
                if automaton.in_atomic(other.from) {
                    self.push(thread, EdgeId::new(index));
                }
            }
        }
        self.push(thread, edge);
    }

    fn push(&mut self, thread: ThreadId, edge: EdgeId) {
        if !std::mem::replace(&mut self.seen[thread.index()][edge.index()], true) {
            self.work.push((thread, edge));
        }
    }
}
