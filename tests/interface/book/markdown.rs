//! As much of Markdown as the book uses: fenced blocks, code spans, links and headings.

use std::path::{Path, PathBuf};

/// A page and its lines.
pub struct Page {
    pub path: PathBuf,
    pub lines: Vec<String>,
}

/// A fenced block: the words behind the fence, and the lines between the fences.
pub struct Block {
    pub mark: String,
    /// The number, from 0, of the first line of its content.
    pub start: usize,
    /// The number of the line that closes it.
    pub end: usize,
}

impl Block {
    /// The language, which is what stands before the first comma.
    pub fn language(&self) -> &str {
        self.mark.split(',').next().unwrap_or_default()
    }

    /// Whether this word stands behind a comma.
    pub fn is(&self, word: &str) -> bool {
        self.mark.split(',').skip(1).any(|part| part == word)
    }

    /// The name of the file that it shows.
    pub fn file(&self) -> Option<&str> {
        self.mark.split(',').find_map(|part| part.strip_prefix("file="))
    }
}

impl Page {
    pub fn read(path: PathBuf) -> Page {
        let text = std::fs::read_to_string(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        Page { path, lines: text.lines().map(str::to_string).collect() }
    }

    /// Its path in the project, for messages.
    pub fn name(&self) -> String {
        let path = self.path.strip_prefix(super::root()).unwrap_or(&self.path);
        path.display().to_string()
    }

    pub fn folder(&self) -> &Path {
        self.path.parent().expect("a page stands in a folder")
    }

    /// All fenced blocks. A fence may be indented; only the same fence closes it.
    pub fn blocks(&self) -> Vec<Block> {
        let mut blocks: Vec<Block> = Vec::new();
        let mut open: Option<(String, usize, String)> = None;
        for (number, line) in self.lines.iter().enumerate() {
            let text = line.trim_start();
            let ticks = text.chars().take_while(|c| *c == '`').count();
            match &open {
                None if ticks >= 3 => {
                    open = Some((text[..ticks].to_string(), number + 1, text[ticks..].trim().to_string()));
                }
                Some((fence, start, mark)) if text.trim_end() == fence => {
                    blocks.push(Block { mark: mark.clone(), start: *start, end: number });
                    open = None;
                }
                _ => {}
            }
        }
        assert!(open.is_none(), "{}: a block is not closed", self.name());
        blocks
    }

    /// The text without fenced blocks, as one string; line numbers are not kept.
    pub fn prose(&self) -> String {
        let blocks = self.blocks();
        let inside = |number: &usize| blocks.iter().any(|b| b.start <= number + 1 && *number <= b.end);
        let lines = self.lines.iter().enumerate().filter(|(number, _)| !inside(number));
        lines.map(|(_, line)| format!("{line}\n")).collect()
    }

    /// Code spans of the prose.
    pub fn spans(&self) -> Vec<String> {
        let prose = self.prose();
        let parts = prose.split("\n\n").flat_map(|paragraph| paragraph.split('`').skip(1).step_by(2));
        parts.map(|span| span.split_whitespace().collect::<Vec<_>>().join(" ")).collect()
    }

    /// The targets of links in the prose, code spans left out.
    pub fn links(&self) -> Vec<String> {
        let prose = self.prose();
        let plain: String = prose.split('`').step_by(2).collect();
        let starts = plain.match_indices("](").map(|(at, _)| at + 2);
        starts.filter_map(|at| plain[at..].split(')').next().map(str::to_string)).collect()
    }

    /// The anchors of its headings, as Git hosts and mdBook make them.
    pub fn anchors(&self) -> Vec<String> {
        let prose = self.prose();
        let mut anchors: Vec<String> = Vec::new();
        for heading in prose.lines().filter(|line| line.starts_with('#')) {
            let text = heading.trim_start_matches('#').trim().to_lowercase();
            let kept = text.chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            let slug: String = kept.map(|c| if c == ' ' { '-' } else { c }).collect();
            let before = anchors.iter().filter(|a| **a == slug).count();
            anchors.push(if before == 0 { slug } else { format!("{slug}-{before}") });
        }
        anchors
    }
}
