//! Softmax along rows, its logarithm, and their gradients.

use crate::Result;
use crate::element::{FloatElement, operation};
use crate::error::{same_shape, value};
use crate::functions::{online_softmax, online_softmax_total};
use crate::pool::choose;
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

/// Builder of a softmax along rows, returned by [`softmax`], [`log_softmax`], [`softmax_in_place`] and [`log_softmax_in_place`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct Softmax<'a, T> {
    op: &'static str,
    log_of: bool,
    /// `None` if it is y that is read.
    x: Option<View<'a, T, 2>>,
    mask: Option<View<'a, T, 2>>,
    y: ViewMut<'a, T, 2>,
    scale: f32,
    queries: Option<usize>,
    instance: Option<&'a str>,
}

/// y = softmax(x) along the last axis, both `[rows, columns]`: yᵢ = exp(xᵢ) / Σⱼ exp(xⱼ). It is computed in `f32` relative to the greatest
/// element of a row, so that nothing overflows. A row of −∞ alone gives 0.
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
/// use triton_kernels::rows::softmax;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[0.0f32, 0.0, 0.0, 3f32.ln()], [2, 2])?;
/// let mut y = stream.uninit::<f32>(4)?;
/// softmax(&x, y.view_mut([2, 2])?).launch(&stream)?;
/// let y = stream.download(&y)?;
/// assert!((y[0] - 0.5).abs() < 1e-6 && (y[3] - 0.75).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn softmax<'a, T: FloatElement>(x: impl IntoView<'a, T, 2>, y: impl IntoViewMut<'a, T, 2>) -> Softmax<'a, T> {
    Softmax { x: Some(x.into_view()), op: "softmax", ..softmax_in_place(y.into_view_mut()) }
}

/// y = log(softmax(x)) along the last axis, both `[rows, columns]`: yᵢ = xᵢ − log Σⱼ exp(xⱼ). Of a row of −∞ alone it is −∞.
///
/// Options and errors are those of [`softmax`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::log_softmax;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32; 4], [1, 4])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 4])?;
/// log_softmax(&x, &mut y).launch(&stream)?;
/// assert!((stream.download(&y)?[2] + 4f32.ln()).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn log_softmax<'a, T: FloatElement>(x: impl IntoView<'a, T, 2>, y: impl IntoViewMut<'a, T, 2>) -> Softmax<'a, T> {
    Softmax { op: "log_softmax", log_of: true, ..softmax(x.into_view(), y.into_view_mut()) }
}

/// x = softmax(x) along the last axis of x `[rows, columns]`: as [`softmax`], without memory for a result.
///
/// Options and errors are those of [`softmax`]. A row of up to 8192 columns is read once. A longer one, or one with a mask, is read twice,
/// and written once its sum is known.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::softmax_in_place;
///
/// let stream = Device::cpu().stream()?;
/// let mut scores = stream.tensor(&[0.0f32, 0.0, 5.0, 5.0], [2, 2])?;
/// // The first query does not see the second key.
/// softmax_in_place(&mut scores).causal(2).launch(&stream)?;
/// assert_eq!(stream.download(&scores)?, [1.0, 0.0, 0.5, 0.5]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn softmax_in_place<'a, T: FloatElement>(x: impl IntoViewMut<'a, T, 2>) -> Softmax<'a, T> {
    let (op, log_of) = ("softmax_in_place", false);
    Softmax { op, log_of, x: None, mask: None, y: x.into_view_mut(), scale: 1.0, queries: None, instance: None }
}

/// x = log(softmax(x)) along the last axis of x `[rows, columns]`: as [`log_softmax`], without memory for a result.
///
/// Options and errors are those of [`softmax`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::log_softmax_in_place;
///
/// let stream = Device::cpu().stream()?;
/// let mut x = stream.tensor(&[1.0f32; 4], [1, 4])?;
/// log_softmax_in_place(&mut x).launch(&stream)?;
/// assert!((stream.download(&x)?[2] + 4f32.ln()).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn log_softmax_in_place<'a, T: FloatElement>(x: impl IntoViewMut<'a, T, 2>) -> Softmax<'a, T> {
    Softmax { op: "log_softmax_in_place", log_of: true, ..softmax_in_place(x.into_view_mut()) }
}

