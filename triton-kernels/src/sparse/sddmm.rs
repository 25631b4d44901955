//! The product of two dense matrices, of which only the blocks of a block-sparse one are computed.

use super::values::BlockSparse;
use crate::Result;
use crate::element::{FloatElement, operation};
use crate::error::{same_shape, size};
use crate::grid::parts;
use crate::lent::named;
use triton::prelude::*;

/// Programs that keep a GPU of 132 multiprocessors busy: super-blocks are not so wide that there are fewer.
const PROGRAMS: usize = 264;

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

/// Builder of a product with a block-sparse result (SDDMM), returned by [`sddmm`].
#[must_use = "nothing is enqueued until `.launch(..)`"]
#[derive(Debug)]
pub struct Sddmm<'a, T: Element> {
    q: View<'a, T, 4>,
    k: View<'a, T, 4>,
    scores: &'a mut BlockSparse<T>,
    scale: f32,
    superblocks: Option<bool>,
}

/// The blocks of scores = q · kᵀ that their layout has, of q `[Z, H, queries, D]` and k `[Z, H, keys, D]`: a sampled dense-dense matrix
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
pub fn sddmm<'a, T: FloatElement>(
    q: impl IntoView<'a, T, 4>,
    k: impl IntoView<'a, T, 4>,
    scores: &'a mut BlockSparse<T>,
) -> Sddmm<'a, T> {
    Sddmm { q: q.into_view(), k: k.into_view(), scores, scale: 1.0, superblocks: None }
}

impl<'a, T: FloatElement> Sddmm<'a, T> {
    /// Multiplies the sums before they are rounded, such as by 1 / √D: in `f16` what is stored ends at 65504, which a sum of products may pass.
    pub fn scale(self, scale: f32) -> Sddmm<'a, T> {
        Sddmm { scale, ..self }
    }

    /// With `true` super-blocks are as wide as there are, up to 128 elements; with `false` a program computes one block.
    pub fn superblocks(self, superblocks: bool) -> Sddmm<'a, T> {
        Sddmm { superblocks: Some(superblocks), ..self }
    }

    /// Enqueues it: a launch for each width of super-blocks. The first launch of a layout uploads their tables.
    ///
    /// # Errors
    /// [`Error::Shape`](crate::Error::Shape) if q or k does not have the shape that the scores require; errors of the device.
    pub fn launch(self, stream: &Stream) -> Result<()> {
        T::dispatch::<Forward>(self, stream)
    }
}

operation!(Forward: Sddmm by enqueue);

fn enqueue<T: FloatElement>(of: Sddmm<'_, T>, stream: &Stream) -> Result<()>
where
    triton::Compiled: SddmmKernelPool<T>,
{
    let (op, Sddmm { q, k, scores, scale, superblocks }) = ("sddmm", of);
    let layout = scores.layout().clone();
    let [queries, keys] = layout.tokens();
    let depth = q.shape()[3];
    let (batch, block) = (scores.batch(), layout.block());
    let fix = "q is [Z, H, queries, D], k is [Z, H, keys, D] of the batch and the layout of the scores";
    [("q", q), ("k", k)].into_iter().try_for_each(|(operand, view)| size(op, operand, &view.shape()))?;
    same_shape(op, "q", q.shape(), [batch, layout.heads(), queries, depth], fix)?;
    same_shape(op, "k", k.shape(), [batch, layout.heads(), keys, depth], fix)?;
    if batch * layout.blocks() == 0 {
        return Ok(());
    }
    let most = match superblocks {
        Some(true) => 128 / block,
        Some(false) => 1,
        None => match layout.width(PROGRAMS.div_ceil(batch)) {
            // Rows and columns of small super-blocks are gathered for little, by a launch for each width.
            width if layout.superblocks().share(width) >= 0.5 => width,
            _ => 1,
        },
    };
    for table in layout.superblock_tables(stream, most).map_err(named(op))?.iter().filter(|table| table.count > 0) {
        let (side, whole) = ((table.width * block) as i32, table.width == 1);
        for of in parts(batch, 1) {
            let scores = if whole { scores.blocks_mut()? } else { scores.parts_mut()? }.narrow(0, of.clone())?;
            let (q, k) = (q.narrow(0, of.clone())?, k.narrow(0, of.clone())?);
            sddmm_kernel_tuned::<T>(q, k, table.table.view()?, scores, scale, layout.shift())
                .find(|of| of.S == side && of.WHOLE == whole)
                .launch(stream, |_| (table.count, of.len()))?;
        }
    }
    Ok(())
}
