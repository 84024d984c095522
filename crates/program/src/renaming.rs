//! Renamings of threads that change nothing: automorphisms of a program.
//!
//! A renaming takes every thread to a thread, its locations to locations of that one, and every
//! variable to a variable; registers keep their numbers. Values of some variables and registers are names,
//! too (the number of a thread in `turn`), and are renamed by a permutation of finitely many numbers.
//! [`Renaming::preserves`] asks whether the program that is meant is the same afterwards: every
//! edge is again an edge, what is initial stays so, and the claims are the same claims. Then
//! whatever a run does, the renamed run does under the new names, under every memory model. Who only follows steps and looks for violations
//! need not ask what is initial ([`Renaming::preserves_steps`]).
//!
//! Renamed values must only be copied and compared for equality, with constants that are renamed along or with
//! values that are renamed alike; compared with a bound, all must be on one side of it. What a register holds may be a name at one place and a number at another, so
//! how its values are renamed is said for every location at which it is live. Registers start at
//! 0, so one whose 0 is renamed must not be read before it is written.

use crate::{
    Cond, Domain, Edge, EdgeId, Expr, Int, Liveness, Loc, Op, Place, Program, Property, PropertyKind, RegId,
    Relation, ThreadId, VarId,
};
use num_traits::ToPrimitive;
use std::collections::{BTreeMap, BTreeSet};

/// A permutation of values: what is not named stays.
pub type ValueNames = BTreeMap<Int, Int>;

/// New names for what a program has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Renaming {
    /// By thread: its new name, and those of its locations.
    pub threads: Vec<(ThreadId, Vec<Loc>)>,
    /// By variable.
    pub variables: Vec<VarId>,
    /// How the values of each variable are renamed.
    pub in_memory: Vec<ValueNames>,
    /// How those of registers are: by thread and location, for registers whose values are.
    pub in_registers: Vec<Vec<RegisterNames>>,
}

/// How the values of registers are renamed; those of others are not.
pub type RegisterNames = BTreeMap<RegId, ValueNames>;

static PLAIN: ValueNames = ValueNames::new();

/// A range of initial values is looked at value by value if it is not wider than this.
const WIDEST: i64 = 4096;

impl Renaming {
    /// The one that changes no name.
    pub fn identity(program: &Program) -> Renaming {
        Renaming {
            threads: program.thread_ids().map(|t| (t, program.thread(t).locs().collect())).collect(),
            variables: program.variable_ids().collect(),
            in_memory: vec![ValueNames::new(); program.variables.len()],
            in_registers: program
                .threads
                .iter()
                .map(|t| vec![RegisterNames::new(); t.locs().count()])
                .collect(),
        }
    }

    /// A thread's new name.
    pub fn thread(&self, thread: ThreadId) -> ThreadId {
        self.threads[thread.index()].0
    }

    /// The new name of a thread's location.
    pub fn location(&self, thread: ThreadId, loc: Loc) -> Loc {
        self.threads[thread.index()].1[loc.index()]
    }

    /// A variable's new name.
    pub fn variable(&self, variable: VarId) -> VarId {
        self.variables[variable.index()]
    }

    /// How the values of a thread's register are renamed at a location.
    pub fn register(&self, thread: ThreadId, loc: Loc, register: RegId) -> &ValueNames {
        self.in_registers[thread.index()][loc.index()].get(&register).unwrap_or(&PLAIN)
    }

    /// Whether no values are renamed: threads, locations and variables are.
    pub fn keeps_values(&self) -> bool {
        let registers = self.in_registers.iter().flatten().flat_map(BTreeMap::values);
        self.in_memory.iter().chain(registers).all(ValueNames::is_empty)
    }

