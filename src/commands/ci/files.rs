//! Which files the entries of a configuration mean.

use super::config::CiConfig;
use std::path::{Path, PathBuf};

/// Something to do on its own.
pub struct Job {
    /// The file, or the pattern.
    pub path: PathBuf,
    /// The line of its entry.
    pub line: usize,
    /// What to do.
    pub task: JobTask,
}

/// What there is to do.
pub enum JobTask {
    /// A file of the `[[program]]` of this number.
    Program(usize),
    /// The `[[fences]]` of this number.
    Fences(usize),
    /// A `[[program]]` whose pattern means nothing, and why.
    Nothing(String),
}

/// All jobs, in the order of the entries; files of a pattern by name.
pub fn jobs(config: &CiConfig) -> Vec<Job> {
    let mut jobs = Vec::new();
    for (entry, program) in config.programs.iter().enumerate() {
        let job = |path, task| Job { path, line: program.line, task };
        for written in &program.files {
            match matching(&config.folder, written, &program.except) {
                Ok(paths) => jobs.extend(paths.into_iter().map(|path| job(path, JobTask::Program(entry)))),
                Err(reason) => jobs.push(job(config.folder.join(written), JobTask::Nothing(reason))),
            }
        }
    }
    jobs.extend(config.fences.iter().enumerate().map(|(entry, fences)| {
        let path = config.folder.join(&fences.file);
        Job { path, line: fences.line, task: JobTask::Fences(entry) }
    }));
    jobs
}

/// The files that a pattern means; a name without `*`, `?` or `[` means itself.
fn matching(folder: &Path, written: &str, except: &[String]) -> Result<Vec<PathBuf>, String> {
    if !written.contains(['*', '?', '[']) {
        return Ok(vec![folder.join(written)]);
    }
    let no_pattern = |error: glob::PatternError| format!("this is no pattern: {}", error.msg);
    let found = glob::glob(&pattern(folder, written)?).map_err(no_pattern)?;
    let not_meant = except.iter().map(|one| glob::Pattern::new(&pattern(folder, one)?).map_err(no_pattern));
    let not_meant = not_meant.collect::<Result<Vec<_>, String>>()?;
    let meant = |path: &PathBuf| !not_meant.iter().any(|pattern| pattern.matches_path(path));
    let files: Vec<PathBuf> =
        found.filter_map(Result::ok).filter(|path| path.is_file() && meant(path)).collect();
    if files.is_empty() { Err("no file has a name like this".to_string()) } else { Ok(files) }
}

/// A pattern for files below a folder. The folder is a name, whatever its characters.
fn pattern(folder: &Path, written: &str) -> Result<String, String> {
    let folder = folder.to_str().ok_or("patterns need a folder whose name is UTF-8")?;
    let pattern = Path::new(&glob::Pattern::escape(folder)).join(written);
    pattern.to_str().map(str::to_string).ok_or_else(|| "this is no pattern".to_string())
}
