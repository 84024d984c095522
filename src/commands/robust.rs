//! `robust`: does it only behave as under SC?
//!
//! Decided is robustness against TSO. Of PSO that says: whoever is not robust against TSO is not robust against PSO,
//! which allows all that TSO allows; and where no thread delays stores to several variables the two are the same.
//! Otherwise a program that is robust against TSO may still let a store overtake another under PSO, and nobody knows.

use crate::args::{RobustArgs, chosen_models};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::expand;
use crate::report::{Failed, Said};
use crate::session::{Outputs, Session};
use engine::{ENGINES, Run};
use evidence::{Monitor, Task};
use machine::{Model, TSO};

/// Runs the command.
pub fn robust(args: &RobustArgs, console: &Console) -> Result<Exit, CommandError> {
    let model = chosen_models(&args.model)[0];
    let decided = if supported(model).is_ok() { model } else { TSO };
    let outputs =
        Outputs { evidence: args.evidence.as_ref(), html: args.html.html.as_ref(), force: args.force };
    let session = Session::open("robust", args.report.chosen(), outputs, console)?;
    session.each_file(&expand(&args.files), args.threads, |told, file, stem, threads| {
        let Some(loaded) = session.load(told, file, &args.input) else { return };
        let task = Task::robust(&loaded.program, decided);
        let watch = session.watch(args.limits.budget(), &loaded.name, decided, threads);
        let order = args.search.into();
        let run = Run { monitor: &watch, threads: watch.threads(), order, ..Run::default() };
        let found = session.answer(told, (&loaded, stem), &task, ENGINES[0], (&run, &watch));
        let robust = found.is_some_and(|found| found.checked.holds() == Some(true));
        if decided != model && robust && !model.like_tso(&loaded.program) {
            let other = model.name().to_uppercase();
            let reason =
                format!("whether also against {other}, where stores may overtake stores, is not decided");
            let failed = Failed::new("robust", &loaded.name, Some(model), reason);
            session.say(told, &Said::Failure(&Failed { stopped: true, ..failed }));
            told.ends(Exit::Unknown);
        }
    })
}

/// Robustness against this model is decided.
pub fn supported(model: Model) -> Result<(), CommandError> {
    if model.is_sc() || model == TSO {
        return Ok(());
    }
    let other = model.name().to_uppercase();
    Err(CommandError::Message(format!("robustness against {other} is not supported, only against TSO")))
}
