//! Answers, and what engines tell on their way.

use crate::{Certificate, Outcomes, RobustProof, WithinContexts, Witness};
use machine::{Doubt, Statement, Trace, Violation};
use program::{Program, Span};
use std::fmt;

/// An answer, with its evidence.
#[derive(Debug)]
pub enum Verdict {
    /// No execution violates anything.
    Safe(Certificate),
    /// This execution violates something.
    Unsafe(Trace),
    /// Every execution looks like one under SC.
    Robust(RobustProof),
    /// This execution looks like none under SC.
    NotRobust(Witness),
    /// These are final states.
    FinalStates(Outcomes),
    /// No execution of so many contexts violates anything, and why more is not known.
    Within(Box<WithinContexts>, Vec<Reason>),
    /// No answer within the limits, and why.
    Unknown(Vec<Reason>),
}

impl Verdict {
    /// The verdict in a word or two.
    pub fn word(&self) -> &'static str {
        match self {
            Verdict::Safe(_) => "safe",
            Verdict::Unsafe(_) => "unsafe",
            Verdict::Robust(_) => "robust",
            Verdict::NotRobust(_) => "not robust",
            Verdict::FinalStates(_) => "final states",
            Verdict::Within(..) | Verdict::Unknown(_) => "unknown",
        }
    }
}

/// Why there is no answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Reason {
    /// A limit was reached, or somebody asked to stop.
    Stopped(Stop),
    /// Store buffers can grow beyond this many entries; no violation within.
    BuffersBeyond(usize),
    /// Part of the behaviour was not explored.
    Doubt(Doubt),
    /// The abstraction cannot tell, with gaps exact up to this.
    Imprecise(i64),
    /// The engine cannot handle what is written here.
    Unsupported(Span),
    /// What is written here is not linear arithmetic.
    NotLinear(Span),
    /// The predicates found do not tell a path apart from a violation, and no others were found.
    Indistinct {
        /// How many templates there are.
        templates: usize,
        /// How many stores are kept in order, where buffers are abstracted as well.
        k: Option<usize>,
    },
    /// A store buffer may hold more stores than this, which is as many as extrapolation tries.
    Overflow(usize),
    /// What a proof under SC used, carried over in this way to buffers of k stores, does not tell a path
    /// apart from a violation.
    Extrapolated {
        /// How it was carried over.
        way: &'static str,
        /// The bound on buffers.
        k: usize,
    },
    /// The engine answers for TSO only.
    OnlyTso,
    /// Robustness does not decide what is claimed of the program.
    CarriesNotOver,
    /// This many delays of stores were added, and there is still one that matters.
    Delays(usize),
    /// By what is written here, values become too many to be taken for finitely many.
    NotFinite(Span),
    /// A violation was found that the exact machine does not take.
    NotReplayed,
    /// Which of the stores on their way come first is forgotten, and it matters: so many are kept in order,
    /// or they are only counted.
    OrderMatters(Option<usize>),
    /// Runs of more contexts than this were not looked at; no violation within.
    ContextsBeyond(usize),
    /// Runs in which threads that could go on are passed over more often than this were not looked at.
    DelaysBeyond(usize),
    /// There is no room for more or larger states in the data structures.
    Full,
    /// What comes next in the text was not read, and a run gets there.
    NotRead(Violation),
}

/// Why a run ended before its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Stop {
    /// The time limit.
    Time,
    /// The memory limit.
    Memory,
    /// The limit on states.
    States,
    /// The user.
    Interrupt,
    /// A process that shared the work ended.
    Lost,
    /// States that memory has no room for could not be written to files, or read from there.
    Disk,
}

/// What an engine tells about its work while it runs.
#[derive(Clone, Copy, Debug, Default)]
pub struct Progress {
    /// Who works; empty if that is clear. Engines need not say it, [`Named`] does.
    pub engine: &'static str,
    /// What it is doing.
    pub phase: &'static str,
    /// The bound it works within, if any.
    pub bound: Option<usize>,
    /// States so far.
    pub states: usize,
    /// The work done since the last report. One unit is what it takes to look at a successor of a state, or a
    /// fifth of a microsecond; it is counted, never timed, so it is the same on every machine.
    pub work: usize,
    /// States found but not yet expanded.
    pub waiting: usize,
    /// Bytes of its main data structures.
    pub bytes: usize,
    /// Bytes that it is about to take besides what it has, as when a table grows.
    pub coming: usize,
    /// Predicates that it keeps track of, if it does.
    pub predicates: Option<usize>,
    /// How often it has refined an abstraction, if it does.
    pub refinements: Option<usize>,
}

