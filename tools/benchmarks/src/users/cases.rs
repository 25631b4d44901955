//! The rows of `users`: what is computed, on which sizes. The one list that our side and the peers process.

use crate::case::DType;
use serde::{Deserialize, Serialize};

/// What a row computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kernel {
    /// Tutorial 01: x + y; `shape` is the number of elements.
    Add,
    /// Tutorial 02: softmax along rows; rows and columns.
    Softmax,
    /// Tutorial 03: a product; M, N and K.
    Matmul,
    /// Tutorial 03 with its activation.
    LeakyMatmul,
    /// Tutorial 04: dropout; elements.
    Dropout,
    /// Tutorial 05, forward; rows and columns.
    LayerNorm,
    /// Tutorial 05, backward; rows and columns.
    LayerNormBackward,
    /// Tutorial 06, all keys; heads, tokens and columns of a head.
    Attention,
    /// Tutorial 06, the keys up to the query's.
    CausalAttention,
    /// Tutorial 07: arcsine; elements.
    Asin,
    /// Tutorial 08: [`GROUPS`] products; the M of the first, N and K. Each next one has half the M.
    GroupedMatmul,
    /// Tutorial 09: a product by few programs; M, N and K.
    PersistentMatmul,
    /// A linear layer of `f16` with weights of `i8`, \[N, K\], and a scale for each column; M, N and K.
    W8a16,
    /// A product of `f16` with `i8`, converted before `dot`, in tiles of `tile`; M, N and K.
    MixedMatmul,
    /// A product of `f16` in the same tiles.
    PlainMatmul,
    /// Rotary embedding; heads, positions and columns of a head.
    Rotary,
    /// A selective scan; steps and channels.
    Scan,
    /// Fourier transforms; rows and points.
    Fft,
    /// The largest elements of rows; rows, columns and how many.
    Top,
    /// Group norm; items, groups and elements of a channel. A group has [`CHANNELS`] channels.
    GroupNorm,
    /// Counts of bytes; elements.
    Histogram,
}

/// Products of a grouped product.
pub const GROUPS: usize = 4;

/// Channels of a group of group norm.
pub const CHANNELS: usize = 16;

/// Probability of tutorial 04 that an element is dropped.
pub const DROPPED: f32 = 0.5;

/// What norms add to the variance.
pub const EPSILON: f32 = 1e-5;

/// A row of the list.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Case {
    /// Unique among the rows.
    pub name: String,
    /// What is computed.
    pub kernel: Kernel,
    /// Extents, whose meaning is the kernel's; 1 where there are fewer.
    pub shape: [usize; 3],
    /// The tile, where the row is about it, else zeros.
    pub tile: [usize; 3],
    /// Compulsory reads and writes.
    pub bytes: u64,
    /// Operations on numbers, where they and not the bytes are the floor; else 0.
    pub flops: u64,
    /// The largest ‖found − reference‖ / ‖reference‖ that rounding explains.
    pub bound: f64,
}

