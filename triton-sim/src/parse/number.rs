//! Literals and constant expressions (PTX ISA, "Constants").

use super::ast::Number;
use super::cursor::{Cursor, shown};
use super::error;
use super::lexer::{Kind, Token};
use crate::ParseError;
use std::ops::RangeInclusive;

/// How deep parentheses and signs may be nested.
const DEPTH: u32 = 32;

/// Integers are computed without bounds, and then have to be in the range of `.s64` or `.u64`.
const RANGE: RangeInclusive<i128> = i64::MIN as i128..=u64::MAX as i128;

/// What a binary operator computes; nothing where it is not defined.
type Operation = fn(i128, i128) -> Option<i128>;

/// The operators: how they are written, their precedence, what they compute.
const OPERATORS: [(&str, u8, Operation); 10] = [
    ("|", 0, |a, b| Some(a | b)),
    ("^", 1, |a, b| Some(a ^ b)),
    ("&", 2, |a, b| Some(a & b)),
    ("<<", 3, |a, b| if (0..64).contains(&b) { a.checked_mul(1 << b) } else { None }),
    (">>", 3, |a, b| if (0..64).contains(&b) { Some(a >> b) } else { None }),
    ("+", 4, i128::checked_add),
    ("-", 4, i128::checked_sub),
    ("*", 5, i128::checked_mul),
    ("/", 5, i128::checked_div),
    ("%", 5, i128::checked_rem),
];

/// Whether a constant begins here.
pub(super) fn begins(token: Token) -> bool {
    token.kind == Kind::Number || ["-", "~", "(", "WARP_SZ"].contains(&token.text)
}

/// A constant: a floating point literal with its sign, or an integer expression.
pub(super) fn constant(cursor: &mut Cursor) -> Result<Number, ParseError> {
    let negative = cursor.sees("-");
    let first = cursor.token(cursor.at() + usize::from(negative));
    if first.kind != Kind::Number || !is_float(first.text) {
        return expression(cursor, 0, DEPTH).map(|value| Number::Int(value as u64));
    }
    if negative {
        cursor.next();
    }
    cursor.next();
    let number = float(first.text).ok_or_else(|| not_a_float(first))?;
    Ok(match number {
        Number::F32(bits) if negative => Number::F32(bits ^ 1 << 31),
        Number::F64(bits) if negative => Number::F64(bits ^ 1 << 63),
        Number::Int(_) | Number::F32(_) | Number::F64(_) => number,
    })
}

/// An integer expression, as the bits of `.s64` or `.u64`.
pub(super) fn integer_constant(cursor: &mut Cursor) -> Result<u64, ParseError> {
    expression(cursor, 0, DEPTH).map(|value| value as u64)
}

/// One integer literal in a range; `what` says in an error what it would have been.
pub(super) fn integer(cursor: &mut Cursor, what: &str, range: RangeInclusive<u64>) -> Result<u64, ParseError> {
    let token = cursor.take(Kind::Number, what)?;
    let value = whole(token.text).ok_or_else(|| not_a_number(token))?;
    if range.contains(&value) {
        return Ok(value);
    }
    let (least, most) = range.into_inner();
    Err(error(token.pos, &format!("expected {what} from {least} to {most}, found `{}`", shown(token.text))))
}

fn expression(cursor: &mut Cursor, least: u8, depth: u32) -> Result<i128, ParseError> {
    let mut left = term(cursor, depth)?;
    while let Some(&(sign, binds, compute)) =
        OPERATORS.iter().find(|(sign, binds, _)| *binds >= least && is_at(cursor, sign))
    {
        let pos = cursor.peek().pos;
        for _ in sign.chars() {
            cursor.next();
        }
        let right = expression(cursor, binds + 1, depth)?;
        let value = compute(left, right).filter(|value| RANGE.contains(value));
        left = value.ok_or_else(|| error(pos, &format!("`{left} {sign} {right}` has no value of 64 bits")))?;
    }
    Ok(left)
}

/// Whether an operator is next: `<<` is two signs.
fn is_at(cursor: &Cursor, sign: &str) -> bool {
    let token = |i| cursor.token(cursor.at() + i);
    sign.char_indices().all(|(i, _)| token(i).kind == Kind::Sign && sign[i..].starts_with(token(i).text))
        && token(sign.len() - 1).start == token(0).start + sign.len() - 1
}

fn term(cursor: &mut Cursor, depth: u32) -> Result<i128, ParseError> {
    let token = cursor.peek();
    if depth == 0 {
        return Err(error(token.pos, &format!("constants are nested deeper than {DEPTH}")));
    }
    let value = match token.text {
        "-" => {
            cursor.next();
            -term(cursor, depth - 1)?
        }
        "~" => {
            cursor.next();
            !term(cursor, depth - 1)?
        }
        "(" => {
            cursor.next();
            let value = expression(cursor, 0, depth - 1)?;
            cursor.expect(")")?;
            value
        }
        "WARP_SZ" => {
            cursor.next();
            32
        }
        text => {
            cursor.take(Kind::Number, "a number")?;
            if is_float(text) {
                return Err(error(token.pos, &format!("expected an integer, found `{}`", shown(text))));
            }
            whole(text).ok_or_else(|| not_a_number(token))?.into()
        }
    };
    if RANGE.contains(&value) { Ok(value) } else { Err(error(token.pos, "this integer does not fit 64 bits")) }
}

/// Whether a literal is of floating point.
fn is_float(text: &str) -> bool {
    let exact = text.get(..2).is_some_and(|start| ["0f", "0F", "0d", "0D"].contains(&start));
    exact || text.contains('.') || (!text.starts_with("0x") && !text.starts_with("0X") && text.contains(['e', 'E']))
}

/// `0f` and eight hexadecimal digits, `0d` and sixteen of them, or a decimal fraction.
fn float(text: &str) -> Option<Number> {
    let hex = |digits: &str, count| {
        let all = digits.len() == count && digits.bytes().all(|b| b.is_ascii_hexdigit());
        if all { u64::from_str_radix(digits, 16).ok() } else { None }
    };
    if let Some(digits) = text.strip_prefix("0f").or(text.strip_prefix("0F")) {
        return hex(digits, 8).map(|bits| Number::F32(bits as u32));
    }
    if let Some(digits) = text.strip_prefix("0d").or(text.strip_prefix("0D")) {
        return hex(digits, 16).map(Number::F64);
    }
    text.parse::<f64>().ok().filter(|value| value.is_finite()).map(|value| Number::F64(value.to_bits()))
}

/// An integer literal: decimal, `0x…`, `0b…` or `0…` (octal), optionally with the suffix `U`.
fn whole(text: &str) -> Option<u64> {
    let digits = text.strip_suffix('U').unwrap_or(text);
    let (digits, radix) = match digits.as_bytes() {
        [b'0', b'x' | b'X', ..] => (&digits[2..], 16),
        [b'0', b'b' | b'B', ..] => (&digits[2..], 2),
        [b'0', _, ..] => (&digits[1..], 8),
        _ => (digits, 10),
    };
    u64::from_str_radix(digits, radix).ok()
}

fn not_a_number(token: Token) -> ParseError {
    error(token.pos, &format!("`{}` is not a number of at most 64 bits", shown(token.text)))
}

fn not_a_float(token: Token) -> ParseError {
    let forms = "`0f` and 8 or `0d` and 16 hexadecimal digits, or a finite decimal fraction";
    error(token.pos, &format!("expected {forms}, found `{}`", shown(token.text)))
}
