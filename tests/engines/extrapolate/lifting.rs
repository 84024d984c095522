//! Lifting against its specification, rule by rule: what the rules say, written down slowly, gives the same
//! sets; and with any one rule broken it gives others, so a bug in that rule would be noticed.

use super::{model, text};
use engine::{Lifting, hinted};
use evidence::symbolic::{Name, Vocabulary};
use logic::{Atom, Linear, Var};
use machine::{Model, Slot};
use program::{Op, Program, Thread, ThreadId, VarId};
use std::collections::BTreeSet;
use support::models;

/// The rules, PSO's and TSO's together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rule {
    /// 1 and 8: lengths from 0 to k, and the overflow.
    Lengths,
    /// 2 and 9: all that was there stays.
    Stays,
    /// 3 and 10: every entry takes the place of its variable.
    Entries,
    /// 4 and 11: neighbours, and memory, are compared.
    Neighbours,
    /// 5 and 12: only who stores has entries.
    Writers,
    /// 6 and 13: one entry for all mentions of a variable.
    Mentions,
    /// 7 and 14: one entry only, where fences stand between stores.
    Fenced,
}

const RULES: [Rule; 7] = [
    Rule::Lengths,
    Rule::Stays,
    Rule::Entries,
    Rule::Neighbours,
    Rule::Writers,
    Rule::Mentions,
    Rule::Fenced,
];

/// What lifting gives.
#[derive(Debug, PartialEq, Eq)]
struct Everything {
    predicates: BTreeSet<Atom>,
    counted: usize,
    cubes: BTreeSet<Vec<Atom>>,
    agreements: BTreeSet<Atom>,
}

fn lifted(program: &Program, model: Model, k: usize, vocabulary: &mut Vocabulary) -> Everything {
    let given = hinted(program, vocabulary);
    let lifting = Lifting::new(program, model, k);
    let predicates = lifting.predicates(&given, vocabulary);
    let mut cube = given.clone();
    cube.sort();
    Everything {
        counted: predicates.counted,
        predicates: predicates.predicates.into_iter().collect(),
        cubes: lifting.cubes(&BTreeSet::from([cube]), vocabulary),
        agreements: lifting.agreements(vocabulary).into_iter().collect(),
    }
}

/// Where each variable is read from: an entry, or memory.
type Readings = Vec<(Var, Option<Var>)>;

/// The rules as they are written, with one of them broken.
struct Specified<'a> {
    program: &'a Program,
    k: u32,
    broken: Option<Rule>,
}

