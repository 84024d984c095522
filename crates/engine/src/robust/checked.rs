//! Answers about robustness with their proof checked.

use super::{Cuts, RobustWork, Robustness, robust_proved};
use crate::Run;
use evidence::{CheckedRobust, Reason, Rejected, check_robust};
use program::Program;

/// As [`robust_proved`], with the proof checked. Stopped while checking, nothing is known; a proof
/// that does not pass is a bug of ours and never an answer.
pub fn robust_checked(
    program: &Program,
    run: &Run<'_>,
    cuts: Cuts,
) -> Result<(Robustness, RobustWork, Option<CheckedRobust>), Rejected> {
    let (answer, work, proof) = robust_proved(program, run, cuts);
    if !matches!(answer, Robustness::Robust) {
        return Ok((answer, work, None));
    }
    match check_robust(program, proof.unwrap_or_default(), run.monitor) {
        Ok(checked) => Ok((answer, work, Some(checked))),
        Err(Rejected::Stopped(stop)) => Ok((Robustness::Unknown(vec![Reason::Stopped(stop)]), work, None)),
        Err(why) => Err(why),
    }
}
