//! Finite data and unbounded buffers, backwards: a well-structured view of the memory models.
//!
//! Data are finite, so the only thing without bound is what is on its way between threads and memory. If
//! having more there never takes anything away, the states from which a violation can be reached form
//! an upward-closed set, and such a set has finitely many least elements: going back from the violations
//! ends, and decides [decidability of TSO and PSO: Atig, Bouajjani, Burckhardt, Musuvathi, POPL 2010].
//! So each model is seen in a way in which more never hurts:
//!
//! * **PSO as it is.** A store that is not the newest of its queue may leave right before the next one of
//!   the same queue, and nobody notices it: a queue with more older stores can do all that one with fewer
//!   can. Only the newest store and whether there is one matter to the thread itself.
//! * **TSO with lagging loads.** Stores of one queue leave in order, so none can be passed over. But a store
//!   may reach memory at once if loads are allowed to find what memory held some time ago
//!   ([`letters`]); a thread that has more to find can pass it over.
//! * **Store fences under PSO** need both: between them stores wait in queues, a store fence waits until
//!   the queues are empty, and loads lag.
//!
//! States that the view reaches are, with what is on its way drained, states that the model reaches, and
//! all of those. So it answers for failures, final states and properties that do not see what is on its way;
//! for those that look at memory and threads at once there are observers ([`watching`]).
//!
//! [`Element`]s say what is demanded of a state; [`Backward::predecessors`] lists what must be demanded
//! one step before. Nothing here searches.

mod basis;
mod before;
mod behaviour;
mod described;
pub(crate) mod element;
mod finite;
mod joint;
mod letters;
mod pending;
mod reached;
mod retime;
mod up_to_names;
mod violating;
mod watching;

pub use basis::{Basis, ElementId};
pub use behaviour::{Fact, LocalState};
pub use described::{Demanded, DemandedView};
pub use element::Element;

use crate::{GoOn, Model};
use behaviour::{Act, ActKind, Behaviour, Behaviours};
use element::{Channel, Demand, Layout};
use joint::Joint;
use letters::Letters;
use num_traits::ToPrimitive;
use pending::PendingStores;
use program::{Domain, Fence, Int, Op, Program, Span, Thread, ThreadId};
use up_to_names::NameGroup;
use watching::PropertyObserver;

/// At most so many combinations of initial values are looked at.
const MOST_STARTS: u64 = 1 << 12;

/// Why a program is not seen this way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoView {
    /// Data are not finite, as far as can be seen: by this statement values become too many.
    Unbounded(Span),
    /// Whoever asked did not want to wait.
    Stopped,
}

/// How stores reach memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum StoreFlow {
    /// At once.
    Direct,
    /// A thread's in order.
    InOrder,
    /// A thread's to one variable in order.
    PerVariable,
}

impl StoreFlow {
    fn of(model: Model) -> StoreFlow {
        match (model.buffers(), model.one_queue()) {
            (false, _) => StoreFlow::Direct,
            (true, true) => StoreFlow::InOrder,
            (true, false) => StoreFlow::PerVariable,
        }
    }
}

/// What a view pays heed to.
#[derive(Clone, Copy)]
struct ViewOptions {
    /// The order of stores on their way.
    ordered: bool,
    /// What an exploration tells.
    explored: bool,
}

/// A step of the view, seen from behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Before {
    /// A thread acts; by number.
    Act {
        /// The thread.
        thread: ThreadId,
        /// The act.
        act: u32,
    },
    /// A thread takes in what memory holds.
    Glimpse {
        /// The thread.
        thread: ThreadId,
        /// The letter.
        letter: u16,
    },
    /// A store of a thread's queue reaches memory, and the older ones of the queue right before it.
    Drain {
        /// The thread.
        thread: ThreadId,
        /// The variable and the value.
        fact: Fact,
        /// Whether the queue is empty afterwards.
        last: bool,
    },
}

