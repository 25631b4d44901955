//! Elementwise functions.

use super::{Float, Num, Tile, stub};
use crate::Element;

/// Selects elementwise: `a` where `mask` is `true`, `b` elsewhere.
///
/// The three broadcast to a common shape; `a` and `b` have one element type, and a literal takes the other's.
///
/// # Compile errors
/// `mask` is not of `bool`, `a` and `b` differ in element type, or the shapes do not broadcast.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn relu(x: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let v = load(x + i, i < n);
///     store(x + i, select(v > 0.0, v, 0.0), i < n);
/// }
/// ```
#[inline]
pub fn select<M: Mask, A: Join<B>, B>(mask: M, a: A, b: B) -> M::Chosen<A::Out>
where
    A::Out: Value,
{
    let _ = (mask, a, b);
    stub()
}

/// The smaller of two values, elementwise, exact.
///
/// Of a number and a NaN it is the number; −0 is smaller than +0.
///
/// # Compile errors
/// The operands differ in element type, are `bool`, or their shapes do not broadcast.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn clamp(x: PtrMut<f32>, low: f32, high: f32, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(x + i, maximum(low, minimum(load(x + i, i < n), high)), i < n);
/// }
/// ```
#[inline]
pub fn minimum<A: Join<B>, B>(a: A, b: B) -> A::Out {
    let _ = (a, b);
    stub()
}

/// The larger of two values, elementwise, exact.
///
/// Of a number and a NaN it is the number; +0 is larger than −0.
///
/// # Compile errors
/// The operands differ in element type, are `bool`, or their shapes do not broadcast.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn relu(x: PtrMut<f16>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(x + i, maximum(load(x + i, i < n), 0.0), i < n);
/// }
/// ```
#[inline]
pub fn maximum<A: Join<B>, B>(a: A, b: B) -> A::Out {
    let _ = (a, b);
    stub()
}

/// The upper half of the product of two integers, elementwise, exact.
///
/// The product has twice as many bits as its operands; `a * b` is its lower half. Of signed integers it is rounded down, as
/// a shift to the right is: `mul_hi(-1, 1)` is −1.
///
/// # Compile errors
/// The operands differ in element type, are not integers, or their shapes do not broadcast.
///
/// ```
/// use triton::prelude::*;
///
/// /// A number below `below` from each random one, without a division.
/// #[triton::kernel]
/// fn scale(x: PtrMut<u32>, below: u32, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(x + i, mul_hi(load(x + i, i < n), below), i < n);
/// }
///
/// fn main() -> triton::Result<()> {
///     let stream = Device::cpu().stream()?;
///     let mut x = stream.upload(&[0u32, 0x8000_0000, 0xffff_ffff])?;
///     // SAFETY: the mask keeps every access below 3.
///     unsafe { scale(&mut x, 6, 3).launch(&stream, 1)? };
///     assert_eq!(stream.download(&x)?, [0, 3, 5]);
///     Ok(())
/// }
/// ```
#[inline]
pub fn mul_hi<A: Join<B>, B>(a: A, b: B) -> A::Out {
    let _ = (a, b);
    stub()
}

/// The absolute value, elementwise, exact.
///
/// The smallest signed integer, whose absolute value does not fit, wraps to itself.
///
/// # Compile errors
/// The operand is of an unsigned type or `bool`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn distance(x: Ptr<i32>, y: Ptr<i32>, out: PtrMut<i32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(out + i, abs(load(x + i, i < n) - load(y + i, i < n)), i < n);
/// }
/// ```
#[inline]
pub fn abs<A: Value>(x: A) -> A
where
    A::Elem: Num,
{
    let _ = x;
    stub()
}

