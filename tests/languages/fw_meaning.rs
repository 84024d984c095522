//! What programs do: random sequential programs, run once as written by a small interpreter of
//! their own and once as the automaton that the front end made of them. Both must touch memory
//! in the same order with the same values, and end the same way.

mod automaton;
mod direct;

use crate::common::read;
use automaton::run_automaton;
use direct::{Outcome, run_directly};
use support::texts::{CELLS, Maker, PAIR, Root, Whole, is_refused_for_constants};

/// Statements that a program may execute.
const FUEL: usize = 400;

/// A program of one thread that chooses nothing.
fn sequential(seed: u64) -> Whole {
    let mut maker = Maker::new(seed, 3);
    (maker.cells, maker.functions, maker.borrowers) = (true, 3, 2);
    (maker.shared_roots, maker.own_roots) = (Root::SHARED.to_vec(), Root::OWN.to_vec());
    let (borrowers, functions) = (maker.borrowers(), maker.functions());
    let mut thread = (0..6).map(|_| maker.statement(2)).collect();
    while maker.chance(50) {
        support::texts::insert_deterministic(&mut maker, &mut thread);
    }
    let grid = Root::Grid.declared().to_string();
    let shared = vec!["x0".to_string(), "x1 = 1".to_string(), format!("a[{CELLS}] = {{2, 0, 1}}"), grid];
    let pairs = [Root::Record, Root::Records].map(|root| format!("shared {};", root.declared()));
    let declarations = [vec![PAIR.to_string()], pairs.to_vec()].concat();
    let locals = Root::OWN.map(|root| format!("let {};", root.declared())).to_vec();
    let threads = vec![thread];
    Whole { shared, declarations, locals, functions, borrowers, threads, claims: Vec::new() }
}

#[test]
fn automata_do_what_the_text_says() {
    let (mut ends, mut refused) = ([0; 6], 0);
    for seed in 0..2000 * crate::common::effort() {
        let whole = sequential(seed);
        let text = whole.text();
        let program = match read(&text) {
            Ok(parsed) => parsed.program,
            Err(errors) => {
                assert!(is_refused_for_constants(&errors), "seed {seed}\n{text}\n{errors:?}");
                refused += 1;
                continue;
            }
        };
        crate::common::check_round_trip(&program);
        let (expected, outcome) = run_directly(&whole);
        let (events, found) = run_automaton(&program);
        if outcome == Outcome::NoEnd {
            let common = expected.len().min(events.len());
            assert_eq!(expected[..common], events[..common], "seed {seed}\n{text}");
            assert!(found == Outcome::NoEnd || events.len() >= common, "seed {seed}\n{text}");
        } else {
            assert_eq!((expected, outcome), (events, found), "seed {seed}\n{text}");
        }
        ends[outcome as usize] += 1;
    }
    assert!(refused < 1000 * crate::common::effort(), "most programs are accepted");
    assert!(ends.iter().all(|count| *count > 5), "every way to end occurs: {ends:?}");
}
