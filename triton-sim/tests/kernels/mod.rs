//! Eight kernels for Hopper that a hand-written generator made, with launches, inputs and references: products and attention
//! with tensor maps, rings of mbarriers, ping-pong, clusters with multicast, `wgmma` and `setmaxnreg`.

use std::path::Path;
use triton_sim::hopper::{DataType, Swizzle, TensorMap};
use triton_sim::{Arg, Launch, LaunchError, Memory, Module, Options, Outcome};

/// A kernel with a problem small enough to be simulated, but with several tiles a block and more steps than its ring has stages.
pub struct Kernel {
    /// The name of its file.
    pub name: &'static str,
    problem: Problem,
    grid: [u32; 3],
    threads: u32,
    shared: u32,
}

enum Problem {
    /// C (m, n) = A (m, k) · Bᵀ (n, k), all of `bf16`.
    Product {
        m: u32,
        n: u32,
        k: u32,
        /// Elements of a tile of C along m, n and of the boxes of A and B.
        tile: [u32; 2],
        boxes: [u32; 2],
        /// Elements of K of a step, and tiles along m that go together.
        step: u32,
        group: u32,
        /// Whether the number of rows is a parameter.
        rows: bool,
    },
    /// O = softmax(Q · Kᵀ) · V of this many heads.
    Attention {
        length: u32,
        heads: u32,
        depth: u32,
        /// Rows of the boxes of Q, of K and V.
        boxes: [u32; 2],
        causal: bool,
        /// Rows of Q of a tile.
        tile: u32,
    },
}

/// All of them.
pub const KERNELS: [Kernel; 8] = [
    product("best_gemm", [256, 384, 448], [128, 192], [128, 192], 64, true, ([1, 1, 1], 384, 222_352)),
    product("best_gemm_coop", [256, 256, 384], [128, 256], [128, 256], 64, true, ([1, 1, 1], 288, 230_528)),
    product("best_gemm_1024", [128, 128, 640], [128, 64], [128, 64], 64, false, ([2, 1, 1], 288, 214_208)),
    product("best_gemm_512", [128, 64, 640], [64, 64], [64, 64], 128, false, ([1, 2, 1], 160, 140_416)),
    product("best_gemm_ragged", [600, 200, 328], [384, 176], [192, 88], 64, true, ([2, 1, 1], 416, 214_144)),
    attention("best_fa", [256, 2, 128], [128, 64], 128, false, ([2, 1, 1], 384, 197_776)),
    attention("best_fa_causal", [512, 1, 128], [128, 128], 128, true, ([1, 1, 1], 384, 197_776)),
    attention("best_fa_d64", [512, 1, 64], [192, 128], 192, false, ([1, 1, 1], 512, 115_856)),
];

const fn product(
    name: &'static str,
    [m, n, k]: [u32; 3],
    tile: [u32; 2],
    boxes: [u32; 2],
    step: u32,
    rows: bool,
    (grid, threads, shared): ([u32; 3], u32, u32),
) -> Kernel {
    let group = 1;
    Kernel { name, problem: Problem::Product { m, n, k, tile, boxes, step, group, rows }, grid, threads, shared }
}

const fn attention(
    name: &'static str,
    [length, heads, depth]: [u32; 3],
    boxes: [u32; 2],
    tile: u32,
    causal: bool,
    (grid, threads, shared): ([u32; 3], u32, u32),
) -> Kernel {
    Kernel { name, problem: Problem::Attention { length, heads, depth, boxes, causal, tile }, grid, threads, shared }
}

/// What came of a kernel.
pub struct Run {
    /// Reports and counts.
    pub outcome: Outcome,
    /// The largest difference from the reference.
    pub error: f32,
}

/// The `bf16` of a number that has one.
fn bf16(value: f32) -> u16 {
    (value.to_bits() >> 16) as u16
}

