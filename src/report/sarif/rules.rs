//! The rules that SARIF results refer to. Their ids never change.

use serde_json::{Value, json};

/// A kind of result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SarifRule {
    /// A property is violated.
    Violation,
    /// An assertion fails, an index leaves its array, a divisor is zero.
    Failure,
    /// A fence is needed that is not there.
    MissingFence,
    /// A fence is there that nothing needs.
    RedundantFence,
    /// No answer within the limits.
    Unknown,
    /// A text that is no program.
    InputError,
    /// A program that is perhaps not the one that was meant.
    InputWarning,
    /// Another verdict than `fencewright.toml` expects.
    VerdictChanged,
    /// Weak memory matters.
    NotRobust,
}

/// Everything about a rule that a reader sees.
struct About {
    rule: SarifRule,
    id: &'static str,
    name: &'static str,
    level: &'static str,
    short: &'static str,
    help: &'static str,
}

/// All rules; a rule's index in the document is its index here.
const RULES: &[About] = &[
    About {
        rule: SarifRule::Violation,
        id: "FW001",
        name: "PropertyViolated",
        level: "error",
        short: "An execution violates a property",
        help: "There is an execution under the named memory model that violates this property; the steps of the \
               result are such an execution, and it was replayed on the exact machine. If the message names a step \
               that SC would not allow, `fencewright fence` finds the fences that prevent it.",
    },
    About {
        rule: SarifRule::Failure,
        id: "FW002",
        name: "AssertionFailed",
        level: "error",
        short: "An assertion can fail, an index can leave its array, or a divisor can be zero",
        help: "There is an execution under the named memory model that reaches this place and fails there; the \
               steps of the result are such an execution, and it was replayed on the exact machine.",
    },
    About {
        rule: SarifRule::MissingFence,
        id: "FW003",
        name: "MissingFence",
        level: "error",
        short: "A fence is needed",
        help: "Under the named memory model, stores wait in a buffer and later loads overtake them. With a fence at \
               this place (and at the others that are named) nothing is violated; without it something is.",
    },
    About {
        rule: SarifRule::RedundantFence,
        id: "FW004",
        name: "RedundantFence",
        level: "warning",
        short: "A fence is not needed",
        help: "Without this fence the program was proved safe under every memory model that it is expected to be \
               safe under. Fences take time: remove it, or list another model under which it is needed.",
    },
    About {
        rule: SarifRule::Unknown,
        id: "FW005",
        name: "Unknown",
        level: "warning",
        short: "No answer was found",
        help: "A limit on time, memory, states or store buffers was reached before there was an answer. The message \
               names it. Larger limits or another engine may help.",
    },
    About {
        rule: SarifRule::InputError,
        id: "FW006",
        name: "InputError",
        level: "error",
        short: "The text is not a program",
        help: "The text could not be read as a program of its language. `fencewright show` prints what is wrong.",
    },
    About {
        rule: SarifRule::InputWarning,
        id: "FW007",
        name: "InputWarning",
        level: "warning",
        short: "The program is perhaps not the one that was meant",
        help: "The text is a program, but something about it is suspicious.",
    },
    About {
        rule: SarifRule::VerdictChanged,
        id: "FW008",
        name: "VerdictChanged",
        level: "error",
        short: "The verdict is not the expected one",
        help: "fencewright.toml expects another verdict. If the new one is right, `fencewright ci --update` writes \
               it there.",
    },
    About {
        rule: SarifRule::NotRobust,
        id: "FW009",
        name: "NotRobust",
        level: "warning",
        short: "Weak memory matters",
        help: "There is an execution under the named memory model that looks like none under sequential \
               consistency: this store is delayed past a later access of its thread, and others can tell. That need not violate \
               anything; `fencewright verify` says whether it does, and `fencewright fence --goal robust` finds the \
               fences that rule such executions out.",
    },
];

impl SarifRule {
    fn index(self) -> usize {
        RULES.iter().position(|about| about.rule == self).unwrap_or(0)
    }

    /// Its id.
    pub fn id(self) -> &'static str {
        RULES[self.index()].id
    }

    /// The beginning of every result of this rule.
    pub fn result(self) -> Value {
        let about = &RULES[self.index()];
        json!({"ruleId": about.id, "ruleIndex": self.index(), "level": about.level})
    }
}

/// All rules, as a tool lists them.
pub fn descriptors() -> Value {
    let descriptor = |about: &About| {
        json!({
            "id": about.id,
            "name": about.name,
            "shortDescription": {"text": about.short},
            "fullDescription": {"text": about.help},
            "help": {"text": about.help},
            "defaultConfiguration": {"level": about.level},
            "properties": {
                "tags": ["concurrency", "correctness"],
                "precision": "very-high",
                "problem.severity": about.level,
            },
        })
    };
    RULES.iter().map(descriptor).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_numbered_in_order() {
        for (at, about) in RULES.iter().enumerate() {
            assert_eq!(about.id, format!("FW{:03}", at + 1));
            assert_eq!(about.rule.index(), at);
        }
    }
}
