//! What is measured: operations, sizes, alignment. The one list that our side and the peers process.

use crate::shapes::{self, Group};
use serde::{Deserialize, Serialize};

pub use crate::dtype::DType;
pub use crate::shapes::Layouts;

/// An operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Op {
    /// out = x
    Copy,
    /// out = x + y
    Add,
    /// out = softmax(x) along rows
    Softmax,
    /// out = the sums of each element of x and all before it, along rows
    Cumsum,
    /// out = (x − mean) / √(variance + 10⁻⁵) · weight + bias along rows; y is weight, then bias ([`Case::second`])
    LayerNorm,
    /// out = x / √(mean of x² + 10⁻⁵) · y along rows
    RmsNorm,
    /// out = xᵀ
    Transpose,
    /// out = x · y
    Matmul,
    /// out = gelu(x · w + bias), by the approximation with `tanh`; y is w, then bias ([`Case::second`])
    Linear,
    /// out = softmax(x · kᵀ / √columns) · v of each head, which has as many rows as products are summed; y is k, then v ([`Case::second`]).
    /// See [`Case::causal`].
    Attention,
}

/// One row of the comparison.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique among the cases.
    pub name: String,
    /// What is computed.
    pub op: Op,
    /// On which elements.
    pub dtype: DType,
    /// Elements of the result.
    pub n: usize,
    /// Rows and columns of the result, and how many products are summed for an element of it (1 if none are).
    pub shape: [usize; 3],
    /// How the operands of a product are stored; elsewhere NN.
    pub layouts: Layouts,
    /// Whether a product rounds its operands of `f32` to the 10 explicit mantissa bits of TF32.
    pub tf32: bool,
    /// Whether each row of attention sees the keys up to its own alone.
    pub causal: bool,
    /// Whether the activation of a linear layer is GELU itself, and not its approximation by a tanh, which the peers compute in either case.
    pub exact: bool,
    /// Elements from one row of x and of the result to the next, where rows are the operation's: the columns, if rows are dense.
    pub pitch: usize,
    /// The offset of each operand from an aligned address, in elements.
    pub offset: usize,
    /// Compulsory reads and writes.
    pub bytes: u64,
    /// Operations on numbers, where they and not the bytes are the floor; else 0. Of causal attention half of those of all scores.
    pub flops: u64,
    /// The largest ‖found − reference‖ / ‖reference‖ that rounding explains.
    pub bound: f64,
    /// The case that copies as many bytes (but for a few elements); empty if that says nothing.
    pub copy: String,
}

impl Op {
    /// Whether each element of the result depends on one of each operand, at the same index.
    pub fn is_elementwise(self) -> bool {
        matches!(self, Op::Copy | Op::Add)
    }
}

impl Case {
    fn new(name: &str, op: Op, dtype: DType, shape: [usize; 3], copy: &str) -> Case {
        let [rows, columns, k] = shape;
        let n = rows * columns;
        let bound = dtype.rounding()
            * match (op, dtype) {
                (Op::Copy | Op::Transpose, _) => 0.0,
                (Op::Add, _) => 1.0,
                // The exponential, the sum and the division; much less than a wrong row.
                (Op::Softmax, _) => 32.0,
                // Of as many roundings, which have either sign.
                (Op::Cumsum, _) => 2.0 * (columns as f64).sqrt(),
                (Op::LayerNorm | Op::RmsNorm, _) => 1.25,
                // Sums are in `f32`, or `f64`: of as many roundings, which have either sign, or one and theirs.
                (Op::Matmul, DType::F32 | DType::F64) => 1.0 + 2.0 * (k as f64).sqrt(),
                (Op::Matmul | Op::Linear, DType::F16 | DType::Bf16) => 1.25,
                (Op::Matmul | Op::Linear, DType::I8) => 0.0,
                (Op::Linear, DType::F32 | DType::F64) => 4.0 + 2.0 * (k as f64).sqrt(),
                // The weights are rounded, too.
                (Op::Attention, _) => 4.0,
            };
        let flops = match op {
            Op::Matmul | Op::Linear => 2 * (n * k) as u64,
            Op::Attention => 4 * (n * k) as u64,
            Op::Copy | Op::Add | Op::Softmax | Op::Cumsum | Op::LayerNorm | Op::RmsNorm | Op::Transpose => 0,
        };
        let (name, copy) = (name.to_string(), copy.to_string());
        let (layouts, tf32, causal, exact, pitch, offset) = (Layouts::NN, false, false, false, columns, 0);
        let mut case = Case {
            name,
            op,
            dtype,
            n,
            shape,
            layouts,
            tf32,
            causal,
            exact,
            pitch,
            offset,
            bytes: 0,
            flops,
            bound,
            copy,
        };
        let [x, y, out] = case.lengths();
        case.bytes = ((x + y) * dtype.bytes() + out * dtype.bytes_of_result()) as u64;
        case
    }

