//! What else users write: a rotary embedding, a selective scan, a Fourier transform and a histogram, by pointers and by views.

use triton::prelude::*;

/// Turns pairs of neighbours of vectors of D elements, by pointers: x is \[heads, positions, D\], `cos` and `sin` are \[positions, D / 2\].
#[triton::kernel(configs = [(ROWS = 32, D = 64, num_warps = 4)], tune = [ROWS, D])]
pub fn rotary_pointers<const ROWS: i32, const D: i32>(
    x: Ptr<f16>,
    cos: Ptr<f32>,
    sin: Ptr<f32>,
    out: PtrMut<f16>,
    positions: i32,
) {
    let row = (program_id(0) * ROWS + arange(0, ROWS)).expand_dims(1);
    let pair = arange(0, D / 2).expand_dims(0);
    let mask = row < positions;
    let at = (program_id(1) * positions + row) * D + 2 * pair;
    let a = load(x + at, mask).to::<f32>();
    let b = load(x + at + 1, mask).to::<f32>();
    let cos = load(cos + row * (D / 2) + pair, mask);
    let sin = load(sin + row * (D / 2) + pair, mask);
    store(out + at, (a * cos - b * sin).to::<f16>(), mask);
    store(out + at + 1, (a * sin + b * cos).to::<f16>(), mask);
}

/// The same by views: one load reads both elements of a pair.
#[triton::kernel(configs = [(ROWS = 32, D = 64, num_warps = 4)], tune = [ROWS, D])]
pub fn rotary_views<const ROWS: i32, const D: i32>(
    x: Tensor<f16, 3>,
    cos: Tensor<f32, 2>,
    sin: Tensor<f32, 2>,
    out: TensorMut<f16, 3>,
) {
    let (row, head) = (program_id(0) * ROWS, program_id(1));
    let pairs = x.load([head, row, 0], [1, ROWS, D]).to::<f32>().reshape([ROWS, D / 2, 2]);
    let (a, b) = split(pairs);
    let (cos, sin) = (cos.load([row, 0], [ROWS, D / 2]), sin.load([row, 0], [ROWS, D / 2]));
    let turned = interleave(a * cos - b * sin, a * sin + b * cos);
    out.store([head, row, 0], turned.to::<f16>().expand_dims(0));
}

/// h\[t, c\] = a\[t, c\] · h\[t − 1, c\] + b\[t, c\] by pointers: C channels a program, in scans of T steps that carry the state.
#[triton::kernel(configs = [(T = 64, C = 32, num_warps = 8)], tune = [T, C])]
pub fn scan_pointers<const T: i32, const C: i32>(a: Ptr<f32>, b: Ptr<f32>, h: PtrMut<f32>, steps: i32, channels: i32) {
    let channel = (program_id(0) * C + arange(0, C)).expand_dims(0);
    let t = arange(0, T).expand_dims(1);
    let mut state = zeros::<f32>([1, C]);
    for start in (0..steps).step_by(T) {
        let mask = (start + t < steps) & (channel < channels);
        let at = (start + t) * channels + channel;
        let (factors, terms) =
            scan((load(a + at, mask), load(b + at, mask)), 0, |(a, b), (aa, bb)| (a * aa, aa * b + bb));
        let states = factors * state + terms;
        store(h + at, states, mask);
        state = sum_axis(select(t == T - 1, states, 0.0), 0).expand_dims(0);
    }
}

/// The same by views.
#[triton::kernel(configs = [(T = 64, C = 32, num_warps = 8)], tune = [T, C])]
pub fn scan_views<const T: i32, const C: i32>(a: Tensor<f32, 2>, b: Tensor<f32, 2>, h: TensorMut<f32, 2>) {
    let channel = program_id(0) * C;
    let is_last = arange(0, T).expand_dims(1) == T - 1;
    let mut state = zeros::<f32>([1, C]);
    for t in (0..a.dim(0)).step_by(T) {
        let steps = (a.load([t, channel], [T, C]), b.load([t, channel], [T, C]));
        let (factors, terms) = scan(steps, 0, |(a, b), (aa, bb)| (a * aa, aa * b + bb));
        let states = factors * state + terms;
        h.store([t, channel], states);
        state = sum_axis(select(is_last, states, 0.0), 0).expand_dims(0);
    }
}

/// Complex numbers, each turned by an angle.
#[triton::function]
fn turned(z: Tile<f32>, cos: Tile<f32>, sin: Tile<f32>) -> Tile<f32> {
    let (re, im) = split(z);
    join(re * cos - im * sin, re * sin + im * cos)
}

/// The discrete Fourier transform of N complex numbers, by passes of radix 2 in the form of Stockham (Cochran et al., "What is the Fast
/// Fourier Transform?", 1967).
#[triton::function]
fn transformed<const N: i32>(x: Tile<f32>) -> Tile<f32> {
    let mut z = x;
    for k in unroll(0..31) {
        if 1 << k == N {
            break;
        }
        let (a, b) = split(z.reshape([2, N / 2, 2]).permute([1, 2, 0]));
        let angle = (arange(0, N / 2) >> k << k).to::<f32>() * (-std::f32::consts::TAU / N as f32);
        let pairs = join(a + b, turned(a - b, cos(angle), sin(angle)));
        z = pairs.reshape([N / 2 >> k, 1 << k, 2, 2]).permute([0, 3, 1, 2]).reshape([N, 2]);
    }
    z
}

/// Fourier transforms of rows of N complex numbers, a row a program, by pointers.
#[triton::kernel(configs = [(N = 1024, num_warps = 8)], tune = [N])]
pub fn fft_pointers<const N: i32>(x: Ptr<f32>, out: PtrMut<f32>) {
    let at = program_id(0) * N * 2 + arange(0, N).expand_dims(1) * 2 + arange(0, 2).expand_dims(0);
    store(out + at, transformed::<N>(load(x + at, true)), true);
}

/// Fourier transforms of rows of N complex numbers, a row a program, by views.
#[triton::kernel(configs = [(N = 1024, num_warps = 8)], tune = [N])]
pub fn fft_views<const N: i32>(x: Tensor<f32, 3>, out: TensorMut<f32, 3>) {
    let at = [program_id(0), 0, 0];
    let z = transformed::<N>(x.load(at, [1, N, 2]).reshape([N, 2]));
    out.store(at, z.expand_dims(0));
}

/// Counts how often each byte occurs, by pointers: an atomic addition for each byte.
#[triton::kernel(configs = [(BLOCK = 2048, num_warps = 4)], tune = [BLOCK])]
pub fn histogram_pointers<const BLOCK: i32>(x: Ptr<u8>, counts: PtrMut<i32>, n: i32) {
    let i = program_id(0) * BLOCK + arange(0, BLOCK);
    let byte = load(x + i, i < n);
    atomic_add(counts + byte.to::<i32>(), 1, i < n);
}

/// Counts how often each byte occurs, by views.
#[triton::kernel(configs = [(BLOCK = 2048, num_warps = 4)], tune = [BLOCK])]
pub fn histogram_views<const BLOCK: i32>(x: Tensor<u8, 1>, counts: TensorMut<i32, 1>) {
    let at = program_id(0) * BLOCK;
    let byte = x.load([at], [BLOCK]);
    counts.atomic_add_at([byte.to::<i32>()], 1, at + arange(0, BLOCK) < x.dim(0));
}
