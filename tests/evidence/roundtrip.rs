//! What is printed reads back: random programs, strange ones, the corpus, programs with fences
//! put in; and putting fences in does what fences do.

use support::models::models;
use support::random;

use engine::{Engine, Explicit, Run};
use evidence::{Ignore, MostStates, Task, check};
use fastrand::Rng;
use machine::{MODELS, Model, SC};
use program::{
    Arith, Cond, Domain, EdgeId, Expr, Failure, FailureKind, Fence, FenceSet, Hint, Int, Op, Place,
    Placement, Point, Program, Property, PropertyKind, RegId, Relation, Source, Span, Strength,
    ThreadBuilder, ThreadId, VarId, Variable, dot, print, same,
};
use random::{generate, seeds, sketch};
use reference::ReferenceLimits;
use std::collections::{BTreeMap, BTreeSet, HashSet};

fn read(name: &str, text: &str, defines: &BTreeMap<String, i64>) -> Program {
    let frontend = frontend::choose(Some("fw"), name, text).expect("a front end");
    let defines = defines.iter().map(|(name, value)| (name.clone(), Int::from(*value))).collect();
    let options = frontend::Options { defines, ..Default::default() };
    match (frontend.read)(Source::new(name, text), &options) {
        Ok(parsed) => parsed.program,
        Err(errors) => panic!("{name} does not read back: {errors:#?}\n{text}"),
    }
}

/// The law of this file. Returns the program that was read.
fn reads_back(program: &Program) -> Program {
    let text = print(program);
    let back = read("printed.fw", &text, &BTreeMap::new());
    assert!(
        same(program, &back),
        "{} reads back as another program:\n{text}\n{}",
        program.name,
        print(&back)
    );
    assert!(same(&back, program), "{}: `same` goes one way only", program.name);
    back
}

/// As [`reads_back`], to the same text. (Programs with fences put in number the places behind
/// them last, so they get another order once.)
fn reads_back_as_it_was(program: &Program) {
    let back = reads_back(program);
    assert_eq!(print(&back), print(program), "{} prints differently the second time", program.name);
}

#[test]
fn random_programs_read_back() {
    (0..seeds()).for_each(|seed| reads_back_as_it_was(&generate(seed)));
}

#[test]
fn programs_are_the_same_exactly_if_they_print_the_same() {
    let mut rng = Rng::with_seed(1);
    let (mut equal, mut different) = (0, 0);
    for seed in 0..seeds() {
        let target = rng.usize(..12);
        let seen = std::cell::Cell::new(0);
        let replace = |op: &Op| {
            seen.set(seen.get() + 1);
            let chosen = seen.get() == target;
            match op {
                Op::Store(v, value) if chosen => Op::Store(*v, Expr::binary(Arith::Add, value.clone(), 1)),
                Op::Fence(Fence::Full) if chosen => Op::Fence(Fence::Store),
                Op::Load(..) if chosen => Op::Skip,
                other => other.clone(),
            }
        };
        let (before, after) = (sketch(seed).build(), sketch(seed).map_ops(&replace).build());
        let as_text = print(&before) == print(&after);
        assert_eq!(same(&before, &after), as_text, "{}\n{}", print(&before), print(&after));
        *(if as_text { &mut equal } else { &mut different }) += 1;
    }
    assert!(equal > 60 && different > 60, "{equal} equal, {different} different");
}

const OPERATIONS: [Arith; 8] =
    [Arith::Add, Arith::Sub, Arith::Mul, Arith::Div, Arith::Rem, Arith::And, Arith::Or, Arith::Xor];

const RELATIONS: [Relation; 6] =
    [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];

const NAMES: [&str; 16] = [
    "x", "x", "x_2", "_", "while", "loop", "P", "L0", "L1", "a[0]", "a[1]", "a[3]", "stop", "größe", "0:EAX",
    "9",
];

fn constant(rng: &mut Rng) -> Int {
    let large = Int::from(i64::MAX) * Int::from(i64::MAX);
    [Int::ZERO, 1.into(), (-1).into(), 7.into(), i64::MIN.into(), large.clone(), -large][rng.usize(..7)]
        .clone()
}

