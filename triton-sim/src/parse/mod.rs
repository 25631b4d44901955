//! PTX text to [`ast`].
//!
//! Anything unknown is an error, never skipped, except debug information (`.section`, `@@DWARF`) and `.pragma`. The
//! time is linear in the text, and the bounds on registers, sizes and nesting keep memory and stack in proportion.

pub mod ast;
mod body;
mod cursor;
mod directives;
mod function;
mod lexer;
mod names;
mod number;
mod operands;
mod special;
mod variables;

use crate::ParseError;
use ast::Pos;

/// Reads a text.
///
/// # Errors
/// The first error: what was found, what was expected.
pub fn parse(text: &str) -> Result<ast::Module, ParseError> {
    directives::module(text)
}

fn error(pos: Pos, message: &str) -> ParseError {
    ParseError { line: pos.line, column: pos.column, message: message.to_owned() }
}
