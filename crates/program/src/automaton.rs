//! Threads as automata: locations, and edges that carry one operation each.

use crate::{Cond, EdgeId, Expr, Int, Loc, RegId, Span, VarId};
use std::sync::Arc;

/// A set of integers to choose a value from.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Domain {
    /// Every integer.
    All,
    /// From the first up to and including the second.
    Range(Int, Int),
}

impl Domain {
    /// Just this value.
    pub fn only(value: impl Into<Int>) -> Domain {
        let value = value.into();
        Domain::Range(value.clone(), value)
    }

    /// The value, if there is only one.
    pub fn single(&self) -> Option<&Int> {
        match self {
            Domain::Range(low, high) if low == high => Some(low),
            _ => None,
        }
    }

    /// One of its values.
    pub fn example(&self) -> Int {
        match self {
            Domain::All => Int::ZERO,
            Domain::Range(low, _) => low.clone(),
        }
    }

    /// Whether the value belongs to it.
    pub fn contains(&self, value: &Int) -> bool {
        match self {
            Domain::All => true,
            Domain::Range(low, high) => low <= value && value <= high,
        }
    }
}

/// What a fence waits for or orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Fence {
    /// Waits until all buffers of the thread are empty.
    Full,
    /// Lets no later store of the thread reach memory before an earlier one.
    Store,
}

/// What an edge does. Expressions speak of the thread's registers only.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Nothing.
    Skip,
    /// `register := expression`
    Assign(RegId, Expr<RegId>),
    /// `register := any value of the domain`
    Havoc(RegId, Domain),
    /// Passes only if the condition holds.
    Assume(Cond<RegId>),
    /// `register := variable`
    Load(RegId, VarId),
    /// `variable := expression`
    Store(VarId, Expr<RegId>),
    /// A fence.
    Fence(Fence),
    /// Starts an atomic section: waits for empty buffers and for nobody else to be in one.
    Lock,
    /// Ends the atomic section.
    Unlock,
    /// Several operations as one indivisible step, which passes only if every `Assume` in it
    /// does. Holds `Assign`, `Assume`, `Load` and `Store` only.
    Block {
        /// A whole atomic section in one step: waits for empty buffers, like `Lock`. A block
        /// that is not locked sees the thread's own buffers and holds no `Store`.
        locked: bool,
        /// What is done, in order.
        parts: Vec<Op>,
    },
}

impl Op {
    /// A whole atomic section in one indivisible step.
    pub fn locked(parts: Vec<Op>) -> Op {
        Op::Block { locked: true, parts }
    }

    /// Operations that store nothing, as one step.
    pub fn together(mut parts: Vec<Op>) -> Op {
        match parts.len() {
            0 => Op::Skip,
            1 => parts.swap_remove(0),
            _ => Op::Block { locked: false, parts },
        }
    }

    /// The operations of a block, or this one.
    pub fn parts(&self) -> &[Op] {
        match self {
            Op::Block { parts, .. } => parts,
            plain => std::slice::from_ref(plain),
        }
    }

    /// Calls `visit` on every operation that is not itself a `Block`: this one, or its parts.
    pub fn for_each_part<'a>(&'a self, visit: &mut impl FnMut(&'a Op)) {
        match self {
            Op::Block { parts, .. } => parts.iter().for_each(|part| part.for_each_part(visit)),
            plain => visit(plain),
        }
    }

    /// The register written, for operations that are not a `Block`.
    pub fn writes(&self) -> Option<RegId> {
        match self {
            Op::Assign(register, _) | Op::Havoc(register, _) | Op::Load(register, _) => Some(*register),
            _ => None,
        }
    }

    /// Calls `visit` on every register read, for operations that are not a `Block`.
    pub fn for_each_read<'a>(&'a self, visit: &mut impl FnMut(&'a RegId)) {
        match self {
            Op::Assign(_, value) | Op::Store(_, value) => value.for_each_leaf(visit),
            Op::Assume(cond) => cond.for_each_leaf(visit),
            _ => {}
        }
    }

    /// Whether it waits until the thread's buffer is empty. (Inside an atomic section the buffer is.)
    pub fn waits(&self) -> bool {
        matches!(self, Op::Fence(Fence::Full) | Op::Lock | Op::Unlock | Op::Block { locked: true, .. })
    }

    /// Whether nobody can take it, as it is written.
    pub fn is_impossible(&self) -> bool {
        self.parts().contains(&Op::Assume(Cond::FALSE))
    }

