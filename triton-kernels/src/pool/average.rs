//! The mean of each window.

use super::shape::{CHANNELS, Options, PIXELS, Windows, grid, launches};
use crate::Result;
use crate::element::FloatElement;
use crate::flat::corner;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Q pixels of a row of y, and C channels of each. Of the padding, `counted` rows and columns on either side count as pixels.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 32, C = 64)], targets = ["sm_80"], warnings = false)]
fn avg_pool_kernel<T: Float, const Q: i32, const C: i32>(
    x: Tensor<T, 4>,
    y: TensorMut<T, 4>,
    #[no_specialize] of: Windows,
    #[no_specialize] counted_h: i32,
    #[no_specialize] counted_w: i32,
) {
    let (n, row) = (program_id(2), program_id(1));
    let (q, c) = corner::<Q, C>(y.dim(3).to::<i32>());
    let columns = (q + arange(0, Q)).expand_dims(1) * of.stride_w - of.padding_w;
    let channels = (c + arange(0, C)).expand_dims(0);
    let (height, width) = (x.dim(1).to::<i32>(), x.dim(2).to::<i32>());
    let top = (of.first + row) * of.stride_h - of.padding_h;
    let mut sum = zeros::<f32>([Q, C]);
    for i in 0..of.down {
        let h = top + i;
        if h >= 0 && h < height {
            for j in 0..of.across {
                sum += x.gather((n, h, columns + j, channels), true).to::<f32>();
            }
        }
    }
    let down = minimum(top + of.down, height + counted_h) - maximum(top, -counted_h);
    let across = minimum(columns + of.across, width + counted_w) - maximum(columns, -counted_w);
    let mean = sum / maximum(down * across, 1).to::<f32>();
    y.store([n, row, q, c], mean.to::<T>().reshape([1, 1, Q, C]));
}

/// Q pixels of a row of dx, and C channels of each.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 32, C = 64)], targets = ["sm_80"], warnings = false)]
fn avg_pool_backward_kernel<T: Float, const Q: i32, const C: i32>(
    dy: Tensor<T, 4>,
    dx: TensorMut<T, 4>,
    #[no_specialize] of: Windows,
    #[no_specialize] height: i32,
    #[no_specialize] counted_h: i32,
    #[no_specialize] counted_w: i32,
) {
    let (n, row) = (program_id(2), program_id(1));
    let (w, c) = corner::<Q, C>(dx.dim(3).to::<i32>());
    let channels = (c + arange(0, C)).expand_dims(0);
    let width = dx.dim(2).to::<i32>();
    // Counted from the first row and column of the padding on.
    let (h, columns) = (of.first + row + of.padding_h, (w + arange(0, Q)).expand_dims(1) + of.padding_w);
    let mut sum = zeros::<f32>([Q, C]);
    for a in 0..of.most_h {
        let p = h / of.stride_h - a;
        let top = p * of.stride_h - of.padding_h;
        if p >= 0 && p < dy.dim(1).to::<i32>() && h - p * of.stride_h < of.down {
            let down = minimum(top + of.down, height + counted_h) - maximum(top, -counted_h);
            for b in 0..of.most_w {
                let q = columns / of.stride_w - b;
                let left = q * of.stride_w - of.padding_w;
                let across = minimum(left + of.across, width + counted_w) - maximum(left, -counted_w);
                let g = dy.gather((n, p, q, channels), columns - q * of.stride_w < of.across).to::<f32>();
                sum += g / maximum(down * across, 1).to::<f32>();
            }
        }
    }
    dx.store([n, row, w, c], sum.to::<T>().reshape([1, 1, Q, C]));
}

