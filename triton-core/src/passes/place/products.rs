//! The layouts of matrix products: the instructions, and the arrangement of warps.

use crate::ir::{Function, Value};
use crate::layout::{Atom, Layout, Tiling};
use crate::ops::DotKind;
use crate::types::{DType, Shape};

/// The arrangements of a function's warps in which tensor cores can compute a product, those first in which each warp
/// reads least; none if tensor cores cannot.
///
/// They multiply half types in atoms of 16 × 8 × 16, `i8` of 16 × 8 × 32, `f64` of 8 × 8 × 4, and `f32` whose operands are
/// rounded to tf32 of 16 × 8 × 8; every warp needs an atom of its own.
pub(super) fn tilings(func: &Function, kind: DotKind, a: Value, acc: Value) -> Vec<Tiling> {
    let (&[m, k], &[_, n]) = (func.ty(a).shape.dims(), func.ty(acc).shape.dims()) else { return Vec::new() };
    let (atom, [atom_m, atom_n, atom_k]) = match func.ty(a).elem.num() {
        Some(DType::F16 | DType::BF16) => (Atom::M16N8, [16, 8, 16]),
        Some(DType::I8) => (Atom::M16N8, [16, 8, 32]),
        Some(DType::F64) => (Atom::M8N8, [8, 8, 4]),
        Some(DType::F32) if kind == DotKind::Tf32 => (Atom::M16N8, [16, 8, 8]),
        _ => return Vec::new(),
    };
    if k < atom_k {
        return Vec::new();
    }
    let along_n = (0..=func.num_warps.trailing_zeros()).map(|log| 1 << log);
    let all = along_n.map(|warps_n| Tiling { atom, warps_m: func.num_warps / warps_n, warps_n });
    let mut fitting: Vec<Tiling> = all.filter(|t| t.warps_m * atom_m <= m && t.warps_n * atom_n <= n).collect();
    fitting.sort_by_key(|t| (m / t.warps_m + n / t.warps_n, t.warps_n));
    fitting
}

/// The layouts of `[a, b, acc]` for `mma.sync`.
pub(super) fn mma(func: &Function, [a, b, acc]: [Value; 3], tiling: Tiling) -> Option<[Layout; 3]> {
    let (left, right, shape) = (func.ty(a).shape, func.ty(b).shape, func.ty(acc).shape);
    let bits = func.ty(a).elem.bits();
    Some([Layout::mma_a(left, bits, tiling)?, Layout::mma_b(right, bits, tiling)?, Layout::mma_d(shape, tiling)?])
}

/// The layouts of `[a, b]` for a sum in this layout without tensor cores: every thread is given whole rows of `a` and columns
/// of `b`.
pub(super) fn fma(func: &Function, a: Value, acc: Value, sum: &Layout) -> Option<[Layout; 2]> {
    let (shape, depth) = (func.ty(acc).shape, func.ty(a).shape.dims()[1]);
    let row = sum.slice_axis(shape, 1)?.insert_axis(one_axis(shape, 0)?, 1, depth)?;
    let column = sum.slice_axis(shape, 0)?.insert_axis(one_axis(shape, 1)?, 0, depth)?;
    Some([row, column])
}

/// The shape of one axis alone.
fn one_axis(shape: Shape, axis: usize) -> Option<Shape> {
    Shape::new(&[shape.dims()[axis]])
}
