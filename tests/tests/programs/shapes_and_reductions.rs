//! Shapes, reductions and their closures, also over generic element types.
#![deny(warnings)]
use triton::prelude::*;

/// One value of a whole tile meets scalars, tiles and conditions.
#[triton::kernel(T = [f32, f16], BLOCK = [64])]
fn softmax<T: Float, const BLOCK: i32>(x: PtrMut<T>, columns: i32) {
    let i = arange(0, BLOCK);
    let row = x + program_id(0) * columns;
    let mut m = f32::NEG_INFINITY;
    let mut l = 0.0;
    for start in (0..columns).step_by(BLOCK) {
        let v = load(row + start + i, start + i < columns).to::<f32>();
        let new = maximum(m, max(select(start + i < columns, v, f32::NEG_INFINITY)));
        l = l * exp(m - new) + sum(exp(v - new));
        m = new;
    }
    if all(i >= columns) || !any(i < columns) {
        return;
    }
    for start in (0..columns).step_by(BLOCK) {
        let mask = start + i < columns;
        let v = load(row + start + i, mask).to::<f32>();
        store(row + start + i, (exp(v - m) / l).to::<T>(), mask);
    }
}

/// Every reduction along an axis, and what makes a matrix.
#[triton::kernel(T = [f32, i32], N = [16])]
fn rows<T: Num, const N: i32>(x: Ptr<T>, out: PtrMut<T>, places: PtrMut<i32>, flags: PtrMut<bool>) {
    const M: i32 = 32;
    let i = arange(0, N).expand_dims(1) * M + arange(0, M).expand_dims(0);
    let v = load(x + i, true);
    let mut acc = zeros::<T>([N]);
    let ones: Tile<T> = full::<T>([N], min(v));
    acc += sum_axis(v, 1) + max_axis(v, 1) - min_axis(v, 1) + ones;
    acc = acc + sum_axis(v.transpose(), 0) + sum_axis(v.permute([1, 0]), 0);
    acc = acc + sum_axis(v.reshape([N * M]).reshape([N / 2, 2, M]).reshape([N, M]), 1);
    store(out + arange(0, N), acc, true);
    store(places + arange(0, N), argmax_axis(v, 1) + argmin_axis(v, 1) + argmax(v) - argmin(v), true);
    let positive = (v > v.transpose().transpose()).broadcast_to([N, M]);
    store(flags + arange(0, N), any_axis(positive, 1) & !all_axis(positive, 1), true);
    store((out + i).reshape([N * M]), full([N * M], sum(v)), true);
}

/// Closures: names, tuples, blocks, two to four tiles.
#[triton::kernel(T = [f32, f16])]
fn closures<T: Float>(x: Ptr<T>, out: PtrMut<T>, at: PtrMut<i32>) {
    let i = arange(0, 64);
    let v = load(x + i, true);
    store(out, reduce(v, |a, b| a + b), true);
    store(out + 1, reduce(v, |a, b| maximum(a, b) * 1.0), true);
    let (best, place) = reduce((v, i), |(a, j), (b, k)| {
        let second = b > a || (b == a && k < j);
        (select(second, b, a), select(second, k, j))
    });
    store(out + 2, best, true);
    store(at, place, true);
    let (s, c, _) = reduce((v, v * v, i), |(a, b, i), (c, d, _)| (a + c, b + d, i));
    store(out + 3, s + c, true);
    let m = v.reshape([8, 8]);
    let (p, q, r, t) = reduce_axis((m, m, m, m > 0.0), 0, |(a, b, c, d), (e, f, g, h)| (a * e, minimum(b, f), c + g, d & h));
    store(out + arange(0, 8), select(t, p + q + r, reduce_axis(m, 1, |a, b| a + b)), true);
    let logs = exp(v) + exp2(v) + log(v) + log2(v) + full::<T>([64], 0.5) + full([64], -1.0).to::<T>();
    let half = full::<f16>([64], 0.5) + full::<f16>([64], 1.0).to::<f16>();
    store(out + i, logs + half.to::<T>(), true);
}

/// A product of `f32` on tensor cores.
#[triton::kernel]
fn gram(x: Tensor<f32, 2>, out: TensorMut<f32, 2>) {
    let v = x.load([0, 0], [32, 16]);
    out.store([0, 0], dot(v.precision(Tf32), v.transpose(), dot(v, v.transpose(), zeros::<f32>([32, 32]))));
}

pub(crate) fn main() {}
