//! What is measured: operations, sizes, alignment. The one list that our side and the peers work off.

use serde::{Deserialize, Serialize};

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// out = x
    Copy,
    /// out = x + y
    Add,
}

/// An element type.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum DType {
    /// 4 bytes
    F32,
    /// 2 bytes
    F16,
}

/// One row of the comparison.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Case {
    /// Unique among the cases.
    pub name: String,
    /// What is computed.
    pub op: Op,
    /// On which elements.
    pub dtype: DType,
    /// How many.
    pub n: usize,
    /// How many elements behind an aligned address each operand begins.
    pub offset: usize,
    /// Compulsory reads and writes.
    pub bytes: u64,
    /// The case that copies as many bytes (but for a few elements).
    pub copy: String,
}

impl Op {
    /// Operands, results included.
    fn operands(self) -> usize {
        match self {
            Op::Copy => 2,
            Op::Add => 3,
        }
    }
}

impl DType {
    /// Bytes of an element.
    pub fn bytes(self) -> usize {
        match self {
            DType::F32 => 4,
            DType::F16 => 2,
        }
    }

    /// As in Rust.
    pub fn name(self) -> &'static str {
        match self {
            DType::F32 => "f32",
            DType::F16 => "f16",
        }
    }
}

impl Case {
    fn new(name: &str, op: Op, dtype: DType, n: usize, offset: usize, copy: &str) -> Case {
        let bytes = (op.operands() * n * dtype.bytes()) as u64;
        Case { name: name.to_string(), op, dtype, n, offset, bytes, copy: copy.to_string() }
    }

    /// GB/s at a time in milliseconds.
    pub fn rate(&self, ms: f64) -> f64 {
        self.bytes as f64 / ms / 1e6
    }
}

/// The cases for operands of `n` elements, a multiple of 64.
pub fn cases(n: usize) -> Vec<Case> {
    let mut cases = vec![Case::new("copy f32", Op::Copy, DType::F32, n, 0, "copy f32")];
    for (dtype, operands_in_f32) in [(DType::F32, (3, 2)), (DType::F16, (3, 4))] {
        let copy = format!("copy like add {}", dtype.name());
        // Two operands of a copy hold the bytes of three of an addition.
        let copied = n / operands_in_f32.1 * operands_in_f32.0;
        cases.push(Case::new(&copy, Op::Copy, DType::F32, copied, 0, &copy));
        for (kind, n, offset) in [("aligned", n, 0), ("tail", n - 3, 0), ("offset 1", n, 1)] {
            cases.push(Case::new(&format!("add {} {kind}", dtype.name()), Op::Add, dtype, n, offset, &copy));
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed() {
        let n = 1 << 27;
        let cases = cases(n);
        let table: Vec<(&str, u64)> = cases.iter().map(|c| (c.name.as_str(), c.bytes)).collect();
        let (f32s, f16s) = (12 << 27, 6 << 27);
        assert_eq!(
            table,
            [
                ("copy f32", 8 << 27),
                ("copy like add f32", f32s),
                ("add f32 aligned", f32s),
                ("add f32 tail", f32s - 36),
                ("add f32 offset 1", f32s),
                ("copy like add f16", f16s),
                ("add f16 aligned", f16s),
                ("add f16 tail", f16s - 18),
                ("add f16 offset 1", f16s),
            ]
        );
        for case in &cases {
            let copy = cases.iter().find(|c| c.name == case.copy).expect("the copy");
            assert!(copy.op == Op::Copy && copy.bytes.abs_diff(case.bytes) <= 36, "{case:?}");
            assert!(case.n % 16 == 0 || case.name.ends_with("tail"), "{case:?}");
        }
        assert_eq!(cases[0].rate(0.25).round(), 4295.0);
    }
}