/// Watches an engine: shows progress and stops it at limits. Engines have no clock of their own.
pub trait Monitor: Sync {
    /// Called now and then; an error ends the work.
    fn observe(&self, progress: &Progress) -> Result<(), Stop>;

    /// How many threads may work at once.
    fn threads(&self) -> usize {
        1
    }

    /// Hears what an engine decided on its way, for those who want to know.
    fn note(&self, _: &str) {}

    /// An engine that reported has ended.
    fn leave(&self, _engine: &'static str) {}
}

/// Asks a monitor whether long work may go on, and remembers why not.
pub struct Patience<'a> {
    monitor: &'a dyn Monitor,
    phase: &'static str,
    stopped: Option<Stop>,
}

impl<'a> Patience<'a> {
    /// Reports to `monitor` that this is going on.
    pub fn new(monitor: &'a dyn Monitor, phase: &'static str) -> Patience<'a> {
        Patience { monitor, phase, stopped: None }
    }

    /// Whether to go on.
    pub fn lasts(&mut self) -> bool {
        let progress = Progress { phase: self.phase, ..Progress::default() };
        self.stopped = self.stopped.or_else(|| self.monitor.observe(&progress).err());
        self.stopped.is_none()
    }

    /// What there is of work that ends with nothing when patience does.
    pub fn found<T>(&self, found: Option<T>) -> Result<T, Stop> {
        found.ok_or(self.stopped.unwrap_or(Stop::Interrupt))
    }
}

/// Says who reports; the innermost name counts. Several engines may report to one monitor at once.
pub struct Named<'a> {
    engine: &'static str,
    monitor: &'a dyn Monitor,
}

impl<'a> Named<'a> {
    /// Reports to `monitor` in the name of `engine` until it is dropped.
    pub fn new(engine: &'static str, monitor: &'a dyn Monitor) -> Named<'a> {
        Named { engine, monitor }
    }
}

impl Monitor for Named<'_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        match progress.engine {
            "" => self.monitor.observe(&Progress { engine: self.engine, ..*progress }),
            _ => self.monitor.observe(progress),
        }
    }

    fn threads(&self) -> usize {
        self.monitor.threads()
    }

    fn leave(&self, engine: &'static str) {
        self.monitor.leave(engine);
    }

    fn note(&self, text: &str) {
        self.monitor.note(&format!("{}: {text}", self.engine));
    }
}

impl Drop for Named<'_> {
    fn drop(&mut self) {
        self.monitor.leave(self.engine);
    }
}

/// Lets an engine run without limits.
pub struct Ignore;

impl Monitor for Ignore {
    fn observe(&self, _: &Progress) -> Result<(), Stop> {
        Ok(())
    }
}

/// Stops an engine that has more states than this.
pub struct MostStates(pub usize);

impl Monitor for MostStates {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        if progress.states > self.0 { Err(Stop::States) } else { Ok(()) }
    }
}

/// Two monitors at once; the first that wants to stop does.
impl Monitor for (&dyn Monitor, &dyn Monitor) {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        self.0.observe(progress)?;
        self.1.observe(progress)
    }

    fn threads(&self) -> usize {
        self.0.threads().max(self.1.threads())
    }

    fn note(&self, text: &str) {
        self.0.note(text);
        self.1.note(text);
    }

    fn leave(&self, engine: &'static str) {
        self.0.leave(engine);
        self.1.leave(engine);
    }
}

/// What an engine did, for reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Statistics {
    /// States explored (in the last round, where there are several).
    pub states: usize,
    /// The bound on buffers of the last round.
    pub k: Option<usize>,
    /// The number of contexts of the last round.
    pub contexts: Option<usize>,
    /// How the search went, where an engine has several ways.
    pub method: Option<&'static str>,
    /// Templates of predicates.
    pub predicates: Option<usize>,
    /// What abstract paths to violations turned out to be.
    pub refinements: Option<Refinements>,
    /// Questions put to the solver.
    pub questions: Option<usize>,
    /// Reachability queries under SC: searches that were started, of all rounds together.
    pub sc_queries: Option<usize>,
    /// Pairs of a store and a load behind it in the program text, for robustness.
    pub delays: Option<usize>,
    /// Those among them that the text alone does not dismiss.
    pub suspects: Option<usize>,
}

/// What paths of an abstraction to a violation turned out to be, and how often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Refinements {
    /// Possible under SC.
    pub sc: usize,
    /// Possible under the memory model.
    pub model: usize,
    /// Possible only because too few stores are kept in order.
    pub k: usize,
    /// Possible only because of the predicates.
    pub predicates: usize,
}

impl Refinements {
    /// How many times the abstraction was refined.
    pub fn total(&self) -> usize {
        self.k + self.predicates
    }
}

