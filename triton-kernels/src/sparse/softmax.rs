//! Softmax along the rows of block-sparse scores, in place, and its gradient.

use super::layout::Along;
use super::values::{BlockSparse, same_layout};
use crate::Result;
use crate::element::FloatElement;
use crate::functions::{online_softmax, online_softmax_total};
use crate::grid::parts;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// What a softmax does to scores first.
#[triton::params]
#[derive(Clone, Copy, Debug)]
struct Options {
    scale: f32,
    has_position: bool,
    has_mask: bool,
    has_padding: bool,
    /// Masks add; else 0 excludes.
    mask_adds: bool,
    padding_adds: bool,
    causal: bool,
    /// Rows of blocks of a head.
    rows: i32,
    /// The binary logarithm of a block's side.
    shift: i32,
}

/// Rows are launched together with those of about their length: of as many elements at most. So short rows do not wait for long ones, and few
/// elements of a tile are of no row.
const LENGTHS: [usize; 5] = [256, 512, 1024, 2048, usize::MAX];

/// The places of N elements of each of R rows, from element j of list `list` on, and rows `i` and on of its blocks: 16 along a row at a time, which lie
/// in one block. They are the number of the block, the row, which sixteen of it, which sixteen of all keys, and whether they are of the list.
#[triton::function]
fn places<const R: i32, const N: i32>(
    headers: Tensor<i32, 2>,
    entries: Tensor<i32, 2>,
    at: (i32, i32, i32),
    shift: i32,
) -> (Tile<i32>, Tile<i32>, Tile<i32>, Tile<i32>, Tile<bool>) {
    let (list, i, j) = at;
    let (first, count) = (headers.get([list, 0]), headers.get([list, 1]));
    let shift = shift - 4;
    let part = j / 16 + arange(0, N / 16);
    let inside = part < (count << shift);
    let entry = first + (part >> shift);
    let part = part & ((1 << shift) - 1);
    let id = entries.gather((entry, 0), inside).expand_dims(0).expand_dims(2);
    let of_all = ((entries.gather((entry, 1), inside) << shift) + part).expand_dims(0).expand_dims(2);
    let row = (i + arange(0, R)).expand_dims(1).expand_dims(2);
    (id, row, part.expand_dims(0).expand_dims(2), of_all, inside.expand_dims(0).expand_dims(2))
}

/// Scores under a mask. What it excludes is −∞, whatever the score is.
#[triton::function]
fn masked(v: Tile<f32>, mask: Tile<f32>, adds: bool) -> Tile<f32> {
    let excluded = mask == select(adds, f32::NEG_INFINITY, 0.0);
    select(excluded, f32::NEG_INFINITY, v + select(adds, mask, 0.0))
}

/// N scores of each of R rows, as the softmax takes them: −∞ where they are excluded, or not of the list.
#[triton::function]
fn scores<T: Float, const R: i32, const N: i32>(
    x: TensorMut<T, 5>,
    headers: Tensor<i32, 2>,
    entries: Tensor<i32, 2>,
    position: Tensor<T, 4>,
    mask: Tensor<T, 2>,
    padding: Tensor<T, 2>,
    at: (i32, i32, i32, i32),
    options: Options,
) -> Tile<f32> {
    let (z, list, i, j) = at;
    let (id, row, part, of_all, inside) = places::<R, N>(headers, entries, (list, i, j), options.shift);
    let query = ((list % options.rows) << options.shift) + row;
    let sixteen = arange(0, 16).expand_dims(0).expand_dims(0);
    let key = of_all * 16 + sixteen;
    let mut v = x.gather((z, id, row, part, sixteen), inside).to::<f32>() * options.scale;
    if options.has_position {
        v += position.gather((z, list / options.rows, query, key), inside).to::<f32>();
    }
    if options.has_mask {
        v = masked(v, mask.gather((query, key), inside).to::<f32>(), options.mask_adds);
    }
    if options.has_padding {
        v = masked(v, padding.gather((z, key), inside).to::<f32>(), options.padding_adds);
    }
    let seen = inside & (!options.causal | (key <= query));
    select(seen, v, f32::NEG_INFINITY).reshape([R, N])
}

