//! What programs do: memory models as symbolic moves, and their concrete execution.
//!
//! [`Machine`] lists symbolic [`Move`]s over [`Slot`]s; [`Buffered`] is the machine of a
//! [`MemoryModel`]. [`Configuration`] runs moves one by one over unbounded integers, for
//! replaying and walking; [`Stepper`] runs compiled moves over 64-bit values with overflow
//! checks, for exploring.

mod account;
mod ahead;
mod backward;
mod buffered;
mod cartesian;
mod code;
mod compiled;
mod configuration;
mod contexts;
mod domain;
mod doubt;
mod drain_first;
mod effect;
mod flatten;
mod gap_plan;
mod gap_stepper;
mod gaps;
mod goals;
mod in_reach;
mod local_first;
mod model;
mod moves;
mod pack;
mod parts;
mod persistent;
mod pooled;
mod pso;
mod records;
mod reduced;
mod reduced_domain;
mod remembered;
mod robust;
mod sc;
mod settled;
mod shards;
mod state;
mod state_set;
mod stepper;
mod stubborn;
mod successor_list;
mod symmetric;
mod table;
mod trace;
mod tso;
mod var_set;
mod violation;

pub use account::{Account, Action, ReadFrom, ReplayedStep, replayed_steps};
pub use ahead::GoingAhead;
pub use backward::{Backward, Basis, Before, Demanded, DemandedView, Element, ElementId, LocalState, NoView};
pub use buffered::{Buffered, Forgotten, Keep, Local, Recall, WithBuffers};
pub use cartesian::Cartesian;
pub use configuration::{Configuration, Enabled};
pub use contexts::{ContextStep, Contexts, NEVER, Planned, Turns};
pub use domain::DataDomain;
pub use doubt::{Doubt, Statement};
pub use flatten::{Flattened, NotFlat};
pub use gap_plan::Unsupported;
pub use gap_stepper::GapStepper;
pub use gaps::Gaps;
pub use in_reach::{InReach, is_out_of_reach};
pub use local_first::LocalFirst;
pub use model::{Entry, MODELS, MemoryModel, Model, PSO, SC, TSO, model_named};
pub use moves::{Event, Machine, Move, MoveOf, Moves, Slot, ValueSource, initial_value};
pub use pack::short_word;
pub use parts::{Numbering, OwnNumbers, PartedState, PartedSuccessor};
pub use persistent::{Agents, Persistent};
pub use pooled::Pooled;
pub use records::{CHUNK, push_record, record_at, record_number, record_place, record_size, records};
pub use reduced::{OnDomain, Rules, on_kinds, on_reduced};
pub use remembered::{Remembered, TakenUp};
pub use robust::{
    Access, Accesses, Attack, AttackAhead, AttackClass, AttackNames, AttackStep, AttackSteps, Attacked,
    Attacking, Cuts, Delaying, EdgeSet, GoOn, attack_classes, attacks, attacks_within, delays,
    number_controls,
};
pub use settled::Settled;
pub use shards::{SHARDS, shard_of, shard_of_hash, shards_of};
pub use state::{InitialStates, State};
pub use state_set::{Full, Lookup, StateRef, StateSet, state_hash};
pub use stepper::Stepper;
pub use stubborn::{Acting, Stubborn};
pub use successor_list::ExactStep;
pub use symmetric::{Symmetric, closure as renaming_group, renamed_local, usable_renamings};
pub use trace::{Trace, TraceRejected, TraceStep, replay, replay_steps, replay_while};
pub use violation::Violation;

/// What tests look at and nobody else should.
#[doc(hidden)]
pub mod inside {
    pub use crate::backward::element::{Channel, Demand, Layout, queue_covers};
    pub use crate::pack::put;
    pub use crate::parts::{PackedValues, number_at, ones};
    pub use crate::symmetric::key;
    pub use crate::table::PositionTable;
}
