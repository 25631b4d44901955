//! The gradient of a convolution's filters.

use super::copy::{CopyInstance, Room, is_columns, output};
use super::forward::rows;
use super::geometry::{Taps, Window, even_splits};
use super::grouped;
use super::kernels::{ConvWeightPool, conv_weight_pool, conv_weight_tuned};
use super::product::is_flat;
use super::shape::{Geometry, Options};
use crate::Result;
use crate::element::FloatElement;
use crate::grid::MOST;
use crate::linear::{GemmElement, gemm};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// dw\[k, r, s, c\] = Σ dy\[n, p, q, k\] · x\[n, p · stride + r · dilation − padding, .., c\] over n, p and q.
///
/// There are many places and few filters: the places are divided among programs, whose sums are added in one order.
///
/// A NaN or an infinity in x reaches the elements of the window that see it, and one in dy all elements of its filter.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv2d_backward_weight;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::best().stream()?;
/// let (x, dy) = (stream.tensor(&[1.0f32, 2.0, 3.0, 4.0], [1, 1, 4, 1])?, stream.tensor(&[1.0f32, 10.0, 100.0], [1, 1, 3, 1])?);
/// let mut dw = stream.tensor_uninit::<f32, _>([1, 1, 2, 1])?;
/// conv2d_backward_weight(&x, &dy, &mut dw).launch(&stream)?;
/// assert_eq!(stream.download(&dw)?, [321.0, 432.0]);
/// # Ok(())
/// # }
/// ```
#[operation(Conv2dBackwardWeight)]
pub fn conv2d_backward_weight<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    #[axes(n, p, q, k)] dy: View<T, 4>,
    #[axes(k, r, s, d)] dw: ViewMut<T, 4>,
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
    grouped::check(call, "dw", x.shape()[3], [dw.shape()[0], dw.shape()[3]], 3, groups)?;
    backward_weight(call, x, dy, dw, options)
}

/// The gradient of filters, whose numbers of channels fit.
pub(super) fn backward_weight<'a, T: FloatElement + GemmElement<T>>(
    call: Call<'a>,
    x: View<'a, T, 4>,
    dy: View<'a, T, 4>,
    mut dw: ViewMut<'a, T, 4>,
    options: Options,
) -> Result<()>
where
    triton::Compiled: Kernels<T> + grouped::Kernels<T>,
{
    let geometry = Geometry::new(call, "dy", x.shape(), dw.shape(), dy.shape(), options)?;
    if options.groups > 1 {
        let Some(parts) = grouped::apart(&geometry) else { return grouped::weight(x, dy, dw, &geometry, call) };
        let options = Options { groups: 1, ..options };
        for [channels, filters] in parts {
            let (x, dy) = (x.narrow(3, channels)?, dy.narrow(3, filters.clone())?);
            backward_weight(call, x, dy, dw.reborrow().narrow(0, filters)?, options)?;
        }
        return Ok(());
    }
    if geometry.is_pointwise()
        && options.splits.is_none()
        && let (Ok(x), Ok(dy)) = (rows(x), rows(dy))
    {
        return gemm(dy.transpose(), x, dw.select(1, 0)?.select(1, 0)?).deterministic(true).call(call);
    }
    let (mut of_x, mut of_dy) = (Room::new(), Room::new());
    let columns = |x: View<'_, T, 4>| is_columns(x.shape(), x.strides());
    let x = of_x.operand(x, columns(x), call)?;
    let (columns, flat) = (columns(x), is_flat(geometry.channels, 64));
    let dy = of_dy.operand(dy, columns, call)?;
    output(dw, false, call, |dw| match (columns, flat) {
        (false, false) => enqueue::<T, false, false>(x, dy, dw, &geometry, [0; 2], call),
        (false, true) => enqueue::<T, false, true>(x, dy, dw, &geometry, [0; 2], call),
        (true, false) => enqueue::<T, true, false>(x, dy, dw, &geometry, [0; 2], call),
        (true, true) => enqueue::<T, true, true>(x, dy, dw, &geometry, [0; 2], call),
    })
}

