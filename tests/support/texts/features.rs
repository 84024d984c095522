//! What programs are made of: a few statements for each feature of the language.

use super::make::Maker;
use super::tree::{Case, E, Root, S, Target, Updating};
use program::{Arith, Relation};

/// Something of the language that the basic threads do not have.
pub struct Feature {
    /// What it is called in reports.
    pub name: &'static str,
    /// Out of a hundred programs, this many have it for sure.
    pub share: usize,
    pub(super) add: Addition,
}

/// How a feature comes into a program.
pub(super) enum Addition {
    /// Statements somewhere in a thread.
    Statements(fn(&mut Maker) -> Vec<S>),
    /// An initial value of a variable.
    Initial(fn(&mut Maker) -> String),
    /// Something that is assumed of initial values. Variables that start at 0 otherwise start at one of several.
    Assumed(fn(&mut Maker) -> String),
}

use Addition::{Assumed, Initial, Statements};

const fn feature(name: &'static str, share: usize, add: Addition) -> Feature {
    Feature { name, share, add }
}

/// What programs are made of.
pub const FEATURES: &[Feature] = &[
    feature("any of a range", 15, Statements(any_of_range)),
    feature("any integer", 15, Statements(any_integer)),
    feature("starts at any of a range", 8, Initial(|_| "any in 0..2".to_string())),
    feature("starts at any integer", 8, Initial(|_| "any".to_string())),
    feature("starts at a number", 20, Initial(|maker| maker.pick(&["1", "2", "-1"]).to_string())),
    feature("starts at a huge number", 3, Initial(|_| E::Huge.text())),
    feature(FUNCTION, 15, Statements(call)),
    feature(ARRAY, 15, Statements(cells)),
    feature(GRID, 8, Statements(|maker| parts(maker, Root::Grid))),
    feature(STRUCT, 8, Statements(fields)),
    feature(OWN, 8, Statements(own)),
    feature(REFERENCE, 10, Statements(|maker| maker.lend().into_iter().collect())),
    feature("for", 12, Statements(counted)),
    feature("goto", 15, Statements(jump)),
    feature("jump into a block", 15, Statements(jump_into)),
    feature("jump into a section", 8, Statements(jump_between_sections)),
    feature("atomic section", 12, Statements(section)),
    feature("atomic operation", 15, Statements(atomic_operation)),
    feature("fetch or compare", 10, Statements(fetch)),
    feature("locked", 12, Statements(locked)),
    feature("together", 12, Statements(together)),
    feature("product", 15, Statements(product)),
    feature("quotient or remainder", 15, Statements(quotient)),
    feature("shift", 8, Statements(shift)),
    feature("conditional", 10, Statements(conditional)),
    feature("update", 12, Statements(update)),
    feature("switch", 10, Statements(switch)),
    feature("do while", 8, Statements(do_while)),
    feature("huge number", 4, Statements(huge)),
    feature("label at a branch", 20, Statements(label_at_branch)),
    feature("choose", 10, Statements(choice)),
    feature("waiting", 10, Statements(waiting)),
    feature("fence", 15, Statements(fence)),
    feature("stores in a loop", 15, Statements(stores_in_loop)),
    feature("counter", 15, Statements(counter)),
    feature("assumed of initial values", 10, Assumed(assumed)),
    feature("membarrier", 6, Statements(|_| vec![S::Membarrier])),
    feature("whatever", 15, Statements(|maker| vec![maker.statement(2)])),
];

/// Declarations depend on these.
pub(super) const FUNCTION: &str = "function";
pub(super) const ARRAY: &str = "array";
pub(super) const GRID: &str = "array of two indices";
pub(super) const STRUCT: &str = "struct";
pub(super) const OWN: &str = "array or struct of registers";
pub(super) const REFERENCE: &str = "reference";

fn assumed(maker: &mut Maker) -> String {
    let conditions =
        ["x0 <= x1", "x0 != x1", "x0 + x1 == 1", "x0 == 0 || x1 > x0", "x0 > x1 && x1 > x0", "x1 >= 1"];
    format!("assume {};", maker.pick(&conditions))
}

