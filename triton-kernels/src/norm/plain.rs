//! Layer norm and RMS norm without weights.

use super::row::norm;
use super::row_backward::backward;
use crate::Result;
use crate::element::FloatElement;
use crate::operation::{Call, operation};
use triton::prelude::*;
use triton::{Constants, Workspace};

/// The longest rows of which a stream keeps a weight.
const KEPT: usize = 8192;

/// y = 1.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
fn ones_kernel<T: Float>(y: TensorMut<T, 1>) {
    y.store([program_id(0) * 1024], full([1024], T::ONE));
}

/// Ones in the memory of the host.
trait OnHost: FloatElement {
    fn ones() -> &'static [Self];
}

macro_rules! on_host {
    ($($t:ty)*) => {$(
        impl OnHost for $t {
            fn ones() -> &'static [$t] {
                static ONES: [$t; KEPT] = [<$t as Num>::ONE; KEPT];
                &ONES
            }
        }
    )*};
}

on_host!(f32 f16 bf16);

/// A weight of ones, which the kernels of norms read: a stream uploads it once. That of longer rows is filled for each launch.
enum Ones<T: Element> {
    Kept(Constants<T>),
    Filled(Workspace<T>),
}

impl<T: OnHost> Ones<T>
where
    triton::Compiled: OnesKernelInstance<T>,
{
    fn new(call: Call<'_>, columns: usize) -> Result<Ones<T>> {
        if let Some(ones) = T::ones().get(..columns) {
            return Ok(Ones::Kept(call.constants(ones)?));
        }
        let mut ones = call.workspace::<T>(columns)?;
        call.launch(ones_kernel::<T>(ones.view_mut([columns])?), columns.div_ceil(1024))?;
        Ok(Ones::Filled(ones))
    }

    fn view(&self, columns: usize) -> triton::Result<View<'_, T, 1>> {
        match self {
            Ones::Kept(ones) => ones.view([columns]),
            Ones::Filled(ones) => ones.view([columns]),
        }
    }
}

/// y = (x − mean) / √(variance + ε) along the last axis of x: [`layer_norm`](super::layer_norm()) without weight and bias, as `torch.nn.LayerNorm` with
/// `elementwise_affine=False`. It has the bits of a weight of ones.
///
/// A NaN or an infinity reaches its row alone. Numbers above 10¹⁸ have squares that are infinite.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::layer_norm_plain;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 3.0, 10.0, 30.0], [2, 2])?;
/// let mut y = stream.tensor_uninit::<f32, _>([2, 2])?;
/// layer_norm_plain(&x, &mut y).epsilon(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [-1.0, 1.0, -1.0, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(LayerNormPlain, tuned)]
pub fn layer_norm_plain<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] y: ViewMut<T, 2>,
    /// ε, which is added to the variance. Default: 10⁻⁵.
    #[default(1e-5)]
    #[check(epsilon >= 0.0, "0 or more", "it keeps a root from 0")]
    epsilon: f32,
    /// Adds `residual` to x first, and stores the sum, rounded to `T`: what a transformer does between its layers.
    #[axes(.., c)]
    residual: Option<View<T, 2>>,
    #[beside(residual)]
    #[axes(.., c)]
    sum: Option<ViewMut<T, 2>>,
    /// Stores the mean and 1 / √(variance + ε) of each row, which the gradient needs.
    #[axes(..)]
    #[setter(statistics)]
    mean: Option<ViewMut<f32, 1>>,
    #[beside(mean)]
    #[axes(..)]
    rstd: Option<ViewMut<f32, 1>>,
) -> Result<()> {
    let columns = x.shape()[1];
    let ones = Ones::<T>::new(call, columns)?;
    norm::<T, true>(call, x, ones.view(columns)?, None, y, residual.zip(sum), mean, rstd, epsilon)
}

