//! Tables of measurements: ours, and the published ones beside them.

use super::table::{Column, Line, Table};
use super::{Look, Printed};
use crate::numbers::grouped;
use serde_json::{Map, Value, json};

/// A table of measurements.
#[derive(Clone, Debug, Default)]
pub struct BenchTable {
    /// What it is about.
    pub title: String,
    /// What its columns are called.
    pub columns: Vec<&'static str>,
    /// Its rows: one cell a column.
    pub rows: Vec<Vec<BenchCell>>,
    /// What must be known to read it.
    pub notes: Vec<String>,
}

/// A cell of a table of measurements.
#[derive(Clone, Debug, PartialEq)]
pub enum BenchCell {
    /// Words.
    Text(String),
    /// A count.
    Count(usize),
    /// A time.
    Milliseconds(f64),
    /// Nothing is known.
    Missing,
}

impl From<&str> for BenchCell {
    fn from(text: &str) -> BenchCell {
        BenchCell::Text(text.to_string())
    }
}

impl From<usize> for BenchCell {
    fn from(count: usize) -> BenchCell {
        BenchCell::Count(count)
    }
}

impl<T: Into<BenchCell>> From<Option<T>> for BenchCell {
    fn from(cell: Option<T>) -> BenchCell {
        cell.map_or(BenchCell::Missing, Into::into)
    }
}

impl BenchCell {
    fn text(&self) -> String {
        match self {
            BenchCell::Text(text) => text.clone(),
            BenchCell::Count(count) => grouped(*count),
            BenchCell::Milliseconds(time) if *time < 10.0 => format!("{time:.1}"),
            BenchCell::Milliseconds(time) => grouped(time.round() as usize),
            BenchCell::Missing => "–".to_string(),
        }
    }

    fn json(&self) -> Value {
        match self {
            BenchCell::Text(text) => text.clone().into(),
            BenchCell::Count(count) => (*count).into(),
            BenchCell::Milliseconds(time) => ((time * 1000.0).round() / 1000.0).into(),
            BenchCell::Missing => Value::Null,
        }
    }
}

/// Tables for people.
pub fn text(tables: &[BenchTable], look: &Look) -> Printed {
    let mut out = String::new();
    for table in tables {
        let column = |title: &&str| Column { title: vec![title.to_string()], joined: false, least: Some(8) };
        let cells = |row: &Vec<BenchCell>| row.iter().map(|cell| vec![Line::plain(cell.text())]).collect();
        let drawn = Table {
            columns: table.columns.iter().map(column).collect(),
            rows: table.rows.iter().map(cells).collect(),
        };
        out += &format!("{}\n\n", table.title);
        out += &drawn.render(look.width).or_else(|| drawn.render(usize::MAX)).unwrap_or_default();
        table.notes.iter().filter(|_| !look.quiet).for_each(|note| out += &format!("{note}\n"));
        out.push('\n');
    }
    Printed { out, err: String::new() }
}

/// One object a row.
pub fn json(schema: &str, bench: &str, tables: &[BenchTable]) -> Printed {
    let mut out = String::new();
    for table in tables {
        for row in &table.rows {
            let name = |column: &&str| column.replace(' ', "_");
            let cells: Map<String, Value> =
                table.columns.iter().map(name).zip(row.iter().map(BenchCell::json)).collect();
            let object = json!({"schema": schema, "command": "bench", "bench": bench, "table": table.title, "row": cells});
            out += &format!("{object}\n");
        }
    }
    Printed { out, err: String::new() }
}
