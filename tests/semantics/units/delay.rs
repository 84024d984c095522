//! Stores that are kept back on a path.

use program::{
    Cond, Delay, EdgeId, Expr, Fence, Loc, NoDelay, Op, Origin, Place, Program, Property, PropertyKind,
    RegId, Relation, Source, Span, Thread, ThreadBuilder, ThreadId, VarId, Variable,
};

/// `x = 1; r = y; skip` with a property about the place behind the store.
fn store_buffering() -> Program {
    let mut program = Program::new("half of it", Source::default());
    let [x, y] = ["x", "y"].map(|name| program.add_variable(Variable::new(name, Span::NONE)));
    let mut thread = ThreadBuilder::new("P");
    let register = thread.register("r");
    let between = thread.step(thread.entry(), Op::Store(x, Expr::from(1)), Span::NONE);
    let behind = thread.step(between, Op::Load(register, y), Span::NONE);
    thread.step(behind, Op::Skip, Span::NONE);
    program.threads.push(thread.finish().expect("valid"));
    let at = Place::At(ThreadId::new(0), Loc::new(1));
    let cond = Cond::compare(Relation::Eq, at, 1);
    program.properties.push(Property { kind: PropertyKind::Never, cond, span: Span::NONE, text: None });
    program
}

fn delay(path: &[usize], complete: bool) -> Delay {
    let path = path.iter().map(|at| EdgeId::new(*at)).collect();
    Delay { thread: ThreadId::new(0), path, complete }
}

fn ops_from(thread: &Thread, loc: usize) -> Vec<&Op> {
    thread.outgoing(Loc::new(loc)).map(|(_, edge)| &edge.op).collect()
}

#[test]
fn the_practical_version_keeps_the_store_and_adds_one_path() {
    let program = store_buffering();
    let delayed = delay(&[0, 1], false).apply(&program).expect("a path");
    let thread = &delayed.program.threads[0];
    assert_eq!(thread.edges().len(), 3 + 3, "{thread:?}");
    let kept = RegId::new(1);
    assert_eq!(thread.registers, ["r", "kept_back1"]);
    let [plain, Op::Assign(register, _)] = ops_from(thread, 0)[..] else { panic!("two ways") };
    assert_eq!((plain, *register), (&program.threads[0].edges()[0].op, kept));
    assert_eq!(ops_from(thread, 4), [&Op::Load(RegId::new(0), VarId::new(1))]);
    assert_eq!(ops_from(thread, 5), [&Op::Store(VarId::new(0), Expr::Leaf(kept))]);
    assert_eq!(thread.edges()[5].to, Loc::new(2), "back where the load leads");
    let expected = [
        Origin::Same(EdgeId::new(0)),
        Origin::KeptBack(EdgeId::new(0)),
        Origin::Same(EdgeId::new(1)),
        Origin::Same(EdgeId::new(2)),
        Origin::KeptBack(EdgeId::new(1)),
        Origin::Made(VarId::new(0)),
    ];
    assert_eq!(delayed.origins, expected);
    assert_eq!(delayed.edges, [Some(0), Some(2), Some(3)].map(|at| at.map(EdgeId::new)));
    assert!(delayed.program.validate().is_ok());
}

#[test]
fn the_complete_version_takes_the_store_away_and_waits_instead() {
    let delayed = delay(&[0, 1], true).apply(&store_buffering()).expect("a path");
    let thread = &delayed.program.threads[0];
    assert!(matches!(ops_from(thread, 0)[..], [Op::Assign(..)]));
    assert_eq!(delayed.edges[0], None);
    // Along the path, or the store at once and a fence.
    assert!(matches!(ops_from(thread, 4)[..], [Op::Load(..), Op::Store(..)]));
    assert!(thread.edges().iter().any(|edge| edge.op == Op::Fence(Fence::Full)));
    assert!(delayed.program.validate().is_ok());
}

#[test]
fn copies_count_as_what_they_are_copies_of() {
    let program = store_buffering();
    let delayed = delay(&[0, 1], true).apply(&program).expect("a path").program;
    let standing = |at: usize| {
        let value = |place: &Place| match place {
            Place::At(_, loc) => program::Int::from(i64::from(loc.index() == at)),
            _ => program::Int::ZERO,
        };
        delayed.properties[0].cond.eval(&value)
    };
    let here: Vec<usize> =
        delayed.threads[0].locs().map(Loc::index).filter(|at| standing(*at) == Ok(true)).collect();
    // Behind the store, its copy, and the two places around the fence.
    assert_eq!(here, [1, 4, 6, 7]);
}

#[test]
fn own_stores_are_read_back_from_registers() {
    let mut program = Program::new("own", Source::default());
    let [x, y] = ["x", "y"].map(|name| program.add_variable(Variable::new(name, Span::NONE)));
    let mut thread = ThreadBuilder::new("P");
    let r = thread.register("r");
    let mut at = thread.step(thread.entry(), Op::Store(x, Expr::from(1)), Span::NONE);
    at = thread.step(at, Op::Store(x, Expr::from(2)), Span::NONE);
    let parts = vec![Op::Load(r, x), Op::Load(r, y)];
    thread.step(at, Op::Block { locked: false, parts }, Span::NONE);
    program.threads.push(thread.finish().expect("valid"));
    let delayed = delay(&[0, 1, 2], false).apply(&program).expect("a path");
    let copied =
        Op::Block { locked: false, parts: vec![Op::Assign(r, Expr::Leaf(RegId::new(2))), Op::Load(r, y)] };
    assert!(delayed.program.threads[0].edges().iter().any(|edge| edge.op == copied));
    let made: Vec<&Origin> =
        delayed.origins.iter().filter(|origin| matches!(origin, Origin::Made(_))).collect();
    assert_eq!(made, [&Origin::Made(x), &Origin::Made(x)]);
}

#[test]
fn what_is_no_path_from_a_store_to_a_load_is_refused() {
    let program = store_buffering();
    for path in [&[][..], &[0], &[1, 0], &[0, 0], &[0, 1, 2], &[1, 2], &[0, 9]] {
        assert_eq!(delay(path, false).apply(&program).err(), Some(NoDelay), "{path:?}");
    }
    let other = Delay { thread: ThreadId::new(3), ..delay(&[0, 1], false) };
    assert_eq!(other.apply(&program).err(), Some(NoDelay));
}