fn of_bf16(bits: &[u8]) -> f32 {
    f32::from_bits(u32::from(u16::from_le_bytes([bits[0], bits[1]])) << 16)
}

/// Small integers times a power of two: their products and sums are exact.
fn numbers(rng: &mut fastrand::Rng, count: u32, scale: f32) -> Vec<f32> {
    (0..count).map(|_| rng.i32(-4..=4) as f32 * scale).collect()
}

/// A buffer of `bf16`.
fn upload(memory: &mut Memory, values: &[f32]) -> u64 {
    let bytes: Vec<u8> = values.iter().flat_map(|v| bf16(*v).to_le_bytes()).collect();
    let address = memory.alloc(bytes.len() as u64).expect("a small buffer");
    memory.write(address, &bytes).expect("it was just allocated");
    address
}

/// A map over rows of `bf16` with boxes of 64 columns.
fn map(address: u64, sizes: &[u64], extents: &[u32]) -> Arg {
    let mut pitch = 2;
    let strides: Vec<u64> = sizes[..sizes.len() - 1]
        .iter()
        .map(|size| {
            pitch *= size;
            pitch
        })
        .collect();
    let map = TensorMap::tiled(DataType::Bf16, address, sizes, &strides, extents).swizzle(Swizzle::B128).build();
    Arg::Bytes(map.expect("the map keeps the rules").encode().to_vec())
}

impl Kernel {
    /// Its text.
    pub fn text(&self) -> String {
        let path =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../triton-sim/tests/hopper").join(format!("{}.ptx", self.name));
        std::fs::read_to_string(path).expect("a kernel's text")
    }

    /// The largest difference from the reference that is due to rounding.
    pub fn bound(&self) -> f32 {
        match self.problem {
            Problem::Product { .. } => 0.0,
            // Probabilities and results are rounded to `bf16`.
            Problem::Attention { .. } => 0.02,
        }
    }

    /// The operands: A and B, or Q, K and V.
    fn inputs(&self) -> Vec<Vec<f32>> {
        let mut rng = fastrand::Rng::with_seed(7);
        match self.problem {
            Problem::Product { m, n, k, .. } => [m, n].map(|rows| numbers(&mut rng, rows * k, 1.0)).to_vec(),
            Problem::Attention { length, heads, depth, .. } => {
                [0.25, 0.25, 1.0].map(|scale| numbers(&mut rng, length * heads * depth, scale)).to_vec()
            }
        }
    }

    /// The result as the CPU computes it.
    pub fn reference(&self) -> Vec<f32> {
        match (&self.problem, &self.inputs()[..]) {
            (Problem::Product { m, n, k, .. }, [a, b]) => multiply(a, b, *m as usize, *n as usize, *k as usize),
            (Problem::Attention { length, depth, causal, .. }, [q, k, v]) => {
                attend([q, k, v], *length as usize, *depth as usize, softmax_scale(*depth), *causal)
            }
            (Problem::Product { .. } | Problem::Attention { .. }, _) => Vec::new(),
        }
    }

