//! Which attacks can matter, seen from the program text alone.
//!
//! An attack is a store and what may overtake it: loads that the thread can reach from the store without
//! waiting for its buffer and, where the model lets a store overtake another, stores to other variables
//! that it can reach without a store fence either. It matters only if a chain of other
//! threads' steps can lead from the overtaker back to the variable of the store: a step that writes
//! what was loaded or uses what was stored, then steps behind it in its thread, or steps that conflict with one of the
//! chain, until one touches the variable. Control flow is followed, data are not; so where no
//! attack is left the program is robust for whatever data.

use super::besides::Besides;
use super::reaching::{Barriers, EdgeSet, accesses_behind};
use crate::{Model, State};
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

/// A store, and what may overtake it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attack {
    /// The thread that delays.
    pub thread: ThreadId,
    /// The store.
    pub store: EdgeId,
    /// The variable it writes.
    pub variable: VarId,
    /// The loads and stores of the thread that may overtake a store to this variable with an effect.
    /// Which of them can be reached from this store is another matter.
    pub overtakers: Arc<EdgeSet>,
    /// How many of them can be reached.
    pub reached: usize,
    /// The stores, by thread, that may be delayed besides though nothing forces them to.
    pub besides: Arc<Vec<EdgeSet>>,
}

/// Which attacks are dismissed by the program text alone: all kinds, unless one wants to compare.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cuts {
    /// Accesses that a fence always keeps behind the store.
    pub fenced: bool,
    /// Accesses to nothing but the stored variable: loads see the store in the buffer, stores queue behind it.
    pub same_variable: bool,
    /// Accesses from which no chain of other threads' steps leads to the stored variable.
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
pub fn attacks(
    program: &Program,
    model: Model,
    accesses: &Accesses,
    go_on: &mut GoOn<'_>,
) -> Option<Vec<Attack>> {
    attacks_within(program, model, accesses, Cuts::ALL, go_on)
}

/// As [`attacks`], with some cut-offs only.
pub fn attacks_within(
    program: &Program,
    model: Model,
    accesses: &Accesses,
    cuts: Cuts,
    go_on: &mut GoOn<'_>,
) -> Option<Vec<Attack>> {
    let users = Users::of(program, accesses);
    let mut besides = Besides::of(program, model, accesses);
    let mut found = Vec::new();
    for thread in program.thread_ids() {
        let stores = delayable_stores(program.thread(thread));
        let matter = overtakers_that_matter(&users, model, thread, &stores, cuts, go_on)?;
        let of = |variable: VarId| &matter[&variable];
        let counts = reachable(program.thread(thread), &stores, of, cuts.fenced, go_on)?;
        for ((store, variable), reached) in stores.into_iter().zip(counts).filter(|(_, reached)| *reached > 0)
        {
            found.push(Attack {
                thread,
                store,
                variable,
                overtakers: matter[&variable].all(),
                reached,
                besides: besides.of_attack(thread, variable, go_on)?,
            });
        }
    }
    Some(found)
}

/// What may overtake a store.
#[derive(Default)]
struct Overtakers {
    loads: EdgeSet,
    stores: EdgeSet,
}

impl Overtakers {
    /// All that a thread has, whatever it accesses.
    fn of(thread: &Thread, model: Model) -> Overtakers {
        let loads = delayable_loads(thread).collect();
        let stores = if model.reorders_stores() { delayable_stores(thread) } else { Vec::new() };
        Overtakers { loads, stores: stores.into_iter().map(|(store, _)| store).collect() }
    }

    fn all(&self) -> Arc<EdgeSet> {
        let mut all = self.loads.clone();
        all.extend(&self.stores);
        Arc::new(all)
    }
}

/// For every store, how many of its overtakers can be reached from behind it.
fn reachable<'s>(
    thread: &Thread,
    stores: &[(EdgeId, VarId)],
    overtakers: impl Fn(VarId) -> &'s Overtakers,
    fenced: bool,
    go_on: &mut GoOn<'_>,
) -> Option<Vec<usize>> {
    let unless = |barriers| if fenced { barriers } else { Barriers::None };
    let loads = |variable| &overtakers(variable).loads;
    let mut counts = accesses_behind(thread, stores, loads, unless(Barriers::Full), go_on)?;
    let later = |variable| &overtakers(variable).stores;
    let more = accesses_behind(thread, stores, later, unless(Barriers::FullAndStore), go_on)?;
    counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
    Some(counts)
}

