//! The types and shapes of tensor core instructions.

use crate::types::DType;

/// A shape and type of `mma.sync`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mma {
    /// 16 × 8 × 16 of `f16`, added in `f32`.
    F16,
    /// 16 × 8 × 16 of `bf16`, added in `f32`.
    BF16,
    /// 16 × 8 × 32 of `i8`, added in `i32`.
    S8,
    /// 16 × 8 × 8 of `f64`.
    F64,
    /// 8 × 8 × 4 of `f64`.
    F64M8,
    /// 16 × 8 × 8 of `f32` rounded to tf32, added in `f32`.
    Tf32,
}

impl Mma {
    /// The atom that multiplies elements of this type, 16 rows of them or more.
    pub fn of(dtype: DType) -> Option<Mma> {
        match dtype {
            DType::F16 => Some(Mma::F16),
            DType::BF16 => Some(Mma::BF16),
            DType::I8 => Some(Mma::S8),
            DType::F64 => Some(Mma::F64),
            DType::F32 => Some(Mma::Tf32),
            DType::Bool | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
                None
            }
        }
    }

    /// M, N and K.
    pub fn shape(self) -> [usize; 3] {
        match self {
            Mma::F16 | Mma::BF16 => [16, 8, 16],
            Mma::S8 => [16, 8, 32],
            Mma::F64 | Mma::Tf32 => [16, 8, 8],
            Mma::F64M8 => [8, 8, 4],
        }
    }

    /// The type of the operands.
    pub fn operand(self) -> &'static str {
        match self {
            Mma::F16 => "f16",
            Mma::BF16 => "bf16",
            Mma::S8 => "s8",
            Mma::F64 | Mma::F64M8 => "f64",
            Mma::Tf32 => "tf32",
        }
    }

    /// The type of the sum.
    pub fn sum(self) -> &'static str {
        match self {
            Mma::F16 | Mma::BF16 | Mma::Tf32 => "f32",
            Mma::S8 => "s32",
            Mma::F64 | Mma::F64M8 => "f64",
        }
    }

    /// Registers of A, B and the sum in a thread.
    pub fn registers(self) -> (usize, usize, usize) {
        match self {
            Mma::F16 | Mma::BF16 | Mma::S8 | Mma::Tf32 | Mma::F64 => (4, 2, 4),
            Mma::F64M8 => (1, 1, 2),
        }
    }
}
