//! Reductions over one axis or several: sum, mean, max, min, variance, norm, any, all.

use super::axes::{Axes, Seen, seen};
use super::kernels::{ColumnExtremesPool, ColumnSumsPool, OfStripsInstance, RowExtremesPool, RowSumsPool};
use super::kernels::{column_extremes_tuned, column_sums_tuned, of_strips, row_extremes_tuned, row_sums_tuned};
use crate::Result;
use crate::element::FloatElement;
use crate::grid::{MOST, chunks};
use crate::operation::{Call, Request, operation};
use triton::prelude::*;

/// The most strips of what is reduced.
const STRIPS: usize = 512;
/// The longest rows of which a program has several.
const SHORT: usize = 512;
/// The elements that a program of longer rows has at a time: a strip is a multiple of it.
const LONG: usize = 4 * 2048;

/// What is made of many elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reduction {
    /// Their sum.
    Sum,
    /// Their sum by their number.
    Mean,
    /// The greatest one.
    Max,
    /// The least one.
    Min,
    /// The mean square of their differences from the mean.
    Var,
    /// The root of the sum of their squares.
    Norm,
    /// 1 if one of them is not 0, else 0.
    Any,
    /// 1 if none of them is 0, else 0.
    All,
}

/// One pass over x.
#[derive(Clone, Copy, Debug)]
enum Pass {
    Sums { square: bool, root: bool, factor: f32 },
    Extremes { truth: bool, sign: f32 },
}

impl Reduction {
    /// The pass that makes the result of `n` elements; of a variance the second one.
    fn pass(self, n: usize, correction: usize) -> Pass {
        let factor = |of: usize| (1.0 / of as f64) as f32;
        match self {
            Reduction::Sum => Pass::Sums { square: false, root: false, factor: 1.0 },
            Reduction::Mean => Pass::Sums { square: false, root: false, factor: factor(n) },
            Reduction::Var => Pass::Sums { square: true, root: false, factor: factor(n.saturating_sub(correction)) },
            Reduction::Norm => Pass::Sums { square: true, root: true, factor: 1.0 },
            Reduction::Max => Pass::Extremes { truth: false, sign: 1.0 },
            Reduction::Min => Pass::Extremes { truth: false, sign: -1.0 },
            Reduction::Any => Pass::Extremes { truth: true, sign: 1.0 },
            Reduction::All => Pass::Extremes { truth: true, sign: -1.0 },
        }
    }
}

/// y\[i, j\] = a reduction of x\[i, .., j\], which is chosen at run time. [`sum`], [`mean`], [`max`], [`min`], [`var`], [`norm`], [`any`] and [`all`] are functions
/// of their own for any axes, which see x in this way: p, r and q are the products of the extents before, of and after the axes that are reduced.
///
/// A NaN or an infinity reaches the result that it is a term of, and no other one. Values are as those functions say.
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::{Reduction, reduce};
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 5.0, 3.0, 2.0], [1, 2, 2])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 2])?;
/// for (reduction, expected) in [(Reduction::Sum, [4.0, 7.0]), (Reduction::Max, [3.0, 5.0])] {
///     reduce(&x, reduction, &mut y).launch(&stream)?;
///     assert_eq!(stream.download(&y)?, expected);
/// }
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: that of the function of this name.
#[operation(Reduce, tuned)]
pub fn reduce<T: FloatElement>(
    call: Call,
    #[axes(p, r, q)] x: View<T, 3>,
    reduction: Reduction,
    #[axes(p, q)] mut y: ViewMut<T, 2>,
    /// Degrees of freedom that a variance subtracts from the number of elements: 1 by default (Bessel's correction), 0 for the biased variance.
    correction: Option<usize>,
) -> Result<()> {
    let [p, r, q] = x.shape();
    let is_var = reduction == Reduction::Var;
    let of = correction.unwrap_or(1);
    call.value("correction", of, correction.is_none() || is_var, "none", "it is an option of `var`")?;
    call.value("the number of elements", r, r < 1 << 30, "less than 2³⁰", "reduce parts of the axis")?;
    if p == 0 || q == 0 {
        return Ok(());
    }
    // Rows as [batch, rows, reduced]; else [batch, reduced, columns].
    let [outer, stride, beside] = x.strides().map(isize::unsigned_abs);
    let (x, rows, p, q) = match (q, stride == 1) {
        // Rows whose elements are apart, but next to those of another row, are columns.
        (1, false) if p > 1 && outer == 1 => (x.permute([2, 1, 0])?, false, 1, p),
        (1, _) => (x.reshape([1, p, r])?, true, 1, p),
        (_, true) if beside != 1 => (x.permute([0, 2, 1])?, true, p, q),
        _ => (x, false, p, q),
    };
    y = y.reshape([p, q])?;
    let pass = reduction.pass(r, of);
    if !is_var {
        let to = Out { y: Some(y), single: None };
        return Plan { call, x, rows, shape: [p, r, q], mean: None }.run(pass, to);
    }
    let mut mean = call.workspace::<f32>(p * q)?;
    let to = Out { y: None, single: Some(mean.view_mut([p, q])?) };
    Plan { call, x, rows, shape: [p, r, q], mean: None }.run(Reduction::Mean.pass(r, 0), to)?;
    let mean = Some(mean.view([p, q])?);
    Plan { call, x, rows, shape: [p, r, q], mean }.run(pass, Out { y: Some(y), single: None })
}