/// x = softmax of x along its rows, of the lists from the one of number `first` on by their length: R rows of a list a program, of at most N
/// elements in registers, or, in a LOOP over N at a time, of any number.
#[triton::kernel(T = [f32, f16, bf16], warnings = false, configs = [
    (R = 8, N = 256, LOOP = false, num_warps = 4), (R = 4, N = 512, LOOP = false, num_warps = 4),
    (R = 4, N = 1024, LOOP = false, num_warps = 8), (R = 2, N = 2048, LOOP = false, num_warps = 8),
    (R = 2, N = 1024, LOOP = true, num_warps = 8),
], targets = ["sm_80"], tune = [R, N, LOOP])]
fn sparse_softmax_kernel<T: Float, const R: i32, const N: i32, const LOOP: bool>(
    x: TensorMut<T, 5>,
    headers: Tensor<i32, 2>,
    entries: Tensor<i32, 2>,
    position: Tensor<T, 4>,
    mask: Tensor<T, 2>,
    padding: Tensor<T, 2>,
    #[no_specialize] first: i32,
    #[no_specialize] options: Options,
) {
    let (list, i, z) = (headers.get([first + program_id(0), 2]), program_id(1) * R, program_id(2));
    let sixteen = arange(0, 16).expand_dims(0).expand_dims(0);
    if LOOP {
        let depth = headers.get([list, 1]) << options.shift;
        let (mut most, mut total) = (full([R, N], f32::MIN), zeros::<f32>([R, N]));
        for j in (0..depth).step_by(N) {
            let v = scores::<T, R, N>(x, headers, entries, position, mask, padding, (z, list, i, j), options);
            (most, total) = online_softmax(most, total, v);
        }
        let (most, total) = online_softmax_total(most, total);
        let (most, share) = (most.expand_dims(1), select(total == 0.0, 0.0, 1.0 / total).expand_dims(1));
        for j in (0..depth).step_by(N) {
            let v = scores::<T, R, N>(x, headers, entries, position, mask, padding, (z, list, i, j), options);
            let (id, row, part, _, inside) = places::<R, N>(headers, entries, (list, i, j), options.shift);
            let y = (exp(v - most) * share).to::<T>().reshape([R, N / 16, 16]);
            x.scatter((z, id, row, part, sixteen), y, inside);
        }
    } else {
        let v = scores::<T, R, N>(x, headers, entries, position, mask, padding, (z, list, i, 0), options);
        // A row whose elements are all excluded has a sum of 0.
        let e = exp(v - maximum(max_axis(v, 1), f32::MIN).expand_dims(1));
        let total = sum_axis(e, 1);
        let share = select(total == 0.0, 0.0, 1.0 / total);
        let (id, row, part, _, inside) = places::<R, N>(headers, entries, (list, i, 0), options.shift);
        let y = (e * share.expand_dims(1)).to::<T>().reshape([R, N / 16, 16]);
        x.scatter((z, id, row, part, sixteen), y, inside);
    }
}

