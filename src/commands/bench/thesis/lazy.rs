//! Lazy TSO reachability: Fig. 5.1, the families of Fig. 5.6 to 5.8, and programs of our own.

use super::variants::{LineEdit, edited, thread};
use super::{LAMPORT, Published};
use crate::commands::bench::{Bench, Bencher, CorpusFile, Measured, corpus};
use crate::report::{BenchCell, BenchTable};
use engine::{Finding, Lazy};
use evidence::{Statistics, Task};
use machine::TSO;
use program::Program;

/// Fig. 5.1.
pub const LAZY: Bench = Bench {
    name: "lazy",
    earlier: Some("seed004-lazy"),
    about: "lazy TSO reachability: Fig. 5.1 of the thesis, and the families Lamport, branching, unwinding",
    tables,
};

const BRANCHING: CorpusFile = corpus!("dekker_branching");
const UNWINDING: CorpusFile = corpus!("dekker_unwinding");

/// A row of Fig. 5.1: the program, its goal, and published milliseconds (CPU and real).
pub(super) type PublishedLazy = (Published, &'static str, usize, usize);

pub(super) const FIG_5_1: &[PublishedLazy] = &[
    (published("Peterson", "peterson.txt", PETERSON, [2, 14, 18, 12]), "all at enter", 21, 13),
    (published("Dekker", "dekker.txt", DEKKER, [2, 24, 30, 30]), "all at q9", 171, 70),
    (published("Lamport fast", LAMPORT_1, LAMPORT_GOAL, [3, 33, 36, 27]), "all at enter", 1839, 694),
    (published("MCS lock", "mcs-lock.txt", MCS, [4, 52, 50, 30]), "lock1@u1, lock2@u1", 127, 61),
    (published("CLH lock", "clh-lock.txt", CLH, [3, 43, 41, 70]), "q5, u4, u4", 10, 7),
    (published("Lock-free stack", "lock-free-stack.txt", STACK, [4, 46, 50, 14]), "q4, q4, q5, q5", 9, 7),
];

const LAMPORT_1: &str = "lamport-fast-mutex-alg1.txt";

const fn published(
    name: &'static str,
    file: &'static str,
    edits: &'static [LineEdit],
    [threads, states, transitions, pairs]: [usize; 4],
) -> Published {
    Published { name, file, edits, size: [threads, states, transitions], pairs: Some(pairs) }
}

/// The permit is gone although the parker has seen the condition unmet after consuming the old one.
const PARKER: &[LineEdit] = &[
    ("parker", "initial q0", "initial q0\nfinal q2"),
    ("unparker", "initial q0", "initial q0\nfinal q5"),
    (
        "unparker",
        "transition q2 q3 write 1 1",
        "transition q2 q3 write 1 1\ntransition q3 q4 read counter 1\ntransition q4 q5 check == counter 0",
    ),
];

const PETERSON: &[LineEdit] =
    &[("t0", "initial q0", "initial q0\nfinal enter"), ("t1", "initial q0", "initial q0\nfinal enter")];

const DEKKER: &[LineEdit] =
    &[("t0", "initial q0", "initial q0\nfinal q9"), ("t1", "initial q0", "initial q0\nfinal q9")];

const LAMPORT_GOAL: &[LineEdit] = &[
    ("t0", "initial start", "initial start\nfinal enter"),
    ("t1", "initial start", "initial start\nfinal enter"),
    ("t2", "initial start", "initial start\nfinal enter"),
];

/// Trencher's older version: threads that lock, and others that unlock. One that finds the lock free
/// does not go on, and unlocking empties a cell of the queue instead of its end.
const MCS: &[LineEdit] = &[
    ("lock1", "initial q0", "initial q0\nfinal u1"),
    ("lock1", "transition q3 u1 check == pred 0", ""),
    (
        "lock1",
        "transition u1 u2 local qnode 1",
        "end\nthread unlock1\ninitial u1\ntransition u1 u2 local qnode 1",
    ),
    ("lock1", "transition u3_3 u3_4 write 0 tail", "transition u3_3 u3_4 write 0 qnode"),
    ("lock1", "transition u3_6 u5 unlock", "transition u3_6 u6 unlock"),
    ("lock1", "transition u5 u5_1 read next + 1 * 2 qnode", ""),
    ("lock1", "transition u5_1 u6 check != next 0", ""),
    ("lock1", "transition u5_1 u5 check == next 0", ""),
    ("lock2", "initial q0", "initial q0\nfinal u1"),
    ("lock2", "transition q3 u1 check == pred 0", ""),
    (
        "lock2",
        "transition u1 u2 local qnode 2",
        "end\nthread unlock2\ninitial u1\ntransition u1 u2 local qnode 2",
    ),
    ("lock2", "transition u3_3 u3_4 write 0 tail", "transition u3_3 u3_4 write 0 qnode"),
    ("lock2", "transition u3_6 u5 unlock", "transition u3_6 u6 unlock"),
    ("lock2", "transition u5 u5_1 read next + 1 * 2 qnode", ""),
    ("lock2", "transition u5_1 u6 check != next 0", ""),
    ("lock2", "transition u5_1 u5 check == next 0", ""),
];

/// Trencher's version with a goal: its first thread starts in a state that nothing leaves.
const CLH: &[LineEdit] = &[
    ("initialize", "initial q0", "initial q0\nfinal q5"),
    ("initialize", "transition q2 q3 write 6 2", "transition q2 q3 write 5 2"),
    ("initialize", "transition q4 q5 write 7 4", "transition q4 q5 write 6 4"),
    ("lock_unlock_1", "initial q0", "initial q0i\nfinal u4"),
    ("lock_unlock_2", "initial q0", "initial q0\nfinal u4"),
];

const STACK: &[LineEdit] = &[
    ("push1", "initial q0", "initial q0\nfinal q4"),
    ("push2", "initial q0", "initial q0\nfinal q4"),
    ("pop1", "initial q0", "initial q0\nfinal q5"),
    ("pop2", "initial q0", "initial q0\nfinal q5"),
];

/// Programs of Trencher's with questions that the thesis did not ask, or not in these words.
pub(super) const OTHERWISE: &[(Published, &str)] = &[
    (published("Parker, rebuilt", "parker.txt", PARKER, [2, 11, 10, 4]), "parker@q2, unparker@q5"),
    (published("MCS lock", "mcs-lock.txt", MCS_EXCLUDES, [2, 54, 58, 72]), "both at u1"),
    (published("CLH lock", "clh-lock.txt", CLH_EXCLUDES, [3, 42, 41, 70]), "both at u0"),
];

const MCS_EXCLUDES: &[LineEdit] =
    &[("lock1", "initial q0", "initial q0\nfinal u1"), ("lock2", "initial q0", "initial q0\nfinal u1")];

const CLH_EXCLUDES: &[LineEdit] = &[
    ("lock_unlock_1", "initial q0", "initial q0\nfinal u0"),
    ("lock_unlock_2", "initial q0", "initial q0\nfinal u0"),
];

/// Our own programs.
const OWN: &[(&str, CorpusFile, Option<usize>)] = &[
    ("Parker", corpus!("parker"), None),
    ("Peterson", corpus!("peterson"), None),
    ("Dekker", corpus!("dekker"), None),
    ("MCS lock", corpus!("mcs_lock"), None),
    ("MCS lock", corpus!("mcs_lock"), Some(4)),
    ("CLH lock", corpus!("clh_lock"), None),
    ("CLH lock", corpus!("clh_lock"), Some(3)),
    ("Treiber's stack", corpus!("treiber_stack"), None),
    ("Treiber's stack", corpus!("treiber_stack"), Some(4)),
    ("Lamport fast, algorithm 2", LAMPORT, Some(2)),
    ("Lamport fast, algorithm 2", LAMPORT, Some(3)),
    ("Lamport fast, algorithm 2", LAMPORT, Some(4)),
    ("Lamport fast, algorithm 2", LAMPORT, Some(5)),
    ("Lamport fast, algorithm 2", LAMPORT, Some(6)),
];

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let branching = |n| if n == 50 { "Memorax: 90,000 ms" } else { "" };
    let unwinding = |n| if n == 20 { "CBMC: 510,000 ms" } else { "" };
    let rebuilt = "The program is rebuilt from the thesis' description.";
    Ok(vec![
        figure(bencher)?,
        otherwise(bencher)?,
        lamport(bencher)?,
        family(
            bencher,
            BenchTable::new("Fig. 5.7: Dekker with N-way branching, 2 threads.", FAMILY).note(rebuilt),
            &[10, 25, 50, 75, 100],
            branching,
            |n| bencher.own(BRANCHING.0, BRANCHING.1, Some(n)),
        )?,
        family(
            bencher,
            BenchTable::new("Fig. 5.8: Dekker with unwinding N, 2 threads.", FAMILY)
                .note(format!("{rebuilt} Trencher asks 3 queries, for every N.")),
            &[5, 10, 20, 30, 40, 50],
            unwinding,
            |n| bencher.own(UNWINDING.0, UNWINDING.1, Some(n)),
        )?,
        own(bencher)?,
    ])
}

