//! Seed 003: from a proof under SC to TSO and PSO (Tables 1 and 2), and the fences that its reading of
//! bounded buffers asks for.
//!
//! The published figures are for programs with the fewest fences that verify with buffers of one
//! store; its programs and all predicates but those of the alternating bit protocol are not printed.
//! Ours have the fences that safety needs, and buffers as long as they get.

use super::{Bench, Bencher, CorpusFile, corpus};
use crate::report::{BenchCell, BenchTable};
use engine::{
    Extrapolate, Extrapolation, FenceAnswer, FenceOptions, Phase, Run, extrapolate, fences_within,
    place_fences,
};
use evidence::{Certificate, Monitor, Task, Verdict, check};
use machine::{Model, PSO, SC, TSO};
use program::{Fence, Program, Strength};

/// Tables 1 and 2, and fences at bounds.
pub const EXTRAPOLATE: Bench = Bench {
    name: "extrapolate",
    earlier: Some("seed003"),
    about: "engine extrapolate: proofs carried over from SC, Tables 1 and 2 of its paper, and fences at bounds",
    tables,
};

/// A program of the source, as we have it.
struct SeedProgram {
    name: &'static str,
    /// For SC and TSO.
    file: CorpusFile,
    /// For PSO, where it needs more fences.
    pso: CorpusFile,
    /// Without fences.
    bare: CorpusFile,
    /// Predicates as an author would give them.
    given: &'static str,
    published: &'static [PublishedRows],
}

/// A row of the source: model, method, predicates, thousands of prover calls, seconds to build, cubes used,
/// the largest of them, thousands of states, seconds to explore. What it does not print is missing.
struct PublishedRows(
    Model,
    Option<Extrapolation>,
    usize,
    Option<f64>,
    Option<f64>,
    Option<usize>,
    usize,
    Option<f64>,
    Option<f64>,
);

const PE: Option<Extrapolation> = Some(Extrapolation::Predicates);
const CE: Option<Extrapolation> = Some(Extrapolation::Cubes);

const fn row(
    model: Model,
    method: Option<Extrapolation>,
    predicates: usize,
    (calls, build): (f64, f64),
    (cubes, size): (usize, usize),
    (states, explore): (f64, f64),
) -> PublishedRows {
    PublishedRows(
        model,
        method,
        predicates,
        Some(calls),
        Some(build),
        Some(cubes),
        size,
        Some(states),
        Some(explore),
    )
}

/// A row that ran out of ten hours.
const fn out_of_time(model: Model, predicates: usize) -> PublishedRows {
    PublishedRows(model, PE, predicates, None, None, None, 4, None, None)
}

/// A row of which the seconds to explore are not printed.
const fn unexplored(
    predicates: usize,
    calls: (f64, f64),
    cubes: (usize, usize),
    states: f64,
) -> PublishedRows {
    PublishedRows { 8: None, ..row(SC, None, predicates, calls, cubes, (states, 0.0)) }
}

