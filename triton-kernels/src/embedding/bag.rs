//! Sums, means and greatest elements of the rows of a table that a bag names, and the gradient of the table.

use crate::element::FloatElement;
use crate::error::{Result, extent};
use crate::grid::parts;
use crate::ids::{Ids, rows_of};
use crate::operation::{Call, operation};
use std::ops::Range;
use triton::prelude::*;

/// What is made of the rows of a bag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Bag {
    /// Their sum.
    Sum,
    /// Their mean.
    #[default]
    Mean,
    /// The greatest element of each column.
    Max,
}

impl Bag {
    /// The number by which kernels know it.
    fn number(self) -> i32 {
        match self {
            Bag::Sum => SUM,
            Bag::Mean => MEAN,
            Bag::Max => MAX,
        }
    }
}

#[triton::constant]
const SUM: i32 = 0;
#[triton::constant]
const MEAN: i32 = 1;
#[triton::constant]
const MAX: i32 = 2;

/// Where bag b begins and ends among `count` ids, by the offsets of all bags; of the two views of offsets one has no elements, and reads 0.
#[triton::function]
fn bounds(narrow: Tensor<i32, 1>, wide: Tensor<i64, 1>, bags: i32, b: i32, count: i32) -> (i32, i32) {
    let all = count.to::<i64>();
    let first = narrow.get([b]).to::<i64>() + wide.get([b]);
    let next = if b + 1 < bags { narrow.get([b + 1]).to::<i64>() + wide.get([b + 1]) } else { all };
    (minimum(maximum(first, 0), all).to::<i32>(), minimum(maximum(next, 0), all).to::<i32>())
}

/// The rows that 8 ids from k on name, or −1 where there is none, or the bag ends before.
#[triton::function]
fn entries(narrow: Tensor<i32, 1>, wide: Tensor<i64, 1>, k: i32, last: i32, count: i32) -> Tile<i32> {
    let ids = narrow.load([k], [8]).to::<i64>() + wide.load([k], [8]);
    select(k + arange(0, 8) < last, rows_of::<i64>(ids, count), -1)
}

/// Out of a bag, 256 columns a program; `places` is where in ids the row of a greatest element is named. Weights are of ids.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], warnings = false)]
fn bag_kernel<T: Float>(
    table: Tensor<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 1>,
    #[no_specialize] wide: Tensor<i64, 1>,
    #[no_specialize] narrow_offsets: Tensor<i32, 1>,
    #[no_specialize] wide_offsets: Tensor<i64, 1>,
    #[no_specialize] weights: Tensor<T, 1>,
    out: TensorMut<T, 2>,
    #[no_specialize] places: TensorMut<i32, 2>,
    #[no_specialize] count: i32,
    #[no_specialize] kind: i32,
    weighted: bool,
) {
    let (b, j) = (program_id(0), program_id(1) * 256);
    let (first, last) = bounds(narrow_offsets, wide_offsets, out.dim(0).to::<i32>(), b, count);
    let (rows, columns) = (table.dim(0).to::<i32>(), (j + arange(0, 256)).expand_dims(0));
    if kind == MAX {
        let (mut most, mut at) = (full([8, 256], f32::NEG_INFINITY), full([8, 256], i32::MAX));
        for k in (first..last).step_by(8) {
            let row = entries(narrow, wide, k, last, rows).expand_dims(1);
            let (v, place) = (table.gather([row, columns], row >= 0).to::<f32>(), (k + arange(0, 8)).expand_dims(1));
            // The first of equal ones; a NaN is the greatest.
            let is_greater = (v > most) | ((v != v) & (most == most));
            let is = (row >= 0) & (is_greater | ((v == most) & (place < at)));
            (most, at) = (select(is, v, most), select(is, place, at));
        }
        let (most, at) = reduce_axis((most, at), 0, |(a, i), (b, k)| {
            let is_greater = (b > a) | ((b != b) & (a == a));
            let is = is_greater | (((b == a) | ((b != b) & (a != a))) & (k < i));
            (select(is, b, a), select(is, k, i))
        });
        // Of no rows it is 0.
        out.store([b, j], select(at == i32::MAX, 0.0, most).expand_dims(0).to::<T>());
        places.store([b, j], select(at == i32::MAX, -1, at).expand_dims(0));
    } else {
        let (mut total, mut named) = (zeros::<f32>([8, 256]), zeros::<i32>([8]));
        for k in (first..last).step_by(8) {
            let row = entries(narrow, wide, k, last, rows);
            named += (row >= 0).to::<i32>();
            let row = row.expand_dims(1);
            let v = table.gather([row, columns], row >= 0).to::<f32>();
            if weighted {
                let weight = weights.load([k], [8]).to::<f32>().expand_dims(1);
                total += select(row >= 0, v * weight, 0.0);
            } else {
                total += v;
            }
        }
        let divisor = if kind == MEAN { maximum(sum(named), 1).to::<f32>() } else { 1.0 };
        out.store([b, j], (sum_axis(total, 0).expand_dims(0) / divisor).to::<T>());
    }
}

