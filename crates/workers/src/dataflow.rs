//! The dataflow: parcels are exchanged, round by round.

use crate::lost::{is_broken, listen};
use crate::parcel::{Content, Parcel, sorted};
use evidence::{Lost, Posted, Received, Rounds};
use std::any::Any;
use std::cell::RefCell;
use std::net::TcpStream;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;
use timely::WorkerConfig;
use timely::communication::allocator::ProcessBuilder;
use timely::communication::allocator::zero_copy::initialize::initialize_networking_from_sockets;
use timely::communication::{AllocatorBuilder, Hooks, WorkerGuards};
use timely::dataflow::InputHandle;
use timely::dataflow::channels::pact::Exchange;
use timely::dataflow::operators::{Input, Operator, Probe};
use timely::execute::execute_from;
use timely::worker::Worker;

/// How long a worker waits for others before it looks whether they are still there.
const LOOK_AROUND: Duration = Duration::from_millis(50);

/// A dataflow that runs.
pub(crate) struct RunningDataflow {
    /// One per worker of this process.
    pub(crate) ends: Vec<WorkerEnd>,
    guards: Option<WorkerGuards<()>>,
}

/// A worker: it hands over what it posts here, and gets what others posted.
pub(crate) struct WorkerEnd {
    index: usize,
    /// How many there are in all processes together.
    workers: usize,
    /// None once it was given up.
    posts: Option<Sender<Vec<Posted>>>,
    mail: Receiver<Result<Vec<Received>, Lost>>,
}

/// The other side of it.
struct CarrierEnd {
    posts: Receiver<Vec<Posted>>,
    mail: Sender<Result<Vec<Received>, Lost>>,
}

impl Rounds for WorkerEnd {
    fn index(&self) -> usize {
        self.index
    }

    fn workers(&self) -> usize {
        self.workers
    }

    fn post(&mut self, posts: Vec<Posted>) -> Result<(), Lost> {
        if self.posts.as_ref().is_some_and(|to| to.send(posts).is_ok()) {
            return Ok(());
        }
        // The last that the other side said is why it is gone.
        loop {
            self.collect()?;
        }
    }

    fn collect(&mut self) -> Result<Vec<Received>, Lost> {
        let ended = || Err(Lost("a worker of this process ended".to_string()));
        self.mail.recv().unwrap_or_else(|_| ended())
    }

    fn give_up(&mut self) {
        self.posts = None;
    }
}

impl Drop for RunningDataflow {
    fn drop(&mut self) {
        // Whoever hears nothing more ends.
        self.ends.clear();
        if is_broken() {
            // Threads that wait for a lost process never end.
            std::mem::forget(self.guards.take());
        }
    }
}

/// Starts the dataflow among threads of this process, or of all processes that these connections lead to.
pub(crate) fn start(
    threads: usize,
    process: usize,
    others: Vec<Option<TcpStream>>,
) -> Result<RunningDataflow, String> {
    let workers = threads * others.len().max(1);
    let Hooks { refill, spill, .. } = Hooks::default();
    let within = ProcessBuilder::new_typed_vector(threads, refill, spill);
    let (builders, guard): (Vec<AllocatorBuilder>, Box<dyn Any + Send>) = match others.len() {
        0 | 1 => (within.into_iter().map(AllocatorBuilder::Process).collect(), Box::new(())),
        _ => {
            listen();
            let connected =
                initialize_networking_from_sockets(within, others, process, threads, Hooks::default());
            let (builders, guard) = connected.map_err(|error| error.to_string())?;
            (builders.into_iter().map(AllocatorBuilder::Tcp).collect(), Box::new(guard))
        }
    };
    let (mut ends, mut other_ends) = (Vec::new(), Vec::new());
    for index in process * threads..(process + 1) * threads {
        let ((posts, posted), (mail, mailed)) = (channel(), channel());
        ends.push(WorkerEnd { index, workers, posts: Some(posts), mail: mailed });
        other_ends.push(Some(CarrierEnd { posts: posted, mail }));
    }
    let other_ends = Mutex::new(other_ends);
    let guards = execute_from(builders, guard, WorkerConfig::default(), move |worker| {
        let local = worker.index() % threads;
        let end = other_ends.lock().unwrap_or_else(PoisonError::into_inner)[local].take();
        if let Some(end) = end {
            carry(worker, &end);
        }
    });
    Ok(RunningDataflow { ends, guards: Some(guards?) })
}

/// Carries parcels until nobody hands over any more.
fn carry(worker: &mut Worker, end: &CarrierEnd) {
    let (index, workers) = (worker.index(), worker.peers());
    let arrived: Rc<RefCell<Vec<Parcel>>> = Rc::default();
    let mailbox = Rc::clone(&arrived);
    let mut input = InputHandle::new();
    let probe = worker.dataflow::<u64, _, _>(|scope| {
        let by_address = Exchange::new(|parcel: &Parcel| u64::from(parcel.to));
        let parcels = scope.input_from(&mut input).container::<Vec<Parcel>>();
        let kept = parcels.unary(by_address, "Mailbox", move |_, _| {
            move |input, output| {
                input.for_each_time(|time, batches| {
                    batches.for_each(|batch| mailbox.borrow_mut().append(batch));
                    output.session(&time).give_container(&mut Vec::<()>::new());
                });
            }
        });
        kept.container::<Vec<()>>().probe().0
    });
    let mut round = 0;
    while let Ok(posts) = end.posts.recv() {
        parcels(posts, index, workers, round).for_each(|parcel| input.send(parcel));
        round += 1;
        input.advance_to(round);
        input.flush();
        while probe.less_than(&round) && !is_broken() {
            worker.step_or_park(Some(LOOK_AROUND));
        }
        let (due, early) = arrived.take().into_iter().partition(|parcel: &Parcel| parcel.round < round);
        *arrived.borrow_mut() = early;
        let lost = || Lost("a process that shares the work ended before its time".to_string());
        let mail = sorted(due, workers).filter(|_| !is_broken()).ok_or_else(lost);
        let failed = mail.is_err();
        if end.mail.send(mail).is_err() || failed {
            break;
        }
    }
}

/// What is posted as parcels, and behind them, for every worker, one that says so.
fn parcels(posts: Vec<Posted>, from: usize, workers: usize, round: u64) -> impl Iterator<Item = Parcel> {
    let mut counts = vec![0; workers];
    let mut parcels = Vec::with_capacity(posts.len() + workers);
    let parcel = |to: usize, number: u32, last: bool, content: Vec<u8>| Parcel {
        round,
        from: from as u32,
        to: to as u32,
        number,
        last,
        content: Content(content),
    };
    for (to, bytes) in posts {
        parcels.push(parcel(to, counts[to], false, bytes));
        counts[to] += 1;
    }
    parcels.extend(counts.iter().enumerate().map(|(to, count)| parcel(to, *count, true, Vec::new())));
    parcels.into_iter()
}
