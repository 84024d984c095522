//! Back to text: expressions, conditions, steps and whole programs as `.fw`.
//!
//! A printed thread is one labelled statement per location, with `goto`s between them, in the
//! order of the locations; it reads back to the same automaton. [`same`] says what "same"
//! means: equal up to the numbering of locations, names and spans.

use crate::dot::quoted;
use crate::names::{Names, split_cell};
use crate::{
    Arith, Cond, Domain, Edge, Expr, FailureKind, Fence, Int, Loc, Op, Place, Program, Property, RegId,
    Relation, Thread, ThreadId,
};
use std::collections::HashMap;
use std::fmt::Write;

impl<L> Expr<L> {
    /// This expression as text, with as few parentheses as it takes to read it back.
    pub fn text(&self, leaf: &dyn Fn(&L) -> String) -> String {
        match self {
            Expr::Const(value) => value.to_string(),
            Expr::Leaf(l) => leaf(l),
            Expr::Binary(op, a, b) => {
                let (symbol, strength) = operator(*op);
                let left = a.operand(leaf, strength);
                let right = b.operand(leaf, strength + 1);
                format!("{left} {symbol} {right}")
            }
        }
    }

    fn operand(&self, leaf: &dyn Fn(&L) -> String, strength: u8) -> String {
        match self {
            Expr::Binary(op, ..) if operator(*op).1 < strength => format!("({})", self.text(leaf)),
            _ if self.is_negative_const() => format!("({})", self.text(leaf)),
            _ => self.text(leaf),
        }
    }
}

fn operator(op: Arith) -> (&'static str, u8) {
    match op {
        Arith::Or => ("|", 1),
        Arith::Xor => ("^", 2),
        Arith::And => ("&", 3),
        Arith::Add => ("+", 4),
        Arith::Sub => ("-", 4),
        Arith::Mul => ("*", 5),
        Arith::Div => ("/", 5),
        Arith::Rem => ("%", 5),
    }
}

impl Relation {
    /// The sign that stands for it.
    pub fn sign(self) -> &'static str {
        match self {
            Relation::Eq => "==",
            Relation::Ne => "!=",
            Relation::Lt => "<",
            Relation::Le => "<=",
            Relation::Gt => ">",
            Relation::Ge => ">=",
        }
    }
}

impl<L> Cond<L> {
    /// This condition as text.
    pub fn text(&self, leaf: &dyn Fn(&L) -> String) -> String {
        self.text_with(leaf, &|_| false)
    }

    /// As [`Cond::text`]; leaves that are truth values print without a comparison to 0.
    fn text_with(&self, leaf: &dyn Fn(&L) -> String, truth: &dyn Fn(&L) -> bool) -> String {
        let part = |cond: &Cond<L>| match cond {
            Cond::And(_) | Cond::Or(_) => format!("({})", cond.text_with(leaf, truth)),
            _ => cond.text_with(leaf, truth),
        };
        let join = |parts: &[Cond<L>], word| parts.iter().map(part).collect::<Vec<_>>().join(word);
        match self {
            Cond::Const(value) => value.to_string(),
            Cond::Compare(relation, Expr::Leaf(l), Expr::Const(zero))
                if truth(l) && *zero == 0.into() && matches!(relation, Relation::Eq | Relation::Ne) =>
            {
                let not = if *relation == Relation::Eq { "!" } else { "" };
                format!("{not}{}", leaf(l))
            }
            Cond::Compare(relation, a, b) => format!("{} {} {}", a.text(leaf), relation.sign(), b.text(leaf)),
            Cond::And(parts) => join(parts, " && "),
            Cond::Or(parts) => join(parts, " || "),
        }
    }
}

impl Domain {
    /// The right-hand side that stands for it.
    pub fn text(&self) -> String {
        self.single().map_or_else(|| havoc_text(self), Int::to_string)
    }
}

impl Names {
    /// A property condition as text.
    pub fn cond(&self, cond: &Cond<Place>) -> String {
        cond.text_with(&|place| self.place(place), &|place| {
            matches!(place, Place::At(..) | Place::Drained(_))
        })
    }

    /// A property as text, like `never P0@cs && P1@cs`, in names that read back.
    pub fn property(&self, property: &Property) -> String {
        format!("{} {}", property.kind.word(), self.cond(&property.cond))
    }

    /// An expression of a thread as text.
    pub fn expr(&self, thread: ThreadId, expr: &Expr<RegId>) -> String {
        expr.text(&|r| self.register(thread, *r).to_string())
    }

