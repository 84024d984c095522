//! Questions as properties.
//!
//! A litmus test has a question about its final states, which becomes a property: the outcome it
//! names must not happen. `exists` and `~exists` differ in what their author expects, not in which
//! outcome is meant; `forall` names the only outcomes that may happen.

use crate::{Cond, Program, Property, PropertyKind, Quantifier, Question};

impl Program {
    /// The program with its question, if it has one, as a property.
    pub fn with_question_as_property(mut self) -> Program {
        if let Some(question) = self.question.take() {
            let property = property(&self, question);
            self.properties.push(property);
        }
        self
    }
}

fn property(program: &Program, question: Question) -> Property {
    let written = program.source.snippet(question.span);
    let prop = ["~exists", "exists", "forall"].iter().find_map(|word| written.strip_prefix(word));
    let prop = prop.unwrap_or(&written).trim();
    let ignored = question.filter.negate();
    let (cond, text) = match question.quantifier {
        Quantifier::Exists | Quantifier::NotExists => (question.cond.negate(), format!("~exists {prop}")),
        Quantifier::ForAll => (question.cond, format!("forall {prop}")),
    };
    Property {
        kind: PropertyKind::Finally,
        cond: Cond::or([ignored, cond]),
        span: question.span,
        text: Some(text),
    }
}
