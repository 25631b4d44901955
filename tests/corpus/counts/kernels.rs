//! Kernels as users write them, whose instructions are counted beside those of `tools/benchmarks/src/tiles.rs`.
//!
//! `cargo xtask counts` reads this file; `tests/tests/programs` builds it, so that it stays Rust.

use triton::prelude::*;

/// out = x + y, over raw pointers.
#[triton::kernel]
pub fn add_f32(x: Ptr<f32>, y: Ptr<f32>, out: PtrMut<f32>, n: i32) {
    let i = program_id(0) * 512 + arange(0, 512);
    let mask = i < n;
    store(out + i, load(x + i, mask) + load(y + i, mask), mask);
}

/// out = x + y, over views.
#[triton::kernel]
pub fn add_bf16(x: Tensor<bf16, 1>, y: Tensor<bf16, 1>, out: TensorMut<bf16, 1>) {
    let at = [program_id(0) * 1024];
    out.store(at, x.load(at, [1024]) + y.load(at, [1024]));
}

/// out[k, i, j] = x[i, j, k].
#[triton::kernel]
pub fn permute(x: Tensor<f32, 3>, out: TensorMut<f32, 3>) {
    let (i, j, k) = (program_id(2) * 4, program_id(1) * 16, program_id(0) * 32);
    out.store([k, i, j], x.load([i, j, k], [4, 16, 32]).permute([2, 0, 1]));
}

/// out[i] = the sum of row i, of any length.
#[triton::kernel]
pub fn row_sum(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let row = program_id(0) * 4;
    let mut acc = zeros::<f32>([4, 256]);
    for j in (0..x.dim(1)).step_by(256) {
        acc += x.load([row, j], [4, 256]);
    }
    out.store([row], sum_axis(acc, 1));
}

/// out[j] = the sum of column j, of any length.
#[triton::kernel]
pub fn column_sum(x: Tensor<f32, 2>, out: TensorMut<f32, 1>) {
    let column = program_id(0) * 64;
    let mut acc = zeros::<f32>([32, 64]);
    for i in (0..x.dim(0)).step_by(32) {
        acc += x.load([i, column], [32, 64]);
    }
    out.store([column], sum_axis(acc, 0));
}

/// out = x / √(mean of x² + 10⁻⁶) · weight along the last axis, by way of `f32`; M rows of at most N columns a program.
#[triton::kernel(configs = [(M = 2, N = 1024, num_warps = 4), (M = 2, N = 4096, num_warps = 8)])]
pub fn rms_norm<const M: i32, const N: i32>(x: Tensor<bf16, 2>, weight: Tensor<bf16, 2>, out: TensorMut<bf16, 2>) {
    let row = program_id(0) * M;
    let v = x.load([row, 0], [M, N]).to::<f32>();
    let mean = sum_axis(v * v, 1).expand_dims(1) / x.dim(1) as f32;
    let w = weight.load([0, 0], [1, N]).to::<f32>();
    out.store([row, 0], (v * rsqrt(mean + 0.000001) * w).to::<bf16>());
}

/// out = log(softmax(x)) along the last axis, a row of at most N columns a program.
#[triton::kernel(configs = [(N = 4096, num_warps = 8)])]
pub fn log_softmax<const N: i32>(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let row = program_id(0);
    let v = x.load_or([row, 0], [1, N], f32::NEG_INFINITY);
    let v = v - max_axis(v, 1).expand_dims(1);
    out.store([row, 0], v - log(sum_axis(exp(v), 1)).expand_dims(1));
}

/// loss = −log(softmax(x)[label]) of each row, of at most N columns.
#[triton::kernel(configs = [(N = 4096, num_warps = 8)])]
pub fn cross_entropy<const N: i32>(x: Tensor<f32, 2>, labels: Tensor<i32, 1>, loss: TensorMut<f32, 1>) {
    let row = program_id(0);
    let v = x.load_or([row, 0], [1, N], f32::NEG_INFINITY);
    let top = max_axis(v, 1);
    let total = sum_axis(exp(v - top.expand_dims(1)), 1);
    let chosen = arange(0, N).expand_dims(0) == labels.load([row], [1]).expand_dims(1);
    loss.store([row], log(total) + top - sum_axis(select(chosen, v, 0.0), 1));
}

/// out = relu(a · bᵀ + bias): a linear layer, whose weights are rows.
#[triton::kernel(configs = [(BM = 128, BN = 64, BK = 32, num_warps = 8)])]
pub fn linear_relu<const BM: i32, const BN: i32, const BK: i32>(
    a: Tensor<bf16, 2>,
    b: Tensor<bf16, 2>,
    bias: Tensor<f32, 1>,
    out: TensorMut<bf16, 2>,
) {
    let (m, n) = (program_id(0) * BM, program_id(1) * BN);
    let mut acc = zeros::<f32>([BM, BN]);
    for k in (0..a.dim(1)).step_by(BK) {
        acc = dot(a.load([m, k], [BM, BK]), b.load([n, k], [BN, BK]).transpose(), acc);
    }
    let sum = acc + bias.load([n], [BN]).expand_dims(0);
    out.store([m, n], maximum(sum, 0.0).to::<bf16>());
}

