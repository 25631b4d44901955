//! Convolutions of images that are stored plane by plane.

use super::backward_input::backward_input;
use super::backward_weight::backward_weight;
use super::forward::forward;
use super::grouped;
use super::shape::Options;
use crate::Result;
use crate::activation::Activation;
use crate::element::FloatElement;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// \[N, C, H, W\] as \[N, H, W, C\].
const LAST: [usize; 4] = [0, 2, 3, 1];

/// [`conv2d`](super::conv2d) of x \[n, c, h, w\], w \[k, c / groups, r, s\] and y \[n, k, p, q\], as `torch.nn.functional.conv2d` and `torch.nn.Conv2d` have them:
/// the same operation on permuted views.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv2d_nchw;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// // Two planes of 2 × 2, and a filter of one element for each.
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0, 10.0, 20.0, 30.0, 40.0], [1, 2, 2, 2])?;
/// let w = stream.tensor(&[1.0f32, -1.0], [2, 1, 1, 1])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2, 2, 2])?;
/// conv2d_nchw(&x, &w, &mut y).groups(2).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, 2.0, 3.0, 4.0, -10.0, -20.0, -30.0, -40.0]);
/// # Ok(())
/// # }
/// ```
///
/// A NaN or an infinity reaches what it reaches there. Its gradient: `conv2d_nchw_backward_input` and `conv2d_nchw_backward_weight`.
#[operation(Conv2dNchw, tuned)]
pub fn conv2d_nchw<T: FloatElement>(
    call: Call,
    #[axes(n, c, h, w)] x: View<T, 4>,
    #[axes(k, d, r, s)] w: View<T, 4>,
    #[axes(n, k, p, q)] y: ViewMut<T, 4>,
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
    let options = Options { first: 2, ..Options::new(stride, padding, dilation, splits, groups) };
    grouped::check(call, "w", x.shape()[1], [w.shape()[0], w.shape()[1]], 1, groups)?;
    forward(call, x.permute(LAST)?, w.permute(LAST)?, y.permute(LAST)?, bias, activation, options)
}

/// The gradient of [`conv2d_nchw`] for x: [`conv2d_backward_input`](super::conv2d_backward_input) of dy \[n, k, p, q\], w \[k, c / groups, r, s\] and dx \[n, c, h, w\].
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv2d_nchw_backward_input;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (dy, w) = (stream.tensor(&[1.0f32, 10.0], [1, 1, 1, 2])?, stream.tensor(&[1.0f32, 2.0, 3.0], [1, 1, 1, 3])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 1, 1, 5])?;
/// conv2d_nchw_backward_input(&dy, &w, &mut dx).stride((1, 2)).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [1.0, 2.0, 13.0, 20.0, 30.0]);
/// # Ok(())
/// # }
/// ```
///
/// A NaN or an infinity reaches what it reaches there.
#[operation(Conv2dNchwBackwardInput, tuned)]
pub fn conv2d_nchw_backward_input<T: FloatElement>(
    call: Call,
    #[axes(n, k, p, q)] dy: View<T, 4>,
    #[axes(k, d, r, s)] w: View<T, 4>,
    #[axes(n, c, h, w)] dx: ViewMut<T, 4>,
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
    let options = Options { first: 2, ..Options::new(stride, padding, dilation, splits, groups) };
    grouped::check(call, "w", dx.shape()[1], [w.shape()[0], w.shape()[1]], 1, groups)?;
    let plain = (None, Activation::Identity);
    backward_input(call, dy.permute(LAST)?, w.permute(LAST)?, dx.permute(LAST)?, "dy", plain, options)
}

/// The gradient of [`conv2d_nchw`] for w: [`conv2d_backward_weight`](super::conv2d_backward_weight) of x \[n, c, h, w\], dy \[n, k, p, q\] and dw \[k, c / groups, r, s\].
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv2d_nchw_backward_weight;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (x, dy) = (stream.tensor(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 1, 4])?, stream.tensor(&[1.0f32, 10.0, 100.0], [1, 1, 1, 3])?);
/// let mut dw = stream.tensor_uninit::<f32, _>([1, 1, 1, 2])?;
/// conv2d_nchw_backward_weight(&x, &dy, &mut dw).launch(&stream)?;
/// assert_eq!(stream.download(&dw)?, [321.0, 432.0]);
/// # Ok(())
/// # }
/// ```
///
/// A NaN or an infinity reaches what it reaches there.
#[operation(Conv2dNchwBackwardWeight)]
pub fn conv2d_nchw_backward_weight<T: FloatElement>(
    call: Call,
    #[axes(n, c, h, w)] x: View<T, 4>,
    #[axes(n, k, p, q)] dy: View<T, 4>,
    #[axes(k, d, r, s)] dw: ViewMut<T, 4>,
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
    let options = Options { first: 2, ..Options::new(stride, padding, dilation, splits, groups) };
    grouped::check(call, "dw", x.shape()[1], [dw.shape()[0], dw.shape()[1]], 1, groups)?;
    backward_weight(call, x.permute(LAST)?, dy.permute(LAST)?, dw.permute(LAST)?, options)
}
