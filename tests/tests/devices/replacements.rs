//! What errors say to write instead of a name that the language does not have: all of it compiles, and the formulas hold.
//!
//! `tests/tests/repository/replacements.rs` finds each text of the compiler here.
#![allow(
    non_snake_case,
    unused_variables,
    clippy::no_effect,
    clippy::eq_op,
    reason = "the texts are as errors show them"
)]

use super::devices;
use triton::prelude::*;

#[triton::kernel]
fn floats(out: TensorMut<f32, 2>, v: Tensor<f32, 1>, n: i32, step: f32, lo: f32, t: f32) {
    let x = v.load([0], [64]);
    let y = abs(x) + 1.0;
    let (a, b) = (x, y);
    let sums = [sum(x), max(x), min(x), sum(x) / 64.0, sqrt(sum(x * x))];
    let roots = [exp(x - max(x)), sqrt(x)];
    let rounded = [round(x), floor(log2(x)), log(x), exp(x), exp(x) - 1.0, 1.0 - erf(x), 1.0 / x, x * 2.0];
    let more = [0.5 * (exp(x) + exp(-x)), exp2(log2(x) / 3.0), exp2(x * std::f32::consts::LOG2_10)];
    let powers = [exp2(y * log2(x)), x * exp2(n.to::<f32>()), sin(x) / cos(x), sqrt(a * a + b * b)];
    let c = b;
    let fused = [fma(a, b, c), fma(t, b - a, a)];
    let of_two = [a / b, a + b, a * b, maximum(a, b), minimum(a, b), maximum(x, 0.0), abs(x)];
    let remainders = [a - floor(a / b) * b, a - trunc(a / b) * b];
    let chosen = [select(x != x, 0.0, x), select(x < 0.0, -1.0, 1.0), select(x > 0.0, x, 0.01 * x)];
    let signs = [select(b < 0.0, -abs(a), abs(a)), select(x > 0.0, x, tanh(0.5 * x) * (exp(x) + 1.0))];
    let compared = [(0.0 <= x) & (x < 1.0), abs(x) < f32::INFINITY, abs(x) == f32::INFINITY, x != x];
    let products = [reduce(x, |a, b| a * b), reduce(x, |a, b| a + b), reduce(x, |a, b| select(a < b, a, b))];
    let scans = [scan(x, 0, |a, b| a + b), cumsum(x, 0), cumprod(x, 0), lo + arange(0, 64).to::<f32>() * step];
    let filled = [full([64], 1.0), zeros::<f32>([64]), x * sigmoid(x)];
    let counted = sum(select(x != 0.0, 1, 0));
    let at = argmax(x);
    let d = x - sum(x) / 64.0;
    let variance = sum(d * d) / 64.0;
    let shape = x.reshape([8, 8]);
    let pair = join(a, b).permute([1, 0]).reshape([128]);
    let turns = interleave(a, b);
    let bits = (x.bitcast::<u32>(), x.to::<f32>(), x.expand_dims(0), x.broadcast_to([16, 64]));
    println!("{}", x);
    out.store([0, 0], x.expand_dims(0));
    out.store([1, 0], log_10(x).expand_dims(0));
    out.store([2, 0], log_1p(x).expand_dims(0));
    out.store([3, 0], (tanh(0.5 * x) * (exp(x) + 1.0)).expand_dims(0));
    out.store([4, 0], (tanh(x) * (0.5 * (exp(x) + exp(-x)))).expand_dims(0));
    out.store([5, 0], (a - trunc(a / b) * b).expand_dims(0));
    out.store([6, 0], softmax(x).expand_dims(0));
    out.store([7, 0], log_softmax(x).expand_dims(0));
}

#[triton::function]
fn log_10(x: Tile<f32>) -> Tile<f32> {
    log2(x) * std::f32::consts::LOG10_2
}

#[triton::function]
fn log_1p(x: Tile<f32>) -> Tile<f32> {
    let u = 1.0 + x;
    let lost = log(u);
    select(u == 1.0, x, log(u) * x / (u - 1.0))
}

#[triton::function]
fn softmax(x: Tile<f32>) -> Tile<f32> {
    let e = exp(x - max(x));
    e / sum(e)
}

#[triton::function]
fn log_softmax(x: Tile<f32>) -> Tile<f32> {
    let y = x - max(x);
    y - log(sum(exp(y)))
}

