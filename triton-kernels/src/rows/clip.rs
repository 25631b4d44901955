//! Gradients scaled so that their norm is bounded.

use super::flat::{axes, corner, fits, programs};
use crate::element::{FloatElement, operation};
use crate::error::value;
use crate::lent::scratch;
use crate::pool::choose;
use crate::{Error, Result};
use triton::prelude::*;

/// The most programs that add squares of one view.
const PARTS: usize = 512;

/// Parts of the sum of squares: program p has the tiles p, p + P and so on, 2048 columns of a row each.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], num_warps = 8)]
fn squares_kernel<T: Float>(x: Tensor<T, 2>, parts: TensorMut<f32, 1>, #[no_specialize] first: i32) {
    let (n, program) = (x.dim(1).to::<i32>(), program_id(0));
    let across = (n + 2047) / 2048;
    let mut total = zeros::<f32>([1, 2048]);
    for tile in (program.to::<i64>()..x.dim(0).to::<i64>() * across.to::<i64>()).step_by(num_programs(0).to::<i64>()) {
        let across = across.to::<i64>();
        let v = x.load([(tile / across).to::<i32>(), (tile % across).to::<i32>() * 2048], [1, 2048]).to::<f32>();
        total = fma(v, v, total);
    }
    parts.store([first + program], sum_axis(total, 1));
}

/// The norm from parts of the sum of squares, which are 0 afterwards.
#[triton::kernel(targets = ["sm_80"])]
fn norm_of_parts(parts: TensorMut<f32, 1>, norm: TensorMut<f32, 1>) {
    let mut total = zeros::<f32>([1024]);
    for p in (0..parts.dim(0).to::<i32>()).step_by(1024) {
        total += parts.load([p], [1024]);
        parts.store([p], zeros::<f32>([1024]));
    }
    norm.store([0], full([1], sqrt(sum(total))));
}

/// x = x · `most` / norm, if the norm is greater.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 1, N = 1024, num_warps = 4, general = true), (R = 8, N = 128, num_warps = 4),
], targets = ["sm_80"], tune = [R, N])]
fn clip_kernel<T: Float, const R: i32, const N: i32>(x: TensorMut<T, 2>, norm: Tensor<f32, 1>, most: f32) {
    let norm = norm.get([0]);
    // A norm that is NaN makes the gradients so.
    if !(norm <= most) {
        let (i, j) = corner::<R, N>(x.dim(1).to::<i32>());
        x.store([i, j], (x.load([i, j], [R, N]).to::<f32>() * (most / norm)).to::<T>());
    }
}

/// Views: the first in place, so that few take no memory of the heap.
#[derive(Debug)]
struct Views<'a, T> {
    first: [Option<ViewMut<'a, T, 2>>; 16],
    rest: Vec<ViewMut<'a, T, 2>>,
}

impl<'a, T> FromIterator<ViewMut<'a, T, 2>> for Views<'a, T> {
    fn from_iter<I: IntoIterator<Item = ViewMut<'a, T, 2>>>(views: I) -> Views<'a, T> {
        let mut views = views.into_iter().fuse();
        Views { first: std::array::from_fn(|_| views.next()), rest: views.collect() }
    }
}

impl<'a, T> Views<'a, T> {
    fn iter(&self) -> impl Iterator<Item = &ViewMut<'a, T, 2>> {
        self.first.iter().flatten().chain(&self.rest)
    }

    fn into_iter(self) -> impl Iterator<Item = ViewMut<'a, T, 2>> {
        self.first.into_iter().flatten().chain(self.rest)
    }
}

/// Builder of gradient clipping by norm, returned by [`clip_by_norm`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct ClipByNorm<'a, T> {
    gradients: Views<'a, T>,
    most: f32,
    norm: ViewMut<'a, f32, 1>,
}

