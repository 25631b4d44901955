//! What an operation's fields can be: how each is printed, read, and asked for operands.

use super::Outer;
use super::kinds::AtomicKind;
use crate::types::{Constant, DType, RingId, Shape, Type, Value};
use std::fmt::Write;

/// Axis of the grid: 0, 1 or 2.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GridAxis(pub u8);

/// With which instructions matrices are multiplied.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DotKind {
    /// Not decided yet: stage 0.
    Any,
    /// As `Any`; the operands, of `f32`, are rounded to tf32, so that tensor cores can take them.
    Tf32,
    /// A multiplication and addition for each product.
    Fma,
    /// `mma.sync`, on tensor cores: of a warp, from registers, 16 rows at a time.
    Mma,
    /// `mma.sync` of 8 rows: of `f64` where the target has nothing larger.
    MmaM8,
    /// `wgmma`, on tensor cores: of four warps, from shared memory; the left operand may be in registers.
    Wgmma,
}

impl DotKind {
    /// Whether operands of this type are rounded to tf32 before they are multiplied.
    pub fn rounds(self, operand: DType) -> bool {
        operand == DType::F32 && (self == DotKind::Tf32 || self.is_of_tensor_cores())
    }

    /// Whether tensor cores multiply.
    pub const fn is_of_tensor_cores(self) -> bool {
        match self {
            DotKind::Mma | DotKind::MmaM8 | DotKind::Wgmma => true,
            DotKind::Any | DotKind::Tf32 | DotKind::Fma => false,
        }
    }
}

/// The scope of a barrier: threads that wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scope {
    /// Those of each warp.
    Warp,
    /// Those of the whole program.
    Block,
}

/// A text of the function's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Text(pub u32);

impl Text {
    /// The pieces of a format string between its placeholders `{}`, braces as they are printed.
    pub fn pieces(text: &str) -> Vec<String> {
        let (mut pieces, mut rest) = (vec![String::new()], text.chars().peekable());
        while let Some(c) = rest.next() {
            let next = rest.next_if(|next| matches!((c, next), ('{', '{' | '}') | ('}', '}')));
            if (c, next) == ('{', Some('}')) {
                pieces.push(String::new());
            } else if let Some(piece) = pieces.last_mut() {
                piece.push(c);
            }
        }
        pieces
    }
}

/// A few values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Values([Value; Values::MOST], u8);

impl Values {
    /// The most values there can be.
    pub const MOST: usize = 8;

    /// These values; `None` for more than [`Values::MOST`].
    pub fn new(values: &[Value]) -> Option<Values> {
        let mut all = [Value(0); Values::MOST];
        all.get_mut(..values.len())?.copy_from_slice(values);
        Some(Values(all, values.len() as u8))
    }

    /// The values.
    pub fn as_slice(&self) -> &[Value] {
        &self.0[..usize::from(self.1)]
    }
}

/// Where the elements of an access are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Location {
    /// At these addresses, where the mask is true.
    Pointers {
        /// The addresses.
        ptr: Value,
        /// The mask; without one, everywhere.
        mask: Option<Value>,
    },
    /// In a view, from an index on, where they are in bounds.
    View {
        /// The parameter with the address of the view's first element: it names the view.
        base: Value,
        /// The first index along each axis.
        at: Values,
        /// The shape of the tile.
        shape: Shape,
    },
}

impl Location {
    /// The pointers to the memory: those of the elements, or the one to the view.
    pub fn pointer(&self) -> Value {
        match *self {
            Location::Pointers { ptr, .. } => ptr,
            Location::View { base, .. } => base,
        }
    }

    /// Whether this holds of any of its values.
    pub fn any(&self, is: impl Fn(Value) -> bool) -> bool {
        let mut any = false;
        self.each_value(&mut |v| any |= is(v));
        any
    }

    /// Whether elements of the same number have the same address.
    pub fn same_elements(&self, other: &Location) -> bool {
        match (self, other) {
            (Location::Pointers { ptr, .. }, Location::Pointers { ptr: other, .. }) => ptr == other,
            (Location::View { .. }, Location::View { .. }) => self == other,
            (Location::Pointers { .. }, Location::View { .. }) | (Location::View { .. }, Location::Pointers { .. }) => {
                false
            }
        }
    }
}

