//! Pixel shuffle: channels of a pixel as pixels of a larger image, and the way back.

use crate::element::FloatElement;
use crate::error::{Result, extent};
use crate::flat::corner;
use crate::grid::parts;
use crate::operation::{Call, operation};
use std::ops::Range;
use triton::prelude::*;

/// W pixels of a row of x, and what C channels of y have of them: R rows of y, of W · R pixels.
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 2, W = 16, C = 32), (R = 2, W = 64, C = 4), (R = 4, W = 4, C = 32), (R = 4, W = 16, C = 4),
], targets = ["sm_80"])]
fn shuffle_kernel<T: Float, const R: i32, const W: i32, const C: i32>(x: Tensor<T, 4>, y: TensorMut<T, 4>) {
    let (n, h) = (program_id(2), program_id(1));
    let (w, c) = corner::<W, C>(y.dim(3).to::<i32>());
    let v = x.load([n, h, w, c * (R * R)], [1, 1, W, C * R * R]).reshape([W, C, R, R]);
    y.store([n, h * R, w * R, c], v.permute([2, 0, 3, 1]).reshape([1, R, W * R, C]));
}

/// The same by any factor: Q pixels of each of these rows of y. x is read element by element, factor² elements apart (hence no warnings), and what one
/// row of y leaves of a sector is for the next one.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 16, C = 64), (Q = 128, C = 4)], targets = ["sm_80"], warnings = false)]
fn shuffle_any_kernel<T: Float, const Q: i32, const C: i32>(x: Tensor<T, 4>, y: TensorMut<T, 4>, factor: i32) {
    let (n, h) = (program_id(2), program_id(1));
    let (q, c) = corner::<Q, C>(y.dim(3).to::<i32>());
    let (across, channels) = ((q + arange(0, Q)).expand_dims(1), (c + arange(0, C)).expand_dims(0));
    for i in 0..factor {
        let from = (channels * factor + i) * factor + across % factor;
        let v = x.gather((n, h, across / factor, from), true);
        y.store([n, h * factor + i, q, c], v.reshape([1, 1, Q, C]));
    }
}

/// The way back of [`shuffle_kernel`].
#[triton::kernel(T = [f32, f16, bf16], configs = [
    (R = 2, W = 16, C = 32), (R = 2, W = 64, C = 4), (R = 4, W = 4, C = 32), (R = 4, W = 16, C = 4),
], targets = ["sm_80"])]
fn unshuffle_kernel<T: Float, const R: i32, const W: i32, const C: i32>(dy: Tensor<T, 4>, dx: TensorMut<T, 4>) {
    let (n, h) = (program_id(2), program_id(1));
    let (w, c) = corner::<W, C>(dy.dim(3).to::<i32>());
    let v = dy.load([n, h * R, w * R, c], [1, R, W * R, C]).reshape([R, W, R, C]);
    dx.store([n, h, w, c * (R * R)], v.permute([1, 3, 0, 2]).reshape([1, 1, W, C * R * R]));
}

/// The way back by any factor: W pixels of dx, and K channels of each. dy is read element by element.
#[triton::kernel(T = [f32, f16, bf16], configs = [(W = 16, K = 64)], targets = ["sm_80"], warnings = false)]
fn unshuffle_any_kernel<T: Float, const W: i32, const K: i32>(dy: Tensor<T, 4>, dx: TensorMut<T, 4>, factor: i32) {
    let (n, h) = (program_id(2), program_id(1));
    let (w, k) = corner::<W, K>(dx.dim(3).to::<i32>());
    let (across, channels) = ((w + arange(0, W)).expand_dims(1), (k + arange(0, K)).expand_dims(0));
    let (down, right) = (channels / factor % factor, channels % factor);
    let v = dy.gather((n, h * factor + down, across * factor + right, channels / (factor * factor)), true);
    dx.store([n, h, w, k], v.reshape([1, 1, W, K]));
}

/// Up to how many channels of the larger image there are tiles of a few channels and many pixels.
const FEW: usize = 8;

const AXES: &str = "the smaller image is [n, h, w, c · factor²], the larger one is [n, h · factor, w · factor, c]";