/// For every variable that a thread stores to, the thread's accesses that it can matter to delay a
/// store to it past.
fn overtakers_that_matter(
    users: &Users<'_>,
    model: Model,
    thread: ThreadId,
    stores: &[(EdgeId, VarId)],
    cuts: Cuts,
    go_on: &mut GoOn<'_>,
) -> Option<BTreeMap<VarId, Overtakers>> {
    let mut found: BTreeMap<VarId, Overtakers> =
        stores.iter().map(|(_, variable)| (*variable, Overtakers::default())).collect();
    let mut chains = Chains::of(users, thread);
    let all = Overtakers::of(users.program.thread(thread), model);
    for edge in (0..users.program.thread(thread).edges().len()).map(EdgeId::new) {
        let (is_load, is_store) = (all.loads.contains(edge), all.stores.contains(edge));
        if !is_load && !is_store {
            continue;
        }
        if !go_on() {
            return None;
        }
        let accesses = users.accesses.at(thread, edge);
        let touched = chains.touched_from(edge);
        for (variable, overtakers) in &mut found {
            let elsewhere = accesses.iter().any(|access| access.variable != *variable);
            let may_matter = elsewhere || !cuts.same_variable;
            if may_matter && (!cuts.unconnected || touched[variable.index()]) {
                let set = if is_load { &mut overtakers.loads } else { &mut overtakers.stores };
                set.insert(edge);
            }
        }
    }
    Some(found)
}

/// How many pairs of a store and what may overtake it there are; `None` if it was stopped.
pub fn delays(program: &Program, model: Model, go_on: &mut GoOn<'_>) -> Option<usize> {
    let mut count = 0;
    for thread in &program.threads {
        let overtakers = Overtakers::of(thread, model);
        let counts = reachable(thread, &delayable_stores(thread), |_| &overtakers, false, go_on)?;
        count += counts.iter().sum::<usize>();
    }
    Some(count)
}

/// The stores that go to the buffer, with their variables.
pub(super) fn delayable_stores(thread: &Thread) -> Vec<(EdgeId, VarId)> {
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
    /// Whether a state of SC, with controls numbered as by [`super::number_controls`], is one in which the
    /// first store is delayed: that of the attack, or one besides.
    pub fn begins_in(&self, program: &Program, under_sc: &State) -> bool {
        let at = |thread: ThreadId| under_sc.locals[thread.index()] as usize;
        let begins = program.thread(self.thread).edge(self.store).from.index() == at(self.thread);
        let besides = |thread: ThreadId| {
            let mut leaving = program.thread(thread).edges().iter().enumerate();
            leaving
                .any(|(id, edge)| edge.from.index() == at(thread) && self.may_wait(thread, EdgeId::new(id)))
        };
        begins || program.thread_ids().any(|thread| thread != self.thread && besides(thread))
    }

    /// Whether a store may be delayed besides that of the attack though nothing forces it to.
    pub(super) fn may_wait(&self, thread: ThreadId, store: EdgeId) -> bool {
        self.besides.get(thread.index()).is_some_and(|stores| stores.contains(store))
    }

    /// Whether only the thread of the attack delays stores.
    pub(super) fn is_alone(&self) -> bool {
        let others = self.besides.iter().enumerate().filter(|(thread, _)| *thread != self.thread.index());
        others.map(|(_, stores)| stores).all(EdgeSet::is_empty)
    }

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
                if self.overtakers.contains(id) {
                    found.insert(id);
                }
                work.push(edge.to);
            }
        }
        let single = |load: EdgeId| {
            let overtakers = Arc::new(EdgeSet::from_iter([load]));
            (load, Attack { overtakers, reached: 1, ..self.clone() })
        };
        (0..thread.edges().len()).map(EdgeId::new).filter(|id| found.contains(*id)).map(single).collect()
    }
}

/// The variables that chains from the accesses of a thread may touch. Accesses to the same variables
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

    /// By variable, whether a chain from the access may touch it.
    fn touched_from(&mut self, edge: EdgeId) -> &[bool] {
        let accesses = self.users.accesses.at(self.attacker, edge);
        let key = accesses.iter().map(|access| (access.variable, access.writes)).collect();
        self.known.entry(key).or_insert_with(|| self.users.chain(self.attacker, edge))
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

    /// The variables that a chain from an access of this thread may touch.
    fn chain(&self, attacker: ThreadId, edge: EdgeId) -> Vec<bool> {
        let mut chain = Chain {
            users: self,
            attacker,
            seen: self.program.threads.iter().map(|t| vec![false; t.edges().len()]).collect(),
            sections: vec![false; self.program.threads.len()],
            entered: vec![[false; 2]; self.program.variables.len()],
            work: Vec::new(),
            touched: vec![false; self.program.variables.len()],
        };
        chain.conflicts(self.accesses.at(attacker, edge));
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