/// Words of one instruction, split at commas and spaces by the parser. `-` stands for an absent operand.
pub struct Reader<'a> {
    words: &'a [&'a str],
}

impl<'a> Reader<'a> {
    /// Reads from these words.
    pub fn new(words: &'a [&'a str]) -> Self {
        Reader { words }
    }

    pub(super) fn next(&mut self) -> Result<&'a str, String> {
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
    fn each_value(&self, f: &mut dyn FnMut(Value)) {
        let _ = f;
    }
    fn map_values(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        let _ = f;
    }
}

pub(super) fn print(fields: &[&dyn Field], out: &mut String) {
    if !fields.is_empty() {
        out.push(' ');
        print_list(fields, out);
    }
}

fn print_list(fields: &[&dyn Field], out: &mut String) {
    for (i, field) in fields.iter().enumerate() {
        out.push_str(if i == 0 { "" } else { ", " });
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
        id.map(Value).ok_or_else(|| format!("`{word}` is not a value"))
    }
    fn each_value(&self, f: &mut dyn FnMut(Value)) {
        f(*self);
    }
    fn map_values(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        *self = f(*self);
    }
}

impl<T: Field> Field for Option<T> {
    fn print(&self, out: &mut String) {
        match self {
            Some(field) => field.print(out),
            None => out.push('-'),
        }
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        if reader.words.first() == Some(&"-") {
            reader.next()?;
            return Ok(None);
        }
        T::read(reader).map(Some)
    }
    fn each_value(&self, f: &mut dyn FnMut(Value)) {
        self.iter().for_each(|field| field.each_value(f));
    }
    fn map_values(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        self.iter_mut().for_each(|field| field.map_values(f));
    }
}

impl Field for GridAxis {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{}", self.0);
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        match reader.next()? {
            "0" => Ok(GridAxis(0)),
            "1" => Ok(GridAxis(1)),
            "2" => Ok(GridAxis(2)),
            word => Err(format!("`{word}` is not an axis of the grid")),
        }
    }
}

impl Field for Outer {
    fn print(&self, out: &mut String) {
        out.push_str(&self.digits(16));
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        Outer::read(word).ok_or_else(|| format!("`{word}` is neither hexadecimal digits nor a placeholder for them"))
    }
}

impl Field for i32 {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        word.parse().map_err(|_| format!("`{word}` is not an integer"))
    }
}

impl Field for u32 {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        word.parse().map_err(|_| format!("`{word}` is not a non-negative number"))
    }
}

impl Field for Scope {
    fn print(&self, out: &mut String) {
        out.push_str(match self {
            Scope::Warp => "warp",
            Scope::Block => "block",
        });
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        match reader.next()? {
            "warp" => Ok(Scope::Warp),
            "block" => Ok(Scope::Block),
            word => Err(format!("`{word}` is not the scope of a barrier: `warp` or `block`")),
        }
    }
}

impl Field for Type {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        Type::parse(reader.next()?)
    }
}

impl Field for DotKind {
    fn print(&self, out: &mut String) {
        out.push_str(match self {
            DotKind::Any => "any",
            DotKind::Tf32 => "tf32",
            DotKind::Fma => "fma",
            DotKind::Mma => "mma",
            DotKind::MmaM8 => "mma.m8",
            DotKind::Wgmma => "wgmma",
        });
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        match reader.next()? {
            "any" => Ok(DotKind::Any),
            "tf32" => Ok(DotKind::Tf32),
            "fma" => Ok(DotKind::Fma),
            "mma" => Ok(DotKind::Mma),
            "mma.m8" => Ok(DotKind::MmaM8),
            "wgmma" => Ok(DotKind::Wgmma),
            word => Err(format!("`{word}` is not a way to multiply")),
        }
    }
}

