//! Linear layers whose sums over ranks run beside the products.

use super::parts::split;
use crate::element::{FloatElement, SumOf};
use crate::error::{Result, extent};
use crate::linear::{GemmElement, gemm, linear_backward};
use triton::{Element, IntoView, IntoViewMut, Stream, View, ViewMut, Workspace};
use triton_collective::{Communicator, Reduce};

/// On two H200s by NVLink a sum beside a product is not faster than after it: both share the multiprocessors. Where the way between ranks is slower, as between
/// hosts, several parts hide some of it.
const PARTS: usize = 1;

/// Builder of a row-parallel linear layer, returned by [`row_linear`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
pub struct RowLinear<'a, T> {
    communicator: &'a Communicator,
    x: View<'a, T, 2>,
    w: View<'a, T, 2>,
    y: ViewMut<'a, T, 2>,
    bias: Option<View<'a, T, 1>>,
    parts: usize,
}

/// y = Σ x · w over all ranks, + bias: of x \[m, k\] and w \[k, n\] each rank has other k, and all get y \[m, n\]. y is contiguous.
///
/// With several [`parts`](RowLinear::parts) of the rows the sum of one, on the communicator's own stream, runs beside the product of the next. A rank's part of a sum
/// is rounded to the type of the operands before it is passed.
///
/// ```
/// use triton_collective::on_all;
/// use triton::prelude::*;
/// use triton_kernels::parallel::row_linear;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let y = on_all(&[Device::cpu(), Device::cpu()], |communicator| -> triton_kernels::Result<Vec<f32>> {
///     let stream = communicator.device().stream()?;
///     // x is [1, 2], and w is [2, 2]: each rank has a column of x and a row of w.
///     let (x, w) = match communicator.rank() {
///         0 => (stream.tensor(&[1.0f32], [1, 1])?, stream.tensor(&[1.0f32, 2.0], [1, 2])?),
///         _ => (stream.tensor(&[10.0f32], [1, 1])?, stream.tensor(&[3.0f32, 4.0], [1, 2])?),
///     };
///     let mut y = stream.tensor_uninit::<f32, _>([1, 2])?;
///     row_linear(communicator, &x, &w, &mut y).launch(&stream)?;
///     Ok(stream.download(&y)?)
/// })?;
/// assert_eq!(y, [[31.0, 42.0], [31.0, 42.0]]);
/// # Ok(())
/// # }
/// ```
///
/// Its gradient: [`linear_backward`](crate::linear::linear_backward) of each rank's part.
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), or an error of the device or of the communicator.
pub fn row_linear<'a, T: GemmElement<T> + FloatElement>(
    communicator: &'a Communicator,
    x: impl IntoView<'a, T, 2>,
    w: impl IntoView<'a, T, 2>,
    y: impl IntoViewMut<'a, T, 2>,
) -> RowLinear<'a, T> {
    let (x, w, y) = (x.into_view(), w.into_view(), y.into_view_mut());
    RowLinear { communicator, x, w, y, bias: None, parts: PARTS }
}

impl<'a, T: GemmElement<T> + FloatElement> RowLinear<'a, T> {
    /// Adds a bias \[n\], which all ranks have.
    pub fn bias(self, bias: impl IntoView<'a, T, 1>) -> Self {
        RowLinear { bias: Some(bias.into_view()), ..self }
    }

    /// How many parts the rows are made in, where there are enough: 1 unless it is set. The last ones are the smallest. Several pay where
    /// the ranks' connection is slow.
    pub fn parts(self, parts: usize) -> Self {
        RowLinear { parts, ..self }
    }

