//! The layouts of matrix products: with which instructions, over which warps.

use crate::ir::types::{DType, Shape};
use crate::ir::{Function, Value};
use crate::layout::{Atom, Layout, Tiling};
use crate::ops::DotKind;

/// Chooses for each product of a function.
pub(super) struct Products {
    /// Warps that run a program.
    pub num_warps: u32,
}

/// How one product is computed.
pub(super) enum Product {
    /// By `mma.sync`, the warps arranged along M and N.
    Mma(Tiling),
    /// By multiplications and additions, in any layout of the sum.
    Fma,
}

impl Products {
    /// Tensor cores multiply half types in atoms of 16 × 8 × 16, `i8` of 16 × 8 × 32, `f64` of 8 × 8 × 4; every warp needs
    /// an atom of its own.
    pub fn of(&self, func: &Function, a: Value, acc: Value) -> Product {
        let (&[m, k], &[_, n]) = (func.ty(a).shape.dims(), func.ty(acc).shape.dims()) else { return Product::Fma };
        let (atom, [atom_m, atom_n, atom_k]) = match func.ty(a).elem.num() {
            Some(DType::F16 | DType::BF16) => (Atom::M16N8, [16, 8, 16]),
            Some(DType::I8) => (Atom::M16N8, [16, 8, 32]),
            Some(DType::F64) => (Atom::M8N8, [8, 8, 4]),
            _ => return Product::Fma,
        };
        if m < atom_m || n < atom_n || k < atom_k {
            return Product::Fma;
        }
        let (mut warps_m, mut warps_n) = (1, 1);
        while warps_m * warps_n < self.num_warps {
            // The longer side of a warp's share is cut, so that each reads as little as possible.
            let (rows, columns) = (m / atom_m / warps_m, n / atom_n / warps_n);
            match (rows > 1, columns > 1) {
                (true, _) if m / warps_m >= n / warps_n || columns <= 1 => warps_m *= 2,
                (_, true) => warps_n *= 2,
                _ => return Product::Fma,
            }
        }
        Product::Mma(Tiling { atom, warps_m, warps_n })
    }
}

impl Product {
    /// What the operation is told.
    pub fn kind(&self) -> DotKind {
        match self {
            Product::Mma(_) => DotKind::Mma,
            Product::Fma => DotKind::Fma,
        }
    }

    /// The layouts of `[a, b, acc]`. Without tensor cores the sum keeps the layout it has, and every thread is given whole
    /// rows of `a` and columns of `b`.
    pub fn layouts(
        &self,
        func: &Function,
        [a, b, acc]: [Value; 3],
        sum: impl FnOnce() -> Layout,
    ) -> Result<[Layout; 3], String> {
        let (left, right, shape) = (func.ty(a).shape, func.ty(b).shape, func.ty(acc).shape);
        let bits = func.ty(a).elem.bits();
        let layouts = match self {
            Product::Mma(tiling) => {
                [Layout::mma_a(left, bits, *tiling), Layout::mma_b(right, bits, *tiling), Layout::mma_d(shape, *tiling)]
            }
            Product::Fma => {
                let sum = sum();
                let depth = left.dims()[1];
                let row = sum.slice_axis(shape, 1).and_then(|l| l.insert_axis(first_axes(shape, 0)?, 1, depth));
                let column = sum.slice_axis(shape, 0).and_then(|l| l.insert_axis(first_axes(shape, 1)?, 0, depth));
                [row, column, Some(sum)]
            }
        };
        let [Some(a), Some(b), Some(sum)] = layouts else {
            return Err(format!("no layout for a product of {left}, {right} and {shape}"));
        };
        Ok([a, b, sum])
    }
}

/// The shape of one axis alone.
fn first_axes(shape: Shape, axis: usize) -> Option<Shape> {
    Shape::new(&[shape.dims()[axis]])
}
