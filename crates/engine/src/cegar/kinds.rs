//! Kinds of slots: those whose values flow into each other.
//!
//! A predicate learned about one slot is worth asking about every slot that can hold the same
//! value: a store carries it from a register into the buffer, a drain into memory, a load into
//! another register. Elements of one array and equally named registers of different threads
//! are of one kind as well: what is true in one thread's role usually matters in another's.

use machine::{Forgotten, Recall, Slot};
use program::{Expr, Liveness, Op, Program, RegId, ThreadId, VarId};
use std::collections::HashMap;

/// All slots of a program under an abstraction, by kind.
pub(super) struct Kinds {
    parents: Vec<usize>,
    /// Where the registers of each thread begin.
    registers: Vec<usize>,
    slots: Vec<Vec<Slot>>,
}

impl Kinds {
    /// The kinds of these slots of a program.
    pub(super) fn new(program: &Program, slots: &[Slot]) -> Kinds {
        let variables = program.variables.len();
        let mut registers = Vec::new();
        let mut count = variables;
        for thread in &program.threads {
            registers.push(count);
            count += thread.registers.len();
        }
        let mut kinds = Kinds { parents: (0..count).collect(), registers, slots: Vec::new() };
        kinds.join_names(program);
        for (thread, automaton) in program.thread_ids().zip(&program.threads) {
            for edge in automaton.edges() {
                edge.op.for_each_part(&mut |op| kinds.join_flow(thread, op));
            }
        }
        kinds.slots = vec![Vec::new(); count];
        for slot in slots {
            let kind = kinds.of(*slot);
            kinds.slots[kind].push(*slot);
        }
        kinds
    }

    /// The kind of a slot.
    pub(super) fn of(&self, slot: Slot) -> usize {
        let mut at = self.cell(slot);
        while self.parents[at] != at {
            at = self.parents[at];
        }
        at
    }

    /// The slots of a kind.
    pub(super) fn slots(&self, kind: usize) -> &[Slot] {
        &self.slots[kind]
    }

    fn cell(&self, slot: Slot) -> usize {
        match slot {
            Slot::Memory(v)
            | Slot::Queued(_, v, _)
            | Slot::Last(_, v)
            | Slot::Pool(_, v)
            | Slot::Newer(_, v) => v.index(),
            Slot::Register(thread, register) => self.registers[thread.index()] + register.index(),
        }
    }

    fn join(&mut self, a: Slot, b: Slot) {
        let (a, b) = (self.of(a), self.of(b));
        self.parents[a.max(b)] = a.min(b);
    }

    fn join_names(&mut self, program: &Program) {
        let mut first: HashMap<&str, Slot> = HashMap::new();
        for variable in program.variable_ids() {
            let name = program.variable(variable).name.as_str();
            let stem = name.split('[').next().unwrap_or(name);
            let other = *first.entry(stem).or_insert(Slot::Memory(variable));
            self.join(Slot::Memory(variable), other);
        }
        let mut first: HashMap<&str, Slot> = HashMap::new();
        for (thread, automaton) in program.thread_ids().zip(&program.threads) {
            for (register, name) in automaton.registers.iter().enumerate() {
                let slot = Slot::Register(thread, RegId::new(register));
                let other = *first.entry(name).or_insert(slot);
                self.join(slot, other);
            }
        }
    }

    fn join_flow(&mut self, thread: ThreadId, op: &Op) {
        let register = |r: RegId| Slot::Register(thread, r);
        match op {
            Op::Load(r, variable) => self.join(register(*r), Slot::Memory(*variable)),
            Op::Store(variable, value) => self.join_leaves(thread, Slot::Memory(*variable), value),
            Op::Assign(r, value) => self.join_leaves(thread, register(*r), value),
            _ => {}
        }
    }

    fn join_leaves(&mut self, thread: ThreadId, to: Slot, value: &Expr<RegId>) {
        value.for_each_leaf(&mut |r| self.join(to, Slot::Register(thread, *r)));
    }
}

/// Every slot that may exist when threads buffer (or not) and keep this much.
pub(super) fn recalled_slots(program: &Program, recall: Recall, buffers: bool) -> Vec<Slot> {
    let kept = u32::try_from(recall.k).unwrap_or(u32::MAX);
    all_slots(program, &|thread, variable| {
        if !buffers {
            return Vec::new();
        }
        let kept = (0..kept).map(|entry| Slot::Queued(thread, variable, entry));
        let newer = (recall.forgotten == Forgotten::Pairs).then_some(Slot::Newer(thread, variable));
        kept.chain([Slot::Last(thread, variable), Slot::Pool(thread, variable)]).chain(newer).collect()
    })
}

/// Every slot that may exist where nothing is buffered.
pub(crate) fn unbuffered_slots(program: &Program) -> Vec<Slot> {
    all_slots(program, &|_, _| Vec::new())
}

/// Every slot that may exist where a thread's stores to a variable may have these.
pub(crate) fn all_slots(program: &Program, buffered: &dyn Fn(ThreadId, VarId) -> Vec<Slot>) -> Vec<Slot> {
    let mut slots: Vec<Slot> = program.variable_ids().map(Slot::Memory).collect();
    for (thread, automaton) in program.thread_ids().zip(&program.threads) {
        slots.extend((0..automaton.registers.len()).map(|r| Slot::Register(thread, RegId::new(r))));
        let mut stored: Vec<VarId> = Vec::new();
        for edge in automaton.edges() {
            if let Op::Store(variable, _) = &edge.op {
                stored.push(*variable);
            }
        }
        stored.sort();
        stored.dedup();
        slots.extend(stored.into_iter().flat_map(|variable| buffered(thread, variable)));
    }
    slots
}

/// Whether two slots can exist at the same time: registers of a thread only where both are live.
pub(super) struct Together {
    /// By thread and register: at which locations it is live.
    live: Vec<Vec<Vec<bool>>>,
}

impl Together {
    /// Looks at where registers are live.
    pub(super) fn new(program: &Program) -> Together {
        let liveness = Liveness::of(program);
        let of = |thread: ThreadId| {
            let automaton = program.thread(thread);
            let at =
                |r| automaton.locs().map(|loc| liveness.at(thread, loc).contains(&RegId::new(r))).collect();
            (0..automaton.registers.len()).map(at).collect()
        };
        Together { live: program.thread_ids().map(of).collect() }
    }

    /// Whether all of them can, and it makes sense: a newer store is one only beside that of the pool.
    pub(super) fn all(&self, slots: &[Slot]) -> bool {
        let alone = |slot: &Slot| matches!(*slot, Slot::Newer(t, v) if !slots.contains(&Slot::Pool(t, v)));
        if slots.iter().any(alone) {
            return false;
        }
        let register = |slot: &Slot| match slot {
            Slot::Register(t, r) => Some((*t, self.live[t.index()].get(r.index())?)),
            _ => None,
        };
        let registers: Vec<_> = slots.iter().filter_map(register).collect();
        registers.iter().enumerate().all(|(at, (t, live))| {
            let same = registers[at..].iter().filter(|(other, _)| other == t);
            same.clone().all(|(_, other)| live.iter().zip(other.iter()).any(|(a, b)| *a && *b))
        })
    }
}
