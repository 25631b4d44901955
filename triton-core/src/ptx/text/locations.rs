//! Which lines of the source PTX names: `.loc` before instructions.
//!
//! - A `.loc` holds up to the next one. There is a new one where the file, the line or the inlined call is another.
//! - `inlined_at` says where the call is. ptxas takes it for the last `.loc` of that position, of which it has the calls further out: so that
//!   one is written before, unless the last one of that position is in the same call already.

use crate::hash::WordMap;
use crate::span::{CallId, Loc, Sources, Span};

/// A `.loc`.
pub(crate) struct Location {
    pub loc: Loc,
    /// Of a function that is inlined its number in [`Locations::functions`], and where the call is.
    pub inlined: Option<(usize, Loc)>,
}

/// The locations of instructions in the order of the text.
pub(crate) struct Locations<'a> {
    sources: &'a Sources,
    /// The file, the line and the call of the last `.loc`.
    line: Option<(u16, u32, Option<CallId>)>,
    /// The call of the last `.loc` of each position.
    last: WordMap<Loc, Option<CallId>>,
    /// The names of functions that are inlined.
    functions: Vec<&'a str>,
}

impl<'a> Locations<'a> {
    /// Before the first instruction.
    pub fn new(sources: &'a Sources) -> Locations<'a> {
        Locations { sources, line: None, last: WordMap::default(), functions: Vec::new() }
    }

    /// What is written before an instruction, in this order.
    pub fn before(&mut self, span: Span) -> Vec<Location> {
        let Some(loc) = self.sources.loc(span) else { return Vec::new() };
        let line = Some((loc.file, loc.line, self.sources.call(span)));
        if self.line == line {
            return Vec::new();
        }
        self.line = line;
        let calls = self.sources.calls_to(span).map(|call| self.sources.calls[call].at);
        let unknown = calls.take_while(|&at| self.is_another(at));
        let mut spans: Vec<Span> = std::iter::once(span).chain(unknown).collect();
        spans.reverse();
        spans.into_iter().filter_map(|span| self.location(span)).collect()
    }

    /// The names of functions that were inlined, by their numbers.
    pub fn functions(&self) -> &[&'a str] {
        &self.functions
    }

    /// Whether `inlined_at` with the position of a call would not mean this one.
    fn is_another(&self, at: Span) -> bool {
        let last = self.sources.loc(at).and_then(|loc| self.last.get(&loc));
        last != Some(&self.sources.call(at))
    }

    fn location(&mut self, span: Span) -> Option<Location> {
        let (loc, call) = (self.sources.loc(span)?, self.sources.call(span));
        self.last.insert(loc, call);
        let inlined = call.and_then(|call| {
            let call = &self.sources.calls[call];
            Some((self.function(&call.function), self.sources.loc(call.at)?))
        });
        Some(Location { loc, inlined })
    }

    fn function(&mut self, name: &'a str) -> usize {
        let known = self.functions.iter().position(|function| *function == name);
        known.unwrap_or_else(|| {
            self.functions.push(name);
            self.functions.len() - 1
        })
    }
}
