//! Certificates as SMT-LIB: obligations that any solver can check, without our code.
//!
//! A certificate claims an invariant: in each control (locations, shapes of buffers, who is in
//! an atomic section) the values satisfy one of the listed descriptions. For a closed set a
//! description is a value for every slot, and where stores are sets, a number whose bits say which values are among
//! them; for a gap set it is an order with gaps. The script
//! states, each between `push` and `pop` and each to be answered `unsat`:
//!
//! * an initial state that is not described;
//! * a described state that violates a property, or stands at a failure;
//! * a described state, one of the machine's symbolic moves, and a next state not described.
//!
//! The moves are those of the machine ([`machine::Machine`]), written out; the gap abstraction's own way of
//! finding successors plays no part.

use crate::cubes::control_slots;
use crate::file::slot_word;
use crate::{Certificate, ClosedSet, Task};
use machine::{Gaps, Local, MoveOf, Moves, Slot, State, ValueSource, WithBuffers};
use program::{Arith, BitSum, Cond, Domain, Expr, Int, Place, Program, PropertyKind, Relation, ThreadId};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};

/// A control: the shared part and every thread's, by number.
type ControlIds = (u32, Vec<u32>);

/// Writes the obligations of a certificate and returns how many there are. Fails with
/// [`io::ErrorKind::InvalidInput`] on expressions that have no counterpart in linear arithmetic, and on
/// a certificate that does not fit the program.
pub fn write_smtlib(task: &Task<'_>, certificate: &Certificate, out: &mut dyn Write) -> io::Result<usize> {
    certificate.proof().write_obligations(task, out)
}

/// Writes the obligations of a list of states.
pub(crate) fn write_listed(
    task: &Task<'_>,
    gaps: Option<Gaps>,
    set: &ClosedSet,
    out: &mut dyn Write,
) -> io::Result<usize> {
    write_listed_on(task, &task.machine(), gaps, set, out)
}

/// As [`write_listed`], of another machine than that of the memory model, which does all that it does.
pub(crate) fn write_listed_on(
    task: &Task<'_>,
    machine: &impl WithBuffers,
    gaps: Option<Gaps>,
    set: &ClosedSet,
    out: &mut dyn Write,
) -> io::Result<usize> {
    let invariant = invariant(machine, set)?;
    let mut script = ListedScript { machine, gaps, set, invariant, out, count: 0 };
    script.head(task)?;
    script.initial()?;
    let controls: Vec<ControlIds> = script.invariant.keys().cloned().collect();
    for control in &controls {
        script.properties(control)?;
        script.moves(control)?;
    }
    Ok(script.count)
}

/// Writes one question about constants of these names, to be answered `unsat`.
pub(crate) fn write_question(out: &mut dyn Write, names: &[String], asserts: &[String]) -> io::Result<()> {
    writeln!(out, "(push 1)")?;
    for name in names {
        writeln!(out, "(declare-const {name} Int)")?;
    }
    for assert in asserts {
        writeln!(out, "(assert {assert})")?;
    }
    writeln!(out, "(check-sat)\n(pop 1)")
}

/// Why there is no script.
pub(crate) fn unwritten(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// The described value vectors of each control.
fn invariant(machine: &impl WithBuffers, set: &ClosedSet) -> io::Result<BTreeMap<ControlIds, Vec<Vec<i64>>>> {
    let mut invariant: BTreeMap<ControlIds, Vec<Vec<i64>>> = BTreeMap::new();
    let mut state = State::default();
    for packed in set.states.iter() {
        let read = state.unpack(machine.program().threads.len(), packed);
        read.ok_or_else(|| io::Error::other("a state cannot be unpacked"))?;
        let control = (state.global, state.locals.clone());
        if slots(machine, set, &control).is_none_or(|slots| slots.len() != state.values.len()) {
            return Err(unwritten("a state does not fit the dictionary"));
        }
        invariant.entry(control).or_default().push(state.values.clone());
    }
    Ok(invariant)
}

/// The slots of a control, in the order of a state's values, if the control is in the dictionary.
fn slots(machine: &impl WithBuffers, set: &ClosedSet, control: &ControlIds) -> Option<Vec<Slot>> {
    let program = machine.program();
    set.controls.globals.get(control.0 as usize)?;
    let mut slots: Vec<Slot> = program.variable_ids().map(Slot::Memory).collect();
    for thread in program.thread_ids() {
        let local = *control.1.get(thread.index())? as usize;
        machine.slots(thread, set.controls.locals.get(thread.index())?.get(local)?, &mut slots);
    }
    Some(slots)
}

struct ListedScript<'a, M> {
    machine: &'a M,
    gaps: Option<Gaps>,
    set: &'a ClosedSet,
    invariant: BTreeMap<ControlIds, Vec<Vec<i64>>>,
    out: &'a mut dyn Write,
    count: usize,
}