/// y = x / √(mean of x² + ε) along the last axis of x: [`rms_norm`](super::rms_norm()) without a weight, as `torch.nn.RMSNorm` with
/// `elementwise_affine=False`. It has the bits of a weight of ones.
///
/// A NaN or an infinity reaches its row alone. Numbers above 10¹⁸ have squares that are infinite.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::rms_norm_plain;
///
/// let stream = Device::cpu().stream()?;
/// let (x, mut y) = (stream.tensor(&[2.0f32, -2.0], [1, 2])?, stream.tensor_uninit::<f32, _>([1, 2])?);
/// rms_norm_plain(&x, &mut y).epsilon(0.0).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, -1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(RmsNormPlain, tuned)]
pub fn rms_norm_plain<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] y: ViewMut<T, 2>,
    /// ε, which is added to the mean of squares. Default: 10⁻⁵.
    #[default(1e-5)]
    #[check(epsilon >= 0.0, "0 or more", "it keeps a root from 0")]
    epsilon: f32,
    /// Adds `residual` to x first, and stores the sum, rounded to `T`: what a transformer does between its layers.
    #[axes(.., c)]
    residual: Option<View<T, 2>>,
    #[beside(residual)]
    #[axes(.., c)]
    sum: Option<ViewMut<T, 2>>,
    /// Stores 1 / √(mean of x² + ε) of each row, which the gradient needs.
    #[axes(..)]
    #[setter(statistics)]
    rstd: Option<ViewMut<f32, 1>>,
) -> Result<()> {
    let columns = x.shape()[1];
    let ones = Ones::<T>::new(call, columns)?;
    norm::<T, false>(call, x, ones.view(columns)?, None, y, residual.zip(sum), None, rstd, epsilon)
}

/// The gradient for x of [`layer_norm_plain`], from the gradient dy for y: with n the normalised x, dx = (dy − mean of dy − n · mean of dy · n) · rstd. The mean
/// and rstd are what the forward operation has stored by `statistics`.
///
/// A NaN or an infinity reaches its row alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::layer_norm_plain_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (x, dy) = (stream.tensor(&[1.0f32, 3.0], [1, 2])?, stream.tensor(&[1.0f32, 0.0], [1, 2])?);
/// let (mean, rstd) = (stream.tensor(&[2.0f32], [1])?, stream.tensor(&[1.0f32], [1])?);
/// let mut dx = stream.tensor_uninit::<f32, _>([1, 2])?;
/// layer_norm_plain_backward(&x, &dy, &mean, &rstd, &mut dx).launch(&stream)?;
/// // Two elements are −1 and 1 whatever they are.
/// assert_eq!(stream.download(&dx)?, [0.0, 0.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(LayerNormPlainBackward, tuned)]
pub fn layer_norm_plain_backward<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] dy: View<T, 2>,
    #[axes(..)] mean: View<f32, 1>,
    #[axes(..)] rstd: View<f32, 1>,
    #[axes(.., c)] dx: ViewMut<T, 2>,
    /// Adds the gradient of the sum to dx: with a [`residual`](LayerNormPlain::residual) x and the residual share it.
    #[axes(.., c)]
    dsum: Option<View<T, 2>>,
) -> Result<()> {
    let columns = x.shape()[1];
    let ones = Ones::<T>::new(call, columns)?;
    backward::<T, true>(call, x, ones.view(columns)?, dy, mean, rstd, dx, dsum, [None, None])
}

/// The gradient for x of [`rms_norm_plain`], from dy: dx = (dy − n · mean of dy · n) · rstd, where n is the normalised x. Otherwise as
/// [`layer_norm_plain_backward`].
///
/// A NaN or an infinity reaches its row alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::norm::rms_norm_plain_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (x, dy) = (stream.tensor(&[2.0f32, 2.0], [1, 2])?, stream.tensor(&[1.0f32, 0.0], [1, 2])?);
/// let (rstd, mut dx) = (stream.tensor(&[0.5f32], [1])?, stream.tensor_uninit::<f32, _>([1, 2])?);
/// rms_norm_plain_backward(&x, &dy, &rstd, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [0.25, -0.25]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(RmsNormPlainBackward, tuned)]
pub fn rms_norm_plain_backward<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] dy: View<T, 2>,
    #[axes(..)] rstd: View<f32, 1>,
    #[axes(.., c)] dx: ViewMut<T, 2>,
    /// Adds the gradient of the sum to dx: with a [`residual`](RmsNormPlain::residual) x and the residual share it.
    #[axes(.., c)]
    dsum: Option<View<T, 2>>,
) -> Result<()> {
    let columns = x.shape()[1];
    let ones = Ones::<T>::new(call, columns)?;
    backward::<T, false>(call, x, ones.view(columns)?, dy, call.view(None), rstd, dx, dsum, [None, None])
}
