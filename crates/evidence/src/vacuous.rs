//! Claims that hold because nothing ever comes near them.
//!
//! A proof that lists states, or what holds in every control, also shows where threads never stand. A label
//! that a `never` speaks of, an assertion that no thread gets to, a thread whose end a `finally` waits for: if a
//! proof shows that they are not reached, the claim says less than it seems to. Lists may hold more than
//! can be reached, so nothing is called vacuous that is not, but something vacuous may go unnoticed.

use crate::certificate::{ClosedSet, Via};
use crate::symbolic::example_start;
use crate::{Certificate, Monitor, Progress, ReducedProof, Stop, Task};
use machine::{Acting, Local, Settled, State};
use program::{
    Cond, Expr, FailureKind, Int, Loc, Place, Program, PropertyKind, Relation, Renaming, Span, Thread,
    ThreadId,
};
use std::borrow::Cow;
use std::collections::BTreeSet;

/// A claim, or a part of one, that nothing comes near.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum VacuousClaim {
    /// A property speaks of a label at which the thread never stands.
    Label {
        /// The property.
        span: Span,
        /// The thread.
        thread: String,
        /// The label.
        label: String,
    },
    /// A `finally` waits for the end of a thread that never ends.
    Unended {
        /// The property.
        span: Span,
        /// The thread.
        thread: String,
    },
    /// No thread ever gets to this assertion.
    Assertion {
        /// The assertion.
        span: Span,
    },
    /// A thread waits here, and never goes on.
    Blocked {
        /// What it waits for.
        span: Span,
        /// The thread.
        thread: String,
    },
    /// No initial values satisfy what is assumed of them, so there are no runs at all.
    NoStart {
        /// The first assumption.
        span: Span,
    },
}

impl VacuousClaim {
    /// Where it stands.
    pub fn span(&self) -> Span {
        match self {
            VacuousClaim::Label { span, .. }
            | VacuousClaim::Unended { span, .. }
            | VacuousClaim::Assertion { span }
            | VacuousClaim::NoStart { span }
            | VacuousClaim::Blocked { span, .. } => *span,
        }
    }
}

/// Whatever is claimed of the program, if no initial values satisfy what is assumed of them.
pub fn without_start(program: &Program) -> Option<VacuousClaim> {
    let first = program.starts.first()?;
    matches!(example_start(program), Ok(None)).then_some(VacuousClaim::NoStart { span: first.span })
}

/// What a proof shows to be vacuous, in the order of the text.
pub fn vacuous(
    task: &Task<'_>,
    certificate: &Certificate,
    monitor: &dyn Monitor,
) -> Result<Vec<VacuousClaim>, Stop> {
    // Where nothing starts, it need not be said of every claim.
    if let Some(claim) = without_start(task.program) {
        return Ok(vec![claim]);
    }
    let Some(reached) = ReachedPlaces::of(task, certificate, monitor)? else { return Ok(Vec::new()) };
    let mut found = BTreeSet::new();
    reached.properties(task.program, &mut found);
    reached.assertions(&mut found);
    reached.blocked(&mut found);
    let mut found: Vec<VacuousClaim> = found.into_iter().collect();
    found.sort_by_key(|claim| claim.span().start);
    Ok(found)
}

/// Where threads of the program that a proof is about may stand.
struct ReachedPlaces<'a> {
    program: Cow<'a, Program>,
    /// By thread.
    locations: Vec<BTreeSet<Loc>>,
}

