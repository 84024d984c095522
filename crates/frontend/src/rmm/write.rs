//! A program as `.rmm`, so that Memorax can be asked the same question.
//!
//! Every location becomes a labelled statement, in order, with jumps between them; several
//! edges become an `either`. All variables are global and all domains are `Z`: where a domain
//! made a step wait, the program says so by an `assume` already. What the format cannot say
//! is refused, edge by edge.

use super::parser::KEYWORDS;
use crate::Diagnostic;
use crate::mend::mend;
use crate::refusals::Refusals;
use program::{
    Arith, Cond, Domain, Edge, Expr, Fence, Loc, Op, Place, Program, PropertyKind, RegId, Relation, Span,
    Thread, ThreadId, VarId,
};
use std::collections::{BTreeSet, HashSet};
use std::fmt::Write;

/// A property that needs more lists than this is not written out.
const MAX_LISTS: usize = 1000;

/// The program as `.rmm` text, or what stands in the way.
///
/// ```
/// use frontend::{FRONTENDS, Options, rmm};
///
/// let text = "forbidden L\nprocess text L: nop";
/// let language = FRONTENDS.iter().find(|f| f.name == "rmm").unwrap();
/// let parsed = (language.read)(program::Source::new("p.rmm", text), &Options::default()).unwrap();
/// assert_eq!(rmm::write(&parsed.program).unwrap(), "forbidden\n  L\n\nprocess\ntext\nL: nop\n");
/// ```
pub fn write(program: &Program) -> Result<String, Vec<Diagnostic>> {
    let mut taken = HashSet::new();
    let variables = program.variables.iter().map(|v| mend(&v.name, &KEYWORDS, &mut taken)).collect();
    let mut writer = RmmWriter { program, variables, refusals: Refusals::of("`.rmm`") };
    let threads: Vec<NamedThread> = program.threads.iter().map(NamedThread::of).collect();
    let mut out = String::new();
    writer.forbidden(&threads, &mut out);
    writer.data(&mut out);
    for (id, thread) in program.thread_ids().zip(&threads) {
        writer.process(id, thread, &mut out);
    }
    writer.refusals.unless_any(out)
}

struct RmmWriter<'a> {
    program: &'a Program,
    variables: Vec<String>,
    refusals: Refusals,
}

/// A thread and the names its registers and locations get.
struct NamedThread<'a> {
    thread: &'a Thread,
    registers: Vec<String>,
    labels: Vec<String>,
    /// The label of the common end, if one is needed.
    end: String,
    /// A register that only ever carries a value from a load to a test: it needs no name.
    hidden: Option<RegId>,
}

impl<'a> NamedThread<'a> {
    fn of(thread: &'a Thread) -> NamedThread<'a> {
        let mut taken = HashSet::new();
        let registers = thread.registers.iter().map(|name| mend(name, &[], &mut taken)).collect();
        let mut taken = HashSet::new();
        let label = |loc: Loc| match thread.location(loc).labels.first() {
            Some(label) => label.clone(),
            None => format!("L{}", loc.index()),
        };
        // Labels of the source come first, so that made-up ones give way to them.
        let (named, unnamed): (Vec<Loc>, Vec<Loc>) =
            thread.locs().partition(|loc| !thread.location(*loc).labels.is_empty());
        let mut labels = vec![String::new(); thread.locs().count()];
        for loc in named.into_iter().chain(unnamed) {
            labels[loc.index()] = mend(&label(loc), &KEYWORDS, &mut taken);
        }
        let end = mend("END", &KEYWORDS, &mut taken);
        NamedThread { thread, registers, labels, end, hidden: hidden(thread) }
    }

    fn label(&self, loc: Loc) -> &str {
        &self.labels[loc.index()]
    }
}

impl RmmWriter<'_> {
    /// The bad states: one list each.
    fn forbidden(&mut self, threads: &[NamedThread], out: &mut String) {
        let mut lists = Vec::new();
        for property in &self.program.properties {
            let bad = match property.kind {
                PropertyKind::Never => locations(&property.cond),
                PropertyKind::Finally => None,
            };
            let message = "this property speaks of more than the places of threads";
            match bad {
                Some(bad) => lists.extend(bad),
                None => self.refusals.add(property.span, message),
            }
        }
        if let Some(question) = &self.program.question {
            self.refusals.add(question.span, "this question is about final states");
        }
        for (id, thread) in self.program.thread_ids().zip(threads) {
            let fails = |loc: &Loc| thread.thread.location(*loc).failure.is_some();
            lists.extend(thread.thread.locs().filter(fails).map(|loc| vec![(id, loc)]));
        }
        if lists.is_empty() && self.refusals.is_empty() {
            self.refusals.add(Span::NONE, "the program forbids no state");
        }
        let line = |list: &Vec<(ThreadId, Loc)>| {
            let label = |id: ThreadId| {
                let here = list.iter().find(|(thread, _)| *thread == id);
                here.map_or("*", |(thread, loc)| threads[thread.index()].label(*loc))
            };
            self.program.thread_ids().map(label).collect::<Vec<_>>().join(" ")
        };
        let lines: Vec<String> = lists.iter().map(line).collect();
        let _ = writeln!(out, "forbidden\n  {}", lines.join(" ;\n  "));
    }