fn expr<L: Clone>(rng: &mut Rng, leaves: &[L], depth: usize) -> Expr<L> {
    match rng.usize(..4) {
        0 | 1 if depth > 0 => {
            let (a, b) = (expr(rng, leaves, depth - 1), expr(rng, leaves, depth - 1));
            let op = OPERATIONS[rng.usize(..8)];
            // The language refuses what surely divides by zero.
            let zero = matches!(op, Arith::Div | Arith::Rem) && b.as_const() == Some(&Int::ZERO);
            Expr::binary(op, a, if zero { Expr::from(2) } else { b })
        }
        2 if !leaves.is_empty() => Expr::Leaf(leaves[rng.usize(..leaves.len())].clone()),
        _ => Expr::Const(constant(rng)),
    }
}

fn cond<L: Clone>(rng: &mut Rng, leaves: &[L], depth: usize) -> Cond<L> {
    match rng.usize(..4) {
        0 if depth > 0 => Cond::and((0..3).map(|_| cond(rng, leaves, depth - 1)).collect::<Vec<_>>()),
        1 if depth > 0 => Cond::or((0..3).map(|_| cond(rng, leaves, depth - 1)).collect::<Vec<_>>()),
        2 => cond_of_one(rng, leaves).negate(),
        _ => cond_of_one(rng, leaves),
    }
}

fn cond_of_one<L: Clone>(rng: &mut Rng, leaves: &[L]) -> Cond<L> {
    Cond::compare(RELATIONS[rng.usize(..6)], expr(rng, leaves, 2), expr(rng, leaves, 2))
}

fn domain(rng: &mut Rng) -> Domain {
    let (a, b) = (constant(rng), constant(rng));
    match rng.usize(..4) {
        0 => Domain::All,
        1 => Domain::only(a),
        _ => Domain::Range(a.clone().min(b.clone()), a.max(b)),
    }
}

/// One step with operands that no front end of ours would make of a sensible text.
fn strange_op(rng: &mut Rng, registers: &[RegId], variables: usize, in_block: bool) -> Op {
    let register = registers[rng.usize(..registers.len())];
    let variable = VarId::new(rng.usize(..variables));
    match rng.usize(..if in_block { 4 } else { 9 }) {
        0 => Op::Assign(register, expr(rng, registers, 4)),
        1 => Op::Assume(cond(rng, registers, 2)),
        2 => Op::Load(register, variable),
        3 => Op::Store(variable, expr(rng, registers, 3)),
        4 => Op::Havoc(register, domain(rng)),
        5 => Op::Fence(if rng.bool() { Fence::Full } else { Fence::Store }),
        6 => Op::Skip,
        kind => {
            let locked = kind == 7;
            let parts = (0..rng.usize(1..4)).map(|_| strange_op(rng, registers, variables, true));
            let parts = parts.filter(|part| locked || !matches!(part, Op::Store(..)));
            Op::Block { locked, parts: parts.collect() }
        }
    }
}

/// A program of strange names, numbers and shapes. Names that must differ are made to.
fn strange_program(seed: u64) -> Program {
    let mut rng = Rng::with_seed(seed);
    let mut program = Program::new(format!("strange, seed {seed}"), Source::default());
    let mut names = HashSet::new();
    for _ in 0..rng.usize(1..6) {
        let name = NAMES[rng.usize(..NAMES.len())].to_string();
        if names.insert(name.clone()) {
            let initial = domain(&mut rng);
            program.add_variable(Variable { name, initial, span: Span::NONE });
        }
    }
    let mut names = HashSet::new();
    for _ in 0..rng.usize(1..4) {
        let name = NAMES[rng.usize(..NAMES.len())];
        if names.insert(name) {
            program.threads.push(strange_thread(&mut rng, name, program.variables.len()));
        }
    }
    // In properties the language wants constant divisors.
    let whole = |cond: &Cond<Place>| {
        let mut divides = false;
        cond.for_each_expr(&mut |expr| divides |= has_division(expr));
        !divides
    };
    let mut places: Vec<Place> = program.variable_ids().map(Place::Memory).collect();
    for id in program.thread_ids() {
        let thread = program.thread(id);
        places.extend(thread.locs().map(|loc| Place::At(id, loc)));
        places.extend((0..thread.registers.len()).map(|r| Place::Register(id, RegId::new(r))));
    }
    for _ in 0..rng.usize(..4) {
        let kind = if rng.bool() { PropertyKind::Never } else { PropertyKind::Finally };
        let [cond, hint] = [2, 1].map(|depth| cond(&mut rng, &places, depth));
        if whole(&cond) && whole(&hint) {
            program.properties.push(Property { kind, cond, span: Span::NONE, text: None });
            program.hints.extend(Some(Hint { cond: hint, span: Span::NONE }).filter(Hint::speaks));
        }
    }
    program
}

