//! The random texts: every feature has its stated share, as seen in the text and in what the front
//! end makes of it, and together they are programs without bounds on which the models differ.

use super::texts::{FEATURES, S, Whole, generate, is_refused_for_constants, read};
use program::{Arith, Domain, Expr, Int, Op, Program, RegId};
use reference::{ReferenceLimits, ReferenceModel, explore};
use std::collections::BTreeMap;

const SEEDS: u64 = 3_000;
const EXPLORED: u64 = 400;

/// A feature as somebody sees it who does not know how it was put there.
type Sign = fn(&Whole, &Program) -> bool;

const SIGNS: &[(&str, Sign)] = &[
    ("any of a range", |whole, _| {
        any_statement(whole, &|s| matches!(s, S::AnyRegister(_, Some(_)) | S::AnyStore(_, Some(_))))
    }),
    ("any integer", |_, program| any_op(program, &|op| matches!(op, Op::Havoc(_, Domain::All)))),
    ("starts at any of a range", |_, program| {
        starts(program, &|d| d.single().is_none() && *d != Domain::All)
    }),
    ("starts at any integer", |_, program| starts(program, &|d| *d == Domain::All)),
    ("starts at a number", |whole, _| {
        ["1", "2", "-1"].iter().any(|n| whole.shared[..2].iter().any(|v| v.ends_with(&format!("= {n}"))))
    }),
    ("starts at a huge number", |_, program| {
        starts(program, &|d| d.single().is_some_and(|n| i64::try_from(n).is_err()))
    }),
    ("function", |whole, _| {
        !whole.functions.is_empty()
            && whole
                .text()
                .lines()
                .any(|line| !line.starts_with("fn") && (line.contains("f0(") || line.contains("f1(")))
    }),
    ("array", |_, program| program.variables.iter().any(|variable| variable.name == "a[0]")),
    ("array of two indices", |whole, program| {
        program.variables.iter().any(|variable| variable.name == "g[1][0]") && uses_word(whole, "g[")
    }),
    ("struct", |whole, program| {
        program.variables.iter().any(|variable| variable.name.ends_with(".two[1]"))
            && (uses_word(whole, "s.") || uses_word(whole, "p["))
    }),
    ("array or struct of registers", |whole, program| {
        let own = |name: &String| name == "m[1]" || name == "k.one";
        program.threads.iter().any(|thread| thread.registers.iter().any(own))
            && (uses_word(whole, "m[") || uses_word(whole, "k."))
    }),
    ("reference", |whole, _| any_statement(whole, &|s| matches!(s, S::Lend(..)))),
    ("for", |whole, _| any_statement(whole, &|s| matches!(s, S::For(..)))),
    ("goto", |whole, _| any_statement(whole, &|s| matches!(s, S::Goto(_)))),
    ("jump into a block", |whole, _| whole.threads.iter().any(|body| jumps_inwards(body))),
    ("jump into a section", |whole, _| whole.threads.iter().any(|body| jumps_into_section(body))),
    ("atomic section", |_, program| program.threads.iter().any(|t| t.locs().any(|loc| t.in_atomic(loc)))),
    ("atomic operation", |_, program| any_op(program, &|op| matches!(op, Op::Block { locked: true, .. }))),
    ("fetch or compare", |whole, program| {
        any_op(program, &|op| matches!(op, Op::Block { locked: true, .. }))
            && (uses_word(whole, "fetch_") || uses_word(whole, "cmpxchg("))
    }),
    ("locked", |whole, _| any_statement(whole, &|s| matches!(s, S::Locked(_)))),
    ("together", |_, program| any_op(program, &|op| matches!(op, Op::Block { locked: false, .. }))),
    ("product", |_, program| computes(program, &|op| op == Arith::Mul)),
    ("quotient or remainder", |_, program| computes(program, &|op| matches!(op, Arith::Div | Arith::Rem))),
    ("shift", |whole, _| whole.text().contains("<<") || whole.text().contains(">>")),
    ("conditional", |whole, _| whole.text().contains(" ? ")),
    ("update", |whole, _| any_statement(whole, &|s| matches!(s, S::Update(..)))),
    ("switch", |whole, _| any_statement(whole, &|s| matches!(s, S::Switch(..)))),
    ("do while", |whole, _| any_statement(whole, &|s| matches!(s, S::DoWhile(..)))),
    ("huge number", |whole, _| {
        whole.text().lines().skip(1).any(|line| line.contains("18446744073709551617"))
    }),
    ("label at a branch", |_, program| {
        program
            .threads
            .iter()
            .any(|t| t.locs().any(|loc| !t.location(loc).labels.is_empty() && t.outgoing(loc).count() > 1))
    }),
    ("choose", |whole, _| any_statement(whole, &|s| matches!(s, S::Choose(_)))),
    ("waiting", |whole, _| any_statement(whole, &|s| matches!(s, S::Await(_) | S::Assume(_)))),
    ("fence", |_, program| any_op(program, &|op| matches!(op, Op::Fence(_)))),
    ("stores in a loop", |whole, _| {
        any_statement(whole, &|s| {
            matches!(s, S::While(..) | S::Loop(_)) && any_in(s.bodies()[0], &|s| matches!(s, S::Store(..)))
        })
    }),
    ("counter", |whole, _| {
        any_statement(whole, &|s| {
            matches!(s, S::While(..) | S::Loop(_))
                && any_in(
                    s.bodies()[0],
                    &|s| matches!(s, S::Register(r, e) if e.text().starts_with(&format!("(r{r} + "))),
                )
        })
    }),
    ("assumed of initial values", |_, program| !program.starts.is_empty()),
    ("membarrier", |whole, _| any_statement(whole, &|s| matches!(s, S::Membarrier))),
    ("whatever", |_, _| true),
];