/// dp = scale · p ∘ (dp − Σ p · dp), in the manner of [`sparse_softmax_kernel`]. Where p is 0 there is no term and no gradient, whatever dp is.
#[triton::kernel(T = [f32, f16, bf16], warnings = false, configs = [
    (R = 8, N = 256, LOOP = false, num_warps = 4), (R = 4, N = 512, LOOP = false, num_warps = 4),
    (R = 4, N = 1024, LOOP = false, num_warps = 8), (R = 2, N = 2048, LOOP = false, num_warps = 8),
    (R = 2, N = 1024, LOOP = true, num_warps = 8),
], targets = ["sm_80"], tune = [R, N, LOOP])]
fn sparse_softmax_backward_kernel<T: Float, const R: i32, const N: i32, const LOOP: bool>(
    p: Tensor<T, 5>,
    dp: TensorMut<T, 5>,
    headers: Tensor<i32, 2>,
    entries: Tensor<i32, 2>,
    scale: f32,
    #[no_specialize] first: i32,
    #[no_specialize] shift: i32,
) {
    let (list, i, z) = (headers.get([first + program_id(0), 2]), program_id(1) * R, program_id(2));
    let sixteen = arange(0, 16).expand_dims(0).expand_dims(0);
    if LOOP {
        let depth = headers.get([list, 1]) << shift;
        let mut sums = zeros::<f32>([R, N / 16, 16]);
        for j in (0..depth).step_by(N) {
            let (id, row, part, _, inside) = places::<R, N>(headers, entries, (list, i, j), shift);
            let at = (z, id, row, part, sixteen);
            let (v, g) = (p.gather(at, inside).to::<f32>(), dp.gather(at, inside).to::<f32>());
            sums += select(v == 0.0, 0.0, v * g);
        }
        let total = sum_axis(sums.reshape([R, N]), 1).expand_dims(1).expand_dims(2);
        for j in (0..depth).step_by(N) {
            let (id, row, part, _, inside) = places::<R, N>(headers, entries, (list, i, j), shift);
            let at = (z, id, row, part, sixteen);
            let (v, g) = (p.gather(at, inside).to::<f32>(), dp.gather(at, inside).to::<f32>());
            dp.scatter(at, select(v == 0.0, 0.0, v * (g - total) * scale).to::<T>(), inside);
        }
    } else {
        let (id, row, part, _, inside) = places::<R, N>(headers, entries, (list, i, 0), shift);
        let at = (z, id, row, part, sixteen);
        let (v, g) = (p.gather(at, inside).to::<f32>(), dp.gather(at, inside).to::<f32>());
        let total = sum_axis(select(v == 0.0, 0.0, v * g).reshape([R, N]), 1).expand_dims(1).expand_dims(2);
        dp.scatter(at, select(v == 0.0, 0.0, v * (g - total) * scale).to::<T>(), inside);
    }
}

/// How a mask excludes elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    /// It is added to the scores: −∞ excludes an element.
    Add,
    /// It is 0 for what is excluded, and any other number for what is not: exponentials are multiplied by 0 or 1.
    Multiply,
}

/// x = softmax(scale · x + position + mask) along rows, in place (Tillet, "Blocked algorithms for neural networks", 2020, section
/// 6.2.2). Where there is no block x is −∞.
///
/// It is computed in `f32` relative to the greatest element of a row. A row whose elements are all excluded becomes 0. What is added is read
/// where there are blocks only. Rows of up to 2048 elements are read once. There is a launch for rows of each of five ranges of lengths that the layout has.
///
/// What a mask, the padding or the causal order excludes has no influence, whatever it is. A NaN or +∞ that is seen makes its row NaN; finite scores
/// give finite probabilities.
///
/// ```
/// use triton::Device;
/// use triton_kernels::sparse::{BlockLayout, BlockMask, BlockSparse, sparse_softmax};
///
/// let stream = Device::cpu().stream()?;
/// let layout = BlockLayout::new(&stream, 16, &BlockMask::causal(2))?;
/// let mut x = BlockSparse::<f32>::zeros(&stream, 1, &layout)?;
/// sparse_softmax(&mut x).causal().launch(&stream)?;
/// let values = stream.download(x.values())?;
/// // The first query sees one key, the second one two, and the last one 32, in two blocks.
/// assert_eq!((values[0], values[1], values[16], values[3 * 256 - 1]), (1.0, 0.0, 0.5, 1.0 / 32.0));
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(SparseSoftmax)]
pub fn sparse_softmax<T: FloatElement>(
    call: Call,
    #[axes(z, h, q, k)] x: &'a mut BlockSparse<T>,
    /// Multiplies x first. The 1 / √d of attention belongs into [`sddmm`](super::sddmm), which multiplies before it rounds to the type of x.
    #[default(1.0)]
    #[check(scale.is_finite(), "a finite number", "it multiplies all scores")]
    scale: f32,
    /// Adds an array after the scale, such as an embedding of relative positions. Axes along which it is the same are
    /// [repeated](View::broadcast).
    #[axes(z, h, q, k)]
    position: Option<View<T, 4>>,
    /// Applies a mask of all heads.
    #[axes(q, k)]
    mask: Option<View<T, 2>>,
    #[beside(mask)] how: Option<Mask>,
    /// Applies a mask of all queries, which excludes what pads a sequence.
    #[axes(z, k)]
    key_padding: Option<View<T, 2>>,
    #[beside(key_padding)] padding_how: Option<Mask>,
    /// Query i sees keys 0 to i: within the blocks of the diagonal, too.
    #[flag]
    causal: bool,
) -> Result<()> {
    let (layout, batch) = (x.layout().clone(), x.batch());
    if x.shape().contains(&0) {
        return Ok(());
    }
    let options = Options {
        scale,
        has_position: position.is_some(),
        has_mask: mask.is_some(),
        has_padding: key_padding.is_some(),
        mask_adds: how == Some(Mask::Add),
        padding_adds: padding_how == Some(Mask::Add),
        causal,
        rows: layout.mask().shape()[1] as i32,
        shift: layout.shift(),
    };
    let lists = layout.lists(Along::Rows);
    let (position, mask, padding) = (call.view(position), call.view(mask), call.view(key_padding));
    let (headers, entries) = (lists.headers.view()?, lists.entries.view()?);
    let mut first = layout.rows_up_to(0);
    for longest in LENGTHS {
        let end = layout.rows_up_to(longest);
        for of in parts(batch, 1).filter(|_| first < end) {
            let (x, from) = (x.parts_mut()?.narrow(0, of.clone())?, first as i32);
            let position = if options.has_position { position.narrow(0, of.clone())? } else { position };
            let padding = if options.has_padding { padding.narrow(0, of.clone())? } else { padding };
            let kernel = sparse_softmax_kernel_tuned::<T>(x, headers, entries, position, mask, padding, from, options);
            let grid = |tile: &SparseSoftmaxKernelChoice| (end - first, layout.block() / tile.R as usize, of.len());
            call.tuned(kernel, |of| of.LOOP || of.N as usize >= longest, grid)?;
        }
        first = end;
    }
    Ok(())
}

