//! Tables of measurements: ours, and the published ones beside them.

use super::table::{Column, Line, TextTable};
use super::{Look, Printed, SCHEMA};
use crate::numbers::grouped;
use machine::Model;
use serde_json::{Map, Value, json};

/// A table of measurements.
#[derive(Clone, Debug, Default)]
pub struct BenchTable {
    /// What it is about.
    pub title: String,
    /// What its columns are called.
    pub columns: Vec<&'static str>,
    /// Its rows: one cell per column.
    pub rows: Vec<Vec<BenchCell>>,
    /// What must be known to read it.
    pub notes: Vec<String>,
}

impl BenchTable {
    /// A table without rows yet.
    pub fn new(title: impl Into<String>, columns: &[&'static str]) -> BenchTable {
        BenchTable { title: title.into(), columns: columns.to_vec(), ..BenchTable::default() }
    }

    /// With something that must be known to read it.
    pub fn note(mut self, note: impl Into<String>) -> BenchTable {
        self.notes.push(note.into());
        self
    }
}

/// A cell of a table of measurements.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchCell {
    /// Words.
    Text(String),
    /// A count.
    Count(usize),
    /// A time somebody else measured.
    Milliseconds(f64),
    /// Times that we measured.
    Measured(Times),
    /// Nothing is known.
    Missing,
}

/// How long one thing took, several times over, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Times {
    /// Half of the runs took longer.
    pub median: f64,
    /// The quickest run.
    pub least: f64,
    /// The slowest one.
    pub most: f64,
    /// How many runs there were.
    pub runs: usize,
    /// Whether more were wanted, but took too long.
    pub fewer: bool,
}

impl Times {
    /// Of these runs, where this many were wanted; `None` if there was none.
    pub fn of(mut milliseconds: Vec<f64>, wanted: usize) -> Option<Times> {
        milliseconds.sort_by(f64::total_cmp);
        let runs = milliseconds.len();
        let (least, most) = (*milliseconds.first()?, *milliseconds.last()?);
        let median = (milliseconds[(runs - 1) / 2] + milliseconds[runs / 2]) / 2.0;
        Some(Times { median, least, most, runs, fewer: runs < wanted })
    }

    fn text(&self) -> String {
        let median = time(self.median);
        match (self.runs, self.fewer) {
            (1, false) => median,
            (1, true) => format!("{median} (once)"),
            (runs, fewer) => {
                let count = if fewer { format!(", {runs} runs") } else { String::new() };
                format!("{median} ({}–{}{count})", time(self.least), time(self.most))
            }
        }
    }
}

fn time(milliseconds: f64) -> String {
    if milliseconds < 10.0 { format!("{milliseconds:.1}") } else { grouped(milliseconds.round() as usize) }
}

impl From<&str> for BenchCell {
    fn from(text: &str) -> BenchCell {
        BenchCell::Text(text.to_string())
    }
}

impl From<String> for BenchCell {
    fn from(text: String) -> BenchCell {
        BenchCell::Text(text)
    }
}

impl From<Model> for BenchCell {
    fn from(model: Model) -> BenchCell {
        super::text::upper(model).into()
    }
}

impl From<usize> for BenchCell {
    fn from(count: usize) -> BenchCell {
        BenchCell::Count(count)
    }
}

impl From<Times> for BenchCell {
    fn from(times: Times) -> BenchCell {
        BenchCell::Measured(times)
    }
}

impl<T: Into<BenchCell>> From<Option<T>> for BenchCell {
    fn from(cell: Option<T>) -> BenchCell {
        cell.map_or(BenchCell::Missing, Into::into)
    }
}

impl BenchCell {
    /// The median of times that we measured, in milliseconds.
    pub fn median(&self) -> f64 {
        match self {
            BenchCell::Measured(times) => times.median,
            _ => 0.0,
        }
    }

    fn text(&self) -> String {
        match self {
            BenchCell::Text(text) => text.clone(),
            BenchCell::Count(count) => grouped(*count),
            BenchCell::Milliseconds(milliseconds) => time(*milliseconds),
            BenchCell::Measured(times) => times.text(),
            BenchCell::Missing => "–".to_string(),
        }
    }

