//! How far exact search goes: locks with more and more threads, each reduced search beside the plain one.

use super::{Bench, Bencher, CorpusFile, Measured, corpus};
use crate::numbers::{grouped, short};
use crate::report::{BenchCell, BenchTable};
use engine::{Engine, Explicit, Finding, GapProofs, Reduction, Run, decide};
use evidence::Task;
use machine::model_named;

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
    models: &'static [&'static str],
    /// Whether numbers grow without end, so that engine gaps explores their order.
    unbounded: bool,
}

const SERIES: &[Series] = &[
    Series {
        program: corpus!("lamport_fast_fenced"),
        threads: &[2, 3, 4],
        models: &["sc", "tso"],
        unbounded: false,
    },
    Series { program: corpus!("lamport_fast_pso"), threads: &[2, 3, 4], models: &["pso"], unbounded: false },
    Series {
        program: corpus!("peterson_filter"),
        threads: &[2, 3, 4],
        models: &["tso", "pso"],
        unbounded: false,
    },
    Series {
        program: corpus!("bakery_bounded_fenced"),
        threads: &[2, 3, 4],
        models: &["tso", "pso"],
        unbounded: false,
    },
    Series { program: corpus!("dijkstra_fenced"), threads: &[2, 3, 4], models: &["tso"], unbounded: false },
    Series { program: corpus!("mcs_lock"), threads: &[2, 3, 4], models: &["tso", "pso"], unbounded: false },
    Series {
        program: corpus!("clh_lock"),
        threads: &[2, 3, 4, 5],
        models: &["tso", "pso"],
        unbounded: false,
    },
    Series {
        program: corpus!("sense_barrier"),
        threads: &[2, 3, 4, 5],
        models: &["tso", "pso"],
        unbounded: false,
    },
    Series {
        program: corpus!("indexer"),
        threads: &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
        models: &["sc"],
        unbounded: false,
    },
    Series { program: corpus!("aravind_fenced"), threads: &[2, 3], models: &["sc", "tso"], unbounded: true },
    Series { program: corpus!("ticket_lock"), threads: &[2, 3, 4], models: &["tso", "pso"], unbounded: true },
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
    let mut table = BenchTable {
        title: "Exact search, reduced".to_string(),
        columns: vec![
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
        ..BenchTable::default()
    };
    for Series { program: (name, text), threads, models, unbounded } in SERIES {
        for (n, model) in threads.iter().flat_map(|n| models.iter().map(move |model| (n, model))) {
            let program = bencher.own(name, text, Some(*n))?;
            let Some(model) = model_named(model) else { continue };
            let task = Task::safe(&program, model);
            let mut plain = None;
            let engine: &dyn Engine = if *unbounded { &GapProofs } else { &Explicit };
            for reduction in REDUCTIONS {
                let measured = searched(bencher, engine, &task, *reduction, false)?;
                let statistics = &measured.answer.statistics;
                if *reduction != Reduction::None && statistics.method.is_none() {
                    continue;
                }
                let mut row: Vec<BenchCell> =
                    vec![(*name).into(), (*n).into(), model.name().to_uppercase().as_str().into()];
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
    table.notes.push(
        "States without liveness: with registers that nothing reads any more (--no-liveness). Tickets grow without end: engine gaps explores their order, the others are explored by explicit. Times \
         are with checking the proof. Where the plain search reached a limit, the ratios to it are at \
         least what is shown."
            .to_string(),
    );
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
    let measured = bencher.measure_on(1, &label, |monitor| {
        decide(task, engine, &Run { monitor, reduction, dead_registers, ..Run::default() })
    });
    measured.answered()
}

/// How many states there are, as far as a search came.
fn counted(measured: &Measured<Finding>) -> String {
    let states = grouped(measured.answer.statistics.states);
    let decided = measured.answer.checked.verdict().word() != "unknown";
    if decided { states } else { format!("more than {states}") }
}

fn cells(
    reduction: Reduction,
    measured: &Measured<Finding>,
    dead: Option<&Measured<Finding>>,
    plain: Option<&Measured<Finding>>,
) -> Vec<BenchCell> {
    let (states, time) = (measured.answer.statistics.states, measured.time.median());
    let ratio = |ours: f64, theirs: f64| format!("{:.1}", theirs / ours.max(f64::MIN_POSITIVE));
    let of_plain = |get: &dyn Fn(&Measured<Finding>) -> f64| {
        plain.map(|plain| BenchCell::from(ratio(get(measured), get(plain)).as_str()))
    };
    vec![
        reduction.name().into(),
        measured.answer.checked.verdict().word().into(),
        grouped(states).as_str().into(),
        dead.map(|dead| BenchCell::from(counted(dead).as_str())).into(),
        measured.time.clone(),
        short((states as f64 * 1000.0 / time.max(0.001)) as usize).as_str().into(),
        measured.megabytes.into(),
        of_plain(&|measured| measured.answer.statistics.states as f64).into(),
        of_plain(&|measured| measured.time.median()).into(),
    ]
}
