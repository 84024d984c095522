//! The `fencewright` binary: the only place that touches files, the terminal, the clock and
//! the environment. Commands are in `commands`, what they print is in `report`.

mod args;
mod commands;
mod console;
mod evidence_files;
mod exit;
mod input;
mod limits;
mod numbers;
mod parallel;
mod progress;
mod report;
mod whole_file;

use args::{Cli, Command};
use clap::Parser;
use console::Console;
use exit::{Exit, Failure};
use std::process::ExitCode;

fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        anstream::eprintln!("this is a bug in fencewright, please report it: {panic}");
        std::process::exit(Exit::Error.code().into());
    }));
    let cli = Cli::parse();
    let console = Console::new(cli.color, cli.quiet);
    let exit = run(&cli, &console).unwrap_or_else(|failure| {
        if !failure.is_silent() {
            anstream::eprintln!("error: {failure}");
        }
        Exit::Error
    });
    exit.into()
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
        Command::List(args) => commands::list(args, console),
        Command::Bench(args) => commands::bench(args, console),
        Command::Completions { shell } => commands::completions(*shell, console),
        Command::Man { out } => commands::man(out.as_deref(), console),
    }
}
