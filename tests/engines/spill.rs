//! Searches whose states go to files: verdict, run, number of states and evidence are those of a search in memory, and a
//! disk that takes no more ends the search with a reason. Memory is scarce here whenever a table is about to grow.

use support::random::{generate, replicas, seeds_or};

use engine::{Answer, Engine, Explicit, Reduction, Run};
use evidence::{
    Alone, Certificate, Crew, Form, Ignore, Monitor, Progress, Reason, Spill, SpillFile, Stop, Task, Verdict,
    check, write_evidence,
};
use machine::MODELS;
use program::Program;
use std::io::{self, Cursor, Read, Seek, SeekFrom, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use workers::Workers;

/// Searches are large from here on.
const LARGE: usize = 10;

/// Lets nothing grow once a search is large. Only then nobody says how many states wait.
struct Scarce;

impl Monitor for Scarce {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        let large = progress.states > LARGE && progress.waiting == 0;
        if large && progress.coming > 0 { Err(Stop::Memory) } else { Ok(()) }
    }
}

/// Files that are none, with so much room each.
struct Files {
    room: usize,
    count: AtomicUsize,
}

impl Files {
    fn with_room(room: usize) -> Files {
        Files { room, count: AtomicUsize::new(0) }
    }
}

impl Spill for Files {
    fn file(&self) -> io::Result<Box<dyn SpillFile>> {
        self.count.fetch_add(1, Ordering::Relaxed);
        Ok(Box::new(Limited { file: Cursor::new(Vec::new()), room: self.room }))
    }

    /// So little that every check reads the files several times.
    fn budget(&self) -> usize {
        1 << 10
    }
}

struct Limited {
    file: Cursor<Vec<u8>>,
    room: usize,
}

impl Read for Limited {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.file.read(into)
    }
}

