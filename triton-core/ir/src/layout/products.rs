//! The layouts of a product's operands that follow from that of its sum: which elements a thread multiplies.

use super::{Atom, Layout, Tiling};
use crate::types::{DType, Shape};

/// The instruction of tensor cores that multiplies 8 rows of `f64`, and its M, N and K.
pub const M8_F64: (Atom, [u32; 3]) = (Atom::M8N8, [8, 8, 4]);

/// Registers that a thread must be allowed for `mma` of 16 rows of `f64`: the vendor's assembler refuses it below.
pub const F64_REGISTERS: u32 = 64;

/// The instruction of tensor cores that multiplies 16 rows of elements of this type, and its M, N and K; `f32` is rounded to tf32.
pub fn atom(dtype: DType) -> Option<(Atom, [u32; 3])> {
    match dtype {
        DType::F16 | DType::BF16 => Some((Atom::M16N8, [16, 8, 16])),
        DType::I8 => Some((Atom::M16N8, [16, 8, 32])),
        DType::F32 | DType::F64 => Some((Atom::M16N8, [16, 8, 8])),
        DType::Bool | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => None,
    }
}

/// The arrangements of `warps` warps among the matrices of a sum of this shape, and in each of them, for an atom: those first with most
/// groups, and with most warps along M.
pub fn tilings(shape: Shape, warps: u32, atom: Atom) -> impl Iterator<Item = Tiling> {
    let (warps, shape) = (warps.max(1), shape.base());
    let (most, logs) = (shape.matrices().map_or(1, |(count, _)| count.clamp(1, warps)).ilog2(), warps.ilog2());
    let all = (0..=most).rev().flat_map(move |groups| (0..=logs - groups).map(move |log| (groups, log)));
    let tiling = move |(groups, log): (u32, u32)| (1 << (logs - groups - log), 1 << log, 1 << groups);
    all.map(tiling).map(move |(warps_m, warps_n, groups)| Tiling { atom, warps_m, warps_n, groups })
}

/// The operands `[.., M, K]` and `[.., K, N]` of elements of `bits` bits for a sum `[.., M, N]` in this layout, by tensor cores; `None` if
/// they cannot hold such a sum.
pub fn mma(sum: &Layout, shape: Shape, depth: u32, bits: u32, atom: Atom) -> Option<[Layout; 2]> {
    let tiling = tilings(shape, 1 << sum.warp.len(), atom).find(|&t| Layout::mma_d(shape, t).as_ref() == Some(sum))?;
    let [left, right] = operands(shape, depth)?;
    Some([Layout::mma_a(left, bits, tiling)?, Layout::mma_b(right, bits, tiling)?])
}

/// The shapes of the operands of a sum of this shape.
fn operands(shape: Shape, depth: u32) -> Option<[Shape; 2]> {
    let (batch, &[m, n]) = shape.dims().split_last_chunk::<2>()?;
    Some([Shape::new(&[batch, &[m, depth]].concat())?, Shape::new(&[batch, &[depth, n]].concat())?])
}

/// The M of the instruction by which `wgmma` multiplies.
pub const ROWS: u32 = 64;

/// The K of the instruction by which `wgmma` multiplies elements of this type, 32 bytes of them; its M is [`ROWS`].
pub fn wgmma_depth(dtype: DType) -> Option<u32> {
    match dtype {
        DType::F16 | DType::BF16 | DType::F32 | DType::I8 => Some(256 / dtype.bits()),
        DType::Bool
        | DType::I16
        | DType::I32
        | DType::I64
        | DType::U8
        | DType::U16
        | DType::U32
        | DType::U64
        | DType::F64 => None,
    }
}

/// How `warps` warps, `warps_n` of which are along N, divide a sum among warpgroups; `None` if they cannot, or of a batch. An instruction
/// spans columns of all copies along N, as they follow one another in a thread's registers; where warpgroups divide them, each has every
/// `warps_n`th group of eight columns.
pub fn wgmma_tiling(shape: Shape, warps: u32, warps_n: u32) -> Option<Tiling> {
    let &[m, n] = shape.base().dims() else { return None };
    let warps_m = warps / warps_n.max(1);
    // Each warp has 16 of the 64 rows of an instruction.
    let fits = warps_m >= 4 && m >= 16 * warps_m && n >= 8 * warps_n;
    let columns = shape.dims()[1] / warps_n.max(1);
    let n =
        (8..=columns.min(256)).rev().find(|&n| n.is_multiple_of(8) && columns.is_multiple_of(n)).filter(|_| fits)?;
    Some(Tiling { atom: Atom::Wgmma { n }, warps_m, warps_n, groups: 1 })
}

/// The tiling that a sum's layout is one of.
pub fn wgmma_tiling_of(sum: &Layout, shape: Shape) -> Option<Tiling> {
    let tilings = (0..=sum.warp.len()).filter_map(|log| wgmma_tiling(shape, 1 << sum.warp.len(), 1 << log));
    tilings.into_iter().find(|&tiling| Layout::mma_d(shape, tiling).as_ref() == Some(sum))
}

/// The operands for a sum in this layout, by `wgmma`: the left one in registers, the right one in shared memory, from
/// which every warp reads all of it.
pub fn wgmma(sum: &Layout, shape: Shape, depth: u32, bits: u32) -> Option<[Layout; 2]> {
    let tiling = wgmma_tiling_of(sum, shape)?;
    let [left, right] = operands(shape, depth)?;
    let left = Layout::mma_a(left, bits, tiling)?;
    Some([left, Layout::of_every_warp(right.base().elements() as u32, sum.warp.len())])
}

/// The same without tensor cores: every thread has whole rows of the left operand and columns of the right one.
pub fn fma(sum: &Layout, shape: Shape, depth: u32) -> Option<[Layout; 2]> {
    let (rows, columns) = (shape.rank().checked_sub(2)?, shape.rank() - 1);
    let of = |along: usize| sum.slice_axis(shape, along)?.insert_axis(shape.without(along)?, along, depth);
    Some([of(columns)?, of(rows)?])
}