    /// out = x · y, of M by N elements that sum K products.
    pub fn product(dtype: DType, tf32: bool, layouts: Layouts, shape: [usize; 3]) -> Case {
        let [m, n, k] = shape;
        let size = if m == n && n == k { format!("{m}^3") } else { format!("{m}x{n}x{k}") };
        let kind = if tf32 { "tf32" } else { dtype.name() };
        let name = match layouts {
            Layouts::NN => format!("matmul {kind} {size}"),
            Layouts::NT => format!("matmul {kind} NT {size}"),
            Layouts::TN => format!("matmul {kind} TN {size}"),
            Layouts::TT => format!("matmul {kind} TT {size}"),
        };
        let mut case = Case { layouts, tf32, ..Case::new(&name, Op::Matmul, dtype, shape, "") };
        if tf32 {
            // Of each operand at most 2⁻¹¹ where it is rounded to nearest. Where the hardware cuts it off, up to 2⁻¹⁰, but half of that
            // on average: both stay below the sum of 2⁻¹¹ of two operands.
            case.bound += 2.0 / 2048.0;
        }
        case
    }

    /// Attention of as many heads, each of as many tokens, in `bf16`.
    pub fn attention(heads: usize, tokens: usize, columns: usize, causal: bool) -> Case {
        let name = format!("attention bf16 {heads}x{tokens}x{columns}{}", if causal { " causal" } else { "" });
        let case = Case::new(&name, Op::Attention, DType::Bf16, [heads * tokens, columns, tokens], "");
        Case { flops: if causal { case.flops / 2 } else { case.flops }, causal, ..case }
    }

    /// Elements of x, y and out.
    pub fn lengths(&self) -> [usize; 3] {
        let ([rows, columns, k], padded) = (self.shape, self.shape[0] * self.pitch);
        match self.op {
            Op::Copy | Op::Transpose => [self.n, 0, self.n],
            Op::Softmax | Op::Cumsum => [padded, 0, padded],
            Op::Add => [self.n; 3],
            Op::LayerNorm => [padded, self.second() + columns, padded],
            Op::RmsNorm => [padded, columns, padded],
            Op::Matmul => [rows * k, k * columns, self.n],
            Op::Linear => [rows * k, self.second() + columns, self.n],
            Op::Attention => [self.n, 2 * self.n, self.n],
        }
    }

    /// Where the second part of y begins, in elements: the bias behind the weight, or v behind k; aligned as both are.
    pub fn second(&self) -> usize {
        let [_, columns, k] = self.shape;
        match self.op {
            Op::Linear => (k * columns).next_multiple_of(8),
            Op::Attention => self.n,
            Op::Copy
            | Op::Add
            | Op::Softmax
            | Op::Cumsum
            | Op::LayerNorm
            | Op::RmsNorm
            | Op::Transpose
            | Op::Matmul => columns.next_multiple_of(8),
        }
    }

    /// TFLOP/s, TOP/s of integers, or GB/s at a time in milliseconds.
    pub fn rate(&self, ms: f64) -> f64 {
        if self.flops > 0 { self.flops as f64 / ms / 1e9 } else { self.bytes as f64 / ms / 1e6 }
    }

    /// The unit of [`Case::rate`].
    pub fn unit(&self) -> &'static str {
        match self.dtype {
            _ if self.flops == 0 => "GB/s",
            DType::I8 => "TOP/s",
            DType::F64 | DType::F32 | DType::F16 | DType::Bf16 => "TFLOP/s",
        }
    }
}

