//! Tables of text: columns as wide as they need to be, cells that wrap.

use anstyle::Style;
use std::fmt::Write;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// One line of a cell, before wrapping. What does not fit continues below its text.
#[derive(Clone, Debug, Default)]
pub struct Line {
    /// A narrow part in front, like a line number.
    pub margin: String,
    /// The text, which may wrap.
    pub text: String,
    /// How the text looks.
    pub style: Style,
}

impl Line {
    /// A line without a margin.
    pub fn plain(text: impl Into<String>) -> Line {
        Line { text: text.into(), ..Line::default() }
    }

    /// In this style.
    pub fn style(mut self, style: Style) -> Line {
        self.style = style;
        self
    }

    /// With this in front.
    pub fn margin(mut self, margin: impl Into<String>) -> Line {
        self.margin = margin.into();
        self
    }

    /// A statement behind the number of its line, which has this much room with the blank behind it.
    pub fn numbered(line: Option<usize>, room: usize, text: &str) -> Line {
        let line = line.map(|line| line.to_string()).unwrap_or_default();
        Line::plain(text).margin(format!("{line:>width$} ", width = room - 1))
    }

    /// The arrival of a store, behind an arrow in the room of line numbers.
    pub fn arrival(store: &str, room: usize, mark: &str) -> Line {
        Line::plain(format!("{store} reaches memory{mark}")).margin(format!("{:<room$}", "→"))
    }

    fn width(&self) -> usize {
        self.margin.width() + self.text.width()
    }
}

/// The lines of a cell.
pub type Cell = Vec<Line>;

/// A column.
#[derive(Clone, Debug)]
pub struct Column {
    /// Its title, one or two lines.
    pub title: Vec<String>,
    /// It belongs to the column before it: no line between them.
    pub joined: bool,
    /// It may be made narrower down to this width; `None` if its lines must not wrap.
    pub least: Option<usize>,
}

impl Column {
    /// A column of its own.
    pub fn new(title: &str, least: Option<usize>) -> Column {
        Column { title: vec![title.to_string()], joined: false, least }
    }
}

/// A table with a head and rows.
#[derive(Clone, Debug, Default)]
pub struct TextTable {
    /// The columns.
    pub columns: Vec<Column>,
    /// The rows: one cell per column.
    pub rows: Vec<Vec<Cell>>,
}

const BOLD: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

impl TextTable {
    /// The table within a width; `None` if the columns cannot be made narrow enough.
    pub fn render(&self, width: usize) -> Option<String> {
        let widths = self.widths(width)?;
        let mut out = String::new();
        let title = |column: &Column| column.title.iter().map(|t| Line::plain(t).style(BOLD)).collect();
        let titles: Vec<Cell> = self.columns.iter().map(title).collect();
        self.row(&mut out, &titles, &widths);
        let mut rule = String::new();
        for (at, (column, width)) in self.columns.iter().zip(&widths).enumerate() {
            rule += if column.joined {
                "──"
            } else if at > 0 {
                "─┼─"
            } else {
                ""
            };
            rule += &"─".repeat(*width);
        }
        let _ = writeln!(out, "{DIM}{rule}{DIM:#}");
        for cells in &self.rows {
            self.row(&mut out, cells, &widths);
        }
        Some(out)
    }

    fn row(&self, out: &mut String, cells: &[Cell], widths: &[usize]) {
        let wrap = |(cell, width): (&Cell, &usize)| cell.iter().flat_map(|l| wrap(l, *width)).collect();
        let wrapped: Vec<Cell> = cells.iter().zip(widths).map(wrap).collect();
        let height = wrapped.iter().map(Vec::len).max().unwrap_or(0).max(1);
        for at in 0..height {
            let mut line = String::new();
            for (column, (cell, width)) in wrapped.iter().zip(widths).enumerate() {
                if self.columns[column].joined {
                    line.push_str("  ");
                } else if column > 0 {
                    let _ = write!(line, " {DIM}│{DIM:#} ");
                }
                let empty = Line::default();
                let part = cell.get(at).unwrap_or(&empty);
                line.push_str(&styled(&part.margin, DIM));
                line.push_str(&styled(&part.text, part.style));
                line.push_str(&" ".repeat(width.saturating_sub(part.width())));
            }
            let _ = writeln!(out, "{}", line.trim_end());
        }
    }