impl Case {
    fn new(kernel: Kernel, shape: [usize; 3], tile: [usize; 3]) -> Case {
        let [a, b, c] = shape;
        let (f32s, f16s) = (DType::F32.rounding(), DType::F16.rounding());
        let size = if a == b && b == c { format!("{a}^3") } else { format!("{a}x{b}x{c}") };
        let product = 2 * (a * b * c) as u64;
        let matrices = 2 * (a * c + c * b + a * b);
        // Bytes, operations, and roundings of the result's type.
        let (name, bytes, flops, bound) = match kernel {
            Kernel::Add => (format!("01 add f32 {a}"), 12 * a, 0, f32s),
            Kernel::Softmax => (format!("02 softmax f32 {a}x{b}"), 8 * a * b, 0, 32.0 * f32s),
            Kernel::Matmul => (format!("03 matmul f16 {size}"), matrices, product, 1.25 * f16s),
            Kernel::LeakyMatmul => (format!("03 matmul leaky f16 {size}"), matrices, product, 1.25 * f16s),
            // A quotient, which Triton approximates.
            Kernel::Dropout => (format!("04 dropout f32 {a}"), 8 * a, 0, 4.0 * f32s),
            Kernel::LayerNorm => (format!("05 layer norm f16 {a}x{b}"), 4 * a * b, 0, 1.25 * f16s),
            // Gradients of weights are sums in `f16` of as many terms as rows share a lock.
            Kernel::LayerNormBackward => (format!("05 layer norm backward f16 {a}x{b}"), 6 * a * b, 0, 8.0 * f16s),
            Kernel::Attention => {
                (format!("06 attention f16 {size}"), 8 * a * b * c, 4 * (a * b * b * c) as u64, 4.0 * f16s)
            }
            Kernel::CausalAttention => {
                (format!("06 attention causal f16 {size}"), 8 * a * b * c, 2 * (a * b * b * c) as u64, 4.0 * f16s)
            }
            Kernel::Asin => (format!("07 asin f32 {a}"), 8 * a, 0, 8.0 * f32s),
            Kernel::GroupedMatmul => {
                let rows: usize = groups(shape).iter().map(|[m, ..]| m).sum();
                let bytes = 2 * (rows * c + GROUPS * c * b + rows * b);
                (format!("08 grouped matmul f16 {rows}x{b}x{c}"), bytes, 2 * (rows * b * c) as u64, 1.25 * f16s)
            }
            Kernel::PersistentMatmul => (format!("09 persistent matmul f16 {size}"), matrices, product, 1.25 * f16s),
            // Of few rows the weights are the floor.
            Kernel::W8a16 => {
                let (times, bytes) = (layers(shape), b * c + 2 * (a * c + a * b) + 4 * b);
                let each = if times > 1 { format!("{times} of ") } else { String::new() };
                (
                    format!("w8a16 f16 {each}{a}x{b}x{c}"),
                    times * bytes,
                    if times == 1 { product } else { 0 },
                    1.25 * f16s,
                )
            }
            Kernel::MixedMatmul => {
                (format!("f16 x i8 {size} in {}", spelled(tile)), matrices - c * b, product, 1.25 * f16s)
            }
            Kernel::PlainMatmul => (format!("f16 x f16 {size} in {}", spelled(tile)), matrices, product, 1.25 * f16s),
            Kernel::Rotary => (format!("rotary f16 {size}"), 4 * a * b * c + 4 * b * c, 0, 1.25 * f16s),
            // Factors below 1 forget what was rounded before.
            Kernel::Scan => (format!("scan f32 {a}x{b}"), 12 * a * b, 0, 32.0 * f32s),
            // Of each pass, and of the angles.
            Kernel::Fft => (format!("fft f32 {a}x{b}"), 16 * a * b, 0, 64.0 * f32s),
            Kernel::Top => (format!("top {c} f32 {a}x{b}"), 4 * a * b + 8 * a * c, 0, 0.0),
            Kernel::GroupNorm => {
                (format!("group norm f16 {a}x{b}x{CHANNELS}x{c}"), 4 * a * b * CHANNELS * c, 0, 1.25 * f16s)
            }
            Kernel::Histogram => (format!("histogram u8 {a}"), a, 0, 0.0),
        };
        Case { name, kernel, shape, tile, bytes: bytes as u64, flops, bound }
    }

    /// TFLOP/s, or GB/s, at a time in milliseconds.
    pub fn rate(&self, ms: f64) -> f64 {
        if self.flops > 0 { self.flops as f64 / ms / 1e9 } else { self.bytes as f64 / ms / 1e6 }
    }

    /// The unit of [`Case::rate`].
    pub fn unit(&self) -> &'static str {
        if self.flops > 0 { "TFLOP/s" } else { "GB/s" }
    }
}

fn spelled(tile: [usize; 3]) -> String {
    tile.map(|side| side.to_string()).join("x")
}

/// M, N and K of each product of a grouped one.
pub fn groups([m, n, k]: [usize; 3]) -> [[usize; 3]; GROUPS] {
    std::array::from_fn(|g| [(m >> g).max(1), n, k])
}

/// How many layers, each with weights of its own, a row of W8A16 launches one after the other: of few rows of activations a launch is short.
pub fn layers([m, ..]: [usize; 3]) -> usize {
    if m > 64 { 1 } else { 8 }
}

/// Elements at which the rows have the sizes that they are written down with.
const FULL: usize = 1 << 27;