#[triton::kernel(N = [4])]
fn integers<const N: i32>(out: PtrMut<i32>, #[multiple_of(16)] n: i32) {
    const { assert!(N > 0) }
    assert!(n > 0, "what is wrong");
    let x = arange(0, 64);
    let (a, b) = (x, x + n);
    let of_two = [(a + b - 1) / b, a / b, a % b, ((a % b) + b) % b, a * b, mul_hi(a, b)];
    let chosen = [select(a > b, a - b, 0), select(a > b, a - b, b - a)];
    let power = (a & (a - 1)) == 0;
    let combined = [reduce(x, |a, b| a ^ b), reduce(x, |a, b| a | b)];
    let one_hot = one_hot(n);
    let places = [program_id(0), num_programs(0)];
    let promised = multiple_of(x, 16);
    for i in 0..n {}
    for i in (0..n).step_by(4) {}
    for i in unroll(0..4) {}
    for i in 0..n {
        let k = n - 1 - i;
        store(out + i, k, true);
    }
}

#[triton::function]
fn one_hot(i: i32) -> Tile<f32> {
    (arange(0, 64) == i).to::<f32>()
}

#[triton::kernel]
fn pointers(p: PtrMut<f32>, counts: PtrMut<i32>, n: i32) {
    let (index, bin) = (arange(0, 64), arange(0, 64));
    let mask = index < n;
    let value = load(p + index, mask);
    let (a, b, x) = (value, value, value);
    let read = [load(p + (63 - arange(0, 64)), mask), select(mask, a, b)];
    let one = [load(p + n, true), load(p, true)];
    let moved = p + n;
    let some = any(mask);
    let added = atomic_add(p + index, value, mask);
    let counted = atomic_add(counts + bin, 1, mask);
    store(p + index, value, mask);
    store(p, 1.0, true);
    let p1 = update(p);
    let p = p + index;
    let less = atomic_add(p, -x, mask);
}

#[triton::function]
fn update(p: PtrMut<f32>) -> f32 {
    atomic_add(p, 1.0, true)
}

#[triton::kernel(num_warps = 8)]
fn views(x: Tensor<f32, 2>, i: i32, j: i32, out: TensorMut<f32, 2>) {
    let extents = [x.dim(0)];
    let strides = [x.stride(0)];
    let x = x.load([i, j], [64, 64]);
    let (a, b, acc) = (x, x, zeros::<f32>([64, 64]));
    let product = dot(a, b, acc);
    let moved = [x.transpose(), x.permute([1, 0])];
    let along = [max_axis(x, 1), min_axis(x, 1)];
    let (rows, columns) = (arange(0, 64).expand_dims(1), arange(0, 64).expand_dims(0));
    let triangles = [select(rows >= columns, x, 0.0), select(rows <= columns, x, 0.0)];
    let eye = arange(0, 64).expand_dims(1) == arange(0, 64).expand_dims(0);
    out.store([0, 0], product);
}

#[triton::kernel]
fn gathers(x: TensorMut<f32, 1>, n: i32) {
    let index = arange(0, 64);
    let mask = index < n;
    let value = x.gather([index], mask);
    x.scatter([index], value, mask);
    let before = x.atomic_add_at([index], value, mask);
}

#[test]
fn formulas_keep_the_digits_of_small_numbers() -> triton::Result<()> {
    let numbers: Vec<f32> =
        (0..64).map(|i| if i < 32 { 1e-9 * 1.9f32.powi(i) } else { 0.37 * (i - 31) as f32 }).collect();
    let of = |f: fn(f64) -> f64| numbers.iter().map(|x| f(f64::from(*x))).collect::<Vec<_>>();
    let most = f64::from(numbers.iter().copied().fold(f32::MIN, f32::max));
    let total: f64 = numbers.iter().map(|x| (f64::from(*x) - most).exp()).sum();
    let expected: [(&str, Vec<f64>, f64); 7] = [
        ("log10", of(f64::log10), 1e-6),
        ("log1p", of(f64::ln_1p), 1e-6),
        ("expm1", of(f64::exp_m1), 1e-6),
        ("sinh", of(f64::sinh), 1e-6),
        // The quotient is rounded, and the number is below the divisor.
        ("%", of(|x| x % (x + 1.0)), 1e-6),
        ("softmax", numbers.iter().map(|x| (f64::from(*x) - most).exp() / total).collect(), 1e-5),
        ("log_softmax", numbers.iter().map(|x| f64::from(*x) - most - total.ln()).collect(), 1e-5),
    ];
    for device in devices() {
        let stream = device.stream()?;
        let (v, mut out) = (stream.upload(&numbers)?, stream.zeros::<f32>(8 * 64)?);
        floats(out.view_mut([8, 64])?, v.view([64])?, 3, 0.5, 1.0, 0.25).launch(&stream, 1)?;
        let out = stream.download(&out)?;
        for ((name, expected, within), found) in expected.iter().zip(out.chunks(64).skip(1)) {
            for ((x, expected), found) in numbers.iter().zip(expected).zip(found) {
                let off = (f64::from(*found) - expected).abs();
                assert!(
                    off <= within * expected.abs().max(1e-30),
                    "{name}({x}) is {found}, not {expected}, on {device:?}"
                );
            }
        }
    }
    Ok(())
}
