//! Cumulative sums of rows of any length.

use super::kernels::cumsum_kernel_tuned;
use crate::Result;
use crate::element::FloatElement;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// The longest rows of which a program has several.
const SHORT: usize = 512;

/// y\[.., j\] = the sum of x\[.., ..=j\] along the last axis, as `torch.cumsum` with `dim=-1`. Sums are in `f32`, and each is rounded once.
///
/// A row of any length is one program, tile after tile, in an order that follows from its length: the result is the same each time. x is read once.
///
/// A NaN makes itself and what follows it in its row NaN; an infinity stays until one of the other sign, or a NaN, makes a NaN of it.
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::cumsum;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0], [1, 4])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 4])?;
/// cumsum(&x, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, 3.0, 6.0, 10.0]);
/// cumsum(&x, &mut y).reverse().launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [10.0, 9.0, 7.0, 4.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `cumsum` of dy with [`reverse`](Cumsum::reverse), and of a reversed one `cumsum` without.
#[operation(Cumsum, tuned)]
pub fn cumsum<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] y: ViewMut<T, 2>,
    /// Adds from the end: y\[.., j\] = the sum of x\[.., j..\].
    #[flag]
    reverse: bool,
) -> Result<()> {
    let [rows, columns] = x.shape();
    call.value("the number of columns", columns, columns < 1 << 30, "less than 2³⁰", "add parts of a row")?;
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = cumsum_kernel_tuned::<T>(x, y, reverse);
    call.tuned(kernel, |of| (of.R > 1) == (columns <= SHORT), |of| rows.div_ceil(of.R as usize))
}
