//! Rounding to integers.

use super::math::Value;
use super::{Float, stub};

/// The largest integer that is not above the number, elementwise, exact, in the number's own type.
///
/// Zeros keep their sign; infinities and NaN are unchanged.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// /// The fraction, from 0 to 1: the phase of a wave.
/// #[triton::kernel]
/// fn phase(x: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let v = load(x + i, i < n);
///     store(x + i, v - floor(v), i < n);
/// }
/// ```
#[inline]
pub fn floor<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The least integer that is not below the number, elementwise, exact, in the number's own type.
///
/// Zeros keep their sign, and numbers between −1 and 0 become −0; infinities and NaN are unchanged.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// /// How many boxes hold that many things.
/// #[triton::kernel]
/// fn boxes(things: Ptr<f32>, out: PtrMut<f32>, in_a_box: f32, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(out + i, ceil(load(things + i, i < n) / in_a_box), i < n);
/// }
/// ```
#[inline]
pub fn ceil<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The integer part of the number, elementwise, exact, in the number's own type: the nearest integer that is not
/// farther from zero.
///
/// The sign is kept, also of zeros; infinities and NaN are unchanged. Beside it, `.to::<i32>()` truncates, too, and
/// changes the type.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// /// The remainder of a division that truncates, with the sign of x.
/// #[triton::kernel]
/// fn remainder(x: PtrMut<f32>, by: f32, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let v = load(x + i, i < n);
///     store(x + i, fma(trunc(v / by), -by, v), i < n);
/// }
/// ```
#[inline]
pub fn trunc<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}
