//! What reductions leave of exact searches: Fig. 5.11 and 5.14 (Trencher's programs, with and without liveness and
//! reductions, depth first and breadth first), and Fig. 5.13 (the Indexer with more and more threads).

use super::lazy::{FIG_5_1, OTHERWISE};
use crate::commands::bench::{Bench, Bencher, CorpusFile, Measured, corpus};
use crate::numbers::grouped;
use crate::report::{BenchCell, BenchTable};
use engine::{Explicit, Finding, Order, Reduction, Run};
use evidence::Task;
use machine::SC;
use program::Program;

/// Fig. 5.11, 5.13 and 5.14.
pub const REDUCTIONS: Bench = Bench {
    name: "reductions",
    earlier: None,
    about: "exact search under SC with each reduction, with and without liveness, depth and breadth first: Fig. 5.11, \
            5.13 and 5.14 of the thesis",
    tables,
};

const INDEXER: CorpusFile = corpus!("indexer");

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    Ok(vec![programs(bencher)?, indexer(bencher)?])
}

/// A search: its reduction, its order, and whether dead registers are part of states.
type SearchKind = (Reduction, Order, bool);

/// The combinations of Fig. 5.11 and 5.14, and what we have besides.
const SEARCHES: &[SearchKind] = &[
    (Reduction::None, Order::Breadth, true),
    (Reduction::None, Order::Depth, true),
    (Reduction::None, Order::Breadth, false),
    (Reduction::None, Order::Depth, false),
    (Reduction::Local, Order::Breadth, true),
    (Reduction::Local, Order::Depth, true),
    (Reduction::Local, Order::Breadth, false),
    (Reduction::Local, Order::Depth, false),
    (Reduction::Dynamic, Order::Depth, true),
    (Reduction::Dynamic, Order::Depth, false),
    (Reduction::Persistent, Order::Depth, false),
    (Reduction::Cartesian, Order::Depth, false),
    (Reduction::All, Order::Depth, false),
];

fn programs(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Fig. 5.11 and 5.14: is the goal reachable under SC? Trencher's programs, engine explicit.",
        &["program", "goal", "reduction", "search", "registers", "verdict", "states", "cpu ms", "ms"],
    )
    .note(
        "registers: live, or all, also those that nothing reads any more (--no-liveness). local is the thesis' \
         local-events-first, dynamic takes the place of its dynamic reduction, which loses states.",
    )
    .note(
        "The figures are charts of all searches behind the fences of Fig. 5.9, without numbers; ours are of one search \
         for each program that has a goal, so there is nothing to put beside them.",
    );
    let published = FIG_5_1.iter().map(|(published, goal, ..)| (published, *goal));
    let otherwise = OTHERWISE.iter().map(|(published, goal)| (published, *goal));
    for (published, goal) in published.chain(otherwise) {
        let Some(program) = published.program(bencher, &mut table)? else { continue };
        for kind @ (reduction, order, dead_registers) in SEARCHES {
            let measured = searched(bencher, &program, *kind)?;
            let order = if *order == Order::Depth { "dfs" } else { "bfs" };
            let registers = if *dead_registers { "all" } else { "live" };
            let Measured { answer, time, cpu, .. } = measured;
            let states = grouped(answer.statistics.states);
            table.rows.push(vec![
                published.name.into(),
                goal.into(),
                reduction.name().into(),
                order.into(),
                registers.into(),
                answer.checked.verdict().word().into(),
                states.into(),
                cpu,
                time,
            ]);
        }
    }
    Ok(table)
}

const INDEXER_REDUCTIONS: [(Reduction, Order, bool); 4] = [
    (Reduction::Local, Order::Depth, false),
    (Reduction::Dynamic, Order::Depth, false),
    (Reduction::Cartesian, Order::Depth, false),
    (Reduction::All, Order::Depth, false),
];

fn indexer(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Fig. 5.13: the Indexer with N threads: is the table ever full? Engine explicit, depth first.",
        &[
            "N",
            "local states",
            "local ms",
            "dynamic states",
            "dynamic ms",
            "cartesian states",
            "cartesian ms",
            "all states",
            "all ms",
        ],
    )
    .note(
        "Unreduced there are 35 to the power of N states. local is the thesis' local-events-first, which in the figure \
         grows like that, too; its dynamic reduction is near-linear for N < 12. The figure is a chart without numbers. \
         The program is rebuilt from Fig. 5.12. Where a limit was reached, states are those explored till then.",
    );
    for n in 2..=15 {
        let program = bencher.own(INDEXER.0, INDEXER.1, Some(n))?;
        let mut row = vec![BenchCell::from(n)];
        for kind in INDEXER_REDUCTIONS {
            let measured = searched(bencher, &program, kind)?;
            row.extend([measured.states().into(), measured.time]);
        }
        table.rows.push(row);
    }
    Ok(table)
}

fn searched(
    bencher: &Bencher<'_>,
    program: &Program,
    (reduction, order, dead_registers): SearchKind,
) -> Result<Measured<Finding>, String> {
    let label = format!("{} {}", program.name, reduction.name());
    let run = Run { reduction, order, dead_registers, ..Run::default() };
    bencher.run_on(1, &label, &Explicit, &Task::safe(program, SC), run)
}
