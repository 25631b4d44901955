//! What all stages share: the spans of the source, and the errors found so far.
//!
//! The compiler knows spans as numbers. Here every number has the tokens it stands for, so that an error returns to the
//! very operand, and file, line and column, so that line tables and notes can name it.

use proc_macro2::{Delimiter, Group, Ident, Punct, Spacing, Span as TokenSpan, TokenStream, TokenTree};
use quote::{ToTokens, quote};
use std::collections::BTreeMap;
use syn::ext::IdentExt;
use triton_core::ast;
use triton_core::diag::{Code, Diagnostic};
use triton_core::span::{Loc, Sources, Span};

/// How many of the calls that led to an error are named, besides the kernel's own.
const INNERMOST: usize = 3;

/// The state of one expansion.
#[derive(Default)]
pub(crate) struct Context {
    spans: Vec<Tokens>,
    sources: Sources,
    problems: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    /// What the paths of the body that is being read mean.
    pub(crate) names: Names,
    /// What the names of that body hold that can be indexed in Rust, as far as its text tells.
    pub(crate) held: BTreeMap<String, Held>,
    /// Whether that body is of another crate, where rustc cannot point.
    foreign: bool,
    /// Whether that body is the compiler's own, and has no span at all.
    nowhere: bool,
}

/// What a name holds.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Held {
    /// A pointer.
    Pointer,
    /// A view.
    View,
    /// An array of numbers.
    Array,
}

/// The first and the last token of a piece of syntax.
#[derive(Clone, Copy)]
struct Tokens {
    first: TokenSpan,
    last: TokenSpan,
    foreign: bool,
}

/// The resolution of paths that are not a body's own names. Paths are spelled as by [`crate::read::path::key`].
#[derive(Default)]
pub(crate) struct Names {
    /// Functions and constants, by their numbers.
    pub(crate) functions: BTreeMap<String, usize>,
    /// Structs, by their numbers.
    pub(crate) structs: BTreeMap<String, usize>,
    /// Functions of the language under other names.
    pub(crate) built_ins: BTreeMap<String, String>,
    /// External constants, in order.
    pub(crate) outers: Vec<syn::Path>,
}

impl Context {
    /// For reading functions of the language, with these names.
    pub(crate) fn of_library(names: Vec<String>) -> Context {
        let functions = names.into_iter().enumerate().map(|(index, name)| (name, index)).collect();
        Context { names: Names { functions, ..Names::default() }, nowhere: true, ..Context::default() }
    }

    /// Continues with another body.
    pub(crate) fn enter(&mut self, names: Names, foreign: bool) {
        self.names = names;
        self.held.clear();
        self.foreign = foreign;
    }

    /// The span from one token to another.
    pub(crate) fn span(&mut self, first: TokenSpan, last: TokenSpan) -> Span {
        if self.nowhere {
            return Span::NONE;
        }
        let index = u32::try_from(self.spans.len()).unwrap_or(u32::MAX);
        self.spans.push(Tokens { first, last, foreign: self.foreign });
        let loc = self.locate(first);
        self.sources.locs.push(loc);
        Span(index)
    }

    /// The span of a piece of syntax.
    pub(crate) fn span_of(&mut self, node: &impl ToTokens) -> Span {
        let (first, last) = ends(node);
        self.span(first, last)
    }

    /// A name with its span.
    pub(crate) fn ident(&mut self, ident: &Ident) -> ast::Ident {
        ast::Ident { name: ident.unraw().to_string(), span: self.span(ident.span(), ident.span()) }
    }

    /// The first and last token of a span.
    pub(crate) fn tokens(&self, span: Span) -> (TokenSpan, TokenSpan) {
        let call_site = || (TokenSpan::call_site(), TokenSpan::call_site());
        self.spans.get(span.0 as usize).map_or_else(call_site, |tokens| (tokens.first, tokens.last))
    }

    /// What the compiler needs to know of the spans.
    pub(crate) fn sources(&self) -> Sources {
        self.sources.clone()
    }

    fn locate(&mut self, span: TokenSpan) -> Loc {
        let variable = |name: &str| std::env::var(name).unwrap_or_default();
        let file = portable(&span.file(), &variable("CARGO_MANIFEST_DIR"), &variable("CARGO_PKG_NAME"));
        let files = &mut self.sources.files;
        let index = files.iter().position(|f| *f == file).unwrap_or_else(|| {
            files.push(file);
            files.len() - 1
        });
        let narrow = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
        let start = span.start();
        Loc {
            file: u16::try_from(index).unwrap_or(u16::MAX),
            line: narrow(start.line),
            column: narrow(start.column + 1),
        }
    }