/// norm = √(Σ x²) over all elements of all gradients, and x = x · most / norm if the norm is greater than `most` (Pascanu, Mikolov and Bengio,
/// "On the difficulty of training recurrent neural networks", 2013, algorithm 1). The norm before that is stored, `[1]`. An infinite `most`
/// leaves gradients as they are.
///
/// Squares are added in `f32` in an order that follows from the shapes: the result is the same each time. There are two launches for each
/// view, and one more.
///
/// A NaN makes the norm and all gradients NaN; of numbers above 10¹⁸ the norm is infinite, and the gradients become 0.
///
/// ```
/// use triton::Device;
/// use triton_kernels::rows::clip_by_norm;
///
/// let stream = Device::cpu().stream()?;
/// let (mut a, mut b) = (stream.tensor(&[3.0f32], [1, 1])?, stream.tensor(&[4.0f32], [1, 1])?);
/// let mut norm = stream.tensor_uninit::<f32, _>([1])?;
/// clip_by_norm([&mut a, &mut b], 2.5, &mut norm).launch(&stream)?;
/// assert_eq!((stream.download(&a)?, stream.download(&b)?), (vec![1.5], vec![2.0]));
/// assert_eq!(stream.download(&norm)?, [5.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn clip_by_norm<'a, T: FloatElement>(
    gradients: impl IntoIterator<Item = impl IntoViewMut<'a, T, 2>>,
    most: f32,
    norm: impl IntoViewMut<'a, f32, 1>,
) -> ClipByNorm<'a, T> {
    let gradients = gradients.into_iter().map(IntoViewMut::into_view_mut).collect();
    ClipByNorm { gradients, most, norm: norm.into_view_mut() }
}

impl<T: FloatElement> ClipByNorm<'_, T> {
    /// Enqueues it.
    ///
    /// # Errors
    /// [`Error::Shape`] if the norm is not one element, [`Error::Value`] if `most` is negative, or there are too many views; errors of the
    /// device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Clip>(self, stream)
    }
}

operation!(Clip: ClipByNorm by clip);

fn clip<T: FloatElement>(of: ClipByNorm<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: SquaresKernelInstance<T> + ClipKernelPool<T>,
{
    let (op, ClipByNorm { gradients, most, mut norm }) = ("clip_by_norm", of);
    crate::error::extent(op, "norm", 0, [norm.shape()[0], 1], "there is one norm of all gradients")?;
    value(op, "most", most, most >= 0.0, "0 or more", "it is the greatest norm that stays")?;
    let gradients = gradients.into_iter().filter(|view| !view.shape().contains(&0));
    let flat = gradients.map(|view| axes(view.shape(), &[view.strides()], false).view_mut(view));
    let flat = flat.collect::<Result<Views<'_, T>>>()?;
    let of_view = |view: &ViewMut<'_, T, 2>| programs(view.shape(), 1, 2048).min(PARTS);
    let count: usize = flat.iter().map(of_view).sum();
    let mut parts = scratch::<f32>(op, stream, count)?;
    let mut first = 0;
    for view in flat.iter() {
        let begin = i32::try_from(first).map_err(|_| too_many(first))?;
        let of = of_view(view);
        squares_kernel::<T>(view.as_view(), parts.view_mut([count])?, begin).launch(stream, of)?;
        first += of;
    }
    norm_of_parts(parts.view_mut([count])?, norm.reborrow()).launch(stream, 1)?;
    for view in flat.into_iter() {
        let shape = view.shape();
        let tuned = clip_kernel_tuned::<T>(view, norm.as_view(), most);
        let tuned = choose(op, tuned, None, stream, |of| fits(of.R, shape))?;
        tuned.launch(stream, |of| programs(shape, of.R, of.N))?;
    }
    Ok(())
}

#[cold]
fn too_many(parts: usize) -> Error {
    let (expected, fix) = ("less than 2³¹", "pass gradients that are contiguous as one view");
    Error::Value { op: "clip_by_norm", parameter: "gradients", found: format!("{parts} parts"), expected, fix }
}
