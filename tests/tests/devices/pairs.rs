//! Peers as pairs: a Fourier transform of complex numbers, and rotary position embeddings, against plain Rust.

use super::devices;
use std::{f32, f64};
use triton::prelude::*;
use triton_tests::numbers::Random;

/// Complex numbers, each turned by an angle.
#[triton::function]
fn turned(z: Tile<f32>, cos: Tile<f32>, sin: Tile<f32>) -> Tile<f32> {
    let (re, im) = split(z);
    join(re * cos - im * sin, re * sin + im * cos)
}

/// The discrete Fourier transform of rows of N complex numbers, a row a program; N is a power of two.
///
/// Radix 2, sorted as it goes (Stockham; Cochran et al., "What is the Fast Fourier Transform?", 1967): each pass combines the first half
/// with the second, and writes the two results of a pair 2^k apart.
#[triton::kernel(N = [2, 64, 256, 1024], configs = [(WARPS = 1, num_warps = 1), (WARPS = 4, num_warps = 4)])]
fn fft<const N: i32, const WARPS: i32>(x: Tensor<f32, 3>, out: TensorMut<f32, 3>) {
    let at = [program_id(0), 0, 0];
    let mut z = x.load(at, [1, N, 2]).reshape([N, 2]);
    for k in unroll(0..31) {
        if 1 << k == N {
            break;
        }
        let (a, b) = split(z.reshape([2, N / 2, 2]).permute([1, 2, 0])); // f32[N / 2, 2], complex
        let angle = (arange(0, N / 2) >> k << k).to::<f32>() * (-f32::consts::TAU / N as f32);
        let pairs = join(a + b, turned(a - b, cos(angle), sin(angle)));
        z = pairs.reshape([N / 2 >> k, 1 << k, 2, 2]).permute([0, 3, 1, 2]).reshape([N, 2]);
    }
    out.store(at, z.expand_dims(0));
}

/// The transform by its definition.
fn dft(x: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let n = x.len();
    let term = |k: usize, j: usize| {
        let (sin, cos) = (-f64::consts::TAU * (j * k % n) as f64 / n as f64).sin_cos();
        let [re, im] = x[j];
        [re * cos - im * sin, re * sin + im * cos]
    };
    let sum = |k| (0..n).map(|j| term(k, j)).fold([0.0, 0.0], |[re, im], [a, b]| [re + a, im + b]);
    (0..n).map(sum).collect()
}

fn norm(x: impl Iterator<Item = [f64; 2]>) -> f64 {
    x.map(|[re, im]| re * re + im * im).sum::<f64>().sqrt()
}

/// With u = 2^-24, the error relative to the transform is at most log2(N) η / (1 - log2(N) η) in the Euclidean norm, where
/// η = μ + γ4 (√2 + μ) and γ4 = 4 u / (1 - 4 u) (Higham, "Accuracy and Stability of Numerical Algorithms", theorem 24.2).
/// The error μ of a factor is that of its angle below π, which is rounded twice, and 2 ulp of its sine and of its cosine.
fn bound(n: usize) -> f64 {
    let u = 2f64.powi(-24);
    let mu = f64::consts::PI * 2.0 * u + 2f64.sqrt() * 4.0 * u;
    let eta = mu + 4.0 * u / (1.0 - 4.0 * u) * (2f64.sqrt() + mu);
    let passes = n.ilog2() as f64;
    passes * eta / (1.0 - passes * eta)
}

macro_rules! check_fft {
    ($n:literal) => {{
        let rows = 3;
        let mut random = Random::new($n);
        let x: Vec<f32> = (0..rows * $n * 2).map(|_| random.signed_unit()).collect();
        let complex = |x: &[f32]| x.chunks(2).map(|z| [f64::from(z[0]), f64::from(z[1])]).collect::<Vec<_>>();
        let expected: Vec<Vec<[f64; 2]>> = x.chunks(2 * $n).map(|row| dft(&complex(row))).collect();
        for device in devices() {
            let stream = device.stream()?;
            let dx = stream.upload(&x)?;
            for warps in [1, 4] {
                let shape = [rows, $n, 2];
                let mut out = stream.zeros::<f32>(x.len())?;
                match warps {
                    1 => fft::<$n, 1>(dx.view(shape)?, out.view_mut(shape)?).launch(&stream, rows)?,
                    _ => fft::<$n, 4>(dx.view(shape)?, out.view_mut(shape)?).launch(&stream, rows)?,
                }
                for (found, expected) in stream.download(&out)?.chunks(2 * $n).zip(&expected) {
                    let apart = complex(found).into_iter().zip(expected).map(|([a, b], [c, d])| [a - c, b - d]);
                    let error = norm(apart) / norm(expected.iter().copied());
                    assert!(error <= bound($n), "{device}, {} numbers, {warps} warps: {error}", $n);
                }
            }
        }
    }};
}

