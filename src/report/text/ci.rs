//! What `ci` compared, for people.

use super::{BOLD, ERROR, SAFE, UNKNOWN, UNSAFE, upper};
use crate::numbers::grouped;
use crate::report::{Compared, Look, Status, Subject};
use anstyle::Style;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

fn style(status: Status) -> Style {
    match status {
        Status::Ok => SAFE,
        Status::Changed | Status::Missing | Status::Redundant => UNSAFE,
        Status::Unknown => UNKNOWN,
        Status::Error => ERROR,
    }
}

/// What is not as expected, with the answer that shows it.
pub fn unexpected(compared: &Compared, answer: &str) -> String {
    if compared.status == Status::Ok {
        return String::new();
    }
    let style = style(compared.status);
    let name = compared.status.name();
    let mut out = format!("{style}{name}{style:#}: {}: {}\n", compared.file, compared.message);
    for line in answer.lines() {
        let indent = if line.is_empty() { "" } else { "  " };
        let _ = writeln!(out, "{indent}{line}");
    }
    out.push('\n');
    out
}

/// Everything in a table, and how much of it is as expected. With `--quiet` only the last.
pub fn table(all: &[Compared], look: &Look) -> String {
    let mut out = String::new();
    if !look.quiet && !all.is_empty() {
        let heads = ["file", "model", "what", "expected", "found"].map(str::to_string);
        let rows: Vec<[String; 5]> = all.iter().map(row).collect();
        let widths: Vec<usize> = (0..5)
            .map(|at| rows.iter().chain([&heads]).map(|row| row[at].width()).max().unwrap_or(0))
            .collect();
        let line = |cells: &[String; 5]| {
            let padded = cells
                .iter()
                .zip(&widths)
                .map(|(cell, width)| format!("{cell}{}  ", " ".repeat(width.saturating_sub(cell.width()))));
            padded.collect::<String>()
        };
        let _ = writeln!(out, "{BOLD}{}status{BOLD:#}", line(&heads));
        for (compared, cells) in all.iter().zip(&rows) {
            let style = style(compared.status);
            let _ = writeln!(out, "{}{style}{}{style:#}", line(cells), compared.status.name());
        }
        out.push('\n');
    }
    out + &summary(all)
}

fn row(compared: &Compared) -> [String; 5] {
    let what = match (compared.subject, compared.place) {
        (Subject::Fence, Some(place)) => format!("fence in line {}", place.line),
        (subject, _) => subject.name().to_string(),
    };
    let model = compared.model.map_or_else(String::new, upper);
    [compared.file.clone(), model, what, compared.expected.clone(), compared.found.clone()]
}

fn summary(all: &[Compared]) -> String {
    let count = |status: Status| all.iter().filter(|compared| compared.status == status).count();
    let words = [
        (Status::Ok, "as expected"),
        (Status::Changed, "changed"),
        (Status::Missing, "with a fence missing"),
        (Status::Redundant, "redundant"),
        (Status::Unknown, "unknown"),
        (Status::Error, "in error"),
    ];
    let parts = words.iter().filter(|(status, _)| *status == Status::Ok || count(*status) > 0).map(
        |(status, words)| {
            let style = style(*status);
            format!("{style}{} {words}{style:#}", grouped(count(*status)))
        },
    );
    format!("{}\n", parts.collect::<Vec<_>>().join(", "))
}
