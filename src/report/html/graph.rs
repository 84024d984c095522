//! The happens-before of a run as a graph over what its steps did to memory.
//!
//! Nodes are the steps that load, store or fence; the drain of a store belongs to the store's
//! node. Links are program order, *reads from* (a store and a load that sees it), *store order*
//! (stores to one variable as they reach memory) and *from read* (a load and the store that
//! overwrites what it saw). Under SC all links go forward in time, so a cycle shows that no SC
//! run looks like this one.
//!
//! A store that is still buffered at the end will reach memory after all that has, in every
//! continuation: it gets its links as if it did. Stores of different threads that wait for the
//! same variable may arrive in any order. If there is a cycle whatever that order is, they stay
//! unordered; else the run is completed by draining one thread after the other.

use crate::report::steps::{Effect, Step};
use evidence::Link;
use program::{Program, ThreadId, VarId};
use std::collections::{HashSet, VecDeque};

/// In graphs up to this size the shortest of all cycles is found; in larger ones the shortest
/// through one node.
const SMALL: usize = 300;

/// A step that touches memory.
#[derive(Clone, Debug)]
pub struct Node {
    /// Who took it.
    pub thread: ThreadId,
    /// What it did.
    pub text: String,
}

/// A link between two nodes.
pub type Arrow = (usize, usize, Link);

/// The graph.
#[derive(Clone, Debug)]
pub struct Graph {
    /// The nodes, in the order of the run.
    pub nodes: Vec<Node>,
    /// The links.
    pub arrows: Vec<Arrow>,
    /// For every step its node, if it has one.
    pub node_of: Vec<Option<usize>>,
    /// A shortest cycle.
    pub cycle: Vec<Arrow>,
    /// Whether an order was chosen for stores that are still buffered at the end.
    pub completed: bool,
}

/// A store that was issued, and what has read it so far.
#[derive(Clone, Default)]
struct Written {
    node: Option<usize>,
    readers: Vec<usize>,
}

#[derive(Clone)]
struct Builder<'a> {
    program: &'a Program,
    graph: Graph,
    memory: Vec<Written>,
    buffers: Vec<VecDeque<(VarId, Written)>>,
    last: Vec<Option<usize>>,
    linked: HashSet<Arrow>,
}

impl Graph {
    /// The graph of a run, with a cycle through this step if there is one, else through any.
    pub fn of(program: &Program, steps: &[Step], through: Option<usize>) -> Graph {
        let graph = Graph {
            nodes: Vec::new(),
            arrows: Vec::new(),
            node_of: vec![None; steps.len()],
            cycle: Vec::new(),
            completed: false,
        };
        let mut builder = Builder {
            program,
            graph,
            memory: vec![Written::default(); program.variables.len()],
            buffers: vec![VecDeque::new(); program.threads.len()],
            last: vec![None; program.threads.len()],
            linked: HashSet::new(),
        };
        steps.iter().enumerate().for_each(|(at, step)| builder.step(at, step));
        let mut certain = builder.clone();
        certain.order_waiting();
        certain.graph.cycle = certain.graph.shortest_cycle(through);
        if !certain.graph.cycle.is_empty() {
            return certain.graph;
        }
        builder.drain_all();
        builder.graph.cycle = builder.graph.shortest_cycle(through);
        builder.graph.completed = builder.graph.arrows.len() > certain.graph.arrows.len();
        builder.graph
    }

    fn shortest_cycle(&self, through: Option<usize>) -> Vec<Arrow> {
        let mut leaving = vec![Vec::new(); self.nodes.len()];
        self.arrows.iter().for_each(|arrow| leaving[arrow.0].push(*arrow));
        let preferred = through.and_then(|step| self.node_of.get(step).copied().flatten());
        let cycle = preferred.map(|node| shortest_cycle(&leaving, node)).unwrap_or_default();
        if !cycle.is_empty() {
            return cycle;
        }
        let Some(node) = self.node_on_a_cycle() else { return Vec::new() };
        if self.nodes.len() > SMALL {
            return shortest_cycle(&leaving, node);
        }
        let cycles = (0..self.nodes.len()).map(|node| shortest_cycle(&leaving, node));
        cycles.filter(|cycle| !cycle.is_empty()).min_by_key(Vec::len).unwrap_or_default()
    }
}

impl Graph {
    /// Takes away nodes that nothing leads to, until there are none; in what is left, going
    /// backwards leads round a cycle.
    fn node_on_a_cycle(&self) -> Option<usize> {
        let mut arriving = vec![0usize; self.nodes.len()];
        let (mut before, mut behind) = (vec![Vec::new(); arriving.len()], vec![Vec::new(); arriving.len()]);
        for (from, to, _) in &self.arrows {
            arriving[*to] += 1;
            before[*to].push(*from);
            behind[*from].push(*to);
        }
        let mut free: Vec<usize> = (0..arriving.len()).filter(|node| arriving[*node] == 0).collect();
        while let Some(node) = free.pop() {
            for next in &behind[node] {
                arriving[*next] -= 1;
                if arriving[*next] == 0 {
                    free.push(*next);
                }
            }
        }
        let mut node = (0..arriving.len()).find(|node| arriving[*node] > 0)?;
        for _ in 0..arriving.len() {
            node = *before[node].iter().find(|earlier| arriving[**earlier] > 0)?;
        }
        Some(node)
    }
}