impl fmt::Display for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stop::Time => "the time limit was reached",
            Stop::Memory => "the memory limit was reached",
            Stop::States => "the limit on states was reached",
            Stop::Interrupt => "interrupted",
            Stop::Lost => "a process that shared the work was lost",
            Stop::Disk => "states could not be kept in files: is the disk of --spill full?",
        })
    }
}

impl Reason {
    /// The reason as a sentence, with places in the source.
    pub fn text(&self, program: &Program) -> String {
        match self {
            Reason::Stopped(stop) => stop.to_string(),
            Reason::BuffersBeyond(cap) => {
                format!(
                    "store buffers can grow beyond {cap} entries; no violation was found within that bound"
                )
            }
            Reason::Imprecise(precision) => {
                format!("order and gaps up to {precision} are not enough to decide")
            }
            Reason::Unsupported(span) => format!(
                "the engine only handles copies, sums with constants and comparisons, not {}",
                quoted(program, *span)
            ),
            Reason::NotLinear(span) => {
                format!("the engine only handles linear arithmetic, not {}", quoted(program, *span))
            }
            Reason::Indistinct { templates, k } => {
                let over = match k {
                    Some(k) => format!(" over store buffers of which {k} entries are kept in order"),
                    None => String::new(),
                };
                format!(
                    "{templates} templates of predicates{over} are not enough to decide, and no others were found"
                )
            }
            Reason::Overflow(k) => format!(
                "overflow: a store buffer may hold more than {k} stores, which is as far as extrapolation goes"
            ),
            Reason::Extrapolated { way, k } => format!(
                "{way} to store buffers of {k} is imprecise: what the proof under SC used is not enough there"
            ),
            Reason::OnlyTso => "the engine answers for TSO only".to_string(),
            Reason::CarriesNotOver => {
                "a property looks at memory and threads at once, which robustness does not decide".to_string()
            }
            Reason::Delays(count) => {
                format!("after {count} delays of stores there are still others that matter")
            }
            Reason::NotFinite(span) => {
                format!(
                    "the engine is for finitely many values, and {} makes too many",
                    quoted(program, *span)
                )
            }
            Reason::NotReplayed => {
                "a violation was found that cannot be replayed; please report this".to_string()
            }
            Reason::OrderMatters(None) => {
                "counting the stores in buffers and forgetting their order is too coarse".to_string()
            }
            Reason::OrderMatters(Some(k)) => {
                format!("forgetting the order of all but the oldest {k} stores of a buffer is too coarse")
            }
            Reason::ContextsBeyond(contexts) => {
                format!("no violation within {contexts} contexts; runs of more were not all looked at")
            }
            Reason::DelaysBeyond(delays) => format!(
                "no violation with threads running one after the other and at most {delays} exceptions"
            ),
            Reason::Full => "the state space is too large for the state store".to_string(),
            Reason::Doubt(doubt) => doubt_text(doubt, program),
            Reason::NotRead(limit) => {
                let line = program.source.place(limit.span(program)).map(|line| format!(", line {line}"));
                format!("{}{}", limit.text(program), line.unwrap_or_default())
            }
        }
    }
}

fn doubt_text(doubt: &Doubt, program: &Program) -> String {
    match doubt {
        Doubt::Bound => "a bound on store buffers was reached".to_string(),
        Doubt::Overflow(statement) => format!("a value left the 64-bit range{}", at(program, *statement)),
        Doubt::PropertyOverflow(span) => {
            let line = program.source.place(*span).map(|line| format!(" in the property on line {line}"));
            format!("a value left the 64-bit range{}", line.unwrap_or_default())
        }
        Doubt::Choice(statement) => {
            format!("only some of the values for `any` were tried{}", at(program, *statement))
        }
        Doubt::Fragment(statement) => {
            let place = at(program, *statement);
            format!("this computes with numbers whose value the engine does not track{place}")
        }
        Doubt::InitialChoice => {
            "only some of the initial values of variables that start at `any` were tried".to_string()
        }
        Doubt::InitialOverflow(span) => {
            format!(
                "the engine computes with 64 bits, and the initial value of {} has more",
                quoted(program, *span)
            )
        }
    }
}

/// What is written somewhere, and its line.
fn quoted(program: &Program, span: Span) -> String {
    let line = program.source.place(span).map(|line| format!(" on line {line}"));
    format!("`{}`{}", program.source.snippet(span), line.unwrap_or_default())
}

fn at(program: &Program, Statement { thread, span }: Statement) -> String {
    match program.source.place(span) {
        Some(line) => {
            format!(" at line {line} of {}: `{}`", program.source.name(), program.source.snippet(span))
        }
        None => format!(" in thread {}", program.thread(thread).name),
    }
}
