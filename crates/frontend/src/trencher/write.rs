//! A program in Trencher's text format, so that Trencher can be asked the same question.
//!
//! Locations become states, edges become transitions. A step that loads and tests at once
//! becomes a load, a test, and a way back if the test fails; a locked block becomes a locked
//! section with the same way back. That is the same waiting, as long as what was loaded
//! is not looked at after going back. What the format cannot say is refused.

use crate::Diagnostic;
use crate::mend::mend;
use crate::refusals::Refusals;
use program::{
    Arith, Cond, Domain, Edge, Expr, Fence, Int, Liveness, Loc, Op, Place, Program, PropertyKind, RegId,
    Span, ThreadId, VarId,
};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

/// The program as Trencher's text, or what stands in the way.
///
/// ```
/// use frontend::{FRONTENDS, Options, trencher};
///
/// let text = "thread t\ninitial q0\ntransition q0 q1 write 1 0\nend\n\n";
/// let language = FRONTENDS.iter().find(|f| f.name == "trencher").unwrap();
/// let parsed = (language.read)(program::Source::new("t.txt", text), &Options::default()).unwrap();
/// assert_eq!(trencher::write(&parsed.program).unwrap(), text);
/// ```
pub fn write(program: &Program) -> Result<String, Vec<Diagnostic>> {
    let mut writer = TrencherWriter {
        program,
        addresses: addresses(program),
        live: Liveness::of(program),
        refusals: Refusals::of("Trencher's format"),
    };
    let finals = writer.finals();
    let mut out = String::new();
    let mut taken = HashSet::new();
    for (id, finals) in program.thread_ids().zip(&finals) {
        let name = mend(&program.thread(id).name, &[], &mut taken);
        writer.thread(id, &name, finals, &mut out);
    }
    writer.refuse_what_is_left();
    writer.refusals.unless_any(out)
}

/// Cells that were addresses keep them; other variables are numbered.
fn addresses(program: &Program) -> Vec<Int> {
    let cell = |name: &str| name.strip_prefix("mem[")?.strip_suffix(']')?.parse::<Int>().ok();
    let cells: Option<Vec<Int>> = program.variables.iter().map(|v| cell(&v.name)).collect();
    let distinct = |cells: &Vec<Int>| cells.iter().collect::<BTreeSet<_>>().len() == cells.len();
    cells.filter(distinct).unwrap_or_else(|| (0..program.variables.len()).map(Int::from).collect())
}

struct TrencherWriter<'a> {
    program: &'a Program,
    addresses: Vec<Int>,
    live: Liveness,
    refusals: Refusals,
}

/// The thread that is being written.
struct ThreadNames {
    id: ThreadId,
    registers: Vec<String>,
    states: Vec<String>,
    taken: HashSet<String>,
    transitions: Vec<String>,
}

impl ThreadNames {
    fn add(&mut self, from: &str, to: &str, instruction: &str) {
        self.transitions.push(format!("transition {from} {to} {instruction}"));
    }

    /// A new state on the way out of another.
    fn between(&mut self, state: &str) -> String {
        mend(&format!("{state}_step"), &[], &mut self.taken)
    }
}

