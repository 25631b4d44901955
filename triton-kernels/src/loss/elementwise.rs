//! Losses of each element: those that grow with the square of small differences and with the magnitude of large ones, and the binary cross entropy of
//! logits.

use super::distance::{PARTS, add_parts};
use crate::Result;
use crate::element::FloatElement;
use crate::flat::{Axes, axes, programs};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// log(1 + e) for e from 0 to 1. What 1 + e rounds away is given back: a small e is the result.
#[triton::function]
fn log_of_one_and(e: Tile<f32>) -> Tile<f32> {
    let sum = 1.0 + e;
    select(sum == 1.0, e, log(sum) * (e / (sum - 1.0)))
}

/// loss = `scale` · the sum over all elements, and its gradient if there is an output; tiles as of `distance_kernel`. The loss of a `logit` is the binary
/// cross entropy, with weights of columns for positive targets if it is `weighted`. Else it is square · d² / 2 of a difference d below `bound`,
/// and slope · (|d| − bound / 2) of others.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
fn elementwise_kernel<T: Float>(
    x: Tensor<T, 2>,
    target: Tensor<T, 2>,
    weight: Tensor<T, 2>,
    loss: TensorMut<f32, 1>,
    dx: TensorMut<T, 2>,
    parts: TensorMut<f32, 1>,
    done: TensorMut<i32, 1>,
    scale: f32,
    logit: bool,
    weighted: bool,
    bound: f32,
    square: f32,
    slope: f32,
) {
    let across = (x.dim(1).to::<i64>() + 1023) / 1024;
    let mut total = zeros::<f32>([1, 1024]);
    for tile in (program_id(0).to::<i64>()..x.dim(0).to::<i64>() * across).step_by(num_programs(0).to::<i64>()) {
        let (i, j) = ((tile / across).to::<i32>(), (tile % across).to::<i32>() * 1024);
        let (v, t) = (x.load([i, j], [1, 1024]).to::<f32>(), target.load([i, j], [1, 1024]).to::<f32>());
        // Elements past the last column have no loss.
        let inside = (j + arange(0, 1024) < x.dim(1).to::<i32>()).expand_dims(0);
        if logit {
            let p = if weighted { weight.load([0, j], [1, 1024]).to::<f32>() } else { full([1, 1024], 1.0) };
            let (positive, negative) = (p * t, 1.0 - t);
            let rest = log_of_one_and(exp(-abs(v)));
            // Where a target excludes a class its term is 0, whatever the logit.
            let of = select(positive == 0.0, 0.0, positive * (maximum(-v, 0.0) + rest));
            let of = of + select(negative == 0.0, 0.0, negative * (maximum(v, 0.0) + rest));
            total += select(inside, of, 0.0);
            dx.store([i, j], ((negative * sigmoid(v) - positive * sigmoid(-v)) * scale).to::<T>());
        } else {
            let d = v - t;
            let a = abs(d);
            let of = select(a < bound, a * square * (a * 0.5), (a - 0.5 * bound) * slope);
            total += select(inside, of, 0.0);
            // A NaN stays one.
            let outside = select(d > 0.0, slope, select(d < 0.0, -slope, d));
            dx.store([i, j], (select(a < bound, d * square, outside) * scale).to::<T>());
        }
    }
    add_parts(total, loss, parts, done, scale);
}

/// What the loss of an element is.
enum Kind<'a, T> {
    Logit(Option<View<'a, T, 1>>),
    Difference { bound: f32, square: f32, slope: f32 },
}

fn launch<'a, T: FloatElement>(
    call: Call<'a>,
    [x, target]: [View<'a, T, 2>; 2],
    loss: ViewMut<'a, f32, 1>,
    dx: Option<ViewMut<'a, T, 2>>,
    kind: Kind<'a, T>,
) -> Result<()>
where
    triton::Compiled: ElementwiseKernelInstance<T>,
{
    let [rows, columns] = x.shape();
    let scale = if rows == 0 || columns == 0 { 0.0 } else { (1.0 / (rows as f64 * columns as f64)) as f32 };
    let of_dx = dx.as_ref().map_or(x.strides(), ViewMut::strides);
    let (logit, weight, [bound, square, slope]) = match kind {
        Kind::Logit(weight) => (true, weight, [0.0; 3]),
        Kind::Difference { bound, square, slope } => (false, None, [bound, square, slope]),
    };
    // Weights are of columns.
    let axes = match weight {
        Some(_) => Axes::Both,
        None => axes(x.shape(), &[x.strides(), target.strides(), of_dx], false),
    };
    let programs = programs(axes.shape(x.shape()), 1, 1024).clamp(1, PARTS);
    let dx = call.view_mut(dx.map(|dx| axes.view_mut(dx)).transpose()?);
    let (x, target, weighted) = (axes.view(x)?, axes.view(target)?, weight.is_some());
    let weight = call.view(weight.map(|weight| weight.split(0, [1, columns])).transpose()?);
    let (mut parts, mut done) = (call.scratch::<f32>(programs)?, call.scratch::<i32>(1)?);
    let (parts, done) = (parts.view_mut([programs])?, done.view_mut([1])?);
    let kernel =
        elementwise_kernel::<T>(x, target, weight, loss, dx, parts, done, scale, logit, weighted, bound, square, slope);
    call.launch(kernel, programs)
}