/// Checks what letters do not say: the extents of the larger image follow from those of the smaller one.
fn check(
    call: Call<'_>,
    small: (&'static str, [usize; 4]),
    large: (&'static str, [usize; 4]),
    factor: usize,
) -> Result<()> {
    let ((of_small, [_, h, w, channels]), (of_large, [_, p, q, c])) = (small, large);
    // A product that does not fit is not an extent.
    extent(call.op, of_large, 1, [p, h.saturating_mul(factor)], AXES)?;
    extent(call.op, of_large, 2, [q, w.saturating_mul(factor)], AXES)?;
    extent(call.op, of_small, 3, [channels, c.saturating_mul(factor).saturating_mul(factor)], AXES)
}

/// Images and rows of the smaller image for each launch.
fn launches([images, rows, ..]: [usize; 4]) -> impl Iterator<Item = (Range<usize>, Range<usize>)> {
    parts(images, 1).flat_map(move |images| parts(rows, 1).map(move |rows| (images.clone(), rows)))
}

/// y\[n, h · factor + i, w · factor + j, c\] = x\[n, h, w, (c · factor + i) · factor + j\]: each pixel of x becomes a square of pixels with fewer channels
/// (Shi et al., "Real-time single image and video super-resolution using an efficient sub-pixel convolutional neural network", CVPR 2016, section 3.2).
/// Channels are in the order of `torch.nn.functional.pixel_shuffle`. x is \[n, h, w, c · factor²\], y is \[n, h · factor, w · factor, c\].
///
/// Bits are copied: a NaN or an infinity reaches its element alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::conv::pixel_shuffle;
///
/// let stream = Device::cpu().stream()?;
/// // Two pixels of four channels are two rows of four pixels of one channel.
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0], [1, 1, 2, 4])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2, 4, 1])?;
/// pixel_shuffle(&x, 2, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(PixelShuffle)]
pub fn pixel_shuffle<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, k)] x: View<T, 4>,
    #[check(factor >= 1, "a number from 1 on", "1 leaves the image as it is")] factor: usize,
    #[axes(n, p, q, c)] mut y: ViewMut<T, 4>,
) -> Result<()> {
    check(call, ("x", x.shape()), ("y", y.shape()), factor)?;
    let (shape, [.., c]) = (x.shape(), y.shape());
    if shape.contains(&0) {
        return Ok(());
    }
    for (images, rows) in launches(shape) {
        let of_y = rows.start * factor..rows.end * factor;
        let x = x.narrow(0, images.clone())?.narrow(1, rows.clone())?;
        let y = y.reborrow().narrow(0, images.clone())?.narrow(1, of_y)?;
        let grid = |tiles: usize, of_c: usize| (tiles * c.div_ceil(of_c), rows.len(), images.len());
        let tiles = |pixels: usize| shape[2].div_ceil(pixels);
        match (factor, c <= FEW) {
            (2, false) => call.launch(shuffle_kernel::<T, 2, 16, 32>(x, y), grid(tiles(16), 32))?,
            (2, true) => call.launch(shuffle_kernel::<T, 2, 64, 4>(x, y), grid(tiles(64), 4))?,
            (4, false) => call.launch(shuffle_kernel::<T, 4, 4, 32>(x, y), grid(tiles(4), 32))?,
            (4, true) => call.launch(shuffle_kernel::<T, 4, 16, 4>(x, y), grid(tiles(16), 4))?,
            (_, few) => {
                // A factor is at most an extent, of which there are fewer than 2³¹.
                let (by, pixels) = (factor as i32, shape[2] * factor);
                match few {
                    false => call.launch(shuffle_any_kernel::<T, 16, 64>(x, y, by), grid(pixels.div_ceil(16), 64))?,
                    true => call.launch(shuffle_any_kernel::<T, 128, 4>(x, y, by), grid(pixels.div_ceil(128), 4))?,
                }
            }
        }
    }
    Ok(())
}

/// dx\[n, h, w, (c · factor + i) · factor + j\] = dy\[n, h · factor + i, w · factor + j, c\]: the gradient of [`pixel_shuffle`], which is its inverse
/// ("pixel unshuffle"). dy is \[n, h · factor, w · factor, c\], dx is \[n, h, w, c · factor²\].
///
/// Bits are copied: a NaN or an infinity reaches its element alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::conv::pixel_shuffle_backward;
///
/// let stream = Device::cpu().stream()?;
/// let dy = stream.tensor(&[1.0f32, 2.0, 5.0, 6.0, 3.0, 4.0, 7.0, 8.0], [1, 2, 4, 1])?;
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 1, 2, 4])?;
/// pixel_shuffle_backward(&dy, 2, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(PixelShuffleBackward)]
pub fn pixel_shuffle_backward<T: FloatElement>(
    call: Call,
    #[axes(n, p, q, c)] dy: View<T, 4>,
    #[check(factor >= 1, "a number from 1 on", "1 leaves the image as it is")] factor: usize,
    #[axes(n, h, w, k)] mut dx: ViewMut<T, 4>,
) -> Result<()> {
    check(call, ("dx", dx.shape()), ("dy", dy.shape()), factor)?;
    let (shape, [.., c]) = (dx.shape(), dy.shape());
    if shape.contains(&0) {
        return Ok(());
    }
    for (images, rows) in launches(shape) {
        let of_y = rows.start * factor..rows.end * factor;
        let dy = dy.narrow(0, images.clone())?.narrow(1, of_y)?;
        let dx = dx.reborrow().narrow(0, images.clone())?.narrow(1, rows.clone())?;
        let grid = |of_w: usize, across: usize| (shape[2].div_ceil(of_w) * across, rows.len(), images.len());
        match (factor, c <= FEW) {
            (2, false) => call.launch(unshuffle_kernel::<T, 2, 16, 32>(dy, dx), grid(16, c.div_ceil(32)))?,
            (2, true) => call.launch(unshuffle_kernel::<T, 2, 64, 4>(dy, dx), grid(64, c.div_ceil(4)))?,
            (4, false) => call.launch(unshuffle_kernel::<T, 4, 4, 32>(dy, dx), grid(4, c.div_ceil(32)))?,
            (4, true) => call.launch(unshuffle_kernel::<T, 4, 16, 4>(dy, dx), grid(16, c.div_ceil(4)))?,
            (_, _) => {
                let kernel = unshuffle_any_kernel::<T, 16, 64>(dy, dx, factor as i32);
                call.launch(kernel, grid(16, shape[3].div_ceil(64)))?;
            }
        }
    }
    Ok(())
}
