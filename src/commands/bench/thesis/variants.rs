//! Programs of the thesis, made from the texts of Trencher's files when the table is filled.
//!
//! The files say what the threads do, but most have no goal, and some have other threads than the
//! thesis measured. What differs is a [`LineEdit`]: a line of a thread and what stands there
//! instead. That the outcome is the thesis' program shows in what its figures count
//! ([`Size`]): threads, control states, transitions.

use std::collections::BTreeSet;

/// A line of a thread, words separated by single spaces, and the lines that stand there instead.
pub type LineEdit = (&'static str, &'static str, &'static str);

/// The text with all edits made, words separated by single spaces. Every edit must find its line
/// exactly once.
pub fn edited(text: &str, edits: &[LineEdit]) -> Result<String, String> {
    let mut found = vec![0usize; edits.len()];
    let mut out = String::new();
    let mut thread = String::new();
    for line in text.lines() {
        let line = line.split_whitespace().collect::<Vec<_>>().join(" ");
        if let Some(name) = line.strip_prefix("thread ") {
            thread = name.to_string();
        }
        let edit = edits.iter().position(|(of, from, _)| *of == thread && *from == line);
        edit.into_iter().for_each(|at| found[at] += 1);
        out += edit.map_or(line.as_str(), |at| edits[at].2);
        out.push('\n');
    }
    match edits.iter().zip(&found).find(|(_, found)| **found != 1) {
        Some(((thread, line, _), found)) => Err(format!("`{line}` is in thread {thread} {found} times")),
        None => Ok(out),
    }
}

/// The text of one thread.
pub fn thread(text: &str, name: &str) -> Result<String, String> {
    let start = |line: &&str| line.split_whitespace().eq(["thread", name]);
    let lines: Vec<&str> = text.lines().skip_while(|line| !start(line)).collect();
    let end =
        lines.iter().position(|line| line.trim() == "end").ok_or(format!("there is no thread {name}"))?;
    Ok(lines[..=end].join("\n") + "\n")
}

/// What the thesis' figures count in a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Threads (T).
    pub threads: usize,
    /// Control states of all threads (St).
    pub states: usize,
    /// Transitions of all threads (Tr).
    pub transitions: usize,
    /// Pairs of a store and a load of one thread, for each of which Trencher asks a query (RQ).
    pub pairs: usize,
}

/// What a text has of it.
pub fn size(text: &str) -> Size {
    let mut size = Size::default();
    let (mut states, mut stores, mut loads) = (BTreeSet::new(), 0, 0);
    for line in text.lines() {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["thread", ..] => size.threads += 1,
            ["initial" | "final", state] => {
                states.insert(*state);
            }
            ["transition", from, to, rest @ ..] => {
                states.extend([*from, *to]);
                size.transitions += 1;
                stores += usize::from(rest.first() == Some(&"write"));
                loads += usize::from(rest.first() == Some(&"read"));
            }
            ["end"] => {
                size.states += states.len();
                size.pairs += stores * loads;
                (states, stores, loads) = (BTreeSet::new(), 0, 0);
            }
            _ => {}
        }
    }
    size
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# x\nthread a\ninitial q\ntransition\tq\tr\twrite 1 0\ntransition r s read v 1\nend\n\
                        thread b\ninitial q\ntransition q  q noop\nend\n";

    #[test]
    fn an_edit_finds_its_line_once_in_its_thread() {
        let check = |edits: &[LineEdit], expected: Result<&str, &str>| {
            let text = edited(TEXT, edits);
            assert_eq!(text.as_deref().map_err(String::as_str), expected);
        };
        let wanted = "# x\nthread a\ninitial q\ntransition q r write 1 0\ntransition r s read v 1\nend\n\
                      thread b\ninitial p\nfinal q\ntransition q q noop\nend\n";
        check(&[("b", "initial q", "initial p\nfinal q")], Ok(wanted));
        check(&[("a", "transition q q noop", "")], Err("`transition q q noop` is in thread a 0 times"));
        check(&[("c", "initial q", "")], Err("`initial q` is in thread c 0 times"));
    }

    #[test]
    fn a_thread_is_what_stands_up_to_its_end() {
        assert_eq!(thread(TEXT, "b").as_deref(), Ok("thread b\ninitial q\ntransition q  q noop\nend\n"));
        assert_eq!(thread(TEXT, "c"), Err("there is no thread c".to_string()));
    }

    #[test]
    fn sizes_are_counted_thread_by_thread() {
        assert_eq!(size(TEXT), Size { threads: 2, states: 4, transitions: 3, pairs: 1 });
    }
}