#[test]
fn fourier_transforms() -> triton::Result<()> {
    check_fft!(2);
    check_fft!(64);
    check_fft!(256);
    check_fft!(1024);
    Ok(())
}

/// Rotary position embeddings (Su et al., "RoFormer", 2021) of neighbours: the pair (2i, 2i + 1) of a vector of D elements is turned by
/// an angle that depends on i and on the vector's position. A program has M positions of a head.
#[triton::kernel(T = [f32, bf16], configs = [(M = 4, D = 64, num_warps = 1), (M = 32, D = 128, num_warps = 4)])]
fn rotary<T: Float, const M: i32, const D: i32>(
    x: Tensor<T, 3>,
    cos: Tensor<f32, 2>,
    sin: Tensor<f32, 2>,
    out: TensorMut<T, 3>,
) {
    let (head, row) = (program_id(0), program_id(1) * M);
    let (a, b) = split(x.load([head, row, 0], [1, M, D]).to::<f32>().reshape([M, D / 2, 2]));
    let (cos, sin) = (cos.load([row, 0], [M, D / 2]), sin.load([row, 0], [M, D / 2]));
    let turned = interleave(a * cos - b * sin, a * sin + b * cos);
    out.store([head, row, 0], turned.to::<T>().expand_dims(0));
}

macro_rules! check_rotary {
    ($t:ident, $m:literal, $d:literal, $from:expr, $to:expr) => {{
        let (heads, rows) = (3, 37usize);
        let mut random = Random::new($d);
        let x: Vec<$t> = (0..heads * rows * $d).map(|_| $from(random.signed_unit())).collect();
        let angle = |i: usize| (i / ($d / 2)) as f64 * 10_000f64.powf(-((i % ($d / 2)) as f64) / f64::from($d / 2));
        let table = |f: fn(f64) -> f64| (0..rows * $d / 2).map(|i| f(angle(i)) as f32).collect::<Vec<f32>>();
        let (cos, sin) = (table(f64::cos), table(f64::sin));
        let pair = |(i, pair): (usize, &[$t])| {
            let (cos, sin) = (cos[i % cos.len()], sin[i % sin.len()]);
            let (a, b): (f32, f32) = ($to(pair[0]), $to(pair[1]));
            [$from(a * cos - b * sin), $from(a * sin + b * cos)]
        };
        let expected: Vec<$t> = x.chunks(2).enumerate().flat_map(pair).collect();
        for device in devices() {
            let stream = device.stream()?;
            let (dx, dcos, dsin) = (stream.upload(&x)?, stream.upload(&cos)?, stream.upload(&sin)?);
            let mut out = stream.zeros::<$t>(x.len())?;
            let (shape, half) = ([heads, rows, $d], [rows, $d / 2]);
            rotary::<$t, $m, $d>(dx.view(shape)?, dcos.view(half)?, dsin.view(half)?, out.view_mut(shape)?)
                .launch(&stream, (heads, rows.div_ceil($m)))?;
            assert_eq!(stream.download(&out)?, expected, "{device}, {} of {}", stringify!($t), $d);
        }
    }};
}

/// Equal to the bit: products and sums are rounded one by one.
#[test]
fn rotary_embeddings() -> triton::Result<()> {
    check_rotary!(f32, 4, 64, f32::from, f32::from);
    check_rotary!(f32, 32, 128, f32::from, f32::from);
    check_rotary!(bf16, 4, 64, bf16::from_f32, bf16::to_f32);
    check_rotary!(bf16, 32, 128, bf16::from_f32, bf16::to_f32);
    Ok(())
}