/// Where a pass stores, in one of two types.
struct Out<'a, T> {
    y: Option<ViewMut<'a, T, 2>>,
    single: Option<ViewMut<'a, f32, 2>>,
}

/// x as kernels take it: of `rows` \[batch, rows, reduced\], else \[batch, reduced, columns\].
struct Plan<'a, 'c, T> {
    call: Call<'c>,
    x: View<'a, T, 3>,
    rows: bool,
    /// Of x: batch, reduced, the other axis.
    shape: [usize; 3],
    mean: Option<View<'a, f32, 2>>,
}

impl<T: FloatElement> Plan<'_, '_, T>
where
    triton::Compiled:
        RowSumsPool<T> + RowExtremesPool<T> + ColumnSumsPool<T> + ColumnExtremesPool<T> + OfStripsInstance<T>,
{
    /// Strips of how many elements, and how many of them: enough programs for a large GPU, and enough elements for each.
    fn strips(&self) -> [usize; 2] {
        let [p, r, q] = self.shape;
        let (width, step) = match self.rows {
            // Short rows are several a program.
            true if r <= SHORT => return [r.max(1), 1],
            true => (1, LONG),
            false => (256 / size_of::<T>(), 128),
        };
        let wanted = 1024usize.div_ceil(p.saturating_mul(q.div_ceil(width)).max(1)).min(STRIPS);
        let each = r.div_ceil(wanted).max(2 * step).next_multiple_of(step);
        [each, r.div_ceil(each).max(1)]
    }

    fn run(mut self, pass: Pass, mut to: Out<'_, T>) -> Result<()> {
        let ([each, strips], [p, _, q]) = (self.strips(), self.shape);
        if strips == 1 {
            // The parts are those of one strip.
            let parts = to.single.map(|single| single.reshape([p, 1, q])).transpose()?;
            return self.strip(pass, to.y, parts, each, 1);
        }
        let mut memory = self.call.workspace::<f32>(p * strips * q)?;
        let part = match pass {
            Pass::Sums { square, .. } => Pass::Sums { square, root: false, factor: 1.0 },
            Pass::Extremes { .. } => pass,
        };
        self.strip(part, None, Some(memory.view_mut([p, strips, q])?), each, strips)?;
        let (extreme, sign, root, factor) = match pass {
            Pass::Sums { root, factor, .. } => (false, 1.0, root, factor),
            Pass::Extremes { sign, .. } => (true, sign, false, 1.0),
        };
        let parts = memory.view([p, strips, q])?;
        for batch in chunks(p, MOST) {
            let (y, single) = (part_of(&mut to.y, batch.clone())?, part_of(&mut to.single, batch.clone())?);
            let (y, single) = (self.call.view_mut(y), self.call.view_mut(single));
            let grid = (q.div_ceil(16), 1, batch.len());
            let of_batch = parts.narrow(0, batch)?;
            self.call.launch(of_strips::<T>(of_batch, y, single, extreme, sign, root, factor), grid)?;
        }
        Ok(())
    }

    /// A pass over strips.
    fn strip(
        &mut self,
        pass: Pass,
        mut y: Option<ViewMut<'_, T, 2>>,
        mut parts: Option<ViewMut<'_, f32, 3>>,
        each: usize,
        strips: usize,
    ) -> Result<()> {
        let ([p, r, q], call) = (self.shape, self.call);
        let each = i32::try_from(each).unwrap_or(i32::MAX);
        let tiles = each / LONG as i32 + i32::from(r <= SHORT);
        for batch in chunks(p, MOST) {
            let x = self.x.narrow(0, batch.clone())?;
            let mean = self.mean.map(|mean| mean.narrow(0, batch.clone())).transpose()?;
            let (y, parts) = (part_of(&mut y, batch.clone())?, part_of(&mut parts, batch.clone())?);
            let (mean, y, parts) = (call.view(mean), call.view_mut(y), call.view_mut(parts));
            let grid = |width: i32| (q.div_ceil(width as usize), strips, batch.len());
            let is_short = r <= SHORT;
            match (pass, self.rows) {
                (Pass::Sums { square, root, factor }, true) => {
                    let kernel = row_sums_tuned::<T>(x, mean, y, parts, tiles, square, root, factor);
                    call.tuned(kernel, |of| (of.R > 1) == is_short, |of| grid(of.R))?;
                }
                (Pass::Sums { square, root, factor }, false) => {
                    let kernel = column_sums_tuned::<T>(x, mean, y, parts, each, square, root, factor);
                    call.tuned(kernel, |_| true, |of| grid(of.C))?;
                }
                (Pass::Extremes { truth, sign }, true) => {
                    let kernel = row_extremes_tuned::<T>(x, y, parts, tiles, truth, sign);
                    call.tuned(kernel, |of| (of.R > 1) == is_short, |of| grid(of.R))?;
                }
                (Pass::Extremes { truth, sign }, false) => {
                    let kernel = column_extremes_tuned::<T>(x, y, parts, each, truth, sign);
                    call.tuned(kernel, |_| true, |of| grid(of.C))?;
                }
            }
        }
        Ok(())
    }
}

