//! A tree to a program.
//!
//! Functions are inlined and objects become rows of cells ([`places`]); a thread is a [`graph`]. What
//! a pointer may point to, which locals need an address and which variables never change is found in
//! *rounds*: the first assumes the best, every further one knows what the last one found, and the
//! program is that of the round which finds nothing new. At the end main is [`split`]: what it does
//! before it starts threads is computed, what it claims after all have ended is claimed of the end. What is
//! known then is written into the steps ([`fold`]), what only one thread touches is its own ([`private`]),
//! critical sections are atomic where nobody can tell ([`critical`]), and steps that nobody else can tell apart become one
//! ([`sections`], [`fuse`]).

mod analysis;
mod assigned;
mod atomics;
mod calls;
mod choice;
mod clean;
mod conditions;
pub(crate) mod critical;
mod declare;
mod expressions;
mod finish;
mod fold;
mod fuse;
mod graph;
mod heap;
mod holds;
mod initial;
mod known;
mod library;
mod loops;
mod numbers;
mod places;
mod private;
mod races;
mod sections;
mod split;
mod statements;
mod suffix;
mod sync;
mod tagged;
mod thread;
mod value;
pub(crate) mod values;
mod views;
mod world;

use super::ast::{Storage, Unit};
use super::lexer::Token;
use super::pre::CFiles;
use super::{COptions, Overflow, Remarked};
use crate::Diagnostic;
use analysis::{CAnalysis, CSubject, analyse};
use graph::{At, CStep};
use program::{Expr, Program, RegId, Span, VarId};
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};
use values::CValues;
use world::{CFacts, CLowered, Threaded, World};

/// Rounds after which the program is too involved.
const ROUNDS: usize = 60;
/// Rounds after which pointers that still get new targets may point anywhere.
const PATIENCE: usize = 12;

/// Lowers a text into a program that has only a name and a source so far.
pub(super) fn lower(
    unit: &Unit,
    tokens: &[Token],
    files: &CFiles,
    options: &COptions,
    program: &mut Program,
) -> Result<Remarked, Diagnostic> {
    let mut facts = CFacts::default();
    let has_keys =
        unit.functions.contains_key("__fw_thread_ends") && assigned::is_mentioned(unit, "pthread_key_create");
    for round in 0..ROUNDS {
        let mut world = World {
            unit,
            tokens,
            files,
            options,
            facts: &mut facts,
            objects: Vec::new(),
            variables: Vec::new(),
            globals: FxHashMap::default(),
            global_types: FxHashMap::default(),
            per_thread: FxHashMap::default(),
            by_key: FxHashMap::default(),
            instances: Vec::new(),
            probes: Vec::new(),
            again: false,
            refined: false,
            functions: Vec::new(),
            assigned: FxHashMap::default(),
            initialised: FxHashSet::default(),
            union_members: FxHashMap::default(),
            size: 0,
            has_keys,
            plain: BTreeSet::new(),
            marks: BTreeMap::new(),
            asserts: false,
            assumed: BTreeMap::new(),
        };
        let threads = match world.threads() {
            Err(_) if world.refined => continue,
            threads => threads.map_err(|error| *error)?,
        };
        let found = world.learn(&threads, round);
        if !world.again {
            return finish::finish(world, threads, &found, program).map_err(|error| *error);
        }
    }
    let token = unit.functions.get("main").map_or(0, |main| main.token);
    Err(match tokens.get(token as usize) {
        Some(token) => files.error(token, "the pointers of this program are too involved to be read"),
        None => Diagnostic::error(Span::NONE, "this program is too involved to be read"),
    })
}

