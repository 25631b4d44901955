//! Functions on types that they are not defined on, one line for each.
use triton::prelude::*;

#[triton::kernel]
fn elementwise(i: Ptr<u32>, d: Ptr<f64>, m: Ptr<bool>) {
    let (i, d, m) = (load(i + arange(0, 64), true), load(d + arange(0, 64), true), load(m + arange(0, 64), true));
    let _ = abs(i);
    let _ = exp2(d);
    let _ = log(d);
    let _ = log2(i);
    let _ = fma(i, i, i);
    let _ = minimum(m, m);
    let _ = round(i);
    let _ = tanh(d);
    let _ = erf(d);
}

#[triton::kernel]
fn reductions(x: Ptr<f32>, m: Ptr<bool>) {
    let (x, m) = (load(x + arange(0, 64), true), load(m + arange(0, 64), true));
    let (x, m) = (x.reshape([8, 8]), m.reshape([8, 8]));
    let _ = any(x);
    let _ = all(x);
    let _ = any_axis(x, 0);
    let _ = all_axis(x, 1);
    let _ = max(m);
    let _ = min(m);
    let _ = max_axis(m, 0);
    let _ = min_axis(m, 1);
    let _ = argmax(m);
    let _ = argmin(m);
    let _ = argmax_axis(m, 0);
    let _ = argmin_axis(m, 2);
    let _ = reduce_axis(x, 0, |a, b| a < b);
}

#[triton::kernel]
fn atomics(x: PtrMut<f32>) {
    atomic_min(x, 1.0, true);
    atomic_and(x, 1.0, true);
    atomic_xor(x, 1.0, true);
}

fn main() {}
