//! `fencewright-book BOOK FOLDER`: the pages of a book as a site in a folder, which is emptied first.

use mdbook_driver::MDBook;
use std::error::Error;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [book, folder] = &args[..] else { return Err("which book, and which folder?".into()) };
    let mut book = MDBook::load(book)?;
    book.config.build.build_dir = std::path::absolute(folder)?;
    book.build()?;
    Ok(())
}
