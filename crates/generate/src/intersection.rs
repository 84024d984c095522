//! Is there a word that all of several automata accept? As a program with one thread [002, sec. 6.1 and App. B].
//!
//! Automaton i counts letters modulo m(i). Its states are values of registers, chosen freely but pairwise
//! different; its current state is a register. In every round each automaton takes the step from the state that it is in; the
//! round may end where all are back at their first state. So the shortest non-empty word has as many letters as
//! the least common multiple of the moduli: short texts, long runs. Made *disjoint*, one more automaton with the
//! first modulus accepts one letter more than the first one does, and there is no such word.

use crate::{Family, Generated, KnownAnswer, sized};
use std::fmt::Write;

/// The family.
#[derive(Clone, Debug)]
pub struct Automata {
    /// The moduli.
    pub moduli: Vec<usize>,
    /// Whether no word is accepted.
    pub disjoint: bool,
}

/// An automaton that counts modulo a number and accepts one residue.
struct Counter {
    name: char,
    modulus: usize,
    accepts: usize,
}

impl Counter {
    fn state(&self, at: usize) -> String {
        format!("{}{}", self.name, at % self.modulus)
    }

    fn current(&self) -> String {
        format!("at_{}", self.name)
    }
}

impl Automata {
    fn counters(&self) -> Result<Vec<Counter>, String> {
        let count = sized("moduli", self.moduli.len(), 1, 8)?;
        let mut all = Vec::new();
        for (name, modulus) in ('a'..).zip(&self.moduli) {
            all.push(Counter { name, modulus: sized("modulus", *modulus, 2, 64)?, accepts: 0 });
        }
        if self.disjoint {
            let name = ('a'..).nth(count).unwrap_or('z');
            all.push(Counter { name, modulus: self.moduli[0], accepts: 1 });
        }
        Ok(all)
    }
}

impl Family for Automata {
    fn generate(&self) -> Result<Generated, String> {
        let counters = self.counters()?;
        let mut text = String::from("thread A {\n");
        for counter in &counters {
            let states: Vec<String> = (0..counter.modulus).map(|at| counter.state(at)).collect();
            let _ = writeln!(text, "    let {}, {};", states.join(", "), counter.current());
        }
        for counter in &counters {
            for at in 0..counter.modulus {
                let state = counter.state(at);
                let others = (0..at).map(|before| format!("{state} != {}", counter.state(before)));
                let others = others.collect::<Vec<_>>().join(" && ");
                let differs = if at > 0 { format!(" assume {others};") } else { String::new() };
                let _ = writeln!(text, "    {state} = any;{differs}");
            }
            let _ = writeln!(text, "    {} = {};", counter.current(), counter.state(0));
        }
        let _ = writeln!(text, "    loop {{");
        for counter in &counters {
            let (current, state) = (counter.current(), |at| counter.state(at));
            let step =
                |at| format!("{{ assume {current} == {}; {current} = {}; }}", state(at), state(at + 1));
            let steps: Vec<String> = (0..counter.modulus).map(step).collect();
            let _ = writeln!(text, "        choose {}", steps.join(" or "));
        }
        let accepted = counters.iter().map(|c| format!("{} == {}", c.current(), c.state(c.accepts)));
        let accepted = accepted.collect::<Vec<_>>().join(" && ");
        let _ = writeln!(text, "        if ({accepted}) {{ goto accepted; }}");
        let _ = writeln!(text, "    }}\n    accepted: skip;\n}}\n\nnever A@accepted;");
        let length = self.moduli.iter().fold(1, |all, modulus| all / gcd(all, *modulus) * modulus);
        let moduli = self.moduli.iter().map(usize::to_string).collect::<Vec<_>>().join(", ");
        let what = match self.disjoint {
            false => format!("the shortest word that all accept has {length} letters."),
            true => "no word is accepted by all.".to_string(),
        };
        let expected = |model| KnownAnswer {
            contexts: (!self.disjoint).then_some(1),
            ..KnownAnswer::new(model, self.disjoint)
        };
        Ok(Generated {
            name: format!("intersection{}", moduli.replace(", ", "_")),
            about: vec![format!("Automata that count letters modulo {moduli}:"), what],
            expected: ["sc", "tso", "pso"].map(expected).to_vec(),
            text,
        })
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