impl<M: WithBuffers> ListedScript<'_, M> {
    fn program(&self) -> &Program {
        self.machine.program()
    }

    fn head(&mut self, task: &Task<'_>) -> io::Result<()> {
        let (name, model) = (task.program.name.replace('\n', " "), task.model.name());
        writeln!(self.out, "; {name} is safe under {model}: every answer below must be unsat")?;
        writeln!(self.out, "(set-logic QF_LIA)")?;
        let mut slots = BTreeSet::new();
        for control in self.invariant.keys() {
            slots.extend(self.slots(control));
        }
        for slot in slots {
            writeln!(self.out, "(declare-const {} Int)", name_of(&slot))?;
        }
        writeln!(self.out, "(declare-const chosen Int)")
    }

    fn local(&self, control: &ControlIds, thread: ThreadId) -> &Local {
        &self.set.controls.locals[thread.index()][control.1[thread.index()] as usize]
    }

    fn slots(&self, control: &ControlIds) -> Vec<Slot> {
        slots(self.machine, self.set, control).unwrap_or_default()
    }

    /// That the values of a control, under these names, are described.
    fn described(&self, control: &ControlIds, name: &dyn Fn(&Slot) -> String) -> String {
        let Some(vectors) = self.invariant.get(control) else { return "false".to_string() };
        let names: Vec<String> = self.slots(control).iter().map(name).collect();
        junction("or", vectors.iter().map(|values| self.description(values, &names)))
    }

    fn description(&self, values: &[i64], names: &[String]) -> String {
        let exact = |at: usize| equals(&names[at], &number(values[at]));
        match self.gaps {
            None => junction("and", (0..values.len()).map(exact)),
            Some(gaps) => {
                let inside = (0..values.len()).filter(|at| gaps.in_window(values[*at])).map(exact);
                let mut parts: Vec<String> = inside.collect();
                parts.extend(chain(values, names, &gaps, true));
                parts.extend(chain(values, names, &gaps, false));
                junction("and", parts.into_iter())
            }
        }
    }

    fn ask(&mut self, asserts: &[String]) -> io::Result<()> {
        self.count += 1;
        write_question(self.out, &[], asserts)
    }

    fn initial(&mut self) -> io::Result<()> {
        let (global, locals) = self.machine.initial();
        let known_global = self.set.controls.globals.iter().position(|g| *g == global);
        let known = locals
            .iter()
            .zip(&self.set.controls.locals)
            .map(|(local, all)| all.iter().position(|l| l == local));
        let known = known_global.zip(known.collect::<Option<Vec<_>>>());
        let slots = control_slots(self.machine, &locals).into_iter();
        let start = |slot: Slot| within(&name_of(&slot), &machine::initial_value(self.program(), slot));
        let mut asserts: Vec<String> = slots.map(start).collect();
        let memory = |place: &Place| match *place {
            Place::Memory(variable) => name_of(&Slot::Memory(variable)),
            _ => number(0),
        };
        for condition in &self.program().starts {
            asserts.push(cond_text(&condition.cond, &memory)?);
        }
        if let Some((global, locals)) = known {
            let control = (global as u32, locals.iter().map(|id| *id as u32).collect());
            asserts.push(not(&self.described(&control, &name_of)));
        }
        self.ask(&asserts)
    }

    fn properties(&mut self, control: &ControlIds) -> io::Result<()> {
        let described = self.described(control, &name_of);
        let threads: Vec<ThreadId> = self.program().thread_ids().collect();
        let locs: Vec<_> = threads.iter().map(|t| self.local(control, *t).loc).collect();
        let failed = |t: &ThreadId| self.program().thread(*t).location(locs[t.index()]).failure.is_some();
        if threads.iter().any(failed) {
            return self.ask(&[described]);
        }
        let ended = |t: &ThreadId| {
            let local = self.local(control, *t);
            local.drained() && self.program().thread(*t).is_end(local.loc)
        };
        let final_here = threads.iter().all(ended);
        let in_section = threads.iter().any(|t| self.program().thread(*t).in_atomic(locs[t.index()]));
        let leaf = |place: &Place| match *place {
            Place::At(thread, loc) => number(i64::from(locs[thread.index()] == loc)),
            Place::Memory(variable) => name_of(&Slot::Memory(variable)),
            Place::Register(thread, register) => name_of(&Slot::Register(thread, register)),
            Place::Drained(thread) => number(i64::from(self.local(control, thread).drained())),
        };
        let mut wrong = Vec::new();
        for property in &self.program().properties {
            let cond = cond_text(&property.cond, &leaf)?;
            match property.kind {
                PropertyKind::Never if !in_section => wrong.push(cond),
                PropertyKind::Finally if final_here => wrong.push(not(&cond)),
                PropertyKind::Never | PropertyKind::Finally => {}
            }
        }
        if wrong.is_empty() { Ok(()) } else { self.ask(&[described, junction("or", wrong.into_iter())]) }
    }

    fn moves(&mut self, control: &ControlIds) -> io::Result<()> {
        let described = self.described(control, &name_of);
        for thread in self.program().thread_ids().collect::<Vec<_>>() {
            let mut moves = Vec::new();
            let global = self.set.controls.globals[control.0 as usize];
            let complete = self.machine.moves(thread, &global, self.local(control, thread), &mut moves);
            if complete == Moves::Withheld {
                return Err(unwritten("the machine has a bound"));
            }
            for step in moves {
                let asserts = self.move_asserts(control, thread, &step)?;
                self.ask(&[vec![described.clone()], asserts].concat())?;
            }
        }
        Ok(())
    }

    /// The guard of a move, and that what follows is not described.
    fn move_asserts(
        &self,
        control: &ControlIds,
        thread: ThreadId,
        step: &MoveOf<M>,
    ) -> io::Result<Vec<String>> {
        let mut asserts = vec![cond_text(&step.guard, &name_of)?];
        let mut after: HashMap<Slot, String> = HashMap::new();
        for (slot, source) in &step.set {
            let value = match source {
                ValueSource::Is(value) => expr_text(value, &name_of)?,
                ValueSource::Any(domain) => {
                    asserts.push(within("chosen", domain));
                    "chosen".to_string()
                }
                ValueSource::OneOf(_)
                | ValueSource::OldestOf(_)
                | ValueSource::OnlyOf(_)
                | ValueSource::Joins(_) => {
                    return Err(unwritten("a closed set has no pools"));
                }
            };
            after.insert(*slot, value);
        }
        let global = self.set.controls.globals.iter().position(|g| *g == step.global);
        let local = self.set.controls.locals[thread.index()].iter().position(|l| *l == step.local);
        let next = global.zip(local).map(|(global, local)| {
            let mut next = (global as u32, control.1.clone());
            next.1[thread.index()] = local as u32;
            next
        });
        let name = |slot: &Slot| after.get(slot).cloned().unwrap_or_else(|| name_of(slot));
        let described = next.map_or("false".to_string(), |next| self.described(&next, &name));
        asserts.push(not(&described));
        Ok(asserts)
    }
}

