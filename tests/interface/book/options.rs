//! Commands and options that the book names exist.

use super::tool::run;
use super::{none, pages, root};
use std::collections::{BTreeMap, BTreeSet};

type Options = BTreeMap<String, BTreeSet<String>>;

/// The help of a command.
fn help(args: &[&str]) -> String {
    run(root(), &[args, &["--help"]].concat(), b"").exits(0).out
}

/// The commands that a help lists.
fn listed(help: &str) -> Vec<&str> {
    let list = help.split("Commands:").nth(1).and_then(|rest| rest.split("\n\n").next()).unwrap_or_default();
    list.lines().filter_map(|line| line.split_whitespace().next()).collect()
}

/// Every command with the options that its help names, and those of commands in it.
fn commands() -> Options {
    let overview = help(&[]);
    let named = |name: &&str| {
        let own = help(&[name]);
        let inner = listed(&own).into_iter().flat_map(|inner| options(&help(&[name, inner])));
        (name.to_string(), options(&own).into_iter().chain(inner).collect())
    };
    let mut commands: Options = listed(&overview).iter().map(named).collect();
    commands.insert(String::new(), options(&overview));
    assert!(commands.len() > 8, "{commands:?}");
    commands
}

/// The long options in a text.
fn options(text: &str) -> BTreeSet<String> {
    let starts = text.match_indices("--").map(|(at, _)| at);
    let alone = starts.filter(|at| !text[..*at].ends_with(|c: char| c.is_alphanumeric() || c == '-'));
    let words = alone.map(|at| {
        let name: String =
            text[at + 2..].chars().take_while(|c| c.is_ascii_lowercase() || *c == '-').collect();
        format!("--{}", name.trim_end_matches('-'))
    });
    words.filter(|word| word.len() > 2).collect()
}

/// What is wrong with a command line, or a part of one.
fn wrong(line: &str, commands: &Options) -> Option<String> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ours = words.iter().position(|word| *word == "fencewright");
    let named = match ours {
        Some(at) => words.get(at + 1).copied(),
        None => words.first().copied(),
    };
    let command = named.filter(|name| commands.contains_key(*name));
    if ours.is_some()
        && command.is_none()
        && named.is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
    {
        return Some(format!("`{line}`: there is no such command"));
    }
    let known = |option: &String| match command {
        Some(name) => commands[name].contains(option) || commands[""].contains(option),
        None => commands.values().any(|options| options.contains(option)),
    };
    let unknown = options(line).into_iter().find(|option| !known(option))?;
    Some(format!("`{line}`: there is no option {unknown}"))
}

#[test]
fn commands_and_options_exist() {
    let commands = commands();
    let mut complaints = Vec::new();
    for page in pages() {
        let foreign = ["cargo ", "npm ", "npx ", "z3 ", "cvc5 ", "code "];
        let ours = |line: &str| !foreign.iter().any(|start| line.starts_with(start));
        for span in page.spans().iter().filter(|span| ours(span)) {
            complaints.extend(wrong(span, &commands).map(|text| format!("{}: {text}", page.name())));
        }
        for block in page.blocks() {
            let lines = page.lines[block.start..block.end].iter().map(|line| line.trim_start());
            let told = lines.filter_map(|line| line.strip_prefix("$ ").or(Some(line)));
            for line in told.filter(|line| line.starts_with("fencewright ")) {
                // What follows two blanks or a pipe is not for us.
                let line = line.split("  ").next().unwrap_or(line).split('|').next().unwrap_or(line);
                complaints.extend(wrong(line, &commands).map(|text| format!("{}: {text}", page.name())));
            }
        }
    }
    none(complaints);
}

#[test]
fn what_does_not_exist_is_noticed() {
    let commands = commands();
    assert_eq!(wrong("fencewright verify --model tso x.fw", &commands), None);
    assert_eq!(wrong("--model", &commands), None);
    assert!(wrong("fencewright prove x.fw", &commands).is_some());
    assert!(wrong("fencewright list --goal robust", &commands).is_some());
    assert!(wrong("--modle", &commands).is_some());
}
