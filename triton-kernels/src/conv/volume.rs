//! Convolutions of volumes: what a window sees of the depth becomes channels, and the rest is a convolution of images.

use super::backward_input::backward_input;
use super::backward_weight::backward_weight;
use super::forward::forward;
use super::geometry::places;
use super::shape::Options;
use crate::Result;
use crate::activation::Activation;
use crate::element::FloatElement;
use crate::elementwise::{CopyTo, copy};
use crate::error::extent;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Along the depth: elements of the window, stride, padding, dilation.
#[derive(Clone, Copy, Debug)]
struct Depth {
    window: usize,
    stride: usize,
    padding: usize,
    dilation: usize,
}

impl Depth {
    /// The places of those outputs, and the first input, of which an element of the window sees an input: of `places` and of `extent` inputs.
    fn inside(self, element: usize, places: usize, extent: usize) -> (std::ops::Range<usize>, usize) {
        let by = element * self.dilation;
        let first = self.padding.saturating_sub(by).div_ceil(self.stride);
        let last = (extent + self.padding).saturating_sub(by).div_ceil(self.stride).min(places);
        (first..last.max(first), (first * self.stride + by).saturating_sub(self.padding))
    }
}

/// out\[n, o, h, w, t · c\] = x\[n, o · stride + t · dilation − padding, h, w, c\], of x \[n, d, h, w, c\], and 0 where there is no such element.
fn unfolded<T: FloatElement + CopyTo<T>>(
    call: Call<'_>,
    x: View<'_, T, 5>,
    mut out: ViewMut<'_, T, 5>,
    of: Depth,
) -> Result<()> {
    let ([n, extent, h, w, c], [_, count, ..]) = (x.shape(), out.shape());
    let zero = call.constants(&[T::from_bits(0)])?;
    for element in 0..of.window {
        let mut part = out.reborrow().narrow(4, element * c..(element + 1) * c)?;
        let (inside, first) = of.inside(element, count, extent);
        for outside in [0..inside.start.min(count), inside.end.min(count)..count] {
            copy(zero.view([1])?, part.reborrow().narrow(1, outside)?).call(call)?;
        }
        if !inside.is_empty() {
            let [of_n, of_d, of_h, of_w, of_c] = x.strides();
            let (count, strides) = (inside.len(), [of_n, of_d * of.stride as isize, of_h, of_w, of_c]);
            let seen = x.narrow(1, first..)?.as_strided([n, count, h, w, c], strides)?;
            copy(seen, part.narrow(1, inside)?).call(call)?;
        }
    }
    Ok(())
}

/// The same of a gradient dy \[n, o, p, q, k\] and the inputs that it belongs to: out\[n, d, p, q, t · k\] = dy\[n, (d + padding − t · dilation) / stride, p, q, k\], 0 where
/// there is no such place.
fn spread<T: FloatElement + CopyTo<T>>(
    call: Call<'_>,
    dy: View<'_, T, 5>,
    mut out: ViewMut<'_, T, 5>,
    of: Depth,
) -> Result<()> {
    let ([n, count, p, q, k], [_, extent, ..]) = (dy.shape(), out.shape());
    let zero = call.constants(&[T::from_bits(0)])?;
    copy(zero.view([1])?, out.reborrow()).call(call)?;
    for element in 0..of.window {
        let (inside, first) = of.inside(element, count, extent);
        if inside.is_empty() {
            continue;
        }
        let part = out.reborrow().narrow(4, element * k..(element + 1) * k)?.narrow(1, first..)?;
        let [of_n, of_d, of_p, of_q, of_k] = part.strides();
        let strides = [of_n, of_d * of.stride as isize, of_p, of_q, of_k];
        let part = part.as_strided([n, inside.len(), p, q, k], strides)?;
        copy(dy.narrow(1, inside)?, part).call(call)?;
    }
    Ok(())
}

/// A volume of \[N, O, H, W, C\] that is contiguous along N and O as images.
fn images<'a, T: Element>(x: View<'a, T, 5>) -> triton::Result<View<'a, T, 4>> {
    let [n, d, h, w, c] = x.shape();
    x.reshape([n * d, h, w, c])
}

/// Checks the depth, and makes the options of the images.
fn options(
    call: Call<'_>,
    of_y: &'static str,
    [x, w, y]: [[usize; 5]; 3],
    numbers: [(usize, usize, usize); 3],
    splits: Option<usize>,
) -> Result<(Depth, Options)> {
    let [stride, padding, dilation] = numbers;
    let depth = Depth { window: w[1], stride: stride.0, padding: padding.0, dilation: dilation.0 };
    for (name, found) in [("stride", depth.stride), ("dilation", depth.dilation)] {
        call.value(name, found, (1..1 << 30).contains(&found), "numbers from 1 to 2³⁰", "1 leaves nothing out")?;
    }
    call.value("padding", depth.padding, depth.padding < 1 << 30, "numbers below 2³⁰", "no volume is so large")?;
    let expected = places(x[1], depth.window, depth.stride, depth.padding, depth.dilation);
    let fix =
        "(extent + 2 · padding − dilation · (window − 1) − 1) / stride + 1 places follow from x, w and the options";
    extent(call.op, of_y, 1, [y[1], expected], fix)?;
    let pair = |of: (usize, usize, usize)| (of.1, of.2);
    let of_images = Options::new(pair(stride), pair(padding), pair(dilation), splits, 1);
    Ok((depth, Options { first: 2, ..of_images }))
}

