//! Values and their types: an element and a shape. Layouts are not part of a type.

pub(crate) mod half;
mod shape;
mod slice;

use crate::entity::entity;
use std::fmt;

pub use shape::{MAX_ODD, MAX_RANK, MAX_TILE, Shape};
pub use slice::Slice;

entity!(
    /// A value: a parameter or the result of an instruction.
    Value,
    "v"
);
entity!(
    /// A ring of the function's table: buffers that are filled ahead of what reads them.
    RingId,
    "r"
);

/// How many slots a ring may be allowed to have at most.
pub const STAGES: std::ops::RangeInclusive<u32> = 1..=8;

/// What the registers of a thread may be bounded by. An instruction cannot name more than 255; with fewer than 24 the assembler has none
/// left for data.
pub const REGISTERS: std::ops::RangeInclusive<u32> = 24..=255;

/// How many blocks may share the K of a product. Each sends its sums to all others.
pub const CLUSTER_K: [u32; 4] = [1, 2, 4, 8];

/// How far a function has come; see [the IR's page](crate::ir).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Stage {
    /// Stage 0: types only.
    Tile,
    /// Stage 1: every tile has a layout of registers.
    LaidOut,
    /// Stage 2: exchanges between threads and barriers are explicit.
    Synchronized,
}

macro_rules! dtypes {
    ($($variant:ident = $name:literal, $bits:literal, $kind:ident;)*) => {
        /// The type of a number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum DType { $(#[doc = $name] $variant,)* }

        impl DType {
            /// Every element type.
            pub const ALL: &'static [DType] = &[$(DType::$variant),*];

            /// As Rust and the text form spell it.
            pub fn name(self) -> &'static str { match self { $(DType::$variant => $name),* } }

            /// Width in bits; `bool` has 8 in memory.
            pub fn bits(self) -> u32 { match self { $(DType::$variant => $bits),* } }

            /// Signed, unsigned, float or `bool`.
            pub fn class(self) -> Class { match self { $(DType::$variant => Class::$kind),* } }
        }
    };
}

dtypes! {
    Bool = "bool", 8, Bool;
    I8 = "i8", 8, Signed;
    I16 = "i16", 16, Signed;
    I32 = "i32", 32, Signed;
    I64 = "i64", 64, Signed;
    U8 = "u8", 8, Unsigned;
    U16 = "u16", 16, Unsigned;
    U32 = "u32", 32, Unsigned;
    U64 = "u64", 64, Unsigned;
    F16 = "f16", 16, Float;
    BF16 = "bf16", 16, Float;
    F32 = "f32", 32, Float;
    F64 = "f64", 64, Float;
}

/// The family an element type belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Class {
    /// `bool`.
    Bool,
    /// Two's complement.
    Signed,
    /// Unsigned.
    Unsigned,
    /// IEEE-like binary floating point.
    Float,
}

impl DType {
    /// Width in bytes in memory.
    pub fn bytes(self) -> u32 {
        self.bits() / 8
    }

    /// The type of this name.
    pub fn from_name(name: &str) -> Option<DType> {
        DType::ALL.iter().copied().find(|d| d.name() == name)
    }

    /// Whether it is a signed or unsigned integer.
    pub fn is_int(self) -> bool {
        matches!(self.class(), Class::Signed | Class::Unsigned)
    }

    /// Whether it is a float.
    pub fn is_float(self) -> bool {
        self.class() == Class::Float
    }

    /// Whether it is a signed integer.
    pub fn is_signed(self) -> bool {
        self.class() == Class::Signed
    }
}

impl fmt::Display for DType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What one element of a value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Elem {
    /// A number or `bool`.
    Num(DType),
    /// The address of a number.
    Ptr {
        /// What it points to.
        pointee: DType,
        /// Whether it may be stored through.
        mutable: bool,
    },
}

impl Elem {
    /// The number type, if it is one.
    pub fn num(self) -> Option<DType> {
        match self {
            Elem::Num(d) => Some(d),
            Elem::Ptr { .. } => None,
        }
    }

    /// Width in bits in a register or in memory.
    pub fn bits(self) -> u32 {
        match self {
            Elem::Num(d) => d.bits(),
            Elem::Ptr { .. } => 64,
        }
    }
}

impl fmt::Display for Elem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Elem::Num(d) => d.fmt(f),
            Elem::Ptr { pointee, mutable: false } => write!(f, "ptr<{pointee}>"),
            Elem::Ptr { pointee, mutable: true } => write!(f, "ptr<mut {pointee}>"),
        }
    }
}

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Type {
    /// What an element is.
    pub elem: Elem,
    /// How many, in which arrangement.
    pub shape: Shape,
}

impl Type {
    /// One number.
    pub fn scalar(dtype: DType) -> Type {
        Type { elem: Elem::Num(dtype), shape: Shape::SCALAR }
    }

    /// Reads `ptr<mut f32>[4,8]`.
    pub(crate) fn parse(text: &str) -> Result<Type, String> {
        let wrong = || format!("`{text}` is not a type");
        let (elem, shape) = match text.find('[') {
            Some(i) => (&text[..i], Shape::parse(&text[i..]).ok_or_else(wrong)?),
            None => (text, Shape::SCALAR),
        };
        let elem = match elem.strip_prefix("ptr<").and_then(|e| e.strip_suffix('>')) {
            Some(inner) => {
                let pointee = inner.strip_prefix("mut ").unwrap_or(inner);
                Elem::Ptr { pointee: DType::from_name(pointee).ok_or_else(wrong)?, mutable: pointee != inner }
            }
            None => Elem::Num(DType::from_name(elem).ok_or_else(wrong)?),
        };
        Ok(Type { elem, shape })
    }

