//! Functions that are written in the language itself.

use super::{Float, Join, Num, Value, stub};

/// The value, but no less than `lo` and no more than `hi`, element by element.
///
/// That is `min(max(x, lo), hi)`: a NaN becomes `lo`, and where `lo` is larger than `hi` the result is `hi`. The operands
/// broadcast to a common shape, and a literal takes the others' type. Exact.
///
/// # Errors
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
pub fn clamp<A: Join<B>, B, C>(x: A, lo: B, hi: C) -> <A::Out as Join<C>>::Out
where
    A::Out: Join<C> + Value,
    <A::Out as Value>::Elem: Num,
{
    let _ = (x, lo, hi);
    stub()
}

/// The logistic function 1 / (1 + e⁻ˣ), element by element, computed in `f32` within 4 ulp and rounded once more for the half
/// types. 0 for what is far below 0, 1 for what is far above.
///
/// # Errors
/// The operand is not of `f16`, `bf16` or `f32`.
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
pub fn sigmoid<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}