/// y\[n, o, p, q, k\] = Σ x\[n, o · stride + t · dilation − padding, p · stride + r · dilation − padding, .., c\] · w\[k, t, r, s, c\] over t, r, s and c, as `torch.nn.functional.conv3d` and
/// `torch.nn.Conv3d` with channels last. Strides, paddings and dilations are those along d, h and w.
///
/// What a window sees of the depth is copied to channels, so that x takes t times its memory for a while, and [`conv2d`](super::conv2d) does the rest. Products are added in `f32` and
/// rounded once.
///
/// A NaN or an infinity reaches exactly the outputs whose windows hold it.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv3d;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// // Three slices of one pixel, and windows of two slices.
/// let (x, w) = (stream.tensor(&[1.0f32, 2.0, 3.0], [1, 3, 1, 1, 1])?, stream.tensor(&[1.0f32, 10.0], [1, 2, 1, 1, 1])?);
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2, 1, 1, 1])?;
/// conv3d(&x, &w, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [21.0, 32.0]);
/// # Ok(())
/// # }
/// ```
///
/// Its gradient: `conv3d_backward_input` and `conv3d_backward_weight`.
#[operation(Conv3d, tuned)]
pub fn conv3d<T: FloatElement>(
    call: Call,
    #[axes(n, d, h, w, c)] x: View<T, 5>,
    #[axes(k, t, r, s, c)] w: View<T, 5>,
    #[axes(n, o, p, q, k)] mut y: ViewMut<T, 5>,
    /// As of [`Conv2d::bias`](super::Conv2d::bias).
    #[axes(k)]
    bias: Option<View<T, 1>>,
    /// As of [`Conv2d::activation`](super::Conv2d::activation).
    #[default(Activation::Identity)]
    activation: Activation,
    /// As of [`Conv2d::stride`](super::Conv2d::stride).
    #[default((1, 1, 1))]
    stride: (usize, usize, usize),
    /// As of [`Conv2d::padding`](super::Conv2d::padding).
    #[default((0, 0, 0))]
    padding: (usize, usize, usize),
    /// As of [`Conv2d::dilation`](super::Conv2d::dilation).
    #[default((1, 1, 1))]
    dilation: (usize, usize, usize),
    /// As of [`Conv2d::splits`](super::Conv2d::splits).
    #[check(splits > 0, "a number from 1 on", "1 does not split")]
    splits: Option<usize>,
) -> Result<()> {
    let shapes = [x.shape(), w.shape(), y.shape()];
    let (depth, options) = options(call, "y", shapes, [stride, padding, dilation], splits)?;
    let ([n, _, h, width, c], [k, t, r, s, _], [_, o, p, q, _]) = (x.shape(), w.shape(), y.shape());
    let mut room = call.workspace::<T>(n * o * h * width * t * c)?;
    unfolded(call, x, room.view_mut([n, o, h, width, t * c])?, depth)?;
    let mut filters = call.workspace::<T>(k * r * s * t * c)?;
    copy(w.permute([0, 2, 3, 1, 4])?, filters.view_mut([k, r, s, t, c])?).call(call)?;
    let (x, w) = (images(room.view([n, o, h, width, t * c])?)?, filters.view([k, r, s, t * c])?);
    if y.as_view().reshape([n * o, p, q, k]).is_ok() {
        return forward(call, x, w, y.reshape([n * o, p, q, k])?, bias, activation, options);
    }
    let mut out = call.workspace::<T>(n * o * p * q * k)?;
    forward(call, x, w, out.view_mut([n * o, p, q, k])?, bias, activation, options)?;
    copy(out.view([n, o, p, q, k])?, y.reborrow()).call(call)
}

