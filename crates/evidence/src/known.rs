//! What a certificate knows, place by place, in sentences.
//!
//! A closed set lists every reachable state, so what all its states with a thread at a location
//! have in common holds whenever the thread stands there. [`known`] collects, for every thread
//! and location: the values of variables in memory and of the thread's live registers, what
//! its buffer may hold, and the labels at which no other thread stands meanwhile.
//!
//! The states of a gap certificate are normal forms (see [`machine::Gaps`]). A value in the window
//! is itself. One above the window stands for itself and larger ones, so a least value is one;
//! likewise below. Order and equality of two values are the same in all states that a normal
//! form stands for, and so is a difference that is not wider than the precision.

mod collect;
mod facts;

use crate::{Certificate, Ignore, Monitor, Stop, Task};
use collect::Collector;
use program::{Loc, ThreadId};

/// What is known at every place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    places: Vec<Vec<Option<Vec<String>>>>,
}

impl Known {
    /// Whether nothing is known of any place: a certificate that does not list states says nothing
    /// about single places.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What holds whenever the thread stands at the location, as sentences without a full stop;
    /// `None` if it never does (or if [nothing is known](Known::is_empty)).
    pub fn at(&self, thread: ThreadId, loc: Loc) -> Option<&[String]> {
        self.places.get(thread.index())?.get(loc.index())?.as_deref()
    }
}

/// What a checked certificate knows of its program.
///
/// ```
/// # use program::{Expr, Op, Program, Source, Span, ThreadBuilder, ThreadId, Variable};
/// # use evidence::{Certificate, ClosedSet, Task, known};
/// # use machine::{Exact, Machine, Stepper, StateSet, model_named};
/// # let mut program = Program::new("one store", Source::default());
/// # let x = program.add_variable(Variable::new("x", Span::NONE));
/// # let mut thread = ThreadBuilder::new("P");
/// # let (start, end) = (thread.entry(), thread.location(Span::NONE));
/// # thread.edge(start, Op::Store(x, Expr::from(1)), end, Span::NONE);
/// # program.threads.push(thread.finish()?);
/// # let task = Task { program: &program, model: model_named("sc").expect("a model") };
/// # let machine = Exact::new(task.program, task.model);
/// # let mut stepper = Stepper::new(&machine);
/// # let mut states = StateSet::new();
/// # let mut work = stepper.initial().0;
/// # while let Some(state) = work.pop() {
/// #     let mut packed = Vec::new();
/// #     state.pack(&mut packed);
/// #     states.insert(&packed, None).expect("room");
/// #     stepper.prepare(&state);
/// #     stepper.successors(&state, &mut state.clone(), |_| {}, |_, _, next| work.push(next.clone()));
/// # }
/// # let globals = stepper.globals().cloned().collect();
/// # let locals = vec![stepper.locals(ThreadId::new(0)).cloned().collect()];
/// # let certificate = Certificate::Closed(ClosedSet { globals, locals, states });
/// let known = known(&task, &certificate);
/// let thread = &program.threads[0];
/// assert_eq!(known.at(ThreadId::new(0), thread.entry()), Some(&["x is 0".to_string()][..]));
/// # Ok::<(), program::Invalid>(())
/// ```
pub fn known(task: &Task<'_>, certificate: &Certificate) -> Known {
    known_within(task, certificate, &Ignore).unwrap_or_default()
}

/// As [`known`], unless the monitor wants to stop.
pub fn known_within(
    task: &Task<'_>,
    certificate: &Certificate,
    monitor: &dyn Monitor,
) -> Result<Known, Stop> {
    let (gaps, set) = match certificate {
        Certificate::Closed(set) => (None, set),
        Certificate::Gaps(gaps, set) => (Some(*gaps), set),
        // Neither lists states of the program under its model.
        Certificate::Cubes(_) | Certificate::Robust { .. } => return Ok(Known::default()),
    };
    let mut collector = Collector::new(task, gaps, set);
    collector.collect(set, monitor)?;
    Ok(Known { places: collector.sentences() })
}