    /// This renaming, and another one after it.
    pub fn then(&self, next: &Renaming) -> Renaming {
        let thread = |(thread, locs): &(ThreadId, Vec<Loc>)| {
            let locs = locs.iter().map(|loc| next.location(*thread, *loc)).collect();
            (next.thread(*thread), locs)
        };
        let memory = self.in_memory.iter().zip(&self.variables);
        let here = |thread: usize, loc: usize| {
            let (first, (new, locs)) = (&self.in_registers[thread][loc], &self.threads[thread]);
            let second = &next.in_registers[new.index()][locs[loc].index()];
            let named: BTreeSet<&RegId> = first.keys().chain(second.keys()).collect();
            let names = |register: &RegId| {
                let names = [first, second].map(|names| names.get(register).unwrap_or(&PLAIN));
                (*register, both(names[0], names[1]))
            };
            named.into_iter().map(names).filter(|(_, names)| !names.is_empty()).collect()
        };
        let thread_registers =
            |thread: usize| (0..self.in_registers[thread].len()).map(|loc| here(thread, loc)).collect();
        Renaming {
            threads: self.threads.iter().map(thread).collect(),
            variables: self.variables.iter().map(|v| next.variable(*v)).collect(),
            in_memory: memory.map(|(names, v)| both(names, &next.in_memory[v.index()])).collect(),
            in_registers: (0..self.threads.len()).map(thread_registers).collect(),
        }
    }

    /// Whether the program is the same under the new names, except for what variables start with.
    pub fn preserves_steps(&self, program: &Program) -> bool {
        let live = Liveness::of(program);
        self.fits(program)
            && program.question.is_none()
            && program.thread_ids().all(|thread| self.keeps_thread(program, &live, thread))
            && self.keeps_registers(program, &live)
            && self.keeps_claims(program)
    }

    /// Whether the program is the same under the new names.
    pub fn preserves(&self, program: &Program) -> bool {
        // Conditions on initial values are kept like claims.
        let starts = program.starts.iter().map(|start| (None, &start.cond)).collect::<Vec<_>>();
        self.preserves_steps(program)
            && self.keeps_conditions(&starts)
            && program.variable_ids().all(|v| {
                let (before, after) =
                    (&program.variable(v).initial, &program.variable(self.variable(v)).initial);
                same_values(before, after, &self.in_memory[v.index()])
            })
    }

    /// Whether everything has a new name of its own.
    fn fits(&self, program: &Program) -> bool {
        let threads: BTreeSet<ThreadId> = self.threads.iter().map(|(thread, _)| *thread).collect();
        let variables: BTreeSet<VarId> = self.variables.iter().copied().collect();
        let counts = self.threads.len() == program.threads.len()
            && self.variables.len() == program.variables.len()
            && self.in_memory.len() == program.variables.len()
            && self.in_registers.len() == program.threads.len();
        counts
            && threads.into_iter().eq(program.thread_ids())
            && variables.into_iter().eq(program.variable_ids())
            && program.thread_ids().all(|t| {
                let (from, to) = (program.thread(t), program.thread(self.thread(t)));
                let locs: BTreeSet<Loc> = self.threads[t.index()].1.iter().copied().collect();
                self.threads[t.index()].1.len() == from.locs().count()
                    && locs.into_iter().eq(to.locs())
                    && from.registers.len() == to.registers.len()
                    && self.in_registers[t.index()].len() == from.locs().count()
            })
            && self.in_memory.iter().all(is_permutation)
            && self.in_registers.iter().flatten().flat_map(BTreeMap::values).all(is_permutation)
    }

    fn keeps_thread(&self, program: &Program, live: &Liveness, thread: ThreadId) -> bool {
        let (from, to) = (program.thread(thread), program.thread(self.thread(thread)));
        let same_place = |loc: Loc| {
            let new = self.location(thread, loc);
            from.location(loc).failure.is_some() == to.location(new).failure.is_some()
                && from.in_atomic(loc) == to.in_atomic(new)
                && self.keeps_edges(program, live, thread, loc)
        };
        self.location(thread, from.entry()) == to.entry() && from.locs().all(same_place)
    }

    /// Whether the edges from a location are those from its new name.
    fn keeps_edges(&self, program: &Program, live: &Liveness, thread: ThreadId, loc: Loc) -> bool {
        let new = program.thread(self.thread(thread)).outgoing(self.location(thread, loc));
        let new = new.map(|(_, edge)| (sorted_op(edge.op.clone()), edge.to)).collect();
        let renamed =
            |edge: &Edge| Some((self.renamed_op(live, thread, edge)?, self.location(thread, edge.to)));
        in_some_order(program.thread(thread).outgoing(loc).map(|(_, edge)| renamed(edge)), new)
    }