/// The gradient of [`conv3d`] for x: dx\[n, d, h, w, c\] = Σ dy\[n, o, p, q, k\] · w\[k, t, r, s, c\] over all that it multiplies with the element.
///
/// A NaN or an infinity in dy reaches exactly the elements of its window.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv3d_backward_input;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (dy, w) = (stream.tensor(&[1.0f32, 2.0], [1, 2, 1, 1, 1])?, stream.tensor(&[1.0f32, 10.0], [1, 2, 1, 1, 1])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 3, 1, 1, 1])?;
/// conv3d_backward_input(&dy, &w, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [1.0, 12.0, 20.0]);
/// # Ok(())
/// # }
/// ```
#[operation(Conv3dBackwardInput, tuned)]
pub fn conv3d_backward_input<T: FloatElement>(
    call: Call,
    #[axes(n, o, p, q, k)] dy: View<T, 5>,
    #[axes(k, t, r, s, c)] w: View<T, 5>,
    #[axes(n, d, h, w, c)] mut dx: ViewMut<T, 5>,
    /// As of [`Conv2d::stride`](super::Conv2d::stride).
    #[default((1, 1, 1))]
    stride: (usize, usize, usize),
    /// As of [`Conv2d::padding`](super::Conv2d::padding).
    #[default((0, 0, 0))]
    padding: (usize, usize, usize),
    /// As of [`Conv2d::dilation`](super::Conv2d::dilation).
    #[default((1, 1, 1))]
    dilation: (usize, usize, usize),
    /// As of [`Conv2d::splits`](super::Conv2d::splits).
    #[check(splits > 0, "a number from 1 on", "1 does not split")]
    splits: Option<usize>,
) -> Result<()> {
    let shapes = [dx.shape(), w.shape(), dy.shape()];
    let (depth, options) = options(call, "dy", shapes, [stride, padding, dilation], splits)?;
    let ([n, d, h, width, c], [k, t, r, s, _], [_, _, p, q, _]) = (dx.shape(), w.shape(), dy.shape());
    let mut room = call.workspace::<T>(n * d * p * q * t * k)?;
    spread(call, dy, room.view_mut([n, d, p, q, t * k])?, depth)?;
    let mut filters = call.workspace::<T>(t * k * r * s * c)?;
    copy(w.permute([1, 0, 2, 3, 4])?, filters.view_mut([t, k, r, s, c])?).call(call)?;
    let (dy, w) = (images(room.view([n, d, p, q, t * k])?)?, filters.view([t * k, r, s, c])?);
    let plain = (None, Activation::Identity);
    if dx.as_view().reshape([n * d, h, width, c]).is_ok() {
        return backward_input(call, dy, w, dx.reshape([n * d, h, width, c])?, "dy", plain, options);
    }
    let mut out = call.workspace::<T>(n * d * h * width * c)?;
    backward_input(call, dy, w, out.view_mut([n * d, h, width, c])?, "dy", plain, options)?;
    copy(out.view([n, d, h, width, c])?, dx.reborrow()).call(call)
}

/// The gradient of [`conv3d`] for w: dw\[k, t, r, s, c\] = Σ dy\[n, o, p, q, k\] · x\[n, o · stride + t · dilation − padding, .., c\] over n, o, p and q.
///
/// A NaN or an infinity in x reaches the elements of the window that see it, and one in dy all elements of its filter.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv3d_backward_weight;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::cpu().stream()?;
/// let (x, dy) = (stream.tensor(&[1.0f32, 2.0, 3.0], [1, 3, 1, 1, 1])?, stream.tensor(&[1.0f32, 10.0], [1, 2, 1, 1, 1])?);
/// let mut dw = stream.tensor_uninit::<f32, _>([1, 2, 1, 1, 1])?;
/// conv3d_backward_weight(&x, &dy, &mut dw).launch(&stream)?;
/// assert_eq!(stream.download(&dw)?, [21.0, 32.0]);
/// # Ok(())
/// # }
/// ```
#[operation(Conv3dBackwardWeight)]
pub fn conv3d_backward_weight<T: FloatElement>(
    call: Call,
    #[axes(n, d, h, w, c)] x: View<T, 5>,
    #[axes(n, o, p, q, k)] dy: View<T, 5>,
    #[axes(k, t, r, s, c)] dw: ViewMut<T, 5>,
    /// As of [`Conv2d::stride`](super::Conv2d::stride).
    #[default((1, 1, 1))]
    stride: (usize, usize, usize),
    /// As of [`Conv2d::padding`](super::Conv2d::padding).
    #[default((0, 0, 0))]
    padding: (usize, usize, usize),
    /// As of [`Conv2d::dilation`](super::Conv2d::dilation).
    #[default((1, 1, 1))]
    dilation: (usize, usize, usize),
    /// As of [`Conv2d::splits`](super::Conv2d::splits).
    #[check(splits > 0, "a number from 1 on", "1 does not split")]
    splits: Option<usize>,
) -> Result<()> {
    let shapes = [x.shape(), dw.shape(), dy.shape()];
    let (depth, options) = options(call, "dy", shapes, [stride, padding, dilation], splits)?;
    let ([n, _, h, width, c], [k, t, r, s, _], [_, o, p, q, _]) = (x.shape(), dw.shape(), dy.shape());
    let mut room = call.workspace::<T>(n * o * h * width * t * c)?;
    unfolded(call, x, room.view_mut([n, o, h, width, t * c])?, depth)?;
    let mut of_dy = None;
    let dy = match dy.reshape([n * o, p, q, k]) {
        Ok(dy) => dy,
        Err(_) => {
            let room = of_dy.insert(call.workspace::<T>(n * o * p * q * k)?);
            copy(dy, room.view_mut([n, o, p, q, k])?).call(call)?;
            room.view([n * o, p, q, k])?
        }
    };
    let mut filters = call.workspace::<T>(k * r * s * t * c)?;
    let x = images(room.view([n, o, h, width, t * c])?)?;
    backward_weight(call, x, dy, filters.view_mut([k, r, s, t * c])?, options)?;
    copy(filters.view([k, r, s, t, c])?.permute([0, 3, 1, 2, 4])?, dw).call(call)
}
