//! Certificates: what proves a program safe.
//!
//! A kind of certificate is a type that is a [`Proof`]: one file below, which says how it is checked,
//! written, read, told and put before other solvers; and one variant of [`Certificate`]. Its file
//! form is one line in the list of [`crate::file::KINDS`].

mod basis;
mod cubes;
mod listed;
mod pools;
mod reduced;
mod shared;
mod spilled;
mod via;

pub use via::{Pass, Via};

pub(crate) use basis::{BASIS, EXPLORED_BASIS, MULTISET_BASIS};
pub(crate) use cubes::CUBE_SET;
pub(crate) use listed::{CLOSED_SET, GAP_SET, read_gaps, write_gaps};
pub(crate) use pools::POOL_SET;
pub(crate) use reduced::{REDUCED_SET, read_renamings, same_gaps, write_renamings};
pub(crate) use via::{FLAT_SET, ROBUST_SET};

use crate::file::{EvidenceKind, RecordWriter};
use crate::known::KnownFacts;
use crate::symbolic::Vocabulary;
use crate::{Monitor, Rejected, SpilledStates, Statistics, Stop, Task};
use logic::Atom;
use machine::{Element, Gaps, Local, Machine, Recall, Rules, State, StateSet, Stepper};
use program::{Program, Renaming, ThreadId, VarId};
use std::borrow::Cow;
use std::io::{self, Write};

/// What every proof of safety can do.
pub(crate) trait Proof {
    /// The kind of file for it.
    fn kind(&self) -> &'static EvidenceKind;

    /// Checks it.
    fn check(&self, task: &Task<'_>, monitor: &dyn Monitor) -> Result<(), Rejected>;

    /// Writes it, behind the head of its file.
    fn write(&self, task: &Task<'_>, out: &mut RecordWriter<'_>) -> io::Result<()>;

    /// Writes obligations for other solvers; how many.
    fn write_obligations(&self, task: &Task<'_>, out: &mut dyn Write) -> io::Result<usize>;

    /// What it knows of places in the program; nothing, if it does not have all states in memory.
    fn known(&self, _: &Task<'_>, _: &dyn Monitor) -> Result<KnownFacts, Stop> {
        Ok(KnownFacts::default())
    }

    /// How it proves the program safe, in a few words.
    fn how(&self, statistics: &Statistics) -> String;
}

/// A proof that no execution violates anything.
#[derive(Debug)]
pub enum Certificate {
    /// All reachable states, or kinds of states.
    Listed(Listed),
    /// Conditions on values that steps preserve.
    Cubes(CubeProof),
    /// A proof about a program that stands for this one.
    Via(Via),
    /// What leads to violations, for finite data and buffers of any length.
    Basis(BasisProof),
    /// All reachable states, with sets of values for stores whose order is forgotten.
    Pools(PoolProof),
    /// States that cover all others.
    Reduced(Box<ReducedProof>),
    /// A part of the states of a closed set, reduced or not.
    Shared(SharedProof),
    /// The states of a closed set, reduced or not, in files.
    Spilled(SpilledProof),
}

impl Certificate {
    pub(crate) fn proof(&self) -> &dyn Proof {
        match self {
            Certificate::Listed(listed) => listed,
            Certificate::Cubes(cubes) => cubes,
            Certificate::Via(via) => via,
            Certificate::Basis(basis) => basis,
            Certificate::Pools(pools) => pools,
            Certificate::Reduced(reduced) => &**reduced,
            Certificate::Shared(shared) => shared,
            Certificate::Spilled(spilled) => spilled,
        }
    }

    /// The states it lists; a proof by cubes and one that goes backwards list none, of one that processes share
    /// nobody has all, and for those in files there is no room.
    pub fn set(&self) -> Option<&ClosedSet> {
        match self {
            Certificate::Listed(Listed { set, .. }) | Certificate::Via(Via { set, .. }) => Some(set),
            Certificate::Pools(PoolProof { set, .. }) => Some(set),
            Certificate::Reduced(proof) => Some(&proof.set),
            Certificate::Cubes(_)
            | Certificate::Basis(_)
            | Certificate::Shared(_)
            | Certificate::Spilled(_) => None,
        }
    }

    /// How it proves the program safe, in a few words.
    pub fn how(&self, statistics: &Statistics) -> String {
        self.proof().how(statistics)
    }
}

/// All reachable states. The obligations: every initial state is in the set; no state in it violates
/// anything; every successor of a state in it, on the exact machine with unbounded buffers, is in
/// it; no step overflows or chooses freely.
///
/// With gaps, the states are normal forms of that abstraction, and the obligations are about those;
/// besides, window and precision must be large enough for the program, so that steps and
/// properties mean the same for all states that a normal form stands for.
#[derive(Debug)]
pub struct Listed {
    /// Set if the states are normal forms.
    pub gaps: Option<Gaps>,
    /// The states.
    pub set: ClosedSet,
}

/// What holds in every control of a machine that forgets the order of old stores: an inductive set of
/// (control, cube) of a [`machine::Buffered`] machine. The obligations: the initial values satisfy
/// a cube; no cube allows a violation; whatever a move makes of a cube satisfies a cube again
/// (where a thread may go first, only its edges). Where cubes are listed up to names, "a cube" is one of those meant, and every renaming
/// must preserve the program. A cube is a conjunction of predicates and negated
/// predicates; one about a pool's slot speaks of every member of the pool.
///
/// Proofs about other machines have the same form; what is recalled is theirs then.
#[derive(Clone, Debug)]
pub struct CubeProof<R = Recall, G = Option<ThreadId>, L = Local> {
    /// How much the machine recalls.
    pub recall: R,
    /// Up to which names cubes are listed: what is meant are all that these make of them, one after the other.
    pub renamings: Box<[Renaming]>,
    /// What the variables of the predicates stand for: slots.
    pub vocabulary: Vocabulary,
    /// The predicates.
    pub predicates: Vec<Atom>,
    /// The controls: who is inside an atomic section (what threads share), and every thread's.
    pub controls: Vec<(G, Vec<L>)>,
    /// The cubes.
    pub cubes: Vec<Cube>,
}

/// What holds in a control.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Cube {
    /// The number of the control.
    pub control: u32,
    /// Predicates by number, each as it stands (true) or negated, in increasing order.
    pub literals: Vec<(u32, bool)>,
}

/// A finite basis of an upward-closed set of states ([`machine::Backward`]). The obligations: every
/// violation is in the set; whoever can step into it is in it already; no run starts in it. Besides, every renaming
/// must preserve the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BasisProof {
    /// What is known of stores on their way.
    pub stores: Stores,
    /// Up to which names elements are listed: the set holds all that these make of them, one after the other.
    pub renamings: Vec<Renaming>,
    /// Its elements.
    pub elements: Vec<Element>,
}