impl Specified<'_> {
    fn holds(&self, rule: Rule) -> bool {
        self.broken != Some(rule)
    }

    fn stores(&self, thread: &Thread, variable: VarId) -> bool {
        thread.edges().iter().any(|edge| matches!(edge.op, Op::Store(stored, _) if stored == variable))
    }

    fn writers(&self, variable: VarId) -> Vec<ThreadId> {
        let all = self.program.thread_ids();
        let writes = |t: &ThreadId| self.stores(self.program.thread(*t), variable);
        all.filter(|t| !self.holds(Rule::Writers) || writes(t)).collect()
    }

    fn entries(&self) -> u32 {
        if self.holds(Rule::Entries) { self.k } else { 1 }
    }

    /// Ways to read an atom: each variable from memory or from an entry; with the entries used.
    fn readings(&self, atom: &Atom, vocabulary: &mut Vocabulary) -> Vec<(Atom, Vec<(Var, Var)>)> {
        let mut readings = vec![(atom.clone(), Vec::new())];
        for var in atom.vars().collect::<Vec<_>>() {
            let Some(Name::Slot(Slot::Memory(variable))) = vocabulary.name(var) else { continue };
            for (reading, used) in readings.clone() {
                for thread in self.writers(variable) {
                    for entry in 0..self.entries() {
                        let queued = vocabulary.slot(Slot::Queued(thread, variable, entry));
                        let reading = reading.substitute(var, &Linear::from(queued));
                        readings.push((reading, [used.as_slice(), &[(var, queued)]].concat()));
                    }
                }
            }
        }
        let one = self.holds(Rule::Fenced) && self.program.threads.iter().all(all_fenced);
        readings.retain(|(_, used)| !one || used.len() <= 1);
        readings
    }

    fn everything(&self, model: Model, vocabulary: &mut Vocabulary) -> Everything {
        let given = hinted(self.program, vocabulary);
        let mut predicates = BTreeSet::new();
        for atom in &given {
            predicates.extend(self.readings(atom, vocabulary).into_iter().map(|(reading, _)| reading));
        }
        let lifts: BTreeSet<Atom> = predicates.iter().filter(|atom| !given.contains(atom)).cloned().collect();
        if !self.holds(Rule::Stays) {
            predicates = lifts.clone();
        }
        let stored: usize = self.program.variable_ids().map(|v| self.writers(v).len()).sum();
        let k = self.k as usize;
        let lengths = k + usize::from(self.holds(Rule::Lengths));
        let counted = given.len()
            + 1
            + match model.name() {
                "pso" => stored * lengths + lifts.len(),
                _ => self.program.threads.len() * lengths + k * stored + places(&lifts, vocabulary),
            };
        Everything {
            predicates,
            counted,
            cubes: self.cubes(&given, vocabulary),
            agreements: self.agreements(vocabulary),
        }
    }

    /// All cubes of readings that agree about every variable.
    fn cubes(&self, given: &[Atom], vocabulary: &mut Vocabulary) -> BTreeSet<Vec<Atom>> {
        let mut all: Vec<(Vec<Atom>, Readings)> = vec![(Vec::new(), Vec::new())];
        for atom in given {
            let readings = self.readings(atom, vocabulary);
            let mut next = Vec::new();
            for (cube, chosen) in &all {
                for (reading, used) in &readings {
                    let of = |var: Var| used.iter().find(|(from, _)| *from == var).map(|(_, to)| *to);
                    let mine: Readings = atom.vars().map(|var| (var, of(var))).collect();
                    let differs = |(var, to): &(Var, Option<Var>)| {
                        chosen.iter().any(|(other, before)| other == var && before != to)
                    };
                    if self.holds(Rule::Mentions) && mine.iter().any(differs) {
                        continue;
                    }
                    let chosen = [chosen.as_slice(), &mine].concat();
                    next.push(([cube.as_slice(), std::slice::from_ref(reading)].concat(), chosen));
                }
            }
            all = next;
        }
        let one = self.holds(Rule::Fenced) && self.program.threads.iter().all(all_fenced);
        let entries = |chosen: &[(Var, Option<Var>)]| {
            chosen.iter().filter_map(|(_, to)| *to).collect::<BTreeSet<Var>>().len()
        };
        let sorted = |mut cube: Vec<Atom>| {
            cube.sort();
            cube
        };
        all.into_iter()
            .filter(|(_, chosen)| !one || entries(chosen) <= 1)
            .map(|(cube, _)| sorted(cube))
            .collect()
    }

    fn agreements(&self, vocabulary: &mut Vocabulary) -> BTreeSet<Atom> {
        let mut found = BTreeSet::new();
        for variable in self.program.variable_ids() {
            for thread in self.writers(variable) {
                for entry in 0..self.k {
                    let queued = vocabulary.slot(Slot::Queued(thread, variable, entry));
                    found.insert(Atom::eq(queued, vocabulary.slot(Slot::Memory(variable))));
                    if entry > 0 && self.holds(Rule::Neighbours) {
                        found.insert(Atom::eq(
                            vocabulary.slot(Slot::Queued(thread, variable, entry - 1)),
                            queued,
                        ));
                    }
                }
            }
        }
        found
    }
}

/// Predicates that differ only in the variable that an entry is for are one under TSO.
fn places(lifts: &BTreeSet<Atom>, vocabulary: &mut Vocabulary) -> usize {
    let nameless = |atom: &Atom, vocabulary: &mut Vocabulary| {
        atom.substitute_all(|var| match vocabulary.name(var) {
            Some(Name::Slot(Slot::Queued(thread, _, entry))) => {
                Some(Linear::from(vocabulary.slot(Slot::Last(thread, VarId::new(entry as usize)))))
            }
            _ => None,
        })
    };
    lifts.iter().map(|atom| nameless(atom, vocabulary)).collect::<BTreeSet<_>>().len()
}