impl TrencherWriter<'_> {
    fn refuse_what_is_left(&mut self) {
        for variable in &self.program.variables {
            if variable.initial != Domain::only(0) {
                self.refusals.add(variable.span, &format!("`{}` does not start at 0", variable.name));
            }
        }
        for thread in &self.program.threads {
            for failure in thread.locs().filter_map(|loc| thread.location(loc).failure.as_ref()) {
                self.refusals.add(failure.span, "this can fail");
            }
        }
        if let Some(question) = &self.program.question {
            self.refusals.add(question.span, "this question is about final states");
        }
    }

    /// For each thread, the locations of the goal.
    fn finals(&mut self) -> Vec<Vec<Loc>> {
        let mut finals = vec![Vec::new(); self.program.threads.len()];
        if let [property, rest @ ..] = self.program.properties.as_slice() {
            for other in rest {
                self.refusals.add(other.span, "there is more than one property");
            }
            let goal = property.kind == PropertyKind::Never && goal(&property.cond, &mut finals);
            if !goal || finals.iter().any(Vec::is_empty) {
                self.refusals.add(property.span, "this property does not name a place for every thread");
            }
        }
        finals
    }

    fn thread(&mut self, id: ThreadId, name: &str, finals: &[Loc], out: &mut String) {
        let thread = self.program.thread(id);
        let mut taken = HashSet::new();
        let registers = thread.registers.iter().map(|r| mend(r, &[], &mut taken)).collect();
        let mut names =
            ThreadNames { id, registers, states: Vec::new(), taken: HashSet::new(), transitions: Vec::new() };
        for loc in thread.locs() {
            let wanted = thread.location(loc).labels.first().cloned();
            let wanted = wanted.unwrap_or_else(|| format!("q{}", loc.index()));
            let state = mend(&wanted, &[], &mut names.taken);
            names.states.push(state);
        }
        for edge in thread.edges() {
            self.edge(edge, &mut names);
        }
        let _ = writeln!(out, "thread {name}\ninitial {}", names.states[0]);
        for loc in finals {
            let _ = writeln!(out, "final {}", names.states[loc.index()]);
        }
        for transition in &names.transitions {
            let _ = writeln!(out, "{transition}");
        }
        out.push_str("end\n\n");
    }

    fn edge(&mut self, edge: &Edge, names: &mut ThreadNames) {
        let (from, to) = (names.states[edge.from.index()].clone(), names.states[edge.to.index()].clone());
        match &edge.op {
            Op::Havoc(register, domain) => {
                for value in self.refusals.choices(domain, edge.span) {
                    let local = format!("local {} {value}", names.registers[register.index()]);
                    names.add(&from, &to, &local);
                }
            }
            Op::Block { locked, parts } => self.block(edge, *locked, parts, names),
            plain => {
                let instruction = self.plain(plain, edge.span, names);
                names.add(&from, &to, &instruction);
            }
        }
    }

    fn plain(&mut self, op: &Op, span: Span, names: &ThreadNames) -> String {
        let address = |this: &Self, v: &VarId| this.addresses[v.index()].to_string();
        match op {
            Op::Assign(r, value) => {
                format!("local {} {}", names.registers[r.index()], self.expr(value, span, names))
            }
            Op::Assume(cond) => format!("check {}", self.cond(cond, span, names)),
            Op::Load(r, v) => format!("read {} {}", names.registers[r.index()], address(self, v)),
            Op::Store(v, value) => format!("write {} {}", self.expr(value, span, names), address(self, v)),
            Op::Fence(Fence::Full) => "mfence".to_string(),
            Op::Fence(Fence::Store) => {
                self.refusals.add(span, "this is a store fence");
                String::new()
            }
            Op::Lock => "lock".to_string(),
            Op::Unlock => "unlock".to_string(),
            _ => "noop".to_string(),
        }
    }

    fn block(&mut self, edge: &Edge, locked: bool, parts: &[Op], names: &mut ThreadNames) {
        let start = names.states[edge.from.index()].clone();
        let end = names.states[edge.to.index()].clone();
        let loads = parts.iter().filter(|part| matches!(part, Op::Load(..))).count();
        if !locked && loads > 1 {
            self.refusals.add(edge.span, "this loads several variables in one step");
        }
        let tests = parts.iter().filter(|part| matches!(part, Op::Assume(_))).count();
        let mut here = start.clone();
        if locked {
            let inside = names.between(&start);
            names.add(&here, &inside, "lock");
            here = inside;
        }
        // Where a failed test goes: out of the locked section, back to the start.
        let back = if locked && tests > 0 {
            let back = names.between(&start);
            names.add(&back, &start, "unlock");
            back
        } else {
            start.clone()
        };
        let (mut written, mut stored) = (Vec::new(), false);
        for (at, part) in parts.iter().enumerate() {
            let last = at + 1 == parts.len() && !locked;
            let next = if last { end.clone() } else { names.between(&start) };
            if let Op::Assume(cond) = part {
                let seen = self.live.at(names.id, edge.from);
                if stored || written.iter().any(|register| seen.contains(register)) {
                    self.refusals.add(edge.span, "this waits after it has changed something");
                }
                let failed = self.cond(&cond.clone().negate(), edge.span, names);
                names.add(&here, &back, &format!("check {failed}"));
            }
            let instruction = self.plain(part, edge.span, names);
            names.add(&here, &next, &instruction);
            written.extend(part.writes());
            stored |= matches!(part, Op::Store(..));
            here = next;
        }
        if locked {
            names.add(&here, &end, "unlock");
        } else if parts.is_empty() {
            names.add(&here, &end, "noop");
        }
    }

    fn expr(&mut self, expr: &Expr<RegId>, span: Span, names: &ThreadNames) -> String {
        match expr {
            Expr::Const(value) => value.to_string(),
            Expr::Leaf(r) => names.registers[r.index()].clone(),
            Expr::Binary(op, a, b) => {
                let sign = match op {
                    Arith::Add => "+",
                    Arith::Sub => "-",
                    Arith::Mul => "*",
                    Arith::Div => "/",
                    Arith::Rem => "%",
                    Arith::And => "&",
                    Arith::Or => {
                        self.refusals.add(span, "this computes a bitwise `or`");
                        ""
                    }
                    Arith::Xor => {
                        self.refusals.add(span, "this computes a bitwise exclusive `or`");
                        ""
                    }
                };
                format!("{sign} {} {}", self.expr(a, span, names), self.expr(b, span, names))
            }
        }
    }

    fn cond(&mut self, cond: &Cond<RegId>, span: Span, names: &ThreadNames) -> String {
        match cond {
            Cond::Const(value) => u8::from(*value).to_string(),
            Cond::Compare(relation, a, b) => {
                format!("{} {} {}", relation.sign(), self.expr(a, span, names), self.expr(b, span, names))
            }
            Cond::And(parts) | Cond::Or(parts) => {
                let sign = if matches!(cond, Cond::And(_)) { "&&" } else { "||" };
                let texts: Vec<String> = parts.iter().map(|part| self.cond(part, span, names)).collect();
                let joined = texts.into_iter().rev().reduce(|rest, part| format!("{sign} {part} {rest}"));
                joined.unwrap_or_default()
            }
        }
    }
}

/// Reads a condition as "every thread at one of its places"; whether it is one.
fn goal(cond: &Cond<Place>, finals: &mut [Vec<Loc>]) -> bool {
    let parts = match cond {
        Cond::And(parts) => parts.as_slice(),
        one => std::slice::from_ref(one),
    };
    parts.iter().all(|part| {
        let places = match part {
            Cond::Or(places) => places.as_slice(),
            one => std::slice::from_ref(one),
        };
        let Some(places) = places.iter().map(Cond::as_at).collect::<Option<Vec<_>>>() else { return false };
        places.iter().for_each(|(thread, loc)| finals[thread.index()].push(*loc));
        places.windows(2).all(|pair| pair[0].0 == pair[1].0)
    })
}
