//! The macros of a body: `assert!`, `println!`, and `assert!` in a `const` block.

use super::expr;
use crate::context::{Context, spell};
use crate::read::reject;
use proc_macro2::Ident;
use quote::ToTokens;
use syn::parse::Parser;
use syn::punctuated::Punctuated;
use syn::{Block, Expr, ExprConst, ExprLit, Lit, LitStr, Macro, Stmt, Token};
use triton_core::ast;
use triton_core::diag::{Code, Diagnostic};

/// Which macro of the language a call is of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Known {
    /// `assert!`
    Assert,
    /// `println!`
    Println,
}

impl Known {
    /// `None` for a macro that the language does not have.
    pub(crate) fn of(call: &Macro) -> Option<Known> {
        [("assert", Known::Assert), ("println", Known::Println)]
            .into_iter()
            .find_map(|(name, known)| call.path.is_ident(name).then_some(known))
    }
}

/// The arguments of a macro of the language.
pub(crate) fn arguments(call: &Macro) -> syn::Result<Vec<Expr>> {
    let list = Punctuated::<Expr, Token![,]>::parse_terminated.parse2(call.tokens.clone())?;
    Ok(list.into_iter().collect())
}

/// The `assert!` of `const { assert!(..) }`.
#[allow(clippy::wildcard_enum_match_arm, reason = "syn's enum is not exhaustive")]
pub(crate) fn const_assert(block: &Block) -> Option<&Macro> {
    let [only] = block.stmts.as_slice() else { return None };
    let call = match only {
        Stmt::Macro(stmt) => &stmt.mac,
        Stmt::Expr(Expr::Macro(expr), _) => &expr.mac,
        _ => return None,
    };
    (Known::of(call) == Some(Known::Assert)).then_some(call)
}

/// A macro that stands as a statement.
pub(super) fn convert(cx: &mut Context, call: &Macro) -> Option<ast::Stmt> {
    let Some(known) = Known::of(call) else {
        reject::macro_call(cx, call);
        return None;
    };
    let span = cx.span_of(call);
    let arguments = read(cx, call)?;
    match known {
        Known::Assert => {
            let (cond, message) = assertion(cx, call, &arguments)?;
            Some(ast::Stmt::Assert { cond, message, span })
        }
        Known::Println => {
            let (pieces, args) = printed(cx, call, &arguments)?;
            Some(ast::Stmt::Print { pieces, args, span })
        }
    }
}

/// `const { assert!(..) }` as a statement.
pub(super) fn convert_const(cx: &mut Context, written: &ExprConst) -> Option<ast::Stmt> {
    reject::attributes(cx, &written.attrs);
    let Some(call) = const_assert(&written.block) else {
        reject::expr(cx, &Expr::Const(written.clone()));
        return None;
    };
    let span = cx.span_of(written);
    let arguments = read(cx, call)?;
    let (cond, message) = assertion(cx, call, &arguments)?;
    Some(ast::Stmt::ConstAssert { cond, message, span })
}

fn read(cx: &mut Context, call: &Macro) -> Option<Vec<Expr>> {
    match arguments(call) {
        Ok(arguments) => Some(arguments),
        Err(error) => {
            let span = cx.span(error.span(), error.span());
            let name = spell(&call.path);
            cx.report(Diagnostic::new(Code::T0017, span, format!("cannot read the arguments of `{name}!`: {error}")));
            None
        }
    }
}

/// The condition and the message of an `assert!`.
fn assertion(cx: &mut Context, call: &Macro, arguments: &[Expr]) -> Option<(ast::Expr, String)> {
    let (cond, message) = match arguments {
        [cond] => (cond, None),
        [cond, message] => (cond, Some(message)),
        _ => {
            let message = format!("`assert!` takes a condition and a message, {} arguments given", arguments.len());
            let problem = cx.diagnostic(Code::T0101, call, message);
            cx.report(problem.help("write `assert!(condition, \"what is wrong\")`"));
            return None;
        }
    };
    let text = match message {
        None => Some(cond.to_token_stream().to_string()),
        Some(message) => plain(cx, message),
    };
    let cond = expr::convert(cx, cond);
    Some((cond?, text?))
}

/// A message without placeholders.
fn plain(cx: &mut Context, message: &Expr) -> Option<String> {
    let pieces = match text(message) {
        Some(text) => read_format(cx, text)?.pieces,
        None => Vec::new(),
    };
    if let [text] = pieces.as_slice() {
        return Some(text.clone());
    }
    let problem = cx.diagnostic(Code::T0017, message, "the message of an `assert!` is a string without placeholders");
    cx.report(problem.help("print values before it, with `println!(\"{}\", value)`"));
    None
}

