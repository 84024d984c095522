//! `robust`: does it only behave as under SC?

use crate::args::{RobustArgs, chosen_models};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::expand;
use crate::session::{Outputs, Session};
use engine::{ENGINES, Run};
use evidence::{Monitor, Task};

/// Runs the command.
pub fn robust(args: &RobustArgs, console: &Console) -> Result<Exit, CommandError> {
    let models = chosen_models(&args.model);
    let outputs =
        Outputs { evidence: args.evidence.as_ref(), html: args.html.html.as_ref(), force: args.force };
    let session = Session::open("robust", args.report.chosen(), outputs, console)?;
    session.each_file(&expand(&args.files), args.threads, |told, file, stem, threads| {
        let Some(loaded) = session.load(told, file, &args.input) else { return };
        for model in &models {
            let task = Task::robust(&loaded.program, *model);
            let watch = session.watch(args.limits.budget(), &loaded.name, *model, threads);
            let (monitor, order) = (&watch, args.search);
            let run = Run { monitor, threads: watch.threads(), order, ..Run::default() };
            session.answer(told, (&loaded, stem), &task, ENGINES[0], (&run, &watch));
        }
    })
}
