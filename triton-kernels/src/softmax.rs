//! Softmax along rows, its logarithm, and their gradients.

use crate::Result;
use crate::element::FloatElement;
use crate::functions::{online_softmax, online_softmax_total};
use crate::operation::{Call, Request, operation};
use triton::prelude::*;

/// y = softmax(scale · x + mask) along the last axis. A program has R rows: of at most N columns in registers, or, in a LOOP over tiles
/// of N columns, of any number. Masks and logarithms are of the loop alone.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 1024, LOOP = false, num_warps = 4), (R = 1, N = 4096, LOOP = false, num_warps = 8),
    (R = 1, N = 5120, LOOP = false, num_warps = 8, targets = ["sm_90a"]), (R = 1, N = 8192, LOOP = false, num_warps = 8),
    (R = 1, N = 13312, LOOP = false, num_warps = 8, targets = ["sm_90a"]),
    (R = 1, N = 16384, LOOP = false, num_warps = 8, targets = ["sm_90a"]),
    (R = 1, N = 20480, LOOP = false, num_warps = 8, targets = ["sm_90a"]),
    (R = 1, N = 65536, LOOP = false, num_warps = 4, targets = ["sm_90a"]),
    (R = 1, N = 262144, LOOP = false, num_warps = 8, targets = ["sm_90a"]),
    (R = 1, N = 2048, LOOP = true, num_warps = 8, targets = ["sm_80"], general = true),
], tune = [R, N, LOOP])]
fn softmax_kernel<T: Float, const R: i32, const N: i32, const LOOP: bool>(
    x: Tensor<T, 2>,
    mask: Tensor<T, 2>,
    y: TensorMut<T, 2>,
    scale: f32,
    #[no_specialize] queries: i32,
    log_of: bool,
) {
    let row = program_id(0) * R;
    softmax_rows::<T, R, N, LOOP>(
        |j| x.load_or([row, j], [R, N], T::NEG_INFINITY),
        row,
        x.dim(1).to::<i32>(),
        mask,
        y,
        scale,
        queries,
        log_of,
    );
}

/// The same in the place of x. A row is written once all of it was read, or, in the LOOP, tiles that are not read again.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 1024, LOOP = false, num_warps = 4), (R = 1, N = 4096, LOOP = false, num_warps = 8),
    (R = 1, N = 8192, LOOP = false, num_warps = 8), (R = 1, N = 2048, LOOP = true, num_warps = 8, general = true),
], targets = ["sm_80"], tune = [R, N, LOOP])]
fn softmax_in_place_kernel<T: Float, const R: i32, const N: i32, const LOOP: bool>(
    x: TensorMut<T, 2>,
    mask: Tensor<T, 2>,
    scale: f32,
    #[no_specialize] queries: i32,
    log_of: bool,
) {
    let row = program_id(0) * R;
    softmax_rows::<T, R, N, LOOP>(
        |j| x.load_or([row, j], [R, N], T::NEG_INFINITY),
        row,
        x.dim(1).to::<i32>(),
        mask,
        x,
        scale,
        queries,
        log_of,
    );
}

/// What both do with the tile `x(j)` of R rows from column j on, which is −∞ past the last of n columns.
#[triton::function]
fn softmax_rows<T: Float, const R: i32, const N: i32, const LOOP: bool>(
    x: impl Fn(i32) -> Tile<T>,
    row: i32,
    n: i32,
    mask: Tensor<T, 2>,
    y: TensorMut<T, 2>,
    scale: f32,
    queries: i32,
    log_of: bool,
) {
    if LOOP {
        let (mut most, mut total) = (full([R, N], f32::MIN), zeros::<f32>([R, N]));
        for j in (0..n).step_by(N) {
            let v = masked::<T, R, N>(x(j).to::<f32>(), mask, (row, j), scale, queries, n);
            (most, total) = online_softmax(most, total, v);
        }
        let (most, total) = online_softmax_total(most, total);
        let (most, share) = (most.expand_dims(1), select(total == 0.0, 0.0, 1.0 / total).expand_dims(1));
        let shift = log(total).expand_dims(1);
        for j in (0..n).step_by(N) {
            let v = masked::<T, R, N>(x(j).to::<f32>(), mask, (row, j), scale, queries, n);
            if log_of {
                // The greatest first: a sum with it would be rounded at the size of the numbers.
                y.store([row, j], select(v == f32::NEG_INFINITY, v, v - most - shift).to::<T>());
            } else {
                y.store([row, j], (exp(v - most) * share).to::<T>());
            }
        }
    } else {
        // Elements past the last column must not count.
        let v = x(0).to::<f32>() * scale;
        // A row of −∞ alone has a sum of 0.
        let e = exp(v - maximum(max_axis(v, 1), f32::MIN).expand_dims(1));
        let total = sum_axis(e, 1);
        let share = select(total == 0.0, 0.0, 1.0 / total);
        y.store([row, 0], (e * share.expand_dims(1)).to::<T>());
    }
}