    /// Enqueues the products and the sums.
    ///
    /// # Errors
    /// See [`row_linear`].
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let RowLinear { communicator, x, w, y, bias, parts } = self;
        let ([m, k], [depth, n]) = (x.shape(), w.shape());
        let fix = "x is [m, k], w is [k, n], y is [m, n], bias is [n]";
        extent("row_linear", "w", 0, [depth, k], fix)?;
        extent("row_linear", "y", 0, [y.shape()[0], m], fix)?;
        extent("row_linear", "y", 1, [y.shape()[1], n], fix)?;
        bias.map_or(Ok(()), |bias| extent("row_linear", "bias", 0, [bias.shape()[0], n], fix))?;
        sum_product(communicator, stream, parts, [x, w], bias, y).map(drop)
    }
}

/// c = Σ a · b over all ranks. What is returned is in use until the sums are done: the stream waits for them where it is dropped.
fn sum_product<T: GemmElement<T> + FloatElement>(
    communicator: &Communicator,
    stream: &Stream,
    parts: usize,
    [a, b]: [View<'_, T, 2>; 2],
    bias: Option<View<'_, T, 1>>,
    mut c: ViewMut<'_, T, 2>,
) -> Result<Vec<Workspace<T>>> {
    let product = |a, c: ViewMut<'_, T, 2>, bias: Option<View<'_, T, 1>>| {
        let product = gemm(a, b, c);
        if let Some(bias) = bias { product.bias(bias) } else { product }.launch(stream)
    };
    if communicator.world() == 1 {
        product(a, c, bias)?;
        return Ok(Vec::new());
    }
    // One rank adds the bias. A capture is of one stream.
    let bias = bias.filter(|_| communicator.rank() == 0);
    let beside = if stream.is_captured() { stream.clone() } else { communicator.stream()? };
    let ([rows, columns], mut held) = (c.shape(), Vec::new());
    for rows in split(rows, parts) {
        // Memory of its own: work on two streams that shares an allocation is in one order.
        let mut partial = stream.workspace::<T>(rows.len() * columns)?;
        product(a.narrow(0, rows.clone())?, partial.view_mut([rows.len(), columns])?, bias)?;
        let sum = c.reborrow().narrow(0, rows.clone())?;
        communicator.all_reduce_into(&beside, partial.view([rows.len(), columns])?, sum, Reduce::Sum)?;
        held.push(partial);
    }
    Ok(held)
}

/// Builder of the gradients of a column-parallel linear layer, returned by [`column_linear_backward`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
pub struct ColumnLinearBackward<'a, T, W, B> {
    communicator: &'a Communicator,
    x: View<'a, T, 2>,
    w: View<'a, T, 2>,
    dy: View<'a, T, 2>,
    dx: ViewMut<'a, T, 2>,
    dw: Option<ViewMut<'a, W, 2>>,
    db: Option<ViewMut<'a, B, 1>>,
    parts: usize,
}

/// The gradients of a column-parallel linear layer y = x · w + b, of which all ranks have x \[m, k\], and each has other columns n of w \[k, n\], of b \[n\]
/// and of dy \[m, n\]: dx = Σ dy · wᵀ over all ranks, which all get, and with [`dw`](ColumnLinearBackward::dw) and
/// [`db`](ColumnLinearBackward::db) those of the rank's own part.
///
/// The sum of dx runs beside the product of dw.
///
/// ```
/// use triton::prelude::*;
/// use triton_collective::on_all;
/// use triton_kernels::parallel::column_linear_backward;
///
/// # fn main() -> triton_kernels::Result<()> {
/// let dx = on_all(&[Device::cpu(), Device::cpu()], |communicator| -> triton_kernels::Result<Vec<f32>> {
///     let stream = communicator.device().stream()?;
///     let x = stream.tensor(&[5.0f32, 6.0], [1, 2])?;
///     let w = stream.tensor(&[[1.0f32, 2.0], [3.0, 4.0]][communicator.rank()], [2, 1])?;
///     let dy = stream.tensor(&[[1.0f32], [10.0]][communicator.rank()], [1, 1])?;
///     let (mut dx, mut dw) = (stream.tensor_uninit([1, 2])?, stream.tensor_uninit::<f32, _>([2, 1])?);
///     let gradients = column_linear_backward(communicator, &x, &w, &dy, &mut dx).dw(&mut dw);
///     gradients.launch(&stream)?;
///     Ok(stream.download(&dx)?)
/// })?;
/// assert_eq!(dx, [[31.0, 42.0], [31.0, 42.0]]);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `launch` returns [`Error::Shape`](crate::Error::Shape), or an error of the device or of the communicator.
pub fn column_linear_backward<'a, T: GemmElement<T> + FloatElement>(
    communicator: &'a Communicator,
    x: impl IntoView<'a, T, 2>,
    w: impl IntoView<'a, T, 2>,
    dy: impl IntoView<'a, T, 2>,
    dx: impl IntoViewMut<'a, T, 2>,
) -> ColumnLinearBackward<'a, T, T, T> {
    let (x, w, dy, dx) = (x.into_view(), w.into_view(), dy.into_view(), dx.into_view_mut());
    ColumnLinearBackward { communicator, x, w, dy, dx, dw: None, db: None, parts: PARTS }
}