/// y\[n, p, q, c\] = Σ x\[n, p · stride + i − padding, .., c\] / (rows · columns) over the rows i and columns of a window of `window`, as
/// `torch.nn.functional.avg_pool2d` and `torch.nn.AvgPool2d` with channels last. y has p = (h + 2 · padding − i) / stride + 1 places down, for a
/// window of i rows, and q across likewise: [`output_shape`](super::output_shape).
///
/// Sums are in `f32`, in one order, and the quotient is rounded once. What pads an image is 0.
///
/// A NaN or infinite pixel reaches exactly the outputs whose windows hold it.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::avg_pool;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 5.0, 2.0, 3.0, 4.0, 0.0, 7.0, 6.0], [1, 2, 4, 1])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 1, 2, 1])?;
/// avg_pool(&x, (2, 2), &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [2.5, 4.5]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(AvgPool)]
pub fn avg_pool<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    window: (usize, usize),
    #[axes(n, p, q, c)] mut y: ViewMut<T, 4>,
    /// Stride along h and w. Default: the window.
    stride: Option<(usize, usize)>,
    /// Zero padding along h and w, on either side, of at most half of the window. Default: (0, 0).
    #[default((0, 0))]
    padding: (usize, usize),
    /// Whether the divisor counts what pads an image, as PyTorch's option of this name. Default: `true`.
    #[default(true)]
    count_include_pad: bool,
) -> Result<()> {
    let ([_, h, w, _], shape) = (x.shape(), y.shape());
    let options = Options { window, stride, padding, dilation: (1, 1) };
    let windows = Windows::new(call, "y", [h, w], [shape[1], shape[2]], options)?;
    if shape.contains(&0) {
        return Ok(());
    }
    let [down, across] = counted(windows, count_include_pad);
    for (images, rows) in launches(shape) {
        let grid = grid(shape, &images, &rows, PIXELS);
        let of = Windows { first: rows.start as i32, ..windows };
        let (x, y) = (x.narrow(0, images.clone())?, y.reborrow().narrow(0, images)?.narrow(1, rows)?);
        call.launch(avg_pool_kernel::<T, PIXELS, CHANNELS>(x, y, of, down, across), grid)?;
    }
    Ok(())
}

/// How much of the padding a divisor counts.
fn counted(of: Windows, is: bool) -> [i32; 2] {
    if is { [of.padding_h, of.padding_w] } else { [0; 2] }
}

/// dx\[n, h, w, c\] = Σ dy\[n, p, q, c\] / (rows · columns) over the windows that hold the pixel: the gradient of [`avg_pool`], with the same
/// options. dy is \[n, p, q, c\], dx is \[n, h, w, c\].
///
/// A pixel gathers from its windows in one order: the result is the same each time. Sums are in `f32`.
///
/// A NaN or an infinity of dy reaches exactly the pixels of its window.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::avg_pool_backward;
///
/// let stream = Device::cpu().stream()?;
/// let dy = stream.tensor(&[1.0f32, 2.0, 4.0], [1, 1, 3, 1])?;
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 1, 4, 1])?;
/// avg_pool_backward(&dy, (1, 2), &mut dx).stride((1, 1)).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [0.5, 1.5, 3.0, 2.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(AvgPoolBackward)]
pub fn avg_pool_backward<T: FloatElement>(
    call: Call,
    #[axes(n, p, q, c)] dy: View<T, 4>,
    window: (usize, usize),
    #[axes(n, h, w, c)] mut dx: ViewMut<T, 4>,
    /// As of [`AvgPool::stride`].
    stride: Option<(usize, usize)>,
    /// As of [`AvgPool::padding`].
    #[default((0, 0))]
    padding: (usize, usize),
    /// As of [`AvgPool::count_include_pad`].
    #[default(true)]
    count_include_pad: bool,
) -> Result<()> {
    let ([_, p, q, _], shape) = (dy.shape(), dx.shape());
    let options = Options { window, stride, padding, dilation: (1, 1) };
    let windows = Windows::new(call, "dy", [shape[1], shape[2]], [p, q], options)?;
    if shape.contains(&0) {
        return Ok(());
    }
    let [down, across] = counted(windows, count_include_pad);
    for (images, rows) in launches(shape) {
        let grid = grid(shape, &images, &rows, PIXELS);
        let of = Windows { first: rows.start as i32, ..windows };
        let (dy, dx) = (dy.narrow(0, images.clone())?, dx.reborrow().narrow(0, images)?.narrow(1, rows)?);
        let kernel = avg_pool_backward_kernel::<T, PIXELS, CHANNELS>(dy, dx, of, shape[1] as i32, down, across);
        call.launch(kernel, grid)?;
    }
    Ok(())
}
