//! The product of a block-sparse matrix, or its transpose, and a dense one.

use super::layout::{Along, ListTable, SegmentTable};
use super::values::BlockSparse;
use crate::Result;
use crate::element::FloatElement;
use crate::functions::last_to_arrive;
use crate::grid;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// A program adds a segment of a list for a tile of out: BM rows of a row of blocks, BN columns. Each turn takes BK rows of v. Where a block has as
/// many, they and the values of p are a tile of each, found by one entry of the list; blocks of 16 are gathered, several a turn. A side of a block has 2^`shift` elements. `lists` is the number of lists of a head.
///
/// No program waits for another. Where a list has several segments, each leaves its sums in `parts`, and the last one adds them in their
/// order if `ordered`; else each adds its own to one place. The last one is found by counting in `done`. Both are 0 before and after.
#[triton::kernel(warnings = false, configs = [
    (T = f32, BM = 16, BN = 64, BK = 32, TRANSPOSED = false, num_warps = 2), (T = f32, BM = 16, BN = 64, BK = 32, TRANSPOSED = true, num_warps = 2),
    (T = f32, BM = 32, BN = 64, BK = 32, TRANSPOSED = false, num_warps = 4), (T = f32, BM = 32, BN = 64, BK = 32, TRANSPOSED = true, num_warps = 4),
    (T = f32, BM = 64, BN = 64, BK = 32, TRANSPOSED = false, num_warps = 4), (T = f32, BM = 64, BN = 64, BK = 32, TRANSPOSED = true, num_warps = 4),
    (T = f16, BM = 16, BN = 64, BK = 64, TRANSPOSED = false, num_warps = 1, num_stages = 2), (T = f16, BM = 16, BN = 64, BK = 64, TRANSPOSED = true, num_warps = 1, num_stages = 2),
    (T = f16, BM = 32, BN = 64, BK = 32, TRANSPOSED = false, num_warps = 1), (T = f16, BM = 32, BN = 64, BK = 32, TRANSPOSED = true, num_warps = 1),
    (T = f16, BM = 64, BN = 64, BK = 64, TRANSPOSED = false, num_warps = 4, num_stages = 4), (T = f16, BM = 64, BN = 64, BK = 64, TRANSPOSED = true, num_warps = 4, num_stages = 4),
    (T = bf16, BM = 16, BN = 64, BK = 64, TRANSPOSED = false, num_warps = 1, num_stages = 2), (T = bf16, BM = 16, BN = 64, BK = 64, TRANSPOSED = true, num_warps = 1, num_stages = 2),
    (T = bf16, BM = 32, BN = 64, BK = 32, TRANSPOSED = false, num_warps = 1), (T = bf16, BM = 32, BN = 64, BK = 32, TRANSPOSED = true, num_warps = 1),
    (T = bf16, BM = 64, BN = 64, BK = 64, TRANSPOSED = false, num_warps = 4, num_stages = 4), (T = bf16, BM = 64, BN = 64, BK = 64, TRANSPOSED = true, num_warps = 4, num_stages = 4),
], targets = ["sm_80", "sm_90a"], tune = [BM, BN, BK])]
fn spmm_kernel<T: Float, const BM: i32, const BN: i32, const BK: i32, const TRANSPOSED: bool>(
    p: Tensor<T, 4>,
    v: Tensor<T, 4>,
    out: TensorMut<T, 4>,
    segments: Tensor<i32, 2>,
    entries: Tensor<i32, 2>,
    parts: TensorMut<f32, 4>,
    #[no_specialize] done: TensorMut<i32, 1>,
    #[no_specialize] lists: i32,
    #[no_specialize] shift: i32,
    ordered: bool,
) {
    let (at, z) = (program_id(0), program_id(2));
    let across = (out.dim(3) + BN - 1) / BN;
    let (i, d) = (program_id(1) / across * BM, program_id(1) % across * BN);
    let (list, first, count) = (segments.get([at, 0]), segments.get([at, 1]), segments.get([at, 2]));
    let (head, row) = (list / lists, ((list % lists) << shift) + i);
    let depth = count << shift;
    let mut sums = zeros::<f32>([BM, BN]);
    if BM == 16 {
        let columns = (d + arange(0, BN)).expand_dims(0);
        let sixteen = arange(0, 16).expand_dims(0).expand_dims(0);
        for k in (0..depth).step_by(BK) {
            let each = k + arange(0, BK);
            let inside = each < depth;
            let other = (entries.gather((first + (each >> 4), 1), inside) << 4) + (each & 15);
            let y = v.gather((z, head, other.expand_dims(1), columns), inside.expand_dims(1));
            let x = if TRANSPOSED {
                // The rows of a block are along K.
                let id = entries.gather((first + (each >> 4), 0), inside).expand_dims(1).expand_dims(2);
                let row = (each & 15).expand_dims(1).expand_dims(2);
                p.gather((z, id, row, sixteen), inside.expand_dims(1).expand_dims(2)).reshape([BK, BM]).transpose()
            } else {
                let of = first + k / 16 + arange(0, BK / 16);
                let inside = of < first + count;
                let id = entries.gather((of, 0), inside).expand_dims(0).expand_dims(2);
                let row = arange(0, BM).expand_dims(1).expand_dims(2);
                p.gather((z, id, row, sixteen), inside.expand_dims(0).expand_dims(2)).reshape([BM, BK])
            };
            sums = dot(x, y, sums);
        }
    } else {
        for k in (0..depth).step_by(BK) {
            let (entry, within) = (first + (k >> shift), k & ((1 << shift) - 1));
            let (id, other) = (entries.get([entry, 0]), (entries.get([entry, 1]) << shift) + within);
            let y = v.load([z, head, other, d], [1, 1, BK, BN]).reshape([BK, BN]);
            let x = if TRANSPOSED {
                p.load([z, id, within, i], [1, 1, BK, BM]).reshape([BK, BM]).transpose()
            } else {
                p.load([z, id, i, within], [1, 1, BM, BK]).reshape([BM, BK])
            };
            sums = dot(x, y, sums);
        }
    }
    let (part, of) = (segments.get([at, 3]), segments.get([at, 4]));
    if of == 1 {
        out.store([z, head, row, d], sums.to::<T>().reshape([1, 1, BM, BN]));
    } else {
        let (slot, split) = (segments.get([at, 5]), segments.get([at, 6]));
        let place = if ordered { slot + part } else { split };
        if ordered {
            parts.store([z, place, i, d], sums.reshape([1, 1, BM, BN]));
        } else {
            parts.atomic_add([z, place, i, d], sums.reshape([1, 1, BM, BN]));
        }
        let counter = (split * num_programs(1) + program_id(1)) * num_programs(2) + z;
        if last_to_arrive(done, counter, of) {
            let (begin, end) = if ordered { (slot, slot + of) } else { (split, split + 1) };
            let mut total = zeros::<f32>([BM, BN]);
            for place in begin..end {
                total += parts.load([z, place, i, d], [1, 1, BM, BN]).reshape([BM, BN]);
                parts.store([z, place, i, d], zeros::<f32>([1, 1, BM, BN]));
            }
            done.store([counter], zeros::<i32>([1]));
            out.store([z, head, row, d], total.to::<T>().reshape([1, 1, BM, BN]));
        }
    }
}

