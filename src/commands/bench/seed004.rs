//! Seed 004, ch. 5: lazy TSO reachability (Fig. 5.1 and the three families) and robustness with
//! its fences (Fig. 5.9).
//!
//! The published times are those of Trencher, measured on other machines ten years ago; what
//! can be compared is how they grow. Fig. 5.1 asks about goal states, which Trencher's own
//! files do not have, so our models of the same algorithms are used; Fig. 5.9 takes its files.

use super::{Bench, Bencher, File, Measured, corpus, word};
use crate::report::{BenchCell, BenchTable};
use engine::{
    Abstraction, Costs, FenceOptions, Lazy, Points, RobustFences, Robustness, Run, fences_for_robustness,
    prove_robust,
};
use evidence::{Statistics, Task};
use program::Program;

/// Fig. 5.1.
pub const LAZY: Bench = Bench {
    name: "seed004-lazy",
    about: "lazy TSO reachability: Fig. 5.1 of the thesis, and the families Lamport, branching, unwinding",
    tables: lazy,
};

/// Fig. 5.9.
pub const ROBUST: Bench = Bench {
    name: "seed004-robust",
    about: "robustness and the fences it needs: Fig. 5.9 of the thesis, and Lamport with N threads",
    tables: robustness,
};

const LAMPORT: File = corpus!("lamport_fast");
const BRANCHING: File = corpus!("dekker_branching");
const UNWINDING: File = corpus!("dekker_unwinding");