/// What a basis knows of the stores on their way to memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stores {
    /// All that the memory model does.
    InOrder,
    /// The same; and an exploration tells what never comes together.
    Explored,
    /// How many of each there are, and the newest per variable.
    Counted,
}

/// All reachable states of a machine that keeps the k oldest stores of every queue in order and of the
/// others the set of their values ([`machine::Pooled`]). The obligations are those of a closed set.
#[derive(Debug)]
pub struct PoolProof {
    /// How many stores of a queue are kept in order.
    pub k: usize,
    /// The states.
    pub set: ClosedSet,
}

/// States that cover all reachable ones, perhaps of the program without the values of some variables
/// ([`Program::without_values`]): perhaps only those in which every thread has gone as far as it can
/// alone ([`machine::Settled`]), perhaps by the steps of a few agents ([`machine::Stubborn`]), perhaps one of all
/// that differ in the names of threads only ([`machine::Symmetric`]). The obligations are those of a closed set, for the successors that are
/// left, settled and renamed; besides, every renaming must preserve the program.
#[derive(Debug)]
pub struct ReducedProof {
    /// The variables whose values are forgotten.
    pub forgotten: Vec<VarId>,
    /// Set if the states are normal forms of the gap abstraction, of which one stands for all that differ in names.
    pub gaps: Option<Gaps>,
    /// By which rules steps are left out.
    pub rules: Rules,
    /// Up to which names states are listed: what these come to, one after the other.
    pub renamings: Vec<Renaming>,
    /// The states.
    pub set: ClosedSet,
}