/// The rows for operands of `n` elements, whose names contain one of the texts (all without a text). With fewer than 2²⁷ each is smaller, but
/// for the columns of rows.
pub fn cases(n: usize, filter: &[String]) -> Vec<Case> {
    let share = n.min(FULL) as f64 / FULL as f64;
    let of = |count: usize| ((count as f64 * share) as usize).max(2);
    let side = |side: usize| ((side as f64 * share.cbrt()).round() as usize).max(2);
    let cube = |sides: [usize; 3]| sides.map(side);
    // Whole tiles of the tutorial's attention, which has no masks.
    let tokens = ((4096.0 * share.cbrt()) as usize / 128).max(1) * 128;
    let heads = ((32.0 * share.cbrt()) as usize).max(1);
    let square = cube([4096; 3]);
    // Whole tiles of each group, and of the persistent product, whose kernels mask nothing off.
    let whole = |of: [usize; 3]| std::array::from_fn(|axis| (square[axis] / of[axis]).max(1) * of[axis]);
    let (no, small, large) = ([0; 3], [128, 128, 32], [128, 256, 64]);
    let list = [
        (Kernel::Add, [98_432.min(n), 1, 1], no),
        (Kernel::Add, [n, 1, 1], no),
        (Kernel::Softmax, [of(1823), 781, 1], no),
        (Kernel::Softmax, [of(4096), 4096, 1], no),
        (Kernel::Matmul, square, no),
        (Kernel::LeakyMatmul, square, no),
        (Kernel::Dropout, [n, 1, 1], no),
        (Kernel::LayerNorm, [of(4096), 8192, 1], no),
        (Kernel::LayerNormBackward, [of(4096), 8192, 1], no),
        (Kernel::Attention, [heads, tokens, 64], no),
        (Kernel::CausalAttention, [heads, tokens, 64], no),
        (Kernel::Asin, [n, 1, 1], no),
        (Kernel::GroupedMatmul, whole([128 << (GROUPS - 1), 128, 64]), no),
        (Kernel::PersistentMatmul, whole([128, 256, 64]), no),
        (Kernel::W8a16, [1, side(11008), side(4096)], no),
        (Kernel::W8a16, [16, side(11008), side(4096)], no),
        (Kernel::W8a16, [512, 11008, 4096].map(side), no),
        (Kernel::MixedMatmul, square, small),
        (Kernel::MixedMatmul, square, large),
        (Kernel::PlainMatmul, square, small),
        (Kernel::PlainMatmul, square, large),
        (Kernel::PlainMatmul, [512, 11008, 4096].map(side), large),
        (Kernel::Rotary, [heads, side(4096), 64], no),
        (Kernel::Scan, [side(2048), side(8192), 1], no),
        (Kernel::Fft, [of(16384), 1024, 1], no),
        (Kernel::Top, [of(16384), 1024, 8], no),
        (Kernel::GroupNorm, [of(64), 32.min(of(32)), 1024], no),
        (Kernel::Histogram, [n / 8, 1, 1], no),
    ];
    let mut cases: Vec<Case> = Vec::new();
    for (kernel, shape, tile) in list {
        let case = Case::new(kernel, shape, tile);
        let is_asked_for = filter.is_empty() || filter.iter().any(|text| case.name.contains(text.as_str()));
        // With few elements two are one.
        if is_asked_for && cases.iter().all(|other| other.name != case.name) {
            cases.push(case);
        }
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn listed() {
        let cases = cases(FULL, &[]);
        let table: Vec<(&str, u64, u64)> = cases.iter().map(|c| (c.name.as_str(), c.bytes, c.flops)).collect();
        let cube = 2 << 36;
        let square = 1 << 25;
        assert_eq!(
            table,
            [
                ("01 add f32 98432", 12 * 98_432, 0),
                ("01 add f32 134217728", 12 << 27, 0),
                ("02 softmax f32 1823x781", 8 * 1823 * 781, 0),
                ("02 softmax f32 4096x4096", 8 << 24, 0),
                ("03 matmul f16 4096^3", 3 * square, cube),
                ("03 matmul leaky f16 4096^3", 3 * square, cube),
                ("04 dropout f32 134217728", 8 << 27, 0),
                ("05 layer norm f16 4096x8192", 4 << 25, 0),
                ("05 layer norm backward f16 4096x8192", 6 << 25, 0),
                ("06 attention f16 32x4096x64", 8 << 23, 4 << 35),
                ("06 attention causal f16 32x4096x64", 8 << 23, 2 << 35),
                ("07 asin f32 134217728", 8 << 27, 0),
                ("08 grouped matmul f16 7680x4096x4096", 4 * 7680 * 4096 + 4 * square, (2 * 7680) << 24),
                ("09 persistent matmul f16 4096^3", 3 * square, cube),
                ("w8a16 f16 8 of 1x11008x4096", 8 * (11008 * 4096 + 2 * (4096 + 11008) + 4 * 11008), 0),
                ("w8a16 f16 8 of 16x11008x4096", 8 * (11008 * 4096 + 32 * (4096 + 11008) + 4 * 11008), 0),
                ("w8a16 f16 512x11008x4096", 11008 * 4096 + 1024 * (4096 + 11008) + 4 * 11008, (2 * 11008) << 21),
                ("f16 x i8 4096^3 in 128x128x32", 5 << 24, cube),
                ("f16 x i8 4096^3 in 128x256x64", 5 << 24, cube),
                ("f16 x f16 4096^3 in 128x128x32", 3 * square, cube),
                ("f16 x f16 4096^3 in 128x256x64", 3 * square, cube),
                ("f16 x f16 512x11008x4096 in 128x256x64", 105_644_032, 46_170_898_432),
                ("rotary f16 32x4096x64", (4 << 23) + (4 << 18), 0),
                ("scan f32 2048x8192", 12 << 24, 0),
                ("fft f32 16384x1024", 16 << 24, 0),
                ("top 8 f32 16384x1024", (4 << 24) + (8 << 17), 0),
                ("group norm f16 64x32x16x1024", 4 << 25, 0),
                ("histogram u8 16777216", 1 << 24, 0),
            ]
        );
        let names = |filter: &str| cases_of(64, filter);
        assert_eq!(names("softmax"), ["02 softmax f32 2x781", "02 softmax f32 2x4096"]);
        assert_eq!(names("no such row"), [""; 0]);
    }

    fn cases_of(n: usize, filter: &str) -> Vec<String> {
        cases(n, &[filter.to_string()]).into_iter().map(|case| case.name).collect()
    }
}
