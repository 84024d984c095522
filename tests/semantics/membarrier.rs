//! `membarrier` against an interpreter of its own, which knows nothing of how the front end writes it into threads: a
//! caller has a set of threads that have not passed a fence yet, and each leaves it at some moment when its buffer is empty.

use fastrand::Rng;
use frontend::Options;
use program::{Program, Source};
use reference::{ReferenceLimits, ReferenceModel, explore};
use std::collections::{BTreeSet, VecDeque};

#[derive(Clone, Copy, Debug, PartialEq)]
enum Statement {
    Store(usize, i64),
    /// Into the next register.
    Load(usize),
    Fence,
    Membarrier,
}

const VARIABLES: usize = 3;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Situation {
    at: Vec<usize>,
    registers: Vec<Vec<i64>>,
    memory: [i64; VARIABLES],
    /// By thread and queue.
    buffers: Vec<Vec<VecDeque<(usize, i64)>>>,
    /// Who has not passed a fence yet, of a thread that is in a call.
    waits_for: Vec<Option<BTreeSet<usize>>>,
}

impl Situation {
    fn first(threads: &[Vec<Statement>], queues: usize) -> Situation {
        let count = threads.len();
        Situation {
            at: vec![0; count],
            registers: vec![Vec::new(); count],
            memory: [0; VARIABLES],
            buffers: vec![vec![VecDeque::new(); queues]; count],
            waits_for: vec![None; count],
        }
    }

    fn drained(&self, thread: usize) -> bool {
        self.buffers[thread].iter().all(VecDeque::is_empty)
    }

    fn after(&self, change: impl FnOnce(&mut Situation)) -> Situation {
        let mut next = self.clone();
        change(&mut next);
        next
    }

    /// What a thread's next statement may lead to.
    fn step(&self, thread: usize, statement: Statement) -> Option<Situation> {
        let mut next = self.after(|next| next.at[thread] += 1);
        match (statement, &self.waits_for[thread]) {
            (Statement::Store(variable, value), _) => {
                let queue = if self.buffers[thread].len() > 1 { variable } else { 0 };
                next.buffers[thread][queue].push_back((variable, value));
            }
            (Statement::Load(variable), _) => {
                let own = self.buffers[thread].iter().flatten().rfind(|(of, _)| *of == variable);
                next.registers[thread].push(own.map_or(self.memory[variable], |(_, value)| *value));
            }
            (Statement::Membarrier, Some(left)) if left.is_empty() => next.waits_for[thread] = None,
            (Statement::Membarrier, Some(_)) => return None,
            (Statement::Fence | Statement::Membarrier, None) if !self.drained(thread) => return None,
            (Statement::Fence, _) => {}
            (Statement::Membarrier, None) => {
                next.at[thread] -= 1;
                next.waits_for[thread] = Some((0..self.at.len()).filter(|other| *other != thread).collect());
            }
        }
        Some(next)
    }

    fn successors(&self, threads: &[Vec<Statement>]) -> Vec<Situation> {
        let mut all = Vec::new();
        for (thread, body) in threads.iter().enumerate() {
            all.extend(body.get(self.at[thread]).and_then(|statement| self.step(thread, *statement)));
            for queue in 0..self.buffers[thread].len() {
                if let Some((variable, value)) = self.buffers[thread][queue].front().copied() {
                    all.push(self.after(|next| {
                        next.buffers[thread][queue].pop_front();
                        next.memory[variable] = value;
                    }));
                }
            }
            for passed in self.waits_for[thread].iter().flatten().filter(|other| self.drained(**other)) {
                all.push(self.after(|next| {
                    next.waits_for[thread].as_mut().map(|left| left.remove(passed));
                }));
            }
        }
        all
    }
}

type Ends = BTreeSet<(Vec<Vec<i64>>, [i64; VARIABLES])>;

fn ends(threads: &[Vec<Statement>], model: ReferenceModel) -> Ends {
    let queues = if model == ReferenceModel::Pso { VARIABLES } else { 1 };
    let mut waiting = vec![Situation::first(threads, queues)];
    let (mut seen, mut found) = (BTreeSet::new(), Ends::new());
    while let Some(now) = waiting.pop() {
        if !seen.insert(now.clone()) {
            continue;
        }
        let ended = threads.iter().enumerate().all(|(t, body)| now.at[t] == body.len() && now.drained(t));
        if ended {
            found.insert((now.registers.clone(), now.memory));
        }
        waiting.extend(now.successors(threads));
    }
    found
}

