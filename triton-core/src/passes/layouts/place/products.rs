//! The layouts of matrix products: the instructions, and the arrangement of warps. Of a batch there are as many groups
//! of warps as there are matrices and warps for them.

use crate::ir::{Function, Inst, Value};
use crate::layout::{Atom, Layout, Tiling, hopper, products};
use crate::ops::{DotKind, Op};
use crate::passes::Env;
use crate::types::DType;
use std::cmp::Reverse;

/// The arrangements of a function's warps in which tensor cores can compute a product, those first in which each warp
/// reads least; none if tensor cores cannot.
///
/// They multiply half types in atoms of 16 × 8 × 16, `i8` of 16 × 8 × 32, `f32` whose operands are rounded to tf32 of
/// 16 × 8 × 8, and `f64` of these too, or of 8 × 8 × 4; every warp needs an atom of its own.
pub(super) fn tilings(func: &Function, kind: DotKind, [a, acc]: [Value; 2], env: &Env) -> Vec<(DotKind, Tiling)> {
    let (of_a, of_sum) = (func.ty(a).shape.base().matrices(), func.ty(acc).shape.base().matrices());
    let (Some((_, [m, k])), Some((_, [_, n]))) = (of_a, of_sum) else { return Vec::new() };
    let Some(dtype) = func.ty(a).elem.num().filter(|&dtype| dtype != DType::F32 || kind == DotKind::Tf32) else {
        return Vec::new();
    };
    let fitting = |kind: DotKind, (atom, [atom_m, atom_n, atom_k]): (Atom, [u32; 3])| {
        let all = products::tilings(func.ty(acc).shape, func.num_warps, atom);
        let fits = |t: &Tiling| t.warps_m * atom_m <= m && t.warps_n * atom_n <= n && atom_k <= k;
        let mut fitting: Vec<Tiling> = all.filter(fits).collect();
        fitting.sort_by_key(|t| (Reverse(t.groups), m / t.warps_m + n / t.warps_n, t.warps_n));
        fitting.into_iter().map(|tiling| (kind, tiling)).collect::<Vec<_>>()
    };
    let allowed = func.max_registers.is_none_or(|most| most >= products::F64_REGISTERS);
    let has_m16 = dtype != DType::F64 || env.target.info().mma_f64 && allowed;
    let of_m16 = products::atom(dtype).filter(|_| has_m16).map_or(Vec::new(), |atom| fitting(DotKind::Mma, atom));
    if of_m16.is_empty() && dtype == DType::F64 { fitting(DotKind::MmaM8, products::M8_F64) } else { of_m16 }
}

/// The arrangements of a function's warps in which `wgmma` can compute a product, if the target has it; none for a
/// batch. Elements of other than 16 bits are read along K alone: where they lie so in memory, the left operand as it is
/// and the right one transposed.
pub(super) fn warpgroup_tilings(func: &Function, kind: DotKind, [a, b, acc]: [Value; 3], env: &Env) -> Vec<Tiling> {
    let tensor = func.ty(a).elem.num().filter(|&dtype| dtype != DType::F32 || kind == DotKind::Tf32);
    let Some(depth) = tensor.filter(|_| env.target.info().wgmma).and_then(products::wgmma_depth) else {
        return Vec::new();
    };
    let shape = func.ty(acc).shape;
    let along_k = func.ty(a).elem.bits() == 16 || !is_permuted(func, a) && is_permuted(func, b);
    if func.ty(a).shape.base().matrices().is_none_or(|(_, [_, k])| k < depth) || !along_k {
        return Vec::new();
    }
    let along_n = (0..=func.num_warps.trailing_zeros()).map(|log| 1 << log);
    let tilings = along_n.filter_map(|warps_n| products::wgmma_tiling(shape, func.num_warps, warps_n));
    // Groups of eight columns in turn are read along K alone.
    let along_k = |tiling: &Tiling| !tiling.alternates(shape) || is_permuted(func, b);
    tilings.filter(|tiling| along_k(tiling) && are_readable(func, [a, b], tiling.atom)).collect()
}

/// Whether there is memory from which `wgmma` can read the operands: of several copies of a base tile it cannot always.
fn are_readable(func: &Function, [a, b]: [Value; 2], atom: Atom) -> bool {
    let Atom::Wgmma { n } = atom else { return false };
    [(a, 1, products::ROWS), (b, 0, n)].into_iter().all(|(operand, k, extent)| {
        let ty = func.ty(operand);
        let readable = |along| hopper::wgmma_mem(ty.shape, ty.elem.bits(), k, along, extent).is_some();
        ty.shape.num_copies() == 1 || readable(0) || readable(1)
    })
}

/// The layouts of `[a, b, acc]` for `wgmma`.
pub(super) fn wgmma(func: &Function, [a, acc]: [Value; 2], tiling: Tiling) -> Option<[Layout; 3]> {
    let (ty, shape) = (func.ty(a), func.ty(acc).shape);
    let sum = Layout::mma_d(shape, tiling)?;
    let (_, [_, depth]) = ty.shape.matrices()?;
    let [left, right] = products::wgmma(&sum, shape, depth, ty.elem.bits())?;
    Some([left, right, sum])
}

/// The layouts of `[a, b, acc]` for `mma.sync`: those of the operands follow from that of the sum, here as in code.
pub(super) fn mma(func: &Function, [a, acc]: [Value; 2], tiling: Tiling) -> Option<[Layout; 3]> {
    let (ty, shape) = (func.ty(a), func.ty(acc).shape);
    let sum = Layout::mma_d(shape, tiling)?;
    let (_, [_, depth]) = ty.shape.matrices()?;
    let [left, right] = products::mma(&sum, shape, depth, ty.elem.bits(), tiling.atom)?;
    Some([left, right, sum])
}

/// Whether a tile is another one with its axes permuted.
pub(super) fn is_permuted(func: &Function, tile: Value) -> bool {
    let makes = |inst: &Inst| func.insts[*inst].results.contains(&tile);
    func.walk().iter().find(|inst| makes(inst)).is_some_and(|&inst| matches!(func.insts[inst].op, Op::Permute { .. }))
}