impl<'a> ReachedPlaces<'a> {
    /// As far as a proof tells; one that goes backwards does not, nor does a part of one, nor one in which threads that
    /// make no difference need not act at all.
    fn of(
        task: &Task<'a>,
        certificate: &Certificate,
        monitor: &dyn Monitor,
    ) -> Result<Option<ReachedPlaces<'a>>, Stop> {
        let program = match certificate {
            Certificate::Basis(_) | Certificate::Shared(_) | Certificate::Spilled(_) => return Ok(None),
            Certificate::Reduced(proof) if proof.rules.acting != Acting::Everybody => return Ok(None),
            Certificate::Via(Via { pass, .. }) => match pass.forward(task, monitor) {
                Ok(program) => Cow::Owned(program),
                Err(_) => return Ok(None),
            },
            Certificate::Reduced(proof) => match proof.subject(task.program) {
                Some(program) => program,
                None => return Ok(None),
            },
            Certificate::Listed(_) | Certificate::Pools(_) | Certificate::Cubes(_) => {
                Cow::Borrowed(task.program)
            }
        };
        let mut locations: Vec<BTreeSet<Loc>> = vec![BTreeSet::new(); program.threads.len()];
        let mut stand = |thread: usize, local: &Local| {
            locations[thread].insert(local.loc);
        };
        match certificate {
            Certificate::Cubes(proof) => {
                let controls =
                    proof.cubes.iter().filter_map(|cube| proof.controls.get(cube.control as usize));
                for (_, locals) in controls {
                    locals.iter().enumerate().for_each(|(thread, local)| stand(thread, local));
                }
                rename(&program, &proof.renamings, &mut locations);
            }
            _ => certificate.set().map_or(Ok(()), |set| each_control(set, monitor, &mut stand))?,
        }
        if let Certificate::Reduced(proof) = certificate {
            cover(&Task { program: &program, ..*task }, proof, &mut locations);
        }
        Ok(Some(ReachedPlaces { program, locations }))
    }

    fn stands_at(&self, thread: ThreadId, loc: Loc) -> bool {
        self.locations[thread.index()].contains(&loc)
    }

    /// Whether a thread stands somewhere that has the label.
    fn meets(&self, thread: ThreadId, label: &str) -> bool {
        self.program.thread(thread).labelled(label).iter().any(|loc| self.stands_at(thread, *loc))
    }

    fn properties(&self, original: &Program, found: &mut BTreeSet<VacuousClaim>) {
        for property in &original.properties {
            let span = property.span;
            if property.kind == PropertyKind::Finally {
                let unended = original.thread_ids().filter(|t| !self.ends(*t));
                found.extend(unended.map(|t| {
                    let thread = original.thread(t).name.clone();
                    VacuousClaim::Unended { span, thread }
                }));
                continue;
            }
            for (thread, loc) in demanded_besides(&property.cond) {
                let automaton = original.thread(thread);
                let labels = &automaton.location(loc).labels;
                if let (Some(label), false) = (labels.first(), labels.iter().any(|l| self.meets(thread, l))) {
                    let (thread, label) = (automaton.name.clone(), label.clone());
                    found.insert(VacuousClaim::Label { span, thread, label });
                }
            }
        }
    }

    fn ends(&self, thread: ThreadId) -> bool {
        let automaton = self.program.thread(thread);
        self.locations[thread.index()].iter().any(|loc| automaton.is_end(*loc))
    }

    /// Threads that get to a place where they wait, and never behind it. Who only looks, and goes on only to say
    /// that something is wrong, is not meant to.
    fn blocked(&self, found: &mut BTreeSet<VacuousClaim>) {
        for thread in self.program.thread_ids() {
            let automaton = self.program.thread(thread);
            for (loc, exits) in self.program.waiting_places(thread) {
                let fails = |exit: &&Loc| automaton.location(**exit).failure.is_some();
                let mut exits = exits.iter().filter(|exit| !fails(exit)).peekable();
                let passes = exits.peek().is_none() || exits.any(|exit| self.stands_at(thread, *exit));
                let span = automaton.outgoing(loc).next().map_or(Span::NONE, |(_, edge)| edge.span);
                if self.stands_at(thread, loc) && !passes && !span.is_none() {
                    found.insert(VacuousClaim::Blocked { span, thread: automaton.name.clone() });
                }
            }
        }
    }

    /// Assertions that no thread is ever in front of.
    fn assertions(&self, found: &mut BTreeSet<VacuousClaim>) {
        let (mut met, mut all) = (BTreeSet::new(), BTreeSet::new());
        for thread in self.program.thread_ids() {
            let automaton = self.program.thread(thread);
            for edge in automaton.edges() {
                let Some(span) = asserted(automaton, edge.to) else { continue };
                all.insert(span);
                if self.stands_at(thread, edge.from) {
                    met.insert(span);
                }
            }
        }
        found.extend(all.difference(&met).map(|span| VacuousClaim::Assertion { span: *span }));
    }
}