fn read(threads: &[Vec<Statement>]) -> Program {
    let mut text = "shared x0, x1, x2;\n".to_string();
    for (at, body) in threads.iter().enumerate() {
        let mut loads = 0;
        text += &format!("thread P{at} {{ skip; let r0, r1, r2, r3;\n");
        for statement in body {
            text += &match statement {
                Statement::Store(variable, value) => format!("x{variable} = {value};\n"),
                Statement::Fence => "fence;\n".to_string(),
                Statement::Membarrier => "membarrier;\n".to_string(),
                Statement::Load(variable) => {
                    loads += 1;
                    format!("r{} = x{variable};\n", loads - 1)
                }
            };
        }
        text += "}\n";
    }
    // Registers stay known up to the end.
    text += "never P0.r0 + P0.r1 + P0.r2 + P0.r3 > 99;\n";
    let frontend = frontend::choose(Some("fw"), "random.fw", &text).expect("known");
    (frontend.read)(Source::new("random.fw", text), &Options::default()).expect("valid").program
}

fn ends_of_program(threads: &[Vec<Statement>], model: ReferenceModel) -> Ends {
    let program = read(threads);
    let limits = ReferenceLimits { queue: 8, configs: 400_000, candidates: Vec::new() };
    let reached = explore(&program, model, &limits);
    assert!(!reached.truncated && !reached.cap_hit);
    let number = |value: &program::Int| i64::try_from(value).expect("small");
    let ended = reached.configs.iter().filter(|config| config.is_final(&program));
    let end = |config: &reference::Config| {
        let registers = config.registers.iter().zip(threads).map(|(registers, body)| {
            let loads = body.iter().filter(|s| matches!(s, Statement::Load(_))).count();
            registers[..loads].iter().map(number).collect()
        });
        (registers.collect(), [0, 1, 2].map(|v| number(&config.memory[v])))
    };
    ended.map(end).collect()
}

#[test]
fn every_thread_passes_a_fence_between_call_and_return() {
    let mut rng = Rng::with_seed(19);
    let (mut weak, mut calls) = (0, 0);
    for _ in 0..60 {
        let count = rng.usize(2..=3);
        let length = if count == 2 { 4 } else { 3 };
        let statement = |rng: &mut Rng| match rng.usize(..10) {
            0..4 => Statement::Store(rng.usize(..2), rng.i64(1..3)),
            4..7 => Statement::Load(rng.usize(..2)),
            7 => Statement::Fence,
            _ => Statement::Membarrier,
        };
        let mut threads: Vec<Vec<Statement>> =
            (0..count).map(|_| (0..rng.usize(1..=length)).map(|_| statement(&mut rng)).collect()).collect();
        let caller = rng.usize(..threads[0].len());
        threads[0][caller] = Statement::Membarrier;
        let found = [ReferenceModel::Tso, ReferenceModel::Pso].map(|model| {
            let wanted = ends(&threads, model);
            assert_eq!(ends_of_program(&threads, model), wanted, "{model:?}: {threads:?}");
            wanted
        });
        calls += threads.iter().flatten().filter(|s| **s == Statement::Membarrier).count();
        weak += usize::from(found[0].len() < found[1].len());
    }
    assert!(weak > 0 && calls > 80, "{weak} of them differ, {calls} calls");
}

/// Whether these registers (by thread) can be had at the end.
fn possible(threads: &[Vec<Statement>], wanted: &[&[i64]]) -> bool {
    let all = ends_of_program(threads, ReferenceModel::Tso);
    all.iter().any(|(registers, _)| registers.iter().zip(wanted).all(|(found, wanted)| found == wanted))
}

#[test]
fn one_side_needs_no_fence_and_moments_differ() {
    use Statement::{Load, Membarrier, Store};
    let fast = vec![Store(0, 1), Load(1)];
    assert!(possible(&[fast.clone(), vec![Store(1, 1), Load(0)]], &[&[0], &[0]]));
    assert!(!possible(&[fast, vec![Store(1, 1), Membarrier, Load(0)]], &[&[0], &[0]]));
    // The first thread passes its fence before the second one does, and then stores again.
    let (first, second) = (vec![Load(0), Store(1, 1), Load(2)], vec![Store(2, 1), Load(0)]);
    assert!(possible(&[first, second, vec![Store(0, 1), Membarrier, Load(1)]], &[&[1, 0], &[0], &[0]]));
}