    /// An operation as a statement, without the semicolon.
    pub fn op(&self, thread: ThreadId, op: &Op) -> String {
        self.step(thread, op, false)
    }

    /// As [`Names::op`]; if it must read back, divisions are marked as guarded elsewhere.
    fn step(&self, thread: ThreadId, op: &Op, reads_back: bool) -> String {
        let mark = if reads_back && op.may_divide_by_zero() { "unchecked " } else { "" };
        let register = |r: &RegId| self.register(thread, *r).to_string();
        match op {
            Op::Skip => "skip".to_string(),
            Op::Assign(r, value) => format!("{mark}{} = {}", register(r), value.text(&register)),
            Op::Havoc(r, domain) => format!("{} = {}", register(r), havoc_text(domain)),
            Op::Assume(cond) => format!("{mark}assume {}", cond.text(&register)),
            Op::Load(r, v) => format!("{} = {}", register(r), self.variable(*v)),
            Op::Store(v, value) => format!("{mark}{} = {}", self.variable(*v), value.text(&register)),
            Op::Fence(Fence::Full) => "fence".to_string(),
            Op::Fence(Fence::Store) => "fence store".to_string(),
            Op::Lock => "lock".to_string(),
            Op::Unlock => "unlock".to_string(),
            Op::Block { locked, parts } => {
                let word = if *locked { "locked" } else { "together" };
                let part = |part| self.step(thread, part, reads_back) + ";";
                format!("{word} {{ {} }}", parts.iter().map(part).collect::<Vec<_>>().join(" "))
            }
        }
    }
}

/// Unlike an initial value, a choice from one value must still read back as a choice.
fn havoc_text(domain: &Domain) -> String {
    match domain {
        Domain::Range(low, high) => format!("any in {low}..{}", high + 1),
        Domain::All => "any".to_string(),
    }
}

/// The program as `.fw` text.
pub fn print(program: &Program) -> String {
    let names = Names::printable(program);
    let mut out = String::new();
    print_variables(program, &names, &mut out);
    for start in &program.starts {
        let _ = writeln!(out, "assume {};", names.cond(&start.cond));
    }
    for id in program.thread_ids() {
        print_thread(program, id, &names, &mut out);
    }
    for property in &program.properties {
        let _ = write!(out, "\n{};", names.property(property));
    }
    if !program.properties.is_empty() {
        out.push('\n');
    }
    if !program.hints.is_empty() {
        out.push_str("\npredicates {\n");
        for hint in &program.hints {
            let _ = writeln!(out, "    {};", names.cond(&hint.cond));
        }
        out.push_str("}\n");
    }
    out
}

fn print_variables(program: &Program, names: &Names, out: &mut String) {
    let mut ids = program.variable_ids().peekable();
    while let Some(id) = ids.next() {
        let name = names.variable(id);
        let initial = &program.variable(id).initial;
        let Some((array, _)) = split_cell(name) else {
            let _ = writeln!(out, "shared {name} = {};", initial.text());
            continue;
        };
        let mut cells = vec![initial.text()];
        while let Some(next) =
            ids.next_if(|&next| split_cell(names.variable(next)) == Some((array, cells.len())))
        {
            cells.push(program.variable(next).initial.text());
        }
        let _ = writeln!(out, "shared {array}[{}] = {{{}}};", cells.len(), cells.join(", "));
    }
}

fn print_thread(program: &Program, id: ThreadId, names: &Names, out: &mut String) {
    let thread = program.thread(id);
    let _ = writeln!(out, "\nthread {} {{", names.thread(id));
    let registers: Vec<&str> =
        (0..thread.registers.len()).map(|r| names.register(id, RegId::new(r))).collect();
    if !registers.is_empty() {
        let _ = writeln!(out, "    let {};", registers.join(", "));
    }
    for loc in thread.locs() {
        let _ = writeln!(out, "    {}: {}", names.label(id, loc), statement(thread, id, loc, names));
    }
    out.push_str("}\n");
}

fn statement(thread: &Thread, id: ThreadId, loc: Loc, names: &Names) -> String {
    if let Some(failure) = &thread.location(loc).failure {
        return failure_statement(id, &failure.kind, names);
    }
    let step =
        |edge: &Edge| format!("{}; goto {};", names.step(id, &edge.op, true), names.label(id, edge.to));
    let steps: Vec<String> = thread.outgoing(loc).map(|(_, edge)| step(edge)).collect();
    match steps.as_slice() {
        [] => "stop;".to_string(),
        [only] => only.clone(),
        several => format!("choose {{ {} }}", several.join(" } or { ")),
    }
}

