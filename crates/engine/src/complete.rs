//! A decision that always ends where data are finite: backwards from the violations.
//!
//! Every element ([`machine::Backward`]) stands for all states that have what it demands, with anything
//! more on its way to memory. The search starts with what violates something and adds what is demanded one
//! step before, unless an element that is there already demands no more. Orders on elements are
//! well-quasi-orders, so it ends [Abdulla, Čerāns, Jonsson, Tsay, LICS 1996]: with elements that no run
//! starts in, which are the proof; or with one that a run starts in, and the steps from there are a run
//! to a violation.
//!
//! Elements that demand little are taken first: they cover most. Where there come to be many of them, the search
//! begins anew after an exploration forwards, which tells what never comes together: most elements are about
//! states that no run reaches, and those are left out then.
//!
//! Of elements that differ in the names of threads only, one is kept ([`Backward::up_to`]).

use crate::reduce::renamings;
use crate::{Answer, Engine, Run};
use evidence::{BasisProof, Certificate, Progress, Reason, Statistics, Stop, Stores, Task, Verdict};
use machine::{Backward, Basis, Before, Element, ElementId, GoOn, NoView, Trace, Violation, replay};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// How many elements pass between two looks at the monitor.
const PATIENCE: usize = 64;

/// With more elements than this it is worth while to explore forwards first.
const FEW_ELEMENTS: usize = 20_000;

/// So many states pass, at least, before a view asks again whether to go on.
const EXPLORED: usize = 256;

/// The work of exploring one of them, with its successors.
const SEEN: usize = 6;

/// What going back from an element costs, compared with exploring a state.
const WORK: usize = 60;

/// The engine.
pub struct Complete;

impl Engine for Complete {
    fn name(&self) -> &'static str {
        "complete"
    }

    fn about(&self) -> &'static str {
        "goes backwards from violations; decides every program with finite data, for buffers of any length"
    }

    fn sees_buffers(&self, _: &Task<'_>) -> bool {
        false
    }

    fn answer(&self, task: &Task<'_>, run: &Run<'_>) -> Answer {
        let (verdict, states) = decide(task, run);
        let statistics = Statistics { states, ..Statistics::default() };
        Answer { verdict, statistics, engine: self.name() }
    }
}

fn decide(task: &Task<'_>, run: &Run<'_>) -> (Verdict, usize) {
    let unknown = |reason| Verdict::Unknown(vec![reason]);
    let (mut ending, mut elements) = (BackwardEnding::Large, 0);
    for (stores, most) in [(Stores::InOrder, FEW_ELEMENTS), (Stores::Explored, usize::MAX)] {
        let view = seen(run, |go_on| match stores {
            Stores::Explored => Backward::explored(task.program, task.model, go_on),
            _ => Backward::new(task.program, task.model, go_on),
        });
        (ending, elements) = match view {
            Ok(view) => go_back(view, stores, most, run),
            Err(reason) => (BackwardEnding::Open(reason), 0),
        };
        if !matches!(ending, BackwardEnding::Large) {
            break;
        }
    }
    let verdict = match ending {
        BackwardEnding::Proved(certificate) => Verdict::Safe(certificate),
        BackwardEnding::Open(reason) => unknown(reason),
        BackwardEnding::Large => unknown(Reason::Full),
        BackwardEnding::Reached(trace) => match trace {
            Some(trace) if replay(task.program, task.model, &trace).is_ok() => Verdict::Unsafe(trace),
            _ => unknown(Reason::NotReplayed),
        },
    };
    (verdict, elements)
}