    /// The edge that a thread's edge becomes.
    pub fn edge(&self, program: &Program, thread: ThreadId, edge: EdgeId) -> Option<EdgeId> {
        self.edge_among(program, &Liveness::of(program), thread, edge)
    }

    /// The edges that all edges of a thread become.
    pub fn edges(&self, program: &Program, thread: ThreadId) -> Option<Vec<EdgeId>> {
        let live = Liveness::of(program);
        let edges = (0..program.thread(thread).edges().len()).map(EdgeId::new);
        edges.map(|edge| self.edge_among(program, &live, thread, edge)).collect()
    }

    fn edge_among(
        &self,
        program: &Program,
        live: &Liveness,
        thread: ThreadId,
        edge: EdgeId,
    ) -> Option<EdgeId> {
        let edge = program.thread(thread).edge(edge);
        let op = self.renamed_op(live, thread, edge)?;
        let (from, to) = (self.location(thread, edge.from), self.location(thread, edge.to));
        let mut new = program.thread(self.thread(thread)).outgoing(from);
        new.find(|(_, other)| other.to == to && sorted_op(other.op.clone()) == op).map(|(id, _)| id)
    }

    /// What an edge of a thread does under the new names; `None` if it does more with renamed values than they
    /// allow, or if values are not renamed alike before and after it.
    fn renamed_op(&self, live: &Liveness, thread: ThreadId, edge: &Edge) -> Option<Op> {
        let now = self.in_registers[thread.index()][edge.from.index()].clone();
        let mut renaming = EdgeRenaming { renaming: self, thread, to: edge.to, now };
        let op = renaming.op(&edge.op)?;
        let alike = |register: &RegId| renaming.names(*register) == self.register(thread, edge.to, *register);
        live.at(thread, edge.to).iter().all(alike).then(|| sorted_op(op))
    }

    /// Whether no register is read before it is written whose 0 is renamed.
    fn keeps_registers(&self, program: &Program, live: &Liveness) -> bool {
        program.thread_ids().all(|thread| {
            let entry = program.thread(thread).entry();
            let keeps_0 =
                |register: &RegId| !self.register(thread, entry, *register).contains_key(&Int::ZERO);
            live.at(thread, entry).iter().all(keeps_0)
        })
    }

    /// The claim that a claim becomes.
    pub fn property(&self, program: &Program, at: usize) -> Option<usize> {
        let property = program.properties.get(at)?;
        let cond = sorted(renamed_cond(&property.cond, &|place: &Place| self.place(place))?);
        let same = |other: &Property| other.kind == property.kind && sorted(other.cond.clone()) == cond;
        program.properties.iter().position(same)
    }

    fn keeps_claims(&self, program: &Program) -> bool {
        let alike = |place: &Place| match *place {
            Place::Register(thread, register) => {
                let first = self.register(thread, Loc::new(0), register);
                program.thread(thread).locs().all(|loc| self.register(thread, loc, register) == first)
            }
            _ => true,
        };
        let claims = program.properties.iter().map(|property| (Some(property.kind), &property.cond));
        program.observed().iter().all(alike) && self.keeps_conditions(&claims.collect::<Vec<_>>())
    }

    /// Whether these conditions, as a whole, are the same under the new names.
    fn keeps_conditions(&self, all: &[(Option<PropertyKind>, &Cond<Place>)]) -> bool {
        let renamed = all.iter().map(|(kind, cond)| {
            let cond = renamed_cond(cond, &|place: &Place| self.place(place))?;
            Some((*kind, sorted(cond)))
        });
        in_some_order(renamed, all.iter().map(|(kind, cond)| (*kind, sorted((*cond).clone()))).collect())
    }