/// A shortest way from a node back to itself; empty if there is none.
fn shortest_cycle(leaving: &[Vec<Arrow>], start: usize) -> Vec<Arrow> {
    let mut reached: Vec<Option<Arrow>> = vec![None; leaving.len()];
    let mut queue = VecDeque::from([start]);
    while let Some(node) = queue.pop_front() {
        for arrow in &leaving[node] {
            if reached[arrow.1].is_none() {
                reached[arrow.1] = Some(*arrow);
                queue.push_back(arrow.1);
            }
        }
    }
    let mut cycle = Vec::new();
    let mut node = start;
    while let Some(arrow) = reached[node] {
        cycle.push(arrow);
        node = arrow.0;
        if node == start {
            cycle.reverse();
            return cycle;
        }
    }
    Vec::new()
}

impl Builder<'_> {
    fn step(&mut self, at: usize, step: &Step) {
        let thread = step.thread.index();
        if let Some(Effect::Drain(variable, _)) = step.effects.first() {
            let buffer = &mut self.buffers[thread];
            let place = buffer.iter().position(|(v, _)| v == variable);
            if let Some((variable, written)) = place.and_then(|place| buffer.remove(place)) {
                self.graph.node_of[at] = written.node;
                self.write(variable, written);
            }
            return;
        }
        let Some(text) = text(self.program, step) else { return };
        let node = self.graph.nodes.len();
        self.graph.nodes.push(Node { thread: step.thread, text });
        self.graph.node_of[at] = Some(node);
        if let Some(before) = self.last[thread].replace(node) {
            self.link(before, node, Link::Program);
        }
        for effect in &step.effects {
            match effect {
                Effect::Load(variable, _, own) => self.load(node, thread, *variable, *own),
                Effect::Store(variable, _, buffered) => {
                    let written = Written { node: Some(node), readers: Vec::new() };
                    match buffered {
                        true => self.buffers[thread].push_back((*variable, written)),
                        false => self.write(*variable, written),
                    }
                }
                _ => {}
            }
        }
    }

    fn load(&mut self, node: usize, thread: usize, variable: VarId, own: bool) {
        let newest = self.buffers[thread].iter_mut().rev().find(|(v, _)| *v == variable);
        let written = match newest {
            Some((_, written)) if own => written,
            _ => &mut self.memory[variable.index()],
        };
        written.readers.push(node);
        if let Some(store) = written.node {
            self.link(store, node, Link::ReadsFrom);
        }
    }

    fn write(&mut self, variable: VarId, written: Written) {
        let over = std::mem::replace(&mut self.memory[variable.index()], written.clone());
        self.overwrite(&over, &written);
    }

    fn overwrite(&mut self, over: &Written, by: &Written) {
        let Some(node) = by.node else { return };
        if let Some(store) = over.node {
            self.link(store, node, Link::StoreOrder);
        }
        over.readers.iter().for_each(|reader| self.link(*reader, node, Link::FromRead));
    }

    /// What is still buffered comes after all that is in memory, each thread's for itself.
    fn order_waiting(&mut self) {
        let memory = self.memory.clone();
        for buffer in std::mem::take(&mut self.buffers) {
            let mut newest = memory.clone();
            for (variable, written) in buffer {
                let over = std::mem::replace(&mut newest[variable.index()], written.clone());
                self.overwrite(&over, &written);
            }
        }
    }

    /// What is still buffered reaches memory, one thread's stores after the other's.
    fn drain_all(&mut self) {
        for (variable, written) in std::mem::take(&mut self.buffers).into_iter().flatten() {
            self.write(variable, written);
        }
    }

    fn link(&mut self, from: usize, to: usize, link: Link) {
        if from != to && self.linked.insert((from, to, link)) {
            self.graph.arrows.push((from, to, link));
        }
    }
}

/// What a step did to memory, or that it is a fence; `None` for all else.
fn text(program: &Program, step: &Step) -> Option<String> {
    let effect = |effect: &Effect| match effect {
        Effect::Load(v, value, _) => Some(format!("{} read {value}", program.variable(*v).name)),
        Effect::Store(v, value, _) => Some(format!("{} = {value}", program.variable(*v).name)),
        _ => None,
    };
    let texts: Vec<String> = step.effects.iter().filter_map(effect).collect();
    match step.kind {
        "fence" => Some("fence".to_string()),
        "store_fence" => Some("fence store".to_string()),
        _ => (!texts.is_empty()).then(|| texts.join(", ")),
    }
}