/// Program, our model and its N, published milliseconds.
type Published = (&'static str, File, Option<usize>, usize);

const FIG_5_1: &[Published] = &[
    ("Parker", corpus!("parker"), None, 5),
    ("Peterson", corpus!("peterson"), None, 13),
    ("Dekker", corpus!("dekker"), None, 70),
    ("Lamport fast, 3 threads", LAMPORT, Some(3), 694),
    ("MCS lock", corpus!("mcs_lock"), None, 61),
    ("CLH lock", corpus!("clh_lock"), None, 7),
    ("Lock-free stack", corpus!("treiber_stack"), None, 7),
];

fn lazy(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let mut figure = BenchTable {
        title: "Fig. 5.1: is a violation reachable under TSO? Engine lazy.".to_string(),
        columns: vec!["program", "verdict", "threads", "states", "ms", "published ms"],
        notes: vec![
            "ms: engine and check together. Published: Trencher, 16 cores at 2.67 GHz.".to_string(),
            "Our models of the same algorithms; theirs have 4 threads (MCS, stack) and 3 (CLH).".to_string(),
        ],
        ..BenchTable::default()
    };
    for (name, (file, text), n, published) in FIG_5_1 {
        let program = bencher.own(file, text, *n)?;
        let mut row = vec![BenchCell::from(*name)];
        row.extend(lazy_cells(bencher, &program)?.into_iter().take(4));
        row.push((*published).into());
        figure.rows.push(row);
    }
    let lamport = |n| match n {
        5.. => "Trencher, Memorax: out of 8 GB from N = 5",
        _ => "",
    };
    let branching = |n| if n == 50 { "Memorax: 90,000 ms" } else { "" };
    let unwinding = |n| if n == 20 { "CBMC: 510,000 ms" } else { "" };
    Ok(vec![
        figure,
        family(bencher, "Lamport's fast mutex, N threads (Fig. 5.6)", LAMPORT, &[2, 3, 4, 5, 6], lamport)?,
        family(
            bencher,
            "Dekker with N-way branching (Fig. 5.7)",
            BRANCHING,
            &[10, 25, 50, 75, 100],
            branching,
        )?,
        family(
            bencher,
            "Dekker with unwinding N (Fig. 5.8)",
            UNWINDING,
            &[5, 10, 20, 30, 40, 50],
            unwinding,
        )?,
    ])
}

/// Verdict, threads, states, time, memory.
fn lazy_cells(bencher: &Bencher<'_>, program: &Program) -> Result<Vec<BenchCell>, String> {
    let model = machine::model_named("tso").ok_or("there is no model tso")?;
    let asked = bencher.ask(&Lazy, &Task { program, model }, Abstraction::default())?;
    let Measured { answer: (checked, Statistics { states, .. }, _), time, megabytes } = asked;
    let verdict = word(checked.verdict());
    Ok(vec![verdict.into(), program.threads.len().into(), states.into(), time, megabytes.into()])
}

fn family(
    bencher: &Bencher<'_>,
    title: &str,
    (file, text): (&str, &str),
    sizes: &[usize],
    published: fn(usize) -> &'static str,
) -> Result<BenchTable, String> {
    let mut table = BenchTable {
        title: title.to_string(),
        columns: vec!["N", "verdict", "threads", "states", "ms", "MB", "published"],
        ..BenchTable::default()
    };
    for n in sizes {
        let program = bencher.own(file, text, Some(*n))?;
        let mut row = vec![BenchCell::from(*n)];
        row.extend(lazy_cells(bencher, &program)?);
        row.push(Some(published(*n)).filter(|text| !text.is_empty()).into());
        table.rows.push(row);
    }
    Ok(table)
}

/// Program, Trencher's file, published milliseconds depth first and breadth first.
const FIG_5_9: &[(&str, &str, usize, usize)] = &[
    ("Dekker", "dekker.txt", 165, 171),
    ("Dekker, fenced", "dekker-correct.txt", 0, 0),
    ("Peterson", "peterson.txt", 56, 55),
    ("Peterson, fenced", "peterson-correct.txt", 0, 0),
    ("Lamport fast", "lamport-fast-mutex-alg1.txt", 3577, 4291),
    ("Lamport fast, fenced", "lamport-fast-mutex-alg1-correct.txt", 1, 1),
    ("CLH lock", "clh-lock.txt", 29, 31),
    ("MCS lock", "mcs-lock.txt", 11, 12),
    ("Cilk WSQ, wrong use", "cilk-the-wsq-wrongdoing.txt", 28_597, 36_693),
    ("Cilk WSQ, right use", "cilk-the-wsq.txt", 10, 6),
    ("Lock-free stack", "lock-free-stack.txt", 0, 0),
];

fn robustness(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let mut figure = BenchTable {
        title: "Fig. 5.9: is it robust, and which fences make it so?".to_string(),
        columns: vec![
            "program",
            "verdict",
            "threads",
            "ms",
            "fences",
            "fences ms",
            "published dfs ms",
            "bfs ms",
        ],
        notes: vec!["Published: Trencher with fences, 2 cores at 1.7 GHz.".to_string()],
        ..BenchTable::default()
    };
    for (name, file, dfs, bfs) in FIG_5_9 {
        let Some(program) = bencher.foreign(&format!("trencher/{file}"))? else {
            figure.notes.push(format!("{name} is left out: there is no {file} in the folder --corpora."));
            continue;
        };
        let (verdict, time) = robust_cells(bencher, &program);
        let (fences, fences_time) = fence_cells(bencher, &program)?;
        let threads = program.threads.len().into();
        figure.rows.push(vec![
            (*name).into(),
            verdict,
            threads,
            time,
            fences,
            fences_time,
            (*dfs).into(),
            (*bfs).into(),
        ]);
    }
    let mut lamport = BenchTable {
        title: "Lamport's fast mutex, N threads: is it robust?".to_string(),
        columns: vec!["N", "verdict", "ms"],
        ..BenchTable::default()
    };
    for n in 2..=6 {
        let (verdict, time) = robust_cells(bencher, &bencher.own(LAMPORT.0, LAMPORT.1, Some(n))?);
        lamport.rows.push(vec![n.into(), verdict, time]);
    }
    Ok(vec![figure, lamport])
}

/// The verdict, its evidence checked, and the time for both.
fn robust_cells(bencher: &Bencher<'_>, program: &Program) -> (BenchCell, BenchCell) {
    let ask = |monitor: &dyn evidence::Monitor| {
        let (answer, proof) = prove_robust(program, &Run { monitor, ..Run::default() });
        (answer, proof.is_none_or(|proof| evidence::check_robust(program, proof, monitor).is_ok()))
    };
    let Measured { answer, time, .. } = bencher.measure(&program.name, ask);
    let verdict = match answer {
        (_, false) | (Robustness::Rejected(_), _) => "rejected",
        (Robustness::Robust, _) => "robust",
        (Robustness::NotRobust(_), _) => "not robust",
        (Robustness::Unknown(_), _) => "unknown",
    };
    (verdict.into(), time)
}

/// The fewest fences, wherever they may go, as the predecessor counts them.
fn fence_cells(bencher: &Bencher<'_>, program: &Program) -> Result<(BenchCell, BenchCell), String> {
    let costs = Costs { full: 1, ..Costs::default() };
    let options = FenceOptions { costs, points: Points::All, all: false };
    let ask = |monitor: &dyn evidence::Monitor| {
        fences_for_robustness(program, &options, &Run { monitor, ..Run::default() })
    };
    let Measured { answer, time, .. } = bencher.measure(&program.name, ask);
    match answer {
        RobustFences::Placed(placed) => Ok((placed.fences.len().into(), time)),
        RobustFences::Rejected(why) => Err(format!("{}: {why}", program.name)),
        RobustFences::NoCandidate(_) | RobustFences::Unknown(_) => Ok((BenchCell::Missing, time)),
    }
}
