//! Tree to program.
//!
//! First everything that is declared outside threads, then each thread (every member of a
//! family by itself), then what is claimed of them. The language has arrays, functions,
//! loops with known bounds and lazy conditions; the automata have none of these, so lowering
//! unrolls, inlines and splits cases, within [`limits`].

mod atomics;
mod calls;
mod claimed;
mod conditions;
mod control;
mod counting;
mod expressions;
mod globals;
mod layout;
mod membarrier;
mod memory;
mod properties;
mod references;
mod registers;
mod shifts;
mod starting;
mod statements;
mod steps;
mod thread;

use super::ast::{Block, FwThread, Item, StmtKind};
use super::constants::ConstantFault;
use super::limits;
use super::sink::{OrReported, Reported, Sink};
use crate::{Diagnostic, Options};
use globals::{Global, Globals};
use num_traits::{Signed, ToPrimitive};
use program::{Int, Loc, Program, Span, ThreadId};
use registers::SourceName;
use std::collections::{BTreeSet, HashMap, HashSet};

/// What lowering shares across threads.
pub(super) struct LoweringState<'a> {
    pub sink: Sink,
    /// How much may still be visited.
    fuel: usize,
    /// Locations and edges of the threads that are finished.
    size: usize,
    /// Shared variables and functions that something uses.
    mentioned: HashSet<&'a str>,
    /// Where `membarrier` is written.
    membarriers: BTreeSet<Span>,
}

impl LoweringState<'_> {
    /// Reports what is wrong with a constant.
    fn report(&mut self, fault: ConstantFault) -> Reported {
        match fault {
            ConstantFault::Missing(error) => self.sink.missing(*error),
            ConstantFault::Wrong(error) => self.sink.error(*error),
            ConstantFault::Reported => Reported,
        }
    }

    /// Counts something visited; an error if it is too much.
    fn spend(&mut self, amount: usize, span: Span) -> OrReported<()> {
        if self.sink.is_full() {
            self.fuel = 0;
        }
        if self.fuel >= amount && self.fuel > 0 {
            self.fuel -= amount;
            return Ok(());
        }
        if self.fuel > 0 {
            self.too_large(span);
        }
        Err(Reported)
    }

    /// Reports that the program is too large, and stops all lowering.
    fn too_large(&mut self, span: Span) -> Reported {
        self.fuel = 0;
        let message = "the program grows too large when its loops are unrolled and its functions inlined";
        let hint = format!("{} locations and edges are the limit; use smaller constants", limits::SIZE);
        self.sink.error(Diagnostic::error(span, message).label("while lowering this").hint(hint))
    }
}

/// What properties must know of a thread.
struct Finished<'a> {
    labels: HashMap<String, Vec<Loc>>,
    /// Where it has ended.
    ending: Vec<Loc>,
    registers: HashMap<&'a str, SourceName>,
}

/// A thread declaration and the threads it stands for.
struct ThreadFamily {
    /// Set if it is a family: its first number.
    low: Option<Int>,
    first: ThreadId,
    count: usize,
}

/// All threads, for properties.
#[derive(Default)]
struct Threads<'a> {
    families: HashMap<&'a str, ThreadFamily>,
    by_name: HashMap<String, (ThreadId, Span)>,
    finished: Vec<Finished<'a>>,
    /// Whether one of them could not be lowered, so that nothing is known of it.
    broken: bool,
}

/// Lowers all declarations into the program.
pub(super) fn lower<'a>(
    items: &'a [Item<'a>],
    declared: &'a HashSet<&'a str>,
    options: &Options,
    sink: Sink,
    program: &mut Program,
) -> Sink {
    let mut work = LoweringState {
        sink,
        fuel: limits::WORK,
        size: 0,
        mentioned: HashSet::new(),
        membarriers: BTreeSet::new(),
    };
    let globals = Globals::collect(items, &options.defines, &mut work, program);
    let mut threads = Threads::default();
    for item in items {
        if let Item::Thread(thread) = item {
            lower_family(thread, &globals, declared, &mut work, program, &mut threads);
        }
    }
    let has_thread = items.iter().any(|item| matches!(item, Item::Thread(_)));
    if program.threads.is_empty() && !threads.broken {
        let error = Diagnostic::error(Span::NONE, "the program has no threads");
        let hint = if has_thread {
            "all its families of threads are empty; look at their ranges"
        } else {
            "a program needs at least one `thread Name { … }`"
        };
        work.sink.missing(error.hint(hint));
    }
    if work.fuel > 0 && !threads.broken {
        let places = std::mem::take(&mut work.membarriers);
        membarrier::lower(&places, &mut threads, &mut work, program);
    }
    if work.fuel > 0 {
        properties::lower(items, &globals, &threads, &mut work, program);
    }
    if work.sink.is_clean() {
        warn_of_unused(&globals, &mut work);
    }
    work.sink
}