/// A program with finite data under a model, backwards.
pub struct Backward<'p> {
    program: &'p Program,
    behaviours: Behaviours,
    letters: Letters,
    flow: StoreFlow,
    /// By thread: the variables that it has queues for.
    queues: Vec<Vec<u16>>,
    /// By thread: whether its loads lag.
    lags: Vec<bool>,
    /// Whether the order of the older stores of a queue counts.
    ordered: bool,
    layout: Layout,
    /// By thread: where its queues and its view stand among the channels.
    queue_channels: Vec<Vec<usize>>,
    view_channels: Vec<Option<usize>>,
    pending: Vec<PendingStores>,
    /// What may be at one time, as far as that is known.
    joint: Option<Joint>,
    /// How properties are watched that look at memory and threads at once.
    watches: Vec<PropertyObserver>,
    /// Up to which names of threads elements count.
    names: NameGroup,
}

impl<'p> Backward<'p> {
    /// Sees a program under a model this way, unless `go_on` says no.
    pub fn new(program: &'p Program, model: Model, go_on: &mut GoOn<'_>) -> Result<Backward<'p>, NoView> {
        let options = ViewOptions { ordered: true, explored: false };
        Backward::with((program, model), StoreFlow::of(model), options, go_on)
    }

    /// The same, after an exploration that tells what never comes together, if that does not take too long.
    pub fn explored(
        program: &'p Program,
        model: Model,
        go_on: &mut GoOn<'_>,
    ) -> Result<Backward<'p>, NoView> {
        let options = ViewOptions { ordered: true, explored: true };
        Backward::with((program, model), StoreFlow::of(model), options, go_on)
    }

    /// Forgets the order of the stores on their way, but counts them: per thread and variable a multiset
    /// beside the newest [004, sec. 3.2.2 and app. B]. Whatever a model that buffers stores does is
    /// possible here, and more: a run need not be one of the model.
    pub fn multisets(
        program: &'p Program,
        model: Model,
        go_on: &mut GoOn<'_>,
    ) -> Result<Backward<'p>, NoView> {
        let options = ViewOptions { ordered: false, explored: false };
        Backward::with((program, model), StoreFlow::PerVariable, options, go_on)
    }

    fn with(
        (program, model): (&'p Program, Model),
        flow: StoreFlow,
        ViewOptions { ordered, explored }: ViewOptions,
        go_on: &mut GoOn<'_>,
    ) -> Result<Backward<'p>, NoView> {
        // More on its way to memory would hurt a claim that buffers are empty.
        if let Some(span) = program.speaks_of_buffers() {
            return Err(NoView::Unbounded(span));
        }
        let mut behaviours = Behaviours::of(program, model, explored, go_on)?;
        let reached = behaviours.reached.take();
        let joint = reached.and_then(|reached| Joint::of(&reached, &behaviours, flow));
        let retimes = ordered
            && match flow {
                StoreFlow::Direct => false,
                StoreFlow::InOrder => true,
                StoreFlow::PerVariable => program.threads.iter().any(has_store_fence),
            };
        let watches = if retimes { watching::watch(program, &mut behaviours)? } else { Vec::new() };
        let span = program.variables.first().map_or(Span::NONE, |variable| variable.span);
        let letters = Letters::of(&behaviours).ok_or(NoView::Unbounded(span))?;
        let (mut lags, queues) = channels(program, &behaviours, flow);
        if !ordered {
            lags.fill(false);
        }
        let layout = Layout {
            threads: behaviours.threads.len(),
            variables: behaviours.values.width(),
            channels: Vec::new(),
            own_from: letters.own_from(),
        };
        let (queue_channels, view_channels, pending) = Default::default();
        let mut view = Backward {
            program,
            behaviours,
            letters,
            flow,
            queues,
            lags,
            ordered,
            layout,
            queue_channels,
            view_channels,
            pending,
            joint,
            watches,
            names: NameGroup::default(),
        };
        view.number_channels();
        view.count_up_to(Vec::new());
        for thread in 0..view.layout.threads {
            let pending = PendingStores::of(&view, thread, go_on)?;
            view.pending.push(pending.ok_or(NoView::Unbounded(span))?);
        }
        Ok(view)
    }

    fn number_channels(&mut self) {
        for thread in 0..self.queues.len() {
            let of = thread as u16;
            let first = self.layout.channels.len();
            let queues = self.queues[thread].iter();
            self.layout
                .channels
                .extend(queues.map(|variable| Channel::Queue { thread: of, variable: *variable }));
            self.queue_channels.push((first..self.layout.channels.len()).collect());
            let view = self.lags[thread].then(|| {
                self.layout.channels.push(Channel::View { thread: of });
                self.layout.channels.len() - 1
            });
            self.view_channels.push(view);
        }
    }

    /// The program.
    pub fn program(&self) -> &'p Program {
        self.program
    }

    /// Whether whatever has all that `more` demands has all that `less` demands.
    pub fn covers(&self, less: &Element, more: &Element) -> bool {
        self.layout.covers(less, more)
    }

    /// Whether a run may start in a state that has what is demanded.
    pub fn may_start(&self, element: &Element) -> bool {
        let demand = self.layout.open(element);
        let threads = demand.states.iter().zip(&self.behaviours.threads);
        let at_entry = threads.into_iter().all(|(state, thread)| *state == 0 || *state == thread.first);
        let is_initial = |(variable, value): (usize, &u16)| {
            let fact = (variable as u16, *value);
            match self.program.variables.get(variable) {
                _ if *value == 0 => true,
                Some(variable) => {
                    let value = self.behaviours.values.value(fact);
                    value.is_some_and(|value| variable.initial.contains(&value.into()))
                }
                None => {
                    self.behaviours.values.free() == Some(fact)
                        || self.behaviours.values.value(fact) == Some(0)
                }
            }
        };
        at_entry
            && demand.memory.iter().enumerate().all(is_initial)
            && (self.program.starts.is_empty() || self.first_values(&demand).is_some())
            && demand.channels.iter().all(|word| word.is_empty() || **word == [0])
    }

    /// Values with which a run may start that has what is demanded. Where there are too many to look for those that
    /// go together, any do: who proves has more starts then, and a run is checked step by step.
    fn first_values(&self, demand: &Demand) -> Option<Vec<Int>> {
        let mut open = Vec::new();
        let (mut values, mut ways) = (Vec::new(), 1u64);
        for variable in self.program.variable_ids() {
            let initial = &self.program.variable(variable).initial;
            let fact = (variable.index() as u16, demand.memory[variable.index()]);
            let demanded = self.behaviours.values.value(fact).map(Int::from);
            if let (Domain::Range(low, high), None) = (initial, &demanded)
                && low < high
            {
                let count = (high - low + 1u8).to_u64().unwrap_or(u64::MAX);
                ways = ways.saturating_mul(count);
                open.push((variable, low.clone(), count));
            }
            values.push(demanded.unwrap_or_else(|| initial.example()));
        }
        if self.program.starts.is_empty() || ways > MOST_STARTS {
            return Some(values);
        }
        (0..ways).find_map(|mut way| {
            for (variable, low, count) in &open {
                values[variable.index()] = low + way % count;
                way /= count;
            }
            self.program.may_start(&|variable| values[variable.index()].clone()).then(|| values.clone())
        })
    }

    /// Closes what is demanded, unless no reachable state has it: a thread is inside an atomic section if
    /// its location is, what is on its way must be possible for the thread alone, and an exploration may know more.
    fn sensible(&self, demand: &mut Demand) -> Option<Element> {
        if self.joint.as_ref().is_some_and(|joint| !joint.allows(&self.behaviours, demand)) {
            return None;
        }
        for thread in self.program.thread_ids() {
            let state = demand.states[thread.index()];
            if state == 0 {
                continue;
            }
            if let Some((lock, mine)) = self.behaviours.values.held_by(thread) {
                if self.behaviours.threads[thread.index()].in_section[usize::from(state)] {
                    demand.memory_is((lock, mine))?;
                } else if demand.memory[usize::from(lock)] == mine {
                    return None;
                }
            }
            self.possible(thread.index(), state, demand).then_some(())?;
        }
        self.forget_order(demand);
        Some(self.layout.close(demand))
    }

    /// Where the order of older stores does not count, there is one order only.
    fn forget_order(&self, demand: &mut Demand) {
        for queue in self.queue_channels.iter().flatten().filter(|_| !self.ordered) {
            if let Some((_, older)) = demand.channels[*queue].split_last_mut() {
                older.sort_unstable();
            }
        }
    }

    /// Whether a thread in a state can have this on its way.
    fn possible(&self, thread: usize, state: u16, demand: &Demand) -> bool {
        let queues = &self.queue_channels[thread];
        let own = self.view_channels[thread].map(|view| self.letters.stores(&demand.channels[view]));
        let own = own.unwrap_or_default();
        if own.is_empty() && queues.iter().all(|queue| demand.channels[*queue].is_empty()) {
            return true;
        }
        self.pending[thread].at(state).iter().any(|pending| {
            let newest = pending.newest.iter().zip(queues);
            let fits = |(value, queue): (&u16, &usize)| {
                demand.channels[*queue].last().is_none_or(|demanded| demanded == value)
            };
            pending.own[..] == own[..] && newest.into_iter().all(fits)
        })
    }
}

