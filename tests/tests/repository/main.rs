//! The repository's own rules: files, the map of crates and modules, tables that must agree, the book, what is published, and that every message has a case.

mod book;
mod library;
mod map;
mod messages;
mod operations;
mod packages;
mod replacements;
mod tidy;