    /// Records an error at a piece of syntax.
    pub(crate) fn error(&mut self, code: Code, node: &impl ToTokens, message: impl Into<String>) {
        let diagnostic = self.diagnostic(code, node, message);
        self.report(diagnostic);
    }

    /// An error at a piece of syntax, to be completed by notes and then reported.
    pub(crate) fn diagnostic(&mut self, code: Code, node: &impl ToTokens, message: impl Into<String>) -> Diagnostic {
        let span = self.span_of(node);
        Diagnostic::new(code, span, message)
    }

    /// Records an error. One in a function that the kernel calls says so; where rustc cannot point into the function, it
    /// stands at the call.
    pub(crate) fn report(&mut self, mut diagnostic: Diagnostic) {
        let calls = std::mem::take(&mut diagnostic.calls);
        if let Some((outermost, call)) = calls.first() {
            let here = self.spans.get(diagnostic.span.0 as usize).is_some_and(|tokens| !tokens.foreign);
            let whence =
                |span: Span| self.sources.describe(span).map(|location| format!(" at {location}")).unwrap_or_default();
            let mut notes = Vec::new();
            if here && diagnostic.span != *call {
                let note = |(name, call): &(String, Span)| format!("in `{name}`, called{}", whence(*call));
                let between = calls.len().saturating_sub(INNERMOST + 1);
                notes.extend(calls[1..].iter().rev().take(INNERMOST).map(note));
                if between > 0 {
                    notes.push(format!("and in {between} more functions, each called in the next"));
                }
                notes.extend(calls.first().map(note));
            } else {
                diagnostic.message = format!("in `{outermost}`, called here: {}", diagnostic.message);
                if diagnostic.span != *call {
                    let (innermost, _) = &calls[calls.len() - 1];
                    notes.push(format!("it is in `{innermost}`{}", whence(diagnostic.span)));
                }
                diagnostic.span = *call;
            }
            diagnostic.notes.splice(0..0, notes);
        }
        self.problems.push(diagnostic);
    }

    /// Records a warning.
    pub(crate) fn warn(&mut self, diagnostic: Diagnostic) {
        self.warnings.push(diagnostic);
    }

    /// Whether there are warnings.
    pub(crate) fn warned(&self) -> bool {
        !self.warnings.is_empty()
    }

    /// The warnings as tokens: uses of constants that are deprecated for these reasons. On stable Rust nothing else makes
    /// rustc warn at a span, with our own message, as it is told to by `allow` and `deny`.
    pub(crate) fn warnings(&self) -> TokenStream {
        let warning = |problem: &Diagnostic| {
            let names = [
                (Code::W0001, "uncoalesced_access"),
                (Code::W0003, "unknown_stride"),
                (Code::W0004, "wrapping_index"),
                (Code::W0005, "spilled_registers"),
            ];
            let name = names.iter().find(|(code, _)| *code == problem.code).map_or("needless_mask", |(_, name)| name);
            let (name, text) = (Ident::new(name, self.tokens(problem.span).0), problem.to_string());
            let declared = Ident::new(&name.to_string(), TokenSpan::call_site());
            quote!(const _: () = {
                #[deprecated(note = #text)]
                #[allow(non_upper_case_globals)]
                const #declared: () = ();
                #name
            };)
        };
        self.warnings.iter().map(warning).collect()
    }

    /// Whether there is any error.
    pub(crate) fn failed(&self) -> bool {
        !self.problems.is_empty()
    }

    /// The errors.
    pub(crate) fn into_problems(self) -> Vec<Diagnostic> {
        self.problems
    }

    /// The errors as tokens: one `compile_error!` each, at its span.
    pub(crate) fn errors(&self) -> TokenStream {
        self.problems.iter().map(|problem| self.compile_error(problem)).collect()
    }

