//! `--init`: a first `fencewright.toml`, with every program below its folder and today's answers.
//!
//! The file begins with expecting nothing (*unknown*) of each program; what is found is then written as
//! `--update` does it, so whatever has no answer within the limit stays unknown.

use super::config::CiConfig;
use crate::args::CiArgs;
use crate::input::{Unreadable, expand};
use std::fmt::Write;
use std::path::Path;
use toml_edit::Value;

/// Seconds for each question.
const TIMEOUT: u32 = 60;

/// The configuration to begin with.
pub fn config(args: &CiArgs) -> Result<Result<CiConfig, Box<Unreadable>>, String> {
    let path = &args.config;
    if path.exists() && !args.force {
        return Err(format!("{} exists; --force replaces it", path.display()));
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut text = format!("# What `fencewright ci` expects.\n[defaults]\ntimeout = {TIMEOUT}\n");
    let mut programs = 0;
    for file in expand(&[folder.to_path_buf()]).into_iter().flatten() {
        let below = file.strip_prefix(folder).unwrap_or(&file);
        let Some(name) = below.to_str() else { continue };
        let name = Value::from(name);
        let expect = "{ sc = \"unknown\", tso = \"unknown\" }";
        let _ = write!(text, "\n[[program]]\nfile = {name}\nexpect = {expect}\n");
        programs += 1;
    }
    if programs == 0 {
        return Err(format!("there is no program in {}", folder.display()));
    }
    Ok(CiConfig::of_text(path, text))
}