/// dp = p ∘ (dp − Σ p · dp) along rows, in place: the gradient for x of p = [`sparse_softmax`]`(x)`, from the gradient dp for p. Masks need
/// nothing here, since p is 0 where they exclude. With a scale of 1 it is that for the position, too.
///
/// Where p is 0 dp is not read: a NaN there has no influence.
///
/// ```
/// use triton::Device;
/// use triton_kernels::sparse::{BlockLayout, BlockMask, BlockSparse, sparse_softmax, sparse_softmax_backward};
///
/// let stream = Device::cpu().stream()?;
/// let layout = BlockLayout::new(&stream, 16, &BlockMask::dense(1))?;
/// let mut p = BlockSparse::<f32>::zeros(&stream, 1, &layout)?;
/// sparse_softmax(&mut p).launch(&stream)?;
/// // The sum of a row's probabilities is 1, whatever the scores.
/// let ones = stream.tensor(&[1.0f32; 256], [1, 1, 16, 16])?;
/// let mut dp = BlockSparse::from_dense(&stream, &ones, &layout)?;
/// sparse_softmax_backward(&p, &mut dp).launch(&stream)?;
/// assert_eq!(stream.download(dp.values())?, [0.0; 256]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
#[operation(SparseSoftmaxBackward)]
pub fn sparse_softmax_backward<T: FloatElement>(
    call: Call,
    #[axes(z, h, q, k)] p: &'a BlockSparse<T>,
    #[axes(z, h, q, k)] dp: &'a mut BlockSparse<T>,
    /// The scale of the forward operation.
    #[default(1.0)]
    #[check(scale.is_finite(), "a finite number", "it multiplies all scores")]
    scale: f32,
) -> Result<()> {
    same_layout(call, "dp", dp, p)?;
    if p.shape().contains(&0) {
        return Ok(());
    }
    let layout = p.layout();
    let lists = layout.lists(Along::Rows);
    let (headers, entries) = (lists.headers.view()?, lists.entries.view()?);
    let mut first = layout.rows_up_to(0);
    for longest in LENGTHS {
        let end = layout.rows_up_to(longest);
        for of in parts(p.batch(), 1).filter(|_| first < end) {
            let (from, shift) = (first as i32, layout.shift());
            let (p, dp) = (p.parts()?.narrow(0, of.clone())?, dp.parts_mut()?.narrow(0, of.clone())?);
            let kernel = sparse_softmax_backward_kernel_tuned::<T>(p, dp, headers, entries, scale, from, shift);
            let rows = |of: i32| layout.block() / of as usize;
            call.tuned(kernel, |of| of.LOOP || of.N as usize >= longest, |tile| (end - first, rows(tile.R), of.len()))?;
        }
        first = end;
    }
    Ok(())
}