/// Order and gaps of the values above (or below) the window, each relative to its neighbour.
fn chain(values: &[i64], names: &[String], gaps: &Gaps, above: bool) -> Vec<String> {
    let edge = if above { gaps.high } else { gaps.low };
    let outside = |at: &usize| if above { values[*at] > edge } else { values[*at] < edge };
    let mut order: Vec<usize> = (0..values.len()).filter(outside).collect();
    order.sort_by_key(|at| values[*at].abs_diff(edge));
    let (mut last, mut last_name) = (edge, number(edge));
    let mut parts = Vec::new();
    for at in order {
        let gap = values[at].abs_diff(last) as i64;
        let (far, near) = if above { (&names[at], &last_name) } else { (&last_name, &names[at]) };
        let distance = format!("(- {far} {near})");
        if gap <= gaps.precision {
            parts.push(equals(&distance, &number(gap)));
        } else {
            parts.push(format!("(> {distance} {})", number(gaps.precision)));
            if gaps.modulus > 1 {
                let rest = format!("(mod {distance} {})", gaps.modulus);
                parts.push(equals(&rest, &number(gap % gaps.modulus)));
            }
        }
        (last, last_name) = (values[at], names[at].clone());
    }
    parts
}

/// The constant for a slot: as evidence files name it, but with a sign that may stand in a symbol.
pub(crate) fn name_of(slot: &Slot) -> String {
    slot_word(*slot).replace('.', "_")
}