pub(super) fn load(register: usize, variable: usize) -> S {
    S::Register(register, E::Variable(variable))
}

pub(super) fn constant(maker: &mut Maker) -> E {
    E::Const(maker.pick(&[0, 1, 1, 1, 2, -1]))
}

fn value(maker: &mut Maker) -> E {
    let register = maker.register();
    match maker.random.usize(..8) {
        0..4 => constant(maker),
        4..6 => E::Register(register),
        _ => {
            let op = maker.pick(&[Arith::Add, Arith::Sub]);
            E::Binary(op, Box::new(E::Register(register)), Box::new(constant(maker)))
        }
    }
}

/// A comparison of a register or, with a load, of a variable.
fn cond(maker: &mut Maker) -> E {
    let left = if maker.chance(70) { E::Register(maker.register()) } else { E::Variable(maker.variable()) };
    let right = if maker.chance(70) { constant(maker) } else { E::Register(maker.register()) };
    E::Compare(maker.relation(), Box::new(left), Box::new(right))
}

/// A comparison that most small numbers satisfy.
fn likely(maker: &mut Maker) -> E {
    let (relation, bound) = maker.pick(&[
        (Relation::Le, 2),
        (Relation::Ge, -1),
        (Relation::Ne, -1),
        (Relation::Ne, 2),
        (Relation::Ge, 0),
    ]);
    E::Compare(relation, Box::new(E::Register(maker.register())), Box::new(E::Const(bound)))
}

fn store(maker: &mut Maker) -> S {
    S::Store(Target::Variable(maker.variable()), value(maker))
}

pub(super) fn simple(maker: &mut Maker) -> S {
    match maker.random.usize(..10) {
        0..4 => store(maker),
        4..7 => load(maker.register(), maker.variable()),
        7 => S::Register(maker.register(), value(maker)),
        8 => S::Assert(likely(maker)),
        _ => S::If(cond(maker), vec![store(maker)], vec![]),
    }
}

fn some(maker: &mut Maker) -> Vec<S> {
    (0..maker.random.usize(1..=2)).map(|_| simple(maker)).collect()
}

fn any_of_range(maker: &mut Maker) -> Vec<S> {
    let low = maker.pick(&[-1, 0, 0, 1]);
    let range = Some((low, low + maker.pick(&[1, 2, 2, 3])));
    vec![match maker.random.bool() {
        true => S::AnyRegister(maker.register(), range),
        false => S::AnyStore(Target::Variable(maker.variable()), range),
    }]
}

fn any_integer(maker: &mut Maker) -> Vec<S> {
    if maker.chance(30) {
        return vec![S::AnyStore(Target::Variable(maker.variable()), None)];
    }
    let chosen = maker.register();
    let mut statements = vec![S::AnyRegister(chosen, None)];
    if maker.chance(50) {
        let small = E::Compare(maker.relation(), Box::new(E::Register(chosen)), Box::new(value(maker)));
        statements.push(S::If(small, some(maker), vec![]));
    }
    statements
}

fn call(maker: &mut Maker) -> Vec<S> {
    let called = maker.random.usize(..maker.functions);
    let call = E::Call(called, Box::new(value(maker)), Box::new(value(maker)));
    vec![match maker.random.usize(..3) {
        0 => S::Evaluate(call),
        1 => S::If(call, vec![store(maker)], vec![]),
        _ => S::Register(maker.register(), call),
    }]
}

fn cells(maker: &mut Maker) -> Vec<S> {
    let index = E::Register(maker.register());
    let first = match maker.random.usize(..3) {
        0 => S::Store(Target::Cell(Box::new(index)), value(maker)),
        1 => S::Register(maker.register(), E::Cell(Box::new(index))),
        _ => S::Store(Target::Cell(Box::new(maker.index(1))), value(maker)),
    };
    vec![first, S::Register(maker.register(), E::Cell(Box::new(maker.index(0))))]
}