fn has_division<L>(expr: &Expr<L>) -> bool {
    match expr {
        Expr::Binary(op, a, b) => matches!(op, Arith::Div | Arith::Rem) || has_division(a) || has_division(b),
        _ => false,
    }
}

fn strange_thread(rng: &mut Rng, name: &str, variables: usize) -> program::Thread {
    let mut builder = ThreadBuilder::new(name);
    let mut names = HashSet::new();
    let mut registers = Vec::new();
    while registers.is_empty() || rng.usize(..3) > 0 {
        let name = NAMES[rng.usize(..NAMES.len())];
        if names.insert(name) {
            registers.push(builder.register(name));
        }
    }
    let mut locs = vec![builder.entry()];
    for _ in 0..rng.usize(1..8) {
        let from = locs[rng.usize(..locs.len())];
        let op = strange_op(rng, &registers, variables, false);
        if rng.usize(..4) == 0 {
            builder.edge(from, op, locs[rng.usize(..locs.len())], Span::NONE);
        } else {
            let to = builder.step(from, op, Span::NONE);
            if rng.bool() {
                builder.label(to, NAMES[rng.usize(..NAMES.len())]);
            }
            locs.push(to);
        }
    }
    let from = locs[rng.usize(..locs.len())];
    let failed = builder.step(from, Op::Assume(cond(rng, &registers, 1)), Span::NONE);
    let kind = match rng.usize(..3) {
        0 => FailureKind::Assertion,
        1 => FailureKind::Division,
        _ => {
            let index = expr(rng, &registers, 2);
            FailureKind::Bounds { array: "a".to_string(), length: rng.usize(..9), index }
        }
    };
    builder.fail(failed, Failure { kind, span: Span::NONE });
    builder.finish().expect("no atomic sections, no faults")
}

#[test]
fn strange_programs_read_back() {
    for seed in 0..seeds() {
        let program = strange_program(seed);
        program.validate().unwrap_or_else(|faults| panic!("{}: {faults:?}", program.name));
        reads_back_as_it_was(&program);
    }
}

#[derive(serde::Deserialize)]
struct Expected {
    case: Vec<Case>,
}

#[derive(serde::Deserialize)]
struct Case {
    #[serde(default)]
    define: BTreeMap<String, i64>,
}

/// Every program of the corpus, with all parameters that its data mention.
fn corpus() -> Vec<Program> {
    let mut programs = Vec::new();
    for path in support::corpus::corpus() {
        let data = std::fs::read_to_string(path.with_extension("toml")).expect("data beside the program");
        let data: Expected = toml::from_str(&data).expect("well-formed data");
        let defines: BTreeSet<BTreeMap<String, i64>> =
            data.case.into_iter().map(|case| case.define).chain([BTreeMap::new()]).collect();
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.file_name().and_then(|name| name.to_str()).expect("a plain name");
        programs.extend(defines.iter().map(|defines| read(name, &text, defines)));
    }
    programs
}

#[test]
fn the_corpus_reads_back() {
    let programs = corpus();
    programs.iter().for_each(reads_back_as_it_was);
    assert!(programs.len() > 80, "only {} programs", programs.len());
}

/// A few fences of all kinds in all kinds of places.
fn random_fences(program: &Program, rng: &mut Rng) -> FenceSet {
    let mut fences = FenceSet::new();
    for _ in 0..rng.usize(1..5) {
        let thread = ThreadId::new(rng.usize(..program.threads.len()));
        let automaton = program.thread(thread);
        let edges = automaton.edges().len();
        let locs: Vec<_> = automaton.locs().collect();
        let point = if edges > 0 && rng.bool() {
            Point::After(EdgeId::new(rng.usize(..edges)))
        } else {
            Point::At(locs[rng.usize(..locs.len())])
        };
        let strength = match rng.usize(..3) {
            0 => Strength::Fence(Fence::Full),
            1 => Strength::Fence(Fence::Store),
            _ if matches!(point, Point::After(_)) => Strength::Exchange,
            _ => Strength::Fence(Fence::Full),
        };
        fences.insert(Placement { thread, point, strength });
    }
    fences
}