/// The square root, elementwise, correctly rounded. NaN for a negative number.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn norm(x: Ptr<f32>, y: Ptr<f32>, out: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let (a, b) = (load(x + i, i < n), load(y + i, i < n));
///     store(out + i, sqrt(a * a + b * b), i < n);
/// }
/// ```
#[inline]
pub fn sqrt<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The reciprocal of the square root, `1 / √x`, elementwise, within 2 ulp (of `f32`, also for subnormal numbers; the
/// half types round that once more; of `f64` for `f64`). ∞ for 0, −∞ for −0, 0 for ∞, NaN for a negative number.
///
/// Faster than `1.0 / sqrt(x)`, which is rounded correctly twice: `f32` takes the GPU's own approximation, so the last bits
/// may differ from those of the CPU device. `f64` has the same bits everywhere.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// /// Each row divided by its root mean square.
/// #[triton::kernel]
/// fn rms_norm(x: PtrMut<f32>, columns: i32) {
///     let i = program_id(0) * columns + arange(0, 1024);
///     let mask = arange(0, 1024) < columns;
///     let v = load(x + i, mask);
///     store(x + i, v * rsqrt(sum(v * v) / columns as f32 + 1e-5), mask);
/// }
/// ```
#[inline]
pub fn rsqrt<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The exponential function eˣ, elementwise, within 2 ulp (of `f32`; the half types round that once more; of `f64`, where it
/// is 1). Infinity on overflow, 0 on underflow. `f64` has the same bits on every device.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn sigmoid(x: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let v = load(x + i, i < n);
///     store(x + i, 1.0 / (1.0 + exp(-v)), i < n);
/// }
/// ```
#[inline]
pub fn exp<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The power 2ˣ, elementwise, within 2 ulp (of `f32`; the half types round that once more; of `f64`, where it is 1). Infinity on
/// overflow, 0 on underflow. `f64` has the same bits on every device.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn decibels_to_power(x: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let v = load(x + i, i < n);
///     store(x + i, exp2(v * 0.33219281), i < n);
/// }
/// ```
#[inline]
pub fn exp2<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The natural logarithm, elementwise, within 1 ulp (of `f32`, also for subnormal numbers; the half types round that
/// once more; of `f64` for `f64`), and the same bits on every device. −∞ for 0, NaN for a negative number.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// /// The negative log-likelihood of each row's target.
/// #[triton::kernel]
/// fn loss(probability: Ptr<f32>, target: Ptr<i32>, out: PtrMut<f32>, classes: i32, rows: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let at = i * classes + load(target + i, i < rows);
///     store(out + i, -log(load_or(probability + at, i < rows, 1.0)), i < rows);
/// }
/// ```
#[inline]
pub fn log<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The logarithm to the base 2, elementwise, within 2 ulp (of `f32`, also for subnormal numbers; the half types round
/// that once more; of `f64`, where it is 1), exact for powers of two, and the same bits on every device. −∞ for 0, NaN
/// for a negative number.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn octaves(frequency: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(frequency + i, log2(load_or(frequency + i, i < n, 440.0) / 440.0), i < n);
/// }
/// ```
#[inline]
pub fn log2<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The sine of an angle in radians, elementwise, within 2 ulp (of `f32`, whatever the angle; the half types round that
/// once more; of `f64`, where it is 1), and the same bits on every device. NaN for infinities; −0 for −0.
///
/// Angles beyond 2¹⁷ take longer: the bits of 2/π that matter are multiplied out (Payne and Hanek, "Radian reduction for
/// trigonometric functions", 1983). Smaller ones have multiples of π/2 subtracted in three parts (Cody and Waite, "Software
/// Manual for the Elementary Functions", 1980). Over every `f32` the error is below 1.56 ulp.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn wave(t: Ptr<f32>, out: PtrMut<f32>, amplitude: f32, frequency: f32, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(out + i, amplitude * sin(load(t + i, i < n) * frequency), i < n);
/// }
/// ```
#[inline]
pub fn sin<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The cosine of an angle in radians, elementwise, within 2 ulp (of `f32`, whatever the angle; the half types round
/// that once more; of `f64`, where it is 1), and the same bits on every device. NaN for infinities.
///
/// It is computed as [`sin`] is. Over every `f32` the error is below 1.56 ulp.
///
/// # Compile errors
/// The operand is not of a floating-point type.
///
/// ```
/// use triton::prelude::*;
///
/// /// Pairs of a vector, each rotated by an angle: a rotary position embedding.
/// #[triton::kernel]
/// fn rotate(x: PtrMut<f32>, angle: Ptr<f32>, half: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let (a, b) = (load(x + i, i < half), load(x + half + i, i < half));
///     let (c, s) = (cos(load(angle + i, i < half)), sin(load(angle + i, i < half)));
///     store(x + i, a * c - b * s, i < half);
///     store(x + half + i, a * s + b * c, i < half);
/// }
/// ```
#[inline]
pub fn cos<A: Value>(x: A) -> A
where
    A::Elem: Float,
{
    let _ = x;
    stub()
}

/// The hyperbolic tangent, elementwise, within 8192 ulp, a relative error of 2⁻¹¹: one instruction of the GPU (PTX ISA,
/// `tanh.approx.f32`), where [`tanh`](super::tanh) takes some twenty.
///
/// It has as many correct digits as an `f16`. `1.0 + tanh_approx(x)` has none for an x below −4: where the result must be
/// right near 0, take `tanh` or [`sigmoid`](super::sigmoid). The CPU device and the simulator compute it exactly, rounded to `f32`.
///
/// # Compile errors
/// The operand is not of `f32`.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn softcap(scores: PtrMut<bf16>, cap: f32, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     let v = load(scores + i, i < n).to::<f32>();
///     store(scores + i, (cap * tanh_approx(v / cap)).to::<bf16>(), i < n);
/// }
/// ```
#[inline]
pub fn tanh_approx<A: Value<Elem = f32>>(x: A) -> A {
    let _ = x;
    stub()
}

/// `a · b + c`, elementwise, rounded once: correctly rounded.
///
/// # Compile errors
/// The operands differ in element type, are not of a floating-point type, or their shapes do not broadcast.
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn axpy(a: f32, x: Ptr<f32>, y: PtrMut<f32>, n: i32) {
///     let i = program_id(0) * 256 + arange(0, 256);
///     store(y + i, fma(a, load(x + i, i < n), load(y + i, i < n)), i < n);
/// }
/// ```
#[inline]
pub fn fma<A: Join<B>, B, C>(a: A, b: B, c: C) -> <A::Out as Join<C>>::Out
where
    A::Out: Join<C>,
{
    let _ = (a, b, c);
    stub()
}

/// A number, `bool`, or a tile of these.
#[doc(hidden)]
#[diagnostic::on_unimplemented(message = "`{Self}` is neither a number nor a tile of numbers")]
pub trait Value {
    /// The type of an element.
    type Elem: Element;
    /// A tile of such elements.
    type Tiled;
}

#[diagnostic::do_not_recommend]
impl<T: Element> Value for T {
    type Elem = T;
    type Tiled = Tile<T>;
}
#[diagnostic::do_not_recommend]
impl<T: Element> Value for Tile<T> {
    type Elem = T;
    type Tiled = Tile<T>;
}

/// What can be the condition of an `if` or `while`.
#[diagnostic::on_unimplemented(
    message = "a condition is one `bool`, not `{Self}`",
    label = "not a single `bool`",
    note = "to choose element by element write `select(condition, a, b)`",
    note = "to ask about all elements at once write `any(condition)` or `all(condition)`"
)]
pub trait Condition {}

#[diagnostic::do_not_recommend]
impl Condition for bool {}

/// `bool`, or a tile of `bool`.
#[doc(hidden)]
#[diagnostic::on_unimplemented(message = "a mask is of `bool`, not `{Self}`", label = "not a mask")]
pub trait Mask {
    /// What choosing by it makes of a value.
    type Chosen<V: Value>;
}

#[diagnostic::do_not_recommend]
impl Mask for bool {
    type Chosen<V: Value> = V;
}
#[diagnostic::do_not_recommend]
impl Mask for Tile<bool> {
    type Chosen<V: Value> = V::Tiled;
}

/// Two values that a function brings to one type. Scalars of every type pass beside a tile, since rustc gives a literal
/// a type before it sees the tile; the attribute checks the rest.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` and `{B}` have different element types",
    label = "`{Self}` with `{B}`",
    note = "there is no implicit conversion between element types: convert one side with `.to::<..>()`"
)]
pub trait Join<B> {
    /// The common type.
    type Out;
}

#[diagnostic::do_not_recommend]
impl<T: Element> Join<T> for T {
    type Out = T;
}
#[diagnostic::do_not_recommend]
impl<T: Element> Join<Tile<T>> for Tile<T> {
    type Out = Tile<T>;
}
#[diagnostic::do_not_recommend]
impl<T: Element, S: Element> Join<S> for Tile<T> {
    type Out = Tile<T>;
}
#[diagnostic::do_not_recommend]
impl<T: Element, S: Element> Join<Tile<T>> for S {
    type Out = Tile<T>;
}