/// Whether a full fence stands behind every store of a thread without branches.
fn all_fenced(thread: &Thread) -> bool {
    let waits = |loc| thread.outgoing(loc).all(|(_, edge)| edge.op.waits());
    thread.edges().iter().filter(|edge| matches!(edge.op, Op::Store(..))).all(|store| waits(store.to))
}

const PROGRAMS: &[&str] = &[
    "shared x, y; thread P { let a; x = 1; y = 2; a = x; } thread Q { let b; y = 1; b = y; } \
     predicates { x == 0; x < y; x + P.a <= 3; y == 0; }",
    "shared x, y, z; thread P { x = 1; fence; y = 2; fence; } thread Q { let c; y = 1; fence; c = z; } \
     predicates { x == y; y <= z; Q.c == 1; }",
    "shared x; thread P { x = 1; } thread Q { x = 2; } predicates { x == 1; x == 2; }",
];

#[test]
fn lifting_is_as_the_rules_say() {
    let mut noticed = BTreeSet::new();
    for source in PROGRAMS {
        let program = text(source);
        for on in models::buffered() {
            for k in 1..=3 {
                let mut vocabulary = Vocabulary::default();
                let ours = lifted(&program, model(on), k, &mut vocabulary);
                let mut specified = |broken| {
                    let specified = Specified { program: &program, k: k as u32, broken };
                    specified.everything(model(on), &mut vocabulary)
                };
                assert_eq!(ours, specified(None), "{source} {on} {k}");
                for (at, rule) in RULES.iter().enumerate() {
                    if specified(Some(*rule)) != ours {
                        noticed.insert(at);
                    }
                }
            }
        }
    }
    let unnoticed: Vec<Rule> =
        RULES.iter().enumerate().filter(|(at, _)| !noticed.contains(at)).map(|(_, rule)| *rule).collect();
    assert_eq!(unnoticed, [], "a bug in these would not be noticed");
}

/// The numbers of Tables 1 and 2: predicates under SC, PSO and TSO with buffers of one store.
#[test]
fn the_published_counts_come_out() {
    let flags = "shared flag[2], turn; thread P(i in 0..2) { let f, t; flag[i] = 1; turn = 1 - i; f = flag[1 - i]; \
                 t = turn; } predicates { flag[0] == 0; flag[1] == 0; turn == 0; P0.f == 0; P1.f == 0; P0.t == 0; \
                 P1.t == 0; }";
    let bits = "shared Msg, Ack; thread S { let s, a, n; Msg = s; a = Ack; } thread R { let r, m, n; Ack = r; m = Msg; } \
                predicates { Msg == 0; Ack == 0; S.s == 0; S.a == 0; R.m == 0; R.r == 0; R.n == S.n; \
                R.n + 1 == S.n; }";
    let values = |of: &str| (0..5).map(|v| format!("{of} == {v}; ")).collect::<String>();
    let five = format!(
        "shared flag[2]; thread P(i in 0..2) {{ let f; flag[i] = 1; f = flag[1 - i]; }} predicates {{ {} {} {} {} }}",
        values("flag[0]"),
        values("flag[1]"),
        values("P0.f"),
        values("P1.f")
    );
    let tickets = "shared choosing[2], number[2]; thread P(i in 0..2) { let mine, theirs; choosing[i] = 1; \
                   number[i] = mine; theirs = number[1 - i]; } predicates { choosing[0] == 0; choosing[1] == 0; \
                   number[0] == 0; number[1] == 0; number[0] <= P0.mine; number[0] <= P1.mine; \
                   number[0] <= P0.theirs; number[0] <= P1.theirs; number[0] < P1.theirs; number[1] <= P0.mine; \
                   number[1] <= P1.mine; number[1] <= P0.theirs; number[1] <= P1.theirs; number[1] < P0.theirs; \
                   P0.mine <= P1.mine; }";
    let of = |source: &str, on: &str| {
        let program = text(source);
        let mut vocabulary = Vocabulary::default();
        let given = hinted(&program, &mut vocabulary);
        Lifting::new(&program, model(on), 1).predicates(&given, &mut vocabulary).counted
    };
    for (source, expected) in
        [(flags, [7, 20, 18]), (bits, [8, 15, 17]), (five.as_str(), [20, 35, 37]), (tickets, [15, 38, 36])]
    {
        assert_eq!(["sc", "pso", "tso"].map(|on| of(source, on)), expected, "{source}");
    }
}
