//! Linear layers whose sums over ranks run beside the products.

use super::parts::{Block, blocks, split};
use crate::element::{FloatElement, SumOf};
use crate::error::{Result, extent};
use crate::linear::{GemmElement, add_product, gemm, linear_backward};
use triton::{Element, IntoView, IntoViewMut, Stream, View, ViewMut, Workspace};
use triton_collective::{Communicator, Passage, Reduce};

/// Elements of the largest tiles: a part of a product has one for each multiprocessor, or nearly.
const TILE: usize = 128 * 256;

/// Builder of a row-parallel linear layer, returned by [`row_linear`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
pub struct RowLinear<'a, T> {
    communicator: &'a Communicator,
    x: View<'a, T, 2>,
    w: View<'a, T, 2>,
    y: ViewMut<'a, T, 2>,
    bias: Option<View<'a, T, 1>>,
    parts: Option<usize>,
}

/// y = Σ x · w over all ranks, + bias: of x \[m, k\] and w \[k, n\] each rank has other k, and all get y \[m, n\]. y is contiguous.
///
/// With several [`parts`](RowLinear::parts) of the rows that of one is passed beside the product of the next. Where ranks have a
/// [passage](Communicator::passage), the sums of a rank's rows go around the ranks, each of which adds its product, and are copied to all from there:
/// on GPUs by copy engines. Elsewhere the sum of each part is on the communicator's own stream. A rank's part of a sum is rounded to the type of the
/// operands before it is passed.
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
    RowLinear { communicator, x, w, y, bias: None, parts: None }
}

impl<'a, T: GemmElement<T> + FloatElement> RowLinear<'a, T> {
    /// Adds a bias \[n\], which all ranks have.
    pub fn bias(self, bias: impl IntoView<'a, T, 1>) -> Self {
        RowLinear { bias: Some(bias.into_view()), ..self }
    }

    /// How many parts the rows are made in, where there are enough. Ranks with a [passage](Communicator::passage) make as many products, at least one for
    /// each rank's rows; what is not a multiple of the world size divides the last one, whose copies nothing hides. Else it is the number of sums, of
    /// which the last ones are the smallest; several pay where the ranks' connection is slow.
    ///
    /// Unless it is set, it is twice the world size on GPUs with a passage, which a captured stream has not, if each part fills the device; and else 1: one
    /// product, and one sum.
    pub fn parts(self, parts: usize) -> Self {
        RowLinear { parts: Some(parts), ..self }
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
        sum_product(communicator, stream, parts, [x, w], bias, y)?.finish(communicator, stream)
    }
}

/// A sum over ranks that is enqueued, but for its end.
struct Pending<'a, 'c, T: Element> {
    /// What is in use until then: the stream waits for it where it is dropped.
    held: Vec<Workspace<T>>,
    /// What is passed, and into what.
    passed: Option<(Passage<'c>, ViewMut<'a, T, 2>, Vec<Block>)>,
}

impl<T: Element> Pending<'_, '_, T> {
    /// The stream waits for the sums that other ranks have finished.
    fn finish(self, communicator: &Communicator, stream: &Stream) -> Result<()> {
        let Pending { held, passed } = self;
        if let Some((mut passage, mut c, blocks)) = passed {
            let (rank, world, columns) = (communicator.rank(), communicator.world(), c.shape()[1]);
            for peer in (1..world).map(|ranks| (rank + ranks) % world) {
                for rows in &blocks[peer].finished {
                    let sums = c.reborrow().narrow(0, rows.clone())?;
                    passage.receive(stream, sums, peer, rows.start * columns)?;
                }
            }
            passage.finish(stream)?;
        }
        drop(held);
        Ok(())
    }
}