/// Checks what holds of any program with any fences put in; returns it.
fn fenced_well(program: &Program, fences: &FenceSet) -> Program {
    let fenced = fences.apply(program);
    if let Err(faults) = fenced.validate() {
        panic!("{}: {faults:?} after {fences:?}\n{}", program.name, print(program));
    }
    reads_back_as_it_was(&reads_back(&fenced));
    assert_eq!(fenced.properties, program.properties);
    for (before, after) in program.threads.iter().zip(&fenced.threads) {
        for loc in before.locs() {
            let (old, new) = (before.location(loc), after.location(loc));
            assert_eq!((&old.labels, &old.failure), (&new.labels, &new.failure), "{}", program.name);
            assert_eq!(before.is_end(loc), after.is_end(loc), "{}: {fences:?}", program.name);
            let leaves = after.outgoing(loc).next().is_some();
            assert!(!leaves || new.failure.is_none(), "{}: nothing leaves a failure", program.name);
        }
    }
    fenced
}

#[test]
fn programs_with_fences_are_valid_and_read_back() {
    let mut rng = Rng::with_seed(2);
    for seed in 0..seeds() {
        let program = generate(seed);
        let fences = random_fences(&program, &mut rng);
        fenced_well(&program, &fences);
    }
    for program in corpus() {
        let fences = random_fences(&program, &mut rng);
        fenced_well(&program, &fences);
    }
}

/// Whether a condition says of some thread that it is *not* at a place. A fence makes new places,
/// so such a claim may change its meaning.
fn speaks_of_absence(cond: &Cond<Place>) -> bool {
    match cond {
        Cond::Const(_) => false,
        Cond::And(parts) | Cond::Or(parts) => parts.iter().any(speaks_of_absence),
        Cond::Compare(relation, a, b) => {
            let at = |expr: &Expr<Place>| matches!(expr, Expr::Leaf(Place::At(..)));
            (at(a) || at(b)) && *relation != Relation::Ne
        }
    }
}

fn violations(
    program: &Program,
    model: reference::ReferenceModel,
) -> Option<BTreeSet<reference::ReferenceViolation>> {
    let limits = ReferenceLimits { queue: 4, configs: 3000, candidates: Vec::new() };
    let reached = reference::explore(program, model, &limits);
    (!reached.truncated && !reached.cap_hit).then_some(reached.violations)
}

/// Whether the program is safe, by the engine.
fn is_safe(program: &Program, model: Model) -> Option<bool> {
    let task = Task::safe(program, model);
    let answer =
        Explicit.verify(&task, &Run { monitor: &MostStates(20_000), max_buffer: Some(8), ..Run::default() });
    check(&task, answer.verdict, &Ignore).expect("evidence").holds()
}

#[test]
fn fences_change_nothing_under_sc() {
    let mut rng = Rng::with_seed(3);
    let (mut judged, mut violated) = (0, 0);
    for seed in 0..seeds() {
        let mut program = generate(seed);
        program.properties.retain(|p| p.kind == PropertyKind::Finally || !speaks_of_absence(&p.cond));
        let fences = random_fences(&program, &mut rng);
        let fenced = fenced_well(&program, &fences);
        let Some(expected) = violations(&program, reference::ReferenceModel::Sc) else { continue };
        let found = violations(&fenced, reference::ReferenceModel::Sc);
        let show = || format!("{fences:?}\n{}\n{}", print(&program), print(&fenced));
        assert_eq!(found.as_ref().unwrap_or(&expected), &expected, "{}: {}", program.name, show());
        assert_eq!(is_safe(&fenced, SC), Some(expected.is_empty()), "{}: {}", program.name, show());
        judged += 1;
        violated += usize::from(!expected.is_empty());
    }
    assert!(
        judged * 3 > 2 * seeds() as usize && violated > 40 && violated < judged,
        "{judged} judged, {violated} violated"
    );
}