    /// Runs a text with the problem of this kernel, and compares with its [`Kernel::reference`].
    ///
    /// # Errors
    /// It is not launched.
    pub fn run(&self, module: &Module, options: &Options, reference: &[f32]) -> Result<Run, LaunchError> {
        let mut memory = Memory::new();
        let inputs: Vec<u64> = self.inputs().iter().map(|values| upload(&mut memory, values)).collect();
        let (args, out, entry) = match self.problem {
            Problem::Product { m, n, k, tile, boxes, step, group, rows } => {
                let out = memory.alloc(u64::from(m * n) * 2).expect("a small buffer");
                let [m64, n64, k64] = [m, n, k].map(u64::from);
                let mut args = vec![
                    map(inputs[0], &[k64, m64], &[64, boxes[0]]),
                    map(inputs[1], &[k64, n64], &[64, boxes[1]]),
                    map(out, &[n64, m64], &[64, 64]),
                ];
                let scalars = [m.div_ceil(tile[0]), n.div_ceil(tile[1]), k.div_ceil(step), group];
                args.extend(scalars.map(|s| Arg::Bits(u64::from(s))));
                args.extend([Arg::Bits(out), Arg::Bits(n64)]);
                if rows {
                    args.push(Arg::Bits(m64));
                }
                (args, out, "gemm")
            }
            Problem::Attention { length, heads, depth, boxes, tile, .. } => {
                let count = length * heads * depth;
                let out = memory.alloc(u64::from(count) * 2).expect("a small buffer");
                let sizes = [depth, length, heads].map(u64::from);
                let tiles = length.div_ceil(tile);
                let args = vec![
                    map(inputs[0], &sizes, &[64, boxes[0], 1]),
                    map(inputs[1], &sizes, &[64, boxes[1], 1]),
                    map(inputs[2], &sizes, &[64, boxes[1], 1]),
                    map(out, &sizes, &[64, 64, 1]),
                    Arg::Bits(u64::from(length)),
                    Arg::Bits(u64::from(tiles * heads)),
                    Arg::Bits(u64::from(tiles)),
                    Arg::Bits(u64::from((softmax_scale(depth) * std::f32::consts::LOG2_E).to_bits())),
                ];
                (args, out, "fa")
            }
        };
        let launch = Launch {
            entry: entry.to_string(),
            grid: self.grid,
            block: [self.threads, 1, 1],
            cluster: [1; 3],
            shared: self.shared,
            args,
        };
        let outcome = module.launch(&mut memory, &launch, options)?;
        let found = memory.read(out, reference.len() as u64 * 2).expect("the result");
        let differences = found.chunks(2).map(of_bf16).zip(reference).map(|(f, e)| (f - e).abs());
        // A NaN is not a small difference.
        let error = differences.fold(0.0f32, |most, d| if d <= most { most } else { d });
        Ok(Run { outcome, error })
    }
}

/// A · Bᵀ, rounded to `bf16`.
fn multiply(a: &[f32], b: &[f32], m: usize, n: usize, k: usize) -> Vec<f32> {
    let line = |matrix: &'_ [f32], at: usize| matrix[at * k..(at + 1) * k].to_vec();
    let mut out = Vec::with_capacity(m * n);
    for i in 0..m {
        let row = line(a, i);
        for j in 0..n {
            let sum: f32 = row.iter().zip(&b[j * k..]).map(|(x, y)| x * y).sum();
            // To nearest, ties to even.
            let bits = sum.to_bits();
            out.push(f32::from_bits((bits + 0x7fff + (bits >> 16 & 1)) & 0xffff_0000));
        }
    }
    out
}

/// What scores are multiplied by.
fn softmax_scale(depth: u32) -> f32 {
    1.0 / (depth as f32).sqrt()
}

/// Attention of each head.
fn attend([q, k, v]: [&[f32]; 3], length: usize, depth: usize, scale: f32, causal: bool) -> Vec<f32> {
    let head = length * depth;
    let mut out = Vec::with_capacity(q.len());
    for start in (0..q.len()).step_by(head) {
        for i in 0..length {
            let row = &q[start + i * depth..][..depth];
            let last = if causal { i + 1 } else { length };
            let score =
                |j: usize| -> f32 { row.iter().zip(&k[start + j * depth..]).map(|(x, y)| x * y).sum::<f32>() * scale };
            let scores: Vec<f32> = (0..last).map(score).collect();
            let most = scores.iter().copied().fold(f32::MIN, f32::max);
            let weights: Vec<f32> = scores.iter().map(|s| (s - most).exp()).collect();
            let sum: f32 = weights.iter().sum();
            let column = |d: usize| -> f32 {
                weights.iter().enumerate().map(|(j, w)| w * v[start + j * depth + d]).sum::<f32>() / sum
            };
            out.extend((0..depth).map(column));
        }
    }
    out
}