fn lower_family<'a>(
    thread: &'a FwThread<'a>,
    globals: &Globals<'a>,
    declared: &'a HashSet<&'a str>,
    work: &mut LoweringState<'a>,
    program: &mut Program,
    threads: &mut Threads<'a>,
) {
    let Ok(members) = members(thread, globals, work) else {
        threads.broken = true;
        return;
    };
    if let Some(family) = threads.families.get(thread.name.text) {
        let first = threads.by_name.values().find(|(id, _)| *id == family.first).map(|(_, span)| *span);
        duplicate_thread(thread.name.text, thread.name.span, first, work);
        return;
    }
    if program.threads.len() + members.len() > limits::THREADS {
        let message = format!("there are more than {} threads", limits::THREADS);
        work.sink.error(Diagnostic::error(thread.name.span, message).hint("use smaller constants"));
        threads.broken = true;
        return;
    }
    let low = members.first().and_then(|(_, number)| number.clone());
    let first = ThreadId::new(program.threads.len());
    check_labels(&thread.body, work);
    for (name, number) in members {
        if let Some((_, first)) = threads.by_name.get(&name) {
            duplicate_thread(&name, thread.name.span, Some(*first), work);
            threads.broken = true;
            break;
        }
        let counter = thread.range.as_ref().map(|range| range.name).zip(number);
        let lowered = thread::lower(&name, thread, counter, globals, declared, work);
        let Ok((lowered, finished)) = lowered else {
            threads.broken = true;
            break;
        };
        threads.by_name.insert(name, (ThreadId::new(program.threads.len()), thread.name.span));
        threads.finished.push(finished);
        program.threads.push(lowered);
    }
    let count = program.threads.len() - first.index();
    threads.families.insert(thread.name.text, ThreadFamily { low, first, count });
}

fn duplicate_thread(name: &str, span: Span, first: Option<Span>, work: &mut LoweringState<'_>) {
    let error = Diagnostic::error(span, format!("there are two threads named `{name}`"));
    let error = error.hint("choose another name");
    work.sink.error(match first {
        Some(first) => error.related(first, "the other comes from here"),
        None => error,
    });
}

/// The names of a declaration's threads, with their numbers.
fn members<'a>(
    thread: &'a FwThread<'a>,
    globals: &Globals<'a>,
    work: &mut LoweringState<'a>,
) -> OrReported<Vec<(String, Option<Int>)>> {
    let name = thread.name.text;
    let Some(range) = &thread.range else { return Ok(vec![(name.to_string(), None)]) };
    let (low, high) = (globals.constant(&range.low, work)?, globals.constant(&range.high, work)?);
    let span = range.low.span.to(range.high.span);
    if low.is_negative() {
        let error = Diagnostic::error(span, "threads are numbered from 0 or more");
        return Err(work.sink.error(error.hint("compute a negative number inside the thread")));
    }
    let count = (&high - &low).to_i64().unwrap_or(i64::MAX).max(0);
    if count as u64 > limits::THREADS as u64 {
        let message = format!("there are more than {} threads", limits::THREADS);
        return Err(work.sink.error(Diagnostic::error(span, message).hint("use smaller constants")));
    }
    let numbers = (0..count).map(|at| &low + at);
    Ok(numbers.map(|number| (format!("{name}{number}"), Some(number))).collect())
}

/// Reports labels that stand twice in one body.
fn check_labels<'a>(body: &'a Block<'a>, work: &mut LoweringState<'a>) {
    fn visit<'a>(block: &'a Block<'a>, seen: &mut HashMap<&'a str, Span>, sink: &mut Sink) {
        for statement in &block.statements {
            if let StmtKind::Label(name) = &statement.kind
                && let Some(first) = seen.insert(name.text, name.span)
            {
                let error = Diagnostic::error(name.span, format!("the label `{}` stands twice", name.text));
                sink.error(error.related(first, "first here").hint("labels are unique in a thread"));
            }
            statement.kind.for_each_block(&mut |inner| visit(inner, seen, sink));
        }
    }
    visit(body, &mut HashMap::new(), &mut work.sink);
}

fn warn_of_unused(globals: &Globals<'_>, work: &mut LoweringState<'_>) {
    for (name, (what, span)) in &globals.names {
        if work.mentioned.contains(name) {
            continue;
        }
        let message = match what {
            Global::Shared(_) => format!("the shared variable `{name}` is never used"),
            Global::Function(_) => format!("the function `{name}` is never called and was not checked"),
            _ => continue,
        };
        work.sink.warning(Diagnostic::warning(*span, message).hint("remove it"));
    }
}
