//! From graphs to the program: checks that always pass go, main is split, and what waited for all
//! threads to be known is written out.

use super::analysis::{CAnalysis, passes};
use super::graph::{At, CStep, Graph};
use super::library::WRITTEN_FIRST;
use super::split::{Begun, begin};
use super::suffix::{CClaimed, claims};
use super::world::{CLowered, Threaded, World};
use super::{clean, fold, fuse, races, sections};
use crate::Diagnostic;
use crate::c::{Overflow, Remarked};
use crate::mend::take_name;
use program::{
    Assumption, Cond, Domain, Expr, Failure, FailureKind, Int, Op, Place, Program, Property, PropertyKind,
    RegId, Relation, Span, VarId, Variable,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Everything that is left of the program.
pub(super) struct Finishing<'w, 'u> {
    pub world: World<'u>,
    pub threads: Vec<Threaded>,
    /// Which threads are kept, main being 0.
    pub kept: BTreeSet<usize>,
    pub begun: Begun,
    pub claimed: Vec<CClaimed>,
    program: &'w mut Program,
}

/// Writes the program; gives what is worth saying about it.
pub(super) fn finish(
    world: World<'_>,
    mut threads: Vec<Threaded>,
    found: &CAnalysis,
    program: &mut Program,
) -> CLowered<Remarked> {
    let mut assumed = world.assumed.clone();
    // What main does is computed step by step.
    threads[0].graph.write_out_all_choices();
    for (at, threaded) in threads.iter_mut().enumerate() {
        let fit = |from: At, step: &CStep| {
            !found.skipped && passes(found.registers[at][from].as_ref(), step, &found.variables)
        };
        settle_checks(threaded, &fit, world.options.overflow, &mut assumed);
        tidy(threaded);
        for arrow in &mut threaded.graph.arrows {
            if let CStep::Unwritten(register, ..) = arrow.step {
                assumed.insert(arrow.span, WRITTEN_FIRST);
                arrow.step = CStep::Op(Op::Assign(register, Expr::from(0)));
            }
        }
    }
    program.assumptions =
        assumed.into_iter().map(|(span, what)| Assumption { span, text: what.to_string() }).collect();
    let touched = touched_with_started(&threads);
    let others: BTreeSet<VarId> = touched.iter().flatten().copied().collect();
    let initial: Vec<i128> = world.variables.iter().map(|variable| variable.initial).collect();
    let begun = begin(&threads[0].graph, threads[0].entry, &initial, &touched);
    let mut finishing =
        Finishing { world, threads, kept: BTreeSet::new(), begun, claimed: Vec::new(), program };
    finishing.choose_threads(&others);
    if finishing.kept.contains(&0) {
        finishing.restore_registers();
    }
    finishing.fold();
    finishing.trust_holders();
    finishing.make_private();
    finishing.make_atomic();
    finishing.write_out();
    finishing.build()
}

/// Takes out checks that always pass; the others are assumed, or are violations.
fn settle_checks(
    threaded: &mut Threaded,
    fit: &dyn Fn(At, &CStep) -> bool,
    overflow: Overflow,
    assumed: &mut BTreeMap<Span, &'static str>,
) {
    let graph = &mut threaded.graph;
    let mut broken = Vec::new();
    let told = matches!(overflow, Overflow::Error | Overflow::Strict);
    for index in 0..graph.arrows.len() {
        let arrow = &graph.arrows[index];
        let (fits, span, from) = match &arrow.step {
            CStep::Fits(fits) | CStep::Checked(_, _, fits) => (fits.clone(), arrow.span, arrow.from),
            _ => continue,
        };
        let fails = || Op::Assume(fits.cond().negate());
        // The step without its check or with it, and what leads to a violation.
        let (step, failing) = match (&arrow.step, fit(from, &arrow.step)) {
            (CStep::Checked(parts, ..), true) => (Op::locked(parts.clone()), None),
            (_, true) => (Op::Skip, None),
            (CStep::Checked(parts, at, _), false) => {
                let failing = Op::locked([&parts[..*at], &[fails()]].concat());
                let mut parts = parts.clone();
                parts.insert(*at, Op::Assume(fits.cond()));
                (Op::locked(parts), Some(failing))
            }
            (_, false) => (Op::Assume(fits.cond()), Some(fails())),
        };
        match failing {
            Some(failing) if told => broken.push((from, failing, span)),
            Some(_) => drop(assumed.insert(span, "no overflow")),
            None => {}
        }
        graph.arrows[index].step = CStep::Op(step);
    }
    for (from, op, span) in broken {
        let bad = graph.place();
        let what = "a result does not fit into its type".to_string();
        let kind =
            if overflow == Overflow::Strict { FailureKind::Limit(what) } else { FailureKind::Error(what) };
        graph.failures.insert(bad, Failure { kind, span });
        graph.arrow(from, CStep::Op(op), bad, span);
    }
    graph.contract(&|_| false);
    threaded.entry = threaded.graph.find(threaded.entry);
}

/// The variables that a thread loads, and those that it stores.
pub(super) fn accesses(graph: &Graph) -> (BTreeSet<VarId>, BTreeSet<VarId>) {
    let (mut loaded, mut stored) = (BTreeSet::new(), BTreeSet::new());
    for arrow in &graph.arrows {
        arrow.step.for_each_access(&mut |variable, stores| {
            let found = if stores { &mut stored } else { &mut loaded };
            found.extend([variable]);
        });
    }
    (loaded, stored)
}

/// The variables that a thread loads or stores.
pub(super) fn touched(graph: &Graph) -> BTreeSet<VarId> {
    let (loaded, stored) = accesses(graph);
    loaded.into_iter().chain(stored).collect()
}

/// Takes out what does nothing, computes what nobody reads, or is never reached.
pub(super) fn tidy(threaded: &mut Threaded) {
    threaded.graph.keep_reachable(threaded.entry);
    threaded.graph.contract(&|_| false);
    threaded.entry = threaded.graph.find(threaded.entry);
    clean::drop_dead(&mut threaded.graph);
    threaded.entry = threaded.graph.find(threaded.entry);
    threaded.graph.keep_reachable(threaded.entry);
}

/// The variables that each instance touches, or one that it starts.
fn touched_with_started(threads: &[Threaded]) -> Vec<BTreeSet<VarId>> {
    let mut found: Vec<BTreeSet<VarId>> = threads[1..].iter().map(|t| touched(&t.graph)).collect();
    let started: Vec<BTreeSet<usize>> = threads[1..].iter().map(|t| t.graph.started().collect()).collect();
    loop {
        let mut grew = false;
        for (at, started) in started.iter().enumerate() {
            let more: BTreeSet<VarId> = started.iter().flat_map(|&other| found[other].clone()).collect();
            let before = found[at].len();
            found[at].extend(more);
            grew |= found[at].len() > before;
        }
        if !grew {
            return found;
        }
    }
}

impl Finishing<'_, '_> {
    /// Which threads there are, and whether main is one of them.
    fn choose_threads(&mut self, others: &BTreeSet<VarId>) {
        let running: BTreeSet<usize> = self.begun.running.keys().copied().collect();
        self.kept = running.iter().map(|instance| instance + 1).collect();
        let at = self.begun.at;
        if !running.is_empty() {
            self.add_started();
            let graph = &self.threads[0].graph;
            if graph.leaving()[at].is_empty() && !graph.failures.contains_key(&at) {
                return;
            }
            let everybody: BTreeSet<usize> = self.kept.iter().filter_map(|at| at.checked_sub(1)).collect();
            if everybody == running
                && let Some(claimed) = claims(graph, at, &self.begun.registers, &running, others)
            {
                self.claimed = claimed;
                return;
            }
        }
        self.kept.insert(0);
        let main = &mut self.threads[0];
        main.entry = at;
        main.graph.keep_reachable(at);
        self.add_started();
    }

    /// Threads that kept threads start are kept.
    fn add_started(&mut self) {
        loop {
            let started = self.kept.iter().flat_map(|at| self.threads[*at].graph.started());
            let started: BTreeSet<usize> = started.map(|instance| instance + 1).collect();
            if started.is_subset(&self.kept) {
                return;
            }
            self.kept.extend(started);
        }
    }

    /// Writes out starting, ending and waiting.
    fn write_out(&mut self) {
        let graphs = || self.kept.iter().map(|at| &self.threads[*at].graph);
        let joined: FxHashSet<usize> = graphs()
            .flat_map(|graph| &graph.arrows)
            .filter_map(|arrow| if let CStep::Join(instance) = arrow.step { Some(instance) } else { None })
            .collect();
        let mut read = self.spoken_of();
        read.extend(graphs().flat_map(touched));
        for at in self.kept.clone() {
            let mine = at.checked_sub(1);
            let running = mine.and_then(|instance| self.begun.running.get(&instance).cloned());
            let instances = &self.world.instances;
            let own = mine.map(|instance| &instances[instance]);
            let awaited = mine.is_some_and(|instance| joined.contains(&instance));
            let graph = &mut self.threads[at].graph;
            let mut helper = None;
            for index in 0..graph.arrows.len() {
                let step = graph.arrows[index].step.clone();
                let op = match (step, own) {
                    (CStep::Op(_), _) => continue,
                    (CStep::Start(instance, argument), _) => {
                        let begun = &instances[instance];
                        let argument = argument.map(|argument| Op::Store(begun.given, argument));
                        let parts = argument.into_iter().chain([Op::Store(begun.started, Expr::from(1))]);
                        Op::locked(parts.collect())
                    }
                    (CStep::Join(instance), _) => {
                        let register = *helper.get_or_insert_with(|| new_register(graph));
                        wait_for(instances[instance].ended, register, true)
                    }
                    (CStep::Begin(argument), Some(own)) => match (&running, argument) {
                        (Some(Some(value)), Some(register)) => {
                            Op::Assign(register, Expr::Const(value.clone()))
                        }
                        (Some(_), _) => Op::Skip,
                        (None, argument) => {
                            let register = *helper.get_or_insert_with(|| new_register(graph));
                            let mut op = wait_for(own.started, register, false);
                            if let (Op::Block { parts, .. }, Some(register)) = (&mut op, argument) {
                                parts.push(Op::Load(register, own.given));
                            }
                            op
                        }
                    },
                    (CStep::End(result), Some(own)) if awaited || read.contains(&own.result) => {
                        let result =
                            Some(Op::Store(own.result, result)).filter(|_| read.contains(&own.result));
                        let ended = Some(Op::Store(own.ended, Expr::from(1))).filter(|_| awaited);
                        Op::locked(result.into_iter().chain(ended).collect())
                    }
                    _ => Op::Skip,
                };
                graph.arrows[index].step = CStep::Op(op);
            }
        }
    }

    fn build(mut self) -> CLowered<Remarked> {
        let mut used = self.spoken_of();
        // Races are looked for statement by statement.
        let across = !self.world.options.races && !self.world.options.apart;
        for at in self.kept.clone() {
            let threaded = &mut self.threads[at];
            tidy(threaded);
            if across {
                sections::collapse(&mut threaded.graph);
                threaded.graph.keep_reachable(threaded.entry);
            }
            fuse::fuse(&mut threaded.graph, threaded.entry, across);
            fold::fold_fused(&mut threaded.graph);
            threaded.graph.keep_reachable(threaded.entry);
            used.extend(touched(&threaded.graph));
        }
        let numbers = self.variables(&used);
        for at in self.kept.clone() {
            self.thread(at, &numbers)?;
        }
        for claimed in std::mem::take(&mut self.claimed) {
            self.claim(&claimed, &numbers);
        }
        let plain = self.world.plain.iter();
        let plain = plain.filter_map(|(span, old)| Some((*span, *numbers.get(old)?))).collect();
        let races = self.world.options.races;
        if races {
            races::claim_none(self.program, &plain);
        }
        let may_race = !races && races::may_race(self.program, &plain);
        Ok(Remarked { may_race, settled: self.world.asserts })
    }

    /// Main goes on with what it had computed.
    fn restore_registers(&mut self) {
        let main = &mut self.threads[0];
        let mut values: Vec<(RegId, Int)> =
            self.begun.registers.iter().map(|(register, value)| (*register, value.clone())).collect();
        values.sort_by_key(|(register, _)| *register);
        main.entry = main.graph.preset(main.entry, values);
    }

    /// The variables that claims about the end speak of.
    pub fn spoken_of(&self) -> BTreeSet<VarId> {
        let mut variables = BTreeSet::new();
        for claimed in &self.claimed {
            claimed.when.for_each_leaf(&mut |place| {
                if let Place::Memory(variable) = place {
                    variables.insert(*variable);
                }
            });
        }
        variables
    }

    /// What a variable holds after main's beginning.
    pub fn after_beginning(&self, variable: VarId) -> Int {
        let initial = || Int::from(self.world.variables[variable.index()].initial);
        self.begun.memory.get(&variable).cloned().unwrap_or_else(initial)
    }

    /// The variables that somebody uses, with their values after main's beginning.
    fn variables(&mut self, used: &BTreeSet<VarId>) -> FxHashMap<VarId, VarId> {
        let (mut numbers, mut taken) = (FxHashMap::default(), HashSet::new());
        for old in used {
            let shared = &self.world.variables[old.index()];
            let value = self.after_beginning(*old);
            let name = take_name(&shared.name, &[], &mut taken);
            let variable = Variable { name, initial: Domain::only(value), span: shared.span };
            numbers.insert(*old, self.program.add_variable(variable));
        }
        numbers
    }

    fn thread(&mut self, at: usize, numbers: &FxHashMap<VarId, VarId>) -> CLowered<()> {
        let mut taken: HashSet<String> =
            self.program.threads.iter().map(|thread| thread.name.clone()).collect();
        let name = match at.checked_sub(1) {
            None => "main".to_string(),
            Some(instance) => self.world.instance_name(instance),
        };
        let name = take_name(&name, &[], &mut taken);
        let threaded = &mut self.threads[at];
        for arrow in &mut threaded.graph.arrows {
            if let CStep::Op(op) = &mut arrow.step {
                renumber(op, numbers);
            }
        }
        let thread = threaded.graph.finish(&name, threaded.entry);
        self.program.threads.push(thread.map_err(|invalid| Box::new(Diagnostic::from(invalid)))?);
        Ok(())
    }

    fn claim(&mut self, claimed: &CClaimed, numbers: &FxHashMap<VarId, VarId>) {
        let when = claimed.when.map(&mut |place| match place {
            Place::Memory(variable) => Expr::Leaf(Place::Memory(numbers[variable])),
            other => Expr::Leaf(*other),
        });
        let text = match &claimed.failure.kind {
            FailureKind::Error(what) => Some(what.clone()),
            _ => Some(self.program.source.snippet(claimed.failure.span)).filter(|text| !text.is_empty()),
        };
        let span = claimed.failure.span;
        self.program.properties.push(Property {
            kind: PropertyKind::Finally,
            cond: when.negate(),
            span,
            text,
        });
    }
}

fn new_register(graph: &mut Graph) -> RegId {
    graph.registers.push("awaited".to_string());
    RegId::new(graph.registers.len() - 1)
}

/// Waits until a variable is 1.
fn wait_for(variable: VarId, register: RegId, locked: bool) -> Op {
    let parts = vec![Op::Load(register, variable), Op::Assume(Cond::compare(Relation::Eq, register, 1))];
    Op::Block { locked, parts }
}

fn renumber(op: &mut Op, numbers: &FxHashMap<VarId, VarId>) {
    match op {
        Op::Load(_, variable) | Op::Store(variable, _) => {
            *variable = numbers.get(variable).copied().unwrap_or(*variable)
        }
        Op::Block { parts, .. } => parts.iter_mut().for_each(|part| renumber(part, numbers)),
        _ => {}
    }
}
