//! `verify`: is it safe?
//!
//! Every file is read once and asked about under each model; a litmus test about its final states.

use crate::args::{Exploring, VerifyArgs, chosen_models};
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use crate::input::expand;
use crate::report::Said;
use crate::session::{Outputs, Session};
use engine::{Entry, Facts, Plan, plan};
use evidence::Task;

/// Runs the command.
pub fn verify(args: &VerifyArgs, console: &Console) -> Result<Exit, CommandError> {
    let outputs =
        Outputs { evidence: args.evidence.as_ref(), html: args.html.html.as_ref(), force: args.force };
    let session = Session::open("verify", args.report.chosen(), outputs, console)?;
    let models = chosen_models(&args.model);
    session.each_file(&expand(&args.files), args.threads, |told, file, stem, threads| {
        let Some(loaded) = session.load_claiming(told, file, &args.input) else { return };
        for model in &models {
            let task = Task::asked(&loaded.program, *model);
            if args.planning.explain_plan {
                session.say(told, &Said::Plan(&loaded.name, &explained(&task, &args.exploring)));
                continue;
            }
            let watch = session.watch(args.limits.budget(), &loaded.name, *model, threads);
            let watch = watch.verbose(session.look().verbose);
            let run = args.exploring.run(&watch);
            session.answer(told, (&loaded, stem), &task, args.exploring.engine(), (&run, &watch));
        }
    })
}

/// The portfolio's plan, or the one engine that was asked for.
pub fn explained<'p>(task: &Task<'p>, exploring: &Exploring) -> Plan<'p> {
    let engine = exploring.engine();
    let alone = |why: &str| Plan {
        facts: Facts::of(task),
        entries: vec![Entry { engine, share: 100, why: why.to_string() }],
        left_out: Vec::new(),
    };
    match engine.name() {
        "portfolio" => plan(task),
        _ => alone("it was asked for"),
    }
}
