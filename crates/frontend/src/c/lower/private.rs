//! Variables that only one thread touches become registers of it.
//!
//! Nobody else can see when such a variable changes, so it need not go through memory: locals whose address
//! is taken, and what main set up for one thread. Claims about the end may speak of a variable, which then stays.

use super::graph::{At, CStep, Graph};
use crate::mend::take_name;
use program::{Expr, Int, Op, RegId, VarId};
use rustc_hash::FxHashMap;
use std::collections::HashSet;

/// A variable that becomes a register: its name, and what it starts with.
pub(super) struct CPrivate {
    pub variable: VarId,
    pub name: String,
    pub initial: Int,
}

/// Makes variables registers of a thread; gives the place where it starts then.
pub(super) fn make_private(graph: &mut Graph, entry: At, variables: Vec<CPrivate>) -> At {
    let mut registers = FxHashMap::default();
    let mut start = Vec::new();
    let mut taken: HashSet<String> = graph.registers.iter().cloned().collect();
    for private in variables {
        let register = RegId::new(graph.registers.len());
        graph.registers.push(take_name(&private.name, &[], &mut taken));
        registers.insert(private.variable, register);
        start.push((register, private.initial));
    }
    for arrow in &mut graph.arrows {
        if let CStep::Op(op) = &mut arrow.step {
            kept_in_registers(op, &registers);
        }
    }
    graph.preset(entry, start)
}

fn kept_in_registers(op: &mut Op, registers: &FxHashMap<VarId, RegId>) {
    let assigned = match op {
        Op::Load(to, variable) => registers.get(variable).map(|from| (*to, Expr::Leaf(*from))),
        Op::Store(variable, value) => registers.get(variable).map(|to| (*to, value.clone())),
        Op::Block { parts, .. } => {
            parts.iter_mut().for_each(|part| kept_in_registers(part, registers));
            None
        }
        _ => None,
    };
    if let Some((to, value)) = assigned {
        *op = Op::Assign(to, value);
    }
}
