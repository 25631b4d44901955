//! The repository's own rules: files, the map of crates and modules, tables that must agree, the book, and that every message has a case.

mod book;
mod map;
mod messages;
mod replacements;
mod tidy;
