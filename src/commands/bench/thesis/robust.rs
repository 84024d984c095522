//! Robustness and the fences it needs: Fig. 5.9, and what its files leave out.

use super::variants::thread;
use super::{LAMPORT, Published};
use crate::commands::bench::{Bench, Bencher, Measured};
use crate::report::{BenchCell, BenchTable};
use engine::{Costs, ENGINES, FenceAnswer, FenceOptions, Order, Points, Run, decide, place_fences};
use evidence::{Monitor, Task};
use machine::TSO;
use program::Program;

/// Fig. 5.9.
pub const ROBUST: Bench = Bench {
    name: "robust",
    earlier: Some("seed004-robust"),
    about: "robustness and the fences it needs: Fig. 5.9 of the thesis, and Lamport with N threads",
    tables,
};

/// Published milliseconds (CPU and real) depth first, then breadth first.
type PublishedRobust = (Published, [usize; 4]);

const FIG_5_9: &[PublishedRobust] = &[
    (as_it_is("Dekker", "dekker.txt", [2, 24, 30]), [431, 165, 489, 171]),
    (as_it_is("Dekker, fenced", "dekker-correct.txt", [2, 28, 34]), [0, 0, 1, 0]),
    (as_it_is("Peterson", "peterson.txt", [2, 14, 18]), [168, 56, 161, 55]),
    (as_it_is("Peterson, fenced", "peterson-correct.txt", [2, 16, 20]), [1, 0, 0, 0]),
    (as_it_is("Lamport fast", "lamport-fast-mutex-alg1.txt", [3, 33, 36]), [12_572, 3577, 14_916, 4291]),
    (as_it_is("Lamport fast, fenced", "lamport-fast-mutex-alg1-correct.txt", [3, 39, 42]), [2, 1, 1, 1]),
    (as_it_is("CLH lock", "clh-lock.txt", [3, 42, 41]), [94, 29, 103, 31]),
    (as_it_is("MCS lock", "mcs-lock.txt", [2, 54, 58]), [41, 11, 46, 12]),
    (as_it_is("Cilk WSQ, wrong use", CILK_WRONG, [5, 80, 79]), [103_267, 28_597, 126_098, 36_693]),
    (as_it_is("Cilk WSQ, right use", CILK_RIGHT, [3, 73, 72]), [35, 10, 23, 6]),
    (as_it_is("Lock-free stack", "lock-free-stack.txt", [4, 46, 50]), [0, 0, 0, 0]),
];

const CILK_RIGHT: &str = "cilk-the-wsq.txt";
const CILK_WRONG: &str = "cilk-the-wsq-wrongdoing.txt";

const fn as_it_is(name: &'static str, file: &'static str, size: [usize; 3]) -> Published {
    Published { name, file, edits: &[], size, pairs: None }
}

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    Ok(vec![figure(bencher)?, released(bencher)?, lamport(bencher)?])
}

fn figure(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Fig. 5.9: is it robust, and which fences make it so? Trencher's programs.",
        &[
            "program",
            "threads",
            "control states",
            "transitions",
            "verdict",
            "ms",
            "fences",
            "bfs cpu ms",
            "bfs ms",
            "published bfs cpu ms",
            "published bfs ms",
            "dfs cpu ms",
            "dfs ms",
            "published dfs cpu ms",
            "published dfs ms",
        ],
    )
    .note(
        "bfs, dfs: finding the fences, with searches breadth first and depth first. Published: Trencher doing the same, \
         2 cores at 1.7 GHz.",
    )
    .note(
        "Threads, control states and transitions are those of Trencher's text and equal the figure's.",
    )
    .note(
        "Cilk, right use: vacuous. The lock starts at 0, taking it waits for another number and nobody releases it, \
         so no thief ever enters. The next table has a thread that releases it.",
    );
    for (published, times) in FIG_5_9 {
        let Some(program) = published.program(bencher, &mut table)? else { continue };
        let mut row = vec![BenchCell::from(published.name)];
        row.extend(published.size.map(BenchCell::from));
        row.extend(cells(bencher, &program)?);
        let [dfs_cpu, dfs, bfs_cpu, bfs] = times.map(BenchCell::from);
        let depth_first = fences(bencher, &program, Order::Depth)?;
        row.extend([bfs_cpu, bfs, depth_first.cpu, depth_first.time, dfs_cpu, dfs]);
        table.rows.push(row);
    }
    Ok(table)
}