    fn compile_error(&self, problem: &Diagnostic) -> TokenStream {
        let (first, last) = self.tokens(problem.span);
        let text = problem.to_string();
        // rustc underlines from the first token of the macro call to its last: the path and the braces.
        let mut call = TokenStream::new();
        for name in ["core", "compile_error"] {
            for spacing in [Spacing::Joint, Spacing::Alone] {
                call.extend([TokenTree::from(spanned(Punct::new(':', spacing), first))]);
            }
            call.extend([TokenTree::from(Ident::new(name, first))]);
        }
        call.extend([TokenTree::from(spanned(Punct::new('!', Spacing::Alone), first))]);
        let mut message = Group::new(Delimiter::Brace, quote!(#text));
        message.set_span(last);
        call.extend([TokenTree::from(message)]);
        call
    }
}

/// A piece of syntax as a person would write it: tokens print with spaces between all of them.
pub(crate) fn spell(node: &impl ToTokens) -> String {
    let spaced: Vec<char> = node.to_token_stream().to_string().chars().collect();
    let word = |c: &char| c.is_alphanumeric() || *c == '_';
    let mut text = String::new();
    for (index, c) in spaced.iter().enumerate() {
        let (before, after) = (spaced[..index].last(), spaced.get(index + 1));
        // A space stays after a comma or semicolon, between words, and before a list.
        let needed = match before {
            Some(',' | ';') => true,
            Some(before) if word(before) => after.is_some_and(|after| word(after) || *after == '['),
            Some(_) | None => false,
        };
        if *c != ' ' || needed {
            text.push(*c);
        }
    }
    text
}

fn spanned(mut punct: Punct, span: TokenSpan) -> Punct {
    punct.set_span(span);
    punct
}

/// The first and last token of a piece of syntax.
fn ends(node: &impl ToTokens) -> (TokenSpan, TokenSpan) {
    let mut tokens = node.to_token_stream().into_iter();
    let Some(first) = tokens.next() else { return (TokenSpan::call_site(), TokenSpan::call_site()) };
    let last = tokens.last().unwrap_or_else(|| first.clone());
    let open = |t: &TokenTree| if let TokenTree::Group(g) = t { g.span_open() } else { t.span() };
    let close = |t: &TokenTree| if let TokenTree::Group(g) = t { g.span_close() } else { t.span() };
    (open(&first), close(&last))
}

/// A file's name as it may appear in a program: without the directories of the machine that built it. A package that is built where a registry
/// unpacked it has its name before its files, as it has in its workspace; of a file of another crate the crate's own folder stays.
fn portable(file: &str, manifest: &str, package: &str) -> String {
    let path = std::path::Path::new(file);
    let source = path.ancestors().find(|folder| folder.file_name().is_some_and(|name| name == "src"));
    let outside =
        source.and_then(|source| source.parent()?.parent()).and_then(|outside| path.strip_prefix(outside).ok());
    let inside = path.strip_prefix(manifest).map(|inside| std::path::Path::new(package).join(inside));
    let short = if path.is_relative() {
        path
    } else if let (false, Ok(inside)) = (manifest.is_empty(), &inside) {
        inside
    } else if let Some(inside) = outside {
        inside
    } else {
        path.file_name().map_or(path, std::path::Path::new)
    };
    short.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::{portable, spell};
    use quote::quote;

    #[test]
    fn file_names_are_portable() {
        for (file, manifest, expected) in [
            ("src/main.rs", "/home/me/app-1.0", "src/main.rs"),
            ("/home/me/app-1.0/src/k.rs", "/home/me/app-1.0", "app/src/k.rs"),
            ("/home/me/other/src/k.rs", "/home/me/app-1.0", "other/src/k.rs"),
            ("/home/me/app/src/k.rs", "", "app/src/k.rs"),
            ("/home/me/k.rs", "/home/me/app-1.0", "k.rs"),
        ] {
            assert_eq!(portable(file, manifest, "app"), expected, "{file} in {manifest}");
        }
    }

    #[test]
    fn syntax_is_spelled_without_spaces() {
        for (tokens, expected) in [
            (quote!(&'a [f32]), "&'a [f32]"),
            (quote!(Ptr<f32, 2>), "Ptr<f32, 2>"),
            (quote!([i32; 2]), "[i32; 2]"),
            (quote!((i32, &mut T)), "(i32, &mut T)"),
            (quote!(<f32 as Default>::default), "<f32 as Default>::default"),
            (quote!(-1), "-1"),
            (quote!(ref m), "ref m"),
        ] {
            assert_eq!(spell(&tokens), expected);
        }
    }
}
