//! The elementwise operations: one row each, with the element types it accepts and how exact it is.
//!
//! A row without `within` is exact, or correctly rounded: the representable number nearest to the result. `within N` says that
//! the result is at most N ulp (units in the last place) away, of `f32` where elements are of `f32`; the half types are computed
//! in `f32` and rounded once more; `f64` counts its own ulp.
//!
//! What a row computes is in [`super::eval`], how it is spelled in PTX in `ptx::elementwise`; both are exhaustive matches
//! over these enums.

use crate::types::{Class, DType, Elem};

macro_rules! kinds {
    ($(#[$meta:meta])* $enum:ident { $( $(#[doc = $doc:literal])* $name:ident = $word:literal on $($class:ident)|+ $(within $ulps:literal)?; )* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $enum { $( $(#[doc = $doc])* $( #[doc = concat!(" Within ", $ulps, " ulp.")] )? $name, )* }

        impl $enum {
            /// Every member.
            pub const ALL: &'static [$enum] = &[$($enum::$name),*];

            /// The words of the text form.
            pub const NAMES: &'static [&'static str] = &[$($word),*];

            /// How exact each member is; see [`Self::ulps`].
            pub const ULPS: &'static [u32] = &[$(0 $(+ $ulps)?),*];

            /// The word of the text form.
            pub fn name(self) -> &'static str { match self { $($enum::$name => $word),* } }

            /// The member of this name.
            pub fn from_name(name: &str) -> Option<$enum> { match name { $($word => Some($enum::$name),)* _ => None } }

            /// How many ulp the result may be away from the exact one; 0: it is exact, or correctly rounded. Of `f32`, and for
            /// the half types of `f32` before they are rounded once more; of `f64` for itself.
            pub fn ulps(self) -> u32 { match self { $($enum::$name => 0 $(+ $ulps)?),* } }

            /// Whether it is defined on element types of this class.
            pub fn accepts(self, class: Class) -> bool {
                match self { $($enum::$name => matches!(class, $(Class::$class)|+)),* }
            }
        }
    };
}
pub(super) use kinds;

kinds! {
    /// What a user promises of integers or pointers along an axis. Groups are of neighbours along it, aligned to their length. They are
    /// Triton's hints, with a meaning for each element.
    HintKind {
        /// The first one of a group whose elements count up by one, or are equal, is divisible by this power of two; a group has as many
        /// elements. Pointers count in bytes, and their group has as many bytes.
        MultipleOf = "multiple_of" on Signed | Unsigned;
        /// The elements of a group of as many count up by one; pointers by an element.
        MaxContiguous = "max_contiguous" on Signed | Unsigned;
        /// The elements of a group of as many are equal.
        MaxConstancy = "max_constancy" on Signed | Unsigned;
    }
}

kinds! {
    /// Functions of one number.
    UnaryKind {
        /// −x; integers wrap.
        Neg = "neg" on Signed | Float;
        /// Every bit inverted; of a `bool`, the other one.
        Not = "not" on Bool | Signed | Unsigned;
        /// |x|; the smallest signed integer stays.
        Abs = "abs" on Signed | Float;
        /// The square root, IEEE.
        Sqrt = "sqrt" on Float;
        /// 1 / √x; −∞ for −0, NaN below.
        Rsqrt = "rsqrt" on Float within 2;
        /// The largest integer that is not above x, with the sign of x if it is 0.
        Floor = "floor" on Float;
        /// The least integer that is not below x, with the sign of x if it is 0.
        Ceil = "ceil" on Float;
        /// The integer part of x, with the sign of x.
        Trunc = "trunc" on Float;
        /// eˣ.
        Exp = "exp" on Float within 2;
        /// 2ˣ.
        Exp2 = "exp2" on Float within 2;
        /// 2ˣ, where a result below the normal numbers is 0. For `f32`: what `fast_math` makes of `exp2`.
        Exp2Ftz = "exp2.ftz" on Float within 2;
        /// The logarithm to the base e.
        Log = "log" on Float within 1;
        /// The logarithm to the base 2.
        Log2 = "log2" on Float within 2;
        /// The sine; NaN for infinities.
        Sin = "sin" on Float within 2;
        /// The cosine; NaN for infinities.
        Cos = "cos" on Float within 2;
        /// The hyperbolic tangent within 2⁻¹¹ of its value. For `f32`.
        TanhApprox = "tanh_approx" on Float within 8192;
        /// The nearest number with 10 mantissa bits and the exponents of `f32`, ties to even. For `f32`.
        Tf32 = "tf32" on Float;
    }
}

impl HintKind {
    /// What an element adds to what is promised of its group: pointers are multiples in bytes, and all else counts elements.
    pub fn unit(self, elem: Elem) -> u32 {
        match (self, elem) {
            (HintKind::MultipleOf, Elem::Ptr { pointee, .. }) => pointee.bytes(),
            (HintKind::MultipleOf, Elem::Num(_)) | (HintKind::MaxContiguous | HintKind::MaxConstancy, _) => 1,
        }
    }
}

