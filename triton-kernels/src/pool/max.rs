//! The greatest pixel of each window.

use super::shape::{CHANNELS, Options, PIXELS, Windows, grid, launches};
use crate::Result;
use crate::element::FloatElement;
use crate::flat::corner;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Pixels of a tile of the gradient, which compares each with all of its windows: with twice as many it is a tenth slower.
const FEW: i32 = 16;

/// Q pixels of a row of y, and C channels of each.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 32, C = 64)], targets = ["sm_80"], warnings = false)]
fn max_pool_kernel<T: Float, const Q: i32, const C: i32>(
    x: Tensor<T, 4>,
    y: TensorMut<T, 4>,
    #[no_specialize] of: Windows,
) {
    let (n, row) = (program_id(2), program_id(1));
    let (q, c) = corner::<Q, C>(y.dim(3).to::<i32>());
    let columns = (q + arange(0, Q)).expand_dims(1) * of.stride_w - of.padding_w;
    let channels = (c + arange(0, C)).expand_dims(0);
    let (top, height) = ((of.first + row) * of.stride_h - of.padding_h, x.dim(1).to::<i32>());
    let mut most = full([Q, C], f32::NEG_INFINITY);
    for i in 0..of.down {
        let h = top + i * of.dilation_h;
        if h >= 0 && h < height {
            for j in 0..of.across {
                let at = (n, h, columns + j * of.dilation_w, channels);
                let v = x.gather_or(at, true, T::NEG_INFINITY).to::<f32>();
                most = select((v > most) | (v != v), v, most);
            }
        }
    }
    y.store([n, row, q, c], most.to::<T>().reshape([1, 1, Q, C]));
}

/// Q pixels of a row of dx, and C channels of each: the windows that hold a pixel are searched again.
#[triton::kernel(T = [f32, f16, bf16], configs = [(Q = 16, C = 64)], targets = ["sm_80"], warnings = false)]
fn max_pool_backward_kernel<T: Float, const Q: i32, const C: i32>(
    x: Tensor<T, 4>,
    dy: Tensor<T, 4>,
    dx: TensorMut<T, 4>,
    #[no_specialize] of: Windows,
) {
    let (n, row) = (program_id(2), program_id(1));
    let (w, c) = corner::<Q, C>(dx.dim(3).to::<i32>());
    let channels = (c + arange(0, C)).expand_dims(0);
    let (height, width) = (x.dim(1).to::<i32>(), x.dim(2).to::<i32>());
    // Counted from the first row and column of the padding on.
    let (h, columns) = (of.first + row + of.padding_h, (w + arange(0, Q)).expand_dims(1) + of.padding_w);
    let mut sum = zeros::<f32>([Q, C]);
    for a in 0..of.most_h {
        let p = h / of.stride_h - a;
        let down = h - p * of.stride_h;
        let i = down / of.dilation_h;
        if p >= 0 && p < dy.dim(1).to::<i32>() && i < of.down && i * of.dilation_h == down {
            for b in 0..of.most_w {
                let q = columns / of.stride_w - b;
                let right = columns - q * of.stride_w;
                let j = right / of.dilation_w;
                let holds = (j < of.across) & (j * of.dilation_w == right);
                let (mut most, mut taken) = (full([Q, C], f32::NEG_INFINITY), full([Q, C], -1));
                for k in 0..of.down {
                    let y = p * of.stride_h - of.padding_h + k * of.dilation_h;
                    if y >= 0 && y < height {
                        for l in 0..of.across {
                            let x_of = q * of.stride_w - of.padding_w + l * of.dilation_w;
                            let inside = (x_of >= 0) & (x_of < width);
                            let v = x.gather((n, y, x_of, channels), holds).to::<f32>();
                            let is = inside & ((v > most) | (v != v) | (taken < 0));
                            (most, taken) = (select(is, v, most), select(is, k * of.across + l, taken));
                        }
                    }
                }
                let g = dy.gather((n, p, q, channels), holds).to::<f32>();
                sum += select(taken == i * of.across + j, g, 0.0);
            }
        }
    }
    dx.store([n, row, w, c], sum.to::<T>().reshape([1, 1, Q, C]));
}

