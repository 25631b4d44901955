//! Convolutions of lines: images of one row.

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

/// The options of images of one row.
fn options(stride: usize, padding: usize, dilation: usize, splits: Option<usize>, groups: usize) -> Options {
    Options { first: 0, ..Options::new((1, stride), (0, padding), (1, dilation), splits, groups) }
}

/// \[N, L, C\] as \[N, 1, L, C\].
fn image<'a, T: Element>(x: View<'a, T, 3>) -> triton::Result<View<'a, T, 4>> {
    View::<T, 4>::from(x).permute([1, 0, 2, 3])
}

/// The same to be written.
fn image_mut<'a, T: Element>(x: ViewMut<'a, T, 3>) -> triton::Result<ViewMut<'a, T, 4>> {
    ViewMut::<T, 4>::from(x).permute([1, 0, 2, 3])
}

/// y\[n, q, k\] = Σ x\[n, q · stride + s · dilation − padding, c\] · w\[k, s, c\] over s and c, as `torch.nn.functional.conv1d` and `torch.nn.Conv1d` with channels last: a
/// [`conv2d`](super::conv2d) of images of one row. y has q = (l + 2 · padding − dilation · (s − 1) − 1) / stride + 1 places. What is stored \[N, C, L\] is passed
/// permuted.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv1d;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (x, w) = (stream.tensor(&[1.0f32, 2.0, 3.0, 4.0], [1, 4, 1])?, stream.tensor(&[1.0f32, 10.0], [1, 2, 1])?);
/// let mut y = stream.tensor_uninit::<f32, _>([1, 3, 1])?;
/// conv1d(&x, &w, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [21.0, 32.0, 43.0]);
/// # Ok(())
/// # }
/// ```
///
/// A NaN or an infinity reaches what it reaches there. Its gradient: `conv1d_backward_input` and `conv1d_backward_weight`.
#[operation(Conv1d, tuned)]
pub fn conv1d<T: FloatElement>(
    call: Call,
    #[axes(n, l, c)] x: View<T, 3>,
    #[axes(k, s, d)] w: View<T, 3>,
    #[axes(n, q, k)] y: ViewMut<T, 3>,
    /// As of [`Conv2d::bias`](super::Conv2d::bias).
    #[axes(k)]
    bias: Option<View<T, 1>>,
    /// As of [`Conv2d::activation`](super::Conv2d::activation).
    #[default(Activation::Identity)]
    activation: Activation,
    /// As of [`Conv2d::stride`](super::Conv2d::stride).
    #[default(1)]
    stride: usize,
    /// As of [`Conv2d::padding`](super::Conv2d::padding).
    #[default(0)]
    padding: usize,
    /// As of [`Conv2d::dilation`](super::Conv2d::dilation).
    #[default(1)]
    dilation: usize,
    /// As of [`Conv2d::splits`](super::Conv2d::splits).
    #[check(splits > 0, "a number from 1 on", "1 does not split")]
    splits: Option<usize>,
    /// As of [`Conv2d::groups`](super::Conv2d::groups).
    #[default(1)]
    groups: usize,
) -> Result<()> {
    let options = options(stride, padding, dilation, splits, groups);
    grouped::check(call, "w", x.shape()[2], [w.shape()[0], w.shape()[2]], 2, groups)?;
    forward(call, image(x)?, image(w)?, image_mut(y)?, bias, activation, options)
}

/// The gradient of [`conv1d`] for x: dx\[n, l, c\] = Σ dy\[n, q, k\] · w\[k, s, c\], as [`conv2d_backward_input`](super::conv2d_backward_input).
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv1d_backward_input;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (dy, w) = (stream.tensor(&[1.0f32, 10.0], [1, 2, 1])?, stream.tensor(&[1.0f32, 2.0, 3.0], [1, 3, 1])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 5, 1])?;
/// conv1d_backward_input(&dy, &w, &mut dx).stride(2).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [1.0, 2.0, 13.0, 20.0, 30.0]);
/// # Ok(())
/// # }
/// ```
///
/// A NaN or an infinity reaches what it reaches there.
#[operation(Conv1dBackwardInput, tuned)]
pub fn conv1d_backward_input<T: FloatElement>(
    call: Call,
    #[axes(n, q, k)] dy: View<T, 3>,
    #[axes(k, s, d)] w: View<T, 3>,
    #[axes(n, l, c)] dx: ViewMut<T, 3>,
    /// As of [`Conv2d::stride`](super::Conv2d::stride).
    #[default(1)]
    stride: usize,
    /// As of [`Conv2d::padding`](super::Conv2d::padding).
    #[default(0)]
    padding: usize,
    /// As of [`Conv2d::dilation`](super::Conv2d::dilation).
    #[default(1)]
    dilation: usize,
    /// As of [`Conv2d::splits`](super::Conv2d::splits).
    #[check(splits > 0, "a number from 1 on", "1 does not split")]
    splits: Option<usize>,
    /// As of [`Conv2d::groups`](super::Conv2d::groups).
    #[default(1)]
    groups: usize,
) -> Result<()> {
    let options = options(stride, padding, dilation, splits, groups);
    grouped::check(call, "w", dx.shape()[2], [w.shape()[0], w.shape()[2]], 2, groups)?;
    backward_input(call, image(dy)?, image(w)?, image_mut(dx)?, "dy", (None, Activation::Identity), options)
}

/// The gradient of [`conv1d`] for w: dw\[k, s, c\] = Σ dy\[n, q, k\] · x\[n, .., c\], as [`conv2d_backward_weight`](super::conv2d_backward_weight).
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv1d_backward_weight;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (x, dy) = (stream.tensor(&[1.0f32, 2.0, 3.0, 4.0], [1, 4, 1])?, stream.tensor(&[1.0f32, 10.0, 100.0], [1, 3, 1])?);
/// let mut dw = stream.tensor_uninit::<f32, _>([1, 2, 1])?;
/// conv1d_backward_weight(&x, &dy, &mut dw).launch(&stream)?;
/// assert_eq!(stream.download(&dw)?, [321.0, 432.0]);
/// # Ok(())
/// # }
/// ```
///
/// A NaN or an infinity reaches what it reaches there.
#[operation(Conv1dBackwardWeight)]
pub fn conv1d_backward_weight<T: FloatElement>(
    call: Call,
    #[axes(n, l, c)] x: View<T, 3>,
    #[axes(n, q, k)] dy: View<T, 3>,
    #[axes(k, s, d)] dw: ViewMut<T, 3>,
    /// As of [`Conv2d::stride`](super::Conv2d::stride).
    #[default(1)]
    stride: usize,
    /// As of [`Conv2d::padding`](super::Conv2d::padding).
    #[default(0)]
    padding: usize,
    /// As of [`Conv2d::dilation`](super::Conv2d::dilation).
    #[default(1)]
    dilation: usize,
    /// As of [`Conv2d::splits`](super::Conv2d::splits).
    #[check(splits > 0, "a number from 1 on", "1 does not split")]
    splits: Option<usize>,
    /// As of [`Conv2d::groups`](super::Conv2d::groups).
    #[default(1)]
    groups: usize,
) -> Result<()> {
    let options = options(stride, padding, dilation, splits, groups);
    grouped::check(call, "dw", x.shape()[2], [dw.shape()[0], dw.shape()[2]], 2, groups)?;
    backward_weight(call, image(x)?, image(dy)?, image_mut(dw)?, options)
}
