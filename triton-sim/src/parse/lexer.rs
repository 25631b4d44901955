//! Text to tokens, each with its position (PTX ISA, "Syntax").

use super::ast::Pos;
use crate::ParseError;

/// What a token is; its text says the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name or the first word of an operation code: `add`, `%r1`, `$L1`, `_`.
    Word,
    /// A directive or a further word of an operation code, with its dot: `.rn`, `.shared::cta`.
    Dotted,
    /// A literal that begins with a digit; see [`super::number`].
    Number,
    /// A text with its quotes.
    Text,
    /// One character.
    Sign,
    /// After the last token.
    End,
}

/// A piece of the text.
#[derive(Clone, Copy, Debug)]
pub(super) struct Token<'a> {
    /// What it is.
    pub kind: Kind,
    /// As written.
    pub text: &'a str,
    /// Where it begins, in bytes.
    pub start: usize,
    /// Where it begins.
    pub pos: Pos,
}

/// The tokens of a text, the last one being [`Kind::End`]. What cannot be a token ends them early and is returned beside them,
/// so that a mistake in front of it is reported first.
pub(super) fn tokens(source: &str) -> (Vec<Token<'_>>, Option<ParseError>) {
    let mut lexer = Lexer { source, at: 0, pos: Pos { line: 1, column: 1 } };
    let mut tokens = Vec::new();
    let mut problem = None;
    loop {
        match lexer.token() {
            Ok(token) => {
                tokens.push(token);
                if token.kind == Kind::End {
                    return (tokens, problem);
                }
            }
            Err(error) => {
                problem = Some(error);
                lexer.source = &source[..lexer.at];
            }
        }
    }
}

/// Whether a name may have this character inside.
fn in_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '$'
}

struct Lexer<'a> {
    source: &'a str,
    at: usize,
    pos: Pos,
}

impl<'a> Lexer<'a> {
    fn rest(&self) -> &'a str {
        &self.source[self.at..]
    }

    fn error(&self, message: &str) -> ParseError {
        super::error(self.pos, message)
    }

    /// Goes on by this many bytes.
    fn skip(&mut self, bytes: usize) {
        for c in self.rest()[..bytes].chars() {
            if c == '\n' {
                self.pos.line = self.pos.line.saturating_add(1);
                self.pos.column = 1;
            } else {
                self.pos.column = self.pos.column.saturating_add(1);
            }
        }
        self.at += bytes;
    }

    /// White space, comments, and the debug lines that begin with `@@DWARF`.
    fn skip_blank(&mut self) -> Result<(), ParseError> {
        loop {
            let rest = self.rest();
            let blank = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n', '\x0b', '\x0c']).len();
            if blank > 0 {
                self.skip(blank);
            } else if rest.starts_with("//") || rest.starts_with("@@DWARF") {
                self.skip(rest.find('\n').unwrap_or(rest.len()));
            } else if let Some(inside) = rest.strip_prefix("/*") {
                let end = inside.find("*/").ok_or_else(|| self.error("this comment has no end"))?;
                self.skip(end + 4);
            } else {
                return Ok(());
            }
        }
    }

    fn token(&mut self) -> Result<Token<'a>, ParseError> {
        self.skip_blank()?;
        let rest = self.rest();
        let (kind, length) = match rest.chars().next() {
            None => (Kind::End, 0),
            Some('0'..='9') => (Kind::Number, number(rest)),
            Some('.') => (Kind::Dotted, dotted(rest).ok_or_else(|| self.error("expected a word after the dot"))?),
            Some('"') => {
                let line = rest[1..].split('\n').next().unwrap_or_default();
                let end = line.find('"').ok_or_else(|| self.error("this string does not end in its line"))?;
                (Kind::Text, end + 2)
            }
            Some('%') if !rest[1..].starts_with(in_name) => (Kind::Sign, 1),
            Some(c) if in_name(c) || c == '%' => {
                (Kind::Word, 1 + rest[1..].find(|c| !in_name(c)).unwrap_or(rest.len() - 1))
            }
            Some(c) if c.is_ascii_punctuation() => (Kind::Sign, 1),
            Some(c) => return Err(self.error(&format!("unexpected character `{}`", c.escape_debug()))),
        };
        let token = Token { kind, text: &rest[..length], start: self.at, pos: self.pos };
        self.skip(length);
        Ok(token)
    }
}

/// Length of the literal at the start: `0x1F`, `0f3F800000`, `12U`, `1.5e-3`.
fn number(text: &str) -> usize {
    let run = |from: usize| from + text[from..].find(|c| !in_name(c)).unwrap_or(text.len() - from);
    let digits = |from: usize| from + text[from..].find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len() - from);
    let whole = digits(0);
    // `64.entry` is a number and a directive.
    let fraction =
        text[whole..].strip_prefix('.').is_some_and(|t| digits(whole + 1) > whole + 1 || !t.starts_with(in_name));
    let mut end = if fraction { digits(whole + 1) } else { whole };
    let exponent = text[end..].strip_prefix(['e', 'E']).and_then(|t| t.strip_prefix(['+', '-']));
    if exponent.is_some_and(|t| t.starts_with(|c: char| c.is_ascii_digit())) {
        end = digits(end + 2);
    }
    run(end)
}

/// Length of the dotted word at the start: `.rn`, `.mbarrier::complete_tx::bytes`.
fn dotted(text: &str) -> Option<usize> {
    let mut end = 1;
    loop {
        let word = text[end..].find(|c| !in_name(c)).unwrap_or(text.len() - end);
        if word == 0 {
            return None;
        }
        end += word;
        match text[end..].strip_prefix("::") {
            Some(further) if further.starts_with(in_name) => end += 2,
            _ => return Some(end),
        }
    }
}