/// Parts of an array or struct, written and read.
fn parts(maker: &mut Maker, root: Root) -> Vec<S> {
    let (written, read) = (maker.path(root, 0), maker.path(root, 0));
    let first = S::Store(Target::Part(root, written), value(maker));
    vec![first, S::Register(maker.register(), E::Part(root, read))]
}

fn fields(maker: &mut Maker) -> Vec<S> {
    let declared = maker.shared_roots.iter().find(|root| **root != Root::Grid);
    let root = declared.copied().unwrap_or(Root::Record);
    parts(maker, root)
}

fn own(maker: &mut Maker) -> Vec<S> {
    let root = maker.pick(&maker.own_roots.clone());
    parts(maker, root)
}

fn fetch(maker: &mut Maker) -> Vec<S> {
    let (target, op, register) = (maker.target(0), maker.fetched(), maker.register());
    let fetch = match maker.random.bool() {
        true => E::Fetch(op, target, Box::new(value(maker))),
        false => E::Cmpxchg(target, Box::new(constant(maker)), Box::new(value(maker))),
    };
    vec![if maker.chance(70) { S::Register(register, fetch) } else { S::Evaluate(fetch) }]
}

fn shift(maker: &mut Maker) -> Vec<S> {
    let (left, shifted) = (maker.random.bool(), E::Register(maker.register()));
    let places = maker.places();
    used(maker, E::Shift(left, Box::new(shifted), Box::new(places)))
}

fn conditional(maker: &mut Maker) -> Vec<S> {
    let other = if maker.random.bool() { E::Variable(maker.variable()) } else { value(maker) };
    let value = E::Conditional(Box::new([cond(maker), value(maker), other]));
    used(maker, value)
}

fn update(maker: &mut Maker) -> Vec<S> {
    let place = maker.place(0);
    let target = if maker.random.bool() { Target::Register(maker.register()) } else { place };
    let op = maker.pick(&[Arith::Add, Arith::Sub, Arith::And, Arith::Or, Arith::Xor]);
    let counts = matches!(op, Arith::Add | Arith::Sub) && maker.random.bool();
    vec![S::Update(target, Updating::Arith(op), if counts { None } else { Some(value(maker)) })]
}

fn switch(maker: &mut Maker) -> Vec<S> {
    let value =
        if maker.random.bool() { E::Register(maker.register()) } else { E::Variable(maker.variable()) };
    let mut case = |values: &[i64]| {
        let mut body = if maker.chance(80) { vec![simple(maker)] } else { vec![] };
        body.extend(maker.random.bool().then_some(S::Break));
        Case { values: values.to_vec(), body }
    };
    let mut cases = vec![case(&[1]), case(&[0, 2]), case(&[])];
    maker.random.shuffle(&mut cases);
    cases.truncate(maker.random.usize(1..=3));
    vec![S::Switch(value, cases)]
}

fn do_while(maker: &mut Maker) -> Vec<S> {
    let mut body = some(maker);
    if maker.chance(30) {
        let leave = if maker.random.bool() { S::Break } else { S::Continue };
        body.insert(0, S::If(cond(maker), vec![leave], vec![]));
    }
    vec![S::DoWhile(body, cond(maker))]
}

fn counted(maker: &mut Maker) -> Vec<S> {
    vec![S::For(maker.name(), maker.random.usize(1..=2), some(maker))]
}

fn jump(maker: &mut Maker) -> Vec<S> {
    let label = maker.name();
    let go = S::If(cond(maker), vec![S::Goto(label)], vec![]);
    let mut statements = some(maker);
    if maker.random.bool() {
        statements.insert(0, S::Label(label));
        statements.push(go);
    } else {
        statements.insert(0, go);
        statements.push(S::Label(label));
    }
    statements
}

