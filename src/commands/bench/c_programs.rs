//! Public C programs: which of the verdicts on record we give, and other tools' times beside ours.
//!
//! The verdicts come with the programs (`c/expected.tsv`, with their sources). Those for PSO are about
//! release stores that order nothing, so that is how the texts are read. A verdict that another tool
//! gave within a bound is no proof, and a violation beyond it contradicts nobody.

use super::{Bench, Bencher, Measured, cpu_time, milliseconds};
use crate::report::{BenchCell, BenchTable, Times};
use engine::{Finding, Portfolio};
use evidence::Task;
use frontend::{COptions, FRONTENDS, Loader, Options};
use machine::{TSO, model_named};
use program::{Program, Source};
use std::collections::BTreeMap;
use std::time::Instant;

/// C programs.
pub const C_PROGRAMS: Bench = Bench {
    name: "c",
    earlier: None,
    about: "public C programs: known verdicts, and Nidhugg's, GenMC's and CBMC's times (--timeout 10 --runs 1)",
    tables,
};

/// How many times a text is read to see how long that takes.
const READINGS: usize = 3;

/// A verdict on record.
struct OnRecord<'t> {
    file: &'t str,
    model: String,
    safe: bool,
    /// Whether it is one without a bound.
    binding: bool,
}

/// What happened to a verdict on record.
enum Against {
    Agrees,
    Contradicts,
    /// No answer, and why.
    Open(String),
}

/// A text that was read, or what is wrong with it.
struct ReadText {
    program: Result<Program, String>,
    /// How long that took on the processor, in milliseconds: the best of some times.
    took: f64,
}

fn tables(bencher: &Bencher<'_>) -> Result<Vec<BenchTable>, String> {
    let Some(expected) = bencher.foreign("c/expected.tsv") else {
        return Err(
            "there is no c/expected.tsv; --corpora names the folder with other tools' programs".to_string()
        );
    };
    let anchors = anchors(bencher)?;
    let manifest = bencher.foreign("c/manifest.tsv").unwrap_or_default();
    let stages = manifest.lines().skip(1).filter_map(|row| {
        let mut fields = row.split('\t');
        Some((fields.next()?, fields.next()?))
    });
    let stages: BTreeMap<&str, &str> = stages.collect();
    let mut by_stage: BTreeMap<&str, Stage> = BTreeMap::new();
    let mut open = BenchTable::new(
        "Verdicts on record that we do not give",
        &["program", "model", "on record", "why not", "ms"],
    );
    let mut read: BTreeMap<&str, ReadText> = BTreeMap::new();
    for row in on_record(&expected) {
        let stage = by_stage.entry(stages.get(row.file).copied().unwrap_or("other")).or_default();
        let text = read.entry(row.file).or_insert_with(|| {
            let text = read_text(bencher, row.file);
            stage.text(&text);
            text
        });
        let (against, time) = asked(bencher, &row, text)?;
        if bencher.interrupt.is_raised() {
            break;
        }
        stage.row(&against, time);
        let why = match against {
            Against::Agrees => continue,
            Against::Contradicts => "we say otherwise".to_string(),
            Against::Open(why) => why,
        };
        let word = if row.safe { "safe" } else { "unsafe" };
        let model = row.model.to_uppercase();
        let time = BenchCell::Milliseconds(time);
        open.rows.push(vec![row.file.into(), model.into(), word.into(), why.into(), time]);
    }
    Ok(vec![summary(&by_stage), open].into_iter().chain(anchors).collect())
}

fn on_record(table: &str) -> impl Iterator<Item = OnRecord<'_>> {
    table.lines().skip(1).filter_map(|row| {
        let fields: Vec<&str> = row.split('\t').collect();
        let [file, model, verdict, strength, ..] = fields[..] else { return None };
        let (safe, binding) = (verdict == "safe", !strength.starts_with("bounded"));
        Some(OnRecord { file, model: model.to_lowercase(), safe, binding })
    })
}

fn read_text(bencher: &Bencher<'_>, file: &str) -> ReadText {
    let unread = |why: &str| ReadText { program: Err(why.to_string()), took: 0.0 };
    let Some(text) = bencher.foreign(&format!("c/{file}")) else { return unread("there is no such file") };
    let Some(frontend) = FRONTENDS.iter().find(|frontend| frontend.extensions.contains(&"c")) else {
        return unread("C is not read");
    };
    let folder = bencher.corpora.join("c/include").display().to_string();
    let loader = Loader::new(crate::input::header);
    let c = COptions { plain_release: true, folders: vec![folder], loader, ..COptions::default() };
    let options = Options { c, ..Options::default() };
    let mut took = f64::INFINITY;
    let mut program = Err(String::new());
    for _ in 0..READINGS {
        // Others may be at work on the machine, so it is the time on the processor if that is known.
        let (started, cpu) = (Instant::now(), cpu_time());
        let parsed = (frontend.read)(Source::new(file, text.clone()), &options);
        let on_core = cpu_time().zip(cpu).map(|(now, then)| now.saturating_sub(then));
        took = took.min(milliseconds(on_core.unwrap_or_else(|| started.elapsed())));
        program = parsed.map(|parsed| parsed.program).map_err(|errors| {
            errors.first().map_or_else(String::new, |error| format!("not read: {}", error.message))
        });
    }
    ReadText { program, took }
}

