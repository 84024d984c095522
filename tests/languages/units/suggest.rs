//! Names that were meant.

use frontend::did_you_mean;

#[test]
fn near_names_are_offered_and_far_ones_are_not() {
    assert_eq!(did_you_mean("trun", ["turn", "flag"]), Some("did you mean `turn`?".into()));
    assert_eq!(did_you_mean("flags", ["turn", "flag"]), Some("did you mean `flag`?".into()));
    assert_eq!(did_you_mean("x", ["y"]), None, "a name of one letter resembles nothing");
    assert_eq!(did_you_mean("ticket", ["serving"]), None);
}