/// dtable\[row\] += dy of each bag that names the row, by its divisor or weight, in any order.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], warnings = false)]
fn bag_backward_kernel<T: Float>(
    dy: Tensor<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 1>,
    #[no_specialize] wide: Tensor<i64, 1>,
    #[no_specialize] narrow_offsets: Tensor<i32, 1>,
    #[no_specialize] wide_offsets: Tensor<i64, 1>,
    #[no_specialize] weights: Tensor<T, 1>,
    dtable: TensorMut<f32, 2>,
    #[no_specialize] count: i32,
    #[no_specialize] kind: i32,
    weighted: bool,
) {
    let (b, j) = (program_id(0), program_id(1) * 256);
    let (first, last) = bounds(narrow_offsets, wide_offsets, dy.dim(0).to::<i32>(), b, count);
    let (rows, columns) = (dtable.dim(0).to::<i32>(), (j + arange(0, 256)).expand_dims(0));
    let mut named = zeros::<i32>([8]);
    if kind == MEAN {
        for k in (first..last).step_by(8) {
            named += (entries(narrow, wide, k, last, rows) >= 0).to::<i32>();
        }
    }
    let g = dy.load([b, j], [1, 256]).to::<f32>() / maximum(sum(named), 1).to::<f32>();
    for k in (first..last).step_by(8) {
        let row = entries(narrow, wide, k, last, rows).expand_dims(1);
        let weight = if weighted { weights.load([k], [8]).to::<f32>() } else { full([8], 1.0) };
        dtable.atomic_add_at([row, columns], weight.expand_dims(1) * g, row >= 0);
    }
}

/// dtable\[row, j\] += dy\[b, j\] of the row that is named at places\[b, j\], in any order.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], warnings = false)]
fn bag_max_backward_kernel<T: Float>(
    dy: Tensor<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 1>,
    #[no_specialize] wide: Tensor<i64, 1>,
    #[no_specialize] places: Tensor<i32, 2>,
    dtable: TensorMut<f32, 2>,
    #[no_specialize] count: i32,
) {
    let (b, j) = (program_id(0), program_id(1) * 256);
    let place = places.load_or([b, j], [1, 256], -1);
    let is = (place >= 0) & (place < count);
    let id = narrow.gather([place], is).to::<i64>() + wide.gather([place], is);
    let row = select(is, rows_of::<i64>(id, dtable.dim(0).to::<i32>()), -1);
    dtable.atomic_add_at([row, (j + arange(0, 256)).expand_dims(0)], dy.load([b, j], [1, 256]).to::<f32>(), row >= 0);
}

/// The gradients of the weights of a bag: dy · row of each id; 0 of an id that names none.
#[triton::kernel(T = [f32, f16, bf16], targets = ["sm_80"], warnings = false)]
fn bag_weights_kernel<T: Float>(
    table: Tensor<T, 2>,
    dy: Tensor<T, 2>,
    #[no_specialize] narrow: Tensor<i32, 1>,
    #[no_specialize] wide: Tensor<i64, 1>,
    #[no_specialize] narrow_offsets: Tensor<i32, 1>,
    #[no_specialize] wide_offsets: Tensor<i64, 1>,
    #[no_specialize] dweights: TensorMut<T, 1>,
    #[no_specialize] count: i32,
) {
    let b = program_id(0);
    let (first, last) = bounds(narrow_offsets, wide_offsets, dy.dim(0).to::<i32>(), b, count);
    for k in (first..last).step_by(8) {
        let row = entries(narrow, wide, k, last, table.dim(0).to::<i32>()).expand_dims(1);
        let mut total = zeros::<f32>([8, 256]);
        for j in (0..dy.dim(1).to::<i32>()).step_by(256) {
            let v = table.gather([row, (j + arange(0, 256)).expand_dims(0)], row >= 0).to::<f32>();
            total += select(row >= 0, v * dy.load([b, j], [1, 256]).to::<f32>(), 0.0);
        }
        let place = k + arange(0, 8);
        dweights.scatter([place], sum_axis(total, 1).to::<T>(), place < last);
    }
}

