//! A cursor over tokens, with errors that say what was expected.

use super::ast::Pos;
use super::lexer::{Kind, Token, tokens};
use crate::ParseError;

/// A position among the tokens of a text.
pub(super) struct Cursor<'a> {
    tokens: Vec<Token<'a>>,
    at: usize,
    /// The error at the end of the tokens.
    problem: Option<ParseError>,
}

impl<'a> Cursor<'a> {
    /// In front of the first token.
    pub fn new(source: &'a str) -> Cursor<'a> {
        let (tokens, problem) = tokens(source);
        Cursor { tokens, at: 0, problem }
    }

    /// Number of the next token.
    pub fn at(&self) -> usize {
        self.at
    }

    /// The token of this number; the last one for all beyond.
    pub fn token(&self, at: usize) -> Token<'a> {
        self.tokens[at.min(self.tokens.len() - 1)]
    }

    /// The next token.
    pub fn peek(&self) -> Token<'a> {
        self.token(self.at)
    }

    /// Takes the next token.
    pub fn next(&mut self) -> Token<'a> {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Whether the next token is this one.
    pub fn sees(&self, text: &str) -> bool {
        self.peek().text == text
    }

    /// Takes the next token if it is this one.
    pub fn eat(&mut self, text: &str) -> bool {
        let found = self.sees(text);
        if found {
            self.next();
        }
        found
    }

    /// Takes this token.
    pub fn expect(&mut self, text: &str) -> Result<Token<'a>, ParseError> {
        if self.sees(text) { Ok(self.next()) } else { Err(self.unexpected(&format!("`{text}`"))) }
    }

    /// Takes a comma, after which a list continues, or the end of the list: whether it continues.
    pub fn goes_on(&mut self, end: &str) -> Result<bool, ParseError> {
        let further = self.eat(",");
        if further || self.eat(end) { Ok(further) } else { Err(self.unexpected(&format!("`,` or `{end}`"))) }
    }

    /// Takes a token of a kind; `what` says in an error what it would have been.
    pub fn take(&mut self, kind: Kind, what: &str) -> Result<Token<'a>, ParseError> {
        if self.peek().kind == kind { Ok(self.next()) } else { Err(self.unexpected(what)) }
    }

    /// Takes the name of something that is declared: a word other than `_`.
    pub fn name(&mut self, what: &str) -> Result<Token<'a>, ParseError> {
        if self.sees("_") { Err(self.unexpected(what)) } else { self.take(Kind::Word, what) }
    }

    /// The error of an unexpected token.
    pub fn unexpected(&self, expected: &str) -> ParseError {
        let token = self.peek();
        let found = match token.kind {
            Kind::End => match &self.problem {
                Some(problem) => return problem.clone(),
                None => "the end of the text".to_owned(),
            },
            Kind::Text => shown(token.text),
            Kind::Word | Kind::Dotted | Kind::Number | Kind::Sign => format!("`{}`", shown(token.text)),
        };
        super::error(token.pos, &format!("expected {expected}, found {found}"))
    }

    /// Whether the text ends here.
    ///
    /// # Errors
    /// The tokens end here, but the text does not.
    pub fn ends(&self) -> Result<bool, ParseError> {
        let end = self.peek().kind == Kind::End;
        if end { self.problem.clone().map_or(Ok(true), Err) } else { Ok(false) }
    }

    /// What stands between two tokens, white space and comments reduced to a space.
    pub fn text(&self, from: usize, to: usize) -> String {
        let mut text = String::new();
        let mut end = None;
        for token in &self.tokens[from..to] {
            if end.is_some_and(|end| end < token.start) {
                text.push(' ');
            }
            text.push_str(token.text);
            end = Some(token.start + token.text.len());
        }
        text
    }
}

/// A token in a message: no longer than a line.
pub(super) fn shown(text: &str) -> String {
    const MAX: usize = 60;
    match text.char_indices().nth(MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The error of a duplicate declaration in one scope.
pub(super) fn declared_twice(name: &str, pos: Pos) -> ParseError {
    super::error(pos, &format!("`{}` is already declared", shown(name)))
}
