//! Threads that are put together.

use program::{Loc, Op, Span, ThreadBuilder};

#[test]
fn merging_a_place_with_itself_is_an_infinite_loop_not_an_end() {
    let mut builder = ThreadBuilder::new("P");
    let entry = builder.entry();
    builder.merge(entry, entry, Span::NONE);
    let thread = builder.finish().expect("valid");
    assert_eq!(thread.edges().len(), 1);
    assert!(!thread.is_end(thread.entry()));
}

#[test]
fn unreachable_locations_go_unless_labelled() {
    let mut builder = ThreadBuilder::new("P");
    let (entry, dead, named) = (builder.entry(), builder.location(Span::NONE), builder.location(Span::NONE));
    builder.label(named, "cs");
    builder.step(entry, Op::Skip, Span::NONE);
    builder.step(dead, Op::Skip, Span::NONE);
    let thread = builder.finish().expect("valid");
    assert_eq!(thread.locs().count(), 3);
    assert_eq!(thread.labelled("cs"), [Loc::new(2)]);
}

#[test]
fn atomic_sections_are_followed_and_must_be_well_formed() {
    let mut builder = ThreadBuilder::new("P");
    let entry = builder.entry();
    let inside = builder.step(entry, Op::Lock, Span::NONE);
    builder.step(inside, Op::Unlock, Span::NONE);
    let thread = builder.finish().expect("valid");
    assert_eq!(thread.locs().map(|l| thread.in_atomic(l)).collect::<Vec<_>>(), [false, true, false]);

    let mut twice = ThreadBuilder::new("P");
    let inside = twice.step(Loc::new(0), Op::Lock, Span::NONE);
    twice.edge(inside, Op::Lock, inside, Span::NONE);
    assert!(twice.finish().is_err());
    let mut jump = ThreadBuilder::new("P");
    let inside = jump.step(Loc::new(0), Op::Lock, Span::NONE);
    jump.edge(inside, Op::Skip, Loc::new(0), Span::NONE);
    assert!(jump.finish().is_err());
}

#[test]
fn a_place_that_nothing_leads_to_belongs_to_the_section_it_leads_into() {
    let mut builder = ThreadBuilder::new("P");
    let inside = builder.step(Loc::new(0), Op::Lock, Span::NONE);
    builder.step(inside, Op::Unlock, Span::NONE);
    let dead = builder.location(Span::NONE);
    builder.label(dead, "dead");
    builder.edge(dead, Op::Skip, inside, Span::NONE);
    let thread = builder.finish().expect("valid");
    assert!(thread.in_atomic(thread.labelled("dead")[0]));
}
