//! Which places hold values of one kind: what is copied from one to the other, or compared. Values of a kind may be
//! names if nothing is ever computed with them.
//!
//! A register may hold one kind here and another there, so it counts as a place for itself at every location where
//! it is live.

use crate::{Cond, Edge, Expr, Int, Liveness, Loc, Op, Place, Program, RegId, Relation, ThreadId, VarId};
use std::collections::{BTreeMap, HashMap};

/// The kinds of a program's values.
pub(super) struct ValueKinds {
    /// Places, by number: another one of the same kind, in the end the first.
    same: Vec<usize>,
    /// By kind: whether something is computed with its values.
    computed: Vec<bool>,
    /// The numbers of registers; variables come first.
    registers: HashMap<(ThreadId, Loc, RegId), usize>,
    live: Liveness,
}

/// An operation without names: variables and constants that may be names are taken out, in order.
pub(super) struct Skeleton {
    pub(super) op: Op,
    pub(super) variables: Vec<VarId>,
    /// With their kinds.
    pub(super) constants: Vec<(usize, Int)>,
}

/// What registers hold in the middle of an edge: the number of a place of that kind.
type Held = BTreeMap<RegId, usize>;

/// A register holds a value of this kind from now on, or one of which nothing is known.
fn set(held: &mut Held, register: RegId, place: Option<usize>) {
    match place {
        Some(place) => held.insert(register, place),
        None => held.remove(&register),
    };
}

impl ValueKinds {
    pub(super) fn of(program: &Program) -> ValueKinds {
        let live = Liveness::of(program);
        let mut registers = HashMap::new();
        let mut count = program.variables.len();
        for thread in program.thread_ids() {
            for loc in program.thread(thread).locs() {
                for register in live.at(thread, loc) {
                    registers.insert((thread, loc, *register), count);
                    count += 1;
                }
            }
        }
        let mut kinds =
            ValueKinds { same: (0..count).collect(), computed: vec![false; count], registers, live };
        for thread in program.thread_ids() {
            program.thread(thread).edges().iter().for_each(|edge| kinds.look(thread, edge));
        }
        let claimed = program.properties.iter().map(|property| &property.cond);
        for cond in claimed.chain(program.starts.iter().map(|start| &start.cond)) {
            kinds.look_at_claim(program, cond);
        }
        kinds
    }

    pub(super) fn variable(&self, variable: VarId) -> usize {
        self.root(variable.index())
    }

    /// The kind of a register where it is live.
    pub(super) fn register(&self, thread: ThreadId, loc: Loc, register: RegId) -> Option<usize> {
        self.registers.get(&(thread, loc, register)).map(|at| self.root(*at))
    }

    fn root(&self, mut at: usize) -> usize {
        while self.same[at] != at {
            at = self.same[at];
        }
        at
    }

    fn unite(&mut self, a: usize, b: usize) {
        let (a, b) = (self.root(a), self.root(b));
        let (first, second) = (a.min(b), a.max(b));
        self.computed[first] |= self.computed[second];
        self.same[second] = first;
    }

    fn compute(&mut self, at: usize) {
        let root = self.root(at);
        self.computed[root] = true;
    }

    /// What registers hold before an edge.
    fn held(&self, thread: ThreadId, edge: &Edge) -> Held {
        let live = self.live.at(thread, edge.from).iter();
        live.map(|register| (*register, self.registers[&(thread, edge.from, *register)])).collect()
    }

    fn look(&mut self, thread: ThreadId, edge: &Edge) {
        let mut held = self.held(thread, edge);
        edge.op.parts().iter().for_each(|part| self.look_at_part(thread, edge.to, part, &mut held));
        for register in self.live.at(thread, edge.to).to_vec() {
            let after = self.registers[&(thread, edge.to, register)];
            if let Some(now) = held.get(&register) {
                self.unite(*now, after);
            }
        }
    }

    fn look_at_part(&mut self, thread: ThreadId, to: Loc, part: &Op, held: &mut Held) {
        let after =
            |kinds: &ValueKinds, register: RegId| kinds.registers.get(&(thread, to, register)).copied();
        match part {
            Op::Load(register, variable) => drop(held.insert(*register, variable.index())),
            Op::Havoc(register, _) => {
                if let Some(place) = after(self, *register) {
                    self.compute(place);
                    held.insert(*register, place);
                }
            }
            Op::Assign(register, Expr::Leaf(from)) => set(held, *register, held.get(from).copied()),
            Op::Assign(register, value) => {
                let computes = matches!(value, Expr::Binary(..));
                value.for_each_leaf(&mut |leaf| held.get(leaf).into_iter().for_each(|at| self.compute(*at)));
                let place = after(self, *register);
                set(held, *register, place);
                place.filter(|_| computes).into_iter().for_each(|place| self.compute(place));
            }
            Op::Store(variable, Expr::Leaf(from)) => {
                if let Some(place) = held.get(from) {
                    self.unite(*place, variable.index());
                }
            }
            Op::Store(variable, value) => {
                if matches!(value, Expr::Binary(..)) {
                    self.compute(variable.index());
                }
                value.for_each_leaf(&mut |leaf| held.get(leaf).into_iter().for_each(|at| self.compute(*at)));
            }
            Op::Assume(cond) => self.compare(cond, &|register: &RegId| held.get(register).copied()),
            _ => {}
        }
    }

