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
use crate::whole_file::write_whole;
use engine::{Engine, Explicit, Facts, Finding, Plan, PlanEntry, Run, plan};
use evidence::{Spill, Task};
use std::io::Write;
use std::sync::{Mutex, PoisonError};

/// Runs the command.
pub fn verify(args: &VerifyArgs, console: &Console) -> Result<Exit, CommandError> {
    let outputs =
        Outputs { evidence: args.evidence.as_ref(), html: args.html.html.as_ref(), force: args.force };
    let session = Session::open("verify", args.report.chosen(), outputs, console)?;
    let models = chosen_models(&args.model);
    let files = expand(&args.files);
    if args.save_predicates.is_some() && (files.len() > 1 || models.len() > 1) {
        let why = "--save-predicates takes one file and one model: a proof of another has others";
        return Err(CommandError::Message(why.to_string()));
    }
    let engine = engine_on(&args.sharing, &args.exploring)?;
    let waiting = session.watch_over(args.limits.budget(), "--hosts".to_string());
    let processes = processes(&args.sharing, args.threads, &waiting).map_err(CommandError::Message)?;
    drop(waiting);
    let memory = args.limits.budget().memory;
    let spill = args.sharing.spill.as_ref().map(|folder| SpillFolder::new(folder, memory));
    let spill = spill.transpose().map_err(CommandError::Message)?;
    // Processes must ask the same questions in the same order.
    let at_once = if processes.is_some() { Some(1) } else { args.threads };
    // What could not be written; the answer stands all the same.
    let trouble: Mutex<Option<String>> = Mutex::default();
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
                *trouble.lock().unwrap_or_else(PoisonError::into_inner) = Some(why);
            }
        }
        // Of processes that share the work, one says the answer.
        if args.sharing.process.is_some_and(|process| process > 0) {
            told.printed.out.clear();
        }
    })?;
    match trouble.into_inner().unwrap_or_else(PoisonError::into_inner) {
        Some(why) => Err(CommandError::Message(why)),
        None => Ok(exit),
    }
}

/// The engine that was asked for. Processes share the searches of one only, and only its states go to files.
fn engine_on(sharing: &Sharing, exploring: &Exploring) -> Result<&'static dyn Engine, CommandError> {
    let engine = exploring.engine();
    let why = match (&sharing.hosts, &sharing.spill, engine.name()) {
        (None, None, _) | (_, _, "explicit") => return Ok(engine),
        (_, _, "portfolio") => return Ok(&Explicit),
        (Some(_), _, other) => {
            format!(
                "processes share searches of engine explicit, not of {other}: leave out --engine or --hosts"
            )
        }
        (None, Some(_), other) => {
            format!("states of engine explicit go to files, not of {other}: leave out --engine or --spill")
        }
    };
    Err(CommandError::Message(why))
}

/// Writes the predicates that the proof used, if they are wanted.
fn save(args: &VerifyArgs, session: &Session<'_>, loaded: &Loaded, found: &Finding) -> Result<(), String> {
    let Some(path) = &args.save_predicates else { return Ok(()) };
    let text = predicates_text(loaded, &found.checked)?;
    let write = |out: &mut dyn Write| out.write_all(text.as_bytes());
    write_whole(path, args.force, &session.interrupt, write)
}

/// The portfolio's plan, or the one engine that was asked for.
pub fn explained<'p>(task: &Task<'p>, exploring: &Exploring) -> Plan<'p> {
    let engine = exploring.engine();
    let alone = |why: &str| Plan {
        facts: Facts::of(task),
        entries: vec![PlanEntry { engine, share: 100, why: why.to_string(), head_start: None }],
        left_out: Vec::new(),
    };
    match engine.name() {
        "portfolio" => plan(task),
        _ => alone("it was asked for"),
    }
}
