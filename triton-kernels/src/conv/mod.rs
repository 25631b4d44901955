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
mod direct;
mod forward;
mod geometry;
mod grouped;
mod kernels;
mod lines;
mod planes;
mod product;
mod shape;
mod shift;
mod shuffle;
mod transpose;
mod volume;

pub use backward_input::{Conv2dBackwardInput, conv2d_backward_input};
pub use backward_weight::{Conv2dBackwardWeight, conv2d_backward_weight};
pub use forward::{Conv2d, conv2d};
pub use lines::{
    Conv1d, Conv1dBackwardInput, Conv1dBackwardWeight, conv1d, conv1d_backward_input, conv1d_backward_weight,
};
pub use planes::{
    Conv2dNchw, Conv2dNchwBackwardInput, Conv2dNchwBackwardWeight, conv2d_nchw, conv2d_nchw_backward_input,
    conv2d_nchw_backward_weight,
};
pub use shift::{ShiftConv, Shifts, shift_conv};
pub use shuffle::{PixelShuffle, PixelShuffleBackward, pixel_shuffle, pixel_shuffle_backward};
pub use transpose::{ConvTranspose2d, conv_transpose2d};
pub use volume::{
    Conv3d, Conv3dBackwardInput, Conv3dBackwardWeight, conv3d, conv3d_backward_input, conv3d_backward_weight,
};

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
