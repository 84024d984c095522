//! Programs and their twins in C have the same verdicts: those of the corpus, and random ones, whose
//! verdict comes from the exact search.
//!
//! A thread becomes a function with a label per location, and chooses between steps by
//! `__VERIFIER_nondet_int`. What C cannot say (a property about locations) has no twin.

use engine::{ENGINES, Explicit, Run, decide};
use evidence::{MostStates, Task};
use frontend::{FRONTENDS, Options};
use machine::MODELS;
use num_traits::ToPrimitive;
use program::{
    Arith, Cond, Domain, Expr, Fence, Int, Loc, Op, Place, Program, PropertyKind, RegId, Relation, Source,
    Thread,
};
use std::collections::BTreeMap;
use std::fmt::Write;
use support::corpus::{corpus, read};
use support::random;

/// States per question: the same on every machine.
const STATES: usize = 5_000;

fn number(value: &Int) -> Option<String> {
    // The smallest number has no literal in C.
    value.to_i64().filter(|value| *value > i64::MIN).map(|value| format!("({value}L)"))
}

fn expr<L>(value: &Expr<L>, leaf: &dyn Fn(&L) -> Option<String>) -> Option<String> {
    match value {
        Expr::Const(value) => number(value),
        Expr::Leaf(name) => leaf(name),
        Expr::Binary(op, a, b) => {
            let sign = match op {
                Arith::Add => "+",
                Arith::Sub => "-",
                Arith::Mul => "*",
                Arith::Div => "/",
                Arith::Rem => "%",
                Arith::And => "&",
                Arith::Or => "|",
                Arith::Xor => "^",
            };
            Some(format!("({} {sign} {})", expr(a, leaf)?, expr(b, leaf)?))
        }
    }
}

fn cond<L>(value: &Cond<L>, leaf: &dyn Fn(&L) -> Option<String>) -> Option<String> {
    let joined = |parts: &[Cond<L>], sign: &str| {
        let parts: Option<Vec<String>> = parts.iter().map(|part| cond(part, leaf)).collect();
        Some(format!("({})", parts?.join(sign)))
    };
    match value {
        Cond::Const(value) => Some(u8::from(*value).to_string()),
        Cond::And(parts) => joined(parts, " && "),
        Cond::Or(parts) => joined(parts, " || "),
        Cond::Compare(relation, a, b) => {
            let sign = match relation {
                Relation::Eq => "==",
                Relation::Ne => "!=",
                Relation::Lt => "<",
                Relation::Le => "<=",
                Relation::Gt => ">",
                Relation::Ge => ">=",
            };
            Some(format!("({} {sign} {})", expr(a, leaf)?, expr(b, leaf)?))
        }
    }
}

fn register(register: &RegId) -> Option<String> {
    Some(format!("r{}", register.index()))
}

fn memory(place: &Place) -> Option<String> {
    match place {
        Place::Memory(variable) => Some(format!("v{}", variable.index())),
        _ => None,
    }
}

fn step(op: &Op) -> Option<String> {
    Some(match op {
        Op::Skip => String::new(),
        Op::Assign(to, value) => format!("r{} = {};", to.index(), expr(value, &register)?),
        Op::Load(to, from) => format!("r{} = v{};", to.index(), from.index()),
        Op::Store(to, value) => format!("v{} = {};", to.index(), expr(value, &register)?),
        Op::Assume(holds) => format!("__VERIFIER_assume({});", cond(holds, &register)?),
        Op::Fence(Fence::Full) => "__sync_synchronize();".to_string(),
        Op::Fence(Fence::Store) => "__atomic_thread_fence(__ATOMIC_RELEASE);".to_string(),
        Op::Havoc(to, Domain::Range(low, high)) => {
            let (to, low, high) = (to.index(), number(low)?, number(high)?);
            format!("r{to} = __VERIFIER_nondet_long(); __VERIFIER_assume(r{to} >= {low} && r{to} <= {high});")
        }
        // Jumps cannot lead out of an atomic section of C, and no number of C may be any integer.
        Op::Havoc(_, Domain::All) | Op::Lock | Op::Unlock => return None,
        Op::Block { locked, parts } => {
            let parts: Option<Vec<String>> = parts.iter().map(step).collect();
            let parts = parts?.join(" ");
            if *locked {
                format!("__VERIFIER_atomic_begin(); {parts} __VERIFIER_atomic_end();")
            } else {
                parts
            }
        }
    })
}