const SUBJECTS: &[SeedProgram] = &[
    SeedProgram {
        name: "Dekker",
        file: corpus!("dekker_fenced"),
        pso: corpus!("dekker_fenced"),
        bare: corpus!("dekker"),
        given: "flag[0] == 1; flag[1] == 1; turn == 1;",
        published: &[
            row(SC, None, 7, (0.7, 0.1), (0, 1), (14.0, 1.0)),
            row(PSO, PE, 20, (26.0, 6.0), (0, 1), (80.0, 5.0)),
            row(TSO, PE, 18, (22.0, 5.0), (0, 1), (45.0, 3.0)),
        ],
    },
    SeedProgram {
        name: "Peterson",
        file: corpus!("peterson_fenced"),
        pso: corpus!("peterson_pso"),
        bare: corpus!("peterson"),
        given: "flag[0] == 0; flag[1] == 0; turn == 0;",
        published: &[
            row(SC, None, 7, (0.6, 0.1), (2, 2), (7.0, 1.0)),
            row(PSO, PE, 20, (15.0, 3.0), (2, 2), (31.0, 3.0)),
            row(TSO, PE, 18, (13.0, 3.0), (2, 2), (25.0, 2.0)),
        ],
    },
    SeedProgram {
        name: "ABP",
        file: corpus!("alternating_bit"),
        pso: corpus!("alternating_bit"),
        bare: corpus!("alternating_bit"),
        given: "Msg == 0; Ack == 0; Sender.bit == 0; Sender.ack == 0; Receiver.msg == 0; Receiver.bit == 0; \
                Receiver.received == Sender.sent; Receiver.received + 1 == Sender.sent;",
        published: &[
            row(SC, None, 8, (2.0, 0.5), (5, 2), (0.6, 0.6)),
            row(PSO, PE, 15, (20.0, 4.0), (5, 2), (2.0, 1.0)),
            row(TSO, PE, 17, (23.0, 5.0), (5, 2), (2.0, 1.0)),
        ],
    },
    SeedProgram {
        name: "Szymanski",
        file: corpus!("szymanski_fenced"),
        pso: corpus!("szymanski_fenced"),
        bare: corpus!("szymanski"),
        given: "flag[0] == 0; flag[0] == 1; flag[0] == 2; flag[0] == 3; flag[0] == 4; \
                flag[1] == 0; flag[1] == 1; flag[1] == 2; flag[1] == 3; flag[1] == 4;",
        published: &[
            row(SC, None, 20, (16.0, 3.3), (1, 2), (12.0, 2.0)),
            row(PSO, PE, 35, (152.0, 33.0), (1, 2), (61.0, 4.0)),
            row(TSO, PE, 37, (165.0, 35.0), (1, 2), (61.0, 5.0)),
        ],
    },
    SeedProgram {
        name: "Array queue",
        file: corpus!("array_queue"),
        pso: corpus!("array_queue_pso"),
        bare: corpus!("array_queue"),
        given: "item[0] == head + 1; item[1] == head + 1; item[0] == head + 2; item[1] == head + 2; head == tail; \
                head + 1 == tail; head + 2 == tail; Producer.t == tail; Producer.t == head; Producer.t == head + 1; \
                Consumer.h == head; Consumer.h == tail; Consumer.h + 1 == tail; Consumer.got == Consumer.h + 1; \
                Producer.slot == 0; Producer.slot == 1; Producer.slot == 2; Consumer.slot == 0; Consumer.slot == 1; \
                Consumer.slot == 2;",
        published: &[
            row(SC, None, 7, (20.0, 5.0), (50, 4), (1.0, 1.0)),
            row(PSO, PE, 15, (5747.0, 1475.0), (412, 4), (1.0, 1.0)),
            row(PSO, CE, 99, (98.0, 17.0), (99, 4), (11.0, 2.0)),
            row(TSO, PE, 16, (11133.0, 2778.0), (412, 4), (12.0, 1.0)),
            row(TSO, CE, 99, (163.0, 31.0), (99, 4), (12.0, 2.0)),
        ],
    },
    SeedProgram {
        name: "Bakery",
        file: corpus!("bakery_fenced"),
        pso: corpus!("bakery_fenced"),
        bare: corpus!("bakery"),
        given: "choosing[0] == 0; choosing[1] == 0; number[0] == 0; number[1] == 0; number[0] == P0.mine; \
                number[1] == P1.mine; number[1] <= P0.mine; number[0] <= P1.mine; number[0] <= number[1]; \
                number[1] <= number[0]; P0.mine <= P1.mine; P1.mine <= P0.mine; P0.theirs == 0; P1.theirs == 0; \
                P0.theirs <= P0.mine; P1.theirs <= P1.mine; P0.mine <= P0.theirs; P1.mine <= P1.theirs; \
                P0.mine == 0; P1.mine == 0; P0.theirs == number[1]; P1.theirs == number[0]; P0.mine <= number[1]; \
                P1.mine <= number[0];",
        published: &[
            unexplored(15, (1552.0, 355.0), (161, 4), 20.0),
            out_of_time(PSO, 38),
            row(PSO, CE, 422, (9018.0, 1773.0), (381, 4), (979.0, 104.0)),
            out_of_time(TSO, 36),
            row(TSO, CE, 422, (7048.0, 1386.0), (383, 4), (730.0, 121.0)),
        ],
    },
    SeedProgram {
        name: "Ticket",
        file: corpus!("ticket_andrews"),
        pso: corpus!("ticket_andrews"),
        bare: corpus!("ticket_andrews"),
        given: "number == next; number == turn[0]; number == turn[1]; next == turn[0]; next == turn[1]; \
                turn[0] == turn[1];",
        published: &[
            unexplored(11, (218.0, 51.0), (134, 4), 2.0),
            out_of_time(PSO, 56),
            row(PSO, CE, 622, (15644.0, 2163.0), (380, 4), (193.0, 40.0)),
            out_of_time(TSO, 48),
            row(TSO, CE, 622, (6941.0, 1518.0), (582, 4), (71.0, 545.0)),
        ],
    },
];

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    Ok(vec![proofs(bencher, true)?, proofs(bencher, false)?, fences(bencher)?])
}