    fn data(&mut self, out: &mut String) {
        if self.program.variables.is_empty() {
            return;
        }
        out.push_str("\ndata\n");
        for (id, variable) in self.program.variable_ids().zip(&self.program.variables) {
            let name = self.variables[id.index()].clone();
            let _ = match &variable.initial {
                Domain::All => writeln!(out, "  {name} = * : Z"),
                Domain::Range(low, high) if low == high => writeln!(out, "  {name} = {low} : Z"),
                Domain::Range(low, high) => {
                    if let Some(span) = self.leaves(id, &variable.initial) {
                        let message = "the variable starts in a range, but is not sure to stay there";
                        self.refusals.add(span, message);
                    }
                    writeln!(out, "  {name} = * : [{low}:{high}]")
                }
            };
        }
    }

    /// A store that may leave the domain.
    fn leaves(&self, variable: VarId, domain: &Domain) -> Option<Span> {
        let may_leave = |op: &Op| match op {
            Op::Store(v, value) if *v == variable => {
                value.as_const().is_none_or(|value| !domain.contains(value))
            }
            _ => false,
        };
        let mut edges = self.program.threads.iter().flat_map(Thread::edges);
        edges.find(|edge| edge.op.parts().iter().any(may_leave)).map(|edge| edge.span)
    }

    fn process(&mut self, id: ThreadId, named: &NamedThread, out: &mut String) {
        out.push_str("\nprocess\n");
        let (start, free) = self.free_registers(named);
        let registers: Vec<RegId> = (0..named.registers.len()).map(RegId::new).collect();
        let shown: Vec<&RegId> =
            registers.iter().filter(|register| Some(**register) != named.hidden).collect();
        if !shown.is_empty() {
            out.push_str("registers\n");
        }
        for register in shown {
            let initial = if free.contains(register) { "*" } else { "0" };
            let _ = writeln!(out, "  ${} = {initial} : Z", named.registers[register.index()]);
        }
        out.push_str("text\n");
        let statements = self.text(id, named, start);
        let _ = writeln!(out, "{}", statements.join(";\n"));
    }

    /// Registers that start anywhere: the choices of all integers right at the start.
    fn free_registers(&self, named: &NamedThread) -> (Loc, Vec<RegId>) {
        let thread = named.thread;
        let (mut at, mut free) = (thread.entry(), Vec::new());
        let mut entered = vec![0usize; thread.locs().count()];
        thread.edges().iter().for_each(|edge| entered[edge.to.index()] += 1);
        loop {
            let mut edges = thread.outgoing(at);
            let (Some((_, edge)), None) = (edges.next(), edges.next()) else { return (at, free) };
            match edge.op {
                Op::Havoc(register, Domain::All)
                    if entered[at.index()] == free.len().min(1)
                        && free.last().is_none_or(|last| *last < register) =>
                {
                    free.push(register);
                    at = edge.to;
                }
                _ => return (at, free),
            }
        }
    }

    /// The statements of a thread, each with its label.
    fn text(&mut self, id: ThreadId, named: &NamedThread, start: Loc) -> Vec<String> {
        let thread = named.thread;
        let walked: HashSet<Loc> = reachable_or_labelled(thread, start);
        let ends: BTreeSet<Loc> = thread.locs().filter(|l| thread.outgoing(*l).next().is_none()).collect();
        let marked = self.marked(id);
        let special = |loc: &Loc| thread.location(*loc).failure.is_some() || marked.contains(loc);
        let (special, plain): (BTreeSet<Loc>, BTreeSet<Loc>) = ends.iter().partition(|loc| special(loc));
        let into_end: BTreeSet<Loc> =
            thread.edges().iter().filter(|e| plain.contains(&e.to)).map(|e| e.from).collect();
        let mut order = vec![start];
        order.extend(thread.locs().filter(|l| *l != start && walked.contains(l) && !ends.contains(l)));
        // A text ends after its last statement only: the location that leads to the end goes last.
        let last = into_end.first().copied().filter(|l| {
            into_end.len() == 1 && plain.len() == 1 && special.is_empty() && (*l != start || order.len() == 1)
        });
        if let Some(last) = last {
            order.retain(|loc| *loc != last);
            order.push(last);
        }
        let needs_end = last.is_none() && !ends.is_empty();
        let mut statements = Vec::new();
        for (at, loc) in order.iter().enumerate() {
            if plain.contains(loc) || special.contains(loc) {
                continue;
            }
            let next = order.get(at + 1);
            let statement = self.location(named, *loc, next, &plain, last);
            statements.push(format!("{}: {statement}", named.label(*loc)));
        }
        for loc in &special {
            statements.push(format!("{}: nop;\n  goto {}", named.label(*loc), named.end));
        }
        if needs_end {
            statements.push(format!("{}: nop", named.end));
        }
        statements
    }

