//! The attacker of robustness, as a machine [004, sec. 2.3.3 and Fig. 3.4].
//!
//! [`attacks`](self::attacks()) says which stores may be delayed past which accesses so that it can matter, by
//! the program text alone, and `besides` which others may have to be delayed as well; [`Delaying`] is the machine in which one
//! thread delays its stores; [`Attacking`] adds the chain of helpers and knows a witness when it sees one. The
//! engine searches with it, and the checker closes the set of its states on its own.

mod attacking;
mod attacks;
mod besides;
mod delaying;
mod reaching;

pub use attacking::{AttackStep, Attacked, Attacking, number_controls};
pub use attacks::{Access, Accesses, Attack, Cuts, GoOn, attacks, attacks_within, delays};
pub use delaying::Delaying;
pub use reaching::EdgeSet;
