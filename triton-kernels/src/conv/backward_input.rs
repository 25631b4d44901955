//! The gradient of a convolution's input.

use super::copy::{Room, is_columns, output};
use super::forward::{filters, rows, rows_mut};
use super::geometry::Taps;
use super::grouped::{self, Direct};
use super::product::{self, Product};
use super::shape::{Geometry, Options};
use crate::Result;
use crate::activation::Activation;
use crate::element::FloatElement;
use crate::linear::kernels::epilogue::Epilogue;
use crate::linear::{GemmElement, gemm};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// dx\[n, h, w, c\] = Σ dy\[n, p, q, k\] · w\[k, r, s, c\], over all that [`conv2d`](super::conv2d) multiplies with x\[n, h, w, c\].
///
/// A stride divides the input into phases, each of which is a dense convolution of dy with a part of the window, and a launch of its own:
/// nothing is multiplied by a zero that stands between two places.
///
/// A NaN or an infinity in dy reaches exactly the pixels of its window. Beyond the places of dy there are zeros, by which weights are multiplied.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv2d_backward_input;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::best().stream()?;
/// let (dy, w) = (stream.tensor(&[1.0f32, 10.0], [1, 1, 2, 1])?, stream.tensor(&[1.0f32, 2.0, 3.0], [1, 1, 3, 1])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 1, 5, 1])?;
/// // A row of 5 elements, of which windows of 3 are taken at 0 and 2.
/// conv2d_backward_input(&dy, &w, &mut dx).stride((1, 2)).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [1.0, 2.0, 13.0, 20.0, 30.0]);
/// # Ok(())
/// # }
/// ```
#[operation(Conv2dBackwardInput, tuned)]
pub fn conv2d_backward_input<T: FloatElement>(
    call: Call,
    #[axes(n, p, q, k)] dy: View<T, 4>,
    #[axes(k, r, s, d)] w: View<T, 4>,
    #[axes(n, h, w, c)] dx: ViewMut<T, 4>,
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
    grouped::check(call, "w", dx.shape()[3], [w.shape()[0], w.shape()[3]], 3, groups)?;
    backward_input(call, dy, w, dx, "dy", (None, Activation::Identity), options)
}

/// The transpose of a convolution, and what is done to its sums; `of_dy` is the name of dy in messages.
pub(super) fn backward_input<'a, T: FloatElement + GemmElement<T>>(
    call: Call<'a>,
    dy: View<'a, T, 4>,
    w: View<'a, T, 4>,
    mut dx: ViewMut<'a, T, 4>,
    of_dy: &'static str,
    (bias, activation): (Option<View<'a, T, 1>>, Activation),
    options: Options,
) -> Result<()>
where
    triton::Compiled: product::Kernels<T> + grouped::Kernels<T>,
{
    let geometry = Geometry::new(call, of_dy, dx.shape(), w.shape(), dy.shape(), options)?;
    let epilogue = Epilogue::default().with::<f32>(activation);
    if options.groups > 1 {
        let Some(parts) = grouped::apart(&geometry) else {
            let (bias, options, transposed) = (call.view(bias), epilogue, true);
            return Direct { x: dy, w, bias, options, geometry, transposed, call }.launch(dx);
        };
        let options = Options { groups: 1, ..options };
        for [channels, filters] in parts {
            let bias = bias.map(|bias| bias.narrow(0, channels.clone())).transpose()?;
            let (dy, w) = (dy.narrow(3, filters.clone())?, w.narrow(0, filters)?);
            let dx = dx.reborrow().narrow(3, channels)?;
            backward_input(call, dy, w, dx, of_dy, (bias, activation), options)?;
        }
        return Ok(());
    }
    if geometry.is_pointwise()
        && options.splits.is_none()
        && call.instance().is_none()
        && let (Ok(dy), true) = (rows(dy), rows(dx.as_view()).is_ok())
    {
        let product = gemm(dy, filters(w)?, rows_mut(dx)?).activation(activation);
        return if let Some(bias) = bias { product.bias(bias) } else { product }.call(call);
    }
    let Geometry { images, input, window, .. } = geometry;
    let Options { stride, padding, dilation, splits, .. } = options;
    let (mut of_dy, mut of_w) = (Room::new(), Room::new());
    let columns = is_columns(dy.shape(), dy.strides());
    let (dy, w) = (of_dy.operand(dy, columns, call)?, of_w.operand(w, false, call)?);
    let columns = is_columns(dy.shape(), dy.strides());
    output(dx, columns, call, |mut dx| {
        for (down, across) in (0..stride[0]).flat_map(|down| (0..stride[1]).map(move |across| (down, across))) {
            let phase = [down, across];
            let places = |i: usize| input[i].saturating_sub(phase[i]).div_ceil(stride[i]);
            let taps = [0, 1].map(|i| Taps::of_input(window[i], stride[i], padding[i], dilation[i], phase[i]));
            let product = Product {
                x: dy,
                w,
                transposed: true,
                y: dx.reborrow(),
                bias: call.view(bias),
                options: epilogue,
                places: [images, places(0), places(1)],
                stride: [1; 2],
                taps,
                out: [phase, stride],
                splits,
                call,
            };
            product.launch()?;
        }
        Ok(())
    })
}