/// Into a loop or a branch, from before it or from another branch.
fn jump_into(maker: &mut Maker) -> Vec<S> {
    let label = maker.name();
    let mut inside = some(maker);
    inside.insert(maker.random.usize(..=inside.len()), S::Label(label));
    let go = S::If(cond(maker), vec![S::Goto(label)], vec![]);
    match maker.random.usize(..7) {
        0 => vec![go, S::While(cond(maker), inside)],
        5 => vec![go, S::DoWhile(inside, cond(maker))],
        6 => {
            let (before, value) = (Case { values: vec![1], body: some(maker) }, cond(maker));
            vec![go, S::Switch(value, vec![before, Case { values: vec![], body: inside }])]
        }
        1 => {
            inside.push(S::If(cond(maker), vec![S::Break], vec![]));
            vec![go, S::Loop(inside)]
        }
        2 => vec![go, S::If(cond(maker), inside, some(maker))],
        3 => vec![S::Choose(vec![inside, vec![simple(maker), S::Goto(label)], vec![]])],
        _ => vec![S::If(
            cond(maker),
            vec![store(maker), S::Goto(label)],
            vec![S::If(cond(maker), inside, vec![])],
        )],
    }
}

/// From one locked section into another, and perhaps out of it before its end.
fn jump_between_sections(maker: &mut Maker) -> Vec<S> {
    let (inside, end) = (maker.name(), maker.name());
    let go = S::If(cond(maker), vec![S::Goto(inside)], vec![]);
    let leave = S::If(cond(maker), vec![S::Unlock, S::Goto(end)], vec![]);
    let mut statements = vec![S::Lock, simple(maker), go, S::Unlock];
    if maker.random.bool() {
        statements.push(simple(maker));
    }
    statements.extend([S::Lock, S::Label(inside), simple(maker), leave, S::Unlock, S::Label(end)]);
    statements
}

fn section(maker: &mut Maker) -> Vec<S> {
    let (register, variable, after) = (maker.register(), maker.variable(), maker.name());
    let more = E::Binary(Arith::Add, Box::new(E::Register(register)), Box::new(E::Const(1)));
    let mut inside = vec![load(register, variable), S::Store(Target::Variable(variable), more)];
    let at = maker.random.usize(..=inside.len());
    match maker.random.usize(..4) {
        0 => inside.insert(at, S::Atomic(some(maker))),
        1 => inside.insert(at, S::If(cond(maker), vec![S::Goto(after)], vec![])),
        2 => inside.insert(at, S::Assert(likely(maker))),
        _ => {}
    }
    vec![S::Atomic(inside), S::Label(after)]
}

fn atomic_operation(maker: &mut Maker) -> Vec<S> {
    let target = maker.target(0);
    let (old, new) = (constant(maker), value(maker));
    let register = maker.register();
    vec![match maker.random.usize(..5) {
        0 => S::Register(register, E::Cas(target, Box::new(old), Box::new(new))),
        1 => S::While(E::Not(Box::new(E::Cas(target, Box::new(old), Box::new(new)))), vec![]),
        2 => S::Register(register, E::Swap(target, Box::new(new))),
        3 => S::Register(register, E::Fetch(maker.fetched(), target, Box::new(new))),
        _ => S::Arw(target, old, new),
    }]
}

/// A condition over registers alone.
fn local_cond(maker: &mut Maker) -> E {
    let left = E::Register(maker.register());
    E::Compare(maker.relation(), Box::new(left), Box::new(value(maker)))
}

fn locked(maker: &mut Maker) -> Vec<S> {
    let mut parts = vec![load(maker.register(), maker.variable()), store(maker)];
    match maker.random.usize(..4) {
        0 => parts.insert(1, S::Assume(local_cond(maker))),
        1 => parts.push(load(maker.register(), maker.variable())),
        2 => parts.insert(0, store(maker)),
        _ => {}
    }
    vec![S::Locked(parts)]
}

fn together(maker: &mut Maker) -> Vec<S> {
    let mut parts = vec![load(maker.register(), maker.variable()), load(maker.register(), maker.variable())];
    match maker.random.usize(..4) {
        0 => parts.push(S::Assume(local_cond(maker))),
        1 => parts.push(S::Register(maker.register(), value(maker))),
        _ => {}
    }
    vec![S::Together(parts)]
}

fn product(maker: &mut Maker) -> Vec<S> {
    let (a, b) = (maker.register(), maker.register());
    let product = E::Binary(Arith::Mul, Box::new(E::Register(a)), Box::new(E::Register(b)));
    used(maker, product)
}