/// scale · x + mask, or −∞ past the last column and where a query does not see it. No query is masked if there are 0.
#[triton::function]
fn masked<T: Float, const R: i32, const N: i32>(
    x: Tile<f32>,
    mask: Tensor<T, 2>,
    at: (i32, i32),
    scale: f32,
    queries: i32,
    columns: i32,
) -> Tile<f32> {
    let (row, j) = at;
    let mask = mask.load([row, j], [R, N]).to::<f32>();
    // What is excluded is so whatever x is.
    let v = select(mask == f32::NEG_INFINITY, mask, fma(x, scale, mask));
    let query = (row + arange(0, R)) % maximum(queries, 1);
    let last = select(queries == 0, columns, query + (columns - queries));
    select((j + arange(0, N)).expand_dims(0) <= last.expand_dims(1), v, f32::NEG_INFINITY)
}

/// dx = scale · y ∘ (dy − Σ y · dy), or of the logarithm, in a LOOP alone, scale · (dy − exp(y) · Σ dy). What was excluded has no term and no
/// gradient, whatever its dy is.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 1024, LOOP = false, num_warps = 4), (R = 1, N = 4096, LOOP = false, num_warps = 8),
    (R = 1, N = 8192, LOOP = false, num_warps = 8), (R = 1, N = 16384, LOOP = false, num_warps = 8, targets = ["sm_90a"]),
    (R = 1, N = 65536, LOOP = false, num_warps = 8, targets = ["sm_90a"]),
    (R = 1, N = 2048, LOOP = true, num_warps = 8, targets = ["sm_80"], general = true),
], tune = [R, N, LOOP])]
fn softmax_backward_kernel<T: Float, const R: i32, const N: i32, const LOOP: bool>(
    y: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    dx: TensorMut<T, 2>,
    scale: f32,
    log_of: bool,
) {
    let row = program_id(0) * R;
    if LOOP {
        let n = y.dim(1).to::<i32>();
        let mut total = zeros::<f32>([R, N]);
        for j in (0..n).step_by(N) {
            let (v, g) = (y.load([row, j], [R, N]).to::<f32>(), dy.load([row, j], [R, N]).to::<f32>());
            if log_of {
                total += select(v == f32::NEG_INFINITY, 0.0, g);
            } else {
                total += select(v == 0.0, 0.0, v * g);
            }
        }
        let total = sum_axis(total, 1).expand_dims(1);
        for j in (0..n).step_by(N) {
            let (v, g) = (y.load([row, j], [R, N]).to::<f32>(), dy.load([row, j], [R, N]).to::<f32>());
            if log_of {
                dx.store([row, j], select(v == f32::NEG_INFINITY, 0.0, (g - exp(v) * total) * scale).to::<T>());
            } else {
                dx.store([row, j], select(v == 0.0, 0.0, v * (g - total) * scale).to::<T>());
            }
        }
    } else {
        let (v, g) = (y.load([row, 0], [R, N]).to::<f32>(), dy.load([row, 0], [R, N]).to::<f32>());
        let total = sum_axis(select(v == 0.0, 0.0, v * g), 1).expand_dims(1);
        dx.store([row, 0], select(v == 0.0, 0.0, v * (g - total) * scale).to::<T>());
    }
}

