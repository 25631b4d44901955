//! Means of as many parts of an image as are asked for.

use super::shape::{CHANNELS, PIXELS, grid, launches};
use crate::element::FloatElement;
use crate::error::{Error, Result};
use crate::flat::corner;
use crate::operation::{Call, launch, operation};
use crate::reduce::{Reduction, reduce};
use triton::prelude::*;

/// The first pixel of each part of an axis, and the one behind its last: ⌊i · extent / parts⌋ and ⌈(i + 1) · extent / parts⌉.
#[triton::function]
fn bins(i: Tile<i32>, extent: i32, parts: i32) -> (Tile<i32>, Tile<i32>) {
    (i * extent / parts, ((i + 1) * extent + (parts - 1)) / parts)
}

/// The same of one part.
#[triton::function]
fn bin(i: i32, extent: i32, parts: i32) -> (i32, i32) {
    (i * extent / parts, ((i + 1) * extent + (parts - 1)) / parts)
}

/// Q pixels of a row of y, C channels of each, and K pixels of the part at a time. No part has more than `most` columns.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 32, K = 1, C = 64), (Q = 1, K = 32, C = 64)], targets = ["sm_80"], warnings = false)]
fn adaptive_avg_pool_kernel<T: Float, const Q: i32, const K: i32, const C: i32>(
    x: Tensor<T, 4>,
    y: TensorMut<T, 4>,
    #[no_specialize] first: i32,
    #[no_specialize] down: i32,
    #[no_specialize] most: i32,
) {
    let (n, row, across) = (program_id(2), program_id(1), y.dim(2).to::<i32>());
    let (q, c) = corner::<Q, C>(y.dim(3).to::<i32>());
    let (top, bottom) = bin(first + row, x.dim(1).to::<i32>(), down);
    let columns = minimum(q + arange(0, Q), across - 1).reshape([Q, 1, 1]);
    let (left, right) = bins(columns, x.dim(2).to::<i32>(), across);
    let width = right - left;
    let count = width * (bottom - top);
    let channels = (c + arange(0, C)).reshape([1, 1, C]);
    let mut sum = zeros::<f32>([Q, K, C]);
    for k in (0..most * (bottom - top)).step_by(K) {
        let i = (k + arange(0, K)).reshape([1, K, 1]);
        sum += x.gather((n, top + i / width, left + i % width, channels), i < count).to::<f32>();
    }
    let mean = sum_axis(sum, 1) / count.reshape([Q, 1]).to::<f32>();
    y.store([n, row, q, c], mean.to::<T>().reshape([1, 1, Q, C]));
}

/// Q pixels of a row of dx, and C channels of each. No pixel is in more than `most` parts along a row.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 32, C = 64)], targets = ["sm_80"], warnings = false)]
fn adaptive_avg_pool_backward_kernel<T: Float, const Q: i32, const C: i32>(
    dy: Tensor<T, 4>,
    dx: TensorMut<T, 4>,
    #[no_specialize] first: i32,
    #[no_specialize] height: i32,
    #[no_specialize] most: i32,
) {
    let (n, row, width) = (program_id(2), program_id(1), dx.dim(2).to::<i32>());
    let (w, c) = corner::<Q, C>(dx.dim(3).to::<i32>());
    let (down, across) = (dy.dim(1).to::<i32>(), dy.dim(2).to::<i32>());
    // The parts that hold a pixel are counted as the pixels of a part are.
    let (from, to) = bin(first + row, down, height);
    let columns = minimum(w + arange(0, Q), width - 1).expand_dims(1);
    let (left, right) = bins(columns, across, width);
    let channels = (c + arange(0, C)).expand_dims(0);
    let mut sum = zeros::<f32>([Q, C]);
    for p in from..to {
        let (top, bottom) = bin(p, height, down);
        for b in 0..most {
            let q = minimum(left + b, across - 1);
            let (start, end) = bins(q, width, across);
            let g = dy.gather((n, p, q, channels), left + b < right).to::<f32>();
            sum += g / ((bottom - top) * (end - start)).to::<f32>();
        }
    }
    dx.store([n, row, w, c], sum.to::<T>().reshape([1, 1, Q, C]));
}

/// The most pixels of a part of an axis of `extent` pixels.
fn most(extent: usize, parts: usize) -> usize {
    if extent.is_multiple_of(parts) { extent / parts } else { extent / parts + 2 }
}

/// Checks what letters do not say, of images that have elements: pixels \[h, w\], parts \[p, q\].
fn check(call: Call<'_>, pixels: [usize; 2], parts: [usize; 2]) -> Result<()> {
    for (name, extent) in [("h", pixels[0]), ("w", pixels[1])] {
        call.value(name, extent, extent > 0, "pixels", "a part without pixels has no mean")?;
    }
    let counts = [pixels[0] * pixels[1], (pixels[0] + 1) * (parts[0] + 1), (pixels[1] + 1) * (parts[1] + 1)];
    match counts.into_iter().find(|count| *count > i32::MAX as usize / 2) {
        None => Ok(()),
        Some(count) => Err(Error::Unsupported {
            op: call.op,
            found: format!("an index up to {count}"),
            expected: "products of both extents of an axis, and of an image, below 2³⁰",
            fix: "divide the image",
        }),
    }
}