/// loss = the mean of (x − target)² / 2 where the difference is less than [`delta`](Huber::delta), and of delta · (|x − target| − delta / 2) elsewhere (Huber,
/// "Robust estimation of a location parameter", 1964), as `torch.nn.HuberLoss`; 0 of no elements. It is added in `f32`, in an order that
/// follows from the shapes: the result is the same each time.
///
/// A NaN or an infinity reaches the loss; a NaN reaches its element of the gradient, where an infinite difference is ±delta.
///
/// ```
/// use triton::Device;
/// use triton_kernels::loss::huber;
///
/// let stream = Device::cpu().stream()?;
/// let (x, target) = (stream.tensor(&[1.0f32, 9.0], [1, 2])?, stream.tensor(&[0.0f32, 0.0], [1, 2])?);
/// let (mut loss, mut dx) = (stream.tensor_uninit::<f32, _>([1])?, stream.tensor_uninit::<f32, _>([1, 2])?);
/// huber(&x, &target, &mut loss).delta(2.0).dx(&mut dx).launch(&stream)?;
/// assert_eq!((stream.download(&loss)?, stream.download(&dx)?), (vec![8.25], vec![0.5, 1.0]));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `dx`.
#[operation(Huber)]
pub fn huber<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] target: View<T, 2>,
    #[axes(1)] loss: ViewMut<f32, 1>,
    /// From which difference on the loss grows linearly. Default: 1.
    #[default(1.0)]
    #[check(delta > 0.0 && delta.is_finite(), "a finite number above 0", "of a delta of 0 there is no loss")]
    delta: f32,
    /// Stores the gradient for x, too, in the same launch.
    #[axes(.., c)]
    dx: Option<ViewMut<T, 2>>,
) -> Result<()> {
    launch(call, [x, target], loss, dx, Kind::Difference { bound: delta, square: 1.0, slope: delta })
}

/// loss = the mean of (x − target)² / (2 · beta) where the difference is less than [`beta`](SmoothL1::beta), and of |x − target| − beta / 2 elsewhere (Girshick,
/// "Fast R-CNN", 2015, section 2.3), as `torch.nn.SmoothL1Loss`: [`huber`] by its delta. With a beta of 0 it is the mean of |x − target|, as
/// `torch.nn.L1Loss`, of which the gradient of equal elements is 0.
///
/// Values at the edge and the order of sums are as of `huber`.
///
/// ```
/// use triton::Device;
/// use triton_kernels::loss::smooth_l1;
///
/// let stream = Device::cpu().stream()?;
/// let (x, target) = (stream.tensor(&[1.0f32, -9.0], [1, 2])?, stream.tensor(&[0.0f32, 0.0], [1, 2])?);
/// let (mut loss, mut dx) = (stream.tensor_uninit::<f32, _>([1])?, stream.tensor_uninit::<f32, _>([1, 2])?);
/// smooth_l1(&x, &target, &mut loss).beta(2.0).dx(&mut dx).launch(&stream)?;
/// assert_eq!((stream.download(&loss)?, stream.download(&dx)?), (vec![4.125], vec![0.25, -0.5]));
/// smooth_l1(&x, &target, &mut loss).beta(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&loss)?, [5.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `dx`.
#[operation(SmoothL1)]
pub fn smooth_l1<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] target: View<T, 2>,
    #[axes(1)] loss: ViewMut<f32, 1>,
    /// From which difference on the loss grows linearly. Default: 1.
    #[default(1.0)]
    #[check(beta >= 0.0 && beta.is_finite(), "a finite number, 0 or more", "0 is the mean of magnitudes")]
    beta: f32,
    /// Stores the gradient for x, too, in the same launch.
    #[axes(.., c)]
    dx: Option<ViewMut<T, 2>>,
) -> Result<()> {
    // The reciprocal of a subnormal number may be infinite.
    let (bound, square) = if beta < f32::MIN_POSITIVE { (0.0, 0.0) } else { (beta, beta.recip()) };
    launch(call, [x, target], loss, dx, Kind::Difference { bound, square, slope: 1.0 })
}

/// loss = the mean of −target · log σ(x) − (1 − target) · log(1 − σ(x)) over all elements, of logits x and targets that are probabilities, as
/// `torch.nn.BCEWithLogitsLoss`; 0 of no elements. It is added in `f32`, in an order that follows from the shapes: the result is the same each time.
///
/// Logarithms are computed from the logits: no logit is too large, and a small loss has all its digits. Where a target is 0 or 1, the term of the other
/// class is 0, whatever the logit. A NaN reaches the loss and its element of the gradient; an infinite logit reaches the loss unless its target is the limit
/// of its probability.
///
/// ```
/// use triton::Device;
/// use triton_kernels::loss::bce_with_logits;
///
/// let stream = Device::cpu().stream()?;
/// let (x, target) = (stream.tensor(&[0.0f32, 500.0], [2, 1])?, stream.tensor(&[1.0f32, 0.0], [2, 1])?);
/// let (mut loss, mut dx) = (stream.tensor_uninit::<f32, _>([1])?, stream.tensor_uninit::<f32, _>([2, 1])?);
/// bce_with_logits(&x, &target, &mut loss).dx(&mut dx).launch(&stream)?;
/// assert!((stream.download(&loss)?[0] - (2f32.ln() + 500.0) / 2.0).abs() < 1e-4);
/// assert_eq!(stream.download(&dx)?, [-0.25, 0.5]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `dx`.
#[operation(BceWithLogits)]
pub fn bce_with_logits<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] target: View<T, 2>,
    #[axes(1)] loss: ViewMut<f32, 1>,
    /// Multiplies the term of the positive class of each column: above 1 where positive targets are few.
    #[axes(c)]
    pos_weight: Option<View<T, 1>>,
    /// Stores the gradient for x, too, in the same launch.
    #[axes(.., c)]
    dx: Option<ViewMut<T, 2>>,
) -> Result<()> {
    launch(call, [x, target], loss, dx, Kind::Logit(pos_weight))
}
