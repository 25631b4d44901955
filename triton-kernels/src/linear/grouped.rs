//! Products of groups of rows, each with a matrix of its own: the experts of a mixture.

use super::kernels::epilogue::Epilogue;
use super::kernels::finish::{FinishKernelInstance, finish};
use super::kernels::grouped::{GroupedChoice, GroupedPool, grouped_pool, grouped_tuned};
use super::operands::is_transposed;
use crate::activation::Activation;
use crate::element::FloatElement;
use crate::error::Result;
use crate::grid::parts;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Rows `ends[g - 1]` to `ends[g]` of c are those of a times matrix g of b.
///
/// The ends are read on the device: a router need not be waited for. A group may be empty; ends that are not in order or beyond m are moved to the
/// nearest place, and rows behind the last end are left alone.
///
/// A NaN or an infinity in a row of a reaches that row of c alone, and one in a matrix of b that column of its group.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::linear::gemm_grouped;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let a = stream.tensor(&[1.0f32; 4 * 2], [4, 2])?;
/// let b = stream.tensor(&[1.0f32, 2.0, 10.0, 20.0], [2, 2, 1])?;
/// let ends = stream.tensor(&[3, 4], [2])?;
/// let mut c = stream.tensor_uninit::<f32, _>([4, 1])?;
/// gemm_grouped(&a, &b, &ends, &mut c).launch(&stream)?;
/// assert_eq!(stream.download(&c)?, [3.0, 3.0, 3.0, 30.0]);
/// # Ok(())
/// # }
/// ```
///
/// Its gradient: products with transposed operands.
#[operation(GroupedGemm, tuned)]
pub fn gemm_grouped<T: FloatElement>(
    call: Call,
    #[axes(m, k)] a: View<T, 2>,
    #[axes(g, k, n)] b: View<T, 3>,
    #[axes(g)] ends: View<i32, 1>,
    #[axes(m, n)] c: ViewMut<T, 2>,
    /// Multiplies the products. Default 1; with 0, a and b are not read, as in BLAS.
    #[default(1.0)]
    alpha: f64,
    /// Applies a function to each element, as [`Gemm::activation`](super::Gemm::activation) does.
    #[default(Activation::Identity)]
    activation: Activation,
) -> Result<()> {
    let numbers = Epilogue { alpha, ..Epilogue::default() };
    let options = numbers.with::<T>(activation);
    if b.shape()[0] == 0 || c.shape().contains(&0) {
        return Ok(());
    }
    let transposed = is_transposed(b.shape(), b.strides());
    let (a, b) = if alpha == 0.0 { (a.narrow(1, ..0)?, b.narrow(1, ..0)?) } else { (a, b) };
    match transposed {
        true => enqueue::<T, true>(call, a, b, ends, c, options),
        false => enqueue::<T, false>(call, a, b, ends, c, options),
    }
}

fn enqueue<T: Float, const TB: bool>(
    call: Call<'_>,
    a: View<'_, T, 2>,
    b: View<'_, T, 3>,
    ends: View<'_, i32, 1>,
    mut c: ViewMut<'_, T, 2>,
    options: Epilogue,
) -> Result<()>
where
    triton::Compiled: GroupedPool<T, TB> + FinishKernelInstance<T, 16, 128>,
{
    let ([m, n], [groups]) = (c.shape(), ends.shape());
    // Large tiles pay where groups have many rows.
    let large = m / groups.max(1) > 64;
    let large = large && call.runs(grouped_pool::<T, TB>(), |of| of.BM > 64);
    let is_left_out = options.is_left_out(if large { 128 * 128 } else { 64 * 64 });
    let begun = if is_left_out { options.begun() } else { options };
    for of in parts(n, 64) {
        let (b, c) = (b.narrow(2, of.clone())?, c.reborrow().narrow(1, of.clone())?);
        let b = if TB { b.transpose() } else { b };
        let kernel = grouped_tuned::<T, TB>(a, b, c, ends, begun);
        let tiles = |tile: &GroupedChoice| (m.div_ceil(tile.BM as usize) + groups, of.len().div_ceil(tile.BN as usize));
        call.tuned(kernel, |of| (of.BM > 64) == large, tiles)?;
    }
    if !is_left_out {
        return Ok(());
    }
    let c = c.split(0, [1, m])?.split(0, [1, 1])?;
    finish(c, None, Some(ends), None, options, call)
}
