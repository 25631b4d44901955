//! Locations in the user's source.
//!
//! The compiler does not know files or tokens: a [`Span`] is an index into the [`Sources`] that came with the kernel. The
//! macro keeps the tokens' own spans in a table of the same length, so that a diagnostic returns to the very operand.
//!
//! The body of a function is inlined at each of its calls. Its spans in the kernel are *inlined* ones: each has the span that came with
//! the kernel, and the [`Call`] that was inlined, which may be in the body of another one.

use crate::entity::{Interner, entity};

/// A location in the kernel's source: an index into [`Sources::locs`], or an inlined one of the same [`Sources`]. `Span::NONE` is "nowhere"
/// (text IR in tests).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span(pub u32);

impl Span {
    /// No location.
    pub const NONE: Span = Span(u32::MAX);

    /// The bit that tells inlined spans from the others.
    const INLINED: u32 = 1 << 31;
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

entity!(
    /// A call that was inlined.
    CallId,
    "c"
);

/// A call that was inlined.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Call {
    /// The name of the function.
    pub function: String,
    /// The call itself: an inlined span, if it is in the body of a function.
    pub at: Span,
}

entity!(
    /// An inlined span.
    InlinedId,
    "i"
);

/// Where the spans of one kernel lie.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sources {
    /// File names as they should appear in messages and line tables: relative, never a home directory.
    pub files: Vec<String>,
    /// One location for each span that came with the kernel.
    pub locs: Vec<Loc>,
    /// Calls that were inlined; one is after that in whose body it is.
    pub calls: Interner<CallId, Call>,
    /// What each inlined span was before, and the call.
    inlined: Interner<InlinedId, (Span, CallId)>,
}

impl Sources {
    /// The location of `span`, if it has one: of an inlined one that in the function's body.
    pub fn loc(&self, span: Span) -> Option<Loc> {
        self.locs.get(self.origin(span).0 as usize).copied()
    }

    /// `src/main.rs:12:5`, if `span` has a location.
    pub fn describe(&self, span: Span) -> Option<String> {
        let loc = self.loc(span)?;
        let file = self.files.get(loc.file as usize)?;
        Some(format!("{file}:{}:{}", loc.line, loc.column))
    }

    /// The span in the body of an inlined call. One that is in such a body already stays, and so does one without a location.
    pub fn inline(&mut self, span: Span, call: CallId) -> Span {
        if self.loc(span).is_none() || self.call(span).is_some() {
            return span;
        }
        Span(Span::INLINED | self.inlined.intern((span, call)).0)
    }

    /// The span that came with the kernel, of an inlined one.
    pub fn origin(&self, span: Span) -> Span {
        self.inlined(span).map_or(span, |(origin, _)| origin)
    }

    /// The call in whose body a span is.
    pub fn call(&self, span: Span) -> Option<CallId> {
        self.inlined(span).map(|(_, call)| call)
    }

    /// The calls that lead to a span, the innermost first.
    pub fn calls_to(&self, span: Span) -> impl Iterator<Item = CallId> {
        std::iter::successors(self.call(span), |&call| self.call(self.calls[call].at))
    }

    fn inlined(&self, span: Span) -> Option<(Span, CallId)> {
        let index = span.0 & !Span::INLINED;
        if span.0 == index { None } else { self.inlined.get(InlinedId(index)).copied() }
    }
}

#[cfg(test)]
mod tests {
    use super::{Call, Loc, Sources, Span};

    #[test]
    fn inlined_spans_know_their_calls() {
        let loc = |line| Loc { file: 0, line, column: 5 };
        let mut sources =
            Sources { files: vec!["a.rs".into()], locs: vec![loc(1), loc(2), loc(3)], ..Sources::default() };
        let [kernel, outer, inner] = [0, 1, 2].map(Span);
        let f = sources.calls.intern(Call { function: "f".into(), at: kernel });
        let at = sources.inline(outer, f);
        let g = sources.calls.intern(Call { function: "g".into(), at });
        let span = sources.inline(inner, g);
        assert_eq!(sources.inline(inner, g), span, "a span is inlined once");
        assert_eq!(sources.inline(span, f), span, "the innermost call stays");
        assert_eq!(sources.calls_to(span).collect::<Vec<_>>(), [g, f]);
        assert_eq!(sources.calls_to(kernel).count(), 0);
        assert_eq!((sources.origin(span), sources.origin(kernel)), (inner, kernel));
        assert_eq!(sources.describe(span).as_deref(), Some("a.rs:3:5"));
        assert_eq!(sources.inline(Span::NONE, f), Span::NONE);
        assert_eq!((sources.loc(Span::NONE), sources.call(Span::NONE)), (None, None));
    }
}