fn figure(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Fig. 5.1: is the goal reachable under TSO? Trencher's programs, engine lazy.",
        &[
            "program",
            "goal",
            "verdict",
            "threads",
            "control states",
            "transitions",
            "SC queries",
            "published SC queries",
            "SC states",
            "cpu ms",
            "published cpu ms",
            "ms",
            "published ms",
        ],
    );
    table.notes = ABOUT_FIG_5_1.iter().map(|note| note.to_string()).collect();
    for (published, goal, cpu, real) in FIG_5_1 {
        let Some(program) = published.program(bencher, &mut table)? else { continue };
        let asked = ask(bencher, &program)?;
        let mut row = vec![published.name.into(), (*goal).into(), asked.word().into()];
        row.extend(published.size.map(BenchCell::from));
        let [queries, states, our_cpu, time] = work(asked);
        row.extend([queries, published.pairs.into(), states, our_cpu, (*cpu).into(), time, (*real).into()]);
        table.rows.push(row);
    }
    Ok(table)
}

const ABOUT_FIG_5_1: &[&str] = &[
    "ms, cpu ms: engine and check together. Published: Trencher, 16 cores at 2.67 GHz.",
    "Threads, control states and transitions are those of Trencher's text and equal the figure's (T, St, Tr).",
    "SC queries: searches under SC (RQ). Trencher asks one for each store and load of one thread; we ask one for \
     the program, one for each store whose delay the text does not dismiss (one for all threads that are interchangeable), and one behind each \
     witness.",
    "Peterson, Dekker, Lamport: the file with the goal that the thesis names, everybody in the critical section.",
    "MCS: two threads lock and two unlock, as in Trencher's older file. Stack: the file. The thesis does not print \
     these two goals. Ours are that all who lock, or all calls, have succeeded; nobody who finds the lock free goes on, \
     and pop reads the wrong cell, so SC reaches neither. Any such goal asks whether the program is robust.",
    "CLH: Trencher's file with this goal misspells the state in which the first lock starts, so it never moves and \
     there is nothing to reach. The figure's 43 control states count that state.",
];