/// The part of an output that may be absent.
fn part_of<'v, E: Element, const R: usize>(
    of: &'v mut Option<ViewMut<'_, E, R>>,
    batch: std::ops::Range<usize>,
) -> Result<Option<ViewMut<'v, E, R>>> {
    Ok(of.as_mut().map(|of| of.reborrow().narrow(0, batch)).transpose()?)
}

/// The builder of a reduction over axes.
fn over<'a, T: FloatElement, const R: usize, const Q: usize>(
    op: &'static str,
    x: impl IntoView<'a, T, R>,
    axes: Axes,
    y: impl IntoViewMut<'a, T, Q>,
    reduction: Reduction,
) -> Reduce<'a, T> {
    let Seen { x, y } = seen(op, x.into_view(), &axes, y.into_view_mut());
    Reduce { request: Request::new(op), x, reduction, y, correction: None }
}

/// The sum of x over axes, as `torch.sum` with `dim`: y has the axes that are left, or all of them with extent 1 for each that is reduced, as
/// with `keepdim`. Of no elements it is 0.
///
/// A NaN or an infinity reaches the sums that it is a term of, and no other one. x is read once; where there are few sums, strips of it are added in
/// parallel, and a second launch adds their sums in the order of the strips.
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::sum;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0], [2, 3])?;
/// let (mut rows, mut all) = (stream.tensor_uninit::<f32, _>([2])?, stream.tensor_uninit::<f32, _>([1])?);
/// sum(&x, 1, &mut rows).launch(&stream)?;
/// sum(&x, .., &mut all).launch(&stream)?;
/// assert_eq!((stream.download(&rows)?, stream.download(&all)?), (vec![6.0, 60.0], vec![66.0]));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: dy, [broadcast](View::broadcast) along the axes.
pub fn sum<'a, T: FloatElement, const R: usize, const Q: usize>(
    x: impl IntoView<'a, T, R>,
    axes: impl Into<Axes>,
    y: impl IntoViewMut<'a, T, Q>,
) -> Reduce<'a, T> {
    over("sum", x, axes.into(), y, Reduction::Sum)
}

/// The mean of x over axes, as `torch.mean` with `dim`. Of no elements it is NaN.
///
/// Axes, extents and values at the edge are as of [`sum`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::mean;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 10.0, 20.0, 30.0], [1, 2, 3])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1, 3])?;
/// mean(&x, 1, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [5.5, 11.0, 16.5]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: dy by the number of elements, broadcast along the axes.
pub fn mean<'a, T: FloatElement, const R: usize, const Q: usize>(
    x: impl IntoView<'a, T, R>,
    axes: impl Into<Axes>,
    y: impl IntoViewMut<'a, T, Q>,
) -> Reduce<'a, T> {
    over("mean", x, axes.into(), y, Reduction::Mean)
}

/// The greatest element of x over axes, as `torch.amax` with `dim`. Of no elements it is −∞. [`argmax`](super::argmax) gives its index.
///
/// A NaN makes the result that it is an element of NaN. Axes and extents are as of [`sum`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::max;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 4.0, -3.0, f32::NAN, 5.0, 6.0], [2, 3])?;
/// let mut y = stream.tensor_uninit::<f32, _>([2])?;
/// max(&x, 1, &mut y).launch(&stream)?;
/// let y = stream.download(&y)?;
/// assert!(y[0] == 4.0 && y[1].is_nan());
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: dy where the greatest element is, and 0 elsewhere.
pub fn max<'a, T: FloatElement, const R: usize, const Q: usize>(
    x: impl IntoView<'a, T, R>,
    axes: impl Into<Axes>,
    y: impl IntoViewMut<'a, T, Q>,
) -> Reduce<'a, T> {
    over("max", x, axes.into(), y, Reduction::Max)
}