fn thread(out: &mut String, index: usize, thread: &Thread) -> Option<()> {
    let _ = writeln!(out, "void *t{index}(void *unused) {{");
    for at in 0..thread.registers.len() {
        let _ = writeln!(out, "  long r{at} = 0;");
    }
    let _ = writeln!(out, "  goto L{};", thread.entry().index());
    for loc in thread.locs() {
        let _ = write!(out, "L{}: ;\n{}", loc.index(), location(thread, loc)?);
    }
    out.push_str("}\n");
    Some(())
}

fn location(thread: &Thread, loc: Loc) -> Option<String> {
    if thread.location(loc).failure.is_some() {
        return Some("  assert(0);\n  return 0;\n".to_string());
    }
    let steps =
        thread.outgoing(loc).map(|(_, edge)| Some(format!("{} goto L{};", step(&edge.op)?, edge.to.index())));
    let steps: Vec<String> = steps.collect::<Option<_>>()?;
    Some(match steps.split_last() {
        None => "  return 0;\n".to_string(),
        Some((only, [])) => format!("  {only}\n"),
        Some((last, others)) => {
            let mut out = "  switch (__VERIFIER_nondet_int()) {\n".to_string();
            for (at, step) in others.iter().enumerate() {
                let _ = writeln!(out, "    case {at}: {step}");
            }
            out + &format!("    default: {last}\n  }}\n")
        }
    })
}

/// The twin in C, if there is one.
fn twin(program: &Program) -> Option<String> {
    let mut out = "#include <pthread.h>\n#include <assert.h>\n".to_string();
    for (at, variable) in program.variables.iter().enumerate() {
        let Domain::Range(low, high) = &variable.initial else { return None };
        let _ = writeln!(out, "long v{at} = {};", number(low).filter(|_| low == high)?);
    }
    for (at, automaton) in program.threads.iter().enumerate() {
        thread(&mut out, at, automaton)?;
    }
    let mut claims = String::new();
    let mut threads = program.threads.len();
    for property in &program.properties {
        let holds = cond(&property.cond, &memory)?;
        match property.kind {
            PropertyKind::Finally => claims += &format!("  assert({holds});\n"),
            // A thread that may look at any time.
            PropertyKind::Never => {
                let _ = writeln!(
                    out,
                    "void *t{threads}(void *unused) {{\n  __VERIFIER_atomic_begin();\n  int bad = {holds};\n  \
                     __VERIFIER_atomic_end();\n  assert(!bad);\n  return 0;\n}}"
                );
                threads += 1;
            }
        }
    }
    out.push_str("int main(void) {\n");
    for at in 0..threads {
        let _ = writeln!(out, "  pthread_t p{at};\n  pthread_create(&p{at}, 0, t{at}, 0);");
    }
    for at in 0..threads {
        let _ = writeln!(out, "  pthread_join(p{at}, 0);");
    }
    Some(out + &claims + "  return 0;\n}\n")
}

/// Compares a program with its twin under all models; how often both had an answer.
fn compare(name: &str, program: &Program, answers: &mut BTreeMap<bool, usize>) {
    let Some(text) = twin(program) else { return };
    let c = FRONTENDS.iter().find(|frontend| frontend.name == "c").expect("registered");
    let read = (c.read)(Source::new("twin.c", text.as_str()), &Options::default());
    let read = read.unwrap_or_else(|errors| panic!("{name}: {errors:#?}\n{text}")).program;
    for model in MODELS {
        let limit = MostStates(STATES);
        let run = Run { monitor: &limit, ..Run::default() };
        let own = decide(&Task::safe(program, *model), &Explicit, &run).expect("evidence holds");
        let Some(safe) = own.checked.holds() else { continue };
        let other = decide(&Task::safe(&read, *model), ENGINES[1], &run).expect("evidence holds");
        let Some(twin_safe) = other.checked.holds() else { continue };
        assert_eq!(twin_safe, safe, "{name} under {}\n{text}", model.name());
        *answers.entry(safe).or_default() += 1;
    }
}

#[test]
fn twins_of_the_corpus_have_the_same_verdicts() {
    let mut answers = BTreeMap::new();
    for path in corpus() {
        compare(&path.display().to_string(), &read(&path, &BTreeMap::new()), &mut answers);
    }
    eprintln!("the same answers: {answers:?}");
    assert!(answers.len() == 2 && answers.values().all(|count| *count >= 5), "{answers:?}");
}

#[test]
fn twins_of_random_programs_have_the_same_verdicts() {
    let mut answers = BTreeMap::new();
    // A few answer both ways among so many.
    for seed in 0..random::seeds_or(160) {
        compare(&format!("seed {seed}"), &random::generate(seed), &mut answers);
    }
    eprintln!("the same answers: {answers:?}");
    assert!(answers.len() == 2 && answers.values().all(|count| *count >= 3), "{answers:?}");
}
