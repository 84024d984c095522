//! What a certificate knows, in sentences: at all times, and place by place.
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
//!
//! Where stores on their way are sets ([`machine::Pooled`]), their values are known and their order is not.
//!
//! A proof that goes backwards has a basis of what never happens ([`backwards`]).
//!
//! A proof by cubes has predicates that hold, over values and the newest and older stores of
//! buffers (see [`cubes`]).
//!
//! Whoever shows this needs to know nothing of certificates. Sentences are plain text without a
//! full stop. Registers that a front end made up mean nothing to a reader and are left out.

mod ahead;
mod backwards;
mod collect;
pub(crate) mod comparisons;
mod cubes;
pub(crate) mod facts;
mod labels;
pub(crate) mod say;

use crate::numbers::counted;
use crate::{BasisProof, Certificate, ClosedSet, CubeProof, Ignore, Monitor, ReducedProof, Stop, Task};
use backwards::backwards_sentences;
use collect::Collector;
use cubes::Cubes;
use machine::{Acting, Backward, Basis, Gaps, Pooled};
use program::{Loc, ThreadId};
use say::PlaceFacts;

/// By thread and location; none where nobody comes.
type Places = Vec<Vec<Option<PlaceFacts>>>;

/// What is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownFacts {
    about: String,
    everywhere: Vec<String>,
    places: Places,
}

impl KnownFacts {
    /// What kind of proof this is and how to read it.
    pub fn about(&self) -> &str {
        &self.about
    }

    /// What is true at all times.
    pub fn everywhere(&self) -> &[String] {
        &self.everywhere
    }

    /// Whether nothing is known of any place: not every certificate speaks of single places.
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// What holds whenever the thread stands at the location; `None` if it never does (or if
    /// [nothing is known](KnownFacts::is_empty)).
    pub fn at(&self, thread: ThreadId, loc: Loc) -> Option<&[String]> {
        self.place(thread, loc).map(|place| place.all.as_slice())
    }

    /// As [`KnownFacts::at`], without what is true [at all times](KnownFacts::everywhere).
    pub fn besides_at(&self, thread: ThreadId, loc: Loc) -> Option<&[String]> {
        self.place(thread, loc).map(|place| place.besides.as_slice())
    }

    fn place(&self, thread: ThreadId, loc: Loc) -> Option<&PlaceFacts> {
        self.places.get(thread.index())?.get(loc.index())?.as_ref()
    }
}

/// What a checked certificate knows of its program.
///
/// ```
/// # use program::{Expr, Op, Program, Source, Span, ThreadBuilder, ThreadId, Variable};
/// # use evidence::{Certificate, ClosedSet, Controls, Listed, Task, known};
/// # use machine::{SC, Stepper, StateSet};
/// # let mut program = Program::new("one store", Source::default());
/// # let x = program.add_variable(Variable::new("x", Span::NONE));
/// # let mut thread = ThreadBuilder::new("P");
/// # let (start, end) = (thread.entry(), thread.location(Span::NONE));
/// # thread.edge(start, Op::Store(x, Expr::from(1)), end, Span::NONE);
/// # program.threads.push(thread.finish()?);
/// # let task = Task::safe(&program, SC);
/// # let machine = task.machine();
/// # let mut stepper = Stepper::new(&machine);
/// # let mut states = StateSet::new();
/// # let mut work: Vec<_> = stepper.initial().0.collect();
/// # while let Some(state) = work.pop() {
/// #     let mut packed = Vec::new();
/// #     state.pack(&mut packed);
/// #     states.insert(&packed, None).expect("room");
/// #     stepper.prepare(&state);
/// #     stepper.successors(&state, &mut state.clone(), |_| {}, |_, _, next| work.push(next.clone()));
/// # }
/// # let set = ClosedSet { controls: Controls::of(&stepper), states };
/// # let certificate = Certificate::Listed(Listed { gaps: None, set });
/// let known = known(&task, &certificate);
/// let thread = &program.threads[0];
/// assert_eq!(known.at(ThreadId::new(0), thread.entry()), Some(&["x is 0".to_string()][..]));
/// # Ok::<(), program::Invalid>(())
/// ```
pub fn known(task: &Task<'_>, certificate: &Certificate) -> KnownFacts {
    known_within(task, certificate, &Ignore).unwrap_or_default()
}

/// As [`known`], unless the monitor wants to stop.
pub fn known_within(
    task: &Task<'_>,
    certificate: &Certificate,
    monitor: &dyn Monitor,
) -> Result<KnownFacts, Stop> {
    certificate.proof().known(task, monitor)
}

/// What a list of states or of normal forms knows.
pub(crate) fn known_listed(
    task: &Task<'_>,
    gaps: Option<Gaps>,
    set: &ClosedSet,
    monitor: &dyn Monitor,
) -> Result<KnownFacts, Stop> {
    let mut collector = Collector::new(task, (gaps, None), set);
    collector.collect(set, monitor)?;
    let (everywhere, places) = collector.sentences();
    Ok(KnownFacts { about: about_list(gaps, set), everywhere, places })
}