/// out = p · v, of a block-sparse p of q rows and k columns (Tillet, "Blocked algorithms for neural networks", 2020, section 6.2.3). Rows of p without blocks give 0.
///
/// Sums are in `f32`, rounded once. The gradients of attention are such products, too: with p or the scores' gradient
/// [transposed](Spmm::transposed) for values and keys, and as it is for queries.
///
/// A NaN or an infinity in p reaches its row, and one in v the rows whose blocks hold its key, also where p is 0 there.
///
/// ```
/// use triton::Device;
/// use triton_kernels::sparse::{BlockLayout, BlockMask, BlockSparse, spmm};
///
/// let stream = Device::cpu().stream()?;
/// let layout = BlockLayout::new(&stream, 16, &BlockMask::causal(2))?;
/// let ones = stream.tensor(&[1.0f32; 32 * 32], [1, 1, 32, 32])?;
/// let p = BlockSparse::from_dense(&stream, &ones, &layout)?;
/// let (v, mut out) = (stream.tensor(&[0.5f32; 32 * 4], [1, 1, 32, 4])?, stream.tensor_uninit::<f32, _>([1, 1, 32, 4])?);
/// spmm(&p, &v, &mut out).launch(&stream)?;
/// assert_eq!(stream.download(&out)?, [[8.0; 64], [16.0; 64]].concat());
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `sddmm` and `spmm`.
#[operation(Spmm)]
pub fn spmm<T: FloatElement>(
    call: Call,
    #[axes(z, h, q, k)] p: &'a BlockSparse<T>,
    #[axes(z, h, if transposed { q } else { k }, d)] v: View<T, 4>,
    #[axes(z, h, if transposed { k } else { q }, d)] out: ViewMut<T, 4>,
    /// Multiplies by the transpose of p.
    #[flag]
    transposed: bool,
    /// Divides rows of more than this many blocks evenly among programs, which balances patterns whose rows differ, such as causal ones (section
    /// 6.3.2 of the thesis). Their sums are in the stream's scratch memory, in `f32`, until the last program of a row rounds them.
    #[check(segment > 0, "a positive number", "it is the most blocks that a program adds")]
    segment: Option<usize>,
    /// Adds the segments of a row in one order, so that each launch has the same result to the bit. Scratch memory then holds the sums of each
    /// segment. Without segments it is so anyway.
    #[default(false)]
    deterministic: bool,
) -> Result<()> {
    if out.shape().contains(&0) {
        return Ok(());
    }
    let (layout, along) = (p.layout(), if transposed { Along::Columns } else { Along::Rows });
    let segment = segment.unwrap_or(usize::MAX);
    let table = layout.segment_table(call.stream, along, segment).map_err(|error| call.without_memory(error))?;
    match transposed {
        false => products::<T, false>(call, p, v, out, deterministic, layout.lists(along), &table),
        true => products::<T, true>(call, p, v, out, deterministic, layout.lists(along), &table),
    }
}

