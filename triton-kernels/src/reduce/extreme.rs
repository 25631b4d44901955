//! Where the greatest or the least element of a row is.

use crate::Result;
use crate::element::FloatElement;
use crate::operation::{Call, Request, operation};
use triton::prelude::*;

/// The longest rows of which a program has several.
const SHORT: usize = 512;

/// Whether b at k comes before a at i: it is greater, or a NaN beside a number, or the same at a lower index.
#[triton::function]
fn wins(a: Tile<f32>, i: Tile<i32>, b: Tile<f32>, k: Tile<i32>) -> Tile<bool> {
    let is_greater = (b > a) | ((b != b) & (a == a));
    is_greater | (((b == a) | ((b != b) & (a != a))) & (k < i))
}

/// The index of the greatest element, times `sign`, of each of R rows.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 2048, num_warps = 8, general = true), (R = 16, N = 128, num_warps = 8),
], targets = ["sm_80"], tune = [R, N])]
fn argmax_kernel<T: Float, const R: i32, const N: i32>(
    x: Tensor<T, 2>,
    #[no_specialize] y: TensorMut<i32, 1>,
    sign: f32,
) {
    let (i, n) = (program_id(0) * R, x.dim(1).to::<i32>());
    let (mut most, mut at) = (full([R, N], f32::NEG_INFINITY), full([R, N], i32::MAX));
    for j in (0..n).step_by(2 * N) {
        let (a, b) = (x.load([i, j], [R, N]).to::<f32>(), x.load([i, j + N], [R, N]).to::<f32>());
        let k = (j + arange(0, N)).expand_dims(0);
        let is = (k < n) & wins(most, at, a * sign, k);
        (most, at) = (select(is, a * sign, most), select(is, k, at));
        let is = (k + N < n) & wins(most, at, b * sign, k + N);
        (most, at) = (select(is, b * sign, most), select(is, k + N, at));
    }
    let (_, at) = reduce_axis((most, at), 1, |(a, i), (b, k)| {
        let is_greater = (b > a) | ((b != b) & (a == a));
        let is = is_greater | (((b == a) | ((b != b) & (a != a))) & (k < i));
        (select(is, b, a), select(is, k, i))
    });
    y.store([i], select(at == i32::MAX, -1, at));
}

/// The index of the greatest element of each row, as `torch.argmax` with `dim=-1`. The lowest of several equal ones; of a row without elements −1.
///
/// A NaN counts as the greatest element, and the first one is it. −0 and +0 are equal. A NaN reaches its row alone. A row is read once.
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::argmax;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 5.0, 5.0, f32::NAN, 7.0, f32::NAN], [2, 3])?;
/// let mut y = stream.tensor_uninit::<i32, _>([2])?;
/// argmax(&x, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1, 0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: 0.
#[operation(Argmax, tuned)]
pub fn argmax<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(..)] y: ViewMut<i32, 1>,
    #[preset(1.0)] sign: f32,
) -> Result<()> {
    let [rows, columns] = x.shape();
    call.value("the number of columns", columns, columns < 1 << 30, "less than 2³⁰", "reduce parts of a row")?;
    if rows == 0 {
        return Ok(());
    }
    let kernel = argmax_kernel_tuned::<T>(x, y, sign);
    call.tuned(kernel, |of| (of.R > 1) == (columns <= SHORT), |of| rows.div_ceil(of.R as usize))
}

/// The index of the least element of each row, as `torch.argmin` with `dim=-1`. The lowest of several equal ones; of a row without elements −1.
///
/// A NaN counts as the least element, and the first one is it. Otherwise it is as [`argmax`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::argmin;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[3.0f32, 1.0, 1.0], [1, 3])?;
/// let mut y = stream.tensor_uninit::<i32, _>([1])?;
/// argmin(&x, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: 0.
pub fn argmin<'a, T: FloatElement, const R: usize, const Q: usize>(
    x: impl IntoView<'a, T, R>,
    y: impl IntoViewMut<'a, i32, Q>,
) -> Argmax<'a, T> {
    Argmax { request: Request::new("argmin"), ..argmax(x, y) }.sign(-1.0)
}
