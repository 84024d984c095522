//! What programs do: memory models as symbolic moves, and their concrete execution.
//!
//! [`Machine`] lists symbolic [`Move`]s over [`Slot`]s; [`Exact`] is the machine of a
//! [`MemoryModel`]. [`Configuration`] runs moves one by one over unbounded integers, for
//! replaying and walking; [`Stepper`] runs compiled moves over 64-bit values with overflow
//! checks, for exploring. [`reference`](mod@reference) is an independent, slow interpreter
//! that exists only so that tests can compare the two.

mod account;
mod code;
mod compiled;
mod configuration;
mod effect;
mod exact;
mod forgetful;
mod gap_plan;
mod gap_stepper;
mod gaps;
mod local_first;
mod model;
mod moves;
mod pack;
mod persistent;
mod pso;
pub mod reference;
mod robust;
mod rules;
mod sc;
mod state_set;
mod stepper;
mod table;
mod trace;
mod tso;
mod violation;

pub use account::{Account, Action, ReadFrom, ReplayedStep, replayed_steps};
pub use configuration::{Configuration, Enabled};
pub use exact::{Exact, Local};
pub use forgetful::{Blur, BlurredMove, Forgetful, Forgotten, Keep, Recall, Shape};
pub use gap_plan::Unsupported;
pub use gap_stepper::GapStepper;
pub use gaps::Gaps;
pub use local_first::LocalFirst;
pub use model::{Entry, MODELS, MemoryModel, Model, model_named};
pub use moves::{Event, Machine, Move, MoveOf, Moves, Slot, Source, initial_value};
pub use persistent::{Agents, Persistent};
pub use robust::{
    Access, Accesses, Attack, AttackStep, Attacked, Attacking, Cuts, Delaying, EdgeSet, GoOn, attacks,
    attacks_within, delays, number_controls,
};
pub use state_set::{Full, Lookup, StateRef, StateSet};
pub use stepper::{Doubt, InitialStates, State, Statement, Stepper};
pub use trace::{Rejected, Trace, TraceStep, replay, replay_steps, replay_while};
pub use violation::Violation;