/// The kernels of all orders, for code that is generic over the element type.
pub(super) trait Kernels<T>:
    ConvWeightPool<T, false, false>
    + ConvWeightPool<T, false, true>
    + ConvWeightPool<T, true, false>
    + ConvWeightPool<T, true, true>
    + CopyInstance<T>
{
}

impl Kernels<f32> for triton::Compiled {}
impl Kernels<f16> for triton::Compiled {}
impl Kernels<bf16> for triton::Compiled {}

/// Enqueues it for a part of the window, which begins at the element `begin` of the whole one.
fn enqueue<'a, T: FloatElement, const COLUMNS: bool, const FLAT: bool>(
    x: View<'a, T, 4>,
    dy: View<'a, T, 4>,
    mut dw: ViewMut<'a, T, 4>,
    geometry: &Geometry,
    begin: [usize; 2],
    call: Call<'_>,
) -> Result<()>
where
    triton::Compiled: ConvWeightPool<T, COLUMNS, FLAT>,
{
    let Geometry { images, window, output, channels, filters, options, .. } = *geometry;
    let elements = window[0] * window[1];
    if filters * elements * channels == 0 {
        return Ok(());
    }
    let tile = conv_weight_pool::<T, COLUMNS, FLAT>().members()[0].choice();
    let (side, step) = (tile.BN as usize, tile.BK as usize);
    let deep = if FLAT { channels } else { channels.div_ceil(side) };
    let across = if FLAT { (elements * channels).div_ceil(side) } else { elements * deep };
    if across > MOST {
        // Half of the window, or of the channels, at a time.
        let Some(axis) = [0, 1].into_iter().find(|axis| window[*axis] > 1) else {
            let half = channels / 2;
            for of in [0..half, half..channels] {
                let geometry = Geometry { channels: of.len(), ..*geometry };
                let (x, dw) = (x.narrow(3, of.clone())?, dw.reborrow().narrow(3, of)?);
                enqueue::<T, COLUMNS, FLAT>(x, dy, dw, &geometry, begin, call)?;
            }
            return Ok(());
        };
        let half = window[axis] / 2;
        for of in [0..half, half..window[axis]] {
            let (mut part, mut from) = (*geometry, begin);
            (part.window[axis], from[axis]) = (of.len(), begin[axis] + of.start);
            enqueue::<T, COLUMNS, FLAT>(x, dy, dw.reborrow().narrow(1 + axis, of)?, &part, from, call)?;
        }
        return Ok(());
    }
    let places = images * output[0] * output[1];
    let (down, steps) = (filters.div_ceil(side), places.div_ceil(step));
    let (count, chunk) = even_splits(options.splits, down * across, steps, call.multiprocessors());
    let taps = [0, 1].map(|i| {
        let taps = Taps::of_output(window[i], options.padding[i], options.dilation[i]);
        Taps { from: taps.from + begin[i] as i32 * taps.by, ..taps }
    });
    let numbers = Window::new(output, options.stride, taps, deep);
    let numbers = Window { steps: steps as i32, chunk: chunk as i32, ..numbers };
    let shape = if count > 1 { [count, filters, across * side] } else { [0; 3] };
    let of_done = if count > 1 { down * across } else { 0 };
    let (mut parts, mut done) = (call.scratch::<f32>(shape.iter().product())?, call.scratch::<i32>(of_done)?);
    let (parts, done) = (parts.view_mut(shape)?, done.view_mut([of_done])?);
    let order = [0, 3, 1, 2];
    let (x, dy) = if COLUMNS { (x.permute(order)?, dy.permute(order)?) } else { (x, dy) };
    let kernel = conv_weight_tuned::<T, COLUMNS, FLAT>(x, dy, dw, parts, done, numbers);
    call.tuned(kernel, |_| true, |_| (down, across, count))
}