/// y = softmax(x) along the last axis: yᵢ = exp(xᵢ) / Σⱼ exp(xⱼ), as `torch.softmax`. It is computed in `f32` relative to the greatest element of a
/// row, so that nothing overflows. A row of −∞ alone gives 0.
///
/// The order of additions follows from the shapes: the result is the same each time. A row of up to 8192 columns is read once; on compute
/// capability 9.0 one of up to 262144 columns, by a cluster of blocks. Longer rows, and rows with a mask, are read twice (Milakov and
/// Gimelshein, "Online normalizer calculation for softmax", 2018).
///
/// What a mask or the causal order excludes has no influence, whatever it is. A NaN or +∞ that is seen makes its row NaN; finite numbers give finite
/// ones.
///
/// ```
/// use triton::Device;
/// use triton_kernels::softmax::softmax;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[0.0f32, 0.0, 0.0, 3f32.ln()], [2, 2])?;
/// let mut y = stream.tensor_uninit::<f32, _>([2, 2])?;
/// softmax(&x, &mut y).launch(&stream)?;
/// let y = stream.download(&y)?;
/// assert!((y[0] - 0.5).abs() < 1e-6 && (y[3] - 0.75).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Softmax, tuned)]
pub fn softmax<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] y: ViewMut<T, 2>,
    /// Multiplies x by a positive number first, such as 1 / √d of attention.
    #[default(1.0)]
    #[check(scale > 0.0 && scale.is_finite(), "a positive number", "a negative scale is one of x itself")]
    scale: f32,
    /// Adds a mask of the shape of x, after the scale. −∞ excludes an element. A mask for all rows is a view of one row that is
    /// [repeated](View::broadcast).
    #[axes(.., c)]
    mask: Option<View<T, 2>>,
    /// Rows are the queries of sequences of this many: row i is query i mod `causal`, and the last query sees all columns, each one
    /// before it one column less.
    #[check(causal > 0, "a positive number", "it is the number of rows that belong to a sequence")]
    causal: Option<usize>,
    #[preset(false)] log_of: bool,
) -> Result<()> {
    let [rows, columns] = x.shape();
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let (queries, in_loop) = (queries(causal), log_of || mask.is_some() || causal.is_some());
    let kernel = softmax_kernel_tuned::<T>(x, call.view(mask), y, scale, queries, log_of);
    call.tuned(kernel, |of| of.LOOP || (!in_loop && of.N as usize >= columns), |of| rows.div_ceil(of.R as usize))
}

/// As kernels take it: 0 where no query is masked.
fn queries(causal: Option<usize>) -> i32 {
    causal.map_or(0, |queries| i32::try_from(queries).unwrap_or(i32::MAX))
}

/// y = log(softmax(x)) along the last axis: yᵢ = xᵢ − log Σⱼ exp(xⱼ), as `torch.log_softmax`. Of a row of −∞ alone it is −∞.
///
/// Options and errors are those of [`softmax`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::softmax::log_softmax;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32; 4], [1, 4])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 4])?;
/// log_softmax(&x, &mut y).launch(&stream)?;
/// assert!((stream.download(&y)?[2] + 4f32.ln()).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn log_softmax<'a, T: FloatElement, const R: usize>(
    x: impl IntoView<'a, T, R>,
    y: impl IntoViewMut<'a, T, R>,
) -> Softmax<'a, T> {
    Softmax { request: Request::new("log_softmax"), ..softmax(x, y) }.log_of(true)
}

