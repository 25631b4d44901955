//! Convolutions.

use super::copy::{Room, is_columns, output};
use super::geometry::{Geometry, Options, Taps};
use super::product::{Kernels, Product};
use super::window_options;
use crate::element::{FloatElement, operation};
use crate::error::extent;
use crate::gemm::kernels::epilogue::Epilogue;
use crate::{Activation, GemmElement, Result, gemm, gemm_batched};
use triton::prelude::*;

/// Builder of a convolution, returned by [`conv2d`].
#[must_use = "nothing is computed until `.launch(..)`"]
#[derive(Debug)]
pub struct Conv2d<'a, T> {
    x: View<'a, T, 4>,
    w: View<'a, T, 4>,
    y: ViewMut<'a, T, 4>,
    bias: Option<View<'a, T, 1>>,
    activation: Activation,
    options: Options,
    instance: Option<String>,
}

/// y\[n, p, q, k\] = Σ x\[n, p · stride + r · dilation − padding, .., c\] · w\[k, r, s, c\] over r, s and c: of \[N, H, W, C\], \[K, R, S, C\] and \[N, P, Q, K\],
/// where P = (H + 2 · padding − dilation · (R − 1) − 1) / stride + 1, and Q likewise. It is the cross-correlation that neural networks call so.
///
/// Any strides will do: an image that is stored \[N, C, H, W\] is passed permuted. Products are added in `f32` and rounded once.
///
/// A NaN or infinite pixel reaches exactly the outputs whose windows hold it. What pads an image is 0: a weight that is not finite reaches all
/// outputs of its filter.
///
/// ```
/// use triton::prelude::*;
/// use triton_kernels::conv::conv2d;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let stream = Device::best().stream()?;
/// // One image of 4 × 4 with 2 channels, stored as planes; 1 filter of 3 × 3.
/// let x = stream.upload(&[1.0f32; 32])?;
/// let w = stream.tensor(&[0.5f32; 18], [1, 3, 3, 2])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 4, 4, 1])?;
/// let x = x.view([1, 2, 4, 4])?.permute([0, 2, 3, 1])?;
/// conv2d(x, &w, &mut y).padding((1, 1)).launch(&stream)?;
/// assert_eq!(stream.download(&y)?[..6], [4.0, 6.0, 6.0, 4.0, 6.0, 9.0]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), which gives the shape that y has to have, [`Error::Value`](crate::Error::Value) for a stride or
/// dilation of 0, [`Error::Unsupported`](crate::Error::Unsupported) for more than 2³⁰ pixels, or an error of the device.
pub fn conv2d<'a, T: FloatElement>(
    x: impl IntoView<'a, T, 4>,
    w: impl IntoView<'a, T, 4>,
    y: impl IntoViewMut<'a, T, 4>,
) -> Conv2d<'a, T> {
    Conv2d {
        x: x.into_view(),
        w: w.into_view(),
        y: y.into_view_mut(),
        bias: None,
        activation: Activation::Identity,
        options: Options::default(),
        instance: None,
    }
}

impl<'a, T: FloatElement> Conv2d<'a, T> {
    window_options!();

    /// Uses an instance by its name: `BM=128 BN=128 BK=64 num_warps=8 num_stages=4`. A name that does not exist is an error, which lists those that do.
    pub fn instance(self, name: &str) -> Self {
        Self { instance: Some(name.to_string()), ..self }
    }

    /// Adds a number to each channel of y, before the activation.
    pub fn bias(self, bias: impl IntoView<'a, T, 1>) -> Self {
        Self { bias: Some(bias.into_view()), ..self }
    }

    /// Applies a function to each element, as [`Gemm::activation`](crate::Gemm::activation) does.
    pub fn activation(self, activation: Activation) -> Self {
        Self { activation, ..self }
    }

    /// Enqueues it.
    ///
    /// # Errors
    /// As [`conv2d`] says.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Forward>(self, stream)
    }
}

operation!(Forward: Conv2d by forward);

