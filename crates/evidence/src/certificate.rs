//! Certificates: what proves a program safe.

use crate::Rejected;
use crate::symbolic::Vocabulary;
use logic::Atom;
use machine::{Gaps, Local, Recall, State, StateSet, Stepper, WithBuffers};
use program::{Delay, ThreadId};

/// A proof that no execution violates anything.
#[derive(Debug)]
pub enum Certificate {
    /// All reachable states, listed. The checker's obligations: every initial state is in the
    /// set; no state in it violates anything; every successor of a state in it, on the exact
    /// machine with unbounded buffers, is in it; no step overflows or chooses freely.
    Closed(ClosedSet),
    /// All reachable normal forms of the gap abstraction with this window and precision. The
    /// obligations are the same, on normal forms; besides, window and precision must be large
    /// enough for the program, so that steps and properties mean the same for all states that a
    /// normal form stands for.
    Gaps(Gaps, ClosedSet),
    /// What holds in every control of a machine that forgets the order of old stores. The
    /// obligations: the initial values satisfy a cube; no cube allows a violation; whatever a
    /// move makes of a cube satisfies a cube again (where a thread may go first, only its edges).
    Cubes(CubeProof),
    /// Safe under TSO because the program, extended by these delays, is robust and safe under
    /// SC. The checker extends the program again; the set owes the same as the other two, under
    /// SC and of the extended program, and besides no attack from its states may have a
    /// witness. Normal forms prove the robustness only of programs that no attack can matter to.
    Robust {
        /// The extensions, each of the program that the ones before it give.
        delays: Vec<Delay>,
        /// Set if the states are normal forms.
        gaps: Option<Gaps>,
        /// The states of the extended program under SC.
        set: ClosedSet,
    },
}

impl Certificate {
    /// The states it lists; a proof by cubes lists none.
    pub fn set(&self) -> Option<&ClosedSet> {
        match self {
            Certificate::Closed(set) | Certificate::Gaps(_, set) | Certificate::Robust { set, .. } => {
                Some(set)
            }
            Certificate::Cubes(_) => None,
        }
    }
}

/// An inductive set of (control, cube) of a [`machine::Buffered`] machine. A cube is a
/// conjunction of predicates and negated predicates; one about a pool's slot speaks of every
/// member of the pool.
#[derive(Clone, Debug)]
pub struct CubeProof {
    /// How much the machine recalls.
    pub recall: Recall,
    /// What the variables of the predicates stand for: slots.
    pub vocabulary: Vocabulary,
    /// The predicates.
    pub predicates: Vec<Atom>,
    /// The controls: who is inside an atomic section, and every thread's.
    pub controls: Vec<(Option<ThreadId>, Vec<Local>)>,
    /// The cubes.
    pub cubes: Vec<Cube>,
}

/// What holds in a control.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cube {
    /// The number of the control.
    pub control: u32,
    /// Predicates by number, each as it stands (true) or negated, in increasing order.
    pub literals: Vec<(u32, bool)>,
}

/// A dictionary: what the numbers of controls mean.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Controls {
    /// The shared ones: who is inside an atomic section.
    pub globals: Vec<Option<ThreadId>>,
    /// Those of each thread.
    pub locals: Vec<Vec<Local>>,
}

impl Controls {
    /// As a stepper has numbered them.
    pub fn of<M: WithBuffers>(stepper: &Stepper<'_, M>) -> Controls {
        let threads = stepper.machine().program().thread_ids();
        let locals = threads.map(|thread| stepper.locals(thread).cloned().collect()).collect();
        Controls { globals: stepper.globals().copied().collect(), locals }
    }

    /// Makes a stepper number them so, if they exist and none is named twice.
    pub(crate) fn number<M: WithBuffers>(&self, stepper: &mut Stepper<'_, M>) -> Result<(), Rejected> {
        let machine = stepper.machine();
        let program = machine.program();
        let mut exist = self.locals.len() == program.threads.len();
        for (at, global) in self.globals.iter().enumerate() {
            exist = exist && global.is_none_or(|thread| thread.index() < program.threads.len());
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
pub struct ClosedSet {
    /// What the numbers of controls mean.
    pub controls: Controls,
    /// The states.
    pub states: StateSet,
}

impl std::fmt::Debug for ClosedSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "ClosedSet({} states)", self.states.len())
    }
}
