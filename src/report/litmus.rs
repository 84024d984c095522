//! What a litmus test found, in the shape that users of herd7 know.

use num_traits::ToPrimitive;
use program::{Int, Quantifier};
use std::fmt::Write;

/// All final states of a test, as far as they are observed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcomes {
    /// The test's name.
    pub name: String,
    /// How its condition is quantified.
    pub quantifier: Quantifier,
    /// The condition as it is written.
    pub condition: String,
    /// What is observed, by name.
    pub observed: Vec<String>,
    /// The values of the observed, one list a final state, sorted, with whether the condition
    /// is satisfied there.
    pub outcomes: Vec<(Vec<Int>, bool)>,
}

/// How often a condition is satisfied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observation {
    Always,
    Sometimes,
    Never,
}

impl Outcomes {
    /// How many final states satisfy the condition, and how many do not.
    pub fn counts(&self) -> (usize, usize) {
        let positive = self.outcomes.iter().filter(|(_, satisfied)| *satisfied).count();
        (positive, self.outcomes.len() - positive)
    }

    /// How often the condition is satisfied.
    pub fn observation(&self) -> Observation {
        match self.counts() {
            (0, _) => Observation::Never,
            (_, 0) => Observation::Always,
            _ => Observation::Sometimes,
        }
    }

    /// Whether the quantified condition holds.
    pub fn holds(&self) -> bool {
        let (positive, negative) = self.counts();
        match self.quantifier {
            Quantifier::Exists => positive > 0,
            Quantifier::NotExists => positive == 0,
            Quantifier::ForAll => negative == 0,
        }
    }
}

impl Observation {
    /// As JSON reports name it.
    pub fn name(self) -> &'static str {
        match self {
            Observation::Always => "always",
            Observation::Sometimes => "sometimes",
            Observation::Never => "never",
        }
    }
}

/// The report in text.
pub fn text(found: &Outcomes) -> String {
    let name = &found.name;
    let (kind, word) = match found.quantifier {
        Quantifier::Exists => ("Allowed", "exists"),
        Quantifier::NotExists => ("Forbidden", "~exists"),
        Quantifier::ForAll => ("Required", "forall"),
    };
    let mut out = format!("Test {name} {kind}\nStates {}\n", found.outcomes.len());
    for (values, _) in &found.outcomes {
        let pair = |(name, value): (&String, &Int)| format!("{name}={value};");
        let pairs: Vec<String> = found.observed.iter().zip(values).map(pair).collect();
        let _ = writeln!(out, "{}", pairs.join(" "));
    }
    let (positive, negative) = found.counts();
    // A universal condition is witnessed by what satisfies it, the others by what is asked for.
    let _ = writeln!(out, "{}\nWitnesses", if found.holds() { "Ok" } else { "No" });
    let _ = writeln!(out, "Positive: {positive} Negative: {negative}");
    let _ = writeln!(out, "Condition {word} ({})", found.condition);
    let observation = match found.observation() {
        Observation::Always => "Always",
        Observation::Sometimes => "Sometimes",
        Observation::Never => "Never",
    };
    let _ = writeln!(out, "Observation {name} {observation} {positive} {negative}");
    out
}

/// The fields a JSON report adds for a litmus test.
pub fn json(found: &Outcomes) -> serde_json::Map<String, serde_json::Value> {
    let word = match found.quantifier {
        Quantifier::Exists => "exists",
        Quantifier::NotExists => "~exists",
        Quantifier::ForAll => "forall",
    };
    let outcome = |(values, _): &(Vec<Int>, bool)| {
        let pairs = found.observed.iter().cloned().zip(values.iter().map(integer));
        serde_json::Value::Object(pairs.collect())
    };
    let mut fields = serde_json::Map::new();
    fields.insert("condition".to_string(), word.into());
    fields.insert("observed".to_string(), found.observation().name().into());
    fields.insert("holds".to_string(), found.holds().into());
    fields.insert("outcomes".to_string(), found.outcomes.iter().map(outcome).collect());
    fields
}

/// An integer as JSON: a number if it has 64 bits, else its digits as a string.
pub fn integer(value: &Int) -> serde_json::Value {
    value.to_i64().map_or_else(|| value.to_string().into(), Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store_buffering(quantifier: Quantifier) -> Outcomes {
        let state = |a: i32, b: i32| (vec![Int::from(a), Int::from(b)], a + b == 0);
        Outcomes {
            name: "SB".to_string(),
            quantifier,
            condition: r"0:EAX=0 /\ 1:EAX=0".to_string(),
            observed: vec!["0:EAX".to_string(), "1:EAX".to_string()],
            outcomes: vec![state(0, 0), state(0, 1), state(1, 0), state(1, 1)],
        }
    }

    #[test]
    fn the_text_has_the_familiar_shape() {
        let expected = "\
Test SB Allowed
States 4
0:EAX=0; 1:EAX=0;
0:EAX=0; 1:EAX=1;
0:EAX=1; 1:EAX=0;
0:EAX=1; 1:EAX=1;
Ok
Witnesses
Positive: 1 Negative: 3
Condition exists (0:EAX=0 /\\ 1:EAX=0)
Observation SB Sometimes 1 3
";
        assert_eq!(text(&store_buffering(Quantifier::Exists)), expected);
    }

    #[test]
    fn the_quantifier_decides_whether_it_holds() {
        let holds = |quantifier| store_buffering(quantifier).holds();
        assert!(holds(Quantifier::Exists));
        assert!(!holds(Quantifier::NotExists));
        assert!(!holds(Quantifier::ForAll));
    }

    #[test]
    fn json_lists_outcomes_by_name() {
        let fields = json(&store_buffering(Quantifier::NotExists));
        assert_eq!(fields["condition"], "~exists");
        assert_eq!(fields["observed"], "sometimes");
        assert_eq!(fields["holds"], false);
        assert_eq!(fields["outcomes"][1]["1:EAX"], 1);
        assert_eq!(integer(&(Int::from(i64::MAX) + 1)), "9223372036854775808");
    }
}
