//! Links to all answers of a page: a list, or a table of files and models where there are several of both.

use super::page::Piece;
use crate::report::distinct;
use crate::report::markup::escape;
use std::fmt::Write;

/// Links to all answers, if there are several.
pub fn navigation(pieces: &[Piece]) -> String {
    if pieces.len() < 2 {
        return String::new();
    }
    let files = distinct(pieces.iter().map(|piece| piece.file.as_str()));
    let models = distinct(pieces.iter().filter_map(|piece| piece.model.as_deref()));
    let links =
        if files.len() > 1 && models.len() > 1 { table(pieces, &files, &models) } else { list(pieces) };
    format!("<nav aria-label=\"Answers\">{links}</nav>")
}

fn list(pieces: &[Piece]) -> String {
    let mut out = "<ol>\n".to_string();
    for (at, piece) in pieces.iter().enumerate() {
        let model = piece.model.as_ref().map(|model| format!(" <span class=\"muted\">{model}</span>"));
        let (file, model) = (escape(&piece.file), model.unwrap_or_default());
        let _ = writeln!(out, "<li><a href=\"#answer-{}\">{file}{model} {}</a></li>", at + 1, word(piece));
    }
    out + "</ol>"
}

fn word(piece: &Piece) -> String {
    format!("<span class=\"word {}\">{}</span>", piece.tone.class(), piece.word)
}

/// A row for each file and a column for each model; answers without a model stand beside the file.
fn table(pieces: &[Piece], files: &[&str], models: &[&str]) -> String {
    let mut rows = vec![vec![String::new(); models.len() + 1]; files.len()];
    for (at, piece) in pieces.iter().enumerate() {
        let row = files.iter().position(|file| *file == piece.file);
        let column = models.iter().position(|model| Some(*model) == piece.model.as_deref());
        if let Some(row) = row {
            rows[row][column.map_or(0, |column| column + 1)] += &cell(at, piece);
        }
    }
    let heads: String = models.iter().map(|model| format!("<th scope=\"col\">{model}</th>")).collect();
    let mut out = format!(
        "<div class=\"scroll\"><table class=\"answers\"><thead><tr><th scope=\"col\">File</th>{heads}</tr></thead><tbody>\n"
    );
    for (file, row) in files.iter().zip(rows) {
        let _ = write!(out, "<tr><th scope=\"row\">{}{}</th>", escape(file), row[0]);
        for cell in &row[1..] {
            let _ = write!(out, "<td>{cell}</td>");
        }
        out += "</tr>\n";
    }
    out + "</tbody></table></div>"
}

/// A link that says in full what it leads to, for those who do not see where it stands.
fn cell(at: usize, piece: &Piece) -> String {
    let model = piece.model.as_ref().map(|model| format!(" {model}")).unwrap_or_default();
    let name = format!("<span class=\"hidden-text\">{}{model} </span>", escape(&piece.file));
    format!("<a href=\"#answer-{}\">{name}{}</a>", at + 1, word(piece))
}
