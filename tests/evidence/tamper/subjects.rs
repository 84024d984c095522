//! Programs with evidence about them, and every way to check it.

use super::facts::{self, Fact, parse};
use super::random;
use engine::{Engine, Explicit, Run};
use evidence::{
    Certificate, Claim, ClosedSet, Controls, FileError, Form, Ignore, Listed, MostStates, Task, Verdict,
    check, check_file, write_evidence,
};
use machine::{
    Entry, Event, Local, MODELS, Model, State, StateSet, Trace, TraceStep, Violation, model_named,
};
use program::{Domain, EdgeId, Loc, Op, Program, Source, ThreadId, VarId};
use std::io::{BufRead, Cursor};
use std::path::Path;
use std::sync::LazyLock;

pub const LARGE: usize = 1 << 30;
pub const TINY: usize = 1 << 10;

/// A program with evidence about it.
pub struct Subject {
    pub name: String,
    pub program: Program,
    pub model: Model,
    pub facts: Vec<Fact>,
}

pub static CORPUS: LazyLock<Vec<Subject>> = LazyLock::new(|| {
    let files = support::corpus::corpus();
    let subjects: Vec<Subject> = files.iter().flat_map(|path| subjects(corpus_program(path), 300)).collect();
    assert!(subjects.len() > 60, "only {} subjects", subjects.len());
    subjects
});

pub static RANDOM: LazyLock<Vec<Subject>> =
    LazyLock::new(|| (0..60).flat_map(|seed| subjects(random::generate(seed), 150)).collect());

pub fn all() -> impl Iterator<Item = &'static Subject> {
    CORPUS.iter().chain(RANDOM.iter())
}

pub fn corpus_program(path: &Path) -> Program {
    let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
    let text = std::fs::read_to_string(path).expect("readable");
    let frontend = frontend::choose(None, name, &text).expect("a known language");
    let parsed = (frontend.read)(Source::new(name, text), &Default::default());
    parsed.unwrap_or_else(|errors| panic!("{name}: {errors:#?}")).program
}

/// The program under every model that gives evidence of a handy size.
fn subjects(program: Program, most: usize) -> Vec<Subject> {
    let answer = |model: &Model| {
        let task = Task::safe(&program, *model);
        let answer = Explicit.verify(&task, &Run { monitor: &MostStates(2000), ..Run::default() });
        let facts = parse(&written(&task, &answer.verdict, Form::Text))?;
        let free = |domain: &Domain| *domain == Domain::All;
        let chooses = |op: &Op| matches!(op, Op::Havoc(_, domain) if free(domain));
        let mut edges = program.threads.iter().flat_map(|thread| thread.edges());
        let unclear = program.variables.iter().any(|v| free(&v.initial)) || edges.any(|e| chooses(&e.op));
        let handy = facts.len() < most && (!unclear || matches!(answer.verdict, Verdict::Unsafe(_)));
        let name = format!("{} {}", program.name, model.name());
        handy.then(|| Subject { name, program: program.clone(), model: *model, facts })
    };
    MODELS.iter().filter_map(answer).collect()
}

pub fn written(task: &Task<'_>, verdict: &Verdict, form: Form) -> Vec<u8> {
    let mut file = Vec::new();
    write_evidence(task, verdict, form, &mut file).expect("memory takes everything");
    file
}

pub fn check_bytes(program: &Program, file: &[u8], budget: usize) -> Result<Claim, FileError> {
    let open = || Ok(Box::new(Cursor::new(file.to_vec())) as Box<dyn BufRead>);
    check_file(program, &open, budget, &Ignore)
}

/// Checks facts in every way there is; all must agree.
pub fn accepts(program: &Program, facts: &[Fact], what: &str) -> bool {
    let text = check_bytes(program, &facts::text(facts), LARGE).is_ok();
    let json = check_bytes(program, &facts::json(facts), LARGE).is_ok();
    assert_eq!(json, text, "{what}, as JSON: {}", shown(facts));
    // A tiny budget takes two passes a state.
    if facts.len() < 100 {
        let slowly = check_bytes(program, &facts::text(facts), TINY).is_ok();
        assert_eq!(slowly, text, "{what}, with a tiny budget: {}", shown(facts));
    }
    if let Some((model, verdict)) = in_memory(program, facts) {
        let accepted = check(&Task::safe(program, model), verdict, &Ignore).is_ok();
        assert_eq!(accepted, text, "{what}, in memory: {}", shown(facts));
    }
    text
}