    /// The same elements in another shape.
    pub fn with_shape(self, shape: Shape) -> Type {
        Type { shape, ..self }
    }

    /// Other elements in the same shape.
    pub fn with_elem(self, elem: Elem) -> Type {
        Type { elem, ..self }
    }

    /// In the user's words: `tile of f32[128]`, `i32`, `pointer to f32`, `tile of pointers to f32, [128]`.
    pub fn describe(&self) -> String {
        match (self.elem, self.shape.rank()) {
            (Elem::Num(d), 0) => format!("{d}"),
            (Elem::Num(d), _) => format!("tile of {d}{}", self.shape),
            (Elem::Ptr { pointee, .. }, 0) => format!("pointer to {pointee}"),
            (Elem::Ptr { pointee, .. }, _) => format!("tile of pointers to {pointee}, {}", self.shape),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.elem, self.shape)
    }
}

/// A compile-time constant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Constant {
    /// Its type.
    pub dtype: DType,
    /// Its bits, zero-extended.
    pub bits: u64,
}

impl Constant {
    /// An integer or `bool`, wrapped to its type. Not for floats.
    pub fn int(dtype: DType, value: i128) -> Constant {
        let mask = if dtype.bits() == 64 { u64::MAX } else { (1 << dtype.bits()) - 1 };
        Constant { dtype, bits: value as u64 & mask }
    }

    /// The value of an integer or `bool`.
    pub fn as_int(self) -> Option<i128> {
        match self.dtype.class() {
            Class::Bool | Class::Unsigned => Some(i128::from(self.bits)),
            Class::Signed => {
                let shift = 64 - self.dtype.bits();
                Some(i128::from(((self.bits << shift) as i64) >> shift))
            }
            Class::Float => None,
        }
    }

    /// The value of a float; exact, as every float type fits `f64`.
    pub fn as_float(self) -> Option<f64> {
        match self.dtype {
            DType::F16 => Some(f64::from(half::f16_to_f32(self.bits as u16))),
            DType::BF16 => Some(f64::from(half::bf16_to_f32(self.bits as u16))),
            DType::F32 => Some(f64::from(f32::from_bits(self.bits as u32))),
            DType::F64 => Some(f64::from_bits(self.bits)),
            DType::Bool
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64 => None,
        }
    }

    /// A number as the text form spells it: `5`, `0.5`, `true`, or bits `0x3f000000`.
    pub fn parse(dtype: DType, word: &str) -> Option<Constant> {
        let bits = word.strip_prefix("0x").and_then(|hex| u64::from_str_radix(hex, 16).ok());
        match (bits, dtype.class(), word) {
            (Some(bits), _, _) => Some(Constant { dtype, bits }),
            (None, Class::Bool, "true") => Some(Constant { dtype, bits: 1 }),
            (None, Class::Bool, "false") => Some(Constant { dtype, bits: 0 }),
            (None, Class::Bool, _) => None,
            (None, Class::Float, _) => Constant::parse_float(dtype, word),
            (None, Class::Signed | Class::Unsigned, _) => word.parse().ok().map(|n| Constant::int(dtype, n)),
        }
    }

    /// Decimal digits rounded once to a float type, or `None` if they are not a number or the type is not a float.
    pub fn parse_float(dtype: DType, digits: &str) -> Option<Constant> {
        let bits = match dtype {
            DType::F16 => f16_bits(digits.parse().ok()?),
            DType::BF16 => bf16_bits(digits.parse().ok()?),
            DType::F32 => u64::from(digits.parse::<f32>().ok()?.to_bits()),
            DType::F64 => digits.parse::<f64>().ok()?.to_bits(),
            DType::Bool
            | DType::I8
            | DType::I16
            | DType::I32
            | DType::I64
            | DType::U8
            | DType::U16
            | DType::U32
            | DType::U64 => return None,
        };
        Some(Constant { dtype, bits })
    }
}

impl fmt::Display for Constant {
    /// `i32 5`, `f32 0.5`, `bool true`; floats that decimal digits cannot name are `f32 0x7f800000`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ", self.dtype)?;
        match (self.dtype.class(), self.as_int(), self.as_float()) {
            (Class::Bool, _, _) => write!(f, "{}", self.bits != 0),
            (_, Some(int), _) => write!(f, "{int}"),
            // The shortest digits that name the number among those of `f32` name it among the fewer of the half types, too.
            (_, _, Some(float)) if float.is_finite() && self.dtype != DType::F64 => write!(f, "{:?}", float as f32),
            (_, _, Some(float)) if float.is_finite() => write!(f, "{float:?}"),
            _ => write!(f, "{:#x}", self.bits),
        }
    }
}

/// The `f16` next to a number.
pub(crate) fn f16_bits(x: f64) -> u64 {
    half::f16_from_f32(to_odd(x)).into()
}

/// The `bf16` next to a number.
pub(crate) fn bf16_bits(x: f64) -> u64 {
    half::bf16_from_f32(to_odd(x)).into()
}

/// An `f64` as `f32`, rounded to odd: what is not exact is truncated, with the last bit set, so that rounding to 11 bits or fewer
/// afterwards rounds the number itself.
fn to_odd(x: f64) -> f32 {
    let near = x as f32;
    if f64::from(near) == x || x.is_nan() {
        return near;
    }
    let beyond = f64::from(near).abs() > x.abs();
    f32::from_bits((near.to_bits() - u32::from(beyond)) | 1)
}
