//! Large exact searches, shared: one loop without rounds, rounds by one worker and by several threads, and by several
//! processes on this machine.

use super::{Bench, Bencher, CorpusFile, Measured, corpus};
use crate::crew;
use crate::numbers::{grouped, short};
use crate::report::{BenchCell, BenchTable};
use engine::{Explicit, Finding, LARGE, Reduction, Run, decide};
use evidence::{Monitor, Task, Verdict, each};
use machine::{Model, SC, TSO};
use serde_json::Value;
use std::net::TcpListener;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Who shares a search.
pub const WORKERS: Bench = Bench {
    name: "workers",
    earlier: None,
    about: "large exact searches shared by threads and by processes: time, memory, bytes per state",
    tables,
};

/// A program, for how many threads, and under which model.
const QUESTIONS: &[(CorpusFile, usize, Model)] = &[
    (corpus!("lamport_fast_fenced"), 3, TSO),
    (corpus!("dijkstra_fenced"), 3, TSO),
    (corpus!("mcs_lock"), 4, TSO),
    (corpus!("lamport_fast_fenced"), 4, SC),
];

/// Who works.
#[derive(Clone, Copy)]
enum Who {
    Loop,
    /// So many searches that have nothing to do with each other, at the same time.
    Loops(usize),
    Threads(usize),
    Processes(usize),
}

const ALL: &[Who] =
    &[Who::Loop, Who::Loops(2), Who::Threads(1), Who::Threads(2), Who::Processes(2), Who::Processes(4)];

/// What is said of a search.
struct SharedSearch {
    word: String,
    states: usize,
    /// The most megabytes of one process.
    megabytes: Option<usize>,
    /// What a state takes in the set, with its place in the table.
    bytes: Option<f64>,
}

impl SharedSearch {
    fn of(found: &Finding, bytes: Option<f64>) -> SharedSearch {
        let word = found.checked.verdict().word().to_string();
        SharedSearch { word, states: found.statistics.states, megabytes: None, bytes }
    }
}

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let mut table = BenchTable::new(
        "Exact search, shared",
        &[
            "program",
            "threads",
            "model",
            "workers",
            "answer",
            "states",
            "ms",
            "CPU ms",
            "states/s",
            "MB per process",
            "bytes/state",
            "quicker",
        ],
    )
    .note(
        "Nothing is reduced. Times are with checking the proof; of processes, with starting them and until all have \
         found each other. Processes are on this machine and have one thread each. Loops at once are searches that share nothing: \
         what they are quicker together is the most that this machine's cores and its memory let anybody gain.",
    );
    for ((name, text), n, model) in QUESTIONS {
        let program = bencher.own(name, text, Some(*n))?;
        let task = Task::safe(&program, *model);
        let mut alone = None;
        for who in ALL {
            let measured = match who {
                Who::Processes(count) => by_processes(bencher, (name, text), *n, *model, *count)?,
                Who::Loop => by_threads(bencher, &task, 1, usize::MAX)?,
                Who::Loops(loops) => by_loops(bencher, &task, *loops)?,
                Who::Threads(threads) => by_threads(bencher, &task, *threads, LARGE)?,
            };
            // What one of several searches takes if the others count for nothing.
            let time = measured.time.median() / who.searches() as f64;
            let alone = *alone.get_or_insert(time);
            let SharedSearch { word, states, megabytes, bytes } = measured.answer;
            table.rows.push(vec![
                (*name).into(),
                (*n).into(),
                (*model).into(),
                who.name().into(),
                word.into(),
                grouped(states).into(),
                measured.time,
                // That of other processes is not told.
                if let Who::Processes(_) = who { BenchCell::from("–") } else { measured.cpu },
                short((states as f64 * 1000.0 / time.max(0.001)) as usize).into(),
                megabytes.unwrap_or(measured.megabytes).into(),
                bytes.map(|bytes| format!("{bytes:.1}")).into(),
                format!("{:.2}", alone / time.max(f64::MIN_POSITIVE)).into(),
            ]);
        }
    }
    Ok(vec![table])
}

impl Who {
    /// How many searches that are.
    fn searches(self) -> usize {
        if let Who::Loops(loops) = self { loops } else { 1 }
    }

    fn name(self) -> String {
        match self {
            Who::Loop => "one loop".to_string(),
            Who::Loops(loops) => format!("{loops} loops at once"),
            Who::Threads(1) => "1 thread, in rounds".to_string(),
            Who::Threads(threads) => format!("{threads} threads"),
            Who::Processes(processes) => format!("{processes} processes"),
        }
    }
}