/// y\[n, p, q, c\] = max x\[n, p · stride + i · dilation − padding, .., c\] over the rows i and columns of a window of `window`, as
/// `torch.nn.functional.max_pool2d` and `torch.nn.MaxPool2d` with channels last. What pads an image is in no window. y has
/// p = (h + 2 · padding − dilation · (i − 1) − 1) / stride + 1 places down, for a window of i rows, and q across likewise:
/// [`output_shape`](super::output_shape).
///
/// Bits are copied. A NaN reaches exactly the outputs whose windows hold it.
///
/// Any strides of views will do; channels that are neighbours in memory, and a multiple of 16 bytes, are read as vectors.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::max_pool;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 5.0, 2.0, 3.0, 4.0, 0.0, 7.0, 6.0], [1, 2, 4, 1])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 1, 2, 1])?;
/// max_pool(&x, (2, 2), &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [5.0, 7.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(MaxPool)]
pub fn max_pool<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    window: (usize, usize),
    #[axes(n, p, q, c)] mut y: ViewMut<T, 4>,
    /// Stride along h and w. Default: the window.
    stride: Option<(usize, usize)>,
    /// Padding along h and w, on either side, of at most half of the window. Default: (0, 0).
    #[default((0, 0))]
    padding: (usize, usize),
    /// Dilation: the distance of neighbours of the window along h and w. Default: (1, 1).
    #[default((1, 1))]
    dilation: (usize, usize),
) -> Result<()> {
    let ([_, h, w, _], shape) = (x.shape(), y.shape());
    let options = Options { window, stride, padding, dilation };
    let windows = Windows::new(call, "y", [h, w], [shape[1], shape[2]], options)?;
    if shape.contains(&0) {
        return Ok(());
    }
    for (images, rows) in launches(shape) {
        let grid = grid(shape, &images, &rows, PIXELS);
        let of = Windows { first: rows.start as i32, ..windows };
        let (x, y) = (x.narrow(0, images.clone())?, y.reborrow().narrow(0, images)?.narrow(1, rows)?);
        call.launch(max_pool_kernel::<T, PIXELS, CHANNELS>(x, y, of), grid)?;
    }
    Ok(())
}

/// dx\[n, h, w, c\] = Σ dy\[n, p, q, c\] over the windows whose greatest pixel this is: the gradient of [`max_pool`], with the same options. x is
/// \[n, h, w, c\], dy is \[n, p, q, c\], dx is \[n, h, w, c\].
///
/// Of several pixels that are the greatest the first one by rows has the gradient, and the last NaN before all numbers, as in PyTorch. No index is
/// stored: a pixel searches the windows that hold it again, in one order. The result is the same each time.
///
/// A NaN of dy reaches the greatest pixel of its window alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::pool::max_pool_backward;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 5.0, 7.0, 3.0, 5.0, 0.0, 7.0, 6.0], [1, 2, 4, 1])?;
/// let dy = stream.tensor(&[0.5f32, 2.0], [1, 1, 2, 1])?;
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 2, 4, 1])?;
/// max_pool_backward(&x, &dy, (2, 2), &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [0.0, 0.5, 2.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(MaxPoolBackward)]
pub fn max_pool_backward<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    #[axes(n, p, q, c)] dy: View<T, 4>,
    window: (usize, usize),
    #[axes(n, h, w, c)] mut dx: ViewMut<T, 4>,
    /// As of [`MaxPool::stride`].
    stride: Option<(usize, usize)>,
    /// As of [`MaxPool::padding`].
    #[default((0, 0))]
    padding: (usize, usize),
    /// As of [`MaxPool::dilation`].
    #[default((1, 1))]
    dilation: (usize, usize),
) -> Result<()> {
    let ([_, p, q, _], shape) = (dy.shape(), dx.shape());
    let options = Options { window, stride, padding, dilation };
    let windows = Windows::new(call, "dy", [shape[1], shape[2]], [p, q], options)?;
    if shape.contains(&0) {
        return Ok(());
    }
    for (images, rows) in launches(shape) {
        let grid = grid(shape, &images, &rows, FEW);
        let of = Windows { first: rows.start as i32, ..windows };
        let (x, dy) = (x.narrow(0, images.clone())?, dy.narrow(0, images.clone())?);
        let dx = dx.reborrow().narrow(0, images)?.narrow(1, rows)?;
        call.launch(max_pool_backward_kernel::<T, FEW, CHANNELS>(x, dy, dx, of), grid)?;
    }
    Ok(())
}