/// By variable: every value that any run under the model may store to it, and its initial values.
pub(crate) fn stored_values(
    program: &Program,
    model: Model,
    go_on: &mut GoOn<'_>,
) -> Result<Vec<Vec<i64>>, NoView> {
    Ok(Behaviours::of(program, model, false, go_on)?.values.listed())
}

/// By thread: whether its loads lag, and the variables that it has queues for.
fn channels(program: &Program, behaviours: &Behaviours, flow: StoreFlow) -> (Vec<bool>, Vec<Vec<u16>>) {
    let lags = behaviours.threads.iter().enumerate().map(|(at, behaviour)| match flow {
        StoreFlow::Direct => false,
        StoreFlow::InOrder => loads_behind_stores(behaviour),
        StoreFlow::PerVariable => program.threads.get(at).is_some_and(has_store_fence),
    });
    let queues = behaviours.threads.iter().map(|thread| {
        let written = thread.acts.iter().filter_map(|act| match act.kind {
            ActKind::Write((variable, _)) if flow == StoreFlow::PerVariable => Some(variable),
            _ => None,
        });
        let mut written: Vec<u16> = written.collect();
        written.sort_unstable();
        written.dedup();
        written
    });
    (lags.collect(), queues.collect())
}

fn has_store_fence(thread: &Thread) -> bool {
    thread.edges().iter().any(|edge| matches!(edge.op, Op::Fence(Fence::Store)))
}

/// Whether a thread may load while a store of its own is buffered. If it never does, its stores may as well
/// drain at once: nobody can tell when they were issued.
fn loads_behind_stores(behaviour: &Behaviour) -> bool {
    let mut buffering = vec![false; behaviour.into.len()];
    let mut work: Vec<u16> = Vec::new();
    let stores = |act: &&Act| matches!(act.kind, ActKind::Write(_));
    work.extend(behaviour.acts.iter().filter(stores).map(|act| behaviour.silently(act.to, |_, _| {})));
    while let Some(state) = work.pop() {
        if std::mem::replace(&mut buffering[usize::from(state)], true) {
            continue;
        }
        for act in &behaviour.out_of[usize::from(state)] {
            let act = &behaviour.acts[*act as usize];
            match act.kind {
                ActKind::Read(_) => return true,
                ActKind::Fence | ActKind::Atomic { .. } => {}
                _ => work.push(behaviour.silently(act.to, |_, _| {})),
            }
        }
    }
    false
}
