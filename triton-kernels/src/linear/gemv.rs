//! The product of a matrix and a vector.

use super::kernels::vector::{MatrixVectorPool, matrix_vector_tuned};
use super::operands::is_transposed;
use crate::error::{Result, extent};
use triton::prelude::*;

mod sealed {
    pub trait Sealed<C> {}
}

/// An element type of a matrix whose product with a vector is stored as `C`: `f32` as `f32`, [`f16`](struct@f16) and [`bf16`] as they are or as `f32`.
#[diagnostic::on_unimplemented(
    message = "there is no product of a matrix and a vector of `{Self}` that is stored as `{C}`",
    note = "f32 → f32; f16 → f16, f32; bf16 → bf16, f32"
)]
pub trait GemvElement<C>: Element + sealed::Sealed<C> {
    #[doc(hidden)]
    fn enqueue_gemv(gemv: Gemv<'_, Self, C>, transposed: bool, stream: &Stream) -> triton::Result<()>;
}

macro_rules! pairs {
    ($($t:ident $c:ident;)*) => {$(
        impl sealed::Sealed<$c> for $t {}

        #[diagnostic::do_not_recommend]
        impl GemvElement<$c> for $t {
            fn enqueue_gemv(gemv: Gemv<'_, $t, $c>, transposed: bool, stream: &Stream) -> triton::Result<()> {
                if transposed { enqueue::<$t, $c, true>(gemv, stream) } else { enqueue::<$t, $c, false>(gemv, stream) }
            }
        }
    )*};
}

pairs! {
    f32 f32;
    bf16 bf16;
    bf16 f32;
    f16 f16;
    f16 f32;
}

fn enqueue<T: Float, C: Float, const TA: bool>(gemv: Gemv<'_, T, C>, stream: &Stream) -> triton::Result<()>
where
    triton::Compiled: MatrixVectorPool<T, C, TA>,
{
    let Gemv { a, x, y, alpha, beta } = gemv;
    let a = if TA { a.transpose() } else { a };
    let [rows] = y.shape();
    matrix_vector_tuned::<T, C, TA>(a, x, y, alpha, beta).launch(stream, |of| rows.div_ceil(of.R as usize))
}

/// Builder of a product of a matrix and a vector, returned by [`gemv`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct Gemv<'a, T, C> {
    a: View<'a, T, 2>,
    x: View<'a, T, 1>,
    y: ViewMut<'a, C, 1>,
    alpha: f64,
    beta: f64,
}

/// y = α · a · x + β · y, of \[m, k\] and \[k\], added in `f32` in one order: each launch has the same result, to the bit.
///
/// A NaN or an infinity in a row of a reaches that element of y alone.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::linear::gemv;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (a, x) = (stream.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?, stream.tensor(&[1.0f32, 0.0, -1.0], [3])?);
/// let mut y = stream.tensor_uninit::<f32, _>([2])?;
/// gemv(&a, &x, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [-2.0, -2.0]);
/// # Ok(())
/// # }
/// ```
///
/// Its gradient: a product and an outer product, by `gemm`.
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), or an error of the device.
pub fn gemv<'a, T: GemvElement<C>, C: Element>(
    a: impl IntoView<'a, T, 2>,
    x: impl IntoView<'a, T, 1>,
    y: impl IntoViewMut<'a, C, 1>,
) -> Gemv<'a, T, C> {
    Gemv { a: a.into_view(), x: x.into_view(), y: y.into_view_mut(), alpha: 1.0, beta: 0.0 }
}

impl<T: GemvElement<C>, C: Element> Gemv<'_, T, C> {
    /// Multiplies the product. Default 1; with 0, a and x are not read, as in BLAS.
    pub fn alpha(self, alpha: impl Into<f64>) -> Self {
        Gemv { alpha: alpha.into(), ..self }
    }

    /// Adds β · y. Default: 0, and y is not read.
    pub fn beta(self, beta: impl Into<f64>) -> Self {
        Gemv { beta: beta.into(), ..self }
    }

    /// Enqueues the product.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), and what the device says.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let ([m, k], fix) = (self.a.shape(), "a is [m, k], x is [k], y is [m]");
        extent("gemv", "x", 0, [self.x.shape()[0], k], fix)?;
        extent("gemv", "y", 0, [self.y.shape()[0], m], fix)?;
        if m == 0 {
            return Ok(());
        }
        let [down, across] = self.a.strides();
        let transposed = is_transposed([1, m, k], [0, down, across]);
        let (a, x) =
            if self.alpha == 0.0 { (self.a.narrow(1, ..0)?, self.x.narrow(0, ..0)?) } else { (self.a, self.x) };
        Ok(T::enqueue_gemv(Gemv { a, x, ..self }, transposed, stream)?)
    }
}