/// What a view that is for finite data gives, unless the monitor stops it.
pub(crate) fn seen<T>(
    run: &Run<'_>,
    see: impl FnOnce(&mut GoOn<'_>) -> Result<T, NoView>,
) -> Result<T, Reason> {
    let (mut states, mut stopped) = (0, None);
    let found = see(&mut || {
        states += EXPLORED;
        let progress =
            Progress { phase: "finding all values", states, work: SEEN * EXPLORED, ..Progress::default() };
        stopped = run.monitor.observe(&progress).err();
        stopped.is_none()
    });
    match found {
        Ok(seen) => Ok(seen),
        Err(NoView::Unbounded(span)) => Err(Reason::NotFinite(span)),
        Err(NoView::Stopped) => Err(Reason::Stopped(stopped.unwrap_or(Stop::Interrupt))),
    }
}

/// How going backwards ended.
pub(crate) enum BackwardEnding {
    /// No run starts in what leads to violations.
    Proved(Certificate),
    /// A run of the view leads to a violation; `None` if its steps do not follow each other.
    Reached(Option<Trace>),
    /// It did not end by itself.
    Open(Reason),
    /// There are more elements than wanted.
    Large,
}

/// Goes backwards from the violations; how that ended, and with how many elements.
pub(crate) fn go_back(
    mut view: Backward<'_>,
    stores: Stores,
    most: usize,
    run: &Run<'_>,
) -> (BackwardEnding, usize) {
    let mut renamings = renamings(view.program(), run.reduction);
    if !view.up_to(&renamings) {
        renamings.clear();
    }
    // One element stands for so many.
    let mut search = Backwards::new(&view, most / view.order(), run);
    let ended = search.start().map_err(Some).and_then(|start| match start {
        Some(found) => Ok(Some(found)),
        None => search.go_back(),
    });
    let ending = match ended {
        Ok(None) => {
            let elements: Vec<Element> = search.basis.iter().cloned().collect();
            // Where nothing is listed, names do not matter.
            let renamings = if elements.is_empty() { Vec::new() } else { renamings };
            BackwardEnding::Proved(Certificate::Basis(BasisProof { stores, renamings, elements }))
        }
        Ok(Some(first)) => BackwardEnding::Reached(search.trace(first)),
        Err(reason) => reason.map_or(BackwardEnding::Large, BackwardEnding::Open),
    };
    (ending, search.basis.len())
}

/// Where an element came from.
#[derive(Clone, Copy)]
enum ElementOrigin {
    Violation(Violation),
    /// This step leads to that element.
    Before(Before, ElementId),
}

struct Backwards<'a, 'p> {
    view: &'a Backward<'p>,
    run: &'a Run<'a>,
    /// More elements than this are not wanted.
    most: usize,
    basis: Basis,
    /// By element.
    origins: Vec<ElementOrigin>,
    /// The least first; of equals the one that was found first.
    waiting: BinaryHeap<Reverse<(usize, ElementId)>>,
    taken: usize,
    reported: usize,
}

impl<'a, 'p> Backwards<'a, 'p> {
    fn new(view: &'a Backward<'p>, most: usize, run: &'a Run<'a>) -> Backwards<'a, 'p> {
        Backwards {
            view,
            run,
            most,
            basis: Basis::new(),
            origins: Vec::new(),
            waiting: BinaryHeap::new(),
            taken: 0,
            reported: 0,
        }
    }

    /// Adds what violates something; an element that a run starts in ends the search.
    fn start(&mut self) -> Result<Option<ElementId>, Reason> {
        let violations = seen(self.run, |go_on| self.view.violations(go_on))?;
        for (element, violation) in violations {
            let found = self.add(element, ElementOrigin::Violation(violation));
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Adds an element unless it is covered; says if a run starts in it.
    fn add(&mut self, element: Element, origin: ElementOrigin) -> Option<ElementId> {
        if self.basis.covering(self.view, &element).is_some() {
            return None;
        }
        let starts = self.view.may_start(&element);
        let weight = element.weight();
        let id = self.basis.add(self.view, element);
        self.origins.push(origin);
        self.waiting.push(Reverse((weight, id)));
        starts.then_some(id)
    }

    /// Goes back until nothing is left or a run starts in an element; no reason if there are too many.
    fn go_back(&mut self) -> Result<Option<ElementId>, Option<Reason>> {
        let mut found = Vec::new();
        while let Some(Reverse((_, id))) = self.waiting.pop() {
            if self.basis.is_covered(id) {
                continue;
            }
            if self.taken.is_multiple_of(PATIENCE) {
                self.observe().map_err(|stop| Some(Reason::Stopped(stop)))?;
            }
            if self.basis.len() > self.most {
                return Err(None);
            }
            self.taken += 1;
            self.view.predecessors(self.basis.get(id), &mut |step, element| found.push((step, element)));
            for (step, element) in found.drain(..) {
                let starts = self.add(element, ElementOrigin::Before(step, id));
                if starts.is_some() {
                    return Ok(starts);
                }
            }
        }
        let _ = self.observe();
        Ok(None)
    }

    fn observe(&mut self) -> Result<(), Stop> {
        let new = self.taken - std::mem::replace(&mut self.reported, self.taken);
        self.run.monitor.observe(&Progress {
            phase: "going backwards",
            states: self.basis.len(),
            work: new * WORK,
            waiting: self.waiting.len(),
            bytes: 2 * self.basis.bytes()
                + self.origins.len() * size_of::<(ElementOrigin, usize, ElementId)>(),
            ..Progress::default()
        })
    }

    /// The run from an element that a run starts in.
    fn trace(&self, first: ElementId) -> Option<Trace> {
        let mut steps = Vec::new();
        let mut at = first;
        let violation = loop {
            match self.origins[at.0 as usize] {
                ElementOrigin::Violation(violation) => break violation,
                ElementOrigin::Before(step, next) => {
                    steps.push(step);
                    at = next;
                }
            }
        };
        self.view.trace(self.basis.get(first), &steps, violation)
    }
}