/// The cases for operands of `n` elements, a multiple of 64, whose names contain one of the texts (all without a text); and
/// the copies that these are measured by.
pub fn cases(n: usize, filter: &[String]) -> Vec<Case> {
    let mut all = elementwise(n);
    all.extend(tiled(n.min(FULL)));
    let is_asked_for = |case: &Case| filter.is_empty() || filter.iter().any(|text| case.name.contains(text.as_str()));
    let copies: Vec<String> = all.iter().filter(|c| is_asked_for(c)).map(|c| c.copy.clone()).collect();
    all.retain(|case| is_asked_for(case) || copies.contains(&case.name));
    all
}

fn elementwise(n: usize) -> Vec<Case> {
    let mut cases = vec![Case::new("copy f32", Op::Copy, DType::F32, [1, n, 1], "copy f32")];
    for (dtype, operands_in_f32) in [(DType::F32, (3, 2)), (DType::F16, (3, 4))] {
        let copy = format!("copy like add {}", dtype.name());
        // Two operands of a copy hold the bytes of three of an addition.
        let copied = n / operands_in_f32.1 * operands_in_f32.0;
        cases.push(Case::new(&copy, Op::Copy, DType::F32, [1, copied, 1], &copy));
        for (kind, n, offset) in [("aligned", n, 0), ("tail", n - 3, 0), ("offset 1", n, 1)] {
            let name = format!("add {} {kind}", dtype.name());
            cases.push(Case { offset, ..Case::new(&name, Op::Add, dtype, [1, n, 1], &copy) });
        }
    }
    cases
}

/// Elements at which the cases have the sizes that they are written down with.
const FULL: usize = 1 << 27;

/// Tokens of a batch of sequences.
const TOKENS: usize = 16384;

/// Rows, transposes and matrix products; with fewer elements in proportion, columns of rows excepted.
fn tiled(n: usize) -> Vec<Case> {
    let share = n as f64 / FULL as f64;
    let mut cases: Vec<Case> = Vec::new();
    let mut like_copy = |op: Op, name: &str, dtype: DType, [rows, columns]: [usize; 2], pitch: usize| {
        let copied = (rows * columns * dtype.bytes()).div_ceil(4);
        let copy = format!("copy {copied}");
        if cases.iter().all(|case| case.name != copy) {
            cases.push(Case::new(&copy, Op::Copy, DType::F32, [1, copied, 1], &copy));
        }
        let apart = if pitch == columns { String::new() } else { format!(" pitch {pitch}") };
        let name = format!("{name} {} {rows}x{columns}{apart}", dtype.name());
        cases.push(Case { pitch, ..Case::new(&name, op, dtype, [rows, columns, 1], &copy) });
    };
    let rows = |rows: usize| ((rows as f64 * share) as usize).max(2);
    let long = [[1024, 65536], [512, 131_072], [256, 262_144]];
    for [r, columns] in
        [[16384, 1024], [8192, 4096], [4096, 8192], [4096, 12672], [2048, 32768]].into_iter().chain(long)
    {
        like_copy(Op::Softmax, "softmax", DType::F32, [rows(r), columns], columns);
    }
    // Rows of no power of two, each in tiles of one.
    let others = [[8192, 5120], [2048, 20480]];
    for [r, columns] in [[8192, 4096], [4096, 8192], [4096, 12672], [2048, 32768]].into_iter().chain(others).chain(long)
    {
        like_copy(Op::Softmax, "softmax", DType::Bf16, [rows(r), columns], columns);
    }
    // Rows that end inside a vector: in a pitch of whole vectors, and dense. Their twins of whole vectors are above, or beside them.
    for [r, columns, pitch] in
        [[8192, 4095, 4096], [8192, 4095, 4095], [2048, 50272, 50272], [2048, 50257, 50260], [2048, 50257, 50257]]
    {
        like_copy(Op::Softmax, "softmax", DType::F32, [rows(r), columns], pitch);
    }
    like_copy(Op::Cumsum, "cumsum", DType::F32, [rows(8192), 4096], 4096);
    let short = [[16384, 1024], [8192, 4096], [4096, 8192], [4096, 12672], [2048, 32768]];
    for [r, columns] in short.into_iter().chain(others).chain(long) {
        like_copy(Op::LayerNorm, "layer norm", DType::Bf16, [rows(r), columns], columns);
    }
    let of_rms_norm = [[8192, 4096], [4096, 8192], [4096, 12672], [2048, 32768], [1024, 65536], [512, 131_072]];
    for [r, columns] in of_rms_norm.into_iter().chain(others) {
        like_copy(Op::RmsNorm, "rms norm", DType::Bf16, [rows(r), columns], columns);
    }
    for pitch in [4096, 4095] {
        like_copy(Op::LayerNorm, "layer norm", DType::Bf16, [rows(8192), 4095], pitch);
    }
    let side = ((8192.0 * share.sqrt()) as usize).max(2);
    for dtype in [DType::F32, DType::Bf16] {
        like_copy(Op::Transpose, "transpose", dtype, [side, side], side);
    }
    for (dtype, tf32, layouts, shape) in products() {
        let case = Case::product(dtype, tf32, layouts, scaled(shape, n));
        // With few elements several are one.
        if cases.iter().all(|other| other.name != case.name) {
            cases.push(case);
        }
    }
    let side = ((4096.0 * share.cbrt()).round() as usize).max(2);
    for (form, exact) in [("", false), (" exact", true)] {
        let case = Case::new(&format!("linear gelu{form} bf16 {side}^3"), Op::Linear, DType::Bf16, [side; 3], "");
        cases.push(Case { exact, ..case });
    }
    // Whole tiles of rows and of keys.
    let tokens = ((4096.0 * share.cbrt()) as usize / 128).max(1) * 128;
    for (columns, heads) in [(64, 32), (128, 16)] {
        cases.push(Case::attention(((heads as f64 * share.cbrt()) as usize).max(1), tokens, columns, false));
    }
    // As many tokens in shorter and in longer sequences, all heads of 2048 columns together.
    for (columns, causal) in [(64, false), (64, true), (128, false), (128, true)] {
        for tokens in [1024, 2048, 4096, 8192, 16384] {
            let all = ((TOKENS * 2048 / columns) as f64 * share) as usize;
            let tokens = ((tokens as f64 * share.cbrt()) as usize / 128).max(1) * 128;
            let case = Case::attention((all / tokens).max(1), tokens, columns, causal);
            if cases.iter().all(|other| other.name != case.name) {
                cases.push(case);
            }
        }
    }
    cases
}