/// y\[n, p, q, c\] = the mean of x\[n, h, w, c\] over ⌊p · H / P⌋ ≤ h < ⌈(p + 1) · H / P⌉ and over w likewise, as
/// `torch.nn.functional.adaptive_avg_pool2d` and `torch.nn.AdaptiveAvgPool2d` with channels last. x is \[n, h, w, c\], y is \[n, p, q, c\], with any
/// p and q. With p = q = 1 it is global average pooling (Lin et al., "Network in network", 2013, section 3.2).
///
/// Sums are in `f32`, in one order, and the quotient is rounded once.
///
/// A NaN or infinite pixel reaches exactly the outputs whose parts hold it.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::adaptive_avg_pool;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 9.0], [1, 2, 3, 1])?;
/// let mut global = stream.tensor_uninit::<f32, _>([1, 1, 1, 1])?;
/// adaptive_avg_pool(&x, &mut global).launch(&stream)?;
/// assert_eq!(stream.download(&global)?, [4.0]);
///
/// // Three columns in two parts: both have the middle one.
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2, 2, 1])?;
/// adaptive_avg_pool(&x, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.5, 2.5, 4.5, 7.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(AdaptiveAvgPool)]
pub fn adaptive_avg_pool<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    #[axes(n, p, q, c)] mut y: ViewMut<T, 4>,
) -> Result<()> {
    let ([_, h, w, _], shape) = (x.shape(), y.shape());
    if shape.contains(&0) {
        return Ok(());
    }
    let [n, p, q, c] = shape;
    check(call, [h, w], [p, q])?;
    // Of whole images the mean is that of an axis.
    if [p, q] == [1; 2]
        && let (Ok(x), Ok(y)) = (x.merge(1), y.reborrow().reshape([n, c]))
    {
        return launch(reduce(x, Reduction::Mean, y), call.stream);
    }
    let across = most(w, q);
    // Parts of many pixels are read by many threads.
    let by_parts = most(h, p) * across >= PIXELS as usize / 2;
    for (images, rows) in launches(shape) {
        let grid = grid(shape, &images, &rows, if by_parts { 1 } else { PIXELS });
        let (first, down, across) = (rows.start as i32, p as i32, across as i32);
        let (x, y) = (x.narrow(0, images.clone())?, y.reborrow().narrow(0, images)?.narrow(1, rows)?);
        if by_parts {
            call.launch(adaptive_avg_pool_kernel::<T, 1, PIXELS, CHANNELS>(x, y, first, down, across), grid)?;
        } else {
            call.launch(adaptive_avg_pool_kernel::<T, PIXELS, 1, CHANNELS>(x, y, first, down, across), grid)?;
        }
    }
    Ok(())
}

/// dx\[n, h, w, c\] = Σ dy\[n, p, q, c\] / (rows · columns) over the parts that hold the pixel: the gradient of [`adaptive_avg_pool`]. dy is
/// \[n, p, q, c\], dx is \[n, h, w, c\].
///
/// A pixel gathers from its parts in one order: the result is the same each time. Sums are in `f32`.
///
/// A NaN or an infinity of dy reaches exactly the pixels of its part.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::adaptive_avg_pool_backward;
///
/// let stream = Device::cpu().stream()?;
/// let dy = stream.tensor(&[1.0f32, 2.0], [1, 1, 2, 1])?;
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 1, 3, 1])?;
/// adaptive_avg_pool_backward(&dy, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [0.5, 1.5, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(AdaptiveAvgPoolBackward)]
pub fn adaptive_avg_pool_backward<T: FloatElement>(
    call: Call,
    #[axes(n, p, q, c)] dy: View<T, 4>,
    #[axes(n, h, w, c)] mut dx: ViewMut<T, 4>,
) -> Result<()> {
    let ([_, p, q, _], shape) = (dy.shape(), dx.shape());
    if shape.contains(&0) {
        return Ok(());
    }
    let [_, h, w, _] = shape;
    check(call, [h, w], [p, q])?;
    let across = most(q, w) as i32;
    for (images, rows) in launches(shape) {
        let (grid, first) = (grid(shape, &images, &rows, PIXELS), rows.start as i32);
        let (dy, dx) = (dy.narrow(0, images.clone())?, dx.reborrow().narrow(0, images)?.narrow(1, rows)?);
        let kernel = adaptive_avg_pool_backward_kernel::<T, PIXELS, CHANNELS>(dy, dx, first, h as i32, across);
        call.launch(kernel, grid)?;
    }
    Ok(())
}
