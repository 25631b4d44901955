//! Convolutions and their gradients as implicit products of matrices, shift-convolutions, and pixel shuffle.
//!
//! A convolution is a product whose left operand is read out of the image while it is multiplied: Tillet's thesis (2020), section 4.1.2, and
//! Tillet and Cox, "Input-aware auto-tuning of compute-bound HPC kernels" (SC 2017), section 3.3. There, tables of increments spare the divisions that
//! find an element of the window. Here a division by the same number again and again is a multiplication by its reciprocal, which takes no memory.
//!
//! The axes of views are those of NHWC, `[N, H, W, C]` and `[K, R, S, C]`; an image that is stored NCHW is passed as a permuted view. Both orders
//! have loads that are coalesced.

mod backward_input;
mod backward_weight;
mod copy;
mod forward;
mod geometry;
mod kernels;
mod product;
mod shape;
mod shift;
mod shuffle;

pub use backward_input::{Conv2dBackwardInput, conv2d_backward_input};
pub use backward_weight::{Conv2dBackwardWeight, conv2d_backward_weight};
pub use forward::{Conv2d, conv2d};
pub use shift::{ShiftConv, Shifts, shift_conv};
pub use shuffle::{PixelShuffle, PixelShuffleBackward, pixel_shuffle, pixel_shuffle_backward};

/// The shape \[n, p, q, k\] of [`conv2d`]'s output, of x \[n, h, w, c\] and w \[k, r, s, c\].
///
/// ```
/// assert_eq!(triton_kernels::conv::output_shape([8, 224, 224, 3], [64, 7, 7, 3], (2, 2), (3, 3), (1, 1)), [8, 112, 112, 64]);
/// ```
pub fn output_shape(
    x: [usize; 4],
    w: [usize; 4],
    stride: (usize, usize),
    padding: (usize, usize),
    dilation: (usize, usize),
) -> [usize; 4] {
    let down = geometry::places(x[1], w[1], stride.0.max(1), padding.0, dilation.0);
    let across = geometry::places(x[2], w[2], stride.1.max(1), padding.1, dilation.1);
    [x[0], down, across, w[0]]
}
