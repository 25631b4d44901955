//! Gradients scaled so that their norm is bounded.

use crate::Result;
use crate::element::FloatElement;
use crate::flat::{axes, corner, fits, programs};
use crate::operation::{Call, Operand, operation};
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
struct Views<V> {
    first: [Option<V>; 16],
    rest: Vec<V>,
}

impl<V> Views<V> {
    fn new() -> Views<V> {
        Views { first: [const { None }; 16], rest: Vec::new() }
    }

    fn push(&mut self, view: V) {
        match self.first.iter_mut().find(|place| place.is_none()) {
            Some(place) => *place = Some(view),
            None => self.rest.push(view),
        }
    }

    fn iter(&self) -> impl Iterator<Item = &V> {
        self.first.iter().flatten().chain(&self.rest)
    }

    fn into_iter(self) -> impl Iterator<Item = V> {
        self.first.into_iter().flatten().chain(self.rest)
    }
}

/// norm = √(Σ x²) over all elements of all [`gradient`](ClipByNorm::gradient)s, and x = x · most / norm if the norm is greater than `most` (Pascanu,
/// Mikolov and Bengio, "On the difficulty of training recurrent neural networks", 2013, algorithm 1), as
/// `torch.nn.utils.clip_grad_norm_`. The norm before that is stored. An infinite `most` leaves gradients as they are.
///
/// Squares are added in `f32` in an order that follows from the shapes: the result is the same each time. There are two launches for each
/// gradient, and one more.
///
/// A NaN makes the norm and all gradients NaN; of numbers above 10¹⁸ the norm is infinite, and the gradients become 0.
///
/// ```
/// use triton::Device;
/// use triton_kernels::optim::clip_by_norm;
///
/// let stream = Device::cpu().stream()?;
/// let (mut w, mut b) = (stream.tensor(&[3.0f32], [1, 1])?, stream.tensor(&[4.0f32], [1])?);
/// let mut norm = stream.tensor_uninit::<f32, _>([1])?;
/// clip_by_norm(2.5, &mut norm).gradient(&mut w).gradient(&mut b).launch(&stream)?;
/// assert_eq!((stream.download(&w)?, stream.download(&b)?), (vec![1.5], vec![2.0]));
/// assert_eq!(stream.download(&norm)?, [5.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: none, it is of gradients.
#[operation(ClipByNorm)]
pub fn clip_by_norm<T: FloatElement>(
    call: Call,
    #[check(most >= 0.0, "0 or more", "it is the greatest norm that stays")] most: f32,
    #[axes(1)] mut norm: ViewMut<f32, 1>,
    #[preset(Views::new())] views: Views<Operand<ViewMut<'a, T, 2>>>,
) -> Result<()> {
    let (mut flat, mut count) = (Views::new(), 0);
    for view in views.into_iter() {
        let view = view.take(call.op, "a gradient")?;
        if !view.shape().contains(&0) {
            let view = axes(view.shape(), &[view.strides()], false).view_mut(view)?;
            count += programs(view.shape(), 1, 2048).min(PARTS);
            flat.push(view);
        }
    }
    let few = i32::try_from(count).is_ok();
    call.value("parts of gradients", count, few, "less than 2³¹", "pass gradients that are contiguous as one view")?;
    let mut parts = call.scratch::<f32>(count)?;
    let mut first = 0;
    for view in flat.iter() {
        let of = programs(view.shape(), 1, 2048).min(PARTS);
        call.launch(squares_kernel::<T>(view.as_view(), parts.view_mut([count])?, first as i32), of)?;
        first += of;
    }
    call.launch(norm_of_parts(parts.view_mut([count])?, norm.reborrow()), 1)?;
    for view in flat.into_iter() {
        let shape = view.shape();
        let kernel = clip_kernel_tuned::<T>(view, norm.as_view(), most);
        call.tuned(kernel, |of| fits(of.R, shape), |of| programs(shape, of.R, of.N))?;
    }
    Ok(())
}

impl<'a, T: FloatElement> ClipByNorm<'a, T> {
    /// Adds a gradient, of any number of axes.
    pub fn gradient<const R: usize>(mut self, gradient: impl IntoViewMut<'a, T, R>) -> Self {
        self.views.push(Operand::merged(gradient.into_view_mut(), 0));
        self
    }

    /// Adds several.
    pub fn gradients<const R: usize>(self, gradients: impl IntoIterator<Item = impl IntoViewMut<'a, T, R>>) -> Self {
        gradients.into_iter().fold(self, ClipByNorm::gradient)
    }
}
