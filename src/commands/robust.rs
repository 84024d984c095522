//! `robust`: does it only behave as under SC?

use crate::args::{RobustArgs, chosen_models};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::expand;
use crate::session::{Outputs, Session};
use engine::{ENGINES, Run};
use evidence::{Monitor, Task};
use machine::{Model, TSO};

/// Runs the command.
pub fn robust(args: &RobustArgs, console: &Console) -> Result<Exit, CommandError> {
    let model = chosen_models(&args.model)[0];
    supported(model)?;
    let outputs =
        Outputs { evidence: args.evidence.as_ref(), html: args.html.html.as_ref(), force: args.force };
    let session = Session::open("robust", args.report.chosen(), outputs, console)?;
    session.each_file(&expand(&args.files), args.threads, |told, file, stem, threads| {
        let Some(loaded) = session.load(told, file, &args.input) else { return };
        let task = Task::robust(&loaded.program, model);
        let watch = session.watch(args.limits.budget(), &loaded.name, model, threads);
        let run = Run { monitor: &watch, threads: watch.threads(), ..Run::default() };
        session.answer(told, (&loaded, stem), &task, ENGINES[0], (&run, &watch));
    })
}

/// Robustness against this model can be asked about.
pub fn supported(model: Model) -> Result<(), CommandError> {
    if model.is_sc() || model == TSO {
        return Ok(());
    }
    let other = model.name().to_uppercase();
    Err(CommandError::Message(format!("robustness against {other} is not supported, only against TSO")))
}