pub fn shown(facts: &[Fact]) -> String {
    String::from_utf8(facts::text(facts)).expect("text")
}

/// The verdict that facts stand for; `None` if it cannot even be put together.
pub fn in_memory(program: &Program, facts: &[Fact]) -> Option<(Model, Verdict)> {
    let (Fact::Head { kind, model, program: print }, facts) = facts.split_first()? else { return None };
    if *print != evidence::fingerprint(program) {
        return None;
    }
    let verdict = match kind.as_str() {
        "trace" => Verdict::Unsafe(trace_of(facts)?),
        _ => Verdict::Safe(Certificate::Listed(Listed { gaps: None, set: closed_set_of(program, facts)? })),
    };
    Some((model_named(model)?, verdict))
}

fn trace_of(facts: &[Fact]) -> Option<Trace> {
    let (claim, run) = facts.split_last()?;
    let violation = match *claim {
        Fact::Property(at) => Violation::Property(at),
        Fact::Failure { thread, location } => Violation::Failure(thread_id(thread)?, loc(location)?),
        _ => return None,
    };
    let mut trace = Trace { initial: Vec::new(), steps: Vec::new(), violation };
    for fact in run {
        match fact {
            Fact::Initial { variable, value } => trace.initial.push((var_id(*variable)?, value.clone())),
            Fact::Step { thread, edge, choice } => trace.steps.push(TraceStep {
                event: Event::Step { thread: thread_id(*thread)?, edge: EdgeId::new(small(*edge)?) },
                choice: choice.clone(),
            }),
            Fact::Drain { thread, variable } => trace.steps.push(TraceStep {
                event: Event::Drain { thread: thread_id(*thread)?, variable: var_id(*variable)? },
                choice: None,
            }),
            _ => return None,
        }
    }
    Some(trace)
}

fn closed_set_of(program: &Program, facts: &[Fact]) -> Option<ClosedSet> {
    let threads = program.threads.len();
    let mut set = ClosedSet {
        controls: Controls { globals: Vec::new(), locals: vec![Vec::new(); threads] },
        states: StateSet::new(),
    };
    for fact in facts {
        match fact {
            Fact::Global(holder) => set.controls.globals.push(match holder {
                None => None,
                Some(thread) => Some(thread_id(*thread)?),
            }),
            Fact::Local { thread, location, buffer } => {
                let entry = |entry: &Option<usize>| match entry {
                    None => Some(Entry::Barrier),
                    Some(variable) => var_id(*variable).map(Entry::Store),
                };
                let buffer = buffer.iter().map(entry).collect::<Option<_>>()?;
                set.controls
                    .locals
                    .get_mut(*thread)?
                    .push(Local { kept: buffer, ..Local::at(loc(*location)?) });
            }
            Fact::State(numbers) => {
                let control: Vec<u32> = numbers
                    .get(..threads + 1)?
                    .iter()
                    .map(|n| u32::try_from(*n).ok())
                    .collect::<Option<_>>()?;
                let (global, locals) = (control[0], control[1..].to_vec());
                let state = State { global, locals, values: numbers[threads + 1..].to_vec() };
                let mut packed = Vec::new();
                state.pack(&mut packed);
                set.states.insert(&packed, None).ok()?;
            }
            _ => return None,
        }
    }
    Some(set)
}

fn small(index: usize) -> Option<usize> {
    (index < 1 << 31).then_some(index)
}

fn thread_id(index: usize) -> Option<ThreadId> {
    small(index).map(ThreadId::new)
}

fn var_id(index: usize) -> Option<VarId> {
    small(index).map(VarId::new)
}

fn loc(index: usize) -> Option<Loc> {
    small(index).map(Loc::new)
}