/// The least element of x over axes, as `torch.amin` with `dim`. Of no elements it is +∞. [`argmin`](super::argmin) gives its index.
///
/// A NaN makes the result that it is an element of NaN. Axes and extents are as of [`sum`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::min;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 4.0, -3.0, 7.0, 5.0, 6.0], [2, 3])?;
/// let mut y = stream.tensor_uninit::<f32, _>([3])?;
/// min(&x, 0, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [1.0, 4.0, -3.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: dy where the least element is, and 0 elsewhere.
pub fn min<'a, T: FloatElement, const R: usize, const Q: usize>(
    x: impl IntoView<'a, T, R>,
    axes: impl Into<Axes>,
    y: impl IntoViewMut<'a, T, Q>,
) -> Reduce<'a, T> {
    over("min", x, axes.into(), y, Reduction::Min)
}

/// The variance of x over axes, as `torch.var` with `dim`: Σ (x − mean)² / (n − [`correction`](Reduce::correction)), where the correction is 1 by default.
/// The mean is computed first, so that x is read twice, and differences from it do not cancel. Of no more elements than the correction it is NaN
/// or infinite.
///
/// Squares of differences above 10¹⁹ are infinite. A NaN or an infinity makes the result that it is a term of NaN. Axes and extents are as of [`sum`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::var;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 3.0], [1, 6])?;
/// let mut y = stream.tensor_uninit::<f32, _>([1])?;
/// var(&x, 1, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [2.0]);
/// var(&x, 1, &mut y).correction(0).launch(&stream)?;
/// assert!((stream.download(&y)?[0] - 10.0 / 6.0).abs() < 1e-6);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: 2 (x − mean) dy / (n − correction).
pub fn var<'a, T: FloatElement, const R: usize, const Q: usize>(
    x: impl IntoView<'a, T, R>,
    axes: impl Into<Axes>,
    y: impl IntoViewMut<'a, T, Q>,
) -> Reduce<'a, T> {
    over("var", x, axes.into(), y, Reduction::Var)
}

/// The 2-norm of x over axes, √(Σ x²), as `torch.linalg.vector_norm` with `dim`. Of no elements it is 0.
///
/// Squares are added in `f32` as they are: of elements above 10¹⁹ the norm is infinite, and of those below 10⁻²³ it is 0. A NaN makes the norm that it is a
/// term of NaN. Axes and extents are as of [`sum`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::norm;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[3.0f32, 4.0, -5.0, 12.0], [2, 2])?;
/// let mut y = stream.tensor_uninit::<f32, _>([2])?;
/// norm(&x, 1, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [5.0, 13.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: x · dy / y.
pub fn norm<'a, T: FloatElement, const R: usize, const Q: usize>(
    x: impl IntoView<'a, T, R>,
    axes: impl Into<Axes>,
    y: impl IntoViewMut<'a, T, Q>,
) -> Reduce<'a, T> {
    over("norm", x, axes.into(), y, Reduction::Norm)
}

/// Whether an element of x over axes is not 0, as `torch.any` with `dim`: 1 if there is one, else 0, in the type of x. Of no elements it is 0.
///
/// A NaN is not 0. Axes and extents are as of [`sum`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::any;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[0.0f32, 0.0, 0.0, f32::NAN], [2, 2])?;
/// let mut y = stream.tensor_uninit::<f32, _>([2])?;
/// any(&x, 1, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: 0.
pub fn any<'a, T: FloatElement, const R: usize, const Q: usize>(
    x: impl IntoView<'a, T, R>,
    axes: impl Into<Axes>,
    y: impl IntoViewMut<'a, T, Q>,
) -> Reduce<'a, T> {
    over("any", x, axes.into(), y, Reduction::Any)
}

/// Whether none of the elements of x over axes is 0, as `torch.all` with `dim`: 1 if so, else 0, in the type of x. Of no elements it is 1.
///
/// A NaN is not 0. Axes and extents are as of [`sum`].
///
/// ```
/// use triton::Device;
/// use triton_kernels::reduce::all;
///
/// let stream = Device::cpu().stream()?;
/// let x = stream.tensor(&[0.0f32, 2.0, -1.0, f32::NAN], [2, 2])?;
/// let mut y = stream.tensor_uninit::<f32, _>([2])?;
/// all(&x, 1, &mut y).launch(&stream)?;
/// assert_eq!(stream.download(&y)?, [0.0, 1.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: 0.
pub fn all<'a, T: FloatElement, const R: usize, const Q: usize>(
    x: impl IntoView<'a, T, R>,
    axes: impl Into<Axes>,
    y: impl IntoViewMut<'a, T, Q>,
) -> Reduce<'a, T> {
    over("all", x, axes.into(), y, Reduction::All)
}
