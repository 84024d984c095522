//! Whether a sentence about a certificate is true of a configuration.

use machine::{Configuration, Entry};
use program::{Program, RegId, ThreadId};

/// A configuration, seen from a thread.
pub struct Seen<'a> {
    pub program: &'a Program,
    pub at: &'a Configuration,
    pub thread: ThreadId,
}

impl Seen<'_> {
    /// Whether the sentence holds; fails if it is not understood.
    pub fn holds(&self, sentence: &str) -> bool {
        if let Some((other, labels)) = sentence.split_once(" is never at ") {
            return self.is_elsewhere(other, labels);
        }
        let drained = || self.program.thread_ids().all(|thread| self.at.buffer(thread).is_empty());
        if sentence == "all buffers are empty" {
            return drained();
        }
        if let Some(then) = sentence.strip_prefix("while all buffers are empty, ") {
            return !drained() || self.holds(then);
        }
        if let Some(missing) = sentence.strip_prefix("no ") {
            return self.is_buffered_nowhere(missing);
        }
        if let Some(contents) = sentence.strip_prefix("its buffer ") {
            return self.buffer_is(contents);
        }
        let sentence = self.without_stores(sentence);
        for verb in [" is ", " are ", " lies ", " lie "] {
            if let Some((names, predicate)) = sentence.split_once(verb) {
                let names = names.replace(" and ", ", ");
                let values = names.split(", ").flat_map(|name| self.values(name));
                return values.into_iter().all(|value| satisfies(value, predicate));
            }
        }
        self.compares(&sentence)
    }

    fn is_elsewhere(&self, other: &str, labels: &str) -> bool {
        let other = self.program.thread_ids().find(|t| self.program.thread(*t).name == other);
        let other = other.expect("a thread");
        let here = &self.program.thread(other).location(self.at.local(other).loc).labels;
        let labels = labels.replace(" or ", ", ");
        !labels.split(", ").any(|label| here.iter().any(|here| here == label))
    }

    /// `store to x is buffered`, `buffered store to x is 3 or 4`: not by anybody.
    fn is_buffered_nowhere(&self, missing: &str) -> bool {
        let stores = |thread| Seen { thread, ..*self }.buffer();
        let mut all = self.program.thread_ids().flat_map(stores);
        if let Some(variable) = missing.strip_suffix(" is buffered") {
            let variable = variable.strip_prefix("store to ").expect("a store");
            return all.all(|(name, _)| name != variable);
        }
        let missing = missing.strip_prefix("buffered store to ").expect("a store");
        let (variable, values) = missing.split_once(" is ").expect("values");
        all.all(|(name, value)| name != variable || !numbers(values).contains(&value))
    }

    /// The buffer's entries: names with values, or `fence`.
    fn buffer(&self) -> Vec<(String, i64)> {
        let entry = |(entry, value): (Entry, Option<program::Int>)| match entry {
            Entry::Store(variable) => {
                let value = value.and_then(|value| i64::try_from(value).ok()).expect("small values");
                (self.program.variable(variable).name.clone(), value)
            }
            Entry::Barrier => ("fence".to_string(), 0),
        };
        self.at.buffer(self.thread).into_iter().map(entry).collect()
    }

    fn buffer_is(&self, contents: &str) -> bool {
        let buffer = self.buffer();
        let stores: Vec<&String> =
            buffer.iter().map(|(name, _)| name).filter(|name| *name != "fence").collect();
        let only = |names: &str| {
            let names = names.replace(" and ", ", ").replace(" or ", ", ");
            stores.iter().all(|store| names.split(", ").any(|name| name == *store))
        };
        if let Some(names) = contents.strip_prefix("may hold stores to ") {
            return only(names);
        }
        if let Some(names) = contents.strip_prefix("holds stores to ") {
            return only(names) && !stores.is_empty();
        }
        if let Some((most, names)) = contents.split_once(", to ") {
            let most: usize = most.split(' ').rev().nth(1).expect("a count").parse().expect("a number");
            let surely = contents.starts_with("holds");
            return only(names) && stores.len() <= most && !(surely && buffer.is_empty());
        }
        let contents = contents.strip_prefix("is empty").map_or((false, contents), |rest| (true, rest));
        if buffer.is_empty() {
            return contents.0;
        }
        let (_, full) = contents.1.split_once("holds ").unwrap_or(("", ""));
        full.split(" or ").any(|content| {
            let entries: Vec<&str> = content.split(" then ").collect();
            let fits = |((name, value), said): (&(String, i64), &&str)| entry_fits(name, *value, said);
            entries.len() == buffer.len() && buffer.iter().zip(&entries).all(fits)
        })
    }

    /// Buffered stores by short names: `§newest:x`.
    fn without_stores(&self, sentence: &str) -> String {
        let sentence = sentence.replace("its newest buffered store to ", "§newest:");
        sentence
            .replace("every older buffered store to ", "§older:")
            .replace("every buffered store to ", "§every:")
            .replace("every newer one", "§newer")
    }

    /// What a name stands for: one value, or those of some buffered stores.
    fn values(&self, name: &str) -> Vec<i64> {
        if let Some((which, variable)) = name.strip_prefix('§').and_then(|name| name.split_once(':')) {
            let mut stores: Vec<i64> = self
                .buffer()
                .into_iter()
                .filter(|(name, _)| name == variable)
                .map(|(_, value)| value)
                .collect();
            return match which {
                "newest" => stores.pop().into_iter().collect(),
                "older" => {
                    stores.pop();
                    stores
                }
                "every" => stores,
                number => vec![stores[number.parse::<usize>().expect("a number")]],
            };
        }
        let program = self.program;
        let variable = program.variable_ids().find(|v| program.variable(*v).name == name);
        let mut registers = program.thread_ids().flat_map(|thread| {
            let own = if thread == self.thread {
                String::new()
            } else {
                format!("{}.", program.thread(thread).name)
            };
            let names = program.thread(thread).registers.iter().enumerate();
            names.map(move |(at, register)| (format!("{own}{register}"), thread, RegId::new(at)))
        });
        let register = registers.find(|(register, ..)| register == name);
        let value = variable.map(|v| self.at.memory(v)).or(register.map(|(_, t, r)| self.at.register(t, r)));
        let value = value.unwrap_or_else(|| panic!("{name} is nothing"));
        vec![i64::try_from(value).expect("small values")]
    }

    /// Whether a comparison holds: one of older stores with newer ones, for every two in their order.
    fn compares(&self, sentence: &str) -> bool {
        let older = sentence.split(' ').find_map(|word| word.strip_prefix("§older:"));
        if let (true, Some(variable)) = (sentence.contains("§newer"), older) {
            let stores = self.values(&format!("§every:{variable}")).len();
            let of_two = |older: usize, newer: usize| {
                let sentence = sentence.replace("§older:", &format!("§{older}:"));
                self.compares(&sentence.replace("§newer", &format!("§{newer}:{variable}")))
            };
            return (0..stores).all(|older| (older + 1..stores).all(|newer| of_two(older, newer)));
        }
        let words: Vec<&str> = sentence.split(' ').collect();
        let signs = ["<", "<=", "==", "!="];
        let at = words.iter().position(|word| signs.contains(word)).unwrap_or_else(|| panic!("{sentence}"));
        let (left, right) = (self.sums(&words[..at]), self.sums(&words[at + 1..]));
        left.iter().all(|a| {
            right.iter().all(|b| match words[at] {
                "<" => a < b,
                "<=" => a <= b,
                "==" => a == b,
                _ => a != b,
            })
        })
    }

    /// All values of a sum like `a + 2*b - 1`.
    fn sums(&self, words: &[&str]) -> Vec<i64> {
        let mut sums = vec![0];
        let mut sign = 1;
        for word in words {
            let (factor, name) =
                word.split_once('*').map_or((1, *word), |(f, n)| (f.parse().expect("a factor"), n));
            let values = match (*word, name.parse::<i64>()) {
                ("+", _) => {
                    sign = 1;
                    continue;
                }
                ("-", _) => {
                    sign = -1;
                    continue;
                }
                (_, Ok(number)) => vec![number],
                _ => self.values(name),
            };
            let add = |sum: &i64| values.iter().map(|value| sum + sign * factor * value).collect::<Vec<_>>();
            sums = sums.iter().flat_map(add).collect();
        }
        sums
    }
}

