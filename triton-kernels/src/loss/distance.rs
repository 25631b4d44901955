//! Losses that compare elements with those of a target: the mean square of differences, and the divergence of Kullback and Leibler.

use crate::Result;
use crate::element::FloatElement;
use crate::flat::{axes, programs};
use crate::functions::last_to_arrive;
use crate::operation::{Call, Request, operation};
use triton::prelude::*;

/// The most programs, whose parts the last one adds at once.
pub(super) const PARTS: usize = 1024;

/// loss = `scale` · the sum over all elements, and its gradient if there is an output: program p has the tiles p, p + P and so on, 1024
/// columns of a row each. `parts` and `done` are 0 before, and again after.
#[triton::kernel(T = [f32, f16, bf16], KL = [false, true], targets = ["sm_80"])]
fn distance_kernel<T: Float, const KL: bool>(
    x: Tensor<T, 2>,
    target: Tensor<T, 2>,
    loss: TensorMut<f32, 1>,
    dx: TensorMut<T, 2>,
    parts: TensorMut<f32, 1>,
    done: TensorMut<i32, 1>,
    scale: f32,
) {
    let program = program_id(0);
    let across = (x.dim(1).to::<i64>() + 1023) / 1024;
    let mut total = zeros::<f32>([1, 1024]);
    for tile in (program.to::<i64>()..x.dim(0).to::<i64>() * across).step_by(num_programs(0).to::<i64>()) {
        let (i, j) = ((tile / across).to::<i32>(), (tile % across).to::<i32>() * 1024);
        let (v, t) = (x.load([i, j], [1, 1024]).to::<f32>(), target.load([i, j], [1, 1024]).to::<f32>());
        if KL {
            // Where the target is 0 there is no loss.
            total += select(t == 0.0, 0.0, t * (log(t) - v));
            dx.store([i, j], (t * -scale).to::<T>());
        } else {
            let d = v - t;
            total = fma(d, d, total);
            dx.store([i, j], (d * (2.0 * scale)).to::<T>());
        }
    }
    add_parts(total, loss, parts, done, scale);
}

/// loss = `scale` times the sums of all programs, which the last one to finish adds in their order.
#[triton::function]
pub(super) fn add_parts(
    total: Tile<f32>,
    loss: TensorMut<f32, 1>,
    parts: TensorMut<f32, 1>,
    done: TensorMut<i32, 1>,
    scale: f32,
) {
    parts.store([program_id(0)], sum_axis(total, 1));
    if last_to_arrive(done, 0, num_programs(0)) {
        let all = sum(parts.load([0], [1024]));
        parts.store([0], zeros::<f32>([1024]));
        loss.store([0], full([1], all * scale));
        done.store([0], zeros::<i32>([1]));
    }
}

/// loss = the mean of (x − target)² over all elements, 0 of no elements, as `torch.nn.functional.mse_loss`. It is added in `f32`, in an order that
/// follows from the shapes: the result is the same each time.
///
/// A NaN or an infinity reaches the loss, and its element of the gradient.
///
/// ```
/// use triton::Device;
/// use triton_kernels::loss::mse;
///
/// let stream = Device::cpu().stream()?;
/// let (x, target) = (stream.tensor(&[1.0f32, 5.0], [1, 2])?, stream.tensor(&[0.0f32, 2.0], [1, 2])?);
/// let (mut loss, mut dx) = (stream.tensor_uninit::<f32, _>([1])?, stream.tensor_uninit::<f32, _>([1, 2])?);
/// mse(&x, &target, &mut loss).dx(&mut dx).launch(&stream)?;
/// assert_eq!((stream.download(&loss)?, stream.download(&dx)?), (vec![5.0], vec![1.0, 3.0]));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `dx`.
#[operation(Distance)]
pub fn mse<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] target: View<T, 2>,
    #[axes(1)] loss: ViewMut<f32, 1>,
    /// Stores the gradient for x, too, in the same launch.
    #[axes(.., c)]
    dx: Option<ViewMut<T, 2>>,
    #[preset(false)] kl: bool,
) -> Result<()> {
    let [rows, columns] = x.shape();
    let count = if kl { rows as f64 } else { rows as f64 * columns as f64 };
    let scale = if rows == 0 || columns == 0 { 0.0 } else { (1.0 / count) as f32 };
    let of_dx = dx.as_ref().map_or(x.strides(), ViewMut::strides);
    let axes = axes(x.shape(), &[x.strides(), target.strides(), of_dx], false);
    let programs = programs(axes.shape(x.shape()), 1, 1024).clamp(1, PARTS);
    let dx = call.view_mut(dx.map(|dx| axes.view_mut(dx)).transpose()?);
    let (x, target) = (axes.view(x)?, axes.view(target)?);
    let (mut parts, mut done) = (call.scratch::<f32>(programs)?, call.scratch::<i32>(1)?);
    let (parts, done) = (parts.view_mut([programs])?, done.view_mut([1])?);
    if kl {
        return call.launch(distance_kernel::<T, true>(x, target, loss, dx, parts, done, scale), programs);
    }
    call.launch(distance_kernel::<T, false>(x, target, loss, dx, parts, done, scale), programs)
}

/// loss = Σ target · (log target − x) / rows of logarithms of probabilities x and probabilities (Kullback and Leibler, "On information and
/// sufficiency", 1951), as `torch.nn.functional.kl_div` with `reduction="batchmean"`; as [`mse`] otherwise. Where a target is 0 nothing is added.
///
/// Where a target is 0, x is not read.
///
/// ```
/// use triton::Device;
/// use triton_kernels::loss::kl_div;
///
/// let stream = Device::cpu().stream()?;
/// let (x, target) = (stream.tensor(&[0.5f32.ln(); 2], [1, 2])?, stream.tensor(&[1.0f32, 0.0], [1, 2])?);
/// let mut loss = stream.tensor_uninit::<f32, _>([1])?;
/// kl_div(&x, &target, &mut loss).launch(&stream)?;
/// assert!((stream.download(&loss)?[0] - 2f32.ln()).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `dx`.
pub fn kl_div<'a, T: FloatElement, const R: usize>(
    x: impl IntoView<'a, T, R>,
    target: impl IntoView<'a, T, R>,
    loss: impl IntoViewMut<'a, f32, 1>,
) -> Distance<'a, T> {
    Distance { request: Request::new("kl_div"), ..mse(x, target, loss) }.kl(true)
}
