//! The `fencewright` binary: the only place that touches files, the terminal, the clock and
//! the environment. Commands are in `commands`, what they print is in `report`. It is a library only
//! for its own `main` and for the fuzz targets, which need a door to the language server and to the
//! reader of `fencewright.toml`.

mod args;
mod commands;
mod console;
mod evidence_files;
mod exit;
mod html_file;
mod input;
mod limits;
mod numbers;
mod progress;
mod report;
mod session;
mod whole_file;

pub use commands::{conversation, expectations};

use args::{Cli, Command};
use clap::Parser;
use console::Console;
use exit::{Exit, Failure};
use report::Ending;
use std::process::ExitCode;
use std::thread;

/// Does what the command line says.
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
    let trouble = ended.as_ref().err().map(Failure::to_string);
    let exit = *ended.as_ref().unwrap_or(&Exit::Error);
    let printed = console.finish(&Ending { exit, trouble: trouble.as_deref() }).map_err(Failure::Output);
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

fn run(cli: &Cli, console: &Console) -> Result<Exit, Failure> {
    match &cli.command {
        Command::Verify(args) => commands::verify(args, console),
        Command::Robust(args) => commands::robust(args, console),
        Command::Fence(args) => commands::fence(args, console),
        Command::Check(args) => commands::check(args, console),
        Command::Show(args) => commands::show(args, console),
        Command::Run(args) if args.interactive => commands::interactive(args, console),
        Command::Run(args) => commands::walk(args, console),
        Command::Lsp(_) => commands::lsp(),
        Command::List(args) => commands::list(args, console),
        Command::Bench(args) => commands::bench(args, console),
        Command::Ci(args) => commands::ci(args, console),
        Command::Schema => commands::schema(console),
        Command::Completions { shell } => commands::completions(*shell, console),
        Command::Man { out } => commands::man(out.as_deref(), console),
    }
}