/// Whether a line that declares nothing has this in it.
fn uses_word(whole: &Whole, word: &str) -> bool {
    let declares = |line: &str| ["shared ", "let ", "struct "].iter().any(|start| line.starts_with(start));
    whole.text().lines().any(|line| !declares(line) && line.contains(word))
}

fn any_in(body: &[S], wanted: &dyn Fn(&S) -> bool) -> bool {
    body.iter().any(|s| wanted(s) || s.bodies().into_iter().any(|inner| any_in(inner, wanted)))
}

fn any_statement(whole: &Whole, wanted: &dyn Fn(&S) -> bool) -> bool {
    whole.threads.iter().any(|body| any_in(body, wanted))
}

fn any_op(program: &Program, wanted: &dyn Fn(&Op) -> bool) -> bool {
    program.threads.iter().flat_map(|thread| thread.edges()).any(|edge| wanted(&edge.op))
}

fn starts(program: &Program, wanted: &dyn Fn(&Domain) -> bool) -> bool {
    program.variables.iter().any(|variable| wanted(&variable.initial))
}

/// Whether an operation of two registers occurs, or of a register and a constant.
fn computes(program: &Program, wanted: &dyn Fn(Arith) -> bool) -> bool {
    let mut found = false;
    for edge in program.threads.iter().flat_map(|thread| thread.edges()) {
        edge.op.for_each_part(&mut |part| match part {
            Op::Assign(_, value) | Op::Store(_, value) => found |= uses(value, wanted),
            Op::Assume(cond) => cond.for_each_expr(&mut |value| found |= uses(value, wanted)),
            _ => {}
        });
    }
    found
}

fn uses(value: &Expr<RegId>, wanted: &dyn Fn(Arith) -> bool) -> bool {
    match value {
        Expr::Binary(op, a, b) => wanted(*op) || uses(a, wanted) || uses(b, wanted),
        Expr::Const(_) | Expr::Leaf(_) => false,
    }
}

/// Whether a label stands in a block that a jump to it stands outside of.
fn jumps_inwards(body: &[S]) -> bool {
    let inside = |block: &[S], wanted: &dyn Fn(&S) -> bool| any_in(block, wanted);
    let mut blocks = Vec::new();
    collect_blocks(body, &mut blocks);
    blocks.iter().any(|block| {
        let entered = |s: &S| match s {
            S::Goto(label) => {
                inside(block, &|s| matches!(s, S::Label(l) if l == label))
                    && !inside(block, &|s| matches!(s, S::Goto(l) if l == label))
            }
            _ => false,
        };
        any_in(body, &entered)
    })
}

fn collect_blocks<'a>(body: &'a [S], found: &mut Vec<&'a [S]>) {
    for inner in body.iter().flat_map(S::bodies) {
        found.push(inner);
        collect_blocks(inner, found);
    }
}

/// Whether a label follows a `lock` in its block at once: the only way in there is a jump.
fn jumps_into_section(body: &[S]) -> bool {
    let entry = |body: &[S]| body.windows(2).any(|pair| matches!(pair, [S::Lock, S::Label(_)]));
    let mut blocks = vec![body];
    collect_blocks(body, &mut blocks);
    blocks.into_iter().any(entry)
}

#[test]
fn every_feature_has_its_share() {
    let names: Vec<&str> = SIGNS.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, FEATURES.iter().map(|feature| feature.name).collect::<Vec<_>>());
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    let mut accepted = 0;
    for seed in 0..SEEDS {
        let whole = generate(seed);
        assert_eq!(whole.text(), generate(seed).text());
        let program = match read(&whole.text()) {
            Ok(program) => program,
            Err(errors) => {
                assert!(is_refused_for_constants(&errors), "seed {seed}\n{}\n{errors:?}", whole.text());
                continue;
            }
        };
        assert_eq!(program.validate(), Ok(()), "seed {seed}");
        accepted += 1;
        for (name, _) in SIGNS.iter().filter(|(_, sign)| sign(&whole, &program)) {
            *counts.entry(name).or_default() += 1;
        }
    }
    assert!(accepted * 20 > SEEDS * 19, "only {accepted} texts are accepted");
    println!("{counts:?}");
    for feature in FEATURES {
        let count = counts.get(feature.name).copied().unwrap_or(0);
        // A share of a sample of this size is met up to a sixth, or the generator is broken.
        let least = accepted * feature.share as u64 * 5 / 600;
        assert!(count >= least, "{}: {count} of {accepted}, not {} %", feature.name, feature.share);
    }
}

#[test]
fn the_texts_have_no_bounds_and_tell_the_models_apart() {
    let limits =
        ReferenceLimits { queue: 3, configs: 600, candidates: [-1, 0, 1, 7].map(Int::from).to_vec() };
    let reach = |program: &Program, model: ReferenceModel| explore(program, model, &limits);
    let (mut long_buffers, mut no_end, mut weaker) = (0, 0, 0);
    let programs = (0..EXPLORED).filter_map(|seed| read(&generate(seed).text()).ok());
    for program in programs.filter(|program| !computes(program, &|op| op == Arith::Mul)) {
        let [sc, tso] = [ReferenceModel::Sc, ReferenceModel::Tso].map(|model| reach(&program, model));
        long_buffers += u64::from(tso.cap_hit);
        no_end += u64::from(sc.truncated);
        weaker += u64::from(tso.violations.len() > sc.violations.len());
    }
    let found = format!("{long_buffers} long buffers, {no_end} without end, {weaker} weaker, of {EXPLORED}");
    println!("{found}");
    assert!(long_buffers * 20 > EXPLORED && no_end * 20 > EXPLORED && weaker * 100 > EXPLORED, "{found}");
}