/// What states that cover others know: in those, threads may stand elsewhere with the same values in memory, or
/// things have other names.
pub(crate) fn known_reduced(
    task: &Task<'_>,
    proof: &ReducedProof,
    monitor: &dyn Monitor,
) -> Result<KnownFacts, Stop> {
    // Those who make no difference need not act, so the states that are listed do not show what they store.
    let all_act = proof.rules.acting == Acting::Everybody;
    let whole = proof.renamings.is_empty() && proof.forgotten.is_empty();
    let everywhere = match all_act && whole && !proof.rules.dead_registers {
        true => known_listed(task, proof.gaps, &proof.set, monitor)?.everywhere,
        false => Vec::new(),
    };
    let about = format!(
        "The proof lists {} that cover all others, in which threads stand elsewhere or have other names. It says \
         nothing about single places.",
        counted(proof.set.states.len(), "state")
    );
    Ok(KnownFacts { about, everywhere, places: Vec::new() })
}

/// What a list of states with sets of buffered values knows.
pub(crate) fn known_pools(
    task: &Task<'_>,
    (k, pools): (usize, &Pooled<'_>),
    set: &ClosedSet,
    monitor: &dyn Monitor,
) -> Result<KnownFacts, Stop> {
    let mut collector = Collector::new(task, (None, Some(pools)), set);
    collector.collect(set, monitor)?;
    let (everywhere, places) = collector.sentences();
    let about = format!(
        "The proof lists {} of a machine that keeps the oldest {} of every buffer in order and of the others the \
         set of their values, so it holds for store buffers of any length. This is what the states have in \
         common.",
        counted(set.states.len(), "state"),
        counted(k, "store"),
    );
    Ok(KnownFacts { about, everywhere, places })
}

/// What a proof that goes backwards knows, in the view that it rests on.
pub(crate) fn known_backwards(
    task: &Task<'_>,
    view: &Backward<'_>,
    proof: &BasisProof,
    monitor: &dyn Monitor,
) -> Result<KnownFacts, Stop> {
    let mut basis = Basis::new();
    for element in proof.elements.iter().filter(|element| view.has(element)) {
        basis.add(view, element.clone());
    }
    let (everywhere, places) = backwards_sentences(task, view, &basis, monitor)?;
    let about = format!(
        "The proof goes backwards from the violations, for store buffers of any length: {} say what a \
         state must have so that a violation can be reached from it, and no run starts in such a state. \
         This is what is left, of all values that any run can store.",
        counted(proof.elements.len(), "element")
    );
    Ok(KnownFacts { about, everywhere, places })
}

/// What a proof by cubes knows.
pub(crate) fn known_by_cubes(
    task: &Task<'_>,
    proof: &CubeProof,
    monitor: &dyn Monitor,
) -> Result<KnownFacts, Stop> {
    if !proof.renamings.is_empty() {
        let about = format!(
            "The proof has {} on the values up to the names of threads. It says nothing about single places.",
            counted(proof.cubes.len(), "condition")
        );
        return Ok(KnownFacts { about, ..KnownFacts::default() });
    }
    let mut cubes = Cubes::new(task, proof);
    cubes.collect(monitor)?;
    let (everywhere, places) = cubes.sentences();
    Ok(KnownFacts { about: about_cubes(proof), everywhere, places })
}

fn about_cubes(proof: &CubeProof) -> String {
    format!(
        "The proof has {} on the values for {} of the threads and \
         their buffers, so it holds for integers of any size and buffers of any length. This is what the \
         conditions have in common.",
        counted(proof.cubes.len(), "condition"),
        counted(proof.controls.len(), "control"),
    )
}

fn about_list(gaps: Option<Gaps>, set: &ClosedSet) -> String {
    let count = set.states.len();
    match gaps {
        None => format!(
            "The proof lists all {} that can be reached; this is what they have in common.",
            counted(count, "state")
        ),
        Some(gaps) => format!(
            "The proof lists {} of states. Values from {} to {} are told apart; of others only the order and \
             gaps up to {} are, so it holds for integers of any size. This is what the kinds have in common.",
            counted(count, "kind"),
            gaps.low,
            gaps.high,
            gaps.precision
        ),
    }
}

/// What the proof knows that a program, perhaps extended by delays, is robust and safe under SC.
pub(crate) fn known_robust(delays: usize, set: &ClosedSet) -> KnownFacts {
    let program = match delays {
        0 => "the program behaves".to_string(),
        _ => format!("the program, extended by {}, behaves", counted(delays, "delayed store")),
    };
    let about = format!(
        "The proof shows that {program} as under SC only, and lists its {} there. It says nothing about \
         single places under the memory model itself.",
        counted(set.states.len(), "state")
    );
    KnownFacts { about, ..KnownFacts::default() }
}

/// What the proof knows that lists the states of a program with its store buffers written into it.
pub(crate) fn known_flat(buffer: usize, set: &ClosedSet) -> KnownFacts {
    let about = format!(
        "The proof shows that no queue ever holds more than {}, and lists all {} of the program with its store \
         buffers written into it. It says nothing about single places of the program itself.",
        counted(buffer, "store"),
        counted(set.states.len(), "state")
    );
    KnownFacts { about, ..KnownFacts::default() }
}