/// x = softmax(x) along the last axis: as [`softmax`], without memory for a result.
///
/// Options and errors are those of [`softmax`]. A row of up to 8192 columns is read once. A longer one, or one with a mask, is read twice,
/// and written once its sum is known.
///
/// ```
/// use triton::Device;
/// use triton_kernels::softmax::softmax_in_place;
///
/// let stream = Device::cpu().stream()?;
/// let mut scores = stream.tensor(&[0.0f32, 0.0, 5.0, 5.0], [2, 2])?;
/// // The first query does not see the second key.
/// softmax_in_place(&mut scores).causal(2).launch(&stream)?;
/// assert_eq!(stream.download(&scores)?, [1.0, 0.0, 0.5, 0.5]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `softmax_backward`.
#[operation(SoftmaxInPlace, tuned)]
pub fn softmax_in_place<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: ViewMut<T, 2>,
    /// As of [`Softmax::scale`].
    #[default(1.0)]
    #[check(scale > 0.0 && scale.is_finite(), "a positive number", "a negative scale is one of x itself")]
    scale: f32,
    /// As of [`Softmax::mask`].
    #[axes(.., c)]
    mask: Option<View<T, 2>>,
    /// As of [`Softmax::causal`].
    #[check(causal > 0, "a positive number", "it is the number of rows that belong to a sequence")]
    causal: Option<usize>,
    #[preset(false)] log_of: bool,
) -> Result<()> {
    let [rows, columns] = x.shape();
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let (queries, in_loop) = (queries(causal), log_of || mask.is_some() || causal.is_some());
    let kernel = softmax_in_place_kernel_tuned::<T>(x, call.view(mask), scale, queries, log_of);
    call.tuned(kernel, |of| of.LOOP || (!in_loop && of.N as usize >= columns), |of| rows.div_ceil(of.R as usize))
}

/// x = log(softmax(x)) along the last axis: as [`log_softmax`], without memory for a result.
///
/// Options and errors are those of [`softmax`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::softmax::log_softmax_in_place;
///
/// let stream = Device::cpu().stream()?;
/// let mut x = stream.tensor(&[1.0f32; 4], [1, 4])?;
/// log_softmax_in_place(&mut x).launch(&stream)?;
/// assert!((stream.download(&x)?[2] + 4f32.ln()).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `log_softmax_backward`.
pub fn log_softmax_in_place<'a, T: FloatElement, const R: usize>(
    x: impl IntoViewMut<'a, T, R>,
) -> SoftmaxInPlace<'a, T> {
    SoftmaxInPlace { request: Request::new("log_softmax_in_place"), ..softmax_in_place(x) }.log_of(true)
}

/// dx = y ∘ (dy − Σ y · dy) along the last axis: the gradient for x of y = [`softmax`]`(x)`, from the gradient dy for y. A mask needs nothing here,
/// since y is 0 where it excludes.
///
/// Where y is 0 dy is not read: a NaN there has no influence, and dx is 0.
///
/// ```
/// use triton::Device;
/// use triton_kernels::softmax::softmax_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (y, dy) = (stream.tensor(&[0.5f32, 0.5], [1, 2])?, stream.tensor(&[1.0f32, 0.0], [1, 2])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 2])?;
/// softmax_backward(&y, &dy, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [0.25, -0.25]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(SoftmaxBackward, tuned)]
pub fn softmax_backward<T: FloatElement>(
    call: Call,
    #[axes(.., c)] y: View<T, 2>,
    #[axes(.., c)] dy: View<T, 2>,
    #[axes(.., c)] dx: ViewMut<T, 2>,
    /// The scale of the forward operation.
    #[default(1.0)]
    #[check(scale > 0.0 && scale.is_finite(), "a positive number", "a negative scale is one of x itself")]
    scale: f32,
    #[preset(false)] log_of: bool,
) -> Result<()> {
    let [rows, columns] = y.shape();
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = softmax_backward_kernel_tuned::<T>(y, dy, dx, scale, log_of);
    call.tuned(kernel, |of| of.LOOP || (!log_of && of.N as usize >= columns), |of| rows.div_ceil(of.R as usize))
}

/// dx = dy − exp(y) · Σ dy along the last axis: the gradient for x of y = [`log_softmax`]`(x)`.
///
/// Where y is −∞ dy is not read, and dx is 0.
///
/// ```
/// use triton::Device;
/// use triton_kernels::softmax::log_softmax_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (y, dy) = (stream.tensor(&[0.5f32.ln(); 2], [1, 2])?, stream.tensor(&[1.0f32, 0.0], [1, 2])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 2])?;
/// log_softmax_backward(&y, &dy, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [0.5, -0.5]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn log_softmax_backward<'a, T: FloatElement, const R: usize>(
    y: impl IntoView<'a, T, R>,
    dy: impl IntoView<'a, T, R>,
    dx: impl IntoViewMut<'a, T, R>,
) -> SoftmaxBackward<'a, T> {
    SoftmaxBackward { request: Request::new("log_softmax_backward"), ..softmax_backward(y, dy, dx) }.log_of(true)
}
