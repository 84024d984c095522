//! How far exact search goes: locks with more and more threads, each reduced search beside the plain one.

use super::{Bench, Bencher, CorpusFile, Measured, corpus};
use crate::numbers::{grouped, short};
use crate::report::{BenchCell, BenchTable};
use engine::{Engine, Explicit, Finding, GapProofs, Reduction, Run};
use evidence::Task;
use machine::{Model, PSO, SC, TSO};

/// Reduced searches and the plain one.
pub const SCALE: Bench = Bench {
    name: "scale",
    earlier: None,
    about: "exact search with more and more threads: what each reduction leaves of states, time and memory",
    tables,
};

/// A program, for how many threads, and under which models.
struct Series {
    program: CorpusFile,
    threads: &'static [usize],
    models: &'static [Model],
    /// Whether numbers grow without end, so that engine gaps explores their order.
    unbounded: bool,
}

const fn series(program: CorpusFile, threads: &'static [usize], models: &'static [Model]) -> Series {
    Series { program, threads, models, unbounded: false }
}

const fn unbounded(program: CorpusFile, threads: &'static [usize], models: &'static [Model]) -> Series {
    Series { unbounded: true, ..series(program, threads, models) }
}

const SERIES: &[Series] = &[
    series(corpus!("lamport_fast_fenced"), &[2, 3, 4], &[SC, TSO]),
    series(corpus!("lamport_fast_pso"), &[2, 3, 4], &[PSO]),
    series(corpus!("peterson_filter"), &[2, 3, 4], &[TSO, PSO]),
    series(corpus!("bakery_bounded_fenced"), &[2, 3, 4], &[TSO, PSO]),
    series(corpus!("dijkstra_fenced"), &[2, 3, 4], &[TSO]),
    series(corpus!("mcs_lock"), &[2, 3, 4], &[TSO, PSO]),
    series(corpus!("clh_lock"), &[2, 3, 4, 5], &[TSO, PSO]),
    series(corpus!("sense_barrier"), &[2, 3, 4, 5], &[TSO, PSO]),
    series(corpus!("indexer"), &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15], &[SC]),
    unbounded(corpus!("aravind_fenced"), &[2, 3], &[SC, TSO]),
    unbounded(corpus!("ticket_lock"), &[2, 3, 4], &[TSO, PSO]),
];

const REDUCTIONS: &[Reduction] = &[
    Reduction::None,
    Reduction::Local,
    Reduction::Persistent,
    Reduction::Dynamic,
    Reduction::Cartesian,
    Reduction::Symmetry,
    Reduction::All,
];

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let mut table = BenchTable::new(
        "Exact search, reduced",
        &[
            "program",
            "threads",
            "model",
            "reduction",
            "answer",
            "states",
            "states without liveness",
            "ms",
            "states/s",
            "MB",
            "fewer states",
            "quicker",
        ],
    )
    .note(
        "States without liveness: with registers that nothing reads any more (--no-liveness). Tickets grow without end: engine gaps explores their order, the others are explored by explicit. Times \
         are with checking the proof. Where the plain search reached a limit, the ratios to it are at \
         least what is shown.",
    );
    for Series { program: (name, text), threads, models, unbounded } in SERIES {
        for (n, model) in threads.iter().flat_map(|n| models.iter().map(move |model| (n, model))) {
            let program = bencher.own(name, text, Some(*n))?;
            let task = Task::safe(&program, *model);
            let mut plain = None;
            let engine: &dyn Engine = if *unbounded { &GapProofs } else { &Explicit };
            for reduction in REDUCTIONS {
                let measured = searched(bencher, engine, &task, *reduction, false)?;
                let statistics = &measured.answer.statistics;
                if *reduction != Reduction::None && statistics.method.is_none() {
                    continue;
                }
                let mut row: Vec<BenchCell> = vec![(*name).into(), (*n).into(), (*model).into()];
                let dead = (*reduction == Reduction::None && !*unbounded)
                    .then(|| searched(bencher, engine, &task, *reduction, true))
                    .transpose()?;
                row.extend(cells(*reduction, &measured, dead.as_ref(), plain.as_ref()));
                table.rows.push(row);
                if *reduction == Reduction::None {
                    plain = Some(measured);
                }
            }
        }
    }
    Ok(vec![table])
}

fn searched(
    bencher: &Bencher<'_>,
    engine: &dyn Engine,
    task: &Task<'_>,
    reduction: Reduction,
    dead_registers: bool,
) -> Result<Measured<Finding>, String> {
    let label = format!("{} {}", task.program.name, reduction.name());
    bencher.run_on(1, &label, engine, task, Run { reduction, dead_registers, ..Run::default() })
}

fn cells(
    reduction: Reduction,
    measured: &Measured<Finding>,
    dead: Option<&Measured<Finding>>,
    plain: Option<&Measured<Finding>>,
) -> Vec<BenchCell> {
    let (states, time) = (measured.answer.statistics.states, measured.time.median());
    let ratio = |ours: f64, theirs: f64| format!("{:.1}", theirs / ours.max(f64::MIN_POSITIVE));
    let of_plain = |get: &dyn Fn(&Measured<Finding>) -> f64| -> BenchCell {
        plain.map(|plain| ratio(get(measured), get(plain))).into()
    };
    vec![
        reduction.name().into(),
        measured.word().into(),
        grouped(states).into(),
        dead.map(Measured::states).into(),
        measured.time.clone(),
        short((states as f64 * 1000.0 / time.max(0.001)) as usize).into(),
        measured.megabytes.into(),
        of_plain(&|measured| measured.answer.statistics.states as f64),
        of_plain(&|measured| measured.time.median()),
    ]
}
