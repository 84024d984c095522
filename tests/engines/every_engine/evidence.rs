//! Evidence as everybody else sees it: checked in memory, written to a file, read from there.

use super::{Tally, count};
use engine::{Engine, Robust, Run};
use evidence::{
    Claim, Form, Ignore, MostStates, Task, Verdict, check, check_file, known, read_certificate, simplify,
    write_evidence,
};
use machine::{MODELS, Model};
use program::Program;
use std::io::{self, BufRead, Cursor};

/// What checking a file may take, in bytes.
const BUDGET: usize = 1 << 26;

fn reader(bytes: &[u8]) -> impl Fn() -> io::Result<Box<dyn BufRead>> + '_ {
    || Ok(Box::new(Cursor::new(bytes.to_vec())))
}

/// The checker accepts the verdict, violations are made simple, and what a proof knows is said.
pub fn check_in_memory(task: &Task<'_>, verdict: Verdict) -> Result<(), String> {
    let checked = check(task, verdict, &Ignore).map_err(|why| format!("rejected: {why}"))?;
    match simplify(task, checked, &Ignore).verdict() {
        Verdict::Safe(certificate) => drop(known(task, certificate)),
        Verdict::Unsafe(trace) => {
            machine::replay(task.program, task.model, trace)
                .map_err(|why| format!("the simple violation is none: {why}"))?;
        }
        _ => {}
    }
    Ok(())
}

/// The evidence survives a file: it says the same there, and so does what is read and written again.
pub fn check_files(task: &Task<'_>, verdict: &Verdict, form: Form) -> Result<(), String> {
    let first = written(task, verdict, form)?;
    let second = written(task, &read_back(task, verdict.word(), &first)?, form)?;
    let third = written(task, &read_back(task, verdict.word(), &second)?, form)?;
    // The first may order what has no order in another way.
    if second == third { Ok(()) } else { Err("a file reads back differently".to_string()) }
}

fn written(task: &Task<'_>, verdict: &Verdict, form: Form) -> Result<Vec<u8>, String> {
    let mut bytes = Vec::new();
    write_evidence(task, verdict, form, &mut bytes).map_err(|why| format!("not written: {why}"))?;
    Ok(bytes)
}

/// The verdict of a file, which must be the one expected, of this model.
fn read_back(task: &Task<'_>, expected: &str, bytes: &[u8]) -> Result<Verdict, String> {
    let open = reader(bytes);
    let claim =
        check_file(task.program, &open, BUDGET, &Ignore).map_err(|why| format!("file rejected: {why}"))?;
    let same = |model: Model| model.name() == task.model.name();
    match claim {
        Claim::Safe(model, _) if same(model) && expected == "safe" => {
            let read =
                read_certificate(task.program, &open, &Ignore).map_err(|why| format!("not read: {why}"))?;
            let (_, certificate) = read.ok_or("a certificate is read as none")?;
            Ok(Verdict::Safe(certificate))
        }
        Claim::Unsafe(model, checked) if same(model) && expected == "unsafe" => {
            let violated = checked.violated().ok_or("a violation without a run")?;
            Ok(Verdict::Unsafe(violated.trace.clone()))
        }
        other => Err(format!("the file claims something else: {other:?}")),
    }
}

/// That nothing is violated within a bound survives a file, and is said of nothing else.
pub fn check_bound(task: &Task<'_>, verdict: &Verdict, form: Form) -> Result<(), String> {
    let Verdict::Within(within, _) = verdict else { return Ok(()) };
    let bytes = written(task, verdict, form)?;
    match check_file(task.program, &reader(&bytes), BUDGET, &Ignore) {
        Ok(Claim::Within(model, contexts, states))
            if (model.name(), contexts) == (task.model.name(), within.contexts())
                && states == within.proof().len() =>
        {
            Ok(())
        }
        other => Err(format!("the file claims something else: {other:?}")),
    }
}

/// Whatever is said about robustness has evidence that survives a file.
pub fn check_robustness(
    program: &Program,
    most_states: usize,
    form: Form,
    tally: &mut Tally,
) -> Result<(), String> {
    let run = Run { monitor: &MostStates(most_states), ..Run::default() };
    let task = Task::robust(program, MODELS[1]);
    let verdict = Robust::default().verify(&task, &run).verdict;
    if let Verdict::Unknown(reasons) = &verdict {
        return super::reasons::check(program, reasons);
    }
    let (mut bytes, expected) = (Vec::new(), verdict.word());
    write_evidence(&task, &verdict, form, &mut bytes).map_err(|why| why.to_string())?;
    check(&task, verdict, &Ignore).map_err(|why| format!("rejected: {why}"))?;
    let found = match check_file(program, &reader(&bytes), BUDGET, &Ignore) {
        Ok(Claim::Robust(..)) => "robust",
        Ok(Claim::NotRobust(..)) => "not robust",
        Ok(other) => return Err(format!("the file claims something else: {other:?}")),
        Err(why) => return Err(format!("file rejected: {why}")),
    };
    count(tally, found);
    if found == expected { Ok(()) } else { Err(format!("{expected}, but the file says {found}")) }
}
