//! Products of groups of rows, each with a matrix of its own: the experts of a mixture.

use super::kernels::epilogue::Epilogue;
use super::kernels::finish::{FinishKernelInstance, finish};
use super::kernels::grouped::{GroupedPool, grouped_tuned};
use super::operands::is_transposed;
use crate::Activation;
use crate::error::{Result, extent, size};
use crate::grid::parts;
use triton::prelude::*;

mod sealed {
    pub trait Sealed {}
}

/// An element type of products of groups: `f32`, [`f16`](struct@f16) and [`bf16`].
#[diagnostic::on_unimplemented(
    message = "there is no product of groups of `{Self}`",
    note = "there are those of f32, f16 and bf16"
)]
pub trait GroupedElement: Element + sealed::Sealed {
    #[doc(hidden)]
    fn enqueue_groups(
        product: GroupedGemm<'_, Self>,
        options: Epilogue,
        transposed: bool,
        stream: &Stream,
    ) -> Result<()>;
}

macro_rules! elements {
    ($($t:ident)*) => {$(
        impl sealed::Sealed for $t {}

        #[diagnostic::do_not_recommend]
        impl GroupedElement for $t {
            fn enqueue_groups(
                product: GroupedGemm<'_, $t>,
                options: Epilogue,
                transposed: bool,
                stream: &Stream,
            ) -> Result<()> {
                match transposed {
                    true => enqueue::<$t, true>(product, options, stream),
                    false => enqueue::<$t, false>(product, options, stream),
                }
            }
        }
    )*};
}

elements!(f32 bf16 f16);

fn enqueue<T: Float, const TB: bool>(product: GroupedGemm<'_, T>, options: Epilogue, stream: &Stream) -> Result<()>
where
    triton::Compiled: GroupedPool<T, TB> + FinishKernelInstance<T, 16, 128>,
{
    let GroupedGemm { a, b, mut c, ends, .. } = product;
    let ([m, n], [groups]) = (c.shape(), ends.shape());
    // Large tiles pay where groups have many rows.
    let large = m / groups.max(1) > 64;
    let large = large && T::DTYPE != triton::DType::F32;
    let is_left_out = options.is_left_out(if large { 128 * 128 } else { 64 * 64 });
    let begun = if is_left_out { options.begun() } else { options };
    for of in parts(n, 64) {
        let (b, c) = (b.narrow(2, of.clone())?, c.reborrow().narrow(1, of.clone())?);
        let b = if TB { b.transpose() } else { b };
        grouped_tuned::<T, TB>(a, b, c, ends, begun)
            .find(|of| (of.BM > 64) == large)
            .launch(stream, |tile| (m.div_ceil(tile.BM as usize) + groups, of.len().div_ceil(tile.BN as usize)))?;
    }
    if !is_left_out {
        return Ok(());
    }
    let c = c.split(0, [1, m])?.split(0, [1, 1])?;
    finish(c, None, Some(ends), ViewMut::none(stream.device()), options, stream)
}

/// Builder of a grouped matrix product, returned by [`gemm_grouped`].
#[must_use = "nothing is computed until `.launch(..)`"]
#[derive(Debug)]
pub struct GroupedGemm<'a, T> {
    a: View<'a, T, 2>,
    b: View<'a, T, 3>,
    c: ViewMut<'a, T, 2>,
    ends: View<'a, i32, 1>,
    alpha: f64,
    activation: Activation,
}

/// Rows `ends[g - 1]` to `ends[g]` of c are those of a times matrix g of b: of \[M, K\], \[G, K, N\] and \[M, N\].
///
/// The ends are read on the device: a router need not be waited for. A group may be empty; ends that are not in order or beyond M are moved to the
/// nearest place, and rows behind the last end are left alone.
///
/// A NaN or an infinity in a row of a reaches that row of c alone, and one in a matrix of b that column of its group.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::gemm_grouped;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let a = stream.tensor(&[1.0f32; 4 * 2], [4, 2])?;
/// let b = stream.tensor(&[1.0f32, 2.0, 10.0, 20.0], [2, 2, 1])?;
/// let ends = stream.tensor(&[3, 4], [2])?;
/// let mut c = stream.tensor_uninit::<f32, _>([4, 1])?;
/// gemm_grouped(&a, &b, &mut c, &ends).launch(&stream)?;
/// assert_eq!(stream.download(&c)?, [3.0, 3.0, 3.0, 30.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), [`Error::Unsupported`](crate::Error::Unsupported), or an error of the device.
pub fn gemm_grouped<'a, T: GroupedElement>(
    a: impl IntoView<'a, T, 2>,
    b: impl IntoView<'a, T, 3>,
    c: impl IntoViewMut<'a, T, 2>,
    ends: impl IntoView<'a, i32, 1>,
) -> GroupedGemm<'a, T> {
    GroupedGemm {
        a: a.into_view(),
        b: b.into_view(),
        c: c.into_view_mut(),
        ends: ends.into_view(),
        alpha: 1.0,
        activation: Activation::Identity,
    }
}

impl<T: GroupedElement> GroupedGemm<'_, T> {
    /// Multiplies the products. Default 1; with 0, a and b are not read, as in BLAS.
    pub fn alpha(self, alpha: impl Into<f64>) -> Self {
        GroupedGemm { alpha: alpha.into(), ..self }
    }

    /// Applies a function to each element, as [`Gemm::activation`](super::Gemm::activation) does.
    pub fn activation(self, activation: Activation) -> Self {
        GroupedGemm { activation, ..self }
    }

    /// Enqueues the products, in one launch.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape), [`Error::Unsupported`](crate::Error::Unsupported), and what the device says.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let op = "gemm_grouped";
        let ([m, k], [groups, depth, n]) = (self.a.shape(), self.b.shape());
        let fix = "a is [M, K], b is [G, K, N], c is [M, N], ends is [G]";
        size(op, "b", &self.b.shape())?;
        extent(op, "b", 1, [depth, k], fix)?;
        extent(op, "c", 0, [self.c.shape()[0], m], fix)?;
        extent(op, "c", 1, [self.c.shape()[1], n], fix)?;
        extent(op, "ends", 0, [self.ends.shape()[0], groups], fix)?;
        let numbers = Epilogue { alpha: self.alpha, ..Epilogue::default() };
        let options = numbers.with::<T>(self.activation);
        if m * n * groups == 0 {
            return Ok(());
        }
        let transposed = is_transposed(self.b.shape(), self.b.strides());
        let (a, b) = match self.alpha == 0.0 {
            true => (self.a.narrow(1, ..0)?, self.b.narrow(1, ..0)?),
            false => (self.a, self.b),
        };
        T::enqueue_groups(GroupedGemm { a, b, ..self }, options, transposed, stream)
    }
}