impl UnaryKind {
    /// Whether it is defined on this element type.
    pub fn defined_on(self, dtype: DType) -> bool {
        match self {
            UnaryKind::Tf32 | UnaryKind::Exp2Ftz | UnaryKind::TanhApprox => dtype == DType::F32,
            UnaryKind::Neg
            | UnaryKind::Not
            | UnaryKind::Abs
            | UnaryKind::Sqrt
            | UnaryKind::Rsqrt
            | UnaryKind::Floor
            | UnaryKind::Ceil
            | UnaryKind::Trunc
            | UnaryKind::Exp
            | UnaryKind::Exp2
            | UnaryKind::Log
            | UnaryKind::Log2
            | UnaryKind::Sin
            | UnaryKind::Cos => self.accepts(dtype.class()),
        }
    }
}

kinds! {
    /// Functions of two numbers of one type.
    BinaryKind {
        /// a + b.
        Add = "add" on Signed | Unsigned | Float;
        /// a − b.
        Sub = "sub" on Signed | Unsigned | Float;
        /// a · b.
        Mul = "mul" on Signed | Unsigned | Float;
        /// The upper half of the product a · b, which has twice as many bits.
        MulHi = "mul_hi" on Signed | Unsigned;
        /// a / b: IEEE for floats, towards zero for integers.
        Div = "div" on Signed | Unsigned | Float;
        /// The remainder of the truncating division, with the sign of `a`.
        Rem = "rem" on Signed | Unsigned;
        /// The lesser; the number if one is NaN; −0 is less than +0.
        Min = "min" on Signed | Unsigned | Float;
        /// The greater; the number if one is NaN; +0 is greater than −0.
        Max = "max" on Signed | Unsigned | Float;
        /// Bitwise and.
        And = "and" on Bool | Signed | Unsigned;
        /// Bitwise or.
        Or = "or" on Bool | Signed | Unsigned;
        /// Bitwise exclusive or.
        Xor = "xor" on Bool | Signed | Unsigned;
        /// a · 2ᵇ, bits beyond the width lost; `b` is read as unsigned, and 0 comes out from the width on.
        Shl = "shl" on Signed | Unsigned;
        /// a / 2ᵇ rounded down; `b` is read as unsigned, and from the width on 0 comes out, or the sign.
        Shr = "shr" on Signed | Unsigned;
    }
}

kinds! {
    /// Comparisons.
    CompareKind {
        /// a = b; false with NaN.
        Eq = "eq" on Bool | Signed | Unsigned | Float;
        /// a ≠ b; true with NaN.
        Ne = "ne" on Bool | Signed | Unsigned | Float;
        /// a < b; false with NaN.
        Lt = "lt" on Signed | Unsigned | Float;
        /// a ≤ b; false with NaN.
        Le = "le" on Signed | Unsigned | Float;
        /// a > b; false with NaN.
        Gt = "gt" on Signed | Unsigned | Float;
        /// a ≥ b; false with NaN.
        Ge = "ge" on Signed | Unsigned | Float;
    }
}

kinds! {
    /// Functions of three numbers of one type.
    TernaryKind {
        /// a · b + c, rounded once.
        Fma = "fma" on Float;
    }
}

kinds! {
    /// The new value of an atomic update, from the element in memory and an operand.
    AtomicKind {
        /// Their sum; integers wrap.
        Add = "add" on Signed | Unsigned | Float;
        /// The lesser, of floats too as [`BinaryKind::Min`] says it.
        Min = "min" on Signed | Unsigned | Float;
        /// The greater, likewise.
        Max = "max" on Signed | Unsigned | Float;
        /// Bitwise and.
        And = "and" on Signed | Unsigned;
        /// Bitwise or.
        Or = "or" on Signed | Unsigned;
        /// Bitwise exclusive or.
        Xor = "xor" on Signed | Unsigned;
        /// The value.
        Xchg = "xchg" on Signed | Unsigned | Float;
    }
}

impl AtomicKind {
    /// Whether it is defined on this element type: on floats, and on integers of 32 and 64 bits.
    pub fn defined_on(self, dtype: DType) -> bool {
        self.accepts(dtype.class()) && (dtype.bits() >= 32 || dtype.is_float())
    }

    /// The function of the old element and the value; `None` for the value itself.
    pub fn function(self) -> Option<BinaryKind> {
        match self {
            AtomicKind::Add => Some(BinaryKind::Add),
            AtomicKind::Min => Some(BinaryKind::Min),
            AtomicKind::Max => Some(BinaryKind::Max),
            AtomicKind::And => Some(BinaryKind::And),
            AtomicKind::Or => Some(BinaryKind::Or),
            AtomicKind::Xor => Some(BinaryKind::Xor),
            AtomicKind::Xchg => None,
        }
    }
}

/// Whether an element of this type can be compared and exchanged in one step.
pub fn compares(dtype: DType) -> bool {
    dtype.bits() >= 16
}
