//! Rotary position embeddings.

use crate::Result;
use crate::element::FloatElement;
use crate::grid::parts;
use crate::operation::{Call, Request, operation};
use triton::prelude::*;

/// y = x with each pair turned. The last two axes of x are the two of a pair, and the pairs; a program has 4 positions, 4 heads, 64 pairs
/// at a time. `sign` is 1, or −1 for the other direction.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
fn rotary_halves_kernel<T: Float>(
    x: Tensor<T, 4>,
    cosines: Tensor<f32, 2>,
    sines: Tensor<f32, 2>,
    y: TensorMut<T, 4>,
    sign: f32,
) {
    let (p, h) = (program_id(0) * 4, program_id(1) * 4);
    for d in (0..x.dim(3).to::<i32>()).step_by(64) {
        let a = x.load([p, h, 0, d], [4, 4, 1, 64]).to::<f32>();
        let b = x.load([p, h, 1, d], [4, 4, 1, 64]).to::<f32>();
        let c = cosines.load([p, d], [4, 64]).reshape([4, 1, 1, 64]);
        let s = sines.load([p, d], [4, 64]).reshape([4, 1, 1, 64]) * sign;
        y.store([p, h, 0, d], (a * c - b * s).to::<T>());
        y.store([p, h, 1, d], (a * s + b * c).to::<T>());
    }
}

/// The same of pairs that are neighbours.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
fn rotary_adjacent_kernel<T: Float>(
    x: Tensor<T, 3>,
    cosines: Tensor<f32, 2>,
    sines: Tensor<f32, 2>,
    y: TensorMut<T, 3>,
    sign: f32,
) {
    let (p, h) = (program_id(0) * 4, program_id(1) * 4);
    for d in (0..x.dim(2).to::<i32>()).step_by(128) {
        let (a, b) = split(x.load([p, h, d], [4, 4, 128]).to::<f32>().reshape([4, 4, 64, 2]));
        let c = cosines.load([p, d / 2], [4, 64]).expand_dims(1);
        let s = sines.load([p, d / 2], [4, 64]).expand_dims(1) * sign;
        y.store([p, h, d], interleave(a * c - b * s, a * s + b * c).to::<T>());
    }
}

/// Which elements of a head are a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Pairs {
    /// Elements i and i + width / 2, as in GPT-NeoX and LLaMA of Hugging Face.
    #[default]
    Halves,
    /// Elements 2 i and 2 i + 1, as in the paper.
    Adjacent,
}

/// y = x with each pair (a, b) of elements turned to (a cos − b sin, a sin + b cos) (Su et al., "RoFormer", 2021, section 3.2.2): of positions, heads and
/// the width of a head, cosines and sines of the angle of each position and pair. They may be tables for more positions, [narrowed](View::narrow).
///
/// A NaN or an infinity reaches its pair alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::embedding::{Pairs, rotary};
///
/// let stream = Device::cpu().stream()?;
/// let (x, mut y) = (stream.tensor(&[1.0f32, 2.0], [1, 1, 2])?, stream.tensor_uninit::<f32, _>([1, 1, 2])?);
/// let (cos, sin) = (stream.tensor(&[0.0f32], [1, 1])?, stream.tensor(&[1.0f32], [1, 1])?);
/// rotary(&x, &cos, &sin, Pairs::Halves, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [-2.0, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Rotary)]
pub fn rotary<T: FloatElement>(
    call: Call,
    #[axes(p, h, w)] x: View<T, 3>,
    #[axes(p, w / 2)] cosines: View<f32, 2>,
    #[axes(p, w / 2)] sines: View<f32, 2>,
    pairs: Pairs,
    #[axes(p, h, w)] mut y: ViewMut<T, 3>,
    #[preset(1.0)] sign: f32,
) -> Result<()> {
    let [positions, heads, width] = x.shape();
    let fix = "narrow the axis: what is left over is not turned";
    call.value("the width of x", width, width.is_multiple_of(2), "an even number", fix)?;
    if positions == 0 || heads == 0 || width == 0 {
        return Ok(());
    }
    for of in parts(heads, 4) {
        let (x, y) = (x.narrow(1, of.clone())?, y.reborrow().narrow(1, of.clone())?);
        let grid = (positions.div_ceil(4), of.len().div_ceil(4));
        match pairs {
            Pairs::Halves => {
                let halves = [2, width / 2];
                let (x, y) = (x.split(2, halves)?, y.split(2, halves)?);
                call.launch(rotary_halves_kernel::<T>(x, cosines, sines, y, sign), grid)?;
            }
            Pairs::Adjacent => call.launch(rotary_adjacent_kernel::<T>(x, cosines, sines, y, sign), grid)?,
        }
    }
    Ok(())
}

/// dx = dy with each pair turned back: the gradient of [`rotary`], whose operands it has.
///
/// ```
/// use triton::Device;
/// use triton_kernels::embedding::{Pairs, rotary_backward};
///
/// let stream = Device::cpu().stream()?;
/// let (dy, mut dx) = (stream.tensor(&[-2.0f32, 1.0], [1, 1, 2])?, stream.tensor_uninit::<f32, _>([1, 1, 2])?);
/// let (cos, sin) = (stream.tensor(&[0.0f32], [1, 1])?, stream.tensor(&[1.0f32], [1, 1])?);
/// rotary_backward(&dy, &cos, &sin, Pairs::Halves, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [1.0, 2.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
pub fn rotary_backward<'a, T: FloatElement>(
    dy: impl IntoView<'a, T, 3>,
    cosines: impl IntoView<'a, f32, 2>,
    sines: impl IntoView<'a, f32, 2>,
    pairs: Pairs,
    dx: impl IntoViewMut<'a, T, 3>,
) -> Rotary<'a, T> {
    Rotary { request: Request::new("rotary_backward"), ..rotary(dy, cosines, sines, pairs, dx) }.sign(-1.0)
}