fn numbers(text: &str) -> Vec<i64> {
    let words = text.split(|c: char| !c.is_ascii_digit() && c != '-');
    words.filter_map(|word| word.parse().ok()).collect()
}

fn satisfies(value: i64, predicate: &str) -> bool {
    let given = numbers(predicate);
    match predicate.split(' ').collect::<Vec<_>>().as_slice() {
        ["at", "least", _] => given[0] <= value,
        ["at", "most", _] => value <= given[0],
        ["between", ..] => given[0] <= value && value <= given[1],
        ["not", _] => value != given[0],
        _ => predicate.replace(" or ", ", ").split(", ").any(|choice| match choice.split_once(" than ") {
            Some(("more", bound)) => value > bound.parse().expect("a number"),
            Some((_, bound)) => value < bound.parse().expect("a number"),
            None => value == choice.parse::<i64>().expect("a number"),
        }),
    }
}

/// Whether an entry is as said: `x=1`, `x in {0,1}`, `x>=1`, `0<=x<=3`, `x`.
fn entry_fits(name: &str, value: i64, said: &str) -> bool {
    let Some((before, after)) = said.split_once(name) else { return false };
    let given = numbers(after);
    let low = before.strip_suffix("<=").is_none_or(|low| low.parse::<i64>().expect("a number") <= value);
    low && match after {
        "" => true,
        _ if after.starts_with(" in ") || after.starts_with('=') => given.contains(&value),
        _ if after.starts_with(">=") => given[0] <= value,
        _ if after.starts_with("<=") => value <= given[0],
        _ => false,
    }
}