/// The sides of a product with fewer elements than [`FULL`].
pub fn scaled(shape: [usize; 3], n: usize) -> [usize; 3] {
    let share = n.min(FULL) as f64 / FULL as f64;
    shape.map(|side| ((side as f64 * share.cbrt()).round() as usize).max(2))
}

/// Matrix products: element type, whether it is rounded to TF32, layouts, and M, N and K.
fn products() -> Vec<(DType, bool, Layouts, [usize; 3])> {
    use DType::{Bf16, F16, F32, F64, I8};
    use Layouts::{NN, NT, TN, TT};
    let mut list = Vec::new();
    let mut cubes = |dtype, layouts, sides: &[usize]| {
        list.extend(sides.iter().map(|side| (dtype, false, layouts, [*side; 3])));
    };
    cubes(Bf16, NN, &[512, 1000, 1008, 1024, 2048, 4096, 4104, 4112, 8192, 8200]);
    cubes(F32, NN, &[1024, 2048, 4096]);
    for layouts in [NT, TN] {
        cubes(F32, layouts, &[1024, 2048, 4096]);
        cubes(Bf16, layouts, &[1024, 4096, 8192]);
    }
    cubes(Bf16, TT, &[4096]);
    // Whose last wave of large tiles is short, or whose rows do not begin at lines of memory.
    cubes(Bf16, NN, &[1536, 2560, 3072]);
    cubes(Bf16, NT, &[1000, 1536, 2560, 3072, 4104, 8200]);
    cubes(F16, NN, &[4096]);
    cubes(F16, NT, &[4096]);
    cubes(F64, NN, &[2048]);
    cubes(I8, NT, &[4096]);
    for layouts in [NN, NT] {
        list.extend([2048, 4096].map(|side| (F32, true, layouts, [side; 3])));
    }
    // Of one size, with fewer steps along K: what a program does beside them shows.
    list.extend([512, 1024, 2048, 4096].map(|k| (Bf16, false, NN, [8192, 8192, k])));
    list.extend([[1760, 1024, 1760], [4000, 6000, 2000]].map(|shape| (Bf16, false, NT, shape)));
    for dtype in [F32, Bf16] {
        list.extend(applications().map(|(layouts, shape)| (dtype, false, layouts, shape)));
    }
    list
}

