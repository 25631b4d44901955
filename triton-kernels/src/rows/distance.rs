//! Losses that compare elements with those of a target: the mean square of differences, and the divergence of Kullback and Leibler.

use super::flat::{axes, programs};
use crate::Result;
use crate::element::{FloatElement, operation};
use crate::error::{extent, same_shape};
use crate::functions::last_to_arrive;
use crate::lent::scratch;
use triton::prelude::*;

/// The most programs, whose parts the last one adds at once.
const PARTS: usize = 1024;

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
    parts.store([program], sum_axis(total, 1));
    if last_to_arrive(done, 0, num_programs(0)) {
        let all = sum(parts.load([0], [1024]));
        parts.store([0], zeros::<f32>([1024]));
        loss.store([0], full([1], all * scale));
        done.store([0], zeros::<i32>([1]));
    }
}

/// Builder of an elementwise loss, returned by [`mse`] and [`kl_div`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct Distance<'a, T> {
    op: &'static str,
    x: View<'a, T, 2>,
    target: View<'a, T, 2>,
    loss: ViewMut<'a, f32, 1>,
    dx: Option<ViewMut<'a, T, 2>>,
}

/// loss = the mean of (x − target)² over all elements; x and the target are `[rows, columns]`, the loss `[1]`, 0 of no elements. It is added in
/// `f32`, in an order that follows from the shapes: the result is the same each time.
///
/// A NaN or an infinity reaches the loss, and its element of the gradient.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::mse;
///
/// let stream = Device::cpu().stream()?;
/// let (x, target) = (stream.tensor(&[1.0f32, 5.0], [1, 2])?, stream.tensor(&[0.0f32, 2.0], [1, 2])?);
/// let (mut loss, mut dx) = (stream.tensor_uninit::<f32, _>([1])?, stream.tensor_uninit::<f32, _>([1, 2])?);
/// mse(&x, &target, &mut loss).gradient(&mut dx).launch(&stream)?;
/// assert_eq!((stream.download(&loss)?, stream.download(&dx)?), (vec![5.0], vec![1.0, 3.0]));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn mse<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 2>,
    target: impl IntoView<'a, T, 2>,
    loss: impl IntoViewMut<'a, f32, 1>,
) -> Distance<'a, T> {
    Distance { op: "mse", x: x.into_view(), target: target.into_view(), loss: loss.into_view_mut(), dx: None }
}

/// loss = Σ target · (log target − x) / rows of logarithms of probabilities x and probabilities, both `[rows, columns]` (Kullback and Leibler,
/// "On information and sufficiency", 1951); as [`mse`] otherwise. Where a target is 0 nothing is added.
///
/// Where a target is 0, x is not read.
pub fn kl_div<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 2>,
    target: impl IntoView<'a, T, 2>,
    loss: impl IntoViewMut<'a, f32, 1>,
) -> Distance<'a, T> {
    Distance { op: KL_DIV, ..mse(x.into_view(), target.into_view(), loss.into_view_mut()) }
}

const KL_DIV: &str = "kl_div";

impl<'a, T: FloatElement> Distance<'a, T> {
    /// Stores the gradient for x, too, in the same launch.
    pub fn gradient(self, dx: impl IntoViewMut<'a, T, 2>) -> Distance<'a, T> {
        Distance { dx: Some(dx.into_view_mut()), ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if the target or the gradient has another shape than x, or the loss is not one element; errors of
    /// the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Compare>(self, stream)
    }
}

operation!(Compare: Distance by enqueue);

fn enqueue<T: FloatElement>(of: Distance<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: DistanceKernelInstance<T, false> + DistanceKernelInstance<T, true>,
{
    let Distance { op, x, target, loss, dx } = of;
    let [rows, columns] = x.shape();
    same_shape(op, "target", target.shape(), x.shape(), "the target has the shape of x")?;
    dx.as_ref().map_or(Ok(()), |dx| same_shape(op, "dx", dx.shape(), x.shape(), "the gradient has the shape of x"))?;
    extent(op, "loss", 0, [loss.shape()[0], 1], "there is one loss of all elements")?;
    let count = if op == KL_DIV { rows as f64 } else { rows as f64 * columns as f64 };
    let scale = if rows == 0 || columns == 0 { 0.0 } else { (1.0 / count) as f32 };
    let of_dx = dx.as_ref().map_or(x.strides(), ViewMut::strides);
    let strides = [x.strides(), target.strides(), of_dx];
    let axes = axes(x.shape(), &strides, false);
    let programs = programs(axes.shape(x.shape()), 1, 1024).clamp(1, PARTS);
    let dx = dx.map_or_else(|| Ok(ViewMut::none(stream.device())), |dx| axes.view_mut(dx))?;
    let (x, target) = (axes.view(x)?, axes.view(target)?);
    let (mut parts, mut done) = (scratch::<f32>(op, stream, programs)?, scratch::<i32>(op, stream, 1)?);
    let (parts, done) = (parts.view_mut([programs])?, done.view_mut([1])?);
    if op == KL_DIV {
        return Ok(distance_kernel::<T, true>(x, target, loss, dx, parts, done, scale).launch(stream, programs)?);
    }
    Ok(distance_kernel::<T, false>(x, target, loss, dx, parts, done, scale).launch(stream, programs)?)
}
