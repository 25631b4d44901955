//! Matrix instructions: cases of matrices, their fragments, and programs that run them.

pub mod element;
mod group;
mod probe;
mod sync;
pub mod verify;

use crate::operand_type::{OperandType, Value};
use crate::{Exactness, Inputs, ResultVector};
use element::{Element, Number};
use std::sync::Arc;

/// Extents and element types of one product `A B + C`.
#[derive(Clone, Copy, Debug)]
pub struct Spec {
    /// Rows of A and C.
    pub m: usize,
    /// Columns of B and C.
    pub n: usize,
    /// Columns of A, rows of B.
    pub k: usize,
    /// Elements of A.
    pub a: Element,
    /// Elements of B.
    pub b: Element,
    /// Elements of C and of the result.
    pub c: Element,
}

/// Matrices for one instruction, as bits.
#[derive(Clone, Debug)]
pub struct Case {
    /// What it shows.
    pub name: String,
    /// Extents and types.
    pub spec: Spec,
    /// `m` rows of `k` elements.
    pub a: Vec<u64>,
    /// `n` columns of `k` elements.
    pub b: Vec<u64>,
    /// `m` rows of `n` elements.
    pub c: Vec<u64>,
}

/// The sums of a case, in the order of their offsets in the output.
#[derive(Clone, Debug)]
pub struct Dots {
    /// The matrices.
    pub case: Arc<Case>,
    /// Row and column of each result.
    pub at: Vec<(usize, usize)>,
}

impl Dots {
    /// A row of A, a column of B and the element of C, as text.
    pub fn operands(&self, index: usize) -> String {
        let ((row, column), case) = (self.at[index], &self.case);
        let spec = case.spec;
        let list = |bits: &[u64], element: Element| {
            bits.iter().map(|b| format!("{b:0width$x}", width = element.bytes * 2)).collect::<Vec<_>>().join(",")
        };
        format!(
            "row {row} column {column} a {} b {} c {}",
            list(&case.a[row * spec.k..][..spec.k], spec.a),
            list(&case.b[column * spec.k..][..spec.k], spec.b),
            list(&[case.c[row * spec.n + column]], spec.c)
        )
    }
}

/// Row and index along K of each element that a lane holds of A, with 8 or 16 rows.
fn fragment_a(spec: Spec, lane: usize) -> Vec<(usize, usize)> {
    let (group, thread) = (lane / 4, lane % 4);
    let packed = (4 / spec.a.bytes).max(1);
    let tall = spec.m.min(16) / 8;
    let elements = spec.m.min(16) * spec.k / 32;
    (0..elements)
        .map(|i| {
            let (register, low) = (i / packed, i % packed);
            (group + 8 * (register % tall), register / tall * 4 * packed + thread * packed + low)
        })
        .collect()
}

/// Column and index along K of each element that a lane holds of B, with 8 columns.
fn fragment_b(spec: Spec, lane: usize) -> Vec<(usize, usize)> {
    let packed = (4 / spec.b.bytes).max(1);
    (0..8 * spec.k / 32).map(|i| (lane / 4, i / packed * 4 * packed + lane % 4 * packed + i % packed)).collect()
}

/// Row and column of each element that a lane holds of C, with 8 or 16 rows.
fn fragment_c(spec: Spec, lane: usize) -> Vec<(usize, usize)> {
    let (group, thread) = (lane / 4, lane % 4);
    let tall = spec.m.min(16) / 8;
    let per_tile = 2 * tall;
    (0..spec.n / 8 * per_tile).map(|i| (group + 8 * (i / 2 % tall), 8 * (i / per_tile) + 2 * thread + i % 2)).collect()
}

/// The bytes of a list of elements.
fn pack(bits: impl Iterator<Item = u64>, element: Element) -> Vec<u8> {
    bits.flat_map(|b| b.to_le_bytes().into_iter().take(element.bytes)).collect()
}

/// Registers of one operand in chunks of at most 16 bytes: declarations, the instructions that move chunk `n` between
/// registers and `[base + at + n * step]`, and the names.
fn registers(name: &str, bytes: usize, element: Element) -> (String, Vec<String>, Vec<String>) {
    let width = element.bytes.max(4);
    let names: Vec<String> = (0..bytes / width).map(|i| format!("%{name}_{i}")).collect();
    let declaration = format!("  .reg .b{} {};\n", width * 8, names.join(","));
    let chunks = names.chunks(16 / width).map(|chunk| match chunk.len() {
        1 => format!(".b{} #,{}", width * 8, chunk[0]),
        count => format!(".v{count}.b{} #,{{{}}}", width * 8, chunk.join(",")),
    });
    (declaration, chunks.collect(), names)
}

/// An instruction that loads a chunk.
fn load(chunk: &str, address: &str) -> String {
    let (types, registers) = chunk.split_once(" #,").unwrap_or((chunk, ""));
    format!("  ld.global{types} {registers},[{address}];\n")
}

/// An instruction that stores a chunk.
fn store(chunk: &str, address: &str) -> String {
    format!("  st.global{};\n", chunk.replace('#', &format!("[{address}]")))
}

/// Where element `i` of a thread lies, when 128 threads each store chunks of 16 bytes.
fn offset(at: usize, bytes_each: usize, thread: usize, element: Element, i: usize) -> usize {
    let stride = bytes_each.min(16);
    let byte = i * element.bytes;
    at + byte / 16 * stride * 128 + thread * stride + byte % 16
}

/// The record of the results of a case.
fn result_vector(instruction: &str, case: Arc<Case>, at: Vec<(usize, usize)>, offsets: Vec<usize>) -> ResultVector {
    let element = case.spec.c;
    let value = match element.number {
        Number::Float(format) => Value::Float(format),
        Number::Signed | Number::Unsigned => Value::Integer,
    };
    let exactness = match element.number {
        Number::Float(_) if !case.name.starts_with("exact") => Exactness::Accumulated,
        Number::Float(_) | Number::Signed | Number::Unsigned => Exactness::Exact,
    };
    ResultVector {
        form: format!("{instruction}: {}", case.name),
        ty: OperandType { name: element.name, bytes: element.bytes, lanes: 1, value },
        exactness,
        inputs: Inputs::Dots(Dots { case, at }),
        offsets,
        bytes: element.bytes,
    }
}

/// All programs with matrix instructions.
pub fn programs() -> Vec<crate::Program> {
    let mut all = sync::programs();
    all.extend(group::programs());
    all
}