fn number(value: i64) -> String {
    integer(&Int::from(value))
}

fn integer(value: &Int) -> String {
    if *value < Int::ZERO { format!("(- {})", -value) } else { value.to_string() }
}

fn equals(a: &str, b: &str) -> String {
    format!("(= {a} {b})")
}

fn not(formula: &str) -> String {
    format!("(not {formula})")
}

pub(crate) fn junction(word: &str, parts: impl Iterator<Item = String>) -> String {
    let parts: Vec<String> = parts.collect();
    match parts.as_slice() {
        [] => (word == "and").to_string(),
        [one] => one.clone(),
        several => format!("({word} {})", several.join(" ")),
    }
}

fn within(name: &str, domain: &Domain) -> String {
    match domain {
        Domain::All => "true".to_string(),
        Domain::Range(low, high) => {
            format!("(and (<= {} {name}) (<= {name} {}))", integer(low), integer(high))
        }
    }
}

fn expr_text<L>(expr: &Expr<L>, leaf: &dyn Fn(&L) -> String) -> io::Result<String> {
    let (op, a, b) = match expr {
        Expr::Const(value) => return Ok(integer(value)),
        Expr::Leaf(l) => return Ok(leaf(l)),
        Expr::Binary(op, a, b) => (*op, a, b),
    };
    let (a_text, b_text) = (expr_text(a, leaf)?, expr_text(b, leaf)?);
    Ok(match (op, a.as_const(), b.as_const()) {
        (Arith::Add, ..) => format!("(+ {a_text} {b_text})"),
        (Arith::Sub, ..) => format!("(- {a_text} {b_text})"),
        (Arith::Mul, Some(_), _) | (Arith::Mul, _, Some(_)) => format!("(* {a_text} {b_text})"),
        (Arith::Div | Arith::Rem, _, Some(by)) if *by != Int::ZERO => truncated(op, &a_text, by),
        (Arith::And | Arith::Or | Arith::Xor, _, Some(by)) => bits(op, &a_text, by)?,
        (Arith::And | Arith::Or | Arith::Xor, Some(by), _) => bits(op, &b_text, by)?,
        _ => return Err(unwritten("not linear arithmetic")),
    })
}

/// Bits are sums of rests, which SMT-LIB rounds as we need it.
fn bits(op: Arith, value: &str, by: &Int) -> io::Result<String> {
    let sum = BitSum::of(op, by).ok_or_else(|| unwritten("not linear arithmetic"))?;
    let rest =
        |(factor, size): &(Int, Int)| format!("(* {} (mod {value} {}))", integer(factor), integer(size));
    let rests: String = sum.rests.iter().map(|part| format!(" {}", rest(part))).collect();
    Ok(format!("(+ (* {} {value}) {}{rests})", integer(&sum.times), integer(&sum.plus)))
}

/// Our division truncates; SMT-LIB's rounds so that the remainder is not negative.
fn truncated(op: Arith, a: &str, by: &Int) -> String {
    let size = integer(&if *by < Int::ZERO { -by } else { by.clone() });
    let word = if op == Arith::Div { "div" } else { "mod" };
    let (plain, mirrored) = (format!("({word} {a} {size})"), format!("(- ({word} (- {a}) {size}))"));
    let positive = format!("(ite (>= {a} 0) {plain} {mirrored})");
    if op == Arith::Div && *by < Int::ZERO { format!("(- {positive})") } else { positive }
}

fn cond_text<L>(cond: &Cond<L>, leaf: &dyn Fn(&L) -> String) -> io::Result<String> {
    Ok(match cond {
        Cond::Const(value) => value.to_string(),
        Cond::And(parts) | Cond::Or(parts) => {
            let word = if matches!(cond, Cond::And(_)) { "and" } else { "or" };
            let parts = parts.iter().map(|part| cond_text(part, leaf)).collect::<io::Result<Vec<_>>>()?;
            junction(word, parts.into_iter())
        }
        Cond::Compare(relation, a, b) => {
            let (a, b) = (expr_text(a, leaf)?, expr_text(b, leaf)?);
            match relation {
                Relation::Eq => equals(&a, &b),
                Relation::Ne => not(&equals(&a, &b)),
                Relation::Lt => format!("(< {a} {b})"),
                Relation::Le => format!("(<= {a} {b})"),
                Relation::Gt => format!("(> {a} {b})"),
                Relation::Ge => format!("(>= {a} {b})"),
            }
        }
    })
}