impl<'a, T: FloatElement> Softmax<'a, T> {
    /// Multiplies x by a positive number first, such as 1 / √d of attention.
    pub fn scale(self, scale: f32) -> Softmax<'a, T> {
        Softmax { scale, ..self }
    }

    /// Adds a mask of the shape of x, after the scale. −∞ excludes an element. A mask for all rows is a view of one row that is
    /// [repeated](View::broadcast).
    pub fn mask(self, mask: impl IntoView<'a, T, 2>) -> Softmax<'a, T> {
        Softmax { mask: Some(mask.into_view()), ..self }
    }

    /// Rows are the queries of sequences of this many: row i is query i mod `queries`, and the last query sees all columns, each one
    /// before it one column less.
    pub fn causal(self, queries: usize) -> Softmax<'a, T> {
        Softmax { queries: Some(queries), ..self }
    }

    /// Runs the instance of this name, instead of the first that fits.
    pub fn instance(self, name: &'a str) -> Softmax<'a, T> {
        Softmax { instance: Some(name), ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if y or the mask has another shape than x, [`Error::Value`](crate::Error::Value) if the scale is
    /// not positive, or there are 0 queries, [`Error::Instance`](crate::Error::Instance); errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Forward>(self, stream)
    }
}

operation!(Forward: Softmax by forward);

fn forward<T: FloatElement>(of: Softmax<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: SoftmaxKernelPool<T> + SoftmaxInPlaceKernelPool<T>,
{
    let Softmax { op, log_of, x, mask, y, scale, queries, instance } = of;
    let shape = x.map_or(y.shape(), |x| x.shape());
    same_shape(op, "y", y.shape(), shape, "y has the shape of x")?;
    if let Some(mask) = mask {
        same_shape(op, "mask", mask.shape(), shape, "the mask has the shape of x; `View::broadcast` repeats a row")?;
    }
    positive(op, scale)?;
    let fix = "it is the number of rows that belong to a sequence";
    value(op, "queries", queries.unwrap_or(1), queries != Some(0), "a positive number", fix)?;
    let queries = i32::try_from(queries.unwrap_or(0)).unwrap_or(i32::MAX);
    let [rows, columns] = shape;
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let in_loop = log_of || mask.is_some() || queries != 0;
    let mask = mask.unwrap_or_else(|| View::none(stream.device()));
    if let Some(x) = x {
        let tuned = softmax_kernel_tuned::<T>(x, mask, y, scale, queries, log_of);
        let tuned = choose(op, tuned, instance, stream, |of| of.LOOP || (!in_loop && of.N as usize >= columns))?;
        Ok(tuned.launch(stream, |of| rows.div_ceil(of.R as usize))?)
    } else {
        let tuned = softmax_in_place_kernel_tuned::<T>(y, mask, scale, queries, log_of);
        let tuned = choose(op, tuned, instance, stream, |of| of.LOOP || (!in_loop && of.N as usize >= columns))?;
        Ok(tuned.launch(stream, |of| rows.div_ceil(of.R as usize))?)
    }
}

fn positive(op: &'static str, scale: f32) -> Result<()> {
    let fix = "a negative scale is one of x itself";
    value(op, "scale", scale, scale > 0.0 && scale.is_finite(), "a positive number", fix)
}

/// Builder of the gradient of a softmax, returned by [`softmax_backward`] and [`log_softmax_backward`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct SoftmaxBackward<'a, T> {
    op: &'static str,
    y: View<'a, T, 2>,
    dy: View<'a, T, 2>,
    dx: ViewMut<'a, T, 2>,
    scale: f32,
    instance: Option<&'a str>,
}

/// dx = y ∘ (dy − Σ y · dy) along the last axis: the gradient for x of y = [`softmax`]`(x)`, from the gradient dy for y; all
/// `[rows, columns]`. A mask needs nothing here, since y is 0 where it excludes.
///
/// Where y is 0 dy is not read: a NaN there has no influence, and dx is 0.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::softmax_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (y, dy) = (stream.tensor(&[0.5f32, 0.5], [1, 2])?, stream.tensor(&[1.0f32, 0.0], [1, 2])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 2])?;
/// softmax_backward(&y, &dy, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [0.25, -0.25]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn softmax_backward<'a, T: FloatElement>(
    y: impl IntoView<'a, T, 2>,
    dy: impl IntoView<'a, T, 2>,
    dx: impl IntoViewMut<'a, T, 2>,
) -> SoftmaxBackward<'a, T> {
    SoftmaxBackward {
        op: "softmax_backward",
        y: y.into_view(),
        dy: dy.into_view(),
        dx: dx.into_view_mut(),
        scale: 1.0,
        instance: None,
    }
}

/// dx = dy − exp(y) · Σ dy along the last axis: the gradient for x of y = [`log_softmax`]`(x)`; all `[rows, columns]`.
///
/// Where y is −∞ dy is not read, and dx is 0.
pub fn log_softmax_backward<'a, T: FloatElement>(
    y: impl IntoView<'a, T, 2>,
    dy: impl IntoView<'a, T, 2>,
    dx: impl IntoViewMut<'a, T, 2>,
) -> SoftmaxBackward<'a, T> {
    SoftmaxBackward { op: LOG_BACKWARD, ..softmax_backward(y.into_view(), dy.into_view(), dx.into_view_mut()) }
}

const LOG_BACKWARD: &str = "log_softmax_backward";

impl<'a, T: FloatElement> SoftmaxBackward<'a, T> {
    /// The scale of the forward operation.
    pub fn scale(self, scale: f32) -> SoftmaxBackward<'a, T> {
        SoftmaxBackward { scale, ..self }
    }

    /// Runs the instance of this name, instead of the first that fits.
    pub fn instance(self, name: &'a str) -> SoftmaxBackward<'a, T> {
        SoftmaxBackward { instance: Some(name), ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if dy or dx has another shape than y, [`Error::Value`](crate::Error::Value) if the scale is not
    /// positive, [`Error::Instance`](crate::Error::Instance); errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Backward>(self, stream)
    }
}

operation!(Backward: SoftmaxBackward by backward);

fn backward<T: FloatElement>(of: SoftmaxBackward<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: SoftmaxBackwardKernelPool<T>,
{
    let SoftmaxBackward { op, y, dy, dx, scale, instance } = of;
    let [rows, columns] = y.shape();
    same_shape(op, "dy", dy.shape(), y.shape(), "gradients have the shape of y")?;
    same_shape(op, "dx", dx.shape(), y.shape(), "gradients have the shape of y")?;
    positive(op, scale)?;
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let log_of = op == LOG_BACKWARD;
    let tuned = softmax_backward_kernel_tuned::<T>(y, dy, dx, scale, log_of);
    let tuned = choose(op, tuned, instance, stream, |of| of.LOOP || (!log_of && of.N as usize >= columns))?;
    Ok(tuned.launch(stream, |of| rows.div_ceil(of.R as usize))?)
}