    /// As wide as needed; where that is too wide, the widest columns give way first.
    fn widths(&self, available: usize) -> Option<Vec<usize>> {
        let needs = |at: usize| {
            let lines = self.rows.iter().filter_map(|row| row.get(at)).flatten();
            let titles = self.columns[at].title.iter().map(|title| title.width());
            lines.map(Line::width).chain(titles).max().unwrap_or(0)
        };
        let mut widths: Vec<usize> = (0..self.columns.len()).map(needs).collect();
        let separators = self.columns.iter().skip(1).map(|c| if c.joined { 2 } else { 3 }).sum::<usize>();
        while widths.iter().sum::<usize>() + separators > available {
            let can_shrink = |at: &usize| self.columns[*at].least.is_some_and(|least| widths[*at] > least);
            let widest = (0..widths.len()).filter(can_shrink).max_by_key(|at| widths[*at])?;
            widths[widest] -= 1;
        }
        Some(widths)
    }
}

/// A text in a style; blanks stay plain, so that they can be trimmed, and those that did not
/// break become ordinary ones.
pub fn styled(text: &str, style: Style) -> String {
    let text = text.replace('\u{a0}', " ");
    if text.trim().is_empty() { text.to_string() } else { format!("{style}{text}{style:#}") }
}

fn wrap(line: &Line, width: usize) -> Vec<Line> {
    let indent = line.margin.width();
    let pieces = wrap_text(&line.text, width.saturating_sub(indent).max(1));
    let piece = |(at, text): (usize, String)| {
        let margin = if at == 0 { line.margin.clone() } else { " ".repeat(indent) };
        Line { margin, text, style: line.style }
    };
    pieces.into_iter().enumerate().map(piece).collect()
}

/// Breaks a text at blanks, and inside a word only where the word alone is too long.
pub fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        let mut word = word;
        loop {
            let last = lines.len() - 1;
            let used = lines[last].width();
            let gap = usize::from(used > 0);
            if used + gap + word.width() <= width {
                if gap > 0 {
                    lines[last].push(' ');
                }
                lines[last].push_str(word);
                break;
            }
            if used > 0 {
                lines.push(String::new());
                continue;
            }
            let cut = fitting(word, width);
            lines[last].push_str(&word[..cut]);
            word = &word[cut..];
            if word.is_empty() {
                break;
            }
            lines.push(String::new());
        }
    }
    lines.iter_mut().for_each(|line| line.truncate(line.trim_end_matches(' ').len()));
    lines
}

/// Text as lines of a list: the first set in by `indent`, the others by `hang` more.
pub fn hanging(text: &str, width: usize, (indent, hang): (usize, usize), style: Style) -> String {
    let lines = wrap_text(text, width.saturating_sub(indent + hang).max(10));
    let line = |(at, line): (usize, &String)| {
        let indent = if at == 0 { indent } else { indent + hang };
        format!("{}{}\n", " ".repeat(indent), styled(line, style))
    };
    lines.iter().enumerate().map(line).collect()
}

/// As much of a text as fits into a width.
pub fn cut(text: &str, width: usize) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let mut used = 1;
    let fits = text.chars().take_while(|c| {
        used += c.width().unwrap_or(0);
        used <= width
    });
    fits.chain(['…']).collect()
}

/// How many bytes of a word fit into a width: at least one character, so that there is an end.
fn fitting(word: &str, width: usize) -> usize {
    let mut used = 0;
    let fits = word.char_indices().take_while(|(at, c)| {
        used += c.width().unwrap_or(0);
        *at == 0 || used <= width
    });
    fits.last().map_or(word.len(), |(at, c)| at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, width: usize, expected: &[&str]) {
        assert_eq!(wrap_text(text, width), expected, "{text}");
    }

    #[test]
    fn text_breaks_at_blanks_and_only_if_needed_inside_words() {
        check("a bb ccc", 8, &["a bb ccc"]);
        check("a bb ccc", 4, &["a bb", "ccc"]);
        check("abcdefgh", 3, &["abc", "def", "gh"]);
        check("x abcdefgh", 4, &["x", "abcd", "efgh"]);
        check("", 4, &[""]);
        // Characters that are two columns wide, or none.
        check("変数名前", 5, &["変数", "名前"]);
        check("変", 1, &["変"]);
        check("e\u{301}e\u{301}e", 2, &["e\u{301}e\u{301}", "e"]);
    }

    fn table() -> TextTable {
        TextTable {
            columns: vec![Column::new("a", None), Column::new("text", Some(5))],
            rows: vec![vec![vec![Line::plain("1")], vec![Line::plain("one two").margin("9 ")]]],
        }
    }

    #[test]
    fn columns_shrink_and_wrap_with_a_hanging_indent() {
        let plain = |text: String| anstream::adapter::strip_str(&text).to_string();
        assert_eq!(
            table().render(80).map(plain).as_deref(),
            Some("a │ text\n──┼──────────\n1 │ 9 one two\n")
        );
        assert_eq!(
            table().render(9).map(plain).as_deref(),
            Some("a │ text\n──┼──────\n1 │ 9 one\n  │   two\n")
        );
        assert_eq!(table().render(8), None);
    }
}