fn products<T: FloatElement, const TRANSPOSED: bool>(
    call: Call<'_>,
    p: &BlockSparse<T>,
    v: View<'_, T, 4>,
    mut out: ViewMut<'_, T, 4>,
    deterministic: bool,
    lists: &ListTable,
    table: &SegmentTable,
) -> Result<()>
where
    triton::Compiled: SpmmKernelPool<T, TRANSPOSED>,
{
    let layout = p.layout();
    let ([batch, _, rows, depth], block) = (out.shape(), layout.block());
    // The rows of a tile lie in one row of blocks.
    let tile = block.min(64);
    let programs = block / tile * depth.div_ceil(64);
    let places = if deterministic { table.slots } else { table.splits };
    let mut parts = call.scratch::<f32>(batch * places * block * depth)?;
    let counters = table.splits * programs * batch;
    let mut done = call.scratch::<i32>(counters)?;
    let of_head = (rows / block) as i32;
    for of in grid::parts(batch, 1) {
        let of_parts = parts.view_mut([batch, places, block, depth])?.narrow(0, of.clone())?;
        let kernel = spmm_kernel_tuned::<T, TRANSPOSED>(
            p.view()?.narrow(0, of.clone())?,
            v.narrow(0, of.clone())?,
            out.reborrow().narrow(0, of.clone())?,
            table.table.view()?,
            lists.entries.view()?,
            of_parts,
            done.view_mut([counters])?,
            of_head,
            layout.shift(),
            deterministic,
        );
        call.tuned(kernel, |of| of.BM as usize == tile, |_| (table.count, programs, of.len()))?;
    }
    Ok(())
}