    /// The locations of a thread that properties speak of.
    fn marked(&self, id: ThreadId) -> HashSet<Loc> {
        let here = |place| match place {
            Place::At(thread, loc) if thread == id => Some(loc),
            _ => None,
        };
        self.program.observed().into_iter().filter_map(here).collect()
    }

    fn location(
        &mut self,
        named: &NamedThread,
        loc: Loc,
        next: Option<&Loc>,
        ends: &BTreeSet<Loc>,
        last: Option<Loc>,
    ) -> String {
        let edges: Vec<&Edge> = named.thread.outgoing(loc).map(|(_, edge)| edge).collect();
        let mut branches = Vec::new();
        for edge in &edges {
            let goto = if ends.contains(&edge.to) {
                if last == Some(loc) { String::new() } else { format!(";\n  goto {}", named.end) }
            } else if edges.len() == 1 && next == Some(&edge.to) {
                String::new()
            } else {
                format!(";\n  goto {}", named.label(edge.to))
            };
            for op in self.op(named, &edge.op, edge.span) {
                branches.push(format!("{op}{goto}"));
            }
        }
        match branches.as_slice() {
            [only] => only.clone(),
            several => format!("either{{\n  {}\n}}", several.join("\nor\n  ")),
        }
    }

    /// The statements that stand for an operation: alternatives, usually one.
    fn op(&mut self, named: &NamedThread, op: &Op, span: Span) -> Vec<String> {
        let statement = match op {
            Op::Havoc(register, domain) => return self.choice(named, *register, domain, span),
            Op::Fence(Fence::Full) => "fence".to_string(),
            Op::Fence(Fence::Store) => "ssfence".to_string(),
            Op::Lock | Op::Unlock => {
                self.refusals.add(span, "this atomic section has several steps");
                return Vec::new();
            }
            Op::Block { locked, parts } => self.block(named, *locked, parts, span),
            plain => self.plain(named, plain, span),
        };
        vec![statement]
    }

    fn choice(&mut self, named: &NamedThread, register: RegId, domain: &Domain, span: Span) -> Vec<String> {
        let name = &named.registers[register.index()];
        let values = self.refusals.choices(domain, span);
        values.iter().map(|value| format!("${name} := {value}")).collect()
    }

    fn plain(&mut self, named: &NamedThread, op: &Op, span: Span) -> String {
        let register = |r: &RegId| format!("${}", named.registers[r.index()]);
        match op {
            Op::Assign(r, value) => format!("{} := {}", register(r), self.expr(named, value, span)),
            Op::Assume(cond) => format!("assume: {}", self.cond(named, cond, span)),
            Op::Load(r, v) => format!("read: {} := {}", register(r), self.variables[v.index()]),
            Op::Store(v, value) => {
                let value = self.expr(named, value, span);
                format!("write: {} := {value}", self.variables[v.index()])
            }
            _ => "nop".to_string(),
        }
    }

    fn block(&mut self, named: &NamedThread, locked: bool, parts: &[Op], span: Span) -> String {
        if let [Op::Store(..)] = parts {
            return format!("locked {}", self.plain(named, &parts[0], span));
        }
        let pattern = |r: &RegId| Some(*r) == named.hidden;
        if let [Op::Load(r, v), Op::Assume(Cond::Compare(Relation::Eq, _, value)), rest @ ..] = parts
            && pattern(r)
        {
            let (name, value) = (self.variables[v.index()].clone(), self.expr(named, value, span));
            match rest {
                [] if !locked => return format!("read: {name} = {value}"),
                [Op::Store(to, new)] if to == v => {
                    return format!("cas({name},{value},{})", self.expr(named, new, span));
                }
                _ => {}
            }
        }
        let mut inner = Vec::new();
        let mut parts = parts.iter().peekable();
        while let Some(part) = parts.next() {
            match (part, parts.peek()) {
                (Op::Load(r, v), Some(Op::Assume(Cond::Compare(Relation::Eq, _, value)))) if pattern(r) => {
                    let value = self.expr(named, value, span);
                    inner.push(format!("read: {} = {value}", self.variables[v.index()]));
                    parts.next();
                }
                _ => inner.push(self.plain(named, part, span)),
            }
        }
        let writes = inner.iter().any(|statement| statement.starts_with("write"));
        // A block that only reads does not wait for empty buffers; a fence before it does.
        let fence = if locked && !writes { "fence;\n  " } else { "" };
        format!("{fence}locked{{ {} }}", inner.join("; "))
    }