fn otherwise(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Trencher's programs, with questions of our own.",
        &["program", "goal", "verdict", "threads", "SC queries", "SC states", "cpu ms", "ms"],
    )
    .note(
        "Parker: the file has no goal, and 9 control states where Fig. 5.1 has 11. Here the unparker loads the \
         permit that it gave and finds it gone, which gives all counts of the figure; but its program is not public.",
    )
    .note(
        "MCS, CLH: the files as they stand. Can both threads hold the lock?",
    );
    for (published, goal) in OTHERWISE {
        let Some(program) = published.program(bencher, &mut table)? else { continue };
        let asked = ask(bencher, &program)?;
        let mut row = vec![published.name.into(), (*goal).into(), asked.word().into()];
        row.push(program.threads.len().into());
        row.extend(work(asked));
        table.rows.push(row);
    }
    Ok(table)
}

/// Algorithm 1 with N threads: Trencher's text of one thread, N times.
fn lamport(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let table = BenchTable::new(
        "Fig. 5.6: Lamport's fast mutex, algorithm 1, N threads: can all be in the critical section?",
        FAMILY,
    );
    let Some(text) = bencher.foreign(&format!("trencher/{LAMPORT_1}")) else {
        return Ok(table.note(format!("Left out: there is no {LAMPORT_1} in the folder --corpora.")));
    };
    let table = table.note("Trencher's text of one thread, N times.");
    let one = thread(&edited(&text, LAMPORT_GOAL)?, "t0")?;
    let several = |n: usize| {
        let copy = |i| {
            one.replace("thread t0", &format!("thread t{i}")).replace("local i 1", &format!("local i {i}"))
        };
        bencher.parse(LAMPORT_1, &(1..=n).map(copy).collect::<String>(), Vec::new())
    };
    let published = |n| if n == 5 { "Trencher, Memorax: out of 8 GB" } else { "" };
    family(bencher, table, &[2, 3, 4, 5, 6], published, several)
}

fn own(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Programs of our own corpus: is a violation reachable under TSO? Engine lazy.",
        &["program", "threads", "verdict", "SC queries", "SC states", "cpu ms", "ms"],
    )
    .note(
        "Other programs than the thesis', with other goals: Lamport's is that some two are in the critical section.",
    );
    for (name, (file, text), n) in OWN {
        let program = bencher.own(file, text, *n)?;
        let asked = ask(bencher, &program)?;
        let mut row = vec![(*name).into(), program.threads.len().into(), asked.word().into()];
        row.extend(work(asked));
        table.rows.push(row);
    }
    Ok(table)
}

const FAMILY: &[&str] = &["N", "verdict", "SC queries", "SC states", "cpu ms", "ms", "MB", "published"];

/// Programs with a parameter; the published figure of each, if there is one.
fn family(
    bencher: &Bencher<'_>,
    mut table: BenchTable,
    sizes: &[usize],
    published: fn(usize) -> &'static str,
    program: impl Fn(usize) -> Result<Program, String>,
) -> Result<BenchTable, String> {
    for n in sizes {
        let asked = ask(bencher, &program(*n)?)?;
        let (megabytes, published) = (asked.megabytes, published(*n));
        let mut row = vec![(*n).into(), asked.word().into()];
        row.extend(work(asked));
        row.extend([megabytes.into(), Some(published).filter(|text| !text.is_empty()).into()]);
        table.rows.push(row);
    }
    Ok(table)
}

/// The queries of an answer, their states and how long all took.
fn work(asked: Measured<Finding>) -> [BenchCell; 4] {
    let Statistics { sc_queries, states, .. } = asked.answer.statistics;
    [sc_queries.into(), states.into(), asked.cpu, asked.time]
}

fn ask(bencher: &Bencher<'_>, program: &Program) -> Result<Measured<Finding>, String> {
    bencher.ask(&Lazy, &Task::safe(program, TSO))
}
