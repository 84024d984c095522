//! Verify lock-free programs under SC, TSO and PSO, with evidence anyone can check.
//!
//! Read a program, ask, look at the run, place fences, check evidence:
//!
//! ```
//! use fencewright::{ENGINES, FenceAnswer, FenceOptions, Ignore, Run, TSO, Task};
//!
//! let text = "shared x, y; thread P { let a; x = 1; a = y; } thread Q { let b; y = 1; b = x; }
//!             finally !(P.a == 0 && Q.b == 0);";
//! let program = fencewright::read("sb.fw", text).map_err(|errors| errors[0].message.clone())?;
//! let task = Task::safe(&program, TSO);
//! let found = fencewright::ask(&task, ENGINES[0], &Run::default())?;
//! let violated = found.checked.violated().expect("both may read 0");
//! assert_eq!(violated.account.steps().len(), violated.trace.steps.len());
//!
//! let fences = fencewright::place_fences(&task, ENGINES[0], &FenceOptions::default(), &Run::default())?;
//! let FenceAnswer::Placed(placed) = fences.answer else { panic!("two fences help") };
//! let fenced = fencewright::write_fences(&program, &placed)?;
//! let fenced = fencewright::read("sb.fw", &fenced).map_err(|errors| errors[0].message.clone())?;
//! let safe = fencewright::ask(&Task::safe(&fenced, TSO), ENGINES[0], &Run::default())?;
//! assert_eq!(safe.checked.holds(), Some(true));
//!
//! let mut file = Vec::new();
//! fencewright::write_evidence(&Task::safe(&fenced, TSO), safe.checked.verdict(), fencewright::Form::Text, &mut file)?;
//! let open = || Ok(Box::new(std::io::Cursor::new(file.clone())) as Box<dyn std::io::BufRead>);
//! fencewright::check_file(&fenced, &open, 1 << 24, &Ignore)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! `examples/tour.rs` does the same with a file. The layers below are here as well: [`program`],
//! [`frontend`], [`machine`], [`evidence`] and [`engine`]. What checks evidence needs no engine.
//!
//! The binary is in here too: the modules that are not public, the only ones that touch files, the
//! terminal, the clock and the environment.

pub use {engine, evidence, frontend, machine, program};

pub use engine::{
    Bug, ENGINES, Engine, Explanation, FenceAnswer, FenceOptions, Finding, Placed, Run, ask, engine_named,
    place_fences,
};
pub use evidence::{
    Checked, Form, Goal, Ignore, Monitor, Progress, Stop, Task, Verdict, check, check_file, write_evidence,
};
pub use frontend::Diagnostic;
pub use machine::{MODELS, Model, PSO, SC, TSO, model_named};
pub use program::Program;

mod args;
mod commands;
mod console;
mod crew;
mod evidence_files;
mod exit;
mod html_file;
mod input;
mod limits;
mod numbers;
#[doc(hidden)]
pub mod playground;
mod predicates_file;
mod progress;
mod report;
mod session;
mod spill;
mod whole_file;

#[doc(hidden)]
pub use commands::{conversation, expectations};

use args::{Cli, Command};
use clap::Parser;
use console::Console;
use exit::{CommandError, Exit};
use frontend::Options;
use input::Loaded;
use program::{Source, Span};
use report::Ending;
use std::process::ExitCode;
use std::thread;

/// The program that a text says. The language is found from the name's ending, else from the text.
pub fn read(name: &str, text: &str) -> Result<Program, Vec<Diagnostic>> {
    let Some(frontend) = frontend::choose(None, name, text) else {
        return Err(vec![Diagnostic::error(Span::NONE, "the language is not clear")]);
    };
    let parsed = (frontend.read)(Source::new(name, text), &Options::default())?;
    Ok(parsed.program)
}

/// The text of a program that was read, with fences in it and all else as it was; or why there is none.
pub fn write_fences(program: &Program, placed: &Placed) -> Result<String, String> {
    let (name, text) = (program.source.name(), program.source.text());
    let frontend = frontend::choose(None, name, text).ok_or("the language is not clear")?;
    let (name, options) = (name.to_string(), Options::default());
    let loaded = Loaded {
        name,
        program: program.clone(),
        warnings: Vec::new(),
        remark: None,
        settled: false,
        frontend,
        options,
    };
    commands::with_fences(&loaded, placed)
}

/// Does what the command line says.
#[doc(hidden)]
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        anstream::eprintln!("this is a bug in fencewright, please report it: {panic}");
        std::process::exit(Exit::Error.code().into());
    }));
    // A thread of its own, because that has the stack that deep programs need.
    let own = thread::Builder::new().stack_size(evidence::STACK).spawn(obey);
    own.map_or_else(|_| obey(), |thread| thread.join().unwrap_or(Exit::Error.into()))
}

fn obey() -> ExitCode {
    let cli = Cli::parse();
    let console = Console::new(cli.color, cli.quiet, cli.verbose, cli.command.report());
    let ended = run(&cli, &console);
    let trouble = ended.as_ref().err().map(CommandError::to_string);
    let exit = *ended.as_ref().unwrap_or(&Exit::Error);
    let printed = console.finish(&Ending { exit, trouble: trouble.as_deref() }).map_err(CommandError::Output);
    match ended.and_then(|exit| printed.map(|()| exit)) {
        Ok(exit) => exit.into(),
        Err(failure) => {
            if !failure.is_silent() {
                anstream::eprintln!("error: {failure}");
            }
            Exit::Error.into()
        }
    }
}

fn run(cli: &Cli, console: &Console) -> Result<Exit, CommandError> {
    match &cli.command {
        Command::Verify(args) => commands::verify(args, console),
        Command::Robust(args) => commands::robust(args, console),
        Command::Fence(args) => commands::fence(args, console),
        Command::Check(args) => commands::check(args, console),
        Command::Show(args) => commands::show(args, console),
        Command::Fmt(args) => commands::fmt(args, console),
        Command::Run(args) if args.interactive => commands::interactive(args, console),
        Command::Run(args) => commands::walk(args, console),
        Command::Lsp(_) => commands::lsp(),
        Command::List(args) => commands::list(args, console),
        Command::Generate(args) => commands::generate(args, console),
        Command::Bench(args) => commands::bench(args, console),
        Command::Ci(args) => commands::ci(args, console),
        Command::Playground(args) => commands::playground(args, console),
        Command::Schema => commands::schema(console),
        Command::Completions { shell } => commands::completions(*shell),
        Command::Man { out } => commands::man(out.as_deref()),
    }
}
