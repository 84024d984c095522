//! `playground`: hands out the files of the site, to browsers on this machine.
//!
//! Other machines cannot connect, because only the local address is listened on. Pages from elsewhere could let
//! their visitors' browsers connect all the same, under another name for this machine; so requests for any
//! other host are refused. There is nothing to change here: files are read, and only those in the folder.

mod exchange;

use crate::args::PlaygroundArgs;
use crate::console::Console;
use crate::exit::{CommandError, Exit};
use exchange::Site;
use std::net::{Ipv4Addr, TcpListener};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// Browsers ask for a handful of files at once; whoever asks for more has to wait.
const MOST_AT_ONCE: usize = 64;

/// Runs the command; it ends when it is interrupted.
pub fn playground(args: &PlaygroundArgs, console: &Console) -> Result<Exit, CommandError> {
    let folder = args.site.clone().or_else(beside_program).ok_or_else(|| missing("there is no site here"))?;
    let site = Site::open(&folder).map_err(|why| missing(&format!("{}: {why}", folder.display())))?;
    let trouble = |error| format!("localhost:{}: {error}", args.port);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port)).map_err(trouble)?;
    let port = listener.local_addr().map_err(trouble)?.port();
    let address = format!("http://localhost:{port}/{}", site.start());
    console.print_text(&format!("the playground is at {address} (Ctrl-C ends it)\n"))?;
    if !args.no_open {
        open_browser(&address);
    }
    let (site, at_once) = (Arc::new(site), Arc::new(AtomicUsize::new(0)));
    for stream in listener.incoming().flatten() {
        if at_once.fetch_add(1, Ordering::SeqCst) >= MOST_AT_ONCE {
            at_once.fetch_sub(1, Ordering::SeqCst);
            continue;
        }
        let (site, done) = (Arc::clone(&site), Arc::clone(&at_once));
        let served = thread::Builder::new().spawn(move || {
            // Whoever does not listen to the end gets nothing more.
            let _ = site.answer(&stream, port);
            done.fetch_sub(1, Ordering::SeqCst);
        });
        if served.is_err() {
            at_once.fetch_sub(1, Ordering::SeqCst);
        }
    }
    Ok(Exit::Holds)
}

/// Where release archives have it, and where `install.sh` puts it.
fn beside_program() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?;
    let folder = program.parent()?;
    let places = [folder.join("site"), folder.join("../share/fencewright/site")];
    places.into_iter().find(|place| place.is_dir())
}

fn missing(why: &str) -> String {
    format!("{why}; `web/site` makes it in target/site, and --site names its folder")
}

/// Asks the desktop for a browser. Where there is none, the address is on the screen.
fn open_browser(address: &str) {
    let (program, before): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        _ => ("xdg-open", &[]),
    };
    let mut command = Command::new(program);
    command.args(before).arg(address).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let _ = command.spawn();
}
