//! Block-sparse attention in one launch: scores are never stored.

use super::layout::{Along, BlockLayout};
use crate::Result;
use crate::element::FloatElement;
use crate::grid::parts;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// A program has BM queries of a row of blocks, and goes along its list BK keys at a time, with the greatest score and the sum of exponentials so
/// far. Heads have at most D elements. A side of a block has 2^`shift` elements, and `lists` is the number of lists of a head.
#[triton::kernel(warnings = false, configs = [
    (T = f32, BM = 16, BK = 32, D = 64, num_warps = 2), (T = f32, BM = 16, BK = 32, D = 128, num_warps = 2),
    (T = f32, BM = 32, BK = 32, D = 64, num_warps = 4), (T = f32, BM = 32, BK = 32, D = 128, num_warps = 4),
    (T = f32, BM = 64, BK = 32, D = 64, num_warps = 8), (T = f32, BM = 64, BK = 32, D = 128, num_warps = 8),
    (T = f32, BM = 32, BK = 16, D = 128, num_warps = 4, targets = ["sm_80"]), (T = f32, BM = 64, BK = 16, D = 128, num_warps = 8, targets = ["sm_80"]),
    (T = f16, BM = 16, BK = 64, D = 64, num_warps = 1), (T = f16, BM = 16, BK = 64, D = 128, num_warps = 1),
    (T = f16, BM = 32, BK = 32, D = 64, num_warps = 2), (T = f16, BM = 32, BK = 32, D = 128, num_warps = 2),
    (T = f16, BM = 64, BK = 64, D = 64, num_warps = 4), (T = f16, BM = 64, BK = 64, D = 128, num_warps = 4),
    (T = bf16, BM = 16, BK = 64, D = 64, num_warps = 1), (T = bf16, BM = 16, BK = 64, D = 128, num_warps = 1),
    (T = bf16, BM = 32, BK = 32, D = 64, num_warps = 2), (T = bf16, BM = 32, BK = 32, D = 128, num_warps = 2),
    (T = bf16, BM = 64, BK = 64, D = 64, num_warps = 4), (T = bf16, BM = 64, BK = 64, D = 128, num_warps = 4),
], targets = ["sm_80", "sm_90a"], tune = [BM, BK, D])]
fn attention_kernel<T: Float, const BM: i32, const BK: i32, const D: i32>(
    q: Tensor<T, 4>,
    k: Tensor<T, 4>,
    v: Tensor<T, 4>,
    out: TensorMut<T, 4>,
    headers: Tensor<i32, 2>,
    entries: Tensor<i32, 2>,
    scale: f32,
    #[no_specialize] lists: i32,
    #[no_specialize] shift: i32,
    causal: bool,
) {
    // The longest list first: programs begin in order.
    let list = headers.get([num_programs(0) - 1 - program_id(0), 2]);
    let (i, z) = (program_id(1) * BM, program_id(2));
    let (first, depth) = (headers.get([list, 0]), headers.get([list, 1]) << shift);
    let (head, row) = (list / lists, ((list % lists) << shift) + i);
    let last = (1 << shift) - 1;
    let query = (row + arange(0, BM)).expand_dims(1);
    let x = q.load([z, head, row, 0], [1, 1, BM, D]).reshape([BM, D]);
    let (mut most, mut total) = (full([BM], f32::MIN), zeros::<f32>([BM]));
    let mut sums = zeros::<f32>([BM, D]);
    for j in (0..depth).step_by(BK) {
        let (key, inside, y, values) = if BM == 16 {
            let each = j + arange(0, BK);
            let inside = each < depth;
            let key = (entries.gather((first + (each >> shift), 1), inside) << shift) + (each & last);
            let at = (z, head, key.expand_dims(1), arange(0, D).expand_dims(0));
            (key, inside, k.gather(at, inside.expand_dims(1)), v.gather(at, inside.expand_dims(1)))
        } else {
            let from = (entries.get([first + (j >> shift), 1]) << shift) + (j & last);
            let at = [z, head, from, 0];
            let key = from + arange(0, BK);
            let (y, values) = (k.load(at, [1, 1, BK, D]), v.load(at, [1, 1, BK, D]));
            (key, key >= 0, y.reshape([BK, D]), values.reshape([BK, D]))
        };
        let scores = dot(x, y.transpose(), zeros::<f32>([BM, BK])) * scale;
        let seen = inside.expand_dims(0) & (!causal | (key.expand_dims(0) <= query));
        let scores = select(seen, scores, f32::NEG_INFINITY);
        let next = maximum(most, max_axis(scores, 1));
        let p = exp(scores - next.expand_dims(1));
        let before = exp(most - next);
        total = fma(total, before, sum_axis(p, 1));
        sums = dot(p.to::<T>(), values, sums * before.expand_dims(1));
        most = next;
    }
    let share = select(total == 0.0, 0.0, 1.0 / total).expand_dims(1);
    out.store([z, head, row, 0], (sums * share).to::<T>().reshape([1, 1, BM, D]));
}

