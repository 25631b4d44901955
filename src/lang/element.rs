//! Families of element types: the bounds of a kernel's type parameters.

use crate::{Element, bf16, f16};

/// A number: every element type but `bool`. Its constants are those of generic kernels: `T::ZERO`, `T::MAX`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel(T = [f32, i32])]
/// fn double<T: Num>(x: PtrMut<T>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let v = load(x + i, i < n);
///     store(x + i, v + v, i < n);
/// }
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a number", label = "not a number of the kernel language")]
pub trait Num: Element {
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The smallest finite number.
    const MIN: Self;
    /// The largest finite number.
    const MAX: Self;
}

/// A floating-point number: [`f16`](struct@f16), [`bf16`], `f32` or `f64`.
///
/// Required by literals with a fraction, [`sqrt`](crate::lang::sqrt) and [`fma`](crate::lang::fma).
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel(T = [f32, f16])]
/// fn halve<T: Float>(x: PtrMut<T>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(x + i, load(x + i, i < n) * 0.5, i < n);
/// }
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not a floating-point type", label = "not a floating-point type")]
pub trait Float: Num {
    /// ∞, the identity of a minimum.
    const INFINITY: Self;
    /// −∞, the identity of a maximum.
    const NEG_INFINITY: Self;
    /// Not a number.
    const NAN: Self;
    /// The machine epsilon: the distance from 1 to the next larger number.
    const EPSILON: Self;
}

/// An integer of 8 to 64 bits, with or without a sign.
///
/// Required by `& | ^ ! << >>`, and by offsets that are added to a pointer.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel(T = [u8, i64])]
/// fn is_odd<T: Int>(x: Ptr<T>, out: PtrMut<bool>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(out + i, (load(x + i, i < n) & 1) == 1, i < n);
/// }
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` is not an integer type", label = "not an integer type")]
pub trait Int: Num + Bitwise {}

/// Integers and `bool`.
///
/// ```
/// use triton::lang::Bitwise;
/// use triton::prelude::*;
///
/// #[triton::kernel(T = [bool, u8])]
/// fn invert<T: Bitwise>(x: PtrMut<T>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(x + i, !load(x + i, i < n), i < n);
/// }
/// ```
#[diagnostic::on_unimplemented(message = "`{Self}` has no bits to combine", label = "neither an integer nor `bool`")]
pub trait Bitwise: Element {}

macro_rules! families {
    ($($family:ident: $($t:ty)*;)*) => { $($(#[diagnostic::do_not_recommend] impl $family for $t {})*)* };
}

macro_rules! numbers {
    ($($t:ty: $zero:expr, $one:expr;)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Num for $t {
            const ZERO: $t = $zero;
            const ONE: $t = $one;
            const MIN: $t = <$t>::MIN;
            const MAX: $t = <$t>::MAX;
        }
    )* };
}

numbers! {
    f16: f16::ZERO, f16::ONE;
    bf16: bf16::ZERO, bf16::ONE;
    f32: 0.0, 1.0;
    f64: 0.0, 1.0;
    i8: 0, 1;
    i16: 0, 1;
    i32: 0, 1;
    i64: 0, 1;
    u8: 0, 1;
    u16: 0, 1;
    u32: 0, 1;
    u64: 0, 1;
}

macro_rules! floats {
    ($($t:ty)*) => { $(
        #[diagnostic::do_not_recommend]
        impl Float for $t {
            const INFINITY: $t = <$t>::INFINITY;
            const NEG_INFINITY: $t = <$t>::NEG_INFINITY;
            const NAN: $t = <$t>::NAN;
            const EPSILON: $t = <$t>::EPSILON;
        }
    )* };
}

floats!(f16 bf16 f32 f64);

families! {
    Int: i8 i16 i32 i64 u8 u16 u32 u64;
    Bitwise: bool i8 i16 i32 i64 u8 u16 u32 u64;
}
