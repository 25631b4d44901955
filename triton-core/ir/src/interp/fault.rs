//! What a program did wrong, and where.

use crate::ir::Function;
use crate::span::Span;
use std::fmt;

/// A program that did something that is not allowed: an access that memory refused, an integer division that has no result.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ProgramFault {
    /// The kernel's name.
    pub kernel: String,
    /// The source file, as rustc names it; empty if it is not known.
    pub file: String,
    /// The line in it, from 1; 0 if it is not known.
    pub line: u32,
    /// The column in it, from 1; 0 if it is not known.
    pub column: u32,
    /// The program that did it.
    pub program: [u32; 3],
    /// What happened.
    pub message: String,
}

impl ProgramFault {
    /// At a span of a function, or of the function as a whole ([`Span::NONE`]).
    pub fn new(func: &Function, span: Span, program: [u32; 3], message: impl Into<String>) -> ProgramFault {
        let loc = func.sources.loc(span);
        let file = loc.and_then(|loc| func.sources.files.get(usize::from(loc.file)));
        let loc = loc.filter(|_| file.is_some());
        ProgramFault {
            kernel: func.name.clone(),
            file: file.cloned().unwrap_or_default(),
            line: loc.map_or(0, |loc| loc.line),
            column: loc.map_or(0, |loc| loc.column),
            program,
            message: message.into(),
        }
    }
}

impl fmt::Display for ProgramFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}:{}: ", self.file, self.line, self.column)?;
        }
        let [x, y, z] = self.program;
        write!(f, "kernel `{}`, program ({x}, {y}, {z}): {}", self.kernel, self.message)
    }
}

impl std::error::Error for ProgramFault {}
