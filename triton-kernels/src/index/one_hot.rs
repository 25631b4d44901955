//! Rows that are 1 at a number.

use crate::Result;
use crate::element::FloatElement;
use crate::flat::{corner, programs};
use crate::ids::Ids;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// y\[i, j\] = 1 if label i is j, else 0. Of the two views of labels one has no elements, and reads 0.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"])]
fn one_hot_kernel<T: Float>(
    #[no_specialize] narrow: Tensor<i32, 2>,
    #[no_specialize] wide: Tensor<i64, 2>,
    y: TensorMut<T, 2>,
) {
    let (i, j) = corner::<4, 256>(y.dim(1).to::<i32>());
    let labels = narrow.load([i, 0], [4, 1]).to::<i64>() + wide.load([i, 0], [4, 1]);
    let is = labels == (j + arange(0, 256)).expand_dims(0).to::<i64>();
    y.store([i, j], select(is, 1.0, 0.0).to::<T>());
}

/// y\[.., j\] = 1 where labels\[..\] is j, else 0, as `torch.nn.functional.one_hot`, in the type of y. Of a label that is negative, or not less than the
/// extent, the row is 0.
///
/// ```
/// use triton::Device;
/// use triton_kernels::index::one_hot;
///
/// let stream = Device::cpu().stream()?;
/// let (labels, mut y) = (stream.tensor(&[1, 0], [2])?, stream.tensor_uninit::<f32, _>([2, 3])?);
/// one_hot(&labels, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 1.0, 0.0, 1.0, 0.0, 0.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: none, it is of numbers of classes.
#[operation(OneHot)]
pub fn one_hot<T: FloatElement>(call: Call, #[axes(..)] labels: Ids, #[axes(.., c)] y: ViewMut<T, 2>) -> Result<()> {
    let shape = y.shape();
    if shape.contains(&0) {
        return Ok(());
    }
    let (narrow, wide) = labels.rows(call, "labels", [shape[0], 1])?;
    call.launch(one_hot_kernel::<T>(narrow, wide, y), programs(shape, 4, 256))
}