impl World<'_> {
    /// Lowers all threads, main first.
    fn threads(&mut self) -> CLowered<Vec<Threaded>> {
        self.declare_globals()?;
        self.objects_of_earlier_rounds()?;
        let unit = self.unit;
        let Some(main) = unit.functions.get("main") else {
            let error = Diagnostic::error(Span::NONE, "there is no function `main`");
            return Err(Box::new(error.hint("a program starts in `int main(void) { … }`")));
        };
        let lowered = thread::Lowerer::new(self, 0, main.clone(), false).whole()?;
        self.size += lowered.graph.size();
        let mut threads = vec![lowered];
        // Threads may start further ones.
        while let Some(next) = self.instances.get(threads.len() - 1) {
            let function = next.function.clone();
            let lowered = thread::Lowerer::new(self, threads.len(), function, true).whole()?;
            self.size += lowered.graph.size();
            threads.push(lowered);
        }
        for threaded in &threads {
            for arrow in &threaded.graph.arrows {
                if let CStep::Start(instance, _) = arrow.step
                    && threaded.graph.reachable(vec![arrow.to])[arrow.from]
                {
                    let token = self.instances[instance].token;
                    let error = self.error(token, "a thread is started in a loop whose rounds are not known");
                    return Err(Box::new(error.hint("a loop like `for (i = 0; i < 3; i++)` is unrolled")));
                }
            }
        }
        Ok(threads)
    }

    fn declare_globals(&mut self) -> CLowered<()> {
        let unit = self.unit;
        let complete = |index: &usize| unit.records.cells(&unit.globals[*index].ty).is_some();
        for (index, declared) in unit.globals.iter().enumerate() {
            if self.globals.contains_key(&declared.name) {
                continue;
            }
            // Of several declarations the one with a value counts, or the first that is complete.
            let all = (index..unit.globals.len()).filter(|at| unit.globals[*at].name == declared.name);
            let all: Vec<usize> = all.collect();
            let with_value = all.iter().copied().find(|at| unit.globals[*at].init.is_some());
            let Some(chosen) = with_value.or_else(|| all.iter().copied().find(complete)) else { continue };
            let chosen_declaration = &unit.globals[chosen];
            let (name, ty, token) = (&declared.name, &chosen_declaration.ty, chosen_declaration.token);
            let object = self.memory_object((0, token, 2), name, ty, chosen_declaration.span, token)?;
            self.globals.insert(name.clone(), object);
            self.global_types.insert(name.clone(), ty.clone());
            if all.iter().any(|at| unit.globals[*at].storage == Storage::PerThread) {
                self.per_thread.insert(name.clone(), chosen);
            }
        }
        for declared in &unit.globals {
            if let (Some(object), Some(_)) = (self.globals.get(&declared.name).copied(), &declared.init) {
                let ty = self.global_types[&declared.name].clone();
                self.initial_memory(object, &ty, declared.init.as_ref(), declared.token)?;
            }
        }
        Ok(())
    }

    /// A thread for the analysis, by its number; nobody asks for main's argument and result.
    fn subject<'g>(&self, at: usize, threaded: &'g Threaded, asked: &'g [(At, Expr<RegId>)]) -> CSubject<'g> {
        let instance = at.checked_sub(1).map(|at| &self.instances[at]);
        let (argument, result) = instance.map_or((VarId::new(0), VarId::new(0)), |i| (i.given, i.result));
        CSubject { graph: &threaded.graph, entry: threaded.entry, asked, argument, result }
    }

    /// Which values registers and variables may have, if variables start with these.
    fn analyse(&self, subjects: &[CSubject<'_>], initial: &[CValues]) -> CAnalysis {
        let arguments: Vec<VarId> = self.instances.iter().map(|instance| instance.given).collect();
        let types: Vec<(i128, i128)> = self.variables.iter().map(|v| v.range).collect();
        analyse(subjects, &arguments, initial, &types)
    }

    /// What this round found out; says whether it is new.
    fn learn(&mut self, threads: &[Threaded], round: usize) -> CAnalysis {
        self.keep_initial_values();
        let mut asked: Vec<Vec<(At, Expr<RegId>)>> = vec![Vec::new(); threads.len()];
        for probe in &self.probes {
            asked[probe.thread].push((threads[probe.thread].place(probe.at), probe.expr.clone()));
        }
        let subjects = threads.iter().zip(&asked).enumerate();
        let subjects: Vec<CSubject<'_>> =
            subjects.map(|(at, (threaded, asked))| self.subject(at, threaded, asked)).collect();
        let initial: Vec<CValues> = self.variables.iter().map(|v| CValues::only(v.initial)).collect();
        let found = self.analyse(&subjects, &initial);
        // All that matters of a variable is whether it ever changes.
        for (variable, values) in self.variables.iter().zip(&found.variables) {
            let Some(address) = variable.address else { continue };
            let constant = CValues::only(variable.initial);
            let changes = values.join(&constant) != constant;
            if changes && self.facts.variables.insert(address, CValues::ALL).is_none() {
                self.again = true;
            }
        }
        self.learn_unsettled(threads);
        self.learn_targets(threads, &found, round);
        self.learn_unfit(threads, &found);
        found
    }

    /// What is stored when other threads may run is not what main left there.
    fn learn_unsettled(&mut self, threads: &[Threaded]) {
        for (at, threaded) in threads.iter().enumerate() {
            let mut stored: FxHashSet<VarId> = FxHashSet::default();
            let steps = threaded.graph.shared_steps();
            steps.for_each(|step| step.for_each_stored(&mut |variable| stored.extend([variable])));
            for address in stored.iter().filter_map(|variable| self.variables[variable.index()].address) {
                let facts = &mut *self.facts;
                self.again |= facts.unsettled.insert(address) && facts.settled.contains_key(&address);
                self.again |= at > 0 && facts.stored_by_others.insert(address);
            }
        }
    }

    fn learn_targets(&mut self, threads: &[Threaded], found: &CAnalysis, round: usize) {
        for probe in &self.probes {
            let at = threads[probe.thread].place(probe.at);
            let values = match (found.skipped, &found.registers[probe.thread][at]) {
                (true, _) => CValues::ALL,
                (false, Some(known)) => analysis::value(known, &probe.expr),
                (false, None) => continue,
            };
            let before = self.facts.targets.get(&probe.site).cloned().unwrap_or(CValues::NONE);
            let joined = before.join(&values);
            if joined != before {
                self.again = true;
                let joined = if round > PATIENCE { CValues::ALL } else { joined };
                self.facts.targets.insert(probe.site, joined);
            }
        }
    }

    /// Operations wrap around from the next round on if they may leave their type and are to wrap then, or if
    /// they always leave it.
    fn learn_unfit(&mut self, threads: &[Threaded], found: &CAnalysis) {
        for (at, threaded) in threads.iter().enumerate() {
            for arrow in &threaded.graph.arrows {
                let (CStep::Fits(fits) | CStep::Checked(_, _, fits)) = &arrow.step else { continue };
                let conversion = fits.site.1;
                let wraps = match self.options.overflow {
                    Overflow::Wrap => true,
                    _ if conversion => true,
                    Overflow::Assume => fits.low == 0 && !found.skipped,
                    Overflow::Strict | Overflow::Error => false,
                };
                if !wraps {
                    continue;
                }
                let values = found.registers[at][arrow.from]
                    .as_ref()
                    .map(|known| analysis::checked(known, &arrow.step, &found.variables));
                let unfit = match (values, self.options.overflow) {
                    (None, _) => found.skipped,
                    (Some(values), Overflow::Assume) if !conversion => values.is_outside(fits.low, fits.high),
                    (Some(values), _) => !values.within(fits.low, fits.high),
                };
                self.again |= unfit && self.facts.unfit.insert(fits.site);
            }
        }
    }
}
