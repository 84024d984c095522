//! The attacker of robustness, as a machine [004, sec. 2.3.3 and Fig. 3.4].
//!
//! [`attacks`](self::attacks()) says which stores may be delayed past which accesses so that it can matter, by
//! the program text alone, `besides` which others may have to be delayed as well, and [`attack_classes`] which attacks differ in
//! names only; [`Delaying`] is the machine in which one thread delays its stores; [`Attacking`] adds the chain of helpers and
//! knows a witness when it sees one, and in [`AttackAhead`] threads go ahead where that loses no witness. The
//! engine searches with it, and the checker closes the set of its states on its own.

mod ahead;
mod attacking;
mod attacks;
mod besides;
mod classes;
mod delaying;
mod reaching;

pub use ahead::{AttackAhead, AttackSteps};
pub use attacking::{AttackStep, Attacked, Attacking, number_controls};
pub use attacks::{Access, Accesses, Attack, Cuts, GoOn, attacks, attacks_within, delays};
pub use classes::{AttackClass, AttackNames, attack_classes};
pub use delaying::Delaying;
pub use reaching::EdgeSet;
