//! Sums, differences, products, quotients, extremes and bounds.

use super::kernels::{Arithmetic, Kind, Term};
use super::{Elements, ElementsMut, Elementwise};
use crate::Result;
use crate::operation::Call;

macro_rules! operations {
    ($($(#[$meta:meta])* $name:ident $kind:ident;)*) => {$(
        $(#[$meta])*
        pub fn $name<'a, T: Arithmetic>(
            a: impl Into<Elements<'a, T>>,
            b: impl Into<Term<'a, T>>,
            y: impl Into<ElementsMut<'a, T>>,
        ) -> Elementwise<impl FnOnce(Call<'_>) -> Result<()> + 'a> {
            let (a, b, y) = (a.into(), b.into(), y.into());
            Elementwise::new(stringify!($name), move |call| T::two(Kind::$kind, a, b, y, call))
        }
    )*};
}

operations! {
    /// y = a + b, as `torch.add`: of elements, which are [broadcast](super), and a second operand that may be a number of the host.
    ///
    /// ```
    /// use triton::Device;
    /// use triton_kernels::elementwise::add;
    ///
    /// let stream = Device::cpu().stream()?;
    /// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
    /// let bias = stream.tensor(&[10.0f32, 20.0, 30.0], [3])?;
    /// let mut y = stream.tensor_uninit::<f32, _>([2, 3])?;
    /// add(&x, &bias, &mut y).launch(&stream)?;
    /// assert_eq!(stream.download(&y)?, [11.0, 22.0, 33.0, 14.0, 25.0, 36.0]);
    /// add(&x, -1.0f32, &mut y).launch(&stream)?;
    /// assert_eq!(stream.download(&y)?, [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    /// # Ok::<(), triton_kernels::Error>(())
    /// ```
    ///
    /// Its gradient: dy for both, summed along the axes that are repeated.
    add Add;
    /// y = a − b, as `torch.sub`, of operands as of [`add`].
    ///
    /// ```
    /// use triton::Device;
    /// use triton_kernels::elementwise::sub;
    ///
    /// let stream = Device::cpu().stream()?;
    /// let x = stream.tensor(&[1, 2, 3], [3])?;
    /// let mut y = stream.tensor_uninit::<i32, _>([3])?;
    /// sub(&x, 2, &mut y).launch(&stream)?;
    /// assert_eq!(stream.download(&y)?, [-1, 0, 1]);
    /// # Ok::<(), triton_kernels::Error>(())
    /// ```
    ///
    /// Its gradient: dy for a, and −dy for b.
    sub Sub;
    /// y = a · b, as `torch.mul`, of operands as of [`add`].
    ///
    /// ```
    /// use triton::Device;
    /// use triton_kernels::elementwise::mul;
    ///
    /// let stream = Device::cpu().stream()?;
    /// // Two channels of 2 pixels each, with a scale for each channel.
    /// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0], [1, 2, 2])?;
    /// let scale = stream.tensor(&[10.0f32, 100.0], [2, 1])?;
    /// let mut y = stream.tensor_uninit::<f32, _>([1, 2, 2])?;
    /// mul(&x, &scale, &mut y).launch(&stream)?;
    /// assert_eq!(stream.download(&y)?, [10.0, 20.0, 300.0, 400.0]);
    /// # Ok::<(), triton_kernels::Error>(())
    /// ```
    ///
    /// Its gradient: dy · b for a, and dy · a for b.
    mul Mul;
    /// y = the greater of a and b, as `torch.maximum`, of operands as of [`add`]. NaN where one of them is.
    ///
    /// ```
    /// use triton::Device;
    /// use triton_kernels::elementwise::maximum;
    ///
    /// let stream = Device::cpu().stream()?;
    /// let x = stream.tensor(&[1.0f32, -2.0, f32::NAN], [3])?;
    /// let mut y = stream.tensor_uninit::<f32, _>([3])?;
    /// maximum(&x, 0.0f32, &mut y).launch(&stream)?;
    /// let y = stream.download(&y)?;
    /// assert!(y[..2] == [1.0, 0.0] && y[2].is_nan());
    /// # Ok::<(), triton_kernels::Error>(())
    /// ```
    ///
    /// Its gradient: dy for the operand that y is of.
    maximum Max;
    /// y = the lesser of a and b, as `torch.minimum`, of operands as of [`add`]. NaN where one of them is.
    ///
    /// ```
    /// use triton::Device;
    /// use triton_kernels::elementwise::minimum;
    ///
    /// let stream = Device::cpu().stream()?;
    /// let x = stream.tensor(&[1.0f32, -2.0], [2])?;
    /// let mut y = stream.tensor_uninit::<f32, _>([2])?;
    /// minimum(&x, 0.0f32, &mut y).launch(&stream)?;
    /// assert_eq!(stream.download(&y)?, [0.0, -2.0]);
    /// # Ok::<(), triton_kernels::Error>(())
    /// ```
    ///
    /// Its gradient: dy for the operand that y is of.
    minimum Min;
}

/// y = a / b, as `torch.div`, of operands as of [`add`]; of floats alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::elementwise::div;
///
/// let stream = Device::cpu().stream()?;
/// let (x, by) = (stream.tensor(&[1.0f32, 2.0, 4.0], [3])?, stream.tensor(&[4.0f32], [1])?);
/// let mut y = stream.tensor_uninit::<f32, _>([3])?;
/// div(&x, &by, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.25, 0.5, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: dy / b for a, and −dy · y / b for b.
pub fn div<'a, T: Arithmetic<Number = f32>>(
    a: impl Into<Elements<'a, T>>,
    b: impl Into<Term<'a, T>>,
    y: impl Into<ElementsMut<'a, T>>,
) -> Elementwise<impl FnOnce(Call<'_>) -> Result<()> + 'a> {
    let (a, b, y) = (a.into(), b.into(), y.into());
    Elementwise::new("div", move |call| T::two(Kind::Div, a, b, y, call))
}

/// y = x, but no less than `low` and no more than `high`, as `torch.clamp`. A bound that is infinite is none; NaN stays.
///
/// ```
/// use triton::Device;
/// use triton_kernels::elementwise::clamp;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[-3.0f32, 0.5, 7.0], [3])?;
/// let mut y = stream.tensor_uninit::<f32, _>([3])?;
/// clamp(&x, 0.0, 6.0, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 0.5, 6.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: dy where x is within the bounds.
pub fn clamp<'a, T: Arithmetic>(
    x: impl Into<Elements<'a, T>>,
    low: T::Number,
    high: T::Number,
    y: impl Into<ElementsMut<'a, T>>,
) -> Elementwise<impl FnOnce(Call<'_>) -> Result<()> + 'a> {
    let (x, y) = (x.into(), y.into());
    Elementwise::new("clamp", move |call| T::clamp(x, low, high, y, call))
}
