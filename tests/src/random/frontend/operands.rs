//! What products of a program are made of: element types, views to load from and to write to.
//!
//! Operands are small whole numbers, or `i8`, so that a sum is the same in every order.

use super::{Parameter, Random};
use triton_core::types::DType;

/// Rows of `w` that a program may read and write.
pub const OWN: u32 = 64;

/// Which images may run: what is so of every argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Launch {
    /// Nothing.
    Any,
    /// Rows begin at multiples of 16 bytes.
    Aligned,
    /// Their lengths, and numbers, are multiples of 16, too.
    Divisible,
}

/// The choices of a program with products.
pub struct Operands {
    /// Element type of the operands.
    pub dtype: DType,
    /// What products are added in.
    pub sum: DType,
    /// The most tiles of an operand in memory at a time.
    pub num_stages: u32,
    /// What its launch keeps.
    pub launch: Launch,
    /// Rows of `c` that a program may write.
    pub rows: u32,
    /// Columns of `c` that are taken.
    pub columns: u32,
}

impl Operands {
    /// Those of a program.
    pub fn of(random: &mut Random) -> Operands {
        use DType::*;
        let (dtype, sum) = random.pick(&[(F16, F32), (F16, F32), (BF16, F32), (F32, F32), (F64, F64), (I8, I32)]);
        let (num_stages, rows) = (random.pick(&[1, 2, 2, 2, 3, 3, 3, 3, 4, 4, 5, 5]), random.pick(&[32, 64, 64]));
        let launch = random.pick(&[Launch::Any, Launch::Aligned, Launch::Aligned, Launch::Aligned, Launch::Divisible]);
        Operands { dtype, sum, num_stages, launch, rows, columns: 0 }
    }

    /// The kernel's parameters.
    pub fn written(&self) -> String {
        let (dtype, sum) = (self.dtype.name(), self.sum.name());
        format!("a: Tensor<{dtype}, 2>, b: Tensor<{dtype}, 2>, w: TensorMut<{dtype}, 2>, c: TensorMut<{sum}, 2>")
    }

    /// The views of a launch. Extents cut tiles, and rows begin where copies of 16 bytes can, or not.
    pub fn parameters(&self, random: &mut Random, grid: u32) -> Vec<Parameter> {
        let any = self.launch == Launch::Any;
        let uneven = self.launch < Launch::Divisible && !random.once_in(4);
        let (short, long): (&[u32], &[u32]) =
            if uneven { (&[24, 37, 40, 66], &[72, 100, 141, 200, 264]) } else { (&[32, 64], &[64, 96, 144, 256]) };
        // A product sums along the second axis of `a` and the first one of `b`, unless they are transposed.
        let [a, b] = [1, 0].map(|axis| {
            let axis = if random.once_in(4) { 1 - axis } else { axis };
            let mut extents = [random.pick(short); 2];
            extents[axis] = random.pick(long);
            extents
        });
        let w = [grid * OWN - 3 * u32::from(uneven), random.pick(short)];
        let c = [grid * self.rows - 2 * u32::from(uneven), self.columns.max(1)];
        let mut view = |name, dtype: DType, [rows, columns]: [u32; 2]| {
            let (turned, lanes) = (any && random.once_in(6), 16 / dtype.bytes());
            let (outer, inner) = if turned { (columns, rows) } else { (rows, columns) };
            let pitch = match random.below(6) {
                0 if any => inner + random.pick(&[0, 1, 2, 3]),
                1 => (inner + lanes).next_multiple_of(lanes),
                _ => inner.next_multiple_of(lanes),
            };
            let strides = if turned { vec![1, pitch.into()] } else { vec![pitch.into(), 1] };
            let len = (outer * pitch) as usize;
            Parameter { name, dtype, extents: vec![rows.into(), columns.into()], strides, len }
        };
        vec![view("a", self.dtype, a), view("b", self.dtype, b), view("w", self.dtype, w), view("c", self.sum, c)]
    }
}
