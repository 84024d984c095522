//! `verify`: is it safe?
//!
//! Every file is read once and asked about under each model; a litmus test about its final states.

use super::outcomes;
use crate::args::{Exploring, Sharing, VerifyArgs, chosen_models};
use crate::console::Console;
use crate::crew::{self, processes};
use crate::exit::{CommandError, Exit};
use crate::input::{Loaded, expand};
use crate::predicates_file::predicates_text;
use crate::report::Said;
use crate::session::{Outputs, Session};
use crate::spill::SpillFolder;
use crate::whole_file::write_text;
use engine::{Engine, Explicit, Facts, Finding, Plan, PlanEntry, Run, plan};
use evidence::{Spill, Task};

/// Runs the command.
pub fn verify(args: &VerifyArgs, console: &Console) -> Result<Exit, CommandError> {
    let outputs =
        Outputs { evidence: args.evidence.as_ref(), html: args.html.html.as_ref(), force: args.force };
    let session = Session::open("verify", args.report.chosen(), outputs, console)?;
    let models = chosen_models(&args.model);
    let files = expand(&args.files);
    if args.save_predicates.is_some() && (files.len() > 1 || models.len() > 1) {
        let why = "--save-predicates takes one file and one model: a proof of another has others";
        return Err(why.to_string().into());
    }
    let engine = engine_on(&args.sharing, &args.exploring)?;
    let waiting = session.watch_over(args.limits.budget(), "--hosts".to_string());
    let processes = processes(&args.sharing, args.threads, &waiting)?;
    drop(waiting);
    let memory = args.limits.budget().memory;
    let spill = args.sharing.spill.as_ref().map(|folder| SpillFolder::new(folder, memory)).transpose()?;
    // Processes must ask the same questions in the same order.
    let at_once = if processes.is_some() { Some(1) } else { args.threads };
    let exit = session.each_file(&files, at_once, |told, file, stem, threads| {
        let Some(loaded) = session.load_claiming(told, file, &args.input) else { return };
        for model in &models {
            let task = Task::asked(&loaded.program, *model);
            if args.planning.explain_plan {
                session.say(told, &Said::Plan(&loaded.name, &explained(&task, &args.exploring)));
                continue;
            }
            let watch = session.watch(args.limits.budget(), &loaded.name, *model, threads);
            let watch = watch.verbose(session.look().verbose);
            let own = crew::threads(threads, engine);
            let run = Run {
                crew: processes.as_deref().unwrap_or(&*own),
                spill: spill.as_ref().map(|spill| spill as &dyn Spill),
                ..args.exploring.run(&watch)
            };
            let found = session.answer(told, (&loaded, stem), &task, engine, (&run, &watch));
            let Some(found) = found else { continue };
            if args.outcomes {
                outcomes::show_runs(&session, told, (&loaded, stem), &task, &found, &run);
            }
            if args.strict && !(loaded.warnings.is_empty() && found.vacuous.is_empty()) {
                told.ends(Exit::Unknown);
            }
            if let Err(why) = save(args, &session, &loaded, &found) {
                session.trouble(why);
            }
        }
        // Of processes that share the work, one says the answer.
        if args.sharing.process.is_some_and(|process| process > 0) {
            told.printed.out.clear();
        }
    })?;
    session.ended(exit)
}

/// The engine that was asked for. Processes share the searches of one only, and only its states go to files.
fn engine_on(sharing: &Sharing, exploring: &Exploring) -> Result<&'static dyn Engine, String> {
    let engine = exploring.engine();
    match (&sharing.hosts, &sharing.spill, engine.name()) {
        (None, None, _) | (_, _, "explicit") => Ok(engine),
        (_, _, "portfolio") => Ok(&Explicit),
        (Some(_), _, other) => Err(format!(
            "processes share searches of engine explicit, not of {other}: leave out --engine or --hosts"
        )),
        (None, Some(_), other) => Err(format!(
            "states of engine explicit go to files, not of {other}: leave out --engine or --spill"
        )),
    }
}

/// Writes the predicates that the proof used, if they are wanted.
fn save(args: &VerifyArgs, session: &Session<'_>, loaded: &Loaded, found: &Finding) -> Result<(), String> {
    let Some(path) = &args.save_predicates else { return Ok(()) };
    write_text(path, args.force, &session.interrupt, &predicates_text(loaded, &found.checked)?)
}

/// The portfolio's plan, or the one engine that was asked for.
pub fn explained<'p>(task: &Task<'p>, exploring: &Exploring) -> Plan<'p> {
    let engine = exploring.engine();
    if engine.name() == "portfolio" {
        return plan(task);
    }
    let why = "it was asked for".to_string();
    let entries = vec![PlanEntry { engine, share: 100, why, head_start: None }];
    Plan { facts: Facts::of(task), entries, left_out: Vec::new() }
}
