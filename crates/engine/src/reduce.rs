//! What exact searches may leave out.
//!
//! A *reduced* search explores states that cover all others. By which rules it does is said in its proof, and the
//! checker, which knows the rules, tests that they apply.

use evidence::{
    Certificate, ClosedSet, Controls, Crew, Listed, ReducedProof, SharedProof, SpilledProof, SpilledStates,
    Task,
};
use machine::{Acting, Buffered, Gaps, OnDomain, Rules, is_out_of_reach, on_reduced, usable_renamings};
use program::{Program, Renaming, VarId, thread_swaps};

/// How an exact search is reduced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Reduction {
    /// Nothing is left out.
    None,
    /// States from which nothing can go wrong any more are not left ([`machine::InReach`]).
    Reach,
    /// Threads go ahead where nobody notices ([`machine::Settled`]).
    Local,
    /// The steps of a few agents are taken where they are enough ([`machine::Stubborn`]).
    Persistent,
    /// The same, by what values say of others and not their texts.
    Dynamic,
    /// The same, and those who act take several steps at once ([`machine::Cartesian`]).
    Cartesian,
    /// Of states that differ in the names of threads, one is explored ([`machine::Symmetric`]).
    Symmetry,
    /// Going ahead, names, and few who act.
    All,
    /// Nothing is left out where states are few; otherwise searches are reduced by going ahead and by names, and if
    /// they are still large, by all there is if that leaves few states.
    #[default]
    Auto,
}

impl Reduction {
    /// All of them, for lists and help: the name, and one line.
    pub const ALL: &'static [(Reduction, &'static str, &'static str)] = &[
        (
            Reduction::Auto,
            "auto",
            "none where states are few; else local and symmetry, or all where that is quicker",
        ),
        (Reduction::None, "none", "all states are explored"),
        (Reduction::Reach, "reach", "states from which nothing can go wrong any more are not left"),
        (Reduction::Local, "local", "threads go ahead where nobody notices, and wait without looking again"),
        (
            Reduction::Persistent,
            "persistent",
            "in every state a few threads and buffers act, if they are enough",
        ),
        (
            Reduction::Dynamic,
            "dynamic",
            "the same, by what threads may still touch with the values they have",
        ),
        (
            Reduction::Cartesian,
            "cartesian",
            "the same, and several steps at once where nobody makes a difference in between",
        ),
        (Reduction::Symmetry, "symmetry", "of states that differ in the names of threads one is explored"),
        (Reduction::All, "all", "local, symmetry, and dynamic or else persistent"),
    ];

    /// The one of this name.
    pub fn named(name: &str) -> Option<Reduction> {
        Reduction::ALL.iter().find(|(_, known, _)| *known == name).map(|(reduction, ..)| *reduction)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        let entry = Reduction::ALL.iter().find(|(reduction, ..)| *reduction == self);
        entry.map_or("", |(_, name, _)| name)
    }
}

/// The names of threads that do not matter to a search.
pub(crate) fn renamings(program: &Program, reduction: Reduction) -> Vec<Renaming> {
    renamings_among(thread_swaps, program, reduction)
}

/// The same, of swaps that are found like this.
pub(crate) fn renamings_among(
    swaps: fn(&Program) -> Vec<Renaming>,
    program: &Program,
    reduction: Reduction,
) -> Vec<Renaming> {
    match reduction {
        Reduction::Symmetry | Reduction::All | Reduction::Auto => usable_renamings(program, swaps(program)),
        _ => Vec::new(),
    }
}

/// What a search leaves out of a program.
#[derive(Clone, Default)]
pub(crate) struct LeftOut {
    pub(crate) rules: Rules,
    pub(crate) renamings: Vec<Renaming>,
}

impl LeftOut {
    /// Where nothing can go wrong from the start, as the program is written, one state is enough.
    pub(crate) fn if_out_of_reach(task: &Task<'_>) -> Option<LeftOut> {
        is_out_of_reach(task.program).then(|| LeftOut::new(task, Reduction::Reach, false))
    }