/// c = Σ a · b over all ranks.
fn sum_product<'a, 'c, T: GemmElement<T> + FloatElement>(
    communicator: &'c Communicator,
    stream: &Stream,
    parts: Option<usize>,
    [a, b]: [View<'_, T, 2>; 2],
    bias: Option<View<'_, T, 1>>,
    mut c: ViewMut<'a, T, 2>,
) -> Result<Pending<'a, 'c, T>> {
    let product = |a, c: ViewMut<'_, T, 2>, bias: Option<View<'_, T, 1>>| {
        let product = gemm(a, b, c);
        if let Some(bias) = bias { product.bias(bias) } else { product }.launch(stream)
    };
    if communicator.world() == 1 {
        product(a, c, bias)?;
        return Ok(Pending { held: Vec::new(), passed: None });
    }
    let ([rows, columns], mut held) = (c.shape(), Vec::new());
    let parts = parts.unwrap_or_else(|| by_default(communicator, stream, rows * columns));
    if parts > 1
        && let Some(passage) = communicator.passage(stream, c.reborrow())?
    {
        return passed(communicator, passage, stream, parts, [a, b], bias, c);
    }
    // One rank adds the bias. A capture is of one stream.
    let bias = bias.filter(|_| communicator.rank() == 0);
    let beside = if stream.is_captured() { stream.clone() } else { communicator.stream()? };
    for rows in split(rows, parts) {
        // Memory of its own: work on two streams that shares an allocation is in one order.
        let mut partial = stream.workspace::<T>(rows.len() * columns)?;
        product(a.narrow(0, rows.clone())?, partial.view_mut([rows.len(), columns])?, bias)?;
        let sum = c.reborrow().narrow(0, rows.clone())?;
        communicator.all_reduce_into(&beside, partial.view([rows.len(), columns])?, sum, Reduce::Sum)?;
        held.push(partial);
    }
    Ok(Pending { held, passed: None })
}

/// How many parts the rows are made in where nothing is said: several where GPUs copy beside products, and each part fills the multiprocessors.
fn by_default(communicator: &Communicator, stream: &Stream, elements: usize) -> usize {
    let parts = 2 * communicator.world();
    let device = communicator.device();
    let fills = || elements / parts / TILE * 8 >= device.machine().multiprocessors as usize * 7;
    if device.ordinal().is_some() && fills() && communicator.has_passage(stream) { parts } else { 1 }
}

/// c = Σ a · b over all ranks, by copies beside the products: the sums of each rank's rows go around the ranks, and each adds its product to them as it
/// stores it. The rank whose rows they are comes last, and sends them to all.
///
/// A rank receives sums where they end, and what it makes of those that are not its own is in memory of its own until it is sent.
fn passed<'a, 'c, T: GemmElement<T> + FloatElement>(
    communicator: &Communicator,
    mut passage: Passage<'c>,
    stream: &Stream,
    parts: usize,
    [a, b]: [View<'_, T, 2>; 2],
    bias: Option<View<'_, T, 1>>,
    mut c: ViewMut<'a, T, 2>,
) -> Result<Pending<'a, 'c, T>> {
    let (rank, world) = (communicator.rank(), communicator.world());
    let ([rows, columns], mut held) = (c.shape(), Vec::new());
    let blocks = blocks(rows, world, parts);
    let ahead = |ranks: usize| (rank + ranks) % world;
    for step in 0..world {
        let Block { parts, finished } = &blocks[ahead(2 * world - 1 - step)];
        for rows in parts {
            if step > 0 {
                let sums = c.reborrow().narrow(0, rows.clone())?;
                passage.receive(stream, sums, ahead(world - 1), rows.start * columns)?;
            }
            if step < world - 1 {
                let mut partial = stream.workspace::<T>(rows.len() * columns)?;
                let sums = c.as_view().narrow(0, rows.clone())?;
                let product = gemm(a.narrow(0, rows.clone())?, b, partial.view_mut([rows.len(), columns])?);
                if step > 0 { product.residual(sums) } else { product }.launch(stream)?;
                passage.send(stream, partial.view([rows.len(), columns])?, ahead(1), rows.start * columns)?;
                held.push(partial);
                continue;
            }
            for rows in finished.iter().filter(|part| rows.contains(&part.start)) {
                let own = [a.narrow(0, rows.clone())?, b];
                if bias.is_some() || !add_product(stream, own, c.reborrow().narrow(0, rows.clone())?)? {
                    let product = gemm(own[0], b, c.reborrow().narrow(0, rows.clone())?).beta(1.0);
                    if let Some(bias) = bias { product.bias(bias) } else { product }.launch(stream)?;
                }
                for peer in 1..world {
                    let sums = c.as_view().narrow(0, rows.clone())?;
                    passage.send(stream, sums, ahead(peer), rows.start * columns)?;
                }
            }
        }
    }
    Ok(Pending { held, passed: Some((passage, c, blocks)) })
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
    parts: Option<usize>,
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
    ColumnLinearBackward { communicator, x, w, dy, dx, dw: None, db: None, parts: None }
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

    /// How many parts the rows of dx are made in, where there are enough: see [`RowLinear::parts`].
    pub fn parts(self, parts: usize) -> Self {
        ColumnLinearBackward { parts: Some(parts), ..self }
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
        let sums = sum_product(communicator, stream, parts, [dy, w.transpose()], None, dx)?;
        let own = linear_backward(x, w, dy);
        match (dw, db) {
            (Some(dw), Some(db)) => own.dw(dw).db(db).launch(stream),
            (Some(dw), None) => own.dw(dw).launch(stream),
            (None, Some(db)) => own.db(db).launch(stream),
            (None, None) => Ok(()),
        }?;
        sums.finish(communicator, stream)
    }
}
