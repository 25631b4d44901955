//! The Rust types of buffer elements and kernel arguments.

use half::{bf16, f16};
use std::fmt::Debug;
use triton_ir::types::DType;
use zerocopy::{IntoBytes, TryFromBytes};

mod sealed {
    /// Bounds under which host copies of bytes need no `unsafe`.
    pub trait Sealed:
        zerocopy::TryFromBytes + zerocopy::IntoBytes + zerocopy::Immutable + zerocopy::KnownLayout
    {
    }
}

/// An element type: `bool`, the integers of 8 to 64 bits, `f16`, `bf16`, `f32`, `f64`.
///
/// ```
/// use triton_runtime::Element;
///
/// assert_eq!(i8::from_bits((-1i8).to_bits()), -1);
/// assert_eq!((-1i8).to_bits(), 0xff);
/// assert_eq!(<f32 as Element>::DTYPE.bytes(), 4);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an element type",
    note = "element types are bool, i8..i64, u8..u64, half::f16, half::bf16, f32 and f64"
)]
pub trait Element: sealed::Sealed + Copy + Send + Sync + PartialEq + Debug + 'static {
    /// The same type as the compiler names it.
    const DTYPE: DType;

    /// The value's bits, zero-extended.
    fn to_bits(self) -> u64;

    /// The value of these bits; those above the type's width are ignored, and any non-zero byte is `true`.
    fn from_bits(bits: u64) -> Self;

    /// The bytes of a slice, in the order of memory.
    #[doc(hidden)]
    fn bytes_of(values: &[Self]) -> &[u8] {
        values.as_bytes()
    }

    /// Lets `fill` write the bytes of a slice.
    #[doc(hidden)]
    fn fill<E>(values: &mut [Self], fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<(), E>;

    /// Makes bytes valid that a device may have written.
    #[doc(hidden)]
    fn normalize(bytes: &mut [u8]) {
        let _ = bytes;
    }

    /// Bytes as values; `None` if they are misaligned or invalid.
    #[doc(hidden)]
    fn cast(bytes: &[u8]) -> Option<&[Self]> {
        <[Self]>::try_ref_from_bytes(bytes).ok()
    }

    /// Bytes as values; `None` if they are misaligned or invalid.
    #[doc(hidden)]
    fn cast_mut(bytes: &mut [u8]) -> Option<&mut [Self]> {
        <[Self]>::try_mut_from_bytes(bytes).ok()
    }
}

macro_rules! element {
    ($($ty:ty = $dtype:ident, |$v:ident| $to:expr, |$b:ident| $from:expr;)*) => {$(
        impl sealed::Sealed for $ty {}

        impl Element for $ty {
            const DTYPE: DType = DType::$dtype;

            fn to_bits(self) -> u64 {
                let $v = self;
                $to
            }

            fn from_bits($b: u64) -> $ty {
                $from
            }

            fn fill<E>(values: &mut [$ty], fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<(), E> {
                fill(values.as_mut_bytes())
            }
        }
    )*};
}

element! {
    i8 = I8, |v| u64::from(v as u8), |b| b as i8;
    i16 = I16, |v| u64::from(v as u16), |b| b as i16;
    i32 = I32, |v| u64::from(v as u32), |b| b as i32;
    i64 = I64, |v| v as u64, |b| b as i64;
    u8 = U8, |v| u64::from(v), |b| b as u8;
    u16 = U16, |v| u64::from(v), |b| b as u16;
    u32 = U32, |v| u64::from(v), |b| b as u32;
    u64 = U64, |v| v, |b| b;
    f16 = F16, |v| u64::from(v.to_bits()), |b| f16::from_bits(b as u16);
    bf16 = BF16, |v| u64::from(v.to_bits()), |b| bf16::from_bits(b as u16);
    f32 = F32, |v| u64::from(v.to_bits()), |b| f32::from_bits(b as u32);
    f64 = F64, |v| v.to_bits(), |b| f64::from_bits(b);
}

impl sealed::Sealed for bool {}

impl Element for bool {
    const DTYPE: DType = DType::Bool;

    fn to_bits(self) -> u64 {
        u64::from(self)
    }

    fn from_bits(bits: u64) -> bool {
        bits as u8 != 0
    }

    // A kernel may have written any byte, but a `bool` is 0 or 1: go through a copy.
    fn fill<E>(values: &mut [bool], fill: impl FnOnce(&mut [u8]) -> Result<(), E>) -> Result<(), E> {
        let mut bytes = vec![0u8; values.len()];
        fill(&mut bytes)?;
        for (value, byte) in values.iter_mut().zip(bytes) {
            *value = byte != 0;
        }
        Ok(())
    }

    fn normalize(bytes: &mut [u8]) {
        for byte in bytes {
            *byte = u8::from(*byte != 0);
        }
    }
}