/// Shapes of applications rather than squares, with a long K or few columns.
fn applications() -> impl Iterator<Item = (Layouts, [usize; 3])> {
    let others = [[64, 64, 4096], [64, 64, 131_072], [1536, 16, 1536], [7168, 16, 7168]];
    shapes::ISAAC[1..].iter().flat_map(Group::products).chain(others.map(|shape| (Layouts::NT, shape)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed() {
        let cases = cases(FULL, &[]);
        let table: Vec<(&str, u64)> = cases.iter().map(|c| (c.name.as_str(), c.bytes)).collect();
        let (f32s, f16s) = (12 << 27, 6 << 27);
        let (table, of_sequences) = table.split_at(table.len() - 20);
        assert!(of_sequences.iter().all(|&(_, bytes)| bytes == 8 << 25), "{of_sequences:?}");
        assert_eq!(of_sequences[6].0, "attention bf16 256x2048x64 causal");
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
                ("copy 16777216", 8 << 24),
                ("softmax f32 16384x1024", 8 << 24),
                ("copy 33554432", 8 << 25),
                ("softmax f32 8192x4096", 8 << 25),
                ("softmax f32 4096x8192", 8 << 25),
                ("copy 51904512", 8 * 51_904_512),
                ("softmax f32 4096x12672", 8 * 51_904_512),
                ("copy 67108864", 8 << 26),
                ("softmax f32 2048x32768", 8 << 26),
                ("softmax f32 1024x65536", 8 << 26),
                ("softmax f32 512x131072", 8 << 26),
                ("softmax f32 256x262144", 8 << 26),
                ("softmax bf16 8192x4096", 4 << 25),
                ("softmax bf16 4096x8192", 4 << 25),
                ("copy 25952256", 8 * 25_952_256),
                ("softmax bf16 4096x12672", 4 * 51_904_512),
                ("softmax bf16 2048x32768", 4 << 26),
                ("copy 20971520", 167_772_160),
                ("softmax bf16 8192x5120", 167_772_160),
                ("softmax bf16 2048x20480", 167_772_160),
                ("softmax bf16 1024x65536", 4 << 26),
                ("softmax bf16 512x131072", 4 << 26),
                ("softmax bf16 256x262144", 4 << 26),
                ("copy 33546240", 8 * 33_546_240),
                ("softmax f32 8192x4095 pitch 4096", 8 * 33_546_240),
                ("softmax f32 8192x4095", 8 * 33_546_240),
                ("copy 102957056", 8 * 102_957_056),
                ("softmax f32 2048x50272", 8 * 102_957_056),
                ("copy 102926336", 8 * 102_926_336),
                ("softmax f32 2048x50257 pitch 50260", 8 * 102_926_336),
                ("softmax f32 2048x50257", 8 * 102_926_336),
                ("cumsum f32 8192x4096", 8 << 25),
                ("copy 8388608", 8 << 23),
                ("layer norm bf16 16384x1024", (4 << 24) + 4096),
                ("layer norm bf16 8192x4096", (4 << 25) + (4 << 12)),
                ("layer norm bf16 4096x8192", (4 << 25) + (4 << 13)),
                ("layer norm bf16 4096x12672", 4 * 51_904_512 + 4 * 12_672),
                ("layer norm bf16 2048x32768", 268_566_528),
                ("layer norm bf16 8192x5120", 167_792_640),
                ("layer norm bf16 2048x20480", 167_854_080),
                ("layer norm bf16 1024x65536", 268_697_600),
                ("layer norm bf16 512x131072", 268_959_744),
                ("layer norm bf16 256x262144", 269_484_032),
                ("rms norm bf16 8192x4096", 134_225_920),
                ("rms norm bf16 4096x8192", 134_234_112),
                ("rms norm bf16 4096x12672", 207_643_392),
                ("rms norm bf16 2048x32768", 268_500_992),
                ("rms norm bf16 1024x65536", 268_566_528),
                ("rms norm bf16 512x131072", 268_697_600),
                ("rms norm bf16 8192x5120", 167_782_400),
                ("rms norm bf16 2048x20480", 167_813_120),
                ("copy 16773120", 8 * 16_773_120),
                ("layer norm bf16 8192x4095 pitch 4096", 4 * 33_546_240 + 2 * 8191),
                ("layer norm bf16 8192x4095", 4 * 33_546_240 + 2 * 8191),
                ("transpose f32 8192x8192", 8 << 26),
                ("transpose bf16 8192x8192", 4 << 26),
                ("matmul bf16 512^3", 6 << 18),
                ("matmul bf16 1000^3", 6_000_000),
                ("matmul bf16 1008^3", 6 * 1008 * 1008),
                ("matmul bf16 1024^3", 6 << 20),
                ("matmul bf16 2048^3", 6 << 22),
                ("matmul bf16 4096^3", 6 << 24),
                ("matmul bf16 4104^3", 6 * 4104 * 4104),
                ("matmul bf16 4112^3", 6 * 4112 * 4112),
                ("matmul bf16 8192^3", 6 << 26),
                ("matmul bf16 8200^3", 6 * 8200 * 8200),
                ("matmul f32 1024^3", 12 << 20),
                ("matmul f32 2048^3", 12 << 22),
                ("matmul f32 4096^3", 12 << 24),
                ("matmul f32 NT 1024^3", 12 << 20),
                ("matmul f32 NT 2048^3", 12 << 22),
                ("matmul f32 NT 4096^3", 12 << 24),
                ("matmul bf16 NT 1024^3", 6 << 20),
                ("matmul bf16 NT 4096^3", 6 << 24),
                ("matmul bf16 NT 8192^3", 6 << 26),
                ("matmul f32 TN 1024^3", 12 << 20),
                ("matmul f32 TN 2048^3", 12 << 22),
                ("matmul f32 TN 4096^3", 12 << 24),
                ("matmul bf16 TN 1024^3", 6 << 20),
                ("matmul bf16 TN 4096^3", 6 << 24),
                ("matmul bf16 TN 8192^3", 6 << 26),
                ("matmul bf16 TT 4096^3", 6 << 24),
                ("matmul bf16 1536^3", 6 * 1536 * 1536),
                ("matmul bf16 2560^3", 6 * 2560 * 2560),
                ("matmul bf16 3072^3", 6 * 3072 * 3072),
                ("matmul bf16 NT 1000^3", 6_000_000),
                ("matmul bf16 NT 1536^3", 6 * 1536 * 1536),
                ("matmul bf16 NT 2560^3", 6 * 2560 * 2560),
                ("matmul bf16 NT 3072^3", 6 * 3072 * 3072),
                ("matmul bf16 NT 4104^3", 6 * 4104 * 4104),
                ("matmul bf16 NT 8200^3", 6 * 8200 * 8200),
                ("matmul f16 4096^3", 6 << 24),
                ("matmul f16 NT 4096^3", 6 << 24),
                ("matmul f64 2048^3", 24 << 22),
                ("matmul i8 NT 4096^3", 6 << 24),
                ("matmul tf32 2048^3", 12 << 22),
                ("matmul tf32 4096^3", 12 << 24),
                ("matmul tf32 NT 2048^3", 12 << 22),
                ("matmul tf32 NT 4096^3", 12 << 24),
                ("matmul bf16 8192x8192x512", 2 * (2 * 8192 * 512 + (1 << 26))),
                ("matmul bf16 8192x8192x1024", 2 * (2 * 8192 * 1024 + (1 << 26))),
                ("matmul bf16 8192x8192x2048", 2 * (2 * 8192 * 2048 + (1 << 26))),
                ("matmul bf16 8192x8192x4096", 2 * (2 * 8192 * 4096 + (1 << 26))),
                ("matmul bf16 NT 1760x1024x1760", 2 * (2 * 1760 * 1024 + 1760 * 1760)),
                ("matmul bf16 NT 4000x6000x2000", 88_000_000),
                ("matmul f32 2560x16x2560", 26_542_080),
                ("matmul f32 2560x32x2560", 26_869_760),
                ("matmul f32 2560x64x2560", 27_525_120),
                ("matmul f32 2560x128x2560", 28_835_840),
                ("matmul f32 TN 2560x16x2560", 26_542_080),
                ("matmul f32 TN 2560x32x2560", 26_869_760),
                ("matmul f32 TN 2560x64x2560", 27_525_120),
                ("matmul f32 TN 2560x128x2560", 28_835_840),
                ("matmul f32 NT 32x32x60000", 15_364_096),
                ("matmul f32 NT 64x64x60000", 30_736_384),
                ("matmul f32 NT 256x256x60000", 123_142_144),
                ("matmul f32 NT 4096x4096x32", 68_157_440),
                ("matmul f32 NT 3456x3456x32", 48_660_480),
                ("matmul f32 NT 896x896x32", 3_440_640),
                ("matmul f32 NT 64x64x4096", 2_113_536),
                ("matmul f32 NT 64x64x131072", 67_125_248),
                ("matmul f32 NT 1536x16x1536", 9_633_792),
                ("matmul f32 NT 7168x16x7168", 206_438_400),
                ("matmul bf16 2560x16x2560", 13_271_040),
                ("matmul bf16 2560x32x2560", 13_434_880),
                ("matmul bf16 2560x64x2560", 13_762_560),
                ("matmul bf16 2560x128x2560", 14_417_920),
                ("matmul bf16 TN 2560x16x2560", 13_271_040),
                ("matmul bf16 TN 2560x32x2560", 13_434_880),
                ("matmul bf16 TN 2560x64x2560", 13_762_560),
                ("matmul bf16 TN 2560x128x2560", 14_417_920),
                ("matmul bf16 NT 32x32x60000", 7_682_048),
                ("matmul bf16 NT 64x64x60000", 15_368_192),
                ("matmul bf16 NT 256x256x60000", 61_571_072),
                ("matmul bf16 NT 4096x4096x32", 34_078_720),
                ("matmul bf16 NT 3456x3456x32", 24_330_240),
                ("matmul bf16 NT 896x896x32", 1_720_320),
                ("matmul bf16 NT 64x64x4096", 1_056_768),
                ("matmul bf16 NT 64x64x131072", 33_562_624),
                ("matmul bf16 NT 1536x16x1536", 4_816_896),
                ("matmul bf16 NT 7168x16x7168", 103_219_200),
                ("linear gelu bf16 4096^3", (6 << 24) + 8192),
                ("linear gelu exact bf16 4096^3", (6 << 24) + 8192),
                ("attention bf16 32x4096x64", 8 << 23),
                ("attention bf16 16x4096x128", 8 << 23),
            ]
        );
        for case in &cases {
            assert!(case.n % 16 == 0 || case.name.ends_with("tail"), "{case:?}");
            if case.flops > 0 {
                let products = if case.op == Op::Attention && !case.causal { 2 } else { 1 };
                let flops = products * 2 * case.shape.iter().product::<usize>() as u64;
                assert_eq!((case.flops, case.copy.as_str()), (flops, ""));
                continue;
            }
            let copy = cases.iter().find(|c| c.name == case.copy).expect("the copy");
            assert!(copy.op == Op::Copy && copy.bytes.abs_diff(case.bytes) <= case.bytes / 200, "{case:?}");
        }
        assert_eq!((cases[0].rate(0.25).round(), cases[0].unit()), (4295.0, "GB/s"));
        let matmul = cases.iter().find(|case| case.name == "matmul f32 1024^3").expect("a product");
        assert_eq!((matmul.rate(0.1).round(), matmul.unit()), (21.0, "TFLOP/s"));
        let integers = cases.iter().find(|case| case.name == "matmul i8 NT 4096^3").expect("a product");
        assert_eq!((integers.rate(0.1).round(), integers.unit(), integers.bound), (1374.0, "TOP/s", 0.0));
        for case in cases.iter().filter(|case| case.tf32) {
            assert!(case.name.starts_with("matmul tf32 ") && case.bound > 1.0 / 1024.0, "{case:?}");
        }
    }

    #[test]
    fn filtered() {
        let names = |n: usize, texts: &[&str]| -> Vec<String> {
            let texts: Vec<String> = texts.iter().map(|text| text.to_string()).collect();
            cases(n, &texts).into_iter().map(|case| case.name).collect()
        };
        let wide = [
            "copy 51904512",
            "softmax f32 4096x12672",
            "copy 25952256",
            "softmax bf16 4096x12672",
            "layer norm bf16 4096x12672",
            "rms norm bf16 4096x12672",
        ];
        assert_eq!(names(FULL, &["12672"]), wide);
        assert_eq!(
            names(FULL, &["f32 1024^3", "f16 tail"]),
            ["copy like add f16", "add f16 tail", "matmul f32 1024^3"]
        );
        assert_eq!(names(FULL, &["no such case"]), [""; 0]);
        for n in [64, 1024, 8192, FULL, 1 << 30] {
            let mut all = names(n, &[]);
            all.sort();
            assert!(all.windows(2).all(|two| two[0] != two[1]), "{n}: {all:?}");
        }
    }
}
