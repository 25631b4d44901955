//! Functions that are written in the language itself.

use super::{Float, Join, Num, Value, stub};

/// The value, limited to the range from `lo` to `hi`, elementwise.
///
/// That is `minimum(maximum(x, lo), hi)`: a NaN becomes `lo`, and where `lo` is larger than `hi` the result is `hi`. The operands
/// broadcast to a common shape, and a literal takes the others' type. The result is exact.
///
/// # Compile errors
/// The operands differ in element type, are `bool`, or their shapes do not broadcast.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn relu6(x: PtrMut<f16>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(x + i, clamp(load(x + i, i < n), 0.0, 6.0), i < n);
/// }
/// ```
#[inline]
pub fn clamp<A: Join<B>, B, C>(x: A, lo: B, hi: C) -> <A::Out as Join<C>>::Out
where
    A::Out: Join<C> + Value,
    <A::Out as Value>::Elem: Num,
{
    let _ = (x, lo, hi);
    stub()
}

/// The nearest integer, elementwise, ties away from zero, as Rust's `round`: exact, and −0 for numbers between
/// −0.5 and 0.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn quantise(x: Ptr<f32>, out: PtrMut<i8>, scale: f32, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(out + i, round(load(x + i, i < n) / scale).to::<i8>(), i < n);
/// }
/// ```
#[inline]
pub fn round<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The logistic function 1 / (1 + e⁻ˣ), elementwise, within 5 ulp (of `f32`; the half types round that once more; of
/// `f64`, where it is 3). 0 for large negative numbers, 1 for large positive ones.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn silu(x: PtrMut<bf16>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let v = load(x + i, i < n);
///     store(x + i, v * sigmoid(v), i < n);
/// }
/// ```
#[inline]
pub fn sigmoid<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The hyperbolic tangent, elementwise, within 3 ulp (of `f32`; the half types round that once more; of `f64`, where it
/// is 2). −1 and 1 for numbers far from 0.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn softcap(scores: PtrMut<f32>, cap: f32, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(scores + i, cap * tanh(load(scores + i, i < n) / cap), i < n);
/// }
/// ```
#[inline]
pub fn tanh<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The error function 2/√π ∫₀ˣ e^(−t²) dt, elementwise, within 2 ulp (of `f32`; the half types round that once more; of
/// `f64`, where it is 1). −1 and 1 for numbers far from 0.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// /// The Gaussian error linear unit.
/// #[triton::kernel]
/// fn gelu(x: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let v = load(x + i, i < n);
///     store(x + i, 0.5 * v * (1.0 + erf(v * std::f32::consts::FRAC_1_SQRT_2)), i < n);
/// }
/// ```
#[inline]
pub fn erf<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}