    /// A place under the new names, and how its values are renamed.
    fn place(&self, place: &Place) -> (Expr<Place>, &ValueNames) {
        match *place {
            Place::At(thread, loc) => {
                (Expr::Leaf(Place::At(self.thread(thread), self.location(thread, loc))), &PLAIN)
            }
            Place::Register(thread, register) => {
                let names = self.register(thread, Loc::new(0), register);
                (Expr::Leaf(Place::Register(self.thread(thread), register)), names)
            }
            Place::Memory(variable) => {
                (Expr::Leaf(Place::Memory(self.variable(variable))), &self.in_memory[variable.index()])
            }
            Place::Drained(thread) => (Expr::Leaf(Place::Drained(self.thread(thread))), &PLAIN),
        }
    }
}

/// What an edge does under new names.
struct EdgeRenaming<'a> {
    renaming: &'a Renaming,
    thread: ThreadId,
    to: Loc,
    /// How the values that registers hold now are renamed.
    now: RegisterNames,
}

impl EdgeRenaming<'_> {
    fn names(&self, register: RegId) -> &ValueNames {
        self.now.get(&register).unwrap_or(&PLAIN)
    }

    /// A register holds something else from now on.
    fn set(&mut self, register: RegId, names: ValueNames) {
        self.now.insert(register, names);
    }

    fn op(&mut self, op: &Op) -> Option<Op> {
        let Renaming { in_memory, .. } = self.renaming;
        Some(match op {
            Op::Skip | Op::Fence(_) | Op::Lock | Op::Unlock => op.clone(),
            Op::Assign(register, value) => {
                let names = match value {
                    Expr::Leaf(from) => self.names(*from).clone(),
                    _ => self.renaming.register(self.thread, self.to, *register).clone(),
                };
                let value = self.value(&names, value)?;
                self.set(*register, names);
                Op::Assign(*register, value)
            }
            Op::Havoc(register, domain) => {
                let names = self.renaming.register(self.thread, self.to, *register).clone();
                same_values(domain, domain, &names).then(|| self.set(*register, names))?;
                op.clone()
            }
            Op::Assume(cond) => {
                Op::Assume(renamed_cond(cond, &|r: &RegId| (Expr::Leaf(*r), self.names(*r)))?)
            }
            Op::Load(register, variable) => {
                self.set(*register, in_memory[variable.index()].clone());
                Op::Load(*register, self.renaming.variable(*variable))
            }
            Op::Store(variable, value) => {
                let value = self.value(&in_memory[variable.index()], value)?;
                Op::Store(self.renaming.variable(*variable), value)
            }
            Op::Block { locked, parts } => {
                let parts = parts.iter().map(|part| self.op(part)).collect::<Option<_>>()?;
                Op::Block { locked: *locked, parts }
            }
        })
    }

    /// What is written to a place whose values are renamed like this.
    fn value(&self, names: &ValueNames, value: &Expr<RegId>) -> Option<Expr<RegId>> {
        match value {
            Expr::Const(value) => Some(Expr::Const(new_value(names, value))),
            Expr::Leaf(register) => (self.names(*register) == names).then(|| value.clone()),
            Expr::Binary(..) => {
                let renamed = value.any_leaf(|register| !self.names(*register).is_empty());
                (names.is_empty() && !renamed).then(|| value.clone())
            }
        }
    }
}

/// Whether all of these exist and are the others, in some order.
fn in_some_order<T: PartialEq>(mut these: impl Iterator<Item = Option<T>>, mut others: Vec<T>) -> bool {
    let found = these.all(|this| {
        let at = this.and_then(|this| others.iter().position(|other| *other == this));
        at.map(|at| others.swap_remove(at)).is_some()
    });
    found && others.is_empty()
}

/// A value under new names.
fn new_value(names: &ValueNames, value: &Int) -> Int {
    names.get(value).unwrap_or(value).clone()
}

/// Two permutations, one after the other.
fn both(first: &ValueNames, second: &ValueNames) -> ValueNames {
    let named: BTreeSet<&Int> = first.keys().chain(second.keys()).collect();
    let pairs = named.into_iter().map(|value| (value.clone(), new_value(second, &new_value(first, value))));
    pairs.filter(|(from, to)| from != to).collect()
}

fn is_permutation(names: &ValueNames) -> bool {
    let images: BTreeSet<&Int> = names.values().collect();
    images.into_iter().eq(names.keys()) && names.iter().all(|(from, to)| from != to)
}

