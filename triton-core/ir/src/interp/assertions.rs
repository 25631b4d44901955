//! Assertions that fail, and lines that a program prints.

use super::{Machine, RunError};
use crate::ir::{Function, Value};
use crate::ops::{Op, Text};
use crate::types::half;
use crate::types::{Constant, DType};
use std::fmt::Write;

/// An assertion of a kernel that did not hold.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FailedAssertion {
    /// The kernel's name.
    pub kernel: String,
    /// The source file, as rustc names it; empty if it is not known.
    pub file: String,
    /// The line in it, from 1; 0 if it is not known.
    pub line: u32,
    /// The program in which it failed.
    pub program: [u32; 3],
    /// What the assertion says.
    pub message: String,
}

impl FailedAssertion {
    /// The assertion with this text, failed in a program.
    pub fn new(func: &Function, text: Text, program: [u32; 3]) -> FailedAssertion {
        let says = |op: &Op| matches!(*op, Op::Assert { message, .. } if message == text);
        let inst = func.walk().into_iter().find(|&inst| says(&func.insts[inst].op));
        let loc = inst.and_then(|inst| func.sources.loc(func.insts[inst].span));
        let file = loc.and_then(|loc| func.sources.files.get(usize::from(loc.file)));
        FailedAssertion {
            kernel: func.name.clone(),
            file: file.cloned().unwrap_or_default(),
            line: loc.map_or(0, |loc| loc.line),
            program,
            message: func.texts.get(text.0 as usize).cloned().unwrap_or_default(),
        }
    }
}

impl std::fmt::Display for FailedAssertion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.line > 0 {
            write!(f, "{}:{}: ", self.file, self.line)?;
        }
        let [x, y, z] = self.program;
        write!(f, "kernel `{}`, program ({x}, {y}, {z}): assertion failed: {}", self.kernel, self.message)
    }
}

impl Machine<'_> {
    pub(super) fn assertion(&self, cond: Value, message: Text) -> Result<(), RunError> {
        if self.value(cond).iter().all(|&c| c != 0) {
            return Ok(());
        }
        Err(RunError::Assertion(FailedAssertion::new(self.func, message, self.program.id)))
    }

    /// The lines of a `print`.
    pub(super) fn lines(&self, text: Text, values: &[Value]) -> String {
        let pieces = Text::pieces(self.func.texts.get(text.0 as usize).map_or("", String::as_str));
        let shape = values.first().map(|&v| self.func.ty(v).shape).filter(|shape| shape.rank() > 0);
        let mut out = String::new();
        for element in 0..shape.map_or(1, |shape| shape.elements()) as usize {
            if let Some(shape) = shape {
                let [x, y, z] = self.program.id;
                let _ = write!(out, "({x}, {y}, {z}){} ", index(shape.dims(), element));
            }
            for (i, piece) in pieces.iter().enumerate() {
                out.push_str(piece);
                if let Some(&value) = values.get(i) {
                    let dtype = self.func.ty(value).elem.num().unwrap_or(DType::U64);
                    out.push_str(&number(Constant { dtype, bits: self.value(value)[element] }));
                }
            }
            out.push('\n');
        }
        out
    }
}

/// `[2, 17]`.
fn index(dims: &[u32], element: usize) -> String {
    let mut left = element as u32;
    let mut index: Vec<String> = dims
        .iter()
        .rev()
        .map(|&d| {
            let at = left % d;
            left /= d;
            at.to_string()
        })
        .collect();
    index.reverse();
    format!("[{}]", index.join(", "))
}

/// As Rust's `{}`.
fn number(x: Constant) -> String {
    match x.dtype {
        DType::Bool => (x.bits != 0).to_string(),
        DType::F16 => half::f16_to_f32(x.bits as u16).to_string(),
        DType::BF16 => half::bf16_to_f32(x.bits as u16).to_string(),
        DType::F32 => f32::from_bits(x.bits as u32).to_string(),
        DType::F64 => f64::from_bits(x.bits).to_string(),
        DType::I8 | DType::I16 | DType::I32 | DType::I64 | DType::U8 | DType::U16 | DType::U32 | DType::U64 => {
            x.as_int().unwrap_or(0).to_string()
        }
    }
}
