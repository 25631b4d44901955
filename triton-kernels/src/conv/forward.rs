//! Convolutions.

use super::copy::{Room, is_columns, output};
use super::geometry::Taps;
use super::grouped::{self, Direct};
use super::product::{self, Product};
use super::shape::{Geometry, Options};
use crate::Result;
use crate::activation::Activation;
use crate::element::FloatElement;
use crate::linear::kernels::epilogue::Epilogue;
use crate::linear::{GemmElement, gemm, gemm_batched};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// y\[n, p, q, k\] = Σ x\[n, p · stride + r · dilation − padding, .., c\] · w\[k, r, s, c\] over r, s and c, where y has
/// p = (h + 2 · padding − dilation · (r − 1) − 1) / stride + 1 places down, and q across likewise: [`output_shape`](super::output_shape). It is the
/// cross-correlation that neural networks call so, as `torch.nn.functional.conv2d` with channels last.
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
/// Its gradient: `conv2d_backward_input` and `conv2d_backward_weight`.
#[doc(alias("depthwise", "grouped"))]
#[operation(Conv2d, tuned)]
pub fn conv2d<T: FloatElement>(
    call: Call,
    #[axes(n, h, w, c)] x: View<T, 4>,
    #[axes(k, r, s, d)] w: View<T, 4>,
    #[axes(n, p, q, k)] y: ViewMut<T, 4>,
    /// Adds a number to each channel of y, before the activation.
    #[axes(k)]
    bias: Option<View<T, 1>>,
    /// Applies a function to each element, as [`Gemm::activation`](crate::linear::Gemm::activation) does.
    #[default(Activation::Identity)]
    activation: Activation,
    /// Stride along h and w. Default: (1, 1).
    #[default((1, 1))]
    stride: (usize, usize),
    /// Zero padding along h and w, on either side. Default: (0, 0).
    #[default((0, 0))]
    padding: (usize, usize),
    /// Dilation: the distance of neighbours of the filter along h and w. Default: (1, 1).
    #[default((1, 1))]
    dilation: (usize, usize),
    /// Divides the reduction among this many programs, or as many as it has steps for. Their sums are added in one order, so that the result is
    /// the same in every launch.
    #[check(splits > 0, "a number from 1 on", "1 does not split")]
    splits: Option<usize>,
    /// Divides channels and filters into groups, of which each filter sees the channels of its own: w is \[k, r, s, c / groups\]. With as many groups as channels the
    /// convolution is depthwise. Default: 1.
    #[default(1)]
    groups: usize,
) -> Result<()> {
    let options = Options::new(stride, padding, dilation, splits, groups);
    grouped::check(call, "w", x.shape()[3], [w.shape()[0], w.shape()[3]], 3, groups)?;
    forward(call, x, w, y, bias, activation, options)
}

/// A convolution, whose numbers of channels fit.
pub(super) fn forward<'a, T: FloatElement + GemmElement<T>>(
    call: Call<'a>,
    x: View<'a, T, 4>,
    w: View<'a, T, 4>,
    mut y: ViewMut<'a, T, 4>,
    bias: Option<View<'a, T, 1>>,
    activation: Activation,
    options: Options,
) -> Result<()>
where
    triton::Compiled: product::Kernels<T> + grouped::Kernels<T>,
{
    let geometry = Geometry::new(call, "y", x.shape(), w.shape(), y.shape(), options)?;
    let epilogue = Epilogue::default().with::<f32>(activation);
    if options.groups > 1 {
        let Some(parts) = grouped::apart(&geometry) else {
            let (bias, options, transposed) = (call.view(bias), epilogue, false);
            return Direct { x, w, bias, options, geometry, transposed, call }.launch(y);
        };
        let options = Options { groups: 1, ..options };
        for [channels, filters] in parts {
            let bias = bias.map(|bias| bias.narrow(0, filters.clone())).transpose()?;
            let (x, w) = (x.narrow(3, channels)?, w.narrow(0, filters.clone())?);
            forward(call, x, w, y.reborrow().narrow(3, filters)?, bias, activation, options)?;
        }
        return Ok(());
    }
    let (bias, splits) = (call.view(bias), options.splits);
    if geometry.is_pointwise() && splits.is_none() && call.instance().is_none() && pointwise(x, &y) {
        return by_gemm(x, w, y, bias, activation, call);
    }
    let Geometry { images, window, output: [down, across], .. } = geometry;
    let taps = [0, 1].map(|i| Taps::of_output(window[i], options.padding[i], options.dilation[i]));
    let (mut of_x, mut of_w) = (Room::new(), Room::new());
    let columns = is_columns(x.shape(), x.strides());
    let (x, w) = (of_x.operand(x, columns, call)?, of_w.operand(w, false, call)?);
    let columns = is_columns(x.shape(), x.strides());
    output(y, columns, call, |y| {
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
            call,
        };
        product.launch()
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
    call: Call<'_>,
) -> Result<()> {
    let w = filters(w)?;
    if let (Ok(x), true) = (rows(x), rows(y.as_view()).is_ok()) {
        let product = gemm(x, w.transpose(), rows_mut(y)?).activation(activation);
        let product = if bias.shape() == [0] { product } else { product.bias(bias) };
        return product.call(call);
    }
    let (x, y) = (x.permute([0, 3, 1, 2])?.merge(2)?, y.permute([0, 3, 1, 2])?.merge(2)?);
    let filters = w.shape()[0];
    let product = gemm_batched(w.split(0, [1, filters])?, x, y).activation(activation);
    let product = if bias.shape() == [0] { product } else { product.row_bias(bias) };
    product.call(call)
}
