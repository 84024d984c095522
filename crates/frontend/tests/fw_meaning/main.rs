//! What programs do: random sequential programs, run once as written by a small interpreter of
//! their own and once as the automaton that the front end made of them. Both must touch memory
//! in the same order with the same values, and end the same way.

mod automaton;
#[path = "../common/mod.rs"]
mod common;
mod direct;
mod language;

use automaton::run_automaton;
use common::read;
use direct::{Outcome, run_directly};
use language::Whole;

const VARIABLES: usize = 2;
const CELLS: usize = 3;
const REGISTERS: usize = 3;
const FUNCTIONS: usize = 3;
/// Statements that a program may execute.
const FUEL: usize = 400;

#[test]
fn automata_do_what_the_text_says() {
    let (mut ends, mut refused) = ([0; 5], 0);
    for seed in 0..4000 * common::effort() {
        let whole = Whole::random(seed);
        let text = whole.text();
        let program = match read(&text) {
            Ok(parsed) => parsed.program,
            Err(errors) => {
                // Constants that are wrong for sure are refused while reading.
                let constant = ["outside the array", "divides by zero"];
                let known = errors.iter().all(|e| constant.iter().any(|message| e.message.contains(message)));
                assert!(known, "seed {seed}\n{text}\n{errors:?}");
                refused += 1;
                continue;
            }
        };
        common::check_round_trip(&program);
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
    assert!(refused < 2000 * common::effort(), "most programs are accepted");
    assert!(ends.iter().all(|count| *count > 50), "every way to end occurs: {ends:?}");
}
