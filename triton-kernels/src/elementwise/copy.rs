//! Copies, conversions, choices, and parts of a whole.

use super::kernels::{CopyTo, Select};
use super::{Elements, ElementsMut, Elementwise};
use crate::Result;
use crate::error::extent;
use crate::operation::Call;
use triton::Element;
use triton::prelude::*;

/// y = x, as `torch.Tensor.copy_` and `torch.Tensor.to`: x is [broadcast](super) to y, in any order in memory, and converted to its type.
///
/// What has the same type is copied to the bit. Floats are rounded to the nearest; to `i32` they are cut off towards 0.
///
/// ```
/// use triton::{Device, bf16};
/// use triton_kernels::elementwise::copy;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0], [2, 3])?;
/// let mut y = stream.tensor_uninit::<bf16, _>([3, 2])?;
/// copy(x.as_view().transpose(), &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, 4.0, 2.0, 5.0, 3.0, 6.0].map(bf16::from_f32));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: dy, summed along the axes that are repeated.
#[doc(alias("cast", "contiguous"))]
pub fn copy<'a, X: CopyTo<Y>, Y: Element>(
    x: impl Into<Elements<'a, X>>,
    y: impl Into<ElementsMut<'a, Y>>,
) -> Elementwise<impl FnOnce(Call<'_>) -> Result<()> + 'a> {
    let (x, y) = (x.into(), y.into());
    Elementwise::new("copy", move |call| X::copy(x, y, call))
}

/// y = the operands one after the other along an axis, as `torch.cat`. y has as many axes as each, and their extents but along this one.
///
/// ```
/// use triton::Device;
/// use triton_kernels::elementwise::concat;
///
/// let stream = Device::cpu().stream()?;
/// let (a, b) = (stream.tensor(&[1, 2, 3, 4], [2, 2])?, stream.tensor(&[5, 6], [2, 1])?);
/// let mut y = stream.tensor_uninit::<i32, _>([2, 3])?;
/// concat(&[a.as_view(), b.as_view()], 1, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1, 2, 5, 3, 4, 6]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: the parts of dy, which are views.
pub fn concat<'a, T: CopyTo<T>, const R: usize>(
    operands: &'a [View<'a, T, R>],
    axis: usize,
    y: impl IntoViewMut<'a, T, R>,
) -> Elementwise<impl FnOnce(Call<'_>) -> Result<()> + 'a> {
    let mut y: ViewMut<'a, T, R> = y.into_view_mut();
    Elementwise::new("concat", move |call| {
        call.value("axis", axis, axis < R, "one of y", "axes are counted from 0")?;
        let fix = "y has the extents of each operand, and along the axis their sum";
        for of in operands {
            let mut others = (0..R).filter(|other| *other != axis);
            others
                .try_for_each(|other| extent(call.op, "operands", other, [of.shape()[other], y.shape()[other]], fix))?;
        }
        let all = operands.iter().map(|of| of.shape()[axis]).sum();
        extent(call.op, "y", axis, [y.shape()[axis], all], fix)?;
        let mut first = 0;
        for of in operands {
            let end = first + of.shape()[axis];
            T::copy((*of).into(), y.reborrow().narrow(axis, first..end)?.into(), call)?;
            first = end;
        }
        Ok(())
    })
}

/// y = a where the condition holds, and b elsewhere, as `torch.where`; all are [broadcast](super). What is not chosen does not reach y.
///
/// ```
/// use triton::Device;
/// use triton_kernels::elementwise::select;
///
/// let stream = Device::cpu().stream()?;
/// let (mask, x) = (stream.tensor(&[true, false, true], [3])?, stream.tensor(&[1.0f32, f32::NAN, 3.0], [3])?);
/// let zero = stream.tensor(&[0.0f32], [1])?;
/// let mut y = stream.tensor_uninit::<f32, _>([3])?;
/// select(&mask, &x, &zero, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, 0.0, 3.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: dy for the operand that is chosen.
#[doc(alias("where"))]
pub fn select<'a, T: Select>(
    condition: impl Into<Elements<'a, bool>>,
    a: impl Into<Elements<'a, T>>,
    b: impl Into<Elements<'a, T>>,
    y: impl Into<ElementsMut<'a, T>>,
) -> Elementwise<impl FnOnce(Call<'_>) -> Result<()> + 'a> {
    let (condition, a, b, y) = (condition.into(), a.into(), b.into(), y.into());
    Elementwise::new("select", move |call| T::select(condition, a, b, y, call))
}
