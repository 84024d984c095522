//! Links lead somewhere, and the table of contents has every page.

use super::markdown::Page;
use super::{none, pages, root};
use std::path::{Component, Path, PathBuf};

#[test]
fn links_lead_to_files_and_headings() {
    let pages = pages();
    let count: usize = pages.iter().map(|page| page.links().len()).sum();
    assert!(count > 50, "links were not found");
    none(pages.iter().flat_map(|page| broken(page, &pages)).collect());
}

/// What is wrong with the links of a page.
fn broken(page: &Page, pages: &[Page]) -> Vec<String> {
    let check = |link: &String| {
        if link.starts_with("https://") {
            return None;
        }
        let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
        let target = if file.is_empty() { page.path.clone() } else { normal(&page.folder().join(file)) };
        let docs = root().join("docs");
        let missing = if !target.is_file() && !target.is_dir() {
            "there is no such file"
        } else if page.path.starts_with(&docs) && !target.starts_with(&docs) {
            "a page of the book links to a file that is not in it"
        } else if anchor.is_empty() {
            return None;
        } else {
            let found = pages.iter().find(|other| other.path == target);
            if found.is_some_and(|other| other.anchors().iter().any(|a| a == anchor)) {
                return None;
            }
            "there is no such heading"
        };
        Some(format!("{}: {link}: {missing}", page.name()))
    };
    page.links().iter().filter_map(check).collect()
}

/// The path without `.` and `..`.
fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::ParentDir => drop(result.pop()),
            Component::CurDir => {}
            other => result.push(other),
        }
    }
    result
}

#[test]
fn the_table_of_contents_has_every_page_once() {
    let pages = pages();
    let docs = root().join("docs");
    let contents = pages.iter().find(|page| page.path == docs.join("SUMMARY.md")).expect("the contents");
    let listed: Vec<PathBuf> = contents.links().iter().map(|link| docs.join(link)).collect();
    let in_book = pages.iter().filter(|page| page.path.starts_with(&docs) && page.path != contents.path);
    none(
        in_book
            .filter_map(|page| match listed.iter().filter(|path| **path == page.path).count() {
                1 => None,
                count => Some(format!("SUMMARY.md lists {} {count} times", page.name())),
            })
            .collect(),
    );
}