    /// As far as the program allows it; automatic is what pays for most programs. Dead registers are part of states or not.
    pub(crate) fn new(task: &Task<'_>, reduction: Reduction, dead_registers: bool) -> LeftOut {
        let everything = matches!(reduction, Reduction::All | Reduction::Auto);
        let acting = match reduction {
            Reduction::None | Reduction::Local | Reduction::Symmetry | Reduction::Auto => Acting::Everybody,
            Reduction::Reach => Acting::InReach,
            Reduction::Persistent => Acting::ByText,
            Reduction::Dynamic | Reduction::Cartesian | Reduction::All => Acting::ByValues,
        };
        let mut rules = Rules {
            settled: everything || reduction == Reduction::Local,
            dead_registers,
            ..Rules::default()
        };
        rules.acting = acting.possible(&rules.on(task.machine()));
        rules.runs = reduction == Reduction::Cartesian && rules.acting != Acting::Everybody;
        LeftOut { rules, renamings: renamings(task.program, reduction) }
    }

    /// Going ahead and names, as far as they are asked for.
    pub(crate) fn usual(task: &Task<'_>, reduction: Reduction) -> LeftOut {
        let settled = matches!(reduction, Reduction::Local | Reduction::All | Reduction::Auto);
        let settled = settled && task.program.speaks_of_buffers().is_none();
        let rules = Rules { settled, ..Rules::default() };
        LeftOut { rules, renamings: renamings(task.program, reduction) }
    }

    /// What is used, in a few words, where values are forgotten besides.
    pub(crate) fn method_with_forgetting(&self) -> &'static str {
        match (self.rules.settled, self.renamings.is_empty()) {
            (false, true) => "forgetting",
            (true, true) => "forgetting, local",
            (false, false) => "forgetting, symmetry",
            (true, false) => "forgetting, local, symmetry",
        }
    }

    /// What is used, in a few words; nothing if all states are explored.
    pub(crate) fn method(&self) -> Option<&'static str> {
        use Acting::{ByText, ByValues, Everybody, InReach};
        if self.rules.runs {
            return Some("cartesian");
        }
        Some(match (self.rules.settled, self.rules.acting, self.renamings.is_empty()) {
            (false, Everybody, true) => return None,
            (_, InReach, _) => "reach",
            (true, Everybody, true) => "local",
            (false, ByText, true) => "persistent",
            (true, ByText, true) => "local, persistent",
            (false, ByValues, true) => "dynamic",
            (true, ByValues, true) => "local, dynamic",
            (false, Everybody, false) => "symmetry",
            (true, Everybody, false) => "local, symmetry",
            (false, ByText, false) => "persistent, symmetry",
            (true, ByText, false) => "local, persistent, symmetry",
            (false, ByValues, false) => "dynamic, symmetry",
            (true, ByValues, false) => "local, dynamic, symmetry",
        })
    }

    /// Whether only a few agents act where they are enough.
    pub(crate) fn is_by_few(&self) -> bool {
        self.rules.acting != Acting::Everybody
    }

    /// Whether all states are explored.
    pub(crate) fn is_none(&self) -> bool {
        self.method().is_none()
    }

    /// Does something with the states that are left; `None` if values that are names
    /// do not fit into 64 bits.
    pub(crate) fn on<W: OnDomain>(&self, machine: &Buffered<'_>, work: W) -> Option<W::Done> {
        on_reduced(machine, self.rules, &self.renamings, work)
    }

    /// Those that this process explored of so many, as a part of a proof.
    pub(crate) fn part(self, part: ClosedSet, states: usize, crew: &dyn Crew) -> Certificate {
        let (process, processes) = crew.process();
        let LeftOut { rules, renamings } = self;
        Certificate::Shared(SharedProof { rules, renamings, part, states, process, processes })
    }

    /// The states that were explored and are in files, as a proof.
    pub(crate) fn spilled(self, controls: Controls, parts: Vec<SpilledStates>, budget: usize) -> Certificate {
        let LeftOut { rules, renamings } = self;
        Certificate::Spilled(SpilledProof { rules, renamings, controls, parts, budget })
    }

    /// The states that were explored, as a proof: without the values of some variables, and over concrete values or normal forms.
    pub(crate) fn proof(self, forgotten: Vec<VarId>, gaps: Option<Gaps>, set: ClosedSet) -> Certificate {
        if self.rules.is_none() && self.renamings.is_empty() && forgotten.is_empty() {
            return Certificate::Listed(Listed { gaps, set });
        }
        let LeftOut { rules, renamings } = self;
        Certificate::Reduced(Box::new(ReducedProof { forgotten, gaps, rules, renamings, set }))
    }
}