/// As many searches, each without rounds, at the same time.
fn by_loops(bencher: &Bencher<'_>, task: &Task<'_>, loops: usize) -> Result<Measured<SharedSearch>, String> {
    let ask = |monitor: &dyn Monitor| {
        let run = Run { monitor, reduction: Reduction::None, large: usize::MAX, ..Run::default() };
        let answers = each(loops, loops, |_| ControlFlow::Continue(decide(task, &Explicit, &run)));
        let mut answers = answers.into_iter().collect::<Result<Vec<_>, _>>()?;
        let found = answers.swap_remove(0);
        Ok::<_, engine::Bug>(SharedSearch::of(&found, None))
    };
    // Each checks its own proof.
    bencher.measure_on(1, &task.program.name, ask).answered()
}

fn by_threads(
    bencher: &Bencher<'_>,
    task: &Task<'_>,
    threads: usize,
    large: usize,
) -> Result<Measured<SharedSearch>, String> {
    let crew = crew::threads(threads, &Explicit);
    let ask = |monitor: &dyn Monitor| {
        let run = Run { monitor, reduction: Reduction::None, threads, crew: &*crew, large, ..Run::default() };
        let found = decide(task, &Explicit, &run)?;
        let set = match found.checked.verdict() {
            Verdict::Safe(certificate) => certificate.set(),
            _ => None,
        };
        let bytes = set.map(|set| set.states.bytes() as f64 / set.states.len().max(1) as f64);
        Ok::<_, engine::Bug>(SharedSearch::of(&found, bytes))
    };
    bencher.measure_on(threads, &task.program.name, ask).answered()
}

/// A folder that is gone afterwards.
struct Temporary(PathBuf);

impl Drop for Temporary {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn by_processes(
    bencher: &Bencher<'_>,
    (name, text): CorpusFile,
    n: usize,
    model: Model,
    processes: usize,
) -> Result<Measured<SharedSearch>, String> {
    let folder = Temporary(std::env::temp_dir().join(format!("fencewright-bench-{}", std::process::id())));
    let failed = |error: std::io::Error| format!("{}: {error}", folder.0.display());
    std::fs::create_dir_all(&folder.0).map_err(failed)?;
    std::fs::write(folder.0.join(name), text).map_err(failed)?;
    let label = format!("{name} on {processes} processes");
    let ask = |_: &dyn Monitor| {
        let children = started(bencher, &folder.0, name, n, model, processes)?;
        let ended =
            children.into_iter().map(|child| child.wait_with_output().map_err(|error| error.to_string()));
        let ended = ended.collect::<Result<Vec<_>, String>>()?;
        let said: Value = serde_json::from_slice(&ended[0].stdout).map_err(|error| error.to_string())?;
        let count = |name: &str| said["stats"][name].as_f64().map(|number| number as usize);
        let word = said["verdict"].as_str().unwrap_or("error").to_string();
        Ok::<_, String>(SharedSearch {
            word,
            states: count("states").unwrap_or(0),
            megabytes: count("peak_mb"),
            bytes: None,
        })
    };
    bencher.measure_on(processes, &label, ask).answered()
}

/// Starts all processes, the first one first.
fn started(
    bencher: &Bencher<'_>,
    folder: &Path,
    name: &str,
    n: usize,
    model: Model,
    processes: usize,
) -> Result<Vec<Child>, String> {
    let failed = |error: std::io::Error| error.to_string();
    let ports = (0..processes).map(|_| TcpListener::bind("127.0.0.1:0"));
    let ports = ports.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    let addresses = ports.iter().map(|port| Ok(port.local_addr()?.to_string()));
    let addresses = addresses.collect::<Result<Vec<_>, _>>().map_err(failed)?;
    drop(ports);
    std::fs::write(folder.join("hosts"), addresses.join("\n")).map_err(failed)?;
    let start = |process: usize| {
        let mut command = Command::new(std::env::current_exe()?);
        command.current_dir(folder).args(["verify", "--quiet", "--format", "json", "--reduce", "none"]);
        command.args(["--model", model.name(), "-D", &format!("N={n}"), "-j", "1", "--hosts", "hosts"]);
        command.args(["--memory", &(bencher.budget.memory >> 20).to_string()]);
        if let Some(time) = bencher.budget.time {
            command.args(["--timeout", &time.as_secs_f64().to_string()]);
        }
        command.args(["--process", &process.to_string(), name]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()
    };
    (0..processes).map(start).collect::<Result<Vec<_>, _>>().map_err(failed)
}