impl<'a, T, W, B> ColumnLinearBackward<'a, T, W, B> {
    /// Asks for the gradient of w, \[k, n\], in the type of the operands or in `f32`.
    pub fn dw<V: Element>(self, dw: impl IntoViewMut<'a, V, 2>) -> ColumnLinearBackward<'a, T, V, B> {
        let ColumnLinearBackward { communicator, x, w, dy, dx, db, parts, .. } = self;
        ColumnLinearBackward { communicator, x, w, dy, dx, dw: Some(dw.into_view_mut()), db, parts }
    }

    /// Asks for the gradient of the bias, \[n\], in the type of the operands or in `f32`.
    pub fn db<V: Element>(self, db: impl IntoViewMut<'a, V, 1>) -> ColumnLinearBackward<'a, T, W, V> {
        let ColumnLinearBackward { communicator, x, w, dy, dx, dw, parts, .. } = self;
        ColumnLinearBackward { communicator, x, w, dy, dx, dw, db: Some(db.into_view_mut()), parts }
    }

    /// How many parts the rows of dx are made in, where there are enough: 1 unless it is set. The last ones are the smallest. Several pay where
    /// the ranks' connection is slow.
    pub fn parts(self, parts: usize) -> Self {
        ColumnLinearBackward { parts, ..self }
    }
}

impl<T, W, B> ColumnLinearBackward<'_, T, W, B>
where
    T: GemmElement<T> + GemmElement<W> + FloatElement,
    W: Element,
    B: SumOf<T>,
{
    /// Enqueues the products and the sums.
    ///
    /// # Errors
    /// See [`column_linear_backward`].
    pub fn launch(self, stream: &Stream) -> Result<()> {
        let ColumnLinearBackward { communicator, x, w, dy, dx, dw, db, parts } = self;
        let ([m, k], [depth, n]) = (x.shape(), w.shape());
        let fix = "x is [m, k], w is [k, n], dy is [m, n], dx is [m, k], db is [n]";
        let same = |operand, found: [usize; 2], expected: [usize; 2]| {
            (0..2).try_for_each(|i| extent("column_linear_backward", operand, i, [found[i], expected[i]], fix))
        };
        same("w", [depth, n], [k, n])?;
        same("dy", dy.shape(), [m, n])?;
        same("dx", dx.shape(), [m, k])?;
        dw.as_ref().map_or(Ok(()), |dw| same("dw", dw.shape(), [k, n]))?;
        db.as_ref().map_or(Ok(()), |db| extent("column_linear_backward", "db", 0, [db.shape()[0], n], fix))?;
        let _held = sum_product(communicator, stream, parts, [dy, w.transpose()], None, dx)?;
        let own = linear_backward(x, w, dy);
        match (dw, db) {
            (Some(dw), Some(db)) => own.dw(dw).db(db).launch(stream),
            (Some(dw), None) => own.dw(dw).launch(stream),
            (None, Some(db)) => own.db(db).launch(stream),
            (None, None) => Ok(()),
        }
    }
}
