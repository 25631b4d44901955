//! The product of two dense matrices, of which only the blocks of a block-sparse one are computed.

use super::values::BlockSparse;
use crate::Result;
use crate::element::FloatElement;
use crate::grid::parts;
use crate::operation::{Call, operation};
use triton::prelude::*;

/// Programs for each multiprocessor that keep it busy: super-blocks are not so wide that there are fewer.
const PROGRAMS: usize = 2;

/// A program computes a super-block of S × S elements: `table` lists its head, its rows and columns of blocks, and where the blocks are
/// stored. A side of a block has 2^`shift` elements. With WHOLE the super-block is one block, whose rows of q and k, and whose scores, are tiles; else
/// they are gathered, and scores are stored by 16 elements.
#[triton::kernel(warnings = false, configs = [
    (T = f32, S = 16, BK = 32, WHOLE = true, num_warps = 1),
    (T = f32, S = 32, BK = 32, WHOLE = true, num_warps = 2), (T = f32, S = 32, BK = 32, WHOLE = false, num_warps = 2),
    (T = f32, S = 64, BK = 32, WHOLE = true, num_warps = 4), (T = f32, S = 64, BK = 32, WHOLE = false, num_warps = 4),
    (T = f32, S = 128, BK = 32, WHOLE = true, num_warps = 8), (T = f32, S = 128, BK = 32, WHOLE = false, num_warps = 8),
    (T = f16, S = 16, BK = 64, WHOLE = true, num_warps = 1, num_stages = 1),
    (T = f16, S = 32, BK = 64, WHOLE = true, num_warps = 1, num_stages = 2), (T = f16, S = 32, BK = 64, WHOLE = false, num_warps = 2),
    (T = f16, S = 64, BK = 64, WHOLE = true, num_warps = 2, num_stages = 2, targets = ["sm_80", "sm_90a"]), (T = f16, S = 64, BK = 64, WHOLE = false, num_warps = 4),
    (T = f16, S = 128, BK = 64, WHOLE = true, num_warps = 8), (T = f16, S = 128, BK = 64, WHOLE = false, num_warps = 8),
    (T = bf16, S = 16, BK = 64, WHOLE = true, num_warps = 1, num_stages = 1),
    (T = bf16, S = 32, BK = 64, WHOLE = true, num_warps = 1, num_stages = 2), (T = bf16, S = 32, BK = 64, WHOLE = false, num_warps = 2),
    (T = bf16, S = 64, BK = 64, WHOLE = true, num_warps = 2, num_stages = 2, targets = ["sm_80", "sm_90a"]), (T = bf16, S = 64, BK = 64, WHOLE = false, num_warps = 4),
    (T = bf16, S = 128, BK = 64, WHOLE = true, num_warps = 8), (T = bf16, S = 128, BK = 64, WHOLE = false, num_warps = 8),
], targets = ["sm_80"], tune = [S, BK, WHOLE])]
fn sddmm_kernel<T: Float, const S: i32, const BK: i32, const WHOLE: bool>(
    q: Tensor<T, 4>,
    k: Tensor<T, 4>,
    table: Tensor<i32, 2>,
    scores: TensorMut<T, 5>,
    scale: f32,
    #[no_specialize] shift: i32,
) {
    let (at, z) = (program_id(0), program_id(1));
    let head = table.get([at, 0]);
    let mut sums = zeros::<f32>([S, S]);
    if WHOLE {
        let (row, column) = (table.get([at, 1]) << shift, table.get([at, 2]) << shift);
        for d in (0..q.dim(3)).step_by(BK) {
            let x = q.load([z, head, row, d], [1, 1, S, BK]).reshape([S, BK]);
            sums = dot(x, k.load([z, head, column, d], [1, 1, S, BK]).reshape([S, BK]).transpose(), sums);
        }
        let v = (sums * scale).to::<T>().reshape([1, 1, 1, S, S]);
        scores.store([z, table.get([at, 3]), 0, 0, 0], v);
    } else {
        let (width, last) = (S >> shift, (1 << shift) - 1);
        let i = arange(0, S);
        let block = i >> shift;
        let rows = ((table.gather((at, 1 + block), true) << shift) + (i & last)).expand_dims(1);
        let columns = ((table.gather((at, 1 + width + block), true) << shift) + (i & last)).expand_dims(1);
        for d in (0..q.dim(3)).step_by(BK) {
            let depth = (d + arange(0, BK)).expand_dims(0);
            let x = q.gather((z, head, rows, depth), true);
            sums = dot(x, k.gather((z, head, columns, depth), true).transpose(), sums);
        }
        // Sixteen elements of a row lie in one block whatever its size.
        let part = arange(0, S / 16);
        let ids = 1 + 2 * width + block.expand_dims(1) * width + (part >> (shift - 4)).expand_dims(0);
        let id = table.gather((at, ids), true).expand_dims(2);
        let row = (i & last).expand_dims(1).expand_dims(2);
        let part = (part & (last >> 4)).expand_dims(0).expand_dims(2);
        let v = (sums * scale).to::<T>().reshape([S, S / 16, 16]);
        scores.scatter((z, id, row, part, arange(0, 16).expand_dims(0).expand_dims(0)), v, true);
    }
}