    /// Whether it neither touches memory or buffers nor waits for them.
    pub fn is_local(&self) -> bool {
        matches!(self, Op::Skip | Op::Assign(..) | Op::Havoc(..) | Op::Assume(_))
    }
}

/// Why standing at a location is a violation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// An assertion did not hold.
    Assertion,
    /// An index left its array.
    Bounds {
        /// The array's name.
        array: String,
        /// How many cells it has.
        length: usize,
        /// The index that was used.
        index: Expr<RegId>,
    },
    /// A divisor was zero.
    Division,
    /// Something else that must not happen, in words.
    Error(String),
    /// What would come next was not read, for the reason given: a run that gets here says nothing, and
    /// *safe* means that none does.
    Limit(String),
}

/// A violation inside a thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// What kind of violation.
    pub kind: FailureKind,
    /// The assertion or access it belongs to.
    pub span: Span,
}

/// A control location.
#[derive(Clone, Debug, Default)]
pub struct Location {
    /// The names given to it in the source.
    pub labels: Vec<String>,
    /// Set if standing here is a violation. Such a location has no outgoing edges.
    pub failure: Option<Failure>,
    /// The statement that starts here.
    pub span: Span,
}

/// A step between two locations.
#[derive(Clone, Debug)]
pub struct Edge {
    /// Where it starts.
    pub from: Loc,
    /// Where it leads.
    pub to: Loc,
    /// What it does.
    pub op: Op,
    /// The statement it comes from.
    pub span: Span,
    /// The call that the statement stands in, if its function was inlined.
    pub call: Option<Arc<CallSite>>,
}

/// A call of a function that was inlined.
#[derive(Debug, PartialEq, Eq)]
pub struct CallSite {
    /// The statement that calls.
    pub span: Span,
    /// The call that this statement stands in itself.
    pub caller: Option<Arc<CallSite>>,
}

impl CallSite {
    /// This call, the one that it stands in, and so on.
    pub fn chain(&self) -> impl Iterator<Item = &CallSite> {
        std::iter::successors(Some(self), |call| call.caller.as_deref())
    }
}

/// A thread: built by a [`crate::ThreadBuilder`], immutable afterwards.
#[derive(Clone, Debug)]
pub struct Thread {
    /// Its name.
    pub name: String,
    /// Names of its registers; a [`RegId`] is an index here. All start at 0.
    pub registers: Vec<String>,
    pub(crate) locations: Vec<Location>,
    /// Sorted by `from`.
    pub(crate) edges: Vec<Edge>,
    /// `edges[first[l]..first[l + 1]]` leave location `l`.
    pub(crate) first: Vec<u32>,
    /// Whether a location lies inside an atomic section.
    pub(crate) atomic: Vec<bool>,
}

impl Thread {
    /// Where the thread starts.
    pub fn entry(&self) -> Loc {
        Loc::new(0)
    }

    /// All locations, in order.
    pub fn locs(&self) -> impl Iterator<Item = Loc> + use<> {
        (0..self.locations.len()).map(Loc::new)
    }

    /// The location with this id.
    pub fn location(&self, loc: Loc) -> &Location {
        &self.locations[loc.index()]
    }

    /// All edges, in order of the location they leave.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edge with this id.
    pub fn edge(&self, id: EdgeId) -> &Edge {
        &self.edges[id.index()]
    }

    /// The edges that leave a location.
    pub fn outgoing(&self, loc: Loc) -> impl Iterator<Item = (EdgeId, &Edge)> {
        let range = self.first[loc.index()] as usize..self.first[loc.index() + 1] as usize;
        range.map(|index| (EdgeId::new(index), &self.edges[index]))
    }

    /// Whether the thread has ended there: nothing leaves the location, and it is no failure.
    pub fn is_end(&self, loc: Loc) -> bool {
        self.first[loc.index()] == self.first[loc.index() + 1] && self.location(loc).failure.is_none()
    }

    /// Whether the location lies inside an atomic section, so that the thread holds the lock there.
    pub fn in_atomic(&self, loc: Loc) -> bool {
        self.atomic[loc.index()]
    }

    /// The variable of a store that is delayed where stores are buffered: one outside of atomic
    /// sections.
    pub fn delayed_store(&self, edge: &Edge) -> Option<VarId> {
        match edge.op {
            Op::Store(variable, _) if !self.in_atomic(edge.from) => Some(variable),
            _ => None,
        }
    }

    /// The locations that carry a label (several when a loop around it was unrolled).
    pub fn labelled(&self, label: &str) -> Vec<Loc> {
        self.locs().filter(|loc| self.location(*loc).labels.iter().any(|l| l == label)).collect()
    }
}