/// out = softmax(scale · q · kᵀ) · v over the blocks of a layout, in one launch that stores no score, for z sequences of q queries
/// and k keys, and heads of at most 128 elements d. A query that sees no key gives 0.
///
/// The softmax is normalised online (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018) along the list of a row of blocks.
/// Sums are in `f32`; probabilities are rounded to the type for their product with v. Its gradient is that of the launches which store scores.
///
/// A score that a query does not see has no influence on it, whatever it is. A row of v that is not finite reaches all queries of a tile of which one
/// sees it.
///
/// ```
/// use triton::Device;
/// use triton_kernels::sparse::{BlockLayout, BlockMask, block_sparse_attention};
///
/// let stream = Device::cpu().stream()?;
/// let layout = BlockLayout::new(&stream, 16, &BlockMask::causal(2))?;
/// let rows: Vec<f32> = (0..32 * 8).map(|i| (i / 8) as f32).collect();
/// let (q, v) = (stream.tensor_zeros::<f32, _>([1, 1, 32, 8])?, stream.tensor(&rows, [1, 1, 32, 8])?);
/// let mut out = stream.tensor_uninit::<f32, _>([1, 1, 32, 8])?;
/// block_sparse_attention(&q, &q, &v, &mut out, &layout).causal().launch(&stream)?;
/// // All scores are 0: token i gets the mean of 0 to i.
/// assert_eq!(stream.download(&out)?[8 * 20], 10.0);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: the launches that store scores.
#[operation(BlockSparseAttention, tuned)]
pub fn block_sparse_attention<T: FloatElement>(
    call: Call,
    #[axes(z, h, q, d)] q: View<T, 4>,
    #[axes(z, h, k, d)] k: View<T, 4>,
    #[axes(z, h, k, d)] v: View<T, 4>,
    #[axes(z, h, q, d)] mut out: ViewMut<T, 4>,
    #[axes(h, q, k)] layout: &'a BlockLayout,
    /// Scale of the scores. Default: 1 / √d.
    #[check(scale.is_finite(), "a finite number", "it multiplies all scores")]
    scale: Option<f32>,
    /// Query i sees keys 0 to i: within the blocks of the diagonal, too.
    #[flag]
    causal: bool,
) -> Result<()> {
    let [batch, heads, queries, depth] = q.shape();
    let fix = "for wider heads launch `sddmm`, `sparse_softmax` and `spmm`";
    call.value("the extent d", depth, depth <= 128, "at most 128", fix)?;
    let scale = scale.unwrap_or(1.0 / (depth.max(1) as f32).sqrt());
    if batch * heads * queries * depth == 0 {
        return Ok(());
    }
    let (lists, block, of_head) = (layout.lists(Along::Rows), layout.block(), layout.mask().shape()[1]);
    let (headers, entries) = (lists.headers.view()?, lists.entries.view()?);
    // The queries of a program lie in one row of blocks. Wide heads of `f32` go 16 keys at a time where blocks have 99 KiB of shared memory.
    let tile = block.min(64);
    let (rows, shift) = (of_head as i32, layout.shift());
    for of in parts(batch, 1) {
        let [q, k, v] = [q, k, v].map(|view| view.narrow(0, of.clone()));
        let out = out.reborrow().narrow(0, of.clone())?;
        let kernel = attention_kernel_tuned::<T>(q?, k?, v?, out, headers, entries, scale, rows, shift, causal);
        let fits = |of: &AttentionKernelChoice| of.BM as usize == tile && of.D as usize >= depth;
        call.tuned(kernel, fits, |_| (heads * of_head, block / tile, of.len()))?;
    }
    Ok(())
}
