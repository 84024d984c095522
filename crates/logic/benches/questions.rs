//! Rates of the questions predicate abstraction asks, and z3 on the same ones.
//!
//! Contexts have 5 to 40 atoms over 10 to 60 variables; each is asked many
//! questions, about half of which are entailed. Run with `cargo bench`.

use std::io::{Read, Write};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fastrand::Rng;
use logic::{
    Atom, Context, Formula, Int, Linear, Style, Terms, Var, decide_formulas, interpolate, interpolate_as,
    smtlib_declaration, smtlib_formula,
};

/// What a workload is made of, in percent.
#[derive(Clone, Copy)]
struct Mix {
    /// General atoms among those of the context.
    general: u8,
    /// General atoms among the questions.
    asked: u8,
    /// Disequalities among the atoms of the context.
    disequal: u8,
}

/// A context and questions about it.
struct Workload {
    vars: usize,
    atoms: Vec<Atom>,
    questions: Vec<Atom>,
}

/// An atom that holds at the point, with some slack.
fn atom_at(rng: &mut Rng, point: &[i64], general: bool, slack: i64) -> Atom {
    let vars = point.len();
    let mut terms: Vec<(usize, i64)> = Vec::new();
    if general {
        (0..rng.usize(2..=3))
            .for_each(|_| terms.push((rng.usize(0..vars), rng.i64(1..=3) * if rng.bool() { 1 } else { -1 })));
    } else {
        terms.push((rng.usize(0..vars), 1));
        if rng.u8(0..10) > 0 {
            terms.push((rng.usize(0..vars), -1));
        } else if rng.bool() {
            terms[0].1 = -1;
        }
    }
    let value: i64 = terms.iter().map(|(var, a)| a * point[*var]).sum();
    let expr = Linear::new(terms.iter().map(|(var, a)| (Var::at(*var), Int::from(*a))), 0i64);
    match slack == 0 && rng.u8(0..3) == 0 {
        true => Atom::eq(expr, value),
        false => Atom::le(expr, value + slack),
    }
}

/// A difference that the point does not have, but nearly.
fn disequality_at(rng: &mut Rng, point: &[i64]) -> Atom {
    let (x, y) = (rng.usize(0..point.len()), rng.usize(0..point.len()));
    let off = if rng.bool() { 1 } else { -1 } * rng.i64(1..3);
    Atom::ne(Linear::from(Var::at(x)), Linear::from(Var::at(y)) + (point[x] - point[y] + off))
}

fn workload(rng: &mut Rng, mix: Mix, questions: usize) -> Workload {
    let vars = rng.usize(10..=60);
    let point: Vec<i64> = (0..vars).map(|_| rng.i64(-20..=20)).collect();
    let count = rng.usize(5..=40);
    let general = |rng: &mut Rng| rng.u8(0..100) < mix.general;
    let mut atoms = Vec::new();
    while atoms.len() < count {
        let (general, slack) = (general(rng), rng.i64(0..4));
        let atom = match rng.u8(0..100) < mix.disequal {
            true => disequality_at(rng, &point),
            false => atom_at(rng, &point, general, slack),
        };
        if !atom.is_true() {
            atoms.push(atom);
        }
    }
    // One context in eight is contradictory.
    if rng.u8(0..8) == 0 {
        let victim = atoms[rng.usize(0..atoms.len())].negate();
        atoms.push(victim);
    }
    let questions = (0..questions).map(|_| question(rng, &point, &atoms, mix.asked)).collect();
    Workload { vars, atoms, questions }
}

/// Half of the questions are sums of atoms of the context, hence entailed; the others are random.
fn question(rng: &mut Rng, point: &[i64], atoms: &[Atom], general_percent: u8) -> Atom {
    let general = rng.u8(0..100) < general_percent;
    if rng.bool() {
        let first = &atoms[rng.usize(0..atoms.len())];
        if !general {
            return match first.difference() {
                Some(_) => Atom::le(first.expr().clone() - rng.i64(0..2), 0),
                None => atom_at(rng, point, false, 2),
            };
        }
        let second = &atoms[rng.usize(0..atoms.len())];
        return Atom::le(first.expr().clone() + second.expr() - rng.i64(0..2), 0);
    }
    let slack = rng.i64(0..6);
    atom_at(rng, point, general, slack)
}

struct Tally {
    questions: usize,
    entailed: usize,
    loading: Duration,
    asking: Duration,
}

fn ours(workloads: &[Workload]) -> Tally {
    let mut tally = Tally { questions: 0, entailed: 0, loading: Duration::ZERO, asking: Duration::ZERO };
    let mut context = Context::new();
    for workload in workloads {
        let start = Instant::now();
        context.clear();
        workload.atoms.iter().for_each(|atom| context.assume(atom));
        tally.loading += start.elapsed();
        let start = Instant::now();
        tally.entailed += workload.questions.iter().filter(|question| context.entails(question)).count();
        tally.asking += start.elapsed();
        tally.questions += workload.questions.len();
    }
    tally
}

