//! Mutual exclusion for n threads: algorithms of our corpus, with their constants set.

use crate::{Family, Generated, KnownAnswer};
use std::fmt::Write;

/// An algorithm: its name, its text, and whether it is safe under SC, TSO and PSO for any number of threads.
struct Algorithm {
    name: &'static str,
    text: &'static str,
    safe: [bool; 3],
}

macro_rules! algorithm {
    ($name:literal, $safe:expr) => {
        Algorithm { name: $name, text: include_str!(concat!("../../../corpus/", $name, ".fw")), safe: $safe }
    };
}

const ALGORITHMS: &[Algorithm] = &[
    algorithm!("aravind", [true, false, false]),
    algorithm!("aravind_fenced", [true, true, true]),
    algorithm!("bakery", [true, false, false]),
    algorithm!("bakery_fenced", [true, true, true]),
    algorithm!("burns", [true, false, false]),
    algorithm!("burns_fenced", [true, true, true]),
    algorithm!("dijkstra", [true, false, false]),
    algorithm!("dijkstra_fenced", [true, true, true]),
    algorithm!("lamport_fast", [true, false, false]),
    algorithm!("lamport_fast_fenced", [true, true, false]),
    algorithm!("szymanski", [true, false, false]),
    algorithm!("szymanski_fenced", [true, true, true]),
    algorithm!("ticket_lock", [true, true, true]),
];

/// The names of the algorithms.
pub const MUTEXES: &[&str] = &names();

const fn names() -> [&'static str; ALGORITHMS.len()] {
    let mut names = [""; ALGORITHMS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = ALGORITHMS[at].name;
        at += 1;
    }
    names
}

/// The family.
#[derive(Clone, Debug)]
pub struct Mutex {
    /// The name of the algorithm.
    pub name: String,
    /// Values for constants of the text, most of all N, the number of threads.
    pub constants: Vec<(String, String)>,
}

impl Family for Mutex {
    fn generate(&self) -> Result<Generated, String> {
        let known = ALGORITHMS.iter().find(|algorithm| algorithm.name == self.name);
        let algorithm = known.ok_or_else(|| format!("there is no algorithm `{}`", self.name))?;
        let (remarks, text): (Vec<&str>, Vec<&str>) =
            algorithm.text.lines().partition(|line| line.starts_with("//"));
        let mut lines: Vec<String> = text.into_iter().map(str::to_string).collect();
        for (constant, value) in &self.constants {
            let begins = format!("const {constant} = ");
            let line = lines.iter_mut().find(|line| line.starts_with(&begins));
            let line =
                line.ok_or_else(|| format!("{} has no constant `{constant}` of its own line", self.name))?;
            *line = format!("{begins}{value};");
        }
        let mut text = String::new();
        for line in &lines {
            let _ = writeln!(text, "{line}");
        }
        let expected = ["sc", "tso", "pso"].into_iter().zip(algorithm.safe);
        Ok(Generated {
            name: self.name.clone(),
            about: remarks.iter().map(|line| line.trim_start_matches('/').trim().to_string()).collect(),
            expected: expected.map(|(model, safe)| KnownAnswer::new(model, safe)).collect(),
            text,
        })
    }
}
