//! Locations in the user's source.
//!
//! The compiler does not know files or tokens: a [`Span`] is an index into the [`Sources`] that came with the kernel. The
//! macro keeps the tokens' own spans in a table of the same length, so that a diagnostic returns to the very operand.

/// A location in the kernel's source: an index into [`Sources::locs`]. `Span::NONE` is "nowhere" (text IR in tests).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span(pub u32);

impl Span {
    /// No location.
    pub const NONE: Span = Span(u32::MAX);
}

/// File, line (from 1) and column (from 1, in characters) of the first character of a span.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Loc {
    /// Index into [`Sources::files`].
    pub file: u16,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
}

/// Where the spans of one kernel lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// File names as they should appear in messages and line tables: relative, never a home directory.
    pub files: Vec<String>,
    /// One location for each span.
    pub locs: Vec<Loc>,
}

impl Sources {
    /// The location of `span`, if it has one.
    pub fn loc(&self, span: Span) -> Option<Loc> {
        self.locs.get(span.0 as usize).copied()
    }

    /// `src/main.rs:12:5`, if `span` has a location.
    pub fn describe(&self, span: Span) -> Option<String> {
        let loc = self.loc(span)?;
        let file = self.files.get(loc.file as usize)?;
        Some(format!("{file}:{}:{}", loc.line, loc.column))
    }
}
