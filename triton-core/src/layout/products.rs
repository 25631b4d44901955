//! The layouts of a product's operands that follow from that of its sum: which elements a thread multiplies.

use super::{Atom, Layout, Tiling};
use crate::types::{DType, Shape};

/// The instruction of tensor cores that multiplies elements of this type, and its M, N and K; `f32` is rounded to tf32.
pub fn atom(dtype: DType) -> Option<(Atom, [u32; 3])> {
    match dtype {
        DType::F16 | DType::BF16 => Some((Atom::M16N8, [16, 8, 16])),
        DType::I8 => Some((Atom::M16N8, [16, 8, 32])),
        DType::F64 => Some((Atom::M8N8, [8, 8, 4])),
        DType::F32 => Some((Atom::M16N8, [16, 8, 8])),
        DType::Bool | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => None,
    }
}

/// The operands `[M, K]` and `[K, N]` of elements of `bits` bits for a sum `[M, N]` in this layout, by tensor cores; `None` if they
/// cannot hold such a sum.
pub fn mma(sum: &Layout, shape: Shape, depth: u32, bits: u32, atom: Atom) -> Option<[Layout; 2]> {
    let &[m, n] = shape.dims() else { return None };
    let warps = sum.warp.len();
    let tilings = (0..=warps).map(|log| Tiling { atom, warps_m: 1 << (warps - log), warps_n: 1 << log });
    let tiling = { tilings }.find(|&tiling| Layout::mma_d(shape, tiling).as_ref() == Some(sum))?;
    let (left, right) = (Shape::new(&[m, depth])?, Shape::new(&[depth, n])?);
    Some([Layout::mma_a(left, bits, tiling)?, Layout::mma_b(right, bits, tiling)?])
}

/// The same without tensor cores: every thread has whole rows of the left operand and columns of the right one.
pub fn fma(sum: &Layout, shape: Shape, depth: u32) -> Option<[Layout; 2]> {
    let one_axis = |axis: usize| Shape::new(&[*shape.dims().get(axis)?]);
    let row = sum.slice_axis(shape, 1)?.insert_axis(one_axis(0)?, 1, depth)?;
    let column = sum.slice_axis(shape, 0)?.insert_axis(one_axis(1)?, 0, depth)?;
    Some([row, column])
}
