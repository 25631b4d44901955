//! Transposed convolutions.

use super::backward_input::backward_input;
use super::grouped;
use super::shape::Options;
use crate::Result;
use crate::activation::Activation;
use crate::element::FloatElement;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// y\[n, h · stride + r · dilation − padding, .., k\] += x\[n, h, w, c\] · w\[c, r, s, k\], over all of them: as `torch.nn.ConvTranspose2d` with channels last, the transpose of
/// [`conv2d`](super::conv2d) with a bias and an activation. y has (h − 1) · stride − 2 · padding + dilation · (r − 1) + 1 rows, or up to stride − 1 more, as with
/// PyTorch's `output_padding`: those from which a convolution of this stride makes h.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv_transpose2d;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (x, w) = (stream.tensor(&[1.0f32, 10.0], [1, 1, 2, 1])?, stream.tensor(&[1.0f32, 2.0, 3.0], [1, 1, 3, 1])?);
/// let (bias, mut y) = (stream.tensor(&[100.0f32], [1])?, stream.tensor_uninit::<f32, _>([1, 1, 5, 1])?);
/// conv_transpose2d(&x, &w, &mut y).stride((1, 2)).bias(&bias).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [101.0, 102.0, 113.0, 120.0, 130.0]);
/// # Ok(())
/// # }
/// ```
///
/// A NaN or an infinity in x reaches exactly the places of its window. Its gradient: [`conv2d`](super::conv2d) of dy, and [`conv2d_backward_weight`](super::conv2d_backward_weight) of dy as the
/// image and x as the gradient.
#[doc(alias("deconvolution"))]
#[operation(ConvTranspose2d, tuned)]
pub fn conv_transpose2d<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    #[axes(c, r, s, d)] w: View<T, 4>,
    #[axes(n, p, q, k)] y: ViewMut<T, 4>,
    /// As of [`Conv2d::bias`](super::Conv2d::bias).
    #[axes(k)]
    bias: Option<View<T, 1>>,
    /// As of [`Conv2d::activation`](super::Conv2d::activation).
    #[default(Activation::Identity)]
    activation: Activation,
    /// As of [`Conv2d::stride`](super::Conv2d::stride).
    #[default((1, 1))]
    stride: (usize, usize),
    /// As of [`Conv2d::padding`](super::Conv2d::padding).
    #[default((0, 0))]
    padding: (usize, usize),
    /// As of [`Conv2d::dilation`](super::Conv2d::dilation).
    #[default((1, 1))]
    dilation: (usize, usize),
    /// As of [`Conv2d::splits`](super::Conv2d::splits).
    #[check(splits > 0, "a number from 1 on", "1 does not split")]
    splits: Option<usize>,
    /// As of [`Conv2d::groups`](super::Conv2d::groups).
    #[default(1)]
    groups: usize,
) -> Result<()> {
    let options = Options::new(stride, padding, dilation, splits, groups);
    grouped::check(call, "w", y.shape()[3], [w.shape()[0], w.shape()[3]], 3, groups)?;
    backward_input(call, x, w, y, "x", (bias, activation), options)
}