impl Field for AtomicKind {
    fn print(&self, out: &mut String) {
        out.push_str(self.name());
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        AtomicKind::from_name(word).ok_or_else(|| format!("`{word}` is not an atomic update"))
    }
}

impl Field for Text {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "${}", self.0);
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        let id = word.strip_prefix('$').and_then(|n| n.parse().ok());
        id.map(Text).ok_or_else(|| format!("`{word}` is not a text"))
    }
}

impl Field for RingId {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        let id = word.strip_prefix('r').and_then(|n| n.parse().ok());
        id.map(RingId).ok_or_else(|| format!("`{word}` is not a ring"))
    }
}

impl Field for Values {
    fn print(&self, out: &mut String) {
        let list: Vec<String> = self.as_slice().iter().map(Value::to_string).collect();
        let _ = write!(out, "[{}]", list.join(","));
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        let inner = word.strip_prefix('[').and_then(|w| w.strip_suffix(']'));
        let list =
            inner.map(|list| list.split(',').filter(|v| !v.is_empty()).map(|v| Value::read(&mut Reader::new(&[v]))));
        let values: Vec<Value> =
            list.ok_or_else(|| format!("`{word}` is not a list of values"))?.collect::<Result<_, _>>()?;
        Values::new(&values).ok_or_else(|| format!("`{word}` has more than {} values", Values::MOST))
    }
    fn each_value(&self, f: &mut dyn FnMut(Value)) {
        self.as_slice().iter().for_each(|&value| f(value));
    }
    fn map_values(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        self.0[..usize::from(self.1)].iter_mut().for_each(|value| *value = f(*value));
    }
}

impl Field for Location {
    fn print(&self, out: &mut String) {
        match self {
            Location::Pointers { ptr, mask } => print_list(&[ptr, mask], out),
            Location::View { base, at, shape } => {
                base.print(out);
                print_list(&[at, shape], out);
            }
        }
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let Some((base, at)) = reader.words.first().and_then(|word| Some(word.split_at(word.find('[')?))) else {
            return Ok(Location::Pointers { ptr: Value::read(reader)?, mask: Field::read(reader)? });
        };
        reader.next()?;
        let (base, at) = (Value::read(&mut Reader::new(&[base]))?, Values::read(&mut Reader::new(&[at]))?);
        Ok(Location::View { base, at, shape: Shape::read(reader)? })
    }
    fn each_value(&self, f: &mut dyn FnMut(Value)) {
        match self {
            Location::Pointers { ptr, mask } => {
                ptr.each_value(f);
                mask.each_value(f);
            }
            Location::View { base, at, .. } => {
                base.each_value(f);
                at.each_value(f);
            }
        }
    }
    fn map_values(&mut self, f: &mut dyn FnMut(Value) -> Value) {
        match self {
            Location::Pointers { ptr, mask } => {
                ptr.map_values(f);
                mask.map_values(f);
            }
            Location::View { base, at, .. } => {
                base.map_values(f);
                at.map_values(f);
            }
        }
    }
}

impl Field for DType {
    fn print(&self, out: &mut String) {
        out.push_str(self.name());
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        DType::from_name(word).ok_or_else(|| format!("`{word}` is not an element type"))
    }
}

/// A type of a scalar has no brackets, but as an operand its shape is not nothing.
const SCALAR: &str = "[]";

impl Field for Shape {
    fn print(&self, out: &mut String) {
        match *self {
            Shape::SCALAR => out.push_str(SCALAR),
            shape => _ = write!(out, "{shape}"),
        }
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let word = reader.next()?;
        if word == SCALAR { Some(Shape::SCALAR) } else { Shape::parse(word) }
            .ok_or_else(|| format!("`{word}` is not a shape"))
    }
}

impl Field for Constant {
    fn print(&self, out: &mut String) {
        let _ = write!(out, "{self}");
    }
    fn read(reader: &mut Reader<'_>) -> Result<Self, String> {
        let dtype = DType::read(reader)?;
        let word = reader.next()?;
        Constant::parse(dtype, word).ok_or_else(|| format!("`{word}` is not of {dtype}"))
    }
}
