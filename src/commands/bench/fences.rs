//! Seed 000: fences for integer programs (Table 1), the same programs under PSO, programs with
//! unbounded counters that no predecessor finishes, and what the parts of the abstraction bring.
//!
//! The published times are those of the authors' prototype on a laptop of 2012. Fences are
//! counted per process, as there: all threads of these programs run the same code.

use super::{Bench, Bencher, CorpusFile, Measured, corpus};
use crate::report::{BenchCell, BenchTable};
use engine::{
    Abstraction, Cegar, Engine, FenceAnswer, FenceOptions, FencesFound, Placed, Portfolio, Run, place_fences,
};
use evidence::{Monitor, Statistics, Task};
use machine::{Forgotten, Keep, Model, PSO, TSO};
use program::{Fence, Program, Strength};

/// Table 1, PSO, and unbounded counters.
pub const FENCES: Bench = Bench {
    name: "fences",
    earlier: Some("seed000"),
    about: "fences for programs with unbounded integers: Table 1 of the paper of 2012, then PSO and counters",
    tables: fences,
};

/// The parts of the abstraction, compared.
pub const ABSTRACTIONS: Bench = Bench {
    name: "abstractions",
    earlier: None,
    about: "engine cegar: pools against any value, newest against oldest, with and without reduction",
    tables: abstractions,
};

/// Program, our model, published seconds, fences per process and templates.
const TABLE_1: &[(&str, CorpusFile, f64, usize, usize)] = &[
    ("Burns", corpus!("burns"), 0.02, 1, 1),
    ("Simple Dekker", corpus!("dekker_simple"), 0.04, 1, 1),
    ("Full Dekker", corpus!("dekker"), 0.06, 1, 1),
    ("Dijkstra", corpus!("dijkstra"), 0.35, 1, 4),
    ("Lamport Bakery", corpus!("bakery"), 154.0, 2, 17),
    ("Lamport Fast", corpus!("lamport_fast"), 2.0, 2, 4),
    ("Peterson", corpus!("peterson"), 2.0, 1, 6),
    ("Linux Ticket Lock", corpus!("ticket_lock"), 2.0, 0, 2),
];

/// Programs with unbounded counters. Those whose names end in `pso` have the fences PSO needs.
const COUNTERS: &[(&str, CorpusFile)] = &[
    ("alternating bit", corpus!("alternating_bit")),
    ("Andrews' ticket", corpus!("ticket_andrews")),
    ("array queue", corpus!("array_queue")),
    ("array queue, fenced for PSO", corpus!("array_queue_pso")),
    ("seqlock", corpus!("seqlock_unbounded")),
    ("seqlock, fenced for PSO", corpus!("seqlock_unbounded_pso")),
    ("non-blocking write", corpus!("nonblocking_write")),
    ("non-blocking write, fenced for PSO", corpus!("nonblocking_write_pso")),
];

/// Safe programs for comparing abstractions.
const SAFE: &[(&str, CorpusFile)] = &[
    ("dijkstra, fenced", corpus!("dijkstra_fenced")),
    ("lamport_fast, fenced", corpus!("lamport_fast_fenced")),
    ("bakery, fenced", corpus!("bakery_fenced")),
    ("peterson, fenced", corpus!("peterson_fenced")),
    ("ticket_lock", corpus!("ticket_lock")),
    ("alternating_bit", corpus!("alternating_bit")),
    ("array_queue", corpus!("array_queue")),
    ("seqlock", corpus!("seqlock")),
    ("treiber_stack", corpus!("treiber_stack")),
    ("thesis_3_3 (stores for ever)", corpus!("thesis_3_3")),
];

fn fences(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    Ok(vec![table_1(bencher)?, under_pso(bencher)?, counters(bencher)?])
}

fn table_1(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Table 1: the cheapest fences under TSO. Engine cegar.",
        &[
            "program",
            "verdict",
            "fences/process",
            "published fences/process",
            "templates",
            "most templates",
            "published most templates",
            "k",
            "refinements",
            "states",
            "prover calls",
            "ms",
            "portfolio ms",
            "published ms",
        ],
    )
    .note(
        "ms: the whole synthesis with all checks. Templates, k and refinements to prover calls: the proof of the \
         fenced program.",
    )
    .note(
        "The paper counts the most templates of any step of the synthesis; most templates is ours of any proof or \
         violation on the way.",
    )
    .note(
        "2 threads each, our models of the algorithms that the paper cites; it does not print its programs.",
    );
    for (name, (file, text), seconds, fences, templates) in TABLE_1 {
        let [found, quick] = syntheses(bencher, &bencher.own(file, text, None)?, TSO)?;
        let Statistics { states, k, predicates, refinements, questions, .. } = found.answer.statistics;
        let placed = placed(&found.answer);
        table.rows.push(vec![
            (*name).into(),
            outcome(&found.answer).into(),
            placed.map(|placed| per_process(placed, Fence::Full)).into(),
            (*fences).into(),
            predicates.into(),
            found.answer.most_predicates.into(),
            (*templates).into(),
            k.into(),
            refinements.map(|refinements| refinements.total()).into(),
            states.into(),
            questions.into(),
            found.time,
            quick.time,
            BenchCell::Milliseconds(seconds * 1000.0),
        ]);
    }
    Ok(table)
}

