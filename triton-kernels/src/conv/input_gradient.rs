//! The gradient of a convolution's input.

use super::copy::{Room, is_columns, output};
use super::forward::{filters, rows, rows_mut};
use super::geometry::{Geometry, Options, Taps};
use super::product::{Kernels, Product};
use super::window_options;
use crate::element::{FloatElement, operation};
use crate::gemm::kernels::epilogue::Epilogue;
use crate::{GemmElement, Result, gemm};
use triton::prelude::*;

/// Builder of the input gradient of a convolution, returned by [`conv2d_input_gradient`].
#[must_use = "nothing is computed until `.launch(..)`"]
#[derive(Debug)]
pub struct Conv2dInputGradient<'a, T> {
    dy: View<'a, T, 4>,
    w: View<'a, T, 4>,
    dx: ViewMut<'a, T, 4>,
    options: Options,
    instance: Option<String>,
}

/// dx\[n, h, w, c\] = Σ dy\[n, p, q, k\] · w\[k, r, s, c\], over all that [`conv2d`](super::conv2d) multiplies with x\[n, h, w, c\]: of \[N, P, Q, K\], \[K, R, S, C\] and \[N, H, W, C\].
///
/// A stride divides the input into phases, each of which is a dense convolution of dy with a part of the window, and a launch of its own:
/// nothing is multiplied by a zero that stands between two places.
///
/// A NaN or an infinity in dy reaches exactly the pixels of its window. Beyond the places of dy there are zeros, by which weights are multiplied.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv2d_input_gradient;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::best().stream()?;
/// let (dy, w) = (stream.tensor(&[1.0f32, 10.0], [1, 1, 2, 1])?, stream.tensor(&[1.0f32, 2.0, 3.0], [1, 1, 3, 1])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 1, 5, 1])?;
/// // A row of 5 elements, of which windows of 3 are taken at 0 and 2.
/// let dx_view = &mut dx;
/// conv2d_input_gradient(&dy, &w, dx_view).stride((1, 2)).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [1.0, 2.0, 13.0, 20.0, 30.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// As of [`conv2d`](super::conv2d).
pub fn conv2d_input_gradient<'a, T: FloatElement>(
    dy: impl IntoView<'a, T, 4>,
    w: impl IntoView<'a, T, 4>,
    dx: impl IntoViewMut<'a, T, 4>,
) -> Conv2dInputGradient<'a, T> {
    Conv2dInputGradient {
        dy: dy.into_view(),
        w: w.into_view(),
        dx: dx.into_view_mut(),
        options: Options::default(),
        instance: None,
    }
}

impl<T: FloatElement> Conv2dInputGradient<'_, T> {
    window_options!();

    /// Uses an instance by its name: `BM=128 BN=128 BK=64 num_warps=8 num_stages=4`. A name that does not exist is an error, which lists those that do.
    pub fn instance(self, name: &str) -> Self {
        Self { instance: Some(name.to_string()), ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// As of [`conv2d`](super::conv2d).
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<InputGradient>(self, stream)
    }
}

operation!(InputGradient: Conv2dInputGradient by input_gradient);

fn input_gradient<T>(of: Conv2dInputGradient<'_, T>, stream: &Stream) -> Result<()>
where
    T: FloatElement + GemmElement<T>,
    triton::Compiled: Kernels<T>,
{
    let (op, Conv2dInputGradient { dy, w, dx, options, instance }) = ("conv2d_input_gradient", of);
    let names = ["dx", "w", "dy"];
    let geometry = Geometry::new(op, names, dx.shape(), w.shape(), dy.shape(), options)?;
    if geometry.is_pointwise()
        && options.splits.is_none()
        && instance.is_none()
        && let (Ok(dy), true) = (rows(dy), rows(dx.as_view()).is_ok())
    {
        return gemm(dy, filters(w)?, rows_mut(dx)?).launch(stream);
    }
    let Geometry { images, input, window, .. } = geometry;
    let Options { stride, padding, dilation, splits } = options;
    let (mut of_dy, mut of_w) = (Room::new(op), Room::new(op));
    let columns = is_columns(dy.shape(), dy.strides());
    let (dy, w) = (of_dy.operand(dy, columns, stream)?, of_w.operand(w, false, stream)?);
    let columns = is_columns(dy.shape(), dy.strides());
    output(op, dx, columns, stream, |mut dx| {
        for (down, across) in (0..stride[0]).flat_map(|down| (0..stride[1]).map(move |across| (down, across))) {
            let phase = [down, across];
            let places = |i: usize| input[i].saturating_sub(phase[i]).div_ceil(stride[i]);
            let taps = [0, 1].map(|i| Taps::of_input(window[i], stride[i], padding[i], dilation[i], phase[i]));
            let product = Product {
                x: dy,
                w,
                transposed: true,
                y: dx.reborrow(),
                bias: View::none(stream.device()),
                options: Epilogue::default(),
                places: [images, places(0), places(1)],
                stride: [1; 2],
                taps,
                out: [phase, stride],
                splits,
                instance: instance.as_deref(),
                op,
            };
            product.launch(stream)?;
        }
        Ok(())
    })
}