/// The pieces of a `println!` format string, and the values between them.
fn printed(cx: &mut Context, call: &Macro, arguments: &[Expr]) -> Option<(Vec<String>, Vec<ast::Expr>)> {
    let Some((format, values)) = arguments.split_first() else { return Some((vec![String::new()], Vec::new())) };
    let Some(literal) = text(format) else {
        let problem = cx.diagnostic(Code::T0017, format, "`println!` starts with a string literal");
        cx.report(problem.help("write `println!(\"{}\", value)`"));
        return None;
    };
    let format = read_format(cx, literal);
    let args: Vec<_> = values.iter().map(|value| expr::convert(cx, value)).collect();
    let (format, args) = (format?, args.into_iter().collect::<Option<Vec<_>>>()?);
    let (placeholders, given) =
        (format.placeholders.iter().filter(|placeholder| placeholder.is_none()).count(), args.len());
    if placeholders != given {
        let s = |n: usize| if n == 1 { "" } else { "s" };
        let message = format!(
            "the string has {placeholders} placeholder{} `{{}}`, {given} value{} given",
            s(placeholders),
            s(given)
        );
        let problem = cx.diagnostic(Code::T0101, call, message);
        cx.report(problem.help("write a value for each `{}`; `{name}` takes a variable"));
        return None;
    }
    let mut args = args.into_iter();
    let filled: Option<Vec<_>> = format
        .placeholders
        .iter()
        .map(|placeholder| match placeholder {
            Some(name) => expr::convert(cx, &captured(name)),
            None => args.next(),
        })
        .collect();
    Some((format.pieces, filled?))
}

/// The values that a `println!` prints, in the order of their placeholders: for the twin.
pub(crate) fn values(call: &Macro) -> Option<Vec<Expr>> {
    let arguments = arguments(call).ok()?;
    let Some((format, values)) = arguments.split_first() else { return Some(Vec::new()) };
    let format = Format::read(text(format)?).ok()?;
    let mut values = values.iter().cloned();
    let mut filled: Vec<Expr> = Vec::new();
    for placeholder in &format.placeholders {
        match placeholder {
            Some(name) => filled.push(captured(name)),
            None => filled.extend(values.next()),
        }
    }
    filled.extend(values);
    Some(filled)
}

/// The variable of a placeholder `{name}`.
fn captured(name: &Ident) -> Expr {
    syn::parse_quote!(#name)
}

fn text(written: &Expr) -> Option<&LitStr> {
    if let Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) = written { Some(text) } else { None }
}

/// A format string.
struct Format {
    /// The text before, between and after the placeholders; a doubled brace is one of the text.
    pieces: Vec<String>,
    /// The name of each placeholder, `None` for `{}`.
    placeholders: Vec<Option<Ident>>,
}

/// Why a text cannot be printed.
enum FormatError {
    /// A brace that opens or closes no placeholder.
    Brace,
    /// A placeholder with something in it that is not a name.
    Placeholder(String),
    /// A NUL, where a C string ends.
    Nul,
}

impl Format {
    fn read(literal: &LitStr) -> Result<Format, FormatError> {
        let text = literal.value();
        if text.contains('\0') {
            return Err(FormatError::Nul);
        }
        let mut format = Format { pieces: Vec::new(), placeholders: Vec::new() };
        let (mut piece, mut rest) = (String::new(), text.as_str());
        while let Some(at) = rest.find(['{', '}']) {
            let brace = &rest[at..=at];
            piece.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            if let Some(after) = rest.strip_prefix(brace) {
                piece.push_str(brace);
                rest = after;
                continue;
            }
            let (name, after) = rest.split_once('}').filter(|_| brace == "{").ok_or(FormatError::Brace)?;
            let placeholder = match name {
                "" => None,
                name => Some(syn::parse_str::<Ident>(name).map_err(|_| FormatError::Placeholder(name.to_owned()))?),
            };
            format.pieces.push(std::mem::take(&mut piece));
            format.placeholders.push(placeholder.map(|name| Ident::new(&name.to_string(), literal.span())));
            rest = after;
        }
        piece.push_str(rest);
        format.pieces.push(piece);
        Ok(format)
    }
}

fn read_format(cx: &mut Context, literal: &LitStr) -> Option<Format> {
    let (message, help) = match Format::read(literal) {
        Ok(format) => return Some(format),
        Err(FormatError::Brace) => (
            "an unmatched brace in a format string".to_owned(),
            "a placeholder is `{}` or `{name}`; a literal brace is `{{` or `}}`",
        ),
        Err(FormatError::Placeholder(found)) => (
            format!("a placeholder `{{{found}}}` in a format string"),
            "a placeholder is `{}` or `{name}`, without an index or a format",
        ),
        Err(FormatError::Nul) => {
            ("a string with a NUL character".to_owned(), "a GPU prints C strings, which end there: leave it out")
        }
    };
    let problem = cx.diagnostic(Code::T0017, literal, message);
    cx.report(problem.help(help));
    None
}
