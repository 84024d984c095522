//! Work in the background: verifying and looking for fences, few at a time, each in a thread of
//! its own that can be cancelled. What comes of it arrives as [`ServerEvent`]s.

use super::ServerEvent;
use super::document::DocumentVersion;
use super::lines::TextEdit;
use super::repair::repair;
use super::settings::Settings;
use super::verdict::{Asking, TextVerdict};
use crate::limits::{Interrupt, Watch};
use crate::numbers::{grouped, megabytes};
use crate::progress::ProgressDisplay;
use evidence::{Monitor, Progress, STACK, Stop};
use serde_json::Value;
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

/// So many tasks run at once; the others wait.
const AT_ONCE: usize = 2;
/// How often a task tells how far it is, and how long it must run before it does.
const TELL: Duration = Duration::from_millis(500);

/// What a task is for.
#[derive(Clone, Debug, PartialEq)]
pub enum Purpose {
    /// The verdict.
    Verify,
    /// Fences, for a request that waits for them.
    Repair {
        /// The request.
        request: Value,
        /// The code action to complete.
        action: Value,
        /// Whether the client asked for this action alone.
        resolve: bool,
    },
}

/// What became of a task.
pub enum TaskResult {
    /// The verdict, if the text is a program.
    Verified(Option<TextVerdict>),
    /// The fences, or why there are none.
    Repaired(Result<Vec<TextEdit>, String>),
    /// A bug of ours.
    Broken,
}

/// How much of a task the client sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskVisibility {
    /// Nothing.
    No,
    /// The client was asked whether it may be shown.
    Asked,
    /// It is shown.
    Yes,
}

/// A task.
pub struct BackgroundTask {
    /// The text it is about.
    pub reading: Arc<DocumentVersion>,
    /// What it is for.
    pub purpose: Purpose,
    /// How much the client sees of it.
    pub shown: TaskVisibility,
    interrupt: Interrupt,
}

/// All tasks, by number.
pub struct Tasks {
    events: Sender<ServerEvent>,
    next: u64,
    tasks: BTreeMap<u64, BackgroundTask>,
    waiting: VecDeque<(u64, Settings, bool)>,
    running: usize,
}

impl Tasks {
    /// No tasks yet; what comes of them goes to `events`.
    pub fn new(events: Sender<ServerEvent>) -> Tasks {
        Tasks { events, next: 0, tasks: BTreeMap::new(), waiting: VecDeque::new(), running: 0 }
    }

    /// Begins a task as soon as there is room for it.
    pub fn begin(
        &mut self,
        reading: Arc<DocumentVersion>,
        purpose: Purpose,
        settings: &Settings,
        related: bool,
    ) {
        let (number, interrupt) = (self.next, Interrupt::default());
        self.next += 1;
        self.tasks.insert(number, BackgroundTask { reading, purpose, shown: TaskVisibility::No, interrupt });
        self.waiting.push_back((number, settings.clone(), related));
        self.start_waiting();
    }

    /// A task that is not finished.
    pub fn get_mut(&mut self, number: u64) -> Option<&mut BackgroundTask> {
        self.tasks.get_mut(&number)
    }

    /// Takes a finished task out; the next one may start.
    pub fn finish(&mut self, number: u64) -> Option<BackgroundTask> {
        self.running = self.running.saturating_sub(1);
        let task = self.tasks.remove(&number);
        self.start_waiting();
        task
    }

    /// Takes the tasks out for which this holds, and stops them. They still count as running until
    /// they notice.
    pub fn cancel(&mut self, mut which: impl FnMut(&BackgroundTask) -> bool) -> Vec<(u64, BackgroundTask)> {
        let numbers: Vec<u64> = self.tasks.iter().filter(|(_, t)| which(t)).map(|(n, _)| *n).collect();
        self.waiting.retain(|(number, ..)| !numbers.contains(number));
        let stopped: Vec<(u64, BackgroundTask)> =
            numbers.into_iter().filter_map(|n| self.tasks.remove(&n).map(|task| (n, task))).collect();
        stopped.iter().for_each(|(_, task)| task.interrupt.raise());
        stopped
    }

    fn start_waiting(&mut self) {
        while self.running < AT_ONCE
            && let Some((number, settings, related)) = self.waiting.pop_front()
        {
            let Some(task) = self.tasks.get(&number) else { continue };
            self.running += 1;
            let worker = Worker {
                number,
                reading: Arc::clone(&task.reading),
                repairs: task.purpose != Purpose::Verify,
                interrupt: task.interrupt.clone(),
                settings,
                related,
                events: self.events.clone(),
            };
            let spawned = thread::Builder::new().stack_size(STACK).spawn(move || worker.run());
            if spawned.is_err() {
                // Nobody else will say that it is over.
                let _ = self.events.send(ServerEvent::Done(number, TaskResult::Broken));
            }
        }
    }
}

struct Worker {
    number: u64,
    reading: Arc<DocumentVersion>,
    repairs: bool,
    interrupt: Interrupt,
    settings: Settings,
    related: bool,
    events: Sender<ServerEvent>,
}

impl Worker {
    fn run(self) {
        let done = catch_unwind(AssertUnwindSafe(|| self.work())).unwrap_or(TaskResult::Broken);
        let _ = self.events.send(ServerEvent::Done(self.number, done));
    }

    fn work(&self) -> TaskResult {
        let display = ProgressDisplay::new(true);
        let watch = Watch::new(self.settings.budget, &self.interrupt, &display, String::new());
        let monitor = ProgressTeller { worker: self, watch, told: Mutex::new(Instant::now()) };
        if self.repairs {
            return TaskResult::Repaired(repair(&self.reading, &self.settings, &monitor));
        }
        let asking = Asking {
            reading: &self.reading,
            settings: &self.settings,
            monitor: &monitor,
            related: self.related,
        };
        TaskResult::Verified(asking.outcome())
    }
}

/// Enforces the limits, and tells now and then how far the work is.
struct ProgressTeller<'a> {
    worker: &'a Worker,
    watch: Watch<'a>,
    told: Mutex<Instant>,
}

impl Monitor for ProgressTeller<'_> {
    fn observe(&self, progress: &Progress) -> Result<(), Stop> {
        self.watch.observe(progress)?;
        let mut told = self.told.lock().unwrap_or_else(PoisonError::into_inner);
        if told.elapsed() >= TELL {
            *told = Instant::now();
            let (states, memory) = (grouped(progress.states), megabytes(progress.bytes));
            let text = format!("{}: {states} states, {memory} MB", progress.phase);
            let _ = self.worker.events.send(ServerEvent::Progress(self.worker.number, text));
        }
        Ok(())
    }
}