const COLUMNS: &[&str] = &[
    "program",
    "model",
    "method",
    "answer",
    "k",
    "predicates",
    "published predicates",
    "prover calls",
    "published prover calls",
    "cubes",
    "published cubes",
    "size",
    "published size",
    "states",
    "published states",
    "ms to find",
    "ms to check",
    "published ms",
];

/// The rows of the source, with predicates as an author would give them or as `cegar` finds them.
fn proofs(bencher: &Bencher<'_>, given: bool) -> Result<BenchTable, String> {
    let title = match given {
        true => {
            "Tables 1 and 2: proofs carried over from SC, with predicates given by hand. Engine extrapolate."
        }
        false => "The same with predicates that cegar finds under SC.",
    };
    let mut table = BenchTable::new(title, COLUMNS);
    let (mut total, mut on_cores, mut published_total) = (0.0, 0.0, 0.0);
    for subject in SUBJECTS {
        for published in subject.published {
            let (cells, [milliseconds, cpu]) = proof(bencher, subject, published, given)?;
            total += milliseconds;
            on_cores += cpu;
            let seconds = published.4.unwrap_or_default() + published.8.unwrap_or_default();
            published_total += seconds;
            table.rows.push(cells);
        }
    }
    table.notes = vec![
        format!(
            "All rows together: {total:.0} ms, {on_cores:.0} ms of processors; published: {published_total:.0} s, \
             and four rows out of 10 h."
        ),
        "Predicates are counted as in the source, with those for the length and the content of buffers. Prover calls, \
         cubes, size and states: of all attempts on this model, without the proof under SC; ms to find: with it."
            .to_string(),
        "Programs and predicates are ours, the predicates of ABP given by hand the source's.".to_string(),
    ];
    Ok(table)
}

fn read(bencher: &Bencher<'_>, (name, text): CorpusFile, given: &str) -> Result<Program, String> {
    match given {
        "" => bencher.own(name, text, None),
        given => bencher.own(name, &format!("{text}\npredicates {{ {given} }}\n"), None),
    }
}