/// What we say about a row, and how long it took.
fn asked(bencher: &Bencher<'_>, row: &OnRecord<'_>, text: &ReadText) -> Result<(Against, f64), String> {
    let program = match &text.program {
        Ok(program) => program,
        Err(why) => return Ok((Against::Open(why.clone()), text.took)),
    };
    let Some(model) = model_named(&row.model) else {
        return Ok((Against::Open("there is no such model".to_string()), 0.0));
    };
    let found = bencher.ask(&Portfolio, &Task::safe(program, model))?;
    let against = match found.answer.checked.holds() {
        Some(safe) if safe == row.safe => Against::Agrees,
        Some(_) if row.binding => Against::Contradicts,
        Some(_) => Against::Agrees,
        None => {
            let reasons = found.answer.checked.reasons().iter().map(|reason| reason.text(program));
            Against::Open(reasons.collect::<Vec<_>>().join("; "))
        }
    };
    Ok((against, text.took + found.time.median()))
}

/// What there is of a stage of the language.
#[derive(Default)]
struct Stage {
    texts: usize,
    read: usize,
    reading: Vec<f64>,
    rows: usize,
    agree: usize,
    contradict: usize,
    times: Vec<f64>,
}

impl Stage {
    fn text(&mut self, text: &ReadText) {
        self.texts += 1;
        self.read += usize::from(text.program.is_ok());
        self.reading.extend(text.program.is_ok().then_some(text.took));
    }

    fn row(&mut self, against: &Against, time: f64) {
        self.rows += 1;
        self.agree += usize::from(matches!(against, Against::Agrees));
        self.contradict += usize::from(matches!(against, Against::Contradicts));
        self.times.push(time);
    }
}

fn summary(stages: &BTreeMap<&str, Stage>) -> BenchTable {
    let spread = |times: &[f64]| BenchCell::from(Times::of(times.to_vec(), times.len()));
    let row = |(name, stage): (&&str, &Stage)| {
        vec![
            (*name).into(),
            stage.texts.into(),
            stage.read.into(),
            spread(&stage.reading),
            stage.rows.into(),
            stage.agree.into(),
            stage.contradict.into(),
            spread(&stage.times),
        ]
    };
    let sum = |of: fn(&Stage) -> usize| stages.values().map(of).sum::<usize>();
    let (rows, agree) = (sum(|stage| stage.rows), sum(|stage| stage.agree));
    let share = 100.0 * agree as f64 / rows.max(1) as f64;
    let mut table = BenchTable::new(
        "Verdicts on record",
        &["stage", "programs", "read", "reading ms", "verdicts", "given", "contradicted", "ms per verdict"],
    )
    .note(format!(
        "{agree} of {rows} verdicts on record are given ({share:.1} %), {} are contradicted; {} of {} programs are read.",
        sum(|stage| stage.contradict),
        sum(|stage| stage.read),
        sum(|stage| stage.texts),
    ));
    table.rows = stages.iter().map(row).collect();
    table
}

/// The programs that other tools were timed on, under TSO.
fn anchors(bencher: &Bencher<'_>) -> Result<Option<BenchTable>, String> {
    let Some(list) = bencher.foreign("c/anchors.tsv") else { return Ok(None) };
    let mut table = BenchTable::new(
        "Beside other tools, under TSO (CPU time)",
        &[
            "program",
            "on record",
            "ours",
            "reading ms",
            "CPU ms",
            "Nidhugg",
            "its ms",
            "GenMC",
            "its CPU ms",
            "CBMC",
            "its time, ms",
        ],
    );
    let (mut total, mut answered, mut slow) = (0.0, 0, 0);
    for row in list.lines().filter(|row| row.contains(".c\t")) {
        let fields: Vec<&str> = row.split('\t').collect();
        let [file, expected, nidhugg, nidhugg_s, genmc, genmc_s, cbmc, cbmc_s] = fields[..] else { continue };
        let text = read_text(bencher, file);
        let found = match &text.program {
            Ok(program) => Some(bencher.ask(&Portfolio, &Task::safe(program, TSO))?),
            Err(_) => None,
        };
        let word = found.as_ref().map_or("not read", Measured::word);
        let cpu = text.took + found.as_ref().map_or(0.0, cpu_median);
        total += cpu;
        answered += usize::from(found.is_some_and(|found| found.is_decided()));
        slow += usize::from(text.took > READING);
        let seconds = |text: &str| {
            text.parse().map_or(BenchCell::Missing, |s: f64| BenchCell::Milliseconds(1000.0 * s))
        };
        table.rows.push(vec![
            file.into(),
            expected.into(),
            word.into(),
            BenchCell::Milliseconds(text.took),
            BenchCell::Milliseconds(cpu),
            nidhugg.into(),
            seconds(nidhugg_s),
            genmc.into(),
            seconds(genmc_s),
            cbmc.into(),
            seconds(cbmc_s),
        ]);
    }
    let rows = table.rows.len();
    table.notes.push(format!(
        "{answered} of {rows} answered in {:.1} s of CPU time together, reading and checking included; {slow} took longer \
         than {READING} ms to read. The other tools' times came with the programs; they include the C compiler.",
        total / 1000.0
    ));
    Ok(Some(table))
}

/// What reading should take at most, in milliseconds.
const READING: f64 = 20.0;

fn cpu_median(found: &Measured<Finding>) -> f64 {
    match &found.cpu {
        BenchCell::Measured(times) => times.median,
        _ => found.time.median(),
    }
}