/// The same thing done to every store that is an edge of its own.
fn after_every_store(program: &Program, strength: Strength) -> Program {
    let mut fences = FenceSet::new();
    for thread in program.thread_ids() {
        for (at, edge) in program.thread(thread).edges().iter().enumerate() {
            if matches!(edge.op, Op::Store(..)) {
                fences.insert(Placement { thread, point: Point::After(EdgeId::new(at)), strength });
            }
        }
    }
    fenced_well(program, &fences)
}

#[test]
fn a_fence_after_every_store_gives_sc() {
    let (mut judged, mut needed) = (0, 0);
    for seed in 0..seeds() {
        let mut program = generate(seed);
        // A `never` could see the thread behind a store whose value is not in memory yet.
        program.properties.retain(|property| property.kind == PropertyKind::Finally);
        let Some(expected) = is_safe(&program, SC) else { continue };
        let fenced = after_every_store(&program, Strength::Fence(Fence::Full));
        for model in MODELS.iter().filter(|model| model.buffers()) {
            let found = is_safe(&fenced, *model);
            let shown = || format!("{} {}\n{}", program.name, model.name(), print(&fenced));
            assert_eq!(found, Some(expected), "{}", shown());
            judged += 1;
            needed += usize::from(is_safe(&program, *model) != Some(expected));
        }
    }
    assert!(judged * 3 > 4 * seeds() as usize && needed > 8, "{judged} judged, {needed} needed the fences");
}

#[test]
fn exchanges_instead_of_stores_give_sc() {
    let (mut judged, mut needed) = (0, 0);
    for seed in 0..seeds() {
        let program = generate(seed);
        let Some(expected) = violations(&program, reference::ReferenceModel::Sc) else { continue };
        let fenced = after_every_store(&program, Strength::Exchange);
        for (model, independent) in models() {
            assert_eq!(violations(&fenced, independent).as_ref(), Some(&expected), "{}", print(&fenced));
            assert_eq!(is_safe(&fenced, model), Some(expected.is_empty()), "{}", print(&fenced));
            judged += 1;
            needed += usize::from(is_safe(&program, model) != Some(expected.is_empty()));
        }
    }
    assert!(judged > 2 * seeds() as usize && needed > 8, "{judged} judged, {needed} needed the exchanges");
}

/// The text with everything in quotes taken out; fails if a quote is not closed on its line.
fn without_quoted(line: &str) -> String {
    let mut plain = String::new();
    let mut quoted = false;
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if quoted => drop(chars.next()),
            '"' => quoted = !quoted,
            other if !quoted => plain.push(other),
            _ => {}
        }
    }
    assert!(!quoted, "an open quote: {line}");
    plain
}

fn is_well_formed_graph(program: &Program) {
    let graph = dot(program);
    let (mut depth, mut nodes, mut edges) = (0, HashSet::new(), Vec::new());
    for line in graph.lines() {
        let plain = without_quoted(line);
        let (words, brackets) = (plain.trim(), |open, close| {
            plain.matches(open).count() as isize - plain.matches(close).count() as isize
        });
        assert_eq!(brackets('[', ']'), 0, "{line}");
        depth += brackets('{', '}');
        let closed = words.ends_with(['{', '}', ';']) && depth >= 0;
        assert!(closed, "{}: {line}", program.name);
        let name = |text: &str| text.split_whitespace().next().unwrap_or("").to_string();
        match words.split_once("->") {
            Some((from, to)) => edges.extend([name(from), name(to)]),
            None if words.starts_with('t') => assert!(nodes.insert(name(words)), "twice: {line}"),
            None => {}
        }
    }
    assert_eq!(depth, 0, "{graph}");
    assert!(edges.iter().all(|end| nodes.contains(end)), "{graph}");
    let count = |of: fn(&program::Thread) -> usize| program.threads.iter().map(of).sum::<usize>();
    assert_eq!(nodes.len(), count(|thread| thread.locs().count()));
    assert_eq!(edges.len(), 2 * count(|thread| thread.edges().len()));
}

#[test]
fn graphs_are_well_formed() {
    (0..500).for_each(|seed| is_well_formed_graph(&generate(seed)));
    (0..500).for_each(|seed| is_well_formed_graph(&strange_program(seed)));
    corpus().iter().for_each(is_well_formed_graph);
}