/// The blocks of scores = q · kᵀ that their layout has, for z sequences of q queries and k keys: a sampled dense-dense matrix
/// product (Tillet, "Blocked algorithms for neural networks", 2020, section 6.2.1).
///
/// Sums are in `f32`, rounded once. A program computes a [super-block](super::superblock), whose rows of q and k it gathers, as wide as leaves enough programs
/// for a large GPU, where such super-blocks hold half of the blocks; else one block. [`superblocks`](Sddmm::superblocks) asks for either.
///
/// The gradient of the probabilities of attention is such a product, too: that of the output times vᵀ.
///
/// A NaN or an infinity in a row of q or k reaches that row or column of the blocks alone.
///
/// ```
/// use triton::Device;
/// use triton_kernels::sparse::{BlockLayout, BlockMask, BlockSparse, sddmm};
///
/// let stream = Device::cpu().stream()?;
/// let layout = BlockLayout::new(&stream, 16, &BlockMask::causal(2))?;
/// let (q, k) = (stream.tensor(&[0.5f32; 32 * 8], [1, 1, 32, 8])?, stream.tensor(&[1.0f32; 32 * 8], [1, 1, 32, 8])?);
/// let mut scores = BlockSparse::zeros(&stream, 1, &layout)?;
/// sddmm(&q, &k, &mut scores).scale(0.25).launch(&stream)?;
/// assert_eq!(stream.download(scores.values())?, [1.0; 3 * 256]);
/// # Ok::<(), triton_kernels::Error>(())
/// ```
///
/// Its gradient: `spmm`.
#[operation(Sddmm)]
pub fn sddmm<T: FloatElement>(
    call: Call,
    #[axes(z, h, q, d)] q: View<T, 4>,
    #[axes(z, h, k, d)] k: View<T, 4>,
    #[axes(z, h, q, k)] scores: &'a mut BlockSparse<T>,
    /// Multiplies the sums before they are rounded, such as by 1 / √d: in `f16` what is stored ends at 65504, which a sum of products may pass.
    #[default(1.0)]
    scale: f32,
    /// With `true` super-blocks are as wide as there are, up to 128 elements; with `false` a program computes one block.
    superblocks: Option<bool>,
) -> Result<()> {
    let layout = scores.layout().clone();
    let (batch, block) = (scores.batch(), layout.block());
    if batch * layout.blocks() == 0 {
        return Ok(());
    }
    let most = match superblocks {
        Some(true) => 128 / block,
        Some(false) => 1,
        None => match layout.width((PROGRAMS * call.multiprocessors()).div_ceil(batch)) {
            // Rows and columns of small super-blocks are gathered for little, by a launch for each width.
            width if layout.superblocks().share(width) >= 0.5 => width,
            _ => 1,
        },
    };
    for table in layout
        .superblock_tables(call.stream, most)
        .map_err(|error| call.without_memory(error))?
        .iter()
        .filter(|table| table.count > 0)
    {
        let (side, whole) = ((table.width * block) as i32, table.width == 1);
        for of in parts(batch, 1) {
            let scores = if whole { scores.blocks_mut()? } else { scores.parts_mut()? }.narrow(0, of.clone())?;
            let (q, k) = (q.narrow(0, of.clone())?, k.narrow(0, of.clone())?);
            let kernel = sddmm_kernel_tuned::<T>(q, k, table.table.view()?, scores, scale, layout.shift());
            call.tuned(kernel, |of| of.S == side && of.WHOLE == whole, |_| (table.count, of.len()))?;
        }
    }
    Ok(())
}