impl ReducedProof {
    /// The program whose states are listed, if that may be asked in the place of this one.
    pub(crate) fn subject<'p>(&self, program: &'p Program) -> Option<Cow<'p, Program>> {
        subject(program, &self.forgotten)
    }
}

/// The program without the values of these variables.
fn subject<'p>(program: &'p Program, forgotten: &[VarId]) -> Option<Cow<'p, Program>> {
    match forgotten {
        [] => Some(Cow::Borrowed(program)),
        some => program.without_values(some).map(Cow::Owned),
    }
}

/// One of several parts of a closed set, each of which another process has: of [`Listed`] states, or of those that
/// cover all others like those of a [`ReducedProof`]. The obligations are the same, for all parts together.
#[derive(Debug)]
pub struct SharedProof {
    /// By which rules steps are left out.
    pub rules: Rules,
    /// Up to which names states are listed.
    pub renamings: Vec<Renaming>,
    /// The states of this process, and what the numbers of controls mean to all.
    pub part: ClosedSet,
    /// How many states all have together.
    pub states: usize,
    /// Which process this is.
    pub process: usize,
    /// How many there are.
    pub processes: usize,
}

/// A closed set whose states are in files: of [`Listed`] states, or of those that cover all others like those of a
/// [`ReducedProof`]. The obligations are the same.
pub struct SpilledProof {
    /// By which rules steps are left out.
    pub rules: Rules,
    /// Up to which names states are listed.
    pub renamings: Vec<Renaming>,
    /// What the numbers of controls mean.
    pub controls: Controls,
    /// The states, one part behind the other.
    pub parts: Vec<SpilledStates>,
    /// How many bytes of memory the check may take.
    pub budget: usize,
}

/// A dictionary: what the numbers of a machine's controls mean.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Controls<G = Option<ThreadId>, L = Local> {
    /// The shared ones; with store buffers, who is inside an atomic section.
    pub globals: Vec<G>,
    /// Those of each thread.
    pub locals: Vec<Vec<L>>,
}

/// Those of a machine.
pub type ControlsOf<M> = Controls<<M as Machine>::Global, <M as Machine>::Local>;

impl<G: Clone, L: Clone> Controls<G, L> {
    /// As a stepper has numbered them.
    pub fn of<M: Machine<Global = G, Local = L>>(stepper: &Stepper<'_, M>) -> Controls<G, L> {
        let threads = stepper.machine().program().thread_ids();
        let locals = threads.map(|thread| stepper.locals(thread).cloned().collect()).collect();
        Controls { globals: stepper.globals().cloned().collect(), locals }
    }

    /// Makes a stepper number them so, if they exist and none is named twice.
    pub(crate) fn number<M>(&self, stepper: &mut Stepper<'_, M>) -> Result<(), Rejected>
    where
        M: Machine<Global = G, Local = L>,
    {
        let machine = stepper.machine();
        let program = machine.program();
        let mut exist = self.locals.len() == program.threads.len();
        for (at, global) in self.globals.iter().enumerate() {
            exist = exist && machine.may_share(global);
            exist = exist && stepper.global_id(global) as usize == at;
        }
        for (thread, locals) in program.thread_ids().zip(&self.locals) {
            for (at, local) in locals.iter().enumerate() {
                exist = exist && machine.may_have(thread, local);
                exist = exist && stepper.local_id(thread, local) as usize == at;
            }
        }
        if exist { Ok(()) } else { Err(Rejected::Dictionary) }
    }

    /// Whether the controls of a state are named. A stepper numbers more while it runs.
    pub(crate) fn name(&self, state: &State) -> bool {
        let known = state.locals.iter().zip(&self.locals).all(|(id, all)| (*id as usize) < all.len());
        known && (state.global as usize) < self.globals.len() && state.locals.len() == self.locals.len()
    }
}

/// A set of packed states with the dictionary of their control.
pub struct ClosedSet<G = Option<ThreadId>, L = Local> {
    /// What the numbers of controls mean.
    pub controls: Controls<G, L>,
    /// The states.
    pub states: StateSet,
}

/// One of a machine.
pub type ClosedSetOf<M> = ClosedSet<<M as Machine>::Global, <M as Machine>::Local>;

impl<G, L> std::fmt::Debug for ClosedSet<G, L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClosedSet({} states)", self.states.len())
    }
}