/// Whether a domain's values, renamed, are those of the other.
fn same_values(from: &Domain, to: &Domain, names: &ValueNames) -> bool {
    match from {
        _ if names.is_empty() => from == to,
        Domain::All => *to == Domain::All,
        Domain::Range(low, high) => {
            let (Some(first), Some(last)) = (low.to_i64(), high.to_i64()) else { return false };
            let narrow = last.checked_sub(first).is_some_and(|width| width <= WIDEST);
            let Domain::Range(other_low, other_high) = to else { return false };
            narrow
                && high - low == other_high - other_low
                && (first..=last).all(|value| to.contains(&new_value(names, &Int::from(value))))
        }
    }
}

/// A condition under new names; `None` if it does more with renamed values than compare them for equality.
fn renamed_cond<'a, L: Clone + 'a>(
    cond: &Cond<L>,
    leaf: &impl Fn(&L) -> (Expr<L>, &'a ValueNames),
) -> Option<Cond<L>> {
    let all = |parts: &[Cond<L>]| parts.iter().map(|part| renamed_cond(part, leaf)).collect::<Option<_>>();
    Some(match cond {
        Cond::Const(value) => Cond::Const(*value),
        Cond::And(parts) => Cond::And(all(parts)?),
        Cond::Or(parts) => Cond::Or(all(parts)?),
        Cond::Compare(relation, a, b) => {
            let equality = matches!(relation, Relation::Eq | Relation::Ne);
            let (new_a, new_b) = match (a, b) {
                (Expr::Leaf(l), Expr::Const(value)) if equality => {
                    let (new, names) = leaf(l);
                    (new, Expr::Const(new_value(names, value)))
                }
                (Expr::Const(value), Expr::Leaf(l)) if equality => {
                    let (new, names) = leaf(l);
                    (Expr::Const(new_value(names, value)), new)
                }
                (Expr::Leaf(l), Expr::Leaf(m)) if equality => {
                    let ((l, left), (m, right)) = (leaf(l), leaf(m));
                    (left == right).then_some((l, m))?
                }
                (Expr::Leaf(l), Expr::Const(bound)) => {
                    let (new, names) = leaf(l);
                    keeps_sides(*relation, names, bound).then(|| (new, b.clone()))?
                }
                _ => (plain(a, leaf)?, plain(b, leaf)?),
            };
            Cond::Compare(*relation, new_a, new_b)
        }
    })
}

/// Whether renamed values stay on their side of a bound.
fn keeps_sides(relation: Relation, names: &ValueNames, bound: &Int) -> bool {
    names.iter().all(|(from, to)| relation.holds(from, bound) == relation.holds(to, bound))
}

/// An expression under new names, if it computes with no renamed values.
fn plain<'a, L: Clone + 'a>(
    value: &Expr<L>,
    leaf: &impl Fn(&L) -> (Expr<L>, &'a ValueNames),
) -> Option<Expr<L>> {
    let mut all_plain = true;
    let new = value.map(&mut |l| {
        let (new, names) = leaf(l);
        all_plain &= names.is_empty();
        new
    });
    all_plain.then_some(new)
}

/// Conditions that differ in the order of their parts only become the same.
fn sorted<L: Clone + std::fmt::Debug>(cond: Cond<L>) -> Cond<L> {
    let parts = |parts: Vec<Cond<L>>| {
        let mut parts: Vec<Cond<L>> = parts.into_iter().map(sorted).collect();
        parts.sort_by_cached_key(|part| format!("{part:?}"));
        parts
    };
    match cond {
        Cond::And(all) => Cond::And(parts(all)),
        Cond::Or(all) => Cond::Or(parts(all)),
        Cond::Compare(relation @ (Relation::Eq | Relation::Ne), a, b) => {
            let swapped = format!("{b:?}") < format!("{a:?}");
            let (a, b) = if swapped { (b, a) } else { (a, b) };
            Cond::Compare(relation, a, b)
        }
        other => other,
    }
}

fn sorted_op(op: Op) -> Op {
    match op {
        Op::Assume(cond) => Op::Assume(sorted(cond)),
        other => other,
    }
}