    fn look_at_claim(&mut self, program: &Program, cond: &Cond<Place>) {
        // A register that a claim is about is one place wherever it is.
        cond.for_each_leaf(&mut |place| {
            if let Place::Register(thread, register) = *place {
                let first = self.registers[&(thread, program.thread(thread).entry(), register)];
                for loc in program.thread(thread).locs() {
                    self.unite(first, self.registers[&(thread, loc, register)]);
                }
            }
        });
        let numbers = self.registers.clone();
        self.compare(cond, &|place: &Place| match *place {
            Place::Memory(variable) => Some(variable.index()),
            Place::Register(thread, register) => {
                numbers.get(&(thread, program.thread(thread).entry(), register)).copied()
            }
            Place::At(..) | Place::Drained(_) => None,
        });
    }

    fn compare<L>(&mut self, cond: &Cond<L>, at: &dyn Fn(&L) -> Option<usize>) {
        match cond {
            Cond::Const(_) => {}
            Cond::And(parts) | Cond::Or(parts) => parts.iter().for_each(|part| self.compare(part, at)),
            Cond::Compare(Relation::Eq | Relation::Ne, Expr::Leaf(a), Expr::Leaf(b)) => {
                if let (Some(a), Some(b)) = (at(a), at(b)) {
                    self.unite(a, b);
                }
            }
            // A name may be within bounds, as an index is.
            Cond::Compare(_, Expr::Leaf(_), Expr::Const(_))
            | Cond::Compare(Relation::Eq | Relation::Ne, Expr::Const(_), Expr::Leaf(_)) => {}
            Cond::Compare(_, a, b) => {
                for side in [a, b] {
                    side.for_each_leaf(&mut |leaf| at(leaf).into_iter().for_each(|at| self.compute(at)));
                }
            }
        }
    }

    /// What an edge does, without names.
    pub(super) fn skeleton(&self, thread: ThreadId, edge: &Edge) -> Skeleton {
        let mut skeleton = Skeleton { op: Op::Skip, variables: Vec::new(), constants: Vec::new() };
        let mut held = self.held(thread, edge);
        skeleton.op = self.stripped(thread, edge.to, &edge.op, &mut held, &mut skeleton);
        skeleton
    }

    fn stripped(&self, thread: ThreadId, to: Loc, op: &Op, held: &mut Held, out: &mut Skeleton) -> Op {
        let nobody = VarId::new(0);
        match op {
            Op::Load(register, variable) => {
                held.insert(*register, variable.index());
                out.variables.push(*variable);
                Op::Load(*register, nobody)
            }
            Op::Store(variable, value) => {
                out.variables.push(*variable);
                Op::Store(nobody, self.stripped_value(Some(variable.index()), value, out))
            }
            Op::Assign(register, value) => {
                let place = match value {
                    Expr::Leaf(from) => held.get(from).copied(),
                    _ => self.registers.get(&(thread, to, *register)).copied(),
                };
                set(held, *register, place);
                Op::Assign(*register, self.stripped_value(place, value, out))
            }
            Op::Assume(cond) => Op::Assume(self.stripped_cond(cond, held, out)),
            Op::Block { locked, parts } => {
                let parts = parts.iter().map(|part| self.stripped(thread, to, part, held, out)).collect();
                Op::Block { locked: *locked, parts }
            }
            other => other.clone(),
        }
    }

    fn stripped_value(&self, place: Option<usize>, value: &Expr<RegId>, out: &mut Skeleton) -> Expr<RegId> {
        match (value, place.map(|place| self.root(place))) {
            (Expr::Const(constant), Some(kind)) if !self.computed[kind] => {
                out.constants.push((kind, constant.clone()));
                Expr::from(0)
            }
            _ => value.clone(),
        }
    }

    fn stripped_cond(&self, cond: &Cond<RegId>, held: &Held, out: &mut Skeleton) -> Cond<RegId> {
        let mut all =
            |parts: &[Cond<RegId>]| parts.iter().map(|part| self.stripped_cond(part, held, out)).collect();
        match cond {
            Cond::And(parts) => Cond::And(all(parts)),
            Cond::Or(parts) => Cond::Or(all(parts)),
            Cond::Compare(relation @ (Relation::Eq | Relation::Ne), Expr::Leaf(register), value) => {
                let value = self.stripped_value(held.get(register).copied(), value, out);
                Cond::Compare(*relation, Expr::Leaf(*register), value)
            }
            other => other.clone(),
        }
    }
}