/// How a link is called: short, as in the literature, and in words.
pub fn names(link: Link) -> (&'static str, &'static str) {
    match link {
        Link::Program => ("po", "comes before in the program"),
        Link::StoreOrder => ("co", "reaches memory before"),
        Link::ReadsFrom => ("rf", "is read by"),
        Link::FromRead => ("fr", "reads what is overwritten by"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::steps::describe_all;
    use engine::{Engine, Explicit, Run};
    use evidence::{Ignore, MostStates, Task, Verdict, check};
    use machine::model_named;
    use program::Source;

    fn read(text: &str) -> Program {
        let frontend = frontend::choose(Some("fw"), "", "").expect("there is such a language");
        let source = Source::new("test.fw", text);
        (frontend.read)(source, &frontend::Options::default()).expect("it is a program").program
    }

    /// The graph of the shortest violation, if one is found soon.
    fn violation(program: &Program, model: &str) -> Option<Graph> {
        let task = Task::safe(program, model_named(model).expect("a model"));
        let answer = Explicit.verify(&task, &Run { monitor: &MostStates(20_000), ..Run::default() });
        let checked = check(&task, answer.verdict, &Ignore).expect("the evidence holds");
        let Verdict::Unsafe(trace) = checked.verdict() else { return None };
        Some(Graph::of(program, &describe_all(program, &trace.steps, checked.run()), None))
    }

    /// The graph and its cycle, as short texts.
    fn drawn(text: &str, model: &str) -> (Vec<String>, Vec<String>) {
        let graph = violation(&read(text), model).expect("it is unsafe");
        let short = |(from, to, link): &Arrow| {
            format!("{} {} {}", graph.nodes[*from].text, names(*link).0, graph.nodes[*to].text)
        };
        let mut arrows: Vec<String> = graph.arrows.iter().map(short).collect();
        arrows.sort();
        (arrows, graph.cycle.iter().map(short).collect())
    }

    #[test]
    fn stores_that_never_drain_still_close_the_cycle() {
        let text = "shared x, y;
thread P { let a; x = 1; a = y; p: skip; }
thread Q { let b; y = 1; b = x; q: skip; }
never P@p && Q@q && P.a == 0 && Q.b == 0;";
        let (arrows, cycle) = drawn(text, "tso");
        let expected = ["x = 1 po y read 0", "x read 0 fr x = 1", "y = 1 po x read 0", "y read 0 fr y = 1"];
        assert_eq!(arrows, expected);
        assert_eq!(cycle.len(), 4, "{cycle:?}");
    }

    #[test]
    fn message_passing_under_pso_has_a_cycle_through_reads_from() {
        let text = "shared d, f;
thread W { d = 1; f = 1; }
thread R { let a, b; a = f; b = d; r: skip; }
never R@r && R.a == 1 && R.b == 0;";
        let (arrows, cycle) = drawn(text, "pso");
        let expected = ["d = 1 po f = 1", "d read 0 fr d = 1", "f = 1 rf f read 1", "f read 1 po d read 0"];
        assert_eq!(arrows, expected);
        assert_eq!(cycle.len(), 4, "{cycle:?}");
    }

    #[test]
    fn cycles_are_found_in_large_graphs_too() {
        let text = "shared x, y, z;
thread P { let a, n; while (n < 320) { z = n; n = n + 1; } x = 1; a = y; p: skip; }
thread Q { let b; y = 1; b = x; q: skip; }
never P@p && Q@q && P.a == 0 && Q.b == 0;";
        let (arrows, cycle) = drawn(text, "tso");
        assert!(arrows.len() > SMALL, "{}", arrows.len());
        assert!(!cycle.is_empty());
    }

    #[test]
    fn what_sc_allows_has_no_cycle() {
        let text = "shared x;
thread P { let a; x = 1; x = 2; a = x; p: skip; }
thread Q { x = 3; }
never P@p && P.a == 3;";
        for model in ["sc", "tso"] {
            let (arrows, cycle) = drawn(text, model);
            assert!(arrows.iter().any(|arrow| arrow == "x = 3 rf x read 3"), "{arrows:?}");
            assert!(arrows.iter().any(|arrow| arrow == "x = 1 co x = 2"), "{arrows:?}");
            assert!(cycle.is_empty(), "{cycle:?}");
        }
    }

    #[test]
    fn violations_have_a_cycle_just_if_they_need_a_weak_memory() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/corpus");
        let (mut weak, mut strong) = (0, 0);
        for entry in std::fs::read_dir(folder).expect("the corpus is there") {
            let path = entry.expect("readable").path();
            if path.extension().is_none_or(|ending| ending != "fw") {
                continue;
            }
            let program = read(&std::fs::read_to_string(&path).expect("readable"));
            let under_sc = violation(&program, "sc");
            if let Some(graph) = &under_sc {
                assert!(graph.cycle.is_empty(), "{path:?} under SC: {graph:?}");
                strong += 1;
            }
            for model in ["tso", "pso"].iter().filter(|_| under_sc.is_none()) {
                if let Some(graph) = violation(&program, model) {
                    assert!(!graph.cycle.is_empty(), "{path:?} under {model}: {graph:?}");
                    weak += 1;
                }
            }
        }
        assert!(weak > 40 && strong > 1, "{weak} and {strong}");
    }
}