/// out = softmax(q · kᵀ) · v for each head, whose vectors have 64 elements, in one pass over the keys.
///
/// `scale` is log₂(e) / √64. If CAUSAL, a row sees no key after its own. The loop is that of the library.
#[triton::kernel(CAUSAL = [false, true], fast_math = true)]
pub fn attention<const CAUSAL: bool>(
    q: Tensor<f16, 3>,
    k: Tensor<f16, 3>,
    v: Tensor<f16, 3>,
    out: TensorMut<f16, 3>,
    scale: f32,
) {
    let (head, row) = (program_id(1), program_id(0) * 64);
    let queries = q.load([head, row, 0], [1, 64, 64]).reshape([64, 64]);
    let mut acc = zeros::<f32>([64, 64]);
    let mut top = full([64], f32::MIN);
    let mut total = zeros::<f32>([64]);
    let end = if CAUSAL { minimum(row + 64, k.dim(1)) } else { k.dim(1) };
    for at in (0..end).step_by(64) {
        let keys = k.load([head, at, 0], [1, 64, 64]).reshape([64, 64]);
        let mut scores = dot(queries, keys.transpose(), zeros::<f32>([64, 64]));
        if at + 64 > k.dim(1) || CAUSAL && at + 64 > row {
            let column = (at + arange(0, 64)).expand_dims(0);
            let last = if CAUSAL { minimum(row + arange(0, 64), k.dim(1) - 1) } else { full([64], k.dim(1) - 1) };
            scores = select(column <= last.expand_dims(1), scores, f32::NEG_INFINITY);
        }
        let larger = maximum(top, max_axis(scores, 1) * scale);
        let rescale = exp2(top - larger);
        let weights = exp2(scores * scale - larger.expand_dims(1));
        total = total * rescale + sum_axis(weights, 1);
        let values = v.load([head, at, 0], [1, 64, 64]).reshape([64, 64]);
        acc = dot(weights.to::<f16>(), values, acc * rescale.expand_dims(1));
        top = larger;
    }
    let result = acc * (1.0 / total).expand_dims(1);
    out.store([head, row, 0], result.to::<f16>().reshape([1, 64, 64]));
}

/// counts[b] += how many of x are b.
#[triton::kernel]
pub fn histogram(x: Ptr<i32>, counts: PtrMut<u32>, n: i32) {
    let i = program_id(0) * 1024 + arange(0, 1024);
    let bucket = load(x + i, i < n);
    atomic_add(counts + bucket, 1, i < n);
}

/// out[i] = table[index[i]]: four rows a program, each of `width` elements.
#[triton::kernel]
pub fn embedding(table: Ptr<bf16>, index: Ptr<i32>, out: PtrMut<bf16>, rows: i32, width: i32) {
    let i = program_id(0) * 4 + arange(0, 4);
    let from = load(index + i, i < rows);
    for start in (0..width).step_by(256) {
        let j = (start + arange(0, 256)).expand_dims(0);
        let mask = (i < rows).expand_dims(1) & (j < width);
        let v = load(table + (from.expand_dims(1) * width + j), mask);
        store(out + (i.expand_dims(1) * width + j), v, mask);
    }
}

/// Bits that look random, of a number: the last step of MurmurHash3.
#[triton::function]
pub fn hash(x: Tile<u32>) -> Tile<u32> {
    let x = (x ^ (x >> 16)) * 0x85eb_ca6b;
    let x = (x ^ (x >> 13)) * 0xc2b2_ae35;
    x ^ (x >> 16)
}

/// out = x / keep with the probability `keep`, else 0.
#[triton::kernel]
pub fn dropout(x: Tensor<f32, 1>, out: TensorMut<f32, 1>, #[no_specialize] seed: u32, keep: f32) {
    let start = program_id(0) * 1024;
    let bits = hash((start + arange(0, 1024)).to::<u32>() ^ seed);
    let uniform = (bits >> 8).to::<f32>() * (1.0 / 16777216.0);
    let scale = 1.0 / keep;
    out.store([start], select(uniform < keep, x.load([start], [1024]) * scale, 0.0));
}

/// How a step of Adam is made; the corrections are 1 / (1 − βᵗ).
#[triton::params]
#[derive(Clone, Copy)]
pub struct Adam {
    rate: f32,
    beta1: f32,
    beta2: f32,
    correction1: f32,
    correction2: f32,
}

/// One step of Adam (Kingma and Ba 2015).
#[triton::kernel]
pub fn adam(
    weight: TensorMut<f32, 1>,
    gradient: Tensor<f32, 1>,
    mean: TensorMut<f32, 1>,
    square: TensorMut<f32, 1>,
    options: Adam,
) {
    let at = [program_id(0) * 512];
    let g = gradient.load(at, [512]);
    let m = options.beta1 * mean.load(at, [512]) + (1.0 - options.beta1) * g;
    let s = options.beta2 * square.load(at, [512]) + (1.0 - options.beta2) * g * g;
    mean.store(at, m);
    square.store(at, s);
    let step = m * options.correction1 / (sqrt(s * options.correction2) + 0.00000001);
    weight.store(at, weight.load(at, [512]) - options.rate * step);
}

/// h[t, c] = a[t, c] · h[t − 1, c] + b[t, c], from 0 on: 256 steps of 8 channels a program.
#[triton::kernel(num_warps = 8)]
pub fn selective_scan(a: Tensor<f32, 2>, b: Tensor<f32, 2>, h: TensorMut<f32, 2>) {
    let channel = program_id(0) * 8;
    let steps = (a.load([0, channel], [256, 8]), b.load([0, channel], [256, 8]));
    let (_, state) = scan(steps, 0, |(a, b), (aa, bb)| (a * aa, aa * b + bb));
    h.store([0, channel], state);
}

/// out = the listed rows of x: a table of embeddings, by vectors.
#[triton::kernel]
pub fn embed(x: Tensor<bf16, 2>, rows: Tensor<i32, 1>, out: TensorMut<bf16, 2>) {
    let (i, j) = (program_id(0) * 16, program_id(1) * 128);
    let (at, columns) = (rows.load([i], [16]).expand_dims(1), arange(0, 128).expand_dims(0) + j);
    out.store([i, j], x.gather([at, columns], true));
}