/// Words in quotes, on one line.
fn quoted_line(words: &str) -> String {
    quoted(&words.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn failure_statement(id: ThreadId, kind: &FailureKind, names: &Names) -> String {
    match kind {
        FailureKind::Assertion => "fail;".to_string(),
        FailureKind::Error(words) => format!("fail error {};", quoted_line(words)),
        FailureKind::Limit(words) => format!("fail limit {};", quoted_line(words)),
        FailureKind::Division => "fail division;".to_string(),
        FailureKind::Bounds { array, length, index } => {
            format!("fail bounds {array}[{length}] at {};", names.expr(id, index))
        }
    }
}

/// Whether two programs are equal up to the numbering of locations, names and spans.
pub fn same(a: &Program, b: &Program) -> bool {
    same_with(a, b, &|_, loc| loc)
}

/// As [`same`]; steps that do nothing, and are all that can be done there, do not count.
pub fn same_but_skips(a: &Program, b: &Program) -> bool {
    same_with(a, b, &|thread, loc| {
        let mut at = loc;
        for _ in thread.locs() {
            let mut leaving = thread.outgoing(at).map(|(_, edge)| edge);
            match (leaving.next(), leaving.next()) {
                (Some(edge), None) if edge.op == Op::Skip && edge.to != at => at = edge.to,
                _ => break,
            }
        }
        at
    })
}

/// Where a thread is that stands at a location.
type AfterSkips<'a> = dyn Fn(&Thread, Loc) -> Loc + 'a;

fn same_with(a: &Program, b: &Program, settled: &AfterSkips<'_>) -> bool {
    let initial = |p: &Program| p.variables.iter().map(|v| v.initial.clone()).collect::<Vec<_>>();
    let starts = |p: &Program| p.starts.iter().map(|start| start.cond.clone()).collect::<Vec<_>>();
    if a.threads.len() != b.threads.len() || initial(a) != initial(b) || starts(a) != starts(b) {
        return false;
    }
    let pairs: Option<Vec<_>> =
        a.threads.iter().zip(&b.threads).map(|(a, b)| same_thread(a, b, settled)).collect();
    let Some(pairs) = pairs else { return false };
    let rename = |cond: &Cond<Place>| {
        cond.map(&mut |place| match *place {
            Place::At(t, l) => Expr::Leaf(Place::At(t, pairs[t.index()].get(&l).copied().unwrap_or(l))),
            other => Expr::Leaf(other),
        })
    };
    let claims = |p: &Program, rename: &dyn Fn(&Cond<Place>) -> Cond<Place>| {
        let properties = p.properties.iter().map(|property| (Some(property.kind), rename(&property.cond)));
        properties.chain(p.hints.iter().map(|hint| (None, rename(&hint.cond)))).collect::<Vec<_>>()
    };
    claims(a, &rename) == claims(b, &Cond::clone)
}

/// Walks both threads side by side; the renaming of locations if they are the same.
fn same_thread(a: &Thread, b: &Thread, settled: &AfterSkips<'_>) -> Option<HashMap<Loc, Loc>> {
    let count = |thread: &Thread| thread.locs().filter(|loc| settled(thread, *loc) == *loc).count();
    if a.registers.len() != b.registers.len() || count(a) != count(b) {
        return None;
    }
    let mut pairs = HashMap::new();
    let mut stack = vec![(settled(a, a.entry()), settled(b, b.entry()))];
    let mut unreached = a.locs().filter(|loc| settled(a, *loc) == *loc);
    loop {
        while let Some((at, bt)) = stack.pop() {
            if let Some(&known) = pairs.get(&at) {
                if known != bt {
                    return None;
                }
                continue;
            }
            pairs.insert(at, bt);
            let failure = |t: &Thread, l| t.location(l).failure.as_ref().map(|f| f.kind.clone());
            if failure(a, at) != failure(b, bt) || a.outgoing(at).count() != b.outgoing(bt).count() {
                return None;
            }
            for ((_, ea), (_, eb)) in a.outgoing(at).zip(b.outgoing(bt)) {
                if ea.op != eb.op {
                    return None;
                }
                stack.push((settled(a, ea.to), settled(b, eb.to)));
            }
        }
        // What no walk from the entry meets stands in the same order in both.
        let next = unreached.find(|loc| !pairs.contains_key(loc));
        match next {
            Some(at) => {
                let used: std::collections::HashSet<Loc> = pairs.values().copied().collect();
                let mut others = b.locs().filter(|loc| settled(b, *loc) == *loc);
                stack.push((at, others.find(|loc| !used.contains(loc))?));
            }
            None => return Some(pairs),
        }
    }
}