fn forward<T>(of: Conv2d<'_, T>, stream: &Stream) -> Result<()>
where
    T: FloatElement + GemmElement<T>,
    triton::Compiled: Kernels<T>,
{
    let (op, Conv2d { x, w, y, bias, activation, options, instance }) = ("conv2d", of);
    let geometry = Geometry::new(op, ["x", "w", "y"], x.shape(), w.shape(), y.shape(), options)?;
    let epilogue = Epilogue::default().with::<f32>(activation);
    let bias = match bias {
        Some(bias) => {
            extent(op, "bias", 0, [bias.shape()[0], geometry.filters], "it has an element for each channel of y")?;
            bias
        }
        None => View::none(stream.device()),
    };
    if geometry.is_pointwise() && options.splits.is_none() && instance.is_none() && pointwise(x, &y) {
        return by_gemm(x, w, y, bias, activation, stream);
    }
    let Geometry { images, window, output: [down, across], .. } = geometry;
    let taps = [0, 1].map(|i| Taps::of_output(window[i], options.padding[i], options.dilation[i]));
    let (mut of_x, mut of_w) = (Room::new(op), Room::new(op));
    let columns = is_columns(x.shape(), x.strides());
    let (x, w) = (of_x.operand(x, columns, stream)?, of_w.operand(w, false, stream)?);
    let columns = is_columns(x.shape(), x.strides());
    output(op, y, columns, stream, |y| {
        let product = Product {
            x,
            w,
            transposed: false,
            y,
            bias,
            options: epilogue,
            places: [images, down, across],
            stride: options.stride,
            taps,
            out: [[0; 2], [1; 2]],
            splits: options.splits,
            instance: instance.as_deref(),
            op,
        };
        product.launch(stream)
    })
}

/// Pixels as rows of a matrix: of one whose axes N, H and W are one in memory.
pub(super) fn rows<'a, T: Element>(x: View<'a, T, 4>) -> triton::Result<View<'a, T, 2>> {
    x.merge(0)?.merge(0)
}

/// The same to be written.
pub(super) fn rows_mut<'a, T: Element>(x: ViewMut<'a, T, 4>) -> triton::Result<ViewMut<'a, T, 2>> {
    x.merge(0)?.merge(0)
}

/// The filters of one pixel, `[K, C]`.
pub(super) fn filters<'a, T: Element>(w: View<'a, T, 4>) -> triton::Result<View<'a, T, 2>> {
    w.select(1, 0)?.select(1, 0)
}

/// Whether pixels of both images are rows of matrices, or both are planes that are matrices.
fn pointwise<T: Element>(x: View<'_, T, 4>, y: &ViewMut<'_, T, 4>) -> bool {
    let y = y.as_view();
    let planes = |of: View<'_, T, 4>| of.permute([0, 3, 1, 2]).and_then(|of| of.merge(2)).is_ok();
    (rows(x).is_ok() && rows(y).is_ok()) || (planes(x) && planes(y))
}

/// A convolution of single pixels: y = x · wᵀ of all pixels, or y = w · x of the planes of each image.
fn by_gemm<'a, T: FloatElement + GemmElement<T>>(
    x: View<'a, T, 4>,
    w: View<'a, T, 4>,
    y: ViewMut<'a, T, 4>,
    bias: View<'a, T, 1>,
    activation: Activation,
    stream: &Stream,
) -> Result<()> {
    let w = filters(w)?;
    if let (Ok(x), true) = (rows(x), rows(y.as_view()).is_ok()) {
        let product = gemm(x, w.transpose(), rows_mut(y)?).activation(activation);
        let product = if bias.shape() == [0] { product } else { product.bias(bias) };
        return product.launch(stream);
    }
    let (x, y) = (x.permute([0, 3, 1, 2])?.merge(2)?, y.permute([0, 3, 1, 2])?.merge(2)?);
    let filters = w.shape()[0];
    let product = gemm_batched(w.split(0, [1, filters])?, x, y).activation(activation);
    let product = if bias.shape() == [0] { product } else { product.row_bias(bias) };
    product.launch(stream)
}
