//! What is found out once it is clear which threads there are: values that are known then, and variables that
//! only one thread touches.

use super::analysis::CSubject;
use super::critical::make_atomic;
use super::finish::{Finishing, accesses, tidy, touched};
use super::fold::{self, CSettled};
use super::holds::drop_refusals;
use super::private::{CPrivate, make_private};
use super::values::CValues;
use super::world::{CShared, Threaded};
use num_traits::ToPrimitive;
use program::{Int, VarId};
use std::collections::{BTreeMap, BTreeSet};

impl Finishing<'_, '_> {
    /// Writes what is known now into the steps.
    pub fn fold(&mut self) {
        let memory = |(at, variable): (usize, &CShared)| {
            let value = self.begun.memory.get(&VarId::new(at)).and_then(Int::to_i128);
            CValues::only(value.unwrap_or(variable.initial))
        };
        let mut initial: Vec<CValues> = self.world.variables.iter().enumerate().map(memory).collect();
        for (instance, argument) in &self.begun.running {
            if let Some(argument) = argument {
                let given = self.world.instances[*instance].given;
                initial[given.index()] = argument.to_i128().map_or(CValues::ALL, CValues::only);
            }
        }
        let subject = |at: &usize| self.world.subject(*at, &self.threads[*at], &[]);
        let subjects: Vec<CSubject<'_>> = self.kept.iter().map(subject).collect();
        let found = self.world.analyse(&subjects, &initial);
        if found.skipped {
            self.threads.iter_mut().for_each(|threaded| threaded.graph.write_out_all_choices());
            return;
        }
        let kept = || self.kept.iter().map(|at| &self.threads[*at].graph);
        let (mut loaded, mut stored) = (BTreeSet::new(), BTreeMap::<VarId, usize>::new());
        for graph in kept() {
            let (mine, theirs) = accesses(graph);
            loaded.extend(mine);
            theirs.into_iter().for_each(|variable| *stored.entry(variable).or_default() += 1);
        }
        loaded.extend(self.spoken_of());
        if self.world.options.races {
            loaded.extend(stored.keys());
        }
        let unread = stored.iter().filter(|(variable, by)| !loaded.contains(variable) && **by == 1);
        let unread: BTreeSet<VarId> = unread.map(|(variable, _)| *variable).collect();
        let memory =
            CSettled { variables: &found.variables, stored: &stored.into_keys().collect(), unread: &unread };
        for (at, known) in self.kept.iter().zip(found.registers) {
            let threaded = &mut self.threads[*at];
            fold::fold(&mut threaded.graph, threaded.entry, known, &memory);
            tidy(threaded);
        }
    }

    /// Makes variables that only one thread touches registers of it. Races are looked for in memory.
    pub fn make_private(&mut self) {
        if self.world.options.races {
            return;
        }
        let mut touching: BTreeMap<VarId, Vec<usize>> = BTreeMap::new();
        for at in &self.kept {
            let touched = touched(&self.threads[*at].graph);
            touched.into_iter().for_each(|variable| touching.entry(variable).or_default().push(*at));
        }
        let claimed = self.spoken_of();
        let mut private: BTreeMap<usize, Vec<CPrivate>> = BTreeMap::new();
        for (variable, threads) in touching {
            let shared = &self.world.variables[variable.index()];
            // What has no address belongs to starting and awaiting threads.
            let ([only], true) = (&threads[..], shared.address.is_some() && !claimed.contains(&variable))
            else {
                continue;
            };
            let (name, initial) = (shared.name.to_string(), self.after_beginning(variable));
            private.entry(*only).or_default().push(CPrivate { variable, name, initial });
        }
        for (at, variables) in private {
            let threaded = &mut self.threads[at];
            threaded.entry = make_private(&mut threaded.graph, threaded.entry, variables);
            tidy(threaded);
        }
    }

    /// Takes out that threads do not hold mutexes which they are sure to hold.
    pub fn trust_holders(&mut self) {
        drop_refusals(&mut kept(&mut self.threads, &self.kept));
    }

    /// Makes critical sections atomic. Races are looked for step by step, and fences are taken out of any step.
    pub fn make_atomic(&mut self) {
        if self.world.options.races || self.world.options.apart {
            return;
        }
        let claimed = self.spoken_of();
        let variables = (0..self.world.variables.len()).map(VarId::new);
        let zero: BTreeSet<VarId> = variables.filter(|v| self.after_beginning(*v) == Int::ZERO).collect();
        let free = |variable: VarId| zero.contains(&variable) && !claimed.contains(&variable);
        make_atomic(&mut kept(&mut self.threads, &self.kept), &free);
    }
}

/// The threads that are kept.
fn kept<'t>(threads: &'t mut [Threaded], kept: &BTreeSet<usize>) -> Vec<&'t mut Threaded> {
    let threads = threads.iter_mut().enumerate().filter(|(at, _)| kept.contains(at));
    threads.map(|(_, threaded)| threaded).collect()
}