    fn expr(&mut self, named: &NamedThread, expr: &Expr<RegId>, span: Span) -> String {
        match expr {
            Expr::Const(value) => value.to_string(),
            Expr::Leaf(r) => format!("${}", named.registers[r.index()]),
            Expr::Binary(op @ (Arith::Add | Arith::Sub), a, b) => {
                let sign = if *op == Arith::Add { '+' } else { '-' };
                let (left, right) = (self.expr(named, a, span), self.expr(named, b, span));
                let simple =
                    matches!(**b, Expr::Leaf(_)) || !right.starts_with('-') && b.as_const().is_some();
                if simple { format!("{left} {sign} {right}") } else { format!("{left} {sign} ({right})") }
            }
            Expr::Binary(..) => {
                self.refusals.add(span, "this computes something else than sums and differences");
                String::new()
            }
        }
    }

    fn cond(&mut self, named: &NamedThread, cond: &Cond<RegId>, span: Span) -> String {
        match cond {
            Cond::Const(value) => value.to_string(),
            Cond::Compare(relation, a, b) => {
                let sign = if *relation == Relation::Eq { "=" } else { relation.sign() };
                format!("{} {sign} {}", self.expr(named, a, span), self.expr(named, b, span))
            }
            Cond::And(parts) | Cond::Or(parts) => {
                let sign = if matches!(cond, Cond::And(_)) { " && " } else { " || " };
                let parts: Vec<String> = parts
                    .iter()
                    .map(|part| match part {
                        Cond::And(_) | Cond::Or(_) => format!("[{}]", self.cond(named, part, span)),
                        _ => self.cond(named, part, span),
                    })
                    .collect();
                parts.join(sign)
            }
        }
    }
}

/// The last register, if it only carries values from a load to the test right behind it.
fn hidden(thread: &Thread) -> Option<RegId> {
    let register = RegId::new(thread.registers.len().checked_sub(1)?);
    let mut used = false;
    for edge in thread.edges() {
        let in_block = matches!(edge.op, Op::Block { .. });
        let mut parts = edge.op.parts().iter().peekable();
        while let Some(part) = parts.next() {
            let tested = |next: &Op| {
                matches!(next, Op::Assume(Cond::Compare(Relation::Eq, Expr::Leaf(r), value))
                if *r == register && !value.any_leaf(|r| *r == register))
            };
            if in_block
                && part.writes() == Some(register)
                && matches!(part, Op::Load(..))
                && parts.peek().is_some_and(|next| tested(next))
            {
                used = true;
                parts.next();
                continue;
            }
            let mut read = part.writes() == Some(register);
            part.for_each_read(&mut |r| read |= *r == register);
            if read {
                return None;
            }
        }
    }
    used.then_some(register)
}

fn reachable_or_labelled(thread: &Thread, start: Loc) -> HashSet<Loc> {
    let labelled = thread.locs().filter(|loc| !thread.location(*loc).labels.is_empty());
    let mut work: Vec<Loc> = labelled.chain([start]).collect();
    let mut seen = HashSet::new();
    while let Some(loc) = work.pop() {
        if seen.insert(loc) {
            work.extend(thread.outgoing(loc).map(|(_, edge)| edge.to));
        }
    }
    seen
}

type ThreadLocations = Vec<(ThreadId, Loc)>;

/// A condition as alternatives of places that threads stand at; `None` if it is none.
fn locations(cond: &Cond<Place>) -> Option<Vec<ThreadLocations>> {
    match cond {
        Cond::Compare(..) => cond.as_at().map(|place| vec![vec![place]]),
        Cond::Const(value) => Some(if *value { vec![Vec::new()] } else { Vec::new() }),
        Cond::Or(parts) => {
            let parts: Option<Vec<Vec<ThreadLocations>>> = parts.iter().map(locations).collect();
            parts.map(|parts| parts.concat())
        }
        Cond::And(parts) => {
            let mut lists: Vec<ThreadLocations> = vec![Vec::new()];
            for part in parts {
                let part = locations(part)?;
                if lists.len() * part.len() > MAX_LISTS {
                    return None;
                }
                let clash = |list: &ThreadLocations| {
                    list.iter().any(|(t, l)| list.iter().any(|(other, loc)| t == other && l != loc))
                };
                let joined =
                    lists.iter().flat_map(|list| part.iter().map(move |more| [&list[..], more].concat()));
                lists = joined.filter(|list| !clash(list)).collect();
            }
            Some(lists)
        }
    }
}
