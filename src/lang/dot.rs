//! Matrix products.

use super::{Float, Num, Tile, stub};

/// The matrix product with an accumulator: `acc + a · b`.
///
/// `a` is a tile `[M, K]`, `b` one `[K, N]` of the same element type, and `acc` and the result are `[M, N]`, of the type
/// in which products are accumulated:
///
/// | `a` and `b` | `acc` |
/// |---|---|
/// | [`f16`](struct@crate::f16), [`bf16`](crate::bf16), `f32` | `f32` |
/// | `f64` | `f64` |
/// | `i8` | `i32` |
///
/// A *batch* has an axis more in front, of as many products: `[B, M, K]`, `[B, K, N]` and `[B, M, N]`.
///
/// The order of the additions is not specified, and a product may be added without being rounded first (fused). `f32`
/// is multiplied as `f32`, unless [`a.precision(Tf32)`](Tile::precision) asks for less. Integers wrap. Tensor cores
/// multiply half types if M is at least 16, N 8 and K 16; `i8` from 16, 8 and 32 on; `f64` from 8, 8 and 4 on; `Tf32`
/// from 16, 8 and 8 on; and if every warp has that much to do. Of a batch every group of warps has matrices of its own.
///
/// # Compile errors
/// `a`, `b` or `acc` is not a tile with two or three axes; their extents do not match; `a` and `b` differ in element type, or
/// have an unsupported one; `acc` is of another type than the table says.
///
/// ```
/// use triton::prelude::*;
///
/// /// out = a · b for matrices of 64 times 64.
/// #[triton::kernel(T = [f16, f32])]
/// fn matmul<T: Float>(a: Ptr<T>, b: Ptr<T>, out: PtrMut<f32>) {
///     let i = arange(0, 64).expand_dims(1) * 64;
///     let mut acc = zeros::<f32>([64, 64]);
///     for k in (0..64).step_by(16) {
///         let k = arange(0, 16) + k;
///         let left = load(a + (i + k.expand_dims(0)), true);
///         let right = load(b + (k.expand_dims(1) * 64 + arange(0, 64).expand_dims(0)), true);
///         acc = dot(left, right, acc);
///     }
///     store(out + (i + arange(0, 64).expand_dims(0)), acc, true);
/// }
/// ```
///
/// A batch of sixteen products of small matrices, for each program:
///
/// ```
/// use triton::prelude::*;
///
/// #[triton::kernel]
/// fn products(a: Tensor<f32, 3>, b: Tensor<f32, 3>, out: TensorMut<f32, 3>) {
///     let first = program_id(0) * 16;
///     let (x, y) = (a.load([first, 0, 0], [16, 8, 8]), b.load([first, 0, 0], [16, 8, 8]));
///     out.store([first, 0, 0], dot(x, y, zeros::<f32>([16, 8, 8])));
/// }
///
/// # fn main() -> triton::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let numbers: Vec<f32> = (0..20 * 64).map(|i| (i % 7) as f32).collect();
/// let (a, b) = (stream.tensor(&numbers, [20, 8, 8])?, stream.tensor(&numbers, [20, 8, 8])?);
/// let mut out = stream.tensor_zeros::<f32, _>([20, 8, 8])?;
/// products(&a, &b, &mut out).launch(&stream, 2)?;
/// let row = |s: usize| numbers[19 * 64 + s] * numbers[19 * 64 + 8 * s];
/// assert_eq!(stream.download(&out)?[19 * 64], (0..8).map(row).sum::<f32>());
/// # Ok(())
/// # }
/// ```
#[inline]
pub fn dot<T: Num, A: Num>(a: Tile<T>, b: Tile<T>, acc: Tile<A>) -> Tile<A> {
    let _ = (a, b, acc);
    stub()
}

impl<T: Float> Tile<T> {
    /// On the first operand of a [`dot`](crate::lang::dot) of `f32`: multiplies with less precision, which tensor cores do many
    /// times faster. [`Tf32`](crate::lang::Tf32) rounds both operands to 10 mantissa bits, to
    /// nearest and ties to even; their products are accumulated in `f32`.
    ///
    /// # Compile errors
    /// The tile is not of `f32`, or the call is not the first operand of a `dot`.
    ///
    /// ```
    /// use triton::prelude::*;
    ///
    /// #[triton::kernel]
    /// fn gram(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    ///     let mut acc = zeros::<f32>([64, 64]);
    ///     for k in (0..x.dim(1)).step_by(32) {
    ///         let v = x.load([0, k], [64, 32]);
    ///         acc = dot(v.precision(Tf32), v.transpose(), acc);
    ///     }
    ///     out.store([0, 0], acc);
    /// }
    /// ```
    #[inline]
    pub fn precision(self, precision: impl Precision) -> Tile<T> {
        let _ = precision;
        stub()
    }
}

/// Numbers with the exponent range of `f32` and 10 mantissa bits, rounded to nearest, ties to even: a precision
/// for [`Tile::precision`], which has an example.
#[derive(Clone, Copy, Debug)]
pub struct Tf32;

/// How a `dot` of `f32` multiplies.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a precision",
    label = "not a precision",
    note = "write `Tf32`; without a precision products are of `f32`"
)]
pub trait Precision {}

#[diagnostic::do_not_recommend]
impl Precision for Tf32 {}
