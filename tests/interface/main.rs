//! What people and programs see: the command line, the book, reports, editors.

mod action;
mod book;
mod cli;
mod grammar;
mod house;
mod html;
mod lsp;
mod playground;
