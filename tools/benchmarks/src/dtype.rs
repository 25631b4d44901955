//! Element types of what is measured.

use serde::{Deserialize, Serialize};

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// 4 bytes
    F32,
    /// 2 bytes
    F16,
    /// 2 bytes
    Bf16,
    /// 8 bytes
    F64,
    /// 1 byte; results are of `i32`
    I8,
}

impl DType {
    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            DType::F64 => 8,
            DType::F32 => 4,
            DType::F16 | DType::Bf16 => 2,
            DType::I8 => 1,
        }
    }

    /// Bytes of an element of a result.
    pub fn bytes_of_result(self) -> usize {
        match self {
            DType::F64 | DType::F32 | DType::F16 | DType::Bf16 => self.bytes(),
            DType::I8 => 4,
        }
    }

    /// As in Rust.
    pub fn name(self) -> &'static str {
        match self {
            DType::F64 => "f64",
            DType::F32 => "f32",
            DType::F16 => "f16",
            DType::Bf16 => "bf16",
            DType::I8 => "i8",
        }
    }

    /// Half the distance from 1 to the next number: the largest relative error of a rounded result; integers are exact.
    pub fn rounding(self) -> f64 {
        match self {
            DType::F64 => f64::EPSILON / 2.0,
            DType::F32 => 1.0 / 16_777_216.0,
            DType::F16 => 1.0 / 2048.0,
            DType::Bf16 => 1.0 / 256.0,
            DType::I8 => 0.0,
        }
    }
}
