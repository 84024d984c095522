//! Which attacks can matter, seen from the program text alone.
//!
//! An attack is a store and the loads that it may be delayed past: those that the thread can
//! reach from the store without waiting for its buffer. It matters only if a chain of other
//! threads' steps can lead from the load back to the variable of the store: a step that writes
//! what was loaded, then steps behind it in its thread, or steps that conflict with one of the
//! chain, until one touches the variable. Control flow is followed, data are not; so where no
//! attack is left the program is robust for whatever data.

use program::{EdgeId, Op, Program, Thread, ThreadId, VarId};
use std::collections::{BTreeMap, BTreeSet};

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
    /// The loads.
    pub loads: BTreeSet<EdgeId>,
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

/// Asked now and then: whether to go on. Long texts have very many pairs of stores and loads.
pub type GoOn<'a> = dyn FnMut() -> bool + 'a;

/// All attacks that can matter, in the order of threads and edges.
pub fn attacks(program: &Program, accesses: &Accesses) -> Vec<Attack> {
    attacks_within(program, accesses, Cuts::ALL, &mut || true).unwrap_or_default()
}

/// As [`attacks`], with some cut-offs only; `None` if it was stopped.
pub fn attacks_within(
    program: &Program,
    accesses: &Accesses,
    cuts: Cuts,
    go_on: &mut GoOn<'_>,
) -> Option<Vec<Attack>> {
    let users = Users::of(program, accesses);
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        let mut chains = Chains::of(&users, thread);
        for (store, variable) in delayable_stores(program.thread(thread)) {
            if !go_on() {
                return None;
            }
            let mut loads = BTreeSet::new();
            for_loads_behind(program.thread(thread), store, cuts.fenced, &mut |load| {
                let elsewhere = accesses.at(thread, load).iter().any(|access| access.variable != variable);
                let may_matter = elsewhere || !cuts.same_variable;
                if may_matter && (!cuts.unconnected || chains.touch(load, variable)) {
                    loads.insert(load);
                }
            });
            if !loads.is_empty() {
                found.push(Attack { thread, store, variable, loads });
            }
        }
    }
    Some(found)
}

/// How many pairs of a store and a load behind it there are; `None` if it was stopped.
pub fn delays(program: &Program, go_on: &mut GoOn<'_>) -> Option<usize> {
    let mut count = 0;
    for thread in &program.threads {
        for (store, _) in delayable_stores(thread) {
            if !go_on() {
                return None;
            }
            for_loads_behind(thread, store, false, &mut |_| count += 1);
        }
    }
    Some(count)
}

/// The stores that go to the buffer, with their variables.
fn delayable_stores(thread: &Thread) -> impl Iterator<Item = (EdgeId, VarId)> + '_ {
    thread.edges().iter().enumerate().filter_map(|(index, edge)| match edge.op {
        Op::Store(variable, _) if !thread.in_atomic(edge.from) => Some((EdgeId::new(index), variable)),
        _ => None,
    })
}

fn is_delayable_load(thread: &Thread, edge: EdgeId) -> bool {
    let edge = thread.edge(edge);
    let loads = matches!(edge.op, Op::Load(..) | Op::Block { locked: false, .. });
    loads && !thread.in_atomic(edge.from)
}

/// Visits the loads that can be reached from behind a store, where fences count without waiting
/// for the buffer.
fn for_loads_behind(thread: &Thread, store: EdgeId, fences: bool, visit: &mut dyn FnMut(EdgeId)) {
    let mut seen = vec![false; thread.locs().count()];
    let mut work = vec![thread.edge(store).to];
    while let Some(loc) = work.pop() {
        if std::mem::replace(&mut seen[loc.index()], true) {
            continue;
        }
        for (id, edge) in thread.outgoing(loc).filter(|(_, edge)| !(fences && edge.op.waits())) {
            if is_delayable_load(thread, id) {
                visit(id);
            }
            work.push(edge.to);
        }
    }
}

/// The variables that chains from the loads of a thread may touch. Loads of the same variables
/// have the same chains, which are followed once.
struct Chains<'a> {
    users: &'a Users<'a>,
    attacker: ThreadId,
    known: BTreeMap<Vec<(VarId, bool)>, BTreeSet<VarId>>,
}

impl<'a> Chains<'a> {
    fn of(users: &'a Users<'a>, attacker: ThreadId) -> Chains<'a> {
        Chains { users, attacker, known: BTreeMap::new() }
    }

    /// Whether a chain from the load may touch the variable.
    fn touch(&mut self, load: EdgeId, variable: VarId) -> bool {
        let accesses = self.users.accesses.at(self.attacker, load);
        let key = accesses.iter().map(|access| (access.variable, access.writes)).collect();
        let touched = self.known.entry(key).or_insert_with(|| self.users.chain(self.attacker, load));
        touched.contains(&variable)
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
    fn chain(&self, attacker: ThreadId, load: EdgeId) -> BTreeSet<VarId> {
        let mut chain = Chain {
            users: self,
            attacker,
            seen: self.program.threads.iter().map(|t| vec![false; t.edges().len()]).collect(),
            entered: vec![[false; 2]; self.program.variables.len()],
            work: Vec::new(),
            touched: BTreeSet::new(),
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
    /// By variable: whether its writers and its readers have joined.
    entered: Vec<[bool; 2]>,
    work: Vec<(ThreadId, EdgeId)>,
    touched: BTreeSet<VarId>,
}

impl Chain<'_> {
    fn follow(&mut self, thread: ThreadId, edge: EdgeId) {
        let accesses = self.users.accesses.at(thread, edge);
        self.touched.extend(accesses.iter().map(|access| access.variable));
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
            let [writers, readers] = self.entered[at];
            self.entered[at] = [true, readers || access.writes];
            for (thread, edge, writes) in &self.users.by_variable[at] {
                let joins = if *writes { !writers } else { access.writes && !readers };
                if joins && *thread != self.attacker {
                    self.join(*thread, *edge);
                }
            }
        }
    }

    /// An atomic section joins as a whole: what stands before the conflict belongs to it.
    fn join(&mut self, thread: ThreadId, edge: EdgeId) {
        let automaton = self.users.program.thread(thread);
        if automaton.in_atomic(automaton.edge(edge).from) {
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
