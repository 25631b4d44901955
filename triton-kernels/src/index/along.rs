//! Gather and scatter along the last axis.

use crate::Result;
use crate::element::FloatElement;
use crate::flat::{corner, programs};
use crate::ids::{Ids, rows_of};
use crate::operation::{Call, operation};
use triton::prelude::*;

/// y\[i, j\] = x\[i, index\[i, j\]\]. Of the two views of numbers one has no elements, and reads 0.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], warnings = false)]
fn gather_kernel<T: Float>(
    #[no_specialize] x: Tensor<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 2>,
    #[no_specialize] wide: Tensor<i64, 2>,
    y: TensorMut<T, 2>,
) {
    let (i, j) = corner::<4, 256>(y.dim(1).to::<i32>());
    let numbers = narrow.load([i, j], [4, 256]).to::<i64>() + wide.load([i, j], [4, 256]);
    let at = rows_of::<i64>(numbers, x.dim(1).to::<i32>());
    let rows = (i + arange(0, 4)).expand_dims(1);
    y.store([i, j], x.gather([rows, at], at >= 0));
}

/// dx\[i, index\[i, j\]\] += dy\[i, j\], in any order.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], warnings = false)]
fn gather_backward_kernel<T: Float>(
    dy: Tensor<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 2>,
    #[no_specialize] wide: Tensor<i64, 2>,
    #[no_specialize] dx: TensorMut<f32, 2>,
) {
    let (i, j) = corner::<4, 256>(dy.dim(1).to::<i32>());
    let numbers = narrow.load([i, j], [4, 256]).to::<i64>() + wide.load([i, j], [4, 256]);
    let at = rows_of::<i64>(numbers, dx.dim(1).to::<i32>());
    let rows = i + arange(0, 4);
    let inside =
        (rows < dy.dim(0).to::<i32>()).expand_dims(1) & (j + arange(0, 256) < dy.dim(1).to::<i32>()).expand_dims(0);
    dx.atomic_add_at([rows.expand_dims(1), at], dy.load([i, j], [4, 256]).to::<f32>(), (at >= 0) & inside);
}

/// y\[i, index\[i, j\]\] = x\[i, j\].
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], warnings = false)]
fn scatter_kernel<T: Float>(
    x: Tensor<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 2>,
    #[no_specialize] wide: Tensor<i64, 2>,
    #[no_specialize] y: TensorMut<T, 2>,
) {
    let (i, j) = corner::<4, 256>(x.dim(1).to::<i32>());
    let numbers = narrow.load([i, j], [4, 256]).to::<i64>() + wide.load([i, j], [4, 256]);
    let at = rows_of::<i64>(numbers, y.dim(1).to::<i32>());
    let rows = i + arange(0, 4);
    let inside =
        (rows < x.dim(0).to::<i32>()).expand_dims(1) & (j + arange(0, 256) < x.dim(1).to::<i32>()).expand_dims(0);
    y.scatter([rows.expand_dims(1), at], x.load([i, j], [4, 256]), (at >= 0) & inside);
}

/// y\[.., j\] = x\[.., index\[.., j\]\] along the last axis, as `torch.gather` with `dim=-1`. Of an index that is negative, or not less than the extent of
/// x, the element is 0.
///
/// An element is copied to the bit, and no other is read.
///
/// ```
/// use triton::Device;
/// use triton_kernels::index::gather;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0], [2, 3])?;
/// let (index, mut y) = (stream.tensor(&[2, 0, 1, 1], [2, 2])?, stream.tensor_uninit::<f32, _>([2, 2])?);
/// gather(&x, &index, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [3.0, 1.0, 20.0, 20.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Gather)]
pub fn gather<T: FloatElement>(
    call: Call,
    #[axes(.., n)] x: View<T, 2>,
    #[axes(.., k)] index: Ids,
    #[axes(.., k)] y: ViewMut<T, 2>,
) -> Result<()> {
    let shape = y.shape();
    if shape.contains(&0) {
        return Ok(());
    }
    let (narrow, wide) = index.rows(call, "index", shape)?;
    call.launch(gather_kernel::<T>(x, narrow, wide, y), programs(shape, 4, 256))
}

/// dx\[.., index\[.., j\]\] += dy\[.., j\]: the gradient for x of y = [`gather`]`(x, index)`, which is added to dx, as `torch.scatter_add` with `dim=-1`. An index
/// may be repeated; one that x does not have adds nothing.
///
/// Sums are in `f32`, and of a repeated index they are added in any order. A NaN or an infinity reaches the element that it is added to.
///
/// ```
/// use triton::Device;
/// use triton_kernels::index::gather_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (dy, index) = (stream.tensor(&[1.0f32, 2.0, 4.0], [1, 3])?, stream.tensor(&[1, 0, 1], [1, 3])?);
/// let mut dx = stream.tensor_zeros::<f32, _>([1, 2])?;
/// gather_backward(&dy, &index, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [2.0, 5.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(GatherBackward)]
pub fn gather_backward<T: FloatElement>(
    call: Call,
    #[axes(.., k)] dy: View<T, 2>,
    #[axes(.., k)] index: Ids,
    #[axes(.., n)] dx: ViewMut<f32, 2>,
) -> Result<()> {
    let shape = dy.shape();
    if shape.contains(&0) {
        return Ok(());
    }
    let (narrow, wide) = index.rows(call, "index", shape)?;
    call.launch(gather_backward_kernel::<T>(dy, narrow, wide, dx), programs(shape, 4, 256))
}

/// y\[.., index\[.., j\]\] = x\[.., j\] along the last axis, as `torch.scatter` with `dim=-1`, in place. The indices of a row have to be unique: of a repeated one
/// any of the elements is stored. Elements of y that no index names stay, and an index that y does not have stores nothing.
///
/// An element is copied to the bit.
///
/// ```
/// use triton::Device;
/// use triton_kernels::index::scatter;
///
/// let stream = Device::cpu().stream()?;
/// let (x, index) = (stream.tensor(&[1.0f32, 2.0], [1, 2])?, stream.tensor(&[2, 0], [1, 2])?);
/// let mut y = stream.tensor(&[7.0f32; 3], [1, 3])?;
/// scatter(&x, &index, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [2.0, 7.0, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: [`gather`] of dy by the same indices.
#[operation(Scatter)]
pub fn scatter<T: FloatElement>(
    call: Call,
    #[axes(.., k)] x: View<T, 2>,
    #[axes(.., k)] index: Ids,
    #[axes(.., n)] y: ViewMut<T, 2>,
) -> Result<()> {
    let shape = x.shape();
    if shape.contains(&0) {
        return Ok(());
    }
    let (narrow, wide) = index.rows(call, "index", shape)?;
    call.launch(scatter_kernel::<T>(x, narrow, wide, y), programs(shape, 4, 256))
}