/// The right use of Cilk's queue where the lock is there to be taken: with the thread that releases it
/// in the sibling file.
fn released(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "What Fig. 5.9 does not ask: the right use with a lock that can be taken.",
        &["program", "threads", "verdict", "ms", "fences", "fences cpu ms", "fences ms"],
    )
    .note(format!(
        "{CILK_RIGHT} with the thread release_lock of {CILK_WRONG}: thieves enter, and delays show."
    ));
    let text = |file: &str| bencher.foreign(&format!("trencher/{file}"));
    let (Some(right), Some(wrong)) = (text(CILK_RIGHT), text(CILK_WRONG)) else {
        let note = format!("Left out: {CILK_RIGHT} and {CILK_WRONG} are not in the folder --corpora.");
        return Ok(BenchTable { notes: vec![note], ..table });
    };
    let program =
        bencher.parse(CILK_RIGHT, &(right + "\n" + &thread(&wrong, "release_lock")?), Vec::new())?;
    let mut row = vec!["Cilk WSQ, right use, lock released".into(), program.threads.len().into()];
    row.extend(cells(bencher, &program)?);
    table.rows.push(row);
    Ok(table)
}

fn lamport(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Our own model of Lamport's fast mutex (algorithm 2), N threads: is it robust?",
        &["N", "verdict", "ms"],
    );
    for n in 2..=6 {
        let (verdict, time) = robust_cells(bencher, &bencher.own(LAMPORT.0, LAMPORT.1, Some(n))?);
        table.rows.push(vec![n.into(), verdict, time]);
    }
    Ok(table)
}

/// Verdict, its time, fences, their time on all cores and on the clock.
fn cells(bencher: &Bencher<'_>, program: &Program) -> Result<Vec<BenchCell>, String> {
    let (verdict, time) = robust_cells(bencher, program);
    let Measured { answer: fences, time: fences_time, cpu, .. } = fences(bencher, program, Order::Breadth)?;
    Ok(vec![verdict, time, fences.into(), cpu, fences_time])
}

/// The verdict, its evidence checked, and the time for both.
fn robust_cells(bencher: &Bencher<'_>, program: &Program) -> (BenchCell, BenchCell) {
    let ask = |monitor: &dyn Monitor| decide(&task(program), ENGINES[0], &Run { monitor, ..Run::default() });
    let Measured { answer, time, .. } = bencher.measure(&program.name, ask);
    (answer.map_or("rejected", |found| found.checked.verdict().word()).into(), time)
}

/// The fewest fences, wherever they may go, as the predecessor counts them.
fn fences(bencher: &Bencher<'_>, program: &Program, order: Order) -> Result<Measured<Option<usize>>, String> {
    let costs = Costs { full: 1, ..Costs::default() };
    let options = FenceOptions { costs, points: Points::All, ..FenceOptions::default() };
    let ask = |monitor: &dyn Monitor| {
        let run = Run { monitor, order, ..Run::default() };
        let found = place_fences(&task(program), ENGINES[0], &options, &run);
        match found.map_err(|bug| format!("{}: {bug}", program.name))?.answer {
            FenceAnswer::Placed(placed) => Ok::<_, String>(Some(placed.fences.len())),
            _ => Ok(None),
        }
    };
    bencher.measure(&program.name, ask).answered()
}

/// Is it robust against TSO?
fn task(program: &Program) -> Task<'_> {
    Task::robust(program, TSO)
}