fn quotient(maker: &mut Maker) -> Vec<S> {
    let op = maker.pick(&[Arith::Div, Arith::Rem]);
    let divided = E::Register(maker.register());
    let quotient = E::Binary(op, Box::new(divided), Box::new(maker.divisor()));
    used(maker, quotient)
}

fn huge(maker: &mut Maker) -> Vec<S> {
    used(maker, E::Huge)
}

/// An expression in a condition, in a store or in an assignment.
fn used(maker: &mut Maker, value: E) -> Vec<S> {
    let register = maker.register();
    vec![match maker.random.usize(..4) {
        0 => S::Register(register, value),
        1 => S::Store(Target::Variable(maker.variable()), value),
        _ => {
            let sum = E::Binary(Arith::Add, Box::new(value), Box::new(E::Register(register)));
            let holds = E::Compare(maker.relation(), Box::new(sum), Box::new(constant(maker)));
            match maker.random.usize(..4) {
                0 => S::Assert(holds),
                1 => S::If(holds, vec![S::Assert(E::Const(0))], vec![]),
                _ => S::If(holds, some(maker), vec![]),
            }
        }
    }]
}

fn label_at_branch(maker: &mut Maker) -> Vec<S> {
    let branch = match maker.random.usize(..4) {
        0 => S::If(local_cond(maker), vec![store(maker)], vec![store(maker)]),
        1 => S::While(local_cond(maker), some(maker)),
        2 => S::Choose(vec![vec![store(maker)], vec![simple(maker)]]),
        _ => S::Assert(likely(maker)),
    };
    vec![S::Label(maker.name()), branch]
}

fn choice(maker: &mut Maker) -> Vec<S> {
    let other = if maker.random.bool() { some(maker) } else { vec![] };
    vec![S::Choose(vec![some(maker), other])]
}

fn waiting(maker: &mut Maker) -> Vec<S> {
    vec![if maker.random.bool() { S::Await(cond(maker)) } else { S::Assume(cond(maker)) }]
}

fn fence(maker: &mut Maker) -> Vec<S> {
    vec![S::Fence(maker.chance(40))]
}

/// Store buffers without bound.
fn stores_in_loop(maker: &mut Maker) -> Vec<S> {
    let mut body = vec![S::Store(Target::Variable(maker.variable()), constant(maker))];
    if maker.chance(30) {
        body.push(simple(maker));
    }
    if maker.random.bool() {
        return vec![S::While(cond(maker), body)];
    }
    body.push(S::If(cond(maker), vec![S::Break], vec![]));
    vec![S::Loop(body)]
}

/// Numbers without bound.
fn counter(maker: &mut Maker) -> Vec<S> {
    let (register, variable) = (maker.register(), maker.variable());
    let step = E::Const(maker.pick(&[1, 1, 2, -1]));
    let more = E::Binary(Arith::Add, Box::new(E::Register(register)), Box::new(step));
    let mut body = vec![S::Register(register, more)];
    match maker.random.usize(..3) {
        0 => body.push(S::Store(Target::Variable(variable), E::Register(register))),
        1 => body.insert(0, load(register, variable)),
        _ => {}
    }
    if maker.random.bool() {
        let last = maker.pick(&[1, 2, 3]);
        let before = E::Compare(Relation::Lt, Box::new(E::Register(register)), Box::new(E::Const(last)));
        return vec![S::While(before, body)];
    }
    body.push(S::If(cond(maker), vec![S::Break], vec![]));
    vec![S::Loop(body)]
}

/// A feature that chooses nothing: with it, a thread has one run.
pub(super) fn deterministic(maker: &mut Maker) -> Vec<S> {
    let all: [fn(&mut Maker) -> Vec<S>; 12] = [
        jump,
        jump_into,
        section,
        locked,
        together,
        stores_in_loop,
        counter,
        conditional,
        update,
        switch,
        do_while,
        own,
    ];
    loop {
        let statements = maker.pick(&all)(maker);
        if !statements.iter().any(|s| matches!(s, S::Choose(_))) {
            return statements;
        }
    }
}