fn proof(
    bencher: &Bencher<'_>,
    subject: &SeedProgram,
    published: &PublishedRows,
    given: bool,
) -> Result<(Vec<BenchCell>, [f64; 2]), String> {
    let &PublishedRows(model, method, predicates, calls, build, cubes, size, states, explore) = published;
    let file = if model == PSO { subject.pso } else { subject.file };
    let program = read(bencher, file, if given { subject.given } else { "" })?;
    let task = Task::safe(&program, model);
    let found = bencher.measure(&program.name, |monitor| {
        let extrapolation = method.unwrap_or_default();
        extrapolate(&task, &Run { monitor, extrapolation, ..Run::default() })
    });
    let checked = bencher.measure(&program.name, |monitor| checked(&task, &found.answer.verdict, monitor));
    checked.answer?;
    let on_model = |phase: &&Phase| phase.k.is_some() != model.is_sc();
    let phases: Vec<&Phase> = found.answer.phases.iter().filter(on_model).collect();
    let sum = |of: fn(&Phase) -> usize| phases.iter().map(|phase| of(phase)).sum::<usize>();
    let last = phases.last();
    let thousands = |value: Option<f64>| value.map(|value| (value * 1000.0) as usize);
    let spent = build.map(|build| 1000.0 * (build + explore.unwrap_or_default()));
    let together = |cells: [&BenchCell; 2]| cells.map(BenchCell::median).iter().sum();
    let spent_here = [together([&found.time, &checked.time]), together([&found.cpu, &checked.cpu])];
    let cells = vec![
        subject.name.into(),
        model.name().into(),
        last.map_or("–", |phase| phase.what).into(),
        found.answer.verdict.word().into(),
        found.answer.statistics.k.filter(|_| model != SC).into(),
        last.map(|phase| phase.predicates).into(),
        predicates.into(),
        sum(|phase| phase.questions).into(),
        thousands(calls).into(),
        last.map(|phase| phase.cubes).into(),
        cubes.into(),
        last.map(|phase| phase.size).into(),
        size.into(),
        sum(|phase| phase.states).into(),
        thousands(states).into(),
        found.time,
        checked.time,
        spent.map_or(BenchCell::Text("> 10 h".to_string()), BenchCell::Milliseconds),
    ];
    Ok((cells, spent_here))
}

/// Checks evidence.
fn checked(task: &Task<'_>, verdict: &Verdict, monitor: &dyn Monitor) -> Result<(), String> {
    let again = match verdict {
        Verdict::Safe(Certificate::Cubes(proof)) => Verdict::Safe(Certificate::Cubes(proof.clone())),
        Verdict::Unsafe(trace) => Verdict::Unsafe(trace.clone()),
        _ => return Ok(()),
    };
    check(task, again, monitor).map(drop).map_err(|why| why.to_string())
}

/// Fences as the source counts them, beside those that safety needs.
fn fences(bencher: &Bencher<'_>) -> Result<BenchTable, String> {
    let mut table = BenchTable::new(
        "Fences per program when an overflow of buffers of k stores is a violation, and those that safety needs.",
        &["program", "model", "k = 1", "k = 2", "k = 3", "safety", "ms"],
    )
    .note(
        "Full fences and store fences in the text; a dash: not found within the limits.",
    );
    for subject in SUBJECTS {
        let program = read(bencher, subject.bare, "")?;
        for model in [TSO, PSO] {
            let task = Task::safe(&program, model);
            let options = FenceOptions::default();
            let found = bencher.measure(&program.name, |monitor| {
                let run = Run { monitor, ..Run::default() };
                let at = |k| fences_within(&task, k, &options, &run).map_err(|bug| bug.to_string());
                let bounded = [at(1)?, at(2)?, at(3)?].map(|found| {
                    found.ok().map(|found| counted(found.fences.iter().map(|point| point.strength)))
                });
                let all = place_fences(&task, &Extrapolate, &options, &run).map_err(|bug| bug.to_string())?;
                let safety = match &all.answer {
                    FenceAnswer::Placed(placed) => {
                        Some(counted(placed.fences.iter().map(|fence| fence.point.strength)))
                    }
                    _ => None,
                };
                Ok::<_, String>((bounded, safety))
            });
            let ([one, two, three], safety) = found.answer?;
            let cell = |fences: Option<String>| BenchCell::from(fences.unwrap_or("–".to_string()));
            table.rows.push(vec![
                subject.name.into(),
                model.name().into(),
                cell(one),
                cell(two),
                cell(three),
                cell(safety),
                found.time,
            ]);
        }
    }
    Ok(table)
}

/// `2 + 1 store`
fn counted(strengths: impl Iterator<Item = Strength>) -> String {
    let (mut full, mut store) = (0, 0);
    for strength in strengths {
        match strength {
            Strength::Fence(Fence::Store) => store += 1,
            _ => full += 1,
        }
    }
    match store {
        0 => full.to_string(),
        _ => format!("{full} + {store} store"),
    }
}