    /// The fields for a column of this name: times have one for their spread as well.
    fn json(&self, name: &str) -> Vec<(String, Value)> {
        let rounded = |milliseconds: f64| Value::from((milliseconds * 1000.0).round() / 1000.0);
        let value = match self {
            BenchCell::Text(text) => text.clone().into(),
            BenchCell::Count(count) => (*count).into(),
            BenchCell::Milliseconds(milliseconds) => rounded(*milliseconds),
            BenchCell::Measured(times) => rounded(times.median),
            BenchCell::Missing => Value::Null,
        };
        let mut fields = vec![(name.to_string(), value)];
        if let BenchCell::Measured(times) = self {
            fields.push((format!("{name}_least"), rounded(times.least)));
            fields.push((format!("{name}_most"), rounded(times.most)));
            fields.push((format!("{name}_runs"), times.runs.into()));
        }
        fields
    }
}

/// Tables for people.
pub fn text(tables: &[BenchTable], look: &Look) -> String {
    let mut out = String::new();
    for table in tables {
        let column = |title: &&str| Column::new(title, Some(8));
        let cells = |row: &Vec<BenchCell>| row.iter().map(|cell| vec![Line::plain(cell.text())]).collect();
        let drawn = TextTable {
            columns: table.columns.iter().map(column).collect(),
            rows: table.rows.iter().map(cells).collect(),
        };
        out += &format!("{}\n\n", table.title);
        out += &drawn.render(look.width).or_else(|| drawn.render(usize::MAX)).unwrap_or_default();
        table.notes.iter().filter(|_| !look.quiet).for_each(|note| out += &format!("{note}\n"));
        out.push('\n');
    }
    out
}

/// Tables for the book.
pub fn markdown(tables: &[BenchTable]) -> String {
    let mut out = String::new();
    for table in tables {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        out += &format!("{}\n\n", table.title);
        out += &line(table.columns.iter().map(|title| title.to_string()).collect());
        out += &format!("|{}\n", "---|".repeat(table.columns.len()));
        table.rows.iter().for_each(|row| out += &line(row.iter().map(BenchCell::text).collect()));
        table.notes.iter().for_each(|note| out += &format!("\n* {note}"));
        out += "\n\n";
    }
    out
}

/// One object per row.
pub fn json(bench: &str, tables: &[BenchTable]) -> Printed {
    let mut out = String::new();
    for table in tables {
        for row in &table.rows {
            let mut cells = Map::new();
            let fields = table.columns.iter().zip(row);
            for (key, value) in fields.flat_map(|(column, cell)| cell.json(&column.replace(' ', "_"))) {
                let before = cells.insert(key.clone(), value);
                assert!(before.is_none(), "two columns of one name: {key}");
            }
            let object = json!({"schema": SCHEMA, "command": "bench", "bench": bench, "table": table.title, "row": cells});
            out += &format!("{object}\n");
        }
    }
    Printed::out(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_a_median_and_a_spread() {
        let check = |runs: &[f64], wanted: usize, expected: &str| {
            let times = Times::of(runs.to_vec(), wanted).expect("there are runs");
            assert_eq!(BenchCell::from(times).text(), expected);
        };
        check(&[3.0, 1.0, 2.0], 3, "2.0 (1.0–3.0)");
        check(&[3.0, 1.0, 2.0, 4000.0], 4, "2.5 (1.0–4,000)");
        check(&[30.0, 10.0], 5, "20 (10–30, 2 runs)");
        check(&[20_000.4], 5, "20,000 (once)");
        check(&[7.0], 1, "7.0");
        assert_eq!(Times::of(Vec::new(), 5), None);
    }

    #[test]
    fn a_time_has_fields_for_its_spread() {
        let times = Times::of(vec![1.0, 2.0, 4.0], 3).expect("there are runs");
        let fields = BenchCell::from(times).json("cegar_ms");
        let values =
            [("", 2.0.into()), ("_least", 1.0.into()), ("_most", 4.0.into()), ("_runs", Value::from(3))];
        assert_eq!(fields, values.map(|(end, value)| (format!("cegar_ms{end}"), value)));
    }
}