/// The same questions to z3 in one session; the entailed ones and the time, if z3 is there.
fn z3(workloads: &[Workload]) -> Option<(usize, Duration)> {
    let mut terms = Terms::new();
    (0..60).for_each(|n| {
        terms.var(&format!("x{n}"));
    });
    let mut script = String::from("(set-logic QF_LIA)\n");
    for workload in workloads {
        script.push_str("(push 1)\n");
        (0..workload.vars).for_each(|n| script.push_str(&smtlib_declaration(&terms, Var::at(n))));
        let assert = |atom: &Atom| format!("(assert {})\n", smtlib_formula(&terms, &Formula::from(atom)));
        workload.atoms.iter().for_each(|atom| script.push_str(&assert(atom)));
        for question in &workload.questions {
            script.push_str(&format!("(push 1){}(check-sat)(pop 1)\n", assert(&question.negate())));
        }
        script.push_str("(pop 1)\n");
    }
    let start = Instant::now();
    let spawned = Command::new("z3").arg("-in").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut child = spawned.ok()?;
    let mut stdin = child.stdin.take()?;
    let writer = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let mut output = String::new();
    child.stdout.take()?.read_to_string(&mut output).ok()?;
    writer.join().ok()?.ok()?;
    child.wait().ok()?;
    Some((output.lines().filter(|line| *line == "unsat").count(), start.elapsed()))
}

fn rate(count: usize, time: Duration) -> f64 {
    count as f64 / time.as_secs_f64()
}

fn report(name: &str, seed: u64, mix: Mix, contexts: usize) {
    let mut rng = Rng::with_seed(seed);
    let workloads: Vec<Workload> = (0..contexts).map(|_| workload(&mut rng, mix, 100)).collect();
    let tally = ours(&workloads);
    println!(
        "{name}: {} questions, {}% entailed\n  within loaded contexts {:>12.0} questions/s\n  with loading           {:>12.0} questions/s ({:.1} us a load)",
        tally.questions,
        100 * tally.entailed / tally.questions,
        rate(tally.questions, tally.asking),
        rate(tally.questions, tally.asking + tally.loading),
        tally.loading.as_secs_f64() * 1e6 / contexts as f64,
    );
    let sample = &workloads[..contexts.min(40)];
    let same = ours(sample);
    match z3(sample) {
        None => println!("  z3 is not installed, no comparison"),
        Some((entailed, time)) => {
            assert_eq!(entailed, same.entailed, "z3 disagrees");
            let (theirs, own) =
                (rate(same.questions, time), rate(same.questions, same.asking + same.loading));
            println!("  z3 through a pipe      {theirs:>12.0} questions/s, {:.0} times slower", own / theirs);
        }
    }
}

/// A path of a random program in single-assignment form that ends in a contradiction.
///
/// Six program variables; a step assigns one of them or passes a guard that holds in a
/// concrete run. The last step denies what the run computed. With `general`, some
/// assignments add two variables and some guards are disequalities.
fn path(rng: &mut Rng, length: usize, general: bool) -> Vec<Formula> {
    let mut next = 6;
    let mut current: Vec<(usize, i64)> = (0..6).map(|n| (n, n as i64)).collect();
    let v = |n: usize| Linear::from(Var::at(n));
    let mut steps = vec![Formula::conjunction(&(0..6).map(|n| Atom::eq(v(n), n as i64)).collect::<Vec<_>>())];
    while steps.len() + 1 < length {
        let (x, y) = (rng.usize(0..6), rng.usize(0..6));
        let ((from, value), (other, other_value)) = (current[x], current[y]);
        let step = match rng.u8(0..10) {
            0..=5 => {
                let add = rng.i64(-2..=3);
                current[x] = (next, other_value + add);
                next += 1;
                Atom::eq(v(next - 1), v(other) + add)
            }
            6 if general && value.abs() + other_value.abs() < 1000 && x != y => {
                current[x] = (next, value + other_value);
                next += 1;
                Atom::eq(v(next - 1), v(from) + v(other))
            }
            7 if general && value != other_value => Atom::ne(v(from), v(other)),
            _ if value <= other_value => Atom::le(v(from), v(other)),
            _ => Atom::lt(v(other), v(from)),
        };
        steps.push(Formula::from(step));
    }
    let (last, value) = current[rng.usize(0..6)];
    steps.push(Formula::from(Atom::gt(v(last), value)));
    steps
}

fn report_paths(name: &str, seed: u64, general: bool) {
    let mut rng = Rng::with_seed(seed);
    let paths: Vec<Vec<Formula>> = (0..20).map(|_| path(&mut rng, 300, general)).collect();
    let time = |run: &dyn Fn(&[Formula])| {
        let times: Vec<Duration> = paths
            .iter()
            .map(|path| {
                let start = Instant::now();
                run(path);
                start.elapsed()
            })
            .collect();
        let mean = times.iter().sum::<Duration>() / times.len() as u32;
        format!(
            "{:>8.2} ms, at most {:>8.2} ms",
            mean.as_secs_f64() * 1e3,
            times.iter().max().map_or(0.0, |t| t.as_secs_f64() * 1e3)
        )
    };
    println!("{name}");
    println!("  decided                  {}", time(&|path| assert!(!decide_formulas(path).is_sat())));
    println!("  interpolated and checked {}", time(&|path| assert!(interpolate(path).is_ok())));
    println!(
        "  from a minimal core      {}",
        time(&|path| assert!(interpolate_as(path, Style::Minimal).is_ok()))
    );
}

fn main() {
    let mix = |general, asked, disequal| Mix { general, asked, disequal };
    for (number, (name, mix, contexts)) in [
        ("differences only", mix(0, 0, 0), 2000),
        ("differences, one in five unequal", mix(0, 0, 20), 500),
        ("one in five general", mix(20, 20, 0), 500),
        ("one in five general, asked general ones", mix(20, 100, 0), 500),
        ("one in five general, one in five unequal", mix(20, 20, 20), 500),
        ("all general", mix(100, 100, 0), 200),
    ]
    .into_iter()
    .enumerate()
    {
        report(name, number as u64 + 1, mix, contexts);
    }
    report_paths("paths of 300 steps, differences", 5, false);
    report_paths("paths of 300 steps, with sums and disequalities", 6, true);
}
