//! The repository's own rules: files, dependencies, tables that must agree, the book, and that every message has a case.

mod book;
mod messages;
mod tidy;