impl Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self.file.position() as usize + bytes.len() <= self.room {
            true => self.file.write(bytes),
            false => Err(io::Error::from(io::ErrorKind::StorageFull)),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Seek for Limited {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}

fn programs(count: u64) -> impl Iterator<Item = (u64, Program, Reduction)> {
    (0..count).map(|seed| {
        let program = if seed % 2 == 0 { generate(seed) } else { replicas(seed).build() };
        let reductions = [Reduction::None, Reduction::Local, Reduction::Symmetry, Reduction::All];
        (seed, program, reductions[seed as usize / 2 % reductions.len()])
    })
}

fn explored(task: &Task<'_>, reduction: Reduction, crew: &dyn Crew, spill: Option<&Files>) -> Answer {
    let spill = spill.map(|files| files as &dyn Spill);
    let monitor: &dyn Monitor = if spill.is_some() { &Scarce } else { &Ignore };
    let run = Run { monitor, reduction, crew, spill, large: LARGE, max_buffer: Some(4), ..Run::default() };
    Explicit.verify(task, &run)
}

/// All that is said: the word, how many states, reasons, evidence.
fn said(task: &Task<'_>, answer: Answer) -> (&'static str, usize, String, Vec<u8>) {
    let states = answer.statistics.states;
    let checked = check(task, answer.verdict, &Ignore).expect("the evidence holds");
    let verdict = checked.verdict();
    let mut evidence = Vec::new();
    write_evidence(task, verdict, Form::Text, &mut evidence).expect("writable");
    let why = match verdict {
        Verdict::Unknown(reasons) => format!("{reasons:?}"),
        Verdict::Safe(certificate) => certificate.how(&answer.statistics),
        _ => String::new(),
    };
    (verdict.word(), states, why, evidence)
}

#[test]
fn states_in_files_answer_like_those_in_memory() {
    let two = Workers::threads(2);
    let (mut safe, mut violated) = (0, 0);
    for (seed, program, reduction) in programs(seeds_or(100)) {
        let task = Task::safe(&program, MODELS[seed as usize % MODELS.len()]);
        let in_memory = said(&task, explored(&task, reduction, &Alone, None));
        let crews: [&dyn Crew; 2] = [&Alone, &two];
        for crew in crews {
            let files = Files::with_room(usize::MAX);
            let answer = explored(&task, reduction, crew, Some(&files));
            let spilled = files.count.load(Ordering::Relaxed) > 0;
            let proved = matches!(answer.verdict, Verdict::Safe(Certificate::Spilled(_)));
            assert_eq!(proved, spilled && in_memory.0 == "safe", "seed {seed}");
            safe += usize::from(proved);
            violated += usize::from(spilled && in_memory.0 == "unsafe");
            let in_files = said(&task, answer);
            let short =
                |(word, states, why, _): &(&str, usize, String, Vec<u8>)| format!("{word} {states} {why}");
            assert_eq!(short(&in_files), short(&in_memory), "seed {seed} by {} workers", crew.workers());
            assert!(in_files.3 == in_memory.3, "seed {seed}: other evidence by {} workers", crew.workers());
        }
    }
    assert!(safe > 10 && violated > 5, "{safe} safe, {violated} violated");
}

/// A program with many states, most of which are found after the search became large.
fn many_states() -> Program {
    let mut programs = (0..).map(|seed| generate(2 * seed));
    let large = |program: &Program| {
        let answer = explored(&Task::safe(program, MODELS[1]), Reduction::None, &Alone, None);
        answer.statistics.states > 500 && answer.verdict.word() == "safe"
    };
    programs.find(large).expect("some are large")
}

#[test]
fn a_full_disk_is_a_reason() {
    let program = many_states();
    let task = Task::safe(&program, MODELS[1]);
    struct NoFiles;
    impl Spill for NoFiles {
        fn file(&self) -> io::Result<Box<dyn SpillFile>> {
            Err(io::Error::from(io::ErrorKind::StorageFull))
        }

        fn budget(&self) -> usize {
            0
        }
    }
    let run = Run { monitor: &Scarce, spill: Some(&NoFiles), large: LARGE, ..Run::default() };
    let run = Run { reduction: Reduction::None, ..run };
    let Verdict::Unknown(reasons) = Explicit.verify(&task, &run).verdict else { panic!("there is no room") };
    assert_eq!(reasons, [Reason::Stopped(Stop::Disk)]);
}

/// Where there is no room even after states have moved, memory is the reason.
#[test]
fn memory_that_files_do_not_help_is_a_reason() {
    struct Never;
    impl Monitor for Never {
        fn observe(&self, progress: &Progress) -> Result<(), Stop> {
            if progress.states > LARGE && progress.waiting == 0 { Err(Stop::Memory) } else { Ok(()) }
        }
    }
    let program = many_states();
    let task = Task::safe(&program, MODELS[1]);
    let files = Files::with_room(usize::MAX);
    let run = Run { monitor: &Never, spill: Some(&files), large: LARGE, ..Run::default() };
    let run = Run { reduction: Reduction::None, ..run };
    let Verdict::Unknown(reasons) = Explicit.verify(&task, &run).verdict else { panic!("there is no room") };
    assert_eq!(reasons, [Reason::Stopped(Stop::Memory)]);
    assert!(files.count.load(Ordering::Relaxed) > 0);
}

/// A proof from which a file is missing is rejected, and so is one with another dictionary.
#[test]
fn missing_states_in_files_are_noticed() {
    let program = many_states();
    let task = Task::safe(&program, MODELS[1]);
    let proof = || {
        let files = Files::with_room(usize::MAX);
        match explored(&task, Reduction::None, &Alone, Some(&files)).verdict {
            Verdict::Safe(Certificate::Spilled(proof)) => proof,
            other => panic!("{other:?}"),
        }
    };
    let accepted = |proof| check(&task, Verdict::Safe(Certificate::Spilled(proof)), &Ignore).is_ok();
    assert!(accepted(proof()));
    let parts = proof().parts.len();
    for at in (0..parts).filter(|at| !proof().parts[*at].is_empty()).step_by(9) {
        let mut proof = proof();
        proof.parts.remove(at);
        assert!(!accepted(proof), "without part {at}");
    }
    let mut other = proof();
    other.controls.locals[0].rotate_left(1);
    assert!(!accepted(other));
}
