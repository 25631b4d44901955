//! Pooling of images, images in another size, and padding, with their gradients.
//!
//! The axes of views are those of NHWC, \[n, h, w, c\], as of [convolutions](crate::conv); an image that is stored NCHW is passed as a permuted view.
//! Channels are the axis that is read and written in vectors. Gradients are gathered: each pixel adds what the results that it is in have for it,
//! in one order, so that a result is the same each time.

mod adaptive;
mod average;
mod max;
mod pad;
mod shape;
mod upsample;

pub use adaptive::{AdaptiveAvgPool, AdaptiveAvgPoolBackward, adaptive_avg_pool, adaptive_avg_pool_backward};
pub use average::{AvgPool, AvgPoolBackward, avg_pool, avg_pool_backward};
pub use max::{MaxPool, MaxPoolBackward, max_pool, max_pool_backward};
pub use pad::{Pad, PadBackward, Padding, pad, pad_backward};
pub use upsample::{Interpolation, Upsample, UpsampleBackward, upsample, upsample_backward};

/// The shape \[n, p, q, c\] of the output of [`max_pool`] and [`avg_pool`], of x \[n, h, w, c\].
///
/// ```
/// assert_eq!(triton_kernels::pool::output_shape([8, 112, 112, 64], (3, 3), (2, 2), (1, 1), (1, 1)), [8, 56, 56, 64]);
/// ```
pub fn output_shape(
    x: [usize; 4],
    window: (usize, usize),
    stride: (usize, usize),
    padding: (usize, usize),
    dilation: (usize, usize),
) -> [usize; 4] {
    let down = shape::places(x[1], window.0, stride.0.max(1), padding.0, dilation.0);
    let across = shape::places(x[2], window.1, stride.1.max(1), padding.1, dilation.1);
    [x[0], down, across, x[3]]
}