/// Adds where threads may stand under other names.
fn rename(program: &Program, renamings: &[Renaming], locations: &mut [BTreeSet<Loc>]) {
    let mut grown = true;
    while std::mem::take(&mut grown) {
        for (renaming, thread) in renamings.iter().flat_map(|r| program.thread_ids().map(move |t| (r, t))) {
            let new: Vec<Loc> =
                locations[thread.index()].iter().map(|loc| renaming.location(thread, *loc)).collect();
            let known = &mut locations[renaming.thread(thread).index()];
            let before = known.len();
            known.extend(new);
            grown |= known.len() > before;
        }
    }
}

/// Adds where threads may stand in states that the listed ones cover.
fn cover(task: &Task<'_>, proof: &ReducedProof, locations: &mut [BTreeSet<Loc>]) {
    rename(task.program, &proof.renamings, locations);
    let machine = proof.rules.on(task.machine());
    for (thread, stands) in task.program.thread_ids().zip(locations).filter(|_| proof.rules.settled) {
        *stands = Settled::passed(&machine, thread, stands);
    }
}

/// Where threads must stand for a condition to hold that demands something else as well. Who claims only that a
/// place is never reached wants it not to be.
fn demanded_besides(cond: &Cond<Place>) -> Vec<(ThreadId, Loc)> {
    let places = |part: &Cond<Place>| {
        let mut places = Vec::new();
        part.for_each_leaf(&mut |place| match *place {
            Place::At(thread, loc) if !is_negative(part) => places.push((thread, loc)),
            _ => {}
        });
        places
    };
    match cond {
        Cond::Or(parts) => parts.iter().flat_map(demanded_besides).collect(),
        Cond::And(parts) if parts.len() > 1 => parts.iter().flat_map(places).collect(),
        Cond::And(parts) => parts.iter().flat_map(demanded_besides).collect(),
        Cond::Const(_) | Cond::Compare(..) => Vec::new(),
    }
}

/// Whether it says that a thread does not stand somewhere, or more than where it stands.
fn is_negative(part: &Cond<Place>) -> bool {
    match part {
        Cond::Compare(Relation::Ne, Expr::Leaf(Place::At(..)), Expr::Const(zero)) => *zero != Int::from(0),
        Cond::Or(parts) => parts.iter().any(is_negative),
        Cond::And(_) | Cond::Const(_) | Cond::Compare(..) => true,
    }
}

/// The assertion that fails at a location.
fn asserted(thread: &Thread, loc: Loc) -> Option<Span> {
    let failure = thread.location(loc).failure.as_ref()?;
    (matches!(failure.kind, FailureKind::Assertion) && !failure.span.is_none()).then_some(failure.span)
}

/// Calls `visit` once for every control that a thread has in a state.
fn each_control(
    set: &ClosedSet,
    monitor: &dyn Monitor,
    visit: &mut dyn FnMut(usize, &Local),
) -> Result<(), Stop> {
    let locals = &set.controls.locals;
    let mut seen: Vec<Vec<bool>> = locals.iter().map(|all| vec![false; all.len()]).collect();
    let mut state = State::default();
    for (at, packed) in set.states.iter().enumerate() {
        if at % 4096 == 0 {
            let progress =
                Progress { phase: "looking for vacuous claims", states: at, ..Progress::default() };
            monitor.observe(&progress)?;
        }
        if state.unpack(locals.len(), packed).is_none() {
            continue;
        }
        for (thread, id) in state.locals.iter().enumerate() {
            if let Some(seen @ false) = seen[thread].get_mut(*id as usize) {
                *seen = true;
                visit(thread, &locals[thread][*id as usize]);
            }
        }
    }
    Ok(())
}