/// What kernels take of ids and offsets: how many ids there are, and both in each width, of which one has no elements.
struct Bags<'a> {
    count: i32,
    ids: (View<'a, i32, 1>, View<'a, i64, 1>),
    offsets: (View<'a, i32, 1>, View<'a, i64, 1>),
}

impl<'a> Bags<'a> {
    fn new(call: Call<'a>, ids: Ids<'a>, offsets: Ids<'a>, bags: usize) -> Result<Bags<'a>> {
        let count = ids.count();
        let few = i32::try_from(count).ok().filter(|count| *count < i32::MAX - 8);
        call.value("the number of ids", count, few.is_some(), "less than 2³¹ − 9", "pass parts of the bags")?;
        extent(call.op, "offsets", 0, [offsets.count(), bags], "offsets is [b]: where each bag begins")?;
        let (ids, offsets) = (ids.both(call, "ids")?, offsets.both(call, "offsets")?);
        Ok(Bags { count: few.unwrap_or(0), ids, offsets })
    }
}

/// Columns of launches, and their grids.
fn launches([bags, columns]: [usize; 2]) -> impl Iterator<Item = (Range<usize>, (usize, usize))> {
    parts(columns, 256).map(move |of| (of.clone(), (bags, of.len().div_ceil(256))))
}

fn check(call: Call<'_>, kind: Bag, weighted: bool) -> Result<()> {
    let fix = "leave `weights` out, or take the sum";
    call.value("kind", format_args!("{kind:?}"), !weighted || kind == Bag::Sum, "`Sum` with weights", fix)
}

/// out\[b\] = the sum, the mean or the greatest elements of the rows of the table that bag b names, as `torch.nn.EmbeddingBag`. The ids of all bags follow each
/// other; bag b begins at offsets\[b\], and ends where the next one begins, the last one at the end of the ids. An id that is negative, or not less than the
/// number of entries, is not in its bag. Of an empty bag the row is 0.
///
/// Sums are in `f32`, in the order of the ids by groups of eight: the result is the same each time. A NaN or an infinity of a row reaches the bags that name it, in
/// its column: a NaN is the greatest element.
///
/// ```
/// use triton::Device;
/// use triton_kernels::embedding::{Bag, embedding_bag};
///
/// let stream = Device::cpu().stream()?;
/// let table = stream.tensor(&[1.0f32, 10.0, 2.0, 20.0, 6.0, -60.0], [3, 2])?;
/// // Bags of the rows 0 and 2, of none, and of row 1.
/// let (ids, offsets) = (stream.tensor(&[0, 2, 1], [3])?, stream.tensor(&[0, 2, 2], [3])?);
/// let mut out = stream.tensor_uninit::<f32, _>([3, 2])?;
/// embedding_bag(&table, &ids, &offsets, Bag::Sum, &mut out).launch(&stream)?;
/// assert_eq!(stream.download(&out)?, [7.0, -50.0, 0.0, 0.0, 2.0, 20.0]);
/// embedding_bag(&table, &ids, &offsets, Bag::Max, &mut out).launch(&stream)?;
/// assert_eq!(stream.download(&out)?, [6.0, 10.0, 0.0, 0.0, 2.0, 20.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(EmbeddingBag)]
pub fn embedding_bag<T: FloatElement>(
    call: Call,
    #[axes(e, c)] table: View<T, 2>,
    #[axes(..)] ids: Ids,
    #[axes(b)] offsets: Ids,
    kind: Bag,
    #[axes(b, c)] mut out: ViewMut<T, 2>,
    /// Multiplies the row of each id, in a sum.
    #[axes(..)]
    weights: Option<View<T, 1>>,
    /// Stores where in ids the row of each greatest element is named, or −1, which the gradient of [`Bag::Max`] needs.
    #[axes(b, c)]
    #[setter(statistics)]
    mut places: Option<ViewMut<i32, 2>>,
) -> Result<()> {
    check(call, kind, weights.is_some())?;
    let bags = Bags::new(call, ids, offsets, out.shape()[0])?;
    if out.shape().contains(&0) {
        return Ok(());
    }
    let (weights, weighted) = (call.view(weights), weights.is_some());
    for (of, grid) in launches(out.shape()) {
        let places = places.as_mut().map(|places| places.reborrow().narrow(1, of.clone())).transpose()?;
        let (table, out) = (table.narrow(1, of.clone())?, out.reborrow().narrow(1, of)?);
        let Bags { count, ids: (narrow, wide), offsets: (first, second) } = bags;
        let places = call.view_mut(places);
        let kernel =
            bag_kernel::<T>(table, narrow, wide, first, second, weights, out, places, count, kind.number(), weighted);
        call.launch(kernel, grid)?;
    }
    Ok(())
}

/// dtable\[row\] += dy\[b\] for each row that bag b names, by their number of a mean and times the weight of a weighted sum: the gradient of
/// [`embedding_bag`] for the table, added to what is there. Of [`Bag::Max`] it is added where the greatest elements are, which
/// [`places`](EmbeddingBagBackward::places) says.
///
/// Additions are atomic, in any order, so that last bits may differ between launches.
///
/// A NaN or an infinity of dy reaches the rows that its bag names, in its column.
///
/// ```
/// use triton::Device;
/// use triton_kernels::embedding::{Bag, embedding_bag_backward};
///
/// let stream = Device::cpu().stream()?;
/// let (dy, ids) = (stream.tensor(&[4.0f32, 1.0], [2, 1])?, stream.tensor(&[0, 2, 2], [3])?);
/// let (offsets, mut dtable) = (stream.tensor(&[0, 2], [2])?, stream.tensor_zeros::<f32, _>([3, 1])?);
/// embedding_bag_backward(&dy, &ids, &offsets, Bag::Mean, &mut dtable).launch(&stream)?;
/// assert_eq!(stream.download(&dtable)?, [2.0, 0.0, 3.0]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(EmbeddingBagBackward)]
pub fn embedding_bag_backward<T: FloatElement>(
    call: Call,
    #[axes(b, c)] dy: View<T, 2>,
    #[axes(..)] ids: Ids,
    #[axes(b)] offsets: Ids,
    kind: Bag,
    #[axes(e, c)] mut dtable: ViewMut<f32, 2>,
    /// The weights of the ids of a sum.
    #[axes(..)]
    weights: Option<View<T, 1>>,
    /// What the forward operation has stored by [`statistics`](EmbeddingBag::statistics).
    #[axes(b, c)]
    places: Option<View<i32, 2>>,
    /// Stores the gradients of the weights, too: of each id in a bag dy · row, for which it takes the table.
    #[axes(e, c)]
    #[setter(dweights)]
    table: Option<View<T, 2>>,
    #[beside(table)]
    #[axes(..)]
    dweights: Option<ViewMut<T, 1>>,
) -> Result<()> {
    check(call, kind, weights.is_some() || dweights.is_some())?;
    let fix = "pass what `embedding_bag` has stored by `statistics`";
    let has_places = places.is_some() == (kind == Bag::Max);
    call.value("kind", format_args!("{kind:?}"), has_places, "`Max` with `places`, or another kind without", fix)?;
    let bags = Bags::new(call, ids, offsets, dy.shape()[0])?;
    let Bags { count, ids: (narrow, wide), offsets: (first, second) } = bags;
    if let (Some(table), Some(dweights), true) = (table, dweights, dy.shape()[0] > 0) {
        let kernel = bag_weights_kernel::<T>(table, dy, narrow, wide, first, second, dweights, count);
        call.launch(kernel, dy.shape()[0])?;
    }
    if dy.shape().contains(&0) {
        return Ok(());
    }
    let (weights, weighted) = (call.view(weights), weights.is_some());
    for (of, grid) in launches(dy.shape()) {
        let places = places.map(|places| places.narrow(1, of.clone())).transpose()?;
        let (dy, dtable) = (dy.narrow(1, of.clone())?, dtable.reborrow().narrow(1, of)?);
        match places {
            Some(places) => call.launch(bag_max_backward_kernel::<T>(dy, narrow, wide, places, dtable, count), grid)?,
            None => {
                let kernel = bag_backward_kernel::<T>(
                    dy,
                    narrow,
                    wide,
                    first,
                    second,
                    weights,
                    dtable,
                    count,
                    kind.number(),
                    weighted,
                );
                call.launch(kernel, grid)?;
            }
        }
    }
    Ok(())
}
