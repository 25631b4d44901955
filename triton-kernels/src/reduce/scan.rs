//! Cumulative sums and products of rows of any length.

use super::kernels::{cumprod_backward_kernel_tuned, cumprod_kernel_tuned, cumsum_kernel_tuned, row_sums_tuned};
use crate::Result;
use crate::element::FloatElement;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// The longest rows of which a program has several.
const SHORT: usize = 512;
/// Elements of a tile of longer ones.
const TILE: usize = 2048;
/// Tiles of a strip that is the whole row, of either size.
const MOST: i32 = 1 << 19;
/// Programs that a few long rows are divided among.
const PROGRAMS: usize = 1024;

/// y\[.., j\] = the sum of x\[.., ..=j\] along the last axis, as `torch.cumsum` with `dim=-1`. Sums are in `f32`, and each is rounded once.
///
/// Where there are few long rows, the sums of strips of them are computed first, and x is read twice; else a row is one program, tile after tile, and x is read
/// once. The order of additions follows from the shape: the result is the same each time.
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
    let is_short = columns <= SHORT;
    // Strips of whole steps of the sums.
    let tiles = columns.div_ceil(TILE);
    let each = if is_short { tiles } else { tiles.div_ceil(PROGRAMS.div_ceil(rows)).next_multiple_of(4) };
    let strips = if is_short { 1 } else { tiles.div_ceil(each) };
    let count = if strips > 1 { strips * rows } else { 0 };
    let (mut parts, mut sums) = (call.workspace::<f32>(count)?, call.workspace::<f32>(count)?);
    if strips > 1 {
        let (of_strips, none) = (parts.view_mut([1, strips, rows])?, call.view_mut(None));
        let step = (each / 4) as i32;
        let kernel =
            row_sums_tuned::<T>(x.split(0, [1, rows])?, call.view(None), none, of_strips, step, false, false, 1.0);
        call.tuned(kernel, |of| of.R == 1, |_| (rows, strips, 1))?;
        let (of_strips, to) = (parts.view([strips, rows])?.transpose(), sums.view_mut([rows, strips])?);
        let kernel = cumsum_kernel_tuned::<f32>(of_strips, to, call.view(None), MOST, reverse);
        call.tuned(kernel, |of| of.R == 1, |_| (rows, 1))?;
    }
    let sums = if strips > 1 { sums.view([rows, strips])? } else { call.view(None) };
    let tiles = if strips > 1 { each as i32 } else { MOST };
    let grid = |rows_of: i32| (rows.div_ceil(rows_of as usize), strips);
    let kernel = cumsum_kernel_tuned::<T>(x, y, sums, tiles, reverse);
    call.tuned(kernel, |of| (of.R > 1) == is_short, |of| grid(of.R))
}

/// y\[.., j\] = the product of x\[.., ..=j\] along the last axis, as `torch.cumprod` with `dim=-1`. Products are in `f32`, and each is rounded once.
///
/// A row of any length is one program, tile after tile, in an order that follows from its length: the result is the same each time. x is read once.
///
/// A NaN makes itself and what follows it in its row NaN, as does an infinity with a 0. Neighbours are multiplied first, so that a product of some of them may
/// overflow where all up to an element do not.
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::cumprod;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[2.0f32, 3.0, -1.0, 0.5], [1, 4])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 4])?;
/// cumprod(&x, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [2.0, 6.0, -6.0, -3.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(Cumprod, tuned)]
pub fn cumprod<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] y: ViewMut<T, 2>,
) -> Result<()> {
    let [rows, columns] = x.shape();
    call.value("the number of columns", columns, columns < 1 << 30, "less than 2³⁰", "multiply parts of a row")?;
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = cumprod_kernel_tuned::<T>(x, y);
    call.tuned(kernel, |of| (of.R > 1) == (columns <= SHORT), |of| rows.div_ceil(of.R as usize))
}

/// The gradient of y = [`cumprod`]`(x)` for x, from dy: dx\[j\] = Σ dy\[k\] · the product of x\[..=k\] without x\[j\], over k from j on. Nothing is divided by x,
/// which may have zeros.
///
/// Products are in `f32`, and each sum is rounded once, in an order that follows from the length of a row: the result is the same each time.
///
/// A NaN reaches its row.
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::cumprod_backward;
///
/// let stream = Device::cpu().stream()?;
/// let (x, y) = (stream.tensor(&[2.0f32, 0.0, 5.0], [1, 3])?, stream.tensor(&[2.0f32, 0.0, 0.0], [1, 3])?);
/// let (dy, mut dx) = (stream.tensor(&[1.0f32, 1.0, 1.0], [1, 3])?, stream.tensor_uninit::<f32, _>([1, 3])?);
/// cumprod_backward(&x, &y, &dy, &mut dx).launch(&stream)?;
/// assert_eq!(stream.download(&dx)?, [1.0, 12.0, 0.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(CumprodBackward, tuned)]
pub fn cumprod_backward<T: FloatElement>(
    call: Call,
    #[axes(.., c)] x: View<T, 2>,
    #[axes(.., c)] y: View<T, 2>,
    #[axes(.., c)] dy: View<T, 2>,
    #[axes(.., c)] dx: ViewMut<T, 2>,
) -> Result<()> {
    let [rows, columns] = x.shape();
    call.value("the number of columns", columns, columns < 1 << 30, "less than 2³⁰", "multiply parts of a row")?;
    if rows == 0 || columns == 0 {
        return Ok(());
    }
    let kernel = cumprod_backward_kernel_tuned::<T>(x, y, dy, dx);
    call.tuned(kernel, |of| (of.R > 1) == (columns <= SHORT), |of| rows.div_ceil(of.R as usize))
}
