//! What an operation's fields can be: how each is printed, read, and asked for operands.

use crate::ir::Value;
use crate::ir::types::{Constant, DType, Shape};
use std::fmt::Write;

/// Axis of the grid: 0, 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Axis(pub u8);

/// Words of one instruction, split at commas and spaces by the parser. `-` stands for an absent operand.
pub struct Reader<'a> {
    words: &'a [&'a str],
}

impl<'a> Reader<'a> {
    /// Reads from these words.
    pub fn new(words: &'a [&'a str]) -> Self {
        Reader { words }
    }

    fn next(&mut self) -> Result<&'a str, String> {
        let (first, rest) = self.words.split_first().ok_or("an operand is missing")?;
        self.words = rest;
        Ok(first)
    }

    /// Whether every word was read.
    pub fn is_done(&self) -> bool {
        self.words.is_empty()
    }
}

/// A kind of field.
pub(super) trait Field {
    fn print(&self, out: &mut String);
    fn read(reader: &mut Reader<'_>) -> Result<Self, String>
    where
        Self: Sized;
    fn map_values(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        let _ = f;
    }
}

pub(super) fn print(fields: &[&dyn Field], out: &mut String) {
    for (i, field) in fields.iter().enumerate() {
        out.push_str(if i == 0 { " " } else { ", " });
        field.print(out);
    }
}

impl Field for Value {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        let id = word.strip_prefix('v').and_then(|n| n.parse().ok());
        id.map(Value).ok_or_else(|| format!("`{word}` is no value"))
    }
    fn map_values(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        *self = f(*self);
    }
}

impl Field for Option<Value> {
    fn print(&self, out: &mut String) {
        match self {
            Some(value) => value.print(out),
            None => out.push('-'),
        }
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        if reader.words.first() == Some(&"-") {
            reader.next()?;
            return Ok(None);
        }
        Value::read(reader).map(Some)
    }
    fn map_values(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        if let Some(value) = self {
            *value = f(*value);
        }
    }
}

impl Field for Axis {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{}", self.0);
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        match reader.next()? {
            "0" => Ok(Axis(0)),
            "1" => Ok(Axis(1)),
            "2" => Ok(Axis(2)),
            word => Err(format!("`{word}` is no axis of the grid")),
        }
    }
}

impl Field for i32 {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        word.parse().map_err(|_| format!("`{word}` is no integer"))
    }
}

impl Field for DType {
    fn print(&self, out: &mut String) {
        out.push_str(self.name());
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        DType::from_name(word).ok_or_else(|| format!("`{word}` is no element type"))
    }
}

impl Field for Shape {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        parse_shape(word).ok_or_else(|| format!("`{word}` is no shape"))
    }
}

/// `[4,8]`.
pub(crate) fn parse_shape(word: &str) -> Option<Shape> {
    let inner = word.strip_prefix('[')?.strip_suffix(']')?;
    let dims: Option<Vec<u32>> = inner.split(',').map(|d| d.parse().ok()).collect();
    Shape::new(&dims?)
}

impl Field for Constant {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let dtype = DType::read(reader)?;
        let word = reader.next()?;
        Constant::parse(dtype, word).ok_or_else(|| format!("`{word}` is no {dtype}"))
    }
}