fn under_pso(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "The same under PSO, with store fences (a full fence costs 3, a store fence 1).",
        &["program", "verdict", "full/process", "store/process", "cegar ms", "portfolio ms"],
    );
    for (name, (file, text), ..) in TABLE_1 {
        let [found, quick] = syntheses(bencher, &bencher.own(file, text, None)?, PSO)?;
        let placed = placed(&found.answer);
        table.rows.push(vec![
            (*name).into(),
            outcome(&found.answer).into(),
            placed.map(|placed| per_process(placed, Fence::Full)).into(),
            placed.map(|placed| per_process(placed, Fence::Store)).into(),
            found.time,
            quick.time,
        ]);
    }
    Ok(table)
}

fn counters(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Unbounded counters: is it safe as it stands?",
        &["program", "model", "cegar", "cegar ms", "portfolio", "by", "portfolio ms"],
    )
    .note(
        "cegar ends without an answer where stores to several variables pile up for ever and their order matters: \
         that order is what a machine that keeps k stores forgets.",
    );
    for (name, (file, text)) in COUNTERS {
        let program = bencher.own(file, text, None)?;
        for model in [TSO, PSO] {
            let task = Task::safe(&program, model);
            let (cegar, best) = (bencher.ask(&Cegar, &task)?, bencher.ask(&Portfolio, &task)?);
            table.rows.push(vec![
                (*name).into(),
                model.name().into(),
                cegar.word().into(),
                cegar.time,
                best.word().into(),
                best.answer.engine.into(),
                best.time,
            ]);
        }
    }
    Ok(table)
}

fn abstractions(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let usual = Abstraction::default();
    let ways = [
        ("pools, newest, reduced", usual),
        ("any value", Abstraction { forgotten: Forgotten::Anything, ..usual }),
        ("oldest", Abstraction { keep: Keep::Oldest, ..usual }),
        ("no reduction", Abstraction { reduce: false, ..usual }),
    ];
    let mut tables = Vec::new();
    for model in [TSO, PSO] {
        let mut table = BenchTable::new(
            format!("Engine cegar under {}: what each part brings.", model.name().to_uppercase()),
            &["program", "way", "verdict", "k", "templates", "refinements", "states", "prover calls", "ms"],
        );
        for (name, (file, text)) in SAFE {
            let program = bencher.own(file, text, None)?;
            for (way, abstraction) in ways {
                let run = Run { abstraction, ..Run::default() };
                let asked = bencher.ask_as(&Cegar, &Task::safe(&program, model), run)?;
                let statistics = &asked.answer.statistics;
                table.rows.push(vec![
                    (*name).into(),
                    way.into(),
                    asked.word().into(),
                    statistics.k.into(),
                    statistics.predicates.into(),
                    statistics.refinements.map(|refinements| refinements.total()).into(),
                    statistics.states.into(),
                    statistics.questions.into(),
                    asked.time,
                ]);
            }
        }
        tables.push(table);
    }
    Ok(tables)
}

/// What cegar and the portfolio find.
fn syntheses(
    bencher: &Bencher<'_>,
    program: &Program,
    model: Model,
) -> Result<[Measured<FencesFound>; 2], String> {
    let options = FenceOptions::default();
    let task = Task::safe(program, model);
    let by = |engine: &dyn Engine| {
        let place =
            |monitor: &dyn Monitor| place_fences(&task, engine, &options, &Run { monitor, ..Run::default() });
        bencher.measure(&program.name, place).answered()
    };
    Ok([by(&Cegar)?, by(&Portfolio)?])
}

fn placed(found: &FencesFound) -> Option<&Placed> {
    match &found.answer {
        FenceAnswer::Placed(placed) => Some(placed),
        _ => None,
    }
}

/// Fences of a kind in the code that all processes share.
fn per_process(placed: &Placed, fence: Fence) -> usize {
    placed.fences.iter().filter(|placed| placed.point.strength == Strength::Fence(fence)).count()
}

fn outcome(found: &FencesFound) -> &'static str {
    match &found.answer {
        FenceAnswer::Placed(placed) if placed.fences.is_empty() => "safe",
        FenceAnswer::Placed(_) => "safe with fences",
        FenceAnswer::UnsafeUnderSc(_) => "unsafe under SC",
        FenceAnswer::NoCandidate(_) => "no fence helps",
        FenceAnswer::Unknown(_) => "unknown",
    }
}
