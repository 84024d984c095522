//! Trencher's own programs: they are read, written, read back, and small ones are explored.

use crate::common::{on_record, reads_back};
use crate::explore::{Explorer, Limits, Model};
use frontend::trencher;

#[test]
fn everything_is_read_written_and_read_back() {
    let Some(root) = support::corpora("trencher") else { return };
    let files = on_record("trencher", &root);
    assert_eq!(files.len(), 39);
    for (row, program) in &files {
        reads_back("trencher", &row[0], program, trencher::write);
    }
    eprintln!("{} files read, written and read back the same", files.len());
}

/// A robust program has the same states with empty buffers under SC and TSO.
#[test]
fn robust_programs_show_no_new_states() {
    let Some(root) = support::corpora("trencher") else { return };
    let (mut equal, mut differ) = (0, 0);
    for (row, program) in on_record("trencher", &root) {
        let (name, robust) = (&row[0], &row[1]);
        let states = |model| {
            let explorer = Explorer::new(&program, model, Limits { states: 100_000, queue: 3, eager: false });
            explorer.calm_states()
        };
        let (Some(sc), Some(tso)) = (states(Model::Sc), states(Model::Tso)) else {
            eprintln!("{name}: over budget");
            continue;
        };
        assert!(sc.is_subset(&tso), "{name}: TSO lost states of SC");
        if sc == tso {
            equal += 1;
        } else {
            differ += 1;
            assert_ne!(robust, "robust", "{name} reaches states under TSO that SC does not have");
        }
    }
    eprintln!("{equal} programs with equal states, {differ} with more under TSO");
    assert!(equal > 10 && differ > 5);
}
