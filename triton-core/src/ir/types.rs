//! Types of values: an element and a shape. Layouts are not part of a type.

use std::fmt;

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
